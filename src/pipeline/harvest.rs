//! Harvesting: every source is asked on a thread of its own, and one writer takes what comes.
//!
//! A page and the state after it are archived in one append, so a page that counts is never
//! asked for again. What waits between a source and the writer is bounded, which is all the
//! back-pressure there is. A source that fails is reported and can be resumed; the others go on.
//! Between two pages the catalogue is lent to whoever waits for it.

use super::described::Describing;
use super::intake::{Account, Intake, Summary};
use super::resolve::Questionnaire;
use super::store_writer::{self, Pending};
use super::taking::{Decoded, Taking, placed};
use super::{PipelineError, Request, Session, Watch};
use crate::archive::{ArchiveError, Entry, Kind, Origin, Run};
use crate::config::Home;
use crate::decode::Payload;
use crate::diagnostic::{Code, Diagnostic, beginning};
use crate::fetch::{Access, Counts, Fetcher};
use crate::harvest::oai::{self, Failure, Granularity, Harvest, Page, Plan, State, Step};
use crate::record::known_by;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Pages that may wait for the writer.
const WAITING: usize = 4;
/// A step into the archive has its price, an fsync and a transaction. So pages that come one
/// upon the other take it together: for so long,
const GATHERING: Duration = Duration::from_millis(50);
/// and up to so many bytes.
const TOGETHER: usize = 4 << 20;
/// How often the writer looks whether somebody wants the catalogue while no page comes.
const LOOK: Duration = Duration::from_millis(200);

/// A source that is to be harvested, and how.
#[derive(Debug, Clone)]
pub struct Course {
    /// Its short name.
    pub source: String,
    pub plan: Plan,
    pub access: Access,
    /// For records that do not tell.
    pub content_type: Option<String>,
}

/// What to harvest.
pub struct HarvestRequest<'a> {
    pub courses: Vec<Course>,
    /// Records go into the archive, and the store follows another time.
    pub archive_only: bool,
    /// The current time, RFC 3339.
    pub clock: &'a (dyn Fn() -> String + Sync),
    /// Set from outside: the page under way is finished and kept, and nothing more is asked.
    pub cancel: Arc<AtomicBool>,
}

/// What became of one source.
#[derive(Debug, Clone, Serialize)]
pub struct Harvested {
    pub source: String,
    pub end: End,
    pub summary: Summary,
    pub pages: u64,
    pub requests: u64,
    pub retries: u64,
    pub bytes: u64,
}

/// How the harvest of a source ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// All that was to be asked for was asked for.
    Complete,
    /// The source left something out; the next run asks for it again.
    Incomplete,
    /// Somebody stopped it, or the machine did; the next run goes on.
    #[default]
    Stopped,
    /// The source failed; with `resumable` the next run may go on without anybody's doing.
    Failed { reason: String, resumable: bool },
}

/// What is kept of a harvest with each of its pages.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Note {
    /// The run these counts belong to.
    pub run: u64,
    pub time: String,
    pub url: String,
    pub end: End,
    pub summary: Summary,
    pub pages: u64,
    /// The list under way, in words.
    pub window: Option<String>,
    pub expected: Option<u64>,
    pub received: u64,
    pub state: State,
}

impl Note {
    /// As an entry, with what the run amounts to.
    fn entry(&mut self, taking: Taking<'_>, summary: &Summary) -> Result<Entry, ArchiveError> {
        let Taking { request, run } = taking;
        self.time.clone_from(&request.time);
        self.summary = summary.clone();
        let json = serde_json::to_vec(self).map_err(std::io::Error::from)?;
        Ok(Entry::new(Kind::Harvest, &request.source, "", run, &request.time).with_payload(json))
    }
}

/// How far the harvest of a source is.
pub fn harvest_note(session: &Session, source: &str) -> Result<Option<Note>, PipelineError> {
    let Some(json) = session.archive.harvest(source)? else { return Ok(None) };
    // A note of a later release says nothing here; then everything is asked for again.
    Ok(serde_json::from_slice(&json).ok())
}

/// The same for all sources that were ever harvested.
pub fn harvest_notes(session: &Session) -> Result<BTreeMap<String, Note>, PipelineError> {
    let mut notes = BTreeMap::new();
    for source in session.archive.harvests()? {
        if let Some(note) = harvest_note(session, &source)? {
            notes.insert(source, note);
        }
    }
    Ok(notes)
}

