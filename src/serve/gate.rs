//! What every request passes, on the way in and on the way out.
//!
//! On the way in: the name it is asked by, the length of the URL, the token, who may be here, the
//! announced length of the body, room for it if it is large, the body, a turn if it asks for a whole
//! graph, a slot. So a handler
//! has the whole request, and a client that sends a byte now and then keeps nobody from being
//! answered: its connection counts as waiting, and it has no slot.
//! On the way out: the slot, which is for work and not for sending, room for the answer until it is
//! taken, and the headers that every answer has. A handler that panics is an answer with status 500.

#[cfg(test)]
mod tests;

use super::access::{Holder, Role};
use super::answer::OnDisk;
use super::connections::Unsent;
use super::cors::Grant;
use super::limits::BodyLimit;
use super::listener::Peer;
use super::log::{Entry, Logged};
use super::problem::Problem;
use super::{Site, routes};
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Headers that a proxy adds: the peer is the proxy, and who asks is somewhere else.
const FORWARDED: &[&str] = &["forwarded", "x-forwarded-for", "x-real-ip", "via"];
/// No script, nothing from elsewhere, in nobody's frame.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Answers up to this length do not count among those that wait to be taken.
const SHORT: u64 = 64 * 1024;

/// The body of a request, all of it. The gate leaves it with the request.
#[derive(Clone)]
pub struct Whole(pub Bytes);

/// An answer that pages of other origins may read although the method was POST.
#[derive(Clone, Copy)]
pub struct Readable;

pub async fn pass(State(site): State<Arc<Site>>, mut request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = request.method().clone();
    let grant = site.cors.grant(request.headers());
    let mut entry = Entry::new(Arc::clone(&site), method.clone(), route);
    let mut response = match admit(&site, &mut request, &mut entry) {
        Err(problem) => problem.into_response(),
        Ok(_) if method == Method::OPTIONS => preflight(entry.route(), &grant),
        Ok(limit) => match take_in(&site, &mut request, &mut entry, limit).await {
            Err(problem) => problem.into_response(),
            Ok(()) => run(&site, next, request).await,
        },
    };
    entry.slots.clear();
    if let Err(problem) = let_out(&response, &entry) {
        site.metrics.turned_away();
        response = problem.into_response();
        // So little always has room.
        let _ = let_out(&response, &entry);
    }
    dress(&mut response, &method, entry.route(), &grant);
    entry.status = response.status().as_u16();
    response.map(|body| Body::new(Logged::new(body, entry)))
}

/// What can be told from the head.
fn admit(site: &Site, request: &mut Request, entry: &mut Entry) -> Result<BodyLimit, Problem> {
    let route = entry.route();
    let is_at_the_machine = peer(request).is_some_and(|peer| peer.address.is_loopback());
    let near = routes::is_admin(route) && is_at_the_machine;
    site.hosts.check(request.uri(), request.version(), request.headers(), near)?;
    let uri = request.uri();
    let length = uri.path().len() + uri.query().map_or(0, str::len);
    if length > site.limits.uri_length {
        let message = format!("the address is longer than {} bytes; send it by POST", site.limits.uri_length);
        return Err(Problem::new(StatusCode::URI_TOO_LONG, message));
    }
    if routes::is_admin(route) && !is_near(site, request) {
        return Err(Problem::not_found());
    }
    let holder = site.access.holder(request.uri(), request.headers()).inspect_err(|problem| {
        if problem.status == StatusCode::UNAUTHORIZED {
            site.metrics.token_refused();
        }
    })?;
    if !is_open(route) {
        holder.at_least(site.settings.read)?;
    }
    let limit = BodyLimit {
        size: site.limits.body(route, holder.role),
        idle: site.limits.idle_time,
        total: site.limits.body_time,
    };
    if announced(request.headers()).is_some_and(|length| length > limit.size as u64) {
        return Err(Problem::too_large(limit.size as u64));
    }
    entry.role = holder.role;
    request.extensions_mut().insert::<Holder>(holder);
    Ok(limit)
}

