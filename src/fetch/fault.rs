//! Why something was not fetched, in one sentence.

use std::fmt;
use std::time::{Duration, SystemTime};

/// What went wrong with one address, after all the attempts that made sense. It carries no
/// secret: user names, passwords and tokens are taken out before it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    /// The address that failed: the one asked for, or one it redirected to.
    pub url: String,
    /// What the kind does not say. For [`FaultKind::Status`] the beginning of the page.
    pub detail: String,
    /// Requests made for it; 0 when it was refused before any.
    pub attempts: u32,
}

/// The causes of faults, by which runs count them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// The settings of the source cannot be used, or a variable they name is not set.
    Settings,
    /// Not an address, or one that different programs would read differently.
    BadUrl,
    /// Neither http nor https.
    Scheme,
    /// From https to http.
    Downgrade,
    /// An address that is not public and that the source does not allow.
    PrivateAddress,
    /// The host's name has no address.
    Unresolved,
    /// No connection.
    Connect,
    /// No secure connection, or one to somebody else.
    Tls,
    /// The connection was cut in the middle.
    Reset,
    /// Too slow to connect, to go on, or to end.
    Timeout,
    /// Not HTTP.
    Protocol,
    /// More or longer headers than any honest answer has.
    HeaderFlood,
    /// Less of a page than was announced.
    Truncated,
    /// More of a page than we take, compressed or not.
    TooLarge,
    /// Compressed in a way that cannot be undone.
    BadEncoding,
    /// Redirected too often, or nowhere.
    TooManyRedirects,
    /// The host asks robots to stay away.
    RobotsDenied,
    /// The login was refused.
    Login,
    /// An answer that is no page.
    Status(u16),
    /// The server asks us to come back at a time that is too far off to wait for.
    RetryLater(SystemTime),
    /// It has lasted so long, with all attempts and waits, that the source is left for another run.
    GivenUp(Duration),
    /// Somebody asked us to stop.
    Cancelled,
}

impl Fault {
    pub fn new(kind: FaultKind, url: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { kind, url: url.into(), detail: detail.into(), attempts: 0 }
    }

    /// Whether the same question may be answered at another time with nothing changed here.
    pub fn is_temporary(&self) -> bool {
        match self.kind {
            FaultKind::Unresolved
            | FaultKind::Connect
            | FaultKind::Reset
            | FaultKind::Timeout
            | FaultKind::Protocol
            | FaultKind::Truncated
            | FaultKind::BadEncoding
            | FaultKind::RetryLater(_)
            | FaultKind::GivenUp(_)
            | FaultKind::Cancelled => true,
            FaultKind::Status(status) => status_is_temporary(status),
            _ => false,
        }
    }
}

/// Statuses that speak of the server's condition and not of the question.
pub(super) fn status_is_temporary(status: u16) -> bool {
    // 501 and 505 say that the server will never be able to.
    matches!(status, 408 | 425 | 429) || (status >= 500 && status != 501 && status != 505)
}

