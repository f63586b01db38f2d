//! What is known of an entity: what it says, what leads to it, and what all that is called.
//!
//! Whoever has the right to say what a thing is says it: the record for itself, the program for sources,
//! vocabularies and its runs, the master for entries. While nothing is merged, what none of them knows is
//! what all graphs together say of it.
//!
//! It runs in the server's own process, so all of it is bounded: statements, bytes, links, names, and
//! through [`Bounded`] the time and whoever waits. A record is shown whole. Any other name of a graph is
//! shown as a dataset, with what it is and where it can be had: a graph may hold millions of statements.

use super::datasets::dataset;
use super::names::{names, vocabularies};
use crate::catalogue::{Backend, Bounded, CatalogueError, Owner, Selection};
use crate::ontology::{bf, dcterms, pin, prov};
use crate::serve::{Description, Inbound};
use oxrdf::{GraphName, NamedNode, NamedNodeRef, NamedOrBlankNode, Term, Triple};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Upper bound on the statements of one description.
const MOST_STATEMENTS: usize = 5_000;
/// Upper bound on the bytes of their terms.
const MOST_BYTES: usize = 8 << 20;
/// Upper bound on the links to an entity that are listed.
const MOST_INBOUND: usize = 500;
/// Upper bound on the statements that are looked through for such links.
const MOST_LOOKED_THROUGH: u64 = 20_000;

/// Upper bound on what is read for one description, whatever it is of.
pub(super) const MOST_READ: u64 = 100_000;

/// What the snapshot knows of an entity; none if nothing.
pub(super) fn describe(store: &Bounded<'_>, iri: NamedNode) -> Result<Option<Description>, CatalogueError> {
    let mut said = Said::default();
    let graphs = store.graphs();
    if iri.as_str().starts_with(&graphs.records()) {
        said.read(store, &Selection { graph: Some(iri.clone().into()), ..Selection::default() })?;
        if said.triples.is_empty() && was_record(store, &iri)? {
            return Ok(Some(Description { gone: true, ..Description::new(iri) }));
        }
    }
    if said.triples.is_empty() {
        let own = [graphs.sources(), graphs.provenance(), graphs.people()].map(GraphName::from);
        for graph in vocabularies(store, graphs)?.into_iter().chain(own) {
            said.own(store, &iri, &graph)?;
        }
        // Everything else is part of the master, where people may also add to the above.
        said.own(store, &iri, &GraphName::DefaultGraph)?;
    }
    if said.triples.is_empty() && !store.has_master()? {
        said.anywhere(store, &iri)?;
    }
    if !iri.as_str().starts_with(&graphs.records()) && store.has_graph(&iri)? {
        said.own(store, &iri, &iri.clone().into())?;
        said.triples.extend(dataset(store, &iri)?);
    }
    if said.triples.is_empty() {
        let now = replaced_by(store, &iri)?;
        return Ok(now.map(|now| Description { moved_to: Some(now), ..Description::new(iri) }));
    }
    let mut description = Description::new(iri);
    (description.triples, description.more) = (said.triples, said.more);
    (description.inbound, description.more_inbound) = inbound(store, &description.iri)?;
    description.labels = names(store, graphs, &description)?;
    Ok(Some(description))
}

/// The statements of a description, as far as there is room for them.
#[derive(Default)]
struct Said {
    triples: Vec<Triple>,
    met: FxHashSet<Triple>,
    bytes: usize,
    more: bool,
}

impl Said {
    /// Takes one; false when there is no room for it.
    fn take(&mut self, triple: Triple) -> bool {
        if self.met.contains(&triple) {
            return true;
        }
        self.bytes += size(&triple);
        if self.triples.len() >= MOST_STATEMENTS || self.bytes > MOST_BYTES {
            self.more = true;
            return false;
        }
        self.met.insert(triple.clone());
        self.triples.push(triple);
        true
    }

    fn read(&mut self, store: &Bounded<'_>, selection: &Selection) -> Result<(), CatalogueError> {
        for quad in store.quads(selection)? {
            if !self.take(quad?.into()) {
                break;
            }
        }
        Ok(())
    }

    /// Takes what all graphs say of a resource: those that the program keeps alone if one of them does,
    /// for any record may speak of anything.
    fn anywhere(&mut self, store: &Bounded<'_>, iri: &NamedNode) -> Result<(), CatalogueError> {
        let selection = Selection { subject: Some(iri.clone().into()), ..Selection::default() };
        for quad in store.quads(&selection)? {
            let quad = quad?;
            if store.graphs().owner(&quad.graph_name) == Owner::Program && !self.take(quad.into()) {
                break;
            }
        }
        if self.triples.is_empty() { self.read(store, &selection) } else { Ok(()) }
    }

