//! Copies of the store that others may read while it is written.
//!
//! Whoever holds the catalogue for writing publishes: the store is copied by hard links into
//! `snapshots/<n>/store`, and then the link `snapshots/current` is turned to `<n>`. Readers ask
//! for [`current`] before each piece of work, which is one system call, and open what it names.
//! A reader holds `snapshots/<n>/lock` shared, which also says whether anything is merged in it; the next to publish takes away what is old and
//! not held, and what a kill left unfinished. So a reader never sees a copy that is not whole,
//! and a copy never goes away under a reader.
//!
//! Nobody publishes for nobody: a server holds `snapshots/served` shared for as long as it runs,
//! and without one a writer leaves `snapshots/stale`, so that the next server publishes first.
//!
//! Snapshots are derived: all of `snapshots/` may be removed when nobody reads.

use super::embedded::{Dataset, Embedded};
use super::results::Answer;
use super::{Backend, Catalogue, CatalogueError, Graphs, Views};
use crate::disk;
use spargebra::Query;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Under which name a copy is made before it is whole.
const UNFINISHED: &str = "unfinished";
const CURRENT: &str = "current";
const STORE: &str = "store";
/// What the graphs of records are computed from, unless the store holds them.
const RECORDS: &str = "records";
const LOCK: &str = "lock";
/// What the lock file says: whether something is merged.
const MERGED: &str = "merged";
const UNMERGED: &str = "unmerged";
const SERVED: &str = "served";
const STALE: &str = "stale";

