//! A second opinion on MARC: every bundled file is read by `yaz-marcdump` too, and both must
//! see the same records, fields, indicators, subfields and values.
//!
//! YAZ leaves text as it is composed in the file, so its values are brought to NFC before they
//! are compared. It is a program of its own, part of what `scripts/setup` installs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cases;

use pinakes::decode::read_all;
use pinakes::record::{Format, Record};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use unicode_normalization::UnicodeNormalization;

/// The files, how YAZ reads them, and in which character set.
const FILES: &[(&str, Format, &str)] = &[
    ("examples/library.mrc", Format::Iso2709, "utf-8"),
    ("examples/college-marc8.mrc", Format::Iso2709, "marc-8"),
    ("examples/bibliotheque.unimarc.mrc", Format::Iso2709, "utf-8"),
    ("examples/verbund.marcxml", Format::MarcXml, "utf-8"),
    ("tests/golden/iso2709/latin-1-under-a-false-leader/input.mrc", Format::Iso2709, "iso-8859-1"),
    ("tests/golden/iso2709/marc-8/input.mrc", Format::Iso2709, "marc-8"),
    ("tests/golden/iso2709/marc21-utf-8/input.mrc", Format::Iso2709, "utf-8"),
    ("tests/golden/iso2709/unimarc-iso-5426/input.mrc", Format::Iso2709, "iso5426"),
    ("tests/golden/iso2709/unimarc-utf-8/input.mrc", Format::Iso2709, "utf-8"),
    ("tests/golden/marcxml/collection/input.xml", Format::MarcXml, "utf-8"),
    ("tests/golden/marcxml/marcxchange/input.xml", Format::MarcXml, "utf-8"),
];

/// Files that are not compared, each with its reason.
const LEFT_OUT: &[(&str, &str)] = &[(
    "tests/golden/iso2709/wrong-numbers/input.mrc",
    "YAZ believes wrong numbers and cuts fields apart by them",
)];

/// Fields that the two read differently on purpose: the end of the file's name, the tag, why.
const DIFFERENT: &[(&str, &str, &str)] = &[
    ("marc-8/input.mrc", "505", "YAZ drops the value before a mark without a letter; we keep it"),
    ("marc-8/input.mrc", "520", "YAZ keeps numeric references as they are written"),
    (
        "marc21-utf-8/input.mrc",
        "599",
        "a field without subfields: YAZ gives its indicators, we keep its text",
    ),
    ("collection/input.xml", "065", "YAZ keeps the tag `65`, and takes the first letter for a missing code"),
    ("collection/input.xml", "65", "the same"),
    ("marcxchange/input.xml", "200", "YAZ believes the declaration, which lies about the character set"),
];

#[test]
fn both_readers_see_the_same_in_every_file() {
    let mut differences = Vec::new();
    for (file, format, charset) in FILES {
        check_agreement(file, *format, charset, &mut differences);
    }
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
}

#[test]
fn every_bundled_marc_file_is_compared_or_left_out_with_a_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found: Vec<String> = Vec::new();
    let golden = ["iso2709", "marcxml"].map(|format| root.join("tests/golden").join(format));
    let cases = golden.iter().flat_map(|format| cases::entries(format)).map(|case| cases::input(&case));
    let examples = cases::entries(&root.join("examples"))
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "mrc" || ending == "marcxml"));
    found.extend(cases.chain(examples).map(|path| path.strip_prefix(root).unwrap().display().to_string()));
    let known = |file: &String| {
        FILES.iter().any(|(known, ..)| known == file) || LEFT_OUT.iter().any(|(known, _)| known == file)
    };
    found.retain(|file| !known(file));
    assert!(found.is_empty(), "not compared: {found:?}");
}

fn check_agreement(file: &str, format: Format, charset: &str, differences: &mut Vec<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let (records, _) = read_all(&fs::read(&path).unwrap(), format).unwrap();
    let ours: Vec<Vec<String>> = records.iter().map(|record| lines(record, file)).collect();
    let theirs = read_by_yaz(&path, format, charset, file);
    if ours.len() != theirs.len() {
        differences.push(format!("{file}: {} records here, {} by YAZ", ours.len(), theirs.len()));
    }
    for (number, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        let longest = ours.len().max(theirs.len());
        for line in 0..longest {
            let (our, their) = (ours.get(line), theirs.get(line));
            if our != their {
                differences.push(format!("{file}, record {}:\n  here {our:?}\n  YAZ  {their:?}", number + 1));
                break;
            }
        }
    }
}

/// A record as lines: the leader, then each field with its subfields.
fn lines(record: &Record, file: &str) -> Vec<String> {
    let fields = record.fields().filter(|field| is_compared(file, field.tag())).map(|field| {
        let subfields: String =
            field.subfields().map(|subfield| format!(" ${} {}", subfield.code, subfield.value)).collect();
        match subfields.is_empty() {
            true => format!("{} {}", field.tag(), field.text()),
            false => format!("{} [{}{}]{subfields}", field.tag(), field.ind1(), field.ind2()),
        }
    });
    std::iter::once(record.leader().to_owned()).chain(fields).collect()
}

fn is_compared(file: &str, tag: &str) -> bool {
    !DIFFERENT.iter().any(|(end, differs, _)| file.ends_with(end) && *differs == tag)
}

fn read_by_yaz(path: &Path, format: Format, charset: &str, file: &str) -> Vec<Vec<String>> {
    let syntax = if format == Format::MarcXml { "marcxml" } else { "marc" };
    let output = Command::new("yaz-marcdump")
        .args(["-i", syntax, "-o", "json", "-f", charset, "-t", "utf-8"])
        .arg(path)
        .output()
        .unwrap_or_else(|error| panic!("cannot run `yaz-marcdump`, which scripts/setup installs: {error}"));
    assert!(output.status.success(), "yaz-marcdump {file}: {}", String::from_utf8_lossy(&output.stderr));
    let text: String = String::from_utf8(output.stdout).unwrap().nfc().collect();
    serde_json::Deserializer::from_str(&text)
        .into_iter::<Value>()
        .map(|record| yaz_lines(&record.unwrap(), file))
        .collect()
}

fn yaz_lines(record: &Value, file: &str) -> Vec<String> {
    let mut lines = vec![record["leader"].as_str().unwrap().to_owned()];
    for (tag, content) in
        record["fields"].as_array().unwrap().iter().flat_map(|field| field.as_object().unwrap())
    {
        if !is_compared(file, tag) {
            continue;
        }
        let Some(subfields) = content["subfields"].as_array() else {
            lines.push(format!("{tag} {}", content.as_str().unwrap()));
            continue;
        };
        let indicator = |name: &str| content[name].as_str().unwrap().to_owned();
        let mut line = format!("{tag} [{}{}]", indicator("ind1"), indicator("ind2"));
        for (code, value) in subfields.iter().flat_map(|subfield| subfield.as_object().unwrap()) {
            line.push_str(&format!(" ${code} {}", value.as_str().unwrap()));
        }
        lines.push(line);
    }
    lines
}
