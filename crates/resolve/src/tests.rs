//! The stage as a whole: order, bad input, people's decisions, growth.

use super::agents::Dispatch;
use super::cluster::Reason;
use super::compare::Read;
use super::compare::name::Agreement;
use super::explain::{Band, explain};
use super::feature::Builder;
use super::increment::{Changes, Features, State, StateError};
use super::*;

#[path = "../../../benches/resolve/generate.rs"]
mod generate;

const WORDS: &str = include_str!("../../../mappings/resolve/words.toml");
const INSTANCE: &str = include_str!("../../../mappings/resolve/instance.toml");
const WORK: &str = include_str!("../../../mappings/resolve/work.toml");
const AGENT: &str = include_str!("../../../mappings/resolve/agent.toml");

type Row = (&'static str, String, &'static str, String);

const WEIGHTS: [&str; 3] = [
    include_str!("../../../mappings/resolve/weights/instance.toml"),
    include_str!("../../../mappings/resolve/weights/work.toml"),
    include_str!("../../../mappings/resolve/weights/agent.toml"),
];

fn profile(text: &str) -> Profile {
    let mut profile = Profile::parse(text, WORDS).unwrap_or_else(|problems| panic!("{problems:?}"));
    let own = format!("profile = \"{}\"", profile.name);
    let weights = WEIGHTS.iter().find(|weights| weights.contains(&own)).unwrap();
    profile.weigh(weights).unwrap_or_else(|problems| panic!("{problems:?}"));
    profile
}

fn table<'a>(rows: impl IntoIterator<Item = &'a Row>) -> FeatureTable {
    let mut builder = Builder::default();
    for (source, key, feature, value) in rows {
        let record = builder.record(source, key);
        builder.add(record, feature, value);
    }
    builder.finish()
}

/// Rows of records written as `feature=value|feature=value`.
fn rows(records: &[&str]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (at, record) in records.iter().enumerate() {
        for pair in record.split('|') {
            let (feature, value) = pair.split_once('=').unwrap();
            let feature = feature.to_owned().leak() as &'static str;
            rows.push(("s", format!("{at:05}"), feature, value.to_owned()));
        }
    }
    rows
}

fn run(table: &FeatureTable, profile: &Profile) -> Resolution {
    resolve(table, profile, Given::default()).unwrap()
}

/// Groups of more than one, by names.
fn groups(table: &FeatureTable, clusters: &Clusters) -> Vec<Vec<String>> {
    let mut groups: std::collections::BTreeMap<Id, Vec<String>> = std::collections::BTreeMap::new();
    for record in 0..table.len() as u32 {
        let name = format!("{}/{}", table.source_name(record), table.key(record));
        groups.entry(clusters.of[record as usize]).or_default().push(name);
    }
    groups.into_values().filter(|members| members.len() > 1).collect()
}

/// Rows, and for each record its instance.
fn generated(records: usize, seed: u64) -> (Vec<Row>, FxHashMap<String, u32>) {
    let (rows, truth) = families(records, seed);
    (rows, truth.into_iter().map(|(name, (instance, _))| (name, instance)).collect())
}

/// Rows, and for each record its instance and family.
fn families(records: usize, seed: u64) -> (Vec<Row>, FxHashMap<String, (u32, u32)>) {
    let (mut rows, mut truth) = (Vec::new(), FxHashMap::default());
    generate::generate(records, seed, &mut |record| {
        let source = record.source.clone().leak() as &'static str;
        for (feature, value) in &record.features {
            rows.push((source, record.key.clone(), *feature, value.clone()));
        }
        truth.insert(format!("{}/{}", record.source, record.key), (record.instance, record.family));
    });
    (rows, truth)
}

fn shuffled(rows: &[Row], seed: u64) -> Vec<Row> {
    let mut rows = rows.to_vec();
    let mut random = seed;
    for at in (1..rows.len()).rev() {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        rows.swap(at, (random >> 33) as usize % (at + 1));
    }
    rows
}

#[test]
fn shipped_profiles_are_sound() {
    for text in [INSTANCE, WORK, AGENT] {
        profile(text);
    }
}

#[test]
fn every_problem_of_a_profile_is_reported_with_its_line() {
    let text = INSTANCE
        .replace("\"title.grams(6)\"", "\"title.grims(6)\"")
        .replace("part = [\"different\"]", "port = [\"different\"]");
    let problems = Profile::parse(&text, WORDS).err().unwrap();
    let line = |needle: &str| 1 + text.lines().position(|line| line.contains(needle)).unwrap();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert_eq!(problems[0].line, line("title.grims"));
    assert_eq!(problems[1].line, line("port = "));
    let empty = "[[compare]]\nfeature = \"nothing\"\nkind = \"code\"\n[compare.levels]\n";
    let text = format!("{INSTANCE}\n{}", empty.repeat(70));
    let problems = Profile::parse(&text, WORDS).err().unwrap();
    assert!(
        problems.iter().filter(|problem| problem.message.starts_with("it declares no levels")).count() >= 70
    );
    let problems = Profile::parse("profile = \"x\"\n\nbands = 3\n", WORDS).err().unwrap();
    assert_eq!(problems[0].line, 3);
}

#[test]
fn s4_9_five_shufflings_and_any_number_of_threads_give_one_result() {
    let profile = profile(INSTANCE);
    let (rows, _) = generated(3000, 11);
    let first = table(&rows);
    let expected = run(&first, &profile);
    let expected_groups = groups(&first, &expected.clusters);
    assert!(expected_groups.len() > 300);
    for seed in 1..=5 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(seed as usize).build().unwrap();
        let table = table(&shuffled(&rows, seed));
        let resolution = pool.install(|| run(&table, &profile));
        assert_eq!(groups(&table, &resolution.clusters), expected_groups);
        assert_eq!(resolution.edges, expected.edges);
    }
}

