//! Datestamps: UTC, to the second.
//!
//! The repository's granularity is seconds. A harvester may also name days, which then stand for
//! all their seconds; see [`Bound`].

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A moment in UTC, to the second, between the years 1 and 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Datestamp(DateTime);

/// How finely a harvester named a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granularity {
    Day,
    Second,
}

/// A moment named in a request: its first second and its last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    pub first: Datestamp,
    pub last: Datestamp,
    pub granularity: Granularity,
}

impl Datestamp {
    /// `None` outside the years that a datestamp can name.
    pub fn from_unix(seconds: i64) -> Option<Self> {
        Self::of(jiff::Timestamp::from_second(seconds).ok()?)
    }

    /// Before everything that a catalogue could have done.
    pub const EPOCH: Self = Self(DateTime::constant(1970, 1, 1, 0, 0, 0, 0));

    /// A second later.
    pub fn next(self) -> Self {
        Self(self.0.checked_add(jiff::SignedDuration::from_secs(1)).unwrap_or(self.0))
    }

    /// A second earlier.
    pub fn previous(self) -> Self {
        Self(self.0.checked_sub(jiff::SignedDuration::from_secs(1)).unwrap_or(self.0))
    }

    /// Reads `YYYY-MM-DDThh:mm:ssZ`, and nothing else.
    pub fn parse(text: &str) -> Option<Self> {
        let has_shape = has_shape(text, "dddd-dd-ddTdd:dd:ddZ");
        let time = text.strip_suffix('Z').filter(|_| has_shape)?.parse::<DateTime>().ok()?;
        // A leap second would be read as the second before it.
        Some(Self(time)).filter(|stamp| time.year() > 0 && stamp.to_string() == text)
    }

    /// Reads any time in RFC 3339 with its zone, as archives keep them; what is finer than a second
    /// is cut off.
    pub fn of_rfc3339(text: &str) -> Option<Self> {
        Self::of(text.parse().ok()?)
    }

    fn of(time: jiff::Timestamp) -> Option<Self> {
        let whole = jiff::Timestamp::from_second(time.as_second()).ok()?;
        let time = TimeZone::UTC.to_datetime(whole);
        (time.year() > 0).then_some(Self(time))
    }
}

impl TryFrom<String> for Datestamp {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is no datestamp"))
    }
}

impl From<Datestamp> for String {
    fn from(stamp: Datestamp) -> Self {
        stamp.to_string()
    }
}

impl fmt::Display for Datestamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}Z", self.0)
    }
}

impl Bound {
    /// Reads a day or a second.
    pub fn parse(text: &str) -> Option<Self> {
        if has_shape(text, "dddd-dd-dd") {
            let first = Datestamp::parse(&format!("{text}T00:00:00Z"))?;
            let last = Datestamp::parse(&format!("{text}T23:59:59Z"))?;
            return Some(Self { first, last, granularity: Granularity::Day });
        }
        let moment = Datestamp::parse(text)?;
        Some(Self { first: moment, last: moment, granularity: Granularity::Second })
    }
}

/// Whether a text has a digit wherever the shape has a `d`, and is equal elsewhere.
fn has_shape(text: &str, shape: &str) -> bool {
    let fits = |(byte, place): (u8, u8)| if place == b'd' { byte.is_ascii_digit() } else { byte == place };
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_seconds_in_utc_are_datestamps() {
        for text in ["2024-02-29T23:59:59Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"] {
            assert_eq!(Datestamp::parse(text).unwrap().to_string(), text);
        }
        let wrong = [
            "",
            "2024-02-30T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:00:60Z",
            "2024-01-01T00:00:00+00:00",
            "2024-01-01T00:00:00.0Z",
            "2024-01-01t00:00:00z",
            "0000-01-01T00:00:00Z",
            "2024-01-01",
            "２024-01-01T00:00:0",
        ];
        for text in wrong {
            assert_eq!(Datestamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_day_is_all_its_seconds() {
        let day = Bound::parse("2024-02-29").unwrap();
        assert_eq!(day.granularity, Granularity::Day);
        assert_eq!(day.first.to_string(), "2024-02-29T00:00:00Z");
        assert_eq!(day.last.to_string(), "2024-02-29T23:59:59Z");
        let second = Bound::parse("2024-02-29T01:02:03Z").unwrap();
        assert_eq!((second.first, second.granularity), (second.last, Granularity::Second));
        assert_eq!(Bound::parse("2024-02-30"), None);
        assert_eq!(Bound::parse("2024-02"), None);
        assert_eq!(Bound::parse("20240229"), None);
    }

    #[test]
    fn fractions_and_zones_of_archives_are_understood() {
        let stamp = Datestamp::of_rfc3339("2024-02-29T23:30:00.987+02:00").unwrap();
        assert_eq!(stamp.to_string(), "2024-02-29T21:30:00Z");
        assert_eq!(Datestamp::of_rfc3339("yesterday"), None);
        assert_eq!(Datestamp::from_unix(i64::MAX), None);
        assert_eq!(Datestamp::from_unix(-70_000_000_000), None);
        assert_eq!(Datestamp::from_unix(0).unwrap().to_string(), "1970-01-01T00:00:00Z");
    }
}
