//! The guard against texts made to slip past it, and against the parser itself.

use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use spargebra::algebra::{Expression, GraphPattern, PropertyPathExpression};
use spargebra::{Query, SparqlParser};

/// How deep a text is at its deepest, its clauses and its operators.
fn measured(text: &str) -> (usize, usize, usize) {
    let mut scan = Scan::new(text);
    let mut deepest = 0;
    while scan.step().expect("no ambiguity").is_some() {
        deepest = deepest.max(scan.depth);
    }
    (deepest, scan.clauses, scan.operators)
}

fn parsed(text: &str) -> Result<Query, String> {
    let parser = SparqlParser::new().with_prefix("ex", "http://x.example/").expect("a prefix");
    parser.parse_query(text).map_err(|error| error.to_string())
}

#[test]
fn deep_and_long_texts_are_refused() {
    assert_eq!(check(&"{".repeat(129)), Err(Refusal::TooDeep(1)));
    assert_eq!(
        check(&format!("SELECT * {{ FILTER({}1) }}", "1+".repeat(600))),
        Err(Refusal::TooManyOperators)
    );
    assert!(matches!(check(&" ".repeat(SIZE_LIMIT + 1)), Err(Refusal::TooLong { .. })));
    assert_eq!(check("SELECT * { ?s ?p ?o FILTER(?o < 3 && ?o > 1) }"), Ok(()));
}

#[test]
fn every_way_to_write_a_chain_is_counted() {
    for (before, link, after) in [
        ("ASK { FILTER(1", "-1", ") }"),
        ("ASK { FILTER(?a", "-?a", ") }"),
        ("ASK { FILTER(ex:", "-ex:", ") }"),
        ("ASK { FILTER(true", "-true", "-ex:a) }"),
        ("ASK { FILTER('a'@en", "-'a'@en", ") }"),
        ("ASK { FILTER(1<1", "+1", "&&2>1) }"),
        ("ASK {", "?s ?p 1OPTIONAL{}", "}"),
        ("ASK {", "VALUES?a{1}", "}"),
        ("ASK {", "GRAPH?g{}", "}"),
        ("ASK {", "{}", "}"),
        ("ASK {", "FILTERBOUND(?a)", "}"),
        ("ASK {", "?s <x:p>? 1.", "}"),
        ("ASK { ?s <x:p>* 1", ",1", "}"),
        ("SELECT ?a {} GROUP BY ?a HAVING ", "(1)", ""),
    ] {
        let text = format!("{before}{}{after}", link.repeat(600));
        assert!(parsed(&text).is_ok(), "{before}{link}{after}");
        assert_eq!(check(&text), Err(Refusal::TooManyOperators), "{before}{link}{after}");
    }
}

/// Each of these texts once ended the guard's sight: the parser read on, the guard did not.
#[test]
fn nothing_hides_what_the_parser_reads() {
    let deep = format!("{}{}", "{".repeat(200), "}".repeat(200));
    for hiding in [
        "#\r",
        "#'\r",
        "?s ?p ex:a\\# . ",
        "?s ?p ex:a\\' . ",
        "?s ?p <x:a\\u0041#b> . ",
        "?s ?p <x:a\\u0041'b> . ",
        "?s ?p ('''x') . ",
        "?s ?p (\"\"\"x\") . ",
        "?s ?p ('''x' '\\\\' ) . ",
    ] {
        let text = format!("ASK {{ {hiding}{deep} }}");
        assert!(parsed(&text).is_ok(), "{hiding}");
        assert!(matches!(check(&text), Err(Refusal::TooDeep(_))), "{hiding}");
        assert!(matches!(check_update(&text), Err(Refusal::TooDeep(_))), "{hiding}");
    }
    // The parser follows these, too, before it sees that they lead nowhere.
    let brackets = "(".repeat(200);
    for text in [
        format!("ASK {{ FILTER(1<{brackets}>2) }}"),
        format!("ASK {{ FILTER(1<'>'{brackets}) }}"),
        format!("ASK {{ {} }}", "(ex:a\\)".repeat(200)),
        format!("ASK {{ ?s ?p ('''x' {brackets} \\q '''"),
        format!("ASK {{ ?s ?p ('''x' {brackets} \\uD800 '''"),
        format!("ASK {{ {}", "<<".repeat(200)),
        format!("ASK {{ {}", "<<'>'?p".repeat(200)),
        format!("ASK {{ {}", "<<?s?p ".repeat(200)),
    ] {
        assert!(matches!(check(&text), Err(Refusal::TooDeep(1) | Refusal::Ambiguous(1))), "{text}");
    }
}

