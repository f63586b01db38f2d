//! What people are told: why two are apart, which pairs wait for them, what is wrong with a text.

use super::{books, members, resolve, rows, shelf};
use crate::support::{Desk, project};

/// Three records of one book, of which the second and the third say that they are other editions.
fn editions(second: &str, third: &str) -> Desk {
    let desk = Desk::new();
    let row = |id: &str, edition: &str| {
        format!(
            "{id},Travels with a donkey in the Cevennes,\"Stevenson, Robert Louis\",,Kegan Paul,London,1879,English,,227,{edition}\n"
        )
    };
    books(&desk, "north", &row("1", ""));
    books(&desk, "south", &row("a", second));
    books(&desk, "west", &row("x", third));
    resolve(&desk);
    desk
}

/// Two that are alike and apart, because a veto stands between one of them and what the other is one with.
#[test]
fn explain_names_the_veto_between_other_members() {
    let desk = editions("First edition", "Second edition");
    assert_eq!(members(&desk, "north/1"), ["north/1", "south/a"]);
    let told = desk.run("pinakes resolve explain north/1 west/x --json").ok().json();
    assert_eq!(told["veto"], serde_json::Value::Null, "{told:#}");
    assert_eq!(told["band"], "merge");
    assert_eq!(told["kept_apart"]["by"], "veto", "{told:#}");
    assert_eq!(told["kept_apart"]["veto"], "conflicting editions");
    assert_eq!(told["kept_apart"]["members"], serde_json::json!(["south/a", "west/x"]));
    let text = desk.run("pinakes resolve explain west/x north/1").ok().text();
    let verdict =
        "two entries: the veto `conflicting editions` stands between their members south/a and west/x";
    assert!(text.contains(verdict), "{text}");
    // Where the veto is one of the two themselves, or nothing keeps them apart, there is nothing to add.
    for other in ["south/a west/x", "north/1 south/a"] {
        let told = desk.run(&format!("pinakes resolve explain {other} --json")).ok().json();
        assert_eq!(told["kept_apart"], serde_json::Value::Null, "{told:#}");
    }
    // What a run that compares nothing anew keeps is the same.
    resolve(&desk);
    let again = desk.run("pinakes resolve explain west/x north/1").ok().text();
    assert_eq!(again, text);
}

/// A person's never between two keeps apart what else belongs to them, and says which decision it is.
#[test]
fn explain_names_the_decision_about_other_members() {
    let desk = editions("", "");
    assert_eq!(members(&desk, "north/1").len(), 3);
    desk.run("pinakes resolve join north/1 south/a").ok();
    desk.run("pinakes resolve never south/a west/x --note 'another printing'").ok();
    let told = desk.run("pinakes resolve explain north/1 west/x --json").ok().json();
    let expected = serde_json::json!({ "by": "decision", "decision": 2, "members": ["south/a", "west/x"] });
    assert_eq!(told["kept_apart"], expected, "{told:#}");
    let text = desk.run("pinakes resolve explain north/1 west/x").ok().text();
    assert!(
        text.contains("two entries: decision 2 says never of their members south/a and west/x"),
        "{text}"
    );
    // A join that it contradicts, too, however little the two are alike.
    let joined = desk.run("pinakes resolve join north/1 west/x").exits(1);
    assert!(joined.complaint().contains("decision 3 cannot be followed"), "{}", joined.complaint());
    let told = desk.run("pinakes resolve explain north/1 west/x --json").ok().json();
    assert_eq!(told["kept_apart"], expected, "{told:#}");
    // Without the decision there is nothing to say.
    desk.run("pinakes resolve undo 2").ok();
    let told = desk.run("pinakes resolve explain north/1 west/x --json").ok().json();
    assert_eq!(
        (&told["together"], &told["kept_apart"]),
        (&true.into(), &serde_json::Value::Null),
        "{told:#}"
    );
}

