//! Which rule and field made each statement of a record: found by mapping it again, since mapping
//! is pure.

use super::session::decode_entry;
use super::{PipelineError, Session};
use crate::concordance::run::{Touch, View, WHOLE};
use crate::concordance::selector::Tag;
use crate::concordance::turtle;
use crate::map;
use oxrdf::Triple;
use rustc_hash::FxHashSet;
use std::fmt::Write;

/// One statement and what made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The statement in short Turtle.
    pub statement: String,
    /// The same in N-Triples, with whole IRIs.
    pub triple: String,
    /// `245`, `LDR`, or `record` for rules over the whole record.
    pub field: String,
    /// Which of its kind, from 1.
    pub occurrence: usize,
    /// `$a $b`, `/35-37`; empty for a constant.
    pub subfields: String,
    /// The field as it stands in the record.
    pub given: String,
    /// The rule's name, or what else made the statement.
    pub rule: String,
    pub file: Option<String>,
    pub line: usize,
}

/// Explains the current version of a record; `None` when there is none.
pub fn explain(session: &Session, source: &str, id: &str) -> Result<Option<Vec<Origin>>, PipelineError> {
    let Some(state) = session.archive.record(source, id)? else { return Ok(None) };
    let Some(version) = state.current().filter(|version| !version.withdrawn) else { return Ok(None) };
    let Some(entry) = session.archive.entry(version.sequence)? else { return Ok(None) };
    let Some(record) = decode_entry(&entry) else { return Ok(None) };
    let context = session.context(&entry);
    let name = session.home.graphs.record(source, id);
    let view = View::new(&record);
    let outcome = map::run(&record, &view, &context, &name);
    let rules = session.concordances().rules_for(record.model, source);
    let mut origins = Vec::new();
    for fire in &outcome.fires {
        let Some(rule) = rules.get(fire.rule) else { continue };
        let (mut field, occurrence) = map::place(&view, fire.field);
        let of_leader = rule.selector.alternatives.iter().any(|alternative| alternative.tag == Tag::Leader);
        if fire.field.is_none() && of_leader {
            field = "LDR";
        }
        let mut given = field.to_owned();
        if field == "LDR" {
            given.push(' ');
            given.push_str(view.leader);
        }
        if let Some(field) = fire.field.and_then(|index| record.fields().nth(index)) {
            given.push(' ');
            crate::record::write_field(field, &mut given);
        }
        for made in outcome.made(fire) {
            let Some(triple) = outcome.triples.get(made.triple as usize) else { continue };
            origins.push(Origin {
                statement: short(triple, name.as_str()),
                triple: triple.to_string(),
                field: field.to_owned(),
                occurrence,
                subfields: show_reads(&view, fire.field, outcome.reads(made)),
                given: given.clone(),
                rule: rule.name.clone(),
                file: Some(format!("mappings/{}.toml", rule.file)),
                line: rule.line,
            });
        }
    }
    let mapped = map::map(&record, &context);
    let made: FxHashSet<&Triple> = outcome.triples.iter().collect();
    for triple in mapped.triples.iter().filter(|triple| !made.contains(triple)) {
        let is_fallback = triple.predicate.as_str().contains("unmapped")
            || triple.subject.to_string().contains("#unmapped-");
        let rule = if record.model == crate::record::Model::Rdf {
            "the record's own statement, or a query's"
        } else if is_fallback {
            "kept as it is: no rule carries it"
        } else {
            "every record has it"
        };
        if triple.predicate.as_ref() == crate::ontology::pin::TRACE {
            continue;
        }
        origins.push(Origin {
            statement: short(triple, name.as_str()),
            triple: triple.to_string(),
            field: "record".to_owned(),
            occurrence: 1,
            subfields: String::new(),
            given: "record".to_owned(),
            rule: rule.to_owned(),
            file: None,
            line: 0,
        });
    }
    Ok(Some(origins))
}

fn short(triple: &Triple, record: &str) -> String {
    turtle::write(std::slice::from_ref(triple), record).trim_end().trim_end_matches(" .").to_owned()
}

/// `$a $b`, `/35-37`, `240 $a` for a value of another field.
fn show_reads(view: &View<'_>, field: Option<usize>, reads: &[Touch]) -> String {
    let mut out = String::new();
    for touch in reads {
        let mut part = String::new();
        let home = view
            .fields
            .iter()
            .position(|field| field.item == touch.item || field.subs.contains(&(touch.item as usize)));
        if !view.leader.is_empty() && touch.item == view.leader_item {
            part.push_str("LDR");
        } else if home != field
            && let Some(field) = home.and_then(|home| view.fields.get(home))
        {
            part.push_str(field.tag);
        }
        match view.subs.get(touch.item as usize) {
            Some(sub) => {
                let blank = if part.is_empty() { "" } else { " " };
                let _ = write!(part, "{blank}${}", sub.code);
            }
            None if touch.positions != WHOLE && touch.positions != 0 => {
                let (from, to) = (touch.positions.trailing_zeros(), 63 - touch.positions.leading_zeros());
                let _ =
                    if from == to { write!(part, "/{from:02}") } else { write!(part, "/{from:02}-{to:02}") };
            }
            None if part.is_empty() => part.push_str("text"),
            None => {}
        }
        if !out.split(", ").any(|known| known == part) {
            if !out.is_empty() {
                out.push_str(", ");
            }
            out.push_str(&part);
        }
    }
    out
}
