//! How long a source is borne with that gives nothing, by a clock that runs a thousand times as
//! fast as ours.

use super::repository::{Fault, Repository, Serving, Verb, When};
use pinakes::config::Home;
use pinakes::fetch::{Access, Cancelled, Clock, Fetcher, Options, Retries};
use pinakes::harvest::oai::{Plan, Stamp};
use pinakes::pipeline::{self, Course, End, HarvestRequest, Harvested, Unwatched};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

const FASTER: u32 = 1000;

struct FastClock(Instant);

impl Clock for FastClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed() * FASTER
    }

    fn wait(&self, time: Duration, cancel: &AtomicBool) -> Result<(), Cancelled> {
        std::thread::sleep(time / FASTER);
        if cancel.load(Ordering::Relaxed) { Err(Cancelled) } else { Ok(()) }
    }
}

/// Harvests into a catalogue. One attempt may take 200 ms, which are 200 seconds by the clock, and
/// a page 600.
fn harvest(catalogue: &Path, serving: &Serving) -> Harvested {
    harvest_from(catalogue, serving, None, Retries::default().attempts)
}

/// The same from a date on, with so many attempts for a request.
fn harvest_from(catalogue: &Path, serving: &Serving, from: Option<Stamp>, attempts: u32) -> Harvested {
    let mut access = Access { respect_robots: false, ..Access::default() };
    access.allow_private = vec![serving.authority().to_owned()];
    access.timeouts.total = Duration::from_millis(200);
    access.retries.patience = Some(Duration::from_secs(600));
    access.retries.attempts = attempts;
    let base_url = serving.url().to_owned();
    let plan = Plan { base_url, prefix: Some("oai_dc".to_owned()), from, ..Plan::default() };
    let course = Course { source: "repo".to_owned(), plan, access, content_type: None };
    let clock = Arc::new(FastClock(Instant::now()));
    let fetcher = Fetcher::new(Options { clock, ..Options::default() }).unwrap();
    let now = || "2026-01-01T00:00:00Z".to_owned();
    let request =
        HarvestRequest { courses: vec![course], archive_only: true, clock: &now, cancel: Arc::default() };
    let home = Home::open(catalogue).unwrap();
    pipeline::harvest(home, &request, &fetcher, &mut Unwatched).unwrap().remove(0)
}

#[test]
fn a_source_that_gives_nothing_is_given_up_and_taken_up_again() {
    // How many requests fit into the time of one page, whatever they are for.
    let most = 12;
    for (verb, fault) in [
        (Verb::ListRecords, Fault::Trickle),
        (Verb::Identify, Fault::Trickle),
        (Verb::ListRecords, Fault::TimeoutBody),
        (Verb::ListRecords, Fault::GzipBomb),
    ] {
        let repository = Repository::seeded(5).records(30).page(10).trickle(Duration::from_millis(20));
        let serving = repository.fault_on(verb, fault, When::Always).serve();
        let folder = tempfile::tempdir().unwrap();
        let catalogue = folder.path().join("catalogue");
        Home::create(&catalogue, "https://catalogue.example/").unwrap();
        pipeline::Session::write(Home::open(&catalogue).unwrap(), &mut Unwatched).unwrap();
        let harvested = harvest(&catalogue, &serving);
        let End::Failed { reason, resumable } = &harvested.end else { panic!("{fault:?}: {harvested:?}") };
        assert!(*resumable, "{fault:?}: {reason}");
        assert!(serving.log().len() <= most, "{fault:?}: {} requests", serving.log().len());
        if fault != Fault::GzipBomb {
            assert!(reason.contains("was given up after ") && reason.contains("took too long"), "{reason}");
        }
        assert_eq!(harvested.summary.diagnostics.get("source-failed"), Some(&1), "{fault:?}");
        serving.heal();
        let again = harvest(&catalogue, &serving);
        assert_eq!((again.end, again.summary.records), (End::Complete, 30), "{fault:?}");
    }
}

/// All records are of one second, behind ten years without any: of every two halves the first is
/// answered by nothing, and the second one trickles.
#[test]
fn a_source_that_gives_nothing_in_between_is_given_up_as_well() {
    let trickling = Repository::seeded(5).records(30).page(10).spread(0).trickle(Duration::from_millis(20));
    let serving = (1..100)
        .step_by(2)
        .fold(trickling, |repository, number| {
            repository.fault_on(Verb::ListRecords, Fault::Trickle, When::Once(number))
        })
        .serve();
    let folder = tempfile::tempdir().unwrap();
    let catalogue = folder.path().join("catalogue");
    Home::create(&catalogue, "https://catalogue.example/").unwrap();
    pipeline::Session::write(Home::open(&catalogue).unwrap(), &mut Unwatched).unwrap();
    let from = Stamp::parse("2014-06-01T00:00:00Z");
    let harvested = harvest_from(&catalogue, &serving, from, 1);
    let End::Failed { reason, resumable: true } = &harvested.end else { panic!("{harvested:?}") };
    assert!(reason.contains("was given up after "), "{reason}");
    let asked = serving.requests(Verb::ListRecords).len();
    assert!((4..=9).contains(&asked), "{asked} lists were asked for");
    serving.heal();
    let again = harvest_from(&catalogue, &serving, from, 1);
    assert_eq!((again.end, again.summary.records), (End::Complete, 30));
}
