//! `:value` and `:has`: what other fields of the record say.

use super::eval::Evaluator;
use super::slice::slice;
use super::value::{Value, WHOLE, positions};
use super::view::is_attribute;
use crate::concordance::program::FieldPath;
use crate::concordance::selector::Tag;
use std::borrow::Cow;

impl<'a> Evaluator<'a, '_> {
    pub fn value_of(&mut self, path: &FieldPath, separator: Option<&str>) -> Option<Value<'a>> {
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
            if !view.may_have(&alternative.tag) {
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

    pub fn has(&mut self, path: &FieldPath) -> bool {
        let view = self.view;
        path.selector.alternatives.iter().any(|alternative| {
            if alternative.tag == Tag::Leader {
                let range = alternative.positions.clone().unwrap_or(0..view.leader.len());
                return slice(view.leader, &range).is_some();
            }
            let mut fields = view.fields.iter().enumerate();
            view.may_have(&alternative.tag)
                && fields.any(|(index, field)| {
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
}
