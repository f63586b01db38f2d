//! One `Allow` or `Disallow` pattern.
//!
//! A pattern is the beginning of a path, in which `*` stands for any characters and a final `$`
//! for the end. Pattern and path are compared in one spelling, and in linear time: the pieces
//! between stars are looked for one after the other.

use memchr::memmem;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The text between the stars; the first piece stands at the beginning.
    pieces: Vec<String>,
    /// Whether the last piece stands at the end.
    ends: bool,
    /// As written: the longest pattern that fits is the most specific.
    length: usize,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        let (body, ends) = match text.strip_suffix('$') {
            Some(body) => (body, true),
            None => (text, false),
        };
        let pieces: Vec<String> = body.split('*').map(normalize).collect();
        let stars = pieces.len() - 1;
        let length = pieces.iter().map(String::len).sum::<usize>() + stars + usize::from(ends);
        Self { pieces, ends, length }
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Whether it fits a path that is spelt as [`normalize`] spells it.
    pub(super) fn fits(&self, path: &str) -> bool {
        let Some((first, others)) = self.pieces.split_first() else { return false };
        let Some(mut rest) = path.strip_prefix(first.as_str()) else { return false };
        let Some((last, middle)) = others.split_last() else { return !self.ends || rest.is_empty() };
        for piece in middle {
            match memmem::find(rest.as_bytes(), piece.as_bytes()) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        if self.ends {
            rest.ends_with(last.as_str())
        } else {
            memmem::find(rest.as_bytes(), last.as_bytes()).is_some()
        }
    }
}

/// One spelling for each path (RFC 9309, 2.2.2): letters, digits and `-._~` stand for
/// themselves, bytes beyond ASCII are percent-encoded, hexadecimal digits are large.
pub(super) fn normalize(path: &str) -> String {
    let bytes = path.as_bytes();
    let mut text = String::with_capacity(path.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        let encoded = (byte == b'%').then(|| hex(bytes.get(at), bytes.get(at + 1))).flatten();
        match encoded {
            Some(byte) => {
                at += 2;
                if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                    text.push(char::from(byte));
                } else {
                    text.push_str(&format!("%{byte:02X}"));
                }
            }
            None if byte.is_ascii_graphic() => text.push(char::from(byte)),
            None => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

fn hex(high: Option<&u8>, low: Option<&u8>) -> Option<u8> {
    let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, fitting: &[&str], other: &[&str]) {
        let pattern = Pattern::new(pattern);
        for path in fitting {
            assert!(pattern.fits(&normalize(path)), "{pattern:?} {path}");
        }
        for path in other {
            assert!(!pattern.fits(&normalize(path)), "{pattern:?} {path}");
        }
    }

    #[test]
    fn patterns_are_beginnings_with_stars_and_ends() {
        check(
            "/fish",
            &["/fish", "/fish.html", "/fish/salmon", "/fishheads?id=1"],
            &["/Fish.asp", "/catfish", "/"],
        );
        check("/*.php", &["/index.php", "/a/b.php?x", "/a.php/"], &["/", "/windows.PHP"]);
        check("/*.php$", &["/a.php", "/a.php.php"], &["/a.php?x", "/a.php5"]);
        check("/fish*.php", &["/fish.php", "/fishheads/catfish.php?p"], &["/Fish.PHP"]);
        check("/a*b*c$", &["/abc", "/axbxxc", "/abbcc"], &["/ab", "/acb", "/abcd"]);
        check("/$", &["/"], &["/a"]);
        check("*", &["/", "/x"], &[]);
        check("/a$b", &["/a$bc"], &["/a"]);
        check("*/x/", &["/x/", "/a/x/y"], &["/x"]);
        check("/a*", &["/a", "/abc"], &["/b"]);
        check("/a*$", &["/a", "/abc"], &["/b"]);
    }

    #[test]
    fn a_piece_is_not_used_twice() {
        check("/ab*ba$", &["/abba", "/abxba"], &["/aba"]);
    }

    #[test]
    fn spellings_of_one_path_are_one() {
        check("/%7ejoe/", &["/~joe/x", "/%7Ejoe/"], &["/joe/"]);
        check("/ツ", &["/%E3%83%84", "/%e3%83%84x"], &["/%E3"]);
        check("/a%3cd", &["/a%3Cd"], &["/ad"]);
        check("/a%2fb", &["/a%2Fb"], &["/a/b"]);
        check("/50%", &["/50%", "/50%x"], &["/50"]);
    }

    #[test]
    fn hostile_patterns_take_linear_time() {
        let pattern = Pattern::new(&format!("/{}$", "*a".repeat(100_000)));
        let path = format!("/{}", "a".repeat(99_999));
        assert!(!pattern.fits(&path));
        let pattern = Pattern::new(&format!("/*{}b", "a".repeat(10_000)));
        assert!(!pattern.fits(&format!("/{}", "a".repeat(100_000))));
    }
}
