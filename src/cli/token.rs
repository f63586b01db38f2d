//! `pinakes token`: who may write, and more.

use super::progress::Progress;
use super::serve::TOKENS;
use super::{Done, General, now, output};
use anyhow::bail;
use pinakes::diagnostic::near;
use pinakes::pipeline::Session;
use pinakes::serve::{Role, token};
use pinakes::source::Registry;
use serde_json::json;
use std::collections::BTreeSet;

/// Make, list and revoke tokens for the server
///
/// A token is shown once, when it is made; the catalogue keeps a hash of it. A running server
/// notices at once.
#[derive(clap::Args)]
pub(super) struct TokenGroup {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(clap::Subcommand)]
enum TokenCommand {
    Create(Create),
    List(List),
    Revoke(Revoke),
}

/// Make a token and show it, this once
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes token create --role writer --label 'nightly job'
  pinakes token create --role writer --source loc
  TOKEN=$(pinakes token create --role admin --quiet)")]
struct Create {
    /// reader: wider limits; writer: updates and graphs; admin: backups and figures, too
    #[arg(long)]
    role: Role,
    /// What it is for
    #[arg(long, default_value = "")]
    label: String,
    /// The one source whose graphs it may write; one that is described or has records
    #[arg(long, value_name = "SOURCE")]
    source: Option<String>,
}

/// List the tokens there are; not one of them is shown
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes token list")]
struct List {}

/// Make a token worthless
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes token revoke 1f2e3d4c")]
struct Revoke {
    /// As `token list` shows it
    id: String,
}

impl TokenGroup {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let file = general.home()?.directory.join(TOKENS);
        match self.command {
            TokenCommand::Create(Create { role, label, source }) => {
                if let Some(source) = &source {
                    must_exist(source, general)?;
                }
                let new = token::New { role, label, source, created: now() };
                let (secret, known) = token::create(&file, new)?;
                if general.json {
                    output::json(&json!({ "id": known.id, "role": known.role, "token": secret.reveal() }))?;
                } else {
                    output::line(secret.reveal())?;
                    let about = format!("token {} ({}); it is not shown again", known.id, role.as_str());
                    output::say(general, &about);
                }
            }
            TokenCommand::List(List {}) => {
                let tokens = token::list(&file)?;
                if general.json {
                    let shown = tokens.iter().map(|known| {
                        json!({ "id": known.id, "role": known.role, "label": known.label,
                                "source": known.source, "created": known.created })
                    });
                    output::json(&shown.collect::<Vec<_>>())?;
                    return Ok(Done::Well);
                }
                for known in tokens {
                    let source = known.source.map_or_else(String::new, |source| format!(" of {source}"));
                    let line = format!(
                        "{}  {:<6}{source}  {}  {}",
                        known.id,
                        known.role.as_str(),
                        known.created,
                        known.label
                    );
                    output::line(line.trim_end())?;
                }
            }
            TokenCommand::Revoke(Revoke { id }) => {
                token::revoke(&file, &id)?;
                output::say(general, &format!("token {id} is worthless from now on"));
            }
        }
        Ok(Done::Well)
    }
}

/// A token for a source that is not there would write what nobody looks for.
fn must_exist(source: &str, general: &General) -> anyhow::Result<()> {
    let home = general.home()?;
    let registry = Registry::read(&home.directory)?;
    let session = Session::read_archive(home, &mut Progress::new(general))?;
    let filled = session.archive.sources()?.into_iter().map(|(name, _)| name);
    let known: BTreeSet<String> = registry.keys().map(str::to_owned).chain(filled).collect();
    if known.contains(source) {
        return Ok(());
    }
    let said = format!("there is no source `{source}`");
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    match near(source, known.iter().copied()).as_slice() {
        [] if known.is_empty() => bail!("{said}; `pinakes source add` describes one"),
        [] => bail!("{said}; there are {}", known.join(", ")),
        near => bail!("{said}; there are {}; did you mean `{}`?", known.join(", "), near.join("` or `")),
    }
}
