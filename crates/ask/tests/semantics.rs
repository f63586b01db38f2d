//! Small cases of what SPARQL means, each compared with spareval on one graph.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it does not expect")]

mod support;

use oxrdf::{NamedNode, Triple};
use pinakes_ask::{Graph, Questions};
use proptest::prelude::*;
use spareval::{QueryEvaluator, QueryResults};
use support::{parse, rows_of_ask, rows_of_spareval};

const PREFIXES: &str = "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> BASE <http://example.org/>";

/// A graph with a bit of everything. It is made by SPARQL, as no parser of Turtle is at hand.
const DATA: &str = r#"
    :g :describes :a . :a :knows :b, :c . :b :knows :c . :c :knows :c . :a :age 12 . :b :age "012"^^xsd:integer .
    :c :age 12.0 . :d :age "twelve" . :e :age "12"^^xsd:int . :f :age "x"^^:odd .
    :a :label "Walden"@en, "Wälder"@de, "Walden" . :b :label "WALDEN" . :c :label "" . :d :label "wal.den"@EN .
    :a a :Person . :b a :Person, :Body . :c a :Body . :d a :Thing .
    :a :born "1817-07-12"^^xsd:date . :b :born "1817-07-12T00:00:00Z"^^xsd:dateTime . :c :born "1900"^^xsd:gYear .
    :a :dead false . :b :dead true . :c :dead "1"^^xsd:boolean . :d :dead "maybe"^^xsd:boolean .
    :a :next :b . :b :next :c . :c :next _:x . _:x :next :d . _:x :label "blank" .
    :p :kind :property . :knows :kind :property . :a :same :a . :a :near "Walden", 12 .
"#;

fn data() -> (NamedNode, Vec<Triple>) {
    let query = parse(&format!("{PREFIXES} CONSTRUCT {{ {DATA} }} WHERE {{}}"));
    let dataset = oxrdf::Dataset::new();
    let evaluator = QueryEvaluator::new();
    let QueryResults::Graph(triples) = evaluator.prepare(&query).execute(&dataset).unwrap() else { panic!() };
    (NamedNode::new("http://example.org/g").unwrap(), triples.map(Result::unwrap).collect())
}

/// Compares the rows; the query must be compiled, and have so many rows.
#[track_caller]
fn check(pattern: &str, count: usize) {
    let text = format!("{PREFIXES} SELECT * WHERE {{ {pattern} }}");
    let query = parse(&text.replace("BASE <http://example.org/>", ""));
    let (name, triples) = data();
    let theirs = rows_of_spareval(&query, &name, &triples);
    let questions = Questions::new(vec![query.clone()]);
    assert_eq!(questions.obstacle(0), None, "{pattern}");
    let ours = rows_of_ask(&questions, &mut Graph::new(), (0, &query), &name, &triples);
    assert_eq!(ours, theirs, "{pattern}");
    assert_eq!(ours.len(), count, "{pattern}\n{ours:#?}");
}

/// As [`check_in`], for a pattern that is left to spareval because of how its groups are nested.
#[track_caller]
fn check_left(pattern: &str, count: usize) {
    let query =
        parse(&format!("PREFIX : <http://example.org/> SELECT * WHERE {{ GRAPH ?g {{ {pattern} }} }}"));
    let (name, triples) = data();
    let questions = Questions::new(vec![query.clone()]);
    assert_eq!(questions.obstacle(0), Some("a group that depends on how it is nested"), "{pattern}");
    let ours = rows_of_ask(&questions, &mut Graph::new(), (0, &query), &name, &triples);
    assert_eq!(ours, rows_of_spareval(&query, &name, &triples), "{pattern}");
    assert_eq!(ours.len(), count, "{pattern}");
}

/// As [`check`], for a pattern that stands in the graph.
#[track_caller]
fn check_in(pattern: &str, count: usize) {
    check(&format!("GRAPH ?g {{ {pattern} }}"), count);
}

