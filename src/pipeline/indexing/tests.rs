//! The index beside a catalogue that takes records in and resolves them.

use super::*;
use crate::catalogue::snapshot;
use crate::config::Home;
use crate::effort::Effort;
use crate::index::{Facet, Hit, Sort};
use crate::pipeline::{Reader, Request as Import, ResolveRequest, Shelves, Unwatched, import, resolve};
use crate::serve::Refusal;
use crate::serve::api::{Asked, CitationFormat, Library};
use std::collections::BTreeMap;
use std::sync::Arc;
use tempfile::TempDir;

const BOOKS: &str = "id,title,author,year,language,subject,isbn
1,Walden,\"Thoreau, Henry David\",1854,eng,Solitude,9780691096124
2,Война и мир,\"Толстой, Лев\",1869,rus,War,
3,Étude sur Walden,\"Müller, Jean\",1901,fre,Solitude,
";

struct Desk {
    directory: TempDir,
    session: Session,
}

impl Desk {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let home = Home::create(&directory.path().join("c"), "https://c.example/").unwrap();
        let session = Session::write(home, &mut Unwatched).unwrap();
        Self { directory, session }
    }

    fn import(&mut self, source: &str, text: &str, time: &str) {
        let file = self.directory.path().join(format!("{source}.csv"));
        std::fs::write(&file, text).unwrap();
        let request = Import {
            source: source.to_owned(),
            files: vec![file],
            time: time.to_owned(),
            ..Import::default()
        };
        import(&mut self.session, &request, &mut Unwatched).unwrap();
    }

    fn resolve(&mut self) {
        let request = ResolveRequest { time: "2026-01-03T00:00:00Z".to_owned(), ..ResolveRequest::default() };
        resolve(&mut self.session, &request, &mut Unwatched).unwrap();
    }

    fn home(&self) -> &Home {
        &self.session.home
    }

    fn hits(&self, text: &str, kind: &str) -> Vec<Hit> {
        let index = Index::open(&index_folder(&self.home().directory)).unwrap();
        let filters = vec![(Facet::Kind, kind.to_owned())];
        let request = Request { text, filters, limit: 100, sort: Sort::Oldest, ..Request::default() };
        index.search(&request).unwrap().hits
    }

    fn labels(&self, text: &str, kind: &str) -> Vec<String> {
        self.hits(text, kind).into_iter().map(|hit| hit.entry.label).collect()
    }

    /// All that is shown of all documents.
    fn all(&self) -> BTreeMap<String, Shown> {
        let kinds = ["hub", "work", "instance", "agent", "subject", "place", "record"];
        let hits = kinds.iter().flat_map(|kind| self.hits("", kind));
        hits.map(|hit| (hit.entry.iri.clone(), hit.entry)).collect()
    }
}

#[test]
fn records_stand_for_themselves_until_something_is_merged() {
    let mut desk = Desk::new();
    assert_eq!(index_status(&desk.session).unwrap().state, IndexState::Missing);
    desk.import("books", BOOKS, "2026-01-01T00:00:00Z");
    let indexed = rebuild_index(&desk.session, &mut Unwatched).unwrap();
    assert_eq!((indexed.documents, indexed.anew), (3, true));
    assert_eq!(index_status(&desk.session).unwrap().state, IndexState::Current);
    let found = desk.hits("walden creator:thoreau", "record");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].entry.iri, "https://c.example/record/books/1");
    assert_eq!(found[0].entry.years, [1854]);
    assert_eq!(found[0].entry.first_seen, 1_767_225_600);
    desk.resolve();
    assert!(desk.hits("walden", "record").is_empty());
    assert_eq!(desk.labels("walden", "instance"), ["Walden", "Étude sur Walden"]);
}

#[test]
fn what_resolving_changes_is_followed_as_if_the_index_were_made_anew() {
    let mut desk = Desk::new();
    desk.import("books", BOOKS, "2026-01-01T00:00:00Z");
    desk.resolve();
    let more = "id,title,author,year,language,subject,isbn
a,Walden,\"Thoreau, Henry David, 1817-1862\",1854,eng,Solitude,9780691096124
b,Crime,\"Достоевский\",1866,rus,Murder,
";
    desk.import("more", more, "2026-01-02T00:00:00Z");
    assert_eq!(index_status(&desk.session).unwrap().state, IndexState::Behind);
    desk.resolve();
    assert_eq!(index_status(&desk.session).unwrap().state, IndexState::Current);
    let followed = desk.all();
    assert!(followed.values().any(|shown| shown.label == "Crime"));
    rebuild_index(&desk.session, &mut Unwatched).unwrap();
    assert_eq!(desk.all(), followed);
    // A record that is gone takes its entry with it.
    let request = Import {
        source: "more".to_owned(),
        files: vec![desk.directory.path().join("more.csv")],
        replace: true,
        time: "2026-01-04T00:00:00Z".to_owned(),
        ..Import::default()
    };
    std::fs::write(&request.files[0], more.lines().take(2).collect::<Vec<_>>().join("\n")).unwrap();
    import(&mut desk.session, &request, &mut Unwatched).unwrap();
    desk.resolve();
    assert!(desk.labels("crime", "instance").is_empty());
    let followed = desk.all();
    rebuild_index(&desk.session, &mut Unwatched).unwrap();
    assert_eq!(desk.all(), followed);
}

