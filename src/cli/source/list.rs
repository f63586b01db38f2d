//! `pinakes source list`

use super::super::{Done, General, output};
use anyhow::bail;
use oxrdfio::RdfFormat;
use pinakes::diagnostic::near;
use pinakes::diagnostic::render::printable;
use pinakes::source::{COLUMNS, Cell, Source, mirror};
use serde_json::{Map, json};

/// How the list is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// Columns for people
    Table,
    Csv,
    Json,
    /// Turtle
    Ttl,
    /// N-Triples
    Nt,
}

/// List the sources: name, website, content, amount, technique, complexity, model
///
/// The seven columns are the same in every format. With --subject only sources that name the
/// subject are listed, the most relevant first; without it, all by key.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes source list
  pinakes source list --subject music
  pinakes source list --format csv > sources.csv
  pinakes source list --keys

Exit status: 0 done; 1 some descriptions have mistakes and are not listed; 2 could not run")]
pub(super) struct List {
    /// Rank by relevance to this subject
    #[arg(long, value_name = "SUBJECT")]
    subject: Option<String>,
    #[arg(short, long, value_enum, default_value_t = Form::Table)]
    format: Form,
    /// Key, whether enabled, and name instead of the seven columns
    #[arg(long, conflicts_with = "format")]
    keys: bool,
}

impl List {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let (registry, done) = super::registry(general)?;
        let sources: Vec<&Source> = match &self.subject {
            None => registry.iter().collect(),
            Some(subject) => {
                let ranked = registry.ranked(subject);
                let known = registry.subjects();
                if ranked.is_empty() {
                    let said = format!("no source names the subject `{subject}`");
                    match near(subject, known.iter().copied()).as_slice() {
                        [] if known.is_empty() => bail!("{said}; none names any"),
                        [] => bail!("{said}; there are {}", known.join(", ")),
                        near => bail!("{said}; did you mean `{}`?", near.join("` or `")),
                    }
                }
                ranked
            }
        };
        let form = if general.json { Form::Json } else { self.format };
        if self.keys {
            keys(&sources, general)?;
            return Ok(done);
        }
        match form {
            Form::Table => table(&sources)?,
            Form::Csv => csv(&sources)?,
            Form::Json => {
                let rows: Vec<Map<_, _>> = sources.iter().map(|source| object(source)).collect();
                output::json(&rows)?;
            }
            Form::Ttl => rdf(&sources, RdfFormat::Turtle, general)?,
            Form::Nt => rdf(&sources, RdfFormat::NTriples, general)?,
        }
        if registry.keys().next().is_none() {
            output::say(general, "no source is described yet; try `pinakes source add --from loc`");
        }
        Ok(done)
    }
}

fn object(source: &Source) -> Map<String, serde_json::Value> {
    COLUMNS.iter().zip(source.columns()).map(|(name, cell)| ((*name).to_owned(), json!(cell))).collect()
}

fn keys(sources: &[&Source], general: &General) -> anyhow::Result<()> {
    if general.json {
        let rows: Vec<_> = sources
            .iter()
            .map(|source| json!({ "key": source.key, "enabled": source.enabled, "name": source.name }))
            .collect();
        return output::json(&rows);
    }
    let width = sources.iter().map(|source| source.key.chars().count()).max().unwrap_or(0);
    for source in sources {
        let state = if source.enabled { "" } else { "  (disabled)" };
        output::line(&format!("{:<width$}  {}{state}", source.key, printable(&source.name)))?;
    }
    Ok(())
}

/// As wide as the widest cell, but no column wider than this; words are not cut.
const WIDEST: usize = 60;

fn table(sources: &[&Source]) -> anyhow::Result<()> {
    let mut rows = vec![COLUMNS.map(str::to_owned)];
    rows.extend(sources.iter().map(|source| source.columns().map(|cell| shown(&cell))));
    let mut widths = [0; 7];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count()).min(WIDEST);
        }
    }
    rows.insert(1, widths.map(|width| "-".repeat(width)));
    for row in &rows {
        let cells: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        output::line(cells.join("  ").trim_end())?;
    }
    Ok(())
}

fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => printable(&text.replace('\n', " ")),
        Cell::Number(number) => output::number(*number),
    }
}

/// RFC 4180, with line breaks as the other formats have them.
fn csv(sources: &[&Source]) -> anyhow::Result<()> {
    output::line(&COLUMNS.join(","))?;
    for source in sources {
        let cells = source.columns().map(|cell| quoted(&cell.plain()));
        output::line(&cells.join(","))?;
    }
    Ok(())
}

fn quoted(cell: &str) -> String {
    if cell.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

fn rdf(sources: &[&Source], format: RdfFormat, general: &General) -> anyhow::Result<()> {
    let graphs = general.home()?.graphs;
    let triples: Vec<_> = sources.iter().flat_map(|source| mirror::columns(source, &graphs)).collect();
    super::show::write(&triples, format)
}
