//! How much of some records the rules carry.

use super::reading::read_records;
use super::session::decode_entry;
use super::{PipelineError, Session, Watch};
use crate::archive::{Entry, Kind};
use crate::catalogue::Graphs;
use crate::concordance::Concordances;
use crate::concordance::run::View;
use crate::map::{self, ContentTypes, Context, Coverage};
use crate::record::{Format, Model, Record};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Records counted side by side.
const BATCH: usize = 2048;

/// Counts by model.
pub type Counted = BTreeMap<Model, Coverage>;

/// Counts the current records of a source.
pub fn coverage_of_source(
    session: &Session,
    source: &str,
    watch: &mut dyn Watch,
) -> Result<Counted, PipelineError> {
    let mut counted = Counted::new();
    watch.begin("counting", None);
    let mut records = session.archive.records(Some(source))?;
    let mut done = 0;
    loop {
        let mut batch: Vec<Entry> = Vec::new();
        for record in records.by_ref() {
            let (_, _, state) = record?;
            let Some(version) = state.current().filter(|version| !version.withdrawn) else { continue };
            batch.extend(session.archive.entry(version.sequence)?.filter(|entry| entry.kind == Kind::Record));
            if batch.len() >= BATCH {
                break;
            }
        }
        if batch.is_empty() {
            break;
        }
        done += batch.len() as u64;
        merge(
            &mut counted,
            batch.par_iter().filter_map(|entry| {
                let record = decode_entry(entry)?;
                Some(count(&record, &session.context(entry)))
            }),
        );
        watch.advance(done, done);
    }
    watch.end();
    Ok(counted)
}

/// Counts the records of files.
pub fn coverage_of_files(
    files: &[PathBuf],
    format: Option<Format>,
    concordances: &Concordances,
    graphs: &Graphs,
    content_types: &ContentTypes,
    watch: &mut dyn Watch,
) -> Result<Counted, PipelineError> {
    let mut counted = Counted::new();
    for file in files {
        read_records(file, format, watch, &mut |records| {
            merge(
                &mut counted,
                records.par_iter().map(|(_, record)| {
                    let id = record.id.clone().unwrap_or_default();
                    let context = Context {
                        graphs,
                        concordances,
                        content_types,
                        source: "counted",
                        id: &id,
                        default_type: None,
                    };
                    count(record, &context)
                }),
            );
            true
        })?;
    }
    Ok(counted)
}

fn merge(counted: &mut Counted, found: impl ParallelIterator<Item = (Model, Coverage)>) {
    // Folded on each core first, so that merging is cheap.
    let folded: Vec<Counted> = found
        .fold(Counted::new, |mut counted, (model, coverage)| {
            counted.entry(model).or_default().merge(coverage);
            counted
        })
        .collect();
    for (model, coverage) in folded.into_iter().flatten() {
        counted.entry(model).or_default().merge(coverage);
    }
}

fn count(record: &Record, context: &Context<'_>) -> (Model, Coverage) {
    let view = View::new(record);
    let name = context.graphs.record(context.source, context.id);
    let outcome = map::run(record, &view, context, &name);
    let rules = context.concordances.rules_for(record.model, context.source);
    let mut coverage = Coverage::default();
    coverage.count(&view, &outcome, |rule, ignore| {
        let reason = rules.get(rule).and_then(|rule| rule.ignore.get(ignore));
        reason.map(|ignore| ignore.reason.clone()).unwrap_or_default()
    });
    (record.model, coverage)
}
