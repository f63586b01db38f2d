//! What brings records together, and what decides about them, are texts that a catalogue may
//! replace: blocking queries, candidate rules and decision rules.
//!
//! Each of four pairs hangs on one text. An edit of that text alone changes the fate of that pair
//! alone, and without the edit everything is as it was, the names of the entries included.

use super::{resolve, rows};
use crate::support::{Desk, project};
use std::collections::BTreeSet;

const QUERY: &str = "queries/resolve/instance/keys/identifiers.rq";
const PROFILE: &str = "mappings/resolve/instance.toml";

/// Four books in two catalogues. Only a number of the national bibliography brings the mosses
/// together, only the ISBN the ferns; the donkeys are two editions; nothing is odd about Walden.
fn pairs() -> Desk {
    let record = |id: &str, fields: &str| format!("=LDR  00000nam a2200000 i 4500\n=001  {id}\n{fields}\n\n");
    let mosses = "=015  \\\\$aB67-25185\n=300  \\\\$a212 pages\n";
    let ferns = "=020  \\\\$a9780140430578\n=300  \\\\$a148 pages\n";
    let donkey = "=100  1\\$aStevenson, Robert Louis,$eauthor.\n=245  10$aTravels with a donkey in the Cevennes.\n\
                  =264  \\1$aLondon :$bKegan Paul,$c1879.\n=300  \\\\$a227 pages\n";
    let walden = "=100  1\\$aThoreau, Henry David,$eauthor.\n\
                  =264  \\1$aBoston :$bTicknor and Fields,$c1854.\n=300  \\\\$a357 pages\n";
    let north = [
        record(
            "mosses",
            &format!(
                "{mosses}=245  00$aIllustrated mosses of northern valleys.\n=264  \\1$aLeeds :$bTarn Press"
            ),
        ),
        record(
            "ferns",
            &format!("{ferns}=245  00$aCommon ferns of southern harbours.\n=264  \\1$aLeeds :$bTarn Press"),
        ),
        record("donkey", &format!("{donkey}=250  \\\\$aFirst edition.")),
        record("walden", &format!("{walden}=245  10$aWalden.")),
    ];
    let south = [
        record(
            "mosses",
            &format!("{mosses}=245  00$aMosses of northern valleys.\n=264  \\1$aLeeds :$bTarn Press,$c1967."),
        ),
        record(
            "ferns",
            &format!("{ferns}=245  00$aFerns of southern harbours.\n=264  \\1$aLeeds :$bTarn Press,$c1971."),
        ),
        record("donkey", &format!("{donkey}=250  \\\\$aSecond edition.")),
        record("walden", &format!("{walden}=245  10$aWalden, or, Life in the woods.")),
    ];
    let desk = Desk::new();
    desk.write("north.mrk", north.concat());
    desk.write("south.mrk", south.concat());
    desk.run("pinakes import --quiet --source north north.mrk").ok();
    desk.run("pinakes import --quiet --source south south.mrk").ok();
    resolve(&desk);
    desk
}

/// The pairs that are one entry.
fn together(desk: &Desk) -> BTreeSet<String> {
    let merged = rows(
        desk,
        "SELECT ?a { ?i a bf:Instance ; pin:member ?a, ?b FILTER(CONTAINS(STR(?a), \"/north/\") && CONTAINS(STR(?b), \"/south/\")) }",
    );
    let name = |iri: &String| iri.rsplit('/').next().unwrap().trim_end_matches("#instance").to_owned();
    merged.iter().map(name).collect()
}

/// The master, names of entries included.
fn master(desk: &Desk) -> BTreeSet<String> {
    let text = desk.run("pinakes export --quiet --graph master --format ntriples").ok().text();
    text.lines().map(str::to_owned).collect()
}

/// Replaces a passage of a shipped text for this catalogue, resolves, takes the edit back, and
/// resolves again.
#[track_caller]
fn check_edit(desk: &Desk, file: &str, passage: &str, instead: &str, expected: &[&str]) {
    let before = master(desk);
    assert_eq!(together(desk), ["ferns", "mosses", "walden"].map(str::to_owned).into());
    let shipped = std::fs::read_to_string(project(file)).unwrap();
    assert_eq!(shipped.matches(passage).count(), 1, "{file} is written otherwise: no `{passage}`");
    let own = format!("catalogue/{file}");
    desk.write(&own, shipped.replacen(passage, instead, 1));
    let said = desk.run("pinakes resolve").ok().text();
    let cause = if file == PROFILE { "the profile `instance`" } else { "the queries that read records" };
    assert!(said.contains("changed") && said.contains(&format!("because {cause}")), "{said}");
    let expected: BTreeSet<String> = expected.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(together(desk), expected, "{file}: `{passage}` replaced by `{instead}`");
    assert_ne!(master(desk), before);
    std::fs::remove_file(desk.path(&own)).unwrap();
    resolve(desk);
    assert!(master(desk) == before, "{file}: without the edit the master is another");
}

/// S4.8: "Blocking, candidate and decision queries are files under `queries`; editing one changes the
/// result without a rebuild" — here a blocking query.
#[test]
fn s4_8_an_edited_blocking_query_changes_the_result() {
    let desk = pairs();
    check_edit(&desk, QUERY, " (pin:nbn \"nbn \")", "", &["ferns", "walden"]);
    // A query that the shipped ones do not have is asked as well, and brings the mosses back.
    let before = master(&desk);
    let shipped = std::fs::read_to_string(project(QUERY)).unwrap();
    desk.write(&format!("catalogue/{QUERY}"), shipped.replacen(" (pin:nbn \"nbn \")", "", 1));
    let mine = "catalogue/queries/resolve/instance/keys/mine.rq";
    desk.write(mine, shipped.replacen("(pin:issn \"issn \") ", "", 1));
    resolve(&desk);
    assert!(master(&desk) == before, "a query of one's own is not asked");
    std::fs::remove_file(desk.path(mine)).unwrap();
    resolve(&desk);
    assert_eq!(together(&desk), ["ferns", "walden"].map(str::to_owned).into());
}

/// S4.8, again: a candidate rule, by which keys are made of what records say.
#[test]
fn s4_8_an_edited_candidate_rule_changes_the_result() {
    let desk = pairs();
    let block = "[[block]]\nname = \"isbn\"\nkey  = [\"isbn\"]\n";
    check_edit(&desk, PROFILE, block, "", &["mosses", "walden"]);
    // A narrower key, too: the ferns have no year in common.
    check_edit(
        &desk,
        PROFILE,
        block,
        &block.replace("[\"isbn\"]", "[\"isbn\", \"year\"]"),
        &["mosses", "walden"],
    );
}

/// S4.8, again: decision rules, a veto and the bands.
#[test]
fn s4_8_an_edited_decision_rule_changes_the_result() {
    let desk = pairs();
    let veto = "name = \"conflicting editions\"\nwhen = { edition = [\"different\"] }\n";
    let weaker = veto.replace("[\"different\"]", "[\"different\"], place = [\"different\"]");
    check_edit(&desk, PROFILE, veto, &weaker, &["donkey", "ferns", "mosses", "walden"]);
    check_edit(&desk, PROFILE, "merge  = 0.5\n", "merge  = 0.9999999\n", &[]);
}
