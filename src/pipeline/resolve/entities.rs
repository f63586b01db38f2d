//! All things that all records describe, by number.

use super::PipelineError;
use super::cache::{Cache, Reading};
use super::entity::Kind;
use super::texts::Asked;
use crate::resolve::feature::{Builder, FeatureTable, Id};
use rustc_hash::FxHashMap;

/// A thing's number.
pub(super) type Number = u32;

/// What things say of themselves: feature and value.
pub(super) type Sayings = FxHashMap<Number, Vec<(Box<str>, Box<str>)>>;

/// One thing as one record describes it.
pub(super) struct Entity {
    pub record: u32,
    pub kind: Kind,
    /// Its node without the record's name.
    pub node: Box<str>,
}

/// What the records describe, in the order of source, id and node.
#[derive(Default)]
pub(super) struct Entities {
    pub all: Vec<Entity>,
    /// Source and id of each record.
    pub records: Vec<(Box<str>, Box<str>)>,
    /// Of what was read from it.
    pub hashes: Vec<[u8; 16]>,
    /// The first thing of each record, and one more number at the end.
    first: Vec<Number>,
    /// Instances to works, works to hubs.
    pub links: Vec<(Number, Number)>,
    /// What tells expressions apart.
    pub expressions: Sayings,
    /// What subjects and places say of themselves.
    pub headings: Sayings,
}

/// What one profile compares.
pub(super) struct Compared {
    pub table: FeatureTable,
    /// Keys that queries gave.
    pub keys: Vec<(Box<str>, Id)>,
    /// The thing behind each record of the table.
    pub of: Vec<Number>,
    at: FxHashMap<Number, Id>,
}

impl Compared {
    /// The record of the table that stands for a thing.
    pub fn id(&self, number: Number) -> Option<Id> {
        self.at.get(&number).copied()
    }
}

/// Rows on their way into a table.
#[derive(Default)]
struct Gathering {
    builder: Builder,
    keys: Vec<(Box<str>, Number)>,
    numbers: Vec<Number>,
}

impl Gathering {
    fn enter(&mut self, source: &str, key: &str, number: Number) -> Id {
        self.numbers.push(number);
        self.builder.record(source, key)
    }

    fn finish(self, entities: &Entities) -> Compared {
        let Self { builder, keys, numbers: mut of } = self;
        let table = builder.finish();
        // The table has its own order: that of its names.
        of.sort_by_cached_key(|number| {
            let (source, id, node) = entities.name(*number);
            (source.to_owned(), entity_key(id, node))
        });
        let at: FxHashMap<Number, Id> = (0..).zip(&of).map(|(id, number)| (*number, id)).collect();
        let keys =
            keys.into_iter().filter_map(|(key, number)| Some((key, at.get(&number).copied()?))).collect();
        Compared { table, keys, of, at }
    }
}

/// The three tables that are compared by profiles.
pub(super) struct Tables {
    pub instance: Compared,
    pub work: Compared,
    pub agent: Compared,
}

impl Entities {
    /// Reads everything that is kept.
    pub fn read(cache: &Cache) -> Result<(Self, Tables), PipelineError> {
        let mut entities = Self::default();
        let (mut instance, mut work, mut agent) =
            (Gathering::default(), Gathering::default(), Gathering::default());
        cache.each_reading(|key, reading| {
            let key = String::from_utf8_lossy(key);
            let (source, id) = key.split_once('\0').unwrap_or((&key, ""));
            entities.add(
                source,
                id,
                reading,
                &mut [
                    (Asked::Instance, Kind::Instance, &mut instance),
                    (Asked::Work, Kind::Work, &mut work),
                    (Asked::Agent, Kind::Agent, &mut agent),
                ],
            );
            Ok(())
        })?;
        entities.first.push(entities.all.len() as Number);
        let tables = Tables {
            instance: instance.finish(&entities),
            work: work.finish(&entities),
            agent: agent.finish(&entities),
        };
        Ok((entities, tables))
    }