#[test]
fn bounded_memory_changes_nothing() {
    let profile = profile(INSTANCE);
    let (rows, _) = generated(2000, 5);
    let table = table(&rows);
    let small = resolve(&table, &profile, Given { budget: 1024, ..Given::default() }).unwrap();
    assert_eq!(small.edges, run(&table, &profile).edges);
}

/// S4.7: precision and recall on a set with known duplicates.
#[test]
fn s4_7_duplicates_are_found_and_look_alikes_kept_apart() {
    let profile = profile(INSTANCE);
    let (rows, truth) = families(6000, 3);
    let table = table(&rows);
    let resolution = run(&table, &profile);
    let told = |record: Id| truth[&format!("{}/{}", table.source_name(record), table.key(record))];
    let instances = (0..table.len() as u32).map(|record| (record, told(record).0)).collect();
    let found = evaluate::clusters(&resolution.clusters.of, &instances);
    assert!(found.pairs.precision > 0.97, "{found:?}");
    assert!(found.pairs.recall > 0.93, "{found:?}");
    let mut alike: FxHashMap<u32, std::collections::BTreeSet<u32>> = FxHashMap::default();
    let mut groups: FxHashMap<Id, std::collections::BTreeSet<u32>> = FxHashMap::default();
    for record in 0..table.len() as u32 {
        let (instance, family) = told(record);
        alike.entry(family).or_default().insert(instance);
        groups.entry(resolution.clusters.of[record as usize]).or_default().insert(instance);
    }
    let look_alikes: usize =
        alike.values().filter(|family| family.len() > 1).map(|family| family.len()).sum();
    let merged: usize = groups.values().map(|group| group.len() - 1).sum();
    assert!(merged * 100 <= look_alikes, "{merged} of {look_alikes}");
}

#[test]
fn declared_interactions_are_weighed_together() {
    let text = format!("{INSTANCE}\n[[interaction]]\nbetween = [\"year\", \"edition\"]\n");
    let profile = profile(&text);
    let (rows, truth) = generated(3000, 3);
    let table = table(&rows);
    let resolution = run(&table, &profile);
    let year = profile.comparison("year").unwrap();
    let edition = profile.comparison("edition").unwrap();
    assert!(resolution.model.level(year, 1).is_none());
    let parts = resolution.model.verdict(resolution.edges[0].vector).parts;
    assert!(parts.iter().any(|(first, second, _)| (*first, *second) == (year, Some(edition))));
    let truth = (0..table.len() as u32)
        .map(|record| (record, truth[&format!("{}/{}", table.source_name(record), table.key(record))]))
        .collect();
    assert!(evaluate::clusters(&resolution.clusters.of, &truth).pairs.f1 > 0.93);
}

#[test]
fn learned_weights_never_prefer_a_worse_level() {
    let profile = profile(INSTANCE);
    let (rows, _) = generated(2000, 17);
    let resolution = run(&table(&rows), &profile);
    for (at, compare) in profile.compare.iter().enumerate() {
        let bits: Vec<Vec<f64>> = (1..=compare.levels.len())
            .map(|level| resolution.model.level(at, level as u8).unwrap().1)
            .collect();
        for two in bits.windows(2) {
            assert!(two[0].iter().zip(&two[1]).all(|(better, worse)| better >= worse), "{}", compare.name);
        }
    }
}

#[test]
fn ra_18_forms_of_one_name_agree() {
    let names = [
        "Gloria Perez",
        "G. Perez",
        "Perez, G.",
        "Pérez, Gloria, 1950-",
        "Perez, Maria",
        "Peres, Gloria",
        "Smith, John",
    ];
    let rows = rows(&names.map(|name| format!("name={name}")).each_ref().map(String::as_str));
    let (table, profile) = (table(&rows), profile(AGENT));
    let comparer = Comparer::new(&table, &profile, None);
    let Read::Names(read) = comparer.read(0) else { panic!("names are read first") };
    let column = table.column("name").unwrap();
    let agreement = |left: u32, right: u32| read.agreement(column.of(left)[0], column.of(right)[0]);
    for (left, right) in [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)] {
        assert!(
            agreement(left, right) >= Agreement::Compatible,
            "{} and {}",
            names[left as usize],
            names[right as usize]
        );
    }
    assert_eq!(agreement(0, 5), Agreement::Similar);
    for (left, right) in [(0, 4), (2, 4), (0, 6), (1, 6)] {
        assert_eq!(
            agreement(left, right),
            Agreement::Conflict,
            "{} and {}",
            names[left as usize],
            names[right as usize]
        );
    }
}

#[test]
fn ra_18_forms_of_one_institution_agree_by_each_measure() {
    for measure in ["by-kind", "damerau-levenshtein", "levenshtein", "smith-waterman"] {
        let text =
            AGENT.replacen("kind    = \"name\"", &format!("kind    = \"name\"\nmeasure = \"{measure}\""), 1);
        let profile = profile(&text);
        let rows = rows(&[
            "name=University of Michigan",
            "name=Univeristy of Michigan.",
            "name=University of Missouri, Department of Physics",
        ]);
        let table = table(&rows);
        let comparer = Comparer::new(&table, &profile, None);
        let Read::Names(read) = comparer.read(0) else { panic!("names are read first") };
        let column = table.column("name").unwrap();
        let agreement = |left: u32, right: u32| read.agreement(column.of(left)[0], column.of(right)[0]);
        assert!(agreement(0, 1) >= Agreement::Compatible, "{measure}");
        assert!(agreement(0, 2) < Agreement::Compatible, "{measure}");
    }
}

