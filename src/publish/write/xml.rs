//! Text in XML.

use crate::markup::{REPLACEMENT, is_forbidden};

/// Escapes a text for content and attributes; characters that XML forbids are replaced.
pub fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            other if is_forbidden(other) => out.push(REPLACEMENT),
            other => out.push(other),
        }
    }
}

/// An element that holds nothing but text, on a line of its own.
pub fn text(out: &mut String, name: &str, content: &str) {
    out.push('<');
    out.push_str(name);
    out.push('>');
    escape(content, out);
    out.push_str("</");
    out.push_str(name);
    out.push_str(">\n");
}

/// An attribute, with the blank before it.
pub fn attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    escape(value, out);
    out.push('"');
}
