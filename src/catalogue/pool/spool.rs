//! Keeps an answer until it is whole: in memory, and in a file without a name if it is long.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;

/// An answer beyond this goes into a file.
const IN_MEMORY: usize = 1024 * 1024;

/// The bytes of an answer.
#[derive(Debug)]
pub enum Body {
    Bytes(Vec<u8>),
    /// At its beginning, and as long as this. The file has no name and ends with the value.
    File(File, u64),
}

impl Body {
    pub fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(_, length) => *length,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Gathers the parts of one answer.
#[derive(Default)]
pub(super) struct Spool {
    gathered: Vec<u8>,
    file: Option<File>,
    /// Of what is in the file.
    length: u64,
}

impl Spool {
    /// Takes a part; true when [`Self::store`] is due.
    pub(super) fn push(&mut self, part: &[u8]) -> bool {
        self.gathered.extend_from_slice(part);
        self.gathered.len() > IN_MEMORY
    }

    /// Puts what is gathered into the file. It waits for the disk.
    pub(super) fn store(mut self, folder: &Path) -> io::Result<Self> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => tempfile::tempfile_in(folder)?,
        };
        file.write_all(&self.gathered)?;
        self.length += self.gathered.len() as u64;
        self.gathered.clear();
        self.file = Some(file);
        Ok(self)
    }

    /// Whether anything waits for the disk before [`Self::end`].
    pub(super) fn is_stored(&self) -> bool {
        self.file.is_some()
    }

    /// Everything; after [`Self::store`] if anything was stored.
    pub(super) fn end(self) -> io::Result<Body> {
        match self.file {
            None => Ok(Body::Bytes(self.gathered)),
            Some(mut file) => {
                file.rewind()?;
                Ok(Body::File(file, self.length))
            }
        }
    }
}
