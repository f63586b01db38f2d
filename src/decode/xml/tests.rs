//! Documents in, records out. One [`check`] knows the interface; cases are data.

use super::*;
use crate::decode::Piece;
use std::fmt::Write;
use std::io::BufReader;

/// Splits and decodes, and writes down what came out: a line for each field and each
/// diagnostic. Read in small steps, so that every token crosses a boundary somewhere.
fn outcome(xml: &[u8]) -> String {
    let mut out = String::new();
    for step in [7, 64 * 1024] {
        let mut again = String::new();
        for piece in split(Box::new(BufReader::with_capacity(step, xml))) {
            match piece.unwrap() {
                Piece::Record(payload, noticed) => {
                    let mut diagnostics = RecordLog::default();
                    diagnostics.extend(noticed);
                    let record = decode(&payload.bytes, &mut diagnostics);
                    match &record {
                        Some(record) => describe(record, &mut again),
                        None => again.push_str("refused\n"),
                    }
                    for diagnostic in diagnostics {
                        writeln!(again, "  {}", diagnostic.code).unwrap();
                    }
                }
                Piece::Reject(_, diagnostic) => {
                    writeln!(again, "reject {}", diagnostic.code).unwrap();
                }
            }
        }
        let again: String = again.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        assert!(out.is_empty() || out == again, "{out}\n{again}");
        out = again;
    }
    out
}

fn describe(record: &Record, out: &mut String) {
    let id = record.id.as_deref().unwrap_or("-");
    let withdrawn = if record.withdrawn { " withdrawn" } else { "" };
    writeln!(out, "{id} {}{withdrawn}", record.model).unwrap();
    for field in record.fields() {
        let indent = "  ".repeat(field.depth() + 1);
        writeln!(out, "{indent}{field:?}").unwrap();
    }
}

#[track_caller]
fn check(xml: &str, expected: &str) {
    check_bytes(xml.as_bytes(), expected);
}

#[track_caller]
fn check_bytes(xml: &[u8], expected: &str) {
    let lines: Vec<_> = expected.lines().map(str::trim_end).collect();
    let margin = lines
        .iter()
        .filter(|line| !line.is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let expected: String =
        lines.iter().filter(|line| !line.is_empty()).map(|line| format!("{}\n", &line[margin..])).collect();
    assert_eq!(outcome(xml), expected);
}

const LEADER: &str = "<leader>00000nam a2200000 a 4500</leader>";

#[test]
fn marcxml_is_read_with_and_without_prefix_and_namespace() {
    let fields = "<L>00000nam a2200000 a 4500</L><C tag=\"001\">r1</C>\
        <D tag=\"245\" ind1=\"1\" ind2=\"0\"><S code=\"a\">Walden &amp; more</S><S code=\"c\"/></D>";
    let expected = "
        r1 marc21
          001 r1
          245 10 $a Walden & more $c
    ";
    for (prefix, declaration) in [
        ("", ""),
        ("", " xmlns=\"http://www.loc.gov/MARC21/slim\""),
        ("marc:", " xmlns:marc=\"http://www.loc.gov/MARC21/slim\""),
        ("", " xmlns=\"info:lc/xmlns/marcxchange-v2\""),
    ] {
        let fields = fields
            .replace("<L>", &format!("<{prefix}leader>"))
            .replace("</L>", &format!("</{prefix}leader>"));
        let fields = [("C", "controlfield"), ("D", "datafield"), ("S", "subfield")].iter().fold(
            fields,
            |text, (short, long)| {
                text.replace(&format!("<{short} "), &format!("<{prefix}{long} "))
                    .replace(&format!("</{short}>"), &format!("</{prefix}{long}>"))
            },
        );
        let record = format!("<{prefix}record>{fields}</{prefix}record>");
        check(&format!("<{prefix}collection{declaration}>{record}</{prefix}collection>"), expected);
        let alone = record.replacen("record>", &format!("record{declaration}>"), 1);
        check(&alone, expected);
    }
}

#[test]
fn unimarc_slim_is_read_by_its_short_names() {
    check(
        "<collection xmlns=\"urn:slim\"><rec><lab>01434nam0 2200313 i 450 </lab>\
         <cf t=\"001\">CFI1</cf><df t=\"200\" i1=\"1\" i2=\" \"><sf c=\"a\">Titolo</sf></df></rec></collection>",
        "
        CFI1 unimarc
          001 CFI1
          200 1# $a Titolo
        ",
    );
}

#[test]
fn dublin_core_gets_its_usual_prefix() {
    check(
        "<list xmlns:d=\"http://purl.org/dc/elements/1.1/\" xmlns:x=\"urn:x\">\
         <o:dc xmlns:o=\"http://www.openarchives.org/OAI/2.0/oai_dc/\"><d:title xml:lang=\"en\"> A \u{2028}B </d:title>\
         <x:extra>e\u{301}</x:extra></o:dc><dc><title>Plain</title></dc></list>",
        "
        - oai_dc
          dc:title A \u{2028}B $xml:lang en
          x:extra é
        - oai_dc
          dc:title Plain
        ",
    );
}

#[test]
fn mods_is_a_tree() {
    check(
        "<m:modsCollection xmlns:m=\"http://www.loc.gov/mods/v3\"><m:mods ID=\"m1\"><m:titleInfo type=\"alternative\">\
         <m:title>T</m:title></m:titleInfo><m:note>see <m:b>this</m:b> too</m:note></m:mods>\
         <m:mods><m:relatedItem><m:recordInfo><m:recordIdentifier>no</m:recordIdentifier></m:recordInfo></m:relatedItem>\
         <m:recordInfo><m:recordIdentifier>yes</m:recordIdentifier></m:recordInfo></m:mods></m:modsCollection>",
        "
        m1 mods
          mods:titleInfo ## $type alternative
            mods:title T
          mods:note
            #text see
            mods:b this
            #text too
        yes mods
          mods:relatedItem
            mods:recordInfo
              mods:recordIdentifier no
          mods:recordInfo
            mods:recordIdentifier yes
        ",
    );
}

fn oai(records: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\">\
         <ListRecords>{records}<resumptionToken>x</resumptionToken></ListRecords></OAI-PMH>"
    )
}

