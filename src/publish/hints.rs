//! What the trace of a record tells about the field a value came from.
//!
//! A record that is written in the format it came in has a trace: which rule made which
//! statement from which field and subfields. Rules leave choices open on the way back (260 or
//! 264, `$e` or `$4`), and the trace settles them. It is advice and no more: a record of
//! another format has none, and every field is checked against the graph all the same.

use super::graph::{self, RecordGraph};
use crate::ontology::pin;
use oxrdf::Triple;
use rustc_hash::FxHashMap;

/// Advice from a trace; empty without one.
#[derive(Debug, Default)]
pub struct Hints {
    tags: FxHashMap<String, Vec<(String, usize)>>,
    /// By rule, and by thing, property and, on things that rules share, value.
    codes: FxHashMap<(String, String), String>,
    nodes: FxHashMap<String, (String, usize)>,
    values: FxHashMap<(String, String), (String, usize)>,
    known: bool,
}

impl Hints {
    /// Reads the trace, where the record came in the model it is written in.
    pub fn read(graph: &RecordGraph, model: &str) -> Self {
        let mut hints = Self::default();
        if graph.value(graph.record(), pin::FORMAT) != Some(model) {
            return hints;
        }
        let Some(trace) = graph.value(graph.record(), pin::TRACE) else { return hints };
        hints.known = true;
        for line in trace.lines() {
            let mut parts = line.split('\t');
            let mut head = parts.next().unwrap_or_default().splitn(3, ' ');
            let (Some(tag), Some(number), Some(rule)) = (head.next(), head.next(), head.next()) else {
                continue;
            };
            let place = (tag.to_owned(), number.parse().unwrap_or(1));
            hints.tags.entry(rule.to_owned()).or_default().push(place.clone());
            for part in parts.filter(|part| !part.is_empty()) {
                hints.statement(rule, &place, part);
            }
        }
        hints
    }

    fn statement(&mut self, rule: &str, place: &(String, usize), part: &str) {
        let (said, codes) = part.rsplit_once('|').unwrap_or((part, ""));
        let mut words = said.splitn(3, ' ');
        let (thing, property, value) = (words.next().unwrap_or_default(), words.next(), words.next());
        let Some(property) = property else {
            self.nodes.entry(thing.to_owned()).or_insert_with(|| place.clone());
            return;
        };
        if let Some(value) = value {
            self.values.entry((rule.to_owned(), value.to_owned())).or_insert_with(|| place.clone());
        }
        let statement = format!("{thing} {property} {}", value.unwrap_or_default());
        let known = self.codes.entry((rule.to_owned(), statement)).or_default();
        for code in codes.chars().filter(|code| !known.contains(*code)).collect::<Vec<_>>() {
            known.push(code);
        }
    }

    /// Whether there is a trace at all.
    pub fn is_known(&self) -> bool {
        self.known
    }

    /// Whether a rule made anything of this record, as far as one knows.
    pub fn fired(&self, rule: &str) -> bool {
        !self.known || self.tags.contains_key(rule)
    }

    /// In how many fields a rule fired.
    pub fn fields_of(&self, rule: &str) -> usize {
        let mut places: Vec<&(String, usize)> = self.tags.get(rule).into_iter().flatten().collect();
        places.sort_unstable();
        places.dedup();
        places.len()
    }

    /// Whether a rule fired for a tag.
    pub fn has_tag(&self, rule: &str, tag: &str) -> bool {
        self.tags.get(rule).is_some_and(|places| places.iter().any(|(known, _)| known == tag))
    }

    /// The field a node came from: its tag, and which of its kind.
    pub fn of_node(&self, node: &str, record: &str) -> Option<&(String, usize)> {
        self.nodes.get(node.strip_prefix(record)?.trim_start_matches('#'))
    }

    /// The field a value on a thing of the record came from.
    pub fn of_value(&self, rule: &str, value: &str) -> Option<&(String, usize)> {
        self.values.get(&(rule.to_owned(), shown(value)))
    }

    /// The subfields a statement was made of by a rule, none when it came from indicators or
    /// constants; `None` when one does not know.
    pub fn codes(&self, rule: &str, triple: &Triple, record: &str) -> Option<&str> {
        if !self.known || !self.tags.contains_key(rule) {
            return None;
        }
        let thing = match graph::subject(triple).strip_prefix(record) {
            Some("") => "record",
            Some(rest) => rest.trim_start_matches('#'),
            None => graph::subject(triple),
        };
        let property = triple.predicate.as_str().rsplit(['/', '#']).next().unwrap_or_default();
        let own = self.codes.get(&(rule.to_owned(), format!("{thing} {property} ")));
        let shared = || {
            let statement = format!("{thing} {property} {}", shown(graph::text(&triple.object)));
            self.codes.get(&(rule.to_owned(), statement))
        };
        Some(own.or_else(shared).map_or("", String::as_str))
    }
}

/// A value as a trace shows it.
fn shown(value: &str) -> String {
    value.chars().take(80).map(|c| if c.is_control() || c == '|' { ' ' } else { c }).collect()
}
