//! Whether the server lives, and whether it can answer.

use super::Site;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// 200 when queries can be answered, 503 while they cannot; that anything comes back is life.
pub async fn health(State(site): State<Arc<Site>>) -> Response {
    let status = site.service.status();
    let body = serde_json::json!({ "live": true, "ready": status.ready, "snapshot": status.snapshot });
    let code = if status.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (code, headers, format!("{body}\n")).into_response()
}
