//! Which terms exist: the shipped vocabularies and those a user adds.
//!
//! The terms of others are known from lists (`ontologies/terms/<prefix>.tsv`, see
//! `ontologies/SOURCES.md`), our own from `ontologies/pinakes.ttl`. Not every list is complete:
//! [`Lookup`] tells "does not exist" from "cannot be known here".

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{LazyLock, OnceLock};

use oxrdf::NamedNode;

use super::prefixes::{Prefixes, Terms};
use super::{load, near};

/// What is known of one term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    pub kind: Kind,
    /// The classes a property is meant to stand on: any of them, or anything if empty.
    pub domain: Vec<NamedNode>,
    /// The classes or datatypes a property is meant to lead to: any of them, or anything if empty.
    pub range: Vec<NamedNode>,
    pub status: Status,
}

/// What a term can be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Class,
    /// A property that the vocabulary does not place among the three kinds below.
    Property,
    ObjectProperty,
    DatatypeProperty,
    AnnotationProperty,
    Individual,
    Datatype,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    Current,
    /// Still defined, but its vocabulary advises against it.
    Deprecated,
}

/// What the vocabularies say of an IRI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup<'a> {
    Defined(&'a Term),
    /// In a vocabulary whose list is complete, and not on it.
    Undefined,
    /// In a vocabulary whose list is incomplete, or in none we know.
    OpenVocabulary,
}

/// The vocabularies a catalogue speaks.
#[derive(Debug, Clone, Default)]
pub struct Ontology {
    pub(super) prefixes: Prefixes,
    /// By position in the prefix table, then by name: sorted, so that answers have an order. A
    /// vocabulary is read when it is first asked for, since few commands need more than three.
    pub(super) terms: Vec<OnceLock<BTreeMap<String, Term>>>,
}

impl Ontology {
    /// The vocabularies that come with Pinakes.
    pub fn shipped() -> &'static Self {
        static ONTOLOGY: LazyLock<Ontology> = LazyLock::new(load::embedded);
        &ONTOLOGY
    }

    pub fn prefixes(&self) -> &Prefixes {
        &self.prefixes
    }

    pub fn knows_prefix(&self, prefix: &str) -> bool {
        self.prefixes.get(prefix).is_some()
    }

    pub fn lookup(&self, iri: &str) -> Lookup<'_> {
        let Some((prefix, name)) = self.prefixes.split(iri) else {
            return Lookup::OpenVocabulary;
        };
        match self.term(&prefix.name, name) {
            Some(term) => Lookup::Defined(term),
            // A namespace on its own names the vocabulary, which is no term of it.
            None if name.is_empty() || prefix.terms == Terms::Open => Lookup::OpenVocabulary,
            None => Lookup::Undefined,
        }
    }

    /// The terms somebody may have meant by a prefixed name or IRI that is not defined: prefixed
    /// names, the likeliest first, at most three.
    pub fn near(&self, prefixed_or_iri: &str) -> Vec<String> {
        near::near(self, prefixed_or_iri)
    }

    /// The listed terms of a vocabulary, sorted by name.
    pub fn terms(&self, prefix: &str) -> impl Iterator<Item = (&str, &Term)> {
        let position = self.prefixes.position(prefix);
        let terms = position.and_then(|position| self.terms_at(position));
        terms.into_iter().flatten().map(|(name, term)| (name.as_str(), term))
    }

    pub(super) fn term(&self, prefix: &str, name: &str) -> Option<&Term> {
        self.terms_at(self.prefixes.position(prefix)?)?.get(name)
    }

    pub(super) fn terms_at(&self, position: usize) -> Option<&BTreeMap<String, Term>> {
        let terms = self.terms.get(position)?;
        Some(terms.get_or_init(|| match self.prefixes.iter().nth(position) {
            Some(prefix) => load::embedded_terms(&self.prefixes, &prefix.name, &mut Vec::new()),
            None => BTreeMap::new(),
        }))
    }
}

impl Kind {
    pub fn is_property(self) -> bool {
        matches!(
            self,
            Kind::Property | Kind::ObjectProperty | Kind::DatatypeProperty | Kind::AnnotationProperty
        )
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "class" => Ok(Kind::Class),
            "property" => Ok(Kind::Property),
            "object-property" => Ok(Kind::ObjectProperty),
            "datatype-property" => Ok(Kind::DatatypeProperty),
            "annotation-property" => Ok(Kind::AnnotationProperty),
            "individual" => Ok(Kind::Individual),
            "datatype" => Ok(Kind::Datatype),
            _ => Err(format!("`{name}` is no kind of term")),
        }
    }
}

