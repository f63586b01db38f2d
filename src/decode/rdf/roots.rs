//! Which resources a record begins with, and which links it follows: `roots.tsv`, read.

use crate::ontology::Prefixes;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

const SHIPPED: &str = include_str!("roots.tsv");

/// How a description follows a link between two resources of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Link {
    #[default]
    Plain,
    /// From an instance to its work, from a work to its hub.
    Up,
    /// The converse of `Up`; followed backwards.
    Down,
    /// From an item to its instance; followed backwards.
    Of,
    /// Not followed, unless to a blank node.
    Apart,
}

/// The list, by IRI.
#[derive(Debug, Default)]
pub(super) struct Roots {
    classes: FxHashMap<String, u8>,
    properties: FxHashMap<String, u8>,
    /// Namespaces whose every property counts.
    vocabularies: Vec<(String, u8)>,
    links: FxHashMap<String, Link>,
    record_marks: Vec<String>,
}

impl Roots {
    pub fn shipped() -> &'static Self {
        // A test holds every line of the embedded list to be read.
        static ROOTS: LazyLock<Roots> = LazyLock::new(|| Roots::read(SHIPPED).0);
        &ROOTS
    }

    /// Reads the list; also gives the lines that mean nothing.
    fn read(text: &str) -> (Self, Vec<&str>) {
        let mut roots = Self::default();
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).skip(1);
        let wrong = lines.filter(|line| roots.row(line).is_none()).collect();
        (roots, wrong)
    }

    fn row(&mut self, line: &str) -> Option<()> {
        let mut cells = line.split('\t');
        let (term, role) = (cells.next()?, cells.next()?);
        let rank = cells.next().and_then(|rank| rank.parse().ok());
        let iri = Prefixes::shipped().expand(term)?.into_string();
        match role {
            "class" => drop(self.classes.insert(iri, rank?)),
            "property" if term.ends_with(':') => self.vocabularies.push((iri, rank?)),
            "property" => drop(self.properties.insert(iri, rank?)),
            "record" => self.record_marks.push(iri),
            "up" => drop(self.links.insert(iri, Link::Up)),
            "down" => drop(self.links.insert(iri, Link::Down)),
            "of" => drop(self.links.insert(iri, Link::Of)),
            "apart" => drop(self.links.insert(iri, Link::Apart)),
            _ => return None,
        }
        Some(())
    }

    /// The rank of resources of a class.
    pub fn of_class(&self, class: &str) -> Option<u8> {
        self.classes.get(class).copied()
    }

    /// The rank of resources that have a property.
    pub fn of_property(&self, property: &str) -> Option<u8> {
        self.properties.get(property).copied().or_else(|| {
            self.vocabularies.iter().find(|(namespace, _)| property.starts_with(namespace)).map(|(_, r)| *r)
        })
    }

    pub fn link(&self, property: &str) -> Link {
        self.links.get(property).copied().unwrap_or_default()
    }

    /// Whether what has this property is catalogued, and not just mentioned.
    pub fn marks_a_record(&self, property: &str) -> bool {
        self.record_marks.iter().any(|mark| mark == property)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ontology::bf;

    #[test]
    fn every_line_of_the_shipped_list_is_read() {
        assert_eq!(Roots::read(SHIPPED).1, Vec::<&str>::new());
    }

    #[test]
    fn instances_come_before_works_and_a_prefix_stands_for_its_vocabulary() {
        let roots = Roots::shipped();
        assert!(roots.of_class(bf::INSTANCE.as_str()) < roots.of_class(bf::WORK.as_str()));
        let elements = Prefixes::shipped().namespace("rdam").unwrap();
        assert_eq!(roots.of_property(&format!("{elements}datatype/P30156")), Some(1));
        assert_eq!(roots.link(bf::INSTANCE_OF.as_str()), Link::Up);
    }
}
