//! Examples: the records in `given`, and whether a rule makes of them what `gives` says.

use super::file::{ExampleText, RuleFile, Text};
use super::fragment;
use super::problem::Problem;
use super::program::{Given, Rule};
use super::run::{RecordNames, View};
use super::set::{Concordances, Loaded};
use super::turtle;
use crate::diagnostic::Code;
use crate::record::{Model, Record, RecordBuilder};
use oxrdf::graph::CanonicalizationAlgorithm;
use oxrdf::{BlankNode, Graph, NamedNode, NamedOrBlankNode, Term, Triple};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use spargebra::term::{NamedNodePattern, TermPattern};
use std::ops::Range;

/// The leader of a record whose example has none: a book.
const LEADER: &str = "00000nam a2200000 a 4500";
/// The record of an example.
const RECORD: &str = "urn:example:record";

/// What came of an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    /// Lines of Turtle: those that were expected and not made, and the other way round.
    Differs {
        missing: Vec<String>,
        surplus: Vec<String>,
    },
    /// Other notices than the example names.
    Notices {
        expected: Vec<String>,
        found: Vec<String>,
    },
    /// The example itself cannot be read.
    Unreadable(String),
}

impl Verdict {
    /// What a person wants to see of it.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Passed => Vec::new(),
            Self::Differs { missing, surplus } => {
                let missing = missing.iter().map(|line| format!("- {line}"));
                missing.chain(surplus.iter().map(|line| format!("+ {line}"))).collect()
            }
            Self::Notices { expected, found } => {
                vec![format!("- reports {}", expected.join(", ")), format!("+ reports {}", found.join(", "))]
            }
            Self::Unreadable(reason) => vec![format!("! {reason}")],
        }
    }
}

/// Runs one example of a rule.
pub fn check(concordances: &Concordances, model: Model, rule: &Rule, example: &ExampleText) -> Verdict {
    let record = match given(model, &example.given.value) {
        Ok(record) => record,
        Err(mistake) => return Verdict::Unreadable(mistake.reason),
    };
    let expected = match gives(&example.gives) {
        Ok(expected) => expected,
        Err(problem) => return Verdict::Unreadable(format!("`gives` does not parse: {}", problem.message)),
    };
    let view = View::new(&record);
    let of_source = |id: &str| format!("urn:example:record/{}", crate::record::percent_encode(id));
    let agency = record.field("003").map(|field| field.text().to_owned());
    let names = RecordNames { record: RECORD, of_source: &of_source, agency: agency.as_deref() };
    let outcome = concordances.run_one(rule, &view, &names);
    let found: Vec<Triple> = outcome.triples.iter().map(blank).collect();
    let (expected, found) = (canonical(&expected), canonical(&found));
    if expected != found {
        let (missing, surplus) = difference(&lines(&expected), &lines(&found));
        return Verdict::Differs { missing, surplus };
    }
    let mut codes: Vec<String> = outcome.notices.iter().map(|notice| notice.code.to_string()).collect();
    codes.sort();
    codes.dedup();
    let mut wanted = example.diagnostics.clone();
    wanted.sort();
    if codes != wanted {
        return Verdict::Notices { expected: wanted, found: codes };
    }
    Verdict::Passed
}

fn lines(triples: &[Triple]) -> Vec<String> {
    turtle::write(triples, RECORD).lines().map(str::to_owned).collect()
}

/// Lines only one of the two has.
fn difference(expected: &[String], found: &[String]) -> (Vec<String>, Vec<String>) {
    let only = |these: &[String], those: &[String]| {
        let mut rest: Vec<&String> = those.iter().collect();
        let mut only = Vec::new();
        for line in these {
            match rest.iter().position(|other| {
                other.trim_end_matches([' ', ';', '.']) == line.trim_end_matches([' ', ';', '.'])
            }) {
                Some(at) => {
                    rest.remove(at);
                }
                None => only.push(line.clone()),
            }
        }
        only
    };
    (only(expected, found), only(found, expected))
}

/// Statements with nodes named alike, in an order of their own.
fn canonical(triples: &[Triple]) -> Vec<Triple> {
    let mut graph: Graph = triples.iter().collect();
    graph.canonicalize(CanonicalizationAlgorithm::Unstable);
    let mut triples: Vec<Triple> = graph.iter().map(|triple| triple.into_owned()).collect();
    triples.sort_by_key(|triple| triple.to_string());
    triples
}

