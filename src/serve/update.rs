//! An update as the protocol gives it: read, put together with the dataset of the request, and
//! held against what its sender may write.

use super::access::{Holder, Role};
use super::service::Refusal;
use crate::ontology::sparql_parser;
use oxrdf::{GraphName, NamedNode};
use spargebra::GraphUpdateOperation;
use spargebra::algebra::{GraphTarget, QueryDataset};
use spargebra::term::GraphNamePattern;

/// An update that nobody has parsed yet.
#[derive(Debug, Clone)]
pub struct Update {
    pub text: String,
    /// What relative IRIs are relative to.
    pub base: String,
    /// `using-graph-uri` and `using-named-graph-uri`.
    pub using: Vec<NamedNode>,
    pub using_named: Vec<NamedNode>,
}

/// Which graphs an operation writes.
enum Target<'a> {
    One(GraphName),
    /// Those that a pattern will find, or all there are.
    Any(&'a str),
}

impl Update {
    /// Parses the text, which must have passed a guard against deep nesting, and checks it.
    ///
    /// SPARQL 1.1 Protocol, 2.2.3: a dataset in the request and one in the text (`USING`, `WITH`)
    /// are a conflict. `LOAD` is refused: this server fetches nothing for anybody. `explain` makes a
    /// sentence of the text and the parser's message.
    pub fn parse(
        &self,
        base: &str,
        by: &Holder,
        explain: impl FnOnce(&str, &str) -> String,
    ) -> Result<spargebra::Update, Refusal> {
        by.at_least(Role::Writer).map_err(|problem| Refusal::Forbidden(problem.message))?;
        let mut update = sparql_parser()
            .with_base_iri(&self.base)
            .map_err(|error| Refusal::Malformed(error.to_string()))?
            .parse_update(&self.text)
            .map_err(|error| Refusal::Malformed(explain(&self.text, &error.to_string())))?;
        for operation in &mut update.operations {
            if matches!(operation, GraphUpdateOperation::Load { .. }) {
                return Err(Refusal::Forbidden("`LOAD` is refused: nothing is fetched here".to_owned()));
            }
            self.give_dataset(operation)?;
            for target in targets(operation) {
                let (allowed, named) = match &target {
                    Target::One(graph) => (by.may_write(graph, base), graph.to_string()),
                    Target::Any(what) => (by.source.is_none(), (*what).to_owned()),
                };
                if !allowed {
                    return Err(Refusal::Forbidden(format!("this token may not write {named}")));
                }
            }
        }
        Ok(update)
    }

    fn give_dataset(&self, operation: &mut GraphUpdateOperation) -> Result<(), Refusal> {
        let GraphUpdateOperation::DeleteInsert { using, .. } = operation else { return Ok(()) };
        if self.using.is_empty() && self.using_named.is_empty() {
            return Ok(());
        }
        if using.is_some() {
            return Err(Refusal::Malformed(
                "the request names a dataset and so does the update (USING or WITH); leave one of them out"
                    .to_owned(),
            ));
        }
        *using = Some(QueryDataset { default: self.using.clone(), named: Some(self.using_named.clone()) });
        Ok(())
    }
}

fn targets(operation: &GraphUpdateOperation) -> Vec<Target<'_>> {
    match operation {
        GraphUpdateOperation::InsertData { data } => data.iter().map(|quad| one(&quad.graph_name)).collect(),
        GraphUpdateOperation::DeleteData { data } => data.iter().map(|quad| one(&quad.graph_name)).collect(),
        GraphUpdateOperation::DeleteInsert { delete, insert, .. } => {
            let deleted = delete.iter().map(|quad| &quad.graph_name);
            deleted.chain(insert.iter().map(|quad| &quad.graph_name)).map(pattern_target).collect()
        }
        GraphUpdateOperation::Load { destination, .. } => vec![one(destination)],
        GraphUpdateOperation::Create { graph, .. } => vec![Target::One(graph.clone().into())],
        GraphUpdateOperation::Clear { graph, .. } | GraphUpdateOperation::Drop { graph, .. } => {
            vec![match graph {
                GraphTarget::NamedNode(name) => Target::One(name.clone().into()),
                GraphTarget::DefaultGraph => Target::One(GraphName::DefaultGraph),
                GraphTarget::NamedGraphs => Target::Any("all named graphs"),
                GraphTarget::AllGraphs => Target::Any("all graphs"),
            }]
        }
    }
}

