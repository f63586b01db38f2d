//! Inputs that once took hours or gigabytes, at a size at which they would again.
//!
//! Nothing is timed here. Reading must be linear in the input: where it is not, these do not come
//! to their end while anybody waits. And however many faults a record has, few are told one by one.
//! What is made of a record is bounded, whatever it holds.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use pinakes::catalogue::Graphs;
use pinakes::concordance::Concordances;
use pinakes::decode::{self, Options, Piece};
use pinakes::diagnostic::Code;
use pinakes::map::{self, ContentTypes};
use pinakes::record::{Format, Record};

/// Bytes of an input.
const SIZE: usize = 4 << 20;
/// Diagnostics that one record may have: two dozen, the first and the sum of a few more kinds.
const TOLD: usize = 32;
/// Statements that may be made of one record: those of rules, those that keep what no rule
/// carried, and the few that every record has.
const STATEMENTS: usize = 50_000 + 100_000 * 5 + 100;
/// Bytes of all of them.
const MADE: usize = 256 << 20;

/// As many of something as fit.
fn flood(unit: &str) -> String {
    flood_of(SIZE, unit)
}

fn flood_of(size: usize, unit: &str) -> String {
    unit.repeat(size / unit.len())
}

/// As many of something as fit, each made of its number.
fn each(unit: impl Fn(usize) -> String) -> String {
    let mut out = String::new();
    let mut number = 0;
    while out.len() < SIZE {
        out.push_str(&unit(number));
        number += 1;
    }
    out
}

/// Reads everything; gives the records and the rejects.
#[track_caller]
fn read(name: &str, format: Format, bytes: &[u8]) -> (usize, usize) {
    let stored = decode::stored_format(format);
    let (mut records, mut rejects) = (0, 0);
    for piece in decode::split(Box::new(bytes), format, "input") {
        match piece.unwrap() {
            Piece::Record(payload, mut noticed) => {
                records += 1;
                let record = decode::decode(&payload.bytes, stored, &Options::default(), &mut noticed);
                assert!(record.is_some() || !noticed.is_empty(), "{name} is refused without a reason");
                assert!(noticed.len() <= TOLD, "{name} gives {} diagnostics", noticed.len());
                assert!(noticed.iter().all(|said| said.message.len() < 2000), "{name} is told at length");
            }
            Piece::Reject(_, reason) => {
                rejects += 1;
                assert!(reason.message.len() < 2000, "{name} is told at length");
            }
        }
    }
    (records, rejects)
}

/// Reads an input that is one record.
#[track_caller]
fn check_record(name: &str, format: Format, text: impl AsRef<[u8]>) {
    assert_eq!(read(name, format, text.as_ref()), (1, 0), "{name}");
}

/// Maps an input that is one record; gives what is noticed.
#[track_caller]
fn check_map(name: &str, format: Format, text: &str) -> Vec<Code> {
    let mut noticed = Vec::new();
    let record: Record = decode::decode(text.as_bytes(), format, &Options::default(), &mut noticed).unwrap();
    let context = map::Context {
        graphs: &Graphs::new("https://catalogue.example/").unwrap(),
        concordances: &Concordances::shipped(),
        content_types: &ContentTypes::shipped(),
        source: "floods",
        id: record.id.as_deref().unwrap_or("none"),
        default_type: None,
    };
    let mapped = map::map(&record, &context);
    let bytes: usize = mapped.triples.iter().map(|triple| triple.to_string().len()).sum();
    assert!(mapped.triples.len() <= STATEMENTS, "{name} makes {} statements", mapped.triples.len());
    assert!(bytes <= MADE, "{name} makes {bytes} bytes");
    noticed.extend(mapped.diagnostics);
    assert!(noticed.len() <= TOLD, "{name} gives {} diagnostics", noticed.len());
    noticed.iter().map(|said| said.code).collect()
}

