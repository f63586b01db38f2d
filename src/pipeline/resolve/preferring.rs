//! Which of several values is the one to show?
//!
//! Survivorship is declared in the profile: rules in order, and the first that tells two values
//! apart decides. Whatever they leave open is settled by the text itself, so the choice does not
//! depend on who came first.

use crate::ontology::Prefixes;
use crate::resolve::profile::Survivorship;
use oxrdf::{NamedNode, Term};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// What a rule looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// The source that is trusted most.
    SourceRank,
    /// The value that most members have.
    Frequent,
    /// The record that says most.
    Complete,
    /// The record that was changed last.
    Recent,
}

impl Rule {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "source-rank" => Self::SourceRank,
            "frequent" => Self::Frequent,
            "complete" => Self::Complete,
            "recent" => Self::Recent,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::SourceRank => "source-rank",
            Self::Frequent => "frequent",
            Self::Complete => "complete",
            Self::Recent => "recent",
        }
    }
}

/// What is said of one member.
#[derive(Debug, Clone, Default)]
pub(super) struct Standing {
    pub source: Box<str>,
    /// How many statements its record makes.
    pub complete: usize,
    /// When its record was changed last, as the record says.
    pub modified: Box<str>,
}

/// A profile's rules, ready to be used.
pub(super) struct Preferring {
    rules: Vec<Rule>,
    /// Properties with one preferred value, beside the label.
    pub single: Vec<(NamedNode, Vec<Rule>)>,
    /// The place of a source; what is not named comes last.
    rank: FxHashMap<Box<str>, usize>,
}

/// One value with the member it is from.
pub(super) struct Candidate<'a> {
    pub value: &'a Term,
    pub standing: &'a Standing,
    pub member: usize,
}

/// What is wrong with declared survivorship: the name in question, and why.
pub(super) fn faults(survivorship: &Survivorship) -> Vec<(String, String)> {
    let mut faults = Vec::new();
    for name in survivorship.rules.iter().chain(survivorship.feature.values().flatten()) {
        if Rule::from_name(name).is_none() {
            let known = "there are source-rank, frequent, complete, recent";
            faults.push((name.clone(), format!("`{name}` is no rule of survivorship; {known}")));
        }
    }
    for property in survivorship.feature.keys() {
        if Prefixes::shipped().expand(property).is_none() {
            let why = format!("`{property}` under [survivorship.feature] is no prefixed name of a property");
            faults.push((property.clone(), why));
        }
    }
    faults
}

impl Preferring {
    /// `ranked` are the sources, most important first, where the profile names none. Of what is
    /// declared nothing is faulty.
    pub fn new(survivorship: &Survivorship, ranked: &[String]) -> Self {
        let rules = |names: &[String]| -> Vec<Rule> {
            names.iter().filter_map(|name| Rule::from_name(name)).collect()
        };
        let order = if survivorship.rank.is_empty() { ranked } else { &survivorship.rank };
        let declared = survivorship.feature.iter();
        let single = declared
            .filter_map(|(property, names)| Some((Prefixes::shipped().expand(property)?, rules(names))));
        Self {
            rules: rules(&survivorship.rules),
            single: single.collect(),
            rank: order.iter().enumerate().map(|(place, source)| (source.as_str().into(), place)).collect(),
        }
    }

    /// The preferred label.
    pub fn label(&self, candidates: &[Candidate<'_>]) -> Option<(usize, &'static str)> {
        self.choose(&self.rules, candidates)
    }

    /// The preferred value of a single property.
    pub fn value(&self, rules: &[Rule], candidates: &[Candidate<'_>]) -> Option<(usize, &'static str)> {
        self.choose(rules, candidates)
    }

    /// The place of the preferred candidate, and the rule that made it so.
    fn choose(&self, rules: &[Rule], candidates: &[Candidate<'_>]) -> Option<(usize, &'static str)> {
        let mut counts: FxHashMap<&Term, usize> = FxHashMap::default();
        for candidate in candidates {
            *counts.entry(candidate.value).or_default() += 1;
        }
        let compare = |rule: Rule, left: &Candidate<'_>, right: &Candidate<'_>| -> Ordering {
            match rule {
                Rule::SourceRank => {
                    let rank = |one: &Candidate<'_>| {
                        self.rank.get(&one.standing.source).copied().unwrap_or(usize::MAX)
                    };
                    rank(left).cmp(&rank(right))
                }
                Rule::Frequent => counts.get(right.value).cmp(&counts.get(left.value)),
                Rule::Complete => right.standing.complete.cmp(&left.standing.complete),
                Rule::Recent => right.standing.modified.cmp(&left.standing.modified),
            }
        };
        let in_order = |left: &Candidate<'_>, right: &Candidate<'_>| -> Ordering {
            rules.iter().map(|rule| compare(*rule, left, right)).find(|order| order.is_ne()).unwrap_or_else(
                || {
                    // The fuller text, then the alphabet.
                    let place = |one: &Candidate<'_>| {
                        let text = one.value.to_string();
                        (std::cmp::Reverse(text.chars().count()), text, one.member)
                    };
                    place(left).cmp(&place(right))
                },
            )
        };
        let best = (0..candidates.len()).min_by(|a, b| in_order(&candidates[*a], &candidates[*b]))?;
        // The rule that set it apart from the best of the other values.
        let rival = (0..candidates.len())
            .filter(|other| candidates[*other].value != candidates[best].value)
            .min_by(|a, b| in_order(&candidates[*a], &candidates[*b]));
        let reason = match rival {
            None => "only value",
            Some(rival) => rules
                .iter()
                .find(|rule| compare(**rule, &candidates[best], &candidates[rival]).is_ne())
                .map_or("fullest text", |rule| rule.name()),
        };
        Some((best, reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdf::Literal;

    fn chosen(rules: &[&str], values: &[(&str, &str, usize)]) -> (String, &'static str) {
        let survivorship = Survivorship {
            rules: rules.iter().map(|rule| (*rule).to_owned()).collect(),
            rank: vec!["best".to_owned()],
            ..Survivorship::default()
        };
        let preferring = Preferring::new(&survivorship, &[]);
        let terms: Vec<Term> =
            values.iter().map(|(value, ..)| Literal::new_simple_literal(*value).into()).collect();
        let standings: Vec<Standing> = values
            .iter()
            .map(|(_, source, complete)| Standing {
                source: (*source).into(),
                complete: *complete,
                modified: "".into(),
            })
            .collect();
        let candidates: Vec<Candidate<'_>> = terms
            .iter()
            .zip(&standings)
            .enumerate()
            .map(|(member, (value, standing))| Candidate { value, standing, member })
            .collect();
        let (best, reason) = preferring.label(&candidates).unwrap();
        (values[best].0.to_owned(), reason)
    }

    #[test]
    fn the_first_rule_that_tells_values_apart_decides() {
        let values = [("a", "other", 9), ("b", "other", 1), ("b", "other", 2), ("c", "best", 1)];
        assert_eq!(chosen(&["source-rank"], &values), ("c".to_owned(), "source-rank"));
        assert_eq!(chosen(&["frequent"], &values), ("b".to_owned(), "frequent"));
        assert_eq!(chosen(&["complete"], &values), ("a".to_owned(), "complete"));
        assert_eq!(chosen(&["recent"], &values), ("a".to_owned(), "fullest text"));
    }
}