fn one(graph: &spargebra::term::GraphName) -> Target<'static> {
    Target::One(match graph {
        spargebra::term::GraphName::NamedNode(name) => name.clone().into(),
        spargebra::term::GraphName::DefaultGraph => GraphName::DefaultGraph,
    })
}

fn pattern_target(graph: &GraphNamePattern) -> Target<'_> {
    match graph {
        GraphNamePattern::NamedNode(name) => Target::One(name.clone().into()),
        GraphNamePattern::DefaultGraph => Target::One(GraphName::DefaultGraph),
        GraphNamePattern::Variable(_) => Target::Any("graphs that a variable names"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "http://library.example/";

    fn said(_: &str, message: &str) -> String {
        message.to_owned()
    }

    fn parse(text: &str, source: Option<&str>, using: &[&str]) -> Result<usize, Refusal> {
        let by = Holder { role: Role::Writer, token: None, source: source.map(str::to_owned) };
        let using = using.iter().map(|iri| NamedNode::new(*iri).expect("an IRI")).collect();
        let update =
            Update { text: text.to_owned(), base: format!("{BASE}sparql"), using, using_named: Vec::new() };
        update.parse(BASE, &by, said).map(|update| update.operations.len())
    }

    #[test]
    fn a_dataset_stands_in_the_request_or_in_the_text() {
        let plain = "DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }";
        assert_eq!(parse(plain, None, &["http://g"]), Ok(1));
        let using = "DELETE { ?s ?p ?o } USING <http://h> WHERE { ?s ?p ?o }";
        let with = "WITH <http://h> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }";
        for text in [using, with] {
            assert_eq!(parse(text, None, &[]), Ok(1));
            assert!(matches!(parse(text, None, &["http://g"]), Err(Refusal::Malformed(_))), "{text}");
        }
    }

    #[test]
    fn the_writer_of_a_source_writes_its_graphs_alone() {
        let own = "INSERT DATA { GRAPH <record/loc/1> { <a> <b> <c> } }";
        let relative = own.replace("record", "/record");
        assert_eq!(parse(&relative, Some("loc"), &[]), Ok(1));
        for text in [
            "INSERT DATA { <a> <b> <c> }",
            "INSERT DATA { GRAPH </record/bnf/1> { <a> <b> <c> } }",
            "DELETE DATA { GRAPH </record/bnf/1> { <a> <b> <c> } }",
            "INSERT { GRAPH ?g { <a> <b> <c> } } WHERE { GRAPH ?g { } }",
            "DELETE WHERE { GRAPH ?g { ?s ?p ?o } }",
            "CLEAR ALL",
            "DROP NAMED",
            "DROP DEFAULT",
            "DROP GRAPH </record/bnf/1>",
            "CREATE GRAPH </work/1>",
            "COPY </record/loc/1> TO DEFAULT",
            "MOVE </record/bnf/1> TO </record/loc/1>",
            "INSERT DATA { GRAPH </record/loc/1> { <a> <b> <c> } } ; CLEAR DEFAULT",
        ] {
            assert!(matches!(parse(text, Some("loc"), &[]), Err(Refusal::Forbidden(_))), "{text}");
            assert!(parse(text, None, &[]).is_ok(), "{text}");
        }
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere() {
        for text in ["LOAD <http://127.0.0.1/x>", "LOAD SILENT <http://127.0.0.1/x> INTO GRAPH <http://g>"] {
            assert!(matches!(parse(text, None, &[]), Err(Refusal::Forbidden(_))), "{text}");
        }
    }

    #[test]
    fn readers_update_nothing() {
        let update = Update {
            text: "CLEAR ALL".to_owned(),
            base: BASE.to_owned(),
            using: Vec::new(),
            using_named: Vec::new(),
        };
        assert!(matches!(update.parse(BASE, &Holder::anonymous(), said), Err(Refusal::Forbidden(_))));
    }
}