#[test]
fn what_a_kill_left_to_follow_is_followed_by_the_next_run() {
    let mut desk = Desk::new();
    desk.import("books", BOOKS, "2026-01-01T00:00:00Z");
    desk.resolve();
    let before = desk.all();
    // The store was written and the index was not: an older one, with the marks still there.
    let entry = desk.hits("walden", "instance").remove(0).entry;
    let index = Index::open(&index_folder(&desk.home().directory)).unwrap();
    let mut writer = index.writer(BUDGET).unwrap();
    writer.remove(&entry.iri);
    writer.commit(1).unwrap();
    writer.finish().unwrap();
    assert_ne!(desk.all(), before);
    super::super::resolve::mark(desk.home(), &entry.iri).unwrap();
    assert_eq!(index_status(&desk.session).unwrap().waiting, 1);
    desk.resolve();
    assert_eq!(desk.all(), before);
    assert_eq!(index_status(&desk.session).unwrap().waiting, 0);
    // And one that cannot be read is made anew.
    std::fs::write(index_folder(&desk.home().directory).join("meta.json"), "{").unwrap();
    assert_eq!(index_status(&desk.session).unwrap().state, IndexState::Unusable);
    desk.resolve();
    assert_eq!(desk.all(), before);
}

#[test]
fn the_library_finds_describes_and_cites() {
    let mut desk = Desk::new();
    let effort = &Effort::unbounded();
    let shelves = Shelves::new(Arc::new(Reader::new(desk.home())));
    let asked = |text: &str| Asked { text: text.to_owned(), limit: 10, values: 10, ..Asked::default() };
    assert!(shelves.search(&asked("walden"), effort).is_err(), "nothing is indexed yet");
    desk.import("books", BOOKS, "2026-01-01T00:00:00Z");
    desk.resolve();
    snapshot::publish(desk.session.catalogue.backend(), &desk.home().directory, true).unwrap();
    let mut question = asked("etude muller");
    question.facets = vec!["language".to_owned()];
    let found = shelves.search(&question, effort).unwrap();
    assert_eq!((found.total, found.hits[0].label.as_str()), (1, "Étude sur Walden"));
    assert_eq!(found.facets["language"].values[0].count, 1);
    question.filters = vec![("kind".to_owned(), "any".to_owned())];
    assert!(shelves.search(&question, effort).unwrap().total > 1);
    let wrong = Asked { field: Some("colour".to_owned()), ..asked("x") };
    assert!(shelves.search(&wrong, effort).is_err());

    let suggested = shelves.suggest("толс", Some("name"), 5, effort).unwrap();
    assert_eq!(suggested.len(), 1, "{suggested:?}");
    let record = shelves.record("books", "2", effort).unwrap().unwrap();
    assert_eq!((record.kind.as_str(), record.records[0].id.as_str()), ("record", "2"));
    let instance = &record.entries[0];
    assert!(shelves.record("books", "9", effort).unwrap().is_none());

    let work = desk.hits("война", "work").remove(0).entry.iri;
    let found = shelves.work(work.rsplit('/').next().unwrap(), effort).unwrap().unwrap();
    assert_eq!(found.instances.iter().map(|one| &one.iri).collect::<Vec<_>>(), [instance]);
    assert!(shelves.work("0123456789abcdef", effort).unwrap().is_none());

    let (kind, id) = instance.strip_prefix("https://c.example/").unwrap().split_once('/').unwrap();
    for format in [CitationFormat::BibTex, CitationFormat::Ris, CitationFormat::CslJson] {
        let text = shelves.cite(kind, id, format, effort).unwrap().unwrap();
        assert!(text.contains("Война и мир"), "{text}");
        assert!(shelves.export(&asked("walden"), format, effort).unwrap().contains("Walden"));
    }
    assert!(shelves.cite("record", "books/2", CitationFormat::Ris, effort).unwrap().is_none());
    let feed = shelves.feed(&Asked { limit: 2, ..asked("") }, "x:own", "x:next", effort).unwrap();
    assert_eq!(feed.text.matches("<entry>").count(), 2);
    assert!(feed.text.contains("x:next") && feed.text.contains("2026-01-01T00:00:00Z"));
    let standing = shelves.standing(effort).unwrap();
    assert_eq!((standing.documents, standing.snapshot), (desk.all().len() as u64, Some(1)));

    // Whoever has hung up gets nothing, and nothing is read for them.
    drop(effort.waiter());
    let over = Err(Refusal::TimedOut);
    assert_eq!(shelves.search(&asked("walden"), effort).map(|_| ()), over);
    assert_eq!(shelves.suggest("толс", None, 5, effort).map(|_| ()), over);
    assert_eq!(shelves.record("books", "2", effort).map(|_| ()), over);
    assert_eq!(shelves.cite(kind, id, CitationFormat::Ris, effort).map(|_| ()), over);
    assert_eq!(shelves.feed(&asked(""), "", "", effort).map(|_| ()), over);
}

#[test]
fn the_parameters_of_the_api_are_the_facets_of_the_index() {
    let facets: Vec<&str> = Facet::ALL.iter().map(|facet| facet.as_str()).collect();
    assert_eq!(facets, crate::serve::api::FACETS);
}
