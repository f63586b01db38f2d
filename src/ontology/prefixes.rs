//! The prefix table: from prefix to namespace and back.
//!
//! There is one table for rules, queries and exports, so that `bf:title` means the same wherever
//! a person meets it. Rows keep the order of the file, in which the vocabularies we write in
//! come first.
//!
//! A namespace ends in `#` or `/`, and the name of a term contains neither. So the place to
//! cut an IRI is known before any table is asked, and shortening costs one hash lookup.

use std::sync::LazyLock;

use oxrdf::NamedNode;
use rustc_hash::FxHashMap;

use super::table::{Mistake, rows};

const FILE: &str = "prefixes.tsv";
const SHIPPED: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/ontologies/prefixes.tsv"));

/// A row of the prefix table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix {
    pub name: String,
    pub namespace: String,
    pub terms: Terms,
}

/// Whether a vocabulary's terms are all listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terms {
    /// The list is complete: what is not in it does not exist.
    Closed,
    /// The list is incomplete, or there is none.
    Open,
}

/// Prefixes in the order in which they were declared.
#[derive(Debug, Clone, Default)]
pub struct Prefixes {
    rows: Vec<Prefix>,
    by_name: FxHashMap<String, usize>,
    by_namespace: FxHashMap<String, usize>,
}

impl Prefixes {
    /// The table that comes with Pinakes.
    pub fn shipped() -> &'static Self {
        static TABLE: LazyLock<Prefixes> = LazyLock::new(|| {
            let mut table = Prefixes::default();
            // A test holds the embedded table to be without mistakes.
            table.read(FILE, SHIPPED, &mut Vec::new());
            table
        });
        &TABLE
    }

    pub fn iter(&self) -> impl Iterator<Item = &Prefix> {
        self.rows.iter()
    }

    pub fn get(&self, name: &str) -> Option<&Prefix> {
        self.position(name).map(|position| &self.rows[position])
    }

    pub fn namespace(&self, name: &str) -> Option<&str> {
        self.get(name).map(|prefix| prefix.namespace.as_str())
    }

    /// The IRI that a prefixed name such as `bf:title` stands for.
    pub fn expand(&self, prefixed: &str) -> Option<NamedNode> {
        let (prefix, name) = prefixed.split_once(':')?;
        NamedNode::new(format!("{}{name}", self.namespace(prefix)?)).ok()
    }

    /// The prefixed name for an IRI, where Turtle and SPARQL can write it without escapes.
    pub fn shorten(&self, iri: &str) -> Option<String> {
        let (prefix, name) = self.split(iri)?;
        is_plain(name).then(|| format!("{}:{name}", prefix.name))
    }

    /// The prefix of the namespace an IRI lies in, and the name left over, which may be empty or
    /// in need of escapes.
    pub fn split<'a>(&self, iri: &'a str) -> Option<(&Prefix, &'a str)> {
        let (namespace, name) = cut(iri)?;
        let position = *self.by_namespace.get(namespace)?;
        Some((&self.rows[position], name))
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds the rows of a prefix table; what cannot be added becomes a mistake.
    pub(super) fn read(&mut self, file: &str, text: &str, mistakes: &mut Vec<Mistake>) {
        for row in rows(file, text, ["prefix", "namespace", "terms"], mistakes) {
            let [name, namespace, terms] = row.cells;
            let terms = match terms {
                "closed" => Terms::Closed,
                "open" => Terms::Open,
                _ => {
                    mistakes.push(row.mistake(format!("`{terms}` is neither `open` nor `closed`")));
                    continue;
                }
            };
            if !is_prefix(name) {
                mistakes
                    .push(row.mistake(format!("`{name}` cannot be a prefix; use letters, digits and `-`")));
            } else if !namespace.ends_with(['#', '/']) || NamedNode::new(namespace).is_err() {
                mistakes.push(row.mistake(format!("`{namespace}` is not an IRI that ends in `#` or `/`")));
            } else if let Err(reason) = self.add(name, namespace, terms) {
                mistakes.push(row.mistake(reason));
            }
        }
    }

    fn add(&mut self, name: &str, namespace: &str, terms: Terms) -> Result<(), String> {
        if let Some(known) = self.get(name) {
            return if known.namespace == namespace {
                Ok(())
            } else {
                Err(format!("`{name}` already stands for `{}`; choose another prefix", known.namespace))
            };
        }
        let position = self.rows.len();
        self.rows.push(Prefix { name: name.to_owned(), namespace: namespace.to_owned(), terms });
        self.by_name.insert(name.to_owned(), position);
        // Of two prefixes for one namespace, the first is the one we write.
        self.by_namespace.entry(namespace.to_owned()).or_insert(position);
        Ok(())
    }
}

