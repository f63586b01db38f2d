//! `pinakes record`

use super::progress::Progress;
use super::{Done, General, output};
use anyhow::bail;
use oxrdfio::RdfFormat;
use pinakes::catalogue::results::writer_for;
use pinakes::diagnostic::render::printable;
use pinakes::pipeline::{self, Session, ShownRecord};
use pinakes::record::write_field;
use rustc_hash::FxHashMap;
use serde_json::json;
use std::io::Write;

/// Look at single records
#[derive(clap::Args)]
pub(super) struct Record {
    #[command(subcommand)]
    command: RecordCommand,
}

#[derive(clap::Subcommand)]
enum RecordCommand {
    Show(Show),
    List(List),
}

/// Show one record as received, as decoded, as statements
#[derive(clap::Args)]
// `--version` here is a record's version, not the program's.
#[command(
    disable_version_flag = true,
    after_help = "\
Examples:
  pinakes record show loc lib0001
  pinakes record show loc lib0001 --turtle
  pinakes record show loc lib0001 --raw > record.mrc"
)]
struct Show {
    source: String,
    /// The record's identifier in its source
    id: String,
    /// The bytes as received
    #[arg(long, group = "as")]
    raw: bool,
    /// Field by field
    #[arg(long, group = "as")]
    decoded: bool,
    /// The statements of its graph
    #[arg(long, group = "as")]
    turtle: bool,
    /// An older version, from 1
    #[arg(long, value_name = "N")]
    version: Option<usize>,
}

/// List the identifiers of a source
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes record list loc")]
struct List {
    source: String,
}

impl Record {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let session = Session::read(general.home()?, &mut Progress::new(general))?;
        match self.command {
            RecordCommand::Show(show) => show.run(&session, general),
            RecordCommand::List(list) => list.run(&session, general),
        }
    }
}

impl List {
    fn run(self, session: &Session, general: &General) -> anyhow::Result<Done> {
        must_exist(session, &self.source)?;
        for record in session.archive.records(Some(&self.source))? {
            let (_, id, state) = record?;
            let withdrawn = state.current().is_some_and(|version| version.withdrawn);
            if general.json {
                output::line(
                    &json!({ "id": id, "versions": state.len(), "withdrawn": withdrawn }).to_string(),
                )?;
            } else {
                let id = printable(&id);
                output::line(&if withdrawn { format!("{id}  (withdrawn)") } else { id })?;
            }
        }
        Ok(Done::Well)
    }
}

impl Show {
    fn run(self, session: &Session, general: &General) -> anyhow::Result<Done> {
        let Some(shown) = pipeline::show(session, &self.source, &self.id, self.version)? else {
            if let Some(state) = session.archive.record(&self.source, &self.id)? {
                bail!("`{}` has versions 1 to {}", self.id, state.len());
            }
            must_exist(session, &self.source)?;
            bail!("`{}` has no record `{}`; `pinakes record list {0}` names them", self.source, self.id);
        };
        if self.raw {
            std::io::stdout().write_all(&shown.entry.payload)?;
        } else if general.json {
            output::json(&as_json(session, &shown))?;
        } else if self.turtle {
            turtle(&shown)?;
        } else {
            if !self.decoded {
                header(session, &shown)?;
            }
            decoded(&shown)?;
        }
        Ok(Done::Well)
    }
}

/// A source that is not there is a typing mistake: the others are named.
pub(super) fn must_exist(session: &Session, source: &str) -> anyhow::Result<()> {
    let known: Vec<String> = session.archive.sources()?.into_iter().map(|(name, _)| name).collect();
    if known.iter().any(|name| name == source) {
        return Ok(());
    }
    if known.is_empty() {
        bail!("there is no source `{source}`; nothing was imported yet");
    }
    bail!("there is no source `{source}`; there are {}", known.join(", "));
}

