//! Queries of strangers in processes of their own: limits hold, nothing else is harmed, and
//! nothing is left behind.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use oxrdf::{GraphName, Literal, NamedNode, Quad};
use oxrdfio::{RdfFormat, RdfParser};
use pinakes::catalogue::pool::{Body, Limits, Pool, Question, Refusal, Reply, Settings, TooLarge};
use pinakes::catalogue::results::RowFormat;
use pinakes::catalogue::{Backend, Embedded, snapshot};
use std::io::Read;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::time::timeout;

const PROGRAM: &str = env!("CARGO_BIN_EXE_pinakes");
/// Works, each with a title and a year.
const WORKS: u32 = 2_000;
/// More rows than anybody waits for.
const ENDLESS: &str = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }";

fn node(path: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("https://c.example/{path}"))
}

fn works() -> Vec<Quad> {
    let statements = |n| {
        let work = node(&format!("work/{n}"));
        let title = Literal::new_simple_literal(format!("The title of the work {n}"));
        [
            Quad::new(work.clone(), node("title"), title, GraphName::DefaultGraph),
            Quad::new(work, node("year"), Literal::from(1900 + n % 100), GraphName::DefaultGraph),
        ]
    };
    (0..WORKS).flat_map(statements).collect()
}

/// A catalogue with a snapshot, and a pool on it.
struct Fixture {
    directory: TempDir,
    store: Embedded,
    pool: Arc<Pool>,
}

/// As if something were merged: queries are about the default graph.
const HAS_MASTER: bool = true;

const LIMITS: Limits =
    Limits { time: Duration::from_secs(20), memory: 1 << 30, rows: 100_000, bytes: 100_000_000 };

impl Fixture {
    fn with(quads: Vec<Quad>, limits: Limits, heavy: usize, queue: usize) -> Self {
        let directory = TempDir::new().unwrap();
        std::fs::create_dir(directory.path().join("spool")).unwrap();
        let store = Embedded::open(&directory.path().join("store")).unwrap();
        store.add(quads).unwrap();
        snapshot::publish(&store, directory.path(), HAS_MASTER).unwrap();
        let pool = Arc::new(Pool::new(settings(directory.path(), limits, heavy, queue)).unwrap());
        Self { directory, store, pool }
    }

    /// The same, which answers without a worker where it can.
    fn glancing(&self) -> Pool {
        let settings = settings(self.directory.path(), LIMITS, 2, 8);
        Pool::new(Settings { glance_time: Some(Duration::from_secs(10)), ..settings }).unwrap()
    }

    fn new() -> Self {
        Self::with(works(), LIMITS, 2, 8)
    }

    async fn ask(&self, text: &str) -> Result<Reply, Refusal> {
        self.pool.ask(&question(text)).await
    }

    async fn csv(&self, text: &str) -> String {
        body(self.pool.ask(&Question { rows: RowFormat::Csv, ..question(text) }).await.unwrap().body)
    }

    /// The worker processes of this pool.
    fn processes(&self) -> Vec<String> {
        let directory = self.directory.path().to_str().unwrap();
        let ours = |process: &String| {
            std::fs::read_to_string(format!("/proc/{process}/cmdline"))
                .is_ok_and(|command| command.contains(directory))
        };
        every_process().into_iter().filter(ours).collect()
    }
}

fn settings(directory: &Path, limits: Limits, heavy: usize, queue: usize) -> Settings {
    Settings {
        program: PROGRAM.into(),
        arguments: vec!["worker".into(), "--catalogue".into(), directory.into()],
        directory: directory.to_owned(),
        spool: directory.join("spool"),
        quick: 2,
        glance_time: None,
        quick_time: Duration::from_millis(60),
        heavy,
        queue,
        waiting: 100,
        federated: 0,
        limits,
    }
}

fn question(text: &str) -> Question {
    Question { text: text.to_owned(), rows: RowFormat::Json, ..Question::default() }
}

fn body(body: Body) -> String {
    match body {
        Body::Bytes(bytes) => String::from_utf8(bytes).unwrap(),
        Body::File(mut file, length) => {
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            assert_eq!(text.len() as u64, length);
            text
        }
    }
}

