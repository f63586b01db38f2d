//! `pinakes harvest`: take records from their sources.

mod report;
mod status;
mod stop;

use super::advice::advice;
use super::progress::Progress;
use super::{Done, General, import, output, resolve};
use anyhow::{Context, bail};
use pinakes::diagnostic::near;
use pinakes::fetch::{Fetcher, Options};
use pinakes::pipeline::{self, Course, End, HarvestRequest, Harvested, Session};
use pinakes::source::{Harvester, Registry, Source};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Take records from sources: what is new, changed or deleted since the last time
///
/// Sources are asked side by side, each as gently as its description says. Every page is in the
/// archive, with the place after it, before the next one counts; so a harvest that was stopped,
/// killed or left by its source goes on where it was when the same command is given again.
/// Ctrl-C finishes the page and stops; twice stops at once.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  pinakes harvest
  pinakes harvest arxiv gallica
  pinakes harvest --full arxiv
  pinakes harvest --since 2024-05-31 arxiv
  pinakes harvest --resolve arxiv
  pinakes harvest --dry-run
  pinakes harvest status

Exit status: 0 done; 1 done, but a source failed or some data was refused; 2 could not run"
)]
pub(super) struct Harvest {
    #[command(subcommand)]
    command: Option<HarvestCommand>,
    #[command(flatten)]
    what: What,
}

#[derive(clap::Subcommand)]
enum HarvestCommand {
    Status(status::Status),
}

#[derive(clap::Args)]
struct What {
    /// The sources; without any, all that are enabled
    #[arg(value_name = "SOURCE")]
    sources: Vec<String>,
    /// Ask for everything again; what is not there any more is withdrawn
    #[arg(long, conflicts_with = "since")]
    full: bool,
    /// Ask for what changed since then, this once
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Ask how much there is, and take nothing
    #[arg(long)]
    dry_run: bool,
    /// Fill the archive and leave the store for later; any other command lets it follow
    #[arg(long)]
    archive_only: bool,
    /// Merge what came into the catalogue at once, as `pinakes resolve` does
    #[arg(long, conflicts_with_all = ["dry_run", "archive_only"])]
    resolve: bool,
}

impl Harvest {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        match self.command {
            Some(HarvestCommand::Status(status)) => status.run(general),
            None => self.what.run(general),
        }
    }
}

impl What {
    fn run(self, general: &General) -> anyhow::Result<Done> {
        let (registry, mistakes) = super::source::registry(general)?;
        let named = !self.sources.is_empty();
        let sources = chosen(&registry, &self.sources)?;
        if sources.is_empty() {
            bail!(
                "no source is enabled; `pinakes source add` describes one, `pinakes source enable` wakes one"
            );
        }
        let mut courses = Vec::new();
        let mut files = Vec::new();
        for source in sources {
            match source.harvester() {
                Ok(Harvester::OaiPmh) => courses.push(Course::of(source, self.full, self.since.as_deref())?),
                Ok(Harvester::File) => files.push(source),
                Err(refused) if named => return Err(refused.into()),
                Err(refused) => output::say(general, &refused.to_string()),
                Ok(_) => bail!("`{}` has a technique that this command does not know", source.key),
            }
        }
        if self.dry_run {
            return report::rehearse(general, &courses, &files);
        }
        let taken = take(general, courses, &files, self.archive_only)?;
        if self.resolve {
            return Ok(Done::of_all(&[mistakes, taken, resolve::take_waiting(general)?]));
        }
        if !self.archive_only {
            let session = Session::read(general.home()?, &mut Progress::new(general))?;
            resolve::leave_waiting(general, &session)?;
        }
        Ok(mistakes.and(taken))
    }
}

/// Takes what sources have, by whatever technique, and says what came. One that fails does not
/// stop the others.
pub(super) fn take(
    general: &General,
    courses: Vec<Course>,
    files: &[&Source],
    archive_only: bool,
) -> anyhow::Result<Done> {
    let mut ends = ask(general, courses, archive_only)?;
    for source in files {
        ends.push(import::take_files(general, source).unwrap_or_else(|error| {
            output::error(&error, advice(&error, general).as_deref());
            Done::Failed
        }));
    }
    Ok(Done::of_all(&ends))
}

/// Harvests; how each source ended.
fn ask(general: &General, courses: Vec<Course>, archive_only: bool) -> anyhow::Result<Vec<Done>> {
    if courses.is_empty() {
        return Ok(Vec::new());
    }
    let cancel = Arc::new(AtomicBool::new(false));
    stop::on_interrupt(&cancel);
    let fetcher = Fetcher::new(Options::default()).context("no connection can be made")?;
    let request = HarvestRequest { courses, archive_only, clock: &super::now, cancel };
    let mut progress = Progress::new(general);
    let harvested = pipeline::harvest(general.home()?, &request, &fetcher, &mut progress)?;
    progress.rest();
    report::show(general, &harvested)?;
    Ok(harvested.iter().map(ended).collect())
}

fn ended(one: &Harvested) -> Done {
    match one.end {
        End::Failed { .. } if one.summary.records == 0 => Done::Failed,
        End::Failed { .. } | End::Incomplete => Done::WithDataErrors,
        _ if one.summary.has_errors() => Done::WithDataErrors,
        End::Complete | End::Stopped => Done::Well,
    }
}

/// The sources that were named, or all that are awake, the most important first.
pub(super) fn chosen<'a>(registry: &'a Registry, named: &[String]) -> anyhow::Result<Vec<&'a Source>> {
    if named.is_empty() {
        return Ok(registry.in_order());
    }
    let mut sources: Vec<&Source> = Vec::new();
    for key in named {
        let Some(source) = registry.get(key) else {
            let keys: Vec<&str> = registry.keys().collect();
            match near(key, keys.iter().copied()).as_slice() {
                [] => {
                    bail!("no source `{key}` is described; `pinakes source list --keys` names those that are")
                }
                near => bail!("no source `{key}` is described; did you mean `{}`?", near.join("` or `")),
            }
        };
        if !source.enabled {
            bail!("`{key}` is disabled; `pinakes source enable {key}` wakes it");
        }
        if !sources.iter().any(|known| known.key == source.key) {
            sources.push(source);
        }
    }
    Ok(sources)
}
