//! What people write, beside what records say and what resolving makes of it.

use super::support::server::{Server, token};
use super::support::{BASE, CATALOGUE, Desk};

/// Books of one source, as rows `id,title,author,date,isbn`.
fn import(desk: &Desk, source: &str, rows: &str) {
    desk.write("books.csv", format!("id,title,author,date,isbn\n{rows}"));
    desk.run(&format!("pinakes import --quiet --source {source} books.csv")).ok();
}

const WALDEN: &str = "Walden or Life in the Woods,Henry David Thoreau,1854,9780691096124";

/// The instance whose title holds a word.
fn instance(desk: &Desk, word: &str) -> String {
    let query = format!(
        "SELECT DISTINCT ?e {{ ?e a bf:Instance ; bf:title/bf:mainTitle ?t FILTER(CONTAINS(?t, \"{word}\")) }}"
    );
    desk.write("query.rq", query);
    let found = desk.run("pinakes query --format csv query.rq").ok().text();
    let mut lines = found.lines().skip(1);
    let entry = lines.next().expect("an entry").trim().to_owned();
    assert_eq!(lines.next(), None, "{found}");
    entry
}

/// Whether the merged catalogue holds a pattern.
fn holds(desk: &Desk, pattern: &str) -> bool {
    desk.write("query.rq", format!("ASK {{ {pattern} }}"));
    desk.run("pinakes query query.rq").ok().text().trim() == "yes"
}

/// A store that is made anew from the archive says the same.
#[track_caller]
fn survives_rebuild(desk: &Desk) {
    let before = desk.canonical(CATALOGUE);
    desk.run("pinakes verify").ok();
    desk.run("pinakes rebuild").ok();
    assert_eq!(desk.canonical(CATALOGUE), before, "a rebuild ends elsewhere");
}

/// An entry is merged again when another record joins it, when one changes, when all is compared
/// anew; each time it once lost what people had written, which `rebuild` brought back.
#[test]
fn what_people_write_into_entries_stays() {
    let desk = Desk::new();
    import(&desk, "one", &format!("1,{WALDEN}\n2,Faust,Goethe,1808,9783150000014\n"));
    import(&desk, "two", &format!("x,{WALDEN}\n"));
    desk.run("pinakes resolve").ok();
    let entry = instance(&desk, "Walden");
    let writer = token(&desk, "--role writer");
    let server = Server::start(&desk, &[]);
    let write = |text: &str| server.update(&writer, text).unwrap().is(204);
    write(&format!("INSERT DATA {{ <{entry}> dcterms:description \"by hand\" }}"));
    write(&format!("DELETE WHERE {{ <{entry}> rdfs:label ?label }}"));
    drop(server);
    let note = format!("<{entry}> dcterms:description \"by hand\"");
    let label = format!("<{entry}> rdfs:label ?label");
    let stays = |when: &str| {
        assert!(holds(&desk, &note), "{when}: what was added is gone");
        assert!(!holds(&desk, &label), "{when}: what was taken away is back");
    };
    stays("after the update");
    desk.run("pinakes resolve").ok();
    stays("after a run with nothing new");
    import(&desk, "three", &format!("y,{WALDEN}\n"));
    desk.run("pinakes resolve").ok();
    assert_eq!(instance(&desk, "Walden"), entry);
    stays("with another member");
    survives_rebuild(&desk);
    stays("after a rebuild");
    desk.run("pinakes resolve --full").ok();
    stays("after comparing everything again");
    // The last word counts, and who said it is known.
    let server = Server::start(&desk, &[]);
    let back = format!("DELETE DATA {{ <{entry}> dcterms:description \"by hand\" }}");
    server.update(&writer, &back).unwrap().is(204);
    drop(server);
    assert!(!holds(&desk, &note));
    let edit = format!(
        "GRAPH <{BASE}people> {{ ?e a pin:Edit ; pin:about <{entry}> ; pin:removed ?text ; prov:wasAttributedTo ?who }} FILTER(CONTAINS(?text, \"by hand\"))"
    );
    assert!(holds(&desk, &edit));
    survives_rebuild(&desk);
}

