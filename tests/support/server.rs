//! `pinakes serve` in a process of its own, and a client that shows what it says byte for byte.

use super::{CATALOGUE, Desk, spawn};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A running server. It is stopped with the value.
pub struct Server {
    process: Child,
    pub url: String,
}

/// What a request was answered with.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let same = |line: &&str| line.split(':').next().is_some_and(|key| key.eq_ignore_ascii_case(name));
        self.head
            .lines()
            .skip(1)
            .find(same)
            .and_then(|line| line.split_once(':'))
            .map(|(_, value)| value.trim())
    }

    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}\n{}", self.head, self.text());
        self
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }
}

impl Server {
    /// Serves the catalogue of a desk on any free port.
    pub fn start(desk: &Desk, options: &[&str]) -> Self {
        Self::start_on(desk, "127.0.0.1:0", options)
    }

    /// Serves it where it is said.
    pub fn start_on(desk: &Desk, bind: &str, options: &[&str]) -> Self {
        Self::run(desk.pinakes(), bind, options)
    }

    /// Serves it by another program, which is given the binary's path as its last argument.
    pub fn start_under(desk: &Desk, program: &[&str], options: &[&str]) -> Self {
        let mut command = desk.command(program[0]);
        command.args(&program[1..]).arg(desk.pinakes().get_program());
        Self::run(command, "127.0.0.1:0", options)
    }

    fn run(mut command: Command, bind: &str, options: &[&str]) -> Self {
        command.args(["--catalogue", CATALOGUE, "serve", "--bind", bind]).args(options);
        let mut process = spawn(command.stdout(Stdio::piped()).stderr(Stdio::null()));
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().rsplit(' ').next().unwrap().trim_end_matches('/').to_owned();
        assert!(url.starts_with("http://127.0.0.1:"), "the server said `{line}`");
        Self { process, url }
    }

    /// As a power cut would end it.
    pub fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Asks it to stop; says how it ended.
    pub fn stop(mut self) -> Option<i32> {
        let told =
            std::process::Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status();
        assert!(told.unwrap().success());
        self.process.wait().unwrap().code()
    }

    /// Waits until it has ended, as it was asked to; says how.
    pub fn wait(mut self) -> Option<i32> {
        self.process.wait().unwrap().code()
    }

    /// Host and port.
    pub fn authority(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask("GET", path, headers, b"")
    }

    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.try_ask(method, path, headers, body).unwrap()
    }

    pub fn try_ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> std::io::Result<Answer> {
        let host = self.authority();
        let mut stream = TcpStream::connect(host)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        let is_named = headers.iter().any(|(name, _)| *name == "Host");
        let own = (!is_named).then_some(("Host", host));
        for (name, value) in own.iter().chain(headers) {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        stream.write_all(request.as_bytes())?;
        stream.write_all(body)?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes)?;
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.ok_or_else(|| std::io::Error::other("the answer has no head"))?;
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Ok(Answer { status, head, body: bytes[end + 4..].to_vec() })
    }

    /// A SELECT or ASK, answered in JSON.
    #[track_caller]
    pub fn query(&self, text: &str) -> serde_json::Value {
        let headers =
            [("Content-Type", "application/sparql-query"), ("Accept", "application/sparql-results+json")];
        self.ask("POST", "/sparql", &headers, text.as_bytes()).is(200).json()
    }

    /// The number that a query counts.
    #[track_caller]
    pub fn count(&self, text: &str) -> u64 {
        let answer = self.query(text);
        let cell = answer["results"]["bindings"][0].as_object().and_then(|row| row.values().next());
        cell.and_then(|cell| cell["value"].as_str()?.parse().ok()).unwrap_or_else(|| panic!("{answer}"))
    }

    pub fn update(&self, token: &str, text: &str) -> std::io::Result<Answer> {
        let bearer = format!("Bearer {token}");
        let headers = [("Content-Type", "application/sparql-update"), ("Authorization", bearer.as_str())];
        self.try_ask("POST", "/sparql", &headers, text.as_bytes())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A token of a desk's catalogue.
pub fn token(desk: &Desk, options: &str) -> String {
    desk.run(&format!("pinakes token create --quiet {options}")).ok().text().trim().to_owned()
}
