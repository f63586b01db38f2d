//! From bound slots to statements.
//!
//! A node is named after its content, so its statements are gathered before it has a name: inner
//! nodes first. A node that depends on variables and got none of them is dropped with the links
//! to it; one made of constants lives as long as its parent.

use super::eval::{Bound, Evaluator, Slot};
use super::value::Value;
use super::{Fire, Frame, MOST_MADE, MOST_STATEMENTS, Outcome, Statement, Whose, push_hex};
use crate::concordance::function::script;
use crate::concordance::program::{Content, Place, Predicate, Rule, Template};
use crate::ontology::xsd;
use oxrdf::{Literal, NamedNode, NamedOrBlankNode, Term, Triple};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::hash::Hasher;

/// What is remembered of the subfields one statement was read from.
const MOST_READS: usize = 64;

/// The names of a template's nodes; those that were dropped have none.
pub type Names = SmallVec<[Option<String>; 4]>;

pub struct Emitter {
    outcome: Outcome,
    /// The first statement with a hash; the rest are tried one after the other.
    seen: FxHashMap<u32, u32>,
    fire: Option<(usize, Option<usize>)>,
    /// Where the statements of the fire at hand begin.
    begun: usize,
    buffer: String,
    pub cut: bool,
}

impl Emitter {
    pub fn new(items: usize) -> Self {
        // Most records have about 130 statements.
        let outcome = Outcome {
            triples: Vec::with_capacity(192),
            statements: Vec::with_capacity(256),
            reads: Vec::with_capacity(128),
            fires: Vec::with_capacity(64),
            carried: vec![0; items],
            ignored: vec![0; items],
            ..Outcome::default()
        };
        Self {
            outcome,
            seen: FxHashMap::with_capacity_and_hasher(256, Default::default()),
            fire: None,
            begun: 0,
            buffer: String::with_capacity(256),
            cut: false,
        }
    }

    /// Whether no more may be made of the record.
    pub fn is_full(&self) -> bool {
        self.outcome.triples.len() >= MOST_STATEMENTS || self.outcome.statements.len() >= MOST_MADE
    }

    pub fn finish(mut self) -> Outcome {
        self.outcome.cut = self.cut;
        self.outcome
    }

    pub fn begin(&mut self, rule: usize, field: Option<usize>) {
        self.fire = Some((rule, field));
        self.begun = self.outcome.statements.len();
    }

    pub fn end(&mut self) {
        let end = self.outcome.statements.len();
        if let Some((rule, field)) = self.fire.take().filter(|_| end > self.begun) {
            self.outcome.fires.push(Fire { rule, field, made: (self.begun as u32, end as u32) });
        }
    }

    /// Notes what is left out on purpose, and which `ignore` of which rule says why.
    pub fn ignore(&mut self, item: u32, positions: u64, by: Option<(usize, usize)>) {
        if let Some(ignored) = self.outcome.ignored.get_mut(item as usize) {
            *ignored |= positions;
        }
        if let Some(by) = by {
            self.outcome.ignored_by.push((item, by));
        }
    }

    /// A `$1` that begins an embedded field says nothing of its own.
    pub fn carry_marker(&mut self, item: u32) {
        if let Some(carried) = self.outcome.carried.get_mut(item as usize) {
            *carried = super::WHOLE;
        }
    }