/// The first run once cleared the default graph, whoever had written there. And a statement there
/// is no merged catalogue: queries see the union of all graphs until something is merged.
#[test]
fn the_first_resolution_keeps_what_people_wrote() {
    let desk = Desk::new();
    import(&desk, "one", &format!("1,{WALDEN}\n"));
    let writer = token(&desk, "--role writer");
    let server = Server::start(&desk, &[]);
    let text = "INSERT DATA { <urn:u> <urn:p> \"by hand\" . GRAPH <urn:g> { <urn:u> <urn:p> \"named\" } }";
    server.update(&writer, text).unwrap().is(204);
    assert_eq!(server.count("SELECT (COUNT(DISTINCT ?t) AS ?n) { ?x bf:mainTitle ?t }"), 1);
    drop(server);
    desk.run("pinakes resolve").ok();
    assert!(holds(&desk, "<urn:u> <urn:p> \"by hand\""));
    assert!(!holds(&desk, "<urn:u> <urn:p> \"named\""));
    assert!(holds(&desk, "GRAPH <urn:g> { <urn:u> <urn:p> \"named\" }"));
    survives_rebuild(&desk);
}

/// The store keeps numbers and dates by their values. What people wrote counts all the same however
/// they spelt it, when they take it away again and when the entry is merged again.
#[test]
fn numbers_that_people_write_stay_whatever_their_spelling() {
    let desk = Desk::new();
    import(&desk, "one", &format!("1,{WALDEN}\n"));
    desk.run("pinakes resolve").ok();
    let walden = instance(&desk, "Walden");
    let writer = token(&desk, "--role writer");
    let server = Server::start(&desk, &[]);
    let update = |text: &str| server.update(&writer, text).unwrap().is(204);
    update(&format!(
        "INSERT DATA {{ <{walden}> <urn:count> \"012\"^^xsd:int ; <urn:price> \"1.50\"^^xsd:decimal ; \
         <urn:gone> \"007\"^^xsd:integer ; <urn:never> \"04\"^^xsd:integer }} ; \
         DELETE DATA {{ <{walden}> <urn:never> 4 }}"
    ));
    update(&format!("DELETE DATA {{ <{walden}> <urn:gone> 7 }}"));
    drop(server);
    let as_expected = |when: &str| {
        for (statement, is_there) in [
            ("<urn:count> 12", true),
            ("<urn:price> 1.5", true),
            ("<urn:gone> ?o", false),
            ("<urn:never> ?o", false),
        ] {
            assert_eq!(holds(&desk, &format!("<{walden}> {statement}")), is_there, "{when}: {statement}");
        }
    };
    as_expected("written");
    import(&desk, "two", &format!("x,{WALDEN}\n"));
    desk.run("pinakes resolve").ok();
    as_expected("merged again");
    desk.run("pinakes resolve --full").ok();
    as_expected("merged in full");
    survives_rebuild(&desk);
    as_expected("rebuilt");
}

