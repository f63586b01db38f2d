//! Queries with searches, evaluated over a small store.

use super::*;
use oxigraph::sparql::{QueryResults, SparqlEvaluator};
use oxigraph::store::Store;
use spargebra::SparqlParser;
use std::cell::RefCell;

const PREFIXES: &str = "PREFIX : <e:> PREFIX pin: <https://w3id.org/pinakes#> ";

/// Answers `word` with the entries whose titles hold it, and notes what was asked.
struct Titles {
    asked: RefCell<Vec<SearchRequest>>,
}

impl Titles {
    fn new() -> Self {
        Self { asked: RefCell::new(Vec::new()) }
    }

    fn search(&self, request: &SearchRequest) -> Result<Vec<(String, f32)>, String> {
        self.asked.borrow_mut().push(request.clone());
        let found = match request.words.as_str() {
            "walden" => vec![("e:1", 2.5), ("e:2", 1.0)],
            "woods" => vec![("e:2", 0.75), ("e:3", 0.5)],
            "broken" => return Err("the index is gone".to_owned()),
            "odd" => vec![("no iri", 1.0), ("e:1", f32::NAN)],
            _ => Vec::new(),
        };
        Ok(found.into_iter().map(|(iri, score)| (iri.to_owned(), score)).collect())
    }

    fn rewrite(&self, text: &str) -> Result<Query, SearchError> {
        let query = SparqlParser::new().parse_query(&format!("{PREFIXES}{text}")).unwrap();
        rewrite(query, &|request| self.search(request))
    }
}

fn store() -> Store {
    let store = Store::new().unwrap();
    let update = "INSERT DATA {
        <e:1> <e:year> 1854 . <e:2> <e:year> 1908 . <e:3> <e:year> 1950 .
        <e:1> <e:by> <e:thoreau> . <e:2> <e:by> <e:thoreau> .
        GRAPH <e:g> { <e:1> <e:note> 'a' . <e:3> <e:note> 'c' } }";
    SparqlEvaluator::new().parse_update(update).unwrap().on_store(&store).execute().unwrap();
    store
}

fn rows(query: Query) -> Vec<String> {
    match SparqlEvaluator::new().for_query(query).on_store(&store()).execute().unwrap() {
        QueryResults::Solutions(solutions) => {
            let variables = solutions.variables().to_vec();
            let mut rows: Vec<String> = solutions
                .map(|solution| {
                    let solution = solution.unwrap();
                    let value = |name| {
                        solution.get(name).map_or("-".to_owned(), |term| match term {
                            oxrdf::Term::NamedNode(node) => node.as_str().to_owned(),
                            oxrdf::Term::Literal(literal) => literal.value().to_owned(),
                            other => other.to_string(),
                        })
                    };
                    variables.iter().map(|name| value(name.as_str())).collect::<Vec<_>>().join(" ")
                })
                .collect();
            rows.sort();
            rows
        }
        QueryResults::Boolean(answer) => vec![answer.to_string()],
        QueryResults::Graph(triples) => {
            let mut lines: Vec<String> = triples.map(|triple| triple.unwrap().to_string()).collect();
            lines.sort();
            lines
        }
    }
}

/// What a query gives, rewritten and once more by way of its text.
fn check(text: &str, expected: &[&str]) {
    let rewritten = Titles::new().rewrite(text).unwrap();
    let again = SparqlParser::new().parse_query(&rewritten.to_string()).unwrap();
    assert_eq!(rows(rewritten), expected, "{text}");
    assert_eq!(rows(again), expected, "by way of its text: {text}");
}

fn check_error(text: &str, expected: &str) {
    assert_eq!(Titles::new().rewrite(text).unwrap_err().to_string(), expected, "{text}");
}

