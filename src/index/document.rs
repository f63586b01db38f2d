//! What does the index know of an entry?
//!
//! A [`Document`] is made by whoever reads the catalogue. [`Field`]s are what readers search in;
//! [`Kind`] tells an edition from a person. What is too long is cut here, so that one record
//! cannot use up the memory of the writer.

use serde::{Deserialize, Serialize};

/// One entry of the catalogue, for finding it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// Its name in the catalogue; a document replaces an earlier one of the same name.
    pub iri: String,
    pub kind: Kind,
    /// What a list of hits calls it. Searched as a title.
    pub label: String,
    /// All titles, or all names of an agent or a subject.
    pub titles: Vec<String>,
    pub contributors: Vec<Named>,
    /// What its contributors are called elsewhere: searched as their names are, and not shown.
    pub other_names: Vec<String>,
    pub subjects: Vec<Named>,
    pub identifiers: Vec<String>,
    /// Abstracts, notes, contents: what is searched and not shown.
    pub notes: Vec<String>,
    /// Values of facets, as they are to be shown and filtered by.
    pub content_types: Vec<String>,
    pub languages: Vec<String>,
    pub sources: Vec<String>,
    pub years: Vec<i32>,
    /// When the catalogue first had it, in seconds since 1970.
    pub first_seen: i64,
}

/// An agent or a subject by its label, with its entry if it has one.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Named {
    pub label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iri: Option<String>,
}

impl From<&str> for Named {
    fn from(label: &str) -> Self {
        Self { label: label.to_owned(), iri: None }
    }
}

macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$note:meta])* $variant:ident $word:literal)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$note])* $variant),* }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The word for it in queries, filters and answers.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            pub fn named(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.as_str() == word)
            }
        }
    };
}
pub(super) use words;

words! {
    /// What an entry is.
    Kind {
        Hub "hub"
        Work "work"
        Instance "instance"
        Item "item"
        Agent "agent"
        Subject "subject"
        Place "place"
        /// A record that is not merged, standing for what it describes.
        Record "record"
    }
}

#[expect(clippy::derivable_impls, reason = "the enum is made by a macro, which has no default")]
impl Default for Kind {
    fn default() -> Self {
        Self::Record
    }
}

words! {
    /// What a word is searched in; without one, in all of them.
    Field {
        Title "title"
        Creator "creator"
        Subject "subject"
        Identifier "identifier"
        Note "note"
    }
}

impl Field {
    /// How much a word found here counts.
    pub(super) fn boost(self) -> f32 {
        match self {
            Self::Title => 3.0,
            Self::Creator | Self::Identifier => 2.0,
            Self::Subject => 1.5,
            Self::Note => 1.0,
        }
    }
}

/// Longest name of an entry: the index cannot take longer ones, and no honest IRI is.
pub const LONGEST_IRI: usize = 8 * 1024;
/// Longest value of a facet, label or title, in bytes.
const LONGEST_VALUE: usize = 4 * 1024;
/// Longest value that can be filtered by, in bytes.
const LONGEST_FACET: usize = 512;
/// All notes of a document together, in bytes.
const LONGEST_NOTES: usize = 256 * 1024;
/// Most values of one field.
const MOST_VALUES: usize = 1000;

/// The texts of a field, within the limits.
pub(super) fn texts<'a>(values: impl IntoIterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    values.into_iter().take(MOST_VALUES).map(|value| cut(value, LONGEST_VALUE))
}

/// The notes, up to their limit.
pub(super) fn notes(values: &[String]) -> impl Iterator<Item = &str> {
    let mut left = LONGEST_NOTES;
    values.iter().map_while(move |value| {
        let text = cut(value, left);
        left -= text.len();
        (!text.is_empty()).then_some(text)
    })
}

/// The values of a facet, each once: a document counts once for each.
pub(super) fn facet_values<'a>(values: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut values: Vec<&str> =
        values.into_iter().map(facet_value).filter(|value| !value.is_empty()).collect();
    values.sort_unstable();
    values.dedup();
    values.truncate(MOST_VALUES);
    values
}

/// A value as it is filtered by.
pub(super) fn facet_value(value: &str) -> &str {
    cut(value.trim(), LONGEST_FACET)
}

/// As many whole characters as fit into so many bytes.
pub(super) fn cut(text: &str, longest: usize) -> &str {
    let end = (0..=longest.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(cut("été", 4), "ét");
        assert_eq!(cut("été", 1), "");
        assert_eq!(cut("été", 9), "été");
    }

    #[test]
    fn notes_stop_at_their_limit() {
        let all = vec!["x".repeat(LONGEST_NOTES - 1), "yz".to_owned(), "never".to_owned()];
        assert_eq!(notes(&all).map(str::len).collect::<Vec<_>>(), [LONGEST_NOTES - 1, 1]);
    }

    #[test]
    fn a_facet_has_each_value_once() {
        assert_eq!(facet_values(["fre", " eng ", "", "fre"]), ["eng", "fre"]);
    }

    #[test]
    fn words_are_read_back() {
        assert!(Kind::ALL.iter().all(|kind| Kind::named(kind.as_str()) == Some(*kind)));
        assert_eq!(Field::named("author"), None);
    }
}