/// S0.12: homonyms with entries of their own stay apart, two forms of one heading join.
#[test]
fn s0_12_homonyms_stay_apart_and_forms_of_one_heading_join() {
    let profile = profile(AGENT);
    let table = table(&rows(&[
        "name=Smith, John|birth=1901|orcid=0000-0001",
        "name=Smith, John|birth=1901|orcid=0000-0002",
        "name=Perez, Gloria|birth=1950|isni=0000000121032683",
        "name=G. Perez|isni=0000000121032683",
        "name=Smith, John|birth=1950",
        "name=Smith, John|birth=1850",
    ]));
    let resolution = run(&table, &profile);
    assert_eq!(groups(&table, &resolution.clusters), [["s/00002", "s/00003"]]);
}

#[test]
fn titles_that_say_nothing_merge_nothing() {
    let profile = profile(INSTANCE);
    let mut records = Vec::new();
    for title in ["Untitled", "Frontmatter", "[Untitled]", "", "Editorial"] {
        for number in 0..60 {
            records.push(match number % 3 {
                0 => format!("title={title}|year=1999"),
                1 => format!("title={title}"),
                _ => format!("title={title}|year=1999|publisher=Springer|language=eng"),
            });
        }
    }
    let table = table(&rows(&records.iter().map(String::as_str).collect::<Vec<_>>()));
    let resolution = run(&table, &profile);
    assert_eq!(groups(&table, &resolution.clusters), Vec::<Vec<String>>::new());
}

#[test]
fn ten_thousand_records_with_one_isbn_are_reported_and_do_not_merge_the_world() {
    let profile = profile(INSTANCE);
    let (mut rows, _) = generated(10_000, 9);
    rows.retain(|row| row.2 != "isbn");
    let names: std::collections::BTreeSet<(&str, String)> =
        rows.iter().map(|row| (row.0, row.1.clone())).collect();
    let without = run(&table(&rows), &profile);
    rows.extend(names.into_iter().map(|(source, key)| (source, key, "isbn", "9780000000002".to_owned())));
    let table = table(&rows);
    let resolution = run(&table, &profile);
    assert!(resolution.model.crowded["isbn"].contains("9780000000002"));
    assert!(resolution.compared < 40 * table.len() as u64, "{}", resolution.compared);
    assert_eq!(resolution.clusters.of, without.clusters.of);
}

#[test]
fn a_block_that_is_too_large_is_split_and_not_dropped() {
    let profile = profile(INSTANCE);
    // One title for a thousand books; years and pages tell them apart, two records each.
    let records: Vec<String> = (0..2000)
        .map(|number| {
            let book = number / 2;
            let (year, pages) = (1900 + book % 100, 100 + book / 2);
            format!("title=Selected poems and prose|creator=Doe, Jane|year={year}|extent={pages} p.|publisher=P{}", book % 7)
        })
        .collect();
    let table = table(&rows(&records.iter().map(String::as_str).collect::<Vec<_>>()));
    let resolution = run(&table, &profile);
    assert!(resolution.blocking.split > 0);
    assert!(resolution.compared < 60 * 2000, "{}", resolution.compared);
    let proposed: std::collections::BTreeSet<(Id, Id)> =
        resolution.edges.iter().map(|edge| (edge.left, edge.right)).collect();
    let found = (0..1000_u32).filter(|book| proposed.contains(&(book * 2, book * 2 + 1))).count();
    assert_eq!(found, 1000);
}

const WALDEN: &[&str] = &[
    "title=Walden, or, Life in the woods|creator=Thoreau, Henry David|year=1854|publisher=Ticknor and Fields|extent=357 p.",
    "title=Walden ; or, Life in the woods|creator=Henry David Thoreau|year=1854|publisher=Ticknor & Fields|extent=357 pages",
    "title=Walden, or, Life in the woods|creator=Thoreau, H. D.|year=1854|publisher=Ticknor|extent=357 p.",
    "title=The origin of species|creator=Darwin, Charles|year=1859|publisher=Murray|extent=502 p.",
];

#[test]
fn people_decide_and_contradictions_are_reported() {
    let profile = profile(INSTANCE);
    let table = table(&rows(WALDEN));
    let run = |decisions: &Decisions| {
        let given = Given { decisions: decisions.clone(), ..Given::default() };
        resolve(&table, &profile, given).unwrap()
    };
    let none = run(&Decisions::default());
    assert_eq!(groups(&table, &none.clusters), [["s/00000", "s/00001", "s/00002"]]);

    let mut decisions = Decisions::default();
    decisions.never(0, 2);
    let apart = run(&decisions);
    assert_ne!(apart.clusters.of[0], apart.clusters.of[2]);
    assert!(apart.clusters.refused.iter().any(|refusal| matches!(refusal.reason, Reason::Never(0, 2))));

    decisions.join(2, 3);
    let joined = run(&decisions);
    assert_eq!(joined.clusters.of[2], joined.clusters.of[3]);

    // Join of 0 with 3 would bring 0 and 2 together.
    decisions.join(0, 3);
    let contradictory = run(&decisions);
    assert_ne!(contradictory.clusters.of[0], contradictory.clusters.of[2]);
    let reported = |refusal: &cluster::Refusal| refusal.reason == Reason::Contradiction(0, 2);
    assert!(contradictory.clusters.refused.iter().any(reported));

    // The last word about a pair counts; a cycle of joins is no contradiction.
    decisions.join(0, 2);
    decisions.join(2, 0);
    let last = run(&decisions);
    assert_eq!([last.clusters.of[0], last.clusters.of[2], last.clusters.of[3]], [0, 0, 0]);
    assert!(!last.clusters.refused.iter().any(|refusal| matches!(refusal.reason, Reason::Contradiction(..))));
}

