//! Compiled expressions, and what is known of them before any row.

use crate::plan::Slot;
use crate::regexes::Matcher;
use crate::term::Id;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

#[derive(Debug)]
pub(crate) enum Expr {
    Slot(Slot),
    Constant(Id),
    /// An integer, read once.
    Integer(i64, Id),
    Or(Vec<Expr>),
    And(Vec<Expr>),
    Not(Box<Expr>),
    Equal(Box<[Expr; 2]>),
    SameTerm(Box<[Expr; 2]>),
    Compare(Comparison, Box<[Expr; 2]>),
    In(Box<Expr>, Vec<Expr>),
    /// By number in [`Plan::exists`](crate::plan::Plan::exists).
    Exists(usize),
    Bound(Slot),
    If(Box<[Expr; 3]>),
    Coalesce(Vec<Expr>),
    /// A function of texts that is computed here.
    Text(TextFunction, Vec<Expr>),
    Kind(Kind, Box<Expr>),
    Regex(Box<Expr>, Pattern),
    /// Text, pattern, replacement.
    Replace(Box<Expr>, Pattern, Box<Expr>),
    /// Anything else: spareval computes it from the values of its arguments, which are `?a0`, `?a1`…
    Other(Box<sparopt::algebra::Expression>, Vec<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextFunction {
    Str,
    Lang,
    LangMatches,
    Datatype,
    Concat,
    SubStr,
    StrLen,
    UCase,
    LCase,
    EncodeForUri,
    Contains,
    StrStarts,
    StrEnds,
    StrBefore,
    StrAfter,
}

/// What a term may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Iri,
    Blank,
    Literal,
}

/// The pattern of a regular expression.
#[derive(Debug)]
pub(crate) enum Pattern {
    /// One and the same for all rows; none if it is not valid.
    Fixed(Option<Box<Matcher>>),
    /// One that depends on the row. Those that `VALUES` gives to the variable are compiled before.
    Varying { pattern: Box<Expr>, flags: Option<Box<Expr>>, known: FxHashMap<Id, Option<Matcher>> },
}

impl Expr {
    /// Calls with every variable and every number of an `EXISTS` in it.
    pub fn visit(&self, each: &mut dyn FnMut(Mention)) {
        match self {
            Self::Slot(slot) | Self::Bound(slot) => each(Mention::Slot(*slot)),
            Self::Constant(_) | Self::Integer(..) => {}
            Self::Exists(number) => each(Mention::Exists(*number)),
            Self::Or(inner)
            | Self::And(inner)
            | Self::Coalesce(inner)
            | Self::Text(_, inner)
            | Self::Other(_, inner) => inner.iter().for_each(|inner| inner.visit(each)),
            Self::Not(inner) | Self::Kind(_, inner) => inner.visit(each),
            Self::Equal(pair) | Self::SameTerm(pair) | Self::Compare(_, pair) => {
                pair.iter().for_each(|inner| inner.visit(each));
            }
            Self::In(wanted, list) => {
                wanted.visit(each);
                list.iter().for_each(|inner| inner.visit(each));
            }
            Self::If(three) => three.iter().for_each(|inner| inner.visit(each)),
            Self::Regex(text, pattern) => {
                text.visit(each);
                pattern.visit(each);
            }
            Self::Replace(text, pattern, replacement) => {
                text.visit(each);
                pattern.visit(each);
                replacement.visit(each);
            }
        }
    }

    /// Whether spareval passes terms through as they are: it rewrites what it computes, so that
    /// `"01"^^xsd:integer` becomes `"1"^^xsd:integer`.
    pub fn keeps_terms(&self) -> bool {
        match self {
            Self::Slot(_) | Self::Constant(_) | Self::Integer(..) => true,
            Self::Coalesce(inner) => inner.iter().all(Self::keeps_terms),
            Self::If(three) => {
                let [_, yes, no] = &**three;
                yes.keeps_terms() && no.keeps_terms()
            }
            _ => false,
        }
    }

    /// Takes the branch of an `IF` that asks whether a variable is bound, where that is certain.
    /// Spareval does so, too, and then rewrites no terms on account of the other branch.
    pub fn decided(self, certain: &Slots, possible: &Slots) -> Self {
        match self {
            Self::If(three) => {
                let [condition, yes, no] = *three;
                let [yes, no] = [yes, no].map(|inner| inner.decided(certain, possible));
                match condition {
                    Self::Bound(slot) if certain.contains(&slot) => yes,
                    Self::Bound(slot) if !possible.contains(&slot) => no,
                    condition => Self::If(Box::new([condition, yes, no])),
                }
            }
            Self::Coalesce(inner) => {
                Self::Coalesce(inner.into_iter().map(|inner| inner.decided(certain, possible)).collect())
            }
            other => other,
        }
    }

    /// Whether it has a value in every row.
    pub fn never_fails(&self) -> bool {
        matches!(self, Self::Constant(_) | Self::Integer(..) | Self::Bound(_) | Self::Exists(_))
    }

    /// A rough rank of what it costs, to try the cheap filters first.
    pub fn cost(&self) -> u32 {
        let mut cost = 1;
        self.visit(&mut |mention| cost += if matches!(mention, Mention::Exists(_)) { 4 } else { 1 });
        cost + if self.has_pattern() { 20 } else { 0 }
    }

    fn has_pattern(&self) -> bool {
        match self {
            Self::Regex(..) | Self::Replace(..) | Self::Other(..) => true,
            Self::Or(inner) | Self::And(inner) | Self::Coalesce(inner) | Self::Text(_, inner) => {
                inner.iter().any(Self::has_pattern)
            }
            Self::Not(inner) => inner.has_pattern(),
            Self::Equal(pair) | Self::SameTerm(pair) | Self::Compare(_, pair) => {
                pair.iter().any(Self::has_pattern)
            }
            Self::If(three) => three.iter().any(Self::has_pattern),
            _ => false,
        }
    }
}

impl Pattern {
    fn visit(&self, each: &mut dyn FnMut(Mention)) {
        if let Self::Varying { pattern, flags, .. } = self {
            pattern.visit(each);
            if let Some(flags) = flags {
                flags.visit(each);
            }
        }
    }
}

/// What an expression mentions.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Mention {
    Slot(Slot),
    Exists(usize),
}

/// A set of variables.
pub(crate) type Slots = BTreeSet<Slot>;
