//! A harvest as a machine: one step at a time, each with the state after it.
//!
//! ```text
//! Identify, ListMetadataFormats      once a run
//! then a stack of tasks, the last first:
//!   Windows   cut off the next window            -> List
//!   List      ListRecords or ListIdentifiers     -> itself, by its token; Records
//!   Records   GetRecord, one by one
//! ```
//!
//! What goes wrong with a list is in [`recover`](super::recover).

use super::ask::{Trouble, ask, ask_list, said};
use super::error::HarvestError;
use super::formats;
use super::header::Header;
use super::memory::{Memory, hash};
use super::plan::Plan;
use super::request::{Request, Verb, Window};
use super::response::{DeletedRecords, Identify, Record, Reject, Response, ResumptionToken};
use super::stamp::Stamp;
use super::state::{Asked, List, Owed, Run, State, Tally, Task, Wanted};
use crate::diagnostic::{Code, Diagnostic};
use crate::fetch::Transport;
use rustc_hash::FxHashMap;

/// Of more identifiers on one page that stand twice nothing is said.
const DUPLICATES_SHOWN: usize = 16;
/// Beyond this a clock that runs ahead is worth a word.
const CLOCK_TOLERANCE: i64 = 60 * 60;
/// So many seconds a mark may lie in our future. Repositories that change quickly date a little
/// ahead; the more is believed, the more is lost when a clock is set right.
const AHEAD: i64 = 60;

/// A harvest under way.
pub struct Harvest {
    pub(super) plan: Plan,
    pub(super) state: State,
    /// The caller's clock.
    pub(super) now: Option<Stamp>,
    pub(super) memory: Memory,
    /// What is to be said with the next step.
    pub(super) notices: Vec<Diagnostic>,
}

/// What a step brings. The state in it is the one after the step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// To be kept together with its state before the next step.
    Page(Box<Page>),
    Done(Box<Done>),
    Failed(Box<Failure>),
}

/// The answer to one request, or to a few for single records. It may hold nothing: then
/// something was finished that need not be asked for again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub url: String,
    /// In the order in which they are to be taken: of two with one identifier the later is last.
    pub records: Vec<Record>,
    pub rejects: Vec<Reject>,
    pub notices: Vec<Diagnostic>,
    pub progress: Progress,
    pub state: State,
}

/// How far it is, as far as one can believe the repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Progress {
    /// Of this run.
    pub tally: Tally,
    /// Of the list under way.
    pub received: u64,
    pub complete_list_size: Option<u64>,
    pub window: Option<String>,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Everything that was to be listed was listed to its end. If not, the next run asks for
    /// the same again.
    pub complete: bool,
    /// It was the whole repository, and all of it could be taken: what this run did not bring
    /// is not there any more.
    pub everything: bool,
    pub deleted_records: DeletedRecords,
    pub tally: Tally,
    pub notices: Vec<Diagnostic>,
    pub state: State,
}

/// The run stopped, and goes on from the state when it is called again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub error: HarvestError,
    /// Whether that may help without anybody changing anything.
    pub resumable: bool,
    pub notices: Vec<Diagnostic>,
    pub state: State,
}

impl Harvest {
    /// Goes on from a state, or begins where there is none. `now` is the current time, RFC 3339.
    pub fn new(plan: Plan, mut state: State, now: &str) -> Self {
        let asked = Asked::by(&plan);
        if state.asked != asked {
            state = State { asked, ..State::default() };
        }
        // A run for another purpose is dropped; its mark was not moved, so nothing is skipped.
        state.run.take_if(|run| (plan.full && !run.full) || plan.since != run.since);
        Self { plan, state, now: Stamp::parse(now), memory: Memory::default(), notices: Vec::new() }
    }

    /// Where it is.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Whether a request failed, and another way to what it did not bring is being tried: until a
    /// record comes. That there is nothing elsewhere does not end it.
    pub fn is_failing(&self) -> bool {
        self.memory.is_fruitless
    }

    /// Whether the last request was answered, if only by nothing.
    pub fn is_answered(&self) -> bool {
        self.memory.failures == 0
    }

