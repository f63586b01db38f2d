//! The way back: records written from the catalogue, read again, and what that loses.
//!
//! Each test of a requirement quotes its criterion.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

mod support;

use pinakes::catalogue::Graphs;
use pinakes::concordance::Concordances;
use pinakes::map::{self, ContentTypes};
use pinakes::pipeline::{Unwatched, read_records};
use pinakes::publish::loss::normal;
use pinakes::publish::write::iso2709;
use pinakes::publish::{Publisher, RecordGraph, Target};
use pinakes::record::{Model, Record, RecordBuilder};
use support::{BASE, Desk, project};

/// The sample of one library, in a catalogue.
fn library() -> Desk {
    let desk = Desk::new();
    let file = project("examples/library.mrc");
    desk.run(&format!("pinakes import --quiet --source library {}", file.display())).ok();
    desk
}

/// Writes the records of a catalogue and reads them with our own reader.
#[track_caller]
fn written(desk: &Desk, target: &str, file: &str) -> Vec<Record> {
    desk.run(&format!("pinakes export --quiet --as {target} --output {file}")).ok();
    let mut records = Vec::new();
    read_records(&desk.path(file), None, &mut Unwatched, &mut |batch| {
        records.extend(batch.into_iter().map(|(_, record)| record));
        true
    })
    .unwrap();
    records
}

/// Whether a record has a subfield, or an element, that says this.
#[track_caller]
fn check_says(record: &Record, wanted: &[(&str, &str, &str)]) {
    for (tag, code, value) in wanted {
        let found = record.fields().filter(|field| field.tag() == *tag).any(|field| {
            let mut subfields = field.subfields().filter(|subfield| subfield.code == *code);
            code.is_empty() && normal(field.text()) == normal(value)
                || subfields.any(|subfield| normal(subfield.value) == normal(value))
        });
        let fields: Vec<String> = record.fields().map(|field| format!("{field:?}")).collect();
        assert!(found, "no {tag} ${code} {value} in\n{}", fields.join("\n"));
    }
}

/// A.4: "MARC21, UNIMARC, DC and BIBFRAME can be written from the catalogue; round trip loss is
/// reported per field"
#[test]
fn a_4_marc_21_is_written_in_iso_2709_and_in_xml() {
    let desk = library();
    for (target, file) in [("marc21", "written.mrc"), ("marcxml", "written.xml")] {
        let records = written(&desk, target, file);
        assert_eq!(records.len(), 73, "{target}");
        let record = &records[0];
        assert_eq!(record.model, Model::Marc21);
        assert_eq!(record.leader().get(6..8), Some("am"));
        check_says(
            record,
            &[
                ("001", "", "lib0001"),
                ("020", "a", "9780140268867"),
                ("020", "q", "paperback"),
                ("041", "h", "grc"),
                ("050", "a", "PA4025.A5"),
                ("082", "a", "883.01"),
                ("100", "a", "Homer"),
                ("240", "a", "Odyssey"),
                ("245", "a", "The Odyssey"),
                ("264", "b", "Penguin Books"),
                ("300", "a", "541 pages"),
                ("336", "b", "txt"),
                ("490", "a", "Penguin classics"),
                ("504", "a", "Includes bibliographical references (pages 503-541)"),
                ("650", "v", "Poetry"),
                ("700", "a", "Fagles, Robert"),
                ("830", "a", "Penguin classics"),
            ],
        );
        let title = record.field("245").unwrap();
        assert_eq!(
            (title.ind2(), title.subfield("a")),
            ('4', Some("The Odyssey /")),
            "article and punctuation"
        );
        let fixed = record.field("008").unwrap().text();
        assert_eq!((fixed.len(), fixed.get(7..11), fixed.get(35..38)), (40, Some("1997"), Some("eng")));
    }
}

