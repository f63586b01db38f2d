//! The archive is the source of truth: what it takes, keeps, shares and survives.
//!
//! Most cases are *histories*: imports one after the other, each a list of records. Two
//! histories that should end in the same catalogue are compared by their canonical exports.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use pinakes::archive::{Archive, Kind};
use pinakes::config::Home;
use pinakes::pipeline::{self, Request, Session, Summary, Unwatched};
use std::collections::BTreeMap;
use std::path::PathBuf;
use support::{CATALOGUE, Desk, SAMPLE, close, marc, project};

/// One import: the records of one file, as id and title. A title of `-` is a deletion.
type Step<'a> = &'a [(&'a str, &'a str)];

fn file_of(step: Step<'_>) -> Vec<u8> {
    let record = |(id, title): &(&str, &str)| match *title {
        "-" => marc::deleted(id),
        title => marc::book(id, title),
    };
    step.iter().flat_map(record).collect()
}

fn open(desk: &Desk) -> Session {
    Session::write(Home::open(&desk.path(CATALOGUE)).unwrap(), &mut Unwatched).unwrap()
}

/// What `look` finds in the desk's archive.
fn archived<T>(desk: &Desk, look: impl FnOnce(&Archive) -> T) -> T {
    let archive = Archive::open(&desk.path(CATALOGUE).join("archive")).unwrap();
    let found = look(&archive);
    close(archive);
    found
}

fn request(desk: &Desk, file: &str) -> Request {
    Request {
        source: "shop".to_owned(),
        files: vec![desk.path(file)],
        time: "2024-02-29T12:00:00Z".to_owned(),
        ..Request::default()
    }
}

/// Imports a file of the desk and closes the catalogue again.
fn import(desk: &Desk, request: &Request) -> Summary {
    let mut session = open(desk);
    let summary = pipeline::import(&mut session, request, &mut Unwatched).unwrap();
    close(session);
    summary
}

