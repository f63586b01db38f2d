//! The shipped rules: sound, tested by their own examples, and doing what the requirements ask.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use oxrdf::graph::CanonicalizationAlgorithm;
use oxrdf::{BlankNode, Graph, NamedNode, NamedOrBlankNode, Term, Triple};
use pinakes::catalogue::{Catalogue, Changes, Embedded, Graphs, Row};
use pinakes::concordance::example::{self, Verdict};
use pinakes::concordance::run::View;
use pinakes::concordance::{Concordances, Origin, Source, turtle};
use pinakes::decode;
use pinakes::map::{self, ContentTypes};
use pinakes::ontology::{Prefixes, pin};
use pinakes::record::{Format, Model, Record};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use support::{BASE, project};

#[test]
fn the_shipped_files_have_no_problem() {
    let set = Concordances::shipped();
    let problems: Vec<String> = set
        .files()
        .iter()
        .flat_map(|file| file.diagnostics())
        .map(|said| pinakes::diagnostic::render::render(&said, Default::default(), false))
        .collect();
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn every_example_of_the_shipped_rules_passes() {
    let set = Concordances::shipped();
    let mut failures = Vec::new();
    let mut passed = 0;
    for loaded in set.files() {
        let Some(file) = &loaded.file else { continue };
        for text in &file.rules {
            let rule = set.rules_of(loaded.source.name()).find(|rule| rule.line == text.line).unwrap();
            for example in &text.examples {
                match example::check(&set, file.model.unwrap(), rule, example) {
                    Verdict::Passed => passed += 1,
                    verdict => failures.push(format!(
                        "mappings/{}:{} {}\n{}",
                        loaded.source.path,
                        example.line,
                        rule.name,
                        verdict.lines().join("\n")
                    )),
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(passed > 900, "{passed} examples");
}

/// What `check` says of a rule for 245.
fn said_of(body: &str) -> Vec<(String, String)> {
    let text = format!(
        "[concordance]\nformat = \"marc21\"\n\n[[rule]]\nname = \"mine\"\n{body}\n\n  [[rule.example]]\n  given = \"245 10 $a x\"\n  gives = ''\n"
    );
    let mut sources = Concordances::shipped_sources();
    sources.push(Source::new("marc21/mine.toml", text, Origin::Loaded(1)));
    let set = Concordances::new(sources);
    let file = set.files().iter().find(|file| file.source.name() == "marc21/mine").unwrap();
    let said = file.problems.iter();
    said.map(|problem| (problem.message.clone(), problem.hint.clone().unwrap_or_default())).collect()
}

/// Each of these once gave no word, the wrong one, or three.
#[test]
fn mistakes_are_told_once_and_with_what_to_do() {
    let check = |body: &str, message: &str, hint: &str| {
        let said = said_of(body);
        assert_eq!(said.len(), 1, "{body}: {said:?}");
        assert!(said[0].0.contains(message) && said[0].1.contains(hint), "{body}: {said:?}");
    };
    let made = |field: &str| format!("field = {field}\nconstruct = '$instance rdfs:label $a .'");
    check(&made("949"), "expected a text in quotes", "write `\"949\"`");
    check(&made("\"245$a\""), "gives the subfield as `$text`", "name the field, `245`, and use `$a`");
    check(&made("\"008/100\""), "`008` ends at position 39; there is no 100", "count from 0");
    check(&made("\"9xx\""), "`9xx` is no tag", "did you mean `9XX`?");
    let bound = |bind: &str| format!("field = \"245\"\n{bind}\nconstruct = '$instance rdfs:label $it .'");
    check(&bound("bind.it = 'UPPER($a)'"), "`UPPER` is not expected here", "SPARQL calls it `UCASE`");
    check(&bound("bind.it = '$value'"), "nothing binds `$value`", "only a rule with `each");
    check(
        "field = \"245\"\nbind.x = '$a'\nconstruct = '$instance rdfs:label $x .'",
        "two letters or more",
        "",
    );
    assert_eq!(
        said_of("field = \"100$a\"\nbind.it = ':at(0)'\nconstruct = '$instance rdfs:label $it .'"),
        []
    );
}

/// The examples are tests, and a rule without one is untested.
#[test]
fn every_rule_with_a_template_has_an_example() {
    let set = Concordances::shipped();
    for loaded in set.files() {
        for rule in loaded.file.iter().flat_map(|file| &file.rules) {
            let tested = rule.construct.is_none() || !rule.examples.is_empty();
            assert!(tested, "mappings/{}:{} {}", loaded.source.path, rule.line, rule.name.value);
        }
    }
}

/// A wrong example must fail, or the two tests above prove nothing.
#[test]
fn an_example_that_is_wrong_fails() {
    let set = Concordances::shipped();
    let loaded = set.files().iter().find(|file| file.source.name() == "marc21/20x-24x-titles").unwrap();
    let file = loaded.file.as_ref().unwrap();
    let text = file.rules.iter().find(|rule| rule.name.value == "title").unwrap();
    let rule = set.rules_of(loaded.source.name()).find(|rule| rule.line == text.line).unwrap();
    let mut example = text.examples[0].clone();
    example.given.value = example.given.value.replace("Walden", "Walking");
    assert!(matches!(example::check(&set, Model::Marc21, rule, &example), Verdict::Differs { .. }));
}

/// A.1: "One book given in all five yields five records that map to graphs which join to one
/// Work" — here: they carry an equal work key; and MODS, schema.org and FRBR beside them.
#[test]
fn a_1_one_book_in_every_model_has_one_work_key() {
    let mut models = BTreeSet::new();
    for entry in fs::read_dir(project("tests/one-book")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name == "README.md" {
            continue;
        }
        let keys: BTreeSet<String> = records(&path)
            .iter()
            .flat_map(graph)
            .filter(|triple| triple.predicate.as_ref() == pin::WORK_KEY)
            .map(|triple| text(&triple.object))
            .collect();
        assert_eq!(keys, BTreeSet::from(["walden/thoreau h".to_owned()]), "{name}");
        models.insert(name);
    }
    for model in ["oai_dc", "mrk", "unimarc", "bibframe", "rda", "mods", "schema-org", "frbr"] {
        assert!(models.iter().any(|name| name.contains(model)), "no {model}");
    }
}

/// A.1, DC.1: the same book in MARC 21 and in UNIMARC gives the same graph, up to the names of
/// the record and its nodes.
#[test]
fn dc_1_marc_21_and_unimarc_give_the_same_graph() {
    for book in ["walden", "dial"] {
        let [marc21, unimarc] =
            [(Model::Marc21, "marc21"), (Model::Unimarc, "unimarc")].map(|(model, name)| {
                let text =
                    fs::read_to_string(project(&format!("tests/golden-pairs/{book}.{name}.txt"))).unwrap();
                let record = example::given(model, &text).unwrap();
                comparable(&graph(&record))
            });
        let only = |these: &[String], those: &[String]| -> Vec<String> {
            these.iter().filter(|line| !those.contains(line)).cloned().collect()
        };
        let (left, right) = (only(&marc21, &unimarc), only(&unimarc, &marc21));
        assert!(
            left.is_empty() && right.is_empty(),
            "{book}\nMARC 21 only: {left:#?}\nUNIMARC only: {right:#?}"
        );
        assert!(marc21.len() > 40, "{book} has only {} statements", marc21.len());
    }
}

/// DC.1: "As A.1, plus FRBR output classes"
#[test]
fn dc_1_descriptions_have_the_classes_of_frbr() {
    let mut models = 0;
    for entry in fs::read_dir(project("tests/one-book")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name == "README.md" {
            continue;
        }
        models += 1;
        let record = records(&path).remove(0);
        let classes: BTreeSet<String> = graph(&record)
            .iter()
            .filter(|triple| triple.predicate.as_str().ends_with("#type"))
            .map(|triple| Prefixes::shipped().shorten(&text(&triple.object)).unwrap_or_default())
            .collect();
        for class in
            ["frbr:Work", "frbr:Expression", "frbr:Manifestation", "bf:Hub", "bf:Work", "bf:Instance"]
        {
            assert!(classes.contains(class), "{name} has no {class}");
        }
    }
    assert_eq!(models, 8);
}

/// A.2: "Rule files per model under `mappings`; coverage report says which source fields are
/// mapped, dropped, kept raw"
#[test]
fn a_2_each_model_has_rules_and_coverage_says_what_became_of_each_field() {
    let set = Concordances::shipped();
    for model in [
        Model::Marc21,
        Model::Marc21Authority,
        Model::Unimarc,
        Model::DublinCore,
        Model::Mods,
        Model::Row,
        Model::Json,
        Model::Html,
        Model::Corpus,
    ] {
        assert!(!set.rules(model).is_empty(), "no rules for {model}");
    }
    for folder in ["bibframe", "frbr", "rda", "schema-org"] {
        assert!(set.queries().iter().any(|query| query.name.starts_with(folder)), "no queries for {folder}");
    }
    let record = example::given(
        Model::Marc21,
        "001 x\n245 10 $a Walden / $c Henry D. Thoreau.\n020 ## $a 0691096120 $9 local\n999 ## $a kept",
    )
    .unwrap();
    let view = View::new(&record);
    let graphs = Graphs::new(BASE).unwrap();
    let types = ContentTypes::shipped();
    let context = context(&graphs, &set, &types);
    let outcome = map::run(&record, &view, &context, &graphs.record("s", "x"));
    let mut coverage = map::Coverage::default();
    coverage.count(&view, &outcome, |_, _| "a reason".to_owned());
    let of = |tag: &str, code: &str| coverage.by_subfield[&(tag.to_owned(), code.to_owned())];
    assert_eq!((of("245", "a").carried, of("245", "c").carried), (1, 1));
    assert_eq!(of("999", "a").kept, 1);
    assert_eq!(
        coverage.total(|_| true).occurrences,
        coverage.by_subfield.values().map(|l| l.occurrences).sum::<u64>()
    );
}

/// A.3: "Title, agent, subject, place, date, identifier access points exist and are searchable
/// for every content type" — here: the same properties hold them, whatever the material.
#[test]
fn a_3_access_points_are_the_same_for_every_kind_of_material() {
    let rest = "100 1# $a Thoreau, Henry David.\n245 10 $a Walden.\n264 #1 $a Boston : $b Ticknor, $c 1854.\n\
                650 #0 $a Solitude.\n651 #0 $a Concord (Mass.)\n020 ## $a 0691096120";
    for kind in ["am", "cm", "em", "gm", "im", "jm", "km", "mm", "om", "pc", "rm", "tm", "as"] {
        let text = format!("LDR 00000n{kind} a2200000 a 4500\n001 x\n{rest}");
        let triples = graph(&example::given(Model::Marc21, &text).unwrap());
        let has = |property: &str, value: &str| {
            let iri = Prefixes::shipped().expand(property).unwrap();
            triples.iter().any(|triple| triple.predicate == iri && text_of(&triple.object) == value)
        };
        assert!(has("bf:mainTitle", "Walden"), "{kind}: title");
        assert!(has("rdfs:label", "Thoreau, Henry David"), "{kind}: agent");
        assert!(has("rdfs:label", "Solitude"), "{kind}: subject");
        assert!(has("rdfs:label", "Concord (Mass.)"), "{kind}: place");
        assert!(has("bflc:simpleDate", "1854"), "{kind}: date");
        assert!(has("pin:isbn", "9780691096124"), "{kind}: identifier");
    }
}

/// C.2: "Authority records load as SKOS/MADS-like concepts and agents with variants and
/// identifiers"
#[test]
fn c_2_authority_records_become_concepts_and_agents() {
    let person = "LDR 00000nz  a2200000n  4500\n001 n79-1\n024 7# $a 0000000121234567 $2 isni\n\
                  100 1# $a Thoreau, Henry David, $d 1817-1862\n400 1# $a Thoreau, H. D.\n\
                  510 2# $a Transcendental Club";
    let triples = graph(&example::given(Model::Marc21Authority, person).unwrap());
    let shown = turtle::write(&triples, "https://catalogue.example/record/s/x");
    for expected in [
        "a bf:Person",
        "skos:prefLabel \"Thoreau, Henry David, 1817-1862\"",
        "skos:altLabel \"Thoreau, H. D.\"",
        "bf:identifiedBy",
    ] {
        assert!(shown.contains(expected), "no {expected} in\n{shown}");
    }
    let concept = "LDR 00000nz  a2200000n  4500\n001 sh1\n150 ## $a Solitude\n450 ## $a Loneliness, Chosen\n\
                   550 ## $w g $a Social isolation";
    let triples = graph(&example::given(Model::Marc21Authority, concept).unwrap());
    let shown = turtle::write(&triples, "https://catalogue.example/record/s/x");
    for expected in [
        "skos:Concept",
        "skos:prefLabel \"Solitude\"",
        "skos:altLabel \"Loneliness, Chosen\"",
        "skos:broader",
    ] {
        assert!(shown.contains(expected), "no {expected} in\n{shown}");
    }
}

/// D.3: "Conversion rules (dates, names, identifiers, units, codes) are data files with tests"
#[test]
fn d_3_conversions_are_data_files_with_tests() {
    let check = |fields: &str, statement: &str| {
        let triples = graph(&example::given(Model::Marc21, fields).unwrap());
        let shown = turtle::write(&triples, "https://catalogue.example/record/s/x");
        assert!(shown.contains(statement), "no {statement} in\n{shown}");
    };
    check("008 850423s1854    mau           000 0 eng d", "bf:date \"1854\"^^lcdt:edtf");
    check("008 850423s1854    mau           000 0 eng d", "bf:language lclang:eng");
    check("020 ## $a 0-691-09612-0 (alk. paper)", "pin:isbn \"9780691096124\"");
    check("100 1# $a Thoreau, Henry David, $e author. $4 aut", "bf:role rel:aut");
    let lists = fs::read_dir(project("mappings/codes")).unwrap().count();
    assert!(lists > 50, "{lists} code lists");
}

/// S0.13: "SPARQL finds at least one path of each kind (content–person, content–organisation,
/// content–place, person–organisation) from harvested fixtures"
#[test]
fn s0_13_persons_organisations_and_places_are_linked_to_content() {
    let record = "001 x\n100 1# $a Thoreau, Henry David $u Concord Academy\n245 10 $a Walden\n\
                  651 #0 $a Walden Pond (Mass.)\n710 2# $a Ticknor and Fields";
    let graphs = Graphs::new(BASE).unwrap();
    let catalogue = Catalogue::over(Box::new(Embedded::in_memory().unwrap()), graphs.clone());
    let name = graphs.record("s", "x");
    let added = graph(&example::given(Model::Marc21, record).unwrap())
        .into_iter()
        .map(|triple| triple.in_graph(name.clone()))
        .collect();
    catalogue.write(Changes { added, position: 1, ..Changes::default() }).unwrap();
    let rows: Vec<Row> = catalogue.rows("report/relationships", &[]).unwrap();
    let kinds: BTreeSet<String> = rows.iter().map(|row| text(row[0].as_ref().unwrap())).collect();
    for kind in ["content-person", "content-organisation", "content-place", "person-organisation"] {
        assert!(kinds.contains(kind), "no path {kind} in {kinds:?}");
    }
}

/// H.3: "Fixture with two translations, three editions, four copies gives 1 Work, 2 or 3
/// Expressions as stated, 3 Manifestations, 4 Items" — as far as one record goes: each record
/// names its work, expression, manifestation and copies, and the keys say which are the same.
#[test]
fn h_3_records_name_work_expression_manifestation_and_items() {
    let editions = [
        "LDR 00000nam a2200000 a 4500\n001 a\n041 1# $a fre $h eng\n100 1# $a Thoreau, Henry David\n240 10 $a Walden. $l French\n245 10 $a Walden ou La vie dans les bois\n264 #1 $a Paris : $b Gallimard, $c 1922\n852 ## $a BnF $p 1\n852 ## $a BnF $p 2",
        "LDR 00000nam a2200000 a 4500\n001 b\n041 1# $a fre $h eng\n100 1# $a Thoreau, Henry David\n240 10 $a Walden. $l French\n245 10 $a Walden ou La vie dans les bois\n264 #1 $a Paris : $b Aubier, $c 1967\n852 ## $a BnF $p 3",
        "LDR 00000nam a2200000 a 4500\n001 c\n041 1# $a ger $h eng\n100 1# $a Thoreau, Henry David\n240 10 $a Walden. $l German\n245 10 $a Walden oder Hüttenleben im Walde\n264 #1 $a Zürich : $b Manesse, $c 1945\n852 ## $a DNB $p 4",
    ];
    let (mut works, mut expressions, mut manifestations, mut items) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), 0);
    for text in editions {
        let triples = graph(&example::given(Model::Marc21, text).unwrap());
        let values = |property: &str| -> BTreeSet<String> {
            let iri = Prefixes::shipped().expand(property).unwrap();
            triples.iter().filter(|t| t.predicate == iri).map(|t| text_of(&t.object)).collect()
        };
        let keys = values("pin:workKey");
        let uniform =
            keys.iter().find(|key| key.starts_with("walden/")).expect("the key of the uniform title");
        works.insert(uniform.clone());
        expressions.insert((uniform.clone(), values("bf:language")));
        manifestations.extend(values("pin:instanceKey"));
        items += values("bf:hasItem").len();
    }
    assert_eq!((works.len(), expressions.len(), manifestations.len(), items), (1, 2, 3, 4));
}

/// TR.12: "All 16 have a property and a mapping"; TR.13: "All 7 present"
#[test]
fn tr_12_and_tr_13_the_corpus_model_is_mapped_whole() {
    let factors = [
        "text_type",
        "name",
        "author",
        "translator",
        "edition",
        "publishing_house",
        "language",
        "creation_date",
        "amount_of_words",
        "amount_of_words_in_russian_file",
        "original_source",
        "translation_source",
        "keywords",
        "copyright_information",
        "short_description",
        "note",
        "style",
        "category",
        "place",
        "number",
        "source_file_name",
        "russian_file",
        "moderator_validation",
    ];
    assert_eq!(factors.len(), 16 + 3 + 4);
    let set = Concordances::shipped();
    let file = set.files().iter().find(|file| file.source.name() == "corpus/corpus").expect("corpus rules");
    let selected: BTreeSet<String> = set
        .rules_of(file.source.name())
        .flat_map(|rule| &rule.selector.alternatives)
        .map(|alternative| alternative.tag.notation())
        .collect();
    let named: Vec<&str> =
        factors.into_iter().filter(|factor| !selected.iter().any(|tag| tag == factor)).collect();
    assert!(named.is_empty(), "no rule for {named:?}; there are {selected:?}");
    // Each of them reaches a statement: nothing of such a record is left to the fallback.
    let text: String = factors.iter().map(|factor| format!("{factor} {}\n", value_for(factor))).collect();
    let record = example::given(Model::Corpus, &text).unwrap();
    let left: Vec<String> = graph(&record)
        .iter()
        .filter(|triple| triple.predicate.as_ref() == pin::UNMAPPED_VALUE)
        .map(|triple| triple.object.to_string())
        .collect();
    assert!(left.is_empty(), "left to the fallback: {left:?}");
}

fn value_for(factor: &str) -> &'static str {
    match factor {
        "language" => "tat",
        "creation_date" => "1954",
        "amount_of_words" | "amount_of_words_in_russian_file" | "number" => "1234",
        "moderator_validation" => "yes",
        "source_file_name" | "russian_file" => "text-1.txt",
        _ => "Шүрәле",
    }
}

/// DC.7: "Bad file gives file, line, column and hint"
#[test]
fn dc_7_a_bad_rule_file_is_refused_with_file_line_column_and_hint() {
    let desk = support::Desk::new();
    desk.write("bad.toml", "[concordance]\nformat = \"marc21\"\n\n[[rule]]\nname = \"odd-title\"\nfield = \"945\"\nconstruct = '''\n  $instance bf:tittle $a .\n'''\n");
    let ran = desk.run("pinakes mapping load bad.toml");
    assert_eq!(ran.code, Some(1));
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    for part in ["error[unknown-term]", "bad.toml:8:13", "^^^^^^^^^", "did you mean `bf:title`"] {
        assert!(said.contains(part), "no {part} in\n{said}");
    }
    let list = desk.run("pinakes mapping list");
    assert!(!String::from_utf8_lossy(&list.stdout).contains("bad"), "it was loaded all the same");
}

fn context<'a>(graphs: &'a Graphs, set: &'a Concordances, types: &'a ContentTypes) -> map::Context<'a> {
    map::Context { graphs, concordances: set, content_types: types, source: "s", id: "x", default_type: None }
}

