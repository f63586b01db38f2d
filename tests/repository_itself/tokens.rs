//! Lists in pages.

use crate::repository::ask::{ask, encode, get};
use crate::repository::{Repository, Verb};
use crate::{all_pages, fault_of_xml, identifiers};
use std::time::Duration;

#[test]
fn all_records_come_once_in_pages_that_count() {
    let repository = Repository::seeded(3).records(95).page(10).serve();
    let pages = all_pages(&repository);
    assert_eq!(pages.len(), 10);
    let expected: Vec<String> = (1..=95).map(|number| repository.identifier(number)).collect();
    assert_eq!(identifiers(&pages), expected);
    for (nth, page) in pages.iter().enumerate() {
        assert_eq!(fault_of_xml(&page.body), None);
        let attributes = format!("completeListSize=\"95\" cursor=\"{}\">", 10 * nth);
        assert!(page.text().contains(&attributes), "page {nth}");
    }
    // The last page says that it is the last by an empty token.
    assert_eq!(pages[9].elements("resumptionToken"), [""]);
    let logged = repository.requests(Verb::ListRecords);
    assert_eq!(
        logged.iter().map(|entry| entry.page.unwrap()).collect::<Vec<_>>(),
        (1..=10).collect::<Vec<_>>()
    );
    assert_eq!(logged.iter().map(|entry| entry.records).sum::<usize>(), 95);
    assert_eq!(logged[9].identifiers, expected[90..]);
}

#[test]
fn a_list_in_one_part_has_no_token() {
    let repository = Repository::seeded(3).records(10).page(10).serve();
    let pages = all_pages(&repository);
    assert_eq!(pages.len(), 1);
    assert!(pages[0].elements("resumptionToken").is_empty());
}

#[test]
fn totals_can_be_left_out() {
    let repository = Repository::seeded(3).totals(false).serve();
    let pages = all_pages(&repository);
    assert!(pages.iter().all(|page| page.text().contains("<resumptionToken>")));
    assert_eq!(identifiers(&pages).len(), 100);
}

#[test]
fn a_page_can_be_asked_again() {
    let repository = Repository::seeded(3).serve();
    let first = ask(repository.url(), &[("verb", "ListRecords"), ("metadataPrefix", "oai_dc")]);
    let token = first.token().unwrap();
    let again = || ask(repository.url(), &[("verb", "ListRecords"), ("resumptionToken", &token)]).text();
    assert_eq!(again(), again());
}

/// A list is what it was when it began: records that come later are not in it, and none of
/// those that were there is lost.
#[test]
fn a_list_keeps_its_records_while_the_repository_changes() {
    let repository = Repository::seeded(3).records(30).serve();
    let first = ask(repository.url(), &[("verb", "ListRecords"), ("metadataPrefix", "oai_dc")]);
    repository.change(&[1, 15]);
    repository.delete(&[16]);
    repository.add(5);
    let token = first.token().unwrap();
    let second = ask(repository.url(), &[("verb", "ListRecords"), ("resumptionToken", &token)]);
    assert_eq!(second.elements("identifier").len(), 10);
    assert!(second.text().contains(", revision 1"));
    assert_eq!(second.text().matches("status=\"deleted\"").count(), 1);
    assert!(second.text().contains("completeListSize=\"30\""));
    assert_eq!(all_pages(&repository).len(), 4, "a new list has 35");
}

#[test]
fn tokens_stand_alone_and_keep_to_their_verb() {
    let repository = Repository::seeded(3).serve();
    let token =
        ask(repository.url(), &[("verb", "ListRecords"), ("metadataPrefix", "oai_dc")]).token().unwrap();
    let code = |arguments: &[(&str, &str)]| ask(repository.url(), arguments).error_code();
    let with_prefix = [("verb", "ListRecords"), ("resumptionToken", &*token), ("metadataPrefix", "oai_dc")];
    assert_eq!(code(&with_prefix).as_deref(), Some("badArgument"));
    let other_verb = [("verb", "ListIdentifiers"), ("resumptionToken", &*token)];
    assert_eq!(code(&other_verb).as_deref(), Some("badResumptionToken"));
    assert_eq!(code(&[("verb", "ListRecords"), ("resumptionToken", &*token)]), None);
}

/// `+` is a space in a query and `/`, `=` are best encoded: a token is opaque.
#[test]
fn a_token_must_be_encoded() {
    let repository = Repository::seeded(3).serve();
    let token =
        ask(repository.url(), &[("verb", "ListRecords"), ("metadataPrefix", "oai_dc")]).token().unwrap();
    assert!(token.contains('+'), "{token}");
    let raw = get(&format!("{}?verb=ListRecords&resumptionToken={token}", repository.url()));
    assert_eq!(raw.error_code().as_deref(), Some("badResumptionToken"));
    let encoded =
        get(&format!("{}?verb=ListRecords&{}", repository.url(), encode(&[("resumptionToken", &token)])));
    assert_eq!(encoded.error_code(), None);
}

#[test]
fn tokens_expire_after_so_many_uses() {
    let repository = Repository::seeded(3).token_uses(2).serve();
    let pages = all_pages(&repository);
    assert_eq!(pages.len(), 4);
    assert_eq!(pages[3].error_code().as_deref(), Some("badResumptionToken"));
    assert_eq!(identifiers(&pages).len(), 30);
    assert_eq!(all_pages(&repository).len(), 4, "another list has uses of its own");
}

#[test]
fn tokens_expire_on_command() {
    let repository = Repository::seeded(3).serve();
    let token =
        ask(repository.url(), &[("verb", "ListRecords"), ("metadataPrefix", "oai_dc")]).token().unwrap();
    repository.expire_tokens();
    let reply = ask(repository.url(), &[("verb", "ListRecords"), ("resumptionToken", &token)]);
    assert_eq!(reply.error_code().as_deref(), Some("badResumptionToken"));
    assert_eq!(all_pages(&repository).len(), 10);
}

#[test]
fn tokens_expire_by_the_clock_and_say_when() {
    let repository =
        Repository::seeded(3).clock("2024-06-01T12:00:00Z").token_lifetime(Duration::from_secs(600)).serve();
    let first = ask(repository.url(), &[("verb", "ListRecords"), ("metadataPrefix", "oai_dc")]);
    assert!(first.text().contains("expirationDate=\"2024-06-01T12:10:00Z\""), "{}", first.text());
    let token = first.token().unwrap();
    let code = || ask(repository.url(), &[("verb", "ListRecords"), ("resumptionToken", &token)]).error_code();
    repository.advance(Duration::from_secs(599));
    assert_eq!(code(), None);
    repository.advance(Duration::from_secs(1));
    assert_eq!(code().as_deref(), Some("badResumptionToken"));
}
