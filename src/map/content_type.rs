//! What kind of content a record describes: book, film and video, music …
//!
//! Two lists decide, and users may change both: `content-types.tsv` names the types,
//! `content-type-evidence.tsv` says which value of which field speaks for which. The first
//! line that matches wins.

use crate::record::{Model, Record};
use oxrdf::Term;

const TYPES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/codes/content-types.tsv"));
const EVIDENCE: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/codes/content-type-evidence.tsv"));

/// A content type and its labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentType {
    pub code: String,
    /// Language and label, in the order of the file's columns.
    pub labels: Vec<(String, String)>,
}

/// The two lists, read.
#[derive(Debug, Clone)]
pub struct ContentTypes {
    types: Vec<ContentType>,
    evidence: Vec<Evidence>,
}

#[derive(Debug, Clone)]
struct Evidence {
    models: Vec<Model>,
    selector: Selector,
    pattern: String,
    code: String,
    /// As it stands in the list: where to look, and what for.
    text: String,
}

#[derive(Debug, Clone)]
enum Selector {
    /// `LDR/06-07`: positions of the leader.
    Leader { from: usize, to: usize },
    /// `007/00`: positions of a control field.
    Positions { tag: String, from: usize, to: usize },
    /// `338$b` or `dc:type`: a subfield, or the text.
    Value { tag: String, subfield: Option<String> },
    /// An IRI: the objects of this predicate in an RDF record.
    Predicate(String),
}

impl ContentTypes {
    /// The lists in the binary.
    pub fn shipped() -> Self {
        Self::read(TYPES, EVIDENCE)
    }

    /// Reads the two lists; lines that make no sense are left out, which a test forbids for
    /// the shipped ones.
    pub fn read(types: &str, evidence: &str) -> Self {
        let mut lines = rows(types);
        let header: Vec<&str> = lines.next().unwrap_or_default();
        let types = lines
            .map(|row| ContentType {
                code: row.first().copied().unwrap_or_default().to_owned(),
                labels: header
                    .iter()
                    .zip(&row)
                    .skip(1)
                    .map(|(language, label)| ((*language).to_owned(), (*label).to_owned()))
                    .collect(),
            })
            .collect();
        let evidence = rows(evidence).skip(1).filter_map(|row| Evidence::read(&row)).collect();
        Self { types, evidence }
    }

    pub fn types(&self) -> &[ContentType] {
        &self.types
    }

    pub fn knows(&self, code: &str) -> bool {
        self.types.iter().any(|known| known.code == code)
    }

    /// The code of the first evidence that a record shows.
    pub fn of(&self, record: &Record) -> Option<&str> {
        self.with_evidence(record).map(|(code, _)| code)
    }

    /// The same, and what in the record speaks for it.
    pub fn with_evidence<'c>(&'c self, record: &Record) -> Option<(&'c str, &'c str)> {
        // Lines for one field stand together, and most records do not have it.
        let mut missing = None;
        let mut speaks = |evidence: &&'c Evidence| {
            let tag = evidence.selector.tag();
            if !evidence.models.contains(&record.model) || tag.is_some() && tag == missing {
                return false;
            }
            missing = tag.filter(|tag| record.field(tag).is_none());
            missing.is_none() && evidence.holds(record)
        };
        let evidence = self.evidence.iter().find(&mut speaks);
        evidence.map(|evidence| (evidence.code.as_str(), evidence.text.as_str()))
    }
}

/// The tab-separated cells of all lines that are not comments.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split('\t').map(str::trim).collect())
}

impl Evidence {
    fn read(row: &[&str]) -> Option<Self> {
        let [models, selector, pattern, code] = row else { return None };
        let models = models.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
        Some(Self {
            models,
            selector: Selector::read(selector)?,
            pattern: pattern.to_lowercase(),
            code: (*code).to_owned(),
            text: format!("{selector} {pattern}"),
        })
    }

