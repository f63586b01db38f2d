//! Whether a document of XML ends before its root element does.
//!
//! A `Content-Length` that is too small cuts a page without a trace in the protocol, and so does
//! a connection that breaks when no length was announced. XML says itself where it ends: after
//! the end tag of its root, comments and processing instructions apart. Nothing more is looked
//! at here; whether what lies between is well formed is for its reader to say.

use memchr::{memchr, memmem};

/// Only bytes that begin as XML in an encoding with ASCII in it are judged.
pub(super) fn ends_early(body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii();
    if !body.starts_with(b"<?xml") {
        return false;
    }
    let Some(document) = skip_misc(body) else { return true };
    let Some(name) = name(document) else { return true };
    let end_tag = [b"</", name].concat();
    let after = match memmem::rfind(document, &end_tag) {
        Some(at) => document[at + end_tag.len()..].trim_ascii_start().strip_prefix(b">"),
        // A root without content is its own end tag.
        None => {
            memchr(b'>', document).filter(|at| document[..*at].ends_with(b"/")).map(|at| &document[at + 1..])
        }
    };
    // After the root there is nothing but comments and the like.
    after.is_none_or(|after| skip_misc(after) != Some(b""))
}

/// What follows declarations, comments and processing instructions; nothing, if one of them
/// does not end.
fn skip_misc(mut rest: &[u8]) -> Option<&[u8]> {
    loop {
        rest = rest.trim_ascii_start();
        let close: &[u8] = match rest {
            [b'<', b'?', ..] => b"?>",
            [b'<', b'!', b'-', ..] => b"-->",
            [b'<', b'!', ..] => b">",
            _ => return Some(rest),
        };
        rest = &rest[memmem::find(rest, close)? + close.len()..];
    }
}

/// The name in the start tag that a document begins with.
fn name(document: &[u8]) -> Option<&[u8]> {
    let tag = document.strip_prefix(b"<")?;
    let end = tag.iter().position(|byte| byte.is_ascii_whitespace() || b"/>".contains(byte))?;
    (end > 0).then(|| &tag[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str =
        "<?xml version=\"1.0\"?>\n<!-- > --><?x y?><oai:r a='1'>\n<r>t</r><e/></oai:r >\n<!-- z -->\n";

    #[test]
    fn a_document_is_whole_when_its_root_is() {
        let empty = "<?xml version='1.0'?><!DOCTYPE r><r a='b'/> ";
        let inner = "<?xml version='1.0'?><r><r></r></r>";
        for whole in [PAGE, empty, inner, "\u{feff}<?xml version='1.0'?><r></r>"] {
            assert!(!ends_early(whole.as_bytes()), "{whole}");
        }
    }

    #[test]
    fn no_cut_before_the_end_of_the_root_is_missed() {
        let end = PAGE.find("<!-- z").unwrap();
        for cut in 5..PAGE[..end].trim_end().len() {
            assert!(ends_early(&PAGE.as_bytes()[..cut]), "{}", &PAGE[..cut]);
        }
    }

    #[test]
    fn what_is_not_xml_is_not_judged() {
        for other in ["", "<p>html", "{\"a\":", "text", "%PDF-1.7"] {
            assert!(!ends_early(other.as_bytes()), "{other}");
        }
        let wide: Vec<u8> = PAGE[..40].encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(!ends_early(&wide));
    }
}