/// No veto and no person, but all pairs across: the one that is least alike is named.
#[test]
fn explain_says_when_all_pairs_across_speak_against_it() {
    let desk = Desk::new();
    let profile = std::fs::read_to_string(project("mappings/resolve/agent.toml")).unwrap();
    let veto = "when   = { name = [\"different\"] }";
    assert!(profile.contains(veto), "the veto of names is written otherwise");
    let weaker = profile.replacen(veto, "when   = { name = [\"different\"], birth = [\"different\"] }", 1);
    desk.write("catalogue/mappings/resolve/agent.toml", weaker);
    // Weights of its own, so that what is tested does not hang on those that are shipped.
    let expected = std::fs::read_to_string(project("benches/resolve/expectations/agent.toml")).unwrap();
    let names = "different = [0.02000, 0.01000, 0.70000, 0.90000]";
    assert_eq!(expected.matches(names).count(), 1, "what is expected of names is written otherwise");
    let weights = expected.replacen(names, "different = [0.00100, 0.01000, 0.70000, 0.90000]", 1);
    desk.write("catalogue/mappings/resolve/weights/agent.toml", weights);
    books(
        &desk,
        "north",
        "1,A treatise on gravel,\"Smith, John\",,Kegan,London,1901,English,,227,\n\
         2,A treatise on gravel,\"Smith, James\",,Dover,Paris,1911,English,,127,\n\
         3,A treatise on gravel,\"Smith, J.\",,Knopf,Rome,1921,English,,327,\n\
         4,A treatise on gravel,\"Smith, John\",,Reclam,Bonn,1931,English,,427,\n",
    );
    resolve(&desk);
    let found = rows(&desk, "SELECT ?node { ?a a bf:Agent ; pin:member ?node } ORDER BY ?node");
    let agents: Vec<&str> = found.iter().map(|iri| iri.rsplit_once("/record/").unwrap().1).collect();
    let [john, james, initial, _] = agents[..] else { panic!("{agents:?}") };
    let told = desk.run(&format!("pinakes resolve explain '{james}' '{initial}' --json")).ok().json();
    assert_eq!(told["kept_apart"]["by"], "all-pairs", "{told:#}");
    assert_eq!(told["kept_apart"]["least"]["members"], serde_json::json!([james, john]), "{told:#}");
    let text = desk.run(&format!("pinakes resolve explain '{james}' '{initial}'")).ok().text();
    assert!(text.contains("taken together, speak against it, most of all"), "{text}");
    // What is unlike is apart for that alone.
    let told = desk.run(&format!("pinakes resolve explain '{james}' '{john}' --json")).ok().json();
    assert_eq!(told["kept_apart"], serde_json::Value::Null, "{told:#}");
    let listed = desk.run("pinakes resolve review --profile agent --list").ok().text();
    assert!(listed.contains("likely enough to be merged, but all pairs across"), "{listed}");
    assert!(listed.contains("Smith, James / A treatise on gravel\n"), "{listed}");
}

/// Works of one hub that are two expressions are two entries, and that is no fault of theirs.
#[test]
fn explain_says_when_two_works_are_expressions_of_one_hub() {
    let desk = Desk::new();
    books(&desk, "north", "1,Walden,\"Thoreau, Henry David\",,Ticknor,Boston,1854,English,,357,\n");
    books(&desk, "south", "a,Walden,\"Thoreau, Henry David\",,Concord,Berlin,1897,German,,340,\n");
    resolve(&desk);
    desk.run("pinakes resolve join 'north/1#work' 'south/a#work'").ok();
    let told = desk.run("pinakes resolve explain 'north/1#work' 'south/a#work' --json").ok().json();
    assert_eq!(told["kept_apart"]["by"], "expression", "{told:#}");
    let hub = desk.run("pinakes resolve show 'north/1#hub' --json").ok().json()["iri"].clone();
    assert_eq!(told["kept_apart"]["hub"], hub);
    // The hubs themselves say nothing that could be compared.
    let refused = desk.run("pinakes resolve explain 'north/1#hub' 'south/a#hub'").exits(2).complaint();
    assert!(refused.contains("hubs follow their works"), "{refused}");
}