/// Merged, unmerged or withdrawn.
fn status(shown: &ShownRecord) -> &'static str {
    match (shown.withdrawn, shown.merged) {
        (true, _) => "withdrawn",
        (false, true) => "merged",
        (false, false) => "unmerged",
    }
}

fn header(session: &Session, shown: &ShownRecord) -> anyhow::Result<()> {
    let entry = &shown.entry;
    let iri = session.home.graphs.record(&entry.source, &entry.id);
    output::line(&format!("record   {}", iri.as_str()))?;
    output::line(&format!("status   {}, version {} of {}", status(shown), shown.version, shown.versions))?;
    let origin = &entry.origin;
    if origin.name.is_empty() {
        output::line("origin   not in the last full dump; `--version` shows what it was")?;
    } else {
        let name = printable(&origin.name);
        output::line(&format!("origin   {name}, record {}, byte {}", origin.number, origin.offset))?;
    }
    output::line(&format!("taken    {} in run {}", entry.time, entry.run))?;
    if let Some(format) = entry.format {
        output::line(&format!("format   {format}, {} bytes, sha256 {}…", entry.payload.len(), entry.hash))?;
    }
    output::line("")
}

fn decoded(shown: &ShownRecord) -> anyhow::Result<()> {
    let Some(record) = &shown.record else { return Ok(()) };
    if !record.leader().is_empty() {
        output::line(&format!("LDR {}", record.leader()))?;
    }
    let mut text = String::new();
    for field in record.fields() {
        text.clear();
        write_field(field, &mut text);
        // A line break in a value is legal; on one line it is a blank.
        let text = printable(&text.replace(['\n', '\t', '\r'], " "));
        output::line(&format!("{}{} {text}", "  ".repeat(field.depth()), printable(field.tag())))?;
    }
    for triple in &record.triples {
        output::line(&format!("{triple} ."))?;
    }
    Ok(())
}

fn turtle(shown: &ShownRecord) -> anyhow::Result<()> {
    // What is said of one thing stands together, in the order in which things are first met.
    let mut order: Vec<&oxrdf::NamedOrBlankNode> = Vec::new();
    let mut by_subject: FxHashMap<&oxrdf::NamedOrBlankNode, Vec<&oxrdf::Triple>> = FxHashMap::default();
    for triple in &shown.triples {
        let of_subject = by_subject.entry(&triple.subject).or_default();
        if of_subject.is_empty() {
            order.push(&triple.subject);
        }
        of_subject.push(triple);
    }
    let mut out = writer_for(std::io::stdout(), RdfFormat::Turtle, &shown.triples)?;
    for triple in order.iter().filter_map(|subject| by_subject.get(*subject)).flatten() {
        out.triple(*triple)?;
    }
    out.finish()?;
    Ok(())
}

fn as_json(session: &Session, shown: &ShownRecord) -> serde_json::Value {
    let entry = &shown.entry;
    let fields: Vec<_> = shown
        .record
        .iter()
        .flat_map(|record| record.fields())
        .map(|field| {
            let subfields: Vec<_> =
                field.subfields().map(|subfield| json!([subfield.code, subfield.value])).collect();
            json!({
                "tag": field.tag(), "ind1": field.ind1(), "ind2": field.ind2(), "depth": field.depth(),
                "text": field.text(), "subfields": subfields,
            })
        })
        .collect();
    json!({
        "record": session.home.graphs.record(&entry.source, &entry.id).as_str(),
        "source": entry.source,
        "id": entry.id,
        "status": status(shown),
        "version": shown.version,
        "versions": shown.versions,
        "origin": entry.origin,
        "time": entry.time,
        "run": entry.run,
        "format": entry.format.map(|format| format.name()),
        "model": shown.record.as_ref().map(|record| record.model.name()),
        "hash": entry.hash,
        "leader": shown.record.as_ref().map(|record| record.leader().to_owned()),
        "fields": fields,
        "statements": shown.triples.iter().map(|triple| format!("{triple} .")).collect::<Vec<_>>(),
    })
}
