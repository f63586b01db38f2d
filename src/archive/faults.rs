//! Every operation of the disk under the archive fails, one after the other, and nothing that was
//! acknowledged is lost, nothing that was refused is there, and nothing is cut off that is whole.

use super::entry::{Entry, Kind};
use super::index::Index;
use super::medium::{FileSystem, Medium, SegmentFile};
use super::register::Register;
use super::segment::Segments;
use super::{Archive, ArchiveError};
use redb::{Database, StorageBackend, backends::FileBackend};
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// The system's numbers for "no space left on device" and "input/output error".
const ENOSPC: i32 = 28;
const EIO: i32 = 5;

/// Segments are this long here, so that the calls below fill several of them.
const LONGEST: u64 = 250_000;

/// What goes wrong, and when.
#[derive(Debug)]
struct Plan {
    /// How many operations go well before.
    left: AtomicI64,
    fault: Fault,
    happened: AtomicBool,
    /// The operations that failed.
    what: Mutex<BTreeSet<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// One operation fails; a write leaves half of its bytes.
    Full,
    /// One operation fails, and nothing of it happens.
    Broken,
    /// One operation fails, and another one this far behind it: what failed cannot be taken back at once.
    Twice(i64),
    /// One operation fails, and so do all that come after it: the process might as well be killed.
    Dead,
}

impl Plan {
    fn new(after: i64, fault: Fault) -> Arc<Self> {
        let (happened, what) = (AtomicBool::new(false), Mutex::default());
        Arc::new(Self { left: AtomicI64::new(after), fault, happened, what })
    }

    /// Counts an operation; an error if it is to fail.
    fn step(&self, what: &str) -> io::Result<()> {
        let left = self.left.fetch_sub(1, Relaxed);
        let fails = match self.fault {
            Fault::Full | Fault::Broken => left == 0,
            Fault::Twice(behind) => left == 0 || left == -behind,
            Fault::Dead => left <= 0,
        };
        if fails {
            self.happened.store(true, Relaxed);
            self.what.lock().unwrap().insert(what.to_owned());
            let number = if self.is_full() { ENOSPC } else { EIO };
            return Err(io::Error::from_raw_os_error(number));
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        matches!(self.fault, Fault::Full | Fault::Twice(_))
    }

    /// How much of a write happens when it is to fail.
    fn part(&self, length: usize) -> usize {
        if self.is_full() { length / 2 } else { 0 }
    }
}

struct Faulty(Arc<Plan>);

struct FaultyFile {
    file: Box<dyn SegmentFile>,
    plan: Arc<Plan>,
}

impl Faulty {
    fn file(&self, file: Box<dyn SegmentFile>) -> Box<dyn SegmentFile> {
        Box::new(FaultyFile { file, plan: Arc::clone(&self.0) })
    }
}

impl Medium for Faulty {
    fn read(&self, path: &Path) -> io::Result<Box<dyn SegmentFile>> {
        self.0.step("open for reading")?;
        Ok(self.file(FileSystem.read(path)?))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn SegmentFile>> {
        self.0.step("open for writing")?;
        Ok(self.file(FileSystem.append(path)?))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.step("remove")?;
        FileSystem.remove(path)
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        self.0.step("sync directory")?;
        FileSystem.sync_directory(directory)
    }
}

impl SegmentFile for FaultyFile {
    fn length(&self) -> io::Result<u64> {
        self.plan.step("length")?;
        self.file.length()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.plan.step("read")?;
        self.file.read_at(offset, buffer)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.plan.step("append") {
            self.file.append(&bytes[..self.plan.part(bytes.len())])?;
            return Err(error);
        }
        self.file.append(bytes)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.plan.step("truncate")?;
        self.file.truncate(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.plan.step("sync")?;
        self.file.sync()
    }
}

#[derive(Debug)]
struct FaultyIndex {
    backend: FileBackend,
    plan: Arc<Plan>,
}

impl StorageBackend for FaultyIndex {
    fn len(&self) -> io::Result<u64> {
        self.plan.step("index length")?;
        self.backend.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.plan.step("index read")?;
        self.backend.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.plan.step("index growth")?;
        self.backend.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.plan.step("index sync")?;
        self.backend.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if let Err(error) = self.plan.step("index write") {
            self.backend.write(offset, &data[..self.plan.part(data.len())])?;
            return Err(error);
        }
        self.backend.write(offset, data)
    }
}

fn open(directory: &Path, plan: &Arc<Plan>) -> Result<Archive, ArchiveError> {
    fs::create_dir_all(directory).unwrap();
    let segments = Segments::on(&directory.join("segments"), Arc::new(Faulty(Arc::clone(plan))), LONGEST)?;
    let path = directory.join("index.redb");
    let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path).unwrap();
    let backend = FaultyIndex { backend: FileBackend::new(file).unwrap(), plan: Arc::clone(plan) };
    let database = Database::builder().create_with_backend(backend).map_err(super::index::failed)?;
    let register = Register::open(&directory.join("register"));
    let mut archive = Archive::over(segments, Index::over(database)?, register);
    archive.recover()?;
    Ok(archive)
}

/// A payload that does not get smaller.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

/// One call of the archive: entries with these numbers, each with a payload of its own.
fn batch(numbers: std::ops::Range<u64>, length: usize) -> Vec<Entry> {
    let entry = |number: u64| {
        Entry::new(Kind::Update, "", &number.to_string(), 0, "2026-01-01T00:00:00Z")
            .with_payload(noise(number, length))
    };
    numbers.map(entry).collect()
}

/// Small and large calls, some over several blocks, as a server and an import make them.
fn calls() -> Vec<Vec<Entry>> {
    vec![
        batch(0..1, 200),
        batch(1..4, 200),
        batch(4..9, 40_000),
        batch(9..10, 300_000),
        batch(10..11, 100),
        batch(11..14, 70_000),
        batch(14..15, 100),
    ]
}

/// Which entries must be there, and which must not.
#[derive(Default)]
struct Expected {
    kept: BTreeSet<String>,
    refused: BTreeSet<String>,
}

impl Expected {
    fn append(&mut self, archive: &mut Archive, entries: &[Entry]) {
        let ids = entries.iter().map(|entry| entry.id.clone());
        match archive.append_note(entries) {
            Ok(_) => self.kept.extend(ids),
            Err(ArchiveError::Unindexed(_)) => self.kept.extend(ids),
            Err(error) if error.kept_nothing() => self.refused.extend(ids),
            // Nobody was promised anything.
            Err(_) => {}
        }
    }

