//! Whether a condition holds.
//!
//! Most rules over fixed fields hold for one kind of material or one indicator, so conditions
//! are asked far more often than values are made. What they usually compare (indicators, codes,
//! positions, subfields with a constant) is read here without making a value or noting a read;
//! everything else goes the common way.

use super::Frame;
use super::eval::{Evaluator, Slot, one_character};
use super::slice::{slice, trim};
use super::value::Value;
use crate::concordance::program::{Compare, Expr, Given};
use std::borrow::Cow;

/// What a simple expression says.
enum Plain<'s> {
    Text(Cow<'s, str>),
    Unbound,
    /// It is not simple, or no text.
    Other,
}

impl<'a> Evaluator<'a, '_> {
    /// The effective boolean value; `None` is SPARQL's error.
    pub fn is_true(&mut self, expr: &'a Expr, frame: &Frame<'a>, slots: &[Slot<'a>]) -> Option<bool> {
        match expr {
            Expr::Boolean(value) => return Some(*value),
            Expr::Or(a, b) => {
                let left = self.is_true(a, frame, slots);
                if left == Some(true) {
                    return left;
                }
                return match self.is_true(b, frame, slots) {
                    Some(true) => Some(true),
                    right => (left.is_some() && right.is_some()).then_some(false),
                };
            }
            Expr::And(a, b) => {
                let left = self.is_true(a, frame, slots);
                if left == Some(false) {
                    return left;
                }
                return match self.is_true(b, frame, slots) {
                    Some(false) => Some(false),
                    right => (left.is_some() && right.is_some()).then_some(true),
                };
            }
            Expr::Not(a) => return self.is_true(a, frame, slots).map(|truth| !truth),
            Expr::Compare(Compare::Equal, a, b) => {
                if let Expr::Text(wanted) = &**b {
                    match self.plain(a, frame, slots) {
                        Plain::Text(found) => return Some(found == wanted.as_str()),
                        Plain::Unbound => return None,
                        Plain::Other => {}
                    }
                }
            }
            Expr::In(a, list) => {
                let is_text = |expr: &Expr| matches!(expr, Expr::Text(_));
                if list.iter().all(is_text) {
                    match self.plain(a, frame, slots) {
                        Plain::Text(found) => {
                            let is_it = |expr: &Expr| matches!(expr, Expr::Text(wanted) if *wanted == found);
                            return Some(list.iter().any(is_it));
                        }
                        Plain::Unbound => return None,
                        Plain::Other => {}
                    }
                }
            }
            Expr::Bound(a) => match self.plain(a, frame, slots) {
                Plain::Text(_) => return Some(true),
                Plain::Unbound => return Some(false),
                Plain::Other => {}
            },
            Expr::Regex(text, regex) => match self.plain(text, frame, slots) {
                Plain::Text(found) => return Some(regex.is_match(&found)),
                Plain::Unbound => return None,
                Plain::Other => {}
            },
            _ => {}
        }
        let start = self.touches.len();
        let truth = self.eval(expr, frame, slots).and_then(|value| value.truth());
        self.touches.truncate(start);
        truth
    }

    /// The text of an expression that only looks something up.
    fn plain<'s>(&self, expr: &Expr, frame: &'s Frame<'a>, slots: &'s [Slot<'a>]) -> Plain<'s>
    where
        'a: 's,
    {
        let text = |text: Option<&'s str>| text.map_or(Plain::Unbound, |text| Plain::Text(text.into()));
        let said = |text: &'s str| Some(trim(text)).filter(|text| !text.is_empty());
        match expr {
            Expr::Given(Given::Ind1) => Plain::Text(one_character(frame.ind1)),
            Expr::Given(Given::Ind2) => Plain::Text(one_character(frame.ind2)),
            Expr::Given(Given::Tag) => text(Some(frame.tag)),
            Expr::Given(Given::Outer) => text(frame.outer),
            Expr::Given(Given::Text) => text(frame.text),
            Expr::Given(Given::Code) => text(frame.iterated.map(|sub| sub.code)),
            Expr::Given(Given::Value) => text(frame.iterated.and_then(|sub| said(sub.value))),
            Expr::Material => text(self.material(frame)),
            Expr::At(range) => text(slice(frame.full_text, range)),
            Expr::Subfield(code) => {
                let sub = match frame.iterated {
                    Some(sub) if sub.code == code => Some(sub),
                    _ => self.view.subs(&frame.subs).iter().find(|sub| sub.code == code).copied(),
                };
                text(sub.and_then(|sub| said(sub.value)))
            }
            Expr::Slot(slot) => {
                let Some(values) = slots.get(*slot) else { return Plain::Unbound };
                let element = if values.len() > 1 { frame.element } else { 0 };
                match values.get(element).and_then(Option::as_ref).map(|bound| &bound.value) {
                    None => Plain::Unbound,
                    Some(Value::Text(found)) => text(Some(found)),
                    Some(_) => Plain::Other,
                }
            }
            _ => Plain::Other,
        }
    }
}