/// The guard reads the text as it stands. A parser that first replaced these escapes everywhere, as
/// the SPARQL of the book does, would see brackets that the guard does not.
#[test]
fn the_parser_replaces_escapes_in_strings_and_iris_alone() {
    for text in ["ASK \\u007B}", "ASK { ?s ?p 1 \\u007D", "\\u0041SK {}", "ASK { FILTER\\U000000281) }"] {
        assert!(parsed(text).is_err(), "{text}");
    }
}

#[test]
fn a_comparison_is_told_from_an_iri_where_it_matters() {
    for (text, expected) in [
        ("ASK { FILTER(?a<'x'&&?b>'y') }", Err(Refusal::Ambiguous(1))),
        ("ASK {\rFILTER(?a<(?b)&&(?c)>?d) }", Err(Refusal::Ambiguous(2))),
        ("ASK { FILTER(?a < 'x' && ?b > 'y') }", Ok(())),
        ("ASK { FILTER(?a<?b&&?c>?d) }", Ok(())),
        ("ASK { FILTER(?a<<http://x.example/a#b>) }", Ok(())),
        ("ASK { ?s ?p <x:a(b)'c#d> ; <#e> <f#g> }", Ok(())),
        ("ASK { ?s ?p (<x:a(b)#c> <http://x.example/a(b)#c> ex:a) }", Ok(())),
        ("SELECT * { VALUES (?a ?b) { (<x:a#b> <x:a(b)#'c>) } }", Ok(())),
    ] {
        assert_eq!(check(text), expected, "{text}");
    }
}

/// Each `<` once looked for its `>` to the end of the text.
#[test]
fn a_text_of_nothing_but_openings_is_checked_in_one_pass() {
    for opening in ["<", "<x", "'''", "'''x' ", "'", "<x\\u0041"] {
        let text = opening.repeat(SIZE_LIMIT / opening.len());
        let _ = check(&text);
        let mut scan = Scan::new(&text);
        while matches!(scan.step(), Ok(Some(_))) {}
    }
}

#[test]
fn data_may_be_long_and_an_update_may_write() {
    let many = "<http://x/s> <http://x/p> -1, '1'^^<http://x/t> .\n".repeat(5000);
    assert_eq!(check_update(&format!("INSERT DATA {{ {many} }}")), Ok(()));
    assert!(check(&format!("INSERT DATA {{ {many} }}")).is_err());
    assert_eq!(check_update("INSERT {} WHERE { SERVICE <x:y> {} }"), Err(Refusal::Forbidden("SERVICE")));
    let graphs = "GRAPH <x:g> { <x:s> <x:p> (1 -2 [ <x:q> 'a', 'b' ]) }\n".repeat(5000);
    assert_eq!(check_update(&format!("DELETE DATA {{ {graphs} }}")), Ok(()));
    let rows = "(<http://x/a-b/c> -1 'a'^^<http://x/t>)".repeat(5000);
    assert_eq!(check(&format!("ASK {{ VALUES (?a ?b ?c) {{ {rows} }} }}")), Ok(()));
    let operations = "DELETE WHERE { ?s ?p -1 } ; ".repeat(5000);
    assert_eq!(check_update(&operations), Ok(()));
}

