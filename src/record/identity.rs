//! Names that are safe in an IRI, and short enough for one.

use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// Bytes that the identifier of a record may take in an IRI. Real ones take less than a tenth of
/// it. The IRI stands in every statement of the record, so that a longer one would be repeated
/// tens of thousands of times.
const LONGEST_IDENTIFIER: usize = 2048;

/// What a record that names itself so is known by: the same, or for an identifier beyond
/// [`LONGEST_IDENTIFIER`] `id-sha256-` and its hash. The hash is of the identifier and not of the
/// content, so a record that changes is recognised all the same.
pub fn known_by(identifier: &str) -> Cow<'_, str> {
    // Percent-encoding makes three bytes of one, at most, and never fewer than there were.
    let is_short = identifier.len() <= LONGEST_IDENTIFIER / 3
        || identifier.len() <= LONGEST_IDENTIFIER && percent_encode(identifier).len() <= LONGEST_IDENTIFIER;
    if is_short {
        return Cow::Borrowed(identifier);
    }
    let hash = Sha256::digest(identifier.as_bytes());
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    Cow::Owned(format!("id-sha256-{digits}"))
}

/// Percent-encodes everything but unreserved characters of RFC 3986, so that an identifier is
/// one segment of a path whatever it holds. Letters of any script stay: an IRI may hold them.
pub fn percent_encode(identifier: &str) -> String {
    // A path segment of dots alone would be taken for the way up.
    if matches!(identifier, "." | "..") {
        return identifier.replace('.', "%2E");
    }
    let mut out = String::with_capacity(identifier.len());
    for c in identifier.chars() {
        if c.is_ascii_alphanumeric()
            || matches!(c, '-' | '.' | '_' | '~')
            || (!c.is_ascii() && c.is_alphanumeric())
        {
            out.push(c);
        } else {
            let mut buffer = [0; 4];
            for byte in c.encode_utf8(&mut buffer).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    out
}

/// What [`percent_encode`] was given.
pub fn percent_decode(segment: &str) -> String {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = after
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match escaped {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_one_path_segment() {
        assert_eq!(percent_encode("oai:x.example:a/b c"), "oai%3Ax.example%3Aa%2Fb%20c");
        assert_eq!(percent_encode("Ж-1"), "Ж-1");
        for id in ["oai:x.example:a/b c", "Ж-1 %41", "100%"] {
            assert_eq!(percent_decode(&percent_encode(id)), id);
        }
    }

    /// It was once copied into every statement and every message, megabytes of it.
    #[test]
    fn an_identifier_without_end_is_known_by_its_hash() {
        for id in ["4711", "oai:x.example:a/b c", "x".repeat(2048).as_str(), " ".repeat(682).as_str()] {
            assert_eq!(known_by(id), id);
        }
        for id in ["x".repeat(2049), " ".repeat(683), "Ж".repeat(1 << 20)] {
            let known = known_by(&id);
            assert!(known.starts_with("id-sha256-") && known.len() == 74, "{known}");
            assert_eq!(known, known_by(&id));
            assert_ne!(known, known_by(&format!("{id}.")));
        }
    }
}
