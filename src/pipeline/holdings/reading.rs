//! The log in memory, as of one step.

use super::Line;
use crate::publish::oai::{Datestamp, Header, Page, Selection, is_in_set, set_spec};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::ops::Bound;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

/// What the catalogue holds. Takes some 130 bytes a record.
pub struct Holdings {
    path: PathBuf,
    /// Held open, so that another file cannot come by its number.
    file: Option<File>,
    /// How far the file was read.
    read: u64,
    step: Option<Datestamp>,
    records: BTreeMap<(Datestamp, Arc<str>), Record>,
    times: FxHashMap<Arc<str>, Datestamp>,
    shelves: Vec<Shelf>,
}

#[derive(Debug, Clone, Copy)]
struct Record {
    /// Its place among the shelves.
    shelf: usize,
    withdrawn: bool,
}

/// Records of one source, the same content types and one model; there are few.
#[derive(Debug)]
struct Shelf {
    source: String,
    types: Vec<String>,
    model: String,
    records: u64,
}

impl Shelf {
    fn sets(&self) -> Vec<String> {
        let types = self.types.iter().map(|code| set_spec(&["type", code]));
        std::iter::once(set_spec(&["source", &self.source])).chain(types).collect()
    }
}

/// Names with how often they occur.
pub type Counts = Vec<(String, u64)>;

