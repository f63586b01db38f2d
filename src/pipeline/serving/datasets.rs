//! What a graph is called, what it holds and where it can be had, in the words of VoID.

use crate::catalogue::{Backend, Bounded, CatalogueError, Selection};
use crate::ontology::{dcterms, rdf, void, xsd};
use oxrdf::{Literal, NamedNode, Triple};

/// Name behind the base IRI, title and description of each graph; `/*` stands for any further segment.
const GRAPHS: &str = include_str!("graphs.tsv");

/// A graph with more statements than this is not counted.
const MOST_COUNTED: usize = 10_000;

/// The graph as a dataset.
pub(super) fn dataset(store: &Bounded<'_>, graph: &NamedNode) -> Result<Vec<Triple>, CatalogueError> {
    let base = store.graphs().base();
    let address = |path: &str| NamedNode::new_unchecked(format!("{base}{path}"));
    let name: String = form_urlencoded::byte_serialize(graph.as_str().as_bytes()).collect();
    let mut triples = vec![
        Triple::new(graph.clone(), rdf::TYPE, void::DATASET),
        Triple::new(graph.clone(), void::DATA_DUMP, address(&format!("graph-store?graph={name}"))),
        Triple::new(graph.clone(), void::SPARQL_ENDPOINT, address("sparql")),
    ];
    if let Some((title, description)) = graph.as_str().strip_prefix(base).and_then(known) {
        triples.push(Triple::new(graph.clone(), dcterms::TITLE, Literal::from(title)));
        triples.push(Triple::new(graph.clone(), dcterms::DESCRIPTION, Literal::from(description)));
    }
    let selection = Selection { graph: Some(graph.clone().into()), ..Selection::default() };
    let mut count = 0;
    for quad in store.quads(&selection)?.take(MOST_COUNTED + 1) {
        quad?;
        count += 1;
    }
    if count <= MOST_COUNTED {
        let count = Literal::new_typed_literal(count.to_string(), xsd::INTEGER);
        triples.push(Triple::new(graph.clone(), void::TRIPLES, count));
    }
    Ok(triples)
}

/// Title and description of a graph that the catalogue makes itself.
fn known(path: &str) -> Option<(&'static str, &'static str)> {
    GRAPHS.lines().skip(1).find_map(|line| {
        let (name, rest) = line.split_once('\t')?;
        let (title, description) = rest.split_once('\t')?;
        let fits = match name.strip_suffix('*') {
            Some(beginning) => path.strip_prefix(beginning).is_some_and(|rest| !rest.is_empty()),
            None => path == name,
        };
        fits.then_some((title, description))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_of_the_catalogue_have_a_title_and_a_description() {
        for (path, title) in [
            ("provenance", Some("Provenance")),
            ("people", Some("Edits")),
            ("vocabulary", Some("Content types")),
            ("vocabulary/animals", Some("Vocabulary")),
            ("links/loc", Some("Links of a source")),
            ("links/", None),
            ("graph/x", None),
        ] {
            assert_eq!(known(path).map(|(title, _)| title), title, "{path}");
        }
        for line in GRAPHS.lines() {
            assert_eq!(line.split('\t').filter(|cell| !cell.is_empty()).count(), 3, "{line}");
        }
    }
}
