//! A document as UTF-8, whatever it is written in.
//!
//! A byte order mark decides, then the declaration, then UTF-8. A declaration may lie, so one
//! that names an 8-bit character set is believed only when the first bytes beyond ASCII are not
//! UTF-8: text in Latin-1 that happens to be valid UTF-8 is practically never written.
//!
//! The opposite lie (UTF-8 declared, Latin-1 written) is judged record by record when a payload
//! is decoded: bytes of documents in UTF-8 pass unchanged.

use crate::diagnostic::{Code, Diagnostic};
use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use std::io::{self, BufRead, ErrorKind, Read};

/// A whole document as UTF-8, whether its bytes had to be changed for that, and what was noticed.
pub fn in_utf8(document: Vec<u8>) -> (Vec<u8>, bool, Option<Diagnostic>) {
    let head = document.get(..HEAD).unwrap_or(&document);
    let (encoding, notice) = declared(head);
    // What is UTF-8 to its end can be taken as it is, unless its markup shows another character
    // set; the reader would say the same, after a copy.
    if encoding == UTF_8 || (encoding.is_ascii_compatible() && document.is_ascii()) {
        return (document, false, notice);
    }
    let mut reader = Utf8Reader::new(document.as_slice());
    let mut text = Vec::with_capacity(document.len());
    // Reading from memory does not fail.
    let _ = reader.read_to_end(&mut text);
    let notice = reader.take_notice();
    let changed = reader.transcodes();
    (text, changed, notice)
}

/// How far the declaration is looked for.
const HEAD: usize = 1024;

/// How much text beyond ASCII is judged at once.
const EVIDENCE: usize = 64 * 1024;

/// A reader of the document as UTF-8.
pub struct Utf8Reader<R> {
    inner: R,
    mode: Mode,
    /// Bytes ready to be read, and how many of them were.
    ready: Vec<u8>,
    read: usize,
    /// Input from its first byte beyond ASCII on, to be judged when it is asked for: what is
    /// noticed then must not depend on how much the reader below gave at once.
    held: Vec<u8>,
    notice: Option<Diagnostic>,
    /// The character set in the document's own words: `Encoding` calls Latin-1 Windows-1252.
    declared: String,
}

enum Mode {
    /// Nothing was read yet.
    Unknown,
    /// The bytes are taken as they are.
    Verbatim,
    /// ASCII so far; the first other byte will show.
    Declared(&'static Encoding),
    Transcode(Box<Decoder>),
    Ended,
}

impl<R: BufRead> Utf8Reader<R> {
    pub fn new(inner: R) -> Self {
        Self {
            inner,
            mode: Mode::Unknown,
            ready: Vec::new(),
            read: 0,
            held: Vec::new(),
            notice: None,
            declared: String::new(),
        }
    }

    /// What was noticed about the character set, once.
    pub fn take_notice(&mut self) -> Option<Diagnostic> {
        self.notice.take()
    }

    /// Whether the bytes read are not those of the document.
    pub fn transcodes(&self) -> bool {
        matches!(self.mode, Mode::Transcode(_) | Mode::Ended)
    }

    /// The encoding, when its markup cannot be read as ASCII. Looks at the head of the document.
    pub fn unreadable_as_ascii(&mut self) -> io::Result<Option<&'static str>> {
        if let Mode::Unknown = self.mode {
            self.begin()?;
        }
        Ok(match &self.mode {
            Mode::Transcode(decoder) if !decoder.encoding().is_ascii_compatible() => {
                Some(decoder.encoding().name())
            }
            _ => None,
        })
    }

