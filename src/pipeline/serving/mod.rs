//! The catalogue as a server sees it: queries by workers on a snapshot, descriptions from the same
//! snapshot, changes through the archive.
//!
//! The server's own process holds neither the archive nor the store: commands write beside it, and
//! publish what they wrote ([`Catalogue::publish`]). What a token holder changes goes through
//! [`writing`], one thread that opens the catalogue like any other command, for as long as there is
//! something to do.

mod codes;
mod describing;
mod writing;

use crate::catalogue::pool::{self, Pool};
use crate::catalogue::results::RowFormat;
use crate::catalogue::{Catalogue, CatalogueError, guard, query_text, snapshot};
use crate::config::Home;
use crate::pipeline::{PipelineError, Providing, Reader, Session, Shelves, Watch};
use crate::serve::{
    Content, Description, GraphWrite, Holder, Later, OaiAnswer, Question, Refusal, Reply, Service,
    Statistics, Status, Update, Written,
};
use oxrdf::{GraphName, NamedNode};
use oxrdfio::RdfFormat;
use sparesults::QueryResultsFormat;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use writing::{Job, Writer};

/// How much of a graph the graph store gives at once.
const GRAPH_LIMITS: pool::Limits =
    pool::Limits { time: Duration::from_secs(60), memory: 1 << 30, rows: 10_000_000, bytes: 2 << 30 };

/// A catalogue that is served.
pub struct Served {
    home: Home,
    program: PathBuf,
    pool: Pool,
    /// How many quick queries are answered at once, and the memory one may have.
    quick: usize,
    memory: u64,
    writer: Option<Writer>,
    providing: Arc<Providing>,
    reader: Arc<Reader>,
    _serving: snapshot::Serving,
}

/// How a catalogue is served.
#[derive(Debug, Clone)]
pub struct Serving {
    pub pool: pool::Settings,
    /// Nobody may write.
    pub read_only: bool,
    /// How long a change may wait for other writers.
    pub patience: Duration,
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
        let providing = Providing::new(&home, Arc::clone(session.concordances())).map_err(failed)?;
        drop(session);
        let pool::Settings { program, quick, limits, .. } = settings.pool.clone();
        let pool = Pool::new(settings.pool).map_err(failed)?;
        let writer = (!settings.read_only).then(|| Writer::new(home.clone(), settings.patience));
        Ok(Self {
            home,
            program,
            pool,
            quick,
            memory: limits.memory,
            writer,
            providing: Arc::new(providing),
            reader,
            _serving: serving,
        })
    }

    /// The same catalogue for the API: snapshot and index are open once.
    pub fn shelves(&self) -> Shelves {
        Shelves::new(Arc::clone(&self.reader))
    }

    /// The catalogue as of the newest snapshot.
    fn catalogue(&self) -> Result<Arc<Catalogue>, Refusal> {
        let newest = self.reader.catalogue().map_err(|error| Refusal::Io(error.to_string()))?;
        Ok(newest.1)
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
        work: impl FnOnce(&Catalogue) -> Result<T, CatalogueError> + Send + 'static,
    ) -> Result<T, Refusal> {
        let catalogue = self.catalogue()?;
        let done = tokio::task::spawn_blocking(move || work(&catalogue)).await;
        done.map_err(|error| Refusal::Io(error.to_string()))?.map_err(|error| Refusal::Io(error.to_string()))
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
                limits: Some(pool::Limits {
                    time: limits.time,
                    rows: limits.rows,
                    bytes: limits.bytes,
                    memory: self.memory,
                }),
            })
            .await
        })
    }

    fn update(&self, update: Update, by: Holder) -> Later<'_, Result<(), Refusal>> {
        Box::pin(async move {
            let writer = self.writer()?;
            guard::check_update(&update.text).map_err(|refused| refusal(refused.into()))?;
            // Parsing recurses: not on the small stack of a worker thread.
            let base = self.home.graphs.base().to_owned();
            let (parsed, by) = writing::on_large_stack(move || {
                let parsed = update.parse(&base, &by);
                (parsed, by)
            })?;
            writer.run(Job::Update(parsed?), by).await.map(|_| ())
        })
    }

    fn graph(&self, name: GraphName, format: RdfFormat) -> Later<'_, Result<Option<Reply>, Refusal>> {
        Box::pin(async move {
            let GraphName::NamedNode(node) = name else {
                let question = whole_graph(Vec::new(), format)?;
                return self.ask(question).await.map(Some);
            };
            let asked = node.clone();
            if !self.aside(move |catalogue| catalogue.backend().has_graph(&asked)).await? {
                return Ok(None);
            }
            self.ask(whole_graph(vec![node.into_string()], format)?).await.map(Some)
        })
    }

    fn write_graph(&self, write: GraphWrite, by: Holder) -> Later<'_, Result<Written, Refusal>> {
        Box::pin(async move { self.writer()?.run(Job::Graph(write), by).await })
    }

    fn describe(&self, iri: NamedNode) -> Later<'_, Result<Option<Description>, Refusal>> {
        Box::pin(self.aside(move |catalogue| describing::describe(catalogue, iri)))
    }

    fn oai(&self, arguments: String) -> Later<'_, Result<OaiAnswer, Refusal>> {
        Box::pin(async move {
            let catalogue = self.catalogue()?;
            let providing = Arc::clone(&self.providing);
            let answer = tokio::task::spawn_blocking(move || providing.answer(catalogue, arguments)).await;
            answer.map_err(|error| Refusal::Io(error.to_string()))
        })
    }

    fn backup(&self) -> Later<'_, Result<String, Refusal>> {
        Box::pin(async move {
            // A command like any other: it reads beside the server, and waits for writers.
            let (program, directory) = (self.program.clone(), self.home.directory.clone());
            let copied = tokio::task::spawn_blocking(move || back_up(&program, &directory)).await;
            copied.map_err(|error| Refusal::Io(error.to_string()))?
        })
    }

    fn statistics(&self) -> Later<'_, Statistics> {
        // Counting statements would take a walk over all of them; documents are counted already.
        let reader = Arc::clone(&self.reader);
        Box::pin(async move {
            let counted = tokio::task::spawn_blocking(move || reader.index().ok().map(|index| index.len()));
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

/// The whole of one graph, or of the default graph alone.
fn whole_graph(default_graphs: Vec<String>, format: RdfFormat) -> Result<pool::Question, Refusal> {
    let text = query_text("serve/graph").map_err(|error| Refusal::Io(error.to_string()))?;
    Ok(pool::Question {
        text: text.to_owned(),
        default_graphs,
        union: Some(false),
        graph: Some(format),
        limits: Some(GRAPH_LIMITS),
        ..pool::Question::default()
    })
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

/// Copies a catalogue beside itself; says where to.
fn back_up(program: &Path, directory: &Path) -> Result<String, Refusal> {
    let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let place = directory.with_file_name(format!("{name}.backup-{time}"));
    let done = Command::new(program)
        .arg("--catalogue")
        .arg(directory)
        .args(["backup", "--quiet"])
        .arg(&place)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Refusal::Io(error.to_string()))?;
    if done.status.success() {
        return Ok(place.display().to_string());
    }
    let message = String::from_utf8_lossy(&done.stderr).trim().to_owned();
    Err(Refusal::Unavailable { message, retry_after: 10 })
}
