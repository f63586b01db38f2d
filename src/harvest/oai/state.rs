//! Where a harvest is: all that must survive a kill.
//!
//! A state is small and stands on its own. Whoever keeps it together with the page it came
//! with can go on from there, and asks for nothing twice that was finished.

use super::plan::Plan;
use super::request::{Verb, Window};
use super::response::DeletedRecords;
use super::stamp::{Granularity, Stamp};
use serde::{Deserialize, Serialize};

/// What is known of a repository between requests and between runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// What the rest is true of.
    pub asked: Asked,
    /// The metadata prefix that was chosen, where none was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<String>,
    /// From here the next run asks: when the last complete run began, by the repository's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Stamp>,
    /// What earlier runs could not get.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owed: Vec<Owed>,
    /// The run under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
}

/// What a state depends on; with other wishes it is worth nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Asked {
    pub base_url: String,
    pub prefix: Option<String>,
    pub sets: Vec<String>,
    pub from: Option<Stamp>,
    pub until: Option<Stamp>,
}

impl Asked {
    pub(super) fn by(plan: &Plan) -> Self {
        Self {
            base_url: plan.base_url.clone(),
            prefix: plan.prefix.clone(),
            sets: plan.sets.clone(),
            from: plan.from,
            until: plan.until,
        }
    }
}

/// Something that a repository has and did not give.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Owed {
    Record(Wanted),
    Window { window: Window, runs: u32 },
}

/// A record that is fetched by its identifier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    pub identifier: String,
    /// In how many runs it was not given.
    #[serde(default)]
    pub runs: u32,
}

/// One pass over a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    pub prefix: String,
    pub granularity: Granularity,
    pub deleted_records: DeletedRecords,
    /// The repository's clock at its first answer.
    pub began: Option<Stamp>,
    /// The oldest datestamp, by the repository's word.
    pub earliest: Option<Stamp>,
    /// Where it asks from; nothing for everything.
    pub from: Option<Stamp>,
    /// What was asked for this once.
    pub since: Option<Stamp>,
    pub full: bool,
    /// What is left to do; the last comes first.
    pub tasks: Vec<Task>,
    pub tally: Tally,
    /// The newest datestamp so far.
    pub newest: Option<Stamp>,
    /// Something was not listed to its end, so the next run must ask for all of it again.
    pub incomplete: bool,
}

/// What was done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    pub pages: u64,
    /// Deleted ones among them.
    pub records: u64,
    pub deleted: u64,
    /// Records that came again unchanged and were left out.
    pub repeated: u64,
    pub rejected: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// All windows from here on.
    Windows {
        set: Option<String>,
        next: Option<Stamp>,
    },
    List(List),
    /// Records one by one, the first first.
    Records(Vec<Wanted>),
}

/// A list of records or identifiers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct List {
    pub verb: Verb,
    #[serde(flatten)]
    pub window: Window,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    #[serde(default)]
    pub pages: u64,
    #[serde(default)]
    pub received: u64,
    /// How long the repository says the list is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<u64>,
    #[serde(default)]
    pub restarts: u32,
    /// Pages in a row that brought nothing new.
    #[serde(default)]
    pub stale: u32,
    /// Hashes of the last tokens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<u64>,
    #[serde(default)]
    pub order: Order,
    /// Records whose datestamps are not in the window at all.
    #[serde(default)]
    pub strays: u64,
    /// In how many runs the window was asked for in vain.
    #[serde(default)]
    pub runs: u32,
    /// It is a part of a list that failed.
    #[serde(default)]
    pub part: bool,
}

impl List {
    /// Tokens that are remembered beyond a kill. A loop is mostly short; a longer one is found
    /// in its next turn.
    const TOKENS: usize = 16;

    pub fn new(verb: Verb, window: Window) -> Self {
        Self {
            verb,
            window,
            token: None,
            pages: 0,
            received: 0,
            expected: None,
            restarts: 0,
            stale: 0,
            tokens: Vec::new(),
            order: Order::default(),
            strays: 0,
            runs: 0,
            part: false,
        }
    }

    pub(super) fn go_on(&mut self, token: String, hash: u64) {
        if self.tokens.len() == Self::TOKENS {
            self.tokens.remove(0);
        }
        self.tokens.push(hash);
        self.token = Some(token);
    }

    /// The list as it was before its first page, from `from` on if that is given.
    pub(super) fn begin_again(&mut self, from: Option<Stamp>) {
        let mut window = self.window.clone();
        window.from = from.or(window.from);
        let restarts = if from.is_some() { 0 } else { self.restarts + 1 };
        *self = Self { restarts, runs: self.runs, part: self.part, ..Self::new(self.verb, window) };
    }

