//! The files payloads lie in: zstd frames one after the other, each with its checksum.

use super::ArchiveError;
use super::entry::{Entry, read_entries};
use super::index::{End, Place};
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use zstd::bulk::Compressor;

/// A segment is closed beyond this size and the next one begun.
const SEGMENT: u64 = 1024 * 1024 * 1024;
const LEVEL: i32 = 3;
/// How a zstd frame begins.
const FRAME: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// How far behind damage the next block is looked for.
const FAR_BEYOND_A_BLOCK: u64 = 64 * 1024 * 1024;

pub(super) struct Segments {
    directory: PathBuf,
    /// The segment that is written to, once something was.
    current: Option<(u32, File, u64)>,
    last: u32,
    compressor: Compressor<'static>,
}

impl Segments {
    pub fn open(directory: &Path) -> Result<Self, ArchiveError> {
        std::fs::create_dir_all(directory)?;
        let mut last = 0;
        for entry in std::fs::read_dir(directory)? {
            let name = entry?.file_name();
            let number = name.to_string_lossy().strip_suffix(".zst").and_then(|name| name.parse().ok());
            last = last.max(number.unwrap_or(0));
        }
        let mut compressor = Compressor::new(LEVEL)?;
        compressor.include_checksum(true)?;
        Ok(Self { directory: directory.to_owned(), current: None, last, compressor })
    }

    /// Where the next block will go.
    pub fn end(&self) -> Result<End, ArchiveError> {
        if let Some((segment, _, length)) = &self.current {
            return Ok(End { segment: *segment, offset: *length });
        }
        let offset = match std::fs::metadata(self.path(self.last)) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error.into()),
        };
        Ok(End { segment: self.last, offset })
    }

    /// Writes one block; it is safe after the next [`sync`](Self::sync).
    pub fn append(&mut self, block: &[u8]) -> Result<Place, ArchiveError> {
        let frame = self.compressor.compress(block)?;
        let (segment, file, length) = self.writable()?;
        file.write_all(&frame)?;
        let place = Place { segment: *segment, offset: *length, length: frame.len() as u64 };
        *length += frame.len() as u64;
        Ok(place)
    }

    pub fn sync(&mut self) -> Result<(), ArchiveError> {
        if let Some((_, file, _)) = &self.current {
            file.sync_data()?;
        }
        Ok(())
    }

    pub fn read(&self, place: Place, first: u64) -> Result<Vec<Entry>, ArchiveError> {
        let path = self.path(place.segment);
        let damaged = |reason: String| ArchiveError::Damaged {
            file: path.display().to_string(),
            offset: place.offset,
            reason,
        };
        let mut file = File::open(&path)?;
        file.seek(SeekFrom::Start(place.offset))?;
        let mut block = Vec::new();
        let mut decoder = zstd::stream::read::Decoder::new(file.take(place.length))?;
        decoder.read_to_end(&mut block).map_err(|error| damaged(error.to_string()))?;
        let mut entries = read_entries(&block).map_err(damaged)?;
        for (sequence, entry) in (first..).zip(&mut entries) {
            entry.sequence = sequence;
        }
        Ok(entries)
    }

    /// The index speaks of blocks up to `end`: they must be there.
    pub fn must_reach(&self, end: End) -> Result<(), ArchiveError> {
        let length = std::fs::metadata(self.path(end.segment)).map_or(0, |metadata| metadata.len());
        if end.segment > self.last || length < end.offset {
            return Err(ArchiveError::Damaged {
                file: self.path(end.segment).display().to_string(),
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
    /// whole blocks come after it, it is damage, and nothing is touched.
    pub fn recover(&mut self, end: End) -> Result<Vec<Place>, ArchiveError> {
        let mut found = Vec::new();
        for segment in end.segment..=self.last {
            let start = if segment == end.segment { end.offset } else { 0 };
            let file = match OpenOptions::new().read(true).write(true).open(self.path(segment)) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error.into()),
            };
            let length = file.metadata()?.len();
            let mut offset = start;
            while offset < length {
                match frame_length(&file, offset) {
                    Some(frame) => {
                        found.push(Place { segment, offset, length: frame });
                        offset += frame;
                    }
                    None if segment < self.last || block_behind(&file, offset) => {
                        return Err(ArchiveError::Damaged {
                            file: self.path(segment).display().to_string(),
                            offset,
                            reason: "bytes that are no entry, with entries after them".to_owned(),
                        });
                    }
                    None => {
                        file.set_len(offset)?;
                        file.sync_all()?;
                        break;
                    }
                }
            }
        }
        Ok(found)
    }

    fn writable(&mut self) -> Result<&mut (u32, File, u64), ArchiveError> {
        let full = self.current.as_ref().is_some_and(|(_, _, length)| *length > SEGMENT);
        if full && let Some((_, file, _)) = &self.current {
            // What the last batch put here is acknowledged with the rest of it.
            file.sync_data()?;
        }
        if self.current.is_none() || full {
            let next = if full || self.last == 0 { self.last + 1 } else { self.last };
            let file = OpenOptions::new().create(true).append(true).open(self.path(next))?;
            // The file's name must survive a power cut as well as its content.
            File::open(&self.directory)?.sync_all()?;
            let length = file.metadata()?.len();
            self.last = next;
            self.current = Some((next, file, length));
        }
        self.current.as_mut().ok_or_else(|| io::Error::other("no segment is open").into())
    }

    fn path(&self, segment: u32) -> PathBuf {
        self.directory.join(format!("{segment:08}.zst"))
    }
}

/// Whether a whole block lies beyond a place where none begins.
fn block_behind(file: &File, offset: u64) -> bool {
    let Ok(mut file) = file.try_clone() else { return false };
    let mut bytes = Vec::new();
    let read = file
        .seek(SeekFrom::Start(offset))
        .and_then(|_| file.take(FAR_BEYOND_A_BLOCK).read_to_end(&mut bytes));
    read.is_ok()
        && memchr::memmem::find_iter(&bytes, &FRAME).any(|start| {
            let Ok(decoder) =
                zstd::stream::read::Decoder::with_buffer(bytes.get(start..).unwrap_or_default())
            else {
                return false;
            };
            let mut block = Vec::new();
            decoder.single_frame().read_to_end(&mut block).is_ok()
                && read_entries(&block).is_ok_and(|entries| !entries.is_empty())
        })
}

/// The length of the frame at an offset, when it is there whole and its checksum holds.
fn frame_length(file: &File, offset: u64) -> Option<u64> {
    let mut file = file.try_clone().ok()?;
    file.seek(SeekFrom::Start(offset)).ok()?;
    let decoder = zstd::stream::read::Decoder::with_buffer(BufReader::new(file)).ok()?;
    let mut decoder = decoder.single_frame();
    io::copy(&mut decoder, &mut io::sink()).ok()?;
    let end = decoder.finish().stream_position().ok()?;
    end.checked_sub(offset).filter(|length| *length > 0)
}
