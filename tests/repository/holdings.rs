//! The items of the repository, and how they change.

use super::clock;
use super::description::{Description, Dice, MARK, sets};
use super::formats::Format;
use super::settings::Repository;
use super::xml::element;
use jiff::{SignedDuration, Timestamp};

/// How fine datestamps are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    Day,
    Seconds,
}

/// What becomes of deleted records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletedRecord {
    /// They vanish without a word.
    No,
    /// They are told of until [`forget`](super::Serving::forget) is called.
    Transient,
    /// They are told of for ever.
    Persistent,
}

/// In which order lists come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Oldest first.
    Datestamp,
    /// By number; after a change the datestamps no longer rise.
    Identifier,
    /// In an order that follows from the seed alone.
    Shuffled,
}

#[derive(Clone, Debug)]
pub struct Item {
    pub number: usize,
    pub datestamp: Timestamp,
    pub revision: u32,
    pub deleted: bool,
}

impl Item {
    pub fn identifier(&self) -> String {
        format!("oai:repository.example:{:06}", self.number)
    }
}

/// What a list is restricted to.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    pub from: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub set: Option<String>,
}

/// How a record is rendered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rendering {
    /// Puts [`MARK`] where a fault is to come.
    pub marked: bool,
    /// As it might have been a day before.
    pub outdated: bool,
}

#[derive(Debug)]
pub struct Holdings {
    seed: u64,
    sets: bool,
    granularity: Granularity,
    deleted_record: DeletedRecord,
    order: Order,
    dublin_core_only: Vec<usize>,
    earliest: Timestamp,
    /// In the order of their numbers.
    items: Vec<Item>,
    /// The number that the next one gets: none is given twice.
    next: usize,
}

impl Holdings {
    pub fn new(settings: &Repository) -> Self {
        let start = settings.clock.now();
        let span = i64::from(settings.spread) * 86_400;
        let count = settings.records as i64;
        // Two days lie between the youngest record and the clock, so that nothing seeded falls
        // into the overlap of a second harvest.
        let youngest = start - SignedDuration::from_hours(48);
        let earliest = youngest - SignedDuration::from_secs(span);
        let item = |index: i64| Item {
            number: index as usize + 1,
            datestamp: earliest + SignedDuration::from_secs(span * index / count.max(1)),
            revision: 0,
            deleted: false,
        };
        let mut items: Vec<Item> = (0..count).map(item).collect();
        for nth in 0..settings.deleted {
            items[nth * settings.records / settings.deleted].deleted = true;
        }
        Self {
            seed: settings.seed,
            sets: settings.sets,
            granularity: settings.granularity,
            deleted_record: settings.deleted_record,
            order: settings.order,
            dublin_core_only: settings.dublin_core_only.clone(),
            earliest,
            items,
            next: settings.records + 1,
        }
    }

    /// The lower limit of all datestamps.
    pub fn earliest(&self) -> Timestamp {
        self.earliest
    }

    /// The item of a number, whatever its state.
    pub fn item(&self, number: usize) -> &Item {
        match self.items.binary_search_by_key(&number, |item| item.number) {
            Ok(at) => &self.items[at],
            Err(_) => panic!("no record {number}"),
        }
    }

    /// The numbers of all items, whatever their state.
    pub fn numbers(&self) -> Vec<usize> {
        self.items.iter().map(|item| item.number).collect()
    }

