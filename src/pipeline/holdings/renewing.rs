//! Writing a log that is missing: of a catalogue that comes from a backup or from a version that had
//! none.

use super::visibility::{replace, replaced};
use super::{Log, News, keep_step, listed_up_to, path};
use crate::archive::Kind;
use crate::catalogue::Selection;
use crate::pipeline::{PipelineError, Session};
use oxrdf::Triple;

/// Records told at once.
const TOGETHER: usize = 1024;

/// Writes the log again if there is none, from the archive, as far as the store is.
pub fn renew(session: &Session) -> Result<(), PipelineError> {
    let failed = |error: std::io::Error| PipelineError::Catalogue(error.into());
    let path = path(&session.home.directory);
    let position = session.catalogue.position()?;
    let (backend, graphs) = (session.catalogue.backend(), &session.home.graphs);
    if position == 0 || path.try_exists().map_err(failed)? {
        // Whoever made the store anew may have been killed before it said so. One that holds nothing is
        // yet to be made, and is not written to before.
        let last = replaced(&session.home.directory).map_err(failed)?;
        if last.is_some() && !backend.is_empty()? {
            keep_step(&session.catalogue, last)?;
        }
        return Ok(());
    }
    let part = path.with_extension("part");
    match std::fs::remove_file(&part) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    // Its times are not those of the log that is missing: for harvesters it is another store.
    let last = replace(&session.home.directory, listed_up_to(backend, graphs)?).map_err(failed)?;
    let mut log = Log::open_at(&part, None).map_err(failed)?;
    let mut news = News::default();
    for entry in session.archive.entries(1)? {
        let entry = entry?;
        if entry.sequence > position {
            break;
        }
        if !matches!(entry.kind, Kind::Record | Kind::Withdrawal) {
            continue;
        }
        let state = session.archive.record(&entry.source, &entry.id)?.unwrap_or_default();
        if state.current().is_none_or(|version| version.sequence != entry.sequence) {
            continue;
        }
        match entry.kind {
            Kind::Withdrawal => news.withdrawn(&session.as_it_was(entry)?),
            _ => {
                let name = graphs.record(&entry.source, &entry.id);
                let selection = Selection {
                    subject: Some(name.clone().into()),
                    graph: Some(name.into()),
                    ..Selection::default()
                };
                let triples: Vec<Triple> = backend
                    .quads(&selection)?
                    .map(|quad| quad.map(Triple::from))
                    .collect::<Result<_, _>>()?;
                // What could not be read is not there.
                if !triples.is_empty() {
                    news.held(graphs, &entry, &triples);
                }
            }
        }
        if news.len() >= TOGETHER {
            log.part(std::mem::take(&mut news)).map_err(failed)?;
        }
    }
    log.part(news).map_err(failed)?;
    log.sync().map_err(failed)?;
    // The store first: a kill before the renaming costs doing it again. Both logs are before the step.
    keep_step(&session.catalogue, last.max(log.last()))?;
    crate::disk::rename(&part, &path).map_err(failed)
}
