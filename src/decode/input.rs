//! Opening what the user names: a file or standard input, compressed or not, of whatever
//! format.
//!
//! Compressed data is checked to its end before the first record is taken, because a
//! truncated or damaged file must be refused whole. It is read twice for that, and never held:
//! standard input is put into a temporary file. Expansion is bounded by its ratio, so a large
//! honest file passes and a bomb does not.

use super::detect;
use crate::diagnostic::{Code, Diagnostic};
use crate::record::Format;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Expansion beyond this ratio, once past [`RATIO_FREE`], is a bomb and not text.
const RATIO_LIMIT: u64 = 200;
const RATIO_FREE: u64 = 1024 * 1024;
/// How much of the content is looked at to find its format.
const HEAD: usize = 64 * 1024;
/// What zstd may ask for as its window: 128 MiB, as `zstd --long`.
const ZSTD_WINDOW_LOG: u32 = 27;

/// An input ready to be cut into records.
pub struct Input {
    /// The file's name without its folders, or `-`.
    pub name: String,
    pub format: Format,
    /// What was noticed while opening it.
    pub diagnostics: Vec<Diagnostic>,
    /// Bytes of the file read so far, and all of them where known: for progress.
    pub position: Arc<AtomicU64>,
    pub size: Option<u64>,
    pub reader: Box<dyn BufRead + Send>,
}

/// Why an input cannot be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    #[error("cannot read `{name}`: {source}")]
    Unreadable { name: String, source: io::Error },
    /// The data is broken, not the world: reported, counted, and the next file is read.
    #[error("{}", .0.message)]
    Refused(Box<Diagnostic>),
}

impl Input {
    /// Opens a file, or standard input for `-`. Without `format` the content decides.
    pub fn open(path: &Path, format: Option<Format>) -> Result<Self, InputError> {
        let unreadable = |source| InputError::Unreadable { name: path.display().to_string(), source };
        let stdin = path == Path::new("-");
        // Neither standard input nor a pipe can be read twice.
        let once = stdin || std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        let name = match path.file_name() {
            Some(name) if !stdin => name.to_string_lossy().into_owned(),
            _ => "-".to_owned(),
        };
        let position = Arc::new(AtomicU64::new(0));
        let (file, size): (Box<dyn Read + Send>, _) = if stdin {
            (Box::new(io::stdin()), None)
        } else {
            let file = File::open(path).map_err(unreadable)?;
            let metadata = file.metadata().map_err(unreadable)?;
            if metadata.is_dir() {
                return Err(unreadable(io::Error::from(io::ErrorKind::IsADirectory)));
            }
            (Box::new(file), metadata.is_file().then_some(metadata.len()))
        };
        let mut raw = counted(file, &position);
        let compression = Compression::of(raw.peek(4).map_err(unreadable)?);
        let mut diagnostics = Vec::new();
        let mut reader: Peekable = if let Some(compression) = compression {
            let mut file = if once {
                spool(&mut raw).map_err(unreadable)?
            } else {
                File::open(path).map_err(unreadable)?
            };
            check(compression, &mut file, &mut diagnostics)?;
            file.rewind().map_err(unreadable)?;
            position.store(0, Ordering::Relaxed);
            let reader = compression.reader(counted(Box::new(file), &position)).map_err(unreadable)?;
            Peekable::new(reader)
        } else {
            raw
        };
        let head = reader.peek(HEAD).map_err(unreadable)?;
        if head.iter().all(u8::is_ascii_whitespace) && head.len() < HEAD {
            let diagnostic = Diagnostic::new(Code::EmptyInput, format!("`{name}` holds no data"))
                .hint("the export or download that made it failed: make it again");
            return Err(InputError::Refused(Box::new(diagnostic)));
        }
        let format = match (format, detect(head, &name)) {
            (Some(named), seen) => {
                diagnostics.extend(mismatch(&name, named, seen, head));
                named
            }
            (None, Some(seen)) => seen,
            (None, None) => {
                let foreign = detect::describe(head);
                let message = format!("the content of `{name}` is {}", foreign.what);
                let diagnostic = Diagnostic::new(Code::UnknownFormat, message).hint(foreign.advice);
                return Err(InputError::Refused(Box::new(diagnostic)));
            }
        };
        Ok(Self { name, format, diagnostics, position, size, reader: Box::new(reader) })
    }
}