#[test]
fn graphs_are_named() {
    check("?s ?p ?o", 0);
    check("GRAPH ?g {}", 1);
    check("GRAPH :g {}", 1);
    check("GRAPH :other {}", 0);
    check("GRAPH :g { ?s :describes ?o }", 1);
    check("GRAPH :other { ?s :describes ?o }", 0);
    check_in("?g :describes ?o", 1);
    check("GRAPH ?g { VALUES ?x { 1 2 } }", 2);
    check("VALUES ?g { :g :h } GRAPH ?g { ?g :describes ?o }", 1);
    check("GRAPH ?g { ?g :describes ?o } GRAPH ?h { ?h :describes ?o }", 1);
    check("{} UNION { GRAPH ?g { :a :knows ?o } }", 3);
}

#[test]
fn patterns_join() {
    check_in("?s :knows ?o", 4);
    check_in("?s :knows ?s", 1);
    check_in("?s ?p ?s", 2);
    check_in("?s :knows ?o . ?o :knows ?t", 4);
    check_in("?s ?p :c", 4);
    check_in(":a ?p ?o . ?x ?p :c", 7);
    check_in("?p :kind :property . ?s ?p ?o", 4);
    check_in("VALUES ?p { :knows :age } :a ?p ?o", 3);
    check_in("?s :age 12", 1);
    check_in("?s :label 'Walden'@en", 1);
    check_in("?s :label ?x . ?t :near ?x", 1);
    check_in("[] :next ?n . ?n :label ?l", 4);
}

#[test]
fn paths_of_fixed_length() {
    check_in("?s :knows/:knows ?o", 3);
    check_in("?s ^:knows ?o", 4);
    check_in("?s :knows|:next ?o", 6);
    check_in("?s (:knows|:next)/:label ?o", 6);
    check_in("?s ^(:knows/:next) ?o", 4);
    check_in("?s (:knows/^:knows)|:same ?o", 9);
}

#[test]
fn options_keep_their_filters() {
    check_in("?s :age ?a OPTIONAL { ?s :label ?l }", 8);
    check_in("?s :age ?a OPTIONAL { ?s :label ?l FILTER(LANG(?l) = 'de') }", 6);
    check_in("?s :age ?a OPTIONAL { ?s :label ?l FILTER(?a = 12) }", 8);
    check_left("?s :age ?a OPTIONAL { { ?s :label ?l FILTER(BOUND(?a)) } }", 6);
    check_left("?s :age ?a OPTIONAL { ?s :label ?l OPTIONAL { ?s :dead ?d FILTER(?a = 12) } }", 8);
    check_in("?s :age ?a OPTIONAL { ?s :label ?l } OPTIONAL { ?s :near ?l }", 8);
    check_left("?s :age ?a OPTIONAL { ?s :nothing ?l } ?t :same ?l", 6);
    check_in("OPTIONAL { ?s :same ?o }", 1);
    check_in("OPTIONAL { ?s :nothing ?o }", 1);
    check_in("?s :same ?o OPTIONAL { :d :age ?x } OPTIONAL { VALUES (?x ?y) { ('twelve' 1) (UNDEF 2) } }", 2);
    check_in("?s :same ?o OPTIONAL { ?s :dead ?d FILTER(1 / 0) }", 1);
}

#[test]
fn groups_see_only_themselves() {
    check_left("?s :age ?a { ?t :label ?l FILTER(?a = 12) }", 0);
    check_left("?s :age ?a { ?t :label ?l FILTER(!BOUND(?a)) }", 42);
    check_left("?s :age ?a { BIND(?a AS ?b) }", 6);
    check_left("?s :same ?o { ?t :dead ?d OPTIONAL { ?t :age ?x FILTER(BOUND(?o)) } }", 4);
    check_left("{ ?s :age ?a OPTIONAL { ?s :label ?l } } ?t :near ?l", 5);
    check_left("?t :near ?l { ?s :age ?a OPTIONAL { ?s :label ?l } }", 5);
    check_left("?t :near ?l { ?s :age ?a OPTIONAL { ?s :label ?l } FILTER(BOUND(?l)) }", 1);
    check_in("?s :knows ?o { SELECT ?s WHERE { ?s :age ?o } }", 4);
    check_in("?s :knows ?o { SELECT DISTINCT ?o WHERE { ?o :knows ?s FILTER(?s = :c) } }", 4);
    check("GRAPH ?g { ?s :same ?o } { SELECT ?s WHERE { GRAPH ?g { ?s :near ?n } } }", 1);
}

