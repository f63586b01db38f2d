//! Numbers for terms: every term that a query or a graph names is compared as one integer.
//!
//! Terms of the queries come first and keep their number from graph to graph. Those of the graph in
//! hand follow. What an expression makes is numbered apart, as it is rarely compared with anything.

use oxrdf::{LiteralRef, NamedNodeRef, NamedOrBlankNodeRef, Term, TermRef};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;

/// The number of a term, valid for one graph; constants of the queries have the same in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id(pub u32);

impl Id {
    /// No term: what a variable without a value holds.
    pub const UNBOUND: Self = Self(u32::MAX);
    /// A term that no triple of the graph has.
    pub const NOWHERE: Self = Self(u32::MAX - 1);
    /// Numbers from here on count what expressions made.
    const FIRST_MADE: u32 = 1 << 31;

    /// The number of what an expression made, by its place among these.
    pub fn made(place: usize) -> Self {
        Self(Self::FIRST_MADE | u32::try_from(place).unwrap_or(Self::FIRST_MADE - 3))
    }

    /// The place among what expressions made, if it is one of these.
    pub fn place_made(self) -> Option<usize> {
        (self.0 >= Self::FIRST_MADE && self < Self::NOWHERE).then_some((self.0 & !Self::FIRST_MADE) as usize)
    }

    pub fn is_bound(self) -> bool {
        self != Self::UNBOUND
    }

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The terms that the queries name.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    terms: Vec<Term>,
    ids: FxHashMap<Term, Id>,
}

impl Constants {
    /// The number of a term, which is given one if it has none.
    pub fn id(&mut self, term: impl Into<Term>) -> Id {
        let term = term.into();
        if let Some(id) = self.ids.get(&term) {
            return *id;
        }
        let id = Id(u32::try_from(self.terms.len()).unwrap_or(Id::FIRST_MADE - 1));
        self.terms.push(term.clone());
        self.ids.insert(term, id);
        id
    }

    pub fn len(&self) -> usize {
        self.terms.len()
    }

    pub fn term(&self, id: Id) -> Option<TermRef<'_>> {
        self.terms.get(id.index()).map(Term::as_ref)
    }

    pub fn iter(&self) -> impl Iterator<Item = TermRef<'_>> {
        self.terms.iter().map(Term::as_ref)
    }
}

/// The hash of a term by its text; terms of one text and different kinds may share it.
pub(crate) fn hash(term: TermRef<'_>) -> u32 {
    let text = match term {
        TermRef::NamedNode(node) => node.as_str(),
        TermRef::BlankNode(node) => node.as_str(),
        TermRef::Literal(literal) => literal.value(),
    };
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    // The upper half: FxHash mixes into the high bits.
    let hash = hasher.finish();
    (hash ^ (hash >> 32)) as u32
}

/// Whether two terms are the same, with the shortest comparison first.
pub(crate) fn same(left: TermRef<'_>, right: TermRef<'_>) -> bool {
    match (left, right) {
        (TermRef::NamedNode(left), TermRef::NamedNode(right)) => left.as_str() == right.as_str(),
        (TermRef::Literal(left), TermRef::Literal(right)) => {
            left.value() == right.value() && same_kind(left, right)
        }
        (TermRef::BlankNode(left), TermRef::BlankNode(right)) => left == right,
        _ => false,
    }
}

fn same_kind(left: LiteralRef<'_>, right: LiteralRef<'_>) -> bool {
    left.language() == right.language() && left.datatype() == right.datatype()
}

/// The subject of a triple as a term.
pub(crate) fn subject(subject: NamedOrBlankNodeRef<'_>) -> TermRef<'_> {
    match subject {
        NamedOrBlankNodeRef::NamedNode(node) => TermRef::NamedNode(node),
        NamedOrBlankNodeRef::BlankNode(node) => TermRef::BlankNode(node),
    }
}

/// A name as a term.
pub(crate) fn name(node: NamedNodeRef<'_>) -> TermRef<'_> {
    TermRef::NamedNode(node)
}