    fn begin(&mut self) -> io::Result<()> {
        self.gather(HEAD)?;
        let (encoding, notice) = declared(&self.ready);
        self.notice = notice;
        self.declared = String::from_utf8_lossy(label(&self.ready).unwrap_or_default()).into_owned();
        self.mode = if encoding == UTF_8 {
            Mode::Verbatim
        } else if encoding.is_ascii_compatible() {
            Mode::Declared(encoding)
        } else {
            Mode::Transcode(Box::new(encoding.new_decoder()))
        };
        // What was gathered to be looked at has not been transcoded yet.
        match self.mode {
            Mode::Verbatim => Ok(()),
            _ => {
                let head = std::mem::take(&mut self.ready);
                self.take(head, false)
            }
        }
    }

    /// Fills `ready` with input, as it is, up to this length or the end.
    fn gather(&mut self, length: usize) -> io::Result<bool> {
        while self.ready.len() < length {
            let chunk = fill(&mut self.inner)?;
            if chunk.is_empty() {
                return Ok(false);
            }
            let taken = chunk.len().min(length - self.ready.len());
            self.ready.extend_from_slice(chunk.get(..taken).unwrap_or_default());
            self.inner.consume(taken);
        }
        Ok(true)
    }

    /// Makes input ready, in the current mode. `ready` must be empty.
    fn take(&mut self, mut input: Vec<u8>, last: bool) -> io::Result<()> {
        self.read = 0;
        if let Mode::Declared(encoding) = self.mode {
            let ascii = input.iter().position(|byte| !byte.is_ascii()).unwrap_or(input.len());
            if ascii > 0 || input.is_empty() {
                self.held = input.split_off(ascii);
                self.ready = input;
                return Ok(());
            }
            self.ready = input;
            let more = self.gather(EVIDENCE)?;
            let input = std::mem::take(&mut self.ready);
            if is_utf8(input.get(..EVIDENCE).unwrap_or(&input), more) {
                self.mode = Mode::Verbatim;
                self.notice = Some(Diagnostic::new(
                    Code::CharsetMismatch,
                    format!("the document declares `{}` and is written in UTF-8", self.declared),
                ));
                self.ready = input;
                return Ok(());
            }
            self.mode = Mode::Transcode(Box::new(encoding.new_decoder_without_bom_handling()));
            return self.take(input, last);
        }
        if let Mode::Transcode(decoder) = &mut self.mode {
            let length = decoder.max_utf8_buffer_length(input.len()).unwrap_or(input.len().saturating_mul(4));
            self.ready.clear();
            self.ready.resize(length, 0);
            let (_, _, written, _) = decoder.decode_to_utf8(&input, &mut self.ready, last);
            self.ready.truncate(written);
        }
        Ok(())
    }
}

impl<R: BufRead> BufRead for Utf8Reader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if let Mode::Unknown = self.mode {
            self.begin()?;
        }
        while self.read >= self.ready.len() {
            match self.mode {
                Mode::Verbatim => return fill(&mut self.inner),
                Mode::Ended => return Ok(&[]),
                Mode::Unknown | Mode::Declared(_) | Mode::Transcode(_) => {}
            }
            self.ready.clear();
            self.read = 0;
            let mut input = std::mem::take(&mut self.held);
            let mut last = false;
            if input.is_empty() {
                input.extend_from_slice(fill(&mut self.inner)?);
                self.inner.consume(input.len());
                last = input.is_empty();
            }
            self.take(input, last)?;
            if last && !matches!(self.mode, Mode::Verbatim) {
                self.mode = Mode::Ended;
            }
        }
        Ok(self.ready.get(self.read..).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        if self.read < self.ready.len() {
            self.read += amount;
        } else {
            self.inner.consume(amount);
        }
    }
}

impl<R: BufRead> Read for Utf8Reader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut available = self.fill_buf()?;
        let amount = available.read(out)?;
        self.consume(amount);
        Ok(amount)
    }
}

fn fill<R: BufRead>(reader: &mut R) -> io::Result<&[u8]> {
    // Two calls, because a slice returned from within a loop keeps the reader borrowed.
    loop {
        match reader.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    reader.fill_buf()
}

/// Whether these bytes are UTF-8; the last character may be cut off if more follows.
fn is_utf8(bytes: &[u8], more: bool) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && more,
    }
}

