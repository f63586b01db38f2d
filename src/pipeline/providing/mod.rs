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

use super::holdings::{Holdings, listed_up_to, path};
use crate::catalogue::{Backend, Catalogue, CatalogueError, Graphs};
use crate::concordance::Concordances;
use crate::config::Home;
use crate::publish::oai::{self, Datestamp, Status};
use crate::serve::OaiAnswer;
use identity::Identity;
use provider::{Formats, Provider};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

/// Requests that may wait for their turn.
const WAITING: usize = 32;
/// Records of a page: some 300 kB of MARCXML.
const PAGE: usize = 100;
/// When to come back to a repository that cannot answer, in seconds.
const RETRY_AFTER: u32 = 10;

/// Answers OAI-PMH requests for as long as it lives.
pub struct Providing {
    sender: SyncSender<Asked>,
}

struct Asked {
    catalogue: Arc<Catalogue>,
    arguments: String,
    reply: SyncSender<OaiAnswer>,
}

impl Providing {
    /// Starts to answer, with the rules by which records were mapped.
    pub fn new(home: &Home, concordances: Arc<Concordances>) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(WAITING);
        let (directory, graphs) = (home.directory.clone(), home.graphs.clone());
        let identity = Identity::of(home);
        let work = move || answer_all(&receiver, &directory, &graphs, &identity, &concordances);
        std::thread::Builder::new().name("oai".to_owned()).spawn(work)?;
        Ok(Self { sender })
    }

    /// Answers a request, given the newest snapshot and the arguments as they came. Waits for the
    /// answer.
    pub fn answer(&self, catalogue: Arc<Catalogue>, arguments: String) -> OaiAnswer {
        let (reply, answer) = sync_channel(1);
        match self.sender.try_send(Asked { catalogue, arguments, reply }) {
            Ok(()) => answer.recv().unwrap_or_else(|_| later()),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => later(),
        }
    }
}

fn later() -> OaiAnswer {
    let busy = oai::Busy { retry_after: RETRY_AFTER };
    OaiAnswer { status: 503, xml: format!("{busy}\n"), retry_after: Some(RETRY_AFTER) }
}

fn answer_all(
    asked: &Receiver<Asked>,
    directory: &Path,
    graphs: &Graphs,
    identity: &Identity,
    concordances: &Concordances,
) {
    let mut desk = Desk::new(directory, graphs, identity, concordances);
    for Asked { catalogue, arguments, reply } in asked {
        let answer = desk.answer(catalogue.backend(), &arguments).unwrap_or_else(|error| {
            tracing::error!("an OAI-PMH request cannot be answered: {error}");
            later()
        });
        // Whoever asked may have gone.
        let _ = reply.send(answer);
    }
}

/// Where requests are answered.
struct Desk<'a> {
    holdings: Holdings,
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
        let holdings = Holdings::new(path(directory));
        Self { holdings, graphs, identity, formats: Formats::new(concordances), page: PAGE }
    }

    fn answer(&mut self, backend: &dyn Backend, arguments: &str) -> Result<OaiAnswer, CatalogueError> {
        self.holdings.show(listed_up_to(backend, self.graphs)?)?;
        // Not the clock: see the module `holdings`.
        let now = self.holdings.step().map_or(Datestamp::EPOCH, Datestamp::next);
        let Self { holdings, graphs, identity, formats, page } = self;
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
}
