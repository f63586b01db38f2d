//! Reading one record: character set, fields, subfields.

use super::directory::{Entry, by_directory, by_terminators};
use super::{LEADER, SUBFIELD_DELIMITER};
use crate::decode::charset::{self, Charset};
use crate::decode::clean;
use crate::decode::{Options, marc};
use crate::diagnostic::{Code, Diagnostic, RecordLog};
use crate::record::{Model, Record, RecordBuilder};
use std::ops::Range;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Reads one record.
pub(in crate::decode) fn decode(
    bytes: &[u8],
    options: &Options,
    diagnostics: &mut RecordLog,
) -> Option<Record> {
    let Some(leader) = bytes.get(..LEADER) else {
        let message = format!("{} bytes are too few for a leader", bytes.len());
        return diagnostics.refuse(Diagnostic::new(Code::NotARecord, message));
    };
    // A directory without entries that is where it should be is a record without fields.
    let fields = match by_directory(bytes, leader) {
        Some(fields) => fields,
        None => {
            let fields = by_terminators(bytes, diagnostics);
            if fields.is_empty() {
                return diagnostics.refuse(Diagnostic::new(Code::NotARecord, "the record has no fields"));
            }
            fields
        }
    };
    let charset = choose_charset(bytes, leader, &fields, options, diagnostics);
    let mut record = match verbatim(bytes, charset) {
        Some(text) => build_verbatim(text, &fields, diagnostics),
        None => build_converted(bytes, &fields, charset, diagnostics),
    };
    record.leader(&clean_leader(leader, diagnostics));
    let mut record = record.finish();
    marc::finish(&mut record);
    Some(record)
}

/// The character set by evidence, against what the record declares.
fn choose_charset(
    bytes: &[u8],
    leader: &[u8],
    fields: &[Entry],
    options: &Options,
    diagnostics: &mut RecordLog,
) -> Charset {
    if let Some(charset) = options.charset {
        return charset;
    }
    if bytes.is_ascii() && memchr::memchr(0x1B, bytes).is_none() {
        // Plain ASCII reads the same in all of them, save for numeric references in MARC-8.
        let references = leader.get(9) != Some(&b'a') && memchr::memmem::find(bytes, b"&#x").is_some();
        let marc8 = references && declared_charset(bytes, leader, fields) == Charset::Marc8;
        return if marc8 { Charset::Marc8 } else { Charset::Utf8 };
    }
    let declared = declared_charset(bytes, leader, fields);
    // The directory is digits and says nothing about the text.
    let data = fields.iter().map(|field| field.data.start).min().and_then(|start| bytes.get(start..));
    let charset = charset::detect(data.unwrap_or(bytes), declared);
    if charset != declared {
        diagnostics.push(
            Diagnostic::new(
                Code::CharsetMismatch,
                format!("the record declares {} but is written in {}", declared.name(), charset.name()),
            )
            .hint("the content was believed; `--charset` decides for a whole file"),
        );
    }
    charset
}

fn declared_charset(bytes: &[u8], leader: &[u8], fields: &[Entry]) -> Charset {
    let has_tag = |entry: &Entry, tag: &[u8]| bytes.get(entry.tag.clone()) == Some(tag);
    let unimarc = fields.iter().any(|entry| has_tag(entry, b"200"))
        && !fields.iter().any(|entry| has_tag(entry, b"245"));
    if unimarc {
        // 100 $a/26-29 names the graphic character sets.
        let code = fields
            .iter()
            .find(|entry| has_tag(entry, b"100"))
            .and_then(|entry| bytes.get(entry.data.clone()))
            .and_then(|data| data.get(4..))
            .and_then(|data| data.get(26..30));
        if let Some(charset) = code.and_then(Charset::from_unimarc) {
            return charset;
        }
    }
    if leader.get(9) == Some(&b'a') {
        Charset::Utf8
    } else if unimarc {
        Charset::Iso5426
    } else {
        Charset::Marc8
    }
}

