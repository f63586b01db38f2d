//! Answers that are whole before their first byte leaves: with a length, and a tag by which a
//! client can ask whether they changed.

use super::problem::Problem;
use super::service::{Content, Reply};
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body::{Frame, SizeHint};
use std::fs::File;
use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::task::{JoinHandle, spawn_blocking};
use xxhash_rust::xxh3::xxh3_128;

/// How much of a file is read at once.
const PIECE: u64 = 128 * 1024;

/// Marks an answer whose bytes lie in a file.
#[derive(Clone, Copy)]
pub struct OnDisk;

/// An answer from memory; 304 if the client has it already.
pub fn tagged(body: impl Into<Bytes>, media_type: &'static str, request: &HeaderMap) -> Response {
    let body = body.into();
    // Strong: the tag is made of every byte, and of what the bytes mean.
    let tag = format!("\"{:032x}\"", xxh3_128(&body) ^ xxh3_128(media_type.as_bytes()));
    let unchanged = is_known(request, &tag);
    let mut response = if unchanged {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        labelled(Body::from(body), media_type)
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// What the catalogue answered.
pub fn reply(reply: Reply, request: &HeaderMap) -> Response {
    let mut response = match reply.body {
        Content::Memory(bytes) => tagged(bytes, reply.media_type, request),
        Content::Spooled { file, length } => {
            let mut response = labelled(Body::new(Spool::new(file, length)), reply.media_type);
            response.extensions_mut().insert(OnDisk);
            response
        }
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
    response
}

/// A change that is archived and not to be seen yet.
pub fn accepted() -> Response {
    let text = "the change is archived; readers will see it as soon as the disk lets them\n";
    (StatusCode::ACCEPTED, text).into_response()
}

fn labelled(body: Body, media_type: &'static str) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type(media_type));
    response
}

/// What is text says in which character set; the others are always in UTF-8.
pub fn content_type(media_type: &'static str) -> HeaderValue {
    match media_type {
        "text/turtle" => HeaderValue::from_static("text/turtle; charset=utf-8"),
        "text/csv" => HeaderValue::from_static("text/csv; charset=utf-8"),
        "text/html" => HeaderValue::from_static("text/html; charset=utf-8"),
        "text/css" => HeaderValue::from_static("text/css; charset=utf-8"),
        "text/xml" => HeaderValue::from_static("text/xml; charset=utf-8"),
        "text/tab-separated-values" => HeaderValue::from_static("text/tab-separated-values; charset=utf-8"),
        other => HeaderValue::from_static(other),
    }
}

/// RFC 9110, 13.1.2: the comparison is weak, and `*` is anything.
fn is_known(request: &HeaderMap, tag: &str) -> bool {
    let given = request.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    given.flat_map(|value| value.split(',')).any(|given| {
        let given = given.trim();
        given == "*" || given.strip_prefix("W/").unwrap_or(given) == tag
    })
}

/// A file on its way out, read piece by piece on the threads that may wait for disks.
struct Spool {
    left: u64,
    state: State,
}

enum State {
    Resting(Option<File>),
    Reading(JoinHandle<io::Result<(File, Vec<u8>)>>),
}

impl Spool {
    fn new(file: File, length: u64) -> Self {
        Self { left: length, state: State::Resting(Some(file)) }
    }
}

impl HttpBody for Spool {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        loop {
            let this = &mut *self;
            match &mut this.state {
                State::Resting(file) => {
                    let Some(file) = file.take().filter(|_| this.left > 0) else { return Poll::Ready(None) };
                    let size = this.left.min(PIECE);
                    this.state = State::Reading(spawn_blocking(move || read(file, size)));
                }
                State::Reading(task) => {
                    let done = ready!(Pin::new(task).poll(cx)).map_err(io::Error::other).flatten();
                    return Poll::Ready(Some(match done {
                        Ok((file, piece)) => {
                            this.left -= piece.len() as u64;
                            this.state = State::Resting(Some(file));
                            Ok(Frame::data(piece.into()))
                        }
                        Err(error) => {
                            this.state = State::Resting(None);
                            Err(error)
                        }
                    }));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// The next piece, whole: a file that is shorter than it was is an error, and the connection ends
/// where its client sees that bytes are missing.
fn read(mut file: File, size: u64) -> io::Result<(File, Vec<u8>)> {
    let mut piece = Vec::new();
    (&mut file).take(size).read_to_end(&mut piece)?;
    if (piece.len() as u64) < size {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok((file, piece))
}

/// The bytes of a small answer, or why there are none.
pub type Answer = Result<Response, Problem>;

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;
    use std::io::{Seek, Write};

    fn asking(tag: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_NONE_MATCH, HeaderValue::from_str(tag).expect("a header"));
        headers
    }

    #[test]
    fn what_did_not_change_is_not_sent_again() {
        let first = tagged("a", "text/turtle", &HeaderMap::new());
        assert_eq!(first.status(), StatusCode::OK);
        let tag = first.headers()[header::ETAG].to_str().expect("a tag").to_owned();
        for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
            let again = tagged("a", "text/turtle", &asking(&known));
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{known}");
            assert_eq!(again.headers()[header::ETAG], tag.as_str());
        }
        assert_eq!(tagged("b", "text/turtle", &asking(&tag)).status(), StatusCode::OK);
        assert_eq!(tagged("a", "text/html", &asking(&tag)).status(), StatusCode::OK, "another form");
    }

    #[tokio::test]
    async fn files_come_out_whole_or_break_off() {
        let content: Vec<u8> = (0..300_000_u32).map(|n| n as u8).collect();
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&content).expect("written");
        let opened = || {
            let mut copy = file.try_clone().expect("a handle");
            copy.rewind().expect("rewound");
            copy
        };
        let body = Body::new(Spool::new(opened(), 300_000));
        assert_eq!(body.size_hint().exact(), Some(300_000));
        assert_eq!(body.collect().await.expect("whole").to_bytes(), content);
        let torn = Body::new(Spool::new(opened(), 300_001));
        assert!(torn.collect().await.is_err());
    }
}
