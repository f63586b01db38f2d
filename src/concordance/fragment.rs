//! One piece of SPARQL in a rule file: parsed alone, its mistakes found at their token.

use super::file::Text;
use super::lex::{Kind, Token, tokens};
use crate::diagnostic::{Code, Problem};
use crate::ontology::Prefixes;
use smallvec::SmallVec;
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::TriplePattern;
use spargebra::{Query, SparqlParser, SparqlSyntaxError};
use std::sync::LazyLock;

/// Our functions live under the empty prefix.
pub const FUNCTIONS: &str = crate::ontology::FUNCTIONS;

/// Longer fragments and deeper brackets are refused before anything recurses over them.
const LONGEST: usize = 128 * 1024;
const DEEPEST: usize = 48;
const MOST_OPERATORS: usize = 500;

/// Parses an expression; its tokens come from [`scan`].
pub fn expression(text: &Text, tokens: &[Token], problems: &mut Vec<Problem>) -> Option<Expression> {
    // On lines of their own, so that a comment at the end swallows nothing.
    let wrap = |body: &str| format!("ASK {{ FILTER(\n{body}\n) }}");
    match parse(&wrap(&text.value), text, tokens) {
        Ok(Query::Ask { pattern, .. }) => {
            let filter = match pattern {
                GraphPattern::Project { inner, .. } => *inner,
                pattern => pattern,
            };
            if let GraphPattern::Filter { expr, inner } = filter
                && matches!(&*inner, GraphPattern::Bgp { patterns } if patterns.is_empty())
            {
                return Some(expr);
            }
            let message = "expected one expression, found more";
            problems.push(Problem::new(Code::ExpressionSyntax, text.at.clone(), message));
            None
        }
        Ok(_) => None,
        Err(_) => {
            problems.push(culprit(text, Code::ExpressionSyntax, &wrap));
            None
        }
    }
}

/// Parses a template; its tokens come from [`scan`].
pub fn template(text: &Text, tokens: &[Token], problems: &mut Vec<Problem>) -> Option<Vec<TriplePattern>> {
    let wrap = |body: &str| format!("CONSTRUCT {{\n{body}\n}} WHERE {{}}");
    match parse(&wrap(&text.value), text, tokens) {
        Ok(Query::Construct { template, .. }) => Some(template),
        Ok(_) => {
            let message = "expected the triples of a template";
            problems.push(Problem::new(Code::TemplateSyntax, text.at.clone(), message));
            None
        }
        Err(_) => {
            problems.push(culprit(text, Code::TemplateSyntax, &wrap));
            None
        }
    }
}

/// Parses with those of our prefixes that the text uses: a parser takes its own copy of each.
fn parse(query: &str, text: &Text, tokens: &[Token]) -> Result<Query, SparqlSyntaxError> {
    let mut parser = SparqlParser::new();
    let mut known: SmallVec<[&str; 8]> = SmallVec::new();
    for token in tokens.iter().filter(|token| token.kind == Kind::Name) {
        let word = text.value.get(token.at.clone()).unwrap_or_default();
        let prefix = word.split_once(':').map_or("", |(prefix, _)| prefix);
        if known.contains(&prefix) {
            continue;
        }
        known.push(prefix);
        let namespace = match prefix {
            "" => Some(FUNCTIONS),
            _ => Prefixes::shipped().namespace(prefix),
        };
        if let Some(namespace) = namespace {
            parser = parser.with_prefix(prefix, namespace).unwrap_or_default();
        }
    }
    // Should a prefix have been overlooked, the parser with all of them has the last word.
    parser.parse_query(query).or_else(|_| self::parser().parse_query(query))
}

/// A parser that knows our prefixes.
pub fn parser() -> SparqlParser {
    static PARSER: LazyLock<SparqlParser> = LazyLock::new(prefixed_parser);
    PARSER.clone()
}

fn prefixed_parser() -> SparqlParser {
    let mut parser = SparqlParser::new();
    for prefix in Prefixes::shipped().iter() {
        // The table's namespaces are checked IRIs; one that were not would be an unknown prefix.
        if let Ok(extended) = parser.clone().with_prefix(prefix.name.as_str(), prefix.namespace.as_str()) {
            parser = extended;
        }
    }
    parser.clone().with_prefix("", FUNCTIONS).unwrap_or(parser)
}

/// The tokens of a text, when it is within the limits.
pub fn scan(text: &Text, problems: &mut Vec<Problem>) -> Option<Vec<Token>> {
    if text.value.len() > LONGEST {
        let message = format!("{} bytes in one piece; {LONGEST} are allowed", text.value.len());
        problems.push(Problem::new(Code::RuleLimit, text.at.clone(), message));
        return None;
    }
    let mut depth = 0_usize;
    let mut operators = 0_usize;
    let found = tokens(&text.value);
    for token in &found {
        match text.value.get(token.at.clone()) {
            Some("(" | "[" | "{") => depth += 1,
            Some(")" | "]" | "}") => depth = depth.saturating_sub(1),
            // Operators nest without brackets.
            Some("!" | "-" | "+" | "*" | "/" | "||" | "&&" | "|" | "^") if token.kind == Kind::Sign => {
                operators += 1
            }
            _ => {}
        }
        if operators > MOST_OPERATORS {
            let message = format!("more than {MOST_OPERATORS} operators in one piece");
            problems.push(Problem::new(Code::RuleLimit, text.part(token.at.clone()), message));
            return None;
        }
        if depth > DEEPEST {
            let message = format!("brackets are nested deeper than {DEEPEST}");
            problems.push(Problem::new(Code::RuleLimit, text.part(token.at.clone()), message));
            return None;
        }
    }
    Some(found)
}

