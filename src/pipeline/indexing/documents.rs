//! From the statements around an entry to a document of the index.
//!
//! Which statement gives which field is said in `mappings/reverse/index.tsv`. What the table cannot
//! say is here: a record's source and id from its name, a year from a date, and from the archive when
//! the first of an entry's records came.

use super::around::Around;
use super::near::Near;
use crate::archive::Archive;
use crate::concordance::Concordances;
use crate::index::{Document, Kind, Named};
use crate::pipeline::PipelineError;
use crate::publish::RecordGraph;
use crate::publish::ways::{Said, Ways};
use crate::record::percent_decode;
use oxrdf::{NamedNode, Triple};
use rustc_hash::FxHashMap;

/// Makes documents.
pub(super) struct Documents<'a> {
    around: Around<'a>,
    near: Near,
    archive: &'a Archive,
    ways: Ways,
    /// When each run started, in seconds since 1970.
    runs: FxHashMap<u64, i64>,
}

impl<'a> Documents<'a> {
    pub fn new(
        around: Around<'a>,
        archive: &'a Archive,
        concordances: &Concordances,
    ) -> Result<Self, PipelineError> {
        let seconds = |time: &str| time.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second);
        let runs = archive.runs()?;
        let runs = runs.iter().filter_map(|(number, run)| Some((*number, seconds(&run.started)?))).collect();
        Ok(Self { around, near: Near::default(), archive, ways: Ways::read(concordances, "index"), runs })
    }

    /// The document of an entry or record; none if it is gone.
    pub fn document(&self, iri: &NamedNode) -> Result<Option<Document>, PipelineError> {
        let triples = self.around.read(iri, &self.near)?;
        if triples.is_empty() {
            return Ok(None);
        }
        let (mut document, members) = document(iri, triples, &self.around, &self.ways);
        let mut first_seen: Option<i64> = None;
        for (source, id) in members {
            if let Some(seen) = self.first_seen(&source, &id)? {
                first_seen = Some(first_seen.map_or(seen, |known| known.min(seen)));
            }
            if matches!(document.kind, Kind::Instance | Kind::Record) {
                document.identifiers.push(id);
            }
            if !document.sources.contains(&source) {
                document.sources.push(source);
            }
        }
        document.first_seen = first_seen.unwrap_or_default();
        Ok(Some(document))
    }

    /// When the first version of a record came.
    fn first_seen(&self, source: &str, id: &str) -> Result<Option<i64>, PipelineError> {
        let first = self.archive.version(source, id, 1)?;
        Ok(first.and_then(|version| self.runs.get(&version.run).copied()))
    }
}

/// What the statements around an entry or record say, and the records behind it by source and id.
pub fn document(
    iri: &NamedNode,
    triples: Vec<Triple>,
    around: &Around<'_>,
    ways: &Ways,
) -> (Document, Vec<(String, String)>) {
    let graph = RecordGraph::around(iri.as_str(), triples);
    let records = around.graphs.records();
    let kind = around.kind(iri.as_str()).and_then(|kind| Kind::named(kind.name())).unwrap_or(Kind::Record);
    let mut document = Document { iri: iri.as_str().to_owned(), kind, ..Document::default() };
    // A record is the one behind itself.
    let mut members: Vec<(String, String)> = record_of(iri.as_str(), &records).into_iter().collect();
    for Said { field, text, iri, .. } in ways.said(iri.as_str(), &graph) {
        match field.as_str() {
            "label" if document.label.is_empty() => document.label = text,
            "title" => document.titles.push(text),
            "contributor" => add_named(&mut document.contributors, Named { label: text, iri }),
            "subject" => add_named(&mut document.subjects, Named { label: text, iri }),
            "contributor-variant" => document.other_names.push(text),
            "subject-variant" => document.notes.push(text),
            "identifier" => document.identifiers.push(text),
            "note" => document.notes.push(text),
            "type" => document.content_types.push(text),
            "language" => document.languages.push(text),
            "year" => document.years.extend(year(&text)),
            "member" => members.extend(record_of(&text, &records)),
            _ => {}
        }
    }
    if document.label.is_empty() {
        let last = iri.as_str().rsplit('/').next().unwrap_or_default();
        document.label = document.titles.first().cloned().unwrap_or_else(|| percent_decode(last));
    }
    document.years.sort_unstable();
    document.years.dedup();
    members.sort_unstable();
    members.dedup();
    (document, members)
}

/// A name without an entry is left out where an entry of that name is there.
fn add_named(all: &mut Vec<Named>, named: Named) {
    if named.iri.is_some() || !all.iter().any(|known| known.label == named.label) {
        all.push(named);
    }
}

/// Source and id of the record that a node belongs to.
fn record_of(node: &str, records: &str) -> Option<(String, String)> {
    let record = node.strip_prefix(records)?.split('#').next()?;
    let (source, id) = record.split_once('/')?;
    Some((percent_decode(source), percent_decode(id)))
}

/// The first year of a date: that of EDTF and ISO 8601, else the first four digits that stand alone.
fn year(date: &str) -> Option<i32> {
    let date = date.trim();
    if let Some(before) = date.strip_prefix('-') {
        return before
            .get(..4)
            .filter(|year| is_year(year))
            .and_then(|year| year.parse::<i32>().ok())
            .map(|year| -year);
    }
    let mut digits = date.split(|c: char| !c.is_ascii_digit());
    digits.find(|run| is_year(run)).and_then(|year| year.parse().ok())
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_are_found_in_dates_of_all_sorts() {
        for (date, expected) in [
            ("1869", Some(1869)),
            ("c2003", Some(2003)),
            ("[1966-1972]", Some(1966)),
            ("-0043", Some(-43)),
            ("2003-05-01T00:00:00Z", Some(2003)),
            ("19991231", None),
            ("n.d.", None),
            ("-", None),
            ("-é043", None),
        ] {
            assert_eq!(year(date), expected, "{date}");
        }
    }

    #[test]
    fn a_member_tells_source_and_id() {
        let records = "https://c.example/record/";
        let found = record_of("https://c.example/record/loc/a%2Fb#instance", records);
        assert_eq!(found, Some(("loc".to_owned(), "a/b".to_owned())));
        assert_eq!(record_of("https://c.example/work/1", records), None);
    }
}
