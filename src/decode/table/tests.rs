//! What the readers of tables must keep to.

use super::*;
use crate::decode::{Piece, RECORD_LIMIT};
use proptest::prelude::*;
use std::io::{self, Read};

fn pieces(input: &[u8], delimiter: Option<u8>) -> Vec<Piece> {
    split(Box::new(input), delimiter).map(Result::unwrap).collect()
}

/// Each row as `offset tag=text|…`, each refusal as its code, with the codes of warnings.
fn check(input: impl AsRef<[u8]>, delimiter: Option<u8>, expected: &[&str]) {
    let found: Vec<String> = pieces(input.as_ref(), delimiter)
        .into_iter()
        .map(|piece| match piece {
            Piece::Reject(payload, reason) => {
                format!("{} {}: {}", payload.offset, reason.code, String::from_utf8_lossy(&payload.bytes))
            }
            Piece::Record(payload, _) => {
                let mut diagnostics = RecordLog::default();
                let options = Options::default();
                let record = decode(&payload.bytes, delimiter, &options, &mut diagnostics).unwrap();
                let mut line = format!("{}", payload.offset);
                for (index, field) in record.fields().enumerate() {
                    line.push(if index == 0 { ' ' } else { '|' });
                    line.push_str(&format!("{}={}", field.tag(), field.text()));
                }
                for diagnostic in diagnostics {
                    line.push_str(&format!(" [{}]", diagnostic.code));
                }
                line
            }
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_row_is_a_record_and_a_column_a_field() {
    check(
        "\u{FEFF}id, title ,,year\r\n1,\"Walden; or, \"\"Life\"\"\",x,1854\r\n\r\n,,,\r\n2,  Cape Cod ,,\r\n",
        None,
        &["21 id=1|title=Walden; or, \"Life\"|column-3=x|year=1854", "61 id=2|title=Cape Cod"],
    );
}

#[test]
fn the_header_shows_its_delimiter() {
    check("a;b, c\n1;2,3\n", None, &["7 a=1|b, c=2,3"]);
    check("a|b|c\n1|2|3\n", None, &["6 a=1|b=2|c=3"]);
    check("\"a;b;c\",d\n1,2\n", None, &["10 a;b;c=1|d=2"]);
    check("a,b\tc\n1,2\t3\n", Some(b'\t'), &["6 a,b=1,2|c=3"]);
    check("a,b\n1,2\n", Some(b'\t'), &["4 a=1|b=2"]);
    check("title\nWalden\n", None, &["6 title=Walden"]);
    check("sep=;\r\na;b\n1;2\n", None, &["11 a=1|b=2"]);
}

#[test]
fn quoted_line_breaks_belong_to_the_cell() {
    check("\"a\nb\",c\n\"one\r\n\r\ntwo\",2\n3,\"4\n\"\n", None, &["8 a\nb=one\n\ntwo|c=2", "23 a\nb=3|c=4"]);
}

#[test]
fn an_unclosed_quote_costs_no_neighbour() {
    check(
        "a,b\n1,\"two\n3,four\n5,\"six\"\n7,\"8\n",
        None,
        &["4 a=1|b=\"two [line-syntax]", "11 a=3|b=four", "18 a=5|b=six", "26 a=7|b=\"8 [line-syntax]"],
    );
    check(
        "a,b,c\n1,2,3\n4,\"cut off in the mid",
        None,
        &["6 a=1|b=2|c=3", "12 truncated-record: 4,\"cut off in the mid"],
    );
}

#[test]
fn two_unclosed_quotes_that_meet_do_not_swallow_what_is_between() {
    check(
        "a,b\n1,\"two\n3,four\n5,12\",6\n7,8\n",
        None,
        &[
            "4 a=1|b=\"two [line-syntax]",
            "11 a=3|b=four",
            "18 a=5|b=12\"|column-3=6 [row-shape]",
            "26 a=7|b=8",
        ],
    );
}

#[test]
fn quotes_in_tab_separated_text_may_be_plain() {
    check(
        "a\tb\n\"Yes\" he said\t1\n\"quoted\ttab\"\t2\n\"open\t3\n",
        Some(b'\t'),
        &["4 a=\"Yes\" he said|b=1 [line-syntax]", "20 a=quoted\ttab|b=2", "35 a=\"open|b=3 [line-syntax]"],
    );
}

#[test]
fn rows_of_another_shape_are_kept_and_reported() {
    check(
        "a,b\n1\n1,2,3,\n1,2,\n",
        None,
        &["4 a=1 [row-shape]", "6 a=1|b=2|column-3=3 [row-shape]", "13 a=1|b=2"],
    );
}

#[test]
fn old_line_ends_and_old_character_sets_are_read() {
    check("a,b\r1,2\r3,4\r", None, &["4 a=1|b=2", "8 a=3|b=4"]);
    check(
        b"id,Titel\n1,M\xFCller\n2,plain\n",
        None,
        &["9 id=1|Titel=Müller [charset-mismatch]", "18 id=2|Titel=plain"],
    );
    check("a\nx\u{7}y\0\n", None, &["2 a=x\u{FFFD}y\u{FFFD} [forbidden-character]"]);
}

#[test]
fn an_unpaired_quote_in_the_header_is_dropped() {
    check("a,\"b\n1,\"x\"\n2,\"y\"\n", None, &["5 a=1|b=x", "11 a=2|b=y"]);
}

#[test]
fn nothing_is_no_row() {
    check("", None, &[]);
    check("a,b\n", None, &[]);
    check("\n\n", None, &[]);
    let mut diagnostics = RecordLog::default();
    assert!(decode(b"a,b\n", None, &Options::default(), &mut diagnostics).is_none());
    assert_eq!(diagnostics.into_iter().next().map(|said| said.code), Some(Code::NotARecord));
}

#[test]
fn a_row_is_named_by_its_id_column() {
    let id = |bytes: &[u8], field: Option<&str>| {
        let options = Options { id_field: field.map(str::to_owned), ..Options::default() };
        decode(bytes, None, &options, &mut RecordLog::default()).unwrap().id
    };
    assert_eq!(id(b"a,ID\n1,2", None).as_deref(), Some("2"));
    assert_eq!(id(b"identifier,id\n1,2", None).as_deref(), Some("2"));
    assert_eq!(id(b"rec_id,id\n1,2", Some("rec_id")).as_deref(), Some("1"));
    assert_eq!(id(b"a,b\n1,2", None), None);
    assert_eq!(id(b"a,id\n1,", None), None);
}

#[test]
fn an_unclosed_quote_in_a_large_file_is_noticed_at_the_limit() {
    let mut input = b"a,b,c\n0,\"open\n".to_vec();
    while input.len() <= RECORD_LIMIT + (1 << 20) {
        input.extend_from_slice(b"1,2,3333333333333333333333333333333333333333\n");
    }
    let rows = (input.len() - 14) / 45;
    let mut found = split(Box::new(&input[..]), None).map(Result::unwrap);
    let Some(Piece::Reject(payload, reason)) = found.next() else {
        panic!("the row was not refused");
    };
    assert_eq!((payload.offset, reason.code), (6, Code::OversizeRecord));
    assert_eq!(found.count(), rows);
}

#[test]
fn an_endless_row_is_skipped() {
    let endless = io::repeat(b'x').take(3 * RECORD_LIMIT as u64);
    let input = b"a,b\n1,2\n".chain(endless).chain(&b"\n3,4\n"[..]);
    let found: Vec<_> = split(Box::new(io::BufReader::new(input)), None).map(Result::unwrap).collect();
    let [Piece::Record(..), Piece::Reject(bad, reason), Piece::Record(last, _)] = &found[..] else {
        panic!("{} pieces", found.len());
    };
    assert_eq!((bad.bytes.len(), reason.code), (RECORD_LIMIT, Code::OversizeRecord));
    assert_eq!(last.bytes, b"a,b\n3,4");
    assert_eq!(last.offset, 8 + 3 * RECORD_LIMIT as u64 + 1);
}

fn encode(names: &[String], rows: &[Vec<String>], delimiter: u8) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
    writer.write_record(names).unwrap();
    for row in rows {
        writer.write_record(row).unwrap();
    }
    writer.into_inner().unwrap()
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        rows in proptest::collection::vec(proptest::collection::vec("[a-zäé\"\n,;\t ]{0,6}", 3), 1..8),
        delimiter in proptest::sample::select(&DELIMITERS[..]),
    ) {
        let names = ["one", "two", "three"].map(str::to_owned);
        let input = encode(&names, &rows, delimiter);
        let found: Vec<Record> = pieces(&input, None)
            .into_iter()
            .map(|piece| match piece {
                Piece::Record(payload, _) => {
                    decode(&payload.bytes, None, &Options::default(), &mut RecordLog::default()).unwrap()
                }
                Piece::Reject(..) => panic!("refused"),
            })
            .collect();
        let expected: Vec<Record> = rows
            .iter()
            .filter_map(|row| {
                let mut builder = RecordBuilder::new(Model::Row);
                for (name, cell) in names.iter().zip(row) {
                    if !cell.trim().is_empty() {
                        builder.field(name, [' ', ' '], cell.trim(), 0);
                    }
                }
                // A row of blanks is skipped unless quotes make it look like something.
                (!builder.is_empty()).then(|| builder.finish())
            })
            .collect();
        let found: Vec<Record> = found.into_iter().filter(|record| record.fields().len() > 0).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn cells_are_those_of_the_csv_crate(row in "[ab\",;]{1,20}", quoted: bool) {
        let mut reader = csv::ReaderBuilder::new()
            .quoting(quoted)
            .has_headers(false)
            .from_reader(row.as_bytes());
        let expected = reader.records().next().unwrap().unwrap();
        prop_assert_eq!(cells(&row, b',', quoted), expected.iter().collect::<Vec<_>>());
    }

    #[test]
    fn any_bytes_are_cut_and_read(input in proptest::collection::vec(
        proptest::sample::select(&b"ab\",;\t|\r\n\xE9\xC3\x00 "[..]), 0..80)) {
        for (number, piece) in (1..).zip(pieces(&input, None)) {
            match piece {
                Piece::Reject(payload, _) => prop_assert_eq!(payload.number, number),
                Piece::Record(payload, _) => {
                    prop_assert_eq!(payload.number, number);
                    decode(&payload.bytes, None, &Options::default(), &mut RecordLog::default());
                }
            }
        }
    }
}
