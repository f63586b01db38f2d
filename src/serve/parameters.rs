//! The parameters of the SPARQL protocol and the graph store, from a query string or a form.

use super::problem::Problem;
use axum::body::Bytes;
use axum::http::{HeaderMap, header};
use oxrdf::NamedNode;
use std::borrow::Cow;

/// More graphs than this are not named in a request.
const GRAPHS: usize = 100;

/// What a request says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    pub query: Option<String>,
    pub update: Option<String>,
    pub default_graphs: Vec<NamedNode>,
    pub named_graphs: Vec<NamedNode>,
    pub using: Vec<NamedNode>,
    pub using_named: Vec<NamedNode>,
    pub format: Option<String>,
}

impl Parameters {
    /// Takes in a query string, or a form of the same syntax. What is not known is left alone, as
    /// clients add things of their own.
    pub fn add(&mut self, encoded: &[u8]) -> Result<(), Problem> {
        for (name, value) in form_urlencoded::parse(encoded) {
            let graphs = match name.as_ref() {
                "query" => {
                    once(&mut self.query, "query", value)?;
                    continue;
                }
                "update" => {
                    once(&mut self.update, "update", value)?;
                    continue;
                }
                "format" => {
                    self.format = Some(value.into_owned());
                    continue;
                }
                "default-graph-uri" => &mut self.default_graphs,
                "named-graph-uri" => &mut self.named_graphs,
                "using-graph-uri" => &mut self.using,
                "using-named-graph-uri" => &mut self.using_named,
                _ => continue,
            };
            if graphs.len() >= GRAPHS {
                return Err(Problem::bad_request(format!("more than {GRAPHS} graphs are named")));
            }
            graphs.push(iri(&name, &value)?);
        }
        Ok(())
    }
}

/// An absolute IRI.
pub fn iri(name: &str, value: &str) -> Result<NamedNode, Problem> {
    NamedNode::new(value)
        .map_err(|error| Problem::bad_request(format!("`{name}` is no absolute IRI: {error}")))
}

fn once(slot: &mut Option<String>, name: &str, value: Cow<'_, str>) -> Result<(), Problem> {
    // Decoding replaces what is not UTF-8; a text with that in it is not what was sent.
    if value.contains(char::REPLACEMENT_CHARACTER) {
        return Err(Problem::bad_request(format!("`{name}` is not in UTF-8")));
    }
    if slot.is_some() {
        return Err(Problem::bad_request(format!("there are two `{name}` parameters")));
    }
    *slot = Some(value.into_owned());
    Ok(())
}

/// The media type of a body in lower case, without parameters; 415 if it is in another character
/// set than UTF-8, or compressed.
pub fn media_type(headers: &HeaderMap) -> Result<String, Problem> {
    let coded = headers.get(header::CONTENT_ENCODING).is_some_and(|coding| coding != "identity");
    if coded {
        return Err(Problem::unsupported("bodies are read as they are, without `Content-Encoding`"));
    }
    let Some(value) = headers.get(header::CONTENT_TYPE) else {
        return Err(Problem::unsupported("the request has a body without `Content-Type`"));
    };
    let value = value.to_str().map_err(|_| Problem::unsupported("`Content-Type` cannot be read"))?;
    let mut parts = value.split(';');
    let name = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
    let charset = parts
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
        .map(|(_, value)| value.trim().trim_matches('"').to_ascii_lowercase());
    match charset.as_deref() {
        None | Some("utf-8" | "utf8" | "us-ascii") => Ok(name),
        Some(other) => Err(Problem::unsupported(format!("`{other}` is not read here; send UTF-8"))),
    }
}

/// A body as text.
pub fn text(body: Bytes) -> Result<String, Problem> {
    String::from_utf8(body.into()).map_err(|_| Problem::bad_request("the body is not in UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderValue, StatusCode};

    fn read(encoded: &str) -> Result<Parameters, StatusCode> {
        let mut parameters = Parameters::default();
        parameters.add(encoded.as_bytes()).map_err(|problem| problem.status)?;
        Ok(parameters)
    }

    #[test]
    fn each_parameter_finds_its_place() {
        let read = read(
            "query=ASK+%7B%7D&default-graph-uri=http%3A%2F%2Fa&default-graph-uri=http://b&x=y&format=json",
        );
        let read = read.expect("parameters");
        assert_eq!(read.query.as_deref(), Some("ASK {}"));
        assert_eq!(read.default_graphs.len(), 2);
        assert_eq!(read.format.as_deref(), Some("json"));
    }

    #[test]
    fn what_is_twice_or_broken_is_a_bad_request() {
        let many = "named-graph-uri=http://a&".repeat(GRAPHS + 1);
        for text in ["query=a&query=b", "update=a&update=a", "query=%FF", "using-graph-uri=a", &many] {
            assert_eq!(read(text), Err(StatusCode::BAD_REQUEST), "{text}");
        }
    }

    #[test]
    fn bodies_are_in_utf_8() {
        let of = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(value));
            media_type(&headers).map_err(|problem| problem.status)
        };
        assert_eq!(of("Text/Turtle; Charset=\"UTF-8\""), Ok("text/turtle".to_owned()));
        assert_eq!(of("text/turtle;charset=utf-16"), Err(StatusCode::UNSUPPORTED_MEDIA_TYPE));
        assert!(media_type(&HeaderMap::new()).is_err());
    }
}
