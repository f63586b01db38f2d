//! What is an entry called, and does it keep its name?
//!
//! A new entry is named after its smallest member. Afterwards the name stays with whoever keeps
//! most of its members; an entry that gives its name up leads to where its members went. Only
//! what differs from "named after itself" has to be remembered, and that is what the archive
//! keeps: a store that is made anew gives every entry the name it had.

use super::PipelineError;
use super::cache::{Cache, EntryKey};
use super::entities::{Entities, Number};
use super::entity::Kind;
use crate::archive::Kind as Archived;
use crate::archive::{Archive, Entry};
use crate::pipeline::Session;
use crate::record::{percent_decode, percent_encode};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What an archived note of names is called.
const NOTE: &str = "names";
/// Up to which note the cache has taken names up.
const TAKEN: &str = "names-up-to";

/// A group, by its kind and root, that has members of an entry that was there before.
type Claim = (Kind, Number, u64);

/// The names of all entries.
pub(super) struct Naming {
    /// Of each group, by its root.
    pub of: FxHashMap<Number, u64>,
    /// The members of each entry, in order.
    pub members: BTreeMap<EntryKey, Vec<Number>>,
    /// Things whose entry has another name than before: the name that is to be remembered.
    changed: Vec<(Kind, Vec<u8>, Option<u64>)>,
    /// Names given up in this run, and where they lead.
    pub forwarded: Vec<(EntryKey, u64)>,
}

impl Naming {
    /// Names the entries that groups become.
    pub fn of_groups(entities: &Entities, groups: &[Number], cache: &Cache) -> Result<Self, PipelineError> {
        let (names, entries) = (cache.names()?, cache.entries()?);
        let mut members: BTreeMap<Number, Vec<Number>> = BTreeMap::new();
        for (number, root) in groups.iter().enumerate() {
            members.entry(*root).or_default().push(number as Number);
        }
        // How many members each group has of each entry that was there before, and the first of them.
        let mut claims: FxHashMap<Claim, (usize, Number)> = FxHashMap::default();
        for (root, group) in &members {
            for number in group {
                let kind = entities.kind(*number);
                let name = name_of(entities, *number);
                let remembered = names.get(&(kind, name.as_slice().into())).copied();
                let before = remembered.or_else(|| {
                    let own = own_id(&name);
                    entries.contains_key(&(kind, own)).then_some(own)
                });
                if let Some(before) = before {
                    claims.entry((kind, *root, before)).or_insert((0, *number)).0 += 1;
                }
            }
        }
        let mut claims: Vec<(Claim, (usize, Number))> = claims.into_iter().collect();
        // The larger part keeps the name; of equal ones the one with the smaller member, when a group
        // parts and when it comes together again.
        claims.sort_unstable_by_key(|((kind, root, id), (count, first))| {
            (*kind, std::cmp::Reverse(*count), *root, *first, *id)
        });
        let mut of: FxHashMap<Number, u64> = FxHashMap::default();
        let mut taken: FxHashSet<EntryKey> = FxHashSet::default();
        for ((kind, root, id), _) in &claims {
            if !of.contains_key(root) && taken.insert((*kind, *id)) {
                of.insert(*root, *id);
            }
        }
        for (root, group) in &members {
            if of.contains_key(root) {
                continue;
            }
            let kind = entities.kind(*root);
            let mut candidates = group.iter().map(|number| own_id(&name_of(entities, *number)));
            let mut salt = name_of(entities, *root);
            let id = loop {
                let id = candidates.next().unwrap_or_else(|| {
                    salt.push(1);
                    own_id(&salt)
                });
                if taken.insert((kind, id)) {
                    break id;
                }
            };
            of.insert(*root, id);
        }
        let mut forwarded: BTreeMap<EntryKey, u64> = BTreeMap::new();
        for ((kind, root, id), _) in &claims {
            if let Some(into) = of.get(root).filter(|into| *into != id)
                && !taken.contains(&(*kind, *id))
            {
                forwarded.entry((*kind, *id)).or_insert(*into);
            }
        }
        let mut changed = Vec::new();
        for (root, group) in &members {
            let Some(id) = of.get(root).copied() else { continue };
            for number in group {
                let (kind, name) = (entities.kind(*number), name_of(entities, *number));
                let remembered = names.get(&(kind, name.as_slice().into())).copied();
                let wanted = (own_id(&name) != id).then_some(id);
                if remembered != wanted {
                    changed.push((kind, name, wanted));
                }
            }
        }
        let members = members
            .into_iter()
            .filter_map(|(root, group)| Some(((entities.kind(root), of.get(&root).copied()?), group)))
            .collect();
        let known = cache.forwarded()?;
        let forwarded = forwarded.into_iter().filter(|(key, into)| known.get(key) != Some(into)).collect();
        Ok(Self { of, members, changed, forwarded })
    }

