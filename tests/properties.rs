//! What is written is read: for every syntax, decoding what an encoder wrote gives the records
//! back, as many as there were, in their order, and nothing is noticed about them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cases;
mod encode;

use encode::{LEADER, Sample};
use oxrdf::{Literal, NamedNode, Triple};
use pinakes::decode::{self, Piece, read_all};
use pinakes::diagnostic::Code;
use pinakes::record::{Format, Model, Record, RecordBuilder};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::BufReader;
use std::path::Path;

/// Text as records have it: no control characters, no combining marks to be composed.
const TEXT: &str = "[ -~éßĀжΩ漢字𠮷—]{0,12}";

fn config() -> ProptestConfig {
    ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() }
}

/// Records with different identifiers; 245 makes them MARC 21 beyond doubt.
fn samples() -> impl Strategy<Value = Vec<Sample>> {
    let indicator = || prop_oneof![Just(' '), proptest::char::range('0', '9')];
    let subfields = || vec((proptest::char::range('a', 'z'), TEXT), 1..4);
    let field = ("[1-9][0-9]{2}", indicator(), indicator(), subfields());
    let title = (Just("245".to_owned()), indicator(), indicator(), subfields());
    vec((title, vec(field, 0..5)), 1..4).prop_map(|records| {
        records
            .into_iter()
            .enumerate()
            .map(|(number, (title, fields))| Sample {
                id: format!("id-{number}"),
                fields: std::iter::once(title)
                    .chain(fields)
                    .map(|(tag, ind1, ind2, subfields)| (tag, [ind1, ind2], subfields))
                    .collect(),
            })
            .collect()
    })
}

/// The bytes give these records and no diagnostics.
fn check_read(bytes: &[u8], format: Format, expected: &[Record]) -> Result<(), TestCaseError> {
    let (records, diagnostics) = read_all(bytes, format).unwrap();
    prop_assert_eq!(records.as_slice(), expected, "{}", String::from_utf8_lossy(bytes));
    prop_assert_eq!(diagnostics, []);
    Ok(())
}

fn with_leader(samples: &[Sample]) -> Vec<Record> {
    samples.iter().map(|sample| sample.record(LEADER)).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn iso_2709_that_is_written_is_read(samples in samples()) {
        let (bytes, leaders): (Vec<_>, Vec<_>) = samples.iter().map(encode::iso2709).unzip();
        let expected: Vec<Record> =
            samples.iter().zip(&leaders).map(|(sample, leader)| sample.record(leader)).collect();
        check_read(&bytes.concat(), Format::Iso2709, &expected)?;
    }

    #[test]
    fn marcxml_that_is_written_is_read(samples in samples()) {
        check_read(&encode::marcxml(&samples), Format::MarcXml, &with_leader(&samples))?;
    }

    #[test]
    fn marc_in_json_that_is_written_is_read(samples in samples()) {
        check_read(&encode::marc_json(&samples), Format::MarcJson, &with_leader(&samples))?;
    }

    #[test]
    fn mnemonic_text_that_is_written_is_read(samples in samples()) {
        check_read(&encode::mrk(&samples), Format::Mrk, &with_leader(&samples))?;
    }

    #[test]
    fn aleph_sequential_that_is_written_is_read(mut samples in samples()) {
        for (_, _, subfields) in samples.iter_mut().flat_map(|sample| &mut sample.fields) {
            subfields.iter_mut().for_each(|(_, value)| *value = value.replace('$', "S"));
        }
        check_read(&encode::aleph(&samples), Format::Aleph, &with_leader(&samples))?;
    }

    #[test]
    fn a_table_that_is_written_is_read(
        columns in proptest::collection::btree_set("[a-h]{3,6}", 1..5),
        rows in vec(vec("[ -~é漢\n]{0,12}", 5), 1..5),
    ) {
        let header: Vec<String> = std::iter::once("id".to_owned()).chain(columns).collect();
        let rows: Vec<Vec<String>> = rows
            .into_iter()
            .enumerate()
            .map(|(number, cells)| {
                std::iter::once(format!("R{number}")).chain(cells).take(header.len()).collect()
            })
            .collect();
        let expected: Vec<Record> = rows
            .iter()
            .map(|row| {
                let mut builder = RecordBuilder::new(Model::Row);
                for (name, cell) in header.iter().zip(row).filter(|(_, cell)| !cell.trim().is_empty()) {
                    builder.field(name, [' ', ' '], cell.trim(), 0);
                }
                let mut record = builder.finish();
                record.id = row.first().cloned();
                record
            })
            .collect();
        check_read(&encode::csv(&header, &rows), Format::Csv, &expected)?;
    }

    #[test]
    fn json_that_is_written_is_read(
        objects in vec(vec(("[b-h]{1,5}", vec("[ -~é漢\n]{1,10}", 1..3), "[b-h]{0,5}"), 0..5), 1..4),
    ) {
        let (mut text, mut expected) = (String::new(), Vec::new());
        for (number, members) in objects.iter().enumerate() {
            let mut object = serde_json::Map::new();
            let mut builder = RecordBuilder::new(Model::Json);
            object.insert("id".to_owned(), format!("J{number}").into());
            builder.field("id", [' ', ' '], &format!("J{number}"), 0);
            // Of two members with one key, a map keeps the last; the samples hold no such pair.
            let members: BTreeMap<&String, _> = members.iter().map(|(key, values, inner)| (key, (values, inner))).collect();
            for (key, (values, inner)) in members {
                let nested = !inner.is_empty();
                let value = match values.as_slice() {
                    [value] => serde_json::json!(value),
                    values => serde_json::json!(values),
                };
                object.insert(key.clone(), if nested { serde_json::json!({ inner.as_str(): value }) } else { value });
                if nested {
                    builder.field(key, [' ', ' '], "", 0);
                }
                for value in values {
                    builder.field(if nested { inner } else { key }, [' ', ' '], value, usize::from(nested));
                }
            }
            let mut record = builder.finish();
            record.id = Some(format!("J{number}"));
            expected.push(record);
            text.push_str(&format!("{}\n", serde_json::Value::Object(object)));
        }
        check_read(text.as_bytes(), Format::Json, &expected)?;
    }

    #[test]
    fn n_quads_that_are_written_are_read_in_any_order(
        statements in vec((0..4_u8, 0..3_u8, "[ -~é漢\n\"\\\\]{0,10}", 0..4_u8), 1..12).prop_shuffle(),
    ) {
        let mut expected: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut text = String::new();
        for (subject, predicate, value, kind) in statements {
            let node = |path: String| NamedNode::new(format!("https://d.example/{path}")).unwrap();
            let subject = node(format!("s{subject}"));
            let predicate = node(format!("p{predicate}"));
            let triple = match kind {
                0 => Triple::new(subject.clone(), predicate, node("o".to_owned())),
                1 => Triple::new(subject.clone(), predicate, Literal::new_language_tagged_literal(value, "en").unwrap()),
                2 => Triple::new(subject.clone(), predicate, Literal::new_typed_literal(value, node("t".to_owned()))),
                _ => Triple::new(subject.clone(), predicate, Literal::new_simple_literal(value)),
            };
            text.push_str(&format!("{triple} .\n"));
            expected.entry(subject.into_string()).or_default().insert(triple.to_string());
        }
        let (records, diagnostics) = read_all(text.as_bytes(), Format::NQuads).unwrap();
        prop_assert_eq!(diagnostics, []);
        let found: BTreeMap<String, BTreeSet<String>> = records
            .into_iter()
            .map(|record| (record.id.unwrap(), record.triples.iter().map(Triple::to_string).collect()))
            .collect();
        prop_assert_eq!(found, expected);
    }
}

