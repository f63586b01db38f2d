//! Duplicates found, merged, explained and undone: rows of the requirements, one test each.
//!
//! All records are written here or are those of the sample. Two masters are compared by what they
//! say: an entry is called after its members, and a node inside an entry after its content, so two
//! masters that differ in names alone are equal.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "resolve/deciding.rs"]
mod deciding;
#[path = "resolve/editions.rs"]
mod editions;
#[path = "resolve/one_book.rs"]
mod one_book;
#[path = "resolve/overlap.rs"]
mod overlap;
#[path = "resolve/rule_edits.rs"]
mod rule_edits;
mod support;
#[path = "resolve/telling.rs"]
mod telling;
#[path = "resolve/trust.rs"]
mod trust;
#[path = "resolve/waiting.rs"]
mod waiting;

use oxrdf::{NamedOrBlankNode, Quad, Term};
use oxrdfio::{RdfFormat, RdfParser};
use pinakes::config::Home;
use pinakes::pipeline::{self, ResolveRequest, Session, Unwatched, Wish, Wishing};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use support::{BASE, CATALOGUE, Desk, SAMPLE, close, project};

const MEMBER: &str = "https://w3id.org/pinakes#member";

/// A table of books in the catalogue of one source.
fn books(desk: &Desk, source: &str, rows: &str) {
    let header = "id,title,author,translator,publisher,place,year,language,isbn,pages,edition\n";
    desk.write(&format!("{source}.csv"), format!("{header}{rows}"));
    desk.run(&format!("pinakes import --quiet --source {source} {source}.csv")).ok();
}

fn resolve(desk: &Desk) -> serde_json::Value {
    desk.run("pinakes resolve --quiet --json").ok().json()
}

/// The rows of a query as CSV, without the header.
fn rows(desk: &Desk, query: &str) -> Vec<String> {
    let text = desk.run(&format!("pinakes query --quiet --format csv -e '{query}'")).ok().text();
    text.lines().skip(1).map(|line| line.trim().to_owned()).collect()
}

/// The master as text that does not depend on the names of its entries.
fn master(desk: &Desk, catalogue: &str) -> String {
    let text =
        desk.run(&format!("pinakes export --quiet --graph master --format ntriples -c {catalogue}")).ok();
    by_members(&text.stdout)
}

fn by_members(text: &[u8]) -> String {
    let quads: Vec<Quad> =
        RdfParser::from_format(RdfFormat::NTriples).for_slice(text).map(Result::unwrap).collect();
    let mut about: BTreeMap<String, Vec<&Quad>> = BTreeMap::new();
    let mut members: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for quad in &quads {
        let NamedOrBlankNode::NamedNode(subject) = &quad.subject else {
            panic!("a blank node in the master")
        };
        about.entry(subject.as_str().to_owned()).or_default().push(quad);
        if quad.predicate.as_str() == MEMBER {
            members.entry(subject.as_str().to_owned()).or_default().insert(quad.object.to_string());
        }
    }
    let mut lines = Vec::new();
    for (entry, named) in &members {
        let name = format!("{}{named:?}", kind(entry));
        let mut said: Vec<String> = about[entry]
            .iter()
            .map(|quad| format!("{} {}", quad.predicate, term(&quad.object, &about, &members)))
            .collect();
        said.sort();
        let mut text = String::new();
        for line in said {
            writeln!(text, "{name} {line}").unwrap();
        }
        lines.push(text);
    }
    // Nodes inside belong to some entry: nothing hangs loose.
    let inside = about.keys().filter(|subject| !members.contains_key(*subject));
    for subject in inside {
        let entry = subject.split('#').next().unwrap();
        assert!(members.contains_key(entry), "{subject} belongs to no entry");
    }
    lines.sort();
    lines.concat()
}

fn kind(entry: &str) -> &str {
    entry.strip_prefix(BASE).unwrap_or(entry).split('/').next().unwrap()
}

fn term(
    term: &Term,
    about: &BTreeMap<String, Vec<&Quad>>,
    members: &BTreeMap<String, BTreeSet<String>>,
) -> String {
    let Term::NamedNode(node) = term else { return term.to_string() };
    if let Some(named) = members.get(node.as_str()) {
        return format!("{}{named:?}", kind(node.as_str()));
    }
    let is_inside = node.as_str().split_once('#').is_some_and(|(entry, _)| members.contains_key(entry));
    match about.get(node.as_str()) {
        Some(said) if is_inside => {
            let mut said: Vec<String> = said
                .iter()
                .map(|quad| format!("{} {}", quad.predicate, self::term(&quad.object, about, members)))
                .collect();
            said.sort();
            format!("[{}]", said.join("; "))
        }
        _ => node.to_string(),
    }
}

/// The members of the entry of a record.
fn members(desk: &Desk, record: &str) -> Vec<String> {
    let shown = desk.run(&format!("pinakes resolve show '{record}' --json")).ok().json();
    shown["members"].as_array().unwrap().iter().map(|member| member.as_str().unwrap().to_owned()).collect()
}

