//! Writers for the tests: the smallest honest encoding of a record in each syntax.
//!
//! They share no code with the readers. A [`Sample`] is a MARC record as plain data; what has
//! no place in a syntax (a `$` in Aleph sequential) is kept out of the samples, not escaped.

use pinakes::record::{Model, Record, RecordBuilder};
use std::fmt::Write;

/// A leader whose lengths mean nothing, as the text syntaxes have it.
pub const LEADER: &str = "00000nam a2200000 i 4500";

/// A MARC 21 record: an identifier, and data fields with their indicators and subfields.
#[derive(Debug, Clone)]
pub struct Sample {
    pub id: String,
    pub fields: Vec<Field>,
}

/// Tag, indicators, and subfields with their codes.
pub type Field = (String, [char; 2], Vec<(char, String)>);

impl Sample {
    /// The record that a reader should make of it.
    pub fn record(&self, leader: &str) -> Record {
        let mut builder = RecordBuilder::new(Model::Marc21);
        builder.leader(leader);
        builder.field("001", [' ', ' '], &self.id, 0);
        for (tag, indicators, subfields) in &self.fields {
            builder.field(tag, *indicators, "", 0);
            for (code, value) in subfields {
                builder.subfield(&code.to_string(), value);
            }
        }
        let mut record = builder.finish();
        record.id = Some(self.id.clone());
        record
    }
}

/// ISO 2709, with its leader.
pub fn iso2709(sample: &Sample) -> (Vec<u8>, String) {
    let mut directory = String::new();
    let mut body = String::new();
    let mut add = |tag: &str, data: &str| {
        write!(directory, "{tag}{:04}{:05}", data.len() + 1, body.len()).unwrap();
        write!(body, "{data}\x1E").unwrap();
    };
    add("001", &sample.id);
    for (tag, [ind1, ind2], subfields) in &sample.fields {
        let subfields: String = subfields.iter().map(|(code, value)| format!("\x1F{code}{value}")).collect();
        add(tag, &format!("{ind1}{ind2}{subfields}"));
    }
    let base = 24 + directory.len() + 1;
    let leader = format!("{:05}nam a22{base:05} i 4500", base + body.len() + 1);
    (format!("{leader}{directory}\x1E{body}\x1D").into_bytes(), leader)
}

pub fn marcxml(samples: &[Sample]) -> Vec<u8> {
    let mut out = "<collection xmlns=\"http://www.loc.gov/MARC21/slim\">".to_owned();
    for sample in samples {
        write!(out, "<record><leader>{LEADER}</leader>").unwrap();
        write!(out, "<controlfield tag=\"001\">{}</controlfield>", escaped(&sample.id)).unwrap();
        for (tag, [ind1, ind2], subfields) in &sample.fields {
            write!(out, "<datafield tag=\"{tag}\" ind1=\"{ind1}\" ind2=\"{ind2}\">").unwrap();
            for (code, value) in subfields {
                write!(out, "<subfield code=\"{code}\">{}</subfield>", escaped(value)).unwrap();
            }
            out.push_str("</datafield>");
        }
        out.push_str("</record>\n");
    }
    out.push_str("</collection>");
    out.into_bytes()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// MARC-in-JSON, one record a line.
pub fn marc_json(samples: &[Sample]) -> Vec<u8> {
    let mut out = String::new();
    for sample in samples {
        let mut fields = vec![serde_json::json!({ "001": sample.id })];
        for (tag, [ind1, ind2], subfields) in &sample.fields {
            let subfields: Vec<_> = subfields
                .iter()
                .map(|(code, value)| serde_json::json!({ code.to_string(): value }))
                .collect();
            fields.push(
                serde_json::json!({ tag.as_str(): { "ind1": ind1, "ind2": ind2, "subfields": subfields } }),
            );
        }
        writeln!(out, "{}", serde_json::json!({ "leader": LEADER, "fields": fields })).unwrap();
    }
    out.into_bytes()
}

pub fn mrk(samples: &[Sample]) -> Vec<u8> {
    let mut out = String::new();
    for sample in samples {
        write!(out, "=LDR  {}\n=001  {}\n", LEADER.replace(' ', "\\"), sample.id).unwrap();
        for (tag, indicators, subfields) in &sample.fields {
            write!(out, "={tag}  ").unwrap();
            out.extend(indicators.iter().map(|indicator| if *indicator == ' ' { '\\' } else { *indicator }));
            for (code, value) in subfields {
                write!(out, "${code}").unwrap();
                for c in value.chars() {
                    match c {
                        '$' => out.push_str("{dollar}"),
                        '{' => out.push_str("{lcub}"),
                        '}' => out.push_str("{rcub}"),
                        c => out.push(c),
                    }
                }
            }
            out.push('\n');
        }
        out.push('\n');
    }
    out.into_bytes()
}

/// Aleph sequential; the samples hold no `$`.
pub fn aleph(samples: &[Sample]) -> Vec<u8> {
    let mut out = String::new();
    for (number, sample) in samples.iter().enumerate() {
        let number = format!("{:09}", number + 1);
        write!(out, "{number} LDR   L {}\n{number} 001   L {}\n", LEADER.replace(' ', "^"), sample.id)
            .unwrap();
        for (tag, [ind1, ind2], subfields) in &sample.fields {
            write!(out, "{number} {tag}{ind1}{ind2} L ").unwrap();
            for (code, value) in subfields {
                write!(out, "$${code}{value}").unwrap();
            }
            out.push('\n');
        }
    }
    out.into_bytes()
}

/// A table with every cell in quotes.
pub fn csv(header: &[String], rows: &[Vec<String>]) -> Vec<u8> {
    let mut out = format!("{}\r\n", header.join(","));
    for row in rows {
        let cells: Vec<String> =
            row.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
        write!(out, "{}\r\n", cells.join(",")).unwrap();
    }
    out.into_bytes()
}
