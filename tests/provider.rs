//! One catalogue harvests another, and a foreign harvester gets the same: S0.2.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use pinakes::publish::oai::identifier;
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use support::server::Server;
use support::{BASE, CATALOGUE, Desk, SAMPLE, marc, project, spawn, venv};

/// What the base IRI of every catalogue here has for a host.
const HOST: &str = "catalogue.example";

/// Where it is harvested.
fn endpoint(server: &Server) -> String {
    format!("{}/oai", server.url)
}

/// Identifiers of what there is and of what is deleted, as Sickle lists them.
fn as_sickle_sees(server: &Server, prefix: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let listed = Command::new(venv("python"))
        .arg(project("tests/provider/sickle.py"))
        .args([endpoint(server), prefix.to_owned()])
        .output()
        .unwrap();
    let said = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.status.success(), "{said}{}", String::from_utf8_lossy(&listed.stderr));
    let (gone, there): (Vec<&str>, Vec<&str>) = said.lines().partition(|line| line.ends_with(" deleted"));
    let gone = gone.into_iter().map(|line| line.trim_end_matches(" deleted").to_owned()).collect();
    let held: BTreeSet<String> = there.iter().map(|line| (*line).to_owned()).collect();
    assert_eq!(held.len(), there.len(), "a record was listed twice");
    (held, gone)
}

/// Describes a served catalogue as a source.
fn describe(desk: &Desk, key: &str, server: &Server, prefix: &str) {
    let (url, authority) = (endpoint(server), server.authority());
    let text = format!(
        "name = \"{key}\"\nwebsite = \"{url}\"\ntechnique = \"oai-pmh\"\n\
         [oai]\nurl = \"{url}\"\nprefix = \"{prefix}\"\n[access]\nallow_private = [\"{authority}\"]\n"
    );
    desk.write(&format!("{CATALOGUE}/sources/{key}.toml"), text);
}

/// The ids of the records of a source, without those that are withdrawn.
fn held(desk: &Desk, source: &str) -> BTreeSet<String> {
    let query = format!(
        "SELECT ?id WHERE {{ GRAPH ?graph {{ ?record a <https://w3id.org/pinakes#Record> ; \
         <https://w3id.org/pinakes#source> <{BASE}source/{source}> ; <https://w3id.org/pinakes#identifier> ?id }} }}"
    );
    let answer = desk.run(&format!("pinakes query --format json -e '{query}'")).ok().json();
    let rows = answer["results"]["bindings"].as_array().unwrap();
    rows.iter().map(|row| row["id"]["value"].as_str().unwrap().to_owned()).collect()
}

/// The names under which the records of a catalogue are provided.
fn provided(desk: &Desk, sources: &[&str]) -> BTreeSet<String> {
    let of = |source: &&str| {
        let source = (*source).to_owned();
        held(desk, &source).into_iter().map(move |id| identifier(HOST, &format!("{source}/{id}")))
    };
    sources.iter().flat_map(of).collect()
}

/// S0.2: what a catalogue holds can be harvested from it, by another catalogue and by others; what
/// is withdrawn there goes here, too.
#[test]
fn s0_2_a_catalogue_harvests_a_catalogue() {
    let giver = Desk::with_sample();
    giver.write("two.mrc", [marc::book("b1", "Walden"), marc::book("b2", "Erewhon")].concat());
    giver.run("pinakes import --source shop two.mrc").ok();
    let mut sources: Vec<&str> = SAMPLE.iter().map(|(source, _)| *source).collect();
    sources.push("shop");
    let expected = provided(&giver, &sources);
    assert!(expected.contains("oai:catalogue.example:shop/b1"), "{expected:?}");
    let server = Server::start(&giver, &[]);
    let taker = Desk::new();
    for prefix in ["oai_dc", "marc21"] {
        describe(&taker, prefix, &server, prefix);
        assert_eq!(as_sickle_sees(&server, prefix).0, expected, "{prefix}");
    }
    taker.run("pinakes harvest").ok();
    for prefix in ["oai_dc", "marc21"] {
        assert_eq!(held(&taker, prefix), expected, "{prefix}");
    }
    // Nothing has changed, so nothing is moved.
    let said = taker.run("pinakes harvest").ok().text();
    assert!(said.lines().all(|line| line.contains("complete; 0 records")), "{said}");
    // Beside the server: a record goes, another changes, a third one comes.
    giver.write("gone.mrc", [marc::deleted("b2"), marc::book("b1", "Walden again")].concat());
    giver.run("pinakes import --source shop gone.mrc").ok();
    giver.write("new.mrc", marc::book("n1", "Faust"));
    giver.run("pinakes import --source club new.mrc").ok();
    sources.push("club");
    let (there, gone) = as_sickle_sees(&server, "oai_dc");
    assert_eq!(there, provided(&giver, &sources));
    let b2 = identifier(HOST, "shop/b2");
    assert!(gone.contains(&b2) && expected.contains(&b2) && !there.contains(&b2), "{gone:?}");
    let said = taker.run("pinakes harvest").ok().text();
    let news = "3 records: 1 new, 1 changed, 1 deleted";
    assert!(said.lines().all(|line| line.contains(news)), "{said}");
    for prefix in ["oai_dc", "marc21"] {
        assert_eq!(held(&taker, prefix), there, "{prefix}");
    }
}