/// The parser makes a group of each statement, and joins them all.
#[test]
fn the_statements_of_delete_where_are_a_chain() {
    for (before, end) in [("DELETE WHERE", "."), ("DELETEWHERE", ";"), ("CLEAR ALL ; DELETE#\rWHERE", ",")] {
        let link = if end == "." { "?s ?p 1 . ?s ?p 1" } else { "?p 1" };
        let chain = format!("{link}{end}").repeat(600);
        let text = format!("{before} {{ GRAPH ?g {{ ?s {chain} ?p 1 }} }}");
        assert_eq!(check_update(&text), Err(Refusal::TooManyOperators), "{before}");
    }
    let many = "?s ?p 1 . ".repeat(600);
    assert_eq!(check_update(&format!("DELETE {{ {many} }} WHERE {{ {many} }}")), Ok(()));
    // As many as a person may write.
    for statement in ["?s a ex:a . ", "?s ?p false . ", "?s ?p 'a', 'b'@en . ", "?s ?p '1'^^ex:t ; a ex:c . "]
    {
        let few = statement.repeat(60);
        assert_eq!(check_update(&format!("DELETE WHERE {{ {few} GRAPH ?g {{ {few} }} }}")), Ok(()));
    }
}

/// The parser needs nothing between two statements, and no blank between two words.
#[test]
fn statements_of_delete_where_that_nothing_separates_are_counted() {
    let prefix = "PREFIX ex: <x:> ";
    let update = |text: &str| SparqlParser::new().parse_update(text).map_err(|error| error.to_string());
    for link in ["?s ?p 1 ", "?s?p 'a'@en", "?s<x:p>?o, 1 ", "?s ?p -1 ", "?s a1 ", "?s aex:b "] {
        let text = format!("{prefix}DELETE WHERE {{ {} }}", link.repeat(600));
        assert!(update(&text).is_ok(), "{link}: {:?}", update(&text));
        assert_eq!(check_update(&text), Err(Refusal::TooManyOperators), "{link}");
    }
    for link in ["trueatrue", "1atrue", "truea1", "falseafalse", "1a1 ", "true ex:p true", "truea'x'"] {
        let text = format!("{prefix}DELETE WHERE {{ {}trueaex:b }}", link.repeat(600));
        assert_eq!(check_update(&text), Err(Refusal::TooManyOperators), "{link}");
    }
}

/// A list is as many statements as it has items, and none of them needs an end. The parser chains them
/// all before it says that none may stand here.
#[test]
fn delete_where_has_no_lists_and_no_blank_nodes() {
    for object in [
        format!("({})", "1 ".repeat(5000)),
        "(()1)".to_owned(),
        "((()))".to_owned(),
        "[]".to_owned(),
        "[ ?q 1 ]".to_owned(),
    ] {
        for text in [
            format!("DELETE WHERE {{\nGRAPH ?g {{ ?s ?p {object} }} }}"),
            format!("DELETE WHERE {{\n?s ?p {object} }}"),
        ] {
            assert!(SparqlParser::new().parse_update(&text).is_err(), "{object}");
            assert_eq!(check_update(&text), Err(Refusal::BlankNode(2)), "{object}");
        }
        let elsewhere = format!("INSERT {{ ?s ?p {object} }} WHERE {{ ?s ?p {object} }} ; CLEAR ALL");
        assert_eq!(check_update(&elsewhere), Ok(()), "{object}");
    }
    // The empty list is a name, and counts like one.
    let many = "?s ?p ( #\r ) ".repeat(600);
    assert_eq!(check_update("DELETE WHERE { ?s ?p ( ) . GRAPH ?g { ?s ?p () } }"), Ok(()));
    assert_eq!(check_update(&format!("DELETE WHERE {{ {many} }}")), Err(Refusal::TooManyOperators));
}

#[test]
fn what_looks_like_data_and_is_none_is_counted() {
    let chain = "{}".repeat(600);
    for before in ["?VALUES ", "ex:VALUES ?a ", "_:a.b.VALUES ?a ", "VALUES.a:b ?a ", "DATA:x ", "'DATA'"] {
        let text = format!("ASK {{ {before} {{ {chain} }} }}");
        assert_eq!(check(&text), Err(Refusal::TooManyOperators), "{before}");
    }
}

