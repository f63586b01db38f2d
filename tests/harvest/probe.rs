//! What a probe says of an address.

use super::records;
use super::repository::{Repository, Serving};
use super::support::{Desk, Ran};

fn probe(desk: &Desk, serving: &Serving, more: &str) -> Ran {
    let (url, authority) = (serving.url(), serving.authority());
    desk.run(&format!("pinakes source probe --allow-private {authority} {more} {url}"))
}

/// S1.6, the OAI half: technique, metadata model, amount and complexity level are proposed, and
/// the proposed command describes a source that can be harvested.
#[test]
fn s1_6_a_repository_is_recognised() {
    let serving = Repository::seeded(16).records(70).page(10).serve();
    let desk = Desk::new();
    let found = probe(&desk, &serving, "--json").ok().json();
    assert_eq!(found["technique"], "oai-pmh", "{found}");
    assert_eq!(found["amount"], "70 records", "{found}");
    assert!(found["model"].is_string() && found["model"] != "unknown", "{found}");
    assert!(found["complexity"].is_number() || found["complexity"].is_string(), "{found}");
    desk.run(found["command"].as_str().unwrap()).ok();
    assert!(serving.log().len() < 12, "{} requests", serving.log().len());
    desk.run("pinakes harvest repo").ok();
    assert_eq!(records(&desk), 70);
}

/// At the host's address the repository is found where repositories usually are.
#[test]
fn s1_6_the_usual_places_are_tried() {
    let serving = Repository::seeded(17).records(3).serve();
    let desk = Desk::new();
    let authority = serving.authority();
    let line = format!("pinakes source probe --allow-private {authority} {} --json", serving.at("/"));
    let found = desk.run(&line).ok().json();
    assert_eq!(found["url"], serving.url(), "{found}");
}

/// Where there is nothing, nothing is proposed, and a private address is not asked.
#[test]
fn s1_6_nothing_is_proposed_for_nothing() {
    let serving = Repository::seeded(18).records(3).serve();
    let desk = Desk::new();
    let said = desk.run(&format!("pinakes source probe {}", serving.url())).exits(2).complaint();
    assert!(said.contains("--allow-private") || said.contains("allow_private"), "{said}");
    assert_eq!(serving.log().len(), 0);
}
