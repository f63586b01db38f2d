//! What a query text may look like before a parser sees it.
//!
//! The parser and the evaluator recurse: a kilobyte of opening braces ends the process. So
//! the text is scanned first, without recursion: its size, how deep brackets are nested, and how much
//! of it makes long chains, which the parser turns into deep trees. SERVICE and the update
//! forms are refused by name: nothing leaves the machine and nothing is written by a query. Only
//! where endpoints are listed may SERVICE stand, and then whoever answers is told of it.
//!
//! Chains are counted by what they cannot do without. Operators chain expressions and paths. Clauses
//! chain groups, and each has a brace (`OPTIONAL {`, `UNION {`, `VALUES ?x {`) or a round bracket that
//! stands in a group itself (`FILTER(`, `BIND(`, `HAVING (`); so no list of keywords has to be complete.
//! A list of objects repeats the path before it, so its commas count, too. Of DELETE WHERE the parser makes
//! one group for each statement, and wants neither full stops nor blanks between them: there the terms are
//! counted, and lists, which stand for any number of statements, are refused.
//! Data is not chained: the rows of VALUES and what INSERT DATA inserts may be as long as they like.
//!
//! `<` begins an IRI or compares, and only the whole grammar knows which. The two differ inside round
//! brackets behind a value alone (`(?a <b> …`), and there the text is counted as if both were true; where
//! that would hide a bracket, a string or a comment, it is refused.

#[cfg(test)]
mod tests;
mod token;

use token::{Bracket, Token};

/// The largest query text.
pub const SIZE_LIMIT: usize = 1024 * 1024;
/// The largest update, which may carry data.
pub const UPDATE_LIMIT: usize = 32 * 1024 * 1024;
/// The deepest nesting of brackets.
pub const DEPTH_LIMIT: usize = 128;
/// Operators and clauses that build one level each when chained.
pub const CHAIN_LIMIT: usize = 500;

/// Why a query text is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    #[error("the text is {length} bytes long; at most {limit} are read")]
    TooLong { length: usize, limit: usize },
    #[error("the query is nested deeper than {DEPTH_LIMIT} at line {0}")]
    TooDeep(usize),
    #[error("the query chains more than {CHAIN_LIMIT} operators or clauses")]
    TooManyOperators,
    #[error("`<` at line {0} could begin an IRI and could compare; put a blank behind it to compare")]
    Ambiguous(usize),
    #[error("`DELETE WHERE` takes no blank nodes and no lists, as at line {0}; write variables")]
    BlankNode(usize),
    #[error("`{0}` is refused: queries read this catalogue, reach no other server and write nothing")]
    Forbidden(&'static str),
}

/// The clause that asks another endpoint.
pub const SERVICE: &str = "SERVICE";
/// The words that begin an update.
const UPDATES: &[&str] = &["LOAD", "INSERT", "DELETE", "CLEAR", "DROP", "CREATE", "COPY", "MOVE", "ADD"];

/// Checks a query; the parser may have it when this returns.
pub fn check(query: &str) -> Result<(), Refusal> {
    scan(query, SIZE_LIMIT, UPDATES, false).map(|_| ())
}

/// Checks a query that may ask other endpoints; says whether it does.
pub fn check_federated(query: &str) -> Result<bool, Refusal> {
    scan(query, SIZE_LIMIT, UPDATES, true)
}

/// Checks an update. Whether it loads something, its operations tell once they are parsed.
pub fn check_update(update: &str) -> Result<(), Refusal> {
    scan(update, UPDATE_LIMIT, &[], false).map(|_| ())
}

/// Says whether SERVICE stands in it, where it may.
fn scan(
    text: &str,
    limit: usize,
    forbidden: &'static [&'static str],
    may_federate: bool,
) -> Result<bool, Refusal> {
    if text.len() > limit {
        return Err(Refusal::TooLong { length: text.len(), limit });
    }
    let mut scan = Scan::new(text);
    while let Some(token) = scan.step()? {
        if scan.depth > DEPTH_LIMIT {
            return Err(Refusal::TooDeep(scan.line()));
        }
        if scan.clauses + scan.operators > CHAIN_LIMIT {
            return Err(Refusal::TooManyOperators);
        }
        let Token::Word(word) = token else { continue };
        if scan.federates && !may_federate {
            return Err(Refusal::Forbidden(SERVICE));
        }
        if let Some(word) = forbidden.iter().find(|forbidden| word.eq_ignore_ascii_case(forbidden)) {
            return Err(Refusal::Forbidden(word));
        }
    }
    Ok(scan.federates)
}

