//! `[federation]`: which endpoints elsewhere a query may ask.
//!
//! An endpoint is what its IRI says, letter by letter. So an IRI that can be read or written in
//! several ways is no entry of the list, and what differs from an entry in anything is not on it.

use serde::{Deserialize, Serialize};
use url::Url;

/// The endpoints that `SERVICE` may ask at a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Federation {
    pub endpoints: Vec<Endpoint>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    pub iri: String,
    /// Private addresses at which it may lie, as in the access of a source.
    #[serde(default)]
    pub allow_private: Vec<String>,
}

impl Federation {
    /// Whether nobody may be asked.
    pub fn is_empty(&self) -> bool {
        self.endpoints.is_empty()
    }

    pub(super) fn check(&self) -> Result<(), String> {
        self.endpoints.iter().try_for_each(|endpoint| {
            check(&endpoint.iri)
                .map_err(|reason| format!("`{}` in `[federation]` {reason}", endpoint.iri.escape_debug()))
        })
    }
}

fn check(iri: &str) -> Result<(), String> {
    let url = Url::parse(iri).map_err(|error| format!("is no IRI of an endpoint: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("is neither http nor https".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("holds a user name or a password".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("ends in a `?` or `#` part; an endpoint is its path alone".to_owned());
    }
    if url.as_str() != iri {
        return Err(format!("can be spelt in two ways; write `{url}`"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_spelt_in_one_way() {
        for iri in ["https://sparql.example/query", "http://127.0.0.1:7878/sparql", "http://[::1]:1/"] {
            assert_eq!(check(iri), Ok(()), "{iri}");
        }
        for (iri, reason) in [
            ("sparql.example/query", "no IRI"),
            ("ftp://sparql.example/", "neither http"),
            ("https://me:secret@sparql.example/", "user name"),
            ("https://sparql.example/?query=", "`?`"),
            ("https://sparql.example/#", "`#`"),
            ("https://sparql.example", "write `https://sparql.example/`"),
            ("HTTPS://Sparql.Example/", "write `https://sparql.example/`"),
            ("https://sparql.example:443/", "write `https://sparql.example/`"),
            ("https://sparql.example/a/../b", "write `https://sparql.example/b`"),
            ("http://127.1/", "write `http://127.0.0.1/`"),
            ("https://sparql.example/ü", "write `https://sparql.example/%C3%BC`"),
        ] {
            let message = check(iri).unwrap_err();
            assert!(message.contains(reason), "{iri}: {message}");
        }
    }
}
