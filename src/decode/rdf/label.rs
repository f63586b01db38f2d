//! Labels for blank nodes that depend on what is said of them, not on the order it is said in.
//!
//! Colour refinement: a node's colour is a hash of the statements it stands in, with the
//! colours of its blank neighbours; repeated until no more nodes can be told apart. Nodes
//! still alike are told apart by giving the first of them a colour of its own and going on.
//! Where alike means interchangeable, as in every tree, the result is canonical. The work is
//! bounded ([`WORK`]), which that of RDFC-1.0 is not: a small hostile graph keeps that
//! algorithm busy for years. Beyond the bound, and in regular graphs of blank nodes, which no
//! catalogue holds, labels may depend on the order of statements; they are still distinct.

use oxrdf::{BlankNode, NamedOrBlankNode, Quad, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest, Sha256};

type Colour = [u8; 32];

/// Statements looked at for one record before alike nodes are just counted through.
const WORK: usize = 100_000;

/// Renames the blank nodes of one record to `b` and a hash; sorts and returns its lines.
pub(super) fn labelled_lines(quads: &mut [Quad]) -> Vec<String> {
    // Alike nodes are told apart in the order of their statements; make that order as little
    // arbitrary as it can be before blank labels are known.
    quads.sort_by_cached_key(|quad| statement(quad, &|_| String::from("_")));
    let names = names(quads);
    let mut lines: Vec<String> = quads
        .iter()
        .map(|quad| {
            let named = |node: &BlankNode| {
                names.get(node).map_or_else(|| "_:b".to_owned(), |name| format!("_:{name}"))
            };
            let mut line = statement(quad, &named);
            line.push_str(" .\n");
            line
        })
        .collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

fn names(quads: &[Quad]) -> FxHashMap<BlankNode, String> {
    let mut nodes: Vec<BlankNode> = Vec::new();
    let mut seen = FxHashSet::default();
    for quad in quads {
        for node in blank_nodes(quad) {
            if seen.insert(node.clone()) {
                nodes.push(node.clone());
            }
        }
    }
    let mut colours: FxHashMap<BlankNode, Colour> =
        nodes.iter().map(|node| (node.clone(), Colour::default())).collect();
    let mut work = 0;
    let mut distinct = refine(quads, &nodes, &mut colours, &mut work);
    while distinct < nodes.len() && work < WORK {
        let Some(alike) = first_alike(&nodes, &colours) else { break };
        let mut hasher = Sha256::new();
        hasher.update(b"chosen");
        hasher.update(colours.get(alike).copied().unwrap_or_default());
        colours.insert(alike.clone(), hasher.finalize().into());
        distinct = refine(quads, &nodes, &mut colours, &mut work);
    }
    let mut taken: FxHashMap<Colour, usize> = FxHashMap::default();
    nodes
        .into_iter()
        .map(|node| {
            let colour = colours.get(&node).copied().unwrap_or_default();
            let mut name: String = colour.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
            let count = taken.entry(colour).or_default();
            *count += 1;
            if *count > 1 {
                name.push_str(&format!("-{count}"));
            }
            (node, format!("b{name}"))
        })
        .collect()
}

/// Recolours until the number of colours stands still; says how many there are.
fn refine(
    quads: &[Quad],
    nodes: &[BlankNode],
    colours: &mut FxHashMap<BlankNode, Colour>,
    work: &mut usize,
) -> usize {
    let mut distinct = count(colours);
    loop {
        *work += quads.len();
        let mut statements: FxHashMap<&BlankNode, Vec<String>> = FxHashMap::default();
        for quad in quads {
            for this in blank_nodes(quad) {
                let coloured = |node: &BlankNode| {
                    let colour = colours.get(node).copied().unwrap_or_default();
                    let own = if node == this { "this" } else { "" };
                    format!("{own}{colour:02x?}")
                };
                statements.entry(this).or_default().push(statement(quad, &coloured));
            }
        }
        let mut next = FxHashMap::default();
        for node in nodes {
            let mut said = statements.remove(node).unwrap_or_default();
            said.sort_unstable();
            let mut hasher = Sha256::new();
            hasher.update(colours.get(node).copied().unwrap_or_default());
            for line in said {
                hasher.update(line.as_bytes());
                hasher.update([0]);
            }
            next.insert(node.clone(), hasher.finalize().into());
        }
        *colours = next;
        let now = count(colours);
        if now == distinct || *work > WORK {
            return now;
        }
        distinct = now;
    }
}

fn count(colours: &FxHashMap<BlankNode, Colour>) -> usize {
    colours.values().collect::<FxHashSet<_>>().len()
}

/// The first node of the smallest colour that several nodes share.
fn first_alike<'a>(nodes: &'a [BlankNode], colours: &FxHashMap<BlankNode, Colour>) -> Option<&'a BlankNode> {
    let mut sizes: FxHashMap<Colour, usize> = FxHashMap::default();
    for colour in colours.values() {
        *sizes.entry(*colour).or_default() += 1;
    }
    let shared = sizes.into_iter().filter(|(_, size)| *size > 1).map(|(colour, _)| colour).min()?;
    nodes.iter().find(|node| colours.get(*node) == Some(&shared))
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
    let graph = match &quad.graph_name {
        oxrdf::GraphName::NamedNode(graph) => format!(" {graph}"),
        // A graph with a blank name is a record that its content names.
        oxrdf::GraphName::BlankNode(_) => " _:graph".to_owned(),
        oxrdf::GraphName::DefaultGraph => String::new(),
    };
    format!("{subject} {} {object}{graph}", quad.predicate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdfio::{RdfFormat, RdfParser};

    fn labelled(text: &str) -> Vec<String> {
        let parser = RdfParser::from_format(RdfFormat::NQuads);
        let mut quads: Vec<Quad> = parser.for_slice(text).map(Result::unwrap).collect();
        labelled_lines(&mut quads)
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