/// The statements of a record, the fallback and the trace included.
fn graph(record: &Record) -> Vec<Triple> {
    let graphs = Graphs::new(BASE).unwrap();
    let types = ContentTypes::shipped();
    map::map(record, &context(&graphs, &Concordances::shipped(), &types)).triples
}

fn records(path: &Path) -> Vec<Record> {
    let bytes = fs::read(path).unwrap();
    let name = path.file_name().unwrap().to_string_lossy();
    let format: Format = decode::detect(&bytes, &name).unwrap_or_else(|| panic!("{name} shows no format"));
    decode::read_all(&bytes, format).unwrap().0
}

fn text(term: &Term) -> String {
    text_of(term)
}

fn text_of(term: &Term) -> String {
    match term {
        Term::NamedNode(node) => node.as_str().to_owned(),
        Term::BlankNode(node) => node.as_str().to_owned(),
        Term::Literal(literal) => literal.value().to_owned(),
    }
}

/// A graph without what differs between formats by nature, its nodes named by their place alone.
fn comparable(triples: &[Triple]) -> Vec<String> {
    let record = Graphs::new(BASE).unwrap().record("s", "x");
    let own = |iri: &NamedNode| -> NamedOrBlankNode {
        let subject = NamedOrBlankNode::NamedNode(iri.clone());
        if turtle::is_node(&subject, record.as_str()) {
            let name = iri.as_str().rsplit('#').next().unwrap().replace('-', "x");
            return BlankNode::new(name).unwrap().into();
        }
        subject
    };
    let besides = [pin::FORMAT, pin::FIELDS, pin::TRACE];
    let mut graph = Graph::new();
    for triple in triples.iter().filter(|triple| !besides.contains(&triple.predicate.as_ref())) {
        // What no rule carries is kept in the words of its format.
        if triple.to_string().contains("nmapped") {
            continue;
        }
        let NamedOrBlankNode::NamedNode(subject) = &triple.subject else { panic!("{triple}") };
        let object: Term = match &triple.object {
            Term::NamedNode(node) => own(node).into(),
            object => object.clone(),
        };
        graph.insert(&Triple { subject: own(subject), predicate: triple.predicate.clone(), object });
    }
    graph.canonicalize(CanonicalizationAlgorithm::Unstable);
    let mut lines: Vec<String> = graph.iter().map(|triple| triple.to_string()).collect();
    lines.sort();
    lines
}
