//! `pinakes export`

use super::progress::Progress;
use super::{Done, General, output};
use anyhow::{Context, bail};
use oxrdf::NamedNode;
use oxrdfio::{JsonLdProfileSet, RdfFormat};
use pinakes::catalogue::export::{Which, canonical, export};
use pinakes::pipeline::{Session, Watch, publish};
use pinakes::publish::loss::Report;
use pinakes::publish::write::RecordWriter;
use pinakes::publish::{Publisher, Target};
use pinakes::statements::cannot_be_said;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Write statements out, whole or in part
///
/// The format is told from the ending of `--output`, or N-Quads; an ending in .gz or .zst
/// compresses. Formats without graph names (Turtle, N-Triples, RDF/XML) get the statements
/// without them.
///
/// With `--as` whole records are written in a format of libraries, from what the catalogue says of
/// them. `--report` tells field by field what did not come back, for records that came in that
/// format.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes export --graph all --format nquads --output dump.nq.gz
  pinakes export --graph records --format turtle --output records.ttl
  pinakes export --canonical --output canonical.nq
  pinakes export --canonical
  pinakes export --as oai_dc --output records.xml
  pinakes export --as marc21 --output written.mrc --report loss.json")]
pub(super) struct Export {
    /// `all`, `master`, `records`, or the IRI of one graph
    #[arg(short, long, default_value = "all")]
    graph: String,
    #[arg(short, long, value_enum)]
    format: Option<Syntax>,
    /// The file to write; without it, standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Content only, as sorted N-Quads, with its SHA-256: equal catalogues give equal text
    #[arg(long, conflicts_with_all = ["format", "graph"])]
    canonical: bool,
    /// Write whole records in this format
    #[arg(long = "as", value_parser = target_names(), value_name = "FORMAT", conflicts_with_all = ["graph", "canonical"])]
    target: Option<String>,
    /// Only the records of this source
    #[arg(short, long, requires = "target")]
    source: Option<String>,
    /// Compare each record with what came in, and write the loss by field to this file, as JSON
    #[arg(long, requires = "target", value_name = "FILE")]
    report: Option<PathBuf>,
}

fn target_names() -> Vec<&'static str> {
    Target::ALL.iter().map(|(name, _)| *name).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Syntax {
    Turtle,
    Ntriples,
    Nquads,
    Trig,
    Rdfxml,
    Jsonld,
}

impl Syntax {
    fn format(self) -> RdfFormat {
        match self {
            Self::Turtle => RdfFormat::Turtle,
            Self::Ntriples => RdfFormat::NTriples,
            Self::Nquads => RdfFormat::NQuads,
            Self::Trig => RdfFormat::TriG,
            Self::Rdfxml => RdfFormat::RdfXml,
            Self::Jsonld => RdfFormat::JsonLd { profile: JsonLdProfileSet::empty() },
        }
    }
}

