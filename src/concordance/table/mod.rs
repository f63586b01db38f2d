//! The concordance as a table: a row for each thing that can be said, a column for each model,
//! so that MARC 21 245 $a stands beside UNIMARC 200 $a.
//!
//! The rows are not written by hand. Each triple of a rule's template whose object is a variable
//! gives a path (`instance bf:title [bf:Title] / bf:mainTitle`), and what the variable is read
//! from gives the cell; models meet in the path. [`rules`] looks at rules, [`queries`] at the
//! queries for RDF, [`concepts`] knows what people call a path.
//!
//! Spreadsheets, JSON, web pages and corpora are left out: their columns are what somebody
//! called them, and no model.

mod assume;
mod case;
mod concepts;
mod field;
mod pattern;
mod queries;
mod rules;

use super::set::Concordances;
use crate::record::Model;
use concepts::Concepts;
use field::Field;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What tells nodes below a root apart, the most telling first; these are part of a path and
/// have no row of their own.
const DISCRIMINATORS: [&str; 3] = ["bf:noteType", "bf:relationship", "rdf:type"];
/// What a record is about; never on the way to a value.
const DESCRIBES: &str = "pin:describes";
/// What a record of a person, body, topic or title is about.
const ENTITY: &str = "authority entity";
/// A node that may be more things than this is any of them.
const MOST_KINDS: usize = 60;
/// A cell shows no more than this.
const MOST_FIELDS: usize = 10;
/// A row names no more kinds than this.
const KINDS_NAMED: usize = 8;

const COLUMNS: [&str; 8] =
    ["MARC 21", "UNIMARC", "MODS", "Dublin Core", "BIBFRAME", "FRBR", "RDA", "schema.org"];
/// The column of a model.
const MODELS: [(Model, usize); 6] = [
    (Model::Marc21, 0),
    (Model::Marc21Authority, 0),
    (Model::Unimarc, 1),
    (Model::UnimarcAuthority, 1),
    (Model::Mods, 2),
    (Model::DublinCore, 3),
];
/// The column of the queries in a folder.
const FOLDERS: [(&str, usize); 5] =
    [("dublin-core", 3), ("bibframe", 4), ("frbr", 5), ("rda", 6), ("schema-org", 7)];
/// The column of the vocabulary we write in: its nodes are kept as they are.
const BIBFRAME: usize = 4;
/// Vocabularies of a BIBFRAME description.
const OF_BIBFRAME: [&str; 4] = ["bf:", "bflc:", "rdf:", "rdfs:"];

const INTRODUCTION: &str = "\
# The concordance, field by field

A row is something a description can say, a column the place where a model says it. The page is
generated from the rules: `pinakes mapping table > docs/concordance-table.md`.

- **Path**: where the value stands in the catalogue, from the record, item, instance, work or hub. In brackets
  the class of the node, the type of the note or the name of the relation, where there are several.
- MARC 21 and UNIMARC: tag, subfields, positions, as [concordances.md](concordances.md) writes selectors; `$*` is every subfield.
- RDF: the last predicates before the value. Statements of BIBFRAME sources that need no change are shown as they are.
- A place that a cell names may have to fulfil conditions that the table does not show; `pinakes mapping show` prints the rules.
";

/// From a root to a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Path {
    /// `instance`, `work`, `authority agent`
    root: String,
    /// What the node below the root is.
    kind: Option<String>,
    properties: Vec<String>,
}

/// The places of each model.
type Row = [BTreeSet<Field>; COLUMNS.len()];
/// The rows of a path by the kind of its node.
type Kinds = BTreeMap<Option<String>, Row>;

/// Everything found.
#[derive(Default)]
struct Cells {
    rows: BTreeMap<(String, Vec<String>), Kinds>,
    /// Paths to nodes that keep what the source says of them.
    passed: BTreeMap<(String, Vec<String>), (usize, BTreeSet<Field>)>,
    /// What stands in BIBFRAME below those nodes as it stands in the catalogue.
    carried: BTreeMap<(String, Vec<String>), BTreeSet<Field>>,
}

impl Cells {
    fn cell(&mut self, path: Path, column: usize) -> &mut BTreeSet<Field> {
        let row = self.rows.entry((path.root, path.properties)).or_default().entry(path.kind).or_default();
        // A column is always one of the eight.
        &mut row[column.min(COLUMNS.len() - 1)]
    }

    fn passed(&mut self, root: String, properties: Vec<String>, column: usize, fields: BTreeSet<Field>) {
        self.passed.entry((root, properties)).or_insert((column, BTreeSet::new())).1.extend(fields);
    }