/// Nodes the rule named become blank nodes, since examples do not know their names.
fn blank(triple: &Triple) -> Triple {
    let node = |node: &NamedNode| -> NamedOrBlankNode {
        let subject = NamedOrBlankNode::NamedNode(node.clone());
        if !turtle::is_node(&subject, RECORD) {
            return subject;
        }
        let name = node.as_str().rsplit('#').next().unwrap_or_default().replace('-', "x");
        BlankNode::new(name).map_or(subject, NamedOrBlankNode::BlankNode)
    };
    let subject = match &triple.subject {
        NamedOrBlankNode::NamedNode(subject) => node(subject),
        subject => subject.clone(),
    };
    let object = match &triple.object {
        Term::NamedNode(object) => node(object).into(),
        object => object.clone(),
    };
    Triple { subject, predicate: triple.predicate.clone(), object }
}

/// The statements of `gives`; variables that are not given stand for nodes.
fn gives(text: &Text) -> Result<Vec<Triple>, Problem> {
    let mut problems = Vec::new();
    let tokens = fragment::scan(text, &mut problems);
    let Some(patterns) = tokens.and_then(|tokens| fragment::template(text, &tokens, &mut problems)) else {
        let unknown = || Problem::new(Code::BadExample, text.at.clone(), "this is no template");
        return Err(problems.into_iter().next().unwrap_or_else(unknown));
    };
    let refuse = |reason: String| Problem::new(Code::BadExample, text.at.clone(), reason);
    let term = |pattern: &TermPattern| -> Term {
        match pattern {
            TermPattern::NamedNode(node) => node.clone().into(),
            TermPattern::Literal(literal) => literal.clone().into(),
            TermPattern::BlankNode(node) => node.clone().into(),
            TermPattern::Variable(variable) => match Given::from_name(variable.as_str()) {
                Some(given) if given.is_thing() && given != Given::Item => {
                    let iri = match given {
                        Given::Record => RECORD.to_owned(),
                        _ => format!("{RECORD}#{}", variable.as_str()),
                    };
                    NamedNode::new_unchecked(iri).into()
                }
                _ => BlankNode::new(format!("v{}", variable.as_str()))
                    .map_or_else(|_| BlankNode::default().into(), Into::into),
            },
        }
    };
    patterns
        .iter()
        .map(|pattern| {
            let subject = match term(&pattern.subject) {
                Term::NamedNode(node) => node.into(),
                Term::BlankNode(node) => node.into(),
                Term::Literal(literal) => return Err(refuse(format!("`{literal}` is no subject"))),
            };
            let NamedNodePattern::NamedNode(predicate) = &pattern.predicate else {
                return Err(refuse("a predicate in `gives` is a name".to_owned()));
            };
            Ok(Triple { subject, predicate: predicate.clone(), object: term(&pattern.object) })
        })
        .collect()
}

/// A line of `given` that is no field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    pub reason: String,
    /// Where the line stands in the text.
    pub at: Range<usize>,
}

/// Finds examples that cannot be read.
pub(super) fn check_readable(model: Model, file: &RuleFile, problems: &mut Vec<Problem>) {
    for example in file.rules.iter().flat_map(|rule| &rule.examples) {
        if let Err(mistake) = given(model, &example.given.value) {
            let at = example.given.part(mistake.at);
            let problem = Problem::new(Code::BadExample, at, mistake.reason);
            problems.push(problem.hint("`given` has one field a line, such as `245 10 $a Walden`"));
        }
        if let Err(problem) = gives(&example.gives) {
            problems.push(Problem { code: Code::BadExample, ..problem });
        }
    }
}

/// What the examples of a file's rules show to be wrong.
pub fn failures(concordances: &Concordances, loaded: &Loaded) -> Vec<Problem> {
    let Some((file, model)) = loaded.file.as_ref().and_then(|file| Some((file, file.model?))) else {
        return Vec::new();
    };
    let compiled: FxHashMap<usize, &Rule> =
        concordances.rules_of(loaded.source.name()).map(|rule| (rule.line, rule)).collect();
    let examples: Vec<(&Rule, &ExampleText)> = file
        .rules
        .iter()
        .filter_map(|text| Some((*compiled.get(&text.line)?, text)))
        .flat_map(|(rule, text)| text.examples.iter().map(move |example| (rule, example)))
        .collect();
    let verdicts: Vec<Option<Problem>> = examples
        .par_iter()
        .map(|(rule, example)| match check(concordances, model, rule, example) {
            // What cannot be read is told by whoever checks the file.
            Verdict::Passed | Verdict::Unreadable(_) => None,
            verdict => {
                let message = format!("the rule `{}` does not give this", rule.name);
                let problem = Problem::new(Code::BadExample, example.gives.at.clone(), message);
                Some(problem.label("- was expected, + was made").hint(verdict.lines().join("\n")))
            }
        })
        .collect();
    verdicts.into_iter().flatten().collect()
}

