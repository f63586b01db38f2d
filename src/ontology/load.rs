//! Reads vocabularies into an [`Ontology`]: the embedded ones, and those in a user's directory.
//!
//! Both come as term lists (tab-separated) and as ontologies (Turtle), and are read by the same
//! code. A bad line is a [`Mistake`] and reading goes on, so that a user hears of all of them
//! at once.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use oxrdf::{NamedNode, NamedOrBlankNode, Term as RdfTerm};
use oxrdfio::{RdfFormat, RdfParser};

use super::prefixes::Prefixes;
use super::table::{Mistake, rows};
use super::terms::{Kind, Ontology, Status, Term};
use super::{OntologyError, PINAKES, owl, rdf, rdfs};

/// The prefix of our own vocabulary.
const OWN: &str = "pin";

/// The embedded vocabularies, none of them read yet.
pub(super) fn embedded() -> Ontology {
    let prefixes = Prefixes::shipped().clone();
    let terms = std::iter::repeat_with(OnceLock::new).take(prefixes.len()).collect();
    Ontology { prefixes, terms }
}

/// The terms of one embedded vocabulary. A test holds that there are no mistakes in them.
pub(super) fn embedded_terms(
    prefixes: &Prefixes,
    prefix: &str,
    mistakes: &mut Vec<Mistake>,
) -> BTreeMap<String, Term> {
    let mut terms = BTreeMap::new();
    if let Some((_, text)) = LISTS.iter().find(|(known, _)| *known == prefix) {
        terms = listed_terms(prefixes, &format!("terms/{prefix}.tsv"), text, mistakes);
    }
    if prefix == OWN {
        let described = described_terms("pinakes.ttl", PINAKES, mistakes);
        let own = described.into_iter().filter_map(|(subject, term)| {
            let (found, name) = prefixes.split(subject.as_str())?;
            (found.name == prefix && !name.is_empty()).then(|| (name.to_owned(), term))
        });
        terms.extend(own);
    }
    terms
}

impl Ontology {
    /// These vocabularies and those of a directory: an optional `prefixes.tsv`, lists
    /// `terms/<prefix>.tsv` and ontologies `*.ttl`. A list for a known prefix adds to its terms,
    /// and what it says of a known term counts. Subjects of a Turtle file in no known namespace,
    /// such as the ontology itself, are passed over.
    pub fn extended(&self, directory: &Path) -> Result<Self, OntologyError> {
        let mut extended = self.clone();
        let mut mistakes = Vec::new();
        let prefixes = directory.join("prefixes.tsv");
        if prefixes.exists() {
            extended.read_prefixes(&prefixes.display().to_string(), &read(&prefixes)?, &mut mistakes);
        }
        let lists = directory.join("terms");
        if lists.exists() {
            for path in files(&lists, "tsv")? {
                let prefix = path.file_stem().unwrap_or_default().to_string_lossy();
                extended.read_list(&path.display().to_string(), &prefix, &read(&path)?, &mut mistakes);
            }
        }
        for path in files(directory, "ttl")? {
            extended.read_turtle(&path.display().to_string(), &read(&path)?, &mut mistakes);
        }
        if mistakes.is_empty() { Ok(extended) } else { Err(OntologyError::Malformed { mistakes }) }
    }

    fn read_prefixes(&mut self, file: &str, text: &str, mistakes: &mut Vec<Mistake>) {
        self.prefixes.read(file, text, mistakes);
        self.terms.resize_with(self.prefixes.len(), OnceLock::new);
    }

    fn read_list(&mut self, file: &str, prefix: &str, text: &str, mistakes: &mut Vec<Mistake>) {
        let Some(position) = self.prefixes.position(prefix) else {
            let reason = format!("`{prefix}` is no known prefix; add it to prefixes.tsv");
            mistakes.push(Mistake { file: file.to_owned(), line: 1, reason });
            return;
        };
        let terms = listed_terms(&self.prefixes, file, text, mistakes);
        self.add(position, terms);
    }

    fn read_turtle(&mut self, file: &str, text: &str, mistakes: &mut Vec<Mistake>) {
        for (subject, term) in described_terms(file, text, mistakes) {
            let Some((prefix, name)) = self.prefixes.split(subject.as_str()) else {
                continue;
            };
            let Some(position) = self.prefixes.position(&prefix.name).filter(|_| !name.is_empty()) else {
                continue;
            };
            self.add(position, [(name.to_owned(), term)]);
        }
    }

    /// What is added to a vocabulary counts for more than what is there.
    fn add(&mut self, position: usize, terms: impl IntoIterator<Item = (String, Term)>) {
        self.terms_at(position);
        if let Some(known) = self.terms.get_mut(position).and_then(OnceLock::get_mut) {
            known.extend(terms);
        }
    }
}

