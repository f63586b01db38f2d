//! What people decide and declare: reviewed pairs, decisions of every kind, survivorship.

use super::{books, members, resolve, rows, shelf};
use crate::support::{BASE, Desk, project};

/// Two pairs that are alike and not alike enough: the years and the publishers speak against it.
fn uncertain() -> (Desk, Vec<serde_json::Value>) {
    let desk = Desk::with_sample();
    resolve(&desk);
    let listed = desk.run("pinakes resolve review --json --limit 1000").ok().json();
    (desk, listed.as_array().unwrap().clone())
}

fn name(side: &serde_json::Value) -> String {
    format!("{}/{}", side["source"].as_str().unwrap(), side["id"].as_str().unwrap())
}

/// A pair that was accepted is one entry, one that was rejected is not, and nobody is asked again.
#[test]
fn a_reviewed_pair_is_decided_and_does_not_come_back() {
    let (desk, listed) = uncertain();
    assert!(listed.len() >= 2, "{listed:?}");
    let id = |pair: &serde_json::Value| pair["id"].as_str().unwrap().to_owned();
    let (rejected, accepted) = (&listed[0], &listed[listed.len() - 1]);
    desk.run(&format!("pinakes resolve review --quiet --reject {}", id(rejected))).ok();
    desk.run(&format!("pinakes resolve review --quiet --accept {}", id(accepted))).ok();
    assert!(!members(&desk, &name(&rejected["left"])).contains(&name(&rejected["right"])));
    assert!(members(&desk, &name(&accepted["left"])).contains(&name(&accepted["right"])));
    let waiting = || -> Vec<String> {
        let listed = desk.run("pinakes resolve review --json --limit 1000").ok().json();
        listed.as_array().unwrap().iter().map(id).collect()
    };
    assert!(!waiting().contains(&id(rejected)) && !waiting().contains(&id(accepted)));
    desk.run("pinakes resolve --full --quiet").ok();
    assert!(!waiting().contains(&id(rejected)), "a run over everything asks again");
    let unknown = desk.run(&format!("pinakes resolve review --accept {}", id(rejected))).exits(2);
    assert!(unknown.complaint().contains("waits for review"), "{}", unknown.complaint());
}

/// Whoever decides again about the same two has changed their mind: that is said, and no error.
#[test]
fn the_last_decision_about_two_records_counts() {
    let desk = shelf();
    desk.run("pinakes resolve join north/2 south/b").ok();
    assert_eq!(members(&desk, "north/2"), ["north/2", "south/b"]);
    let told = desk.run("pinakes resolve never south/b north/2").ok();
    assert!(told.complaint().contains("decision 1 does not count any more"), "{}", told.complaint());
    assert_eq!(members(&desk, "north/2"), ["north/2"]);
    desk.run("pinakes resolve join north/2 south/b").ok();
    assert_eq!(members(&desk, "north/2"), ["north/2", "south/b"]);
}

/// A merge says when it was made, and one that a person made says so.
#[test]
fn a_joined_pair_says_who_joined_it_and_when() {
    let desk = shelf();
    let merges = "SELECT (COUNT(?m) AS ?n) { GRAPH ?g { ?m a pin:Merge FILTER NOT EXISTS { ?m prov:endedAtTime ?t } } }";
    assert_eq!(rows(&desk, merges), ["0"]);
    desk.run("pinakes resolve join north/2 south/b --by ann").ok();
    let why = format!(
        "SELECT ?reason ?by {{ GRAPH ?g {{ ?m pin:pair ?p . ?p pin:member <{BASE}record/north/2#instance>, <{BASE}record/south/b#instance> ; \
         pin:reason ?reason ; prov:wasDerivedFrom ?d . ?d prov:wasAssociatedWith ?by }} }}"
    );
    assert_eq!(rows(&desk, &why), [format!("a person joined them,{BASE}agent/ann")]);
    assert_eq!(rows(&desk, merges), ["0"]);
    // Of two that were merged already, too.
    desk.run("pinakes resolve join north/1 south/a --by ann").ok();
    assert_eq!(rows(&desk, &why.replace("north/2", "north/1").replace("south/b", "south/a")).len(), 1);
    desk.run("pinakes resolve undo 2").ok();
    assert_eq!(rows(&desk, &why.replace("north/2", "north/1").replace("south/b", "south/a")).len(), 0);
}

