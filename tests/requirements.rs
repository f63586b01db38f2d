//! Rows of the requirements, one test each: its name begins with the row, its comment quotes
//! the criterion, and it asserts the criterion.
//!
//! Second opinions come from programs that share no code with us: `rapper` (raptor2-utils),
//! `rdflib` and Oxigraph's own command line. `scripts/setup` installs them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use oxrdf::{Dataset, Graph, Triple};
use oxrdfio::{RdfFormat, RdfParser};
use pinakes::catalogue::Graphs;
use pinakes::concordance::Concordances;
use pinakes::map::{self, ContentTypes};
use pinakes::ontology::pin;
use pinakes::record::{Model, RecordBuilder};
use sophia::api::source::TripleSource;
use sophia::api::term::SimpleTerm;
use std::collections::BTreeSet;
use support::{BASE, CATALOGUE, Desk, SAMPLE, marc, project, venv};

/// Fails with the way out when a program is not there.
#[track_caller]
fn must_be_there(desk: &Desk, program: &str) {
    let there = desk.run(&format!("command -v {program}")).code == Some(0);
    assert!(there, "`{program}` is not installed; run scripts/setup");
}

fn ask(desk: &Desk, query: &str) -> bool {
    desk.run(&format!("pinakes query --quiet -e '{query}'")).ok().text() == "yes\n"
}

/// The rows of a query as CSV, without the header.
fn rows(desk: &Desk, query: &str) -> Vec<String> {
    let text = desk.run(&format!("pinakes query --quiet --format csv {query}")).ok().text();
    text.lines().skip(1).map(|line| line.trim().to_owned()).collect()
}

/// S0.4: "Dump of the store parses as N-Quads; the paper's examples ("Bob is 35", "Bob knows
/// Fred") can be stored and queried"
#[test]
fn s0_4_the_dump_parses_as_n_quads_and_bob_can_be_asked_for() {
    let desk = Desk::with_sample();
    desk.write(
        "bob.ttl",
        "@prefix : <https://people.example/> .\n:bob :is 35 ; :knows :fred .\n:fred :is 36 .\n",
    );
    desk.run("pinakes import --source people bob.ttl").ok();
    desk.run("pinakes export --graph all --format nquads --output dump.nq").ok();

    let dump = desk.read("dump.nq");
    let parsed = RdfParser::from_format(RdfFormat::NQuads).for_slice(&dump).map(Result::unwrap).count();
    assert_eq!(parsed, dump.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count());
    must_be_there(&desk, "rapper");
    let foreign = desk.run("rapper -i nquads -c dump.nq").ok().complaint();
    assert!(
        foreign.contains(&format!("returned {parsed} ")),
        "{parsed} statements, and rapper says: {foreign}"
    );

    let people = "PREFIX : <https://people.example/>";
    assert!(ask(&desk, &format!("{people} ASK {{ :bob :is 35 }}")));
    assert!(ask(&desk, &format!("{people} ASK {{ :bob :knows :fred }}")));
    assert!(!ask(&desk, &format!("{people} ASK {{ :fred :knows :bob }}")));
    let whom = rows(&desk, &format!("-e '{people} SELECT ?age {{ ?who :knows ?friend ; :is ?age }}'"));
    assert_eq!(whom, ["35"]);
}

/// The content types that row S0.6 lists.
const LISTED: [&str; 11] = [
    "book",
    "film and video",
    "electronic document",
    "archival document",
    "social network",
    "art object",
    "educational material",
    "scientific paper",
    "TV programme",
    "music",
    "web page",
];