/// What forbids to merge two records, as the shipped profile has it.
fn veto_between(left: &str, right: &str) -> Option<String> {
    let profile = profile(INSTANCE);
    let table = table(&rows(&[left, right]));
    let comparer = Comparer::new(&table, &profile, None);
    let blocker = Blocker::new(&comparer, 1000);
    explain(&comparer, &blocker, &Model::expected(&profile), 0, 1).veto
}

#[test]
fn another_level_is_another_publication_unless_extent_or_identifier_says_otherwise() {
    let record = |rest: &str| format!("title=Annals of the garden|creator=Ray, John|year=1901|{rest}");
    let between = |left: &str, right: &str| veto_between(&record(left), &record(right));
    let different = Some("different level".to_owned());
    assert_eq!(between("level=serial", "level=monograph"), different);
    assert_eq!(between("level=part|extent=p. 12-30", "level=monograph|extent=320 p."), different);
    assert_eq!(between("level=serial", "level=serial"), None);
    // Most tables do not say it.
    assert_eq!(between("level=serial", "language=eng"), None);
    assert_eq!(between("level=part|extent=320 p.", "level=monograph|extent=320 p."), None);
    assert_eq!(between("level=serial|lccn=01012345", "level=monograph|lccn=01012345"), None);
}

#[test]
fn the_same_edition_with_other_isbns_is_another_publication() {
    let record = |rest: &str| format!("title=Annals of the garden|creator=Ray, John|year=1901|{rest}");
    let between = |left: &str, right: &str| veto_between(&record(left), &record(right));
    let (one, other) = ("isbn=9780140430578", "isbn=9780143039952");
    let different = Some("other identifiers of the same edition".to_owned());
    assert_eq!(
        between(&format!("edition=2nd ed.|{one}"), &format!("edition=Second edition|{other}")),
        different
    );
    assert_eq!(between(one, other), None);
    let with = |isbn: &str| format!("edition=2nd ed.|{isbn}|oclc=1234567");
    assert_eq!(between(&with(one), &with(other)), None);
    assert_eq!(between(&with(one), &format!("edition=2nd ed.|{one}|{other}")), None);
}

#[test]
fn vetoes_hold_between_groups_and_are_explained() {
    let profile = profile(INSTANCE);
    let table = table(&rows(&[
        "title=A history of Greece. Vol. 1|creator=Grote, George|year=1846|publisher=Murray|extent=500 p.",
        "title=A history of Greece. Vol. I|creator=George Grote|year=1846|publisher=John Murray|extent=500 p.",
        "title=A history of Greece|part=v. 2|creator=Grote, George|year=1846|publisher=Murray|extent=500 p.",
        "title=A history of Greece|creator=Grote, George|year=1846|publisher=Murray|extent=500 p.",
    ]));
    let resolution = run(&table, &profile);
    let of = &resolution.clusters.of;
    assert_eq!(of[0], of[1]);
    assert_ne!(of[0], of[2]);
    let comparer = Comparer::new(&table, &profile, Some(&resolution.model));
    let blocker = Blocker::new(&comparer, 1000);
    let why = explain(&comparer, &blocker, &resolution.model, 0, 2);
    assert_eq!(why.veto.as_deref(), Some("different part"));
    assert_eq!(why.band, Band::Apart);
    let why = explain(&comparer, &blocker, &resolution.model, 0, 1);
    assert_eq!((why.veto.as_deref(), why.band), (None, Band::Merge));
    let sum: f64 = why.comparisons.iter().map(|comparison| comparison.bits).sum::<f64>() + why.prior;
    assert!((sum - why.weight).abs() < 1e-9);
    assert!(why.shared_keys.contains(&"title proper".to_owned()));
    // Also for pairs that nothing proposes.
    assert_eq!(why.comparisons[0].left, ["A history of Greece. Vol. 1"]);
}

#[test]
fn nothing_merges_within_a_source_without_duplicates() {
    let text =
        INSTANCE.replacen("profile = \"instance\"", "profile = \"instance\"\nunique-sources = [\"s\"]", 1);
    let profile = profile(&text);
    let table = table(&rows(WALDEN));
    assert_eq!(groups(&table, &run(&table, &profile).clusters), Vec::<Vec<String>>::new());
}

#[test]
fn keys_of_queries_bring_records_together() {
    let profile = profile(INSTANCE);
    let table = table(&rows(&["title=Walden|creator=Thoreau", "title=Valdenas|creator=Toro"]));
    assert_eq!(run(&table, &profile).compared, 0);
    let given = Given { keys: &[("k", 0), ("k", 1)], ..Given::default() };
    assert_eq!(resolve(&table, &profile, given).unwrap().compared, 1);
}

