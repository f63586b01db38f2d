//! SPARQL, the graph store and linked data.

use super::support::server::{Server, token};
use super::support::{BASE, Desk, marc, project};
use std::collections::BTreeSet;

fn resolved() -> Desk {
    let desk = Desk::with_sample();
    desk.run("pinakes resolve --quiet").ok();
    desk
}

/// S0.14: "The whole catalogue is reachable over HTTP without the CLI (search, record, SPARQL,
/// export)": here records, SPARQL and export; searching has tests of its own.
#[test]
fn s0_14_records_queries_and_exports_are_reachable_over_http() {
    let desk = resolved();
    let server = Server::start(&desk, &[]);
    let query = "SELECT (COUNT(?r) AS ?n) { GRAPH ?g { ?r a pin:Record } }";
    assert_eq!(
        server.count(query),
        desk.run(&format!("pinakes query --format csv -e '{query}'")).ok().number()
    );
    for (accept, begins) in [
        ("application/sparql-results+json", "{"),
        ("application/sparql-results+xml", "<?xml"),
        ("text/csv", "label"),
        ("text/tab-separated-values", "?label"),
    ] {
        let query =
            "/sparql?query=SELECT%20%3Flabel%20%7B%20%3Fi%20rdfs%3Alabel%20%3Flabel%20%7D%20LIMIT%202";
        let answer = server.get(query, &[("Accept", accept)]).is(200);
        assert!(answer.text().starts_with(begins), "{accept}: {}", answer.text());
        assert!(answer.header("content-type").unwrap().starts_with(accept));
    }
    let graph = format!("/graph-store?graph={BASE}record/library/lib0011");
    let exported = server.get(&graph, &[("Accept", "application/n-triples")]).is(200).text();
    assert!(exported.lines().count() > 20, "{exported}");
    server.get("/graph-store?graph=http://nobody.example/", &[]).is(404);
}

/// S0.16: "Every entity (work, person, organisation, place, topic) has an IRI that dereferences to
/// labels, description, types, links out and its works"
#[test]
fn s0_16_every_kind_of_entity_dereferences() {
    let desk = resolved();
    let server = Server::start(&desk, &[]);
    for class in ["bf:Hub", "bf:Work", "bf:Instance", "bf:Person", "bf:Topic", "bf:Place"] {
        let found = server.query(&format!(
            "SELECT ?e {{ ?e a {class} ; rdfs:label ?l FILTER(!CONTAINS(STR(?e), \"#\")) }} LIMIT 1"
        ));
        let iri = found["results"]["bindings"][0]["e"]["value"].as_str();
        let iri = iri.unwrap_or_else(|| panic!("there is no {class}"));
        let path = format!("/{}", iri.strip_prefix(BASE).unwrap());
        let turtle = server.get(&path, &[("Accept", "text/turtle")]).is(200);
        assert!(turtle.text().contains("rdfs:label"), "{}", turtle.text());
        assert!(turtle.header("vary").unwrap().contains("Accept"));
        assert!(turtle.head.contains("rel=\"alternate\""));
        for (suffix, media) in [
            (".ttl", "text/turtle"),
            (".nt", "application/n-triples"),
            (".jsonld", "application/ld+json"),
            (".rdf", "application/rdf+xml"),
            (".html", "text/html"),
        ] {
            let answer = server.get(&format!("{path}{suffix}"), &[]).is(200);
            assert!(answer.header("content-type").unwrap().starts_with(media), "{path}{suffix}");
        }
        let tag = turtle.header("etag").unwrap().to_owned();
        server.get(&path, &[("Accept", "text/turtle"), ("If-None-Match", &tag)]).is(304);
        let page = server.get(&path, &[("Accept", "text/html")]).is(200).text();
        assert!(page.contains("<h1") && !page.contains("<script"), "{page}");
    }
    // A person leads to the works, and to the entry of an authority file.
    let person =
        "SELECT ?e { ?e a bf:Person ; skos:exactMatch ?out . ?w bf:contribution/bf:agent ?e } LIMIT 1";
    let found = server.query(person);
    let iri = found["results"]["bindings"][0]["e"]["value"].as_str().expect("a person with links");
    let page =
        server.get(&format!("/{}", iri.strip_prefix(BASE).unwrap()), &[("Accept", "text/html")]).text();
    assert!(page.contains("/work/") || page.contains("/hub/"), "no works on {page}");
    // A name that was given up leads on.
    let alone = "SELECT ?m { ?e a bf:Instance ; pin:member ?m \
                 FILTER NOT EXISTS { ?e pin:member ?n FILTER(?n != ?m) } } ORDER BY ?m LIMIT 2";
    let found = server.query(alone);
    let [one, other] = [0, 1].map(|at| {
        let node = found["results"]["bindings"][at]["m"]["value"].as_str().unwrap();
        node.strip_prefix(BASE).unwrap().strip_prefix("record/").unwrap().to_owned()
    });
    desk.run(&format!("pinakes resolve join '{one}' '{other}'")).ok();
    let moved = server.query("SELECT ?old ?new { GRAPH ?g { ?old dcterms:isReplacedBy ?new } } LIMIT 1");
    let row = &moved["results"]["bindings"][0];
    let (old, new) = (row["old"]["value"].as_str().unwrap(), row["new"]["value"].as_str().unwrap());
    let answer = server.get(&format!("/{}", old.strip_prefix(BASE).unwrap()), &[]).is(301);
    assert!(answer.header("location").unwrap().ends_with(new.strip_prefix(BASE).unwrap()));
    server.get("/instance/0000000000000000", &[]).is(404);
}

