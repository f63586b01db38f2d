//! An opened catalogue, and the way its store follows its archive.

use super::described::Describing;
use super::intake;
use super::record_views::{self, RecordViews};
use super::resolve::Questionnaire;
use super::store_writer::{self, Pending};
use super::{PipelineError, Watch};
use crate::archive::{Archive, Entry, Kind};
use crate::catalogue::CatalogueError;
use crate::catalogue::{Catalogue, Views};
use crate::concordance::{Concordances, Source};
use crate::config::{Home, Lock, LockError};
use crate::decode::{self, charset::Charset};
use crate::diagnostic::{Code, Diagnostic, beginning};
use crate::disk::{self, Readers};
use crate::map::{self, ContentTypes, Mapped};
use crate::record::Model;
use oxrdf::Triple;
use pinakes_ask::Graph;
use rayon::prelude::*;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Once, OnceLock};

/// Entries mapped side by side before their statements go to the store.
const BATCH: usize = 1024;
/// A batch is also closed when its payloads reach this size.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// A catalogue opened for one command.
pub struct Session {
    pub home: Home,
    pub archive: Archive,
    pub catalogue: Catalogue,
    pub content_types: ContentTypes,
    /// Computes what records say.
    pub(super) views: Arc<RecordViews>,
    /// The rules records are mapped with, read when they are first needed.
    concordances: OnceLock<Arc<Concordances>>,
    sources: Option<Vec<Source>>,
    pub(super) lock: Lock,
}

impl Session {
    /// For reading, beside other readers. After a kill there may be something to repair first;
    /// that is done here when nobody else is at work.
    pub fn read(home: Home, watch: &mut dyn Watch) -> Result<Self, PipelineError> {
        if cfg!(not(feature = "rocksdb")) {
            return Self::write(home, watch);
        }
        must_have_archive(&home)?;
        let lock = Lock::read(&home.directory, &mut |busy| watch.busy(busy))?;
        if let Some(opened) = Opened::for_reading(&home)? {
            return Ok(opened.assemble(home, lock));
        }
        drop(lock);
        // Others may be at work by now. A reader reads the same state as we would, and a writer
        // repairs first.
        match Lock::write(&home.directory, &home.command, &mut |_| false) {
            Ok(lock) => drop(Self::with_lock(home.clone(), lock, watch)?),
            Err(LockError::Reading | LockError::Writing(_)) => {}
            Err(error) => return Err(error.into()),
        }
        let lock = Lock::read(&home.directory, &mut |busy| watch.busy(busy))?;
        let archive = Archive::open_read_only(&home.archive())?;
        Ok(Opened::read_only(&home, archive)?.assemble(home, lock))
    }

    /// For reading the archive alone, however far behind the store is. After a kill the archive
    /// may need repair too, and then it is the same as [`read`](Self::read).
    pub fn read_archive(home: Home, watch: &mut dyn Watch) -> Result<Self, PipelineError> {
        must_have_archive(&home)?;
        let lock = Lock::read(&home.directory, &mut |busy| watch.busy(busy))?;
        let Ok(archive) = Archive::open_read_only(&home.archive()) else {
            drop(lock);
            return Self::read(home, watch);
        };
        Ok(Opened::without_store(&home, archive)?.assemble(home, lock))
    }

    /// The rules in force: those of the binary or of the folder the user named, and what was
    /// loaded into the catalogue.
    pub fn concordances(&self) -> &Arc<Concordances> {
        self.concordances.get_or_init(|| self.views.concordances())
    }

    /// The files behind them.
    pub fn rule_sources(&self) -> Vec<Source> {
        self.sources.clone().unwrap_or_else(Concordances::shipped_sources)
    }

    /// Reads the rules again after something was loaded.
    pub(super) fn refresh_rules(&mut self) -> Result<(), PipelineError> {
        self.sources = super::mapping::sources(&self.home, &self.archive)?;
        self.views.set_rules(self.sources.clone());
        self.concordances = OnceLock::new();
        Ok(())
    }

    /// For writing, alone. What a killed process left undone is done first.
    pub fn write(home: Home, watch: &mut dyn Watch) -> Result<Self, PipelineError> {
        let lock = Lock::write(&home.directory, &home.command, &mut |busy| watch.busy(busy))?;
        Self::with_lock(home, lock, watch)
    }

    /// For taking records into the archive alone; the store stays where it is, and shut.
    pub fn write_archive(home: Home, watch: &mut dyn Watch) -> Result<Self, PipelineError> {
        let lock = Lock::write(&home.directory, &home.command, &mut |busy| watch.busy(busy))?;
        must_have_archive(&home)?;
        let archive = Archive::open(&home.archive())?;
        Ok(Opened::without_store(&home, archive)?.assemble(home, lock))
    }