#[test]
fn what_changes_gives_the_result_of_a_full_run_with_less_work() {
    let profile = profile(INSTANCE);
    let (rows, _) = generated(4000, 21);
    let names: Vec<(&str, String)> = {
        let mut names: Vec<_> = rows.iter().map(|row| (row.0, row.1.clone())).collect();
        names.dedup();
        names
    };
    let is_in =
        |set: &[(&str, String)], row: &Row| set.iter().any(|(source, key)| *source == row.0 && *key == row.1);
    let (late, gone) = (&names[3900..], &names[100..120]);
    let edited = &names[200..220];
    let before: Vec<Row> = rows.iter().filter(|row| !is_in(late, row)).cloned().collect();
    let after: Vec<Row> = rows
        .iter()
        .filter(|row| !is_in(gone, row))
        .cloned()
        .map(|mut row| {
            if row.2 == "title" && is_in(edited, &row) {
                row.3 = format!("{} revisited by nobody", row.3);
            }
            row
        })
        .collect();
    let first = table(&before);
    let started = run(&first, &profile);
    let mut state = State::of(&first, &profile, &started, &[], &Decisions::default(), BUDGET).unwrap();

    let second = table(&after);
    let given = Given { model: Some(started.model.clone()), ..Given::default() };
    let full = resolve(&second, &profile, given).unwrap();
    let changed: Vec<(&str, &str)> =
        late.iter().chain(edited).map(|(source, key)| (*source, key.as_str())).collect();
    let removed: Vec<(&str, &str)> = gone.iter().map(|(source, key)| (*source, key.as_str())).collect();
    let update =
        state.update(&profile, &second, &Changes { changed: &changed, gone: &removed, ..Changes::default() });

    let expected = State::of(&second, &profile, &full, &[], &Decisions::default(), BUDGET).unwrap();
    assert_eq!(state.groups(), expected.groups());
    assert!(update.compared * 5 < full.compared, "{} of {}", update.compared, full.compared);

    // Records that change again and again wear it out.
    let all: Vec<(&str, &str)> =
        (0..second.len() as u32).map(|record| (second.source_name(record), second.key(record))).collect();
    let mut worn = State::of(&second, &profile, &full, &[], &Decisions::default(), BUDGET).unwrap();
    for _ in 0..2 {
        assert!(worn.can_follow(&second));
        worn.update(&profile, &second, &Changes { changed: &all, ..Changes::default() });
    }
    assert!(!worn.can_follow(&second));
    assert_eq!(worn.groups(), expected.groups());

    // A decision is taken up, and taken back.
    let group = state.groups().into_iter().next().unwrap();
    let (one, other) = (&group[0], &group[1]);
    let pair = ((one.0.as_str(), one.1.as_str()), (other.0.as_str(), other.1.as_str()));
    let decided = [pair.0, pair.1];
    let never = Changes { nevers: &[pair], decided: &decided, ..Changes::default() };
    state.update(&profile, &second, &never);
    assert!(!state.groups().iter().any(|group| group.contains(one) && group.contains(other)));
    state.update(&profile, &second, &Changes { decided: &decided, ..Changes::default() });
    assert_eq!(state.groups(), expected.groups());
}

/// What people say of pairs moves the weights of pairs like them.
#[test]
fn labels_sharpen_what_is_learned() {
    let profile = profile(INSTANCE);
    let (rows, _) = generated(2000, 37);
    let table = table(&rows);
    let plain = run(&table, &profile);
    let merge = score::weight_of(profile.bands.merge);
    let mut doubtful: Vec<&Edge> = plain.edges.iter().filter(|edge| edge.weight < merge + 4.0).collect();
    doubtful.sort_unstable_by_key(|edge| (edge.vector, edge.left, edge.right));
    let vector = doubtful[doubtful.len() / 2].vector;
    let of_vector: Vec<&Edge> = plain.edges.iter().filter(|edge| edge.vector == vector).collect();
    let labelled = |same: bool| {
        let labels: Vec<(Id, Id, bool)> =
            of_vector.iter().cycle().take(200).map(|edge| (edge.left, edge.right, same)).collect();
        resolve(&table, &profile, Given { labels: &labels, ..Given::default() }).unwrap().model.weight(vector)
    };
    let (apart, unlabelled, same) = (labelled(false), plain.model.weight(vector), labelled(true));
    assert!(apart < unlabelled && unlabelled < same, "{apart} {unlabelled} {same}");
}

/// The refusals of a run, in an order of their own.
fn refusals(found: &Resolution) -> Vec<String> {
    let mut all: Vec<String> = found.clusters.refused.iter().map(|refusal| format!("{refusal:?}")).collect();
    all.sort();
    all
}

/// What changed is found out by the state itself, with keys and decisions, and after a night in a
/// file.
#[test]
fn a_state_that_follows_finds_what_a_full_run_finds() {
    let profile = profile(INSTANCE);
    let (rows, _) = generated(3000, 31);
    let names: Vec<(&str, String)> = rows
        .iter()
        .map(|row| (row.0, row.1.clone()))
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect();
    let is_in =
        |set: &[(&str, String)], row: &Row| set.iter().any(|(source, key)| *source == row.0 && *key == row.1);
    let stages: [Vec<Row>; 3] = [
        rows.iter().filter(|row| !is_in(&names[2950..], row)).cloned().collect(),
        rows.iter().filter(|row| !is_in(&names[40..60], row)).cloned().collect(),
        rows.iter()
            .filter(|row| !is_in(&names[2000..2010], row))
            .cloned()
            .map(|mut row| {
                if row.2 == "title" && is_in(&names[300..310], &row) {
                    row.3.push_str(" and what came of it");
                }
                row
            })
            .collect(),
    ];
    let mut state: Option<State> = None;
    for (stage, rows) in stages.iter().enumerate() {
        let table = table(rows);
        let last = table.len() as u32 - 1;
        let keys: Vec<(&str, u32)> = (0..last).step_by(97).map(|id| ("everyone", id)).collect();
        let mut decisions = Decisions::default();
        decisions.join(1, last);
        if stage > 0 {
            decisions.never(1, last - 1);
            decisions.join(last - 1, last);
            decisions.join(5, 9);
        }
        let model = state.as_ref().map(|state| state.model.clone());
        let given = Given { keys: &keys, decisions: decisions.clone(), model, ..Given::default() };
        let full = resolve(&table, &profile, given).unwrap();
        let Some(known) = &mut state else {
            state = Some(State::of(&table, &profile, &full, &keys, &decisions, BUDGET).unwrap());
            continue;
        };
        assert!(known.can_follow(&table));
        let done = known.follow(&table, &profile, &keys, &decisions);
        let followed = known.resolution(&table, &done);
        assert_eq!(followed.clusters.of, full.clusters.of, "stage {stage}");
        assert_eq!(followed.edges, full.edges, "stage {stage}");
        assert_eq!(refusals(&followed), refusals(&full), "stage {stage}");
        assert!(!full.clusters.refused.is_empty());
        assert!(done.compared * 3 < full.compared, "{} of {}", done.compared, full.compared);
        let again = known.follow(&table, &profile, &keys, &decisions);
        assert_eq!((again.compared, again.read), (0, 0), "nothing changed, and something was compared");
        let mut file = Vec::new();
        known.write(&mut file).unwrap();
        *known = State::read(&mut file.as_slice()).unwrap();
    }
}

