//! `pinakes run`

use super::{Done, General, harvest, output, resolve};
use pinakes::config::RunLock;
use pinakes::pipeline::{Course, Session, harvest_note};
use pinakes::source::{Harvester, Source};

/// Run every stage for every source that is due
///
/// Harvests what is enabled and due by its schedule, reads the files of file sources, lets the
/// store follow, and resolves duplicates, those of records that came in another way too. A source
/// that fails stops nothing else. It is made to be run from cron: a run that finds another one at
/// work ends at once, one that was killed is finished by the next.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes run
  pinakes run --all

Exit status: 0 done; 1 done, but a source failed or some data was refused; 2 could not run")]
pub(super) struct Run {
    /// All enabled sources, due or not
    #[arg(long)]
    all: bool,
}

impl Run {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let home = general.home()?;
        let Some(_alone) = RunLock::take(&home.directory)? else {
            output::say(general, "another `pinakes run` is at work on this catalogue; nothing to do");
            return Ok(Done::Well);
        };
        let (registry, mistakes) = super::source::registry(general)?;
        let (mut courses, mut files) = (Vec::new(), Vec::new());
        for source in registry.in_order() {
            if !self.all && !is_due(general, source)? {
                continue;
            }
            match source.harvester() {
                Ok(Harvester::OaiPmh) => courses.push(Course::of(source, false, None)?),
                Ok(Harvester::File) => files.push(source),
                Ok(_) => {}
                Err(refused) => output::say(general, &refused.to_string()),
            }
        }
        if courses.is_empty() && files.is_empty() {
            output::say(general, "no source is due");
        }
        let taken = harvest::take(general, courses, &files, false)?;
        // What sources brought earlier, or somebody imported, waits too.
        let resolved = resolve::take_waiting(general)?;
        Ok(Done::of_all(&[mistakes, taken, resolved]))
    }
}

/// Whether the schedule of a source asks for it now. One that did not end well is always due.
fn is_due(general: &General, source: &Source) -> anyhow::Result<bool> {
    let Some(seconds) = source.schedule.seconds() else { return Ok(source.schedule.is_always()) };
    let session = Session::read_archive(general.home()?, &mut super::progress::Progress::new(general))?;
    let runs = session.archive.runs()?;
    let last = runs.iter().rev().find(|(_, run)| run.source == source.key);
    let note = harvest_note(&session, &source.key)?;
    let ended_well = note.is_none_or(|note| note.end == pinakes::pipeline::End::Complete);
    let Some(finished) = last.and_then(|(_, run)| run.finished.as_deref()).filter(|_| ended_well) else {
        return Ok(true);
    };
    let (Ok(then), Ok(now)) = (finished.parse::<jiff::Timestamp>(), super::now().parse::<jiff::Timestamp>())
    else {
        return Ok(true);
    };
    // A cron job is never quite on time; a tenth of the time does not matter.
    let passed = now.duration_since(then).as_secs();
    Ok(passed.saturating_add((seconds / 10) as i64) >= seconds as i64)
}
