//! How documents are cut: whole descriptions, named graphs, and what is too large.

use super::*;
use crate::decode::{Piece, split as split_input};

const PREFIXES: &str = "
    @prefix bf: <http://id.loc.gov/ontologies/bibframe/> .
    @prefix dcterms: <http://purl.org/dc/terms/> .
    @prefix foaf: <http://xmlns.com/foaf/0.1/> .
    @prefix frbr: <http://purl.org/vocab/frbr/core#> .
    @prefix rdam: <http://rdaregistry.info/Elements/m/> .
    @prefix rdae: <http://rdaregistry.info/Elements/e/> .
    @prefix rdaw: <http://rdaregistry.info/Elements/w/> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix schema: <http://schema.org/> .
    @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
    @prefix : <r:> .
";

/// The records of a document: their ids and their lines.
fn cut(text: &str, format: Format) -> (Vec<(Option<String>, String)>, Vec<Code>) {
    let mut records = Vec::new();
    let mut noticed = Vec::new();
    for piece in split_input(Box::new(text.as_bytes()), format, "x") {
        match piece.unwrap() {
            Piece::Record(payload, diagnostics) => {
                noticed.extend(diagnostics.iter().map(|diagnostic| diagnostic.code));
                let record = decode(&payload.bytes, &mut RecordLog::default()).unwrap();
                records.push((record.id, String::from_utf8(payload.bytes).unwrap()));
            }
            Piece::Reject(_, reason) => noticed.push(reason.code),
        }
    }
    (records, noticed)
}

