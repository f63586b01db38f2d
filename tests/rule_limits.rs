//! What a rule may cost: the limits that `docs/concordances.md` promises, each met and each passed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use pinakes::concordance::run::{Outcome, RecordNames, View};
use pinakes::concordance::{Concordances, Origin, Source};
use pinakes::diagnostic::Code;
use pinakes::record::{Model, RecordBuilder};

/// A set of one rule over 945.
fn rule(body: &str) -> Concordances {
    let text = format!(
        "[concordance]\nformat = \"marc21\"\n\n[[rule]]\nname = \"local\"\nfield = \"945\"\n{body}\n"
    );
    Concordances::new(vec![Source::new("marc21/local.toml", text, Origin::Loaded(1))])
}

fn codes(set: &Concordances) -> Vec<Code> {
    set.files().iter().flat_map(|file| &file.problems).map(|problem| problem.code).collect()
}

/// Runs a set over a record with one 945.
fn run(set: &Concordances, subfields: &[&str]) -> Outcome {
    assert!(!set.has_errors(), "{:?}", set.files()[0].problems);
    let mut builder = RecordBuilder::new(Model::Marc21);
    builder.leader("00000nam a2200000 a 4500");
    builder.field("945", [' ', ' '], "", 0);
    for value in subfields {
        builder.subfield("a", value);
    }
    let record = builder.finish();
    let of_source = |id: &str| format!("urn:r:{id}");
    let names = RecordNames { record: "urn:r", of_source: &of_source, agency: None };
    set.run(&View::new(&record), &names, "s")
}

#[test]
fn an_expression_has_500_operators_and_no_more() {
    let with = |count: usize| {
        let condition = " || $a = \"x\"".repeat(count);
        rule(&format!("when = '$a = \"x\"{condition}'\nconstruct = '$instance bf:acquisitionTerms $a .'"))
    };
    assert_eq!(codes(&with(500)), [Code::MissingExample]);
    assert_eq!(run(&with(500), &["x"]).triples.len(), 1);
    let refused = with(501);
    assert_eq!(codes(&refused), [Code::RuleLimit, Code::MissingExample]);
    assert!(refused.rules(Model::Marc21).is_empty());
}

#[test]
fn a_value_has_4_mib_and_no_more() {
    let set = rule("bind.twice = 'CONCAT($a, $a)'\nconstruct = '$instance bf:acquisitionTerms $twice .'");
    let half = 2 * 1024 * 1024;
    assert_eq!(run(&set, &["x".repeat(half).as_str()]).triples.len(), 1);
    assert_eq!(run(&set, &["x".repeat(half + 1).as_str()]).triples.len(), 0);
}

/// A statement made of very many subfields names the first of them; all count as carried.
#[test]
fn a_statement_names_64_of_the_subfields_it_was_made_from() {
    let set = rule("bind.all = ':all(\"a\", \" \")'\nconstruct = '$instance bf:acquisitionTerms $all .'");
    for (given, named) in [(64, 64), (65, 64), (100, 64)] {
        let values: Vec<String> = (0..given).map(|number| format!("v{number}")).collect();
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let outcome = run(&set, &values);
        assert_eq!(outcome.made(&outcome.fires[0])[0].reads.1, named, "{given}");
        assert_eq!(outcome.carried.iter().filter(|positions| **positions != 0).count(), given);
    }
}

/// Each solution may read all subfields of its field: 20 million readings in all.
#[test]
fn the_solutions_of_a_field_read_20_million_subfields_and_no_more() {
    let set = rule("each = \"a\"\nconstruct = '$instance bf:acquisitionTerms $value .'");
    let values: Vec<String> = (0..20_000).map(|number| format!("v{number}")).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let few = run(&set, &values[..4_000]);
    assert_eq!((few.triples.len(), few.cut), (4_000, false));
    let many = run(&set, &values);
    assert_eq!((many.triples.len(), many.cut), (1_000, true));
}

/// Thousands of rules in one file: every problem stands on its own line.
#[test]
fn a_file_of_5000_rules_is_read_whole() {
    let mut text = String::from("[concordance]\nformat = \"marc21\"\n");
    for number in 0..5_000 {
        text.push_str(&format!(
            "[[rule]]\nname = \"local-{number}\"\nfield = \"9{:02}[ind1=1]\"\nconstruct = '$instance rdfs:label \"{number}\" .'\n",
            number % 100
        ));
    }
    let set = Concordances::new(vec![Source::new("marc21/local.toml", text, Origin::Loaded(1))]);
    let said: Vec<_> = set.files()[0].diagnostics().collect();
    assert_eq!(said.len(), 5_000);
    assert_eq!(said[4_999].place.line.map(u32::from), Some(3 + 4 * 4_999));
    assert_eq!(set.rules(Model::Marc21).len(), 5_000);
}
