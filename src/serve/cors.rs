//! Pages of which other origins may read answers?
//!
//! On a public server everybody may read, so every page may (YASGUI and its like need it). A server
//! that is not public may hold what is nobody's business: no page elsewhere reads it, unless its
//! origin was named. Pages elsewhere never write and never use a token: what carries one is not for
//! them, and `Authorization` is not among the headers that they may send.

use super::routes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// Chrome asks by this whether a page of the public web may reach a machine that is not public.
/// That is never allowed.
const PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-request-private-network");

/// Who may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cors {
    Nobody,
    Everybody,
    /// Pages of these origins, each as a browser sends it.
    Origins(Vec<String>),
}

impl Cors {
    /// By what was given; else everybody, if everybody may read what the server has.
    pub fn new(given: &[String], is_open: bool) -> Self {
        if given.iter().any(|origin| origin == "*") {
            Self::Everybody
        } else if !given.is_empty() {
            Self::Origins(given.to_vec())
        } else if is_open {
            Self::Everybody
        } else {
            Self::Nobody
        }
    }

    /// What an answer is marked with for whoever sent this request.
    pub fn grant(&self, request: &HeaderMap) -> Grant {
        let is_for_all =
            !request.contains_key(header::AUTHORIZATION) && !request.contains_key(PRIVATE_NETWORK);
        let origin = match self {
            Self::Everybody => Some(HeaderValue::from_static("*")),
            Self::Origins(origins) => {
                let origin = request.get(header::ORIGIN);
                origin.filter(|origin| origins.iter().any(|known| *known == **origin)).cloned()
            }
            Self::Nobody => None,
        };
        Grant {
            origin: origin.filter(|_| is_for_all),
            varies: matches!(self, Self::Origins(_)),
            resources: if *self == Self::Everybody { "cross-origin" } else { "same-origin" },
        }
    }
}

/// What the headers of one answer allow.
#[derive(Debug)]
pub struct Grant {
    origin: Option<HeaderValue>,
    varies: bool,
    /// Whether other pages may show what they may not read, as images and the like.
    resources: &'static str,
}

impl Grant {
    /// Marks an answer; `readable` if it is one that pages elsewhere may read at all.
    pub fn mark(&self, headers: &mut HeaderMap, readable: bool) {
        let resources = HeaderValue::from_static(self.resources);
        headers.insert(HeaderName::from_static("cross-origin-resource-policy"), resources);
        if self.varies {
            headers.append(header::VARY, HeaderValue::from_static("Origin"));
        }
        let Some(origin) = self.origin.as_ref().filter(|_| readable) else { return };
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        let exposed = HeaderValue::from_static("ETag, Link, Location, Retry-After");
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }

    /// Says what pages elsewhere may send, to a browser that asks before.
    pub fn permit(&self, headers: &mut HeaderMap, route: &str) {
        let methods = routes::readable(route);
        if methods.is_empty() || self.origin.is_none() {
            return;
        }
        let set = [
            (header::ACCESS_CONTROL_ALLOW_METHODS, methods),
            (header::ACCESS_CONTROL_ALLOW_HEADERS, "Accept, Content-Type, If-None-Match"),
            (header::ACCESS_CONTROL_MAX_AGE, "86400"),
        ];
        headers.extend(set.map(|(name, value)| (name, HeaderValue::from_static(value))));
    }
}

/// Reads an origin that somebody typed: scheme, host and perhaps a port, or `*`.
pub fn read(text: &str) -> Result<String, String> {
    let origin = text.strip_suffix('/').unwrap_or(text);
    let is_origin = url::Url::parse(origin).is_ok_and(|url| url.origin().ascii_serialization() == origin);
    if text == "*" || is_origin {
        return Ok(origin.to_owned());
    }
    Err(format!("`{text}` is no origin; give scheme and host, like `https://yasgui.example`, or `*` for all"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(fields: &[(HeaderName, &'static str)]) -> HeaderMap {
        fields.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    fn allowed(cors: &Cors, fields: &[(HeaderName, &'static str)]) -> Option<String> {
        let mut headers = HeaderMap::new();
        cors.grant(&request(fields)).mark(&mut headers, true);
        let origin = headers.get(header::ACCESS_CONTROL_ALLOW_ORIGIN)?;
        Some(origin.to_str().expect("text").to_owned())
    }

    #[test]
    fn who_may_read_is_said_or_follows_from_who_may_read_anyway() {
        let named = ["https://a.example".to_owned()];
        assert_eq!(Cors::new(&[], true), Cors::Everybody);
        assert_eq!(Cors::new(&[], false), Cors::Nobody);
        assert_eq!(Cors::new(&named, true), Cors::Origins(named.to_vec()));
        assert_eq!(Cors::new(&["*".to_owned()], false), Cors::Everybody);
    }

    #[test]
    fn an_origin_reads_if_it_is_named_and_brings_no_token() {
        let a = (header::ORIGIN, "https://a.example");
        let b = (header::ORIGIN, "https://b.example");
        let cors = Cors::Origins(vec!["https://a.example".to_owned()]);
        assert_eq!(allowed(&cors, std::slice::from_ref(&a)).as_deref(), Some("https://a.example"));
        assert_eq!(allowed(&cors, std::slice::from_ref(&b)), None);
        assert_eq!(allowed(&cors, &[]), None);
        assert_eq!(allowed(&Cors::Everybody, std::slice::from_ref(&b)).as_deref(), Some("*"));
        assert_eq!(allowed(&Cors::Nobody, std::slice::from_ref(&b)), None);
        for more in [(header::AUTHORIZATION, "Bearer pin_x"), (PRIVATE_NETWORK, "true")] {
            assert_eq!(allowed(&Cors::Everybody, &[a.clone(), more.clone()]), None);
            assert_eq!(allowed(&cors, &[a.clone(), more]), None);
        }
    }

    #[test]
    fn origins_are_read_as_browsers_write_them() {
        assert_eq!(read("*"), Ok("*".to_owned()));
        assert_eq!(read("https://a.example/"), Ok("https://a.example".to_owned()));
        assert_eq!(read("http://localhost:8080"), Ok("http://localhost:8080".to_owned()));
        for text in ["a.example", "https://a.example/b", "https://a.example:443", "null", "file:///x", ""] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
