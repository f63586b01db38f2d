//! An endpoint of somebody else, which behaves as its path says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// One row, in which `<a:1>` is of 1854.
const ROWS: &str = r#"{"head":{"vars":["s","year"]},"results":{"bindings":[
    {"s":{"type":"uri","value":"a:1"},"year":{"type":"literal","value":"1854"}}]}}"#;

/// A running server. Its threads end with the process.
pub struct Remote {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Remote {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let remote = Self { address: listener.local_addr().unwrap(), seen: Arc::default() };
        let seen = Arc::clone(&remote.seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                // Whoever asks may hang up at any time.
                std::thread::spawn(move || drop(answer(stream, &seen)));
            }
        });
        remote
    }

    pub fn authority(&self) -> String {
        self.address.to_string()
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Each request as it came: head and body.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    pub fn requests(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

fn answer(stream: TcpStream, seen: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut request = String::new();
    while !request.ends_with("\r\n\r\n") {
        if reader.read_line(&mut request)? == 0 {
            return Ok(());
        }
    }
    let length = request.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    seen.lock().unwrap().push(request + &String::from_utf8_lossy(&body));
    let json = "Content-Type: application/sparql-results+json\r\n";
    match path.as_str() {
        "/rows" => whole(stream, "200 OK", json, ROWS),
        "/500" => whole(stream, "500 Internal Server Error", "", "out of order"),
        "/garbage" => {
            whole(stream, "200 OK", json, "{\"head\":{\"vars\":[\"s\"]},\"results\":{\"bindings\":[{\"s\"")
        }
        "/page" => whole(stream, "200 OK", "Content-Type: text/html\r\n", "<h1>Welcome</h1>"),
        "/away" => whole(stream, "307 Temporary Redirect", "Location: /rows\r\n", ""),
        "/ftp" => whole(stream, "307 Temporary Redirect", "Location: ftp://127.0.0.1/rows\r\n", ""),
        "/nowhere" => whole(stream, "307 Temporary Redirect", "Location: http://[/\r\n", ""),
        "/endless" => endless(stream, json),
        // Until the other side hangs up.
        "/hang" => std::io::copy(&mut reader, &mut std::io::sink()).map(|_| ()),
        _ => whole(stream, "404 Not Found", "", "nothing is here"),
    }
}

fn whole(mut stream: TcpStream, status: &str, headers: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// Rows without end.
fn endless(mut stream: TcpStream, headers: &str) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\n{headers}Connection: close\r\n\r\n")?;
    write!(stream, "{{\"head\":{{\"vars\":[\"s\"]}},\"results\":{{\"bindings\":[{{}}")?;
    let more = ",{\"s\":{\"type\":\"uri\",\"value\":\"a:1\"}}".repeat(1000);
    loop {
        stream.write_all(more.as_bytes())?;
    }
}