    /// Makes the statements of one solution; gives the names of the nodes it made.
    pub fn emit<'a>(
        &mut self,
        rule: &'a Rule,
        frame: &Frame<'a>,
        slots: &[Slot<'a>],
        evaluator: &Evaluator<'a, '_>,
        reuse: &[Option<String>],
    ) -> Names {
        let template = &rule.template;
        if template.nodes.is_empty() {
            self.emit_triples(rule, frame, slots, evaluator, &[], &[]);
            return Names::new();
        }
        let mut names: Names = smallvec![None; template.nodes.len()];
        for index in &template.inner_first {
            let name = self.name_node(rule, *index, frame, slots, evaluator, reuse, &names);
            if let Some(slot) = names.get_mut(*index) {
                *slot = name;
            }
        }
        // Outer nodes first: a node is wanted when something alive links to it, or nothing could.
        let mut wanted: SmallVec<[bool; 16]> = smallvec![false; template.nodes.len()];
        for index in template.inner_first.iter().rev() {
            let Some(node) = template.nodes.get(*index) else { continue };
            let linked = node.parents.is_empty()
                || node.parents.iter().filter_map(|triple| template.triples.get(*triple)).any(|triple| {
                    match &triple.subject {
                        Place::Node(parent) => {
                            parent == index
                                || names.get(*parent).is_some_and(Option::is_some)
                                    && wanted.get(*parent).copied().unwrap_or(false)
                        }
                        Place::Slot(slot) => slots.get(*slot).is_some_and(|values| !values.is_empty()),
                        _ => true,
                    }
                });
            if let Some(wanted) = wanted.get_mut(*index) {
                *wanted = linked;
            }
        }
        self.emit_triples(rule, frame, slots, evaluator, &names, &wanted);
        names
    }

    /// The triples of a solution, once it is known which nodes live and what they are called.
    fn emit_triples<'a>(
        &mut self,
        rule: &'a Rule,
        frame: &Frame<'a>,
        slots: &[Slot<'a>],
        evaluator: &Evaluator<'a, '_>,
        names: &[Option<String>],
        wanted: &[bool],
    ) {
        let alive =
            |index: usize| names.get(index).is_some_and(Option::is_some) && wanted.get(index) == Some(&true);
        // A node of its own slot has the name that the rule gives it, whatever that is.
        let whose = |index: usize| match rule.template.nodes.get(index) {
            Some(node) if node.slot.is_none() => Whose::Rule,
            _ => Whose::Other,
        };
        let name_of = |index: usize| names.get(index).and_then(Option::as_deref).filter(|_| alive(index));
        for triple in &rule.template.triples {
            // Most optional subfields are not there: then nothing is made for them.
            let values: &[Option<Bound<'a>>] = match &triple.object {
                Place::Slot(slot) => match slots.get(*slot) {
                    Some(values) if values.iter().any(Option::is_some) => values,
                    _ => continue,
                },
                _ => &[],
            };
            let thing;
            let subject: (&str, Whose) = match &triple.subject {
                Place::Given(given) => {
                    thing = evaluator.thing(*given, frame);
                    (&thing, Whose::Record)
                }
                Place::Node(node) => match name_of(*node) {
                    Some(name) => (name, whose(*node)),
                    None => continue,
                },
                Place::Slot(slot) => match slots.get(*slot).and_then(|values| values.first()) {
                    Some(Some(Bound { value: Value::Iri(iri), .. })) => (iri, Whose::Other),
                    _ => continue,
                },
                Place::Constant(Term::NamedNode(node)) => (node.as_str(), Whose::Other),
                Place::Constant(_) => continue,
            };
            // A predicate made along a list goes with the member of the same number.
            let predicate_at = |member: usize| match &triple.predicate {
                Predicate::Constant(predicate) => Some(predicate.as_str()),
                Predicate::Slot(slot) => {
                    let values = slots.get(*slot)?;
                    match &values.get(if values.len() > 1 { member } else { 0 })?.as_ref()?.value {
                        Value::Iri(iri) => Some(iri.as_ref()),
                        _ => None,
                    }
                }
            };
            for (member, bound) in values.iter().enumerate() {
                let (Some(bound), Some(predicate)) = (bound, predicate_at(member)) else { continue };
                let reads = self.carry(bound, evaluator);
                let object = match &bound.value {
                    Value::Text(text) if !frame.twin => Object::Text(text),
                    Value::Iri(iri) => Object::Iri(iri, Whose::Other),
                    value => Object::Term(tagged(value.clone(), frame).into_term()),
                };
                self.push(subject, predicate, object, reads);
            }
            let Some(predicate) = predicate_at(0) else { continue };
            match &triple.object {
                Place::Slot(_) => {}
                Place::Constant(Term::NamedNode(node)) => {
                    self.push(subject, predicate, Object::Iri(node.as_str(), Whose::Other), (0, 0));
                }
                Place::Constant(term) => self.push(subject, predicate, Object::Term(term.clone()), (0, 0)),
                Place::Given(given) => {
                    let thing = evaluator.thing(*given, frame);
                    self.push(subject, predicate, Object::Iri(&thing, Whose::Record), (0, 0));
                }
                Place::Node(node) => {
                    if let Some(name) = name_of(*node) {
                        self.push(subject, predicate, Object::Iri(name, whose(*node)), (0, 0));
                    }
                }
            }
        }
    }

