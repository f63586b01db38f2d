//! `pinakes source remove`

use super::super::progress::Progress;
use super::super::{Done, General, output};
use super::Desk;
use anyhow::bail;
use pinakes::pipeline;
use pinakes::source::Draft;
use serde_json::json;
use std::io::{BufRead, IsTerminal, Write};

/// Take a source out of the catalogue
///
/// Its description goes. Its records stay or are withdrawn, as you say: on a terminal you are
/// asked, elsewhere one of the two options is needed when there are records. Withdrawn records
/// leave the store; the archive keeps them, with all their versions.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes source remove repo --keep-records
  pinakes source remove shop --withdraw-records")]
pub(super) struct Remove {
    key: String,
    /// Its records stay in the catalogue
    #[arg(long, conflicts_with = "withdraw_records")]
    keep_records: bool,
    /// Its records are withdrawn
    #[arg(long)]
    withdraw_records: bool,
}

impl Remove {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let mut desk = Desk::open(general)?;
        let draft = Draft::open(&self.key, desk.place(&self.key)?)?;
        let sources = desk.session.archive.sources()?;
        let records =
            sources.iter().find(|(name, _)| *name == self.key).map_or(0, |(_, counts)| counts.records);
        let withdraw = match (records, self.keep_records, self.withdraw_records) {
            (0, ..) => false,
            (_, keep, withdraw) if keep || withdraw => withdraw,
            _ => self.ask(records)?,
        };
        // The description goes last: after a kill in between, the same command finishes.
        let withdrawn = if withdraw {
            let now = jiff::Timestamp::now().to_string();
            pipeline::withdraw_source(&mut desk.session, &self.key, &now, &mut Progress::new(general))?
        } else {
            0
        };
        draft.remove()?;
        pipeline::mirror_sources(&desk.session)?;
        let kept = records - withdrawn;
        if general.json {
            output::json(&json!({ "key": self.key, "kept": kept, "withdrawn": withdrawn }))?;
        } else {
            let records = match (kept, withdrawn) {
                (0, 0) => "it had no records".to_owned(),
                (kept, 0) => format!("{} kept", output::count(kept, "record")),
                (_, withdrawn) => format!("{} withdrawn", output::count(withdrawn, "record")),
            };
            output::line(&format!("{}: removed; {records}", self.key))?;
        }
        Ok(Done::Well)
    }

    /// Whether the records are to be withdrawn, by word of the person at the terminal.
    fn ask(&self, records: u64) -> anyhow::Result<bool> {
        let has = format!("`{}` has {}", self.key, output::count(records, "record"));
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            bail!("{has}; say what becomes of them: `--keep-records` or `--withdraw-records`");
        }
        let mut answer = String::new();
        loop {
            write!(std::io::stderr(), "{has}. Keep or withdraw them? [keep/withdraw] ")?;
            answer.clear();
            if std::io::stdin().lock().read_line(&mut answer)? == 0 {
                bail!("nothing was removed");
            }
            match answer.trim().to_lowercase().as_str() {
                "keep" | "k" => return Ok(false),
                "withdraw" | "w" => return Ok(true),
                _ => {}
            }
        }
    }
}
