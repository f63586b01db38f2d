//! The hostile sets that come over a network: SSRF addresses, compressed bodies, robots.txt and
//! OAI-PMH answers, each served by a loopback server to the binary or to the fetcher.

use super::process::pinakes;
use super::{CANARY, Score};
use crate::repository::Canary;
use pinakes::fetch::{Access, Fetcher, Options, Transport, robots};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// What one file may take.
const SECONDS: u64 = 10;

pub fn run(folder: &Path, score: &mut Score) {
    let canary = Canary::start(CANARY);
    ssrf(&folder.join("ssrf/urls.txt"), score);
    compressed(&folder.join("compress"), score);
    rules_for_robots(&folder.join("robots"), score);
    oai(&folder.join("oai"), score);
    score.check(canary.connections() == 0, || format!("{} connections to the canary", canary.connections()));
}

fn fetcher() -> Fetcher {
    Fetcher::new(Options::default()).unwrap()
}

/// Every address is refused, before anything is connected to.
fn ssrf(file: &Path, score: &mut Score) {
    let Ok(text) = std::fs::read_to_string(file) else { return };
    let (fetcher, mut count) = (fetcher(), 0);
    let access = Access { respect_robots: false, ..Access::default() };
    for url in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let url = url.split('\t').next().unwrap_or(url);
        let begun = Instant::now();
        let refused = match fetcher.open(&access, url, Arc::new(AtomicBool::new(false))) {
            Ok(session) => session.get(url).is_err(),
            Err(_) => true,
        };
        score.check(refused, || format!("ssrf: `{url}` was fetched"));
        score.check(begun.elapsed().as_secs() < 60, || format!("ssrf: `{url}` took too long"));
        count += 1;
    }
    println!("ssrf: {count} addresses");
}

/// Answers each request, given by its path and query, with what `body` makes of it.
fn serve(
    head: String,
    body: impl Fn(&str) -> Vec<u8> + Send + 'static,
) -> (u16, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let mut asked = Vec::new();
        for stream in listener.incoming() {
            let Ok(stream) = stream else { break };
            let Some(target) = answer(stream, &head, &body) else { break };
            asked.push(target);
        }
        asked
    });
    (port, thread)
}

/// What was asked for; nothing for `QUIT`, which ends the server.
fn answer(mut stream: TcpStream, head: &str, body: &impl Fn(&str) -> Vec<u8>) -> Option<String> {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    let mut first = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
        if first.is_empty() {
            first = line.clone();
        }
        if line.trim().is_empty() {
            break;
        }
        line.clear();
    }
    if first.starts_with("QUIT") {
        return None;
    }
    let target = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let body = body(&target);
    let head =
        format!("HTTP/1.1 200 OK\r\n{head}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(&body);
    let _ = stream.flush();
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let _ = reader.read(&mut [0; 1]);
    Some(target)
}

/// What the server was asked for.
fn quit(port: u16, thread: std::thread::JoinHandle<Vec<String>>) -> Vec<String> {
    if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
        let _ = stream.write_all(b"QUIT\r\n\r\n");
    }
    thread.join().unwrap_or_default()
}

/// A body is whole and within its limits, or it is a fault.
fn compressed(folder: &Path, score: &mut Score) {
    let Ok(files) = std::fs::read_dir(folder) else { return };
    let mut count = 0;
    for file in files.filter_map(Result::ok).map(|entry| entry.path()) {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let encoding = match file.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => "gzip",
            Some("zlib") => "deflate",
            _ => continue,
        };
        let bytes = std::fs::read(&file).unwrap();
        let (port, thread) = serve(format!("Content-Encoding: {encoding}\r\n"), move |_| bytes.clone());
        let url = format!("http://127.0.0.1:{port}/");
        let mut access = Access { allow_private: vec![format!("127.0.0.1:{port}")], ..Access::default() };
        access.respect_robots = false;
        access.retries.attempts = 1;
        let begun = Instant::now();
        let session = fetcher().open(&access, &url, Arc::new(AtomicBool::new(false))).unwrap();
        let got = session.get(&url);
        let good = name.contains("concatenated") || name.contains("trailing") || name.contains("double");
        let small = got.as_ref().map_or(true, |answer| answer.body.len() <= access.limits.body);
        score.check(small, || format!("compress: `{name}` grew beyond the limit"));
        score.check(got.is_err() || good, || format!("compress: `{name}` was taken"));
        score.check(begun.elapsed().as_secs() < SECONDS, || format!("compress: `{name}` took too long"));
        quit(port, thread);
        count += 1;
    }
    println!("compress: {count} bodies");
}

