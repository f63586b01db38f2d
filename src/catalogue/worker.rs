//! A query in a process of its own.
//!
//! Oxigraph looks at its cancellation token while it scans, but not inside joins and sorts, so
//! a query can only be stopped for certain by ending the process that evaluates it. The
//! parent passes the text on and forwards the answer; at the deadline it kills the child. A
//! child that dies (a stack overflow, say) is an error message in the parent and nothing more.

use super::pool::Rewrite;
use super::results::Answer;
use super::{Catalogue, CatalogueError, guard, syntax};
use crate::ontology::sparql_parser;
use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// What parser and evaluator may use for recursion, beyond what the guard lets through.
pub(super) const STACK: usize = 256 * 1024 * 1024;

/// Ends the query text on the child's input; it stands in no SPARQL.
const END: u8 = 0;

/// How a supervised query ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    Answered,
    /// The child said why on its standard error, which comes here.
    Failed(String),
    TimedOut,
}

/// The child's side: reads the query from standard input, and from then on ends the process
/// when the parent is gone, however it went.
pub fn receive() -> io::Result<String> {
    let mut text = Vec::new();
    let mut input = io::stdin().lock();
    let limit = guard::SIZE_LIMIT as u64 + 2;
    io::BufRead::read_until(&mut Read::take(&mut input, limit), END, &mut text)?;
    text.pop_if(|last| *last == END);
    drop(input);
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(2);
    });
    String::from_utf8(text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The child's side: guards, lets `rewrite` change what searches, evaluates and writes to `out`.
pub fn evaluate(
    catalogue: &Catalogue,
    query: &str,
    how: &Answer,
    rewrite: Rewrite<'_>,
    out: &mut (dyn Write + Send),
) -> Result<u64, CatalogueError> {
    guard::check(query)?;
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || {
                // Most queries do not search, and are parsed once.
                if !query.contains("search") {
                    return catalogue.backend().answer(query, how, out);
                }
                let parser = sparql_parser();
                let parser = parser.clone().with_base_iri(catalogue.graphs().base()).unwrap_or(parser);
                let parsed = parser.parse_query(query).map_err(|error| {
                    CatalogueError::Syntax(syntax::explain("query", query, &error.to_string()))
                })?;
                let rewritten = rewrite(parsed).map_err(CatalogueError::Evaluation)?;
                catalogue.backend().answer(&rewritten.to_string(), how, out)
            })
            .map_err(CatalogueError::Io)?
            .join()
            .unwrap_or_else(|_| Err(CatalogueError::Evaluation("the evaluator failed".to_owned())))
    })
}

/// The parent's side: runs `command`, which must begin with [`receive`], and forwards its answer to `out` until it ends or the time is up.
pub fn supervise(mut command: Command, query: &str, limit: Duration, out: &mut dyn Write) -> io::Result<End> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let started = Instant::now();
    // The input stays open until we are done: its end tells the child that nobody waits any
    // more. A child that ends at once closes its side; its status tells more than our error.
    let mut input = child.stdin.take();
    if let Some(input) = &mut input {
        let _ = input
            .write_all(query.as_bytes())
            .and_then(|()| input.write_all(&[END]))
            .and_then(|()| input.flush());
    }
    let (sender, receiver) = mpsc::sync_channel::<Vec<u8>>(16);
    let answer = child.stdout.take();
    let reader = std::thread::spawn(move || forward(answer, &sender));
    let complaint = child.stderr.take();
    let listener = std::thread::spawn(move || listen(complaint));
    loop {
        let left = limit.saturating_sub(started.elapsed());
        if left.is_zero() {
            stop(&mut child);
            return Ok(End::TimedOut);
        }
        match receiver.recv_timeout(left) {
            Ok(bytes) => {
                if let Err(error) = out.write_all(&bytes) {
                    stop(&mut child);
                    return Err(error);
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                stop(&mut child);
                return Ok(End::TimedOut);
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = child.wait()?;
    let _ = reader.join();
    let complaint = listener.join().unwrap_or_default();
    out.flush()?;
    Ok(if status.success() {
        End::Answered
    } else if complaint.trim().is_empty() {
        End::Failed(format!("the query ended its process ({status}); nothing else is harmed"))
    } else {
        End::Failed(complaint.trim().to_owned())
    })
}

fn stop(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

fn forward(answer: Option<impl Read>, sender: &mpsc::SyncSender<Vec<u8>>) {
    let Some(mut answer) = answer else { return };
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read) = answer.read(&mut buffer) {
        let bytes = buffer.get(..read).unwrap_or_default();
        if bytes.is_empty() || sender.send(bytes.to_vec()).is_err() {
            break;
        }
    }
}

fn listen(complaint: Option<impl Read>) -> String {
    let mut text = String::new();
    if let Some(complaint) = complaint {
        let _ = complaint.take(64 * 1024).read_to_string(&mut text);
    }
    text
}
