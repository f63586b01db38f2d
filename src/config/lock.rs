//! One writer or many readers; whoever comes second waits and is told for whom.
//!
//! RocksDB allows a read-only open beside a writer and calls the result undefined, so we keep
//! them apart: a writer holds the lock file alone, readers share it. The file holds the
//! writer's process number and command for the message of whoever comes second. The system
//! releases a lock when its process ends, however it ends.
//!
//! Whoever waits shares a second file, the queue. A long writer looks there between two pieces
//! of work and gives way when somebody does.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a writer that gave way leaves the others to take their turn.
const TURN: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_millis(20);

/// The directory is in use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    #[error("the catalogue is being written by {0}")]
    Writing(String),
    #[error("the catalogue is being read by another process")]
    Reading,
    #[error("cannot lock `{path}`: {source}")]
    Io { path: String, source: std::io::Error },
}

/// Whether to go on waiting for whoever holds the catalogue; called again and again, and
/// expected to take some time itself.
pub type Patience<'a> = &'a mut dyn FnMut(&LockError) -> bool;

/// Held for as long as the value lives.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    directory: PathBuf,
}

impl Lock {
    /// Alone. `who` is the command, as others will be told.
    pub fn write(directory: &Path, who: &str, patience: Patience<'_>) -> Result<Self, LockError> {
        let failed = |source| failed(directory, source);
        let mut file = open(directory).map_err(failed)?;
        wait_for(directory, patience, || match file.try_lock() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(holder(&mut file)),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        })?;
        file.set_len(0).map_err(failed)?;
        file.rewind().map_err(failed)?;
        write!(file, "`pinakes {who}`, process {}", std::process::id()).map_err(failed)?;
        Ok(Self { _file: file, directory: directory.to_owned() })
    }

    /// Beside other readers.
    pub fn read(directory: &Path, patience: Patience<'_>) -> Result<Self, LockError> {
        // Whoever may not write the directory may still read it.
        let opened = open(directory).or_else(|error| match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => File::open(path(directory)),
            _ => Err(error),
        });
        let mut file = opened.map_err(|source| failed(directory, source))?;
        wait_for(directory, patience, || match file.try_lock_shared() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(holder(&mut file)),
            Err(TryLockError::Error(error)) => Err(failed(directory, error)),
        })?;
        Ok(Self { _file: file, directory: directory.to_owned() })
    }

    /// Whether another process waits for this one.
    pub fn is_wanted(&self) -> bool {
        queue(&self.directory).is_ok_and(|queue| matches!(queue.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// Lets those who wait have their turn. To go on, lock again.
    pub fn give_way(self) {
        let directory = self.directory.clone();
        drop(self);
        let Ok(queue) = queue(&directory) else { return };
        let mut waited = Duration::ZERO;
        // Whoever got the lock leaves the queue.
        while waited < TURN && matches!(queue.try_lock(), Err(TryLockError::WouldBlock)) {
            std::thread::sleep(STEP);
            waited += STEP;
        }
    }
}

/// One `pinakes run` at a time, so that one started by the clock does not queue behind another.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
}

impl RunLock {
    /// `None` when another process runs.
    pub fn take(directory: &Path) -> Result<Option<Self>, LockError> {
        let path = directory.join("pinakes.run");
        let failed = |source| LockError::Io { path: path.display().to_string(), source };
        let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path);
        let file = file.map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

/// Tries until it succeeds, or patience ends.
fn wait_for(
    directory: &Path,
    patience: Patience<'_>,
    mut attempt: impl FnMut() -> Result<(), LockError>,
) -> Result<(), LockError> {
    let mut queued: Option<File> = None;
    loop {
        match attempt() {
            Err(busy @ (LockError::Writing(_) | LockError::Reading)) => {
                // Whoever may not write the directory waits without being seen.
                if queued.is_none() {
                    queued = queue(directory).ok().filter(|queue| queue.try_lock_shared().is_ok());
                }
                if !patience(&busy) {
                    return Err(busy);
                }
            }
            other => return other,
        }
    }
}

fn path(directory: &Path) -> PathBuf {
    directory.join("pinakes.lock")
}

fn queue(directory: &Path) -> std::io::Result<File> {
    let path = directory.join("pinakes.queue");
    OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)
}

fn failed(directory: &Path, source: std::io::Error) -> LockError {
    LockError::Io { path: path(directory).display().to_string(), source }
}

fn open(directory: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path(directory))
}

/// A text in the file is a writer's, if a lock that readers share cannot be had.
fn holder(file: &mut File) -> LockError {
    if file.try_lock_shared().is_ok() {
        let _ = file.unlock();
        return LockError::Reading;
    }
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.read_to_string(&mut text));
    match read {
        Ok(_) if !text.is_empty() => LockError::Writing(text),
        _ => LockError::Writing("another process".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_seen_and_gets_its_turn() {
        let directory = tempfile::tempdir().unwrap();
        let writer = Lock::write(directory.path(), "import", &mut |_| false).unwrap();
        assert!(!writer.is_wanted());
        let path = directory.path().to_owned();
        let (said, hear) = std::sync::mpsc::channel();
        let second = std::thread::spawn(move || {
            let lock = Lock::write(&path, "harvest", &mut |busy| {
                let _ = said.send(busy.to_string());
                std::thread::sleep(STEP);
                true
            });
            drop(lock.unwrap());
        });
        let said = hear.recv().unwrap();
        assert!(said.starts_with("the catalogue is being written by `pinakes import`, process "), "{said}");
        while !writer.is_wanted() {
            std::thread::sleep(STEP);
        }
        writer.give_way();
        second.join().unwrap();
        Lock::write(directory.path(), "import", &mut |_| false).unwrap();
    }

    #[test]
    fn patience_can_end() {
        let directory = tempfile::tempdir().unwrap();
        let _reader = Lock::read(directory.path(), &mut |_| false).unwrap();
        let _another = Lock::read(directory.path(), &mut |_| false).unwrap();
        let mut asked = 0;
        let refused = Lock::write(directory.path(), "import", &mut |_| {
            asked += 1;
            asked < 3
        });
        assert!(matches!(refused, Err(LockError::Reading)));
        assert_eq!(asked, 3);
    }
}