/// What files of these names allow us, by path.
const ROBOTS: [(&str, &[(&str, bool)]); 8] = [
    ("bom_crlf.txt", &[("/private", false), ("/private/x", false), ("/", true)]),
    ("case_mix.txt", &[("/Private", false), ("/private", true)]),
    ("disallow_before_agent.txt", &[("/", true), ("/x", true)]),
    ("html.txt", &[("/", true), ("/x", true)]),
    ("longest_match.txt", &[("/a", false), ("/a/x", false), ("/a/b", true), ("/a/b/c", true)]),
    ("multi_agent_group.txt", &[("/", false), ("/x", false)]),
    ("only_cr.txt", &[("/p", false), ("/q", true)]),
    ("sitemap_private.txt", &[("/", true)]),
];

/// No robots.txt makes us fall over, what it forbids is forbidden, and a delay is never longer
/// than a minute.
fn rules_for_robots(folder: &Path, score: &mut Score) {
    let Ok(files) = std::fs::read_dir(folder) else { return };
    let mut count = 0;
    for file in files.filter_map(Result::ok).map(|entry| entry.path()) {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let rules = robots::Rules::parse(&std::fs::read(&file).unwrap());
        let delay = rules.delay().unwrap_or_default();
        score.check(delay <= Duration::from_secs(60), || format!("robots: `{name}` delays by {delay:?}"));
        let paths = ROBOTS.iter().filter(|(of, _)| *of == name).flat_map(|(_, paths)| *paths);
        for (path, allowed) in paths {
            let url = url::Url::parse("http://repo.example").unwrap().join(path).unwrap();
            score.check(rules.allow(&url) == *allowed, || format!("robots: `{name}`, {path}"));
        }
        count += 1;
    }
    println!("robots: {count} files");
}

/// A repository that is well but for the pages of its list.
fn repository(files: &Path, page: &Path) -> impl Fn(&str) -> Vec<u8> + Send + 'static {
    let read = |path: &Path| std::fs::read(path).unwrap_or_default();
    let page_bytes = read(page);
    let text = String::from_utf8_lossy(&page_bytes).into_owned();
    // Two files whose tokens name each other.
    let by_token = ["a", "b"].map(|side| read(&files.join(format!("token_loop_{side}.xml"))));
    let is_pair = page.file_name().is_some_and(|name| {
        let name = name.to_string_lossy();
        name.starts_with("token_loop_a") || name.starts_with("token_loop_b")
    });
    move |target: &str| {
        let has = |verb: &str| target.contains(&format!("verb={verb}"));
        if has("Identify") && !text.contains("<Identify") {
            return oai_answer(
                "<Identify><repositoryName>r</repositoryName><baseURL>http://127.0.0.1/oai</baseURL>\
                 <protocolVersion>2.0</protocolVersion><adminEmail>a@example.org</adminEmail>\
                 <earliestDatestamp>2000-01-01T00:00:00Z</earliestDatestamp><deletedRecord>persistent</deletedRecord>\
                 <granularity>YYYY-MM-DDThh:mm:ssZ</granularity></Identify>",
            );
        }
        if has("ListMetadataFormats") {
            return oai_answer(
                "<ListMetadataFormats><metadataFormat><metadataPrefix>oai_dc</metadataPrefix>\
                 <schema>http://www.openarchives.org/OAI/2.0/oai_dc.xsd</schema>\
                 <metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/</metadataNamespace>\
                 </metadataFormat></ListMetadataFormats>",
            );
        }
        if has("ListSets") && !text.contains("<ListSets") {
            return oai_answer("<error code=\"noSetHierarchy\"/>");
        }
        if has("GetRecord") {
            return oai_answer("<error code=\"idDoesNotExist\"/>");
        }
        match target.split_once("resumptionToken=") {
            Some((_, "A")) if is_pair => by_token[0].clone(),
            Some((_, "B")) if is_pair => by_token[1].clone(),
            _ => page_bytes.clone(),
        }
    }
}

