//! How the store spells what it keeps.
//!
//! Of a typed number or date it keeps the value and not the spelling: `"04"^^xsd:integer` comes back as
//! `4`. So whoever compares statements with those of the store compares them as the store spells them.

use super::backend::{Backend, Selection};
use super::{CatalogueError, Embedded};
use crate::ontology::xsd;
use oxrdf::{Quad, Term};
use spareval::ExpressionTerm;

/// Whether the store may give a statement back in another spelling.
pub(super) fn has_spellings(quad: &Quad) -> bool {
    match &quad.object {
        Term::Literal(literal) => literal.language().is_none() && literal.datatype() != xsd::STRING,
        _ => false,
    }
}

/// Spells a value as the store would give it back.
pub fn respell(term: &mut Term) {
    if let Term::Literal(literal) = term
        && literal.language().is_none()
        && literal.datatype() != xsd::STRING
    {
        *term = ExpressionTerm::from(std::mem::replace(term, Term::Literal(false.into()))).into();
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

    #[test]
    fn a_value_is_spelt_as_the_store_spells_it() {
        let node = NamedNode::new_unchecked("https://c.example/s");
        let of = |kind: &str, texts: &[&str]| -> Vec<Literal> {
            let kind = NamedNode::new_unchecked(format!("http://www.w3.org/2001/XMLSchema#{kind}"));
            texts.iter().map(|text| Literal::new_typed_literal(*text, kind.clone())).collect()
        };
        let literals = [
            of("integer", &["04", "-0", "+7", "x", "99999999999999999999"]),
            of("decimal", &["1.50", "01.", ".5", "1e3"]),
            of("double", &["1.0", "1e3", "NaN", "-INF"]),
            of("boolean", &["1", "true", "yes"]),
            of("gYear", &["1999", "01999", "-0044", "0999", "99", "1999Z", "19uu"]),
            of("gYearMonth", &["1999-05", "1999-13"]),
            of("date", &["1999-05-01", "1999-05-01+00:00", "1999-02-30"]),
            of("dateTime", &["2026-01-01T00:00:00+00:00", "2026-01-01T00:00:00.500", "soon"]),
            of("time", &["10:00:00.0"]),
            of("duration", &["P1Y", "P12M"]),
            of("anyURI", &["http://x"]),
            vec![Literal::new_language_tagged_literal_unchecked("x", "de")],
        ];
        for literal in literals.into_iter().flatten() {
            let quad = Quad::new(node.clone(), node.clone(), literal.clone(), GraphName::DefaultGraph);
            let mut term = Term::from(literal);
            respell(&mut term);
            assert_eq!(as_stored(vec![quad]).unwrap()[0].object, term);
        }
    }
}
