//! ISO 2709: leader, directory, fields.
//!
//! Lengths have five digits for a record and four for a field. What is longer cannot be written:
//! a field is cut at a character, fields at the end are left out, and both are told. MARCXML has
//! no such limits.

use crate::diagnostic::{Code, Diagnostic};
use crate::record::{Field, Record};

const FIELD_END: u8 = 0x1e;
const RECORD_END: u8 = 0x1d;
const SUBFIELD: u8 = 0x1f;
const LONGEST_FIELD: usize = 9_999;
const LONGEST_RECORD: usize = 99_999;

/// The record's bytes in UTF-8, and what did not fit.
pub fn iso2709(record: &Record) -> (Vec<u8>, Option<Diagnostic>) {
    let mut directory = Vec::with_capacity(record.fields().len() * 12 + 1);
    let mut data = Vec::with_capacity(1024);
    let (mut cut, mut left_out) = (Vec::new(), 0_usize);
    for field in record.fields() {
        let Some(tag) = tag(field.tag()) else {
            left_out += 1;
            continue;
        };
        let mut bytes = field_bytes(field);
        if bytes.len() + 1 > LONGEST_FIELD {
            shorten(&mut bytes);
            cut.push(field.tag().to_owned());
        }
        bytes.push(FIELD_END);
        // 24 for the leader, 12 for this entry, 2 for the two ends.
        if 24 + directory.len() + 12 + data.len() + bytes.len() + 2 > LONGEST_RECORD {
            left_out += 1;
            continue;
        }
        directory.extend(tag);
        directory.extend(format!("{:04}{:05}", bytes.len(), data.len()).into_bytes());
        data.extend(bytes);
    }
    directory.push(FIELD_END);
    data.push(RECORD_END);
    let start = 24 + directory.len();
    let mut out = leader(record.leader(), start + data.len(), start).into_bytes();
    out.extend(directory);
    out.extend(data);
    let problem = (!cut.is_empty() || left_out > 0).then(|| {
        let mut message = String::from("the record is too long for ISO 2709:");
        if !cut.is_empty() {
            message.push_str(&format!(" {} cut at {LONGEST_FIELD} bytes", cut.join(", ")));
        }
        if left_out > 0 {
            message
                .push_str(&format!("{} fields left out: {left_out}", if cut.is_empty() { "" } else { ";" }));
        }
        Diagnostic::new(Code::OversizeRecord, message).hint("MARCXML has no such limit: `--as marcxml`")
    });
    (out, problem)
}

fn tag(tag: &str) -> Option<[u8; 3]> {
    tag.as_bytes().try_into().ok().filter(|bytes: &[u8; 3]| bytes.iter().all(u8::is_ascii_alphanumeric))
}

fn field_bytes(field: Field<'_>) -> Vec<u8> {
    if field.is_control() {
        return clean(field.text());
    }
    let mut bytes: Vec<u8> = Vec::with_capacity(64);
    for indicator in [field.ind1(), field.ind2()] {
        // An indicator is one byte.
        bytes.push(u8::try_from(indicator).ok().filter(|byte| (0x20..0x7f).contains(byte)).unwrap_or(b' '));
    }
    for subfield in field.subfields() {
        bytes.push(SUBFIELD);
        let code = subfield.code.bytes().next().filter(u8::is_ascii_graphic).unwrap_or(b'a');
        bytes.push(code);
        bytes.extend(clean(subfield.value));
    }
    bytes
}

/// A value may hold no delimiter.
fn clean(text: &str) -> Vec<u8> {
    text.bytes().map(|byte| if matches!(byte, 0x1d..=0x1f) { b' ' } else { byte }).collect()
}

/// Cuts at the end of a character.
fn shorten(bytes: &mut Vec<u8>) {
    bytes.truncate(LONGEST_FIELD - 1);
    let end = match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        Err(error) => error.valid_up_to(),
    };
    bytes.truncate(end);
}

/// Lengths and layout are of this file; the rest is the record's own.
fn leader(known: &str, length: usize, start: usize) -> String {
    let mut chars: Vec<char> = known.chars().map(|c| if c.is_ascii_graphic() { c } else { ' ' }).collect();
    chars.resize(24, ' ');
    let text = |from: usize, to: usize| chars.get(from..to).unwrap_or_default().iter().collect::<String>();
    // The layout of the directory is the same everywhere, but UNIMARC leaves the last place blank.
    let last = if chars.get(23) == Some(&' ') { ' ' } else { '0' };
    format!("{length:05}{}22{start:05}{}450{last}", text(5, 10), text(17, 20))
}
