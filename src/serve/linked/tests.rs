//! Entities, dereferenced.

use super::by_suffix;
use crate::ontology::{bf, dcterms, owl, pin, rdf};
use crate::serve::negotiate::Offer;
use crate::serve::tests::{BASE, Running, start, thing};
use crate::serve::{Description, Inbound};
use oxrdf::{BlankNode, Literal, NamedNode, Triple};

const AGENT: &str = "http://library.example/agent/1";

fn node(iri: &str) -> NamedNode {
    NamedNode::new(iri).expect("an IRI")
}

fn person() -> Description {
    let mut person = thing(AGENT, "Henry D. Thoreau");
    let me = node(AGENT);
    let title = BlankNode::default();
    person.triples.extend([
        Triple::new(me.clone(), rdf::TYPE, bf::PERSON),
        Triple::new(
            me.clone(),
            dcterms::DESCRIPTION,
            Literal::new_language_tagged_literal("Écrivain", "fr").expect("a tag"),
        ),
        Triple::new(me.clone(), owl::SAME_AS, node("https://authority.example/77")),
        Triple::new(me.clone(), dcterms::RELATION, node("javascript:alert(1)")),
        Triple::new(me.clone(), dcterms::SUBJECT, node("http://library.example/subject/9")),
        Triple::new(me, bf::TITLE, title.clone()),
        Triple::new(title, bf::MAIN_TITLE, Literal::from("<script>alert(1)</script> و")),
    ]);
    let role = node("http://id.loc.gov/vocabulary/relators/aut");
    person.labels.insert(role.as_str().to_owned(), "Author".to_owned());
    person.labels.insert(format!("{BASE}work/1"), "Walden".to_owned());
    person.inbound.push(Inbound { role, subject: node("http://library.example/work/1") });
    person
}

async fn started() -> Running {
    let server = start(|_| {}).await;
    let moved = {
        let mut moved = thing("http://library.example/work/old", "Old");
        moved.moved_to = Some(node("http://library.example/work/new"));
        moved
    };
    let gone = Description { gone: true, ..thing("http://library.example/record/a/9", "Gone") };
    let dotted = thing("http://library.example/record/a/b.ttl", "Dotted");
    for described in [person(), moved, gone, dotted] {
        let name = described.iri.as_str().to_owned();
        server.catalogue.things.lock().expect("a lock").insert(name, described);
    }
    server
}

/// S0.16: "Every entity has an IRI that dereferences to labels, description, types, links out and
/// its works".
#[tokio::test]
async fn s0_16_an_entity_answers_in_every_form() {
    let server = started().await;
    for (accept, suffix, media_type, label) in [
        ("text/html", "html", "text/html; charset=utf-8", "Henry D. Thoreau</bdi></h1>"),
        ("text/turtle", "ttl", "text/turtle; charset=utf-8", "rdfs:label \"Henry D. Thoreau\""),
        ("application/ld+json", "jsonld", "application/ld+json", "Henry D. Thoreau"),
        ("application/n-triples", "nt", "application/n-triples", "\"Henry D. Thoreau\""),
        ("application/rdf+xml", "rdf", "application/rdf+xml", "Henry D. Thoreau"),
    ] {
        let negotiated = server.get("/agent/1", &[&format!("Accept: {accept}")]).await;
        let suffixed = server.get(&format!("/agent/1.{suffix}"), &[]).await;
        for answer in [&negotiated, &suffixed] {
            assert_eq!((answer.status, answer.header("content-type")), (200, Some(media_type)));
            assert_eq!(answer.header("vary"), Some("Accept"));
            assert_eq!(answer.header("content-location"), Some(format!("/agent/1.{suffix}").as_str()));
            assert!(answer.body.contains(label), "{}", answer.body);
            for part in ["https://authority.example/77", "work/1"] {
                assert!(answer.body.contains(part), "{part}: {}", answer.body);
            }
            let links: Vec<&str> = answer.all("link").collect();
            assert_eq!(links.len(), 5);
            assert!(links.contains(&"</agent/1.ttl>; rel=\"alternate\"; type=\"text/turtle\""), "{links:?}");
        }
        assert_eq!(negotiated.body, suffixed.body);
        let known = format!("If-None-Match: {}", negotiated.header("etag").expect("a tag"));
        assert_eq!(server.get(&format!("/agent/1.{suffix}"), &[&known]).await.status, 304);
    }
    assert_eq!(server.get("/agent/1", &["Accept: image/png"]).await.status, 406);
}

