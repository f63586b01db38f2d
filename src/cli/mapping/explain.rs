//! `pinakes mapping explain`

use super::super::progress::Progress;
use super::super::record::must_exist;
use super::super::{Done, General, output};
use anyhow::bail;
use pinakes::diagnostic::render::printable;
use pinakes::pipeline::{self, Origin, Session};
use serde_json::json;

/// Say which rule and field made each statement of a record
///
/// Without a TRIPLE all statements are listed, by field. A TRIPLE is any part of one: a property
/// (`bf:mainTitle`), a value (`Walden`), or both; an IRI may be short or whole. Only statements
/// that show it are listed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes mapping explain loc lib0001
  pinakes mapping explain loc lib0001 'bf:mainTitle'")]
pub(super) struct Explain {
    source: String,
    /// The record's identifier in its source
    id: String,
    /// A part of the statement
    triple: Option<String>,
}

impl Explain {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let session = Session::read(general.home()?, &mut Progress::new(general))?;
        let Some(origins) = pipeline::explain(&session, &self.source, &self.id)? else {
            must_exist(&session, &self.source)?;
            bail!("`{}` has no record `{}`; `pinakes record list {0}` names them", self.source, self.id);
        };
        let wanted = self.triple.as_deref().unwrap_or_default();
        let shown: Vec<&Origin> =
            origins.iter().filter(|origin| wanted.is_empty() || matches(origin, wanted)).collect();
        if shown.is_empty() && !wanted.is_empty() {
            bail!("no statement of the record shows `{wanted}`");
        }
        if general.json {
            let rows: Vec<_> = shown
                .iter()
                .map(|origin| {
                    json!({
                        "statement": origin.statement, "field": origin.field, "occurrence": origin.occurrence,
                        "subfields": origin.subfields, "given": origin.given, "rule": origin.rule,
                        "file": origin.file, "line": origin.line,
                    })
                })
                .collect();
            output::json(&rows)?;
            return Ok(Done::Well);
        }
        let mut previous = String::new();
        for origin in shown {
            let head = match &origin.file {
                Some(file) => format!("{}  {} ({file}:{})", origin.given, origin.rule, origin.line),
                None => format!("{}  {}", origin.given, origin.rule),
            };
            if head != previous {
                output::line(&printable(&head))?;
                previous = head;
            }
            let read = if origin.subfields.is_empty() {
                String::new()
            } else {
                format!("  <- {}", origin.subfields)
            };
            output::line(&format!("    {}{read}", printable(&origin.statement)))?;
        }
        Ok(Done::Well)
    }
}

/// All words of the part must stand in the statement, short or whole.
fn matches(origin: &Origin, part: &str) -> bool {
    // The list of a record's tags has them all, and whoever asks for 245 does not mean it.
    let statement = match origin.statement.split_once("pin:fields") {
        Some((before, _)) => format!("{before}pin:fields"),
        None => format!("{} {}", origin.statement, origin.triple),
    };
    let (mut statement, part) = (statement.to_lowercase(), part.to_lowercase());
    // Nodes are named by hashes, in which any number may stand.
    if part.len() < HASH {
        statement = without_hashes(&statement);
    }
    statement.contains(&part) || part.split_whitespace().all(|word| statement.contains(word))
}

/// The length of the hash that ends the name of a node, with its hyphen.
const HASH: usize = 17;

/// `<#genre-c3a61ac024513f43>` as `<#genre>`.
fn without_hashes(statement: &str) -> String {
    let mut out = String::with_capacity(statement.len());
    let mut rest = statement;
    while let Some(at) = rest.find('-') {
        let (before, found) = rest.split_at(at);
        let hash = found.get(1..HASH).filter(|hash| hash.bytes().all(|b| b.is_ascii_hexdigit()));
        let length = if hash.is_some() { HASH } else { 1 };
        out.push_str(before);
        out.push_str(if hash.is_some() { "" } else { "-" });
        rest = found.get(length..).unwrap_or_default();
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_nodes_are_not_searched() {
        assert_eq!(
            without_hashes("<#genre-c3a61ac024513f43> a-b \"20th-century\""),
            "<#genre> a-b \"20th-century\""
        );
    }
}
