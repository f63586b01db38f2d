//! A worker as its parent sees it: started, asked, watched, ended.

use super::frame::{self, Failure, Message, Terms};
use super::memory::{self, has_run_out};
use super::spool::Spool;
use super::{Body, Question, Settings};
use std::io::{self, ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Sender;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::task::{JoinHandle, spawn_blocking};

/// Room for an answer as most are.
const BUFFER: usize = 32 * 1024;
/// The priority of heavy queries: about a tenth of what a quick one gets.
const LOW_PRIORITY: i32 = 10;
/// So much of what a worker says is looked at together.
const WORDS: usize = 256;

/// A process that answers. Dropped, it is killed.
pub(super) struct Worker {
    process: Process,
    socket: UnixStream,
    buffer: Vec<u8>,
    snapshot: Option<u64>,
    /// Passes on what it says on standard error. At its end it is known whether it ran out of memory.
    complaint: JoinHandle<bool>,
}

/// How a question ended.
pub(super) enum Outcome {
    Answered {
        body: Body,
        rows: u64,
        union: bool,
        media_type: String,
    },
    Failed(Failure, String),
    /// The worker was refused memory, and went away.
    OutOfMemory,
    /// The worker went away.
    Died,
}

impl Worker {
    /// Starts a worker, which takes some milliseconds, and has it open a snapshot.
    pub(super) async fn start(
        settings: &Settings,
        snapshot: Option<u64>,
        undertaker: Sender<Child>,
    ) -> io::Result<Self> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut command = Command::new(&settings.program);
        command
            .args(&settings.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::from(OwnedFd::from(theirs)))
            .stderr(Stdio::piped())
            .env(memory::ALLOCATOR.0, memory::ALLOCATOR.1)
            // A group of its own: Ctrl-C is for the parent to handle, and the priority of a group is
            // that of all its threads.
            .process_group(0);
        let mut process = spawn_blocking(move || Process::start(command, undertaker)).await??;
        let complaint = process.complaint()?;
        let socket = UnixStream::from_std(ours)?;
        let complaint = tokio::spawn(listen(complaint));
        let buffer = Vec::with_capacity(BUFFER);
        let mut worker = Self { process, socket, buffer, snapshot: None, complaint };
        if let Some(snapshot) = snapshot {
            worker.open(snapshot, &settings.spool).await?;
        }
        Ok(worker)
    }

    /// Has it open a snapshot ahead of the next question.
    pub(super) async fn open(&mut self, snapshot: u64, spool: &Path) -> io::Result<()> {
        let mut order = Vec::new();
        frame::write_open(&mut order, snapshot);
        self.snapshot = Some(snapshot);
        self.socket.write_all(&order).await?;
        match self.receive(spool).await? {
            Outcome::Answered { .. } => Ok(()),
            Outcome::Failed(_, message) => Err(io::Error::other(message)),
            Outcome::Died | Outcome::OutOfMemory => Err(ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Hands it a question.
    pub(super) async fn send(&mut self, question: &Question, terms: &Terms) -> io::Result<()> {
        let mut order = Vec::with_capacity(question.text.len() + 256);
        frame::write_answer(&mut order, terms, question);
        self.snapshot = Some(terms.snapshot);
        self.socket.write_all(&order).await
    }

    /// Waits for the whole answer.
    pub(super) async fn receive(&mut self, folder: &Path) -> io::Result<Outcome> {
        self.buffer.clear();
        let mut spool = Spool::default();
        loop {
            if self.socket.read_buf(&mut self.buffer).await.or_else(closed)? == 0 {
                return Ok(self.end().await);
            }
            let mut read = 0;
            while let Some((fields, length)) = frame::first(self.buffer.get(read..).unwrap_or_default())? {
                read += length;
                match Message::read(fields)? {
                    Message::Part(part) => {
                        if spool.push(part) {
                            spool = store(spool, folder).await?;
                        }
                    }
                    Message::Failed(failure, message) => {
                        return Ok(Outcome::Failed(failure, message.to_owned()));
                    }
                    Message::Answered(end) => {
                        spool.push(end.body);
                        if spool.is_stored() {
                            spool = store(spool, folder).await?;
                        }
                        return Ok(Outcome::Answered {
                            body: spool.end()?,
                            rows: end.rows,
                            union: end.union,
                            media_type: end.media_type.to_owned(),
                        });
                    }
                }
            }
            self.buffer.drain(..read);
        }
    }

    /// Why it went away.
    async fn end(&mut self) -> Outcome {
        match (&mut self.complaint).await {
            Ok(true) => Outcome::OutOfMemory,
            _ => Outcome::Died,
        }
    }

    /// What it was last told to open.
    pub(super) fn snapshot(&self) -> Option<u64> {
        self.snapshot
    }

    /// What can be watched and told while an answer is waited for.
    pub(super) fn handle(&self) -> Handle {
        Handle { process: self.process.child.as_ref().map_or(0, Child::id) }
    }
}

/// A process that is killed when nobody holds it any more.
struct Process {
    /// With its standard input, whose end the worker notices.
    child: Option<Child>,
    /// Waits for those that were killed, so that nothing is left of them.
    undertaker: Sender<Child>,
}

impl Process {
    fn start(mut command: Command, undertaker: Sender<Child>) -> io::Result<Self> {
        Ok(Self { child: Some(command.spawn()?), undertaker })
    }

    /// What it says on standard error.
    fn complaint(&mut self) -> io::Result<pipe::Receiver> {
        let complaint = self.child.as_mut().and_then(|child| child.stderr.take());
        let complaint = complaint.ok_or_else(|| io::Error::other("the worker has no standard error"))?;
        pipe::Receiver::from_owned_fd(complaint.into())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = self.undertaker.send(child);
        }
    }
}

/// The name of a running process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Handle {
    process: u32,
}

impl Handle {
    /// Lets others go first from now on. There is no way back without special rights.
    pub(super) fn step_back(self) {
        let group = i32::try_from(self.process).ok().and_then(rustix::process::Pid::from_raw);
        // It is a courtesy: a system that refuses it runs on.
        let _ = rustix::process::setpriority_pgrp(group, LOW_PRIORITY);
    }

    /// The memory it has for itself, without files, in bytes.
    pub(super) fn memory(self) -> u64 {
        let [resident, shared] = numbers(&self.statistics("statm"), 1);
        resident.saturating_sub(shared) * rustix::param::page_size() as u64
    }

    /// How long its threads have run.
    pub(super) fn processor_time(self) -> Duration {
        let statistics = self.statistics("stat");
        // What comes before is its name, which may hold anything.
        let fields = statistics.rsplit_once(')').map_or("", |(_, fields)| fields);
        let [user, system] = numbers(fields, 12);
        tick() * u32::try_from(user + system).unwrap_or(u32::MAX)
    }

    /// Nothing once it has ended.
    fn statistics(self, file: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.process)).unwrap_or_default()
    }
}

