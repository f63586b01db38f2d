//! Cuts a document into records by its tags alone.
//!
//! Inside a record only three things matter: where comments, CDATA sections and processing
//! instructions end, tags with the record's own name, and the first child of such a tag. That
//! is why a record whose insides are not well-formed still ends at its end tag, and why the
//! start of the next record ends one that was never closed. Whether a record is sound, its
//! decoder says.
//!
//! A payload is the record element as it stands in the document (in UTF-8), with the namespace
//! declarations around it written into its start tag. A document type declaration refuses the
//! whole document, and so do elements around records that are beyond the [`limits`].

use super::shape::{self, Child, Kind};
use super::window::{Found, Window};
use crate::decode::{Payload, Piece, Pieces, RECORD_LIMIT};
use crate::diagnostic::{Code, Diagnostic};
use crate::markup::tag::{self, Markup, TagEnd, is_name, local, name_length};
use crate::markup::{Refusal, Scope, Utf8Reader, limits, refuse, too_many_attributes};
use quick_xml::events::BytesStart;
use std::io::{self, BufRead};

/// Cuts an XML document into records, in memory bounded by the largest record.
pub fn split<'a>(reader: Box<dyn BufRead + Send + 'a>) -> Pieces<'a> {
    Box::new(Splitter {
        window: Window::new(Utf8Reader::new(reader)),
        position: 0,
        scope: Scope::default(),
        state: State::Between,
        root: None,
        mismatched: false,
        declared: 0,
        number: 0,
    })
}

struct Splitter<R> {
    window: Window<Utf8Reader<R>>,
    /// Where the next token is looked for.
    position: usize,
    scope: Scope,
    state: State,
    /// The first start tag and where it stood.
    root: Option<(Vec<u8>, usize)>,
    /// An end tag around records did not match, which is said once.
    mismatched: bool,
    /// Bytes of namespace declarations that were written into records.
    declared: usize,
    /// How many pieces were cut.
    number: u64,
}

/// Bytes of declarations that the records of any document may be given, and more for each of its
/// own: records of nothing but a name, in a large scope, would make it a thousand times as long.
const DECLARED_FREE: usize = 64 * 1024 * 1024;
const DECLARED_RATIO: usize = 16;

enum State {
    Between,
    Inside(Inside),
    Done,
}

/// A record whose end is not found yet.
struct Inside {
    start: usize,
    name: Vec<u8>,
    oai: bool,
    /// Elements of the same name that are open in it.
    nested: usize,
    /// The start tag of such an element, while its first child is not known.
    pending: Option<usize>,
    /// The declarations for its start tag.
    inherited: String,
    /// It is too large and was refused already; only its end is still looked for.
    skipping: bool,
}

/// Where a tag ends.
enum Tag {
    /// After its `>`.
    End(usize),
    /// It never ends: another `<` or the end of the document comes first.
    Broken(usize),
    TooLong,
}

impl<R: BufRead> Iterator for Splitter<R> {
    type Item = io::Result<Piece>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let step = match self.state {
                State::Done => return None,
                State::Between => self.between(),
                State::Inside(_) => self.inside(),
            };
            match step {
                Ok(None) => {}
                Ok(Some(piece)) => return Some(Ok(piece)),
                Err(error) => {
                    self.state = State::Done;
                    return Some(Err(error));
                }
            }
        }
    }
}

impl<R: BufRead> Splitter<R> {
    /// Reads one token outside of records.
    fn between(&mut self) -> io::Result<Option<Piece>> {
        let Found::At(at) = self.window.find_byte(b'<', self.position)? else {
            return Ok(self.finish());
        };
        match self.markup(at)? {
            Markup::Comment => self.skip_past(b"-->", at + 4)?,
            Markup::CData => self.skip_past(b"]]>", at + 9)?,
            Markup::Instruction => self.skip_past(b"?>", at + 2)?,
            Markup::Text => self.position = at + 1,
            Markup::Declaration => return self.refuse_declaration(at),
            Markup::EndTag => return self.leave(at),
            Markup::StartTag => return self.enter(at),
        }
        Ok(None)
    }