    /// Does one step: mostly one request.
    pub fn next(&mut self, transport: &dyn Transport) -> Step {
        let mut run = match self.state.run.take().map_or_else(|| self.begin(transport), Ok) {
            Ok(run) => run,
            Err(error) => return self.fail(error),
        };
        match self.proceed(&mut run, transport) {
            Ok(Some(mut page)) => {
                self.state.run = Some(run);
                page.notices.append(&mut self.notices);
                page.state = self.state.clone();
                Step::Page(Box::new(page))
            }
            Ok(None) => self.finish(run),
            Err(error) => {
                // With another format it is another run.
                let format_refused = matches!(&error, HarvestError::Refused { error, .. }
                    if error.code == "cannotDisseminateFormat");
                if format_refused {
                    self.state.chosen = None;
                } else {
                    self.state.run = Some(run);
                }
                self.fail(error)
            }
        }
    }

    fn fail(&mut self, error: HarvestError) -> Step {
        Step::Failed(Box::new(Failure {
            resumable: error.may_pass(),
            error,
            notices: std::mem::take(&mut self.notices),
            state: self.state.clone(),
        }))
    }

    /// Begins a run: what kind of repository is it, and what is to be asked?
    fn begin(&mut self, transport: &dyn Transport) -> Result<Run, HarvestError> {
        let url = Request::Identify.url(&self.plan.base_url);
        let response = ask(transport, &url, Verb::Identify, self.plan.limits.attempts)
            .map_err(|trouble| trouble.into_error(&url))?;
        let began = response.response_date.as_deref().and_then(Stamp::parse);
        let identify = self.identified(&response, began);
        let granularity = self.plan.granularity.or(identify.granularity()).unwrap_or_default();
        let prefix = self.prefix(transport)?;
        let Plan { full, since, from, .. } = self.plan;
        let mark = self.mark(began).map(|mark| mark.plus(-i64::from(self.plan.overlap)));
        let start = match (full, since) {
            (true, _) => from,
            (false, Some(since)) => Some(since),
            // Of two beginnings the later; nothing is before everything.
            (false, None) => mark.max(from),
        };
        let mut run = Run {
            prefix,
            granularity,
            deleted_records: identify.deleted_records(),
            began,
            earliest: identify.earliest_datestamp.as_deref().and_then(Stamp::parse),
            from: start,
            since,
            full: full || start == from,
            tasks: Vec::new(),
            tally: Tally::default(),
            newest: None,
            incomplete: false,
        };
        let sets = if self.plan.sets.is_empty() {
            vec![None]
        } else {
            self.plan.sets.iter().cloned().map(Some).collect()
        };
        run.tasks.extend(sets.into_iter().rev().map(|set| match self.plan.window_days {
            Some(_) => Task::Windows { set, next: start },
            None => {
                let window = Window { set, from: start, until: self.plan.until };
                Task::List(List::new(self.plan.verb(), window))
            }
        }));
        let owed = std::mem::take(&mut self.state.owed);
        if !run.full {
            self.ask_for_what_is_owed(&mut run, owed);
        }
        Ok(run)
    }

    /// Before which nothing has changed since the last complete run.
    fn mark(&self, began: Option<Stamp>) -> Option<Stamp> {
        let since = self.state.since?;
        let (Some(began), Some(now)) = (began, self.now) else { return Some(since) };
        if began >= since {
            return Some(since);
        }
        // The repository's clock was set back, and what changed after that is dated before the mark:
        // by what the clock shows now, less the time since the last run at most. If our own clock
        // went back, too, nobody knows how much time that is, and all is asked for.
        let passed = now.seconds() - since.plus(-AHEAD).seconds();
        (passed >= 0).then(|| began.plus(-passed))
    }

