//! Which records are one thing?
//!
//! Pairs are taken from the strongest to the weakest. A union is refused when a veto or a
//! person's decision stands between any two members, and when all pairs across taken together
//! speak against it: so one chance likeness does not chain two groups. People's joins come
//! first; where they contradict a *never*, the join is refused and reported.
//!
//! Whoever comes first may be wrong, and then keeps apart what belongs together. So refused unions are
//! looked at once more: if all that stands between two groups is one member, and the rest of them hold
//! together better without it than it holds to its own, it is taken out and they are united.
//!
//! Ties are broken by the numbers of records, which follow their names, so the result does not
//! depend on the order of arrival.

use rustc_hash::FxHashMap;

use super::compare::Vector;
use super::feature::Id;

/// A pair that may be one thing, with its evidence in bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    pub left: Id,
    pub right: Id,
    pub vector: Vector,
    pub weight: f64,
}

/// Pairs of records, the smaller number first.
pub type Couples = Vec<(Id, Id)>;

/// People's decisions, in the order in which they were made.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    decisions: Vec<(Id, Id, bool)>,
}

impl Decisions {
    /// These two are one.
    pub fn join(&mut self, left: Id, right: Id) {
        self.decisions.push((left.min(right), left.max(right), true));
    }

    /// These two are never one.
    pub fn never(&mut self, left: Id, right: Id) {
        self.decisions.push((left.min(right), left.max(right), false));
    }

    pub fn is_empty(&self) -> bool {
        self.decisions.is_empty()
    }

    /// Of several decisions about one pair the last counts.
    pub fn settled(&self) -> (Couples, Couples) {
        let mut last: FxHashMap<(Id, Id), usize> = FxHashMap::default();
        for (at, (left, right, _)) in self.decisions.iter().enumerate() {
            last.insert((*left, *right), at);
        }
        let (mut joins, mut nevers) = (Vec::new(), Vec::new());
        for (at, (left, right, together)) in self.decisions.iter().enumerate() {
            if last.get(&(*left, *right)) == Some(&at) && left != right {
                if *together { joins.push((*left, *right)) } else { nevers.push((*left, *right)) }
            }
        }
        (joins, nevers)
    }
}

/// Why two records that are alike were kept apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A veto between these two members.
    Veto(Box<str>, Id, Id),
    /// A person said never of these two.
    Never(Id, Id),
    /// All pairs across speak against it.
    Against,
    /// A person's join that a person's never contradicts.
    Contradiction(Id, Id),
}

/// A union that was not made.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub left: Id,
    pub right: Id,
    pub weight: f64,
    pub reason: Reason,
}

impl Refusal {
    /// The same under other numbers.
    #[must_use]
    pub fn renamed(self, name: impl Fn(Id) -> Id) -> Self {
        let reason = match self.reason {
            Reason::Veto(veto, left, right) => Reason::Veto(veto, name(left), name(right)),
            Reason::Never(left, right) => Reason::Never(name(left), name(right)),
            Reason::Contradiction(left, right) => Reason::Contradiction(name(left), name(right)),
            Reason::Against => Reason::Against,
        };
        Self { left: name(self.left), right: name(self.right), reason, ..self }
    }
}

/// What a pair across two groups says.
pub enum Across {
    Weight(f64),
    Veto(Box<str>),
}

/// Groups of records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clusters {
    /// For each record the smallest number in its group.
    pub of: Vec<Id>,
    pub refused: Vec<Refusal>,
    /// Pairs that had to be compared to judge unions.
    pub looked: u64,
}

/// Members looked at on each side of a union.
const MOST_ACROSS: usize = 16;
/// No single pair weighs more than this in a union, for or against.
const MOST_BITS: f64 = 12.0;
/// Refused unions are looked at so many times at most.
const ROUNDS: usize = 3;

struct Groups<'a> {
    /// The group of a record, by the member it is called after; a record that is not here is alone.
    of: FxHashMap<Id, Id>,
    members: FxHashMap<Id, Vec<Id>>,
    joins: FxHashMap<Id, Vec<Id>>,
    nevers: FxHashMap<Id, Vec<Id>>,
    across: &'a mut dyn FnMut(Id, Id) -> Across,
    looked: u64,
}

