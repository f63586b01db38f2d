//! MarcEdit's mnemonic text: `=245  10$aWalden :$bor, Life in the woods`.
//!
//! A line is a field, a blank line ends a record. A backslash is a blank in indicators and
//! control fields. Characters that mean something here, or that were hard to type once, are
//! mnemonics: `{dollar}`, `{eacute}`, and marks before their letter as in MARC-8, `{acute}e`
//! (see `mrk-mnemonics.tsv`). A line that does not begin a field goes on with the one before.

use super::clean::{Faults, clean, text};
use super::lines::{self, Role, lines_of};
use super::{Options, Pieces, leader, marc};
use crate::diagnostic::{Code, Diagnostic, RecordLog};
use crate::record::{Model, Record, RecordBuilder};
use memchr::memchr;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::BufRead;
use std::sync::LazyLock;

/// Cuts mnemonic text into records.
pub fn split<'a>(reader: Box<dyn BufRead + Send + 'a>) -> Pieces<'a> {
    lines::records(reader, |line, _| {
        // A line of blanks may be part of a value; where it stands between records, the leader
        // of the second tells.
        if line.is_empty() {
            Role::Separates
        } else if line.starts_with(b"=LDR") || line.starts_with(b"=000") {
            Role::Begins
        } else {
            Role::Joins
        }
    })
}

/// Reads one record.
pub fn decode(bytes: &[u8], _options: &Options, diagnostics: &mut RecordLog) -> Option<Record> {
    let mut faults = Faults::default();
    let text = text(bytes, &mut faults);
    let text = text.trim_start_matches('\u{FEFF}');
    let Some(fields) = fields_of(text) else {
        let message = "no line begins with a tag such as `=245`";
        return diagnostics.refuse(Diagnostic::new(Code::NotARecord, message).at(0));
    };
    let mut reader = Reader {
        builder: RecordBuilder::new(Model::Marc21),
        leader: String::new(),
        unknown: Unknown::default(),
        faults,
        diagnostics,
    };
    for (tag, content) in &fields {
        reader.field(tag, content);
    }
    reader.finish()
}

/// Tags and contents; `None` if there are none.
fn fields_of(text: &str) -> Option<Vec<(&str, Cow<'_, str>)>> {
    let mut fields: Vec<(&str, Cow<'_, str>)> = Vec::new();
    for line in lines_of(text) {
        if let Some((tag, content)) = field_line(line) {
            fields.push((tag, Cow::Borrowed(content)));
        } else if let Some((_, content)) = fields.last_mut()
            && !line.trim().is_empty()
        {
            let content = content.to_mut();
            if !content.ends_with(' ') {
                content.push(' ');
            }
            content.push_str(line.trim_start());
        }
    }
    (!fields.is_empty()).then_some(fields)
}

/// `=`, a tag of three characters, and two blanks, of which some programs write fewer.
fn field_line(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix('=')?;
    let (tag, content) = line.split_at_checked(3)?;
    if !tag.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    match content.strip_prefix("  ").or_else(|| content.strip_prefix([' ', '\t'])) {
        Some(content) => Some((tag, content)),
        None if content.is_empty() => Some((tag, "")),
        None => None,
    }
}

struct Reader<'a> {
    builder: RecordBuilder,
    leader: String,
    unknown: Unknown,
    faults: Faults,
    diagnostics: &'a mut RecordLog,
}

