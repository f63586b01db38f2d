//! Running the stages in order. This module alone knows them all.
//!
//! A [`Session`] is an opened catalogue. [`import`] takes files in; [`catch_up`] brings the
//! store up to the archive, after a kill or from nothing; [`rebuild`] does the latter on
//! purpose. Every path to the store is the same: archive entry, decode, map, write.

mod compare;
mod concepts;
mod course;
mod coverage;
mod described;
mod explain;
mod federating;
mod following;
mod harvest;
mod holdings;
mod import;
mod indexing;
mod intake;
mod library;
mod mapping;
mod present;
mod providing;
mod publish;
mod reading;
mod record_views;
mod resolve;
mod searching;
mod serving;
mod session;
mod sources;
mod store_writer;
mod taking;
mod vocabularies;

pub use compare::{Comparison, compare};
pub use course::CourseError;
pub use coverage::{coverage_of_files, coverage_of_source};
pub use explain::{Origin, explain};
pub use federating::{check_federation, federating};
pub use following::{Followed, follow_rules};
pub use harvest::{
    Course, End, HarvestRequest, Harvested, Note, Rehearsal, harvest, harvest_note, harvest_notes,
    notes_beside, rehearse, source_failed,
};
pub use holdings::{Counts, count_holdings};
pub use import::{Request, import};
pub use indexing::{
    Around, IndexState, IndexStatus, Indexed, index_folder, index_status, index_waiting, rebuild_index,
};
pub use intake::Summary;
pub use library::Shelves;
pub use mapping::{Change, Changed, load, unload};
pub use present::{ShownRecord, show};
pub use providing::Providing;
pub use publish::{Publication, publish};
pub use reading::read_records;
pub use record_views::RecordViews;
pub use resolve::{
    Act, Blocks, Calibrated, Contradiction, Decided, Decision, EvaluateRequest, Evaluated, Explained,
    FeatureRow, Judged, KeptApart, Kind, Labelling, LeastAlike, LeftBehind, Measured, Named, Numbered, Queue,
    Read, ResolveError, ResolveRequest, ResolveText, Resolved, Reviewed, Sample, SampleRequest, SampledPair,
    Shares, ShownComparison, ShownEntry, ShownPair, ShownPreference, ShownType, ShownValue, Sketch, Survey,
    SurveyRequest, SurveyedEntry, SurveyedMerge, TypedText, Undone, Waiting, Wish, Wishing, count_waiting,
    decide, decisions, each_feature, evaluate_truth, explain_pair, keep_labels, resolve, resolve_texts,
    review, sample, show_entry, survey, take_down,
};
pub use searching::{Reader, open_views, searching, searching_in};
pub use serving::{Served, Serving, write_for_server};
pub use session::{Session, catch_up, rebuild};
pub use sources::{mirror_sources, withdraw_source};
pub use vocabularies::{
    LARGEST_VOCABULARY, LoadedVocabulary, ShownVocabulary, Vocabulary, load_vocabulary, remove_vocabulary,
    show_vocabulary, vocabularies,
};

use crate::archive::ArchiveError;
use crate::catalogue::CatalogueError;
use crate::config::{ConfigError, LockError};
use crate::decode::InputError;
use crate::diagnostic::Diagnostic;
use crate::fetch::Fault;
use crate::index::IndexError;
use crate::source::SourceError;

/// Why a command could not do its work. Bad data is not among the reasons.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PipelineError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Input(#[from] InputError),
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Resolve(ResolveError),
    #[error("an endpoint in `[federation]` cannot be asked: {0}")]
    Federation(#[source] Fault),
    #[error("cannot read the rules in `{0}`")]
    Mappings(String, #[source] std::io::Error),
    #[error("`{0}` is gone, and with it the records as received; restore it from a backup")]
    ArchiveGone(String),
    #[error(
        "the store holds {position} entries, the archive {last}: they are not of one catalogue; `pinakes rebuild` makes the store again from the archive"
    )]
    StoreAhead { position: u64, last: u64 },
    #[error(
        "`base` is `{is}`, and the store was filled under `{was}`; set it back in `pinakes.toml`, or `pinakes rebuild` names everything anew"
    )]
    BaseChanged { was: String, is: String },
    #[error(
        "the store was filled by an older version, which kept the graph of each record there; \
         `pinakes rebuild` makes it again from the archive"
    )]
    OldLayout,
    #[error(
        "`stored` in `[records]` is `{}`, and the store was filled with `{was}`; set it back in \
         `pinakes.toml`, or `pinakes rebuild` makes the store again", !was
    )]
    RecordsElsewhere { was: bool },
    #[error("there is no index yet; `pinakes index rebuild` makes one")]
    NoIndex,
    #[error("the store's writer stopped without a word")]
    WriterGone,
}

impl From<std::io::Error> for PipelineError {
    fn from(error: std::io::Error) -> Self {
        Self::Catalogue(error.into())
    }
}

/// Who looks on: a terminal, a log, a test.
pub trait Watch: Send {
    /// A long piece of work begins; its size in units of `what`, where known.
    fn begin(&mut self, what: &str, size: Option<u64>);
    /// How far it is, and how many records that was.
    fn advance(&mut self, done: u64, records: u64);
    fn end(&mut self);
    /// The size became known on the way.
    fn expect(&mut self, _: u64) {}
    /// Something is wrong with the data.
    fn diagnostic(&mut self, diagnostic: &Diagnostic);
    /// Another process has the catalogue. Takes some time, and says whether to go on waiting.
    fn busy(&mut self, _: &LockError) -> bool {
        false
    }
}

/// Nobody looks on.
pub struct Unwatched;

impl Watch for Unwatched {
    fn begin(&mut self, _: &str, _: Option<u64>) {}
    fn advance(&mut self, _: u64, _: u64) {}
    fn end(&mut self) {}
    fn diagnostic(&mut self, _: &Diagnostic) {}
}
