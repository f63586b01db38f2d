//! The protocol, request by request.

use crate::serve::Role;
use crate::serve::tests::start;

const FORM: &str = "Content-Type: application/x-www-form-urlencoded";
const QUERY: &str = "Content-Type: application/sparql-query";
const UPDATE: &str = "Content-Type: application/sparql-update";

#[tokio::test]
async fn a_query_comes_in_three_ways() {
    let server = start(|settings| settings.public = true).await;
    let dataset =
        "default-graph-uri=http%3A%2F%2Fa&named-graph-uri=http%3A%2F%2Fb&named-graph-uri=http%3A%2F%2Fc";
    let get = server.get(&format!("/sparql?query=ASK+%7B%7D&{dataset}"), &[]).await;
    let form = server.ask("POST /sparql", &[FORM], &format!("query=ASK%20%7B%7D&{dataset}")).await;
    let direct = server.ask(&format!("POST /sparql?{dataset}"), &[QUERY], "ASK {}").await;
    for answer in [get, form, direct] {
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.body, "ASK {}|http://a|http://b http://c|100000");
        assert_eq!(answer.header("content-type"), Some("application/sparql-results+json"));
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        assert_eq!(answer.header("vary"), Some("Accept"));
    }
}

#[tokio::test]
async fn what_is_not_the_protocol_is_refused() {
    let server = start(|_| {}).await;
    for (line, headers, body, status) in [
        ("PUT /sparql?query=ASK%7B%7D", &[][..], "", 405),
        ("DELETE /sparql", &[], "", 405),
        ("GET /sparql?query=ASK%7B%7D&query=ASK%7B%7D", &[], "", 400),
        ("GET /sparql?query=%FF", &[], "", 400),
        ("GET /sparql?update=CLEAR%20ALL", &[], "", 400),
        ("GET /sparql?query=ASK%7B%7D&default-graph-uri=relative", &[], "", 400),
        ("GET /sparql?query=ASK%7B%7D&using-graph-uri=http://a", &[], "", 400),
        ("POST /sparql", &[], "query=ASK%7B%7D", 415),
        ("POST /sparql", &["Content-Type: text/plain"], "ASK {}", 415),
        ("POST /sparql", &["Content-Type: application/sparql-query; charset=utf-16"], "ASK {}", 415),
        ("POST /sparql", &[QUERY, "Content-Encoding: gzip"], "ASK {}", 415),
        ("POST /sparql", &[FORM], "nothing=1", 400),
        ("POST /sparql", &[FORM], "query=a&update=b", 400),
        ("POST /sparql?query=ASK%7B%7D", &[QUERY], "ASK {}", 400),
        ("GET /sparql?query=SELECT+broken", &[], "", 400),
        ("GET /sparql?query=SELECT+long", &[], "", 503),
        ("GET /sparql?query=SELECT+large", &[], "", 503),
        ("GET /sparql?query=SELECT+busy", &[], "", 503),
        ("GET /sparql?query=SELECT+died", &[], "", 500),
        ("GET /sparql?query=SELECT+disk", &[], "", 500),
        ("GET /sparql?query=SELECT+x", &["Accept: image/png"], "", 406),
        ("GET /sparql?query=SELECT+x", &["Accept: text/turtle"], "", 406),
        ("GET /sparql?query=CONSTRUCT+x", &["Accept: text/csv"], "", 406),
        ("GET /sparql?query=SELECT+x&format=docx", &[], "", 406),
    ] {
        let answer = server.ask(line, headers, body).await;
        assert_eq!(answer.status, status, "{line} {headers:?}: {}", answer.body);
        assert_eq!(answer.body.lines().count(), 1, "one sentence: {}", answer.body);
        assert!(!answer.body.contains("/secret/place"));
    }
    let busy = server.get("/sparql?query=SELECT+busy", &[]).await;
    assert_eq!(busy.header("retry-after"), Some("3"));
    assert_eq!(server.ask("PUT /sparql", &[], "").await.header("allow"), Some("GET, HEAD, OPTIONS, POST"));
}

#[tokio::test]
async fn answers_come_as_they_are_wanted() {
    let server = start(|_| {}).await;
    for (query, accept, media_type) in [
        ("SELECT+x", "Accept: text/csv", "text/csv; charset=utf-8"),
        (
            "SELECT+x",
            "Accept: application/sparql-results+xml;q=0.9, text/csv;q=0.1",
            "application/sparql-results+xml",
        ),
        ("SELECT+x", "Accept: application/json", "application/sparql-results+json"),
        ("SELECT+x&format=tsv", "Accept: text/csv", "text/tab-separated-values; charset=utf-8"),
        ("CONSTRUCT+x", "Accept: */*", "text/turtle; charset=utf-8"),
        ("CONSTRUCT+x&format=json", "Accept: */*", "application/ld+json"),
        ("CONSTRUCT+x", "Accept: application/n-triples", "application/n-triples"),
    ] {
        let answer = server.get(&format!("/sparql?query={query}"), &[accept]).await;
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, Some(media_type)),
            "{query} {accept}"
        );
    }
    let spooled = server.get("/sparql?query=SELECT+spooled", &[]).await;
    assert_eq!((spooled.body.len(), spooled.header("content-length")), (200_000, Some("200000")));
}

