//! `pinakes resolve review`

use super::super::progress::Progress;
use super::super::{Done, General, now, output};
use super::Profile;
use super::decide::decide;
use pinakes::diagnostic::render::printable;
use pinakes::pipeline::{self, Queue, Session, Sketch, Waiting, Wish, Wishing};
use std::collections::BTreeSet;
use std::io::{BufRead, IsTerminal, Write};

/// Look at pairs that are too alike to be left alone and not alike enough to be merged
///
/// The likeliest come first, each with what both records say of themselves, and why it is uncertain:
/// its probability lies between the two bands of the profile, or the two belong to entries that
/// something keeps apart. On a terminal each is shown and asked about; elsewhere they are listed, and
/// `--accept` and `--reject` decide about one of them by its id. A decision is kept in the archive and
/// counts in every run.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes resolve review --list
  pinakes resolve review --json
  pinakes resolve review --limit 5 --list
  pinakes resolve review --limit 0 --profile agent --list")]
pub(super) struct Review {
    /// These two are one: the pair's id
    #[arg(long, value_name = "PAIR", conflicts_with = "reject")]
    accept: Option<String>,
    /// These two are never one: the pair's id
    #[arg(long, value_name = "PAIR")]
    reject: Option<String>,
    /// List the pairs and ask nothing
    #[arg(long)]
    list: bool,
    /// Show no more than this; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Pairs of this profile
    #[arg(long, value_enum, value_name = "PROFILE", default_value_t = Profile::Instance)]
    profile: Profile,
    /// Why, for whoever reads it later
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
    /// Who decides
    #[arg(long, env = "USER", value_name = "NAME", default_value = "", hide_env_values = true)]
    by: String,
}

impl Review {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let wishing = Wishing { by: self.by.clone(), note: self.note.clone(), time: now() };
        if let Some(id) = &self.accept {
            return decide(general, &Wish::Accept(id.clone()), &wishing);
        }
        if let Some(id) = &self.reject {
            return decide(general, &Wish::Reject(id.clone()), &wishing);
        }
        let Queue { pairs, more } = self.queue(general)?;
        let asks = !self.list && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if general.json {
            output::json(&pairs)?;
            return Ok(Done::Well);
        }
        if pairs.is_empty() {
            output::line("nothing waits for review")?;
            return Ok(Done::Well);
        }
        if asks {
            return self.ask_about(pairs, &wishing, general);
        }
        pairs.iter().try_for_each(show)?;
        if more > 0 {
            let more = output::count(more as u64, "more pair");
            output::say(general, &format!("{more}; `--limit 0` shows all"));
        }
        Ok(Done::Well)
    }

    /// Asks about one pair after the other. A decision may settle others, so what waits is looked up
    /// again after each.
    fn ask_about(
        &self,
        mut pairs: Vec<Waiting>,
        wishing: &Wishing,
        general: &General,
    ) -> anyhow::Result<Done> {
        let mut done = Done::Well;
        let mut asked = BTreeSet::new();
        while let Some(waiting) = pairs.iter().find(|waiting| !asked.contains(&waiting.pair.id)) {
            show(waiting)?;
            let id = waiting.pair.id.clone();
            asked.insert(id.clone());
            let answer = if waiting.pair.gone { Answer::Skip } else { ask()? };
            let wish = match answer {
                Answer::Accept => Wish::Accept(id),
                Answer::Reject => Wish::Reject(id),
                Answer::Skip => continue,
                Answer::Quit => break,
            };
            done = done.and(decide(general, &wish, wishing)?);
            pairs = self.queue(general)?.pairs;
        }
        Ok(done)
    }

    fn queue(&self, general: &General) -> anyhow::Result<Queue> {
        let session = Session::read(general.home()?, &mut Progress::new(general))?;
        let most = (self.limit > 0).then_some(self.limit);
        Ok(pipeline::review(&session, self.profile.kind(), most)?)
    }
}

fn show(waiting: &Waiting) -> anyhow::Result<()> {
    let pair = &waiting.pair;
    let gone = if pair.gone { "  (one of them is gone; the next run forgets the pair)" } else { "" };
    output::line(&format!("{}  {:.3}  {}  {}{gone}", pair.id, pair.probability, pair.left, pair.right))?;
    let why = match &waiting.kept_apart {
        Some(reason) => format!("likely enough to be merged, but {reason}"),
        None if pair.probability >= waiting.merged_from => {
            "likely enough to be merged, but their entries are kept apart".to_owned()
        }
        None => format!(
            "uncertain: merged from {} on, left alone below {}",
            waiting.merged_from, waiting.listed_from
        ),
    };
    for line in [&said(&waiting.left_is), &said(&waiting.right_is), &why, &pair.levels.replace('\n', ", ")] {
        output::line(&format!("              {}", printable(line)))?;
    }
    Ok(())
}

/// What a record says of itself, in a line.
fn said(sketch: &Sketch) -> String {
    let Sketch { title, author, year, work } = sketch;
    let parts: Vec<&str> = [title, author, year, work].into_iter().flatten().map(String::as_str).collect();
    if parts.is_empty() { "-".to_owned() } else { parts.join(" / ") }
}

enum Answer {
    Accept,
    Reject,
    Skip,
    Quit,
}

fn ask() -> anyhow::Result<Answer> {
    loop {
        write!(std::io::stdout(), "one? [y]es, [n]ever, [s]kip, [q]uit: ")?;
        std::io::stdout().flush()?;
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(Answer::Quit);
        }
        match line.trim() {
            "y" | "yes" => return Ok(Answer::Accept),
            "n" | "never" | "no" => return Ok(Answer::Reject),
            "s" | "skip" | "" => return Ok(Answer::Skip),
            "q" | "quit" => return Ok(Answer::Quit),
            _ => {}
        }
    }
}