/// A pair for review says what it is of, and why it is uncertain; all of them are shown on demand.
#[test]
fn review_shows_what_the_pairs_are_and_why_they_wait() {
    let desk = Desk::with_sample();
    let row = |id: &str, edition: &str| {
        format!(
            "{id},Travels with a donkey in the Cevennes,\"Stevenson, Robert Louis\",,Kegan Paul,London,1879,English,,227,{edition}\n"
        )
    };
    books(&desk, "north", &row("1", ""));
    books(&desk, "south", &row("a", "First edition"));
    books(&desk, "west", &row("x", "Second edition"));
    resolve(&desk);
    let listed = desk.run("pinakes resolve review --limit 0 --json").ok().json();
    let listed = listed.as_array().unwrap();
    assert!(listed.len() > 2, "{listed:?}");
    let refused = listed.iter().find(|pair| pair["right"]["source"] == "west").unwrap();
    let book = serde_json::json!({
        "title": "Travels with a donkey in the Cevennes", "author": "Stevenson, Robert Louis", "year": "1879"
    });
    assert_eq!((&refused["left_is"], &refused["right_is"]), (&book, &book));
    assert_eq!(refused["kept_apart"]["veto"], "conflicting editions");
    let uncertain = listed.iter().find(|pair| pair["kept_apart"].is_null()).unwrap();
    let probability = uncertain["probability"].as_f64().unwrap();
    assert!(uncertain["listed_from"].as_f64().unwrap() <= probability, "{uncertain:#}");
    assert!(probability < uncertain["merged_from"].as_f64().unwrap(), "{uncertain:#}");
    assert!(listed.iter().all(|pair| pair["left_is"]["title"].is_string()), "{listed:#?}");
    let one = desk.run("pinakes resolve review --limit 1 --list").ok();
    assert_eq!(one.text().lines().count(), 5, "{}", one.text());
    let more = format!("{} more pairs; `--limit 0` shows all", listed.len() - 1);
    assert!(one.complaint().contains(&more), "{}", one.complaint());
    let all = desk.run("pinakes resolve review --limit 0 --list").ok();
    assert_eq!(all.text().lines().count(), 5 * listed.len());
    assert!(all.text().contains("Travels with a donkey in the Cevennes / Stevenson, Robert Louis / 1879\n"));
    assert!(all.text().contains("but the veto `conflicting editions` stands between"), "{}", all.text());
    assert!(all.text().contains("uncertain: merged from 0.5 on, left alone below 0.1\n"), "{}", all.text());
    let help = desk.run("pinakes resolve review --help").ok().text();
    assert!(help.contains("0 shows all"), "{help}");
}

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
    // It counts where it lies, and is not loaded.
    let refused = desk.run("pinakes mapping load drafts/resolve/agent.toml").exits(2).complaint();
    assert!(refused.contains("copy it to `catalogue/mappings/resolve/agent.toml`"), "{refused}");
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

/// What is counted and what is named agree in number and article.
#[test]
fn counts_and_names_are_grammatical() {
    let desk = shelf();
    desk.write("labels.csv", "left_source,left_id,right_source,right_id,same\nnorth,1,south,a,1\n");
    let told = desk.run("pinakes resolve train --labels labels.csv").ok().complaint();
    assert!(told.contains("1 labelled pair\n"), "{told}");
    for command in ["explain", "join"] {
        let refused =
            desk.run(&format!("pinakes resolve {command} north/1 'south/a#work'")).exits(2).complaint();
        assert!(refused.contains("one is an instance, the other a work"), "{refused}");
    }
    desk.write("truth.csv", "left,right,same\nnorth/1,south/a,yes\n");
    let told = desk.run("pinakes resolve evaluate --truth truth.csv").ok().text();
    assert!(told.starts_with("of the truth 1 in the catalogue, 0 not\n"), "{told}");
}

/// `--profile` narrows what is reported, as text and as JSON, and nothing else.
#[test]
fn a_profile_narrows_the_report_and_not_the_run() {
    let desk = Desk::new();
    books(&desk, "north", "1,Walden,\"Thoreau, Henry David\",,Ticknor,Boston,1854,English,,357,\n");
    let told = desk.run("pinakes resolve --profile work --quiet --json").ok().json();
    let names = |what: &str| told[what].as_object().unwrap().keys().cloned().collect::<Vec<String>>();
    assert_eq!(
        (names("entries"), names("compared")),
        (vec!["hub".into(), "work".into()], vec!["work".into()])
    );
    assert_eq!(rows(&desk, "SELECT (COUNT(DISTINCT ?i) AS ?n) { ?i a bf:Instance ; pin:member ?m }"), ["1"]);
    let text = desk.run("pinakes resolve --profile agent --quiet").ok().text();
    assert!(text.contains("\nagent ") && !text.contains("\ninstance "), "{text}");
    let help = desk.run("pinakes resolve --help").ok().text();
    assert!(help.contains("All are resolved all the same"), "{help}");
}

