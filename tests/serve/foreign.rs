//! Clients of others, unmodified.

use super::support::server::Server;
use super::support::{Desk, project, venv};
use std::process::Command;

/// DC.5: "rdflib, SPARQLWrapper, YASGUI and Jena-style clients work unmodified"
#[test]
fn dc_5_rdflib_and_sparqlwrapper_ask_as_they_always_do() {
    let desk = Desk::with_sample();
    desk.run("pinakes resolve --quiet").ok();
    let server = Server::start(&desk, &["--cors", "*"]);
    let script = project("tests/peers/sparql.py");
    let ran = Command::new(venv("python")).arg(script).arg(&server.url).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    // A browser's script asks first whether it may.
    let headers = [("Origin", "https://yasgui.example"), ("Access-Control-Request-Method", "POST")];
    let allowed = server.ask("OPTIONS", "/sparql", &headers, b"");
    assert!(
        allowed.status < 300 && allowed.header("access-control-allow-origin") == Some("*"),
        "{allowed:?}"
    );
    let described = server.get("/sparql", &[("Accept", "text/turtle")]).is(200).text();
    assert!(described.contains("sd:Service") && described.contains("sd:endpoint"), "{described}");
    let void = server.get("/.well-known/void", &[("Accept", "text/turtle")]);
    assert!(void.status == 200 && void.text().contains("void:Dataset"), "{void:?}");
}