/// A.4: one of the four formats, here from records that came in another one
#[test]
fn a_4_unimarc_is_written_from_marc_21() {
    let desk = library();
    let records = written(&desk, "unimarc", "written.mrc");
    assert_eq!(records.len(), 73);
    let record = &records[0];
    assert_eq!(record.model, Model::Unimarc);
    check_says(
        record,
        &[
            ("010", "a", "9780140268867"),
            ("101", "a", "eng"),
            ("101", "c", "grc"),
            ("200", "a", "The Odyssey"),
            ("215", "d", "22 cm"),
            ("225", "a", "Penguin classics"),
            ("320", "a", "Includes bibliographical references (pages 503-541)"),
            ("676", "a", "883.01"),
            ("700", "a", "Homer"),
        ],
    );
    let coded = record.field("100").unwrap().subfield("a").unwrap();
    assert_eq!((coded.len(), coded.get(9..13)), (36, Some("1997")));
}

/// A.4: and the other way round
#[test]
fn a_4_marc_21_is_written_from_unimarc() {
    let desk = Desk::new();
    let file = project("examples/bibliotheque.unimarc.mrc");
    desk.run(&format!("pinakes import --quiet --source bib {}", file.display())).ok();
    let records = written(&desk, "marc21", "written.mrc");
    check_says(
        &records[0],
        &[
            ("100", "a", "Hugo, Victor"),
            ("100", "d", "1802-1885"),
            ("245", "a", "Les misérables"),
            ("245", "n", "I"),
            ("260", "b", "Gallimard"),
            ("300", "a", "959 p."),
            ("700", "a", "Gohin, Yves"),
        ],
    );
}

/// A.4: Dublin Core
#[test]
fn a_4_dublin_core_is_written() {
    let desk = library();
    let records = written(&desk, "oai_dc", "written.xml");
    assert_eq!(records.len(), 73);
    check_says(
        &records[0],
        &[
            ("dc:title", "", "The Odyssey"),
            ("dc:creator", "", "Homer"),
            ("dc:contributor", "", "Fagles, Robert"),
            ("dc:publisher", "", "Penguin Books"),
            ("dc:date", "", "1997"),
            ("dc:language", "", "en"),
            ("dc:identifier", "", "urn:ISBN:9780140268867"),
        ],
    );
}

/// A.4: BIBFRAME, in its own words and none of ours
#[test]
fn a_4_bibframe_is_written() {
    let desk = library();
    let records = written(&desk, "bibframe", "written.ttl");
    let triples: Vec<String> =
        records.iter().flat_map(|record| &record.triples).map(ToString::to_string).collect();
    assert!(triples.iter().any(|triple| triple.contains("bibframe/mainTitle> \"The Odyssey\"")));
    let ours: Vec<&String> = triples.iter().filter(|triple| triple.contains("w3id.org/pinakes#")).collect();
    assert!(ours.is_empty(), "{ours:?}");
    desk.run("pinakes export --as bibframe --format rdfxml --output written.rdf").ok();
}

/// A.4: "round trip loss is reported per field"
#[test]
fn a_4_the_loss_is_reported_by_field_and_small_for_core_fields() {
    let desk = library();
    let ran = desk.run("pinakes export --as marc21 --output written.mrc --report loss.json").ok();
    assert!(String::from_utf8_lossy(&ran.stderr).contains("73 records compared"));
    let report: serde_json::Value = serde_json::from_slice(&desk.read("loss.json")).unwrap();
    let number = |value: &serde_json::Value, key: &str| value[key].as_u64().unwrap();
    let core = &report["core"];
    let (back, occurrences) = (number(core, "back"), number(core, "occurrences"));
    assert!(back * 100 >= occurrences * 90, "{back} of {occurrences}");
    let fields = report["fields"].as_array().unwrap();
    let lost: Vec<u64> = fields.iter().map(|field| number(field, "lost")).collect();
    assert!(lost.is_sorted_by(|a, b| a >= b), "the greatest loss first");
    for field in fields {
        let subfields = field["subfields"].as_object().unwrap();
        let sum: u64 = subfields.values().map(|subfield| number(subfield, "occurrences")).sum();
        assert_eq!(sum, number(field, "occurrences"), "{}", field["tag"]);
    }
}