/// Who joins two is told whom one of them had to leave.
#[test]
fn a_join_names_those_it_leaves_behind() {
    let desk = editions("First edition", "Second edition");
    let joined = desk.run("pinakes resolve join north/1 west/x").ok();
    let told =
        "south/a is in another entry now: the veto `conflicting editions` stands between their members";
    assert!(joined.complaint().contains(told), "{}", joined.complaint());
    assert_eq!(members(&desk, "north/1"), ["north/1", "west/x"]);
    let quiet = desk.run("pinakes resolve undo 1 --json").ok().json();
    assert_eq!(quiet["left_behind"], serde_json::Value::Null, "{quiet:#}");
}

/// A record that came after the last run has not been compared with anything.
#[test]
fn records_that_no_run_has_seen_are_not_explained() {
    let desk = shelf();
    books(&desk, "late", "n,Walden,\"Thoreau, Henry David\",,Ticknor and Fields,Boston,1854,English,,357,\n");
    for asked in ["explain late/n north/1", "show late/n", "train", "explain late/n north/1"] {
        if asked == "train" {
            // It reads the record without merging it.
            let labels = "left_source,left_id,right_source,right_id,same\nlate,n,late,gone,yes\n";
            desk.write("labels.csv", labels);
            desk.run("pinakes resolve train --labels labels.csv").exits(2);
            continue;
        }
        let told = desk.run(&format!("pinakes resolve {asked}")).exits(2);
        assert!(
            told.complaint().contains("`late/n` is not in the merged catalogue yet"),
            "{}",
            told.complaint()
        );
    }
    desk.run("pinakes resolve never late/n north/2").ok();
    let decided = desk.run("pinakes resolve decisions --json").ok().json();
    assert_eq!(decided[0]["score"], serde_json::Value::Null, "{decided:#}");
}

/// Of decisions about two records those count that say the same as the last.
#[test]
fn explain_names_the_decisions_that_count() {
    let desk = shelf();
    for (decision, counting) in [("never", vec![1]), ("join", vec![2]), ("never", vec![1, 3])] {
        desk.run(&format!("pinakes resolve {decision} north/2 south/b")).ok();
        let told = desk.run("pinakes resolve explain south/b north/2 --json").ok().json();
        assert_eq!(told["decisions"], serde_json::json!(counting), "{told:#}");
    }
    let others = desk.run("pinakes resolve explain 'south/b#work' 'north/2#work' --json").ok().json();
    assert_eq!(others["decisions"], serde_json::json!([]), "{others:#}");
}

/// An accepted pair may settle one that was to be asked about next.
#[test]
fn review_asks_about_what_still_waits() {
    let desk = Desk::new();
    let row = |id: &str, title: &str, year: &str| {
        format!("{id},{title},\"Ray, John\",,Murray,London,{year},English,,320,\n")
    };
    let profile = std::fs::read_to_string(project("mappings/resolve/instance.toml")).unwrap();
    assert!(profile.contains("merge  = 0.5\nreview = 0.1"), "the bands are written otherwise");
    let wide = profile.replace("merge  = 0.5\nreview = 0.1", "merge  = 0.9999999\nreview = 0.001");
    desk.write("catalogue/mappings/resolve/instance.toml", wide);
    let title = "Flora of the northern coast";
    books(&desk, "north", &row("1", title, "1901"));
    books(&desk, "south", &row("a", title, "1901"));
    books(&desk, "west", &row("x", title, "1901"));
    resolve(&desk);
    let waiting = desk.run("pinakes resolve review --json").ok().json();
    assert_eq!(waiting.as_array().map(Vec::len), Some(3), "{waiting:#}");
    // Two joins make one entry of the three; the third pair needs no answer.
    let typed = desk.run_with("script -qec 'pinakes resolve review' /dev/null", b"y\ny\ny\n").ok().text();
    assert_eq!(typed.matches("one? [y]es").count(), 2, "{typed}");
    assert_eq!(members(&desk, "north/1"), ["north/1", "south/a", "west/x"]);
    assert_eq!(desk.run("pinakes resolve decisions --json").ok().json().as_array().map(Vec::len), Some(2));
}