/// A table with keys of queries.
struct Keyed<'a>(&'a FeatureTable, &'a [(&'a str, u32)]);

impl Features for Keyed<'_> {
    fn rows(&self, source: &str, key: &str, add: &mut dyn FnMut(&str, &str)) {
        self.0.rows(source, key, add);
    }

    fn keys(&self, source: &str, key: &str, add: &mut dyn FnMut(&str)) {
        let id = self.0.find(source, key);
        self.1.iter().filter(|(_, record)| Some(*record) == id).for_each(|(key, _)| add(key));
    }
}

#[test]
fn keys_of_queries_bring_an_update_together_as_they_bring_a_full_run() {
    let profile = profile(INSTANCE);
    let (rows, _) = generated(400, 29);
    let all = table(&rows);
    let last = all.len() as u32 - 1;
    // Everything has a key with the last record, which comes late.
    let keys: Vec<(String, u32)> =
        (0..last).flat_map(|id| [(format!("k{id}"), id), (format!("k{id}"), last)]).collect();
    let keys: Vec<(&str, u32)> = keys.iter().map(|(key, id)| (key.as_str(), *id)).collect();
    let (source, key) = (all.source_name(last).to_owned(), all.key(last).to_owned());
    let before: Vec<Row> = rows.iter().filter(|row| (row.0, &row.1) != (&*source, &key)).cloned().collect();
    let first = table(&before);
    let started = run(&first, &profile);
    let known: Vec<(&str, u32)> = keys.iter().copied().filter(|(_, id)| *id != last).collect();
    let mut state = State::of(&first, &profile, &started, &known, &Decisions::default(), BUDGET).unwrap();
    let changed = [(source.as_str(), key.as_str())];
    let changes = Changes { changed: &changed, ..Changes::default() };
    let without = State::of(&first, &profile, &started, &[], &Decisions::default(), BUDGET)
        .unwrap()
        .update(&profile, &all, &changes);
    let with = state.update(&profile, &Keyed(&all, &keys), &changes);
    assert!(with.compared >= u64::from(last) && with.compared > without.compared);
    let given = Given { keys: &keys, model: Some(started.model), ..Given::default() };
    let full = resolve(&all, &profile, given).unwrap();
    let expected = State::of(&all, &profile, &full, &keys, &Decisions::default(), BUDGET).unwrap();
    assert_eq!(state.groups(), expected.groups());
    assert_eq!(state.pairs().count(), expected.pairs().count());
}

#[test]
fn a_state_is_read_as_it_was_written_and_a_damaged_one_is_refused() {
    let profile = profile(INSTANCE);
    let (rows, _) = generated(400, 13);
    let names: std::collections::BTreeSet<(&str, String)> =
        rows.iter().map(|row| (row.0, row.1.clone())).collect();
    let some = names.iter().nth(200).unwrap();
    let table = table(&rows);
    let resolution = run(&table, &profile);
    let mut state = State::of(&table, &profile, &resolution, &[], &Decisions::default(), BUDGET).unwrap();
    state.update(&profile, &table, &Changes { gone: &[(some.0, some.1.as_str())], ..Changes::default() });
    let mut written = Vec::new();
    state.write(&mut written).unwrap();

    let mut read = State::read(&mut written.as_slice()).unwrap();
    assert_eq!(read.groups(), state.groups());
    let mut again = Vec::new();
    read.write(&mut again).unwrap();
    assert!(again == written, "written twice, it is the same");
    // Both go on in the same way.
    let back = Changes { changed: &[(some.0, some.1.as_str())], ..Changes::default() };
    let (one, other) = (state.update(&profile, &table, &back), read.update(&profile, &table, &back));
    assert_eq!((one.compared, one.regrouped), (other.compared, other.regrouped));
    assert_eq!(
        read.groups(),
        State::of(&table, &profile, &resolution, &[], &Decisions::default(), BUDGET).unwrap().groups()
    );

    assert!(matches!(State::read(&mut &b"PK\x03\x04 something"[..]), Err(StateError::Foreign)));
    assert!(matches!(State::read(&mut &[][..]), Err(StateError::Foreign)));
    let mut newer = written.clone();
    newer[7] = 99;
    assert!(matches!(State::read(&mut newer.as_slice()), Err(StateError::Version { found: 99 })));
    for length in (8..written.len()).step_by(written.len() / 25) {
        assert!(matches!(State::read(&mut &written[..length]), Err(StateError::Damaged(_))), "{length}");
    }
    for at in (8..written.len()).step_by(written.len() / 120) {
        let mut damaged = written.clone();
        damaged[at] ^= 0x10;
        assert!(matches!(State::read(&mut damaged.as_slice()), Err(StateError::Damaged(_))), "{at}");
    }
}