/// Two records of one book, a third of another, and one that is alone.
fn shelf() -> Desk {
    let desk = Desk::new();
    books(
        &desk,
        "north",
        "1,Walden,\"Thoreau, Henry David\",,Ticknor and Fields,Boston,1854,English,,357,\n\
         2,Erewhon,\"Butler, Samuel\",,Trübner,London,1872,English,9780140430578,246,\n",
    );
    books(
        &desk,
        "south",
        "a,\"Walden, or, Life in the woods\",Henry David Thoreau,,Ticknor & Fields,Boston,1854,en,,\"357 p.\",\n\
         b,Hudibras,\"Butler, Samuel\",,Marriot,London,1663,English,,268,\n",
    );
    resolve(&desk);
    desk
}

/// S0.5: "One named graph (or union) holds the merged catalogue and is exportable on its own"
#[test]
fn s0_5_the_merged_catalogue_is_one_graph_and_is_exported_alone() {
    let desk = shelf();
    let text = desk.run("pinakes export --quiet --graph master --format ntriples").ok();
    let exported = text.text().lines().count();
    assert!(exported > 40, "{exported}");
    let asked = rows(&desk, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }");
    assert_eq!(asked, [exported.to_string()]);
    for quad in RdfParser::from_format(RdfFormat::NTriples).for_slice(&text.stdout) {
        let subject = quad.unwrap().subject.to_string();
        assert!(!subject.contains("/record/"), "{subject} is not of the master");
    }
}

/// S0.12: "Two homonymous persons/subjects with different authority entries stay separate; two
/// forms of one heading join"
#[test]
fn s0_12_homonyms_stay_apart_and_forms_of_one_heading_join() {
    let desk = Desk::new();
    let book = |id: &str, title: &str, person: &str, subject: &str| {
        format!(
            "=LDR  00000nam a2200000 i 4500\n=001  {id}\n=100  1\\$a{person}\n=245  10$a{title}\n=650  \\0$a{subject}\n\n"
        )
    };
    let authority = "http://id.loc.gov/authorities";
    let text = [
        book(
            "1",
            "Hudibras",
            &format!("Butler, Samuel$0{authority}/names/n50043417"),
            &format!("Mercury$0{authority}/subjects/sh1"),
        ),
        book(
            "2",
            "Erewhon",
            &format!("Butler, Samuel$0{authority}/names/n79041870"),
            &format!("Mercury$0{authority}/subjects/sh2"),
        ),
        book(
            "3",
            "The way of all flesh",
            &format!("Butler, S.$0{authority}/names/n79041870"),
            &format!("Hg (Element)$0{authority}/subjects/sh2"),
        ),
    ];
    desk.write("butlers.mrk", text.concat());
    desk.run("pinakes import --quiet --source library butlers.mrk").ok();
    resolve(&desk);
    let agents = rows(&desk, "SELECT (COUNT(DISTINCT ?a) AS ?n) { ?a a bf:Person ; pin:member ?m }");
    assert_eq!(agents, ["2"]);
    let forms = "SELECT ?form { ?a a bf:Person ; rdfs:label|skos:altLabel ?form ; skos:exactMatch lcnaf:n79041870 } ORDER BY ?form";
    assert_eq!(rows(&desk, forms), ["\"Butler, S.\"", "\"Butler, Samuel\""]);
    let subjects = rows(&desk, "SELECT (COUNT(DISTINCT ?a) AS ?n) { ?a a bf:Topic ; pin:member ?m }");
    assert_eq!(subjects, ["2"]);
    let joined = rows(
        &desk,
        "SELECT ?form { ?a a bf:Topic ; rdfs:label|skos:altLabel ?form ; rdfs:label|skos:altLabel \"Hg (Element)\" } ORDER BY ?form",
    );
    assert_eq!(joined, ["Hg (Element)", "Mercury"]);
}

/// S4.1: "Type and the evidence for it are visible per entry"
#[test]
fn s4_1_the_content_type_of_an_entry_is_shown_with_its_evidence() {
    let desk = Desk::new();
    desk.run(&format!(
        "pinakes import --quiet --source library {}",
        project("examples/library.mrc").display()
    ))
    .ok();
    resolve(&desk);
    let shown = desk.run("pinakes resolve show library/lib0015 --json").ok().json();
    assert_eq!(shown["content_types"][0]["content_type"], "book");
    assert_eq!(shown["content_types"][0]["evidence"], "LDR/06 a");
    let typed = "SELECT (COUNT(*) AS ?n) { ?i a bf:Instance ; pin:contentType ?type }";
    // Of 73 records two describe one book.
    assert_eq!(rows(&desk, typed), ["72"]);
}

/// S4.2: "Agent-to-type table is configuration; a book entry is never tested by the TV agents";
/// S4.3: "Subsets are disjoint and cover; m is reported"; S4.4: "Comparison count with early stop is
/// lower than without on a corpus with planted duplicates"
#[test]
fn s4_2_s4_3_s4_4_agents_of_one_type_search_their_shards_and_stop_early() {
    let desk = Desk::new();
    let import = |source: &str, file: &str| {
        let path = project("examples").join(file);
        desk.run(&format!("pinakes import --quiet --source {source} {}", path.display())).ok();
    };
    import("library", "library.mrc");
    import("media", "films-and-music.jsonl");
    resolve(&desk);
    import("college", "college-marc8.mrc");
    import("verbund", "verbund.marcxml");
    let agents = resolve(&desk)["agents"].clone();
    assert_eq!(agents["entries"], 43);
    assert!(agents["found"].as_u64().unwrap() >= 12, "{agents:#}");
    assert!(agents["compared"].as_u64() < agents["without_stop"].as_u64(), "{agents:#}");
    let sets = agents["sets"].as_object().unwrap();
    assert_eq!(sets["moving pictures"]["entries"], 0, "{agents:#}");
    assert!(sets["texts"]["entries"].as_u64().unwrap() > 40, "{agents:#}");
    // m agents a set; the shards of all sets together hold every instance that was there.
    let mut owned = 0;
    for told in sets.values() {
        let shards = told["shards"].as_array().unwrap();
        assert_eq!(told["agents"], shards.len());
        owned += shards.iter().map(|size| size.as_u64().unwrap()).sum::<u64>();
    }
    assert_eq!(owned, 73 + 15);
}

