//! What is known to be true of records: a table that people made.
//!
//! With a header, and commas, semicolons or tabs between cells. Rows name either
//!
//! - a record and its group: a column `id` (with `source` beside it, where ids are not unique) and a
//!   column that names the group;
//! - or two records: `left_source`, `left_id`, `right_source`, `right_id`, or two columns of names;
//!   and in a column `same` or `label` whether they are one. Without such a column the rows are all
//!   pairs that are one.
//!
//! A name is `SOURCE/ID`, or the id alone where it is of one record, with the node of a thing in it
//! where that is meant (`SOURCE/ID#creator-3f0c…`); a column called after a source (`id_acm`,
//! `acm_id`) has ids of that source. Pairs of which nothing is said are left out.

use super::entities::{Entities, Number};
use super::entity::Kind;
use super::{PipelineError, ResolveError};
use crate::decode::{self, Options, Piece};
use crate::record::{Format, Record};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is true, by numbers of things.
pub(super) enum Truth {
    Groups(FxHashMap<Number, u32>),
    /// Pairs of which it is said whether they are one; nothing is known of others.
    Pairs(Vec<(Number, Number, bool)>),
    /// All pairs that are one; others are not.
    Matches(Vec<(Number, Number)>),
}

/// Rows that speak of records which are not there.
#[derive(Default)]
pub(super) struct Strangers {
    pub rows: u64,
    /// The first of these records.
    pub example: String,
}

impl Strangers {
    fn meet(&mut self, named: &Named, row: &Record) {
        self.rows += 1;
        if self.rows == 1 {
            self.example = named.show(row);
        }
    }
}

/// The names of columns that say whether a pair is one.
const LABELS: [&str; 6] = ["same", "label", "match", "is_match", "gold", "gold_label"];
/// What they say of a pair that is,
const YES: [&str; 12] = ["1", "1.0", "true", "t", "yes", "y", "same", "match", "oui", "ja", "si", "sí"];
/// and of one that is not.
const NO: [&str; 11] =
    ["0", "0.0", "false", "f", "no", "n", "different", "distinct", "non-match", "non", "nein"];
/// What is said by whoever looked and could not tell; such pairs are left out.
const UNSURE: [&str; 4] = ["unsure", "unclear", "unknown", "?"];

impl Truth {
    /// Reads a table of things of one kind. Without a column `by`, groups are named by that of the
    /// kind, or `cluster`, or the last one.
    pub fn read(
        text: &str,
        kind: Kind,
        by: Option<&str>,
        entities: &Entities,
    ) -> Result<(Self, Strangers), PipelineError> {
        let fault = |message: String| PipelineError::from(ResolveError::Unknown(message));
        let columns = decode::columns(text.as_bytes());
        if columns.iter().all(String::is_empty) {
            return Err(fault("the truth is empty".to_owned()));
        }
        let names = Names::new(entities, kind);
        let shape = Shape::of(&columns, by, &names).map_err(fault)?;
        let mut strangers = Strangers::default();
        let mut groups: FxHashMap<String, u32> = FxHashMap::default();
        let mut of: FxHashMap<Number, u32> = FxHashMap::default();
        let mut pairs: Vec<(Number, Number, bool)> = Vec::new();
        for row in rows(text) {
            match &shape {
                Shape::Group { named, group } => {
                    let group = cell(&row, group);
                    if group == "-" || group.is_empty() {
                        continue;
                    }
                    let next = groups.len() as u32;
                    let group = *groups.entry(group.to_owned()).or_insert(next);
                    match names.find(named, &row) {
                        Some(number) => _ = of.insert(number, group),
                        None => strangers.meet(named, &row),
                    }
                }
                Shape::Pair { left, right, label } => {
                    let said = label.as_deref().map(|label| cell(&row, label).to_ascii_lowercase());
                    // Nobody has looked at it yet, or could tell.
                    let is_open = |said: &str| said.is_empty() || said == "-" || UNSURE.contains(&said);
                    if said.as_deref().is_some_and(is_open) {
                        continue;
                    }
                    let same = said.as_deref().is_none_or(|said| YES.contains(&said));
                    if let Some(said) = said.filter(|said| !same && !NO.contains(&&**said)) {
                        let pair = format!("{} and {}", left.show(&row), right.show(&row));
                        return Err(fault(format!("`{said}` of {pair} is neither yes, no nor unsure")));
                    }
                    match (names.find(left, &row), names.find(right, &row)) {
                        (Some(left), Some(right)) if left == right => {}
                        (Some(left), Some(right)) => pairs.push((left, right, same)),
                        (None, _) => strangers.meet(left, &row),
                        (_, None) => strangers.meet(right, &row),
                    }
                }
            }
        }
        let truth = match shape {
            Shape::Group { .. } => Self::Groups(of),
            Shape::Pair { label: Some(_), .. } => Self::Pairs(pairs),
            Shape::Pair { label: None, .. } => {
                Self::Matches(pairs.into_iter().map(|(left, right, _)| (left, right)).collect())
            }
        };
        Ok((truth, strangers))
    }

