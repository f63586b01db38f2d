//! The server: which path is answered by whom.

use super::answer::State;
use super::control;
use super::door::{COOKIE, Guard};
use super::gate::Gate;
use super::log::{Log, Logged, Writing};
use super::oai::oai;
use super::prerendered::Prerendered;
use super::reply::{form, json, plain, redirect};
use super::request::{Arguments, argument, decode};
use super::wire::Line;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Path, Request, State as Of};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use axum::routing::{any, get, post};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What handlers and the test share.
pub struct Shared {
    pub state: Mutex<State>,
    pub log: Log,
    pub gate: Gate,
    pub guard: Guard,
    pub prerendered: Option<Prerendered>,
    /// Where the repository is without TLS.
    pub plain_url: String,
}

impl Shared {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/oai", any(oai))
        .route("/loop/{side}", any(redirect_loop))
        .route("/robots.txt", get(robots))
        .route("/login", get(login_form).post(login))
        .route("/token", post(token))
        .route("/logout", any(logout))
        .route("/log", get(log))
        .route("/control/{what}", post(control))
        .fallback(nothing_here)
        .with_state(shared)
}

/// What handlers take from axum: what is shared, and the connection.
pub type Here = Of<Arc<Shared>>;
pub type By = ConnectInfo<Line>;

/// What a request says, its body read.
pub struct Asked {
    method: String,
    path: String,
    pub headers: HeaderMap,
    pub query: String,
    /// Of the query, or of the body if it was posted.
    pub arguments: Arguments,
}

impl Asked {
    pub async fn read(request: Request) -> Self {
        let (parts, body) = request.into_parts();
        let query = parts.uri.query().unwrap_or_default().to_owned();
        let posted = to_bytes(body, 4 << 20).await.unwrap_or_default();
        let arguments = match parts.method.as_str() {
            "POST" => decode(&String::from_utf8_lossy(&posted)),
            _ => decode(&query),
        };
        let path = parts.uri.path().to_owned();
        Self { method: parts.method.to_string(), headers: parts.headers, path, query, arguments }
    }

    /// Writes it down, with its arguments if they are no secrets.
    pub fn log<'a>(&self, shared: &'a Shared, line: &Line, arguments: Arguments) -> Writing<'a> {
        let entry = Logged {
            connection: line.number,
            secure: line.socket.is_none(),
            method: self.method.clone(),
            path: self.path.clone(),
            verb: argument(&arguments, "verb").unwrap_or_default().to_owned(),
            arguments,
            ..Logged::default()
        };
        shared.log.begin(entry, &self.headers)
    }
}

async fn login_form(Of(shared): Here, ConnectInfo(line): By, request: Request) -> Response {
    let asked = Asked::read(request).await;
    let writing = asked.log(&shared, &line, Vec::new());
    writing.note(|entry| entry.status = 200);
    form(StatusCode::OK)
}

async fn login(Of(shared): Here, ConnectInfo(line): By, request: Request) -> Response {
    let asked = Asked::read(request).await;
    let writing = asked.log(&shared, &line, Vec::new());
    let response = match shared.guard.opens(&asked.arguments) {
        None => form(StatusCode::FORBIDDEN),
        Some(session) => Response::builder()
            .status(StatusCode::SEE_OTHER)
            .header(header::LOCATION, "/oai?verb=Identify")
            .header(header::SET_COOKIE, format!("{COOKIE}={session}; Path=/; HttpOnly; SameSite=Lax"))
            .body(Body::empty())
            .unwrap(),
    };
    writing.note(|entry| entry.status = response.status().as_u16());
    response
}

async fn token(Of(shared): Here, ConnectInfo(line): By, request: Request) -> Response {
    let asked = Asked::read(request).await;
    let writing = asked.log(&shared, &line, Vec::new());
    let (status, body) = match shared.guard.opens(&asked.arguments) {
        None => (StatusCode::UNAUTHORIZED, serde_json::json!({ "error": "invalid_client" })),
        Some(token) => (
            StatusCode::OK,
            serde_json::json!({ "access_token": token, "token_type": "Bearer", "expires_in": 3600 }),
        ),
    };
    writing.note(|entry| entry.status = status.as_u16());
    json(status, &body)
}

async fn logout(Of(shared): Here, ConnectInfo(line): By, request: Request) -> Response {
    let asked = Asked::read(request).await;
    let writing = asked.log(&shared, &line, Vec::new());
    let status = if shared.guard.closes(&asked.headers) { StatusCode::OK } else { StatusCode::FORBIDDEN };
    writing.note(|entry| entry.status = status.as_u16());
    plain(status, "goodbye")
}

async fn redirect_loop(
    Of(shared): Here,
    ConnectInfo(line): By,
    Path(side): Path<String>,
    request: Request,
) -> Response {
    let asked = Asked::read(request).await;
    let writing = asked.log(&shared, &line, asked.arguments.clone());
    writing.note(|entry| entry.status = 302);
    redirect(if side == "a" { "/loop/b" } else { "/loop/a" })
}

async fn robots(Of(shared): Here, ConnectInfo(line): By, request: Request) -> Response {
    let asked = Asked::read(request).await;
    let writing = asked.log(&shared, &line, Vec::new());
    let (status, text) = shared.state().settings.robots.clone().unwrap_or((404, String::new()));
    writing.note(|entry| entry.status = status);
    plain(StatusCode::from_u16(status).unwrap(), text)
}

async fn nothing_here(Of(shared): Here, ConnectInfo(line): By, request: Request) -> Response {
    let asked = Asked::read(request).await;
    let writing = asked.log(&shared, &line, Vec::new());
    writing.note(|entry| entry.status = 404);
    plain(StatusCode::NOT_FOUND, "nothing here")
}

/// The log as JSON. Neither this nor what comes by `/control` is in it.
async fn log(Of(shared): Here) -> Response {
    json(StatusCode::OK, &serde_json::to_value(shared.log.read()).unwrap())
}

async fn control(Of(shared): Here, Path(what): Path<String>, request: Request) -> Response {
    let arguments = decode(request.uri().query().unwrap_or_default());
    match control::perform(&shared, &what, &arguments) {
        Ok(done) => json(StatusCode::OK, &done),
        Err(complaint) => plain(StatusCode::BAD_REQUEST, complaint),
    }
}
