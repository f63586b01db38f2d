//! Where each statement of a record comes from, as one text.
//!
//! A line for each rule that fired, ended by a tab; the parts of a line are separated by tabs,
//! too. The first says field, occurrence and rule; each other names a statement:
//!
//! ```text
//! 245 1 marc21/20x-24x-titles#title
//!     title-07c1… mainTitle|a           a value on a node of this rule: node, property, subfields
//!     instance label Walden|a           a value on a thing that rules share: with the value
//!     title-07c1…                       a node of this rule, for its type and the links to it
//! ```
//!
//! One literal a record costs a tenth of what its statements do; statements about statements
//! would cost three times as much as those (ARCHITECTURE.md has the numbers). SPARQL finds a
//! line with `STRBEFORE` and `STRAFTER`: `queries/report/origin.rq`.

use crate::concordance::program::Rule;
use crate::concordance::run::{Outcome, Touch, View, WHOLE, Whose};
use oxrdf::{NamedOrBlankNode, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::fmt::Write;

/// Values longer than this are cut, here and in the query.
pub const LONGEST_VALUE: usize = 80;

/// Characters of a tag that a line begins with. A key of thousands may have fired a rule thousands
/// of times.
const LONGEST_TAG: usize = 256;

/// Writes the trace of a record.
pub fn write(rules: &[Rule], view: &View<'_>, outcome: &Outcome, record: &str) -> String {
    let mut out = String::with_capacity(outcome.fires.len() * 48 + outcome.statements.len() * 48);
    let occurrences = occurrences(view);
    let mut named = Named::default();
    for fire in &outcome.fires {
        let Some(rule) = rules.get(fire.rule) else { continue };
        let tag = fire.field.and_then(|index| view.fields.get(index)).map_or("record", |field| field.tag);
        let occurrence = fire.field.and_then(|index| occurrences.get(index)).copied().unwrap_or(1);
        push_tag(tag, &mut out);
        out.push(' ');
        push_number(occurrence, &mut out);
        out.push(' ');
        out.push_str(&rule.id);
        out.push('\t');
        named.clear();
        for made in outcome.made(fire) {
            let Some(triple) = outcome.triples.get(made.triple as usize) else { continue };
            let NamedOrBlankNode::NamedNode(subject) = &triple.subject else { continue };
            let subject = Name::of(subject.as_str(), made.subject, rule, record);
            let reads = outcome.reads(made);
            let mark = out.len();
            if subject.own && reads.is_empty() {
                out.push_str(subject.local);
            } else if subject.own {
                push_property(subject.local, triple.predicate.as_str(), &mut out);
                push_reads(view, reads, &mut out);
            } else {
                let object = match &triple.object {
                    Term::NamedNode(node) => Name::of(node.as_str(), made.object, rule, record),
                    _ => Name::default(),
                };
                // A link to a node of this rule is found by the node.
                if object.own {
                    out.push_str(object.local);
                } else {
                    push_property(subject.local, triple.predicate.as_str(), &mut out);
                    out.push(' ');
                    match &triple.object {
                        Term::NamedNode(node) => push_value(node.as_str(), &mut out),
                        Term::Literal(literal) => push_value(literal.value(), &mut out),
                        Term::BlankNode(_) => {}
                    }
                    push_reads(view, reads, &mut out);
                }
            }
            // The same node need not be named twice in one line.
            if named.is_new(&out, mark) {
                out.push('\t');
            } else {
                out.truncate(mark);
            }
        }
        out.push('\n');
    }
    out
}

/// What a line calls a thing.
#[derive(Default)]
struct Name<'a> {
    /// Its name in the record.
    local: &'a str,
    /// It is a node of the line's rule.
    own: bool,
}

impl<'a> Name<'a> {
    fn of(iri: &'a str, whose: Whose, rule: &Rule, record: &str) -> Self {
        // Most are known to begin with the record's IRI, which need not be compared again.
        let within = || iri.get(record.len() + 1..).unwrap_or("record");
        match whose {
            Whose::Rule => Self { local: within(), own: true },
            Whose::Record => Self { local: within(), own: false },
            Whose::Other => {
                let local = local(iri, record);
                Self { local, own: is_own(local, rule) }
            }
        }
    }
}

/// The parts of a line.
#[derive(Default)]
struct Named {
    /// A sketch of each of the first ones and where it stands: most lines have few, which are
    /// compared one by one.
    few: SmallVec<[(u64, usize); 16]>,
    many: FxHashSet<u64>,
}

impl Named {
    fn clear(&mut self) {
        self.few.clear();
        self.many.clear();
    }

