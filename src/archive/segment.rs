//! The files payloads lie in: zstd frames one after the other, each with its checksum.
//!
//! A frame is whole or it is cut off. What a failed write left behind is cut off before anything
//! else is written ([`Segments::roll_back`]), and what a killed one left when the archive is opened
//! again ([`Segments::recover`]). Bytes that cannot be *read* are never taken for bytes that are
//! not there: a disk that fails is an error, and nothing is touched.

use super::ArchiveError;
use super::entry::{Entry, read_entries};
use super::index::{End, Place};
use super::medium::{FileSystem, Medium, Reader, SegmentFile};
use crate::disk;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zstd::bulk::Compressor;
use zstd::stream::read::Decoder;

/// How long a segment becomes.
const SEGMENT: u64 = 1024 * 1024 * 1024;
const LEVEL: i32 = 3;
/// How a zstd frame begins.
const FRAME: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// How far behind damage the next block is looked for.
const FAR_BEYOND_A_BLOCK: u64 = 64 * 1024 * 1024;

pub(super) struct Segments {
    directory: PathBuf,
    medium: Arc<dyn Medium>,
    reader: SegmentReader,
    /// The segment that is written to, once something was.
    current: Option<Current>,
    last: u32,
    /// A segment is closed beyond this size and the next one begun.
    longest: u64,
    compressor: Compressor<'static>,
}

/// The segment that is written to.
struct Current {
    segment: u32,
    file: Box<dyn SegmentFile>,
    length: u64,
}

impl Segments {
    pub fn open(directory: &Path) -> Result<Self, ArchiveError> {
        Self::on(directory, Arc::new(FileSystem), SEGMENT)
    }

    pub fn on(directory: &Path, medium: Arc<dyn Medium>, longest: u64) -> Result<Self, ArchiveError> {
        disk::create_directory(directory).map_err(at(directory))?;
        let mut last = 0;
        for entry in std::fs::read_dir(directory).map_err(at(directory))? {
            let name = entry.map_err(at(directory))?.file_name();
            let number = name.to_string_lossy().strip_suffix(".zst").and_then(|name| name.parse().ok());
            last = last.max(number.unwrap_or(0));
        }
        let mut compressor = Compressor::new(LEVEL)?;
        compressor.include_checksum(true)?;
        let reader = SegmentReader { directory: directory.to_owned(), medium: Arc::clone(&medium) };
        Ok(Self { directory: directory.to_owned(), medium, reader, current: None, last, longest, compressor })
    }

    /// Where the next block will go.
    pub fn end(&self) -> Result<End, ArchiveError> {
        if let Some(current) = &self.current {
            return Ok(End { segment: current.segment, offset: current.length });
        }
        let offset = self.read_file(self.last)?.map_or(Ok(0), |file| file.length());
        Ok(End { segment: self.last, offset: offset.map_err(at(&self.path(self.last)))? })
    }

    /// Writes one block; it is safe after the next [`sync`](Self::sync). After a failure the
    /// segments must be [rolled back](Self::roll_back).
    pub fn append(&mut self, block: &[u8]) -> Result<Place, ArchiveError> {
        let frame = self.compressor.compress(block)?;
        let path = self.path(self.next());
        let current = self.writable()?;
        current.file.append(&frame).map_err(at(&path))?;
        let place = Place { segment: current.segment, offset: current.length, length: frame.len() as u64 };
        current.length += frame.len() as u64;
        Ok(place)
    }

    pub fn sync(&mut self) -> Result<(), ArchiveError> {
        let path = self.path(self.last);
        match &mut self.current {
            Some(current) => current.file.sync().map_err(|error| at(&path)(error).into()),
            None => Ok(()),
        }
    }

