//! What a harvest brought.

use super::super::progress::Progress;
use super::super::{Done, General, output};
use anyhow::Context;
use pinakes::fetch::{Fetcher, Options};
use pinakes::pipeline::{self, Course, End, Harvested};
use pinakes::source::Source;
use serde_json::json;

pub fn show(general: &General, harvested: &[Harvested]) -> anyhow::Result<()> {
    if general.json {
        return output::json(&harvested);
    }
    for one in harvested {
        let summary = &one.summary;
        let mut said = format!("{}: {}", one.source, end(&one.end));
        said += &format!("; {}", output::count(summary.records, "record"));
        let parts = [
            (summary.new, "new"),
            (summary.changed, "changed"),
            (summary.unchanged, "unchanged"),
            (summary.withdrawn, "deleted"),
            (summary.duplicates, "doubled"),
            (summary.rejected, "rejected"),
            (summary.held_back, "missing and held back"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{} {what}", output::number(*count)))
            .collect();
        if !parts.is_empty() {
            said += &format!(": {}", parts.join(", "));
        }
        said +=
            &format!("; {} in {}", output::count(one.pages, "page"), output::count(one.requests, "request"));
        if one.retries > 0 {
            said += &format!(", {} of them again", output::number(one.retries));
        }
        output::line(&said)?;
    }
    Ok(())
}

pub fn end(end: &End) -> String {
    match end {
        End::Complete => "complete".to_owned(),
        End::Incomplete => "incomplete, the next harvest asks again".to_owned(),
        End::Stopped => "stopped, the next harvest goes on".to_owned(),
        End::Failed { resumable: true, reason } => format!("failed, the next harvest goes on ({reason})"),
        End::Failed { resumable: false, reason } => format!("failed ({reason})"),
    }
}

/// Asks each source how much there is.
pub fn rehearse(general: &General, courses: &[Course], files: &[&Source]) -> anyhow::Result<Done> {
    let fetcher = Fetcher::new(Options::default()).context("no connection can be made")?;
    let mut rows = Vec::new();
    let mut done = Done::Well;
    for course in courses {
        let home = general.home()?;
        let mut progress = Progress::new(general);
        match pipeline::rehearse(home, course, &fetcher, &super::super::now(), &mut progress)? {
            Ok(found) => {
                let said = match found.expected {
                    Some(count) => format!("about {}", output::count(count, "record")),
                    None if found.more => format!("more than {}", output::count(found.listed, "record")),
                    None => output::count(found.listed, "record"),
                };
                let since = found.from.as_deref().map(|from| format!(" since {from}")).unwrap_or_default();
                let line = format!("{}: would take {said}{since} as {}", course.source, found.prefix);
                rows.push((
                    json!({ "source": course.source, "expected": found.expected, "listed": found.listed,
                    "more": found.more, "from": found.from, "prefix": found.prefix }),
                    line,
                ));
            }
            Err(error) => {
                done = Done::WithDataErrors;
                let line = format!("{}: {error}", course.source);
                rows.push((json!({ "source": course.source, "error": error.to_string() }), line));
            }
        }
    }
    for source in files {
        let line = format!("{}: would read its files", source.key);
        rows.push((json!({ "source": source.key, "files": true }), line));
    }
    if general.json {
        output::json(&rows.into_iter().map(|(json, _)| json).collect::<Vec<_>>())?;
    } else {
        for (_, line) in rows {
            output::line(&line)?;
        }
    }
    Ok(done)
}