/// Checks the records of a Turtle document: each is its id (`_` for none), then the texts in it.
#[track_caller]
fn check_cut(text: &str, expected: &[&str]) {
    let (records, noticed) = cut(&format!("{PREFIXES}{text}"), Format::Turtle);
    assert_eq!(noticed, []);
    let found: Vec<String> = records
        .iter()
        .map(|(id, lines)| {
            let mut texts: Vec<&str> = lines.lines().filter_map(|line| line.split('"').nth(1)).collect();
            texts.sort_unstable();
            texts.dedup();
            let id = id.as_deref().map_or("_", |id| id.trim_start_matches("r:"));
            format!("{id}: {}", texts.join(" ")).trim_end().to_owned()
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn an_instance_holds_its_work_its_agents_and_what_they_are_called() {
    check_cut(
        ":instance a bf:Instance ; bf:instanceOf :work ; rdfs:label 'i' .
         :work a bf:Work ; bf:contribution [ bf:agent :agent ; bf:role :aut ] .
         :agent a bf:Person ; rdfs:label 'agent' . :aut a bf:Role ; rdfs:label 'author' .",
        &["instance: agent author i"],
    );
}

#[test]
fn the_work_belongs_to_an_instance_that_does_not_name_it_and_so_do_items() {
    check_cut(
        ":work a bf:Work ; bf:hasInstance :instance ; rdfs:label 'w' .
         :hub a bf:Hub ; bf:hasExpression :work ; rdfs:label 'h' .
         :instance a bf:Instance ; rdfs:label 'i' .
         :item a bf:Item ; bf:itemOf :instance ; rdfs:label 'copy' .",
        &["instance: copy h i w"],
    );
}

#[test]
fn two_instances_of_one_work_are_two_records_with_that_work() {
    check_cut(
        ":work a bf:Work ; bf:hasInstance :one , :two ; rdfs:label 'w' .
         :one a bf:Instance ; bf:instanceOf :work ; rdfs:label '1' ; bf:relatedTo :two .
         :two a bf:Instance ; bf:instanceOf :work ; rdfs:label '2' ; bf:relatedTo :one .",
        &["one: 1 w", "two: 2 w"],
    );
}

#[test]
fn a_work_without_instance_is_a_record_unless_another_holds_it() {
    check_cut(
        ":alone a bf:Work ; rdfs:label 'alone' .
         :instance a bf:Instance ; bf:instanceOf :work ; rdfs:label 'i' .
         :work a bf:Work ; bf:relatedTo :other ; rdfs:label 'w' . :other a bf:Work ; rdfs:label 'other' .",
        &["alone: alone", "instance: i other w"],
    );
}

/// marc2bibframe2 writes linking entries (76X-78X) as instances with names of their own.
#[test]
fn what_is_mentioned_by_a_catalogued_work_belongs_to_its_record() {
    check_cut(
        ":1-Work a bf:Work ; bf:adminMetadata [ rdfs:label 'admin' ] ; bf:hasInstance :1-Instance ;
             bf:relation [ bf:associatedResource :1-Work760 ] ; rdfs:label 'w' .
         :1-Instance a bf:Instance ; bf:instanceOf :1-Work ; rdfs:label 'i' .
         :1-Work760 a bf:Work ; bf:hasInstance :1-Instance760 ; rdfs:label 'series' .
         :1-Instance760 a bf:Instance ; bf:instanceOf :1-Work760 ; rdfs:label 'volume' .",
        &["1-Instance: admin i series volume w"],
    );
}

#[test]
fn frbr_and_rda_begin_with_the_manifestation_with_or_without_classes() {
    check_cut(
        ":m a frbr:Manifestation ; dcterms:title 'm' . :e a frbr:Expression ; frbr:embodiment :m , :n .
         :w a frbr:Work ; dcterms:title 'w' ; frbr:realization :e , :f .
         :f a frbr:Expression ; dcterms:title 'other' .
         :copy frbr:exemplarOf :m ; rdfs:label 'copy' .",
        &["f: other w", "m: copy m w"],
    );
    check_cut(
        ":m rdam:P30156 'm' ; rdam:P30139 :e . :e rdae:P20231 :w . :w rdaw:P10223 'w' ; rdaw:P10436 :p .
         :p rdfs:label 'p' .",
        &["m: m p w"],
    );
}

#[test]
fn persons_belong_to_the_works_that_name_them_each_with_a_copy() {
    check_cut(
        ":ophelia a schema:Painting ; schema:creator :millais ; schema:name 'Ophelia' .
         :mariana a schema:Painting ; schema:creator :millais ; schema:name 'Mariana' .
         :millais a schema:Person ; schema:name 'Millais' . :rodin a schema:Person ; schema:name 'Rodin' .",
        &["mariana: Mariana Millais", "ophelia: Millais Ophelia", "rodin: Rodin"],
    );
}

#[test]
fn an_edition_holds_its_work_and_its_page_in_schema_org() {
    check_cut(
        ":book a schema:Book ; schema:exampleOfWork :work ; schema:name 'edition' .
         :work a schema:Book ; schema:name 'work' . :page a schema:WebPage ; schema:mainEntity :book ; schema:name 'page' .",
        &["book: edition page work"],
    );
}

#[test]
fn nested_blank_nodes_begin_no_record_whatever_their_class() {
    check_cut(
        ":painting a schema:Painting ; schema:about [ a schema:Book ; schema:name 'Hamlet' ] .
         [] a bf:Instance ; rdfs:label 'unnamed' ; bf:instanceOf [ a bf:Work ; bf:subject :topic ] .
         :topic a bf:Topic ; rdfs:label 'topic' .",
        &["painting: Hamlet", "_: topic unnamed"],
    );
}

#[test]
fn without_classes_what_nothing_points_at_begins_and_a_ring_begins_with_its_first() {
    check_cut(
        ":a :p :b ; :v 'a' . :b :v 'b' . :c :p :b .
         :y :p :z ; :v 'y' . :z :p :y ; :v 'z' . :self :p :self ; :v 'self' .",
        &["a: a b", "c: b", "self: self", "y: y z"],
    );
}

#[test]
fn titled_resources_concepts_and_persons_stay_apart() {
    check_cut(
        ":a dcterms:title 'a' ; dcterms:references :b ; dcterms:creator :p . :b dcterms:title 'b' .
         :p a foaf:Person ; foaf:name 'p' ; foaf:knows :q ; foaf:made :a . :q a foaf:Person ; foaf:name 'q' .",
        &["a: a p q", "b: b"],
    );
    check_cut(
        ":s a skos:ConceptScheme ; skos:hasTopConcept :one . :one a skos:Concept ; skos:prefLabel 'one' ; skos:inScheme :s .
         :two a skos:Concept ; skos:broader :one ; skos:prefLabel 'two' ; skos:inScheme :s .",
        &["one: one", "s:", "two: two"],
    );
}

#[test]
fn the_order_of_statements_does_not_matter() {
    let lines = [
        "<r:a> <r:p> <r:b> .",
        "<r:b> <r:p> <r:a> .",
        "<r:b> <r:p> _:x .",
        "_:x <r:v> \"x\" .",
        "<r:c> <r:p> <r:b> .",
        "<r:d> <r:p> \"d\" .",
    ];
    let reversed: Vec<&str> = lines.iter().rev().copied().collect();
    let (one, _) = cut(&lines.join("\n"), Format::NTriples);
    assert_eq!(one, cut(&reversed.join("\n"), Format::NTriples).0);
    assert_eq!(one.len(), 2);
}

#[test]
fn named_graphs_stay_records_and_share_one_with_a_resource_of_their_name() {
    let text = "<r:x> <r:p> <r:y> <r:g> .\n<r:g> <r:p> <r:z> .\n<r:z> <r:v> \"z\" .\n<r:a> <r:p> <r:g> .\n";
    let (records, _) = cut(text, Format::NQuads);
    let ids: Vec<_> = records.iter().map(|(id, _)| id.as_deref()).collect();
    assert_eq!(ids, [Some("r:a"), Some("r:g")]);
    assert!(records[1].1.contains("<r:x>") && records[1].1.contains("\"z\""));
}

/// A list of everything is no description: what it lists keeps what belongs to it.
#[test]
fn a_list_of_very_many_stands_alone() {
    let text: String = (0..6_000)
        .map(|n| {
            format!(
                "<r:list> <r:item> <r:z{n}> .\n<r:z{n}> <r:by> <r:b{n}> .\n<r:b{n}> <r:v> \"{}\" .\n",
                "v".repeat(500)
            )
        })
        .collect();
    let (records, noticed) = cut(&text, Format::NTriples);
    assert_eq!((records.len(), noticed), (6_001, Vec::new()));
    assert!(records.iter().skip(1).all(|(_, lines)| lines.contains("vvv")));
}

/// Each of the instances would hold the one large work.
#[test]
fn too_much_copying_falls_back_to_subjects_and_says_so() {
    let work = format!("<r:w> <r:v> \"{}\" .\n", "v".repeat(100_000));
    let instances: String = (0..100)
        .map(|n| format!("<r:i{n}> <http://id.loc.gov/ontologies/bibframe/instanceOf> <r:w> .\n"))
        .collect();
    let (records, noticed) = cut(&format!("{work}{instances}"), Format::NTriples);
    assert_eq!((records.len(), noticed), (101, vec![Code::RdfBySubject]));
}

/// Rings and webs of a hundred thousand resources take neither long nor much memory.
#[test]
fn hostile_webs_are_cut_by_subject() {
    let far = |n: usize, step: usize| (n * step + 1) % 100_000;
    let ring: String = (0..100_000).map(|n| format!("<r:{n}> <r:p> <r:{}> .\n", far(n, 1))).collect();
    let web: String = (0..100_000)
        .flat_map(|n| [3, 7, 11].map(|step| format!("<r:{n}> <r:p> <r:{}> .\n", far(n, step))))
        .collect();
    for text in [ring, web] {
        let (records, noticed) = cut(&text, Format::NTriples);
        assert_eq!((records.len(), noticed), (100_000, vec![Code::RdfBySubject]));
    }
}

#[test]
fn faults_of_a_context_come_in_one_order() {
    let terms: Vec<String> = (0..40).map(|number| format!("\"t{number}\": {number}")).collect();
    let text = format!("{{\"@context\": {{{}, \"@id\": \"x:y\", \"a\": \"b\"}}}}", terms.join(", "));
    let faults = || -> Vec<String> {
        let pieces = split_input(Box::new(text.as_bytes()), Format::JsonLd, "x");
        let reason = |piece: Piece| match piece {
            Piece::Reject(_, reason) => Some(reason.message),
            Piece::Record(..) => None,
        };
        pieces.filter_map(|piece| reason(piece.unwrap())).collect()
    };
    let first = faults();
    assert!(first.len() > 1, "{first:?}");
    for _ in 0..20 {
        assert_eq!(faults(), first);
    }
}
