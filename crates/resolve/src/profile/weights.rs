//! What agreement and disagreement are worth before a catalogue was counted: weights as a file.
//!
//! ```toml
//! profile = "instance"
//! scale   = 0.8                 # what dependence between features takes from all evidence
//!
//! [shares]                      # of the pairs that are compared and not forbidden
//! same    = 0.2
//! edition = 0.3
//!
//! [chances.year]                # by level: of "same" first, then of the rivals in the order of the profile
//! same      = [0.93, 0.05]
//! different = [0.07, 0.95]
//! ```
//!
//! The shipped files were learned from labelled sets (`scripts/train-weights`). Learning from a catalogue
//! starts from them and does not go far. So they are checked: a file by which agreement speaks against a
//! merge, or by which chances add up to something else than one, is refused with its lines.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Deserialize;
use toml::Spanned;

use super::reading::line_of;
use super::{Problem, Profile};

/// How far chances of one hypothesis may be from adding up to one: they are rounded when written.
const ROUNDED: f64 = 0.02;

/// The chances of one feature: by level, a number for each hypothesis.
type Chances = BTreeMap<String, Spanned<Vec<f64>>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    profile: Spanned<String>,
    scale: Spanned<f64>,
    shares: Spanned<BTreeMap<String, f64>>,
    #[serde(default)]
    chances: BTreeMap<String, Spanned<Chances>>,
}

impl Profile {
    /// "same" and the rivals.
    pub(crate) fn hypotheses(&self) -> impl Iterator<Item = &str> {
        std::iter::once("same").chain(self.rivals.iter().map(|rival| &**rival))
    }

    /// Takes the weights of a file. Chances that the profile itself names stay.
    pub fn weigh(&mut self, text: &str) -> Result<(), Vec<Problem>> {
        let raw: Raw = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            vec![Problem { line, message: error.message().trim().to_owned() }]
        })?;
        let mut checking = Checking { text, problems: Vec::new() };
        if **raw.profile.get_ref() != *self.name {
            let message = format!(
                "these are weights of the profile `{}`, and not of `{}`",
                raw.profile.get_ref(),
                self.name
            );
            checking.problem(raw.profile.span().start, message);
        }
        self.scale = *raw.scale.get_ref();
        if !(self.scale > 0.0 && self.scale <= 2.0) {
            checking.problem(raw.scale.span().start, "`scale` must be more than 0 and at most 2".into());
        }
        self.take_shares(&raw.shares, &mut checking);
        for (name, levels) in &raw.chances {
            self.take_chances(name, levels, &mut checking);
        }
        for compare in &self.compare {
            let is_known = compare.has_chances || raw.chances.contains_key(&*compare.name);
            if !is_known {
                let name = &compare.name;
                checking.problem(
                    0,
                    format!("no chances of `{name}`, which the profile compares: add `[chances.{name}]`"),
                );
            }
        }
        checking.problems.sort_by_key(|problem| problem.line);
        if checking.problems.is_empty() { Ok(()) } else { Err(checking.problems) }
    }

    fn take_shares(&mut self, shares: &Spanned<BTreeMap<String, f64>>, checking: &mut Checking<'_>) {
        let (place, shares) = (shares.span().start, shares.get_ref());
        let hypotheses: Vec<&str> = self.hypotheses().collect();
        let missing = hypotheses.iter().filter(|name| !shares.contains_key(**name));
        for name in missing {
            checking.problem(place, format!("no share of `{name}`"));
        }
        for name in shares.keys().filter(|name| !hypotheses.contains(&name.as_str())) {
            checking.problem(place, format!("`{name}` is neither `same` nor a rival of the profile"));
        }
        let is_share = |share: &f64| *share > 0.0 && *share < 1.0;
        if !shares.values().all(is_share) || (shares.values().sum::<f64>() - 1.0).abs() > ROUNDED {
            checking.problem(place, "shares must lie between 0 and 1 and add up to 1".into());
        }
        self.shares = hypotheses.iter().map(|name| shares.get(*name).copied().unwrap_or(0.5)).collect();
    }

    fn take_chances(&mut self, name: &str, levels: &Spanned<Chances>, checking: &mut Checking<'_>) {
        let classes = self.rivals.len() + 1;
        let place = levels.span().start;
        let Some(compare) = self.compare.iter_mut().find(|compare| *compare.name == *name) else {
            return checking.problem(place, format!("the profile has no comparison `{name}`"));
        };
        if compare.has_chances {
            return;
        }
        let before = checking.problems.len();
        for (level, chances) in levels.get_ref() {
            let (at, values) = (chances.span().start, chances.get_ref());
            if !compare.levels.iter().any(|known| *known.name == **level) {
                checking.problem(at, format!("`{name}` has no level `{level}`"));
            } else if values.len() != classes {
                let found = values.len();
                checking.problem(
                    at,
                    format!("`{level}` has {found} of the {classes} chances for \"same\" and the rivals"),
                );
            } else if !values.iter().all(|chance| *chance > 0.0 && *chance < 1.0) {
                checking.problem(at, format!("the chances of `{level}` must lie between 0 and 1"));
            }
        }
        for level in &compare.levels {
            if !levels.get_ref().contains_key(&*level.name) {
                checking.problem(place, format!("no chances of the level `{}` of `{name}`", level.name));
            }
        }
        if checking.problems.len() > before {
            return;
        }
        for level in &mut compare.levels {
            level.chances = levels.get_ref()[&*level.name].get_ref().clone();
        }
        if let Err(message) = compare.check() {
            checking.problem(place, message);
        }
        compare.normalize();
    }

    /// The weights in force as a file. `about` are lines of comment for its head.
    pub fn weights_text(&self, about: &[String]) -> String {
        let mut out = String::new();
        let key = |name: &str| match name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
            true => name.to_owned(),
            false => toml::Value::from(name).to_string(),
        };
        // Writing to a string does not fail.
        for line in about {
            let _ = writeln!(out, "# {line}");
        }
        let _ = writeln!(out, "profile = \"{}\"\nscale   = {:.3}\n\n[shares]", self.name, self.scale);
        for (name, share) in self.hypotheses().zip(&self.shares) {
            let _ = writeln!(out, "{} = {share:.4}", key(name));
        }
        for compare in &self.compare {
            let width = compare.levels.iter().map(|level| level.name.len()).max().unwrap_or(0);
            let _ = writeln!(out, "\n[chances.{}]", key(&compare.name));
            for level in &compare.levels {
                let chances: Vec<String> =
                    level.chances.iter().map(|chance| format!("{chance:.5}")).collect();
                let _ = writeln!(out, "{:<width$} = [{}]", key(&level.name), chances.join(", "));
            }
        }
        out
    }
}

