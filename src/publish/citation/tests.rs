//! Citations read from graphs, and written so that nothing in them does harm.

use super::*;
use oxrdf::{NamedNode, Triple};
use oxrdfio::{RdfFormat, RdfParser};
use proptest::prelude::*;

const PREFIXES: &str = "@prefix bf: <http://id.loc.gov/ontologies/bibframe/> .
    @prefix bflc: <http://id.loc.gov/ontologies/bflc/> .
    @prefix dcterms: <http://purl.org/dc/terms/> .
    @prefix pin: <https://w3id.org/pinakes#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix rel: <http://id.loc.gov/vocabulary/relators/> .
    @prefix : <https://catalogue.example/> .\n";

fn read(turtle: &str) -> Citation {
    let text = format!("{PREFIXES}{turtle}");
    let quads = RdfParser::from_format(RdfFormat::Turtle).for_slice(text.as_bytes());
    let triples: Vec<Triple> = quads.map(|quad| Triple::from(quad.unwrap())).collect();
    citation(&NamedNode::new_unchecked("https://catalogue.example/instance/1"), &triples)
}

fn person(role: Role, family: &str, given: &str) -> Contributor {
    Contributor { role, name: Name::Person { family: family.to_owned(), given: given.to_owned() } }
}

const WALDEN: &str = "
    <https://catalogue.example/instance/1> a bf:Instance ; bf:instanceOf :w ; pin:contentType <https://catalogue.example/content-type/book> ;
        bf:title :t1, :t2, :t3 ; rdfs:label \"Walden : or, Life in the woods\", \"Уолден\"@ru-Cyrl ;
        bf:editionStatement \"2nd ed.\" ; dcterms:issued \"2004\" ; dcterms:publisher \"Princeton University Press\" ;
        bf:provisionActivity [ a bf:Publication ; bflc:simplePlace \"Princeton\" ] ;
        pin:isbn \"9780691096124\" ; pin:doi \"10.1515/9781400833184\" ; bf:electronicLocator <https://books.example/walden> .
    :t1 a bf:Title ; bf:mainTitle \"Walden\" ; bf:subtitle \"or, Life in the woods\" .
    :t2 a bf:Title ; bf:mainTitle \"Уолден\"@ru-Cyrl .
    :t3 a bf:VariantTitle ; bf:mainTitle \"Life in the woods\" .
    :w a bf:Work, bf:Text ; bf:contribution :c1, :c2, :c3, :c4 ; dcterms:language \"en\" ;
        bf:subject [ rdfs:label \"Solitude\" ], [ rdfs:label \"Concord (Mass.)\" ] ;
        bf:summary [ rdfs:label \"Two years in the woods\" ] .
    :c1 a bf:PrimaryContribution ; bf:agent [ a bf:Person ; rdfs:label \"Thoreau, Henry David, 1817-1862\" ; pin:name \"Thoreau, Henry David\", \"Торо, Генри\"@ru-Cyrl ] .
    :c2 a bf:Contribution ; bf:role rel:edt ; bf:agent [ a bf:Person ; rdfs:label \"Shanley, J. Lyndon\" ] .
    :c3 a bf:Contribution ; bf:role rel:wst, rel:aui ; bf:agent [ a bf:Person ; rdfs:label \"Updike, John\" ] .
    :c4 a bf:Contribution ; bf:agent [ a bf:Organization ; rdfs:label \"Concord Lyceum, Friends of\" ] .";

#[test]
fn a_book_is_cited_from_its_entry() {
    let expected = Citation {
        id: "https://catalogue.example/instance/1".to_owned(),
        kind: Kind::Book,
        title: "Walden".to_owned(),
        subtitle: Some("or, Life in the woods".to_owned()),
        contributors: vec![
            person(Role::Author, "Thoreau", "Henry David"),
            person(Role::Author, "Updike", "John"),
            person(Role::Editor, "Shanley", "J. Lyndon"),
            Contributor { role: Role::Other, name: Name::Literal("Concord Lyceum, Friends of".to_owned()) },
        ],
        edition: Some("2nd ed.".to_owned()),
        publisher: Some("Princeton University Press".to_owned()),
        place: Some("Princeton".to_owned()),
        date: Some("2004".to_owned()),
        isbn: Some("9780691096124".to_owned()),
        doi: Some("10.1515/9781400833184".to_owned()),
        url: Some("https://books.example/walden".to_owned()),
        language: Some("en".to_owned()),
        summary: Some("Two years in the woods".to_owned()),
        keywords: vec!["Concord (Mass.)".to_owned(), "Solitude".to_owned()],
        ..Citation::default()
    };
    let mut found = read(WALDEN);
    found.keywords.sort();
    assert_eq!(found, expected);
}

#[test]
fn an_article_stands_in_its_journal() {
    let article = read(
        "<https://catalogue.example/instance/1> a bf:Instance ; bf:instanceOf :w ; rdfs:label \"Natural history\" .
         :w bf:relation :r, :s . :r bf:relationship bf:partOf ; bf:part \"Vol. 3, no. 1 (July 1842), p. 19-40\" ;
             bf:associatedResource [ rdfs:label \"The dial\" ; pin:issn \"1234-5679\" ] .
         :s bf:relationship bf:hasSeries ; bf:associatedResource [ rdfs:label \"A series\" ] .",
    );
    let some = |text: &str| Some(text.to_owned());
    assert_eq!((article.kind, article.title.as_str()), (Kind::Article, "Natural history"));
    assert_eq!((article.container_title, article.series), (some("The dial"), some("A series")));
    assert_eq!((article.volume, article.issue, article.pages), (some("3"), some("1"), some("19-40")));
    assert_eq!(article.issn, some("1234-5679"));
}

#[test]
fn kinds_follow_what_is_said() {
    let cases = [
        (
            "<https://catalogue.example/instance/1> bf:instanceOf :w . :w bf:dissertation [ bf:grantingInstitution [ rdfs:label \"Harvard\" ] ] .",
            Kind::Thesis,
        ),
        ("<https://catalogue.example/instance/1> bf:instanceOf :w . :w a bf:NotatedMusic .", Kind::Score),
        ("<https://catalogue.example/instance/1> bf:instanceOf :w . :w a bf:MusicAudio .", Kind::Sound),
        (
            "<https://catalogue.example/instance/1> bf:issuance <http://id.loc.gov/vocabulary/issuance/serl> .",
            Kind::Journal,
        ),
        (
            "<https://catalogue.example/instance/1> pin:contentType <https://catalogue.example/content-type/web-page> .",
            Kind::Website,
        ),
        // A work that is the entry, and a record that describes one.
        ("<https://catalogue.example/instance/1> a bf:Work, bf:Cartography .", Kind::Map),
        (
            "<https://catalogue.example/instance/1> pin:describes :i . :i bf:instanceOf :w . :w a bf:MovingImage .",
            Kind::Film,
        ),
        ("", Kind::Other),
    ];
    for (turtle, kind) in cases {
        assert_eq!(read(turtle).kind, kind, "{turtle}");
    }
}

/// The graphs that the rules make of whole records: each has a title, and nobody is lost.
#[test]
fn golden_records_can_be_cited() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut cited = 0;
    for format in ["iso2709", "marcxml", "mods", "oai_dc"] {
        for case in std::fs::read_dir(folder.join(format)).unwrap() {
            let text = std::fs::read(case.unwrap().path().join("expected.nq")).unwrap_or_default();
            let mut graphs: std::collections::BTreeMap<String, Vec<Triple>> =
                std::collections::BTreeMap::new();
            for quad in RdfParser::from_format(RdfFormat::NQuads).for_slice(&text) {
                let quad = quad.unwrap();
                graphs.entry(quad.graph_name.to_string()).or_default().push(Triple::from(quad));
            }
            for (name, triples) in graphs.iter().filter(|(name, _)| name.contains("/record/")) {
                let entry = NamedNode::new_unchecked(name.trim_matches(['<', '>']));
                let found = citation(&entry, triples);
                assert!(!found.title.is_empty(), "{name}");
                let contributions =
                    triples.iter().filter(|t| t.predicate.as_str().ends_with("/contribution")).count();
                assert!(found.contributors.len() <= contributions.max(1), "{name}");
                assert_eq!(found.contributors.is_empty(), contributions == 0, "{name}: {found:?}");
                cited += 1;
            }
        }
    }
    assert!(cited > 10, "{cited}");
}

#[test]
fn walden_in_three_formats() {
    let walden = [read(WALDEN)];
    let bib = bibtex(&walden);
    assert!(bib.starts_with("@book{thoreau2004walden-"), "{bib}");
    for line in [
        "  author = {Thoreau, Henry David and Updike, John},",
        "  editor = {Shanley, J. Lyndon},",
        "  title = {{Walden: or, Life in the woods}},",
        "  year = {2004},",
        "  doi = {10.1515/9781400833184},",
    ] {
        assert!(bib.lines().any(|known| known == line), "{line} in {bib}");
    }
    let ris = ris(&walden);
    for line in
        ["TY  - BOOK", "AU  - Thoreau, Henry David", "A2  - Shanley, J. Lyndon", "PY  - 2004", "ER  - "]
    {
        assert!(ris.split("\r\n").any(|known| known == line), "{line} in {ris}");
    }
    let csl: serde_json::Value = serde_json::from_str(&csl_json(&walden)).unwrap();
    assert_eq!(csl[0]["type"], "book");
    assert_eq!(csl[0]["author"][0], serde_json::json!({ "family": "Thoreau", "given": "Henry David" }));
    assert_eq!(csl[0]["issued"], serde_json::json!({ "date-parts": [[2004]] }));
}

#[test]
fn keys_are_stable_and_unique() {
    let one = Citation { id: "a".to_owned(), title: "Über Äpfel".to_owned(), ..Citation::default() };
    let other = Citation { id: "b".to_owned(), ..one.clone() };
    let found = key::keys(&[one.clone(), other.clone(), one.clone()]);
    assert_eq!(found[2], format!("{}-2", found[0]));
    assert_ne!(found[0], found[1]);
    assert_eq!(key::keys(&[other, one]), [found[1].clone(), found[0].clone()]);
    assert!(found[0].starts_with("refuber-") || found[0].starts_with("uber-"), "{}", found[0]);
}

#[test]
fn dates_are_as_exact_as_they_are() {
    let parts = |text: &str| Citation { date: Some(text.to_owned()), ..Citation::default() }.date_parts();
    assert_eq!(parts("2004"), [2004]);
    assert_eq!(parts("2004-05"), [2004, 5]);
    assert_eq!(parts("2004-05-06"), [2004, 5, 6]);
    assert_eq!(parts("2004-13"), [2004]);
    assert_eq!(parts("2004/2005"), [2004]);
    for unclear in ["", "c2004", "20045", "[2004]", "19uu", "2004x", "é004"] {
        assert_eq!(parts(unclear), Vec::<u32>::new(), "{unclear}");
    }
}

#[test]
fn every_kind_and_role_has_its_words() {
    for (name, kind) in Kind::ALL {
        assert_eq!(Kind::from_name(name), Some(kind));
        assert!(!kind.bibtex().is_empty() && kind.ris().len() >= 3 && !kind.csl().is_empty(), "{name}");
    }
    for (name, role) in Role::ALL {
        assert!(role.csl().is_some(), "{name}");
    }
    assert_eq!(Role::of_relator("trl"), Role::Translator);
    assert_eq!(Role::of_relator("zzz"), Role::Other);
    assert_eq!(Role::of_relator(""), Role::Other);
}

prop_compose! {
    fn hostile()(texts in proptest::collection::vec("[\\PC\u{0}-\u{1f}\u{85}\u{2028}\u{fffe}{}\\\\@%,\"' -]{0,15}", 24),
                 kind in 0_usize..12, roles in proptest::collection::vec(0_usize..9, 0..4)) -> Citation {
        let some = |at: usize| Some(texts[at].clone());
        let contributor = |(at, role): (usize, &usize)| {
            let name = if at % 2 == 0 {
                Name::Person { family: texts[at].clone(), given: texts[at + 4].clone() }
            } else {
                Name::Literal(texts[at].clone())
            };
            Contributor { role: Role::ALL[*role].1, name }
        };
        Citation {
            id: texts[0].clone(), kind: Kind::ALL[kind].1, title: texts[8].clone(), subtitle: some(9),
            contributors: roles.iter().enumerate().map(contributor).collect(),
            container_title: some(10), series: some(11), edition: some(12), volume: some(13), issue: some(14),
            pages: some(15), publisher: some(16), place: some(17), date: some(18), isbn: some(19), issn: some(20),
            doi: some(21), url: some(22), language: some(23), summary: some(1), keywords: texts[2..5].to_vec(),
        }
    }
}

proptest! {
    #[test]
    fn hostile_texts_stay_inside_their_fields(citations in proptest::collection::vec(hostile(), 1..4)) {
        // BibTeX: an entry ends where its braces do, and each line is a field.
        let text = bibtex(&citations);
        prop_assert_eq!(text.matches("\n}\n").count(), citations.len());
        for line in text.lines() {
            let depth = line.matches('{').count() as i64 - line.matches('}').count() as i64;
            let expected = if line.starts_with('@') { 1 } else if line == "}" { -1 } else { 0 };
            prop_assert_eq!(depth, expected, "{}", line);
            let is_field = line.starts_with("  ") && line.ends_with("},") && line.contains(" = {");
            prop_assert!(is_field || line.starts_with('@') || line == "}" || line.is_empty(), "{}", line);
        }
        // RIS: each line has a tag and a text.
        let text = ris(&citations);
        prop_assert!(!text.chars().any(|c| c.is_control() && c != '\r' && c != '\n'));
        prop_assert_eq!(text.split("\r\n").filter(|line| *line == "ER  - ").count(), citations.len());
        for line in text.split("\r\n").filter(|line| !line.is_empty()) {
            prop_assert_eq!(line.get(2..6), Some("  - "), "{}", line);
            prop_assert!(!line.contains(['\r', '\n']), "{}", line);
            prop_assert!(line == "ER  - " || !line[6..].trim().is_empty(), "{}", line);
        }
        // JSON: as many items, and no empty text.
        let items: Vec<serde_json::Map<String, serde_json::Value>> =
            serde_json::from_str(&csl_json(&citations)).unwrap();
        prop_assert_eq!(items.len(), citations.len());
        for (key, value) in items.iter().flatten().filter(|(key, _)| *key != "id") {
            prop_assert!(value.as_str() != Some(""), "{}", key);
        }
    }
}