    /// A node of unknown kind is the only kind there is; one passed on says what others say there.
    fn settle(&mut self) {
        for kinds in self.rows.values_mut() {
            if kinds.len() == 2
                && let Some(open) = kinds.remove(&None)
            {
                for row in kinds.values_mut() {
                    row.iter_mut().zip(&open).for_each(|(cell, more)| cell.extend(more.iter().cloned()));
                }
            }
        }
        for ((root, properties), (column, fields)) in std::mem::take(&mut self.passed) {
            let mut met = false;
            for ((other, longer), kinds) in &mut self.rows {
                let Some(rest) = longer.strip_prefix(properties.as_slice()).filter(|_| *other == root) else {
                    continue;
                };
                met = true;
                if !rest.iter().all(|property| OF_BIBFRAME.iter().any(|prefix| property.starts_with(prefix)))
                {
                    continue;
                }
                if rest.is_empty() {
                    kinds.values_mut().for_each(|row| row[column].extend(fields.iter().cloned()));
                    continue;
                }
                let end: String = rest.iter().map(|property| format!("/{property}")).collect();
                let below = fields.iter().map(|field| Field::whole(format!("{}{end}", field.tag)));
                self.carried.entry((root.clone(), longer.clone())).or_default().extend(below);
            }
            if !met {
                self.cell(Path { root, kind: None, properties }, column).extend(fields);
            }
        }
    }
}

/// Whether a property says what a node is.
fn is_discriminator(property: &str) -> bool {
    DISCRIMINATORS.contains(&property)
}

/// The table, in Markdown.
pub fn table(set: &Concordances) -> String {
    let mut cells = Cells::default();
    for (model, rules) in set.models() {
        if let Some((_, column)) = MODELS.iter().find(|(known, _)| *known == model) {
            let authority = matches!(model, Model::Marc21Authority | Model::UnimarcAuthority);
            rules::add(rules, &set.lists, *column, authority, &mut cells);
        }
    }
    for query in set.queries() {
        let folder = query.name.split('/').next().unwrap_or_default();
        if let Some((_, column)) = FOLDERS.iter().find(|(known, _)| *known == folder) {
            queries::add(query, *column, *column == BIBFRAME, &mut cells);
        }
    }
    cells.settle();
    render(&cells, &Concepts::shipped())
}

/// A row as it is shown.
struct Shown {
    rank: usize,
    label: &'static str,
    path: String,
    row: Row,
}

fn render(cells: &Cells, concepts: &Concepts) -> String {
    let mut sections: BTreeMap<usize, Vec<Shown>> = BTreeMap::new();
    let mut alone: Vec<(Shown, usize)> = Vec::new();
    for (path, kinds) in &cells.rows {
        let (root, properties) = path;
        for (kind, mut row) in folded(root, properties, kinds, concepts) {
            let first = kind.as_deref().filter(|kind| !kind.contains(", "));
            let named = first.and_then(|kind| concepts.label(&written(root, Some(kind), properties)));
            let any = concepts.label(&written(root, Some(ANY), properties)).filter(|_| kind.is_some());
            let plain = concepts.label(&written(root, None, properties));
            let own = named.or(plain.filter(|_| kind.is_none() || kinds.len() == 1));
            let (rank, label) = own.or(any).unwrap_or((usize::MAX, ""));
            let filled: Vec<usize> = (0..COLUMNS.len()).filter(|column| !row[*column].is_empty()).collect();
            let carried = cells.carried.get(path);
            row[BIBFRAME].extend(carried.into_iter().flatten().cloned());
            let telling = kind.as_deref().filter(|_| kinds.len() > 1);
            let shown = Shown { rank, label, path: written(root, telling, properties), row };
            match filled.as_slice() {
                // What BIBFRAME has because it is the vocabulary of the catalogue makes no
                // concordance, unless somebody asks for the row by its name.
                [column] if own.is_none() || carried.is_none() => alone.push((shown, *column)),
                _ => sections.entry(concepts.section(root, properties)).or_default().push(shown),
            }
        }
    }
    let mut out = INTRODUCTION.to_owned();
    for (section, mut rows) in sections {
        rows.sort_by(|a, b| (a.rank, &a.path).cmp(&(b.rank, &b.path)));
        let _ = writeln!(out, "\n## {}\n\n| | Path | {} |", concepts.name(section), COLUMNS.join(" | "));
        let _ = writeln!(out, "|---|---|{}", "---|".repeat(COLUMNS.len()));
        for shown in rows {
            let fields: Vec<String> = shown.row.iter().map(cell).collect();
            let _ = writeln!(out, "| {} | {} | {} |", shown.label, code(&shown.path), fields.join(" | "));
        }
    }
    let _ = writeln!(out, "\n## In one model alone\n\n| | Path | Model | Fields |\n|---|---|---|---|");
    for (shown, column) in alone {
        let Shown { label, path, row, .. } = shown;
        let _ = writeln!(out, "| {label} | {} | {} | {} |", code(&path), COLUMNS[column], cell(&row[column]));
    }
    out
}

/// In `concepts.tsv`: a row for each kind.
const ANY: &str = "*";
/// Kinds that have no row of their own where some have one.
const OTHERS: &str = "others";