#[test]
fn values_of_xml_may_hold_anything_without_end() {
    let dc = |attributes: &str, text: &str| {
        format!("<dc xmlns='http://purl.org/dc/elements/1.1/'><title {attributes}>{text}</title></dc>")
    };
    // A tag is a megabyte at most.
    let part = |unit: &str| unit.repeat((1_000_000) / unit.len());
    for unit in ["&", "&a", "&a ", "&#1;", "&amp;", "\t", ";"] {
        check_record(unit, Format::OaiDc, dc(&format!("xml:lang=\"{}\"", part(unit)), "x"));
        check_record(unit, Format::OaiDc, dc("", &flood(unit)));
    }
    for unit in
        ["<a/>", "<a>x</a>", "<!---->", "<![CDATA[&]]>", "<?a?>", "e\u{301}\u{323}", "\u{301}", "\u{FFFF}"]
    {
        check_record(unit, Format::OaiDc, dc("", &flood(unit)));
    }
}

#[test]
fn bad_marc_in_xml_is_told_in_few_words() {
    let record = |fields: &str| {
        format!(
            "<record xmlns='http://www.loc.gov/MARC21/slim'><leader>00000nam a2200000 a 4500</leader>{fields}</record>"
        )
    };
    for unit in
        ["<x/>", "<datafield/>", "<datafield tag='1'>x</datafield>", "<controlfield><a/></controlfield>"]
    {
        check_record(unit, Format::MarcXml, record(&flood(unit)));
    }
}

#[test]
fn namespaces_around_many_records_cost_little() {
    let scope: String = (0..60).map(|n| format!(" xmlns:n{n}=''")).collect();
    let open = format!("<a{scope}>").repeat(4);
    let records = flood("<record xmlns:a='b'><leader/></record>");
    read("namespaces", Format::MarcXml, format!("{open}{records}").as_bytes());
    read("wrappers", Format::MarcXml, format!("<a>{}", flood("<b></b>")).as_bytes());
    read("undecided", Format::MarcXml, flood("<record>").as_bytes());
}

#[test]
fn lines_may_hold_anything_without_end() {
    let mrk = |content: &str| format!("=LDR  00000nam a2200000 a 4500\n=001  1\n=245  10$a{content}\n");
    for unit in ["{", "{a", "{ab}", "{acute}", "$", "$a", "c\n", " \n x\n", "=\n", "\u{301}"] {
        check_record(unit, Format::Mrk, mrk(&flood(unit)));
    }
    check_record("mnemonics", Format::Mrk, mrk(&each(|n| format!("{{q{n}z}}"))));
    check_record("indicators", Format::Mrk, format!("{}=300  {}$a", mrk("x"), flood("1")));
    let aleph =
        |content: &str| format!("000000001 LDR   L 00000nam^a2200000^a^4500\n000000001 24510 L {content}\n");
    for unit in ["c\n", "\n", "$$", "$$a", "x", "000000001 24\n", "000000001 245   L x$$aT$$\n"] {
        check_record(unit, Format::Aleph, aleph(&flood(unit)));
    }
}

#[test]
fn exchange_records_may_hold_anything_without_end() {
    let record = |content: &[u8]| {
        [b"00000nam a2200037 a 4500245000000000\x1E10\x1Fa".as_slice(), content, b"\x1E\x1D"].concat()
    };
    for unit in [
        b"\x1F".as_slice(),
        b"\x1Fa",
        b"\x1E",
        b"\xE2",
        b"\xE2\xF2",
        b"\x1B(",
        b"\x1B$1!",
        b"\x1B(N\x1B(B",
        b"\xFF",
        b"&#x",
        b"&#x41;",
        b"\x07",
        b"\xC3\xA9\x07",
        b"\xCC\x81",
    ] {
        let name = unit.escape_ascii().to_string();
        check_record(&name, Format::Iso2709, record(&unit.repeat(SIZE / unit.len())));
    }
    let entries = flood("245000000000");
    let many = format!("00000nam a2200037 a 4500{entries}\x1E{}\x1D", "10\x1Fax\x1E".repeat(1000));
    check_record("entries", Format::Iso2709, many);
    read("terminators", Format::Iso2709, flood("\x1D").as_bytes());
    read("leaders", Format::Iso2709, flood("00050nam a2200037 a 4500\x1D").as_bytes());
    read("padding", Format::Iso2709, format!("00050nam a22\x1D{}x", flood(" ")).as_bytes());
}

