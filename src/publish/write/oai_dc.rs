//! Dublin Core as OAI-PMH carries it: one `oai_dc:dc` a record.

use super::xml::escape;
use crate::record::Record;

pub const OPEN: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<records>\n";
pub const CLOSE: &str = "</records>\n";

const BEGIN: &str = "  <oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\">\n";

pub fn record(record: &Record) -> String {
    let mut out = String::with_capacity(1024);
    out.push_str(BEGIN);
    for field in record.fields() {
        out.push_str("    <");
        out.push_str(field.tag());
        if let Some(language) = field.subfield("xml:lang") {
            out.push_str(" xml:lang=\"");
            escape(language, &mut out);
            out.push('"');
        }
        out.push('>');
        escape(field.text(), &mut out);
        out.push_str("</");
        out.push_str(field.tag());
        out.push_str(">\n");
    }
    out.push_str("  </oai_dc:dc>\n");
    out
}
