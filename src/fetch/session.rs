//! One source's dealings with the network, under the rules of its [`Access`].
//!
//! A question is asked until it is answered, until asking again makes no sense, or until the
//! patience the settings allow is used up; [`attempt`] is one time of asking.

mod attempt;

pub(super) use attempt::{Body, Purpose, Question};

use super::access::Access;
use super::clock::Cancelled;
use super::cookie::Jar;
use super::counts::{Counters, Counts};
use super::ending::ends_early;
use super::fault::{Fault, FaultKind, status_is_temporary};
use super::fetcher::Shared;
use super::guard::{self, Pins, Refusal};
use super::login::Identity;
use super::patience::{Failure, Patience};
use super::retry::{Budget, Random, after, backoff, retry_after};
use super::robots::Rules;
use super::secret::{Secrets, without_userinfo};
use super::wire::{self, Reply};
use super::{Answer, Transport, Validators};
use attempt::Trouble;
use reqwest::header::HeaderValue;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use url::{Origin, Url};

/// An open session; see [`Fetcher::open`](super::Fetcher::open). A login is made with the first
/// request that needs it, renewed when it has expired, and closed when the session is dropped.
pub struct Session {
    pub(super) shared: Arc<Shared>,
    pub(super) access: Access,
    pub(super) identity: Identity,
    pub(super) secrets: Secrets,
    pub(super) counters: Counters,
    pub(super) jar: Mutex<Jar>,
    /// The origin of the source.
    home: Origin,
    user_agent: HeaderValue,
    client: reqwest::Client,
    pins: Arc<Pins>,
    budget: Mutex<Budget>,
    /// The clock of the page under way, if somebody started one.
    page: Mutex<Option<Arc<Patience>>>,
    random: Mutex<Random>,
    cancel: Arc<AtomicBool>,
}

impl Session {
    pub(super) fn new(
        shared: Arc<Shared>,
        access: &Access,
        home: &str,
        cancel: Arc<AtomicBool>,
    ) -> Result<Self, Fault> {
        let fault = |(kind, detail): Refusal| Fault::new(kind, without_userinfo(home), detail);
        let setting = |detail: String| fault((FaultKind::Settings, detail));
        let url = guard::parse(home).map_err(fault)?;
        let allowed = access.allow_private.iter().map(|text| text.parse()).collect::<Result<_, _>>();
        let pins = Arc::new(Pins::new(allowed.map_err(setting)?));
        let client = wire::client(Arc::clone(&pins), shared.tls()?, &access.timeouts, &access.limits);
        let secrets = Secrets::default();
        let environment = shared.options.environment.as_ref();
        let identity = Identity::new(access, &url, environment, &secrets).map_err(fault)?;
        Ok(Self {
            user_agent: user_agent(access).map_err(setting)?,
            client: client.map_err(fault)?,
            home: url.origin(),
            budget: Mutex::new(Budget::new(access.retries.budget)),
            page: Mutex::default(),
            random: Mutex::new(Random::new(shared.seed())),
            access: access.clone(),
            counters: Counters::default(),
            jar: Mutex::default(),
            shared,
            identity,
            secrets,
            pins,
            cancel,
        })
    }

    /// The page at `url` if it has changed since it gave these validators, else status 304.
    pub fn get_if_changed(&self, url: &str, validators: &Validators) -> Result<Answer, Fault> {
        self.page(url, None, Some(validators))
    }

    /// What `url` answers to a text that is sent by POST. A redirect is a fault: the text goes where
    /// it was meant to go and nowhere else.
    pub fn post(&self, url: &str, media_type: &'static str, text: &str) -> Result<Answer, Fault> {
        self.page(url, Some(Body::Text { media_type, text }), None)
    }

    /// What the origin of `url` asks of robots, whether or not this session heeds it.
    pub fn robots(&self, url: &str) -> Result<Arc<Rules>, Fault> {
        let address = guard::parse(url).map_err(|refusal| self.refused(url, refusal))?;
        self.check(&address).and_then(|()| self.rules(&address)).map_err(|trouble| self.fault(trouble, 0))
    }

