//! The header of a record: who it is, when it changed, whether it is gone.

use super::walk::{self, Start, Step, Walk};

/// A record is in some sets, not in thousands.
const SETS_LIMIT: usize = 1000;

/// What a header says. A record is identified for good when it is decoded; until then this is
/// enough to follow a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Header {
    pub identifier: Option<String>,
    /// As it is written, sense or nonsense.
    pub datestamp: Option<String>,
    pub sets: Vec<String>,
    pub deleted: bool,
}

impl Header {
    /// Reads the header of a record: the first child of that name which identifies it.
    pub(super) fn of_record(record: &[u8]) -> Self {
        let mut walk = Walk::new(record, 0);
        // The record's own start tag.
        walk.next();
        loop {
            match walk.next() {
                Step::Start(start) if start.local() == "header" => match Self::read(&mut walk, &start) {
                    Some(header) if header.identifier.is_some() => return header,
                    Some(_) => {}
                    None => return Self::default(),
                },
                Step::Start(start) => {
                    if walk.inside(&start).is_none() {
                        return Self::default();
                    }
                }
                Step::End(_) | Step::Declaration(_) => {}
                Step::Cut(_) | Step::Ended => return Self::default(),
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
            if !matches!(name, "identifier" | "datestamp" | "setSpec") {
                continue;
            }
            let text = walk::text(walk.inside(&child)?);
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
