//! Faults in what is sent: the record, the page, the document, the bytes.

use super::answer::State;
use super::description::MARK;
use super::document::{Content, Document, Entry, TokenElement};
use super::fault::Fault;
use super::formats::Format;
use super::holdings::Rendering;
use super::request::{Refusal, Verb};

/// What datestamps can be that are none.
const NO_DATES: [&str; 6] =
    ["2024-13-45", "0000-00-00", "9999-12-31T23:59:60Z", "2024-02-30T25:61:61Z", "yesterday", ""];

const HTML: &str = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head>\
                    <body><p>We are working on it & will be back<br>soon.</body></html>\n";

/// A record with its fault. Deleted records have nothing that could be at fault but the header.
pub fn record(xml: String, fault: Option<Fault>) -> Vec<u8> {
    let marked = |bytes: &[u8]| replace(xml.as_bytes(), MARK.to_string().as_bytes(), bytes);
    match fault {
        None => xml.into_bytes(),
        Some(Fault::BrokenXml(_)) => marked(b"<open>"),
        Some(Fault::BadUtf8(_)) => marked(b"\xC3\x28\xFF"),
        Some(Fault::UnescapedAmpersand(_)) => marked(b" & more"),
        Some(Fault::UndefinedEntity(_)) => marked(b"&nbsp;"),
        Some(Fault::ControlCharacter(_)) => marked(b"\x0B\x01"),
        Some(Fault::MissingHeader(_)) => without(&marked(b""), "<header", "</header>\n"),
        Some(Fault::MissingIdentifier(_)) => without(&marked(b""), "<identifier>", "</identifier>\n"),
        Some(_) => marked(b""),
    }
}

/// Puts the faults of a page into it.
pub fn page(state: &mut State, content: &mut Content, listing: usize, cursor: usize, faults: &[Fault]) {
    for fault in faults {
        match fault {
            Fault::SlowTokenGrowth => {
                // The first page again, and a token nobody has seen.
                let text = state.tokens.issue_fresh(listing, 0);
                content.token = Some(TokenElement { text, ..TokenElement::default() });
            }
            Fault::EmptyPage => {
                content.entries.clear();
                let text = state.tokens.issue_fresh(listing, cursor);
                content.token = Some(TokenElement { text, ..TokenElement::default() });
            }
            Fault::DuplicateIdentifiers => {
                let format = Format::named(&state.tokens.listing(listing).prefix);
                let first = content.entries.first().and_then(|entry| entry.number);
                if let (Some(number), Some(format)) = (first, format) {
                    let rendering = Rendering { marked: false, outdated: true };
                    let item = state.holdings.item(number);
                    let xml = match content.verb {
                        Verb::ListRecords => state.holdings.record(item, format, rendering),
                        _ => state.holdings.header(item, rendering),
                    };
                    let entry = Entry { number: Some(number), deleted: item.deleted, xml: xml.into_bytes() };
                    content.entries.insert(1, entry);
                }
            }
            Fault::BadDatestamps => {
                for (entry, date) in content.entries.iter_mut().zip(NO_DATES.iter().cycle()) {
                    entry.xml = between(&entry.xml, "<datestamp>", "</datestamp>", date);
                }
            }
            _ => {}
        }
        let size = state.page_size(content.verb);
        // A page that is not the first was reached by a token of its own.
        let own = (cursor > 0).then(|| state.tokens.issue(listing, cursor));
        let before = (cursor > size).then(|| state.tokens.issue(listing, cursor - size));
        let goes_on = content.token.as_ref().is_some_and(|token| !token.text.is_empty());
        let Some(token) = content.token.as_mut() else { continue };
        match fault {
            Fault::MissingToken => content.token = None,
            Fault::EmptyToken => token.text.clear(),
            Fault::CursorLies => {
                token.complete_list_size = Some("-5".to_owned());
                token.cursor = Some("99999999999999999999".to_owned());
            }
            Fault::WhitespaceToken if goes_on => token.text = format!("\n      {}  \n    ", token.text),
            Fault::SameToken => {
                if let Some(own) = own {
                    token.text = own;
                }
            }
            Fault::LoopingToken => {
                if let Some(before) = before {
                    token.text = before;
                }
            }
            Fault::HugeToken if goes_on => {
                token.text.push_str(&"T".repeat(300_000));
                state.tokens.alias(token.text.clone(), listing, cursor + size);
            }
            Fault::TokenInjection if goes_on => {
                token.text.push_str("&verb=Identify&x=%0d%0aHost:%20evil.example#fragment ?\"'<");
                state.tokens.alias(token.text.clone(), listing, cursor + size);
            }
            _ => {}
        }
    }
}

/// Puts the faults of a document into it.
pub fn document(document: &mut Document, faults: &[Fault]) {
    for fault in faults {
        match fault {
            Fault::WrongNamespace => document.namespace = Some("http://www.openarchives.org/OAI/1.1/"),
            Fault::NoNamespace => document.namespace = None,
            Fault::Doctype => document.doctype = true,
            Fault::FutureResponseDate => document.response_date = "2999-01-01T00:00:00Z".to_owned(),
            Fault::ErrorAndRecords => {
                document.errors.push(Refusal::new("badArgument", "something may be wrong"));
            }
            _ => {}
        }
    }
}

/// Puts the faults of a body into its bytes; says of which kind the result is.
pub fn body(mut bytes: Vec<u8>, faults: &[Fault]) -> (&'static str, Vec<u8>) {
    let mut kind = "text/xml; charset=utf-8";
    for fault in faults {
        match fault {
            Fault::Empty200 => bytes.clear(),
            Fault::TruncatedPage => bytes.truncate(bytes.len() * 2 / 3),
            Fault::HtmlPage => {
                kind = "text/html; charset=utf-8";
                bytes = HTML.as_bytes().to_vec();
            }
            _ => {}
        }
    }
    (kind, bytes)
}

fn replace(bytes: &[u8], what: &[u8], by: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + by.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(what.len()).position(|window| window == what) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(by);
        rest = &rest[at + what.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// Leaves out the first element that begins and ends so.
fn without(bytes: &[u8], begin: &str, end: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    match (text.find(begin), text.find(end)) {
        (Some(from), Some(to)) => [&text[..from], &text[to + end.len()..]].concat().into_bytes(),
        _ => bytes.to_vec(),
    }
}

/// Puts something between the first two tags.
fn between(bytes: &[u8], begin: &str, end: &str, content: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    match (text.find(begin), text.find(end)) {
        (Some(from), Some(to)) => [&text[..from + begin.len()], content, &text[to..]].concat().into_bytes(),
        _ => bytes.to_vec(),
    }
}
