//! What a file is that holds no records: `foreign.tsv`, read.

use memchr::memmem;
use std::sync::LazyLock;

/// A file that is none of our formats, as a message names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Foreign {
    /// `a PDF document`
    pub what: &'static str,
    /// One thing to do next.
    pub advice: &'static str,
}

struct Row {
    offset: usize,
    magic: Vec<u8>,
    contains: Option<&'static str>,
    foreign: Foreign,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| lines().filter_map(row).collect());

fn lines() -> impl Iterator<Item = &'static str> {
    include_str!("foreign.tsv").lines().filter(|line| !line.starts_with('#'))
}

fn row(line: &'static str) -> Option<Row> {
    let mut cells = line.split('\t');
    let offset = cells.next()?.parse().ok()?;
    let magic = cells.next()?.as_bytes().chunks(2).map(|digits| {
        let digits = std::str::from_utf8(digits).ok()?;
        u8::from_str_radix(digits, 16).ok()
    });
    let magic = magic.collect::<Option<Vec<u8>>>()?;
    let contains = cells.next().filter(|text| *text != "-");
    Some(Row { offset, magic, contains, foreign: Foreign { what: cells.next()?, advice: cells.next()? } })
}

/// What a file is that begins so, if it is known to be something else than records.
pub(super) fn recognize(head: &[u8]) -> Option<Foreign> {
    let fits = |row: &&Row| {
        head.get(row.offset..).is_some_and(|rest| rest.starts_with(&row.magic))
            && row.contains.is_none_or(|text| memmem::find(head, text.as_bytes()).is_some())
    };
    ROWS.iter().find(fits).map(|row| row.foreign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_list_is_read_and_reached() {
        assert_eq!(ROWS.len(), lines().count());
        for row in ROWS.iter() {
            let mut head = vec![b' '; row.offset];
            head.extend_from_slice(&row.magic);
            head.extend_from_slice(row.contains.unwrap_or_default().as_bytes());
            assert_eq!(recognize(&head), Some(row.foreign));
        }
        assert_eq!(recognize(b"00714cam a2200205 a 4500"), None);
    }
}
