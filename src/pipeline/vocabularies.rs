//! Which vocabularies does the catalogue know words from?
//!
//! A vocabulary is a file in SKOS that a person loads under a name. It is archived as it is, with its
//! versions, and then stands in a graph of its own, `<base>vocabulary/<name>`; which there are is said
//! in `<base>vocabularies`. Both follow the archive as records do: after a kill, and when the store is
//! made anew, [`apply`] has its turn before the journal moves.

use super::{PipelineError, Session, Watch};
use crate::archive::{Entry, Kind, Outcome};
use crate::catalogue::{Catalogue, CatalogueError, Selection};
use crate::decode::{self, detect, rdf_syntax};
use crate::diagnostic::{Code, Diagnostic};
use crate::ontology::{dcterms, rdf, rdfs, skos, void, xsd};
use oxrdf::{GraphName, Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Term, Triple};
use rustc_hash::FxHashSet;
use serde::Serialize;
use std::collections::BTreeMap;

/// The largest file that can be loaded, in bytes: its statements are in memory while it is read.
pub const LARGEST_VOCABULARY: usize = 128 << 20;
/// The beginning of a file that tells its syntax.
const HEAD: usize = 64 * 1024;
/// The longest name.
const LONGEST_NAME: usize = 64;

/// What came of loading a vocabulary.
#[derive(Debug)]
pub enum LoadedVocabulary {
    Loaded(Vocabulary),
    /// It is loaded already, byte for byte.
    Unchanged,
    /// There is something wrong with it; nothing was changed.
    Refused(Diagnostic),
}

/// A vocabulary in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Vocabulary {
    pub name: String,
    /// The graph it stands in.
    pub graph: String,
    /// The file it came from.
    pub file: String,
    pub loaded: String,
    /// How often it was loaded.
    pub versions: usize,
    pub statements: u64,
}

/// What is in one.
#[derive(Debug, Clone, Serialize)]
pub struct ShownVocabulary {
    #[serde(flatten)]
    pub vocabulary: Vocabulary,
    pub concepts: u64,
    /// Labels that a search is widened by, by their languages; those without one under nothing.
    pub labels: BTreeMap<String, u64>,
    /// Links from a concept to a narrower one, said from either side.
    pub hierarchy: u64,
}

/// Archives a vocabulary and puts it into the store. Its name is part of an IRI: letters, digits,
/// dots, hyphens and underlines.
pub fn load_vocabulary(
    session: &mut Session,
    name: &str,
    file: &str,
    bytes: Vec<u8>,
    time: &str,
    watch: &mut dyn Watch,
) -> Result<LoadedVocabulary, PipelineError> {
    let mut entry = Entry::new(Kind::Vocabulary, "", name, session.archive.last_sequence()? + 1, time);
    entry.origin.name = file.to_owned();
    entry.format = detect(bytes.get(..HEAD.min(bytes.len())).unwrap_or_default(), file);
    let entry = entry.with_payload(bytes);
    if !is_name(name) {
        let message =
            format!("`{name}` is no name of a vocabulary: use small letters, digits, `-`, `_` and `.`");
        return Ok(LoadedVocabulary::Refused(Diagnostic::new(Code::RdfSyntax, message)));
    }
    let refused = |mut fault: Diagnostic| {
        fault.place.origin = Some(file.to_owned());
        Ok(LoadedVocabulary::Refused(fault))
    };
    match statements(&entry, &session.home.graphs.loaded_vocabulary(name)) {
        Err(fault) => return refused(fault),
        Ok(triples) if !triples.iter().any(has_label) => {
            let message = "no concept with a `skos:prefLabel` or `skos:altLabel` stands in it";
            return refused(Diagnostic::new(Code::RdfSyntax, message));
        }
        Ok(_) => {}
    }
    if session.archive.append_concordances(&[entry])?.first() == Some(&Outcome::Unchanged) {
        return Ok(LoadedVocabulary::Unchanged);
    }
    super::catch_up(session, watch)?;
    let known = vocabularies(session)?.into_iter().find(|vocabulary| vocabulary.name == name);
    Ok(known.map_or(LoadedVocabulary::Unchanged, LoadedVocabulary::Loaded))
}

/// Takes a vocabulary out of the store; its versions stay in the archive. False if there is none.
pub fn remove_vocabulary(
    session: &mut Session,
    name: &str,
    time: &str,
    watch: &mut dyn Watch,
) -> Result<bool, PipelineError> {
    let number = session.archive.last_sequence()? + 1;
    let entry = Entry::new(Kind::VocabularyRemoved, "", name, number, time);
    let outcome = session.archive.append_concordances(&[entry])?;
    super::catch_up(session, watch)?;
    Ok(outcome.first() == Some(&Outcome::Withdrawn))
}

