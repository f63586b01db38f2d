//! Cutting a document into whole descriptions.
//!
//! A description is a root with all that is reached from it by links within the document. What
//! several roots reach is copied into each; no description goes on into another root. Roots are,
//! in this order and as long as nothing else holds them: resources whose name a graph has, those
//! that the list of [`roots`](super::roots) ranks, those that nothing points at, and of each ring
//! that remains the first.
//!
//! A description beyond [`DESCRIPTION_LIMIT`] is no description but a list of some kind: its root
//! stands alone with its blank nodes, and what it led to is looked at again. All descriptions
//! together may be [`COPY_FACTOR`] times as long as the document; beyond that it is cut in
//! another way, see [`by_subject`](super::by_subject).

use super::graph::{Graph, Node};
use super::links::{Links, NO_RANK};
use super::roots::Roots;
use oxrdf::{NamedOrBlankNode, Quad};
use std::collections::VecDeque;

/// No description is longer, in bytes.
const DESCRIPTION_LIMIT: usize = 2 * 1024 * 1024;
/// How often a document may be copied on average, short documents aside.
const COPY_FACTOR: usize = 20;
const COPY_FLOOR: usize = 4 * 1024 * 1024;

/// The descriptions of a document, one after the other: those of named resources in the order
/// of their names, then the others in the order of the document.
#[derive(Debug)]
pub(super) struct Descriptions {
    graph: Graph,
    walk: Walk,
    named: VecDeque<Node>,
    blank: VecDeque<Node>,
}

/// Goes from a root to what belongs to its description.
#[derive(Debug)]
struct Walk {
    links: Links,
    is_root: Vec<bool>,
    /// Roots that stand alone.
    alone: Vec<bool>,
    /// How many descriptions were walked through, and in which of them a node was met last.
    walks: u32,
    met_in: Vec<u32>,
    reached: Vec<Node>,
}

impl Descriptions {
    /// Chooses the roots. Gives the graph back if the descriptions would be too long.
    pub fn new(graph: Graph) -> Result<Self, Box<Graph>> {
        let links = Links::new(&graph, Roots::shipped());
        let size = graph.size();
        let walk = Walk {
            links,
            is_root: vec![false; size],
            alone: vec![false; size],
            walks: 0,
            met_in: vec![0; size],
            reached: Vec::new(),
        };
        let Some((walk, mut roots)) = Choice::new(&graph, walk).choose() else {
            return Err(Box::new(graph));
        };
        sort(&graph, &mut roots);
        let (blank, named): (Vec<Node>, Vec<Node>) =
            roots.into_iter().partition(|node| graph.is_blank(*node));
        Ok(Self { graph, walk, named: named.into(), blank: blank.into() })
    }

    /// The name of the next description of a named resource.
    pub fn next_name(&self) -> Option<NamedOrBlankNode> {
        self.graph.resource(*self.named.front()?)
    }

    /// The next description, and what it is of.
    pub fn next(&mut self) -> Option<(NamedOrBlankNode, Vec<Quad>)> {
        let root = self.named.pop_front().or_else(|| self.blank.pop_front())?;
        let Self { graph, walk, .. } = self;
        walk.go(graph, root, usize::MAX);
        let quads = walk.reached.iter().flat_map(|node| graph.about(*node));
        Some((graph.resource(root)?, quads.filter_map(|said| graph.quad(said)).collect()))
    }
}

/// Names in their order, then blank nodes in that of the document.
fn sort(graph: &Graph, nodes: &mut [Node]) {
    nodes.sort_by_cached_key(|node| {
        // Written as in the sorted lines of named graphs, so that the two orders are one.
        let name = graph.iri(*node).map(|iri| format!("<{iri}>"));
        (name.is_none(), name, graph.first_about(*node))
    });
}

impl Walk {
    /// Fills `reached` with the description of a root; says how long it is, or `None` beyond
    /// the limit.
    fn go(&mut self, graph: &Graph, root: Node, limit: usize) -> Option<usize> {
        let alone = is(&self.alone, root);
        self.walks += 1;
        self.reached.clear();
        self.meet(root);
        let (mut next, mut length) = (0, 0);
        while let Some(node) = self.reached.get(next).copied() {
            next += 1;
            // Links backwards are no statements about the node, and following them is work too.
            length +=
                graph.about(node).map(|said| graph.length(said)).sum::<usize>() + self.links.from(node).len();
            if length > limit {
                return None;
            }
            for position in 0..self.links.from(node).len() {
                let Some(to) = self.links.from(node).get(position).copied() else { break };
                if !is(&self.is_root, to) && (!alone || graph.is_blank(to)) {
                    self.meet(to);
                }
            }
        }
        Some(length)
    }

