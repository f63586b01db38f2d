//! Which statements tell what an entry is?
//!
//! Its own, those of its works and hubs, and what its agents, subjects and places are called. All of
//! it lies in the default graph. Of a record that is not merged it is the record's graph.

use super::near::Near;
use crate::catalogue::{Backend, CatalogueError, Graphs, Selection, described};
use crate::ontology::{bf, pin, rdf, rdfs, skos};
use crate::pipeline::Kind;
use crate::pipeline::resolve::Spool;
use oxrdf::{GraphName, NamedNode, NamedNodeRef, Term, Triple};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// What is read of an agent or a subject that an entry names. One that thousands of records name has
/// as many members, which are left where they are.
const OF_NAMED: [NamedNodeRef<'_>; 5] =
    [rdf::TYPE, rdfs::LABEL, skos::PREF_LABEL, skos::ALT_LABEL, pin::NAME];
/// Works and hubs of one entry, and whatever it names, beyond which the rest is left out.
const MOST: usize = 1000;

/// A store and the names in it.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    pub backend: &'a dyn Backend,
    pub graphs: &'a Graphs,
    /// The whole master, where it is at hand in a quicker place.
    pub(in crate::pipeline) spool: Option<&'a Spool>,
}

/// Whether a property says what an agent or a subject is, or what it is called.
pub(in crate::pipeline) fn is_of_named(property: NamedNodeRef<'_>) -> bool {
    OF_NAMED.contains(&property)
}

impl Around<'_> {
    /// The statements around an entry of the master or a record; none if there is no such thing.
    pub fn read(&self, iri: &NamedNode, near: &Near) -> Result<Vec<Triple>, CatalogueError> {
        if iri.as_str().starts_with(&self.graphs.records()) {
            let selection = Selection { graph: Some(iri.clone().into()), ..Selection::default() };
            return self.backend.quads(&selection)?.map(|quad| quad.map(Triple::from)).collect();
        }
        let own = |node: &NamedNode| match self.kind(node.as_str()) {
            Some(Kind::Work | Kind::Hub) => near.whole.get(node, || self.own(node)),
            _ => self.own(node).map(Arc::from),
        };
        let mut triples = own(iri)?.to_vec();
        for step in [bf::INSTANCE_OF, bf::EXPRESSION_OF] {
            for node in objects(&triples, step) {
                triples.extend_from_slice(&own(&node)?);
            }
        }
        for named in self.named(&triples) {
            triples.extend_from_slice(&near.names.get(&named, || self.names_of(&named))?);
        }
        Ok(triples)
    }

    /// What an agent or a subject is, and what it is called.
    fn names_of(&self, named: &NamedNode) -> Result<Vec<Triple>, CatalogueError> {
        if let Some((spool, key)) = self.spool.zip(self.key(named.as_str())) {
            return Ok(spool.names(key)?);
        }
        let mut triples = Vec::new();
        for predicate in OF_NAMED {
            let selection = Selection {
                subject: Some(named.clone().into()),
                predicate: Some(predicate.into_owned()),
                graph: Some(GraphName::DefaultGraph),
                ..Selection::default()
            };
            for quad in self.backend.quads(&selection)? {
                triples.push(quad?.into());
            }
        }
        Ok(triples)
    }

    /// Who leads to an entry of the master, be it from a node inside.
    pub fn leading_to(&self, iri: &NamedNode) -> Result<Vec<NamedNode>, CatalogueError> {
        let selection = Selection {
            object: Some(iri.clone().into()),
            graph: Some(GraphName::DefaultGraph),
            ..Selection::default()
        };
        let mut met = FxHashSet::default();
        for quad in self.backend.quads(&selection)? {
            if let oxrdf::NamedOrBlankNode::NamedNode(subject) = quad?.subject {
                let entry = subject.as_str().split('#').next().unwrap_or_default();
                met.insert(NamedNode::new_unchecked(entry));
            }
        }
        let mut found: Vec<NamedNode> = met.into_iter().collect();
        found.sort_unstable();
        Ok(found)
    }

    /// What kind of entry a name is of; none for what is no entry.
    pub fn kind(&self, iri: &str) -> Option<Kind> {
        let (kind, id) = iri.strip_prefix(self.graphs.base())?.split_once('/')?;
        let is_id = id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        Kind::from_name(kind).filter(|_| is_id)
    }

    fn key(&self, iri: &str) -> Option<(Kind, u64)> {
        let kind = self.kind(iri)?;
        let id = iri.rsplit_once('/').map(|(_, id)| id)?;
        Some((kind, u64::from_str_radix(id, 16).ok()?))
    }

    fn own(&self, iri: &NamedNode) -> Result<Vec<Triple>, CatalogueError> {
        if let Some((spool, key)) = self.spool.zip(self.key(iri.as_str())) {
            return Ok(spool.about(key)?);
        }
        let quads = described(self.backend, iri, &GraphName::DefaultGraph)?;
        Ok(quads.into_iter().map(Triple::from).collect())
    }

    fn named(&self, triples: &[Triple]) -> Vec<NamedNode> {
        let mut met = FxHashSet::default();
        let objects = triples.iter().filter_map(|triple| match &triple.object {
            Term::NamedNode(node) => Some(node),
            _ => None,
        });
        let is_named = |node: &&NamedNode| {
            matches!(self.kind(node.as_str()), Some(Kind::Agent | Kind::Subject | Kind::Place))
        };
        objects.filter(is_named).filter(|node| met.insert(node.as_str())).take(MOST).cloned().collect()
    }
}

fn objects(triples: &[Triple], predicate: NamedNodeRef<'_>) -> Vec<NamedNode> {
    let mut found: Vec<NamedNode> = Vec::new();
    for triple in triples.iter().filter(|triple| triple.predicate.as_ref() == predicate) {
        if let Term::NamedNode(node) = &triple.object
            && !found.contains(node)
            && found.len() < MOST
        {
            found.push(node.clone());
        }
    }
    found
}