/// The copy of the notes that a harvest at work leaves for those who cannot read the archive,
const BESIDE: &str = "harvest.json";
/// and how old it may be.
const STALE: Duration = Duration::from_secs(1);

/// The notes as the harvest at work left them; nothing if none is.
pub fn notes_beside(home: &Home) -> Result<BTreeMap<String, Note>, PipelineError> {
    match std::fs::read(home.directory.join(BESIDE)) {
        // A copy that cannot be read will be there again with the next page.
        Ok(json) => Ok(serde_json::from_slice(&json).unwrap_or_default()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(ArchiveError::from(error).into()),
    }
}

/// Leaves the copy. That it could not be written is no reason to stop.
fn leave_beside(home: &Home, sources: &[Source]) {
    let notes: BTreeMap<&str, &Note> =
        sources.iter().map(|source| (source.request.source.as_str(), &source.note)).collect();
    let Ok(json) = serde_json::to_vec(&notes) else { return };
    let new = home.directory.join("harvest.json.new");
    let written =
        std::fs::write(&new, json).and_then(|()| std::fs::rename(&new, home.directory.join(BESIDE)));
    if let Err(error) = written {
        tracing::debug!(%error, "no copy of the notes");
    }
}

/// What a source would give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rehearsal {
    pub prefix: String,
    /// From when on it would be asked.
    pub from: Option<String>,
    /// How many records the source says there are.
    pub expected: Option<u64>,
    /// How many its first page lists,
    pub listed: u64,
    /// and whether there are more.
    pub more: bool,
}

/// Asks a source how much there is, and takes nothing.
pub fn rehearse(
    home: Home,
    course: &Course,
    fetcher: &Fetcher,
    time: &str,
    watch: &mut dyn Watch,
) -> Result<Result<Rehearsal, oai::HarvestError>, PipelineError> {
    let note = harvest_note(&Session::read_archive(home, watch)?, &course.source)?.unwrap_or_default();
    let plan = Plan { one_by_one: true, ..course.plan.clone() };
    let mut machine = Harvest::new(plan, State { run: None, owed: Vec::new(), ..note.state }, time);
    let cancel = Arc::new(AtomicBool::new(false));
    let session = match fetcher.open(&course.access, &course.plan.base_url, cancel) {
        Ok(session) => session,
        Err(fault) => return Ok(Err(fault.into())),
    };
    let page = match machine.next(&session) {
        Step::Page(page) => Some(page),
        Step::Done(_) => None,
        Step::Failed(failure) => return Ok(Err(failure.error)),
    };
    let run = page.as_ref().and_then(|page| page.state.run.as_ref());
    let listed = run.into_iter().flat_map(|run| &run.tasks).map(|task| match task {
        oai::Task::Records(wanted) => wanted.len() as u64,
        _ => 0,
    });
    Ok(Ok(Rehearsal {
        listed: listed.sum(),
        more: run.is_some_and(|run| run.tasks.iter().any(|task| matches!(task, oai::Task::List(_)))),
        prefix: run.map(|run| run.prefix.clone()).or(course.plan.prefix.clone()).unwrap_or_default(),
        from: run.and_then(|run| run.from).map(|from| from.write(Granularity::Second)),
        expected: page.as_ref().and_then(|page| page.progress.complete_list_size),
    }))
}

