//! `pinakes mapping load` and `unload`

use super::super::progress::Progress;
use super::super::{Done, General, output};
use anyhow::{Context, bail};
use pinakes::pipeline::{self, Change, Followed, Session};
use serde_json::json;
use std::path::PathBuf;

/// Keep rule files of your own in the catalogue
///
/// Each file is checked as it would stand among the others; one with an error is refused, and the
/// rules stay as they were. A file with the name of a shipped one takes its place. Then the records in which
/// a changed rule's selector occurs are mapped again from the archive, and no others.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes mapping load my-rules.toml
  pinakes mapping load relators.tsv

Exit status: 0 loaded; 1 refused, the rules are as they were; 2 could not run")]
pub(super) struct Load {
    /// A rule file (.toml), code list (.tsv) or query (.rq)
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

impl Load {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let mut texts = Vec::new();
        for file in &self.files {
            let text =
                std::fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?;
            texts.push((super::path_of(file, &text, general), text));
        }
        // Code lists first: the rules beside them may need them.
        let mut loads: Vec<_> = texts.iter().zip(&self.files).collect();
        loads.sort_by_key(|((path, _), _)| !path.ends_with(".tsv"));
        let mut progress = Progress::new(general);
        let mut session = Session::write(general.home()?, &mut progress)?;
        let mut done = Done::Well;
        for ((path, text), file) in loads {
            let change = pipeline::load(&mut session, path, text, &now(), &mut progress)?;
            match change {
                Change::Refused(diagnostics) => {
                    for mut diagnostic in diagnostics {
                        if diagnostic.place.origin.as_deref() == Some(&format!("mappings/{path}")) {
                            diagnostic.place.origin = Some(file.display().to_string());
                        }
                        output::diagnostic(general, &diagnostic);
                    }
                    output::say(
                        general,
                        &format!("`{}` was not loaded; the rules are as they were", file.display()),
                    );
                    done = Done::WithDataErrors;
                }
                change => report(&change, general)?,
            }
        }
        Ok(done)
    }
}

/// Take back rule files that were loaded
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes mapping unload my-rules")]
pub(super) struct Unload {
    /// Names as `pinakes mapping list` shows them; the format may be left out
    #[arg(required = true)]
    names: Vec<String>,
}

impl Unload {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let mut progress = Progress::new(general);
        let mut session = Session::write(general.home()?, &mut progress)?;
        for name in &self.names {
            let loaded: Vec<String> = session
                .archive
                .concordances()?
                .into_iter()
                .filter(|(_, versions)| versions.last().is_some_and(|last| !last.unloaded))
                .map(|(path, _)| path)
                .collect();
            let bare = |path: &str| path.rsplit_once('.').map_or(path, |(name, _)| name).to_owned();
            let found: Vec<&String> = loaded
                .iter()
                .filter(|path| {
                    let known = bare(path);
                    *path == name
                        || known == *name
                        || known.rsplit('/').next() == Some(name.trim_end_matches(".toml"))
                })
                .collect();
            let path = match found.as_slice() {
                [path] => (*path).clone(),
                [] if loaded.is_empty() => bail!("nothing is loaded"),
                [] => bail!("`{name}` is not loaded; loaded are {}", loaded.join(", ")),
                several => {
                    let several: Vec<&str> = several.iter().map(|path| path.as_str()).collect();
                    bail!("`{name}` may be {}; name it whole", several.join(" or "))
                }
            };
            let change = pipeline::unload(&mut session, &path, &now(), &mut progress)?;
            if let Change::Refused(diagnostics) = &change {
                diagnostics.iter().for_each(|diagnostic| output::diagnostic(general, diagnostic));
                output::say(general, &format!("`{path}` is needed by others and stays loaded"));
                return Ok(Done::WithDataErrors);
            }
            report(&change, general)?;
        }
        Ok(Done::Well)
    }
}

fn now() -> String {
    jiff::Timestamp::now().to_string()
}

fn report(change: &Change, general: &General) -> anyhow::Result<()> {
    match change {
        Change::Nothing { path } => output::line(&format!("{path}: nothing changed")),
        Change::Done { path, version, replaces_shipped, followed } => {
            let Followed { rules, records, remapped } = followed;
            if general.json {
                return output::json(&json!({
                    "file": path, "version": version, "replaces_shipped": replaces_shipped,
                    "rules": rules, "records": records, "remapped": remapped,
                }));
            }
            if *replaces_shipped {
                output::say(general, &format!("{path} takes the place of the shipped file"));
            }
            output::line(&format!(
                "{path}: version {version}, {} changed, {} of {} mapped again",
                output::count(*rules as u64, "rule"),
                output::number(*remapped),
                output::count(*records, "record"),
            ))
        }
        Change::Refused(_) => Ok(()),
    }
}
