//! Checks that look beyond one rule: tags the standard does not have, subfields nobody accounts
//! for, rules without examples, rules that say the same twice.

use super::file::{RuleFile, RuleText};
use super::selector::{Condition, Key, Selector, Tag};
use super::set::Loaded;
use crate::diagnostic::{Code, Problem};
use crate::record::Model;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The fields of a format: `mappings/fields/<format>.tsv`, tag and subfield codes.
#[derive(Debug)]
pub struct Schema {
    pub model: Model,
    fields: BTreeMap<String, String>,
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
                Some((tag, cells.next().unwrap_or_default().trim().to_owned()))
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
    for rule in &file.rules {
        if rule.construct.is_some() && rule.examples.is_empty() {
            let message = format!("the rule `{}` has no example", rule.name.value);
            problems.push(
                Problem::new(Code::MissingExample, rule.at.clone(), message)
                    .hint("add `[[rule.example]]` with `given` and `gives`; examples are tests"),
            );
        }
        let Ok(selector) = Selector::parse(&rule.field.value) else { continue };
        if let Some(schema) = schema {
            check_tags(rule, &selector, schema, problems);
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

/// Checks that need all files: rule names used twice, and rules that do the same.
pub fn check_across(files: &mut [Loaded]) {
    let mut names: FxHashMap<(Model, String), String> = FxHashMap::default();
    let mut bodies: FxHashMap<(Model, String, String), String> = FxHashMap::default();
    // Shipped files first, so that the user's is the one that comes second.
    let mut order: Vec<&mut Loaded> = files.iter_mut().collect();
    order.sort_by_key(|loaded| loaded.source.origin != super::set::Origin::Shipped);
    for loaded in order {
        let Some(file) = &loaded.file else { continue };
        let Some(model) = file.model else { continue };
        for rule in &file.rules {
            let here = format!("mappings/{}:{}", loaded.source.path, rule.line);
            if let Some(other) = names.insert((model, rule.name.value.clone()), here.clone()) {
                let message = format!("a rule named `{}` stands in {other} already", rule.name.value);
                loaded.problems.push(Problem::new(Code::DuplicateRule, rule.name.at.clone(), message));
            }
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
            if let Some(other) = bodies.insert(key, here) {
                let message = format!("this rule does what {other} does already");
                loaded.problems.push(Problem::new(Code::DuplicateRule, rule.at.clone(), message));
            }
        }
    }
}