fn most_first(counts: BTreeMap<&str, u64>) -> Counts {
    let mut counts: Counts = counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

impl Holdings {
    /// Nothing yet.
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            file: None,
            read: 0,
            step: None,
            records: BTreeMap::new(),
            times: FxHashMap::default(),
            shelves: Vec::new(),
        }
    }

    /// Whether it is at a step.
    pub fn is_at(&self, step: Datestamp) -> bool {
        self.step == Some(step)
    }

    /// Lets go of everything, to read it again.
    pub fn clear(&mut self) {
        *self = Self::new(std::mem::take(&mut self.path));
    }

    /// Moves to a step: reads what was written since, or everything if the log was begun anew or the
    /// step is an earlier one.
    ///
    /// At the step that is shown the file is not looked at: while a store is made anew, readers see
    /// the snapshot of the old one, and must see its holdings.
    ///
    /// `date` says which datestamp a line with a time has, and is asked for each line that is read.
    pub fn show(
        &mut self,
        step: Option<Datestamp>,
        mut date: impl FnMut(Datestamp) -> Datestamp,
    ) -> io::Result<()> {
        if step == self.step {
            return Ok(());
        }
        if step < self.step || self.is_replaced()? {
            self.clear();
        }
        let Some(until) = step else { return Ok(()) };
        if self.file.is_none() {
            self.file = match File::open(&self.path) {
                Ok(file) => Some(file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            };
        }
        if let Some(file) = self.file.take() {
            let mut reader = BufReader::with_capacity(1 << 16, file);
            let read = self.read_until(&mut reader, until, &mut date);
            self.file = Some(reader.into_inner());
            read?;
        }
        self.step = step;
        Ok(())
    }

    fn read_until(
        &mut self,
        reader: &mut BufReader<File>,
        until: Datestamp,
        date: &mut impl FnMut(Datestamp) -> Datestamp,
    ) -> io::Result<()> {
        reader.seek(SeekFrom::Start(self.read))?;
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line)?;
            if line.last() != Some(&b'\n') {
                return Ok(());
            }
            match Line::read(&line) {
                Some((time, _)) if time > until => return Ok(()),
                Some((time, line)) => self.take(date(time), line),
                None => {}
            }
            self.read += length as u64;
        }
    }

    fn is_replaced(&self) -> io::Result<bool> {
        let Some(file) = &self.file else { return Ok(false) };
        let known = file.metadata()?;
        match std::fs::metadata(&self.path) {
            Ok(found) => Ok((found.dev(), found.ino()) != (known.dev(), known.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(error),
        }
    }

    fn take(&mut self, time: Datestamp, line: Line) {
        let id: Arc<str> = format!("{}/{}", line.source, line.id).into();
        let before = self.times.insert(Arc::clone(&id), time);
        let before = before.and_then(|before| self.records.remove(&(before, Arc::clone(&id))));
        if let Some(shelf) = before.and_then(|before| self.shelves.get_mut(before.shelf)) {
            shelf.records -= 1;
        }
        // A withdrawn record stays in its sets: whoever harvests one must hear of it.
        let shelf = match before.filter(|_| line.withdrawn) {
            Some(before) => before.shelf,
            None => self.shelf(line.source, line.types, line.model),
        };
        if let Some(shelf) = self.shelves.get_mut(shelf) {
            shelf.records += 1;
        }
        self.records.insert((time, id), Record { shelf, withdrawn: line.withdrawn });
    }

    fn shelf(&mut self, source: String, types: Vec<String>, model: String) -> usize {
        let is_it = |shelf: &Shelf| shelf.source == source && shelf.types == types && shelf.model == model;
        let known = self.shelves.iter().position(is_it);
        known.unwrap_or_else(|| {
            self.shelves.push(Shelf { source, types, model, records: 0 });
            self.shelves.len() - 1
        })
    }

    /// The earliest of all times.
    pub fn earliest(&self) -> Option<Datestamp> {
        self.records.keys().next().map(|(time, _)| *time)
    }

    /// The sources and the content types of all records.
    pub fn sources_and_types(&self) -> (BTreeSet<&str>, BTreeSet<&str>) {
        let used = self.shelves.iter().filter(|shelf| shelf.records > 0);
        let (sources, types): (BTreeSet<_>, Vec<_>) =
            used.map(|shelf| (shelf.source.as_str(), &shelf.types)).unzip();
        (sources, types.into_iter().flatten().map(String::as_str).collect())
    }

    /// How many records there are of each model and of each content type, most first; withdrawn ones
    /// do not count.
    pub fn counts(&self) -> (Counts, Counts) {
        let mut of_shelf = vec![0_u64; self.shelves.len()];
        for record in self.records.values().filter(|record| !record.withdrawn) {
            of_shelf.get_mut(record.shelf).into_iter().for_each(|count| *count += 1);
        }
        let (mut models, mut types): (BTreeMap<&str, u64>, BTreeMap<&str, u64>) = Default::default();
        for (shelf, count) in self.shelves.iter().zip(of_shelf).filter(|(_, count)| *count > 0) {
            *models.entry(&shelf.model).or_default() += count;
            shelf.types.iter().for_each(|code| *types.entry(code).or_default() += count);
        }
        (most_first(models), most_first(types))
    }

    pub fn header(&self, id: &str) -> Option<Header> {
        let (id, time) = self.times.get_key_value(id)?;
        let record = self.records.get(&(*time, Arc::clone(id)))?;
        self.header_of(*time, id, *record)
    }

    fn header_of(&self, datestamp: Datestamp, id: &str, record: Record) -> Option<Header> {
        let sets = self.shelves.get(record.shelf)?.sets();
        Some(Header { id: id.to_owned(), datestamp, sets, deleted: record.withdrawn })
    }

    /// A piece of a list. How long the whole of it is, is known where no times are asked for.
    pub fn page(&self, selection: &Selection) -> Page {
        let is_wanted: Vec<bool> = self
            .shelves
            .iter()
            .map(|shelf| {
                selection.set.as_ref().is_none_or(|set| shelf.sets().iter().any(|spec| is_in_set(spec, set)))
            })
            .collect();
        let is_wanted = |shelf: usize| is_wanted.get(shelf).copied().unwrap_or_default();
        let from = selection.from.map(|from| Bound::Included((from, Arc::from(""))));
        let after = selection
            .after
            .as_ref()
            .map(|after| Bound::Excluded((after.datestamp, after.id.as_str().into())));
        let start = match (&selection.after, selection.from) {
            (Some(after), Some(wanted)) if after.datestamp < wanted => from,
            _ => after.or(from),
        };
        let mut found = self
            .records
            .range((start.unwrap_or(Bound::Unbounded), Bound::Unbounded))
            .take_while(|((time, _), _)| selection.until.is_none_or(|until| *time <= until))
            .filter(|(_, record)| is_wanted(record.shelf))
            .filter_map(|((time, id), record)| self.header_of(*time, id, *record));
        let headers = found.by_ref().take(selection.limit).collect();
        let more = found.next().is_some();
        let is_whole = selection.from.is_none() && selection.until.is_none();
        let shelves = self.shelves.iter().enumerate().filter(|(shelf, _)| is_wanted(*shelf));
        let total = is_whole.then(|| shelves.map(|(_, shelf)| shelf.records).sum());
        Page { headers, more, total }
    }
}
