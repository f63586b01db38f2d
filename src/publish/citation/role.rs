//! What someone did: a closed list, with the words of each format in `roles.tsv`.

use crate::publish::table::rows;
use std::sync::LazyLock;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    Author,
    Editor,
    Compiler,
    Composer,
    Director,
    Performer,
    Translator,
    Illustrator,
    Other,
}

impl Role {
    pub const ALL: [(&'static str, Self); 9] = [
        ("author", Self::Author),
        ("editor", Self::Editor),
        ("compiler", Self::Compiler),
        ("composer", Self::Composer),
        ("director", Self::Director),
        ("performer", Self::Performer),
        ("translator", Self::Translator),
        ("illustrator", Self::Illustrator),
        ("other", Self::Other),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, role)| *role == self).map_or("other", |(name, _)| name)
    }

    /// The role a relator code stands for.
    pub fn of_relator(code: &str) -> Self {
        let row = table()
            .iter()
            .find(|row| row.get(4).is_some_and(|codes| codes.split(' ').any(|one| one == code)));
        let name = row.and_then(|row| row.first()).map_or("other", String::as_str);
        Self::ALL.iter().find(|(known, _)| *known == name).map_or(Self::Other, |(_, role)| *role)
    }

    /// The field of BibTeX that names such people, if one does.
    pub fn bibtex(self) -> Option<&'static str> {
        self.word(1)
    }

    pub fn ris(self) -> Option<&'static str> {
        self.word(2)
    }

    pub fn csl(self) -> Option<&'static str> {
        self.word(3)
    }

    fn word(self, column: usize) -> Option<&'static str> {
        let row = table().iter().find(|row| row.first().is_some_and(|name| name == self.name()))?;
        row.get(column).map(String::as_str).filter(|word| *word != "-")
    }
}

fn table() -> &'static [Vec<String>] {
    static TABLE: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| rows(include_str!("roles.tsv")));
    &TABLE
}
