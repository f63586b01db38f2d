//! `pinakes source`: describe where records come from.

mod add;
mod edit;
mod list;
mod probe;
mod profiles;
mod remove;
mod show;

use super::progress::Progress;
use super::{Done, General, output};
use anyhow::{Context, bail};
use pinakes::diagnostic::{Diagnostic, near};
use pinakes::pipeline::{self, Session};
use pinakes::source::{Draft, Place, Registry, Source};

/// Describe the sources that records come from
///
/// A source is a file `sources/KEY.toml` in the catalogue's directory, or a table `[source.KEY]`
/// of its `pinakes.toml`; these commands write such files, and an editor does as well. Nothing
/// is fetched.
#[derive(clap::Args)]
pub(super) struct SourceGroup {
    #[command(subcommand)]
    command: SourceCommand,
}

#[derive(clap::Subcommand)]
enum SourceCommand {
    Add(add::Add),
    Edit(edit::Edit),
    Disable(edit::Disable),
    Enable(edit::Enable),
    Remove(remove::Remove),
    List(list::List),
    Show(show::Show),
    Profiles(profiles::Profiles),
    Probe(probe::Probe),
}

impl SourceGroup {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        match self.command {
            SourceCommand::Add(command) => command.run(general),
            SourceCommand::Edit(command) => command.run(general),
            SourceCommand::Disable(command) => command.run(general),
            SourceCommand::Enable(command) => command.run(general),
            SourceCommand::Remove(command) => command.run(general),
            SourceCommand::List(command) => command.run(general),
            SourceCommand::Show(command) => command.run(general),
            SourceCommand::Profiles(command) => command.run(general),
            SourceCommand::Probe(command) => command.run(general),
        }
    }
}

/// A catalogue opened to change its sources.
struct Desk<'a> {
    general: &'a General,
    session: Session,
    registry: Registry,
}

impl<'a> Desk<'a> {
    /// The lock is taken first, so that two commands do not write one file.
    fn open(general: &'a General) -> anyhow::Result<Self> {
        let session = Session::write(general.home()?, &mut Progress::new(general))?;
        let registry = Registry::read(&session.home.directory)?;
        Ok(Self { general, session, registry })
    }

    fn place(&self, key: &str) -> anyhow::Result<&Place> {
        self.registry.place(key).with_context(|| unknown(&self.registry, key))
    }

    /// Writes a draft if nothing is wrong with it, and lets the store follow.
    fn save(&self, draft: &Draft) -> anyhow::Result<Option<Source>> {
        match draft.check() {
            Ok(source) => {
                draft.save()?;
                pipeline::mirror_sources(&self.session)?;
                Ok(Some(source))
            }
            Err(diagnostics) => {
                say(&diagnostics, self.general);
                let count = output::count(diagnostics.len() as u64, "mistake");
                output::say(self.general, &format!("{count}; nothing was written"));
                Ok(None)
            }
        }
    }
}

fn say(diagnostics: &[Diagnostic], general: &General) {
    for diagnostic in diagnostics {
        output::diagnostic(general, diagnostic);
    }
}

/// The sources, after a word about each mistake; and how that ends.
pub(super) fn registry(general: &General) -> anyhow::Result<(Registry, Done)> {
    let registry = Registry::read(&general.home()?.directory)?;
    say(registry.diagnostics(), general);
    let done = if registry.diagnostics().is_empty() { Done::Well } else { Done::WithDataErrors };
    Ok((registry, done))
}

/// A key that is not there is a typing mistake: the nearest are named.
fn unknown(registry: &Registry, key: &str) -> String {
    let keys: Vec<&str> = registry.keys().collect();
    let said = format!("no source `{key}` is described");
    match near(key, keys.iter().copied()).as_slice() {
        [] if keys.is_empty() => format!("{said}; `pinakes source add` describes one"),
        [] => format!("{said}; there are {}", keys.join(", ")),
        near => format!("{said}; did you mean `{}`?", near.join("` or `")),
    }
}

/// `complexity=2` as field and value.
fn assignment(typed: &str) -> anyhow::Result<(&str, &str)> {
    match typed.split_once('=') {
        Some((field, value)) if !field.trim().is_empty() => Ok((field.trim(), value.trim())),
        _ => bail!("`{typed}` is not written as `FIELD=VALUE`"),
    }
}