#[tokio::test]
async fn s0_16_a_page_says_what_it_is_and_what_leads_to_it() {
    let server = started().await;
    let page = server.get("/agent/1.html", &[]).await.body;
    for part in [
        "<p class=\"kind\">Person</p>",
        "<bdi lang=\"fr\">Écrivain</bdi>",
        "<h2>Known elsewhere</h2>",
        "<a href=\"https://authority.example/77\" rel=\"nofollow noopener ugc\">",
        "<h3>Author <small>1</small></h3>",
        "<a href=\"/work/1\"><bdi>Walden</bdi></a>",
        "<a href=\"/subject/9\">",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "<link rel=\"alternate\" type=\"text/turtle\" href=\"/agent/1.ttl\">",
        "<link rel=\"stylesheet\" href=\"/style.css\">",
    ] {
        assert!(page.contains(part), "{part} is not in\n{page}");
    }
    assert!(!page.contains("<script") && !page.contains("href=\"javascript"), "{page}");
    assert_eq!(server.get("/style.css", &[]).await.header("content-type"), Some("text/css; charset=utf-8"));
}

#[tokio::test]
async fn a_part_of_a_description_is_for_people_alone() {
    let server = start(|_| {}).await;
    let cut = Description { more: true, ..thing(AGENT, "Anonymous") };
    server.catalogue.things.lock().expect("a lock").insert(AGENT.to_owned(), cut);
    let page = server.get("/agent/1.html", &[]).await;
    assert!(page.status == 200 && page.body.contains("There is more; a query finds it."), "{}", page.body);
    for suffix in ["ttl", "nt", "jsonld", "rdf"] {
        let refused = server.get(&format!("/agent/1.{suffix}"), &[]).await;
        assert!(refused.status == 413 && refused.body.contains("SPARQL"), "{suffix}: {}", refused.body);
    }
}

#[tokio::test]
async fn a_page_says_what_its_lists_leave_out() {
    let server = start(|_| {}).await;
    let mut crowded = thing(AGENT, "Anonymous");
    let role = node("http://id.loc.gov/vocabulary/relators/aut");
    for (property, more) in [(pin::MEMBER, 1), (owl::SAME_AS, 2), (dcterms::RELATION, 3)] {
        let values = (0..200 + more).map(|n| node(&format!("{BASE}record/{more}/{n}")));
        crowded.triples.extend(values.map(|value| Triple::new(node(AGENT), property, value)));
    }
    let works = (0..204).map(|n| node(&format!("{BASE}work/{n}")));
    crowded.inbound.extend(works.map(|subject| Inbound { role: role.clone(), subject }));
    server.catalogue.things.lock().expect("a lock").insert(AGENT.to_owned(), crowded);
    let page = server.get("/agent/1.html", &[]).await.body;
    for more in 1..=4 {
        assert_eq!(page.matches(&format!("<li>and {more} more</li>")).count(), 1, "{more}");
    }
}