fn every_process() -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).collect()
}

/// Processes of ours that have ended and that nobody waited for.
fn zombies() -> usize {
    let me = std::process::id().to_string();
    let is_ours = |process: &String| {
        let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let mut fields = state.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        fields.next() == Some("Z") && fields.next() == Some(&me)
    };
    every_process().iter().filter(|process| is_ours(process)).count()
}

async fn until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(10), "not within ten seconds: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(test);
}

#[test]
fn a_kilobyte_of_braces_is_refused_and_harms_nobody() {
    run(async {
        let fixture = Fixture::new();
        let braces = format!("SELECT * WHERE {}{}", "{".repeat(535), "}".repeat(535));
        assert_eq!(braces.len(), 1_085);
        let refused = fixture.ask(&braces).await.unwrap_err();
        assert!(matches!(refused, Refusal::TooLarge(TooLarge::Query(_))), "{refused}");
        // What the guard lets through, the parser and the evaluator have room for.
        let deep = format!("SELECT * WHERE {} ?s ?p ?o {} LIMIT 1", "{".repeat(120), "}".repeat(120));
        assert_eq!(fixture.ask(&deep).await.unwrap().rows, 1);
        // A chain is flat as a text and deep as a tree.
        let chain = format!("SELECT * WHERE {{ {} {{}} }}", "{ ?s ?p 1 } UNION ".repeat(400));
        let refused = fixture.ask(&chain).await.unwrap_err();
        assert!(matches!(refused, Refusal::TooLarge(TooLarge::Query(_))), "{refused}");
        let refused = fixture.ask("SELECT * { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }").await;
        assert!(matches!(refused, Err(Refusal::Forbidden(_))));
        let Err(Refusal::Malformed(message)) = fixture.ask("SELECT *\n{ ?s ?p }").await else {
            panic!("it is malformed");
        };
        assert!(message.contains("at line 2, column 10"), "{message}");
        assert_eq!(fixture.csv("SELECT (1 + 1 AS ?two) {}").await, "two\r\n2\r\n");
    });
}

#[test]
fn the_time_limit_holds_within_a_second_and_the_memory_comes_back() {
    run(async {
        let limits = Limits { time: Duration::from_secs(1), ..LIMITS };
        let fixture = Fixture::with(works(), limits, 2, 8);
        until("two workers", || fixture.pool.counts().idle == 2).await;
        let start = Instant::now();
        let refused = fixture.ask(ENDLESS).await.unwrap_err();
        assert!(matches!(refused, Refusal::TimedOut(_)), "{refused}");
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        assert_eq!(fixture.pool.counts().heavy, 0);
        until("its process is gone", || fixture.processes().len() == 2).await;
        assert_eq!(fixture.ask("ASK {}").await.unwrap().rows, 1);
    });
}

#[test]
fn a_query_that_takes_too_much_memory_is_ended_and_its_worker_alone() {
    run(async {
        let limits = Limits { memory: 150_000_000, time: Duration::from_secs(60), ..LIMITS };
        let fixture = Fixture::with(works(), limits, 2, 8);
        let long = "x".repeat(10_000);
        for greedy in [
            "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } ORDER BY ?f".to_owned(),
            format!("SELECT (GROUP_CONCAT('{long}') AS ?all) {{ ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }}"),
        ] {
            let refused = fixture.ask(&greedy).await.unwrap_err();
            assert!(matches!(refused, Refusal::OutOfMemory(150_000_000)), "{refused}");
            assert_eq!(fixture.ask("ASK {}").await.unwrap().rows, 1);
        }
        until("their processes are gone", || fixture.processes().len() == 2).await;
    });
}

