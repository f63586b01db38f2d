//! Ways through a record's graph: `bf:title[bf:Title]/bf:mainTitle`.
//!
//! A step is a property; in brackets stands what must hold of where it leads: a class, or a
//! property and its value (`bf:relation[bf:relationship=bf:partOf]`).

use super::graph::{self, RecordGraph};
use crate::ontology::Prefixes;
use oxrdf::{NamedNode, Term};

/// A way of at least one step.
#[derive(Debug)]
pub struct Path(Vec<Step>);

#[derive(Debug)]
struct Step {
    property: NamedNode,
    condition: Option<Condition>,
}

/// A property of where a step leads, and what its value must be.
#[derive(Debug)]
struct Condition {
    property: NamedNode,
    value: NamedNode,
}

impl Path {
    /// `None` where a prefix is not known.
    pub fn parse(text: &str) -> Option<Self> {
        text.split('/').map(Step::parse).collect::<Option<Vec<Step>>>().map(Self)
    }

    /// The values at the end of the way.
    pub fn values<'g>(&'g self, graph: &'g RecordGraph, start: &str) -> Vec<&'g Term> {
        walk(graph, start, &self.0)
    }
}

impl Step {
    fn parse(text: &str) -> Option<Self> {
        let prefixes = Prefixes::shipped();
        let (property, condition) = match text.split_once('[') {
            Some((property, condition)) => (property, Some(condition.trim_end_matches(']'))),
            None => (text, None),
        };
        let condition =
            match condition.map(|condition| condition.split_once('=').unwrap_or(("rdf:type", condition))) {
                Some((property, value)) => {
                    Some(Condition { property: prefixes.expand(property)?, value: prefixes.expand(value)? })
                }
                None => None,
            };
        Some(Self { property: prefixes.expand(property.trim())?, condition })
    }
}

fn walk<'g>(graph: &'g RecordGraph, start: &str, path: &'g [Step]) -> Vec<&'g Term> {
    let Some((step, rest)) = path.split_first() else { return Vec::new() };
    let mut found = Vec::new();
    for (_, term) in graph.objects(start, step.property.as_ref()) {
        let name = graph::text(term);
        let holds = step.condition.as_ref().is_none_or(|Condition { property, value }| {
            graph.objects(name, property.as_ref()).any(|(_, known)| graph::text(known) == value.as_str())
        });
        if !holds {
            continue;
        }
        if rest.is_empty() {
            found.push(term);
        } else {
            found.extend(walk(graph, name, rest));
        }
    }
    found
}
