//! What to do when a list does not go on.
//!
//! A token that is not accepted begins the list again, from its last datestamp where the list
//! is in that order. Anything that may be about the content (an error of the server, an answer
//! that breaks off, a web page in place of one) halves the window: one bad record in a million
//! then costs some dozens of requests. A window of one granule is asked for by its identifiers,
//! and each record by itself; what is not given even so is lost, reported, and asked for again
//! in the next runs.

use super::ask::{Trouble, ask, ask_list};
use super::error::HarvestError;
use super::harvest::{Harvest, Page, Undone, shown};
use super::request::{Request, Verb, Window};
use super::response::Reject;
use super::stamp::{Granularity, Stamp};
use super::state::{List, Owed, Run, Task, Wanted};
use crate::diagnostic::{Code, Diagnostic};
use crate::fetch::{FaultKind, Transport};

impl Harvest {
    /// Finds another way to what a request did not bring. What came whole is handed over.
    pub(super) fn recover(
        &mut self,
        run: &mut Run,
        transport: &dyn Transport,
        url: &str,
        trouble: Trouble,
    ) -> Result<Option<Page>, HarvestError> {
        if let Trouble::Expired(reason) = &trouble
            && self.begin_again(run, transport, reason)?
        {
            return Ok(None);
        }
        if let Trouble::Refused(error) = &trouble
            && error.code == "badArgument"
            && self.fall_back_to_days(run)
        {
            return Ok(None);
        }
        let trouble = self.count_failure(run, transport, url, trouble)?;
        let reason = trouble.reason();
        // Asked before anything is handed over: this may fail, and then nothing has happened.
        let point = self.resume_point(run, transport)?;
        let page = match trouble {
            Trouble::Broken(mut response) if !response.records.is_empty() => {
                // They come again, and are judged then.
                response.rejects.clear();
                Some(self.deliver(run, url.to_owned(), *response))
            }
            _ => None,
        };
        self.ask_for_less(run, point, &reason);
        Ok(page.map(|page| page.progress(run)))
    }

    /// Begins a list again whose token was refused. Not for ever: without getting further a
    /// few times only.
    fn begin_again(
        &mut self,
        run: &mut Run,
        transport: &dyn Transport,
        reason: &str,
    ) -> Result<bool, HarvestError> {
        let granularity = run.granularity;
        let from = self.resume_point(run, transport)?;
        let Some(Task::List(list)) = run.tasks.last_mut() else { return Ok(false) };
        if from.is_none() && list.restarts >= self.plan.limits.restarts {
            return Ok(false);
        }
        list.begin_again(from);
        let message = match from {
            Some(from) => format!(
                "a resumption token was not accepted ({reason}); the list goes on from {}",
                from.write(granularity)
            ),
            None => format!("a resumption token was not accepted ({reason}); the list begins again"),
        };
        self.notices.push(Diagnostic::new(Code::ListRestarted, message));
        Ok(true)
    }

    /// Where the list under way can be begun again. That it is in the order of datestamps is a
    /// conclusion from what came; where the repository tells the length of its lists, the
    /// length of the rest proves it or not.
    fn resume_point(&self, run: &Run, transport: &dyn Transport) -> Result<Option<Stamp>, HarvestError> {
        let Some(Task::List(list)) = run.tasks.last() else { return Ok(None) };
        let Some(point) = list.resume_point(run.granularity) else { return Ok(None) };
        if list.expected.is_none() {
            return Ok(Some(point));
        }
        let (verb, granularity) = (Verb::ListIdentifiers, run.granularity);
        let window = Window { from: Some(point), ..list.window.clone() };
        let request = Request::List { verb, prefix: &run.prefix, window: &window, granularity };
        let url = request.url(&self.plan.base_url);
        let rest = match ask_list(transport, &url, verb, false, 1) {
            Ok(rest) => rest,
            Err(trouble) if trouble.may_be_the_content() => return Ok(None),
            Err(trouble) => return Err(trouble.into_error(&url)),
        };
        let listed = rest.headers.len() as u64;
        let rest = rest.token.and_then(|token| token.complete_list_size).unwrap_or(listed);
        Ok(list.adds_up(rest).then_some(point))
    }

    /// Some repositories announce seconds and accept days only.
    fn fall_back_to_days(&mut self, run: &mut Run) -> bool {
        let Some(Task::List(list)) = run.tasks.last() else { return false };
        let dated = list.window.from.is_some() || list.window.until.is_some();
        if !dated || run.granularity == Granularity::Day || self.plan.granularity.is_some() {
            return false;
        }
        run.granularity = Granularity::Day;
        let message = "the repository does not accept the granularity it announces; days are used";
        self.notices.push(Diagnostic::new(Code::OaiProtocol, message));
        true
    }

