//! The registry of sources, rows S1.1 to S1.5 and C.1 of the requirements: each test's name
//! begins with the row, its comment quotes the criterion.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use oxrdfio::{RdfFormat, RdfParser};
use pinakes::ontology::{dcat, dcterms, pin, rdf};
use pinakes::source::{PROFILES, Registry, Source, Technique};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use support::{BASE, CATALOGUE, Desk, marc, project};

/// The columns as the requirement names them.
const SEVEN: [&str; 7] = [
    "Name",
    "Website or social network",
    "Content type",
    "Amount of content",
    "Harvesting technique",
    "Harvesting complexity level",
    "Metadata model",
];

/// A catalogue with every shipped description.
fn with_profiles() -> Desk {
    let desk = Desk::new();
    for (name, _) in PROFILES {
        desk.run(&format!("pinakes source add --from {name}")).ok();
    }
    desk
}

fn rows(desk: &Desk, query: &str) -> Vec<String> {
    let text = desk.run(&format!("pinakes query --quiet --format csv {query}")).ok().text();
    text.lines().skip(1).map(|line| line.trim().to_owned()).collect()
}

fn profile(name: &str) -> Source {
    let (_, text) = PROFILES.iter().find(|(known, _)| *known == name).unwrap();
    Registry::check(name, Path::new(name), text).unwrap()
}

/// S1.1: "The source list prints and exports exactly these seven fields, as table, CSV, JSON
/// and RDF"
#[test]
fn s1_1_table_csv_json_and_rdf_have_exactly_the_seven_columns() {
    let desk = with_profiles();
    let count = PROFILES.len();

    let json = desk.run("pinakes source list --format json").ok().json();
    let json = json.as_array().unwrap();
    assert_eq!(json.len(), count);
    for row in json {
        assert_eq!(row.as_object().unwrap().keys().collect::<Vec<_>>(), SEVEN);
    }
    let plain = |row: &serde_json::Value, column: &str| match &row[column] {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };

    let text = desk.run("pinakes source list --format csv").ok().stdout;
    let mut csv = csv::Reader::from_reader(text.as_slice());
    assert_eq!(csv.headers().unwrap().iter().collect::<Vec<_>>(), SEVEN);
    let records: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), count);
    for (record, row) in records.iter().zip(json) {
        assert_eq!(record.iter().collect::<Vec<_>>(), SEVEN.map(|column| plain(row, column)));
    }

    let table = desk.run("pinakes source list").ok().text();
    let mut lines = table.lines();
    let (header, rule) = (lines.next().unwrap(), lines.next().unwrap());
    // The dashes say where columns begin and end.
    let columns: Vec<&str> = rule.split("  ").collect();
    assert_eq!(columns.len(), SEVEN.len());
    assert_eq!(header.split("  ").map(str::trim).filter(|name| !name.is_empty()).collect::<Vec<_>>(), SEVEN);
    assert_eq!(lines.count(), count);

    let seven = [
        dcterms::TITLE,
        dcat::LANDING_PAGE,
        pin::TYPE_OF_CONTENT,
        pin::AMOUNT_OF_CONTENT,
        pin::HARVESTING_TECHNIQUE,
        pin::COMPLEXITY_LEVEL,
        pin::METADATA_MODEL,
    ];
    for (format, syntax) in [("ttl", RdfFormat::Turtle), ("nt", RdfFormat::NTriples)] {
        let text = desk.run(&format!("pinakes source list --format {format}")).ok().stdout;
        let mut said: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for quad in RdfParser::from_format(syntax).for_slice(&text) {
            let quad = quad.unwrap();
            said.entry(quad.subject.to_string()).or_default().insert(quad.predicate.into_string());
        }
        assert_eq!(said.len(), count);
        let mut expected: BTreeSet<String> = seven.iter().map(|term| term.as_str().to_owned()).collect();
        expected.insert(rdf::TYPE.as_str().to_owned());
        for (source, predicates) in said {
            assert_eq!(predicates, expected, "{source}");
        }
    }
}

