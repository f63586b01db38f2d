//! What do the texts say that records are resolved by, and what is wrong with them?
//!
//! Every fault is said with its place in the text it is a fault of. Whoever asks knows the text's name.

use super::entity::Kind;
use super::preferring;
use super::texts::{
    EntryRule, LevelRule, NodeCondition, ProfileText, Question, Questionnaire, Role, Stays, Text, Texts,
    WORDS,
};
use crate::archive::PayloadHash;
use crate::catalogue::guard;
use crate::diagnostic::{Code, Problem};
use crate::ontology::{Prefixes, sparql_parser};
use crate::resolve::profile::Profile;
use crate::resolve::words::Words;
use pinakes_ask::Questions;
use spargebra::Query;
use std::collections::BTreeMap;
use std::ops::Range;

const ENTRIES_HEADER: &str = "property\tclass\tentry";
const LEVELS_HEADER: &str = "property\tnode\tstays";

/// Understands texts, or says of each what is wrong with it.
pub(super) fn understand(texts: &[Text]) -> (Option<Texts>, Vec<Vec<Problem>>) {
    // Profiles are not to blame for words that cannot be read.
    let own = texts.iter().find(|text| text.role == Role::Words).map(|text| text.text.as_str());
    let words = own.filter(|words| Words::parse(words).is_ok()).unwrap_or(WORDS);
    let mut profiles: BTreeMap<&str, ProfileText> = BTreeMap::new();
    let (mut questions, mut entries, mut read) = (Vec::new(), Vec::new(), Vec::new());
    let (mut levels, mut placing) = (Vec::new(), hash([]));
    let mut all: Vec<Vec<Problem>> = Vec::new();
    let mut faulty: Vec<(Option<usize>, Vec<Problem>)> = Vec::new();
    for text in texts {
        let found = match text.role {
            Role::Words => Words::parse(&text.text).map(drop).map_err(|error| vec![syntax(&error)]),
            // Weights are read with their profile.
            Role::Weights(_) => Ok(()),
            Role::Profile => profile(text, words).map(|mut profile| {
                let weights = |text: &Text| text.role == Role::Weights(name_of(&profile.name));
                let at = texts.iter().position(weights);
                let given = at.map_or("", |at| texts[at].text.as_str());
                if let Err(problems) = profile.weigh(given) {
                    let at_line = |one: &crate::resolve::profile::Problem| {
                        Problem::new(Code::RuleSyntax, line(given, one.line), &one.message)
                    };
                    faulty.push((at, problems.iter().map(at_line).collect()));
                }
                let hash = hash([&*text.text, words, given]);
                profiles.insert(text.name(), ProfileText { profile, hash });
            }),
            Role::Entries => entry_rules(&text.text).map(|rules| entries = rules),
            Role::Levels => level_rules(&text.text).map(|rules| {
                levels = rules;
                placing = hash([&*text.text]);
            }),
            Role::Features(asked) => parse(&text.text, &["feature", "value"])
                .map(|query| questions.push((Question { asked, is_keys: false }, query))),
            Role::Keys(asked) => parse(&text.text, &["key"])
                .map(|query| questions.push((Question { asked, is_keys: true }, query))),
        };
        if !matches!(text.role, Role::Words | Role::Weights(_) | Role::Profile | Role::Levels) {
            read.push(text.text.as_str());
        }
        all.push(found.err().unwrap_or_default());
    }
    for (at, problems) in faulty {
        if let Some(known) = at.and_then(|at| all.get_mut(at)) {
            *known = problems;
        }
    }
    let mut profile = |name: &str| profiles.remove(name);
    let (instance, work, agent) =
        (profile("resolve/instance"), profile("resolve/work"), profile("resolve/agent"));
    let texts = match (instance, work, agent) {
        (Some(instance), Some(work), Some(agent)) if all.iter().all(Vec::is_empty) => {
            let (questions, queries) = questions.into_iter().unzip();
            let queries = Questions::new(queries);
            let questionnaire = Questionnaire { questions, queries, entries, hash: hash(read) };
            Some(Texts { instance, work, agent, questionnaire, levels, placing })
        }
        _ => None,
    };
    (texts, all)
}

