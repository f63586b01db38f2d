//! Harvests of a small repository that can be made to fail in every way.

use super::*;
use crate::fetch::{Answer, Fault, FaultKind};
use crate::harvest::oai::{Granularity, Limits, Order};
use proptest::prelude::*;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

const BASE: &str = "http://r.example/oai";
const NOW: &str = "2024-06-01T12:00:00Z";

#[derive(Debug, Clone)]
struct Item {
    identifier: String,
    stamp: Stamp,
    set: &'static str,
    deleted: bool,
    title: String,
}

/// The arguments of a request.
type Arguments = BTreeMap<String, String>;
/// What happens in place of an answer.
type Trap = Box<dyn Fn(&Arguments) -> Option<Result<Vec<u8>, FaultKind>>>;

/// A repository in memory, with a log of what it was asked.
struct Repository {
    items: Vec<Item>,
    page: usize,
    granularity: Granularity,
    clock: Cell<Stamp>,
    identify: String,
    formats: Vec<&'static str>,
    /// Tokens carry this, and others are not accepted.
    epoch: Cell<u32>,
    trap: Trap,
    log: RefCell<Vec<Arguments>>,
}

fn stamp(text: &str) -> Stamp {
    Stamp::parse(text).unwrap()
}

/// A record for each number, a day apart.
fn items(numbers: impl IntoIterator<Item = i64>) -> Vec<Item> {
    numbers
        .into_iter()
        .map(|number| Item {
            identifier: format!("oai:r:{number}"),
            stamp: stamp("2023-01-01T10:00:00Z").plus(number * 86_400),
            set: if number % 2 == 0 { "even" } else { "odd" },
            deleted: false,
            title: format!("title {number}"),
        })
        .collect()
}

fn repository(items: Vec<Item>) -> Repository {
    Repository {
        items,
        page: 10,
        granularity: Granularity::Second,
        clock: Cell::new(stamp("2024-05-01T00:00:00Z")),
        identify: "<earliestDatestamp>2023-01-01T00:00:00Z</earliestDatestamp>\
             <deletedRecord>persistent</deletedRecord><granularity>YYYY-MM-DDThh:mm:ssZ</granularity>"
            .to_owned(),
        formats: vec!["oai_dc"],
        epoch: Cell::new(0),
        trap: Box::new(|_| None),
        log: RefCell::default(),
    }
}

fn arguments(url: &str) -> Arguments {
    let (base, query) = url.split_once('?').unwrap();
    assert_eq!(base, BASE);
    query
        .split('&')
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap();
            (name.to_owned(), crate::record::percent_decode(value))
        })
        .collect()
}

impl Transport for Repository {
    fn get(&self, url: &str) -> Result<Answer, Fault> {
        let arguments = arguments(url);
        self.log.borrow_mut().push(arguments.clone());
        let body = match (self.trap)(&arguments) {
            Some(Err(kind)) => {
                return Err(Fault { kind, url: url.to_owned(), detail: String::new(), attempts: 1 });
            }
            Some(Ok(body)) => body,
            None => self.answer(&arguments).into_bytes(),
        };
        Ok(Answer { status: 200, url: url.to_owned(), body, ..Answer::default() })
    }
}

impl Repository {
    fn answer(&self, arguments: &Arguments) -> String {
        let body = match arguments["verb"].as_str() {
            "Identify" => format!("<Identify>{}</Identify>", self.identify),
            "ListMetadataFormats" => {
                let formats = self.formats.iter().map(|prefix| {
                    format!("<metadataFormat><metadataPrefix>{prefix}</metadataPrefix></metadataFormat>")
                });
                format!("<ListMetadataFormats>{}</ListMetadataFormats>", formats.collect::<String>())
            }
            "GetRecord" => match self.items.iter().find(|item| item.identifier == arguments["identifier"]) {
                Some(item) => format!("<GetRecord>{}</GetRecord>", item.record()),
                None => error("idDoesNotExist"),
            },
            verb => self.list(verb, arguments),
        };
        self.envelope(&body)
    }

    fn envelope(&self, body: &str) -> String {
        let date = self.clock.get().write(Granularity::Second);
        format!(
            "<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\"><responseDate>{date}</responseDate>\
             <request>{BASE}</request>{body}</OAI-PMH>"
        )
    }

    fn list(&self, verb: &str, arguments: &Arguments) -> String {
        let (start, arguments) = match arguments.get("resumptionToken") {
            Some(token) => {
                assert_eq!(arguments.len(), 2, "a token stands alone: {arguments:?}");
                let parts: Vec<&str> = token.split('|').collect();
                let [epoch, start, from, until, set] = parts.as_slice() else {
                    return error("badResumptionToken");
                };
                if epoch.parse() != Ok(self.epoch.get()) {
                    return error("badResumptionToken");
                }
                let named = [("from", from), ("until", until), ("set", set)];
                let named = named.into_iter().filter(|(_, value)| !value.is_empty());
                (
                    start.parse().unwrap(),
                    named.map(|(name, value)| (name.to_owned(), (*value).to_owned())).collect(),
                )
            }
            None => (0, arguments.clone()),
        };
        let argument = |name: &str| arguments.get(name).map(String::as_str);
        let granule = match self.granularity {
            Granularity::Day => 86_400,
            Granularity::Second => 1,
        };
        let listed: Vec<&Item> = self
            .items
            .iter()
            .filter(|item| argument("from").is_none_or(|from| item.stamp >= stamp(from)))
            .filter(|item| argument("until").is_none_or(|until| item.stamp < stamp(until).plus(granule)))
            .filter(|item| argument("set").is_none_or(|set| item.set == set))
            .collect();
        if listed.is_empty() {
            return error("noRecordsMatch");
        }
        let shown = listed.iter().skip(start).take(self.page).map(|item| match verb {
            "ListRecords" => item.record(),
            _ => item.header(),
        });
        let shown: String = shown.collect();
        let next = start + self.page;
        let token = if next < listed.len() {
            let [from, until, set] = ["from", "until", "set"].map(|name| argument(name).unwrap_or_default());
            let token = format!("{}|{next}|{from}|{until}|{set}", self.epoch.get());
            format!(
                "<resumptionToken completeListSize=\"{}\" cursor=\"{start}\">{token}</resumptionToken>",
                listed.len()
            )
        } else if start > 0 {
            "<resumptionToken/>".to_owned()
        } else {
            String::new()
        };
        format!("<{verb}>{shown}{token}</{verb}>")
    }