    /// What the repository says of itself, and what is odd about it.
    fn identified(&mut self, response: &Response, began: Option<Stamp>) -> Identify {
        let identify = response.identify.clone().unwrap_or_default();
        let mut odd = Vec::new();
        odd.extend(response.errors.first().map(|error| format!("`Identify` is answered by {}", said(error))));
        if identify.granularity().is_none() && self.plan.granularity.is_none() {
            let words = identify.granularity.as_deref().unwrap_or_default();
            odd.push(format!(
                "`{words}` is no granularity; days are used, which all repositories understand"
            ));
        }
        if began.is_none() {
            odd.push("the answer has no `responseDate` that makes sense".to_owned());
        }
        if let (Some(began), Some(now)) = (began, self.now)
            && began.seconds() - now.seconds() > CLOCK_TOLERANCE
        {
            let stamp = response.response_date.as_deref().unwrap_or_default();
            odd.push(format!("the repository's clock runs ahead: it says `{stamp}`"));
        }
        self.notices.extend(odd.into_iter().map(|message| Diagnostic::new(Code::OaiProtocol, message)));
        self.notices.extend(response.notices.iter().cloned());
        identify
    }

    /// The metadata prefix: the one asked for, the one of earlier runs, the best there is.
    fn prefix(&mut self, transport: &dyn Transport) -> Result<String, HarvestError> {
        if let Some(prefix) = self.plan.prefix.as_ref().or(self.state.chosen.as_ref()) {
            return Ok(prefix.clone());
        }
        let url = Request::ListMetadataFormats.url(&self.plan.base_url);
        let response = ask(transport, &url, Verb::ListMetadataFormats, self.plan.limits.attempts)
            .map_err(|trouble| trouble.into_error(&url))?;
        match (formats::choose(&response.formats), response.errors.into_iter().next()) {
            (Some(choice), _) => {
                self.state.chosen = Some(choice.prefix.clone());
                Ok(choice.prefix)
            }
            (None, Some(error)) => Err(HarvestError::Refused { url, error }),
            (None, None) => Err(HarvestError::NoFormat { url }),
        }
    }

    fn ask_for_what_is_owed(&self, run: &mut Run, owed: Vec<Owed>) {
        let mut records = Vec::new();
        for owed in owed {
            match owed {
                Owed::Record(wanted) => records.push(wanted),
                Owed::Window { window, runs } => {
                    run.tasks.push(Task::List(List { runs, ..List::new(self.plan.verb(), window) }));
                }
            }
        }
        if !records.is_empty() {
            run.tasks.push(Task::Records(records));
        }
    }

    /// Works off tasks until there is something to hand over.
    fn proceed(&mut self, run: &mut Run, transport: &dyn Transport) -> Result<Option<Page>, HarvestError> {
        while let Some(task) = run.tasks.last() {
            let page = match task {
                Task::Windows { .. } => {
                    self.next_window(run);
                    None
                }
                Task::List(_) => self.list(run, transport)?,
                Task::Records(wanted) if wanted.is_empty() => {
                    run.tasks.pop();
                    None
                }
                Task::Records(_) => self.one_by_one(run, transport)?,
            };
            if page.is_some() {
                return Ok(page);
            }
        }
        Ok(None)
    }

    /// Cuts the next window off those that are to come. The first and the last are open, as
    /// far as the plan allows: what a repository says of its oldest record may be wrong.
    fn next_window(&self, run: &mut Run) {
        let Some(Task::Windows { set, next }) = run.tasks.pop() else { return };
        let from = next.or(run.from);
        let (lower, upper) = self.bounds(run);
        let start = from.unwrap_or(lower).floor(run.granularity);
        let days = self.plan.window_days.map(|days| i64::from(days.max(1)));
        let after = days.map(|days| start.plus(days * 86_400));
        let until = match after.filter(|after| *after <= self.plan.until.unwrap_or(upper)) {
            Some(after) => {
                run.tasks.push(Task::Windows { set: set.clone(), next: Some(after) });
                Some(after.plus(-run.granularity.granule()))
            }
            None => self.plan.until,
        };
        let window = Window { set, from, until };
        run.tasks.push(Task::List(List::new(self.plan.verb(), window)));
    }