/// Groups `records` records. `edges` must hold no pair that a veto forbids; `across` judges any
/// other pair.
pub fn cluster(
    records: usize,
    edges: &mut [Edge],
    decisions: &Decisions,
    across: &mut dyn FnMut(Id, Id) -> Across,
) -> Clusters {
    edges.sort_unstable_by(|a, b| {
        b.weight.total_cmp(&a.weight).then((a.left, a.right).cmp(&(b.left, b.right)))
    });
    let (mut joins, mut nevers) = decisions.settled();
    // Of records that are not there nothing can be decided.
    let is_there = |pair: &(Id, Id)| (pair.1 as usize) < records;
    joins.retain(is_there);
    nevers.retain(is_there);
    let mut groups = Groups {
        of: FxHashMap::default(),
        members: FxHashMap::default(),
        joins: partners(&joins),
        nevers: partners(&nevers),
        across,
        looked: 0,
    };
    let mut refused = Vec::new();
    for (left, right) in joins {
        let (a, b) = (groups.root(left), groups.root(right));
        if a == b {
            continue;
        }
        match groups.never_between(a, b) {
            Some((x, y)) => {
                let reason = Reason::Contradiction(x, y);
                refused.push(Refusal { left, right, weight: f64::INFINITY, reason });
            }
            None => groups.unite(a, b),
        }
    }
    let mut open = Vec::new();
    for edge in edges.iter() {
        let (a, b) = (groups.root(edge.left), groups.root(edge.right));
        if a == b {
            continue;
        }
        match groups.objection(a, b, edge) {
            Some(reason) => open.push((edge, reason)),
            None => groups.unite(a, b),
        }
    }
    groups.reconsider(&mut open);
    refused.extend(open.into_iter().map(|(edge, reason)| Refusal {
        left: edge.left,
        right: edge.right,
        weight: edge.weight,
        reason,
    }));
    let mut of: Vec<Id> = (0..records as u32).collect();
    for members in groups.members.values() {
        let first = members.iter().min().copied().unwrap_or(0);
        for member in members {
            of[*member as usize] = first;
        }
    }
    Clusters { of, refused, looked: groups.looked }
}

fn partners(couples: &Couples) -> FxHashMap<Id, Vec<Id>> {
    let mut partners: FxHashMap<Id, Vec<Id>> = FxHashMap::default();
    for (left, right) in couples {
        partners.entry(*left).or_default().push(*right);
        partners.entry(*right).or_default().push(*left);
    }
    partners
}

