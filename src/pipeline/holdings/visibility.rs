//! Since when have harvesters been able to see a step?
//!
//! A harvester comes back with the time of an earlier answer and asks for everything since. The times
//! of the log would not do: what was archived before that answer and published after it is older than
//! the answer, and would be missed for ever. So a datestamp is the time of the line in the log, moved
//! where it has to be:
//!
//! - not before the last answer that was given without it. Whoever got that answer finds it.
//! - before the first answer that was given with it. Whoever got that one is not given it again.
//!
//! Where an answer without it and one with it fall into one second, the first counts: better twice
//! than never. Both times are kept in `holdings.told` for every step that was shown, so that a
//! datestamp stays what it was, whatever the clock does and whenever the server is started again.
//! Several servers share the file: whoever answers holds its lock while it looks at the clock and
//! chooses the snapshot, so nobody is told a time after a step was shown elsewhere and before it is
//! shown here.
//!
//! An answer whose time cannot be kept is not given: nobody would know of it any more after a restart.
//!
//! **Made anew.** Another store has another log, whose times say nothing of what was shown. What
//! harvesters were shown stays as it was until the first step after those of the old store comes; then
//! all there is counts as new. In between the log belongs to nothing that can be seen, and whoever does
//! not hold the old one in memory cannot answer.
//!
//! A file that cannot be read might have said anything; then, too, all there is counts as new.

use crate::publish::oai::Datestamp;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// What harvesters were told, and what they were shown.
pub struct Visibility {
    path: PathBuf,
    known: Known,
    /// The file says the same.
    is_kept: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    /// The latest time that an answer had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    told: Option<Datestamp>,
    /// The last step of a store that is no more, while no later one was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replaced: Option<Datestamp>,
    /// What was shown at once, in the order of steps.
    #[serde(default)]
    shown: Vec<Shown>,
}

/// The steps after those of the line before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    /// The last of them.
    up_to: Datestamp,
    /// Whether a datestamp among them had to be moved; without it they are as in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bounds: Option<Bounds>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bounds {
    /// The last answer without these steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<Datestamp>,
    /// The second before the first answer with them.
    until: Datestamp,
}

impl Bounds {
    fn hold(self, time: Datestamp) -> Datestamp {
        let time = time.min(self.until);
        self.from.map_or(time, |from| from.max(time))
    }
}

/// By what datestamps were given.
pub struct Dating(Vec<Shown>);