/// What the catalogue keeps for itself and what records say is not for updates, and the merged
/// catalogue is not cleared; the rest of the catalogue goes on as if nobody had tried.
#[test]
fn graphs_of_others_cannot_be_written() {
    let desk = Desk::new();
    import(&desk, "one", &format!("1,{WALDEN}\n"));
    desk.run("pinakes resolve").ok();
    let before = desk.canonical(CATALOGUE);
    let writer = token(&desk, "--role writer");
    let server = Server::start(&desk, &[]);
    let triple = "<urn:s> <urn:p> <urn:o>";
    let mut refused: Vec<(String, &str)> = [
        "provenance",
        "resolution",
        "rules",
        "sources",
        "holdings",
        "people",
        "vocabulary",
        "vocabularies",
        "vocabulary/animals",
        "links/one",
        "people/1",
    ]
    .into_iter()
    .flat_map(|graph| {
        [
            (format!("INSERT DATA {{ GRAPH <{BASE}{graph}> {{ {triple} }} }}"), "kept by the catalogue"),
            (format!("CREATE GRAPH <{BASE}{graph}/new>"), "kept by the catalogue"),
        ]
    })
    .filter(|(text, _)| !text.contains("CREATE") || text.contains("people") || text.contains("vocabulary/"))
    .collect();
    refused.extend([
        (format!("DROP GRAPH <{BASE}provenance>"), "kept by the catalogue"),
        (format!("DELETE WHERE {{ GRAPH <{BASE}rules> {{ ?s ?p ?o }} }}"), "kept by the catalogue"),
        (format!("INSERT DATA {{ GRAPH <{BASE}record/one/1> {{ {triple} }} }}"), "import the record anew"),
        ("DELETE WHERE { GRAPH ?g { ?s bf:mainTitle ?o } }".to_owned(), "import the record anew"),
        ("CLEAR DEFAULT".to_owned(), "cannot be emptied"),
        ("DROP ALL".to_owned(), "nothing was changed"),
        ("CLEAR NAMED".to_owned(), "nothing was changed"),
    ]);
    for (text, why) in refused {
        let answer = server.update(&writer, &text).unwrap();
        assert!(
            answer.status == 403 && answer.text().contains(why),
            "{text}: {} {}",
            answer.status,
            answer.text()
        );
    }
    let bearer = format!("Bearer {writer}");
    let headers = [("Content-Type", "text/turtle"), ("Authorization", bearer.as_str())];
    for (method, place, why) in [
        ("PUT", "?default".to_owned(), "cannot be emptied"),
        ("DELETE", "?default".to_owned(), "cannot be emptied"),
        ("PUT", format!("?graph={BASE}record/one/1"), "import the record anew"),
        ("POST", format!("?graph={BASE}resolution"), "kept by the catalogue"),
    ] {
        let answer =
            server.ask(method, &format!("/graph-store{place}"), &headers, b"<urn:s> <urn:p> 1 .").is(403);
        assert!(answer.text().contains(why), "{method} {place}: {}", answer.text());
    }
    drop(server);
    assert_eq!(desk.canonical(CATALOGUE), before);
    import(&desk, "two", &format!("x,{WALDEN}\n"));
    desk.run("pinakes resolve").ok();
    survives_rebuild(&desk);
}

/// In a catalogue without records all graphs are people's, and can be dropped.
#[test]
fn an_empty_catalogue_can_be_cleared() {
    let desk = Desk::new();
    let writer = token(&desk, "--role writer");
    let server = Server::start(&desk, &[]);
    for clear in ["CLEAR ALL", "DROP ALL"] {
        server
            .update(&writer, "INSERT DATA { <urn:s> <urn:p> 1 . GRAPH <urn:g> { <urn:s> <urn:p> 2 } }")
            .unwrap()
            .is(204);
        assert_eq!(server.count("SELECT (COUNT(*) AS ?n) { <urn:s> ?p ?o }"), 2);
        server.update(&writer, clear).unwrap().is(204);
        assert_eq!(server.count("SELECT (COUNT(*) AS ?n) { <urn:s> ?p ?o }"), 0);
    }
    drop(server);
    survives_rebuild(&desk);
}

/// Clients and commands write at once, the first resolution among them; each has its turn, and nothing
/// is lost that was acknowledged.
#[test]
fn whoever_writes_at_once_loses_nothing() {
    let desk = Desk::new();
    import(&desk, "one", &format!("1,{WALDEN}\n"));
    let writer = token(&desk, "--role writer");
    let server = Server::start(&desk, &[]);
    let kept: Vec<usize> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..3_usize)
            .map(|client| {
                let (server, writer) = (&server, &writer);
                scope.spawn(move || {
                    let mut kept = Vec::new();
                    for n in (0..8).map(|n| client * 100 + n) {
                        let insert = format!("INSERT DATA {{ <urn:s{n}> <urn:p> {n} }}");
                        let answer = server.update(writer, &insert).unwrap();
                        match answer.status {
                            202 | 204 => kept.push(n),
                            503 if answer.text().contains("nothing was changed") => {}
                            status => panic!("{status} {}", answer.text()),
                        }
                    }
                    kept
                })
            })
            .collect();
        for command in 0..4 {
            let desk = &desk;
            scope.spawn(move || {
                desk.write(&format!("b{command}.csv"), format!("id,title\n{command},Book {command}\n"));
                desk.run(&format!("pinakes import --wait 120 --quiet --source s{command} b{command}.csv"))
                    .ok();
                desk.run("pinakes resolve --wait 120").ok();
            });
        }
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    assert!(kept.len() >= 12, "only {kept:?} were taken");
    for n in &kept {
        let count = format!("SELECT (COUNT(*) AS ?n) {{ <urn:s{n}> <urn:p> {n} }}");
        assert_eq!(server.count(&count), 1, "{n} was acknowledged and is lost");
    }
    drop(server);
    assert!(!instance(&desk, "Book 3").is_empty());
    survives_rebuild(&desk);
}

