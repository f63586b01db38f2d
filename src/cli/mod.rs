//! The command line: arguments in, results to standard output, everything else to standard
//! error.
//!
//! One definition gives `--help`, the man pages and the completions. Exit status: 0 done,
//! 1 done but data was refused, 2 could not run. A closed pipe is not an error.

mod advice;
mod export;
mod harvest;
mod import;
mod index;
mod init;
mod maintain;
mod mapping;
mod output;
mod progress;
mod query;
mod record;
mod rejects;
mod resolve;
mod run;
mod serve;
mod shell;
mod source;
mod status;
mod token;
mod vocabulary;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use pinakes::catalogue::CatalogueError;
use pinakes::config::Home;
use std::path::PathBuf;
use std::process::ExitCode;

/// Turn bibliographic records into a linked-data catalogue
///
/// Pinakes takes records in (MARC 21, UNIMARC, MARCXML, Dublin Core, MODS, CSV, JSON, RDF),
/// keeps every payload as received, and serves what they say as RDF.
#[derive(Parser)]
#[command(name = "pinakes", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    general: General,
}

const EXAMPLES: &str = "\
Examples:
  pinakes init catalogue --base https://catalogue.example/
  pinakes import --source loc records.mrc
  pinakes status

Exit status: 0 done; 1 done, but some data was refused; 2 could not run";

/// What every command takes.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct General {
    /// The catalogue's directory
    #[arg(
        short,
        long,
        global = true,
        env = "PINAKES_CATALOGUE",
        default_value = "catalogue",
        value_name = "DIR"
    )]
    catalogue: PathBuf,
    /// Use the rules and code lists of this folder in place of those in the binary
    #[arg(long, global = true, env = "PINAKES_MAPPINGS", value_name = "DIR", hide_env_values = true)]
    mappings: Option<PathBuf>,
    /// Report as JSON on standard output
    #[arg(long, global = true)]
    json: bool,
    /// Say nothing but results and errors
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Say more; twice for still more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// How long to wait for another command that has the catalogue
    #[arg(long, global = true, default_value_t = 600, value_name = "SECONDS")]
    wait: u64,
    /// How to print problems with the data
    #[arg(long, global = true, value_enum, default_value_t = output::Messages::Human, value_name = "STYLE")]
    messages: output::Messages,
    /// What others are told when they have to wait for this one.
    #[arg(skip)]
    command: String,
}

#[derive(Subcommand)]
enum Command {
    Init(init::Init),
    Import(import::Import),
    Harvest(harvest::Harvest),
    Resolve(resolve::ResolveGroup),
    Run(run::Run),
    Serve(serve::Serve),
    Token(token::TokenGroup),
    Status(status::Status),
    Query(query::Query),
    Index(index::IndexGroup),
    Export(export::Export),
    Record(record::Record),
    Rejects(rejects::Rejects),
    Source(source::SourceGroup),
    Mapping(mapping::Mapping),
    Vocabulary(vocabulary::VocabularyGroup),
    Rebuild(maintain::Rebuild),
    Verify(maintain::Verify),
    Backup(maintain::Backup),
    Restore(maintain::Restore),
    Completions(shell::Completions),
    Man(shell::Man),
    #[command(hide = true)]
    QueryWorker(query::QueryWorker),
    #[command(hide = true)]
    Worker(serve::Worker),
    #[command(hide = true)]
    Writer(serve::Writer),
}

/// How a command that ran ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    Well,
    /// Done, but some data was refused.
    WithDataErrors,
    /// Nothing of it could be done, and why was said.
    Failed,
}

impl Done {
    fn and(self, other: Self) -> Self {
        if self == Self::Well { other } else { self }
    }

    /// How several pieces of work ended that do not depend on each other.
    fn of_all(ends: &[Self]) -> Self {
        if ends.iter().all(|end| *end == Self::Well) {
            Self::Well
        } else if ends.iter().all(|end| *end == Self::Failed) {
            Self::Failed
        } else {
            Self::WithDataErrors
        }
    }
}

/// The current time, RFC 3339.
fn now() -> String {
    jiff::Timestamp::now().to_string()
}

impl General {
    fn home(&self) -> anyhow::Result<Home> {
        let mut home = Home::open(&self.catalogue)?;
        home.mappings.clone_from(&self.mappings);
        home.command.clone_from(&self.command);
        Ok(home)
    }
}

pub(crate) fn run() -> ExitCode {
    let matches = Arguments::command().get_matches();
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let mut general = arguments.general;
    general.command = matches.subcommand_name().unwrap_or_default().to_owned();
    output::start_log(&general);
    let done = match arguments.command {
        Command::Init(command) => command.run(&general),
        Command::Import(command) => command.run(&general),
        Command::Harvest(command) => command.run(&general),
        Command::Resolve(command) => command.run(&general),
        Command::Run(command) => command.run(&general),
        Command::Serve(command) => command.run(&general),
        Command::Token(command) => command.run(&general),
        Command::Status(command) => command.run(&general),
        Command::Query(command) => command.run(&general),
        Command::Index(command) => command.run(&general),
        Command::Export(command) => command.run(&general),
        Command::Record(command) => command.run(&general),
        Command::Rejects(command) => command.run(&general),
        Command::Source(command) => command.run(&general),
        Command::Mapping(command) => command.run(&general),
        Command::Vocabulary(command) => command.run(&general),
        Command::Rebuild(command) => command.run(&general),
        Command::Verify(command) => command.run(&general),
        Command::Backup(command) => command.run(&general),
        Command::Restore(command) => command.run(&general),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
        Command::QueryWorker(command) => command.run(&general),
        Command::Worker(command) => command.run(&general),
        Command::Writer(command) => command.run(&general),
    };
    match done {
        Ok(Done::Well) => ExitCode::SUCCESS,
        Ok(Done::WithDataErrors) => ExitCode::from(1),
        Ok(Done::Failed) => ExitCode::from(2),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::error(&error, advice::advice(&error, &general).as_deref());
            ExitCode::from(2)
        }
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        // A transparent error hides the one it carries from the chain of causes.
        let carried = match cause.downcast_ref::<CatalogueError>() {
            Some(CatalogueError::Io(error)) => Some(error),
            _ => cause.downcast_ref::<std::io::Error>(),
        };
        carried.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
