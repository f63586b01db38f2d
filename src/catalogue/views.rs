//! Record graphs as views: what nobody stored and anybody may ask for.
//!
//! A record's graph is a function of its archived payload and the rules, and computing it takes less
//! time than reading it back from a store. Whoever opens a catalogue hands in the [`Views`] that
//! compute; this module knows how to find statements in them. What concerns one record costs one
//! computation. A pattern that names no record is a *scan*: all records are computed on all cores,
//! in the order in which they came, and only what fits goes on to the evaluator.

use super::spelling;
use super::{CatalogueError, Graphs};
use oxrdf::{NamedNode, NamedOrBlankNode, Term, Triple};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, OnceLock};

/// Computes the graphs of records.
pub trait Views: Send + Sync {
    /// What a record says now; `None` if there is no such record.
    fn graph(&self, source: &str, id: &str) -> Result<Option<Vec<Triple>>, CatalogueError>;

    /// Whether a record is there.
    fn has(&self, source: &str, id: &str) -> Result<bool, CatalogueError>;

    /// All records as they are now, in parts that can be computed side by side.
    fn census(&self) -> Result<Arc<dyn Census>, CatalogueError>;

    /// Makes a copy of what other processes need to compute the same, in a directory that is not
    /// there yet.
    fn snapshot(&self, to: &Path) -> Result<(), CatalogueError>;
}

/// All records at one moment.
pub trait Census: Send + Sync {
    fn records(&self) -> u64;

    fn parts(&self) -> usize;

    /// The records of one part with their statements.
    fn part(&self, number: usize) -> Result<Vec<(NamedNode, Vec<Triple>)>, CatalogueError>;

    /// The names of the records of one part.
    fn names(&self, number: usize) -> Result<Vec<NamedNode>, CatalogueError>;
}

/// Which statements of record graphs are wanted; `None` stands for any.
#[derive(Debug, Clone, Default)]
pub(super) struct Pattern {
    pub subject: Option<Term>,
    pub predicate: Option<Term>,
    pub object: Option<Term>,
}

impl Pattern {
    fn fits(&self, triple: &Triple) -> bool {
        self.predicate.as_ref().is_none_or(
            |predicate| matches!(predicate, Term::NamedNode(predicate) if *predicate == triple.predicate),
        ) && self.subject.as_ref().is_none_or(|subject| is_subject(subject, &triple.subject))
            && self.object.as_ref().is_none_or(|object| *object == triple.object)
    }
}

fn is_subject(term: &Term, subject: &NamedOrBlankNode) -> bool {
    match (term, subject) {
        (Term::NamedNode(term), NamedOrBlankNode::NamedNode(subject)) => term == subject,
        (Term::BlankNode(term), NamedOrBlankNode::BlankNode(subject)) => term == subject,
        _ => false,
    }
}

/// The graph of one record.
#[derive(Debug)]
pub(super) struct View {
    pub name: NamedNode,
    pub triples: Vec<Triple>,
    /// Places of statements by the hash of their subject and of their object; of large graphs only.
    by_node: OnceLock<[FxHashMap<u64, Vec<u32>>; 2]>,
}

/// Graphs with more statements than this are searched by an index.
const LARGE: usize = 512;

impl View {
    /// A graph as a store would hold it: each statement once, spelt by its value.
    pub fn new(name: NamedNode, mut triples: Vec<Triple>) -> Self {
        for triple in &mut triples {
            spelling::respell(&mut triple.object);
        }
        let mut known = FxHashSet::with_capacity_and_hasher(triples.len(), Default::default());
        let is_first: Vec<bool> = triples.iter().map(|triple| known.insert(triple)).collect();
        if is_first.contains(&false) {
            let mut is_first = is_first.into_iter();
            triples.retain(|_| is_first.next().unwrap_or(true));
        }
        Self { name, triples, by_node: OnceLock::new() }
    }

    /// The places of the statements that fit.
    pub fn matches(&self, pattern: &Pattern) -> Vec<u32> {
        let fits = |place: &u32| self.triples.get(*place as usize).is_some_and(|triple| pattern.fits(triple));
        if self.triples.len() > LARGE {
            let by_node = self.by_node.get_or_init(|| self.index());
            for (index, node) in by_node.iter().zip([&pattern.subject, &pattern.object]) {
                if let Some(node) = node {
                    let places = index.get(&hash_of(node)).map(Vec::as_slice).unwrap_or_default();
                    return places.iter().copied().filter(fits).collect();
                }
            }
        }
        (0..self.triples.len() as u32).filter(fits).collect()
    }

    fn index(&self) -> [FxHashMap<u64, Vec<u32>>; 2] {
        let mut index = [FxHashMap::<u64, Vec<u32>>::default(), FxHashMap::default()];
        for (place, triple) in (0..).zip(&self.triples) {
            let [subjects, objects] = &mut index;
            subjects.entry(hash_of(&Term::from(triple.subject.clone()))).or_default().push(place);
            objects.entry(hash_of(&triple.object)).or_default().push(place);
        }
        index
    }
}

