//! The names of graphs and of the things in them, all under the catalogue's base IRI.

use crate::record::percent_encode;
use oxrdf::{GraphName, IriParseError, NamedNode};

/// Who writes a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// Holders of a token. The default graph is theirs, too, beside `resolve`.
    People,
    /// The source of the record that the graph is named after.
    Source,
    /// The program: its journal, and what it derives.
    Program,
}

/// Makes names under one base IRI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graphs {
    base: String,
}

impl Graphs {
    /// The base must be an absolute IRI; it gets a closing slash if it has none.
    pub fn new(base: &str) -> Result<Self, IriParseError> {
        NamedNode::new(base)?;
        let base = if base.ends_with(['/', '#']) { base.to_owned() } else { format!("{base}/") };
        Ok(Self { base })
    }

    pub fn base(&self) -> &str {
        &self.base
    }

    /// A record: the name of its graph, and of the record in it.
    pub fn record(&self, source: &str, id: &str) -> NamedNode {
        self.name(&format!("record/{}/{}", percent_encode(source), percent_encode(id)))
    }

    /// The beginning that the graphs of all records share.
    pub fn records(&self) -> String {
        format!("{}record/", self.base)
    }

    pub fn source(&self, source: &str) -> NamedNode {
        self.name(&format!("source/{}", percent_encode(source)))
    }

    /// What is known of the sources.
    pub fn sources(&self) -> NamedNode {
        self.name("sources")
    }

    pub fn content_type(&self, code: &str) -> NamedNode {
        self.name(&format!("content-type/{}", percent_encode(code)))
    }

    pub fn run(&self, run: u64) -> NamedNode {
        self.name(&format!("run/{run}"))
    }

    /// Runs, agents, rule versions, times.
    pub fn provenance(&self) -> NamedNode {
        self.name("provenance")
    }

    /// Decisions, scores, clusters.
    pub fn resolution(&self) -> NamedNode {
        self.name("resolution")
    }

    /// The beginning of the link trees of web sources.
    pub fn links(&self) -> String {
        format!("{}links/", self.base)
    }

    /// The labels of the code lists in use.
    pub fn vocabulary(&self) -> NamedNode {
        self.name("vocabulary")
    }

    /// Which vocabularies were loaded.
    pub fn vocabularies(&self) -> NamedNode {
        self.name("vocabularies")
    }

    /// One that was loaded: the name of its graph.
    pub fn loaded_vocabulary(&self, name: &str) -> NamedNode {
        self.name(&format!("vocabulary/{}", percent_encode(name)))
    }

    /// The rules the records were mapped with.
    pub fn rules(&self) -> NamedNode {
        self.name("rules")
    }

    /// Those of one format.
    pub fn rules_of(&self, format: &str) -> NamedNode {
        self.name(&format!("rules/{}", percent_encode(format)))
    }

    /// A program or person that did something.
    pub fn agent(&self, agent: &str) -> NamedNode {
        self.name(&format!("agent/{}", percent_encode(agent)))
    }

    /// An entry of the merged catalogue: `instance/3f0c…`.
    pub fn entry(&self, kind: &str, id: u64) -> NamedNode {
        self.name(&format!("{kind}/{id:016x}"))
    }

    /// How an entry came to be, in the graph of resolution.
    pub fn merge(&self, kind: &str, id: u64) -> NamedNode {
        self.name(&format!("merge/{kind}/{id:016x}"))
    }

    /// What a person decided about duplicates.
    pub fn decision(&self, number: u64) -> NamedNode {
        self.name(&format!("decision/{number}"))
    }

    /// Up to which change of records the store holds them.
    pub fn holdings(&self) -> NamedNode {
        self.name("holdings")
    }

    /// What people added to the merged catalogue and took away from it.
    pub fn people(&self) -> NamedNode {
        self.name("people")
    }

    /// One statement that somebody added or took away, by its hash.
    pub fn statement(&self, hash: u128) -> NamedNode {
        self.name(&format!("people/{hash:032x}"))
    }

    /// Who writes a graph.
    pub fn owner(&self, graph: &GraphName) -> Owner {
        let GraphName::NamedNode(name) = graph else { return Owner::People };
        let Some(path) = name.as_str().strip_prefix(&self.base) else { return Owner::People };
        match path.split_once('/') {
            Some(("record", _)) => Owner::Source,
            Some(("links" | "vocabulary" | "people", _)) => Owner::Program,
            Some(_) => Owner::People,
            None => match path {
                "holdings" | "people" | "provenance" | "resolution" | "rules" | "sources"
                | "vocabularies" | "vocabulary" => Owner::Program,
                _ => Owner::People,
            },
        }
    }

    /// The store itself, as the subject of its journal.
    pub fn store(&self) -> NamedNode {
        self.name("store")
    }

    fn name(&self, path: &str) -> NamedNode {
        // The base was checked and the path is percent-encoded.
        NamedNode::new_unchecked(format!("{}{path}", self.base))
    }
}
