//! The one way out to the network: polite, bounded, and never to a private address.
//!
//! A [`Fetcher`] is shared by everything that goes out. [`Fetcher::open`] gives a [`Session`]
//! for one source, by the rules of its [`Access`]; a session is a [`Transport`], and that one
//! method is all a stage needs to know. What comes back is either the whole [`Answer`],
//! decompressed, or a [`Fault`] in one sentence: never a part of a page, and never a secret.
//!
//! One call to [`Transport::get`] goes through these hands:
//!
//! 1. [`guard`]: the address is spelt plainly, http or https, and everything its host resolves
//!    to is public or allowed by name; the connection is made to what was checked.
//! 2. [`robots`]: what the host asks robots not to fetch is not fetched.
//! 3. [`host`]: so many requests to one host at a time, so far apart.
//! 4. [`wire`] and [`coding`]: one request, read piece by piece within limits of time and size.
//! 5. [`session`]: redirects one by one through 1 to 4, a login renewed when it has expired.
//! 6. [`retry`]: what may go better next time is asked again, later and later, until the
//!    [`patience`] with the source is used up.
//!
//! The interface is blocking; it must not be called on a thread of an asynchronous runtime.
//! Nothing here knows what a page means: an empty page, an HTML error page with status 200 and
//! broken XML are answers, to be judged by who asked.

mod access;
mod clock;
mod coding;
mod cookie;
mod counts;
mod ending;
mod fault;
mod fetcher;
mod guard;
mod host;
mod login;
mod patience;
mod retry;
pub mod robots;
mod secret;
mod session;
mod wire;

#[cfg(test)]
mod stub;
#[cfg(test)]
mod tests;

pub use access::{Access, Credentials, FieldValue, Form, Limits, Login, Retries, Timeouts, TokenEndpoint};
pub use clock::{Cancelled, Clock, SystemClock};
pub use counts::Counts;
pub use fault::{Fault, FaultKind};
pub use fetcher::{Environment, Fetcher, Options};
pub use guard::{Resolve, SystemResolver};
pub use session::Session;

use std::time::Duration;

/// Where answers come from. What is asked here is already retried, polite and guarded; a test
/// puts answers of its own in its place.
pub trait Transport {
    /// The whole page at `url`. Statuses from 400 on are faults, redirects are followed.
    fn get(&self, url: &str) -> Result<Answer, Fault>;
}

/// A page, complete and decompressed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// From 200 to 299, or 304 to a question that was asked with [`Validators`].
    pub status: u16,
    /// Where it was found, after redirects.
    pub url: String,
    pub body: Vec<u8>,
    pub content_type: Option<String>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    /// How long the server asks us to wait before we come again.
    pub retry_after: Option<Duration>,
}

/// What the last answer said of its version; with it a server can tell "unchanged" in one line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Validators {
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

impl Answer {
    /// What to ask with the next time.
    pub fn validators(&self) -> Validators {
        Validators { etag: self.etag.clone(), last_modified: self.last_modified.clone() }
    }
}
