//! The SPARQL 1.1 Protocol: query and update at one endpoint.
//!
//! | method | content type | is |
//! |---|---|---|
//! | GET | | a query, or the service description if there is none |
//! | POST | `application/x-www-form-urlencoded` | `query=` or `update=` |
//! | POST | `application/sparql-query` | a query |
//! | POST | `application/sparql-update` | an update |

#[cfg(test)]
mod tests;

use super::access::Holder;
use super::answer::{self, Answer};
use super::form::{Form, form};
use super::gate::{Readable, Whole, for_writers};
use super::negotiate::{GRAPHS, Offer, RESULTS, choose, listed};
use super::parameters::{Parameters, media_type, text};
use super::problem::Problem;
use super::service::{Question, Written};
use super::update::Update;
use super::{Site, description, routes};
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::IntoResponse;
use std::sync::Arc;

pub async fn endpoint(
    State(site): State<Arc<Site>>,
    Extension(holder): Extension<Holder>,
    request: Request,
) -> Answer {
    let (mut head, _) = request.into_parts();
    let mut parameters = Parameters::default();
    parameters.add(head.uri.query().unwrap_or_default().as_bytes())?;
    match head.method {
        Method::GET | Method::HEAD => {
            if parameters.update.is_some() {
                return Err(Problem::bad_request("an update is sent by POST"));
            }
            if parameters.query.is_none() {
                return description::service(&site, &parameters, &head.headers);
            }
        }
        Method::POST => {
            let kind = media_type(&head.headers)?;
            if !matches!(kind.as_str(), FORM | QUERY | UPDATE) {
                return Err(Problem::unsupported(format!(
                    "`{kind}` is none of {FORM}, {QUERY} and {UPDATE}"
                )));
            }
            if kind == UPDATE {
                for_writers(&site, &holder)?;
            }
            let body = head.extensions.remove::<Whole>().map(|Whole(body)| body).unwrap_or_default();
            match kind.as_str() {
                FORM => parameters.add(&body)?,
                QUERY => alone(&mut parameters.query, "query", text(body)?)?,
                _ => alone(&mut parameters.update, "update", text(body)?)?,
            }
        }
        _ => return Err(Problem::method(routes::methods(routes::SPARQL))),
    }
    match (parameters.query.take(), parameters.update.take()) {
        (Some(query), None) => ask(&site, &holder, query, parameters, &head.headers).await,
        (None, Some(update)) => change(&site, holder, update, parameters).await,
        (None, None) => Err(Problem::bad_request("there is neither a `query` nor an `update`")),
        (Some(_), Some(_)) => Err(Problem::bad_request("there is both a `query` and an `update`")),
    }
}

const FORM: &str = "application/x-www-form-urlencoded";
const QUERY: &str = "application/sparql-query";
const UPDATE: &str = "application/sparql-update";

/// The body is the operation, so the address must not have one too.
fn alone(slot: &mut Option<String>, name: &str, text: String) -> Result<(), Problem> {
    match slot.replace(text) {
        None => Ok(()),
        Some(_) => Err(Problem::bad_request(format!("there are two `{name}` texts"))),
    }
}

async fn ask(
    site: &Site,
    holder: &Holder,
    query: String,
    parameters: Parameters,
    headers: &HeaderMap,
) -> Answer {
    if !parameters.using.is_empty() || !parameters.using_named.is_empty() {
        return Err(Problem::bad_request(
            "`using-graph-uri` is for updates; queries have `default-graph-uri`",
        ));
    }
    let limits = site.limits.query(holder.role);
    if query.len() > limits.text {
        return Err(Problem::too_large(limits.text as u64));
    }
    let format = parameters.format.as_deref();
    let form = form(&query);
    let results = choose(RESULTS, format, headers);
    let graph = choose(GRAPHS, format, headers);
    let refused = match form {
        Some(Form::Results) if results.is_none() => Some(listed(RESULTS)),
        Some(Form::Graph) if graph.is_none() => Some(listed(GRAPHS)),
        _ => None,
    };
    if let Some(offered) = refused {
        return Err(Problem::not_acceptable(&offered));
    }
    let question = Question {
        text: query,
        base: endpoint_iri(site),
        default_graphs: parameters.default_graphs,
        named_graphs: parameters.named_graphs,
        results: chosen(results, RESULTS)?,
        graph: chosen(graph, GRAPHS)?,
        limits,
    };
    let reply = site.service.query(question).await?;
    let mut response = answer::reply(reply, headers);
    response.extensions_mut().insert(Readable);
    Ok(response)
}

/// The form not asked for still needs a value.
fn chosen<T: Copy>(chosen: Option<&Offer<T>>, offers: &[Offer<T>]) -> Result<T, Problem> {
    let offer = chosen.or_else(|| offers.first());
    offer.map(|offer| offer.form).ok_or_else(|| Problem::not_acceptable(""))
}

async fn change(site: &Site, holder: Holder, text: String, parameters: Parameters) -> Answer {
    for_writers(site, &holder)?;
    if !parameters.default_graphs.is_empty() || !parameters.named_graphs.is_empty() {
        return Err(Problem::bad_request(
            "`default-graph-uri` is for queries; updates have `using-graph-uri`",
        ));
    }
    let base = endpoint_iri(site);
    let update = Update { text, base, using: parameters.using, using_named: parameters.using_named };
    Ok(match site.service.update(update, holder).await? {
        Written::Accepted => answer::accepted(),
        _ => StatusCode::NO_CONTENT.into_response(),
    })
}

/// What the endpoint is called.
pub fn endpoint_iri(site: &Site) -> String {
    format!("{}{}", site.settings.base, routes::SPARQL.trim_start_matches('/'))
}
