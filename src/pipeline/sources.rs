//! The sources of a catalogue in its store, and the end of one.

use super::store_writer::{self, Pending};
use super::{PipelineError, Session, Watch};
use crate::archive::{Entry, Kind, Run};
use crate::source::{Registry, mirror};
use oxrdf::Triple;

/// Records withdrawn and synced together.
const BATCH: usize = 2048;

/// Makes the graph of sources say what the descriptions say; says whether it does. Descriptions
/// with a mistake in them change nothing: a typing error must not take a source out of the
/// catalogue.
pub fn mirror_sources(session: &Session) -> Result<bool, PipelineError> {
    let registry = Registry::read(&session.home.directory)?;
    if !registry.diagnostics().is_empty() {
        return Ok(false);
    }
    let graphs = &session.home.graphs;
    let described: Vec<Triple> =
        registry.iter().flat_map(|source| mirror::statements(source, graphs)).collect();
    if in_order(&session.catalogue.graph(&graphs.sources())?) == in_order(&described) {
        return Ok(true);
    }
    let position = session.catalogue.position()?;
    store_writer::run(&session.catalogue, &session.home.directory, |store| {
        let mut pending = Pending::at(position, session.home.settings.records.stored);
        pending.rewrite(graphs.sources(), described);
        store.send(pending)
    })?;
    Ok(true)
}

fn in_order(triples: &[Triple]) -> Vec<String> {
    let mut lines: Vec<String> = triples.iter().map(ToString::to_string).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// Withdraws every record of a source, as one run; says how many there were. Their history
/// stays in the archive.
pub fn withdraw_source(
    session: &mut Session,
    source: &str,
    time: &str,
    watch: &mut dyn Watch,
) -> Result<u64, PipelineError> {
    let run = Run {
        source: source.to_owned(),
        agent: format!("pinakes/{}", env!("CARGO_PKG_VERSION")),
        started: time.to_owned(),
        ..Run::default()
    };
    let (number, run) = session.archive.begin_run(&run, time)?;
    let Session { archive, catalogue, home, .. } = session;
    let graphs = &home.graphs;
    let mut withdrawn = 0;
    watch.begin(&format!("withdrawing {source}"), None);
    let mut pending = store_writer::run(catalogue, &home.directory, |store| {
        let mut pending = Pending::storing(home.settings.records.stored);
        pending.run(graphs, number, &run);
        let mut records = archive.records(Some(source))?;
        loop {
            let mut batch = Vec::with_capacity(BATCH);
            for record in records.by_ref() {
                let (_, id, state) = record?;
                if state.current().is_some_and(|version| !version.withdrawn) {
                    batch.push(Entry::new(Kind::Withdrawal, source, &id, number, time));
                }
                if batch.len() >= BATCH {
                    break;
                }
            }
            if batch.is_empty() {
                return Ok(pending);
            }
            archive.append(&batch)?;
            withdrawn += batch.len() as u64;
            for entry in &batch {
                pending.record(graphs, entry, None, true);
            }
            pending.position = archive.last_sequence()?;
            if pending.is_full() {
                store.send(pending.take())?;
            }
            watch.advance(withdrawn, withdrawn);
        }
    })?;
    watch.end();
    session.archive.finish_run(number, run.clone(), &[], time)?;
    let run = Run { finished: Some(time.to_owned()), ..run };
    pending.run(&session.home.graphs, number, &run);
    pending.position = session.archive.last_sequence()?;
    store_writer::run(&session.catalogue, &session.home.directory, |store| store.send(pending))?;
    Ok(withdrawn)
}
