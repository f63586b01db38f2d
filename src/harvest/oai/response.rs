//! One answer of a repository, taken apart.
//!
//! Records are cut out, not read: a payload is the `record` element as it stands in the answer
//! (in UTF-8), with the namespace declarations around it written into its start tag, byte for
//! byte what the import of the same answer from a file would keep. What is around the records
//! is read with tolerance: by local names, in any namespace, through tags that do not match.
//!
//! An answer that ends too early still gives its whole records, and says that it is broken.
//! Half a record is never given.

use super::cut::{self, Cut};
use super::header::Header;
use super::request::Verb;
use super::stamp::Granularity;
use super::walk::{self, Start, Step, Walk};
use crate::diagnostic::{Code, Diagnostic};
use crate::markup::{Scope, in_utf8, limits, tag, too_many_attributes};
use crate::record::RECORD_LIMIT;
use memchr::memmem;
use quick_xml::events::BytesStart;

/// The largest answer that is read.
pub const PAGE_LIMIT: usize = 64 * 1024 * 1024;
/// The longest resumption token that is sent back.
pub const TOKEN_LIMIT: usize = 64 * 1024;
/// The longest text that is kept of anything else around records.
const TEXT_LIMIT: usize = 4 * 1024;
/// How many sets or formats of one answer are kept.
pub const SETS_LIMIT: usize = 100_000;
const FORMATS_LIMIT: usize = 1_000;
/// How many records, headers and rejects of one answer are kept; more is no page but a flood.
const RECORDS_LIMIT: u64 = 250_000;
const HEADERS_LIMIT: usize = 500_000;
const REJECTS_LIMIT: usize = 10_000;
/// How many errors and repeated elements of one answer are kept.
const REPEATED_LIMIT: usize = 16;

/// What an answer says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    pub response_date: Option<String>,
    /// The arguments that the repository understood.
    pub arguments: Vec<(String, String)>,
    /// What kind of answer it is; errors have none.
    pub verb: Option<Verb>,
    pub errors: Vec<OaiError>,
    pub identify: Option<Identify>,
    pub formats: Vec<MetadataFormat>,
    pub sets: Vec<Set>,
    /// Of `ListIdentifiers`.
    pub headers: Vec<Header>,
    pub records: Vec<Record>,
    pub rejects: Vec<Reject>,
    pub token: Option<ResumptionToken>,
    /// The answer ends before its end: why, and with what.
    pub broken: Option<Reject>,
    /// What is odd about it and did no harm.
    pub notices: Vec<Diagnostic>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OaiError {
    pub code: String,
    pub message: String,
}

/// What a repository says of itself. Words are kept as they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identify {
    pub repository_name: Option<String>,
    pub base_url: Option<String>,
    pub protocol_version: Option<String>,
    pub admin_emails: Vec<String>,
    pub earliest_datestamp: Option<String>,
    /// `no`, `transient` or `persistent`.
    pub deleted_record: Option<String>,
    pub granularity: Option<String>,
    pub compression: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MetadataFormat {
    pub prefix: String,
    pub schema: String,
    pub namespace: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Set {
    pub spec: String,
    pub name: String,
}

/// A record as it stands in the answer. Its header has an identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub header: Header,
    /// The `record` element, standing alone.
    pub payload: Vec<u8>,
    /// Its number among the records and rejects of the answer, from 1.
    pub number: u64,
    /// Where it begins in the answer, once that is UTF-8.
    pub offset: u64,
    /// What was noticed while it was cut out.
    pub diagnostics: Vec<Diagnostic>,
}

/// What should have been a record and cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    /// As far as it is known.
    pub identifier: Option<String>,
    /// The bytes there are, up to the limit of a record.
    pub payload: Vec<u8>,
    pub number: u64,
    pub offset: u64,
    pub diagnostic: Diagnostic,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResumptionToken {
    /// Empty at the end of a list; cut off beyond [`TOKEN_LIMIT`].
    pub text: String,
    pub too_long: bool,
    /// The next two are for progress only: repositories get them wrong.
    pub complete_list_size: Option<u64>,
    pub cursor: Option<u64>,
    pub expiration_date: Option<String>,
}

/// Why bytes are no answer at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    #[error("the answer is empty")]
    Empty,
    #[error("the answer is a web page")]
    WebPage,
    #[error("the answer is no XML")]
    NotXml,
    #[error("the answer is a `{root}`, not an `OAI-PMH`")]
    OtherXml { root: String },
    #[error("the answer has a document type declaration and was refused")]
    Doctype,
    #[error("the answer is larger than {PAGE_LIMIT} bytes")]
    TooLarge,
    #[error("the answer holds no `{}`", .verb.name())]
    Nothing { verb: Verb },
    /// Something around records is beyond what XML may be here.
    #[error("{}", .0.message)]
    Limit(Box<Diagnostic>),
}