/// The body, and a slot. Until it has both, the connection may be closed for another one.
async fn take_in(
    site: &Site,
    request: &mut Request,
    entry: &mut Entry,
    limit: BodyLimit,
) -> Result<(), Problem> {
    if matches!(*request.method(), Method::POST | Method::PUT | Method::PATCH) {
        let room = room(site, site.limits.room(announced(request.headers()), limit.size)).await?;
        let body = std::mem::take(request.body_mut());
        let whole = limit.read(body).await?;
        // Room that was taken for what did not come is for others.
        entry.slots.extend(room.and_then(|mut room| room.split(whole.len().min(room.num_permits()))));
        request.extensions_mut().insert(Whole(whole));
    }
    if routes::is_graph(entry.route()) && matches!(*request.method(), Method::GET | Method::HEAD) {
        let graph = turn(&site.graphs, site.limits.query(entry.role).time / 2).await;
        entry.slots.push(graph.ok_or_else(|| busy(site, "as many graphs are read as can be"))?);
    }
    entry.busy = peer(request).map(|peer| peer.place.work());
    if !is_open(entry.route()) {
        let slot = Arc::clone(&site.slots).try_acquire_owned();
        entry.slots.push(slot.map_err(|_| busy(site, "the server has as many requests as it can work on"))?);
    }
    Ok(())
}

/// Room for a body of so many bytes, before a byte of it is asked for.
async fn room(site: &Site, bytes: usize) -> Result<Option<OwnedSemaphorePermit>, Problem> {
    if bytes == 0 {
        return Ok(None);
    }
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    let room = Arc::clone(&site.bodies).acquire_many_owned(bytes);
    match timeout(site.limits.room_time, room).await {
        Ok(Ok(room)) => Ok(Some(room)),
        _ => {
            let busy = busy(site, "as many large documents are being sent as there is room for");
            // The body is not waited for.
            Err(busy.with(header::CONNECTION, HeaderValue::from_static("close")))
        }
    }
}

/// Waits for a turn, for some time.
async fn turn(turns: &Arc<Semaphore>, time: Duration) -> Option<OwnedSemaphorePermit> {
    timeout(time, Arc::clone(turns).acquire_owned()).await.ok()?.ok()
}

fn busy(site: &Site, message: &str) -> Problem {
    site.metrics.turned_away();
    Problem::busy(message, 1)
}

/// Room for a whole answer until its client has taken it. What a socket takes at once needs none.
fn let_out(response: &Response, entry: &Entry) -> Result<(), Problem> {
    let Some(busy) = &entry.busy else { return Ok(()) };
    let length = response.body().size_hint().lower();
    let unsent = match response.extensions().get::<OnDisk>() {
        _ if length <= SHORT => Unsent::default(),
        Some(OnDisk) => Unsent { memory: 0, disk: length },
        None => Unsent { memory: length, disk: 0 },
    };
    if busy.send(unsent) {
        return Ok(());
    }
    Err(Problem::busy("too many answers wait to be taken; ask again, or for less", 5))
}

/// What is answered to everybody at any time.
fn is_open(route: &str) -> bool {
    matches!(route, routes::HEALTH | routes::STYLE | routes::METRICS)
}

fn peer(request: &Request) -> Option<&Peer> {
    request.extensions().get()
}

/// Whether somebody asks who sits at the machine, or who may use the listener for administration.
fn is_near(site: &Site, request: &Request) -> bool {
    let Some(peer) = peer(request) else { return false };
    let proxied = FORWARDED.iter().any(|name| request.headers().contains_key(*name));
    peer.admin || (site.settings.admin_bind.is_none() && peer.address.is_loopback() && !proxied)
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

async fn run(site: &Site, next: Next, request: Request) -> Response {
    let mut answer = Box::pin(next.run(request));
    let caught = poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(response)) => Poll::Ready(Ok(response)),
        Err(panic) => Poll::Ready(Err(panic)),
    });
    caught.await.unwrap_or_else(|panic| {
        site.metrics.panicked();
        tracing::error!(panic = said(panic.as_ref()), "a request failed inside the server");
        let message = "the server failed at this request; its log says why";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, message).into_response()
    })
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// What a browser asks before it lets a page of another origin read.
fn preflight(route: &str, grant: &Grant) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(header::ALLOW, HeaderValue::from_static(routes::methods(route)));
    grant.permit(headers, route);
    response
}

fn dress(response: &mut Response, method: &Method, route: &str, grant: &Grant) {
    let reading = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    let readable = reading || response.extensions().get::<Readable>().is_some();
    let misdirected = response.status() == StatusCode::MISDIRECTED_REQUEST;
    let headers = response.headers_mut();
    grant.mark(headers, readable && !routes::is_admin(route) && !misdirected);
    let set: [(HeaderName, &'static str); 4] = [
        (header::SERVER, "pinakes"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ];
    for (name, value) in set {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// Whoever may not do this is told so before anything is read.
pub fn for_writers(site: &Site, holder: &Holder) -> Result<(), Problem> {
    if site.settings.read_only {
        return Err(Problem::forbidden("this server is read-only"));
    }
    holder.at_least(Role::Writer)
}
