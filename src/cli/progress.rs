//! Progress: a bar with rate and time left on a terminal, plain lines now and then elsewhere.

use super::General;
use super::output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pinakes::config::LockError;
use pinakes::diagnostic::Diagnostic;
use pinakes::pipeline::Watch;
use rustc_hash::FxHashMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How many diagnostics of one code are shown in full.
const SHOWN: u64 = 5;
/// How often a line is printed where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// How often a lock is tried while another command has it.
const WAIT_STEP: Duration = Duration::from_millis(50);

const SIZED: &str = "{prefix} {wide_bar} {percent:>3} %  {msg}  {eta} left";

/// Shows the work of one command.
pub(super) struct Progress<'a> {
    general: &'a General,
    bar: Option<ProgressBar>,
    what: String,
    size: Option<u64>,
    started: Instant,
    printed: Instant,
    shown: FxHashMap<&'static str, u64>,
    /// Faults that were counted and not shown, by their code.
    hidden: FxHashMap<&'static str, u64>,
    /// Since when another command is waited for.
    waiting: Option<Instant>,
}

impl<'a> Progress<'a> {
    pub fn new(general: &'a General) -> Self {
        let now = Instant::now();
        Self {
            general,
            bar: None,
            what: String::new(),
            size: None,
            started: now,
            printed: now,
            shown: FxHashMap::default(),
            hidden: FxHashMap::default(),
            waiting: None,
        }
    }

    /// What was not shown in full.
    pub fn rest(&self) {
        let mut codes: Vec<_> = self.hidden.iter().collect();
        codes.sort();
        for (code, count) in codes {
            output::say(self.general, &format!("{code}: {} more", output::number(*count)));
        }
    }

    fn terminal(&self) -> bool {
        std::io::stderr().is_terminal() && !self.general.quiet
    }
}

impl Watch for Progress<'_> {
    fn begin(&mut self, what: &str, size: Option<u64>) {
        self.what = what.to_owned();
        self.size = size;
        self.started = Instant::now();
        self.printed = self.started;
        if self.terminal() {
            let bar = match size {
                Some(size) => ProgressBar::new(size),
                None => ProgressBar::no_length(),
            };
            bar.set_draw_target(ProgressDrawTarget::stderr());
            let template = match size {
                Some(_) => SIZED,
                None => "{prefix} {spinner}  {msg}  {elapsed}",
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.set_prefix(self.what.clone());
            self.bar = Some(bar);
        }
    }

    fn advance(&mut self, done: u64, records: u64) {
        let seconds = self.started.elapsed().as_secs_f64();
        let rate = if seconds > 0.0 { records as f64 / seconds } else { 0.0 };
        let rate = output::number(rate as u64);
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            bar.set_message(format!("{} records, {rate}/s", output::number(records)));
        } else if !self.general.quiet && self.printed.elapsed() > LINE_EVERY {
            self.printed = Instant::now();
            let left = match self.size {
                Some(size) if done > 0 && size > done => {
                    let left = seconds * (size - done) as f64 / done as f64;
                    format!(", about {left:.0} s left")
                }
                _ => String::new(),
            };
            let records = output::number(records);
            output::say(self.general, &format!("{}: {records} records, {rate}/s{left}", self.what));
        }
    }

    fn expect(&mut self, size: u64) {
        self.size = Some(size);
        if let Some(bar) = &self.bar {
            if bar.length().is_none()
                && let Ok(style) = ProgressStyle::with_template(SIZED)
            {
                bar.set_style(style);
            }
            bar.set_length(size);
        }
    }

    fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn busy(&mut self, busy: &LockError) -> bool {
        let since = *self.waiting.get_or_insert_with(|| {
            if self.general.wait > 0 {
                let most = output::count(self.general.wait, "second");
                output::say(self.general, &format!("waiting {most} at most (`--wait`): {busy}"));
            }
            Instant::now()
        });
        if since.elapsed() >= Duration::from_secs(self.general.wait) {
            return false;
        }
        std::thread::sleep(WAIT_STEP);
        true
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        let code = diagnostic.code.slug();
        let shown = self.shown.entry(code).or_default();
        let quiet = self.general.quiet && diagnostic.severity() < pinakes::diagnostic::Severity::Error;
        let note = diagnostic.severity() == pinakes::diagnostic::Severity::Note && self.general.verbose == 0;
        let all = self.general.verbose > 0 || self.general.messages == output::Messages::Json;
        if quiet || note {
            return;
        }
        // That there are more is said at the end, for all records together.
        if !all && (*shown >= SHOWN || diagnostic.count > 1) {
            *self.hidden.entry(code).or_default() += diagnostic.count;
            return;
        }
        *shown += 1;
        match &self.bar {
            Some(bar) => bar.suspend(|| output::diagnostic(self.general, diagnostic)),
            None => output::diagnostic(self.general, diagnostic),
        }
    }
}