impl Response {
    pub fn read(body: Vec<u8>) -> Result<Self, Unreadable> {
        if body.len() > PAGE_LIMIT {
            return Err(Unreadable::TooLarge);
        }
        let (text, transcoded, notice) = in_utf8(body);
        let mut reader = Reader {
            bytes: &text,
            walk: Walk::new(&text, 0),
            scope: Scope::default(),
            parts: Vec::new(),
            transcoded,
            notice,
            unclosed: Vec::new(),
            first: None,
            number: 0,
            declared: 0,
            out: Self::default(),
        };
        reader.run()?;
        Ok(reader.finish())
    }
}

/// An element that is open around what is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Root,
    Verb(Verb),
    Other,
}

struct Reader<'a> {
    bytes: &'a [u8],
    walk: Walk<'a>,
    scope: Scope,
    /// What the elements of `scope` are.
    parts: Vec<Part>,
    transcoded: bool,
    notice: Option<Diagnostic>,
    /// Elements of which one was never closed. Looking for the end tag of another would take
    /// time that grows with the square of the answer.
    unclosed: Vec<String>,
    /// The name of the first element.
    first: Option<String>,
    number: u64,
    /// Bytes of namespace declarations that were written into records.
    declared: usize,
    out: Response,
}

impl<'a> Reader<'a> {
    fn run(&mut self) -> Result<(), Unreadable> {
        loop {
            match self.walk.next() {
                Step::Start(start) if self.parts.is_empty() => self.before_root(&start)?,
                Step::Start(start) => self.start(&start)?,
                Step::End(end) if !self.parts.is_empty() => {
                    let name = String::from_utf8_lossy(end.name);
                    if self.scope.pop(&name).is_some() && self.out.notices.len() < REPEATED_LIMIT {
                        let message = format!("`</{}>` closes nothing here", shown(&name));
                        self.note(Diagnostic::new(Code::OaiProtocol, message).at(end.at));
                    }
                    self.parts.truncate(self.scope.depth());
                    if self.parts.is_empty() {
                        return Ok(());
                    }
                }
                Step::End(_) => {}
                Step::Declaration(at) => return Err(self.declaration(at)),
                Step::Cut(at) if self.parts.is_empty() => return Err(self.no_root(at)),
                Step::Ended if self.parts.is_empty() => return Err(self.no_root(self.bytes.len())),
                Step::Cut(_) | Step::Ended => {
                    self.cut_off();
                    return Ok(());
                }
            }
        }
    }

    /// Some servers print warnings before their answer, so the root is looked for.
    fn before_root(&mut self, start: &Start<'a>) -> Result<(), Unreadable> {
        let name = start.local();
        if name == "OAI-PMH" {
            if start.empty {
                return Err(Unreadable::Empty);
            }
            if self.first.is_some() {
                let message = "something stands before the answer, which was passed over";
                self.note(Diagnostic::new(Code::OaiProtocol, message));
            }
            return self.enter(start, Part::Root);
        }
        if self.first.is_none() {
            if name.eq_ignore_ascii_case("html") {
                return Err(Unreadable::WebPage);
            }
            self.first = Some(shown(name));
        }
        Ok(())
    }

    fn no_root(&self, end: usize) -> Unreadable {
        match &self.first {
            Some(root) => Unreadable::OtherXml { root: root.clone() },
            None if self.bytes.get(..end).unwrap_or_default().trim_ascii().is_empty() => Unreadable::Empty,
            None => Unreadable::NotXml,
        }
    }

    fn declaration(&self, at: usize) -> Unreadable {
        let head = self.bytes.get(at..).unwrap_or_default();
        let head = String::from_utf8_lossy(head.get(..64).unwrap_or(head)).to_ascii_lowercase();
        let root = head.strip_prefix("<!doctype").unwrap_or_default().trim_ascii_start();
        match root.split(|c: char| !c.is_ascii_alphanumeric()).next() {
            Some("html") => Unreadable::WebPage,
            _ => Unreadable::Doctype,
        }
    }

