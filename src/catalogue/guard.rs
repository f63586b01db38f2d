//! What a query text may look like before a parser sees it.
//!
//! The parser and the evaluator recurse: a kilobyte of opening braces ends the process. So
//! the text is scanned first, without recursion: size, nesting, and the number of operators
//! that make long chains, which the parser turns into deep trees. SERVICE and the update
//! forms are refused by name: nothing leaves the machine and nothing is written by a query. Only
//! where endpoints are listed may SERVICE stand, and then whoever answers is told of it.

/// The largest query text.
pub const SIZE_LIMIT: usize = 1024 * 1024;
/// The deepest nesting of brackets.
pub const DEPTH_LIMIT: usize = 128;
/// Operators and clauses that build one level each when chained.
pub const CHAIN_LIMIT: usize = 500;

/// Why a query text is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    #[error("the query is {0} bytes long; at most {SIZE_LIMIT} are read")]
    TooLong(usize),
    #[error("the query is nested deeper than {DEPTH_LIMIT} at line {0}")]
    TooDeep(usize),
    #[error("the query chains more than {CHAIN_LIMIT} operators or clauses")]
    TooManyOperators,
    #[error("`{0}` is refused: queries read this catalogue, reach no other server and write nothing")]
    Forbidden(&'static str),
}

/// The clause that asks another endpoint.
pub const SERVICE: &str = "SERVICE";
/// The words that begin an update.
const UPDATES: &[&str] = &["LOAD", "INSERT", "DELETE", "CLEAR", "DROP", "CREATE", "COPY", "MOVE", "ADD"];

/// Checks a query; the parser may have it when this returns.
pub fn check(query: &str) -> Result<(), Refusal> {
    scan(query, UPDATES, false).map(|_| ())
}

/// Checks a query that may ask other endpoints; says whether it does.
pub fn check_federated(query: &str) -> Result<bool, Refusal> {
    scan(query, UPDATES, true)
}

/// Checks an update. Whether it loads something, its operations tell once they are parsed.
pub fn check_update(update: &str) -> Result<(), Refusal> {
    scan(update, &[], false).map(|_| ())
}

/// Says whether SERVICE stands in it, where it may.
fn scan(text: &str, forbidden: &'static [&'static str], may_federate: bool) -> Result<bool, Refusal> {
    if text.len() > SIZE_LIMIT {
        return Err(Refusal::TooLong(text.len()));
    }
    let mut scan = Scan {
        rest: text,
        line: 1,
        depth: 0,
        round: 0,
        clauses: 0,
        operators: 0,
        forbidden,
        may_federate,
        federates: false,
    };
    while scan.step()? {}
    Ok(scan.federates)
}

struct Scan<'a> {
    rest: &'a str,
    line: usize,
    depth: usize,
    /// How many of the brackets are round: within them stand expressions.
    round: usize,
    clauses: usize,
    /// Of one expression or path: statements do not chain theirs.
    operators: usize,
    forbidden: &'static [&'static str],
    may_federate: bool,
    federates: bool,
}

