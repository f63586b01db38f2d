//! From the statements about an entry to a citation.
//!
//! `mappings/reverse/citation.tsv` says which way leads to which field, and `citation-kinds.tsv`
//! what speaks for which kind. Order is lost in RDF: whoever is entered first comes first, the
//! others follow by role and name.

use super::kind::Kind;
use super::part::Part;
use super::role::Role;
use super::{Citation, Contributor, Name};
use crate::concordance::Concordances;
use crate::concordance::program::Given;
use crate::ontology::pin;
use crate::publish::graph::{self, RecordGraph};
use crate::publish::path::Path;
use crate::publish::table::rows;
use oxrdf::{NamedNode, Term, Triple};
use std::sync::LazyLock;

/// What citations are read with.
#[derive(Debug, Default)]
pub struct Citations {
    fields: Vec<Way>,
    kinds: Vec<(Kind, Way)>,
}

#[derive(Debug)]
struct Way {
    /// The field, or the value that speaks for a kind.
    word: String,
    thing: String,
    path: Path,
    when: String,
}

/// A value, and whether it is in a script that stands beside the one that leads.
struct Found {
    field: String,
    value: String,
    beside: bool,
}

/// The citation of an entry of the merged catalogue, or of a record, by the shipped tables.
/// `triples` are the statements about it, its work and hub, and whatever these lead to.
pub fn citation(entry: &NamedNode, triples: &[Triple]) -> Citation {
    static SHIPPED: LazyLock<Citations> = LazyLock::new(|| Citations::read(&Concordances::shipped()));
    SHIPPED.citation(entry, triples)
}

impl Citations {
    pub fn read(concordances: &Concordances) -> Self {
        let way = |cells: &[String], word: usize, when: &str| {
            let cell = |index: usize| cells.get(index).map_or("", String::as_str);
            let path = Path::parse(cell(2))?;
            Some(Way { word: cell(word).to_owned(), thing: cell(1).to_owned(), path, when: when.to_owned() })
        };
        let table = |name: &str| rows(&concordances.text_of(&format!("reverse/{name}.tsv")));
        let field = |cells: &Vec<String>| way(cells, 0, cells.get(3).map_or("", String::as_str));
        let kind = |cells: &Vec<String>| Some((Kind::from_name(cells.first()?)?, way(cells, 3, "")?));
        Self {
            fields: table("citation").iter().filter_map(field).collect(),
            kinds: table("citation-kinds").iter().filter_map(kind).collect(),
        }
    }

    pub fn citation(&self, entry: &NamedNode, triples: &[Triple]) -> Citation {
        let graph = RecordGraph::around(entry.as_str(), triples.to_vec());
        let thing =
            |name: &str| Given::from_name(name).and_then(|given| graph.thing(given)).map(str::to_owned);
        // An entry of the merged catalogue has members, a record has not.
        let is_merged = triples
            .iter()
            .any(|triple| triple.predicate == pin::MEMBER && triple.subject == entry.clone().into());
        let found = self.found(&graph, is_merged, &thing);
        let all = |field: &str| values(&found, field);
        let first = |field: &str| all(field).into_iter().next();
        let part = all("part").iter().map(|text| Part::of(text)).fold(Part::default(), |known, next| Part {
            volume: known.volume.or(next.volume),
            issue: known.issue.or(next.issue),
            pages: known.pages.or(next.pages),
        });
        let (title, subtitle) = title(all("title"), all("subtitle"), &all("label"));
        let kind = self.kind(&graph, &thing);
        Citation {
            id: entry.as_str().to_owned(),
            kind,
            title,
            subtitle,
            contributors: self.contributors(&graph, &found),
            container_title: first("container"),
            series: first("series"),
            edition: first("edition"),
            volume: part.volume,
            issue: part.issue,
            pages: part.pages,
            publisher: first("publisher"),
            place: first("place"),
            date: first("date"),
            isbn: first("isbn").or_else(|| first("hostisbn")),
            issn: first("issn"),
            doi: first("doi"),
            url: first("url"),
            language: first("language"),
            summary: first("summary"),
            keywords: all("keyword"),
        }
    }