/// A walk over the tokens of a text. It holds no limit: whoever steps looks at what was found.
struct Scan<'a> {
    text: &'a str,
    place: usize,
    open: Vec<Level>,
    /// Openings of `<<`. What closes them is not looked for: such terms are not compiled in, and the
    /// parser follows them all the same.
    terms: usize,
    /// How deep the text is at this place.
    depth: usize,
    clauses: usize,
    operators: usize,
    /// Terms of the statement at hand, in a group whose statements are chained.
    statement: usize,
    /// SERVICE was met.
    federates: bool,
    block: Block,
    /// The token before, and the last one that is no blank.
    last: Token<'a>,
    before: Token<'a>,
}

/// A bracket that is open.
#[derive(Clone, Copy)]
struct Level {
    bracket: Bracket,
    /// Nothing but data stands in it.
    is_data: bool,
    /// Its statements are chained.
    is_chained: bool,
}

/// What is still missing before a block with rules of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    /// None is announced.
    No,
    /// The word WHERE behind DELETE.
    Where,
    /// The opening brace behind both.
    Chained,
    /// The variable or the list of variables behind VALUES.
    Columns,
    /// The rest of the list.
    List,
    /// The opening brace of a block of data.
    Brace,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            place: 0,
            open: Vec::new(),
            terms: 0,
            depth: 0,
            clauses: 0,
            operators: 0,
            statement: 0,
            federates: false,
            block: Block::No,
            last: Token::Blank,
            before: Token::Blank,
        }
    }

    /// Passes over one token; none at the end.
    fn step(&mut self) -> Result<Option<Token<'a>>, Refusal> {
        let Some((token, length)) = self.text.get(self.place..).and_then(token::first) else {
            return Ok(None);
        };
        if self.open.last().is_some_and(|level| level.is_chained) {
            self.link(token, length)?;
        }
        match token {
            Token::Open(bracket) => self.enter(bracket),
            Token::Close(bracket) => {
                self.open.pop_if(|level| level.bracket == bracket);
            }
            Token::Operator if !self.is_data() => self.operators += 1,
            Token::Other(',') if !self.is_data() && !self.is_in(Bracket::Round) => self.operators += 1,
            Token::Iri(content) => self.compare(content)?,
            Token::Less => self.terms += usize::from(self.last == Token::Less),
            Token::Word(word) => self.federates |= contains(word, SERVICE),
            // Another operation of an update begins.
            Token::Other(';') if self.open.is_empty() => (self.clauses, self.operators) = (0, 0),
            _ => {}
        }
        self.depth = self.open.len() + self.terms;
        self.block = self.announced(token);
        self.last = token;
        if token != Token::Blank {
            self.before = token;
        }
        self.place += length;
        Ok(Some(token))
    }

    /// Counts what tells statements apart in a group in which they are chained.
    fn link(&mut self, token: Token<'_>, length: usize) -> Result<(), Refusal> {
        match token {
            Token::Blank => {}
            Token::Close(_) => self.statement = 0,
            // `()` is a name, and every other list is made of blank nodes.
            _ if self.is_in(Bracket::Round) => return Err(Refusal::BlankNode(self.line())),
            Token::Open(Bracket::Square) => return Err(Refusal::BlankNode(self.line())),
            Token::Open(_) => self.statement = 0,
            // What the next statement has from this one: nothing, the subject, the property as well. A
            // comma is counted everywhere.
            Token::Other('.') => (self.statement, self.operators) = (0, self.operators + 1),
            Token::Other(';') => (self.statement, self.operators) = (1, self.operators + 1),
            Token::Other(',') => self.statement = 2,
            Token::Word(_) | Token::Variable | Token::Term | Token::Iri(_) => {
                self.statement += 1;
                self.operators += usize::from(self.statement > 3) + self.written_together(length);
            }
            Token::Operator | Token::Less | Token::Other(_) => {}
        }
        Ok(())
    }

    /// How many statements may be written as one word: `trueatrue` is one for the parser, and so is
    /// `trueaex:b` where there is no such prefix. Each has the `a` for its property.
    fn written_together(&self, length: usize) -> usize {
        let text = self.text.get(self.place..self.place + length).unwrap_or_default();
        let word = text.split(':').next().unwrap_or_default();
        let is_begun = word.starts_with(|c: char| c == 'a' || c.is_ascii_digit())
            || word.starts_with("true")
            || word.starts_with("false");
        if !is_begun || matches!(word, "a" | "false") { 0 } else { word.matches('a').count() }
    }

    fn enter(&mut self, bracket: Bracket) {
        let around = self.open.last().copied();
        let is_inside_data = around.is_some_and(|level| level.is_data);
        let in_group = around.is_none_or(|level| level.bracket == Bracket::Curly);
        let is_clause = bracket == Bracket::Curly || bracket == Bracket::Round && in_group;
        self.clauses += usize::from(is_clause && !is_inside_data);
        let is_next = |block| bracket == Bracket::Curly && self.block == block;
        let is_data = is_inside_data || is_next(Block::Brace);
        let is_chained = around.is_some_and(|level| level.is_chained) || is_next(Block::Chained);
        self.statement = 0;
        self.open.push(Level { bracket, is_data, is_chained });
    }

    fn is_data(&self) -> bool {
        self.open.last().is_some_and(|level| level.is_data)
    }

    fn is_in(&self, bracket: Bracket) -> bool {
        self.open.last().is_some_and(|level| level.bracket == bracket)
    }

    /// Counts what the parser would see in `<…>` if `<` compared here.
    fn compare(&mut self, content: &str) -> Result<(), Refusal> {
        let is_term = self.last == Token::Less;
        self.terms += usize::from(is_term);
        let behind_value = !matches!(
            self.before,
            Token::Blank | Token::Open(_) | Token::Operator | Token::Less | Token::Other(_)
        );
        if !is_term && (!self.is_in(Bracket::Round) || !behind_value || self.is_data()) {
            return Ok(());
        }
        // No expression goes on behind `http:` with two slashes.
        let (seen, is_cut) = match content.split_once("://") {
            Some((scheme, _)) if scheme.bytes().all(is_of_scheme) => (scheme, true),
            _ => (content, false),
        };
        if !is_cut && seen.contains(['(', ')', '[', ']', '\'', '#', '\\']) {
            return Err(Refusal::Ambiguous(self.line()));
        }
        self.operators += seen.matches(['+', '-', '*', '/', '&', '!']).count();
        Ok(())
    }

    /// Whether a block with rules of its own is about to begin behind this token.
    fn announced(&self, token: Token<'_>) -> Block {
        match (self.block, token) {
            (block, Token::Blank) => block,
            (_, Token::Word(word)) if ends_with(word, "DATA") => Block::Brace,
            (_, Token::Word(word)) if ends_with(word, "VALUES") => Block::Columns,
            (_, Token::Word(word)) if ends_with(word, "DELETEWHERE") => Block::Chained,
            (Block::Where, Token::Word(word)) if ends_with(word, "WHERE") => Block::Chained,
            (_, Token::Word(word)) if ends_with(word, "DELETE") => Block::Where,
            (Block::Columns, Token::Variable) | (Block::List, Token::Close(Bracket::Round)) => Block::Brace,
            (Block::Columns, Token::Open(Bracket::Round)) | (Block::List, Token::Variable) => Block::List,
            _ => Block::No,
        }
    }

    fn line(&self) -> usize {
        let before = self.text.get(..self.place).unwrap_or_default();
        1 + before.matches('\n').count() + before.matches('\r').count() - before.matches("\r\n").count()
    }
}

fn is_of_scheme(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+.-".contains(&byte)
}

fn ends_with(word: &str, end: &str) -> bool {
    let start = word.len().checked_sub(end.len());
    start.and_then(|start| word.get(start..)).is_some_and(|last| last.eq_ignore_ascii_case(end))
}

fn contains(word: &str, part: &str) -> bool {
    word.as_bytes().windows(part.len()).any(|some| some.eq_ignore_ascii_case(part.as_bytes()))
}
