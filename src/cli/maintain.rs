//! `pinakes rebuild`, `verify`, `backup` and `restore`

use super::progress::Progress;
use super::{Done, General, output};
use anyhow::{Context, bail};
use pinakes::config::Home;
use pinakes::pipeline::{self, Session, Watch};
use pinakes::source::Registry;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Make the store again from the archive
///
/// Nothing is fetched. The result is the same, statement by statement, as what import wrote.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes rebuild")]
pub(super) struct Rebuild {}

impl Rebuild {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let mut progress = Progress::new(general);
        let entries = pipeline::rebuild(general.home()?, &mut progress)?;
        if general.json {
            output::json(&json!({ "entries": entries }))?;
        } else {
            output::line(&format!("rebuilt from {}", entries_of(entries)))?;
        }
        Ok(Done::Well)
    }
}

/// Check that archive and store are whole and agree
///
/// Every payload is read and compared with its hash, the store checks its own indexes, and
/// every record's graph is compared with what its payload gives.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes verify

Exit status: 0 all is well; 1 the store differs from the archive; 2 the archive is damaged")]
pub(super) struct Verify {}

impl Verify {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let mut progress = Progress::new(general);
        let session = Session::read(general.home()?, &mut progress)?;
        progress.begin("reading the archive", Some(session.archive.last_sequence()?));
        let (entries, bytes) = session.archive.verify(|done| progress.advance(done, done))?;
        progress.end();
        session.catalogue.backend().validate()?;
        progress.begin("comparing the store", Some(entries));
        let report = pipeline::compare(&session, &mut progress)?;
        progress.end();
        if general.json {
            output::json(&json!({
                "entries": entries, "bytes": bytes, "records": report.records,
                "differing": report.differing, "unexpected": report.unexpected,
            }))?;
        } else {
            output::line(&format!(
                "archive: {}, {}, every hash holds",
                entries_of(entries),
                output::size(bytes)
            ))?;
            output::line(&format!(
                "store: {} compared, {} differ",
                output::count(report.records, "record"),
                output::number(report.differ)
            ))?;
            for name in report.differing.iter().take(20) {
                output::line(&format!("  differs: {name}"))?;
            }
            for name in report.unexpected.iter().take(20) {
                output::line(&format!("  in the store, not in the archive: {name}"))?;
            }
        }
        if report.differing.is_empty() && report.unexpected.is_empty() {
            return Ok(Done::Well);
        }
        output::say(general, "`pinakes rebuild` makes the store again from the archive");
        Ok(Done::WithDataErrors)
    }
}

/// Copy the catalogue to a new directory
///
/// The copy is consistent and is itself a catalogue: `--catalogue` opens it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes backup backup-of-today")]
pub(super) struct Backup {
    /// The directory to make
    directory: PathBuf,
}

impl Backup {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let session = Session::read(general.home()?, &mut Progress::new(general))?;
        must_not_exist(&self.directory)?;
        must_be_apart(&self.directory, &session.home.directory)?;
        // Complete under another name first, so that a torn copy never looks like a whole one.
        let part = part_of(&self.directory);
        remove(&part)?;
        std::fs::create_dir_all(&part).with_context(|| format!("cannot make `{}`", part.display()))?;
        copy(&session.home.archive(), &part.join("archive"))?;
        copy(&session.home.store(), &part.join("store"))?;
        let settings = session.home.directory.join(Home::SETTINGS);
        std::fs::copy(settings, part.join(Home::SETTINGS))?;
        // Descriptions of sources, the user's own texts, and what resolving keeps beside the store.
        for folder in [Registry::FOLDER, "mappings", "queries", "resolution"] {
            copy(&session.home.directory.join(folder), &part.join(folder))?;
        }
        std::fs::rename(&part, &self.directory)?;
        if general.json {
            output::json(&json!({ "backup": self.directory }))?;
        } else {
            output::line(&format!("copied to {}", self.directory.display()))?;
        }
        Ok(Done::Well)
    }
}

/// Make a catalogue from a backup
///
/// The catalogue's directory must not exist. The store is made from the archive again if the
/// backup has none.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes restore backup-of-today --catalogue restored")]
pub(super) struct Restore {
    /// The backup
    directory: PathBuf,
}

impl Restore {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        if !self.directory.join(Home::SETTINGS).exists() {
            bail!("there is no backup in `{}`; `pinakes backup` makes one", self.directory.display());
        }
        let backup = Home::open(&self.directory)?;
        must_not_exist(&general.catalogue)?;
        must_be_apart(&general.catalogue, &self.directory)?;
        let part = part_of(&general.catalogue);
        remove(&part)?;
        copy(&backup.directory, &part)?;
        std::fs::rename(&part, &general.catalogue)?;
        let mut progress = Progress::new(general);
        let session = Session::write(general.home()?, &mut progress)?;
        let records: u64 = session.archive.sources()?.iter().map(|(_, counts)| counts.records).sum();
        output::line(&format!(
            "restored {} to {}",
            output::count(records, "record"),
            general.catalogue.display()
        ))?;
        Ok(Done::Well)
    }
}

fn entries_of(entries: u64) -> String {
    if entries == 1 { "1 entry".to_owned() } else { format!("{} entries", output::number(entries)) }
}

fn must_not_exist(directory: &Path) -> anyhow::Result<()> {
    if directory.exists() {
        bail!("`{}` exists already; name a new directory", directory.display());
    }
    Ok(())
}

/// A copy inside what is copied would never end.
fn must_be_apart(target: &Path, source: &Path) -> anyhow::Result<()> {
    let parent = match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let parent = parent
        .canonicalize()
        .with_context(|| format!("the directory `{}` for the copy is not there", parent.display()))?;
    if parent.starts_with(source.canonicalize()?) {
        bail!("`{}` lies inside `{}`; name a directory elsewhere", target.display(), source.display());
    }
    Ok(())
}

fn part_of(directory: &Path) -> PathBuf {
    let mut name = directory.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

fn remove(directory: &Path) -> anyhow::Result<()> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Copies a directory with all it holds.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    if !from.exists() {
        return Ok(());
    }
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), &target)
                .and_then(|_| std::fs::File::open(&target)?.sync_all())
                .with_context(|| format!("cannot copy `{}`", entry.path().display()))?;
        }
    }
    Ok(())
}