    /// Whether what stands from `mark` on was not there before.
    fn is_new(&mut self, out: &str, mark: usize) -> bool {
        let part = out.as_bytes().get(mark..).unwrap_or_default();
        let sketch = sketch(part);
        let is_it = |from: usize| out.as_bytes().get(from..from + part.len()) == Some(part);
        if self.few.iter().any(|(other, from)| *other == sketch && is_it(*from)) {
            return false;
        }
        if self.few.len() < 16 {
            self.few.push((sketch, mark));
            return true;
        }
        self.many.insert(xxhash_rust::xxh3::xxh3_64(part))
    }
}

/// Length and end: parts of one line differ there.
fn sketch(part: &[u8]) -> u64 {
    let end = part.last_chunk::<8>().map_or(0, |end| u64::from_le_bytes(*end));
    end ^ (part.len() as u64) << 56
}

/// Which of its kind each field is, from 1.
fn occurrences(view: &View<'_>) -> Vec<u32> {
    let mut counts: FxHashMap<&str, u32> =
        FxHashMap::with_capacity_and_hasher(view.fields.len().min(64), Default::default());
    view.fields
        .iter()
        .map(|field| {
            let count = counts.entry(field.tag).or_default();
            *count += 1;
            *count
        })
        .collect()
}

/// The tag of a field and which of its kind it is, from 1.
pub fn place<'a>(view: &View<'a>, field: Option<usize>) -> (&'a str, usize) {
    let Some(index) = field else { return ("record", 1) };
    let tag = view.fields.get(index).map_or("record", |field| field.tag);
    let before = view.fields.iter().take(index + 1).filter(|other| other.tag == tag).count();
    (tag, before)
}

/// The name of a thing in its record.
fn local<'a>(iri: &'a str, record: &str) -> &'a str {
    match iri.strip_prefix(record) {
        Some("") => "record",
        Some(rest) => rest.trim_start_matches('#'),
        None => iri,
    }
}

/// Whether a node was named after this rule.
fn is_own(name: &str, rule: &Rule) -> bool {
    name.strip_prefix(rule.name.as_str()).is_some_and(|rest| rest.len() == 17 && rest.starts_with('-'))
}

fn push_property(subject: &str, predicate: &str, out: &mut String) {
    out.push_str(subject);
    out.push(' ');
    out.push_str(property(predicate));
}

fn property(iri: &str) -> &str {
    memchr::memrchr2(b'/', b'#', iri.as_bytes()).and_then(|at| iri.get(at + 1..)).unwrap_or(iri)
}

/// A blank in the name of a column would look like the end of it.
fn push_tag(tag: &str, out: &mut String) {
    if tag.len() <= LONGEST_TAG && tag.bytes().all(|b| b.is_ascii_graphic()) {
        out.push_str(tag);
    } else {
        out.extend(tag.chars().take(LONGEST_TAG).map(|c| if c.is_whitespace() { '_' } else { c }));
    }
}

fn push_number(number: u32, out: &mut String) {
    match char::from_digit(number, 10).filter(|_| number < 10) {
        Some(digit) => out.push(digit),
        None => {
            let _ = write!(out, "{number}");
        }
    }
}

fn push_value(value: &str, out: &mut String) {
    // Most values are short and plain: 0xC2 begins the control characters beyond ASCII.
    let is_odd = |b: u8| b < b' ' || b == b'|' || b == 0x7F || b == 0xC2;
    // To the end, so that many bytes are looked at at once.
    let is_plain = !value.bytes().fold(false, |odd, b| odd | is_odd(b));
    if value.len() <= LONGEST_VALUE && is_plain {
        out.push_str(value);
    } else {
        let shown = |c: char| if c.is_control() || c == '|' { ' ' } else { c };
        out.extend(value.chars().take(LONGEST_VALUE).map(shown));
    }
}

/// `|ab`, `|/35-37`, or `|245 c` for a value of another field.
fn push_reads(view: &View<'_>, reads: &[Touch], out: &mut String) {
    out.push('|');
    let mut last: Option<u32> = None;
    for touch in reads {
        if last == Some(touch.item) {
            continue;
        }
        last = Some(touch.item);
        match view.subs.get(touch.item as usize) {
            Some(sub) => out.push_str(sub.code),
            None if touch.positions != WHOLE && touch.positions != 0 => {
                let (from, to) = (touch.positions.trailing_zeros(), 63 - touch.positions.leading_zeros());
                out.push('/');
                push_two_digits(from, out);
                if from != to {
                    out.push('-');
                    push_two_digits(to, out);
                }
            }
            None => {}
        }
    }
}

/// A position: there are 64.
fn push_two_digits(number: u32, out: &mut String) {
    for digit in [number / 10, number % 10] {
        out.push(char::from_digit(digit, 10).unwrap_or('0'));
    }
}
