//! `pinakes resolve report`

use super::super::progress::Progress;
use super::super::{Done, General, output};
use super::Profile;
use pinakes::diagnostic::render::printable;
use pinakes::pipeline::{self, Session, Sketch, Survey, SurveyRequest, SurveyedEntry, SurveyedMerge};

/// Say what the merges rest on, and which of them to look at first
///
/// How many merges there are and how sure they are; what weighed most in them; those with the least
/// evidence; entries of many members; and entries whose members contradict each other, those with most
/// contradictions first. A merge is a pair that holds an entry together, so an entry of five members has
/// four. Nothing is changed: `never` and `split` take apart what is wrong, `sample` draws merges to be
/// judged.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes resolve report
  pinakes resolve report --profile agent --most 5
  pinakes resolve report --json")]
pub(super) struct Report {
    /// What is reported on; `work` reports on hubs, which works make up
    #[arg(long, value_enum, value_name = "PROFILE", default_value_t = Profile::Instance)]
    profile: Profile,
    /// Upper bound on each list
    #[arg(long, value_name = "N", default_value_t = 20)]
    most: usize,
    /// List entries with more members than this
    #[arg(long, value_name = "N", default_value_t = 10)]
    large: usize,
}

impl Report {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let mut progress = Progress::new(general);
        let session = Session::write(general.home()?, &mut progress)?;
        let request = SurveyRequest { kind: self.profile.kind(), most: self.most, large: self.large };
        let found = pipeline::survey(&session, &request, &mut progress)?;
        if general.json {
            output::json(&found)?;
            return Ok(Done::Well);
        }
        if found.waiting > 0 {
            let waiting = output::count(found.waiting, "record");
            output::say(general, &format!("{waiting} changed since the last `pinakes resolve`"));
        }
        show(&found, &self)?;
        Ok(Done::Well)
    }
}

fn show(found: &Survey, asked: &Report) -> anyhow::Result<()> {
    output::line(&format!(
        "{} {} entries, {} of more than one description, held together by {}",
        output::number(found.entries),
        found.kind.name(),
        output::number(found.merged),
        output::count(found.merges, "merge")
    ))?;
    let elsewhere = found.merges.saturating_sub(found.compared);
    if elsewhere > 0 {
        output::line(&format!(
            "{} of them follow from decisions or from what was found elsewhere",
            output::number(elsewhere)
        ))?;
    }
    if found.compared == 0 {
        return Ok(());
    }
    output::line("\nhow sure they are")?;
    for (least, count) in &found.by_probability {
        output::line(&format!("{:>9}  with a probability of {least} or more", output::number(*count)))?;
    }
    output::line("\nwhat weighed most")?;
    for (ground, count) in &found.grounds {
        output::line(&format!("{:>9}  {ground}", output::number(*count)))?;
    }
    output::line("\nthe weakest merges")?;
    found.weakest.iter().try_for_each(weak)?;
    if !found.large.is_empty() {
        output::line(&format!("\nentries of more than {} members", asked.large))?;
        found.large.iter().try_for_each(entry)?;
    }
    if !found.suspicious.is_empty() {
        output::line("\nentries whose members contradict each other")?;
        found.suspicious.iter().try_for_each(entry)?;
    }
    Ok(())
}

fn weak(merge: &SurveyedMerge) -> anyhow::Result<()> {
    output::line(&format!("  {:.3}  {}  {}", merge.probability, merge.left, merge.right))?;
    for is in [&merge.left_is, &merge.right_is] {
        output::line(&format!("         {}", described(is)))?;
    }
    Ok(())
}

fn entry(entry: &SurveyedEntry) -> anyhow::Result<()> {
    let members = output::count(entry.members as u64, "member");
    output::line(&format!("  {}  {members}  {}", entry.iri, described(&entry.is)))?;
    for found in &entry.contradictions {
        let said = |values: &[String]| printable(&values.join(" | "));
        let (left, right) = (said(&found.left), said(&found.right));
        let [one, other] = &found.members;
        output::line(&format!("      {}: {left} ({one}), {right} ({other})", found.comparison))?;
    }
    Ok(())
}

/// A thing in one line.
fn described(is: &Sketch) -> String {
    let all = [&is.title, &is.author, &is.year, &is.work];
    let said: Vec<&str> = all.into_iter().flatten().map(String::as_str).collect();
    printable(&said.join("; "))
}