impl Groups<'_> {
    fn root(&self, record: Id) -> Id {
        self.of.get(&record).copied().unwrap_or(record)
    }

    fn group(&self, root: Id) -> Vec<Id> {
        self.members.get(&root).cloned().unwrap_or_else(|| vec![root])
    }

    fn size(&self, root: Id) -> usize {
        self.members.get(&root).map_or(1, Vec::len)
    }

    fn unite(&mut self, a: Id, b: Id) {
        // The larger keeps its name; of equal ones the smaller number. So a record changes its group
        // as often as groups double.
        let (into, from) = match self.size(a).cmp(&self.size(b)) {
            std::cmp::Ordering::Greater => (a, b),
            std::cmp::Ordering::Less => (b, a),
            std::cmp::Ordering::Equal => (a.min(b), a.max(b)),
        };
        let moved = self.members.remove(&from).unwrap_or_else(|| vec![from]);
        self.of.extend(moved.iter().map(|member| (*member, into)));
        self.of.insert(into, into);
        self.members.entry(into).or_insert_with(|| vec![into]).extend(moved);
    }

    /// Takes a member out of its group. The rest keeps together.
    fn take_out(&mut self, member: Id) {
        let root = self.root(member);
        let mut rest = self.members.remove(&root).unwrap_or_default();
        rest.retain(|other| *other != member);
        self.of.remove(&member);
        if let Some(first) = rest.iter().min().copied() {
            self.of.extend(rest.iter().map(|other| (*other, first)));
            self.members.insert(first, rest);
        }
    }

    /// A pair across of which a person said never.
    fn never_between(&self, a: Id, b: Id) -> Option<(Id, Id)> {
        if self.nevers.is_empty() {
            return None;
        }
        let (few, other) = if self.size(a) <= self.size(b) { (a, b) } else { (b, a) };
        let mut members = self.group(few);
        members.sort_unstable();
        for member in members {
            for partner in self.nevers.get(&member).into_iter().flatten() {
                if self.root(*partner) == other {
                    return Some((member.min(*partner), member.max(*partner)));
                }
            }
        }
        None
    }

    fn objection(&mut self, a: Id, b: Id, edge: &Edge) -> Option<Reason> {
        if let Some((x, y)) = self.never_between(a, b) {
            return Some(Reason::Never(x, y));
        }
        if self.size(a) == 1 && self.size(b) == 1 {
            return None;
        }
        let (left, right) = (sample(self.group(a)), sample(self.group(b)));
        let mut sum = 0.0;
        for x in &left {
            for y in &right {
                self.looked += 1;
                match (self.across)(*x, *y) {
                    Across::Veto(name) => return Some(Reason::Veto(name, *x.min(y), *x.max(y))),
                    Across::Weight(weight) => sum += weight.clamp(-MOST_BITS, MOST_BITS),
                }
            }
        }
        // The pair that brought them here is counted even when it is not of the sample.
        (sum < 0.0 && sum + edge.weight.min(MOST_BITS) / 2.0 < 0.0).then_some(Reason::Against)
    }

    /// Looks at refused unions once more, the strongest first, and makes those that one member stands in
    /// the way of. What stays refused keeps its reason.
    fn reconsider(&mut self, open: &mut Vec<(&Edge, Reason)>) {
        for _ in 0..ROUNDS {
            let before = open.len();
            let mut still = Vec::new();
            for (edge, reason) in open.drain(..) {
                let (a, b) = (self.root(edge.left), self.root(edge.right));
                if a == b {
                    continue;
                }
                if let Reason::Veto(..) | Reason::Against = reason
                    && self.size(a).max(self.size(b)) <= MOST_ACROSS
                    && self.unite_without_one(a, b, edge)
                {
                    continue;
                }
                still.push((edge, reason));
            }
            *open = still;
            if open.len() == before {
                break;
            }
        }
        // A member that was taken out may have left nothing to object to.
        let mut still = Vec::new();
        for (edge, reason) in open.drain(..) {
            let (a, b) = (self.root(edge.left), self.root(edge.right));
            if a == b {
                continue;
            }
            match self.objection(a, b, edge) {
                Some(reason) => still.push((edge, reason)),
                None if matches!(reason, Reason::Never(..) | Reason::Contradiction(..)) => {
                    still.push((edge, reason))
                }
                None => self.unite(a, b),
            }
        }
        *open = still;
    }

    /// Unites two groups without the one member that objects, if both are better off.
    fn unite_without_one(&mut self, a: Id, b: Id, edge: &Edge) -> bool {
        let sides = [self.group(a), self.group(b)];
        let [left, right] = &sides;
        if left.len() + right.len() < 3 || self.never_between(a, b).is_some() {
            return false;
        }
        let mut weights: FxHashMap<(Id, Id), Option<f64>> = FxHashMap::default();
        for x in left {
            for y in right {
                let weight = self.weigh(*x, *y);
                weights.insert((*x, *y), weight);
            }
        }
        let mut best: Option<(f64, Id)> = None;
        for (side, members) in sides.iter().enumerate() {
            let stays = if side == 0 { edge.left } else { edge.right };
            let stays = if members.contains(&stays) { stays } else { edge.left ^ edge.right ^ stays };
            let may_go = |member: &&Id| **member != stays && !self.joins.contains_key(*member);
            let candidates: Vec<Id> = members.iter().filter(may_go).copied().collect();
            for member in &candidates {
                let rest = weights.iter().filter(|((x, y), _)| x != member && y != member);
                // `None`: somebody else objects, too.
                let gained: Option<f64> = rest.map(|(_, weight)| *weight).sum();
                let Some(gained) = gained else { continue };
                let lost: f64 = members
                    .iter()
                    .filter(|other| *other != member)
                    .map(|other| self.weigh(*member, *other).unwrap_or(-MOST_BITS))
                    .sum();
                let gain = gained - lost;
                if gain > 0.0 && gained > 0.0 && best.is_none_or(|(most, one)| (gain, one) > (most, *member))
                {
                    best = Some((gain, *member));
                }
            }
        }
        let Some((_, member)) = best else { return false };
        self.take_out(member);
        let (a, b) = (self.root(edge.left), self.root(edge.right));
        self.unite(a, b);
        true
    }

    /// What a pair weighs in a union; `None` where it is forbidden.
    fn weigh(&mut self, x: Id, y: Id) -> Option<f64> {
        self.looked += 1;
        match (self.across)(x, y) {
            Across::Veto(_) => None,
            Across::Weight(weight) => Some(weight.clamp(-MOST_BITS, MOST_BITS)),
        }
    }
}

