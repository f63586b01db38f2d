//! What time it is in the repository.

use jiff::Timestamp;
use std::time::Duration;

/// A clock that stands at an instant, or goes with the system, and can be put forward.
#[derive(Clone, Debug)]
pub struct Clock {
    stands_at: Option<Timestamp>,
    ahead: Duration,
}

impl Clock {
    pub fn at(instant: &str) -> Self {
        let instant = instant.parse().expect("an instant like 2024-06-01T12:00:00Z");
        Self { stands_at: Some(instant), ahead: Duration::ZERO }
    }

    pub fn system() -> Self {
        Self { stands_at: None, ahead: Duration::ZERO }
    }

    /// In whole seconds, which is as fine as OAI-PMH gets.
    pub fn now(&self) -> Timestamp {
        let begun = self.stands_at.unwrap_or_else(Timestamp::now);
        Timestamp::from_second(begun.as_second()).unwrap() + self.ahead
    }

    pub fn advance(&mut self, by: Duration) {
        self.ahead += by;
    }
}

/// As `YYYY-MM-DDThh:mm:ssZ`.
pub fn seconds(instant: Timestamp) -> String {
    instant.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// As `YYYY-MM-DD`.
pub fn day(instant: Timestamp) -> String {
    instant.strftime("%Y-%m-%d").to_string()
}

/// As HTTP writes dates in headers.
pub fn http_date(instant: Timestamp) -> String {
    instant.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}
