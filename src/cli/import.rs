//! `pinakes import`

use super::progress::Progress;
use super::{Done, General, output, resolve};
use anyhow::{Context, bail};
use pinakes::decode::Options;
use pinakes::decode::charset::Charset;
use pinakes::map::ContentTypes;
use pinakes::pipeline::{self, Request, Session, Summary};
use pinakes::record::{Format, Model};
use pinakes::source::Source;
use std::path::PathBuf;

/// Take records from files into the catalogue
///
/// The format is told from the content, compression too. Every record is kept as received;
/// one that cannot be read is reported, kept, and does not stop the others. A file imported
/// again adds nothing, a record that changed becomes a new version. Nothing is fetched.
#[derive(clap::Args)]
#[command(after_help = "\
Formats: iso2709 (MARC 21 and UNIMARC), marcxml, marc-json, mrk, aleph, oai_dc, mods, csv, tsv,
json, turtle, ntriples, nquads, trig, rdfxml, jsonld; gzip and zstd are read as they are.

Examples:
  pinakes import --source loc records.mrc
  pinakes import --source spreadsheet books.csv.gz
  pinakes import --source loc --replace records.mrc
  pinakes import --source loc --resolve records.mrc
  cat records.mrc | pinakes import --source loc -

Exit status: 0 all records taken; 1 some data was refused; 2 could not run")]
pub(super) struct Import {
    /// The source the records belong to: letters, digits, `-`, `_` and `.`
    #[arg(short, long, value_name = "NAME", value_parser = source_name)]
    source: String,
    /// Files to read; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The format, against what the content shows
    #[arg(short, long)]
    format: Option<Format>,
    /// The character set of ISO 2709 records, against what they say
    #[arg(long, value_name = "NAME", value_parser = charset)]
    charset: Option<Charset>,
    /// The column or key that identifies a row
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// The content type of records that do not tell, e.g. `book`
    #[arg(long, value_name = "CODE")]
    content_type: Option<String>,
    /// What the columns of a table or the keys of objects mean, e.g. `corpus`
    #[arg(long, value_name = "MODEL")]
    model: Option<Model>,
    /// The files are all the source has: withdraw what they do not hold
    #[arg(long)]
    replace: bool,
    /// Merge what came into the catalogue at once, as `pinakes resolve` does
    #[arg(long, conflicts_with = "dry_run")]
    resolve: bool,
    /// Read and decode as into an empty catalogue, report, and write nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
}

fn source_name(name: &str) -> Result<String, &'static str> {
    pinakes::source::check_key(name).map(|()| name.to_owned())
}

fn charset(name: &str) -> Result<Charset, String> {
    Charset::from_name(name).ok_or_else(|| {
        let known: Vec<_> = Charset::ALL.iter().map(|charset| charset.name()).collect();
        format!("it is not one of {}", known.join(", "))
    })
}

impl Import {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        for file in &self.files {
            // Better to know now than after an hour of the files before it.
            if file != &PathBuf::from("-") {
                // A named pipe may be opened only once, so it is asked for and not opened.
                let metadata = std::fs::metadata(file).and_then(|metadata| {
                    if metadata.is_file() {
                        std::fs::File::open(file).map(|_| metadata)
                    } else {
                        Ok(metadata)
                    }
                });
                let metadata = metadata.with_context(|| format!("cannot read `{}`", file.display()))?;
                if metadata.is_dir() {
                    bail!("`{}` is a directory; name the files in it", file.display());
                }
            }
        }
        let types = ContentTypes::shipped();
        if let Some(code) = &self.content_type
            && !types.knows(code)
        {
            let known: Vec<_> = types.types().iter().map(|known| known.code.as_str()).collect();
            bail!("`{code}` is not a content type; there are {}", known.join(", "));
        }
        let request = Request {
            source: self.source,
            files: self.files,
            format: self.format,
            options: Options { id_field: self.id, charset: self.charset },
            content_type: self.content_type,
            model: self.model,
            replace: self.replace,
            time: super::now(),
        };
        if self.dry_run {
            return dry_run(&request, general);
        }
        let (taken, session) = take(general, &request)?;
        if !self.resolve {
            resolve::leave_waiting(general, &session)?;
            return Ok(taken);
        }
        drop(session);
        Ok(Done::of_all(&[taken, resolve::take_waiting(general)?]))
    }
}

