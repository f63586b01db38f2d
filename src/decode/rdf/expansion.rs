//! How much longer the statements of a document may be than the document.
//!
//! A prefix, a base or a namespace is written once and stands in every name that uses it. One of
//! megabytes would make gigabytes of a small document.

use super::guard::too_much;
use oxrdf::{GraphName, NamedOrBlankNode, Quad, Term};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of statements that any document may have, and more for each of its own.
const FREE: u64 = 64 * 1024 * 1024;
const RATIO: u64 = 200;

/// The length of a document and of its statements so far.
pub(super) struct Expansion {
    read: Arc<AtomicU64>,
    written: u64,
}

impl Expansion {
    /// Watches a document of which so many bytes were read.
    pub fn of(read: Arc<AtomicU64>) -> Self {
        Self { read, written: 0 }
    }

    /// Takes the next statement, unless it is one too many.
    pub fn take(&mut self, quad: &Quad) -> io::Result<()> {
        self.written += length(quad);
        if self.written > FREE + RATIO * self.read.load(Ordering::Relaxed) {
            let message = format!("its statements are more than {RATIO} times as long as the document");
            return Err(too_much(message));
        }
        Ok(())
    }
}

fn length(quad: &Quad) -> u64 {
    let subject = match &quad.subject {
        NamedOrBlankNode::NamedNode(name) => name.as_str().len(),
        NamedOrBlankNode::BlankNode(name) => name.as_str().len(),
    };
    let object = match &quad.object {
        Term::NamedNode(name) => name.as_str().len(),
        Term::BlankNode(name) => name.as_str().len(),
        Term::Literal(literal) => literal.value().len() + literal.datatype().as_str().len(),
    };
    let graph = match &quad.graph_name {
        GraphName::NamedNode(name) => name.as_str().len(),
        GraphName::BlankNode(name) => name.as_str().len(),
        GraphName::DefaultGraph => 0,
    };
    (subject + quad.predicate.as_str().len() + object + graph) as u64
}