#[test]
fn existence_sees_the_row() {
    check_in("?s :age ?a FILTER EXISTS { ?s :knows ?o }", 3);
    check_in("?s :age ?a FILTER NOT EXISTS { ?s :knows ?o }", 3);
    check_in("?s :age ?a FILTER NOT EXISTS { ?s :knows ?o FILTER(?o = :c) }", 3);
    check_in("?s :age ?a FILTER NOT EXISTS { ?o :knows ?s FILTER(?a = 12) }", 4);
    check_in("?s :age ?a FILTER(EXISTS { ?s :next ?n } || ?a = 'twelve')", 4);
    check_in("?s :age ?a BIND(EXISTS { ?s :next ?n } AS ?e)", 6);
    check_in("?s :age ?a FILTER EXISTS { ?s :knows ?o FILTER NOT EXISTS { ?o :knows ?s } }", 2);
    check_in("?s :age ?a FILTER NOT EXISTS { ?s :knows|:next ?c }", 3);
    check_in("?s :age ?a OPTIONAL { ?s :label ?l } FILTER NOT EXISTS { ?t :near ?l }", 5);
    check_in("?s :age ?a OPTIONAL { ?s :label ?l FILTER EXISTS { ?t :near ?l } }", 6);
}

#[test]
fn minus_needs_a_shared_variable() {
    check_in("?s :age ?a MINUS { ?s :knows ?o }", 3);
    check_in("?s :age ?a MINUS { ?x :knows ?o }", 0);
    check_in("?s :age ?a MINUS { ?s :age ?b FILTER(?a = 12) }", 6);
    check("GRAPH :g { ?s :age ?a MINUS { ?x :knows ?o } }", 6);
    check("GRAPH :g { ?s :age ?a OPTIONAL { ?s :label ?l } MINUS { ?t :near ?l } }", 7);
    check("GRAPH :g { ?s :age ?a } MINUS { VALUES ?s { :a :b } }", 4);
    check("GRAPH :g { ?s :age ?a } MINUS { VALUES (?s ?a) { (:a UNDEF) (UNDEF 'twelve') } }", 4);
}

#[test]
fn tables_may_have_gaps() {
    check_in("VALUES (?s ?x) { (:a 1) (:b UNDEF) (UNDEF 3) } ?s :age ?a", 8);
    check_in("?s :age ?a VALUES (?s ?a) { (UNDEF 12) (:d UNDEF) (:nobody 1) }", 2);
    check_in("VALUES ?a { 12 } ?s :age ?a", 1);
    check_in("VALUES () { () } ?s :same ?o", 1);
    check_in("VALUES ?s {} ?s :age ?a", 0);
    check_in("VALUES (?p ?o) { (:age 12) (UNDEF :c) } ?s ?p ?o", 5);
    check("VALUES ?f { 'a' 'b' } { GRAPH ?g { ?s :same ?o } BIND('a' AS ?f) }", 1);
    check("VALUES ?f { 'walden' 'b' } { GRAPH ?g { :b :label ?l } BIND(LCASE(?l) AS ?f) }", 1);
    check("VALUES ?f { 'a' 'b' } { GRAPH ?g { :a :knows ?l } BIND(LCASE(?l) AS ?f) }", 4);
}

#[test]
fn errors_are_no_rows_and_no_values() {
    check_in("?s :age ?a FILTER(?a > 11)", 4);
    check_in("?s :age ?a FILTER(!(?a > 11))", 0);
    check_in("?s :age ?a FILTER(?a > 11 || ISLITERAL(?a))", 6);
    check_in("?s :age ?a FILTER(?a > 11 || ISIRI(?a))", 4);
    check_in("?s :age ?a FILTER(!(?a > 11 && ISIRI(?a)))", 6);
    check_in("?s :age ?a FILTER(?nobody)", 0);
    check_in("?s :age ?a FILTER(!BOUND(?nobody))", 6);
    check_in("?s :age ?a BIND(LCASE(?a) AS ?b)", 6);
    check_in("?s :age ?a BIND(COALESCE(LCASE(?a), ?nobody, STR(?a), 'none') AS ?b)", 6);
    check_in("?s :age ?a BIND(IF(?nobody, 1, 2) AS ?b)", 6);
    check_in("?s :age ?a BIND(IF(?a = 12, 'twelve', ?nobody) AS ?b)", 6);
    check_in("?s :age ?a FILTER(?a IN (12, 'twelve'))", 5);
    check_in("?s :age ?a FILTER(?a NOT IN (12, 'twelve'))", 0);
    check_in("?s :age ?a FILTER(?a IN (13, ?nobody, 12))", 4);
    check_in("?s :age ?a FILTER(?s IN (:a, :b))", 2);
    check_in("?s :age ?a FILTER(?s IN ())", 0);
    check_in("?s :dead ?d FILTER(?d)", 2);
    check_in("?s :dead ?d FILTER(!?d)", 1);
    check_in("?s :label ?l FILTER(?l)", 3);
}