#[test]
fn a_model_is_text_that_people_can_read_and_change() {
    let text = format!("{INSTANCE}\n[[interaction]]\nbetween = [\"year\", \"edition\"]\n");
    for text in [INSTANCE, text.as_str()] {
        let profile = profile(text);
        let (rows, _) = generated(1500, 13);
        let table = table(&rows);
        let resolution = run(&table, &profile);
        let written = resolution.model.to_toml(&profile);
        let read = Model::from_toml(&written, &profile).unwrap();
        let with =
            |model| resolve(&table, &profile, Given { model: Some(model), ..Given::default() }).unwrap();
        assert_eq!(with(read).edges, with(resolution.model.clone()).edges);
        assert_eq!(read_again(&written, &profile), written);
    }
    let profile = profile(INSTANCE);
    let written = Model::expected(&profile).to_toml(&profile);
    let error = |text: String| Model::from_toml(&text, &profile).err().unwrap().to_string();
    assert!(error(written.replace("\"instance\"", "\"work\"")).contains("profile `work`"));
    assert!(error(written.replace("exact-rare", "exact-fair")).contains("level `exact-rare` of `title`"));
    assert!(error(written.replace("[shares]", "[shares")).contains("line 7"));
}

fn read_again(written: &str, profile: &Profile) -> String {
    Model::from_toml(written, profile).unwrap().to_toml(profile)
}

/// Work is counted: under 5 % of the pairs of a full run.
#[test]
fn some_records_more_cost_a_small_part_of_a_full_run() {
    let profile = profile(INSTANCE);
    let (rows, _) = generated(8000, 29);
    let names: Vec<(&str, String)> = {
        let names: std::collections::BTreeSet<_> = rows.iter().map(|row| (row.0, row.1.clone())).collect();
        names.into_iter().collect()
    };
    let late: std::collections::BTreeSet<&(&str, String)> = names.iter().step_by(200).collect();
    let before: Vec<Row> =
        rows.iter().filter(|row| !late.contains(&(row.0, row.1.clone()))).cloned().collect();
    let (first, all) = (table(&before), table(&rows));
    let started = run(&first, &profile);
    let mut state = State::of(&first, &profile, &started, &[], &Decisions::default(), BUDGET).unwrap();
    let changed: Vec<(&str, &str)> = late.iter().map(|(source, key)| (*source, key.as_str())).collect();
    let update = state.update(&profile, &all, &Changes { changed: &changed, ..Changes::default() });
    let full = resolve(&all, &profile, Given { model: Some(started.model), ..Given::default() }).unwrap();
    let all_work = full.compared + full.clusters.looked;
    assert!(update.compared * 20 < all_work, "{} of {all_work}", update.compared);
    assert_eq!(
        state.groups(),
        State::of(&all, &profile, &full, &[], &Decisions::default(), BUDGET).unwrap().groups()
    );
}

/// The first records of each instance, as a merged set, and the others.
fn split_by_instance(table: &FeatureTable, truth: &FxHashMap<String, u32>) -> (Vec<Id>, Vec<Id>) {
    let mut seen = std::collections::BTreeSet::new();
    (0..table.len() as u32).partition(|record| {
        seen.insert(truth[&format!("{}/{}", table.source_name(*record), table.key(*record))])
    })
}

/// S4.1: the content type of an entry and the evidence for it. S4.2: who looks at it is
/// configuration, and a book is never tested by the agents of television.
#[test]
fn s4_1_and_s4_2_entries_go_to_the_agents_of_their_type() {
    let profile = profile(INSTANCE);
    let table = table(&rows(&[
        "title=Walden|creator=Thoreau, Henry David|year=1854|publisher=Ticknor and Fields|extent=357 p.|type=book",
        "title=Walden|creator=Thoreau, Henry David|year=1854|publisher=Ticknor and Fields|extent=357 p.|type=tv-programme",
        "title=Walden|creator=Thoreau, Henry David|year=1854|publisher=Ticknor and Fields|extent=357 p.|isbn=9780691014647",
        "title=Walden|creator=Thoreau, Henry David|year=1854|publisher=Ticknor and Fields|extent=357 p.",
        "title=Walden|creator=Thoreau, Henry David|year=1854|publisher=Ticknor and Fields|extent=357 p.|type=Book",
    ]));
    let model = run(&table, &profile).model;
    let comparer = Comparer::new(&table, &profile, Some(&model));
    let blocker = Blocker::new(&comparer, BUDGET);
    let route = |record: Id| {
        let route = agents::Router::new(&table, &profile).route(record);
        (route.set.map(|set| &*profile.agents[set].name), route.evidence)
    };
    assert_eq!(route(0), (Some("texts"), "`type` is `book`".to_owned()));
    assert_eq!(route(1), (Some("moving pictures"), "`type` is `tv-programme`".to_owned()));
    assert_eq!(route(2), (Some("texts"), "it has `isbn`".to_owned()));
    assert_eq!(route(3), (None, "nothing tells the type".to_owned()));
    // The merged set holds a programme and a book: the book is compared with the book alone.
    let mut dispatch = Dispatch::new(&comparer, &blocker, &model, &[0, 1]);
    let search = dispatch.look_for(4);
    assert_eq!((search.without_stop, search.found.map(|found| found.member)), (1, Some(0)));
    assert_eq!(dispatch.report().sets["moving pictures"].entries, 0);
    // Of an unknown type nobody is left out.
    assert_eq!(dispatch.look_for(3).without_stop, 2);
    // The table is configuration.
    let moved = INSTANCE
        .replace("\"tv-programme\"]", "\"theatre\"]")
        .replace("[\"book\",", "[\"book\", \"tv-programme\",");
    let profile = super::tests::profile(&moved);
    assert_eq!(agents::Router::new(&table, &profile).route(1).set, Some(0));
    let twice = INSTANCE.replace("\"tv-programme\"]", "\"tv-programme\", \"book\"]");
    let problems = Profile::parse(&twice, WORDS).err().unwrap();
    assert!(problems[0].message.contains("`book` is assigned to two sets"), "{problems:?}");
}