impl Scan<'_> {
    /// Passes over one token; false at the end.
    fn step(&mut self) -> Result<bool, Refusal> {
        let Some(c) = self.rest.chars().next() else { return Ok(false) };
        let length = match c {
            '"' | '\'' => string(self.rest, c),
            '#' => self.rest.find('\n').unwrap_or(self.rest.len()),
            '<' => iri(self.rest).unwrap_or(1),
            '?' | '$' | ':' | '@' => 1 + word(self.rest.get(1..).unwrap_or_default()),
            _ if is_word(c) => {
                let length = word(self.rest);
                let (token, after) = self.rest.split_at(length);
                // `service:` is a prefix, `SERVICE` a clause.
                if !after.starts_with(':') {
                    self.keyword(token)?;
                }
                length
            }
            _ => c.len_utf8(),
        };
        match c {
            '{' | '(' | '[' => {
                self.depth += 1;
                self.round += usize::from(c == '(');
                if self.depth > DEPTH_LIMIT {
                    return Err(Refusal::TooDeep(self.line));
                }
            }
            '}' | ')' | ']' => {
                self.depth = self.depth.saturating_sub(1);
                self.round = self.round.saturating_sub(usize::from(c == ')'));
            }
            '+' | '-' | '*' | '/' | '|' | '&' | '!' | '^' => {
                self.operators += 1;
                self.chain()?;
            }
            // Behind a full stop or a semicolon and a blank another statement begins.
            '.' | ';' if self.round == 0 && self.rest.get(1..2).is_none_or(|next| next <= " ") => {
                self.operators = 0;
            }
            _ => {}
        }
        let (token, rest) = self.rest.split_at(length.max(c.len_utf8()));
        self.line += token.matches('\n').count();
        self.rest = rest;
        Ok(true)
    }

    fn keyword(&mut self, token: &str) -> Result<(), Refusal> {
        if token.eq_ignore_ascii_case(SERVICE) {
            if !self.may_federate {
                return Err(Refusal::Forbidden(SERVICE));
            }
            self.federates = true;
        }
        if let Some(word) = self.forbidden.iter().find(|word| token.eq_ignore_ascii_case(word)) {
            return Err(Refusal::Forbidden(word));
        }
        let clauses = ["UNION", "OPTIONAL", "MINUS", "FILTER", "BIND", "EXISTS", "IN"];
        if clauses.iter().any(|word| token.eq_ignore_ascii_case(word)) {
            self.clauses += 1;
            self.chain()?;
        }
        Ok(())
    }

    fn chain(&self) -> Result<(), Refusal> {
        if self.clauses + self.operators > CHAIN_LIMIT { Err(Refusal::TooManyOperators) } else { Ok(()) }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word(text: &str) -> usize {
    text.find(|c| !(is_word(c) || c == '-')).unwrap_or(text.len())
}

/// The length of a string literal, long or short, from its opening quote.
fn string(text: &str, quote: char) -> usize {
    let long: String = std::iter::repeat_n(quote, 3).collect();
    let end = if text.starts_with(&long) { long.as_str() } else { text.get(..1).unwrap_or_default() };
    let mut place = end.len();
    while let Some(rest) = text.get(place..) {
        if rest.is_empty() {
            break;
        }
        if let Some(escaped) = rest.strip_prefix('\\') {
            place += 1 + escaped.chars().next().map_or(0, char::len_utf8);
        } else if rest.starts_with(end) {
            return place + end.len();
        } else {
            place += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of an IRI; `None` when `<` is the operator.
fn iri(text: &str) -> Option<usize> {
    let rest = text.get(1..)?;
    let end = rest.find(|c: char| c <= ' ' || "<>\"{}|^`\\".contains(c))?;
    rest.get(end..)?.starts_with('>').then_some(end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_and_long_texts_are_refused() {
        assert_eq!(check(&"{".repeat(129)), Err(Refusal::TooDeep(1)));
        assert_eq!(
            check(&format!("SELECT * {{ FILTER({}1) }}", "1+".repeat(600))),
            Err(Refusal::TooManyOperators)
        );
        assert!(matches!(check(&" ".repeat(SIZE_LIMIT + 1)), Err(Refusal::TooLong(_))));
        assert_eq!(check("SELECT * { ?s ?p ?o FILTER(?o < 3 && ?o > 1) }"), Ok(()));
    }

    /// Each `<` once looked for its `>` to the end of the text.
    #[test]
    fn a_text_of_nothing_but_openings_is_checked_in_one_pass() {
        assert_eq!(check(&"<".repeat(SIZE_LIMIT)), Ok(()));
    }

    #[test]
    fn data_may_be_long_and_an_update_may_write() {
        let many = "<http://x/s> <http://x/p> -1, '1'^^<http://x/t> .\n".repeat(5000);
        assert_eq!(check_update(&format!("INSERT DATA {{ {many} }}")), Ok(()));
        assert!(check(&format!("INSERT DATA {{ {many} }}")).is_err());
        assert_eq!(check_update("INSERT {} WHERE { SERVICE <x:y> {} }"), Err(Refusal::Forbidden("SERVICE")));
        let chain = "ASK { FILTER(1 ".to_owned() + &"; . + 1".repeat(600);
        assert_eq!(check(&chain), Err(Refusal::TooManyOperators));
    }

    #[test]
    fn service_is_refused_as_a_clause_and_allowed_as_a_name() {
        assert_eq!(check("SELECT * { SeRvIcE SILENT <http://x/> {} }"), Err(Refusal::Forbidden("SERVICE")));
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
}
