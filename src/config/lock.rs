//! One writer or many readers.
//!
//! RocksDB allows a read-only open beside a writer and calls the result undefined, so we keep
//! them apart: a writer holds the lock file alone, readers share it. The file holds the
//! writer's process number for the message of whoever comes second. The system releases the
//! lock when a process ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The directory is in use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    #[error("the catalogue is being written by process {0}; wait for it to end, or stop it")]
    Writing(String),
    #[error("the catalogue is being read by another process; wait for it to end, or stop it")]
    Reading,
    #[error("cannot lock `{path}`: {source}")]
    Io { path: String, source: std::io::Error },
}

/// Held for as long as the value lives.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Alone.
    pub fn write(directory: &Path) -> Result<Self, LockError> {
        let failed = |source| failed(directory, source);
        let mut file = open(directory).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(holder(&mut file)),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        file.set_len(0).map_err(failed)?;
        write!(file, "{}", std::process::id()).map_err(failed)?;
        Ok(Self { _file: file })
    }

    /// Beside other readers.
    pub fn read(directory: &Path) -> Result<Self, LockError> {
        // Whoever may not write the directory may still read it.
        let opened = open(directory).or_else(|error| match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => File::open(path(directory)),
            _ => Err(error),
        });
        let mut file = opened.map_err(|source| failed(directory, source))?;
        match file.try_lock_shared() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(holder(&mut file)),
            Err(TryLockError::Error(error)) => Err(failed(directory, error)),
        }
    }
}

fn path(directory: &Path) -> PathBuf {
    directory.join("pinakes.lock")
}

fn failed(directory: &Path, source: std::io::Error) -> LockError {
    LockError::Io { path: path(directory).display().to_string(), source }
}

fn open(directory: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path(directory))
}

/// A number in the file is a writer's, if a lock that readers share cannot be had.
fn holder(file: &mut File) -> LockError {
    if file.try_lock_shared().is_ok() {
        return LockError::Reading;
    }
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.read_to_string(&mut text));
    match read {
        Ok(_) if !text.is_empty() => LockError::Writing(text),
        _ => LockError::Writing("?".to_owned()),
    }
}