/// Harvests sources side by side.
pub fn harvest(
    home: Home,
    request: &HarvestRequest<'_>,
    fetcher: &Fetcher,
    watch: &mut dyn Watch,
) -> Result<Vec<Harvested>, PipelineError> {
    let open = |home: Home, watch: &mut dyn Watch| match request.archive_only {
        true => Session::write_archive(home, watch),
        false => Session::write(home, watch),
    };
    let mut session = open(home, watch)?;
    let mut sources = Vec::new();
    let mut machines = Vec::new();
    for course in &request.courses {
        let (source, machine) = begin(&mut session, course, &(request.clock)())?;
        sources.push(source);
        machines.push(machine);
    }
    watch.begin(&said(&request.courses), None);
    let session = std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING);
        for (index, (course, machine)) in request.courses.iter().zip(machines).enumerate() {
            let (sender, cancel) = (sender.clone(), Arc::clone(&request.cancel));
            scope.spawn(move || ask(index, course, machine, fetcher, cancel, &sender));
        }
        drop(sender);
        let result = loop {
            match take(&mut session, &mut sources, &receiver, request, watch) {
                Ok(Turn::Over) => break Ok(session),
                Ok(Turn::Wanted) => {}
                Err(error) => break Err(error),
            }
            session = match open(session.give_way(), watch) {
                Ok(session) => session,
                Err(error) => break Err(error),
            };
        };
        if result.is_err() {
            // Nobody takes the pages any more.
            request.cancel.store(true, Ordering::Relaxed);
        }
        drop(receiver);
        result
    })?;
    watch.end();
    let _ = std::fs::remove_file(session.home.directory.join(BESIDE));
    Ok(sources.into_iter().map(Source::harvested).collect())
}

fn said(courses: &[Course]) -> String {
    match courses {
        [one] => format!("harvesting {}", one.source),
        many => format!("harvesting {} sources", many.len()),
    }
}

/// One source while it is harvested.
struct Source {
    request: Request,
    url: String,
    number: u64,
    run: Run,
    account: Account,
    note: Note,
    counts: Counts,
    over: bool,
}

impl Source {
    fn harvested(self) -> Harvested {
        Harvested {
            source: self.request.source,
            end: self.note.end,
            summary: self.account.summary,
            pages: self.note.pages,
            requests: self.counts.requests,
            retries: self.counts.retries,
            bytes: self.counts.bytes,
        }
    }
}

/// Finds where the harvest of a source stands, and begins or continues its run.
fn begin(session: &mut Session, course: &Course, time: &str) -> Result<(Source, Harvest), PipelineError> {
    let note = harvest_note(session, &course.source)?.unwrap_or_default();
    let machine = Harvest::new(course.plan.clone(), note.state.clone(), time);
    let run = Run {
        source: course.source.clone(),
        origins: vec![course.plan.base_url.clone()],
        agent: format!("pinakes/{}", env!("CARGO_PKG_VERSION")),
        started: time.to_owned(),
        ..Run::default()
    };
    let (number, run) = session.archive.begin_run(&run, time)?;
    let resumed = machine.state().run.is_some();
    // Only a run that saw everything knows what is missing.
    let mut account = Account::new(course.plan.full && !resumed);
    let mut own = Note { run: number, url: course.plan.base_url.clone(), ..Note::default() };
    if note.run == number {
        account.summary = note.summary;
        // What kept the run before from its end is past.
        account.summary.diagnostics.remove(Code::SourceFailed.slug());
        own.pages = note.pages;
    }
    let request = Request {
        source: course.source.clone(),
        content_type: course.content_type.clone(),
        time: time.to_owned(),
        ..Request::default()
    };
    let url = course.plan.base_url.clone();
    let source =
        Source { request, url, number, run, account, note: own, counts: Counts::default(), over: false };
    Ok((source, machine))
}

/// What a source sends to the writer.
struct News {
    index: usize,
    step: Step,
    counts: Counts,
}

/// Asks one source, page after page, until it is done, fails or is stopped.
fn ask(
    index: usize,
    course: &Course,
    mut machine: Harvest,
    fetcher: &Fetcher,
    cancel: Arc<AtomicBool>,
    sender: &SyncSender<News>,
) {
    let session = match fetcher.open(&course.access, &course.plan.base_url, Arc::clone(&cancel)) {
        Ok(session) => session,
        Err(fault) => {
            let state = machine.state().clone();
            let failure = Failure { error: fault.into(), resumable: false, notices: Vec::new(), state };
            let step = Step::Failed(Box::new(failure));
            // Without a writer there is nobody to tell.
            let _ = sender.send(News { index, step, counts: Counts::default() });
            return;
        }
    };
    while !cancel.load(Ordering::Relaxed) {
        // A page has one clock for all attempts and all the ways around a fault.
        if !machine.is_failing() {
            session.begin_page();
        }
        let step = machine.next(&session);
        // Failures add up until a record comes; windows without any, be they many, are none.
        if machine.is_failing() && machine.is_answered() {
            session.excuse_answer();
        }
        let is_last = !matches!(step, Step::Page(_));
        // A request that was interrupted is no failure of the source.
        if is_last && cancel.load(Ordering::Relaxed) && !matches!(step, Step::Done(_)) {
            break;
        }
        if sender.send(News { index, step, counts: session.counts() }).is_err() || is_last {
            break;
        }
    }
    // A session that cannot be closed ends by itself in time.
    let _ = session.close();
}

