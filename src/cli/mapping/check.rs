//! `pinakes mapping check`

use super::super::{Done, General, output};
use pinakes::concordance::Concordances;
use pinakes::diagnostic::{Diagnostic, Severity};
use pinakes::pipeline::TypedText;
use std::path::PathBuf;

/// Find everything that is wrong with rule files
///
/// Checks rule files, code lists (.tsv) and queries (.rq) as they would stand among the shipped
/// ones: syntax, terms against the vocabularies, variables, functions, code lists, tags against
/// the standard, rules that can never fire or say the same twice, missing examples and those that
/// cannot be read. Checks also the texts that records are resolved by: the profiles and words of
/// `mappings/resolve/`, the queries of `queries/resolve/`. Without a FILE everything in force is
/// checked. Examples are not run (`mapping test` does), and nothing is loaded.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes mapping check
  pinakes mapping check my-rules.toml
  pinakes mapping check mappings/resolve/words.toml

Exit status: 0 nothing is wrong; 1 something is; 2 could not run")]
pub(super) struct Check {
    /// Files to check
    files: Vec<PathBuf>,
}

impl Check {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let is_everything = self.files.is_empty();
        let (mut typed, mut own) = (Vec::new(), Vec::new());
        for file in self.files {
            match TypedText::of(&file) {
                Some(text) => typed.push(text),
                None => own.push(file),
            }
        }
        let (mut errors, mut warnings, mut files, mut rules) = (0, 0, 0, 0);
        let mut say = |diagnostic: &Diagnostic| {
            match diagnostic.severity() {
                Severity::Error => errors += 1,
                _ => warnings += 1,
            }
            output::diagnostic(general, diagnostic);
        };
        // Nothing is read of rules when other files alone were typed.
        let (set, paths) = match is_everything || !own.is_empty() {
            true => super::with_files(&own, general)?,
            false => (Concordances::new(Vec::new()), Vec::new()),
        };
        for loaded in set.files() {
            let index = super::index_of(loaded, &paths);
            if !is_everything && index.is_none() {
                continue;
            }
            files += 1;
            rules += loaded.file.as_ref().map_or(0, |file| file.rules.len());
            // A user knows the file by the path typed.
            let file = index.and_then(|index| own.get(index));
            for mut diagnostic in loaded.diagnostics() {
                if let Some(file) = file {
                    diagnostic.place.origin = Some(file.display().to_string());
                }
                say(&diagnostic);
            }
        }
        let texts = super::resolve_texts(&typed, general)?;
        for text in texts.iter().filter(|text| is_everything || typed.iter().any(|typed| typed.is(text))) {
            files += 1;
            text.diagnostics.iter().for_each(&mut say);
        }
        if general.json {
            output::json(&serde_json::json!({
                "files": files, "rules": rules, "errors": errors, "warnings": warnings
            }))?;
        } else {
            output::line(&format!(
                "{}, {}: {}, {}",
                output::count(files, "file"),
                output::count(rules as u64, "rule"),
                output::count(errors, "error"),
                output::count(warnings, "warning")
            ))?;
        }
        Ok(if errors + warnings > 0 { Done::WithDataErrors } else { Done::Well })
    }
}
