//! Pairs of which people said whether they are one, to learn weights from.
//!
//! The table is archived as it came, one for each profile, and counts whenever weights are learned,
//! until another takes its place. An empty one forgets them.

use super::decisions::{Act, Decision, Named, Numbered, decisions};
use super::entities::{Entities, Number};
use super::entity::Kind;
use super::truth::Truth;
use super::{PipelineError, ResolveError};
use crate::archive::{Entry, Kind as Archived};
use crate::pipeline::Session;

/// Two things and whether they are one.
pub(super) type Label = (Number, Number, bool);

/// What is known, by profile.
#[derive(Default)]
pub(super) struct Labels {
    pub instance: Vec<Label>,
    pub work: Vec<Label>,
    pub agent: Vec<Label>,
}

/// Where labels come from.
#[derive(Debug, Clone)]
pub enum Labelling {
    /// A table of pairs or groups.
    Table(String),
    /// What people decided so far.
    Decisions,
    /// No labels any more.
    Nothing,
}

fn note(kind: Kind) -> String {
    format!("labels/{}", kind.name())
}

/// Keeps labels for a profile; gives how many pairs of records that are there they speak of.
pub fn keep_labels(
    session: &mut Session,
    kind: Kind,
    labelling: &Labelling,
    time: &str,
) -> Result<u64, PipelineError> {
    let text = match labelling {
        Labelling::Table(text) => text.clone(),
        Labelling::Decisions => of_decisions(&decisions(session)?, kind),
        Labelling::Nothing => String::new(),
    };
    let count = match text.is_empty() {
        true => 0,
        false => {
            let cache = super::cache::Cache::open(&session.home)?;
            let texts = super::texts_of(session)?;
            super::reading::refresh(session, &texts, &cache, &mut crate::pipeline::Unwatched)?;
            let (entities, _) = Entities::read(&cache)?;
            Truth::read(&text, kind, None, &entities)?.0.pairs().len() as u64
        }
    };
    if count == 0 && !matches!(labelling, Labelling::Nothing) {
        let message = match labelling {
            Labelling::Decisions => "nothing that counts was decided about two records; nothing was learned",
            _ => "the labels speak of no two records of this catalogue; nothing was learned",
        };
        return Err(ResolveError::Unknown(message.to_owned()).into());
    }
    let entry = Entry::new(Archived::Resolution, "", &note(kind), 0, time).with_payload(text.into_bytes());
    session.archive.append_note(&[entry])?;
    Ok(count)
}

/// The decisions in force, as a table of pairs.
fn of_decisions(decided: &[Numbered], kind: Kind) -> String {
    let mut table = String::from("left_source\tleft_id\tright_source\tright_id\tsame\n");
    let mut row = |left: &Named, right: &Named, same: bool| {
        let id = |named: &Named| format!("{}{}", named.id, named.node.as_deref().unwrap_or_default());
        let same = if same { "1" } else { "0" };
        let cells = [&*left.source, &id(left), &right.source, &id(right), same];
        table.push_str(&cells.join("\t"));
        table.push('\n');
    };
    let of_kind = |decision: &&Numbered| !decision.undone && decision.decision.kind() == kind;
    for Numbered { decision: Decision { act, .. }, .. } in decided.iter().filter(of_kind) {
        match act {
            Act::Join { left, right } => row(left, right, true),
            Act::Never { left, right } => row(left, right, false),
            Act::Split { member, from } => from.iter().for_each(|other| row(member, other, false)),
            Act::Undo { .. } => {}
        }
    }
    table
}

impl Labels {
    /// The labels in force.
    pub fn read(session: &Session, entities: &Entities) -> Result<Self, PipelineError> {
        let notes = session.archive.resolutions()?;
        let last = |kind: Kind| -> Result<Vec<Label>, PipelineError> {
            let wanted = note(kind);
            let Some((sequence, _)) = notes.iter().rev().find(|(_, what)| *what == wanted) else {
                return Ok(Vec::new());
            };
            let Some(entry) = session.archive.entry(*sequence)? else { return Ok(Vec::new()) };
            let text = String::from_utf8_lossy(&entry.payload);
            if text.is_empty() {
                return Ok(Vec::new());
            }
            Ok(Truth::read(&text, kind, None, entities)?.0.pairs())
        };
        Ok(Self { instance: last(Kind::Instance)?, work: last(Kind::Work)?, agent: last(Kind::Agent)? })
    }
}