    /// Between what datestamps the records are, most probably.
    pub(super) fn bounds(&self, run: &Run) -> (Stamp, Stamp) {
        let lower = run.from.or(run.earliest).unwrap_or(Stamp::EPOCH).max(Stamp::EPOCH);
        let upper = run.began.into_iter().chain(self.now).min().unwrap_or(lower);
        (lower, upper.max(lower))
    }

    /// Asks for the next part of a list.
    fn list(&mut self, run: &mut Run, transport: &dyn Transport) -> Result<Option<Page>, HarvestError> {
        let Some(Task::List(list)) = run.tasks.last() else { return Ok(None) };
        if list.token.is_none() {
            self.memory.begin_list();
        }
        let verb = list.verb;
        let request = match &list.token {
            Some(token) => Request::Resume { verb, token },
            None => Request::List {
                verb,
                prefix: &run.prefix,
                window: &list.window,
                granularity: run.granularity,
            },
        };
        let url = request.url(&self.plan.base_url);
        // While a fault is being narrowed down, asking once does.
        let attempts = if list.part { 1 } else { self.plan.limits.attempts };
        match ask_list(transport, &url, verb, list.token.is_some(), attempts) {
            Ok(response) => Ok(Some(self.take(run, url, response))),
            Err(trouble) => self.recover(run, transport, &url, trouble),
        }
    }

    /// Takes a whole answer.
    fn take(&mut self, run: &mut Run, url: String, mut response: Response) -> Page {
        self.memory.succeeded();
        let token = response.token.take();
        let headers = std::mem::take(&mut response.headers);
        let count = response.records.len() + response.rejects.len() + headers.len();
        let mut fresh = false;
        let mut identifiers = Vec::new();
        let mut nameless = 0;
        for header in headers {
            note_stamp(run, &header);
            let Some(identifier) = header.identifier else {
                nameless += 1;
                continue;
            };
            fresh |= self.memory.is_new(identifier.as_bytes());
            // A list that broke off has given some of its records already.
            if !self.memory.has(&identifier, header.datestamp.as_deref()) {
                identifiers.push(Wanted { identifier, runs: 0 });
            }
        }
        if nameless > 0 {
            let message = format!("{nameless} headers have no identifier; their records cannot be fetched");
            self.notices.push(Diagnostic::new(Code::UnfetchedRecord, message));
            run.tally.rejected += nameless;
        }
        // What is said beside a list is a word of warning; instead of one it was judged before.
        for error in response.errors.iter().filter(|_| response.verb.is_some()) {
            let message = format!("the answer holds a list and the error {}", said(error));
            self.notices.push(Diagnostic::new(Code::OaiProtocol, message));
        }
        let mut page = self.deliver(run, url, response);
        let fresh = fresh || std::mem::take(&mut page.fresh);
        self.follow(run, token, count as u64, fresh);
        if !identifiers.is_empty() {
            run.tasks.push(Task::Records(identifiers));
        }
        page.progress(run)
    }

    /// Readies the records of an answer to be handed over.
    pub(super) fn deliver(&mut self, run: &mut Run, url: String, response: Response) -> Undone {
        let mut records = response.records;
        let mut fresh = false;
        for record in &records {
            note_stamp(run, &record.header);
            let identifier = record.header.identifier.as_deref().unwrap_or_default();
            fresh |= self.memory.is_new(identifier.as_bytes());
        }
        let mut notices = response.notices;
        settle_duplicates(&mut records, &mut notices);
        let before = records.len();
        records.retain(|record| self.memory.is_first(record));
        run.tally.pages += 1;
        run.tally.repeated += (before - records.len()) as u64;
        run.tally.records += records.len() as u64;
        run.tally.deleted += records.iter().filter(|record| record.header.deleted).count() as u64;
        run.tally.rejected += response.rejects.len() as u64;
        if !records.is_empty() || !response.rejects.is_empty() {
            self.memory.is_fruitless = false;
        }
        // A reject is nothing new, but it is not the same page again either.
        fresh |= !response.rejects.is_empty() && before == 0;
        Undone { url, records, rejects: response.rejects, notices, fresh }
    }

