//! Takes the steps of a compiled query in one graph.
//!
//! Depth first: a step that binds a variable takes what follows and then frees it again, so one row
//! is all the room that is needed.

use crate::graph::Loaded;
use crate::plan::{Branch, Place, Plan, Scan, Slot, Step, Values};
use crate::term::{Id, same};
use oxrdf::{Term, TermRef};

/// The row in hand.
#[derive(Debug, Default, Clone)]
pub(crate) struct Bindings {
    slots: Vec<Id>,
    /// What expressions made for this row.
    made: Vec<Term>,
}

impl Bindings {
    /// Frees all variables of a query that has so many.
    pub fn clear(&mut self, slots: usize) {
        self.slots.clear();
        self.slots.resize(slots, Id::UNBOUND);
        self.made.clear();
    }

    pub fn get(&self, slot: Slot) -> Id {
        self.slots.get(slot.index()).copied().unwrap_or(Id::UNBOUND)
    }

    fn set(&mut self, slot: Slot, id: Id) {
        if let Some(value) = self.slots.get_mut(slot.index()) {
            *value = id;
        }
    }
}

/// A graph and the query that is asked of it.
#[derive(Clone, Copy)]
pub(crate) struct World<'a> {
    pub loaded: Loaded<'a>,
    pub plan: &'a Plan,
}

/// Called with each row. Whether to go on.
type Then<'t> = &'t mut dyn FnMut(&mut Bindings) -> bool;

