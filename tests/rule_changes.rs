//! A changed rule concerns the records in which its old or its new selector occurs, and no others.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use pinakes::config::Home;
use pinakes::pipeline::{self, Change, Followed, Request, Session, Unwatched};
use support::{BASE, marc};

/// Ten books: three with a 945, two with a 946, one with both an 880 for 945.
fn catalogue(folder: &std::path::Path) -> Session {
    let mut file = Vec::new();
    for number in 0..10 {
        let id = format!("b{number}");
        let mut fields = vec![("245", "Walden")];
        if number < 3 {
            fields.push(("945", "gift"));
        }
        if number == 3 || number == 4 {
            fields.push(("946", "purchase"));
        }
        file.extend(marc::record(&id, &fields));
    }
    let input = folder.join("books.mrc");
    std::fs::write(&input, file).unwrap();
    let home = Home::create(&folder.join("catalogue"), BASE).unwrap();
    let mut session = Session::write(home, &mut Unwatched).unwrap();
    let request = Request {
        source: "s".to_owned(),
        files: vec![input],
        time: "2026-01-01T00:00:00Z".to_owned(),
        ..Request::default()
    };
    pipeline::import(&mut session, &request, &mut Unwatched).unwrap();
    session
}

fn rule(field: &str, property: &str) -> String {
    let tag = field.split('|').next().unwrap();
    format!(
        "[concordance]\nformat = \"marc21\"\nabout = \"Local acquisitions\"\n\n[[rule]]\nname = \"local-terms\"\nfield = \"{field}\"\nconstruct = '$instance {property} $a .'\n\n  [[rule.example]]\n  given = \"{tag} ## $a gift\"\n  gives = '$instance {property} \"gift\" .'\n"
    )
}

fn try_load(session: &mut Session, path: &str, text: &str) -> Change {
    let files = [(path.to_owned(), text.to_owned())];
    pipeline::load(session, &files, "2026-01-02T00:00:00Z", &mut Unwatched).unwrap()
}

fn unload(session: &mut Session, path: &str) -> Change {
    pipeline::unload(session, &[path.to_owned()], "2026-01-04T00:00:00Z", &mut Unwatched).unwrap()
}

fn load(session: &mut Session, text: &str) -> Followed {
    match try_load(session, "marc21/local.toml", text) {
        Change::Done { followed, .. } => followed,
        other => panic!("{other:?}"),
    }
}

fn count(session: &Session, property: &str) -> usize {
    let iri = pinakes::ontology::Prefixes::shipped().expand(property).unwrap();
    let selection = pinakes::catalogue::Selection { predicate: Some(iri), ..Default::default() };
    session.catalogue.backend().quads(&selection).unwrap().count()
}

/// F.1: "Change in one source marks exactly the dependent mapping, merge and enrichment results
/// stale and refreshes them" — here: a changed rule, and the mapping.
#[test]
fn f_1_a_changed_rule_maps_again_the_records_its_selectors_occur_in() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = catalogue(folder.path());
    assert_eq!(count(&session, "bf:acquisitionTerms"), 0);

    // New: the records with a 945.
    let followed = load(&mut session, &rule("945", "bf:acquisitionTerms"));
    assert_eq!((followed.rules, followed.remapped, followed.records), (1, 3, 10));
    assert_eq!(count(&session, "bf:acquisitionTerms"), 3);

    // The same again: nothing.
    let again = try_load(&mut session, "marc21/local.toml", &rule("945", "bf:acquisitionTerms"));
    assert!(matches!(again, Change::Nothing { .. }));

    // Widened: those the old selector met and those the new one meets.
    let followed = load(&mut session, &rule("945|946", "bf:acquisitionTerms"));
    assert_eq!(followed.remapped, 5);
    assert_eq!(count(&session, "bf:acquisitionTerms"), 5);

    // Moved away: the old ones lose their statements.
    let followed = load(&mut session, &rule("946", "bf:custodialHistory"));
    assert_eq!(followed.remapped, 5);
    assert_eq!((count(&session, "bf:acquisitionTerms"), count(&session, "bf:custodialHistory")), (0, 2));

    // Taken back: as it was before.
    let Change::Done { followed, .. } = unload(&mut session, "marc21/local.toml") else { panic!() };
    assert_eq!(followed.remapped, 2);
    assert_eq!(count(&session, "bf:custodialHistory"), 0);
}