/// S0.6: "The content-type list is data, not code; each listed type can be assigned, counted
/// and filtered"
#[test]
fn s0_6_each_listed_content_type_is_assigned_counted_and_filtered() {
    let desk = Desk::new();
    desk.write("one.csv", "id,title\n1,Walden\n");
    let shipped = ContentTypes::shipped();
    let label = |labels: &[(String, String)]| {
        labels.iter().find(|(language, _)| language == "en").map(|(_, label)| label.clone()).unwrap()
    };
    let labels: BTreeSet<String> = shipped.types().iter().map(|known| label(&known.labels)).collect();
    assert_eq!(labels, LISTED.map(str::to_owned).into());

    for known in shipped.types() {
        let code = &known.code;
        desk.run(&format!("pinakes import --source {code} --content-type {code} one.csv")).ok();
    }
    let counted = rows(&desk, "report/records-by-content-type");
    for known in shipped.types() {
        let (code, label) = (&known.code, label(&known.labels));
        assert!(counted.contains(&format!("{BASE}content-type/{code},{label},1")), "{code}: {counted:?}");
        let filtered =
            rows(&desk, &format!("-e 'SELECT ?r {{ ?r pin:contentType <{BASE}content-type/{code}> }}'"));
        assert_eq!(filtered, [format!("{BASE}record/{code}/1")]);
    }
    assert_eq!(counted.len(), LISTED.len());
}

/// S0.6: "The content-type list is data, not code; each listed type can be assigned, counted
/// and filtered" — here: one line more in the lists is a type more.
#[test]
fn s0_6_a_line_in_the_lists_adds_a_content_type() {
    let list = |name: &str| std::fs::read_to_string(project("mappings/codes").join(name)).unwrap();
    let types = list("content-types.tsv") + "scroll\tscroll\trouleau\tSchriftrolle\n";
    let evidence = list("content-type-evidence.tsv") + "csv\tkind\t*papyrus*\tscroll\n";
    let content_types = ContentTypes::read(&types, &evidence);
    assert!(content_types.knows("scroll") && !ContentTypes::shipped().knows("scroll"));

    let mut builder = RecordBuilder::new(Model::Row);
    builder.field("kind", [' ', ' '], "On papyrus", 0);
    let graphs = Graphs::new(BASE).unwrap();
    let concordances = Concordances::shipped();
    let context = map::Context {
        graphs: &graphs,
        concordances: &concordances,
        content_types: &content_types,
        source: "museum",
        id: "1",
        default_type: None,
    };
    let statements = map::map(&builder.finish(), &context).triples;
    let expected =
        Triple::new(graphs.record("museum", "1"), pin::CONTENT_TYPE, graphs.content_type("scroll"));
    assert!(statements.contains(&expected));
}

/// S0.9: "A record harvested but not yet cleaned is found (marked as unmerged) by lookup and
/// by SPARQL"
#[test]
fn s0_9_a_record_not_yet_cleaned_is_found_and_marked_as_unmerged() {
    let desk = Desk::new();
    desk.write("walden.mrc", marc::book("b1", "Walden"));
    desk.run("pinakes import --source shop walden.mrc").ok();
    let shown = desk.run("pinakes record show shop b1").ok().text();
    assert!(shown.contains("\nstatus   unmerged,"), "{shown}");
    assert_eq!(desk.run("pinakes record show shop b1 --json").ok().json()["status"], "unmerged");
    let found = rows(&desk, "report/unmerged-records");
    assert_eq!(found, [format!("{BASE}record/shop/b1,{BASE}source/shop,{}Unmerged", pin::NAMESPACE)]);
}

/// S0.10: "Cleaning, enrichment and export succeed with the network off" — here: what there is
/// of the way from archive to export. The commands run in a network namespace of their own,
/// which has no way out, and give what they give with a network.
#[test]
fn s0_10_resolve_rebuild_query_and_export_succeed_with_the_network_off() {
    let desk = Desk::new();
    for (source, file) in SAMPLE {
        desk.run(&format!("pinakes import --source {source} {}", project("examples").join(file).display()))
            .ok();
    }
    desk.run(&format!("cp -r {CATALOGUE} online")).ok();
    let off = desk.network_off();
    let resolved =
        |line: &str| -> serde_json::Value { desk.run(&format!("{line} --quiet --json")).ok().json() };
    let online = resolved("pinakes --catalogue online resolve");
    let offline = resolved(&format!("{off} pinakes resolve"));
    assert_eq!(offline["read"], offline["records"]);
    assert!(offline["merged"]["instance"].as_u64() > Some(10), "{offline:#}");
    for what in ["records", "entries", "merged", "compared", "review", "sources"] {
        assert_eq!(offline[what], online[what], "{what}");
    }
    let master = |catalogue: &str| -> BTreeSet<String> {
        let line = format!("pinakes --catalogue {catalogue} export --quiet --graph master --format ntriples");
        desk.run(&format!("{off} {line}")).ok().text().lines().map(str::to_owned).collect()
    };
    assert!(master(CATALOGUE).len() > 1000);
    assert!(master(CATALOGUE) == master("online"), "without a network another master comes out");

    let before = desk.canonical(CATALOGUE);
    for command in [
        "rebuild",
        "resolve --full",
        "query report/records-by-content-type",
        "export --graph all --output dump.nq",
        "export --canonical --output offline.nq",
        "verify",
    ] {
        desk.run(&format!("{off} pinakes {command}")).ok();
    }
    assert!(desk.read("offline.nq") == before.as_bytes());
}