/// H.1: "Everything displayed is answerable by SPARQL"
#[test]
fn h_1_what_a_page_says_a_query_says() {
    let desk = resolved();
    let server = Server::start(&desk, &[]);
    let found = server.query("SELECT ?e { ?e a bf:Instance ; pin:member ?m } ORDER BY ?e LIMIT 1");
    let iri = found["results"]["bindings"][0]["e"]["value"].as_str().unwrap();
    let shown = server.get(&format!("/{}.nt", iri.strip_prefix(BASE).unwrap()), &[]).is(200).text();
    assert!(shown.lines().count() > 5);
    for statement in shown.lines() {
        let asked = server.query(&format!("ASK {{ {statement} }}"));
        assert_eq!(asked["boolean"], true, "{statement}");
    }
}

/// What a token holder writes into the merged catalogue is there when the store is made anew.
#[test]
fn what_is_written_into_the_master_survives_a_rebuild() {
    let desk = resolved();
    let writer = token(&desk, "--role writer");
    let server = Server::start(&desk, &[]);
    server.update(&writer, "INSERT DATA { <a:s> <a:p> 1 }").unwrap().is(204);
    let label = "DELETE { ?i rdfs:label ?l } INSERT { ?i rdfs:label \"Mine\" } WHERE { ?i pin:member ?m ; rdfs:label ?l . FILTER(STRENDS(STR(?m), \"lib0011#instance\")) }";
    server.update(&writer, label).unwrap().is(204);
    assert_eq!(server.stop(), Some(0));
    let master = || -> BTreeSet<String> {
        let text = desk.run("pinakes export --quiet --graph master --format ntriples").ok().text();
        text.lines().map(str::to_owned).collect()
    };
    let before = master();
    assert!(before.iter().any(|line| line.contains("\"Mine\"")));
    desk.run("pinakes rebuild --quiet").ok();
    assert_eq!(master(), before);
}

