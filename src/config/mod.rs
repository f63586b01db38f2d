//! The catalogue directory: its settings and its lock.

mod explain;
mod federation;
mod lock;
mod settings;

pub use federation::{Endpoint, Federation};
pub use lock::{Lock, LockError, Patience, RunLock};
pub use settings::{Limits, Oai, Records, Settings};

use crate::catalogue::Graphs;
use std::path::{Path, PathBuf};

/// Why a catalogue directory cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    #[error("there is no catalogue in `{0}`; make one with `pinakes init {0}`")]
    Missing(String),
    #[error("there is a catalogue in `{0}` already")]
    Exists(String),
    #[error("{file}: {message}")]
    Invalid { file: String, message: String },
    #[error("`{iri}` cannot be the base IRI: {reason}")]
    BadBase { iri: String, reason: String },
    #[error("cannot use `{path}`: {source}")]
    Io { path: String, source: std::io::Error },
}

/// One catalogue directory.
#[derive(Debug, Clone)]
pub struct Home {
    pub directory: PathBuf,
    pub settings: Settings,
    pub graphs: Graphs,
    /// A folder of rules to use in place of those in the binary.
    pub mappings: Option<PathBuf>,
    /// The command at work, for whoever has to wait for it.
    pub command: String,
}

impl Home {
    /// The file that makes a directory a catalogue.
    pub const SETTINGS: &'static str = "pinakes.toml";
    /// The folder for copies that a server makes of its catalogue.
    pub const BACKUPS: &'static str = "backups";

    /// Makes a new catalogue. The directory may exist if nothing of a catalogue is in it.
    pub fn create(directory: &Path, base: &str) -> Result<Self, ConfigError> {
        let file = directory.join(Self::SETTINGS);
        if file.exists() || directory.join("archive").exists() {
            return Err(ConfigError::Exists(directory.display().to_string()));
        }
        let graphs = graphs(base)?;
        let io = |source| ConfigError::Io { path: directory.display().to_string(), source };
        std::fs::create_dir_all(directory).map_err(io)?;
        std::fs::write(&file, Settings::template(graphs.base())).map_err(io)?;
        Self::open(directory)
    }

    pub fn open(directory: &Path) -> Result<Self, ConfigError> {
        let file = directory.join(Self::SETTINGS);
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(ConfigError::Missing(directory.display().to_string()));
            }
            Err(source) => return Err(ConfigError::Io { path: file.display().to_string(), source }),
        };
        let settings = Settings::read(&text)
            .map_err(|message| ConfigError::Invalid { file: file.display().to_string(), message })?;
        Ok(Self {
            directory: directory.to_owned(),
            graphs: graphs(&settings.base)?,
            settings,
            mappings: None,
            command: String::new(),
        })
    }

    pub fn archive(&self) -> PathBuf {
        self.directory.join("archive")
    }

    pub fn store(&self) -> PathBuf {
        self.directory.join("store")
    }
}

fn graphs(base: &str) -> Result<Graphs, ConfigError> {
    // Record names get a fragment of their own, and there can be only one.
    if base.contains(['#', '?']) {
        let reason = "names are made by adding to it, so it may hold neither `#` nor `?`".to_owned();
        return Err(ConfigError::BadBase { iri: base.to_owned(), reason });
    }
    Graphs::new(base)
        .map_err(|error| ConfigError::BadBase { iri: base.to_owned(), reason: error.to_string() })
}
