//! Processes that answer the queries of strangers, and who goes first.
//!
//! A query can only be stopped for certain by ending its process (see [`super::worker`]), and a
//! process for every query is far too slow for a server. So some are kept, each with a
//! [`snapshot`](super::snapshot) open, and answer one query after the other over a socket. The
//! parent guards the text, passes it on, collects the *whole* answer, and kills the worker when a
//! limit is reached or nobody waits for the answer any more.
//!
//! A query begins as *quick*. One that is not done in [`Settings::quick_time`] becomes *heavy*:
//! its worker gets a low priority and a fresh one takes its place, so quick queries wait for
//! quick ones alone. There are few heavy slots. Who finds them taken is stopped, waits in a
//! queue, and begins anew; when the queue is full, too, the answer is [`Refusal::Busy`].
//!
//! What asks for one pattern and a few rows does not need a worker: `glance` answers it on the spot.
//!
//! What asks other endpoints by `SERVICE` has slots and a queue of its own from the start: an endpoint
//! that hangs keeps nobody waiting but others who ask endpoints. The worker asks them itself: when it
//! is killed, so is the request, and what comes counts as its memory.
//!
//! `schedule` decides who goes first, `process` is a worker as its parent sees it, `work` is the
//! worker itself, `frame` is what they say to each other, `spool` keeps an answer until it is
//! whole, `memory` is a limit that the system keeps, `parsing` reads a query and `algebra` measures it. `federation` has each `SERVICE` answered,
//! `table` makes the answer a part of the query.

pub(super) mod algebra;
mod federation;
mod frame;
mod glance;
mod memory;
mod parsing;
mod process;
mod schedule;
mod spool;
mod table;
mod work;

pub use federation::{Elsewhere, Unanswered};
pub use memory::{lift_memory_limit, limit_memory};
pub use schedule::{Counts, Pool};
pub use spool::Body;
pub use work::{Rewrite, work};

use super::guard;
use super::results::{Answer, RowFormat};
use oxrdfio::RdfFormat;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// How many queries that ask other endpoints are answered at once, where they may ask: mostly they
/// wait, but each has the memory of a query.
pub const FEDERATED: usize = 4;

/// How a pool is made.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The executable and the arguments with which it calls [`work`].
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// Of the catalogue.
    pub directory: PathBuf,
    /// Where answers that are too long for memory go; nothing is left there.
    pub spool: PathBuf,
    /// How many queries are answered at once, the heavy ones apart.
    pub quick: usize,
    /// How long what is small may be answered without a worker, on the thread of whoever asks;
    /// `None`: not at all.
    pub glance_time: Option<Duration>,
    pub quick_time: Duration,
    /// How many that take longer may run beside.
    pub heavy: usize,
    /// How many of those may wait for their turn, and how many of those who ask other endpoints.
    pub queue: usize,
    /// How many queries may wait before they begin.
    pub waiting: usize,
    /// How many that ask other endpoints by `SERVICE` may run beside both; none: `SERVICE` is
    /// refused. The workers were told whom they may ask.
    pub federated: usize,
    pub limits: Limits,
}

impl Settings {
    /// As is right for most machines: the processors are never short of quick queries, and as many
    /// heavy ones run beside.
    pub fn new(program: PathBuf, arguments: Vec<OsString>, directory: PathBuf) -> Self {
        let processors = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            program,
            arguments,
            directory,
            spool: std::env::temp_dir(),
            quick: processors + 2,
            glance_time: Some(Duration::from_millis(5)),
            quick_time: Duration::from_millis(60),
            heavy: processors,
            queue: 32,
            waiting: 1024,
            federated: 0,
            limits: Limits {
                time: Duration::from_secs(10),
                memory: 512 << 20,
                rows: 100_000,
                bytes: 50_000_000,
            },
        }
    }
}

/// What one query may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From the asking to the answer.
    pub time: Duration,
    /// In bytes.
    pub memory: u64,
    pub rows: u64,
    /// Of the answer.
    pub bytes: u64,
}

/// A query and how it is to be answered.
#[derive(Debug, Clone, Default)]
pub struct Question {
    pub text: String,
    /// What relative IRIs are relative to; without it there are none.
    pub base: String,
    /// `default-graph-uri` and `named-graph-uri` of the SPARQL Protocol. If there are any, the
    /// graphs that the query names do not count.
    pub default_graphs: Vec<String>,
    pub named_graphs: Vec<String>,
    /// Whether the default graph is the union of all graphs; `None`: while nothing is merged.
    pub union: Option<bool>,
    /// For SELECT and ASK.
    pub rows: RowFormat,
    /// For CONSTRUCT and DESCRIBE; Turtle if not said.
    pub graph: Option<RdfFormat>,
    /// Instead of those of the pool.
    pub limits: Option<Limits>,
}

impl Question {
    /// How its answer is written, with at most so many rows.
    fn how(&self, union: bool, row_limit: u64) -> Answer {
        let graph = self.graph.unwrap_or(RdfFormat::Turtle);
        Answer { rows: self.rows, graph, union, row_limit, bindings: Vec::new() }
    }
}

/// A whole answer.
#[derive(Debug)]
pub struct Reply {
    pub media_type: String,
    pub body: Body,
    /// Rows or statements.
    pub rows: u64,
    /// Which snapshot was asked.
    pub snapshot: u64,
    /// The default graph was the union of all graphs.
    pub union: bool,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    #[error("{0}")]
    Malformed(String),
    #[error("{0}")]
    Forbidden(String),
    #[error("{0}")]
    TooLarge(TooLarge),
    /// An endpoint that the query asks did not answer.
    #[error("{0}")]
    Elsewhere(String),
    /// The query was understood, and evaluating it failed.
    #[error("{0}")]
    Failed(String),
    #[error("the query took longer than {} seconds and was ended; narrow it, or add a LIMIT", .0.as_secs_f32())]
    TimedOut(Duration),
    #[error("the query needed more than {} MB of memory and was ended; narrow it", .0 / 1_000_000)]
    OutOfMemory(u64),
    #[error("too many queries are waiting; try again in {} seconds", .retry_after.as_secs())]
    Busy { retry_after: Duration },
    #[error("the query ended its process; nothing else is harmed")]
    Died,
    #[error("nothing is published yet: there is no snapshot to ask")]
    Unpublished,
    #[error("the query could not be passed on: {0}")]
    Io(#[from] std::io::Error),
}

/// Which limit a query or its answer is beyond.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TooLarge {
    #[error("{0}")]
    Query(String),
    #[error("the query gives more than {0} rows; add a LIMIT")]
    Rows(u64),
    #[error("the answer is longer than {0} bytes; add a LIMIT")]
    Bytes(u64),
}

impl From<guard::Refusal> for Refusal {
    fn from(refusal: guard::Refusal) -> Self {
        match refusal {
            guard::Refusal::Forbidden(_) => Self::Forbidden(refusal.to_string()),
            guard::Refusal::Ambiguous(_) => Self::Malformed(refusal.to_string()),
            _ => Self::TooLarge(TooLarge::Query(refusal.to_string())),
        }
    }
}
