//! The process that writes for a server: what token holders change, in the order in which it comes.
//!
//! A change is parsed, evaluated, archived, written to the store and published, and only then
//! acknowledged. All of that happens here and not in the server, because all of it can go wrong in
//! ways that end a process: a text on which a parser recurses, a pattern that never ends, a store
//! whose disk is full. Ending this process costs nothing but the change it was at.
//!
//! The catalogue is opened when something is to be done and closed when nothing is left, so that
//! commands have their turn; what has come in the meantime is done in one go and published once.
//! After a failure of the disk it is closed and opened again: opening brings the store up to the
//! archive.

use super::message::{Job, Notice, Order, Stage};
use crate::archive::{Entry, Kind};
use crate::catalogue::{
    Author, Catalogue, CatalogueError, Changes, Patch, Selection, check_size, guard, pool, spelling, syntax,
};
use crate::config::{Home, LockError};
use crate::decode::document;
use crate::diagnostic::Diagnostic;
use crate::pipeline::{PipelineError, Session, Watch};
use crate::serve::{Change, Document, GraphWrite, Holder, Refusal, Written};
use oxrdf::{GraphName, Quad, Triple};
use rustc_hash::FxHashSet;
use std::io::{self, BufReader, Stdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// The most changes that are published together,
const TOGETHER: usize = 256;
/// and for how long they are gathered.
const GATHERING: Duration = Duration::from_millis(500);
/// Stack of the thread that parses and evaluates, both of which recurse.
const STACK: usize = 256 * 1024 * 1024;
/// When to try again after a failure of the disk or a wait for others.
const RETRY_AFTER: u32 = 10;
/// How often what could not be published is tried again.
const RETRY: Duration = Duration::from_secs(2);
/// How long the catalogue stays open for the next change.
const LINGER: Duration = Duration::from_millis(200);
/// Memory that parsing and evaluating a change may take, with all the store needs. What goes beyond ends
/// this process, and nothing is changed. What is archived may take what it needs.
const MEMORY: u64 = 4 << 30;
/// How long what is under way may take when the server is gone.
const GRACE: Duration = Duration::from_secs(10);

/// Carries out the orders that come over standard input until it ends; standard output is for
/// notices. A change waits for other writers as long as `patience` says.
pub fn write_for_server(home: Home, patience: Duration) -> Result<(), PipelineError> {
    let (sender, orders) = channel();
    std::thread::spawn(move || {
        receive(&sender);
        drop(sender);
        // Nobody waits for a change any more: what is being archived is, and the rest may go.
        std::thread::sleep(GRACE);
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    });
    let failed = |error: io::Error| PipelineError::Catalogue(error.into());
    let work = move || Clerk { home, patience, orders, notices: io::stdout(), is_behind: false }.work();
    let clerk = std::thread::Builder::new().stack_size(STACK).spawn(work).map_err(failed)?;
    clerk.join().map_err(|_| PipelineError::WriterGone)
}

/// Passes orders on until there are no more.
fn receive(orders: &Sender<Order>) {
    let mut input = BufReader::new(io::stdin());
    loop {
        match Order::read(&mut input) {
            Ok(Some(order)) => {
                if orders.send(order).is_err() {
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => return tracing::error!("an order of the server cannot be read: {error}"),
        }
    }
}

struct Clerk {
    home: Home,
    patience: Duration,
    orders: Receiver<Order>,
    notices: Stdout,
    /// Something is archived that readers do not see.
    is_behind: bool,
}

/// Somebody who waits for others for a while.
struct Waiting {
    until: Instant,
}

impl Watch for Waiting {
    fn begin(&mut self, _: &str, _: Option<u64>) {}
    fn advance(&mut self, _: u64, _: u64) {}
    fn end(&mut self) {}
    fn diagnostic(&mut self, _: &Diagnostic) {}

    fn busy(&mut self, _: &LockError) -> bool {
        std::thread::sleep(Duration::from_millis(50));
        Instant::now() < self.until
    }
}

/// How an order ended, and whether the catalogue can still be used.
struct Ending {
    number: u64,
    result: Result<Written, Refusal>,
    is_sound: bool,
}

impl Clerk {
    fn work(mut self) {
        loop {
            let first = if self.is_behind {
                match self.orders.recv_timeout(RETRY) {
                    Ok(order) => Some(order),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            } else {
                let Ok(order) = self.orders.recv() else { return };
                Some(order)
            };
            let mut waiting = Waiting { until: Instant::now() + self.patience };
            match Session::write(self.home.clone(), &mut waiting) {
                Ok(session) => self.serve(session, first),
                Err(error) => {
                    // Opening brings the store up to the archive, and may be what failed.
                    self.is_behind = true;
                    if let Some(order) = first {
                        self.tell(order.number, Stage::Done(Err(unchanged(&error))));
                    }
                }
            }
        }
    }

    /// Carries out orders for as long as they come and nobody else waits for the catalogue.
    fn serve(&mut self, mut session: Session, first: Option<Order>) {
        let mut next = first;
        loop {
            let begun = Instant::now();
            let mut ended: Vec<Ending> = Vec::new();
            let mut is_sound = true;
            while let Some(order) = next.take() {
                let ending = self.carry_out(&mut session, order);
                is_sound &= ending.is_sound;
                match ending.result {
                    // There is nothing that readers would have to see first.
                    Err(_) | Ok(Written::Absent) => self.tell(ending.number, Stage::Done(ending.result)),
                    Ok(_) => ended.push(ending),
                }
                if is_sound && ended.len() < TOGETHER && begun.elapsed() < GATHERING {
                    next = self.orders.try_recv().ok();
                }
            }
            // Nobody is told of a change that readers cannot see yet.
            let published = is_sound && {
                let published = session.catalogue.publish();
                if let Err(error) = &published {
                    tracing::error!("readers do not see what was written: {error}");
                }
                published.is_ok()
            };
            self.is_behind = !published;
            for Ending { number, result, .. } in ended {
                let result = if published { result } else { result.map(|_| Written::Accepted) };
                self.tell(number, Stage::Done(result));
            }
            if !published || session.is_wanted() {
                return;
            }
            match self.orders.recv_timeout(LINGER) {
                Ok(order) => next = Some(order),
                Err(_) => return,
            }
        }
    }

    fn tell(&mut self, number: u64, stage: Stage) {
        // A server that is gone is told nothing, and the end of the orders says so.
        let _ = Notice { number, stage }.write(&mut self.notices);
    }

    fn carry_out(&mut self, session: &mut Session, order: Order) -> Ending {
        let Order { number, by, job } = order;
        let ending = |result, is_sound| Ending { number, result, is_sound };
        self.tell(number, Stage::Evaluating);
        pool::limit_memory(MEMORY);
        let evaluated = evaluate(session, job, &by);
        pool::lift_memory_limit();
        let (patch, written) = match evaluated {
            Ok(evaluated) => evaluated,
            Err(Unevaluated::Refused(refusal)) => return ending(Err(refusal), true),
            Err(Unevaluated::Failed(error)) => return ending(Err(unchanged(&error)), false),
        };
        if patch.is_empty() {
            // What it asks for is there; it only waits for others to be shown.
            self.tell(number, Stage::Kept);
            return ending(Ok(written), true);
        }
        self.tell(number, Stage::Archiving);
        let author = Author { token: by.token.unwrap_or_default(), time: jiff::Timestamp::now().to_string() };
        let entry = Entry::new(Kind::Update, "", &author.token, 0, &author.time)
            .with_payload(patch.write().into_bytes());
        let position = match session.archive.append_note(&[entry]) {
            Ok(position) => position,
            Err(error) if error.kept_nothing() => return ending(Err(unchanged(&error)), false),
            Err(error @ crate::archive::ArchiveError::Unindexed(_)) => {
                tracing::error!("{error}");
                return ending(Ok(Written::Accepted), false);
            }
            Err(error) => return ending(Err(unknown(&error)), false),
        };
        self.tell(number, Stage::Kept);
        let changes = Changes { patch, author, position, ..Changes::default() };
        match session.catalogue.write(changes) {
            Ok(()) => ending(Ok(written), true),
            Err(error) => {
                tracing::error!("an archived change is not in the store yet: {error}");
                ending(Ok(Written::Accepted), false)
            }
        }
    }
}

/// Why nothing came of an order.
enum Unevaluated {
    /// It is not to be done.
    Refused(Refusal),
    /// The store failed.
    Failed(CatalogueError),
}

impl From<Refusal> for Unevaluated {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<CatalogueError> for Unevaluated {
    fn from(error: CatalogueError) -> Self {
        match error {
            CatalogueError::Evaluation(message) => Refusal::Malformed(message).into(),
            CatalogueError::Refused(refused) => match refused {
                guard::Refusal::Forbidden(_) => Refusal::Forbidden(refused.to_string()).into(),
                _ => Refusal::TooLarge(refused.to_string()).into(),
            },
            CatalogueError::TooComplex(message) => Refusal::TooLarge(message).into(),
            CatalogueError::Protected(message) => Refusal::Forbidden(message).into(),
            error => Self::Failed(error),
        }
    }
}

/// What a job amounts to, and what it meets.
fn evaluate(session: &Session, job: Job, by: &Holder) -> Result<(Patch, Written), Unevaluated> {
    match job {
        Job::Repair => Ok((Patch::default(), Written::Changed)),
        Job::Update(update) => {
            guard::check_update(&update.text).map_err(CatalogueError::from)?;
            let explain = |text: &str, message: &str| syntax::explain("update", text, message);
            let parsed = update.parse(session.home.graphs.base(), by, explain)?;
            let patch = session.catalogue.backend().effects(&parsed, &session.catalogue.realm()?)?;
            Ok((patch, Written::Changed))
        }
        Job::Graph(write) => {
            let (patch, written) = of_graph(&session.catalogue, write)?;
            check_size(&patch)?;
            Ok((patch, written))
        }
    }
}

/// What a change of one graph amounts to.
fn of_graph(catalogue: &Catalogue, write: GraphWrite) -> Result<(Patch, Written), Unevaluated> {
    let GraphWrite { graph, change } = write;
    let (backend, realm) = (catalogue.backend(), catalogue.realm()?);
    let known = match &graph {
        GraphName::NamedNode(name) => backend.has_graph(name)?,
        _ => true,
    };
    let (wanted, is_replaced) = match change {
        Change::Replace(documents) => (Some(read(&documents)?), true),
        Change::Add(documents) => (Some(read(&documents)?), false),
        Change::Remove if !known => return Ok((Patch::default(), Written::Absent)),
        Change::Remove => (None, true),
    };
    if is_replaced {
        realm.check_emptying(&graph)?
    } else {
        realm.check(&graph)?
    };
    let selection = Selection { graph: Some(graph.clone()), ..Selection::default() };
    let stored: FxHashSet<Quad> = backend.quads(&selection)?.collect::<Result<_, _>>()?;
    let mut patch = Patch::default();
    let Some(wanted) = wanted else {
        patch.removed = stored;
        if let GraphName::NamedNode(name) = graph {
            patch.dropped.insert(name);
        }
        return Ok((patch, Written::Changed));
    };
    let wanted = wanted.into_iter().map(|triple| triple.in_graph(graph.clone())).collect();
    let wanted: FxHashSet<Quad> = spelling::as_stored(wanted)?.into_iter().collect();
    patch.added = wanted.difference(&stored).cloned().collect();
    if is_replaced {
        patch.removed = stored.difference(&wanted).cloned().collect();
    }
    if let (GraphName::NamedNode(name), false) = (graph, known) {
        patch.created.insert(name);
    }
    Ok((patch, if known { Written::Changed } else { Written::Created }))
}

/// The statements of documents that strangers sent.
fn read(documents: &[Document]) -> Result<Vec<Triple>, Refusal> {
    let mut triples = Vec::new();
    for Document { format, base, body } in documents {
        let read = document(body, *format, base).map_err(|fault| Refusal::Malformed(fault.message))?;
        triples.extend(read);
    }
    Ok(triples)
}

fn unchanged(error: &dyn std::fmt::Display) -> Refusal {
    Refusal::Unavailable { message: format!("nothing was changed: {error}"), retry_after: RETRY_AFTER }
}

/// Nobody knows what became of a change.
pub(super) fn unknown(error: &dyn std::fmt::Display) -> Refusal {
    let message =
        format!("it is not known whether the change was kept; look for it before you send it again: {error}");
    Refusal::Unavailable { message, retry_after: RETRY_AFTER }
}
