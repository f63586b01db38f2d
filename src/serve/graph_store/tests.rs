//! The graph store, request by request.

use crate::serve::Role;
use crate::serve::tests::{BASE, Running, start};

const TURTLE: &str = "Content-Type: text/turtle";
const GRAPH: &str = "/graph-store?graph=http%3A%2F%2Fg";

async fn started() -> (Running, String) {
    let server = start(|_| {}).await;
    let (token, _) = server.token(Role::Writer, None);
    (server, format!("Authorization: Bearer {token}"))
}

#[tokio::test]
async fn graphs_are_made_changed_shown_and_removed() {
    let (server, bearer) = started().await;
    let triple = "<a> <http://p> \"1\" .";
    for (method, path) in [("indirect", GRAPH), ("direct", "/graph-store/x/y"), ("direct", "/graph/x")] {
        let ask = |line: &str, body: &'static str| {
            let line = format!("{line} {path}");
            let (server, bearer) = (&server, &bearer);
            async move { server.ask(&line, &[TURTLE, bearer, "Accept: application/n-triples"], body).await }
        };
        assert_eq!(ask("GET", "").await.status, 404, "{method}");
        assert_eq!(ask("HEAD", "").await.status, 404, "{method}");
        assert_eq!(ask("PUT", "<a> <http://p> \"0\" .").await.status, 201, "{method}");
        assert_eq!(ask("PUT", "<a> <http://p> \"1\" .").await.status, 204, "{method}");
        let shown = ask("GET", "").await;
        assert_eq!((shown.status, shown.header("content-type")), (200, Some("application/n-triples")));
        assert!(shown.body.contains("\"1\"") && !shown.body.contains("\"0\""), "{}", shown.body);
        assert_eq!(ask("POST", "<a> <http://p> \"2\" .").await.status, 204, "{method}");
        let shown = ask("GET", "").await.body;
        assert!(shown.contains("\"1\"") && shown.contains("\"2\""), "{shown}");
        assert_eq!(ask("DELETE", "").await.status, 204, "{method}");
        assert_eq!(ask("DELETE", "").await.status, 404, "{method}");
        assert_eq!(ask("PATCH", triple).await.status, 405, "{method}");
    }
}

#[tokio::test]
async fn a_graph_is_shown_within_the_limits_of_whoever_asks() {
    let server = start(|settings| {
        settings.limits.anonymous.rows = 1;
        settings.limits.holder.rows = 2;
    })
    .await;
    let (token, _) = server.token(Role::Writer, None);
    let bearer = format!("Authorization: Bearer {token}");
    for (graph, anonymous, holder) in
        [("<a> <b> 1 .", 200, 200), ("<a> <b> 1, 2 .", 413, 200), ("<a> <b> 1, 2, 3 .", 413, 413)]
    {
        server.ask(&format!("PUT {GRAPH}"), &[TURTLE, &bearer], graph).await;
        assert_eq!(server.get(GRAPH, &[]).await.status, anonymous, "{graph}");
        assert_eq!(server.get(GRAPH, &[&bearer]).await.status, holder, "{graph}");
    }
}

#[tokio::test]
async fn a_new_graph_gets_a_name_that_answers() {
    let (server, bearer) = started().await;
    let made = server.ask("POST /graph-store", &[TURTLE, &bearer], "[] <http://p> 1 .").await;
    assert_eq!(made.status, 201, "{}", made.body);
    let place = made.header("location").and_then(|place| place.strip_prefix(BASE)).expect("a name of ours");
    assert_eq!(server.get(&format!("/{place}"), &[]).await.status, 200);
    assert_eq!(server.get(&format!("/graph-store?graph={BASE}{place}"), &[]).await.status, 200);
}

