//! How harvesters reach a server.
//!
//! Stands in until `fetch` is there, and is to be replaced by `use crate::fetch::…`.

use std::fmt;
use std::time::Duration;

/// What a server answered, successfully.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// After redirects.
    pub url: String,
    /// Without its content encoding.
    pub body: Vec<u8>,
    pub content_type: Option<String>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub retry_after: Option<Duration>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url}: {kind}{}{detail}", if .detail.is_empty() { "" } else { ": " })]
pub struct Fault {
    pub kind: FaultKind,
    /// Without credentials.
    pub url: String,
    pub detail: String,
    pub attempts: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    PrivateAddress,
    Scheme,
    Downgrade,
    TooManyRedirects,
    RobotsDenied,
    TooLarge,
    BadEncoding,
    Truncated,
    Timeout,
    Connect,
    Reset,
    Status(u16),
    RetryLater,
    HeaderFlood,
    Unresolved,
    BadUrl,
    Cancelled,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::PrivateAddress => "the address is not public",
            Self::Scheme => "neither http nor https",
            Self::Downgrade => "a redirect from https to http",
            Self::TooManyRedirects => "too many redirects",
            Self::RobotsDenied => "robots.txt does not allow it",
            Self::TooLarge => "the answer is too large",
            Self::BadEncoding => "the content encoding is damaged",
            Self::Truncated => "the answer was cut off",
            Self::Timeout => "no answer in time",
            Self::Connect => "no connection",
            Self::Reset => "the connection was reset",
            Self::Status(status) => return write!(f, "answered {status}"),
            Self::RetryLater => "asks to come back later",
            Self::HeaderFlood => "too many headers",
            Self::Unresolved => "no such host",
            Self::BadUrl => "not a URL",
            Self::Cancelled => "stopped",
        };
        f.write_str(text)
    }
}

/// Gets what a URL names: already polite, guarded, and tried again where that helps. Statuses
/// that are no success are faults.
pub trait Transport {
    fn get(&self, url: &str) -> Result<Answer, Fault>;
}