/// What is said where somebody named a format that the content does not look like. They may know
/// better, so it is read as they say.
fn mismatch(name: &str, named: Format, seen: Option<Format>, head: &[u8]) -> Option<Diagnostic> {
    let (looks, hint) = match seen {
        Some(seen) if detect::differ(seen, named) => {
            let hint =
                "leave out `--format`, or `format` in the description of a source, and the content decides";
            (format!("looks like {seen}"), hint)
        }
        Some(_) => return None,
        None => {
            let foreign = detect::known_foreign(head)?;
            (format!("is {}", foreign.what), foreign.advice)
        }
    };
    let message = format!("`{name}` {looks}, and is read as {named}");
    Some(Diagnostic::new(Code::FormatMismatch, message).hint(hint))
}

/// Reads compressed data to its end and throws it away.
fn check(
    compression: Compression,
    file: &mut File,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<(), InputError> {
    let refused = |error: io::Error| {
        let diagnostic = Diagnostic::new(
            Code::BadCompression,
            format!("the {} data cannot be used: {error}", compression.name()),
        )
        .hint("nothing of it was imported; fetch or compress the file again");
        InputError::Refused(Box::new(diagnostic))
    };
    let file = file.try_clone().map_err(refused)?;
    let trailing = Arc::new(AtomicU64::new(0));
    let raw = counted(Box::new(file), &Arc::default());
    let mut reader = compression.reader_noting(raw, Arc::clone(&trailing)).map_err(refused)?;
    io::copy(&mut reader, &mut io::sink()).map_err(refused)?;
    if trailing.load(Ordering::Relaxed) > 0 {
        diagnostics.push(Diagnostic::new(
            Code::TrailingBytes,
            format!("bytes after the end of the {} data were left out", compression.name()),
        ));
    }
    Ok(())
}

fn spool(reader: &mut impl Read) -> io::Result<File> {
    let mut file = temporary()?;
    io::copy(reader, &mut file)?;
    file.rewind()?;
    Ok(file)
}

/// A file that is gone when it is closed. What keeps it from being made is said with the folder,
/// which is not the one of the input.
pub(super) fn temporary() -> io::Result<File> {
    tempfile::tempfile().map_err(|error| {
        let folder = std::env::temp_dir();
        io::Error::new(error.kind(), format!("a temporary file in `{}`: {error}", folder.display()))
    })
}

#[derive(Debug, Clone, Copy)]
enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1F, 0x8B, ..] => Some(Self::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    fn reader(self, raw: Peekable) -> io::Result<Box<dyn Read + Send>> {
        self.reader_noting(raw, Arc::default())
    }

    /// A decompressing reader that notes in `trailing` whether bytes follow the data.
    fn reader_noting(self, raw: Peekable, trailing: Arc<AtomicU64>) -> io::Result<Box<dyn Read + Send>> {
        let consumed = Arc::clone(&raw.consumed);
        let inner: Box<dyn Read + Send> = match self {
            Self::Gzip => {
                Box::new(GzipMembers { member: Some(flate2::bufread::GzDecoder::new(raw)), trailing })
            }
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(raw)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                Box::new(decoder)
            }
        };
        Ok(Box::new(RatioGuard { inner, consumed, produced: 0 }))
    }
}

/// All members of a gzip file, one after the other. What follows the last is left out.
struct GzipMembers {
    member: Option<flate2::bufread::GzDecoder<Peekable>>,
    trailing: Arc<AtomicU64>,
}

impl Read for GzipMembers {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let Some(member) = self.member.take() else { break };
            let mut raw = member.into_inner();
            let next = raw.peek(2)?;
            if Compression::of(&[next, &[0, 0]].concat()).is_some() {
                self.member = Some(flate2::bufread::GzDecoder::new(raw));
            } else if !next.is_empty() {
                self.trailing.store(1, Ordering::Relaxed);
            }
        }
        Ok(0)
    }
}

