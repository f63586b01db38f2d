//! The worker: one query after the other, on the snapshot it is told.
//!
//! Its standard output is one end of a socket, over which orders come and answers go. Nothing
//! ever comes over its standard input: the end of it says that the parent is gone, however it
//! went, and ends the process in the middle of whatever it does.

use super::algebra;
use super::federation::{Elsewhere, Federation, Unanswered};
use super::frame::{self, Answered, Failure, Order, Terms};
use super::memory::Allowance;
use super::parsing::Parser;
use super::{Question, TooLarge};
use crate::catalogue::embedded::Dataset;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::worker::STACK;
use crate::catalogue::{CatalogueError, services};
use oxrdf::NamedNode;
use spargebra::Query;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

/// Changes a query before it is evaluated, or says what is wrong with it.
pub type Rewrite<'a> = &'a (dyn Fn(Query) -> Result<Query, String> + Sync);

/// So much of an answer is gathered before it is sent.
const GATHERED: usize = 64 * 1024;

/// Answers until the parent hangs up. `open` opens a snapshot by its number.
pub fn work(
    open: impl Fn(u64) -> Result<Snapshot, CatalogueError> + Send,
    rewrite: Option<Rewrite<'_>>,
    elsewhere: Option<Elsewhere<'_>>,
) -> io::Result<()> {
    let socket = UnixStream::from(io::stdout().as_fd().try_clone_to_owned()?);
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(0);
    });
    // One thread for all queries: what they need is a stack as large as the guard is generous.
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || {
                let (parser, allowance) = (Parser::new(), Allowance::new());
                Worker { open, rewrite, elsewhere, parser, snapshot: None }.serve(&socket, &allowance)
            })?
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the evaluator failed")))
    })
}

struct Worker<'a, O> {
    open: O,
    rewrite: Option<Rewrite<'a>>,
    elsewhere: Option<Elsewhere<'a>>,
    parser: Parser,
    snapshot: Option<Snapshot>,
}

impl<O: Fn(u64) -> Result<Snapshot, CatalogueError>> Worker<'_, O> {
    fn serve(mut self, mut socket: &UnixStream, allowance: &Allowance) -> io::Result<()> {
        let mut buffer = vec![0; GATHERED];
        let mut filled = 0;
        loop {
            if let Some((fields, length)) = frame::first(buffer.get(..filled).unwrap_or_default())? {
                let order = Order::read(fields)?;
                let memory = order.memory();
                memory.inspect(|memory| allowance.grant(*memory));
                self.obey(order, socket)?;
                // The parent has another one started in its place.
                if memory.is_some_and(|memory| allowance.is_used_up(memory)) {
                    return Ok(());
                }
                buffer.copy_within(length..filled, 0);
                filled -= length;
                continue;
            }
            if filled == buffer.len() {
                buffer.resize(2 * filled, 0);
            }
            match socket.read(buffer.get_mut(filled..).unwrap_or_default())? {
                0 => return Ok(()),
                read => filled += read,
            }
        }
    }

    fn obey(&mut self, order: Order, socket: &UnixStream) -> io::Result<()> {
        match order {
            Order::Open(number) => {
                let opened = self.at(number).map(|_| End { rows: 0, union: false, media_type: "" });
                Gathering::new(socket, 0).end(opened)
            }
            Order::Answer(terms, question) => {
                let mut out = Gathering::new(socket, terms.bytes);
                let answered = self.answer(terms, question, &mut out);
                out.end(answered)
            }
        }
    }

    fn at(&mut self, number: u64) -> Result<&Snapshot, CatalogueError> {
        if self.snapshot.as_ref().is_none_or(|snapshot| snapshot.number != number) {
            self.snapshot = None;
            self.snapshot = Some((self.open)(number)?);
        }
        self.snapshot.as_ref().ok_or(CatalogueError::NoSuchSnapshot(number))
    }

    fn answer(&mut self, terms: Terms, question: Question, out: &mut Gathering<'_>) -> Result<End, Failed> {
        let mut query = self.parse(&question.text, &question.base)?;
        let dataset = dataset(&question)?;
        // A snapshot that is gone is asked for again, and endpoints are not.
        self.at(terms.snapshot)?;
        match (self.elsewhere, terms.elsewhere) {
            (Some(elsewhere), Some(time)) => Federation::new(elsewhere, time).answer(&mut query)?,
            _ => services::refuse(&mut query).map_err(CatalogueError::from)?,
        }
        let snapshot = self.at(terms.snapshot)?;
        let union = match question.union {
            Some(union) => union,
            None => !snapshot.has_master(),
        };
        let how = question.how(union, terms.rows);
        let (media_type, rows) = snapshot.evaluate(query, dataset, &how, out)?;
        Ok(End { rows, union: how.union, media_type })
    }

    fn parse(&self, text: &str, base: &str) -> Result<Query, Failed> {
        let malformed = |message: String| Failed(Failure::Malformed, message);
        let query = self.parser.parse(text, base).map_err(malformed)?;
        algebra::check(&query).map_err(|excess| Failed(Failure::TooLarge, excess.to_string()))?;
        match self.rewrite {
            None => Ok(query),
            Some(rewrite) => rewrite(query).map_err(malformed),
        }
    }
}

