//! Coming back later: how often, and when.

use super::access::Retries;
use std::time::{Duration, SystemTime};

/// How long to wait before attempt `attempt` + 1 (the first is 1), if the server said nothing.
///
/// Twice as long each time, and up to half of it taken off at random, so that many clients
/// whose server went down do not all come back in the same second.
pub(super) fn backoff(retries: &Retries, attempt: u32, random: &mut Random) -> Duration {
    let doubled = retries.first_wait.saturating_mul(1 << attempt.saturating_sub(1).min(16));
    let longest = doubled.min(retries.longest_wait);
    longest.mul_f64(0.5 + random.fraction() / 2.0)
}

/// What a `Retry-After` header asks for: a number of seconds, or a date (RFC 9110, 10.2.3).
///
/// A date is compared with the server's own `Date`, whose clock may be as wrong; without one
/// with ours.
pub(super) fn retry_after(value: &str, date: Option<&str>, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        // A number that does not fit is as long as for ever.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let then = httpdate::parse_http_date(value).ok()?;
    let now = date.and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now);
    Some(then.duration_since(now).unwrap_or_default())
}

/// The moment after a wait, or the last one calendars know.
pub(super) fn after(now: SystemTime, wait: Duration) -> SystemTime {
    // 9999-12-30: a day that every time zone still has.
    const LAST: Duration = Duration::from_secs(253_402_128_000);
    let last = SystemTime::UNIX_EPOCH + LAST;
    now.checked_add(wait).map_or(last, |time| time.min(last))
}

/// Retries in stock: each page that comes adds one, each retry takes one.
#[derive(Debug)]
pub(super) struct Budget {
    left: u32,
    most: u32,
}

impl Budget {
    pub(super) fn new(most: u32) -> Self {
        Self { left: most, most }
    }

    pub(super) fn refill(&mut self) {
        self.left = self.most.min(self.left + 1);
    }

    pub(super) fn take(&mut self) -> bool {
        let some = self.left > 0;
        self.left = self.left.saturating_sub(1);
        some
    }
}

/// Numbers without pattern, the same for the same seed (SplitMix64). Good enough to spread
/// waits; nothing secret is made of them.
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// From 0 up to 1.
    fn fraction(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (z >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let retries = Retries { longest_wait: Duration::from_secs(10), ..Retries::default() };
        let mut random = Random::new(7);
        for (attempt, longest) in [(1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (60, 10)] {
            let longest = Duration::from_secs(longest);
            let wait = backoff(&retries, attempt, &mut random);
            assert!(wait >= longest / 2 && wait <= longest, "{attempt}: {wait:?}");
        }
    }

    #[test]
    fn the_same_seed_waits_the_same() {
        let waits = |seed| {
            let mut random = Random::new(seed);
            (1..6).map(|n| backoff(&Retries::default(), n, &mut random)).collect::<Vec<_>>()
        };
        assert_eq!(waits(1), waits(1));
        assert_ne!(waits(1), waits(2));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = httpdate::parse_http_date("Mon, 16 Nov 2026 08:00:00 GMT").unwrap();
        let asked = |value, date| retry_after(value, date, now).map(|wait| wait.as_secs());
        assert_eq!(asked("2", None), Some(2));
        assert_eq!(asked(" 0 ", None), Some(0));
        assert_eq!(asked("99999999999999999999999", None), Some(u64::MAX));
        assert_eq!(asked("Mon, 16 Nov 2026 08:00:30 GMT", None), Some(30));
        assert_eq!(asked("Monday, 16-Nov-26 08:00:30 GMT", None), Some(30));
        assert_eq!(asked("Mon Nov 16 08:00:30 2026", None), Some(30));
        assert_eq!(asked("Mon, 16 Nov 2026 07:00:00 GMT", None), Some(0));
        // The server's clock is a year late; the wait it means is ten seconds.
        assert_eq!(asked("Sun, 16 Nov 2025 08:00:10 GMT", Some("Sun, 16 Nov 2025 08:00:00 GMT")), Some(10));
        for nonsense in ["", "soon", "-5", "1.5", "2 s"] {
            assert_eq!(asked(nonsense, None), None, "{nonsense}");
        }
    }

    #[test]
    fn no_wait_leads_beyond_the_calendar() {
        let far = after(SystemTime::now(), Duration::from_secs(u64::MAX));
        assert_eq!(super::super::fault::moment(far), "9999-12-30T00:00:00Z");
    }

    #[test]
    fn a_budget_ends_and_is_earned_again() {
        let mut budget = Budget::new(2);
        assert!(budget.take() && budget.take() && !budget.take());
        budget.refill();
        assert!(budget.take() && !budget.take());
    }
}
