//! Labels for blank nodes that depend on what is said of them, not on the order it is said in.
//!
//! Colour refinement: a node's colour is a hash of the statements it stands in, with the
//! colours of its blank neighbours; repeated until no more nodes can be told apart. Nodes
//! still alike are told apart by giving the first of them a colour of its own and going on.
//! Where alike means interchangeable, as in every tree, the result is canonical. The work is
//! bounded ([`WORK`]), which that of RDFC-1.0 is not: a small hostile graph keeps that
//! algorithm busy for years. Beyond the bound, and in regular graphs of blank nodes, which no
//! catalogue holds, labels may depend on the order of statements; they are still distinct.

use oxrdf::{BlankNode, GraphName, NamedOrBlankNode, Quad, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest, Sha256};

type Colour = [u8; 32];

/// Statements looked at for one record before alike nodes are just counted through.
const WORK: usize = 100_000;

/// Renames the blank nodes of one record to `b` and a hash; sorts and returns its lines, those
/// about the root before the others.
pub(super) fn labelled_lines(quads: &mut [Quad], root: Option<&NamedOrBlankNode>) -> Vec<String> {
    // Alike nodes are told apart in the order of their statements; make that order as little
    // arbitrary as it can be before blank labels are known.
    quads.sort_by_cached_key(|quad| statement(quad, &|_| String::from("_")));
    let names = names(quads);
    let mut lines: Vec<(bool, String)> = quads
        .iter()
        .map(|quad| {
            let named = |node: &BlankNode| {
                names.get(node).map_or_else(|| "_:b".to_owned(), |name| format!("_:{name}"))
            };
            let mut line = statement(quad, &named);
            line.push_str(" .\n");
            (Some(&quad.subject) != root, line)
        })
        .collect();
    lines.sort_unstable();
    lines.dedup();
    lines.into_iter().map(|(_, line)| line).collect()
}

fn names(quads: &[Quad]) -> FxHashMap<BlankNode, String> {
    let mut refinement = Refinement::new(quads);
    let mut distinct = refinement.refine();
    while distinct < refinement.nodes.len() && refinement.work < WORK {
        let Some(alike) = refinement.first_alike() else { break };
        let mut hasher = Sha256::new();
        hasher.update(b"chosen");
        hasher.update(*alike);
        *alike = hasher.finalize().into();
        distinct = refinement.refine();
    }
    let mut taken: FxHashMap<Colour, usize> = FxHashMap::default();
    refinement
        .nodes
        .into_iter()
        .zip(refinement.colours)
        .map(|(node, colour)| {
            let mut name: String = colour.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
            let count = taken.entry(colour).or_default();
            *count += 1;
            if *count > 1 {
                name.push_str(&format!("-{count}"));
            }
            (node.clone(), format!("b{name}"))
        })
        .collect()
}

/// The blank nodes of a record and their colours so far.
struct Refinement<'a> {
    /// In the order in which they are met.
    nodes: Vec<&'a BlankNode>,
    colours: Vec<Colour>,
    statements: Vec<Statement>,
    /// For each node the statements it stands in; twice, if it is both subject and object.
    of_node: Vec<Vec<usize>>,
    /// How many statements were looked at.
    work: usize,
}

/// A statement, written but for its blank nodes.
struct Statement {
    subject: Result<usize, String>,
    predicate: String,
    object: Result<usize, String>,
    graph: String,
}

impl<'a> Refinement<'a> {
    fn new(quads: &'a [Quad]) -> Self {
        let mut numbers: FxHashMap<&BlankNode, usize> = FxHashMap::default();
        let mut nodes = Vec::new();
        let mut of_node: Vec<Vec<usize>> = Vec::new();
        for (place, quad) in quads.iter().enumerate() {
            for node in blank_nodes(quad) {
                let number = *numbers.entry(node).or_insert_with(|| {
                    nodes.push(node);
                    of_node.push(Vec::new());
                    of_node.len() - 1
                });
                if let Some(places) = of_node.get_mut(number) {
                    places.push(place);
                }
            }
        }
        let number = |node: &BlankNode| numbers.get(node).copied().unwrap_or_default();
        let statements = quads
            .iter()
            .map(|quad| Statement {
                subject: match &quad.subject {
                    NamedOrBlankNode::BlankNode(node) => Ok(number(node)),
                    NamedOrBlankNode::NamedNode(node) => Err(node.to_string()),
                },
                predicate: format!(" {} ", quad.predicate),
                object: match &quad.object {
                    Term::BlankNode(node) => Ok(number(node)),
                    term => Err(term.to_string()),
                },
                graph: graph(quad),
            })
            .collect();
        Self { colours: vec![Colour::default(); nodes.len()], nodes, statements, of_node, work: 0 }
    }

    /// Recolours until the number of colours stands still; says how many there are.
    fn refine(&mut self) -> usize {
        let mut distinct = self.count();
        loop {
            self.work += self.statements.len();
            self.colours = self.recoloured();
            let now = self.count();
            if now == distinct || self.work > WORK {
                return now;
            }
            distinct = now;
        }
    }