/// The graphs that the client names, if any.
fn dataset(question: &Question) -> Result<Option<Dataset>, Failed> {
    let names = |graphs: &[String]| -> Result<Vec<NamedNode>, Failed> {
        graphs
            .iter()
            .map(|name| {
                NamedNode::new(name.as_str()).map_err(|_| {
                    Failed(Failure::Malformed, format!("`{name}` is no absolute IRI of a graph"))
                })
            })
            .collect()
    };
    if question.default_graphs.is_empty() && question.named_graphs.is_empty() {
        return Ok(None);
    }
    Ok(Some(Dataset {
        default_graphs: names(&question.default_graphs)?,
        named_graphs: names(&question.named_graphs)?,
    }))
}

/// What is known of an answer when it is whole.
struct End {
    rows: u64,
    union: bool,
    media_type: &'static str,
}

/// Why there is none.
struct Failed(Failure, String);

impl From<CatalogueError> for Failed {
    fn from(error: CatalogueError) -> Self {
        let failure = match &error {
            CatalogueError::Syntax(_) => Failure::Malformed,
            CatalogueError::Refused(_) => Failure::Forbidden,
            CatalogueError::TooManyRows(_) => Failure::TooManyRows,
            CatalogueError::NoSuchSnapshot(_) => Failure::Gone,
            _ => Failure::Other,
        };
        Self(failure, error.to_string())
    }
}

impl From<Unanswered> for Failed {
    fn from(unanswered: Unanswered) -> Self {
        match unanswered {
            Unanswered::Refused(message) => Self(Failure::Forbidden, message),
            Unanswered::Failed(message) => Self(Failure::Elsewhere, message),
            Unanswered::TooMuch(message) => Self(Failure::TooLarge, message),
        }
    }
}

/// Gathers an answer and sends it in parts, so that a short one is sent at once.
struct Gathering<'a> {
    socket: &'a UnixStream,
    gathered: Vec<u8>,
    message: Vec<u8>,
    limit: u64,
    length: u64,
}

impl<'a> Gathering<'a> {
    fn new(socket: &'a UnixStream, limit: u64) -> Self {
        Self { socket, gathered: Vec::new(), message: Vec::new(), limit, length: 0 }
    }

    fn is_too_long(&self) -> bool {
        self.length > self.limit
    }

    fn send(&mut self) -> io::Result<()> {
        self.socket.write_all(&self.message)
    }

    /// Sends what is left, or what went wrong.
    fn end(mut self, ended: Result<End, impl Into<Failed>>) -> io::Result<()> {
        self.message.clear();
        match ended {
            Ok(End { rows, union, media_type }) => {
                let end = Answered { rows, union, media_type, body: &self.gathered };
                frame::write_answered(&mut self.message, end);
            }
            Err(_) if self.is_too_long() => {
                let message = TooLarge::Bytes(self.limit).to_string();
                frame::write_failed(&mut self.message, Failure::TooManyBytes, &message);
            }
            Err(failed) => {
                let Failed(failure, message) = failed.into();
                frame::write_failed(&mut self.message, failure, &message);
            }
        }
        self.send()
    }
}

impl Write for Gathering<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    // Serializers write a few bytes at a time.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.length += bytes.len() as u64;
        if self.is_too_long() {
            return Err(io::Error::other("the answer is too long"));
        }
        self.gathered.extend_from_slice(bytes);
        if self.gathered.len() >= GATHERED {
            self.message.clear();
            frame::write_part(&mut self.message, &self.gathered);
            self.gathered.clear();
            self.send()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str, rewrite: Option<Rewrite<'_>>) -> Result<Query, Failed> {
        let open = |number| Err(CatalogueError::NoSuchSnapshot(number));
        Worker { open, rewrite, elsewhere: None, parser: Parser::new(), snapshot: None }.parse(text, "")
    }

    #[test]
    fn a_query_is_rewritten_before_it_is_evaluated() {
        let other = Parser::new().parse("ASK { <x:a> <x:b> <x:c> }", "").unwrap();
        let rewrite = |query: Query| match query {
            Query::Ask { .. } => Ok(other.clone()),
            _ => Err("only ASK is understood".to_owned()),
        };
        let written = parsed("ASK {}", Some(&rewrite));
        assert!(written.is_ok_and(|query| query == other));
        let refused = parsed("SELECT * {}", Some(&rewrite));
        assert!(matches!(refused, Err(Failed(Failure::Malformed, reason)) if reason.contains("only ASK")));
    }

    #[test]
    fn our_prefixes_need_no_declaration() {
        assert!(parsed("ASK { ?work a bf:Work }", None).is_ok());
        assert!(matches!(parsed("ASK { ?work a no:Work }", None), Err(Failed(Failure::Malformed, _))));
    }
}
