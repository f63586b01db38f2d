//! Record graphs are views: whether the store holds them or they are computed, everything that can be
//! asked has the same answer.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use pinakes::catalogue::QUERIES;
use std::collections::BTreeSet;
use support::{BASE, CATALOGUE, Desk, SAMPLE, marc, project};

/// Two catalogues with the sample in them: one computes the graphs of records, the other stores them.
fn both() -> [Desk; 2] {
    [false, true].map(|stored| {
        let desk = Desk::new();
        if stored {
            desk.store_records();
        }
        for (source, file) in SAMPLE {
            let file = project("examples").join(file);
            desk.run(&format!("pinakes import --quiet --source {source} {}", file.display())).ok();
        }
        desk
    })
}

/// Queries as people ask them: of one record, of all of them, and of both records and entries.
const ASKED: [&str; 10] = [
    "SELECT ?s ?p ?o { GRAPH <record/library/lib0011> { ?s ?p ?o } }",
    "SELECT ?p ?o { GRAPH ?g { <record/library/lib0011#instance> ?p ?o } }",
    "SELECT ?g { GRAPH ?g { ?s a bf:Instance } }",
    "SELECT DISTINCT ?g { GRAPH ?g { } FILTER(CONTAINS(STR(?g), \"/record/\")) }",
    "SELECT ?g ?title { GRAPH ?g { ?i bf:title ?t . ?t bf:mainTitle ?title } }",
    "SELECT ?one ?other { GRAPH ?one { ?a pin:isbn ?isbn } GRAPH ?other { ?b pin:isbn ?isbn } FILTER(?one != ?other) }",
    "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } FILTER(CONTAINS(STR(?g), \"/record/\")) } GROUP BY ?g",
    "SELECT ?label { ?i a bf:Instance ; rdfs:label ?label }",
    "SELECT ?g ?lang { GRAPH ?g { ?w dcterms:language ?lang } FILTER NOT EXISTS { GRAPH ?g { ?i pin:isbn ?n } } }",
    "SELECT ?s ?o { GRAPH <record/library/lib0011#instance> { ?s ?p ?o } }",
];

/// The rows of an answer as a set.
fn rows(desk: &Desk, query: &str) -> BTreeSet<String> {
    let text = desk.run(&format!("pinakes query --quiet --format csv {query}")).ok().text();
    text.lines().map(str::to_owned).collect()
}

/// One query suite, asked before and after the records are merged.
fn check_answers([computed, stored]: &[Desk; 2]) {
    for (name, _) in QUERIES.iter().filter(|(name, _)| name.starts_with("report/")) {
        let found = rows(computed, name);
        assert_eq!(found, rows(stored, name), "{name}");
    }
    for query in ASKED {
        let line = format!("-e '{query}'");
        let found = rows(computed, &line);
        assert!(found.len() > 1 || query.contains("#instance>"), "{query} gives nothing");
        assert_eq!(found, rows(stored, &line), "{query}");
    }
    assert_eq!(computed.canonical(CATALOGUE), stored.canonical(CATALOGUE));
    let records = |desk: &Desk| {
        let line = "pinakes export --graph records --format nquads | LC_ALL=C sort";
        desk.run(line).ok().text()
    };
    assert_eq!(records(computed), records(stored));
}

#[test]
fn stored_and_computed_graphs_give_the_same_answers() {
    let desks = both();
    check_answers(&desks);
    for desk in &desks {
        desk.run("pinakes resolve --quiet").ok();
    }
    check_answers(&desks);
    // Changed, withdrawn and new records, some of them waiting to be merged.
    for desk in &desks {
        let changed = marc::book("lib0011", "Walden, once more");
        let new = marc::book("lib9999", "Erewhon");
        desk.write("later.mrc", [changed, marc::deleted("lib0015"), new].concat());
        desk.run("pinakes import --quiet --source library later.mrc").ok();
    }
    check_answers(&desks);
    for desk in &desks {
        desk.run("pinakes rebuild --quiet").ok();
        desk.run("pinakes verify --quiet").ok();
    }
    check_answers(&desks);
}

#[test]
fn a_record_is_seen_as_soon_as_it_is_there_and_no_longer() {
    let desk = Desk::new();
    let titles = "-e 'SELECT ?g ?t { GRAPH ?g { ?i rdfs:label ?t ; a bf:Instance } }'";
    let title = |id: &str, title: &str| format!("{BASE}record/shop/{id},{title}");
    desk.write("books.mrc", [marc::book("1", "Faust"), marc::book("2", "Walden")].concat());
    desk.run("pinakes import --source shop books.mrc").ok();
    assert!(rows(&desk, titles).contains(&title("1", "Faust")));
    desk.write("books.mrc", marc::book("1", "Urfaust"));
    desk.run("pinakes import --source shop --replace books.mrc").ok();
    let found = rows(&desk, titles);
    assert_eq!(found.len(), 2, "a header and one row: {found:?}");
    assert!(found.contains(&title("1", "Urfaust")));
    let ask = "pinakes query --quiet -e 'ASK { GRAPH <record/shop/2> { ?s ?p ?o } }'";
    assert_eq!(desk.run(ask).ok().text(), "no\n");
}

/// The register of current records is derived: without it, or with one that is damaged or old, the
/// archive tells the same.
#[test]
fn a_register_that_is_missing_or_damaged_is_made_again() {
    let desk = Desk::new();
    desk.write("books.mrc", [marc::book("1", "Faust"), marc::book("2", "Walden")].concat());
    desk.run("pinakes import --source shop books.mrc").ok();
    let register = desk.path(CATALOGUE).join("archive/register");
    let before = tempfile::TempDir::new().unwrap();
    desk.run(&format!("cp -r {} {}", register.display(), before.path().display())).ok();
    desk.write("books.mrc", [marc::book("1", "Urfaust"), marc::book("3", "Erewhon")].concat());
    desk.run("pinakes import --source shop books.mrc").ok();
    let expected = desk.canonical(CATALOGUE);
    let spoil: [&dyn Fn(); 3] = [
        &|| std::fs::remove_dir_all(&register).unwrap(),
        &|| {
            std::fs::create_dir_all(&register).unwrap();
            std::fs::write(register.join("manifest.json"), "{").unwrap();
        },
        &|| {
            std::fs::remove_dir_all(&register).unwrap();
            desk.run(&format!("cp -r {}/register {}", before.path().display(), register.display())).ok();
        },
    ];
    for spoil in spoil {
        spoil();
        assert_eq!(desk.canonical(CATALOGUE), expected);
        desk.run("pinakes verify").ok();
    }
}

/// A store of an older version, or one that was filled in another way, is refused with the command that
/// makes it again, and that works.
#[test]
fn a_store_of_another_layout_is_refused_until_it_is_made_again() {
    let desk = Desk::new();
    desk.write("books.mrc", marc::book("1", "Faust"));
    desk.run("pinakes import --source shop books.mrc").ok();
    let expected = desk.canonical(CATALOGUE);
    desk.store_records();
    for command in ["import --source shop books.mrc", "query report/titles", "resolve"] {
        let refused = desk.run(&format!("pinakes {command}")).exits(2).complaint();
        assert!(refused.contains("`pinakes rebuild`"), "{command}: {refused}");
    }
    desk.run("pinakes rebuild").ok();
    assert_eq!(desk.canonical(CATALOGUE), expected);
    desk.run("pinakes verify").ok();
}