    fn skip_past(&mut self, end: &[u8], from: usize) -> io::Result<()> {
        self.position = match self.window.find_past(end, from)? {
            Found::At(at) => at,
            Found::Ended | Found::Full(_) => self.window.end(),
        };
        Ok(())
    }

    fn refuse_declaration(&mut self, at: usize) -> io::Result<Option<Piece>> {
        self.window.reach(at, 256)?;
        let shown = self.window.slice(at, at + 256).to_vec();
        let doctype =
            Diagnostic::new(Code::XmlDoctype, "the document has a document type declaration and was refused")
                .hint("remove the `<!DOCTYPE` declaration; nothing here needs one");
        self.state = State::Done;
        Ok(Some(self.reject(shown, at, doctype)))
    }

    /// Reads an end tag around records.
    fn leave(&mut self, at: usize) -> io::Result<Option<Piece>> {
        let end = match self.tag_end(at)? {
            Tag::End(end) => end,
            Tag::Broken(next) => {
                self.position = next;
                return Ok(None);
            }
            Tag::TooLong => {
                return Ok(Some(self.refuse_document(at, at + limits::TAG, tag_too_long())));
            }
        };
        self.position = end;
        let tag = self.window.slice(at, end).to_vec();
        let name = String::from_utf8_lossy(tag.get(2..tag.len() - 1).unwrap_or_default());
        let Some(expected) = self.scope.pop(name.trim_ascii_end()) else {
            return Ok(None);
        };
        if self.mismatched {
            return Ok(None);
        }
        self.mismatched = true;
        let message = if expected.is_empty() {
            format!("`</{name}>` closes nothing")
        } else {
            format!("`</{expected}>` was expected and `</{name}>` found, outside of any record")
        };
        Ok(Some(self.reject(tag, at, Diagnostic::new(Code::XmlSyntax, message))))
    }

    /// Reads a start tag outside of records: a record begins, or something around records.
    fn enter(&mut self, at: usize) -> io::Result<Option<Piece>> {
        self.window.hold(at);
        let end = match self.tag_end(at)? {
            Tag::End(end) => end,
            Tag::Broken(next) => {
                self.window.release();
                self.position = next;
                return Ok(None);
            }
            Tag::TooLong => {
                return Ok(Some(self.refuse_document(at, at + limits::TAG, tag_too_long())));
            }
        };
        let bytes = self.window.slice(at, end).to_vec();
        if self.root.is_none() {
            let shown = bytes.get(..bytes.len().min(limits::NAME));
            self.root = Some((shown.unwrap_or_default().to_vec(), at));
        }
        let (text, empty) = tag::content(&bytes);
        let tag = BytesStart::from_content(&*text, name_length(text.as_bytes()));
        let entered = self.begin(at, end, &tag, empty)?;
        if let Err(refusal) = entered {
            return Ok(Some(self.refuse_document(at, end, refusal)));
        }
        let State::Inside(inside) = &self.state else {
            self.window.release();
            self.position = end;
            return Ok(None);
        };
        if empty {
            let payload = self.payload(inside, end);
            self.state = State::Between;
            self.window.release();
            self.position = end;
            return Ok(Some(self.record(payload, at)));
        }
        self.position = end;
        Ok(None)
    }

