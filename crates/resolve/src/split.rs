//! A block that is too large is split by further features, never dropped.
//!
//! The profile's `split` names what it is split by, one after the other; what is small enough
//! then is paired. What cannot be split is ordered by content, and neighbours are paired. Of a
//! record nothing is needed but its [`Places`]: a few numbers, so that blocks can be split again
//! when a record comes or goes, without asking what the others say.

use super::block::{Pair, pack};
use super::feature::Id;
use super::profile::Profile;

/// More values than this of one part do not count.
const MOST: usize = 4;

/// The numbers of each record in the parts that split.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Places {
    starts: Vec<u64>,
    /// Of each record: how many numbers each part has, four bits each, and then the numbers.
    numbers: Vec<u32>,
}

impl Places {
    /// Adds the next record.
    pub fn push(&mut self, place: &[u32]) {
        self.starts.push(self.numbers.len() as u64);
        self.numbers.extend_from_slice(place);
    }

    pub fn len(&self) -> usize {
        self.starts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    pub fn of(&self, record: Id) -> &[u32] {
        let at = record as usize;
        let start = self.starts.get(at).map_or(self.numbers.len(), |start| *start as usize);
        let end = self.starts.get(at + 1).map_or(self.numbers.len(), |end| *end as usize);
        &self.numbers[start..end]
    }
}

/// Adds one part's numbers to a record's place.
pub fn add(place: &mut Vec<u32>, part: usize, numbers: &[u64]) {
    if place.is_empty() {
        place.push(0);
    }
    let count = numbers.len().min(MOST);
    place[0] |= (count as u32) << (4 * (part % 8));
    // Their halves together, for years are small and hashes are not.
    place.extend(numbers.iter().take(count).map(|number| (number ^ (number >> 32)) as u32));
}

fn part(place: &[u32], part: usize) -> &[u32] {
    let count = |at: usize| (place.first().copied().unwrap_or(0) >> (4 * at) & 15) as usize;
    let start = 1 + (0..part).map(count).sum::<usize>();
    place.get(start..start + count(part)).unwrap_or_default()
}

/// Splits one block and pairs its members.
pub struct Splitter<'a, P, E> {
    pub profile: &'a Profile,
    /// The place of a record.
    pub place: P,
    /// Whether two records are never paired.
    pub is_excluded: E,
}

impl<'a, P: Fn(Id) -> &'a [u32], E: Fn(Id, Id) -> bool> Splitter<'a, P, E> {
    /// The pairs of a block; whether it had to be split. Of equal places the smaller number is
    /// first.
    pub fn pairs(&self, largest: usize, records: &[Id], pairs: &mut Vec<Pair>) -> bool {
        if records.len() <= largest {
            self.every_two(records, pairs);
            return false;
        }
        self.split(records, largest, 0, pairs);
        self.neighbours(records, pairs);
        true
    }

    fn every_two(&self, records: &[Id], pairs: &mut Vec<Pair>) {
        for (at, left) in records.iter().enumerate() {
            for right in records.iter().skip(at + 1) {
                self.pair(*left, *right, pairs);
            }
        }
    }

    fn pair(&self, left: Id, right: Id, pairs: &mut Vec<Pair>) {
        if left != right && !(self.is_excluded)(left, right) {
            pairs.push(pack(left, right));
        }
    }

    fn split(&self, records: &[Id], largest: usize, depth: usize, pairs: &mut Vec<Pair>) {
        if depth >= self.profile.split.len() {
            return;
        }
        let mut keyed: Vec<(u32, Id)> = Vec::with_capacity(records.len());
        for record in records {
            match part((self.place)(*record), depth) {
                [] => keyed.push((0, *record)),
                numbers => keyed.extend(numbers.iter().map(|number| (*number, *record))),
            }
        }
        keyed.sort_unstable();
        keyed.dedup();
        let mut group: Vec<Id> = Vec::new();
        for same in keyed.chunk_by(|left, right| left.0 == right.0) {
            group.clear();
            group.extend(same.iter().map(|(_, record)| *record));
            if group.len() <= largest {
                self.every_two(&group, pairs);
            } else {
                self.split(&group, largest, depth + 1, pairs);
            }
        }
    }

    /// Orders by content, the last part first, and pairs what stands near.
    fn neighbours(&self, records: &[Id], pairs: &mut Vec<Pair>) {
        let parts = self.profile.split.len();
        let least = |place: &[u32], at: usize| part(place, at).iter().min().copied().unwrap_or(0);
        let mut ordered = records.to_vec();
        ordered.sort_unstable_by(|left, right| {
            let (a, b) = ((self.place)(*left), (self.place)(*right));
            let differ =
                (0..parts).rev().map(|at| least(a, at).cmp(&least(b, at))).find(|order| order.is_ne());
            differ.unwrap_or_else(|| left.cmp(right))
        });
        for (at, left) in ordered.iter().enumerate() {
            for right in ordered.iter().skip(at + 1).take(self.profile.window) {
                self.pair(*left, *right, pairs);
            }
        }
    }
}
