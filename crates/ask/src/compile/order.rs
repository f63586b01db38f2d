//! Puts the parts of groups in order and each filter as early as it may stand.
//!
//! There are no statistics. A pattern with more known places gives fewer rows, and of a record the
//! patterns that start from the graph's own name give very few: that is all the order goes by.

use super::group::{Group, Part, Slots, Tail, mentioned};
use super::nothing_to_do;
use crate::expression::Expr;
use crate::plan::{Branch, Place, Scan, Slot, Step};
use crate::term::Id;

pub(super) struct Order {
    /// The groups of `EXISTS` that are not ordered yet.
    groups: Vec<Group>,
    branches: Vec<Branch>,
    any_predicate: bool,
    /// Variables that have no values but those of a table before.
    given: Vec<Slot>,
}

/// How soon a part should be joined: the less, the sooner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// It only tells whether the row may stay.
    Check,
    /// It follows from what is known.
    Follow,
    FollowBack,
    /// It is short.
    Union,
    Values,
    Open,
    /// Any triple of the graph.
    Anything,
    /// A table that has nothing to do with the rest.
    Product,
}

impl Order {
    pub fn new(exists: Vec<Group>) -> Self {
        let branches = exists.iter().map(|_| nothing_to_do()).collect();
        Self { groups: exists, branches, any_predicate: false, given: Vec::new() }
    }

    /// What `EXISTS` asks, and whether any pattern has to look at all triples.
    pub fn finish(self) -> (Vec<Branch>, bool) {
        (self.branches, self.any_predicate)
    }

    /// The steps of a group, where these variables are known in every row.
    pub fn branch(&mut self, group: Group, known: &Slots) -> Branch {
        let Group { mut parts, tail } = group;
        let needs = needs(&parts);
        let mut items: Vec<Item> = Vec::new();
        let mut certain = known.clone();
        while !parts.is_empty() {
            let next =
                (0..parts.len()).min_by_key(|at| parts.get(*at).map(|part| rank(part, &certain, &parts)));
            let part = parts.remove(next.unwrap_or(0));
            part.certain(&mut certain);
            // The name of the graph need not be looked at twice.
            if let Part::InGraph(place) = part
                && items
                    .iter()
                    .any(|item| matches!(item, Item::Part(Part::InGraph(other)) if *other == place))
            {
                continue;
            }
            items.push(Item::Part(part));
        }
        // Filters go to the first place where all that they read is decided.
        let mut filters: Vec<(usize, Expr)> = Vec::new();
        for tail in tail {
            match tail {
                Tail::Filter(condition) => {
                    let at = self.place(&condition, &items, known);
                    filters.push((at, condition));
                }
                other => items.push(Item::Tail(other)),
            }
        }
        filters.sort_by_key(|(at, condition)| (*at, condition.cost()));
        let mut filters = filters.into_iter().peekable();
        let mut certain = known.clone();
        let mut steps = Vec::new();
        let given = self.given.len();
        for (at, item) in items.into_iter().map(Some).chain([None]).enumerate() {
            while let Some((_, condition)) = filters.next_if(|(place, _)| *place <= at) {
                steps.push(self.filter(condition, &certain));
            }
            match item {
                Some(Item::Part(part)) => {
                    let step_known = certain.clone();
                    part.certain(&mut certain);
                    steps.push(self.part(part, &step_known));
                }
                Some(Item::Tail(tail)) => {
                    let step_known = certain.clone();
                    tail.certain(&mut certain);
                    steps.extend(self.tail(tail, &step_known));
                }
                None => {}
            }
        }
        self.given.truncate(given);
        Branch { needs, steps }
    }

    /// The first place among the items before which a filter may stand: everything that it reads is
    /// bound by then, or nothing that comes later could bind it.
    fn place(&self, condition: &Expr, items: &[Item], known: &Slots) -> usize {
        let mut reads = Slots::new();
        mentioned(condition, &self.groups, &mut reads);
        let mut certain = known.clone();
        for at in 0..items.len() {
            let mut later = Slots::new();
            items.iter().skip(at).for_each(|item| item.possible(&mut later));
            if reads.iter().all(|slot| certain.contains(slot) || !later.contains(slot)) {
                return at;
            }
            if let Some(item) = items.get(at) {
                item.certain(&mut certain);
            }
        }
        items.len()
    }

    fn part(&mut self, part: Part, known: &Slots) -> Step {
        match part {
            Part::Nothing => Step::Nothing,
            Part::InGraph(place) => Step::InGraph(place),
            Part::Scan(scan) => {
                self.any_predicate |=
                    matches!(scan.predicate, Place::Slot(slot) if !self.given.contains(&slot));
                Step::Scan(scan)
            }
            Part::Values(values) => {
                self.given.extend(values.full_columns());
                Step::Values(values)
            }
            Part::Union(branches) => {
                Step::Union(branches.into_iter().map(|branch| self.branch(branch, known)).collect())
            }
        }
    }

