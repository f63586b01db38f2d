//! Expressions over one field.
//!
//! Every value remembers which subfields and positions it was made from: the reads of an
//! evaluation are pushed on a list, and whoever keeps the value keeps its part of the list.
//! What only decides (the condition of an IF, a `when`) leaves no reads behind, because it
//! carries nothing.

use super::value::{Touch, Value, WHOLE, positions};
use super::view::{FieldView, Sub, View, is_attribute};
use super::{Frame, Notices, RecordNames};
use crate::concordance::codes::{CodeList, OnMissing};
use crate::concordance::function as f;
use crate::concordance::program::{
    Arithmetic, Codes, Compare, ElementPath, Expr, FieldPath, Function, Given, List,
};
use crate::concordance::selector::Tag;
use crate::diagnostic::Code;
use crate::ontology::xsd;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::borrow::Cow;

/// What an evaluation looks at besides the field.
pub struct Evaluator<'a, 'n> {
    pub view: &'a View<'a>,
    pub names: &'a RecordNames<'a>,
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

    pub fn is_true(&mut self, expr: &'a Expr, frame: &Frame<'a>, slots: &[Slot<'a>]) -> Option<bool> {
        let start = self.touches.len();
        let truth = self.eval(expr, frame, slots).and_then(|value| value.truth());
        self.touches.truncate(start);
        truth
    }

    fn touch(&mut self, item: u32, positions: u64) {
        self.touches.push(Touch { item, positions });
    }

    fn sub(&mut self, sub: &Sub<'a>) -> Option<Value<'a>> {
        let value = sub.value.trim();
        if value.is_empty() {
            return None;
        }
        self.touch(sub.item, WHOLE);
        Some(Value::Text(value.into()))
    }

    fn eval(&mut self, expr: &'a Expr, frame: &Frame<'a>, slots: &[Slot<'a>]) -> Option<Value<'a>> {
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
            Expr::Value(..) | Expr::Has(_) => {
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
                if !of_record && let Some(occurrence) = frame.occurrence {
                    iri.push('-');
                    super::push_hex(occurrence, &mut iri);
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
                let members = self.list(list, frame, slots);
                let parts: Vec<Cow<'a, str>> =
                    members.into_iter().map(|member| member.value.into_text()).collect();
                (!parts.is_empty()).then(|| Value::Text(parts.join(separator).into()))
            }
            Expr::Material => Some(Value::Text(self.material(frame)?.into())),
            Expr::First(list) => {
                let start = self.touches.len();
                let first = self.list(list, frame, slots).into_iter().next()?;
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
        let character = |c: char| Value::Text(c.to_string().into());
        Some(match given {
            Given::Record => Value::Iri(self.names.record.into()),
            Given::Hub | Given::Work | Given::Instance | Given::Item => {
                Value::Iri(self.thing(given, frame).into())
            }
            Given::Tag => Value::Text(frame.tag.into()),
            Given::Ind1 => character(frame.ind1),
            Given::Ind2 => character(frame.ind2),
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

    /// The IRI of what the record describes.
    pub fn thing(&self, given: Given, frame: &Frame<'a>) -> String {
        let mut iri = String::with_capacity(self.names.record.len() + 24);
        iri.push_str(self.names.record);
        iri.push_str(match given {
            Given::Hub => "#hub",
            Given::Work => "#work",
            Given::Instance => "#instance",
            Given::Item => "#item",
            _ => "",
        });
        if given == Given::Item
            && let Some(occurrence) = frame.occurrence
        {
            iri.push('-');
            super::push_hex(occurrence, &mut iri);
        }
        iri
    }

    fn all(&mut self, codes: &Codes, separator: &str, frame: &Frame<'a>) -> Option<Value<'a>> {
        let mut joined: Option<Cow<'a, str>> = None;
        for index in frame.subs.clone() {
            let Some(sub) = self.view.subs.get(index) else { continue };
            if !codes.contains(sub.code) {
                continue;
            }
            let value = sub.value.trim();
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

    /// The members of a list, each with its reads.
    pub fn list(
        &mut self,
        list: &'a List,
        frame: &Frame<'a>,
        slots: &[Slot<'a>],
    ) -> SmallVec<[Bound<'a>; 4]> {
        let mut found = SmallVec::new();
        match list {
            List::Every(codes, pattern) => {
                for index in frame.subs.clone() {
                    let Some(sub) = self.view.subs.get(index).copied() else { continue };
                    let matches = pattern.as_ref().is_none_or(|regex| regex.is_match(sub.value.trim()));
                    if codes.contains(sub.code) && matches {
                        self.member(&mut found, |this| this.sub(&sub));
                    }
                }
            }
            List::Chunks { code, size } => {
                self.texts_of(code, frame, |this, text, item, shift| {
                    let mut start = 0;
                    let mut position = shift;
                    while start < text.len() {
                        let rest = text.get(start..).unwrap_or_default();
                        let length = rest.char_indices().nth(*size).map_or(rest.len(), |(at, _)| at);
                        let piece = rest.get(..length).unwrap_or_default();
                        start += length.max(1);
                        let range = position..position + size;
                        position += size;
                        if says_something(piece) {
                            let bits = if code == "text" { positions(&range) } else { WHOLE };
                            this.member(&mut found, |this| {
                                this.touch(item, bits);
                                Some(Value::Text(piece.into()))
                            });
                        }
                    }
                });
            }
            List::Split { code, separator } => {
                self.texts_of(code, frame, |this, text, item, _| {
                    for piece in
                        text.split(separator.as_str()).map(str::trim).filter(|piece| !piece.is_empty())
                    {
                        this.member(&mut found, |this| {
                            this.touch(item, WHOLE);
                            Some(Value::Text(piece.into()))
                        });
                    }
                });
            }
            List::Path(paths) => self.descendants(paths, frame, &mut found),
            List::Mapped { list, expr } => {
                for member in self.list(list, frame, slots) {
                    let (start, count) = member.touches;
                    let before = self.member.replace(member.value);
                    self.member(&mut found, |this| {
                        this.touches.extend_from_within(start as usize..(start + count) as usize);
                        this.eval(expr, frame, slots)
                    });
                    self.member = before;
                }
            }
            List::PerSubfield { code, expr } => {
                for index in frame.subs.clone() {
                    let Some(sub) = self.view.subs.get(index).copied() else { continue };
                    if sub.code == code {
                        let frame = Frame { iterated: Some(sub), ..frame.clone() };
                        self.member(&mut found, |this| this.eval(expr, &frame, slots));
                    }
                }
            }
            List::Single(expr) => {
                // A list made from another list's members has as many as that one.
                let members = crate::concordance::expression::slots(expr)
                    .into_iter()
                    .filter_map(|slot| slots.get(slot).map(|values| values.len()))
                    .max()
                    .unwrap_or(1)
                    .max(1);
                for element in 0..members {
                    let frame = Frame { element, ..frame.clone() };
                    self.member(&mut found, |this| this.eval(expr, &frame, slots));
                }
            }
        }
        found
    }

    fn member(
        &mut self,
        found: &mut SmallVec<[Bound<'a>; 4]>,
        value: impl FnOnce(&mut Self) -> Option<Value<'a>>,
    ) {
        let start = self.touches.len();
        match value(self).filter(|value| !is_empty(value)) {
            Some(value) => {
                let touches = (start as u32, (self.touches.len() - start) as u32);
                found.push(Bound { value, touches });
            }
            None => self.touches.truncate(start),
        }
    }

    /// Each text with this code; `text` is the field's own.
    fn texts_of(
        &mut self,
        code: &str,
        frame: &Frame<'a>,
        mut each: impl FnMut(&mut Self, &'a str, u32, usize),
    ) {
        if code == "text" {
            if let Some(text) = frame.text {
                each(self, text, frame.text_item, frame.text_start);
            }
            return;
        }
        if code == "value" {
            if let Some(sub) = frame.iterated {
                each(self, sub.value, sub.item, 0);
            }
            return;
        }
        for index in frame.subs.clone() {
            let Some(sub) = self.view.subs.get(index).copied() else { continue };
            if sub.code == code || !self.view.model.is_marc() && is_attribute(sub.code, code) {
                each(self, sub.value, sub.item, 0);
            }
        }
    }

    fn descendants(
        &mut self,
        paths: &[ElementPath],
        frame: &Frame<'a>,
        found: &mut SmallVec<[Bound<'a>; 4]>,
    ) {
        let mut ends: SmallVec<[(usize, usize); 8]> = SmallVec::new();
        for (number, path) in paths.iter().enumerate() {
            ends.extend(self.ends(path, frame).into_iter().map(|index| (index, number)));
        }
        // Alternatives come in the order of the document.
        ends.sort_unstable();
        for (index, number) in ends {
            let (Some(field), Some(path)) = (self.view.fields.get(index), paths.get(number)) else {
                continue;
            };
            match &path.attribute {
                Some(name) => {
                    let sub =
                        self.view.subs(&field.subs).iter().find(|sub| is_attribute(sub.code, name)).copied();
                    if let Some(sub) = sub {
                        self.member(found, |this| this.sub(&sub));
                    }
                }
                None => {
                    let (text, item) = (field.text.trim(), field.item);
                    if !text.is_empty() {
                        self.member(found, |this| {
                            this.touch(item, WHOLE);
                            Some(Value::Text(text.into()))
                        });
                    }
                }
            }
        }
    }

    /// The fields at the end of a path.
    fn ends(&self, path: &ElementPath, frame: &Frame<'a>) -> SmallVec<[usize; 8]> {
        let mut level: SmallVec<[usize; 8]> = frame.field.into_iter().collect();
        for (name, conditions) in &path.steps {
            let mut next = SmallVec::new();
            for parent in level {
                let Some(depth) = self.view.fields.get(parent).map(|field| field.depth) else { continue };
                for (index, field) in self.view.fields.iter().enumerate().skip(parent + 1) {
                    if field.depth <= depth {
                        break;
                    }
                    let holds = |field: &FieldView<'a>| {
                        conditions.iter().all(|condition| {
                            self.view.holds(condition, field.ind1, field.ind2, self.view.subs(&field.subs))
                        })
                    };
                    if field.depth == depth + 1
                        && (name == "*" || self.view.same_name(field.tag, name))
                        && holds(field)
                    {
                        next.push(index);
                    }
                }
            }
            level = next;
        }
        level
    }

    fn value_of(&mut self, path: &FieldPath, separator: Option<&str>) -> Option<Value<'a>> {
        let mut joined: Option<Cow<'a, str>> = None;
        let mut add = |this: &mut Self, text: &'a str, item: u32, bits: u64| {
            let text = if bits == WHOLE { text.trim() } else { text };
            if text.is_empty() {
                return false;
            }
            this.touch(item, bits);
            joined = Some(match (joined.take(), separator) {
                (Some(before), Some(separator)) => (before.into_owned() + separator + text).into(),
                (Some(before), None) => before,
                (None, _) => text.into(),
            });
            separator.is_none()
        };
        let view = self.view;
        'done: for alternative in &path.selector.alternatives {
            if alternative.tag == Tag::Leader {
                let range = alternative.positions.clone().unwrap_or(0..view.leader.len());
                if let Some(text) = slice(view.leader, &range)
                    && add(self, text, view.leader_item, positions(&range))
                {
                    break 'done;
                }
                continue;
            }
            for (index, field) in view.fields.iter().enumerate() {
                if !view.is_meant(index, alternative) {
                    continue;
                }
                let done = match (&alternative.subfield, &alternative.positions) {
                    (Some(code), positions_of) => view.subs(&field.subs).iter().any(|sub| {
                        (sub.code == code || !view.model.is_marc() && is_attribute(sub.code, code))
                            && match positions_of {
                                Some(range) => slice(sub.value, range)
                                    .is_some_and(|text| add(self, text, sub.item, positions(range))),
                                None => add(self, sub.value, sub.item, WHOLE),
                            }
                    }),
                    (None, Some(range)) => slice(field.text, range)
                        .is_some_and(|text| add(self, text, field.item, positions(range))),
                    (None, None) => add(self, field.text, field.item, WHOLE),
                };
                if done {
                    break 'done;
                }
            }
        }
        joined.map(Value::Text)
    }

    fn has(&mut self, path: &FieldPath) -> bool {
        let view = self.view;
        path.selector.alternatives.iter().any(|alternative| {
            if alternative.tag == Tag::Leader {
                let range = alternative.positions.clone().unwrap_or(0..view.leader.len());
                return slice(view.leader, &range).is_some();
            }
            view.fields.iter().enumerate().any(|(index, field)| {
                view.is_meant(index, alternative)
                    && match (&alternative.subfield, &alternative.positions) {
                        (Some(code), None) => view.subs(&field.subs).iter().any(|sub| sub.code == code),
                        (Some(code), Some(range)) => view
                            .subs(&field.subs)
                            .iter()
                            .any(|sub| sub.code == code && slice(sub.value, range).is_some()),
                        (None, Some(range)) => slice(field.text, range).is_some(),
                        (None, None) => true,
                    }
            })
        })
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
    fn material(&mut self, frame: &Frame<'a>) -> Option<&'static str> {
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
                Function::WorkKey => f::work_key(part(0), part(1)),
                Function::InstanceKey => f::instance_key(part(0), part(1), part(2), part(3)),
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
fn is_empty(value: &Value<'_>) -> bool {
    matches!(value, Value::Text(text) | Value::Tagged(text, _) if text.is_empty())
}

/// A part of a text; `None` when it is too short or says nothing.
pub fn slice<'t>(text: &'t str, range: &std::ops::Range<usize>) -> Option<&'t str> {
    let found = if text.is_ascii() {
        let end = range.end.min(text.len());
        text.get(range.start..end)?
    } else {
        let mut indices = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        let start = indices.clone().nth(range.start)?;
        let end = indices.nth(range.end).unwrap_or(text.len());
        text.get(start..end)?
    };
    says_something(found).then_some(found)
}

/// Whether there is more than blanks and fill characters.
fn says_something(text: &str) -> bool {
    text.bytes().any(|b| !matches!(b, b' ' | b'|'))
}

fn compare(how: Compare, a: &Value<'_>, b: &Value<'_>) -> Option<bool> {
    let ordering = if let (Some(a), Some(b)) = (a.number(), b.number()) {
        a.partial_cmp(&b)?
    } else {
        match (a, b) {
            (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::Iri(_), _) | (_, Value::Iri(_)) | (Value::Tagged(..), _) | (_, Value::Tagged(..)) => {
                return (how == Compare::Equal).then(|| a == b);
            }
            (Value::Typed(a, s), Value::Typed(b, t)) if s == t => a.cmp(b),
            // A number and a text are different, and have no order.
            _ => return if how == Compare::Equal { Some(false) } else { None },
        }
    };
    Some(match how {
        Compare::Equal => ordering.is_eq(),
        Compare::Less => ordering.is_lt(),
        Compare::LessOrEqual => ordering.is_le(),
        Compare::Greater => ordering.is_gt(),
        Compare::GreaterOrEqual => ordering.is_ge(),
    })
}

fn arithmetic<'a>(how: Arithmetic, a: &Value<'_>, b: &Value<'_>) -> Option<Value<'a>> {
    if let (Value::Integer(a), Value::Integer(b)) = (a, b) {
        return match how {
            Arithmetic::Add => a.checked_add(*b).map(Value::Integer),
            Arithmetic::Subtract => a.checked_sub(*b).map(Value::Integer),
            Arithmetic::Multiply => a.checked_mul(*b).map(Value::Integer),
            Arithmetic::Divide if *b == 0 => None,
            Arithmetic::Divide => Some(Value::Number(*a as f64 / *b as f64)),
        };
    }
    let (a, b) = (a.number()?, b.number()?);
    Some(Value::Number(match how {
        Arithmetic::Add => a + b,
        Arithmetic::Subtract => a - b,
        Arithmetic::Multiply => a * b,
        Arithmetic::Divide if b == 0.0 => return None,
        Arithmetic::Divide => a / b,
    }))
}

/// A text made from a text, borrowed where the function borrows.
fn within<'a>(text: Cow<'a, str>, part: impl for<'t> Fn(&'t str) -> Cow<'t, str>) -> Value<'a> {
    match text {
        Cow::Borrowed(text) => Value::Text(part(text)),
        Cow::Owned(text) => Value::Text(part(&text).into_owned().into()),
    }
}

/// Functions of values alone; also called by RDF concordances.
pub fn apply<'a>(
    function: Function,
    first: Value<'a>,
    second: Option<Value<'a>>,
    third: Option<Value<'a>>,
) -> Option<Value<'a>> {
    let made = |text: Option<String>| text.map(|text| Value::Text(text.into()));
    let boolean = |value: bool| Some(Value::Boolean(value));
    // A function of a tagged text gives a text in the same language.
    let tag = match &first {
        Value::Tagged(_, tag) => Some(tag.clone()),
        _ => None,
    };
    let retag = |value: Value<'a>| match (value, &tag) {
        (Value::Text(text), Some(tag)) => Value::Tagged(text, tag.clone()),
        (value, _) => value,
    };
    match function {
        Function::Str | Function::XsdString => Some(Value::Text(first.into_text())),
        Function::Lang => Some(Value::Text(tag.unwrap_or_default())),
        Function::Datatype => Some(Value::Iri(match first {
            Value::Typed(_, datatype) => datatype,
            Value::Text(_) => xsd::STRING.as_str().into(),
            Value::Integer(_) => xsd::INTEGER.as_str().into(),
            Value::Number(_) => xsd::DECIMAL.as_str().into(),
            Value::Boolean(_) => xsd::BOOLEAN.as_str().into(),
            Value::Iri(_) | Value::Tagged(..) => return None,
        })),
        Function::Iri => {
            let text = first.into_text();
            oxrdf::NamedNode::new(text.as_ref()).is_ok().then_some(Value::Iri(text))
        }
        Function::Abs => number(first, i64::checked_abs, f64::abs),
        Function::Ceil => number(first, Some, f64::ceil),
        Function::Floor => number(first, Some, f64::floor),
        Function::Round => number(first, Some, f64::round),
        Function::SubStr => substr(first.into_text(), &second?, third.as_ref()).map(retag),
        Function::StrLen => Some(Value::Integer(first.text().chars().count() as i64)),
        Function::UCase => Some(retag(Value::Text(first.text().to_uppercase().into()))),
        Function::LCase => Some(retag(Value::Text(first.text().to_lowercase().into()))),
        Function::EncodeForUri => Some(Value::Text(encode_for_uri(&first.text()).into())),
        Function::Contains => boolean(first.text().contains(second?.text().as_ref())),
        Function::StrStarts => boolean(first.text().starts_with(second?.text().as_ref())),
        Function::StrEnds => boolean(first.text().ends_with(second?.text().as_ref())),
        Function::StrBefore => {
            let (text, cut) = (first.into_text(), second?);
            let at = text.find(cut.text().as_ref());
            Some(retag(within(text, |text| at.and_then(|at| text.get(..at)).unwrap_or_default().into())))
        }
        Function::StrAfter => {
            let (text, cut) = (first.into_text(), second?);
            let at = text.find(cut.text().as_ref()).map(|at| at + cut.text().len());
            Some(retag(within(text, |text| at.and_then(|at| text.get(at..)).unwrap_or_default().into())))
        }
        Function::StrLang | Function::Tagged => {
            Some(Value::Tagged(first.into_text(), second?.into_text().to_lowercase().into()))
        }
        Function::StrDt => match second? {
            Value::Iri(datatype) if datatype == xsd::STRING.as_str() => Some(Value::Text(first.into_text())),
            Value::Iri(datatype) => Some(Value::Typed(first.into_text(), datatype)),
            _ => None,
        },
        Function::IsIri => boolean(matches!(first, Value::Iri(_))),
        Function::IsLiteral => boolean(!matches!(first, Value::Iri(_))),
        Function::IsNumeric => boolean(first.is_numeric()),
        Function::Integer => match first {
            Value::Number(number) => Some(Value::Integer(number as i64)),
            Value::Integer(number) => Some(Value::Integer(number)),
            other => other.text().trim().parse().ok().map(Value::Integer),
        },
        Function::Isbd => {
            let value = within(first.into_text(), f::isbd);
            (!matches!(&value, Value::Text(text) if text.is_empty())).then(|| retag(value))
        }
        Function::Isbn => made(f::isbn(&first.text())),
        Function::Issn => made(f::issn(&first.text())),
        Function::Lccn => made(f::lccn(&first.text())),
        Function::Oclc => made(f::oclc(&first.text())),
        Function::Doi => made(f::doi(&first.text())),
        Function::Orcid => made(f::orcid(&first.text())),
        Function::Isni => made(f::isni(&first.text())),
        Function::Year => made(f::year(&first.text())),
        Function::EdtfUnimarc => {
            made(f::edtf_unimarc(first.text().chars().next()?, &second?.text(), &third?.text()))
        }
        Function::Nonfiling => {
            let count = second?.into_text();
            Some(retag(within(first.into_text(), |text| f::nonfiling(text, &count).into())))
        }
        Function::SortKey => Some(Value::Text(f::sortkey(&first.text()).into())),
        Function::Nonsorting => Some(retag(within(first.into_text(), f::nonsorting))),
        Function::Sorting => Some(retag(within(first.into_text(), f::sorting))),
        Function::Direct => Some(retag(within(first.into_text(), f::direct))),
        Function::Inverted => Some(retag(within(first.into_text(), f::inverted))),
        Function::StripMark => Some(within(first.into_text(), |text| f::stripmark(text).into())),
        Function::Mark => made(f::mark(&first.text()).map(str::to_owned)),
        Function::CheckedIri => {
            let text = first.into_text();
            Some(match f::iri(&text) {
                Some(iri) => Value::Iri(iri.into()),
                None => Value::Text(text),
            })
        }
        Function::WorkKey => {
            made(f::work_key(&first.text(), &second.map(Value::into_text).unwrap_or_default()))
        }
        Function::Edtf => made(match (second, third) {
            (Some(one), Some(two)) => f::edtf_coded(first.text().chars().next()?, &one.text(), &two.text()),
            _ => f::edtf(&first.text()),
        }),
        // These take the record, a list, or any number of arguments.
        Function::Concat | Function::Join | Function::Language | Function::InstanceKey => None,
    }
}

/// The same with any number of arguments.
pub fn apply_all<'a>(function: Function, values: &mut dyn Iterator<Item = Value<'a>>) -> Option<Value<'a>> {
    match function {
        Function::Join => {
            let separator = values.next()?.into_text();
            let parts: Vec<Cow<'a, str>> =
                values.map(Value::into_text).filter(|part| !part.is_empty()).collect();
            (!parts.is_empty()).then(|| Value::Text(parts.join(&separator).into()))
        }
        Function::InstanceKey => {
            let parts: Vec<Cow<'a, str>> = values.map(Value::into_text).collect();
            let part = |index: usize| parts.get(index).map_or("", |part| part.as_ref());
            f::instance_key(part(0), part(1), part(2), part(3)).map(|key| Value::Text(key.into()))
        }
        _ => apply(function, values.next()?, values.next(), values.next()),
    }
}

fn number<'a>(
    value: Value<'a>,
    integer: impl Fn(i64) -> Option<i64>,
    decimal: impl Fn(f64) -> f64,
) -> Option<Value<'a>> {
    match value {
        Value::Integer(number) => integer(number).map(Value::Integer),
        Value::Number(number) => Some(Value::Number(decimal(number))),
        _ => None,
    }
}

/// SPARQL counts from 1.
fn substr<'a>(text: Cow<'a, str>, start: &Value<'_>, length: Option<&Value<'_>>) -> Option<Value<'a>> {
    let start = start.number()?.round() as i64;
    let end = match length {
        Some(length) => start.saturating_add(length.number()?.round() as i64),
        None => i64::MAX,
    };
    Some(within(text, |text| {
        let from = usize::try_from(start.max(1) - 1).unwrap_or(0);
        let to = usize::try_from((end - 1).max(0)).unwrap_or(0);
        let mut indices = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        let first = indices.clone().nth(from).unwrap_or(text.len());
        let last = indices.nth(to).unwrap_or(text.len());
        text.get(first..last.max(first)).unwrap_or_default().into()
    }))
}

fn encode_for_uri(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ => {
                out.push('%');
                for digit in [byte >> 4, byte & 15] {
                    out.push(char::from_digit(u32::from(digit), 16).unwrap_or('0').to_ascii_uppercase());
                }
            }
        }
    }
    out
}
