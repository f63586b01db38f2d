//! Documents in one body: `multipart/form-data` (RFC 7578), as far as a graph store needs it.

use super::problem::Problem;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// More parts than this are not read.
const PARTS: usize = 1000;
/// The longest head of a part.
const HEAD: usize = 8 * 1024;

/// One document of several.
pub struct Part<'a> {
    pub headers: HeaderMap,
    pub body: &'a [u8],
}

/// The parts of a body, in order.
pub fn parts<'a>(body: &'a [u8], headers: &HeaderMap) -> Result<Vec<Part<'a>>, Problem> {
    let broken = || Problem::bad_request("the parts of the body cannot be told apart");
    let boundary = boundary(headers).ok_or_else(broken)?;
    let first = format!("--{boundary}");
    let next = format!("\r\n--{boundary}");
    // What stands before the first boundary is for old mail programs.
    let start = if body.starts_with(first.as_bytes()) {
        first.len()
    } else {
        find(body, next.as_bytes()).ok_or_else(broken)? + next.len()
    };
    let mut rest = &body[start..];
    let mut parts = Vec::new();
    loop {
        if rest.starts_with(b"--") {
            return Ok(parts);
        }
        if parts.len() >= PARTS {
            return Err(Problem::bad_request(format!("there are more than {PARTS} parts")));
        }
        // Blanks may follow the boundary on its line.
        let line = find(rest, b"\r\n").ok_or_else(broken)?;
        let part = &rest[line..];
        let end = find(part, next.as_bytes()).ok_or_else(broken)?;
        parts.push(read(&part[..end]).ok_or_else(broken)?);
        rest = &part[end + next.len()..];
    }
}

fn boundary(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let parameter = value.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("boundary").then(|| value.trim().trim_matches('"'))
    })?;
    // RFC 2046, 5.1.1.
    (1..=70).contains(&parameter.len()).then(|| parameter.to_owned())
}

/// A part begins with the line break that ends the line of its boundary.
fn read(part: &[u8]) -> Option<Part<'_>> {
    let head_end = find(part, b"\r\n\r\n").filter(|end| *end <= HEAD)?;
    let mut headers = HeaderMap::new();
    let head = std::str::from_utf8(&part[..head_end]).ok()?;
    for line in head.split("\r\n").filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        let name = HeaderName::from_bytes(name.trim().as_bytes()).ok()?;
        headers.insert(name, HeaderValue::from_str(value.trim()).ok()?);
    }
    Some(Part { headers, body: &part[head_end + 4..] })
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memmem::find(haystack, needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(body: &str) -> Result<Vec<(Option<String>, String)>, ()> {
        let mut headers = HeaderMap::new();
        headers
            .insert(header::CONTENT_TYPE, HeaderValue::from_static("multipart/form-data; boundary=\"xyz\""));
        let parts = parts(body.as_bytes(), &headers).map_err(|_| ())?;
        let shown = |part: &Part<'_>| {
            let kind = part.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
            (kind.map(str::to_owned), String::from_utf8_lossy(part.body).into_owned())
        };
        Ok(parts.iter().map(shown).collect())
    }

    #[test]
    fn parts_are_told_apart() {
        let body =
            "--xyz\r\nContent-Type: text/turtle\r\n\r\n<a> <b> 1 .\r\n\r\n--xyz \r\n\r\ntwo\r\n--xyz--\r\n";
        assert_eq!(
            cut(body),
            Ok(vec![
                (Some("text/turtle".to_owned()), "<a> <b> 1 .\r\n".to_owned()),
                (None, "two".to_owned())
            ])
        );
        assert_eq!(cut("preamble\r\n--xyz\r\n\r\none\r\n--xyz--"), Ok(vec![(None, "one".to_owned())]));
        assert_eq!(cut("--xyz--"), Ok(vec![]));
    }

    #[test]
    fn half_a_body_is_none() {
        let body = "--xyz\r\nA: b\r\n\r\none\r\n--xyz--";
        for end in 0..body.len() - 2 {
            assert_eq!(cut(&body[..end]), Err(()), "{end}");
        }
        assert_eq!(cut("--xyz\r\nno colon\r\n\r\none\r\n--xyz--"), Err(()));
    }
}
