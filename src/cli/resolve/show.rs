//! `pinakes resolve show`

use super::super::progress::Progress;
use super::super::{Done, General, output};
use pinakes::pipeline::{self, Session};

/// Show one merged entry: its members, and where each value comes from
///
/// Values that one record has and another has not, or has otherwise, are all kept; where one of
/// several is preferred, the rule that preferred it is named.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes resolve show loc/lib0011
  pinakes resolve show loc/lib0011 --json")]
pub(super) struct Show {
    /// The entry's IRI, or a record in it as SOURCE/ID
    #[arg(value_name = "IRI")]
    entry: String,
}

impl Show {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let session = Session::read(general.home()?, &mut Progress::new(general))?;
        let shown = pipeline::show_entry(&session, &self.entry)?;
        if general.json {
            output::json(&shown)?;
            return Ok(Done::Well);
        }
        if let Some(before) = &shown.instead_of {
            output::line(&format!("{before} was replaced by"))?;
        }
        output::line(&format!("{}  {}", shown.iri, shown.label))?;
        output::line(&format!(
            "{} of {}",
            shown.kind.name(),
            output::count(shown.members.len() as u64, "member")
        ))?;
        for member in &shown.members {
            output::line(&format!("  {member}"))?;
        }
        for pair in &shown.pairs {
            let members: Vec<&str> =
                pair.members.iter().map(|member| member.trim_matches(['<', '>'])).collect();
            output::line(&format!("held together by {}", members.join(" and ")))?;
            if let Some(reason) = &pair.reason {
                output::line(&format!("  {reason}"))?;
            }
            if let Some(found) = &pair.compared {
                let levels = found.levels.replace('\n', ", ");
                let (probability, weight) = (&found.probability, &found.weight);
                output::line(&format!("  probability {probability}, {weight} bits: {levels}"))?;
            }
        }
        for reason in &shown.reasons {
            output::line(&format!("held together by {reason}"))?;
        }
        for told in &shown.content_types {
            output::line(&format!(
                "content type {}: {} says {}",
                told.content_type, told.from, told.evidence
            ))?;
        }
        output::line("")?;
        let all = shown.members.len();
        for value in &shown.values {
            let from =
                if value.from.len() == all && all > 1 { "all".to_owned() } else { value.from.join(", ") };
            output::line(&format!("{}  {}", value.property, value.value))?;
            if all > 1 {
                output::line(&format!("    {from}"))?;
            }
        }
        for chosen in &shown.preferences {
            output::line(&format!(
                "preferred {}: {} (by {}, from {})",
                chosen.property,
                chosen.value,
                chosen.reason,
                chosen.from.trim_matches(['<', '>'])
            ))?;
        }
        Ok(Done::Well)
    }
}