/// S4.5: "Unique record appears once in the merged graph"
#[test]
fn s4_5_a_unique_record_appears_once() {
    let desk = shelf();
    assert_eq!(members(&desk, "south/b"), ["south/b"]);
    let found = "SELECT (COUNT(DISTINCT ?i) AS ?n) { ?i a bf:Instance ; rdfs:label \"Hudibras\" }";
    assert_eq!(rows(&desk, found), ["1"]);
    // All in all: three instances of four records.
    assert_eq!(rows(&desk, "SELECT (COUNT(DISTINCT ?i) AS ?n) { ?i a bf:Instance }"), ["3"]);
    assert_eq!(rows(&desk, "SELECT ?record { GRAPH ?g { ?record pin:mergeStatus pin:Merged } }").len(), 4);
    let unmerged = desk.run("pinakes query --quiet --format csv report/unmerged-records").ok().text();
    assert_eq!(unmerged.lines().count(), 1, "{unmerged}");
}

/// S4.6: "Merged notice has the union of fields; no field lost; conflicting values kept with their
/// sources"
#[test]
fn s4_6_a_merged_entry_has_all_fields_and_conflicts_keep_their_sources() {
    let desk = Desk::new();
    books(
        &desk,
        "north",
        "1,\"Erewhon, or, Over the range\",\"Butler, Samuel\",,Trübner,London,1872,English,9780140430578,246,First\n",
    );
    books(
        &desk,
        "south",
        "a,\"Erewhon, or, Over the range\",\"Butler, Samuel\",,Trübner & Co.,London,1873,en,0140430571,246,\n",
    );
    resolve(&desk);
    assert_eq!(members(&desk, "north/1"), ["north/1", "south/a"]);
    let all = "SELECT ?v { ?i a bf:Instance ; dcterms:issued|dcterms:publisher|bf:editionStatement|bf:extent/rdfs:label ?v } ORDER BY ?v";
    assert_eq!(rows(&desk, all), ["1872", "1873", "246", "First", "Trübner", "Trübner & Co."]);
    // Every literal of the records is in the master, on whatever node, but what was derived to compare them.
    let lost = "SELECT ?v { GRAPH ?record { ?s ?p ?v . FILTER(isLiteral(?v) && ?s != ?record && ?p NOT IN (pin:instanceKey, pin:workKey)) } FILTER(STRSTARTS(STR(?record), \"https://catalogue.example/record/\")) FILTER NOT EXISTS { ?x ?y ?v } }";
    assert_eq!(rows(&desk, lost), [""; 0]);
    // And every value leads back to the records that have it.
    let text = desk.run("pinakes query --quiet --format csv report/merged-values --bind 'property=<http://purl.org/dc/terms/issued>'").ok().text();
    let mut origins: Vec<&str> = text
        .lines()
        .skip(1)
        .map(|line| line.rsplit("/instance/").next().unwrap())
        .map(|line| line.split_once(',').unwrap().1.trim())
        .collect();
    origins.sort_unstable();
    assert_eq!(
        origins,
        [
            "http://purl.org/dc/terms/issued,1872,https://catalogue.example/record/north/1",
            "http://purl.org/dc/terms/issued,1873,https://catalogue.example/record/south/a"
        ]
    );
    let preferred = rows(
        &desk,
        "SELECT ?value ?reason { GRAPH ?g { ?merge pin:preference ?p . ?p pin:property dcterms:issued ; pin:preferredValue ?value ; pin:reason ?reason } }",
    );
    assert_eq!(preferred.len(), 1, "{preferred:?}");
}

/// S4.7: "Precision and recall on a labelled set are reported"
#[test]
fn s4_7_precision_and_recall_on_the_sample_are_reported() {
    let desk = Desk::with_sample();
    resolve(&desk);
    let truth = project("examples/truth.tsv");
    let found = desk
        .run(&format!("pinakes resolve evaluate --truth {} --column edition --json", truth.display()))
        .ok()
        .json();
    let measure = |name: &str, what: &str| found[name][what].as_f64().unwrap();
    assert_eq!(measure("pairs", "precision"), 1.0, "{found:#}");
    assert!(measure("pairs", "recall") >= 0.85, "{found:#}");
    assert!(measure("clusters", "f1") >= 0.96, "{found:#}");
    assert!(found["blocking_recall"].as_f64().unwrap() >= 0.9);
    assert!(!found["by_threshold"].as_array().unwrap().is_empty());
}

