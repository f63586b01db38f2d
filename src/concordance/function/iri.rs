//! `:iri(text)`: a text as an absolute IRI (RFC 3987).
//!
//! Catalogues write addresses as people type them: with blanks, without `http://`, with the
//! full stop of the sentence. What can be repaired is; what is no address of a scheme that
//! libraries link with gives nothing, so that a note never becomes a resource.

use super::doi::doi;
use super::mark::stripmark;
use oxrdf::NamedNode;

/// Schemes whose IRIs are written as they are.
const SCHEMES: &[&str] = &["http", "https", "ftp", "urn", "info", "mailto"];
/// How long the name of such a scheme is at most.
const LONGEST: usize = 6;
/// Where DOIs and handles are resolved.
const DOI: &str = "https://doi.org/";
const HANDLE: &str = "https://hdl.handle.net/";

/// The IRI, always a valid one.
pub fn iri(text: &str) -> Option<String> {
    let text = stripmark(text.trim()).trim_matches(['<', '>']);
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '.' | ';' | ','));
    let iri = match text.get(..4) {
        Some(www) if www.eq_ignore_ascii_case("www.") => encoded("http://", text),
        _ => {
            let (scheme, rest) = text.split_once(':').filter(|(scheme, _)| scheme.len() <= LONGEST)?;
            let scheme = scheme.to_ascii_lowercase();
            match scheme.as_str() {
                "doi" => encoded(DOI, &doi(rest)?),
                "hdl" if is_complete(&scheme, rest) => encoded(HANDLE, rest.trim_start()),
                _ if SCHEMES.contains(&scheme.as_str()) && is_complete(&scheme, rest) => {
                    encoded(&format!("{scheme}:"), rest)
                }
                _ => return None,
            }
        }
    };
    if is_plain(&iri) {
        return Some(iri);
    }
    NamedNode::new(iri).ok().map(NamedNode::into_string)
}

/// An address of the web in which every character may stand where it stands: most are.
fn is_plain(iri: &str) -> bool {
    let rest = iri.strip_prefix("http://").or_else(|| iri.strip_prefix("https://"));
    let may_stand = |b: u8| {
        b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'-' | b'_' | b'?' | b'=' | b'&' | b'~')
    };
    rest.is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_alphanumeric())
            && rest.bytes().fold(true, |plain, b| plain & may_stand(b))
    })
}

/// Whether there is something to find: a host, a name in a namespace, a mailbox.
fn is_complete(scheme: &str, rest: &str) -> bool {
    let has_parts =
        |separator| rest.split_once(separator).is_some_and(|(a, b)| !a.is_empty() && !b.is_empty());
    match scheme {
        "urn" => has_parts(':'),
        "info" | "hdl" => has_parts('/'),
        "mailto" => has_parts('@'),
        _ => rest
            .strip_prefix("//")
            .is_some_and(|host| host.starts_with(char::is_alphanumeric) || host.starts_with('[')),
    }
}

/// The address with what may not stand in an IRI percent-encoded.
fn encoded(start: &str, address: &str) -> String {
    let mut iri = String::with_capacity(start.len() + address.len());
    iri.push_str(start);
    // Square brackets may stand around the number of a host, a hash sign once.
    let host = address.strip_prefix("//").map_or(0, |rest| 2 + rest.find('/').unwrap_or(rest.len()));
    let mut fragment = false;
    for (at, c) in address.char_indices() {
        if c.is_ascii_alphanumeric() || c == '/' {
            iri.push(c);
            continue;
        }
        let forbidden = match c {
            ' ' | '<' | '>' | '"' | '{' | '}' | '|' | '\\' | '^' | '`' => true,
            '[' | ']' => at >= host,
            '#' => std::mem::replace(&mut fragment, true),
            '%' => !is_escape(address.get(at + 1..).unwrap_or_default()),
            c => c.is_control() || c.is_whitespace(),
        };
        if forbidden {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                iri.push('%');
                iri.extend(
                    [byte >> 4, byte & 15]
                        .iter()
                        .filter_map(|half| char::from_digit(u32::from(*half), 16))
                        .map(|hex| hex.to_ascii_uppercase()),
                );
            }
        } else {
            iri.push(c);
        }
    }
    iri
}

/// Whether a percent sign before this is one of an encoded character.
fn is_escape(after: &str) -> bool {
    matches!(after.as_bytes(), [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(iri(text).as_deref(), Some(expected), "of {text:?}");
    }

    #[test]
    fn addresses_are_taken_as_they_are() {
        check("http://example.org/a?b=c#d", "http://example.org/a?b=c#d");
        check("HTTPS://example.org/A", "https://example.org/A");
        check("ftp://example.org/a", "ftp://example.org/a");
        check("urn:isbn:9780140390445", "urn:isbn:9780140390445");
        check("info:lccn/85000002", "info:lccn/85000002");
        check("mailto:a@example.org", "mailto:a@example.org");
        check("http://example.org/été", "http://example.org/été");
        check("http://[2001:db8::1]/a", "http://[2001:db8::1]/a");
    }

    #[test]
    fn what_people_type_is_repaired() {
        check("www.example.org", "http://www.example.org");
        check(" http://example.org/a. ", "http://example.org/a");
        check("(uri) http://example.org/a", "http://example.org/a");
        check("<http://example.org/a>", "http://example.org/a");
        check("http://example.org/a b", "http://example.org/a%20b");
        check("http://example.org/{a}|[b]", "http://example.org/%7Ba%7D%7C%5Bb%5D");
        check("http://example.org/100%", "http://example.org/100%25");
        check("http://example.org/%C3%A9", "http://example.org/%C3%A9");
        check("http://example.org/#a#b", "http://example.org/#a%23b");
        check("http://example.org/a\u{A0}b", "http://example.org/a%C2%A0b");
    }

    #[test]
    fn identifiers_are_resolved() {
        check("doi:10.1000/182", "https://doi.org/10.1000/182");
        check("doi:10.1002/(SICI)1<1::AID>2", "https://doi.org/10.1002/(sici)1%3C1::aid%3E2");
        check("hdl:2027/mdp.1", "https://hdl.handle.net/2027/mdp.1");
    }

    #[test]
    fn texts_are_no_iris() {
        for text in [
            "",
            "Walden",
            "Title: subtitle",
            "http:",
            "http://",
            "http:///a",
            "urn:isbn",
            "doi:x",
            "hdl:",
            "n 79018774",
            "javascript:alert(1)",
            "file:///etc",
        ] {
            assert_eq!(iri(text), None, "of {text:?}");
        }
    }

    proptest! {
        #[test]
        fn an_iri_is_valid_and_stays_so(
            text in "(http://|www\\.|urn:|info:|doi:10\\.1000/|hdl:|mailto:|\\(uri\\) )?[a-z:/@#%\\[\\]<> é]{0,12}|(https://a/|ftp://|urn:a:)?\\PC{0,16}"
        ) {
            if let Some(found) = iri(&text) {
                prop_assert!(NamedNode::new(&found).is_ok());
                prop_assert_eq!(iri(&found), Some(found));
            }
        }

        #[test]
        fn any_characters_may_come(text in "(http://a)?.{0,16}") {
            if let Some(found) = iri(&text) {
                prop_assert!(NamedNode::new(&found).is_ok());
            }
        }
    }
}
