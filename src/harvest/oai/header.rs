//! The header of a record: who it is, when it changed, whether it is gone.
//!
//! A record is archived under the identifier that is read here, before anybody decodes it. So
//! this reads as the decoder does: the same repairs, the same references, the last identifier
//! of all headers. Nearly always there is one header in plain text, and that is fast.

use super::walk::{self, Start, Step, Walk};
use crate::diagnostic::RecordLog;
use crate::markup::repair;
use memchr::memmem;

/// A record is in some sets, not in thousands.
const SETS_LIMIT: usize = 1000;

/// What a header says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Header {
    pub identifier: Option<String>,
    /// As it is written, sense or nonsense.
    pub datestamp: Option<String>,
    pub sets: Vec<String>,
    pub deleted: bool,
}

impl Header {
    /// Reads the header of a record.
    pub(super) fn of_record(record: &[u8]) -> Self {
        match Self::plain(record) {
            Some(header) => header,
            None => Self::all(repair(record, &mut RecordLog::default()).as_bytes()),
        }
    }

    /// The header of a record that begins with it, has no other, and nothing to repair in it.
    fn plain(record: &[u8]) -> Option<Self> {
        let mut walk = Walk::new(record, 0);
        // The record's own start tag.
        walk.next();
        let Step::Start(start) = walk.next() else { return None };
        if start.local() != "header" {
            return None;
        }
        let header = Self::read(&mut walk, &start)?;
        let (read, rest) = record.split_at_checked(walk.position)?;
        let odd = |byte: &u8| (*byte < b' ' && !matches!(byte, b'\n' | b'\t' | b'\r')) || *byte == 0xEF;
        let sound = !read.iter().any(odd) && std::str::from_utf8(read).is_ok();
        (sound && !header.has_carriage_return() && memmem::find(rest, b"header").is_none()).then_some(header)
    }

    /// Line ends are repaired too, which shows only within a value.
    fn has_carriage_return(&self) -> bool {
        self.identifier.iter().chain(&self.datestamp).chain(&self.sets).any(|value| value.contains('\r'))
    }

    /// What all headers of a record say together.
    fn all(record: &[u8]) -> Self {
        let mut all = Self::default();
        let mut walk = Walk::new(record, 0);
        walk.next();
        loop {
            match walk.next() {
                Step::Start(start) if start.local() == "header" => {
                    let Some(header) = Self::read(&mut walk, &start) else { return all };
                    all.identifier = header.identifier.or(all.identifier);
                    all.datestamp = header.datestamp.or(all.datestamp);
                    all.sets.extend(header.sets);
                    all.deleted |= header.deleted;
                }
                Step::Start(start) => {
                    if walk.inside(&start).is_none() {
                        return all;
                    }
                }
                Step::End(_) | Step::Declaration(_) => {}
                Step::Cut(_) | Step::Ended => return all,
            }
        }
    }

    /// Reads a header whose start tag was just met, to its end tag. `None` if that is missing.
    pub(super) fn read(walk: &mut Walk<'_>, start: &Start<'_>) -> Option<Self> {
        let mut header = Self { deleted: is_deleted(start), ..Self::default() };
        if start.empty {
            return Some(header);
        }
        loop {
            let child = match walk.next() {
                Step::Start(child) => child,
                Step::End(end) if end.name == start.name => return Some(header),
                Step::End(_) | Step::Declaration(_) => continue,
                Step::Cut(_) | Step::Ended => return None,
            };
            let name = child.local();
            let inside = walk.inside(&child)?;
            if !matches!(name, "identifier" | "datestamp" | "setSpec") {
                continue;
            }
            let text = walk::text(inside);
            if text.is_empty() {
                continue;
            }
            match name {
                "identifier" => header.identifier = Some(text),
                "datestamp" => header.datestamp = Some(text),
                _ if header.sets.len() < SETS_LIMIT => header.sets.push(text),
                _ => {}
            }
        }
    }
}

fn is_deleted(start: &Start<'_>) -> bool {
    start.attribute("status").is_some_and(|status| status == "deleted")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_found_wherever_it_stands() {
        let header = "<o:header status=\"deleted\"><o:identifier> oai:x:1\n</o:identifier>\
             <o:datestamp>2024-01-01</o:datestamp><o:setSpec>a</o:setSpec><o:setSpec>b:c</o:setSpec></o:header>";
        let expected = Header {
            identifier: Some("oai:x:1".to_owned()),
            datestamp: Some("2024-01-01".to_owned()),
            sets: vec!["a".to_owned(), "b:c".to_owned()],
            deleted: true,
        };
        for record in [
            format!("<o:record>{header}</o:record>"),
            format!(
                "<o:record xmlns:o='u'><!-- <header/> --><metadata><header/></metadata>{header}</o:record>"
            ),
            format!("<o:record><header><x><identifier>no</identifier></x></header>{header}</o:record>"),
        ] {
            assert_eq!(Header::of_record(record.as_bytes()), expected, "{record}");
        }
    }

    #[test]
    fn a_record_without_header_has_an_empty_one() {
        for record in [
            "<record/>",
            "<record><metadata><header><identifier>x</identifier></header></metadata></record>",
            "",
        ] {
            assert_eq!(Header::of_record(record.as_bytes()), Header::default());
        }
    }
}
