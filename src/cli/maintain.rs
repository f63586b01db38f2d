//! `pinakes rebuild`, `verify`, `backup` and `restore`

use super::progress::Progress;
use super::serve::TOKENS;
use super::{Done, General, output};
use anyhow::{Context, bail};
use pinakes::config::Home;
use pinakes::disk;
use pinakes::pipeline::{self, Session, Watch};
use pinakes::source::Registry;
use serde_json::json;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Make the store again from the archive
///
/// Nothing is fetched. Records are mapped by the rules in force, merged as before, and what people
/// wrote is put back; the canonical export of the result is that of the store before it.
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
/// The copy is consistent and is itself a catalogue: `--catalogue` opens it. It holds everything:
/// archive, store and index, settings, sources, rules and queries of your own, and the hashes of
/// the tokens, so a restored catalogue knows its writers.
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
        let own = session.home.directory.join(Home::BACKUPS);
        if self.directory.starts_with(&own) {
            disk::create_directory(&own).with_context(|| format!("cannot make `{}`", own.display()))?;
        } else {
            must_be_apart(&self.directory, &session.home.directory)?;
        }
        copy_catalogue(&session.home.directory, &self.directory)?;
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
        copy_catalogue(&backup.directory, &general.catalogue)?;
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
    let is_there = directory.try_exists();
    if is_there.with_context(|| format!("`{}` cannot be looked at", directory.display()))? {
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

/// What a catalogue is made of. The rest is locks, snapshots of a server, and copies.
const PARTS: [&str; 11] = [
    Home::SETTINGS,
    "archive",
    "store",
    "index",
    "resolution",
    "holdings.log",
    "holdings.told",
    Registry::FOLDER,
    "mappings",
    "queries",
    TOKENS,
];

/// Copies a catalogue. The copy has another name until it is whole, so that a torn one never looks
/// like it; one that fails is taken away, for the disk may be full.
fn copy_catalogue(from: &Path, to: &Path) -> anyhow::Result<()> {
    let part = disk::part_of(to);
    disk::remove_directory(&part).with_context(|| format!("cannot remove `{}`", part.display()))?;
    std::fs::create_dir(&part).with_context(|| format!("cannot make `{}`", part.display()))?;
    let copied = PARTS.iter().try_for_each(|name| copy(&from.join(name), &part.join(name)));
    let renamed = copied.and_then(|()| {
        disk::sync_directory(&part)?;
        disk::rename(&part, to).with_context(|| format!("cannot make `{}`", to.display()))
    });
    if renamed.is_err() {
        let _ = disk::remove_directory(&part);
    }
    renamed
}

/// Copies a file, or a directory with all it holds; nothing if it is not there. That something cannot
/// be looked at does not mean that it is not there.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let failed = || format!("cannot copy `{}`", from.display());
    let found = match std::fs::metadata(from) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found.with_context(failed)?,
    };
    if found.is_dir() {
        std::fs::create_dir(to).with_context(|| format!("cannot make `{}`", to.display()))?;
        for entry in std::fs::read_dir(from).with_context(failed)? {
            let entry = entry.with_context(failed)?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        disk::sync_directory(to).with_context(failed)
    } else {
        let copied = std::fs::copy(from, to).and_then(|_| std::fs::File::open(to)?.sync_all());
        copied.with_context(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link that leads to itself can be looked at as little as a broken disk, whoever looks.
    #[test]
    fn what_cannot_be_looked_at_is_not_left_out_of_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("catalogue"), folder.path().join("copy"));
        std::fs::create_dir(&from).unwrap();
        std::fs::write(from.join(Home::SETTINGS), "").unwrap();
        let part = from.join("queries");
        std::os::unix::fs::symlink("queries", &part).unwrap();
        let error = copy_catalogue(&from, &to).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot copy `{}`", part.display()));
        assert!(!to.exists());
        std::fs::remove_file(&part).unwrap();
        copy_catalogue(&from, &to).unwrap();
        assert!(to.join(Home::SETTINGS).exists());
    }
}