impl World<'_> {
    /// Calls with each row of the query.
    pub fn answer(&self, row: &mut Bindings, each: &mut dyn FnMut(&Bindings)) {
        row.clear(self.plan.slots);
        self.branch(&self.plan.branch, row, &mut |row| {
            each(row);
            true
        });
    }

    /// Whether an `EXISTS` inside an expression has an answer.
    pub fn exists(&self, number: usize, row: &Bindings) -> bool {
        self.plan.exists.get(number).is_some_and(|branch| self.any(branch, &mut row.clone()))
    }

    /// The term of a number.
    pub fn term<'r>(&'r self, id: Id, row: &'r Bindings) -> Option<TermRef<'r>> {
        match id.place_made() {
            Some(place) => row.made.get(place).map(Term::as_ref),
            None => self.loaded.term(id),
        }
    }

    fn any(&self, branch: &Branch, row: &mut Bindings) -> bool {
        !self.branch(branch, row, &mut |_| false)
    }

    fn branch(&self, branch: &Branch, row: &mut Bindings, then: Then<'_>) -> bool {
        let graph = self.loaded.graph;
        !branch.needs.iter().all(|predicate| graph.has(*predicate)) || self.take(&branch.steps, row, then)
    }

    /// Takes steps for the row in hand, and then what comes after them.
    fn take(&self, steps: &[Step], row: &mut Bindings, then: Then<'_>) -> bool {
        let Some((step, rest)) = steps.split_first() else { return then(row) };
        match step {
            Step::Nothing => true,
            Step::InGraph(place) => {
                let Some(name) = self.loaded.graph.name() else { return true };
                match *place {
                    Place::Term(id) => id != name || self.take(rest, row, then),
                    Place::Slot(slot) => self.with(slot, name, rest, row, then),
                }
            }
            Step::Scan(scan) => self.scan(*scan, rest, row, then),
            Step::Values(values) => self.values(values, rest, row, then),
            Step::Filter(condition) => self.holds(condition, row) != Some(true) || self.take(rest, row, then),
            Step::Bind(slot, expression) => {
                let made = row.made.len();
                let id = match expression.keeps_terms() {
                    true => self.kept(expression, row),
                    false => self.exact(expression, row).map(Term::from).map(|term| {
                        row.made.push(term);
                        Id::made(row.made.len() - 1)
                    }),
                };
                let on = match id {
                    None => self.take(rest, row, then),
                    Some(id) => self.with(*slot, id, rest, row, then),
                };
                row.made.truncate(made);
                on
            }
            Step::Exists { branch, wanted } => self.any(branch, row) != *wanted || self.take(rest, row, then),
            Step::Optional(branch) => {
                let mut met = false;
                let on = self.branch(branch, row, &mut |row| {
                    met = true;
                    self.take(rest, row, then)
                });
                on && (met || self.take(rest, row, then))
            }
            Step::Union(branches) => {
                for branch in branches {
                    if !self.branch(branch, row, &mut |row| self.take(rest, row, then)) {
                        return false;
                    }
                }
                true
            }
            Step::Minus { branch, pairs } => {
                let agrees = !self.branch(branch, row, &mut |row| {
                    let mut shared = false;
                    for pair in pairs {
                        let (outer, inner) = (row.get(pair.outer), row.get(pair.inner));
                        if outer.is_bound() && inner.is_bound() {
                            if !self.same(outer, inner, row) {
                                return true;
                            }
                            shared = true;
                        }
                    }
                    !shared
                });
                agrees || self.take(rest, row, then)
            }
        }
    }

    /// Takes steps with a variable bound, if it is free or has this value.
    fn with(&self, slot: Slot, id: Id, rest: &[Step], row: &mut Bindings, then: Then<'_>) -> bool {
        let before = row.get(slot);
        if before.is_bound() {
            return !self.same(before, id, row) || self.take(rest, row, then);
        }
        row.set(slot, id);
        let on = self.take(rest, row, then);
        row.set(slot, Id::UNBOUND);
        on
    }

    fn same(&self, left: Id, right: Id, row: &Bindings) -> bool {
        if left == right {
            return true;
        }
        if left.place_made().is_none() && right.place_made().is_none() {
            return false;
        }
        matches!((self.term(left, row), self.term(right, row)), (Some(left), Some(right)) if same(left, right))
    }

    /// What a place of a triple pattern stands for now.
    fn resolve(&self, place: Place, row: &Bindings) -> Id {
        let id = match place {
            Place::Term(id) => id,
            Place::Slot(slot) => row.get(slot),
        };
        match id.place_made() {
            None => id,
            // What an expression made may be a term of the graph.
            Some(_) => self.term(id, row).and_then(|term| self.loaded.find(term)).unwrap_or(Id::NOWHERE),
        }
    }

    fn scan(&self, scan: Scan, rest: &[Step], row: &mut Bindings, then: Then<'_>) -> bool {
        let graph = self.loaded.graph;
        let wanted = [scan.predicate, scan.subject, scan.object].map(|place| self.resolve(place, row));
        let [predicate, subject, object] = wanted;
        if predicate.is_bound() && predicate.index() < self.loaded.constants.len() {
            for (s, o) in graph.pairs(predicate, subject, object).iter() {
                if (subject.is_bound() && s != subject) || (object.is_bound() && o != object) {
                    continue;
                }
                let free = [(scan.subject, subject, s), (scan.object, object, o)];
                if !self.with_free(&free, rest, row, then) {
                    return false;
                }
            }
        } else {
            for &(p, s, o) in graph.all() {
                if (predicate.is_bound() && p != predicate)
                    || (subject.is_bound() && s != subject)
                    || (object.is_bound() && o != object)
                {
                    continue;
                }
                let free =
                    [(scan.predicate, predicate, p), (scan.subject, subject, s), (scan.object, object, o)];
                if !self.with_free(&free, rest, row, then) {
                    return false;
                }
            }
        }
        true
    }

    /// Takes steps with the free ones of some places bound. A variable may stand at two of them.
    fn with_free(
        &self,
        places: &[(Place, Id, Id)],
        rest: &[Step],
        row: &mut Bindings,
        then: Then<'_>,
    ) -> bool {
        let mut agree = true;
        for (place, before, found) in places {
            if let Place::Slot(slot) = place
                && !before.is_bound()
            {
                match row.get(*slot) {
                    Id::UNBOUND => row.set(*slot, *found),
                    other => agree &= other == *found,
                }
            }
        }
        let on = !agree || self.take(rest, row, then);
        for (place, before, _) in places {
            if let Place::Slot(slot) = place
                && !before.is_bound()
            {
                row.set(*slot, Id::UNBOUND);
            }
        }
        on
    }

    fn values(&self, values: &Values, rest: &[Step], row: &mut Bindings, then: Then<'_>) -> bool {
        'rows: for given in &values.rows {
            // Which columns this row of the table binds.
            let mut bound = 0_u64;
            for (column, (slot, id)) in values.slots.iter().zip(given).enumerate() {
                let before = row.get(*slot);
                if !id.is_bound() {
                    continue;
                }
                if !before.is_bound() {
                    row.set(*slot, *id);
                    bound |= 1 << column;
                } else if !self.same(before, *id, row) {
                    free(values, bound, row);
                    continue 'rows;
                }
            }
            let on = self.take(rest, row, then);
            free(values, bound, row);
            if !on {
                return false;
            }
        }
        true
    }
}

/// Frees the variables of some columns.
fn free(values: &Values, columns: u64, row: &mut Bindings) {
    for (column, slot) in values.slots.iter().enumerate() {
        if columns & (1 << column) != 0 {
            row.set(*slot, Id::UNBOUND);
        }
    }
}