/// What is written needs a token, is seen by the next request, and is there again when the store is
/// made anew.
#[test]
fn updates_need_a_token_are_seen_at_once_and_survive_a_rebuild() {
    let desk = Desk::new();
    desk.run("pinakes source add --from loc").ok();
    let (writer, reader) = (token(&desk, "--role writer"), token(&desk, "--role reader"));
    let bound = token(&desk, "--role writer --source loc");
    let server = Server::start(&desk, &[]);
    let insert = |graph: &str, n: usize| format!("INSERT DATA {{ GRAPH <{graph}> {{ <a:s> <a:p> {n} }} }}");
    let headers = [("Content-Type", "application/sparql-update")];
    server.ask("POST", "/sparql", &headers, insert("http://x.example/g", 0).as_bytes()).is(401);
    server.update(&reader, &insert("http://x.example/g", 0)).unwrap().is(403);
    server.update("pin_nonsense", &insert("http://x.example/g", 0)).unwrap().is(401);
    server.update(&bound, &insert("http://x.example/g", 0)).unwrap().is(403);
    server.update(&bound, &insert(&format!("{BASE}graph/loc/mine"), 0)).unwrap().is(204);
    server.update(&writer, "LOAD <http://127.0.0.1:9/>").unwrap().is(403);
    server.update(&writer, "INSERT DATA { oops").unwrap().is(400);
    for n in 1..=5 {
        server.update(&writer, &insert("http://x.example/g", n)).unwrap().is(204);
        let seen = server.count("SELECT (COUNT(*) AS ?n) { GRAPH <http://x.example/g> { ?s ?p ?o } }");
        assert_eq!(seen, n as u64);
    }
    let changed = "DELETE { GRAPH ?g { ?s ?p ?o } } INSERT { GRAPH ?g { ?s ?p ?new . ?s <a:why> [] } }
                   WHERE { GRAPH ?g { ?s ?p ?o FILTER(?o = 5) } BIND(?o + 10 AS ?new) }";
    server.update(&writer, changed).unwrap().is(204);
    server.update(&writer, "CREATE GRAPH <http://x.example/empty>").unwrap().is(204);
    server.update(&writer, "DROP GRAPH <http://x.example/nothing>").unwrap().is(400);
    let bearer = format!("Bearer {writer}");
    let put = [("Content-Type", "text/turtle"), ("Authorization", bearer.as_str())];
    let path = "/graph-store?graph=http://x.example/put";
    server.ask("PUT", path, &put, b"<a:s> <a:p> 1, 2 .").is(201);
    server.ask("PUT", path, &put, b"<a:s> <a:p> 2, 3 .").is(204);
    server.ask("POST", path, &put, b"<a:s> <a:p> 4 .").is(204);
    assert_eq!(server.count("SELECT (COUNT(*) AS ?n) { GRAPH <http://x.example/put> { ?s ?p ?o } }"), 3);
    assert_eq!(server.stop(), Some(0));
    let all = "pinakes export --format nquads";
    let before = sorted(&desk.run(all).ok().text());
    desk.run("pinakes rebuild --quiet").ok();
    assert_eq!(sorted(&desk.run(all).ok().text()), before);
    let id = desk.run("pinakes token list --json").ok().json()[0]["id"].as_str().unwrap().to_owned();
    desk.run(&format!("pinakes token revoke {id}")).ok();
    let server = Server::start(&desk, &[]);
    server.update(&writer, &insert("http://x.example/g", 99)).unwrap().is(401);
    let list = desk.run("pinakes token list").ok().text();
    assert!(
        !list.contains(&reader)
            && !String::from_utf8_lossy(&desk.read("catalogue/tokens.toml")).contains(&reader)
    );
}

/// What the test wrote.
fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<String> =
        text.lines().filter(|line| line.starts_with("<a:s>")).map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Commands work beside the server, and whoever asks after they ended sees what they wrote.
#[test]
fn import_and_resolve_are_seen_by_the_next_request() {
    let desk = Desk::new();
    let server = Server::start(&desk, &[]);
    let records = "SELECT (COUNT(?r) AS ?n) { GRAPH ?g { ?r a pin:Record } }";
    assert_eq!(server.count(records), 0);
    let mut seen = 0;
    for (source, file) in [("library", "library.mrc"), ("bookshop", "bookshop.csv")] {
        let file = project("examples").join(file);
        desk.run(&format!("pinakes import --quiet --source {source} {}", file.display())).ok();
        let now = server.count(records);
        assert!(now > seen, "{source} is not seen");
        seen = now;
    }
    desk.run("pinakes resolve --quiet").ok();
    assert!(server.count("SELECT (COUNT(?e) AS ?n) { ?e pin:member ?m }") > seen);
    desk.run("pinakes backup copy").ok();
    assert_eq!(server.stop(), Some(0));
}

/// A record that was withdrawn was there once, and the answer says so; what never was is not found.
#[test]
fn a_withdrawn_record_is_gone() {
    let desk = Desk::new();
    let server = Server::start(&desk, &[]);
    let take = |record: Vec<u8>| {
        desk.write("one.mrc", record);
        desk.run("pinakes import --quiet --source shop one.mrc").ok();
    };
    take(marc::book("b1", "Walden"));
    take(marc::book("b2", "Erewhon"));
    server.get("/record/shop/b1", &[]).is(200);
    take(marc::deleted("b1"));
    for merged in [false, true] {
        if merged {
            desk.run("pinakes resolve --quiet").ok();
        }
        server.get("/record/shop/b1", &[]).is(410);
        server.get("/record/shop/b1.ttl", &[]).is(410);
        server.get("/record/shop/b2", &[]).is(200);
        server.get("/record/shop/b3", &[]).is(404);
    }
    take(marc::book("b1", "Walden"));
    server.get("/record/shop/b1", &[]).is(200);
}

