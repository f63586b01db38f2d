//! `pinakes resolve join`, `never`, `split`, `undo` and `decisions`

use super::super::progress::Progress;
use super::super::{Done, General, now, output};
use pinakes::pipeline::{self, Act, Decided, LeftBehind, Session, Wish, Wishing};

/// What every decision takes.
#[derive(clap::Args)]
pub(super) struct Reasons {
    /// Why, for whoever reads it later
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
    /// Who decides
    #[arg(long, env = "USER", value_name = "NAME", default_value = "", hide_env_values = true)]
    by: String,
}

impl Reasons {
    fn wishing(&self) -> Wishing {
        Wishing { by: self.by.clone(), note: self.note.clone(), time: now() }
    }
}

/// What a decision about two records takes.
#[derive(clap::Args)]
struct Two {
    /// A record as SOURCE/ID, or its IRI; an entry stands for its member if there is one only
    #[arg(value_name = "A")]
    left: String,
    /// The other
    #[arg(value_name = "B")]
    right: String,
    #[command(flatten)]
    reasons: Reasons,
}

/// Make one entry of two records
///
/// The decision is kept in the archive and counts in every run, whatever the comparison says.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes resolve join loc/lib0041 spreadsheet/B-018 --note 'same copy in hand'")]
pub(super) struct Join {
    #[command(flatten)]
    two: Two,
}

/// Keep two records apart for good
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes resolve never loc/lib0015 loc/lib0016 --note 'revised edition'")]
pub(super) struct Never {
    #[command(flatten)]
    two: Two,
}

/// Take one member out of an entry
///
/// Afterwards the catalogue is as if that member had never been merged; whatever else happened since
/// then stays. `undo` puts it back.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes resolve split loc/lib0011 spreadsheet/B-004")]
pub(super) struct Split {
    /// The entry's IRI, or a record in it
    #[arg(value_name = "IRI")]
    entry: String,
    /// The member to take out, as SOURCE/ID
    #[arg(value_name = "MEMBER")]
    member: String,
    #[command(flatten)]
    reasons: Reasons,
}

/// Take a decision back
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes resolve undo 1")]
pub(super) struct Undo {
    /// Its number, as `decisions` lists it
    #[arg(value_name = "DECISION")]
    decision: u64,
    #[command(flatten)]
    reasons: Reasons,
}

impl Join {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        decide(general, &Wish::Join(self.two.left, self.two.right), &self.two.reasons.wishing())
    }
}

impl Never {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        decide(general, &Wish::Never(self.two.left, self.two.right), &self.two.reasons.wishing())
    }
}

impl Split {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        decide(general, &Wish::Split(self.entry, self.member), &self.reasons.wishing())
    }
}

impl Undo {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        decide(general, &Wish::Undo(self.decision), &self.reasons.wishing())
    }
}

pub(super) fn decide(general: &General, wish: &Wish, wishing: &Wishing) -> anyhow::Result<Done> {
    let mut progress = Progress::new(general);
    let mut session = Session::write(general.home()?, &mut progress)?;
    let decided = pipeline::decide(&mut session, wish, wishing, &mut progress)?;
    report(general, &decided)
}

fn report(general: &General, decided: &Decided) -> anyhow::Result<Done> {
    if general.json {
        output::json(decided)?;
    } else {
        let Decided { decision, act, named, undoes, left_behind, resolved } = decided;
        let named = named.join(" ");
        let about = match undoes {
            Some(undone) => format!("decision {} ({} {named})", undone.decision, undone.act),
            None => named,
        };
        output::line(&format!("decision {decision}: {act} {about}"))?;
        output::line(&format!(
            "entries: {} new, {} changed, {} removed",
            output::number(resolved.new),
            output::number(resolved.changed),
            output::number(resolved.removed)
        ))?;
        for LeftBehind { member, kept_apart } in left_behind {
            let why = kept_apart.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            output::say(general, &format!("{member} is in another entry now{why}"));
        }
        for (number, _) in resolved.replaced.iter().filter(|(_, later)| later == decision) {
            let why = "this one says the opposite of the same records";
            output::say(general, &format!("decision {number} does not count any more: {why}"));
        }
        for number in &resolved.contradicted {
            output::say(general, &format!("decision {number} cannot be followed: another one forbids it"));
        }
    }
    Ok(if decided.resolved.contradicted.is_empty() { Done::Well } else { Done::WithDataErrors })
}

/// List what people decided
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes resolve decisions
  pinakes resolve decisions --json")]
pub(super) struct Decisions {}

impl Decisions {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let session = Session::read(general.home()?, &mut Progress::new(general))?;
        let all = pipeline::decisions(&session)?;
        if general.json {
            output::json(&all)?;
            return Ok(Done::Well);
        }
        if all.is_empty() {
            output::line("nothing was decided yet")?;
        }
        for one in &all {
            let named: Vec<String> = match &one.decision.act {
                Act::Undo { decision } => vec![decision.to_string()],
                _ => one.decision.named().into_iter().map(ToString::to_string).collect(),
            };
            let undone = if one.undone { "  (undone)" } else { "" };
            let note =
                if one.decision.note.is_empty() { String::new() } else { format!("  {}", one.decision.note) };
            output::line(&format!(
                "{:>4}  {:<6} {}{note}{undone}",
                one.number,
                one.decision.act.name(),
                named.join(" ")
            ))?;
        }
        Ok(Done::Well)
    }
}
