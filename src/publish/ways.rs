//! What does an entry say, field by field?
//!
//! A table under `mappings/reverse/` names the ways through the graph that lead to the values of
//! each field, as `index.tsv` does for the full-text index. What is found keeps the order of the
//! table, and texts in the script that leads come before those that stand beside it.

use super::graph::{self, RecordGraph};
use super::path::Path;
use super::table::rows;
use crate::concordance::Concordances;
use crate::ontology::{bf, pin, rdf};
use oxrdf::{NamedNodeRef, Term};
use rustc_hash::FxHashSet;

/// The ways of one table.
#[derive(Debug, Default)]
pub struct Ways(Vec<Way>);

#[derive(Debug)]
struct Way {
    field: String,
    thing: String,
    path: Path,
    /// Only where the field has no value yet.
    otherwise: bool,
    /// What of an IRI counts.
    of_iri: OfIri,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OfIri {
    /// What the thing is called by the ways from `named`.
    Called,
    LastPart,
    All,
}

/// A value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub field: String,
    pub text: String,
    /// What the text is the name of.
    pub iri: Option<String>,
    /// The text is in a script beside the one that leads.
    pub beside: bool,
}

impl Ways {
    /// Reads `reverse/NAME.tsv`: field, thing, path, and when. A line that cannot be understood is
    /// left out, which a test finds in those we ship.
    pub fn read(concordances: &Concordances, name: &str) -> Self {
        let table = rows(&concordances.text_of(&format!("reverse/{name}.tsv")));
        Self(table.iter().filter_map(|cells| way(cells)).collect())
    }

    /// All that is said of an entry of the merged catalogue, or of a record, in the statements
    /// around it; each value of a field once. Other names of what `contributor` leads to are values
    /// of `contributor-variant`, and so on.
    pub fn said(&self, entry: &str, graph: &RecordGraph) -> Vec<Said> {
        let things = Things::of(entry, graph);
        let mut said: Vec<Said> = Vec::new();
        let mut met: FxHashSet<(String, String)> = FxHashSet::default();
        for way in self.0.iter().filter(|way| way.thing != NAMED) {
            if way.otherwise && said.iter().any(|known| known.field == way.field) {
                continue;
            }
            for start in things.called(&way.thing) {
                for term in way.path.values(graph, start) {
                    for one in self.values(way, term, graph) {
                        let value = one.iri.as_ref().unwrap_or(&one.text).clone();
                        if met.insert((one.field.clone(), value)) {
                            said.push(one);
                        }
                    }
                }
            }
        }
        said.sort_by_key(|one| one.beside);
        said
    }

    /// The text at the end of a way, and where it is the name of something its other names.
    fn values(&self, way: &Way, term: &Term, graph: &RecordGraph) -> Vec<Said> {
        let text = graph::text(term);
        let plain = |field: &str, text: &str, beside| Said {
            field: field.to_owned(),
            text: text.to_owned(),
            iri: None,
            beside,
        };
        let mut values = match (term, way.of_iri) {
            (Term::Literal(_), _) => vec![plain(&way.field, text, graph::script(term).is_some())],
            (_, OfIri::All) => vec![plain(&way.field, text, false)],
            (_, OfIri::LastPart) => {
                vec![plain(&way.field, text.rsplit(['/', '#']).next().unwrap_or(text), false)]
            }
            (_, OfIri::Called) => {
                let Some(name) = self.names(NAME, text, graph).find(is_leading) else { return Vec::new() };
                let name = plain(&way.field, graph::text(name), false);
                let variant = format!("{}-{VARIANT}", way.field);
                let others =
                    self.names(VARIANT, text, graph).map(|term| plain(&variant, graph::text(term), true));
                std::iter::once(Said { iri: Some(text.to_owned()), ..name }).chain(others).collect()
            }
        };
        values.retain(|one| !one.text.trim().is_empty());
        values
    }

    /// What something is called, by the ways from `named`.
    fn names<'a>(
        &'a self,
        field: &'a str,
        node: &'a str,
        graph: &'a RecordGraph,
    ) -> impl Iterator<Item = &'a Term> {
        let ways = self.0.iter().filter(move |way| way.thing == NAMED && way.field == field);
        let terms = ways.flat_map(move |way| way.path.values(graph, node));
        terms.filter(|term| matches!(term, Term::Literal(_)))
    }
}

const NAME: &str = "name";
const VARIANT: &str = "variant";
const NAMED: &str = "named";

fn is_leading(term: &&Term) -> bool {
    graph::script(term).is_none()
}

