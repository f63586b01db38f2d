//! Names that are safe in an IRI.

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
    use super::{percent_decode, percent_encode};

    #[test]
    fn an_identifier_is_one_path_segment() {
        assert_eq!(percent_encode("oai:x.example:a/b c"), "oai%3Ax.example%3Aa%2Fb%20c");
        assert_eq!(percent_encode("Ж-1"), "Ж-1");
        for id in ["oai:x.example:a/b c", "Ж-1 %41", "100%"] {
            assert_eq!(percent_decode(&percent_encode(id)), id);
        }
    }
}
