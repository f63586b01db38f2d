//! MARCXML.

use super::xml::escape;
use crate::record::Record;

pub const OPEN: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<collection xmlns=\"http://www.loc.gov/MARC21/slim\">\n";
pub const CLOSE: &str = "</collection>\n";

/// A record that stands alone.
pub fn element(of: &Record) -> String {
    record(of).replacen("<record>", "<record xmlns=\"http://www.loc.gov/MARC21/slim\">", 1)
}

pub fn record(record: &Record) -> String {
    let mut out = String::with_capacity(2048);
    out.push_str("  <record>\n    <leader>");
    escape(record.leader(), &mut out);
    out.push_str("</leader>\n");
    for field in record.fields() {
        if field.is_control() {
            out.push_str("    <controlfield tag=\"");
            escape(field.tag(), &mut out);
            out.push_str("\">");
            escape(field.text(), &mut out);
            out.push_str("</controlfield>\n");
            continue;
        }
        out.push_str("    <datafield tag=\"");
        escape(field.tag(), &mut out);
        for (name, indicator) in [("ind1", field.ind1()), ("ind2", field.ind2())] {
            out.push_str("\" ");
            out.push_str(name);
            out.push_str("=\"");
            escape(indicator.encode_utf8(&mut [0; 4]), &mut out);
        }
        out.push_str("\">\n");
        for subfield in field.subfields() {
            out.push_str("      <subfield code=\"");
            escape(subfield.code, &mut out);
            out.push_str("\">");
            escape(subfield.value, &mut out);
            out.push_str("</subfield>\n");
        }
        out.push_str("    </datafield>\n");
    }
    out.push_str("  </record>\n");
    out
}
