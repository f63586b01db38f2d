//! People's decisions, from what was typed to what the master says.

use super::cache::Cache;
use super::decisions::{self, Act, Decision, Named, Numbered};
use super::entity::Kind;
use super::explaining::{explain_things, not_alike, profile_of};
use super::finding::{Finder, Thing};
use super::refusing::{self, KeptApart};
use super::reviewing::Reviewed;
use super::{PipelineError, ResolveError, ResolveRequest, Resolved};
use crate::pipeline::{Session, Watch};

/// What somebody wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    Join(String, String),
    Never(String, String),
    /// An entry and the member to take out.
    Split(String, String),
    Undo(u64),
    /// A pair of the list for review, by its id.
    Accept(String),
    Reject(String),
}

/// Who wants it, when and why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wishing {
    pub by: String,
    pub note: String,
    pub time: String,
}

/// What came of it.
#[derive(Debug, serde::Serialize)]
pub struct Decided {
    pub decision: u64,
    pub act: &'static str,
    /// What it is about; of an undo, what the decision that it takes back was about.
    pub named: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<Undone>,
    /// Who was with one of two that were joined, and cannot be with both.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<LeftBehind>,
    #[serde(flatten)]
    pub resolved: Resolved,
}

/// A member that does not follow into the entry of two that were joined.
#[derive(Debug, serde::Serialize)]
pub struct LeftBehind {
    pub member: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_apart: Option<KeptApart>,
}

/// A decision that was taken back.
#[derive(Debug, serde::Serialize)]
pub struct Undone {
    pub decision: u64,
    pub act: &'static str,
}

/// Archives a decision and lets the master follow.
pub fn decide(
    session: &mut Session,
    wish: &Wish,
    wishing: &Wishing,
    watch: &mut dyn Watch,
) -> Result<Decided, PipelineError> {
    let (number, decision) = take_down(session, wish, wishing)?;
    let before = with_joined(session, &decision)?;
    let request = ResolveRequest { time: wishing.time.clone(), ..ResolveRequest::default() };
    let resolved = super::resolve(session, &request, watch)?;
    let names = |decision: &Decision| -> Vec<String> {
        match decision.act {
            Act::Undo { decision } => vec![format!("decision {decision}")],
            _ => decision.named().into_iter().map(ToString::to_string).collect(),
        }
    };
    let (mut named, mut undoes) = (names(&decision), None);
    if let Act::Undo { decision: undone } = &decision.act
        && let Some(one) = decisions::decisions(session)?.iter().find(|one| one.number == *undone)
    {
        named = names(&one.decision);
        undoes = Some(Undone { decision: *undone, act: one.decision.act.name() });
    }
    let left_behind = left_behind(session, &before)?;
    Ok(Decided { decision: number, act: decision.act.name(), named, undoes, left_behind, resolved })
}

/// The members of the entries of two that are joined, the two first.
fn with_joined(session: &Session, decision: &Decision) -> Result<Vec<Thing>, PipelineError> {
    let Act::Join { left, right } = &decision.act else { return Ok(Vec::new()) };
    let Some(cache) = Cache::open_read_only(&session.home)? else { return Ok(Vec::new()) };
    let finder = Finder { session, cache: &cache };
    let mut all = vec![finder.thing(&left.to_string())?, finder.thing(&right.to_string())?];
    for at in 0..2 {
        let members = finder.members(finder.entry_of(&all[at])?)?;
        all.extend(members.into_iter().filter(|member| member.named != *left && member.named != *right));
    }
    Ok(all)
}

/// Those of them that are not in the entry of the first now, and what keeps them apart.
fn left_behind(session: &Session, before: &[Thing]) -> Result<Vec<LeftBehind>, PipelineError> {
    let ([first, second, ..], Some(cache)) = (before, Cache::open_read_only(&session.home)?) else {
        return Ok(Vec::new());
    };
    let finder = Finder { session, cache: &cache };
    let entry = finder.entry_of(first)?;
    if finder.entry_of(second)? != entry {
        return Ok(Vec::new());
    }
    let decided = decisions::decisions(session)?;
    let refused = refusing::listed(&cache, first.kind)?.unwrap_or_default();
    let here = finder.members(entry)?;
    let mut left = Vec::new();
    for member in &before[2..] {
        let own = finder.entry_of(member)?;
        if own != entry {
            let members = [here.clone(), finder.members(own)?];
            let refusal = refusing::between(&refused, &members);
            let kept_apart = refusal.map(|refusal| refusal.kept_apart(&decided));
            left.push(LeftBehind { member: member.named.to_string(), kept_apart });
        }
    }
    Ok(left)
}

/// Archives a decision; the next run follows it. Gives its number.
pub fn take_down(
    session: &mut Session,
    wish: &Wish,
    wishing: &Wishing,
) -> Result<(u64, Decision), PipelineError> {
    let decision = understand(session, wish, wishing)?;
    let number = decisions::archive(session, &decision)?;
    Ok((number, decision))
}