    fn recoloured(&self) -> Vec<Colour> {
        // A node stands in many statements: its colour is written once.
        let written: Vec<String> = self.colours.iter().map(|colour| format!("{colour:02x?}")).collect();
        let mut text = String::new();
        let mut ends = Vec::new();
        let of_nodes = self.of_node.iter().zip(&self.colours).enumerate();
        of_nodes
            .map(|(this, (places, colour))| {
                text.clear();
                ends.clear();
                for statement in places.iter().filter_map(|place| self.statements.get(*place)) {
                    statement.write(this, &written, &mut text);
                    ends.push(text.len());
                }
                let starts = std::iter::once(0).chain(ends.iter().copied());
                let mut lines: Vec<&str> =
                    starts.zip(&ends).filter_map(|(start, end)| text.get(start..*end)).collect();
                lines.sort_unstable();
                let mut hasher = Sha256::new();
                hasher.update(colour);
                for line in lines {
                    hasher.update(line.as_bytes());
                    hasher.update([0]);
                }
                hasher.finalize().into()
            })
            .collect()
    }

    fn count(&self) -> usize {
        self.colours.iter().collect::<FxHashSet<_>>().len()
    }

    /// The colour of the first node of the smallest colour that several nodes share.
    fn first_alike(&mut self) -> Option<&mut Colour> {
        let mut sizes: FxHashMap<Colour, usize> = FxHashMap::default();
        for colour in &self.colours {
            *sizes.entry(*colour).or_default() += 1;
        }
        let shared = sizes.into_iter().filter(|(_, size)| *size > 1).map(|(colour, _)| colour).min()?;
        self.colours.iter_mut().find(|colour| **colour == shared)
    }
}

impl Statement {
    /// Writes the statement with colours for blank nodes, as seen from one of them.
    fn write(&self, this: usize, colours: &[String], text: &mut String) {
        let part = |part: &Result<usize, String>, text: &mut String| match part {
            Ok(node) => {
                text.push_str(if *node == this { "this" } else { "" });
                text.push_str(colours.get(*node).map(String::as_str).unwrap_or_default());
            }
            Err(written) => text.push_str(written),
        };
        part(&self.subject, text);
        text.push_str(&self.predicate);
        part(&self.object, text);
        text.push_str(&self.graph);
    }
}

fn blank_nodes(quad: &Quad) -> impl Iterator<Item = &BlankNode> {
    let subject = match &quad.subject {
        NamedOrBlankNode::BlankNode(node) => Some(node),
        NamedOrBlankNode::NamedNode(_) => None,
    };
    let object = match &quad.object {
        Term::BlankNode(node) => Some(node),
        _ => None,
    };
    subject.into_iter().chain(object)
}

/// The statement in N-Quads with blank nodes written as `name` says.
fn statement(quad: &Quad, name: &impl Fn(&BlankNode) -> String) -> String {
    let subject = match &quad.subject {
        NamedOrBlankNode::BlankNode(node) => name(node),
        NamedOrBlankNode::NamedNode(node) => node.to_string(),
    };
    let object = match &quad.object {
        Term::BlankNode(node) => name(node),
        term => term.to_string(),
    };
    format!("{subject} {} {object}{}", quad.predicate, graph(quad))
}

fn graph(quad: &Quad) -> String {
    match &quad.graph_name {
        GraphName::NamedNode(graph) => format!(" {graph}"),
        // A graph with a blank name is a record that its content names.
        GraphName::BlankNode(_) => " _:graph".to_owned(),
        GraphName::DefaultGraph => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdfio::{RdfFormat, RdfParser};

    fn labelled(text: &str) -> Vec<String> {
        let parser = RdfParser::from_format(RdfFormat::NQuads);
        let mut quads: Vec<Quad> = parser.for_slice(text).map(Result::unwrap).collect();
        labelled_lines(&mut quads, None)
    }

    #[test]
    fn labels_do_not_depend_on_order_or_given_labels() {
        let one = "<r:1> <r:p> _:a .\n<r:1> <r:p> _:b .\n_:a <r:q> _:c .\n_:b <r:q> _:d .\n_:c <r:v> \"1\" .\n_:d <r:v> \"1\" .\n";
        let other = "_:x <r:v> \"1\" .\n_:y <r:v> \"1\" .\n_:z <r:q> _:x .\n_:w <r:q> _:y .\n<r:1> <r:p> _:w .\n<r:1> <r:p> _:z .\n";
        assert_eq!(labelled(one), labelled(other));
        assert_eq!(labelled(one).len(), 6);
    }

    #[test]
    fn very_many_equal_nodes_stay_apart_and_cost_little() {
        let text: String = (0..20_000).map(|n| format!("<r:1> <r:p> _:n{n} .\n")).collect();
        assert_eq!(labelled(&text).len(), 20_000);
    }
}
