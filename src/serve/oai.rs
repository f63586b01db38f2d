//! The address of the OAI-PMH provider: GET and POST, the arguments passed on as they came.

use super::Site;
use super::answer::{Answer, content_type};
use super::gate::{Readable, Whole};
use super::parameters::{media_type, text};
use super::problem::Problem;
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::Response;
use std::sync::Arc;

pub async fn get(State(site): State<Arc<Site>>, uri: Uri) -> Answer {
    answer(&site, uri.query().unwrap_or_default().to_owned()).await
}

/// OAI-PMH 2.0, 3.1.1.2: the arguments are in the body, and only there.
pub async fn post(
    State(site): State<Arc<Site>>,
    Extension(Whole(body)): Extension<Whole>,
    headers: HeaderMap,
) -> Answer {
    if media_type(&headers)? != "application/x-www-form-urlencoded" {
        return Err(Problem::unsupported("arguments are sent as application/x-www-form-urlencoded"));
    }
    answer(&site, text(body)?).await
}

async fn answer(site: &Site, arguments: String) -> Answer {
    let answer = site.service.oai(arguments).await?;
    let mut response = Response::new(Body::from(answer.xml));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type("text/xml"));
    if let Some(seconds) = answer.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response.extensions_mut().insert(Readable);
    Ok(response)
}