/// What other languages call the functions of SPARQL.
const OTHERS: [(&str, &str); 14] = [
    ("UPPER", "UCASE"),
    ("TOUPPER", "UCASE"),
    ("UPPERCASE", "UCASE"),
    ("LOWER", "LCASE"),
    ("TOLOWER", "LCASE"),
    ("LOWERCASE", "LCASE"),
    ("LEN", "STRLEN"),
    ("LENGTH", "STRLEN"),
    ("SUBSTRING", "SUBSTR"),
    ("STARTSWITH", "STRSTARTS"),
    ("ENDSWITH", "STRENDS"),
    ("MATCHES", "REGEX"),
    ("IFNULL", "COALESCE"),
    ("NVL", "COALESCE"),
];

fn is_sparql_function(word: &str) -> bool {
    let known = super::program::Function::ALL.iter().map(|(name, ..)| *name);
    let special = ["IF", "COALESCE", "BOUND", "REGEX", "REPLACE", "IN"];
    known.chain(special).any(|known| known.eq_ignore_ascii_case(word))
}

/// The token at which parsing fails.
///
/// `spargebra` reports the furthest place any alternative of its grammar reached, which runs
/// past the culprit by the length of a keyword. With one token a line and blanks after it,
/// the line it reports is the token.
fn culprit(text: &Text, code: Code, wrap: &dyn Fn(&str) -> String) -> Problem {
    let found = tokens(&text.value);
    let mut spread = String::new();
    let mut lines: Vec<usize> = Vec::new();
    for (index, token) in found.iter().enumerate() {
        let word = text.value.get(token.at.clone()).unwrap_or_default();
        // `CONCAT (` is not accepted, so a word stays with its bracket.
        let joined = index > 0
            && word == "("
            && found.get(index - 1).is_some_and(|before| {
                matches!(before.kind, Kind::Word | Kind::Name | Kind::Iri) && before.at.end == token.at.start
            });
        if !joined {
            spread.push_str(if index == 0 { "" } else { "                    \n" });
            lines.push(index);
        }
        spread.push_str(&word.replace('\n', " "));
    }
    let error = parser().parse_query(&wrap(&spread)).err().map(|error| error.to_string()).unwrap_or_default();
    // `error at LINE:COLUMN: …`; the fragment begins on line 2.
    let line = error.split("error at ").nth(1).and_then(|rest| rest.split(':').next()?.parse::<usize>().ok());
    let index = line.and_then(|line| lines.get(line.checked_sub(2)?)).copied();
    let Some(token) = index.and_then(|index| found.get(index)) else {
        let end = text.value.trim_end().len();
        let at = text.part(end.saturating_sub(1)..end.max(1));
        return Problem::new(code, at, "unexpected end").label("something is missing here");
    };
    let word = text.value.get(token.at.clone()).unwrap_or_default();
    let problem = Problem::new(code, text.part(token.at.clone()), format!("`{word}` is not expected here"));
    match hint(word, token, &found, index, &text.value) {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}

fn hint(word: &str, token: &Token, found: &[Token], index: Option<usize>, text: &str) -> Option<String> {
    let neighbour = |step: isize| {
        let at = index?.checked_add_signed(step)?;
        text.get(found.get(at)?.at.clone())
    };
    if word == "=" && (neighbour(-1) == Some("=") || neighbour(1) == Some("=")) {
        return Some("write `=` once".to_owned());
    }
    if word.eq_ignore_ascii_case("and") {
        return Some("write `&&`".to_owned());
    }
    if word.eq_ignore_ascii_case("or") {
        return Some("write `||`".to_owned());
    }
    if token.kind == Kind::Name
        && let Some((prefix, _)) = word.split_once(':')
        && prefix != "_"
        && !prefix.is_empty()
        && Prefixes::shipped().get(prefix).is_none()
    {
        let near =
            crate::diagnostic::near(prefix, Prefixes::shipped().iter().map(|known| known.name.as_str()));
        return Some(match near.first() {
            Some(known) => format!("`{prefix}:` is no known prefix; did you mean `{known}:`?"),
            None => format!("`{prefix}:` is no known prefix; the known ones are in ontologies/prefixes.tsv"),
        });
    }
    let ours = format!(":{}", word.to_lowercase());
    let function = super::program::Function::ALL.iter().any(|(name, ..)| *name == ours)
        || super::expression::SPECIAL.contains(&ours.as_str());
    if token.kind == Kind::Word && function {
        return Some(format!("functions of ours begin with a colon: `{ours}(…)`"));
    }
    if let Some(meant) = OTHERS.iter().find(|(others, _)| others.eq_ignore_ascii_case(word)) {
        return Some(format!("SPARQL calls it `{}`", meant.1));
    }
    if neighbour(1) == Some("(") && token.kind == Kind::Word && is_sparql_function(word) {
        return Some("a function's name and its `(` stand together".to_owned());
    }
    if neighbour(1) == Some("(") && token.kind == Kind::Word {
        let known = super::program::Function::ALL.iter().map(|(name, ..)| *name);
        let near = crate::diagnostic::near(word, known.filter(|name| !name.starts_with("xsd:")));
        return match near.first() {
            Some(near) => Some(format!("there is no function `{word}`; did you mean `{near}`?")),
            None => Some(format!("there is no function `{word}`; docs/concordances.md lists them")),
        };
    }
    (word == "\\").then(|| "a backslash in a SPARQL string is written `\\\\`".to_owned())
}