    pub fn is_empty(&self) -> bool {
        match self {
            Self::Groups(of) => of.is_empty(),
            Self::Pairs(pairs) => pairs.is_empty(),
            Self::Matches(pairs) => pairs.is_empty(),
        }
    }

    /// Every two things of which is said whether they are one. Of groups, those within one.
    pub fn pairs(&self) -> Vec<(Number, Number, bool)> {
        match self {
            Self::Pairs(pairs) => pairs.clone(),
            Self::Matches(pairs) => pairs.iter().map(|(left, right)| (*left, *right, true)).collect(),
            Self::Groups(of) => {
                let mut groups: FxHashMap<u32, Vec<Number>> = FxHashMap::default();
                of.iter().for_each(|(number, group)| groups.entry(*group).or_default().push(*number));
                let mut pairs = Vec::new();
                for members in groups.values() {
                    every_two(members, &mut |(left, right)| pairs.push((left, right, true)));
                }
                pairs.sort_unstable();
                pairs
            }
        }
    }
}

pub(super) fn every_two(members: &[Number], each: &mut dyn FnMut((Number, Number))) {
    let mut members = members.to_vec();
    members.sort_unstable();
    for (at, left) in members.iter().enumerate() {
        for right in members.iter().skip(at + 1) {
            each((*left, *right));
        }
    }
}

/// The rows that can be read.
fn rows(text: &str) -> impl Iterator<Item = Record> {
    let pieces = decode::split(Box::new(text.as_bytes()), Format::Csv, "");
    pieces.filter_map(|piece| match piece {
        Ok(Piece::Record(payload, _)) => {
            decode::decode(&payload.bytes, Format::Csv, &Options::default(), &mut Vec::new())
        }
        _ => None,
    })
}

fn cell<'r>(row: &'r Record, column: &'r str) -> &'r str {
    row.fields_with(column).next().map(|field| field.text()).unwrap_or_default()
}

/// The columns that name a record.
struct Named {
    /// Where the source is said,
    source: Option<String>,
    /// or the source that all of them are of.
    of: Option<String>,
    id: String,
}

impl Named {
    fn show(&self, row: &Record) -> String {
        let source = self.source.as_deref().map(|column| cell(row, column)).or(self.of.as_deref());
        let id = cell(row, &self.id);
        source.map_or_else(|| id.to_owned(), |source| format!("{source}/{id}"))
    }
}

/// What the columns of a table are.
enum Shape {
    Group { named: Named, group: String },
    Pair { left: Named, right: Named, label: Option<String> },
}

