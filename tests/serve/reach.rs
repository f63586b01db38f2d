//! Where it listens, by which names it is asked, who may read, and who may speak for whom.

use super::support::server::{Server, token};
use super::support::{BASE, Desk};

#[test]
fn a_name_of_this_machine_is_an_address() {
    let desk = Desk::new();
    let server = Server::start_on(&desk, "localhost:0", &[]);
    server.get("/health", &[]).is(200);
    let ran = desk.run("pinakes serve --bind nowhere").exits(2);
    assert!(ran.complaint().contains("`localhost:7878`"), "{}", ran.complaint());
}

#[test]
fn a_taken_port_proposes_another() {
    let desk = Desk::new();
    let server = Server::start(&desk, &[]);
    let taken = server.authority();
    let ran = desk.run(&format!("pinakes serve --bind {taken}")).exits(2);
    let said = ran.complaint();
    assert!(said.contains(&format!("`{taken}` is taken")) && said.contains("`--bind 127.0.0.1:"), "{said}");
    let admin = desk.run(&format!("pinakes serve --bind 127.0.0.1:0 --admin-bind {taken}")).exits(2);
    assert!(admin.complaint().contains("`--admin-bind 127.0.0.1:"), "{}", admin.complaint());
}

#[test]
fn a_token_is_for_a_source_that_there_is() {
    let desk = Desk::new();
    let create = |source: &str| desk.run(&format!("pinakes token create --role writer --source {source}"));
    assert!(create("loc").exits(2).complaint().contains("`pinakes source add`"));
    desk.run("pinakes source add --from loc").ok();
    desk.write("one.csv", "id,title\n1,Walden\n");
    desk.run("pinakes import --quiet --source bookshop one.csv").ok();
    for source in ["loc", "bookshop"] {
        create(source).ok();
    }
    let refused = create("bokshop").exits(2).complaint();
    assert!(
        refused.contains("there is no source `bokshop`; there are bookshop, loc; did you mean `bookshop`?"),
        "{refused}"
    );
    assert!(create("nosuch").exits(2).complaint().contains("there are bookshop, loc"));
    assert_eq!(desk.run("pinakes token list --json").ok().json().as_array().unwrap().len(), 2);
}

/// A page whose name was made to lead here, and a page elsewhere, read nothing.
#[test]
fn a_private_catalogue_is_read_by_its_own_names_alone() {
    let desk = Desk::new();
    let admin = token(&desk, "--role admin");
    let bearer = format!("Bearer {admin}");
    let server = Server::start(&desk, &["--host", "books.example"]);
    let ask = "/sparql?query=ASK%20%7B%7D";
    for path in [ask, "/", "/metrics", "/health", "/api/status"] {
        let refused = server.get(path, &[("Host", "evil.example")]).is(421);
        assert!(refused.text().contains("`--host evil.example`"), "{}", refused.text());
    }
    let backup = [("Host", "evil.example"), ("Authorization", bearer.as_str())];
    server.ask("POST", "/admin/backup", &backup, b"").is(421);
    for host in ["localhost", "catalogue.example", "books.example:8080"] {
        server.get(ask, &[("Host", host)]).is(200);
    }
    let elsewhere = server.get(ask, &[("Origin", "https://evil.example")]).is(200);
    assert!(!elsewhere.head.to_lowercase().contains("access-control"), "{}", elsewhere.head);
    let server = Server::start(&desk, &["--public"]);
    let shown = server.get(ask, &[("Host", "any.example"), ("Origin", "https://yasgui.example")]).is(200);
    assert_eq!(shown.header("access-control-allow-origin"), Some("*"));
    for option in ["--host https://books.example/", "--cors books.example"] {
        let ran = desk.run(&format!("pinakes serve {option}")).exits(2);
        assert!(ran.complaint().contains("like `"), "{}", ran.complaint());
    }
}

/// What one source says of others shows on its own pages alone, and leads nobody away.
#[test]
fn one_source_does_not_speak_for_the_others() {
    let desk = Desk::new();
    desk.write("good.csv", "id,title,author\n1,Walden,Thoreau\n");
    desk.run("pinakes import --quiet --source good good.csv").ok();
    desk.write(
        "evil.ttl",
        format!(
            "@prefix dcterms: <http://purl.org/dc/terms/> .
             @prefix bf: <http://id.loc.gov/ontologies/bibframe/> .
             @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
             <{BASE}x> dcterms:isReplacedBy <https://evil.example/> .
             <{BASE}work/known> dcterms:isReplacedBy <{BASE}/evil.example/> .
             bf:title rdfs:label \"HACKED\" . bf:Instance rdfs:label \"HACKED\" .
             <{BASE}record/good/1> rdfs:label \"HACKED\" .
             <http://o.example/r> a bf:Instance ; bf:title [ a bf:Title ; bf:mainTitle \"T\" ] ;
                 rdfs:seeAlso <{BASE}/evil.example/> ; dcterms:relation <{BASE}x>, <{BASE}work/known> .\n"
        ),
    );
    desk.run("pinakes import --quiet --source evil evil.ttl").ok();
    let html = [("Accept", "text/html")];
    let server = Server::start(&desk, &[]);
    for merged in [false, true] {
        if merged {
            desk.run("pinakes resolve --quiet").ok();
        }
        for path in ["/x", "/work/known"] {
            let answer = server.get(path, &html);
            assert!(answer.status != 301 && answer.header("location").is_none(), "{path}: {}", answer.head);
        }
        let page = server.get("/record/good/1", &html).is(200).text();
        assert!(page.contains("Walden") && !page.contains("HACKED"), "{page}");
        let found = server.query("SELECT DISTINCT ?g { GRAPH ?g { ?s bf:mainTitle \"T\" } }");
        let record = found["results"]["bindings"][0]["g"]["value"].as_str().unwrap();
        let page = server.get(&format!("/{}", record.strip_prefix(BASE).unwrap()), &html).is(200).text();
        assert!(page.contains("evil.example") && !page.contains("href=\"//"), "{page}");
    }
}

/// Before anything is merged, the union of all graphs stands for the catalogue; what the program says of
/// a source is not drowned in it.
#[test]
fn no_record_describes_a_source() {
    let desk = Desk::new();
    desk.run("pinakes source add --from loc").ok();
    desk.write(
        "evil.ttl",
        format!(
            "@prefix bf: <http://id.loc.gov/ontologies/bibframe/> .
             @prefix dcterms: <http://purl.org/dc/terms/> .
             @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
             <http://o.example/r> a bf:Instance ; bf:title [ a bf:Title ; bf:mainTitle \"T\" ] ; bf:source <{BASE}source/loc> .
             <{BASE}source/loc> a bf:Source ; rdfs:label \"AAA HACKED\" ; dcterms:title \"AAA HACKED\" .\n"
        ),
    );
    desk.run("pinakes import --quiet --source evil evil.ttl").ok();
    let server = Server::start(&desk, &[]);
    let claimed =
        server.query(&format!("ASK {{ GRAPH ?g {{ <{BASE}source/loc> rdfs:label \"AAA HACKED\" }} }}"));
    assert_eq!(claimed["boolean"], true, "the record claims nothing");
    for merged in [false, true] {
        if merged {
            desk.run("pinakes resolve --quiet").ok();
        }
        for accept in ["text/html", "text/turtle"] {
            let page = server.get("/source/loc", &[("Accept", accept)]).is(200).text();
            // Whatever leads here may have a name of its own.
            let said = page.split("What leads here").next().unwrap();
            assert!(said.contains("Library of Congress") && !said.contains("HACKED"), "{merged}: {page}");
        }
    }
}