    /// Takes what a graph says of a resource and of the nodes inside it, `<resource>#…`.
    fn own(&mut self, store: &Bounded<'_>, iri: &NamedNode, graph: &GraphName) -> Result<(), CatalogueError> {
        let inside = format!("{}#", iri.as_str());
        let mut waiting = vec![iri.clone()];
        let mut met: FxHashSet<NamedNode> = waiting.iter().cloned().collect();
        while let Some(subject) = waiting.pop() {
            let (subject, graph) = (Some(subject.into()), Some(graph.clone()));
            for quad in store.quads(&Selection { subject, graph, ..Selection::default() })? {
                let triple = Triple::from(quad?);
                if let Term::NamedNode(object) = &triple.object
                    && object.as_str().starts_with(&inside)
                    && met.insert(object.clone())
                {
                    waiting.push(object.clone());
                }
                if !self.take(triple) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

fn size(triple: &Triple) -> usize {
    let object = match &triple.object {
        Term::NamedNode(node) => node.as_str().len(),
        Term::Literal(literal) => literal.value().len(),
        _ => 0,
    };
    let subject = match &triple.subject {
        NamedOrBlankNode::NamedNode(node) => node.as_str().len(),
        NamedOrBlankNode::BlankNode(_) => 0,
    };
    subject + triple.predicate.as_str().len() + object
}

/// Which run withdrew a record stays known.
fn was_record(store: &Bounded<'_>, iri: &NamedNode) -> Result<bool, CatalogueError> {
    let provenance = store.graphs().provenance().into();
    Ok(value(store, iri, prov::WAS_INVALIDATED_BY, Some(provenance))?.is_some())
}

/// The name that resolving gave to what had this one. Records say of anything that it is replaced;
/// only the graph of resolution is asked, and it leads to names of this catalogue.
fn replaced_by(store: &Bounded<'_>, iri: &NamedNode) -> Result<Option<NamedNode>, CatalogueError> {
    let now = value(store, iri, dcterms::IS_REPLACED_BY, Some(store.graphs().resolution().into()))?;
    Ok(now.filter(|now| now != iri && now.as_str().starts_with(store.graphs().base())))
}

/// The first thing that a property leads to.
fn value(
    store: &Bounded<'_>,
    subject: &NamedNode,
    predicate: NamedNodeRef<'_>,
    graph: Option<GraphName>,
) -> Result<Option<NamedNode>, CatalogueError> {
    let (subject, predicate) = (Some(subject.clone().into()), Some(predicate.into_owned()));
    for quad in store.quads(&Selection { subject, predicate, graph, ..Selection::default() })? {
        if let Term::NamedNode(object) = quad?.object {
            return Ok(Some(object));
        }
    }
    Ok(None)
}

/// What leads to an entity: directly, or across a contribution, whose role then stands for the property.
/// Says whether there may be more.
fn inbound(store: &Bounded<'_>, iri: &NamedNode) -> Result<(Vec<Inbound>, bool), CatalogueError> {
    // The master, or all there is while nothing is merged.
    let graph = store.has_master()?.then_some(GraphName::DefaultGraph);
    let to = |predicate: Option<NamedNode>, object: &NamedNode| Selection {
        predicate,
        object: Some(object.clone().into()),
        graph: graph.clone(),
        ..Selection::default()
    };
    let mut found = BTreeSet::new();
    let before = store.read();
    let is_enough = |found: usize| found > MOST_INBOUND || store.read() - before > MOST_LOOKED_THROUGH;
    for quad in store.quads(&to(None, iri))? {
        let quad = quad?;
        if is_enough(found.len()) {
            break;
        }
        let NamedOrBlankNode::NamedNode(subject) = quad.subject else { continue };
        if quad.predicate == bf::AGENT {
            let role = value(store, &subject, bf::ROLE, graph.clone())?;
            let role = role.unwrap_or_else(|| bf::CONTRIBUTION.into_owned());
            for contributed in store.quads(&to(Some(bf::CONTRIBUTION.into_owned()), &subject))?.take(2) {
                if let NamedOrBlankNode::NamedNode(subject) = contributed?.subject {
                    found.insert(Inbound { role: role.clone(), subject });
                }
            }
        } else if quad.predicate != pin::MEMBER {
            found.insert(Inbound { role: quad.predicate, subject });
        }
    }
    let more = is_enough(found.len());
    Ok((found.into_iter().take(MOST_INBOUND).collect(), more))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Catalogue, Graphs};
    use crate::effort::{Effort, Spent};
    use crate::ontology::{rdfs, skos, void};
    use oxrdf::{Literal, Quad};

    const BASE: &str = "https://c.example/";

    fn node(path: &str) -> NamedNode {
        NamedNode::new_unchecked(format!("{BASE}{path}"))
    }

    fn labels(subject: &NamedNode, graph: &GraphName, many: usize) -> Vec<Quad> {
        let label = |number: usize| Literal::from(format!("label {number}"));
        let quad = |number| Quad::new(subject.clone(), skos::ALT_LABEL, label(number), graph.clone());
        (0..many).map(quad).collect()
    }

    /// A catalogue over a store of its own.
    fn catalogue() -> Catalogue {
        Catalogue::in_memory(Graphs::new(BASE).unwrap()).unwrap()
    }

    fn described(catalogue: &Catalogue, path: &str) -> (Option<Description>, u64) {
        let effort = Effort::unbounded();
        let bounded = Bounded::new(catalogue, &effort, MOST_READ);
        let description = describe(&bounded, node(path)).unwrap();
        (description, bounded.read())
    }

    #[test]
    fn a_graph_is_described_and_not_copied() {
        let store = catalogue();
        for name in ["provenance", "graphs/mine"] {
            let graph = GraphName::from(node(name));
            store.backend().add(labels(&node("run/1"), &graph, 50_000)).unwrap();
            store
                .backend()
                .add(vec![Quad::new(node(name), rdfs::LABEL, Literal::from("Mine"), graph)])
                .unwrap();
            let (description, read) = described(&store, name);
            let description = description.unwrap();
            assert!(!description.more && description.triples.len() < 10, "{:?}", description.triples);
            let dump = description.triples.iter().find(|triple| triple.predicate == void::DATA_DUMP).unwrap();
            let place =
                format!("<{BASE}graph-store?graph=https%3A%2F%2Fc.example%2F{}>", name.replace('/', "%2F"));
            assert_eq!(dump.object.to_string(), place);
            assert!(description.triples.iter().any(|triple| triple.predicate == rdfs::LABEL));
            // The graph is counted up to a bound, and not to its end.
            assert!(read < 15_000, "{read}");
        }
        assert!(described(&store, "resolution").0.is_none());
    }

    #[test]
    fn a_description_has_as_many_statements_as_there_is_room_for() {
        let store = catalogue();
        let record = node("record/s/1");
        store.backend().add(labels(&record, &record.clone().into(), MOST_STATEMENTS + 1)).unwrap();
        let (description, read) = described(&store, "record/s/1");
        let description = description.unwrap();
        assert!(description.more && description.triples.len() == MOST_STATEMENTS);
        assert!(read < 2 * MOST_STATEMENTS as u64, "{read}");

        let (long, work) = ("x".repeat(MOST_BYTES / 3), node("work/0000000000000001"));
        let texts = (0..9).map(|number| Literal::from(format!("{number}{long}")));
        let quads = texts.map(|text| Quad::new(work.clone(), rdfs::COMMENT, text, GraphName::DefaultGraph));
        store.backend().add(quads.collect()).unwrap();
        let description = described(&store, "work/0000000000000001").0.unwrap();
        assert!(description.more && description.triples.len() < 3);
    }

    #[test]
    fn what_leads_to_an_entity_is_listed_up_to_a_bound() {
        let store = catalogue();
        let agent = node("agent/0000000000000001");
        let mut quads = labels(&agent, &GraphName::DefaultGraph, 1);
        for number in 0..MOST_LOOKED_THROUGH + 100 {
            quads.push(Quad::new(
                node(&format!("m/{number}")),
                pin::MEMBER,
                agent.clone(),
                GraphName::DefaultGraph,
            ));
        }
        store.backend().add(quads).unwrap();
        let (description, read) = described(&store, "agent/0000000000000001");
        let description = description.unwrap();
        assert!(description.inbound.is_empty() && description.more_inbound);
        assert!(read < MOST_LOOKED_THROUGH + 100, "{read}");

        let (work, part) = (node("work/0000000000000001"), node("work/0000000000000001#contribution"));
        let other = node("agent/0000000000000002");
        store
            .backend()
            .add(vec![
                Quad::new(work.clone(), bf::CONTRIBUTION, part.clone(), GraphName::DefaultGraph),
                Quad::new(part.clone(), bf::AGENT, other.clone(), GraphName::DefaultGraph),
                Quad::new(part, bf::ROLE, node("author"), GraphName::DefaultGraph),
                Quad::new(node("work/2"), rdfs::SEE_ALSO, other.clone(), GraphName::DefaultGraph),
                Quad::new(other, rdfs::LABEL, Literal::from("Thoreau"), GraphName::DefaultGraph),
            ])
            .unwrap();
        let description = described(&store, "agent/0000000000000002").0.unwrap();
        let found: Vec<_> =
            description.inbound.iter().map(|one| (one.role.as_str(), one.subject.as_str())).collect();
        let author = format!("{BASE}author");
        assert_eq!(
            found,
            [(rdfs::SEE_ALSO.as_str(), format!("{BASE}work/2").as_str()), (author.as_str(), work.as_str()),]
        );
        assert!(!description.more_inbound);
    }

    #[test]
    fn nothing_is_read_for_a_page_that_nobody_waits_for() {
        let store = catalogue();
        store.backend().add(labels(&node("work/1"), &GraphName::DefaultGraph, 100)).unwrap();
        let effort = Effort::unbounded();
        drop(effort.waiter());
        let bounded = Bounded::new(&store, &effort, MOST_READ);
        let stopped = describe(&bounded, node("work/1"));
        assert!(matches!(stopped, Err(CatalogueError::Stopped(Spent::GivenUp))));
        assert_eq!(bounded.read(), 0);
    }
}