/// `responseDate` is "the time and date that the response was sent", and no record is from the future.
#[test]
fn an_answer_says_when_it_was_given() {
    let giver = Desk::new();
    // Quicker than a second each, so the steps of the log are ahead of the clock.
    for id in ["b1", "b2", "b3", "b4"] {
        giver.write("one.mrc", marc::book(id, "Walden"));
        giver.run("pinakes import --source shop one.mrc").ok();
    }
    let server = Server::start(&giver, &[]);
    let now = || jiff::Timestamp::now().as_second();
    let before = now();
    let list = server.get("/oai?verb=ListIdentifiers&metadataPrefix=oai_dc", &[]).is(200).text();
    let after = now();
    let times = |element: &str| -> Vec<i64> {
        let (begin, end) = (format!("<{element}>"), format!("</{element}>"));
        let texts = list.split(&begin).skip(1).map(|rest| rest.split(&end).next().unwrap());
        texts.map(|text| text.parse::<jiff::Timestamp>().unwrap().as_second()).collect()
    };
    let told = times("responseDate")[0];
    assert!((before..=after).contains(&told), "{told} is not from {before} to {after}");
    let datestamps = times("datestamp");
    assert_eq!(datestamps.len(), 4);
    assert!(datestamps.iter().all(|datestamp| *datestamp < told), "{datestamps:?}, {told}");
}

/// A harvester that comes while records come in misses none: what was archived before its harvest
/// and published after it is there when it comes back.
#[test]
fn what_comes_in_during_a_harvest_is_not_missed() {
    let giver = Desk::new();
    giver.write("first.mrc", marc::many(0..150, 0));
    giver.run("pinakes import --source shop first.mrc").ok();
    let server = Server::start(&giver, &[]);
    let taker = Desk::new();
    describe(&taker, "a", &server, "marc21");
    for edition in 1..4 {
        giver.write("more.mrc", marc::many(0..150 + edition * 10, edition));
        let mut import = giver.pinakes();
        import.args(["import", "--source", "shop", "more.mrc"]).stdin(Stdio::null());
        let mut import = spawn(import.stdout(Stdio::null()).stderr(Stdio::null()));
        taker.run("pinakes harvest").ok();
        assert!(import.wait().unwrap().success());
    }
    taker.run("pinakes harvest").ok();
    assert_eq!(held(&taker, "a"), provided(&giver, &["shop"]));
    let title = "SELECT (COUNT(DISTINCT ?title) AS ?count) WHERE { GRAPH ?graph { ?node \
         <http://id.loc.gov/ontologies/bibframe/mainTitle> ?title FILTER(CONTAINS(?title, \"edition 3\")) } }";
    let count = |desk: &Desk| desk.run(&format!("pinakes query --format csv -e '{title}'")).ok().number();
    assert_eq!(count(&taker), count(&giver));
    assert_eq!(count(&giver), 60);
}

/// A store that is made anew under a server maps every record anew, so a harvester that comes back is
/// given all of them: by this server, and by the next one with the same datestamps.
#[test]
fn after_a_rebuild_all_records_count_as_changed() {
    let giver = Desk::new();
    giver.write("two.mrc", [marc::book("b1", "Walden"), marc::book("b2", "Erewhon")].concat());
    giver.run("pinakes import --source shop two.mrc").ok();
    let server = Server::start(&giver, &[]);
    let list = |server: &Server, from: &str| {
        server.get(&format!("/oai?verb=ListIdentifiers&metadataPrefix=oai_dc{from}"), &[]).is(200).text()
    };
    let of = |text: &str, element: &str| -> Vec<String> {
        let (begin, end) = (format!("<{element}>"), format!("</{element}>"));
        text.split(&begin).skip(1).map(|rest| rest.split(&end).next().unwrap().to_owned()).collect()
    };
    let told = of(&list(&server, ""), "responseDate").remove(0);
    for _ in 0..2 {
        giver.run("pinakes rebuild").ok();
        let again = list(&server, &format!("&from={told}"));
        let ids: BTreeSet<String> = of(&again, "identifier").into_iter().collect();
        assert_eq!(ids, provided(&giver, &["shop"]), "{again}");
    }
    let before = of(&list(&server, ""), "datestamp");
    assert_eq!(server.stop(), Some(0));
    let server = Server::start(&giver, &[]);
    assert_eq!(of(&list(&server, ""), "datestamp"), before);
}
