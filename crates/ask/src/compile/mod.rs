//! Compiles queries: from the algebra to groups, from groups to steps in a good order.
//!
//! SPARQL evaluates a group by itself and joins it to what stands around it. Taking the row in hand
//! into the group gives the same answers much sooner, as long as nothing in the group can see more
//! of that row than it should. [`group`] knows when that is so. Where it is not, and for what is not
//! supported at all, the obstacle is said in words and the query left to spareval.

mod expression;
mod group;
mod order;
mod pattern;

use crate::plan::{Branch, Plan, Slot};
use crate::term::{Constants, Id};
use group::Group;
use rustc_hash::FxHashMap;
use spargebra::Query;

/// Why a query is not compiled: what of it is not supported.
type Unsupported = &'static str;

/// Compiles a query, or says what of it is not supported.
pub(crate) fn compile(query: &Query, constants: &mut Constants) -> Result<Plan, Unsupported> {
    let Query::Select { dataset: None, pattern, base_iri } = query else {
        return Err("a query that is no SELECT, or has FROM");
    };
    let mut compiler = Compiler {
        constants,
        scope: FxHashMap::default(),
        slots: 0,
        exists: Vec::new(),
        columns: FxHashMap::default(),
        has_base: base_iri.is_some(),
        inside_exists: None,
    };
    let group = compiler.pattern(pattern, None)?;
    let mut columns: Vec<(String, Slot)> = compiler
        .scope
        .iter()
        .filter_map(|(name, slot)| Some((name.strip_prefix('?')?.to_owned(), *slot)))
        .collect();
    columns.sort_unstable();
    let mut order = order::Order::new(compiler.exists);
    let branch = order.branch(group, &group::Slots::new());
    let (exists, any_predicate) = order.finish();
    Ok(Plan { branch, slots: compiler.slots as usize, columns, exists, any_predicate })
}

/// What is known while one query is compiled.
struct Compiler<'c> {
    constants: &'c mut Constants,
    /// Variables by `?` and name, blank nodes by `_` and label, as far as they are visible here.
    scope: FxHashMap<String, Slot>,
    slots: u32,
    /// The groups of `EXISTS`, by number.
    exists: Vec<Group>,
    /// The terms that `VALUES` gives to a variable.
    columns: FxHashMap<Slot, Vec<Id>>,
    has_base: bool,
    /// Inside `EXISTS`, how many variables there were around it.
    inside_exists: Option<u32>,
}

impl Compiler<'_> {
    /// The place of a variable or blank node, by its key in the scope.
    fn slot(&mut self, key: String) -> Slot {
        let next = Slot(self.slots);
        let slot = *self.scope.entry(key).or_insert(next);
        if slot == next {
            self.slots += 1;
        }
        slot
    }

    /// A variable that no query names.
    fn fresh(&mut self) -> Slot {
        self.slots += 1;
        Slot(self.slots - 1)
    }
}

/// No steps and nothing needed.
fn nothing_to_do() -> Branch {
    Branch { needs: Vec::new(), steps: Vec::new() }
}
