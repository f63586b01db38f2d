//! What the rules carry: for each triple of a template with a variable as its object, the way
//! to it and the fields it is read from.
//!
//! Classes and predicates may depend on tag, indicators and the subfield at hand (`a $kind`,
//! with `$kind` from a code list by tag). There are few of those, so a rule is looked at once
//! for each combination that its template can tell apart: a [`Case`].

use super::case::{Case, Facts, Known, cases};
use super::field::{Field, Read, fields};
use super::{Cells, Path, is_discriminator};
use crate::concordance::codes::CodeList;
use crate::concordance::expression::visit;
use crate::concordance::program::{Each, Expr, Given, List, Place, Predicate, Rule, Step, TripleTemplate};
use crate::ontology::shorten;
use oxrdf::Term;
use std::collections::BTreeMap;

/// Adds what the rules of a model say, in its column.
pub(super) fn add(rules: &[Rule], lists: &[CodeList], column: usize, authority: bool, cells: &mut Cells) {
    let rules: Vec<&Rule> =
        rules.iter().filter(|rule| rule.source.is_none() && !rule.template.triples.is_empty()).collect();
    // A node that several rules share may be linked in one and described in another.
    let mut shared = Shared::new();
    for rule in &rules {
        let look = Look { rule, lists, shared: &Shared::new() };
        for (index, node) in rule.template.nodes.iter().enumerate() {
            let Some(name) = node.slot.and_then(|slot| look.node_name(slot)) else { continue };
            let ways = look.ways(&Place::Node(index), &Case::default(), 0);
            if let Some(way) = ways.into_iter().find(|way| !way.properties.is_empty()) {
                let kinds = look.kinds(way.first.unwrap_or(index), &Case::default());
                shared.entry(name.to_owned()).or_insert((way, kinds));
            }
        }
    }
    for rule in rules {
        Look { rule, lists, shared: &shared }.add(column, authority, cells);
    }
}

type Shared = BTreeMap<String, (Way, Vec<Option<String>>)>;

/// From a root to a node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    root: String,
    properties: Vec<String>,
    /// The node below the root, which has a kind.
    first: Option<usize>,
}

struct Look<'a> {
    rule: &'a Rule,
    lists: &'a [CodeList],
    shared: &'a Shared,
}

