//! `pinakes rejects`

use super::progress::Progress;
use super::{Done, General, output};
use anyhow::bail;
use pinakes::pipeline::Session;
use serde_json::json;
use std::io::Write;

/// List what could not be read, with file, record number, byte offset and reason
///
/// A reject is kept with its bytes. When the same file is imported again and the trouble is
/// gone, it leaves the list.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes rejects
  pinakes rejects --json
  pinakes rejects --source loc")]
pub(super) struct Rejects {
    /// Only those of one source
    #[arg(short, long, value_name = "NAME")]
    source: Option<String>,
    /// The bytes of one reject, by the number the list gives it
    #[arg(long, value_name = "N")]
    raw: Option<u64>,
}

impl Rejects {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let session = Session::read(general.home()?, &mut Progress::new(general))?;
        let known = session.archive.rejects()?;
        if let Some(source) = &self.source {
            super::record::must_exist(&session, source)?;
        }
        if let Some(number) = self.raw {
            let Some(entry) = session.archive.entry(number)?.filter(|_| known.contains(&number)) else {
                bail!("there is no reject {number}; `pinakes rejects` lists them");
            };
            std::io::stdout().write_all(&entry.payload)?;
            return Ok(Done::Well);
        }
        let mut shown = 0;
        for number in known {
            let Some(entry) = session.archive.entry(number)? else { continue };
            if self.source.as_ref().is_some_and(|source| *source != entry.source) {
                continue;
            }
            let Some(diagnostic) = entry.diagnostic else { continue };
            shown += 1;
            if general.json {
                let mut value = serde_json::to_value(&diagnostic)?;
                if let Some(object) = value.as_object_mut() {
                    object.insert("reject".to_owned(), json!(number));
                    object.insert("bytes".to_owned(), json!(entry.payload.len()));
                    object.insert("time".to_owned(), json!(entry.time));
                }
                output::line(&value.to_string())?;
            } else {
                let style = match general.messages {
                    output::Messages::Short => pinakes::diagnostic::render::Style::Short,
                    _ => pinakes::diagnostic::render::Style::Human,
                };
                let text = pinakes::diagnostic::render::render(&diagnostic, style, false);
                output::line(&text)?;
                if style == pinakes::diagnostic::render::Style::Human {
                    output::line(&format!(
                        "  bytes   {} kept, `pinakes rejects --raw {number}`\n",
                        entry.payload.len()
                    ))?;
                }
            }
        }
        if !general.json {
            output::say(general, &output::count(shown, "reject"));
        }
        Ok(Done::Well)
    }
}