#[test]
fn service_is_refused_as_a_clause_and_allowed_as_a_name() {
    for clause in ["SeRvIcE SILENT <http://x/>", "SERVICESILENT <http://x/>", "?s ?p 1SERVICE <http://x/>"] {
        assert_eq!(check(&format!("SELECT * {{ {clause} {{}} }}")), Err(Refusal::Forbidden("SERVICE")));
    }
    // What looks like a name here, because the parser knows its prefixes, the algebra tells.
    let joined = "PREFIX : <http://x/> SELECT * { SERVICE:x {} }";
    assert_eq!((check(joined), check_federated(joined)), (Ok(()), Ok(false)));
    let refused = crate::catalogue::services::refuse(&mut parsed(joined).expect("a query"));
    assert_eq!(refused, Err(Refusal::Forbidden("SERVICE")));
    for harmless in [
        "SELECT ?service { ?service a service:Thing ; ex:SERVICE 'SERVICE {{{' } # SERVICE",
        "SELECT * { <http://x/SERVICE> ?p \"\"\"LOAD \" DROP\"\"\" }",
    ] {
        assert_eq!(check(harmless), Ok(()), "{harmless}");
        assert_eq!(check_federated(harmless), Ok(false), "{harmless}");
    }
}

#[test]
fn service_is_told_of_where_it_may_stand() {
    assert_eq!(check_federated("SELECT * { service <http://x/> {} }"), Ok(true));
    let drop = "SELECT * { SERVICE <http://x/> {} } ; DROP ALL";
    assert_eq!(check_federated(drop), Err(Refusal::Forbidden("DROP")));
}

#[test]
fn brackets_in_strings_and_comments_do_not_count() {
    let many = "{".repeat(300);
    assert_eq!(check(&format!("ASK {{ ?s ?p '{many}' }} # {many}")), Ok(()));
}

/// A piece of a query, and what the guard has to find in it.
#[derive(Debug, Clone)]
struct Piece {
    text: String,
    depth: usize,
    clauses: usize,
    operators: usize,
}

impl Piece {
    fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), depth: 0, clauses: 0, operators: 0 }
    }

    fn operator(mut self) -> Self {
        self.operators += 1;
        self
    }

    fn inside(mut self, open: &str, close: &str) -> Self {
        self.text = format!("{open}{}{close}", self.text);
        self.depth += 1;
        self
    }

    fn clause(mut self) -> Self {
        self.clauses += 1;
        self
    }

    fn after(mut self, text: &str) -> Self {
        self.text.insert_str(0, text);
        self
    }

    fn then(mut self, other: &Self) -> Self {
        self.text += &other.text;
        self.depth = self.depth.max(other.depth);
        self.clauses += other.clauses;
        self.operators += other.operators;
        self
    }
}

/// Blanks and comments full of what would be structure elsewhere.
fn blank() -> impl Strategy<Value = String> {
    let one = prop_oneof![
        4 => Just(" "),
        1 => Just("\n"),
        1 => Just("\r"),
        1 => Just("#\r"),
        1 => Just("# ' { ( [ \r\n"),
        1 => Just("#\"\"\" } ) ] SERVICE <\n"),
    ];
    vec(one, 1..3).prop_map(|blanks| format!(" {}", blanks.concat()))
}

/// Strings, names and numbers that hold what would be structure elsewhere.
fn term() -> impl Strategy<Value = Piece> {
    prop_oneof![
        "[ -&(-\\[\\]-~é\u{b7}]{0,8}".prop_map(|text| Piece::new(format!("'{text}'"))),
        "[ !#-\\[\\]-~é]{0,8}".prop_map(|text| Piece::new(format!("\"{text}\"@en-gb"))),
        "[ -!#-&(-\\[\\]-~\r\n]{0,8}".prop_map(|text| Piece::new(format!("'''{text}'x''\"'''"))),
        Just(Piece::new("\"\\\"\\u0022\\\\{\"^^<http://x/#a>")),
        Just(Piece::new("''''\\'({'''")),
        Just(Piece::new("ex:a\\(\\'\\#b.c%28-d")),
        Just(Piece::new("ex:\\)")),
        Just(Piece::new("<http://x/a(b)'c#d\\u0028e>")),
        Just(Piece::new("?a\u{b7}b")),
        Just(Piece::new("1.5e3")),
        Just(Piece::new("-7").operator()),
        Just(Piece::new("true")),
    ]
}

