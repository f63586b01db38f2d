//! A profile as people write it: TOML, checked before anything is done with it.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use serde::Deserialize;
use toml::Spanned;

use super::{
    Agents, Bands, Block, Compare, Condition, Function, KeyPart, Kind, Level, Problem, Profile, Survivorship,
    Trust, Veto,
};
use crate::compare::name::Measure;
use crate::compare::vector::{Slot, Vector};
use crate::words::Words;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Raw {
    profile: String,
    #[serde(default = "rivals")]
    rivals: Vec<String>,
    #[serde(default)]
    unique_sources: Vec<String>,
    #[serde(default = "confidence")]
    confidence: f64,
    #[serde(default)]
    compare: Vec<RawCompare>,
    #[serde(default)]
    block: Vec<RawBlock>,
    blocking: RawBlocking,
    #[serde(default)]
    veto: Vec<RawVeto>,
    #[serde(default)]
    sign: Vec<RawSign>,
    #[serde(default)]
    interaction: Vec<RawInteraction>,
    bands: Spanned<Bands>,
    #[serde(default)]
    identifiers: RawTrust,
    #[serde(default)]
    survivorship: Survivorship,
    #[serde(default = "agents_by")]
    agents_by: String,
    #[serde(default)]
    agents: Vec<RawAgents>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAgents {
    name: Spanned<String>,
    #[serde(default)]
    types: Vec<Spanned<String>>,
    #[serde(default)]
    has: Vec<String>,
    count: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCompare {
    name: Option<Spanned<String>>,
    feature: Spanned<String>,
    kind: Kind,
    #[serde(default)]
    beside: Vec<String>,
    #[serde(default)]
    measure: Measure,
    #[serde(default)]
    slips: bool,
    /// Names; or chances by name, which then count instead of those of the weights.
    levels: Spanned<toml::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBlock {
    name: String,
    key: Vec<Spanned<String>>,
    largest: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBlocking {
    largest: usize,
    window: usize,
    #[serde(default)]
    split: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawVeto {
    name: String,
    #[serde(default)]
    early: bool,
    #[serde(default)]
    lacking: bool,
    #[serde(default)]
    related: bool,
    when: BTreeMap<String, Spanned<Vec<String>>>,
    #[serde(default)]
    unless: BTreeMap<String, Spanned<Vec<String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSign {
    of: Spanned<String>,
    when: BTreeMap<String, Spanned<Vec<String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawInteraction {
    between: Spanned<[String; 2]>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct RawTrust {
    #[serde(default)]
    deny: Vec<String>,
    crowd: Option<u32>,
    #[serde(default, rename = "unlike-titles")]
    titled: bool,
}

fn rivals() -> Vec<String> {
    vec!["other".into()]
}

fn agents_by() -> String {
    "type".into()
}

fn confidence() -> f64 {
    400.0
}

impl Profile {
    /// Reads a profile and the word lists it uses.
    pub fn parse(text: &str, words: &str) -> Result<Self, Vec<Problem>> {
        let syntax = |text: &str, error: &toml::de::Error| {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            vec![Problem { line, message: error.message().trim().to_owned() }]
        };
        let words = Words::parse(words).map_err(|error| {
            let mut problems = syntax(words, &error);
            problems.iter_mut().for_each(|problem| problem.message.insert_str(0, "in the word lists: "));
            problems
        })?;
        let raw: Raw = toml::from_str(text).map_err(|error| syntax(text, &error))?;
        Reader { text, problems: Vec::new() }.profile(raw, words)
    }
}

pub(super) fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

struct Reader<'a> {
    text: &'a str,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn problem<T>(&mut self, place: &Spanned<T>, message: String) {
        self.problems.push(Problem { line: line_of(self.text, place.span().start), message });
    }

    fn profile(mut self, raw: Raw, words: Words) -> Result<Profile, Vec<Problem>> {
        if raw.rivals.is_empty() {
            self.problems.push(Problem { line: 1, message: "`rivals` must name at least one".into() });
        }
        let mut compare: Vec<Compare> = Vec::new();
        let mut taken = 0;
        for one in raw.compare {
            let place = one.feature.clone();
            let mut one = self.compare(one, &compare, raw.rivals.len() + 1);
            match Slot::behind(taken, one.levels.len()) {
                Some((slot, after)) => (one.slot, taken) = (slot, after),
                None => {
                    let message = format!(
                        "no room for the levels of `{}`: all comparisons together have {} bits",
                        one.name,
                        Vector::BITS
                    );
                    self.problem(&place, message);
                }
            }
            compare.push(one);
        }
        let largest = raw.blocking.largest.max(2);
        let blocks = raw
            .block
            .into_iter()
            .map(|block| Block {
                name: block.name.into(),
                parts: block.key.iter().filter_map(|part| self.key_part(part, &compare)).collect(),
                largest: block.largest.unwrap_or(largest).max(2),
            })
            .collect();
        if let Some(ninth) = raw.blocking.split.get(8) {
            self.problem(ninth, "blocks can be split by 8 features".into());
        }
        let split = raw.blocking.split.iter().filter_map(|part| self.key_part(part, &compare)).collect();
        let vetoes = raw
            .veto
            .into_iter()
            .map(|veto| Veto {
                name: veto.name.into(),
                early: veto.early,
                lacking: veto.lacking,
                related: veto.related,
                when: self.conditions(&veto.when, &compare),
                unless: self.conditions(&veto.unless, &compare),
            })
            .collect();
        let mut signs = Vec::new();
        for sign in &raw.sign {
            match raw.rivals.iter().position(|rival| rival == sign.of.get_ref()) {
                Some(rival) => signs.push((rival, self.conditions(&sign.when, &compare))),
                None => self.problem(&sign.of, format!("`{}` is none of the rivals", sign.of.get_ref())),
            }
        }
        let mut interactions = Vec::new();
        for one in &raw.interaction {
            let names = one.between.get_ref();
            let found =
                names.each_ref().map(|name| compare.iter().position(|compare| *compare.name == **name));
            match found {
                [Some(left), Some(right)] if left != right => interactions.push((left, right)),
                _ => self.problem(
                    &one.between,
                    format!("`{}` and `{}` are not two comparisons", names[0], names[1]),
                ),
            }
        }
        let mut used = FxHashSet::default();
        for (place, pair) in interactions.iter().enumerate() {
            if !used.insert(pair.0) || !used.insert(pair.1) {
                let between = &raw.interaction[place].between;
                self.problem(between, "a comparison can be in one interaction only".into());
            }
        }
        let agents = self.agents(raw.agents);
        let bands = *raw.bands.get_ref();
        if !(0.0 < bands.review && bands.review <= bands.merge && bands.merge < 1.0) {
            self.problem(&raw.bands, "bands must be 0 < review <= merge < 1".into());
        }
        if !self.problems.is_empty() {
            self.problems.sort_by_key(|problem| problem.line);
            return Err(self.problems);
        }
        let boxed = |list: Vec<String>| list.into_iter().map(String::into_boxed_str).collect();
        Ok(Profile {
            name: raw.profile.into(),
            shares: std::iter::once(0.1)
                .chain(raw.rivals.iter().map(|_| 0.9 / raw.rivals.len() as f64))
                .collect(),
            scale: 1.0,
            rivals: raw.rivals.into_iter().map(String::into_boxed_str).collect(),
            words,
            compare,
            blocks,
            split,
            window: raw.blocking.window.max(1),
            vetoes,
            signs,
            interactions,
            bands,
            identifiers: Trust {
                deny: boxed(raw.identifiers.deny),
                crowd: raw.identifiers.crowd.unwrap_or(50),
                titled: raw.identifiers.titled,
            },
            unique_sources: boxed(raw.unique_sources),
            confidence: raw.confidence.max(1.0),
            survivorship: raw.survivorship,
            agents,
            agents_by: raw.agents_by.into(),
        })
    }

    /// Every set has a name of its own, an agent, and types that no other set has.
    fn agents(&mut self, raw: Vec<RawAgents>) -> Vec<Agents> {
        let (mut names, mut types) = (FxHashSet::default(), FxHashSet::default());
        for set in &raw {
            if !names.insert(set.name.get_ref().as_str()) {
                self.problem(&set.name, format!("there are two sets of agents `{}`", set.name.get_ref()));
            }
            if set.count == 0 {
                self.problem(&set.name, format!("`{}` has no agent", set.name.get_ref()));
            }
            for kind in &set.types {
                if !types.insert(kind.get_ref().as_str()) {
                    self.problem(kind, format!("`{}` is assigned to two sets of agents", kind.get_ref()));
                }
            }
        }
        let boxed = |set: RawAgents| Agents {
            name: set.name.into_inner().into(),
            types: set.types.into_iter().map(|kind| kind.into_inner().into_boxed_str()).collect(),
            has: set.has.into_iter().map(String::into_boxed_str).collect(),
            count: set.count.max(1),
        };
        raw.into_iter().map(boxed).collect()
    }

    fn compare(&mut self, raw: RawCompare, before: &[Compare], classes: usize) -> Compare {
        let name = raw.name.as_ref().unwrap_or(&raw.feature);
        if before.iter().any(|compare| *compare.name == **name.get_ref()) {
            self.problem(name, format!("there are two comparisons `{}`", name.get_ref()));
        }
        let known = raw.kind.levels();
        let declared = self.levels(&raw.levels, classes);
        for level in declared.keys().filter(|level| !known.contains(&level.as_str())) {
            self.problem(
                &raw.levels,
                format!("no level `{level}` of this kind; there are {}", known.join(", ")),
            );
        }
        if declared.is_empty() {
            let message = format!("it declares no levels; there are {}", known.join(", "));
            self.problem(&raw.feature, message);
        }
        let has_chances = declared.values().any(Option::is_some);
        let mut levels: Vec<Level> = Vec::new();
        let mut places = vec![0_u8; known.len() + 1];
        for (raw_level, level) in known.iter().enumerate() {
            if let Some(chances) = declared.get(*level) {
                let chances = chances.clone().unwrap_or_else(|| vec![1.0 / declared.len() as f64; classes]);
                levels.push(Level { name: (*level).into(), chances });
                places[raw_level + 1] = levels.len() as u8;
            }
        }
        // What is not declared counts as the next worse level, or as the worst there is.
        let mut next = levels.len() as u8;
        for place in places.iter_mut().skip(1).rev() {
            if *place == 0 {
                *place = next;
            } else {
                next = *place;
            }
        }
        let mut compare = Compare {
            name: name.get_ref().as_str().into(),
            kind: raw.kind,
            feature: raw.feature.get_ref().as_str().into(),
            beside: raw.beside.into_iter().map(String::into_boxed_str).collect(),
            measure: raw.measure,
            slips: raw.slips,
            levels,
            slot: Slot::default(),
            has_chances,
            places,
        };
        compare.normalize();
        if has_chances && let Err(message) = compare.check() {
            self.problem(&raw.levels, message);
        }
        compare
    }

    /// The levels that a comparison declares, with their chances if it names them.
    fn levels(&mut self, raw: &Spanned<toml::Value>, classes: usize) -> BTreeMap<String, Option<Vec<f64>>> {
        let mut levels = BTreeMap::new();
        match raw.get_ref() {
            toml::Value::Array(names) => {
                for name in names {
                    match name.as_str() {
                        Some(name) => _ = levels.insert(name.to_owned(), None),
                        None => self.problem(raw, "a level is a name in quotes".into()),
                    }
                }
            }
            toml::Value::Table(chances) => {
                for (name, values) in chances {
                    let values: Option<Vec<f64>> = values.as_array().map(|values| {
                        let number = |value: &toml::Value| {
                            value.as_float().or_else(|| value.as_integer().map(|number| number as f64))
                        };
                        values.iter().filter_map(number).collect()
                    });
                    let values = values.unwrap_or_default();
                    let is_chance = |chance: &f64| *chance > 0.0 && *chance < 1.0;
                    if values.len() != classes {
                        let found = values.len();
                        self.problem(
                            raw,
                            format!(
                                "`{name}` has {found} of the {classes} chances for \"same\" and the rivals"
                            ),
                        );
                    } else if !values.iter().all(is_chance) {
                        self.problem(raw, format!("the chances of `{name}` must lie between 0 and 1"));
                    }
                    let mut values = values;
                    values.resize(classes, 0.5);
                    levels.insert(name.clone(), Some(values));
                }
            }
            _ => self.problem(raw, "`levels` is a list of names".into()),
        }
        levels
    }

    /// `title.rare(3)`, `isbn`.
    fn key_part(&mut self, place: &Spanned<String>, compare: &[Compare]) -> Option<KeyPart> {
        let text = place.get_ref();
        let (feature, call) = text.split_once('.').unwrap_or((text, "value"));
        let (function, count) = match call.split_once('(') {
            Some((function, count)) => (function, count.trim_end_matches(')').trim().parse().ok()),
            None => (call, Some(0)),
        };
        let readable = |compare: &&Compare| !matches!(compare.kind, Kind::Part | Kind::Number);
        let found = compare.iter().filter(readable).position(|compare| *compare.feature == *feature);
        let comparison = found.and_then(|_| {
            compare.iter().position(|compare| *compare.feature == *feature && readable(&compare))
        });
        let Some(comparison) = comparison else {
            self.problem(place, format!("no comparison reads `{feature}`, so there is no key of it"));
            return None;
        };
        let kind = compare[comparison].kind;
        let function = match (function, count, kind) {
            ("value", Some(0), Kind::Title) => Some(Function::Value),
            ("value", Some(0), _) => Some(Function::Value),
            ("proper", Some(0), Kind::Title) => Some(Function::Proper),
            ("rare", Some(1..), Kind::Title) => count.map(Function::Rare),
            ("pairs", Some(2..), Kind::Title) => count.map(Function::Pairs),
            ("first", Some(1..), Kind::Title) => count.map(Function::First),
            ("grams", Some(1..=16), Kind::Title) => count.map(Function::Grams),
            ("surname", Some(0), Kind::Name) => Some(Function::Surname),
            ("sound", Some(0), Kind::Name) => Some(Function::Sound),
            ("words", Some(0), Kind::Name) => Some(Function::Words),
            ("prefix", Some(1..), Kind::Text | Kind::Phrase) => count.map(Function::Prefix),
            _ => None,
        };
        if function.is_none() {
            self.problem(place, format!("`{call}` is no key of `{feature}`"));
        }
        Some(KeyPart { comparison, function: function? })
    }

    fn conditions(
        &mut self,
        raw: &BTreeMap<String, Spanned<Vec<String>>>,
        compare: &[Compare],
    ) -> Vec<Condition> {
        let mut conditions = Vec::new();
        for (name, levels) in raw {
            let Some(at) = compare.iter().position(|compare| *compare.name == **name) else {
                self.problem(levels, format!("no comparison `{name}`"));
                continue;
            };
            let mut bits = 0;
            for level in levels.get_ref() {
                match compare[at].level_number(level) {
                    Some(number) => bits |= 1 << number,
                    None => self.problem(levels, format!("`{name}` declares no level `{level}`")),
                }
            }
            conditions.push(Condition { comparison: at, slot: compare[at].slot, levels: bits });
        }
        conditions
    }
}