/// S4.7, again: whatever shape the truth has, and never of pairs it is silent about.
#[test]
fn s4_7_truths_are_read_as_people_have_them() {
    let desk = shelf();
    let measured = |truth: &str| {
        desk.write("truth.csv", truth);
        let found = desk.run("pinakes resolve evaluate --quiet --truth truth.csv --json").ok().json();
        let measure = |what: &str| found["pairs"][what].as_f64().unwrap();
        (measure("precision"), measure("recall"), found["known"].as_u64(), found["unknown"].as_u64())
    };
    // Groups, by ids that one record alone has.
    assert_eq!(measured("id,cluster\n1,w\na,w\n2,e\nb,h\n"), (1.0, 1.0, Some(4), Some(0)));
    assert_eq!(measured("id;cluster\n1;w\na;x\n\"2\";e\nb;-\n"), (0.0, 1.0, Some(3), Some(0)));
    // Pairs with and without a label. Nothing is known of others.
    assert_eq!(measured("left,right,same\nnorth/1,south/a,yes\n2,b,no\n"), (1.0, 1.0, Some(2), Some(0)));
    assert_eq!(measured("id1,id2,label\n2,b,1\n"), (1.0, 0.0, Some(1), Some(0)));
    // What nobody has looked at yet says nothing.
    assert_eq!(measured("left,right,same\n1,a,yes\n2,b,\n1,b,-\n"), (1.0, 1.0, Some(1), Some(0)));
    // All there are, of two sources that the columns are called after.
    assert_eq!(measured("id_north\tid_south\n1\ta\n9\tz\n"), (1.0, 1.0, Some(1), Some(1)));
    assert_eq!(measured("north,south\n2,b\n"), (0.0, 0.0, Some(1), Some(0)));
    // What speaks of nothing here is no good result.
    desk.write("truth.csv", "id,cluster\nx,1\ny,1\n");
    let refused = desk.run("pinakes resolve evaluate --truth truth.csv").exits(2);
    assert!(refused.complaint().contains("`x` for one is none"), "{}", refused.complaint());
    desk.write("truth.csv", "one,two,three,four\n1,2,3,4\n");
    let refused = desk.run("pinakes resolve evaluate --truth truth.csv").exits(2);
    assert!(refused.complaint().contains("expected `id`"), "{}", refused.complaint());
}

/// S4.8 and DC.3: "Blocking, candidate and decision queries are files under `queries`; editing one
/// changes the result without a rebuild"
#[test]
fn s4_8_dc_3_an_edited_query_changes_the_result() {
    let desk = shelf();
    assert_eq!(members(&desk, "north/1"), ["north/1", "south/a"]);
    // Titles that say which catalogue they are from have nothing in common.
    let query = std::fs::read_to_string(project("queries/resolve/instance/features.rq")).unwrap();
    let edited = query.replacen(
        "SELECT ?graph ?entity ?feature ?value",
        "SELECT ?graph ?entity ?feature (IF(?feature = \"title\", MD5(STR(?graph)), ?said) AS ?value)",
        1,
    );
    let edited = edited.replace("?value", "?said").replace("AS ?said)\nWHERE", "AS ?value)\nWHERE");
    desk.write("catalogue/queries/resolve/instance/features.rq", edited);
    assert_eq!(resolve(&desk)["read"], 4);
    assert_eq!(members(&desk, "north/1"), ["north/1"]);
    std::fs::remove_file(desk.path("catalogue/queries/resolve/instance/features.rq")).unwrap();
    resolve(&desk);
    assert_eq!(members(&desk, "north/1"), ["north/1", "south/a"]);
    // A mistake is said with its place, and nothing is changed.
    desk.write("catalogue/queries/resolve/instance/features.rq", "SELECT ?graph {");
    let refused = desk.run("pinakes resolve").exits(2).complaint();
    assert!(refused.contains("queries/resolve/instance/features.rq"), "{refused}");
}

/// The records of a file in another order, where their borders can be told without reading them.
fn shuffled(name: &str, bytes: &[u8], turn: usize) -> Vec<u8> {
    let mut records: Vec<&[u8]> = match name.rsplit_once('.').map(|(_, end)| end) {
        Some("mrc") => bytes.split_inclusive(|byte| *byte == 0x1d).collect(),
        Some("jsonl") => bytes.split_inclusive(|byte| *byte == b'\n').collect(),
        // A row begins with its number; others are the rest of a value.
        Some("csv") => {
            let starts = bytes.windows(3).enumerate().filter(|(_, bytes)| *bytes == b"\nB-");
            let mut borders: Vec<usize> = starts.map(|(at, _)| at + 1).collect();
            borders.push(bytes.len());
            borders.windows(2).map(|border| &bytes[border[0]..border[1]]).collect()
        }
        _ => return bytes.to_vec(),
    };
    let header = &bytes[..bytes.len() - records.iter().map(|record| record.len()).sum::<usize>()];
    assert!(records.len() > 10, "{name} is not shuffled");
    records.sort_by_key(|record| xxhash_rust::xxh3::xxh3_64_with_seed(record, turn as u64));
    [header].into_iter().chain(records).flatten().copied().collect()
}

