//! Damaged input: whatever happens to the bytes, reading ends, does not panic, and says the
//! same twice.
//!
//! The golden inputs and the sample files are cut, spliced, repeated and flipped at places
//! that proptest chooses, a bounded number of times. The targets under `fuzz/` call the same
//! functions without a bound.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cases;

use pinakes::catalogue::guard;
use pinakes::decode::charset::{self, Charset};
use pinakes::decode::{self, Options, Piece};
use pinakes::record::Format;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::fs;
use std::io::BufReader;
use std::path::Path;
use std::sync::LazyLock;

/// Of a large file, so much is enough to be damaged.
const LONGEST: usize = 8 * 1024;

/// Every input at hand, with the format its content shows.
static INPUTS: LazyLock<Vec<(Format, Vec<u8>)>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let golden = cases::entries(&root.join("tests/golden"))
        .into_iter()
        .filter(|path| path.is_dir())
        .flat_map(|format| cases::entries(&format))
        .map(|case| cases::input(&case));
    let examples = cases::entries(&root.join("examples")).into_iter().filter(|path| path.is_file());
    golden
        .chain(examples)
        .filter_map(|path| {
            let mut bytes = fs::read(&path).unwrap();
            bytes.truncate(LONGEST);
            Some((decode::detect(&bytes, &cases::name(&path))?, bytes))
        })
        .collect()
});

/// One thing that can happen to bytes.
#[derive(Debug, Clone)]
enum Damage {
    Flip(Index, u8),
    Put(Index, Vec<u8>),
    Cut(Index),
    Drop(Index, usize),
    Repeat(Index, usize),
    /// Goes on as another input does.
    Splice(Index, Index, Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    // Bytes that mean something in some format.
    let telling = select(&b"\x1B\x1D\x1E\x1F\x00\xFF\xC3\"'<>&{}[]()$=\\\r\n\t,;:#@_. 0919"[..]);
    let place = any::<Index>;
    prop_oneof![
        (place(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip(at, 1 << bit)),
        (place(), vec(telling, 1..6)).prop_map(|(at, bytes)| Damage::Put(at, bytes)),
        place().prop_map(Damage::Cut),
        (place(), 1..200_usize).prop_map(|(at, length)| Damage::Drop(at, length)),
        (place(), 1..200_usize).prop_map(|(at, length)| Damage::Repeat(at, length)),
        (place(), place(), place()).prop_map(|(at, other, from)| Damage::Splice(at, other, from)),
    ]
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let length = bytes.len();
        let run = |at: &Index, run: usize| at.index(length)..(at.index(length) + run).min(length);
        match self {
            Self::Flip(at, bit) => bytes[at.index(length)] ^= bit,
            Self::Put(at, put) => {
                bytes.splice(at.index(length)..at.index(length), put.iter().copied());
            }
            Self::Cut(at) => bytes.truncate(at.index(length)),
            Self::Drop(at, dropped) => {
                bytes.drain(run(at, *dropped));
            }
            Self::Repeat(at, repeated) => {
                let piece = bytes[run(at, *repeated)].to_vec();
                bytes.splice(at.index(length)..at.index(length), piece);
            }
            Self::Splice(at, other, from) => {
                let (_, other) = other.get(&INPUTS);
                bytes.truncate(at.index(length));
                bytes.extend_from_slice(&other[from.index(other.len())..]);
                bytes.truncate(LONGEST);
            }
        }
    }
}

/// Bytes that are shown as text when a case fails.
#[derive(Clone)]
struct Damaged(Vec<u8>);

impl std::fmt::Debug for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

fn damaged() -> impl Strategy<Value = (Format, Damaged)> {
    (any::<Index>(), vec(damage(), 1..6)).prop_map(|(input, damages)| {
        let (format, mut bytes) = input.get(&INPUTS).clone();
        damages.iter().for_each(|damage| damage.apply(&mut bytes));
        (format, Damaged(bytes))
    })
}

/// `PROPTEST_CASES=100000 cargo test --test mutations` looks longer.
fn config(least: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases.max(least), failure_persistence: None, ..default }
}

/// The pieces of some bytes; more of them than bytes would mean that reading stands still.
fn pieces(bytes: &[u8], format: Format, capacity: usize) -> Vec<Piece> {
    let reader = BufReader::with_capacity(capacity, bytes);
    let pieces: Vec<Piece> = decode::split(Box::new(reader), format, "input")
        .take(bytes.len() + 2)
        .map(|piece| piece.expect("bytes in memory are readable"))
        .collect();
    assert!(pieces.len() <= bytes.len() + 1, "reading does not end");
    pieces
}

