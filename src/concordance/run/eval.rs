//! Expressions over one field.
//!
//! Every value remembers which subfields and positions it was made from: the reads of an
//! evaluation are pushed on a list, and whoever keeps the value keeps its part of the list.
//! What only decides (the condition of an IF, a `when`) leaves no reads behind, because it
//! carries nothing.

use super::apply::apply;
use super::compare::{arithmetic, compare};
use super::frame::occurrence;
use super::slice::{slice, trim};
use super::value::{Touch, Value, WHOLE, positions};
use super::view::{Sub, View, is_attribute};
use super::{Frame, Notices, RecordNames};
use crate::concordance::codes::{CodeList, OnMissing};
use crate::concordance::function as f;
use crate::concordance::program::{Codes, Compare, Expr, Function, Given};
use crate::diagnostic::Code;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cell::Cell;

/// What an evaluation looks at besides the field.
pub struct Evaluator<'a, 'n> {
    pub view: &'a View<'a>,
    pub names: &'a RecordNames<'a>,
    pub things: &'a Things,
    pub lists: &'a [CodeList],
    pub touches: Vec<Touch>,
    pub notices: &'n mut Notices,
    /// The member of the list an expression is mapped over.
    pub member: Option<Value<'a>>,
    /// What was read for codes whose list says nothing on purpose.
    pub silent: Vec<Touch>,
    /// What `:value` and `:has` found: the same for every field of the record, so that a record
    /// with many fields is not searched once for each of them.
    pub memory: FxHashMap<usize, Remembered<'a>>,
    /// The name of the field asked for last; most rules never ask.
    pub occurrence: Cell<Option<(usize, u64)>>,
    /// The last title and name, and their key: works and instances have the same.
    pub work_key: Option<(String, String, Option<String>)>,
}

/// The IRIs of what a record describes, of which there is one each.
pub struct Things {
    pub hub: String,
    pub work: String,
    pub instance: String,
}

impl Things {
    pub fn of(record: &str) -> Self {
        let named = |name: &str| [record, name].concat();
        Self { hub: named("#hub"), work: named("#work"), instance: named("#instance") }
    }
}

/// A value of another field, and what was read for it.
pub type Remembered<'a> = (Option<Value<'a>>, SmallVec<[Touch; 2]>);

/// A value with the reads it was made from.
#[derive(Debug, Clone)]
pub struct Bound<'a> {
    pub value: Value<'a>,
    pub touches: (u32, u32),
}

/// The values of one slot: none, one, or as many as a list has.
pub type Slot<'a> = SmallVec<[Option<Bound<'a>>; 1]>;