    /// The requests so far, short: verb and what is said beside the prefix.
    fn asked(&self) -> Vec<String> {
        let log = self.log.borrow();
        log.iter()
            .map(|arguments| {
                let rest = arguments.iter().filter(|(name, _)| *name != "verb" && *name != "metadataPrefix");
                let rest: Vec<String> = rest.map(|(name, value)| format!("{name}={value}")).collect();
                format!("{} {}", arguments["verb"], rest.join(" ")).trim_end().to_owned()
            })
            .collect()
    }

    fn forget_log(&self) {
        self.log.borrow_mut().clear();
    }
}

impl Item {
    fn header(&self) -> String {
        let status = if self.deleted { " status=\"deleted\"" } else { "" };
        format!(
            "<header{status}><identifier>{}</identifier><datestamp>{}</datestamp><setSpec>{}</setSpec></header>",
            self.identifier,
            self.stamp.write(Granularity::Second),
            self.set
        )
    }

    fn record(&self) -> String {
        let metadata = format!("<metadata><dc><title>{}</title></dc></metadata>", self.title);
        let metadata = if self.deleted { "" } else { &metadata };
        format!("<record>{}{metadata}</record>", self.header())
    }
}

fn error(code: &str) -> String {
    format!("<error code=\"{code}\">so</error>")
}

fn plan() -> Plan {
    Plan { base_url: BASE.to_owned(), prefix: Some("oai_dc".to_owned()), ..Plan::default() }
}

/// What came of a harvest.
#[derive(Debug, Default)]
struct Catch {
    /// The last payload of each record that is there, and how often something came.
    held: BTreeMap<String, String>,
    moved: usize,
    deleted: Vec<String>,
    rejects: Vec<Reject>,
    notices: Vec<Diagnostic>,
    done: Option<Done>,
    failure: Option<Failure>,
    state: State,
}

impl Catch {
    fn take(&mut self, page: Page) {
        for record in page.records {
            let id = record.header.identifier.unwrap();
            self.moved += 1;
            if record.header.deleted {
                self.held.remove(&id);
                self.deleted.push(id);
            } else {
                self.held.insert(id, String::from_utf8(record.payload).unwrap());
            }
        }
        self.rejects.extend(page.rejects);
        self.notices.extend(page.notices);
        self.state = page.state;
    }

    fn codes(&self) -> Vec<Code> {
        self.notices.iter().map(|notice| notice.code).collect()
    }

    #[track_caller]
    fn done(&self) -> &Done {
        assert_eq!(self.failure, None);
        self.done.as_ref().unwrap()
    }
}

/// Harvests to the end. The state is written and read before every step, as after a kill, if
/// `killed` says so.
fn harvest_killed(
    repository: &Repository,
    plan: &Plan,
    state: State,
    now: &str,
    mut killed: impl FnMut() -> bool,
) -> Catch {
    let mut catch = Catch { state, ..Catch::default() };
    let mut harvest = Harvest::new(plan.clone(), catch.state.clone(), now);
    for _ in 0..10_000 {
        if killed() {
            let json = serde_json::to_string(&catch.state).unwrap();
            harvest = Harvest::new(plan.clone(), serde_json::from_str(&json).unwrap(), now);
        }
        match harvest.next(repository) {
            Step::Page(page) => catch.take(*page),
            Step::Done(done) => {
                catch.notices.extend(done.notices.iter().cloned());
                catch.state = done.state.clone();
                catch.done = Some(*done);
                return catch;
            }
            Step::Failed(failure) => {
                catch.notices.extend(failure.notices.iter().cloned());
                catch.state = failure.state.clone();
                catch.failure = Some(*failure);
                return catch;
            }
        }
    }
    panic!("it does not end: {:?}", repository.asked().last_chunk::<5>());
}

fn harvest(repository: &Repository, plan: &Plan, state: State) -> Catch {
    harvest_at(repository, plan, state, NOW)
}

fn harvest_at(repository: &Repository, plan: &Plan, state: State, now: &str) -> Catch {
    harvest_killed(repository, plan, state, now, || false)
}

#[track_caller]
fn check_holds(catch: &Catch, items: &[Item]) {
    let held: Vec<&String> = catch.held.keys().collect();
    let mut expected: Vec<&String> =
        items.iter().filter(|item| !item.deleted).map(|item| &item.identifier).collect();
    expected.sort();
    assert_eq!(held, expected);
}

#[test]
fn a_repository_is_harvested_page_by_page() {
    let repository = repository(items(0..25));
    let catch = harvest(&repository, &plan(), State::default());
    assert_eq!(
        repository.asked(),
        [
            "Identify",
            "ListRecords",
            "ListRecords resumptionToken=0|10|||",
            "ListRecords resumptionToken=0|20|||"
        ]
    );
    check_holds(&catch, &repository.items);
    let done = catch.done();
    assert!(done.complete && done.everything);
    assert_eq!(done.tally, Tally { pages: 3, records: 25, ..Tally::default() });
    assert_eq!(done.deleted_records, DeletedRecords::Persistent);
    assert_eq!(catch.notices, []);
    assert_eq!(catch.state.since, Some(repository.clock.get()));
}

#[test]
fn s0_3_the_second_harvest_moves_what_changed_and_nothing_else() {
    for granularity in [Granularity::Second, Granularity::Day] {
        let mut repository = repository(items(0..100));
        repository.granularity = granularity;
        if granularity == Granularity::Day {
            repository.identify = repository.identify.replace("Thh:mm:ssZ", "");
        }
        let first = harvest(&repository, &plan(), State::default());
        assert_eq!(first.moved, 100);
        let later = stamp("2024-05-01T00:00:00Z");
        for number in [3, 50, 97] {
            repository.items[number].stamp = later.plus(number as i64);
            repository.items[number].title = "changed".to_owned();
        }
        repository.items[20] = Item { stamp: later.plus(1), deleted: true, ..repository.items[20].clone() };
        repository.items.extend(items([100]).into_iter().map(|item| Item { stamp: later, ..item }));
        repository.clock.set(later.plus(7200));
        repository.forget_log();
        let second = harvest(&repository, &plan(), first.state);
        assert_eq!(second.moved, 5);
        assert_eq!(second.deleted, ["oai:r:20"]);
        assert_eq!(second.held.len(), 4);
        let from = later.write(granularity);
        assert_eq!(repository.asked(), ["Identify".to_owned(), format!("ListRecords from={from}")]);
        assert!(!second.done().everything);
        // And the third one only looks.
        repository.clock.set(later.plus(2 * 86_400));
        repository.items.iter_mut().for_each(|item| item.stamp = item.stamp.min(later.plus(-86_400)));
        let third = harvest(&repository, &plan(), second.state);
        assert_eq!((third.moved, third.done().complete), (0, true));
    }
}

