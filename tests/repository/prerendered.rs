//! Pages that were rendered before anyone asked, so that a bench measures the harvester.

use super::answer::State;
use super::document::Document;
use super::request::{Arguments, argument};
use axum::body::Bytes;
use std::collections::HashMap;

/// A page of the full list.
#[derive(Clone, Debug)]
pub struct Page {
    /// From 1.
    pub number: usize,
    pub records: usize,
    pub body: Bytes,
}

/// All pages of the full list of one prefix.
#[derive(Debug)]
pub struct Prerendered {
    prefix: String,
    first: Page,
    by_token: HashMap<String, Page>,
}

impl Prerendered {
    pub fn render(state: &mut State, prefix: &str) -> Self {
        let ask = |name: &str, value: &str| -> Arguments {
            vec![("verb".to_owned(), "ListRecords".to_owned()), (name.to_owned(), value.to_owned())]
        };
        let mut number = 0;
        let mut page = |document: &Document| {
            number += 1;
            let records = document.content.as_ref().map_or(0, |content| content.entries.len());
            Page { number, records, body: Bytes::from(document.write()) }
        };
        let mut document = state.answer(&ask("metadataPrefix", prefix), &[]).document;
        let first = page(&document);
        let mut by_token = HashMap::new();
        while let Some(token) = next(&document) {
            document = state.answer(&ask("resumptionToken", &token), &[]).document;
            by_token.insert(token, page(&document));
        }
        Self { prefix: prefix.to_owned(), first, by_token }
    }

    /// The page that these arguments and no others ask for.
    pub fn page(&self, arguments: &Arguments) -> Option<&Page> {
        if arguments.len() != 2 || argument(arguments, "verb") != Some("ListRecords") {
            return None;
        }
        if argument(arguments, "metadataPrefix") == Some(self.prefix.as_str()) {
            return Some(&self.first);
        }
        self.by_token.get(argument(arguments, "resumptionToken")?)
    }
}

fn next(document: &Document) -> Option<String> {
    let token = document.content.as_ref()?.token.as_ref()?;
    (!token.text.is_empty()).then(|| token.text.clone())
}
