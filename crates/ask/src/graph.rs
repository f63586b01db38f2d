//! One record graph, made ready to be asked: its terms numbered, its triples by predicate.
//!
//! A record has a hundred triples or two, and a property rarely more than ten of them. So triples
//! lie in one list, those of a predicate together, and looking one up is reading a few integers.
//! Only where a predicate has many are they put in order, once by subject and once by object.
//!
//! What the queries cannot see is left out: triples whose predicate no query names.

use crate::term::{Constants, Id, hash, name, same, subject};
use oxrdf::{NamedNode, TermRef, Triple};

/// From this many triples of one predicate on, they are searched rather than read through.
const MANY: usize = 40;

/// Room for one graph at a time. Keep one for each thread and use it again for every record.
#[derive(Debug, Default)]
pub struct Graph {
    table: Table,
    /// Where the terms of the graph stand, by number after the constants.
    places: Vec<Place>,
    constants: usize,
    name: Option<Id>,
    /// Whether the graph has a triple at all: one without does not exist.
    exists: bool,
    /// Triples as they come: predicate, subject, object.
    met: Vec<(Id, Id, Id)>,
    /// Subject and object, those of one predicate together.
    pairs: Vec<(Id, Id)>,
    /// The same, object first; only of predicates with many triples in order, and else not to be read.
    turned: Vec<(Id, Id)>,
    /// Where the pairs of each constant begin, were it a predicate.
    starts: Vec<u32>,
    /// Room for the evaluation.
    pub(crate) room: crate::evaluate::Bindings,
}

/// Where a term of the graph can be read.
#[derive(Debug, Clone, Copy)]
enum Place {
    Name,
    Subject(u32),
    Predicate(u32),
    Object(u32),
}

/// Which triples to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Those with a predicate that a query names.
    Named,
    /// All: some query has a variable for any predicate.
    All,
}

/// A graph together with what its numbers stand for.
#[derive(Clone, Copy)]
pub(crate) struct Loaded<'a> {
    pub constants: &'a Constants,
    pub graph: &'a Graph,
    pub name: &'a NamedNode,
    pub triples: &'a [Triple],
}

impl Graph {
    /// An empty one, to be filled by [`Questions::read`](crate::Questions::read).
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in a graph instead of the one before.
    pub(crate) fn load(
        &mut self,
        constants: &Constants,
        known: &Table,
        keep: Keep,
        graph: &NamedNode,
        triples: &[Triple],
    ) {
        self.table.clone_from(known);
        self.places.clear();
        self.constants = constants.len();
        self.met.clear();
        self.exists = !triples.is_empty();
        self.name = Some(self.number(constants, graph, triples, name(graph.as_ref()), Place::Name));
        // Triples of one subject mostly follow one another.
        let mut last: Option<(usize, Id)> = None;
        for (at, triple) in triples.iter().enumerate() {
            let here = u32::try_from(at).unwrap_or(u32::MAX);
            let term = name(triple.predicate.as_ref());
            let predicate = match self.find(constants, graph, triples, term) {
                Some(id) if id.index() < self.constants => id,
                _ if keep == Keep::Named => continue,
                Some(id) => id,
                None => self.number(constants, graph, triples, term, Place::Predicate(here)),
            };
            let id = match last.and_then(|(at, id)| Some((triples.get(at)?, id))) {
                Some((before, id)) if before.subject == triple.subject => id,
                _ => {
                    let term = subject(triple.subject.as_ref());
                    let id = self.number(constants, graph, triples, term, Place::Subject(here));
                    last = Some((at, id));
                    id
                }
            };
            let object = self.number(constants, graph, triples, triple.object.as_ref(), Place::Object(here));
            self.met.push((predicate, id, object));
        }
        self.index();
    }

