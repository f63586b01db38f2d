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
    format!(
        "[concordance]\nformat = \"marc21\"\nabout = \"Local acquisitions\"\n\n[[rule]]\nname = \"local-terms\"\nfield = \"{field}\"\nconstruct = '$instance {property} $a .'\n\n  [[rule.example]]\n  given = \"945 ## $a gift\"\n  gives = '$instance {property} \"gift\" .'\n"
    )
}

fn load(session: &mut Session, text: &str) -> Followed {
    match pipeline::load(session, "marc21/local.toml", text, "2026-01-02T00:00:00Z", &mut Unwatched).unwrap()
    {
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
    let again = pipeline::load(
        &mut session,
        "marc21/local.toml",
        &rule("945", "bf:acquisitionTerms"),
        "2026-01-03T00:00:00Z",
        &mut Unwatched,
    );
    assert!(matches!(again.unwrap(), Change::Nothing { .. }));

    // Widened: those the old selector met and those the new one meets.
    let followed = load(&mut session, &rule("945|946", "bf:acquisitionTerms"));
    assert_eq!(followed.remapped, 5);
    assert_eq!(count(&session, "bf:acquisitionTerms"), 5);

    // Moved away: the old ones lose their statements.
    let followed = load(&mut session, &rule("946", "bf:custodialHistory"));
    assert_eq!(followed.remapped, 5);
    assert_eq!((count(&session, "bf:acquisitionTerms"), count(&session, "bf:custodialHistory")), (0, 2));

    // Taken back: as it was before.
    let change = pipeline::unload(&mut session, "marc21/local.toml", "2026-01-04T00:00:00Z", &mut Unwatched);
    let Change::Done { followed, .. } = change.unwrap() else { panic!() };
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
    let time = "2026-01-02T00:00:00Z";
    // A rule whose list is missing is refused, and nothing changes.
    let refused = pipeline::load(&mut session, "marc21/local.toml", text, time, &mut Unwatched).unwrap();
    assert!(matches!(refused, Change::Refused(_)));
    pipeline::load(&mut session, "codes/local-terms.tsv", &list("a gift"), time, &mut Unwatched).unwrap();
    load(&mut session, text);
    assert_eq!(count(&session, "bf:acquisitionTerms"), 3);
    let change =
        pipeline::load(&mut session, "codes/local-terms.tsv", &list("a present"), time, &mut Unwatched)
            .unwrap();
    let Change::Done { followed, version, .. } = change else { panic!("{change:?}") };
    assert_eq!((followed.rules, followed.remapped, version), (2, 3, 2));
    // A list that another rule needs cannot be taken away from under it.
    let broken =
        pipeline::load(&mut session, "codes/local-terms.tsv", "code\n", time, &mut Unwatched).unwrap();
    assert!(matches!(broken, Change::Refused(_)));
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
    let files = &session.concordances().files;
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
    session.archive.append_concordance(&entry).unwrap();
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
    assert!(main_title[7].ends_with("rule/marc21/20x-24x-titles#title"), "{main_title:?}");
    assert_eq!(main_title[8], "marc21/20x-24x-titles.toml");
    assert!(main_title[9].parse::<u64>().unwrap() > 0);
}
