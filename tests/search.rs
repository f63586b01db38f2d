//! Search over the sample, from the command line and over HTTP: what is found, counted, suggested,
//! cited and fed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use form_urlencoded::byte_serialize;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::LazyLock;
use support::{BASE, Desk, project, spawn};

/// The sample, resolved, with a vocabulary.
fn desk() -> Desk {
    let desk = Desk::with_sample();
    desk.run("pinakes resolve").ok();
    desk.run(&format!("pinakes vocabulary load {}", project("examples/topics.ttl").display())).ok();
    desk
}

struct Server {
    child: Child,
    /// `127.0.0.1:PORT`
    authority: String,
    _desk: Desk,
}

/// One server for all tests of this suite; it reads only.
static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let desk = desk();
    // It ends with the tests: their end of the pipe closes, however they end.
    let serve = "pinakes serve --bind 127.0.0.1:0 2> /dev/null & server=$!; cat > /dev/null; kill $server";
    let mut command = desk.command("sh");
    command.args(["-c", serve]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = spawn(&mut command);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = lines.map_while(Result::ok).find_map(|line| {
        let (_, rest) = line.split_once("http://")?;
        Some(rest.split(['/', ' ']).next().unwrap_or_default().to_owned())
    });
    Server { child, authority: url.expect("the server prints its URL"), _desk: desk }
});

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The status, the head and the body of what is at an address.
fn get(path: &str, accept: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(&SERVER.authority).unwrap();
    let host = &SERVER.authority;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_ascii_lowercase(), body.to_owned())
}

fn escaped(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}

