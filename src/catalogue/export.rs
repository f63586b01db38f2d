//! Writing graphs out, and the canonical form that two equal catalogues share.

use super::backend::Selection;
use super::{Catalogue, CatalogueError};
use crate::ontology::{pin, prefixes, prov};
use crate::sort::Sorter;
use crate::statements::Writer;
use oxrdf::{GraphName, NamedNode, Quad};
use oxrdfio::RdfFormat;
use sha2::{Digest, Sha256};
use std::io::Write;

/// What the canonical sort may hold in memory.
const SORT_BUDGET: usize = 256 * 1024 * 1024;

/// Which graphs are exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    All,
    /// The merged catalogue.
    Master,
    /// What the records say, one graph each.
    Records,
    Graph(NamedNode),
}

/// How much was exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exported {
    pub statements: u64,
    /// Statements that the format cannot say.
    pub left_out: u64,
}

/// Writes the chosen graphs. A format that knows no graph names gets the statements without them.
pub fn export(
    catalogue: &Catalogue,
    which: &Which,
    format: RdfFormat,
    out: impl Write,
    mut progress: impl FnMut(u64),
) -> Result<Exported, CatalogueError> {
    let mut writer = Writer::new(out, format, prefixes())?;
    let mut count = 0;
    let selection = match which {
        Which::Master => Selection { graph: Some(GraphName::DefaultGraph), ..Selection::default() },
        Which::Graph(name) => Selection { graph: Some(name.clone().into()), ..Selection::default() },
        Which::All | Which::Records => Selection::default(),
    };
    let records = catalogue.graphs().records();
    for quad in catalogue.backend().quads(&selection)? {
        let quad = quad?;
        if *which == Which::Records && !in_graph_under(&quad, &records) {
            continue;
        }
        count += 1;
        writer.quad(&quad)?;
        progress(count);
    }
    let left_out = writer.left_out();
    writer.finish()?;
    Ok(Exported { statements: count - left_out, left_out })
}

/// Sorted N-Quads of the content: master, records, links and people's decisions, without runs
/// and times. Returns the number of statements and the SHA-256 of the text.
pub fn canonical(
    catalogue: &Catalogue,
    mut out: impl Write,
    mut progress: impl FnMut(u64),
) -> Result<(u64, String), CatalogueError> {
    let graphs = catalogue.graphs();
    let (records, links, resolution) = (graphs.records(), graphs.links(), graphs.resolution());
    let mut sorter = Sorter::new(SORT_BUDGET);
    let mut read = 0;
    for quad in catalogue.backend().quads(&Selection::default())? {
        let quad = quad?;
        let content = quad.graph_name == GraphName::DefaultGraph
            || in_graph_under(&quad, &records)
            || in_graph_under(&quad, &links)
            || quad.graph_name == GraphName::NamedNode(resolution.clone());
        let is_time = quad.predicate == prov::ENDED_AT_TIME || quad.predicate == prov::WAS_GENERATED_BY;
        if content && !is_time && quad.predicate != pin::APPLIED_UP_TO {
            sorter.push(format!("{quad} .\n").as_bytes())?;
        }
        read += 1;
        progress(read);
    }
    let mut hasher = Sha256::new();
    let mut count = 0;
    for line in sorter.sorted()? {
        let line = line?;
        hasher.update(&line);
        out.write_all(&line)?;
        count += 1;
    }
    out.flush()?;
    let hash = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((count, hash))
}

fn in_graph_under(quad: &Quad, prefix: &str) -> bool {
    matches!(&quad.graph_name, GraphName::NamedNode(name) if name.as_str().starts_with(prefix))
}
