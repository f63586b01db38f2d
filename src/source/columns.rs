//! The table of sources: seven columns, no more and no fewer.

use super::descriptor::{Amount, Source};
use serde::Serialize;

/// The columns in their order.
pub const COLUMNS: [&str; 7] = [
    "Name",
    "Website or social network",
    "Content type",
    "Amount of content",
    "Harvesting technique",
    "Harvesting complexity level",
    "Metadata model",
];

/// What stands in one column of one row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    Text(String),
    Number(u64),
}

impl Source {
    /// Its row, in the order of [`COLUMNS`]. What nobody has said is an empty text.
    pub fn columns(&self) -> [Cell; 7] {
        let text = |text: &str| Cell::Text(text.to_owned());
        [
            text(&self.name),
            text(&self.website),
            Cell::Text(self.content_type.join(", ")),
            match &self.amount {
                Amount::Unknown => text(""),
                Amount::Records(records) => Cell::Number(*records),
                Amount::Told(words) => text(words),
            },
            text(self.technique.name()),
            Cell::Number(u64::from(self.complexity.level())),
            text(&self.model),
        ]
    }
}

impl Cell {
    /// Without separators, for programs.
    pub fn plain(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
        }
    }
}
