//! How a place in a record is written: `245 $a`, `008/35-37`, `mods:titleInfo/mods:title`.

use super::case::{Case, indicators, outer_tags, tags};
use crate::concordance::program::{Codes, ElementPath, Function, Rule};
use crate::concordance::selector::{Alternative, Condition, Key, Selector, Tag};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A place in a record: a tag with its conditions, an element or a predicate, and the part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Field {
    pub tag: String,
    /// `$a`, `ind1`; empty for the whole.
    pub part: String,
}

impl Field {
    pub(super) fn whole(tag: impl Into<String>) -> Self {
        Self { tag: tag.into(), part: String::new() }
    }
}

/// What a rule reads, seen from the field it fires for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Read {
    Text,
    Tag,
    Subfield(String),
    /// All subfields.
    Everything,
    Attribute(String),
    Positions(usize, usize),
    Below(String),
    Indicator(u8),
    Elsewhere(Field),
}

impl Read {
    pub(super) fn of_code(code: &str) -> Self {
        match code {
            "text" => Self::Text,
            code if code.chars().count() > 1 => Self::Attribute(code.to_owned()),
            code => Self::Subfield(code.to_owned()),
        }
    }

    pub(super) fn of_codes(codes: &Codes) -> Vec<Self> {
        if codes.all {
            return vec![Self::Everything];
        }
        codes.codes.chars().map(|code| Self::Subfield(code.to_string())).collect()
    }

    pub(super) fn of_path(path: &ElementPath) -> Self {
        let mut steps: Vec<String> = path
            .steps
            .iter()
            .map(|(name, conditions)| {
                format!("{name}{}", conditions.iter().map(condition).collect::<String>())
            })
            .collect();
        steps.extend(path.attribute.as_ref().map(|name| format!("@{name}")));
        Self::Below(steps.join("/"))
    }

    pub(super) fn elsewhere(selector: &Selector) -> Vec<Self> {
        let fields = selector.alternatives.iter().map(|alternative| {
            let mut field = Field::whole(notation(alternative, None));
            let positions = alternative.positions.clone().map(slice).unwrap_or_default();
            match &alternative.subfield {
                Some(code) => field.part = format!("${code}{positions}"),
                None => field.tag.push_str(&positions),
            }
            Self::Elsewhere(field)
        });
        fields.collect()
    }
}

/// Functions whose other arguments only say how: the language of a text, how much to cut.
pub(super) fn shapes(function: Function) -> bool {
    matches!(
        function,
        Function::Tagged
            | Function::StrLang
            | Function::StrDt
            | Function::Nonfiling
            | Function::SubStr
            | Function::StrBefore
            | Function::StrAfter
    )
}

/// The places that a rule reads in these cases.
pub(super) fn fields(rule: &Rule, reads: &[Read], cases: &[Case]) -> Vec<Field> {
    let mut found = Vec::new();
    for (index, alternative) in rule.selector.alternatives.iter().enumerate() {
        let here: Vec<&Case> = cases.iter().filter(|case| case.alternative == Some(index)).collect();
        if here.is_empty() {
            continue;
        }
        for tag in tags_in(alternative, &here) {
            found.extend(reads.iter().map(|read| field(alternative, &tag, read)));
            if reads.is_empty() && alternative.tag != Tag::Record {
                found.push(Field::whole(&tag));
            }
        }
    }
    found
}

fn field(alternative: &Alternative, tag: &str, read: &Read) -> Field {
    let at = |positions: Option<Range<usize>>| {
        let positions = positions.map(slice).unwrap_or_default();
        match &alternative.subfield {
            Some(code) => Field { tag: tag.to_owned(), part: format!("${code}{positions}") },
            None => Field::whole(format!("{tag}{positions}")),
        }
    };
    let part = |part: String| Field { tag: tag.to_owned(), part };
    match read {
        Read::Tag => Field::whole(tag),
        Read::Text => at(alternative.positions.clone()),
        Read::Positions(from, to) => at(Some(*from..*to)),
        Read::Subfield(code) => part(format!("${code}")),
        Read::Everything => part("$*".to_owned()),
        Read::Indicator(number) => part(format!("ind{number}")),
        Read::Attribute(name) => Field::whole(format!("{tag}/@{}", name.replace('_', "-"))),
        Read::Below(path) if alternative.tag == Tag::Record => Field::whole(path),
        Read::Below(path) => Field::whole(format!("{tag}/{path}")),
        Read::Elsewhere(field) => field.clone(),
    }
}

