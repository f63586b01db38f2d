//! `pinakes token`: who may write, and more.

use super::serve::TOKENS;
use super::{Done, General, now, output};
use pinakes::serve::{Role, token};
use serde_json::json;

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
    /// The one source whose graphs it may write
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
