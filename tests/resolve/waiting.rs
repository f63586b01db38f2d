//! What waits for the next run is counted and told, and a catalogue does not change its names unasked.

use super::{books, resolve};
use crate::support::{BASE, CATALOGUE, Desk};

const QUERY: &str = "pinakes query -e 'SELECT (COUNT(?i) AS ?n) { ?i a bf:Instance }'";

fn waiting(desk: &Desk) -> u64 {
    desk.run("pinakes status --json").ok().json()["waiting"]["records"].as_u64().unwrap()
}

#[test]
fn records_that_wait_are_counted_and_whoever_asks_is_told() {
    let desk = Desk::new();
    let three = "1,Erewhon,\"Butler, Samuel\",,Trübner,London,1872,English,,246,\n\
                 2,Emma,\"Austen, Jane\",,Murray,London,1815,English,,322,\n\
                 3,Walden,\"Thoreau, Henry David\",,Ticknor,Boston,1854,English,,357,\n";
    books(&desk, "north", three);
    // Nothing is merged yet: every record is shown, and none is missing from an answer.
    assert_eq!(waiting(&desk), 3);
    assert!(desk.run(QUERY).ok().complaint().contains("nothing is merged yet"));
    resolve(&desk);
    assert_eq!(waiting(&desk), 0);
    assert!(!desk.run(QUERY).ok().complaint().contains("wait"));
    assert!(!desk.run("pinakes status").ok().text().contains("wait"));

    // One is new, one is changed, one is gone.
    let header = String::from_utf8(desk.read("north.csv")).unwrap().lines().next().unwrap().to_owned();
    let changed = format!(
        "{header}\n1,Erewhon,\"Butler, Samuel\",,Trübner,London,1872,English,,246,\n\
         2,Emma : a novel,\"Austen, Jane\",,Murray,London,1815,English,,322,\n\
         4,Persuasion,\"Austen, Jane\",,Murray,London,1818,English,,249,\n"
    );
    desk.write("changed.csv", changed);
    let told = desk.run("pinakes import --source north --replace changed.csv").ok().complaint();
    assert!(told.contains("3 records wait for `pinakes resolve`"), "{told}");
    assert_eq!(waiting(&desk), 3);
    assert!(desk.run("pinakes status").ok().text().contains("3 records wait for `pinakes resolve`"));
    assert!(desk.run(QUERY).ok().complaint().contains("3 records wait for `pinakes resolve`"));
    assert!(!desk.run(&QUERY.replace("query", "--quiet query")).ok().complaint().contains("wait"));
    resolve(&desk);
    assert_eq!(waiting(&desk), 0);

    // The same files again bring nothing.
    let told = desk.run("pinakes import --source north --replace changed.csv").ok().complaint();
    assert!(!told.contains("wait"), "{told}");
    // A rebuilt catalogue is merged as before.
    desk.run("pinakes rebuild").ok();
    assert_eq!(waiting(&desk), 0);
}

#[test]
fn records_mapped_by_other_rules_wait_too() {
    let desk = Desk::new();
    books(&desk, "north", "1,Erewhon,\"Butler, Samuel\",,Trübner,London,1872,English,,246,\n");
    resolve(&desk);
    desk.write(
        "shelf.toml",
        "[concordance]\nformat = \"csv\"\nabout = \"notes\"\n\n[[rule]]\nname = \"shelf-note\"\nfield = \"publisher\"\n\
         construct = '''\n  $instance rdfs:comment $text .\n'''\n\n  [[rule.example]]\n  given = \"publisher Dent\"\n\
         gives = '''\n    $instance rdfs:comment \"Dent\" .\n  '''\n",
    );
    let loaded = desk.run("pinakes mapping load shelf.toml").ok();
    assert!(loaded.complaint().contains("1 record waits for `pinakes resolve`"), "{}", loaded.complaint());
    assert_eq!(waiting(&desk), 1);
    resolve(&desk);
    assert_eq!(waiting(&desk), 0);
}

#[test]
fn import_resolves_what_it_brought_when_asked() {
    let desk = Desk::new();
    books(&desk, "north", "1,Erewhon,\"Butler, Samuel\",,Trübner,London,1872,English,,246,\n");
    resolve(&desk);
    desk.write("emma.mrk", "=LDR  00000nam a2200000 i 4500\n=001  e\n=245  10$aEmma.\n");
    let ran = desk.run("pinakes import --source south --resolve emma.mrk").ok();
    assert!(
        ran.text().contains("south: 1 record read: 1 new") && ran.text().contains("written:"),
        "{}",
        ran.text()
    );
    assert!(!ran.complaint().contains("wait"), "{}", ran.complaint());
    assert_eq!(waiting(&desk), 0);
}