    /// Keeps in the archive what is new about names; the cache takes it from there.
    pub fn archive(&self, archive: &mut Archive, time: &str) -> Result<(), PipelineError> {
        if self.changed.is_empty() && self.forwarded.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        for (kind, name, id) in &self.changed {
            let name = written(name);
            let id = id.map_or_else(|| "-".to_owned(), |id| format!("{id:016x}"));
            let _ = writeln!(text, "{}\t{id}\t{name}", kind.name());
        }
        for ((kind, id), into) in &self.forwarded {
            let _ = writeln!(text, ">{}\t{id:016x}\t{into:016x}", kind.name());
        }
        let entry = Entry::new(Archived::Resolution, "", NOTE, 0, time).with_payload(text.into_bytes());
        archive.append_note(&[entry])?;
        Ok(())
    }
}

/// Brings the names in the cache up to the archive.
pub(super) fn take_up(session: &Session, cache: &Cache) -> Result<(), PipelineError> {
    let taken = cache.number(TAKEN)?;
    for (sequence, what) in session.archive.resolutions()? {
        if what != NOTE || sequence <= taken {
            continue;
        }
        let Some(entry) = session.archive.entry(sequence)? else { continue };
        let text = String::from_utf8_lossy(&entry.payload).into_owned();
        cache.write(|tables| {
            for line in text.lines() {
                if let Some(forward) = line.strip_prefix('>') {
                    let mut cells = forward.split('\t');
                    let kind = cells.next().and_then(Kind::from_name);
                    let mut id = || u64::from_str_radix(cells.next()?, 16).ok();
                    if let (Some(kind), Some(id), Some(into)) = (kind, id(), id()) {
                        tables.set_forward((kind, id), Some(into))?;
                    }
                } else {
                    let mut cells = line.splitn(3, '\t');
                    let kind = cells.next().and_then(Kind::from_name);
                    let (id, name) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
                    if let Some(kind) = kind {
                        tables.set_name(kind, &read(name), u64::from_str_radix(id, 16).ok())?;
                    }
                }
            }
            tables.set_number(TAKEN, sequence)
        })?;
    }
    Ok(())
}

/// A thing by source, id and node.
pub(super) fn name_of(entities: &Entities, number: Number) -> Vec<u8> {
    let (source, id, node) = entities.name(number);
    [source.as_bytes(), &[0], id.as_bytes(), &[0], node.as_bytes()].concat()
}

/// A name as the archive has it: source and id may hold anything, so both are percent-encoded.
fn written(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    let mut parts = name.splitn(3, '\0');
    let mut part = || parts.next().unwrap_or_default();
    let (source, id, node) = (part(), part(), part());
    format!("{}\t{}\t{node}", percent_encode(source), percent_encode(id))
}

fn read(written: &str) -> Vec<u8> {
    let mut parts = written.splitn(3, '\t');
    let mut part = || parts.next().unwrap_or_default();
    let (source, id, node) = (percent_decode(part()), percent_decode(part()), part());
    [source.as_bytes(), &[0], id.as_bytes(), &[0], node.as_bytes()].concat()
}

/// The name of an entry that is named after this thing.
pub(super) fn own_id(name: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(name)
}