    /// Cuts off all that was written after `end`, which a failure may have left there in part.
    pub fn roll_back(&mut self, end: End) -> Result<(), ArchiveError> {
        self.current = None;
        for segment in end.segment + 1..=self.last {
            let path = self.path(segment);
            match self.medium.remove(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(&path)(error).into()),
                _ => {}
            }
        }
        if self.last > end.segment {
            self.medium.sync_directory(&self.directory).map_err(at(&self.directory))?;
            self.last = end.segment;
        }
        let Some(file) = self.read_file(end.segment)? else { return Ok(()) };
        let path = self.path(end.segment);
        if file.length().map_err(at(&path))? > end.offset {
            let mut file = self.medium.append(&path).map_err(at(&path))?;
            file.truncate(end.offset).and_then(|()| file.sync()).map_err(at(&path))?;
        }
        Ok(())
    }

    pub fn read(&self, place: Place, first: u64) -> Result<Vec<Entry>, ArchiveError> {
        self.reader.read(place, first)
    }

    /// Reads the same segments, whoever appends to them.
    pub fn reader(&self) -> SegmentReader {
        self.reader.clone()
    }

    /// The index speaks of blocks up to `end`: they must be there.
    pub fn must_reach(&self, end: End) -> Result<(), ArchiveError> {
        let path = self.path(end.segment);
        let length = match self.read_file(end.segment)? {
            Some(file) => file.length().map_err(at(&path))?,
            None => 0,
        };
        if end.segment > self.last || length < end.offset {
            return Err(ArchiveError::Damaged {
                file: path.display().to_string(),
                offset: length,
                reason: format!(
                    "{} bytes are missing; restore the archive from a backup",
                    end.offset - length.min(end.offset)
                ),
            });
        }
        Ok(())
    }

    /// The whole blocks beyond `end`; what follows them is a torn write and is cut off. Where
    /// whole blocks come after it, it is damage, and nothing is touched; nor is anything where the
    /// disk cannot tell what is there.
    pub fn recover(&mut self, end: End) -> Result<Vec<Place>, ArchiveError> {
        let mut found = Vec::new();
        for segment in end.segment..=self.last {
            let path = self.path(segment);
            let Some(file) = self.read_file(segment)? else { continue };
            let length = file.length().map_err(at(&path))?;
            let mut offset = if segment == end.segment { end.offset } else { 0 };
            while offset < length {
                if let Some(frame) = frame_length(&*file, offset).map_err(at(&path))? {
                    found.push(Place { segment, offset, length: frame });
                    offset += frame;
                    continue;
                }
                if segment < self.last || block_behind(&*file, offset).map_err(at(&path))? {
                    return Err(ArchiveError::Damaged {
                        file: path.display().to_string(),
                        offset,
                        reason: "bytes that are no entry, with entries after them".to_owned(),
                    });
                }
                self.roll_back(End { segment, offset })?;
                break;
            }
        }
        Ok(found)
    }

    /// The segment that the next block goes to.
    fn next(&self) -> u32 {
        let full = self.current.as_ref().is_some_and(|current| current.length > self.longest);
        if full || self.last == 0 { self.last + 1 } else { self.last }
    }

    fn writable(&mut self) -> Result<&mut Current, ArchiveError> {
        let next = self.next();
        if self.current.as_ref().is_some_and(|current| current.segment != next) {
            // What the last batch put into the full one is acknowledged with the rest of it.
            self.sync()?;
            self.current = None;
        }
        if self.current.is_none() {
            let path = self.path(next);
            let file = self.medium.append(&path).map_err(at(&path))?;
            self.last = next;
            // The file's name must survive a power cut as well as its content.
            self.medium.sync_directory(&self.directory).map_err(at(&self.directory))?;
            let length = file.length().map_err(at(&path))?;
            self.current = Some(Current { segment: next, file, length });
        }
        self.current.as_mut().ok_or_else(|| io::Error::other("no segment is open").into())
    }

    /// A segment for reading; `None` if there is none.
    fn read_file(&self, segment: u32) -> Result<Option<Box<dyn SegmentFile>>, ArchiveError> {
        let path = self.path(segment);
        match self.medium.read(&path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(at(&path)(error).into()),
        }
    }

    fn path(&self, segment: u32) -> PathBuf {
        segment_path(&self.directory, segment)
    }
}

fn segment_path(directory: &Path, segment: u32) -> PathBuf {
    directory.join(format!("{segment:08}.zst"))
}

/// Reads blocks of segments that another may be appending to.
#[derive(Clone)]
pub(super) struct SegmentReader {
    directory: PathBuf,
    medium: Arc<dyn Medium>,
}

impl SegmentReader {
    pub fn open(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), medium: Arc::new(FileSystem) }
    }

    /// The entries of a block of which the first has this number, without the payloads of those
    /// that point at others.
    pub fn read(&self, place: Place, first: u64) -> Result<Vec<Entry>, ArchiveError> {
        let path = segment_path(&self.directory, place.segment);
        let damaged = |reason: String| ArchiveError::Damaged {
            file: path.display().to_string(),
            offset: place.offset,
            reason,
        };
        let file = self.medium.read(&path).map_err(at(&path))?;
        let mut block = Vec::new();
        let mut decoder = Decoder::new(Reader::at(&*file, place.offset).take(place.length))?;
        decoder.read_to_end(&mut block).map_err(|error| match of_disk(error) {
            Ok(error) => at(&path)(error).into(),
            Err(reason) => damaged(reason),
        })?;
        let mut entries = read_entries(&block).map_err(damaged)?;
        for (sequence, entry) in (first..).zip(&mut entries) {
            entry.sequence = sequence;
        }
        Ok(entries)
    }
}

/// An error of the disk with the name of the file.
fn at(path: &Path) -> impl Fn(io::Error) -> io::Error + use<> {
    let path = path.to_owned();
    move |error| io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

/// Tells an error of the disk from one about the bytes, which it gives as a reason.
fn of_disk(error: io::Error) -> Result<io::Error, String> {
    // The decoder's own errors have no number of the system.
    if error.raw_os_error().is_some() { Ok(error) } else { Err(error.to_string()) }
}

/// Whether a whole block lies beyond a place where none begins.
fn block_behind(file: &dyn SegmentFile, offset: u64) -> io::Result<bool> {
    let mut bytes = Vec::new();
    Reader::at(file, offset).take(FAR_BEYOND_A_BLOCK).read_to_end(&mut bytes)?;
    Ok(memchr::memmem::find_iter(&bytes, &FRAME).any(|start| {
        let Ok(decoder) = Decoder::with_buffer(bytes.get(start..).unwrap_or_default()) else {
            return false;
        };
        let mut block = Vec::new();
        decoder.single_frame().read_to_end(&mut block).is_ok()
            && read_entries(&block).is_ok_and(|entries| !entries.is_empty())
    }))
}

/// The length of the frame at an offset; `None` when it is not there whole or its checksum does not
/// hold.
fn frame_length(file: &dyn SegmentFile, offset: u64) -> io::Result<Option<u64>> {
    let reader = BufReader::new(Reader::at(file, offset));
    let mut decoder = Decoder::with_buffer(reader)?.single_frame();
    if let Err(error) = io::copy(&mut decoder, &mut io::sink()) {
        return of_disk(error).map_or(Ok(None), Err);
    }
    let reader = decoder.finish();
    let end = reader.get_ref().position() - reader.buffer().len() as u64;
    Ok(end.checked_sub(offset).filter(|length| *length > 0))
}
