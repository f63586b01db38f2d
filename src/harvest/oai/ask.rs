//! One request, its answer, and what may be wrong with either.

use super::error::{HarvestError, STANDARD};
use super::request::Verb;
use super::response::{OaiError, Response, Unreadable};
use crate::fetch::{Fault, FaultKind, Transport};

/// Why a request brought nothing, or only half.
#[derive(Debug)]
pub(super) enum Trouble {
    Fault(Fault),
    Unreadable(Unreadable),
    /// An answer that ends too early, with what it holds.
    Broken(Box<Response>),
    Refused(OaiError),
    /// The token is not accepted.
    Expired(String),
}

impl Trouble {
    /// Whether it may be about what was asked for, so that asking for less may help.
    pub fn may_be_the_content(&self) -> bool {
        match self {
            Self::Fault(fault) => match fault.kind {
                FaultKind::TooLarge
                | FaultKind::BadEncoding
                | FaultKind::Truncated
                | FaultKind::Timeout
                | FaultKind::Reset => true,
                FaultKind::Status(status) => (500..600).contains(&status),
                _ => false,
            },
            Self::Unreadable(_) | Self::Broken(_) | Self::Expired(_) => true,
            // A code of the standard is meant; any other is an accident of the server.
            Self::Refused(error) => !STANDARD.contains(&error.code.as_str()),
        }
    }

    /// How much patience it costs. Answers without an end and answers that never come take
    /// minutes each, so a few of them are enough.
    pub fn cost(&self) -> u32 {
        match self {
            Self::Fault(Fault { kind: FaultKind::TooLarge, .. }) => 8,
            Self::Fault(Fault { kind: FaultKind::Timeout, .. }) => 4,
            _ => 1,
        }
    }

    pub fn into_error(self, url: &str) -> HarvestError {
        let url = url.to_owned();
        match self {
            Self::Fault(fault) => HarvestError::Fault(fault),
            Self::Unreadable(reason) => HarvestError::NotOai { url, reason },
            Self::Broken(response) => HarvestError::Broken {
                url,
                reason: response.broken.map(|broken| broken.diagnostic.message).unwrap_or_default(),
            },
            Self::Refused(error) => HarvestError::Refused { url, error },
            Self::Expired(reason) => HarvestError::TokenRefused { url, reason },
        }
    }

    /// In a few words, for what becomes of it.
    pub fn reason(&self) -> String {
        match self {
            Self::Fault(fault) => fault.to_string(),
            Self::Unreadable(reason) => reason.to_string(),
            Self::Broken(response) => match &response.broken {
                Some(broken) => broken.diagnostic.message.clone(),
                None => "the answer ends too early".to_owned(),
            },
            Self::Refused(error) => format!("error `{}`", error.code),
            Self::Expired(reason) => format!("the resumption token is not accepted: {reason}"),
        }
    }
}

/// Asks until there is a whole answer, a few times at most. The transport has already done
/// what it can about the connection; here it is about what came through.
pub(super) fn ask(
    transport: &dyn Transport,
    url: &str,
    verb: Verb,
    attempts: u32,
) -> Result<Response, Trouble> {
    let mut trouble = Trouble::Unreadable(Unreadable::Empty);
    for _ in 0..attempts.max(1) {
        let answer = match transport.get(url) {
            Ok(answer) => answer,
            Err(fault) => return error_in(&fault).ok_or(Trouble::Fault(fault)),
        };
        trouble = match Response::read(answer.body) {
            Ok(response) if response.broken.is_some() => Trouble::Broken(Box::new(response)),
            Ok(response) if answers(&response, verb) => return Ok(response),
            Ok(_) => Trouble::Unreadable(Unreadable::Nothing { verb }),
            Err(reason) => Trouble::Unreadable(reason),
        };
    }
    Err(trouble)
}

/// Asks for a part of a list, and judges what the repository says against it.
pub(super) fn ask_list(
    transport: &dyn Transport,
    url: &str,
    verb: Verb,
    has_token: bool,
    attempts: u32,
) -> Result<Response, Trouble> {
    let response = match ask(transport, url, verb, attempts) {
        // Gone, or never heard of: that is how some servers speak of a token.
        Err(Trouble::Fault(fault))
            if has_token && matches!(fault.kind, FaultKind::Status(400 | 404 | 410 | 422)) =>
        {
            return Err(Trouble::Expired(fault.to_string()));
        }
        answer => answer?,
    };
    let holds_nothing = response.records.is_empty() && response.headers.is_empty();
    let Some(error) = response.errors.first().filter(|_| holds_nothing && response.verb.is_none()) else {
        return Ok(response);
    };
    match error.code.as_str() {
        "noRecordsMatch" => Ok(response),
        "badResumptionToken" | "badArgument" if has_token => Err(Trouble::Expired(said(error))),
        _ => Err(Trouble::Refused(error.clone())),
    }
}

/// Whether an answer is one to this verb, or says why it is none.
fn answers(response: &Response, verb: Verb) -> bool {
    response.verb == Some(verb)
        || !response.errors.is_empty()
        || !response.records.is_empty()
        || (verb == Verb::ListIdentifiers && !response.headers.is_empty())
}

/// Some servers send the errors of OAI-PMH with a status that is no success.
fn error_in(fault: &Fault) -> Option<Response> {
    let FaultKind::Status(_) = fault.kind else { return None };
    let start = fault.detail.find('<')?;
    let mut response = Response::read(fault.detail.get(start..)?.as_bytes().to_vec()).ok()?;
    // The detail is the beginning of an answer, so it may well end too early.
    response.broken = None;
    response.records.clear();
    (!response.errors.is_empty()).then_some(response)
}

pub(super) fn said(error: &OaiError) -> String {
    if error.message.is_empty() { error.code.clone() } else { format!("{}, {}", error.code, error.message) }
}
