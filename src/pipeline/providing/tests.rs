//! The catalogue as a harvester sees it.

use super::*;
use crate::pipeline::holdings::tests::Library;
use crate::pipeline::{Session, Unwatched, withdraw_source};
use crate::publish::oai::tests::{Node, checked};

/// Twenty books and three films, two of which are withdrawn; some names and titles are hostile.
fn library() -> Library {
    let mut library = Library::new();
    let books: Vec<(String, String)> = (0..20)
        .map(|number| (format!("b {number}/é&<"), format!("Title {number} & <more>, Толстой")))
        .collect();
    let books: Vec<(&str, &str, &str)> =
        books.iter().map(|(id, title)| (id.as_str(), "nam", title.as_str())).collect();
    library.import("shop", "2026-01-01T10:00:00Z", &books);
    let films = [("v1", "ngm", "Metropolis"), ("v2", "ngm", "Nosferatu"), ("v3", "ngm", "M")];
    library.import("cinema", "2026-01-01T11:00:00Z", &films);
    library.import("cinema", "2026-01-01T12:00:00Z", &[("v2", "dgm", "Nosferatu"), ("v3", "dgm", "M")]);
    library
}

/// Asks a catalogue, with pages of a size.
struct Asking<'a> {
    library: &'a Library,
    identity: Identity,
    concordances: Arc<Concordances>,
    page: usize,
}

impl<'a> Asking<'a> {
    fn new(library: &'a Library, page: usize) -> Self {
        let identity = Identity::of(&library.session.home);
        Self { library, identity, concordances: Arc::clone(library.session.concordances()), page }
    }

    /// An answer, checked against the protocol's schema.
    fn one(&self, request: &str) -> Node {
        let Session { home, catalogue, .. } = &self.library.session;
        let mut desk = Desk::new(&home.directory, &home.graphs, &self.identity, &self.concordances);
        desk.page = self.page;
        let answer = desk.answer(catalogue.backend(), request).unwrap();
        assert_eq!((answer.status, answer.retry_after), (200, None));
        checked(&answer.xml)
    }

    /// A list to its end.
    fn list(&self, verb: &str, arguments: &str) -> Vec<Node> {
        let mut page = self.one(&format!("verb={verb}&{arguments}"));
        let mut items = Vec::new();
        loop {
            let list = page.one(verb).clone();
            let token = list.all("resumptionToken").next().map(|token| token.text.clone());
            items.extend(list.children.into_iter().filter(|item| item.name != "resumptionToken"));
            match token.filter(|token| !token.is_empty()) {
                Some(token) => page = self.one(&format!("verb={verb}&resumptionToken={token}")),
                None => return items,
            }
        }
    }

    fn error(&self, request: &str) -> String {
        self.one(request).one("error").attribute("code").unwrap().to_owned()
    }
}

fn identifiers(headers: &[Node]) -> Vec<String> {
    let header = |node: &Node| if node.name == "record" { node.one("header").clone() } else { node.clone() };
    headers.iter().map(|node| header(node).one("identifier").text.clone()).collect()
}

fn response_date(answer: &Node) -> String {
    answer.one("responseDate").text.clone()
}

#[test]
fn a_repository_says_who_it_is() {
    let library = library();
    let asking = Asking::new(&library, 7);
    let answer = asking.one("verb=Identify");
    let identify = answer.one("Identify");
    assert_eq!(identify.one("baseURL").text, "https://catalogue.example/oai");
    assert_eq!(identify.one("repositoryName").text, "The catalogue https://catalogue.example/");
    assert_eq!(identify.one("adminEmail").text, "postmaster@catalogue.example");
    assert_eq!(identify.one("earliestDatestamp").text, "2026-01-01T10:00:00Z");
    assert_eq!(identify.one("deletedRecord").text, "persistent");
    assert_eq!(response_date(&answer), "2026-01-01T12:00:01Z");
}

/// An empty catalogue, and one on a machine without a name, are repositories too.
#[test]
fn an_empty_catalogue_is_a_repository() {
    let mut library = Library::new();
    library.session.home.graphs = Graphs::new("http://localhost:7878/").unwrap();
    library.session.home.settings.oai.name = Some("Mine".to_owned());
    let asking = Asking::new(&library, 7);
    let answer = asking.one("verb=Identify");
    assert_eq!(answer.one("Identify").one("adminEmail").text, "postmaster@localhost.invalid");
    assert_eq!(answer.one("Identify").one("repositoryName").text, "Mine");
    assert_eq!(asking.error("verb=ListRecords&metadataPrefix=oai_dc"), "noRecordsMatch");
    assert_eq!(asking.one("verb=ListSets").one("ListSets").children.len(), 2);
}

