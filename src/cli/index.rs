//! `pinakes index`: the full-text index.

use super::progress::Progress;
use super::{Done, General, output};
use pinakes::pipeline::{self, IndexState, Session};

/// Look at the full-text index, or make it anew
///
/// `resolve` keeps the index up to the catalogue; it lies in the catalogue's folder `index/`, is made
/// of the store alone, and may be removed. Until something is resolved, `index rebuild` makes one of
/// the records.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes index rebuild
  pinakes index status")]
pub(super) struct IndexGroup {
    #[command(subcommand)]
    command: IndexCommand,
}

#[derive(clap::Subcommand)]
enum IndexCommand {
    Rebuild(Rebuild),
    Status(Status),
}

impl IndexGroup {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        match self.command {
            IndexCommand::Rebuild(command) => command.run(general),
            IndexCommand::Status(command) => command.run(general),
        }
    }
}

/// Make the index anew from the store
///
/// Readers see the old one until the new one is whole.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes index rebuild")]
struct Rebuild {}

impl Rebuild {
    fn run(self, general: &General) -> anyhow::Result<Done> {
        let mut progress = Progress::new(general);
        let session = Session::write(general.home()?, &mut progress)?;
        let indexed = pipeline::rebuild_index(&session, &mut progress)?;
        if general.json {
            output::json(&indexed)?;
        } else {
            output::line(&format!("{} indexed", output::count(indexed.documents, "document")))?;
        }
        Ok(Done::Well)
    }
}

/// Say whether the index is up to the catalogue
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes index status
  pinakes index status --json")]
struct Status {}

impl Status {
    fn run(self, general: &General) -> anyhow::Result<Done> {
        let session = Session::read(general.home()?, &mut Progress::new(general))?;
        let status = pipeline::index_status(&session)?;
        if general.json {
            output::json(&status)?;
            return Ok(Done::Well);
        }
        output::line(&match status.state {
            IndexState::Current => "the index has all that is in the catalogue".to_owned(),
            IndexState::Behind if status.waiting > 0 => {
                let entries = format!("{} changed entries", output::number(status.waiting));
                format!("the index has not followed {entries}; `pinakes resolve` brings it up")
            }
            IndexState::Behind => {
                "something came since the index was made; `pinakes resolve` or `pinakes index rebuild` brings it up".to_owned()
            }
            IndexState::Missing => {
                "there is no index; `pinakes resolve` or `pinakes index rebuild` makes one".to_owned()
            }
            IndexState::Unusable => {
                "the index is damaged or of another version; `pinakes index rebuild` makes it anew".to_owned()
            }
        })?;
        output::line(&output::count(status.documents, "document"))?;
        Ok(Done::Well)
    }
}
