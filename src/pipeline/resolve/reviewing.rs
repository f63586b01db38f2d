//! Pairs that a person should look at: too alike to be left alone, not alike enough to be merged.

use super::PipelineError;
use super::cache::Cache;
use super::decisions::Named;
use super::entities::{Entities, Number};
use super::entity::Kind;
use super::explaining::not_resolved;
use super::grouping::{Groups, Level};
use super::texts::{ProfileText, Texts};
use crate::pipeline::Session;
use crate::resolve::score::probability;
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

/// The pairs that wait, the likeliest first.
pub fn review(session: &Session) -> Result<Vec<Reviewed>, PipelineError> {
    let cache = Cache::open_read_only(&session.home)?.ok_or_else(not_resolved)?;
    let mut pairs = listed(&cache)?;
    for pair in &mut pairs {
        for named in [&pair.left, &pair.right] {
            let state = session.archive.record(&named.source, &named.id)?;
            pair.gone |= state.is_none_or(|state| state.current().is_none_or(|version| version.withdrawn));
        }
    }
    Ok(pairs)
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
            let named = |number: Number| -> Named {
                let (source, id, node) = entities.name(number);
                let node = (kind != Kind::Instance).then(|| node.to_owned());
                Named { source: source.to_owned(), id: id.to_owned(), node }
            };
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
