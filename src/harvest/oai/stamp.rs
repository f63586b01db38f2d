//! Datestamps, in the two granularities of OAI-PMH.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const DAY: i64 = 24 * 60 * 60;

/// How exact a repository's datestamps are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Granularity {
    /// `YYYY-MM-DD`, which every repository understands.
    #[default]
    Day,
    /// `YYYY-MM-DDThh:mm:ssZ`.
    Second,
}

impl Granularity {
    /// As `Identify` says it.
    pub fn from_words(words: &str) -> Option<Self> {
        let words = words.trim().to_ascii_lowercase();
        match words.as_str() {
            "yyyy-mm-dd" => Some(Self::Day),
            _ if words.starts_with("yyyy-mm-ddthh:mm:ss") => Some(Self::Second),
            _ => None,
        }
    }

    /// Seconds in the smallest difference it can express.
    pub fn granule(self) -> i64 {
        match self {
            Self::Day => DAY,
            Self::Second => 1,
        }
    }
}

/// A moment in UTC, to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(i64);

impl Stamp {
    /// Midnight at the start of 1970, before every datestamp that a repository gives in earnest.
    pub const EPOCH: Self = Self(0);

    pub fn from_seconds(seconds: i64) -> Self {
        Self(seconds)
    }

    /// Since 1970.
    pub fn seconds(self) -> i64 {
        self.0
    }

    #[must_use]
    pub fn plus(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds))
    }

    /// The start of its granule.
    #[must_use]
    pub fn floor(self, granularity: Granularity) -> Self {
        Self(self.0 - self.0.rem_euclid(granularity.granule()))
    }

    /// Reads `2024-02-29` and `2024-02-29T12:30:00Z`; also a fraction of a second, which is
    /// dropped, and the distance from UTC. Anything else is no datestamp.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_ascii().as_bytes();
        let (date, time) = text.split_at_checked(10)?;
        let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = date else { return None };
        let year = number(&[*y1, *y2, *y3, *y4])?;
        let month = number(&[*m1, *m2])?;
        let day = number(&[*d1, *d2])?;
        if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
            return None;
        }
        let midnight = days(year, month, day) * DAY;
        if time.is_empty() {
            return Some(Self(midnight));
        }
        let [b'T' | b't' | b' ', h1, h2, b':', m1, m2, b':', s1, s2, rest @ ..] = time else { return None };
        let hour = number(&[*h1, *h2])?;
        let minute = number(&[*m1, *m2])?;
        let second = number(&[*s1, *s2])?;
        if hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let distance = distance(rest)?;
        Some(Self(midnight + hour * 3600 + minute * 60 + second.min(59) - distance))
    }

    /// As an argument of a request.
    pub fn write(self, granularity: Granularity) -> String {
        let (year, month, day) = civil(self.0.div_euclid(DAY));
        let date = format!("{year:04}-{month:02}-{day:02}");
        match granularity {
            Granularity::Day => date,
            Granularity::Second => {
                let second = self.0.rem_euclid(DAY);
                format!("{date}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
            }
        }
    }
}

impl Serialize for Stamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.write(Granularity::Second))
    }
}

impl<'de> Deserialize<'de> for Stamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is no datestamp")))
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    digits
        .iter()
        .try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i64::from(*digit - b'0')))
}

/// The seconds east of UTC that come after the time, perhaps after a fraction.
fn distance(rest: &[u8]) -> Option<i64> {
    let fraction = match rest {
        [b'.', digits @ ..] => 1 + digits.iter().take_while(|digit| digit.is_ascii_digit()).count(),
        _ => 0,
    };
    match rest.get(fraction..)? {
        [] | [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let seconds = number(&[*h1, *h2])? * 3600 + number(&[*m1, *m2])? * 60;
            Some(if *sign == b'-' { -seconds } else { seconds })
        }
        _ => None,
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970 to a date of the Gregorian calendar. Years begin in March here, so that the
/// leap day is the last of its year, and 400 of them have a fixed length.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let month = (month + 9) % 12;
    let in_year = (153 * month + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + in_year - 719_468
}

/// The date of a day counted from 1970.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let in_era = days.rem_euclid(146_097);
    let year = (in_era - in_era / 1460 + in_era / 36_524 - in_era / 146_096) / 365;
    let in_year = in_era - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let day = in_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + carry, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let read = Stamp::parse(text).map(|stamp| stamp.write(Granularity::Second));
        assert_eq!(read.as_deref(), expected, "{text}");
    }

    #[test]
    fn both_granularities_are_read() {
        check("2024-02-29", Some("2024-02-29T00:00:00Z"));
        check("1999-12-31T23:59:59Z", Some("1999-12-31T23:59:59Z"));
        check(" 1969-07-20T20:17:40.123Z ", Some("1969-07-20T20:17:40Z"));
        check("2024-01-01T01:30:00+02:00", Some("2023-12-31T23:30:00Z"));
        assert_eq!(Stamp::parse("1970-01-01"), Some(Stamp::EPOCH));
    }

    #[test]
    fn what_is_no_datestamp_is_none() {
        for text in [
            "",
            "2024-13-45",
            "0000-00-00",
            "2024-02-30T25:61:61Z",
            "yesterday",
            "2023-02-29",
            "2024",
            "é024-01-0é",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn granularity_is_read_from_its_words() {
        assert_eq!(Granularity::from_words(" YYYY-MM-DD"), Some(Granularity::Day));
        assert_eq!(Granularity::from_words("YYYY-MM-DDThh:mm:ssZ"), Some(Granularity::Second));
        assert_eq!(Granularity::from_words("sometimes"), None);
    }

    proptest! {
        #[test]
        fn every_moment_is_read_as_it_is_written(seconds in -62_167_219_200_i64..253_402_300_799) {
            let stamp = Stamp::from_seconds(seconds);
            prop_assert_eq!(Stamp::parse(&stamp.write(Granularity::Second)), Some(stamp));
            let day = stamp.floor(Granularity::Day);
            prop_assert_eq!(Stamp::parse(&stamp.write(Granularity::Day)), Some(day));
        }

        #[test]
        fn any_text_is_read_or_not(text in "[0-9TZ:+. -]{0,30}") {
            let _ = Stamp::parse(&text);
        }
    }
}