/// A piece in a line: where it began, what it says first and last, what was noticed.
fn shown(piece: &Piece) -> String {
    let (payload, noticed) = match piece {
        Piece::Record(payload, noticed) => (payload, noticed.clone()),
        Piece::Reject(payload, reason) => (payload, vec![reason.clone()]),
    };
    let bytes = &payload.bytes;
    let (head, tail) = (&bytes[..bytes.len().min(60)], &bytes[bytes.len().saturating_sub(60)..]);
    format!(
        "{}@{}, {} bytes {}…{}, {noticed:?}",
        payload.number,
        payload.offset,
        bytes.len(),
        head.escape_ascii(),
        tail.escape_ascii()
    )
}

/// What is refused has a reason, and all is the same the second time.
fn check_read(bytes: &[u8], format: Format, capacity: usize) {
    let found = pieces(bytes, format, 4096);
    let again = pieces(bytes, format, capacity);
    let differs = found.iter().map(Some).chain([None]).zip(again.iter().map(Some).chain([None]));
    if let Some((whole, portions)) = differs.into_iter().find(|(whole, portions)| whole != portions) {
        let (whole, portions) = (whole.map(shown), portions.map(shown));
        panic!("{format}\n  whole {whole:?}\n  by {capacity}  {portions:?}");
    }
    let stored = decode::stored_format(format);
    for piece in found {
        let Piece::Record(payload, _) = piece else { continue };
        let read = || {
            let mut noticed = Vec::new();
            (decode::decode(&payload.bytes, stored, &Options::default(), &mut noticed), noticed)
        };
        let (record, noticed) = read();
        assert!(record.is_some() || !noticed.is_empty(), "refused without a reason");
        assert_eq!(read(), (record, noticed));
    }
}

proptest! {
    #![proptest_config(config(4000))]

    #[test]
    fn damaged_input_is_read_or_refused((format, Damaged(bytes)) in damaged(), capacity in 1..64_usize) {
        check_read(&bytes, format, capacity);
    }

    #[test]
    fn any_content_is_given_a_format_or_none((_, Damaged(bytes)) in damaged()) {
        let found = decode::detect(&bytes, "input");
        prop_assert_eq!(found, decode::detect(&bytes, "input"));
        if let Some(format) = found {
            check_read(&bytes, format, 7);
        }
    }
}

/// JSON of the words that mean something in JSON-LD, in places where they may mean nothing.
fn json_ld() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::{Value, json};
    const WORDS: &[&str] = &[
        "@context",
        "@id",
        "@type",
        "@graph",
        "@list",
        "@set",
        "@value",
        "@language",
        "@index",
        "@nest",
        "@reverse",
        "@included",
        "@container",
        "@propagate",
        "@protected",
        "@vocab",
        "@base",
        "@none",
        "@json",
        "@direction",
        "@version",
        "@import",
        "@prefix",
        "a",
        "b",
        "b:c",
        "_:n",
        "http://e.example/p",
        "",
    ];
    let leaf = prop_oneof![
        select(WORDS).prop_map(Value::from),
        select(vec![json!(null), json!(true), json!(false), json!(1), json!(1.5)]),
    ];
    leaf.prop_recursive(6, 40, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            vec((select(WORDS), inner), 0..6).prop_map(|members| {
                Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn json_ld_of_any_shape_is_read_or_refused(value in json_ld()) {
        check_read(value.to_string().as_bytes(), Format::JsonLd, 16);
    }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn a_reader_of_another_format_survives((_, Damaged(bytes)) in damaged(), format in select(Format::ALL)) {
        check_read(&bytes, format, 16);
    }

    #[test]
    fn any_bytes_are_text_in_every_character_set((_, Damaged(bytes)) in damaged()) {
        for charset in Charset::ALL {
            let (mut text, mut faults) = (String::new(), charset::Faults::default());
            charset::decode(&bytes, charset, &mut text, &mut faults);
            prop_assert!(faults.iter().all(|fault| fault.offset < bytes.len()));
            prop_assert_eq!(charset::detect(&bytes, charset), charset::detect(&bytes, charset));
        }
    }

    #[test]
    fn a_query_that_passes_the_guard_does_not_end_the_process(
        tokens in vec(select(&[
            "SELECT", "*", "WHERE", "{", "}", "(", ")", "[", "]", "?x", "<https://d.example/>", "\"", "'''", "#", "\n",
            "UNION", "OPTIONAL", "FILTER", "EXISTS", "NOT", "!", "-", "+", "||", "&&", "/", "^", "|", ".", ";", ",",
            "SERVICE", "BIND", "AS", "IF", "IN", "GROUP BY", "<<", ">>", "\\", "a", "1",
        ][..]), 0..600),
    ) {
        let query = tokens.join(" ");
        if guard::check(&query).is_ok() {
            let _ = spargebra::SparqlParser::new().parse_query(&query);
        }
    }
}
