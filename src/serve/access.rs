//! Who asks, and what they may do.
//!
//! Four roles, each of which may do what the ones before it may. A role comes from a token in the
//! `Authorization` header and from nowhere else: a token in a URL ends up in logs and histories,
//! so a request that has one is refused, even if the token is good.

use super::problem::Problem;
use super::token::{Known, PREFIX, Tokens};
use axum::http::{HeaderMap, Uri, header};
use oxrdf::GraphName;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::str::FromStr;

/// What somebody may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Read, within narrow limits.
    Anonymous,
    /// Read, within wide limits.
    Reader,
    /// Update and write graphs.
    Writer,
    /// Back up and look at the server itself.
    Admin,
}

impl Role {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anonymous => "anonymous",
            Self::Reader => "reader",
            Self::Writer => "writer",
            Self::Admin => "admin",
        }
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Reader, Self::Writer, Self::Admin]
            .into_iter()
            .find(|role| role.as_str() == text)
            .ok_or_else(|| format!("`{text}` is no role; there are reader, writer and admin"))
    }
}

/// Somebody who asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub role: Role,
    /// The name of the token, which is no secret.
    pub token: Option<String>,
    /// The one source whose graphs this writer may write.
    pub source: Option<String>,
}

impl Holder {
    pub fn anonymous() -> Self {
        Self { role: Role::Anonymous, token: None, source: None }
    }

    /// Whether a role is enough. Without a token the answer is 401, with too small a one 403.
    pub fn at_least(&self, role: Role) -> Result<(), Problem> {
        if self.role >= role {
            return Ok(());
        }
        Err(match self.token {
            None => Problem::unauthorized(&format!("a {} token is needed", role.as_str())),
            Some(_) => Problem::forbidden(format!("this needs a token with role {}", role.as_str())),
        })
    }

    /// Whether this holder may write a graph of the catalogue with this base.
    ///
    /// The writer of a source has its records and the graphs named after it; everybody else with
    /// the role has all.
    pub fn may_write(&self, graph: &GraphName, base: &str) -> bool {
        let Some(source) = &self.source else { return self.role >= Role::Writer };
        let GraphName::NamedNode(name) = graph else { return false };
        let Some(path) = name.as_str().strip_prefix(base) else { return false };
        // Dots would let a name that begins well lead elsewhere once a client resolves it.
        let plain = !path.split('/').any(|step| matches!(step, "." | ".."));
        let own = |folder: &&str| {
            let below = path.strip_prefix(*folder).and_then(|rest| rest.strip_prefix('/'));
            let below = below.and_then(|rest| rest.strip_prefix(source.as_str()));
            below.and_then(|rest| rest.strip_prefix('/')).is_some_and(|rest| !rest.is_empty())
        };
        self.role >= Role::Writer && plain && ["record", "graph", "graph-store"].iter().any(own)
    }
}

/// The tokens of a catalogue.
pub struct Access {
    tokens: Tokens,
}

impl Access {
    pub fn new(file: PathBuf) -> Self {
        Self { tokens: Tokens::new(file) }
    }

    /// Who sends a request.
    pub fn holder(&self, uri: &Uri, headers: &HeaderMap) -> Result<Holder, Problem> {
        if uri.query().is_some_and(has_token) {
            return Err(Problem::bad_request(
                "a token must not stand in a URL, where logs keep it: revoke it, and send another one as `Authorization: Bearer`",
            ));
        }
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let Some(value) = given.next() else { return Ok(Holder::anonymous()) };
        if given.next().is_some() {
            return Err(Problem::bad_request("there are two `Authorization` headers"));
        }
        let bearer = value.to_str().ok().and_then(|text| {
            let (scheme, token) = text.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        let Some(token) = bearer else {
            return Err(Problem::unauthorized("tokens are sent as `Authorization: Bearer`"));
        };
        match self.tokens.find(token) {
            Some(Known { id, role, source, .. }) => Ok(Holder { role, token: Some(id), source }),
            None => Err(Problem::unauthorized("this token is not known here")),
        }
    }
}

/// Whether a query string has a token in it, in the place that RFC 6750 names or in any other.
fn has_token(query: &str) -> bool {
    // Nearly every query has neither, and decoding costs.
    let suspicious = query.contains(PREFIX) || query.contains('%') || query.contains("access_token");
    suspicious
        && form_urlencoded::parse(query.as_bytes())
            .any(|(name, value)| name == "access_token" || super::token::looks_like_one(value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdf::NamedNode;

    const BASE: &str = "http://library.example/";

    fn writer(source: Option<&str>) -> Holder {
        Holder { role: Role::Writer, token: Some("t".to_owned()), source: source.map(str::to_owned) }
    }

    #[test]
    fn the_writer_of_a_source_has_its_graphs_alone() {
        let may = |holder: &Holder, name: &str| {
            holder.may_write(&NamedNode::new(format!("{BASE}{name}")).expect("an IRI").into(), BASE)
        };
        let loc = writer(Some("loc"));
        for name in ["record/loc/1", "graph/loc/new", "graph-store/loc/a/b"] {
            assert!(may(&loc, name), "{name}");
        }
        for name in [
            "record/loc2/1",
            "record/locx",
            "record/loc/",
            "record/bnf/1",
            "record/loc/../bnf/1",
            "work/1",
            "",
        ] {
            assert!(!may(&loc, name), "{name}");
            assert!(may(&writer(None), name), "{name}");
        }
        assert!(!loc.may_write(&GraphName::DefaultGraph, BASE));
        assert!(writer(None).may_write(&GraphName::DefaultGraph, BASE));
        let elsewhere = NamedNode::new("http://evil.example/record/loc/1").expect("an IRI");
        assert!(!loc.may_write(&elsewhere.into(), BASE));
        assert!(!Holder::anonymous().may_write(&GraphName::DefaultGraph, BASE));
    }

    #[test]
    fn roles_are_ordered() {
        assert!(Role::Anonymous < Role::Reader && Role::Reader < Role::Writer && Role::Writer < Role::Admin);
        assert_eq!("admin".parse(), Ok(Role::Admin));
        assert!("anonymous".parse::<Role>().is_err());
    }
}
