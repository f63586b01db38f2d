//! One source must not speak for the others.

use crate::catalogue::{Bounded, Catalogue, Graphs};
use crate::effort::Effort;
use crate::pipeline::serving::describing::{MOST_READ, describe};
use crate::serve::Description;
use oxrdf::{NamedNode, Quad};
use oxrdfio::{RdfFormat, RdfParser};

const PREFIXES: &str = "\
    @base <https://c.example/> .
    @prefix bf: <http://id.loc.gov/ontologies/bibframe/> .
    @prefix dcterms: <http://purl.org/dc/terms/> .
    @prefix lclang: <http://id.loc.gov/vocabulary/languages/> .
    @prefix pin: <https://w3id.org/pinakes#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix void: <http://rdfs.org/ns/void#> .
";

/// A book of an honest source, and one of a source that names what is not its own.
const RECORDS: &str = "
    GRAPH <record/good/1> {
        <record/good/1> rdfs:label \"Walden\" ; bf:language lclang:eng .
        <record/good/1#instance> a bf:Instance ; bf:title \"Walden\" ;
            bf:adminMetadata <http://o.example/thing> ; dcterms:source <source/good> .
        <http://o.example/thing> rdfs:label \"The good thing\" .
    }
    GRAPH <record/evil/1> {
        bf:title rdfs:label \"HACKED property\" .
        bf:Instance rdfs:label \"HACKED kind\" .
        lclang:eng rdfs:label \"HACKED language\" .
        <record/good/1> rdfs:label \"AAA HACKED record\" .
        <record/good/1#instance> rdfs:label \"HACKED instance\" .
        <http://o.example/thing> rdfs:label \"AAA HACKED thing\" .
        <http://o.example/person> rdfs:label \"AAA HACKED person\" .
        <source/good> rdfs:label \"AAA HACKED source\" ; dcterms:title \"AAA HACKED source\" .
        <concept/cat> rdfs:label \"AAA HACKED concept\" .
        <run/1> rdfs:label \"AAA HACKED run\" .
        <work/1> dcterms:isReplacedBy <https://evil.example/> .
        <work/2> dcterms:isReplacedBy <work/3> .
        <work/old> dcterms:isReplacedBy <work/evil> .
    }
    GRAPH <sources> { <source/good> rdfs:label \"The good source\" }
    GRAPH <provenance> { <run/1> a pin:Run }
";

/// The same, merged.
const MASTER: &str = "
    <instance/1> a bf:Instance ; rdfs:label \"Walden\" ; bf:title \"Walden\" ; bf:language lclang:eng ;
        bf:adminMetadata <http://o.example/thing> ; dcterms:relation <work/new> ;
        pin:member <record/good/1#instance> .
    <work/new> rdfs:label \"A work\" ; bf:agent <http://o.example/person> .
    <agent/1> rdfs:label \"A person\" ; pin:member <http://o.example/person> .
    GRAPH <resolution> {
        <work/old> dcterms:isReplacedBy <work/new> .
        <record/good/1> pin:mergeStatus pin:Merged .
        <work/lost> dcterms:isReplacedBy <https://evil.example/> .
    }
";

/// A vocabulary that whoever runs the catalogue loaded.
const VOCABULARY: &str = "
    GRAPH <vocabularies> { <vocabulary/terms> a void:Dataset }
    GRAPH <vocabulary/terms> { bf:title rdfs:label \"titre\"@fr, \"title proper\"@en . bf:Instance rdfs:label \"edition\" .
        <concept/cat> rdfs:label \"cat\" }
";

fn catalogue(parts: &[&str]) -> Catalogue {
    let catalogue = Catalogue::in_memory(Graphs::new("https://c.example/").unwrap()).unwrap();
    let text = format!("{PREFIXES}{}", parts.concat());
    let quads: Vec<Quad> =
        RdfParser::from_format(RdfFormat::TriG).for_slice(text.as_bytes()).collect::<Result<_, _>>().unwrap();
    catalogue.backend().patch(Vec::new(), quads).unwrap();
    catalogue
}

fn described(catalogue: &Catalogue, path: &str) -> Option<Description> {
    let effort = Effort::unbounded();
    let store = Bounded::new(catalogue, &effort, MOST_READ);
    describe(&store, NamedNode::new(format!("https://c.example/{path}")).unwrap()).unwrap()
}

#[test]
fn no_record_says_what_things_of_others_are_called() {
    for (parts, path) in [
        (&[RECORDS][..], "record/good/1"),
        (&[RECORDS, MASTER], "record/good/1"),
        (&[RECORDS, MASTER], "instance/1"),
    ] {
        let labels = described(&catalogue(parts), path).unwrap().labels;
        assert!(labels.values().all(|label| !label.contains("HACKED")), "{path}: {labels:?}");
        let called = |iri: &str| labels.get(iri).map(String::as_str);
        assert_eq!(called("http://id.loc.gov/ontologies/bibframe/title"), None);
        assert_eq!(called("http://id.loc.gov/vocabulary/languages/eng"), Some("English"));
        assert_eq!(called("http://o.example/thing"), Some("The good thing"), "{path}");
        if path.starts_with("record") {
            assert_eq!(called("https://c.example/record/good/1"), Some("Walden"));
            assert_eq!(called("https://c.example/source/good"), Some("The good source"));
        } else {
            assert_eq!(called("https://c.example/work/new"), Some("A work"));
        }
    }
    let work = described(&catalogue(&[RECORDS, MASTER]), "work/new").unwrap();
    assert_eq!(work.labels["http://o.example/person"], "A person", "as the entry that it is part of");
}

/// What the program keeps it answers for, also while the union of all graphs stands for the master.
#[test]
fn no_record_describes_sources_concepts_or_runs() {
    for parts in [&[RECORDS, VOCABULARY][..], &[RECORDS, MASTER, VOCABULARY]] {
        let catalogue = catalogue(parts);
        for (path, object) in [("source/good", "\"The good source\""), ("concept/cat", "\"cat\"")] {
            let said: Vec<String> = described(&catalogue, path)
                .unwrap()
                .triples
                .iter()
                .map(|triple| triple.object.to_string())
                .collect();
            assert_eq!(said, [object], "{path}");
        }
    }
    for parts in [&[RECORDS][..], &[RECORDS, MASTER]] {
        let run = described(&catalogue(parts), "run/1").unwrap();
        assert_eq!(run.triples.len(), 1, "{:?}", run.triples);
    }
    // What people add to it, they add to the master.
    let note = "<source/good> dcterms:description \"ours\" .";
    assert_eq!(described(&catalogue(&[RECORDS, note]), "source/good").unwrap().triples.len(), 2);
}

#[test]
fn vocabularies_say_what_properties_and_kinds_are_called() {
    let catalogue = catalogue(&[RECORDS, MASTER, VOCABULARY]);
    for path in ["record/good/1", "instance/1"] {
        let labels = described(&catalogue, path).unwrap().labels;
        assert_eq!(labels["http://id.loc.gov/ontologies/bibframe/title"], "title proper");
        assert_eq!(labels["http://id.loc.gov/ontologies/bibframe/Instance"], "edition");
    }
}

#[test]
fn only_resolving_forwards_and_only_within_the_catalogue() {
    let catalogue = catalogue(&[RECORDS, MASTER]);
    for path in ["work/1", "work/2", "work/lost"] {
        assert!(described(&catalogue, path).is_none_or(|found| found.moved_to.is_none()), "{path}");
    }
    let moved = described(&catalogue, "work/old").unwrap().moved_to;
    assert_eq!(moved.unwrap().as_str(), "https://c.example/work/new");
}
