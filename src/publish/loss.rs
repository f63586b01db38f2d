//! What did not come back: a record as it came, against the record written from its graph.
//!
//! Compared are occurrences of a subfield under a tag, by what they say: case, punctuation and
//! blanks do not count. Of a fixed field every position that says something is an occurrence.

use crate::record::{Field, Record};
use serde::Serialize;
use std::collections::BTreeMap;

/// Examples kept of what a subfield lost.
const MOST_EXAMPLES: usize = 3;

/// Counts of one subfield under one tag, or of many.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Occurrences in the records as they came.
    pub occurrences: u64,
    pub back: u64,
    pub lost: u64,
    /// In the written records, but not in those that came.
    pub added: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.occurrences += other.occurrences;
        self.back += other.back;
        self.lost += other.lost;
        self.added += other.added;
    }

    /// The share that came back, in per cent.
    pub fn share(&self) -> f64 {
        if self.occurrences == 0 { 100.0 } else { self.back as f64 * 100.0 / self.occurrences as f64 }
    }
}

/// The loss of many records, by tag and subfield.
#[derive(Debug, Default)]
pub struct Report {
    pub records: u64,
    /// Records whose original is of another format, so that there is nothing to compare.
    pub other_format: u64,
    counts: BTreeMap<(String, String), Count>,
}

impl Report {
    /// Counts one record.
    pub fn compare(&mut self, came: &Record, written: &Record) {
        self.records += 1;
        let (before, after) = (occurrences(came), occurrences(written));
        let mut left: BTreeMap<&(String, String, String), u64> = BTreeMap::new();
        for occurrence in &after {
            *left.entry(&occurrence.0).or_default() += 1;
        }
        for (key, value) in &before {
            let count = self.counts.entry((key.0.clone(), key.1.clone())).or_default();
            count.occurrences += 1;
            match left.get_mut(key).filter(|number| **number > 0) {
                Some(number) => {
                    *number -= 1;
                    count.back += 1;
                }
                None => {
                    count.lost += 1;
                    if count.examples.len() < MOST_EXAMPLES {
                        count.examples.push(value.clone());
                    }
                }
            }
        }
        for ((tag, code, _), number) in left {
            if number > 0 {
                self.counts.entry((tag.clone(), code.clone())).or_default().added += number;
            }
        }
    }

    /// Counts by tag, the greatest loss first.
    pub fn by_tag(&self) -> Vec<(String, Count)> {
        let mut tags: BTreeMap<&str, Count> = BTreeMap::new();
        for ((tag, _), count) in &self.counts {
            tags.entry(tag).or_default().add(count);
        }
        let mut tags: Vec<(String, Count)> =
            tags.into_iter().map(|(tag, count)| (tag.to_owned(), count)).collect();
        tags.sort_by(|a, b| b.1.lost.cmp(&a.1.lost).then_with(|| a.0.cmp(&b.0)));
        tags
    }

    /// All tags that a filter lets through, together.
    pub fn total(&self, wanted: impl Fn(&str) -> bool) -> Count {
        let mut total = Count::default();
        for ((_, _), count) in self.counts.iter().filter(|((tag, _), _)| wanted(tag)) {
            total.add(count);
        }
        total
    }

    /// The whole report, for people with tools.
    pub fn json(&self, is_core: impl Fn(&str) -> bool) -> serde_json::Value {
        let fields: Vec<serde_json::Value> = self
            .by_tag()
            .into_iter()
            .map(|(tag, count)| {
                let subfields: BTreeMap<&str, &Count> = self
                    .counts
                    .iter()
                    .filter(|((of, _), _)| *of == tag)
                    .map(|((_, code), count)| (code.as_str(), count))
                    .collect();
                serde_json::json!({ "tag": tag, "occurrences": count.occurrences, "back": count.back,
                    "lost": count.lost, "added": count.added, "subfields": subfields })
            })
            .collect();
        serde_json::json!({
            "records": self.records,
            "other_format": self.other_format,
            "total": self.total(|_| true),
            "core": self.total(is_core),
            "fields": fields,
        })
    }
}

type Occurrence = ((String, String, String), String);

/// Tag, code and what is compared; and the value itself.
fn occurrences(record: &Record) -> Vec<Occurrence> {
    let mut found = Vec::new();
    // The rest of a leader is counted anew for every file.
    for position in [6, 7, 8, 17, 18, 19] {
        if let Some(c) = record.leader_at(position).filter(|c| *c != ' ') {
            found.push((("LDR".to_owned(), format!("{position:02}"), c.to_string()), c.to_string()));
        }
    }
    for field in record.fields() {
        of_field(field, &mut found);
    }
    found
}

fn of_field(field: Field<'_>, found: &mut Vec<Occurrence>) {
    let tag = field.tag();
    if matches!(tag, "006" | "007" | "008") {
        for (position, c) in field.text().chars().enumerate().filter(|(_, c)| !matches!(c, ' ' | '|' | '#')) {
            found.push(((tag.to_owned(), format!("{position:02}"), c.to_string()), field.text().to_owned()));
        }
        return;
    }
    let mut push = |code: &str, value: &str| {
        let normal = normal(value);
        if !normal.is_empty() {
            found.push(((tag.to_owned(), code.to_owned(), normal), value.to_owned()));
        }
    };
    push("", field.text());
    for subfield in field.subfields() {
        push(subfield.code, subfield.value);
    }
}

/// What a value says: letters and digits, without case.
pub fn normal(value: &str) -> String {
    value.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
