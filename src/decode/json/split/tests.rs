//! What the cutter of JSON text must keep to.

use super::*;
use proptest::prelude::*;
use std::io::{BufReader, Read};

/// Each record as `offset bytes`, each refusal with its code; every size of buffer must
/// give the same.
fn check(input: &str, expected: &[&str]) {
    for capacity in [1, 2, 3, 7, 64, 4096] {
        let reader = BufReader::with_capacity(capacity, input.as_bytes());
        let found: Vec<String> = split(Box::new(reader))
            .map(Result::unwrap)
            .map(|piece| match piece {
                Piece::Record(payload, _) => {
                    format!("{} {}", payload.offset, String::from_utf8_lossy(&payload.bytes))
                }
                Piece::Reject(payload, reason) => {
                    format!("{} {}: {}", payload.offset, reason.code, String::from_utf8_lossy(&payload.bytes))
                }
            })
            .collect();
        assert_eq!(found, expected, "with a buffer of {capacity}");
    }
}

#[test]
fn objects_are_found_however_they_are_strung_together() {
    check("{\"a\":1}\n{\"a\":2}\n", &["0 {\"a\":1}", "8 {\"a\":2}"]);
    check("\u{FEFF}[ {\"a\":\"]},{\"},\n{} ]\n", &["5 {\"a\":\"]},{\"}", "19 {}"]);
    check("{\n \"a\": [{}]\n}\n{\n}{}", &["0 {\n \"a\": [{}]\n}", "15 {\n}", "18 {}"]);
    check("[]\n[{\"a\":\"\\\"\"}]", &["4 {\"a\":\"\\\"\"}"]);
    check("", &[]);
    check(" \n", &[]);
}

#[test]
fn values_that_are_no_objects_are_refused_one_by_one() {
    check(
        "\"a {\"\n12\n{}\n[null, {}, x]",
        &[
            "0 not-a-record: \"a {\"",
            "6 not-a-record: 12",
            "9 {}",
            "13 not-a-record: null",
            "19 {}",
            "23 not-a-record: x",
        ],
    );
}

#[test]
fn a_broken_line_costs_no_neighbour() {
    for broken in [
        "{\"a\":\"open}",
        "{\"a\":{\"b\":1}",
        "{\"a\":1,",
        "{\"a\":",
        "{\"a\":[1,",
        "{\"a\" 1}",
        "{\"a\":1]}",
        "{",
        "{'a':1}",
    ] {
        let input = format!("{{\"x\":1}}\n{broken}\n{{\"y\":2}}\n{{\"z\":3}}\n");
        let reject = format!("8 json-syntax: {broken}");
        let second = format!("{} {{\"y\":2}}", 9 + broken.len());
        let third = format!("{} {{\"z\":3}}", 17 + broken.len());
        check(&input, &["0 {\"x\":1}", &reject, &second, &third]);
    }
    check("{\"a\":1}\n{\"a\":[", &["0 {\"a\":1}", "8 truncated-record: {\"a\":["]);
    check("{\"a\":[\n{\"b\":1}", &["0 truncated-record: {\"a\":[", "7 {\"b\":1}"]);
}

#[test]
fn a_broken_element_costs_no_neighbour() {
    check(
        "[{\"a\":[{\"b\":1},{\"b\":2}],\"c\":\"open},{\"a\":2},{\"a\":\"3\"}]",
        &["1 json-syntax: {\"a\":[{\"b\":1},{\"b\":2}],\"c\":\"open}", "35 {\"a\":2}", "43 {\"a\":\"3\"}"],
    );
    check(
        "[\n  {\"a\": 1},\n  {\"b\": [\n    {},\n  {\"c\": 3}\n]\n",
        &["4 {\"a\": 1}", "16 truncated-record: {\"b\": [\n    {}", "34 {\"c\": 3}"],
    );
}

#[test]
fn text_that_is_no_json_is_one_refusal() {
    check(
        "<html>\nno such page { or }\n</html>\n{\"a\":1}\n",
        &["0 not-a-record: <html>\nno such page { or }\n</html>", "35 {\"a\":1}"],
    );
    check("[{\"a\":1}", &["1 {\"a\":1}", "8 truncated-record: "]);
}

fn outline(input: impl Read + Send) -> Vec<(Option<Code>, usize, u64)> {
    split(Box::new(BufReader::new(input)))
        .map(|piece| match piece.unwrap() {
            Piece::Record(payload, _) => (None, payload.bytes.len(), payload.offset),
            Piece::Reject(payload, reason) => (Some(reason.code), payload.bytes.len(), payload.offset),
        })
        .collect()
}

#[test]
fn an_endless_value_is_skipped_without_being_held() {
    let size = 3 * RECORD_LIMIT as u64;
    let long = b"{\"a\":\"".chain(io::repeat(b'x').take(size)).chain(&b"\"}\n{\"b\":1}\n"[..]);
    assert_eq!(outline(long), [(Some(Code::OversizeRecord), RECORD_LIMIT, 0), (None, 7, size + 9)]);
    let open = b"{\"a\":\"".chain(io::repeat(b'x').take(size)).chain(&b"\n{\"b\":1}\n"[..]);
    assert_eq!(outline(open), [(Some(Code::OversizeRecord), RECORD_LIMIT, 0), (None, 7, size + 7)]);
    let deep = io::repeat(b'[').take(size).chain(&b"\n{\"b\":1}\n"[..]);
    assert!(outline(deep).contains(&(None, 7, size + 1)));
}

#[test]
fn input_of_broken_beginnings_is_read_in_linear_time() {
    let mut input = b"[".to_vec();
    while input.len() < 2 * 1024 * 1024 {
        input.extend_from_slice(b"{\"a\":[0,");
    }
    input.extend_from_slice(b"}\n{\"a\":1}]");
    assert_eq!(outline(&input[..]).last(), Some(&(None, 7, input.len() as u64 - 8)));
}

proptest! {
    #[test]
    fn any_text_is_cut(input in "[{}\\[\\],:\"a1\n\\\\ ]{0,60}") {
        let mut end = 0;
        for (number, piece) in split(Box::new(input.as_bytes())).enumerate() {
            let (Piece::Record(payload, _) | Piece::Reject(payload, _)) = piece.unwrap();
            prop_assert_eq!(payload.number, number as u64 + 1);
            prop_assert!(payload.offset >= end);
            end = payload.offset + payload.bytes.len() as u64;
        }
        prop_assert!(end <= input.len() as u64);
    }
}

/// It was once held to the end of the input, and looked through again with each portion of it.
#[test]
fn what_may_be_a_value_or_blanks_without_end_is_not_held() {
    let blanks = std::io::repeat(b' ').take(4 * RECORD_LIMIT as u64);
    let input = (&b"[{\"a\":1},{\"a\" 2},{"[..]).chain(blanks).chain(&b"\"a\":3}]"[..]);
    let mut values = Values::new(Box::new(std::io::BufReader::new(input)));
    let mut most = 0;
    let mut pieces = Vec::new();
    while let Some(piece) = values.next() {
        most = most.max(values.held.capacity());
        pieces.push(matches!(piece.unwrap(), Piece::Record(..)));
    }
    assert_eq!(pieces, [true, false]);
    assert!(most <= 3 * RECORD_LIMIT, "{most}");
}
