//! `pinakes vocabulary`: words that mean the same, or something narrower.

use super::progress::Progress;
use super::{Done, General, now, output};
use anyhow::{Context, bail};
use pinakes::pipeline::{self, LARGEST_VOCABULARY, LoadedVocabulary, Session};
use serde_json::json;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Keep SKOS vocabularies that searches are widened by
///
/// A search with `expand` also finds what has another label of the same concept, or a label of a
/// narrower one. The variant names of agents and subjects in the catalogue count as well, without any
/// vocabulary.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes vocabulary load examples/topics.ttl
  pinakes vocabulary list
  pinakes vocabulary show topics")]
pub(super) struct VocabularyGroup {
    #[command(subcommand)]
    command: VocabularyCommand,
}

#[derive(clap::Subcommand)]
enum VocabularyCommand {
    Load(Load),
    List(List),
    Show(Show),
    Remove(Remove),
}

impl VocabularyGroup {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        match self.command {
            VocabularyCommand::Load(command) => command.run(general),
            VocabularyCommand::List(command) => command.run(general),
            VocabularyCommand::Show(command) => command.run(general),
            VocabularyCommand::Remove(command) => command.run(general),
        }
    }
}

/// Load a vocabulary, or a new version of it
///
/// The file is SKOS in any syntax of RDF. It is kept in the archive as it is, and stands in a graph
/// of its own; a vocabulary of the same name is replaced.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes vocabulary load examples/topics.ttl
  pinakes vocabulary load examples/topics.ttl --name literature

Exit status: 0 loaded; 1 refused, nothing has changed; 2 could not run")]
struct Load {
    file: PathBuf,
    /// What it is called; without it, as the file is
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

impl Load {
    fn run(self, general: &General) -> anyhow::Result<Done> {
        let bytes = read(&self.file)?;
        let name = self.name.unwrap_or_else(|| name_of(&self.file));
        let file = self.file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let mut progress = Progress::new(general);
        let mut session = Session::write(general.home()?, &mut progress)?;
        match pipeline::load_vocabulary(&mut session, &name, &file, bytes, &now(), &mut progress)? {
            LoadedVocabulary::Refused(fault) => {
                output::diagnostic(general, &fault);
                return Ok(Done::WithDataErrors);
            }
            LoadedVocabulary::Unchanged if general.json => output::json(&json!({ "unchanged": name }))?,
            LoadedVocabulary::Unchanged => output::line(&format!("`{name}` is loaded already"))?,
            LoadedVocabulary::Loaded(vocabulary) if general.json => output::json(&vocabulary)?,
            LoadedVocabulary::Loaded(vocabulary) => output::line(&format!(
                "loaded `{name}`, version {}: {}",
                vocabulary.versions,
                output::count(vocabulary.statements, "statement")
            ))?,
        }
        Ok(Done::Well)
    }
}

/// The content of a file that is not too large.
fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    let context = || format!("cannot read `{}`", file.display());
    let opened = std::fs::File::open(file).with_context(context)?;
    let mut bytes = Vec::new();
    opened.take(LARGEST_VOCABULARY as u64 + 1).read_to_end(&mut bytes).with_context(context)?;
    if bytes.len() > LARGEST_VOCABULARY {
        let largest = output::size(LARGEST_VOCABULARY as u64);
        bail!("`{}` is larger than {largest}; load it in parts, each under a name", file.display());
    }
    Ok(bytes)
}

/// `topics` of `some/Topics.ttl`.
fn name_of(file: &Path) -> String {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
    stem.chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
        .collect()
}

/// List the vocabularies in force
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes vocabulary list")]
struct List {}

impl List {
    fn run(self, general: &General) -> anyhow::Result<Done> {
        let session = Session::read(general.home()?, &mut Progress::new(general))?;
        let vocabularies = pipeline::vocabularies(&session)?;
        if general.json {
            output::json(&vocabularies)?;
            return Ok(Done::Well);
        }
        if vocabularies.is_empty() {
            output::say(general, "no vocabulary is loaded; `pinakes vocabulary load FILE` loads one");
        }
        for one in vocabularies {
            let statements = output::count(one.statements, "statement");
            output::line(&format!("{:<24} {statements:<20} {} {}", one.name, one.loaded, one.file))?;
        }
        Ok(Done::Well)
    }
}

/// Say what is in a vocabulary
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes vocabulary show topics
  pinakes vocabulary show topics --json")]
struct Show {
    /// Its name, as `pinakes vocabulary list` shows it
    name: String,
}

impl Show {
    fn run(self, general: &General) -> anyhow::Result<Done> {
        let session = Session::read(general.home()?, &mut Progress::new(general))?;
        let Some(shown) = pipeline::show_vocabulary(&session, &self.name)? else { bail!(absent(&self.name)) };
        if general.json {
            output::json(&shown)?;
            return Ok(Done::Well);
        }
        let one = &shown.vocabulary;
        output::line(&format!(
            "{}, version {} of {}, from {}",
            one.name, one.versions, one.loaded, one.file
        ))?;
        output::line(&format!("graph      <{}>", one.graph))?;
        output::line(&format!("concepts   {}", output::number(shown.concepts)))?;
        output::line(&format!("hierarchy  {}", output::count(shown.hierarchy, "link")))?;
        for (language, count) in &shown.labels {
            let language = if language.is_empty() { "without a language" } else { language };
            output::line(&format!("labels     {} {language}", output::number(*count)))?;
        }
        Ok(Done::Well)
    }
}

/// Take a vocabulary out of the catalogue
///
/// Its versions stay in the archive.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes vocabulary remove literature")]
struct Remove {
    /// Its name, as `pinakes vocabulary list` shows it
    name: String,
}

impl Remove {
    fn run(self, general: &General) -> anyhow::Result<Done> {
        let mut progress = Progress::new(general);
        let mut session = Session::write(general.home()?, &mut progress)?;
        if !pipeline::remove_vocabulary(&mut session, &self.name, &now(), &mut progress)? {
            bail!(absent(&self.name));
        }
        if general.json {
            output::json(&json!({ "removed": self.name }))?;
        } else {
            output::line(&format!("removed `{}`", self.name))?;
        }
        Ok(Done::Well)
    }
}

fn absent(name: &str) -> String {
    format!("there is no vocabulary `{name}`; `pinakes vocabulary list` names what there is")
}
