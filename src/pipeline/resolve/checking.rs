//! The texts that records are resolved by, for whoever lists, prints or checks them.
//!
//! Where there is no catalogue the shipped ones are in force.

use super::ResolveError;
use super::texts::{Asked, Folders, Role, Text, in_force};
use super::understanding::understand;
use crate::diagnostic::{Diagnostic, Lines};
use std::path::Path;

/// A text in force, with what is wrong with it.
#[derive(Debug, Clone)]
pub struct ResolveText {
    /// `resolve/words`, `resolve/instance/features`
    pub name: String,
    /// Its place below the catalogue's folder: `mappings/resolve/words.toml`.
    pub path: String,
    /// The file it was read from, where it is the user's own.
    pub own: Option<String>,
    /// What it is, in a word or two.
    pub what: &'static str,
    pub text: String,
    pub diagnostics: Vec<Diagnostic>,
}

/// A file that somebody typed, to be looked at as it would stand among the others.
#[derive(Debug, Clone)]
pub struct TypedText {
    path: String,
    role: Role,
    file: String,
}

impl TypedText {
    /// `None` for what is, by its place, no text that records are resolved by.
    pub fn of(file: &Path) -> Option<Self> {
        let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let parts: Vec<String> =
            whole.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        let below = parts.get(parts.iter().rposition(|part| part == "resolve").map_or(0, |at| at + 1)..)?;
        let mut below: Vec<&str> = below.iter().map(String::as_str).collect();
        // A copy made elsewhere is known by its name, unless it is a rule file.
        if let [.., name] = below.as_slice()
            && ["words.toml", "instance.toml", "work.toml", "agent.toml"].contains(name)
            && !std::fs::read_to_string(&whole).unwrap_or_default().contains("[concordance]")
        {
            let is_weights = below.len() > 1 && below[below.len() - 2] == "weights";
            below = if is_weights { vec!["weights", name] } else { vec![name] };
        }
        let asked = |name: &str| Asked::ALL.into_iter().find(|asked| asked.name() == name);
        let role = match below.as_slice() {
            ["words.toml"] => Role::Words,
            ["weights", "instance.toml"] => Role::Weights("instance"),
            ["weights", "work.toml"] => Role::Weights("work"),
            ["weights", "agent.toml"] => Role::Weights("agent"),
            ["instance.toml" | "work.toml" | "agent.toml"] => Role::Profile,
            ["entries.tsv"] => Role::Entries,
            ["levels.tsv"] => Role::Levels,
            [name, "features.rq"] => Role::Features(asked(name)?),
            [name, "keys", query] if query.ends_with(".rq") => Role::Keys(asked(name)?),
            _ => return None,
        };
        let folder = if matches!(role, Role::Features(_) | Role::Keys(_)) { "queries" } else { "mappings" };
        let path = format!("{folder}/resolve/{}", below.join("/"));
        Some(Self { path, role, file: file.display().to_string() })
    }

    /// Where it counts, below the catalogue's folder.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether it is the text of this name.
    pub fn is(&self, text: &ResolveText) -> bool {
        self.path == text.path
    }
}

/// The texts in force, those that were typed in the place of others of their names.
pub fn resolve_texts(
    catalogue: Option<&Path>,
    mappings: Option<&Path>,
    typed: &[TypedText],
) -> Result<Vec<ResolveText>, ResolveError> {
    let mut texts = in_force(Folders { catalogue, mappings })?;
    for TypedText { path, role, file } in typed {
        let text = std::fs::read_to_string(file)
            .map_err(|error| ResolveError::Text(format!("cannot read `{file}`: {error}")))?;
        let text = Text { role: *role, path: path.clone(), place: file.clone(), text, is_shipped: false };
        match texts.iter_mut().find(|known| known.path == *path) {
            Some(known) => *known = text,
            None => texts.push(text),
        }
    }
    let (_, problems) = understand(&texts);
    let checked = texts.into_iter().zip(problems).map(|(text, problems)| {
        let lines = Lines::of(&text.text);
        let diagnostics = problems.iter().map(|problem| problem.diagnostic(&text.place, &lines)).collect();
        ResolveText {
            name: text.name().to_owned(),
            own: (!text.is_shipped).then(|| text.place.clone()),
            what: what(text.role),
            diagnostics,
            path: text.path,
            text: text.text,
        }
    });
    Ok(checked.collect())
}

fn what(role: Role) -> &'static str {
    match role {
        Role::Words => "word lists",
        Role::Weights(_) => "weights",
        Role::Profile => "profile",
        Role::Entries => "list of entries",
        Role::Levels => "list of levels",
        Role::Features(_) | Role::Keys(_) => "query",
    }
}