/// The vocabularies in force, by name.
pub fn vocabularies(session: &Session) -> Result<Vec<Vocabulary>, PipelineError> {
    let mut found = Vec::new();
    for (name, versions) in session.archive.vocabularies()? {
        let Some(last) = versions.last().filter(|last| !last.unloaded) else { continue };
        let graph = session.home.graphs.loaded_vocabulary(&name);
        let said = session.catalogue.described(&graph, &session.home.graphs.vocabularies().into())?;
        let value = |predicate: NamedNodeRef<'_>| {
            said.iter().find(|quad| quad.predicate.as_ref() == predicate).and_then(|quad| {
                match &quad.object {
                    Term::Literal(literal) => Some(literal.value().to_owned()),
                    _ => None,
                }
            })
        };
        found.push(Vocabulary {
            graph: graph.into_string(),
            file: value(dcterms::SOURCE).unwrap_or_default(),
            loaded: last.time.clone(),
            versions: versions.iter().filter(|version| !version.unloaded).count(),
            statements: value(void::TRIPLES).and_then(|count| count.parse().ok()).unwrap_or_default(),
            name,
        });
    }
    Ok(found)
}

/// What is in a vocabulary; none if there is none of this name.
pub fn show_vocabulary(session: &Session, name: &str) -> Result<Option<ShownVocabulary>, PipelineError> {
    let known = vocabularies(session)?.into_iter().find(|vocabulary| vocabulary.name == name);
    let Some(vocabulary) = known else { return Ok(None) };
    let graph = GraphName::from(session.home.graphs.loaded_vocabulary(name));
    let mut shown = ShownVocabulary { vocabulary, concepts: 0, labels: BTreeMap::new(), hierarchy: 0 };
    let mut concepts: FxHashSet<NamedOrBlankNode> = FxHashSet::default();
    let mut narrower: FxHashSet<(String, String)> = FxHashSet::default();
    let selection = Selection { graph: Some(graph), ..Selection::default() };
    for quad in session.catalogue.backend().quads(&selection)? {
        let quad = quad?;
        if is_label(quad.predicate.as_ref()) {
            if let Term::Literal(label) = &quad.object {
                *shown.labels.entry(label.language().unwrap_or_default().to_owned()).or_default() += 1;
                concepts.insert(quad.subject);
            }
        } else if quad.predicate.as_ref() == skos::NARROWER {
            narrower.insert((quad.subject.to_string(), quad.object.to_string()));
        } else if quad.predicate.as_ref() == skos::BROADER {
            narrower.insert((quad.object.to_string(), quad.subject.to_string()));
        }
    }
    shown.concepts = concepts.len() as u64;
    shown.hierarchy = narrower.len() as u64;
    Ok(Some(shown))
}

/// Brings the store up to the vocabularies that came after a place in the archive. Doing it again
/// changes nothing.
pub(super) fn apply(session: &Session, position: u64) -> Result<(), PipelineError> {
    let graphs = &session.home.graphs;
    for (name, versions) in session.archive.vocabularies()? {
        let Some(last) = versions.last().filter(|last| last.sequence > position) else { continue };
        let graph = graphs.loaded_vocabulary(&name);
        let entry = session.archive.entry(last.sequence)?.filter(|_| !last.unloaded);
        let triples = entry.as_ref().and_then(|entry| statements(entry, &graph).ok());
        put(&session.catalogue, &graph, entry.as_ref().zip(triples))?;
    }
    Ok(())
}

/// Puts a vocabulary in the place of what its graph holds, or nothing.
fn put(
    catalogue: &Catalogue,
    graph: &NamedNode,
    vocabulary: Option<(&Entry, Vec<Triple>)>,
) -> Result<(), CatalogueError> {
    let backend = catalogue.backend();
    let list = GraphName::from(catalogue.graphs().vocabularies());
    let before = catalogue.described(graph, &list)?;
    backend.rewrite(vec![(graph.clone(), None)])?;
    let mut said = Vec::new();
    if let Some((entry, triples)) = vocabulary {
        let count = Literal::new_typed_literal(triples.len().to_string(), xsd::INTEGER);
        let time = Literal::new_typed_literal(entry.time.as_str(), xsd::DATE_TIME);
        let file = Literal::new_simple_literal(entry.origin.name.as_str());
        for (predicate, object) in [
            (rdf::TYPE, Term::from(void::DATASET.into_owned())),
            (rdfs::LABEL, Literal::new_simple_literal(entry.id.as_str()).into()),
            (dcterms::SOURCE, file.into()),
            (dcterms::MODIFIED, time.into()),
            (void::TRIPLES, count.into()),
        ] {
            said.push(Quad::new(graph.clone(), predicate, object, list.clone()));
        }
        backend.add_stream(&mut triples.into_iter().map(|triple| Ok(triple.in_graph(graph.clone()))))?;
    }
    backend.patch(before.into_iter().filter(|quad| !said.contains(quad)).collect(), said)?;
    backend.flush()
}

/// The statements of a vocabulary.
#[expect(clippy::result_large_err, reason = "called once a vocabulary")]
fn statements(entry: &Entry, graph: &NamedNode) -> Result<Vec<Triple>, Diagnostic> {
    let syntax = entry.format.and_then(rdf_syntax).ok_or_else(|| {
        Diagnostic::new(
            Code::RdfSyntax,
            "it is in no syntax of RDF; Turtle, RDF/XML, JSON-LD and N-Triples are read",
        )
    })?;
    decode::document(&entry.payload, syntax, graph.as_str())
}