    fn with_lock(home: Home, lock: Lock, watch: &mut dyn Watch) -> Result<Self, PipelineError> {
        // Said once: a harvest opens the catalogue again and again.
        static SAID: Once = Once::new();
        must_have_archive(&home)?;
        let opened = Opened::to_write(&home, Archive::open(&home.archive())?)?;
        let catalogue = &opened.catalogue;
        // A store without a place in the archive was never written, or was written under other names.
        if catalogue.position()? == 0
            && let Some(was) = catalogue.former_base()?
        {
            return Err(PipelineError::BaseChanged { was, is: home.graphs.base().to_owned() });
        }
        if catalogue.position()? > 0 {
            match catalogue.holds_records()? {
                None => return Err(PipelineError::OldLayout),
                Some(was) if was != home.settings.records.stored => {
                    return Err(PipelineError::RecordsElsewhere { was });
                }
                Some(_) => {}
            }
        }
        let mut session = opened.assemble(home, lock);
        super::holdings::renew(&session)?;
        catch_up(&session, watch)?;
        // One that never held anything is about to.
        let stored = session.home.settings.records.stored;
        if session.catalogue.holds_records()? != Some(stored) {
            session.catalogue.backend().set(Catalogue::layout(&session.home.graphs, stored))?;
        }
        super::following::follow_rules(&session, watch)?;
        if !super::sources::mirror_sources(&session)? {
            SAID.call_once(|| {
                tracing::warn!("a source description has a mistake; `pinakes source list` says where");
            });
        }
        merge_again(&mut session, watch)?;
        Ok(session)
    }

    /// Whether another command waits for this one.
    pub fn is_wanted(&self) -> bool {
        self.lock.is_wanted()
    }

    /// Closes the catalogue and lets those who wait have their turn.
    pub fn give_way(self) -> Home {
        let Self { home, archive, catalogue, lock, .. } = self;
        drop((archive, catalogue));
        lock.give_way();
        home
    }

    /// The statements of an archived record, or `None` when it cannot be decoded.
    pub fn triples(&self, entry: &Entry) -> Option<Vec<Triple>> {
        self.map(entry).map(|(_, mapped)| mapped.triples)
    }

    fn map(&self, entry: &Entry) -> Option<(Model, Mapped)> {
        record_views::mapped(entry, &self.context(entry))
    }

    /// A withdrawal with the content type of what was withdrawn.
    pub(super) fn as_it_was(&self, mut withdrawal: Entry) -> Result<Entry, PipelineError> {
        let Entry { source, id, .. } = &withdrawal;
        let versions = self.archive.record(source, id)?.unwrap_or_default().len();
        let before = self.archive.version(source, id, versions.saturating_sub(1))?;
        let before = before.map(|version| self.archive.entry(version.sequence)).transpose()?.flatten();
        let told = before.as_ref().and_then(decode_entry);
        let told = told.and_then(|record| self.content_types.of(&record).map(str::to_owned));
        let said = before.and_then(|before| before.content_type);
        withdrawal.content_type = told.or(said);
        Ok(withdrawal)
    }

    pub(super) fn context<'a>(&'a self, entry: &'a Entry) -> map::Context<'a> {
        map::Context {
            graphs: &self.home.graphs,
            concordances: self.concordances(),
            content_types: &self.content_types,
            source: &entry.source,
            id: &entry.id,
            default_type: entry.content_type.as_deref(),
        }
    }
}

/// The parts of a session that know of each other.
struct Opened {
    archive: Archive,
    catalogue: Catalogue,
    views: Arc<RecordViews>,
    sources: Option<Vec<Source>>,
}

impl Opened {
    fn new(
        home: &Home,
        archive: Archive,
        open: impl FnOnce(Option<Arc<dyn Views>>) -> Result<Catalogue, CatalogueError>,
    ) -> Result<Self, PipelineError> {
        let sources = super::mapping::sources(home, &archive)?;
        let views = Arc::new(RecordViews::new(archive.reader(), home.graphs.clone(), sources.clone()));
        let computed = (!home.settings.records.stored).then(|| Arc::clone(&views) as Arc<dyn Views>);
        let catalogue = open(computed)?;
        Ok(Self { archive, catalogue, views, sources })
    }

    fn to_write(home: &Home, archive: Archive) -> Result<Self, PipelineError> {
        Self::new(home, archive, |views| Catalogue::open(&home.directory, home.graphs.clone(), views))
    }

    fn read_only(home: &Home, archive: Archive) -> Result<Self, PipelineError> {
        Self::new(home, archive, |views| {
            Catalogue::open_read_only(&home.directory, home.graphs.clone(), views)
        })
    }