/// Names of records begin with the base IRI: under another one they are other records.
#[test]
fn another_base_is_refused_until_the_store_is_made_again() {
    let desk = Desk::new();
    books(&desk, "north", "1,Erewhon,\"Butler, Samuel\",,Trübner,London,1872,English,,246,\n");
    resolve(&desk);
    let before = desk.canonical(CATALOGUE);
    let settings = format!("{CATALOGUE}/pinakes.toml");
    let text = String::from_utf8(desk.read(&settings)).unwrap();
    let moved = "https://moved.example/";
    desk.write(&settings, text.replace(BASE, moved));
    for command in ["status", "resolve", "query report/records-by-format", "import --source north north.csv"]
    {
        let said = desk.run(&format!("pinakes {command}")).exits(2).complaint();
        assert!(
            said.contains(BASE) && said.contains(moved) && said.contains("pinakes rebuild"),
            "{command}: {said}"
        );
    }
    // Set back, nothing has happened.
    desk.write(&settings, text.clone());
    assert_eq!(desk.canonical(CATALOGUE), before);
    desk.write(&settings, text.replace(BASE, moved));
    desk.run("pinakes rebuild").ok();
    desk.run("pinakes verify").ok();
    let after = desk.canonical(CATALOGUE);
    assert!(!after.contains(BASE), "{after}");
    assert_eq!(after.lines().count(), before.lines().count());
    assert_eq!(waiting(&desk), 0);
}

/// S0.9, once there is a merged catalogue: what waits is found by lookup, by SPARQL and by searching, each
/// time as a record, and is an entry like others after the next run.
#[test]
fn s0_9_a_record_that_waits_is_found_in_every_way() {
    let desk = Desk::new();
    let one = "1,Erewhon,\"Butler, Samuel\",,Trübner,London,1872,English,,246,\n";
    books(&desk, "north", one);
    resolve(&desk);
    let found = || -> Vec<String> {
        let query =
            "pinakes query --quiet --format csv -e 'SELECT ?e { ?e pin:search \"erewhon revisited\" }'";
        let text = desk.run(query).ok().text();
        text.lines().skip(1).map(|line| line.trim().replace(BASE, "")).collect()
    };
    let others = found();
    assert!(!others.iter().any(|iri| iri.starts_with("record/")), "{others:?}");
    books(&desk, "south", "a,Erewhon revisited,\"Butler, Samuel\",,Richards,London,1901,English,,338,\n");
    assert!(found().contains(&"record/south/a".to_owned()), "{:?}", found());
    let shown = desk.run("pinakes record show south a").ok().text();
    assert!(shown.contains("unmerged"), "{shown}");
    let ask =
        "pinakes query --quiet -e 'ASK { GRAPH ?g { ?i a bf:Instance ; rdfs:label \"Erewhon revisited\" } }'";
    assert_eq!(desk.run(ask).ok().text(), "yes\n");
    // Making the index anew keeps it.
    desk.run("pinakes index rebuild --quiet").ok();
    assert!(found().contains(&"record/south/a".to_owned()), "{:?}", found());
    resolve(&desk);
    let entries = found();
    assert!(!entries.iter().any(|iri| iri.starts_with("record/")), "{entries:?}");
    assert!(entries.iter().any(|iri| iri.starts_with("instance/")), "{entries:?}");
}

/// F.1, for a source: one changed record is read again, its entries are written again, and nothing else.
#[test]
fn f_1_a_changed_record_marks_what_depends_on_it_and_nothing_else() {
    let desk = Desk::new();
    let book = |number: usize, title: &str| {
        format!(
            "{number},{title} {number},\"Writer{number}, Ann\",,Press {number},Town,19{number:02},English,,2{number:02},\n"
        )
    };
    let all = |changed: Option<usize>| -> String {
        (10..60)
            .map(|number| book(number, if changed == Some(number) { "Other matters" } else { "Matters" }))
            .collect()
    };
    books(&desk, "north", &all(None));
    resolve(&desk);
    let merged =
        || desk.run("pinakes export --quiet --graph master --format ntriples | LC_ALL=C sort").ok().text();
    let before = merged();
    books(&desk, "north", &all(Some(33)));
    assert_eq!(waiting(&desk), 1);
    let report = desk.run("pinakes resolve --quiet --json").ok().json();
    assert_eq!((report["records"].as_u64(), report["read"].as_u64()), (Some(50), Some(1)), "{report:#}");
    let written: u64 = ["new", "changed", "removed"].iter().map(|what| report[*what].as_u64().unwrap()).sum();
    // A hub, a work, an instance and whom they name.
    assert!((1..=8).contains(&written), "{report:#}");
    let after = merged();
    let (before, after): (std::collections::BTreeSet<&str>, std::collections::BTreeSet<&str>) =
        (before.lines().collect(), after.lines().collect());
    let strange: Vec<&&str> = before
        .symmetric_difference(&after)
        .filter(|line| line.contains("atters ") && !line.contains("atters 33"))
        .collect();
    assert!(strange.is_empty(), "{strange:?}");
    assert!(after.iter().any(|line| line.contains("Other matters 33")));
}
