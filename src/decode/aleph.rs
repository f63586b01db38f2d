//! Aleph sequential: `000000001 24510 L $$aWalden :$$bor, Life in the woods`.
//!
//! A line is a field: system number, tag with indicators, script, content. All lines of one
//! system number are one record. Blanks in the leader and in fixed fields are written `^`.
//!
//! | columns | hold |
//! |---|---|
//! | 1-9 | the system number |
//! | 11-13, 14, 15 | tag and indicators |
//! | 17 | the script of the content, `L` for Latin; not kept |
//! | 19- | the content, subfields begun by `$$` |

use super::clean::{Faults, clean, text};
use super::lines::{self, Role, lines_of};
use super::{Options, Pieces, leader, marc};
use crate::diagnostic::{Code, Diagnostic, RecordLog};
use crate::record::{Model, Record, RecordBuilder};
use std::borrow::Cow;
use std::io::BufRead;

const NUMBER: usize = 9;

/// Cuts Aleph sequential into records.
pub fn split<'a>(reader: Box<dyn BufRead + Send + 'a>) -> Pieces<'a> {
    lines::records(reader, |line, record| {
        if line.trim_ascii().is_empty() {
            return Role::Ignored;
        }
        match system_number(line) {
            None => Role::Joins,
            number if number == system_number(record) => Role::Joins,
            Some(_) => Role::Begins,
        }
    })
}

/// Reads the lines of one system number.
pub fn decode(bytes: &[u8], _options: &Options, diagnostics: &mut RecordLog) -> Option<Record> {
    let mut faults = Faults::default();
    let text = text(bytes, &mut faults);
    let text = text.trim_start_matches('\u{FEFF}');
    let fields = fields_of(text, diagnostics);
    let Some(number) = fields.first().map(|field| field.number) else {
        let message = "no line is of the form `000000001 24510 L $$a…`";
        return diagnostics.refuse(Diagnostic::new(Code::NotARecord, message));
    };
    let mut reader =
        Reader { builder: RecordBuilder::new(Model::Marc21), leader: String::new(), faults, diagnostics };
    for field in &fields {
        reader.field(field);
    }
    let mut record = reader.finish();
    if record.id.is_none() {
        record.id = Some(number.to_owned());
    }
    Some(record)
}

/// A line taken apart.
struct Line<'a> {
    number: &'a str,
    tag: &'a str,
    indicators: [char; 2],
    content: Cow<'a, str>,
}

fn fields_of<'a>(text: &'a str, diagnostics: &mut RecordLog) -> Vec<Line<'a>> {
    let mut fields: Vec<Line<'a>> = Vec::new();
    for line in lines_of(text).filter(|line| !line.trim().is_empty()) {
        if let Some(field) = field_line(line) {
            fields.push(field);
            continue;
        }
        // A line break within a value makes a line of its rest.
        if let Some(field) = fields.last_mut() {
            diagnostics.push(
                Diagnostic::new(Code::LineSyntax, "a line without a tag was added to the field before it")
                    .in_field(field.tag),
            );
            let content = field.content.to_mut();
            if !content.ends_with(' ') {
                content.push(' ');
            }
            content.push_str(line.trim_start());
        }
    }
    fields
}

fn field_line(line: &str) -> Option<Line<'_>> {
    system_number(line.as_bytes())?;
    let head = line.as_bytes();
    // Trailing blanks are often lost, and with them the indicators of a field without content.
    let blank_or_missing = |column: usize| matches!(head.get(column), None | Some(b' '));
    if !blank_or_missing(15) || !blank_or_missing(17) {
        return None;
    }
    let tag = line.get(10..13)?;
    if !tag.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let indicator = |column: usize| match head.get(column) {
        Some(byte) if byte.is_ascii_graphic() => char::from(*byte),
        _ => ' ',
    };
    Some(Line {
        number: line.get(..NUMBER)?,
        tag,
        indicators: [indicator(13), indicator(14)],
        content: Cow::Borrowed(line.get(18..).unwrap_or_default()),
    })
}

/// The nine digits a line or a record begins with.
fn system_number(line: &[u8]) -> Option<&[u8]> {
    let (number, rest) = line.split_at_checked(NUMBER)?;
    (number.iter().all(u8::is_ascii_digit) && rest.first() == Some(&b' ')).then_some(number)
}

struct Reader<'a> {
    builder: RecordBuilder,
    leader: String,
    faults: Faults,
    diagnostics: &'a mut RecordLog,
}

