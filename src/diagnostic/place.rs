//! Where in the input something was found.

use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// As much of the way to the trouble as is known; each stage fills in its own part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The name of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The file or URL the bytes came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The record's number in that file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The byte in that file, after decompression, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The line of a rule file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<NonZeroU32>,
    /// The character in that line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<NonZeroU32>,
    /// The record's identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
    /// The field, element, column or key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The rule that was at work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}