#[tokio::test]
async fn the_endpoint_describes_itself() {
    let server = start(|_| {}).await;
    let turtle = server.get("/sparql", &[]).await;
    assert_eq!((turtle.status, turtle.header("content-type")), (200, Some("text/turtle; charset=utf-8")));
    for part in ["sd:endpoint <http://library.example/sparql>", "sd:SPARQL11Update", "sd:SPARQL11Query"] {
        assert!(turtle.body.contains(part), "{}", turtle.body);
    }
    let page = server.get("/sparql", &["Accept: text/html,*/*;q=0.8"]).await;
    assert!(page.body.contains("<form action=\"/sparql\" method=\"get\">"), "{}", page.body);
    assert!(!page.body.contains("<script"));
    let void = server.get("/.well-known/void", &[]).await;
    assert!(void.body.contains("void:triples 12"), "{}", void.body);
    assert!(void.body.contains("void:sparqlEndpoint <http://library.example/sparql>"), "{}", void.body);
    let quiet = start(|settings| settings.read_only = true).await;
    assert!(!quiet.get("/sparql", &[]).await.body.contains("SPARQL11Update"));
    assert!(!turtle.body.contains("BasicFederatedQuery"), "{}", turtle.body);
    let federated = start(|settings| settings.federated = true).await;
    let turtle = federated.get("/sparql", &[]).await.body;
    assert!(turtle.contains("sd:feature sd:BasicFederatedQuery"), "{turtle}");
}

#[tokio::test]
async fn head_is_get_without_a_body() {
    let server = start(|_| {}).await;
    for path in ["/sparql?query=ASK", "/sparql", "/", "/style.css", "/health", "/.well-known/void"] {
        let get = server.get(path, &[]).await;
        let head = server.ask(&format!("HEAD {path}"), &[], "").await;
        assert_eq!((head.status, head.body.as_str()), (200, ""), "{path}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{path}");
        assert_eq!(head.header("content-length"), get.header("content-length"), "{path}");
    }
}

#[tokio::test]
async fn unchanged_answers_are_not_sent_again() {
    let server = start(|_| {}).await;
    let first = server.get("/sparql?query=ASK", &[]).await;
    let known = format!("If-None-Match: {}", first.header("etag").expect("a tag"));
    let again = server.get("/sparql?query=ASK", &[&known]).await;
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    assert_eq!(again.header("vary"), Some("Accept"));
    assert_eq!(server.get("/sparql?query=ASK%7B%7D", &[&known]).await.status, 200);
}

#[tokio::test]
async fn updates_come_in_two_ways_and_are_the_writers() {
    let server = start(|_| {}).await;
    let (token, _) = server.token(Role::Writer, None);
    let bearer = format!("Authorization: Bearer {token}");
    let direct = server.ask("POST /sparql", &[UPDATE, &bearer], "CLEAR ALL").await;
    assert_eq!((direct.status, direct.header("access-control-allow-origin")), (204, None));
    assert_eq!(server.ask("POST /sparql", &[FORM, &bearer], "update=CLEAR%20DEFAULT").await.status, 204);
    assert_eq!(*server.catalogue.updates.lock().expect("a lock"), ["CLEAR ALL", "CLEAR DEFAULT"]);
    for (line, headers, body, status) in [
        ("POST /sparql", vec![UPDATE], "CLEAR ALL", 401),
        ("POST /sparql", vec![FORM], "update=CLEAR%20ALL", 401),
        ("POST /sparql", vec![UPDATE, &bearer], "CLEAR", 400),
        ("POST /sparql", vec![UPDATE, &bearer], "LOAD <http://127.0.0.1:1/>", 403),
        ("POST /sparql?default-graph-uri=http://a", vec![UPDATE, &bearer], "CLEAR ALL", 400),
        (
            "POST /sparql?using-graph-uri=http://a",
            vec![UPDATE, &bearer],
            "DELETE { ?s ?p ?o } USING <http://b> WHERE { ?s ?p ?o }",
            400,
        ),
    ] {
        let answer = server.ask(line, &headers, body).await;
        assert_eq!(answer.status, status, "{line} {body}: {}", answer.body);
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    assert_eq!(server.catalogue.updates.lock().expect("a lock").len(), 2);
}