/// F.1, for a code list: the rules that use it, and the records they select.
#[test]
fn f_1_a_changed_code_list_maps_again_what_its_rules_select() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = catalogue(folder.path());
    let text = "[concordance]\nformat = \"marc21\"\n\n[[rule]]\nname = \"local-terms\"\nfield = \"945\"\nbind.terms = ':code(\"local-terms\", $a)'\nconstruct = '$instance bf:acquisitionTerms $terms .'\n";
    let list = |label: &str| format!("code\tlabel\ngift\t{label}\n");
    // A rule whose list is missing is refused, and nothing changes.
    let refused = try_load(&mut session, "marc21/local.toml", text);
    assert!(matches!(refused, Change::Refused(_)));
    try_load(&mut session, "codes/local-terms.tsv", &list("a gift"));
    load(&mut session, text);
    assert_eq!(count(&session, "bf:acquisitionTerms"), 3);
    let change = try_load(&mut session, "codes/local-terms.tsv", &list("a present"));
    let Change::Done { followed, files, .. } = change else { panic!("{change:?}") };
    assert_eq!((followed.rules, followed.remapped, files[0].version), (1, 3, Some(2)));
    // One that has lost all its codes is taken with a warning.
    let Change::Done { warnings, .. } = try_load(&mut session, "codes/local-terms.tsv", "code\tlabel\n")
    else {
        panic!()
    };
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].code, pinakes::diagnostic::Code::EmptyCodeList);
    // A list that another rule needs cannot be taken away from under it.
    assert!(matches!(try_load(&mut session, "codes/local-terms.tsv", "code\n"), Change::Refused(_)));
    assert!(matches!(unload(&mut session, "codes/local-terms.tsv"), Change::Refused(_)));
}

/// Rules belong to the catalogue: whoever opens it next maps with them, and so does a rebuild.
#[test]
fn loaded_rules_survive_closing_and_rebuilding() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = catalogue(folder.path());
    load(&mut session, &rule("945", "bf:acquisitionTerms"));
    let home = session.home.clone();
    support::close(session);
    pipeline::rebuild(home.clone(), &mut Unwatched).unwrap();
    let session = Session::write(home, &mut Unwatched).unwrap();
    assert_eq!(count(&session, "bf:acquisitionTerms"), 3);
    let files = session.concordances().files();
    assert!(files.iter().any(|file| file.source.path == "marc21/local.toml"));
}

/// A kill between loading and mapping again leaves old statements; the next writer finds out.
#[test]
fn what_a_kill_left_undone_is_done_by_the_next_writer() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = catalogue(folder.path());
    let text = rule("945", "bf:acquisitionTerms");
    let mut entry = pinakes::archive::Entry::new(
        pinakes::archive::Kind::Concordance,
        "",
        "marc21/local.toml",
        99,
        "2026-01-02T00:00:00Z",
    )
    .with_payload(text.into_bytes());
    entry.origin.name = "marc21/local.toml".to_owned();
    session.archive.append_concordances(&[entry]).unwrap();
    assert_eq!(count(&session, "bf:acquisitionTerms"), 0);
    let home = session.home.clone();
    support::close(session);
    let session = Session::write(home, &mut Unwatched).unwrap();
    assert_eq!(count(&session, "bf:acquisitionTerms"), 3);
}

/// W4: one query answers where a value comes from.
#[test]
fn one_query_says_where_a_value_comes_from() {
    let folder = tempfile::tempdir().unwrap();
    let session = catalogue(folder.path());
    let value = oxrdf::Literal::new_simple_literal("Walden");
    let rows = session.catalogue.rows("report/origin", &[("value", value.into())]).unwrap();
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            row.iter()
                .map(|cell| match cell {
                    Some(oxrdf::Term::NamedNode(node)) => node.as_str().to_owned(),
                    Some(oxrdf::Term::Literal(literal)) => literal.value().to_owned(),
                    _ => String::new(),
                })
                .collect()
        })
        .collect();
    let main_title = cells.iter().find(|row| row[2].ends_with("mainTitle")).expect("the main title");
    assert_eq!(&main_title[4..7], ["245", "1", "a"]);
    assert_eq!(main_title[7], "marc21/20x-24x-titles#title");
    assert_eq!(main_title[8], "marc21/20x-24x-titles.toml");
    assert!(main_title[9].parse::<u64>().unwrap() > 0);
}

/// Two files that need each other came one by one, and the second could be refused when the first
/// was in force already.
#[test]
fn files_are_loaded_together_all_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = catalogue(folder.path());
    let rules = |code: &str| {
        format!(
            "[concordance]\nformat = \"marc21\"\n\n[[rule]]\nname = \"local-terms\"\nfield = \"945\"\nbind.terms = ':code(\"local-terms\", ${code})'\nconstruct = '$instance bf:acquisitionTerms $terms .'\n"
        )
    };
    let list = "code\tlabel\ngift\ta gift\n";
    let mut load = |rules: &str, list: &str| {
        let files = [
            ("marc21/local.toml".to_owned(), rules.to_owned()),
            ("codes/local-terms.tsv".to_owned(), list.to_owned()),
        ];
        let change = pipeline::load(&mut session, &files, "2026-01-02T00:00:00Z", &mut Unwatched).unwrap();
        (change, session.archive.concordances().unwrap().len(), count(&session, "bf:acquisitionTerms"))
    };
    let (refused, files, statements) = load(&rules("aa"), list);
    assert!(matches!(refused, Change::Refused(_)), "{refused:?}");
    assert_eq!((files, statements), (0, 0));
    let (done, files, statements) = load(&rules("a"), list);
    let Change::Done { files: changed, followed, .. } = done else { panic!("{done:?}") };
    assert_eq!((files, statements, changed.len(), followed.remapped), (2, 3, 2, 3));
    // One of them anew: only that one has another version.
    let (done, ..) = load(&rules("a"), "code\tlabel\ngift\ta present\n");
    let Change::Done { files: changed, .. } = done else { panic!("{done:?}") };
    assert_eq!((changed.len(), changed[0].version), (1, Some(2)));
}