    /// Notes what a value was read from.
    fn carry<'a>(&mut self, bound: &Bound<'a>, evaluator: &Evaluator<'a, '_>) -> (u32, u32) {
        let (start, count) = bound.touches;
        let read = start as usize..(start + count) as usize;
        let from = self.outcome.reads.len() as u32;
        for (number, touch) in evaluator.touches.get(read).unwrap_or_default().iter().enumerate() {
            if let Some(carried) = self.outcome.carried.get_mut(touch.item as usize) {
                *carried |= touch.positions;
            }
            if number < MOST_READS {
                self.outcome.reads.push(*touch);
            }
        }
        (from, count.min(MOST_READS as u32))
    }

    /// The name of a node, or `None` when nothing is left of it.
    #[expect(clippy::too_many_arguments, reason = "a node's name needs all a solution has")]
    fn name_node<'a>(
        &mut self,
        rule: &'a Rule,
        index: usize,
        frame: &Frame<'a>,
        slots: &[Slot<'a>],
        evaluator: &Evaluator<'a, '_>,
        reuse: &[Option<String>],
        names: &[Option<String>],
    ) -> Option<String> {
        let template = &rule.template;
        let node = template.nodes.get(index)?;
        self.buffer.clear();
        let varied = write_content(&node.content, template, slots, names, &mut self.buffer);
        if node.varies && !varied {
            return None;
        }
        if let Some(slot) = node.slot {
            return match &slots.get(slot)?.first()?.as_ref()?.value {
                Value::Iri(iri) => Some(iri.clone().into_owned()),
                _ => None,
            };
        }
        if frame.twin
            && let Some(Some(name)) = reuse.get(index)
        {
            return Some(name.clone());
        }
        let hash = xxhash_rust::xxh3::xxh3_64(self.buffer.as_bytes());
        let record = evaluator.names.record;
        let mut name = String::with_capacity(record.len() + rule.name.len() + 18);
        name.push_str(record);
        name.push('#');
        name.push_str(&rule.name);
        name.push('-');
        push_hex(hash, &mut name);
        Some(name)
    }

    /// Adds a statement unless it is there, and notes who made it.
    fn push(&mut self, subject: (&str, Whose), predicate: &str, object: Object<'_>, reads: (u32, u32)) {
        let (subject, whose_subject) = subject;
        let whose_object = match object {
            Object::Iri(_, whose) => whose,
            _ => Whose::Other,
        };
        let mut hash = sketch(subject, predicate, &object);
        let number = loop {
            match self.seen.entry(hash) {
                Entry::Vacant(entry) => {
                    let number = u32::try_from(self.outcome.triples.len()).unwrap_or(u32::MAX);
                    entry.insert(number);
                    self.outcome.triples.push(Triple {
                        subject: NamedOrBlankNode::NamedNode(NamedNode::new_unchecked(subject)),
                        predicate: NamedNode::new_unchecked(predicate),
                        object: object.into_term(),
                    });
                    break number;
                }
                Entry::Occupied(entry) => {
                    let number = *entry.get();
                    let known = self.outcome.triples.get(number as usize);
                    if known.is_some_and(|known| is_same(known, subject, predicate, &object)) {
                        break number;
                    }
                    hash = hash.wrapping_add(1);
                }
            }
        };
        let statement = Statement { triple: number, reads, subject: whose_subject, object: whose_object };
        self.outcome.statements.push(statement);
    }
}