#[test]
fn literals_compare_by_value() {
    check_in("?s :age ?a . ?t :age ?b FILTER(?a = ?b)", 18);
    check_in("?s :age ?a . ?t :age ?b FILTER(?a != ?b)", 8);
    check_in("?s :age ?a . ?t :age ?b FILTER(SAMETERM(?a, ?b))", 6);
    check_in("?s :age ?a . ?t :age ?b FILTER(?a <= ?b)", 18);
    check_in("?s :born ?a . ?t :born ?b FILTER(?a = ?b)", 3);
    check_in("?s :label ?a . ?t :label ?b FILTER(?a = ?b)", 7);
    check_in("?s :label ?a . ?t :label ?b FILTER(?a < ?b)", 7);
    check_in("?s :dead ?a . ?t :dead ?b FILTER(?a = ?b)", 6);
    check_in("?s :next ?a . ?t :next ?b FILTER(?a = ?b)", 4);
    check_in("?s :next ?a . ?t :next ?b FILTER(?a <= ?b)", 4);
    check_in("?s :age ?a FILTER(?a = :a)", 0);
    check_in("?s :age ?a FILTER(SAMETERM(?a, 12))", 1);
    check_in("?s :age ?a FILTER(SAMETERM(?a + 0, 12))", 3);
}

#[test]
fn what_is_computed_is_rewritten() {
    check_in("?s :age ?a BIND(?a AS ?b)", 6);
    check_in("?s :age ?a BIND(COALESCE(?a, 1) AS ?b)", 6);
    check_in("?s :age ?a BIND(COALESCE(LCASE(?a), ?a) AS ?b)", 6);
    check_in("?s :age ?a BIND(IF(BOUND(?a), ?a, STR(?a)) AS ?b)", 6);
    check_in("?s :age ?a BIND(STR(?a) AS ?b) BIND(DATATYPE(?a) AS ?c)", 6);
    check_in("?s :age ?a BIND(?a + 1 AS ?b) BIND(-?a AS ?c) BIND(?a / 5 AS ?d) BIND(?a * 2 - 1 AS ?e)", 6);
    check_in("?s :born ?a BIND(YEAR(?a) AS ?b) BIND(STR(?a) AS ?c)", 3);
    check_in("?s :dead ?a BIND(STR(?a) AS ?b) BIND(!?a AS ?c)", 4);
    check_in("?s :age ?a BIND(ABS(?a) AS ?b) BIND(ISNUMERIC(?a) AS ?c) BIND(MD5(STR(?a)) AS ?d)", 6);
    check_in("?s :label ?l BIND(STRLANG(STR(?l), 'EN') AS ?b) BIND(STRDT(STR(?l), xsd:integer) AS ?c)", 7);
}