/// S4.3: the shards of the m agents are disjoint and cover the merged set; m is reported. A shard
/// can be sent elsewhere.
#[test]
fn s4_3_shards_are_disjoint_and_cover() {
    let profile = profile(INSTANCE);
    let (rows, truth) = generated(2000, 31);
    let table = table(&rows);
    let model = run(&table, &profile).model;
    let comparer = Comparer::new(&table, &profile, Some(&model));
    let blocker = Blocker::new(&comparer, BUDGET);
    let (merged, _) = split_by_instance(&table, &truth);
    let dispatch = Dispatch::new(&comparer, &blocker, &model, &merged);
    let mut owned: Vec<Id> = dispatch.shards().flat_map(|shard| shard.members.iter().copied()).collect();
    owned.sort_unstable();
    assert_eq!(owned, merged, "each entry once");
    let texts = &dispatch.report().sets["texts"];
    assert_eq!((texts.agents, texts.shards.len()), (4, 4));
    let all: usize = texts.shards.iter().sum();
    assert!(texts.shards.iter().all(|members| members * 4 > all / 2 && members * 4 < all * 2), "{texts:?}");
    for shard in dispatch.shards() {
        let sent = serde_json::to_string(shard).unwrap();
        assert_eq!(serde_json::from_str::<agents::Shard>(&sent).unwrap(), *shard);
    }
}

/// S4.4: the first agent that finds an entry stops the others.
#[test]
fn s4_4_stopping_early_compares_less_and_finds_the_same() {
    let profile = profile(INSTANCE);
    let (rows, truth) = generated(4000, 31);
    let table = table(&rows);
    let resolution = run(&table, &profile);
    let comparer = Comparer::new(&table, &profile, Some(&resolution.model));
    let blocker = Blocker::new(&comparer, BUDGET);
    let (merged, arrived) = split_by_instance(&table, &truth);
    let mut dispatch = Dispatch::new(&comparer, &blocker, &resolution.model, &merged);
    let told = |record: Id| truth[&format!("{}/{}", table.source_name(record), table.key(record))];
    let found: Vec<(Id, Id)> =
        arrived.iter().filter_map(|entry| Some((*entry, dispatch.look_for(*entry).found?.member))).collect();
    let report = dispatch.report();
    assert_eq!((report.entries, report.found), (arrived.len() as u64, found.len() as u64));
    assert!(report.compared * 10 < report.without_stop * 9, "{report:?}");
    let right = found.iter().filter(|(entry, member)| told(*entry) == told(*member)).count();
    assert!(
        right * 100 > found.len() * 97 && found.len() * 100 > arrived.len() * 93,
        "{right} of {}",
        found.len()
    );
}

#[test]
fn decisions_in_a_circle_or_about_one_record_merge_nothing_else() {
    let profile = profile(INSTANCE);
    let (rows, _) = generated(600, 37);
    let table = table(&rows);
    let without = run(&table, &profile);
    // Joins in a circle, each contradicted by a never that is said later about its neighbour.
    let singles: Vec<Id> = {
        let mut sizes: FxHashMap<Id, u32> = FxHashMap::default();
        without.clusters.of.iter().for_each(|root| *sizes.entry(*root).or_default() += 1);
        (0..table.len() as u32)
            .filter(|record| sizes[&without.clusters.of[*record as usize]] == 1)
            .take(6)
            .collect()
    };
    let mut decisions = Decisions::default();
    for (at, left) in singles.iter().enumerate() {
        decisions.join(*left, singles[(at + 1) % singles.len()]);
        decisions.join(*left, *left);
        decisions.never(*left, *left);
    }
    decisions.never(singles[0], singles[3]);
    // Of records that are not there nothing can be decided.
    decisions.join(singles[1], 4_000_000);
    let given = Given { decisions, model: Some(without.model.clone()), ..Given::default() };
    let with = resolve(&table, &profile, given).unwrap();
    let of = &with.clusters.of;
    assert_ne!(of[singles[0] as usize], of[singles[3] as usize]);
    let contradicted =
        with.clusters.refused.iter().filter(|refusal| matches!(refusal.reason, Reason::Contradiction(..)));
    assert!(contradicted.count() >= 1);
    for record in (0..table.len() as u32).filter(|record| !singles.contains(record)) {
        assert_eq!(of[record as usize], without.clusters.of[record as usize]);
    }
}

#[test]
fn records_without_any_feature_stay_alone() {
    let profile = profile(INSTANCE);
    let mut builder = Builder::default();
    for number in 0..1000 {
        let record = builder.record("s", &number.to_string());
        builder.add(record, "title", ["", "   ", "...", "[]"][number % 4]);
    }
    let table = builder.finish();
    let resolution = run(&table, &profile);
    assert_eq!(groups(&table, &resolution.clusters), Vec::<Vec<String>>::new());
}
