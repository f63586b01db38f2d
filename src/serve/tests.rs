//! A server on a real socket, a catalogue of a few lines behind it, and a client that sends bytes
//! as they are written. The suites stand beside what they test.

use super::*;
use crate::decode::document;
use axum::body::Bytes;
use oxrdf::{GraphName, Literal, NamedNode, Triple};
use oxrdfio::RdfFormat;
use std::collections::BTreeMap;
use std::io::{Seek, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub const BASE: &str = "http://library.example/";

/// The length of the answer to `SELECT file`, which no buffer takes whole.
pub const FILE: u64 = 64 << 20;

/// The catalogue. A query is answered with what was asked, unless it is one of a few words.
#[derive(Default)]
pub struct Double {
    pub graphs: Mutex<BTreeMap<String, Vec<Triple>>>,
    pub updates: Mutex<Vec<String>>,
    pub things: Mutex<BTreeMap<String, Description>>,
    /// Whether whoever reads a graph waits for ever.
    pub graphs_hang: AtomicBool,
    /// Queries that began to hang, and that were let go of.
    pub hanging: AtomicUsize,
    pub dropped: AtomicUsize,
}

struct Dropped<'a>(&'a AtomicUsize);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Service for Double {
    fn query(&self, question: Question) -> Later<'_, Result<Reply, Refusal>> {
        Box::pin(async move {
            let graph = question.text.contains("CONSTRUCT");
            let media_type = if graph { question.graph.media_type() } else { question.results.media_type() };
            let reply = |body| Ok(Reply { media_type, body, rows: 1, snapshot: 7 });
            match question.text.as_str() {
                "SELECT hang" => {
                    self.hanging.fetch_add(1, Ordering::SeqCst);
                    let _dropped = Dropped(&self.dropped);
                    std::future::pending().await
                }
                "SELECT slow" => {
                    self.hanging.fetch_add(1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(400)).await;
                    reply(Content::Memory(Bytes::from_static(b"slow")))
                }
                "SELECT panic" => panic!("as asked"),
                "SELECT much" => reply(Content::Memory(Bytes::from(vec![b'x'; 64 << 20]))),
                "SELECT file" => {
                    let file = tempfile::tempfile().expect("a file");
                    file.set_len(FILE).expect("a length");
                    reply(Content::Spooled { file, length: FILE })
                }
                "SELECT spooled" => {
                    let mut file = tempfile::tempfile().expect("a file");
                    file.write_all(&[b'y'; 200_000]).and_then(|()| file.rewind()).expect("written");
                    reply(Content::Spooled { file, length: 200_000 })
                }
                "SELECT broken" => Err(Refusal::Malformed("it is broken".to_owned())),
                "SELECT long" => Err(Refusal::TimedOut),
                "SELECT large" => Err(Refusal::OutOfMemory),
                "SELECT busy" => Err(Refusal::Busy { retry_after: 3 }),
                "SELECT died" => Err(Refusal::Died),
                "SELECT disk" => Err(Refusal::Io("/secret/place".to_owned())),
                text => {
                    let names = |graphs: &[NamedNode]| {
                        graphs.iter().map(|graph| graph.as_str()).collect::<Vec<_>>().join(" ")
                    };
                    let echo = format!(
                        "{text}|{}|{}|{}",
                        names(&question.default_graphs),
                        names(&question.named_graphs),
                        question.limits.rows
                    );
                    reply(Content::Memory(echo.into()))
                }
            }
        })
    }

    fn update(&self, update: Update, by: Holder) -> Later<'_, Result<Written, Refusal>> {
        Box::pin(async move {
            update.parse(BASE, &by, |_, message| message.to_owned())?;
            self.updates.lock().expect("a lock").push(update.text);
            Ok(Written::Changed)
        })
    }

    fn graph(
        &self,
        name: GraphName,
        format: RdfFormat,
        limits: QueryLimits,
    ) -> Later<'_, Result<Option<Reply>, Refusal>> {
        Box::pin(async move {
            if self.graphs_hang.load(Ordering::SeqCst) {
                self.hanging.fetch_add(1, Ordering::SeqCst);
                let _dropped = Dropped(&self.dropped);
                std::future::pending::<()>().await;
            }
            let graphs = self.graphs.lock().expect("a lock");
            let shown = graphs.get(&name.to_string());
            if shown.is_some_and(|triples| triples.len() as u64 > limits.rows) {
                return Err(Refusal::TooLarge("it is large".to_owned()));
            }
            Ok(shown.map(|triples| Reply {
                media_type: format.media_type(),
                body: Content::Memory(statements::write(triples, format).expect("written").into()),
                rows: triples.len() as u64,
                snapshot: 7,
            }))
        })
    }

    fn write_graph(&self, write: GraphWrite, _: Holder) -> Later<'_, Result<Written, Refusal>> {
        Box::pin(async move {
            let mut graphs = self.graphs.lock().expect("a lock");
            let name = write.graph.to_string();
            let existed = graphs.contains_key(&name);
            let read = |documents: Vec<Document>| {
                let mut triples = Vec::new();
                for Document { format, base, body } in documents {
                    let read = document(&body, format, &base);
                    triples.extend(read.map_err(|fault| Refusal::Malformed(fault.message))?);
                }
                Ok::<_, Refusal>(triples)
            };
            match write.change {
                Change::Replace(documents) => {
                    graphs.insert(name, read(documents)?);
                }
                Change::Add(documents) => {
                    let triples = read(documents)?;
                    graphs.entry(name).or_default().extend(triples);
                }
                Change::Remove => {
                    return Ok(graphs.remove(&name).map_or(Written::Absent, |_| Written::Changed));
                }
            }
            Ok(if existed { Written::Changed } else { Written::Created })
        })
    }

    fn describe(&self, iri: NamedNode) -> Later<'_, Result<Option<Description>, Refusal>> {
        Box::pin(async move { Ok(self.things.lock().expect("a lock").get(iri.as_str()).cloned()) })
    }

    fn oai(&self, arguments: String) -> Later<'_, Result<OaiAnswer, Refusal>> {
        Box::pin(async move {
            Ok(OaiAnswer { status: 200, xml: format!("<x>{arguments}</x>"), retry_after: None })
        })
    }

    fn backup(&self) -> Later<'_, Result<String, Refusal>> {
        Box::pin(async { Ok("backups/1".to_owned()) })
    }

    fn statistics(&self) -> Later<'_, Statistics> {
        let title = Some("A library".to_owned());
        Box::pin(async { Statistics { title, triples: Some(12), ..Statistics::default() } })
    }

    fn status(&self) -> Status {
        Status { ready: true, snapshot: 7, ..Status::default() }
    }
}

