//! What the variables of a query may be, and what has to be assumed for it: a row of a `VALUES`
//! table, the answer to a condition.

use super::case::Known;
use super::pattern::{Branch, Formula, Linking};
use std::collections::{BTreeMap, BTreeSet};

/// What some variables are taken to be, and not to be.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Assumed {
    pub is: BTreeMap<String, Known>,
    is_not: BTreeSet<(String, Known)>,
}

impl Assumed {
    fn with(&self, name: &str, value: &Known) -> Option<Self> {
        let fits = self.is.get(name).is_none_or(|known| known == value)
            && !self.is_not.contains(&(name.to_owned(), value.clone()));
        let mut next = self.clone();
        next.is.insert(name.to_owned(), value.clone());
        fits.then_some(next)
    }

    fn without(&self, name: &str, value: &Known) -> Option<Self> {
        if self.is.get(name) == Some(value) {
            return None;
        }
        let mut next = self.clone();
        next.is_not.insert((name.to_owned(), value.clone()));
        Some(next)
    }
}

impl Branch {
    /// The values a variable may have, each with what it takes.
    pub(super) fn possible(&self, variable: &str, assumed: &Assumed, depth: usize) -> Vec<Assumed> {
        if depth > 8 {
            return Vec::new();
        }
        if assumed.is.contains_key(variable) {
            return vec![assumed.clone()];
        }
        let mut found = Vec::new();
        for table in &self.tables {
            let Some(place) = table.variables.iter().position(|known| known == variable) else { continue };
            for row in &table.rows {
                if row.get(place).is_none_or(Option::is_none) {
                    continue;
                }
                let mut next = Some(assumed.clone());
                for (name, cell) in table.variables.iter().zip(row) {
                    if let Some(cell) = cell {
                        next = next.and_then(|next| next.with(name, cell));
                    }
                }
                found.extend(next);
            }
        }
        for filter in &self.filters {
            match filter {
                Formula::In(asked, list) if asked.same_as() == Some(variable) => {
                    let known = list.iter().filter_map(|one| match one {
                        Formula::Known(known) => assumed.with(variable, known),
                        _ => None,
                    });
                    found.extend(known);
                }
                _ => {}
            }
        }
        if let Some(formula) = self.bound(variable) {
            for (value, taken) in self.values(formula, assumed, depth + 1) {
                found.extend(taken.with(variable, &value));
            }
        }
        found.sort();
        found.dedup();
        found
    }

    fn values(&self, formula: &Formula, assumed: &Assumed, depth: usize) -> Vec<(Known, Assumed)> {
        match formula {
            Formula::Known(known) => vec![(known.clone(), assumed.clone())],
            Formula::Variable(name) => {
                let possible = self.possible(name, assumed, depth).into_iter();
                possible.filter_map(|taken| Some((taken.is.get(name)?.clone(), taken))).collect()
            }
            Formula::If(parts) => {
                let [asked, yes, no] = parts.as_ref();
                let answers = [(true, yes), (false, no)].into_iter();
                answers
                    .filter_map(|(answer, then)| Some((self.assume(asked, answer, assumed, 0)?, then)))
                    .flat_map(|(taken, then)| self.values(then, &taken, depth))
                    .collect()
            }
            Formula::Coalesce(list) => list.iter().flat_map(|one| self.values(one, assumed, depth)).collect(),
            _ => Vec::new(),
        }
    }

    /// What holds when a condition does, or does not; `None` when it cannot.
    pub(super) fn assume(
        &self,
        asked: &Formula,
        answer: bool,
        assumed: &Assumed,
        depth: usize,
    ) -> Option<Assumed> {
        if depth > 8 {
            return Some(assumed.clone());
        }
        match (asked, answer) {
            (Formula::Not(inner), _) => self.assume(inner, !answer, assumed, depth + 1),
            (Formula::And(parts), true) | (Formula::Or(parts), false) => {
                let first = self.assume(&parts[0], answer, assumed, depth + 1)?;
                self.assume(&parts[1], answer, &first, depth + 1)
            }
            (Formula::Equal(parts), _) => match parts.as_ref() {
                [Formula::Variable(name), Formula::Known(known)]
                | [Formula::Known(known), Formula::Variable(name)] => {
                    let constants = self.constants(name, assumed, 0);
                    if answer {
                        let fits = constants.is_none_or(|constants| constants.contains(known));
                        assumed.with(name, known).filter(|_| fits)
                    } else {
                        let next = assumed.without(name, known)?;
                        let left = constants.is_none_or(|constants| {
                            constants
                                .iter()
                                .any(|known| !next.is_not.contains(&(name.clone(), known.clone())))
                        });
                        left.then_some(next)
                    }
                }
                _ => Some(assumed.clone()),
            },
            (Formula::Variable(name), _) => match self.bound(name) {
                Some(formula) => self.assume(formula, answer, assumed, depth + 1),
                None => {
                    let in_table = self.tables.iter().any(|table| table.variables.contains(name));
                    let value = Known::Text(answer.to_string());
                    if in_table { assumed.with(name, &value) } else { Some(assumed.clone()) }
                }
            },
            _ => Some(assumed.clone()),
        }
    }

    /// The constants a variable is one of; `None` when the data decide.
    fn constants(&self, variable: &str, assumed: &Assumed, depth: usize) -> Option<BTreeSet<Known>> {
        if depth > 8 {
            return None;
        }
        if let Some(known) = assumed.is.get(variable) {
            return Some(BTreeSet::from([known.clone()]));
        }
        if let Some(formula) = self.bound(variable) {
            return self.constants_of(formula, assumed, depth + 1);
        }
        let from_data = self.triples.iter().any(|link| {
            link.subject.as_deref() == Some(variable)
                || link.object.as_deref() == Some(variable)
                || matches!(&link.predicate, Linking::Variable(name) if name == variable)
        });
        let listed = self.tables.iter().any(|table| table.variables.iter().any(|name| name == variable));
        (!from_data && !listed).then(BTreeSet::new)
    }

    fn constants_of(&self, formula: &Formula, assumed: &Assumed, depth: usize) -> Option<BTreeSet<Known>> {
        match formula {
            Formula::Known(known) => Some(BTreeSet::from([known.clone()])),
            Formula::Variable(name) => self.constants(name, assumed, depth),
            Formula::Same(inner) => self.constants_of(inner, assumed, depth),
            Formula::If(parts) => {
                let mut found = self.constants_of(&parts[1], assumed, depth)?;
                found.extend(self.constants_of(&parts[2], assumed, depth)?);
                Some(found)
            }
            Formula::Coalesce(list) => {
                let mut found = BTreeSet::new();
                for one in list {
                    found.extend(self.constants_of(one, assumed, depth)?);
                    if self.is_bound(one, depth) {
                        break;
                    }
                }
                Some(found)
            }
            _ => None,
        }
    }

    fn is_bound(&self, formula: &Formula, depth: usize) -> bool {
        match formula {
            Formula::Known(_) => true,
            Formula::Same(inner) => self.is_bound(inner, depth),
            Formula::Variable(name) if depth < 8 => {
                self.bound(name).is_some_and(|formula| self.is_bound(formula, depth + 1))
            }
            _ => false,
        }
    }

    pub(super) fn bound(&self, variable: &str) -> Option<&Formula> {
        self.binds.iter().find(|(name, _)| name == variable).map(|(_, formula)| formula)
    }
}