/// The rows of a path: one for each kind, where that tells the reader something.
fn folded(
    root: &str,
    properties: &[String],
    kinds: &Kinds,
    concepts: &Concepts,
) -> Vec<(Option<String>, Row)> {
    let has_name = |kind: &str| concepts.label(&written(root, Some(kind), properties)).is_some();
    let together = concepts.folds(root, properties) && !has_name(ANY);
    let mut found: Vec<(Vec<&str>, Row)> = Vec::new();
    let mut rest: Option<Row> = None;
    for (kind, row) in kinds {
        let kind = kind.as_deref();
        let own = kind.is_some_and(has_name);
        if together && !own {
            let rest = rest.get_or_insert_with(Row::default);
            rest.iter_mut().zip(row).for_each(|(cell, more)| cell.extend(more.iter().cloned()));
            continue;
        }
        let same = found.iter_mut().find(|(known, other)| {
            !own && kind.is_some()
                && other == row
                && !known.iter().any(|kind| has_name(kind))
                && !known.is_empty()
        });
        match same {
            Some((known, _)) => known.extend(kind),
            None => found.push((kind.into_iter().collect(), row.clone())),
        }
    }
    let others = (!found.is_empty()).then(|| OTHERS.to_owned());
    let named = found.into_iter().map(|(kinds, row)| {
        let mut names = kinds.iter().take(KINDS_NAMED).copied().collect::<Vec<_>>().join(", ");
        if kinds.len() > KINDS_NAMED {
            names.push_str(", …");
        }
        ((!names.is_empty()).then_some(names), row)
    });
    named.chain(rest.map(|row| (others, row))).collect()
}

/// `instance bf:title [bf:Title] / bf:mainTitle`
fn written(root: &str, kind: Option<&str>, properties: &[String]) -> String {
    let mut path = root.to_owned();
    for (index, property) in properties.iter().enumerate() {
        path.push_str(if index == 0 { " " } else { " / " });
        path.push_str(property);
        if let Some(kind) = kind.filter(|_| index == 0) {
            let _ = write!(path, " [{kind}]");
        }
    }
    path
}

/// Parts, and the tags that have them: without conditions, and as they are written.
type Alike<'a> = (Vec<&'a str>, Vec<(&'a str, &'a str)>);

/// The fields of a cell: parts of one field stand together, and so do fields with the same parts.
fn cell(fields: &BTreeSet<Field>) -> String {
    let mut parts: BTreeMap<&str, BTreeSet<(bool, &str)>> = BTreeMap::new();
    let below = |tag: &str| {
        let above = fields.iter().filter(|field| field.part.is_empty() && field.tag.contains(':'));
        above.clone().any(|field| tag.strip_prefix(&field.tag).is_some_and(|rest| rest.starts_with('/')))
    };
    // What stands below an element or predicate that is named already says nothing new.
    for field in fields.iter().filter(|field| !below(&field.tag)) {
        let of_tag = parts.entry(&field.tag).or_default();
        if !field.part.is_empty() {
            // Letters come before digits in MARC's own lists of subfields.
            let digit = field.part.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
            of_tag.insert((digit, &field.part));
        }
    }
    let mut tags: Vec<Alike<'_>> = Vec::new();
    for (tag, parts) in parts {
        let mut parts: Vec<&str> = parts.into_iter().map(|(_, part)| part).collect();
        if parts.contains(&"$*") {
            parts.retain(|part| *part == "$*" || !part.starts_with('$'));
        }
        let tag = if tag.is_empty() { "record" } else { tag };
        let bare = bare(tag);
        let alike = tags.iter_mut().find(|(known, group)| {
            *known == parts && (!parts.is_empty() || group.iter().any(|(other, _)| *other == bare))
        });
        match alike {
            Some((_, group)) => match group.iter_mut().find(|(known, _)| *known == bare) {
                // A field that counts under several conditions is written without them.
                Some((_, tag)) => *tag = bare,
                None => group.push((bare, tag)),
            },
            None => tags.push((parts, vec![(bare, tag)])),
        }
    }
    let more = tags.len() > MOST_FIELDS;
    let mut shown: Vec<String> = tags
        .into_iter()
        .take(MOST_FIELDS)
        .map(|(parts, group)| {
            let tag = field::together(group.iter().map(|(_, tag)| *tag)).join("|");
            let parts: String = parts.iter().map(|part| format!(" {part}")).collect();
            code(&format!("{tag}{parts}"))
        })
        .collect();
    if more {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

/// A tag without the conditions at its end; `70[1-3]` has none.
fn bare(tag: &str) -> &str {
    let mut bare = tag;
    while let Some(before) = bare.strip_suffix(']')
        && let Some((start, condition)) = before.rsplit_once('[')
        && condition.contains('=')
    {
        bare = start;
    }
    bare
}

/// Code inside a cell of a table.
fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}
