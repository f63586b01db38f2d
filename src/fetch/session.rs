//! One source's dealings with the network, under the rules of its [`Access`].
//!
//! A question is asked until it is answered, until asking again makes no sense, or until the
//! patience the settings allow is used up. Each attempt follows redirects by itself, and every
//! hop passes the guard, the rules for robots and the host's queue like the first. Credentials
//! go to the source's own origin; a hop to another one simply has none.

use super::access::Access;
use super::clock::{Cancelled, TICK};
use super::coding::{ACCEPTED, Keep};
use super::cookie::Jar;
use super::counts::{Counters, Counts};
use super::ending::ends_early;
use super::fault::{Fault, FaultKind, status_is_temporary};
use super::fetcher::Shared;
use super::guard::{self, Pins, Refusal};
use super::login::Identity;
use super::retry::{Budget, Random, after, backoff, retry_after};
use super::robots::{self, Rules};
use super::secret::{Secret, Secrets, without_userinfo};
use super::wire::{self, Reply};
use super::{Answer, Transport, Validators};
use memchr::memmem;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Request};
use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use url::{Origin, Url};

/// Of a page that is an error, this much is kept to be shown.
const EXCERPT: usize = 2000;
/// Of the page after a login, this much is looked at.
const LOGIN_PAGE: usize = 256 << 10;
/// Attempts for robots.txt; without it no page of the host is fetched, so it is worth a few.
const RULES_ATTEMPTS: u32 = 3;
const MOST_REDIRECTS: usize = 10;

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
    random: Mutex<Random>,
    cancel: Arc<AtomicBool>,
}

/// What is asked, and what for.
pub(super) struct Question<'a> {
    pub(super) url: Url,
    pub(super) purpose: Purpose,
    pub(super) attempts: u32,
    /// Sent as a form.
    pub(super) form: Option<&'a [(String, Secret)]>,
    pub(super) validators: Option<&'a Validators>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Page,
    Rules,
    /// Opening or closing a session.
    Login,
}