#[test]
fn json_may_hold_anything_without_end() {
    for unit in ["1,", "[],", "{},", "\"\\ud800\",", "\"\u{301}\",", "{\"a\":{\"b\":1}},"] {
        check_record(unit, Format::Json, format!("{{\"a\":[{}1]}}", flood(unit)));
    }
    check_record("keys", Format::Json, format!("{{{}\"z\":1}}", each(|n| format!("\"k{n}\":1,"))));
    check_record(
        "fields",
        Format::MarcJson,
        format!("{{\"leader\":\"\",\"fields\":[{}1]}}", flood("{\"245\":[1],\"x\":{}},")),
    );
    let key = "k".repeat(4096);
    check_record("a long key", Format::Json, format!("{{\"{key}\":[{}1]}}", flood("1,")));
    check_record("a key without end", Format::Json, format!("{{\"{}\":[{}1]}}", flood("k"), flood("1,")));
    let marc = |fields: String| format!("{{\"leader\":\"\",\"fields\":[{fields}]}}");
    for name in ["k".repeat(64), key, flood_of(SIZE / 4, "k")] {
        for values in [flood("1,"), flood("{},")] {
            let code =
                format!("{{\"245\":{{\"subfields\":[{{\"code\":\"{name}\",\"data\":[{values}1]}}]}}}}");
            check_record("a code", Format::MarcJson, marc(code));
            let tag = format!("{{\"tag\":\"{name}\",\"subfields\":[{values}1]}}");
            check_record("a tag", Format::MarcJson, marc(tag));
        }
    }
    for unit in ["{", "[", "{\"a\"", "[{\"a\":", "\"", "}", "{ ", ",{\"a\" ", "\n{\"a\" ", "x "] {
        read(unit, Format::Json, flood(unit).as_bytes());
        read(unit, Format::Json, format!("[{{\"a\":1}},{}", flood(unit)).as_bytes());
    }
}

/// Rules stopped at 50,000 statements, and what they left over made five for each value.
#[test]
fn what_is_made_of_values_without_end_is_bounded() {
    let flood = |unit: &str| flood_of(SIZE / 4, unit);
    let array = |key: &str, unit: &str| format!("{{\"{key}\":[{}1]}}", flood(unit));
    let cut = [Code::MissingIdentifier, Code::TooManyStatements];
    let is_cut = |codes: &[Code]| codes.contains(&Code::TooManyStatements);
    for (key, unit) in [
        ("a".to_owned(), "1,"),
        ("a".to_owned(), "{\"b\":1},"),
        ("k".repeat(4096), "1,"),
        (" ".repeat(4096), "1,"),
        // A rule takes it, and makes the same statements of each.
        ("title".to_owned(), "\"x\","),
        (format!("{}title", " ".repeat(60)), "\"x\","),
    ] {
        let text = array(&key, unit);
        assert!(is_cut(&check_map(&key, Format::Json, &text)), "{key}");
    }
    let named = format!("{{\"id\":\"{}\",\"a\":[{}1]}}", flood("i"), flood("1,"));
    assert_eq!(check_map("identifier", Format::Json, &named), cut);
    let code = "k".repeat(64);
    let marc = format!(
        "{{\"leader\":\"00000nam a2200000 a 4500\",\"fields\":[{{\"245\":{{\"subfields\":[{{\"{code}\":[{}1]}}]}}}}]}}",
        flood("1,")
    );
    assert!(is_cut(&check_map("code", Format::MarcJson, &marc)));
}

