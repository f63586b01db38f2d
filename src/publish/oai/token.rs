//! Resumption tokens that stand alone.
//!
//! A token holds the arguments of the list, where the last page ended and how many records were
//! given, so nothing is kept between two requests: tokens survive a restart and never expire. A
//! checksum over these and the name of the repository tells a token that was changed, or made
//! elsewhere, from one of ours; the version tells one of another release. It protects nothing:
//! a token says no more than its arguments could.

use super::datestamp::Datestamp;
use super::repository::Position;
use super::verb::{ListVerb, Wanted};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// To be raised when the meaning of a field changes.
const VERSION: u32 = 1;
const CHECKSUM: usize = 9;

/// Where in which list to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub verb: ListVerb,
    pub wanted: Wanted,
    pub after: Position,
    /// How many records were given before.
    pub given: u64,
}

/// A token as it is written: version, verb, prefix, from, until, set, datestamp, id, given.
#[derive(Serialize, Deserialize)]
struct Written(u32, String, String, Option<String>, Option<String>, Option<String>, String, String, u64);

impl Token {
    /// The token in letters that no address has to encode.
    pub fn write(&self, namespace: &str) -> String {
        let written = Written(
            VERSION,
            self.verb.name().to_owned(),
            self.wanted.prefix.clone(),
            self.wanted.from.map(|from| from.to_string()),
            self.wanted.until.map(|until| until.to_string()),
            self.wanted.set.clone(),
            self.after.datestamp.to_string(),
            self.after.id.clone(),
            self.given,
        );
        let content = serde_json::to_vec(&written).unwrap_or_default();
        let mut bytes = checksum(namespace, &content);
        bytes.extend(content);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// `None` for whatever [`Token::write`] has not written for this repository.
    pub fn read(namespace: &str, text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (sum, content) = bytes.split_at_checked(CHECKSUM)?;
        if sum != checksum(namespace, content) {
            return None;
        }
        let Written(version, verb, prefix, from, until, set, datestamp, id, given) =
            serde_json::from_slice(content).ok()?;
        // An absent bound is no bound; one that cannot be read is no token.
        let bound = |text: Option<String>| match text {
            Some(text) => Datestamp::parse(&text).map(Some),
            None => Some(None),
        };
        let wanted = Wanted { prefix, from: bound(from)?, until: bound(until)?, set };
        let after = Position { datestamp: Datestamp::parse(&datestamp)?, id };
        let token = Self { verb: ListVerb::from_name(&verb)?, wanted, after, given };
        (version == VERSION).then_some(token)
    }
}

fn checksum(namespace: &str, content: &[u8]) -> Vec<u8> {
    let mut hasher = Sha256::new();
    hasher.update(namespace.as_bytes());
    hasher.update([0]);
    hasher.update(content);
    hasher.finalize().iter().take(CHECKSUM).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn token(id: &str) -> Token {
        let stamp = |text| Datestamp::parse(text).unwrap();
        Token {
            verb: ListVerb::Records,
            wanted: Wanted {
                prefix: "oai_dc".to_owned(),
                from: Some(stamp("2024-01-01T00:00:00Z")),
                until: None,
                set: Some("source:loc".to_owned()),
            },
            after: Position { datestamp: stamp("2024-01-02T03:04:05Z"), id: id.to_owned() },
            given: 100,
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(id in ".{0,60}") {
            let text = token(&id).write("a.example");
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
            prop_assert_eq!(Token::read("a.example", &text), Some(token(&id)));
            prop_assert_eq!(Token::read("b.example", &text), None);
        }

        #[test]
        fn a_changed_token_is_none(at in 0_usize..200, letter in "[A-Za-z0-9_-]") {
            let text = token("loc/1").write("a.example");
            let at = at % text.len();
            let mut changed = text.clone();
            changed.replace_range(at..=at, &letter);
            // The last letter may hold bits that mean nothing; those are refused as well.
            prop_assume!(changed != text);
            prop_assert_eq!(Token::read("a.example", &changed), None);
            prop_assert_eq!(Token::read("a.example", &text[..at]), None);
        }

        #[test]
        fn any_text_can_be_tried(text in ".{0,80}") {
            prop_assert_eq!(Token::read("a.example", &text), None);
        }
    }

    /// The form of version 1, with a right checksum and another version.
    #[test]
    fn a_token_of_another_release_is_none() {
        let content = br#"[2,"ListRecords","oai_dc",null,null,null,"2024-01-02T03:04:05Z","loc/1",100]"#;
        let mut bytes = checksum("a.example", content);
        bytes.extend(content);
        assert_eq!(Token::read("a.example", &URL_SAFE_NO_PAD.encode(bytes)), None);
    }

    /// A token of this release must stay readable for the next one: a harvest lasts for days.
    #[test]
    fn tokens_are_written_as_ever() {
        let text = "Vyr8GLSW1h4tWzEsIkxpc3RSZWNvcmRzIiwib2FpX2RjIiwiMjAyNC0wMS0wMVQwMDowMDowMFoiLG51bGwsInNvdXJj\
                    ZTpsb2MiLCIyMDI0LTAxLTAyVDAzOjA0OjA1WiIsImxvYy8xIiwxMDBd";
        assert_eq!(token("loc/1").write("a.example"), text);
        assert_eq!(Token::read("a.example", text), Some(token("loc/1")));
    }
}