/// Stops a bomb: text does not shrink to a two-hundredth.
struct RatioGuard {
    inner: Box<dyn Read + Send>,
    consumed: Arc<AtomicU64>,
    produced: u64,
}

impl Read for RatioGuard {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.produced += read as u64;
        let allowed = RATIO_LIMIT * self.consumed.load(Ordering::Relaxed).max(1);
        if self.produced > RATIO_FREE && self.produced > allowed {
            return Err(io::Error::other(format!("it expands to more than {RATIO_LIMIT} times its size")));
        }
        Ok(read)
    }
}

fn counted(reader: Box<dyn Read + Send>, position: &Arc<AtomicU64>) -> Peekable {
    Peekable {
        reader: BufReader::with_capacity(256 * 1024, reader),
        head: Vec::new(),
        read: 0,
        consumed: Arc::clone(position),
    }
}

/// A buffered reader whose first bytes can be looked at before they are read, and which
/// counts what was consumed.
struct Peekable {
    reader: BufReader<Box<dyn Read + Send>>,
    /// Bytes peeked at and not yet consumed, from `read` on.
    head: Vec<u8>,
    read: usize,
    consumed: Arc<AtomicU64>,
}

impl Peekable {
    fn new(reader: Box<dyn Read + Send>) -> Self {
        counted(reader, &Arc::default())
    }

    /// Up to `length` bytes that will be read next; fewer only at the end of the data.
    fn peek(&mut self, length: usize) -> io::Result<&[u8]> {
        if self.read > 0 {
            self.head.drain(..self.read);
            self.read = 0;
        }
        while self.head.len() < length {
            let buffer = match self.reader.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let taken = buffer.len().min(length - self.head.len());
            if taken == 0 {
                break;
            }
            self.head.extend_from_slice(buffer.get(..taken).unwrap_or_default());
            self.reader.consume(taken);
        }
        Ok(&self.head)
    }
}

impl BufRead for Peekable {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.read < self.head.len() {
            Ok(self.head.get(self.read..).unwrap_or_default())
        } else {
            self.reader.fill_buf()
        }
    }

    fn consume(&mut self, amount: usize) {
        self.consumed.fetch_add(amount as u64, Ordering::Relaxed);
        if self.read < self.head.len() {
            self.read += amount;
        } else {
            self.reader.consume(amount);
        }
    }
}

impl Read for Peekable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let taken = available.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..taken), available.get(..taken)) {
            to.copy_from_slice(from);
        }
        self.consume(taken);
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of content that is to be read as a format.
    fn said(head: &[u8], named: Format) -> Option<String> {
        mismatch("input", named, detect(head, "input"), head).map(|said| said.message)
    }

    #[test]
    fn whoever_names_a_format_for_no_records_is_told_what_they_are() {
        let is = |what: &str| Some(format!("`input` is {what}, and is read as csv"));
        let page = is("a web page, not records");
        for text in [
            "<!DOCTYPE html>\n<title>404</title>",
            "\u{FEFF} <HTML lang='en'>",
            "<?xml version='1.0'?>\n<!-- x -->\n<html xmlns='http://www.w3.org/1999/xhtml'>",
        ] {
            assert_eq!(said(text.as_bytes(), Format::Csv), page, "{text}");
        }
        let utf16 = |text: &str| {
            [&[0xFF, 0xFE], text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>().as_slice()]
                .concat()
        };
        assert_eq!(
            said(&utf16("id,title\n1,Walden\n"), Format::Csv),
            is("UTF-16 text, which is read only as XML")
        );
        assert_eq!(said(b"%PDF-1.7", Format::Csv), is("a PDF document"));
    }

    #[test]
    fn whoever_names_a_format_that_content_cannot_tell_is_believed() {
        // A table of one column, and text in a character set that looks like no text.
        for head in [b"title\nWalden\n".as_slice(), &[0xE9; 64]] {
            assert_eq!(said(head, Format::Csv), None);
        }
        assert_eq!(said(b"id,title\n1,Walden\n", Format::Tsv), None);
        let differs = "`input` looks like csv, and is read as mrk".to_owned();
        assert_eq!(said(b"id,title\n1,Walden\n", Format::Mrk), Some(differs));
    }
}
