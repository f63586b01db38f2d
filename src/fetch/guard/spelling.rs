//! Addresses as text.
//!
//! Programs differ over what `http://a\@b/` or `http:127.0.0.1` means, and where two programs
//! differ there is a way around the one that checks. So the text is held to RFC 3986 before the
//! parser of browsers reads it, and only its reading is used afterwards: it knows that
//! `0x7f.1`, `2130706433`, `%31%32%37.0.0.1` and full-width digits are all 127.0.0.1.

use super::Refusal;
use crate::fetch::fault::FaultKind;
use url::Url;

/// Longer ones are accepted by no server.
const LONGEST: usize = 16 * 1024;

/// An address somebody asked for.
pub(in crate::fetch) fn parse(text: &str) -> Result<Url, Refusal> {
    let bad = |why: &str| Err((FaultKind::BadUrl, why.to_owned()));
    if text.len() > LONGEST {
        return bad("it is longer than 16 kB");
    }
    if text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
        return bad("it holds a blank, a control character or a backslash");
    }
    let Some((scheme, rest)) = text.split_once(':') else {
        return bad("it has no scheme");
    };
    if !is_web(scheme) {
        return Err((FaultKind::Scheme, format!("its scheme is `{}`", scheme.escape_debug())));
    }
    if !rest.starts_with("//") {
        return bad("its host must follow `//`");
    }
    match Url::parse(text) {
        Ok(url) => check(url),
        Err(error) => bad(&error.to_string()),
    }
}

/// The address a redirect from `base` leads to.
pub(in crate::fetch) fn join(base: &Url, location: &[u8]) -> Result<Url, Refusal> {
    let bad = |why: &str| Err((FaultKind::BadUrl, format!("the redirect leads to {why}")));
    if location.len() > LONGEST {
        return bad("an address longer than 16 kB");
    }
    // Servers write blanks and letters of any language into this header; both have one reading.
    let text = String::from_utf8_lossy(location);
    let text = text.trim();
    if text.chars().any(|c| c.is_control() || c == '\\') {
        return bad("an address with a control character or a backslash");
    }
    match base.join(text) {
        Ok(url) if !is_web(url.scheme()) => {
            Err((FaultKind::Scheme, format!("the redirect leads to the scheme `{}`", url.scheme())))
        }
        Ok(url) => check(url),
        Err(error) => bad(&format!("no address: {error}")),
    }
}

fn is_web(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

fn check(mut url: Url) -> Result<Url, Refusal> {
    let bad = |why: &str| Err((FaultKind::BadUrl, why.to_owned()));
    if !url.username().is_empty() || url.password().is_some() {
        return bad("it holds a user name or password; `credentials` names variables for them");
    }
    if url.port() == Some(0) {
        return bad("there is no port 0");
    }
    url.set_fragment(None);
    // `host.` and `host` are one host, with one pin, one robots.txt and one place in the queue.
    let plain = url.domain().and_then(|host| host.strip_suffix('.')).map(str::to_owned);
    if let Some(host) = plain
        && (host.is_empty() || host.ends_with('.') || url.set_host(Some(&host)).is_err())
    {
        return bad("its host is no name");
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> String {
        parse(text).map_or_else(|(kind, _)| kind.code().to_owned(), |url| url.host_str().unwrap().to_owned())
    }

    #[test]
    fn every_spelling_of_an_address_is_that_address() {
        for text in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://0x7F000001/",
            "http://127.0.0.1./",
            "http://%31%32%37.0.0.1/",
            "http://127。0。0。1/",
            "http://１２７.0.0.1/",
            "HTTP://127.0.0.1:80/",
        ] {
            assert_eq!(host(text), "127.0.0.1", "{text}");
        }
        assert_eq!(host("http://0/"), "0.0.0.0");
        assert_eq!(host("http://localhost./"), "localhost");
        assert_eq!(host("http://LOCALHOST/"), "localhost");
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        for text in [
            "http://example.org\\@127.0.0.1/",
            "http:127.0.0.1",
            "http:/127.0.0.1/",
            "http:///127.0.0.1/x y",
            "http://example.org@127.0.0.1/",
            "http://u:p@example.org/",
            "http://example.org:80:80/",
            "http://exam\tple.org/",
            "http://example.org/\n",
            "//example.org/",
            "example.org",
            "",
            "http://",
            "http://a..b../",
            "http://example.org:0/",
            "http://[fe80::1%25eth0]/",
            "http://256.1.1.1/",
        ] {
            assert_eq!(host(text), "bad-url", "{text:?}");
        }
        assert_eq!(host(&format!("http://example.org/{}", "x".repeat(20_000))), "bad-url");
    }

    #[test]
    fn only_the_web_is_fetched() {
        for text in [
            "FILE:///etc/passwd",
            "gopher://x/",
            "unix:///run/x.sock",
            "data:text/plain,x",
            "javascript:x",
            "ftp://x/",
        ] {
            assert_eq!(host(text), "scheme", "{text}");
        }
    }

    #[test]
    fn redirects_are_read_as_strictly() {
        let base = parse("https://repo.example/a/b?c").unwrap();
        let to = |location: &str| {
            join(&base, location.as_bytes())
                .map_or_else(|(kind, _)| kind.code().to_owned(), |url| url.to_string())
        };
        assert_eq!(to("../d e?x#f"), "https://repo.example/d%20e?x");
        assert_eq!(to("//other.example/"), "https://other.example/");
        assert_eq!(to("?y"), "https://repo.example/a/b?y");
        assert_eq!(to("file:///etc/passwd"), "scheme");
        assert_eq!(to("javascript:alert(1)"), "scheme");
        assert_eq!(to("/\\evil.example/"), "bad-url");
        assert_eq!(to("http://me@127.0.0.1/"), "bad-url");
        assert_eq!(to("http:127.0.0.1"), "http://127.0.0.1/");
    }
}
