//! `docs/concordance-table.md` is what the rules in the binary say, and it says what matters.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use pinakes::concordance::{Concordances, table};
use std::collections::BTreeSet;
use std::fs;
use std::sync::LazyLock;
use support::project;

static TABLE: LazyLock<String> = LazyLock::new(|| table(&Concordances::shipped()));

/// The cells of the row with a path.
#[track_caller]
fn row(path: &str) -> Vec<String> {
    let found = TABLE.lines().find(|line| line.contains(&format!("| `{path}` |")));
    let line = found.unwrap_or_else(|| panic!("no row for `{path}`"));
    // A bar inside a cell is escaped.
    let cells = line.replace("\\|", "\u{1}");
    cells.split('|').skip(1).map(|cell| cell.trim().replace('\u{1}', "|")).collect()
}

#[test]
fn the_document_is_what_the_rules_give() {
    let document = fs::read_to_string(project("docs/concordance-table.md")).unwrap_or_default();
    let rules = &*TABLE;
    let differs = document.lines().zip(rules.lines()).find(|(document, rules)| document != rules);
    assert!(
        document == *rules,
        "docs/concordance-table.md is out of date; run `pinakes mapping table > docs/concordance-table.md`\n\
         first difference: {differs:#?}"
    );
}

#[test]
fn the_title_proper_stands_beside_itself_in_every_model() {
    let row = row("instance bf:title [bf:Title] / bf:mainTitle");
    let [label, _, marc21, unimarc, mods, dublin_core, bibframe, _, rda, _, ..] = row.as_slice() else {
        panic!("{row:?}")
    };
    assert_eq!(label, "title proper");
    for (cell, name) in [
        (marc21, "`245 $a"),
        (unimarc, "`200 $a"),
        (mods, "mods:titleInfo"),
        (dublin_core, "`dc:title`"),
        (bibframe, "`bf:title/bf:mainTitle`"),
        (rda, "`rdam:P30156`"),
    ] {
        assert!(cell.contains(name), "`{name}` is not in {cell}");
    }
}

#[test]
fn classes_and_predicates_that_depend_on_the_tag_go_with_their_tag() {
    let topics = row("work bf:subject [bf:Topic] / rdfs:label");
    assert!(topics[2].contains("650") && !topics[2].contains("651"), "{}", topics[2]);
    let publisher = row("instance bf:provisionActivity [bf:Distribution] / bflc:simpleAgent");
    assert_eq!(publisher[2], "`264[ind2=2] $b`");
    let edition = row("instance bf:editionStatement");
    assert_eq!(edition[8], "`rdam:P30107`, `rdam:P30133`");
}

/// A name for a path that no rule writes any more helps nobody.
#[test]
fn every_name_of_a_concept_is_in_the_table() {
    let shown: BTreeSet<&str> =
        TABLE.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).collect();
    let concepts = fs::read_to_string(project("ontologies/concepts.tsv")).unwrap();
    let missing: Vec<&str> = concepts
        .lines()
        .skip(1)
        .filter(|line| !line.contains("[*]"))
        .filter(|line| {
            line.split('\t').nth(1).is_some_and(|label| !label.is_empty() && !shown.contains(label))
        })
        .collect();
    assert!(missing.is_empty(), "not in the table:\n{}", missing.join("\n"));
}

#[test]
fn bars_inside_cells_are_escaped() {
    let columns = |line: &str| line.replace("\\|", "").matches('|').count();
    let wide: BTreeSet<usize> = TABLE.lines().filter(|line| line.starts_with('|')).map(columns).collect();
    assert_eq!(wide, BTreeSet::from([5, 11]));
}