    fn meet(&mut self, node: Node) {
        if let Some(walk) = self.met_in.get_mut(node as usize)
            && *walk != self.walks
        {
            *walk = self.walks;
            self.reached.push(node);
        }
    }
}

/// Finding the roots.
struct Choice<'a> {
    graph: &'a Graph,
    walk: Walk,
    roots: Vec<Node>,
    /// Nodes that some description holds.
    held: Vec<bool>,
    /// Nodes at which nothing points any more, as their owner stands alone.
    freed: Vec<Node>,
    /// Bytes that may still be copied.
    left: usize,
}

impl<'a> Choice<'a> {
    fn new(graph: &'a Graph, walk: Walk) -> Self {
        let length: usize = graph.statements().iter().map(|said| graph.length(*said)).sum();
        let left = COPY_FLOOR.max(length.saturating_mul(COPY_FACTOR));
        Self { graph, held: vec![false; graph.size()], walk, roots: Vec::new(), freed: Vec::new(), left }
    }

    fn choose(mut self) -> Option<(Walk, Vec<Node>)> {
        let graph = self.graph;
        let mut subjects: Vec<Node> =
            (0..).take(graph.size()).filter(|node| graph.is_subject(*node)).collect();
        sort(graph, &mut subjects);
        let named = graph.graph_names.iter().copied().filter(|node| graph.is_subject(*node)).collect();
        self.take_all(named)?;
        let mut ranks: Vec<u8> = subjects.iter().map(|node| self.walk.links.rank(*node)).collect();
        ranks.sort_unstable();
        ranks.dedup();
        for rank in ranks.into_iter().filter(|rank| *rank != NO_RANK) {
            // A work is one of the forms' record if both have one rank, as in schema.org.
            for has_form in [false, true] {
                let of_rank =
                    |node: &Node| self.begins(*node, rank) && self.walk.links.has_form(*node) == has_form;
                let found: Vec<Node> = subjects.iter().copied().filter(of_rank).collect();
                self.take_all(found)?;
            }
        }
        let free = subjects.iter().copied().filter(|node| self.incoming(*node) == 0).collect();
        self.take_all(free)?;
        for node in subjects {
            self.take_all(vec![node])?;
        }
        Some((self.walk, self.roots))
    }

    /// Whether a resource is of a rank, and not a part of something else.
    fn begins(&self, node: Node, rank: u8) -> bool {
        let links = &self.walk.links;
        links.rank(node) == rank
            && !links.is_mentioned(node)
            && (!self.graph.is_blank(node) || self.incoming(node) == 0)
    }

    /// Makes roots of all that no description holds, side by side, and of what they set free.
    fn take_all(&mut self, mut nodes: Vec<Node>) -> Option<()> {
        while !nodes.is_empty() {
            nodes.retain(|node| !is(&self.held, *node));
            nodes.dedup();
            for node in &nodes {
                set(&mut self.walk.is_root, *node);
            }
            for node in nodes {
                self.take(node)?;
            }
            nodes = std::mem::take(&mut self.freed);
            nodes.retain(|node| self.incoming(*node) == 0);
        }
        Some(())
    }

    fn take(&mut self, root: Node) -> Option<()> {
        if is(&self.held, root) {
            return Some(());
        }
        self.roots.push(root);
        let limit = DESCRIPTION_LIMIT.min(self.left);
        match self.walk.go(self.graph, root, limit) {
            Some(length) => self.left -= length,
            None => {
                self.left = self.left.checked_sub(DESCRIPTION_LIMIT)?;
                set(&mut self.walk.alone, root);
                let length = self.walk.go(self.graph, root, usize::MAX)?;
                self.left = self.left.checked_sub(length)?;
                self.free();
            }
        }
        for node in &self.walk.reached {
            set(&mut self.held, *node);
        }
        Some(())
    }

    /// What a root that stands alone led to is not pointed at by it.
    fn free(&mut self) {
        let links = &mut self.walk.links;
        for node in &self.walk.reached {
            for position in 0..links.from(*node).len() {
                let Some(to) = links.from(*node).get(position).copied() else { break };
                if let Some(count) = links.incoming.get_mut(to as usize) {
                    *count = count.saturating_sub(1);
                }
                self.freed.push(to);
            }
        }
    }

    fn incoming(&self, node: Node) -> u32 {
        self.walk.links.incoming.get(node as usize).copied().unwrap_or_default()
    }
}

fn is(flags: &[bool], node: Node) -> bool {
    flags.get(node as usize).copied().unwrap_or_default()
}

fn set(flags: &mut [bool], node: Node) {
    if let Some(flag) = flags.get_mut(node as usize) {
        *flag = true;
    }
}