#[track_caller]
fn json(path: &str) -> Value {
    let (status, _, body) = get(path, "application/json");
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

#[track_caller]
fn rows(query: &str) -> Vec<Value> {
    let path = format!("/sparql?query={}", escaped(query));
    let (status, _, body) = get(&path, "application/sparql-results+json");
    assert_eq!(status, 200, "{query}: {body}");
    let answer: Value = serde_json::from_str(&body).unwrap();
    answer["results"]["bindings"].as_array().unwrap().clone()
}

#[track_caller]
fn labels(path: &str) -> Vec<String> {
    let hits = json(path)["hits"].as_array().unwrap().clone();
    hits.iter().map(|hit| hit["label"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn check_finds(words: &str, expected: &str) {
    let found = labels(&format!("/api/search?limit=100&q={}", escaped(words)));
    assert!(found.iter().any(|label| label.contains(expected)), "{words} finds {found:?}");
}

#[test]
fn words_are_found_without_their_marks_and_in_other_scripts() {
    check_finds("miserables", "misérables");
    check_finds("L'ODYSSEE", "L'Odyssée");
    check_finds("creator:толстой", "Anna Karenina");
    check_finds("creator:Достоевский", "Crime and punishment");
    check_finds("源氏物語", "Genji");
    check_finds("9780060188702", "Don Quixote");
    check_finds("title:\"der kleine prinz\"", "Der kleine Prinz");
}

#[test]
fn counts_are_those_of_sparql() {
    let found = json("/api/search?facets=type,language,source&values=100");
    let all = rows(
        "SELECT (COUNT(*) AS ?n) { ?i a bf:Instance ; pin:member ?m FILTER NOT EXISTS { ?i pin:member ?o FILTER (STR(?o) < STR(?m)) } }",
    );
    assert_eq!(found["total"].to_string(), all[0]["n"]["value"].as_str().unwrap());
    for (facet, query) in [
        (
            "type",
            "SELECT ?v (COUNT(DISTINCT ?i) AS ?n) { ?i a bf:Instance ; pin:contentType ?t BIND (REPLACE(STR(?t), '^.*/', '') AS ?v) } GROUP BY ?v",
        ),
        (
            "language",
            "SELECT ?v (COUNT(DISTINCT ?i) AS ?n) { ?i a bf:Instance ; bf:instanceOf/dcterms:language ?v } GROUP BY ?v",
        ),
        (
            "source",
            "SELECT ?v (COUNT(DISTINCT ?i) AS ?n) { ?i a bf:Instance ; pin:member ?m BIND (REPLACE(STR(?m), '^.*/record/([^/]*)/.*$', '$1') AS ?v) } GROUP BY ?v",
        ),
    ] {
        let mut counted: Vec<(String, String)> = found["facets"][facet]["values"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["value"].as_str().unwrap().to_owned(), one["count"].to_string()))
            .collect();
        let text = |row: &Value, name: &str| row[name]["value"].as_str().unwrap().to_owned();
        let mut asked: Vec<_> = rows(query).iter().map(|row| (text(row, "v"), text(row, "n"))).collect();
        counted.sort();
        asked.sort();
        assert!(!asked.is_empty());
        // A work without a plain language tag has its code; the tags themselves agree.
        counted.retain(|(value, _)| facet != "language" || asked.iter().any(|(known, _)| known == value));
        assert_eq!(counted, asked, "{facet}");
    }
}

#[test]
fn filters_narrow_and_ranges_hold() {
    let total = |path: &str| json(path)["total"].as_u64().unwrap();
    let (all, french) = (total("/api/search"), total("/api/search?language=fr"));
    assert!(french > 0 && french < all);
    assert_eq!(total("/api/search?language=fr&language=de"), french + total("/api/search?language=de"));
    let found = json("/api/search?year=1800..1850&limit=100&sort=oldest");
    let years =
        |hit: &Value| hit["years"].as_array().unwrap().iter().filter_map(Value::as_i64).collect::<Vec<_>>();
    let hits = found["hits"].as_array().unwrap();
    assert!(!hits.is_empty());
    assert!(hits.iter().all(|hit| years(hit).iter().any(|year| (1800..=1850).contains(year))));
    assert!(hits.is_sorted_by_key(|hit| years(hit).first().copied()));
}

/// D.5: "A query for a narrower/synonymous concept finds a record without the query's word"
#[test]
fn d_5_a_search_by_meaning_finds_what_has_not_the_word() {
    let words = "/api/search?limit=100&q=subject:homicide";
    assert_eq!(json(words)["total"], 0);
    let found = json(&format!("{words}&expand=true"));
    let hits = found["hits"].as_array().unwrap();
    assert!(hits.iter().any(|hit| hit["label"].as_str().unwrap().contains("Crime")), "{found}");
    let because = hits[0]["because"][0].clone();
    assert_eq!((&because["asked"], &because["relation"]), (&"homicide".into(), &"narrower".into()));
    assert!(labels("/api/search?q=cetacea").is_empty());
    let found = labels("/api/search?limit=100&expand=true&q=cetacea");
    assert!(found.iter().any(|label| label.contains("Moby")), "{found:?}");
}

#[test]
fn a_search_stands_in_sparql() {
    let found = rows(
        "SELECT ?i ?score { ?i a bf:Instance ; pin:search [ pin:query \"walden\" ; pin:score ?score ] } ORDER BY DESC(?score)",
    );
    assert!(!found.is_empty());
    let hits = json("/api/search?q=walden&limit=100");
    assert_eq!(found.len() as u64, hits["total"].as_u64().unwrap());
    let meant = rows(
        "SELECT ?i { ?i a bf:Instance ; pin:search [ pin:query \"subject:homicide\" ; pin:expand true ] }",
    );
    assert!(!meant.is_empty());
    assert!(rows("SELECT ?i { ?i pin:search \"subject:homicide\" }").is_empty());
}

#[test]
fn suggestions_begin_as_the_reader_does() {
    let suggested = json("/api/suggest?q=tolst&of=name");
    let first = &suggested[0];
    assert!(first["label"].as_str().unwrap().starts_with("Tolst"), "{suggested}");
    assert_eq!(first["of"], "name");
    assert!(first["iri"].as_str().unwrap().starts_with(&format!("{BASE}agent/")));
    let cyrillic = json(&format!("/api/suggest?q={}&of=name", escaped("толст")));
    assert!(cyrillic.as_array().unwrap().iter().any(|one| one["iri"] == first["iri"]), "{cyrillic}");
}

#[test]
fn a_record_leads_to_its_entry_and_a_work_to_its_instances() {
    let record = json("/api/record/library/lib0011");
    assert_eq!(record["records"][0]["id"], "lib0011");
    let instance = record["entries"][0].as_str().unwrap();
    let work = rows(&format!("SELECT ?w {{ <{instance}> bf:instanceOf ?w }}"))[0]["w"]["value"].clone();
    let id = work.as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let work = json(&format!("/api/work/{id}"));
    let instances = work["instances"].as_array().unwrap();
    assert!(instances.iter().any(|one| one["iri"] == instance), "{work}");
    assert_eq!(get("/api/work/0000000000000000", "*/*").0, 404);
    assert_eq!(get("/api/record/library/nothing", "*/*").0, 404);
}

#[test]
fn entries_are_cited_in_three_formats() {
    let hit = json("/api/search?q=9780060188702")["hits"][0]["iri"].as_str().unwrap().to_owned();
    let id = hit.rsplit('/').next().unwrap();
    for (format, media_type, expected) in [
        ("bibtex", "application/x-bibtex", "Don Quixote"),
        ("ris", "application/x-research-info-systems", "TI  - Don Quixote"),
        ("csl-json", "application/vnd.citationstyles.csl+json", "\"title\": \"Don Quixote\""),
    ] {
        let (status, head, text) = get(&format!("/api/cite/instance/{id}?format={format}"), "*/*");
        assert_eq!(status, 200);
        assert!(head.contains(media_type), "{head}");
        assert!(text.contains(expected), "{text}");
        let (_, _, list) = get(&format!("/api/export?q=walden&format={format}"), "*/*");
        assert!(list.contains("Walden"), "{list}");
    }
}

#[test]
fn a_feed_has_what_came_and_says_where_it_goes_on() {
    let (status, head, feed) = get("/feed", "*/*");
    assert_eq!(status, 200);
    assert!(head.contains("application/atom+xml"));
    assert_eq!(feed.matches("<entry>").count(), 50);
    assert!(feed.contains("rel=\"next\"") && feed.contains("offset=50"), "{feed}");
    let (_, _, walden) = get("/feed?q=walden", "*/*");
    assert!(walden.contains("<title>walden</title>") && !walden.contains("rel=\"next\""), "{walden}");
}

#[test]
fn the_catalogue_says_how_it_stands_and_what_can_be_asked() {
    let status = json("/api/status");
    let total = json("/api/search?kind=any")["total"].clone();
    assert_eq!(status["documents"], total);
    let description = json("/api/openapi.json");
    assert_eq!(description["servers"][0]["url"], BASE.trim_end_matches('/'));
    let (status, head, _) = get("/api/search?limit=9999", "*/*");
    assert_eq!(status, 400);
    assert!(head.contains("application/problem+json"));
}

#[test]
fn the_index_is_made_anew_and_says_how_it_stands() {
    let desk = Desk::new();
    let state = |desk: &Desk| desk.run("pinakes index status --json").ok().json()["state"].clone();
    assert_eq!(state(&desk), "missing");
    let file = project("examples/library.mrc");
    desk.run(&format!("pinakes import --source library {}", file.display())).ok();
    desk.run("pinakes index rebuild").ok();
    assert_eq!(state(&desk), "current");
    let search = "pinakes query --format csv -e 'SELECT ?e { ?e pin:search \"walden\" }'";
    assert!(desk.run(search).ok().text().contains("/record/library/"));
    desk.run("pinakes resolve").ok();
    assert_eq!(state(&desk), "current");
    assert!(desk.run(search).ok().text().contains("/instance/"));
    let before = desk.run(search).ok().text();
    // What is damaged is made again.
    desk.write("catalogue/index/meta.json", "{");
    assert_eq!(state(&desk), "unusable");
    desk.run("pinakes resolve").ok();
    assert_eq!(desk.run(search).ok().text(), before);
}

#[test]
fn the_index_follows_what_resolving_changes() {
    let desk = Desk::new();
    let import = |file: &str, source: &str| {
        let file = project("examples").join(file);
        desk.run(&format!("pinakes import --source {source} {}", file.display())).ok();
        desk.run("pinakes resolve").ok();
    };
    import("library.mrc", "library");
    import("bookshop.csv", "bookshop");
    let documents = |desk: &Desk| desk.run("pinakes index status --json").ok().json()["documents"].clone();
    let followed = documents(&desk);
    let search = "pinakes query --format csv -e 'SELECT ?e { ?e pin:search \"quixote\" } ORDER BY ?e'";
    let found = desk.run(search).ok().text();
    desk.run("pinakes index rebuild").ok();
    assert_eq!(documents(&desk), followed);
    assert_eq!(desk.run(search).ok().text(), found);
}