    /// Enters an element around what is read.
    fn enter(&mut self, start: &Start<'a>, part: Part) -> Result<(), Unreadable> {
        let refused = |message: String| {
            Unreadable::Limit(Box::new(Diagnostic::new(Code::XmlLimit, message).at(start.at)))
        };
        if start.tag.len() > limits::TAG || start.name.len() > limits::NAME {
            return Err(refused(format!("a tag is longer than {} bytes", limits::TAG)));
        }
        if start.empty {
            return Ok(());
        }
        let (content, _) = tag::content(start.tag);
        let opened = BytesStart::from_content(&*content, tag::name_length(content.as_bytes()));
        if opened.attributes().with_checks(false).count() > limits::ATTRIBUTES {
            return Err(refused(too_many_attributes()));
        }
        self.scope.push(&opened).map_err(Unreadable::Limit)?;
        self.parts.push(part);
        Ok(())
    }

    fn start(&mut self, start: &Start<'a>) -> Result<(), Unreadable> {
        let name = start.local();
        let part = self.parts.last().copied().unwrap_or(Part::Other);
        let verb = self.parts.iter().rev().find_map(|part| match part {
            Part::Verb(verb) => Some(*verb),
            Part::Root | Part::Other => None,
        });
        let lists_records = matches!(verb, None | Some(Verb::ListRecords | Verb::GetRecord));
        match name {
            "record" if lists_records => return self.record(start),
            "resumptionToken" if part != Part::Other => {
                if let Some(inside) = self.inside(start) {
                    self.out.token = Some(token(start, inside));
                    return Ok(());
                }
            }
            _ => match part {
                Part::Root => {
                    if let Some(verb) = Verb::named(name) {
                        self.out.verb = Some(verb);
                        if verb == Verb::Identify {
                            self.out.identify.get_or_insert_default();
                        }
                        return self.enter(start, Part::Verb(verb));
                    }
                    if self.envelope(name, start) {
                        return Ok(());
                    }
                }
                Part::Verb(verb) => {
                    if self.out.headers.len() >= HEADERS_LIMIT {
                        return Err(flood(start.at));
                    }
                    if self.listed(verb, name, start) {
                        return Ok(());
                    }
                }
                Part::Other => {}
            },
        }
        self.enter(start, Part::Other)
    }

