//! Which nodes of a record graph are things of their own, and what does the record say of each?
//!
//! A record graph is a tree of nodes. Some of them are things that other records may describe
//! too: instances, works, agents. `mappings/resolve/entries.tsv` says which. All other nodes
//! belong to the thing that leads to them.

use super::texts::{EntryRule, LevelRule, NodeCondition, Stays};
use crate::ontology::{bf, owl, pin, rdf, rdfs};
use oxrdf::{NamedNode, NamedOrBlankNode, Term, Triple};
use rustc_hash::FxHashMap;

/// What an entry of the merged catalogue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Kind {
    Hub,
    Work,
    Instance,
    Item,
    Agent,
    Subject,
    Place,
}

impl Kind {
    pub const ALL: [Self; 7] =
        [Self::Hub, Self::Work, Self::Instance, Self::Item, Self::Agent, Self::Subject, Self::Place];

    /// As it stands in the names of entries.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hub => "hub",
            Self::Work => "work",
            Self::Instance => "instance",
            Self::Item => "item",
            Self::Agent => "agent",
            Self::Subject => "subject",
            Self::Place => "place",
        }
    }

    /// As one of several: `a work`, `an agent`.
    pub fn with_article(self) -> &'static str {
        match self {
            Self::Hub => "a hub",
            Self::Work => "a work",
            Self::Instance => "an instance",
            Self::Item => "an item",
            Self::Agent => "an agent",
            Self::Subject => "a subject",
            Self::Place => "a place",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A thing that one record describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub kind: Kind,
    /// Its node without the record's name, `#instance`; a name of others as it is.
    pub node: Box<str>,
}

/// The statements of a record by their subjects.
pub(super) struct Description<'a> {
    record: &'a str,
    about: FxHashMap<&'a str, Vec<&'a Triple>>,
    kinds: FxHashMap<&'a str, Kind>,
    /// The described things in the order of their nodes.
    pub found: Vec<Found>,
}

impl<'a> Description<'a> {
    pub fn new(record: &'a NamedNode, triples: &'a [Triple], rules: &[EntryRule]) -> Self {
        let mut about: FxHashMap<&str, Vec<&Triple>> = FxHashMap::default();
        for triple in triples {
            if let NamedOrBlankNode::NamedNode(subject) = &triple.subject {
                about.entry(subject.as_str()).or_default().push(triple);
            }
        }
        let mut chosen: FxHashMap<&str, usize> = FxHashMap::default();
        for triple in triples {
            let Term::NamedNode(object) = &triple.object else { continue };
            // A name of which nothing is said is a link; the record itself is no thing of its own.
            let Some(said) = about.get(object.as_str()).filter(|_| object != record) else { continue };
            let holds = |rule: &EntryRule| {
                rule.property == triple.predicate
                    && rule.class.as_ref().is_none_or(|class| said.iter().any(|triple| is_a(triple, class)))
            };
            if let Some(place) = rules.iter().position(holds) {
                let place = chosen.get(object.as_str()).map_or(place, |known| place.min(*known));
                chosen.insert(object.as_str(), place);
            }
        }
        let kinds: FxHashMap<&str, Kind> =
            chosen.into_iter().filter_map(|(node, place)| Some((node, rules.get(place)?.kind))).collect();
        let mut found: Vec<Found> = kinds
            .iter()
            .map(|(node, kind)| Found { kind: *kind, node: relative(record.as_str(), node).into() })
            .collect();
        found.sort_unstable_by(|left, right| left.node.cmp(&right.node));
        Self { record: record.as_str(), about, kinds, found }
    }

