//! `pinakes source profiles`

use super::super::{Done, General, output};
use anyhow::bail;
use pinakes::source::{PROFILES, Registry, profile};
use serde_json::json;
use std::path::Path;

/// List the source descriptions that come with the program
///
/// With a NAME its text is printed. `pinakes source add --from NAME` takes one into a catalogue.
/// They are facts as we know them, rounded; nothing of them was fetched.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes source profiles
  pinakes source profiles bnf")]
pub(super) struct Profiles {
    name: Option<String>,
}

impl Profiles {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        if let Some(name) = &self.name {
            let Some(text) = profile(name) else {
                bail!("there is no profile `{name}`; `pinakes source profiles` lists them");
            };
            output::line(text.trim_end())?;
            return Ok(Done::Well);
        }
        let mut rows = Vec::new();
        for (name, text) in PROFILES {
            if let Ok(source) = Registry::check(name, Path::new(name), text) {
                rows.push(source);
            }
        }
        if general.json {
            output::json(&rows.iter().map(|source| json!(source)).collect::<Vec<_>>())?;
            return Ok(Done::Well);
        }
        for source in rows {
            let needs = if source.access.variables().is_empty() { "" } else { "  (needs a key)" };
            output::line(&format!(
                "{:<14} {:<8} {}{needs}",
                source.key,
                source.technique.name(),
                source.name
            ))?;
        }
        Ok(Done::Well)
    }
}