/// A query is quick for an hour here, and nobody looks at the memory of a quick one: the system alone
/// keeps the limit.
#[test]
fn the_limit_of_memory_holds_for_what_is_faster_than_anybody_looks() {
    run(async {
        let fixture = Fixture::new();
        let limits = Limits { memory: 64 << 20, time: Duration::from_secs(120), ..LIMITS };
        let settings = settings(fixture.directory.path(), limits, 2, 8);
        let pool = Pool::new(Settings { quick_time: Duration::from_secs(3600), ..settings }).unwrap();
        // 16 times as long with every step.
        let grown =
            (0..8).fold("'x'".to_owned(), |text, _| format!("REPLACE({text}, 'x', '{}')", "x".repeat(16)));
        for greedy in [
            format!("SELECT (STRLEN({grown}) AS ?length) {{}}"),
            format!("SELECT (GROUP_CONCAT('{}') AS ?all) {{ ?a ?b ?c . ?d ?e ?f }}", "x".repeat(1_000)),
        ] {
            let refused = pool.ask(&question(&greedy)).await.unwrap_err();
            assert!(matches!(refused, Refusal::OutOfMemory(_)), "{refused}");
            assert_eq!(pool.ask(&question("ASK {}")).await.unwrap().rows, 1);
        }
        // One that has enough is not disturbed.
        let few = question("SELECT (STRLEN(REPLACE('xxxx', 'x', 'xx')) AS ?n) {}");
        assert_eq!(pool.ask(&few).await.unwrap().rows, 1);
    });
}

#[test]
fn a_client_that_hangs_up_ends_its_query() {
    run(async {
        let fixture = Fixture::with(works(), LIMITS, 1, 8);
        // The first becomes heavy, the second waits for its slot.
        let pool = Arc::clone(&fixture.pool);
        let first = tokio::spawn(async move { pool.ask(&question(ENDLESS)).await });
        until("the first is heavy", || fixture.pool.counts().heavy == 1).await;
        let pool = Arc::clone(&fixture.pool);
        let second = tokio::spawn(async move { pool.ask(&question(ENDLESS)).await });
        until("the second is queued", || fixture.pool.counts().queued == 1).await;
        second.abort();
        until("it gave its place up", || fixture.pool.counts().queued == 0).await;
        first.abort();
        until("its slot is free", || fixture.pool.counts().heavy == 0).await;
        until("its process is gone", || fixture.processes().len() == 2).await;
        // The same before its quick time is over.
        assert!(timeout(Duration::from_millis(20), fixture.ask(ENDLESS)).await.is_err());
        until("two workers again", || fixture.pool.counts().idle == 2 && fixture.processes().len() == 2)
            .await;
    });
}

#[test]
fn heavy_queries_queue_for_a_while_and_are_told_when_to_come_back() {
    run(async {
        let fixture = Fixture::with(works(), LIMITS, 1, 1);
        let ask = |seconds| {
            let limits = Some(Limits { time: Duration::from_secs(seconds), ..LIMITS });
            let (pool, question) = (Arc::clone(&fixture.pool), question(ENDLESS));
            tokio::spawn(async move { pool.ask(&Question { limits, ..question }).await })
        };
        let queued = || fixture.pool.counts().queued;
        let first = ask(120);
        until("the first is heavy", || fixture.pool.counts().heavy == 1).await;
        let second = ask(120);
        until("the second is queued", || queued() == 1).await;
        let asked = Instant::now();
        let third = ask(120).await.unwrap().unwrap_err();
        assert!(matches!(third, Refusal::Busy { .. }), "{third}");
        assert!(asked.elapsed() < Duration::from_secs(60), "it does not wait");
        second.abort();
        until("its place is free", || queued() == 0).await;
        // Nobody waits so long that no time is left.
        assert!(matches!(ask(4).await.unwrap(), Err(Refusal::Busy { .. })));
        let asked = Instant::now();
        let last = ask(10);
        until("the last is queued and has waited", || queued() == 1 && asked.elapsed().as_secs() >= 3).await;
        first.abort();
        // It has its turn, from the start, and the three seconds count.
        assert!(matches!(last.await.unwrap(), Err(Refusal::TimedOut(_))));
        assert!(asked.elapsed() < Duration::from_secs(10 + 2), "{:?}", asked.elapsed());
        until("all is quiet", || fixture.processes().len() == 2).await;
    });
}