/// H.2: "One query returns a work with topics, emotions, authorities, sources"
#[test]
fn h_2_one_query_returns_a_work_with_its_enrichments() {
    let desk = resolved();
    let writer = token(&desk, "--role writer");
    let server = Server::start(&desk, &[]);
    let query = std::fs::read_to_string(project("queries/report/enriched-works.rq")).unwrap();
    let row = |work: &str| {
        let found = server.query(&query);
        let rows = found["results"]["bindings"].as_array().unwrap().clone();
        let row = rows.into_iter().find(|row| row["work"]["value"] == work);
        row.unwrap_or_else(|| panic!("{work} is missing"))
    };
    let values = |row: &serde_json::Value, name: &str| -> Vec<String> {
        let text = row[name]["value"].as_str().unwrap_or_default();
        let mut values: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        values.sort();
        values
    };
    // One that two sources describe, by somebody whom an authority file knows.
    let found = server.query(
        "SELECT ?work ?name { ?work a bf:Work ; pin:member ?one, ?other ; bf:contribution/bf:agent ?agent . \
         ?agent owl:sameAs|skos:exactMatch ?name GRAPH ?a { ?one a ?c . ?a pin:source ?here } \
         GRAPH ?b { ?other a ?d . ?b pin:source ?there } FILTER(STR(?here) < STR(?there)) } ORDER BY ?work LIMIT 1",
    );
    let found = &found["results"]["bindings"][0];
    let (work, name) = (found["work"]["value"].as_str().unwrap(), found["name"]["value"].as_str().unwrap());
    let before = row(work);
    assert!(before["label"]["value"].as_str().is_some_and(|label| !label.is_empty()));
    assert!(values(&before, "authorities").contains(&name.to_owned()), "{before}");
    assert!(values(&before, "sources").len() > 1, "{before}");
    assert!(values(&before, "topics").is_empty() && values(&before, "emotions").is_empty());
    // What enriches writes a graph of its own, in the ontology's terms.
    let enrichments = format!(
        "INSERT DATA {{ GRAPH <{BASE}graph/machine> {{ <{work}> pin:topic <{BASE}topic/solitude>, <{BASE}topic/nature> ; \
         pin:emotion <{BASE}emotion/joy> ; pin:assignment <{BASE}graph/machine#1> . \
         <{BASE}graph/machine#1> a pin:EmotionAssignment ; pin:assigned <{BASE}emotion/joy> ; pin:score 0.7 }} }}"
    );
    server.update(&writer, &enrichments).unwrap().is(204);
    let after = row(work);
    assert_eq!(values(&after, "topics"), ["nature", "solitude"].map(|topic| format!("{BASE}topic/{topic}")));
    assert_eq!(values(&after, "emotions"), [format!("{BASE}emotion/joy")]);
    assert_eq!(values(&after, "authorities"), values(&before, "authorities"));
    assert_eq!(values(&after, "sources"), values(&before, "sources"));
    // Another run of resolving leaves them alone, and they can be dropped without a trace.
    desk.run("pinakes resolve --quiet --since ever").ok();
    assert_eq!(row(work), after);
    let bearer = format!("Bearer {writer}");
    server.ask("DELETE", "/graph/machine", &[("Authorization", &bearer)], b"").is(204);
    assert_eq!(row(work), before);
}

/// Whoever has no token is held to the narrower limits by the graph store, too.
#[test]
fn a_large_graph_is_for_holders_of_a_token() {
    let desk = Desk::new();
    let (writer, reader) = (token(&desk, "--role writer"), token(&desk, "--role reader"));
    let server = Server::start(&desk, &[]);
    let numbers: Vec<String> = (0..=100_000).map(|number| number.to_string()).collect();
    let text = format!("INSERT DATA {{ GRAPH <a:g> {{ <a:s> <a:p> {} }} }}", numbers.join(","));
    server.update(&writer, &text).unwrap().is(204);
    let path = "/graph-store?graph=a:g&format=nt";
    let refused = server.get(path, &[]).is(413);
    assert!(refused.text().contains("more than 100000 statements"), "{}", refused.text());
    let bearer = format!("Bearer {reader}");
    let whole = server.get(path, &[("Authorization", bearer.as_str())]).is(200);
    assert_eq!(whole.text().lines().count(), 100_001);
    server.update(&writer, "DELETE DATA { GRAPH <a:g> { <a:s> <a:p> 7 } }").unwrap().is(204);
    assert_eq!(server.get(path, &[]).is(200).text().lines().count(), 100_000);
}

