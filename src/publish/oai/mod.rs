//! The catalogue as an OAI-PMH 2.0 repository: which answer does a request get?
//!
//! [`answer`] is a function of the request, what the [`Repository`] says, and the time. It holds
//! nothing between two requests: a resumption token says all that the next page needs. HTTP is
//! the server's matter; [`Request::parse`] reads what came by GET or POST.
//!
//! | file | question |
//! |---|---|
//! | `request.rs`, `verb.rs` | what is asked, and does it make sense? |
//! | `repository.rs` | what must a repository be able to say? |
//! | `respond.rs`, `list.rs` | which content does each verb get? |
//! | `token.rs` | how does a list go on? |
//! | `document.rs`, `fragment.rs` | how is it written, so that it is always well-formed? |
//! | `datestamp.rs`, `identifier.rs`, `set_spec.rs` | how are moments, records and sets named? |

mod datestamp;
mod document;
mod error;
mod fragment;
mod identifier;
mod list;
mod repository;
mod request;
mod respond;
mod set_spec;
#[cfg(test)]
pub(crate) mod tests;
mod token;
mod verb;

pub use datestamp::Datestamp;
pub use identifier::{id_of, identifier};
pub use repository::{Busy, Format, Header, Page, Position, Repository, Selection, Set};
pub use request::Request;
pub use set_spec::{is_in_set, set_spec};

use respond::{Refusal, Responder};

/// What goes back to the harvester.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: Status,
    pub body: String,
    /// The ids of records that a list should have held, and whose metadata could not be written.
    pub left_out: Vec<String>,
}

/// The status of an answer. Errors of the protocol are answers like any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Ok,
    /// Ask again after so many seconds (`Retry-After`).
    Unavailable {
        retry_after: u32,
    },
}

impl Status {
    /// The status code of HTTP.
    pub fn code(self) -> u16 {
        match self {
            Self::Ok => 200,
            Self::Unavailable { .. } => 503,
        }
    }
}

impl Answer {
    /// The media type of the body.
    pub fn content_type(&self) -> &'static str {
        match self.status {
            Status::Ok => "text/xml; charset=utf-8",
            Status::Unavailable { .. } => "text/plain; charset=utf-8",
        }
    }
}

/// Answers a request.
pub fn answer(request: &Request, repository: &dyn Repository, now: Datestamp) -> Answer {
    let mut responder = Responder::new(repository, &request.base_url);
    let content =
        verb::understand(request).map_err(Refusal::Errors).and_then(|asked| responder.respond(asked));
    let (echo, content) = match content {
        Ok(content) => (true, content),
        Err(Refusal::Errors(errors)) => {
            (errors.iter().all(|error| error.code.echoes_arguments()), document::errors(&errors))
        }
        Err(Refusal::Busy(busy)) => {
            let status = Status::Unavailable { retry_after: busy.retry_after };
            return Answer { status, body: format!("{busy}\n"), left_out: Vec::new() };
        }
    };
    Answer {
        status: Status::Ok,
        body: document::envelope(request, echo, now, &content),
        left_out: responder.left_out,
    }
}
