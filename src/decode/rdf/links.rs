//! What the list of roots says of a document: the ranks of its resources, and the links that a
//! description follows.

use super::graph::{Graph, Index, Node};
use super::roots::{Link, Roots};
use crate::ontology::rdf;
use rustc_hash::FxHashMap;

/// The rank of a resource that no line of the list knows.
pub(super) const NO_RANK: u8 = u8::MAX;

/// The document as a graph of resources that are described in it.
#[derive(Debug)]
pub(super) struct Links {
    /// By node; [`NO_RANK`] for most.
    ranks: Vec<u8>,
    to: Vec<Node>,
    starts: Index,
    /// How many links lead to a node.
    pub incoming: Vec<u32>,
    /// Nodes that something more concrete belongs to: works with instances, hubs with works.
    has_form: Vec<bool>,
    /// Nodes that could begin a record but are only mentioned in one.
    mentioned: Vec<bool>,
}

impl Links {
    pub fn new(graph: &Graph, roots: &Roots) -> Self {
        let mut found = Found::new(graph, roots);
        let ranks = std::mem::take(&mut found.ranks);
        let mentioned = found.mentioned(&ranks);
        let mut has_form = vec![false; graph.size()];
        for (_, whole) in &found.forms {
            set(&mut has_form, *whole);
        }
        let mut links = found.plain;
        for (from, to) in found.backwards {
            links.push((to, from));
            // What begins no record of its own must be found from here, too.
            if graph.is_blank(to) || get(&ranks, to) == NO_RANK || get(&mentioned, to) {
                links.push((from, to));
            }
        }
        links.sort_unstable();
        links.dedup();
        let mut incoming = vec![0; graph.size()];
        for (_, to) in &links {
            if let Some(count) = incoming.get_mut(*to as usize) {
                *count += 1;
            }
        }
        let starts = Index::new(graph.size(), links.iter().map(|(from, _)| *from));
        let to = links.into_iter().map(|(_, to)| to).collect();
        Self { ranks, to, starts, incoming, has_form, mentioned }
    }

    pub fn from(&self, node: Node) -> &[Node] {
        self.to.get(self.starts.range(node)).unwrap_or_default()
    }

    pub fn rank(&self, node: Node) -> u8 {
        get(&self.ranks, node)
    }

    pub fn has_form(&self, node: Node) -> bool {
        get(&self.has_form, node)
    }

    pub fn is_mentioned(&self, node: Node) -> bool {
        get(&self.mentioned, node)
    }
}

/// The links of a document by their kind.
struct Found {
    ranks: Vec<u8>,
    plain: Vec<(Node, Node)>,
    /// Links of the kinds that are followed from their object to their subject.
    backwards: Vec<(Node, Node)>,
    /// From the more concrete to the more abstract.
    forms: Vec<(Node, Node)>,
    /// Nodes that a plain link leads to.
    pointed_at: Vec<bool>,
    /// Nodes with administrative data of their own.
    catalogued: Vec<bool>,
}

impl Found {
    fn new(graph: &Graph, roots: &Roots) -> Self {
        let mut found = Self {
            ranks: vec![NO_RANK; graph.size()],
            plain: Vec::new(),
            backwards: Vec::new(),
            forms: Vec::new(),
            pointed_at: vec![false; graph.size()],
            catalogued: vec![false; graph.size()],
        };
        let mut known: FxHashMap<Node, Property> = FxHashMap::default();
        for said in graph.statements() {
            let property =
                *known.entry(said.predicate).or_insert_with(|| Property::new(graph, roots, said.predicate));
            let mut rank = property.rank;
            if property.is_type {
                rank = graph.iri(said.object).and_then(|class| roots.of_class(class)).or(rank);
            }
            if let (Some(rank), Some(known)) = (rank, found.ranks.get_mut(said.subject as usize)) {
                *known = rank.min(*known);
            }
            if property.marks_a_record {
                set(&mut found.catalogued, said.subject);
            }
            if said.subject != said.object && graph.is_subject(said.object) {
                found.link(said.subject, said.object, property.link, graph.is_blank(said.object));
            }
        }
        found
    }

    fn link(&mut self, from: Node, to: Node, kind: Link, to_blank: bool) {
        match kind {
            Link::Apart if !to_blank => {}
            Link::Plain | Link::Apart => {
                self.plain.push((from, to));
                set(&mut self.pointed_at, to);
            }
            Link::Up => {
                self.plain.push((from, to));
                self.forms.push((from, to));
            }
            Link::Down => {
                self.backwards.push((from, to));
                self.forms.push((to, from));
            }
            Link::Of => self.backwards.push((from, to)),
        }
    }

    /// Where some resources are catalogued, those that are not, and that others point at by
    /// themselves or by their work, are mentioned: the linking entries of converted MARC, say.
    fn mentioned(&self, ranks: &[u8]) -> Vec<bool> {
        let mut mentioned = vec![false; ranks.len()];
        if !self.catalogued.contains(&true) {
            return mentioned;
        }
        let catalogued = self.inherited(&self.catalogued);
        let pointed_at = self.inherited(&self.pointed_at);
        for (node, mentioned) in mentioned.iter_mut().enumerate() {
            let has = |flags: &[bool]| flags.get(node).copied().unwrap_or_default();
            let ranked = ranks.get(node).is_some_and(|rank| *rank != NO_RANK);
            *mentioned = ranked && has(&pointed_at) && !has(&catalogued);
        }
        mentioned
    }

    /// The flags, handed on from hubs to works and from works to instances.
    fn inherited(&self, flags: &[bool]) -> Vec<bool> {
        let mut downwards: Vec<(Node, Node)> =
            self.forms.iter().map(|(form, whole)| (*whole, *form)).collect();
        downwards.sort_unstable();
        let starts = Index::new(flags.len(), downwards.iter().map(|(whole, _)| *whole));
        let mut flags = flags.to_vec();
        let mut waiting: Vec<Node> =
            (0..).zip(&flags).filter(|(_, set)| **set).map(|(node, _)| node).collect();
        while let Some(node) = waiting.pop() {
            for (_, form) in downwards.get(starts.range(node)).unwrap_or_default() {
                if !get(&flags, *form) {
                    set(&mut flags, *form);
                    waiting.push(*form);
                }
            }
        }
        flags
    }
}

/// What the list says of a predicate.
#[derive(Clone, Copy)]
struct Property {
    link: Link,
    rank: Option<u8>,
    is_type: bool,
    marks_a_record: bool,
}

impl Property {
    fn new(graph: &Graph, roots: &Roots, predicate: Node) -> Self {
        let iri = graph.iri(predicate).unwrap_or_default();
        Self {
            link: roots.link(iri),
            rank: roots.of_property(iri),
            is_type: iri == rdf::TYPE.as_str(),
            marks_a_record: roots.marks_a_record(iri),
        }
    }
}

fn get<T: Copy + Default>(of: &[T], node: Node) -> T {
    of.get(node as usize).copied().unwrap_or_default()
}

fn set(flags: &mut [bool], node: Node) {
    if let Some(flag) = flags.get_mut(node as usize) {
        *flag = true;
    }
}
