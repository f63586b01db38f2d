//! `pinakes resolve` and its commands: find duplicates, explain them, decide about them.

mod decide;
mod evaluate;
mod explain;
mod features;
mod report;
mod review;
mod sample;
mod show;
mod survey;

use super::progress::Progress;
use super::{Done, General, now, output};
use anyhow::Context;
use pinakes::pipeline::{self, Kind, Labelling, ResolveRequest, Session};
use std::path::PathBuf;

/// Find duplicates and merge them into one catalogue
///
/// Records are compared by the profiles of `mappings/resolve/`; what describes one thing becomes one
/// entry of the merged catalogue, which queries see from then on. Records that are alone are entries
/// too. Only what changed since the last run is read, compared and written. Nothing of the records themselves
/// is touched, and people's decisions (`join`, `never`, `split`) always count.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  pinakes resolve
  pinakes resolve --dry-run
  pinakes resolve explain loc/lib0011 spreadsheet/B-004
  pinakes resolve show loc/lib0011
  pinakes resolve review
  pinakes resolve report

Exit status: 0 done; 1 done, but decisions contradict each other; 2 could not run"
)]
pub(super) struct ResolveGroup {
    #[command(subcommand)]
    command: Option<ResolveCommand>,
    /// Report on this profile alone. All are resolved all the same: works follow from instances, and
    /// translations from works and agents, so one alone would leave a catalogue that contradicts itself
    #[arg(long, value_enum, value_name = "PROFILE")]
    profile: Option<Profile>,
    /// What to compare: `last`, what changed since the last run (default), or `ever`, everything, with
    /// the weights in force
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Since::Last)]
    since: Since,
    /// Say what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Learn the weights again and compare everything again
    #[arg(long)]
    full: bool,
}

#[derive(clap::Subcommand)]
enum ResolveCommand {
    Explain(explain::Explain),
    Show(show::Show),
    Review(review::Review),
    Join(decide::Join),
    Never(decide::Never),
    Split(decide::Split),
    Undo(decide::Undo),
    Decisions(decide::Decisions),
    Report(survey::Report),
    Sample(sample::Draw),
    Evaluate(evaluate::Evaluate),
    Features(features::Features),
    Train(Train),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Since {
    Last,
    Ever,
}

/// A profile, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Profile {
    Instance,
    Work,
    Agent,
}

impl Profile {
    fn kind(self) -> Kind {
        match self {
            Self::Instance => Kind::Instance,
            Self::Work => Kind::Work,
            Self::Agent => Kind::Agent,
        }
    }
}

impl ResolveGroup {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        match self.command {
            None => {
                let afresh = self.since == Since::Ever;
                let request = ResolveRequest { full: self.full, afresh, dry_run: self.dry_run, time: now() };
                take(general, &request, self.profile.map(Profile::kind))
            }
            Some(ResolveCommand::Explain(command)) => command.run(general),
            Some(ResolveCommand::Show(command)) => command.run(general),
            Some(ResolveCommand::Review(command)) => command.run(general),
            Some(ResolveCommand::Join(command)) => command.run(general),
            Some(ResolveCommand::Never(command)) => command.run(general),
            Some(ResolveCommand::Split(command)) => command.run(general),
            Some(ResolveCommand::Undo(command)) => command.run(general),
            Some(ResolveCommand::Decisions(command)) => command.run(general),
            Some(ResolveCommand::Report(command)) => command.run(general),
            Some(ResolveCommand::Sample(command)) => command.run(general),
            Some(ResolveCommand::Evaluate(command)) => command.run(general),
            Some(ResolveCommand::Features(command)) => command.run(general),
            Some(ResolveCommand::Train(command)) => command.run(general),
        }
    }
}

/// Lets records that wait be found by searching, and says how many there are.
pub(super) fn leave_waiting(general: &General, session: &Session) -> anyhow::Result<()> {
    pipeline::index_waiting(session, &mut Progress::new(general))?;
    say_waiting(general, session)
}

/// Says how many records the merged catalogue does not show as they are.
pub(super) fn say_waiting(general: &General, session: &Session) -> anyhow::Result<()> {
    if let Some(told) = pipeline::count_waiting(session)?.and_then(waiting) {
        output::say(general, &told);
    }
    Ok(())
}

/// What is said of records that wait, if any do.
pub(super) fn waiting(records: u64) -> Option<String> {
    let verb = if records == 1 { "waits" } else { "wait" };
    (records > 0).then(|| format!("{} {verb} for `pinakes resolve`", output::count(records, "record")))
}

/// Resolves what waits, and says what came of it.
pub(super) fn take_waiting(general: &General) -> anyhow::Result<Done> {
    take(general, &ResolveRequest { time: now(), ..ResolveRequest::default() }, None)
}

pub(super) fn take(general: &General, request: &ResolveRequest, only: Option<Kind>) -> anyhow::Result<Done> {
    let mut progress = Progress::new(general);
    let mut session = Session::write(general.home()?, &mut progress)?;
    let resolved = pipeline::resolve(&mut session, request, &mut progress)?;
    report::resolved(general, &resolved, only)
}

/// Learn from the records how much agreement and disagreement count
///
/// Without labels: which level vectors occur together tells pairs of one publication from others.
/// The weights are kept in the archive and are used from then on, until they are learned again; that
/// happens by itself when there are more than a quarter more records, or when a profile changes.
///
/// Labels sharpen them: pairs of which people said whether they are one. The table is like that of
/// `evaluate`, and counts in every later learning until another takes its place.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes resolve train
  pinakes resolve train --labels pairs.csv
  pinakes resolve train --decisions
  pinakes resolve train --no-labels")]
struct Train {
    /// A table of pairs (`left_source`, `left_id`, `right_source`, `right_id`, `same`) or of groups
    #[arg(long, value_name = "FILE", group = "labelling")]
    labels: Option<PathBuf>,
    /// Learn from what people decided so far
    #[arg(long, group = "labelling")]
    decisions: bool,
    /// Forget labels given earlier
    #[arg(long, group = "labelling")]
    no_labels: bool,
    /// What the labels speak of
    #[arg(long, value_enum, value_name = "PROFILE", default_value_t = Profile::Instance)]
    profile: Profile,
}

impl Train {
    fn run(self, general: &General) -> anyhow::Result<Done> {
        let labelling = match &self.labels {
            Some(path) => Some(Labelling::Table(
                std::fs::read_to_string(path)
                    .with_context(|| format!("cannot read the labels `{}`", path.display()))?,
            )),
            None if self.decisions => Some(Labelling::Decisions),
            None if self.no_labels => Some(Labelling::Nothing),
            None => None,
        };
        let request = ResolveRequest { full: true, afresh: true, dry_run: false, time: now() };
        let mut progress = Progress::new(general);
        let mut session = Session::write(general.home()?, &mut progress)?;
        if let Some(labelling) = labelling {
            let pairs = pipeline::keep_labels(&mut session, self.profile.kind(), &labelling, &request.time)?;
            output::say(general, &output::count(pairs, "labelled pair"));
        }
        output::say(general, "learning weights from all records, and resolving with them");
        let resolved = pipeline::resolve(&mut session, &request, &mut progress)?;
        report::resolved(general, &resolved, None)
    }
}
