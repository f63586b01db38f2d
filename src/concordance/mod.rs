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

pub use crate::diagnostic::{Lines, Problem};
pub use expression::visit;
pub use need::{Need, Words};
pub use query::{Query, query_functions};
pub use set::{Concordances, Loaded};
pub use source::{Kind, Origin, Source, path_of, with_source};
pub use table::table;
