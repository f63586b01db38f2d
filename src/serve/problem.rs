//! A request that is not granted, as an answer: a status and one sentence.

use super::service::Refusal;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// What goes back instead of what was asked for.
#[derive(Debug)]
pub struct Problem {
    pub status: StatusCode,
    pub message: String,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Problem {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), headers: Vec::new() }
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "nothing is known here")
    }

    pub fn not_acceptable(offered: &str) -> Self {
        Self::new(StatusCode::NOT_ACCEPTABLE, format!("this can be had as {offered}"))
    }

    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message)
    }

    pub fn too_large(limit: u64) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, format!("at most {limit} bytes are read here"))
            // What is left of the body is not waited for.
            .with(header::CONNECTION, HeaderValue::from_static("close"))
    }

    /// Which methods there are instead.
    pub fn method(allowed: &'static str) -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, format!("the methods here are {allowed}"))
            .with(header::ALLOW, HeaderValue::from_static(allowed))
    }

    pub fn unauthorized(message: &str) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, message)
            .with(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"pinakes\""))
    }

    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    pub fn busy(message: impl Into<String>, retry_after: u32) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message)
            .with(header::RETRY_AFTER, HeaderValue::from(retry_after))
    }

    /// The same for programs, as RFC 9457 writes problems.
    pub fn into_json(self) -> Response {
        let title = self.status.canonical_reason().unwrap_or("Error");
        let problem = serde_json::json!({
            "type": "about:blank", "title": title, "status": self.status.as_u16(), "detail": self.message,
        });
        let mut response = self.into_response();
        *response.body_mut() = Body::from(problem.to_string());
        let json = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        response
    }

    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let message = refusal.to_string();
        match refusal {
            Refusal::Malformed(_) => Self::bad_request(message),
            Refusal::Forbidden(_) => Self::forbidden(message),
            Refusal::TooLarge(_) => Self::new(StatusCode::PAYLOAD_TOO_LARGE, message),
            Refusal::Elsewhere(_) => Self::new(StatusCode::BAD_GATEWAY, message),
            Refusal::TimedOut | Refusal::OutOfMemory | Refusal::Stopped(_) => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, message)
            }
            Refusal::Busy { retry_after } | Refusal::Unavailable { retry_after, .. } => {
                Self::busy(message, retry_after)
            }
            Refusal::Died => Self::new(StatusCode::INTERNAL_SERVER_ERROR, message),
            Refusal::Io(cause) => {
                tracing::error!(cause, "the catalogue cannot be read");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(format!("{}\n", self.message)));
        *response.status_mut() = self.status;
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, plain);
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        for (name, value) in self.headers {
            response.headers_mut().insert(name, value);
        }
        response
    }
}
