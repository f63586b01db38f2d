//! `SERVICE`: endpoints that are listed are asked, and nobody else; and what those may do.

use super::support::remote::Remote;
use super::support::server::{Answer, Server, token};
use super::support::{CATALOGUE, Desk};

/// Two things with a name each.
const LOCAL: &str =
    "INSERT DATA { GRAPH <http://x.example/g> { <a:1> <a:name> 'one' . <a:2> <a:name> 'two' } }";

/// A catalogue that holds so much and lists such endpoints, served.
fn serve(update: &str, endpoints: &[String], options: &[&str]) -> (Desk, Server) {
    let desk = Desk::new();
    let file = format!("{CATALOGUE}/pinakes.toml");
    let settings = String::from_utf8(desk.read(&file)).unwrap();
    let example = settings.lines().find(|line| line.starts_with("# endpoints")).expect("a commented setting");
    let listed = format!("endpoints = [{}]", endpoints.join(", "));
    desk.write(&file, settings.replace(example, &listed));
    let writer = token(&desk, "--role writer");
    let server = Server::start(&desk, options);
    server.update(&writer, update).unwrap().is(204);
    (desk, server)
}

/// An entry of the list, for an endpoint on this machine.
fn private(iri: &str, authority: &str) -> String {
    format!("{{ iri = \"{iri}\", allow_private = [\"{authority}\"] }}")
}

fn ask(server: &Server, query: &str) -> Answer {
    let headers =
        [("Content-Type", "application/sparql-query"), ("Accept", "application/sparql-results+json")];
    server.ask("POST", "/sparql", &headers, query.as_bytes())
}

/// The values of one column, sorted; what is not bound is empty.
fn column(answer: &Answer, name: &str) -> Vec<String> {
    let json = answer.json();
    let rows = json["results"]["bindings"].as_array().unwrap();
    let mut values: Vec<String> =
        rows.iter().map(|row| row[name]["value"].as_str().unwrap_or_default().to_owned()).collect();
    values.sort();
    values
}

fn joined(endpoint: &str) -> String {
    format!("SELECT ?name ?year {{ ?s <a:name> ?name SERVICE {endpoint} {{ ?s <a:year> ?year }} }}")
}

#[test]
fn two_catalogues_answer_one_query() {
    let other = "INSERT DATA { GRAPH <http://x.example/h> { <a:1> <a:year> 1854 . <a:3> <a:year> 1900 } }";
    let (_desk, there) = serve(other, &[], &[]);
    let endpoint = format!("{}/sparql", there.url);
    let (_desk, here) = serve(LOCAL, &[private(&endpoint, there.authority())], &[]);
    let answer = ask(&here, &joined(&format!("<{endpoint}>"))).is(200);
    assert_eq!((column(&answer, "name"), column(&answer, "year")), (vec!["one".into()], vec!["1854".into()]));
    let optional = format!(
        "SELECT ?name ?year {{ ?s <a:name> ?name OPTIONAL {{ SERVICE <{endpoint}> {{ ?s <a:year> ?year }} }} }}"
    );
    assert_eq!(column(&ask(&here, &optional).is(200), "year"), ["", "1854"]);
    let asked = format!("ASK {{ SERVICE <{endpoint}> {{ <a:3> <a:year> 1900 }} }}");
    assert_eq!(ask(&here, &asked).is(200).json()["boolean"], true);
    let federated = |server: &Server| {
        let described = server.get("/sparql", &[("Accept", "text/turtle")]).is(200).text();
        described.contains("sd:feature sd:BasicFederatedQuery")
    };
    assert!(federated(&here) && !federated(&there));
}