/// A server that runs.
pub struct Running {
    pub address: SocketAddr,
    pub admin_address: Option<SocketAddr>,
    pub catalogue: Arc<Double>,
    pub tokens: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    ended: JoinHandle<bool>,
    _folder: tempfile::TempDir,
}

pub fn settings() -> Settings {
    Settings {
        bind: ([127, 0, 0, 1], 0).into(),
        admin_bind: None,
        public: false,
        base: BASE.to_owned(),
        hosts: Vec::new(),
        cors: Vec::new(),
        read_only: false,
        federated: false,
        read: Role::Anonymous,
        tokens: PathBuf::new(),
        limits: Limits::default(),
    }
}

pub async fn start(change: impl FnOnce(&mut Settings)) -> Running {
    let folder = tempfile::tempdir().expect("a folder");
    let mut settings = settings();
    settings.tokens = folder.path().join(token::FILE);
    change(&mut settings);
    let tokens = settings.tokens.clone();
    let catalogue = Arc::new(Double::default());
    let service: Arc<dyn Service> = Arc::<Double>::clone(&catalogue);
    let server = Server::bind(settings, service, Router::new()).await.expect("a server");
    let (address, admin_address) = (server.address(), server.admin_address());
    let (stop, stopped) = oneshot::channel();
    let ended = tokio::spawn(server.run(async {
        let _ = stopped.await;
    }));
    Running { address, admin_address, catalogue, tokens, stop: Some(stop), ended, _folder: folder }
}

