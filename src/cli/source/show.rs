//! `pinakes source show`

use super::super::{Done, General, output};
use anyhow::bail;
use oxrdf::Triple;
use oxrdfio::RdfFormat;
use pinakes::catalogue::results::writer_for;
use pinakes::diagnostic::render::printable;
use pinakes::source::{COLUMNS, Cell, Source, mirror};

/// How a source is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// Line by line
    Text,
    Json,
    /// Turtle
    Ttl,
    /// N-Triples
    Nt,
}

/// Show all that is known of a source
///
/// Of credentials only the names of environment variables are shown, and whether they are set.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes source show repo
  pinakes source show repo --format ttl")]
pub(super) struct Show {
    key: String,
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    format: Form,
}

impl Show {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let home = general.home()?;
        let registry = pinakes::source::Registry::read(&home.directory)?;
        let Some(source) = registry.get(&self.key) else {
            if registry.place(&self.key).is_none() {
                bail!(super::unknown(&registry, &self.key));
            }
            let of_source = |said: &&pinakes::diagnostic::Diagnostic| {
                said.place.source.as_deref().is_none_or(|key| key == self.key)
            };
            let diagnostics: Vec<_> = registry.diagnostics().iter().filter(of_source).cloned().collect();
            super::say(&diagnostics, general);
            return Ok(Done::WithDataErrors);
        };
        let form = if general.json { Form::Json } else { self.format };
        match form {
            Form::Text => text(source, home.graphs.source(&source.key).as_str())?,
            Form::Json => output::json(source)?,
            Form::Ttl => write(&mirror::statements(source, &home.graphs), RdfFormat::Turtle)?,
            Form::Nt => write(&mirror::statements(source, &home.graphs), RdfFormat::NTriples)?,
        }
        Ok(Done::Well)
    }
}

fn text(source: &Source, iri: &str) -> anyhow::Result<()> {
    let line = |label: &str, value: &str| {
        if value.is_empty() {
            return Ok(());
        }
        output::line(&format!("{label:<28} {}", printable(&value.replace('\n', " "))))
    };
    line("key", &source.key)?;
    line("IRI", iri)?;
    line("file", &format!("{}:{}", source.place.file.display(), source.place.line))?;
    for (name, cell) in COLUMNS.iter().zip(source.columns()) {
        let value = match cell {
            Cell::Number(number) if *name == COLUMNS[5] => {
                format!("{number}: {}", source.complexity.meaning())
            }
            Cell::Number(number) => output::number(number),
            Cell::Text(text) if *name == COLUMNS[4] => format!("{text}: {}", source.technique.about()),
            Cell::Text(text) => text,
        };
        line(name, &value)?;
    }
    line("endpoint", source.endpoint.as_deref().unwrap_or_default())?;
    if let Some(oai) = &source.oai {
        let prefix = oai.prefix.as_deref().unwrap_or("the best prefix on offer");
        let sets =
            if oai.sets.is_empty() { String::new() } else { format!(", sets {}", oai.sets.join(", ")) };
        line("OAI-PMH", &format!("{}, {prefix}{sets}", oai.url))?;
    }
    if let Some(file) = &source.file {
        let paths: Vec<_> = file.paths.iter().map(|path| path.display().to_string()).collect();
        line("files", &paths.join(", "))?;
    }
    let subjects: Vec<String> =
        source.subjects.iter().map(|subject| format!("{} {}", subject.name, subject.relevance)).collect();
    line("subjects", &subjects.join(", "))?;
    line("importance", &source.importance.to_string())?;
    line("schedule", source.schedule.name())?;
    line("enabled", if source.enabled { "yes" } else { "no" })?;
    let variables: Vec<String> = source
        .access
        .variables()
        .into_iter()
        .map(|name| format!("{name} ({})", if std::env::var_os(name).is_some() { "set" } else { "not set" }))
        .collect();
    line("credentials", &variables.join(", "))?;
    if let Some(seconds) = source.estimate() {
        line("a full harvest may take", &duration(seconds))?;
    }
    if let Err(reason) = source.harvester() {
        line("harvest", &reason.to_string())?;
    }
    line("note", &source.note)
}

/// Roughly, in the unit that fits.
fn duration(seconds: u64) -> String {
    let units = [(86_400, "day"), (3600, "hour"), (60, "minute")];
    let fits = units.iter().find(|(unit, _)| seconds >= 2 * unit);
    let (count, unit) = fits.map_or((seconds, "second"), |(size, unit)| (seconds.div_ceil(*size), *unit));
    format!("about {}", output::count(count, unit))
}

pub(super) fn write(triples: &[Triple], format: RdfFormat) -> anyhow::Result<()> {
    let mut out = writer_for(std::io::stdout(), format, triples)?;
    for triple in triples {
        out.triple(triple)?;
    }
    out.finish()?;
    Ok(())
}