#[tokio::test]
async fn what_moved_leads_on_and_what_is_gone_is_gone() {
    let server = started().await;
    let moved = server.get("/work/old", &[]).await;
    assert_eq!((moved.status, moved.header("location")), (301, Some("/work/new")));
    let suffixed = server.get("/work/old.ttl", &[]).await;
    assert_eq!((suffixed.status, suffixed.header("location")), (301, Some("/work/new.ttl")));
    assert_eq!(server.get("/record/a/9", &[]).await.status, 410);
    assert_eq!(server.get("/record/a/b.ttl", &[]).await.status, 200, "an id may end like a suffix");
    for path in
        ["/work/none", "/work/none.ttl", "/favicon.ico", "/..%2f", "/%00", "/a/b/c/d", "/%3Cscript%3E"]
    {
        let none = server.get(path, &[]).await;
        assert_eq!(
            (none.status, none.header("content-type")),
            (404, Some("text/plain; charset=utf-8")),
            "{path}"
        );
    }
    let page = server.get("/work/none", &["Accept: text/html"]).await;
    assert_eq!((page.status, page.header("content-type")), (404, Some("text/html; charset=utf-8")));
    assert!(page.body.contains("<a href=\"/\">To the first page</a>"), "{}", page.body);
}

/// What a record says must not lead readers elsewhere under the name of the catalogue.
#[tokio::test]
async fn nothing_leads_out_of_the_catalogue_unseen() {
    let server = start(|_| {}).await;
    let me = node(AGENT);
    let mut person = thing(AGENT, "Nobody");
    for (property, value) in [
        (owl::SAME_AS, "/evil.example/x"),
        (dcterms::RELATION, "/evil.example/"),
        (dcterms::SUBJECT, "../../evil.example/"),
    ] {
        person.triples.push(Triple::new(
            me.clone(),
            property,
            NamedNode::new_unchecked(format!("{BASE}{value}")),
        ));
    }
    let inbound = NamedNode::new_unchecked(format!("{BASE}/evil.example/work"));
    person.inbound.push(Inbound { role: bf::TITLE.into_owned(), subject: inbound });
    let mut things = vec![person];
    for (name, target) in [
        ("away", "https://evil.example/"),
        ("odd", "http://library.example//evil.example/"),
        ("near", "http://library.example.evil/"),
    ] {
        let iri = format!("{BASE}work/{name}");
        things.push(Description { moved_to: Some(NamedNode::new_unchecked(target)), ..thing(&iri, "Moved") });
    }
    things.push(thing(&format!("{BASE}a/../b"), "Odd"));
    for described in things {
        let name = described.iri.as_str().to_owned();
        server.catalogue.things.lock().expect("a lock").insert(name, described);
    }
    let page = server.get("/agent/1.html", &[]).await.body;
    assert!(
        !page.contains("href=\"//") && !page.contains("href=\"/..") && !page.contains("href=\"../"),
        "{page}"
    );
    assert!(page.contains("href=\"http://library.example//evil.example/x\""), "{page}");
    for name in ["away", "odd", "near"] {
        let moved = server.get(&format!("/work/{name}"), &[]).await;
        assert_eq!((moved.status, moved.header("location")), (404, None), "{name}");
    }
    let odd = server.get("/a/../b", &["Accept: text/html"]).await;
    assert_eq!((odd.status, odd.header("content-location"), odd.header("link")), (200, None, None));
    for path in ["//evil.example/", "///evil.example", "//agent/1"] {
        let answer = server.get(path, &[]).await;
        assert!(answer.header("location").is_none(), "{path}");
        let place = answer.header("content-location").unwrap_or("/");
        assert!(!place.starts_with("//"), "{path}: {place}");
    }
}

#[test]
fn a_suffix_is_one_that_means_a_form() {
    let read = |path| {
        let (stem, offer) = by_suffix(path);
        (stem, offer.map(Offer::media_type))
    };
    assert_eq!(read("work/1.ttl"), ("work/1", Some("text/turtle")));
    assert_eq!(read("record/a/b.c.jsonld"), ("record/a/b.c", Some("application/ld+json")));
    assert_eq!(read("record/a/b.pdf"), ("record/a/b.pdf", None));
    assert_eq!(read("work/.ttl"), ("work/.ttl", None));
    assert_eq!(read("work/1"), ("work/1", None));
}
