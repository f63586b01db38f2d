//! Cuts a SPARQL text where the parser cuts it, one token at a time and without recursion.
//!
//! The guard sees no more than this module shows it: a token that ends later here than in the parser
//! hides what the parser goes on to read. So the rules are those of the parser's grammar, character
//! class by character class, and not those of a usual lexer:
//!
//! - A comment ends at a carriage return as well as at a line feed.
//! - `\(`, `\'` and `\#` inside a prefixed name are part of the name.
//! - A long string that is not closed, or has an escape that there is not, is an empty short string
//!   with something behind it.
//! - An IRI may have `\u` escapes, and its characters are those that an IRI may have.
//! - Words need nothing between them: `SERVICESILENT` and `1OPTIONAL` are two words each, and one
//!   [`Token::Word`].
//!
//! Where the parser accepts nothing at all, it does not matter what comes out: it reads no further.

/// What stands at one place of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// White space or a comment.
    Blank,
    Open(Bracket),
    Close(Bracket),
    /// What expressions and paths are chained with.
    Operator,
    /// Keywords, names of functions and numbers, or several of them in one.
    Word(&'a str),
    Variable,
    /// A prefixed name, a blank node, a language tag or a string.
    Term,
    /// What stands between `<` and `>`, if an IRI could consist of it.
    Iri(&'a str),
    /// `<` where no IRI begins.
    Less,
    Other(char),
}

/// A kind of bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bracket {
    Curly,
    Round,
    Square,
}

/// The token that a text begins with, and its length; none at the end.
pub(super) fn first(text: &str) -> Option<(Token<'_>, usize)> {
    let c = text.chars().next()?;
    let one = c.len_utf8();
    Some(match c {
        ' ' | '\t' | '\n' | '\r' => (Token::Blank, one),
        '#' => (Token::Blank, text.find(['\r', '\n']).unwrap_or(text.len())),
        '{' => (Token::Open(Bracket::Curly), one),
        '(' => (Token::Open(Bracket::Round), one),
        '[' => (Token::Open(Bracket::Square), one),
        '}' => (Token::Close(Bracket::Curly), one),
        ')' => (Token::Close(Bracket::Round), one),
        ']' => (Token::Close(Bracket::Square), one),
        // The type of a literal, and no path.
        '^' if text.starts_with("^^") => (Token::Other(c), 2),
        '|' if text.starts_with("||") => (Token::Operator, 2),
        '&' if text.starts_with("&&") => (Token::Operator, 2),
        '+' | '-' | '*' | '/' | '|' | '&' | '!' | '^' => (Token::Operator, one),
        '"' | '\'' => string(text).map_or((Token::Other(c), one), |length| (Token::Term, length)),
        '<' => match iri(text) {
            Some(content) => (Token::Iri(content), content.len() + 2),
            None => (Token::Less, one),
        },
        '?' | '$' => match run(text.get(1..).unwrap_or_default(), is_variable) {
            // In a path it says that a step is optional.
            0 => (Token::Operator, one),
            length => (Token::Variable, 1 + length),
        },
        '@' => (Token::Term, 1 + language(text.get(1..).unwrap_or_default())),
        ':' => (Token::Term, 1 + local(text.get(1..).unwrap_or_default())),
        _ if is_variable(c) => {
            let (word, after) = text.split_at(run(text, is_variable));
            match after.strip_prefix(':') {
                None => (Token::Word(word), word.len()),
                Some(name) if word == "_" => (Token::Term, word.len() + 1 + label(name)),
                Some(name) => (Token::Term, word.len() + 1 + local(name)),
            }
        }
        _ => (Token::Other(c), one),
    })
}

/// How many bytes at the beginning are of one class.
fn run(text: &str, class: impl Fn(char) -> bool) -> usize {
    text.find(|c| !class(c)).unwrap_or(text.len())
}

/// `PN_CHARS_BASE` of the grammar.
fn is_letter(c: char) -> bool {
    matches!(c,
        'A'..='Z' | 'a'..='z'
        | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
        | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}'
        | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}'
        | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}')
}

/// `PN_CHARS_U` or a digit: what a variable or a blank node may begin with.
fn is_beginning(c: char) -> bool {
    is_letter(c) || c == '_' || c.is_ascii_digit()
}

