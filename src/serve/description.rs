//! What the server says of itself: the Service Description of the endpoint, and VoID.
//!
//! Neither lists graphs: a catalogue has one for each record.

use super::answer::{self, Answer};
use super::negotiate::{GRAPHS, RESULTS, VIEWS, View, choose, listed};
use super::page;
use super::parameters::Parameters;
use super::problem::Problem;
use super::{Site, sparql, statements};
use crate::ontology::{dcterms, rdf, sd, void, xsd};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use oxrdf::{Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Term, Triple};
use std::sync::Arc;

/// The endpoint without a query: a description for programs, a form for people.
pub fn service(site: &Site, parameters: &Parameters, headers: &HeaderMap) -> Answer {
    let offer = choose(VIEWS, parameters.format.as_deref(), headers)
        .ok_or_else(|| Problem::not_acceptable(&listed(VIEWS)))?;
    let mut response = match offer.form {
        View::Page => answer::tagged(page::query_form(&site.base_path), offer.media_type(), headers),
        View::Statements(format) => {
            let written = statements::write(&service_description(site), format).map_err(unwritten)?;
            answer::tagged(written, offer.media_type(), headers)
        }
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
    Ok(response)
}

/// `/.well-known/void`.
pub async fn void(State(site): State<Arc<Site>>, headers: HeaderMap) -> Answer {
    let offer = choose(GRAPHS, None, &headers).ok_or_else(|| Problem::not_acceptable(&listed(GRAPHS)))?;
    let about = About::new(&site.settings.base);
    let statistics = site.service.statistics().await;
    let mut triples = vec![
        about.is(rdf::TYPE, void::DATASET.into_owned()),
        about.is(void::SPARQL_ENDPOINT, NamedNode::new_unchecked(sparql::endpoint_iri(&site))),
        about.is(void::URI_SPACE, Literal::from(site.settings.base.as_str())),
    ];
    triples.extend(offers().map(|format| about.is(void::FEATURE, format)));
    triples.extend(
        crate::ontology::prefixes()
            .filter(|(prefix, _)| VOCABULARIES.contains(prefix))
            .map(|(_, namespace)| about.is(void::VOCABULARY, NamedNode::new_unchecked(namespace))),
    );
    triples.extend(statistics.title.map(|title| about.is(dcterms::TITLE, Literal::from(title))));
    triples.extend(statistics.license.map(|license| about.is(dcterms::LICENSE, license)));
    triples.extend(statistics.triples.map(|n| about.is(void::TRIPLES, count(n))));
    triples.extend(statistics.entities.map(|n| about.is(void::ENTITIES, count(n))));
    let written = statements::write(&triples, offer.form).map_err(unwritten)?;
    let mut response = answer::tagged(written, offer.media_type(), &headers);
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
    Ok(response)
}

/// The vocabularies that descriptions are written in.
const VOCABULARIES: &[&str] = &["bf", "dcterms", "pin", "prov", "rdfs", "skos"];

fn service_description(site: &Site) -> Vec<Triple> {
    let endpoint = sparql::endpoint_iri(site);
    let about = About::new(&endpoint);
    // Names, not blank nodes: the description is the same each time, and so is its tag.
    let dataset = NamedNode::new_unchecked(format!("{endpoint}#dataset"));
    let graph = NamedNode::new_unchecked(format!("{endpoint}#default-graph"));
    let mut triples = vec![
        about.is(rdf::TYPE, sd::SERVICE.into_owned()),
        about.is(sd::ENDPOINT, NamedNode::new_unchecked(endpoint.clone())),
        about.is(sd::SUPPORTED_LANGUAGE, sd::SPARQL11_QUERY.into_owned()),
        about.is(sd::DEFAULT_DATASET, dataset.clone()),
        Triple::new(dataset.clone(), rdf::TYPE, sd::DATASET),
        Triple::new(dataset, sd::DEFAULT_GRAPH, graph.clone()),
        Triple::new(graph, rdf::TYPE, sd::GRAPH_CLASS),
    ];
    if !site.settings.read_only {
        triples.push(about.is(sd::SUPPORTED_LANGUAGE, sd::SPARQL11_UPDATE.into_owned()));
        triples.extend(offers().map(|format| about.is(sd::INPUT_FORMAT, format)));
    }
    if site.settings.federated {
        triples.push(about.is(sd::FEATURE, sd::BASIC_FEDERATED_QUERY.into_owned()));
    }
    let results = RESULTS.iter().map(|offer| NamedNode::new_unchecked(offer.form.iri()));
    triples.extend(results.chain(offers()).map(|format| about.is(sd::RESULT_FORMAT, format)));
    triples
}

/// The names of the syntaxes.
fn offers() -> impl Iterator<Item = NamedNode> {
    GRAPHS.iter().map(|offer| NamedNode::new_unchecked(offer.form.iri()))
}

fn count(number: u64) -> Literal {
    Literal::new_typed_literal(number.to_string(), xsd::INTEGER)
}

fn unwritten(_: std::io::Error) -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the description cannot be written")
}

/// Statements about one thing.
struct About(NamedOrBlankNode);

impl About {
    fn new(iri: &str) -> Self {
        Self(NamedNode::new_unchecked(iri).into())
    }

    fn is(&self, predicate: NamedNodeRef<'static>, object: impl Into<Term>) -> Triple {
        Triple::new(self.0.clone(), predicate, object)
    }
}