fn way(cells: &[String]) -> Option<Way> {
    let cell = |index: usize| cells.get(index).map_or("", String::as_str);
    let of_iri = match cell(3) {
        when if when.contains("name") => OfIri::LastPart,
        when if when.contains("iri") => OfIri::All,
        _ => OfIri::Called,
    };
    Some(Way {
        field: cell(0).to_owned(),
        thing: cell(1).to_owned(),
        path: Path::parse(cell(2))?,
        otherwise: cell(3).contains("else"),
        of_iri,
    })
}

/// What the words of the table's second column stand for.
struct Things {
    record: Vec<String>,
    entry: Vec<String>,
    work: Vec<String>,
    hub: Vec<String>,
}

impl Things {
    fn of(entry: &str, graph: &RecordGraph) -> Self {
        let described = objects(graph, &[entry.to_owned()], pin::DESCRIBES);
        let record = vec![entry.to_owned()];
        let entry = if described.is_empty() { record.clone() } else { described };
        let of_class = |class: NamedNodeRef<'_>| {
            let is = |node: &&String| {
                graph.objects(node, rdf::TYPE).any(|(_, known)| graph::text(known) == class.as_str())
            };
            entry.iter().filter(is).cloned().collect::<Vec<String>>()
        };
        let mut work = of_class(bf::WORK);
        work.extend(objects(graph, &entry, bf::INSTANCE_OF));
        let mut hub = of_class(bf::HUB);
        hub.extend(objects(graph, &work, bf::EXPRESSION_OF));
        Self { record, entry, work, hub }
    }

    fn called(&self, thing: &str) -> &[String] {
        match thing {
            "record" => &self.record,
            "entry" => &self.entry,
            "work" => &self.work,
            "hub" => &self.hub,
            _ => &[],
        }
    }
}

fn objects(graph: &RecordGraph, from: &[String], by: NamedNodeRef<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for node in from {
        for (_, term) in graph.objects(node, by) {
            let name = graph::text(term).to_owned();
            if !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ontology::{dcterms, rdfs, skos};
    use oxrdf::{Literal, NamedNode, Triple};

    fn node(name: &str) -> NamedNode {
        NamedNode::new_unchecked(format!("https://c.example/{name}"))
    }

    fn graph(entry: &str) -> RecordGraph {
        let text = |text: &str| Term::from(Literal::new_simple_literal(text));
        let cyrillic = Literal::new_language_tagged_literal_unchecked("Война и мир", "ru-Cyrl");
        let triples: Vec<Triple> = [
            ("i", rdfs::LABEL, cyrillic.into()),
            ("i", rdfs::LABEL, text("Voĭna i mir")),
            ("i", bf::INSTANCE_OF, node("w").into()),
            ("i", pin::CONTENT_TYPE, node("content-type/book").into()),
            ("w", rdf::TYPE, bf::WORK.into_owned().into()),
            ("w", dcterms::CREATOR, node("a").into()),
            ("w", dcterms::CREATOR, node("nobody").into()),
            ("w", bf::EXPRESSION_OF, node("h").into()),
            ("a", rdfs::LABEL, text("Tolstoy, Leo")),
            ("a", skos::ALT_LABEL, text("Tolstoj, Lev")),
            ("h", rdfs::LABEL, text("War and peace")),
        ]
        .into_iter()
        .map(|(subject, predicate, object): (&str, NamedNodeRef<'_>, Term)| {
            Triple::new(node(subject), predicate, object)
        })
        .collect();
        RecordGraph::around(node(entry).as_str(), triples)
    }

    fn check(entry: &str, field: &str, expected: &[&str]) {
        let ways = Ways::read(&Concordances::shipped(), "index");
        let said = ways.said(node(entry).as_str(), &graph(entry));
        let found: Vec<&str> =
            said.iter().filter(|one| one.field == field).map(|one| one.text.as_str()).collect();
        assert_eq!(found, expected, "{field} of {entry}");
    }

    #[test]
    fn an_instance_says_what_its_work_and_hub_say() {
        check("i", "title", &["Voĭna i mir", "War and peace", "Война и мир"]);
        check("i", "contributor", &["Tolstoy, Leo"]);
        check("i", "contributor-variant", &["Tolstoj, Lev"]);
        check("i", "type", &["book"]);
    }

    #[test]
    fn a_work_an_agent_and_a_hub_stand_for_themselves() {
        check("w", "title", &["War and peace"]);
        check("w", "contributor", &["Tolstoy, Leo"]);
        check("a", "label", &["Tolstoy, Leo"]);
        check("h", "label", &["War and peace"]);
    }

    #[test]
    fn every_line_of_the_shipped_table_is_understood() {
        let text = Concordances::shipped().text_of("reverse/index.tsv");
        for cells in rows(&text) {
            let way = way(&cells);
            assert!(
                way.is_some_and(|way| ["record", "entry", "work", "hub", NAMED].contains(&&*way.thing)),
                "{cells:?}"
            );
        }
    }
}
