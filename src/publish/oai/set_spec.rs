//! Names of sets: `source:loc`, `type:book`.

/// The name of a set below others: its parts, from the top. What a name may not hold is written
/// as `~` and two hexadecimal digits a byte.
pub fn set_spec(parts: &[&str]) -> String {
    let mut spec = String::new();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if !spec.is_empty() {
            spec.push(':');
        }
        for byte in part.bytes() {
            if is_plain(char::from(byte)) && byte != b'~' {
                spec.push(char::from(byte));
            } else {
                spec.push_str(&format!("~{byte:02X}"));
            }
        }
    }
    spec
}

/// Whether a record of the set `spec` is in `set`: that one, or one above it.
pub fn is_in_set(spec: &str, set: &str) -> bool {
    spec.strip_prefix(set).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

/// Whether a text can be the name of a set.
pub fn is_set_spec(text: &str) -> bool {
    text.split(':').all(is_prefix)
}

/// Whether a text can be a metadata prefix, or a part of the name of a set.
pub fn is_prefix(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_plain)
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.!~*'()".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sets_hold_what_is_in_the_sets_below() {
        assert!(is_in_set("source:loc", "source:loc"));
        assert!(is_in_set("source:loc", "source"));
        assert!(!is_in_set("source:loc", "source:lo"));
        assert!(!is_in_set("source", "source:loc"));
        assert_eq!(set_spec(&["source", "a b:c~"]), "source:a~20b~3Ac~7E");
        for bad in ["", ":", "a:", ":a", "a b", "a%20b", "é"] {
            assert!(!is_set_spec(bad), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn every_name_makes_a_set(name in ".{1,30}") {
            prop_assert!(is_set_spec(&set_spec(&["source", &name])));
        }
    }
}
