//! A record laid out for rules: fields with their paths, twins and embedded fields found.

use super::paths::Paths;
use crate::concordance::presence::CodeSet;
use crate::concordance::selector::{Alternative, Condition, Key, Tag, tag_number};
use crate::record::{Model, Record};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::ops::Range;

/// One subfield or attribute.
#[derive(Debug, Clone, Copy)]
pub struct Sub<'a> {
    pub code: &'a str,
    pub value: &'a str,
    /// Its number in the record.
    pub item: u32,
}

/// One field.
#[derive(Debug, Clone)]
pub struct FieldView<'a> {
    pub tag: &'a str,
    pub ind1: char,
    pub ind2: char,
    pub text: &'a str,
    pub subs: Range<usize>,
    pub depth: usize,
    /// The field around it.
    pub parent: Option<usize>,
    /// What its text is counted as.
    pub item: u32,
}

/// Bytes of blanks around the name of a column or a key that are passed over.
const MOST_BLANKS: usize = 64;

/// A record for rules to look at.
#[derive(Debug)]
pub struct View<'a> {
    pub model: Model,
    pub leader: &'a str,
    pub leader_item: u32,
    pub subs: Vec<Sub<'a>>,
    pub fields: Vec<FieldView<'a>>,
    /// How many subfields, texts and leaders there are to carry.
    pub items: usize,
    /// A bit for each tag of three digits that a field has.
    numbers: [u64; 16],
}

impl<'a> View<'a> {
    pub fn new(record: &'a Record) -> Self {
        let count = record.fields().len();
        let mut subs = Vec::with_capacity(count * 3);
        let mut fields: Vec<FieldView<'a>> = Vec::with_capacity(count);
        let mut open: Vec<usize> = Vec::new();
        let mut numbers = [0; 16];
        for field in record.fields() {
            if let Some(number) = tag_number(field.tag())
                && let Some(bits) = numbers.get_mut(number / 64)
            {
                *bits |= 1 << (number % 64);
            }
            let start = subs.len();
            for subfield in field.subfields() {
                let item = u32::try_from(subs.len()).unwrap_or(u32::MAX);
                subs.push(Sub { code: subfield.code, value: subfield.value, item });
            }
            open.truncate(field.depth());
            let parent = open.last().copied();
            open.push(fields.len());
            fields.push(FieldView {
                tag: field.tag(),
                ind1: field.ind1(),
                ind2: field.ind2(),
                text: field.text(),
                subs: start..subs.len(),
                depth: field.depth(),
                parent,
                item: 0,
            });
        }
        let mut item = u32::try_from(subs.len()).unwrap_or(u32::MAX);
        for field in &mut fields {
            field.item = item;
            item += 1;
        }
        Self {
            model: record.model,
            leader: record.leader(),
            leader_item: item,
            items: item as usize + 1,
            subs,
            fields,
            numbers,
        }
    }

    /// Whether a field may have a tag: most that rules ask for are in few records, and one of
    /// three digits is known not to be there.
    pub fn may_have(&self, tag: &Tag) -> bool {
        tag.number().is_none_or(|number| {
            self.numbers.get(number / 64).is_some_and(|bits| bits >> (number % 64) & 1 == 1)
        })
    }