/// Whoever reads from a pipe gets bytes in other portions than whoever reads from a disk.
#[test]
fn reading_does_not_depend_on_the_size_of_the_buffer() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for folder in cases::entries(&golden).into_iter().filter(|path| path.is_dir()) {
        let format: Format = cases::name(&folder).parse().unwrap();
        for case in cases::entries(&folder) {
            let bytes = fs::read(cases::input(&case)).unwrap();
            let pieces = |capacity: usize| -> Vec<Piece> {
                let reader = BufReader::with_capacity(capacity, bytes.as_slice());
                decode::split(Box::new(reader), format, "input").collect::<Result<_, _>>().unwrap()
            };
            let whole = pieces(bytes.len() + 1);
            for capacity in 1..64 {
                assert_eq!(pieces(capacity), whole, "{} by {capacity}", case.display());
            }
        }
    }
}

/// The declaration says Latin-1 and the last record shows UTF-8: that is said of the last
/// record, not of the one at hand when its bytes happened to arrive.
#[test]
fn a_lie_about_the_character_set_is_reported_where_it_shows() {
    let sample = |number: usize, title: &str| Sample {
        id: format!("id-{number}"),
        fields: vec![("245".to_owned(), ['0', '0'], vec![('a', title.to_owned())])],
    };
    let mut samples: Vec<Sample> = (0..20).map(|number| sample(number, "Plain")).collect();
    samples.push(sample(20, "Œuvres"));
    let declaration = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>";
    let document = [declaration.as_bytes(), &encode::marcxml(&samples)].concat();
    for capacity in [1, 7, 100, 1024, 5000, 100_000] {
        let reader = BufReader::with_capacity(capacity, document.as_slice());
        let noticed: Vec<(u64, Code)> = decode::split(Box::new(reader), Format::MarcXml, "input")
            .flat_map(|piece| match piece.unwrap() {
                Piece::Record(payload, noticed) => {
                    noticed.into_iter().map(move |said| (payload.number, said.code)).collect::<Vec<_>>()
                }
                Piece::Reject(_, reason) => panic!("{reason:?}"),
            })
            .collect();
        assert_eq!(noticed, [(21, Code::CharsetMismatch)], "by portions of {capacity}");
    }
}