impl Reader<'_> {
    fn field(&mut self, line: &Line<'_>) {
        let tag = line.tag;
        if tag == "LDR" {
            self.leader = clean(&line.content.replace('^', " "), &mut self.faults).into_owned();
            return;
        }
        if tag == "FMT" || tag.starts_with("00") {
            let value = line.content.replace('^', " ");
            self.builder.field(tag, [' ', ' '], &clean(&value, &mut self.faults), 0);
            return;
        }
        let Some((before, subfields)) = line.content.split_once("$$") else {
            let value = clean(&line.content, &mut self.faults);
            self.builder.field(tag, line.indicators, &value, 0);
            return;
        };
        if !before.trim().is_empty() {
            self.bad(tag, &format!("`{}` stands before the first subfield", before.trim()));
        }
        self.builder.field(tag, line.indicators, "", 0);
        for subfield in subfields.split("$$") {
            let mut rest = subfield.chars();
            let Some(code) = rest.next() else {
                self.bad(tag, "a subfield has no code");
                continue;
            };
            let code = code.to_string();
            let code = clean(&code, &mut self.faults);
            let value = clean(rest.as_str(), &mut self.faults);
            self.builder.subfield(&code, &value);
        }
    }

    fn bad(&mut self, tag: &str, message: &str) {
        self.diagnostics.push(Diagnostic::new(Code::BadField, message).in_field(tag));
    }

    fn finish(mut self) -> Record {
        leader::set(&mut self.builder, &self.leader, self.diagnostics);
        self.faults.report(self.diagnostics);
        let mut record = self.builder.finish();
        marc::finish(&mut record);
        record
    }
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

    /// The id and the fields of each record, one a line, and the codes of diagnostics.
    fn check(input: impl AsRef<[u8]>, expected: &[&str]) {
        let mut found = Vec::new();
        for (_, payload) in payloads(input.as_ref()) {
            let (record, diagnostics) = read(&payload);
            if let Some(record) = record {
                found.push(format!("{} {}", record.id.as_deref().unwrap_or_default(), record.leader()));
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

    const RECORDS: &str = "\
000000001 FMT   L BK
000000001 LDR   L 00000nam^^2200000^a^4500
000000001 008   L 880719s1839^^^^mau
000000001 24510 L $$aWalden :$$bor, 5$ ^ woods
000000001 650 0 L $$aPonds
000000001 CAT   L $$aBATCH$$b00
000000002 LDR   L 00000nam^^2200000^a^4500
000000002 001   L ocm42
000000002 500   L $$aNote
";

    #[test]
    fn lines_of_one_number_are_a_record() {
        check(
            RECORDS,
            &[
                "000000001 00000nam  2200000 a 4500",
                "FMT BK",
                "008 880719s1839    mau",
                "245 10 $a Walden : $b or, 5$ ^ woods",
                "650 #0 $a Ponds",
                "CAT ## $a BATCH $b 00",
                "ocm42 00000nam  2200000 a 4500",
                "001 ocm42",
                "500 ## $a Note",
            ],
        );
        assert_eq!(payloads(RECORDS.as_bytes())[1].0, RECORDS.find("000000002").unwrap() as u64);
    }

    #[test]
    fn lines_of_another_form_are_reported() {
        check(
            "junk\n000000001 LDR   L 00000nam^^2200000^a^4500\n\n000000001 500   L $$aOne\ntwo\n000000001 24\n000000001 999\n",
            &[
                "not-a-record",
                "000000001 00000nam  2200000 a 4500",
                "500 ## $a One two 000000001 24",
                "999 ",
                "line-syntax",
                "line-syntax",
            ],
        );
        check(
            "000000001 245   L x$$aT$$\n000000001 Z30 1 L plain",
            &["000000001 ", "245 ## $a T", "Z30 plain", "bad-field", "bad-field", "bad-leader"],
        );
    }

    fn encode(record: &Record, number: &str) -> String {
        let mut out = format!("{number} LDR   L {}\n", record.leader().replace(' ', "^"));
        for field in record.fields() {
            out.push_str(&format!("{number} {}{}{} L ", field.tag(), field.ind1(), field.ind2()));
            if field.is_control() {
                out.push_str(&field.text().replace(' ', "^"));
            }
            for subfield in field.subfields() {
                out.push_str(&format!("$${}{}", subfield.code, subfield.value));
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
                ("[1-9A-Z][0-9]{2}", "[ 0-9]", "[ 0-9]", proptest::collection::vec(("[a-z0-9]", "[ -#%-~äß漢]{0,8}"), 1..4)),
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
            let text = encode(&record, "000000007");
            let payloads = payloads(text.as_bytes());
            prop_assert_eq!(payloads.len(), 1);
            prop_assert_eq!(read(&payloads[0].1), (Some(record), Vec::new()));
        }

        #[test]
        fn any_bytes_are_read_or_refused(
            lines in proptest::collection::vec("(00000000[12] )?[ 0245LDRa$^é]{0,20}", 0..8)
        ) {
            for (_, payload) in payloads(lines.join("\n").as_bytes()) {
                let (record, diagnostics) = read(&payload);
                prop_assert!(record.is_some() || !diagnostics.is_empty());
            }
        }
    }
}
