//! How a server has something written: by a process of its own, which can be ended.
//!
//! The server passes orders on ([`message`]) and hears how far each of them is; [`process`] is the
//! other side. When the process ends, because it was stopped at a limit or crashed, what becomes of
//! each order follows from how far it was: one that had not begun is passed to the next process, one
//! that was being evaluated changed nothing, one that is archived waits for the next process to show
//! it to readers, and only for one that was just being archived nobody can tell. Showing what is
//! archived is tried until it succeeds.

mod message;
mod process;
#[cfg(test)]
mod tests;

pub(super) use message::Job;
pub use process::write_for_server;

use crate::serve::{Holder, Refusal, Written};
use bytes::Bytes;
use message::{Notice, Order, Stage};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How long the process may take to finish when the server stops.
const CLOSING: Duration = Duration::from_secs(5);
/// How often an order is passed on that the process never began, because it ended first.
const TRIES: u32 = 2;
/// When to come back after the process could not be started.
const RETRY_AFTER: u32 = 10;
/// Bytes of changes that may wait. A client that hangs up does not take its own back.
const MOST_WAITING: usize = 512 << 20;
/// How long after a failure what is archived and not shown is tried again.
const REPAIR_AFTER: Duration = Duration::from_secs(2);

type Reply = oneshot::Sender<Result<Written, Refusal>>;

/// The way to the process that writes. It ends with the value.
pub(super) struct Writer {
    events: Sender<Event>,
    /// Nothing ever comes over it; it is closed when the process has ended.
    ended: Mutex<Receiver<()>>,
}

/// What the supervisor hears.
enum Event {
    Order(Job, Holder, Reply),
    /// From the process with this number.
    Notice(u64, Notice),
    /// The process with this number says nothing more.
    Silence(u64),
    Stop,
}

impl Writer {
    /// `program` with `arguments` must call [`write_for_server`]. Evaluating one change may take as
    /// long as `patience`.
    pub fn new(program: PathBuf, arguments: Vec<OsString>, patience: Duration) -> io::Result<Self> {
        let (events, receiver) = channel();
        let (end, ended) = channel::<()>();
        let mut supervisor = Supervisor {
            program,
            arguments,
            patience,
            events: events.clone(),
            running: None,
            started: 0,
            last: 0,
            pending: BTreeMap::new(),
            kept: BTreeMap::new(),
            repair_at: None,
        };
        std::thread::Builder::new().name("writing".to_owned()).spawn(move || {
            supervisor.supervise(&receiver);
            drop(end);
        })?;
        Ok(Self { events, ended: Mutex::new(ended) })
    }

    /// Waits until a change is done, archived and published. A client that hangs up meanwhile does
    /// not stop it: half a change would be none.
    pub async fn run(&self, job: Job, by: Holder) -> Result<Written, Refusal> {
        let (reply, done) = oneshot::channel();
        let gone = || Refusal::Io("nobody writes any more".to_owned());
        self.events.send(Event::Order(job, by, reply)).map_err(|_| gone())?;
        done.await.map_err(|_| gone())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.events.send(Event::Stop);
        if let Ok(ended) = self.ended.get_mut() {
            let _ = ended.recv_timeout(2 * CLOSING);
        }
    }
}

/// An order that is not done with.
struct Pending {
    /// As it is passed on.
    bytes: Bytes,
    stage: Option<Stage>,
    since: Instant,
    /// It was evaluated for too long, and its process was told to end.
    is_late: bool,
    tries: u32,
    reply: Reply,
}

impl Pending {
    /// When it must have been evaluated, if it is and may still be.
    fn deadline(&self, patience: Duration) -> Option<Instant> {
        let is_evaluated = self.stage == Some(Stage::Evaluating) && !self.is_late;
        is_evaluated.then(|| self.since + patience)
    }
}

/// A process that writes.
struct Running {
    number: u64,
    child: Child,
    /// To the thread that passes orders on: a pipe that is full must not stop the supervisor.
    feed: Sender<Bytes>,
}

