//! Finding the fields: by the directory, or by the terminators where it is wrong.

use super::{FIELD_TERMINATOR, LEADER, RECORD_TERMINATOR, number};
use crate::diagnostic::{Code, Diagnostic, RecordLog};
use std::ops::Range;

/// A field as the directory gives it: ranges of the record's bytes, terminator left out.
pub(super) struct Entry {
    pub tag: Range<usize>,
    pub data: Range<usize>,
}

/// The fields, when every directory entry points at bytes that end with a field terminator.
pub(super) fn by_directory(bytes: &[u8], leader: &[u8]) -> Option<Vec<Entry>> {
    let base = number(leader.get(12..17)?)?;
    let directory_end = base.checked_sub(1)?;
    if bytes.get(directory_end) != Some(&FIELD_TERMINATOR) {
        return None;
    }
    let directory = bytes.get(LEADER..directory_end)?;
    if directory.len() % 12 != 0 {
        return None;
    }
    let mut fields = Vec::with_capacity(directory.len() / 12);
    let mut total = 0;
    for (index, entry) in directory.chunks_exact(12).enumerate() {
        let length = number(entry.get(3..7)?)?;
        let start = base + number(entry.get(7..12)?)?;
        let end = (start + length).checked_sub(1)?;
        // Entries that share their bytes would let a small record grow without bound.
        total += length;
        if total > bytes.len() - base {
            return None;
        }
        // A field begins where another ended and is closed by a terminator.
        if end < start
            || bytes.get(end) != Some(&FIELD_TERMINATOR)
            || bytes.get(start - 1) != Some(&FIELD_TERMINATOR)
        {
            return None;
        }
        let tag = LEADER + index * 12;
        fields.push(Entry { tag: tag..tag + 3, data: start..end });
    }
    Some(fields)
}

/// The fields by their terminators, when the directory cannot be believed: the entries in the
/// order of their offsets give the tags, the terminators give the data.
pub(super) fn by_terminators(bytes: &[u8], diagnostics: &mut RecordLog) -> Vec<Entry> {
    let body = bytes.strip_suffix(&[RECORD_TERMINATOR]).unwrap_or(bytes);
    let Some(directory_end) = body
        .get(LEADER..)
        .and_then(|rest| memchr::memchr(FIELD_TERMINATOR, rest))
        .map(|found| LEADER + found)
    else {
        return Vec::new();
    };
    let directory = body.get(LEADER..directory_end).unwrap_or_default();
    let mut entries: Vec<(usize, Range<usize>)> = directory
        .chunks(12)
        .enumerate()
        .filter(|(_, entry)| entry.len() >= 3)
        .map(|(index, entry)| {
            let tag = LEADER + index * 12;
            let place = entry.get(7..12).and_then(number).unwrap_or(usize::MAX);
            (place, tag..tag + 3)
        })
        .collect();
    if entries.iter().all(|(place, _)| *place != usize::MAX) {
        entries.sort_by_key(|(place, _)| *place);
    }
    let mut fields = Vec::with_capacity(entries.len());
    let mut tags = entries.into_iter().map(|(_, tag)| tag);
    let mut start = directory_end + 1;
    let mut untagged = 0;
    while start < body.len() {
        let rest = body.get(start..).unwrap_or_default();
        let end = start + memchr::memchr(FIELD_TERMINATOR, rest).unwrap_or(rest.len());
        if let Some(tag) = tags.next() {
            fields.push(Entry { tag, data: start..end });
        } else if end > start {
            untagged += 1;
        }
        start = end + 1;
    }
    let mut message =
        "the directory does not fit the fields, which were read by their terminators".to_owned();
    if untagged > 0 {
        message.push_str(&format!("; {untagged} without a directory entry left out"));
    }
    let missing = tags.count();
    if missing > 0 {
        message.push_str(&format!("; {missing} entries have no field"));
    }
    diagnostics.push(Diagnostic::new(Code::BadDirectory, message));
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred entries that all point at one field would make a hundred copies of it.
    #[test]
    fn entries_that_share_their_bytes_are_not_believed() {
        let field = [&b"10\x1Fa"[..], &[b'x'; 500], b"\x1E"].concat();
        let entry = format!("245{:04}00000", field.len());
        let directory = entry.repeat(100);
        let base = LEADER + directory.len() + 1;
        let leader = format!("00000nam a22{base:05} a 4500");
        let record = [leader.as_bytes(), directory.as_bytes(), b"\x1E", &field, b"\x1D"].concat();
        assert!(by_directory(&record, leader.as_bytes()).is_none());
        assert_eq!(by_terminators(&record, &mut RecordLog::default()).len(), 1);
    }
}