#[test]
fn quick_queries_do_not_wait_for_heavy_ones() {
    run(async {
        let fixture = Fixture::with(works(), LIMITS, 2, 8);
        let heavy: Vec<_> = (0..4)
            .map(|_| {
                let pool = Arc::clone(&fixture.pool);
                tokio::spawn(async move { pool.ask(&question(ENDLESS)).await })
            })
            .collect();
        until("two run and two wait", || {
            let counts = fixture.pool.counts();
            counts.heavy == 2 && counts.queued == 2
        })
        .await;
        for n in 0..200 {
            let text = format!("SELECT * {{ <https://c.example/work/{n}> ?p ?o }}");
            // A heavy one takes twenty.
            let answer = timeout(Duration::from_secs(5), fixture.ask(&text)).await;
            assert_eq!(answer.expect("it is quick").unwrap().rows, 2);
        }
        assert_eq!(fixture.pool.counts().heavy, 2);
        heavy.iter().for_each(tokio::task::JoinHandle::abort);
        until("all is quiet", || fixture.processes().len() == 2).await;
    });
}

/// Two endpoints that hang once kept all heavy queries of everybody else waiting.
#[test]
fn heavy_queries_do_not_wait_for_other_endpoints() {
    run(async {
        // Connections are taken, and nobody answers.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let authority = silent.local_addr().unwrap();
        let list = format!(
            "{{\"endpoints\":[{{\"iri\":\"http://{authority}/\",\"allow_private\":[\"{authority}\"]}}]}}"
        );
        let fixture = Fixture::with(works(), LIMITS, 1, 1);
        let mut settings = settings(fixture.directory.path(), LIMITS, 1, 1);
        settings.arguments.extend(["--federation".into(), list.into()]);
        let pool = Arc::new(Pool::new(Settings { federated: 2, ..settings }).unwrap());
        let abroad = format!("ASK {{ SERVICE <http://{authority}/> {{ ?s ?p ?o }} }}");
        let ask = |text: &str| {
            let (pool, question) = (Arc::clone(&pool), question(text));
            tokio::spawn(async move { pool.ask(&question).await })
        };
        let hanging: Vec<_> = (0..3).map(|_| ask(&abroad)).collect();
        let counts = || (pool.counts().federated, pool.counts().heavy, pool.counts().queued);
        until("two ask and one waits", || counts() == (2, 0, 1)).await;
        let heavy = [ask(ENDLESS), ask(ENDLESS)];
        until("one is heavy and one more waits", || counts() == (2, 1, 2)).await;
        for text in [&abroad, ENDLESS] {
            let refused = ask(text).await.unwrap().unwrap_err();
            assert!(matches!(refused, Refusal::Busy { .. }), "{text}: {refused}");
        }
        assert_eq!(counts(), (2, 1, 2));
        hanging.iter().chain(&heavy).for_each(tokio::task::JoinHandle::abort);
        until("all is quiet", || counts() == (0, 0, 0) && fixture.processes().len() == 4).await;
    });
}

#[test]
fn a_worker_killed_from_outside_is_replaced_and_its_query_alone_fails() {
    run(async {
        let fixture = Fixture::new();
        until("two workers", || fixture.pool.counts().idle == 2).await;
        let kill = |processes: Vec<String>| {
            assert!(Command::new("kill").arg("-9").args(processes).status().unwrap().success());
        };
        let pool = Arc::clone(&fixture.pool);
        let before = fixture.processes();
        let asked = tokio::spawn(async move { pool.ask(&question(ENDLESS)).await });
        until("it is heavy", || fixture.pool.counts().heavy == 1).await;
        until("its worker is replaced", || fixture.pool.counts().idle == 2).await;
        let heavy = fixture.processes().into_iter().filter(|process| before.contains(process));
        kill(heavy.collect());
        assert!(matches!(asked.await.unwrap(), Err(Refusal::Died)));
        // Those that had nothing to do: nobody notices.
        until("two workers", || fixture.pool.counts().idle == 2).await;
        kill(fixture.processes());
        for _ in 0..20 {
            assert_eq!(fixture.ask("ASK {}").await.unwrap().rows, 1);
        }
        until("two workers again", || fixture.pool.counts().idle == 2).await;
    });
}