    /// What a healthy disk finds.
    fn check(&self, directory: &Path, when: &str) {
        let archive = Archive::open(directory).unwrap_or_else(|error| panic!("{when}: {error}"));
        archive.verify(|_| {}).unwrap_or_else(|error| panic!("{when}: {error}"));
        let found: Vec<Entry> = archive.entries(1).unwrap().map(Result::unwrap).collect();
        let ids: BTreeSet<String> = found.iter().map(|entry| entry.id.clone()).collect();
        assert_eq!(ids.len(), found.len(), "{when}: an entry is there twice");
        for id in &self.kept {
            assert!(ids.contains(id), "{when}: {id} was acknowledged and is lost");
        }
        for id in &self.refused {
            assert!(!ids.contains(id), "{when}: {id} was refused and is there");
        }
    }
}

fn each_write_fails(fault: Fault) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    for after in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let plan = Plan::new(i64::MAX, fault);
        let mut expected = Expected::default();
        let mut archive = open(folder.path(), &plan).unwrap();
        expected.append(&mut archive, &batch(100..103, 30_000));
        plan.left.store(after, Relaxed);
        for call in calls() {
            expected.append(&mut archive, &call);
        }
        let happened = plan.happened.load(Relaxed);
        // Closing the index writes, too.
        drop(archive);
        let what = plan.what.lock().unwrap().clone();
        expected.check(folder.path(), &format!("{fault:?} at operation {after}, {what:?}"));
        if !happened {
            assert!(expected.refused.is_empty() && expected.kept.len() == 18);
            break;
        }
        seen.extend(what);
    }
    for what in ["append", "sync", "index write", "index sync"] {
        assert!(seen.contains(what), "{what} never failed: {seen:?}");
    }
    seen
}

#[test]
fn a_disk_that_is_full_for_a_moment_costs_what_was_refused_and_no_more() {
    each_write_fails(Fault::Full);
}

#[test]
fn an_input_output_error_costs_what_was_refused_and_no_more() {
    each_write_fails(Fault::Broken);
}

/// What a failed write left behind cannot be taken back at once either, not even by removing the
/// segment that it began.
#[test]
fn a_disk_that_is_full_again_costs_what_was_refused_and_no_more() {
    let seen: BTreeSet<String> = (1..6).flat_map(|behind| each_write_fails(Fault::Twice(behind))).collect();
    assert!(seen.contains("truncate") && seen.contains("remove"), "{seen:?}");
}

#[test]
fn a_disk_that_dies_costs_nothing_that_was_acknowledged() {
    each_write_fails(Fault::Dead);
}

/// An archive whose index is older than its segments, as a kill leaves it.
fn unindexed(directory: &Path) -> Expected {
    let mut expected = Expected::default();
    let plan = Plan::new(i64::MAX, Fault::Dead);
    let mut archive = open(directory, &plan).unwrap();
    expected.append(&mut archive, &batch(100..103, 30_000));
    drop(archive);
    let old = fs::read(directory.join("index.redb")).unwrap();
    let mut archive = open(directory, &plan).unwrap();
    for call in calls() {
        expected.append(&mut archive, &call);
    }
    drop(archive);
    fs::write(directory.join("index.redb"), old).unwrap();
    expected
}

fn last_segment(directory: &Path) -> std::ffi::OsString {
    let names = fs::read_dir(directory.join("segments")).unwrap().map(|entry| entry.unwrap().file_name());
    names.max().unwrap()
}

#[test]
fn a_read_error_while_recovering_cuts_nothing_off() {
    for (fault, torn) in [(Fault::Broken, false), (Fault::Broken, true), (Fault::Dead, true)] {
        for after in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let expected = unindexed(folder.path());
            let segment = folder.path().join("segments").join(last_segment(folder.path()));
            let whole = fs::read(&segment).unwrap().len() as u64;
            if torn {
                // The first bytes of a frame that was never finished.
                let mut bytes = fs::read(&segment).unwrap();
                bytes.extend_from_within(..30);
                fs::write(&segment, bytes).unwrap();
            }
            let plan = Plan::new(after, fault);
            let opened = open(folder.path(), &plan);
            let happened = plan.happened.load(Relaxed);
            assert_eq!(opened.is_err(), happened, "operation {after}, {:?}", plan.what);
            drop(opened);
            assert!(fs::metadata(&segment).unwrap().len() >= whole, "operation {after}, {:?}", plan.what);
            expected.check(folder.path(), &format!("{fault:?} at operation {after}"));
            if !happened {
                break;
            }
        }
    }
}
