//! A desk to work at: a temporary directory, the binary on the `PATH`, and the sample files.
//!
//! Command lines run in the desk's directory through `sh -c`, exactly as a reader would type
//! them; nothing of the caller's environment that steers Pinakes is passed on.

#![allow(dead_code, reason = "each test suite uses its part")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

pub mod marc;
pub mod remote;
pub mod server;

use assert_cmd::cargo::cargo_bin;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// What every catalogue made here is called, and what its names begin with.
pub const CATALOGUE: &str = "catalogue";
pub const BASE: &str = "https://catalogue.example/";

/// Source and file of each part of the sample, in the order of `examples/README.md`.
pub const SAMPLE: [(&str, &str); 9] = [
    ("library", "library.mrc"),
    ("college", "college-marc8.mrc"),
    ("bibliotheque", "bibliotheque.unimarc.mrc"),
    ("verbund", "verbund.marcxml"),
    ("repository", "repository-oai_dc.xml"),
    ("archive", "archive-mods.xml"),
    ("bookshop", "bookshop.csv"),
    ("media", "films-and-music.jsonl"),
    ("museum", "museum.ttl"),
];

pub fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A program of the Python environment that `scripts/setup` makes.
#[track_caller]
pub fn venv(program: &str) -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache"),
        PathBuf::from,
    );
    let path = cache.join("pinakes/venv/bin").join(program);
    assert!(path.exists(), "`{}` is not there; run scripts/setup test", path.display());
    path
}

/// Held while a process is started, and while something locked is closed.
static STARTING: Mutex<()> = Mutex::new(());

/// Starts a process. Until its program runs it holds copies of all our open files, and so of
/// the locks that other tests of this process have taken.
pub fn spawn(command: &mut Command) -> Child {
    let _guard = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    command.spawn().unwrap()
}

/// Closes a session, an archive or a lock at a moment when nobody holds a copy.
pub fn close<T>(locked: T) {
    let _guard = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    drop(locked);
}

pub struct Desk {
    directory: TempDir,
}

/// What a command line gave.
pub struct Ran {
    pub line: String,
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Desk {
    /// An empty directory.
    pub fn empty() -> Self {
        Self { directory: TempDir::new().unwrap() }
    }

    /// With an empty catalogue.
    pub fn new() -> Self {
        let desk = Self::empty();
        desk.run(&format!("pinakes init {CATALOGUE} --base {BASE}")).ok();
        desk
    }

    /// Has the catalogue's store keep the graphs of records; for one that is empty.
    pub fn store_records(&self) {
        let settings = format!("{CATALOGUE}/pinakes.toml");
        let text = String::from_utf8(self.read(&settings)).unwrap();
        let stored = text.replace("\nstored = false\n", "\nstored = true\n");
        assert_ne!(text, stored);
        self.write(&settings, stored);
    }

    /// With the whole sample imported, read from where it lies.
    pub fn with_sample() -> Self {
        let desk = Self::new();
        for (source, file) in SAMPLE {
            let file = project("examples").join(file);
            desk.run(&format!("pinakes import --source {source} {}", file.display())).ok();
        }
        desk
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Puts a file of the project here, under another name.
    pub fn copy(&self, from: &str, name: &str) {
        self.write(name, std::fs::read(project(from)).unwrap());
    }

    /// Runs a command line.
    pub fn run(&self, line: &str) -> Ran {
        self.run_with(line, &[])
    }

    /// Runs a command line with something on its standard input.
    pub fn run_with(&self, line: &str, stdin: &[u8]) -> Ran {
        let mut command = self.command("sh");
        command.args(["-c", line]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = spawn(&mut command);
        // Who does not read its input closes it early; that is not the test's concern.
        let _ = child.stdin.take().unwrap().write_all(stdin);
        Ran::new(line, child.wait_with_output().unwrap())
    }

    /// The binary itself, to be killed or waited for.
    pub fn pinakes(&self) -> Command {
        self.command(cargo_bin!("pinakes"))
    }

    /// A program in this directory with the binary first on its path.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut path = cargo_bin!("pinakes").parent().unwrap().as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut command = Command::new(program);
        command.current_dir(self.directory.path()).env("PATH", path);
        for steering in ["PINAKES_CATALOGUE", "NO_COLOR", "COLUMNS", "LINES", "RUST_LOG", "CLICOLOR_FORCE"] {
            command.env_remove(steering);
        }
        command
    }

    /// What a command line begins with to run without a network: in a namespace of its own, which
    /// has no way out and in which even this machine's own servers cannot be reached.
    #[track_caller]
    pub fn network_off(&self) -> &'static str {
        const OFF: &str = "unshare --map-root-user --net";
        let interfaces = self.run(&format!("{OFF} tail -n +3 /proc/net/dev"));
        assert_eq!(
            interfaces.code,
            Some(0),
            "the system gives no network namespace to take the network away ({}); install util-linux by \
             `scripts/setup test`, and allow user namespaces",
            interfaces.complaint().trim()
        );
        let interfaces = interfaces.text();
        assert!(interfaces.lines().all(|line| line.trim().starts_with("lo:")), "{interfaces}");
        OFF
    }

    /// The canonical export of a catalogue here.
    pub fn canonical(&self, catalogue: &str) -> String {
        self.run(&format!("pinakes export --canonical --catalogue {catalogue}")).ok().text()
    }
}

impl Ran {
    fn new(line: &str, output: Output) -> Self {
        Self {
            line: line.to_owned(),
            code: output.status.code(),
            stdout: output.stdout,
            stderr: output.stderr,
        }
    }

    /// Fails unless the line exited 0.
    #[track_caller]
    pub fn ok(self) -> Self {
        self.exits(0)
    }

    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "`{}` said: {}{}", self.line, self.text(), self.complaint());
        self
    }

    /// Standard output.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error.
    pub fn complaint(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Standard output, read as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| {
            panic!("`{}` gives no JSON ({error}): {}{}", self.line, self.text(), self.complaint())
        })
    }

    /// The last column of the first row of a CSV answer, as a number.
    #[track_caller]
    pub fn number(&self) -> u64 {
        let text = self.text();
        let cell = text.lines().nth(1).and_then(|row| row.rsplit(',').next());
        cell.and_then(|cell| cell.trim().parse().ok())
            .unwrap_or_else(|| panic!("`{}` gives no number: {text}{}", self.line, self.complaint()))
    }
}
