//! `pinakes mapping test`

use super::super::{Done, General, output};
use pinakes::concordance::example::{self, Verdict};
use pinakes::concordance::program::Rule;
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::PathBuf;

/// Run the examples of rule files
///
/// Each `[[rule.example]]` gives fields and says what the rule makes of them. A difference is
/// shown as Turtle: `-` was expected, `+` was made. Without a FILE the shipped rules are tested.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes mapping test
  pinakes mapping test my-rules.toml

Exit status: 0 all pass; 1 some do not; 2 could not run")]
pub(super) struct Test {
    /// Files to test
    files: Vec<PathBuf>,
}

impl Test {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let (set, paths) = super::with_files(&self.files, general)?;
        let (mut passed, mut failed, mut refused) = (0_u64, 0_u64, 0_u64);
        for loaded in set.files() {
            let typed = super::index_of(loaded, &paths);
            if !paths.is_empty() && typed.is_none() {
                continue;
            }
            let shown = match typed.and_then(|index| self.files.get(index)) {
                Some(file) => file.display().to_string(),
                None => format!("mappings/{}", loaded.source.path),
            };
            let (Some(file), Some(model)) = (&loaded.file, loaded.file.as_ref().and_then(|file| file.model))
            else {
                continue;
            };
            let compiled: HashMap<usize, &Rule> =
                set.rules_of(loaded.source.name()).map(|rule| (rule.line, rule)).collect();
            for text in &file.rules {
                let Some(rule) = compiled.get(&text.line) else {
                    refused += 1;
                    output::line(&format!(
                        "{shown}:{}: `{}` has mistakes; `pinakes mapping check` shows them",
                        text.line, text.name.value
                    ))?;
                    continue;
                };
                let verdicts: Vec<Verdict> = text
                    .examples
                    .par_iter()
                    .map(|example| example::check(&set, model, rule, example))
                    .collect();
                for (example, verdict) in text.examples.iter().zip(verdicts) {
                    if verdict == Verdict::Passed {
                        passed += 1;
                        continue;
                    }
                    failed += 1;
                    output::line(&format!("{shown}:{}: `{}` fails", example.line, text.name.value))?;
                    for line in example.given.value.lines() {
                        output::line(&format!("    {line}"))?;
                    }
                    for line in verdict.lines() {
                        output::line(&format!("  {line}"))?;
                    }
                }
            }
        }
        if general.json {
            output::json(&serde_json::json!({ "passed": passed, "failed": failed, "refused": refused }))?;
        } else {
            output::line(&format!(
                "{} passed, {} failed",
                output::count(passed, "example"),
                output::number(failed)
            ))?;
        }
        Ok(if failed + refused > 0 { Done::WithDataErrors } else { Done::Well })
    }
}