    /// All items the protocol may speak of, in the order of their numbers.
    pub fn known(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| !item.deleted || self.deleted_record != DeletedRecord::No)
    }

    /// The item of an identifier, if the protocol may speak of it.
    pub fn find(&self, identifier: &str) -> Option<&Item> {
        self.known().find(|item| item.identifier() == identifier)
    }

    /// The numbers of what a selection holds in a format, in the order of lists.
    pub fn select(&self, format: Format, selection: &Selection) -> Vec<usize> {
        let mut found: Vec<&Item> =
            self.known().filter(|item| self.has(item, format) && self.selected(item, selection)).collect();
        match self.order {
            Order::Datestamp => found.sort_by_key(|item| (item.datestamp, item.number)),
            Order::Identifier => {}
            Order::Shuffled => found.sort_by_key(|item| Dice::new(self.seed, item.number).next()),
        }
        found.into_iter().map(|item| item.number).collect()
    }

    /// Whether an item exists in a format.
    pub fn has(&self, item: &Item, format: Format) -> bool {
        format.prefix == "oai_dc" || !self.dublin_core_only.contains(&item.number)
    }

    fn selected(&self, item: &Item, selection: &Selection) -> bool {
        // With day granularity the datestamp of the record is its day, and so are the bounds.
        let second = item.datestamp.as_second();
        let datestamp = match self.granularity {
            Granularity::Seconds => item.datestamp,
            Granularity::Day => Timestamp::from_second(second - second.rem_euclid(86_400)).unwrap(),
        };
        selection.from.is_none_or(|from| datestamp >= from)
            && selection.until.is_none_or(|until| datestamp <= until)
            && selection.set.as_ref().is_none_or(|set| {
                // A set holds what the sets below it hold.
                sets(self.seed, item.number).iter().any(|spec| {
                    spec.strip_prefix(set).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
                })
            })
    }

    pub fn datestamp(&self, instant: Timestamp) -> String {
        match self.granularity {
            Granularity::Day => clock::day(instant),
            Granularity::Seconds => clock::seconds(instant),
        }
    }

    /// A `header` element.
    pub fn header(&self, item: &Item, rendering: Rendering) -> String {
        let instant =
            if rendering.outdated { item.datestamp - SignedDuration::from_hours(24) } else { item.datestamp };
        let mut out = String::new();
        out.push_str(if item.deleted { "      <header status=\"deleted\">\n" } else { "      <header>\n" });
        element(&mut out, 8, "identifier", &item.identifier());
        element(&mut out, 8, "datestamp", &self.datestamp(instant));
        if self.sets {
            for spec in sets(self.seed, item.number) {
                element(&mut out, 8, "setSpec", spec);
            }
        }
        out.push_str("      </header>\n");
        out
    }

    /// A `record` element.
    pub fn record(&self, item: &Item, format: Format, rendering: Rendering) -> String {
        let mut out = format!("    <record>\n{}", self.header(item, rendering));
        if !item.deleted {
            let mut description = Description::new(self.seed, item.number, item.revision);
            if rendering.outdated {
                description.title.push_str(", superseded");
            }
            if rendering.marked {
                description.title.push(MARK);
            }
            out.push_str("      <metadata>\n");
            out.push_str(&format.metadata(&description));
            out.push_str("      </metadata>\n");
        }
        out.push_str("    </record>\n");
        out
    }

    /// Gives records a new revision.
    pub fn change(&mut self, numbers: &[usize], now: Timestamp) {
        for item in self.chosen(numbers) {
            item.revision += 1;
            item.datestamp = now;
        }
    }

    /// Adds records and gives their numbers.
    pub fn add(&mut self, count: usize, now: Timestamp) -> Vec<usize> {
        let numbers: Vec<usize> = (self.next..self.next + count).collect();
        self.next += count;
        let new = |number: &usize| Item { number: *number, datestamp: now, revision: 0, deleted: false };
        self.items.extend(numbers.iter().map(new));
        numbers
    }

    /// Deletes records, or brings deleted ones back.
    pub fn set_deleted(&mut self, numbers: &[usize], deleted: bool, now: Timestamp) {
        for item in self.chosen(numbers) {
            item.deleted = deleted;
            item.datestamp = now;
        }
    }

    /// Forgets what was deleted.
    pub fn forget(&mut self) {
        assert_eq!(self.deleted_record, DeletedRecord::Transient, "only transient deletions are forgotten");
        self.items.retain(|item| !item.deleted);
    }

    fn chosen(&mut self, numbers: &[usize]) -> impl Iterator<Item = &mut Item> {
        for number in numbers {
            self.item(*number);
        }
        self.items.iter_mut().filter(move |item| numbers.contains(&item.number))
    }
}
