//! The catalogue as an OAI-PMH repository that a server can ask.
//!
//! One thread answers, one request after the other: harvesters come for everything there is and must
//! not take all processors from readers. What it holds (the log of holdings in memory, the rules to
//! write records with) it holds once. [`provider`] says what the repository knows; the protocol is
//! the matter of [`publish::oai`](crate::publish::oai).

mod identity;
mod provider;
#[cfg(test)]
mod tests;

use super::holdings::{Holdings, Visibility, clock, listed_up_to, path};
use crate::catalogue::{Backend, Bounded, Catalogue, CatalogueError, Graphs};
use crate::concordance::Concordances;
use crate::config::Home;
use crate::effort::Effort;
use crate::publish::oai::{self, Datestamp, Status};
use crate::serve::OaiAnswer;
use identity::Identity;
use provider::{Formats, Provider};
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;
use tokio::sync::oneshot;

/// Requests that may wait for their turn.
const WAITING: usize = 32;
/// Records of a page: some 300 kB of MARCXML.
const PAGE: usize = 100;
/// When to come back to a repository that cannot answer, in seconds.
const RETRY_AFTER: u32 = 10;
/// How long an answer may take, waiting included. Harvesters are patient, and there is one thread.
const TIME: Duration = Duration::from_secs(60);
/// Upper bound on the statements that are read for one answer: a page of very long records.
const MOST_READ: u64 = 1_000_000;

/// Answers OAI-PMH requests for as long as it lives.
pub struct Providing {
    sender: SyncSender<Asked>,
}

struct Asked {
    arguments: String,
    effort: Effort,
    reply: oneshot::Sender<OaiAnswer>,
}

impl Providing {
    /// Starts to answer, with the rules by which records were mapped, out of the newest snapshot.
    pub fn new(
        home: &Home,
        concordances: Arc<Concordances>,
        newest: impl Fn() -> Result<Arc<Catalogue>, CatalogueError> + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(WAITING);
        let (directory, graphs) = (home.directory.clone(), home.graphs.clone());
        let identity = Identity::of(home);
        let work = move || {
            let desk = Desk::new(&directory, &graphs, &identity, &concordances);
            answer_all(desk, &receiver, newest);
        };
        std::thread::Builder::new().name("oai".to_owned()).spawn(work)?;
        Ok(Self { sender })
    }

    /// Answers a request, given the arguments as they came. When the future is dropped, the answer is
    /// given up.
    pub async fn answer(&self, arguments: String) -> OaiAnswer {
        let effort = Effort::within(TIME);
        let _waiter = effort.waiter();
        let (reply, answer) = oneshot::channel();
        if self.sender.try_send(Asked { arguments, effort, reply }).is_err() {
            return later();
        }
        answer.await.unwrap_or_else(|_| later())
    }
}

fn later() -> OaiAnswer {
    let busy = oai::Busy { retry_after: RETRY_AFTER };
    OaiAnswer { status: 503, xml: format!("{busy}\n"), retry_after: Some(RETRY_AFTER) }
}

fn answer_all(
    mut desk: Desk<'_>,
    asked: &Receiver<Asked>,
    newest: impl Fn() -> Result<Arc<Catalogue>, CatalogueError>,
) {
    for Asked { arguments, effort, reply } in asked {
        let answer = desk.look(&clock, &newest).and_then(|(now, catalogue)| {
            desk.answer(&Bounded::new(&catalogue, &effort, MOST_READ), now, &arguments)
        });
        let answer = answer.unwrap_or_else(|error| {
            if !matches!(error, CatalogueError::Stopped(_)) {
                tracing::error!("an OAI-PMH request cannot be answered: {error}");
            }
            later()
        });
        // Whoever asked may have gone.
        let _ = reply.send(answer);
    }
}

/// Where requests are answered.
struct Desk<'a> {
    holdings: Holdings,
    visibility: Visibility,
    graphs: &'a Graphs,
    identity: &'a Identity,
    formats: Formats<'a>,
    /// How many records a page holds.
    page: usize,
}

impl<'a> Desk<'a> {
    fn new(
        directory: &Path,
        graphs: &'a Graphs,
        identity: &'a Identity,
        concordances: &'a Concordances,
    ) -> Self {
        let (holdings, visibility) = (Holdings::new(path(directory)), Visibility::new(directory));
        Self { holdings, visibility, graphs, identity, formats: Formats::new(concordances), page: PAGE }
    }

    /// Answers out of the snapshot that was looked at, with the time at which it was.
    fn answer(
        &mut self,
        backend: &dyn Backend,
        now: Datestamp,
        arguments: &str,
    ) -> Result<OaiAnswer, CatalogueError> {
        let Self { holdings, graphs, identity, formats, page, .. } = self;
        let request = oai::Request::parse(format!("{}oai", graphs.base()), arguments.as_bytes());
        let provider = Provider { backend, holdings, graphs, identity, formats, page: *page };
        let answer = oai::answer(&request, &provider, now);
        if !answer.left_out.is_empty() {
            tracing::warn!("records that cannot be written: {}", answer.left_out.join(", "));
        }
        let retry_after = match answer.status {
            Status::Ok => None,
            Status::Unavailable { retry_after } => Some(retry_after),
        };
        Ok(OaiAnswer { status: answer.status.code(), xml: answer.body, retry_after })
    }

    /// The time of an answer and the newest snapshot, and what that holds: chosen together, so that
    /// what a snapshot shows later is never older than an answer that was given before.
    fn look<C: Deref<Target = Catalogue>>(
        &mut self,
        clock: &impl Fn() -> Datestamp,
        newest: &impl Fn() -> Result<C, CatalogueError>,
    ) -> Result<(Datestamp, C), CatalogueError> {
        let dating = self.visibility.dating();
        let _turn = self.visibility.turn(clock)?;
        let now = clock();
        let catalogue = newest()?;
        let step = listed_up_to(catalogue.backend(), self.graphs)?;
        if self.visibility.is_replaced(step) {
            // Half a list is worse than none: whoever wants all takes the rest for gone.
            if !step.is_some_and(|step| self.holdings.is_at(step)) {
                let busy = "the store is being made anew, and its log is not there yet";
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, busy).into());
            }
            self.visibility.tell(now)?;
            return Ok((now, catalogue));
        }
        let is_new = step.is_some_and(|step| self.visibility.show(step, now));
        // An answer that nobody could remember is not given.
        self.visibility.tell(now)?;
        if !self.visibility.agrees_with(&dating) {
            self.holdings.clear();
        }
        let mut is_moved = false;
        self.holdings.show(step, |time| {
            let datestamp = self.visibility.datestamp(time);
            is_moved |= datestamp != time;
            datestamp
        })?;
        if is_new && !is_moved {
            self.visibility.need_no_bounds()?;
        }
        Ok((now, catalogue))
    }
}