/// S1.1, in the catalogue: what `source list` shows is there for queries, and follows edits.
#[test]
fn s1_1_the_catalogue_mirrors_the_descriptions() {
    let desk = with_profiles();
    let names = |desk: &Desk| -> BTreeSet<String> {
        rows(desk, "-e 'SELECT ?n { GRAPH ?g { ?s a pin:Source ; dcterms:title ?n } }'").into_iter().collect()
    };
    assert_eq!(names(&desk).len(), PROFILES.len());
    let rapper = desk.run(&format!("pinakes export --graph {BASE}sources --format ntriples")).ok().text();
    assert!(!rapper.contains("API_KEY"), "names of variables are nobody's business: {rapper}");

    desk.run("pinakes source edit discogs name=Discography").ok();
    assert!(names(&desk).contains("Discography") && !names(&desk).contains("Discogs"));
    desk.run("pinakes source remove discogs").ok();
    assert!(!names(&desk).contains("Discography"));

    // By hand: the next command that writes follows.
    let file = format!("{CATALOGUE}/sources/loc.toml");
    let text = String::from_utf8(desk.read(&file)).unwrap();
    desk.write(&file, text.replace("\"Library of Congress\"", "\"LoC\""));
    desk.write("one.mrc", marc::book("b1", "Walden"));
    desk.run("pinakes import --source loc one.mrc").ok();
    assert!(names(&desk).contains("LoC"));
    // A mistake takes nothing away.
    desk.write(&file, text.replace("complexity", "compexity"));
    let said = desk.run("pinakes import --source loc one.mrc").ok().complaint();
    assert!(said.contains("pinakes source list"), "{said}");
    assert!(names(&desk).contains("LoC"));
    // And a store made anew has the same.
    desk.write(&file, text);
    desk.run("pinakes rebuild").ok();
    assert_eq!(names(&desk).len(), PROFILES.len() - 1);
}

