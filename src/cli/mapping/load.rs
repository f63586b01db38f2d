//! `pinakes mapping load` and `unload`

use super::super::progress::Progress;
use super::super::{Done, General, output};
use anyhow::bail;
use pinakes::concordance::with_source;
use pinakes::pipeline::{self, Change, Changed, Followed, Session, TypedText};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Keep rule files of your own in the catalogue
///
/// The files are checked together, as they would stand among the others, and their examples are
/// run; if anything is wrong none is loaded, and the rules stay as they were. A file with the
/// name of a shipped one takes its place; one that is limited to a source does so for that source
/// alone. Then the records in which a changed rule's selector occurs are mapped again from the
/// archive, and no others.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes mapping load my-rules.toml my-codes.tsv
  pinakes mapping load relators.tsv
  pinakes mapping load keys.rq --as bibframe/keys

Exit status: 0 loaded; 1 refused, the rules are as they were; 2 could not run")]
pub(super) struct Load {
    /// Rule files (.toml), code lists (.tsv) or queries (.rq)
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// What the file is called, when its own name and folder do not say it; for one file
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,
}

impl Load {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        if self.name.is_some() && self.files.len() > 1 {
            bail!("`--as` names one file, and there are {}", self.files.len());
        }
        let mut files = Vec::new();
        for file in &self.files {
            if let Some(text) = TypedText::of(file) {
                let place = general.catalogue.join(text.path());
                bail!(
                    "`{}` says how records are resolved, and is no rule; copy it to `{}`, and it counts",
                    file.display(),
                    place.display()
                );
            }
            let (path, text) = super::read(file, general)?;
            let path = match &self.name {
                Some(name) => named(name, file, &text)?,
                None => path,
            };
            if files.iter().any(|(known, _)| *known == path) {
                bail!("two of the files are called `{path}`");
            }
            files.push((path, text));
        }
        let mut progress = Progress::new(general);
        let mut session = Session::write(general.home()?, &mut progress)?;
        let change = pipeline::load(&mut session, &files, &now(), &mut progress)?;
        let (diagnostics, refused) = match &change {
            Change::Refused(diagnostics) => (diagnostics.as_slice(), true),
            Change::Done { warnings, .. } => (warnings.as_slice(), false),
            Change::Nothing { .. } => (&[][..], false),
        };
        for mut diagnostic in diagnostics.iter().cloned() {
            // A user knows a file by the path typed.
            let typed = files.iter().zip(&self.files).find(|((path, _), _)| {
                diagnostic.place.origin.as_deref() == Some(&format!("mappings/{path}"))
            });
            if let Some((_, file)) = typed {
                diagnostic.place.origin = Some(file.display().to_string());
            }
            output::diagnostic(general, &diagnostic);
        }
        if !refused {
            report(&change, general)?;
            crate::cli::resolve::say_waiting(general, &session)?;
            return Ok(Done::Well);
        }
        let what = match self.files.as_slice() {
            [file] => format!("`{}` was not loaded", file.display()),
            _ => "nothing was loaded".to_owned(),
        };
        output::say(general, &format!("{what}; the rules are as they were"));
        Ok(Done::WithDataErrors)
    }
}

/// The path for a name the user gave: `bibframe/keys`, with or without its ending.
fn named(name: &str, file: &Path, text: &str) -> anyhow::Result<String> {
    let ending = file.extension().unwrap_or_default().to_string_lossy();
    let name = name.trim_start_matches("mappings/");
    let bare = name.strip_suffix(&format!(".{ending}")).unwrap_or(name);
    let parts: Vec<&str> = bare.split('/').collect();
    let well_formed = parts.iter().all(|part| !part.is_empty() && *part != "." && *part != "..");
    if parts.len() < 2 || !well_formed {
        bail!("`{name}` is no name of a rule file; write folder and name, such as `bibframe/keys`");
    }
    Ok(with_source(&format!("{bare}.{ending}"), text))
}

/// Take back rule files that were loaded
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes mapping unload my-rules