    /// Puts the triples of each predicate together.
    fn index(&mut self) {
        self.starts.clear();
        self.starts.resize(self.constants + 1, 0);
        for (predicate, ..) in &self.met {
            if let Some(count) = self.starts.get_mut(predicate.index() + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        let mut many = false;
        for count in &mut self.starts {
            many |= *count as usize > MANY;
            sum += *count;
            *count = sum;
        }
        self.pairs.clear();
        self.pairs.resize(sum as usize, (Id::UNBOUND, Id::UNBOUND));
        // From the last to the first, each start moves down to where its predicate begins.
        for (predicate, subject, object) in self.met.iter().rev() {
            if let Some(end) =
                self.starts.get_mut(predicate.index() + 1).filter(|_| predicate.index() < self.constants)
            {
                *end -= 1;
                if let Some(pair) = self.pairs.get_mut(*end as usize) {
                    *pair = (*subject, *object);
                }
            }
        }
        // Now the entry after a predicate has its begin; its end is the begin of the next.
        self.starts.remove(0);
        self.starts.push(sum);
        if many {
            self.turned.clear();
            self.turned.extend(self.pairs.iter().map(|(subject, object)| (*object, *subject)));
            for bounds in self.starts.windows(2) {
                let &[from, to] = bounds else { continue };
                let range = from as usize..to as usize;
                if range.len() > MANY {
                    for list in [&mut self.pairs, &mut self.turned] {
                        if let Some(list) = list.get_mut(range.clone()) {
                            list.sort_unstable();
                        }
                    }
                }
            }
        }
    }

    /// The number of a term, which is given one if it has none.
    fn number(
        &mut self,
        constants: &Constants,
        graph: &NamedNode,
        triples: &[Triple],
        term: TermRef<'_>,
        place: Place,
    ) -> Id {
        let loaded = (self.constants, &self.places);
        let id = Id(u32::try_from(self.constants + self.places.len()).unwrap_or(u32::MAX));
        let found = self.table.find_or_insert(hash(term), id, |id| {
            let (count, places) = loaded;
            match id.index().checked_sub(count) {
                None => constants.term(id).is_some_and(|other| same(other, term)),
                Some(at) => places
                    .get(at)
                    .and_then(|place| place.term(graph, triples))
                    .is_some_and(|other| same(other, term)),
            }
        });
        if found == id {
            self.places.push(place);
        }
        found
    }

    fn find(
        &self,
        constants: &Constants,
        graph: &NamedNode,
        triples: &[Triple],
        term: TermRef<'_>,
    ) -> Option<Id> {
        self.table.find(hash(term), |id| match id.index().checked_sub(self.constants) {
            None => constants.term(id).is_some_and(|other| same(other, term)),
            Some(at) => self
                .places
                .get(at)
                .and_then(|place| place.term(graph, triples))
                .is_some_and(|other| same(other, term)),
        })
    }

    /// The name of the graph, unless the graph is empty and so does not exist.
    pub(crate) fn name(&self) -> Option<Id> {
        self.name.filter(|_| self.exists)
    }

    /// Whether any triple has this predicate.
    pub(crate) fn has(&self, predicate: Id) -> bool {
        let at = predicate.index();
        matches!((self.starts.get(at), self.starts.get(at + 1)), (Some(from), Some(to)) if from < to)
    }

    /// Subjects and objects of a predicate; fewer where one of the two is known and they are many.
    pub(crate) fn pairs(&self, predicate: Id, subject: Id, object: Id) -> Pairs<'_> {
        let at = predicate.index();
        let (Some(from), Some(to)) = (self.starts.get(at), self.starts.get(at + 1)) else {
            return Pairs { list: &[], turned: false };
        };
        let range = *from as usize..*to as usize;
        if range.len() <= MANY || !(subject.is_bound() || object.is_bound()) {
            return Pairs { list: self.pairs.get(range).unwrap_or_default(), turned: false };
        }
        let (list, wanted, turned) = match subject.is_bound() {
            true => (&self.pairs, subject, false),
            false => (&self.turned, object, true),
        };
        let list = list.get(range).unwrap_or_default();
        let begin = list.partition_point(|(first, _)| *first < wanted);
        let list = list.get(begin..).unwrap_or_default();
        let end = list.partition_point(|(first, _)| *first <= wanted);
        Pairs { list: list.get(..end).unwrap_or_default(), turned }
    }

    /// All triples that were kept: predicate, subject, object.
    pub(crate) fn all(&self) -> &[(Id, Id, Id)] {
        &self.met
    }
}

/// Subjects and objects, or the other way round.
#[derive(Clone, Copy)]
pub(crate) struct Pairs<'a> {
    list: &'a [(Id, Id)],
    turned: bool,
}

