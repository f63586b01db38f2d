//! What a repository is to be like, before it is served.

use super::clock::Clock;
use super::door::Door;
use super::fault::Fault;
use super::holdings::{DeletedRecord, Granularity, Order};
use super::plan::{Planned, When};
use super::request::Verb;
use super::serving::Serving;
use std::time::Duration;

/// The settings of a repository. Without any: 100 records in pages of 10, oai_dc and marc21,
/// sets, seconds, persistent deletions, tokens that never expire, no faults.
#[derive(Clone, Debug)]
pub struct Repository {
    pub(super) seed: u64,
    pub(super) records: usize,
    pub(super) deleted: usize,
    pub(super) page: usize,
    pub(super) page_of_sets: usize,
    pub(super) prefixes: Vec<String>,
    pub(super) dublin_core_only: Vec<usize>,
    pub(super) sets: bool,
    pub(super) granularity: Granularity,
    pub(super) deleted_record: DeletedRecord,
    pub(super) order: Order,
    pub(super) spread: u32,
    pub(super) totals: bool,
    pub(super) token_uses: Option<usize>,
    pub(super) token_lifetime: Option<Duration>,
    pub(super) gzip: bool,
    pub(super) clock: Clock,
    pub(super) door: Door,
    pub(super) delay: Duration,
    pub(super) trickle: Duration,
    pub(super) redirect_to: Option<String>,
    pub(super) robots: Option<(u16, String)>,
    pub(super) faults: Vec<Planned>,
    pub(super) tls: bool,
    pub(super) prerendered: Option<String>,
}

impl Repository {
    /// Whatever is not set follows from the seed.
    pub fn seeded(seed: u64) -> Self {
        Self {
            seed,
            records: 100,
            deleted: 0,
            page: 10,
            page_of_sets: usize::MAX,
            prefixes: vec!["oai_dc".to_owned(), "marc21".to_owned()],
            dublin_core_only: Vec::new(),
            sets: true,
            granularity: Granularity::Seconds,
            deleted_record: DeletedRecord::Persistent,
            order: Order::Datestamp,
            spread: 400,
            totals: true,
            token_uses: None,
            token_lifetime: None,
            gzip: false,
            clock: Clock::at("2024-06-01T12:00:00Z"),
            door: Door::Open,
            delay: Duration::ZERO,
            trickle: Duration::from_secs(5),
            redirect_to: None,
            robots: None,
            faults: Vec::new(),
            tls: false,
            prerendered: None,
        }
    }

    /// How many records there are, numbered from 1.
    pub fn records(self, records: usize) -> Self {
        Self { records, ..self }
    }

    /// How many of them are deleted from the start, spread evenly.
    pub fn deleted(self, deleted: usize) -> Self {
        Self { deleted, ..self }
    }

    /// Records or headers a page.
    pub fn page(self, page: usize) -> Self {
        assert!(page > 0, "a page holds at least one record");
        Self { page, ..self }
    }

    /// Sets a page; all of them if this is not called.
    pub fn page_of_sets(self, page_of_sets: usize) -> Self {
        assert!(page_of_sets > 0, "a page holds at least one set");
        Self { page_of_sets, ..self }
    }

    /// The metadata prefixes in the order they are listed, of `oai_dc`, `marc21`, `marcxml`
    /// and `mods`.
    pub fn prefixes(self, prefixes: &[&str]) -> Self {
        Self { prefixes: prefixes.iter().map(|prefix| (*prefix).to_owned()).collect(), ..self }
    }

    /// Records that exist as oai_dc and in no other format.
    pub fn dublin_core_only(self, numbers: &[usize]) -> Self {
        Self { dublin_core_only: numbers.to_vec(), ..self }
    }

    /// Whether there are sets.
    pub fn sets(self, sets: bool) -> Self {
        Self { sets, ..self }
    }

    pub fn granularity(self, granularity: Granularity) -> Self {
        Self { granularity, ..self }
    }

