//! What programs of others read in what we publish: bibtexparser, rispy, citeproc-py, feedparser.
//!
//! Each check makes hostile texts by a fixed rule, writes them, and has a Python script under
//! `tests/peers` compare what the foreign parser finds with what was meant.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use pinakes::publish::citation::{Citation, Contributor, Kind, Name, Role, bibtex, csl_json, ris};
use pinakes::publish::feed::{Category, Entry, Feed, atom};
use pinakes::publish::oai::Datestamp;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use support::{project, venv};

/// Pieces that some format gives a meaning of its own.
const PIECES: &[&str] = &[
    "{",
    "}",
    "{{",
    "}}",
    "\\",
    "\\end{document}",
    "$x$",
    "%",
    "# ",
    "_",
    "~",
    "^",
    "&",
    "&amp;",
    "<b>",
    "]]>",
    "\"",
    "''",
    "`",
    "@book{x,",
    "@",
    "=",
    ",",
    ", ",
    ";",
    " and ",
    " AND ",
    "\n",
    "\r\nTY  - JOUR\r\n",
    "\nER  - \n",
    "TY  - ",
    "\t",
    "\u{0}",
    "\u{1b}[31m",
    "\u{7f}",
    "\u{202e}",
    "\u{feff}",
    "\u{fffe}",
    "é",
    "e\u{301}",
    "Ærø",
    "Толстой",
    "中國",
    "𝄞",
    "العربية",
    "—",
    "word",
    "Two words",
    "  ",
    "1999",
    "|",
    "/",
    "null",
    "-",
    "\u{2028}",
];

/// A sequence of numbers without chance.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn text(&mut self) -> String {
        let count = self.below(7);
        (0..count).map(|_| PIECES[self.below(PIECES.len())]).collect()
    }

    /// A text, sometimes none at all.
    fn maybe(&mut self) -> Option<String> {
        let is_there = self.below(4) > 0;
        is_there.then(|| self.text())
    }

    fn contributor(&mut self) -> Contributor {
        let role = Role::ALL[self.below(Role::ALL.len())].1;
        let name = if self.below(3) > 0 {
            Name::Person { family: self.text(), given: self.text() }
        } else {
            Name::Literal(self.text())
        };
        Contributor { role, name }
    }

    fn citation(&mut self, number: usize) -> Citation {
        let dates = ["2004", "2004-05", "2004-05-06", "c2004", "", "19uu", "2004/2005"];
        let people = self.below(5);
        Citation {
            id: format!("https://catalogue.example/instance/{number}"),
            kind: Kind::ALL[self.below(Kind::ALL.len())].1,
            title: format!("T{}", self.text()),
            subtitle: self.maybe(),
            contributors: (0..people).map(|_| self.contributor()).collect(),
            container_title: self.maybe(),
            series: self.maybe(),
            edition: self.maybe(),
            volume: self.maybe(),
            issue: self.maybe(),
            pages: if self.below(2) == 0 { Some("12-34".to_owned()) } else { self.maybe() },
            publisher: self.maybe(),
            place: self.maybe(),
            date: Some(dates[self.below(dates.len())].to_owned()),
            isbn: self.maybe(),
            issn: self.maybe(),
            doi: self.maybe(),
            url: self.maybe(),
            language: self.maybe(),
            summary: self.maybe(),
            keywords: (0..self.below(4)).map(|_| self.text()).collect(),
        }
    }
}

/// A citation as the script reads it.
fn meant(citation: &Citation) -> Value {
    let person = |person: &Contributor| match &person.name {
        Name::Person { family, given } => {
            json!({ "role": person.role.name(), "family": family, "given": given })
        }
        Name::Literal(name) => json!({ "role": person.role.name(), "literal": name }),
    };
    json!({
        "id": citation.id, "kind": citation.kind.name(), "title": citation.title, "subtitle": citation.subtitle,
        "people": citation.contributors.iter().map(person).collect::<Vec<_>>(),
        "container": citation.container_title, "series": citation.series, "edition": citation.edition,
        "volume": citation.volume, "issue": citation.issue, "pages": citation.pages,
        "publisher": citation.publisher, "place": citation.place, "date": citation.date,
        "isbn": citation.isbn, "issn": citation.issn, "doi": citation.doi, "url": citation.url,
        "language": citation.language, "abstract": citation.summary, "keywords": citation.keywords,
    })
}

/// Runs a script of `tests/peers` over a folder and gives what it says.
fn read_by_peers(script: &str, folder: &Path) -> String {
    let run =
        Command::new(venv("python")).arg(project("tests/peers").join(script)).arg(folder).output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
    said.trim().to_owned()
}

#[test]
fn citations_are_read_as_they_were_meant() {
    let mut numbers = Numbers(0x5eed_1234_5678_9abc);
    let citations: Vec<Citation> = (0..400).map(|number| numbers.citation(number)).collect();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("list.bib", bibtex(&citations));
    write("list.ris", ris(&citations));
    write("list.json", csl_json(&citations));
    write("meant.json", Value::Array(citations.iter().map(meant).collect()).to_string());
    let said = read_by_peers("citations.py", folder.path());
    assert_eq!(said, "bibtex 400, ris 400, csl 400, rendered 400");
}

#[test]
fn feeds_are_read_as_they_were_meant() {
    let mut numbers = Numbers(0x5eed_feed_5678_9abc);
    let stamp = |seconds: usize| Datestamp::from_unix(1_600_000_000 + seconds as i64).unwrap();
    let mut entries = Vec::new();
    for number in 0..200 {
        entries.push(Entry {
            id: format!("https://catalogue.example/instance/{number}"),
            title: format!("T{}", numbers.text()),
            link: format!("https://catalogue.example/instance/{number}?a=1&b=\"{number}\""),
            updated: stamp(number * 1000 + 500),
            published: stamp(number * 1000),
            authors: (0..numbers.below(3)).map(|_| format!("A{}", numbers.text())).collect(),
            summary: numbers.maybe(),
            categories: (0..numbers.below(3))
                .map(|_| Category { term: format!("C{}", numbers.text()), label: numbers.maybe() })
                .collect(),
        });
    }
    let feed = Feed {
        id: "https://catalogue.example/feed".to_owned(),
        title: "New <entries> & more".to_owned(),
        updated: stamp(1_000_000),
        author: "Catalogue".to_owned(),
        own_link: "https://catalogue.example/feed?page=1&q=x".to_owned(),
        alternate: Some("https://catalogue.example/search?q=x".to_owned()),
        next: Some("https://catalogue.example/feed?page=2&q=x".to_owned()),
        entries,
    };
    let meant: Vec<Value> = feed
        .entries
        .iter()
        .map(|entry| {
            json!({
                "id": entry.id, "title": entry.title, "link": entry.link, "updated": entry.updated.to_string(),
                "published": entry.published.to_string(), "authors": entry.authors, "summary": entry.summary,
                "categories": entry.categories.iter().map(|one| json!([one.term, one.label])).collect::<Vec<_>>(),
            })
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("feed.xml"), atom(&feed)).unwrap();
    std::fs::write(folder.path().join("meant.json"), Value::Array(meant).to_string()).unwrap();
    assert_eq!(read_by_peers("feed.py", folder.path()), "200 entries");
}
