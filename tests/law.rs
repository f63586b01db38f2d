//! The law of the store: whatever happened to a catalogue, in whatever order, its store equals what
//! `rebuild` makes from the archive.
//!
//! Sequences of acts are drawn at random, each from a seed, so that a failure can be had again. After
//! every act that merges, the catalogue is compared with a copy of it that is made anew.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use support::server::{Server, token};
use support::{BASE, CATALOGUE, Desk, marc};

/// A small generator of our own: the same numbers everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

const RULE: &str = "[concordance]\nformat = \"marc21\"\nabout = \"Local notes\"\n\n[[rule]]\nname = \"local-note\"\n\
                    field = \"520\"\nconstruct = '$instance skos:note $a .'\n\n  [[rule.example]]\n  \
                    given = \"520 ## $a gift\"\n  gives = '$instance skos:note \"gift\" .'\n";

/// What may happen to a catalogue. Records are those of [`marc::many`]: some dozens, with authors and
/// subjects in common, from two sources.
fn act(desk: &Desk, dice: &mut Dice, writer: &str) -> String {
    let source = ["north", "south"][dice.roll(2)];
    let first = dice.roll(60);
    let line = match dice.roll(9) {
        0..=2 => {
            let range = first..first + 10 + dice.roll(60);
            desk.write("in.mrc", marc::many(range, 1 + dice.roll(3)));
            format!("pinakes import --quiet --source {source} in.mrc")
        }
        3 => {
            let gone: Vec<u8> =
                (first..first + 8).flat_map(|number| marc::deleted(&format!("n{number:06}"))).collect();
            desk.write("in.mrc", gone);
            format!("pinakes import --quiet --source {source} in.mrc")
        }
        4 => {
            desk.write("marc21/local.toml", RULE);
            "pinakes mapping load --quiet marc21/local.toml".to_owned()
        }
        5 => "pinakes mapping unload --quiet marc21/local.toml".to_owned(),
        6 => {
            let (left, right) = (format!("north/n{first:06}"), format!("south/n{:06}", first + dice.roll(2)));
            let act = ["join", "never"][dice.roll(2)];
            format!("pinakes resolve {act} {left} {right}")
        }
        7 => format!("pinakes resolve undo {}", 1 + dice.roll(3)),
        _ => {
            let server = Server::start(desk, &[]);
            let label = format!("\"A name given by hand, {first}\"");
            let update = match dice.roll(3) {
                // Of an entry, of which it may not stay so.
                0 => format!(
                    "INSERT {{ ?e rdfs:seeAlso <urn:x{first}> }} WHERE {{ ?e pin:member <{BASE}record/north/n{first:06}#instance> }}"
                ),
                1 => format!(
                    "DELETE {{ ?e rdfs:label ?l }} INSERT {{ ?e rdfs:label {label} }} WHERE {{ ?e pin:member <{BASE}record/south/n{first:06}#instance> ; rdfs:label ?l }}"
                ),
                _ => format!("INSERT DATA {{ GRAPH <urn:mine> {{ <urn:s{first}> <urn:p> {first} }} }}"),
            };
            server.update(writer, &update).unwrap().is(204);
            assert_eq!(server.stop(), Some(0));
            return format!("update {update}");
        }
    };
    // Of decisions about records that are not there nothing comes.
    let code = desk.run(&line).code;
    assert!(matches!(code, Some(0..=2)), "{line}: {code:?}");
    format!("{line} -> {code:?}")
}

/// Fails unless a copy of the catalogue that is made anew is the same, to the last statement.
fn check_law(desk: &Desk, history: &[String]) {
    desk.run("pinakes resolve --quiet").code.filter(|code| *code < 2).unwrap();
    desk.run(&format!("rm -rf anew && cp -r {CATALOGUE} anew && pinakes rebuild --quiet --catalogue anew"))
        .ok();
    let (is, anew) = (desk.canonical(CATALOGUE), desk.canonical("anew"));
    if is != anew {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
        let (is, anew) = (lines(&is), lines(&anew));
        let some = |one: &std::collections::BTreeSet<String>, other: &std::collections::BTreeSet<String>| {
            one.difference(other).take(10).cloned().collect::<Vec<_>>().join("\n  ")
        };
        panic!(
            "after\n  {}\nthe store has\n  {}\nand what is made anew has\n  {}",
            history.join("\n  "),
            some(&is, &anew),
            some(&anew, &is)
        );
    }
    desk.run("pinakes verify --quiet").ok();
}

fn check_sequence(seed: u64) {
    let mut dice = Dice(seed);
    let desk = Desk::new();
    let writer = token(&desk, "--role writer");
    let mut history = vec![format!("seed {seed}")];
    for _ in 0..4 {
        for _ in 0..=dice.roll(3) {
            history.push(act(&desk, &mut dice, &writer));
        }
        history.push("resolve".to_owned());
        check_law(&desk, &history);
    }
}

#[test]
fn the_store_equals_what_rebuild_makes_of_the_archive() {
    (1..=4).for_each(check_sequence);
}

#[test]
fn the_store_equals_what_rebuild_makes_after_other_sequences() {
    (101..=104).for_each(check_sequence);
}

/// An entry with many members that only got new ones is written by what these add.
#[test]
fn an_entry_that_only_grew_is_what_it_is_when_made_of_all_its_members() {
    let desk = Desk::new();
    desk.write("in.mrc", marc::many(0..400, 1));
    desk.run("pinakes import --quiet --source north in.mrc && pinakes resolve --quiet").ok();
    let mut history = Vec::new();
    for (range, edition) in [(400..430, 1), (380..390, 5), (430..431, 1), (0..500, 1)] {
        history.push(format!("{range:?}, edition {edition}"));
        desk.write("in.mrc", marc::many(range, edition));
        desk.run("pinakes import --quiet --source north in.mrc").ok();
        check_law(&desk, &history);
    }
}