/// Reads the notation of `given`: one field a line.
pub fn given(model: Model, text: &str) -> Result<Record, Mistake> {
    let mut builder = RecordBuilder::new(model);
    if model.is_marc() {
        builder.leader(LEADER);
    }
    // Examples are indented with the rule they belong to.
    let indent = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .map_or(0, |line| line.len() - line.trim_start().len());
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let blank = line.len() - line.trim_start().len();
        let at = start + blank..start + line.trim_end().len().max(blank);
        start += line.len();
        let line = line.trim_end_matches(['\n', '\r']);
        if line.trim().is_empty() {
            continue;
        }
        let line = if line.get(..indent).is_some_and(|blank| blank.trim().is_empty()) {
            line.get(indent..).unwrap_or(line)
        } else {
            line
        };
        if model.is_marc() {
            marc_field(&mut builder, line).map_err(|reason| Mistake { reason, at })?;
        } else {
            element(&mut builder, line);
        }
    }
    Ok(builder.finish())
}

fn marc_field(builder: &mut RecordBuilder, line: &str) -> Result<(), String> {
    let line = line.trim_start();
    let (tag, rest) = line.split_once(' ').ok_or_else(|| format!("`{line}` is no field"))?;
    let is_tag = tag == "LDR" || tag.len() == 3 && tag.bytes().all(|b| b.is_ascii_alphanumeric());
    if !is_tag {
        return Err(format!("`{tag}` is no tag; a field begins with three digits and a blank"));
    }
    if tag == "LDR" {
        builder.leader(rest);
        return Ok(());
    }
    if tag.starts_with("00") {
        builder.field(tag, [' ', ' '], rest, 0);
        return Ok(());
    }
    let mut characters = rest.chars();
    let mut indicator = || match characters.next() {
        Some('#' | '_') | None => ' ',
        Some(c) => c,
    };
    let indicators = [indicator(), indicator()];
    let subfields = characters.as_str();
    if !subfields.trim_start().starts_with('$') {
        return Err(format!("`{line}`: expected two indicators and a subfield after the tag"));
    }
    builder.field(tag, indicators, "", 0);
    for (code, value) in cut(subfields) {
        builder.subfield(code, value.trim());
    }
    Ok(())
}

fn element(builder: &mut RecordBuilder, line: &str) {
    let depth = (line.len() - line.trim_start().len()) / 2;
    let line = line.trim();
    let (tag, rest) = line.split_once(' ').unwrap_or((line, ""));
    let padded = format!(" {rest}");
    let text = match padded.find(" $") {
        Some(at) if is_code(padded.get(at..).unwrap_or_default()) => padded.get(..at).unwrap_or_default(),
        _ => padded.as_str(),
    };
    builder.field(tag, [' ', ' '], text.trim(), depth);
    for (code, value) in cut(padded.get(text.len()..).unwrap_or_default()) {
        builder.subfield(code, value.trim());
    }
}

fn is_code(text: &str) -> bool {
    cut(text).next().is_some()
}

/// Cuts at blank, `$`, code, blank.
fn cut(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut starts = Vec::new();
    for (at, _) in text.match_indices(" $") {
        let rest = text.get(at + 2..).unwrap_or_default();
        let end = rest.find(' ').unwrap_or(rest.len());
        let code = rest.get(..end).unwrap_or_default();
        // `$25.00` is a price: a code of one character, or the name of an attribute.
        let named = code.starts_with(|c: char| c.is_ascii_alphabetic())
            && code.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '_'));
        if code.chars().count() == 1 || named && code.len() > 1 {
            starts.push((at, at + 2..at + 2 + end));
        }
    }
    let ends: Vec<usize> = starts.iter().skip(1).map(|(at, _)| *at).chain([text.len()]).collect();
    starts.into_iter().zip(ends).map(move |((_, code), end)| {
        let value = text.get(code.end..end).unwrap_or_default();
        (text.get(code).unwrap_or_default(), value)
    })
}
