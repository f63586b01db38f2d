//! `pinakes status`

use super::progress::Progress;
use super::{Done, General, output, resolve};
use pinakes::pipeline::{self, Counts, Session};
use serde_json::{Value, json};
use std::path::Path;

/// Show what the catalogue holds: sources, records, statements, rejects, disk
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes status
  pinakes status --json")]
pub(super) struct Status {}

impl Status {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let session = Session::read(general.home()?, &mut Progress::new(general))?;
        let sources = session.archive.sources()?;
        let (formats, mut types) = pipeline::count_holdings(&session)?;
        let records: u64 = sources.iter().map(|(_, counts)| counts.records).sum();
        let told: u64 = types.iter().map(|(_, count)| count).sum();
        if records > told {
            types.push(("not told".to_owned(), records - told));
        }
        let statements = session.catalogue.backend().len()?;
        let disk = [("archive", session.home.archive()), ("store", session.home.store())]
            .map(|(name, path)| (name, disk_used(&path)));
        let interrupted = session.archive.runs()?.iter().filter(|(_, run)| run.finished.is_none()).count();
        let merged = session.catalogue.has_master()?;
        let waiting = pipeline::count_waiting(&session)?.unwrap_or(records);
        let unindexed = pipeline::index_status(&session)?.waiting;
        if general.json {
            output::json(&json!({
                "catalogue": session.home.directory,
                "base": session.home.graphs.base(),
                "sources": sources.iter().map(|(name, counts)| (name.clone(), json!(counts))).collect::<serde_json::Map<_, _>>(),
                "formats": map(&formats),
                "content_types": map(&types),
                "statements": statements,
                "merged": merged,
                "waiting": { "records": waiting, "entries": unindexed },
                "interrupted_runs": interrupted,
                "disk": disk.iter().map(|(name, bytes)| ((*name).to_owned(), json!(bytes))).collect::<serde_json::Map<_, _>>(),
            }))?;
            return Ok(Done::Well);
        }
        output::line(&format!("{}  {}", session.home.directory.display(), session.home.graphs.base()))?;
        if sources.is_empty() {
            output::line("nothing was imported yet; try `pinakes import --source NAME FILE`")?;
            return Ok(Done::Well);
        }
        let rows: Vec<[String; 6]> = sources
            .iter()
            .map(|(name, counts)| {
                [
                    name.clone(),
                    output::number(counts.records),
                    output::number(counts.withdrawn),
                    output::number(counts.versions),
                    output::number(counts.rejects),
                    output::size(counts.bytes),
                ]
            })
            .collect();
        table(["source", "records", "withdrawn", "versions", "rejects", "received"], &rows)?;
        output::line("")?;
        list("format", &formats)?;
        list("content type", &types)?;
        output::line(&format!("statements    {}", output::number(statements)))?;
        for (name, bytes) in disk {
            output::line(&format!("{name:<13} {}", output::size(bytes)))?;
        }
        if !merged {
            output::line("nothing is merged yet: queries see the union of all graphs")?;
        }
        if let Some(told) = resolve::waiting(waiting).filter(|_| merged) {
            output::line(&told)?;
        }
        if unindexed > 0 {
            let entries = output::number(unindexed);
            output::line(&format!(
                "{entries} changed entries wait for the index, which `pinakes resolve` brings up"
            ))?;
        }
        if interrupted > 0 {
            output::line(&format!(
                "{} interrupted; the same command finishes it",
                output::count(interrupted as u64, "run")
            ))?;
        }
        Ok(Done::Well)
    }
}

fn map(counts: &Counts) -> serde_json::Map<String, Value> {
    counts.iter().map(|(name, count)| (name.clone(), json!(count))).collect()
}

fn list(title: &str, counts: &Counts) -> anyhow::Result<()> {
    let text: Vec<String> =
        counts.iter().map(|(name, count)| format!("{name} {}", output::number(*count))).collect();
    output::line(&format!("{title:<13} {}", text.join(", ")))
}

fn table<const N: usize>(header: [&str; N], rows: &[[String; N]]) -> anyhow::Result<()> {
    let mut widths = header.map(str::len);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String; N]| {
        let mut text = String::new();
        for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
            // Names to the left, numbers to the right.
            let padded = if column == 0 { format!("{cell:<width$}") } else { format!("  {cell:>width$}") };
            text.push_str(&padded);
        }
        output::line(text.trim_end())
    };
    line(&header.map(str::to_owned))?;
    rows.iter().try_for_each(line)
}

/// What the files under a directory take.
fn disk_used(directory: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(directory) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => disk_used(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}