Exit status: 0 taken back; 1 refused, others need it; 2 could not run")]
pub(super) struct Unload {
    /// Names as `pinakes mapping list` shows them; the format may be left out
    #[arg(required = true)]
    names: Vec<String>,
}

impl Unload {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let mut progress = Progress::new(general);
        let mut session = Session::write(general.home()?, &mut progress)?;
        let loaded: Vec<String> = session
            .archive
            .concordances()?
            .into_iter()
            .filter(|(_, versions)| versions.last().is_some_and(|last| !last.unloaded))
            .map(|(path, _)| path)
            .collect();
        let mut paths = Vec::new();
        for name in &self.names {
            paths.push(find(name, &loaded)?);
        }
        paths.dedup();
        let change = pipeline::unload(&mut session, &paths, &now(), &mut progress)?;
        if let Change::Refused(diagnostics) = &change {
            diagnostics.iter().for_each(|diagnostic| output::diagnostic(general, diagnostic));
            let what = match paths.as_slice() {
                [path] => format!("`{path}` is needed by other files and stays loaded"),
                _ => "some of these are needed by other files; all stay loaded".to_owned(),
            };
            output::say(general, &what);
            return Ok(Done::WithDataErrors);
        }
        report(&change, general)?;
        Ok(Done::Well)
    }
}

/// The loaded file a name stands for.
fn find(name: &str, loaded: &[String]) -> anyhow::Result<String> {
    let bare = |path: &str| path.rsplit_once('.').map_or(path, |(name, _)| name).to_owned();
    let wanted = name.trim_start_matches("mappings/");
    let short = bare_of_known(wanted);
    let found: Vec<&String> = loaded
        .iter()
        .filter(|path| {
            let known = bare(path);
            let last = known.rsplit('/').next().unwrap_or_default().to_owned();
            let without_source = last.rsplit_once('@').map_or(last.as_str(), |(name, _)| name);
            *path == wanted || known == short || last == short || without_source == short
        })
        .collect();
    match found.as_slice() {
        [path] => Ok((*path).clone()),
        [] if loaded.is_empty() => bail!("nothing is loaded"),
        [] => bail!("`{name}` is not loaded; loaded are {}", loaded.join(", ")),
        several => {
            let several: Vec<&str> = several.iter().map(|path| path.as_str()).collect();
            bail!("`{name}` may be {}; name it whole", several.join(" or "))
        }
    }
}

/// A name without the ending of a rule file, where it has one.
fn bare_of_known(name: &str) -> &str {
    [".toml", ".tsv", ".rq"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

fn now() -> String {
    jiff::Timestamp::now().to_string()
}

fn report(change: &Change, general: &General) -> anyhow::Result<()> {
    match change {
        Change::Nothing { paths } => {
            if general.json {
                let files: Vec<_> = paths.iter().map(|path| json!({ "file": path })).collect();
                return output::json(&json!({ "files": files, "rules": 0, "remapped": 0 }));
            }
            paths.iter().try_for_each(|path| output::line(&format!("{path}: nothing changed")))
        }
        Change::Done { files, followed, .. } => {
            let Followed { rules, records, remapped } = followed;
            if general.json {
                let files: Vec<_> = files
                    .iter()
                    .map(|file| {
                        json!({ "file": file.path, "version": file.version, "of_shipped": file.of_shipped })
                    })
                    .collect();
                return output::json(&json!({
                    "files": files, "rules": rules, "records": records, "remapped": remapped,
                }));
            }
            for file in files {
                output::line(&line(file))?;
            }
            output::line(&format!(
                "{} changed, {} of {} mapped again",
                output::count(*rules as u64, "rule"),
                output::number(*remapped),
                output::count(*records, "record"),
            ))
        }
        Change::Refused(_) => Ok(()),
    }
}

fn line(file: &Changed) -> String {
    let (path, shipped) = (&file.path, file.of_shipped);
    match file.version {
        Some(version) if shipped => {
            format!("{path}: loaded, version {version}, in the place of the shipped file")
        }
        Some(version) => format!("{path}: loaded, version {version}"),
        None if shipped => format!("{path}: taken back; the shipped file is in force again"),
        None => format!("{path}: taken back"),
    }
}