    /// Where the things of this record lead to each other by these properties, as places in
    /// [`found`](Self::found).
    pub fn links(&self, properties: &[&str]) -> Vec<(usize, usize)> {
        let place = |node: &str| {
            let node = relative(self.record, node);
            self.found.binary_search_by(|found| (*found.node).cmp(node)).ok()
        };
        let mut links = Vec::new();
        for (subject, triples) in &self.about {
            let Some(from) = place(subject) else { continue };
            for triple in triples.iter().filter(|triple| properties.contains(&triple.predicate.as_str())) {
                if let Term::NamedNode(object) = &triple.object
                    && let Some(to) = place(object.as_str())
                {
                    links.push((from, to));
                }
            }
        }
        links.sort_unstable();
        links
    }

    /// What the record says of one of its things, with names of the merged catalogue: the thing is
    /// `entry`, other things are what `named` calls them, and nodes inside are called after the
    /// entry and their content. What of a work belongs to its publication, by `levels`, is said of that.
    pub fn statements(
        &self,
        node: &str,
        entry: &NamedNode,
        levels: &[LevelRule],
        named: &dyn Fn(&str) -> Option<NamedNode>,
    ) -> Vec<Triple> {
        let iri = absolute(self.record, node);
        let kind = self.kinds.get(iri.as_str()).copied();
        let mut walk = Walk { of: self, entry, levels, named, path: Vec::new(), out: Vec::new() };
        if kind == Some(Kind::Work) {
            walk.about_work(&iri, entry.clone());
        } else {
            walk.about(&iri, entry.clone());
        }
        if kind == Some(Kind::Instance) {
            for work in self.works_of(&iri) {
                walk.of_work(&work);
            }
        }
        let is_own = iri.starts_with(self.record);
        let mut same = Vec::new();
        if is_own {
            // What the record says of its thing under a name that others gave it.
            for triple in self.about.get(&*iri).into_iter().flatten() {
                if triple.predicate == owl::SAME_AS
                    && let Term::NamedNode(other) = &triple.object
                    && self.about.contains_key(other.as_str())
                    && !self.kinds.contains_key(other.as_str())
                {
                    same.push(other.as_str().to_owned());
                }
            }
        } else {
            walk.out.push(Triple::new(entry.clone(), owl::SAME_AS, NamedNode::new_unchecked(&*iri)));
        }
        for other in same {
            walk.about(&other, entry.clone());
        }
        if self.describes(&iri) {
            for triple in self.about.get(self.record).into_iter().flatten() {
                if triple.predicate == pin::CONTENT_TYPE {
                    walk.take(triple, &entry.clone());
                }
            }
        }
        walk.out
    }

    /// The works that an instance is one of.
    fn works_of(&self, instance: &str) -> Vec<String> {
        let said = self.about.get(instance).into_iter().flatten();
        said.filter(|triple| triple.predicate == bf::INSTANCE_OF)
            .filter_map(|triple| match &triple.object {
                Term::NamedNode(work) => Some(work.as_str().to_owned()),
                _ => None,
            })
            .collect()
    }