impl Export {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let mut progress = Progress::new(general);
        let session = Session::read(general.home()?, &mut progress)?;
        let catalogue = &session.catalogue;
        if let Some(target) = &self.target {
            return self.records(general, &session, target, &mut progress);
        }
        let total = catalogue.backend().len()?;
        if self.canonical {
            progress.begin("sorting", Some(total));
            let mut out = self.sink()?;
            let to_file = self.output.is_some();
            let (count, hash) = canonical(catalogue, &mut out, |done| tick(&mut progress, done))
                .with_context(|| self.target())?;
            out.finish().with_context(|| self.target())?;
            progress.end();
            let line = if general.json {
                serde_json::json!({ "sha256": hash, "statements": count }).to_string()
            } else {
                format!("{hash}  {}", output::count(count, "statement"))
            };
            // On standard output the text itself is the result.
            if to_file {
                output::line(&line)?;
            } else {
                output::say(general, &line);
            }
            return Ok(Done::Well);
        }
        let which = self.which()?;
        if which == Which::Master && !catalogue.has_master()? {
            output::say(
                general,
                "nothing is merged yet: the master is empty; `--graph records` has the records",
            );
        }
        let format = self.format()?;
        progress.begin("exporting", Some(total));
        let mut out = self.sink()?;
        let done = export(catalogue, &which, format, &mut out, |done| tick(&mut progress, done))
            .with_context(|| self.target())?;
        out.finish().with_context(|| self.target())?;
        progress.end();
        if general.json && self.output.is_some() {
            output::json(&serde_json::json!({
                "statements": done.statements, "leftOut": done.left_out, "output": self.output,
            }))?;
        } else {
            output::say(general, &format!("wrote {}", output::count(done.statements, "statement")));
        }
        Ok(left_out(done.left_out))
    }

    /// Writes whole records.
    fn records(
        &self,
        general: &General,
        session: &Session,
        target: &str,
        progress: &mut Progress<'_>,
    ) -> anyhow::Result<Done> {
        let known = Target::ALL.iter().find(|(name, _)| *name == target).map(|(_, target)| *target);
        let target = known.with_context(|| format!("`{target}` is no format to write records in"))?;
        if let Some(source) = &self.source
            && !session.archive.sources()?.iter().any(|(known, _)| known == source)
        {
            bail!("there is no source `{source}`; `pinakes status` lists them");
        }
        let format = match (target, self.format, &self.output) {
            (Target::Bibframe, None, None) => RdfFormat::Turtle,
            (Target::Bibframe, ..) => self.format()?,
            _ => RdfFormat::Turtle,
        };
        if target != Target::Bibframe && self.format.is_some() {
            bail!("`--format` is for RDF; `--as` says all there is to say");
        }
        let concordances = session.concordances();
        let publisher = Publisher::new(concordances, target);
        progress.begin("writing records", Some(session.archive.last_sequence()?));
        let mut writer = RecordWriter::new(target, format, BufWriter::new(self.sink()?))?;
        let done = publish(
            session,
            &publisher,
            self.source.as_deref(),
            self.report.is_some(),
            &mut writer,
            progress,
        )
        .with_context(|| self.target())?;
        let unsaid = writer.left_out();
        let out = writer.finish()?.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        out.finish().with_context(|| self.target())?;
        progress.end();
        if let Some(path) = &self.report {
            let text = serde_json::to_string_pretty(&done.loss.json(|tag| publisher.is_core(tag)))?;
            std::fs::write(path, text + "\n")
                .with_context(|| format!("cannot write `{}`", path.display()))?;
            summary(general, &done.loss, &publisher);
        }
        if general.json && self.output.is_some() {
            let loss = self.report.is_some().then(|| done.loss.json(|tag| publisher.is_core(tag)));
            output::json(
                &serde_json::json!({ "records": done.records, "output": self.output, "loss": loss }),
            )?;
        } else {
            output::say(general, &format!("wrote {}", output::count(done.records, "record")));
        }
        Ok(if done.too_long > 0 { Done::WithDataErrors } else { left_out(unsaid) })
    }

    /// For messages.
    fn target(&self) -> String {
        match &self.output {
            Some(path) => format!("cannot write `{}`", path.display()),
            None => "cannot write to standard output".to_owned(),
        }
    }

    fn which(&self) -> anyhow::Result<Which> {
        Ok(match self.graph.as_str() {
            "all" => Which::All,
            "master" => Which::Master,
            "records" => Which::Records,
            iri => Which::Graph(
                NamedNode::new(iri)
                    .with_context(|| format!("`{iri}` is neither `all`, `master`, `records` nor an IRI"))?,
            ),
        })
    }

    fn format(&self) -> anyhow::Result<RdfFormat> {
        if let Some(format) = self.format {
            return Ok(format.format());
        }
        let Some(output) = &self.output else { return Ok(RdfFormat::NQuads) };
        let name = output.to_string_lossy();
        let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
        match name.rsplit_once('.').and_then(|(_, ending)| RdfFormat::from_extension(ending)) {
            Some(format) => Ok(format),
            None => {
                bail!("the ending of `{}` names no RDF format; say which with `--format`", output.display())
            }
        }
    }

    fn sink(&self) -> anyhow::Result<Sink> {
        let Some(path) = &self.output else {
            return Ok(Sink::Plain(Box::new(std::io::stdout())));
        };
        let file = File::create(path).with_context(|| format!("cannot write `{}`", path.display()))?;
        let file = BufWriter::with_capacity(256 * 1024, file);
        Ok(match path.extension().and_then(|ending| ending.to_str()) {
            Some("gz") => Sink::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default())),
            Some("zst") => Sink::Zstd(zstd::stream::write::Encoder::new(file, 3)?),
            _ => Sink::File(file),
        })
    }
}

/// Tells of statements that the format cannot say.
fn left_out(statements: u64) -> Done {
    if statements == 0 {
        return Done::Well;
    }
    output::notice(&cannot_be_said(statements));
    Done::WithDataErrors
}

/// What came back, and the tags that lost most.
fn summary(general: &General, loss: &Report, publisher: &Publisher<'_>) {
    if loss.records == 0 {
        output::say(general, "no record came in this format: there is nothing to compare");
        return;
    }
    let total = loss.total(|_| true);
    let core = loss.total(|tag| publisher.is_core(tag));
    output::say(
        general,
        &format!(
            "{} compared: {} of {} values came back ({:.1} %; of core fields {:.1} %), {} were added",
            output::count(loss.records, "record"),
            output::number(total.back),
            output::number(total.occurrences),
            total.share(),
            core.share(),
            output::number(total.added)
        ),
    );
    for (tag, count) in loss.by_tag().iter().filter(|(_, count)| count.lost > 0).take(12) {
        output::say(
            general,
            &format!("  {tag}  {:>5.1} % of {}", count.share(), output::number(count.occurrences)),
        );
    }
}

fn tick(progress: &mut Progress<'_>, done: u64) {
    if done.is_multiple_of(10_000) {
        progress.advance(done, done);
    }
}

/// Where an export goes.
enum Sink {
    Plain(Box<dyn Write>),
    File(BufWriter<File>),
    Gzip(flate2::write::GzEncoder<BufWriter<File>>),
    Zstd(zstd::stream::write::Encoder<'static, BufWriter<File>>),
}

impl Sink {
    /// Ends the compression and makes sure that all of it is on the disk: an export that was
    /// cut short must not pass for a whole one.
    fn finish(self) -> std::io::Result<()> {
        let file = match self {
            Self::Plain(mut out) => return out.flush(),
            Self::File(file) => file,
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Zstd(encoder) => encoder.finish()?,
        };
        let file = file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        // A device or a pipe has no disk to wait for.
        if file.metadata()?.is_file() { file.sync_all() } else { Ok(()) }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::File(out) => out.write(bytes),
            Self::Gzip(out) => out.write(bytes),
            Self::Zstd(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::File(out) => out.flush(),
            Self::Gzip(out) => out.flush(),
            Self::Zstd(out) => out.flush(),
        }
    }
}
