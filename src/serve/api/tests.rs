//! The API over a library of one book.

use super::*;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use std::collections::BTreeSet;

const BASE: &str = "https://library.example/catalogue/";

/// A library of one book, which says what it was asked.
struct OneBook;

impl Library for OneBook {
    fn search(&self, asked: &Asked, _: &Effort) -> Result<Found, Refusal> {
        if asked.field.as_deref() == Some("colour") {
            return Err(Refusal::Malformed("`field` is none".to_owned()));
        }
        let hit = Hit { label: asked.text.clone(), ..Hit::default() };
        let count = Count { value: "book".to_owned(), count: 1 };
        let counts = FacetCounts { values: vec![count], more: false };
        let facets = asked.facets.iter().map(|name| (name.clone(), counts.clone())).collect();
        Ok(Found { total: 1, offset: asked.offset, limit: asked.limit, hits: vec![hit], facets })
    }

    fn suggest(
        &self,
        text: &str,
        of: Option<&str>,
        limit: usize,
        _: &Effort,
    ) -> Result<Vec<Suggested>, Refusal> {
        let label = format!("{text} {of:?}");
        Ok(vec![Suggested { label, of: "title", iri: None, count: 1 }; limit.min(1)])
    }

    fn record(&self, source: &str, id: &str, _: &Effort) -> Result<Option<Described>, Refusal> {
        let label = format!("{source} {id}");
        Ok((source == "loc").then(|| Described { label, ..Described::default() }))
    }

    fn work(&self, id: &str, _: &Effort) -> Result<Option<Work>, Refusal> {
        Ok(match id {
            "00000000000000aa" => Some(Work::default()),
            "00000000000000bb" => {
                Some(Work { moved_to: Some(format!("{BASE}work/00000000000000aa")), ..Work::default() })
            }
            "00000000000000cc" => return Err(Refusal::Io("/secret/place".to_owned())),
            _ => None,
        })
    }

    fn export(&self, asked: &Asked, format: CitationFormat, _: &Effort) -> Result<String, Refusal> {
        Ok(format!("{format:?} {}", asked.limit))
    }

    fn cite(
        &self,
        kind: &str,
        _: &str,
        format: CitationFormat,
        _: &Effort,
    ) -> Result<Option<String>, Refusal> {
        Ok((kind == "instance").then(|| format!("{format:?}")))
    }

    fn feed(&self, _: &Asked, own: &str, next: &str, _: &Effort) -> Result<Written, Refusal> {
        Ok(Written { text: format!("{own} {next}"), media_type: "application/atom+xml; charset=utf-8" })
    }

    fn standing(&self, _: &Effort) -> Result<Standing, Refusal> {
        Err(Refusal::Unavailable { message: "the catalogue is not indexed yet".to_owned(), retry_after: 60 })
    }
}

async fn ask(address: &str, tag: Option<&str>) -> (StatusCode, HeaderMap, String) {
    let router = TowerToHyperService::new(router(Arc::new(OneBook), BASE, Duration::from_secs(60)));
    let mut request = Request::get(address);
    if let Some(tag) = tag {
        request = request.header(header::IF_NONE_MATCH, tag);
    }
    let response = router.call(request.body(Body::empty()).expect("a request")).await.expect("an answer");
    let (head, body) = response.into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    (head.status, head.headers, String::from_utf8(body.to_vec()).expect("a text"))
}

#[track_caller]
fn check(asked: &str, status: StatusCode, expected: &str, answer: (StatusCode, HeaderMap, String)) {
    assert_eq!(answer.0, status, "{asked}: {}", answer.2);
    assert!(answer.2.contains(expected), "{asked}: {}", answer.2);
}