/// What is answered on the spot is what a worker would have answered, of the same snapshot; what
/// turns out to be large goes to a worker.
#[test]
fn a_glance_sees_what_a_worker_sees() {
    run(async {
        let mut quads = works();
        let many = (0..1500)
            .map(|n| Quad::new(node("many"), node("has"), Literal::from(n), GraphName::DefaultGraph));
        quads.extend(many);
        let fixture = Fixture::with(quads, LIMITS, 2, 8);
        let pool = fixture.glancing();
        let asks = |text: &str, rows: RowFormat| Question { rows, ..question(text) };
        let one = "SELECT * { <https://c.example/work/7> ?p ?o }";
        let glances = async |before: u64| {
            let asked = Instant::now();
            while pool.counts().glances == before {
                assert!(asked.elapsed() < Duration::from_secs(30), "it does not glance");
                pool.ask(&question(one)).await.unwrap();
            }
        };
        glances(0).await;
        for text in [
            one,
            "SELECT ?o { <https://c.example/work/7> ?p ?o } LIMIT 1",
            "SELECT ?p { <https://c.example/many> ?p ?o } LIMIT 999",
            "ASK { <https://c.example/work/7> ?p ?o }",
            "ASK { <https://c.example/nothing> ?p ?o }",
            "SELECT * { <https://c.example/nothing> ?p ?o }",
        ] {
            for rows in [RowFormat::Json, RowFormat::Xml, RowFormat::Csv, RowFormat::Tsv] {
                let before = pool.counts().glances;
                let here = pool.ask(&asks(text, rows)).await.unwrap();
                assert_eq!(pool.counts().glances, before + 1, "{text}");
                let there = fixture.pool.ask(&asks(text, rows)).await.unwrap();
                assert_eq!((here.rows, here.snapshot, here.union), (there.rows, there.snapshot, there.union));
                assert_eq!(
                    (here.media_type, body(here.body)),
                    (there.media_type, body(there.body)),
                    "{text}"
                );
            }
        }
        let before = pool.counts().glances;
        let all = pool.ask(&question("SELECT * { <https://c.example/many> ?p ?o }")).await.unwrap();
        assert_eq!(all.rows, 1500);
        assert!(matches!(pool.ask(&question("SELECT * { ?s ?p }")).await, Err(Refusal::Malformed(_))));
        assert_eq!(pool.counts().glances, before);
        for n in 0..20 {
            let quad = Quad::new(node("work/7"), node("n"), Literal::from(n), GraphName::DefaultGraph);
            fixture.store.patch(Vec::new(), vec![quad]).unwrap();
            let number = snapshot::publish(&fixture.store, fixture.directory.path(), HAS_MASTER).unwrap();
            let seen = pool.ask(&question(one)).await.unwrap();
            assert_eq!((seen.snapshot, seen.rows), (number, 3 + n));
        }
        glances(before).await;
    });
}

#[test]
fn a_query_after_a_publication_sees_what_was_published() {
    run(async {
        let fixture = Fixture::with(Vec::new(), LIMITS, 2, 8);
        let graph = node("record/a");
        let count = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }";
        for n in 1..=20 {
            let quad = Quad::new(node("s"), node("p"), Literal::from(n), graph.clone());
            fixture.store.patch(Vec::new(), vec![quad]).unwrap();
            let number = snapshot::publish(&fixture.store, fixture.directory.path(), false).unwrap();
            let reply = fixture.ask(count).await.unwrap();
            assert_eq!(reply.snapshot, number);
            // Nothing is merged, so the union is shown.
            assert!(reply.union);
            assert!(body(reply.body).contains(&format!("\"{n}\"")));
        }
        // A publication takes away what nobody holds; workers without work let go of what is old.
        let snapshots = || std::fs::read_dir(fixture.directory.path().join("snapshots")).unwrap().count();
        until("one snapshot and the link to it", || {
            snapshot::publish(&fixture.store, fixture.directory.path(), false).unwrap();
            snapshots() <= 3
        })
        .await;
        // Once something is merged, the master is.
        let master = Quad::new(node("s"), node("p"), node("o"), GraphName::DefaultGraph);
        fixture.store.patch(Vec::new(), vec![master]).unwrap();
        snapshot::publish(&fixture.store, fixture.directory.path(), HAS_MASTER).unwrap();
        let reply = fixture.ask(count).await.unwrap();
        assert!(!reply.union);
        assert!(body(reply.body).contains("\"1\""));
    });
}

