//! Users' rule files: checked, kept in the archive with their versions, and taken back.

use super::following::{Followed, count_changed, follow_rules};
use super::{PipelineError, Session, Watch};
use crate::archive::{Archive, Entry, Kind, Outcome};
use crate::concordance::{Concordances, Loaded, Origin, Source, example, with_source};
use crate::config::Home;
use crate::diagnostic::Diagnostic;
use std::sync::Arc;

/// What came of loading or unloading files.
#[derive(Debug)]
pub enum Change {
    /// The rules in force are others now, and the records have followed.
    Done {
        files: Vec<Changed>,
        followed: Followed,
        /// What may be wrong with them all the same.
        warnings: Vec<Diagnostic>,
    },
    /// All of it is loaded already, word for word; or it was not loaded.
    Nothing { paths: Vec<String> },
    /// There are errors; nothing was changed.
    Refused(Vec<Diagnostic>),
}

/// A file that was loaded or taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub path: String,
    /// The version loaded, from 1; `None` when it was taken back.
    pub version: Option<usize>,
    /// It takes, or gives back, the place of a shipped file.
    pub of_shipped: bool,
}

/// The files in force, when they are others than those of the binary.
pub(super) fn sources(home: &Home, archive: &Archive) -> Result<Option<Vec<Source>>, PipelineError> {
    let mut loaded = Vec::new();
    for (path, versions) in archive.concordances()? {
        let Some(last) = versions.last().filter(|last| !last.unloaded) else { continue };
        let Some(entry) = archive.entry(last.sequence)? else { continue };
        let number = versions.iter().filter(|version| !version.unloaded).count();
        let text = String::from_utf8_lossy(&entry.payload).into_owned();
        loaded.push(Source::new(path, text, Origin::Loaded(number)));
    }
    let mut sources = match &home.mappings {
        Some(folder) => Concordances::sources_in(folder)
            .map_err(|error| PipelineError::Mappings(folder.display().to_string(), error))?,
        None if loaded.is_empty() => return Ok(None),
        None => Concordances::shipped_sources(),
    };
    sources.append(&mut loaded);
    Ok(Some(sources))
}

/// Checks files as they would stand among the rules in force and runs their examples, keeps them
/// in the archive, and maps again what they concern: all of them or none.
pub fn load(
    session: &mut Session,
    files: &[(String, String)],
    time: &str,
    watch: &mut dyn Watch,
) -> Result<Change, PipelineError> {
    let mut files: Vec<(String, &str)> =
        files.iter().map(|(path, text)| (with_source(path, text), text.as_str())).collect();
    // Code lists first: whoever finds half of this after a kill has what rules need.
    files.sort_by_key(|(path, _)| !path.ends_with(".tsv"));
    let mut all = session.rule_sources();
    all.retain(|known| known.origin == Origin::Shipped || !files.iter().any(|(path, _)| *path == known.path));
    for (path, text) in &files {
        all.push(Source::new(path.as_str(), (*text).to_owned(), Origin::Loaded(1)));
    }
    // A file can break another: a code list that loses a column, a name used twice.
    let set = Concordances::new(all);
    let mut broken = broken(&set);
    for loaded in
        set.files().iter().filter(|loaded| files.iter().any(|(path, _)| *path == loaded.source.path))
    {
        broken.extend(failing(&set, loaded));
    }
    if !broken.is_empty() {
        return Ok(Change::Refused(broken));
    }
    let own = set.files().iter().filter(|loaded| loaded.source.origin != Origin::Shipped);
    let own = own.filter(|loaded| files.iter().any(|(path, _)| *path == loaded.source.path));
    let warnings = own.flat_map(Loaded::diagnostics).collect();
    let number = session.archive.last_sequence()? + 1;
    let entries: Vec<Entry> = (number..)
        .zip(&files)
        .map(|(number, (path, text))| {
            let payload = text.as_bytes().to_vec();
            let mut entry = Entry::new(Kind::Concordance, "", path, number, time).with_payload(payload);
            entry.origin.name.clone_from(path);
            entry
        })
        .collect();
    change(session, &entries, warnings, watch)
}

/// Takes loaded files back, all of them or none; shipped ones of their names are in force again.
pub fn unload(
    session: &mut Session,
    paths: &[String],
    time: &str,
    watch: &mut dyn Watch,
) -> Result<Change, PipelineError> {
    // Another loaded file may need one of these: a code list, say.
    let mut rest: Vec<Source> = session.rule_sources();
    let broken_before: Vec<String> = broken(session.concordances()).iter().map(message).collect();
    rest.retain(|known| known.origin == Origin::Shipped || !paths.contains(&known.path));
    let mut broken = broken(&Concordances::new(rest));
    broken.retain(|problem| !broken_before.contains(&message(problem)));
    if !broken.is_empty() {
        return Ok(Change::Refused(broken));
    }
    let number = session.archive.last_sequence()? + 1;
    let entries: Vec<Entry> = (number..)
        .zip(paths)
        .map(|(number, path)| Entry::new(Kind::ConcordanceUnloaded, "", path, number, time))
        .collect();
    change(session, &entries, Vec::new(), watch)
}

/// What is wrong with files that have errors.
fn broken(set: &Concordances) -> Vec<Diagnostic> {
    set.files().iter().filter(|file| file.has_errors()).flat_map(Loaded::diagnostics).collect()
}

/// The examples that do not give what they say.
fn failing(set: &Concordances, loaded: &Loaded) -> Vec<Diagnostic> {
    let problems = example::failures(set, loaded);
    Loaded { source: loaded.source.clone(), file: None, problems }.diagnostics().collect()
}

fn message(diagnostic: &Diagnostic) -> String {
    format!("{:?} {}", diagnostic.place.origin, diagnostic.message)
}

fn change(
    session: &mut Session,
    entries: &[Entry],
    warnings: Vec<Diagnostic>,
    watch: &mut dyn Watch,
) -> Result<Change, PipelineError> {
    let before = Arc::clone(session.concordances());
    let outcomes = session.archive.append_concordances(entries)?;
    let news: Vec<&Entry> = entries
        .iter()
        .zip(outcomes)
        .filter(|(_, outcome)| *outcome != Outcome::Unchanged)
        .map(|(entry, _)| entry)
        .collect();
    if news.is_empty() {
        return Ok(Change::Nothing { paths: entries.iter().map(|entry| entry.id.clone()).collect() });
    }
    session.refresh_rules()?;
    super::catch_up(session, watch)?;
    let mut followed = follow_rules(session, watch)?;
    followed.rules = count_changed(&before, session.concordances());
    if followed.records == 0 {
        followed.records = session.archive.sources()?.iter().map(|(_, counts)| counts.records).sum();
    }
    let versions = session.archive.concordances()?;
    let shipped: Vec<String> = session
        .rule_sources()
        .into_iter()
        .filter(|source| source.origin == Origin::Shipped)
        .map(|source| source.path)
        .chain(Concordances::shipped_sources().into_iter().map(|source| source.path))
        .collect();
    let files = news
        .into_iter()
        .map(|entry| {
            let known = versions.iter().find(|(path, _)| *path == entry.id);
            let count = known.map_or(0, |(_, all)| all.iter().filter(|version| !version.unloaded).count());
            Changed {
                path: entry.id.clone(),
                version: (entry.kind == Kind::Concordance).then_some(count),
                of_shipped: shipped.contains(&entry.id),
            }
        })
        .collect();
    Ok(Change::Done { files, followed, warnings })
}