/// S0.2: a list to its end is what the catalogue holds, in every format.
#[test]
fn s0_2_a_list_gives_everything_once() {
    let library = library();
    let asking = Asking::new(&library, 7);
    let headers = asking.list("ListIdentifiers", "metadataPrefix=oai_dc");
    let held = identifiers(&headers);
    assert_eq!(held.len(), 23);
    assert!(held.contains(&"oai:catalogue.example:cinema/v1".to_owned()), "{held:?}");
    let deleted = headers.iter().filter(|header| header.attribute("status") == Some("deleted")).count();
    assert_eq!(deleted, 2);
    // Prefix, the root of its records, and a word that must come along.
    let formats = [
        ("oai_dc", "oai_dc:dc", "http://www.openarchives.org/OAI/2.0/oai_dc/"),
        ("marc21", "record", "http://www.loc.gov/MARC21/slim"),
        ("bibframe", "rdf:RDF", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ];
    for (prefix, root, namespace) in formats {
        let records = asking.list("ListRecords", &format!("metadataPrefix={prefix}"));
        assert_eq!(identifiers(&records), held, "{prefix}");
        for record in &records {
            if record.one("header").attribute("status") == Some("deleted") {
                assert_eq!(record.all("metadata").count(), 0);
                continue;
            }
            let metadata = record.one("metadata").one(root);
            assert!(metadata.attributes.iter().any(|(_, value)| value == namespace), "{metadata:?}");
        }
        assert!(format!("{records:?}").contains("Title 19 & <more>, Толстой"), "{prefix}");
        let one = asking.one(&format!(
            "verb=GetRecord&metadataPrefix={prefix}&identifier=oai:catalogue.example:cinema/v1"
        ));
        assert!(format!("{one:?}").contains("Metropolis"));
    }
}

#[test]
fn sets_are_sources_and_content_types() {
    let library = Library::new();
    let source = "name = \"The <book> shop\"\nwebsite = \"https://shop.example\"\ntechnique = \"file\"\n\
                  [file]\npaths = [\"x.mrc\"]\n";
    std::fs::create_dir_all(library.directory().join("sources")).unwrap();
    std::fs::write(library.directory().join("sources/shop.toml"), source).unwrap();
    let mut library = library;
    assert!(crate::pipeline::mirror_sources(&library.session).unwrap());
    library.import("shop", "2026-01-01T10:00:00Z", &[("b1", "nam", "Walden"), ("v1", "ngm", "M")]);
    library.import("cinema", "2026-01-01T11:00:00Z", &[("v2", "ngm", "Nosferatu")]);
    withdraw_source(&mut library.session, "cinema", "2026-01-01T12:00:00Z", &mut Unwatched).unwrap();
    let asking = Asking::new(&library, 7);
    let answer = asking.one("verb=ListSets");
    let sets: Vec<(String, String)> = answer
        .one("ListSets")
        .all("set")
        .map(|set| (set.one("setSpec").text.clone(), set.one("setName").text.clone()))
        .collect();
    let expected = [
        ("source", "Sources"),
        ("source:cinema", "cinema"),
        ("source:shop", "The <book> shop"),
        ("type", "Content types"),
        ("type:book", "book"),
        ("type:film", "film and video"),
    ];
    assert_eq!(sets, expected.map(|(spec, name)| (spec.to_owned(), name.to_owned())));
    let of_set =
        |set: &str| identifiers(&asking.list("ListIdentifiers", &format!("metadataPrefix=oai_dc&set={set}")));
    // A withdrawn record stays in its sets.
    assert_eq!(of_set("type:film"), ["oai:catalogue.example:shop/v1", "oai:catalogue.example:cinema/v2"]);
    assert_eq!(of_set("source").len(), 3);
    assert_eq!(asking.error("verb=ListIdentifiers&metadataPrefix=oai_dc&set=type:map"), "noRecordsMatch");
}

/// Who comes back with the time it was told gets what is new since, all of it and nothing else,
/// whatever the clock of whoever imported it says.
#[test]
fn an_incremental_harvest_gets_what_is_new() {
    let mut library = library();
    let told = response_date(&Asking::new(&library, 7).one("verb=Identify"));
    let since = format!("metadataPrefix=marc21&from={told}");
    assert_eq!(Asking::new(&library, 7).error(&format!("verb=ListRecords&{since}")), "noRecordsMatch");
    library.import("shop", "2026-01-01T09:00:00Z", &[("b 3/é&<", "nam", "Changed"), ("new", "nam", "New")]);
    library.import("cinema", "2026-01-01T09:00:00Z", &[("v1", "dgm", "Metropolis")]);
    let asking = Asking::new(&library, 7);
    let news = asking.list("ListRecords", &since);
    let expected = ["shop/b%203/%C3%A9%26%3C", "shop/new", "cinema/v1"];
    assert_eq!(identifiers(&news), expected.map(|id| format!("oai:catalogue.example:{id}")));
    assert_eq!(news[2].one("header").attribute("status"), Some("deleted"));
    let told = response_date(&asking.one("verb=Identify"));
    assert_eq!(
        asking.error(&format!("verb=ListRecords&metadataPrefix=oai_dc&from={told}")),
        "noRecordsMatch"
    );
    assert_eq!(asking.list("ListIdentifiers", "metadataPrefix=oai_dc").len(), 24);
}

/// A thread answers for a server, and goes when the server goes.
#[test]
fn a_server_gets_answers() {
    let library = library();
    let Library { session, folder } = library;
    let providing = Providing::new(&session.home, Arc::clone(session.concordances())).unwrap();
    let Session { catalogue, .. } = session;
    let catalogue = Arc::new(catalogue);
    for (request, expected) in [
        ("verb=Identify", "<repositoryName>"),
        ("verb=ListRecords&metadataPrefix=marc21", "Metropolis"),
        ("verb=nonsense", "badVerb"),
    ] {
        let answer = providing.answer(Arc::clone(&catalogue), request.to_owned());
        assert_eq!(answer.status, 200);
        assert!(answer.xml.contains(expected), "{request}: {}", answer.xml);
    }
    drop(providing);
    drop(folder);
}
