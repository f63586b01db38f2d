//! What a record is called outside: `oai:catalogue.example:loc/123`.
//!
//! The local part may hold what the guidelines for OAI identifiers allow and what no query string
//! gives a meaning of its own; everything else is percent-encoded. A record has one name: other
//! spellings of it are not understood.

/// The name of a record, given its id.
pub fn identifier(namespace: &str, id: &str) -> String {
    let mut name = format!("oai:{namespace}:");
    for byte in id.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*():@,/".contains(&byte) {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    name
}

/// The id that a name stands for.
pub fn id_of(namespace: &str, name: &str) -> Option<String> {
    let local = name.strip_prefix("oai:")?.strip_prefix(namespace)?.strip_prefix(':')?;
    let mut bytes = Vec::with_capacity(local.len());
    let mut rest = local.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => hex(rest.next()?)? << 4 | hex(rest.next()?)?,
            other => other,
        });
    }
    let id = String::from_utf8(bytes).ok().filter(|id| !id.is_empty())?;
    (identifier(namespace, &id) == name).then_some(id)
}

/// Whether a namespace is one that the guidelines for OAI identifiers allow: the name of a host,
/// with at least one full stop, no part of which begins with a digit.
pub fn is_namespace(text: &str) -> bool {
    let mut parts = text.split('.');
    let first = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    let fits = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    fits(first) && !rest.is_empty() && rest.iter().all(|part| fits(part) && part.len() > 1)
}

/// Whether a text could be a URI at all: `badArgument` and `idDoesNotExist` differ by it.
pub fn is_uri_like(text: &str) -> bool {
    let forbidden =
        |c: char| c.is_whitespace() || c.is_control() || "\"<>\\^`{|}\u{fffe}\u{ffff}".contains(c);
    !text.is_empty() && !text.contains(forbidden)
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_safe_in_addresses_and_one_a_record() {
        assert_eq!(identifier("a.example", "loc/12 3&é"), "oai:a.example:loc/12%203%26%C3%A9");
        assert_eq!(id_of("a.example", "oai:a.example:loc/12%203%26%C3%A9").as_deref(), Some("loc/12 3&é"));
        for other in ["oai:a.example:loc/%31", "oai:a.example:%e9", "oai:a.example:%", "oai:a.example:"] {
            assert_eq!(id_of("a.example", other), None, "{other}");
        }
        for foreign in ["oai:b.example:loc/1", "loc/1", "", "oai:a.example.org:loc/1"] {
            assert_eq!(id_of("a.example", foreign), None, "{foreign}");
        }
    }

    #[test]
    fn namespaces_are_names_of_hosts() {
        for good in ["a.example", "my-library.example.org", "A.b1"] {
            assert!(is_namespace(good), "{good}");
        }
        for bad in ["", "localhost", "127.0.0.1", "a..b", "a.b", "-a.bc", "a.b_c", "é.fr", "a.example."] {
            assert!(!is_namespace(bad), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn every_id_comes_back(id in ".{1,40}") {
            let name = identifier("a.example", &id);
            prop_assert!(is_uri_like(&name));
            prop_assert_eq!(id_of("a.example", &name), Some(id));
        }

        #[test]
        fn no_name_is_understood_twice(name in "oai:a\\.example:[a-z%0-9A-F&é]{0,12}") {
            if let Some(id) = id_of("a.example", &name) {
                prop_assert_eq!(identifier("a.example", &id), name);
            }
        }
    }
}
