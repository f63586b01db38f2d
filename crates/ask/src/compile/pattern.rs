//! From the algebra to groups.

use super::group::{Group, Part, Tail};
use super::{Compiler, Unsupported};
use crate::plan::{Pair, Place, Scan, Slot, Values};
use crate::term::Id;
use oxrdf::Variable;
use rustc_hash::FxHashMap;
use spargebra::algebra::{Expression, GraphPattern, PropertyPathExpression};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern};
use std::mem;

/// Columns of `VALUES` that are supported: as many as there are bits to mark them.
const MOST_COLUMNS: usize = 64;

/// A filter, `BIND`, `OPTIONAL` or `MINUS` names a variable that may get its value outside the group.
const NESTED: Unsupported = "a group that depends on how it is nested";

/// The name of the graph that patterns are asked of, if they stand in `GRAPH`.
type InGraph<'a> = Option<&'a NamedNodePattern>;

impl Compiler<'_> {
    pub(super) fn pattern(
        &mut self,
        pattern: &GraphPattern,
        graph: InGraph<'_>,
    ) -> Result<Group, Unsupported> {
        Ok(match pattern {
            GraphPattern::Bgp { patterns } => {
                let mut group = self.in_graph(graph, patterns.is_empty());
                for triple in patterns {
                    let subject = self.term(&triple.subject)?;
                    let predicate = self.name(&triple.predicate);
                    let object = self.term(&triple.object)?;
                    group.parts.push(Part::Scan(Scan { subject, predicate, object }));
                }
                group
            }
            GraphPattern::Path { subject, path, object } => {
                let mut group = self.in_graph(graph, false);
                let subject = self.term(subject)?;
                let object = self.term(object)?;
                self.path(subject, path, object, &mut group)?;
                group
            }
            GraphPattern::Join { left, right } => self.join(left, right, graph)?,
            GraphPattern::LeftJoin { left, right, expression } => {
                let mut group = self.pattern(left, graph)?;
                let mut optional = self.pattern(right, graph)?;
                if !optional.is_safe_under(&group.possible(), &self.exists) {
                    return Err(NESTED);
                }
                if let Some(expression) = expression {
                    self.filter(expression, graph, &mut optional)?;
                }
                group.tail.push(Tail::Optional(optional));
                group
            }
            GraphPattern::Filter { expr, inner } => {
                let mut group = self.pattern(inner, graph)?;
                self.filter(expr, graph, &mut group)?;
                group
            }
            GraphPattern::Union { left, right } => {
                let mut branches = Vec::new();
                for side in [left, right] {
                    let mut group = self.pattern(side, graph)?;
                    match group.parts.as_mut_slice() {
                        [Part::Union(inner)] if group.tail.is_empty() => branches.append(inner),
                        _ => branches.push(group),
                    }
                }
                Group::of(Part::Union(branches))
            }
            GraphPattern::Graph { name, inner } => self.pattern(inner, Some(name))?,
            GraphPattern::Extend { inner, variable, expression } => {
                let mut group = self.pattern(inner, graph)?;
                let slot = self.variable(variable);
                if group.possible().contains(&slot) {
                    return Err("BIND of a variable that has a value");
                }
                if self.inside_exists.is_some_and(|around| slot.0 < around) {
                    return Err("BIND in EXISTS of a variable around it");
                }
                let expression =
                    self.expression(expression, graph)?.decided(&group.certain(), &group.possible());
                group.tail.push(Tail::Bind(slot, expression));
                group
            }
            GraphPattern::Minus { left, right } => {
                let mut group = self.pattern(left, graph)?;
                if self.inside_exists.is_some() {
                    return Err("MINUS in EXISTS");
                }
                let (minus, pairs) = self.own(right, graph)?;
                group.tail.push(Tail::Minus(minus, pairs));
                group
            }
            GraphPattern::Values { variables, bindings } => Group::of(self.values(variables, bindings)?),
            GraphPattern::Project { inner, variables } => {
                // What is not projected is not visible outside, whatever its name.
                let visible: FxHashMap<String, Slot> =
                    variables.iter().map(|variable| (key(variable), self.variable(variable))).collect();
                let around = mem::replace(&mut self.scope, visible);
                let group = self.pattern(inner, graph);
                self.scope = around;
                group?
            }
            // The same rows, of which the caller makes a set.
            GraphPattern::Distinct { inner } | GraphPattern::Reduced { inner } => {
                self.pattern(inner, graph)?
            }
            GraphPattern::OrderBy { .. } => return Err("ORDER BY"),
            GraphPattern::Slice { .. } => return Err("LIMIT or OFFSET"),
            GraphPattern::Group { .. } => return Err("GROUP BY or an aggregate"),
            GraphPattern::Service { .. } => return Err("SERVICE"),
            _ => return Err("LATERAL"),
        })
    }

    /// The start of a pattern: in a graph its name is known, and outside of all graphs there is nothing.
    fn in_graph(&mut self, graph: InGraph<'_>, is_empty: bool) -> Group {
        match graph {
            Some(name) => Group::of(Part::InGraph(self.name(name))),
            None if is_empty => Group::default(),
            None => Group::of(Part::Nothing),
        }
    }

    fn join(
        &mut self,
        left: &GraphPattern,
        right: &GraphPattern,
        graph: InGraph<'_>,
    ) -> Result<Group, Unsupported> {
        let mut group = self.pattern(left, graph)?;
        let mut other = self.pattern(right, graph)?;
        if !group.is_safe_under(&other.possible(), &self.exists)
            || !other.is_safe_under(&group.possible(), &self.exists)
        {
            return Err(NESTED);
        }
        group.parts.append(&mut other.parts);
        group.tail.append(&mut other.tail);
        Ok(group)
    }

    /// A pattern with variables of its own, paired with those of the same name outside.
    fn own(&mut self, pattern: &GraphPattern, graph: InGraph<'_>) -> Result<(Group, Vec<Pair>), Unsupported> {
        let around = mem::take(&mut self.scope);
        let group = self.pattern(pattern, graph);
        let inside = mem::replace(&mut self.scope, around);
        let group = group?;
        let possible = group.possible();
        let mut pairs: Vec<Pair> = inside
            .into_iter()
            .filter(|(key, inner)| key.starts_with('?') && possible.contains(inner))
            .map(|(key, inner)| Pair { outer: self.slot(key), inner })
            .collect();
        pairs.sort_unstable_by_key(|pair| pair.outer);
        Ok((group, pairs))
    }

    /// Adds a condition, each operand of `&&` by itself.
    fn filter(
        &mut self,
        condition: &Expression,
        graph: InGraph<'_>,
        group: &mut Group,
    ) -> Result<(), Unsupported> {
        if let Expression::And(left, right) = condition {
            self.filter(left, graph, group)?;
            return self.filter(right, graph, group);
        }
        let condition = self.expression(condition, graph)?;
        group.tail.push(Tail::Filter(condition));
        Ok(())
    }

    fn path(
        &mut self,
        subject: Place,
        path: &PropertyPathExpression,
        object: Place,
        group: &mut Group,
    ) -> Result<(), Unsupported> {
        match path {
            PropertyPathExpression::NamedNode(predicate) => {
                let predicate = Place::Term(self.constants.id(predicate.clone()));
                group.parts.push(Part::Scan(Scan { subject, predicate, object }));
            }
            PropertyPathExpression::Reverse(path) => self.path(object, path, subject, group)?,
            PropertyPathExpression::Sequence(first, second) => {
                let between = Place::Slot(self.fresh());
                self.path(subject, first, between, group)?;
                self.path(between, second, object, group)?;
            }
            PropertyPathExpression::Alternative(first, second) => {
                let mut branches = Vec::new();
                for path in [first, second] {
                    let mut branch = Group::default();
                    self.path(subject, path, object, &mut branch)?;
                    branches.push(branch);
                }
                group.parts.push(Part::Union(branches));
            }
            PropertyPathExpression::ZeroOrMore(_)
            | PropertyPathExpression::OneOrMore(_)
            | PropertyPathExpression::ZeroOrOne(_) => return Err("a path with `*`, `+` or `?`"),
            PropertyPathExpression::NegatedPropertySet(_) => return Err("a path with `!`"),
        }
        Ok(())
    }

    fn values(
        &mut self,
        variables: &[Variable],
        bindings: &[Vec<Option<GroundTerm>>],
    ) -> Result<Part, Unsupported> {
        if variables.len() > MOST_COLUMNS {
            return Err("VALUES of more than 64 variables");
        }
        let slots: Vec<Slot> = variables.iter().map(|variable| self.variable(variable)).collect();
        let rows: Vec<Vec<Id>> = bindings
            .iter()
            .map(|row| {
                row.iter()
                    .map(|term| match term {
                        Some(GroundTerm::NamedNode(node)) => self.constants.id(node.clone()),
                        Some(GroundTerm::Literal(literal)) => self.constants.id(literal.clone()),
                        None => Id::UNBOUND,
                    })
                    .collect()
            })
            .collect();
        for row in &rows {
            for (slot, id) in slots.iter().zip(row) {
                self.columns.entry(*slot).or_default().push(*id);
            }
        }
        Ok(Part::Values(Values { slots, rows }))
    }

    fn term(&mut self, pattern: &TermPattern) -> Result<Place, Unsupported> {
        Ok(match pattern {
            TermPattern::NamedNode(node) => Place::Term(self.constants.id(node.clone())),
            TermPattern::Literal(literal) => Place::Term(self.constants.id(literal.clone())),
            TermPattern::Variable(variable) => Place::Slot(self.variable(variable)),
            TermPattern::BlankNode(node) => Place::Slot(self.slot(format!("_{}", node.as_str()))),
        })
    }

    fn name(&mut self, pattern: &NamedNodePattern) -> Place {
        match pattern {
            NamedNodePattern::NamedNode(node) => Place::Term(self.constants.id(node.clone())),
            NamedNodePattern::Variable(variable) => Place::Slot(self.variable(variable)),
        }
    }

    pub(super) fn variable(&mut self, variable: &Variable) -> Slot {
        self.slot(key(variable))
    }
}

fn key(variable: &Variable) -> String {
    format!("?{}", variable.as_str())
}
