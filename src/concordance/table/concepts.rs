//! What people call a path, and where in the table it stands: `ontologies/concepts.tsv`.
//!
//! A line with a section names a root (`item`) or a first property (`bf:title`), and sections
//! come in the order of the file. A line with a label names a path; rows with a label come
//! first, in the order of the file. A path without a class stands for any. Where a path has the
//! class `[*]`, it has a row for each class, and other paths through the same property have one
//! row for all classes but those that are named.

use std::collections::{BTreeMap, BTreeSet};

const FILE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/ontologies/concepts.tsv"));
/// Where what no line names is put.
const OTHER: &str = "Other";

#[derive(Debug, Default)]
pub(super) struct Concepts {
    sections: Vec<&'static str>,
    by_start: BTreeMap<&'static str, usize>,
    labels: BTreeMap<&'static str, (usize, &'static str)>,
    folded: BTreeSet<&'static str>,
}

impl Concepts {
    pub(super) fn shipped() -> Self {
        let mut concepts = Self::default();
        for (rank, line) in FILE.lines().enumerate().skip(1) {
            let mut cells = line.split('\t').map(str::trim);
            let [path, label, section] = [(); 3].map(|()| cells.next().unwrap_or_default());
            if !section.is_empty() {
                let known = concepts.sections.iter().position(|known| *known == section);
                let place = known.unwrap_or_else(|| {
                    concepts.sections.push(section);
                    concepts.sections.len() - 1
                });
                concepts.by_start.insert(path, place);
            }
            if let Some((start, _)) = path.split_once(" [*]") {
                concepts.folded.insert(start);
            }
            if !label.is_empty() {
                concepts.labels.insert(path, (rank, label));
            }
        }
        concepts
    }

    /// What a path is called, and its place among those that have a name.
    pub(super) fn label(&self, path: &str) -> Option<(usize, &'static str)> {
        self.labels.get(path).copied()
    }

    /// Whether kinds are told apart only where a line asks for it.
    pub(super) fn folds(&self, root: &str, properties: &[String]) -> bool {
        let first = properties.first().map_or("", String::as_str);
        self.folded.contains(format!("{root} {first}").as_str())
    }

    /// The number of the section of a path.
    pub(super) fn section(&self, root: &str, properties: &[String]) -> usize {
        let first = properties.first().map_or("", String::as_str);
        // `authority record` belongs with what is said of `authority`.
        let kind = root.split(' ').next().unwrap_or_default();
        let found = self.by_start.get(kind).or_else(|| self.by_start.get(first));
        found.copied().unwrap_or(self.sections.len())
    }

    pub(super) fn name(&self, section: usize) -> &'static str {
        self.sections.get(section).copied().unwrap_or(OTHER)
    }
}