    /// Enters a record or a wrapper.
    fn begin(
        &mut self,
        at: usize,
        end: usize,
        tag: &BytesStart<'_>,
        empty: bool,
    ) -> io::Result<Result<(), Refusal>> {
        if tag.name().as_ref().len() > limits::NAME {
            return Ok(refuse(
                Code::XmlLimit,
                format!("the name of an element is longer than {} bytes", limits::NAME),
            ));
        }
        let namespace = match self.scope.namespace(tag) {
            Ok(namespace) => namespace,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let mut kind = shape::kind(tag.local_name().as_ref(), &namespace);
        if kind == Kind::Undecided {
            kind = if empty { Kind::Plain } else { self.kind_by_child(end)? };
        }
        if kind == Kind::Wrapper {
            if empty {
                return Ok(Ok(()));
            }
            if tag.attributes().with_checks(false).count() > limits::ATTRIBUTES {
                return Ok(refuse(Code::XmlLimit, too_many_attributes()));
            }
            return Ok(self.scope.push(tag));
        }
        let inherited = match self.scope.inherited(tag) {
            Ok(inherited) => inherited,
            Err(refusal) => return Ok(Err(refusal)),
        };
        self.declared += inherited.len();
        if self.declared > DECLARED_FREE + DECLARED_RATIO * at {
            let message = format!(
                "the namespaces around its records are more than {DECLARED_RATIO} times as long as the document"
            );
            return Ok(refuse(Code::XmlLimit, message));
        }
        self.state = State::Inside(Inside {
            start: at,
            name: self.window.slice(at + 1, at + 1 + name_length(self.window.slice(at + 1, end))).to_vec(),
            oai: kind == Kind::Oai,
            nested: 0,
            pending: None,
            inherited,
            skipping: false,
        });
        Ok(Ok(()))
    }

    /// Looks ahead to the first child of a `record` that its namespace does not explain.
    fn kind_by_child(&mut self, from: usize) -> io::Result<Kind> {
        let mut from = from;
        loop {
            let Found::At(at) = self.window.find_byte(b'<', from)? else {
                return Ok(Kind::Plain);
            };
            let past = match self.markup(at)? {
                Markup::Comment => self.window.find_past(b"-->", at + 4)?,
                Markup::CData => self.window.find_past(b"]]>", at + 9)?,
                Markup::Instruction => self.window.find_past(b"?>", at + 2)?,
                Markup::Text | Markup::Declaration => Found::At(at + 1),
                Markup::EndTag => return Ok(Kind::Plain),
                Markup::StartTag => {
                    let name = self.name_at(at + 1)?;
                    return Ok(match Child::named(local(&name)) {
                        Some(Child::Marc) => Kind::Plain,
                        Some(Child::Oai) => Kind::Oai,
                        None => Kind::Wrapper,
                    });
                }
            };
            match past {
                Found::At(past) => from = past,
                Found::Ended | Found::Full(_) => return Ok(Kind::Plain),
            }
        }
    }

    /// Reads one token of a record.
    fn inside(&mut self) -> io::Result<Option<Piece>> {
        let at = match self.window.find_byte(b'<', self.position)? {
            Found::At(at) => at,
            Found::Ended => return Ok(self.finish()),
            Found::Full(at) => return Ok(self.oversize(at)),
        };
        let past = match self.markup(at)? {
            Markup::Comment => self.window.find_past(b"-->", at + 4)?,
            Markup::CData => self.window.find_past(b"]]>", at + 9)?,
            Markup::Instruction => self.window.find_past(b"?>", at + 2)?,
            Markup::Declaration | Markup::Text => Found::At(at + 1),
            Markup::EndTag => return self.end_tag_inside(at),
            Markup::StartTag => return self.start_tag_inside(at),
        };
        match past {
            Found::At(past) => self.position = past,
            Found::Ended => return Ok(self.finish()),
            Found::Full(at) => return Ok(self.oversize(at)),
        }
        Ok(None)
    }

    fn end_tag_inside(&mut self, at: usize) -> io::Result<Option<Piece>> {
        self.position = at + 2;
        let State::Inside(inside) = &mut self.state else {
            return Ok(None);
        };
        self.window.reach(at, inside.name.len() + 3)?;
        if inside.pending.take().is_some() && inside.skipping {
            self.window.release();
        }
        if !is_name(self.window.from(at + 2), &inside.name) {
            return Ok(None);
        }
        let end = match self.window.find_byte(b'>', at + 2)? {
            Found::At(end) => end + 1,
            Found::Ended => return Ok(self.finish()),
            Found::Full(at) => return Ok(self.oversize(at)),
        };
        self.position = end;
        if inside.nested > 0 {
            inside.nested -= 1;
            return Ok(None);
        }
        let State::Inside(inside) = std::mem::replace(&mut self.state, State::Between) else {
            return Ok(None);
        };
        let piece = if inside.skipping {
            None
        } else if end - inside.start > RECORD_LIMIT {
            Some(self.reject_record(&inside, end, oversize()))
        } else {
            let payload = self.payload(&inside, end);
            Some(self.record(payload, inside.start))
        };
        self.window.release();
        Ok(piece)
    }

    fn start_tag_inside(&mut self, at: usize) -> io::Result<Option<Piece>> {
        self.position = at + 1;
        let State::Inside(inside) = &mut self.state else {
            return Ok(None);
        };
        self.window.reach(at, inside.name.len() + 2)?;
        let same = is_name(self.window.from(at + 1), &inside.name);
        if let Some(pending) = inside.pending.take() {
            if inside.skipping {
                self.window.release();
            }
            let skipping = inside.skipping;
            let name = self.name_at(at + 1)?;
            if local(&name) == "header" {
                // It is the next record, and this one was never closed.
                if skipping {
                    self.window.hold(pending);
                }
                return Ok(self.unclosed(pending));
            }
        }
        if !same {
            return Ok(None);
        }
        let State::Inside(inside) = &mut self.state else {
            return Ok(None);
        };
        if !inside.oai {
            return Ok(self.unclosed(at));
        }
        if inside.skipping {
            self.window.hold(at);
        }
        match self.tag_end(at)? {
            Tag::End(end) => {
                let empty = self.window.at(end - 2) == Some(b'/');
                if let State::Inside(inside) = &mut self.state
                    && !empty
                {
                    inside.nested += 1;
                    inside.pending = Some(at);
                } else {
                    self.release_if_skipping();
                }
                self.position = end;
            }
            Tag::Broken(next) => {
                self.release_if_skipping();
                self.position = next;
            }
            Tag::TooLong => self.release_if_skipping(),
        }
        Ok(None)
    }

    fn release_if_skipping(&mut self) {
        if let State::Inside(inside) = &self.state
            && inside.skipping
        {
            self.window.release();
        }
    }

    /// Ends a record that the start of the next one shows to be unclosed.
    fn unclosed(&mut self, next: usize) -> Option<Piece> {
        let State::Inside(inside) = std::mem::replace(&mut self.state, State::Between) else {
            return None;
        };
        self.position = next;
        let piece = (!inside.skipping).then(|| {
            let name = String::from_utf8_lossy(&inside.name);
            let message = format!("`</{name}>` is missing before the next `<{name}>`");
            let diagnostic = Diagnostic::new(Code::XmlSyntax, message);
            self.reject_record(&inside, next, diagnostic)
        });
        self.window.hold(next);
        piece
    }

    /// Refuses a record that is too large, and goes on looking for its end.
    fn oversize(&mut self, at: usize) -> Option<Piece> {
        let State::Inside(mut inside) = std::mem::replace(&mut self.state, State::Between) else {
            return None;
        };
        self.position = at;
        let piece = (!inside.skipping).then(|| self.reject_record(&inside, at, oversize()));
        inside.skipping = true;
        inside.pending = None;
        self.window.release();
        self.state = State::Inside(inside);
        piece
    }

    /// The document is over.
    fn finish(&mut self) -> Option<Piece> {
        let end = self.window.end();
        match std::mem::replace(&mut self.state, State::Done) {
            State::Inside(inside) if !inside.skipping => {
                let name = String::from_utf8_lossy(&inside.name);
                let diagnostic =
                    Diagnostic::new(Code::TruncatedRecord, format!("the document ends before `</{name}>`"));
                Some(self.reject_record(&inside, end, diagnostic))
            }
            State::Inside(_) | State::Done => None,
            State::Between => self.finish_between(end),
        }
    }

    fn finish_between(&mut self, end: usize) -> Option<Piece> {
        let Some((root, at)) = self.root.take() else {
            let diagnostic = if self.window.is_blank() {
                Diagnostic::new(Code::EmptyInput, "the document is empty")
            } else {
                Diagnostic::new(Code::UnknownFormat, "the document holds no XML element")
            };
            return Some(self.reject(Vec::new(), 0, diagnostic));
        };
        let (text, _) = tag::content(&root);
        let name = text.get(..name_length(text.as_bytes())).unwrap_or_default().to_owned();
        if self.number == 0 && !shape::may_be_empty(local(&name)) {
            let diagnostic = Diagnostic::new(
                Code::UnknownFormat,
                format!("the document is a `{name}` and holds no record of a known format"),
            )
            .hint("MARCXML, marcxchange, oai_dc, MODS and OAI-PMH responses are read");
            return Some(self.reject(root, at, diagnostic));
        }
        let open = self.scope.innermost()?;
        let diagnostic = Diagnostic::new(
            Code::TruncatedRecord,
            format!("the document ends before `</{open}>`; records may be missing"),
        );
        Some(self.reject(Vec::new(), end, diagnostic))
    }

    /// What stands at a `<`.
    fn markup(&mut self, at: usize) -> io::Result<Markup> {
        self.window.reach(at, 1 + Markup::NEEDS)?;
        Ok(Markup::of(self.window.from(at + 1)))
    }

    /// Finds the end of a tag.
    fn tag_end(&mut self, at: usize) -> io::Result<Tag> {
        let mut from = at + 1;
        let mut quote = None;
        loop {
            match tag::end(self.window.from(from), &mut quote) {
                Some(TagEnd::After(end)) => return Ok(Tag::End(from + end)),
                Some(TagEnd::Broken(next)) => return Ok(Tag::Broken(from + next)),
                None => {}
            }
            from = self.window.end().max(from);
            if from - at > limits::TAG {
                return Ok(Tag::TooLong);
            }
            self.window.reach(at, from - at + 1)?;
            if self.window.end() == from {
                return Ok(Tag::Broken(from));
            }
        }
    }

    /// The name of a tag; cut at the limit of names.
    fn name_at(&mut self, at: usize) -> io::Result<String> {
        let mut wanted = 64;
        loop {
            self.window.reach(at, wanted)?;
            let bytes = self.window.slice(at, at + wanted);
            let length = name_length(bytes);
            if length < bytes.len() || bytes.len() < wanted || wanted >= limits::NAME {
                let name = bytes.get(..length).unwrap_or_default();
                return Ok(String::from_utf8_lossy(name).into_owned());
            }
            wanted *= 2;
        }
    }

    /// The record element, standing alone.
    fn payload(&self, inside: &Inside, end: usize) -> Vec<u8> {
        let after_name = inside.start + 1 + inside.name.len();
        let mut bytes = Vec::with_capacity(end - inside.start + inside.inherited.len());
        bytes.extend_from_slice(self.window.slice(inside.start, after_name));
        bytes.extend_from_slice(inside.inherited.as_bytes());
        bytes.extend_from_slice(self.window.slice(after_name, end));
        bytes
    }

    fn record(&mut self, bytes: Vec<u8>, offset: usize) -> Piece {
        self.number += 1;
        let reader = self.window.reader();
        let mut diagnostics = Vec::from_iter(reader.take_notice());
        if reader.transcodes() {
            let lost = memchr::memmem::find_iter(&bytes, "\u{FFFD}").count();
            if lost > 0 {
                diagnostics.push(Diagnostic::new(
                    Code::UndecodableBytes,
                    format!("{lost} characters could not be read in the document's character set"),
                ));
            }
        }
        let payload = Payload { bytes, number: self.number, offset: offset as u64 };
        Piece::Record(payload, diagnostics)
    }

    /// Refuses a record for this reason, or for its size if that is beyond the limit.
    fn reject_record(&mut self, inside: &Inside, until: usize, reason: Diagnostic) -> Piece {
        let limit = inside.start + RECORD_LIMIT;
        let reason = if until > limit { oversize() } else { reason };
        let bytes = self.payload(inside, until.min(limit));
        self.reject(bytes, inside.start, reason)
    }

    fn reject(&mut self, bytes: Vec<u8>, offset: usize, diagnostic: Diagnostic) -> Piece {
        self.number += 1;
        let payload = Payload { bytes, number: self.number, offset: offset as u64 };
        Piece::Reject(payload, diagnostic)
    }

    /// Something around records is beyond a limit: nothing after it can be trusted.
    fn refuse_document(&mut self, at: usize, end: usize, refusal: Refusal) -> Piece {
        self.state = State::Done;
        let shown = self.window.slice(at, end.min(at + limits::NAME)).to_vec();
        self.reject(shown, at, *refusal)
    }
}

fn oversize() -> Diagnostic {
    Diagnostic::new(Code::OversizeRecord, format!("the record is larger than {RECORD_LIMIT} bytes"))
}

fn tag_too_long() -> Refusal {
    Box::new(Diagnostic::new(Code::XmlLimit, format!("a tag is longer than {} bytes", limits::TAG)))
}
