//! What the server asks of the catalogue behind it.
//!
//! The server knows HTTP and nothing of stores; whoever implements [`Service`] knows stores and
//! nothing of HTTP.
//!
//! A future is dropped when its client hangs up, and then what it started must stop: nothing is read,
//! computed or copied for nobody. Changes are the exception. [`Service::update`] and
//! [`Service::write_graph`] are carried out once they have begun, because half a change would be none.

use super::access::Holder;
use super::update::Update;
use bytes::Bytes;
use oxrdf::{GraphName, NamedNode, Triple};
use oxrdfio::RdfFormat;
use serde::{Deserialize, Serialize};
use sparesults::QueryResultsFormat;
use std::collections::BTreeMap;
use std::fs::File;
use std::pin::Pin;
use std::time::Duration;

/// A future that a trait object can return.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The catalogue, as the server sees it.
pub trait Service: Send + Sync + 'static {
    /// Answers a query. The text has been read by nobody yet: guard it before it is parsed.
    fn query(&self, question: Question) -> Later<'_, Result<Reply, Refusal>>;

    /// Carries out an update. The text has been read by nobody yet: guard it, then let
    /// [`Update::parse`] parse it and say whether `by` may.
    fn update(&self, update: Update, by: Holder) -> Later<'_, Result<Written, Refusal>>;

    /// What one graph holds; none if there is no such graph. There always is a default graph. A graph
    /// beyond the limits is [`Refusal::TooLarge`].
    fn graph(
        &self,
        name: GraphName,
        format: RdfFormat,
        limits: QueryLimits,
    ) -> Later<'_, Result<Option<Reply>, Refusal>>;

    /// Changes one graph. The server has made sure that `by` may; nobody has read the documents.
    fn write_graph(&self, write: GraphWrite, by: Holder) -> Later<'_, Result<Written, Refusal>>;

    /// What is known of an entity; none if nothing is.
    fn describe(&self, iri: NamedNode) -> Later<'_, Result<Option<Description>, Refusal>>;

    /// Answers an OAI-PMH request, given its arguments as they came (`verb=Identify`).
    fn oai(&self, arguments: String) -> Later<'_, Result<OaiAnswer, Refusal>>;

    /// Copies the catalogue; says where to.
    fn backup(&self) -> Later<'_, Result<String, Refusal>>;

    /// What VoID tells of the whole dataset.
    fn statistics(&self) -> Later<'_, Statistics>;

    /// How it is right now. Asked for every scrape and health check: cheap, and never waits.
    fn status(&self) -> Status;
}

/// A query and how it is to be answered.
#[derive(Debug, Clone)]
pub struct Question {
    pub text: String,
    /// What relative IRIs are relative to.
    pub base: String,
    /// The dataset of the protocol, which replaces that of the text; both empty: the text's own.
    pub default_graphs: Vec<NamedNode>,
    pub named_graphs: Vec<NamedNode>,
    /// For SELECT and ASK.
    pub results: QueryResultsFormat,
    /// For CONSTRUCT and DESCRIBE.
    pub graph: RdfFormat,
    pub limits: QueryLimits,
}

/// How much one query may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryLimits {
    /// The longest text, in bytes.
    pub text: usize,
    pub time: Duration,
    pub rows: u64,
    /// The largest answer.
    pub bytes: u64,
}

/// A whole answer: nothing can go wrong with it any more.
#[derive(Debug)]
pub struct Reply {
    pub media_type: &'static str,
    pub body: Content,
    pub rows: u64,
    /// The snapshot that was asked.
    pub snapshot: u64,
}

/// Where an answer lies.
#[derive(Debug)]
pub enum Content {
    Memory(Bytes),
    /// A file open at the beginning of the answer.
    Spooled {
        file: File,
        length: u64,
    },
}

/// Why a request is not granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    #[error("{0}")]
    Malformed(String),
    #[error("{0}")]
    Forbidden(String),
    #[error("{0}")]
    TooLarge(String),
    /// An endpoint that the query asks by `SERVICE` did not answer.
    #[error("{0}")]
    Elsewhere(String),
    #[error("it took longer than it may and was stopped; ask for less, or add a LIMIT")]
    TimedOut,
    #[error("the query needed more memory than it may have and was stopped; ask for less")]
    OutOfMemory,
    #[error("too many queries are waiting; ask again in {retry_after} s")]
    Busy { retry_after: u32 },
    #[error("the query ended the process that answered it; nothing else was harmed")]
    Died,
    /// It was ended before it was done, and changed nothing.
    #[error("{0}")]
    Stopped(String),
    /// For now: the disk is full, or another process writes.
    #[error("{message}; try again in {retry_after} s")]
    Unavailable { message: String, retry_after: u32 },
    /// The cause goes to the log, not to the client.
    #[error("the catalogue cannot be read")]
    Io(String),
}

/// A change of one graph.
#[derive(Debug, Clone)]
pub struct GraphWrite {
    pub graph: GraphName,
    pub change: Change,
}

/// What becomes of a graph.
#[derive(Debug, Clone)]
pub enum Change {
    Replace(Vec<Document>),
    Add(Vec<Document>),
    Remove,
}

/// Statements as a client sent them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub format: RdfFormat,
    /// What relative IRIs are relative to.
    pub base: String,
    pub body: Bytes,
}

/// What a change met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Written {
    /// It is archived, and readers will see it once the disk lets them.
    Accepted,
    /// There was no such graph.
    Created,
    Changed,
    /// There was no such graph to remove.
    Absent,
}

/// What is known of an entity.
#[derive(Debug, Clone)]
pub struct Description {
    pub iri: NamedNode,
    /// Statements about it, and about its own nodes (titles, contributions …).
    pub triples: Vec<Triple>,
    /// There are more statements than a description has room for.
    pub more: bool,
    /// What leads to it.
    pub inbound: Vec<Inbound>,
    /// There is more that leads to it.
    pub more_inbound: bool,
    /// Names of the things and properties that occur, by IRI.
    pub labels: BTreeMap<String, String>,
    /// The name it has now: it was merged or moved.
    pub moved_to: Option<NamedNode>,
    /// It was withdrawn.
    pub gone: bool,
}

impl Description {
    /// Nothing but a name.
    pub fn new(iri: NamedNode) -> Self {
        Self {
            iri,
            triples: Vec::new(),
            more: false,
            inbound: Vec::new(),
            more_inbound: false,
            labels: BTreeMap::new(),
            moved_to: None,
            gone: false,
        }
    }
}

/// One link to an entity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Inbound {
    /// The property; across a contribution the role.
    pub role: NamedNode,
    pub subject: NamedNode,
}

/// An answer of the OAI-PMH provider.
#[derive(Debug, Clone)]
pub struct OaiAnswer {
    pub status: u16,
    pub xml: String,
    pub retry_after: Option<u32>,
}

/// Figures of the dataset, as far as they are known without counting.
#[derive(Debug, Clone, Default)]
pub struct Statistics {
    pub title: Option<String>,
    pub license: Option<NamedNode>,
    pub triples: Option<u64>,
    pub entities: Option<u64>,
}

/// How the catalogue is right now.
#[derive(Debug, Clone, Default)]
pub struct Status {
    /// Queries can be answered.
    pub ready: bool,
    pub snapshot: u64,
    pub workers: u64,
    pub workers_busy: u64,
    /// Queries that wait for a worker.
    pub waiting: u64,
    /// Workers that were killed or died.
    pub workers_lost: u64,
    /// Queries that needed no worker.
    pub glances: u64,
}