#[test]
fn nobody_is_asked_who_is_not_listed() {
    let remote = Remote::start();
    let listed = remote.url("/rows");
    let (desk, server) = serve(LOCAL, &[private(&listed, &remote.authority())], &[]);
    let authority = remote.authority();
    let mut others = vec![
        format!("<{listed}/>"),
        format!("<{listed}/more>"),
        format!("<{listed}s>"),
        format!("<{listed}?query=x>"),
        format!("<{listed}#x>"),
        format!("<http://me@{authority}/rows>"),
        format!("<http://{authority}/x/../rows>"),
        format!("<http://{authority}/%72ows>"),
        format!("<http://{authority}/>"),
        format!("<HTTP://{authority}/rows>"),
        format!("<https://{authority}/rows>"),
        "<http://127.0.0.1/rows>".to_owned(),
        "<http://169.254.169.254/latest/meta-data/>".to_owned(),
        "<file:///etc/passwd>".to_owned(),
        "<rows>".to_owned(),
    ];
    others.push(format!("<{}>", listed.replace("127.0.0.1", "127.1")));
    others.push(format!("<{}>", listed.replace("127.0.0.1", "localhost")));
    for endpoint in &others {
        let refused = ask(&server, &joined(endpoint)).is(403);
        assert!(refused.text().contains("[federation]"), "{endpoint}: {}", refused.text());
        let silent = ask(&server, &joined(&format!("SILENT {endpoint}"))).is(200);
        assert_eq!(column(&silent, "name"), ["one", "two"], "{endpoint}");
    }
    // Neither a variable nor another endpoint leads elsewhere.
    for query in [
        format!("SELECT * {{ VALUES ?e {{ <{listed}> }} SERVICE ?e {{ ?s <a:year> ?year }} }}"),
        "SELECT * { ?s <a:name> ?e SERVICE ?e { ?s <a:year> ?year } }".to_owned(),
        format!(
            "SELECT * {{ SERVICE <{listed}> {{ ?s ?p ?o SERVICE <http://127.0.0.1:9/> {{ ?s ?q ?r }} }} }}"
        ),
    ] {
        ask(&server, &query).is(403);
    }
    let writer = token(&desk, "--role writer");
    for service in ["SERVICE", "SERVICE SILENT", "SERVICESILENT"] {
        let update =
            format!("INSERT {{ ?s <a:year> ?o }} WHERE {{ {service} <{listed}> {{ ?s <a:year> ?o }} }}");
        server.update(&writer, &update).unwrap().is(403);
        let last = format!("INSERT DATA {{ <a:x> <a:y> <a:z> }} ; {update}");
        server.update(&writer, &last).unwrap().is(403);
    }
    let written = ask(&server, "ASK { <a:x> ?p ?o }").is(200);
    assert_eq!(written.json()["boolean"], false);
    assert_eq!(remote.requests(), 0, "{:?}", remote.seen());
    ask(&server, &joined(&format!("<{listed}>"))).is(200);
    assert_eq!(remote.requests(), 1);
    // The parser takes this word for two, and so does whoever looks for the list.
    ask(&server, &format!("SELECT * {{ SERVICESILENT <{listed}> {{ ?s <a:year> ?year }} }}")).is(200);
    assert_eq!(remote.requests(), 2);
}

#[test]
fn without_a_list_nobody_is_asked_and_the_setting_is_named() {
    let (_desk, server) = serve(LOCAL, &[], &[]);
    for service in ["SERVICE", "SERVICE SILENT"] {
        let refused =
            ask(&server, &format!("SELECT * {{ {service} <http://127.0.0.1:9/> {{}} }}")).is(403).text();
        let same =
            "`SERVICE` is refused: queries read this catalogue, reach no other server and write nothing";
        assert!(refused.contains(same) && refused.contains("`[federation]` of `pinakes.toml`"), "{refused}");
    }
}

#[test]
fn a_listed_endpoint_at_a_private_address_needs_leave() {
    let remote = Remote::start();
    let listed = remote.url("/rows");
    let elsewhere = format!("{{ iri = \"{listed}\", allow_private = [\"10.0.0.0/8\"] }}");
    for entry in [format!("{{ iri = \"{listed}\" }}"), elsewhere] {
        let (_desk, server) = serve(LOCAL, &[entry], &[]);
        let refused = ask(&server, &joined(&format!("<{listed}>"))).is(403);
        assert!(refused.text().contains("is not public"), "{}", refused.text());
        let silent = ask(&server, &joined(&format!("SILENT <{listed}>"))).is(200);
        assert_eq!(column(&silent, "name"), ["one", "two"]);
    }
    assert_eq!(remote.requests(), 0);
}

