//! Harvesting a real repository through the command line. The repository's own log of requests
//! is the proof of what was asked.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod faults;
mod foreign;
mod patience;
mod probe;
#[path = "../repository/mod.rs"]
mod repository;
#[path = "../support/mod.rs"]
mod support;

use repository::{DeletedRecord, Door, Fault, Granularity, Refused, Repository, Serving, Verb, When};
use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::{Duration, Instant};
use support::{CATALOGUE, Desk, spawn};

/// Short enough for a test, long enough for a machine that is busy.
const PATIENCE: &str = "timeouts = { connect = 5, idle = 2, total = 6 }\n\
     retries = { attempts = 4, first_wait = 0.1, longest_wait = 5 }";

/// Describes a repository as a source.
fn describe(desk: &Desk, key: &str, serving: &Serving, more: &str) {
    let (url, authority) = (serving.url(), serving.authority());
    let text = format!(
        "name = \"{key}\"\nwebsite = \"{url}\"\ntechnique = \"oai-pmh\"\n{more}\n\
         [oai]\nurl = \"{url}\"\nprefix = \"oai_dc\"\n[access]\nallow_private = [\"{authority}\"]\n{PATIENCE}\n"
    );
    desk.write(&format!("{CATALOGUE}/sources/{key}.toml"), text);
}

fn desk_with(serving: &Serving) -> Desk {
    let desk = Desk::new();
    describe(&desk, "repo", serving, "");
    desk
}

fn hash(desk: &Desk) -> String {
    desk.run("pinakes export --canonical --output export.nq").ok();
    desk.run("sha256sum export.nq").ok().text()
}

/// How many records there are, as a SPARQL client sees them.
fn records(desk: &Desk) -> usize {
    let query = "SELECT ?record WHERE { GRAPH ?graph { ?record a <https://w3id.org/pinakes#Record> } }";
    let ran = desk.run(&format!("pinakes query --format csv -e '{query}'")).ok().text();
    ran.lines().count() - 1
}

/// The merged catalogue, in the order of its text.
fn master(desk: &Desk) -> BTreeSet<String> {
    let text = desk.run("pinakes export --quiet --graph master --format ntriples").ok().text();
    text.lines().map(str::to_owned).collect()
}

/// S0.3: the second harvest moves what changed and nothing else.
#[test]
fn s0_3_only_what_changed_is_moved() {
    for granularity in [Granularity::Seconds, Granularity::Day] {
        let serving = Repository::seeded(3).records(100).page(10).granularity(granularity).serve();
        let desk = desk_with(&serving);
        desk.run("pinakes harvest").ok();
        assert_eq!(serving.moved(), 100);
        assert_eq!(records(&desk), 100);
        // Datestamps in days say nothing of the hours of the first harvest.
        serving.advance(Duration::from_secs(2 * 86_400));
        serving.change(&[3, 50, 97]);
        serving.add(1);
        serving.delete(&[20]);
        serving.advance(Duration::from_secs(2 * 86_400));
        serving.clear_log();
        let said = desk.run("pinakes harvest repo").ok().text();
        assert_eq!(serving.moved(), 5, "{said}");
        assert!(said.contains("1 new, 3 changed, 1 deleted"), "{said}");
        assert_eq!(records(&desk), 100);
        serving.clear_log();
        serving.advance(Duration::from_secs(2 * 86_400));
        desk.run("pinakes harvest repo").ok();
        assert_eq!(serving.moved(), 0);
    }
}

/// A source's overlap reaches the repository: the next harvest asks from so many seconds earlier.
#[test]
fn an_overlap_is_asked_for() {
    let serving = Repository::seeded(5).records(10).serve();
    let mut asked = Vec::new();
    for overlap in [0, 3600] {
        let desk = desk_with(&serving);
        let file = format!("{CATALOGUE}/sources/repo.toml");
        let text = String::from_utf8(desk.read(&file)).unwrap();
        desk.write(&file, text.replace("prefix =", &format!("overlap = {overlap}\nprefix =")));
        desk.run("pinakes harvest").ok();
        serving.clear_log();
        desk.run("pinakes harvest").ok();
        let from = serving.log().iter().find_map(|request| request.argument("from").map(str::to_owned));
        asked.push(from.unwrap().parse::<jiff::Timestamp>().unwrap().as_second());
    }
    let apart = asked[0] - asked[1];
    // The repository's clock may go on between the two.
    assert!((3500..=3600).contains(&apart), "{asked:?}");
}