fn object() -> impl Strategy<Value = Piece> {
    term().prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            (vec(inner.clone(), 1..4), blank()).prop_map(|(items, blank)| {
                let joined = items.iter().fold(Piece::new(""), |all, item| {
                    let mut all = all.then(item);
                    all.text += &blank;
                    all
                });
                joined.inside("(", ")")
            }),
            (inner, blank())
                .prop_map(|(value, blank)| { value.after(&format!("<x:p>{blank}")).inside("[", "]") }),
        ]
    })
}

fn expression() -> impl Strategy<Value = Piece> {
    let value = prop_oneof![
        Just(Piece::new("?a")),
        Just(Piece::new("1")),
        Just(Piece::new("ex:a\\)")),
        Just(Piece::new("'(' ")),
    ];
    value.prop_recursive(4, 16, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone(), blank(), prop_oneof![Just("-"), Just("+"), Just("&&")]).prop_map(
                |(left, right, blank, sign)| {
                    let sign = Piece::new(format!(" {sign}{blank}")).operator();
                    left.then(&sign).then(&right).inside("(", ")")
                }
            ),
            (inner.clone(), inner.clone(), blank()).prop_map(|(left, right, blank)| {
                left.then(&Piece::new(format!("{blank}< "))).then(&right).inside("(", ")")
            }),
            inner.prop_map(|inner| inner.inside("STR(", ")")),
        ]
    })
}

/// A group with its braces. A bracket that stands in a group itself is a clause.
fn group() -> impl Strategy<Value = Piece> {
    let in_round = |piece: Piece| {
        let is_list = piece.text.starts_with('(');
        if is_list { piece.clause() } else { piece }
    };
    let element = prop_oneof![
        3 => (object(), blank()).prop_map(move |(object, blank)| {
            in_round(object).after(&format!("?s{blank}<x:p>{blank}")).then(&Piece::new(" ."))
        }),
        1 => (expression(), blank()).prop_map(|(expression, blank)| {
            expression.inside("(", ")").after(&format!("FILTER{blank}")).clause()
        }),
        1 => (vec(term(), 0..4), blank()).prop_map(|(terms, blank)| {
            // Data: its operators are none.
            let ground = terms.iter().filter(|term| !term.text.starts_with('?'));
            let rows: String = ground.map(|term| format!("{}{blank}", term.text)).collect();
            Piece::new(rows).inside("{", "}").after(&format!("VALUES{blank}?v{blank}")).clause()
        }),
        1 => (object(), object()).prop_map(move |(one, two)| {
            let path = Piece::new("?s <x:p>/").operator().then(&Piece::new("<x:q>* ")).operator();
            let comma = Piece::new(" , ").operator();
            path.then(&in_round(one)).then(&comma).then(&in_round(two)).then(&Piece::new(" ."))
        }),
    ];
    vec(element, 0..3).prop_map(|elements| braces(&elements)).prop_recursive(5, 24, 3, |inner| {
        let word = prop_oneof![
            Just(""),
            Just("OPTIONAL"),
            Just("MINUS"),
            Just("GRAPH ?g"),
            Just("{}UNION"),
            Just("FILTER NOT EXISTS"),
        ];
        vec((word, inner, blank()), 1..3).prop_map(|groups| {
            let groups: Vec<Piece> = groups
                .into_iter()
                .map(|(word, group, blank)| {
                    let mut group = group.after(&format!("{word}{blank}"));
                    group.clauses += word.matches('{').count();
                    group.depth = group.depth.max(word.matches('{').count());
                    group
                })
                .collect();
            braces(&groups)
        })
    })
}

fn braces(elements: &[Piece]) -> Piece {
    elements.iter().fold(Piece::new(""), |all, element| all.then(element)).inside("{", "}").clause()
}

/// What stands in the algebra and needs a clause or an operator to be written.
fn links(query: &Query) -> usize {
    match query {
        Query::Select { pattern, .. }
        | Query::Construct { pattern, .. }
        | Query::Describe { pattern, .. }
        | Query::Ask { pattern, .. } => in_pattern(pattern),
    }
}