    /// The inside of an element, unless it is never closed.
    fn inside(&mut self, start: &Start<'a>) -> Option<&'a [u8]> {
        self.whole(start, |walk, start| walk.inside(start))
    }

    /// Reads an element to its end, unless it is never closed.
    fn whole<T>(
        &mut self,
        start: &Start<'a>,
        read: impl FnOnce(&mut Walk<'a>, &Start<'a>) -> Option<T>,
    ) -> Option<T> {
        let name = start.local();
        if self.unclosed.iter().any(|unclosed| unclosed == name) {
            return None;
        }
        let outcome = read(&mut self.walk, start);
        if outcome.is_none() {
            self.unclosed.push(name.to_owned());
            self.walk.position = start.end;
        }
        outcome
    }

    /// An element beside the list itself. The answer is whether it was one.
    fn envelope(&mut self, name: &str, start: &Start<'a>) -> bool {
        if !matches!(name, "responseDate" | "request" | "error") {
            return false;
        }
        let Some(inside) = self.inside(start) else { return false };
        match name {
            "responseDate" => self.out.response_date = Some(short(inside)),
            "request" => {
                let mut arguments = start.attributes();
                arguments.truncate(REPEATED_LIMIT);
                arguments.iter_mut().for_each(|(_, value)| *value = shown(value));
                self.out.arguments = arguments;
            }
            _ if self.out.errors.len() < REPEATED_LIMIT => {
                let code = start.attribute("code").map(|code| shown(&code)).unwrap_or_default();
                self.out.errors.push(OaiError { code, message: short(inside) });
            }
            _ => {}
        }
        true
    }

    /// A child of the element that is named after the verb.
    fn listed(&mut self, verb: Verb, name: &str, start: &Start<'a>) -> bool {
        match (verb, name) {
            (Verb::ListIdentifiers, "header") => {
                let Some(header) = self.whole(start, Header::read) else {
                    return false;
                };
                self.out.headers.push(header);
                true
            }
            (Verb::ListSets, "set") => {
                let Some(inside) = self.inside(start) else { return false };
                if self.out.sets.len() < SETS_LIMIT {
                    let [spec, name] = children(inside, ["setSpec", "setName"]);
                    self.out.sets.push(Set { spec, name });
                }
                true
            }
            (Verb::ListMetadataFormats, "metadataFormat") => {
                let Some(inside) = self.inside(start) else { return false };
                if self.out.formats.len() < FORMATS_LIMIT {
                    let names = ["metadataPrefix", "schema", "metadataNamespace"];
                    let [prefix, schema, namespace] = children(inside, names);
                    self.out.formats.push(MetadataFormat { prefix, schema, namespace });
                }
                true
            }
            (Verb::Identify, _) => self.identify(name, start),
            _ => false,
        }
    }

    fn identify(&mut self, name: &str, start: &Start<'a>) -> bool {
        let known = [
            "repositoryName",
            "baseURL",
            "protocolVersion",
            "adminEmail",
            "earliestDatestamp",
            "deletedRecord",
            "granularity",
            "compression",
        ];
        if !known.contains(&name) {
            return false;
        }
        let Some(inside) = self.inside(start) else { return false };
        let text = short(inside);
        let identify = self.out.identify.get_or_insert_default();
        match name {
            "repositoryName" => identify.repository_name = Some(text),
            "baseURL" => identify.base_url = Some(text),
            "protocolVersion" => identify.protocol_version = Some(text),
            "earliestDatestamp" => identify.earliest_datestamp = Some(text),
            "deletedRecord" => identify.deleted_record = Some(text),
            "granularity" => identify.granularity = Some(text),
            "adminEmail" if identify.admin_emails.len() < REPEATED_LIMIT => identify.admin_emails.push(text),
            "compression" if identify.compression.len() < REPEATED_LIMIT => identify.compression.push(text),
            _ => {}
        }
        true
    }

    fn record(&mut self, start: &Start<'a>) -> Result<(), Unreadable> {
        let (content, _) = tag::content(start.tag);
        let opened = BytesStart::from_content(&*content, tag::name_length(content.as_bytes()));
        let inherited = self.scope.inherited(&opened).map_err(Unreadable::Limit)?;
        self.number += 1;
        self.declared += inherited.len();
        if self.number > RECORDS_LIMIT
            || self.declared > PAGE_LIMIT
            || self.out.rejects.len() >= REJECTS_LIMIT
        {
            return Err(flood(start.at));
        }
        let cut =
            if start.empty { Cut::Whole(start.end) } else { cut::record(self.bytes, start.name, start.end) };
        let (end, reason) = match cut {
            Cut::Whole(end) => (end, None),
            Cut::Unclosed(next) => {
                let name = String::from_utf8_lossy(start.name);
                let message = format!("`</{name}>` is missing before the next `<{name}>`");
                (next, Some(Diagnostic::new(Code::XmlSyntax, message)))
            }
            Cut::Truncated => {
                let name = String::from_utf8_lossy(start.name);
                let message = format!("the document ends before `</{name}>`");
                (self.bytes.len(), Some(Diagnostic::new(Code::TruncatedRecord, message)))
            }
        };
        self.walk.position = end;
        let too_large = end - start.at > RECORD_LIMIT;
        let payload = self.payload(start, &inherited, end.min(start.at + RECORD_LIMIT));
        let header = Header::of_record(self.bytes.get(start.at..end).unwrap_or_default());
        let (number, offset) = (self.number, start.at as u64);
        let reason = if too_large {
            let message = format!("the record is larger than {RECORD_LIMIT} bytes");
            Some(Diagnostic::new(Code::OversizeRecord, message))
        } else if reason.is_none() && header.identifier.is_none() {
            // In the words of the decoder, which would say so too.
            let message = "the OAI-PMH record has no identifier in its header";
            Some(Diagnostic::new(Code::NotARecord, message))
        } else {
            reason
        };
        let Some(diagnostic) = reason else {
            let diagnostics = self.noticed(&payload);
            self.out.records.push(Record { header, payload, number, offset, diagnostics });
            return Ok(());
        };
        let reject = Reject { identifier: header.identifier, payload, number, offset, diagnostic };
        if cut == Cut::Truncated {
            self.out.broken = Some(reject);
        } else {
            self.out.rejects.push(reject);
        }
        Ok(())
    }

    /// The record element, standing alone.
    fn payload(&self, start: &Start<'a>, inherited: &str, end: usize) -> Vec<u8> {
        let after_name = start.at + 1 + start.name.len();
        let mut payload = Vec::with_capacity(end - start.at + inherited.len());
        payload.extend_from_slice(self.bytes.get(start.at..after_name).unwrap_or_default());
        payload.extend_from_slice(inherited.as_bytes());
        payload.extend_from_slice(self.bytes.get(after_name..end).unwrap_or_default());
        payload
    }

    /// What the character set of the answer did to a record.
    fn noticed(&mut self, payload: &[u8]) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::from_iter(self.notice.take());
        if self.transcoded {
            let lost = memmem::find_iter(payload, "\u{FFFD}").count();
            if lost > 0 {
                let message = format!("{lost} characters could not be read in the document's character set");
                diagnostics.push(Diagnostic::new(Code::UndecodableBytes, message));
            }
        }
        diagnostics
    }

