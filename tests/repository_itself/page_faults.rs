//! Faults in what pages and records say.

use crate::repository::ask::{Reply, ask, get, post};
use crate::repository::{Fault, Repository, Serving, When};
use crate::{all_pages, fault_of_xml, identifiers};

fn list(repository: &Serving) -> Reply {
    ask(repository.url(), &[("verb", "ListRecords"), ("metadataPrefix", "oai_dc")])
}

fn record(repository: &Serving, number: usize) -> Reply {
    let identifier = repository.identifier(number);
    ask(repository.url(), &[("verb", "GetRecord"), ("identifier", &identifier), ("metadataPrefix", "oai_dc")])
}

fn always(fault: Fault) -> Serving {
    Repository::seeded(1).fault_when(fault, When::Always).serve()
}

#[test]
fn a_fault_of_a_record_is_in_it_alone() {
    let broken = [
        Fault::BrokenXml(3),
        Fault::BadUtf8(3),
        Fault::UnescapedAmpersand(3),
        Fault::UndefinedEntity(3),
        Fault::ControlCharacter(3),
    ];
    for fault in broken {
        let repository = Repository::seeded(1).fault(fault).serve();
        let name = fault.name();
        assert!(fault_of_xml(&list(&repository).body).is_some(), "{name}");
        assert!(fault_of_xml(&record(&repository, 3).body).is_some(), "{name}");
        assert_eq!(fault_of_xml(&record(&repository, 4).body), None, "{name}");
        let pages = all_pages(&repository);
        assert_eq!(identifiers(&pages).len(), 100, "{name}");
        assert_eq!(pages.iter().filter(|page| fault_of_xml(&page.body).is_some()).count(), 1, "{name}");
        // What is around the fault is as it should be, and so is what is expected.
        assert!(pages[0].text().contains(&repository.expected_xml(4, "oai_dc")), "{name}");
        assert!(!pages[0].text().contains(&repository.expected_xml(3, "oai_dc")), "{name}");
        assert_eq!(fault_of_xml(repository.expected_xml(3, "oai_dc").as_bytes()), None, "{name}");
    }
}

#[test]
fn a_record_can_lack_its_header_or_identifier() {
    let repository = Repository::seeded(1).fault(Fault::MissingHeader(2)).serve();
    let page = list(&repository);
    assert_eq!((page.elements("identifier").len(), page.elements("datestamp").len()), (9, 9));
    assert_eq!((page.text().matches("<record>").count(), fault_of_xml(&page.body)), (10, None));
    let repository = Repository::seeded(1).fault(Fault::MissingIdentifier(2)).serve();
    let page = list(&repository);
    assert_eq!((page.elements("identifier").len(), page.elements("datestamp").len()), (9, 10));
    assert_eq!(fault_of_xml(&page.body), None);
}

#[test]
fn a_record_can_let_every_page_fail_that_it_is_on() {
    let repository = Repository::seeded(1).fault(Fault::RecordFails(15)).serve();
    let first = list(&repository);
    assert_eq!(first.status, 200);
    let token = first.token().unwrap();
    let second = ask(repository.url(), &[("verb", "ListRecords"), ("resumptionToken", &token)]);
    assert_eq!(second.status, 500);
    assert_eq!(record(&repository, 15).status, 500);
    assert_eq!(record(&repository, 14).status, 200);
    let headers = ask(repository.url(), &[("verb", "ListIdentifiers"), ("metadataPrefix", "oai_dc")]);
    let token = headers.token().unwrap();
    let headers = ask(repository.url(), &[("verb", "ListIdentifiers"), ("resumptionToken", &token)]);
    assert_eq!(headers.elements("identifier").len(), 10, "headers are not concerned");
    // Between two datestamps the neighbours can be had.
    let (from, until) = (repository.datestamp(16), repository.datestamp(20));
    let after = ask(
        repository.url(),
        &[("verb", "ListRecords"), ("metadataPrefix", "oai_dc"), ("from", &from), ("until", &until)],
    );
    assert_eq!(after.elements("identifier").len(), 5);
}

#[test]
fn html_with_status_200() {
    let page = list(&always(Fault::HtmlPage));
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(page.text().contains("<html>"));
}

#[test]
fn a_page_that_ends_in_the_middle() {
    let page = list(&always(Fault::TruncatedPage));
    assert_eq!(page.header("content-length").unwrap(), page.body.len().to_string());
    assert!(page.text().contains("</record>") && !page.text().contains("</OAI-PMH>"));
}

#[test]
fn a_token_expires_with_its_list() {
    let repository = Repository::seeded(1).fault(Fault::ExpiredToken).serve();
    let token = list(&repository).token().unwrap();
    for _ in 0..2 {
        let reply = ask(repository.url(), &[("verb", "ListRecords"), ("resumptionToken", &token)]);
        assert_eq!(reply.error_code().as_deref(), Some("badResumptionToken"));
    }
    assert_eq!(identifiers(&all_pages(&repository)).len(), 100, "a new list is a new list");
}