    /// Goes on by the token, or ends the list.
    fn follow(&mut self, run: &mut Run, token: Option<ResumptionToken>, count: u64, fresh: bool) {
        let Some(Task::List(list)) = run.tasks.last_mut() else { return };
        list.pages += 1;
        list.received += count;
        list.stale = if fresh { 0 } else { list.stale + 1 };
        let token = token.unwrap_or_default();
        list.expected = token.complete_list_size.or(list.expected);
        if token.text.is_empty() {
            // Some count from the cursor, whatever it says.
            let received = token.cursor.unwrap_or_default().saturating_add(count).max(list.received);
            if let Some(expected) = list.expected.filter(|expected| *expected > received) {
                let message =
                    format!("the list ends after {received} records; the repository said it had {expected}");
                self.notices.push(Diagnostic::new(Code::OaiProtocol, message));
            }
            run.tasks.pop();
            return;
        }
        let hash = hash(&token.text);
        let known = list.tokens.contains(&hash) || !self.memory.is_new_token(hash);
        let reason = if token.too_long {
            "its resumption token is too long to be sent back".to_owned()
        } else if known {
            format!("it goes in circles: the token `{}` came before", shown(&token.text))
        } else if list.stale >= self.plan.limits.stale_pages {
            format!("it goes in circles: {} pages in a row brought nothing new", list.stale)
        } else {
            list.go_on(token.text, hash);
            return;
        };
        let window = list.window.describe(run.granularity);
        let (pages, received) = (list.pages, list.received);
        let message =
            format!("the list of {window} was left after {pages} pages and {received} records: {reason}");
        self.notices.push(
            Diagnostic::new(Code::ListIncomplete, message).hint(
                "the next harvest asks for all of it again; a date window (`window`) may avoid the fault",
            ),
        );
        run.incomplete = true;
        run.tasks.pop();
    }

    /// Fetches records by their identifiers, some at a time.
    fn one_by_one(&mut self, run: &mut Run, transport: &dyn Transport) -> Result<Option<Page>, HarvestError> {
        let Some(Task::Records(wanted)) = run.tasks.last_mut() else { return Ok(None) };
        // What is left is written down after each batch, so a long list is done in larger ones.
        let batch = self.plan.limits.batch.max(wanted.len() / 100).max(1);
        let rest = wanted.split_off(wanted.len().min(batch));
        let mut batch = std::mem::replace(wanted, rest).into_iter();
        let mut page: Option<Undone> = None;
        while let Some(next) = batch.next() {
            let request = Request::GetRecord { identifier: &next.identifier, prefix: &run.prefix };
            let url = request.url(&self.plan.base_url);
            let answer = ask_list(transport, &url, Verb::GetRecord, false, self.plan.limits.attempts);
            let got = match answer {
                Ok(response) => {
                    self.memory.succeeded();
                    self.deliver(run, url, response)
                }
                Err(Trouble::Refused(error)) if error.code == "idDoesNotExist" => {
                    self.memory.succeeded();
                    let message = format!("`{}` is listed, and does not exist", shown(&next.identifier));
                    self.notices.push(Diagnostic::new(Code::OaiProtocol, message));
                    continue;
                }
                Err(trouble) => match self.lose_record(run, transport, &url, next.clone(), trouble) {
                    Ok(lost) => lost,
                    Err(error) => {
                        // Nothing that was not done is forgotten.
                        if let Some(Task::Records(wanted)) = run.tasks.last_mut() {
                            wanted.splice(0..0, std::iter::once(next).chain(batch));
                        }
                        return match page {
                            Some(page) => Ok(Some(page.progress(run))),
                            None => Err(error),
                        };
                    }
                },
            };
            match &mut page {
                Some(page) => page.append(got),
                None => page = Some(got),
            }
        }
        let page = page.unwrap_or_default();
        Ok(Some(page.progress(run)))
    }

