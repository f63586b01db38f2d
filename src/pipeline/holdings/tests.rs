//! The log as writers leave it and as a server reads it.

use super::*;
use crate::archive::{Entry, Kind};
use crate::config::Home;
use crate::pipeline::store_writer::{self, Pending};
use crate::pipeline::{Request, Session, Unwatched, import};
use crate::publish::oai::{Header, Selection as Wanted};
use std::io::Write;
use tempfile::TempDir;

/// A catalogue and files to import.
pub struct Library {
    pub folder: TempDir,
    pub session: Session,
}

impl Library {
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let home = Home::create(&folder.path().join("c"), "https://catalogue.example/").unwrap();
        Self { session: Session::write(home, &mut Unwatched).unwrap(), folder }
    }

    /// Imports records of which each is an id, the sixth to ninth letters of its leader and a title.
    pub fn import(&mut self, source: &str, time: &str, records: &[(&str, &str, &str)]) {
        let mut text = String::new();
        for (id, leader, title) in records {
            text.push_str(&format!(
                "=LDR  00000{leader}\\a2200000\\a\\4500\n=001  {id}\n=245  10$a{title}\n\n"
            ));
        }
        let file = self.folder.path().join("records.mrk");
        std::fs::write(&file, text).unwrap();
        let request = Request {
            source: source.to_owned(),
            files: vec![file],
            time: time.to_owned(),
            ..Request::default()
        };
        import(&mut self.session, &request, &mut Unwatched).unwrap();
    }

    pub fn directory(&self) -> &Path {
        &self.session.home.directory
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(path(self.directory())).unwrap()
    }

    pub fn step(&self) -> Option<Datestamp> {
        listed_up_to(self.session.catalogue.backend(), &self.session.home.graphs).unwrap()
    }

    /// All that a server with the newest snapshot holds.
    fn holdings(&self) -> Vec<Header> {
        let mut holdings = Holdings::new(path(self.directory()));
        holdings.show(self.step(), |time| time).unwrap();
        all(&holdings)
    }
}

fn all(holdings: &Holdings) -> Vec<Header> {
    let wanted =
        Wanted { from: None, until: None, set: None, prefix: String::new(), after: None, limit: usize::MAX };
    let page = holdings.page(&wanted);
    assert_eq!(page.total, Some(page.headers.len() as u64));
    page.headers
}

fn told(headers: &[Header]) -> Vec<String> {
    let line = |header: &Header| {
        let gone = if header.deleted { " gone" } else { "" };
        format!("{} {} {}{gone}", header.datestamp, header.id, header.sets.join(" "))
    };
    headers.iter().map(line).collect()
}

#[test]
fn what_the_store_takes_has_a_line_each() {
    let mut library = Library::new();
    assert_eq!(library.step(), None);
    assert!(library.holdings().is_empty());
    library.import("shop", "2026-01-01T10:00:00Z", &[("b1", "nam", "Walden"), ("v1", "ngm", "Metropolis")]);
    let expected = "\
{\"time\":\"2026-01-01T10:00:00Z\",\"source\":\"shop\",\"id\":\"b1\",\"type\":[\"book\"],\"model\":\"marc21\"}
{\"time\":\"2026-01-01T10:00:00Z\",\"source\":\"shop\",\"id\":\"v1\",\"type\":[\"film\"],\"model\":\"marc21\"}
";
    assert_eq!(library.log(), expected);
    // Nothing new, nothing told.
    library.import("shop", "2026-01-01T11:00:00Z", &[("b1", "nam", "Walden")]);
    assert_eq!(library.log(), expected);
    library.import("shop", "2026-01-01T12:00:00Z", &[("b1", "nam", "Walden; or, Life in the woods")]);
    library.import("shop", "2026-01-01T13:00:00Z", &[("v1", "dgm", "Metropolis")]);
    let expected = [
        "2026-01-01T12:00:00Z shop/b1 source:shop type:book",
        "2026-01-01T13:00:00Z shop/v1 source:shop type:film gone",
    ];
    assert_eq!(told(&library.holdings()), expected);
}

/// However clocks go, what comes later is listed later.
#[test]
fn times_never_go_back() {
    let mut library = Library::new();
    let times = ["2026-01-01T10:00:00Z", "2026-01-01T09:00:00Z", "2026-01-01T10:00:01Z", "not a time"];
    let mut last = None;
    for (number, time) in times.into_iter().enumerate() {
        library.import("shop", time, &[(&format!("b{number}"), "nam", "Walden")]);
        assert!(library.step() > last, "{time}");
        last = library.step();
    }
    let found: Vec<String> = library.holdings().iter().map(|header| header.datestamp.to_string()).collect();
    let expected = ["10:00:00", "10:00:01", "10:00:02", "10:00:03"];
    assert_eq!(found, expected.map(|time| format!("2026-01-01T{time}Z")));
}

/// What is in the log and not in the snapshot is not listed, and the state before it is.
#[test]
fn a_snapshot_shows_what_it_contains() {
    let mut library = Library::new();
    library.import("shop", "2026-01-01T10:00:00Z", &[("b1", "nam", "Walden"), ("b2", "nam", "Erewhon")]);
    let first = library.step();
    let mut holdings = Holdings::new(path(library.directory()));
    library.import("shop", "2026-01-01T11:00:00Z", &[("b1", "nam", "Walden again"), ("b3", "nam", "Faust")]);
    let second = library.step();
    for _ in 0..2 {
        holdings.show(first, |time| time).unwrap();
        let found = told(&all(&holdings));
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|line| line.starts_with("2026-01-01T10:00:00Z")), "{found:?}");
        holdings.show(second, |time| time).unwrap();
        assert_eq!(holdings.earliest(), first);
        let found = told(&all(&holdings));
        let ids: Vec<&str> = found.iter().filter_map(|line| line.split(' ').nth(1)).collect();
        assert_eq!(ids, ["shop/b2", "shop/b1", "shop/b3"]);
        // And back to an earlier one, as when a server starts to read in between.
    }
}