impl<'a> Pairs<'a> {
    /// Each with its subject first.
    pub fn iter(self) -> impl Iterator<Item = (Id, Id)> + 'a {
        self.list.iter().map(move |&(first, second)| match self.turned {
            false => (first, second),
            true => (second, first),
        })
    }
}

impl Place {
    fn term<'t>(self, graph: &'t NamedNode, triples: &'t [Triple]) -> Option<TermRef<'t>> {
        match self {
            Self::Name => Some(name(graph.as_ref())),
            Self::Subject(at) => triples.get(at as usize).map(|triple| subject(triple.subject.as_ref())),
            Self::Predicate(at) => triples.get(at as usize).map(|triple| name(triple.predicate.as_ref())),
            Self::Object(at) => triples.get(at as usize).map(|triple| triple.object.as_ref()),
        }
    }
}

impl<'a> Loaded<'a> {
    /// The term of a number of this graph or of the queries, not of what an expression made.
    pub fn term(self, id: Id) -> Option<TermRef<'a>> {
        match id.index().checked_sub(self.graph.constants) {
            None => self.constants.term(id),
            Some(at) => self.graph.places.get(at)?.term(self.name, self.triples),
        }
    }

    /// The number of a term, if the graph or a query names it.
    pub fn find(self, term: TermRef<'_>) -> Option<Id> {
        self.graph.find(self.constants, self.name, self.triples, term)
    }
}

/// From the hash of a term to its number.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Hash and number, the number being unbound where there is none. The length is a power of two.
    slots: Vec<(u32, Id)>,
    taken: usize,
}

impl Clone for Table {
    fn clone(&self) -> Self {
        Self { slots: self.slots.clone(), taken: self.taken }
    }

    /// Uses the room there is.
    fn clone_from(&mut self, other: &Self) {
        self.slots.clone_from(&other.slots);
        self.taken = other.taken;
    }
}

impl Table {
    /// A table of the constants, with room for a record beside them.
    pub fn of(constants: &Constants) -> Self {
        let room = (constants.len() * 2 + 256).next_power_of_two();
        let mut table = Self { slots: vec![(0, Id::UNBOUND); room], taken: 0 };
        for (at, term) in constants.iter().enumerate() {
            table.find_or_insert(hash(term), Id(u32::try_from(at).unwrap_or(u32::MAX)), |_| false);
        }
        table
    }

    fn find(&self, hash: u32, is_it: impl Fn(Id) -> bool) -> Option<Id> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        loop {
            match self.slots.get(at) {
                Some((_, Id::UNBOUND)) | None => return None,
                Some((other, id)) if *other == hash && is_it(*id) => return Some(*id),
                Some(_) => at = (at + 1) & mask,
            }
        }
    }

    /// The number that is found, or this one, which is then kept.
    fn find_or_insert(&mut self, hash: u32, new: Id, is_it: impl Fn(Id) -> bool) -> Id {
        if self.taken * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len().saturating_sub(1);
        let mut at = hash as usize & mask;
        loop {
            match self.slots.get_mut(at) {
                Some(slot) if slot.1 == Id::UNBOUND => {
                    *slot = (hash, new);
                    self.taken += 1;
                    return new;
                }
                Some((other, id)) if *other == hash && is_it(*id) => return *id,
                Some(_) => at = (at + 1) & mask,
                None => return new,
            }
        }
    }

    fn grow(&mut self) {
        let room = (self.slots.len() * 2).max(256);
        let before = std::mem::replace(&mut self.slots, vec![(0, Id::UNBOUND); room]);
        self.taken = 0;
        for (hash, id) in before {
            if id.is_bound() {
                self.find_or_insert(hash, id, |_| false);
            }
        }
    }
}