/// Linux counts the time of processes in these.
fn tick() -> Duration {
    let ticks = u32::try_from(rustix::param::clock_ticks_per_second()).unwrap_or(100);
    Duration::from_secs(1) / ticks.max(1)
}

/// Passes on what a worker says to our own standard error, where it would have gone; tells whether it
/// said that it ran out of memory.
async fn listen(mut complaint: pipe::Receiver) -> bool {
    let (mut buffer, mut last, mut ran_out) = ([0; 1024], Vec::new(), false);
    while let Ok(read @ 1..) = complaint.read(&mut buffer).await {
        let said = buffer.get(..read).unwrap_or_default();
        let _ = io::stderr().write_all(said);
        // The words may come in two pieces.
        last.extend_from_slice(said);
        ran_out |= has_run_out(&last);
        last.drain(..last.len().saturating_sub(WORDS));
    }
    ran_out
}

/// Two numbers of a list, after so many others.
fn numbers(list: &str, skipped: usize) -> [u64; 2] {
    let mut numbers = list.split(' ').skip(skipped).map(|number| number.parse().unwrap_or(0));
    [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)]
}

async fn store(spool: Spool, folder: &Path) -> io::Result<Spool> {
    let folder = folder.to_owned();
    spawn_blocking(move || spool.store(&folder)).await?
}

/// A worker that was killed may have left bytes unread, which the system calls a reset.
fn closed(error: io::Error) -> io::Result<usize> {
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => Ok(0),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_tells_what_a_process_uses() {
        let me = Handle { process: std::process::id() };
        let before = me.memory();
        let held = vec![1_u8; 64 << 20];
        assert!(me.memory() >= before + (60 << 20), "{before} {}", held.len());
        while me.processor_time() < 2 * tick() {}
        let nobody = Handle { process: 0 };
        assert_eq!((nobody.memory(), nobody.processor_time()), (0, Duration::ZERO));
    }
}
