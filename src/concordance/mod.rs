//! Concordances: the language in which people say what a field means.
//!
//! A rule is a field, and a SPARQL `CONSTRUCT` template over its subfields; `docs/concordances.md`
//! defines it. A file is read ([`file`]), its expressions and templates are parsed
//! ([`fragment`]), checked against the vocabularies and compiled ([`compile`]), and the compiled
//! rules are run over decoded records ([`run`]). [`Concordances`] is a set of files, ready to
//! run; what is wrong with a file is a [`Problem`] with its place.
//!
//! This module knows nothing of archives and stores, and keeps what no rule carries for
//! [`map`](crate::map) to deal with.

pub mod codes;
mod compile;
pub mod example;
mod expression;
pub mod file;
mod fragment;
pub mod function;
mod lex;
mod need;
pub mod presence;
mod problem;
pub mod program;
mod query;
mod quoted;
mod reading;
pub mod run;
mod schema;
pub mod selector;
mod sense;
mod set;
mod side_by_side;
mod source;
mod table;
mod template;
pub mod turtle;

pub use expression::visit;
pub use need::{Need, Words};
pub use problem::{Lines, Problem};
pub use query::{Query, query_functions};
pub use set::{Concordances, Loaded};
pub use source::{Kind, Origin, Source, path_of, with_source};
pub use table::table;

/// Names that somebody may have meant, the nearest first, at most three.
pub(crate) fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<String> {
    let lower = name.to_lowercase();
    let mut found: Vec<(usize, &str)> = known
        .map(|known| (strsim::damerau_levenshtein(&lower, &known.to_lowercase()), known))
        // What is there already was not misspelt.
        .filter(|(distance, known)| *known != name && *distance <= (known.len().max(name.len()) / 3).max(1))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(3).map(|(_, known)| known.to_owned()).collect()
}
