//! JSON: an object a record, a key a field. MARC-in-JSON: the fields of MARC.
//!
//! Objects stand on lines of their own, in an array, one after another, or alone. An array
//! gives repeated fields, an object within an object a field with children. Numbers are kept
//! as they are written: `1.10` is an edition and not 1.1.

mod marc;
mod split;
mod tree;

pub use split::split;

use super::Options;
use super::clean::{Faults, clean, text};
use crate::diagnostic::{Code, Diagnostic};
use crate::record::{Model, Record, RecordBuilder};
use tree::{Node, Repaired};

/// Keys that identify an object, if the user named none.
const ID_KEYS: [&str; 4] = ["id", "identifier", "@id", "_id"];

/// Reads one object. An object that is a MARC record is read as one.
pub fn decode(bytes: &[u8], options: &Options, diagnostics: &mut Vec<Diagnostic>) -> Option<Record> {
    read(bytes, diagnostics, |object, faults, diagnostics| {
        if marc::is_marc(object) {
            return marc::decode(object, faults, diagnostics);
        }
        let mut builder = RecordBuilder::new(Model::Json);
        for (key, value) in object {
            add(&mut builder, key, value, 0, faults);
        }
        let mut record = builder.finish();
        record.id = identifier(&record, options);
        Some(record)
    })
}

/// Reads one object that must be a MARC record.
pub fn decode_marc(bytes: &[u8], diagnostics: &mut Vec<Diagnostic>) -> Option<Record> {
    read(bytes, diagnostics, |object, faults, diagnostics| {
        if marc::is_marc(object) {
            return marc::decode(object, faults, diagnostics);
        }
        diagnostics.push(
            Diagnostic::new(Code::NotARecord, "the object has no `leader` with `fields`")
                .hint("import it with the format `json` if it is not MARC"),
        );
        None
    })
}

type Object<'a> = [(std::borrow::Cow<'a, str>, Node<'a>)];