#[test]
fn rows_and_bytes_are_limited_and_nothing_of_the_answer_comes_out() {
    run(async {
        let fixture = Fixture::new();
        let all = "SELECT * { ?s ?p ?o }";
        let limited =
            |rows, bytes| Question { limits: Some(Limits { rows, bytes, ..LIMITS }), ..question(all) };
        let refused = fixture.pool.ask(&limited(100, 1 << 30)).await.unwrap_err();
        assert!(matches!(refused, Refusal::TooLarge(TooLarge::Rows(100))), "{refused}");
        let refused = fixture.pool.ask(&limited(100_000, 200_000)).await.unwrap_err();
        assert!(matches!(refused, Refusal::TooLarge(TooLarge::Bytes(200_000))), "{refused}");
        assert_eq!(fixture.ask(all).await.unwrap().rows, u64::from(WORKS) * 2);
        let construct = Question { text: "CONSTRUCT WHERE { ?s ?p ?o }".to_owned(), ..limited(100, 1 << 30) };
        let refused = fixture.pool.ask(&construct).await.unwrap_err();
        assert!(matches!(refused, Refusal::TooLarge(TooLarge::Rows(100))), "{refused}");
    });
}

#[test]
fn a_long_answer_goes_through_a_file_that_leaves_nothing_behind() {
    run(async {
        let fixture = Fixture::new();
        let text = "SELECT ?s ?t ?o { ?s <https://c.example/year> ?o . ?t <https://c.example/year> ?o }";
        let reply = fixture.pool.ask(&Question { rows: RowFormat::Tsv, ..question(text) }).await.unwrap();
        assert_eq!(reply.rows, 40_000);
        assert!(matches!(&reply.body, Body::File(_, length) if *length > 2_000_000));
        assert_eq!(body(reply.body).lines().count(), 40_001);
        assert_eq!(std::fs::read_dir(fixture.directory.path().join("spool")).unwrap().count(), 0);
    });
}

#[test]
fn every_form_of_query_is_answered_in_every_format() {
    run(async {
        let fixture = Fixture::new();
        for (rows, media_type) in [
            (RowFormat::Json, "application/sparql-results+json"),
            (RowFormat::Xml, "application/sparql-results+xml"),
            (RowFormat::Csv, "text/csv; charset=utf-8"),
            (RowFormat::Tsv, "text/tab-separated-values; charset=utf-8"),
        ] {
            for (text, holds) in [("SELECT * { ?s ?p 1905 } LIMIT 3", "work/5"), ("ASK {}", "true")] {
                let reply = fixture.pool.ask(&Question { rows, ..question(text) }).await.unwrap();
                assert_eq!(reply.media_type, media_type);
                let text = body(reply.body);
                assert!(text.contains(holds), "{text}");
            }
        }
        for format in [
            RdfFormat::Turtle,
            RdfFormat::NTriples,
            RdfFormat::RdfXml,
            RdfFormat::JsonLd { profile: oxrdfio::JsonLdProfileSet::empty() },
            RdfFormat::NQuads,
            RdfFormat::TriG,
        ] {
            for text in [
                "CONSTRUCT WHERE { <https://c.example/work/5> ?p ?o }",
                "DESCRIBE <https://c.example/work/5>",
            ] {
                let asked = Question { graph: Some(format), ..question(text) };
                let reply = fixture.pool.ask(&asked).await.unwrap();
                assert_eq!(reply.media_type, format.media_type());
                assert_eq!(reply.rows, 2);
                let text = body(reply.body);
                let quads = RdfParser::from_format(format).for_slice(text.as_bytes());
                assert_eq!(quads.filter(|quad| quad.is_ok()).count(), 2, "{text}");
            }
        }
    });
}

