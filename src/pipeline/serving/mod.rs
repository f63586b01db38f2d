//! The catalogue as a server sees it: queries by workers on a snapshot, descriptions from the same
//! snapshot, changes through the archive.
//!
//! The server's own process holds neither the archive nor the store: commands write beside it, and
//! publish what they wrote ([`Catalogue::publish`]). What a token holder changes goes through
//! [`writing`], one process that opens the catalogue like any other command, for as long as there is
//! something to do.

mod backup;
mod codes;
mod datasets;
mod describing;
mod names;
mod writing;

use crate::catalogue::pool::{self, Pool};
use crate::catalogue::results::RowFormat;
use crate::catalogue::{Bounded, Catalogue, CatalogueError, guard, query_text, snapshot};
use crate::config::Home;
use crate::effort::Effort;
use crate::pipeline::library::stopped;
use crate::pipeline::{PipelineError, Providing, Reader, Session, Shelves, Watch};
use crate::serve::{
    Aside, Content, Description, GraphWrite, Holder, Later, OaiAnswer, QueryLimits, Question, Refusal, Reply,
    Service, Statistics, Status, Update, Written,
};
use oxrdf::{GraphName, NamedNode};
use oxrdfio::RdfFormat;
use sparesults::QueryResultsFormat;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
pub use writing::write_for_server;
use writing::{Job, Writer};

/// A catalogue that is served.
pub struct Served {
    home: Home,
    program: PathBuf,
    pool: Pool,
    /// How many quick queries are answered at once, and the memory one may have.
    quick: usize,
    memory: u64,
    writer: Option<Writer>,
    providing: Providing,
    reader: Arc<Reader>,
    /// Where descriptions are made.
    aside: Aside,
    _serving: snapshot::Serving,
}

/// How a catalogue is served.
#[derive(Debug, Clone)]
pub struct Serving {
    pub pool: pool::Settings,
    /// The arguments with which the program calls [`write_for_server`]; without them nobody may write.
    pub writer: Option<Vec<OsString>>,
    /// How long evaluating one change may take.
    pub update_time: Duration,
}

impl Served {
    /// Publishes the catalogue as it is, if it is not, and starts the workers.
    pub fn new(home: Home, settings: Serving, watch: &mut dyn Watch) -> Result<Self, PipelineError> {
        let failed = |error: std::io::Error| PipelineError::Catalogue(error.into());
        let serving = snapshot::serve(&home.directory).map_err(failed)?;
        if snapshot::is_stale(&home.directory) {
            let session = Session::write(home.clone(), watch)?;
            session.catalogue.publish()?;
        }
        let reader = Arc::new(Reader::new(&home));
        let session = Session::read_archive(home.clone(), watch)?;
        // Not kept alive by a thread that nobody waits for: a store must be closed before the end.
        let source = Arc::downgrade(&reader);
        let newest = move || match source.upgrade() {
            Some(reader) => reader.catalogue().map(|(_, catalogue)| catalogue),
            None => Err(CatalogueError::NoSuchSnapshot(0)),
        };
        let providing = Providing::new(&home, Arc::clone(session.concordances()), newest).map_err(failed)?;
        drop(session);
        let pool::Settings { program, quick, limits, .. } = settings.pool.clone();
        let pool = Pool::new(settings.pool).map_err(failed)?;
        let writer =
            settings.writer.map(|arguments| Writer::new(program.clone(), arguments, settings.update_time));
        let writer = writer.transpose().map_err(failed)?;
        Ok(Self {
            home,
            program,
            pool,
            quick,
            memory: limits.memory,
            writer,
            providing,
            reader,
            aside: Aside::new(limits.time),
            _serving: serving,
        })
    }

    /// The same catalogue for the API: snapshot and index are open once.
    pub fn shelves(&self) -> Shelves {
        Shelves::new(Arc::clone(&self.reader))
    }

    fn pool_limits(&self, limits: QueryLimits) -> pool::Limits {
        pool::Limits { time: limits.time, rows: limits.rows, bytes: limits.bytes, memory: self.memory }
    }