    /// The document ended inside an element.
    fn cut_off(&mut self) {
        let open = self.scope.innermost().unwrap_or_default().to_owned();
        let in_list = self.parts.iter().any(|part| matches!(part, Part::Verb(_)));
        let has_verb = self.out.verb.is_some() || !self.out.errors.is_empty();
        let message = format!("the answer ends before `</{}>`", shown(&open));
        let diagnostic = Diagnostic::new(Code::TruncatedRecord, message).at(self.bytes.len());
        // Nothing is missing when the list was closed, or had told how it goes on.
        let complete = has_verb && (!in_list || self.out.token.is_some());
        if complete {
            self.note(Diagnostic { code: Code::OaiProtocol, ..diagnostic });
        } else if self.out.broken.is_none() {
            self.out.broken = Some(Reject {
                identifier: None,
                payload: Vec::new(),
                number: self.number + 1,
                offset: self.bytes.len() as u64,
                diagnostic,
            });
        }
    }

    fn note(&mut self, diagnostic: Diagnostic) {
        self.out.notices.push(diagnostic);
    }

    fn finish(mut self) -> Response {
        self.out.notices.extend(self.notice.take());
        self.out
    }
}

fn flood(at: usize) -> Unreadable {
    let message = "the answer holds more records than any page";
    Unreadable::Limit(Box::new(Diagnostic::new(Code::XmlLimit, message).at(at)))
}

/// The texts of the children with these names; the last of each counts.
fn children<const N: usize>(inside: &[u8], names: [&str; N]) -> [String; N] {
    let mut texts = [const { String::new() }; N];
    let mut walk = Walk::new(inside, 0);
    loop {
        match walk.next() {
            Step::Start(start) => {
                let Some(text) = walk.inside(&start) else { return texts };
                let at = names.iter().position(|name| *name == start.local());
                if let Some(slot) = at.and_then(|at| texts.get_mut(at)) {
                    *slot = short(text);
                }
            }
            Step::End(_) | Step::Declaration(_) => {}
            Step::Cut(_) | Step::Ended => return texts,
        }
    }
}

fn token(start: &Start<'_>, inside: &[u8]) -> ResumptionToken {
    let number = |name| start.attribute(name).and_then(|value| value.parse().ok());
    // Resolving only shortens, so this bounds the text before any work is done on it.
    let too_long = inside.len() > 8 * TOKEN_LIMIT;
    let inside = inside.get(..8 * TOKEN_LIMIT).unwrap_or(inside);
    let mut text = walk::text(inside);
    let too_long = too_long || text.len() > TOKEN_LIMIT;
    if too_long {
        text.truncate(boundary(&text, TOKEN_LIMIT));
    }
    ResumptionToken {
        text,
        too_long,
        complete_list_size: number("completeListSize"),
        cursor: number("cursor"),
        expiration_date: start.attribute("expirationDate").map(|date| shown(&date)),
    }
}

/// A text around records, which may be of any length.
fn short(inside: &[u8]) -> String {
    let text = walk::text(inside.get(..4 * TEXT_LIMIT).unwrap_or(inside));
    shown(&text)
}

fn shown(text: &str) -> String {
    text.get(..boundary(text, TEXT_LIMIT)).unwrap_or_default().to_owned()
}

/// The last place before a limit where a text can be cut.
fn boundary(text: &str, limit: usize) -> usize {
    (0..=limit.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

impl Identify {
    /// What the repository says of its datestamps, if it makes sense.
    pub fn granularity(&self) -> Option<Granularity> {
        self.granularity.as_deref().and_then(Granularity::from_words)
    }

    pub fn deleted_records(&self) -> DeletedRecords {
        match self.deleted_record.as_deref().map(str::to_ascii_lowercase).as_deref() {
            Some("persistent") => DeletedRecords::Persistent,
            Some("transient") => DeletedRecords::Transient,
            Some("no") => DeletedRecords::No,
            _ => DeletedRecords::Unknown,
        }
    }
}

/// How a repository announces that records are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeletedRecords {
    /// Always.
    Persistent,
    /// For a while.
    Transient,
    /// Never: only a list of everything shows what is missing.
    No,
    #[default]
    Unknown,
}

#[cfg(test)]
mod tests;
