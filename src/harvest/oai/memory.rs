//! What a harvest remembers while it lasts and can do without after a kill.

use super::response::Record;
use super::state::Task;
use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128};

/// How many payloads are known again. More of them than this in one run are handed over twice
/// when a list begins again; the archive knows them anyway.
const DELIVERED: usize = 200_000;

#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The identifiers of the list under way.
    seen: Seen,
    /// Its tokens.
    tokens: FxHashSet<u64>,
    /// Hashes of the payloads that were handed over in this run,
    delivered: FxHashSet<u64>,
    /// and of what their headers say.
    headers: FxHashSet<u64>,
    /// Something failed, and nothing has come since.
    pub is_fruitless: bool,
    /// Requests that failed in a row.
    pub failures: u32,
    /// What they cost.
    pub patience: u32,
    /// What was to do before they began to fail.
    pub before: Option<Vec<Task>>,
}

impl Memory {
    /// A list begins.
    pub fn begin_list(&mut self) {
        self.seen.clear();
        self.tokens.clear();
    }

    /// Whether an identifier, or what stands for it, is new in the list.
    pub fn is_new(&mut self, identity: &[u8]) -> bool {
        self.seen.insert(identity)
    }

    /// Whether a token was met before; if not, it is now.
    pub fn is_new_token(&mut self, hash: u64) -> bool {
        self.tokens.insert(hash)
    }

    /// Whether a record is handed over for the first time, as far as is known.
    pub fn is_first(&mut self, record: &Record) -> bool {
        let payload = xxh3_64(&record.payload);
        if self.delivered.len() >= DELIVERED {
            return !self.delivered.contains(&payload);
        }
        if let Some(identifier) = &record.header.identifier {
            self.headers.insert(header_hash(identifier, record.header.datestamp.as_deref()));
        }
        self.delivered.insert(payload)
    }

    /// Whether a record with this header was handed over.
    pub fn has(&self, identifier: &str, datestamp: Option<&str>) -> bool {
        self.headers.contains(&header_hash(identifier, datestamp))
    }

    /// A request succeeded, if only in bringing nothing.
    pub fn succeeded(&mut self) {
        self.failures = 0;
        self.patience = 0;
        self.before = None;
    }
}

fn header_hash(identifier: &str, datestamp: Option<&str>) -> u64 {
    xxh3_64_with_seed(identifier.as_bytes(), xxh3_64(datestamp.unwrap_or_default().as_bytes()))
}

pub(super) fn hash(token: &str) -> u64 {
    xxh3_64(token.as_bytes())
}

/// A set that never forgets and sometimes errs: it may take a new identifier for a known one
/// (once in some hundred thousand times at a million of them). Whole pages of errors do not
/// happen, and pages are what loops are judged by. Its size does not depend on the list.
#[derive(Debug, Default)]
struct Seen {
    bits: Vec<u64>,
}

impl Seen {
    const BITS: usize = 1 << 26;
    const HASHES: usize = 4;

    fn clear(&mut self) {
        self.bits = Vec::new();
    }

    /// Adds an identifier. Whether it was new.
    fn insert(&mut self, identity: &[u8]) -> bool {
        if self.bits.is_empty() {
            self.bits = vec![0; Self::BITS / 64];
        }
        let mut hash = xxh3_128(identity);
        let mut new = false;
        for _ in 0..Self::HASHES {
            let bit = usize::try_from(hash % Self::BITS as u128).unwrap_or_default();
            hash >>= 32;
            if let Some(word) = self.bits.get_mut(bit / 64) {
                let mask = 1 << (bit % 64);
                new |= *word & mask == 0;
                *word |= mask;
            }
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_known_again() {
        let mut memory = Memory::default();
        let identifiers: Vec<String> = (0..100_000).map(|n| format!("oai:example:{n}")).collect();
        let new = identifiers.iter().filter(|identifier| memory.is_new(identifier.as_bytes())).count();
        assert!(new > 99_990, "{new}");
        assert!(!identifiers.iter().any(|identifier| memory.is_new(identifier.as_bytes())));
        memory.begin_list();
        assert!(memory.is_new(b"oai:example:1"));
    }
}