    async fn ask(&self, question: pool::Question) -> Result<Reply, Refusal> {
        let reply = self.pool.ask(&question).await.map_err(refusal)?;
        let body = match reply.body {
            pool::Body::Bytes(bytes) => Content::Memory(bytes.into()),
            pool::Body::File(file, length) => Content::Spooled { file, length },
        };
        Ok(Reply {
            media_type: media_type(&reply.media_type),
            body,
            rows: reply.rows,
            snapshot: reply.snapshot,
        })
    }

    /// Does something that waits for the disk.
    async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<Catalogue>, &Effort) -> Result<T, CatalogueError> + Send + 'static,
    ) -> Result<T, Refusal> {
        let reader = Arc::clone(&self.reader);
        let work = move |effort: &Effort| {
            // Opening a newer snapshot waits for the disk, too.
            let (_, catalogue) = reader.catalogue()?;
            work(&catalogue, effort)
        };
        self.aside.run(move |effort| work(effort).map_err(unread)).await
    }

    /// A whole graph, which is the default graph of the question.
    async fn whole_graph(
        &self,
        default_graphs: Vec<String>,
        format: RdfFormat,
        limits: QueryLimits,
    ) -> Result<Reply, Refusal> {
        let text = query_text("serve/graph").map_err(unread)?;
        let question = pool::Question {
            text: text.to_owned(),
            default_graphs,
            union: Some(false),
            graph: Some(format),
            limits: Some(self.pool_limits(limits)),
            ..pool::Question::default()
        };
        self.ask(question).await.map_err(|refused| match refused {
            Refusal::TooLarge(_) => {
                let QueryLimits { rows, bytes, .. } = limits;
                Refusal::TooLarge(format!(
                    "the graph has more than {rows} statements or {bytes} bytes; ask for parts of it by \
                     SPARQL, with a token for more at once, or export it by `pinakes export --graph`"
                ))
            }
            refused => refused,
        })
    }

    fn writer(&self) -> Result<&Writer, Refusal> {
        self.writer.as_ref().ok_or_else(|| Refusal::Forbidden("this server is read-only".to_owned()))
    }
}

