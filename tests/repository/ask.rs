//! Asking a server by hand: the smallest HTTP client that sees everything, also what is wrong.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// What came back.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// Up to the end of the connection: of what the headers say nothing is believed.
    pub body: Vec<u8>,
    /// How the connection ended, if not by being closed.
    pub error: Option<io::ErrorKind>,
}

impl Reply {
    /// The first header of a name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The content of every element of this name that has no children.
    pub fn elements(&self, name: &str) -> Vec<String> {
        let text = self.text();
        let mut found = Vec::new();
        for part in text.split(&format!("<{name}")).skip(1) {
            let Some(rest) = part
                .strip_prefix('>')
                .or_else(|| part.starts_with(' ').then(|| part.split_once('>').map_or("", |(_, rest)| rest)))
            else {
                continue;
            };
            let content = rest.split("</").next().unwrap_or_default();
            found.push(unescape(content));
        }
        found
    }

    /// The code of the protocol's error.
    pub fn error_code(&self) -> Option<String> {
        let text = self.text();
        let rest = text.split("<error code=\"").nth(1)?;
        Some(rest.split('"').next()?.to_owned())
    }

    /// The token to go on with.
    pub fn token(&self) -> Option<String> {
        self.elements("resumptionToken").into_iter().next().filter(|token| !token.is_empty())
    }
}

/// Asks for a URL. The reply ends with the connection.
pub fn get(url: &str) -> Reply {
    send(url, "GET", &[], "")
}

/// Asks with arguments, encoded as they must be.
pub fn ask(base: &str, arguments: &[(&str, &str)]) -> Reply {
    get(&format!("{base}?{}", encode(arguments)))
}

/// The same, posted.
pub fn post(url: &str, arguments: &[(&str, &str)]) -> Reply {
    send(url, "POST", &[("Content-Type", "application/x-www-form-urlencoded")], &encode(arguments))
}

pub fn send(url: &str, method: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    send_within(url, method, headers, body, Limits::default())
}

/// How long a busy machine may take to answer.
const MINUTE: Duration = Duration::from_secs(60);

/// When to hang up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// After so many bytes.
    pub bytes: usize,
    /// After so long without any, once the first have come.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: usize::MAX, patience: MINUTE }
    }
}

pub fn send_within(url: &str, method: &str, headers: &[(&str, &str)], body: &str, limits: Limits) -> Reply {
    let rest = url.strip_prefix("http://").unwrap_or_else(|| panic!("{url} is not http"));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let mut stream = TcpStream::connect(authority).unwrap();
    stream.set_read_timeout(Some(MINUTE)).unwrap();
    let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    let mut error = None;
    let mut buffer = [0; 65_536];
    while bytes.len() < limits.bytes {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                bytes.extend_from_slice(&buffer[..read]);
                stream.set_read_timeout(Some(limits.patience)).unwrap();
            }
            Err(failure) => {
                error = Some(failure.kind());
                break;
            }
        }
    }
    Reply { error, ..parse(&bytes) }
}

/// Splits a reply into its parts.
pub fn parse(bytes: &[u8]) -> Reply {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Reply::default();
    };
    let head = String::from_utf8_lossy(&bytes[..end]);
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
    let headers = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    Reply { status: status.unwrap_or(0), headers, body: bytes[end + 4..].to_vec(), error: None }
}

/// Arguments as a query.
pub fn encode(arguments: &[(&str, &str)]) -> String {
    let encoded = |text: &str| -> String {
        text.bytes()
            .map(|byte| match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                    char::from(byte).to_string()
                }
                byte => format!("%{byte:02X}"),
            })
            .collect()
    };
    let pairs: Vec<String> =
        arguments.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    pairs.join("&")
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}