/// S4.9: "Shuffling the input 5 times gives isomorphic merged graphs"
#[test]
fn s4_9_five_shufflings_give_isomorphic_masters() {
    let mut expected = None;
    for turn in 0..5 {
        let desk = Desk::new();
        let mut sample = SAMPLE;
        sample.rotate_left(turn * 2);
        if turn % 2 == 1 {
            sample.reverse();
        }
        for (source, file) in sample {
            let bytes = std::fs::read(project("examples").join(file)).unwrap();
            desk.write(file, shuffled(file, &bytes, turn));
            desk.run(&format!("pinakes import --quiet --source {source} {file}")).ok();
        }
        // What was merged on the way must not matter either.
        if turn == 3 {
            desk.run("pinakes resolve never library/lib0011 bookshop/B-004").ok();
            desk.run("pinakes resolve undo 1").ok();
        }
        resolve(&desk);
        let found = master(&desk, CATALOGUE);
        let expected = expected.get_or_insert_with(|| found.clone());
        assert_eq!(found.len(), expected.len());
        assert!(found == *expected, "shuffling {turn} gives another master");
    }
}

/// H.3: "Fixture with two translations, three editions, four copies gives 1 Work, 2 or 3
/// Expressions as stated, 3 Manifestations, 4 Items" — here two expressions: one a translation into
/// English, in two editions, one into French.
#[test]
fn h_3_two_translations_three_editions_four_copies() {
    let desk = Desk::new();
    desk.write("odyssey.mrk", include_str!("resolve/odyssey.mrk"));
    desk.run("pinakes import --quiet --source library odyssey.mrk").ok();
    let report = resolve(&desk);
    for (kind, entries) in [("hub", 1), ("work", 2), ("instance", 3), ("item", 4)] {
        assert_eq!(report["entries"][kind], entries, "{kind}: {report:#}");
    }
    for (class, frbr, expected) in [
        ("bf:Hub", "frbr:Work", "1"),
        ("bf:Work", "frbr:Expression", "2"),
        ("bf:Instance", "frbr:Manifestation", "3"),
        ("bf:Item", "frbr:Item", "4"),
    ] {
        // In the whole master, and of these the entries: no level has a node beside them.
        for of in [class, frbr] {
            for and in ["", "; pin:member ?m"] {
                let counted = format!("SELECT (COUNT(DISTINCT ?x) AS ?n) {{ ?x a {of} {and} }}");
                assert_eq!(rows(&desk, &counted), [expected], "{of} {and}");
            }
        }
    }
    // From every copy to the one hub, each in its edition and translation.
    let ways = rows(
        &desk,
        "SELECT ?copy ?year ?language { ?hub a bf:Hub . ?work bf:expressionOf ?hub ; dcterms:language ?language . \
         ?i bf:instanceOf ?work ; dcterms:issued ?year ; bf:hasItem ?item . ?item a bf:Item ; pin:barcode ?copy } ORDER BY ?copy",
    );
    assert_eq!(ways, ["1001,1997,en", "1002,1997,en", "1003,2006,en", "1004,1867,fr"]);
    // The work has what they have in common.
    let author = "SELECT DISTINCT ?name { ?hub a bf:Hub . ?work bf:expressionOf ?hub ; dcterms:creator/rdfs:label ?name }";
    assert_eq!(rows(&desk, author), ["Homer"]);
}

/// RA.18: ""Gloria Perez", "G. Perez", "Perez, G." join; institution variants join; measures
/// selectable"
#[test]
fn ra_18_names_and_institutions_in_their_forms_join() {
    let desk = Desk::new();
    books(
        &desk,
        "north",
        "1,Networks of libraries,Gloria Perez,,Ediciones,,2001,,,,\n\
         2,Networks of libraries,G. Perez,,Ediciones,,2003,,,,\n\
         3,Networks of libraries,\"Perez, G.\",,Ediciones,,2005,,,,\n\
         4,Report on reading,University of Oxford,,Clarendon,,1990,,,,\n\
         5,Report on reading,Universty of Oxford,,Clarendon,,1991,,,,\n",
    );
    resolve(&desk);
    let forms = |form: &str| {
        rows(
            &desk,
            &format!(
                "SELECT ?l {{ ?a a bf:Agent ; rdfs:label|skos:altLabel \"{form}\" ; rdfs:label|skos:altLabel ?l }} ORDER BY ?l"
            ),
        )
    };
    assert_eq!(forms("Gloria Perez"), ["G. Perez", "Gloria Perez", "\"Perez, G.\""]);
    assert_eq!(forms("University of Oxford"), ["University of Oxford", "Universty of Oxford"]);
}

