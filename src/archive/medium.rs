//! What segments lie on: the few operations of a file system that they need.
//!
//! They stand behind a trait so that tests can let each of them fail, one after the other.

use crate::disk;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A file system, as segments use it.
pub(super) trait Medium: Send + Sync {
    /// A file for reading.
    fn read(&self, path: &Path) -> io::Result<Box<dyn SegmentFile>>;

    /// A file for reading and for writing at its end, made if it is not there.
    fn append(&self, path: &Path) -> io::Result<Box<dyn SegmentFile>>;

    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a directory last.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;
}

/// An open segment.
pub(super) trait SegmentFile: Send + Sync {
    fn length(&self) -> io::Result<u64>;

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes at the end. A failure may leave a part of the bytes there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    fn truncate(&mut self, length: u64) -> io::Result<()>;

    /// Makes content and length last.
    fn sync(&mut self) -> io::Result<()>;
}

/// The system's own.
pub(super) struct FileSystem;

impl Medium for FileSystem {
    fn read(&self, path: &Path) -> io::Result<Box<dyn SegmentFile>> {
        Ok(Box::new(File::open(path)?))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn SegmentFile>> {
        Ok(Box::new(OpenOptions::new().create(true).read(true).append(true).open(path)?))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        disk::sync_directory(directory)
    }
}

impl SegmentFile for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        FileExt::read_at(self, buffer, offset)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// Reads a segment from a place on.
pub(super) struct Reader<'a> {
    file: &'a dyn SegmentFile,
    position: u64,
}

impl<'a> Reader<'a> {
    pub fn at(file: &'a dyn SegmentFile, position: u64) -> Self {
        Self { file, position }
    }

    /// Where the next byte is read.
    pub fn position(&self) -> u64 {
        self.position
    }
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(self.position, buffer)?;
        self.position += read as u64;
        Ok(read)
    }
}