fn is_label(predicate: NamedNodeRef<'_>) -> bool {
    [skos::PREF_LABEL, skos::ALT_LABEL, skos::HIDDEN_LABEL].contains(&predicate)
}

fn has_label(triple: &Triple) -> bool {
    is_label(triple.predicate.as_ref()) && matches!(triple.object, Term::Literal(_))
}

fn is_name(name: &str) -> bool {
    let is_inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    begins && name.len() <= LONGEST_NAME && name.chars().all(is_inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Home;
    use crate::index::Thesaurus;
    use crate::pipeline::concepts::{concepts, loaded};
    use crate::pipeline::{Unwatched, rebuild};
    use tempfile::TempDir;

    const TIME: &str = "2026-01-01T00:00:00Z";
    const ANIMALS: &str = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
        <#dog> skos:prefLabel \"Dogs\"@en ; skos:altLabel \"Hounds\"@en , \"Hunde\"@de ; skos:narrower <#terrier> .
        <#terrier> skos:prefLabel \"Terriers\"@en ; skos:broader <#dog> .";

    fn session(directory: &TempDir) -> Session {
        let home = Home::create(&directory.path().join("c"), "https://c.example/").unwrap();
        Session::write(home, &mut Unwatched).unwrap()
    }

    fn load(session: &mut Session, name: &str, file: &str, text: &str) -> LoadedVocabulary {
        load_vocabulary(session, name, file, text.as_bytes().to_vec(), TIME, &mut Unwatched).unwrap()
    }

    fn meanings(session: &Session, term: &str) -> Vec<String> {
        let concepts = concepts(session.catalogue.backend(), &session.home.graphs).unwrap();
        let mut terms: Vec<String> = concepts.expand(term).into_iter().map(|one| one.term).collect();
        terms.sort_unstable();
        terms
    }

    #[test]
    fn a_vocabulary_is_loaded_shown_replaced_and_removed() {
        let directory = TempDir::new().unwrap();
        let mut session = session(&directory);
        assert!(matches!(load(&mut session, "animals", "animals.ttl", ANIMALS), LoadedVocabulary::Loaded(_)));
        assert!(matches!(load(&mut session, "animals", "animals.ttl", ANIMALS), LoadedVocabulary::Unchanged));
        assert_eq!(meanings(&session, "hounds"), ["Dogs", "Hunde", "Terriers"]);
        let shown = show_vocabulary(&session, "animals").unwrap().unwrap();
        assert_eq!((shown.concepts, shown.hierarchy), (2, 1));
        assert_eq!(shown.labels, BTreeMap::from([("de".to_owned(), 1), ("en".to_owned(), 3)]));
        assert_eq!((shown.vocabulary.statements, shown.vocabulary.file.as_str()), (6, "animals.ttl"));
        load(&mut session, "animals", "animals.ttl", &ANIMALS.replace("Hounds", "Curs"));
        assert_eq!(meanings(&session, "curs"), ["Dogs", "Hunde", "Terriers"]);
        assert!(meanings(&session, "hounds").is_empty());
        assert!(remove_vocabulary(&mut session, "animals", TIME, &mut Unwatched).unwrap());
        assert!(!remove_vocabulary(&mut session, "animals", TIME, &mut Unwatched).unwrap());
        assert!(meanings(&session, "dogs").is_empty() && vocabularies(&session).unwrap().is_empty());
        assert!(loaded(session.catalogue.backend(), &session.home.graphs).unwrap().is_empty());
    }

    #[test]
    fn a_store_that_is_made_anew_has_its_vocabularies() {
        let directory = TempDir::new().unwrap();
        let mut session = session(&directory);
        load(&mut session, "animals", "animals.ttl", ANIMALS);
        load(&mut session, "gone", "gone.ttl", ANIMALS);
        remove_vocabulary(&mut session, "gone", TIME, &mut Unwatched).unwrap();
        let home = session.home.clone();
        drop(session);
        rebuild(home.clone(), &mut Unwatched).unwrap();
        let session = Session::read(home, &mut Unwatched).unwrap();
        assert_eq!(meanings(&session, "dogs"), ["Hounds", "Hunde", "Terriers"]);
        let names: Vec<String> = vocabularies(&session).unwrap().into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["animals"]);
    }

    #[test]
    fn what_is_no_vocabulary_is_refused_and_changes_nothing() {
        let directory = TempDir::new().unwrap();
        let mut session = session(&directory);
        for (name, file, text) in [
            ("Animals!", "animals.ttl", ANIMALS),
            ("animals", "animals.ttl", "@prefix skos: <http://www.w3.org/2004/02/skos/core#> . <#a> skos:"),
            ("animals", "animals.ttl", "@prefix x: <x:> . x:a x:b \"c\" ."),
            ("animals", "animals.csv", "a,b\n1,2\n"),
        ] {
            let refused = load(&mut session, name, file, text);
            assert!(matches!(refused, LoadedVocabulary::Refused(_)), "{name} {text}");
        }
        assert!(vocabularies(&session).unwrap().is_empty());
    }
}
