//! A server that misbehaves on request, a clock that does not wait, and what tests need to use
//! them. For tests only.

use super::clock::{Cancelled, Clock};
use super::guard::Resolve;
use super::{Access, Fetcher, Limits, Options, Retries, Session, Timeouts};
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

/// A request as the server saw it.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    pub(super) method: String,
    /// With the query.
    pub(super) path: String,
    pub(super) headers: HashMap<String, String>,
    pub(super) body: String,
    /// The connection it came over, counted from 1.
    pub(super) connection: usize,
}

impl Seen {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// What the server does with a request, step by step. Afterwards the connection stays open.
#[derive(Clone)]
pub(super) enum Step {
    Send(Vec<u8>),
    Pause(Duration),
    /// The same bytes until the client has had enough.
    Endless(Vec<u8>),
    /// Ends the connection in good order.
    Close,
    /// Ends it with an error for the client.
    Reset,
    /// Keeps it open and silent until the stub is gone.
    Hang,
}

type Play = dyn Fn(usize, &Seen) -> Vec<Step> + Send + Sync;

pub(super) struct Stub {
    pub(super) address: SocketAddr,
    scheme: &'static str,
    seen: Arc<Mutex<Vec<Seen>>>,
    stop: Arc<AtomicBool>,
}

impl Stub {
    /// Plays for each request, the first being number 0.
    pub(super) fn play(play: impl Fn(usize, &Seen) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", None, Arc::new(play))
    }

    /// As [`Stub::play`], with one whole answer for each request.
    pub(super) fn answer(answer: impl Fn(usize, &Seen) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::play(move |n, seen| vec![Step::Send(answer(n, seen))])
    }

    pub(super) fn answer_at(
        address: &str,
        answer: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        Self::at(address, None, Arc::new(move |_, seen: &Seen| vec![Step::Send(answer(seen))]))
    }

    /// A server that must not be asked; see [`Stub::requests`].
    pub(super) fn canary() -> Self {
        Self::answer(|_, _| page("canary"))
    }

    /// As [`Stub::answer`], over TLS.
    pub(super) fn secure(
        config: Arc<rustls::ServerConfig>,
        answer: impl Fn(usize, &Seen) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        Self::at(
            "127.0.0.1:0",
            Some(config),
            Arc::new(move |n, seen: &Seen| vec![Step::Send(answer(n, seen))]),
        )
    }

    fn at(address: &str, tls: Option<Arc<rustls::ServerConfig>>, play: Arc<Play>) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let stub = Self { address, scheme, seen: Arc::default(), stop: Arc::default() };
        let (seen, stop) = (Arc::clone(&stub.seen), Arc::clone(&stub.stop));
        let (connections, requests) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (play, tls) = (Arc::clone(&play), tls.clone());
                let mut visit = Visit {
                    seen: Arc::clone(&seen),
                    stop: Arc::clone(&stop),
                    requests: Arc::clone(&requests),
                    connection: connections.fetch_add(1, Ordering::Relaxed) + 1,
                };
                thread::spawn(move || {
                    stream.set_nodelay(true).unwrap();
                    let _ = match tls {
                        None => visit.serve(stream, play.as_ref()),
                        Some(config) => {
                            let server = rustls::ServerConnection::new(config).unwrap();
                            visit.serve(rustls::StreamOwned::new(server, stream), play.as_ref())
                        }
                    };
                });
            }
        });
        stub
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(super) fn requests(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    /// Settings under which this server may be asked.
    pub(super) fn access(&self) -> Access {
        access(&[self])
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the listener, which then sees that it is to stop.
        let _ = TcpStream::connect(self.address);
    }
}

struct Visit {
    seen: Arc<Mutex<Vec<Seen>>>,
    stop: Arc<AtomicBool>,
    requests: Arc<AtomicUsize>,
    connection: usize,
}

impl Visit {
    fn serve(&mut self, mut stream: impl Read + Write, play: &Play) -> io::Result<()> {
        loop {
            let seen = self.read(&mut stream)?;
            let number = self.requests.fetch_add(1, Ordering::Relaxed);
            self.seen.lock().unwrap().push(seen.clone());
            for step in play(number, &seen) {
                match step {
                    Step::Send(bytes) => stream.write_all(&bytes)?,
                    Step::Pause(time) => thread::sleep(time),
                    Step::Endless(bytes) => loop {
                        stream.write_all(&bytes)?;
                    },
                    // What is dropped with a byte of the request unread is reset.
                    Step::Reset => return Ok(()),
                    Step::Close => {
                        stream.read_exact(&mut [0])?;
                        return Ok(());
                    }
                    Step::Hang => {
                        while !self.stop.load(Ordering::Relaxed) {
                            thread::sleep(Duration::from_millis(5));
                        }
                        return Ok(());
                    }
                }
                stream.flush()?;
            }
            if seen.body.is_empty() {
                stream.read_exact(&mut [0])?;
            }
        }
    }

