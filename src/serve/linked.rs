//! Every entity IRI answers: a page for people, statements for programs.
//!
//! `<base>work/1` is negotiated by `Accept`; `work/1.ttl`, `.html`, `.jsonld`, `.nt` and `.rdf`
//! are the same in one form. An entity that was merged leads to the one it is part of now.

#[cfg(test)]
mod tests;

use super::answer::{self, Answer};
use super::negotiate::{Offer, VIEWS, View, choose, listed};
use super::page::{self, Local};
use super::problem::Problem;
use super::service::Description;
use super::{Site, statements};
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use oxrdf::NamedNode;
use std::sync::Arc;

const TOO_LARGE: &str =
    "there are more statements than a description has room for; ask for them by SPARQL, some at a time";
const STYLE: &str = include_str!("style.css");

/// The first page.
pub async fn home(State(site): State<Arc<Site>>, headers: HeaderMap) -> Response {
    answer::tagged(page::home(&site.base_path), "text/html", &headers)
}

pub async fn style(headers: HeaderMap) -> Response {
    let mut response = answer::tagged(STYLE, "text/css", &headers);
    let hour = HeaderValue::from_static("public, max-age=3600");
    response.headers_mut().insert(header::CACHE_CONTROL, hour);
    response
}

pub async fn entity(State(site): State<Arc<Site>>, uri: Uri, headers: HeaderMap) -> Response {
    let shown = show(&site, &uri, &headers).await;
    shown.unwrap_or_else(|problem| {
        let people = choose(VIEWS, None, &headers).is_some_and(|offer| offer.form == View::Page);
        if people { apology(&site, problem) } else { problem.into_response() }
    })
}

async fn show(site: &Site, uri: &Uri, headers: &HeaderMap) -> Answer {
    let path = uri.path().trim_start_matches('/');
    let format = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
        .find(|(name, _)| name == "format")
        .map(|(_, value)| value.into_owned());
    let (mut stem, mut suffix) = by_suffix(path);
    let mut found = site.service.describe(named(site, stem)?).await?;
    if suffix.is_some() && found.as_ref().is_none_or(|found| found.gone) {
        // What looks like a suffix may be the end of an id.
        let whole = site.service.describe(named(site, path)?).await?;
        if whole.is_some() {
            (stem, suffix, found) = (path, None, whole);
        }
    }
    let description = found.ok_or_else(Problem::not_found)?;
    let local = Local::new(&site.settings.base, &site.base_path);
    if let Some(new) = &description.moved_to {
        let ending = suffix.map_or_else(String::new, |offer| format!(".{}", offer.suffix()));
        // Nothing that the catalogue holds leads out of it.
        let place = local.within(new.as_str()).ok_or_else(Problem::not_found)?;
        let place = HeaderValue::from_str(&format!("{place}{ending}")).map_err(|_| Problem::not_found())?;
        return Ok((StatusCode::MOVED_PERMANENTLY, [(header::LOCATION, place)]).into_response());
    }
    if description.gone {
        return Err(Problem::new(StatusCode::GONE, "this was withdrawn"));
    }
    let offer = match suffix {
        Some(offer) => offer,
        None => choose(VIEWS, format.as_deref(), headers)
            .ok_or_else(|| Problem::not_acceptable(&listed(VIEWS)))?,
    };
    let mut response = represent(&description, offer, &local, headers)?;
    let set = response.headers_mut();
    set.insert(header::VARY, HeaderValue::from_static("Accept"));
    let Some(place) = local.at(stem) else { return Ok(response) };
    if let Ok(place) = HeaderValue::from_str(&format!("{place}.{}", offer.suffix())) {
        set.insert(header::CONTENT_LOCATION, place);
    }
    for other in VIEWS {
        let link =
            format!("<{place}.{}>; rel=\"alternate\"; type=\"{}\"", other.suffix(), other.media_type());
        if let Ok(link) = HeaderValue::from_str(&link) {
            set.append(header::LINK, link);
        }
    }
    Ok(response)
}

fn represent(
    description: &Description,
    offer: &'static Offer<View>,
    local: &Local<'_>,
    headers: &HeaderMap,
) -> Answer {
    let body = match offer.form {
        View::Page => page::page(description, local).into_bytes(),
        // Programs would take a part for the whole.
        View::Statements(_) if description.more => {
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, TOO_LARGE));
        }
        View::Statements(format) => {
            let mut triples = description.triples.clone();
            triples.extend(description.inbound.iter().map(|inbound| {
                oxrdf::Triple::new(inbound.subject.clone(), inbound.role.clone(), description.iri.clone())
            }));
            statements::write(&triples, format)
                .map_err(|error| Problem::new(StatusCode::NOT_ACCEPTABLE, error.to_string()))?
        }
    };
    Ok(answer::tagged(body, offer.media_type(), headers))
}

/// A path without its suffix, and the form that the suffix means.
fn by_suffix(path: &str) -> (&str, Option<&'static Offer<View>>) {
    let known = path.rsplit_once('.').and_then(|(stem, suffix)| {
        let offer = VIEWS.iter().find(|offer| offer.suffix() == suffix)?;
        (!stem.is_empty() && !stem.ends_with('/')).then_some((stem, Some(offer)))
    });
    known.unwrap_or((path, None))
}

fn named(site: &Site, path: &str) -> Result<NamedNode, Problem> {
    // An address that makes no IRI names nothing.
    NamedNode::new(format!("{}{path}", site.settings.base)).map_err(|_| Problem::not_found())
}

/// A problem for people, with a way back.
fn apology(site: &Site, problem: Problem) -> Response {
    let page = page::problem(problem.status, &problem.message, &site.base_path);
    let mut response = problem.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, answer::content_type("text/html"));
    *response.body_mut() = Body::from(page);
    response
}