#[test]
fn the_best_format_is_chosen_once_and_kept() {
    let mut repository = repository(items(0..3));
    repository.formats = vec!["oai_dc", "mods", "marcxml"];
    let plan = Plan { prefix: None, ..plan() };
    let catch = harvest(&repository, &plan, State::default());
    assert_eq!(catch.state.chosen.as_deref(), Some("marcxml"));
    assert_eq!(repository.asked()[..2], ["Identify", "ListMetadataFormats"]);
    assert_eq!(repository.log.borrow()[2]["metadataPrefix"], "marcxml");
    repository.forget_log();
    harvest(&repository, &plan, catch.state);
    assert_eq!(repository.asked().len(), 2);
    repository.formats.clear();
    let failed = harvest(&repository, &plan, State::default()).failure.unwrap();
    assert!(matches!(failed.error, HarvestError::NoFormat { .. }) && !failed.resumable);
}

#[test]
fn sets_are_harvested_one_after_the_other() {
    let repository = repository(items(0..30));
    let plan = Plan { sets: vec!["odd".to_owned(), "even".to_owned()], ..plan() };
    let catch = harvest(&repository, &plan, State::default());
    check_holds(&catch, &repository.items);
    assert_eq!(
        repository.asked()[1..],
        [
            "ListRecords set=odd",
            "ListRecords resumptionToken=0|10|||odd",
            "ListRecords set=even",
            "ListRecords resumptionToken=0|10|||even"
        ]
    );
}

#[test]
fn a_set_within_a_set_is_no_loop() {
    let mut repository = repository(items(0..100));
    repository.items.iter_mut().for_each(|item| item.set = "even");
    let twice = Plan { sets: vec!["even".to_owned(), "even".to_owned()], ..plan() };
    let catch = harvest(&repository, &twice, State::default());
    assert!(catch.done().complete);
    assert_eq!(catch.done().tally.repeated, 100);
    assert_eq!(catch.moved, 100);
}

#[test]
fn windows_cover_everything_and_are_open_at_both_ends() {
    let mut repository = repository(items(0..100));
    // Older than the repository says, and newer than its clock.
    repository.items[0].stamp = stamp("1999-01-01");
    repository.items[99].stamp = stamp("2024-05-20");
    let plan = Plan { window_days: Some(200), ..plan() };
    let catch = harvest(&repository, &plan, State::default());
    check_holds(&catch, &repository.items);
    let lists: Vec<String> =
        repository.asked().into_iter().filter(|asked| !asked.contains("resumptionToken")).collect();
    assert_eq!(
        lists,
        [
            "Identify",
            "ListRecords until=2023-07-19T23:59:59Z",
            "ListRecords from=2023-07-20T00:00:00Z until=2024-02-04T23:59:59Z",
            "ListRecords from=2024-02-05T00:00:00Z"
        ]
    );
    assert!(catch.done().everything);
}

#[test]
fn an_empty_repository_is_done_with_nothing() {
    let catch = harvest(&repository(Vec::new()), &plan(), State::default());
    assert!(catch.done().complete);
    assert_eq!((catch.moved, catch.codes()), (0, vec![]));
}

#[test]
fn records_can_be_fetched_one_by_one_from_the_start() {
    let repository = repository(items(0..25));
    let catch = harvest(&repository, &Plan { one_by_one: true, ..plan() }, State::default());
    check_holds(&catch, &repository.items);
    assert_eq!(repository.asked().iter().filter(|asked| asked.starts_with("GetRecord")).count(), 25);
    assert_eq!(repository.asked().iter().filter(|asked| asked.starts_with("ListIdentifiers")).count(), 3);
}

/// Answers of a repository that says the same to every list request, or the next of several.
fn says(bodies: Vec<String>) -> Repository {
    let mut repository = repository(Vec::new());
    let count = Cell::new(0);
    let envelopes: Vec<String> = bodies.iter().map(|body| repository.envelope(body)).collect();
    repository.trap = Box::new(move |arguments| {
        if arguments["verb"] != "ListRecords" {
            return None;
        }
        let at = count.get();
        count.set(at + 1);
        Some(Ok(envelopes[at % envelopes.len()].clone().into_bytes()))
    });
    repository
}

fn list_of(items: &[Item], token: &str) -> String {
    let records: String = items.iter().map(Item::record).collect();
    format!("<ListRecords>{records}{token}</ListRecords>")
}

#[track_caller]
fn check_loop(bodies: Vec<String>, requests: usize, records: usize) {
    let repository = says(bodies);
    let catch = harvest(&repository, &plan(), State::default());
    assert_eq!(repository.log.borrow().len() - 1, requests);
    assert_eq!(catch.held.len(), records);
    assert!(!catch.done().complete);
    assert_eq!(catch.codes(), [Code::ListIncomplete]);
    assert_eq!(catch.state.since, None);
}

#[test]
fn tokens_in_circles_end() {
    let page = |number, token: &str| {
        list_of(&items([number]), &format!("<resumptionToken>{token}</resumptionToken>"))
    };
    check_loop(vec![page(1, "SAME")], 2, 1);
    check_loop(vec![page(1, "A"), page(2, "B")], 3, 2);
    let circle = (0..20).map(|number| page(number, &format!("t{number}"))).collect();
    check_loop(circle, 21, 20);
}

#[test]
fn pages_without_anything_new_end() {
    let grown = |records: bool| {
        let items = if records { items([1, 2]) } else { Vec::new() };
        (0..1000).map(move |n| list_of(&items, &format!("<resumptionToken>t{n}</resumptionToken>"))).collect()
    };
    check_loop(grown(true), 6, 2);
    check_loop(grown(false), 5, 0);
    let repository = says(grown(true));
    let limits = Limits { stale_pages: 2, ..Limits::default() };
    harvest(&repository, &Plan { limits, ..plan() }, State::default());
    assert_eq!(repository.log.borrow().len() - 1, 3);
}

#[test]
fn a_loop_is_found_again_after_a_kill() {
    let pages = (0..3).map(|n| list_of(&items([n]), &format!("<resumptionToken>{n}</resumptionToken>")));
    let repository = says(pages.collect());
    let catch = harvest_killed(&repository, &plan(), State::default(), NOW, || true);
    assert_eq!(repository.log.borrow().len() - 1, 4);
    assert!(!catch.done().complete);
}

#[test]
fn a_token_that_cannot_be_sent_back_ends_the_list() {
    let token = format!("<resumptionToken>{}</resumptionToken>", "T".repeat(300_000));
    check_loop(vec![list_of(&items([1]), &token)], 1, 1);
}

