//! What each of three catalogues has, and what they share.

use super::{resolve, rows};
use crate::support::{BASE, Desk};

struct Book {
    title: &'static str,
    author: &'static str,
    publisher: &'static str,
    place: &'static str,
    year: u16,
    pages: u16,
    /// The catalogues that have it: `n`orth, `s`outh and `w`est, as often as they have it.
    held: &'static str,
}

const fn book(
    title: &'static str,
    author: &'static str,
    publisher: &'static str,
    place: &'static str,
    year: u16,
    pages: u16,
    held: &'static str,
) -> Book {
    Book { title, author, publisher, place, year, pages, held }
}

/// No two catalogues have as much of their own, and no two pairs of them as much in common, so that no
/// cell of the matrix can stand for another.
const BOOKS: [Book; 15] = [
    book("Walden", "Thoreau, Henry David", "Ticknor and Fields", "Boston", 1854, 357, "nsw"),
    book("Erewhon", "Butler, Samuel", "Trübner", "London", 1872, 246, "ns"),
    book("Middlemarch", "Eliot, George", "Blackwood", "Edinburgh", 1871, 410, "ns"),
    book("Cranford", "Gaskell, Elizabeth", "Chapman and Hall", "London", 1853, 324, "ns"),
    book("Kidnapped", "Stevenson, Robert Louis", "Cassell", "London", 1886, 311, "nw"),
    book("Lavengro", "Borrow, George", "Murray", "London", 1851, 360, "sw"),
    book("Typee", "Melville, Herman", "Wiley and Putnam", "New York", 1846, 325, "sw"),
    book("Jessie Phillips", "Trollope, Frances", "Colburn", "London", 1843, 290, "n"),
    // One catalogue has this twice: two records, one entry.
    book("Romola", "Evans, Marian", "Smith", "London", 1863, 268, "nn"),
    book("Emma", "Austen, Jane", "Egerton", "London", 1816, 322, "s"),
    book("Kim", "Kipling, Rudyard", "Macmillan", "London", 1901, 413, "w"),
    book("Villette", "Brontë, Charlotte", "Elder", "London", 1853, 330, "w"),
    book("Germinal", "Zola, Émile", "Charpentier", "Paris", 1885, 591, "w"),
    book("Pan", "Hamsun, Knut", "Philipsen", "Copenhagen", 1894, 240, "w"),
    book("Oblomov", "Goncharov, Ivan", "Kozhanchikov", "Saint Petersburg", 1859, 400, "w"),
];

/// What is to be told of a source.
struct Share {
    source: &'static str,
    records: u64,
    entries: u64,
    only_here: u64,
    /// Its row of the matrix, in the order of the sources; with itself it shares nothing.
    shared: [Option<u64>; 3],
}

const EXPECTED: [Share; 3] = [
    Share { source: "north", records: 8, entries: 7, only_here: 2, shared: [None, Some(4), Some(2)] },
    Share { source: "south", records: 7, entries: 7, only_here: 1, shared: [Some(4), None, Some(3)] },
    Share { source: "west", records: 9, entries: 9, only_here: 5, shared: [Some(2), Some(3), None] },
];

/// In MARC 21.
fn mrk(id: &str, book: &Book) -> String {
    let Book { title, author, publisher, place, year, pages, .. } = book;
    format!(
        "=LDR  00000nam a2200000 i 4500\n=001  {id}\n\
         =008  990101s{year}\\\\\\\\xx\\\\\\\\\\\\\\\\\\\\\\\\000\\0\\eng\\d\n\
         =100  1\\$a{author},$eauthor.\n=245  10$a{title}.\n\
         =264  \\1$a{place} :$b{publisher},$c{year}.\n=300  \\\\$a{pages} pages\n\n"
    )
}

/// In MODS.
fn mods(id: &str, book: &Book) -> String {
    let Book { title, author, publisher, place, year, pages, .. } = book;
    format!(
        r#"<mods><titleInfo><title>{title}</title></titleInfo>
        <name type="personal"><namePart>{author}</namePart>
          <role><roleTerm type="code" authority="marcrelator">aut</roleTerm></role></name>
        <typeOfResource>text</typeOfResource>
        <originInfo><place><placeTerm type="text">{place}</placeTerm></place><publisher>{publisher}</publisher>
          <dateIssued>{year}</dateIssued><issuance>monographic</issuance></originInfo>
        <language><languageTerm type="code" authority="iso639-2b">eng</languageTerm></language>
        <physicalDescription><extent>{pages} pages</extent></physicalDescription>
        <recordInfo><recordIdentifier>{id}</recordIdentifier></recordInfo></mods>"#
    )
}

