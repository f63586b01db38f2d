//! `pinakes harvest status`

use super::super::{Done, General, output};
use super::report;
use pinakes::config::LockError;
use pinakes::diagnostic::{Diagnostic, render::printable};
use pinakes::pipeline::{self, Note, PipelineError, Session, Watch};
use std::collections::BTreeMap;
use std::time::Duration;

/// How often a watched status is shown anew.
const EVERY: Duration = Duration::from_secs(2);

/// Show how the harvest of each source stands
///
/// For each source: how its last run ended, what it is asking for, how many records were new,
/// changed or deleted, and its problems by cause. It can be asked while a harvest is at work.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes harvest status
  pinakes harvest status --json")]
pub(super) struct Status {
    /// Show it again every two seconds, until nothing is harvested any more
    #[arg(long)]
    watch: bool,
}

impl Status {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        loop {
            let (notes, busy) = notes(general)?;
            if general.json {
                output::json(&notes)?;
            } else {
                show(&notes)?;
            }
            if !self.watch || !busy {
                return Ok(Done::Well);
            }
            std::thread::sleep(EVERY);
            output::line("")?;
        }
    }
}

/// The notes of all sources, and whether a writer is at work. The archive tells; while it is
/// being written, the copy that the writer leaves beside it.
fn notes(general: &General) -> anyhow::Result<(BTreeMap<String, Note>, bool)> {
    let home = general.home()?;
    match Session::read_archive(home.clone(), &mut Impatient) {
        Ok(session) => Ok((pipeline::harvest_notes(&session)?, false)),
        Err(PipelineError::Lock(LockError::Writing(_))) => Ok((pipeline::notes_beside(&home)?, true)),
        Err(error) => Err(error.into()),
    }
}

fn show(notes: &BTreeMap<String, Note>) -> anyhow::Result<()> {
    if notes.is_empty() {
        return output::line("nothing was harvested yet");
    }
    for (source, note) in notes {
        let summary = &note.summary;
        output::line(&format!("{source}: {}", report::end(&note.end)))?;
        output::line(&format!("  last       {}  {}", note.time, printable(&note.url)))?;
        if let Some(since) = note.state.since {
            let since = since.write(pinakes::harvest::oai::Granularity::Second);
            output::line(&format!("  next from  {since}"))?;
        }
        if let Some(window) = &note.window {
            let of = note.expected.map(|size| format!(" of {}", output::number(size))).unwrap_or_default();
            output::line(&format!("  asking for {window}: {}{of}", output::number(note.received)))?;
        }
        output::line(&format!(
            "  records    {}: {} new, {} changed, {} unchanged, {} deleted, {} rejected, in {}",
            output::number(summary.records),
            output::number(summary.new),
            output::number(summary.changed),
            output::number(summary.unchanged),
            output::number(summary.withdrawn),
            output::number(summary.rejected),
            output::count(note.pages, "page"),
        ))?;
        for (cause, count) in &summary.diagnostics {
            output::line(&format!("  {cause:<24} {}", output::number(*count)))?;
        }
    }
    Ok(())
}

/// Does not wait for anybody.
struct Impatient;

impl Watch for Impatient {
    fn begin(&mut self, _: &str, _: Option<u64>) {}
    fn advance(&mut self, _: u64, _: u64) {}
    fn end(&mut self) {}
    fn diagnostic(&mut self, _: &Diagnostic) {}
}
