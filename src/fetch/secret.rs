//! Values that must not be seen.
//!
//! A [`Secret`] does not print itself. [`Secrets`] knows all secrets of a session, in the
//! spellings in which a server could send them back, and takes them out of every text that
//! leaves the module.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt;
use std::sync::{PoisonError, RwLock};

/// What stands in a secret's place.
const HIDDEN: &str = "[hidden]";
/// Shorter values occur in any text and are no secrets worth the name.
const SHORTEST: usize = 3;

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Secret(String);

impl Secret {
    pub(super) fn new(value: String) -> Self {
        Self(value)
    }

    /// The value, for the one place that sends it.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

#[derive(Default)]
pub(super) struct Secrets {
    /// Longest first, so that no part of one remains.
    spellings: RwLock<Vec<String>>,
}

impl Secrets {
    pub(super) fn add(&self, value: &str) {
        if value.len() < SHORTEST {
            return;
        }
        let mut spellings = self.spellings.write().unwrap_or_else(PoisonError::into_inner);
        let form: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
        let percent = form.replace('+', "%20");
        for spelling in [value.to_owned(), STANDARD.encode(value), form, percent] {
            if !spellings.contains(&spelling) {
                spellings.push(spelling);
            }
        }
        spellings.sort_by_key(|spelling| std::cmp::Reverse(spelling.len()));
    }

    pub(super) fn hide(&self, text: &str) -> String {
        let spellings = self.spellings.read().unwrap_or_else(PoisonError::into_inner);
        let mut text = text.to_owned();
        for spelling in spellings.iter() {
            if text.contains(spelling) {
                text = text.replace(spelling, HIDDEN);
            }
        }
        text
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// An address without user name and password, even if it is none that parses.
pub(super) fn without_userinfo(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("//") else { return url.to_owned() };
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}//{host}{path}"),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_hidden_in_every_spelling() {
        let secrets = Secrets::default();
        secrets.add("pass word&1");
        secrets.add("pass");
        let text = secrets.hide("x pass word&1 pass+word%261 pass%20word%261 cGFzcyB3b3JkJjE= y");
        assert_eq!(text, "x [hidden] [hidden] [hidden] [hidden] y");
        assert!(!format!("{secrets:?} {:?}", Secret::new("pass".to_owned())).contains("pass"));
    }

    #[test]
    fn addresses_lose_their_userinfo() {
        assert_eq!(without_userinfo("http://me:pw@x.example/a@b"), "http://x.example/a@b");
        assert_eq!(without_userinfo("http://x.example/a@b"), "http://x.example/a@b");
        assert_eq!(without_userinfo("http://a@b@c"), "http://c");
        assert_eq!(without_userinfo("nonsense"), "nonsense");
    }
}
