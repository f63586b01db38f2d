//! Reading the text of a query.

use crate::catalogue::syntax;
use crate::ontology::sparql_parser;
use spargebra::{Query, SparqlParser};

/// Reads queries, with our prefixes for who does not declare them.
pub(super) struct Parser {
    with_prefixes: SparqlParser,
}

impl Parser {
    pub fn new() -> Self {
        Self { with_prefixes: sparql_parser() }
    }

    /// The query, or what is wrong with it. Relative IRIs are relative to `base`, if there is one.
    pub fn parse(&self, text: &str, base: &str) -> Result<Query, String> {
        let based = |parser: SparqlParser| match base {
            "" => Ok(parser),
            base => parser.with_base_iri(base).map_err(|error| error.to_string()),
        };
        // Most queries declare their prefixes, and ours are many to copy.
        match based(SparqlParser::new())?.parse_query(text) {
            Ok(query) => Ok(query),
            Err(_) => based(self.with_prefixes.clone())?
                .parse_query(text)
                .map_err(|error| syntax::explain("query", text, &error.to_string())),
        }
    }
}