/// What a variable may consist of.
fn is_variable(c: char) -> bool {
    is_beginning(c) || matches!(c, '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

/// `PN_CHARS`.
fn is_name(c: char) -> bool {
    is_variable(c) || c == '-'
}

/// The length of a language tag behind its `@`.
fn language(text: &str) -> usize {
    let mut length = run(text, |c| c.is_ascii_alphabetic());
    while let Some(part) = text.get(length..).and_then(|rest| rest.strip_prefix('-')) {
        match run(part, |c| c.is_ascii_alphanumeric()) {
            0 => break,
            part => length += 1 + part,
        }
    }
    // The direction of SPARQL 1.2.
    match text.get(length..).and_then(|rest| rest.strip_prefix("--")) {
        Some(direction) => match run(direction, |c| c.is_ascii_alphabetic()) {
            0 => length,
            direction => length + 2 + direction,
        },
        None => length,
    }
}

/// The length of a blank node's label behind its `_:`.
fn label(text: &str) -> usize {
    if !text.starts_with(is_beginning) {
        return 0;
    }
    let mut length = run(text, is_name);
    while let Some(more) = after_dots(text, length, |rest| run(rest, is_name)) {
        length = more;
    }
    length
}

/// The length of `PN_LOCAL`, behind the colon. The parser takes one group of full stops at most.
fn local(text: &str) -> usize {
    if !text.starts_with(|c| is_beginning(c) || c == ':') && escape(text).is_none() {
        return 0;
    }
    let length = locals(text);
    after_dots(text, length, locals).unwrap_or(length)
}

/// The length of characters and escapes of a local name.
fn locals(text: &str) -> usize {
    let mut length = 0;
    while let Some(rest) = text.get(length..) {
        match rest.chars().next() {
            Some(c) if is_name(c) || c == ':' => length += c.len_utf8(),
            _ => match escape(rest) {
                Some(escape) => length += escape,
                None => break,
            },
        }
    }
    length
}

/// The length of `%41` or `\(`.
fn escape(text: &str) -> Option<usize> {
    if let Some(hex) = text.strip_prefix('%') {
        return hex.get(..2)?.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(3);
    }
    text.strip_prefix('\\')?.starts_with(|c| "_~.-!$&'()*+,;=/?#@%".contains(c)).then_some(2)
}

/// Where a name ends that goes on behind full stops.
fn after_dots(text: &str, length: usize, more: impl Fn(&str) -> usize) -> Option<usize> {
    let rest = text.get(length..)?;
    let dots = run(rest, |c| c == '.');
    let more = more(rest.get(dots..)?);
    (dots > 0 && more > 0).then_some(length + dots + more)
}

/// The length of a string from its first quotation mark; none where there is no string.
fn string(text: &str) -> Option<usize> {
    let short = text.get(..1)?;
    let long = short.repeat(3);
    if text.starts_with(&long)
        && let Some(length) = closed(text, &long, |_| true)
    {
        return Some(length);
    }
    closed(text, short, |c| c != '\r' && c != '\n')
}

/// The length of a string between two marks; none if it is not closed or has a wrong escape.
fn closed(text: &str, mark: &str, is_allowed: impl Fn(char) -> bool) -> Option<usize> {
    let mut place = mark.len();
    loop {
        let rest = text.get(place..)?;
        if rest.starts_with(mark) {
            return Some(place + mark.len());
        }
        let c = rest.chars().next()?;
        place += match c {
            '\\' => match rest.get(1..)?.chars().next()? {
                't' | 'b' | 'n' | 'r' | 'f' | '"' | '\'' | '\\' => 2,
                _ => {
                    // The grammar asks for digits; reading a number would allow a sign.
                    let (_, length) = code_point(rest)?;
                    rest.get(2..length)?.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(length)?
                }
            },
            c if is_allowed(c) => c.len_utf8(),
            _ => return None,
        };
    }
}

/// The character that `\u007B` or `\U0000007B` stands for, and the length of that.
fn code_point(text: &str) -> Option<(char, usize)> {
    let length = match text.as_bytes().get(..2)? {
        b"\\u" => 6,
        b"\\U" => 10,
        _ => return None,
    };
    let number = u32::from_str_radix(text.get(2..length)?, 16).ok()?;
    Some((char::from_u32(number)?, length))
}

/// The content of `<…>`; none where an IRI cannot consist of it.
fn iri(text: &str) -> Option<&str> {
    let is_allowed = |c: char| c > ' ' && !"<>\"{}|^`\\".contains(c);
    let mut place = 1;
    loop {
        let rest = text.get(place..)?;
        place += match rest.chars().next()? {
            '>' => return text.get(1..place),
            '\\' => code_point(rest).filter(|(c, _)| is_allowed(*c))?.1,
            c if is_allowed(c) => c.len_utf8(),
            _ => return None,
        };
    }
}
