//! One request and its answer, by reqwest.
//!
//! The client is told to do nothing of its own accord: no redirects, no proxies from the
//! environment, no decompression, no retries, no look-ups. It connects to what [`Pins`] holds.
//! The answer is read piece by piece, so that every limit is met before the memory is spent.

use super::access::{Limits, Timeouts};
use super::coding::{Keep, decode};
use super::counts::Counters;
use super::fault::FaultKind;
use super::guard::{Pins, Refusal};
use reqwest::header::{CONTENT_ENCODING, HeaderMap};
use reqwest::{Client, Request, Response};
use std::error::Error;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Idle connections are kept for the next page of the same host.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// An answer, whatever its status.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    /// Decompressed.
    pub(super) body: Vec<u8>,
}

impl Reply {
    /// A header as text, if there is one and it is text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// A client that reaches only what is pinned.
pub(super) fn client(
    pins: Arc<Pins>,
    tls: rustls::ClientConfig,
    timeouts: &Timeouts,
    limits: &Limits,
) -> Result<Client, Refusal> {
    Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .dns_resolver(PinnedHosts(pins))
        .tls_backend_preconfigured(tls)
        .http1_only()
        .http1_max_headers(limits.headers)
        // Old servers fold long lines and misspell headers nobody reads.
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .http1_ignore_invalid_headers_in_responses(true)
        .connect_timeout(timeouts.connect)
        .pool_idle_timeout(KEEP_ALIVE)
        .build()
        .map_err(|error| (FaultKind::Settings, chain(&error)))
}

/// Trust in the certificates of the system, checked without C beyond ring's own.
pub(super) fn tls(roots: &[Vec<u8>]) -> Result<rustls::ClientConfig, Refusal> {
    let wrong = |error: rustls::Error| (FaultKind::Settings, error.to_string());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(wrong)?;
    let extra: Vec<_> = roots.iter().map(|root| root.clone().into()).collect();
    let mut config = match rustls_platform_verifier::Verifier::new_with_extra_roots(extra, provider) {
        Ok(verifier) => builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)),
        // Without certificates http still works, and https says what is missing.
        Err(_) => builder.with_root_certificates(rustls::RootCertStore::empty()),
    }
    .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

struct PinnedHosts(Arc<Pins>);

impl reqwest::dns::Resolve for PinnedHosts {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let found = self.0.pinned(name.as_str());
        Box::pin(async move {
            match found {
                Some(addresses) => Ok(Box::new(addresses.into_iter()) as reqwest::dns::Addrs),
                None => Err("the host was not checked".into()),
            }
        })
    }
}

/// Sends a request and reads the answer within `total`. `keep` says, by the status, how much
/// of the page is wanted.
pub(super) async fn exchange(
    client: &Client,
    request: Request,
    timeouts: &Timeouts,
    limits: &Limits,
    total: Duration,
    keep: impl Fn(u16) -> Keep,
    counters: &Counters,
) -> Result<Reply, Refusal> {
    let end = Instant::now() + total;
    let within = |time: Duration| end.min(Instant::now() + time);
    let slow = |_| timeout(end, total, timeouts);
    counters.request();
    let sent = timeout_at(within(timeouts.connect + timeouts.idle), client.execute(request));
    let mut response = sent.await.map_err(slow)?.map_err(|error| refusal(&error))?;
    check_headers(response.headers(), limits)?;
    let keep = keep(response.status().as_u16());
    let mut received = Vec::with_capacity(announced(&response, keep, limits)?);
    loop {
        let next = timeout_at(within(timeouts.idle), response.chunk());
        let Some(chunk) = next.await.map_err(slow)?.map_err(|error| refusal(&error))? else { break };
        counters.received(chunk.len());
        received.extend_from_slice(&chunk);
        match keep {
            Keep::Whole if received.len() > limits.body => return Err(too_large(limits)),
            Keep::Beginning(most) if received.len() >= most => break,
            _ => {}
        }
    }
    let headers = std::mem::take(response.headers_mut());
    let coding = headers.get(CONTENT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut body = decode(received, coding, keep, limits)?;
    if let Keep::Beginning(most) = keep {
        body.truncate(most);
    }
    Ok(Reply { status: response.status().as_u16(), headers, body })
}

/// What to reserve for the size a server announces; what we would not take is refused unread.
fn announced(response: &Response, keep: Keep, limits: &Limits) -> Result<usize, Refusal> {
    let length = response.content_length().map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX));
    match keep {
        Keep::Whole if length > limits.body => Err(too_large(limits)),
        // The announcement may be a lie.
        Keep::Whole => Ok(length.min(1 << 20)),
        Keep::Beginning(most) => Ok(length.min(most).min(16 << 10)),
    }
}

fn too_large(limits: &Limits) -> Refusal {
    (FaultKind::TooLarge, format!("it is larger than {} bytes", limits.body))
}

fn check_headers(headers: &HeaderMap, limits: &Limits) -> Result<(), Refusal> {
    let size: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if size > limits.header {
        return Err((FaultKind::HeaderFlood, format!("{size} bytes of headers")));
    }
    Ok(())
}

fn timeout(end: Instant, total: Duration, timeouts: &Timeouts) -> Refusal {
    let detail = if Instant::now() >= end {
        format!("it was not complete after {:.0} s", total.as_secs_f64().max(1.0))
    } else {
        format!("nothing came for {} s", timeouts.idle.as_secs_f64())
    };
    (FaultKind::Timeout, detail)
}

/// What reqwest's error means, by the errors beneath it.
fn refusal(error: &reqwest::Error) -> Refusal {
    let mut kind = if error.is_timeout() {
        FaultKind::Timeout
    } else if error.is_connect() {
        FaultKind::Connect
    } else {
        FaultKind::Reset
    };
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<hyper::Error>() {
            if error.is_parse_too_large() {
                kind = FaultKind::HeaderFlood;
            } else if error.is_parse() {
                kind = FaultKind::Protocol;
            } else if error.is_incomplete_message() {
                kind = FaultKind::Truncated;
            }
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            if is_tls(error) {
                kind = FaultKind::Tls;
            } else if kind != FaultKind::Connect {
                kind = match error.kind() {
                    ErrorKind::UnexpectedEof => FaultKind::Truncated,
                    ErrorKind::TimedOut => FaultKind::Timeout,
                    ErrorKind::InvalidData | ErrorKind::InvalidInput => FaultKind::Protocol,
                    _ => FaultKind::Reset,
                };
            }
        }
        cause = error.source();
    }
    (kind, chain(error))
}

/// Errors of TLS come wrapped in errors of the connection, sometimes twice.
fn is_tls(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| {
        inner.is::<rustls::Error>() || inner.downcast_ref::<io::Error>().is_some_and(is_tls)
    })
}

/// The cause beneath all others, in its own words. Those above repeat the address.
fn chain(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
