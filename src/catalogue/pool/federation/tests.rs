//! Answers of endpoints that are functions, and what becomes of queries with them.

use super::*;
use oxigraph::sparql::{QueryResults, SparqlEvaluator};
use oxigraph::store::Store;
use oxrdf::Term;
use spargebra::SparqlParser;
use std::sync::Mutex;

const TIME: Duration = Duration::from_secs(60);
/// Fewer than in earnest: other tests look at the memory of this process.
const ROWS_HERE: usize = 50;

/// A store, what was asked, and the rows of a query as text.
struct Here {
    store: Store,
    asked: Mutex<Vec<String>>,
}

impl Here {
    fn new(update: &str) -> Self {
        let store = Store::new().unwrap();
        SparqlEvaluator::new().parse_update(update).unwrap().on_store(&store).execute().unwrap();
        Self { store, asked: Mutex::default() }
    }

    /// The rows of a query, sorted, while every endpoint answers so.
    fn rows(&self, text: &str, answer: &str) -> Result<Vec<String>, Unanswered> {
        let elsewhere = |endpoint: &NamedNode, query: &str, _: Duration| {
            self.asked.lock().unwrap().push(format!("{endpoint} {query}"));
            match answer {
                "" => Err(Unanswered::Failed(format!("{endpoint} is down"))),
                answer => Ok(answer.as_bytes().to_vec()),
            }
        };
        let mut query = SparqlParser::new().parse_query(text).unwrap();
        Federation { rows: ROWS_HERE, ..Federation::new(&elsewhere, TIME) }.answer(&mut query)?;
        let QueryResults::Solutions(solutions) =
            SparqlEvaluator::new().for_query(query).on_store(&self.store).execute().unwrap()
        else {
            panic!("it is no SELECT");
        };
        let cell = |term: &Option<Term>| term.as_ref().map_or("-".to_owned(), Term::to_string);
        let mut rows: Vec<String> = solutions
            .map(|row| row.unwrap().values().iter().map(cell).collect::<Vec<_>>().join(" "))
            .collect();
        rows.sort();
        Ok(rows)
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

fn here() -> Here {
    Here::new("INSERT DATA { <x:a> <x:name> 'a' . <x:b> <x:name> 'b' . _:b0 <x:name> 'blank' }")
}

fn answer(bindings: &str) -> String {
    format!("{{\"head\":{{\"vars\":[\"s\",\"n\",\"o\"]}},\"results\":{{\"bindings\":[{bindings}]}}}}")
}

#[test]
fn rows_of_an_endpoint_are_joined_and_asked_for_once() {
    let here = here();
    let other =
        answer("{\"s\":{\"type\":\"uri\",\"value\":\"x:a\"},\"o\":{\"type\":\"literal\",\"value\":\"A\"}}");
    let text = "SELECT ?s ?n ?o { ?s <x:name> ?n SERVICE <x:there> { ?s <x:other> ?o } }";
    assert_eq!(here.rows(text, &other).unwrap(), ["<x:a> \"a\" \"A\""]);
    let asked = here.asked();
    assert_eq!(asked.len(), 1);
    let sent = asked[0].strip_prefix("<x:there> ").unwrap();
    assert!(SparqlParser::new().parse_query(sent).is_ok(), "{sent}");
    assert!(sent.starts_with("SELECT") && sent.contains("?s <x:other> ?o"), "{sent}");
    let text = "SELECT ?s { ?s <x:name> ?n FILTER EXISTS { SERVICE <x:there> { ?s <x:other> ?o } } }";
    assert_eq!(here.rows(text, &other).unwrap(), ["<x:a>"]);
    assert_eq!(here.asked().len(), 1, "not for each row");
    let text = "SELECT ?s ?o { ?s <x:name> ?n OPTIONAL { SERVICE <x:there> { ?s <x:other> ?o } FILTER(?n != 'x') } FILTER(ISIRI(?s)) }";
    assert_eq!(here.rows(text, &other).unwrap(), ["<x:a> \"A\"", "<x:b> -"]);
}

#[test]
fn an_endpoint_binds_nothing_it_was_not_asked_for() {
    let here = here();
    let other = answer(
        "{\"s\":{\"type\":\"uri\",\"value\":\"x:a\"},\"n\":{\"type\":\"literal\",\"value\":\"forged\"}}",
    );
    let text = "SELECT ?s ?n { ?s <x:name> ?n SERVICE <x:there> { ?s ?p ?o } }";
    assert_eq!(here.rows(text, &other).unwrap(), ["<x:a> \"a\""]);
}

#[test]
fn blank_nodes_of_an_endpoint_are_its_own() {
    let here = here();
    let node = |name: &str, n: usize| {
        format!(
            "{{\"s\":{{\"type\":\"bnode\",\"value\":\"{name}\"}},\"o\":{{\"type\":\"literal\",\"value\":\"{n}\"}}}}"
        )
    };
    let other = answer(&[node("b0", 1), node("b0", 2), node("b1", 3)].join(","));
    let text = "SELECT ?o { ?s <x:name> ?n SERVICE <x:there> { ?s <x:other> ?o } }";
    assert!(here.rows(text, &other).unwrap().is_empty(), "`_:b0` is another one here");
    let text = "SELECT (COUNT(DISTINCT ?s) AS ?n) (COUNT(*) AS ?all) \
                { SERVICE <x:there> { ?s <x:other> ?o } FILTER(ISBLANK(?s)) }";
    let counted = here.rows(text, &other).unwrap();
    assert!(counted[0].starts_with("\"2\"") && counted[0].contains(" \"3\""), "{counted:?}");
    // Another clause, another answer.
    let text = "SELECT ?s { SERVICE <x:there> { ?s <x:p> ?o } SERVICE <x:elsewhere> { ?s <x:q> ?x } }";
    assert!(here.rows(text, &other).unwrap().is_empty());
}

#[test]
fn what_fails_ends_the_query_unless_it_is_silent() {
    let here = here();
    for broken in [
        "",
        "<html>",
        "{\"head\":{},\"boolean\":true}",
        "{\"head\":{\"vars\":[]},\"results\":{\"bindings\":[",
    ] {
        let text = "SELECT ?n ?o { ?s <x:name> ?n FILTER(ISIRI(?s)) SERVICE <x:there> { ?s ?p ?o } }";
        assert!(matches!(here.rows(text, broken), Err(Unanswered::Failed(_))), "{broken}");
        let silent = text.replace("SERVICE", "SERVICE SILENT");
        assert_eq!(here.rows(&silent, broken).unwrap(), ["\"a\" -", "\"b\" -"], "{broken}");
    }
}

#[test]
fn variables_and_clauses_within_clauses_are_refused_and_not_asked() {
    let here = here();
    for text in [
        "SELECT * { VALUES ?e { <x:there> } SERVICE ?e { ?s ?p ?o } }",
        "SELECT * { SERVICE <x:there> { ?s ?p ?o FILTER EXISTS { SERVICE <x:inside> { ?s ?q ?r } } } }",
    ] {
        assert!(matches!(here.rows(text, ""), Err(Unanswered::Refused(_))), "{text}");
        assert_eq!(here.rows(&text.replacen("SERVICE", "SERVICE SILENT", 1), "").unwrap().len(), 1);
    }
    assert!(here.asked().is_empty());
}

#[test]
fn a_query_asks_so_often_and_no_more() {
    let here = here();
    let clauses = |silent: &str| -> String {
        (0..40).map(|n| format!("SERVICE {silent} <x:there> {{ ?s <x:{n}> ?o }} ")).collect()
    };
    let other = answer("{\"s\":{\"type\":\"uri\",\"value\":\"x:a\"}}");
    let refused = here.rows(&format!("SELECT * {{ {} }}", clauses("")), &other);
    assert!(matches!(refused, Err(Unanswered::TooMuch(message)) if message.contains("32")));
    assert_eq!(here.asked().len(), 32);
    assert_eq!(here.rows(&format!("SELECT * {{ {} }}", clauses("SILENT")), &other).unwrap().len(), 1);
    assert_eq!(here.asked().len(), 32);
}

#[test]
fn more_rows_than_one_query_may_have_are_too_much() {
    let here = here();
    let rows = vec!["{}"; ROWS_HERE / 2 + 1].join(",");
    let once = "SELECT (COUNT(*) AS ?n) { SERVICE <x:there> { ?s ?p ?o } }";
    assert_eq!(here.rows(once, &answer(&rows)).unwrap().len(), 1);
    let twice =
        "SELECT (COUNT(*) AS ?n) { { SERVICE <x:1> { ?s ?p ?o } } UNION { SERVICE <x:2> { ?s ?p ?o } } }";
    let refused = here.rows(twice, &answer(&rows));
    assert!(matches!(refused, Err(Unanswered::TooMuch(message)) if message.contains("LIMIT")));
}

#[test]
fn each_request_has_half_of_the_time_that_is_left() {
    let times = Mutex::new(Vec::new());
    let elsewhere = |_: &NamedNode, _: &str, time: Duration| {
        times.lock().unwrap().push(time);
        Err(Unanswered::Failed(String::new()))
    };
    let text = "ASK { SERVICE SILENT <x:1> { ?s ?p ?o } SERVICE SILENT <x:2> { ?s ?p ?o } }";
    let mut query = SparqlParser::new().parse_query(text).unwrap();
    let begun = Instant::now();
    Federation::new(&elsewhere, TIME).answer(&mut query).unwrap();
    // Both answer at once, so half of all is left for each, but for the time of the test itself.
    let least = TIME.saturating_sub(begun.elapsed()) / 2;
    let times = times.into_inner().unwrap();
    assert_eq!(times.len(), 2);
    assert!(times.iter().all(|time| (least..=TIME / 2).contains(time)), "{times:?}");
    assert!(times[1] < times[0], "{times:?}");
}