/// A desk whose catalogue went through these imports.
fn after(history: &[Step<'_>]) -> Desk {
    let desk = Desk::new();
    for step in history {
        desk.write("books.mrc", file_of(step));
        import(&desk, &request(&desk, "books.mrc"));
    }
    desk
}

/// Two histories end in the same catalogue, and a rebuild gives it too.
#[track_caller]
fn check_same_end(left: &[Step<'_>], right: &[Step<'_>]) {
    let (left, right) = (after(left), after(right));
    let expected = right.canonical(CATALOGUE);
    assert_eq!(left.canonical(CATALOGUE), expected);
    left.run("pinakes rebuild").ok();
    assert_eq!(left.canonical(CATALOGUE), expected, "after a rebuild");
}

#[test]
fn importing_twice_equals_importing_once() {
    let books: Step<'_> = &[("1", "Walden"), ("2", "Erewhon"), ("3", "Faust")];
    check_same_end(&[books, books], &[books]);
}

#[test]
fn a_revert_gives_what_was_before() {
    check_same_end(&[&[("1", "Walden")], &[("1", "Erewhon")], &[("1", "Walden")]], &[&[("1", "Walden")]]);
}

#[test]
fn the_later_of_two_payloads_for_one_id_counts() {
    check_same_end(&[&[("1", "Faust"), ("1", "Hamlet")]], &[&[("1", "Hamlet")]]);
    check_same_end(&[&[("1", "Faust"), ("1", "Hamlet"), ("1", "Faust")]], &[&[("1", "Faust")]]);
}

#[test]
fn a_file_with_a_duplicate_identifier_stays_as_it_is() {
    let twice: Step<'_> = &[("1", "Faust"), ("2", "Ulysses"), ("1", "Hamlet")];
    check_same_end(&[twice, twice, twice], &[twice]);
}

#[test]
fn a_duplicate_that_was_repaired_is_taken() {
    check_same_end(&[&[("1", "Faust"), ("1", "Hamlet")], &[("1", "Faust")]], &[&[("1", "Faust")]]);
}

#[test]
fn a_deleted_record_may_come_back() {
    check_same_end(&[&[("1", "Walden")], &[("1", "-")], &[("1", "Walden")]], &[&[("1", "Walden")]]);
    check_same_end(&[&[("1", "Walden"), ("2", "Faust")], &[("1", "-")]], &[&[("2", "Faust")]]);
}

/// The second import adds two entries, its beginning and its end, and nothing else.
#[test]
fn importing_again_adds_only_the_run() {
    let desk = Desk::new();
    desk.copy("examples/library.mrc", "books.mrc");
    let first = import(&desk, &request(&desk, "books.mrc"));
    let before = archived(&desk, |archive| archive.last_sequence().unwrap());
    let canonical = desk.canonical(CATALOGUE);
    let second = import(&desk, &request(&desk, "books.mrc"));
    let added: Vec<Kind> = archived(&desk, |archive| {
        archive.entries(before + 1).unwrap().map(|entry| entry.unwrap().kind).collect()
    });
    assert_eq!(added, [Kind::RunStarted, Kind::RunFinished]);
    assert_eq!((first.new, second.new, second.unchanged), (73, 0, 73));
    assert_eq!(desk.canonical(CATALOGUE), canonical);
}

#[test]
fn the_order_of_files_does_not_matter() {
    let import_all = |desk: &Desk, sample: &[(&str, &str)]| {
        for (source, file) in sample {
            let files: Vec<PathBuf> = vec![project("examples").join(file)];
            let request = Request { source: (*source).to_owned(), files, ..request(desk, "") };
            import(desk, &request);
        }
    };
    let (forward, backward) = (Desk::new(), Desk::new());
    import_all(&forward, &SAMPLE);
    let mut reversed = SAMPLE;
    reversed.reverse();
    import_all(&backward, &reversed);
    assert_eq!(forward.canonical(CATALOGUE), backward.canonical(CATALOGUE));
}

/// Random histories, full dumps among them, against a map that keeps the last title of each id.
#[test]
fn random_histories_end_as_a_simple_map_says() {
    let titles = ["Walden", "Erewhon", "Faust", "Hamlet", "-"];
    let ids = ["1", "2", "3", "4"];
    let mut seed: u64 = 7;
    let mut pick = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for _ in 0..8 {
        let desk = Desk::new();
        let mut expected = BTreeMap::new();
        for _ in 0..4 {
            let step: Vec<_> =
                (0..pick(6) + 1).map(|_| (ids[pick(ids.len())], titles[pick(titles.len())])).collect();
            let replace = pick(4) == 0;
            desk.write("books.mrc", file_of(&step));
            import(&desk, &Request { replace, ..request(&desk, "books.mrc") });
            let held: BTreeMap<_, _> = step.into_iter().collect();
            if replace {
                expected.clear();
            }
            expected.extend(held);
        }
        let books: Vec<_> =
            expected.iter().filter(|(_, title)| **title != "-").map(|(id, title)| (*id, *title)).collect();
        let plain = after(&[&books]);
        assert_eq!(desk.canonical(CATALOGUE), plain.canonical(CATALOGUE));
        desk.run("pinakes verify").ok();
    }
}

#[test]
fn an_older_version_stays_readable() {
    let desk = after(&[&[("1", "Walden")], &[("1", "Erewhon")]]);
    for (version, title) in [(1, "Walden"), (2, "Erewhon")] {
        let raw = desk.run(&format!("pinakes record show shop 1 --version {version} --raw")).ok();
        assert_eq!(raw.stdout, marc::book("1", title));
    }
}

#[test]
fn an_equal_payload_is_stored_once() {
    let desk = Desk::new();
    desk.copy("examples/library.mrc", "books.mrc");
    let segment = desk.path(CATALOGUE).join("archive/segments/00000001.zst");
    import(&desk, &request(&desk, "books.mrc"));
    let once = std::fs::metadata(&segment).unwrap().len();
    import(&desk, &Request { source: "branch".to_owned(), ..request(&desk, "books.mrc") });
    let twice = std::fs::metadata(&segment).unwrap().len();
    let shared = archived(&desk, |archive| {
        archive.entries(1).unwrap().filter(|entry| entry.as_ref().unwrap().same.is_some()).count()
    });
    assert_eq!(shared, 73);
    assert!(twice - once < once / 2, "{once} bytes grew to {twice}");
    let raw = |source: &str| desk.run(&format!("pinakes record show {source} lib0001 --raw")).ok().stdout;
    assert_eq!(raw("shop"), raw("branch"));
}

#[test]
fn a_torn_tail_is_cut_off() {
    let desk = after(&[&[("1", "Walden")], &[("2", "Erewhon")]]);
    let segment = desk.path(CATALOGUE).join("archive/segments/00000001.zst");
    let whole = std::fs::read(&segment).unwrap();
    let canonical = desk.canonical(CATALOGUE);
    // Bytes of nothing, and the beginning of a block.
    for tail in [&b"garbage"[..], &[0; 5000], &whole[..3], &whole[..40]] {
        std::fs::write(&segment, [&whole[..], tail].concat()).unwrap();
        desk.run("pinakes verify").ok();
        assert!(std::fs::read(&segment).unwrap() == whole);
        assert_eq!(desk.canonical(CATALOGUE), canonical);
    }
}

/// Everything the index knows is in the segments.
#[test]
fn a_lost_index_is_made_again() {
    let desk = after(&[
        &[("1", "Walden"), ("2", "Faust"), ("2", "Hamlet")],
        &[("1", "Erewhon")],
        &[("1", "-"), ("3", "Ulysses")],
    ]);
    desk.write("garbage.mrc", "this is no record\u{1D}");
    import(&desk, &request(&desk, "garbage.mrc"));
    let known = |archive: &Archive| {
        let records: Vec<_> = archive.records(None).unwrap().map(Result::unwrap).collect();
        (records, archive.sources().unwrap(), archive.runs().unwrap(), archive.rejects().unwrap())
    };
    let (before, canonical) = (archived(&desk, known), desk.canonical(CATALOGUE));
    std::fs::remove_file(desk.path(CATALOGUE).join("archive/index.redb")).unwrap();
    assert_eq!(archived(&desk, known), before);
    assert_eq!(desk.canonical(CATALOGUE), canonical);
    desk.run("pinakes verify").ok();
}

#[test]
fn a_flipped_byte_is_found() {
    let desk = Desk::new();
    desk.copy("examples/library.mrc", "books.mrc");
    import(&desk, &request(&desk, "books.mrc"));
    let segment = desk.path(CATALOGUE).join("archive/segments/00000001.zst");
    let whole = std::fs::read(&segment).unwrap();
    for place in [2, whole.len() / 4, whole.len() / 2, whole.len() - 2] {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x10;
        std::fs::write(&segment, bytes).unwrap();
        let found = desk.run("pinakes verify").exits(2);
        assert!(found.complaint().contains("damaged"), "byte {place}: {}", found.complaint());
    }
}

/// A damaged block with whole ones after it is no torn write: once, all of them were cut off.
#[test]
fn damage_in_the_middle_never_shortens_a_segment() {
    let desk = after(&[&[("1", "Walden")], &[("2", "Erewhon")]]);
    let segment = desk.path(CATALOGUE).join("archive/segments/00000001.zst");
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[20] ^= 0x10;
    std::fs::write(&segment, &bytes).unwrap();
    std::fs::remove_file(desk.path(CATALOGUE).join("archive/index.redb")).unwrap();
    let found = desk.run("pinakes verify").exits(2);
    assert!(found.complaint().contains("damaged"), "{}", found.complaint());
    assert!(std::fs::read(&segment).unwrap() == bytes);
}

#[test]
fn a_repaired_file_leaves_the_list_of_rejects() {
    let desk = Desk::new();
    let good = marc::book("1", "Walden");
    let rejects = |desk: &Desk| archived(desk, |archive| archive.rejects().unwrap().len());
    desk.write("books.mrc", [&good[..], b"this is no record\x1D"].concat());
    desk.write("other.mrc", "nor is this\u{1D}");
    import(&desk, &request(&desk, "books.mrc"));
    import(&desk, &request(&desk, "other.mrc"));
    assert_eq!(rejects(&desk), 2);
    import(&desk, &request(&desk, "books.mrc"));
    assert_eq!(rejects(&desk), 2, "a reject that occurs again is the same one");
    desk.write("books.mrc", &good);
    import(&desk, &request(&desk, "books.mrc"));
    assert_eq!(rejects(&desk), 1, "the other file was not read again");
}

/// Versions that were replaced and records that were withdrawn leave their runs in the
/// provenance: a rebuild once forgot them.
#[test]
fn a_rebuild_gives_every_statement_again() {
    let desk = after(&[
        &[("1", "Walden"), ("2", "Faust"), ("2", "Hamlet")],
        &[("1", "Erewhon"), ("2", "Hamlet")],
        &[("2", "-"), ("3", "Ulysses")],
    ]);
    let everything = || {
        let text = desk.run("pinakes export --graph all --format nquads").ok().text();
        // Harvesters are told of another store, so it has another step.
        let kept = text.lines().filter(|line| !line.contains("#listedUpTo>"));
        let mut lines: Vec<String> = kept.map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let before = everything();
    desk.run("pinakes rebuild").ok();
    assert_eq!(everything(), before);
}

/// A run that was interrupted and goes on later began when it began: it once had two beginnings.
#[test]
fn a_run_that_goes_on_has_one_beginning() {
    let desk = Desk::new();
    // A directory in the place of the file ends the first attempt.
    std::fs::create_dir_all(desk.path("books.mrc")).unwrap();
    let mut session = open(&desk);
    assert!(pipeline::import(&mut session, &request(&desk, "books.mrc"), &mut Unwatched).is_err());
    close(session);
    std::fs::remove_dir(desk.path("books.mrc")).unwrap();
    desk.write("books.mrc", file_of(&[("1", "Walden")]));
    let later = Request { time: "2024-03-01T12:00:00Z".to_owned(), ..request(&desk, "books.mrc") };
    import(&desk, &later);
    let ask = "SELECT ?begun ?ended { ?run prov:startedAtTime ?begun ; prov:endedAtTime ?ended }";
    let answer = desk.run(&format!("pinakes query --format csv -e '{ask}'")).ok().text();
    let rows: Vec<&str> = answer.lines().skip(1).collect();
    assert_eq!(rows, ["2024-02-29T12:00:00Z,2024-03-01T12:00:00Z"]);
}

/// A file that holds a record and its deletion once gave two new versions each time.
#[test]
fn a_record_and_its_deletion_in_one_file_stay_as_they_are() {
    let both: Step<'_> = &[("1", "Walden"), ("1", "-"), ("2", "Faust")];
    check_same_end(&[both, both, both], &[&[("2", "Faust")]]);
    let desk = after(&[both, both, both]);
    let versions = archived(&desk, |archive| archive.record("shop", "1").unwrap().unwrap().len());
    assert_eq!(versions, 2);
}

/// An identifier that stands for everything once made each record slower than the one before;
/// now only the last versions are at hand, and the older ones are found elsewhere.
#[test]
fn the_first_of_very_many_versions_stays_readable() {
    let desk = Desk::new();
    let rows: String = (0..300).map(|number| format!("same,Title {number}\n")).collect();
    desk.write("rows.csv", format!("id,title\n{rows}"));
    let summary = import(&desk, &request(&desk, "rows.csv"));
    assert_eq!((summary.new, summary.duplicates), (1, 299));
    for (version, title) in [(1, "Title 0"), (200, "Title 199"), (300, "Title 299")] {
        let shown = desk.run(&format!("pinakes record show shop same --version {version} --decoded")).ok();
        assert!(shown.text().contains(&format!("title {title}\n")), "{}", shown.text());
    }
    desk.run("pinakes record show shop same --version 301").exits(2);
}

/// What the user says about reading a file is part of what is read: it once changed nothing.
#[test]
fn naming_the_content_type_later_reads_the_records_again() {
    let desk = Desk::new();
    desk.write("rows.csv", "id,title\n1,Walden\n");
    desk.run("pinakes import --source shop rows.csv").ok();
    desk.run("pinakes import --source shop --content-type book rows.csv").ok();
    let ask = "ASK { ?record pin:contentType ?any }";
    assert_eq!(desk.run(&format!("pinakes query --quiet -e '{ask}'")).ok().text().trim(), "yes");
}

/// A dump that was read in the wrong format, or holds a header only, once emptied its source.
#[test]
fn a_dump_without_records_withdraws_nothing() {
    let desk = after(&[&[("1", "Walden"), ("2", "Erewhon")]]);
    let canonical = desk.canonical(CATALOGUE);
    desk.write("header.csv", "id,title\n");
    let summary = import(&desk, &Request { replace: true, ..request(&desk, "header.csv") });
    assert_eq!((summary.withdrawn, summary.held_back), (0, 2));
    assert_eq!(desk.canonical(CATALOGUE), canonical);
}

/// Rejects were once made good by any file of the same name.
#[test]
fn files_of_one_name_in_two_folders_are_two_origins() {
    let desk = Desk::new();
    desk.write("one/books.mrc", "this is no record\u{1D}");
    desk.write("two/books.mrc", marc::book("1", "Walden"));
    import(&desk, &request(&desk, "one/books.mrc"));
    import(&desk, &request(&desk, "two/books.mrc"));
    assert_eq!(archived(&desk, |archive| archive.rejects().unwrap().len()), 1);
}

/// The index knows more than a shortened segment holds: nothing may be written behind it.
#[test]
fn a_segment_that_lost_its_end_is_damage() {
    let desk = after(&[&[("1", "Walden")], &[("2", "Erewhon")]]);
    let segment = desk.path(CATALOGUE).join("archive/segments/00000001.zst");
    let whole = std::fs::read(&segment).unwrap();
    std::fs::write(&segment, &whole[..whole.len() - 30]).unwrap();
    for command in ["status", "import --source shop books.mrc", "rebuild"] {
        let ran = desk.run(&format!("pinakes {command}")).exits(2);
        assert!(ran.complaint().contains("30 bytes are missing"), "{command}: {}", ran.complaint());
    }
    std::fs::write(&segment, &whole).unwrap();
    desk.run("pinakes verify").ok();
}

/// A rebuild from a damaged archive once took the working store away first.
#[test]
fn a_rebuild_that_cannot_be_done_leaves_the_store() {
    let desk = after(&[&[("1", "Walden")], &[("2", "Erewhon")]]);
    let segment = desk.path(CATALOGUE).join("archive/segments/00000001.zst");
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[20] ^= 0x10;
    std::fs::write(&segment, &bytes).unwrap();
    let canonical = desk.canonical(CATALOGUE);
    desk.run("pinakes rebuild").exits(2);
    assert_eq!(desk.canonical(CATALOGUE), canonical);
}

/// Without its archive a store is the last copy of something, and rebuilding would empty it.
#[test]
fn a_store_without_its_archive_is_not_touched() {
    let desk = after(&[&[("1", "Walden")]]);
    std::fs::remove_dir_all(desk.path(CATALOGUE).join("archive")).unwrap();
    for command in ["rebuild", "status", "import --source shop books.mrc"] {
        let ran = desk.run(&format!("pinakes {command}")).exits(2);
        assert!(ran.complaint().contains("is gone"), "{command}: {}", ran.complaint());
    }
    assert!(!desk.path(CATALOGUE).join("archive").exists());
}