#[test]
fn an_empty_or_missing_token_ends_the_list_whatever_the_numbers_say() {
    for (token, codes) in [
        ("", vec![]),
        ("<resumptionToken/>", vec![]),
        ("<resumptionToken completeListSize=\"99\" cursor=\"98\"></resumptionToken>", vec![]),
        ("<resumptionToken completeListSize=\"99\" cursor=\"0\"/>", vec![Code::OaiProtocol]),
        ("<resumptionToken completeListSize=\"-5\" cursor=\"99999999999999999999\"/>", vec![]),
    ] {
        let catch = harvest(&says(vec![list_of(&items([1]), token)]), &plan(), State::default());
        assert!(catch.done().complete);
        assert_eq!((catch.held.len(), catch.codes()), (1, codes), "{token}");
    }
    // The first page said more than there is.
    let first = list_of(&items([1]), "<resumptionToken completeListSize=\"3\">t</resumptionToken>");
    let catch = harvest(&says(vec![first, list_of(&items([2]), "")]), &plan(), State::default());
    assert_eq!((catch.held.len(), catch.codes()), (2, vec![Code::OaiProtocol]));
}

#[test]
fn of_two_records_with_one_identifier_the_later_counts() {
    let mut pair = items([1, 1]);
    pair[0].title = "second".to_owned();
    pair[0].stamp = pair[0].stamp.plus(1);
    pair[1].title = "first".to_owned();
    for order in [[0, 1], [1, 0]] {
        let listed = order.map(|at| pair[at].clone());
        let catch = harvest(&says(vec![list_of(&listed, "")]), &plan(), State::default());
        assert!(catch.held["oai:r:1"].contains("second"));
        assert_eq!((catch.moved, catch.codes()), (2, vec![Code::DuplicateIdentifier]));
    }
}

#[test]
fn bad_datestamps_are_kept_as_text() {
    let odd = ["2024-13-45", "0000-00-00", "9999-12-31T23:59:60Z", "yesterday", "", "-1"];
    let records: String = odd
        .iter()
        .enumerate()
        .map(|(n, stamp)| {
            let header = format!("<identifier>{n}</identifier><datestamp>{stamp}</datestamp>");
            format!("<record><header>{header}</header></record>")
        })
        .collect();
    let repository = says(vec![format!("<ListRecords>{records}</ListRecords>")]);
    let mut harvest = Harvest::new(plan(), State::default(), NOW);
    let Step::Page(page) = harvest.next(&repository) else { panic!() };
    let stamps: Vec<_> =
        page.records.iter().map(|record| record.header.datestamp.as_deref().unwrap_or("")).collect();
    assert_eq!(stamps, odd);
    let Step::Done(done) = harvest.next(&repository) else { panic!() };
    assert_eq!(done.state.since, Some(repository.clock.get()));
}

#[test]
fn the_mark_is_the_repositorys_clock_and_in_our_future_only_with_its_records() {
    for (clock, since, codes) in [
        // Half an hour ahead, and no record is dated so.
        ("2024-06-01T12:30:00Z", NOW, vec![]),
        ("2024-05-01T00:00:00Z", "2024-05-01T00:00:00Z", vec![]),
        ("2999-01-01T00:00:00Z", NOW, vec![Code::OaiProtocol]),
        // A clock that is behind is the one that stamps the records.
        ("2001-01-01T00:00:00Z", "2001-01-01T00:00:00Z", vec![]),
    ] {
        let repository = repository(items(0..3));
        repository.clock.set(stamp(clock));
        let catch = harvest(&repository, &plan(), State::default());
        assert_eq!(catch.state.since, Some(stamp(since)));
        assert_eq!(catch.codes(), codes);
    }
    // Records that are dated ahead are not asked for again; the next harvest finds nothing, and
    // the mark does not go back.
    let mut ahead = repository(items(0..3));
    ahead.items[2].stamp = stamp(NOW).plus(30);
    ahead.clock.set(stamp(NOW).plus(31));
    let catch = harvest(&ahead, &plan(), State::default());
    assert_eq!((catch.state.since, catch.held.len()), (Some(stamp(NOW).plus(31)), 3));
    let again = harvest(&ahead, &plan(), catch.state);
    assert_eq!((again.state.since, again.held.len()), (Some(stamp(NOW).plus(31)), 0));
    // Without a clock, the newest record is what is known.
    let mut repository = repository(items(0..3));
    let identify = repository.answer(&arguments("http://r.example/oai?verb=Identify"));
    let identify = identify.replace("2024-05-01T00:00:00Z", "today");
    repository.trap =
        Box::new(move |asked| (asked["verb"] == "Identify").then(|| Ok(identify.clone().into_bytes())));
    let catch = harvest(&repository, &plan(), State::default());
    assert_eq!(catch.state.since, Some(repository.items[2].stamp));
    assert_eq!(catch.codes(), [Code::OaiProtocol]);
}

/// A mark in the future once skipped all that changed between the correction and the mark.
#[test]
fn a_clock_that_is_set_back_loses_nothing() {
    const HOUR: i64 = 3600;
    const YEARS: i64 = 900 * 365 * 24 * HOUR;
    let now = stamp(NOW);
    // How far ahead the clock is at the first harvest; what it shows, once it is set back, when a
    // record changes, and at the second harvest.
    for (ahead, changed, again) in [
        (HOUR, 10 * 60, 10 * 60 + 1),
        (HOUR, 10 * 60, 2 * HOUR),
        (YEARS, 90, 24 * HOUR),
        // Within what is believed, and still before the mark when it is asked again.
        (50, 5, 10),
        // Behind from now on.
        (-50, -HOUR, 5 - HOUR),
    ] {
        let mut repository = repository(items(0..3));
        repository.items[2].stamp = now.plus(ahead);
        repository.clock.set(now.plus(ahead));
        let first = harvest(&repository, &plan(), State::default());
        repository.items[1].stamp = now.plus(changed);
        repository.clock.set(now.plus(again));
        let later = now.plus(again.max(10)).write(Granularity::Second);
        let second = harvest_at(&repository, &plan(), first.state, &later);
        assert!(second.held.contains_key("oai:r:1"), "{ahead} {changed} {again}");
        assert!(!second.held.contains_key("oai:r:0"), "not everything: {ahead} {changed} {again}");
        // From then on all is as it was.
        repository.items.iter_mut().for_each(|item| item.stamp = item.stamp.min(now.plus(changed)));
        repository.clock.set(now.plus(again + 120));
        let later = now.plus(again.max(10) + 120).write(Granularity::Second);
        assert_eq!(harvest_at(&repository, &plan(), second.state, &later).moved, 0);
    }
    // Where our own clock was as wrong, all is asked for.
    let repository = repository(items(0..3));
    repository.clock.set(now);
    let first = harvest(&repository, &plan(), State::default());
    repository.clock.set(now.plus(-YEARS));
    let earlier = now.plus(-YEARS).write(Granularity::Second);
    check_holds(&harvest_at(&repository, &plan(), first.state, &earlier), &repository.items);
}

