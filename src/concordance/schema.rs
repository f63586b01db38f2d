//! Checks that look beyond one rule: tags the standard does not have, subfields nobody accounts
//! for, rules without examples, rules that say the same twice.

use super::file::{RuleFile, RuleText};
use super::selector::{Condition, Key, Selector, Tag};
use super::set::Loaded;
use super::source::{Origin, Source};
use crate::diagnostic::{Code, Problem};
use crate::record::Model;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The fields of a format: `mappings/fields/<format>.tsv`, their tags and lengths.
#[derive(Debug)]
pub struct Schema {
    pub model: Model,
    /// How many positions a field has, where the standard counts them.
    fields: BTreeMap<String, Option<usize>>,
}

impl Schema {
    pub fn read(name: &str, text: &str) -> Option<Self> {
        let model = name.parse().ok()?;
        let fields = text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .skip(1)
            .filter_map(|line| {
                let mut cells = line.split('\t');
                let tag = cells.next()?.trim().to_owned();
                Some((tag, cells.nth(2).and_then(|length| length.trim().parse().ok())))
            })
            .collect();
        Some(Self { model, fields })
    }

    fn knows(&self, tag: &Tag) -> bool {
        self.fields.keys().any(|known| tag.matches(known))
    }
}

/// Checks the rules of one file.
pub fn check(file: &RuleFile, schema: Option<&Schema>, problems: &mut Vec<Problem>) {
    let model = file.model.unwrap_or(Model::Rdf);
    for rule in &file.rules {
        if rule.construct.is_some() && rule.examples.is_empty() {
            let message = format!("the rule `{}` has no example", rule.name.value);
            problems.push(
                Problem::new(Code::MissingExample, rule.at.clone(), message)
                    .hint("add `[[rule.example]]` with `given` and `gives`; examples are tests"),
            );
        }
        let Ok(selector) = Selector::of_rule(&rule.field.value, model) else { continue };
        if let Some(schema) = schema {
            check_tags(rule, &selector, schema, problems);
            check_positions(rule, &selector, schema, problems);
        }
        if selector.alternatives.iter().all(|alternative| contradicts(&alternative.conditions)) {
            let message = format!("`{}` can never fire: its conditions exclude each other", rule.name.value);
            problems.push(Problem::new(Code::UnreachableRule, rule.field.at.clone(), message));
        }
        if rule.when.as_ref().is_some_and(|when| when.value.trim().eq_ignore_ascii_case("false")) {
            let message = format!("`{}` can never fire: `when` is false", rule.name.value);
            problems.push(Problem::new(Code::UnreachableRule, rule.field.at.clone(), message));
        }
    }
}

fn check_tags(rule: &RuleText, selector: &Selector, schema: &Schema, problems: &mut Vec<Problem>) {
    for alternative in &selector.alternatives {
        let tag = alternative.embedded.as_ref().unwrap_or(&alternative.tag);
        if matches!(tag, Tag::Record | Tag::Leader) || schema.knows(tag) {
            continue;
        }
        let name = tag.notation();
        // 9XX, X9X and XX9 are free for local use; the schema cannot know them.
        if name.contains('9') {
            continue;
        }
        let message = format!("{} has no field `{name}`", schema.model);
        let near = crate::diagnostic::near(&name, schema.fields.keys().map(String::as_str));
        problems.push(
            Problem::new(Code::UnknownField, rule.field.at.clone(), message)
                .label(format!("not in mappings/fields/{}.tsv", schema.model))
                .near(&near),
        );
    }
}

fn check_positions(rule: &RuleText, selector: &Selector, schema: &Schema, problems: &mut Vec<Problem>) {
    for alternative in &selector.alternatives {
        let (Some(tag), Some(positions)) = (alternative.tag.exact(), &alternative.positions) else {
            continue;
        };
        let Some(Some(length)) = schema.fields.get(&tag) else { continue };
        if positions.end > *length {
            let last = positions.end - 1;
            let message = format!("`{tag}` ends at position {}; there is no {last}", length - 1);
            let problem = Problem::new(Code::BadSelector, rule.field.at.clone(), message);
            problems.push(problem.hint("positions count from 0, and both ends are included"));
        }
    }
}

