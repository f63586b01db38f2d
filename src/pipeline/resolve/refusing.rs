//! What keeps two things apart that are alike enough to be one?
//!
//! The engine says of every union it refused which two would have made it, and why. A run keeps
//! that beside the pairs for review, by names; here it is looked up again.

use super::PipelineError;
use super::cache::Cache;
use super::decisions::{Act, Named, Numbered};
use super::entities::{Entities, Number};
use super::entity::Kind;
use super::finding::Thing;
use super::grouping::{Groups, Level};
use crate::resolve::cluster::Reason;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// More than this nobody looks at.
const MOST: usize = 100_000;

/// A union that was refused, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Refused {
    pub kind: String,
    /// The two that are alike.
    pub left: Named,
    pub right: Named,
    pub because: Because,
}

/// What the engine had against it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Because {
    Veto(String, Named, Named),
    Never(Named, Named),
    Against,
}

/// What keeps the entries of two things apart.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "by")]
pub enum KeptApart {
    /// A veto between these members of theirs.
    Veto { veto: String, members: [String; 2] },
    /// A person's decision about these members of theirs.
    Decision {
        #[serde(skip_serializing_if = "Option::is_none")]
        decision: Option<u64>,
        members: [String; 2],
    },
    /// All pairs across, taken together; where it was looked for, the pair that is least alike.
    AllPairs {
        #[serde(skip_serializing_if = "Option::is_none")]
        least: Option<LeastAlike>,
    },
    /// Works of one hub that are two expressions of it.
    Expression { hub: String },
    /// Nothing that the last run kept says why: it did not compare them, or it went by other texts.
    NoKey,
}

/// The pair across two entries that speaks most against their being one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeastAlike {
    pub members: [String; 2],
    pub weight: f64,
}

impl fmt::Display for KeptApart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Veto { veto, members: [one, other] } => {
                write!(f, "the veto `{veto}` stands between their members {one} and {other}")
            }
            Self::Decision { decision, members: [one, other] } => {
                let who =
                    decision.map_or_else(|| "a person".to_owned(), |number| format!("decision {number}"));
                write!(f, "{who} says never of their members {one} and {other}")
            }
            Self::AllPairs { least } => {
                f.write_str("all pairs across their members, taken together, speak against it")?;
                let Some(LeastAlike { members: [one, other], weight }) = least else { return Ok(()) };
                write!(f, ", most of all {one} and {other} ({weight:+.1})")
            }
            Self::Expression { hub } => {
                write!(f, "they belong to one hub, {hub}, but language, form or translators are not the same")
            }
            Self::NoKey => f.write_str("the last run did not bring them together: no key that is rare enough is in both, or what counts now did not count then"),
        }
    }
}

impl Refused {
    /// What it comes to, with the decision that says so.
    pub fn kept_apart(&self, decided: &[Numbered]) -> KeptApart {
        let members = |one: &Named, other: &Named| [one.to_string(), other.to_string()];
        match &self.because {
            Because::Veto(veto, one, other) => {
                KeptApart::Veto { veto: veto.clone(), members: members(one, other) }
            }
            Because::Never(one, other) => {
                let says = decided.iter().rev().find(|decision| says_never(decision, one, other));
                KeptApart::Decision { decision: says.map(|says| says.number), members: members(one, other) }
            }
            Because::Against => KeptApart::AllPairs { least: None },
        }
    }

    /// Whether it would have united one of some with one of others.
    fn is_across(&self, some: &BTreeSet<&Named>, others: &BTreeSet<&Named>) -> bool {
        let (left, right) = (&self.left, &self.right);
        some.contains(left) && others.contains(right) || some.contains(right) && others.contains(left)
    }
}

fn says_never(one: &Numbered, left: &Named, right: &Named) -> bool {
    let is_split = |member: &Named, from: &[Named], taken: &Named, other: &Named| {
        member == taken && from.contains(other)
    };
    !one.undone
        && match &one.decision.act {
            Act::Never { left: a, right: b } => (a, b) == (left, right) || (b, a) == (left, right),
            Act::Split { member, from } => {
                is_split(member, from, left, right) || is_split(member, from, right, left)
            }
            Act::Join { .. } | Act::Undo { .. } => false,
        }
}

/// A thing as decisions name it.
pub(super) fn named(entities: &Entities, kind: Kind, number: Number) -> Named {
    let (source, id, node) = entities.name(number);
    let node = (kind != Kind::Instance).then(|| node.to_owned());
    Named { source: source.to_owned(), id: id.to_owned(), node }
}

/// The refusals of a run, as they are kept.
pub(super) fn refusals(entities: &Entities, groups: &Groups) -> Vec<Vec<u8>> {
    let levels: [(Kind, &Level); 3] =
        [(Kind::Instance, &groups.instance), (Kind::Work, &groups.work), (Kind::Agent, &groups.agent)];
    let mut all = Vec::new();
    for (kind, level) in levels {
        let name = |number: Number| named(entities, kind, number);
        all.extend(level.refused.iter().take(MOST).map(|refusal| Refused {
            kind: kind.name().to_owned(),
            left: name(refusal.left),
            right: name(refusal.right),
            because: match &refusal.reason {
                Reason::Veto(veto, one, other) => Because::Veto(veto.to_string(), name(*one), name(*other)),
                Reason::Never(one, other) | Reason::Contradiction(one, other) => {
                    Because::Never(name(*one), name(*other))
                }
                Reason::Against => Because::Against,
            },
        }));
    }
    all.iter().filter_map(|one| serde_json::to_vec(one).ok()).collect()
}

/// What the last run refused to unite of one kind; `None` when no run has said.
pub(super) fn listed(cache: &Cache, kind: Kind) -> Result<Option<Vec<Refused>>, PipelineError> {
    let Some(kept) = cache.refused()? else { return Ok(None) };
    let read = kept.iter().filter_map(|json| serde_json::from_slice::<Refused>(json).ok());
    Ok(Some(read.filter(|one| one.kind == kind.name()).collect()))
}

/// The refusal to unite these two.
pub(super) fn of<'r>(refused: &'r [Refused], one: &Named, other: &Named) -> Option<&'r Refused> {
    refused.iter().find(|refusal| refusal.is_across(&BTreeSet::from([one]), &BTreeSet::from([other])))
}

/// The refusal to unite two entries, by their members.
pub(super) fn between<'r>(refused: &'r [Refused], members: &[Vec<Thing>; 2]) -> Option<&'r Refused> {
    let [some, others] = members
        .each_ref()
        .map(|members| members.iter().map(|member| &member.named).collect::<BTreeSet<&Named>>());
    refused.iter().find(|refusal| refusal.is_across(&some, &others))
}