/// A.4: another program reads what was written
#[test]
fn a_4_yaz_reads_the_iso_2709_we_write() {
    let desk = library();
    if desk.run("command -v yaz-marcdump").code != Some(0) {
        eprintln!("yaz-marcdump is not installed; skipped");
        return;
    }
    desk.run("pinakes export --quiet --as marc21 --output written.mrc").ok();
    let text = desk.run("yaz-marcdump -n -v written.mrc 2>&1").ok().text();
    assert!(!text.contains("Error") && !text.contains("error") && !text.contains("No separator"), "{text}");
    let lines = desk.run("yaz-marcdump written.mrc").ok().text();
    assert_eq!(lines.lines().filter(|line| line.starts_with("245 ")).count(), 73);
}

/// TR.20: a text of a corpus goes out as Dublin Core
#[test]
fn tr_20_a_text_of_a_corpus_is_written_as_dublin_core() {
    let mut builder = RecordBuilder::new(Model::Corpus);
    for (name, value) in [
        ("name", "Walden"),
        ("author", "Thoreau, Henry David"),
        ("translator", "Alexandrova, Z."),
        ("language", "eng"),
        ("creation_date", "1854"),
        ("text_type", "essay"),
        ("keywords", "nature; solitude"),
        ("short_description", "Two years by a pond."),
        ("number", "17"),
    ] {
        builder.field(name, [' ', ' '], value, 0);
    }
    let record = builder.finish();
    let concordances = Concordances::shipped();
    let (graphs, types) = (Graphs::new(BASE).unwrap(), ContentTypes::shipped());
    let context = map::Context {
        graphs: &graphs,
        concordances: &concordances,
        content_types: &types,
        source: "corpus",
        id: "17",
        default_type: None,
    };
    let triples = map::map(&record, &context).triples;
    let graph = RecordGraph::new(graphs.record("corpus", "17").as_str(), triples);
    let publisher = Publisher::new(&concordances, Target::OaiDc);
    check_says(
        &publisher.record(&graph, "corpus"),
        &[
            ("dc:title", "", "Walden"),
            ("dc:creator", "", "Thoreau, Henry David"),
            ("dc:contributor", "", "Alexandrova, Z."),
            ("dc:language", "", "en"),
            ("dc:date", "", "1854"),
            ("dc:type", "", "essay"),
            ("dc:description", "", "Two years by a pond."),
            ("dc:identifier", "", "17"),
        ],
    );
}

#[test]
fn a_record_too_long_for_iso_2709_is_cut_and_told() {
    let mut builder = RecordBuilder::new(Model::Marc21);
    builder.leader("00000nam a2200000 i 4500");
    builder.field("245", ['1', '0'], "", 0);
    builder.subfield("a", "Walden");
    builder.field("520", [' ', ' '], "", 0);
    builder.subfield("a", &"ж".repeat(6000));
    for _ in 0..12 {
        builder.field("500", [' ', ' '], "", 0);
        builder.subfield("a", &"x".repeat(9000));
    }
    let (bytes, problem) = iso2709(&builder.finish());
    assert!(bytes.len() <= 99_999);
    assert_eq!(std::str::from_utf8(&bytes[..5]).unwrap().parse(), Ok(bytes.len()));
    assert!(std::str::from_utf8(&bytes).is_ok(), "cut at a character");
    let message = problem.expect("told").message;
    assert_eq!(message, "the record is too long for ISO 2709: 520 cut at 9999 bytes; fields left out: 3");
}

#[test]
fn a_source_that_is_not_there_is_named() {
    let desk = library();
    let ran = desk.run("pinakes export --as marc21 --source libary");
    assert_eq!(ran.code, Some(2));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("there is no source `libary`"));
}