/// The terms of a list.
fn listed_terms(
    prefixes: &Prefixes,
    file: &str,
    text: &str,
    mistakes: &mut Vec<Mistake>,
) -> BTreeMap<String, Term> {
    let mut terms = BTreeMap::new();
    for row in rows(file, text, ["term", "kind", "domain", "range", "status"], mistakes) {
        let [name, kind, domain, range, status] = row.cells;
        let term = kind.parse::<Kind>().and_then(|kind| {
            let (domain, range) = (classes(prefixes, domain)?, classes(prefixes, range)?);
            Ok(Term { kind, domain, range, status: status.parse()? })
        });
        match term {
            Ok(_) if name.is_empty() => mistakes.push(row.mistake("the term has no name".to_owned())),
            Ok(term) => {
                terms.insert(name.to_owned(), term);
            }
            Err(reason) => mistakes.push(row.mistake(reason)),
        }
    }
    terms
}

/// Prefixed names and IRIs, separated by blanks.
fn classes(prefixes: &Prefixes, cell: &str) -> Result<Vec<NamedNode>, String> {
    let classes = cell.split_whitespace().map(|class| {
        let iri = if class.contains("://") { NamedNode::new(class).ok() } else { prefixes.expand(class) };
        iri.ok_or_else(|| format!("`{class}` is neither an IRI nor a name with a known prefix"))
    });
    classes.collect()
}

/// The terms a Turtle file describes.
fn described_terms(file: &str, text: &str, mistakes: &mut Vec<Mistake>) -> Vec<(NamedNode, Term)> {
    let mut subjects: BTreeMap<NamedNode, Description> = BTreeMap::new();
    for quad in RdfParser::from_format(RdfFormat::Turtle).for_slice(text) {
        let quad = match quad {
            Ok(quad) => quad,
            Err(error) => {
                let line = error
                    .location()
                    .map_or(1, |location| usize::try_from(location.start.line).unwrap_or(0) + 1);
                mistakes.push(Mistake { file: file.to_owned(), line, reason: error.to_string() });
                continue;
            }
        };
        if let NamedOrBlankNode::NamedNode(subject) = quad.subject {
            subjects.entry(subject).or_default().add(&quad.predicate, quad.object);
        }
    }
    let terms = subjects.into_iter().filter_map(|(subject, description)| {
        let term = description.term()?;
        Some((subject, term))
    });
    terms.collect()
}

/// What a Turtle file says of one subject, as far as it makes a term.
#[derive(Default)]
struct Description {
    types: Vec<NamedNode>,
    domain: Vec<NamedNode>,
    range: Vec<NamedNode>,
    deprecated: bool,
}

impl Description {
    fn add(&mut self, predicate: &NamedNode, object: RdfTerm) {
        match object {
            RdfTerm::NamedNode(object) if *predicate == rdf::TYPE => self.types.push(object),
            RdfTerm::NamedNode(object) if *predicate == rdfs::DOMAIN => self.domain.push(object),
            RdfTerm::NamedNode(object) if *predicate == rdfs::RANGE => self.range.push(object),
            RdfTerm::Literal(object) if *predicate == owl::DEPRECATED => {
                self.deprecated = object.value() == "true"
            }
            _ => {}
        }
    }

    fn term(mut self) -> Option<Term> {
        let is_a = |class| self.types.iter().any(|found| *found == class);
        let kind = if self.types.is_empty() || is_a(owl::ONTOLOGY) {
            return None;
        } else if is_a(rdfs::DATATYPE) {
            Kind::Datatype
        } else if is_a(owl::CLASS) || is_a(rdfs::CLASS) {
            Kind::Class
        } else if is_a(owl::OBJECT_PROPERTY) {
            Kind::ObjectProperty
        } else if is_a(owl::DATATYPE_PROPERTY) {
            Kind::DatatypeProperty
        } else if is_a(owl::ANNOTATION_PROPERTY) {
            Kind::AnnotationProperty
        } else if is_a(rdf::PROPERTY) {
            Kind::Property
        } else {
            Kind::Individual
        };
        self.domain.sort();
        self.range.sort();
        let status = if self.deprecated { Status::Deprecated } else { Status::Current };
        Some(Term { kind, domain: self.domain, range: self.range, status })
    }
}

fn read(path: &Path) -> Result<String, OntologyError> {
    fs::read_to_string(path).map_err(|source| OntologyError::Unreadable { path: path.to_owned(), source })
}

