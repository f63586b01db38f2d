//! `pinakes query`, and the process that evaluates it.

use super::progress::Progress;
use super::{Done, General, output};
use anyhow::{Context, bail};
use oxrdf::{Literal, Term, Variable};
use oxrdfio::RdfFormat;
use pinakes::catalogue::QUERIES;
use pinakes::catalogue::guard;
use pinakes::catalogue::results::{Answer, RowFormat};
use pinakes::catalogue::worker::{self, End};
use pinakes::pipeline::{self, Session, Unwatched};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Ask the catalogue in SPARQL
///
/// SELECT and ASK give rows, CONSTRUCT and DESCRIBE give Turtle. The usual prefixes need no
/// declaration. Queries read; SERVICE and updates are refused. `--bind` gives a variable of the
/// query a value, without any change to its text.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes query -e 'SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }' --format table
  pinakes query queries/report/records-by-source.rq
  pinakes query report/records-by-format --format csv
  pinakes query report/origin --bind value=Walden
  pinakes query report/origin --bind 'predicate=<http://id.loc.gov/ontologies/bibframe/mainTitle>'
  pinakes query -e 'SELECT ?entry ?label { ?entry pin:search \"walden\" ; rdfs:label ?label }'
  pinakes query --list")]
pub(super) struct Query {
    /// A file with a query, `-` for standard input, or the name of a shipped query
    #[arg(required_unless_present_any = ["expression", "list"], value_name = "FILE")]
    file: Option<PathBuf>,
    /// The query itself
    #[arg(short, long, value_name = "SPARQL", conflicts_with = "file")]
    expression: Option<String>,
    /// A value for a variable of the query: an IRI as `<…>`, a literal as it is or as `"…"@en`; may
    /// be given again
    #[arg(short, long, value_name = "NAME=VALUE", value_parser = binding)]
    bind: Vec<Binding>,
    /// The names of the shipped queries
    #[arg(long)]
    list: bool,
    /// How rows are written
    #[arg(short, long, value_enum)]
    format: Option<Rows>,
    /// End the query after this many seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// End the query when it gives more rows than this
    #[arg(long, value_name = "N")]
    max_rows: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Rows {
    Table,
    Json,
    Csv,
    Tsv,
    Xml,
}

/// A variable and its value.
#[derive(Debug, Clone)]
pub(super) struct Binding {
    name: String,
    value: Term,
    /// As typed.
    text: String,
}

/// Reads `name=value`; `?name` and `$name` will do, too.
fn binding(text: &str) -> Result<Binding, String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    let name = name.trim().trim_start_matches(['?', '$']);
    Variable::new(name).map_err(|_| format!("`{name}` is no name of a variable"))?;
    let value = match value.chars().next() {
        Some('<' | '"') => {
            value.parse().map_err(|_| format!("`{value}` is neither an IRI in `<…>` nor a literal"))?
        }
        _ => Literal::new_simple_literal(value).into(),
    };
    Ok(Binding { name: name.to_owned(), value, text: text.to_owned() })
}

impl Rows {
    fn format(self) -> RowFormat {
        match self {
            Self::Table => RowFormat::Table,
            Self::Json => RowFormat::Json,
            Self::Csv => RowFormat::Csv,
            Self::Tsv => RowFormat::Tsv,
            Self::Xml => RowFormat::Xml,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Xml => "xml",
        }
    }
}

impl Query {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        if self.list {
            for (name, text) in QUERIES {
                let about = text.lines().next().unwrap_or_default().trim_start_matches("# ");
                output::line(&format!("{name:<34} {about}"))?;
            }
            return Ok(Done::Well);
        }
        let text = self.text()?;
        guard::check(&text)?;
        let home = general.home()?;
        let limits = home.settings.limits.clone();
        // Repair and catching up happen here, where they can be seen, and not in the worker.
        let session = Session::read(home, &mut Progress::new(general))?;
        if !session.catalogue.has_master()? {
            output::say(general, "(nothing is merged yet: the union of all graphs is shown)");
        }
        super::resolve::say_waiting(general, &session)?;
        drop(session);
        let format = self.format.unwrap_or(if general.json { Rows::Json } else { Rows::Table });
        let rows = self.max_rows.unwrap_or(limits.query_rows);
        let seconds = self.timeout.unwrap_or(limits.query_seconds);
        let mut command = std::process::Command::new(std::env::current_exe()?);
        command.arg("query-worker").arg("--catalogue").arg(&general.catalogue).args([
            "--rows",
            &rows.to_string(),
            "--format",
            format.name(),
        ]);
        for binding in &self.bind {
            command.arg("--bind").arg(&binding.text);
        }
        let mut out = std::io::stdout().lock();
        match worker::supervise(command, &text, Duration::from_secs(seconds), &mut out)? {
            End::Answered => Ok(Done::Well),
            End::Failed(reason) => bail!("{}", reason.trim_start_matches("error: ")),
            End::TimedOut => {
                let limit = output::count(seconds, "second");
                bail!("the query took longer than {limit} and was ended; narrow it, or raise `--timeout`")
            }
        }
    }

    fn text(&self) -> anyhow::Result<String> {
        if let Some(text) = &self.expression {
            return Ok(text.clone());
        }
        let file = self.file.clone().unwrap_or_default();
        if file == Path::new("-") {
            let mut text = String::new();
            std::io::stdin()
                .take(guard::SIZE_LIMIT as u64 + 1)
                .read_to_string(&mut text)
                .context("cannot read standard input")?;
            return Ok(text);
        }
        if !file.exists() {
            let name = file.to_string_lossy();
            let name = name.trim_end_matches(".rq").trim_start_matches("queries/");
            if let Some((_, text)) = QUERIES.iter().find(|(known, _)| *known == name) {
                return Ok((*text).to_owned());
            }
        }
        std::fs::read_to_string(&file).with_context(|| {
            format!(
                "cannot read the query `{}`; `pinakes query --list` names the shipped ones",
                file.display()
            )
        })
    }
}

/// Evaluate one query from standard input (run by `query`, so that it can be killed)
#[derive(clap::Args)]
pub(super) struct QueryWorker {
    #[arg(long)]
    rows: u64,
    #[arg(long, value_enum)]
    format: Rows,
    #[arg(long, value_parser = binding)]
    bind: Vec<Binding>,
}

impl QueryWorker {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let text = worker::receive()?;
        let session = Session::read(general.home()?, &mut Unwatched)?;
        let how = Answer {
            rows: self.format.format(),
            graph: RdfFormat::Turtle,
            union: !session.catalogue.has_master()?,
            row_limit: self.rows,
            bindings: self.bind.into_iter().map(|binding| (binding.name, binding.value)).collect(),
        };
        let mut out = BufWriter::new(std::io::stdout());
        worker::evaluate(&session.catalogue, &text, &how, &pipeline::searching_in(&session), &mut out)?;
        out.flush()?;
        Ok(Done::Well)
    }
}
