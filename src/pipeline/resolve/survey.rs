//! Can the merges be trusted? What they rest on, the weakest of them, and a sample to judge by eye.
//!
//! Nothing is written: groups are found again from what the last run left, with the weights in force.
//! A *merge* here is a pair that holds an entry together: an entry of five members has four of them.

use super::cache::Cache;
use super::decisions::{self, Named};
use super::entities::{Compared, Entities, Number, Tables};
use super::entity::Kind;
use super::explaining::profile_of;
use super::grouping::{Basis, Groups, Keepings, Level};
use super::labels::Labels;
use super::merging::{hubs_of_works, spanning};
use super::naming::Naming;
use super::reviewing::{Sketch, sketch};
use super::texts::{Asked, ProfileText, Texts};
use super::{PipelineError, models, reading, refusing, texts_of};
use crate::pipeline::{Session, Watch};
use crate::resolve::cluster::Edge;
use crate::resolve::compare::Comparer;
use crate::resolve::score::probability;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Members of an entry that are compared with each other; an agent may have thousands.
const COMPARED: usize = 40;
/// Probabilities by which merges are counted.
const THRESHOLDS: [f64; 5] = [0.999, 0.99, 0.95, 0.9, 0.5];
/// What merges are said to rest on, at most.
const GROUNDS: usize = 20;

/// What is to be surveyed.
#[derive(Debug, Clone, Copy)]
pub struct SurveyRequest {
    pub kind: Kind,
    /// Upper bound on the merges and entries that are listed of each sort.
    pub most: usize,
    /// Entries with more members than this are listed.
    pub large: usize,
}

/// The merges of one kind.
#[derive(Debug, Serialize)]
pub struct Survey {
    /// What entries are: hubs where works were compared.
    pub kind: Kind,
    pub entries: u64,
    /// Entries of more than one member.
    pub merged: u64,
    /// Pairs that hold them together, and those that a comparison found.
    pub merges: u64,
    pub compared: u64,
    /// Records that changed since the last run, and are counted as the next one will see them.
    pub waiting: u64,
    /// How many merges have this probability or more.
    pub by_probability: Vec<(f64, u64)>,
    /// What weighed most in how many merges: two comparisons with their levels.
    pub grounds: Vec<(String, u64)>,
    /// The merges with the least evidence.
    pub weakest: Vec<SurveyedMerge>,
    /// Entries of many members, the largest first.
    pub large: Vec<SurveyedEntry>,
    /// Entries whose members contradict each other, those with most contradictions first.
    pub suspicious: Vec<SurveyedEntry>,
}

/// One merge.
#[derive(Debug, Serialize)]
pub struct SurveyedMerge {
    pub left: String,
    pub right: String,
    pub left_is: Sketch,
    pub right_is: Sketch,
    pub probability: f64,
    /// What each comparison found, one a line.
    pub levels: String,
}

/// One entry.
#[derive(Debug, Serialize)]
pub struct SurveyedEntry {
    pub iri: String,
    /// What its first member says of itself.
    pub is: Sketch,
    pub members: usize,
    pub contradictions: Vec<Contradiction>,
}

/// Something in which two members of an entry differ.
#[derive(Debug, Serialize)]
pub struct Contradiction {
    pub comparison: String,
    pub members: [String; 2],
    pub left: Vec<String>,
    pub right: Vec<String>,
}

/// What is to be drawn.
#[derive(Debug, Clone, Copy)]
pub struct SampleRequest {
    pub kind: Kind,
    pub number: usize,
    /// Pairs that were nearly merged instead of merges.
    pub apart: bool,
    /// Another number draws others.
    pub seed: u64,
}

/// Pairs for a person to judge.
#[derive(Debug)]
pub struct Sample {
    pub pairs: Vec<SampledPair>,
    /// How many there are to draw from.
    pub of: usize,
}

/// One pair.
#[derive(Debug)]
pub struct SampledPair {
    pub left: Named,
    pub right: Named,
    pub merged: bool,
    pub probability: f64,
    /// What both say, feature by feature.
    pub says: Vec<(String, String, String)>,
}

/// Surveys the merges of one kind.
pub fn survey(
    session: &Session,
    request: &SurveyRequest,
    watch: &mut dyn Watch,
) -> Result<Survey, PipelineError> {
    Ground::lay(session, request.kind, watch, |ground| ground.survey(request))
}

/// Draws pairs at random. The same catalogue, number and seed give the same pairs.
pub fn sample(
    session: &Session,
    request: &SampleRequest,
    watch: &mut dyn Watch,
) -> Result<Sample, PipelineError> {
    Ground::lay(session, request.kind, watch, |ground| Ok(ground.sample(request)))
}

/// What both start from.
struct Ground<'a> {
    session: &'a Session,
    cache: &'a Cache,
    entities: &'a Entities,
    asked: Asked,
    profile: &'a ProfileText,
    compared: &'a Compared,
    level: &'a Level,
    /// The kind of entries that merges make.
    entry: Kind,
    /// What is compared.
    kind: Kind,
    naming: Naming,
    /// For each thing the root of its entry.
    of: Vec<Number>,
    waiting: u64,
}

