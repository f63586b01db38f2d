//! Whole responses, for handlers to give.

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::Response;

pub fn form(status: StatusCode) -> Response {
    let page = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>\
                <form method=\"post\" action=\"/login\">\
                <input name=\"username\"><input name=\"password\" type=\"password\"><button>Sign in</button>\
                </form></body></html>\n";
    let builder = Response::builder().status(status).header(header::CONTENT_TYPE, "text/html; charset=utf-8");
    builder.body(Body::from(page)).unwrap()
}

pub fn redirect(location: &str) -> Response {
    let builder = Response::builder().status(StatusCode::FOUND).header(header::LOCATION, location);
    builder.body(Body::empty()).unwrap()
}

pub fn plain(status: StatusCode, text: impl Into<Body>) -> Response {
    let builder =
        Response::builder().status(status).header(header::CONTENT_TYPE, "text/plain; charset=utf-8");
    builder.body(text.into()).unwrap()
}

pub fn json(status: StatusCode, value: &serde_json::Value) -> Response {
    let builder = Response::builder().status(status).header(header::CONTENT_TYPE, "application/json");
    builder.body(Body::from(value.to_string())).unwrap()
}

pub fn xml(body: Body) -> Response {
    Response::builder().header(header::CONTENT_TYPE, "text/xml; charset=utf-8").body(body).unwrap()
}
