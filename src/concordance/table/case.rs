//! Partial evaluation: what an expression may give when tag, indicators and the subfield at
//! hand are known and the texts are not.

use super::rules::{expr_of, given_name, name_of};
use crate::concordance::codes::{CodeList, OnMissing};
use crate::concordance::expression::{visit, visit_list};
use crate::concordance::program::{Compare, Each, Expr, Function, Given, List, Rule, Step};
use crate::concordance::selector::{Alternative, Condition, Key, Tag};
use std::collections::BTreeSet;

/// What is known of a field. What no part of the template asks for stays open.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Case {
    /// Which alternative of the selector.
    pub alternative: Option<usize>,
    /// The tag of the field around an embedded one.
    pub outer: Option<String>,
    pub tag: Option<String>,
    pub ind1: Option<char>,
    pub ind2: Option<char>,
    pub code: Option<String>,
}

/// A value that an expression may give.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Known {
    Text(String),
    Iri(String),
    /// `work`, `instance` …
    Thing(String),
}

impl Known {
    fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Iri(text) | Self::Thing(text) => text,
        }
    }

    pub(super) fn notation(&self) -> String {
        match self {
            Self::Text(text) => format!("“{text}”"),
            Self::Iri(iri) => name_of(iri),
            Self::Thing(name) => name.clone(),
        }
    }
}

/// An expression of a rule.
pub(super) enum Facts<'r> {
    Of(&'r Rule, &'r Expr),
    Nothing,
}

