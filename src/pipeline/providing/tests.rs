//! The catalogue as a harvester sees it.

use super::*;
use crate::pipeline::holdings::forget;
use crate::pipeline::holdings::tests::{Library, rebuilt};
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
    now: Datestamp,
}

/// When the tests take place, unless they say otherwise: after everything that is imported.
const NOW: &str = "2026-01-02T00:00:00Z";

impl<'a> Asking<'a> {
    fn new(library: &'a Library, page: usize) -> Self {
        Self::at(library, page, NOW)
    }

    fn at(library: &'a Library, page: usize, now: &str) -> Self {
        let identity = Identity::of(&library.session.home);
        let concordances = Arc::clone(library.session.concordances());
        Self { library, identity, concordances, page, now: Datestamp::parse(now).unwrap() }
    }

    /// A server that has just been started.
    fn desk(&self) -> Desk<'_> {
        let home = &self.library.session.home;
        let mut desk = Desk::new(&home.directory, &home.graphs, &self.identity, &self.concordances);
        desk.page = self.page;
        desk
    }

    /// An answer, checked against the protocol's schema.
    fn one(&self, request: &str) -> Node {
        self.of(&mut self.desk(), request)
    }

    fn of(&self, desk: &mut Desk<'_>, request: &str) -> Node {
        let (now, catalogue) = desk.look(&|| self.now, &|| Ok(&self.library.session.catalogue)).unwrap();
        let answer = desk.answer(catalogue.backend(), now, request).unwrap();
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
    assert_eq!(response_date(&answer), NOW);
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

/// Each record with its datestamp, and whether it is deleted.
fn datestamps(headers: &[Node]) -> Vec<(String, String)> {
    let id =
        |header: &Node| header.one("identifier").text.trim_start_matches("oai:catalogue.example:").to_owned();
    headers.iter().map(|header| (id(header), header.one("datestamp").text.clone())).collect()
}

/// Who comes back with the time of an answer gets what has come since, all of it and nothing else,
/// although it was archived long before that answer.
#[test]
fn an_incremental_harvest_gets_what_is_new() {
    let mut library = library();
    let told = "2026-01-01T13:00:00Z";
    assert_eq!(response_date(&Asking::at(&library, 7, told).one("verb=Identify")), told);
    let since = format!("metadataPrefix=marc21&from={told}");
    assert_eq!(Asking::at(&library, 7, told).error(&format!("verb=ListRecords&{since}")), "noRecordsMatch");
    library.import("shop", "2026-01-01T09:00:00Z", &[("b 3/é&<", "nam", "Changed"), ("new", "nam", "New")]);
    library.import("cinema", "2026-01-01T09:00:00Z", &[("v1", "dgm", "Metropolis")]);
    let later = "2026-01-01T14:00:00Z";
    let asking = Asking::at(&library, 7, later);
    let mut news = asking.list("ListRecords", &since);
    news.sort_by_key(|record| record.one("header").one("identifier").text.clone());
    let expected = ["cinema/v1", "shop/b%203/%C3%A9%26%3C", "shop/new"];
    assert_eq!(identifiers(&news), expected.map(|id| format!("oai:catalogue.example:{id}")));
    assert_eq!(news[0].one("header").attribute("status"), Some("deleted"));
    assert_eq!(
        asking.error(&format!("verb=ListRecords&metadataPrefix=oai_dc&from={later}")),
        "noRecordsMatch"
    );
    assert_eq!(asking.list("ListIdentifiers", "metadataPrefix=oai_dc").len(), 24);
}

/// Steps that follow each other quickly are ahead of the clock in the log. What was given is not given
/// again, even to who comes back in the same second.
#[test]
fn what_was_given_is_not_given_again() {
    let mut library = Library::new();
    for id in ["b1", "b2", "b3"] {
        library.import("shop", "2026-01-01T10:00:00Z", &[(id, "nam", "Walden")]);
    }
    let now = "2026-01-01T10:00:00Z";
    let asking = Asking::at(&library, 7, now);
    let given = datestamps(&asking.list("ListIdentifiers", "metadataPrefix=oai_dc"));
    let expected = ["b1", "b2", "b3"].map(|id| (format!("shop/{id}"), "2026-01-01T09:59:59Z".to_owned()));
    assert_eq!(given, expected);
    assert_eq!(
        asking.error(&format!("verb=ListIdentifiers&metadataPrefix=oai_dc&from={now}")),
        "noRecordsMatch"
    );
    // Unless an answer without it was given in that second: then nobody knows who had it.
    library.import("shop", now, &[("b4", "nam", "Faust")]);
    let asking = Asking::at(&library, 7, now);
    for _ in 0..2 {
        let found = asking.list("ListIdentifiers", &format!("metadataPrefix=oai_dc&from={now}"));
        assert_eq!(datestamps(&found), [("shop/b4".to_owned(), now.to_owned())]);
    }
}

/// Two servers of one catalogue give one record one datestamp, and neither lets the other's harvesters
/// miss it.
#[test]
fn servers_know_what_the_others_told() {
    let mut library = Library::new();
    library.import("shop", "2026-01-01T10:00:00Z", &[("b1", "nam", "Walden")]);
    let identity = Identity::of(&library.session.home);
    let concordances = Arc::clone(library.session.concordances());
    let home = library.session.home.clone();
    let desk = || Desk::new(&home.directory, &home.graphs, &identity, &concordances);
    let (mut first, mut second) = (desk(), desk());
    let list = "verb=ListIdentifiers&metadataPrefix=oai_dc";
    Asking::at(&library, 7, "2026-01-01T11:00:00Z").of(&mut second, list);
    let told = "2026-01-01T12:00:00Z";
    Asking::at(&library, 7, told).of(&mut first, list);
    library.import("shop", "2026-01-01T11:30:00Z", &[("b2", "nam", "Faust")]);
    let asking = Asking::at(&library, 7, "2026-01-01T13:00:00Z");
    for desk in [&mut second, &mut first] {
        let found = asking.of(desk, &format!("{list}&from={told}"));
        let found: Vec<Node> = found.one("ListIdentifiers").all("header").cloned().collect();
        assert_eq!(datestamps(&found), [("shop/b2".to_owned(), told.to_owned())]);
    }
}

/// A clock that goes back makes harvesters come twice for something, and miss nothing.
#[test]
fn a_clock_that_goes_back_loses_nothing() {
    let mut library = Library::new();
    library.import("shop", "2026-01-01T10:00:00Z", &[("b1", "nam", "Walden")]);
    let ahead = "2026-01-01T12:00:00Z";
    assert_eq!(response_date(&Asking::at(&library, 7, ahead).one("verb=Identify")), ahead);
    library.import("shop", "2026-01-01T10:30:00Z", &[("b2", "nam", "Faust")]);
    let back = Asking::at(&library, 7, "2026-01-01T11:00:00Z");
    assert_eq!(response_date(&back.one("verb=Identify")), "2026-01-01T11:00:00Z");
    for from in [ahead, "2026-01-01T11:00:00Z"] {
        let found = back.list("ListIdentifiers", &format!("metadataPrefix=oai_dc&from={from}"));
        assert_eq!(datestamps(&found), [("shop/b2".to_owned(), ahead.to_owned())]);
    }
}

/// Where it is not known any more what harvesters have, they are given everything.
#[test]
fn what_is_not_known_counts_as_new() {
    let told = "2026-01-01T12:00:00Z";
    let later = "2026-01-01T13:00:00Z";
    let file = |library: &Library| library.directory().join("holdings.told");
    let since = |library: &Library| {
        let asking = Asking::at(library, 7, later);
        asking.list("ListIdentifiers", &format!("metadataPrefix=oai_dc&from={told}")).len()
    };
    let mut library = Library::new();
    library.import("shop", "2026-01-01T10:00:00Z", &[("b1", "nam", "Walden"), ("b2", "nam", "Faust")]);
    Asking::at(&library, 7, told).one("verb=Identify");
    std::fs::write(file(&library), "{\"told\":").unwrap();
    assert_eq!(since(&library), 2, "a damaged file");

    std::fs::remove_file(file(&library)).unwrap();
    Asking::at(&library, 7, told).one("verb=Identify");
    assert_eq!(since(&rebuilt(library)), 2, "records made anew, perhaps by other rules");
}

/// Asks for headers from a time on; nothing if there is no answer now.
fn headers_since(
    desk: &mut Desk<'_>,
    library: &Library,
    now: &str,
    from: &str,
) -> Option<Vec<(String, String)>> {
    let now = Datestamp::parse(now).unwrap();
    let (now, catalogue) = desk.look(&|| now, &|| Ok(&library.session.catalogue)).ok()?;
    let list = format!("verb=ListIdentifiers&metadataPrefix=oai_dc&from={from}");
    let answer = checked(&desk.answer(catalogue.backend(), now, &list).unwrap().xml);
    let headers: Vec<Node> =
        answer.all("ListIdentifiers").flat_map(|list| list.all("header").cloned()).collect();
    Some(datestamps(&headers))
}

/// A library with a record that was archived before an answer and published after it.
fn library_with_a_moved_record() -> Library {
    let mut library = Library::new();
    library.import("shop", "2026-01-01T10:00:00Z", &[("b1", "nam", "Walden")]);
    Asking::at(&library, 7, "2026-01-01T12:00:00Z").one("verb=Identify");
    library.import("shop", "2026-01-01T11:00:00Z", &[("b2", "nam", "Faust")]);
    library
}

/// A store, or a log, that is made anew under a server: who comes back with the time of any answer,
/// be it one that was given meanwhile, gets all records, from this server and from the next.
#[test]
fn a_running_server_knows_that_a_store_is_another_one() {
    type Change = fn(Library) -> Library;
    let changes: [(&str, Change); 3] = [
        ("a rebuild", rebuilt),
        ("a rebuild that nobody saw, and another", |library| rebuilt(rebuilt(library))),
        ("a log", |Library { folder, session }| {
            let home = session.home.clone();
            drop(session);
            std::fs::remove_file(path(&home.directory)).unwrap();
            Library { session: Session::write(home, &mut Unwatched).unwrap(), folder }
        }),
    ];
    for (name, change) in changes {
        let mut library = library_with_a_moved_record();
        let identity = Identity::of(&library.session.home);
        let concordances = Arc::clone(library.session.concordances());
        let home = library.session.home.clone();
        let new = || Desk::new(&home.directory, &home.graphs, &identity, &concordances);
        let mut desk = new();
        let before = headers_since(&mut desk, &library, "2026-01-01T13:00:00Z", "2026-01-01T12:00:00Z");
        assert_eq!(before.unwrap(), [("shop/b2".to_owned(), "2026-01-01T12:00:00Z".to_owned())]);
        library = change(library);
        let found = headers_since(&mut desk, &library, "2026-01-01T14:00:00Z", "2026-01-01T13:00:00Z");
        let expected = ["shop/b1", "shop/b2"].map(|id| (id.to_owned(), "2026-01-01T13:00:00Z".to_owned()));
        assert_eq!(found.unwrap(), expected, "{name}");
        let found = headers_since(&mut new(), &library, "2026-01-01T15:00:00Z", "2026-01-01T13:00:00Z");
        assert_eq!(found.unwrap(), expected, "{name}, after a restart");
    }
}

/// While a store is made anew its old snapshot is shown by who remembers what that holds; the log is
/// that of another store, and whoever would have to read it does not answer.
#[test]
fn a_rebuild_under_way_shows_what_was_there_or_nothing() {
    let library = library_with_a_moved_record();
    let identity = Identity::of(&library.session.home);
    let concordances = Arc::clone(library.session.concordances());
    let home = library.session.home.clone();
    let new = || Desk::new(&home.directory, &home.graphs, &identity, &concordances);
    let mut desk = new();
    let epoch = "1970-01-01T00:00:00Z";
    let before = headers_since(&mut desk, &library, "2026-01-01T13:00:00Z", epoch).unwrap();
    assert_eq!(before.len(), 2);
    forget(&home.directory).unwrap();
    let meanwhile = headers_since(&mut desk, &library, "2026-01-01T14:00:00Z", epoch);
    assert_eq!(meanwhile, Some(before));
    assert_eq!(headers_since(&mut new(), &library, "2026-01-01T14:30:00Z", epoch), None);
    let library = rebuilt(library);
    for (mut desk, now) in [(desk, "2026-01-01T15:00:00Z"), (new(), "2026-01-01T16:00:00Z")] {
        let found = headers_since(&mut desk, &library, now, "2026-01-01T14:00:00Z").unwrap();
        let expected = ["shop/b1", "shop/b2"].map(|id| (id.to_owned(), "2026-01-01T14:00:00Z".to_owned()));
        assert_eq!(found, expected);
    }
}

/// A full disk: an answer that nobody could remember is not given, and what was to be told with it is
/// told when there is room.
#[test]
fn an_answer_that_cannot_be_kept_is_not_given() {
    let library = library_with_a_moved_record();
    let identity = Identity::of(&library.session.home);
    let concordances = Arc::clone(library.session.concordances());
    let home = library.session.home.clone();
    let new = || Desk::new(&home.directory, &home.graphs, &identity, &concordances);
    let mut desk = new();
    let told = "2026-01-01T12:00:00Z";
    let obstacle = home.directory.join("holdings.told.new");
    std::fs::create_dir(&obstacle).unwrap();
    for now in ["2026-01-01T13:00:00Z", "2026-01-01T13:00:01Z"] {
        assert_eq!(headers_since(&mut desk, &library, now, told), None);
    }
    std::fs::remove_dir(&obstacle).unwrap();
    for (mut desk, now) in [(desk, "2026-01-01T14:00:00Z"), (new(), "2026-01-01T15:00:00Z")] {
        let found = headers_since(&mut desk, &library, now, told);
        assert_eq!(found.unwrap(), [("shop/b2".to_owned(), told.to_owned())]);
    }
}

/// What a server holds in memory has the datestamps that the file says, also when the file is lost.
#[test]
fn a_running_server_follows_what_is_kept() {
    let library = library_with_a_moved_record();
    let identity = Identity::of(&library.session.home);
    let concordances = Arc::clone(library.session.concordances());
    let home = library.session.home.clone();
    let new = || Desk::new(&home.directory, &home.graphs, &identity, &concordances);
    let (mut desk, epoch) = (new(), "1970-01-01T00:00:00Z");
    assert_eq!(headers_since(&mut desk, &library, "2026-01-01T13:00:00Z", epoch).unwrap().len(), 2);
    std::fs::write(home.directory.join("holdings.told"), "{\"told\":").unwrap();
    let found = headers_since(&mut desk, &library, "2026-01-01T14:00:00Z", "2026-01-01T13:00:00Z").unwrap();
    assert_eq!(found.len(), 2);
    let again = headers_since(&mut new(), &library, "2026-01-01T15:00:00Z", "2026-01-01T13:00:00Z");
    assert_eq!(again, Some(found));
}

/// The file grows with what had to be moved, not with what was shown.
#[test]
fn what_was_told_takes_little_room() {
    let mut library = Library::new();
    for minute in 10..40 {
        library.import(
            "shop",
            &format!("2026-01-01T10:{minute}:00Z"),
            &[(&format!("b{minute}"), "nam", "Walden")],
        );
        Asking::at(&library, 7, &format!("2026-01-01T10:{minute}:30Z")).one("verb=Identify");
    }
    let kept = std::fs::read_to_string(library.directory().join("holdings.told")).unwrap();
    assert_eq!(
        kept,
        "{\"told\":\"2026-01-01T10:39:30Z\",\"shown\":[{\"up_to\":\"2026-01-01T10:39:00Z\"}]}\n"
    );
}

#[test]
fn nothing_is_read_for_a_harvester_that_has_gone() {
    let library = library();
    let Session { home, catalogue, .. } = &library.session;
    let identity = Identity::of(home);
    let mut desk = Desk::new(&home.directory, &home.graphs, &identity, library.session.concordances());
    let now = Datestamp::parse(NOW).unwrap();
    desk.look(&|| now, &|| Ok(catalogue)).unwrap();
    let request = "verb=ListRecords&metadataPrefix=oai_dc";
    let effort = Effort::unbounded();
    let all = Bounded::new(catalogue, &effort, MOST_READ);
    assert_eq!(desk.answer(&all, now, request).unwrap().status, 200);
    assert!(all.read() > 100);
    // Some records are written, and then there is no leave for more.
    let some = Bounded::new(catalogue, &effort, all.read() / 2);
    assert_eq!(desk.answer(&some, now, request).unwrap().status, 503);
    drop(effort.waiter());
    let none = Bounded::new(catalogue, &effort, MOST_READ);
    assert_eq!(desk.answer(&none, now, request).unwrap().status, 503);
    assert_eq!(none.read(), 0);
}

/// A thread answers for a server, and goes when the server goes.
#[test]
fn a_server_gets_answers() {
    let library = library();
    let Library { session, folder } = library;
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (home, concordances) = (session.home.clone(), Arc::clone(session.concordances()));
    let Session { catalogue, .. } = session;
    let catalogue = Arc::new(catalogue);
    let newest = {
        let catalogue = Arc::clone(&catalogue);
        move || Ok(Arc::clone(&catalogue))
    };
    let providing = Providing::new(&home, concordances, newest).unwrap();
    for (request, expected) in [
        ("verb=Identify", "<repositoryName>"),
        ("verb=ListRecords&metadataPrefix=marc21", "Metropolis"),
        ("verb=nonsense", "badVerb"),
    ] {
        let answer = runtime.block_on(providing.answer(request.to_owned()));
        assert_eq!(answer.status, 200);
        assert!(answer.xml.contains(expected), "{request}: {}", answer.xml);
    }
    drop(providing);
    drop(folder);
}
