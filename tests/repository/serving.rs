//! A repository that runs, and what a test does with it.

use super::answer::State;
use super::door::Guard;
use super::fault::Fault;
use super::formats::Format;
use super::gate::Gate;
use super::holdings::Rendering;
use super::log::{Log, Logged};
use super::plan::{Planned, When};
use super::prerendered::Prerendered;
use super::request::Verb;
use super::server::{Shared, router};
use super::settings::Repository;
use super::tls;
use super::wire::{Line, Ports};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// A running server. It stops when this is dropped, whatever its clients are waiting for.
pub struct Serving {
    url: String,
    certificate: Option<String>,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    pub(super) fn start(settings: Repository, port: u16) -> Self {
        let listen = |port: u16| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
            listener.set_nonblocking(true).unwrap();
            let url = format!("://{}/oai", listener.local_addr().unwrap());
            (listener, url)
        };
        let (main, url) = listen(port);
        let (acceptor, certificate) = settings.tls.then(tls::acceptor).unzip();
        let (plain, secure, plain_url, url) = match acceptor {
            None => (main, None, format!("http{url}"), format!("http{url}")),
            Some(acceptor) => {
                let (plain, plain_url) = listen(0);
                (plain, Some((acceptor, main)), format!("http{plain_url}"), format!("https{url}"))
            }
        };
        let guard = Guard::new(settings.door.clone(), settings.seed);
        let prefix = settings.prerendered.clone();
        let mut state = State::new(settings, url.clone());
        let shared = Arc::new(Shared {
            prerendered: prefix.map(|prefix| Prerendered::render(&mut state, &prefix)),
            state: Mutex::new(state),
            log: Log::new(),
            gate: Gate::default(),
            guard,
            plain_url,
        });
        let (stop, stopped) = oneshot::channel::<()>();
        let service = router(shared.clone()).into_make_service_with_connect_info::<Line>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = |listener| tokio::net::TcpListener::from_std(listener).unwrap();
                let secure = secure.map(|(acceptor, main)| (acceptor, listener(main)));
                let ports = Ports::open(listener(plain), secure);
                tokio::spawn(async move { axum::serve(ports, service).await });
                let _ = stopped.await;
            });
            // With the runtime all tasks end, also those that would wait for ever.
        });
        Self { url, certificate, shared, stop: Some(stop), thread: Some(thread) }
    }

    /// The base URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Host and port, as `allow_private` wants them.
    pub fn authority(&self) -> &str {
        authority(&self.url)
    }

    /// Another path of this server.
    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url.trim_end_matches("/oai"))
    }

    /// The base URL without TLS.
    pub fn plain_url(&self) -> &str {
        &self.shared.plain_url
    }

    /// The certificate to trust, as PEM.
    pub fn certificate(&self) -> &str {
        self.certificate.as_deref().unwrap_or_else(|| panic!("this repository has no TLS"))
    }

    /// All requests so far.
    pub fn log(&self) -> Vec<Logged> {
        self.shared.log.read()
    }

    /// The requests for a verb.
    pub fn requests(&self, verb: Verb) -> Vec<Logged> {
        self.log().into_iter().filter(|entry| entry.is(verb)).collect()
    }

    pub fn clear_log(&self) {
        self.shared.log.clear();
    }

    /// How many records and headers were sent.
    pub fn moved(&self) -> usize {
        self.log().iter().map(|entry| entry.records).sum()
    }

    /// Gives records a new revision.
    pub fn change(&self, numbers: &[usize]) {
        self.shared.change(numbers);
    }

    /// Adds records and gives their numbers.
    pub fn add(&self, count: usize) -> Vec<usize> {
        self.shared.add(count)
    }

    pub fn delete(&self, numbers: &[usize]) {
        self.shared.set_deleted(numbers, true);
    }

    /// Brings deleted records back.
    pub fn restore(&self, numbers: &[usize]) {
        self.shared.set_deleted(numbers, false);
    }

    /// Forgets transient deletions.
    pub fn forget(&self) {
        self.shared.state().holdings.forget();
    }

    /// Puts the clock forward.
    pub fn advance(&self, by: Duration) {
        self.shared.state().clock.advance(by);
    }

    /// All tokens issued so far are bad from now on.
    pub fn expire_tokens(&self) {
        self.shared.state().tokens.expire_all();
    }

    /// All sessions are closed from now on.
    pub fn expire_sessions(&self) {
        self.shared.guard.expire_all();
    }

    /// How many sessions were opened, and how many of them are still good.
    pub fn sessions(&self) -> (usize, usize) {
        self.shared.guard.count()
    }

    /// How long every page of a list takes from now on.
    pub fn delay(&self, delay: Duration) {
        self.shared.state().settings.delay = delay;
    }

    /// Lets something go wrong from now on. Requests are counted from the server's start.
    pub fn fault(&self, fault: Fault, when: When) {
        self.shared.state().plan.add(Planned { fault, when, verb: Verb::ListRecords });
    }

    /// Lets nothing go wrong any more.
    pub fn heal(&self) {
        self.shared.state().plan.clear();
    }

    /// Holds the n-th request for `ListRecords` back until [`release`](Self::release).
    pub fn hold_at(&self, request: usize) {
        self.shared.gate.close_at(request);
    }

    /// Waits until that request has come; fails after a minute.
    pub fn wait_until_held(&self) {
        assert!(self.shared.gate.wait(Duration::from_secs(60)), "the request to be held never came");
    }

    pub fn release(&self) {
        self.shared.gate.open();
    }

    /// The numbers of all records there are, without the deleted ones.
    pub fn numbers(&self) -> Vec<usize> {
        let state = self.shared.state();
        state.holdings.known().filter(|item| !item.deleted).map(|item| item.number).collect()
    }

    /// The numbers of the deleted records the repository tells of.
    pub fn deleted_numbers(&self) -> Vec<usize> {
        let state = self.shared.state();
        state.holdings.known().filter(|item| item.deleted).map(|item| item.number).collect()
    }

    pub fn identifier(&self, number: usize) -> String {
        self.shared.state().holdings.item(number).identifier()
    }

    /// The datestamp of a record, as its header has it.
    pub fn datestamp(&self, number: usize) -> String {
        let state = self.shared.state();
        state.holdings.datestamp(state.holdings.item(number).datestamp)
    }

    /// The `record` element as it should be, whatever goes wrong on the way.
    pub fn expected_xml(&self, number: usize, prefix: &str) -> String {
        let format = Format::named(prefix).unwrap_or_else(|| panic!("no format `{prefix}`"));
        let state = self.shared.state();
        state.holdings.record(state.holdings.item(number), format, Rendering::default())
    }

    /// Waits for as long as the server runs, which is until someone ends the process.
    pub fn run(mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn authority(url: &str) -> &str {
    url.split('/').nth(2).unwrap_or_default()
}