    fn without_store(home: &Home, archive: Archive) -> Result<Self, PipelineError> {
        Self::new(home, archive, |_| Catalogue::in_memory(home.graphs.clone()))
    }

    /// `None` unless archive and store are in order and the store is where the archive is.
    fn for_reading(home: &Home) -> Result<Option<Self>, PipelineError> {
        if unmerged(home).exists() {
            return Ok(None);
        }
        let Ok(archive) = Archive::open_read_only(&home.archive()) else { return Ok(None) };
        let Ok(opened) = Self::read_only(home, archive) else { return Ok(None) };
        let (catalogue, last) = (&opened.catalogue, opened.archive.last_sequence()?);
        let is_current = catalogue.position()? == last
            && (last == 0 || catalogue.holds_records()? == Some(home.settings.records.stored));
        Ok(is_current.then_some(opened))
    }

    fn assemble(self, home: Home, lock: Lock) -> Session {
        let Self { archive, catalogue, views, sources } = self;
        let (content_types, concordances) = (ContentTypes::shipped(), OnceLock::new());
        Session { home, archive, catalogue, content_types, views, concordances, sources, lock }
    }
}

/// Decodes an archived payload as it was decoded when it came.
pub(super) fn decode_entry(entry: &Entry) -> Option<crate::record::Record> {
    let options = decode::Options {
        charset: entry.charset.as_deref().and_then(Charset::from_name),
        ..decode::Options::default()
    };
    let mut record = decode::decode(&entry.payload, entry.format?, &options, &mut Vec::new())?;
    super::taking::set_model(&mut record, entry.model.as_deref().and_then(|model| model.parse().ok()));
    Some(record)
}

/// Writes to the store what the archive holds beyond it. Says how many entries that were.
pub fn catch_up(session: &Session, watch: &mut dyn Watch) -> Result<u64, PipelineError> {
    let position = session.catalogue.position()?;
    let last = session.archive.last_sequence()?;
    if position > last {
        return Err(PipelineError::StoreAhead { position, last });
    }
    if position == last {
        return Ok(0);
    }
    watch.begin("bringing the store up to the archive", Some(last - position));
    // A killed writer may have left statements it had no time to note; then the store is not
    // empty although its position is 0.
    let fresh = session.catalogue.backend().is_empty()?;
    let mut told = None;
    if fresh {
        let failed = |error: std::io::Error| PipelineError::Catalogue(error.into());
        if !session.archive.resolutions()?.is_empty() {
            let write = |out: &mut dyn Write| out.write_all(UNMERGED.as_bytes());
            disk::replace(&unmerged(&session.home), Readers::Usual, write).map_err(failed)?;
        }
        super::resolve::forget_all(&session.home).map_err(failed)?;
        told = super::holdings::forget(&session.home.directory).map_err(failed)?;
    }
    let questionnaire = Questionnaire::of_home(&session.home);
    let stores_records = session.home.settings.records.stored;
    super::vocabularies::apply(session, position)?;
    let runs = session.archive.runs()?;
    let mut entries = session.archive.entries(position + 1)?;
    let mut done = 0;
    store_writer::run(&session.catalogue, &session.home.directory, |store| {
        let mut pending = Pending::storing(stores_records);
        pending.layout(&session.home.graphs);
        pending.vocabulary(&session.home.graphs, &session.content_types);
        let mut describing = Describing::new(&session.catalogue)?;
        loop {
            let mut batch: Vec<Entry> = Vec::with_capacity(BATCH);
            let mut bytes = 0;
            // What somebody changed came after what came before it: it ends its batch.
            while batch.len() < BATCH
                && bytes < BATCH_BYTES
                && batch.last().is_none_or(|entry| entry.kind != Kind::Update)
            {
                let Some(entry) = entries.next().transpose()? else { break };
                bytes += entry.payload.len();
                batch.push(entry);
            }
            let Some(end) = batch.last().map(|entry| entry.sequence) else { break };
            // A version that a later one replaced leaves nothing in the store but its run.
            let mut current = Vec::with_capacity(batch.len());
            let mut update = None;
            for entry in batch {
                done += 1;
                match entry.kind {
                    Kind::Update => update = Some(entry),
                    Kind::Record | Kind::Withdrawal => {
                        let state = session.archive.record(&entry.source, &entry.id)?.unwrap_or_default();
                        if state.current().is_some_and(|version| version.sequence == entry.sequence) {
                            current.push((entry, state.len()));
                        }
                    }
                    Kind::RunStarted
                    | Kind::RunFinished
                    | Kind::Reject
                    | Kind::Concordance
                    | Kind::ConcordanceUnloaded
                    | Kind::Vocabulary
                    | Kind::VocabularyRemoved
                    | Kind::Harvest
                    | Kind::Decision
                    | Kind::Resolution => {}
                }
            }
            let mapped: Vec<_> = current
                .into_par_iter()
                .map_init(Graph::new, |room, (entry, versions)| match entry.kind {
                    Kind::Record => {
                        let mapped = session.map(&entry);
                        let triples = mapped.as_ref().map(|(_, mapped)| mapped.triples.as_slice());
                        let graphs = &session.home.graphs;
                        let reading = intake::read(questionnaire.as_ref(), graphs, &entry, triples, room);
                        Ok((entry, versions, mapped, reading))
                    }
                    // Nobody else remembers what it was.
                    _ if fresh => Ok((session.as_it_was(entry)?, versions, None, None)),
                    _ => Ok((entry, versions, None, None)),
                })
                .collect::<Result<_, PipelineError>>()?;
            let models =
                mapped.iter().filter_map(|(_, _, mapped, _)| mapped.as_ref().map(|(model, _)| *model));
            describing.add(models, session.concordances(), &session.home.graphs, &mut pending);
            for (entry, versions, mapped, reading) in mapped {
                reading.into_iter().for_each(|reading| pending.reading(reading));
                let triples = mapped.map(|(_, mapped)| mapped.triples);
                if triples.is_none() && entry.kind == Kind::Record {
                    let message = "the record cannot be read";
                    let mut diagnostic = Diagnostic::new(Code::NotARecord, message);
                    diagnostic.place.source = Some(entry.source.clone());
                    diagnostic.place.origin = Some(entry.origin.name.clone());
                    diagnostic.place.record = Some(beginning(&entry.id).into_owned());
                    watch.diagnostic(&diagnostic);
                }
                // Only a record that never had another version can be added without looking.
                let known = versions > 1 && !fresh;
                pending.record(&session.home.graphs, &entry, triples, known);
            }
            pending.position = end;
            if let Some(update) = &update {
                pending.update(&session.home.graphs, update)?;
            }
            if update.is_some() || pending.is_full() {
                store.send(pending.take())?;
            }
            watch.advance(done, done);
        }
        for (number, run) in &runs {
            pending.run(&session.home.graphs, *number, run);
        }
        pending.position = last;
        store.send(pending)
    })?;
    super::holdings::keep_step(&session.catalogue, told)?;
    watch.end();
    Ok(done)
}

