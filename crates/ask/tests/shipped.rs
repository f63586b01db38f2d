//! The shipped queries: all are compiled, and give of any record the rows that spareval gives.

mod support;

use pinakes_ask::{Graph, Questions};
use proptest::prelude::*;
use support::records::{disturbed, record};
use support::{rows_of_ask, rows_of_spareval, shipped};

#[test]
fn every_shipped_query_is_compiled() {
    let shipped = shipped();
    assert!(shipped.len() >= 8);
    let questions = Questions::new(shipped.iter().map(|(_, query)| query.clone()).collect());
    for (number, (file, _)) in shipped.iter().enumerate() {
        assert_eq!(questions.obstacle(number), None, "{}", file.display());
    }
}

/// Records are read by many threads: they share the questions, and each has a graph of its own.
#[test]
fn questions_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    fn owned<T: Send>() {}
    shared::<Questions>();
    owned::<Graph>();
}

#[test]
fn records_give_the_rows_of_spareval() {
    let shipped = shipped();
    let questions = Questions::new(shipped.iter().map(|(_, query)| query.clone()).collect());
    let mut graph = Graph::new();
    let mut rows = vec![0; shipped.len()];
    for seed in 0..300 {
        let (name, triples) = record(seed);
        for (number, (file, query)) in shipped.iter().enumerate() {
            let ours = rows_of_ask(&questions, &mut graph, (number, query), &name, &triples);
            let theirs = rows_of_spareval(query, &name, &triples);
            rows[number] += ours.len();
            assert_eq!(ours, theirs, "record {seed}, {}", file.display());
        }
    }
    // Records that no query has an answer for would prove nothing.
    assert!(rows.iter().all(|rows| *rows > 100), "{rows:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn disturbed_records_give_the_rows_of_spareval(
        seed in 0..10_000_u64,
        changes in prop::collection::vec(any::<(u16, u8, u8)>(), 0..60),
    ) {
        let (name, triples) = disturbed(seed, &changes);
        let shipped = shipped();
        let questions = Questions::new(shipped.iter().map(|(_, query)| query.clone()).collect());
        let mut graph = Graph::new();
        for (number, (file, query)) in shipped.iter().enumerate() {
            let ours = rows_of_ask(&questions, &mut graph, (number, query), &name, &triples);
            let theirs = rows_of_spareval(query, &name, &triples);
            prop_assert_eq!(ours, theirs, "{}", file.display());
        }
    }
}
