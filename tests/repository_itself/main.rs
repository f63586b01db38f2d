//! The repository that harvests are tested against does what it says: every verb, every error
//! of the protocol, every fault. A stub that is wrong would make wrong harvesters look right.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../repository/mod.rs"]
mod repository;

mod changes;
mod doors;
mod http_faults;
mod page_faults;
mod protocol;
mod selection;
mod service;
mod tokens;

use repository::Serving;
use repository::ask::{Reply, ask};

/// Asks for oai_dc page by page until there is no token.
fn all_pages(repository: &Serving) -> Vec<Reply> {
    pages_of(repository, &[("verb", "ListRecords"), ("metadataPrefix", "oai_dc")])
}

/// Asks page by page, for 100 pages at most.
fn pages_of(repository: &Serving, arguments: &[(&str, &str)]) -> Vec<Reply> {
    let mut pages = vec![ask(repository.url(), arguments)];
    while let Some(token) = pages.last().and_then(Reply::token) {
        assert!(pages.len() < 100, "the list does not end");
        pages.push(ask(repository.url(), &[arguments[0], ("resumptionToken", &token)]));
    }
    pages
}

/// The identifiers on these pages, in their order.
fn identifiers(pages: &[Reply]) -> Vec<String> {
    pages.iter().flat_map(|page| page.elements("identifier")).collect()
}

/// Why a document is not well-formed, if it is not.
fn fault_of_xml(bytes: &[u8]) -> Option<String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Some("no UTF-8".to_owned()) };
    if let Some(c) = text.chars().find(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r')) {
        return Some(format!("control character {c:?}"));
    }
    let mut reader = quick_xml::Reader::from_str(text);
    let mut depth = 0;
    loop {
        use quick_xml::events::Event;
        match reader.read_event() {
            Err(error) => return Some(error.to_string()),
            Ok(Event::Eof) => return (depth != 0).then(|| "an element is not closed".to_owned()),
            Ok(Event::Start(_)) => depth += 1,
            Ok(Event::End(_)) => depth -= 1,
            Ok(Event::GeneralRef(name)) => {
                let known = ["amp", "lt", "gt", "quot", "apos"].contains(&&*name);
                if !known {
                    return Some(format!("entity {name:?}"));
                }
            }
            Ok(_) => {}
        }
    }
}