#[test]
fn the_dataset_of_the_protocol_stands_before_that_of_the_query() {
    run(async {
        let (first, second) = (node("record/a"), node("record/b"));
        let quad = |value: &str, graph: GraphName| {
            Quad::new(node("s"), node("p"), Literal::new_simple_literal(value), graph)
        };
        let quads = vec![
            quad("master", GraphName::DefaultGraph),
            quad("first", first.clone().into()),
            quad("second", second.clone().into()),
        ];
        let fixture = Fixture::with(quads, LIMITS, 2, 8);
        let plain = "SELECT ?o { ?s ?p ?o } ORDER BY ?o";
        let named = "SELECT ?o { GRAPH ?g { ?s ?p ?o } } ORDER BY ?o";
        let from = "SELECT ?o FROM <https://c.example/record/a> { ?s ?p ?o } ORDER BY ?o";
        let (first, second) = (vec![first.into_string()], vec![second.into_string()]);
        let both = [first.clone(), second.clone()].concat();
        let none = Vec::new;
        for (text, default_graphs, named_graphs, union, expected) in [
            (plain, none(), none(), None, "master"),
            (plain, none(), none(), Some(true), "first master second"),
            (named, none(), none(), None, "first second"),
            (plain, first.clone(), none(), None, "first"),
            (plain, both.clone(), none(), Some(true), "first second"),
            (plain, none(), second.clone(), None, ""),
            (named, none(), second.clone(), None, "second"),
            (named, first.clone(), none(), None, ""),
            (from, none(), none(), Some(true), "first"),
            (from, second.clone(), none(), None, "second"),
        ] {
            let asked =
                Question { default_graphs, named_graphs, union, rows: RowFormat::Csv, ..question(text) };
            let reply = body(fixture.pool.ask(&asked).await.unwrap().body);
            let values: Vec<&str> = reply.lines().skip(1).collect();
            assert_eq!(values.join(" "), expected, "{asked:?}");
        }
        let relative = Question { default_graphs: vec!["a b".to_owned()], ..question(plain) };
        assert!(matches!(fixture.pool.ask(&relative).await, Err(Refusal::Malformed(_))));
    });
}

#[test]
fn a_pool_that_ends_leaves_no_process() {
    run(async {
        let Fixture { directory, store: _store, pool } = Fixture::new();
        until("two workers", || pool.counts().idle == 2).await;
        let asked = tokio::spawn({
            let pool = Arc::clone(&pool);
            async move { pool.ask(&question(ENDLESS)).await }
        });
        until("one is heavy", || pool.counts().heavy == 1).await;
        asked.abort();
        drop(pool);
        let path = directory.path().to_str().unwrap();
        until("no process is left", || {
            !every_process().iter().any(|process| {
                std::fs::read_to_string(format!("/proc/{process}/cmdline"))
                    .is_ok_and(|line| line.contains(path))
            })
        })
        .await;
        until("nobody is left unburied", || zombies() == 0).await;
    });
}

#[test]
fn a_worker_ends_when_its_parent_is_gone() {
    let fixture = TempDir::new().unwrap();
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut child = Command::new(PROGRAM)
        .args(["worker", "--catalogue"])
        .arg(fixture.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::from(OwnedFd::from(theirs)))
        .spawn()
        .unwrap();
    // The socket stays open, as it would if another worker had it by mistake.
    drop(child.stdin.take());
    assert!(child.wait().unwrap().code().is_some());
    drop(ours);
}

#[test]
fn without_a_snapshot_there_is_nothing_to_ask() {
    run(async {
        let directory = TempDir::new().unwrap();
        let pool = Pool::new(settings(directory.path(), LIMITS, 2, 8)).unwrap();
        assert!(matches!(pool.ask(&question("ASK {}")).await, Err(Refusal::Unpublished)));
        // The worker was not to blame.
        until("two workers", || pool.counts().idle == 2).await;
    });
}
