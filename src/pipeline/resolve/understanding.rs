//! What do the texts say that records are resolved by, and what is wrong with them?
//!
//! Every fault is said with its place in the text it is a fault of. Whoever asks knows the text's name.

use super::entity::Kind;
use super::preferring;
use super::texts::{EntryRule, ProfileText, Question, Role, Text, Texts, WORDS};
use crate::archive::PayloadHash;
use crate::catalogue::guard;
use crate::diagnostic::{Code, Problem};
use crate::ontology::{Prefixes, sparql_parser};
use crate::resolve::profile::Profile;
use crate::resolve::words::Words;
use spargebra::Query;
use std::collections::BTreeMap;
use std::ops::Range;

const ENTRIES_HEADER: &str = "property\tclass\tentry";

/// Understands texts, or says of each what is wrong with it.
pub(super) fn understand(texts: &[Text]) -> (Option<Texts>, Vec<Vec<Problem>>) {
    // Profiles are not to blame for words that cannot be read.
    let own = texts.iter().find(|text| text.role == Role::Words).map(|text| text.text.as_str());
    let words = own.filter(|words| Words::parse(words).is_ok()).unwrap_or(WORDS);
    let mut profiles: BTreeMap<&str, ProfileText> = BTreeMap::new();
    let (mut questions, mut entries, mut read) = (Vec::new(), Vec::new(), Vec::new());
    let mut all = Vec::new();
    for text in texts {
        let found = match text.role {
            Role::Words => Words::parse(&text.text).map(drop).map_err(|error| vec![syntax(&error)]),
            Role::Profile => profile(text, words).map(|profile| {
                let hash = hash([&*text.text, words]);
                profiles.insert(text.name(), ProfileText { profile, hash });
            }),
            Role::Entries => entry_rules(&text.text).map(|rules| entries = rules),
            Role::Features(asked) => parse(&text.text, &["feature", "value"])
                .map(|query| questions.push(Question { asked, is_keys: false, query })),
            Role::Keys(asked) => parse(&text.text, &["key"])
                .map(|query| questions.push(Question { asked, is_keys: true, query })),
        };
        if !matches!(text.role, Role::Words | Role::Profile) {
            read.push(text.text.as_str());
        }
        all.push(found.err().unwrap_or_default());
    }
    let mut profile = |name: &str| profiles.remove(name);
    let (instance, work, agent) =
        (profile("resolve/instance"), profile("resolve/work"), profile("resolve/agent"));
    let texts = match (instance, work, agent) {
        (Some(instance), Some(work), Some(agent)) if all.iter().all(Vec::is_empty) => {
            Some(Texts { instance, work, agent, questions, entries, reading: hash(read) })
        }
        _ => None,
    };
    (texts, all)
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

fn entry_rules(text: &str) -> Result<Vec<EntryRule>, Vec<Problem>> {
    let fault = |number: usize, what: String| Problem::new(Code::BadCodeList, line(text, number), what);
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with('#') && !line.is_empty());
    let header = lines.next();
    if header.is_none_or(|(_, header)| header.trim_end() != ENTRIES_HEADER) {
        let expected = ENTRIES_HEADER.replace('\t', "`, `");
        let at = header.map_or(1, |(number, _)| number);
        return Err(vec![fault(at, format!("no header; expected `{expected}`"))]);
    }
    let (mut rules, mut problems) = (Vec::new(), Vec::new());
    for (number, line) in lines {
        let mut cells = line.split('\t');
        let mut cell = || cells.next().unwrap_or_default().trim();
        let (property, class, kind) = (cell(), cell(), cell());
        let mut term = |name: &str| {
            let found = Prefixes::shipped().expand(name);
            if found.is_none() {
                problems.push(fault(number, format!("`{name}` is no prefixed name")));
            }
            found
        };
        let property = term(property);
        let class = if class == "*" { Some(None) } else { term(class).map(Some) };
        let known = Kind::from_name(kind);
        if known.is_none() {
            problems.push(fault(number, format!("`{kind}` is no kind of entry")));
        }
        if let (Some(property), Some(class), Some(kind)) = (property, class, known) {
            rules.push(EntryRule { property, class, kind });
        }
    }
    // Without rules every entry would be removed.
    if rules.is_empty() && problems.is_empty() {
        problems.push(fault(1, "it names no entries".to_owned()));
    }
    if problems.is_empty() { Ok(rules) } else { Err(problems) }
}