/// Two works that a person joins belong to one hub, of whatever language they are; what nothing
/// compares cannot be decided about.
#[test]
fn works_are_joined_to_hubs_and_what_is_not_compared_is_refused() {
    let desk = Desk::new();
    books(&desk, "north", "1,Walden,\"Thoreau, Henry David\",,Ticknor,Boston,1854,English,,357,\n");
    books(
        &desk,
        "south",
        "a,Leben in den Wäldern,\"Thoreau, Henry David\",,Concord,Berlin,1897,German,,340,\n",
    );
    resolve(&desk);
    let hubs = "SELECT (COUNT(DISTINCT ?h) AS ?n) { ?h a bf:Hub ; pin:member ?m }";
    assert_eq!(rows(&desk, hubs), ["2"]);
    desk.run("pinakes resolve join 'north/1#work' 'south/a#work'").ok();
    assert_eq!(rows(&desk, hubs), ["1"]);
    assert_eq!(
        rows(&desk, "SELECT (COUNT(DISTINCT ?w) AS ?n) { ?w bf:expressionOf ?h ; pin:member ?m }"),
        ["2"]
    );
    resolve(&desk);
    let refused = desk.run("pinakes resolve never 'north/1#hub' 'south/a#hub'").exits(2).complaint();
    assert!(refused.contains("hubs follow their works"), "{refused}");
    assert_eq!(desk.run("pinakes resolve decisions --json").ok().json().as_array().unwrap().len(), 1);
    let refused = desk.run("pinakes resolve show 'hub/0'").exits(2);
    assert!(refused.complaint().contains("no entry"), "{}", refused.complaint());
    desk.run("pinakes resolve never 'north/1#work' 'south/a#work'").ok();
    assert_eq!(rows(&desk, hubs), ["2"]);
}

/// S4.8, again: edited survivorship counts from the next run on, though no record and no group is
/// another, and so does the importance of a source.
#[test]
fn s4_8_edited_survivorship_changes_the_preferred_values() {
    let desk = shelf();
    let label =
        format!("SELECT ?label {{ ?i pin:member <{BASE}record/north/1#instance> ; rdfs:label ?label }}");
    let profile = std::fs::read_to_string(project("mappings/resolve/instance.toml")).unwrap();
    for (first, preferred) in [("south", "\"Walden, or, Life in the woods\""), ("north", "Walden")] {
        let ranked =
            profile.replacen("[survivorship]\n", &format!("[survivorship]\nrank = [\"{first}\"]\n"), 1);
        desk.write("catalogue/mappings/resolve/instance.toml", ranked);
        resolve(&desk);
        assert_eq!(rows(&desk, &label), [preferred], "{first}");
    }
    assert_eq!(resolve(&desk)["changed"], 0, "nothing was edited since");
    std::fs::remove_file(desk.path("catalogue/mappings/resolve/instance.toml")).unwrap();
    for (first, preferred) in [("south", "\"Walden, or, Life in the woods\""), ("north", "Walden")] {
        let described = "website=https://books.example/ technique=manual importance=0.9";
        desk.run(&format!("pinakes source add {first} name={first} {described}")).ok();
        resolve(&desk);
        assert_eq!(rows(&desk, &label), [preferred], "{first}");
        desk.run(&format!("pinakes source edit {first} importance=0.1")).ok();
    }
}

/// An identifier that becomes that of too many after weights were learned is not believed any more,
/// and reported.
#[test]
fn an_identifier_that_crowds_up_later_merges_nothing() {
    let desk = Desk::new();
    let row = |number: usize, isbn: &str| {
        let words =
            ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "jetty"];
        let word = |place: usize| words[number / 10_usize.pow(place as u32) % 10];
        format!(
            "{number},The {} {} of {},\"Name{number}, Ann\",,House{number},Rome,{},English,{isbn},{},\n",
            word(0),
            word(1),
            word(2),
            1900 + number % 100,
            100 + number
        )
    };
    let some: String = (0..200).map(|number| row(number, "")).collect();
    books(&desk, "early", &some);
    assert_eq!(resolve(&desk)["crowded"], serde_json::Value::Null);
    let many: String = (300..360).map(|number| row(number, "9780140430578")).collect();
    books(&desk, "late", &many);
    let told = desk.run("pinakes resolve").ok();
    assert!(told.complaint().contains("9780140430578"), "{}", told.complaint());
    let merged = rows(&desk, "SELECT ?i { ?i a bf:Instance ; pin:member ?a, ?b FILTER(?a != ?b) }");
    assert_eq!(merged, [""; 0]);
    assert_eq!(resolve(&desk)["compared"]["instance"], 0, "what is known is not compared again");
}

