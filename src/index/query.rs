//! What did the reader ask for?
//!
//! ```text
//! query  = { clause }                  all of them must match
//! clause = [ "-" ] [ field ":" ] what  "-": must not match
//! what   = word | word "*" | '"' words '"'
//! field  = "title" | "creator" | "subject" | "identifier" | "note"
//! ```
//!
//! There is no wrong query. What is not of this form is taken as words: a field nobody knows, a
//! quotation mark that nothing closes. A query without words asks for everything.

use super::document::{Field, cut};

/// Longer queries are read up to here, in bytes.
pub const LONGEST: usize = 4096;
/// Further clauses are left out.
pub const MOST_CLAUSES: usize = 32;
/// Further beginnings of words are left out: each of them stands for many words.
pub const MOST_PREFIXES: usize = 8;

/// A part of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clause {
    pub negated: bool,
    pub field: Option<Field>,
    pub text: String,
    pub form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Word,
    /// The beginning of a word.
    Prefix,
    Phrase,
}

/// The clauses of a query, each once.
pub fn parse(text: &str) -> Vec<Clause> {
    let mut rest = within_limit(text);
    let mut clauses: Vec<Clause> = Vec::new();
    let mut prefixes = 0;
    while clauses.len() < MOST_CLAUSES
        && let Some(clause) = next(&mut rest)
    {
        let empty = !clause.text.contains(char::is_alphanumeric);
        let many = clause.form == Form::Prefix && prefixes == MOST_PREFIXES;
        if !empty && !many && !clauses.contains(&clause) {
            prefixes += usize::from(clause.form == Form::Prefix);
            clauses.push(clause);
        }
    }
    clauses
}

/// As many whole words as fit; of one that does not, its beginning.
fn within_limit(text: &str) -> &str {
    if text.len() <= LONGEST {
        return text;
    }
    let fitting = cut(text, LONGEST);
    fitting.rsplit_once(is_space).map_or(fitting, |(words, _)| words)
}

/// Cuts the next clause off.
fn next(rest: &mut &str) -> Option<Clause> {
    *rest = rest.trim_start_matches(is_space);
    if rest.is_empty() {
        return None;
    }
    let negated = rest.strip_prefix('-').filter(|after| after.starts_with(|c| !is_space(c) && c != '-'));
    *rest = negated.unwrap_or(rest);
    let field = rest.split_once(':').and_then(|(name, after)| {
        let field = Field::named(&name.to_lowercase())?;
        // `title: walden` is not a field and its word: whoever types a title in full may write so.
        after.starts_with(|c| !is_space(c)).then_some((field, after))
    });
    if let Some((_, after)) = field {
        *rest = after;
    }
    let (text, form) = match rest.strip_prefix(is_quote) {
        Some(quoted) => {
            let (text, after) = quoted.split_once(is_quote).unwrap_or((quoted, ""));
            *rest = after;
            (text, Form::Phrase)
        }
        None => {
            let (word, after) =
                rest.split_at(rest.find(|c| is_space(c) || is_quote(c)).unwrap_or(rest.len()));
            *rest = after;
            match word.split_once('*') {
                Some((beginning, _)) => (beginning, Form::Prefix),
                None => (word, Form::Word),
            }
        }
    };
    let field = field.map(|(field, _)| field);
    Some(Clause { negated: negated.is_some(), field, text: text.to_owned(), form })
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '«' | '»' | '「' | '」')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let shown: Vec<String> = parse(text)
            .iter()
            .map(|clause| {
                let field = clause.field.map_or(String::new(), |field| format!("{}:", field.as_str()));
                let minus = if clause.negated { "-" } else { "" };
                match clause.form {
                    Form::Word => format!("{minus}{field}{}", clause.text),
                    Form::Prefix => format!("{minus}{field}{}*", clause.text),
                    Form::Phrase => format!("{minus}{field}<{}>", clause.text),
                }
            })
            .collect();
        assert_eq!(shown.join(" "), expected, "{text}");
    }

    #[test]
    fn queries_are_read() {
        check("war peace", "war peace");
        check(
            "title:walden -\"life in\" creator:\"Thoreau, H\" wood*",
            "title:walden -<life in> creator:<Thoreau, H> wood*",
        );
        check("-title:x*", "-title:x*");
        check("Wi-Fi -- -", "Wi-Fi");
        check("“curly quotes” »guillemets«", "<curly quotes> <guillemets>");
        check("same same", "same");
    }

    #[test]
    fn there_is_no_wrong_query() {
        check("", "");
        check("\"\"\"\"\"", "");
        check("\"open", "<open>");
        check("http://example.org/a", "http://example.org/a");
        check("title: walden", "title: walden");
        check("title:", "title:");
        check("a\u{0}b", "a b");
        check("* ** -*", "");
        check("a*b*c", "a*");
    }

    #[test]
    fn queries_are_bounded() {
        assert_eq!(parse(&"word ".repeat(20_000)).len(), 1);
        let many: String = (0..10_000).map(|n| format!("a{n}* ")).collect();
        assert_eq!(parse(&many).len(), MOST_PREFIXES);
        let many: String = (0..10_000).map(|n| format!("a{n} ")).collect();
        assert_eq!(parse(&many).len(), MOST_CLAUSES);
        assert_eq!(parse(&"é".repeat(50_000))[0].text.len(), LONGEST);
    }
}
