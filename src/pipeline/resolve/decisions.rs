//! What people decided about duplicates.
//!
//! A decision is archived before it takes effect and names things by source and id, so it survives
//! another harvest, another run and a store made anew. Nothing is ever taken out of the archive: to
//! undo a decision is a decision too.

use super::PipelineError;
use super::entities::{Entities, Number};
use super::entity::Kind;
use crate::archive::{Entry, Kind as Archived};
use crate::pipeline::Session;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A thing as a decision names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Named {
    pub source: String,
    pub id: String,
    /// The node within the record, `#instance`; without one, the thing the record is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.source, self.id)?;
        match self.node.as_deref() {
            // A name that others gave.
            Some(node) if !node.starts_with('#') => write!(f, "#{node}"),
            node => f.write_str(node.unwrap_or_default()),
        }
    }
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "act")]
pub enum Act {
    /// Two are one.
    Join { left: Named, right: Named },
    /// Two are never one.
    Never { left: Named, right: Named },
    /// One is none of these.
    Split { member: Named, from: Vec<Named> },
    /// An earlier decision does not count any more.
    Undo { decision: u64 },
}

impl Act {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Join { .. } => "join",
            Self::Never { .. } => "never",
            Self::Split { .. } => "split",
            Self::Undo { .. } => "undo",
        }
    }
}

/// One decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    #[serde(flatten)]
    pub act: Act,
    /// What kind of thing it is about.
    pub kind: String,
    /// Who decided, as they call themselves.
    #[serde(default)]
    pub by: String,
    pub time: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The probability the pair had then, and the levels of its comparisons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    /// The profile in force then.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rules: String,
}

/// A decision with its number, from 1 in the order they were made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Numbered {
    pub number: u64,
    #[serde(flatten)]
    pub decision: Decision,
    /// A later one undid it.
    pub undone: bool,
}

/// What a decision asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ruling {
    pub decision: u64,
    pub left: Number,
    pub right: Number,
    pub together: bool,
}

/// All decisions, oldest first.
pub fn decisions(session: &Session) -> Result<Vec<Numbered>, PipelineError> {
    let mut all: Vec<Numbered> = Vec::new();
    for (number, (_, payload)) in (1..).zip(session.archive.decisions()?) {
        if let Ok(decision) = serde_json::from_slice(&payload) {
            all.push(Numbered { number, decision, undone: false });
        }
    }
    // From the last to the first: an undone undo undoes nothing.
    let mut undone: Vec<u64> = Vec::new();
    for one in all.iter_mut().rev() {
        one.undone = undone.contains(&one.number);
        if let (Act::Undo { decision }, false) = (&one.decision.act, one.undone) {
            undone.push(*decision);
        }
    }
    Ok(all)
}

/// Archives a decision; gives its number.
pub(super) fn archive(session: &mut Session, decision: &Decision) -> Result<u64, PipelineError> {
    let payload =
        serde_json::to_vec(decision).map_err(|error| super::ResolveError::Cache(error.to_string()))?;
    let entry = Entry::new(Archived::Decision, "", "", 0, &decision.time).with_payload(payload);
    session.archive.append_note(&[entry])?;
    Ok(session.archive.decisions()?.len() as u64)
}

impl Decision {
    pub(super) fn kind(&self) -> Kind {
        Kind::from_name(&self.kind).unwrap_or(Kind::Instance)
    }

    /// All it names.
    pub fn named(&self) -> Vec<&Named> {
        match &self.act {
            Act::Join { left, right } | Act::Never { left, right } => vec![left, right],
            Act::Split { member, from } => std::iter::once(member).chain(from).collect(),
            Act::Undo { .. } => Vec::new(),
        }
    }
}

/// The decisions in force about two things, by their numbers. The last one says what counts.
pub(super) fn about(decisions: &[Numbered], left: &Named, right: &Named) -> Vec<u64> {
    let mut said: Vec<(u64, bool)> = Vec::new();
    for one in decisions.iter().filter(|one| !one.undone) {
        let is_both = |a: &Named, b: &Named| (a, b) == (left, right) || (b, a) == (left, right);
        match &one.decision.act {
            Act::Join { left: a, right: b } if is_both(a, b) => said.push((one.number, true)),
            Act::Never { left: a, right: b } if is_both(a, b) => said.push((one.number, false)),
            Act::Split { member, from } if from.iter().any(|other| is_both(member, other)) => {
                said.push((one.number, false));
            }
            _ => {}
        }
    }
    let last = said.last().copied();
    said.into_iter()
        .filter(|(_, together)| last.is_some_and(|last| last.1 == *together))
        .map(|(number, _)| number)
        .collect()
}

/// What the decisions in force ask for, of things that are there; and which do not count any more,
/// each with the later one that says the opposite of the same two.
pub(super) fn rulings(decisions: &[Numbered], entities: &Entities) -> (Vec<Ruling>, Vec<(u64, u64)>) {
    let mut rulings: Vec<Ruling> = Vec::new();
    let mut splits: Vec<(u64, &Named, &[Named])> = Vec::new();
    for one in decisions.iter().filter(|one| !one.undone) {
        let kind = one.decision.kind();
        let find = |named: &Named| entities.find(&named.source, &named.id, named.node.as_deref(), kind);
        let mut rule = |left: &Named, right: &Named, together: bool| {
            if let (Some(left), Some(right)) = (find(left), find(right)) {
                rulings.push(Ruling { decision: one.number, left, right, together });
            }
        };
        match &one.decision.act {
            Act::Join { left, right } => {
                rule(left, right, true);
                // Whoever joins again what was split takes the split back as a whole.
                for (number, member, from) in &splits {
                    let other = if *member == left { right } else { left };
                    if (*member == left || *member == right) && from.contains(other) {
                        rulings.retain(|ruling| ruling.decision != *number);
                    }
                }
            }
            Act::Never { left, right } => rule(left, right, false),
            Act::Split { member, from } => {
                from.iter().for_each(|other| rule(member, other, false));
                splits.push((one.number, member, from));
            }
            Act::Undo { .. } => {}
        }
    }
    // Whoever decides again about the same two has changed their mind.
    let two = |ruling: &Ruling| (ruling.left.min(ruling.right), ruling.left.max(ruling.right));
    let last: FxHashMap<(Number, Number), Ruling> =
        rulings.iter().map(|ruling| (two(ruling), *ruling)).collect();
    let mut replaced = Vec::new();
    rulings.retain(|ruling| {
        let Some(later) = last.get(&two(ruling)).filter(|later| later.together != ruling.together) else {
            return true;
        };
        if ruling.decision < later.decision {
            replaced.push((ruling.decision, later.decision));
        }
        false
    });
    replaced.dedup();
    (rulings, replaced)
}