/// The cases a rule distinguishes by these expressions.
pub(super) fn cases(rule: &Rule, by: &[Facts<'_>]) -> Vec<Case> {
    let asked: Vec<Given> = by.iter().flat_map(Facts::asks).collect();
    let mut cases = Vec::new();
    for (index, alternative) in rule.selector.alternatives.iter().enumerate() {
        let tags: Vec<Option<String>> = match tags(alternative).filter(|_| asked.contains(&Given::Tag)) {
            Some(tags) => tags.into_iter().map(Some).collect(),
            None => vec![None],
        };
        let outers: Vec<Option<String>> =
            match outer_tags(alternative).filter(|_| asked.contains(&Given::Outer)) {
                Some(tags) => tags.into_iter().map(Some).collect(),
                None => vec![None],
            };
        let [first, second] = [(Given::Ind1, Key::Ind1), (Given::Ind2, Key::Ind2)].map(|(ask, key)| {
            if asked.contains(&ask) {
                indicators(alternative, &key).into_iter().map(Some).collect()
            } else {
                vec![None]
            }
        });
        let codes: Vec<Option<String>> = match &rule.each {
            Some(Each::Codes(codes)) if asked.contains(&Given::Code) => {
                codes.chars().map(|code| Some(code.to_string())).collect()
            }
            _ => vec![None],
        };
        let fields = outers.iter().flat_map(|outer| tags.iter().map(move |tag| (outer, tag)));
        let marks = first.iter().flat_map(|ind1| second.iter().map(move |ind2| (*ind1, *ind2)));
        for ((outer, tag), (ind1, ind2), code) in fields
            .flat_map(|field| marks.clone().map(move |mark| (field, mark)))
            .flat_map(|(field, mark)| codes.iter().map(move |code| (field, mark, code)))
        {
            cases.push(Case {
                alternative: Some(index),
                outer: outer.clone(),
                tag: tag.clone(),
                ind1,
                ind2,
                code: code.clone(),
            });
        }
    }
    cases
}

/// The tags an alternative stands for; of an embedded field those inside.
pub(super) fn tags(alternative: &Alternative) -> Option<Vec<String>> {
    tags_of(alternative.embedded.as_ref().unwrap_or(&alternative.tag))
}

/// The tags around an embedded field.
pub(super) fn outer_tags(alternative: &Alternative) -> Option<Vec<String>> {
    alternative.embedded.as_ref().and_then(|_| tags_of(&alternative.tag))
}

fn tags_of(tag: &Tag) -> Option<Vec<String>> {
    match tag {
        Tag::Record => None,
        Tag::Leader | Tag::Path(_) => tag.exact().map(|tag| vec![tag]),
        Tag::Pattern(pattern) => {
            let mut tags = vec![String::new()];
            for set in pattern {
                let digits = (0..10).filter(|digit| set >> digit & 1 == 1);
                let digits: Vec<char> = digits.filter_map(|digit| char::from_digit(digit, 10)).collect();
                tags = tags.iter().flat_map(|tag| digits.iter().map(move |d| format!("{tag}{d}"))).collect();
            }
            Some(tags)
        }
    }
}

/// The values an indicator may have.
pub(super) fn indicators(alternative: &Alternative, key: &Key) -> Vec<char> {
    let conditions: Vec<&Condition> = alternative.conditions.iter().filter(|c| c.key == *key).collect();
    let fits = |value: &char| {
        conditions.iter().all(|condition| {
            condition.values.iter().any(|known| known.starts_with(*value)) != condition.negated
        })
    };
    " 0123456789".chars().filter(fits).collect()
}

impl<'r> Facts<'r> {
    pub(super) fn of(rule: &'r Rule, expr: &'r Expr) -> Self {
        Self::Of(rule, expr)
    }

    pub(super) fn of_slot(rule: &'r Rule, slot: usize) -> Self {
        let listed = rule.steps.iter().find_map(|step| match step {
            Step::Values {
                slot: bound,
                list: List::Single(expr, _) | List::PerSubfield { expr, .. },
                ..
            } if *bound == slot => Some(expr),
            _ => None,
        });
        expr_of(rule, slot).or(listed).map_or(Self::Nothing, |expr| Self::Of(rule, expr))
    }

    /// Which parts of a case matter.
    fn asks(&self) -> Vec<Given> {
        let Self::Of(rule, expr) = self else { return Vec::new() };
        let mut asked = Vec::new();
        let mut waiting = vec![*expr];
        let mut seen = BTreeSet::new();
        while let Some(expr) = waiting.pop() {
            visit(expr, &mut |part| match part {
                Expr::Given(given) => asked.push(*given),
                Expr::Slot(slot) if seen.insert(*slot) => {
                    for step in &rule.steps {
                        match step {
                            Step::Bind { slot: bound, expr, .. } if bound == slot => waiting.push(expr),
                            Step::Values { slot: bound, list, .. } if bound == slot => {
                                visit_list(list, &mut |inner| waiting.push(inner));
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            });
        }
        asked
    }

    /// The values the expression may give.
    pub(super) fn possible(&self, case: &Case, lists: &[CodeList]) -> BTreeSet<Known> {
        match self {
            Self::Of(rule, expr) => Evaluation { rule, case, lists }.values(expr, 0).known,
            Self::Nothing => BTreeSet::new(),
        }
    }

    pub(super) fn truth(&self, case: &Case, lists: &[CodeList]) -> Option<bool> {
        match self {
            Self::Of(rule, expr) => Evaluation { rule, case, lists }.truth(expr, 0),
            Self::Nothing => None,
        }
    }
}

#[derive(Default)]
struct Values {
    known: BTreeSet<Known>,
    /// Other values are possible.
    open: bool,
    /// It may be unbound.
    missing: bool,
}

impl Values {
    fn one(known: Known) -> Self {
        Self { known: BTreeSet::from([known]), open: false, missing: false }
    }

    fn open() -> Self {
        Self { known: BTreeSet::new(), open: true, missing: true }
    }

    fn nothing() -> Self {
        Self { known: BTreeSet::new(), open: false, missing: true }
    }

    fn or(mut self, other: Self) -> Self {
        self.known.extend(other.known);
        self.open |= other.open;
        self.missing |= other.missing;
        self
    }

    /// The value, when there is one and no other.
    fn only(&self) -> Option<&Known> {
        (!self.open && !self.missing && self.known.len() == 1).then(|| self.known.first()).flatten()
    }
}

struct Evaluation<'a> {
    rule: &'a Rule,
    case: &'a Case,
    lists: &'a [CodeList],
}

impl Evaluation<'_> {
    fn is_embedded(&self) -> bool {
        let at = self.case.alternative.and_then(|index| self.rule.selector.alternatives.get(index));
        at.is_none_or(|alternative| alternative.embedded.is_some())
    }

    fn values(&self, expr: &Expr, depth: usize) -> Values {
        let text = |text: &str| Values::one(Known::Text(text.to_owned()));
        if depth > 24 {
            return Values::open();
        }
        let depth = depth + 1;
        match expr {
            Expr::Text(value) => text(value),
            Expr::Iri(iri) => Values::one(Known::Iri(iri.clone())),
            Expr::Given(Given::Tag) => self.case.tag.as_deref().map_or_else(Values::open, text),
            Expr::Given(Given::Ind1) => self.case.ind1.map_or_else(Values::open, |c| text(&c.to_string())),
            Expr::Given(Given::Ind2) => self.case.ind2.map_or_else(Values::open, |c| text(&c.to_string())),
            Expr::Given(Given::Code) => self.case.code.as_deref().map_or_else(Values::open, text),
            Expr::Given(Given::Outer) => match &self.case.outer {
                Some(outer) => text(outer),
                None if self.is_embedded() => Values::open(),
                None => Values::nothing(),
            },
            Expr::Given(given) if given.is_thing() => Values::one(Known::Thing(given_name(*given))),
            Expr::Slot(slot) => match Facts::of_slot(self.rule, *slot) {
                Facts::Of(_, expr) => self.values(expr, depth),
                Facts::Nothing => Values::open(),
            },
            Expr::If(asked, yes, no) => match self.truth(asked, depth) {
                Some(true) => self.values(yes, depth),
                Some(false) => self.values(no, depth),
                None => self.values(yes, depth).or(self.values(no, depth)),
            },
            Expr::Coalesce(list) => {
                let mut all = Values::nothing();
                for expr in list {
                    let next = self.values(expr, depth);
                    let bound = !next.missing;
                    all = all.or(next);
                    if bound {
                        all.missing = false;
                        break;
                    }
                }
                all
            }
            Expr::Code { list, column, code } => self.looked_up(*list, *column, code, depth),
            Expr::Call(Function::Str | Function::LCase, arguments) => {
                arguments.first().map_or_else(Values::open, |inner| self.values(inner, depth))
            }
            Expr::Call(Function::Concat, arguments) => {
                let parts: Option<String> = arguments
                    .iter()
                    .map(|part| self.values(part, depth).only().map(|known| known.text().to_owned()))
                    .collect();
                parts.as_deref().map_or_else(Values::open, text)
            }
            Expr::Nothing => Values::nothing(),
            _ => Values::open(),
        }
    }

    fn looked_up(&self, list: usize, column: usize, code: &Expr, depth: usize) -> Values {
        let Some(list) = self.lists.get(list) else { return Values::open() };
        let known = |value: &str| match list.is_iri(column) {
            true => Known::Iri(value.to_owned()),
            false => Known::Text(value.to_owned()),
        };
        let codes = self.values(code, depth);
        let mut found = Values { missing: codes.missing, ..Values::default() };
        if codes.open {
            found.known.extend(list.codes().filter_map(|code| list.get(code, column)).map(known));
            found.missing = true;
            return found;
        }
        for code in &codes.known {
            match list.get(code.text(), column) {
                Some(value) => drop(found.known.insert(known(value))),
                None if list.on_missing == OnMissing::Keep && !list.has(code.text()) => {
                    found.known.insert(code.clone());
                }
                None => found.missing = true,
            }
        }
        found
    }

    fn truth(&self, expr: &Expr, depth: usize) -> Option<bool> {
        if depth > 24 {
            return None;
        }
        let depth = depth + 1;
        let text = |expr: &Expr| self.values(expr, depth).only().map(|known| known.text().to_owned());
        match expr {
            Expr::Boolean(value) => Some(*value),
            Expr::Not(inner) => self.truth(inner, depth).map(|answer| !answer),
            Expr::And(a, b) => match (self.truth(a, depth), self.truth(b, depth)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Expr::Or(a, b) => match (self.truth(a, depth), self.truth(b, depth)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Expr::Compare(Compare::Equal, a, b) => Some(text(a)? == text(b)?),
            Expr::In(a, list) => {
                let value = text(a)?;
                let list: Option<Vec<String>> = list.iter().map(text).collect();
                Some(list?.contains(&value))
            }
            Expr::Regex(a, regex) => Some(regex.is_match(&text(a)?)),
            Expr::Call(function, arguments) => {
                let [a, b] = arguments.as_slice() else { return None };
                match function {
                    Function::StrStarts => Some(text(a)?.starts_with(&text(b)?)),
                    Function::StrEnds => Some(text(a)?.ends_with(&text(b)?)),
                    Function::Contains => Some(text(a)?.contains(&text(b)?)),
                    _ => None,
                }
            }
            Expr::Slot(slot) => match Facts::of_slot(self.rule, *slot) {
                Facts::Of(_, expr) => self.truth(expr, depth),
                Facts::Nothing => None,
            },
            _ => None,
        }
    }
}
