//! One book in every model that is read, taken in by the command and resolved.

use super::{resolve, rows};
use crate::support::{BASE, Desk, project};
use std::collections::BTreeSet;

/// The files of `tests/one-book`, each in a source that is called after its model.
const MODELS: [(&str, &str); 8] = [
    ("bibframe", "walden.bibframe.ttl"),
    ("dublin-core", "walden.oai_dc.xml"),
    ("frbr", "walden.frbr.ttl"),
    ("marc21", "walden.mrk"),
    ("mods", "walden.mods.xml"),
    ("rda", "walden.rda.ttl"),
    ("schema-org", "walden.schema-org.jsonld"),
    ("unimarc", "walden.unimarc.mrk"),
];

/// The five models that row A.1 names.
const NAMED: [&str; 5] = ["dublin-core", "unimarc", "marc21", "rda", "bibframe"];

/// A catalogue of the book in these models, resolved.
fn catalogue(models: &[(&str, &str)]) -> Desk {
    let desk = Desk::new();
    for (source, file) in models {
        let path = project("tests/one-book").join(file);
        let told = desk.run(&format!("pinakes import --source {source} {}", path.display())).ok().text();
        assert!(told.starts_with(&format!("{source}: 1 record read: 1 new")), "{told}");
    }
    resolve(&desk);
    desk
}

/// The source of a record or of a node of one, which must be of this catalogue.
fn source(iri: &str) -> &str {
    let record = iri.strip_prefix(&format!("{BASE}record/"));
    record.and_then(|record| record.split('/').next()).unwrap_or_else(|| panic!("{iri} is of no record"))
}

/// The sources of the rows, one each: none twice and none missing.
#[track_caller]
fn check_sources(found: &[String], models: &[(&str, &str)], what: &str) {
    let sources: BTreeSet<&str> = found.iter().map(|iri| source(iri)).collect();
    let expected: BTreeSet<&str> = models.iter().map(|(source, _)| *source).collect();
    assert_eq!(sources, expected, "{what}");
    assert_eq!(found.len(), expected.len(), "{what}: {found:#?}");
}

/// One hub with the hub of every record, one expression of it, and instances for all of them.
#[track_caller]
fn check_one_work(models: &[(&str, &str)]) {
    let desk = catalogue(models);
    // One hub altogether, and one FRBR work and one expression among the entries.
    assert_eq!(rows(&desk, "SELECT (COUNT(DISTINCT ?h) AS ?n) { ?h a bf:Hub }"), ["1"]);
    for class in ["bf:Hub", "frbr:Work", "frbr:Expression"] {
        let entries = format!("SELECT DISTINCT ?e {{ ?e a {class} ; pin:member ?m }}");
        assert_eq!(rows(&desk, &entries).len(), 1, "{class}");
    }
    let members = rows(&desk, "SELECT DISTINCT ?m { ?hub a bf:Hub, frbr:Work ; pin:member ?m }");
    check_sources(&members, models, "members of the hub");
    assert!(members.iter().all(|member| member.ends_with("#hub")), "{members:#?}");
    // The members are what each record says, with the classes of FRBR at every level.
    let described = rows(
        &desk,
        "SELECT DISTINCT ?record { GRAPH ?record { ?record pin:describes ?instance . \
         ?instance a bf:Instance, frbr:Manifestation ; bf:instanceOf ?work . \
         ?work a bf:Work, frbr:Expression ; bf:expressionOf ?hub . ?hub a bf:Hub, frbr:Work } }",
    );
    check_sources(&described, models, "records with all classes");
    // And each record is reached from the hub through the entries of all three levels.
    let reached = rows(
        &desk,
        "SELECT DISTINCT ?m { ?hub a bf:Hub, frbr:Work . \
         ?work a bf:Work, frbr:Expression ; bf:expressionOf ?hub . \
         ?instance a bf:Instance, frbr:Manifestation ; bf:instanceOf ?work ; pin:member ?m }",
    );
    check_sources(&reached, models, "instances of the hub");
}

/// A.1: "One book given in all five yields five records that map to graphs which join to one Work";
/// DC.1: "As A.1, plus FRBR output classes"
#[test]
fn a_1_dc_1_one_book_in_the_five_models_is_one_hub() {
    let named: Vec<_> = MODELS.into_iter().filter(|(source, _)| NAMED.contains(source)).collect();
    assert_eq!(named.len(), 5);
    check_one_work(&named);
}

/// A.1 and DC.1, again: MODS, schema.org and FRBR beside the five, and every file there is.
#[test]
fn a_1_dc_1_one_book_in_every_model_is_one_hub() {
    let there: BTreeSet<String> = std::fs::read_dir(project("tests/one-book"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "README.md")
        .collect();
    assert_eq!(there, MODELS.map(|(_, file)| file.to_owned()).into());
    check_one_work(&MODELS);
}

/// A.1, the other way round: a book of another author is no member of that hub, whatever its title.
#[test]
fn a_1_a_book_of_another_author_is_another_hub() {
    let desk = catalogue(&MODELS);
    desk.write(
        "other.mrk",
        "=LDR  00000nam a2200000 i 4500\n=001  other\n=100  1\\$aQuill, Barbara,$eauthor.\n\
         =245  10$aWalden /$cBarbara Quill.\n=264  \\1$aLeeds :$bTarn Press,$c1981.\n=300  \\\\$a64 pages\n\n",
    );
    desk.run("pinakes import --quiet --source other other.mrk").ok();
    resolve(&desk);
    let hubs = "SELECT ?hub (COUNT(DISTINCT ?m) AS ?n) { ?hub a bf:Hub ; pin:member ?m } GROUP BY ?hub";
    let mut sizes: Vec<String> =
        rows(&desk, hubs).iter().map(|row| row.rsplit(',').next().unwrap().to_owned()).collect();
    sizes.sort();
    assert_eq!(sizes, ["1", "8"]);
}
