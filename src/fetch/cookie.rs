//! Cookies, as much of them as a login needs.
//!
//! A cookie goes back to the origin that set it and to no other: `Domain` is ignored, so a
//! session at one host is never shown to its neighbours. Names, values and `Path` are as in
//! RFC 6265; what `Expires` and `Max-Age` say matters only where they delete.

use super::secret::Secret;
use std::time::SystemTime;
use url::{Origin, Url};

/// More are not kept; a server that sets more is not logging anybody in.
const MOST: usize = 50;
const LONGEST: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Jar {
    cookies: Vec<Cookie>,
}

#[derive(Debug)]
struct Cookie {
    origin: Origin,
    path: String,
    name: String,
    value: Secret,
}

impl Jar {
    /// Takes a `Set-Cookie` header of the answer from `url`; gives the value that was set.
    pub(super) fn set(&mut self, url: &Url, header: &str, now: SystemTime) -> Option<String> {
        let mut parts = header.split(';');
        let (name, value) = parts.next()?.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        if name.is_empty() || header.len() > LONGEST || header.chars().any(|c| c.is_control()) {
            return None;
        }
        let mut path = default_path(url);
        let mut gone = false;
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "path" if value.starts_with('/') => path = value.to_owned(),
                "max-age" => gone = value.parse::<i64>().is_ok_and(|age| age <= 0),
                "expires" => gone |= httpdate::parse_http_date(value).is_ok_and(|date| date <= now),
                _ => {}
            }
        }
        let origin = url.origin();
        self.cookies.retain(|cookie| cookie.origin != origin || cookie.path != path || cookie.name != name);
        if gone || self.cookies.len() >= MOST {
            return None;
        }
        let cookie = Cookie { origin, path, name: name.to_owned(), value: Secret::new(value.to_owned()) };
        self.cookies.push(cookie);
        Some(value.to_owned())
    }

    /// The `Cookie` header for a request to `url`.
    pub(super) fn header(&self, url: &Url) -> Option<String> {
        let origin = url.origin();
        let pairs: Vec<String> = self
            .cookies
            .iter()
            .filter(|cookie| cookie.origin == origin && is_under(url.path(), &cookie.path))
            .map(|cookie| format!("{}={}", cookie.name, cookie.value.reveal()))
            .collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    pub(super) fn clear(&mut self) {
        self.cookies.clear();
    }
}

/// The folder of the page (RFC 6265, section 5.1.4).
fn default_path(url: &Url) -> String {
    match url.path().rfind('/') {
        None | Some(0) => "/".to_owned(),
        Some(end) => url.path()[..end].to_owned(),
    }
}

fn is_under(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| folder.ends_with('/') || rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    #[test]
    fn a_cookie_goes_back_to_its_origin_alone() {
        let mut jar = Jar::default();
        jar.set(
            &url("https://a.example/in"),
            "sid=1; Path=/; Domain=example; HttpOnly",
            SystemTime::UNIX_EPOCH,
        );
        assert_eq!(jar.header(&url("https://a.example/x")).as_deref(), Some("sid=1"));
        for other in
            ["http://a.example/", "https://a.example:8443/", "https://b.example/", "https://x.a.example/"]
        {
            assert_eq!(jar.header(&url(other)), None, "{other}");
        }
    }

    #[test]
    fn paths_names_and_deletion() {
        let mut jar = Jar::default();
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000);
        let page = url("http://a.example/app/login");
        jar.set(&page, "a=1", now);
        jar.set(&page, "b=2; path=/", now);
        jar.set(&page, "a=3", now);
        assert_eq!(jar.header(&url("http://a.example/app/x")).as_deref(), Some("b=2; a=3"));
        assert_eq!(jar.header(&url("http://a.example/application")).as_deref(), Some("b=2"));
        jar.set(&page, "b=; path=/; expires=Thu, 01 Jan 1970 00:00:00 GMT", now);
        jar.set(&page, "a=; max-age=0", now);
        assert_eq!(jar.header(&url("http://a.example/app/x")), None);
        assert_eq!(jar.set(&page, "no pair", now), None);
        assert_eq!(jar.set(&page, "=x", now), None);
    }
}