#[test]
fn a_torn_line_is_no_line() {
    let mut library = Library::new();
    library.import("shop", "2026-01-01T10:00:00Z", &[("b1", "nam", "Walden")]);
    let whole = library.holdings();
    let mut file = std::fs::File::options().append(true).open(path(library.directory())).unwrap();
    let torn = b"{\"time\":\"2026-01-01T10:00:00Z\",\"source\":\"shop\",\"id\":\"to";
    file.write_all(torn).unwrap();
    assert_eq!(library.holdings(), whole);
    let mut reader = Holdings::new(path(library.directory()));
    reader.show(library.step(), |time| time).unwrap();
    library.import("shop", "2026-01-01T10:00:00Z", &[("b2", "nam", "Erewhon")]);
    reader.show(library.step(), |time| time).unwrap();
    assert_eq!(all(&reader), library.holdings());
    assert_eq!(told(&library.holdings())[1], "2026-01-01T10:00:01Z shop/b2 source:shop type:book");
    // Nothing but damage, longer than what is looked at first.
    std::fs::write(path(library.directory()), vec![0; 200_000]).unwrap();
    assert!(library.holdings().is_empty());
    let last = library.step();
    library.import("shop", "2026-01-01T10:00:00Z", &[("b3", "nam", "Faust")]);
    assert_eq!(library.holdings().len(), 1);
    assert!(library.step() > last, "the store remembers what the log has lost");
}

/// A kill between the log and the store: the lines are there, and the store is where it was.
#[test]
fn a_step_that_never_was_is_not_shown() {
    let mut library = Library::new();
    library.import("shop", "2026-01-01T10:00:00Z", &[("b1", "nam", "Walden")]);
    let before = library.holdings();
    let mut news = News::default();
    let entry = Entry::new(Kind::Withdrawal, "shop", "b1", 1, "2026-01-01T11:00:00Z");
    news.withdrawn(&entry);
    let mut log = Log::open(library.directory(), &library.session.catalogue).unwrap();
    log.step(&library.session.home.graphs, news).unwrap();
    assert_eq!(library.holdings(), before);
    library.import("shop", "2026-01-01T10:30:00Z", &[("b1", "nam", "Walden again")]);
    assert_eq!(told(&library.holdings()), ["2026-01-01T11:00:01Z shop/b1 source:shop type:book"]);
}

/// A record that the rules see in another way has changed, and the archive is where it was.
#[test]
fn records_that_follow_rules_are_told_again() {
    let mut library = Library::new();
    library.import("shop", "2026-01-01T10:00:00Z", &[("b1", "nam", "Walden"), ("b2", "nam", "Faust")]);
    let session = &library.session;
    let version = session.archive.record("shop", "b1").unwrap().unwrap().current().copied().unwrap();
    let entry = session.archive.entry(version.sequence).unwrap().unwrap();
    let triples = session.triples(&entry).unwrap();
    let position = session.catalogue.position().unwrap();
    store_writer::run(&session.catalogue, &session.home.directory, |store| {
        let mut pending = Pending::at(position, false);
        pending.remapped(&session.home.graphs, &entry, triples);
        store.send(pending)
    })
    .unwrap();
    let expected = [
        "2026-01-01T10:00:00Z shop/b2 source:shop type:book",
        "2026-01-01T10:00:01Z shop/b1 source:shop type:book",
    ];
    assert_eq!(told(&library.holdings()), expected);
}