/// Held while an answer's time and snapshot are chosen. Other servers wait.
pub struct Turn(#[expect(dead_code, reason = "the lock ends with the file")] File);

impl Visibility {
    /// What is known of the catalogue in a directory.
    pub fn new(directory: &Path) -> Self {
        Self { path: directory.join("holdings.told"), known: Known::default(), is_kept: false }
    }

    /// Waits for other servers, and learns what they told. `now` is for what cannot be read.
    pub fn turn(&mut self, now: impl FnOnce() -> Datestamp) -> io::Result<Turn> {
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.path.with_extension("lock"))?;
        lock.lock()?;
        match std::fs::read(&self.path) {
            Ok(bytes) => match serde_json::from_slice(&bytes) {
                Ok(known) => (self.known, self.is_kept) = (known, true),
                Err(error) => {
                    tracing::warn!(
                        "`{}` cannot be read, all records count as new: {error}",
                        self.path.display()
                    );
                    self.known = Known { told: Some(now()), ..Known::default() };
                    self.is_kept = false;
                }
            },
            // Nobody was told anything, or somebody removed it.
            Err(error) if error.kind() == ErrorKind::NotFound => self.is_kept = false,
            Err(error) => return Err(error),
        }
        Ok(Turn(lock))
    }

    /// Whether a step is one of a store that is no more, so that the log has nothing to do with it.
    pub fn is_replaced(&self, step: Option<Datestamp>) -> bool {
        self.known.replaced.is_some_and(|last| step <= Some(last))
    }

    /// From `now` on answers show the catalogue at a step. Whether it was not shown before.
    pub fn show(&mut self, step: Datestamp, now: Datestamp) -> bool {
        let Known { told, replaced, shown } = &mut self.known;
        if replaced.take().is_some() {
            shown.clear();
            self.is_kept = false;
        }
        // A store that went back: what it shows later has nothing to do with what was shown.
        let left = shown.partition_point(|earlier| earlier.up_to <= step);
        if left < shown.len() {
            shown.truncate(left);
            self.is_kept = false;
        }
        let is_new = shown.last().is_none_or(|last| last.up_to < step);
        if is_new {
            let bounds = Bounds { from: *told, until: now.previous() };
            shown.push(Shown { up_to: step, bounds: Some(bounds) });
            self.is_kept = false;
        }
        is_new
    }

    /// By what datestamps are given now.
    pub fn dating(&self) -> Dating {
        Dating(self.known.shown.clone())
    }

    /// Whether the datestamps that were given by it are still the same.
    pub fn agrees_with(&self, Dating(before): &Dating) -> bool {
        let Some((last, rest)) = before.split_last() else { return true };
        // Steps that need no bounds share a line, which grows with them.
        let goes_on = |line: &Shown| {
            line == last || (line.bounds.is_none() && last.bounds.is_none() && line.up_to > last.up_to)
        };
        self.known.shown.starts_with(rest) && self.known.shown.get(rest.len()).is_some_and(goes_on)
    }

    /// The datestamp of a line with this time, of a step that is shown.
    pub fn datestamp(&self, time: Datestamp) -> Datestamp {
        let at = self.known.shown.partition_point(|shown| shown.up_to < time);
        let bounds = self.known.shown.get(at).and_then(|shown| shown.bounds);
        bounds.map_or(time, |bounds| bounds.hold(time))
    }

    /// Notes that the lines of the step that was shown last needed no bounds; then they need no line
    /// of their own in the file.
    pub fn need_no_bounds(&mut self) -> io::Result<()> {
        let shown = &mut self.known.shown;
        if let Some(last) = shown.pop() {
            match shown.last_mut() {
                Some(before) if before.bounds.is_none() => before.up_to = last.up_to,
                _ => shown.push(Shown { bounds: None, ..last }),
            }
            self.is_kept = false;
        }
        self.keep()
    }

    /// An answer has this time. Kept before the answer is given.
    pub fn tell(&mut self, now: Datestamp) -> io::Result<()> {
        if self.known.told < Some(now) {
            self.known.told = Some(now);
            self.is_kept = false;
        }
        self.keep()
    }

    fn keep(&mut self) -> io::Result<()> {
        if self.is_kept {
            return Ok(());
        }
        let beside = self.path.with_extension("told.new");
        let mut file = File::create(&beside)?;
        serde_json::to_writer(&mut file, &self.known)?;
        file.write_all(b"\n")?;
        file.sync_data()?;
        std::fs::rename(&beside, &self.path)?;
        if let Some(directory) = self.path.parent() {
            File::open(directory)?.sync_all()?;
        }
        self.is_kept = true;
        Ok(())
    }
}

/// Notes, before the log is written anew, that the store of the old one is no more. `last` is its last
/// step as far as is known; says which it was at most.
pub fn replace(directory: &Path, last: Option<Datestamp>) -> io::Result<Option<Datestamp>> {
    let mut visibility = Visibility::new(directory);
    if last.is_none() && !visibility.path.try_exists()? {
        return Ok(None);
    }
    let _turn = visibility.turn(clock)?;
    let Known { replaced, shown, .. } = &mut visibility.known;
    // A store that was made anew and never shown is at the step after the one it replaced.
    let unseen = replaced.map(Datestamp::next);
    let last = last.max(unseen).max(shown.last().map(|shown| shown.up_to));
    *replaced = last;
    visibility.is_kept = false;
    visibility.keep()?;
    Ok(last)
}

/// The last step of a store that is no more, if no later one was shown yet.
pub fn replaced(directory: &Path) -> io::Result<Option<Datestamp>> {
    let mut visibility = Visibility::new(directory);
    if !visibility.path.try_exists()? {
        return Ok(None);
    }
    let _turn = visibility.turn(clock)?;
    Ok(visibility.known.replaced)
}

/// The time of day.
pub fn clock() -> Datestamp {
    Datestamp::from_unix(jiff::Timestamp::now().as_second()).unwrap_or(Datestamp::EPOCH)
}
