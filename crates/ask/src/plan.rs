//! What a query is compiled to: steps, each of which binds variables or lets a row pass.
//!
//! Steps are taken one after the other for every row, in the order in which they stand. A step that
//! has several answers takes all that follow once for each.

use crate::expression::Expr;
use crate::term::Id;

/// A variable or blank node of a query, by the place of its value in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Slot(pub u32);

impl Slot {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A term or a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Term(Id),
    Slot(Slot),
}

/// A triple pattern.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scan {
    pub subject: Place,
    pub predicate: Place,
    pub object: Place,
}

/// A table of values; what is unbound in it is `UNDEF`.
#[derive(Debug, Clone)]
pub(crate) struct Values {
    pub slots: Vec<Slot>,
    pub rows: Vec<Vec<Id>>,
}

impl Values {
    /// Variables that have a value in every row of the table.
    pub fn full_columns(&self) -> impl Iterator<Item = Slot> {
        self.slots.iter().enumerate().filter_map(|(column, slot)| {
            let full = self.rows.iter().all(|row| row.get(column).is_some_and(|id| id.is_bound()));
            full.then_some(*slot)
        })
    }
}

/// Steps that are not worth beginning in a graph without certain predicates.
#[derive(Debug)]
pub(crate) struct Branch {
    pub needs: Vec<Id>,
    pub steps: Vec<Step>,
}

/// A variable outside a part that has variables of its own, and the one of the same name inside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub outer: Slot,
    pub inner: Slot,
}

#[derive(Debug)]
pub(crate) enum Step {
    /// No row passes.
    Nothing,
    /// The place is the name of the graph.
    InGraph(Place),
    Scan(Scan),
    Values(Values),
    Filter(Expr),
    Bind(Slot, Expr),
    /// Whether the branch has an answer or has none.
    Exists {
        branch: Branch,
        wanted: bool,
    },
    Optional(Branch),
    Union(Vec<Branch>),
    /// Rows go that agree with an answer of the branch and share a variable with it.
    Minus {
        branch: Branch,
        pairs: Vec<Pair>,
    },
}

/// A compiled query.
#[derive(Debug)]
pub(crate) struct Plan {
    pub branch: Branch,
    /// How many variables there are.
    pub slots: usize,
    /// Variables that are asked for.
    pub columns: Vec<(String, Slot)>,
    /// What `EXISTS` inside other expressions asks, by number.
    pub exists: Vec<Branch>,
    /// Whether a predicate may be any.
    pub any_predicate: bool,
}