#[test]
fn an_error_beside_records_is_a_word_of_warning() {
    let body = format!("{}{}", error("badArgument"), list_of(&items([1]), ""));
    let catch = harvest(&says(vec![body]), &plan(), State::default());
    assert_eq!((catch.held.len(), catch.codes()), (1, vec![Code::OaiProtocol]));
    assert!(catch.done().complete);
}

#[test]
fn refusals_stop_the_run() {
    for (code, resumable) in [
        ("badArgument", false),
        ("cannotDisseminateFormat", false),
        ("noSetHierarchy", false),
        ("badVerb", false),
    ] {
        let repository = says(vec![error(code)]);
        let failure = harvest(&repository, &plan(), State::default()).failure.unwrap();
        assert!(matches!(&failure.error, HarvestError::Refused { error, .. } if error.code == code));
        assert_eq!(failure.resumable, resumable);
        assert_eq!(repository.asked().len(), 2);
    }
}

#[test]
fn a_repository_that_accepts_days_only_gets_days() {
    let mut repository = repository(items(0..5));
    repository.granularity = Granularity::Day;
    let body = repository.envelope(&error("badArgument"));
    repository.trap = Box::new(move |asked| {
        let seconds = asked.get("from").is_some_and(|from| from.contains('T'));
        seconds.then(|| Ok(body.clone().into_bytes()))
    });
    let plan = Plan { since: Some(stamp("2023-01-03T12:00:00Z")), ..plan() };
    let catch = harvest(&repository, &plan, State::default());
    assert_eq!(catch.moved, 3);
    assert_eq!(catch.codes(), [Code::OaiProtocol]);
}

#[test]
fn what_is_no_repository_fails_with_what_it_is() {
    for (body, said) in
        [("<html><body>Please log in</body></html>", "web page"), ("", "empty"), ("hello", "no XML")]
    {
        let mut repository = repository(items(0..5));
        repository.trap = Box::new(move |_| Some(Ok(body.as_bytes().to_vec())));
        let failure = harvest(&repository, &plan(), State::default()).failure.unwrap();
        assert!(failure.error.to_string().contains(said), "{}", failure.error);
        assert!(failure.resumable);
        assert_eq!(repository.log.borrow().len(), 3);
    }
}

/// Faults of the connection keep the token, and the same command goes on with it.
#[test]
fn s0_11_a_failed_request_is_asked_again_and_nothing_else() {
    for kind in [
        FaultKind::Connect,
        FaultKind::RetryLater(std::time::SystemTime::UNIX_EPOCH),
        FaultKind::Cancelled,
        FaultKind::Status(429),
        FaultKind::Status(403),
    ] {
        let mut repository = repository(items(0..50));
        repository.trap = Box::new(move |asked| {
            let third = asked.get("resumptionToken").is_some_and(|token| token.contains("|20|"));
            third.then_some(Err(kind))
        });
        let first = harvest(&repository, &plan(), State::default());
        let failure = first.failure.as_ref().unwrap();
        assert_eq!(failure.resumable, kind != FaultKind::Status(403));
        assert_eq!(first.held.len(), 20);
        repository.trap = Box::new(|_| None);
        repository.forget_log();
        let second = harvest(&repository, &plan(), first.state);
        assert_eq!(repository.asked()[0], "ListRecords resumptionToken=0|20|||");
        assert_eq!(repository.asked().len(), 3);
        assert_eq!(first.held.len() + second.held.len(), 50);
        assert!(second.done().everything);
        assert_eq!(second.done().tally.records, 50);
    }
}

#[test]
fn a_repository_that_is_not_there_keeps_its_token() {
    let mut repository = repository(items(0..50));
    let broken = std::rc::Rc::new(Cell::new(false));
    let switch = std::rc::Rc::clone(&broken);
    repository.trap = Box::new(move |asked| {
        switch.set(switch.get() || asked.get("resumptionToken").is_some_and(|token| token.contains("|20|")));
        switch.get().then(|| Ok(b"<html>down for maintenance</html>".to_vec()))
    });
    let catch = harvest(&repository, &plan(), State::default());
    assert!(matches!(catch.failure.as_ref().unwrap().error, HarvestError::NotOai { .. }));
    repository.trap = Box::new(|_| None);
    repository.forget_log();
    harvest(&repository, &plan(), catch.state).done();
    assert_eq!(repository.asked()[0], "ListRecords resumptionToken=0|20|||");
}

#[test]
fn answers_that_are_broken_once_are_asked_for_again() {
    for broken in ["", "<html/>", "<OAI-PMH><ListRecords><record>"] {
        let mut repository = repository(items(0..50));
        let seen = Cell::new(0);
        repository.trap = Box::new(move |asked| {
            seen.set(seen.get() + 1);
            (seen.get() % 3 == 0 && asked["verb"] == "ListRecords").then(|| Ok(broken.as_bytes().to_vec()))
        });
        let catch = harvest(&repository, &plan(), State::default());
        check_holds(&catch, &repository.items);
        assert_eq!((catch.moved, catch.codes()), (50, vec![]));
    }
}

/// Does not accept the token to the records from this one on, some times.
fn expiring(items: Vec<Item>, at: u32, times: u32) -> Repository {
    let mut repository = repository(items);
    let left = Cell::new(times);
    let body = repository.envelope(&error("badResumptionToken"));
    repository.trap = Box::new(move |asked| {
        let expires = asked.get("resumptionToken").is_some_and(|token| token.contains(&format!("|{at}|")));
        (expires && left.get() > 0).then(|| {
            left.set(left.get() - 1);
            Ok(body.clone().into_bytes())
        })
    });
    repository
}

#[test]
fn after_an_expired_token_a_sorted_list_goes_on_from_its_last_datestamp() {
    let repository = expiring(items(0..50), 20, 1);
    let catch = harvest(&repository, &plan(), State::default());
    check_holds(&catch, &repository.items);
    assert_eq!(repository.asked()[3], "ListRecords resumptionToken=0|20|||");
    // The rest of the list is counted first: that it is in order is only a conclusion.
    assert_eq!(
        repository.asked()[4..6],
        ["ListIdentifiers from=2023-01-20T10:00:00Z", "ListRecords from=2023-01-20T10:00:00Z"]
    );
    // Nothing twice: the record of that very datestamp came again and was left out.
    assert_eq!((catch.moved, catch.done().tally.repeated), (50, 1));
    assert_eq!(catch.codes(), [Code::ListRestarted]);
    assert!(catch.done().everything);
}