impl Reader<'_> {
    fn field(&mut self, tag: &str, content: &str) {
        if matches!(tag, "LDR" | "000") {
            self.leader = self.value(&content.replace('\\', " "));
            return;
        }
        if tag.starts_with("00") {
            let value = self.value(&content.replace('\\', " "));
            self.builder.field(tag, [' ', ' '], &value, 0);
            return;
        }
        let Some((indicators, subfields)) = content.split_once('$') else {
            if tag.bytes().all(|byte| byte.is_ascii_digit()) {
                self.bad(tag, "the field has no subfields; its text was kept");
            }
            let value = self.value(content);
            self.builder.field(tag, [' ', ' '], &value, 0);
            return;
        };
        let mut characters = indicators.chars().map(|c| match c {
            '\\' => ' ',
            c if c.is_control() => ' ',
            c => c,
        });
        let first = characters.next();
        let second = characters.next();
        if second.is_none() || characters.next().is_some() {
            self.bad(tag, &format!("expected two indicators, found `{indicators}`"));
        }
        self.builder.field(tag, [first.unwrap_or(' '), second.unwrap_or(' ')], "", 0);
        for subfield in subfields.split('$') {
            let mut rest = subfield.chars();
            let Some(code) = rest.next() else {
                self.bad(tag, "a subfield has no code");
                continue;
            };
            let code = code.to_string();
            let code = clean(&code, &mut self.faults).into_owned();
            let value = self.value(rest.as_str());
            self.builder.subfield(&code, &value);
        }
    }

    fn value(&mut self, value: &str) -> String {
        let value = expand(value, &mut self.unknown);
        clean(&value, &mut self.faults).into_owned()
    }

    fn bad(&mut self, tag: &str, message: &str) {
        self.diagnostics.push(Diagnostic::new(Code::BadField, message).in_field(tag));
    }

    fn finish(mut self) -> Option<Record> {
        leader::set(&mut self.builder, &self.leader, self.diagnostics);
        self.unknown.report(self.diagnostics);
        self.faults.report(self.diagnostics);
        let mut record = self.builder.finish();
        marc::finish(&mut record);
        Some(record)
    }
}

/// Mnemonics that nobody knows.
#[derive(Debug, Default)]
struct Unknown {
    /// The first few, each once.
    names: Vec<String>,
    /// Places where others stand.
    more: usize,
}

impl Unknown {
    /// Names that are told one by one. Remembering all of them would let a record of nothing else
    /// cost the square of its length.
    const NAMED: usize = 8;

    fn add(&mut self, name: &str) {
        if self.names.iter().any(|known| known == name) {
            return;
        }
        if self.names.len() < Self::NAMED {
            self.names.push(name.to_owned());
        } else {
            self.more += 1;
        }
    }

    fn report(&self, diagnostics: &mut RecordLog) {
        if self.names.is_empty() {
            return;
        }
        let mut named = format!("`{{{}}}`", self.names.join("}`, `{"));
        if self.more > 0 {
            named.push_str(&format!(" and {} more", self.more));
        }
        diagnostics.push(
            Diagnostic::new(Code::LineSyntax, format!("unknown mnemonic {named} was kept as it is"))
                .hint("write a brace that is part of a value as `{lcub}` or `{rcub}`"),
        );
    }
}

/// What a mnemonic stands for.
#[derive(Clone, Copy)]
enum Mnemonic {
    Letter(char),
    /// A mark over the letter that follows.
    Mark(char),
    /// The right half of what the left half has said already.
    Silent,
}

static MNEMONICS: LazyLock<HashMap<&'static str, Mnemonic>> = LazyLock::new(|| {
    include_str!("mrk-mnemonics.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let mut columns = line.split('\t');
            let (name, code, kind) = (columns.next()?, columns.next()?, columns.next()?);
            let character = || u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
            let mnemonic = match kind {
                "letter" => Mnemonic::Letter(character()?),
                "mark" => Mnemonic::Mark(character()?),
                _ => Mnemonic::Silent,
            };
            Some((name, mnemonic))
        })
        .collect()
});

/// Replaces mnemonics by their characters. Those not known are kept and named in `unknown`.
fn expand<'a>(value: &'a str, unknown: &mut Unknown) -> Cow<'a, str> {
    if !value.contains('{') {
        return Cow::Borrowed(value);
    }
    let mut expanded = String::with_capacity(value.len());
    let mut marks = String::new();
    let mut rest = value;
    while let Some(c) = rest.chars().next() {
        let found = name_at(rest).map(|name| (name, MNEMONICS.get(name).copied()));
        let letter = match found {
            Some((name, Some(mnemonic))) => {
                rest = rest.get(name.len() + 2..).unwrap_or_default();
                match mnemonic {
                    Mnemonic::Letter(letter) => letter,
                    Mnemonic::Mark(mark) => {
                        marks.push(mark);
                        continue;
                    }
                    Mnemonic::Silent => continue,
                }
            }
            found => {
                if let Some((name, None)) = found {
                    unknown.add(name);
                }
                rest = rest.get(c.len_utf8()..).unwrap_or_default();
                c
            }
        };
        expanded.push(letter);
        expanded.push_str(&marks);
        marks.clear();
    }
    expanded.push_str(&marks);
    Cow::Owned(expanded)
}