/// S0.1, the OAI half: what SPARQL finds is what the repository has.
#[test]
fn s0_1_what_is_harvested_can_be_asked_for() {
    let serving = Repository::seeded(1).records(30).deleted(3).serve();
    let desk = desk_with(&serving);
    desk.run("pinakes harvest").ok();
    assert_eq!(records(&desk), serving.numbers().len());
    let query = "SELECT ?id WHERE { GRAPH ?g { ?record <https://w3id.org/pinakes#identifier> ?id } }";
    let found = desk.run(&format!("pinakes query --format csv -e '{query}'")).ok().text();
    for number in serving.numbers() {
        assert!(found.contains(&serving.identifier(number)), "{number}");
    }
}

/// S3.7: raw record, statements, source, time and agent of each entry.
#[test]
fn s3_7_each_record_says_where_it_came_from() {
    let serving = Repository::seeded(7).records(3).serve();
    let desk = desk_with(&serving);
    desk.run("pinakes harvest").ok();
    let id = serving.identifier(2);
    let raw = desk.run(&format!("pinakes record show --raw repo {id}")).ok().text();
    assert!(raw.contains("<record") && raw.contains(&id), "{raw}");
    let query = "SELECT ?source ?agent ?time WHERE { GRAPH ?g { \
         ?record <http://www.w3.org/ns/prov#wasGeneratedBy> ?run } GRAPH <provenance> { \
         ?run <http://www.w3.org/ns/prov#used> ?source ; <http://www.w3.org/ns/prov#wasAssociatedWith> ?agent ; \
              <http://www.w3.org/ns/prov#endedAtTime> ?time } }";
    let rows = desk.run(&format!("pinakes query --format csv -e '{query}'")).ok().text();
    assert_eq!(rows.lines().count(), 4, "{rows}");
    assert!(rows.contains("source/repo") && rows.contains("agent/pinakes"), "{rows}");
}

/// S0.8: one source fails, the others complete; the failed part is reported and resumed.
#[test]
fn s0_8_a_source_that_fails_does_not_stop_the_others() {
    let (good, bad) = (Repository::seeded(8).serve(), Repository::seeded(9).serve());
    bad.fault(Fault::RetryAfterHuge, When::From(4));
    let desk = desk_with(&good);
    describe(&desk, "bad", &bad, "");
    let ran = desk.run("pinakes harvest").exits(1);
    assert!(ran.text().contains("repo: complete; 100 records: 100 new"), "{}", ran.text());
    assert!(ran.complaint().contains("source-failed"), "{}", ran.complaint());
    assert_eq!(records(&desk), 130);
    let status = desk.run("pinakes harvest status").ok().text();
    assert!(status.contains("bad: failed, the next harvest goes on"), "{status}");
    bad.heal();
    bad.clear_log();
    desk.run("pinakes harvest bad").ok();
    assert_eq!(bad.moved(), 70, "finished pages are not asked for again");
    assert_eq!(records(&desk), 200);
}

