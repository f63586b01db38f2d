//! Groups: parts that are joined in any order, and then what has to follow in the given order.
//!
//! Join, filter, `BIND` and `OPTIONAL` of the algebra nest; a group has them flat, so that patterns
//! from both sides of a join can be put in one good order. Flattening hands the row of one side to
//! the other, so it must be asked first whether that is [safe](Group::is_safe_under).

pub(super) use crate::expression::Slots;
use crate::expression::{Expr, Mention};
use crate::plan::{Pair, Place, Scan, Slot, Values};

#[derive(Debug, Default)]
pub(super) struct Group {
    pub parts: Vec<Part>,
    pub tail: Vec<Tail>,
}

/// What may be joined in any order.
#[derive(Debug)]
pub(super) enum Part {
    Nothing,
    InGraph(Place),
    Scan(Scan),
    Values(Values),
    Union(Vec<Group>),
}

/// What follows in order.
#[derive(Debug)]
pub(super) enum Tail {
    Filter(Expr),
    Bind(Slot, Expr),
    Optional(Group),
    /// A group of its own variables, and how they pair with those outside.
    Minus(Group, Vec<Pair>),
}

/// The groups of `EXISTS`, by number.
pub(super) type Exists = [Group];

impl Part {
    /// Variables that it may bind.
    pub fn possible(&self, into: &mut Slots) {
        match self {
            Self::Nothing => {}
            Self::InGraph(place) => add(*place, into),
            Self::Scan(scan) => {
                for place in [scan.subject, scan.predicate, scan.object] {
                    add(place, into);
                }
            }
            Self::Values(values) => into.extend(&values.slots),
            Self::Union(branches) => branches.iter().for_each(|branch| into.extend(branch.possible())),
        }
    }

    /// Variables that it binds in every row.
    pub fn certain(&self, into: &mut Slots) {
        match self {
            Self::Nothing | Self::InGraph(_) | Self::Scan(_) => self.possible(into),
            Self::Values(values) => into.extend(values.full_columns()),
            Self::Union(branches) => {
                let common = branches
                    .iter()
                    .map(Group::certain)
                    .reduce(|left, right| left.intersection(&right).copied().collect());
                into.extend(common.unwrap_or_default());
            }
        }
    }
}

impl Tail {
    /// Variables that it may bind.
    pub fn possible(&self, into: &mut Slots) {
        match self {
            Self::Filter(_) | Self::Minus(..) => {}
            Self::Bind(slot, _) => {
                into.insert(*slot);
            }
            Self::Optional(group) => into.extend(group.possible()),
        }
    }

    /// Variables that it binds in every row.
    pub fn certain(&self, into: &mut Slots) {
        if let Self::Bind(slot, expression) = self
            && expression.never_fails()
        {
            into.insert(*slot);
        }
    }

    /// Variables that decide what it does.
    pub fn reads(&self, exists: &Exists) -> Slots {
        let mut slots = Slots::new();
        match self {
            Self::Filter(expression) | Self::Bind(_, expression) => mentioned(expression, exists, &mut slots),
            Self::Optional(group) => group.mentions(exists, &mut slots),
            Self::Minus(_, pairs) => slots.extend(pairs.iter().map(|pair| pair.outer)),
        }
        slots
    }
}

impl Group {
    pub fn of(part: Part) -> Self {
        Self { parts: vec![part], tail: Vec::new() }
    }

    /// Variables that it may bind.
    pub fn possible(&self) -> Slots {
        let mut slots = Slots::new();
        self.parts.iter().for_each(|part| part.possible(&mut slots));
        self.tail.iter().for_each(|tail| tail.possible(&mut slots));
        slots
    }

    /// Variables that it binds in every row.
    pub fn certain(&self) -> Slots {
        let mut slots = Slots::new();
        self.parts.iter().for_each(|part| part.certain(&mut slots));
        self.tail.iter().for_each(|tail| tail.certain(&mut slots));
        slots
    }

    /// Variables that stand anywhere in it.
    pub fn mentions(&self, exists: &Exists, into: &mut Slots) {
        for part in &self.parts {
            match part {
                Part::Union(branches) => branches.iter().for_each(|branch| branch.mentions(exists, into)),
                part => part.possible(into),
            }
        }
        for tail in &self.tail {
            tail.possible(into);
            into.extend(tail.reads(exists));
        }
    }

    /// Whether it may be evaluated with these variables bound, instead of by itself and then joined:
    /// whether no filter, `BIND`, `OPTIONAL` or `MINUS` in it would see a value that it should not.
    pub fn is_safe_under(&self, outer: &Slots, exists: &Exists) -> bool {
        let mut certain = Slots::new();
        for part in &self.parts {
            part.certain(&mut certain);
            if let Part::Union(branches) = part
                && !branches.iter().all(|branch| branch.is_safe_under(outer, exists))
            {
                return false;
            }
        }
        for tail in &self.tail {
            if tail.reads(exists).iter().any(|slot| outer.contains(slot) && !certain.contains(slot)) {
                return false;
            }
            match tail {
                Tail::Optional(group) if !group.is_safe_under(outer, exists) => return false,
                // Spareval takes what is bound around it for shared. That is the same only where a
                // variable is shared anyway.
                Tail::Minus(group, pairs) => {
                    let inner = group.certain();
                    let shares = |pair: &Pair| certain.contains(&pair.outer) && inner.contains(&pair.inner);
                    if !outer.is_empty() && !pairs.iter().any(shares) {
                        return false;
                    }
                }
                _ => {}
            }
            tail.certain(&mut certain);
        }
        true
    }
}

fn add(place: Place, into: &mut Slots) {
    if let Place::Slot(slot) = place {
        into.insert(slot);
    }
}

/// Variables of an expression, those inside `EXISTS` too.
pub(super) fn mentioned(expression: &Expr, exists: &Exists, into: &mut Slots) {
    expression.visit(&mut |mention| match mention {
        Mention::Slot(slot) => {
            into.insert(slot);
        }
        Mention::Exists(number) => {
            if let Some(group) = exists.get(number) {
                group.mentions(exists, into);
            }
        }
    });
}