impl<'a> Evaluator<'a, '_> {
    /// Evaluates and keeps the reads with the value.
    pub fn bound(&mut self, expr: &'a Expr, frame: &Frame<'a>, slots: &[Slot<'a>]) -> Option<Bound<'a>> {
        let start = self.touches.len();
        match self.eval(expr, frame, slots).filter(|value| !is_empty(value) && !is_too_long(value)) {
            Some(value) => {
                Some(Bound { value, touches: (start as u32, (self.touches.len() - start) as u32) })
            }
            None => {
                self.touches.truncate(start);
                None
            }
        }
    }

    pub fn touch(&mut self, item: u32, positions: u64) {
        self.touches.push(Touch { item, positions });
    }

    pub fn sub(&mut self, sub: &Sub<'a>) -> Option<Value<'a>> {
        let value = trim(sub.value);
        if value.is_empty() {
            return None;
        }
        self.touch(sub.item, WHOLE);
        Some(Value::Text(value.into()))
    }

    pub fn eval(&mut self, expr: &'a Expr, frame: &Frame<'a>, slots: &[Slot<'a>]) -> Option<Value<'a>> {
        match expr {
            Expr::Text(text) => Some(Value::Text(text.as_str().into())),
            Expr::Iri(iri) => Some(Value::Iri(iri.as_str().into())),
            Expr::Tagged(text, tag) => Some(Value::Tagged(text.as_str().into(), tag.as_str().into())),
            Expr::Typed(text, datatype) => Some(Value::Typed(text.as_str().into(), datatype.as_str().into())),
            Expr::Integer(number) => Some(Value::Integer(*number)),
            Expr::Number(number) => Some(Value::Number(*number)),
            Expr::Boolean(value) => Some(Value::Boolean(*value)),
            Expr::Slot(slot) => {
                let values = slots.get(*slot)?;
                let element = if values.len() > 1 { frame.element } else { 0 };
                let bound = values.get(element)?.as_ref()?;
                let (start, count) = bound.touches;
                let range = start as usize..(start + count) as usize;
                self.touches.extend_from_within(range);
                Some(bound.value.clone())
            }
            Expr::Subfield(code) => {
                if let Some(sub) = frame.iterated
                    && sub.code == code
                {
                    return self.sub(&sub);
                }
                let sub = *self.view.subs(&frame.subs).iter().find(|sub| sub.code == code)?;
                self.sub(&sub)
            }
            Expr::Attribute(name) => {
                let sub = *self.view.subs(&frame.subs).iter().find(|sub| is_attribute(sub.code, name))?;
                self.sub(&sub)
            }
            Expr::Given(given) => self.given(*given, frame),
            Expr::Or(a, b) => {
                let left = self.is_true(a, frame, slots);
                if left == Some(true) {
                    return Some(Value::Boolean(true));
                }
                match self.is_true(b, frame, slots) {
                    Some(true) => Some(Value::Boolean(true)),
                    right => (left.is_some() && right.is_some()).then_some(Value::Boolean(false)),
                }
            }
            Expr::And(a, b) => {
                let left = self.is_true(a, frame, slots);
                if left == Some(false) {
                    return Some(Value::Boolean(false));
                }
                match self.is_true(b, frame, slots) {
                    Some(false) => Some(Value::Boolean(false)),
                    right => (left.is_some() && right.is_some()).then_some(Value::Boolean(true)),
                }
            }
            Expr::Not(a) => self.is_true(a, frame, slots).map(|truth| Value::Boolean(!truth)),
            Expr::Compare(how, a, b) => {
                let (a, b) = (self.eval(a, frame, slots), self.eval(b, frame, slots));
                compare(*how, &a?, &b?).map(Value::Boolean)
            }
            Expr::In(a, list) => {
                let wanted = self.eval(a, frame, slots)?;
                for expr in list {
                    let found = self.eval(expr, frame, slots);
                    if found.is_some_and(|found| compare(Compare::Equal, &wanted, &found) == Some(true)) {
                        return Some(Value::Boolean(true));
                    }
                }
                Some(Value::Boolean(false))
            }
            Expr::Arithmetic(how, a, b) => {
                let (a, b) = (self.eval(a, frame, slots)?, self.eval(b, frame, slots)?);
                arithmetic(*how, &a, &b)
            }
            Expr::Negate(a) => match self.eval(a, frame, slots)? {
                Value::Integer(number) => Some(Value::Integer(number.checked_neg()?)),
                Value::Number(number) => Some(Value::Number(-number)),
                _ => None,
            },
            Expr::Bound(a) => {
                let start = self.touches.len();
                let bound = self.eval(a, frame, slots).is_some();
                self.touches.truncate(start);
                Some(Value::Boolean(bound))
            }
            Expr::If(condition, then, otherwise) => {
                let start = self.touches.len();
                let truth = self.eval(condition, frame, slots).and_then(|value| value.truth());
                let asked: SmallVec<[Touch; 4]> =
                    self.touches.get(start..).unwrap_or_default().iter().copied().collect();
                self.touches.truncate(start);
                let value =
                    if truth? { self.eval(then, frame, slots) } else { self.eval(otherwise, frame, slots) };
                // Where both ways are constants, what was asked is what is said.
                if value.is_some() && self.touches.len() == start {
                    self.touches.extend(asked);
                }
                value
            }
            Expr::Coalesce(list) => {
                for expr in list {
                    let start = self.touches.len();
                    if let Some(value) = self.eval(expr, frame, slots) {
                        return Some(value);
                    }
                    self.touches.truncate(start);
                }
                None
            }
            Expr::Regex(text, regex) => {
                let text = self.eval(text, frame, slots)?;
                Some(Value::Boolean(regex.is_match(&text.text())))
            }
            Expr::Replace(text, regex, by) => {
                let text = self.eval(text, frame, slots)?.into_text();
                Some(Value::Text(match regex.replace_all(&text, by.as_str()) {
                    Cow::Borrowed(_) => text,
                    Cow::Owned(replaced) => replaced.into(),
                }))
            }
            Expr::Call(function, arguments) => self.call(*function, arguments, frame, slots),
            Expr::All(codes, separator) => self.all(codes, separator, frame),
            Expr::Pick(codes, regex) => {
                let subs = self.view.subs(&frame.subs);
                let sub =
                    *subs.iter().find(|sub| codes.contains(sub.code) && regex.is_match(sub.value.trim()))?;
                self.sub(&sub)
            }
            Expr::Value(..) | Expr::Has(_) => self.remembered(expr),
            Expr::At(range) => {
                let value = slice(frame.full_text, range)?;
                self.touch(frame.text_item, positions(range));
                Some(Value::Text(value.into()))
            }
            Expr::Code { list, column, code } => {
                let start = self.touches.len();
                let code = self.eval(code, frame, slots)?;
                self.look_up(*list, *column, code, start, frame)
            }
            Expr::Node { name, of_record } => {
                let mut iri = String::with_capacity(self.names.record.len() + name.len() + 18);
                iri.push_str(self.names.record);
                iri.push('#');
                iri.push_str(name);
                if !of_record {
                    self.push_occurrence(frame, &mut iri);
                }
                Some(Value::Iri(iri.into()))
            }
            Expr::RecordIri(a) => {
                let text = self.eval(a, frame, slots)?.into_text();
                let id = match f::mark(&text) {
                    None => text.trim(),
                    // Another library's number names no record of this source.
                    Some(mark) if self.names.agency == Some(mark) => f::stripmark(&text),
                    Some(_) => return None,
                };
                (!id.is_empty()).then(|| Value::Iri((self.names.of_source)(id).into()))
            }
            // Its reads are those of the list, and stay with it.
            Expr::Member => self.member.clone(),
            Expr::Nothing => None,
            Expr::Joined(list, separator) => {
                let mut members = Slot::new();
                self.list(list, frame, slots, &mut members);
                let parts: Vec<Cow<'a, str>> =
                    members.into_iter().flatten().map(|member| member.value.into_text()).collect();
                (!parts.is_empty()).then(|| Value::Text(parts.join(separator).into()))
            }
            Expr::Material => Some(Value::Text(self.material(frame)?.into())),
            Expr::First(list) => {
                let start = self.touches.len();
                let mut members = Slot::new();
                self.list(list, frame, slots, &mut members);
                let first = members.into_iter().flatten().next()?;
                let (from, count) = first.touches;
                // Keep the reads of the first member alone.
                let kept: SmallVec<[Touch; 4]> = self
                    .touches
                    .get(from as usize..(from + count) as usize)
                    .unwrap_or_default()
                    .iter()
                    .copied()
                    .collect();
                self.touches.truncate(start);
                self.touches.extend(kept);
                Some(first.value)
            }
        }
    }

    fn given(&mut self, given: Given, frame: &Frame<'a>) -> Option<Value<'a>> {
        Some(match given {
            Given::Record | Given::Hub | Given::Work | Given::Instance | Given::Item => {
                Value::Iri(self.thing(given, frame))
            }
            Given::Tag => Value::Text(frame.tag.into()),
            Given::Ind1 => Value::Text(one_character(frame.ind1)),
            Given::Ind2 => Value::Text(one_character(frame.ind2)),
            Given::Outer => Value::Text(frame.outer?.into()),
            Given::Text => {
                let text = frame.text?;
                self.touch(frame.text_item, frame.text_positions);
                Value::Text(text.into())
            }
            Given::Code => Value::Text(frame.iterated?.code.into()),
            Given::Value => {
                let sub = frame.iterated?;
                return self.sub(&sub);
            }
            Given::Number => Value::Integer(frame.number),
        })
    }

    /// The IRI of the record or of what it describes.
    pub fn thing(&self, given: Given, frame: &Frame<'a>) -> Cow<'a, str> {
        match given {
            Given::Hub => self.things.hub.as_str().into(),
            Given::Work => self.things.work.as_str().into(),
            Given::Instance => self.things.instance.as_str().into(),
            Given::Item => {
                let mut iri = String::with_capacity(self.names.record.len() + 22);
                iri.push_str(self.names.record);
                iri.push_str("#item");
                self.push_occurrence(frame, &mut iri);
                iri.into()
            }
            _ => self.names.record.into(),
        }
    }

    /// What tells this occurrence of a field from others.
    fn push_occurrence(&self, frame: &Frame<'a>, iri: &mut String) {
        let Some(index) = frame.named_after else { return };
        let name = match self.occurrence.get() {
            Some((known, name)) if known == index => name,
            _ => {
                let name = self.view.fields.get(index).map_or(0, |field| occurrence(self.view, field));
                self.occurrence.set(Some((index, name)));
                name
            }
        };
        iri.push('-');
        super::push_hex(name, iri);
    }

    /// What another field says, looked up once a record.
    fn remembered(&mut self, expr: &'a Expr) -> Option<Value<'a>> {
        // The expression's place in the program is its name.
        let name = std::ptr::from_ref(expr) as usize;
        if let Some((value, touches)) = self.memory.get(&name) {
            self.touches.extend_from_slice(touches);
            return value.clone();
        }
        let start = self.touches.len();
        let value = match expr {
            Expr::Value(path, separator) => self.value_of(path, separator.as_deref()),
            Expr::Has(path) => Some(Value::Boolean(self.has(path))),
            _ => None,
        };
        let touches = self.touches.get(start..).unwrap_or_default().iter().copied().collect();
        self.memory.insert(name, (value.clone(), touches));
        value
    }

    fn all(&mut self, codes: &Codes, separator: &str, frame: &Frame<'a>) -> Option<Value<'a>> {
        let mut joined: Option<Cow<'a, str>> = None;
        for index in frame.subs.clone() {
            let Some(sub) = self.view.subs.get(index) else { continue };
            if !codes.contains(sub.code) {
                continue;
            }
            let value = trim(sub.value);
            if value.is_empty() {
                continue;
            }
            self.touch(sub.item, WHOLE);
            joined = Some(match joined {
                None => Cow::Borrowed(value),
                Some(before) => {
                    let mut text = before.into_owned();
                    text.reserve(separator.len() + value.len());
                    text.push_str(separator);
                    text.push_str(value);
                    Cow::Owned(text)
                }
            });
        }
        joined.map(Value::Text)
    }

    fn look_up(
        &mut self,
        list: usize,
        column: usize,
        code: Value<'a>,
        read_from: usize,
        frame: &Frame<'a>,
    ) -> Option<Value<'a>> {
        let list = self.lists.get(list)?;
        let text = code.text();
        // Codes of id.loc.gov come as IRIs, too.
        let key = if text.starts_with("http") { text.rsplit('/').next().unwrap_or(&text) } else { &text };
        if let Some(found) = list.get(key, column).or_else(|| list.get(&text, column)) {
            return Some(if list.is_iri(column) {
                Value::Iri(found.into())
            } else {
                Value::Text(found.into())
            });
        }
        // A line without a value: the code stands for nothing worth saying.
        if list.has(key) || list.has(&text) {
            self.silent.extend_from_slice(self.touches.get(read_from..).unwrap_or_default());
            return None;
        }
        match list.on_missing {
            OnMissing::Keep => Some(Value::Text(text.into_owned().into())),
            OnMissing::Drop => None,
            OnMissing::Report => {
                let message = format!("`{}` is not in the code list `{}`", text.trim(), list.name);
                self.notices.add(Code::UnknownCode, message, frame);
                None
            }
        }
    }

    /// The kind of material of 008/18-34, after LDR/06-07; a 006 says it itself.
    pub fn material(&self, frame: &Frame<'a>) -> Option<&'static str> {
        let leader = self.view.leader;
        let kind = if frame.tag == "006" { frame.full_text.chars().next() } else { leader.chars().nth(6) };
        let level = leader.chars().nth(7);
        Some(match kind? {
            's' if frame.tag == "006" => "continuing",
            'a' if frame.tag != "006" && matches!(level, Some('b' | 'i' | 's')) => "continuing",
            'a' | 't' => "books",
            'c' | 'd' | 'i' | 'j' => "music",
            'e' | 'f' => "maps",
            'g' | 'k' | 'o' | 'r' => "visual",
            'm' => "computer",
            'p' => "mixed",
            _ => return None,
        })
    }

    fn call(
        &mut self,
        function: Function,
        arguments: &'a [Expr],
        frame: &Frame<'a>,
        slots: &[Slot<'a>],
    ) -> Option<Value<'a>> {
        if function == Function::Join {
            return self.join(arguments, frame, slots);
        }
        // Keys and dates may lack a part; every other function fails without its arguments.
        if matches!(function, Function::WorkKey | Function::InstanceKey | Function::Edtf) {
            let parts: Vec<Cow<'a, str>> = arguments
                .iter()
                .map(|expr| self.eval(expr, frame, slots).map(Value::into_text).unwrap_or_default())
                .collect();
            let part = |index: usize| parts.get(index).map_or("", |part| part.as_ref());
            let made = match function {
                Function::WorkKey => self.work_key(part(0), part(1)),
                Function::InstanceKey => {
                    let key = self.work_key(part(0), part(1))?;
                    Some(f::with_publication(key, part(2), part(3)))
                }
                _ if parts.len() == 1 => f::edtf(part(0)),
                _ => f::edtf_coded(part(0).chars().next()?, part(1), part(2)),
            };
            return made.map(|text| Value::Text(text.into()));
        }
        let mut values: SmallVec<[Value<'a>; 3]> = SmallVec::new();
        for expr in arguments {
            values.push(self.eval(expr, frame, slots)?);
        }
        let mut values = values.into_iter();
        let first = values.next();
        match function {
            Function::Concat => {
                let mut text = first.map(Value::into_text).unwrap_or_default();
                for value in values {
                    text += value.into_text();
                }
                Some(Value::Text(text))
            }
            Function::CheckedIri => {
                let text = first?.into_text();
                match f::iri(&text) {
                    Some(iri) => Some(Value::Iri(iri.into())),
                    None => {
                        let message = format!("`{text}` cannot be an IRI; it is kept as a text");
                        self.notices.add(Code::BadIri, message, frame);
                        Some(Value::Text(text))
                    }
                }
            }
            _ => apply(function, first?, values.next(), values.next()),
        }
    }

    fn work_key(&mut self, title: &str, name: &str) -> Option<String> {
        if let Some((known, by, key)) = &self.work_key
            && known == title
            && by == name
        {
            return key.clone();
        }
        let key = f::work_key(title, name);
        self.work_key = Some((title.to_owned(), name.to_owned(), key.clone()));
        key
    }

    fn join(&mut self, arguments: &'a [Expr], frame: &Frame<'a>, slots: &[Slot<'a>]) -> Option<Value<'a>> {
        let (separator, rest) = arguments.split_first()?;
        let separator = self.eval(separator, frame, slots)?.into_text();
        let mut joined: Option<Cow<'a, str>> = None;
        for expr in rest {
            let start = self.touches.len();
            let Some(value) = self.eval(expr, frame, slots) else {
                self.touches.truncate(start);
                continue;
            };
            let text = value.into_text();
            if text.is_empty() {
                continue;
            }
            joined = Some(match joined {
                None => text,
                Some(before) => (before.into_owned() + &separator + &text).into(),
            });
        }
        joined.map(Value::Text)
    }
}

/// No value of a record comes near this, but thirty names that each double the one before
/// would.
const LONGEST_VALUE: usize = 4 * 1024 * 1024;

fn is_too_long(value: &Value<'_>) -> bool {
    matches!(value, Value::Text(text) | Value::Tagged(text, _) | Value::Iri(text) if text.len() > LONGEST_VALUE)
}

/// An empty text says nothing.
pub fn is_empty(value: &Value<'_>) -> bool {
    matches!(value, Value::Text(text) | Value::Tagged(text, _) if text.is_empty())
}

/// An indicator as a text.
pub fn one_character(c: char) -> Cow<'static, str> {
    const ASCII: &str =
        " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";
    let at = (c as usize).wrapping_sub(32);
    match ASCII.get(at..at.wrapping_add(1)) {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(c.to_string()),
    }
}