/// As a row of a table.
fn row(id: &str, book: &Book) -> String {
    let Book { title, author, publisher, place, year, pages, .. } = book;
    format!("{id},{title},\"{author}\",{publisher},{place},{year},English,{pages}\n")
}

/// The books of one catalogue in its format.
fn held(by: char, write: fn(&str, &Book) -> String) -> String {
    let copies =
        BOOKS.iter().flat_map(|book| book.held.chars().filter(|held| *held == by).map(move |_| book));
    copies.enumerate().map(|(number, book)| write(&format!("{by}{number}"), book)).collect()
}

/// H.4: "Three catalogues in three formats aggregated; per-source counts and overlap matrix shown"
#[test]
fn h_4_three_catalogues_are_counted_with_what_they_share() {
    let desk = Desk::new();
    desk.write("north.mrk", held('n', mrk));
    desk.write(
        "south.xml",
        format!("<modsCollection xmlns=\"http://www.loc.gov/mods/v3\">{}</modsCollection>", held('s', mods)),
    );
    let header = "id,title,author,publisher,place,year,language,pages\n";
    desk.write("west.csv", format!("{header}{}", held('w', row)));
    for file in ["north.mrk", "south.xml", "west.csv"] {
        let source = file.split('.').next().unwrap();
        desk.run(&format!("pinakes import --quiet --source {source} {file}")).ok();
    }
    let formats = "SELECT DISTINCT ?format { GRAPH ?record { ?record pin:format ?format } }";
    assert_eq!(rows(&desk, formats).len(), 3);

    let report = resolve(&desk);
    let mut expected = serde_json::json!({});
    for Share { source, records, entries, only_here, shared } in &EXPECTED {
        expected[source] = serde_json::json!({
            "records": records, "entries": entries, "only_here": only_here, "shared": {}
        });
        for (other, cell) in EXPECTED.iter().zip(shared) {
            if let Some(cell) = cell {
                expected[source]["shared"][other.source] = (*cell).into();
            }
        }
    }
    assert_eq!(report["sources"], expected, "{report:#}");
    assert_eq!((&report["records"], &report["entries"]["instance"]), (&24.into(), &15.into()));

    // A run that has nothing to do shows the same table.
    let text = desk.run("pinakes resolve --quiet").ok().text();
    let (_, table) = text.split_once("\n\n").unwrap();
    let printed: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    let mut lines: Vec<Vec<String>> =
        vec!["source records entries only here north south west".split(' ').map(str::to_owned).collect()];
    for Share { source, records, entries, only_here, shared } in EXPECTED {
        let mut line = vec![source.to_owned()];
        line.extend([records, entries, only_here].map(|count| count.to_string()));
        line.extend(shared.map(|cell| cell.map_or("-".to_owned(), |cell| cell.to_string())));
        lines.push(line);
    }
    assert_eq!(printed, lines, "{text}");
    // Every column ends where its head does, so that a cell is read under the right name.
    let ends = |line: &str| -> Vec<usize> {
        let padded = format!("{} ", line.replace("only here", "only-here"));
        let ends = padded.char_indices().zip(padded.chars().skip(1));
        ends.filter(|((_, this), next)| *this != ' ' && *next == ' ').map(|((at, _), _)| at).skip(1).collect()
    };
    let columns: Vec<Vec<usize>> = table.lines().map(ends).collect();
    assert!(columns.windows(2).all(|two| two[0] == two[1]), "{text}");

    // The master itself says so: entries that have members of both sources.
    let of = |source: &str| format!("STRSTARTS(STR(?m), \"{BASE}record/{source}/\")");
    for Share { source, entries, shared, .. } in EXPECTED {
        for (other, cell) in EXPECTED.iter().map(|share| share.source).zip(shared) {
            let both = format!(
                "SELECT (COUNT(DISTINCT ?i) AS ?n) {{ ?i a bf:Instance \
                 FILTER EXISTS {{ ?i pin:member ?m FILTER({}) }} FILTER EXISTS {{ ?i pin:member ?m FILTER({}) }} }}",
                of(source),
                of(other)
            );
            assert_eq!(rows(&desk, &both), [cell.unwrap_or(entries).to_string()], "{source} and {other}");
        }
    }
}
