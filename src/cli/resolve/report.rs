//! What a run came to, for people and for programs.

use super::super::{Done, General, output};
use pinakes::pipeline::{Kind, Resolved};
use std::collections::BTreeMap;

type Counts = BTreeMap<&'static str, u64>;

pub(super) fn resolved(general: &General, resolved: &Resolved, only: Option<Kind>) -> anyhow::Result<Done> {
    let done = if resolved.contradicted.is_empty() { Done::Well } else { Done::WithDataErrors };
    let is_wanted = |kind: Kind| only.is_none_or(|only| only == profile(kind));
    if general.json {
        let mut resolved = resolved.clone();
        let wanted: Vec<&str> =
            Kind::ALL.into_iter().filter(|kind| is_wanted(*kind)).map(Kind::name).collect();
        let is_named = |name: &&'static str| wanted.contains(name);
        resolved.entries.retain(|name, _| is_named(name));
        resolved.merged.retain(|name, _| is_named(name));
        resolved.compared.retain(|name, _| is_named(name));
        resolved.blocking.retain(|name, _| is_named(name));
        resolved.crowded.retain(|name, _| is_named(name));
        output::json(&resolved)?;
        return Ok(done);
    }
    let count = |counts: &Counts, kind: &str| counts.get(kind).copied().unwrap_or(0);
    output::line(&format!(
        "{}: {} read anew, {} gone",
        output::count(resolved.read.records, "record"),
        output::number(resolved.read.read),
        output::number(resolved.read.gone)
    ))?;
    for kind in Kind::ALL.into_iter().filter(|kind| is_wanted(*kind)) {
        let all = count(&resolved.entries, kind.name());
        if all > 0 {
            let merged = output::number(count(&resolved.merged, kind.name()));
            let compared = resolved.compared.get(kind.name());
            let compared = compared
                .map(|pairs| format!(", {} compared", output::count(*pairs, "pair")))
                .unwrap_or_default();
            output::line(&format!(
                "{:<9} {:>9}, {merged} of more than one description{compared}",
                kind.name(),
                output::number(all)
            ))?;
        }
    }
    if let Some(agents) = resolved.agents.as_ref().filter(|agents| agents.entries > 0) {
        output::line(&format!(
            "{} looked for: {} found, {} compared where {} would be without stopping",
            output::count(agents.entries, "new record"),
            output::number(agents.found),
            output::count(agents.compared, "pair"),
            output::number(agents.without_stop)
        ))?;
        for (set, told) in agents.sets.iter().filter(|(_, told)| told.entries > 0) {
            let shards: Vec<String> = told.shards.iter().map(|size| output::number(*size as u64)).collect();
            output::line(&format!(
                "  {set}: {}, shards of {}, {} looked for",
                output::count(u64::from(told.agents), "cleaning agent"),
                shards.join(" "),
                output::number(told.entries)
            ))?;
        }
    }
    let verb = if resolved.dry_run { "would be written" } else { "written" };
    output::line(&format!(
        "{verb}: {} new, {} changed, {} removed",
        output::number(resolved.new),
        output::number(resolved.changed),
        output::number(resolved.removed)
    ))?;
    let is_first = resolved.changed == 0 && resolved.removed == 0;
    if !is_first && !resolved.because.is_empty() {
        output::line(&format!("because {}", resolved.because.join("; ")))?;
    }
    if resolved.sources.len() > 1 {
        overlap(resolved)?;
    }
    if resolved.review > 0 {
        let pairs = output::count(resolved.review, "pair");
        output::say(general, &format!("{pairs} for a person to look at: `pinakes resolve review`"));
    }
    let crowded = resolved.crowded.iter();
    let crowded = crowded.filter(|(name, _)| only.is_none_or(|only| only.name() == **name));
    for (feature, values) in crowded.flat_map(|(_, crowded)| crowded) {
        let some: Vec<&str> = values.iter().take(3).map(|value| &**value).collect();
        let more = if values.len() > some.len() { " …" } else { "" };
        let some = some.join(", ");
        let what = format!("too many records have the same {feature} for it to prove anything: {some}{more}");
        output::say(general, &what);
    }
    for number in &resolved.contradicted {
        output::say(
            general,
            &format!(
                "decision {number} cannot be followed: another one forbids it; `pinakes resolve undo` takes one of them back"
            ),
        );
    }
    Ok(done)
}

/// The kind whose profile decides about entries of a kind: hubs are made of works.
fn profile(kind: Kind) -> Kind {
    if kind == Kind::Hub { Kind::Work } else { kind }
}

/// How many entries two sources share.
fn overlap(resolved: &Resolved) -> anyhow::Result<()> {
    /// Sources shown; more make no table that anybody can read.
    const MOST: usize = 12;
    let sources: Vec<&String> = resolved.sources.keys().take(MOST).collect();
    let width = sources.iter().map(|source| source.chars().count()).max().unwrap_or(0).max(9);
    let mut header = format!("{:<width$}  {:>9}  {:>9}  {:>9}", "source", "records", "entries", "only here");
    for source in &sources {
        header.push_str(&format!("  {source:>9}"));
    }
    output::line("")?;
    output::line(&header)?;
    for source in &sources {
        let Some(counts) = resolved.sources.get(*source) else { continue };
        let mut line = format!(
            "{source:<width$}  {:>9}  {:>9}  {:>9}",
            output::number(counts.records),
            output::number(counts.entries),
            output::number(counts.only_here)
        );
        for other in &sources {
            let shared = counts.shared.get(*other).copied().unwrap_or(0);
            let cell = if other == source { "-".to_owned() } else { output::number(shared) };
            line.push_str(&format!("  {cell:>width$}", width = other.chars().count().max(9)));
        }
        output::line(&line)?;
    }
    Ok(())
}