#[test]
fn an_oai_record_is_one_payload_whatever_its_metadata() {
    let marc = format!(
        "<record xmlns=\"http://www.loc.gov/MARC21/slim\">{LEADER}<controlfield tag=\"001\">5</controlfield></record>"
    );
    check(
        &oai(&format!(
            "<record><header><identifier> oai:x:1 </identifier></header><metadata>{marc}</metadata></record>\
             <record><header><identifier>oai:x:2</identifier></header><metadata><collection>{marc}</collection></metadata></record>\
             <record><header status=\"deleted\"><identifier>oai:x:3</identifier></header></record>\
             <record><header><identifier>oai:x:4</identifier></header><metadata><q:thesis xmlns:q=\"urn:q\">\
             <t:title xmlns:t=\"http://purl.org/dc/terms/\">T</t:title></q:thesis></metadata><about><record/></about></record>"
        )),
        "
        oai:x:1 marc21
          001 5
        oai:x:2 marc21
          001 5
        oai:x:3 oai_dc withdrawn
        oai:x:4 oai_dc
          dcterms:title T
        ",
    );
}

#[test]
fn an_oai_record_without_identifier_is_refused_and_the_next_is_kept() {
    let metadata = "<metadata><dc><title>t</title></dc></metadata>";
    check(
        &oai(&format!(
            "<record>{metadata}</record><record><header/>{metadata}</record>\
             <record><header><identifier>a</identifier></header></record>\
             <record><header><identifier>b</identifier></header>{metadata}</record>"
        )),
        "
        refused
          not-a-record
        refused
          not-a-record
        refused
          not-a-record
        b oai_dc
          dc:title t
        ",
    );
}

#[test]
fn a_record_of_sru_is_looked_into() {
    check(
        &format!(
            "<response><records><record><schema>x</schema><recordData><record>{LEADER}\
             <controlfield tag=\"001\">1</controlfield></record></recordData></record></records></response>"
        ),
        "
        1 marc21
          001 1
        ",
    );
}

#[test]
fn a_broken_record_costs_no_neighbour() {
    let good = |id| format!("<record>{LEADER}<controlfield tag=\"001\">{id}</controlfield></record>");
    for broken in [
        format!("<record>{LEADER}<datafield tag=\"245\"><subfield></datafield></record>"),
        format!("<record>{LEADER}<datafield tag=\"2></record>"),
        format!("<record>{LEADER} 1 < 2 </record>"),
    ] {
        let xml = format!("<collection>{}{broken}{}</collection>", good(1), good(3));
        check(
            &xml,
            "
            1 marc21
              001 1
            refused
              xml-syntax
            3 marc21
              001 3
            ",
        );
    }
    let unclosed = format!("<record>{LEADER}<datafield tag=\"245\">");
    check(
        &format!("<collection>{}{unclosed}{}</collection>", good(1), good(3)),
        "
        1 marc21
          001 1
        reject xml-syntax
        3 marc21
          001 3
        ",
    );
}

#[test]
fn an_unclosed_oai_record_ends_where_the_next_begins() {
    let head =
        |id| format!("<record><header><identifier>{id}</identifier></header><metadata><dc><title>t</title>");
    let tail = "</dc></metadata></record>";
    check(
        &oai(&format!("{}{}{tail}", head("a"), head("b"))),
        "
        reject xml-syntax
        b oai_dc
          dc:title t
        ",
    );
}

#[test]
fn an_unclosed_record_is_noticed_at_the_very_end() {
    check(
        &oai("<record><header><record><header>")
            .replace("<resumptionToken>x</resumptionToken></ListRecords></OAI-PMH>", ""),
        "
        reject xml-syntax
        reject truncated-record
        ",
    );
    check(
        "<record><cf t=\"001\">1</cf></record>",
        "
        1 marc21
          001 1
          bad-leader
    ",
    );
}