/// Writes what a node's name is made from; says whether anything in it depends on the record.
fn write_content(
    content: &[Content],
    template: &Template,
    slots: &[Slot<'_>],
    names: &[Option<String>],
    out: &mut String,
) -> bool {
    let mut varied = false;
    for part in content {
        match part {
            Content::Constant(text) => out.push_str(text),
            Content::Slot(slot) => {
                for bound in slots.get(*slot).into_iter().flatten().flatten() {
                    varied = true;
                    bound.value.write_content(out);
                    out.push('\u{3}');
                }
            }
            Content::Node(other) => {
                if let Some(name) = names.get(*other).and_then(Option::as_ref) {
                    // The record's own IRI says nothing about the content.
                    out.push_str(name.rsplit('#').next().unwrap_or(name));
                    varied |= template.nodes.get(*other).is_some_and(|node| node.varies);
                }
            }
            Content::Varying { predicate, rest } => {
                if let Some(Some(bound)) = slots.get(*predicate).and_then(|values| values.first()) {
                    varied = true;
                    bound.value.write_content(out);
                    write_content(rest, template, slots, names, out);
                }
            }
        }
    }
    varied
}

/// The object of a statement, before it is known whether the statement is a new one.
enum Object<'v> {
    Iri(&'v str, Whose),
    Text(&'v str),
    Term(Term),
}

impl Object<'_> {
    fn into_term(self) -> Term {
        match self {
            Self::Iri(iri, _) => NamedNode::new_unchecked(iri).into(),
            Self::Text(text) => Literal::new_simple_literal(text).into(),
            Self::Term(term) => term,
        }
    }
}

fn is_same(known: &Triple, subject: &str, predicate: &str, object: &Object<'_>) -> bool {
    let same_object = match (object, &known.object) {
        (Object::Iri(iri, _), Term::NamedNode(node)) => node.as_str() == *iri,
        (Object::Text(text), Term::Literal(literal)) => {
            literal.value() == *text && literal.language().is_none() && literal.datatype() == xsd::STRING
        }
        (Object::Term(term), known) => term == known,
        _ => false,
    };
    let same_subject =
        matches!(&known.subject, NamedOrBlankNode::NamedNode(node) if node.as_str() == subject);
    same_object && same_subject && known.predicate.as_str() == predicate
}

/// A hash of the parts in which the statements of one record differ: names differ at their ends.
fn sketch(subject: &str, predicate: &str, object: &Object<'_>) -> u32 {
    let end = |text: &str| text.as_bytes().last_chunk::<8>().map_or(0, |end| u64::from_le_bytes(*end));
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write_u64(end(subject));
    hasher.write_u64(end(predicate) ^ (predicate.len() as u64) << 32 ^ subject.len() as u64);
    match object {
        Object::Iri(text, _) | Object::Text(text) => hasher.write(text.as_bytes()),
        // The same statement may come as a text and as a term.
        Object::Term(Term::NamedNode(node)) => hasher.write(node.as_str().as_bytes()),
        Object::Term(Term::Literal(literal)) => hasher.write(literal.value().as_bytes()),
        Object::Term(Term::BlankNode(_)) => {}
    }
    // The hasher turns its best bits to the end.
    hasher.finish() as u32
}

/// In a twin, texts in another script say their language and script.
fn tagged<'a>(value: Value<'a>, frame: &Frame<'a>) -> Value<'a> {
    if !frame.twin {
        return value;
    }
    let Value::Text(text) = value else { return value };
    let Some(found) = script(&text).filter(|script| *script != "Latn") else { return Value::Text(text) };
    let language = frame.language.unwrap_or("und");
    // Japanese and Korean mix scripts; their tags name the mixture.
    let found = match (language, found) {
        ("ja", "Hani" | "Hira" | "Kana") => "Jpan",
        ("ko", "Hani" | "Hang") => "Kore",
        (_, found) => found,
    };
    Value::Tagged(text, Cow::Owned(format!("{language}-{found}")))
}
