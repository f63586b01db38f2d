//! The server under the runner of the W3C's protocol tests, and under hostile queries.

use super::Score;
use super::process::pinakes;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Where the scripts of the sets look for a server.
const PORT: u16 = 19_878;
const LIMIT: Duration = Duration::from_secs(120);

fn python() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from);
    cache.join("pinakes/venv/bin/python")
}

/// A catalogue with a record in it, and a token that may do everything.
fn catalogue(directory: &Path, filled: bool) -> String {
    let base = format!("http://127.0.0.1:{PORT}/");
    assert_eq!(pinakes(directory, &["init", "--base", &base], LIMIT).code, Some(0));
    if filled {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/library.mrc");
        assert_eq!(
            pinakes(directory, &["import", "--quiet", "--source", "library", sample], LIMIT).code,
            Some(0)
        );
        assert_eq!(pinakes(directory, &["resolve", "--quiet"], LIMIT).code, Some(0));
    }
    let made = pinakes(directory, &["token", "create", "--role", "admin", "--quiet"], LIMIT);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    made.stdout.trim().to_owned()
}

struct Server(Child);

impl Server {
    fn start(catalogue: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pinakes"))
            .env("PINAKES_CATALOGUE", catalogue)
            .args(["serve", "--bind", &format!("127.0.0.1:{PORT}")])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("http://"), "the server said `{line}`");
        Self(child)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// SPARQL 1.1 Protocol and Graph Store Protocol: all of it.
pub(crate) fn protocol(folder: &Path, score: &mut Score) {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("catalogue");
    let token = catalogue(&home, false);
    let _server = Server::start(&home);
    let endpoint = |path: &str| format!("http://127.0.0.1:{PORT}/{path}");
    let ran = Command::new(python())
        .arg(folder.join("run_protocol.py"))
        .args(["--query", &endpoint("sparql"), "--update", &endpoint("sparql")])
        .args(["--gsp", &endpoint("graph-store"), "--token", &token])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    let mut tests = 0;
    for line in said.lines() {
        if line.starts_with("ok ") || line.starts_with("FAIL") {
            tests += 1;
            score.check(line.starts_with("ok "), || line.to_owned());
        }
        if line.starts_with("==") {
            println!("{line}");
        }
    }
    score.check(tests == 47, || {
        format!("{tests} of 47 protocol tests ran: {}", String::from_utf8_lossy(&ran.stderr))
    });
}

/// Hostile queries: nothing is killed, nothing leaves the machine, what is forbidden is refused, and
/// the store stays as it is.
pub(crate) fn probe(folder: &Path, score: &mut Score) {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("catalogue");
    let token = catalogue(&home, true);
    let before = pinakes(&home, &["export", "--canonical"], LIMIT).stdout;
    let start = format!(
        "{} --catalogue {} serve --bind 127.0.0.1:{PORT}",
        env!("CARGO_BIN_EXE_pinakes"),
        home.display()
    );
    let url = format!("http://127.0.0.1:{PORT}/sparql");
    // Syntax is a matter for those who may write; everything else comes from nobody in particular.
    let parts = [("w3c_negative", Some(&token)), ("nesting,forbidden_query,forbidden_update,heavy", None)];
    for (classes, token) in parts {
        let mut command = Command::new("python3");
        command.arg(folder.join("probe_sparql.py")).args([
            "--start",
            &start,
            "--query",
            &url,
            "--update",
            &url,
            "--classes",
            classes,
        ]);
        if let Some(token) = token {
            command.args(["--token", token]);
        }
        let ran = command.output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        for line in said.lines().filter(|line| !line.starts_with("==")) {
            score.check(line.trim_end().ends_with(" ok"), || line.to_owned());
        }
        let summary = said.lines().last().unwrap_or_default();
        println!("{classes}: {summary}");
        let counts: Vec<&str> = summary.split(", ").collect();
        let is_clean = counts.len() == 5 && counts.iter().all(|count| count.ends_with(" 0"));
        score.check(is_clean, || format!("{classes}: {summary}{}", String::from_utf8_lossy(&ran.stderr)));
    }
    let after = pinakes(&home, &["export", "--canonical"], LIMIT).stdout;
    score.check(before == after && !before.is_empty(), || "hostile queries changed the store".to_owned());
}