impl Shape {
    fn of(columns: &[String], by: Option<&str>, names: &Names<'_>) -> Result<Self, String> {
        let column = |name: &str| columns.iter().find(|known| known.eq_ignore_ascii_case(name)).cloned();
        let label = LABELS.into_iter().find_map(column);
        let named = |id: &str| Named { source: None, of: names.source_in(id), id: id.to_owned() };
        if let (Some(left), Some(right)) = (column("left_id"), column("right_id")) {
            let (left_source, right_source) = (column("left_source"), column("right_source"));
            let left = Named { source: left_source, of: None, id: left };
            let right = Named { source: right_source, of: None, id: right };
            return Ok(Self::Pair { left, right, label });
        }
        let id = column("id").or_else(|| column("record"));
        if let Some(id) = id {
            let group = match by {
                Some(name) => column(name).ok_or_else(|| format!("the truth has no column `{name}`"))?,
                None => [names.kind.name(), "cluster", "group"]
                    .into_iter()
                    .find_map(column)
                    .or_else(|| columns.last().cloned())
                    .unwrap_or_default(),
            };
            return Ok(Self::Group { named: Named { source: column("source"), of: None, id }, group });
        }
        let others: Vec<&String> =
            columns.iter().filter(|known| Some(*known) != label.as_ref() && !known.is_empty()).collect();
        match others.as_slice() {
            [left, right] if by.is_none() => Ok(Self::Pair { left: named(left), right: named(right), label }),
            _ => Err(format!(
                "the truth begins with `{}`; expected `id` (and `source`) and a column for groups, or \
                 `left_source`, `left_id`, `right_source`, `right_id`, or two columns of records, and \
                 perhaps `same`",
                columns.join(",")
            )),
        }
    }
}

/// Finds things by what tables call their records.
struct Names<'a> {
    entities: &'a Entities,
    kind: Kind,
    /// What is looked for in a record.
    wanted: Kind,
    sources: FxHashSet<&'a str>,
    /// The record of each id, if it is of one alone.
    by_id: FxHashMap<&'a str, Option<u32>>,
}

impl<'a> Names<'a> {
    fn new(entities: &'a Entities, kind: Kind) -> Self {
        let mut by_id: FxHashMap<&str, Option<u32>> = FxHashMap::default();
        for (record, (_, id)) in (0_u32..).zip(&entities.records) {
            by_id.entry(id).and_modify(|known| *known = None).or_insert(Some(record));
        }
        let sources = entities.records.iter().map(|(source, _)| &**source).collect();
        let wanted = if kind == Kind::Hub { Kind::Work } else { kind };
        Self { entities, kind, wanted, sources, by_id }
    }

    /// The source that a column is called after: `id_acm`, `idACM`, `acm_id`, `acm`.
    fn source_in(&self, column: &str) -> Option<String> {
        let column = column.to_ascii_lowercase();
        // The whole name first: a source may be called `madrid`.
        let bare = [Some(&*column), column.strip_prefix("id"), column.strip_suffix("id")];
        let mut bare = bare.into_iter().flatten().map(|name| name.trim_matches(['_', '-', '.', ' ']));
        bare.find_map(|name| self.sources.iter().find(|source| source.eq_ignore_ascii_case(name)))
            .map(|source| (*source).to_owned())
    }

    fn find(&self, named: &Named, row: &Record) -> Option<Number> {
        let id = cell(row, &named.id);
        let source = named.source.as_deref().map(|column| cell(row, column)).or(named.of.as_deref());
        if let Some(source) = source {
            return self.thing(source, id);
        }
        let whole = id.split_once('/').and_then(|(source, id)| self.thing(source, id));
        whole.or_else(|| {
            let record = (*self.by_id.get(id)?)?;
            let mut things = self.entities.of_record(record);
            things.find(|number| self.entities.kind(*number) == self.wanted)
        })
    }

    /// What a record is about, or the thing in it whose node stands at the end: `ID#creator-3f0c…`.
    fn thing(&self, source: &str, id: &str) -> Option<Number> {
        self.entities.find(source, id, None, self.wanted).or_else(|| {
            let (id, node) = id.rsplit_once('#')?;
            self.entities.find(source, id, Some(&format!("#{node}")), self.wanted)
        })
    }
}
