//! `pinakes source edit`, `disable` and `enable`

use super::super::{Done, General, output};
use super::{Desk, assignment};
use pinakes::source::Draft;
use serde_json::json;

/// Change fields of a source
///
/// Rewrites its description and keeps comments and order. What is wrong is said field by field,
/// and then nothing is changed. An empty value takes a field away. `pinakes source add --help`
/// says how fields are named.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes source edit repo complexity=3 subjects.music=0.4
  pinakes source edit bnf oai.sets='[\"books\", \"theses\"]' schedule=daily
  pinakes source edit bnf oai.sets=

Exit status: 0 changed; 1 refused, nothing was changed; 2 could not run")]
pub(super) struct Edit {
    key: String,
    #[arg(required = true, value_name = "FIELD=VALUE")]
    fields: Vec<String>,
}

/// Keep a source and do not harvest it
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes source disable repo")]
pub(super) struct Disable {
    #[arg(required = true, value_name = "KEY")]
    keys: Vec<String>,
}

/// Harvest a disabled source again
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes source enable repo")]
pub(super) struct Enable {
    #[arg(required = true, value_name = "KEY")]
    keys: Vec<String>,
}

impl Edit {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let fields: Vec<_> = self.fields.iter().map(|typed| assignment(typed)).collect::<Result<_, _>>()?;
        change(&[self.key], &fields, "changed", general)
    }
}

impl Disable {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        change(&self.keys, &[("enabled", "false")], "disabled", general)
    }
}

impl Enable {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        change(&self.keys, &[("enabled", "true")], "enabled", general)
    }
}

fn change(keys: &[String], fields: &[(&str, &str)], done: &str, general: &General) -> anyhow::Result<Done> {
    let desk = Desk::open(general)?;
    let mut drafts = Vec::new();
    for key in keys {
        let mut draft = Draft::open(key, desk.place(key)?)?;
        for (field, value) in fields {
            draft.set(field, value)?;
        }
        drafts.push(draft);
    }
    let mut ended = Done::Well;
    for draft in &drafts {
        match desk.save(draft)? {
            Some(source) if general.json => {
                output::json(
                    &json!({ "key": source.key, "file": source.place.file, "enabled": source.enabled }),
                )?;
            }
            Some(source) => output::line(&format!("{}: {done}", source.key))?,
            None => ended = Done::WithDataErrors,
        }
    }
    Ok(ended)
}
