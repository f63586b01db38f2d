//! `pinakes mapping coverage`

use super::super::progress::Progress;
use super::super::{Done, General, output};
use anyhow::bail;
use pinakes::catalogue::Graphs;
use pinakes::map::{ContentTypes, Coverage, Loss, is_local};
use pinakes::pipeline::{self, Session};
use pinakes::record::{Format, Model};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Say how much of some records the rules carry
///
/// Counts every subfield (and every text of a field without subfields): carried when its value
/// reached a statement, ignored when a rule leaves it out with a reason, kept when the fallback
/// keeps it as it is. Tags with the greatest loss come first. Local fields of MARC (a 9 in the
/// tag, 490 apart) are counted apart.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes mapping coverage records.mrc
  pinakes mapping coverage --source loc --json")]
pub(super) struct CoverageCommand {
    /// Files with records
    files: Vec<PathBuf>,
    /// The records of a source of the catalogue
    #[arg(short, long, value_name = "NAME", conflicts_with = "files")]
    source: Option<String>,
    /// The format, against what the content shows
    #[arg(short, long)]
    format: Option<Format>,
    /// A rule file, code list or query of your own, besides those in force; may be given again
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,
    /// How many tags to list for each model
    #[arg(long, default_value_t = 20, value_name = "N")]
    tags: usize,
    /// List subfields, not tags
    #[arg(long)]
    subfields: bool,
}

impl CoverageCommand {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let mut progress = Progress::new(general);
        let counted = match &self.source {
            Some(source) => {
                let session = Session::read(general.home()?, &mut progress)?;
                super::super::record::must_exist(&session, source)?;
                pipeline::coverage_of_source(&session, source, &mut progress)?
            }
            None if self.files.is_empty() => bail!("name a file of records, or a source with `--source`"),
            None => {
                let (set, paths) = super::with_files(&self.rules, general)?;
                if super::say_problems(&set, &self.rules, &paths, general) {
                    return Ok(Done::WithDataErrors);
                }
                let graphs = Graphs::new("http://localhost/")?;
                let types = ContentTypes::shipped();
                pipeline::coverage_of_files(&self.files, self.format, &set, &graphs, &types, &mut progress)?
            }
        };
        if general.json {
            output::json(&as_json(&counted))?;
        } else {
            for (model, coverage) in &counted {
                self.print(*model, coverage)?;
            }
        }
        Ok(Done::Well)
    }

    fn print(&self, model: Model, coverage: &Coverage) -> anyhow::Result<()> {
        let all = coverage.total(|_| true);
        output::line(&format!(
            "{model}: {}, {} subfields, {:.1} % carried, {:.1} % ignored with a reason, {:.1} % kept as they are",
            output::count(coverage.records, "record"),
            output::number(all.occurrences),
            all.share(),
            percent(all.ignored, all.occurrences),
            percent(all.kept, all.occurrences),
        ))?;
        if model.is_marc() {
            let standard = coverage.total(|tag| !is_local(tag) && !is_control(tag));
            output::line(&format!(
                "  without local and control fields: {} subfields, {:.1} % carried, {:.1} % ignored, {:.1} % kept",
                output::number(standard.occurrences),
                standard.share(),
                percent(standard.ignored, standard.occurrences),
                percent(standard.kept, standard.occurrences),
            ))?;
        }
        output::line(&format!(
            "  statements a record, the fallback apart: median {}",
            coverage.median_statements()
        ))?;
        let mut losses: BTreeMap<String, Loss> = BTreeMap::new();
        for ((tag, code), loss) in &coverage.by_subfield {
            let key = match (self.subfields, code.as_str()) {
                (true, code) if !code.is_empty() => format!("{tag} ${code}"),
                _ => tag.clone(),
            };
            losses.entry(key).or_default().add(loss);
        }
        let mut rows: Vec<(String, Loss)> =
            losses.into_iter().filter(|(_, loss)| loss.kept + loss.ignored > 0).collect();
        rows.sort_by(|(a, x), (b, y)| (y.kept, y.ignored).cmp(&(x.kept, x.ignored)).then(a.cmp(b)));
        if !rows.is_empty() {
            output::line("        kept  ignored  carried  of")?;
        }
        for (tag, loss) in rows.iter().take(self.tags) {
            output::line(&format!(
                "{:>12}  {:>7}  {:>7}  {:>6}  {tag}",
                output::number(loss.kept),
                output::number(loss.ignored),
                output::number(loss.carried),
                output::number(loss.occurrences),
            ))?;
        }
        if rows.len() > self.tags {
            output::line(&format!("  and {} more; `--tags` lists them", rows.len() - self.tags))?;
        }
        output::line("")
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

fn is_control(tag: &str) -> bool {
    tag == "LDR" || tag.starts_with("00")
}

fn as_json(counted: &BTreeMap<Model, Coverage>) -> serde_json::Value {
    let loss = |loss: &Loss| {
        json!({
            "occurrences": loss.occurrences, "carried": loss.carried, "ignored": loss.ignored, "kept": loss.kept,
        })
    };
    let models: Vec<_> = counted
        .iter()
        .map(|(model, coverage)| {
            let subfields: Vec<_> = coverage
                .by_subfield
                .iter()
                .map(|((tag, code), counts)| {
                    let mut row = loss(counts);
                    row["tag"] = json!(tag);
                    row["subfield"] = json!(code);
                    row
                })
                .collect();
            let reasons: Vec<_> = coverage
                .reasons
                .iter()
                .map(|((tag, code, reason), count)| {
                    json!({ "tag": tag, "subfield": code, "reason": reason, "count": count })
                })
                .collect();
            json!({
                "model": model.name(),
                "records": coverage.records,
                "median_statements": coverage.median_statements(),
                "all": loss(&coverage.total(|_| true)),
                "without_local": loss(&coverage.total(|tag| !is_local(tag) && !is_control(tag))),
                "subfields": subfields,
                "ignored_because": reasons,
            })
        })
        .collect();
    json!({ "models": models })
}