impl Ground<'_> {
    fn lay<T>(
        session: &Session,
        kind: Kind,
        watch: &mut dyn Watch,
        then: impl FnOnce(&Ground<'_>) -> Result<T, PipelineError>,
    ) -> Result<T, PipelineError> {
        let texts: Texts = texts_of(session)?;
        let cache = Cache::open(&session.home)?;
        let read = reading::refresh(session, &texts, &cache, watch)?;
        let (entities, tables): (Entities, Tables) = Entities::read(&cache)?;
        let (rulings, _) = decisions::rulings(&decisions::decisions(session)?, &entities);
        let known = models::read(session, &texts, read.records, false)?;
        let last = Keepings::new(&session.home, &texts);
        watch.begin("comparing", None);
        let groups: Groups = Basis {
            entities: &entities,
            tables: &tables,
            texts: &texts,
            rulings: &rulings,
            labels: &Labels::read(session, &entities)?,
            last: Some(&last),
        }
        .group(known)?;
        watch.end();
        let naming = Naming::of_groups(&entities, &groups.of, &cache)?;
        let (asked, profile) = profile_of(&texts, kind)?;
        let (compared, level, entry, of) = match asked {
            Asked::Work => (&tables.work, &groups.work, Kind::Hub, hubs_of_works(&entities, &groups)),
            Asked::Agent => (&tables.agent, &groups.agent, Kind::Agent, groups.of.clone()),
            _ => (&tables.instance, &groups.instance, Kind::Instance, groups.of.clone()),
        };
        then(&Ground {
            session,
            cache: &cache,
            entities: &entities,
            asked,
            profile,
            compared,
            level,
            entry,
            kind,
            naming,
            of,
            waiting: read.read + read.gone,
        })
    }

    fn survey(&self, request: &SurveyRequest) -> Result<Survey, PipelineError> {
        let mut members: BTreeMap<Number, Vec<Number>> = BTreeMap::new();
        for (number, root) in (0..).zip(&self.of) {
            if self.entities.kind(number) == self.kind {
                members.entry(*root).or_default().push(number);
            }
        }
        let merged: Vec<(Number, &Vec<Number>)> =
            members.iter().filter(|(_, members)| members.len() > 1).map(|(root, all)| (*root, all)).collect();
        let merges = self.merges();
        let by_probability = THRESHOLDS
            .iter()
            .map(|least| {
                let count = merges.iter().filter(|edge| probability(edge.weight) >= *least).count();
                (*least, count as u64)
            })
            .collect();
        let mut grounds: FxHashMap<String, u64> = FxHashMap::default();
        for edge in &merges {
            *grounds.entry(self.ground_of(edge)).or_default() += 1;
        }
        let mut grounds: Vec<(String, u64)> = grounds.into_iter().collect();
        grounds.sort_unstable_by(|left, right| (Reverse(left.1), &left.0).cmp(&(Reverse(right.1), &right.0)));
        grounds.truncate(GROUNDS);
        let weakest = merges.iter().take(request.most).map(|edge| self.merge(edge));
        let comparer = Comparer::new(&self.compared.table, &self.profile.profile, Some(&self.level.model));
        let mut large: Vec<&(Number, &Vec<Number>)> =
            merged.iter().filter(|(_, members)| members.len() > request.large).collect();
        large.sort_by_key(|(root, members)| (Reverse(members.len()), *root));
        let large = large.into_iter().take(request.most);
        let large: Result<Vec<SurveyedEntry>, PipelineError> =
            large.map(|(root, members)| self.surveyed(*root, members, Vec::new())).collect();
        let mut suspicious: Vec<(Number, &Vec<Number>, Vec<Contradiction>)> = merged
            .iter()
            .map(|(root, members)| (*root, *members, self.contradictions(&comparer, members)))
            .filter(|(.., found)| !found.is_empty())
            .collect();
        suspicious
            .sort_by_key(|(root, members, found)| (Reverse(found.len()), Reverse(members.len()), *root));
        let suspicious: Result<Vec<SurveyedEntry>, PipelineError> = suspicious
            .into_iter()
            .take(request.most)
            .map(|(root, members, found)| self.surveyed(root, members, found))
            .collect();
        Ok(Survey {
            kind: self.entry,
            entries: members.len() as u64,
            merged: merged.len() as u64,
            merges: merged.iter().map(|(_, members)| members.len() as u64 - 1).sum(),
            compared: merges.len() as u64,
            waiting: self.waiting,
            by_probability,
            grounds,
            weakest: weakest.collect::<Result<_, _>>()?,
            large: large?,
            suspicious: suspicious?,
        })
    }

    /// The pairs that hold entries together, the weakest first.
    fn merges(&self) -> Vec<Edge> {
        let mut merges: Vec<Edge> = spanning(&self.level.edges, &self.of).into_values().flatten().collect();
        merges.sort_by(|left, right| {
            left.weight.total_cmp(&right.weight).then((left.left, left.right).cmp(&(right.left, right.right)))
        });
        merges
    }

    /// The two comparisons that weigh most in a merge.
    fn ground_of(&self, edge: &Edge) -> String {
        let profile = &self.profile.profile;
        let mut parts = self.level.model.verdict(edge.vector).parts;
        parts.sort_by(|left, right| right.2.total_cmp(&left.2));
        let told = parts.iter().filter(|(.., bits)| *bits > 0.0).take(2).filter_map(|(first, ..)| {
            let compare = profile.compare.get(*first)?;
            Some(format!("{} {}", compare.name, compare.level_name(compare.slot.level(edge.vector))))
        });
        told.collect::<Vec<_>>().join(", ")
    }

    fn merge(&self, edge: &Edge) -> Result<SurveyedMerge, PipelineError> {
        let [left, right] = [edge.left, edge.right].map(|number| self.named(number));
        Ok(SurveyedMerge {
            left_is: sketch(self.cache, self.asked, &left)?,
            right_is: sketch(self.cache, self.asked, &right)?,
            left: left.to_string(),
            right: right.to_string(),
            probability: probability(edge.weight),
            levels: super::merging::levels(&self.profile.profile, &self.level.model, edge.vector),
        })
    }

    fn surveyed(
        &self,
        root: Number,
        members: &[Number],
        contradictions: Vec<Contradiction>,
    ) -> Result<SurveyedEntry, PipelineError> {
        let first = members.first().copied().unwrap_or(root);
        let iri = self.naming.of.get(&root).map(|id| self.session.home.graphs.entry(self.entry.name(), *id));
        Ok(SurveyedEntry {
            iri: iri.map(oxrdf::NamedNode::into_string).unwrap_or_default(),
            is: sketch(self.cache, self.asked, &self.named(first))?,
            members: members.len(),
            contradictions,
        })
    }

    /// In what members differ: each comparison that finds two of them on its last level, once.
    fn contradictions(&self, comparer: &Comparer<'_>, members: &[Number]) -> Vec<Contradiction> {
        let profile = &self.profile.profile;
        let mut found: BTreeMap<usize, (Number, Number)> = BTreeMap::new();
        let some = members.get(..COMPARED).unwrap_or(members);
        for (at, left) in some.iter().enumerate() {
            for right in &some[at + 1..] {
                let (Some(a), Some(b)) = (self.compared.id(*left), self.compared.id(*right)) else {
                    continue;
                };
                let vector = comparer.vector(a.min(b), a.max(b));
                for (place, compare) in profile.compare.iter().enumerate() {
                    let level = usize::from(compare.slot.level(vector));
                    if level > 1 && level == compare.levels.len() {
                        found.entry(place).or_insert((*left, *right));
                    }
                }
            }
        }
        let contradiction = |(place, (left, right)): (usize, (Number, Number))| Contradiction {
            comparison: profile.compare[place].name.to_string(),
            members: [left, right].map(|number| self.named(number).to_string()),
            left: self.values(left, &profile.compare[place].feature),
            right: self.values(right, &profile.compare[place].feature),
        };
        found.into_iter().map(contradiction).collect()
    }

    fn sample(&self, request: &SampleRequest) -> Sample {
        let mut drawn: Vec<Edge> = if request.apart { self.level.review.clone() } else { self.merges() };
        let of = drawn.len();
        let lot = |edge: &Edge| {
            let [left, right] = [edge.left, edge.right].map(|number| self.named(number));
            let name = format!("{}\0{left}\0{right}", request.seed);
            (xxhash_rust::xxh3::xxh3_64(name.as_bytes()), edge.left, edge.right)
        };
        drawn.sort_by_cached_key(lot);
        drawn.truncate(request.number);
        let pairs = drawn.iter().map(|edge| SampledPair {
            left: self.named(edge.left),
            right: self.named(edge.right),
            merged: !request.apart,
            probability: probability(edge.weight),
            says: self.beside(edge.left, edge.right),
        });
        Sample { pairs: pairs.collect(), of }
    }

    /// What two things say, feature by feature in the order of the profile.
    fn beside(&self, left: Number, right: Number) -> Vec<(String, String, String)> {
        let mut features: Vec<&str> = Vec::new();
        for compare in &self.profile.profile.compare {
            for feature in std::iter::once(&compare.feature).chain(&compare.beside) {
                if !features.contains(&&**feature) {
                    features.push(feature);
                }
            }
        }
        let said = features.into_iter().map(|feature| {
            let [left, right] = [left, right].map(|number| self.values(number, feature).join(" | "));
            (feature.to_owned(), left, right)
        });
        said.filter(|(_, left, right)| !left.is_empty() || !right.is_empty()).collect()
    }

    fn values(&self, number: Number, feature: &str) -> Vec<String> {
        let id = self.compared.id(number);
        let said = id.map(|id| self.compared.table.values(id, feature)).unwrap_or_default();
        said.into_iter().map(str::to_owned).collect()
    }

    fn named(&self, number: Number) -> Named {
        refusing::named(self.entities, self.kind, number)
    }
}