/// S3.7: "Raw record, mapped triples, source, time and agent are stored per entry"
#[test]
fn s3_7_raw_record_triples_source_time_and_agent_are_stored_per_entry() {
    let desk = Desk::new();
    let records = [marc::book("b1", "Walden"), marc::book("b2", "Erewhon"), marc::book("b3", "Faust")];
    desk.write("books.mrc", records.concat());
    desk.run("pinakes import --source shop books.mrc").ok();
    for (id, raw) in ["b1", "b2", "b3"].iter().zip(&records) {
        assert_eq!(desk.run(&format!("pinakes record show shop {id} --raw")).ok().stdout, *raw);
        let entry = desk.run(&format!("pinakes record show shop {id} --json")).ok().json();
        assert_eq!(entry["source"], "shop");
        let time = entry["time"].as_str().unwrap();
        assert!(time.parse::<jiff::Timestamp>().is_ok(), "{time}");

        let record = format!("{BASE}record/shop/{id}");
        let stored = desk.run(&format!(
            "pinakes query --quiet --format csv -e 'SELECT (COUNT(*) AS ?n) {{ GRAPH <{record}> {{ ?s ?p ?o }} }}'"
        ));
        assert_eq!(stored.ok().number(), entry["statements"].as_array().unwrap().len() as u64);
        let provenance = rows(
            &desk,
            &format!(
                "-e 'SELECT ?source ?agent ?begun ?ended {{
                   GRAPH <{record}> {{ <{record}> pin:source ?source ; prov:wasGeneratedBy ?run }}
                   GRAPH <{BASE}provenance> {{
                     ?run prov:used ?source ; prov:wasAssociatedWith ?agent ;
                          prov:startedAtTime ?begun ; prov:endedAtTime ?ended }} }}'"
            ),
        );
        let agent = format!("{BASE}agent/pinakes%2F{}", env!("CARGO_PKG_VERSION"));
        assert_eq!(provenance, [format!("{BASE}source/shop,{agent},{time},{time}")]);
    }
}

/// DC.2: "Store directory opens with Oxigraph's own CLI"
#[test]
fn dc_2_the_store_opens_with_oxigraphs_own_command_line() {
    let desk = Desk::new();
    desk.store_records();
    desk.run(&format!("pinakes import --source museum {}", project("examples/museum.ttl").display())).ok();
    let ours: BTreeSet<String> = desk
        .run("pinakes export --graph all --format nquads")
        .ok()
        .text()
        .lines()
        .map(str::to_owned)
        .collect();
    let oxigraph = venv("oxigraph");
    let store = format!("--location {CATALOGUE}/store");
    let counted = desk.run(&format!(
        "{} query {store} --results-format csv --query 'SELECT (COUNT(*) AS ?n) {{ GRAPH ?g {{ ?s ?p ?o }} }}'",
        oxigraph.display()
    ));
    assert_eq!(counted.ok().number(), ours.len() as u64);
    let dump = desk.run(&format!("{} dump {store} --format nq", oxigraph.display())).ok().text();
    assert_eq!(dump.lines().map(str::to_owned).collect::<BTreeSet<_>>(), ours);
    desk.run("pinakes verify").ok();
}