impl FaultKind {
    /// A stable word for reports and logs.
    pub fn code(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::BadUrl => "bad-url",
            Self::Scheme => "scheme",
            Self::Downgrade => "downgrade",
            Self::PrivateAddress => "private-address",
            Self::Unresolved => "unresolved",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Reset => "reset",
            Self::Timeout => "timeout",
            Self::Protocol => "protocol",
            Self::HeaderFlood => "header-flood",
            Self::Truncated => "truncated",
            Self::TooLarge => "too-large",
            Self::BadEncoding => "bad-encoding",
            Self::TooManyRedirects => "too-many-redirects",
            Self::RobotsDenied => "robots-denied",
            Self::Login => "login",
            Self::Status(_) => "status",
            Self::RetryLater(_) => "retry-later",
            Self::GivenUp(_) => "given-up",
            Self::Cancelled => "cancelled",
        }
    }

    pub(super) fn sentence(self) -> String {
        let words = match self {
            Self::Settings => "cannot be fetched with these settings",
            Self::BadUrl => "is not a usable address",
            Self::Scheme => "is neither http nor https",
            Self::Downgrade => "would leave https for http",
            Self::PrivateAddress => "is not public",
            Self::Unresolved => "has a host without address",
            Self::Connect => "cannot be connected to",
            Self::Tls => "has no trustworthy connection",
            Self::Reset => "broke the connection off",
            Self::Timeout => "took too long",
            Self::Protocol => "does not speak HTTP",
            Self::HeaderFlood => "sent more headers than the limit",
            Self::Truncated => "sent only a part of the page",
            Self::TooLarge => "sent more than the limit",
            Self::BadEncoding => "sent a page that cannot be decompressed",
            Self::TooManyRedirects => "redirects too often",
            Self::RobotsDenied => "is closed to robots",
            Self::Login => "refused the login",
            Self::Cancelled => "was not fetched, because the run was stopped",
            Self::Status(status) => return format!("answered {status}"),
            Self::RetryLater(time) => return format!("asks to come back at {}", moment(time)),
            Self::GivenUp(time) => return format!("was given up after {:.0} s", time.as_secs_f64()),
        };
        words.to_owned()
    }

    /// What to do about it, where it is in the user's hands.
    fn hint(self) -> Option<&'static str> {
        match self {
            Self::Downgrade => Some("`allow_downgrade = true` permits it"),
            Self::PrivateAddress => Some("`allow_private` permits single addresses and hosts"),
            Self::RobotsDenied => Some("set `respect_robots = false` if its owner agrees"),
            Self::TooLarge => Some("`limits` can be raised"),
            Self::GivenUp(_) => Some("`retries.patience` can be raised"),
            _ => None,
        }
    }
}

/// A time as people and programs read it.
pub(super) fn moment(time: SystemTime) -> String {
    jiff::Timestamp::try_from(time).map_or_else(
        |_| "a time beyond all calendars".to_owned(),
        |time| time.round(jiff::Unit::Second).unwrap_or(time).to_string(),
    )
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.url, self.kind.sentence())?;
        // A page's beginning can be long and of many lines; a sentence is neither.
        let mut words = self.detail.split_whitespace().peekable();
        if words.peek().is_some() {
            write!(f, ": ")?;
            let mut length = 0;
            for (n, word) in words.enumerate() {
                length += word.chars().count() + 1;
                if length > 200 {
                    write!(f, " …")?;
                    break;
                }
                write!(f, "{}{word}", if n == 0 { "" } else { " " })?;
            }
        }
        if self.attempts > 1 {
            write!(f, " (after {} attempts)", self.attempts)?;
        }
        self.kind.hint().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_one_sentence() {
        let mut fault = Fault::new(FaultKind::Status(503), "http://r.example/oai", "<h1>\n  Down</h1>");
        fault.attempts = 6;
        assert_eq!(
            fault.to_string(),
            "`http://r.example/oai` answered 503: <h1> Down</h1> (after 6 attempts)"
        );
    }

    #[test]
    fn a_long_page_is_cut_in_the_sentence_only() {
        let fault = Fault::new(FaultKind::Status(404), "http://r.example/", "word ".repeat(400));
        assert!(fault.to_string().len() < 300, "{fault}");
        assert_eq!(fault.detail.len(), 2000);
    }

    #[test]
    fn a_far_date_is_in_the_sentence() {
        let far = SystemTime::UNIX_EPOCH + Duration::from_secs(4_102_444_800);
        let fault = Fault::new(FaultKind::RetryLater(far), "http://r.example/", "");
        assert_eq!(fault.to_string(), "`http://r.example/` asks to come back at 2100-01-01T00:00:00Z");
    }

    #[test]
    fn only_what_can_get_better_is_temporary() {
        let temporary = |kind| Fault::new(kind, "", "").is_temporary();
        assert!(temporary(FaultKind::Status(503)) && temporary(FaultKind::Status(429)));
        assert!(!temporary(FaultKind::Status(404)) && !temporary(FaultKind::Status(501)));
        assert!(temporary(FaultKind::Timeout) && !temporary(FaultKind::PrivateAddress));
    }
}
