//! What a profile found in the last run, so that the next one compares only what changed.
//!
//! One file a profile, `resolution/instance.state` and so on: a fingerprint of the profile and of
//! the weights it was compared with, and the state of the engine. A file that is missing, damaged
//! or of another profile costs a run over everything and nothing else.

use super::texts::ProfileText;
use super::{PipelineError, ResolveError};
use crate::config::Home;
use crate::disk::{self, Readers};
use crate::resolve::increment::State;
use crate::resolve::score::Model;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::PathBuf;

/// Where the state of one profile lies.
pub(super) struct Keeping {
    path: PathBuf,
    profile: String,
}

impl Keeping {
    pub fn new(home: &Home, name: &str, text: &ProfileText) -> Self {
        let mut sources: Vec<&str> = text.profile.unique_sources.iter().map(|source| &**source).collect();
        sources.sort_unstable();
        Self {
            path: home.directory.join(super::cache::Cache::FOLDER).join(format!("{name}.state")),
            profile: format!("{}\0{}", text.hash, sources.join("\0")),
        }
    }

    fn fingerprint(&self, model: &Model) -> [u8; 8] {
        let text = format!("{}\0{}", self.profile, State::digest(model));
        xxhash_rust::xxh3::xxh3_64(text.as_bytes()).to_le_bytes()
    }

    /// The state of the last run, when it was made by this profile with these weights.
    pub fn read(&self, model: &Model) -> Option<State> {
        let mut file = BufReader::new(File::open(&self.path).ok()?);
        let mut found = [0; 8];
        file.read_exact(&mut found).ok()?;
        if found != self.fingerprint(model) {
            return None;
        }
        match State::read(&mut file) {
            Ok(state) => Some(state),
            Err(error) => {
                tracing::info!("{}: {error}; everything is compared again", self.path.display());
                None
            }
        }
    }

    /// Keeps a state; a kill leaves the old one or the new one.
    pub fn write(&self, state: &State) -> Result<(), PipelineError> {
        let written = disk::replace(&self.path, Readers::Usual, |mut out| {
            out.write_all(&self.fingerprint(&state.model))?;
            state.write(&mut out)
        });
        written.map_err(|error| ResolveError::Cache(error.to_string()).into())
    }
}