    /// Starts the clock of a page: all that is asked for until the next one is started shares the
    /// patience of the source ([`Access::patience`]). Without it each question has its own.
    pub fn begin_page(&self) {
        let patience = Patience::new(&self.access, self.now());
        *lock(&self.page) = Some(Arc::new(patience));
    }

    /// The last answer was a good one and brought nothing: the clock of the page goes on, without the
    /// time that the answer took.
    pub fn excuse_answer(&self) {
        if let Some(patience) = lock(&self.page).as_ref() {
            patience.excuse_answer();
        }
    }

    fn patience(&self) -> Arc<Patience> {
        let page = lock(&self.page).clone();
        page.unwrap_or_else(|| Arc::new(Patience::new(&self.access, self.now())))
    }

    fn now(&self) -> Duration {
        self.shared.options.clock.elapsed()
    }

    /// What was done so far. Any thread may look.
    pub fn counts(&self) -> Counts {
        self.counters.read()
    }

    /// Closes the session at the source, if one was opened. Dropping does the same in silence.
    pub fn close(self) -> Result<(), Fault> {
        self.logout()
    }

    fn page(
        &self,
        url: &str,
        body: Option<Body<'_>>,
        validators: Option<&Validators>,
    ) -> Result<Answer, Fault> {
        let address = guard::parse(url).map_err(|refusal| self.refused(url, refusal))?;
        let attempts = self.access.retries.attempts;
        let question = Question { url: address, purpose: Purpose::Page, attempts, body, validators };
        let (url, reply) = self.ask(&question)?;
        let text = |name| reply.header(name).map(str::to_owned);
        Ok(Answer {
            status: reply.status,
            url: url.to_string(),
            content_type: text("content-type"),
            etag: text("etag"),
            last_modified: text("last-modified"),
            retry_after: self.retry_after(&reply),
            body: reply.body,
        })
    }

    /// Asks until there is an answer or no hope.
    pub(super) fn ask(&self, question: &Question<'_>) -> Result<(Url, Reply), Fault> {
        let needs_login = question.purpose == Purpose::Page && question.url.origin() == self.home;
        let patience = self.patience();
        // How often it was tried, and how often something was sent for it.
        let (mut tries, mut attempts) = (0, 0);
        let mut renewed = false;
        let mut cut = None;
        loop {
            if patience.left(self.now()).is_zero() {
                return Err(self.given_up(&patience, &question.url, attempts));
            }
            tries += 1;
            let login = if needs_login { self.open_login()? } else { 0 };
            let attempt = patience.attempt(self.now());
            let trouble = match self.follow(question, &patience) {
                // What ends in the middle of XML and is the same twice is what the server has.
                Ok((url, reply)) if question.purpose == Purpose::Page && ends_early(&reply.body) => {
                    if cut.as_ref() == Some(&reply.body) {
                        return Ok((url, reply));
                    }
                    cut = Some(reply.body);
                    let detail = "it ends in the middle of the document";
                    Trouble { sent: true, ..Trouble::new(&url, FaultKind::Truncated, detail) }
                }
                Ok(found) => {
                    lock(&self.budget).refill();
                    patience.answered(&attempt, self.now());
                    return Ok(found);
                }
                Err(trouble) => trouble,
            };
            attempts += u32::from(trouble.sent);
            patience.note(Failure { url: trouble.url.clone(), words: trouble.words() });
            // The budget keeps a site with many forbidden pages from costing a login for each.
            if trouble.expired && needs_login && !renewed && lock(&self.budget).take() {
                renewed = true;
                self.renew_login(login)?;
                continue;
            }
            let trouble = match self.wait_for(trouble, tries, question.attempts) {
                Ok((trouble, wait)) => {
                    if trouble.wait == Some(wait) {
                        patience.excuse_asked(wait);
                    }
                    if wait >= patience.left(self.now()) {
                        return Err(self.given_up(&patience, &question.url, attempts));
                    }
                    match self.pause(&trouble, wait) {
                        Ok(()) => continue,
                        Err(Cancelled) => Trouble { kind: FaultKind::Cancelled, ..trouble },
                    }
                }
                Err(trouble) => trouble,
            };
            return Err(self.fault(trouble, attempts));
        }
    }