impl Service for Served {
    fn query(&self, question: Question) -> Later<'_, Result<Reply, Refusal>> {
        Box::pin(async move {
            let limits = question.limits;
            if question.text.len() > limits.text {
                let message = format!("the query is longer than {} bytes", limits.text);
                return Err(Refusal::TooLarge(message));
            }
            let names =
                |graphs: Vec<NamedNode>| graphs.into_iter().map(NamedNode::into_string).collect::<Vec<_>>();
            self.ask(pool::Question {
                text: question.text,
                base: question.base,
                default_graphs: names(question.default_graphs),
                named_graphs: names(question.named_graphs),
                union: None,
                rows: row_format(question.results),
                graph: Some(question.graph),
                limits: Some(self.pool_limits(limits)),
            })
            .await
        })
    }

    fn update(&self, update: Update, by: Holder) -> Later<'_, Result<Written, Refusal>> {
        Box::pin(async move {
            let writer = self.writer()?;
            // A first look costs no process; the one that writes looks again.
            guard::check_update(&update.text).map_err(|refused| match refused {
                guard::Refusal::BlankNode(_) => Refusal::Malformed(refused.to_string()),
                refused => refusal(refused.into()),
            })?;
            writer.run(Job::Update(update), by).await
        })
    }

    fn graph(
        &self,
        name: GraphName,
        format: RdfFormat,
        limits: QueryLimits,
    ) -> Later<'_, Result<Option<Reply>, Refusal>> {
        Box::pin(async move {
            let GraphName::NamedNode(node) = name else {
                return self.whole_graph(Vec::new(), format, limits).await.map(Some);
            };
            let asked = node.clone();
            if !self.aside(move |catalogue, _| catalogue.backend().has_graph(&asked)).await? {
                return Ok(None);
            }
            self.whole_graph(vec![node.into_string()], format, limits).await.map(Some)
        })
    }

    fn write_graph(&self, write: GraphWrite, by: Holder) -> Later<'_, Result<Written, Refusal>> {
        Box::pin(async move { self.writer()?.run(Job::Graph(write), by).await })
    }

    fn describe(&self, iri: NamedNode) -> Later<'_, Result<Option<Description>, Refusal>> {
        Box::pin(self.aside(move |catalogue, effort| {
            describing::describe(&Bounded::new(catalogue, effort, describing::MOST_READ), iri)
        }))
    }

    fn oai(&self, arguments: String) -> Later<'_, Result<OaiAnswer, Refusal>> {
        Box::pin(async move { Ok(self.providing.answer(arguments).await) })
    }

    fn backup(&self) -> Later<'_, Result<String, Refusal>> {
        Box::pin(backup::back_up(&self.program, &self.home.directory))
    }

    fn statistics(&self) -> Later<'_, Statistics> {
        // Counting statements would take a walk over all of them; documents are counted already.
        let reader = Arc::clone(&self.reader);
        Box::pin(async move {
            let counted =
                self.aside.run(move |_| Ok::<_, Refusal>(reader.index().ok().map(|index| index.len())));
            Statistics { entities: counted.await.ok().flatten(), ..Statistics::default() }
        })
    }

    fn status(&self) -> Status {
        let counts = self.pool.counts();
        let beside = counts.heavy + counts.federated;
        let snapshot = snapshot::current(&self.home.directory);
        Status {
            ready: snapshot.is_some(),
            snapshot: snapshot.unwrap_or(0),
            workers: (self.quick + beside) as u64,
            workers_busy: (self.quick.saturating_sub(counts.idle) + beside) as u64,
            waiting: (counts.queued + counts.waiting) as u64,
            workers_lost: counts.ended,
            glances: counts.glances,
        }
    }
}

/// Why the server's own process did not read something.
fn unread(error: CatalogueError) -> Refusal {
    match error {
        CatalogueError::Stopped(spent) => stopped(spent),
        CatalogueError::TooMuch(_) => Refusal::TooLarge(error.to_string()),
        error => Refusal::Io(error.to_string()),
    }
}

fn row_format(format: QueryResultsFormat) -> RowFormat {
    match format {
        QueryResultsFormat::Xml => RowFormat::Xml,
        QueryResultsFormat::Csv => RowFormat::Csv,
        QueryResultsFormat::Tsv => RowFormat::Tsv,
        _ => RowFormat::Json,
    }
}

/// The same as a name that lasts.
fn media_type(name: &str) -> &'static str {
    let rows = RowFormat::ALL.into_iter().map(RowFormat::media_type);
    let graphs = [
        RdfFormat::Turtle,
        RdfFormat::NTriples,
        RdfFormat::RdfXml,
        RdfFormat::NQuads,
        RdfFormat::TriG,
        RdfFormat::N3,
    ]
    .into_iter()
    .map(|format| format.media_type());
    rows.chain(graphs).find(|known| *known == name).unwrap_or("application/ld+json")
}

fn refusal(refused: pool::Refusal) -> Refusal {
    let message = refused.to_string();
    match refused {
        pool::Refusal::Malformed(_) | pool::Refusal::Failed(_) => Refusal::Malformed(message),
        pool::Refusal::Forbidden(_) => Refusal::Forbidden(message),
        pool::Refusal::TooLarge(_) => Refusal::TooLarge(message),
        pool::Refusal::Elsewhere(_) => Refusal::Elsewhere(message),
        pool::Refusal::TimedOut(_) => Refusal::TimedOut,
        pool::Refusal::OutOfMemory(_) => Refusal::OutOfMemory,
        pool::Refusal::Busy { retry_after } => {
            Refusal::Busy { retry_after: u32::try_from(retry_after.as_secs()).unwrap_or(u32::MAX).max(1) }
        }
        pool::Refusal::Died => Refusal::Died,
        _ => Refusal::Io(message),
    }
}
