//! Writing a few statements in any syntax, with the prefixes they use and in an order of their
//! own: the same statements are the same bytes. All of them or none: programs would take a part for the
//! whole.

use crate::ontology::Prefixes;
use crate::statements::{Writer, cannot_be_said};
use oxrdf::{Term, Triple};
use oxrdfio::RdfFormat;
use std::collections::BTreeSet;
use std::io;

pub fn write(triples: &[Triple], format: RdfFormat) -> io::Result<Vec<u8>> {
    // Turtle groups what stands together: by subject, then by property.
    let mut sorted: Vec<&Triple> = triples.iter().collect();
    sorted.sort_by_cached_key(|triple| {
        (triple.subject.to_string(), triple.predicate.to_string(), triple.object.to_string())
    });
    sorted.dedup();
    let mut writer = Writer::new(Vec::new(), format, prefixes(&sorted))?;
    for triple in sorted {
        writer.triple(triple)?;
    }
    if writer.left_out() > 0 {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, cannot_be_said(writer.left_out())));
    }
    writer.finish()
}

/// The prefixes of the table that occur.
fn prefixes(triples: &[&Triple]) -> BTreeSet<(&'static str, &'static str)> {
    let mut used = BTreeSet::new();
    let mut see = |iri: &str| {
        if let Some((prefix, _)) = Prefixes::shipped().split(iri) {
            used.insert((prefix.name.as_str(), prefix.namespace.as_str()));
        }
    };
    for triple in triples {
        see(triple.predicate.as_str());
        match &triple.object {
            Term::NamedNode(node) => see(node.as_str()),
            Term::Literal(literal) => see(literal.datatype().as_str()),
            _ => {}
        }
    }
    used
}
