//! `pinakes resolve evaluate`

use super::super::progress::Progress;
use super::super::{Done, General, output};
use super::Profile;
use anyhow::Context;
use pinakes::pipeline::{self, EvaluateRequest, Measured, Session};
use std::path::PathBuf;

/// Measure the result against what is known to be true
///
/// The truth is a table with a header. Either each row names a record (`id`, and `source` beside
/// it where ids are not unique) and its group; a group `-` leaves a record out. Or it names two
/// records (`left_source`, `left_id`, `right_source`, `right_id`, or two columns of names) and
/// in `same` or `label` whether they are one (`yes`, `no`; `unsure` is left out); without such a
/// column the rows are all pairs that are one. A sheet of `pinakes resolve sample` is such a table. A name is SOURCE/ID, or the id alone where no other record has it; a column called
/// after a source, such as `id_acm`, has ids of that source.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes resolve evaluate --truth pairs.csv
  pinakes resolve evaluate --truth clusters.csv --column edition
  pinakes resolve evaluate --truth clusters.csv --profile work --column work --json")]
pub(super) struct Evaluate {
    /// The table
    #[arg(long, value_name = "FILE")]
    truth: PathBuf,
    /// What its records are compared as
    #[arg(long, value_enum, value_name = "PROFILE", default_value_t = Profile::Instance)]
    profile: Profile,
    /// The column that names groups
    #[arg(long, value_name = "NAME")]
    column: Option<String>,
}

impl Evaluate {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let truth = std::fs::read_to_string(&self.truth)
            .with_context(|| format!("cannot read the truth `{}`", self.truth.display()))?;
        let mut progress = Progress::new(general);
        let session = Session::write(general.home()?, &mut progress)?;
        let request = EvaluateRequest { truth, kind: self.profile.kind(), column: self.column };
        let found = pipeline::evaluate_truth(&session, &request, &mut progress)?;
        if general.json {
            output::json(&found)?;
            return Ok(Done::Well);
        }
        output::line(&format!(
            "of the truth {} in the catalogue, {} not",
            output::number(found.known),
            output::number(found.unknown)
        ))?;
        if let Some(judged) = &found.judged {
            output::line(&format!(
                "judged pairs: {} merged rightly, {} wrongly; {} missed, {} rightly apart",
                output::number(judged.right),
                output::number(judged.wrong),
                output::number(judged.missed),
                output::number(judged.apart)
            ))?;
            if let Some([low, high]) = judged.precision_between {
                output::line(&format!(
                    "if the merged ones were drawn at random, precision is between {low:.3} and {high:.3} (95 %)"
                ))?;
            }
            if judged.right + judged.wrong > 0 && judged.missed + judged.apart == 0 {
                output::line("all judged pairs are merged, so they say nothing about recall")?;
            }
        }
        output::line("                  precision  recall     F1")?;
        let line = |name: &str, measured: &Measured| {
            output::line(&format!(
                "{name:<16}  {:>9.4}  {:>6.4}  {:>6.4}",
                measured.precision, measured.recall, measured.f1
            ))
        };
        line("pairs", &found.pairs)?;
        if let Some(measured) = &found.clusters {
            line("whole groups", measured)?;
        }
        if let Some(measured) = &found.b_cubed {
            line("B cubed", measured)?;
        }
        output::line(&format!(
            "pairs that have a key in common: {:.4} of the true ones",
            found.blocking_recall
        ))?;
        for (threshold, measured) in &found.by_threshold {
            line(&format!("from {threshold} on"), measured)?;
        }
        for (precision, probability, measured) in &found.at_precision {
            output::line(&format!(
                "at precision {precision}: recall {:.4}, from {probability:.4} on",
                measured.recall
            ))?;
        }
        if !found.calibration.is_empty() {
            output::line("probability        pairs  of them one")?;
        }
        for bin in &found.calibration {
            let share = bin.one as f64 / bin.pairs as f64;
            let pairs = output::number(bin.pairs);
            output::line(&format!("{:<5} to {:<5}  {pairs:>9}  {share:>11.3}", bin.from, bin.to))?;
        }
        for (what, pairs) in
            [("merged, and should not be", &found.wrong), ("not merged, and should be", &found.missed)]
        {
            for [left, right] in pairs {
                output::line(&format!("{what}: {left} {right}"))?;
            }
        }
        Ok(Done::Well)
    }
}
