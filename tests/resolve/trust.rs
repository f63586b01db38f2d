//! Tools for trust: what merges rest on, a sample to judge, and the judgement read back.

use super::{books, resolve};
use crate::support::Desk;

/// Two sources that share two books, and a pair that only its year tells apart.
fn shared() -> Desk {
    let desk = Desk::new();
    books(
        &desk,
        "north",
        "1,\"Erewhon, or, Over the range\",\"Butler, Samuel\",,Trübner,London,1872,English,9780140430578,246,\n\
         2,A handbook of estuary birds,\"Marsh, Edith\",,Dent,London,1931,English,,212,\n\
         3,The lighthouse keeper's almanac,\"Stone, Ada\",,Dent,London,1911,English,,90,\n",
    );
    books(
        &desk,
        "south",
        "a,\"Erewhon, or, Over the range\",\"Butler, Samuel\",,Trübner & Co.,London,1872,en,0140430571,246,\n\
         b,A handbook of estuary birds,\"Marsh, Edith\",,J. M. Dent,London,1931,en,,212,\n\
         c,Notes on the growing of quinces,\"Hill, Rose\",,Dent,London,1925,en,,40,\n",
    );
    resolve(&desk);
    desk
}

#[test]
fn the_report_says_what_merges_rest_on() {
    let desk = shared();
    let told = desk.run("pinakes resolve report --json").ok().json();
    assert_eq!((&told["entries"], &told["merged"], &told["merges"]), (&4.into(), &2.into(), &2.into()));
    let grounds = told["grounds"].as_array().unwrap();
    let counted: u64 = grounds.iter().map(|ground| ground[1].as_u64().unwrap()).sum();
    assert_eq!(counted, 2, "{told:#}");
    assert!(grounds.iter().any(|ground| ground[0].as_str().unwrap().contains("isbn shared")), "{told:#}");
    // The one without an identifier has less to go by.
    let weakest = &told["weakest"][0];
    assert_eq!((&weakest["left"], &weakest["right"]), (&"north/2".into(), &"south/b".into()), "{told:#}");
    assert_eq!(told["large"].as_array().unwrap().len(), 0);
    let told = desk.run("pinakes resolve report --large 1").ok().text();
    for said in [
        "4 instance entries, 2 of more than one",
        "the weakest merges",
        "Marsh, Edith",
        "more than 1 members",
    ] {
        assert!(told.contains(said), "`{said}` in {told}");
    }
    for profile in ["work", "agent"] {
        let told = desk.run(&format!("pinakes resolve report --profile {profile} --json")).ok().json();
        assert_eq!(told["merged"], 2, "{told:#}");
    }
}

/// Members that somebody joined and that have little in common are the first to be looked at.
#[test]
fn the_report_names_contradictions() {
    let desk = shared();
    desk.run("pinakes resolve join north/3 south/c --note wrong").ok();
    let told = desk.run("pinakes resolve report --json").ok().json();
    let first = &told["suspicious"][0];
    let about: Vec<&str> = first["contradictions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| found["comparison"].as_str().unwrap())
        .collect();
    assert!(about.contains(&"title") && about.contains(&"creator"), "{told:#}");
    assert_eq!(first["members"], 2);
    assert_eq!((&told["merges"], &told["compared"]), (&3.into(), &2.into()), "{told:#}");
}

#[test]
fn a_sheet_is_drawn_judged_and_read_back() {
    let desk = shared();
    let told = desk.run("pinakes resolve sample --n 50 --sheet merges.csv").ok().text();
    assert!(told.starts_with("2 merges of 2 in `merges.csv`"), "{told}");
    let sheet = String::from_utf8(desk.read("merges.csv")).unwrap();
    // Side by side, line by line.
    assert!(sheet.contains("\"A handbook of estuary birds\n"), "{sheet}");
    // The same number draws the same.
    desk.run("pinakes resolve sample --n 50 --sheet again.csv").ok();
    assert_eq!(sheet.as_bytes(), desk.read("again.csv"));
    // Nobody's judgements are written over.
    desk.run("pinakes resolve sample --sheet merges.csv").exits(2);
    assert_eq!(sheet.as_bytes(), desk.read("merges.csv"));
    // Nothing is judged yet.
    desk.run("pinakes resolve evaluate --truth merges.csv").exits(2);
    let judged = sheet.replacen(",\"\",", ",\"yes\",", 1).replacen(",\"\",", ",\"no\",", 1);
    desk.write("judged.csv", &judged);
    let found = desk.run("pinakes resolve evaluate --truth judged.csv --json").ok().json();
    assert_eq!((&found["judged"]["right"], &found["judged"]["wrong"]), (&1.into(), &1.into()), "{found:#}");
    assert_eq!(found["pairs"]["precision"], 0.5);
    let [low, high] = [0, 1].map(|at| found["judged"]["precision_between"][at].as_f64().unwrap());
    assert!(low > 0.05 && low < 0.15 && high > 0.85 && high < 0.95, "{found:#}");
    desk.write("unsure.csv", judged.replacen("\"no\"", "\"unsure\"", 1));
    let told = desk.run("pinakes resolve evaluate --truth unsure.csv").ok().text();
    assert!(told.contains("1 merged rightly, 0 wrongly") && told.contains("nothing about recall"), "{told}");
    for profile in ["work", "agent"] {
        desk.run(&format!("pinakes resolve sample --profile {profile} --sheet {profile}.csv")).ok();
        let sheet = String::from_utf8(desk.read(&format!("{profile}.csv"))).unwrap();
        desk.write(&format!("{profile}.csv"), sheet.replace(",\"\",", ",\"yes\","));
        let read = format!("pinakes resolve evaluate --profile {profile} --truth {profile}.csv --json");
        let found = desk.run(&read).ok().json();
        assert_eq!((&found["unknown"], &found["pairs"]["precision"]), (&0.into(), &1.0.into()), "{found:#}");
    }
}

/// Couples, brothers and namesakes: whoever is named beside somebody else in one record is somebody else,
/// however alike their names; under one name it is one person in two roles.
#[test]
fn two_that_one_record_names_side_by_side_are_two() {
    let desk = Desk::new();
    desk.write(
        "books.mrk",
        "=LDR  00000nam a2200000 i 4500\n=001  1\n=100  1\\$aCarducci, Judith B.,$eauthor.\n\
         =245  14$aThe caring classroom.\n=700  1\\$aCarducci, J.,$eauthor.\n\
         =700  1\\$aCarducci, Judith B.,$eeditor.\n\n\
         =LDR  00000nam a2200000 i 4500\n=001  2\n=100  1\\$aCarducci, Judith B.,$eauthor.\n\
         =245  14$aThe caring classroom.\n\n",
    );
    desk.run("pinakes import --quiet --source north books.mrk").ok();
    super::resolve(&desk);
    let names = super::rows(
        &desk,
        "SELECT DISTINCT ?n { ?a a bf:Person ; pin:member ?m ; rdfs:label ?n } ORDER BY ?n",
    );
    assert_eq!(names, ["\"Carducci, J.\"", "\"Carducci, Judith B.\""]);
}