/// How the tags of some cases are written, with what is asked of the indicators.
fn tags_in(alternative: &Alternative, cases: &[&Case]) -> BTreeSet<String> {
    // The embedded field counts as part of the one around it, and stands there as it is written.
    // The indicators that go with each tag; tags with the same ones stand together.
    let mut by_tag: BTreeMap<Option<String>, (BTreeSet<char>, BTreeSet<char>)> = BTreeMap::new();
    for case in cases {
        let (first, second) = by_tag.entry(case.outer.clone().or_else(|| case.tag.clone())).or_default();
        first.extend(case.ind1);
        second.extend(case.ind2);
    }
    let mut alike: BTreeMap<(BTreeSet<char>, BTreeSet<char>), Vec<String>> = BTreeMap::new();
    let mut whole: BTreeSet<(BTreeSet<char>, BTreeSet<char>)> = BTreeSet::new();
    for (tag, asked) in by_tag {
        match tag {
            Some(tag) => alike.entry(asked).or_default().push(tag),
            None => drop(whole.insert(asked)),
        }
    }
    let by_outer = cases.iter().any(|case| case.outer.is_some());
    let all = if by_outer { outer_tags(alternative) } else { tags(alternative) }.unwrap_or_default();
    let written = |tag: Option<&str>, (first, second): &(BTreeSet<char>, BTreeSet<char>)| {
        let mut alternative = alternative.clone();
        for (key, found) in [(Key::Ind1, first), (Key::Ind2, second)] {
            let possible = indicators(&alternative, &key).len();
            if !found.is_empty() && found.len() < possible {
                alternative.conditions.retain(|condition| condition.key != key);
                let negated = found.len() > 6;
                let values = " 0123456789".chars().filter(|value| found.contains(value) != negated);
                let values = values.map(String::from).collect();
                alternative.conditions.push(Condition { key, negated, values });
            }
        }
        match tag.filter(|_| by_outer) {
            Some(tag) => {
                let several = Selector::parse(tag).map(|selector| selector.alternatives).unwrap_or_default();
                let tag = several.into_iter().next().map_or(Tag::Record, |way| way.tag);
                notation(&Alternative { tag, ..alternative }, None)
            }
            None => notation(&alternative, tag),
        }
    };
    let mut found = BTreeSet::new();
    for (asked, tags) in &alike {
        if tags.len() == all.len() {
            found.insert(written(None, asked));
        } else {
            found.extend(runs(tags).iter().map(|tag| written(Some(tag), asked)));
        }
    }
    found.extend(whole.iter().map(|asked| written(None, asked)));
    found
}

/// Tags of one cell, those in a row as one: `410|411|41[2-9]` is `41X`.
pub(super) fn together<'a>(tags: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut plain: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut written = Vec::new();
    for tag in tags {
        // What is embedded stays with the field around it: `41[0-3]>200`.
        let (outer, inner) = tag.find('>').map_or((tag, ""), |at| tag.split_at(at));
        let parsed = Selector::parse(outer).map(|selector| selector.alternatives).unwrap_or_default();
        match parsed.as_slice() {
            [one @ Alternative { tag: Tag::Pattern(_), positions: None, .. }]
                if one.conditions.is_empty() =>
            {
                plain.entry(inner).or_default().extend(super::case::tags(one).unwrap_or_default());
            }
            _ => written.push(tag.to_owned()),
        }
    }
    for (inner, tags) in plain {
        let tags: Vec<String> = tags.into_iter().collect();
        written.extend(runs(&tags).into_iter().map(|tag| format!("{tag}{inner}")));
    }
    written.sort();
    written
}

/// Three tags or more in a row are written as one: `70[0-3]`, `41X`.
fn runs(tags: &[String]) -> Vec<String> {
    let number = |tag: &str| tag.parse::<u32>().ok();
    let mut runs: Vec<Vec<&str>> = Vec::new();
    for tag in tags {
        match runs.last_mut() {
            Some(run)
                if run.last().is_some_and(|last| {
                    last.get(..2) == tag.get(..2) && number(last).map(|n| n + 1) == number(tag)
                }) =>
            {
                run.push(tag);
            }
            _ => runs.push(vec![tag]),
        }
    }
    let mut written = Vec::new();
    for run in runs {
        match run.as_slice() {
            [first, ..] if run.len() == 10 => {
                written.push(format!("{}X", first.get(..2).unwrap_or_default()))
            }
            [first, .., last] if run.len() > 2 => {
                let digit = |tag: &str| tag.chars().last().unwrap_or_default();
                let start = first.get(..2).unwrap_or_default();
                written.push(format!("{start}[{}-{}]", digit(first), digit(last)));
            }
            _ => written.extend(run.iter().map(|tag| (*tag).to_owned())),
        }
    }
    written
}

/// An alternative as one writes it, without subfield and positions; conditions that only ask
/// whether something is there are left out.
fn notation(alternative: &Alternative, tag: Option<&str>) -> String {
    let mut text = match (&alternative.tag, &alternative.embedded, tag) {
        (outer, Some(_), Some(tag)) => format!("{}>{tag}", outer.notation()),
        (outer, Some(inner), None) => format!("{}>{}", outer.notation(), inner.notation()),
        (Tag::Path(path), None, _) => {
            let steps = path.iter().enumerate().map(|(place, name)| {
                let asked = alternative.on_the_way.iter().filter(|(step, _)| *step == place);
                format!("{name}{}", asked.map(|(_, asked)| condition(asked)).collect::<String>())
            });
            steps.collect::<Vec<_>>().join("/")
        }
        (_, None, Some(tag)) => tag.to_owned(),
        (outer, None, None) => outer.notation(),
    };
    text.extend(alternative.conditions.iter().map(condition));
    text
}

fn condition(condition: &Condition) -> String {
    if condition.values.is_empty() {
        return String::new();
    }
    let key = match &condition.key {
        Key::Ind1 => "ind1",
        Key::Ind2 => "ind2",
        Key::Subfield(code) => code,
    };
    let values: Vec<&str> =
        condition.values.iter().map(|value| if value == " " { "#" } else { value.as_str() }).collect();
    format!("[{key}{}{}]", if condition.negated { "!=" } else { "=" }, values.join("|"))
}

/// `/35-37`
fn slice(positions: Range<usize>) -> String {
    let last = positions.end.saturating_sub(1);
    if positions.start == last {
        format!("/{:02}", positions.start)
    } else {
        format!("/{:02}-{last:02}", positions.start)
    }
}