/// Every merged entry says what holds it together: for each member but one a pair that was compared,
/// with its levels, or one that follows from something else, with the reason in words.
#[test]
fn every_merge_has_its_evidence() {
    let desk = Desk::with_sample();
    resolve(&desk);
    let pairs_of = |query: &str| -> BTreeMap<String, Vec<Vec<String>>> {
        let mut found: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
        for row in rows(&desk, query) {
            let mut cells = row.split(',').map(str::to_owned);
            found.entry(cells.next().unwrap()).or_default().push(cells.collect());
        }
        found
    };
    let members = pairs_of(
        "SELECT ?merge ?member { GRAPH <resolution> { ?merge a pin:Merge ; pin:entry ?entry } ?entry pin:member ?member }",
    );
    let pairs = pairs_of(
        "SELECT ?merge ?one ?other { GRAPH ?g { ?merge pin:pair ?pair . ?pair a pin:Pair ; pin:member ?one, ?other \
         FILTER(STR(?one) < STR(?other)) FILTER EXISTS { ?pair pin:levels|pin:reason ?why } } }",
    );
    let reasons = pairs_of("SELECT ?merge ?why { GRAPH ?g { ?merge a pin:Merge ; pin:reason ?why } }");
    let mut kinds: BTreeSet<&str> = BTreeSet::new();
    for (merge, members) in members.iter().filter(|(_, members)| members.len() > 1) {
        let kind = kind(merge.rsplit_once("merge/").unwrap().1);
        kinds.insert(kind);
        if matches!(kind, "subject" | "place") {
            assert!(reasons.contains_key(merge), "{merge} does not say why");
            continue;
        }
        // From the first member the pairs must lead to all others.
        let mut reached: BTreeSet<&str> = BTreeSet::from([members[0][0].as_str()]);
        let of_merge = pairs.get(merge).map(Vec::as_slice).unwrap_or_default();
        for _ in members {
            for pair in of_merge {
                if pair.iter().any(|member| reached.contains(member.as_str())) {
                    reached.extend(pair.iter().map(String::as_str));
                }
            }
        }
        for member in members {
            assert!(reached.contains(member[0].as_str()), "{merge}: nothing holds {}", member[0]);
        }
    }
    assert_eq!(kinds, BTreeSet::from(["agent", "hub", "instance", "subject", "work"]));
    // A hub shows which works were compared, a subject the heading.
    let hub = rows(
        &desk,
        "SELECT ?hub { GRAPH ?g { ?merge pin:entry ?hub ; pin:pair ?pair . ?pair pin:probability ?p } ?hub a bf:Hub } LIMIT 1",
    );
    let shown = desk.run(&format!("pinakes resolve show {}", hub[0])).ok().text();
    assert!(shown.contains("their works belong together") && shown.contains("probability "), "{shown}");
    let subject = rows(&desk, "SELECT ?s { ?s a bf:Topic ; pin:member ?a, ?b FILTER(?a != ?b) } LIMIT 1");
    let shown = desk.run(&format!("pinakes resolve show {}", subject[0])).ok().text();
    assert!(
        shown.contains("held together by the heading ") || shown.contains("held together by the entry "),
        "{shown}"
    );
}

/// A serial, a monograph and an article of one title are three; so are two bindings of one edition.
#[test]
fn levels_and_identifiers_of_an_edition_keep_publications_apart() {
    let desk = Desk::new();
    let record = |id: &str, level: char, title: &str, more: &str| {
        format!(
            "=LDR  00000na{level} a2200000 i 4500\n=001  {id}\n=008  990101s1901\\\\\\\\enk\\\\\\\\\\\\\\\\\\\\\\000\\0\\eng\\d\n\
             =100  1\\$aRay, John,$eauthor\n=245  10$a{title} /$cJohn Ray.\n\
             =264  \\1$aLondon :$bMurray,$c1901.\n{more}\n"
        )
    };
    let (garden, flora) = ("Annals of the botanical garden", "Flora of the northern coast");
    let bound = |isbn: &str| format!("=020  \\\\$a{isbn}\n=250  \\\\$aSecond edition.\n");
    let north = [
        record("serial", 's', garden, ""),
        record("book", 'm', garden, ""),
        record("article", 'a', garden, ""),
        record("cloth", 'm', flora, &bound("9780140430578")),
    ];
    let south = [record("serial", 's', garden, ""), record("paper", 'm', flora, &bound("9780143039952"))];
    desk.write("north.mrk", north.concat());
    desk.write("south.mrk", south.concat());
    desk.run("pinakes import --quiet --source north north.mrk").ok();
    desk.run("pinakes import --quiet --source south south.mrk").ok();
    resolve(&desk);
    assert_eq!(members(&desk, "north/serial"), ["north/serial", "south/serial"]);
    for alone in ["north/book", "north/article", "north/cloth", "south/paper"] {
        assert_eq!(members(&desk, alone), [alone]);
    }
    for (one, other, veto) in [
        ("north/serial", "north/book", "different level"),
        ("north/article", "north/book", "different level"),
        ("north/cloth", "south/paper", "other identifiers of the same edition"),
    ] {
        let explained = desk.run(&format!("pinakes resolve explain {one} {other} --json")).ok().json();
        assert_eq!(explained["veto"], veto, "{explained:#}");
    }
}

/// A decision is kept, counts in every run, is readable, and can be taken back.
#[test]
fn a_split_member_is_out_until_the_decision_is_undone() {
    let desk = shelf();
    let before = master(&desk, CATALOGUE);
    let entry =
        desk.run("pinakes resolve show north/1 --json").ok().json()["iri"].as_str().unwrap().to_owned();
    desk.run("pinakes resolve split north/1 south/a --note 'another printing' --by ann").ok();
    assert_eq!(members(&desk, "south/a"), ["south/a"]);
    let told = rows(
        &desk,
        "SELECT ?act ?note ?by { GRAPH ?g { ?d a pin:Decision ; pin:act ?act ; skos:note ?note ; prov:wasAssociatedWith ?by } }",
    );
    assert_eq!(told, ["split,another printing,https://catalogue.example/agent/ann"]);
    // It holds in later runs and in a store made anew.
    desk.run("pinakes resolve --full --quiet").ok();
    assert_eq!(members(&desk, "south/a"), ["south/a"]);
    let split = desk.canonical(CATALOGUE);
    desk.run("pinakes rebuild --quiet").ok();
    assert!(desk.canonical(CATALOGUE) == split, "a rebuild gives another catalogue");
    desk.run("pinakes resolve undo 1").ok();
    assert_eq!(master(&desk, CATALOGUE), before);
    let again =
        desk.run("pinakes resolve show south/a --json").ok().json()["iri"].as_str().unwrap().to_owned();
    assert_eq!(again, entry, "the entry has the name it had");
}