/// Why the writer stopped taking pages.
enum Turn {
    /// All sources are done.
    Over,
    /// Somebody else wants the catalogue.
    Wanted,
}

/// What is said of a source that failed.
pub fn source_failed(failure: &Failure) -> Diagnostic {
    let hint = if failure.resumable {
        "the same command goes on where it stopped"
    } else {
        "it will not go better by itself: see the description of the source"
    };
    Diagnostic::new(Code::SourceFailed, failure.error.to_string()).hint(hint)
}

/// Takes what sources send, until they are done or another process wants the catalogue.
fn take(
    session: &mut Session,
    sources: &mut [Source],
    receiver: &Receiver<News>,
    request: &HarvestRequest<'_>,
    watch: &mut dyn Watch,
) -> Result<Turn, PipelineError> {
    let concordances = Arc::clone(session.concordances());
    let describing = Describing::new(&session.catalogue)?;
    let Session { archive, catalogue, home, content_types, lock, .. } = session;
    store_writer::run(catalogue, &home.directory, |store| {
        let mut intake = Intake {
            archive,
            graphs: &home.graphs,
            content_types,
            concordances: &concordances,
            pending: Pending::storing(home.settings.records.stored),
            describing,
            store,
            questionnaire: Questionnaire::of_home(home),
            map: !request.archive_only,
            watch,
        };
        intake.pending.layout(&home.graphs);
        intake.pending.vocabulary(&home.graphs, content_types);
        for source in sources.iter().filter(|source| !source.over) {
            intake.pending.run(&home.graphs, source.number, &source.run);
        }
        let mut next = None;
        let mut left: Option<Instant> = None;
        let turn = loop {
            match next.take().map_or_else(|| receiver.recv_timeout(LOOK), Ok) {
                Ok(News { index, step, mut counts }) => {
                    let until = Instant::now() + GATHERING;
                    let mut bytes = weight(&step);
                    let mut steps = vec![step];
                    while bytes < TOGETHER && matches!(steps.last(), Some(Step::Page(_))) {
                        match receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {
                            Ok(more) if more.index == index => {
                                bytes += weight(&more.step);
                                steps.push(more.step);
                                counts = more.counts;
                            }
                            Ok(other) => {
                                next = Some(other);
                                break;
                            }
                            Err(_) => break,
                        }
                    }
                    if let Some(source) = sources.get_mut(index) {
                        source.counts = counts;
                        source.request.time = (request.clock)();
                        source.news(steps, &mut intake)?;
                    }
                    let done = sources.iter().map(|source| source.account.summary.records).sum();
                    if let Some(size) = expected(sources) {
                        intake.watch.expect(size);
                    }
                    intake.watch.advance(done, done);
                    if left.is_none_or(|left| left.elapsed() > STALE) {
                        leave_beside(home, sources);
                        left = Some(Instant::now());
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break Turn::Over,
            }
            if next.is_none() && lock.is_wanted() {
                break Turn::Wanted;
            }
        };
        intake.pending.position = intake.archive.last_sequence()?;
        intake.flush()?;
        Ok(turn)
    })
}

/// How many bytes of records a step brings.
fn weight(step: &Step) -> usize {
    match step {
        Step::Page(page) => page.records.iter().map(|record| record.payload.len()).sum(),
        Step::Done(_) | Step::Failed(_) => 0,
    }
}

/// How many records there will be in the end, if all sources tell.
fn expected(sources: &[Source]) -> Option<u64> {
    let of = |source: &Source| {
        let records = source.account.summary.records;
        if source.over {
            return Some(records);
        }
        Some(source.note.expected?.saturating_sub(source.note.received).saturating_add(records))
    };
    sources.iter().map(of).sum()
}

impl Source {
    fn news(&mut self, steps: Vec<Step>, intake: &mut Intake<'_>) -> Result<(), PipelineError> {
        let mut pages = Vec::with_capacity(steps.len());
        // The last step of a source is its only one that is no page.
        let mut last = None;
        for step in steps {
            match step {
                Step::Page(page) => pages.push(*page),
                other => last = Some(other),
            }
        }
        if !pages.is_empty() {
            self.pages(pages, intake)?;
        }
        match last {
            None | Some(Step::Page(_)) => Ok(()),
            Some(Step::Done(done)) => {
                self.over = true;
                self.say(done.notices, intake);
                if !done.everything {
                    self.account.forget_missing();
                }
                self.note.end = if done.complete { End::Complete } else { End::Incomplete };
                self.note.state = done.state;
                self.note.window = None;
                let Self { request, number, account, run, .. } = self;
                let taking = Taking { request, run: *number };
                intake.finish(taking, account, run.clone())?;
                intake.archive.append(&[self.noted()?])?;
                Ok(())
            }
            Some(Step::Failed(failure)) => {
                self.over = true;
                let said = source_failed(&failure);
                self.say(failure.notices, intake);
                self.say(vec![said], intake);
                let reason = failure.error.to_string();
                self.note.end = End::Failed { reason, resumable: failure.resumable };
                self.note.state = failure.state;
                intake.archive.append(&[self.noted()?])?;
                Ok(())
            }
        }
    }

    /// Archives pages with the state after them.
    fn pages(&mut self, pages: Vec<Page>, intake: &mut Intake<'_>) -> Result<(), PipelineError> {
        let mut decoded = Vec::with_capacity(pages.iter().map(|page| page.records.len()).sum());
        for page in pages {
            self.note.pages += 1;
            self.note.window = page.progress.window;
            self.note.expected = page.progress.complete_list_size;
            self.note.received = page.progress.received;
            self.note.state = page.state;
            self.say(page.notices, intake);
            decoded.extend(page.records.into_iter().map(|record| self.record(record, &page.url)));
            decoded.extend(page.rejects.into_iter().map(|reject| self.reject(reject, &page.url)));
        }
        let Self { request, number, account, note, .. } = self;
        let taking = Taking { request, run: *number };
        intake.batch(taking, account, decoded, Some(&mut |summary| note.entry(taking, summary)))
    }

    fn record(&self, record: oai::Record, page: &str) -> Decoded {
        let kind = if record.header.deleted { Kind::Withdrawal } else { Kind::Record };
        let id = record.header.identifier.unwrap_or_default();
        let mut entry =
            Entry::new(kind, &self.request.source, &known_by(&id), self.number, &self.request.time)
                .with_payload(record.payload);
        entry.format = Some(oai::FORMAT);
        entry.content_type.clone_from(&self.request.content_type);
        entry.origin = Origin { name: self.url.clone(), number: record.number, offset: record.offset };
        let diagnostics = record.diagnostics.into_iter();
        let diagnostics = diagnostics.map(|said| placed(said, &self.request, page, Some(&entry))).collect();
        Decoded { entry, record: None, diagnostics }
    }

    fn reject(&self, reject: oai::Reject, page: &str) -> Decoded {
        let taking = Taking { request: &self.request, run: self.number };
        let payload = Payload { bytes: reject.payload, number: reject.number, offset: reject.offset };
        let mut rejected = taking.rejected(&self.url, Some(oai::FORMAT), payload, reject.diagnostic);
        for diagnostic in &mut rejected.diagnostics {
            diagnostic.place.origin = Some(page.to_owned());
            diagnostic.place.record = reject.identifier.as_deref().map(|id| beginning(id).into_owned());
        }
        rejected
    }

    /// The state as an entry.
    fn noted(&mut self) -> Result<Entry, PipelineError> {
        let taking = Taking { request: &self.request, run: self.number };
        Ok(self.note.entry(taking, &self.account.summary)?)
    }

    fn say(&mut self, notices: Vec<Diagnostic>, intake: &mut Intake<'_>) {
        for notice in notices {
            let record = notice.place.record.as_deref().map(|id| beginning(id).into_owned());
            let mut diagnostic = placed(notice, &self.request, &self.url, None);
            diagnostic.place.record = record;
            intake.say(&mut self.account, diagnostic);
        }
    }
}
