//! `pinakes mapping`: look at, check, test and change the rules.

mod check;
mod coverage;
mod explain;
mod list;
mod load;
mod schema;
mod table;
mod test;
mod trial;

use super::progress::Progress;
use super::{Done, General};
use anyhow::Context;
use pinakes::concordance::{Concordances, Loaded, Origin, Source};
use pinakes::config::Home;
use pinakes::pipeline::{self, ResolveText, Session, TypedText};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Check, test, load and explain concordance rules
#[derive(clap::Args)]
pub(super) struct Mapping {
    #[command(subcommand)]
    command: MappingCommand,
}

#[derive(clap::Subcommand)]
enum MappingCommand {
    Check(check::Check),
    Test(test::Test),
    Try(trial::Try),
    Coverage(coverage::CoverageCommand),
    Explain(explain::Explain),
    Load(load::Load),
    Unload(load::Unload),
    List(list::List),
    Show(list::Show),
    Schema(schema::Schema),
    Table(table::Table),
}

impl Mapping {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        match self.command {
            MappingCommand::Check(command) => command.run(general),
            MappingCommand::Test(command) => command.run(general),
            MappingCommand::Try(command) => command.run(general),
            MappingCommand::Coverage(command) => command.run(general),
            MappingCommand::Explain(command) => command.run(general),
            MappingCommand::Load(command) => command.run(general),
            MappingCommand::Unload(command) => command.run(general),
            MappingCommand::Schema(command) => command.run(),
            MappingCommand::Table(command) => command.run(general),
            MappingCommand::List(command) => command.run(general),
            MappingCommand::Show(command) => command.run(general),
        }
    }
}

/// The rules in force: with what was loaded, where there is a catalogue.
fn in_force(general: &General) -> anyhow::Result<Arc<Concordances>> {
    if general.catalogue.join(Home::SETTINGS).exists() {
        let session = Session::read(general.home()?, &mut Progress::new(general))?;
        return Ok(Arc::clone(session.concordances()));
    }
    Ok(match &general.mappings {
        None => Concordances::shipped(),
        Some(_) => Arc::new(Concordances::new(sources(general)?)),
    })
}

/// The texts that records are resolved by, those that were typed among them.
fn resolve_texts(typed: &[TypedText], general: &General) -> anyhow::Result<Vec<ResolveText>> {
    let catalogue = Some(general.catalogue.as_path()).filter(|folder| folder.join(Home::SETTINGS).exists());
    Ok(pipeline::resolve_texts(catalogue, general.mappings.as_deref(), typed)?)
}

/// The files in force, with what was loaded where there is a catalogue.
fn sources(general: &General) -> anyhow::Result<Vec<Source>> {
    if general.catalogue.join(Home::SETTINGS).exists() {
        return Ok(Session::read(general.home()?, &mut Progress::new(general))?.rule_sources());
    }
    Ok(match &general.mappings {
        None => Concordances::shipped_sources(),
        Some(folder) => Concordances::sources_in(folder)
            .with_context(|| format!("cannot read the rules in `{}`", folder.display()))?,
    })
}

/// The shipped rules with some files of the user's among them, and what those are called.
fn with_files(files: &[PathBuf], general: &General) -> anyhow::Result<(Concordances, Vec<String>)> {
    let mut sources = sources(general)?;
    let mut paths = Vec::new();
    for file in files {
        let (path, text) = read(file, general)?;
        // What is typed counts, and not an older version in the catalogue.
        sources.retain(|known| known.path != path || known.origin == Origin::Shipped);
        sources.push(Source::new(path.clone(), text, Origin::Loaded(1)));
        paths.push(path);
    }
    Ok((Concordances::new(sources), paths))
}

/// Says what is wrong with the user's own files; whether something was an error.
fn say_problems(set: &Concordances, files: &[PathBuf], paths: &[String], general: &General) -> bool {
    // Without files of the user's own there is no need to read those of every format.
    if paths.is_empty() {
        return false;
    }
    let mut errors = false;
    for loaded in set.files() {
        let Some(index) = index_of(loaded, paths) else { continue };
        for mut diagnostic in loaded.diagnostics() {
            if diagnostic.severity() != pinakes::diagnostic::Severity::Error {
                continue;
            }
            errors = true;
            diagnostic.place.origin = files.get(index).map(|file| file.display().to_string());
            super::output::diagnostic(general, &diagnostic);
        }
    }
    errors
}

/// Which of the user's files a file of the set is. A shipped one that stays beside a user's file of
/// its name is none.
fn index_of(loaded: &Loaded, paths: &[String]) -> Option<usize> {
    let own = loaded.source.origin != Origin::Shipped;
    paths.iter().position(|path| own && *path == loaded.source.path)
}

/// A user's file: what it is called, and its text.
fn read(file: &Path, general: &General) -> anyhow::Result<(String, String)> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let path = path_of(file, &text, general).map_err(anyhow::Error::msg)?;
    Ok((path, text))
}

/// What a user's file is called: by its place below the folder of rules, else as
/// [`pinakes::concordance::path_of`] says.
fn path_of(file: &Path, text: &str, general: &General) -> Result<String, String> {
    if let Some(folder) = &general.mappings
        && let (Ok(file), Ok(folder)) = (file.canonicalize(), folder.canonicalize())
        && let Ok(below) = file.strip_prefix(&folder)
    {
        return Ok(below.display().to_string().replace('\\', "/"));
    }
    pinakes::concordance::path_of(file, text)
}