fn oai_answer(content: &str) -> Vec<u8> {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\">\
         <responseDate>2024-02-01T00:00:00Z</responseDate><request>http://127.0.0.1/oai</request>{content}</OAI-PMH>"
    )
    .into_bytes()
}

/// How many records are held of files of these names.
const HELD: [(&str, usize); 11] = [
    ("bad_resumption_token_error.xml", 0),
    ("cursor_lies.xml", 1),
    ("deleted_without_metadata.xml", 0),
    ("duplicate_identifier.xml", 1),
    ("error_200_html.html", 0),
    ("missing_header.xml", 1),
    ("missing_identifier.xml", 1),
    ("norecords.xml", 0),
    ("token_empty_with_records.xml", 1),
    ("token_loop_a.xml", 2),
    ("token_loop_same.xml", 1),
];

/// What a source may not bring: names that a browser would run, statements in graphs of others.
fn harm(line: &str) -> Option<&'static str> {
    let forbidden = ["<javascript:", "<data:", "<vbscript:", "<file:"];
    let graph = line.rsplit(" <").next().unwrap_or_default();
    if forbidden.iter().any(|name| line.to_ascii_lowercase().contains(name)) {
        Some("a name that a browser would run")
    } else if !graph.starts_with("https://catalogue.example/") {
        Some("a graph that is not ours")
    } else {
        None
    }
}

/// Every answer is harvested without a crash or a hang, within memory, and twice alike; what is
/// good in it is held.
fn oai(folder: &Path, score: &mut Score) {
    let Ok(files) = std::fs::read_dir(folder) else { return };
    let mut files: Vec<_> = files.filter_map(Result::ok).map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "xml" || extension == "html"));
    files.sort();
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let outcomes: Vec<(Option<i32>, String)> =
            (0..2).map(|_| harvest_once(folder, file, &name, score)).collect();
        score.check(outcomes.first() == outcomes.last(), || format!("oai: `{name}` gives two outcomes"));
        let Some((_, text)) = outcomes.first() else { continue };
        let held = text.lines().filter(|line| line.contains(" <https://w3id.org/pinakes#Record> ")).count();
        for (_, expected) in HELD.iter().filter(|(of, _)| *of == name) {
            score.check(held == *expected, || format!("oai: `{name}` leaves {held} records, not {expected}"));
        }
        if name == "duplicate_identifier.xml" {
            score.check(text.contains("\"second\"") && !text.contains("\"first\""), || {
                format!("oai: `{name}`: the later datestamp does not win")
            });
        }
        let harmful = text.lines().find_map(|line| Some((harm(line)?, line)));
        score.check(harmful.is_none(), || format!("oai: `{name}`: {harmful:?}"));
        score.check(!text.contains("root:"), || format!("oai: `{name}` read a file of this machine"));
    }
    println!("oai: {} answers, each harvested twice", files.len());
}

/// Exit code and canonical export of one harvest into a new catalogue.
fn harvest_once(folder: &Path, file: &Path, name: &str, score: &mut Score) -> (Option<i32>, String) {
    let (port, thread) = serve("Content-Type: text/xml\r\n".to_owned(), repository(folder, file));
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("catalogue");
    let limit = Duration::from_secs(SECONDS);
    let call = |arguments: &[&str]| pinakes(&home, arguments, limit);
    call(&["init", home.to_str().unwrap(), "--base", "https://catalogue.example/"]);
    let url = format!("http://127.0.0.1:{port}/oai");
    let described = call(&[
        "source",
        "add",
        "repo",
        "name=r",
        &format!("website={url}"),
        "technique=oai-pmh",
        &format!("oai.url={url}"),
        "oai.prefix=oai_dc",
        &format!("access.allow_private=127.0.0.1:{port}"),
        "access.retries.attempts=1",
        "access.delay=0",
    ]);
    score.check(described.code == Some(0), || format!("oai: {}", described.stderr));
    let ran = call(&["harvest", "--quiet", "--json"]);
    score.check(matches!(ran.code, Some(0..=2)), || format!("oai: `{name}` ended with {:?}", ran.code));
    score.check(ran.peak <= 256, || format!("oai: `{name}` took {} MB", ran.peak));
    let export = call(&["export", "--canonical", "--quiet"]);
    let asked = quit(port, thread);
    score.check(asked.len() < 60, || format!("oai: `{name}` was asked {} times", asked.len()));
    (ran.code, export.stdout)
}