/// The files of a directory with this extension, sorted by name.
fn files(directory: &Path, extension: &str) -> Result<Vec<PathBuf>, OntologyError> {
    let unreadable = |source| OntologyError::Unreadable { path: directory.to_owned(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

macro_rules! lists {
    ($($prefix:literal)*) => {
        /// The embedded lists; a test compares them with the folder.
        const LISTS: &[(&str, &str)] = &[$(
            ($prefix, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/ontologies/terms/", $prefix, ".tsv"))),
        )*];
    };
}

lists! {
    "bf" "bflc" "dc" "dcat" "dcterms" "dctype" "fabio" "foaf" "frbr" "lrm" "marl" "oa" "onyx" "owl" "prov"
    "rdaa" "rdac" "rdae" "rdai" "rdam" "rdan" "rdap" "rdat" "rdau" "rdaw" "rdax" "rdf" "rdfs" "schema" "sd"
    "skos" "void" "xsd"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ontology::Lookup;

    #[test]
    fn the_shipped_files_have_no_mistakes() {
        let prefixes = Prefixes::shipped();
        let mut mistakes = Vec::new();
        for prefix in prefixes.iter() {
            embedded_terms(prefixes, &prefix.name, &mut mistakes);
        }
        assert_eq!(mistakes, []);
        for (subject, _) in described_terms("pinakes.ttl", PINAKES, &mut mistakes) {
            let own = prefixes.split(subject.as_str()).is_some_and(|(prefix, _)| prefix.name == OWN);
            assert!(own, "{subject} is described in pinakes.ttl and belongs to others");
        }
    }

    #[test]
    fn every_list_in_the_folder_is_embedded() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ontologies/terms");
        let found = files(&folder, "tsv").expect("the folder");
        let found: Vec<_> = found.iter().filter_map(|path| path.file_stem()?.to_str()).collect();
        assert_eq!(found, LISTS.iter().map(|(prefix, _)| *prefix).collect::<Vec<_>>());
    }

    #[test]
    fn users_add_vocabularies_of_their_own() {
        let directory = Directory::new("added");
        directory.write("prefixes.tsv", "prefix\tnamespace\tterms\nex\thttp://example.org/terms#\tclosed\n");
        directory.write(
            "terms/ex.tsv",
            "term\tkind\tdomain\trange\tstatus\nshelf\tdatatype-property\tbf:Item\txsd:string\n",
        );
        directory.write(
            "ex.ttl",
            "@prefix ex: <http://example.org/terms#> . <http://example.org/terms> a <http://www.w3.org/2002/07/owl#Ontology> .
             ex:Shelf a <http://www.w3.org/2000/01/rdf-schema#Class> .",
        );
        let ontology = Ontology::shipped().extended(&directory.0).expect("good files");
        let is_defined = |iri| matches!(ontology.lookup(iri), Lookup::Defined(_));
        assert!(is_defined("http://example.org/terms#shelf"));
        assert!(is_defined("http://example.org/terms#Shelf"));
        assert!(is_defined("http://id.loc.gov/ontologies/bibframe/title"));
        assert_eq!(ontology.lookup("http://example.org/terms#self"), Lookup::Undefined);
        assert_eq!(ontology.near("ex:self"), ["ex:shelf", "ex:Shelf"]);
    }

    #[test]
    fn every_mistake_in_a_users_files_is_reported() {
        let directory = Directory::new("mistaken");
        directory.write("terms/bf.tsv", "term\tkind\tdomain\trange\tstatus\nshelf\tthing\t\t\t\nroom\tclass\tbff:Item\t\t\nhall\tclass\t\t\told\n");
        directory.write("terms/ex.tsv", "term\tkind\tdomain\trange\tstatus\n");
        directory.write("ex.ttl", "\n<http://example.org/a> <http://example.org/b> .\n");
        let error = Ontology::shipped().extended(&directory.0).expect_err("bad files").to_string();
        let lines: Vec<&str> = error
            .lines()
            .map(|line| line.rsplit_once(std::path::MAIN_SEPARATOR).map_or(line, |(_, end)| end))
            .collect();
        assert_eq!(
            lines[..4],
            [
                "bf.tsv:2: `thing` is no kind of term",
                "bf.tsv:3: `bff:Item` is neither an IRI nor a name with a known prefix",
                "bf.tsv:4: `old` is no status; leave it empty or write `deprecated`",
                "ex.tsv:1: `ex` is no known prefix; add it to prefixes.tsv",
            ]
        );
        assert!(lines[4].starts_with("ex.ttl:2: "), "{}", lines[4]);
    }

    #[test]
    fn a_directory_that_cannot_be_read_is_named() {
        let error =
            Ontology::shipped().extended(Path::new("/nowhere/at/all")).expect_err("no such directory");
        assert_eq!(error.to_string(), "cannot read `/nowhere/at/all`");
    }

    /// A directory that is removed when the test ends.
    struct Directory(PathBuf);

    impl Directory {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("pinakes-ontology-{name}-{}", std::process::id()));
            fs::create_dir_all(path.join("terms")).expect("a writable temporary directory");
            Directory(path)
        }

        fn write(&self, file: &str, text: &str) {
            fs::write(self.0.join(file), text).expect("a writable temporary directory");
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}
