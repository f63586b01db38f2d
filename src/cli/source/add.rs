//! `pinakes source add`

use super::super::{Done, General, output};
use super::{Desk, assignment};
use anyhow::{bail, ensure};
use pinakes::diagnostic::near;
use pinakes::source::{self, Draft, PROFILES, Source, Technique};
use serde_json::json;

/// Describe a source
///
/// Writes `sources/KEY.toml`. A description needs `name`, `website` and `technique`; a field of
/// a table is named with a dot: `oai.url`, `subjects.music`. What is wrong is said field by
/// field, and then nothing is written. `--from` begins with a description that comes with the
/// program; one that needs a key or password is disabled until somebody enables it.
#[derive(clap::Args)]
#[command(after_help = "\
Techniques: oai-pmh, file; later sru, sparql, api, feed, sitemap, web; manual.
Secrets never stand in a description: `access.bearer.token_env=NAME` names an environment variable.
docs/sources.md explains every field.

Examples:
  pinakes source add repo name=Repository website=https://repo.example technique=manual
  pinakes source add shop name=Shop website=https://s.example technique=file file.paths=books.csv.gz
  pinakes source add --from bnf technique=oai-pmh oai.prefix=oai_dc subjects.music=0.3
  pinakes source add music --from discogs importance=0.9

Exit status: 0 added; 1 refused, nothing was written; 2 could not run")]
pub(super) struct Add {
    /// The short name, in IRIs and for `--source`; with --from, the name of the profile
    key: Option<String>,
    /// Its fields
    #[arg(value_name = "FIELD=VALUE")]
    fields: Vec<String>,
    /// Begin with a description that comes with the program; `pinakes source profiles` lists them
    #[arg(long, value_name = "PROFILE")]
    from: Option<String>,
}

impl Add {
    pub fn run(mut self, general: &General) -> anyhow::Result<Done> {
        // Where a profile names the source, the first field may stand in the key's place.
        if self.from.is_some() && self.key.as_ref().is_some_and(|key| key.contains('=')) {
            self.fields.extend(self.key.take());
        }
        let Some(key) = self.key.as_ref().or(self.from.as_ref()) else {
            bail!("a source needs a key: `pinakes source add KEY name=…`");
        };
        if let Err(reason) = source::check_registered_key(key) {
            bail!("`{key}` cannot be the key of a source: {reason}");
        }
        let desk = Desk::open(general)?;
        if let Some(place) = desk.registry.place(key) {
            bail!(
                "`{key}` is described already, in {}; `pinakes source edit` changes it",
                place.file.display()
            );
        }
        let directory = &desk.session.home.directory;
        let mut draft = match &self.from {
            Some(name) => Draft::new(directory, key, profile(name)?)?,
            None => Draft::empty(directory, key)?,
        };
        if self.from.is_some()
            && let Ok(source) = draft.check()
            && !source.access.variables().is_empty()
        {
            draft.set("enabled", "false")?;
        }
        for typed in &self.fields {
            let (field, value) = assignment(typed)?;
            draft.set(field, value)?;
        }
        ensure!(!draft.file().exists(), "`{}` is there already", draft.file().display());
        let Some(source) = desk.save(&draft)? else { return Ok(Done::WithDataErrors) };
        report(&source, general)?;
        Ok(Done::Well)
    }
}

fn profile(name: &str) -> anyhow::Result<&'static str> {
    if let Some(text) = source::profile(name) {
        return Ok(text);
    }
    let known = || PROFILES.iter().map(|(name, _)| *name);
    match near(name, known()).as_slice() {
        [] => bail!("there is no profile `{name}`; there are {}", known().collect::<Vec<_>>().join(", ")),
        near => bail!("there is no profile `{name}`; did you mean `{}`?", near.join("` or `")),
    }
}

fn report(source: &Source, general: &General) -> anyhow::Result<()> {
    if general.json {
        return output::json(
            &json!({ "key": source.key, "file": source.place.file, "enabled": source.enabled }),
        );
    }
    output::line(&format!("{}: described in {}", source.key, source.place.file.display()))?;
    let variables = source.access.variables();
    if !variables.is_empty() && !source.enabled {
        output::say(
            general,
            &format!(
                "it is disabled: set {}, then `pinakes source enable {}`",
                variables.join(" and "),
                source.key
            ),
        );
    }
    if source.technique == Technique::Manual {
        output::say(general, &format!("`pinakes import --source {} FILE` takes its records in", source.key));
    } else if let Err(reason) = source.harvester() {
        output::say(general, &format!("note: {reason}"));
    }
    Ok(())
}