#[test]
fn d_5_a_search_is_a_pattern_like_others() {
    check("SELECT ?e { ?e pin:search 'walden' }", &["e:1", "e:2"]);
    check("SELECT ?e ?y { ?e :year ?y ; pin:search 'walden'@en }", &["e:1 1854", "e:2 1908"]);
    check("SELECT ?e ?s { ?e pin:search [ pin:query 'walden' ; pin:score ?s ] }", &["e:1 2.5", "e:2 1"]);
    check("SELECT ?e { ?e pin:search [ pin:query 'walden' ; pin:limit 1 ] }", &["e:1"]);
    check("SELECT ?e { ?e pin:search ?q . ?e :by ?a . ?q pin:query 'woods' }", &["e:2"]);
    check("ASK { :1 pin:search 'walden' }", &["true"]);
    check("ASK { :3 pin:search 'walden' }", &["false"]);
    check("SELECT ?s { :2 pin:search [ pin:query 'woods' ; pin:score ?s ] ; :year ?y }", &["0.75"]);
    check(
        "CONSTRUCT { ?e :found true } { ?e pin:search 'woods' }",
        &[
            "<e:2> <e:found> \"true\"^^<http://www.w3.org/2001/XMLSchema#boolean>",
            "<e:3> <e:found> \"true\"^^<http://www.w3.org/2001/XMLSchema#boolean>",
        ],
    );
    check("SELECT ?e { ?e pin:search 'nothing' ; :year ?y }", &[]);
    check("SELECT ?e { ?e pin:search [ pin:query 'odd' ; pin:score ?s ] }", &["e:1"]);
}

#[test]
fn searches_stand_wherever_patterns_do() {
    check(
        "SELECT ?e ?f { ?e :year ?y OPTIONAL { ?e pin:search 'walden' BIND(1 AS ?f) } }",
        &["e:1 1", "e:2 1", "e:3 -"],
    );
    check(
        "SELECT ?e { { ?e pin:search 'walden' } UNION { ?e pin:search 'woods' } }",
        &["e:1", "e:2", "e:2", "e:3"],
    );
    check("SELECT ?e ?n { GRAPH ?g { ?e pin:search 'walden' ; :note ?n } }", &["e:1 a"]);
    check("SELECT ?e { ?e :year ?y { SELECT ?e { ?e pin:search 'woods' } ORDER BY ?e LIMIT 1 } }", &["e:2"]);
    check("SELECT ?e { ?e :year ?y FILTER EXISTS { ?e pin:search 'woods' } }", &["e:2", "e:3"]);
    check(
        "SELECT ?e { ?e :year ?y FILTER(?y > 0 && !(NOT EXISTS { ?e pin:search 'woods' })) }",
        &["e:2", "e:3"],
    );
    check("SELECT ?e { ?e :year ?y MINUS { ?e pin:search 'woods' } }", &["e:1"]);
    check("SELECT (COUNT(?e) AS ?n) { ?e pin:search 'walden' } GROUP BY ?x", &["2"]);
    check("SELECT ?e { ?e pin:search 'walden' ; pin:search 'woods' ; :year ?y }", &["e:2"]);
    check(
        "SELECT ?e ?s ?t { ?e pin:search [ pin:query 'walden' ; pin:score ?s ] , [ pin:query 'woods' ; pin:score ?t ] }",
        &["e:2 1 0.75"],
    );
    check(
        "SELECT ?e ?f { ?e pin:search 'walden' . ?f pin:search 'woods' . ?e :by ?a . ?f :by ?a }",
        &["e:1 e:2", "e:2 e:2"],
    );
    check("SELECT ?e { ?e pin:search 'walden' . ?e :by/^:by ?f } GROUP BY ?e", &["e:1", "e:2"]);
}

#[test]
fn the_index_is_asked_once_for_each_search_with_all_it_says() {
    let titles = Titles::new();
    titles
        .rewrite(
            "SELECT * { ?e pin:search [ pin:query 'a b' ; pin:field 'title' ; pin:limit 7 ; pin:expand true ] .
             OPTIONAL { :x pin:search 'c' } }",
        )
        .unwrap();
    let request = |words: &str| SearchRequest {
        words: words.to_owned(),
        field: None,
        limit: MOST_HITS,
        expand: false,
        entry: None,
    };
    let first = SearchRequest { field: Some(Field::Title), limit: 7, expand: true, ..request("a b") };
    let second = SearchRequest { entry: Some("e:x".to_owned()), ..request("c") };
    assert_eq!(*titles.asked.borrow(), [first, second]);
}

#[test]
fn other_patterns_are_left_alone() {
    for text in
        ["SELECT * { ?s ?p ?o }", "ASK { ?q pin:query 'x' ; pin:limit 1 }", "SELECT * { ?s pin:search* ?o }"]
    {
        let query = SparqlParser::new().parse_query(&format!("{PREFIXES}{text}")).unwrap();
        let never = |_: &SearchRequest| -> Result<Vec<(String, f32)>, String> { unreachable!() };
        assert_eq!(rewrite(query.clone(), &never).unwrap(), query);
    }
}