/// What is wrong with an update is said as it is of a query.
#[test]
fn a_misspelt_update_is_named() {
    let desk = Desk::new();
    let writer = token(&desk, "--role writer");
    let server = Server::start(&desk, &[]);
    for (text, said) in [
        ("INSRT DATA { <urn:s> <urn:p> 1 }", "`INSRT` is no word of SPARQL"),
        ("INSERT DATA { <urn:s> nope:p 1 }", "nothing declares the prefix `nope:`"),
    ] {
        let told = server.update(&writer, text).unwrap().is(400).text();
        assert!(told.starts_with("the update cannot be parsed at line 1") && told.contains(said), "{told}");
    }
}

/// An update may carry as much data as a document.
#[test]
fn updates_of_megabytes_are_taken() {
    let desk = Desk::new();
    let writer = token(&desk, "--role writer");
    let server = Server::start(&desk, &[]);
    let rows: String = (0..30_000).map(|n| format!("<urn:s> <urn:p> \"{n:0>100}\" .\n")).collect();
    let text = format!("INSERT DATA {{ GRAPH <urn:g> {{ {rows} }} }}");
    assert!(text.len() > 3 << 20);
    server.update(&writer, &text).unwrap().is(204);
    assert_eq!(server.count("SELECT (COUNT(*) AS ?n) { GRAPH <urn:g> { ?s ?p ?o } }"), 30_000);
}

/// A restored catalogue knows its writers, finds what it found, and tells harvesters what it told.
#[test]
fn a_backup_is_a_whole_catalogue() {
    let desk = Desk::new();
    import(&desk, "one", &format!("1,{WALDEN}\n"));
    desk.run("pinakes resolve").ok();
    let writer = token(&desk, "--role writer");
    let server = Server::start(&desk, &[]);
    server.get("/oai?verb=ListIdentifiers&metadataPrefix=oai_dc", &[]).is(200);
    assert_eq!(server.stop(), Some(0));
    desk.run("pinakes backup copy").ok();
    desk.run("mv catalogue lost && pinakes restore copy --catalogue catalogue").ok();
    assert_eq!(desk.canonical(CATALOGUE), desk.canonical("lost"));
    for part in ["holdings.log", "holdings.told"] {
        assert_eq!(desk.read(&format!("catalogue/{part}")), desk.read(&format!("lost/{part}")), "{part}");
    }
    desk.run("pinakes verify").ok();
    let server = Server::start(&desk, &[]);
    server.update(&writer, "INSERT DATA { <urn:s> <urn:p> 1 }").unwrap().is(204);
    let found = server.get("/api/search?q=walden", &[]).is(200).json();
    assert!(found["total"].as_u64() > Some(0), "{found}");
}

/// Serving leaves a folder of snapshots and links in it, which are not part of a copy.
#[test]
fn a_catalogue_that_was_served_is_backed_up_and_restored() {
    let desk = Desk::new();
    import(&desk, "one", &format!("1,{WALDEN}\n"));
    let admin = format!("Bearer {}", token(&desk, "--role admin"));
    let server = Server::start(&desk, &[]);
    let said = server.ask("POST", "/admin/backup", &[("Authorization", &admin)], b"").is(200).text();
    let copy = said.trim().to_owned();
    assert!(copy.contains("catalogue/backups/"), "{copy}");
    assert_eq!(server.stop(), Some(0));
    desk.run("pinakes backup served-before").ok();
    // A copy is a catalogue, and may have been served itself.
    desk.run("mv catalogue original && cp -r served-before catalogue").ok();
    Server::start(&desk, &[]).stop();
    desk.run("mv catalogue served-itself").ok();
    let expected = desk.canonical("original");
    for (number, backup) in
        [copy.replace("catalogue/backups", "original/backups").as_str(), "served-before", "served-itself"]
            .into_iter()
            .enumerate()
    {
        let restored = format!("restored{number}");
        desk.run(&format!("pinakes restore {backup} --catalogue {restored}")).ok();
        assert_eq!(desk.canonical(&restored), expected, "{backup}");
        assert!(
            !desk.path(&restored).join("snapshots").exists()
                && !desk.path(&restored).join("backups").exists()
        );
    }
}