/// S0.11: killed twenty times, the harvest ends where it would have ended, and no page that
/// was finished is asked for again.
#[test]
fn s0_11_killed_at_any_moment_it_goes_on() {
    let serving = Repository::seeded(11).records(300).page(10).deleted(7).serve();
    let desk = desk_with(&serving);
    desk.run("pinakes harvest").ok();
    let expected = hash(&desk);
    let undisturbed = serving.moved();
    serving.clear_log();
    // Each page waits, so that a kill meets the harvest at another place each time.
    serving.delay(Duration::from_millis(30));
    let desk = desk_with(&serving);
    let mut kills = 0;
    while kills < 20 {
        let mut process = desk.pinakes();
        process.args(["harvest"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = spawn(&mut process);
        let seen = serving.requests(Verb::ListRecords).len();
        let patience = Instant::now() + Duration::from_secs(60);
        // A page or two later; the moment within the page is chance.
        while serving.requests(Verb::ListRecords).len() < seen + 1 + kills % 2 {
            assert!(Instant::now() < patience, "no request came");
            if child.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis((kills as u64 * 7) % 40));
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    }
    serving.delay(Duration::ZERO);
    let said = desk.run("pinakes harvest").ok().text();
    // What the killed ones took counts too.
    assert!(said.contains("293 new") && said.contains("7 deleted"), "{said}");
    assert_eq!(hash(&desk), expected);
    // At each kill a page may have been on its way, or two that waited to be taken.
    let moved = serving.moved();
    assert!(moved <= undisturbed + kills * 40, "{moved} records were moved");
    desk.run("pinakes verify").ok();
}

/// S0.7: the phases as processes of their own, at the same time, give what they give in
/// sequence.
#[test]
fn s0_7_phases_side_by_side_give_what_they_give_in_sequence() {
    let serving = Repository::seeded(12).records(200).page(10).serve();
    let sequence = desk_with(&serving);
    sequence.run("pinakes harvest").ok();
    sequence.copy("examples/library.mrc", "library.mrc");
    sequence.run("pinakes import --source library library.mrc").ok();
    let expected = hash(&sequence);
    serving.delay(Duration::from_millis(20));
    let desk = desk_with(&serving);
    desk.copy("examples/library.mrc", "library.mrc");
    let mut process = desk.pinakes();
    process.args(["harvest", "--archive-only"]).stdin(Stdio::null()).stdout(Stdio::null());
    let mut harvest = spawn(process.stderr(Stdio::null()));
    while serving.requests(Verb::ListRecords).len() < 25 {
        std::thread::sleep(Duration::from_millis(1));
    }
    // Both want to write while the harvest does; both are served between two of its pages.
    let import = desk.run("pinakes import --source library library.mrc").ok();
    assert!(import.complaint().contains("`pinakes harvest`") || import.complaint().is_empty());
    desk.run("pinakes status").ok();
    assert!(harvest.wait().unwrap().success());
    assert_eq!(hash(&desk), expected);
}

/// A second command waits and says for whom.
#[test]
fn a_second_command_waits_and_says_for_whom() {
    let serving = Repository::seeded(13).records(40).page(10).serve();
    let desk = desk_with(&serving);
    serving.hold_at(2);
    let mut process = desk.pinakes();
    process.args(["harvest"]).stdin(Stdio::null()).stdout(Stdio::null());
    let mut harvest = spawn(process.stderr(Stdio::null()));
    serving.wait_until_held();
    // The harvest waits for its source and lends the catalogue meanwhile.
    let ran = desk.run("pinakes status").ok();
    assert!(ran.text().contains("repo"), "{}", ran.text());
    serving.release();
    assert!(harvest.wait().unwrap().success());
    assert_eq!(records(&desk), 40);
}

/// S0.18: "A fixture source behind a login is harvested; session expiry mid-run is renewed; cleaning
/// starts no session"
#[test]
fn s0_18_a_login_is_renewed_when_it_expires() {
    for refused in [Refused::Unauthorized, Refused::Redirected, Refused::ShownTheForm] {
        let door = Door::Form { user: "ann".to_owned(), password: "s3cret".to_owned(), lasts: 4, refused };
        let serving = Repository::seeded(18).records(100).page(10).door(door).serve();
        let desk = Desk::new();
        let (url, authority, login) = (serving.url(), serving.authority(), serving.at("/login"));
        desk.write(
            &format!("{CATALOGUE}/sources/repo.toml"),
            format!(
                "name = \"r\"\nwebsite = \"{url}\"\ntechnique = \"oai-pmh\"\n[oai]\nurl = \"{url}\"\nprefix = \"oai_dc\"\n\
                 [access]\nallow_private = [\"{authority}\"]\n{PATIENCE}\n[access.login]\nurl = \"{login}\"\n\
                 fields = {{ username = {{ env = \"REPO_USER\" }}, password = {{ env = \"REPO_PASSWORD\" }} }}\n\
                 expired = \"name=\\\"password\\\"\"\n"
            ),
        );
        let ran = desk.run("REPO_USER=ann REPO_PASSWORD=s3cret pinakes harvest --verbose --verbose").ok();
        assert!(serving.sessions().0 > 1, "{refused:?}");
        assert!(!ran.complaint().contains("s3cret"), "{}", ran.complaint());
        let (opened, _) = serving.sessions();
        assert_eq!(records(&desk), 100);
        hash(&desk);
        assert_eq!(serving.sessions().0, opened);
        // Cleaning asks the source for nothing, though it could, and needs neither a network nor a
        // password.
        let asked = serving.log().len();
        assert!(asked > 10, "{refused:?}: {asked} requests");
        let login = "REPO_USER=ann REPO_PASSWORD=s3cret";
        let cleaned = desk.run(&format!("{login} pinakes resolve --quiet --json")).ok().json();
        assert_eq!((&cleaned["records"], &cleaned["read"]), (&100.into(), &100.into()), "{cleaned:#}");
        assert_eq!((serving.log().len(), serving.sessions().0), (asked, opened), "{refused:?}");
        let merged = master(&desk);
        assert!(!merged.is_empty());
        let off = desk.network_off();
        desk.run(&format!("{off} pinakes resolve --full --quiet")).ok();
        assert!(master(&desk) == merged, "{refused:?}: without a network another master comes out");
        assert_eq!((serving.log().len(), serving.sessions().0), (asked, opened), "{refused:?}");
        // With the network off, the source is really out of reach; with it on, requests are counted.
        desk.run(&format!("{login} {off} pinakes harvest --full")).exits(2);
        assert_eq!(serving.log().len(), asked, "{refused:?}: the network was not off");
        let ran = desk.run("REPO_USER=ann REPO_PASSWORD=wrong pinakes harvest --full").exits(2);
        assert!(!ran.complaint().contains("wrong"), "{}", ran.complaint());
        assert!(serving.log().len() > asked, "{refused:?}: requests are not counted");
    }
}

/// S0.10: what comes after the harvest needs no source.
#[test]
fn s0_10_cleaning_and_export_need_no_connection() {
    let serving = Repository::seeded(10).records(20).serve();
    let desk = desk_with(&serving);
    desk.run("pinakes harvest").ok();
    drop(serving);
    let cleaned = desk.run("pinakes resolve --quiet --json").ok().json();
    assert_eq!(cleaned["read"], 20, "{cleaned:#}");
    let merged = master(&desk);
    desk.run("pinakes rebuild").ok();
    assert_eq!(records(&desk), 20);
    assert!(!merged.is_empty() && master(&desk) == merged, "a rebuild gives another master");
    hash(&desk);
    desk.run("pinakes harvest").exits(2);
    assert_eq!(records(&desk), 20);
}

/// S1.3: the technique alone decides which harvester is used.
#[test]
fn s1_3_the_technique_decides_the_harvester() {
    let serving = Repository::seeded(13).records(5).serve();
    let desk = desk_with(&serving);
    desk.copy("examples/repository-oai_dc.xml", "catalogue/dump.xml");
    let file = desk.path("catalogue/sources/repo.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let technique = |name: &str| text.replace("\"oai-pmh\"", &format!("\"{name}\""));
    std::fs::write(&file, technique("file") + "[file]\npaths = [\"dump.xml\"]\n").unwrap();
    let ran = desk.run("pinakes harvest repo").ok();
    assert_eq!(serving.log().len(), 0, "{}", ran.text());
    std::fs::write(&file, technique("web")).unwrap();
    let ran = desk.run("pinakes harvest repo").exits(2);
    assert!(ran.complaint().contains("web"), "{}", ran.complaint());
    std::fs::write(&file, &text).unwrap();
    desk.run("pinakes harvest repo").ok();
    assert_eq!(serving.moved(), 5);
}

/// Deleted records leave their graph empty and stay as tombstones; a repository that does not
/// tell of deletions is found out by a full harvest.
#[test]
fn deletions_are_followed() {
    let serving = Repository::seeded(20).records(30).deleted_record(DeletedRecord::No).serve();
    let desk = desk_with(&serving);
    desk.run("pinakes harvest").ok();
    serving.advance(Duration::from_secs(3600));
    serving.delete(&[4, 5]);
    desk.run("pinakes harvest").ok();
    assert_eq!(records(&desk), 30);
    let said = desk.run("pinakes harvest --full").ok().text();
    assert!(said.contains("2 deleted"), "{said}");
    assert_eq!(records(&desk), 28);
    let id = serving.identifier(4);
    desk.run(&format!("pinakes record show repo {id} --version 1")).ok();
}

/// What is wrong with one record costs that record alone.
#[test]
fn a_bad_record_costs_itself_alone() {
    for fault in
        [Fault::BrokenXml(7), Fault::BadUtf8(7), Fault::UnescapedAmpersand(7), Fault::MissingIdentifier(7)]
    {
        let serving = Repository::seeded(22).records(30).page(10).fault(fault).serve();
        let desk = desk_with(&serving);
        let ran = desk.run("pinakes harvest");
        let held = records(&desk);
        assert!(held >= 29, "{fault:?}: {held}, {}", ran.complaint());
        assert!(held == 30 || ran.code == Some(1), "{fault:?}: {}", ran.complaint());
        if held == 29 {
            assert!(desk.run("pinakes rejects").ok().text().contains("repo"), "{fault:?}");
        }
    }
}

/// Ctrl-C finishes the page and saves.
#[test]
fn an_interrupt_finishes_the_page() {
    let serving = Repository::seeded(23).records(50).page(10).serve();
    let desk = desk_with(&serving);
    serving.hold_at(2);
    let mut process = desk.pinakes();
    process.args(["harvest"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut harvest = spawn(process.stderr(Stdio::null()));
    serving.wait_until_held();
    let pid = harvest.id();
    desk.run(&format!("kill -INT {pid}")).ok();
    serving.release();
    assert!(harvest.wait().unwrap().success());
    assert!(records(&desk) >= 10);
    serving.clear_log();
    desk.run("pinakes harvest").ok();
    assert_eq!(records(&desk), 50);
    assert!(serving.moved() <= 40);
}

/// `run` takes what is due, and one run is enough.
#[test]
fn run_takes_what_is_due() {
    let serving = Repository::seeded(24).records(10).serve();
    let desk = Desk::new();
    describe(&desk, "daily", &serving, "schedule = \"daily\"");
    desk.run("pinakes run").ok();
    assert_eq!(serving.moved(), 10);
    let asked = serving.log().len();
    let ran = desk.run("pinakes run").ok();
    assert!(ran.complaint().contains("no source is due"), "{}", ran.complaint());
    assert_eq!(serving.log().len(), asked);
    desk.run("pinakes run --all").ok();
    assert!(serving.log().len() > asked);
}

/// How a harvest stands is told by the archive; the store need not follow for that.
#[test]
fn status_leaves_the_store_alone() {
    let serving = Repository::seeded(28).records(20).serve();
    let desk = desk_with(&serving);
    desk.run("pinakes harvest --archive-only").ok();
    let store = |desk: &Desk| desk.run("ls -l --time-style=full-iso catalogue/store").ok().text();
    let before = store(&desk);
    let status = desk.run("pinakes harvest status").ok().text();
    assert!(status.contains("20 new"), "{status}");
    assert_eq!(store(&desk), before);
    assert_eq!(records(&desk), 20);
}

/// Sources of different techniques do not depend on each other either, and neither does what
/// comes after them.
#[test]
fn s0_8_a_failing_source_stops_neither_files_nor_resolving() {
    let gone = Repository::seeded(29).serve();
    let desk = desk_with(&gone);
    drop(gone);
    desk.run("pinakes harvest").exits(2);
    desk.copy("examples/bookshop.csv", "catalogue/books.csv");
    for (key, file) in [("absent", "nowhere.csv"), ("shop", "books.csv")] {
        desk.write(
            &format!("{CATALOGUE}/sources/{key}.toml"),
            format!(
                "name = \"{key}\"\nwebsite = \"https://{key}.example\"\ntechnique = \"file\"\n\
                 [file]\npaths = [\"{file}\"]\n"
            ),
        );
    }
    let said = desk.run("pinakes run").exits(1).complaint();
    assert!(said.contains("source-failed") && said.contains("nowhere.csv"), "{said}");
    assert_eq!(records(&desk), 26);
    let merged = "ASK { ?entry <https://w3id.org/pinakes#member> ?described }";
    assert_eq!(desk.run(&format!("pinakes query --quiet -e '{merged}'")).ok().text(), "yes\n");
}

/// A rehearsal asks and takes nothing.
#[test]
fn a_dry_run_takes_nothing() {
    let serving = Repository::seeded(25).records(70).page(10).serve();
    let desk = desk_with(&serving);
    let said = desk.run("pinakes harvest --dry-run").ok().text();
    assert!(said.contains("about 70 records"), "{said}");
    assert_eq!(records(&desk), 0);
    assert_eq!(serving.requests(Verb::ListRecords).len(), 0);
}
