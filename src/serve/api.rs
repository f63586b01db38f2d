//! The API: search, suggestions, records, works, citations, a feed, as JSON or what others read.
//!
//! What is asked of a catalogue goes through [`Library`]; here is only what HTTP says of it:
//! parameters that there are ([`parameters`]) and within bounds ([`asked`]), answers with tags,
//! problems as JSON. `openapi.json` describes every route, and a test compares the two.

mod asked;
mod library;
mod parameters;
#[cfg(test)]
mod tests;

pub use asked::{Asked, FACETS, Order};
pub use library::{
    Because, CitationFormat, Count, Described, FacetCounts, Found, Hit, Library, Link, RecordLink, Standing,
    Suggested, Work, Written,
};

use super::answer::tagged;
use super::aside::Aside;
use super::problem::Problem;
use super::service::Refusal;
use crate::effort::Effort;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const JSON: &str = "application/json";
const OPEN_API: &str = include_str!("api/openapi.json");
/// Entries of a feed.
const FEED: usize = 50;

#[derive(Clone)]
struct Api {
    library: Arc<dyn Library>,
    aside: Aside,
    /// The base IRI of the catalogue, with its closing slash.
    base: Arc<str>,
}

/// The routes of the API, to be served beside the others. Each answer may take so long.
pub fn router(library: Arc<dyn Library>, base: &str, time: Duration) -> Router {
    let api = Api { library, aside: Aside::new(time), base: Arc::from(base) };
    let routes = routes().into_iter();
    let router = routes.fold(Router::new(), |router, (path, handler)| router.route(path, handler));
    router.route_layer(from_fn(parameters::check)).with_state(api)
}

fn routes() -> Vec<(&'static str, MethodRouter<Api>)> {
    vec![
        ("/api/search", get(search)),
        ("/api/suggest", get(suggest)),
        ("/api/record/{source}/{id}", get(record)),
        ("/api/work/{id}", get(work)),
        ("/api/export", get(export)),
        ("/api/cite/{kind}/{id}", get(cite)),
        ("/api/status", get(status)),
        ("/api/openapi.json", get(open_api)),
        ("/feed", get(feed)),
    ]
}

async fn search(State(api): State<Api>, uri: Uri, headers: HeaderMap) -> Response {
    let found =
        with(&api, move |library, effort| Ok(library.search(&Asked::read(&uri, asked::PAGE)?, effort)?));
    json(found.await, &headers)
}

async fn suggest(State(api): State<Api>, uri: Uri, headers: HeaderMap) -> Response {
    let suggested = with(&api, move |library, effort| {
        let asked = Asked::read(&uri, asked::SUGGESTIONS)?;
        let of = asked.first(&uri, "of");
        Ok(library.suggest(&asked.text, of.as_deref(), asked.limit, effort)?)
    });
    json(suggested.await, &headers)
}

async fn record(
    State(api): State<Api>,
    Path((source, id)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    json_or_absent(
        with(&api, move |library, effort| Ok(library.record(&source, &id, effort)?)).await,
        &headers,
    )
}

async fn work(State(api): State<Api>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    let found = with(&api, move |library, effort| Ok(library.work(&id, effort)?)).await;
    if let Ok(Some(Work { moved_to: Some(place), .. })) = &found {
        // Relative: a proxy may know this path by another beginning.
        let place = place.rsplit('/').next().unwrap_or_default();
        let mut response = StatusCode::PERMANENT_REDIRECT.into_response();
        if let Ok(place) = HeaderValue::from_str(place) {
            response.headers_mut().insert(header::LOCATION, place);
        }
        return response;
    }
    json_or_absent(found, &headers)
}

async fn export(State(api): State<Api>, uri: Uri, headers: HeaderMap) -> Response {
    let written = with(&api, move |library, effort| {
        let asked = Asked::read(&uri, asked::EXPORT)?;
        let format = format(&asked, &uri)?;
        Ok((library.export(&asked, format, effort)?, format))
    });
    match written.await {
        Ok((text, format)) => citations(text, format, &headers),
        Err(problem) => problem.into_json(),
    }
}

async fn cite(
    State(api): State<Api>,
    Path((kind, id)): Path<(String, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let written = with(&api, move |library, effort| {
        let format = format(&Asked::read(&uri, asked::PAGE)?, &uri)?;
        Ok(library.cite(&kind, &id, format, effort)?.map(|text| (text, format)))
    });
    match written.await {
        Ok(Some((text, format))) => citations(text, format, &headers),
        Ok(None) => Problem::not_found().into_json(),
        Err(problem) => problem.into_json(),
    }
}

async fn status(State(api): State<Api>, headers: HeaderMap) -> Response {
    json(with(&api, |library, effort| Ok(library.standing(effort)?)).await, &headers)
}

async fn open_api(State(api): State<Api>, headers: HeaderMap) -> Response {
    let mut description: Value = serde_json::from_str(OPEN_API).unwrap_or_default();
    if let Some(url) = description.pointer_mut("/servers/0/url") {
        *url = api.base.trim_end_matches('/').into();
    }
    json(Ok(description), &headers)
}

async fn feed(State(api): State<Api>, uri: Uri, headers: HeaderMap) -> Response {
    let base = Arc::clone(&api.base);
    let written = with(&api, move |library, effort| {
        let mut asked = Asked::read(&uri, asked::PAGE)?;
        asked.order = Order::Added;
        asked.limit = FEED;
        asked.facets.clear();
        let page = |offset: usize| {
            let query = asked.query(offset);
            if query.is_empty() { format!("{base}feed") } else { format!("{base}feed?{query}") }
        };
        let next = page(asked.offset + FEED);
        Ok(library.feed(&asked, &page(asked.offset), &next, effort)?)
    });
    match written.await {
        Ok(written) => tagged(written.text, written.media_type, &headers),
        Err(problem) => problem.into_json(),
    }
}

/// Asks the library on a thread that may wait for disks.
async fn with<T: Send + 'static>(
    api: &Api,
    ask: impl FnOnce(&dyn Library, &Effort) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let library = Arc::clone(&api.library);
    api.aside.run(move |effort| ask(&*library, effort)).await
}

fn json(answer: Result<impl Serialize, Problem>, headers: &HeaderMap) -> Response {
    let text = answer.and_then(|answer| {
        serde_json::to_vec(&answer).map_err(|error| Problem::from(Refusal::Io(error.to_string())))
    });
    match text {
        Ok(text) => tagged(text, JSON, headers),
        Err(problem) => problem.into_json(),
    }
}

fn json_or_absent(answer: Result<Option<impl Serialize>, Problem>, headers: &HeaderMap) -> Response {
    json(answer.and_then(|found| found.ok_or_else(Problem::not_found)), headers)
}

fn citations(text: String, format: CitationFormat, headers: &HeaderMap) -> Response {
    let mut response = tagged(text, format.media_type(), headers);
    let name = format!("attachment; filename=\"catalogue.{}\"", format.ending());
    if let Ok(name) = HeaderValue::from_str(&name) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    }
    response
}

fn format(asked: &Asked, uri: &Uri) -> Result<CitationFormat, Problem> {
    let Some(name) = asked.first(uri, "format") else { return Ok(CitationFormat::BibTex) };
    CitationFormat::named(&name)
        .ok_or_else(|| Problem::bad_request("`format` is one of bibtex, ris and csl-json"))
}

/// The values of each facet.
pub type Facets = BTreeMap<String, FacetCounts>;
