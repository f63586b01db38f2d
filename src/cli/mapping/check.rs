//! `pinakes mapping check`

use super::super::{Done, General, output};
use pinakes::diagnostic::Severity;
use std::path::PathBuf;

/// Find everything that is wrong with rule files
///
/// Checks rule files, code lists (.tsv) and queries (.rq) as they would stand among the shipped
/// ones: syntax, terms against the vocabularies, variables, functions, code lists, tags against
/// the standard, rules that can never fire or say the same twice, missing examples and those that
/// cannot be read. Without a FILE the rules in force are checked. Examples are not run (`mapping
/// test` does), and nothing is loaded.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes mapping check
  pinakes mapping check my-rules.toml

Exit status: 0 nothing is wrong; 1 something is; 2 could not run")]
pub(super) struct Check {
    /// Files to check
    files: Vec<PathBuf>,
}

impl Check {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let (set, paths) = super::with_files(&self.files, general)?;
        let (mut errors, mut warnings, mut files, mut rules) = (0, 0, 0, 0);
        for loaded in set.files() {
            let index = super::index_of(loaded, &paths);
            if !paths.is_empty() && index.is_none() {
                continue;
            }
            files += 1;
            rules += loaded.file.as_ref().map_or(0, |file| file.rules.len());
            // A user knows the file by the path typed.
            let typed = index.and_then(|index| self.files.get(index));
            for mut diagnostic in loaded.diagnostics() {
                if let Some(file) = typed {
                    diagnostic.place.origin = Some(file.display().to_string());
                }
                match diagnostic.severity() {
                    Severity::Error => errors += 1,
                    _ => warnings += 1,
                }
                output::diagnostic(general, &diagnostic);
            }
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