fn hash_of(term: &Term) -> u64 {
    let mut hasher = FxHasher::default();
    term.hash(&mut hasher);
    hasher.finish()
}

/// Source and id of the record that an IRI is the name of, or a node of.
pub(super) fn record_of<'i>(graphs: &Graphs, iri: &'i str) -> Option<(String, String, &'i str)> {
    let path = iri.strip_prefix(graphs.base())?.strip_prefix("record/")?;
    let path = path.split_once('#').map_or(path, |(record, _)| record);
    let (source, id) = path.split_once('/')?;
    let decode = crate::record::percent_decode;
    let name = iri.split_once('#').map_or(iri, |(record, _)| record);
    Some((decode(source), decode(id), name))
}

/// A record with those of its statements that fit.
pub(super) struct Hit {
    pub view: Arc<View>,
    pub places: Vec<u32>,
}

/// More threads would wait for the one that takes what they found.
const MOST_THREADS: usize = 8;
/// Parts that each thread may be ahead.
const AHEAD: usize = 1;

/// Computes all records, a few at a time on each core, and hands out those in which something fits.
pub(super) fn scan(
    census: Arc<dyn Census>,
    pattern: Pattern,
) -> impl Iterator<Item = Result<Hit, CatalogueError>> {
    in_order(census, move |census, part| {
        let records = census.part(part)?.into_iter().map(|(name, triples)| View::new(name, triples));
        let hits = records.filter_map(|view| {
            let places = view.matches(&pattern);
            (!places.is_empty()).then(|| Hit { view: Arc::new(view), places })
        });
        Ok(hits.collect())
    })
}

/// The names of all records, in the order in which they came.
pub(super) fn names(census: Arc<dyn Census>) -> impl Iterator<Item = Result<NamedNode, CatalogueError>> {
    in_order(census, |census, part| census.names(part))
}