    /// The policy for deleted records.
    pub fn deleted_record(self, deleted_record: DeletedRecord) -> Self {
        Self { deleted_record, ..self }
    }

    /// In which order lists come. The protocol promises none.
    pub fn order(self, order: Order) -> Self {
        Self { order, ..self }
    }

    /// Over how many days before the clock's start the datestamps are spread; 0 puts all
    /// records into one second.
    pub fn spread(self, days: u32) -> Self {
        Self { spread: days, ..self }
    }

    /// Whether resumption tokens say `completeListSize` and `cursor`.
    pub fn totals(self, totals: bool) -> Self {
        Self { totals, ..self }
    }

    /// After how many uses of tokens a list is gone: every further one is answered with
    /// `badResumptionToken`.
    pub fn token_uses(self, uses: usize) -> Self {
        Self { token_uses: Some(uses), ..self }
    }

    /// How long tokens live by the repository's clock; they then say `expirationDate`.
    pub fn token_lifetime(self, lifetime: Duration) -> Self {
        Self { token_lifetime: Some(lifetime), ..self }
    }

    /// Compresses for whoever accepts it.
    pub fn gzip(self) -> Self {
        Self { gzip: true, ..self }
    }

    /// When the clock stands, e.g. `2024-06-01T12:00:00Z`. All seeded datestamps are earlier.
    pub fn clock(self, instant: &str) -> Self {
        Self { clock: Clock::at(instant), ..self }
    }

    /// Takes the time from the system.
    pub fn system_clock(self) -> Self {
        Self { clock: Clock::system(), ..self }
    }

    /// Who may harvest.
    pub fn door(self, door: Door) -> Self {
        Self { door, ..self }
    }

    /// How long every page of a list takes.
    pub fn delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// How long [`Fault::Trickle`] waits between two bytes; 5 seconds if this is not called.
    pub fn trickle(self, trickle: Duration) -> Self {
        Self { trickle, ..self }
    }

    /// Where [`Fault::RedirectToLoopback`] leads; port 19999 if this is not called.
    pub fn redirect_to(self, url: &str) -> Self {
        Self { redirect_to: Some(url.to_owned()), ..self }
    }

    /// What `/robots.txt` answers; 404 if this is not called.
    pub fn robots(self, status: u16, text: &str) -> Self {
        Self { robots: Some((status, text.to_owned())), ..self }
    }

    /// Lets something go wrong with `ListRecords`, as often as is [usual](Fault::usually) for it.
    /// Faults of one record go wrong wherever that record is given.
    pub fn fault(self, fault: Fault) -> Self {
        self.fault_when(fault, fault.usually())
    }

    /// Lets something go wrong with some requests for `ListRecords`.
    pub fn fault_when(self, fault: Fault, when: When) -> Self {
        self.fault_on(Verb::ListRecords, fault, when)
    }

    /// Lets something go wrong with some requests for a verb.
    pub fn fault_on(mut self, verb: Verb, fault: Fault, when: When) -> Self {
        self.faults.push(Planned { fault, when, verb });
        self
    }

    /// Serves over TLS, with a certificate made for the occasion, and at a second port without.
    pub fn tls(self) -> Self {
        Self { tls: true, ..self }
    }

    /// Renders every page of the full list of a prefix beforehand, so that the server takes
    /// next to no time beside the harvester that is measured. Changes, faults and delays do not
    /// reach these pages, and the log counts their records without naming them.
    pub fn prerendered(self, prefix: &str) -> Self {
        Self { prerendered: Some(prefix.to_owned()), ..self }
    }

    /// The repository for benches: 20,000 records in pages of 100, rendered beforehand.
    pub fn bench(prefix: &str) -> Self {
        Self::seeded(1).records(20_000).page(100).prefixes(&[prefix]).prerendered(prefix)
    }

    /// Serves on a free loopback port.
    pub fn serve(self) -> Serving {
        self.serve_on(0)
    }

    /// Serves on this loopback port.
    pub fn serve_on(self, port: u16) -> Serving {
        Serving::start(self, port)
    }
}