    /// Where the list might be begun again without losing anything: at the last datestamp, if
    /// it is in the order of datestamps and has come further than where it began.
    pub(super) fn resume_point(&self, granularity: Granularity) -> Option<Stamp> {
        let last = self.order.last?.floor(granularity);
        let further = self.window.from.is_none_or(|from| last > from.floor(granularity));
        let within = self.window.until.is_none_or(|until| last <= until);
        let evidence = if self.expected.is_some() { Order::SOME } else { Order::PLENTY };
        (self.order.is_ascending(evidence) && further && within).then_some(last)
    }

    /// Whether the records from a resume point on and those before it are all of the list.
    pub(super) fn adds_up(&self, rest: u64) -> bool {
        let before = self.order.noted.saturating_sub(self.order.edge);
        self.expected.is_none_or(|expected| before.saturating_add(rest) >= expected)
    }
}

/// Whether a list is in the order of its datestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Order {
    /// How many records it was judged by.
    pub noted: u64,
    /// A datestamp was less than the one before it, or none.
    pub broken: bool,
    /// How often one was greater.
    pub ascents: u32,
    pub last: Option<Stamp>,
    /// How many records are of the granule of the last.
    pub edge: u64,
}

impl Order {
    /// Enough where the length of the list can be checked.
    const SOME: u32 = 7;
    /// Enough where it cannot. Lists that are in another order, and in that of datestamps for
    /// a while, are not so for long: identifiers with running numbers, say.
    const PLENTY: u32 = 100;

    pub(super) fn note(&mut self, stamp: Option<Stamp>, granularity: Granularity) {
        self.noted += 1;
        let Some(stamp) = stamp else {
            self.broken = true;
            return;
        };
        let same = self.last.is_some_and(|last| last.floor(granularity) == stamp.floor(granularity));
        match self.last {
            Some(last) if stamp < last => self.broken = true,
            Some(last) if stamp == last => self.edge += 1,
            last => {
                self.ascents += u32::from(last.is_some());
                self.edge = if same { self.edge + 1 } else { 1 };
                self.last = Some(stamp);
            }
        }
    }

    fn is_ascending(&self, evidence: u32) -> bool {
        !self.broken && self.ascents >= evidence
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(stamps: impl IntoIterator<Item = i64>) -> Order {
        let mut order = Order::default();
        let second = Granularity::Second;
        stamps.into_iter().for_each(|stamp| order.note(Some(Stamp::from_seconds(stamp)), second));
        order
    }

    #[test]
    fn order_needs_evidence() {
        assert!(order(0..8).is_ascending(Order::SOME));
        assert!(!order(0..7).is_ascending(Order::SOME));
        assert!(!order([5; 100]).is_ascending(Order::SOME));
        assert!(!order((0..20).chain([3])).is_ascending(Order::SOME));
        let mut order = order(0..200);
        assert!(order.is_ascending(Order::PLENTY));
        order.note(None, Granularity::Second);
        assert!(!order.is_ascending(Order::SOME));
    }

    #[test]
    fn a_list_goes_on_where_it_was_if_it_came_further() {
        let mut list = List::new(Verb::ListRecords, Window::default());
        list.order = order(0..10);
        assert_eq!(list.resume_point(Granularity::Second), None);
        list.expected = Some(30);
        assert!(list.adds_up(21) && !list.adds_up(20));
        assert_eq!(list.resume_point(Granularity::Second), Some(Stamp::from_seconds(9)));
        list.window.from = Some(Stamp::from_seconds(9));
        assert_eq!(list.resume_point(Granularity::Second), None);
        list.window.from = Some(Stamp::from_seconds(5));
        assert_eq!(list.resume_point(Granularity::Day), None);
    }

    #[test]
    fn a_state_is_read_as_it_is_written() {
        let mut list =
            List::new(Verb::ListRecords, Window { set: Some("a".to_owned()), ..Window::default() });
        list.go_on("t".to_owned(), u64::MAX);
        list.order = order(0..3);
        let run = Run {
            prefix: "oai_dc".to_owned(),
            granularity: Granularity::Second,
            deleted_records: DeletedRecords::Persistent,
            began: Stamp::parse("2024-01-01T00:00:01Z"),
            earliest: None,
            from: None,
            since: None,
            full: true,
            tasks: vec![
                Task::Windows { set: None, next: Some(Stamp::EPOCH) },
                Task::Records(vec![Wanted { identifier: "x".to_owned(), runs: 1 }]),
                Task::List(list),
            ],
            tally: Tally { pages: 3, ..Tally::default() },
            newest: None,
            incomplete: false,
        };
        let state = State {
            since: Some(Stamp::EPOCH),
            owed: vec![Owed::Window { window: Window::default(), runs: 2 }],
            run: Some(run),
            ..State::default()
        };
        let json = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<State>(&json).unwrap(), state);
        assert_eq!(serde_json::from_str::<State>("{}").unwrap(), State::default());
    }
}