/// An example that its rule does not keep is a mistake in one of the two.
#[test]
fn a_file_with_a_failing_example_is_not_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = catalogue(folder.path());
    let text = rule("945", "bf:acquisitionTerms").replace(
        "gives = '$instance bf:acquisitionTerms \"gift\"",
        "gives = '$instance bf:acquisitionTerms \"a gift\"",
    );
    let Change::Refused(said) = try_load(&mut session, "marc21/local.toml", &text) else { panic!() };
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].code, pinakes::diagnostic::Code::BadExample);
    let hint = said[0].hint.as_deref().unwrap();
    assert!(hint.contains("- ") && hint.contains("\"a gift\"") && hint.contains("+ "), "{hint}");
    assert!(session.archive.concordances().unwrap().is_empty());
}

/// The shipped rules for titles, with another property, for one source.
fn titles_of(source: &str) -> String {
    let sources = pinakes::concordance::Concordances::shipped_sources();
    let shipped = sources.iter().find(|source| source.path == "marc21/20x-24x-titles.toml").unwrap();
    let head = shipped.text.replacen(
        "format = \"marc21\"",
        &format!("format = \"marc21\"\nsource = \"{source}\""),
        1,
    );
    head.replace("bf:mainTitle", "bf:subtitle")
}

/// A file for one source with the name of a shipped one took the shipped rules from all sources.
#[test]
fn a_file_for_one_source_leaves_the_shipped_rules_to_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = catalogue(folder.path());
    let request = Request {
        source: "t".to_owned(),
        files: vec![folder.path().join("books.mrc")],
        time: "2026-01-01T00:00:00Z".to_owned(),
        ..Request::default()
    };
    pipeline::import(&mut session, &request, &mut Unwatched).unwrap();
    assert_eq!((count(&session, "bf:mainTitle"), count(&session, "bf:subtitle")), (20, 0));

    let path = "marc21/20x-24x-titles.toml";
    let change = try_load(&mut session, path, &titles_of("t"));
    let Change::Done { followed, files, .. } = change else { panic!("{change:?}") };
    assert_eq!(files[0].path, "marc21/20x-24x-titles@t.toml");
    assert_eq!((followed.remapped, followed.records), (10, 20));
    assert_eq!((count(&session, "bf:mainTitle"), count(&session, "bf:subtitle")), (10, 10));

    // The same for the other source stands beside it.
    let change = try_load(&mut session, path, &titles_of("s"));
    let Change::Done { followed, .. } = change else { panic!("{change:?}") };
    assert_eq!(followed.remapped, 10);
    assert_eq!((count(&session, "bf:mainTitle"), count(&session, "bf:subtitle")), (0, 20));

    let change = unload(&mut session, "marc21/20x-24x-titles@t.toml");
    let Change::Done { followed, .. } = change else { panic!("{change:?}") };
    assert_eq!(followed.remapped, 10);
    assert_eq!((count(&session, "bf:mainTitle"), count(&session, "bf:subtitle")), (10, 10));
}

/// A rule for one source concerns that source's records and no others.
#[test]
fn a_rule_for_one_source_maps_again_only_its_records() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = catalogue(folder.path());
    let limited = |source: &str| {
        rule("945", "bf:acquisitionTerms").replacen(
            "[[rule]]",
            &format!("source = \"{source}\"\n[[rule]]"),
            1,
        )
    };
    let change = try_load(&mut session, "marc21/local.toml", &limited("t"));
    let Change::Done { followed, .. } = change else { panic!("{change:?}") };
    assert_eq!((followed.rules, followed.remapped), (1, 0));
    let change = try_load(&mut session, "marc21/local.toml", &limited("s"));
    // The name of a rule is free for another source.
    let Change::Done { followed, .. } = change else { panic!("{change:?}") };
    assert_eq!((followed.rules, followed.remapped), (1, 3));
}

/// A user's query takes the place of the shipped one with its name.
#[test]
fn a_query_replaces_the_shipped_one_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = catalogue(folder.path());
    let shipped = session.concordances().queries().len();
    let text = "CONSTRUCT { $work pin:workKey \"mine\" } WHERE { ?s a bf:Work }";
    let change = try_load(&mut session, "bibframe/keys.rq", text);
    let Change::Done { files, .. } = change else { panic!("{change:?}") };
    assert!(files[0].of_shipped);
    assert_eq!(session.concordances().queries().len(), shipped);
    let own = session.concordances().queries().iter().filter(|query| query.name == "bibframe/keys");
    assert_eq!(own.count(), 1);
}

/// The rules graph had some six statements for each of a thousand rules in every catalogue.
#[test]
fn the_rules_of_a_format_take_five_statements_and_only_formats_with_records_have_them() {
    let folder = tempfile::tempdir().unwrap();
    let session = catalogue(folder.path());
    let graph = session.catalogue.graph(&session.home.graphs.rules()).unwrap();
    assert_eq!(graph.len(), 5);
}