impl Look<'_> {
    fn add(&self, column: usize, authority: bool, cells: &mut Cells) {
        let mut found: BTreeMap<(Path, Vec<Read>), Vec<Case>> = BTreeMap::new();
        for case in cases(self.rule, &self.structural()) {
            for triple in &self.rule.template.triples {
                let Place::Slot(object) = triple.object else { continue };
                if self.is_subject(object) {
                    continue;
                }
                let reads = self.reads(object, &case);
                let written = self.predicates(&triple.predicate, &case);
                for way in self.ways(&triple.subject, &case, 0) {
                    let is_first = matches!(triple.subject, Place::Node(node) if Some(node) == way.first);
                    let root = match way.root.as_str() {
                        root if !authority => root.to_owned(),
                        // Whether it is an agent, a topic or a title, one heading names it.
                        "agent" | "concept" | "hub" | "entity" => super::ENTITY.to_owned(),
                        root => format!("authority {root}"),
                    };
                    for property in &written {
                        let of_kind = property == "rdf:type" && !way.properties.is_empty();
                        if of_kind || is_first && is_discriminator(property) {
                            continue;
                        }
                        let mut properties = way.properties.clone();
                        properties.push(property.clone());
                        for kind in self.kinds_of(&way, &case) {
                            let path = Path { root: root.clone(), kind, properties: properties.clone() };
                            found.entry((path, reads.clone())).or_default().push(case.clone());
                        }
                    }
                }
            }
        }
        for ((path, reads), cases) in found {
            let cell = cells.cell(path, column);
            cell.extend(fields(self.rule, &reads, &cases));
            if cell.is_empty() {
                cell.insert(Field::default());
            }
        }
    }

    /// The expressions that decide what a template looks like.
    fn structural(&self) -> Vec<Facts<'_>> {
        let triples = &self.rule.template.triples;
        let mut slots: Vec<usize> = Vec::new();
        for triple in triples {
            if let Predicate::Slot(slot) = triple.predicate {
                slots.push(slot);
            }
            if let Place::Slot(slot) = triple.subject {
                slots.push(slot);
            }
            if let (Predicate::Constant(property), Place::Slot(slot)) = (&triple.predicate, &triple.object)
                && shorten(property.as_str()).is_some_and(|name| is_discriminator(&name))
            {
                slots.push(*slot);
            }
        }
        slots.into_iter().map(|slot| Facts::of_slot(self.rule, slot)).collect()
    }

    fn is_subject(&self, slot: usize) -> bool {
        self.rule.template.triples.iter().any(|triple| matches!(triple.subject, Place::Slot(s) if s == slot))
    }

    fn node_name(&self, slot: usize) -> Option<&str> {
        match expr_of(self.rule, slot)? {
            Expr::Node { name, .. } => Some(name),
            _ => None,
        }
    }

    /// The longest way to a place from each root: a shortcut to a node says less than the way
    /// through others.
    fn ways(&self, place: &Place, case: &Case, depth: usize) -> Vec<Way> {
        let at_root = |root: String| Way { root, properties: vec![], first: None };
        if depth > 8 {
            return Vec::new();
        }
        let triples = &self.rule.template.triples;
        let through = |links: &mut dyn Iterator<Item = &TripleTemplate>, node: Option<usize>| {
            let mut ways: Vec<Way> = Vec::new();
            for link in links {
                for property in self.predicates(&link.predicate, case) {
                    if property == super::DESCRIBES {
                        continue;
                    }
                    ways.extend(self.ways(&link.subject, case, depth + 1).into_iter().map(|mut way| {
                        way.properties.push(property.clone());
                        way.first = way.first.or(node);
                        way
                    }));
                }
            }
            ways.sort_by(|a, b| (&a.root, b.properties.len(), a).cmp(&(&b.root, a.properties.len(), b)));
            ways.dedup_by(|later, earlier| later.root == earlier.root);
            ways
        };
        match place {
            Place::Given(given) => vec![at_root(given_name(*given))],
            Place::Constant(_) => Vec::new(),
            Place::Slot(slot) => {
                let things = Facts::of_slot(self.rule, *slot).possible(case, self.lists).into_iter();
                let things: Vec<Way> = things
                    .filter_map(|known| match known {
                        Known::Thing(name) => Some(at_root(name)),
                        _ => None,
                    })
                    .collect();
                if !things.is_empty() {
                    return things;
                }
                let mut links = triples.iter().filter(|t| matches!(t.object, Place::Slot(s) if s == *slot));
                let ways = through(&mut links, None);
                if !ways.is_empty() {
                    return ways;
                }
                self.rule.names.get(*slot).cloned().map(at_root).into_iter().collect()
            }
            Place::Node(index) => {
                let Some(node) = self.rule.template.nodes.get(*index) else { return Vec::new() };
                let ways =
                    through(&mut node.parents.iter().filter_map(|parent| triples.get(*parent)), Some(*index));
                let name = node.slot.and_then(|slot| self.node_name(slot));
                match name {
                    Some(name) if ways.is_empty() => match self.shared.get(name) {
                        Some((way, _)) => vec![Way { first: Some(*index), ..way.clone() }],
                        None => vec![at_root(name.to_owned())],
                    },
                    _ => ways,
                }
            }
        }
    }

    fn kinds_of(&self, way: &Way, case: &Case) -> Vec<Option<String>> {
        let Some(node) = way.first else { return vec![None] };
        let kinds = self.kinds(node, case);
        if kinds == [None] {
            let slot = self.rule.template.nodes.get(node).and_then(|node| node.slot);
            let known = slot.and_then(|slot| self.node_name(slot)).and_then(|name| self.shared.get(name));
            return known.map_or(kinds, |(_, kinds)| kinds.clone());
        }
        kinds
    }

    /// What a node is: the type of a note, the name of a relation, else its class.
    fn kinds(&self, node: usize, case: &Case) -> Vec<Option<String>> {
        let Some(node) = self.rule.template.nodes.get(node) else { return vec![None] };
        let said = |discriminator: &str| -> Vec<String> {
            let triples = node.triples.iter().filter_map(|triple| self.rule.template.triples.get(*triple));
            let mut said = triples.filter(|triple| {
                matches!(&triple.predicate, Predicate::Constant(p) if shorten(p.as_str()).as_deref() == Some(discriminator))
            });
            let Some(first) = said.next() else { return Vec::new() };
            match &first.object {
                Place::Constant(Term::NamedNode(node)) => vec![name_of(node.as_str())],
                Place::Constant(Term::Literal(literal)) => vec![format!("“{}”", literal.value())],
                Place::Slot(slot) => {
                    let facts = Facts::of_slot(self.rule, *slot);
                    facts.possible(case, self.lists).into_iter().map(|v| v.notation()).collect()
                }
                _ => Vec::new(),
            }
        };
        for discriminator in super::DISCRIMINATORS {
            let mut found = said(discriminator);
            found.sort();
            found.dedup();
            if !found.is_empty() && found.len() <= super::MOST_KINDS {
                return found.into_iter().map(Some).collect();
            }
        }
        vec![None]
    }

    fn predicates(&self, predicate: &Predicate, case: &Case) -> Vec<String> {
        match predicate {
            Predicate::Constant(node) => vec![name_of(node.as_str())],
            Predicate::Slot(slot) => {
                let facts = Facts::of_slot(self.rule, *slot);
                let mut found: Vec<String> =
                    facts.possible(case, self.lists).into_iter().map(|v| v.notation()).collect();
                found.sort();
                found.dedup();
                found
            }
        }
    }

    /// What a slot is read from.
    fn reads(&self, slot: usize, case: &Case) -> Vec<Read> {
        let mut reads = Vec::new();
        self.read_slot(slot, case, false, &mut reads, 0);
        if reads.is_empty() {
            self.read_slot(slot, case, true, &mut reads, 0);
        }
        reads.sort();
        reads.dedup();
        reads.dedup_by(|later, earlier| match (later, earlier) {
            (Read::Positions(from, to), Read::Positions(_, end)) if from == end => {
                *end = *to;
                true
            }
            _ => false,
        });
        reads
    }

    fn read_slot(&self, slot: usize, case: &Case, conditions: bool, reads: &mut Vec<Read>, depth: usize) {
        if depth > 16 {
            return;
        }
        if let Some(Each::List { slot: each, list }) = &self.rule.each
            && *each == slot
        {
            self.read_list(list, case, conditions, reads, depth);
        }
        for step in &self.rule.steps {
            match step {
                Step::Bind { slot: bound, expr, .. } if *bound == slot => {
                    self.read(expr, case, conditions, reads, depth);
                }
                Step::Values { slot: bound, list, .. } if *bound == slot => {
                    self.read_list(list, case, conditions, reads, depth);
                }
                _ => {}
            }
        }
    }

    fn read_list(&self, list: &List, case: &Case, conditions: bool, reads: &mut Vec<Read>, depth: usize) {
        match list {
            List::Every(codes, _) => reads.extend(Read::of_codes(codes)),
            List::Chunks { code, .. } | List::Split { code, .. } => reads.push(Read::of_code(code)),
            List::Path(paths) => reads.extend(paths.iter().map(Read::of_path)),
            List::Mapped { list, expr } => {
                self.read_list(list, case, conditions, reads, depth);
                self.read(expr, case, conditions, reads, depth);
            }
            List::PerSubfield { expr, .. } | List::Single(expr, _) => {
                self.read(expr, case, conditions, reads, depth);
            }
        }
    }

    /// What an expression's value is made of; what it merely asks counts only when `conditions`
    /// are wanted.
    fn read(&self, expr: &Expr, case: &Case, conditions: bool, reads: &mut Vec<Read>, depth: usize) {
        let mut go = |expr: &Expr| self.read(expr, case, conditions, reads, depth + 1);
        match expr {
            Expr::If(asked, yes, no) => {
                let answer = Facts::of(self.rule, asked).truth(case, self.lists);
                if conditions {
                    go(asked);
                }
                if answer != Some(false) {
                    go(yes);
                }
                if answer != Some(true) {
                    go(no);
                }
            }
            Expr::Coalesce(list) => list.iter().for_each(go),
            Expr::Replace(text, ..) => go(text),
            Expr::RecordIri(code) | Expr::Code { code, .. } => go(code),
            Expr::Negate(number) => go(number),
            Expr::Arithmetic(_, a, b) => [a, b].into_iter().for_each(|e| go(e)),
            Expr::Call(function, arguments) => {
                let counts = if conditions || !super::field::shapes(*function) { arguments.len() } else { 1 };
                arguments.iter().take(counts).for_each(go);
            }
            Expr::Slot(slot) => self.read_slot(*slot, case, conditions, reads, depth + 1),
            Expr::Subfield(code) => reads.push(Read::Subfield(code.clone())),
            Expr::Attribute(name) => reads.push(Read::Attribute(name.clone())),
            Expr::All(codes, _) | Expr::Pick(codes, _) => reads.extend(Read::of_codes(codes)),
            Expr::At(range) => reads.push(Read::Positions(range.start, range.end)),
            Expr::Value(path, _) => reads.extend(Read::elsewhere(&path.selector)),
            Expr::Has(path) if conditions => reads.extend(Read::elsewhere(&path.selector)),
            Expr::First(list) | Expr::Joined(list, _) => {
                self.read_list(list, case, conditions, reads, depth + 1);
            }
            Expr::Given(Given::Text) => reads.push(Read::Text),
            Expr::Given(Given::Value | Given::Code) => match (&case.code, &self.rule.each) {
                (Some(code), _) => reads.push(Read::Subfield(code.clone())),
                (None, Some(Each::Codes(codes))) => {
                    reads.extend(codes.chars().map(|code| Read::Subfield(code.to_string())));
                }
                _ => {}
            },
            Expr::Given(Given::Ind1) if conditions => reads.push(Read::Indicator(1)),
            Expr::Given(Given::Ind2) if conditions => reads.push(Read::Indicator(2)),
            Expr::Given(Given::Tag) if conditions => reads.push(Read::Tag),
            _ if conditions => {
                let mut inner = Vec::new();
                visit(expr, &mut |part| inner.push(part));
                for part in inner.into_iter().skip(1) {
                    if matches!(part, Expr::Slot(_) | Expr::Subfield(_) | Expr::Attribute(_) | Expr::Given(_))
                    {
                        self.read(part, case, conditions, reads, depth + 1);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The expression a slot is bound to.
pub(super) fn expr_of(rule: &Rule, slot: usize) -> Option<&Expr> {
    rule.steps.iter().find_map(|step| match step {
        Step::Bind { slot: bound, expr, .. } if *bound == slot => Some(expr),
        _ => None,
    })
}

pub(super) fn given_name(given: Given) -> String {
    let known = Given::ALL.iter().find(|(_, known)| *known == given);
    known.map_or_else(String::new, |(name, _)| (*name).to_owned())
}

/// A term as people write it.
pub(super) fn name_of(iri: &str) -> String {
    shorten(iri).unwrap_or_else(|| format!("<{iri}>"))
}
