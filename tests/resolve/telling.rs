//! What people are told: why two are apart, which pairs wait for them, what is wrong with a text.

use super::{books, members, resolve, shelf};
use crate::support::{Desk, project};

/// Every mistake in a text is said with the file it is in, by `mapping check` and by a run.
#[test]
fn mistakes_in_texts_are_said_with_their_own_files_and_lines() {
    let desk = shelf();
    let whole = desk.run("pinakes mapping check").ok().text();
    let shipped = |path: &str| std::fs::read_to_string(project(path)).unwrap();
    let line = |text: &str, what: &str| 1 + text.lines().position(|line| line.contains(what)).unwrap();
    let words = shipped("mappings/resolve/words.toml").replacen("\nsmall =", "\nsmal =", 1);
    let agent = shipped("mappings/resolve/agent.toml").replacen("\"frequent\"", "\"frequently\"", 1);
    let work =
        shipped("mappings/resolve/work.toml").replacen("part = [\"different\"]", "pert = [\"different\"]", 1);
    let entries = "# Entries.\nproperty\tclass\tentry\nbf:title\t*\ttittle\nnone:x\t*\twork\n";
    let query = "SELECT ?graph ?entity ?feature ?value\nWHERE {\n  GRAPH ?graph { ?entity ?feature }\n}\n";
    let keys = "# No key.\nSELECT ?graph ?entity WHERE { GRAPH ?graph { ?entity ?p ?o } }\n";
    desk.write("catalogue/mappings/resolve/words.toml", &words);
    desk.write("catalogue/mappings/resolve/work.toml", &work);
    desk.write("catalogue/mappings/resolve/entries.tsv", entries);
    desk.write("catalogue/queries/resolve/agent/features.rq", query);
    desk.write("catalogue/queries/resolve/instance/keys/mine.rq", keys);
    let expected = [
        format!("catalogue/mappings/resolve/words.toml:{}", line(&words, "smal =")),
        format!("catalogue/mappings/resolve/work.toml:{}", line(&work, "pert")),
        "catalogue/mappings/resolve/entries.tsv:3".to_owned(),
        "catalogue/mappings/resolve/entries.tsv:4".to_owned(),
        "catalogue/queries/resolve/agent/features.rq:3".to_owned(),
        "catalogue/queries/resolve/instance/keys/mine.rq:2".to_owned(),
    ];
    let checked = desk.run("pinakes mapping check --messages short").exits(1);
    assert_ne!(checked.text(), whole);
    let ran = desk.run("pinakes resolve").exits(2);
    for place in &expected {
        assert!(checked.complaint().contains(&format!("{place}:")), "{place}: {}", checked.complaint());
        assert!(ran.complaint().contains(&format!("{place}:")), "{place}: {}", ran.complaint());
    }
    assert_eq!(checked.complaint().lines().count(), expected.len(), "{}", checked.complaint());
    // A file that is typed is checked as it would stand among the others, and nothing else is.
    desk.write("drafts/resolve/agent.toml", agent.replacen("merge  = 0.5", "merge  = 1.5", 1));
    let typed = desk.run("pinakes mapping check --messages short drafts/resolve/agent.toml").exits(1);
    assert!(typed.complaint().starts_with("drafts/resolve/agent.toml:"), "{}", typed.complaint());
    assert!(typed.text().starts_with("1 file, 0 rules: 1 error, 0 warnings"), "{}", typed.text());
    // Survivorship is read when all else is well.
    desk.write("drafts/resolve/agent.toml", &agent);
    let typed = desk.run("pinakes mapping check --messages short drafts/resolve/agent.toml").exits(1);
    let place = format!("drafts/resolve/agent.toml:{}:", line(&agent, "frequently"));
    assert!(typed.complaint().starts_with(&place), "{}", typed.complaint());
    assert!(typed.complaint().contains("`frequently` is no rule of survivorship"), "{}", typed.complaint());
    // What is in force is listed and printed, the shipped text or the user's own.
    let listed = desk.run("pinakes mapping list").ok().text();
    for name in ["resolve/instance ", "resolve/words ", "resolve/instance/keys/mine "] {
        assert!(listed.contains(&format!("\n{name}")), "{name}: {listed}");
    }
    assert_eq!(desk.run("pinakes mapping show resolve/words").ok().text().trim_end(), words.trim_end());
    let instance = shipped("mappings/resolve/instance.toml");
    for name in ["resolve/instance", "mappings/resolve/instance.toml"] {
        let shown = desk.run(&format!("pinakes mapping show {name}")).ok().text();
        assert_eq!(shown.trim_end(), instance.trim_end());
    }
    let shown = desk.run("pinakes mapping show queries/resolve/instance/keys/mine.rq").ok().text();
    assert_eq!(shown, keys);
    // Where there is no catalogue the shipped texts are in force.
    let empty = Desk::empty();
    assert_eq!(empty.run("pinakes mapping check").ok().text(), whole);
    empty.run("pinakes mapping show resolve/entries").ok();
}