/// Members spread over the whole group, in order.
fn sample(mut members: Vec<Id>) -> Vec<Id> {
    members.sort_unstable();
    if members.len() <= MOST_ACROSS {
        return members;
    }
    let step = members.len() as f64 / MOST_ACROSS as f64;
    (0..MOST_ACROSS).filter_map(|at| members.get((at as f64 * step) as usize).copied()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RECORDS: u32 = 12;

    fn edges(pairs: &[(u32, u32, u8)]) -> Vec<Edge> {
        let mut edges: Vec<Edge> = pairs
            .iter()
            .filter(|(left, right, _)| left != right)
            .map(|(left, right, weight)| Edge {
                left: *left.min(right),
                right: *left.max(right),
                vector: 0,
                weight: f64::from(*weight),
            })
            .collect();
        edges.sort_unstable_by_key(|edge| (edge.left, edge.right));
        edges.dedup_by_key(|edge| (edge.left, edge.right));
        edges
    }

    fn pairs() -> impl Strategy<Value = Vec<(u32, u32, u8)>> {
        prop::collection::vec((0..RECORDS, 0..RECORDS, 1..5_u8), 0..30)
    }

    proptest! {
        #[test]
        fn without_objections_groups_are_the_connected_components(pairs in pairs()) {
            let mut edges = edges(&pairs);
            let mut naive: Vec<u32> = (0..RECORDS).collect();
            for _ in 0..RECORDS {
                for edge in &edges {
                    let least = naive[edge.left as usize].min(naive[edge.right as usize]);
                    naive[edge.left as usize] = least;
                    naive[edge.right as usize] = least;
                }
            }
            let found = cluster(RECORDS as usize, &mut edges, &Decisions::default(), &mut |_, _| Across::Weight(1.0));
            prop_assert_eq!(found.of, naive);
        }

        #[test]
        fn no_group_holds_a_forbidden_pair_and_order_does_not_matter(
            pairs in pairs(),
            vetoes in prop::collection::btree_set((0..RECORDS, 0..RECORDS), 0..8),
            nevers in prop::collection::vec((0..RECORDS, 0..RECORDS), 0..5),
        ) {
            let forbidden = |left: u32, right: u32| vetoes.contains(&(left, right)) || vetoes.contains(&(right, left));
            let mut edges = edges(&pairs);
            edges.retain(|edge| !forbidden(edge.left, edge.right));
            let mut decisions = Decisions::default();
            nevers.iter().for_each(|(left, right)| decisions.never(*left, *right));
            let mut across = |left: u32, right: u32| {
                if forbidden(left, right) { Across::Veto("veto".into()) } else { Across::Weight(1.0) }
            };
            let found = cluster(RECORDS as usize, &mut edges, &decisions, &mut across);
            for left in 0..RECORDS {
                for right in left + 1..RECORDS {
                    let together = found.of[left as usize] == found.of[right as usize];
                    let never = nevers.contains(&(left, right)) || nevers.contains(&(right, left));
                    prop_assert!(!(together && (forbidden(left, right) || never)));
                }
            }
            edges.reverse();
            let again = cluster(RECORDS as usize, &mut edges, &decisions, &mut across);
            prop_assert_eq!(found, again);
        }
    }

    #[test]
    fn a_chance_likeness_does_not_chain_two_groups() {
        // 0-1-2 and 3-4-5 hang together; 2 and 3 are alike, all others across are not.
        let mut edges = edges(&[(0, 1, 9), (1, 2, 9), (0, 2, 9), (3, 4, 9), (4, 5, 9), (3, 5, 9), (2, 3, 3)]);
        let mut across = |left: Id, right: Id| {
            Across::Weight(if (left < 3) == (right < 3) {
                9.0
            } else if (left, right) == (2, 3) {
                3.0
            } else {
                -8.0
            })
        };
        let found = cluster(6, &mut edges, &Decisions::default(), &mut across);
        assert_eq!(found.of, [0, 0, 0, 3, 3, 3]);
        assert_eq!(found.refused.len(), 1);
        assert_eq!(found.refused[0].reason, Reason::Against);
    }
}