/// A person with more books than an identifier may have records is no crowd: homonyms stay apart.
#[test]
fn s0_12_prolific_homonyms_stay_apart() {
    let desk = Desk::new();
    let book = |number: usize| {
        let (name, orcid) = match number % 2 {
            0 => ("Smith, John", "0000-0001-2345-6789"),
            _ => ("Smith, John", "0000-0002-1825-0097"),
        };
        format!(
            "=LDR  00000nam a2200000 i 4500\n=001  {number}\n=100  1\\$a{name}$1https://orcid.org/{orcid}\n=245  10$aTreatise number {number} on things\n\n"
        )
    };
    desk.write("smiths.mrk", (0..140).map(book).collect::<String>());
    desk.run("pinakes import --quiet --source library smiths.mrk").ok();
    resolve(&desk);
    let persons = rows(&desk, "SELECT (COUNT(DISTINCT ?a) AS ?n) { ?a a bf:Person ; pin:member ?m }");
    assert_eq!(persons, ["2"]);
}

/// Records that have an ISSN or a number of a national bibliography in common, and no word, are compared.
#[test]
fn every_identifier_brings_records_together() {
    let serial = |id: &str, title: &str, field: &str| {
        format!("=LDR  00000nas a2200000 i 4500\n=001  {id}\n{field}\n=245  00$a{title}\n\n")
    };
    for field in ["=022  0\\$a0044-3328", "=015  \\\\$aB67-25185"] {
        let desk = Desk::new();
        let text =
            [serial("1", "Zeitschrift für Physik", field), serial("2", "Annals of mathematics", field)];
        desk.write("serials.mrk", text.concat());
        desk.run("pinakes import --quiet --source library serials.mrk").ok();
        assert_eq!(resolve(&desk)["compared"]["instance"], 1, "{field}");
        assert_eq!(members(&desk, "library/1"), ["library/1"], "{field}");
    }
}

/// Entries keep their names when a member leaves and comes back, whichever name is the smaller number.
#[test]
fn every_entry_has_its_name_again_after_undo() {
    let desk = Desk::new();
    let titles = ["Walden", "Erewhon", "Hudibras", "Emma", "Persuasion", "Middlemarch", "Kim", "Ulysses"];
    let rows_of = |prefix: &str| -> String {
        let row = |(number, title): (usize, &&str)| {
            format!(
                "{prefix}{number},{title},\"Name{number}, Ann\",,House{number},London,{},English,,{},\n",
                1850 + number,
                200 + number
            )
        };
        titles.iter().enumerate().map(row).collect()
    };
    books(&desk, "north", &rows_of("n"));
    books(&desk, "south", &rows_of("s"));
    resolve(&desk);
    let named = |number: usize| {
        let shown = desk.run(&format!("pinakes resolve show south/s{number} --json")).ok().json();
        shown["iri"].as_str().unwrap().to_owned()
    };
    for (number, title) in titles.iter().enumerate() {
        let before = named(number);
        desk.run(&format!("pinakes resolve split north/n{number} south/s{number}")).ok();
        assert_ne!(named(number), before);
        desk.run(&format!("pinakes resolve undo {}", 2 * number + 1)).ok();
        assert_eq!(named(number), before, "{title}");
    }
}

/// Texts that would leave no entries, or are of another profile, are refused and change nothing.
#[test]
fn a_text_that_says_nothing_is_refused() {
    let desk = shelf();
    let entries = rows(&desk, "SELECT (COUNT(*) AS ?n) { ?e pin:member ?m }");
    for text in ["", "a\tb\tc\n", "property\tclass\tentry\n"] {
        desk.write("catalogue/mappings/resolve/entries.tsv", text);
        let refused = desk.run("pinakes resolve").exits(2).complaint();
        assert!(refused.contains("entries.tsv"), "{refused}");
    }
    std::fs::remove_file(desk.path("catalogue/mappings/resolve/entries.tsv")).unwrap();
    let profile = std::fs::read_to_string(project("mappings/resolve/agent.toml")).unwrap();
    desk.write("catalogue/mappings/resolve/instance.toml", profile);
    let refused = desk.run("pinakes resolve").exits(2).complaint();
    assert!(refused.contains("instance.toml") && refused.contains("`agent`"), "{refused}");
    std::fs::remove_file(desk.path("catalogue/mappings/resolve/instance.toml")).unwrap();
    resolve(&desk);
    assert_eq!(rows(&desk, "SELECT (COUNT(*) AS ?n) { ?e pin:member ?m }"), entries);
    desk.write("truth.csv", "left,right,same\nnorth/1,south/a,maybe\n");
    let refused = desk.run("pinakes resolve evaluate --truth truth.csv").exits(2).complaint();
    assert!(refused.contains("`maybe`") && refused.contains("neither yes, no nor unsure"), "{refused}");
}