/// Records 0, 1, 10, 11 … 19 are in the order of their datestamps, and 2 comes after them.
#[test]
fn a_list_that_seems_sorted_is_not_trusted_if_the_numbers_do_not_add_up() {
    let mut items = items(0..30);
    items.sort_by_key(|item| item.identifier.clone());
    let repository = expiring(items, 10, 1);
    let catch = harvest(&repository, &plan(), State::default());
    check_holds(&catch, &repository.items);
    assert!(repository.asked().iter().any(|asked| asked.starts_with("ListIdentifiers from=2023-01-18")));
    assert!(!repository.asked().iter().any(|asked| asked.starts_with("ListRecords from=")));
}

#[test]
fn after_an_expired_token_an_unsorted_list_begins_again() {
    for items in [items((0..50).map(|n| n * 17 % 50)), items(std::iter::repeat_n(0, 50))] {
        let mut items = items;
        // All with one datestamp prove no order either.
        items.iter_mut().enumerate().for_each(|(n, item)| item.identifier = format!("oai:r:{n}"));
        let repository = expiring(items, 20, 2);
        let catch = harvest(&repository, &plan(), State::default());
        check_holds(&catch, &repository.items);
        assert_eq!((catch.moved, catch.done().tally.repeated), (50, 40));
        assert!(repository.asked().iter().all(|asked| !asked.contains("from=")));
        assert!(catch.done().complete);
    }
}

#[test]
fn tokens_that_are_never_accepted_do_not_stop_a_harvest() {
    let mut repository = repository(items(0..60));
    repository.items.reverse();
    let body = repository.envelope(&error("badResumptionToken"));
    repository.trap =
        Box::new(move |asked| asked.contains_key("resumptionToken").then(|| Ok(body.clone().into_bytes())));
    let catch = harvest(&repository, &plan(), State::default());
    check_holds(&catch, &repository.items);
    assert!(catch.done().complete);
    assert_eq!(catch.moved, 60);
}

#[test]
fn a_token_may_be_refused_by_status() {
    let mut repository = repository(items(0..50));
    let once = Cell::new(true);
    repository.trap = Box::new(move |asked| {
        (asked.contains_key("resumptionToken") && once.replace(false)).then_some(Err(FaultKind::Status(410)))
    });
    let catch = harvest(&repository, &plan(), State::default());
    check_holds(&catch, &repository.items);
    assert_eq!(catch.codes(), [Code::ListRestarted]);
}

#[test]
fn an_error_of_the_protocol_may_come_with_a_status_that_is_none() {
    struct Strict(Repository);
    impl Transport for Strict {
        fn get(&self, url: &str) -> Result<Answer, Fault> {
            let answer = self.0.get(url)?;
            let detail = String::from_utf8(answer.body.clone()).unwrap();
            if detail.contains("<error") {
                let (kind, url) = (FaultKind::Status(404), url.to_owned());
                return Err(Fault { kind, url, detail: format!("not found: {detail}"), attempts: 1 });
            }
            Ok(answer)
        }
    }
    let mut harvest = Harvest::new(plan(), State::default(), NOW);
    let strict = Strict(repository(Vec::new()));
    assert!(matches!(harvest.next(&strict), Step::Page(_)));
    assert!(matches!(harvest.next(&strict), Step::Done(done) if done.complete));
}

/// Every list that holds this record fails, and so does the record itself.
fn with_a_bad_record(
    items: Vec<Item>,
    bad: &'static str,
    failing: fn(String) -> Result<Vec<u8>, FaultKind>,
) -> Repository {
    let mut outer = repository(items.clone());
    let inner = repository(items);
    outer.trap = Box::new(move |asked| {
        let answer = inner.answer(asked);
        let fails =
            asked["verb"] != "ListIdentifiers" && answer.contains(&format!("<identifier>{bad}</identifier>"));
        fails.then(|| failing(answer))
    });
    outer
}

/// What a server makes of an answer that has the bad record in it.
type Failing = fn(String) -> Result<Vec<u8>, FaultKind>;

fn failures() -> [Failing; 5] {
    [
        |_| Err(FaultKind::Status(500)),
        |_| Err(FaultKind::Truncated),
        |_| Ok(b"<html>Internal error</html>".to_vec()),
        |_| Ok(Vec::new()),
        // The answer breaks off inside of the bad record.
        |answer| Ok(answer.split("title 33").next().unwrap().as_bytes().to_vec()),
    ]
}

#[test]
fn one_bad_record_costs_itself_alone() {
    for failing in failures() {
        for step in [1, 0] {
            let mut items = items(0..60);
            if step == 0 {
                // All of one second: no window is smaller.
                let all = items[0].stamp;
                items.iter_mut().for_each(|item| item.stamp = all);
            }
            let repository = with_a_bad_record(items, "oai:r:33", failing);
            let catch = harvest(&repository, &plan(), State::default());
            let rest: Vec<Item> =
                repository.items.iter().filter(|item| item.identifier != "oai:r:33").cloned().collect();
            check_holds(&catch, &rest);
            assert_eq!(catch.moved, 59);
            let reject = &catch.rejects[..];
            assert_eq!(reject.len(), 1);
            assert_eq!(reject[0].identifier.as_deref(), Some("oai:r:33"));
            assert_eq!(reject[0].diagnostic.code, Code::UnfetchedRecord);
            let done = catch.done();
            assert!(done.complete && !done.everything);
            assert_eq!(done.tally.rejected, 1);
            // Halving takes steps, not a search through all dates.
            let requests = repository.log.borrow().len();
            assert!(requests < 220, "{requests}");
            assert_eq!(
                catch.state.owed,
                [Owed::Record(Wanted { identifier: "oai:r:33".to_owned(), runs: 1 })]
            );
        }
    }
}

#[test]
fn what_is_owed_is_asked_for_in_later_runs_until_it_comes() {
    let mut repository = with_a_bad_record(items(0..60), "oai:r:33", |_| Err(FaultKind::Status(500)));
    let mut state = harvest(&repository, &plan(), State::default()).state;
    for run in 2..4 {
        let again = harvest(&repository, &plan(), state);
        assert_eq!(again.rejects.len(), 1);
        assert_eq!(again.state.owed, [Owed::Record(Wanted { identifier: "oai:r:33".to_owned(), runs: run })]);
        state = again.state;
    }
    repository.trap = Box::new(|_| None);
    let last = harvest(&repository, &plan(), state.clone());
    assert_eq!(last.held.keys().collect::<Vec<_>>(), ["oai:r:33"]);
    assert_eq!(last.state.owed, []);
    // One that never comes is let go, and reported each time until then.
    let repository = with_a_bad_record(items(0..60), "oai:r:33", |_| Err(FaultKind::Status(500)));
    let mut rejects = 0;
    while !state.owed.is_empty() {
        let again = harvest(&repository, &plan(), state);
        rejects += again.rejects.len();
        state = again.state;
    }
    assert_eq!(rejects, 2);
}