/// The tokens of the first few pages.
fn tokens(repository: &Serving, pages: usize) -> Vec<String> {
    let mut reply = list(repository);
    let mut tokens = Vec::new();
    for _ in 0..pages {
        tokens.push(reply.token().unwrap());
        let token = tokens.last().unwrap();
        reply = ask(repository.url(), &[("verb", "ListRecords"), ("resumptionToken", token)]);
    }
    tokens
}

#[test]
fn tokens_that_lead_back() {
    let same = tokens(&always(Fault::SameToken), 4);
    assert!(same.iter().all(|token| *token == same[0]));
    let around = tokens(&always(Fault::LoopingToken), 6);
    assert_ne!(around[0], around[1]);
    assert_eq!(around[2..], [&around[..2], &around[..2]].concat());
}

#[test]
fn tokens_that_end_the_list_too_early() {
    let repository = Repository::seeded(1).fault(Fault::EmptyToken).serve();
    let pages = all_pages(&repository);
    assert_eq!(pages.len(), 2);
    assert!(pages[1].text().contains("completeListSize=\"100\" cursor=\"10\"></resumptionToken>"));
    let repository = Repository::seeded(1).fault(Fault::MissingToken).serve();
    let pages = all_pages(&repository);
    assert_eq!(pages.len(), 2);
    assert!(!pages[1].text().contains("<resumptionToken"));
}

#[test]
fn layout_around_a_token_is_not_part_of_it() {
    let repository = always(Fault::WhitespaceToken);
    let token = list(&repository).token().unwrap();
    assert!(token.starts_with('\n') && token.ends_with(' '), "{token:?}");
    for sent in [&*token, token.trim()] {
        let reply = ask(repository.url(), &[("verb", "ListRecords"), ("resumptionToken", sent)]);
        assert_eq!(identifiers(&[reply])[0], repository.identifier(11));
    }
    let last = all_pages(&repository).pop().unwrap();
    assert_eq!(last.elements("resumptionToken"), [""], "the end of the list stays the end");
}

#[test]
fn a_token_as_long_as_a_book() {
    let repository = always(Fault::HugeToken);
    let token = list(&repository).token().unwrap();
    assert!(token.len() > 300_000);
    let asked = ask(repository.url(), &[("verb", "ListRecords"), ("resumptionToken", &token)]);
    assert_ne!(asked.status, 200, "no URL is that long");
    let posted = post(repository.url(), &[("verb", "ListRecords"), ("resumptionToken", &token)]);
    assert_eq!(identifiers(&[posted])[0], repository.identifier(11));
}

#[test]
fn a_token_that_is_harmful_unless_it_is_encoded() {
    let repository = always(Fault::TokenInjection);
    let pages = all_pages(&repository);
    assert_eq!(identifiers(&pages).len(), 100);
    let token = pages[0].token().unwrap();
    let raw = token.replace([' ', '"', '<'], "");
    let reply = get(&format!("{}?verb=ListRecords&resumptionToken={raw}", repository.url()));
    assert_eq!(reply.error_code().as_deref(), Some("badVerb"));
}

#[test]
fn a_page_without_records_that_goes_on() {
    let repository = Repository::seeded(1).fault(Fault::EmptyPage).serve();
    let pages = all_pages(&repository);
    assert_eq!(pages.len(), 11);
    assert!(!pages[1].text().contains("<record>"));
    assert_eq!(identifiers(&pages).len(), 100);
}

#[test]
fn a_cursor_that_lies() {
    let page = list(&always(Fault::CursorLies));
    assert!(page.text().contains("completeListSize=\"-5\" cursor=\"99999999999999999999\""));
}

#[test]
fn a_record_that_comes_twice_comes_last_as_it_was_before() {
    let repository = always(Fault::DuplicateIdentifiers);
    let page = list(&repository);
    assert_eq!(page.elements("identifier").len(), 11);
    assert_eq!(page.elements("identifier")[0], page.elements("identifier")[1]);
    assert!(page.elements("datestamp")[0] > page.elements("datestamp")[1]);
    assert!(page.text().contains(&repository.expected_xml(1, "oai_dc")));
    assert!(page.text().contains(", superseded</dc:title>"));
}

#[test]
fn documents_that_are_not_quite_oai_pmh() {
    assert!(
        list(&always(Fault::WrongNamespace))
            .text()
            .contains("<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/1.1/\"")
    );
    assert!(list(&always(Fault::NoNamespace)).text().contains("<OAI-PMH xmlns:xsi"));
    assert!(list(&always(Fault::Doctype)).text().contains("<!DOCTYPE OAI-PMH ["));
    let both = list(&always(Fault::ErrorAndRecords));
    assert_eq!((both.error_code().as_deref(), both.elements("identifier").len()), (Some("badArgument"), 10));
    let future = list(&always(Fault::FutureResponseDate));
    assert_eq!(future.elements("responseDate"), ["2999-01-01T00:00:00Z"]);
    let dates = list(&always(Fault::BadDatestamps)).elements("datestamp");
    assert_eq!(dates[..2], ["2024-13-45", "0000-00-00"]);
}