    /// Every tag or path in the record once, in order, those of fields in another script
    /// included; `None` if they are too long or too many to be listed.
    pub fn tags(&self, paths: &Paths<'a>) -> Option<Vec<Cow<'a, str>>> {
        let mut tags = paths.all()?;
        tags.extend(twins(self).iter().map(|twin| Cow::Borrowed(twin.tag)));
        tags.sort_unstable();
        tags.dedup();
        Some(tags)
    }

    pub fn subs(&self, range: &Range<usize>) -> &[Sub<'a>] {
        self.subs.get(range.clone()).unwrap_or_default()
    }

    /// The codes of a field's subfields. Attributes have longer names, and others than rules use.
    pub fn codes(&self, field: &FieldView<'a>) -> CodeSet {
        if !self.model.is_marc() {
            return CodeSet::ANY;
        }
        self.subs(&field.subs).iter().fold(CodeSet::NONE, |codes, sub| codes.or(CodeSet::of(sub.code)))
    }

    /// Whether a field is what an alternative's tag and conditions ask for; embedding and
    /// positions apart.
    pub fn is_meant(&self, index: usize, alternative: &Alternative) -> bool {
        let Some(field) = self.fields.get(index) else { return false };
        self.has_tag(index, field, &alternative.tag) && self.has_what(index, field, alternative)
    }

    /// The same for a field that is known to have the tag.
    pub fn is_meant_by_tag(&self, index: usize, alternative: &Alternative) -> bool {
        self.fields.get(index).is_some_and(|field| self.has_what(index, field, alternative))
    }

    fn has_what(&self, index: usize, field: &FieldView<'a>, alternative: &Alternative) -> bool {
        (alternative.on_the_way.is_empty()
            || alternative
                .on_the_way
                .iter()
                .all(|(step, condition)| self.holds_above(index, *step, condition)))
            && (alternative.embedded.is_some()
                || alternative
                    .conditions
                    .iter()
                    .all(|condition| self.holds(condition, field.ind1, field.ind2, self.subs(&field.subs))))
    }

    /// Whether an element around a field is what a condition asks for.
    fn holds_above(&self, index: usize, depth: usize, condition: &Condition) -> bool {
        let mut at = Some(index);
        while let Some(field) = at.and_then(|at| self.fields.get(at)) {
            if field.depth == depth {
                return self.holds(condition, field.ind1, field.ind2, self.subs(&field.subs));
            }
            at = field.parent;
        }
        false
    }

    fn has_tag(&self, index: usize, field: &FieldView<'_>, tag: &Tag) -> bool {
        match tag {
            Tag::Path(path) => {
                if path.len() != field.depth + 1 {
                    return false;
                }
                let mut at = Some(index);
                path.iter().rev().all(|name| {
                    let Some(field) = at.and_then(|at| self.fields.get(at)) else { return false };
                    at = field.parent;
                    self.same_name(field.tag, name)
                })
            }
            tag => field.depth == 0 && tag.matches(field.tag),
        }
    }

    /// Columns and keys are named by people, in capitals or not; tags and elements are not.
    pub fn same_name(&self, found: &str, wanted: &str) -> bool {
        match self.model {
            Model::Row | Model::Json | Model::Corpus => {
                // Blanks around a name and letters that change their length are few. A long name is
                // another one, and need not be read for each rule and each field that has it.
                if found.len() > 3 * wanted.len() + MOST_BLANKS {
                    return false;
                }
                // People write `Publication year`, `publication-year`, `publication_year`.
                let normal = |c: char| if matches!(c, ' ' | '-') { '_' } else { c };
                found == wanted
                    || found.trim().chars().flat_map(char::to_lowercase).map(normal).eq(wanted
                        .trim()
                        .chars()
                        .flat_map(char::to_lowercase)
                        .map(normal))
            }
            _ => found == wanted,
        }
    }

    pub fn holds(&self, condition: &Condition, ind1: char, ind2: char, subs: &[Sub<'_>]) -> bool {
        let is = |value: &str| {
            let matches = |wanted: &String| {
                if self.model.is_marc() { wanted == value } else { wanted.eq_ignore_ascii_case(value) }
            };
            condition.values.is_empty() || condition.values.iter().any(matches)
        };
        let mut buffer = [0; 4];
        let found = match &condition.key {
            Key::Ind1 => is(ind1.encode_utf8(&mut buffer)),
            Key::Ind2 => is(ind2.encode_utf8(&mut buffer)),
            Key::Subfield(code) => subs.iter().any(|sub| {
                (sub.code == code || !self.model.is_marc() && is_attribute(sub.code, code))
                    && is(sub.value.trim())
            }),
        };
        found != condition.negated
    }
}

/// Whether an attribute's name is what a variable calls it: without prefix, `_` for `-`.
pub fn is_attribute(code: &str, variable: &str) -> bool {
    let local = code.rsplit(':').next().unwrap_or(code);
    local.len() == variable.len()
        && local.bytes().zip(variable.bytes()).all(|(a, b)| a == b || a == b'-' && b == b'_')
}

/// The other script's version of a field.
#[derive(Debug, Clone, Copy)]
pub struct Twin<'a> {
    /// The field in the other script.
    pub field: usize,
    /// The field it goes with, if there is one.
    pub partner: Option<usize>,
    /// The tag whose rules it fires.
    pub tag: &'a str,
}

/// MARC 21's 880 and UNIMARC's repeated fields with `$6`.
pub fn twins<'a>(view: &View<'a>) -> Vec<Twin<'a>> {
    match view.model {
        Model::Marc21 | Model::Marc21Authority => linked_880(view),
        Model::Unimarc => linked_unimarc(view),
        _ => Vec::new(),
    }
}