/// Cuts an IRI into namespace and name, after the last `#` or `/`.
pub(super) fn cut(iri: &str) -> Option<(&str, &str)> {
    iri.rfind(['#', '/']).map(|end| iri.split_at(end + 1))
}

fn is_prefix(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Whether a name is a local name of Turtle and SPARQL as it stands. Their grammar allows more;
/// what it allows only with escapes is better shown as a full IRI.
fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
        && !name.ends_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistakes(text: &str) -> Vec<String> {
        let mut mistakes = Vec::new();
        Prefixes::shipped().clone().read("mine.tsv", text, &mut mistakes);
        mistakes.iter().map(Mistake::to_string).collect()
    }

    #[test]
    fn the_shipped_table_has_no_mistakes() {
        let (mut table, mut mistakes) = (Prefixes::default(), Vec::new());
        table.read(FILE, SHIPPED, &mut mistakes);
        assert_eq!(mistakes, []);
        assert_eq!(table.len(), SHIPPED.lines().count() - 1);
        assert_eq!(table.by_namespace.len(), table.len(), "two prefixes share a namespace");
    }

    #[test]
    fn prefixes_keep_the_order_of_the_file() {
        let first: Vec<&str> =
            Prefixes::shipped().iter().take(3).map(|prefix| prefix.name.as_str()).collect();
        assert_eq!(first, ["pin", "bf", "bflc"]);
    }

    #[test]
    fn shortening_undoes_expanding() {
        let table = Prefixes::shipped();
        for name in ["bf:mainTitle", "rel:aut", "rdaw:P10078", "lcdt:edtf", "dc:title", "pin:Record"] {
            let iri = table.expand(name).expect("a known prefix");
            assert_eq!(table.shorten(iri.as_str()).as_deref(), Some(name));
        }
    }

    #[test]
    fn what_needs_escapes_is_not_shortened() {
        let table = Prefixes::shipped();
        for iri in [
            "http://id.loc.gov/ontologies/bibframe/",
            "http://dbpedia.org/resource/Walden_(book)",
            "http://dbpedia.org/resource/Inc.",
            "http://id.loc.gov/ontologies/bibframe/a/b",
            "urn:isbn:9780140390445",
        ] {
            assert_eq!(table.shorten(iri), None, "{iri}");
        }
    }

    #[test]
    fn an_unknown_prefix_expands_to_nothing() {
        assert_eq!(Prefixes::shipped().expand("bff:title"), None);
        assert_eq!(Prefixes::shipped().expand("title"), None);
        assert_eq!(Prefixes::shipped().expand("bf:not a name"), None);
    }

    #[test]
    fn every_mistake_in_a_table_is_reported() {
        assert_eq!(
            mistakes(
                "prefix\tnamespace\tterms\nbf\thttp://example.org/\topen\nmine\thttp://example.org\topen\nmy ex\thttp://example.org/\topen\nmine\thttp://example.org/\tmaybe\n"
            ),
            [
                "mine.tsv:2: `bf` already stands for `http://id.loc.gov/ontologies/bibframe/`; choose another prefix",
                "mine.tsv:3: `http://example.org` is not an IRI that ends in `#` or `/`",
                "mine.tsv:4: `my ex` cannot be a prefix; use letters, digits and `-`",
                "mine.tsv:5: `maybe` is neither `open` nor `closed`",
            ]
        );
    }

    #[test]
    fn declaring_a_prefix_again_with_the_same_namespace_is_no_mistake() {
        assert_eq!(
            mistakes("prefix\tnamespace\tterms\nrdfs\thttp://www.w3.org/2000/01/rdf-schema#\tclosed\n"),
            [""; 0]
        );
    }
}
