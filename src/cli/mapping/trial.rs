//! `pinakes mapping try`

use super::super::progress::Progress;
use super::super::{Done, General, output};
use anyhow::bail;
use pinakes::catalogue::Graphs;
use pinakes::concordance::turtle;
use pinakes::map::{self, ContentTypes};
use pinakes::pipeline;
use pinakes::record::{Format, write_field};
use std::path::PathBuf;

/// Map records of a file and print what comes of them, without a catalogue
///
/// Prints each record field by field and then its statements as Turtle. Nothing is kept.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes mapping try records.mrc --number 3
  pinakes mapping try records.mrc --rules my-rules.toml --rules my-codes.tsv
  pinakes mapping try records.mrc --rules my-rules.toml --source loc")]
pub(super) struct Try {
    /// The file with records
    file: PathBuf,
    /// Only the record with this number, from 1
    #[arg(long, value_name = "N")]
    number: Option<u64>,
    /// The format, against what the content shows
    #[arg(short, long)]
    format: Option<Format>,
    /// A rule file, code list or query of your own, besides those in force; may be given again
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,
    /// Map as records of this source, for rules that hold for one source
    #[arg(short, long, value_name = "NAME", default_value = "try")]
    source: String,
    /// Print the trace of rules, too
    #[arg(long)]
    trace: bool,
    /// How many records at most
    #[arg(long, default_value_t = 10, value_name = "N")]
    limit: usize,
}

impl Try {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let (set, paths) = super::with_files(&self.rules, general)?;
        if super::say_problems(&set, &self.rules, &paths, general) {
            return Ok(Done::WithDataErrors);
        }
        let mut records = Vec::new();
        let mut progress = Progress::new(general);
        pipeline::read_records(&self.file, self.format, &mut progress, &mut |batch| {
            let wanted =
                batch.into_iter().filter(|(number, _)| self.number.is_none_or(|wanted| wanted == *number));
            records.extend(wanted.take(self.limit));
            records.len() < self.limit && (self.number.is_none() || records.is_empty())
        })?;
        if records.is_empty() {
            bail!("`{}` gives no such record", self.file.display());
        }
        let graphs = Graphs::new("http://localhost/")?;
        let types = ContentTypes::shipped();
        for (number, record) in records.iter().take(self.limit) {
            let id = record.id.clone().unwrap_or_else(|| format!("number-{number}"));
            let context = map::Context {
                graphs: &graphs,
                concordances: &set,
                content_types: &types,
                source: &self.source,
                id: &id,
                default_type: None,
            };
            let mapped = map::map(record, &context);
            let name = graphs.record(&self.source, &id);
            output::line(&format!("# record {number}: {id}, {}", record.model))?;
            let mut text = String::new();
            if !record.leader().is_empty() {
                output::line(&format!("# LDR {}", record.leader()))?;
            }
            for field in record.fields() {
                text.clear();
                write_field(field, &mut text);
                let text = pinakes::diagnostic::render::printable(&text);
                output::line(&format!("# {}{} {text}", "  ".repeat(field.depth()), field.tag()))?;
            }
            let shown: Vec<_> = mapped
                .triples
                .iter()
                .filter(|triple| self.trace || triple.predicate.as_ref() != pinakes::ontology::pin::TRACE)
                .cloned()
                .collect();
            output::line(turtle::write(&shown, name.as_str()).trim_end())?;
            output::line("")?;
            for diagnostic in &mapped.diagnostics {
                output::diagnostic(general, diagnostic);
            }
        }
        Ok(Done::Well)
    }
}