    /// The line that says to which level a statement of a work belongs.
    fn level_of<'r>(&self, triple: &Triple, levels: &'r [LevelRule]) -> Option<&'r LevelRule> {
        let said = match &triple.object {
            Term::NamedNode(node) => self.about.get(node.as_str()),
            _ => None,
        };
        levels.iter().find(|rule| {
            rule.property == triple.predicate
                && match &rule.node {
                    NodeCondition::Anything => true,
                    NodeCondition::Is(name) => {
                        matches!(&triple.object, Term::NamedNode(node) if node == name)
                    }
                    NodeCondition::Class(class) => {
                        said.into_iter().flatten().any(|triple| is_a(triple, class))
                    }
                    NodeCondition::Says(property, value) => said.into_iter().flatten().any(|triple| {
                        triple.predicate == *property
                            && matches!(&triple.object, Term::NamedNode(node) if node == value)
                    }),
                }
        })
    }

    fn describes(&self, iri: &str) -> bool {
        self.about.get(self.record).into_iter().flatten().any(|triple| {
            triple.predicate == pin::DESCRIBES
                && matches!(&triple.object, Term::NamedNode(node) if node.as_str() == iri)
        })
    }

    /// The labels of the things that lead to this one.
    pub fn labels_of(&self, node: &str, property: oxrdf::NamedNodeRef<'_>) -> Vec<Term> {
        let iri = absolute(self.record, node);
        let mut labels = Vec::new();
        for said in self.about.values() {
            let leads = said.iter().any(|triple| {
                triple.predicate == property
                    && matches!(&triple.object, Term::NamedNode(object) if object.as_str() == iri)
            });
            if leads {
                labels.extend(
                    said.iter()
                        .filter(|triple| triple.predicate == rdfs::LABEL)
                        .map(|triple| triple.object.clone()),
                );
            }
        }
        labels.sort_unstable_by_key(ToString::to_string);
        labels
    }

    /// How much the record says in all.
    pub fn len(&self) -> usize {
        self.about.values().map(Vec::len).sum()
    }

    /// A value of the record itself.
    pub fn of_record(&self, predicate: oxrdf::NamedNodeRef<'_>) -> Option<&'a str> {
        self.about.get(self.record).into_iter().flatten().find_map(|triple| match &triple.object {
            Term::Literal(literal) if triple.predicate == predicate => Some(literal.value()),
            _ => None,
        })
    }
}

fn is_a(triple: &Triple, class: &NamedNode) -> bool {
    triple.predicate == rdf::TYPE && matches!(&triple.object, Term::NamedNode(object) if object == class)
}

/// A node's name within its record.
pub(super) fn relative<'n>(record: &str, node: &'n str) -> &'n str {
    node.strip_prefix(record).filter(|rest| rest.starts_with('#')).unwrap_or(node)
}

/// And back.
pub(super) fn absolute(record: &str, node: &str) -> String {
    if node.starts_with('#') { format!("{record}{node}") } else { node.to_owned() }
}

/// One thing with the nodes inside it.
struct Walk<'w, 'a> {
    of: &'w Description<'a>,
    entry: &'w NamedNode,
    levels: &'w [LevelRule],
    named: &'w dyn Fn(&str) -> Option<NamedNode>,
    /// Nodes the walk is inside of.
    path: Vec<String>,
    out: Vec<Triple>,
}

/// Nodes inside nodes are followed this far.
const DEPTH: usize = 16;

impl Walk<'_, '_> {
    fn about(&mut self, node: &str, name: NamedNode) {
        self.path.push(node.to_owned());
        let of = self.of;
        for triple in of.about.get(node).into_iter().flatten() {
            self.take(triple, &name);
        }
        self.path.pop();
    }

    /// What a work has in common with all its publications.
    fn about_work(&mut self, node: &str, name: NamedNode) {
        self.path.push(node.to_owned());
        let of = self.of;
        for triple in of.about.get(node).into_iter().flatten() {
            if of.level_of(triple, self.levels).is_none_or(|rule| rule.stays == Stays::Both) {
                self.take(triple, &name);
            }
        }
        self.path.pop();
    }

    /// What a record says of the work and means of its publication.
    fn of_work(&mut self, work: &str) {
        self.path.push(work.to_owned());
        let (of, name) = (self.of, self.entry.clone());
        for triple in of.about.get(work).into_iter().flatten() {
            if of.level_of(triple, self.levels).is_some_and(|rule| rule.stays != Stays::Record) {
                self.take(triple, &name);
            }
        }
        self.path.pop();
    }

    /// Whether the merged catalogue does without a statement.
    fn is_of_record(&self, triple: &Triple) -> bool {
        self.of.level_of(triple, self.levels).is_some_and(|rule| rule.stays == Stays::Record)
    }

    fn take(&mut self, triple: &Triple, name: &NamedNode) {
        if self.is_of_record(triple) {
            return;
        }
        if let Some(object) = self.object(&triple.object) {
            self.out.push(Triple::new(name.clone(), triple.predicate.clone(), object));
        }
    }