    /// Ends the run.
    fn finish(&mut self, run: Run) -> Step {
        let complete = !run.incomplete;
        let all = run.full && self.plan.from.is_none() && self.plan.until.is_none();
        // What was skipped by a later beginning must not be skipped for good.
        let leaves_no_gap = run.full || run.since.is_none() || self.state.since >= run.since;
        if complete && leaves_no_gap && self.plan.until.is_none() {
            // The repository's clock is believed ahead of ours as far as its records are dated by it,
            // and a little at most: who dates answers by one clock and records by another must lose
            // nothing, and a clock that is wrong is set right one day.
            let seen = run.began.and(run.newest).map(|newest| newest.plus(1)).max(self.state.since);
            let believed = |now: Stamp| seen.map_or(now, |seen| seen.clamp(now, now.plus(AHEAD)));
            let mark = run.began.or(run.newest);
            let mark = mark.map(|mark| self.now.map_or(mark, |now| mark.min(believed(now))));
            self.state.since = mark.or(self.state.since);
        }
        Step::Done(Box::new(Done {
            complete,
            everything: complete && all && run.tally.rejected == 0 && self.state.owed.is_empty(),
            deleted_records: run.deleted_records,
            tally: run.tally,
            notices: std::mem::take(&mut self.notices),
            state: self.state.clone(),
        }))
    }
}

/// A page before its state is known.
#[derive(Debug, Default)]
pub(super) struct Undone {
    url: String,
    records: Vec<Record>,
    pub rejects: Vec<Reject>,
    notices: Vec<Diagnostic>,
    /// It has an identifier that the list did not have before.
    fresh: bool,
}

impl Undone {
    fn append(&mut self, mut other: Self) {
        self.records.append(&mut other.records);
        self.rejects.append(&mut other.rejects);
        self.notices.append(&mut other.notices);
    }

    pub fn rejected(url: &str, reject: Reject) -> Self {
        Self { url: url.to_owned(), rejects: vec![reject], ..Self::default() }
    }

    pub fn progress(self, run: &Run) -> Page {
        let mut progress = Progress { tally: run.tally, ..Progress::default() };
        let list = run.tasks.iter().rev().find_map(|task| match task {
            Task::List(list) => Some(list),
            Task::Windows { .. } | Task::Records(_) => None,
        });
        if let Some(list) = list {
            progress.received = list.received;
            progress.complete_list_size = list.expected;
            progress.window = Some(list.window.describe(run.granularity));
        }
        Page {
            url: self.url,
            records: self.records,
            rejects: self.rejects,
            notices: self.notices,
            progress,
            state: State::default(),
        }
    }
}

/// Follows the datestamps of a list.
fn note_stamp(run: &mut Run, header: &Header) {
    let stamp = header.datestamp.as_deref().and_then(Stamp::parse);
    run.newest = run.newest.max(stamp);
    let granularity = run.granularity;
    if let Some(Task::List(list)) = run.tasks.last_mut() {
        list.order.note(stamp, granularity);
        list.strays += u64::from(stamp.is_some_and(|stamp| list.window.is_far_from(stamp)));
    }
}

/// Of two records with one identifier the one with the later datestamp is to come last: that
/// is the one that counts.
fn settle_duplicates(records: &mut [Record], notices: &mut Vec<Diagnostic>) {
    let mut last: FxHashMap<&str, usize> = FxHashMap::default();
    let mut swaps = Vec::new();
    let stamp = |record: &Record| record.header.datestamp.as_deref().and_then(Stamp::parse);
    for (at, record) in records.iter().enumerate() {
        let Some(identifier) = &record.header.identifier else { continue };
        let Some(before) = last.insert(identifier, at) else { continue };
        swaps.push((before, at));
        if swaps.len() > DUPLICATES_SHOWN {
            continue;
        }
        let message = format!("`{}` stands twice on one page; the later datestamp counts", shown(identifier));
        let mut diagnostic = Diagnostic::new(Code::DuplicateIdentifier, message);
        diagnostic.place.record = Some(identifier.clone());
        notices.push(diagnostic);
    }
    for (before, at) in swaps {
        let earlier = match (records.get(before), records.get(at)) {
            (Some(before), Some(at)) => stamp(at) < stamp(before) && stamp(at).is_some(),
            _ => false,
        };
        if earlier {
            records.swap(before, at);
        }
    }
}

/// The beginning of something that a server made up.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(80).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests;