    /// How long to wait before asking again; or the trouble to report, if it is not to be
    /// asked again.
    fn wait_for(&self, trouble: Trouble, tries: u32, most: u32) -> Result<(Trouble, Duration), Trouble> {
        let retries = &self.access.retries;
        let temporary = match trouble.kind {
            FaultKind::Status(status) => status_is_temporary(status),
            // A name that is unknown twice is misspelt.
            FaultKind::Unresolved => tries < 2,
            FaultKind::Cancelled => false,
            kind => Fault::new(kind, "", "").is_temporary(),
        };
        if !temporary || trouble.last {
            return Err(trouble);
        }
        if let Some(wait) = trouble.wait.filter(|wait| *wait > retries.longest_wait) {
            let until = after(self.shared.options.clock.now(), wait);
            return Err(Trouble { kind: FaultKind::RetryLater(until), ..trouble.with_status_in_detail() });
        }
        if tries >= most || !lock(&self.budget).take() {
            return Err(trouble);
        }
        let asked = trouble.wait.filter(|wait| !wait.is_zero());
        let wait = asked.unwrap_or_else(|| backoff(retries, tries, &mut lock(&self.random)));
        Ok((trouble, wait))
    }

    /// The patience with the source is used up: says for how long it was tried, and what came of it.
    fn given_up(&self, patience: &Patience, url: &Url, attempts: u32) -> Fault {
        let kind = FaultKind::GivenUp(patience.lasted(self.now()));
        let last = patience.last().unwrap_or(Failure { url: url.to_string(), words: String::new() });
        let fault = self.refused(&last.url, (kind, last.words));
        Fault { attempts, ..fault }
    }

    /// Waits before asking again. If the host wants it so, everybody waits.
    fn pause(&self, trouble: &Trouble, wait: Duration) -> Result<(), Cancelled> {
        let clock = self.shared.options.clock.as_ref();
        self.counters.retry();
        self.counters.wait(wait);
        let url = Url::parse(&trouble.url).ok().filter(|_| trouble.wait.is_some());
        if let Some(host) = url.as_ref().and_then(Url::host_str) {
            self.shared.hosts.pause(host, wait, clock);
        }
        let url = self.secrets.hide(&trouble.url);
        tracing::debug!(url, kind = trouble.kind.code(), ?wait, "asking again");
        clock.wait(wait, &self.cancel)
    }

    fn retry_after(&self, reply: &Reply) -> Option<Duration> {
        retry_after(reply.header("retry-after")?, reply.header("date"), self.shared.options.clock.now())
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// A fault that is found before anything is asked.
    pub(super) fn refused(&self, url: &str, (kind, detail): Refusal) -> Fault {
        Fault::new(kind, self.secrets.hide(&without_userinfo(url)), self.secrets.hide(&detail))
    }

    fn fault(&self, trouble: Trouble, attempts: u32) -> Fault {
        let fault = self.refused(&trouble.url, (trouble.kind, trouble.detail));
        Fault { attempts, ..fault }
    }
}

impl Transport for Session {
    fn get(&self, url: &str) -> Result<Answer, Fault> {
        self.page(url, None, None)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.logout();
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who we are, and whom to write to.
fn user_agent(access: &Access) -> Result<HeaderValue, String> {
    let product = concat!("pinakes/", env!("CARGO_PKG_VERSION"));
    let text = match &access.contact {
        Some(contact) => format!("{product} (+{contact})"),
        None => product.to_owned(),
    };
    let wrong = |_| format!("`contact` cannot be sent in a header: `{}`", text.escape_debug());
    HeaderValue::from_str(&text).map_err(wrong)
}
