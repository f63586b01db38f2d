//! Which form a query has, without parsing it.
//!
//! What an answer can look like depends on the form: rows, a truth value or a graph. The server
//! parses no query of strangers, so it passes over the prologue and reads one word. Where it errs,
//! the query does not parse anyway.

/// What a query gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// SELECT or ASK.
    Results,
    /// CONSTRUCT or DESCRIBE.
    Graph,
}

/// The form of a query; none if the text does not begin like one.
pub fn form(query: &str) -> Option<Form> {
    let mut rest = query;
    loop {
        rest = skip(rest);
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let is = |keyword: &str| word.eq_ignore_ascii_case(keyword);
        if is("SELECT") || is("ASK") {
            return Some(Form::Results);
        }
        if is("CONSTRUCT") || is("DESCRIBE") {
            return Some(Form::Graph);
        }
        if is("BASE") || is("PREFIX") {
            // `name: <iri>`, or the IRI alone.
            rest = after.split_once('>')?.1;
        } else if is("VERSION") {
            let text = skip(after);
            let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            rest = text.get(1..)?.split_once(quote)?.1;
        } else {
            return None;
        }
    }
}

/// The text without the blanks and comments it begins with.
fn skip(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(comment) = rest.strip_prefix('#') {
        rest = comment.split_once(['\n', '\r']).map_or("", |(_, after)| after).trim_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_after_the_prologue_tells() {
        for (query, expected) in [
            ("SELECT * {}", Some(Form::Results)),
            ("  ask{}", Some(Form::Results)),
            ("# SELECT\r\nPREFIX a: <http://a#select> prefix b:<b>\nCONSTRUCT WHERE {}", Some(Form::Graph)),
            ("BASE <http://a> VERSION \"1.2\" DESCRIBE <x>", Some(Form::Graph)),
            ("INSERT DATA {}", None),
            ("", None),
            ("# only a comment", None),
            ("PREFIX", None),
            ("VERSION", None),
            ("é", None),
        ] {
            assert_eq!(form(query), expected, "{query}");
        }
    }
}
