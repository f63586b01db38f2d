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
use crate::diagnostic::{Code, Diagnostic, RecordLog};
use crate::record::{Model, Name, Record, RecordBuilder};
use tree::{Node, Parsed, Repaired};

/// Keys that identify an object, if the user named none.
const ID_KEYS: [&str; 4] = ["id", "identifier", "@id", "_id"];

/// Reads one object. An object that is a MARC record is read as one.
pub fn decode(bytes: &[u8], options: &Options, diagnostics: &mut RecordLog) -> Option<Record> {
    read(bytes, diagnostics, |object, faults, diagnostics| {
        if marc::is_marc(object) {
            return marc::decode(object, faults, diagnostics);
        }
        let mut builder = RecordBuilder::new(Model::Json);
        for (key, value) in object {
            add(&mut builder, &mut Key::new(key), value, 0, faults);
        }
        let mut record = builder.finish();
        record.id = identifier(&record, options);
        Some(record)
    })
}

/// Reads one object that must be a MARC record.
pub fn decode_marc(bytes: &[u8], diagnostics: &mut RecordLog) -> Option<Record> {
    read(bytes, diagnostics, |object, faults, diagnostics| {
        if marc::is_marc(object) {
            return marc::decode(object, faults, diagnostics);
        }
        diagnostics.refuse(
            Diagnostic::new(Code::NotARecord, "the object has no `leader` with `fields`")
                .hint("import it with the format `json` if it is not MARC"),
        )
    })
}

type Object<'a> = [(std::borrow::Cow<'a, str>, Node<'a>)];

fn read(
    bytes: &[u8],
    diagnostics: &mut RecordLog,
    make: impl FnOnce(&Object<'_>, &mut Faults, &mut RecordLog) -> Option<Record>,
) -> Option<Record> {
    let mut faults = Faults::default();
    let text = text(bytes, &mut faults);
    let text = text.trim_start_matches('\u{FEFF}');
    let Repaired { text, depth, raw } = tree::repair(text, &mut faults);
    if depth > tree::DEPTH_LIMIT {
        let message = format!("the object is nested {depth} deep, the limit is {}", tree::DEPTH_LIMIT);
        return diagnostics.refuse(Diagnostic::new(Code::JsonLimit, message));
    }
    let Parsed { node, longest_key } = match tree::parse(&text) {
        Ok(parsed) => parsed,
        Err(error) => {
            return diagnostics.refuse(Diagnostic::new(Code::JsonSyntax, error.to_string()));
        }
    };
    if longest_key > tree::KEY_LIMIT {
        let message = format!("a key has {longest_key} bytes, the limit is {}", tree::KEY_LIMIT);
        return diagnostics.refuse(Diagnostic::new(Code::JsonLimit, message));
    }
    let Node::Object(object) = &node else {
        let message = format!("expected an object, found {}", node.kind());
        return diagnostics.refuse(Diagnostic::new(Code::NotARecord, message));
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

/// A key while its values are read. It goes into the record with the first of them, and once for
/// all: an array may have millions.
struct Key<'a> {
    written: &'a str,
    name: Option<Name>,
}

impl<'a> Key<'a> {
    fn new(written: &'a str) -> Self {
        Self { written, name: None }
    }

    fn name(&mut self, builder: &mut RecordBuilder, faults: &mut Faults) -> Name {
        *self.name.get_or_insert_with(|| builder.name(&clean(self.written, faults)))
    }
}

fn add(builder: &mut RecordBuilder, key: &mut Key<'_>, value: &Node<'_>, depth: usize, faults: &mut Faults) {
    match value {
        Node::Null => {}
        Node::Array(items) => {
            for item in items {
                add(builder, key, item, depth, faults);
            }
        }
        Node::Object(members) => {
            let name = key.name(builder, faults);
            builder.field_named(name, [' ', ' '], "", depth);
            for (key, value) in members {
                add(builder, &mut Key::new(key), value, depth + 1, faults);
            }
        }
        Node::Text(_) | Node::Word(_) => {
            let value = value.scalar().unwrap_or_default();
            // An empty string says as little as null does.
            if !value.is_empty() {
                let name = key.name(builder, faults);
                builder.field_named(name, [' ', ' '], &clean(value, faults), depth);
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
        let mut diagnostics = RecordLog::default();
        let record = decode(json, options, &mut diagnostics);
        (record, diagnostics.into_iter().collect())
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

    /// Its key was once copied for each value: 64 kB and 16 MB of `1,` made 500 GB.
    #[test]
    fn a_key_is_in_the_record_once_however_many_values_it_has() {
        let mut builder = RecordBuilder::new(Model::Json);
        let text = format!(r#"["x", {{"b": 1}}, [{}2]]"#, "1,".repeat(1000));
        let Parsed { node, .. } = tree::parse(&text).unwrap();
        let mut faults = Faults::default();
        add(&mut builder, &mut Key::new("a\u{7}"), &node, 0, &mut faults);
        assert_eq!(builder.len(), 1004);
        assert_eq!(builder.text().matches("a\u{FFFD}").count(), 1);
        assert_eq!(faults.controls, 1);
    }

    #[test]
    fn a_key_that_is_no_name_is_refused() {
        let named = |length: usize| format!("{{\"b\": [{{\"{}\": 1}}]}}", "a".repeat(length));
        check(named(tree::KEY_LIMIT + 1), &["json-limit"]);
        let longest = format!("  {} 1", "a".repeat(tree::KEY_LIMIT));
        check(named(tree::KEY_LIMIT), &["b ", &longest]);
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
        let long = "x".repeat(1000);
        check(
            format!(
                r#"{{"leader": "00000nam a2200000 a 4500", "fields": [{{"{long}": "1"}}, {{"tag": "{long}", "subfields": []}},
                {{"500": {{"subfields": [{{"code": "{long}", "data": ["A", {{}}]}}, {{"b": "B"}}]}}}}]}}"#
            ),
            &["500 ## $b B", "bad-field", "bad-field", "bad-field"],
        );
        let mut diagnostics = RecordLog::default();
        assert!(decode_marc(b"{\"title\": 1}", &mut diagnostics).is_none());
        assert_eq!(diagnostics.into_iter().next().map(|said| said.code), Some(Code::NotARecord));
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
            let mut diagnostics = RecordLog::default();
            prop_assert_eq!(decode_marc(encode(&record).as_bytes(), &mut diagnostics), Some(record));
            prop_assert_eq!(diagnostics.into_iter().next(), None);
        }

        #[test]
        fn any_text_is_read_or_refused(input in "[{}\\[\\],:\"a1u\\\\d8\n ]{0,40}") {
            let (record, diagnostics) = outcome(input.as_bytes(), &Options::default());
            prop_assert!(record.is_some() || !diagnostics.is_empty());
        }
    }
}