/// The name of a profile as its weights know it.
fn name_of(profile: &str) -> &'static str {
    match profile {
        "instance" => "instance",
        "work" => "work",
        _ => "agent",
    }
}

fn hash<'a>(texts: impl IntoIterator<Item = &'a str>) -> PayloadHash {
    let mut all = Vec::new();
    for text in texts {
        all.extend_from_slice(&(text.len() as u64).to_le_bytes());
        all.extend_from_slice(text.as_bytes());
    }
    PayloadHash::of(&all)
}

fn syntax(error: &toml::de::Error) -> Problem {
    Problem::new(Code::RuleSyntax, error.span().unwrap_or(0..1), error.message().trim())
}

fn line_start(text: &str, number: usize) -> usize {
    text.split_inclusive('\n').take(number.saturating_sub(1)).map(str::len).sum()
}

/// The whole of a line, by its number from 1.
fn line(text: &str, number: usize) -> Range<usize> {
    let start = line_start(text, number);
    let line = text.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
    let indent = line.len() - line.trim_start().len();
    start + indent..start + line.len().max(1)
}

fn profile(text: &Text, words: &str) -> Result<Profile, Vec<Problem>> {
    let at = |number: usize, message: &str| Problem::new(Code::RuleSyntax, line(&text.text, number), message);
    let profile = Profile::parse(&text.text, words).map_err(|problems| -> Vec<Problem> {
        problems.iter().map(|one| at(one.line, &one.message)).collect()
    })?;
    let mut problems = Vec::new();
    if text.name().strip_prefix("resolve/") != Some(&*profile.name) {
        let stands =
            text.text.lines().position(|line| line.starts_with("profile")).map_or(1, |line| line + 1);
        problems.push(at(stands, &format!("it is called after the profile `{}`", profile.name)));
    }
    // What survives stands below everything else, each name in quotes.
    let below = text.text.find("[survivorship").unwrap_or(0);
    for (name, message) in preferring::faults(&profile.survivorship) {
        let quoted = text.text.get(below..).and_then(|rest| rest.find(&format!("\"{name}\"")));
        let start = below + quoted.map_or(0, |at| at + 1);
        problems.push(Problem::new(Code::RuleSyntax, start..start + name.len(), message));
    }
    if problems.is_empty() { Ok(profile) } else { Err(problems) }
}

/// The variables by which every row is read.
const ROW: [&str; 2] = ["graph", "entity"];

fn parse(text: &str, more: &[&str]) -> Result<Query, Vec<Problem>> {
    let fault = |at: Range<usize>, reason: String| vec![Problem::new(Code::ExpressionSyntax, at, reason)];
    guard::check(text).map_err(|refusal| fault(0..1, refusal.to_string()))?;
    let query = sparql_parser().parse_query(text).map_err(|error| {
        let message = error.to_string();
        // `error at LINE:COLUMN: …`
        let told = message.strip_prefix("error at ").and_then(|rest| rest.split_once(": "));
        let Some((place, reason)) = told else { return fault(0..1, message) };
        let mut numbers = place.split(':').map(|number| number.parse().unwrap_or(1));
        let (number, column) = (numbers.next().unwrap_or(1), numbers.next().unwrap_or(1));
        let start = line_start(text, number);
        let line = text.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
        let mut letters = line.char_indices();
        let at = start + letters.nth(column.saturating_sub(1)).map_or(line.len(), |(at, _)| at);
        // Every letter that might stand there would be listed.
        let is_list = reason.starts_with("expected");
        let reason = if is_list { "the query does not parse near here" } else { reason };
        fault(at..at + 1, reason.to_owned())
    })?;
    let select = text.lines().position(|line| line.to_ascii_uppercase().contains("SELECT")).unwrap_or(0) + 1;
    let Query::Select { pattern, .. } = &query else {
        return Err(fault(0..1, "it must be a SELECT".to_owned()));
    };
    let mut variables = Vec::new();
    pattern.on_in_scope_variable(|variable| variables.push(variable.as_str().to_owned()));
    let missing = ROW.iter().chain(more).filter(|name| !variables.iter().any(|known| known == *name));
    let problems: Vec<Problem> =
        missing.flat_map(|name| fault(line(text, select), format!("its SELECT has no `?{name}`"))).collect();
    if problems.is_empty() { Ok(query) } else { Err(problems) }
}

