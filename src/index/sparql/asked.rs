//! What does one `pin:search` of a query ask for?
//!
//! Its object is the words, or a node whose properties stand beside it in the same basic graph
//! pattern. All but the variable of the score must be constants: the index is asked before the
//! query is evaluated.

use super::{MOST_HITS, SearchError, SearchRequest};
use crate::index::document::Field;
use crate::ontology::pin;
use oxrdf::Variable;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

/// A search as a query writes it.
pub(super) struct Asked {
    pub request: SearchRequest,
    pub score: Option<Variable>,
}

impl Asked {
    pub fn read(object: &TermPattern, properties: &[TriplePattern]) -> Result<Self, SearchError> {
        let request =
            |words| SearchRequest { words, field: None, limit: MOST_HITS, expand: false, entry: None };
        match object {
            TermPattern::Literal(words) => {
                return Ok(Self { request: request(words.value().to_owned()), score: None });
            }
            TermPattern::NamedNode(_) => return Err(SearchError::Words(object.to_string())),
            TermPattern::Variable(_) | TermPattern::BlankNode(_) => {}
        }
        let mut given = Given::default();
        for property in properties.iter().filter(|one| one.subject == *object) {
            given.take(property)?;
        }
        let words = given.words.ok_or_else(|| SearchError::NoWords(object.to_string()))?;
        let mut asked = Self { request: request(words), score: given.score };
        asked.request.field = given.field;
        asked.request.limit = given.limit.unwrap_or(MOST_HITS);
        asked.request.expand = given.expand.unwrap_or_default();
        Ok(asked)
    }
}

/// What the properties of a search say, each of them once.
#[derive(Default)]
struct Given {
    words: Option<String>,
    field: Option<Field>,
    limit: Option<usize>,
    expand: Option<bool>,
    score: Option<Variable>,
}

impl Given {
    fn take(&mut self, property: &TriplePattern) -> Result<(), SearchError> {
        let value = &property.object;
        let NamedNodePattern::NamedNode(predicate) = &property.predicate else {
            return Err(SearchError::Property(property.predicate.to_string()));
        };
        let predicate = predicate.as_ref();
        if predicate == pin::QUERY {
            let TermPattern::Literal(words) = value else {
                return Err(SearchError::Words(value.to_string()));
            };
            once(&mut self.words, words.value().to_owned(), "pin:query")
        } else if predicate == pin::FIELD {
            let named = |text: &str| Field::named(text);
            let expected = "one of \"title\", \"creator\", \"subject\", \"identifier\" and \"note\"";
            once(&mut self.field, constant(value, "pin:field", expected, named)?, "pin:field")
        } else if predicate == pin::LIMIT {
            let number = |text: &str| text.parse().ok().filter(|limit| (1..=MOST_HITS).contains(limit));
            once(
                &mut self.limit,
                constant(value, "pin:limit", "a number from 1 to 10000", number)?,
                "pin:limit",
            )
        } else if predicate == pin::EXPAND {
            let truth = |text: &str| match text {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            };
            once(&mut self.expand, constant(value, "pin:expand", "true or false", truth)?, "pin:expand")
        } else if predicate == pin::SCORE {
            let TermPattern::Variable(variable) = value else {
                let (property, expected) = ("pin:score", "a variable");
                return Err(SearchError::Value { property, expected, found: value.to_string() });
            };
            once(&mut self.score, variable.clone(), "pin:score")
        } else {
            Err(SearchError::Property(predicate.to_string()))
        }
    }
}

fn once<T>(place: &mut Option<T>, value: T, property: &'static str) -> Result<(), SearchError> {
    if place.replace(value).is_some() { Err(SearchError::Twice(property)) } else { Ok(()) }
}

fn constant<T>(
    value: &TermPattern,
    property: &'static str,
    expected: &'static str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, SearchError> {
    let read = match value {
        TermPattern::Literal(literal) => read(literal.value()),
        _ => None,
    };
    read.ok_or_else(|| SearchError::Value { property, expected, found: value.to_string() })
}