/// The record's bytes as they are, when they are clean, normalised UTF-8: the common case,
/// which costs one copy.
fn verbatim(bytes: &[u8], charset: Charset) -> Option<String> {
    if charset != Charset::Utf8 || has_forbidden(bytes) {
        return None;
    }
    let text = std::str::from_utf8(bytes).ok()?;
    (text.is_ascii() || is_settled(text)).then(|| text.to_owned())
}

/// Whether text is in NFC and without control characters beyond ASCII. Only what is not ASCII
/// is looked at, with the character before it, which a mark may belong to.
fn is_settled(text: &str) -> bool {
    let mut place = 0;
    while let Some(rest) = text.as_bytes().get(place..)
        && let Some(start) = rest.iter().position(|byte| !byte.is_ascii())
    {
        let run = rest.get(start..).unwrap_or_default();
        let length = run.iter().position(u8::is_ascii).unwrap_or(run.len());
        let start = place + start;
        let run = text.get(start.saturating_sub(1)..start + length).unwrap_or_default();
        if is_nfc_quick(run.chars()) != IsNormalized::Yes || run.chars().any(is_forbidden_character) {
            return false;
        }
        place = start + length;
    }
    true
}

/// Control characters that no text has. Tab and line breaks are tolerated, the three
/// delimiters are ours.
fn is_forbidden(byte: u8) -> bool {
    (byte < 0x1D) & (byte != b'\t') & (byte != b'\n') & (byte != b'\r')
}

/// All bytes are looked at, without a way out: so the compiler compares sixteen at a time.
fn has_forbidden(bytes: &[u8]) -> bool {
    bytes.iter().fold(false, |found, byte| found | is_forbidden(*byte))
}

/// The same for a character, with the control characters beyond ASCII.
fn is_forbidden_character(c: char) -> bool {
    if c.is_ascii() { is_forbidden(c as u8) } else { clean::is_forbidden(c) }
}

fn build_verbatim(text: String, fields: &[Entry], diagnostics: &mut RecordLog) -> RecordBuilder {
    let mut builder = RecordBuilder::over(Model::Marc21, text);
    builder.reserve(fields.len());
    for field in fields {
        push_field(&mut builder, field.tag.clone(), field.data.clone(), diagnostics);
    }
    builder
}

/// Field by field, because escape sequences do not reach over a field's end.
fn build_converted(
    bytes: &[u8],
    fields: &[Entry],
    charset: Charset,
    diagnostics: &mut RecordLog,
) -> RecordBuilder {
    let mut text = String::with_capacity(bytes.len() + bytes.len() / 4);
    let mut ranges = Vec::with_capacity(fields.len());
    let mut faults = charset::Faults::default();
    let mut first_fault = None;
    let mut forbidden = 0;
    for field in fields {
        let tag_start = text.len();
        text.push_str(&String::from_utf8_lossy(bytes.get(field.tag.clone()).unwrap_or_default()));
        let start = text.len();
        let data = bytes.get(field.data.clone()).unwrap_or_default();
        charset::decode(data, charset, &mut text, &mut faults);
        if let (None, Some(fault)) = (&first_fault, faults.iter().next()) {
            let tag = text.get(tag_start..start).unwrap_or_default().to_owned();
            first_fault = Some((field.data.start + fault.offset, tag, fault.kind.to_string()));
        }
        forbidden += normalize(&mut text, start);
        ranges.push((tag_start..start, start..text.len()));
    }
    if let Some((offset, tag, kind)) = first_fault {
        diagnostics.push(
            Diagnostic::new(
                Code::UndecodableBytes,
                match faults.count() {
                    1 => format!("{kind} in {}", charset.name()),
                    n => format!("{kind} in {}, and {} more", charset.name(), n - 1),
                },
            )
            .at(offset)
            .in_field(tag),
        );
    }
    if forbidden > 0 {
        diagnostics.push(Diagnostic::new(
            Code::ForbiddenCharacter,
            format!("{forbidden} control characters were replaced by U+FFFD"),
        ));
    }
    let mut builder = RecordBuilder::over(Model::Marc21, text);
    builder.reserve(fields.len());
    for (tag, data) in ranges {
        push_field(&mut builder, tag, data, diagnostics);
    }
    builder
}