/// S1.2: "Asking for sources of a subject returns them ranked by relevance; the four examples
/// ship as registered descriptors (not fetched in tests)"
#[test]
fn s1_2_sources_of_a_subject_are_ranked() {
    let desk = with_profiles();
    let ranked = |subject: &str| -> Vec<String> {
        let json = desk.run(&format!("pinakes source list --subject {subject} --json")).ok().json();
        json.as_array().unwrap().iter().map(|row| row["Name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ranked("music")[..2], ["Discogs", "AllMusic"]);
    assert_eq!(ranked("science")[..2], ["ScienceDirect", "ResearchGate"]);
    assert!(!ranked("music").contains(&"ScienceDirect".to_owned()));
    desk.run("pinakes source edit allmusic subjects.music=1").ok();
    desk.run("pinakes source edit discogs subjects.music=0.2").ok();
    assert_eq!(ranked("music")[0], "AllMusic");
    assert_eq!(ranked("music").last().unwrap(), "Discogs");
}

/// S1.3: "Changing a source's technique field changes the harvester used, with no code change"
#[test]
fn s1_3_one_word_decides_who_harvests() {
    let desk = Desk::new();
    desk.run("pinakes source add --from bnf").ok();
    let source = |desk: &Desk| {
        let registry = Registry::read(&desk.path(CATALOGUE)).unwrap();
        registry.get("bnf").cloned().unwrap()
    };
    let refused = source(&desk).harvester().unwrap_err().to_string();
    assert!(refused.contains("later release"), "{refused}");
    desk.run("pinakes source edit bnf technique=oai-pmh").ok();
    assert_eq!(source(&desk).harvester().ok(), Technique::OaiPmh.harvester());
    // Without what the other harvester needs, the word is refused.
    let said = desk.run("pinakes source edit bnf technique=file").exits(1).complaint();
    assert!(said.contains("file.paths"), "{said}");
    desk.run("pinakes source edit bnf technique=file file.paths=dump.mrc").ok();
    assert_eq!(source(&desk).harvester().ok(), Technique::File.harvester());
}

/// S1.4: "Level is stored, shown, and used in scheduling or in the estimate of duration"
#[test]
fn s1_4_the_level_is_stored_shown_and_used() {
    let desk = Desk::new();
    desk.run("pinakes source add --from bnf").ok();
    let estimate = |level: u8| {
        desk.run(&format!("pinakes source edit bnf complexity={level}")).ok();
        let shown = desk.run("pinakes source show bnf").ok().text();
        assert!(shown.contains(&format!("complexity level  {level}: ")), "{shown}");
        let registry = Registry::read(&desk.path(CATALOGUE)).unwrap();
        registry.get("bnf").unwrap().estimate().unwrap()
    };
    let seconds: Vec<u64> = (1..=5).map(estimate).collect();
    assert!(seconds.is_sorted_by(|left, right| left < right), "{seconds:?}");
    let level = rows(&desk, "-e 'SELECT ?l { GRAPH ?g { ?s pin:complexityLevel ?l } }'");
    assert_eq!(level, ["5"]);
}

/// S1.5: "A source can be added, edited, disabled from CLI, file and web page; invalid entries
/// are refused with a field-level message" (the web page comes later)
#[test]
fn s1_5_added_edited_and_disabled_by_command_and_by_file() {
    let desk = Desk::new();
    desk.run("pinakes source add repo name=Repository website=https://repo.example technique=manual").ok();
    desk.run("pinakes source edit repo model=MODS").ok();
    desk.run("pinakes source disable repo").ok();
    desk.write(
        &format!("{CATALOGUE}/sources/other.toml"),
        "name = \"Other\"\nwebsite = \"https://other.example\"\ntechnique = \"manual\"\nenabled = false\n",
    );
    let listed = desk.run("pinakes source list --keys").ok().text();
    assert_eq!(listed, "other  Other  (disabled)\nrepo   Repository  (disabled)\n");

    let before = desk.read(&format!("{CATALOGUE}/sources/repo.toml"));
    for (field, value) in [
        ("complexity", "9"),
        ("website", "repo.example"),
        ("subjects.music", "high"),
        ("technique", "telepathy"),
    ] {
        let ran = desk.run(&format!("pinakes source edit repo {field}={value} --messages json")).exits(1);
        let first = ran.complaint().lines().next().unwrap().to_owned();
        let said: serde_json::Value = serde_json::from_str(&first).unwrap();
        assert_eq!(said["field"], field);
        assert!(said["line"].as_u64().is_some_and(|line| line > 0), "{said}");
        assert!(said["message"].as_str().unwrap().contains(&format!("`{field}`")), "{said}");
    }
    assert_eq!(desk.read(&format!("{CATALOGUE}/sources/repo.toml")), before, "nothing was changed");
}

/// Two commands at a time write one after the other; neither loses what the other wrote.
#[test]
fn a_description_is_whole_at_every_moment() {
    let desk = Desk::new();
    desk.run("pinakes source add repo name=Repository website=https://repo.example technique=manual").ok();
    let left = std::fs::read_dir(desk.path(CATALOGUE).join("sources")).unwrap();
    let names: Vec<String> = left.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names, ["repo.toml"], "no half-written file is left behind");
}

/// What `remove` does to records is asked for, and what it withdraws stays in the archive.
#[test]
fn removing_a_source_keeps_or_withdraws_its_records() {
    let desk = Desk::new();
    desk.write("two.mrc", [marc::book("b1", "Walden"), marc::book("b2", "Erewhon")].concat());
    desk.write("one.mrc", marc::book("b9", "Faust"));
    for key in ["shop", "other"] {
        desk.run(&format!("pinakes source add {key} name=Shop website=https://s.example technique=manual"))
            .ok();
    }
    desk.run("pinakes import --source shop two.mrc").ok();
    desk.run("pinakes import --source other one.mrc").ok();

    let said = desk.run("pinakes source remove shop").exits(2).complaint();
    assert!(said.contains("--keep-records") && said.contains("--withdraw-records"), "{said}");
    desk.run("pinakes source show shop").ok();

    desk.run("pinakes source remove shop --withdraw-records").ok();
    desk.run("pinakes source show shop").exits(2);
    assert_eq!(rows(&desk, "report/records-by-source"), [format!("{BASE}source/other,1")]);
    assert_eq!(desk.run("pinakes record list shop").ok().text(), "b1  (withdrawn)\nb2  (withdrawn)\n");
    assert_eq!(
        desk.run("pinakes record show shop b1 --version 1 --raw").ok().stdout,
        marc::book("b1", "Walden")
    );
    desk.run("pinakes verify").ok();

    desk.run("pinakes source remove other --keep-records").ok();
    assert_eq!(rows(&desk, "report/records-by-source"), [format!("{BASE}source/other,1")]);
    desk.run("pinakes rebuild").ok();
    assert_eq!(rows(&desk, "report/records-by-source"), [format!("{BASE}source/other,1")]);
}

/// A backup without the descriptions would lose what somebody wrote.
#[test]
fn descriptions_are_in_the_backup() {
    let desk = with_profiles();
    desk.run("pinakes backup copy").ok();
    desk.run("pinakes restore copy --catalogue restored").ok();
    let listed =
        |catalogue: &str| desk.run(&format!("pinakes -c {catalogue} source list --json")).ok().json();
    assert_eq!(listed("restored"), listed(CATALOGUE));
    assert_eq!(listed("copy").as_array().unwrap().len(), PROFILES.len());
}

/// On a terminal the question is asked until it is answered.
#[test]
fn on_a_terminal_remove_asks_what_becomes_of_the_records() {
    let desk = Desk::new();
    desk.write("one.mrc", marc::book("b1", "Walden"));
    for key in ["one", "two"] {
        desk.run(&format!("pinakes source add {key} name=S website=https://s.example technique=manual")).ok();
        desk.run(&format!("pinakes import --source {key} one.mrc")).ok();
    }
    // `script` (bsdutils) gives the command a terminal.
    let ask = |key: &str, answers: &str| {
        let line = format!("script --quiet --return --command 'pinakes source remove {key}' /dev/null");
        desk.run_with(&line, answers.as_bytes()).ok().text()
    };
    let said = ask("one", "perhaps\nkeep\n");
    assert_eq!(said.matches("Keep or withdraw them?").count(), 2, "{said}");
    assert!(said.contains("one: removed; 1 record kept"), "{said}");
    assert!(ask("two", "withdraw\n").contains("two: removed; 1 record withdrawn"));
    assert_eq!(rows(&desk, "report/records-by-source"), [format!("{BASE}source/one,1")]);
}

/// What is known of an authority source and of the record that stands for it.
struct Authority {
    key: &'static str,
    sample: &'static str,
    /// The model in which the sample is decoded.
    format: &'static str,
    id: &'static str,
    title: &'static str,
    agent: &'static str,
}

const AUTHORITIES: [Authority; 6] = [
    Authority {
        key: "banq",
        sample: "banq.mrc",
        format: "marc21",
        id: "0000900002",
        title: "Maria Chapdelaine",
        agent: "Hémon, Louis, 1880-1913",
    },
    Authority {
        key: "bl",
        sample: "bl.mrc",
        format: "marc21",
        id: "900000001",
        title: "Erewhon, or, Over the range",
        agent: "Butler, Samuel, 1835-1902",
    },
    Authority {
        key: "bnf",
        sample: "bnf.xml",
        format: "unimarc",
        id: "FRBNF900000050000001",
        title: "Walden ou la Vie dans les bois",
        agent: "Thoreau, Henry David, 1817-1862",
    },
    Authority {
        key: "europeana",
        sample: "europeana.rdf",
        format: "rdf",
        id: "http://data.europeana.eu/item/90000/museum_0008",
        title: "Ulysses and the Sirens",
        agent: "John William Waterhouse",
    },
    Authority {
        key: "lac",
        sample: "lac.mrc",
        format: "marc21",
        id: "900000003",
        title: "Anne of Green Gables",
        agent: "Montgomery, L. M. (Lucy Maud), 1874-1942",
    },
    Authority {
        key: "loc",
        sample: "loc.xml",
        format: "marc21",
        id: "9000004",
        title: "Walden",
        agent: "Thoreau, Henry David, 1817-1862",
    },
];

/// C.1: "Six named source profiles with model and access method"
#[test]
fn c_1_six_profiles_name_model_and_access_method() {
    for Authority { key, .. } in AUTHORITIES {
        let source = profile(key);
        assert!(!source.model.is_empty() && !source.note.is_empty(), "{key}");
        let access = match source.technique {
            Technique::OaiPmh => source.oai.is_some(),
            Technique::File => source.file.is_some(),
            _ => source.endpoint.is_some(),
        };
        assert!(access, "{key} does not say where its records are");
    }
}

/// C.1: "each tested against a recorded sample in its real format"
#[test]
fn c_1_a_sample_of_each_authority_source_is_mapped() {
    let desk = Desk::new();
    for Authority { key, sample, format, id, title, agent } in AUTHORITIES {
        desk.run(&format!("pinakes source add --from {key}")).ok();
        let file = project("tests/profiles").join(sample);
        let ran = desk.run(&format!("pinakes import --source {key} {} --json", file.display())).ok();
        let summary = ran.json();
        assert_eq!(
            (&summary["new"], &summary["rejected"]),
            (&1.into(), &0.into()),
            "{key}: {}",
            ran.complaint()
        );
        assert_eq!(summary["diagnostics"], serde_json::json!({}), "{key}: {}", ran.complaint());

        let shown = desk.run(&format!("pinakes record show {key} {id} --json")).ok().json();
        let said = shown["statements"].as_array().unwrap();
        let says = |part: &str| said.iter().any(|statement| statement.as_str().unwrap().contains(part));
        assert!(says(&format!("pinakes#format> \"{format}\"")), "{key}: {said:#?}");
        assert!(says(&format!("/mainTitle> \"{title}\"")), "{key}: {said:#?}");
        assert!(says(&format!("rdf-schema#label> \"{agent}\"")), "{key}: {said:#?}");
        assert!(says(&format!("pinakes#source> <{BASE}source/{key}>")), "{key}: {said:#?}");
    }
}

/// A profile that needs a key waits until somebody has one, and names the variable.
#[test]
fn profiles_that_need_credentials_are_added_disabled() {
    let desk = Desk::new();
    for (name, _) in PROFILES {
        let needs = !profile(name).access.variables().is_empty();
        let ran = desk.run(&format!("pinakes source add --from {name}")).ok();
        let registry = Registry::read(&desk.path(CATALOGUE)).unwrap();
        let source = registry.get(name).unwrap();
        assert_eq!(source.enabled, !needs && profile(name).enabled, "{name}");
        for variable in source.access.variables() {
            assert!(ran.complaint().contains(variable), "{name}: {}", ran.complaint());
        }
    }
    desk.run("pinakes source add mine --from europeana enabled=true").ok();
    assert!(Registry::read(&desk.path(CATALOGUE)).unwrap().get("mine").unwrap().enabled);
}

/// The value of a variable is nowhere: not in what is shown, not in the store, not on disk.
#[test]
fn the_value_of_a_credential_is_never_shown() {
    let desk = Desk::new();
    desk.run("pinakes source add --from europeana").ok();
    for line in [
        "pinakes source show europeana",
        "pinakes source show europeana --json",
        "pinakes source show europeana --format ttl",
        "pinakes source list --format json",
        "pinakes export --graph all",
        "cat catalogue/sources/europeana.toml",
        "pinakes -vv source edit europeana complexity=4",
    ] {
        let ran = desk.run(&format!("EUROPEANA_API_KEY=hunter2 {line}")).ok();
        assert!(!ran.text().contains("hunter2") && !ran.complaint().contains("hunter2"), "{line}");
    }
    let shown = desk.run("EUROPEANA_API_KEY=hunter2 pinakes source show europeana").ok().text();
    assert!(shown.contains("EUROPEANA_API_KEY (set)"), "{shown}");
}
