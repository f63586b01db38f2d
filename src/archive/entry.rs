//! One entry of the archive, and how it is written.
//!
//! In a block an entry is one line of JSON, the payload's bytes, and a line break. It can be
//! read without this program for as long as there is JSON and zstd.

use crate::diagnostic::Diagnostic;
use crate::record::Format;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::io::{self, Write};

/// What an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A record as received.
    Record,
    /// A record is no longer there: deleted by its source or gone from a full dump.
    Withdrawal,
    /// Bytes that could not be read as a record.
    Reject,
    RunStarted,
    RunFinished,
    /// A rule file, code list or query that a person loaded; its id is its path.
    Concordance,
    /// One that a person took back.
    ConcordanceUnloaded,
    /// A vocabulary that a person loaded, as the file was; its id is its name.
    Vocabulary,
    /// One that a person removed.
    VocabularyRemoved,
    /// How far the harvest of a source is; written with the page that got it there.
    Harvest,
    /// What a person said about duplicates; it names records by source and id.
    Decision,
    /// What resolving must find again when the store is made anew: the names it gave to entries,
    /// or the weights it learned. The id says which.
    Resolution,
    /// What somebody with a token changed in the store, statement by statement.
    Update,
}

impl Kind {
    /// Whether the payload is what somebody sent, and not our own note. A note is never
    /// shared with an equal one: whoever replays it needs it at hand.
    pub(super) fn is_received(self) -> bool {
        matches!(self, Self::Record | Self::Withdrawal | Self::Reject)
    }
}

/// Where a payload came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// A file name or URL.
    #[serde(rename = "origin")]
    pub name: String,
    /// The record's number there, from 1.
    #[serde(default)]
    pub number: u64,
    /// Its first byte there.
    #[serde(default)]
    pub offset: u64,
}

/// The first half of a SHA-256: enough that two payloads never share it by chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PayloadHash(pub [u8; 16]);

impl PayloadHash {
    pub fn of(payload: &[u8]) -> Self {
        let digest = Sha256::digest(payload);
        let mut hash = [0; 16];
        for (to, from) in hash.iter_mut().zip(digest.iter()) {
            *to = *from;
        }
        Self(hash)
    }
}

impl fmt::Display for PayloadHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for PayloadHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PayloadHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut hash = [0; 16];
        for (byte, digits) in hash.iter_mut().zip(text.as_bytes().chunks(2)) {
            *byte = std::str::from_utf8(digits)
                .ok()
                .and_then(|digits| u8::from_str_radix(digits, 16).ok())
                .ok_or_else(|| serde::de::Error::custom("a hash is 32 hexadecimal digits"))?;
        }
        Ok(Self(hash))
    }
}

/// One entry. Its sequence number says when it came, before and after which others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    #[serde(default)]
    pub sequence: u64,
    pub kind: Kind,
    pub source: String,
    /// The record's id in its source; empty for what is no record.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// How the payload is written.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "format_name")]
    pub format: Option<Format>,
    /// The character set the user named, against what the payload says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charset: Option<String>,
    /// The content type the user named for the whole source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// What the user said the columns or keys mean, where the content cannot tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When it was taken, RFC 3339.
    pub time: String,
    pub run: u64,
    #[serde(flatten)]
    pub origin: Origin,
    /// Why it was rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnostic: Option<Diagnostic>,
    pub hash: PayloadHash,
    /// The entry that holds the same payload, when this one does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same: Option<u64>,
    /// Length of the payload that follows.
    #[serde(default)]
    length: u64,
    #[serde(skip)]
    pub payload: Vec<u8>,
}

mod format_name {
    use super::Format;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(format: &Option<Format>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(format.map_or("", Format::name))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Format>, D::Error> {
        let name = String::deserialize(deserializer)?;
        Ok(name.parse().ok())
    }
}

impl Entry {
    pub fn new(kind: Kind, source: &str, id: &str, run: u64, time: &str) -> Self {
        Self {
            sequence: 0,
            kind,
            source: source.to_owned(),
            id: id.to_owned(),
            format: None,
            charset: None,
            content_type: None,
            model: None,
            time: time.to_owned(),
            run,
            origin: Origin::default(),
            diagnostic: None,
            hash: PayloadHash::of(&[]),
            same: None,
            length: 0,
            payload: Vec::new(),
        }
    }

    /// What makes two versions the same: the payload, and what the user said about reading it.
    pub fn identity(&self) -> PayloadHash {
        match (&self.charset, &self.content_type, &self.model) {
            (None, None, None) => self.hash,
            (charset, content_type, None) => {
                PayloadHash::of(format!("{}\0{charset:?}\0{content_type:?}", self.hash).as_bytes())
            }
            said => PayloadHash::of(format!("{}\0{said:?}", self.hash).as_bytes()),
        }
    }

    #[must_use]
    pub fn with_payload(mut self, payload: Vec<u8>) -> Self {
        self.hash = PayloadHash::of(&payload);
        self.payload = payload;
        self
    }
}

/// What is decided about an entry when it is stored.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stored {
    pub sequence: u64,
    pub run: u64,
    /// The entry that holds the same payload.
    pub same: Option<u64>,
}

/// The line before the payload: an [`Entry`] with what was decided about it, and nothing copied.
#[derive(Serialize)]
struct Header<'a> {
    sequence: u64,
    kind: Kind,
    source: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none", with = "format_name")]
    format: &'a Option<Format>,
    #[serde(skip_serializing_if = "Option::is_none")]
    charset: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    time: &'a str,
    run: u64,
    #[serde(flatten)]
    origin: &'a Origin,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostic: Option<&'a Diagnostic>,
    hash: PayloadHash,
    #[serde(skip_serializing_if = "Option::is_none")]
    same: Option<u64>,
    length: u64,
}

pub(super) fn write_entry(entry: &Entry, stored: Stored, block: &mut Vec<u8>) -> io::Result<()> {
    let length = if stored.same.is_some() { 0 } else { entry.payload.len() as u64 };
    let header = Header {
        sequence: stored.sequence,
        kind: entry.kind,
        source: &entry.source,
        id: &entry.id,
        format: &entry.format,
        charset: entry.charset.as_deref(),
        content_type: entry.content_type.as_deref(),
        model: entry.model.as_deref(),
        time: &entry.time,
        run: stored.run,
        origin: &entry.origin,
        diagnostic: entry.diagnostic.as_ref(),
        hash: entry.hash,
        same: stored.same,
        length,
    };
    serde_json::to_writer(&mut *block, &header)?;
    block.write_all(b"\n")?;
    if length > 0 {
        block.write_all(&entry.payload)?;
    }
    block.write_all(b"\n")
}

/// The entries of a block, without the payloads of those that point at others.
pub(super) fn read_entries(mut block: &[u8]) -> Result<Vec<Entry>, String> {
    let mut entries = Vec::new();
    while !block.is_empty() {
        let end = memchr::memchr(b'\n', block).ok_or("an entry has no end")?;
        let header = block.get(..end).unwrap_or_default();
        let mut entry: Entry = serde_json::from_slice(header).map_err(|error| error.to_string())?;
        let length = usize::try_from(entry.length).map_err(|error| error.to_string())?;
        let start = end + 1;
        entry.payload = block.get(start..start + length).ok_or("a payload is cut off")?.to_vec();
        block = block.get(start + length + 1..).ok_or("an entry has no end")?;
        entries.push(entry);
    }
    Ok(entries)
}
