//! Reading one file: rules and queries, with everything that is wrong with them.

use super::codes::CodeList;
use super::compile;
use super::file::{self, RuleFile};
use super::fragment;
use super::lex::{self, Token};
use super::problem::Problem;
use super::program::Rule;
use super::query::Query;
use super::schema::{self, Schema};
use super::source::Source;
use super::template;
use crate::diagnostic::Code;
use crate::ontology::Ontology;
use xxhash_rust::xxh3::Xxh3;

/// A file of rules, read and compiled.
#[derive(Default)]
pub(super) struct ReadRules {
    pub file: RuleFile,
    pub compiled: Vec<Rule>,
    pub problems: Vec<Problem>,
}

/// Reads and compiles a file of rules.
pub(super) fn rules(source: &Source, lists: &[CodeList], schemas: &[Schema]) -> ReadRules {
    let mut problems = Vec::new();
    let file = file::read(&source.text, &mut problems);
    let compiled = compile::compile(source.name(), &file, lists, Ontology::shipped(), &mut problems);
    let schema = schemas.iter().find(|schema| Some(schema.model) == file.model);
    schema::check(&file, schema, &mut problems);
    ReadRules { file, compiled, problems }
}

/// Reads a file that does not say whose rules it has.
pub(super) fn unplaced(text: &str) -> (RuleFile, Vec<Problem>) {
    let mut problems = Vec::new();
    let file = file::read(text, &mut problems);
    schema::check(&file, None, &mut problems);
    (file, problems)
}

/// Reads a `.rq` file.
pub(super) fn query(source: &Source, lists: &[CodeList]) -> (Option<Query>, Vec<Problem>) {
    let mut problems = Vec::new();
    let query = read_query(source, lists, &mut problems);
    (query, problems)
}

fn read_query(source: &Source, lists: &[CodeList], problems: &mut Vec<Problem>) -> Option<Query> {
    if source.text.len() > file::LARGEST / 8 {
        problems.push(Problem::new(Code::RuleLimit, 0..1, "the query is larger than 128 KiB"));
        return None;
    }
    let whole = file::Text::whole(&source.text);
    let tokens = fragment::scan(&whole, problems)?;
    template::check_terms(&whole, &tokens, Ontology::shipped(), problems);
    match fragment::parser().parse_query(&source.text) {
        Ok(query @ spargebra::Query::Construct { .. }) => {
            let hash = hash(&source.text, &tokens, lists);
            Query::new(source.name(), &source.text, hash, query)
        }
        Ok(_) => {
            let message = "a concordance for RDF is a CONSTRUCT query";
            problems.push(Problem::new(Code::TemplateSyntax, 0..1, message));
            None
        }
        Err(error) => {
            let message = error.to_string();
            // `error at LINE:COLUMN: …`
            let mut numbers = message.split("error at ").nth(1).unwrap_or_default().split(':');
            let mut number =
                || numbers.next().and_then(|text| text.trim().parse::<usize>().ok()).unwrap_or(1);
            let (line, column) = (number(), number());
            let start: usize = source.text.split_inclusive('\n').take(line - 1).map(str::len).sum();
            let rest = source.text.get(start..).unwrap_or_default();
            let offset = rest.char_indices().nth(column.saturating_sub(1)).map_or(0, |(at, _)| at);
            let at = start + offset;
            problems.push(Problem::new(
                Code::TemplateSyntax,
                at..at + 1,
                "the query does not parse near here",
            ));
            None
        }
    }
}

/// Changes with the query and with the code lists it names.
fn hash(text: &str, tokens: &[Token], lists: &[CodeList]) -> String {
    let mut hasher = Xxh3::new();
    hasher.update(text.as_bytes());
    for token in tokens {
        let word = text.get(token.at.clone()).unwrap_or_default();
        let named = match token.kind {
            lex::Kind::Text => word.trim_matches(['"', '\'']),
            lex::Kind::Name if word == ":language" || word == ":tagged" => "languages",
            _ => continue,
        };
        if let Some(list) = lists.iter().find(|list| list.name == named) {
            hasher.update(&list.hash().to_le_bytes());
        }
    }
    format!("{:016x}", hasher.digest())
}
