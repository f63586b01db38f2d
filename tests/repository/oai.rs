//! The base URL: from a request over HTTP to a response, right or wrong.

use super::answer::Answer;
use super::clock::http_date;
use super::document::Content;
use super::door::{Door, Refused};
use super::fault::Fault;
use super::log::Writing;
use super::raw::misbehave;
use super::reply::{form, plain, redirect, xml};
use super::request::{Verb, argument};
use super::server::{Asked, By, Here, Shared};
use super::spoil;
use super::wire::Line;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State as Of};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::{SignedDuration, Timestamp};
use std::io::Write;

/// Answers at the base URL.
pub async fn oai(Of(shared): Here, ConnectInfo(line): By, request: Request) -> Response {
    let asked = Asked::read(request).await;
    let writing = asked.log(&shared, &line, asked.arguments.clone());
    let response = answer(&shared, &line, &asked, &writing).await;
    writing.note(|entry| {
        entry.status = if entry.status == 0 { response.status().as_u16() } else { entry.status };
    });
    response
}

async fn answer(shared: &Shared, line: &Line, asked: &Asked, writing: &Writing<'_>) -> Response {
    if !shared.guard.admits(&asked.headers) {
        return turned_away(shared);
    }
    if let Some(page) = shared.prerendered.as_ref().and_then(|pages| pages.page(&asked.arguments)) {
        writing.note(|entry| {
            entry.page = Some(page.number);
            entry.records = page.records;
            entry.sent = page.body.len() as u64;
        });
        return xml(Body::from(page.body.clone()));
    }
    let verb = argument(&asked.arguments, "verb").and_then(Verb::named);
    let (request, faults) = match verb {
        Some(verb) => shared.state().plan.next(verb),
        None => (0, Vec::new()),
    };
    writing.note(|entry| entry.faults = faults.iter().map(|fault| fault.name().to_owned()).collect());
    if verb == Some(Verb::ListRecords) {
        shared.gate.pass(request).await;
    }
    let delay = shared.state().settings.delay;
    if verb.is_some_and(Verb::is_list) && !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    if let Some(response) = faults.iter().find_map(|fault| instead_of_an_answer(shared, *fault, &asked.query))
    {
        return response;
    }
    let (answer, trickle) = {
        let mut state = shared.state();
        (state.answer(&asked.arguments, &faults), state.settings.trickle)
    };
    if answer.fails {
        return plain(StatusCode::INTERNAL_SERVER_ERROR, "NullPointerException");
    }
    let (kind, body) = spoil::body(answer.document.write(), &faults);
    let lost = faults.iter().any(|fault| fault.loses_the_page());
    note_answer(shared, writing, &answer, lost);
    if let Some(fault) = faults.iter().find(|fault| fault.is_raw()) {
        let socket = line.socket.as_ref().unwrap_or_else(|| panic!("{} needs a plain socket", fault.name()));
        misbehave(socket, *fault, &body, trickle, writing).await;
        return plain(StatusCode::OK, "nobody reads this");
    }
    let response = encoded(shared, &asked.headers, kind, body, &faults);
    writing.note(|entry| entry.sent = response.1);
    response.0
}

fn note_answer(shared: &Shared, writing: &Writing<'_>, answer: &Answer, lost: bool) {
    let state = shared.state();
    let entries = answer.document.content.as_ref().map_or(&[][..], |Content { entries, .. }| entries);
    let records: Vec<_> = entries.iter().filter(|entry| entry.number.is_some() && !lost).collect();
    writing.note(|entry| {
        entry.listing = answer.listing;
        entry.page = answer.page;
        entry.error = answer.document.errors.first().map(|error| error.code.to_owned());
        entry.records = records.len();
        entry.deleted = records.iter().filter(|record| record.deleted).count();
        entry.identifiers = records
            .iter()
            .filter_map(|record| record.number)
            .map(|number| state.holdings.item(number).identifier())
            .collect();
    });
}

/// Answers that have nothing to do with what was asked.
fn instead_of_an_answer(shared: &Shared, fault: Fault, query: &str) -> Option<Response> {
    let busy = |retry_after: &str| {
        let builder = Response::builder().status(StatusCode::SERVICE_UNAVAILABLE);
        builder.header(header::RETRY_AFTER, retry_after).body(Body::from("busy")).unwrap()
    };
    Some(match fault {
        Fault::RetryAfter => busy("2"),
        // The system's clock and not the repository's: `Date` is from there too.
        Fault::RetryAfterDate => busy(&http_date(Timestamp::now() + SignedDuration::from_secs(2))),
        Fault::RetryAfterHuge => busy("99999999"),
        Fault::TooManyRequests => plain(StatusCode::TOO_MANY_REQUESTS, "too many requests"),
        Fault::ServerError => plain(StatusCode::INTERNAL_SERVER_ERROR, "something went wrong"),
        Fault::NotFound => plain(StatusCode::NOT_FOUND, "nothing here"),
        Fault::RedirectLoop => redirect("/loop/a"),
        Fault::RedirectToFile => redirect("file:///etc/passwd"),
        Fault::RedirectToLoopback => {
            let elsewhere = shared.state().settings.redirect_to.clone();
            redirect(elsewhere.as_deref().unwrap_or("http://127.0.0.1:19999/canary"))
        }
        Fault::RedirectSchemeDowngrade => redirect(&format!("{}?{query}", shared.plain_url)),
        _ => return None,
    })
}

/// The response, compressed where that was asked for, and the length of its body.
fn encoded(
    shared: &Shared,
    headers: &HeaderMap,
    kind: &'static str,
    body: Vec<u8>,
    faults: &[Fault],
) -> (Response, u64) {
    let accepted = headers
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|coding| coding.split(';').next().is_some_and(|name| name.trim() == "gzip"));
    let truncated = faults.contains(&Fault::TruncatedGzip);
    let compresses = truncated || accepted && shared.state().settings.gzip;
    let says_gzip = compresses || faults.contains(&Fault::WrongGzip);
    let mut body = if compresses { gzip(&body) } else { body };
    if truncated {
        body.truncate(body.len() / 2);
    }
    let length = body.len() as u64;
    let mut builder = Response::builder().header(header::CONTENT_TYPE, kind);
    if says_gzip {
        builder = builder.header(header::CONTENT_ENCODING, "gzip");
    }
    (builder.body(Body::from(body)).unwrap(), length)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn turned_away(shared: &Shared) -> Response {
    let unauthorized = |scheme: &str| {
        Response::builder()
            .status(StatusCode::UNAUTHORIZED)
            .header(header::WWW_AUTHENTICATE, scheme)
            .body(Body::from("who are you?"))
            .unwrap()
    };
    match shared.guard.door() {
        Door::Form { refused: Refused::Redirected, .. } => redirect("/login"),
        Door::Form { refused: Refused::ShownTheForm, .. } => form(StatusCode::OK),
        Door::Form { refused: Refused::Unauthorized, .. } => form(StatusCode::UNAUTHORIZED),
        Door::Bearer { .. } | Door::Token { .. } => unauthorized("Bearer realm=\"repository\""),
        Door::Basic { .. } | Door::Open => unauthorized("Basic realm=\"repository\""),
    }
}