fn in_pattern(pattern: &GraphPattern) -> usize {
    match pattern {
        GraphPattern::Bgp { .. } => 0,
        GraphPattern::Path { path, .. } => 1.max(in_path(path)),
        GraphPattern::Values { .. } => 1,
        GraphPattern::Join { left, right } => in_pattern(left) + in_pattern(right),
        GraphPattern::Union { left, right } | GraphPattern::Minus { left, right } => {
            1 + in_pattern(left) + in_pattern(right)
        }
        GraphPattern::LeftJoin { left, right, expression } => {
            let condition = expression.as_ref().map_or(0, |condition| 1 + in_expression(condition));
            1 + in_pattern(left) + in_pattern(right) + condition
        }
        GraphPattern::Filter { expr, inner } => 1 + in_expression(expr) + in_pattern(inner),
        GraphPattern::Extend { inner, expression, .. } => 1 + in_pattern(inner) + in_expression(expression),
        GraphPattern::Graph { inner, .. } | GraphPattern::Service { inner, .. } => 1 + in_pattern(inner),
        GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Group { inner, .. } => in_pattern(inner),
        other => panic!("not expected of these texts: {other}"),
    }
}

fn in_path(path: &PropertyPathExpression) -> usize {
    match path {
        PropertyPathExpression::NamedNode(_) => 0,
        PropertyPathExpression::NegatedPropertySet(_) => 1,
        PropertyPathExpression::Sequence(left, right) | PropertyPathExpression::Alternative(left, right) => {
            1 + in_path(left) + in_path(right)
        }
        PropertyPathExpression::Reverse(inner)
        | PropertyPathExpression::ZeroOrMore(inner)
        | PropertyPathExpression::OneOrMore(inner)
        | PropertyPathExpression::ZeroOrOne(inner) => 1 + in_path(inner),
    }
}

fn in_expression(expression: &Expression) -> usize {
    match expression {
        Expression::Or(left, right)
        | Expression::And(left, right)
        | Expression::Add(left, right)
        | Expression::Subtract(left, right)
        | Expression::Multiply(left, right)
        | Expression::Divide(left, right) => 1 + in_expression(left) + in_expression(right),
        Expression::Equal(left, right)
        | Expression::SameTerm(left, right)
        | Expression::Greater(left, right)
        | Expression::GreaterOrEqual(left, right)
        | Expression::Less(left, right)
        | Expression::LessOrEqual(left, right) => in_expression(left) + in_expression(right),
        Expression::UnaryPlus(inner) | Expression::UnaryMinus(inner) => 1 + in_expression(inner),
        Expression::Not(inner) => in_expression(inner),
        Expression::Exists(pattern) => in_pattern(pattern),
        Expression::In(needle, list) => in_expression(needle) + list.iter().map(in_expression).sum::<usize>(),
        Expression::Coalesce(list) | Expression::FunctionCall(_, list) => {
            list.iter().map(in_expression).sum()
        }
        Expression::If(one, two, three) => in_expression(one) + in_expression(two) + in_expression(three),
        Expression::NamedNode(_)
        | Expression::Literal(_)
        | Expression::Variable(_)
        | Expression::Bound(_) => 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_guard_finds_what_a_text_was_made_of(group in group()) {
        let text = format!("ASK {}", group.text);
        prop_assert!(parsed(&text).is_ok(), "{}: {:?}", text, parsed(&text));
        prop_assert_eq!(measured(&text), (group.depth, group.clauses, group.operators), "{}", text);
    }

    /// Whatever a text is spoilt to: what the parser still makes of it, the guard has counted.
    #[test]
    fn the_guard_counts_no_less_than_the_parser_makes(
        group in group(),
        wounds in vec((any::<prop::sample::Index>(), "[-'\"#\r\n<>(){}\\[\\]\\\\?a1+:;.u ]{0,2}", 0_usize..3), 1..4),
    ) {
        let mut text: Vec<char> = format!("ASK {}", group.text).chars().collect();
        for (place, put, taken) in wounds {
            let place = place.index(text.len());
            let end = (place + taken).min(text.len());
            text.splice(place..end, put.chars());
        }
        let text: String = text.into_iter().collect();
        let mut scan = Scan::new(&text);
        // What could be read in two ways is refused, whatever the parser says.
        while let Ok(Some(_)) = scan.step() {}
        if let Ok(query) = parsed(&text)
            && scan.place == text.len()
        {
            prop_assert!(links(&query) <= scan.clauses + scan.operators, "{}: {}", text, query);
        }
    }
}