    fn tail(&mut self, tail: Tail, known: &Slots) -> Option<Step> {
        Some(match tail {
            Tail::Filter(condition) => self.filter(condition, known),
            Tail::Bind(slot, expression) => {
                self.order_exists(&expression, known);
                Step::Bind(slot, expression)
            }
            Tail::Optional(group) => Step::Optional(self.branch(group, known)),
            Tail::Minus(group, pairs) => Step::Minus { branch: self.branch(group, &Slots::new()), pairs },
        })
    }

    fn filter(&mut self, condition: Expr, known: &Slots) -> Step {
        self.order_exists(&condition, known);
        let (number, wanted) = match &condition {
            Expr::Exists(number) => (*number, true),
            Expr::Not(inner) => match &**inner {
                Expr::Exists(number) => (*number, false),
                _ => return Step::Filter(condition),
            },
            _ => return Step::Filter(condition),
        };
        match self.branches.get_mut(number) {
            Some(branch) => Step::Exists { branch: std::mem::replace(branch, nothing_to_do()), wanted },
            None => Step::Filter(condition),
        }
    }

    /// Orders the groups of `EXISTS` in an expression.
    fn order_exists(&mut self, expression: &Expr, known: &Slots) {
        let mut numbers = Vec::new();
        expression.visit(&mut |mention| {
            if let crate::expression::Mention::Exists(number) = mention {
                numbers.push(number);
            }
        });
        for number in numbers {
            let Some(group) = self.groups.get_mut(number).map(std::mem::take) else { continue };
            let branch = self.branch(group, known);
            if let Some(place) = self.branches.get_mut(number) {
                *place = branch;
            }
        }
    }
}

/// What stands in order: all but filters.
enum Item {
    Part(Part),
    Tail(Tail),
}

impl Item {
    fn possible(&self, into: &mut Slots) {
        match self {
            Self::Part(part) => part.possible(into),
            Self::Tail(tail) => tail.possible(into),
        }
    }

    fn certain(&self, into: &mut Slots) {
        match self {
            Self::Part(part) => part.certain(into),
            Self::Tail(tail) => tail.certain(into),
        }
    }
}

fn rank(part: &Part, known: &Slots, others: &[Part]) -> Rank {
    match part {
        Part::Nothing | Part::InGraph(_) => Rank::Check,
        Part::Scan(scan) => scan_rank(scan, known, others),
        Part::Values(values) => {
            let mut joined = Slots::new();
            others
                .iter()
                .filter(|other| !std::ptr::eq(*other, part))
                .for_each(|other| other.possible(&mut joined));
            match values.slots.iter().filter(|slot| known.contains(slot)).count() {
                count if count == values.slots.len() => Rank::Check,
                0 if values.rows.len() < 2 => Rank::Follow,
                0 if values.slots.iter().any(|slot| joined.contains(slot)) => Rank::Values,
                0 => Rank::Product,
                _ => Rank::Follow,
            }
        }
        Part::Union(_) => Rank::Union,
    }
}

fn scan_rank(scan: &Scan, known: &Slots, others: &[Part]) -> Rank {
    let is_known = |place: Place| match place {
        Place::Term(_) => true,
        Place::Slot(slot) => known.contains(&slot),
    };
    if let Place::Slot(predicate) = scan.predicate
        && !known.contains(&predicate)
    {
        let given = others
            .iter()
            .any(|part| matches!(part, Part::Values(values) if values.slots.contains(&predicate)));
        return match (given, is_known(scan.subject) || is_known(scan.object)) {
            (false, true) => Rank::Open,
            _ => Rank::Anything,
        };
    }
    match (is_known(scan.subject), is_known(scan.object)) {
        (true, true) => Rank::Check,
        (true, false) => Rank::Follow,
        (false, true) => Rank::FollowBack,
        (false, false) => Rank::Open,
    }
}

/// Predicates without which a group has no answer.
fn needs(parts: &[Part]) -> Vec<Id> {
    let mut needs: Vec<Id> = Vec::new();
    // The patterns at the end are mostly those that set the group apart.
    for part in parts.iter().rev() {
        match part {
            Part::Scan(Scan { predicate: Place::Term(id), .. }) if !needs.contains(id) => needs.push(*id),
            Part::Union(branches) => {
                let mut common: Option<Vec<Id>> = None;
                for branch in branches {
                    let of_branch = self::needs(&branch.parts);
                    common = Some(match common {
                        None => of_branch,
                        Some(common) => common.into_iter().filter(|id| of_branch.contains(id)).collect(),
                    });
                }
                needs.extend(common.unwrap_or_default());
            }
            _ => {}
        }
    }
    needs
}