/// Held by a server, so that writers publish.
#[derive(Debug)]
pub struct Serving(#[expect(dead_code, reason = "the lock ends with the file")] File);

/// From here on writers publish for this server.
pub fn serve(directory: &Path) -> io::Result<Serving> {
    fs::create_dir_all(folder(directory))?;
    let file =
        File::options().create(true).truncate(false).write(true).open(folder(directory).join(SERVED))?;
    file.lock_shared()?;
    Ok(Serving(file))
}

/// Whether a server runs.
pub fn is_served(directory: &Path) -> bool {
    let Ok(file) = File::options().write(true).open(folder(directory).join(SERVED)) else { return false };
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Whether the store may be ahead of the newest snapshot, because somebody wrote and was killed,
/// or wrote while no server ran.
pub fn is_stale(directory: &Path) -> bool {
    let folder = folder(directory);
    // A snapshot of an older version does not say whether something is merged.
    let says_all = |number: u64| {
        fs::read_to_string(folder.join(number.to_string()).join(LOCK))
            .is_ok_and(|said| said == MERGED || said == UNMERGED)
    };
    !current(directory).is_some_and(says_all) || folder.join(STALE).exists()
}

/// The store is about to be written.
pub(super) fn announce(directory: &Path) -> io::Result<()> {
    match File::create(folder(directory).join(STALE)) {
        // No server ever ran.
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Nothing was written after all.
pub(super) fn revoke(directory: &Path) {
    let _ = fs::remove_file(folder(directory).join(STALE));
}

/// Publishes the store as it is now, in which something is merged or not; says under which number.
/// The catalogue under `directory` must be held for writing.
pub fn publish(backend: &dyn Backend, directory: &Path, has_master: bool) -> Result<u64, CatalogueError> {
    let folder = folder(directory);
    disk::create_directory(&folder)?;
    let known = clean(&folder, current(directory))?;
    let number = known.iter().max().map_or(1, |last| last + 1);
    let unfinished = folder.join(UNFINISHED);
    fs::create_dir(&unfinished)?;
    backend.snapshot(&unfinished.join(STORE))?;
    backend.snapshot_views(&unfinished.join(RECORDS))?;
    fs::write(unfinished.join(LOCK), if has_master { MERGED } else { UNMERGED })?;
    fs::rename(&unfinished, folder.join(number.to_string()))?;
    // A link cannot be overwritten, but another can be renamed over it.
    let turned = folder.join(format!("{UNFINISHED}-{CURRENT}"));
    std::os::unix::fs::symlink(number.to_string(), &turned)?;
    disk::rename(&turned, &folder.join(CURRENT))?;
    revoke(directory);
    clean(&folder, Some(number))?;
    Ok(number)
}

/// The number of the newest snapshot; `None` before the first. Cheap enough for every query.
pub fn current(directory: &Path) -> Option<u64> {
    fs::read_link(folder(directory).join(CURRENT)).ok()?.to_str()?.parse().ok()
}

/// A snapshot that stays as long as the value lives.
pub struct Snapshot {
    pub number: u64,
    store: Embedded,
    lock: File,
    /// Something is merged in it.
    has_master: bool,
}

impl Snapshot {
    /// The catalogue it is a snapshot of.
    pub fn into_catalogue(self, graphs: Graphs) -> Catalogue {
        let mut catalogue = Catalogue::over(Box::new(self.store), graphs);
        catalogue.held = Some(self.lock);
        catalogue.is_merged = Some(self.has_master);
        catalogue
    }

    pub fn backend(&self) -> &dyn Backend {
        &self.store
    }

    /// Whether anything is merged in it.
    pub(super) fn has_master(&self) -> bool {
        self.has_master
    }

    /// Evaluates a query; see [`Embedded::evaluate`].
    pub(super) fn evaluate(
        &self,
        query: Query,
        dataset: Option<Dataset>,
        how: &Answer,
        out: &mut dyn Write,
    ) -> Result<(&'static str, u64), CatalogueError> {
        self.store.evaluate(query, dataset, how, out)
    }
}

/// Opens what [`Views::snapshot`] made.
pub type OpenViews<'a> = &'a (dyn Fn(&Path) -> Result<Arc<dyn Views>, CatalogueError> + Sync);

/// Opens a snapshot; without `views` only what is stored can be asked for. [`CatalogueError::NoSuchSnapshot`] says that a newer one has come since its
/// number was asked for.
pub fn open(
    directory: &Path,
    number: u64,
    views: Option<(OpenViews<'_>, &Graphs)>,
) -> Result<Snapshot, CatalogueError> {
    let gone = || CatalogueError::NoSuchSnapshot(number);
    let home = folder(directory).join(number.to_string());
    let path = home.join(LOCK);
    let mut lock = File::open(&path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => gone(),
        _ => error.into(),
    })?;
    match lock.try_lock_shared() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(gone()),
        Err(TryLockError::Error(error)) => return Err(error.into()),
    }
    // It may have been taken away between the two.
    if !path.try_exists()? {
        return Err(gone());
    }
    let mut said = String::new();
    lock.read_to_string(&mut said)?;
    let mut store = Embedded::open_snapshot(&home.join(STORE))?;
    let records = home.join(RECORDS);
    if let Some((open, graphs)) = views {
        let views = if records.exists() { Some(open(&records)?) } else { None };
        store = store.named(graphs, views);
    }
    Ok(Snapshot { number, store, lock, has_master: said == MERGED })
}

fn folder(directory: &Path) -> PathBuf {
    directory.join("snapshots")
}

/// Removes all that is neither to be kept nor held; says which numbers are left.
fn clean(folder: &Path, keep: Option<u64>) -> io::Result<Vec<u64>> {
    let mut left = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let name = entry.file_name();
        if name == CURRENT || name == SERVED || name == STALE {
            continue;
        }
        let Some(number) = name.to_str().and_then(|name| name.parse().ok()) else {
            remove(&path)?;
            continue;
        };
        if Some(number) == keep || !remove_unless_held(&path)? {
            left.push(number);
        }
    }
    Ok(left)
}

/// False when somebody reads it.
fn remove_unless_held(path: &Path) -> io::Result<bool> {
    // The lock is held until all is removed, so that nobody opens half of it.
    let _lock = match File::open(path.join(LOCK)) {
        Ok(lock) => match lock.try_lock() {
            Ok(()) => Some(lock),
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(error),
        },
        // A removal that was killed got as far as the lock.
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    remove(path)?;
    Ok(true)
}

fn remove(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdf::{GraphName, Literal, NamedNode, Quad};
    use tempfile::TempDir;

    fn store(directory: &TempDir) -> Embedded {
        Embedded::open(&directory.path().join("store")).unwrap()
    }

    fn add(store: &Embedded, value: i32) {
        let node = NamedNode::new_unchecked("https://c.example/s");
        let quad = Quad::new(node.clone(), node, Literal::from(value), GraphName::DefaultGraph);
        store.patch(Vec::new(), vec![quad]).unwrap();
    }

    fn names(directory: &TempDir) -> Vec<String> {
        let entries = fs::read_dir(folder(directory.path())).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_snapshot_stays_as_it_was_while_the_store_goes_on() {
        let directory = TempDir::new().unwrap();
        let store = store(&directory);
        assert_eq!(current(directory.path()), None);
        add(&store, 1);
        assert_eq!(publish(&store, directory.path(), false).unwrap(), 1);
        let first = open(directory.path(), 1, None).unwrap();
        add(&store, 2);
        assert_eq!(publish(&store, directory.path(), false).unwrap(), 2);
        assert_eq!(current(directory.path()), Some(2));
        let second = open(directory.path(), 2, None).unwrap();
        assert_eq!((first.store.len().unwrap(), second.store.len().unwrap()), (1, 2));
    }

    #[test]
    fn what_is_held_stays_and_what_is_not_goes() {
        let directory = TempDir::new().unwrap();
        let store = store(&directory);
        publish(&store, directory.path(), false).unwrap();
        let held = open(directory.path(), 1, None).unwrap();
        publish(&store, directory.path(), false).unwrap();
        publish(&store, directory.path(), false).unwrap();
        assert_eq!(names(&directory), ["1", "3", "current"]);
        assert!(matches!(open(directory.path(), 2, None), Err(CatalogueError::NoSuchSnapshot(2))));
        drop(held);
        publish(&store, directory.path(), false).unwrap();
        assert_eq!(names(&directory), ["4", "current"]);
    }

    #[test]
    fn what_a_kill_left_is_cleaned_up_by_the_next_publication() {
        let directory = TempDir::new().unwrap();
        let store = store(&directory);
        publish(&store, directory.path(), false).unwrap();
        let folder = folder(directory.path());
        // Killed while the copy was made; before the link was turned; while an old one was removed.
        fs::create_dir_all(folder.join(UNFINISHED).join(STORE)).unwrap();
        fs::create_dir_all(folder.join("2").join(STORE)).unwrap();
        File::create_new(folder.join("2").join(LOCK)).unwrap();
        fs::create_dir_all(folder.join("0").join(STORE)).unwrap();
        std::os::unix::fs::symlink("2", folder.join(format!("{UNFINISHED}-{CURRENT}"))).unwrap();
        assert_eq!(current(directory.path()), Some(1));
        let number = publish(&store, directory.path(), false).unwrap();
        assert_eq!(names(&directory), [number.to_string(), CURRENT.to_owned()]);
        open(directory.path(), number, None).unwrap();
    }
}
