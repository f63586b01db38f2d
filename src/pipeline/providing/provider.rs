//! What the repository knows: of a record's place in the lists from the log of holdings, of its
//! content from the store.

use super::RETRY_AFTER;
use super::identity::Identity;
use crate::catalogue::{Backend, CatalogueError, Graphs, Selection};
use crate::concordance::Concordances;
use crate::ontology::{dcterms, skos};
use crate::pipeline::holdings::Holdings;
use crate::publish::oai::{self, Busy, Datestamp, Format, Header, Page, Repository, Set, set_spec};
use crate::publish::write::element;
use crate::publish::{Publisher, RecordGraph, Target};
use oxrdf::{NamedNode, NamedNodeRef, NamedOrBlankNode, Term, Triple};
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// Names of sets and content types are shown in this language where there are several.
const LANGUAGE: &str = "en";

/// The catalogue at one snapshot.
pub struct Provider<'p, 'a> {
    pub backend: &'p dyn Backend,
    pub holdings: &'p Holdings,
    pub graphs: &'p Graphs,
    pub identity: &'p Identity,
    pub formats: &'p Formats<'a>,
    /// How many records a page holds.
    pub page: usize,
}

/// A metadata prefix, how its records are written, and by whom once it is asked for: rules take a
/// moment to be read backwards.
struct Writing<'a>(&'static str, Target, OnceCell<Publisher<'a>>);

/// The formats records are written in.
pub struct Formats<'a> {
    concordances: &'a Concordances,
    all: [Writing<'a>; 3],
}

impl<'a> Formats<'a> {
    pub fn new(concordances: &'a Concordances) -> Self {
        let all = [
            Writing("oai_dc", Target::OaiDc, OnceCell::new()),
            Writing("marc21", Target::MarcXml, OnceCell::new()),
            Writing("bibframe", Target::Bibframe, OnceCell::new()),
        ];
        Self { concordances, all }
    }

    fn publisher(&self, prefix: &str) -> Option<&Publisher<'a>> {
        let Writing(_, target, publisher) = self.all.iter().find(|writing| writing.0 == prefix)?;
        Some(publisher.get_or_init(|| Publisher::new(self.concordances, *target)))
    }
}

impl Provider<'_, '_> {
    /// What things are called in a graph.
    fn labels(
        &self,
        graph: NamedNode,
        predicate: NamedNodeRef<'_>,
    ) -> Result<BTreeMap<String, String>, CatalogueError> {
        let selection = Selection {
            predicate: Some(predicate.into_owned()),
            graph: Some(graph.into()),
            ..Selection::default()
        };
        let mut labels = BTreeMap::new();
        for quad in self.backend.quads(&selection)? {
            let quad = quad?;
            let (NamedOrBlankNode::NamedNode(name), Term::Literal(label)) = (quad.subject, quad.object)
            else {
                continue;
            };
            if label.language().is_none_or(|language| language == LANGUAGE) {
                labels.insert(name.into_string(), label.value().to_owned());
            }
        }
        Ok(labels)
    }

    fn labelled_sets(&self) -> Result<Vec<Set>, CatalogueError> {
        let (sources, types) = self.holdings.sources_and_types();
        let titles = self.labels(self.graphs.sources(), dcterms::TITLE)?;
        let labels = self.labels(self.graphs.vocabulary(), skos::PREF_LABEL)?;
        let set = |parts: &[&str], name: String| Set { spec: set_spec(parts), name, description: None };
        let named = |labels: &BTreeMap<String, String>, iri: NamedNode, key: &str| {
            labels.get(iri.as_str()).cloned().unwrap_or_else(|| key.to_owned())
        };
        let mut sets = vec![set(&["source"], "Sources".to_owned())];
        sets.extend(
            sources
                .into_iter()
                .map(|key| set(&["source", key], named(&titles, self.graphs.source(key), key))),
        );
        sets.push(set(&["type"], "Content types".to_owned()));
        sets.extend(
            types
                .into_iter()
                .map(|code| set(&["type", code], named(&labels, self.graphs.content_type(code), code))),
        );
        Ok(sets)
    }

    fn written(&self, id: &str, prefix: &str) -> Result<Option<String>, CatalogueError> {
        let Some((source, id)) = id.split_once('/') else { return Ok(None) };
        let Some(publisher) = self.formats.publisher(prefix) else { return Ok(None) };
        let name = self.graphs.record(source, id);
        let selection = Selection { graph: Some(name.clone().into()), ..Selection::default() };
        let quads = self.backend.quads(&selection)?;
        let triples: Vec<Triple> = quads.map(|quad| quad.map(Triple::from)).collect::<Result<_, _>>()?;
        if triples.is_empty() {
            return Ok(None);
        }
        let record = publisher.record(&RecordGraph::new(name.as_str(), triples), source);
        Ok(element(publisher.target(), &record)?)
    }
}

/// A store that fails may be well again later.
fn busy(error: &CatalogueError) -> Busy {
    if !matches!(error, CatalogueError::Stopped(_)) {
        tracing::error!("an OAI-PMH request cannot be answered: {error}");
    }
    Busy { retry_after: RETRY_AFTER }
}

impl Repository for Provider<'_, '_> {
    fn name(&self) -> String {
        self.identity.name.clone()
    }

    fn admin_emails(&self) -> Vec<String> {
        vec![self.identity.email.clone()]
    }

    fn namespace(&self) -> String {
        self.identity.namespace.clone()
    }

    fn earliest(&self) -> Result<Datestamp, Busy> {
        Ok(self.holdings.earliest().unwrap_or(Datestamp::EPOCH))
    }

    fn sets(&self) -> Result<Vec<Set>, Busy> {
        self.labelled_sets().map_err(|error| busy(&error))
    }

    fn header(&self, id: &str) -> Result<Option<Header>, Busy> {
        Ok(self.holdings.header(id))
    }

    /// Whatever a record came as, its graph can be written in every format.
    fn formats_of(&self, id: &str) -> Result<Vec<String>, Busy> {
        let known = self.holdings.header(id).is_some();
        let prefixes = Format::shipped().iter().map(|format| format.prefix.clone());
        Ok(prefixes.filter(|_| known).collect())
    }

    fn list(&self, selection: &oai::Selection) -> Result<Page, Busy> {
        Ok(self.holdings.page(selection))
    }

    fn metadata(&self, id: &str, prefix: &str) -> Result<Option<String>, Busy> {
        self.written(id, prefix).map_err(|error| busy(&error))
    }

    fn page_size(&self) -> usize {
        self.page
    }
}
