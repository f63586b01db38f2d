//! How the store spells what it keeps.
//!
//! Of a typed number or date it keeps the value and not the spelling: `"04"^^xsd:integer` comes back as
//! `4`. So whoever compares statements with those of the store compares them as the store spells them.

use super::backend::{Backend, Selection};
use super::{CatalogueError, Embedded};
use crate::ontology::xsd;
use oxrdf::{Quad, Term};

/// Whether the store may give a statement back in another spelling.
pub(super) fn has_spellings(quad: &Quad) -> bool {
    match &quad.object {
        Term::Literal(literal) => literal.language().is_none() && literal.datatype() != xsd::STRING,
        _ => false,
    }
}

/// Statements as the store gives them back, in any order.
pub fn as_stored(quads: Vec<Quad>) -> Result<Vec<Quad>, CatalogueError> {
    let (doubtful, mut certain): (Vec<Quad>, Vec<Quad>) = quads.into_iter().partition(has_spellings);
    if !doubtful.is_empty() {
        let store = Embedded::in_memory()?;
        store.add(doubtful)?;
        for quad in store.quads(&Selection::default())? {
            certain.push(quad?);
        }
    }
    Ok(certain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdf::{GraphName, Literal, NamedNode};

    #[test]
    fn numbers_and_dates_are_spelt_by_their_values() {
        let node = NamedNode::new_unchecked("https://c.example/s");
        let quad = |literal: Literal| Quad::new(node.clone(), node.clone(), literal, GraphName::DefaultGraph);
        let typed = |text: &str, kind: oxrdf::NamedNodeRef<'_>| quad(Literal::new_typed_literal(text, kind));
        let plain = quad(Literal::new_simple_literal("04"));
        let given = vec![
            plain.clone(),
            typed("04", xsd::INTEGER),
            typed("2026-01-01T00:00:00+00:00", xsd::DATE_TIME),
        ];
        let stored = as_stored(given).unwrap();
        assert_eq!(stored.len(), 3);
        for expected in [plain, typed("4", xsd::INTEGER), typed("2026-01-01T00:00:00Z", xsd::DATE_TIME)] {
            assert!(stored.contains(&expected), "{expected} is not in {stored:?}");
        }
    }
}
