//! What is cited: a closed list, with the words of each format in `kinds.tsv`.

use crate::publish::table::rows;
use std::sync::LazyLock;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    Book,
    Article,
    Chapter,
    Thesis,
    Journal,
    Map,
    Score,
    Film,
    Sound,
    Website,
    Dataset,
    #[default]
    Other,
}

impl Kind {
    pub const ALL: [(&'static str, Self); 12] = [
        ("book", Self::Book),
        ("article", Self::Article),
        ("chapter", Self::Chapter),
        ("thesis", Self::Thesis),
        ("journal", Self::Journal),
        ("map", Self::Map),
        ("score", Self::Score),
        ("film", Self::Film),
        ("sound", Self::Sound),
        ("website", Self::Website),
        ("dataset", Self::Dataset),
        ("other", Self::Other),
    ];

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("other", |(name, _)| name)
    }

    pub fn bibtex(self) -> &'static str {
        self.word(1).unwrap_or("misc")
    }

    pub fn ris(self) -> &'static str {
        self.word(2).unwrap_or("GEN")
    }

    pub fn csl(self) -> &'static str {
        self.word(3).unwrap_or("document")
    }

    fn word(self, column: usize) -> Option<&'static str> {
        static TABLE: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| rows(include_str!("kinds.tsv")));
        let row = TABLE.iter().find(|row| row.first().is_some_and(|name| name == self.name()))?;
        row.get(column).map(String::as_str)
    }
}