/// Why one attempt failed.
struct Trouble {
    kind: FaultKind,
    url: String,
    detail: String,
    /// How long the server asks us to wait.
    wait: Option<Duration>,
    /// Whether anything was sent.
    sent: bool,
    /// Whether it has been asked again often enough already.
    last: bool,
    /// Whether the session at the source has ended.
    expired: bool,
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
        self.page(url, Some(validators))
    }

    /// What the origin of `url` asks of robots, whether or not this session heeds it.
    pub fn robots(&self, url: &str) -> Result<Arc<Rules>, Fault> {
        let address = guard::parse(url).map_err(|refusal| self.refused(url, refusal))?;
        self.check(&address).and_then(|()| self.rules(&address)).map_err(|trouble| self.fault(trouble, 0))
    }

    /// What was done so far. Any thread may look.
    pub fn counts(&self) -> Counts {
        self.counters.read()
    }

    /// Closes the session at the source, if one was opened. Dropping does the same in silence.
    pub fn close(self) -> Result<(), Fault> {
        self.logout()
    }

    fn page(&self, url: &str, validators: Option<&Validators>) -> Result<Answer, Fault> {
        let address = guard::parse(url).map_err(|refusal| self.refused(url, refusal))?;
        let attempts = self.access.retries.attempts;
        let question = Question { url: address, purpose: Purpose::Page, attempts, form: None, validators };
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
        // How often it was tried, and how often something was sent for it.
        let (mut tries, mut attempts) = (0, 0);
        let mut renewed = false;
        let mut cut = None;
        loop {
            tries += 1;
            let login = if needs_login { self.open_login()? } else { 0 };
            let trouble = match self.follow(question) {
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
                    return Ok(found);
                }
                Err(trouble) => trouble,
            };
            attempts += u32::from(trouble.sent);
            // The budget keeps a site with many forbidden pages from costing a login for each.
            if trouble.expired && needs_login && !renewed && lock(&self.budget).take() {
                renewed = true;
                self.renew_login(login)?;
                continue;
            }
            let trouble = match self.patience(trouble, tries, question.attempts) {
                Ok((trouble, wait)) => match self.pause(&trouble, wait) {
                    Ok(()) => continue,
                    Err(Cancelled) => Trouble { kind: FaultKind::Cancelled, ..trouble },
                },
                Err(trouble) => trouble,
            };
            return Err(self.fault(trouble, attempts));
        }
    }

    /// How long to wait before asking again; or the trouble to report, if it is not to be
    /// asked again.
    fn patience(&self, trouble: Trouble, tries: u32, most: u32) -> Result<(Trouble, Duration), Trouble> {
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

    /// One attempt: from hop to hop until something is no redirect.
    fn follow(&self, question: &Question<'_>) -> Result<(Url, Reply), Trouble> {
        let mut url = question.url.clone();
        let mut form = question.form;
        let mut left = self.access.timeouts.total;
        for hop in 0..=self.access.limits.redirects.min(MOST_REDIRECTS) {
            let reached = |trouble: Trouble| Trouble { sent: trouble.sent || hop > 0, ..trouble };
            let reply = self.hop(&url, form, question, &mut left).map_err(reached)?;
            self.keep_cookies(&url, &reply);
            let Some(location) = redirect(&reply) else {
                return self.judge(url, reply, question);
            };
            let next = guard::join(&url, location);
            let next = next.map_err(|refusal| Trouble { sent: true, ..Trouble::of(&url, refusal) })?;
            let refuse =
                |kind, detail: &str| Err(Trouble { sent: true, ..Trouble::new(&next, kind, detail) });
            if url.scheme() == "https" && next.scheme() == "http" && !self.access.allow_downgrade {
                return refuse(FaultKind::Downgrade, "");
            }
            if question.purpose == Purpose::Page && self.identity.is_form(&next) {
                let trouble = Trouble::new(&url, FaultKind::Login, "it redirects to the login");
                return Err(Trouble { sent: true, expired: true, ..trouble });
            }
            if form.is_some() {
                match reply.status {
                    307 | 308 if next.origin() != url.origin() => {
                        return refuse(FaultKind::Login, "the login would be sent to another origin");
                    }
                    307 | 308 => {}
                    _ => form = None,
                }
            }
            url = next;
        }
        let detail = format!("more than {} redirects", self.access.limits.redirects.min(MOST_REDIRECTS));
        Err(Trouble { sent: true, ..Trouble::new(&question.url, FaultKind::TooManyRedirects, &detail) })
    }

    /// One request, after everything that must be asked before it.
    fn hop(
        &self,
        url: &Url,
        form: Option<&[(String, Secret)]>,
        question: &Question<'_>,
        left: &mut Duration,
    ) -> Result<Reply, Trouble> {
        self.check(url)?;
        let mut delay = self.access.delay;
        if question.purpose == Purpose::Page && self.access.respect_robots {
            let rules = self.rules(url)?;
            if !rules.allow(url) {
                return Err(Trouble::new(url, FaultKind::RobotsDenied, &rules.reason()));
            }
            delay = delay.max(rules.delay().unwrap_or_default());
        }
        let stopped = |Cancelled| Trouble::new(url, FaultKind::Cancelled, "");
        let clock = self.shared.options.clock.as_ref();
        let host = url.host_str().unwrap_or_default();
        let permit = self.shared.hosts.enter(host, self.access.concurrency, delay, clock, &self.cancel);
        let permit = permit.map_err(stopped)?;
        if !permit.waited.is_zero() {
            self.counters.wait(permit.waited);
        }
        let keep = |status: u16| match question.purpose {
            _ if !(200..300).contains(&status) => Keep::Beginning(EXCERPT),
            Purpose::Page => Keep::Whole,
            Purpose::Rules => Keep::Beginning(robots::LONGEST),
            Purpose::Login => Keep::Beginning(LOGIN_PAGE),
        };
        let request = self.request(url, form, question);
        let Access { timeouts, limits, .. } = &self.access;
        let begin = Instant::now();
        let exchange = wire::exchange(&self.client, request, timeouts, limits, *left, keep, &self.counters);
        let outcome = self.run(exchange);
        *left = left.saturating_sub(begin.elapsed());
        let outcome = outcome.map_err(stopped)?;
        if let Ok(reply) = &outcome {
            let (status, bytes) = (reply.status, reply.body.len());
            tracing::debug!(url = self.secrets.hide(url.as_str()), status, bytes, "fetched");
        }
        outcome.map_err(|refusal| Trouble { sent: true, ..Trouble::of(url, refusal) })
    }

    fn request(&self, url: &Url, form: Option<&[(String, Secret)]>, question: &Question<'_>) -> Request {
        let mut request = Request::new(if form.is_some() { Method::POST } else { Method::GET }, url.clone());
        let headers = request.headers_mut();
        headers.insert(header::USER_AGENT, self.user_agent.clone());
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(ACCEPTED));
        set(headers, header::ACCEPT, self.access.accept.as_deref());
        if let Some(validators) = question.validators {
            set(headers, header::IF_NONE_MATCH, validators.etag.as_deref());
            set(headers, header::IF_MODIFIED_SINCE, validators.last_modified.as_deref());
        }
        if url.origin() == self.home && question.purpose == Purpose::Page {
            self.identity.sign(headers);
        }
        // The jar gives a cookie only to the origin it came from.
        if question.purpose != Purpose::Rules {
            if let Some(mut value) =
                lock(&self.jar).header(url).and_then(|text| HeaderValue::from_str(&text).ok())
            {
                value.set_sensitive(true);
                headers.insert(header::COOKIE, value);
            }
        }
        if let Some(fields) = form {
            let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
            headers.insert(header::CONTENT_TYPE, kind);
            let pairs = fields.iter().map(|(name, value)| (name.as_str(), value.reveal()));
            let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
            *request.body_mut() = Some(body.into());
        }
        request
    }

    /// Whether what came is what was asked for.
    fn judge(&self, url: Url, reply: Reply, question: &Question<'_>) -> Result<(Url, Reply), Trouble> {
        let wanted =
            (200..300).contains(&reply.status) || (reply.status == 304 && question.validators.is_some());
        let ours = question.purpose == Purpose::Page && url.origin() == self.home;
        if !wanted {
            let trouble = Trouble::new(&url, FaultKind::Status(reply.status), &excerpt(&reply.body));
            let expired = ours && self.identity.is_over(reply.status);
            return Err(Trouble { wait: self.retry_after(&reply), sent: true, expired, ..trouble });
        }
        let marked = |marker: &str| memmem::find(&reply.body, marker.as_bytes()).is_some();
        if ours && self.identity.marker().is_some_and(marked) {
            let trouble = Trouble::new(&url, FaultKind::Login, "the page says that the session has ended");
            return Err(Trouble { sent: true, expired: true, ..trouble });
        }
        Ok((url, reply))
    }

    /// Lets an address pass, or says why it may not be connected to.
    fn check(&self, url: &Url) -> Result<(), Trouble> {
        let resolve = |host: &str| self.resolve(host);
        self.pins
            .check(url, self.shared.options.clock.elapsed(), resolve)
            .map_err(|refusal| Trouble::of(url, refusal))
    }

    fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, Refusal> {
        let resolver = Arc::clone(&self.shared.options.resolver);
        let (name, time) = (host.to_owned(), self.access.timeouts.connect);
        // The operating system may take minutes over a dead name server.
        let lookup = async move {
            tokio::time::timeout(time, tokio::task::spawn_blocking(move || resolver.resolve(&name))).await
        };
        let wrong = |detail: String| (FaultKind::Unresolved, format!("`{host}`: {detail}"));
        match self.run(lookup) {
            Err(Cancelled) => Err((FaultKind::Cancelled, String::new())),
            Ok(Err(_)) => Err(wrong(format!("no answer within {} s", time.as_secs_f64()))),
            Ok(Ok(Err(error))) => Err(wrong(error.to_string())),
            Ok(Ok(Ok(found))) => found.map_err(|error| wrong(error.to_string())),
        }
    }

    /// The rules of the origin of `url`, asked for once a day.
    fn rules(&self, url: &Url) -> Result<Arc<Rules>, Trouble> {
        let ask = || {
            let mut address = url.clone();
            address.set_path("/robots.txt");
            address.set_query(None);
            let attempts = RULES_ATTEMPTS.min(self.access.retries.attempts);
            let question =
                Question { url: address, purpose: Purpose::Rules, attempts, form: None, validators: None };
            match self.ask(&question) {
                Ok((_, reply)) => Ok((Rules::parse(&reply.body), true)),
                Err(fault) => match fault.kind {
                    FaultKind::Status(status) => Ok((Rules::unavailable(status), status < 500)),
                    // RFC 9309, 2.3.1.2: a file that redirects do not lead to is not there.
                    FaultKind::TooManyRedirects
                    | FaultKind::PrivateAddress
                    | FaultKind::Scheme
                    | FaultKind::Downgrade => Ok((Rules::default(), false)),
                    _ => Err(fault),
                },
            }
        };
        let now = self.shared.options.clock.elapsed();
        let rules = self.shared.robots.rules(&url.origin().ascii_serialization(), now, ask);
        rules.map_err(|fault| Trouble {
            detail: fault.detail,
            url: fault.url,
            sent: fault.attempts > 0,
            last: true,
            ..Trouble::new(url, fault.kind, "")
        })
    }

    /// Drives a transfer, and drops it when the session is cancelled.
    fn run<F: Future>(&self, future: F) -> Result<F::Output, Cancelled> {
        let cancelled = || self.cancel.load(Ordering::Relaxed);
        if cancelled() {
            return Err(Cancelled);
        }
        let driven = async {
            // Connections are looked after only while somebody asks. So the one that was closed
            // since is noticed before the request, and the one just used is put back after it.
            tokio::task::yield_now().await;
            let mut future = std::pin::pin!(future);
            loop {
                match tokio::time::timeout(TICK, future.as_mut()).await {
                    Ok(output) => {
                        tokio::task::yield_now().await;
                        return Ok(output);
                    }
                    Err(_) if cancelled() => return Err(Cancelled),
                    Err(_) => {}
                }
            }
        };
        self.shared.block_on(driven).unwrap_or(Err(Cancelled))
    }

    fn keep_cookies(&self, url: &Url, reply: &Reply) {
        if url.origin() != self.home && !self.identity.is_at(&url.origin()) {
            return;
        }
        let now = self.shared.options.clock.now();
        for value in reply.headers.get_all(header::SET_COOKIE) {
            let Ok(text) = value.to_str() else { continue };
            if let Some(secret) = lock(&self.jar).set(url, text, now) {
                self.secrets.add(&secret);
            }
        }
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
        self.page(url, None)
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

impl Trouble {
    fn new(url: &Url, kind: FaultKind, detail: &str) -> Self {
        Self {
            kind,
            url: url.to_string(),
            detail: detail.to_owned(),
            wait: None,
            sent: false,
            last: false,
            expired: false,
        }
    }

    fn of(url: &Url, (kind, detail): Refusal) -> Self {
        Self::new(url, kind, &detail)
    }

    fn with_status_in_detail(self) -> Self {
        match self.kind {
            FaultKind::Status(status) => Self { detail: format!("it answered {status}"), ..self },
            _ => self,
        }
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

fn set(headers: &mut HeaderMap, name: HeaderName, text: Option<&str>) {
    if let Some(value) = text.and_then(|text| HeaderValue::from_str(text).ok()) {
        headers.insert(name, value);
    }
}

fn redirect(reply: &Reply) -> Option<&[u8]> {
    let redirects = matches!(reply.status, 301 | 302 | 303 | 307 | 308);
    redirects.then(|| reply.headers.get(header::LOCATION)).flatten().map(HeaderValue::as_bytes)
}

/// The beginning of an error page, as text.
fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    text.chars()
        .map(|c| if c.is_control() && c != '\n' { ' ' } else { c })
        .collect::<String>()
        .trim()
        .to_owned()
}
