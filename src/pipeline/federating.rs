//! Asking other endpoints what a query wants to know of them, by the list in the settings and
//! through the one way out.
//!
//! A worker calls this and not the server: see [`pool`](crate::catalogue::pool). A request is made
//! once, to the IRI that is on the list, letter by letter; it is not redirected, and the address is
//! checked like that of a source.

use super::PipelineError;
use crate::catalogue::pool::Unanswered;
use crate::config::{Endpoint, Federation};
use crate::fetch::{Access, Fault, FaultKind, Fetcher, Limits, Options, Retries, Timeouts};
use oxrdf::NamedNode;
use sparesults::QueryResultsFormat;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The largest answer that is taken, in bytes.
const BODY: usize = 10_000_000;
/// A query as it is sent.
const QUERY: &str = "application/sparql-query";
const FORMAT: QueryResultsFormat = QueryResultsFormat::Json;

/// What came, or why nothing did.
type Answer = Result<Vec<u8>, Unanswered>;

/// Asks the endpoints of a list and nobody else.
pub fn federating(settings: Federation) -> io::Result<impl Fn(&NamedNode, &str, Duration) -> Answer + Sync> {
    let fetcher = Fetcher::new(Options::default())?;
    Ok(move |endpoint: &NamedNode, query: &str, time: Duration| {
        let listed = settings.endpoints.iter().find(|listed| listed.iri == endpoint.as_str());
        let listed = listed.ok_or_else(|| {
            Unanswered::Refused(format!(
                "`SERVICE` is refused: `{}` is not among the `endpoints` in `[federation]` of `pinakes.toml`",
                endpoint.as_str()
            ))
        })?;
        ask(&fetcher, listed, query, time)
    })
}

/// Says what is wrong with the settings before anybody asks.
pub fn check_federation(settings: &Federation) -> Result<(), PipelineError> {
    if settings.is_empty() {
        return Ok(());
    }
    let fetcher = Fetcher::new(Options::default())?;
    for endpoint in &settings.endpoints {
        let access = access(endpoint, Duration::ZERO);
        fetcher.open(&access, &endpoint.iri, Arc::default()).map_err(PipelineError::Federation)?;
    }
    Ok(())
}

fn ask(fetcher: &Fetcher, endpoint: &Endpoint, query: &str, time: Duration) -> Answer {
    let session = fetcher.open(&access(endpoint, time), &endpoint.iri, Arc::default()).map_err(unanswered)?;
    let answer = session.post(&endpoint.iri, QUERY, query).map_err(unanswered)?;
    let content_type = answer.content_type.as_deref().unwrap_or_default();
    if QueryResultsFormat::from_media_type(content_type) != Some(FORMAT) {
        return Err(Unanswered::Failed(format!(
            "`SERVICE` was not answered: `{}` gave `{}`, and `{}` was asked for",
            endpoint.iri,
            content_type.escape_debug(),
            FORMAT.media_type()
        )));
    }
    Ok(answer.body)
}

/// An interface for programs, asked once while somebody waits.
fn access(endpoint: &Endpoint, time: Duration) -> Access {
    Access {
        allow_private: endpoint.allow_private.clone(),
        respect_robots: false,
        accept: Some(FORMAT.media_type().to_owned()),
        // Looking a name up comes before the rest.
        timeouts: Timeouts { connect: time / 2, idle: time, total: time },
        limits: Limits { body: BODY, ..Limits::default() },
        retries: Retries { attempts: 1, ..Retries::default() },
        ..Access::default()
    }
}

fn unanswered(fault: Fault) -> Unanswered {
    match fault.kind {
        FaultKind::PrivateAddress | FaultKind::BadUrl | FaultKind::Scheme | FaultKind::Settings => {
            Unanswered::Refused(format!("`SERVICE` is refused: {fault}"))
        }
        FaultKind::TooLarge => Unanswered::TooMuch(format!(
            "`{}` answers with more than {BODY} bytes; add a LIMIT within SERVICE",
            fault.url
        )),
        _ => Unanswered::Failed(format!("`SERVICE` was not answered: {fault}")),
    }
}