    /// Counts a failure and decides whether it makes sense to go on: not if it is about
    /// something else than the content, if the repository is not there at all, or if nothing
    /// has helped for long. Then everything is as before the first failure.
    fn count_failure(
        &mut self,
        run: &mut Run,
        transport: &dyn Transport,
        url: &str,
        trouble: Trouble,
    ) -> Result<Trouble, HarvestError> {
        if !trouble.may_be_the_content() {
            return Err(trouble.into_error(url));
        }
        let answers_at_all = matches!(trouble, Trouble::Expired(_) | Trouble::Refused(_));
        if self.memory.failures == 0 && !answers_at_all {
            let identify = Request::Identify.url(&self.plan.base_url);
            match ask(transport, &identify, Verb::Identify, self.plan.limits.attempts) {
                Ok(_) => {}
                Err(other) if other.may_be_the_content() => return Err(trouble.into_error(url)),
                // Somebody stopped it, say.
                Err(other) => return Err(other.into_error(&identify)),
            }
        }
        self.memory.is_fruitless = true;
        self.memory.failures += 1;
        self.memory.patience += trouble.cost();
        let before = self.memory.before.get_or_insert_with(|| run.tasks.clone());
        if self.memory.patience < self.plan.limits.patience {
            return Ok(trouble);
        }
        run.tasks = std::mem::take(before);
        let failures = std::mem::take(&mut self.memory.failures);
        self.memory.patience = 0;
        self.memory.before = None;
        Err(HarvestError::Exhausted { failures, last: trouble.into_error(url).to_string() })
    }

    /// Puts smaller lists in the place of one that fails.
    fn ask_for_less(&mut self, run: &mut Run, point: Option<Stamp>, reason: &str) {
        let Some(Task::List(mut list)) = run.tasks.pop() else { return };
        list.window.from = point.or(list.window.from);
        let described = list.window.describe(run.granularity);
        if list.strays * 2 > list.order.noted {
            // It would give the same list for every window, with the same fault in it.
            let message =
                format!("the list of {described} failed ({reason}), and the repository ignores dates");
            self.notices.push(Diagnostic::new(Code::ListIncomplete, message));
            run.incomplete = true;
            return;
        }
        let part = |verb, window| Task::List(List { runs: list.runs, part: true, ..List::new(verb, window) });
        let message = match list.window.halves(self.bounds(run), run.granularity) {
            Some((left, right)) => {
                run.tasks.push(part(list.verb, right));
                run.tasks.push(part(list.verb, left));
                format!("the list of {described} failed ({reason}); its halves are asked for")
            }
            None if list.verb == Verb::ListRecords => {
                run.tasks.push(part(Verb::ListIdentifiers, list.window.clone()));
                format!("the list of {described} failed ({reason}); its records are asked for one by one")
            }
            None => return self.lose_window(run, list, reason),
        };
        self.notices.push(Diagnostic::new(Code::ListRestarted, message));
    }

    fn lose_window(&mut self, run: &mut Run, list: List, reason: &str) {
        let described = list.window.describe(run.granularity);
        let message = format!("the records of {described} could not be listed: {reason}");
        self.notices.push(Diagnostic::new(Code::ListIncomplete, message));
        self.owe(run, Owed::Window { window: list.window, runs: list.runs + 1 });
    }

    /// Gives a record up for this run, unless the fault is not about the record.
    pub(super) fn lose_record(
        &mut self,
        run: &mut Run,
        transport: &dyn Transport,
        url: &str,
        wanted: Wanted,
        trouble: Trouble,
    ) -> Result<Undone, HarvestError> {
        // A code of the standard is an answer (the record is there, and not in this format),
        // and some identifiers cannot be asked for.
        let is_final = match &trouble {
            Trouble::Refused(_) => !trouble.may_be_the_content(),
            Trouble::Fault(fault) => {
                matches!(fault.kind, FaultKind::BadUrl | FaultKind::Status(400 | 404 | 406 | 410 | 414 | 422))
            }
            _ => false,
        };
        let trouble = if is_final { trouble } else { self.count_failure(run, transport, url, trouble)? };
        let message = format!("`{}` could not be fetched: {}", shown(&wanted.identifier), trouble.reason());
        let mut diagnostic = Diagnostic::new(Code::UnfetchedRecord, message)
            .hint("later harvests ask for it again, a few times; the repository should be told");
        diagnostic.place.record = Some(wanted.identifier.clone());
        let payload = match trouble {
            Trouble::Broken(response) => response.broken.map(|broken| broken.payload).unwrap_or_default(),
            _ => Vec::new(),
        };
        run.tally.rejected += 1;
        let identifier = Some(wanted.identifier.clone());
        if !is_final {
            self.owe(run, Owed::Record(Wanted { runs: wanted.runs + 1, ..wanted }));
        }
        Ok(Undone::rejected(url, Reject { identifier, payload, number: 1, offset: 0, diagnostic }))
    }

    /// Notes what later runs shall ask for. Where that cannot be noted, the whole run is to be
    /// done again; what was asked for often enough is let go.
    fn owe(&mut self, run: &mut Run, owed: Owed) {
        let (Owed::Record(Wanted { runs, .. }) | Owed::Window { runs, .. }) = &owed;
        if *runs >= self.plan.limits.owed_runs || self.state.owed.contains(&owed) {
            return;
        }
        if self.state.owed.len() < self.plan.limits.owed {
            self.state.owed.push(owed);
        } else {
            run.incomplete = true;
        }
    }
}
