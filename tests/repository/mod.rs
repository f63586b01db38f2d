//! A real OAI-PMH 2.0 repository to harvest: seeded, changing, faulty on demand.
//!
//! ```ignore
//! let repository = Repository::seeded(42).records(100).page(10).fault(Fault::ConnectionReset).serve();
//! harvest(repository.url());
//! repository.change(&[1, 2, 3]);
//! assert_eq!(repository.moved(), 100);
//! ```
//!
//! [`Repository`] says what the server is to be like, [`Serving`] is one that runs: on a thread
//! and a loopback port of its own, until it is dropped. Everything it holds follows from the
//! seed, so two servers with equal settings give equal bytes. Its clock stands still unless it
//! is moved.
//!
//! A request passes through these files: `wire` accepts the connection, `server` routes,
//! `log` writes down, `door` asks who it is, `plan` says which `fault` is to come, `gate` holds,
//! `oai` puts the answer together: `request` reads the arguments, `answer` finds the records (in `holdings`, with
//! `tokens`), `document` writes the XML, `spoil` breaks it, `raw` breaks the connection.
//!
//! This is written against the specification alone and shares no code with Pinakes: an error
//! made twice would hide itself.

#![allow(dead_code, unused_imports, reason = "each test suite uses its part")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod answer;
pub mod ask;
mod canary;
mod clock;
mod control;
mod description;
mod document;
mod door;
mod fault;
mod formats;
mod gate;
mod holdings;
mod log;
mod oai;
mod plan;
mod prerendered;
mod raw;
mod reply;
mod request;
mod server;
mod serving;
mod settings;
mod spoil;
mod tls;
mod tokens;
mod wire;
mod words;
mod xml;

pub use canary::Canary;
pub use door::{Door, Refused};
pub use fault::Fault;
pub use holdings::{DeletedRecord, Granularity, Order};
pub use log::Logged;
pub use plan::{Planned, When};
pub use request::Verb;
pub use serving::Serving;
pub use settings::Repository;