fn first<'a>(view: &View<'a>, field: &FieldView<'a>, code: &str) -> Option<&'a str> {
    view.subs(&field.subs).iter().find(|sub| sub.code == code).map(|sub| sub.value.trim())
}

/// `880 $6 245-01/(N` goes with `245 $6 880-01`.
fn linked_880<'a>(view: &View<'a>) -> Vec<Twin<'a>> {
    let mut found = Vec::new();
    let mut partners: FxHashMap<(&str, &str), usize> = FxHashMap::default();
    if !view.fields.iter().any(|field| field.tag == "880") {
        return found;
    }
    for (index, field) in view.fields.iter().enumerate() {
        if let Some(back) = first(view, field, "6")
            && let (Some("880"), Some(number)) = (back.get(..3), back.get(4..6))
        {
            partners.entry((field.tag, number)).or_insert(index);
        }
    }
    for (index, field) in view.fields.iter().enumerate().filter(|(_, field)| field.tag == "880") {
        let Some(link) = first(view, field, "6") else { continue };
        let (Some(tag), Some(number)) = (link.get(..3), link.get(4..6)) else { continue };
        if !tag.bytes().all(|b| b.is_ascii_digit()) || tag == "880" {
            continue;
        }
        let partner = partners.get(&(tag, number)).copied().filter(|_| number != "00");
        found.push(Twin { field: index, partner, tag });
    }
    found
}

/// Fields of one tag with the same linking number in `$6` and different scripts in `$7`: the
/// Latin one, else the first, leads.
fn linked_unimarc<'a>(view: &View<'a>) -> Vec<Twin<'a>> {
    let link = |field: &FieldView<'a>| first(view, field, "6").and_then(|link| link.get(1..3));
    let mut leaders: FxHashMap<(&str, &str), (usize, &str)> = FxHashMap::default();
    for (index, field) in view.fields.iter().enumerate() {
        let (Some(number), Some(script)) = (link(field), first(view, field, "7")) else { continue };
        let leader = leaders.entry((field.tag, number)).or_insert((index, script));
        if script.starts_with("ba") && !leader.1.starts_with("ba") {
            *leader = (index, script);
        }
    }
    let mut found = Vec::new();
    for (index, field) in view.fields.iter().enumerate() {
        let (Some(number), Some(script)) = (link(field), first(view, field, "7")) else { continue };
        if let Some((leader, its_script)) = leaders.get(&(field.tag, number))
            && *leader != index
            && *its_script != script
        {
            found.push(Twin { field: index, partner: Some(*leader), tag: field.tag });
        }
    }
    found
}

/// A field inside UNIMARC's `$1`.
#[derive(Debug, Clone)]
pub struct Embedded<'a> {
    pub tag: &'a str,
    pub ind1: char,
    pub ind2: char,
    /// The value of an embedded control field.
    pub text: &'a str,
    pub text_item: u32,
    pub subs: Range<usize>,
}

/// `461 $1 001FR123 $1 2001# $a Title`: each `$1` begins a field, the subfields after it are
/// its own.
pub fn embedded<'a>(view: &View<'a>, field: &FieldView<'a>) -> Vec<Embedded<'a>> {
    let mut found: Vec<Embedded<'a>> = Vec::new();
    for index in field.subs.clone() {
        let Some(sub) = view.subs.get(index) else { continue };
        if sub.code == "1" {
            let Some(tag) = sub.value.get(..3).filter(|tag| tag.bytes().all(|b| b.is_ascii_digit())) else {
                continue;
            };
            let rest = sub.value.get(3..).unwrap_or_default();
            let control = tag.starts_with("00") && rest.chars().count() > 2;
            // An identifier that begins with digits embeds nothing.
            if !control && rest.trim().chars().count() > 2 {
                continue;
            }
            let mut indicators = rest.chars().map(|c| if c == '#' { ' ' } else { c });
            let (ind1, ind2) = if control {
                (' ', ' ')
            } else {
                (indicators.next().unwrap_or(' '), indicators.next().unwrap_or(' '))
            };
            let text = if control { rest } else { "" };
            let subs = index + 1..index + 1;
            found.push(Embedded { tag, ind1, ind2, text, text_item: sub.item, subs });
        } else if let Some(last) = found.last_mut() {
            last.subs.end = index + 1;
        }
    }
    found
}