/// An entry that is merged into another answers with where it went.
#[test]
fn a_name_given_up_leads_to_what_replaced_it() {
    let desk = shelf();
    let lost =
        desk.run("pinakes resolve show south/b --json").ok().json()["iri"].as_str().unwrap().to_owned();
    desk.run("pinakes resolve join north/2 south/b").ok();
    let kept =
        desk.run("pinakes resolve show north/2 --json").ok().json()["iri"].as_str().unwrap().to_owned();
    let (from, into) = if desk.run(&format!("pinakes resolve show {lost} --json")).ok().json()["iri"] == kept
    {
        (lost, kept)
    } else {
        panic!("{lost} leads nowhere")
    };
    if from != into {
        let forwarded =
            rows(&desk, &format!("SELECT ?into {{ GRAPH ?g {{ <{from}> dcterms:isReplacedBy ?into }} }}"));
        assert_eq!(forwarded, [into]);
    }
}

/// Contradictory decisions are reported, and none merges what another forbids.
#[test]
fn contradictory_and_cyclic_decisions_are_reported() {
    let desk = shelf();
    desk.run("pinakes resolve never north/2 south/b").ok();
    desk.run("pinakes resolve join north/1 north/2").ok();
    // A ring of joins is no contradiction.
    desk.run("pinakes resolve join north/2 south/a").ok();
    desk.run("pinakes resolve join south/a north/1").ok();
    assert_eq!(members(&desk, "north/1"), ["north/1", "north/2", "south/a"]);
    let refused = desk.run("pinakes resolve join south/b north/1").exits(1).complaint();
    assert!(refused.contains("decision 5 cannot be followed"), "{refused}");
    assert_eq!(members(&desk, "south/b"), ["south/b"]);
    desk.run("pinakes resolve").exits(1);
    desk.run("pinakes resolve undo 1").ok();
    assert_eq!(members(&desk, "south/b").len(), 4);
}

/// A record that its source deletes while it waits for review.
#[test]
fn a_record_deleted_while_in_review_is_reported() {
    let desk = Desk::with_sample();
    resolve(&desk);
    let listed = desk.run("pinakes resolve review --json").ok().json();
    let side = |pair: &serde_json::Value| {
        ["left", "right"].into_iter().find(|side| pair[side]["source"] == "library")
    };
    let pair = listed.as_array().unwrap().iter().find(|pair| side(pair).is_some()).unwrap().clone();
    let (id, gone) = (pair["id"].as_str().unwrap(), pair[side(&pair).unwrap()]["id"].as_str().unwrap());
    desk.write("deleted.mrc", support::marc::deleted(gone));
    desk.run("pinakes import --quiet --source library deleted.mrc").ok();
    let listed = desk.run("pinakes resolve review --json").ok().json();
    let again = listed.as_array().unwrap().iter().find(|pair| pair["id"] == id).unwrap().clone();
    assert_eq!(again["gone"], true);
    let refused = desk.run(&format!("pinakes resolve review --accept {id}")).exits(2).complaint();
    assert!(refused.contains("withdrawn"), "{refused}");
    resolve(&desk);
    let listed = desk.run("pinakes resolve review --json").ok().json();
    assert!(!listed.as_array().unwrap().iter().any(|pair| pair["id"] == id));
}

/// 1,000 merges, of which 50 are undone: the master equals one in which these members never merged.
#[test]
fn undoing_fifty_of_a_thousand_merges_equals_never_having_merged() {
    let numbers: Vec<usize> = (0..1000).collect();
    let mut words = 0_u64;
    let mut word = || {
        words = words.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let letters = b"bcdfglmnprst".iter().zip(b"aeiouaeiouae");
        let mut text = String::new();
        let mut rest = words >> 20;
        for _ in 0..4 {
            let (consonant, vowel) = letters.clone().nth((rest % 12) as usize).unwrap();
            text.push(*consonant as char);
            text.push(*vowel as char);
            rest /= 12;
        }
        text
    };
    let titles: Vec<(String, String)> = numbers
        .iter()
        .map(|_| (format!("{} {} {}", word(), word(), word()), format!("{} {}", word(), word())))
        .collect();
    let fill = |desk: &Desk| {
        for source in ["north", "south"] {
            let mut text = String::new();
            for (number, (title, author)) in titles.iter().enumerate() {
                writeln!(
                    text,
                    "{number},{title},{author},,Publisher {},Boston,{},English,,{},",
                    number % 17,
                    1900 + number % 90,
                    100 + number % 300
                )
                .unwrap();
            }
            books(desk, source, &text);
        }
    };
    let wishing =
        Wishing { by: "test".to_owned(), note: String::new(), time: "2024-01-01T00:00:00Z".to_owned() };
    let request = ResolveRequest { time: wishing.time.clone(), ..ResolveRequest::default() };
    let open =
        |desk: &Desk| Session::write(Home::open(&desk.path(CATALOGUE)).unwrap(), &mut Unwatched).unwrap();
    let desk = Desk::new();
    fill(&desk);
    let mut session = open(&desk);
    let resolved = pipeline::resolve(&mut session, &request, &mut Unwatched).unwrap();
    assert_eq!(resolved.merged["instance"], 1000);
    let undone: Vec<usize> = numbers.iter().copied().filter(|number| number % 20 == 7).collect();
    assert_eq!(undone.len(), 50);
    for number in &undone {
        // The first and the second member in turn.
        let member = if number % 40 == 7 { format!("north/{number}") } else { format!("south/{number}") };
        let wish = Wish::Split(format!("north/{number}"), member);
        pipeline::take_down(&mut session, &wish, &wishing).unwrap();
    }
    pipeline::resolve(&mut session, &request, &mut Unwatched).unwrap();
    close(session);
    let other = Desk::new();
    fill(&other);
    let mut session = open(&other);
    for number in &undone {
        let wish = Wish::Never(format!("north/{number}"), format!("south/{number}"));
        pipeline::take_down(&mut session, &wish, &wishing).unwrap();
    }
    let resolved = pipeline::resolve(&mut session, &request, &mut Unwatched).unwrap();
    assert_eq!(resolved.merged["instance"], 950);
    close(session);
    assert!(master(&desk, CATALOGUE) == master(&other, CATALOGUE));
}