fn understand(session: &Session, wish: &Wish, wishing: &Wishing) -> Result<Decision, PipelineError> {
    // Two records can be decided about before anything was resolved.
    let cache = match Cache::open_read_only(&session.home)? {
        Some(cache) => cache,
        None => Cache::open(&session.home)?,
    };
    let finder = Finder { session, cache: &cache };
    let pair = |left: &str, right: &str| -> Result<(Thing, Thing), PipelineError> {
        let (left, right) = (finder.thing(left)?, finder.thing(right)?);
        if left.kind != right.kind {
            return Err(not_alike(left.kind, right.kind).into());
        }
        if left == right {
            return Err(ResolveError::Unknown("both names stand for one record".to_owned()).into());
        }
        Ok((left, right))
    };
    let reviewed = |id: &str| -> Result<(Thing, Thing), PipelineError> {
        let known = super::reviewing::listed(&cache)?;
        let Some(Reviewed { left, right, .. }) = known.into_iter().find(|pair| pair.id == id) else {
            let message = format!("no pair `{id}` waits for review; `pinakes resolve review` lists them");
            return Err(ResolveError::Unknown(message).into());
        };
        pair(&left.to_string(), &right.to_string())
    };
    let of_pair = |act: fn(Named, Named) -> Act, (left, right): (Thing, Thing)| {
        (act(left.named.clone(), right.named.clone()), left.kind, Some((left, right)))
    };
    let joined = |two| of_pair(|left, right| Act::Join { left, right }, two);
    let forbidden = |two| of_pair(|left, right| Act::Never { left, right }, two);
    let (act, kind, compared) = match wish {
        Wish::Join(left, right) => joined(pair(left, right)?),
        Wish::Accept(id) => joined(reviewed(id)?),
        Wish::Never(left, right) => forbidden(pair(left, right)?),
        Wish::Reject(id) => forbidden(reviewed(id)?),
        Wish::Split(entry, member) => {
            let key = finder.entry(entry)?;
            let members = finder.members(key)?;
            let wanted = finder.thing(member)?;
            let (taken, rest): (Vec<Thing>, Vec<Thing>) =
                members.into_iter().partition(|one| one.named == wanted.named);
            let Some(taken) = taken.into_iter().next() else {
                let message = format!(
                    "`{member}` is no member of `{entry}`; `pinakes resolve show {entry}` names them"
                );
                return Err(ResolveError::Unknown(message).into());
            };
            if rest.is_empty() {
                return Err(ResolveError::Unknown(format!("`{member}` is alone in `{entry}` already")).into());
            }
            let from: Vec<Named> = rest.into_iter().map(|one| one.named).collect();
            (Act::Split { member: taken.named, from }, key.0, None)
        }
        Wish::Undo(number) => {
            let known = decisions::decisions(session)?;
            let one = known.iter().find(|one| one.number == *number).ok_or_else(|| {
                ResolveError::Unknown(format!(
                    "there is no decision {number}; `pinakes resolve decisions` lists them"
                ))
            })?;
            if one.undone {
                return Err(ResolveError::Unknown(format!("decision {number} is undone already")).into());
            }
            let Numbered { decision, .. } = one;
            (Act::Undo { decision: *number }, decision.kind(), None)
        }
    };
    let is_compared = matches!(kind, Kind::Instance | Kind::Work | Kind::Agent);
    if !is_compared && !matches!(act, Act::Undo { .. }) {
        let hint = match kind {
            Kind::Hub => "hubs follow their works: name two of these (`SOURCE/ID#work`)",
            Kind::Item => "items are never merged",
            _ => "subjects and places follow headings and authority files",
        };
        let message = format!("nothing can be decided about {}; {hint}", kind.with_article());
        return Err(ResolveError::Unknown(message).into());
    }
    let mut decision = Decision {
        act,
        kind: kind.name().to_owned(),
        by: wishing.by.clone(),
        time: wishing.time.clone(),
        note: wishing.note.clone(),
        score: None,
        evidence: String::new(),
        rules: String::new(),
    };
    if let Some((left, right)) = compared {
        let texts = super::texts_of(session)?;
        if let Ok((_, profile)) = profile_of(&texts, kind)
            && let Ok(explanation) = explain_things(session, &texts, &cache, &left, &right)
        {
            decision.score = Some(explanation.probability);
            decision.rules = profile.hash.to_string();
            let said = explanation.comparisons.iter().filter(|one| one.level != "missing");
            let lines: Vec<String> =
                said.map(|one| format!("{} {} {:+.1}", one.name, one.level, one.bits)).collect();
            decision.evidence = lines.join("\n");
        }
    }
    Ok(decision)
}
