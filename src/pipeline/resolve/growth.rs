//! Which entries only got new members?
//!
//! A subject, a place or an agent may be that of thousands of records. When one more record names
//! it, its entry has all it had and what that record adds, and the other thousands need not be mapped
//! again to say so. That is certain where no old member left or says something else; the writer
//! looks whether the new ones call it by the name it has ([`super::writing`]).

use super::cache::EntryKey;
use super::entities::{Entities, Number};
use super::entity::Kind;
use super::merging::Merging;
use rustc_hash::{FxHashMap, FxHashSet};

/// An entry with fewer members is soon made from all of them.
const LARGE: usize = 16;

/// Entries that only got new members.
#[derive(Default)]
pub(super) struct Growth {
    /// The new members of each.
    pub members: FxHashMap<EntryKey, Vec<Number>>,
    fresh: FxHashSet<Number>,
}

impl Growth {
    /// Takes up an entry that is to be written, if it only got new members. `before` is the hash of the
    /// members it had, and `of_record` says what became of a record since.
    pub fn consider(
        &mut self,
        (key, members): (EntryKey, &[Number]),
        before: u64,
        merging: &Merging<'_>,
        entities: &Entities,
        of_record: impl Fn(u32) -> Change,
    ) {
        if members.len() < LARGE || !matches!(key.0, Kind::Agent | Kind::Subject | Kind::Place) {
            return;
        }
        let (mut old, mut fresh) = (Vec::with_capacity(members.len()), Vec::new());
        for member in members {
            let Some(entity) = entities.all.get(*member as usize) else { return };
            match of_record(entity.record) {
                Change::New => fresh.push(*member),
                Change::Other => return,
                Change::None => old.push(*member),
            }
        }
        if fresh.is_empty() || old.is_empty() || merging.member_hash(&old) != before {
            return;
        }
        self.fresh.extend(&fresh);
        self.members.insert(key, fresh);
    }

    /// Whether an entry that grew has a member already.
    pub fn is_known(&self, key: EntryKey, member: Number) -> bool {
        self.members.contains_key(&key) && !self.fresh.contains(&member)
    }
}

/// What became of a record since the last run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    None,
    New,
    Other,
}