/// What XML forbids is replaced, however it got in.
#[test]
fn xml_is_well_formed_whatever_a_literal_holds() {
    let desk = Desk::new();
    let writer = token(&desk, "--role writer");
    let server = Server::start(&desk, &[]);
    let insert = "INSERT DATA { GRAPH <http://x.example/g> { <http://x.example/s> <http://x.example/p> \
                  'a\\uFFFEb\\u0001c<&', 'd\u{fffe}\u{ffff}e'@en } }";
    server.update(&writer, insert).unwrap().is(204);
    let xml = [("Accept", "application/sparql-results+xml")];
    let select = "/sparql?query=SELECT%20%3Fo%20%7B%20GRAPH%20%3Fg%20%7B%20%3Fs%20%3Chttp%3A%2F%2Fx.example%2Fp%3E%20%3Fo%20%7D%20%7D";
    let results = server.get(select, &xml).is(200).text();
    let made =
        server.get("/sparql?query=SELECT%20(%22a%5CuFFFEb%5Cu0001c%3C%26%22%20AS%20%3Fx)%20%7B%7D", &xml);
    let rdf = [("Accept", "application/rdf+xml")];
    let graph = server.get("/graph-store?graph=http://x.example/g", &rdf).is(200).text();
    let exported = desk.run("pinakes export --quiet --format rdfxml").ok().text();
    for text in [results, made.is(200).text(), graph, exported] {
        check_xml(&text);
        assert!(text.contains("a\u{fffd}b\u{fffd}c&lt;&amp;"), "{text}");
    }
    // The others give them as they are.
    let whole = server.query("SELECT ?o { GRAPH ?g { ?s <http://x.example/p> ?o } FILTER(LANG(?o) = '') }");
    assert_eq!(whole["results"]["bindings"][0]["o"]["value"], "a\u{fffe}b\u{1}c<&");
}

/// Reads a document to its end. The reader knows elements; which characters there may be (XML 1.0, 2.2),
/// as they are or by number, is looked at here.
#[track_caller]
fn check_xml(text: &str) {
    let is_allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    let mut reader = quick_xml::Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    while !matches!(reader.read_event().unwrap(), quick_xml::events::Event::Eof) {}
    assert!(text.chars().all(is_allowed), "{text:?}");
    for number in text.split("&#").skip(1).filter_map(|rest| rest.split(';').next()) {
        let code = match number.strip_prefix('x') {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => number.parse(),
        };
        assert!(code.ok().and_then(char::from_u32).is_some_and(is_allowed), "&#{number};");
    }
}

/// The limit on updates is the one that is told, on both of its sides.
#[test]
fn an_update_is_taken_up_to_its_limit() {
    const LIMIT: usize = 32 << 20;
    let desk = Desk::new();
    let writer = token(&desk, "--role writer");
    let server = Server::start(&desk, &[]);
    // Few statements with long values: the length is what counts here.
    let update = |length: usize| {
        let value = "x".repeat(1 << 20);
        let mut text = "INSERT DATA { GRAPH <a:g> { <a:s> <a:p> '0'".to_owned();
        let mut number = 0;
        while text.len() + value.len() + 100 < length {
            number += 1;
            text += &format!(", '{number}{value}'");
        }
        text += " } } #";
        let rest = length - text.len();
        text + &"x".repeat(rest)
    };
    let refused = server.update(&writer, &update(LIMIT + 1)).unwrap().is(413);
    assert!(refused.text().contains(&LIMIT.to_string()), "{}", refused.text());
    let text = update(LIMIT);
    assert_eq!(text.len(), LIMIT);
    server.update(&writer, &text).unwrap().is(204);
    let values = "SELECT (COUNT(?o) AS ?n) { GRAPH <a:g> { <a:s> <a:p> ?o } }";
    assert_eq!(server.count(values), 32);
}
