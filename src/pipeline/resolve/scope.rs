//! Which pairs does a truth say anything about?
//!
//! Precision is the share of right ones among these, so pairs that a truth is silent about must not
//! be counted as wrong.

use super::entities::{Entities, Number};
use super::entity::Kind;
use super::truth::Truth;
use rustc_hash::{FxHashMap, FxHashSet};

/// Which pairs a truth says anything about.
pub(super) enum Scope<'a> {
    /// Those of the things it knows.
    Known(&'a FxHashMap<Number, u32>),
    /// Those it names.
    Named(FxHashSet<(Number, Number)>),
    /// All of some sources; where it names each time one of some sources and one of others, only such.
    Sources { entities: &'a Entities, kind: Kind, left: FxHashSet<&'a str>, right: FxHashSet<&'a str> },
}

impl<'a> Scope<'a> {
    pub fn of(truth: &'a Truth, entities: &'a Entities, kind: Kind) -> Self {
        match truth {
            Truth::Groups(of) => Self::Known(of),
            Truth::Pairs(pairs) => Self::Named(
                pairs.iter().map(|(left, right, _)| (*left.min(right), *left.max(right))).collect(),
            ),
            Truth::Matches(pairs) => {
                let source = |number: Number| entities.name(number).0;
                let left: FxHashSet<&str> = pairs.iter().map(|pair| source(pair.0)).collect();
                let right: FxHashSet<&str> = pairs.iter().map(|pair| source(pair.1)).collect();
                let kind = if kind == Kind::Hub { Kind::Work } else { kind };
                if left.is_disjoint(&right) {
                    return Self::Sources { entities, kind, left, right };
                }
                let all: FxHashSet<&str> = left.union(&right).copied().collect();
                Self::Sources { entities, kind, left: all.clone(), right: all }
            }
        }
    }

    /// The things that occur in such pairs.
    pub fn things(&self) -> Vec<Number> {
        let mut things: Vec<Number> = match self {
            Self::Known(of) => of.keys().copied().collect(),
            Self::Named(pairs) => pairs.iter().flat_map(|(left, right)| [*left, *right]).collect(),
            Self::Sources { entities, kind, left, right } => (0..entities.len() as Number)
                .filter(|number| entities.kind(*number) == *kind)
                .filter(|number| {
                    let source = entities.name(*number).0;
                    left.contains(source) || right.contains(source)
                })
                .collect(),
        };
        things.sort_unstable();
        things.dedup();
        things
    }

    /// Whether it says anything about two things.
    pub fn about(&self, one: Number, other: Number) -> bool {
        match self {
            Self::Known(of) => of.contains_key(&one) && of.contains_key(&other),
            Self::Named(pairs) => pairs.contains(&(one.min(other), one.max(other))),
            Self::Sources { entities, left, right, .. } => {
                let (one, other) = (entities.name(one).0, entities.name(other).0);
                left.contains(one) && right.contains(other) || left.contains(other) && right.contains(one)
            }
        }
    }
}
