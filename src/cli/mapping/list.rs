//! `pinakes mapping list` and `show`

use super::super::{Done, General, output};
use anyhow::bail;
use pinakes::concordance::{Kind, Origin};
use pinakes::pipeline::ResolveText;
use serde_json::json;

/// List rule files, code lists and queries
///
/// The texts that records are resolved by come after them.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes mapping list")]
pub(super) struct List {}

impl List {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let set = super::in_force(general)?;
        let mut rows = Vec::new();
        for loaded in set.files() {
            let source = &loaded.source;
            let rules = loaded.file.as_ref().map_or(0, |file| file.rules.len());
            let examples = loaded
                .file
                .as_ref()
                .map_or(0, |file| file.rules.iter().map(|rule| rule.examples.len()).sum());
            rows.push((source, rules, examples, loaded.file.as_ref().map_or("", |file| file.about.as_str())));
        }
        let texts = super::resolve_texts(&[], general)?;
        if general.json {
            let mut rows: Vec<_> = rows
                .iter()
                .map(|(source, rules, examples, about)| {
                    json!({
                        "name": source.name(), "kind": kind(source.kind()), "origin": origin(&source.origin),
                        "rules": rules, "examples": examples, "about": about,
                    })
                })
                .collect();
            rows.extend(texts.iter().map(|text| {
                let origin =
                    text.own.as_ref().map_or_else(|| json!("shipped"), |file| json!({ "own": file }));
                json!({ "name": text.name, "kind": text.what, "origin": origin })
            }));
            output::json(&rows)?;
            return Ok(Done::Well);
        }
        for (source, rules, examples, about) in rows {
            let what = match source.kind() {
                Kind::Rules => {
                    format!(
                        "{}, {}",
                        output::count(rules as u64, "rule"),
                        output::count(examples as u64, "example")
                    )
                }
                Kind::Codes => "code list".to_owned(),
                Kind::Query => "query".to_owned(),
            };
            let loaded = match source.origin {
                Origin::Shipped => String::new(),
                Origin::Loaded(version) => format!("  (loaded, version {version})"),
            };
            let about = if about.is_empty() { String::new() } else { format!("  {about}") };
            output::line(&format!("{:<44} {what:<24}{about}{loaded}", source.name()))?;
        }
        for text in &texts {
            let own = text.own.as_ref().map_or_else(String::new, |file| format!("  ({file})"));
            output::line(format!("{:<44} {:<24}{own}", text.name, text.what).trim_end())?;
        }
        Ok(Done::Well)
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Rules => "rules",
        Kind::Codes => "codes",
        Kind::Query => "query",
    }
}

fn origin(origin: &Origin) -> serde_json::Value {
    match origin {
        Origin::Shipped => json!("shipped"),
        Origin::Loaded(version) => json!({ "loaded": version }),
    }
}

/// Print a rule file, code list or query as it is in force
///
/// Or one of the texts that records are resolved by: a profile, its words, a query.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes mapping show marc21/20x-24x-titles
  pinakes mapping show codes/relators > relators.tsv
  pinakes mapping show resolve/words")]
pub(super) struct Show {
    /// Its name, as `pinakes mapping list` shows it
    name: String,
}

impl Show {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let set = super::in_force(general)?;
        let name = self.name.trim_start_matches("mappings/");
        let found =
            set.files().iter().rfind(|loaded| loaded.source.name() == name || loaded.source.path == name);
        if let Some(loaded) = found {
            output::line(loaded.source.text.trim_end())?;
            return Ok(Done::Well);
        }
        let is_meant = |text: &&ResolveText| {
            let below = text.path.split_once('/').map_or(text.path.as_str(), |(_, below)| below);
            [text.name.as_str(), text.path.as_str(), below].contains(&name)
        };
        let texts = super::resolve_texts(&[], general)?;
        let Some(text) = texts.iter().find(is_meant) else {
            bail!("there is no `{name}`; `pinakes mapping list` names what there is");
        };
        if let (Some(file), true) = (&text.own, text.text.trim().is_empty()) {
            bail!("`{file}` is empty, perhaps by printing into it; without it the shipped text is in force");
        }
        output::line(text.text.trim_end())?;
        Ok(Done::Well)
    }
}