/// Brings the text from `start` on to NFC and replaces control characters; says how many.
fn normalize(text: &mut String, start: usize) -> usize {
    let tail = text.get(start..).unwrap_or_default();
    if tail.is_ascii() && !has_forbidden(tail.as_bytes()) {
        return 0;
    }
    let forbidden = tail.chars().filter(|c| is_forbidden_character(*c)).count();
    if forbidden == 0 && is_nfc_quick(tail.chars()) == IsNormalized::Yes {
        return 0;
    }
    let clean: String = tail.nfc().map(|c| if is_forbidden_character(c) { '\u{FFFD}' } else { c }).collect();
    text.truncate(start);
    text.push_str(&clean);
    forbidden
}

/// Reads indicators and subfields of the field whose data lies in `data`.
fn push_field(
    builder: &mut RecordBuilder,
    tag: Range<usize>,
    data: Range<usize>,
    diagnostics: &mut RecordLog,
) {
    let bytes = builder.text().as_bytes();
    let content = bytes.get(data.clone()).unwrap_or_default();
    let is_control = bytes.get(tag.clone()).is_some_and(|tag| tag.starts_with(b"00"));
    let first = memchr::memchr(SUBFIELD_DELIMITER, content);
    let (Some(first), false) = (first, is_control) else {
        let name = builder.text().get(tag.clone()).unwrap_or_default();
        // Local tags of letters may name control fields.
        if !is_control && name.bytes().all(|byte| byte.is_ascii_digit()) {
            let message = "the field has no subfields; its text was kept";
            diagnostics.push(Diagnostic::new(Code::BadField, message).in_field(name));
        }
        builder.field_at(tag, [' ', ' '], data);
        return;
    };
    let head = builder.text().get(data.start..data.start + first).unwrap_or_default();
    let mut characters = head.chars();
    let indicators = [characters.next().unwrap_or(' '), characters.next().unwrap_or(' ')];
    let stray = characters.as_str().len();
    if head.len() != 2 {
        let name = builder.text().get(tag.clone()).unwrap_or_default();
        let message = format!("`{head}` stands where two indicators should");
        diagnostics.push(Diagnostic::new(Code::BadField, message).in_field(name));
    }
    builder.field_at(tag, indicators, data.start..data.start);
    if stray > 0 {
        // Text between indicators and the first delimiter has no code; it is kept with none.
        let end = data.start + first;
        builder.subfield_at(end..end, end - stray..end);
    }
    let mut place = data.start + first + 1;
    while place <= data.end {
        let rest = builder.text().get(place..data.end).unwrap_or_default();
        let length = memchr::memchr(SUBFIELD_DELIMITER, rest.as_bytes()).unwrap_or(rest.len());
        if let Some(code) = rest.chars().next().filter(|_| length > 0) {
            let value = place + code.len_utf8();
            builder.subfield_at(place..value, value..place + length);
        }
        place += length + 1;
    }
}

/// The leader as text: 24 printable ASCII characters.
fn clean_leader(leader: &[u8], diagnostics: &mut RecordLog) -> String {
    let clean = leader.iter().all(|byte| (0x20..0x7F).contains(byte));
    if !clean {
        diagnostics.push(Diagnostic::new(
            Code::BadLeader,
            "the leader holds bytes that are not printable ASCII; they were read as blanks",
        ));
    }
    leader.iter().map(|byte| if (0x20..0x7F).contains(byte) { char::from(*byte) } else { ' ' }).collect()
}
