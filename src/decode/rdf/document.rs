//! An RDF document taken as it is: all of its statements, or the first thing wrong with it.
//!
//! Records are cut out of files that nobody checked, so [`super::read`] goes on after a fault. A
//! document that somebody sends to be stored is taken whole or not at all. The same guards stand
//! before the same parsers.

use super::expansion::Expansion;
use super::guard::Guard;
use super::isolation::{self, Lost};
use super::panicked;
use crate::decode::xml;
use crate::diagnostic::{Code, Diagnostic};
use oxrdf::Triple;
use oxrdfio::{RdfFormat, RdfParseError, RdfParser};
use std::io;

/// Reads a document of one graph. Blank nodes get new names, so that those of two documents never
/// meet; remote JSON-LD contexts are not fetched, which makes a document that needs one a fault.
#[expect(clippy::result_large_err, reason = "called once a document, and its callers pass the diagnostic on")]
pub fn document(bytes: &[u8], format: RdfFormat, base: &str) -> Result<Vec<Triple>, Diagnostic> {
    match isolation::run(|| read(bytes, format, base)) {
        Ok(outcome) => outcome,
        Err(Lost::Panicked) => Err(panicked()),
        Err(Lost::World(error)) => Err(Diagnostic::new(Code::RdfLimit, error.to_string())),
    }
}

#[expect(clippy::result_large_err, reason = "called once a document, and its callers pass the diagnostic on")]
fn read(bytes: &[u8], format: RdfFormat, base: &str) -> Result<Vec<Triple>, Diagnostic> {
    let guarded = match format {
        RdfFormat::RdfXml => {
            xml::check(bytes)?;
            Guard::counting(bytes)
        }
        RdfFormat::JsonLd { .. } => Guard::json_ld(bytes),
        _ => Guard::turtle(bytes),
    };
    let mut expansion = Expansion::of(guarded.counter());
    let limit = |error: io::Error| Diagnostic::new(Code::RdfLimit, error.to_string());
    let syntax = |message: String| Diagnostic::new(Code::RdfSyntax, message);
    let parser = RdfParser::from_format(format)
        .with_base_iri(base)
        .map_err(|error| syntax(error.to_string()))?
        .without_named_graphs()
        .rename_blank_nodes();
    parser
        .for_reader(guarded)
        .map(|quad| match quad {
            Ok(quad) => {
                expansion.take(&quad).map_err(limit)?;
                Ok(Triple::new(quad.subject, quad.predicate, quad.object))
            }
            Err(RdfParseError::Syntax(error)) => Err(syntax(error.to_string())),
            Err(RdfParseError::Io(error)) if error.kind() == io::ErrorKind::Other => Err(limit(error)),
            Err(RdfParseError::Io(error)) => Err(syntax(error.to_string())),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "http://example.org/";

    #[test]
    fn a_document_is_taken_whole_or_not_at_all() {
        let good = document(b"<a> <b> [ <c> 1 ] .", RdfFormat::Turtle, BASE).expect("statements");
        assert_eq!(good.len(), 2);
        assert_eq!(good[0].predicate.as_str().get(..BASE.len()), Some(BASE));
        let torn = document(b"<a> <b> 1 . <a> <b>", RdfFormat::Turtle, BASE);
        assert_eq!(torn.map_err(|fault| fault.code), Err(Code::RdfSyntax));
        let named = document(b"<http://g> { <http://a> <http://b> 1 }", RdfFormat::TriG, BASE);
        assert_eq!(named.map_err(|fault| fault.code), Err(Code::RdfSyntax));
    }

    #[test]
    fn what_parsers_cannot_bear_is_refused_before_them() {
        let bomb = b"<!DOCTYPE r [<!ENTITY a \"aaaa\">]><r:RDF xmlns:r=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">&a;</r:RDF>";
        assert!(document(bomb, RdfFormat::RdfXml, BASE).is_err());
        let deep = "[".repeat(1000);
        assert!(document(deep.as_bytes(), RdfFormat::Turtle, BASE).is_err());
        let json = RdfFormat::JsonLd { profile: oxrdfio::JsonLdProfileSet::empty() };
        assert!(document(deep.as_bytes(), json, BASE).is_err());
    }

    /// Each once overflowed the stack of the thread that asked, and ended the process.
    #[test]
    fn contexts_that_make_the_parser_recurse_are_a_fault() {
        let json = RdfFormat::JsonLd { profile: oxrdfio::JsonLdProfileSet::empty() };
        let chain: Vec<String> = (0..50_000).map(|n| format!("\"t{n}\":\"t{}\"", n + 1)).collect();
        let chain = format!("{{\"@context\":{{{}}},\"t0\":\"v\"}}", chain.join(","));
        let nulls = vec!["null"; 100_000].join(",");
        let nulls =
            format!("{{\"@context\":{{\"T\":{{\"@id\":\"a:T\",\"@context\":[{nulls}]}}}},\"@type\":\"T\"}}");
        // These begin like keywords and are none.
        let likewise = chain.replace("\"t", "\"@t");
        for text in [chain, likewise, nulls] {
            let fault = document(text.as_bytes(), json, BASE).expect_err("a fault");
            assert_eq!(fault.code, Code::RdfLimit, "{}", fault.message);
        }
    }

    /// What the guards let pass must not overflow, on whatever thread: many chains of terms, one
    /// inside the other.
    #[test]
    fn the_deepest_contexts_that_pass_are_read() {
        let json = RdfFormat::JsonLd { profile: oxrdfio::JsonLdProfileSet::empty() };
        let level = |inner: String| {
            let chain: Vec<String> = (0..120).map(|n| format!("\"t{n}\":\"t{}\"", n + 1)).collect();
            format!("{{{},\"t120\":{{\"@id\":\"a:b\",\"@context\":{inner}}}}}", chain.join(","))
        };
        let context = (0..60).fold("{}".to_owned(), |inner, _| level(inner));
        let text = format!("{{\"@context\":{context},\"@id\":\"a:s\",\"a:p\":1}}");
        assert_eq!(document(text.as_bytes(), json, BASE).map(|triples| triples.len()), Ok(1));
    }

    #[test]
    fn names_that_make_a_small_document_a_huge_one_are_a_fault() {
        let long = "x".repeat(1 << 20);
        let turtle = format!("@prefix p: <http://{long}/> . {}", "p:a p:b p:c . ".repeat(1000));
        let fault = document(turtle.as_bytes(), RdfFormat::Turtle, BASE).expect_err("a fault");
        assert_eq!(fault.code, Code::RdfLimit);
        assert!(fault.message.contains("200 times"), "{}", fault.message);
    }

    #[test]
    fn a_context_elsewhere_is_not_fetched() {
        let json = RdfFormat::JsonLd { profile: oxrdfio::JsonLdProfileSet::empty() };
        let text = br#"{"@context": "http://127.0.0.1:1/context.jsonld", "@id": "http://a", "b": "c"}"#;
        assert!(document(text, json, BASE).is_err());
    }
}