/// Does some work for each part on all cores, and gives what it made in the order of the parts.
/// When nobody takes it any more, the threads end.
fn in_order<T: Send + 'static>(
    census: Arc<dyn Census>,
    work: impl Fn(&dyn Census, usize) -> Result<Vec<T>, CatalogueError> + Send + Sync + 'static,
) -> impl Iterator<Item = Result<T, CatalogueError>> {
    let parts = census.parts();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = cores.min(MOST_THREADS).min(parts / 2).max(1);
    let work = Arc::new(work);
    let mut channels: Vec<Receiver<Result<Vec<T>, CatalogueError>>> = Vec::new();
    if threads > 1 {
        for first in 0..threads {
            let (sender, receiver) = sync_channel(AHEAD);
            let (census, work) = (Arc::clone(&census), Arc::clone(&work));
            let spawned = std::thread::Builder::new().name("scan".to_owned()).spawn(move || {
                for part in (first..parts).step_by(threads) {
                    let made = work(&*census, part);
                    let failed = made.is_err();
                    if sender.send(made).is_err() || failed {
                        return;
                    }
                }
            });
            if spawned.is_err() {
                // One is enough.
                channels.clear();
                break;
            }
            channels.push(receiver);
        }
    }
    let mut ended = false;
    (0..parts)
        .map(move |part| match channels.get(part % channels.len().max(1)) {
            Some(channel) => channel
                .recv()
                .unwrap_or_else(|_| Err(CatalogueError::Evaluation("computing records failed".to_owned()))),
            None => work(&*census, part),
        })
        .take_while(move |made| {
            let goes_on = !ended;
            ended |= made.is_err();
            goes_on
        })
        .flat_map(|made| match made {
            Ok(made) => made.into_iter().map(Ok).collect::<Vec<_>>(),
            Err(error) => vec![Err(error)],
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdf::Literal;
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// Records in memory, and how often one was computed.
    #[derive(Default)]
    struct Shelf {
        records: BTreeMap<(String, String), Vec<Triple>>,
        base: String,
        computed: Arc<AtomicUsize>,
    }

    impl Shelf {
        fn name(&self, source: &str, id: &str) -> NamedNode {
            Graphs::new(&self.base).unwrap().record(source, id)
        }
    }

    impl Views for Shelf {
        fn graph(&self, source: &str, id: &str) -> Result<Option<Vec<Triple>>, CatalogueError> {
            self.computed.fetch_add(1, Relaxed);
            Ok(self.records.get(&(source.to_owned(), id.to_owned())).cloned())
        }

        fn has(&self, source: &str, id: &str) -> Result<bool, CatalogueError> {
            Ok(self.records.contains_key(&(source.to_owned(), id.to_owned())))
        }

        fn census(&self) -> Result<Arc<dyn Census>, CatalogueError> {
            let all = self.records.iter();
            let all = all.map(|((source, id), triples)| (self.name(source, id), triples.clone()));
            Ok(Arc::new(Moment { all: all.collect(), computed: Arc::clone(&self.computed) }))
        }

        fn snapshot(&self, _: &Path) -> Result<(), CatalogueError> {
            Ok(())
        }
    }

    struct Moment {
        all: Vec<(NamedNode, Vec<Triple>)>,
        computed: Arc<AtomicUsize>,
    }

    impl Census for Moment {
        fn records(&self) -> u64 {
            self.all.len() as u64
        }

        fn parts(&self) -> usize {
            self.all.len().div_ceil(3)
        }

        fn part(&self, number: usize) -> Result<Vec<(NamedNode, Vec<Triple>)>, CatalogueError> {
            let part: Vec<_> = self.all.iter().skip(3 * number).take(3).cloned().collect();
            self.computed.fetch_add(part.len(), Relaxed);
            Ok(part)
        }

        fn names(&self, number: usize) -> Result<Vec<NamedNode>, CatalogueError> {
            Ok(self.part(number)?.into_iter().map(|(name, _)| name).collect())
        }
    }

    /// Records `0` to `count` of source `s`, each with a label and a number.
    fn shelf(base: &str, count: usize) -> Shelf {
        let mut shelf = Shelf { base: base.to_owned(), ..Shelf::default() };
        for number in 0..count {
            let name = shelf.name("s", &number.to_string());
            let node = NamedNode::new_unchecked(format!("{}#instance", name.as_str()));
            let term = |name: &str| NamedNode::new_unchecked(format!("x:{name}"));
            let triples = vec![
                Triple::new(name.clone(), term("describes"), node.clone()),
                Triple::new(node.clone(), term("label"), Literal::from(format!("label {}", number % 7))),
                Triple::new(node, term("number"), Literal::from(i64::try_from(number).unwrap())),
            ];
            shelf.records.insert(("s".to_owned(), number.to_string()), triples);
        }
        shelf
    }

    #[test]
    fn a_scan_gives_what_fits_in_the_order_of_the_records() {
        let shelf = shelf("https://c.example/", 100);
        let pattern =
            Pattern { object: Some(Literal::from("label 3".to_owned()).into()), ..Pattern::default() };
        let hits: Vec<Hit> = scan(shelf.census().unwrap(), pattern).map(Result::unwrap).collect();
        let all =
            shelf.records.iter().filter(|(_, triples)| triples[1].object.to_string().contains("label 3"));
        let expected: Vec<NamedNode> = all.map(|((source, id), _)| shelf.name(source, id)).collect();
        assert_eq!(hits.iter().map(|hit| hit.view.name.clone()).collect::<Vec<_>>(), expected);
        assert!(hits.iter().all(|hit| hit.places == [1]));
    }

    #[test]
    fn a_scan_that_nobody_takes_to_its_end_computes_little_more() {
        let shelf = shelf("https://c.example/", 3000);
        let first = scan(shelf.census().unwrap(), Pattern::default()).next().unwrap().unwrap();
        assert_eq!(first.places.len(), 3);
        // The threads notice when they hand over the next part.
        assert!(shelf.computed.load(Relaxed) < 300, "{}", shelf.computed.load(Relaxed));
    }

    #[test]
    fn a_large_graph_is_searched_by_an_index_and_gives_the_same() {
        let node = |number: usize| NamedNode::new_unchecked(format!("x:{number}"));
        let triples: Vec<Triple> = (0..2 * LARGE)
            .map(|number| Triple::new(node(number % 50), node(number % 3), node(number % 11)))
            .collect();
        let view = View::new(node(0), triples);
        assert!(view.triples.len() > LARGE);
        for pattern in [
            Pattern { subject: Some(node(7).into()), ..Pattern::default() },
            Pattern { object: Some(node(7).into()), predicate: Some(node(1).into()), subject: None },
            Pattern { subject: Some(node(49).into()), object: Some(node(10).into()), predicate: None },
        ] {
            let places = 0..view.triples.len() as u32;
            let expected: Vec<u32> =
                places.filter(|place| pattern.fits(&view.triples[*place as usize])).collect();
            assert_eq!(view.matches(&pattern), expected);
        }
    }

    #[test]
    fn a_node_tells_its_record() {
        let graphs = Graphs::new("https://c.example/").unwrap();
        let record = graphs.record("a b", "x/1#2");
        let node = format!("{}#title-1", record.as_str());
        let expected = Some(("a b".to_owned(), "x/1#2".to_owned(), record.as_str()));
        assert_eq!(record_of(&graphs, &node), expected);
        assert_eq!(record_of(&graphs, record.as_str()), expected);
        assert_eq!(record_of(&graphs, "https://c.example/work/1"), None);
        assert_eq!(record_of(&graphs, "https://other.example/record/a/1"), None);
    }
}