fn read(
    bytes: &[u8],
    diagnostics: &mut Vec<Diagnostic>,
    make: impl FnOnce(&Object<'_>, &mut Faults, &mut Vec<Diagnostic>) -> Option<Record>,
) -> Option<Record> {
    let mut faults = Faults::default();
    let text = text(bytes, &mut faults);
    let text = text.trim_start_matches('\u{FEFF}');
    let Repaired { text, depth, raw } = tree::repair(text, &mut faults);
    if depth > tree::DEPTH_LIMIT {
        diagnostics.push(Diagnostic::new(
            Code::JsonLimit,
            format!("the object is nested {depth} deep, the limit is {}", tree::DEPTH_LIMIT),
        ));
        return None;
    }
    let node = match tree::parse(&text) {
        Ok(node) => node,
        Err(error) => {
            diagnostics.push(Diagnostic::new(Code::JsonSyntax, error.to_string()));
            return None;
        }
    };
    let Node::Object(object) = &node else {
        diagnostics
            .push(Diagnostic::new(Code::NotARecord, format!("expected an object, found {}", node.kind())));
        return None;
    };
    let record = make(object, &mut faults, diagnostics);
    if record.is_some() {
        if raw > 0 {
            diagnostics.push(Diagnostic::new(
                Code::LineSyntax,
                format!("{raw} line breaks, tabs or the like stand in strings without an escape"),
            ));
        }
        faults.report(diagnostics);
    }
    record
}

fn add(builder: &mut RecordBuilder, key: &str, value: &Node<'_>, depth: usize, faults: &mut Faults) {
    match value {
        Node::Null => {}
        Node::Array(items) => {
            for item in items {
                add(builder, key, item, depth, faults);
            }
        }
        Node::Object(members) => {
            builder.field(&clean(key, faults), [' ', ' '], "", depth);
            for (key, value) in members {
                add(builder, key, value, depth + 1, faults);
            }
        }
        Node::Text(_) | Node::Word(_) => {
            let value = value.scalar().unwrap_or_default();
            // An empty string says as little as null does.
            if !value.is_empty() {
                builder.field(&clean(key, faults), [' ', ' '], &clean(value, faults), depth);
            }
        }
    }
}

fn identifier(record: &Record, options: &Options) -> Option<String> {
    match options.id_field.as_deref().map(str::trim) {
        // A key may itself hold a dot, so the whole name is tried before it is taken apart.
        Some(path) => at_path(record, &[path]).or_else(|| {
            let path: Vec<&str> = path.split('.').collect();
            at_path(record, &path)
        }),
        None => ID_KEYS.into_iter().find_map(|key| at_path(record, &[key])),
    }
}

/// The first text at a path of keys from the top.
fn at_path(record: &Record, path: &[&str]) -> Option<String> {
    // How many keys of the path lead to the field at hand: fields deeper than that are not on
    // it, fields less deep end it.
    let mut matched = 0;
    for field in record.fields() {
        matched = matched.min(field.depth());
        if matched < field.depth() || path.get(matched) != Some(&field.tag()) {
            continue;
        }
        matched += 1;
        let value = field.text().trim();
        if matched == path.len() && !value.is_empty() {
            return Some(value.to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::write_field;
    use proptest::prelude::*;
    use std::fmt::Write;

    fn outcome(json: &[u8], options: &Options) -> (Option<Record>, Vec<Diagnostic>) {
        let mut diagnostics = Vec::new();
        let record = decode(json, options, &mut diagnostics);
        (record, diagnostics)
    }

    /// Fields as `tag text`, indented by depth, then the codes of diagnostics.
    fn check(json: impl AsRef<[u8]>, expected: &[&str]) {
        let (record, diagnostics) = outcome(json.as_ref(), &Options::default());
        let mut found: Vec<String> = Vec::new();
        for field in record.iter().flat_map(|record| record.fields().collect::<Vec<_>>()) {
            let mut line = "  ".repeat(field.depth());
            write!(line, "{} ", field.tag()).unwrap();
            write_field(field, &mut line);
            found.push(line);
        }
        found.extend(diagnostics.iter().map(|diagnostic| diagnostic.code.to_string()));
        assert_eq!(found, expected);
    }

    #[test]
    fn keys_are_fields_arrays_repeat_objects_nest() {
        check(
            r#"{"title": "Walden", "year": 1854.10, "open": true, "no": null, "empty": "",
                "subject": ["ponds", ["solitude"]],
                "creator": {"name": {"last": "Thoreau"}, "born": 1.8170e3}, "title": "Twice"}"#,
            &[
                "title Walden",
                "year 1854.10",
                "open true",
                "subject ponds",
                "subject solitude",
                "creator ",
                "  name ",
                "    last Thoreau",
                "  born 1.8170e3",
                "title Twice",
            ],
        );
    }

    #[test]
    fn characters_that_are_none_are_replaced() {
        check(r#"{"a": "x\ud800y\udc00\ud800"}"#, &["a x\u{FFFD}y\u{FFFD}\u{FFFD}", "undecodable-bytes"]);
        check(r#"{"a": "\ud83d\ude00 \\ud800"}"#, &["a \u{1F600} \\ud800"]);
        check(r#"{"a\u0000": "\u0007b"}"#, &["a\u{FFFD} \u{FFFD}b", "forbidden-character"]);
        check("{\"a\": \"tab\tnul\0\"}", &["a tab\tnul\u{FFFD}", "line-syntax", "forbidden-character"]);
        check(b"{\"a\": \"caf\xE9\"}", &["a caf\u{E9}", "charset-mismatch"]);
        check("{\"a\": \"e\u{301}\"}", &["a \u{E9}"]);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        check("{\"a\": tru}", &["json-syntax"]);
        check("{\"a\": 1,}", &["json-syntax"]);
        check("{\"a\": 01}", &["json-syntax"]);
        check("{\"a\": \"\\x\"}", &["json-syntax"]);
        check("{\"a\": 1} x", &["json-syntax"]);
        check("", &["json-syntax"]);
        check("[1]", &["not-a-record"]);
        check("\"text\"", &["not-a-record"]);
    }

    #[test]
    fn nesting_is_bounded_before_it_is_parsed() {
        let nested = |depth: usize| format!("{{\"a\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
        check(nested(127), &["a 1"]);
        check(nested(128), &["json-limit"]);
        check(nested(2_000_000), &["json-limit"]);
    }

    #[test]
    fn an_object_is_named_by_its_id() {
        let id = |json: &str, field: Option<&str>| {
            let options = Options { id_field: field.map(str::to_owned), ..Options::default() };
            outcome(json.as_bytes(), &options).0.unwrap().id
        };
        assert_eq!(id(r#"{"identifier": "b", "id": 7}"#, None).as_deref(), Some("7"));
        assert_eq!(id(r#"{"a": {"id": 1}, "_id": "x"}"#, None).as_deref(), Some("x"));
        let nested = r#"{"id": 1, "other": {"id": 2}, "meta": {"x": {"id": 3}, "id": 4}}"#;
        assert_eq!(id(nested, Some("meta.id")).as_deref(), Some("4"));
        assert_eq!(id(r#"{"meta.id": 5}"#, Some("meta.id")).as_deref(), Some("5"));
        assert_eq!(id(r#"{"id": 1}"#, Some("meta.id")), None);
        assert_eq!(id(r#"{"id": {"a": 1}}"#, None), None);
    }

    #[test]
    fn marc_in_json_is_marc() {
        check(
            r##"{"leader": "01471cjm a2200349 a 4500", "fields": [{"001": "5674874"},
                {"245": {"ind1": "0", "ind2": "4", "subfields": [{"a": "The Great Ray Charles"}, {"h": "[sound]"}]}},
                {"650": {"subfields": {"a": "Jazz", "x": ["one", "two"]}}},
                {"tag": "700", "ind1": "1", "ind2": " ", "subfields": [{"code": "a", "value": "Charles, Ray"}]}]}"##,
            &[
                "001 5674874",
                "245 04 $a The Great Ray Charles $h [sound]",
                "650 ## $a Jazz $x one $x two",
                "700 1# $a Charles, Ray",
            ],
        );
        check(
            r##"{"leader": "01471cjm a2200349 a 4500", "controlfield": [{"tag": "001", "data": "1"}],
                "datafield": [{"tag": "245", "ind": "10", "subfield": [{"code": "a", "data": "Title"}]}]}"##,
            &["001 1", "245 10 $a Title"],
        );
    }

    #[test]
    fn a_bad_marc_field_costs_no_other() {
        check(
            r#"{"leader": "short", "fields": ["x", {"245": {"ind1": "10", "subfields": [{"a": {}}, {"b": "B"}]}},
                {"300": [1]}, {"500": {}}, {"001": "id"}]}"#,
            &[
                "245 1# $b B",
                "001 id",
                "bad-leader",
                "bad-field",
                "bad-field",
                "bad-field",
                "bad-field",
                "bad-field",
            ],
        );
        let mut diagnostics = Vec::new();
        assert!(decode_marc(b"{\"title\": 1}", &mut diagnostics).is_none());
        assert_eq!(diagnostics[0].code, Code::NotARecord);
    }

    fn encode(record: &Record) -> String {
        let mut fields = Vec::new();
        for field in record.fields() {
            let content = if field.is_control() {
                serde_json::json!(field.text())
            } else {
                let subfields: Vec<_> = field
                    .subfields()
                    .map(|subfield| serde_json::json!({ subfield.code: subfield.value }))
                    .collect();
                serde_json::json!({ "ind1": field.ind1(), "ind2": field.ind2(), "subfields": subfields })
            };
            fields.push(serde_json::json!({ field.tag(): content }));
        }
        serde_json::json!({ "leader": record.leader(), "fields": fields }).to_string()
    }

    proptest! {
        #[test]
        fn marc_that_is_written_is_read(
            id in "[a-z0-9]{1,8}",
            fields in proptest::collection::vec(
                ("[1-9][0-9]{2}", "[ 0-9]", "[ 0-9]", proptest::collection::vec(("[a-z0-9]", "[ -~äß漢]{0,8}"), 1..4)),
                0..6,
            ),
        ) {
            let mut builder = RecordBuilder::new(Model::Marc21);
            builder.leader("00000nam a2200000 a 4500");
            builder.field("001", [' ', ' '], &id, 0);
            for (tag, ind1, ind2, subfields) in &fields {
                let indicator = |text: &String| text.chars().next().unwrap_or(' ');
                builder.field(tag, [indicator(ind1), indicator(ind2)], "", 0);
                for (code, value) in subfields {
                    builder.subfield(code, value);
                }
            }
            let mut record = builder.finish();
            super::super::marc::finish(&mut record);
            let mut diagnostics = Vec::new();
            prop_assert_eq!(decode_marc(encode(&record).as_bytes(), &mut diagnostics), Some(record));
            prop_assert!(diagnostics.is_empty());
        }

        #[test]
        fn any_text_is_read_or_refused(input in "[{}\\[\\],:\"a1u\\\\d8\n ]{0,40}") {
            let (record, diagnostics) = outcome(input.as_bytes(), &Options::default());
            prop_assert!(record.is_some() || !diagnostics.is_empty());
        }
    }
}