/// A copy is known by its name wherever it lies, and is not printed into itself.
#[test]
fn copies_of_texts_are_checked_where_they_lie() {
    let desk = Desk::new();
    desk.run("pinakes mapping show resolve/words > words.toml && pinakes mapping check words.toml").ok();
    desk.run("mkdir resolve && cp words.toml resolve/ && cd resolve && pinakes mapping check words.toml")
        .ok();
    desk.write("words.toml", "small = 3\n");
    let told = desk.run("pinakes mapping check words.toml").exits(1);
    assert!(told.complaint().contains("words.toml:1"), "{}", told.complaint());
    desk.run("mkdir -p catalogue/mappings/resolve").ok();
    let told =
        desk.run("pinakes mapping show resolve/words > catalogue/mappings/resolve/words.toml").exits(2);
    assert!(told.complaint().contains("is empty, perhaps by printing into it"), "{}", told.complaint());
}

/// An article is no other publication because one format says that it is a part, and another of what.
#[test]
fn parts_that_only_name_their_host_have_no_other_level() {
    let desk = Desk::new();
    desk.write(
        "north.mrk",
        "=LDR  00000naa a2200000 i 4500\n=001  p1\n=100  1\\$aRay, John,$eauthor\n\
         =245  10$aHedges of the north /$cJohn Ray.\n=264  \\1$aLondon :$bMurray,$c1901.\n\
         =773  0\\$tGarden history$gVol. 3 (1901)\n\n",
    );
    desk.write(
        "south.xml",
        r#"<mods xmlns="http://www.loc.gov/mods/v3"><titleInfo><title>Hedges of the north</title></titleInfo>
        <name type="personal"><namePart>Ray, John</namePart><role><roleTerm>author</roleTerm></role></name>
        <originInfo><publisher>Murray</publisher><dateIssued>1901</dateIssued><issuance>monographic</issuance></originInfo>
        <relatedItem type="host"><titleInfo><title>Garden history</title></titleInfo></relatedItem>
        <recordInfo><recordIdentifier>q1</recordIdentifier></recordInfo></mods>"#,
    );
    desk.run("pinakes import --quiet --source north north.mrk").ok();
    desk.run("pinakes import --quiet --source south south.xml").ok();
    resolve(&desk);
    let told = desk.run("pinakes resolve explain north/p1 south/q1 --json").ok().json();
    assert_eq!(told["veto"], serde_json::Value::Null, "{told:#}");
}

/// What others named is asked about as everything else.
#[test]
fn things_with_names_from_elsewhere_are_shown() {
    let desk = Desk::new();
    desk.write(
        "odyssey.ttl",
        "@prefix bf: <http://id.loc.gov/ontologies/bibframe/> .
         @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
         <http://elsewhere.example/w#1> a bf:Work, bf:Text ; bf:title [ a bf:Title ; bf:mainTitle \"The Odyssey\" ] ;
           bf:contribution [ a bf:PrimaryContribution ; bf:agent <http://elsewhere.example/homer> ] .
         <http://elsewhere.example/homer> a bf:Person ; rdfs:label \"Homer\" .
         <http://elsewhere.example/i1> a bf:Instance ; bf:instanceOf <http://elsewhere.example/w#1> ;
           bf:title [ a bf:Title ; bf:mainTitle \"The Odyssey\" ] .",
    );
    desk.run("pinakes import --quiet --source rdf odyssey.ttl").ok();
    resolve(&desk);
    for name in ["http://elsewhere.example/homer", "http://elsewhere.example/w#1"] {
        let entries = rows(&desk, &format!("SELECT ?e {{ ?e pin:member <{name}> }}"));
        let own = members(&desk, &entries[0]);
        assert_eq!(own, [format!("rdf/http://elsewhere.example/i1#{name}")]);
        assert_eq!(members(&desk, &own[0]), own);
    }
}
