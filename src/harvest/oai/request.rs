//! What is asked of a repository, as a URL.

use super::stamp::{Granularity, Stamp};
use serde::{Deserialize, Serialize};

/// The verbs of OAI-PMH 2.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verb {
    Identify,
    ListMetadataFormats,
    ListSets,
    ListIdentifiers,
    ListRecords,
    GetRecord,
}

impl Verb {
    pub const ALL: [Self; 6] = [
        Self::Identify,
        Self::ListMetadataFormats,
        Self::ListSets,
        Self::ListIdentifiers,
        Self::ListRecords,
        Self::GetRecord,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Identify => "Identify",
            Self::ListMetadataFormats => "ListMetadataFormats",
            Self::ListSets => "ListSets",
            Self::ListIdentifiers => "ListIdentifiers",
            Self::ListRecords => "ListRecords",
            Self::GetRecord => "GetRecord",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.name() == name)
    }
}

/// Which part of a repository: both ends belong to it, and an end that is not there is open.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Window {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Stamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Stamp>,
}

impl Window {
    /// Cuts the window in two, or says that it is a single granule. Where an end is open,
    /// `bounds` says how far the middle can be looked for; the end stays open.
    pub fn halves(&self, bounds: (Stamp, Stamp), granularity: Granularity) -> Option<(Self, Self)> {
        let granule = granularity.granule();
        let first = self.from.unwrap_or(bounds.0).floor(granularity);
        let last = self.until.unwrap_or(bounds.1).floor(granularity);
        let granules = (last.seconds() - first.seconds()) / granule;
        if granules < 1 {
            return None;
        }
        let middle = first.plus((granules - 1) / 2 * granule);
        let left = Self { until: Some(middle), ..self.clone() };
        let right = Self { from: Some(middle.plus(granule)), ..self.clone() };
        Some((left, right))
    }

    /// Whether a datestamp is outside by more than clocks and time zones explain.
    pub fn is_far_from(&self, stamp: Stamp) -> bool {
        const TOLERANCE: i64 = 2 * 86_400;
        self.from.is_some_and(|from| stamp < from.plus(-TOLERANCE))
            || self.until.is_some_and(|until| stamp > until.plus(TOLERANCE))
    }

    /// For people: `set maps, 2024-01-01 to 2024-06-30`.
    pub fn describe(&self, granularity: Granularity) -> String {
        let mut parts = Vec::new();
        parts.extend(self.set.as_ref().map(|set| format!("set {set}")));
        parts.push(match (self.from, self.until) {
            (None, None) => "all dates".to_owned(),
            (Some(from), None) => format!("from {}", from.write(granularity)),
            (None, Some(until)) => format!("until {}", until.write(granularity)),
            (Some(from), Some(until)) if from == until => from.write(granularity),
            (Some(from), Some(until)) => {
                format!("{} to {}", from.write(granularity), until.write(granularity))
            }
        });
        parts.join(", ")
    }
}

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request<'a> {
    Identify,
    ListMetadataFormats,
    ListSets,
    /// `ListRecords` or `ListIdentifiers`, from the beginning.
    List {
        verb: Verb,
        prefix: &'a str,
        window: &'a Window,
        granularity: Granularity,
    },
    /// The next part of a list. A token stands alone: it is an exclusive argument.
    Resume {
        verb: Verb,
        token: &'a str,
    },
    GetRecord {
        identifier: &'a str,
        prefix: &'a str,
    },
}

impl Request<'_> {
    /// The URL of the request. The base URL may have a query of its own.
    pub fn url(&self, base_url: &str) -> String {
        let base = base_url.split_once('#').map_or(base_url, |(base, _)| base).trim();
        let mut url = base.to_owned();
        if !base.contains('?') {
            url.push('?');
        } else if !base.ends_with(['?', '&']) {
            url.push('&');
        }
        url.push_str("verb=");
        match self {
            Self::Identify => url.push_str(Verb::Identify.name()),
            Self::ListMetadataFormats => url.push_str(Verb::ListMetadataFormats.name()),
            Self::ListSets => url.push_str(Verb::ListSets.name()),
            Self::List { verb, prefix, window, granularity } => {
                url.push_str(verb.name());
                argument(&mut url, "metadataPrefix", prefix);
                if let Some(from) = window.from {
                    argument(&mut url, "from", &from.write(*granularity));
                }
                if let Some(until) = window.until {
                    argument(&mut url, "until", &until.write(*granularity));
                }
                if let Some(set) = &window.set {
                    argument(&mut url, "set", set);
                }
            }
            Self::Resume { verb, token } => {
                url.push_str(verb.name());
                argument(&mut url, "resumptionToken", token);
            }
            Self::GetRecord { identifier, prefix } => {
                url.push_str(Verb::GetRecord.name());
                argument(&mut url, "identifier", identifier);
                argument(&mut url, "metadataPrefix", prefix);
            }
        }
        url
    }
}

