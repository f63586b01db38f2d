//! `pinakes completions` and `man`

use super::{Arguments, Done, output};
use anyhow::Context;
use clap::CommandFactory;
use std::path::PathBuf;

/// Print shell completions
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes completions bash > pinakes.bash")]
pub(super) struct Completions {
    shell: clap_complete::Shell,
}

impl Completions {
    pub fn run(self) -> anyhow::Result<Done> {
        let mut out = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "pinakes", &mut out);
        output::line(String::from_utf8_lossy(&out).trim_end())?;
        Ok(Done::Well)
    }
}

/// Write manual pages to a directory
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes man manual")]
pub(super) struct Man {
    directory: PathBuf,
}

impl Man {
    pub fn run(self) -> anyhow::Result<Done> {
        let cannot = || format!("cannot write to `{}`", self.directory.display());
        std::fs::create_dir_all(&self.directory).with_context(cannot)?;
        clap_mangen::generate_to(Arguments::command(), &self.directory).with_context(cannot)?;
        output::line(&format!("wrote {}", self.directory.display()))?;
        Ok(Done::Well)
    }
}