    /// What an object is called in the merged catalogue; `None` for a way back.
    fn object(&mut self, object: &Term) -> Option<Term> {
        let Term::NamedNode(node) = object else { return Some(object.clone()) };
        let iri = node.as_str();
        if let Some(kind) = self.of.kinds.get(iri) {
            let _ = kind;
            return Some(
                (self.named)(relative(self.of.record, iri)).map_or_else(|| object.clone(), Term::from),
            );
        }
        if iri == self.of.record || !self.of.about.contains_key(iri) {
            return Some(object.clone());
        }
        if self.path.iter().any(|outer| outer == iri) || self.path.len() >= DEPTH {
            return None;
        }
        // Another name for the thing itself: what it says is taken with the thing.
        if !iri.starts_with(self.of.record) && self.path.len() == 1 && self.is_same(iri) {
            return Some(object.clone());
        }
        Some(self.inside(iri).into())
    }

    fn is_same(&self, iri: &str) -> bool {
        let Some(outer) = self.path.first() else { return false };
        self.of.about.get(outer.as_str()).into_iter().flatten().any(|triple| {
            triple.predicate == owl::SAME_AS
                && matches!(&triple.object, Term::NamedNode(node) if node.as_str() == iri)
        })
    }

    /// Takes a node inside the thing, and names it after its content.
    fn inside(&mut self, iri: &str) -> NamedNode {
        self.path.push(iri.to_owned());
        let of = self.of;
        let mut said: Vec<(NamedNode, Term)> = Vec::new();
        // They name the node all the same.
        let mut left_out: Vec<(NamedNode, Term)> = Vec::new();
        for triple in of.about.get(iri).into_iter().flatten() {
            if self.is_of_record(triple) {
                if triple.predicate == rdf::TYPE {
                    left_out.push((triple.predicate.clone(), triple.object.clone()));
                }
            } else if let Some(object) = self.object(&triple.object) {
                said.push((triple.predicate.clone(), object));
            }
        }
        self.path.pop();
        if !iri.starts_with(of.record) {
            said.push((owl::SAME_AS.into_owned(), NamedNode::new_unchecked(iri).into()));
        }
        // Nodes of nodes are named after the entry, which is no content.
        let own = self.entry.as_str();
        let mut lines: Vec<String> = said
            .iter()
            .chain(&left_out)
            .map(|(predicate, object)| match object {
                Term::NamedNode(node) => {
                    let node = node.as_str();
                    format!("{} <{}>", predicate.as_str(), node.strip_prefix(own).unwrap_or(node))
                }
                object => format!("{} {object}", predicate.as_str()),
            })
            .collect();
        lines.sort_unstable();
        lines.dedup();
        let hash = xxhash_rust::xxh3::xxh3_64(lines.join("\n").as_bytes());
        let name = NamedNode::new_unchecked(format!(
            "{own}#{}-{hash:016x}",
            class_name(said.iter().chain(&left_out))
        ));
        self.out
            .extend(said.into_iter().map(|(predicate, object)| Triple::new(name.clone(), predicate, object)));
        name
    }
}

/// `title` for a `bf:Title`, `primary-contribution` for a `bf:PrimaryContribution`.
fn class_name<'s>(said: impl Iterator<Item = &'s (NamedNode, Term)>) -> String {
    let classes = said.filter(|(predicate, _)| *predicate == rdf::TYPE);
    let class = classes
        .filter_map(|(_, object)| match object {
            Term::NamedNode(class) => Some(class.as_str()),
            _ => None,
        })
        .min();
    let local = class.and_then(|class| class.rsplit(['/', '#']).next()).unwrap_or("node");
    let mut name = String::new();
    for c in local.chars().filter(char::is_ascii_alphanumeric) {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(c.to_ascii_lowercase());
    }
    if name.is_empty() { "node".to_owned() } else { name }
}
