//! Expressions that give several values.

use super::Frame;
use super::eval::{Bound, Evaluator, Slot, is_empty};
use super::slice::{says_something, trim};
use super::value::{Value, WHOLE, positions};
use super::view::{FieldView, is_attribute};
use crate::concordance::program::{ElementPath, List};
use smallvec::SmallVec;

impl<'a> Evaluator<'a, '_> {
    /// Adds the members of a list, each with its reads.
    pub fn list(&mut self, list: &'a List, frame: &Frame<'a>, slots: &[Slot<'a>], found: &mut Slot<'a>) {
        match list {
            List::Every(codes, pattern) => {
                for index in frame.subs.clone() {
                    let Some(sub) = self.view.subs.get(index).copied() else { continue };
                    let matches = || pattern.as_ref().is_none_or(|regex| regex.is_match(trim(sub.value)));
                    if codes.contains(sub.code) && matches() {
                        self.member(found, |this| this.sub(&sub));
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
                            this.member(found, |this| {
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
                        this.member(found, |this| {
                            this.touch(item, WHOLE);
                            Some(Value::Text(piece.into()))
                        });
                    }
                });
            }
            List::Path(paths) => self.descendants(paths, frame, found),
            List::Mapped { list, expr } => {
                let mut members = Slot::new();
                self.list(list, frame, slots, &mut members);
                for member in members.into_iter().flatten() {
                    let (start, count) = member.touches;
                    let before = self.member.replace(member.value);
                    self.member(found, |this| {
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
                        self.member(found, |this| this.eval(expr, &frame, slots));
                    }
                }
            }
            List::Single(expr, made_from) => {
                // A list made from another list's members has as many as that one.
                let lengths = made_from.iter().filter_map(|slot| slots.get(*slot).map(|values| values.len()));
                let members = lengths.max().unwrap_or(1).max(1);
                if members == 1 && frame.element == 0 {
                    self.member(found, |this| this.eval(expr, frame, slots));
                    return;
                }
                let mut frame = frame.clone();
                for element in 0..members {
                    frame.element = element;
                    self.member(found, |this| this.eval(expr, &frame, slots));
                }
            }
        }
    }

    fn member(&mut self, found: &mut Slot<'a>, value: impl FnOnce(&mut Self) -> Option<Value<'a>>) {
        let start = self.touches.len();
        match value(self).filter(|value| !is_empty(value)) {
            Some(value) => {
                let touches = (start as u32, (self.touches.len() - start) as u32);
                found.push(Some(Bound { value, touches }));
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

    fn descendants(&mut self, paths: &[ElementPath], frame: &Frame<'a>, found: &mut Slot<'a>) {
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
}
