//! How hard a source is to harvest, from 1 to 5, and how long that may take.
//!
//! The level is a person's judgement. It is good for two things: the estimate of a duration
//! before anything is known from experience, and the order of sources in a run, where of
//! equally important ones the short come first.

use serde::{Serialize, Serializer};
use std::fmt;

/// A level from 1 to 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Complexity(u8);

/// What a level means, and what it usually costs.
struct Level {
    meaning: &'static str,
    records_per_request: u64,
    seconds_per_request: f64,
}

const LEVELS: [Level; 5] = [
    Level {
        meaning: "everything in one piece: a file or dump in a format we read",
        records_per_request: 10_000,
        seconds_per_request: 1.0,
    },
    Level {
        meaning: "a standard protocol that lists all records, page by page",
        records_per_request: 100,
        seconds_per_request: 1.0,
    },
    Level {
        meaning: "an interface with searches, keys or quotas, or a model that needs rules of its own",
        records_per_request: 50,
        seconds_per_request: 2.0,
    },
    Level {
        meaning: "one page a record, read by rules that follow the design of the site",
        records_per_request: 1,
        seconds_per_request: 1.0,
    },
    Level {
        meaning: "pages behind a login or made by scripts, or no consent to automatic reading",
        records_per_request: 1,
        seconds_per_request: 5.0,
    },
];

impl Complexity {
    pub const LOWEST: u8 = 1;
    pub const HIGHEST: u8 = LEVELS.len() as u8;

    pub fn new(level: u8) -> Option<Self> {
        (Self::LOWEST..=Self::HIGHEST).contains(&level).then_some(Self(level))
    }

    pub fn level(self) -> u8 {
        self.0
    }

    pub fn meaning(self) -> &'static str {
        self.row().meaning
    }

    /// Every level with its meaning.
    pub fn all() -> impl Iterator<Item = (u8, &'static str)> {
        (Self::LOWEST..).zip(LEVELS.iter().map(|level| level.meaning))
    }

    /// How many seconds it takes to harvest this many records once, when requests are at least
    /// `delay` seconds apart and `concurrency` of them run at a time.
    pub fn estimate(self, records: u64, delay: f64, concurrency: u32) -> u64 {
        let row = self.row();
        let requests = records.div_ceil(row.records_per_request) as f64;
        let seconds = requests * row.seconds_per_request.max(delay) / f64::from(concurrency.max(1));
        seconds.ceil() as u64
    }

    fn row(self) -> &'static Level {
        let [first, ..] = &LEVELS;
        LEVELS.get(usize::from(self.0 - 1)).unwrap_or(first)
    }
}

impl fmt::Display for Complexity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Complexity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_five_levels() {
        assert_eq!(Complexity::new(0), None);
        assert_eq!(Complexity::new(6), None);
        assert_eq!(Complexity::all().map(|(level, _)| level).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn each_level_takes_longer_than_the_one_below() {
        let seconds: Vec<u64> =
            (1..=5).map(|level| Complexity::new(level).unwrap().estimate(1_000_000, 0.0, 1)).collect();
        assert!(seconds.is_sorted_by(|left, right| left < right), "{seconds:?}");
    }

    #[test]
    fn politeness_and_company_change_the_estimate() {
        let level = Complexity::new(2).unwrap();
        assert_eq!(level.estimate(10_001, 0.0, 1), 101);
        assert_eq!(level.estimate(10_000, 3.0, 1), 300);
        assert_eq!(level.estimate(10_000, 3.0, 4), 75);
        assert_eq!(level.estimate(0, 3.0, 1), 0);
    }
}
