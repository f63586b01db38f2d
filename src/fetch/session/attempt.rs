//! One attempt: the request, the requests its redirects ask for, and all that comes before each.
//!
//! Every hop passes the guard, the rules for robots and the host's queue like the first.
//! Credentials go to the source's own origin; a hop to another one simply has none.

use super::{Session, lock};
use crate::fetch::Validators;
use crate::fetch::access::Access;
use crate::fetch::clock::{Cancelled, TICK};
use crate::fetch::coding::{ACCEPTED, Keep};
use crate::fetch::fault::FaultKind;
use crate::fetch::guard::{self, Refusal};
use crate::fetch::patience::Patience;
use crate::fetch::robots::{self, Rules};
use crate::fetch::secret::Secret;
use crate::fetch::wire::{self, Reply};
use memchr::memmem;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Request};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use url::Url;

/// Of a page that is an error, this much is kept to be shown.
const EXCERPT: usize = 2000;
/// Of the page after a login, this much is looked at.
const LOGIN_PAGE: usize = 256 << 10;
/// Attempts for robots.txt; without it no page of the host is fetched, so it is worth a few.
const RULES_ATTEMPTS: u32 = 3;
const MOST_REDIRECTS: usize = 10;

/// What is asked, and what for.
pub(in crate::fetch) struct Question<'a> {
    pub(in crate::fetch) url: Url,
    pub(in crate::fetch) purpose: Purpose,
    pub(in crate::fetch) attempts: u32,
    /// What is sent; without it the page is only asked for.
    pub(in crate::fetch) body: Option<Body<'a>>,
    pub(in crate::fetch) validators: Option<&'a Validators>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fetch) enum Purpose {
    Page,
    Rules,
    /// Opening or closing a session.
    Login,
}

/// What a request brings along.
#[derive(Debug, Clone, Copy)]
pub(in crate::fetch) enum Body<'a> {
    /// The fields of a login.
    Form(&'a [(String, Secret)]),
    Text {
        media_type: &'static str,
        text: &'a str,
    },
}

/// Why one attempt failed.
pub(super) struct Trouble {
    pub(super) kind: FaultKind,
    pub(super) url: String,
    pub(super) detail: String,
    /// How long the server asks us to wait.
    pub(super) wait: Option<Duration>,
    /// Whether anything was sent.
    pub(super) sent: bool,
    /// Whether it has been asked again often enough already.
    pub(super) last: bool,
    /// Whether the session at the source has ended.
    pub(super) expired: bool,
}

impl Session {
    /// One attempt: from hop to hop until something is no redirect.
    pub(super) fn follow(
        &self,
        question: &Question<'_>,
        patience: &Patience,
    ) -> Result<(Url, Reply), Trouble> {
        let mut url = question.url.clone();
        let mut body = question.body;
        let mut left = self.access.timeouts.total;
        for hop in 0..=self.access.limits.redirects.min(MOST_REDIRECTS) {
            let reached = |trouble: Trouble| Trouble { sent: trouble.sent || hop > 0, ..trouble };
            let reply = self.hop(&url, body, question, &mut left, patience).map_err(reached)?;
            self.keep_cookies(&url, &reply);
            let Some(location) = redirect(&reply) else {
                return self.judge(url, reply, question);
            };
            if let Some(Body::Text { .. }) = body {
                // Who is sent a text was chosen by somebody, and nobody else was: where it leads to
                // does not matter.
                let detail = "it redirects, and what is sent to it goes nowhere else";
                let trouble = Trouble::new(&url, FaultKind::TooManyRedirects, detail);
                return Err(Trouble { sent: true, ..trouble });
            }
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
            match (body, reply.status) {
                (None | Some(Body::Text { .. }), _) => {}
                (Some(Body::Form(_)), 307 | 308) if next.origin() != url.origin() => {
                    return refuse(FaultKind::Login, "the login would be sent to another origin");
                }
                (Some(Body::Form(_)), 307 | 308) => {}
                (Some(Body::Form(_)), _) => body = None,
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
        body: Option<Body<'_>>,
        question: &Question<'_>,
        left: &mut Duration,
        patience: &Patience,
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
        let queued = clock.elapsed();
        let permit = self.shared.hosts.enter(host, self.access.concurrency, delay, clock, &self.cancel);
        let permit = permit.map_err(stopped)?;
        patience.excuse(clock.elapsed().saturating_sub(queued));
        if !permit.waited.is_zero() {
            self.counters.wait(permit.waited);
        }
        let keep = |status: u16| match question.purpose {
            _ if !(200..300).contains(&status) => Keep::Beginning(EXCERPT),
            Purpose::Page => Keep::Whole,
            Purpose::Rules => Keep::Beginning(robots::LONGEST),
            Purpose::Login => Keep::Beginning(LOGIN_PAGE),
        };
        let request = self.request(url, body, question);
        let Access { timeouts, limits, .. } = &self.access;
        let begin = Instant::now();
        let total = patience.left(clock.elapsed()).min(*left);
        let exchange = wire::exchange(&self.client, request, timeouts, limits, total, keep, &self.counters);
        let outcome = self.run(exchange);
        *left = left.saturating_sub(begin.elapsed());
        let outcome = outcome.map_err(stopped)?;
        if let Ok(reply) = &outcome {
            let (status, bytes) = (reply.status, reply.body.len());
            tracing::debug!(url = self.secrets.hide(url.as_str()), status, bytes, "fetched");
        }
        outcome.map_err(|refusal| Trouble { sent: true, ..Trouble::of(url, refusal) })
    }

    fn request(&self, url: &Url, body: Option<Body<'_>>, question: &Question<'_>) -> Request {
        let mut request = Request::new(if body.is_some() { Method::POST } else { Method::GET }, url.clone());
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
        if question.purpose != Purpose::Rules
            && let Some(mut value) =
                lock(&self.jar).header(url).and_then(|text| HeaderValue::from_str(&text).ok())
        {
            value.set_sensitive(true);
            headers.insert(header::COOKIE, value);
        }
        let (media_type, text) = match body {
            None => return request,
            Some(Body::Text { media_type, text }) => (media_type, text.to_owned()),
            Some(Body::Form(fields)) => {
                let pairs = fields.iter().map(|(name, value)| (name.as_str(), value.reveal()));
                let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
                ("application/x-www-form-urlencoded", form)
            }
        };
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        *request.body_mut() = Some(text.into());
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
    pub(super) fn check(&self, url: &Url) -> Result<(), Trouble> {
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
    pub(super) fn rules(&self, url: &Url) -> Result<Arc<Rules>, Trouble> {
        let ask = || {
            let mut address = url.clone();
            address.set_path("/robots.txt");
            address.set_query(None);
            let attempts = RULES_ATTEMPTS.min(self.access.retries.attempts);
            let question =
                Question { url: address, purpose: Purpose::Rules, attempts, body: None, validators: None };
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
}

impl Trouble {
    pub(super) fn new(url: &Url, kind: FaultKind, detail: &str) -> Self {
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

    /// What happened, for who is told later.
    pub(super) fn words(&self) -> String {
        let words = format!("the last attempt {}", self.kind.sentence());
        if self.detail.is_empty() { words } else { format!("{words}, {}", self.detail) }
    }

    pub(super) fn with_status_in_detail(self) -> Self {
        match self.kind {
            FaultKind::Status(status) => Self { detail: format!("it answered {status}"), ..self },
            _ => self,
        }
    }
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