#[test]
fn texts_keep_their_language() {
    for expression in [
        "LCASE(?l)",
        "UCASE(?l)",
        "STR(?l)",
        "LANG(?l)",
        "STRLEN(?l)",
        "SUBSTR(?l, 2)",
        "SUBSTR(?l, 0, 3)",
        "SUBSTR(?l, 2, '3')",
        "STRBEFORE(?l, 'd')",
        "STRBEFORE(?l, 'd'@en)",
        "STRAFTER(?l, 'l')",
        "STRAFTER(?l, '')",
        "STRAFTER(?l, 'q'@de)",
        "CONTAINS(?l, 'd'@de)",
        "STRSTARTS(?l, 'W')",
        "STRENDS(?l, 'n'@en)",
        "CONCAT(?l, '!')",
        "CONCAT(?l, '!'@en)",
        "CONCAT(?l, '!'@en, '?'@en)",
        "CONCAT()",
        "CONCAT(?l, 12)",
        "ENCODE_FOR_URI(?l)",
        "REPLACE(?l, 'l', '$0$0')",
        "REPLACE(?l, 'L', '', 'i')",
        "REPLACE(?l, '.', '', 'q')",
        "REPLACE(?l, '[', '')",
        "REPLACE(?l, 'l', 'x'@en)",
        "REPLACE(?l, SUBSTR(?l, 1, 1), '')",
        "REGEX(?l, '^w', 'i')",
        "REGEX(?l, '^w', 'z')",
        "REGEX(?l, 'w . l', 'xi')",
        "REGEX(?l, ?l)",
        "LANGMATCHES(LANG(?l), 'EN')",
        "LANGMATCHES(LANG(?l), '*')",
        "LANGMATCHES(?l, '*')",
        "ISLITERAL(?l)",
        "ISIRI(?s)",
        "ISBLANK(?s)",
        "STR(?s)",
        "LANG(?s)",
        "DATATYPE(?l)",
        "LCASE(?s)",
        "IRI(STR(?s))",
        "?l = 'Walden'",
        "?l = 'Walden'@en",
    ] {
        check_in(&format!("?s :label ?l BIND({expression} AS ?x)"), 7);
        check_in(&format!("?s :label ?l BIND(STR({expression}) AS ?x) FILTER(?x != '')"), {
            let text = format!(
                "{PREFIXES} SELECT * WHERE {{ GRAPH ?g {{ ?s :label ?l BIND(STR({expression}) AS ?x) FILTER(?x != '') }} }}"
            );
            let query = parse(&text.replace("BASE <http://example.org/>", ""));
            let (name, triples) = data();
            rows_of_spareval(&query, &name, &triples).len()
        });
    }
    check_in("VALUES ?w { '^wal' '[' 'den$'@en } ?s :label ?l FILTER(REGEX(?l, ?w, 'i'))", 4);
}

#[test]
fn made_texts_are_terms_of_the_graph() {
    check("GRAPH ?g { :b :label ?l } BIND(CONCAT('Wal', 'den') AS ?x) GRAPH ?g { ?s :label ?x }", 1);
    check("GRAPH ?g { ?s :label ?l BIND(STR(?l) AS ?x) FILTER EXISTS { ?t :near ?x } }", 2);
    check(
        "GRAPH ?g { :a :label ?l . :b :label ?m } BIND(LCASE(STR(?l)) AS ?x) BIND(LCASE(?m) AS ?y) FILTER(SAMETERM(?x, ?y))",
        2,
    );
}

#[test]
fn what_is_not_supported_is_left_to_spareval() {
    let (name, triples) = data();
    for (pattern, rows) in [
        ("SELECT * WHERE { GRAPH ?g { ?s :next+ ?o } }", 10),
        ("SELECT ?s (COUNT(*) AS ?n) WHERE { GRAPH ?g { ?s :knows ?o } } GROUP BY ?s", 3),
        ("SELECT * WHERE { GRAPH ?g { ?s :knows ?o } } ORDER BY ?s ?o LIMIT 2", 2),
        ("SELECT * WHERE { GRAPH ?g { ?s !:knows :c } }", 1),
    ] {
        let query = parse(&format!("{PREFIXES} {pattern}").replace("BASE <http://example.org/>", ""));
        let questions = Questions::new(vec![query.clone()]);
        assert!(questions.obstacle(0).is_some(), "{pattern}");
        let ours = rows_of_ask(&questions, &mut Graph::new(), (0, &query), &name, &triples);
        assert_eq!(ours, rows_of_spareval(&query, &name, &triples));
        assert_eq!(ours.len(), rows, "{pattern}");
    }
}