/// Labels come as a table or from people's decisions, count until they are replaced, and survive a
/// rebuild with the weights they made.
#[test]
fn labels_are_kept_and_learned_from() {
    let desk = shelf();
    desk.write(
        "labels.csv",
        "left_source,left_id,right_source,right_id,same\nnorth,1,south,a,1\nnorth,2,south,b,0\n",
    );
    let told = desk.run("pinakes resolve train --labels labels.csv").ok();
    assert!(told.complaint().contains("2 labelled pairs"), "{}", told.complaint());
    let learned = desk.run("pinakes resolve explain north/1 south/a --json").ok().json()["weight"].clone();
    desk.run("pinakes rebuild --quiet").ok();
    assert_eq!(desk.run("pinakes resolve explain north/1 south/a --json").ok().json()["weight"], learned);
    // Learned again, they still count; without them it comes out otherwise.
    desk.run("pinakes resolve train --quiet").ok();
    assert_eq!(desk.run("pinakes resolve explain north/1 south/a --json").ok().json()["weight"], learned);
    desk.run("pinakes resolve train --no-labels --quiet").ok();
    assert_ne!(desk.run("pinakes resolve explain north/1 south/a --json").ok().json()["weight"], learned);
    let refused = desk.run("pinakes resolve train --decisions").exits(2).complaint();
    assert!(refused.contains("nothing that counts was decided about two records"), "{refused}");
    desk.run("pinakes resolve join north/2 south/b").ok();
    desk.run("pinakes resolve train --decisions").ok();
}

/// Records that come, change and go: the master equals one made of what is there at the end.
#[test]
fn an_incremental_run_ends_where_a_full_one_does() {
    let desk = Desk::with_sample();
    desk.run("pinakes source remove media --quiet; true");
    resolve(&desk);
    books(
        &desk,
        "late",
        "x,Walden,Henry David Thoreau,,Ticknor,Boston,1854,English,,357,\ny,Emma,Jane Austen,,Murray,London,1816,English,,300,\n",
    );
    desk.run(&format!(
        "pinakes import --quiet --source bookshop --replace {}",
        project("examples/bookshop.csv").display()
    ))
    .ok();
    let compared = |report: &serde_json::Value, profile: &str| report["compared"][profile].as_u64().unwrap();
    let everything = desk.run("pinakes resolve --since ever --dry-run --quiet --json").ok().json();
    assert_eq!(everything["read"], 2);
    let late = resolve(&desk);
    for profile in ["instance", "work", "agent"] {
        let (some, all) = (compared(&late, profile), compared(&everything, profile));
        assert!(some * 10 < all, "{profile}: {some} of {all} pairs compared for two new records");
    }
    let again = resolve(&desk);
    assert_eq!(compared(&again, "instance") + compared(&again, "work") + compared(&again, "agent"), 0);
    books(&desk, "late", "x,Walden,Henry David Thoreau,,Ticknor,Boston,1855,English,,357,\n");
    desk.write("deleted.mrc", support::marc::deleted("lib0011"));
    desk.run("pinakes import --quiet --source library deleted.mrc").ok();
    let report = resolve(&desk);
    assert_eq!(report["gone"], 1);
    // A person's join and never are taken up without comparing everything, too.
    desk.run("pinakes resolve join late/x bookshop/B-004").ok();
    desk.run("pinakes resolve never library/lib0015 library/lib0016").ok();
    let incremental = master(&desk, CATALOGUE);
    desk.run("pinakes resolve --since ever --quiet").ok();
    assert!(master(&desk, CATALOGUE) == incremental, "comparing everything gives another master");
    // What was kept is derived: a damaged file costs time and nothing else.
    desk.write("catalogue/resolution/instance.state", "PINRSLV torn");
    let repaired = resolve(&desk);
    assert!(compared(&repaired, "instance") > 0);
    assert!(master(&desk, CATALOGUE) == incremental, "a damaged state changes the master");
    desk.run("rm -r catalogue/resolution && pinakes rebuild --quiet").ok();
    assert!(master(&desk, CATALOGUE) == incremental, "a run over everything gives another master");
}