struct Supervisor {
    program: PathBuf,
    arguments: Vec<OsString>,
    patience: Duration,
    events: Sender<Event>,
    running: Option<Running>,
    /// How many processes were started.
    started: u64,
    /// The number of the last order.
    last: u64,
    pending: BTreeMap<u64, Pending>,
    /// Changes that are archived and wait to be shown, by the order that will have them shown.
    kept: BTreeMap<u64, Vec<Reply>>,
    /// When to try again to have archived changes shown.
    repair_at: Option<Instant>,
}

impl Supervisor {
    fn supervise(&mut self, events: &Receiver<Event>) {
        loop {
            let event = match self.deadline() {
                Some(deadline) => events.recv_timeout(deadline.saturating_duration_since(Instant::now())),
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match event {
                Ok(Event::Order(job, by, reply)) => self.take(job, by, reply),
                Ok(Event::Notice(from, notice)) if self.is_running(from) => self.note(notice),
                Ok(Event::Silence(from)) if self.is_running(from) => self.bury(),
                Ok(Event::Notice(..) | Event::Silence(_)) => {}
                Err(RecvTimeoutError::Timeout) => {
                    self.end_late();
                    self.repair_again();
                }
                Ok(Event::Stop) | Err(RecvTimeoutError::Disconnected) => return self.stop(),
            }
        }
    }

    fn is_running(&self, number: u64) -> bool {
        self.running.as_ref().is_some_and(|running| running.number == number)
    }

    /// When there is something to do even if nothing is heard: a change must have been evaluated, or
    /// archived ones are to be shown.
    fn deadline(&self) -> Option<Instant> {
        let evaluated = self.pending.values().filter_map(|order| order.deadline(self.patience));
        evaluated.chain(self.repair_at).min()
    }

    fn take(&mut self, job: Job, by: Holder, reply: Reply) {
        let waiting: usize = self.pending.values().map(|order| order.bytes.len()).sum();
        if waiting > MOST_WAITING {
            let message = "nothing was changed: too many changes wait for others".to_owned();
            let _ = reply.send(Err(Refusal::Unavailable { message, retry_after: RETRY_AFTER }));
            return;
        }
        self.last += 1;
        let number = self.last;
        self.take_as(number, job, by, reply);
    }

    fn take_as(&mut self, number: u64, job: Job, by: Holder, reply: Reply) {
        match (Order { number, by, job }).write() {
            Ok(bytes) => {
                let bytes = Bytes::from(bytes);
                let order =
                    Pending { bytes, stage: None, since: Instant::now(), is_late: false, tries: 0, reply };
                self.pending.insert(number, order);
                self.pass_on(number);
            }
            Err(error) => _ = reply.send(Err(Refusal::Io(error.to_string()))),
        }
    }

    /// Hands an order to the process, which is started if none runs.
    fn pass_on(&mut self, number: u64) {
        if self.running.is_none()
            && let Err(error) = self.start()
        {
            let message = format!("nothing was changed: the process that writes cannot be started: {error}");
            let refusal = Refusal::Unavailable { message, retry_after: RETRY_AFTER };
            return self.reply(number, Err(refusal));
        }
        if let (Some(running), Some(order)) = (&self.running, self.pending.get_mut(&number)) {
            order.tries += 1;
            order.stage = None;
            // If it has just ended, its silence says so.
            let _ = running.feed.send(order.bytes.clone());
        }
    }

    fn start(&mut self) -> io::Result<()> {
        self.started += 1;
        let number = self.started;
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C is for the server to handle.
            .process_group(0)
            .spawn()?;
        let (feed, orders) = channel::<Bytes>();
        let input = child.stdin.take();
        std::thread::Builder::new().name("orders".to_owned()).spawn(move || {
            let Some(mut input) = input else { return };
            for order in orders {
                if input.write_all(&order).and_then(|()| input.flush()).is_err() {
                    return;
                }
            }
        })?;
        let output = child.stdout.take();
        let events = self.events.clone();
        std::thread::Builder::new().name("notices".to_owned()).spawn(move || {
            let lines = output.map(BufReader::new).into_iter().flat_map(BufRead::lines);
            for line in lines.map_while(Result::ok) {
                match Notice::read(&line) {
                    Ok(notice) => _ = events.send(Event::Notice(number, notice)),
                    Err(error) => tracing::error!("a notice cannot be read: {error}"),
                }
            }
            let _ = events.send(Event::Silence(number));
        })?;
        self.running = Some(Running { number, child, feed });
        Ok(())
    }

    fn note(&mut self, notice: Notice) {
        if let Stage::Done(result) = notice.stage {
            return self.reply(notice.number, result);
        }
        if let Some(order) = self.pending.get_mut(&notice.number) {
            order.stage = Some(notice.stage);
            order.since = Instant::now();
        }
    }

    fn reply(&mut self, number: u64, result: Result<Written, Refusal>) {
        if let Some(kept) = self.kept.remove(&number) {
            let shown = if result == Ok(Written::Changed) { Written::Changed } else { Written::Accepted };
            if shown == Written::Accepted {
                self.repair_at = Some(Instant::now() + REPAIR_AFTER);
            }
            for waiting in kept {
                let _ = waiting.send(Ok(shown));
            }
        }
        if let Some(order) = self.pending.remove(&number) {
            // Whoever hung up is not told.
            let _ = order.reply.send(result);
        }
    }

    /// Ends the process when it has evaluated something for too long. What becomes of the order is
    /// known when the process has fallen silent: it may just have begun to archive.
    fn end_late(&mut self) {
        let (now, patience) = (Instant::now(), self.patience);
        for order in self.pending.values_mut() {
            if order.deadline(patience).is_some_and(|deadline| deadline <= now) {
                order.is_late = true;
                if let Some(running) = &mut self.running {
                    let _ = running.child.kill();
                }
            }
        }
    }

    /// Sees to what a process left behind that has ended.
    fn bury(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        let _ = running.child.kill();
        let ending = running.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        tracing::warn!("the process that writes has ended ({ending}); another takes its place");
        // What waited behind a change that ended the process is not to blame for it.
        let began = self.pending.values().any(|order| order.stage.is_some());
        let (mut is_behind, mut kept, mut again) = (false, Vec::new(), Vec::new());
        for number in self.pending.keys().copied().collect::<Vec<_>>() {
            let Some(order) = self.pending.get(&number) else { continue };
            match &order.stage {
                None if began || order.tries < TRIES => again.push(number),
                None | Some(Stage::Evaluating) => {
                    let why = if order.is_late {
                        format!("the update took longer than {} s and was stopped", self.patience.as_secs())
                    } else {
                        format!("the process that evaluated the update has ended ({ending})")
                    };
                    self.reply(number, Err(Refusal::Stopped(format!("nothing was changed: {why}"))));
                }
                Some(Stage::Archiving) => {
                    is_behind = true;
                    self.reply(number, Err(process::unknown(&ending)));
                }
                // Ending again and again is no way to repair: the next try comes later.
                Some(Stage::Kept | Stage::Done(_)) if self.kept.contains_key(&number) => {
                    self.reply(number, Err(process::unknown(&ending)));
                }
                Some(Stage::Kept | Stage::Done(_)) => {
                    is_behind = true;
                    kept.extend(self.pending.remove(&number).map(|order| order.reply));
                }
            }
        }
        if is_behind {
            self.repair(kept);
        }
        for number in again {
            self.pass_on(number);
        }
    }

    /// Has what is archived written and shown; `kept` hears of it.
    fn repair(&mut self, kept: Vec<Reply>) {
        self.repair_at = None;
        self.last += 1;
        self.kept.insert(self.last, kept);
        let (reply, _) = oneshot::channel();
        self.take_as(self.last, Job::Repair, Holder::anonymous(), reply);
    }

    /// Does that once more when its time has come, until it succeeds.
    fn repair_again(&mut self) {
        if self.repair_at.is_some_and(|time| time <= Instant::now()) {
            self.repair(Vec::new());
        }
    }

    /// Lets the process finish what it is at, though not for ever.
    fn stop(&mut self) {
        let Some(Running { mut child, feed, .. }) = self.running.take() else { return };
        drop(feed);
        let until = Instant::now() + CLOSING;
        while Instant::now() < until {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}
