//! robots.txt: what a host asks robots not to fetch (RFC 9309).
//!
//! [`Rules::parse`] reads the lines that concern us out of any bytes; [`Rules::allow`] says
//! whether an address may be fetched; [`Known`] remembers the rules of each origin. What the
//! server answered instead of rules is judged here too ([`Rules::unavailable`]): a server
//! without rules (4xx) closes nothing, one that is down (5xx) closes everything for now.

mod known;
mod pattern;

#[cfg(test)]
mod tests;

pub(super) use known::Known;

use pattern::{Pattern, normalize};
use std::time::Duration;
use url::Url;

/// The name by which rules address us.
const PRODUCT: &str = "pinakes";
/// The part of a file that is read; RFC 9309 asks for at least this much.
pub(super) const LONGEST: usize = 500 * 1024;
/// Longer pauses than this are not honoured: they would be a ban that says it is none.
const LONGEST_DELAY: Duration = Duration::from_secs(60);

/// What one origin asks of us.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rules {
    /// Longest first; among equals what allows comes first.
    patterns: Vec<(Pattern, bool)>,
    delay: Option<Duration>,
    sitemaps: Vec<String>,
    /// What the server answered instead of rules.
    unavailable: Option<u16>,
}

impl Rules {
    /// Reads a file. Lines that make no sense are passed over; a file of HTML has no rules.
    pub fn parse(bytes: &[u8]) -> Self {
        let text = decode(&bytes[..bytes.len().min(LONGEST)]);
        let text = text.trim_start_matches('\u{feff}');
        if text.trim_start().starts_with('<') {
            return Self::default();
        }
        let mut reader = Reader::default();
        for line in text.split(['\r', '\n']) {
            reader.line(line);
        }
        reader.rules()
    }

    /// What a status other than success stands for.
    pub(super) fn unavailable(status: u16) -> Self {
        let patterns = if status >= 500 { vec![(Pattern::new("/"), false)] } else { Vec::new() };
        Self { patterns, unavailable: Some(status), ..Self::default() }
    }

    /// Why a page is closed.
    pub(super) fn reason(&self) -> String {
        match self.unavailable {
            Some(status) => format!("its robots.txt answered {status}"),
            None => "its robots.txt says so".to_owned(),
        }
    }

    /// Whether the page may be fetched: the longest pattern that fits decides.
    pub fn allow(&self, url: &Url) -> bool {
        let path = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        if path == "/robots.txt" {
            return true;
        }
        let path = normalize(&path);
        self.patterns.iter().find(|(pattern, _)| pattern.fits(&path)).is_none_or(|(_, allows)| *allows)
    }

    /// The pause between two requests that the host asks for.
    pub fn delay(&self) -> Option<Duration> {
        self.delay
    }

    /// Site maps the file names, for whatever group. They are addresses like any other: not
    /// checked, and not to be fetched but through a session.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }
}

/// A group is some `User-agent` lines and the rules after them. Groups that name us count
/// together; groups for everybody (`*`) count only if none names us.
#[derive(Default)]
struct Reader {
    ours: Group,
    everybody: Group,
    sitemaps: Vec<String>,
    /// Whom the group at hand addresses.
    names_us: bool,
    names_everybody: bool,
    /// Whether its rules have begun, so that a further `User-agent` begins a new group.
    in_rules: bool,
}

#[derive(Default)]
struct Group {
    found: bool,
    patterns: Vec<(Pattern, bool)>,
    delay: Option<Duration>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let line = line.split('#').next().unwrap_or_default();
        let Some((key, value)) = line.split_once(':') else { return };
        let (key, value) = (trim(key).to_ascii_lowercase(), trim(value));
        match key.as_str() {
            "user-agent" => {
                if std::mem::take(&mut self.in_rules) {
                    (self.names_us, self.names_everybody) = (false, false);
                }
                self.address(value);
            }
            "allow" | "disallow" => {
                self.in_rules = true;
                // An empty pattern closes nothing: `Disallow:` alone is how a file says so.
                if !value.is_empty() {
                    let allows = key == "allow";
                    self.each_group(|group| group.patterns.push((Pattern::new(value), allows)));
                }
            }
            "crawl-delay" => {
                self.in_rules = true;
                if let Some(delay) = delay(value) {
                    self.each_group(|group| group.delay = group.delay.max(Some(delay)));
                }
            }
            "sitemap" if !value.is_empty() => self.sitemaps.push(value.to_owned()),
            _ => {}
        }
    }

    fn address(&mut self, agent: &str) {
        // What follows the product's name, such as a version, does not count.
        let is_name = |c: char| c.is_ascii_alphabetic() || matches!(c, '-' | '_');
        let name = agent.split(|c| !is_name(c)).next().unwrap_or_default();
        if agent == "*" {
            self.names_everybody = true;
            self.everybody.found = true;
        } else if name.eq_ignore_ascii_case(PRODUCT) {
            self.names_us = true;
            self.ours.found = true;
        }
    }

    fn each_group(&mut self, mut change: impl FnMut(&mut Group)) {
        if self.names_us {
            change(&mut self.ours);
        }
        if self.names_everybody {
            change(&mut self.everybody);
        }
    }

    fn rules(self) -> Rules {
        let group = if self.ours.found { self.ours } else { self.everybody };
        let mut patterns = group.patterns;
        patterns.sort_by_key(|(pattern, allows)| (std::cmp::Reverse(pattern.len()), !allows));
        Rules { patterns, delay: group.delay, sitemaps: self.sitemaps, unavailable: None }
    }
}

/// Seconds, whole or not, held within what is reasonable.
fn delay(value: &str) -> Option<Duration> {
    let seconds: f64 = value.parse().ok()?;
    (seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(LONGEST_DELAY.as_secs_f64())))
}

/// Blanks, and the NUL bytes some editors leave behind.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\0')
}

/// The file should be UTF-8. One that some editor saved as UTF-16 is read all the same: its
/// owner meant what it says.
fn decode(bytes: &[u8]) -> String {
    let wide = |unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}