#[test]
fn a_window_that_cannot_even_be_listed_is_reported_and_owed() {
    let mut repository = repository(items(0..40));
    let inner = self::repository(items(0..40));
    repository.trap = Box::new(move |asked| {
        let lists = asked["verb"].starts_with("List") && inner.answer(asked).contains("oai:r:13<");
        lists.then_some(Err(FaultKind::Status(503)))
    });
    let catch = harvest(&repository, &plan(), State::default());
    assert_eq!(catch.held.len(), 39);
    assert!(catch.codes().contains(&Code::ListIncomplete));
    let Owed::Window { window, runs: 1 } = &catch.state.owed[0] else { panic!() };
    assert_eq!(
        (window.from, window.until),
        (Some(repository.items[13].stamp), Some(repository.items[13].stamp))
    );
    repository.trap = Box::new(|_| None);
    let second = harvest(&repository, &plan(), catch.state);
    assert_eq!(second.held.keys().collect::<Vec<_>>(), ["oai:r:13"]);
}

/// Windows without records lie around the one that fails. Their answers are answers, and no end of
/// the failure: only a record is.
#[test]
fn empty_windows_do_not_end_a_failure() {
    let mut repository = repository(items([300]));
    let inner = self::repository(items([300]));
    repository.trap = Box::new(move |asked| {
        let lists = asked["verb"] == "ListRecords" && inner.answer(asked).contains("oai:r:300<");
        lists.then_some(Err(FaultKind::Timeout))
    });
    let mut harvest = Harvest::new(plan(), State::default(), NOW);
    assert!(!harvest.is_failing());
    let mut empty = 0;
    loop {
        let Step::Page(page) = harvest.next(&repository) else { panic!("no record came") };
        if !page.records.is_empty() {
            break;
        }
        empty += 1;
        assert!(harvest.is_failing() && harvest.is_answered());
    }
    assert!(empty > 10, "{empty}");
    assert!(!harvest.is_failing(), "the record came by itself");
}

#[test]
fn a_repository_that_fails_on_everything_is_left_alone() {
    let mut repository = repository(items(0..50));
    let third = Cell::new(false);
    repository.trap = Box::new(move |asked| {
        third.set(third.get() || asked.get("resumptionToken").is_some_and(|token| token.contains("|20|")));
        (third.get() && asked["verb"] != "Identify").then_some(Err(FaultKind::Status(500)))
    });
    let catch = harvest(&repository, &plan(), State::default());
    let failure = catch.failure.as_ref().unwrap();
    assert!(matches!(failure.error, HarvestError::Exhausted { failures: 40, .. }), "{:?}", failure.error);
    assert!(failure.resumable);
    assert!(repository.log.borrow().len() < 60);
    // And then everything is as it was, the token included.
    repository.trap = Box::new(|_| None);
    repository.forget_log();
    let second = harvest(&repository, &plan(), catch.state.clone());
    assert_eq!(repository.asked()[0], "ListRecords resumptionToken=0|20|||");
    assert_eq!(catch.held.len() + second.held.len(), 50);
}

#[test]
fn a_repository_that_ignores_dates_is_not_halved_for_ever() {
    let mut repository = repository(items(0..400));
    let inner = self::repository(items(0..400));
    repository.trap = Box::new(move |asked| {
        let mut asked = asked.clone();
        if asked.get("resumptionToken").is_some_and(|token| token.contains("|200|")) {
            return Some(Err(FaultKind::Status(500)));
        }
        asked.remove("from");
        asked.remove("until");
        Some(Ok(inner.answer(&asked).into_bytes()))
    });
    let catch = harvest(&repository, &plan(), State::default());
    assert!(!catch.done().complete);
    assert_eq!(catch.held.len(), 200);
    assert!(repository.log.borrow().len() < 200, "{}", repository.log.borrow().len());
}

#[test]
fn other_wishes_begin_anew() {
    let repository = repository(items(0..30));
    let first = harvest(&repository, &plan(), State::default());
    for other in [
        Plan { prefix: Some("mods".to_owned()), ..plan() },
        Plan { sets: vec!["even".to_owned()], ..plan() },
        Plan { full: true, ..plan() },
        Plan { from: Some(stamp("2023-01-10")), ..plan() },
    ] {
        let again = harvest(&repository, &other, first.state.clone());
        assert!(again.moved > 10, "{other:?}");
    }
    // A full run that was interrupted is finished by the next one, whatever its kind.
    let mut harvest = Harvest::new(Plan { full: true, ..plan() }, first.state, NOW);
    let Step::Page(page) = harvest.next(&repository) else { panic!() };
    repository.forget_log();
    Harvest::new(plan(), page.state.clone(), NOW).next(&repository);
    assert!(repository.asked()[0].contains("resumptionToken"));
    // An incremental one is dropped for a full one.
    let mut state = page.state;
    state.run.as_mut().unwrap().full = false;
    repository.forget_log();
    Harvest::new(Plan { full: true, ..plan() }, state, NOW).next(&repository);
    assert_eq!(repository.asked()[..2], ["Identify", "ListRecords"]);
}

/// Ctrl-C while the fault is looked into: that is what is said, and nothing has changed.
#[test]
fn a_harvest_that_is_stopped_while_it_recovers_is_as_before() {
    for stopped_at in ["Identify", "ListIdentifiers", "GetRecord"] {
        let mut repository = with_a_bad_record(items(0..60), "oai:r:33", |_| Err(FaultKind::Status(500)));
        let fails = std::mem::replace(&mut repository.trap, Box::new(|_| None));
        let seen = Cell::new(0);
        repository.trap = Box::new(move |asked| {
            let stop = asked["verb"] == stopped_at
                && seen.replace(seen.get() + 1) >= u32::from(stopped_at == "Identify");
            if stop { Some(Err(FaultKind::Cancelled)) } else { fails(asked) }
        });
        let first = harvest(&repository, &plan(), State::default());
        let HarvestError::Fault(fault) = &first.failure.as_ref().unwrap().error else { panic!() };
        assert_eq!(fault.kind, FaultKind::Cancelled);
        repository.trap = Box::new(|_| None);
        let second = harvest(&repository, &plan(), first.state);
        let mut held = first.held;
        held.extend(second.held);
        assert_eq!(held.len(), 60, "{stopped_at}");
    }
}