/// The way to each leaf was once written out: a megabyte for four bytes.
#[test]
fn the_way_to_leaves_without_end_is_not_written_for_each() {
    let mods = |levels: usize, name: &str, leaves: &str| {
        let (open, close) = (format!("<{name}>").repeat(levels), format!("</{name}>").repeat(levels));
        format!("<mods xmlns='http://www.loc.gov/mods/v3'>{open}{leaves}{close}</mods>")
    };
    let numbered: String = (0..100_000).map(|number| format!("<a{number}>x</a{number}>")).collect();
    for (levels, length) in [(250, 4000), (1, 1000), (250, 4)] {
        let name = "n".repeat(length);
        check_map("alike", Format::Mods, &mods(levels, &name, &flood_of(SIZE / 4, "<a/>")));
        check_map("different", Format::Mods, &mods(levels, &name, &numbered));
    }
}

#[test]
fn tables_may_hold_anything_without_end() {
    for unit in ["\"", "\"\"", ",", "\",\"", "\n", "\",x\",\"\n", "\"\n", "a,\"b\n", "\"a\"b,", "\r"] {
        read(unit, Format::Csv, format!("a,b,c\n1,2,3\n{}", flood(unit)).as_bytes());
        read(unit, Format::Csv, format!("{}\n1,2,3\n", flood(unit)).as_bytes());
        read(unit, Format::Tsv, format!("a\tb\n1\t2\n{}", flood(unit)).as_bytes());
    }
}

#[test]
fn statements_may_hold_anything_without_end() {
    for unit in
        ["<a:a> <a:b> <a:c> .\n", "x\n", "[", "<", "\"", "#", "<a:a> <a:b> _:c .\n", "@prefix a: <a:> .\n"]
    {
        read(unit, Format::Turtle, format!("<a:a> <a:b> 1 .\n{}", flood(unit)).as_bytes());
        read(unit, Format::NQuads, format!("<a:a> <a:b> \"1\" .\n{}", flood(unit)).as_bytes());
    }
    let literal = format!("<a:a> <a:b> \"{}\" .", flood("x"));
    read("literal", Format::Turtle, literal.as_bytes());
    let blank = each(|n| format!("<a:a> <a:b> _:n{n} .\n_:n{n} <a:c> _:m .\n"));
    read("blank", Format::NTriples, blank.as_bytes());
}

/// Items that are records of their own point at an instance that all others lead to.
#[test]
fn links_that_are_followed_backwards_are_not_followed_for_every_record() {
    let count = 20_000;
    let text: String = (0..count)
        .map(|n| {
            format!(
                "<a:i{n}> <http://id.loc.gov/ontologies/bibframe/itemOf> <a:x> .\n\
                 <a:i{n}> <a:p> \"1\" <a:i{n}> .\n<a:s{n}> <a:p> <a:x> .\n"
            )
        })
        .collect();
    let (records, _) = read("items", Format::NQuads, format!("{text}<a:x> <a:p> \"x\" .").as_bytes());
    assert!(records > count);
}

#[test]
fn json_ld_is_read_or_refused() {
    // Its parser is slow, so less will do.
    let flood = |unit: &str| flood_of(SIZE / 8, unit);
    for unit in ["1,", "[],", "{},", "{\"@id\":\"a:a\"},", "{\"@context\":{}},", "{\"@type\":\"a:T\"},"] {
        read(unit, Format::JsonLd, format!("{{\"@id\":\"a:s\",\"a:p\":[{}1]}}", flood(unit)).as_bytes());
        read(unit, Format::JsonLd, format!("[{}1]", flood(unit)).as_bytes());
    }
    for unit in ["{", "[", "\"", "{\"a\":", "x"] {
        read(unit, Format::JsonLd, flood(unit).as_bytes());
    }
    let terms = each(|n| format!("\"t{n}\":\"a:{n}\","));
    read("terms", Format::JsonLd, format!("{{\"@context\":{{{terms}\"z\":\"a:z\"}},\"t1\":1}}").as_bytes());
}
