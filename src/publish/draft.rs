//! A field in the making.

use std::collections::BTreeMap;

/// What is known of a field so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draft {
    pub tag: String,
    pub indicators: [Option<char>; 2],
    /// Codes and values in their order.
    pub subfields: Vec<(String, String)>,
    /// The value of a control field or an element.
    pub text: Option<String>,
    /// Single positions of a fixed field, or of the subfield a rule names.
    pub positions: BTreeMap<usize, char>,
    /// The positions the rule speaks of.
    pub range: std::ops::Range<usize>,
    /// The subfield that `each` stands at.
    pub code: Option<String>,
    pub value: Option<String>,
    /// What goes before a value that is not known yet: that of a subfield, or of `each`.
    pub marks: Vec<(Option<String>, String)>,
    /// Control fields it needs beside it.
    pub beside: Vec<(String, String)>,
    /// The order of its subfields is known from a text that joined them.
    pub ordered: bool,
}

impl Draft {
    pub fn get(&self, code: &str) -> Option<&str> {
        self.subfields.iter().find(|(known, _)| known == code).map(|(_, value)| value.as_str())
    }

    pub fn has(&self, code: &str) -> bool {
        self.get(code).is_some()
    }

    /// Sets a subfield, or adds one where it may be repeated; `None` when it has another value.
    pub fn with_subfield(mut self, code: &str, value: &str, repeated: bool) -> Option<Self> {
        if self.subfields.iter().any(|(known, there)| known == code && there == value) {
            return Some(self);
        }
        if self.has(code) && !repeated {
            return None;
        }
        self.subfields.push((code.to_owned(), value.to_owned()));
        Some(self)
    }

    /// Sets positions from `start` on; `None` when one of them has another character.
    pub fn with_positions(mut self, start: usize, text: &str) -> Option<Self> {
        for (offset, c) in text.chars().enumerate() {
            match self.positions.get(&(start + offset)) {
                Some(known) if *known != c => return None,
                _ => self.positions.insert(start + offset, c),
            };
        }
        Some(self)
    }

    /// Sets an indicator; `None` when it has another value.
    pub fn with_indicator(mut self, number: usize, value: &str) -> Option<Self> {
        let mut chars = value.chars();
        let (Some(c), None) = (chars.next(), chars.next()) else { return None };
        let known = self.indicators.get_mut(number)?;
        if known.is_some_and(|known| known != c) {
            return None;
        }
        *known = Some(c);
        Some(self)
    }

    /// Puts the marks before their values.
    pub fn set_marks(&mut self) {
        for (code, mark) in std::mem::take(&mut self.marks) {
            let value = match code {
                Some(code) => {
                    self.subfields.iter_mut().find(|(known, _)| *known == code).map(|(_, value)| value)
                }
                None => self.value.as_mut(),
            };
            if let Some(value) = value.filter(|value| !value.starts_with(mark.as_str())) {
                value.insert_str(0, &mark);
            }
        }
    }

    /// The positions as a text over a base, which is cut or filled up to what is needed.
    pub fn fixed_text(&self, base: &str) -> String {
        let mut chars: Vec<char> = base.chars().collect();
        let last = self.positions.keys().next_back().copied().unwrap_or(0).min(999);
        if chars.len() <= last {
            chars.resize(last + 1, ' ');
        }
        for (position, c) in &self.positions {
            if let Some(slot) = chars.get_mut(*position) {
                *slot = *c;
            }
        }
        chars.into_iter().collect()
    }
}