impl Running {
    pub fn token(&self, role: Role, source: Option<&str>) -> (String, String) {
        let new = token::New {
            role,
            label: String::new(),
            source: source.map(str::to_owned),
            created: "2026-01-01T00:00:00Z".to_owned(),
        };
        let (secret, known) = token::create(&self.tokens, new).expect("a token");
        (secret.reveal().to_owned(), known.id)
    }

    /// Sends a request of one line and some headers, and a body if there is one.
    pub async fn ask(&self, line: &str, headers: &[&str], body: &str) -> Answered {
        request(self.address, line, headers, body.as_bytes()).await
    }

    pub async fn get(&self, path: &str, headers: &[&str]) -> Answered {
        self.ask(&format!("GET {path}"), headers, "").await
    }

    /// Tells the server to stop, and waits; whether it finished everything.
    pub async fn stop(&mut self) -> bool {
        self.tell_to_stop();
        (&mut self.ended).await.expect("ended")
    }

    pub fn tell_to_stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }
}

/// What came back.
#[derive(Debug)]
pub struct Answered {
    pub status: u16,
    /// Line by line, as sent.
    pub head: String,
    pub body: String,
}

impl Answered {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.head.lines().skip(1).filter_map(move |line| {
            let (given, value) = line.split_once(':')?;
            given.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

pub async fn request(address: SocketAddr, line: &str, headers: &[&str], body: &[u8]) -> Answered {
    let mut text = format!("{line} HTTP/1.1\r\nHost: library.example\r\nConnection: close\r\n");
    for header in headers {
        text.push_str(header);
        text.push_str("\r\n");
    }
    if !body.is_empty() {
        text.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    text.push_str("\r\n");
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(body);
    raw(address, &bytes).await
}

/// Sends bytes and reads to the end.
pub async fn raw(address: SocketAddr, bytes: &[u8]) -> Answered {
    let mut stream = TcpStream::connect(address).await.expect("connected");
    // A server that has heard enough may close early.
    let _ = stream.write_all(bytes).await;
    read(&mut stream).await
}

/// A client that has asked and whose kernel takes little, so that what it does not read stays with
/// the server.
pub async fn reluctant(address: SocketAddr, path: &str) -> TcpStream {
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("a buffer");
    let mut stream = socket.connect(address).await.expect("connected");
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("sent");
    stream
}

/// Reads the head of an answer; the length that it announces.
pub async fn head(stream: &mut TcpStream) -> usize {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("a head"));
    }
    let head = String::from_utf8(head).expect("text");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    length.and_then(|length| length.parse().ok()).expect("a length")
}

pub async fn read(stream: &mut TcpStream) -> Answered {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answered { status, head: head.to_owned(), body: body.to_owned() }
}

/// Waits for something to become true; false after a generous while.
pub async fn soon(mut is: impl FnMut() -> bool) -> bool {
    for _ in 0..500 {
        if is() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

pub fn thing(iri: &str, name: &str) -> Description {
    let iri = NamedNode::new(iri).expect("an IRI");
    let mut description = Description::new(iri.clone());
    description.triples.push(Triple::new(iri, crate::ontology::rdfs::LABEL, Literal::from(name)));
    description
}

#[test]
fn a_public_server_is_meant_and_has_a_token() {
    let here: SocketAddr = ([127, 0, 0, 1], 80).into();
    let everywhere: SocketAddr = ([0, 0, 0, 0], 80).into();
    assert!(may_bind(here, false, false).is_ok());
    assert!(matches!(may_bind(everywhere, false, true), Err(ServeError::NotPublic(_))));
    assert!(matches!(may_bind(everywhere, true, false), Err(ServeError::NoToken)));
    assert!(may_bind(everywhere, true, true).is_ok());
}

#[test]
fn the_path_of_a_base_is_known() {
    for (base, path) in [
        ("http://a.example/", "/"),
        ("http://a.example", "/"),
        ("https://a.example/b/c/", "/b/c/"),
        ("http://a/b", "/b/"),
    ] {
        assert_eq!(base_path(base), path, "{base}");
    }
}

#[tokio::test]
async fn health_says_whether_queries_are_answered() {
    let server = start(|settings| settings.read = Role::Reader).await;
    let health = server.get("/health", &[]).await;
    assert_eq!(health.status, 200);
    assert_eq!(health.body, "{\"live\":true,\"ready\":true,\"snapshot\":7}\n");
    assert_eq!(server.get("/sparql", &[]).await.status, 401, "reading needs a token here");
}

#[tokio::test]
async fn oai_arguments_come_by_get_and_post() {
    let server = start(|_| {}).await;
    let get = server.get("/oai?verb=Identify", &[]).await;
    assert_eq!((get.status, get.body.as_str()), (200, "<x>verb=Identify</x>"));
    assert_eq!(get.header("content-type"), Some("text/xml; charset=utf-8"));
    let form = ["Content-Type: application/x-www-form-urlencoded"];
    assert_eq!(server.ask("POST /oai", &form, "verb=ListSets").await.body, "<x>verb=ListSets</x>");
    assert_eq!(server.ask("POST /oai", &["Content-Type: text/plain"], "verb=ListSets").await.status, 415);
    assert_eq!(server.ask("PUT /oai", &form, "verb=ListSets").await.status, 405);
}

#[tokio::test]
async fn admin_routes_are_for_whoever_runs_the_server() {
    let mut server = start(|settings| settings.admin_bind = Some(([127, 0, 0, 1], 0).into())).await;
    let admin = server.admin_address.expect("a listener of its own");
    let (token, _) = server.token(Role::Admin, None);
    let bearer = format!("Authorization: Bearer {token}");
    assert_eq!(server.get("/metrics", &[]).await.status, 404);
    assert_eq!(server.ask("POST /admin/backup", &[&bearer], "").await.status, 404);
    let metrics = request(admin, "GET /metrics", &[], b"").await;
    assert_eq!(metrics.status, 200);
    assert!(
        metrics.body.contains("pinakes_requests_total{route=\"/metrics\",status=\"404\"} 1"),
        "{}",
        metrics.body
    );
    assert_eq!(metrics.header("access-control-allow-origin"), None);
    assert_eq!(request(admin, "POST /admin/backup", &[], b"").await.status, 401);
    let backup = request(admin, "POST /admin/backup", &[&bearer], b"").await;
    assert_eq!((backup.status, backup.body.as_str()), (200, "backups/1\n"));
    assert!(server.stop().await);

    let alone = start(|_| {}).await;
    assert_eq!(alone.get("/metrics", &[]).await.status, 200, "the peer is on loopback");
    assert_eq!(alone.get("/metrics", &["X-Forwarded-For: 192.0.2.1"]).await.status, 404, "a proxy is not");
}

#[tokio::test]
async fn a_taken_port_proposes_another() {
    let server = start(|_| {}).await;
    let taken = Settings { bind: server.address, ..settings() };
    let Err(error) = Server::bind(taken, Arc::new(Double::default()), Router::new()).await else {
        panic!("two servers on one port");
    };
    let (port, next) = (server.address.port(), u32::from(server.address.port()) + 1);
    let said = error.to_string();
    assert!(said.starts_with(&format!("`127.0.0.1:{port}` is taken")), "{said}");
    assert!(said.contains(&format!("`--bind 127.0.0.1:{}`", next % 65536)), "{said}");
}
