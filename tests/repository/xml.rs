//! Writing XML.

/// Text with everything escaped that must not stand in text or attributes.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // What a client sends may hold characters that XML has no way to write.
            c if c.is_control() && !matches!(c, '\t' | '\n' | '\r') => escaped.push('\u{FFFD}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// An element with text, on a line of its own. The name may carry attributes.
pub fn element(out: &mut String, indent: usize, name: &str, text: &str) {
    let close = name.split(' ').next().unwrap_or_default();
    out.push_str(&" ".repeat(indent));
    out.push_str(&format!("<{name}>{}</{close}>\n", escape(text)));
}
