//! `pinakes resolve sample`

use super::super::progress::Progress;
use super::super::{Done, General, output};
use super::Profile;
use anyhow::Context;
use pinakes::pipeline::{self, SampleRequest, SampledPair, Session};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

/// Draw merges at random and write them side by side, to be judged by eye
///
/// The sheet is a table for any spreadsheet: a row for each pair, with what both records say in two
/// cells side by side, line by line. Write `yes`, `no` or `unsure` into the column `same`, and let
/// `pinakes resolve evaluate --truth FILE` read it back. What is drawn are pairs that hold entries
/// together, so the share of `yes` is the precision of this catalogue's merges. With `--apart`, pairs
/// that were nearly merged are drawn: the share of `yes` among them tells what was missed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes resolve sample --n 50 --sheet merges.csv
  pinakes resolve sample --n 50 --apart --sheet nearly.csv
  pinakes resolve sample --profile agent --seed 2 --sheet persons.csv")]
pub(super) struct Draw {
    /// How many pairs are drawn
    #[arg(long = "n", value_name = "N", default_value_t = 50)]
    number: usize,
    /// The file to write; one that is there already is left alone
    #[arg(long, value_name = "FILE")]
    sheet: PathBuf,
    /// Draw pairs that were nearly merged
    #[arg(long)]
    apart: bool,
    /// Pairs of this profile
    #[arg(long, value_enum, value_name = "PROFILE", default_value_t = Profile::Instance)]
    profile: Profile,
    /// Another number draws other pairs; the same one draws the same
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

const HEADER: [&str; 11] = [
    "number",
    "left_source",
    "left_id",
    "right_source",
    "right_id",
    "merged",
    "probability",
    "same",
    "what",
    "left",
    "right",
];

impl Draw {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let mut progress = Progress::new(general);
        let session = Session::write(general.home()?, &mut progress)?;
        let request = SampleRequest {
            kind: self.profile.kind(),
            number: self.number,
            apart: self.apart,
            seed: self.seed,
        };
        let drawn = pipeline::sample(&session, &request, &mut progress)?;
        // It may be full of somebody's judgements.
        let sheet = OpenOptions::new().write(true).create_new(true).open(&self.sheet);
        let mut sheet = sheet.with_context(|| format!("cannot make the sheet `{}`", self.sheet.display()))?;
        let mut text = HEADER.join(",") + "\r\n";
        for (at, pair) in drawn.pairs.iter().enumerate() {
            text += &row(at + 1, pair);
        }
        sheet
            .write_all(text.as_bytes())
            .and_then(|()| sheet.sync_all())
            .with_context(|| format!("cannot write the sheet `{}`", self.sheet.display()))?;
        let of = output::number(drawn.of as u64);
        output::line(&format!(
            "{} of {of} in `{}`: write `yes`, `no` or `unsure` into the column `same`, then `pinakes resolve \
             evaluate --profile {} --truth {}`",
            output::count(drawn.pairs.len() as u64, if self.apart { "pair" } else { "merge" }),
            self.sheet.display(),
            request.kind.name(),
            self.sheet.display()
        ))?;
        Ok(Done::Well)
    }
}

fn row(number: usize, pair: &SampledPair) -> String {
    let id = |named: &pipeline::Named| format!("{}{}", named.id, named.node.as_deref().unwrap_or_default());
    let column = |of: fn(&(String, String, String)) -> &String| {
        let lines: Vec<&str> = pair.says.iter().map(|said| of(said).as_str()).collect();
        lines.join("\n")
    };
    let cells = [
        number.to_string(),
        pair.left.source.clone(),
        id(&pair.left),
        pair.right.source.clone(),
        id(&pair.right),
        if pair.merged { "yes" } else { "no" }.to_owned(),
        format!("{:.4}", pair.probability),
        String::new(),
        column(|said| &said.0),
        column(|said| &said.1),
        column(|said| &said.2),
    ];
    cells.map(|text| cell(&text)).join(",") + "\r\n"
}

/// Quoted. A spreadsheet would compute what begins like a formula, so an apostrophe stands before it.
fn cell(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '@', '\t', '\r']) { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn cells_are_quoted_and_never_formulas() {
        assert_eq!(cell("Walden"), "\"Walden\"");
        assert_eq!(cell("a \"b\"\nc"), "\"a \"\"b\"\"\nc\"");
        assert_eq!(cell("=1+1"), "\"'=1+1\"");
    }
}