/// The lines of a table below its header, with their numbers and cells.
fn table<'a>(text: &'a str, expected: &str) -> Result<Vec<(usize, Vec<&'a str>)>, Vec<Problem>> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with('#') && !line.is_empty());
    let header = lines.next();
    if header.is_none_or(|(_, header)| header.trim_end() != expected) {
        let expected = expected.replace('\t', "`, `");
        let at = header.map_or(1, |(number, _)| number);
        return Err(vec![table_fault(text, at, format!("no header; expected `{expected}`"))]);
    }
    Ok(lines.map(|(number, line)| (number, line.split('\t').map(str::trim).collect())).collect())
}

fn table_fault(text: &str, number: usize, what: String) -> Problem {
    Problem::new(Code::BadCodeList, line(text, number), what)
}

fn level_rules(text: &str) -> Result<Vec<LevelRule>, Vec<Problem>> {
    let (mut rules, mut problems) = (Vec::new(), Vec::new());
    for (number, cells) in table(text, LEVELS_HEADER)? {
        let cell = |at: usize| cells.get(at).copied().unwrap_or_default();
        let mut term = |name: &str| {
            let found = Prefixes::shipped().expand(name);
            if found.is_none() {
                problems.push(table_fault(text, number, format!("`{name}` is no prefixed name")));
            }
            found
        };
        let property = term(cell(0));
        let node = match cell(1).split_once('=') {
            _ if cell(1) == "*" => Some(NodeCondition::Anything),
            Some(("", value)) => term(value).map(NodeCondition::Is),
            Some((says, value)) => {
                term(says).zip(term(value)).map(|(says, value)| NodeCondition::Says(says, value))
            }
            None => term(cell(1)).map(NodeCondition::Class),
        };
        let stays = match cell(2) {
            "both" => Stays::Both,
            "instance" => Stays::Instance,
            "record" => Stays::Record,
            other => {
                let what = format!("`{other}` is none of `instance`, `both` and `record`");
                problems.push(table_fault(text, number, what));
                continue;
            }
        };
        if let (Some(property), Some(node)) = (property, node) {
            rules.push(LevelRule { property, node, stays });
        }
    }
    if problems.is_empty() { Ok(rules) } else { Err(problems) }
}

fn entry_rules(text: &str) -> Result<Vec<EntryRule>, Vec<Problem>> {
    let (mut rules, mut problems) = (Vec::new(), Vec::new());
    for (number, cells) in table(text, ENTRIES_HEADER)? {
        let cell = |at: usize| cells.get(at).copied().unwrap_or_default();
        let (property, class, kind) = (cell(0), cell(1), cell(2));
        let mut term = |name: &str| {
            let found = Prefixes::shipped().expand(name);
            if found.is_none() {
                problems.push(table_fault(text, number, format!("`{name}` is no prefixed name")));
            }
            found
        };
        let property = term(property);
        let class = if class == "*" { Some(None) } else { term(class).map(Some) };
        let known = Kind::from_name(kind);
        if known.is_none() {
            problems.push(table_fault(text, number, format!("`{kind}` is no kind of entry")));
        }
        if let (Some(property), Some(class), Some(kind)) = (property, class, known) {
            rules.push(EntryRule { property, class, kind });
        }
    }
    // Without rules every entry would be removed.
    if rules.is_empty() && problems.is_empty() {
        problems.push(table_fault(text, 1, "it names no entries".to_owned()));
    }
    if problems.is_empty() { Ok(rules) } else { Err(problems) }
}