#[test]
fn a_truncated_document_yields_its_complete_records() {
    let record = format!("<record>{LEADER}<controlfield tag=\"001\">1</controlfield></record>");
    let expected = "
        1 marc21
          001 1
        reject truncated-record
    ";
    check(&format!("<collection>{record}<record>{LEADER}<cont"), expected);
    check(&format!("<collection>{record}"), expected);
}

#[test]
fn a_document_type_declaration_refuses_the_document() {
    let body = "<dc><title>&a;</title></dc>";
    for declaration in ["<!DOCTYPE dc [<!ENTITY a \"b\">]>", "<!doctype dc>", "<!ENTITY a 'b'>"] {
        check(&format!(" {declaration}{body}"), "reject xml-doctype");
    }
    let mut diagnostics = RecordLog::default();
    assert!(decode(b"<!DOCTYPE dc><dc><title/></dc>", &mut diagnostics).is_none());
}

#[test]
fn a_document_of_something_else_says_what_it_is() {
    check("<html><body/></html>", "reject unknown-format");
    check("no xml at all", "reject unknown-format");
    check(" \n", "reject empty-input");
    check("", "reject empty-input");
    check("<OAI-PMH><error/></OAI-PMH>", "");
}

#[test]
fn a_payload_stands_alone() {
    let xml = "\u{FEFF}<c xmlns=\"u:a\" xmlns:m='u:m' xmlns:s=\"http://www.loc.gov/MARC21/slim\"><!-- <s:record> --><s:record xmlns=\"u:b\" >\
               <s:leader/></s:record></c>";
    let piece = split(Box::new(xml.as_bytes())).next().unwrap().unwrap();
    let Piece::Record(payload, _) = piece else {
        panic!("{piece:?}");
    };
    assert_eq!(
        String::from_utf8(payload.bytes).unwrap(),
        "<s:record xmlns:m=\"u:m\" xmlns:s=\"http://www.loc.gov/MARC21/slim\" xmlns=\"u:b\" ><s:leader/></s:record>"
    );
    assert_eq!(payload.number, 1);
    assert_eq!(payload.offset as usize, xml.find("<s:record xmlns").unwrap());
}

#[test]
fn what_can_be_kept_of_a_marc_record_is_kept() {
    check(
        "<record xmlns=\"http://www.loc.gov/MARC21/slim\"><leader>short</leader><controlfield>x</controlfield>\
         <datafield ind1=\"1\"><subfield code=\"a\">kept</subfield></datafield>\
         <datafield tag=\"42\"><subfield code=\"a\">dc</subfield></datafield>\
         <datafield tag=\"020\"><subfields code=\"a\">x</subfields><subfield>y</subfield></datafield></record>",
        "
        - marc21
          ??? x
          ??? 1# $a kept
          042 ## $a dc
          020 ## $\u{FFFD} y
          bad-leader
          bad-field
          bad-field
          bad-field
          bad-field
          bad-field
        ",
    );
    check(
        "<record xmlns=\"http://www.loc.gov/MARC21/slim\"/>",
        "
        refused
          not-a-record
        ",
    );
}

#[test]
fn characters_are_repaired_within_their_record() {
    let dc = |title: &[u8]| [b"<dc><title>", title, b"</title></dc>"].concat();
    let list = [
        b"<list>".as_slice(),
        &dc(b"caf\xE9"),
        &dc(b"b\xFF\xC3(d"),
        &dc(b"a\x01\x02"),
        &dc("é".as_bytes()),
        b"</list>",
    ]
    .concat();
    check_bytes(
        &list,
        "
        - oai_dc
          dc:title café
          charset-mismatch
        - oai_dc
          dc:title b\u{FFFD}\u{FFFD}(d
          undecodable-bytes
        - oai_dc
          dc:title a\u{FFFD}\u{FFFD}
          forbidden-character
        - oai_dc
          dc:title é
        ",
    );
}

#[test]
fn a_record_beyond_the_limit_is_passed_over() {
    let huge = "x".repeat(crate::decode::RECORD_LIMIT + 1);
    let xml = format!("<list><dc><title>{huge}</title></dc><dc><title>t</title></dc></list>");
    let pieces: Vec<_> = split(Box::new(xml.as_bytes()))
        .map(|piece| match piece.unwrap() {
            Piece::Record(payload, _) => payload.bytes.len(),
            Piece::Reject(payload, diagnostic) => {
                assert_eq!(diagnostic.code, Code::OversizeRecord);
                payload.bytes.len()
            }
        })
        .collect();
    assert_eq!(pieces, [crate::decode::RECORD_LIMIT, "<dc><title>t</title></dc>".len()]);
}

#[test]
fn wrappers_are_limited_too() {
    check(&"<a>".repeat(300), "reject xml-limit");
    let name = "a".repeat(5000);
    check(&format!("<a><{name}/><dc><title/></dc></a>"), "reject xml-limit");
}

#[test]
fn wrappers_that_do_not_match_are_reported_once() {
    check(
        "<a><b></a><dc><title>t</title></dc></c></d>",
        "
        reject xml-syntax
        - oai_dc
          dc:title t
        ",
    );
}