/// An undo says what it takes back.
#[test]
fn undo_names_the_decision_it_takes_back() {
    let desk = shelf();
    desk.run("pinakes resolve join north/1 south/a").ok();
    desk.run("pinakes resolve never north/2 south/b").ok();
    let told = desk.run("pinakes resolve undo 2").ok().text();
    assert!(told.starts_with("decision 3: undo decision 2 (never north/2 south/b)\n"), "{told}");
    let told = desk.run("pinakes resolve undo 1 --json").ok().json();
    assert_eq!(told["undoes"], serde_json::json!({ "decision": 1, "act": "join" }));
    assert_eq!(told["named"], serde_json::json!(["north/1", "south/a"]));
    // An undo that is taken back, too.
    let told = desk.run("pinakes resolve undo 3").ok().text();
    assert!(told.starts_with("decision 5: undo decision 3 (undo decision 2)\n"), "{told}");
}

/// Who names an entry where a record is meant has its one member, or is told what there is.
#[test]
fn an_entry_stands_for_its_only_member() {
    let desk = shelf();
    let iri = |record: &str| -> String {
        let shown = desk.run(&format!("pinakes resolve show '{record}' --json")).ok().json();
        shown["iri"].as_str().unwrap().to_owned()
    };
    let (both, erewhon, hudibras) = (iri("north/1"), iri("north/2"), iri("south/b"));
    let short = erewhon.split_once(".example/").unwrap().1.to_owned();
    let told = desk.run(&format!("pinakes resolve explain {short} '<{hudibras}>'")).ok().text();
    assert!(told.starts_with("north/2 and south/b: two entries"), "{told}");
    for command in ["explain", "join", "never"] {
        let refused = desk.run(&format!("pinakes resolve {command} {both} north/2")).exits(2).complaint();
        let meant = "is an entry of 2 members, and one of them is meant; name it: north/1, south/a";
        assert!(refused.contains(meant), "{refused}");
    }
    let refused = desk.run(&format!("pinakes resolve split north/1 {both}")).exits(2).complaint();
    assert!(refused.contains("is an entry of 2 members"), "{refused}");
    for (name, what) in [("hub/x", "16 hexadecimal digits"), ("hub/12", "there is no entry `hub/12`")] {
        for command in ["show", "explain north/1", "join north/1"] {
            let refused = desk.run(&format!("pinakes resolve {command} {name}")).exits(2).complaint();
            assert!(refused.contains(what), "{command} {name}: {refused}");
            assert!(refused.contains("`pinakes resolve show SOURCE/ID`"), "{refused}");
        }
    }
    assert_eq!(desk.run("pinakes resolve decisions --json").ok().json(), serde_json::json!([]));
    let told = desk.run(&format!("pinakes resolve join {erewhon} {hudibras}")).ok().text();
    assert!(told.starts_with("decision 1: join north/2 south/b\n"), "{told}");
    // A record of a source that is called like a kind of entry is that record.
    books(&desk, "work", "12,Emma,\"Austen, Jane\",,Murray,London,1816,English,,300,\n");
    resolve(&desk);
    assert_eq!(members(&desk, "work/12"), ["work/12"]);
}
