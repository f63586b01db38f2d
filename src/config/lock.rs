//! One writer or many readers.
//!
//! RocksDB allows a read-only open beside a writer and calls the result undefined, so we keep
//! them apart: a writer holds the lock file alone, readers share it. The file holds the
//! writer's process number for the message of whoever comes second. The system releases the
//! lock when a process ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

/// The directory is in use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    #[error("the catalogue is being written by process {0}; wait for it to end, or stop it")]
    Writing(String),
    #[error("the catalogue is being read by another process; wait for it to end, or stop it")]
    Reading,
    #[error("cannot lock the catalogue: {0}")]
    Io(#[from] std::io::Error),
}

/// Held for as long as the value lives.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Alone.
    pub fn write(directory: &Path) -> Result<Self, LockError> {
        let mut file = open(directory)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(holder(&mut file)),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        file.set_len(0)?;
        write!(file, "{}", std::process::id())?;
        Ok(Self { _file: file })
    }

    /// Beside other readers.
    pub fn read(directory: &Path) -> Result<Self, LockError> {
        let mut file = open(directory)?;
        match file.try_lock_shared() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(holder(&mut file)),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }
}

fn open(directory: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(directory.join("pinakes.lock"))
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
