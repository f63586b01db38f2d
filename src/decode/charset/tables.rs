//! The code tables, parsed from `tables/*.tsv` when first asked for.
//!
//! The files are data made by `scripts/charset-tables.py`; each begins with a comment on what it
//! holds. A row that does not parse is skipped here and caught by the tests below.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// What one code of a graphic set means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Glyph {
    Unassigned,
    Letter(char),
    /// A combining mark, which precedes its letter.
    Mark(char),
    /// The second half of a mark that spans two letters; the first half became the whole mark.
    Silent,
}

/// The meaning of each code, by its seven low bits: the same set can lie in either half.
pub(super) type GraphicSet = [Glyph; 128];

/// The right half of an eight-bit code page.
pub(super) type CodePage = [Option<char>; 128];

/// The graphic set that an escape sequence with this final byte designates.
pub(super) fn graphic_set(final_byte: u8) -> Option<&'static GraphicSet> {
    GRAPHIC_SETS.get(&final_byte)
}

/// The character of a three-byte East Asian code.
pub(super) fn eacc(code: u32) -> Option<char> {
    EACC.get(&code).copied()
}

pub(super) fn code_page(name: &str) -> Option<&'static CodePage> {
    CODE_PAGES.get(name)
}

const GRAPHIC_SETS_TSV: &str = include_str!("tables/graphic-sets.tsv");
const EACC_TSV: &str = include_str!("tables/eacc.tsv");
const CODE_PAGES_TSV: &str = include_str!("tables/code-pages.tsv");

static GRAPHIC_SETS: LazyLock<FxHashMap<u8, GraphicSet>> = LazyLock::new(|| {
    let mut sets = FxHashMap::default();
    for (final_byte, code, glyph) in rows(GRAPHIC_SETS_TSV).filter_map(graphic_row) {
        let set = sets.entry(final_byte).or_insert([Glyph::Unassigned; 128]);
        if let Some(place) = set.get_mut(code) {
            *place = glyph;
        }
    }
    sets
});

static EACC: LazyLock<FxHashMap<u32, char>> = LazyLock::new(|| rows(EACC_TSV).filter_map(eacc_row).collect());

static CODE_PAGES: LazyLock<FxHashMap<&str, CodePage>> = LazyLock::new(|| {
    let mut pages = FxHashMap::default();
    for (name, code, character) in rows(CODE_PAGES_TSV).filter_map(code_page_row) {
        let page = pages.entry(name).or_insert([None; 128]);
        if let Some(place) = page.get_mut(code) {
            *place = Some(character);
        }
    }
    pages
});

/// The lines of a table that hold data.
pub(super) fn rows(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn graphic_row(row: &str) -> Option<(u8, usize, Glyph)> {
    let mut columns = row.split('\t');
    let final_byte = *columns.next()?.as_bytes().first()?;
    let code = usize::from_str_radix(columns.next()?, 16).ok()?;
    let unicode = columns.next()?;
    let glyph = match columns.next()? {
        "letter" => Glyph::Letter(character(unicode)?),
        "mark" => Glyph::Mark(character(unicode)?),
        "silent" => Glyph::Silent,
        _ => return None,
    };
    Some((final_byte, code, glyph))
}

fn eacc_row(row: &str) -> Option<(u32, char)> {
    let (code, unicode) = row.split_once('\t')?;
    Some((u32::from_str_radix(code, 16).ok()?, character(unicode)?))
}

fn code_page_row(row: &'static str) -> Option<(&'static str, usize, char)> {
    let mut columns = row.split('\t');
    let name = columns.next()?;
    let code = usize::from_str_radix(columns.next()?, 16).ok()?.checked_sub(0x80)?;
    Some((name, code, character(columns.next()?)?))
}

fn character(hexadecimal: &str) -> Option<char> {
    char::from_u32(u32::from_str_radix(hexadecimal, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_every_table_parses() {
        assert!(rows(GRAPHIC_SETS_TSV).all(|row| graphic_row(row).is_some_and(|(_, code, _)| code < 128)));
        assert!(rows(EACC_TSV).all(|row| eacc_row(row).is_some()));
        assert!(rows(CODE_PAGES_TSV).all(|row| code_page_row(row).is_some_and(|(_, code, _)| code < 128)));
    }

    #[test]
    fn no_table_can_produce_a_delimiter() {
        let delimiter = |c: char| ('\u{0}'..='\u{1f}').contains(&c);
        assert!(!EACC.values().copied().any(delimiter));
        assert!(!CODE_PAGES.values().flatten().flatten().copied().any(delimiter));
        assert!(!GRAPHIC_SETS.values().flatten().any(|glyph| match glyph {
            Glyph::Letter(c) | Glyph::Mark(c) => delimiter(*c),
            Glyph::Unassigned | Glyph::Silent => false,
        }));
    }
}