    fn found(
        &self,
        graph: &RecordGraph,
        is_merged: bool,
        thing: &dyn Fn(&str) -> Option<String>,
    ) -> Vec<Found> {
        let mut found: Vec<Found> = Vec::new();
        for way in self.fields.iter().filter(|way| !is_merged || !way.when.contains("record")) {
            let is_known = found.iter().any(|known| known.field == way.word);
            if way.when.contains("else") && is_known {
                continue;
            }
            let Some(start) = thing(&way.thing) else { continue };
            for term in way.path.values(graph, &start) {
                let is_described = matches!(term, Term::NamedNode(node) if graph.knows(node.as_str()));
                let value = value(term, &way.when);
                let is_new = !found.iter().any(|known| known.field == way.word && known.value == value);
                if (!is_described || way.when.contains("iri")) && !value.trim().is_empty() && is_new {
                    let beside = graph::script(term).is_some();
                    found.push(Found { field: way.word.clone(), value, beside });
                }
            }
        }
        found
    }

    fn kind(&self, graph: &RecordGraph, thing: &dyn Fn(&str) -> Option<String>) -> Kind {
        let holds = |way: &Way| {
            let start = thing(&way.thing).unwrap_or_default();
            way.path.values(graph, &start).into_iter().any(|term| fits(&way.word, &value(term, "name")))
        };
        self.kinds.iter().find(|(_, way)| holds(way)).map_or(Kind::Other, |(kind, _)| *kind)
    }

    fn contributors(&self, graph: &RecordGraph, found: &[Found]) -> Vec<Contributor> {
        let mut people = Vec::new();
        for node in values(found, "contribution") {
            let of_node = self.found(graph, false, &|thing| (thing == "contribution").then(|| node.clone()));
            let Some(name) = values(&of_node, "name").into_iter().next() else { continue };
            let is_primary = values(&of_node, "primary").iter().any(|class| class.starts_with("Primary"));
            let relators = values(&of_node, "relator");
            let role = relators.iter().map(|code| Role::of_relator(code)).min();
            // Without a word on it, whoever is entered first made the work.
            let role = role.unwrap_or(if is_primary { Role::Author } else { Role::Other });
            let is_person = values(&of_node, "agent").iter().any(|class| class == "Person");
            people.push((!is_primary, role, name.clone(), is_person));
        }
        people.sort();
        people.dedup_by(|left, right| (left.1, &left.2) == (right.1, &right.2));
        let mut all: Vec<Contributor> = people
            .into_iter()
            .map(|(_, role, name, is_person)| Contributor { role, name: name_of(&name, is_person) })
            .collect();
        if all.is_empty() {
            let author = |name: String| Contributor { role: Role::Author, name: name_of(&name, true) };
            all.extend(values(found, "author").into_iter().map(author));
        }
        all
    }
}

/// The values of a field; where some are in the script that leads, only those.
fn values(found: &[Found], field: &str) -> Vec<String> {
    let all: Vec<&Found> = found.iter().filter(|known| known.field == field).collect();
    let leading = all.iter().any(|known| !known.beside);
    all.into_iter().filter(|known| !leading || !known.beside).map(|known| known.value.clone()).collect()
}

/// A merged entry may have several titles: the subtitle has to be the one of the title.
fn title(titles: Vec<String>, subtitles: Vec<String>, labels: &[String]) -> (String, Option<String>) {
    let is_alone = titles.len() == 1 && subtitles.len() == 1;
    for title in &titles {
        let belongs = |subtitle: &&String| {
            labels.iter().any(|label| label.starts_with(title.as_str()) && label.ends_with(subtitle.as_str()))
        };
        if let Some(subtitle) = subtitles.iter().find(belongs) {
            return (title.clone(), Some(subtitle.clone()));
        }
    }
    let subtitle = subtitles.into_iter().next().filter(|_| is_alone);
    (titles.into_iter().next().unwrap_or_default(), subtitle)
}

/// `Thoreau, Henry David` in its parts; the name of a body, or of one part, as it stands.
fn name_of(name: &str, is_person: bool) -> Name {
    match name.split_once(", ") {
        Some((family, given)) if is_person => {
            Name::Person { family: family.to_owned(), given: given.to_owned() }
        }
        _ => Name::Literal(name.to_owned()),
    }
}

fn value(term: &Term, when: &str) -> String {
    let text = graph::text(term);
    let is_iri = matches!(term, Term::NamedNode(_));
    let short = if is_iri && when.contains("name") { text.rsplit(['/', '#']).next() } else { None };
    short.unwrap_or(text).to_owned()
}

fn fits(pattern: &str, value: &str) -> bool {
    let (pattern, value) = (pattern.to_lowercase(), value.to_lowercase());
    let middle = pattern.trim_matches('*');
    match (pattern.starts_with('*'), pattern.ends_with('*')) {
        (true, true) => value.contains(middle),
        (true, false) => value.ends_with(middle),
        (false, true) => value.starts_with(middle),
        (false, false) => value == middle,
    }
}