#[test]
fn an_identifier_that_cannot_be_asked_for_costs_itself_alone() {
    for kind in [FaultKind::BadUrl, FaultKind::Status(414), FaultKind::Status(404)] {
        let mut repository = repository(items(0..25));
        repository.trap = Box::new(move |asked| {
            (asked.get("identifier").map(String::as_str) == Some("oai:r:7")).then_some(Err(kind))
        });
        let catch = harvest(&repository, &Plan { one_by_one: true, ..plan() }, State::default());
        assert_eq!((catch.held.len(), catch.rejects.len()), (24, 1));
        assert!(catch.done().complete && catch.state.owed.is_empty());
    }
}

#[test]
fn windows_do_not_follow_a_clock_into_the_future() {
    let repository = repository(items(0..10));
    repository.clock.set(stamp("2999-01-01"));
    let catch = harvest(&repository, &Plan { window_days: Some(10), ..plan() }, State::default());
    check_holds(&catch, &repository.items);
    assert!(repository.log.borrow().len() < 100);
}

#[test]
fn a_run_from_a_later_date_leaves_the_mark_where_it_was() {
    let repository = repository(items(0..30));
    let since = |text| Plan { since: Some(stamp(text)), ..plan() };
    let later = harvest(&repository, &since("2023-01-20"), State::default());
    assert_eq!((later.moved, later.state.since), (11, None));
    let first = harvest(&repository, &plan(), State::default());
    repository.clock.set(stamp("2024-05-10"));
    let later = harvest(&repository, &since("2024-05-05"), first.state.clone());
    assert_eq!(later.state.since, first.state.since);
    let earlier = harvest(&repository, &since("2023-01-20"), first.state.clone());
    assert_eq!(earlier.state.since, Some(stamp("2024-05-10")));
    // One that was interrupted is not taken for an ordinary run.
    let mut interrupted = Harvest::new(since("2023-01-10"), first.state, NOW);
    let Step::Page(page) = interrupted.next(&repository) else { panic!() };
    repository.forget_log();
    harvest(&repository, &plan(), page.state);
    assert_eq!(repository.asked(), ["Identify", "ListRecords from=2024-05-01T00:00:00Z"]);
}

#[test]
fn an_overlap_asks_from_before_the_mark() {
    let repository = repository(items(0..3));
    let plan = Plan { overlap: 3600, ..plan() };
    let first = harvest(&repository, &plan, State::default());
    repository.forget_log();
    harvest(&repository, &plan, first.state);
    assert_eq!(repository.asked()[1], "ListRecords from=2024-04-30T23:00:00Z");
}

#[test]
fn a_list_may_be_described_before_it_is_over() {
    let repository = repository(items(0..25));
    let mut harvest = Harvest::new(plan(), State::default(), NOW);
    let Step::Page(page) = harvest.next(&repository) else { panic!() };
    assert_eq!(page.progress.complete_list_size, Some(25));
    assert_eq!(page.progress.received, 10);
    assert_eq!(page.progress.window.as_deref(), Some("all dates"));
    assert_eq!(page.url, "http://r.example/oai?verb=ListRecords&metadataPrefix=oai_dc");
    assert_eq!(page.state, *harvest.state());
    let Task::List(list) = &page.state.run.as_ref().unwrap().tasks[0] else { panic!() };
    assert_eq!(
        list.order,
        Order { noted: 10, ascents: 9, edge: 1, last: Some(repository.items[9].stamp), broken: false }
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Killed before any step and gone on from the state, a harvest holds the same, and
    /// nothing that was finished is asked for again.
    #[test]
    fn s0_11_a_killed_harvest_ends_as_an_undisturbed_one(
        count in 0..80_i64,
        page in 1..12_usize,
        reversed in any::<bool>(),
        window in prop::option::of(5..60_u32),
        sets in any::<bool>(),
        one_by_one in any::<bool>(),
        kills in prop::collection::vec(any::<bool>(), 1..40),
    ) {
        let mut items = items(0..count);
        items.iter_mut().for_each(|item| item.deleted = item.title.ends_with('7'));
        if reversed {
            items.reverse();
        }
        let mut repository = repository(items);
        repository.page = page;
        let sets = if sets { vec!["odd".to_owned(), "even".to_owned()] } else { Vec::new() };
        let plan = Plan { window_days: window, sets, one_by_one, ..plan() };
        let whole = harvest(&repository, &plan, State::default());
        let undisturbed = repository.asked();
        repository.forget_log();
        let mut kills = kills.into_iter().cycle();
        let killed = harvest_killed(&repository, &plan, State::default(), NOW, || kills.next().unwrap());
        prop_assert_eq!(&whole.held, &killed.held);
        prop_assert_eq!(&whole.state, &killed.state);
        prop_assert_eq!(whole.done().tally, killed.done().tally);
        prop_assert_eq!(undisturbed, repository.asked());
    }

    /// Whatever fails now and then, and however tokens expire, every record comes.
    #[test]
    fn nothing_is_lost_to_faults_that_pass(
        count in 1..80_i64,
        page in 1..12_usize,
        shuffled in any::<bool>(),
        faults in prop::collection::vec(0..12_u8, 1..30),
        kills in prop::collection::vec(any::<bool>(), 1..40),
    ) {
        let mut items = items(0..count);
        if shuffled {
            items.sort_by_key(|item| item.identifier.clone());
        }
        let mut repository = repository(items.clone());
        repository.page = page;
        let at = Cell::new(0);
        let expired = repository.envelope(&error("badResumptionToken"));
        repository.trap = Box::new(move |asked| {
            at.set(at.get() + 1);
            // In the end all is well, or the bad luck of a test would be for ever.
            if at.get() > 300 {
                return None;
            }
            match faults[at.get() % faults.len()] {
                0 => Some(Err(FaultKind::Status(500))),
                1 => Some(Err(FaultKind::Connect)),
                2 => Some(Ok(b"<html>".to_vec())),
                3 => Some(Ok(b"<OAI-PMH><ListRecords><record><header>".to_vec())),
                4 if asked.contains_key("resumptionToken") => Some(Ok(expired.clone().into_bytes())),
                _ => None,
            }
        });
        let mut kills = kills.into_iter().cycle();
        let mut state = State::default();
        let mut held = BTreeMap::new();
        for _ in 0..400 {
            let catch = harvest_killed(&repository, &plan(), state, NOW, || kills.next().unwrap());
            held.extend(catch.held);
            state = catch.state;
            if catch.done.is_some_and(|done| done.complete) && state.owed.is_empty() {
                break;
            }
        }
        prop_assert_eq!(held.len(), items.len());
    }
}