/// Adds an argument whose value means nothing here: whatever it holds, it stays one value.
fn argument(url: &mut String, name: &str, value: &str) {
    url.push('&');
    url.push_str(name);
    url.push('=');
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            url.push(char::from(byte));
        } else {
            const DIGITS: [char; 16] =
                ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
            url.push('%');
            for nibble in [byte >> 4, byte & 15] {
                url.extend(DIGITS.get(usize::from(nibble)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(text: &str) -> Stamp {
        Stamp::parse(text).unwrap()
    }

    fn window(from: &str, until: &str) -> Window {
        let end = |text: &str| Stamp::parse(text);
        Window { set: None, from: end(from), until: end(until) }
    }

    #[test]
    fn a_token_stands_alone_and_stays_one_argument() {
        let token = "a&verb=Identify&x=%0d%0aHost:%20evil#frag é";
        let url = Request::Resume { verb: Verb::ListRecords, token }.url("http://r.example/oai");
        assert_eq!(
            url,
            "http://r.example/oai?verb=ListRecords&resumptionToken=\
             a%26verb%3DIdentify%26x%3D%250d%250aHost%3A%2520evil%23frag%20%C3%A9"
        );
    }

    #[test]
    fn a_base_url_may_have_a_query() {
        for (base, url) in [
            ("http://r.example/oai", "http://r.example/oai?verb=Identify"),
            ("http://r.example/oai?", "http://r.example/oai?verb=Identify"),
            ("http://r.example/?page=oai", "http://r.example/?page=oai&verb=Identify"),
            ("http://r.example/?page=oai&#top", "http://r.example/?page=oai&verb=Identify"),
        ] {
            assert_eq!(Request::Identify.url(base), url);
        }
    }

    #[test]
    fn both_granularities_are_written() {
        let window = Window { set: Some("a:b c".to_owned()), ..window("2024-01-02T03:04:05Z", "2024-02-01") };
        let list = |granularity| {
            Request::List { verb: Verb::ListRecords, prefix: "oai_dc", window: &window, granularity }
                .url("b:/o")
        };
        let day =
            "b:/o?verb=ListRecords&metadataPrefix=oai_dc&from=2024-01-02&until=2024-02-01&set=a%3Ab%20c";
        assert_eq!(list(Granularity::Day), day);
        assert!(
            list(Granularity::Second)
                .contains("&from=2024-01-02T03%3A04%3A05Z&until=2024-02-01T00%3A00%3A00Z&")
        );
    }

    #[test]
    fn windows_halve_down_to_one_granule_and_lose_nothing() {
        let bounds = (stamp("2020-01-01"), stamp("2020-03-31"));
        for granularity in [Granularity::Day, Granularity::Second] {
            let mut waiting = vec![Window::default()];
            let mut edge = None;
            let mut single = 0;
            while let Some(window) = waiting.pop() {
                match window.halves(bounds, granularity) {
                    Some((left, right)) if granularity == Granularity::Day || single < 40 => {
                        assert_eq!(left.from, window.from);
                        assert_eq!(right.until, window.until);
                        let gap = right.from.unwrap().seconds() - left.until.unwrap().seconds();
                        assert_eq!(gap, granularity.granule());
                        waiting.push(right);
                        waiting.push(left);
                    }
                    Some(_) => {}
                    None => {
                        // In order, without a gap, open at both ends.
                        assert_eq!(window.from.map(|from| from.plus(-granularity.granule())), edge);
                        edge = window.until;
                        single += 1;
                    }
                }
            }
            if granularity == Granularity::Day {
                assert_eq!((single, edge), (91, None));
            }
        }
    }

    #[test]
    fn a_window_of_one_granule_is_not_halved() {
        let bounds = (Stamp::EPOCH, Stamp::EPOCH);
        assert_eq!(window("2024-01-01", "2024-01-01").halves(bounds, Granularity::Day), None);
        assert_eq!(window("2024-01-02", "2024-01-01").halves(bounds, Granularity::Day), None);
        assert!(window("2024-01-01", "2024-01-02").halves(bounds, Granularity::Day).is_some());
    }
}