#[tokio::test]
async fn every_route_answers_and_every_wrong_question_is_a_problem() {
    let (ok, bad, absent) = (StatusCode::OK, StatusCode::BAD_REQUEST, StatusCode::NOT_FOUND);
    for (address, status, expected) in [
        (
            "/api/search?q=walden&facets=type",
            ok,
            r#""facets":{"type":{"values":[{"value":"book","count":1}]"#,
        ),
        ("/api/search?q=%3Cb%3E%22", ok, r#""label":"<b>\"""#),
        ("/api/search?limit=1000", bad, r#""status":400,"detail":"`limit` is"#),
        ("/api/search?field=colour", bad, "`field` is none"),
        ("/api/search?q=walden&lang=fr", bad, "`lang` is no parameter; there are `q`, "),
        ("/api/record/loc/1?format=ris", bad, "there are none here"),
        ("/feed?limit=5", bad, "`limit` is no parameter"),
        ("/api/suggest?q=wal&of=name", ok, r#"wal Some(\"name\")"#),
        ("/api/record/loc/a%2Fb", ok, "loc a/b"),
        ("/api/record/nobody/1", absent, r#""status":404"#),
        ("/api/work/00000000000000aa", ok, r#""instances":[]"#),
        ("/api/work/walden", absent, "nothing is known here"),
        ("/api/work/00000000000000cc", StatusCode::INTERNAL_SERVER_ERROR, "cannot be read"),
        ("/api/export?q=x&format=ris", ok, "Ris 100"),
        ("/api/export?format=word", bad, "bibtex, ris and csl-json"),
        ("/api/cite/instance/1?format=csl-json", ok, "CslJson"),
        ("/api/cite/agent/1", absent, "nothing is known here"),
        ("/api/status", StatusCode::SERVICE_UNAVAILABLE, "not indexed yet"),
        (
            "/feed?q=a%26b&language=fr",
            ok,
            &format!("{BASE}feed?q=a%26b&language=fr {BASE}feed?q=a%26b&language=fr&offset=50"),
        ),
    ] {
        let answer = ask(address, None).await;
        assert!(!answer.2.contains("secret"), "{address}");
        if status.is_client_error() || status.is_server_error() {
            assert_eq!(answer.1[header::CONTENT_TYPE], "application/problem+json", "{address}");
        }
        check(address, status, expected, answer);
    }
}

#[tokio::test]
async fn a_merged_work_leads_to_what_it_is_part_of() {
    let (status, headers, _) = ask("/api/work/00000000000000bb", None).await;
    assert_eq!(status, StatusCode::PERMANENT_REDIRECT);
    assert_eq!(headers[header::LOCATION], "00000000000000aa");
}

#[tokio::test]
async fn an_answer_that_did_not_change_is_not_sent_again() {
    let (_, headers, _) = ask("/api/search?q=walden", None).await;
    let tag = headers[header::ETAG].to_str().expect("a tag");
    assert_eq!(ask("/api/search?q=walden", Some(tag)).await.0, StatusCode::NOT_MODIFIED);
    assert_eq!(ask("/api/search?q=faust", Some(tag)).await.0, StatusCode::OK);
}

#[tokio::test]
async fn the_description_and_the_routes_agree() {
    let (_, _, text) = ask("/api/openapi.json", None).await;
    let description: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(description["openapi"], "3.1.0");
    assert_eq!(description["servers"][0]["url"], "https://library.example/catalogue");
    let paths = description["paths"].as_object().expect("paths");
    let described: BTreeSet<&str> = paths.keys().map(String::as_str).collect();
    let routed: BTreeSet<&str> = routes().into_iter().map(|(path, _)| path).collect();
    assert_eq!(described, routed);
    for (path, item) in paths {
        let parameters = item["get"]["parameters"].as_array().expect("parameters");
        let in_path = parameters.iter().filter(|one| one["in"] == "path").count();
        assert_eq!(in_path, path.matches('{').count(), "{path}");
        for name in parameters.iter().filter_map(|one| one["$ref"].as_str()) {
            let pointer = name.trim_start_matches('#');
            assert!(description.pointer(pointer).is_some(), "{path}: {name}");
        }
    }
    let facets = FACETS.map(|facet| description.pointer(&format!("/components/parameters/{facet}")));
    assert!(facets.iter().all(Option::is_some));
}
