//! Queries that are answered on the spot, without a worker.
//!
//! What is known of one thing, what it is called, whether it says so: programs ask little else, and
//! going to another process and back costs as much as answering. A query of *one triple pattern
//! with a known subject* can be answered here and keep every promise of the pool. What is read lies
//! side by side, and what was deleted there is little. There is no filter, so every statement that
//! is read is a row, and between rows the clock, the rows and the bytes are looked at: it cannot
//! run away. No operator gathers anything, so it takes no memory. The text is short and not nested,
//! so parsing is no risk, either. What turns out to be larger than a glance goes to a worker after
//! all and begins anew there.
//!
//! Whoever asks is kept for as long as it takes: a few dozen microseconds, or what a disk takes for a
//! few blocks; after its time, at the next row, a worker has it.

use super::parsing::Parser;
use super::schedule::locked;
use super::{Body, Limits, Question, Reply};
use crate::catalogue::snapshot::{self, Snapshot};
use crate::ontology::pin;
use spargebra::Query;
use spargebra::algebra::GraphPattern;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The longest text.
const TEXT: usize = 1024;
/// More rows or bytes are a matter for a worker.
const ROWS: u64 = 1000;
const BYTES: usize = 256 * 1024;
/// The clock is looked at once in so many writes; a row takes one to ten.
const LOOK: u32 = 4;

/// Answers what can be answered at once.
pub(super) struct Glance {
    directory: PathBuf,
    /// Longer than this is a matter for a worker; without it, everything is.
    time: Option<Duration>,
    opened: Mutex<Option<Arc<Snapshot>>>,
    answered: AtomicU64,
    parser: Parser,
}

impl Glance {
    pub fn new(directory: PathBuf, time: Option<Duration>) -> Self {
        let (opened, answered) = (Mutex::default(), AtomicU64::new(0));
        Self { directory, time, opened, answered, parser: Parser::new() }
    }

    /// How many questions a glance was enough for.
    pub fn answered(&self) -> u64 {
        self.answered.load(Relaxed)
    }

    fn opened(&self) -> Option<Arc<Snapshot>> {
        locked(&self.opened).clone()
    }

    /// Opens the newest snapshot, which takes a moment, and lets go of an older one.
    pub fn move_on(&self) {
        let Some(current) = snapshot::current(&self.directory).filter(|_| self.time.is_some()) else {
            return;
        };
        if self.opened().is_some_and(|opened| opened.number == current) {
            return;
        }
        // One that cannot be opened leaves everything to the workers, who say why.
        let opened = snapshot::open(&self.directory, current, None).ok().map(Arc::new);
        let held = std::mem::replace(&mut *locked(&self.opened), opened);
        // Closing takes a moment, too, and nobody waits for it.
        drop(held);
    }

    /// The answer, if a glance is enough. What goes wrong is for a worker to say.
    pub fn answer(&self, question: &Question, limits: &Limits) -> Option<Reply> {
        if !is_short(&question.text)
            || !question.default_graphs.is_empty()
            || !question.named_graphs.is_empty()
            || question.union == Some(true)
        {
            return None;
        }
        let opened = self.opened()?;
        // Whoever was told that a write is done must see it.
        if snapshot::current(&self.directory) != Some(opened.number) {
            return None;
        }
        // While nothing is merged a pattern is about the union of all graphs, where rows are compared.
        if question.union.is_none() && !opened.has_master() {
            return None;
        }
        let query = self.parser.parse(&question.text, &question.base).ok().filter(is_one_pattern)?;
        let how = question.how(false, limits.rows.min(ROWS));
        let longest = usize::try_from(limits.bytes).map_or(BYTES, |bytes| bytes.min(BYTES));
        let mut out = Glimpse {
            bytes: Vec::with_capacity(2048),
            longest,
            ends: Instant::now() + self.time?,
            writes: 0,
        };
        let (media_type, rows) = opened.evaluate(query, None, &how, &mut out).ok()?;
        self.answered.fetch_add(1, Relaxed);
        Some(Reply {
            media_type: media_type.to_owned(),
            body: Body::Bytes(out.bytes),
            rows,
            snapshot: opened.number,
            union: false,
        })
    }
}

