//! The one who writes for a server: what token holders change, in the order in which it comes.
//!
//! A change is evaluated, archived, written to the store and published, and only then acknowledged.
//! The thread opens the catalogue when something is to be done and closes it when nothing is left,
//! so that commands have their turn; what has come in the meantime is done in one go and published
//! once.

use crate::archive::{Entry, Kind};
use crate::catalogue::{Catalogue, CatalogueError, Changes, Patch, Selection};
use crate::config::{Home, LockError};
use crate::diagnostic::Diagnostic;
use crate::pipeline::{PipelineError, Session, Watch};
use crate::serve::{Change, GraphWrite, Holder, Refusal, Written};
use oxrdf::{GraphName, Quad};
use rustc_hash::FxHashSet;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// No update may think longer than this.
const UPDATE_TIME: Duration = Duration::from_secs(60);
/// As many changes are published together.
const TOGETHER: usize = 256;
/// For the parser, which recurses; the guard has looked at the nesting.
const STACK: usize = 256 * 1024 * 1024;
/// Closing the store takes no longer than this.
const CLOSING: Duration = Duration::from_secs(5);
/// When to come back after a failure of the disk or a wait for others.
const RETRY_AFTER: u32 = 10;

/// What is to be done.
pub(super) enum Job {
    Update(spargebra::Update),
    Graph(GraphWrite),
}

struct Order {
    job: Job,
    by: Holder,
    reply: oneshot::Sender<Result<Written, Refusal>>,
}

/// The way to the thread that writes. It ends with the value.
pub(super) struct Writer {
    orders: Option<Sender<Order>>,
    /// Nothing ever comes over it; it is closed when the thread has closed the store.
    ended: Mutex<Receiver<()>>,
}

impl Writer {
    pub fn new(home: Home, patience: Duration) -> Self {
        let (orders, receiver) = channel();
        let (end, ended) = channel();
        std::thread::spawn(move || {
            work(&home, patience, &receiver);
            drop::<Sender<()>>(end);
        });
        Self { orders: Some(orders), ended: Mutex::new(ended) }
    }

    /// Waits until a change is done, archived and published. A client that hangs up meanwhile does
    /// not stop it: half a change would be none.
    pub async fn run(&self, job: Job, by: Holder) -> Result<Written, Refusal> {
        let (reply, done) = oneshot::channel();
        let gone = || Refusal::Io("the writer has ended".to_owned());
        let orders = self.orders.as_ref().ok_or_else(gone)?;
        orders.send(Order { job, by, reply }).map_err(|_| gone())?;
        done.await.map_err(|_| gone())?
    }
}

impl Drop for Writer {
    /// A process that ends while its store is being closed crashes, so it waits for that; not for an
    /// update that nobody waits for any more.
    fn drop(&mut self) {
        self.orders = None;
        if let Ok(ended) = self.ended.get_mut() {
            let _ = ended.recv_timeout(CLOSING);
        }
    }
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

fn work(home: &Home, patience: Duration, orders: &Receiver<Order>) {
    while let Ok(first) = orders.recv() {
        let mut waiting = Waiting { until: Instant::now() + patience };
        let mut session = match Session::write(home.clone(), &mut waiting) {
            Ok(session) => session,
            Err(error) => {
                let _ = first.reply.send(Err(unavailable(&error)));
                continue;
            }
        };
        let mut next = Some(first);
        while let Some(order) = next.take() {
            let mut done = Vec::new();
            let mut order = Some(order);
            while let Some(one) = order.take() {
                let result = carry_out(&mut session, one.job, &one.by);
                done.push((one.reply, result));
                if done.len() < TOGETHER {
                    order = orders.try_recv().ok();
                }
            }
            // Nobody is told of a change that readers cannot see yet.
            let published = session.catalogue.publish();
            for (reply, result) in done {
                let result = match &published {
                    Ok(()) => result,
                    Err(error) => result.and_then(|_| Err(failed(error))),
                };
                let _ = reply.send(result);
            }
            if !session.is_wanted() {
                next = orders.recv_timeout(Duration::from_millis(200)).ok();
            }
        }
    }
}

fn carry_out(session: &mut Session, job: Job, by: &Holder) -> Result<Written, Refusal> {
    match job {
        Job::Update(update) => {
            let patch =
                session.catalogue.backend().effects(&update, UPDATE_TIME).map_err(|error| match error {
                    CatalogueError::Evaluation(message) => Refusal::Malformed(message),
                    CatalogueError::Refused(refused) => Refusal::Forbidden(refused.to_string()),
                    error => failed(&error),
                })?;
            take(session, &patch, by)?;
            Ok(Written::Changed)
        }
        Job::Graph(write) => {
            let (patch, written) = of_graph(&session.catalogue, write).map_err(|error| failed(&error))?;
            take(session, &patch, by)?;
            Ok(written)
        }
    }
}

/// Archives a patch, and then the store has it.
fn take(session: &mut Session, patch: &Patch, by: &Holder) -> Result<(), Refusal> {
    if patch.is_empty() {
        return Ok(());
    }
    let time = jiff::Timestamp::now().to_string();
    let id = by.token.as_deref().unwrap_or_default();
    let entry = Entry::new(Kind::Update, "", id, 0, &time).with_payload(patch.write().into_bytes());
    let position =
        session.archive.append_note(&[entry]).map_err(|error| unavailable(&PipelineError::from(error)))?;
    let changes = Changes { patch: patch.clone(), position, ..Changes::default() };
    session.catalogue.write(changes).map_err(|error| failed(&error))
}

/// What a change of one graph amounts to, and what it meets.
fn of_graph(catalogue: &Catalogue, write: GraphWrite) -> Result<(Patch, Written), CatalogueError> {
    let GraphWrite { graph, change } = write;
    let backend = catalogue.backend();
    let known = match &graph {
        GraphName::NamedNode(name) => backend.has_graph(name)?,
        _ => true,
    };
    let selection = Selection { graph: Some(graph.clone()), ..Selection::default() };
    let stored: FxHashSet<Quad> = backend.quads(&selection)?.collect::<Result<_, _>>()?;
    let mut patch = Patch::default();
    let (wanted, is_replaced) = match change {
        Change::Replace(triples) => (triples, true),
        Change::Add(triples) => (triples, false),
        Change::Remove if known => {
            patch.removed = stored;
            if let GraphName::NamedNode(name) = graph {
                patch.dropped.insert(name);
            }
            return Ok((patch, Written::Changed));
        }
        Change::Remove => return Ok((patch, Written::Absent)),
    };
    let wanted: FxHashSet<Quad> = wanted.into_iter().map(|triple| triple.in_graph(graph.clone())).collect();
    patch.added = wanted.difference(&stored).cloned().collect();
    if is_replaced {
        patch.removed = stored.difference(&wanted).cloned().collect();
    }
    if let (GraphName::NamedNode(name), false) = (graph, known) {
        patch.created.insert(name);
    }
    Ok((patch, if known { Written::Changed } else { Written::Created }))
}

fn failed(error: &CatalogueError) -> Refusal {
    Refusal::Unavailable { message: format!("nothing was changed: {error}"), retry_after: RETRY_AFTER }
}

fn unavailable(error: &PipelineError) -> Refusal {
    Refusal::Unavailable { message: format!("nothing was changed: {error}"), retry_after: RETRY_AFTER }
}

/// Does something that recurses as deeply as the guard allows.
pub(super) fn on_large_stack<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    let failed = |message: &str| Refusal::Io(message.to_owned());
    std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(work)
        .map_err(|error| failed(&error.to_string()))?
        .join()
        .map_err(|_| failed("the parser failed"))
}