fn contradicts(conditions: &[Condition]) -> bool {
    conditions.iter().any(|one| {
        conditions.iter().any(|other| {
            let same_key = one.key == other.key;
            let single = !matches!(one.key, Key::Subfield(_));
            let disjoint = !one.values.is_empty()
                && !other.values.is_empty()
                && !one.negated
                && !other.negated
                && !one.values.iter().any(|value| other.values.contains(value));
            let opposite = one.negated != other.negated && one.values == other.values;
            same_key && (single && disjoint || opposite)
        })
    })
}

/// Where a rule stands, and for whose records.
#[derive(Clone)]
struct Place {
    /// `mappings/marc21/20x-24x-titles`, without the source a file is limited to.
    name: String,
    line: usize,
    source: Option<String>,
}

impl Place {
    fn new(source: &Source, file: &RuleFile, line: usize) -> Self {
        let name = source.name();
        let bare = file.source.as_ref().and_then(|of| name.strip_suffix(&format!("@{of}")));
        Self { name: bare.unwrap_or(name).to_owned(), line, source: file.source.clone() }
    }

    /// A rule elsewhere that may fire for the same records. One in the file whose place this one
    /// takes for its source does not.
    fn met_by<'a>(&self, others: &'a [Self]) -> Option<&'a Self> {
        others.iter().find(|other| match (&self.source, &other.source) {
            (Some(one), Some(other)) => one == other,
            (None, None) => true,
            _ => self.name != other.name,
        })
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = self.source.iter().map(|source| format!("@{source}")).collect::<String>();
        write!(f, "mappings/{}{at}.toml:{}", self.name, self.line)
    }
}

/// Checks that need all files: rule names used twice, and rules that do the same.
pub fn check_across(files: &mut [Loaded]) {
    let mut names: FxHashMap<(Model, String), Vec<Place>> = FxHashMap::default();
    let mut bodies: FxHashMap<(Model, String, String), Vec<Place>> = FxHashMap::default();
    // Shipped files first, so that the user's is the one that comes second.
    let mut order: Vec<&mut Loaded> = files.iter_mut().collect();
    order.sort_by_key(|loaded| loaded.source.origin != Origin::Shipped);
    for loaded in order {
        let Some(file) = &loaded.file else { continue };
        let Some(model) = file.model else { continue };
        for rule in &file.rules {
            let here = Place::new(&loaded.source, file, rule.line);
            let known = names.entry((model, rule.name.value.clone())).or_default();
            if let Some(other) = here.met_by(known) {
                let message = format!("a rule named `{}` stands in {other} already", rule.name.value);
                loaded.problems.push(Problem::new(Code::DuplicateRule, rule.name.at.clone(), message));
            }
            known.push(here.clone());
            let Some(construct) = &rule.construct else { continue };
            let body: String = construct.value.split_whitespace().collect();
            let rest: String = rule
                .binds
                .iter()
                .chain(&rule.values)
                .map(|(n, t)| format!("{}={};", n.value, t.value))
                .collect();
            let when = rule.when.as_ref().map_or("", |when| when.value.as_str());
            let each = format!(
                "{:?}",
                rule.each.as_ref().map(|each| match each {
                    super::file::EachText::Codes(codes) => codes.value.clone(),
                    super::file::EachText::List(name, list) => format!("{}{}", name.value, list.value),
                })
            );
            let key = (model, rule.field.value.clone(), format!("{body}{rest}{when}{each}"));
            let known = bodies.entry(key).or_default();
            let other = here.met_by(known).map(ToString::to_string);
            known.push(here);
            if let Some(other) = other {
                let message = format!("this rule does what {other} does already");
                loaded.problems.push(Problem::new(Code::DuplicateRule, rule.at.clone(), message));
            }
        }
    }
}