/// The character set by byte order mark and declaration, and what is odd about them.
fn declared(head: &[u8]) -> (&'static Encoding, Option<Diagnostic>) {
    if let Some((encoding, _)) = Encoding::for_bom(head) {
        return (encoding, None);
    }
    match head {
        [b'<', 0, ..] => return (UTF_16LE, None),
        [0, b'<', ..] => return (UTF_16BE, None),
        _ => {}
    }
    let Some(label) = label(head) else {
        return (UTF_8, None);
    };
    let mismatch = |message: String| Some(Diagnostic::new(Code::CharsetMismatch, message));
    let name = String::from_utf8_lossy(label);
    match Encoding::for_label(label) {
        // The declaration was read as ASCII, so it is not in UTF-16.
        Some(encoding) if encoding == UTF_16LE || encoding == UTF_16BE => {
            (UTF_8, mismatch(format!("the document declares `{name}` and is not written in it")))
        }
        Some(encoding) => (encoding, None),
        None => (
            UTF_8,
            mismatch(format!(
                "the document declares `{name}`, which is no known character set; it was read as UTF-8"
            )),
        ),
    }
}

/// The value of `encoding` in the XML declaration.
fn label(head: &[u8]) -> Option<&[u8]> {
    let start = memchr::memmem::find(head, b"<?xml")?;
    let declaration = head.get(start..)?;
    // Only blanks and a misplaced byte order mark are tolerated before it.
    if head.get(..start)?.iter().any(|byte| byte.is_ascii() && !byte.is_ascii_whitespace()) {
        return None;
    }
    let end = memchr::memmem::find(declaration, b"?>")?;
    let declaration = declaration.get(..end)?;
    let after = memchr::memmem::find(declaration, b"encoding")? + b"encoding".len();
    let rest = declaration.get(after..)?.trim_ascii_start();
    let rest = rest.strip_prefix(b"=")?.trim_ascii_start();
    let (quote, rest) = rest.split_first()?;
    let length = memchr::memchr(*quote, rest)?;
    rest.get(..length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn read(bytes: &[u8]) -> (String, Option<Code>) {
        // Small reads, so that every boundary is crossed.
        let mut reader = Utf8Reader::new(BufReader::with_capacity(3, bytes));
        let mut text = Vec::new();
        reader.read_to_end(&mut text).unwrap();
        let notice = reader.take_notice().map(|notice| notice.code);
        (String::from_utf8(text).unwrap(), notice)
    }

    #[test]
    fn a_byte_order_mark_beats_the_declaration() {
        let text = "<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>";
        let mut bytes = vec![0xFF, 0xFE];
        bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        assert_eq!(read(&bytes), (text.to_owned(), None));
    }

    #[test]
    fn utf16_without_a_mark_is_seen() {
        let text = "<a>é𝄞</a>";
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(read(&bytes), (text.to_owned(), None));
    }

    #[test]
    fn a_declared_character_set_is_used() {
        let (text, notice) = read(b"<?xml version=\"1.0\" encoding=\"ISO-8859-2\"?><a>\xB3</a>");
        assert!(text.ends_with("<a>ł</a>"));
        assert_eq!(notice, None);
    }

    #[test]
    fn utf8_declared_as_latin1_is_read_as_utf8() {
        let text = "<?xml version=\"1.0\" encoding=\"latin1\"?><a>łódź</a>";
        assert_eq!(read(text.as_bytes()), (text.to_owned(), Some(Code::CharsetMismatch)));
    }

    #[test]
    fn unknown_character_sets_are_read_as_utf8() {
        let (_, notice) = read(b"<?xml version='1.0' encoding='marc-8'?><a/>");
        assert_eq!(notice, Some(Code::CharsetMismatch));
    }
}