#[test]
fn updates_search_too() {
    let text = format!(
        "{PREFIXES} DELETE {{ ?e :year ?y }} WHERE {{ ?e :year ?y ; pin:search 'woods' }} ; CLEAR GRAPH :g"
    );
    let update = SparqlParser::new().parse_update(&text).unwrap();
    let rewritten = rewrite_update(update, &|request| Titles::new().search(request)).unwrap();
    let store = store();
    SparqlEvaluator::new().for_update(rewritten).on_store(&store).execute().unwrap();
    assert_eq!(store.len().unwrap(), 3);
}

#[test]
fn what_is_wrong_is_said() {
    check_error(
        "SELECT * { ?e pin:search ?w }",
        "`?w` has no pin:query beside it that says the words of its pin:search",
    );
    check_error(
        "SELECT * { ?e pin:search :w }",
        "the words of pin:search must stand in the query as a string, not as `<e:w>`",
    );
    check_error(
        "SELECT * { ?e pin:search [ pin:query ?w ] }",
        "the words of pin:search must stand in the query as a string, not as `?w`",
    );
    check_error(
        "SELECT * { 'x' pin:search 'a' }",
        "pin:search finds entries: its subject must be a variable or an IRI, not `\"x\"`",
    );
    check_error(
        "SELECT * { ?e pin:search [ pin:query 'a' ; :colour 'red' ] }",
        "a search has pin:query, pin:field, pin:limit, pin:expand and pin:score, but not `<e:colour>`",
    );
    check_error("SELECT * { ?e pin:search [ pin:query 'a' , 'b' ] }", "a search has one pin:query");
    check_error(
        "SELECT * { ?e pin:search [ pin:query 'a' ; pin:limit 0 ] }",
        "pin:limit must be a number from 1 to 10000, not `\"0\"^^<http://www.w3.org/2001/XMLSchema#integer>`",
    );
    check_error(
        "SELECT * { ?e pin:search [ pin:query 'a' ; pin:expand ?x ] }",
        "pin:expand must be true or false, not `?x`",
    );
    check_error(
        "SELECT * { ?e pin:search [ pin:query 'a' ; pin:score 1.0 ] }",
        "pin:score must be a variable, not `\"1.0\"^^<http://www.w3.org/2001/XMLSchema#decimal>`",
    );
    check_error("SELECT * { ?e pin:search 'broken' }", "the search failed: the index is gone");
    let many = "?e pin:search 'walden' . ".repeat(MOST_SEARCHES + 1);
    check_error(&format!("SELECT * {{ {many} }}"), "a query may search 16 times");
}

/// Counting work, not time: how many statements the evaluator looks at for a few hits.
#[test]
fn evaluation_starts_from_the_hits() {
    let store = Store::new().unwrap();
    let kind = oxrdf::NamedNodeRef::new_unchecked("e:kind");
    let thing = oxrdf::NamedNodeRef::new_unchecked("e:thing");
    for n in 0..3000 {
        let entry = oxrdf::NamedNode::new_unchecked(format!("e:{n}"));
        store.insert(oxrdf::QuadRef::new(&entry, kind, thing, oxrdf::GraphNameRef::DefaultGraph)).unwrap();
    }
    let hits: Vec<(String, f32)> = (0..2000).map(|n| (format!("e:{n}"), 1.0)).collect();
    let text = format!("{PREFIXES} SELECT ?e {{ ?e :kind :thing ; pin:search 'x' }}");
    let query = SparqlParser::new().parse_query(&text).unwrap();
    let rewritten = rewrite(query, &|_| Ok(hits.clone())).unwrap();
    let (results, explanation) =
        SparqlEvaluator::new().for_query(rewritten).on_store(&store).compute_statistics().explain();
    let QueryResults::Solutions(solutions) = results.unwrap() else { panic!("a SELECT") };
    assert_eq!(solutions.count(), 2000);
    let mut json = Vec::new();
    explanation.write_in_json(&mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let mut read = 0;
    let mut waiting = vec![&json];
    while let Some(value) = waiting.pop() {
        if value["name"].as_str().is_some_and(|name| name.contains("e:kind")) {
            read += value["number of results"].as_u64().unwrap();
        }
        waiting.extend(value.as_array().into_iter().flatten());
        waiting.extend(value.as_object().into_iter().flat_map(|object| object.values()));
    }
    assert_eq!(read, 2000, "{json:#}");
}