/// The log is derived: without it, and without the store, the archive tells the same.
#[test]
fn a_log_that_is_missing_is_written_again() {
    let mut library = Library::new();
    library.import("shop", "2026-01-01T10:00:00Z", &[("b1", "nam", "Walden"), ("v1", "ngm", "Metropolis")]);
    library.import("shop", "2026-01-01T11:00:00Z", &[("v1", "dgm", "Metropolis")]);
    library.import("club", "2026-01-01T12:00:00Z", &[("b1", "nam", "Faust")]);
    let expected = [
        "2026-01-01T10:00:00Z shop/b1 source:shop type:book",
        "2026-01-01T11:00:00Z shop/v1 source:shop type:film gone",
        "2026-01-01T12:00:00Z club/b1 source:club type:book",
    ];
    assert_eq!(told(&library.holdings()), expected);
    let before = library.step();
    std::fs::remove_file(path(library.directory())).unwrap();
    renew(&library.session).unwrap();
    assert!(library.step() > before, "for harvesters it is another store");
    assert_eq!(told(&library.holdings()), expected);
    assert_eq!(told(&rebuilt(library).holdings()), expected);
}

/// What a library is after its store was made again from the archive.
pub fn rebuilt(Library { folder, session }: Library) -> Library {
    let home = session.home.clone();
    drop(session);
    crate::pipeline::rebuild(home.clone(), &mut Unwatched).unwrap();
    Library { session: Session::write(home, &mut Unwatched).unwrap(), folder }
}

/// Two steps of one second, made anew as one: what comes next must not come before what harvesters
/// were told, and a server must see that the store is another one, however often it was made anew.
#[test]
fn a_rebuild_does_not_go_back() {
    let mut library = Library::new();
    for id in ["b1", "b2", "b3"] {
        library.import("shop", "2026-01-01T10:00:00Z", &[(id, "nam", "Walden")]);
    }
    let mut step = library.step();
    assert_eq!(step.unwrap().to_string(), "2026-01-01T10:00:02Z");
    for _ in 0..3 {
        library = rebuilt(library);
        assert!(library.step() > step);
        assert_eq!(library.holdings().len(), 3);
        step = library.step();
    }
    library.import("shop", "2026-01-01T10:00:00Z", &[("b4", "nam", "Walden")]);
    let last = library.holdings().pop().unwrap();
    assert_eq!(last.id, "shop/b4");
    assert!(Some(last.datestamp) > step);
}

/// A kill after the last record was written and before the store said that it is another one.
#[test]
fn a_rebuild_that_was_killed_does_not_go_back() {
    let mut library = Library::new();
    library.import("shop", "2026-01-01T10:00:00Z", &[("b1", "nam", "Walden")]);
    let step = library.step();
    let library = rebuilt(library);
    let Session { home, catalogue, .. } = &library.session;
    catalogue.backend().rewrite(vec![note(&home.graphs, step.unwrap())]).unwrap();
    assert_eq!(library.step(), step);
    let Library { folder, session } = library;
    let home = session.home.clone();
    drop(session);
    let library = Library { session: Session::write(home, &mut Unwatched).unwrap(), folder };
    assert!(library.step() > step);
}

#[test]
fn pages_are_pieces_of_the_list() {
    let mut library = Library::new();
    let books: Vec<String> = (0..10).map(|number| format!("b{number}")).collect();
    let books: Vec<_> = books.iter().map(|id| (id.as_str(), "nam", "Walden")).collect();
    library.import("shop", "2026-01-01T10:00:00Z", &books);
    library.import("club", "2026-01-01T11:00:00Z", &[("v1", "ngm", "Metropolis")]);
    let mut holdings = Holdings::new(path(library.directory()));
    holdings.show(library.step(), |time| time).unwrap();
    let wanted = |set: Option<&str>, from: Option<&str>, until: Option<&str>| Wanted {
        from: from.and_then(Datestamp::parse),
        until: until.and_then(Datestamp::parse),
        set: set.map(str::to_owned),
        prefix: String::new(),
        after: None,
        limit: 4,
    };
    let page = holdings.page(&wanted(Some("type:book"), None, None));
    assert_eq!((page.headers.len(), page.more, page.total), (4, true, Some(10)));
    for (set, total) in [("source", 11), ("source:club", 1), ("type:film", 1), ("type", 11), ("no", 0)] {
        assert_eq!(holdings.page(&wanted(Some(set), None, None)).total, Some(total), "{set}");
    }
    let late = holdings.page(&wanted(None, Some("2026-01-01T10:00:01Z"), None));
    assert_eq!((late.headers.len(), late.more, late.total), (1, false, None));
    let early = holdings.page(&wanted(Some("type:film"), None, Some("2026-01-01T10:59:59Z")));
    assert_eq!((early.headers.len(), early.more), (0, false));
    assert_eq!(holdings.sources_and_types().0.into_iter().collect::<Vec<_>>(), ["club", "shop"]);
    assert_eq!(holdings.sources_and_types().1.into_iter().collect::<Vec<_>>(), ["book", "film"]);
}