#[test]
fn an_endpoint_that_misbehaves_ends_its_query_and_nothing_else() {
    let remote = Remote::start();
    let paths = [
        ("/500", 502),
        ("/garbage", 502),
        ("/page", 502),
        ("/away", 502),
        ("/ftp", 502),
        ("/nowhere", 502),
        ("/hang", 502),
        ("/endless", 413),
    ];
    let entries: Vec<String> =
        paths.iter().map(|(path, _)| private(&remote.url(path), &remote.authority())).collect();
    let (_desk, server) = serve(LOCAL, &entries, &["--query-seconds", "8"]);
    for (path, status) in paths {
        let endpoint = format!("<{}>", remote.url(path));
        let refused = ask(&server, &joined(&endpoint)).is(status);
        assert!(refused.text().contains(path), "{path}: {}", refused.text());
        let silent = ask(&server, &joined(&format!("SILENT {endpoint}"))).is(200);
        assert_eq!(column(&silent, "name"), ["one", "two"], "{path}");
    }
    // Each was asked once for each query, and a redirect was not followed.
    assert_eq!(remote.requests(), 2 * paths.len(), "{:?}", remote.seen());
    ask(&server, "ASK {}").is(200);
}

#[test]
fn a_query_asks_others_so_often_and_not_for_each_row() {
    let remote = Remote::start();
    let endpoint = remote.url("/rows");
    let entry = private(&endpoint, &remote.authority());
    let objects: Vec<String> = (0..500).map(|n| n.to_string()).collect();
    let many =
        format!("INSERT DATA {{ GRAPH <http://x.example/g> {{ <a:1> <a:n> {} }} }}", objects.join(", "));
    let (desk, server) = serve(&many, &[entry], &[]);
    let all = format!(
        "SELECT ?n ?year {{ ?s <a:n> ?n FILTER EXISTS {{ SERVICE <{endpoint}> {{ ?s <a:year> ?year }} }} }}"
    );
    assert_eq!(column(&ask(&server, &all).is(200), "n").len(), 500);
    assert_eq!(remote.requests(), 1);
    let seen = remote.seen().remove(0);
    assert!(seen.starts_with("POST /rows HTTP/1.1"), "{seen}");
    let head = seen.to_ascii_lowercase();
    assert!(head.contains("content-type: application/sparql-query"), "{seen}");
    assert!(head.contains("accept: application/sparql-results+json"), "{seen}");
    let clauses: String = (0..40).map(|n| format!("SERVICE <{endpoint}> {{ ?s <a:{n}> ?o }} ")).collect();
    let refused = ask(&server, &format!("SELECT * {{ {clauses} }}")).is(413);
    assert!(refused.text().contains("more than 32 times"), "{}", refused.text());
    assert_eq!(remote.requests(), 1 + 32);
    // A query that is ended is not begun anew: nobody is asked twice.
    drop(server);
    let server = Server::start(&desk, &["--query-seconds", "4"]);
    let endless = format!(
        "SELECT (COUNT(*) AS ?count) {{ SERVICE <{endpoint}> {{ ?s <a:year> ?year }} \
         ?a <a:n> ?b . ?c <a:n> ?d . ?e <a:n> ?f . ?g <a:n> ?h }}"
    );
    ask(&server, &endless).is(503);
    assert_eq!(remote.requests(), 1 + 32 + 1);
}

#[test]
fn settings_that_cannot_be_meant_keep_the_server_from_starting() {
    let desk = Desk::new();
    for (endpoint, said) in [
        ("{ iri = \"https://me:secret@sparql.example/\" }", "user name"),
        ("{ iri = \"https://sparql.example/?query=\" }", "its path alone"),
        (
            "{ iri = \"https://sparql.example/\", allow_private = [\"everybody everywhere\"] }",
            "allow_private",
        ),
    ] {
        let settings =
            format!("version = 1\nbase = \"http://x.example/\"\n[federation]\nendpoints = [{endpoint}]\n");
        desk.write(&format!("{CATALOGUE}/pinakes.toml"), settings);
        let ran = desk.run(&format!("pinakes --catalogue {CATALOGUE} serve --bind 127.0.0.1:0"));
        assert_eq!(ran.code, Some(2));
        assert!(ran.complaint().contains(said), "{}", ran.complaint());
    }
}