    fn add(
        &mut self,
        source: &str,
        id: &str,
        reading: Reading,
        gatherings: &mut [(Asked, Kind, &mut Gathering); 3],
    ) {
        let (record, first) = (self.records.len() as u32, self.all.len() as Number);
        self.records.push((source.into(), id.into()));
        self.hashes.push(reading.hash);
        self.first.push(first);
        let mut ids = vec![None; reading.found.len()];
        for (place, found) in reading.found.iter().enumerate() {
            let number = first + place as Number;
            for (asked, kind, gathering) in gatherings.iter_mut() {
                if found.kind == *kind {
                    ids[place] =
                        Some((*asked, gathering.enter(source, &entity_key(id, &found.node), number)));
                }
            }
        }
        for row in reading.rows {
            let number = first + row.entity as Number;
            match row.asked {
                Asked::Expression => {
                    self.expressions.entry(number).or_default().push((row.feature, row.value));
                }
                Asked::Subject => self.headings.entry(number).or_default().push((row.feature, row.value)),
                asked => {
                    let Some(Some((of, id))) = ids.get(row.entity) else { continue };
                    let gathering = gatherings.iter_mut().find(|(known, ..)| *known == asked && asked == *of);
                    let Some((_, _, gathering)) = gathering else { continue };
                    if row.feature.is_empty() {
                        gathering.keys.push((row.value, number));
                    } else {
                        gathering.builder.add(*id, &row.feature, &row.value);
                    }
                }
            }
        }
        let number = |place: usize| first + place as Number;
        self.links.extend(reading.links.iter().map(|(from, to)| (number(*from), number(*to))));
        self.all.extend(reading.found.into_iter().map(|found| Entity {
            record,
            kind: found.kind,
            node: found.node,
        }));
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn kind(&self, number: Number) -> Kind {
        self.all.get(number as usize).map_or(Kind::Place, |entity| entity.kind)
    }

    /// Source, id and node of a thing.
    pub fn name(&self, number: Number) -> (&str, &str, &str) {
        let Some(entity) = self.all.get(number as usize) else { return ("", "", "") };
        let record = self.records.get(entity.record as usize);
        record.map_or(("", "", ""), |(source, id)| (source, id, &entity.node))
    }

    /// The hub of a work.
    pub fn hub_of(&self, work: Number) -> Option<Number> {
        let start = self.links.partition_point(|(from, _)| *from < work);
        let links = self.links.get(start..)?.iter().take_while(|(from, _)| *from == work);
        links.map(|(_, to)| *to).find(|to| self.kind(*to) == Kind::Hub)
    }

    /// The things of a record.
    pub fn of_record(&self, record: u32) -> std::ops::Range<Number> {
        let at = |place: usize| self.first.get(place).copied().unwrap_or(0);
        at(record as usize)..at(record as usize + 1)
    }

    /// The number of a record.
    pub fn record(&self, source: &str, id: &str) -> Option<u32> {
        // The order of the cache, where a zero byte stands between the two.
        let key = super::cache::record_key(source, id);
        let place = self
            .records
            .binary_search_by(|(source, id)| super::cache::record_key(source, id).cmp(&key))
            .ok()?;
        u32::try_from(place).ok()
    }

    /// The thing of a record with this node; without one, the thing of this kind that comes first.
    pub fn find(&self, source: &str, id: &str, node: Option<&str>, kind: Kind) -> Option<Number> {
        let range = self.of_record(self.record(source, id)?);
        let mut numbers = range.filter(|number| self.kind(*number) == kind);
        match node {
            Some(node) => numbers.find(|number| self.name(*number).2 == node),
            None => numbers.next(),
        }
    }
}

/// What a thing is called in the tables of the engine.
pub(super) fn entity_key(id: &str, node: &str) -> String {
    format!("{id}{node}")
}