impl FromStr for Status {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "" => Ok(Status::Current),
            "deprecated" => Ok(Status::Deprecated),
            _ => Err(format!("`{name}` is no status; leave it empty or write `deprecated`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use oxrdf::{NamedOrBlankNode, Term as RdfTerm};
    use oxrdfio::{RdfFormat, RdfParser};

    use super::*;
    use crate::ontology::{ALIGNMENTS, PINAKES};

    fn lookup(name: &str) -> Lookup<'static> {
        let iri = Prefixes::shipped().expand(name).expect("a known prefix");
        Ontology::shipped().lookup(iri.as_str())
    }

    fn defined(name: &str) -> &'static Term {
        match lookup(name) {
            Lookup::Defined(term) => term,
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn every_closed_vocabulary_has_terms() {
        let ontology = Ontology::shipped();
        for prefix in ontology.prefixes().iter().filter(|prefix| prefix.terms == Terms::Closed) {
            assert!(ontology.terms(&prefix.name).next().is_some(), "{} is closed but empty", prefix.name);
        }
    }

    #[test]
    fn no_list_names_a_class_that_its_vocabulary_lacks() {
        let ontology = Ontology::shipped();
        for prefix in ontology.prefixes().iter() {
            for (name, term) in ontology.terms(&prefix.name) {
                for class in term.domain.iter().chain(&term.range) {
                    let lookup = ontology.lookup(class.as_str());
                    assert_ne!(lookup, Lookup::Undefined, "{}:{name} names {class}", prefix.name);
                }
            }
        }
    }

    #[test]
    fn every_term_of_the_alignments_and_of_our_ontology_is_known() {
        for quad in [PINAKES, ALIGNMENTS]
            .into_iter()
            .flat_map(|text| RdfParser::from_format(RdfFormat::Turtle).for_slice(text))
        {
            let quad = quad.expect("valid Turtle");
            let mut iris = vec![quad.predicate];
            iris.extend(match quad.subject {
                NamedOrBlankNode::NamedNode(subject) => Some(subject),
                NamedOrBlankNode::BlankNode(_) => panic!("a blank node"),
            });
            iris.extend(if let RdfTerm::NamedNode(object) = quad.object { Some(object) } else { None });
            for iri in iris {
                assert_ne!(Ontology::shipped().lookup(iri.as_str()), Lookup::Undefined, "{iri}");
            }
        }
    }

    #[test]
    fn a_term_has_kind_domain_and_range() {
        let term = defined("bf:mainTitle");
        assert_eq!(term.kind, Kind::DatatypeProperty);
        assert_eq!(term.domain, [Prefixes::shipped().expand("bf:Title").expect("known")]);
        assert_eq!(term.range, [Prefixes::shipped().expand("rdfs:Literal").expect("known")]);
        assert_eq!(term.status, Status::Current);
    }

    #[test]
    fn our_own_terms_are_known_from_turtle() {
        assert_eq!(defined("pin:UnmappedField").kind, Kind::Class);
        assert_eq!(defined("pin:unmappedOrder").kind, Kind::DatatypeProperty);
        assert_eq!(defined("pin:mergeStatus").kind, Kind::ObjectProperty);
        assert_eq!(defined("pin:Unmerged").kind, Kind::Individual);
        assert_eq!(lookup("pin:Unmapped"), Lookup::Undefined);
    }

    #[test]
    fn an_unlisted_term_is_undefined_only_where_the_list_is_complete() {
        assert_eq!(lookup("bf:tittle"), Lookup::Undefined);
        assert_eq!(defined("rdaw:P10078").kind, Kind::Property);
        assert_eq!(lookup("rdaw:P99999"), Lookup::OpenVocabulary);
        assert_eq!(Ontology::shipped().lookup("http://example.org/title"), Lookup::OpenVocabulary);
        assert_eq!(Ontology::shipped().lookup("http://schema.org/"), Lookup::OpenVocabulary);
    }

    #[test]
    fn deprecated_terms_are_defined_and_marked() {
        assert_eq!(defined("bf:contributor").status, Status::Deprecated);
        assert_eq!(defined("bf:contribution").status, Status::Current);
    }
}