/// Letters of the longest mnemonic.
const LONGEST_NAME: usize = 12;

/// The name in braces at the beginning of some text; braces around anything else are braces.
fn name_at(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('{')?;
    // Looked for no further than names are long: a value may be all opening braces.
    let near = rest.as_bytes().get(..=LONGEST_NAME).unwrap_or(rest.as_bytes());
    let name = rest.get(..memchr(b'}', near)?)?;
    (name.len() >= 2 && name.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Piece;
    use crate::record::write_field;
    use proptest::prelude::*;

    fn payloads(input: &[u8]) -> Vec<(u64, Vec<u8>)> {
        split(Box::new(input))
            .map(|piece| match piece.unwrap() {
                Piece::Record(payload, _) => (payload.offset, payload.bytes),
                Piece::Reject(_, reason) => panic!("{}", reason.message),
            })
            .collect()
    }

    fn read(bytes: &[u8]) -> (Option<Record>, Vec<Diagnostic>) {
        let mut diagnostics = RecordLog::default();
        let record = decode(bytes, &Options::default(), &mut diagnostics);
        (record, diagnostics.into_iter().collect())
    }

    /// The fields of each record, one a line, and the codes of diagnostics.
    fn check(input: impl AsRef<[u8]>, expected: &[&str]) {
        let mut found = Vec::new();
        for (_, payload) in payloads(input.as_ref()) {
            let (record, diagnostics) = read(&payload);
            if let Some(record) = record {
                found.push(format!("LDR {}", record.leader()));
                for field in record.fields() {
                    let mut line = format!("{} ", field.tag());
                    write_field(field, &mut line);
                    found.push(line);
                }
            }
            found.extend(diagnostics.iter().map(|diagnostic| diagnostic.code.to_string()));
        }
        assert_eq!(found, expected);
    }

    const LEADER: &str = "=LDR  00991nam\\a22002531\\\\4500";

    #[test]
    fn lines_are_fields_and_blank_lines_end_records() {
        check(
            format!(
                "{LEADER}\r\n=001  x1\r\n=008  880719s1839\\\\\\\\mau\r\n=245  10$aWalden :$bor\r\n\r\n\r\n{LEADER}\n=650  \\0$aPonds\n"
            ),
            &[
                "LDR 00991nam a22002531  4500",
                "001 x1",
                "008 880719s1839    mau",
                "245 10 $a Walden : $b or",
                "LDR 00991nam a22002531  4500",
                "650 #0 $a Ponds",
            ],
        );
        // A leader begins a record even where the blank line was lost.
        check(
            format!("{LEADER}\n=001  1\n{LEADER}\n=001  2\n"),
            &["LDR 00991nam a22002531  4500", "001 1", "LDR 00991nam a22002531  4500", "001 2"],
        );
        assert_eq!(payloads(b"\n=001  1\n\n=001  2")[1], (10, b"=001  2".to_vec()));
    }

    #[test]
    fn mnemonics_are_characters() {
        let mut unknown = Unknown::default();
        for (value, expected) in [
            ("{dollar}5 {lcub}x{rcub}", "$5 {x}"),
            ("caf{eacute}, id{dblac}oszaki", "caf\u{E9}, ido\u{30B}szaki"),
            ("{uml}u {circ}{dotb}a", "u\u{308} a\u{302}\u{323}"),
            ("{llig}i{rlig}a", "i\u{361}a"),
            ("{Lstrok}{acute}{inodot}", "Ł\u{131}\u{301}"),
            ("{a b} {} {", "{a b} {} {"),
            ("end{acute}", "end\u{301}"),
        ] {
            assert_eq!(expand(value, &mut unknown), expected);
        }
        assert!(unknown.names.is_empty());
        assert_eq!(expand("{zilch} {zilch}", &mut unknown), "{zilch} {zilch}");
        assert_eq!(unknown.names, ["zilch"]);
        check(
            format!("{LEADER}\n=100  1\\$aM{{uml}}uller {{zilch}}\n"),
            &["LDR 00991nam a22002531  4500", "100 1# $a Müller {zilch}", "line-syntax"],
        );
    }

    #[test]
    fn of_many_unknown_mnemonics_a_few_are_named_and_the_others_counted() {
        let many: String = (0..1000).map(|n| format!("{{q{n}z}}")).collect();
        let (_, diagnostics) = read(format!("{LEADER}\n=500  \\\\$a{many}").as_bytes());
        let [unknown] = diagnostics.as_slice() else { panic!("{diagnostics:?}") };
        assert!(unknown.message.contains("`{q0z}`, `{q1z}`"), "{}", unknown.message);
        assert!(unknown.message.ends_with("`{q7z}` and 992 more was kept as it is"), "{}", unknown.message);
    }

    #[test]
    fn a_line_without_a_tag_goes_on_with_the_field_before() {
        check(
            format!("{LEADER}\n=500  \\\\$aOne\n  two \n= three\n=520  \\\\$aFour\n"),
            &["LDR 00991nam a22002531  4500", "500 ## $a One two = three", "520 ## $a Four"],
        );
    }

    #[test]
    fn bad_fields_are_kept_as_far_as_they_go() {
        check(
            "=LDR  short\n=245  1$aTitle\n=246  text\n=300  \\\\\\$a1 p.$\n=FMT  BK\n",
            &[
                "LDR short",
                "245 1# $a Title",
                "246 text",
                "300 ## $a 1 p.",
                "FMT BK",
                "bad-field",
                "bad-field",
                "bad-field",
                "bad-field",
                "bad-leader",
            ],
        );
        check("no record\n\n=001  1\n", &["not-a-record", "LDR ", "001 1", "bad-leader"]);
    }

    #[test]
    fn latin_1_is_read_and_reported() {
        let mut input = LEADER.as_bytes().to_vec();
        input.extend_from_slice(b"\n=100  1\\$aM\xFCller\n");
        check(input, &["LDR 00991nam a22002531  4500", "100 1# $a Müller", "charset-mismatch"]);
    }

    fn encode(record: &Record) -> String {
        let escape = |value: &str| {
            let braces = value.replace('{', "\0").replace('}', "{rcub}").replace('\0', "{lcub}");
            braces.replace('$', "{dollar}")
        };
        let mut out = format!("=LDR  {}\n", escape(&record.leader().replace(' ', "\\")));
        for field in record.fields() {
            out.push_str(&format!("={}  ", field.tag()));
            if field.is_control() {
                out.push_str(&escape(&field.text().replace(' ', "\\")));
            } else {
                for indicator in [field.ind1(), field.ind2()] {
                    out.push(if indicator == ' ' { '\\' } else { indicator });
                }
                for subfield in field.subfields() {
                    out.push_str(&format!("${}{}", subfield.code, escape(subfield.value)));
                }
            }
            out.push('\n');
        }
        out
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
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
            marc::finish(&mut record);
            let text = encode(&record);
            let payloads = payloads(text.as_bytes());
            prop_assert_eq!(payloads.len(), 1);
            prop_assert_eq!(read(&payloads[0].1), (Some(record), Vec::new()));
        }

        #[test]
        fn any_bytes_are_read_or_refused(input in proptest::collection::vec(
            proptest::sample::select(&b"=LDR0245 \\$a{}\r\n\xE9\xC3\x00"[..]), 0..80)) {
            for (_, payload) in payloads(&input) {
                let (record, diagnostics) = read(&payload);
                prop_assert!(record.is_some() || !diagnostics.is_empty());
            }
        }
    }
}
