//! `pinakes init`

use super::{Done, General, output};
use pinakes::config::Home;
use pinakes::pipeline::{Session, Unwatched};
use std::path::PathBuf;

/// What names in the catalogue begin with when nobody says.
const LOCAL: &str = "http://localhost:7878/";

/// Make a new, empty catalogue
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes init my-catalogue --base https://catalogue.example/
  pinakes init scratch")]
pub(super) struct Init {
    /// The directory to make; without it, the one `--catalogue` names
    directory: Option<PathBuf>,
    /// The IRI that all names in the catalogue begin with
    #[arg(long, value_name = "IRI")]
    base: Option<String>,
}

impl Init {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let directory = self.directory.unwrap_or_else(|| general.catalogue.clone());
        if self.base.is_none() {
            output::say(
                general,
                &format!("warning: without --base, names begin with {LOCAL}, which means nothing elsewhere"),
            );
        }
        let home = Home::create(&directory, self.base.as_deref().unwrap_or(LOCAL))?;
        let base = home.graphs.base().to_owned();
        Session::write(home, &mut Unwatched)?;
        if general.json {
            output::json(&serde_json::json!({ "catalogue": directory, "base": base }))?;
        } else {
            output::line(&format!("made {} for {base}", directory.display()))?;
        }
        Ok(Done::Well)
    }
}