/// Short, not nested, with one group and no call of anything. Most of what does not fit is told by
/// this alone.
fn is_short(text: &str) -> bool {
    text.len() <= TEXT
        && !text.contains(['(', '['])
        && !text.contains("<<")
        && text.bytes().filter(|byte| *byte == b'{').count() == 1
}

/// One pattern of which every match is a row.
fn is_one_pattern(query: &Query) -> bool {
    let (Query::Select { dataset: None, pattern, .. } | Query::Ask { dataset: None, pattern, .. }) = query
    else {
        return false;
    };
    let mut pattern = pattern;
    while let GraphPattern::Slice { inner, start: 0, .. } | GraphPattern::Project { inner, .. } = pattern {
        pattern = inner;
    }
    let GraphPattern::Bgp { patterns } = pattern else { return false };
    let [TriplePattern { subject, predicate, object }] = patterns.as_slice() else { return false };
    if !matches!(subject, TermPattern::NamedNode(_)) {
        return false;
    }
    // A search is no pattern, and a variable that stands twice is a filter.
    let is_search = matches!(predicate, NamedNodePattern::NamedNode(name) if name.as_ref() == pin::SEARCH);
    let is_repeated = match (predicate, object) {
        (NamedNodePattern::Variable(predicate), TermPattern::Variable(object)) => predicate == object,
        _ => false,
    };
    !is_search && !is_repeated
}

/// An answer as long as it is small and quick.
struct Glimpse {
    bytes: Vec<u8>,
    longest: usize,
    ends: Instant,
    writes: u32,
}

impl Write for Glimpse {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writes += 1;
        let is_late = self.writes.is_multiple_of(LOOK) && Instant::now() > self.ends;
        if is_late || self.bytes.len() + bytes.len() > self.longest {
            return Err(io::Error::other("more than a glance"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_glance(text: &str) -> bool {
        let parsed = Parser::new().parse(text, "");
        is_short(text) && parsed.is_ok_and(|query| is_one_pattern(&query))
    }

    #[test]
    fn one_pattern_is_enough_for_a_glance() {
        for text in [
            "SELECT * { <x:a> ?p ?o }",
            "SELECT ?o WHERE { <x:a> bf:title ?o } LIMIT 10",
            "ASK { <x:a> <x:b> 1 }",
            "SELECT ?p { <x:a> ?p \"text\" }",
        ] {
            assert!(is_glance(text), "{text}");
        }
        for text in [
            "SELECT * { <x:a> ?p ?o . ?o ?q ?r }",
            "SELECT * { <x:a> ?p ?p }",
            "SELECT * { ?s ?p ?o }",
            "SELECT ?s { ?s a bf:Work }",
            "SELECT ?p { [] ?p ?o }",
            "SELECT DISTINCT ?p { <x:a> ?p ?o }",
            "SELECT ?p { <x:a> ?p ?o } ORDER BY ?p",
            "SELECT ?p { <x:a> ?p ?o } OFFSET 1000000",
            "SELECT ?p { <x:a> ?p ?o FILTER(?p = <x:a>) }",
            "SELECT * { GRAPH ?g { <x:a> ?p ?o } }",
            "SELECT * FROM <x:g> { <x:a> ?p ?o }",
            "SELECT * { <x:a> bf:title/bf:mainTitle ?o }",
            "SELECT * { <x:a> pin:search \"walden\" }",
            "SELECT * { <x:a> ?p ?o VALUES ?p { <x:a> } }",
            "CONSTRUCT WHERE { <x:a> ?p ?o }",
            "DESCRIBE <x:a>",
            "SELECT (COUNT(*) AS ?n) { <x:a> ?p ?o }",
        ] {
            assert!(!is_glance(text), "{text}");
        }
        assert!(!is_short(&format!("SELECT * {{ <x:{}> ?p ?o }}", "a".repeat(TEXT))));
    }

    #[test]
    fn what_is_long_or_late_is_no_glance() {
        let ends = Instant::now() + Duration::from_secs(60);
        let mut out = Glimpse { bytes: Vec::new(), longest: 4, ends, writes: 0 };
        assert!(out.write_all(b"abc").is_ok() && out.write_all(b"de").is_err());
        let mut out = Glimpse { bytes: Vec::new(), longest: 1000, ends: Instant::now(), writes: 0 };
        assert!((0..LOOK).any(|_| out.write_all(b"a").is_err()));
    }
}