impl super::Compare {
    /// Whether the chances can be meant: those of a hypothesis add up to one, and agreement speaks for
    /// "same" more than disagreement does.
    pub(crate) fn check(&self) -> Result<(), String> {
        let name = &self.name;
        let classes = self.levels.first().map_or(0, |level| level.chances.len());
        for class in 0..classes {
            let sum: f64 = self.levels.iter().map(|level| level.chances[class]).sum();
            if (sum - 1.0).abs() > ROUNDED {
                return Err(format!("column {} of `{name}` adds up to {sum:.2}, and not to 1", class + 1));
            }
        }
        if let ([best, .., worst], true) = (self.levels.as_slice(), classes > 1) {
            let odds = |level: &super::Level| {
                let others: f64 = level.chances.iter().skip(1).sum();
                level.chances[0] / others
            };
            if odds(best) <= odds(worst) {
                return Err(format!(
                    "by these chances `{}` of `{name}` speaks for a merge less than `{}` does",
                    best.name, worst.name
                ));
            }
        }
        Ok(())
    }

    pub(crate) fn normalize(&mut self) {
        let classes = self.levels.first().map_or(0, |level| level.chances.len());
        for class in 0..classes {
            let sum: f64 = self.levels.iter().map(|level| level.chances[class]).sum();
            self.levels.iter_mut().for_each(|level| level.chances[class] /= sum);
        }
    }
}

struct Checking<'a> {
    text: &'a str,
    problems: Vec<Problem>,
}

impl Checking<'_> {
    fn problem(&mut self, at: usize, message: String) {
        self.problems.push(Problem { line: line_of(self.text, at), message });
    }
}
