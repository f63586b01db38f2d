//! What was read of the neighbours of one entry, for those that come next.
//!
//! An instance is found by what its work and hub say, and each of these has a document of its own;
//! a subject is named by thousands. Documents are made in an order in which neighbours follow each
//! other, so each is read from the store once.

use crate::catalogue::CatalogueError;
use oxrdf::{NamedNode, Term, Triple};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// About so many bytes are held; then all are let go.
const MOST: usize = 64 << 20;
/// What a statement takes beside its texts.
const STATEMENT: usize = 200;

/// The store must not change while it is used.
#[derive(Default)]
pub struct Near {
    /// All that is said of works and hubs.
    pub(super) whole: Recent,
    /// What agents and subjects are called.
    pub(super) names: Recent,
}

#[derive(Default)]
pub(super) struct Recent(Mutex<Held>);

#[derive(Default)]
struct Held {
    known: FxHashMap<NamedNode, Arc<[Triple]>>,
    bytes: usize,
}

impl Recent {
    /// What is known of a node, or is read now.
    pub fn get(
        &self,
        node: &NamedNode,
        read: impl FnOnce() -> Result<Vec<Triple>, CatalogueError>,
    ) -> Result<Arc<[Triple]>, CatalogueError> {
        let held = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = held().known.get(node) {
            return Ok(Arc::clone(known));
        }
        // Two that read the same at once find the same.
        let found: Arc<[Triple]> = read()?.into();
        let mut held = held();
        if held.bytes > MOST {
            *held = Held::default();
        }
        held.bytes += STATEMENT + found.iter().map(size).sum::<usize>();
        held.known.insert(node.clone(), Arc::clone(&found));
        Ok(found)
    }
}

fn size(triple: &Triple) -> usize {
    let object = match &triple.object {
        Term::Literal(literal) => literal.value().len(),
        Term::NamedNode(node) => node.as_str().len(),
        _ => 0,
    };
    STATEMENT + object
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ontology::{bf, rdf};

    #[test]
    fn each_is_read_once_until_there_are_too_many() {
        let near = Near::default();
        let node = |number: usize| NamedNode::new_unchecked(format!("https://c.example/work/{number}"));
        let mut reads = 0;
        let mut whole = |number: usize, statements: usize| {
            let about = Triple::new(node(number), rdf::TYPE, bf::WORK);
            let found = near.whole.get(&node(number), || {
                reads += 1;
                Ok(vec![about; statements])
            });
            assert_eq!(found.unwrap().len(), statements);
            reads
        };
        assert_eq!([whole(1, 3), whole(1, 3), whole(2, 1)], [1, 1, 2]);
        assert_eq!([whole(3, MOST / STATEMENT), whole(4, 1), whole(1, 3)], [3, 4, 5]);
    }
}
