//! Which rules a field may fire.

use crate::concordance::program::Rule;
use crate::concordance::selector::{Tag, tag_number};

/// The rules for one model, found by tag.
#[derive(Debug, Default)]
pub struct Table {
    /// Rules and alternatives for the tags 000 to 999.
    numeric: Vec<Vec<(usize, usize)>>,
    /// For every other field: those with a path, to be tried.
    others: Vec<(usize, usize)>,
    pub record: Vec<usize>,
    pub leader: Vec<(usize, usize)>,
    pub embedded: Vec<(usize, usize)>,
}

impl Table {
    pub fn new(rules: &[Rule]) -> Self {
        let mut table = Self { numeric: vec![Vec::new(); 1000], ..Self::default() };
        let tags: Vec<String> = (0..1000).map(|tag| format!("{tag:03}")).collect();
        for (index, rule) in rules.iter().enumerate() {
            for (number, alternative) in rule.selector.alternatives.iter().enumerate() {
                let entry = (index, number);
                if alternative.embedded.is_some() {
                    table.embedded.push(entry);
                    continue;
                }
                match &alternative.tag {
                    Tag::Record => table.record.push(index),
                    Tag::Leader => table.leader.push(entry),
                    Tag::Path(_) => table.others.push(entry),
                    pattern => {
                        for (tag, rules) in tags.iter().zip(&mut table.numeric) {
                            if pattern.matches(tag) {
                                rules.push(entry);
                            }
                        }
                    }
                }
            }
        }
        table
    }

    /// The rules that may be meant, and whether all of them are for this tag.
    pub fn for_tag(&self, tag: &str) -> (&[(usize, usize)], bool) {
        match tag_number(tag).and_then(|number| self.numeric.get(number)) {
            Some(rules) => (rules, true),
            None => (&self.others, false),
        }
    }
}
