//! `pinakes resolve explain`

use super::super::progress::Progress;
use super::super::{Done, General, output};
use pinakes::pipeline::{self, Session};

/// Say why two records are one entry, or why they are not
///
/// Every comparison with its level, what it weighs in bits, and what both sides say; the veto, if one
/// holds; the sum, and from where on pairs are merged. Any two records can be asked about. Where they
/// are alike enough and two entries all the same, what keeps these apart is named: a veto or a
/// person's decision between other members, or all pairs across.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes resolve explain loc/lib0011 spreadsheet/B-004
  pinakes resolve explain loc/lib0015 loc/lib0016 --json")]
pub(super) struct Explain {
    /// A record as SOURCE/ID, or its IRI; with #NODE at its end a thing in it
    #[arg(value_name = "A")]
    left: String,
    /// The other
    #[arg(value_name = "B")]
    right: String,
}

impl Explain {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let session = Session::read(general.home()?, &mut Progress::new(general))?;
        let explained = pipeline::explain_pair(&session, &self.left, &self.right)?;
        if general.json {
            output::json(&explained)?;
            return Ok(Done::Well);
        }
        let said = &explained.explanation;
        let apart = explained.kept_apart.as_ref().map(ToString::to_string).or_else(|| said.veto.clone());
        let verdict = match (explained.together, apart) {
            (true, _) => format!("one entry, {}", explained.entries[0]),
            (false, Some(reason)) => format!("two entries: {reason}"),
            (false, None) => "two entries".to_owned(),
        };
        output::line(&format!("{} and {}: {verdict}", explained.left, explained.right))?;
        output::line("")?;
        let width = said.comparisons.iter().map(|one| one.name.len()).max().unwrap_or(0);
        for one in &said.comparisons {
            if one.level == "missing" && one.left.is_empty() && one.right.is_empty() {
                continue;
            }
            let with = one.with.as_ref().map(|with| format!(" (with {with})")).unwrap_or_default();
            output::line(&format!("{:<width$}  {:<12}  {:>+6.1}{with}", one.name, one.level, one.bits))?;
            for side in [&one.left, &one.right] {
                let values = if side.is_empty() { "-".to_owned() } else { side.join(" | ") };
                output::line(&format!("{:<width$}    {values}", ""))?;
            }
        }
        output::line(&format!("{:<width$}  {:<12}  {:>+6.1}", "prior", said.rival, said.prior))?;
        output::line(&format!(
            "{:<width$}  {:<12}  {:>+6.1}  probability {:.4}",
            "sum", "", said.weight, said.probability
        ))?;
        output::line(&format!(
            "merged from {:+.1} on, looked at by a person from {:+.1} on",
            said.merge_from, said.review_from
        ))?;
        if let Some(veto) = &said.veto {
            output::line(&format!("veto: {veto}"))?;
        }
        let keys = if said.shared_keys.is_empty() { "none".to_owned() } else { said.shared_keys.join(", ") };
        output::line(&format!("keys in common: {keys}"))?;
        for number in &explained.decisions {
            output::line(&format!("decision {number} is about both"))?;
        }
        Ok(Done::Well)
    }
}