#[tokio::test]
async fn parts_are_one_graph() {
    let (server, bearer) = started().await;
    let body = "--b\r\nContent-Disposition: form-data; name=\"x\"; filename=\"x.ttl\"\r\nContent-Type: text/turtle\r\n\r\n<http://a> <http://p> 1 .\r\n\
                --b\r\nContent-Type: application/n-triples\r\n\r\n<http://a> <http://p> \"2\" .\r\n--b--\r\n";
    let kind = "Content-Type: multipart/form-data; boundary=b";
    assert_eq!(server.ask(&format!("POST {GRAPH}"), &[kind, &bearer], body).await.status, 201);
    let shown = server.get(GRAPH, &["Accept: application/n-triples"]).await.body;
    assert_eq!(shown.lines().count(), 2, "{shown}");
    let torn = &body[..body.len() - 10];
    assert_eq!(server.ask(&format!("POST {GRAPH}"), &[kind, &bearer], torn).await.status, 400);
}

#[tokio::test]
async fn what_cannot_be_stored_changes_nothing() {
    let (server, bearer) = started().await;
    let doctype =
        "<!DOCTYPE x [<!ENTITY e \"eeee\">]><r:RDF xmlns:r=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"/>";
    let deep = "[".repeat(5000);
    for (path, kind, body, status) in [
        (GRAPH, "Content-Type: text/turtle", "<a> <b>", 400),
        (GRAPH, "Content-Type: text/turtle", deep.as_str(), 400),
        (GRAPH, "Content-Type: application/ld+json", deep.as_str(), 400),
        (GRAPH, "Content-Type: application/rdf+xml", doctype, 400),
        (
            GRAPH,
            "Content-Type: application/ld+json",
            "{\"@context\": \"http://127.0.0.1:1/c\", \"b\": 1}",
            400,
        ),
        (GRAPH, "Content-Type: application/trig", "<http://h> { <http://a> <http://b> 1 }", 400),
        (GRAPH, "Content-Type: image/png", "x", 415),
        (GRAPH, "X-No: type", "x", 415),
        ("/graph-store", "Content-Type: text/turtle", "", 400),
        ("/graph-store?graph=relative", "Content-Type: text/turtle", "", 400),
        ("/graph-store?graph=http://a&default", "Content-Type: text/turtle", "", 400),
        ("/graph-store/x?graph=http://a", "Content-Type: text/turtle", "", 400),
    ] {
        let answer = server.ask(&format!("PUT {path}"), &[kind, &bearer], body).await;
        assert_eq!(answer.status, status, "{path} {kind}: {}", answer.body);
    }
    assert!(server.catalogue.graphs.lock().expect("a lock").is_empty());
}

#[tokio::test]
async fn the_writer_of_a_source_writes_its_graphs_alone() {
    let server = start(|_| {}).await;
    let (token, _) = server.token(Role::Writer, Some("loc"));
    let bearer = format!("Authorization: Bearer {token}");
    let put = |path: &'static str| {
        let (server, bearer) = (&server, &bearer);
        async move {
            server.ask(&format!("PUT {path}"), &[TURTLE, bearer], "<http://a> <http://p> 1 .").await.status
        }
    };
    assert_eq!(put("/graph-store/loc/a").await, 201);
    assert_eq!(put("/graph-store?graph=http%3A%2F%2Flibrary.example%2Frecord%2Floc%2F1").await, 201);
    for path in [
        "/graph-store?default",
        "/graph-store/bnf/a",
        "/graph-store?graph=http%3A%2F%2Flibrary.example%2Frecord%2Fbnf%2F1",
        "/graph-store?graph=http%3A%2F%2Felsewhere.example%2Frecord%2Floc%2F1",
    ] {
        assert_eq!(put(path).await, 403, "{path}");
    }
    let made = server.ask("POST /graph-store", &[TURTLE, &bearer], "<http://a> <http://p> 1 .").await;
    assert!(
        made.header("location").is_some_and(|place| place.contains("/graph-store/loc/")),
        "{}",
        made.head
    );
}