    fn holds(&self, record: &Record) -> bool {
        match &self.selector {
            Selector::Leader { from, to } => {
                record.leader().get(*from..*to).is_some_and(|value| self.matches(value))
            }
            Selector::Positions { tag, from, to } => record
                .fields_with(tag)
                .any(|field| field.text().get(*from..*to).is_some_and(|value| self.matches(value))),
            Selector::Value { tag, subfield } => record.fields_with(tag).any(|field| match subfield {
                Some(code) => {
                    field.subfields().any(|subfield| subfield.code == code && self.matches(subfield.value))
                }
                None => self.matches(field.text()),
            }),
            Selector::Predicate(predicate) => record.triples.iter().any(|triple| {
                triple.predicate.as_str() == predicate
                    && match &triple.object {
                        Term::NamedNode(node) => self.matches(node.as_str()),
                        Term::Literal(literal) => self.matches(literal.value()),
                        _ => false,
                    }
            }),
        }
    }

    /// `*` at an end of the pattern stands for anything; a `.` for any one character of a
    /// fixed field.
    fn matches(&self, value: &str) -> bool {
        let value = value.trim();
        let pattern = self.pattern.as_str();
        // Tried on every record, so the common case, plain letters, is compared in place.
        if value.is_ascii() && pattern.is_ascii() {
            let (value, pattern) = (value.as_bytes(), pattern.as_bytes());
            return match (pattern.strip_prefix(b"*"), pattern.strip_suffix(b"*")) {
                (Some(rest), Some(_)) => {
                    let inner = rest.strip_suffix(b"*").unwrap_or(rest);
                    inner.is_empty()
                        || value.windows(inner.len()).any(|part| part.eq_ignore_ascii_case(inner))
                }
                (Some(end), None) => value
                    .len()
                    .checked_sub(end.len())
                    .is_some_and(|from| value.get(from..).is_some_and(|part| part.eq_ignore_ascii_case(end))),
                (None, Some(start)) => {
                    value.get(..start.len()).is_some_and(|part| part.eq_ignore_ascii_case(start))
                }
                (None, None) => {
                    pattern.len() == value.len()
                        && pattern.iter().zip(value).all(|(p, v)| *p == b'.' || p.eq_ignore_ascii_case(v))
                }
            };
        }
        let value = value.to_lowercase();
        match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
            (Some(_), Some(_)) => value.contains(pattern.trim_matches('*')),
            (Some(end), None) => value.ends_with(end),
            (None, Some(start)) => value.starts_with(start),
            (None, None) => {
                pattern.chars().count() == value.chars().count()
                    && pattern.chars().zip(value.chars()).all(|(p, v)| p == '.' || p == v)
            }
        }
    }
}

impl Selector {
    /// The field it looks into, if it is one.
    fn tag(&self) -> Option<&str> {
        match self {
            Self::Positions { tag, .. } | Self::Value { tag, .. } => Some(tag),
            Self::Leader { .. } | Self::Predicate(_) => None,
        }
    }

    fn read(text: &str) -> Option<Self> {
        if text.contains("://") {
            return Some(Self::Predicate(text.to_owned()));
        }
        if let Some((tag, positions)) = text.split_once('/') {
            let (from, to) = positions.split_once('-').unwrap_or((positions, positions));
            let (from, to) = (from.parse().ok()?, to.parse::<usize>().ok()? + 1);
            return Some(if tag == "LDR" {
                Self::Leader { from, to }
            } else {
                Self::Positions { tag: tag.to_owned(), from, to }
            });
        }
        let (tag, subfield) = match text.split_once('$') {
            Some((tag, subfield)) => (tag, Some(subfield.to_owned())),
            None => (text, None),
        };
        Some(Self::Value { tag: tag.to_owned(), subfield })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RecordBuilder;

    /// S0.6: "The content-type list is data, not code; each listed type can be assigned,
    /// counted and filtered" — here: the shipped lists are well-formed and speak of each other.
    #[test]
    fn s0_6_every_line_of_the_shipped_lists_is_read() {
        let shipped = ContentTypes::shipped();
        assert_eq!(shipped.types.len(), 11);
        assert_eq!(shipped.evidence.len(), rows(EVIDENCE).count() - 1);
        for evidence in &shipped.evidence {
            assert!(shipped.knows(&evidence.code), "{}", evidence.code);
        }
    }

    #[test]
    fn a_leader_decides_by_its_positions() {
        let mut builder = RecordBuilder::new(Model::Marc21);
        builder.leader("00000cgm a2200000 a 4500");
        assert_eq!(ContentTypes::shipped().of(&builder.finish()), Some("film"));
    }
}
