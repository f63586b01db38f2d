//! Pairs that a person should look at: too alike to be left alone, not alike enough to be merged.

use super::cache::Cache;
use super::decisions::{Named, decisions};
use super::entities::{Entities, Number};
use super::entity::Kind;
use super::explaining::{not_resolved, profile_of};
use super::grouping::{Groups, Level};
use super::refusing::{self, KeptApart, Refused};
use super::texts::{Asked, ProfileText, Texts};
use super::{PipelineError, texts_of};
use crate::pipeline::Session;
use crate::resolve::score::probability;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// More than this nobody looks at.
const MOST: usize = 100_000;

/// A pair for review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reviewed {
    /// By which it is accepted or rejected; it follows from the names of both.
    pub id: String,
    pub kind: String,
    pub left: Named,
    pub right: Named,
    pub probability: f64,
    /// Evidence in bits.
    pub weight: f64,
    /// What each comparison found, one a line.
    pub levels: String,
    /// One of the two is no longer there; nothing can be decided until the next run.
    #[serde(default)]
    pub gone: bool,
}

/// What waits for a person.
#[derive(Debug)]
pub struct Queue {
    /// The likeliest first.
    pub pairs: Vec<Waiting>,
    /// How many there are beside those that were asked for.
    pub more: usize,
}

/// A pair for review, with what a person has to know of it.
#[derive(Debug, Serialize)]
pub struct Waiting {
    #[serde(flatten)]
    pub pair: Reviewed,
    pub left_is: Sketch,
    pub right_is: Sketch,
    /// The probability from which on pairs are merged, and that from which on they are listed.
    pub merged_from: f64,
    pub listed_from: f64,
    /// It is likely enough to be merged; this keeps the two apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_apart: Option<KeptApart>,
}

/// By what a person knows a thing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Sketch {
    /// Of an agent the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Of an agent that of birth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<String>,
    /// Of an agent something they had a part in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<String>,
}

/// The pairs of a kind that wait, the likeliest first; so many, or all.
pub fn review(session: &Session, kind: Kind, most: Option<usize>) -> Result<Queue, PipelineError> {
    let cache = Cache::open_read_only(&session.home)?.ok_or_else(not_resolved)?;
    let texts = texts_of(session)?;
    let (asked, profile) = profile_of(&texts, kind)?;
    let decided = decisions(session)?;
    let refused = refusing::listed(&cache, kind)?.unwrap_or_default();
    let refused: FxHashMap<(&Named, &Named), &Refused> =
        refused.iter().map(|one| ((&one.left, &one.right), one)).collect();
    let mut listed = listed(&cache)?;
    listed.retain(|pair| pair.kind == kind.name());
    let shown = most.unwrap_or(listed.len()).min(listed.len());
    let mut pairs = Vec::with_capacity(shown);
    for mut pair in listed.drain(..shown) {
        for named in [&pair.left, &pair.right] {
            let state = session.archive.record(&named.source, &named.id)?;
            pair.gone |= state.is_none_or(|state| state.current().is_none_or(|version| version.withdrawn));
        }
        let refusal =
            refused.get(&(&pair.left, &pair.right)).or_else(|| refused.get(&(&pair.right, &pair.left)));
        pairs.push(Waiting {
            left_is: sketch(&cache, asked, &pair.left)?,
            right_is: sketch(&cache, asked, &pair.right)?,
            merged_from: profile.profile.bands.merge,
            listed_from: profile.profile.bands.review,
            kept_apart: refusal.map(|refusal| refusal.kept_apart(&decided)),
            pair,
        });
    }
    Ok(Queue { pairs, more: listed.len() })
}

/// What a record was read to say of a thing in it.
pub(super) fn sketch(cache: &Cache, asked: Asked, named: &Named) -> Result<Sketch, PipelineError> {
    let Some(reading) = cache.reading(&named.source, &named.id)? else { return Ok(Sketch::default()) };
    let is_meant = |place: usize| {
        reading.found.get(place).is_some_and(|found| match &named.node {
            Some(node) => *found.node == **node,
            None => found.kind == Kind::Instance,
        })
    };
    let first = |features: &[&str]| {
        let said = |feature: &&str| {
            let mut rows = reading.rows.iter().filter(|row| row.asked == asked && is_meant(row.entity));
            rows.find(|row| *row.feature == **feature).map(|row| row.value.to_string())
        };
        features.iter().find_map(said)
    };
    Ok(match asked {
        Asked::Agent => {
            Sketch { title: first(&["name"]), author: None, year: first(&["birth"]), work: first(&["title"]) }
        }
        _ => Sketch {
            title: first(&["title"]),
            author: first(&["creator", "responsibility"]),
            year: first(&["year"]),
            work: None,
        },
    })
}

pub(super) fn listed(cache: &Cache) -> Result<Vec<Reviewed>, PipelineError> {
    let kept = cache.review()?;
    Ok(kept.iter().filter_map(|json| serde_json::from_slice(json).ok()).collect())
}

/// The pairs of a run, as they are kept.
pub(super) fn pairs(entities: &Entities, groups: &Groups, texts: &Texts) -> Vec<Vec<u8>> {
    let mut pairs: Vec<Reviewed> = Vec::new();
    let levels: [(Kind, &Level, &ProfileText); 3] = [
        (Kind::Instance, &groups.instance, &texts.instance),
        (Kind::Work, &groups.work, &texts.work),
        (Kind::Agent, &groups.agent, &texts.agent),
    ];
    for (kind, level, profile) in levels {
        for edge in level.review.iter().take(MOST) {
            let named = |number: Number| refusing::named(entities, kind, number);
            let (left, right) = (named(edge.left), named(edge.right));
            let name = format!("{kind:?}\0{left}\0{right}");
            pairs.push(Reviewed {
                id: format!("{:012x}", xxhash_rust::xxh3::xxh3_64(name.as_bytes()) >> 16),
                kind: kind.name().to_owned(),
                left,
                right,
                probability: probability(edge.weight),
                weight: edge.weight,
                levels: super::merging::levels(&profile.profile, &level.model, edge.vector),
                gone: false,
            });
        }
    }
    pairs.iter().filter_map(|pair| serde_json::to_vec(pair).ok()).collect()
}