    /// Reads a request, one without body but for its last byte.
    fn read(&self, stream: &mut impl Read) -> io::Result<Seen> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r") {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut lines = head.lines();
        let mut words = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
        let mut seen = Seen {
            method: words.next().unwrap_or_default(),
            path: words.next().unwrap_or_default(),
            connection: self.connection,
            ..Seen::default()
        };
        for line in lines {
            if let Some((name, value)) = line.split_once(": ") {
                seen.headers.insert(name.to_ascii_lowercase(), value.to_owned());
            }
        }
        let length: usize = seen.header("content-length").parse().unwrap_or(0);
        if length > 0 {
            // The head's last byte comes first. No script resets a form, so the body is read
            // whole, and one byte less is left to read.
            let mut body = vec![0; length + 1];
            stream.read_exact(&mut body)?;
            seen.body = String::from_utf8_lossy(&body[1..]).into_owned();
        }
        Ok(seen)
    }
}

/// A whole answer.
pub(super) fn reply(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut bytes = format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\n", body.len()).into_bytes();
    for (name, value) in headers {
        bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    bytes
}

pub(super) fn page(body: &str) -> Vec<u8> {
    reply(200, &[], body)
}

pub(super) fn redirect(location: &str) -> Vec<u8> {
    reply(302, &[("Location", location)], "moved")
}

/// Settings under which these servers may be asked, with limits small enough for tests.
pub(super) fn access(stubs: &[&Stub]) -> Access {
    Access {
        allow_private: stubs.iter().map(|stub| stub.address.to_string()).collect(),
        respect_robots: false,
        timeouts: Timeouts {
            connect: Duration::from_secs(2),
            idle: Duration::from_secs(2),
            total: Duration::from_secs(5),
        },
        limits: Limits { body: 4 << 20, ..Limits::default() },
        retries: Retries { attempts: 4, ..Retries::default() },
        ..Access::default()
    }
}

/// A fetcher whose clock does not wait, and a session of it.
pub(super) fn open(stub: &Stub, access: &Access) -> (Session, Arc<TestClock>) {
    let clock = Arc::new(TestClock::default());
    let options = Options { clock: Arc::clone(&clock) as Arc<dyn Clock>, seed: 1, ..Options::default() };
    (session(options, access, &stub.url("/")), clock)
}

pub(super) fn session(options: Options, access: &Access, home: &str) -> Session {
    Fetcher::new(options).unwrap().open(access, home, Arc::default()).unwrap()
}

/// Time that passes only by waiting, and a list of the waits.
#[derive(Debug, Default)]
pub(super) struct TestClock {
    waits: Mutex<Vec<Duration>>,
}

impl TestClock {
    /// 2026-11-16T08:00:00Z.
    pub(super) const START: u64 = 1_794_816_000;

    pub(super) fn waits(&self) -> Vec<Duration> {
        self.waits.lock().unwrap().clone()
    }

    /// Lets time pass for a reason of its own.
    pub(super) fn advance(&self, time: Duration) {
        self.waits.lock().unwrap().push(time);
    }
}

impl Clock for TestClock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(Self::START) + self.elapsed()
    }

    fn elapsed(&self) -> Duration {
        self.waits.lock().unwrap().iter().sum()
    }

    fn wait(&self, time: Duration, cancel: &AtomicBool) -> Result<(), Cancelled> {
        if cancel.load(Ordering::Relaxed) {
            return Err(Cancelled);
        }
        self.advance(time);
        Ok(())
    }
}

/// Names that are known to the test alone; each look-up takes the next answer, the last stays.
#[derive(Debug, Default)]
pub(super) struct Names {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    pub(super) lookups: AtomicUsize,
}

impl Names {
    pub(super) fn new(names: &[(&str, &[&[&str]])]) -> Arc<Self> {
        let addresses = |list: &&[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
        let answers = names
            .iter()
            .map(|(name, lists)| ((*name).to_owned(), lists.iter().rev().map(addresses).collect()));
        Arc::new(Self { answers: Mutex::new(answers.collect()), lookups: AtomicUsize::new(0) })
    }
}

impl Resolve for Names {
    fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.lookups.fetch_add(1, Ordering::Relaxed);
        let mut answers = self.answers.lock().unwrap();
        let lists = answers.get_mut(host).ok_or_else(|| io::Error::other("no such host"))?;
        let next = if lists.len() > 1 { lists.pop() } else { lists.last().cloned() };
        Ok(next.unwrap_or_default())
    }
}
