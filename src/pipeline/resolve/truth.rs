//! What is known to be true of records: a table that people made.
//!
//! Comma- or tab-separated, with a header. Either every row names a record and its group (`source`,
//! `id`, and a column that names the group), or every row names two records (`left_source`,
//! `left_id`, `right_source`, `right_id`) and, in `same`, whether they are one.

use super::entities::{Entities, Number};
use super::entity::Kind;
use super::{PipelineError, ResolveError};
use rustc_hash::FxHashMap;

/// What is true, by numbers of things.
pub(super) enum Truth {
    Groups(FxHashMap<Number, u32>),
    Pairs(Vec<(Number, Number, bool)>),
}

impl Truth {
    /// Reads a table of things of one kind; says how many rows speak of records that are not there.
    /// Without a `column` groups are named by that of the kind, or `cluster`, or the last one.
    pub fn read(
        text: &str,
        kind: Kind,
        by: Option<&str>,
        entities: &Entities,
    ) -> Result<(Self, u64), PipelineError> {
        let fault = |message: String| PipelineError::from(ResolveError::Unknown(message));
        let mut lines = text.lines().map(|line| line.trim_end_matches('\r')).filter(|line| !line.is_empty());
        let header = lines.next().ok_or_else(|| fault("the truth is empty".to_owned()))?;
        let header = header.trim_start_matches('\u{feff}');
        let mark = if header.contains('\t') { '\t' } else { ',' };
        let names: Vec<&str> = header.split(mark).map(|name| name.trim().trim_matches('"')).collect();
        let column = |name: &str| names.iter().position(|known| known.eq_ignore_ascii_case(name));
        let of_kind = match kind {
            Kind::Hub => Kind::Work,
            kind => kind,
        };
        let find = |source: &str, id: &str| entities.find(source, id, None, of_kind);
        let cells = |line: &str| -> Vec<String> {
            line.split(mark).map(|cell| cell.trim().trim_matches('"').to_owned()).collect()
        };
        let mut unknown = 0;
        if let (Some(a), Some(b), Some(c), Some(d)) =
            (column("left_source"), column("left_id"), column("right_source"), column("right_id"))
        {
            let same = column("same");
            let mut pairs = Vec::new();
            for line in lines {
                let cells = cells(line);
                let cell = |at: usize| cells.get(at).map(String::as_str).unwrap_or_default();
                let label = same.is_none_or(|same| matches!(cell(same), "1" | "true" | "yes" | "same"));
                match (find(cell(a), cell(b)), find(cell(c), cell(d))) {
                    (Some(left), Some(right)) => pairs.push((left, right, label)),
                    _ => unknown += 1,
                }
            }
            return Ok((Self::Pairs(pairs), unknown));
        }
        let (Some(source), Some(id)) = (column("source"), column("id")) else {
            let expected = "expected `source`, `id` and a column for groups, or `left_source`, `left_id`, `right_source`, `right_id`";
            return Err(fault(format!("the truth begins with `{header}`; {expected}")));
        };
        let wanted = match by {
            Some(name) => column(name).ok_or_else(|| fault(format!("the truth has no column `{name}`")))?,
            None => column(kind.name())
                .or_else(|| column("cluster"))
                .or_else(|| column("group"))
                .unwrap_or(names.len().saturating_sub(1)),
        };
        let mut groups: FxHashMap<String, u32> = FxHashMap::default();
        let mut of: FxHashMap<Number, u32> = FxHashMap::default();
        for line in lines {
            let cells = cells(line);
            let cell = |at: usize| cells.get(at).map(String::as_str).unwrap_or_default();
            let group = cell(wanted);
            if group == "-" || group.is_empty() {
                continue;
            }
            let next = groups.len() as u32;
            let group = *groups.entry(group.to_owned()).or_insert(next);
            match find(cell(source), cell(id)) {
                Some(number) => {
                    of.insert(number, group);
                }
                None => unknown += 1,
            }
        }
        Ok((Self::Groups(of), unknown))
    }

    /// Every two things of which is known whether they are one. Of groups, those within one.
    pub fn pairs(&self) -> Vec<(Number, Number, bool)> {
        match self {
            Self::Pairs(pairs) => pairs.clone(),
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