/// Takes files in, and says what came.
fn take(general: &General, request: &Request) -> anyhow::Result<(Done, Session)> {
    let mut progress = Progress::new(general);
    let mut session = Session::write(general.home()?, &mut progress)?;
    let summary = pipeline::import(&mut session, request, &mut progress)?;
    progress.rest();
    Ok((report(&summary, &request.source, false, general)?, session))
}

/// Takes in the files of a source whose description names them.
pub(super) fn take_files(general: &General, source: &Source) -> anyhow::Result<Done> {
    let Some(files) = &source.file else {
        bail!("`{}` has the technique `file` and no `[file]` that names any", source.key);
    };
    let home = general.home()?;
    let said = |what: &str| format!("`{}`: {what}", source.key);
    let request = Request {
        source: source.key.clone(),
        files: files.list(&home.directory).with_context(|| said("its files cannot be listed"))?,
        format: parsed(files.format.as_deref()).with_context(|| said("its format"))?,
        options: Options {
            id_field: files.id.clone(),
            charset: files.charset.as_deref().and_then(Charset::from_name),
        },
        content_type: files.content_type.clone(),
        model: parsed(files.model.as_deref()).with_context(|| said("its model"))?,
        replace: files.replace,
        time: super::now(),
    };
    take(general, &request).map(|(done, _)| done)
}

fn parsed<T: std::str::FromStr>(text: Option<&str>) -> anyhow::Result<Option<T>>
where
    T::Err: std::fmt::Display,
{
    text.map(|text| text.parse().map_err(|error| anyhow::anyhow!("{error}"))).transpose()
}

/// Decodes everything into a catalogue that is thrown away.
fn dry_run(request: &Request, general: &General) -> anyhow::Result<Done> {
    let directory = tempfile::tempdir().context("cannot make a catalogue to throw away")?;
    let home = pinakes::config::Home::create(directory.path(), "http://localhost/")?;
    let mut progress = Progress::new(general);
    let mut session = Session::write(home, &mut progress)?;
    let summary = pipeline::import(&mut session, request, &mut progress)?;
    progress.rest();
    output::say(general, "dry run: nothing was written");
    report(&summary, &request.source, true, general)
}

fn report(summary: &Summary, source: &str, dry_run: bool, general: &General) -> anyhow::Result<Done> {
    let done = if summary.has_errors() { Done::WithDataErrors } else { Done::Well };
    // Nobody may be reading the summary; the exit status must tell all the same.
    match print_summary(summary, source, dry_run, general) {
        Err(error) if super::is_closed_pipe(&error) => Ok(done),
        printed => printed.map(|()| done),
    }
}

fn print_summary(summary: &Summary, source: &str, dry_run: bool, general: &General) -> anyhow::Result<()> {
    if general.json {
        output::json(summary)?;
    } else {
        let mut parts = vec![
            format!("{} new", output::number(summary.new)),
            format!("{} changed", output::number(summary.changed)),
            format!("{} unchanged", output::number(summary.unchanged)),
        ];
        for (count, what) in [
            (summary.withdrawn, "withdrawn"),
            (summary.duplicates, "with a duplicate identifier"),
            (summary.rejected, "rejected"),
        ] {
            if count > 0 {
                parts.push(format!("{} {what}", output::number(count)));
            }
        }
        output::line(&format!(
            "{source}: {} read: {}",
            output::count(summary.records, "record"),
            parts.join(", ")
        ))?;
        if summary.held_back > 0 {
            output::say(
                general,
                &format!(
                    "{} missing from the files, but nothing was withdrawn: not all of the data could be read",
                    output::count(summary.held_back, "record")
                ),
            );
        }
        if summary.rejected > 0 && !dry_run {
            output::say(general, "`pinakes rejects` lists what could not be read, and why");
        }
    }
    Ok(())
}