/// DC.6: "Exports re-load to an isomorphic graph; also checked with a foreign parser"
#[test]
fn dc_6_turtle_and_n_triples_exports_reload_to_an_isomorphic_graph() {
    let desk = Desk::new();
    for (source, file) in [("college", "college-marc8.mrc"), ("museum", "museum.ttl")] {
        desk.run(&format!("pinakes import --source {source} {}", project("examples").join(file).display()))
            .ok();
    }
    for (format, file) in [("nquads", "all.nq"), ("turtle", "all.ttl"), ("ntriples", "all.nt")] {
        desk.run(&format!("pinakes export --graph records --format {format} --output {file}")).ok();
    }
    let quads = RdfParser::from_format(RdfFormat::NQuads).for_slice(&desk.read("all.nq")).collect::<Vec<_>>();
    let dataset: Dataset = quads.into_iter().map(Result::unwrap).collect();
    let mut stored: Graph = dataset.iter().map(oxrdf::TripleRef::from).collect();
    stored.canonicalize(oxrdf::graph::CanonicalizationAlgorithm::Unstable);
    assert!(stored.len() > 1000);
    let reference = stored.to_string();
    must_be_there(&desk, "rapper");
    let python = venv("python");

    for (format, name, file) in
        [(RdfFormat::Turtle, "turtle", "all.ttl"), (RdfFormat::NTriples, "ntriples", "all.nt")]
    {
        let text = desk.read(file);
        let reloaded = RdfParser::from_format(format).for_slice(&text).collect::<Vec<_>>();
        let mut reloaded: Graph = reloaded.into_iter().map(|quad| Triple::from(quad.unwrap())).collect();
        reloaded.canonicalize(oxrdf::graph::CanonicalizationAlgorithm::Unstable);
        assert!(reloaded == stored, "{file} does not reload to the graph that is stored");

        // A second opinion on isomorphism, with another parser.
        let text = String::from_utf8(text).unwrap();
        let theirs: Vec<[SimpleTerm<'static>; 3]> = match format {
            RdfFormat::Turtle => sophia::turtle::parser::turtle::parse_str(&text).collect_triples().unwrap(),
            _ => sophia::turtle::parser::nt::parse_str(&text).collect_triples().unwrap(),
        };
        let ours: Vec<[SimpleTerm<'static>; 3]> =
            sophia::turtle::parser::nt::parse_str(&reference).collect_triples().unwrap();
        let (theirs, ours): (BTreeSet<_>, BTreeSet<_>) =
            (theirs.into_iter().collect(), ours.into_iter().collect());
        assert!(
            sophia::isomorphism::isomorphic_graphs(&theirs, &ours).unwrap(),
            "{file}: sophia sees another graph"
        );

        // Two foreign parsers read as many statements.
        let rapper = desk.run(&format!("rapper -q -i {name} -o ntriples {file} | sort -u | wc -l")).ok();
        assert_eq!(rapper.text().trim(), stored.len().to_string(), "rapper, {file}");
        desk.run(&format!("rapper -q -i {name} -c {file}")).ok();
        let count = format!("from rdflib import Graph; print(len(Graph().parse('{file}')))");
        let rdflib = desk.run(&format!("{} -c \"{count}\"", python.display())).ok();
        assert_eq!(rdflib.text().trim(), stored.len().to_string(), "rdflib, {file}");
    }
}

/// H.5: "Report of triples per record; ≥ 1 million triples from the demonstration corpus" — here of
/// records like it, by one command that writes what all of them say.
#[test]
fn h_5_a_million_triples_come_from_one_command() {
    const RECORDS: usize = 24_000;
    let desk = Desk::new();
    desk.write("many.mrc", marc::many(0..RECORDS, 1));
    desk.run("pinakes import --quiet --source many many.mrc").ok();
    let counted = desk.run("pinakes export --quiet --graph records --format nquads | wc -l").ok().text();
    let triples: usize = counted.trim().parse().unwrap();
    assert!(triples >= 1_000_000, "{triples} triples, {} a record", triples / RECORDS);
}