#[test]
fn predicates_with_many_triples_are_searched() {
    let name = NamedNode::new("http://example.org/g").unwrap();
    let node = |number: usize| NamedNode::new(format!("http://example.org/n{number}")).unwrap();
    let knows = NamedNode::new("http://example.org/knows").unwrap();
    let triples: Vec<Triple> =
        (0..600).map(|number| Triple::new(node(number % 97), knows.clone(), node(number * 7 % 89))).collect();
    for pattern in
        ["?s :knows ?o . ?o :knows ?t", "?s :knows :n3", ":n5 :knows ?o . ?x :knows ?o", "?s :knows ?s"]
    {
        let text = format!("PREFIX : <http://example.org/> SELECT * WHERE {{ GRAPH ?g {{ {pattern} }} }}");
        let query = parse(&text);
        let questions = Questions::new(vec![query.clone()]);
        let ours = rows_of_ask(&questions, &mut Graph::new(), (0, &query), &name, &triples);
        assert_eq!(ours, rows_of_spareval(&query, &name, &triples), "{pattern}");
        assert!(!ours.is_empty(), "{pattern}");
    }
}

/// Groups of few variables, so that they meet.
fn group(depth: u32) -> BoxedStrategy<String> {
    let term = prop::sample::select(vec!["?a", "?b", "?c", ":a", ":b", ":c", "12", "'Walden'"]);
    let property = prop::sample::select(vec![":knows", ":age", ":label", ":next", ":near", ":dead", "?p"]);
    let variable = prop::sample::select(vec!["?a", "?b", "?c", "?d"]);
    let condition = prop::sample::select(vec![
        "BOUND(?b)",
        "!BOUND(?d)",
        "?a = ?b",
        "?b != 12",
        "?a IN (:a, :b)",
        "LANG(?b) = 'en'",
        "ISIRI(?c)",
        "REGEX(STR(?b), 'wal', 'i')",
        "?c > 11 || BOUND(?d)",
        "COALESCE(?c, ?a) = :a",
    ]);
    let subject = prop::sample::select(vec!["?a", "?b", "?c", ":a", ":b"]);
    let triple = (subject, property, term).prop_map(|(s, p, o)| format!("{s} {p} {o} ."));
    let values = variable
        .clone()
        .prop_map(|variable| format!("VALUES ({variable} ?e) {{ (:a :b) (12 UNDEF) (UNDEF :c) }}"));
    let leaf = prop_oneof![4 => triple, 1 => values];
    if depth == 0 {
        return prop::collection::vec(leaf, 1..3).prop_map(|parts| parts.join(" ")).boxed();
    }
    let inner = group(depth - 1);
    let part = prop_oneof![
        5 => leaf,
        1 => inner.clone().prop_map(|inner| format!("{{ {inner} }}")),
        2 => inner.clone().prop_map(|inner| format!("OPTIONAL {{ {inner} }}")),
        1 => (inner.clone(), condition.clone()).prop_map(|(inner, condition)| format!("OPTIONAL {{ {inner} FILTER({condition}) }}")),
        1 => (inner.clone(), inner.clone()).prop_map(|(one, two)| format!("{{ {one} }} UNION {{ {two} }}")),
        1 => inner.clone().prop_map(|inner| format!("MINUS {{ {inner} }}")),
        1 => inner.clone().prop_map(|inner| format!("FILTER NOT EXISTS {{ {inner} }}")),
        2 => condition.prop_map(|condition| format!("FILTER({condition})")),
        1 => (inner, variable).prop_map(|(inner, variable)| format!("{{ SELECT {variable} WHERE {{ {inner} }} }}")),
    ];
    prop::collection::vec(part, 1..4).prop_map(|parts| parts.join(" ")).boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_groups_give_the_rows_of_spareval(pattern in group(2), last in prop::sample::select(vec!["", "BIND(STR(?b) AS ?z)", "BIND(?a AS ?z)"])) {
        let text = format!("PREFIX : <http://example.org/> SELECT * WHERE {{ GRAPH ?g {{ {pattern} {last} }} }}");
        let Ok(query) = spargebra::SparqlParser::new().parse_query(&text) else { return Ok(()) };
        let (name, mut triples) = data();
        triples.retain(|triple| triple.predicate.as_str().len() < 25);
        let questions = Questions::new(vec![query.clone()]);
        let theirs = rows_of_spareval(&query, &name, &triples);
        let ours = rows_of_ask(&questions, &mut Graph::new(), (0, &query), &name, &triples);
        prop_assert_eq!(ours, theirs);
    }
}