/// Makes the store again from the archive. The old one stays until the archive was read to
/// its end.
pub fn rebuild(home: Home, watch: &mut dyn Watch) -> Result<u64, PipelineError> {
    must_have_archive(&home)?;
    let lock = Lock::write(&home.directory, &home.command, &mut |busy| watch.busy(busy))?;
    let archive = Archive::open(&home.archive())?;
    watch.begin("reading the archive", Some(archive.last_sequence()?));
    archive.verify(|done| watch.advance(done, done))?;
    watch.end();
    drop(archive);
    let failed = |error: std::io::Error| PipelineError::Catalogue(error.into());
    let old = home.directory.join("store.old");
    disk::remove_directory(&old).map_err(failed)?;
    if home.store().exists() {
        // Under another name first: a kill in between leaves a store that is missing, not torn.
        disk::rename(&home.store(), &old).map_err(failed)?;
        disk::remove_directory(&old).map_err(failed)?;
    }
    super::resolve::forget_all(&home).map_err(failed)?;
    let session = Session::with_lock(home, lock, watch)?;
    session.catalogue.backend().optimize()?;
    Ok(session.archive.last_sequence()?)
}

/// Marks a store that was made anew and does not hold the merged catalogue yet. Whoever is killed
/// between the two leaves it, and the next command merges first.
fn unmerged(home: &Home) -> PathBuf {
    home.directory.join("unmerged")
}

const UNMERGED: &str =
    "The store was made again from the archive, and its records are yet to be merged again.\n";

/// Makes the merged catalogue again for a store that was made anew.
fn merge_again(session: &mut Session, watch: &mut dyn Watch) -> Result<(), PipelineError> {
    let marker = unmerged(&session.home);
    if !marker.exists() {
        return Ok(());
    }
    super::resolve::resolve_again(session, watch)?;
    let failed = |error: std::io::Error| PipelineError::Catalogue(error.into());
    disk::remove_file(&marker).map_err(failed)
}

/// A store without an archive is the last copy of something: nothing may touch it.
fn must_have_archive(home: &Home) -> Result<(), PipelineError> {
    if home.store().exists() && !home.archive().exists() {
        return Err(PipelineError::ArchiveGone(home.archive().display().to_string()));
    }
    Ok(())
}
