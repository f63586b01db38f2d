//! Entity resolution on generated records: quality, look-alikes, CPU, memory, growth.
//!
//! `cargo bench --bench resolve -- 100000` generates about so many records with known duplicates
//! and look-alikes, resolves them with the shipped profile `instance`, and prints what it found
//! and what it cost. `cargo bench --bench resolve -- add 1000000` then adds 1,000 records and
//! compares the work, and the result, with a full run. `-- agents 100000` looks for a third of the
//! records among the others, with and without early stop. `-- sets DIR` scores the public sets in
//! a folder; see `sets.rs`. `-- csv 100000` writes the generated records for other tools.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a failed check ends the run, and the run prints what it finds"
)]

mod generate;
mod labelled;
mod sets;

use std::path::Path;
use std::time::Instant;

use pinakes_resolve::agents::Dispatch;
use pinakes_resolve::block::Blocker;
use pinakes_resolve::cluster::Decisions;
use pinakes_resolve::compare::Comparer;
use pinakes_resolve::evaluate;
use pinakes_resolve::feature::{Builder, FeatureTable, Id};
use pinakes_resolve::increment::{Changes, State};
use pinakes_resolve::profile::Profile;
use pinakes_resolve::{BUDGET, Given, Resolution, resolve};
use rustc_hash::{FxHashMap, FxHashSet};

/// As in the program itself.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PROFILE: &str = include_str!("../../mappings/resolve/instance.toml");
const WORK: &str = include_str!("../../mappings/resolve/work.toml");
const AGENT: &str = include_str!("../../mappings/resolve/agent.toml");
const WORDS: &str = include_str!("../../mappings/resolve/words.toml");
const SEED: u64 = 7;
const ADDED: usize = 1000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let texts: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match texts.as_slice() {
        ["add", records] => add(records.parse().unwrap()),
        ["agents", records] => agents(records.parse().unwrap()),
        ["csv", records] => table(records.parse().unwrap()),
        ["sets", folder] => sets::all(Path::new(folder), &|| profile(PROFILE), &|| profile(AGENT)),
        ["levels", folder, profile_name, shown @ ..] => {
            labelled::levels(Path::new(folder), &profile(text_of(profile_name)), shown);
        }
        ["export", folder, records] => export(Path::new(folder), records.parse().unwrap()),
        ["dump", folder, name] => labelled::dump(Path::new(folder), &profile(text_of(name))),
        ["blocking", folder, name] => labelled::blocking(Path::new(folder), profile(text_of(name))),
        ["unique", folder, name] => labelled::unique(Path::new(folder), &profile(text_of(name))),
        ["train", folder, name] => {
            let trained = labelled::train(Path::new(folder), expected(name), None);
            print!("{}", trained.weights_text(&labelled::about(Path::new(folder), name)));
        }
        ["score", folder, name] => {
            labelled::score(Path::new(folder), name, &|_| profile(text_of(name)));
        }
        ["leave-one-out", folder, name] => {
            let folder = Path::new(folder);
            labelled::score(folder, name, &|set| labelled::train(folder, expected(name), Some(set)));
        }
        [records] => quality(records.parse().unwrap()),
        _ => quality(100_000),
    }
}

fn text_of(name: &str) -> &'static str {
    match name {
        "agent" => AGENT,
        "work" => WORK,
        _ => PROFILE,
    }
}

/// A shipped profile, with the shipped weights.
fn profile(text: &str) -> Profile {
    weighed(text, "../../mappings/resolve/weights")
}

/// A shipped profile with what was expected before anything was counted.
fn expected(name: &str) -> Profile {
    weighed(text_of(name), "../../benches/resolve/expectations")
}

fn weighed(text: &str, folder: &str) -> Profile {
    let mut profile = Profile::parse(text, WORDS).unwrap_or_else(|problems| panic!("{problems:?}"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let weights = std::fs::read_to_string(path.join(format!("{}.toml", profile.name))).unwrap();
    profile.weigh(&weights).unwrap_or_else(|problems| panic!("{problems:?}"));
    profile
}

fn quality(records: usize) {
    let mut builder = Builder::default();
    let mut truth: Vec<(String, String, u32, u32)> = Vec::new();
    generate::generate(records, SEED, &mut |record| {
        let id = builder.record(&record.source, &record.key);
        record.features.iter().for_each(|(feature, value)| builder.add(id, feature, value));
        truth.push((record.source.clone(), record.key.clone(), record.instance, record.family));
    });
    let table = builder.finish();
    let profile = profile(PROFILE);
    let resolution = measured(&table, &profile);
    let of = &resolution.clusters.of;
    let mut instances: FxHashMap<Id, u32> = FxHashMap::default();
    let mut families: FxHashMap<u32, FxHashSet<u32>> = FxHashMap::default();
    let mut groups: FxHashMap<Id, FxHashSet<u32>> = FxHashMap::default();
    for (source, key, instance, family) in &truth {
        let id = table.find(source, key).unwrap();
        instances.insert(id, *instance);
        families.entry(*family).or_default().insert(*instance);
        groups.entry(of[id as usize]).or_default().insert(*instance);
    }
    let found = evaluate::clusters(of, &instances);
    println!("pairs     {:?}", found.pairs);
    println!("clusters  {:?}", found.clusters);
    println!("B cubed   {:?}", found.b_cubed);
    let alike: usize = families.values().filter(|family| family.len() > 1).map(FxHashSet::len).sum();
    let merged: usize = groups.values().map(|group| group.len() - 1).sum();
    println!("{merged} of {alike} look-alikes merged: {:.3} %", 100.0 * merged as f64 / alike as f64);
}

fn measured(table: &FeatureTable, profile: &Profile) -> Resolution {
    let (before, begun) = (cpu(), Instant::now());
    let resolution = resolve(table, profile, Given::default()).unwrap();
    println!(
        "{} records, {:?}, {} vectors, {} rounds: {:.1} CPU s, {:.1} s, {}",
        table.len(),
        resolution.blocking,
        resolution.model.vectors,
        resolution.model.rounds,
        cpu() - before,
        begun.elapsed().as_secs_f64(),
        peak()
    );
    resolution
}

/// Adds records to a resolved table and compares with a run over all.
fn add(records: usize) {
    let (mut some, mut all) = (Builder::default(), Builder::default());
    let mut late: Vec<(String, String)> = Vec::new();
    let mut made = 0;
    generate::generate(records + ADDED, SEED, &mut |record| {
        made += 1;
        let is_late = made % (records / ADDED) == 0 && late.len() < ADDED;
        let mut into = vec![&mut all];
        if is_late {
            late.push((record.source.clone(), record.key.clone()));
        } else {
            into.push(&mut some);
        }
        for builder in into {
            let id = builder.record(&record.source, &record.key);
            record.features.iter().for_each(|(feature, value)| builder.add(id, feature, value));
        }
    });
    let (some, all) = (some.finish(), all.finish());
    let profile = profile(PROFILE);
    let before = cpu();
    let first = measured(&some, &profile);
    let full = cpu() - before;
    let before = cpu();
    let state = State::of(&some, &profile, &first, &[], &Decisions::default(), BUDGET).unwrap();
    let mut file = Vec::new();
    state.write(&mut file).unwrap();
    println!("state: {:.1} CPU s to make and write, {} bytes", cpu() - before, file.len());
    drop(state);
    let before = cpu();
    let mut state = State::read(&mut file.as_slice()).unwrap();
    println!("state: {:.1} CPU s to read", cpu() - before);
    let names: Vec<(&str, &str)> = late.iter().map(|(source, key)| (source.as_str(), key.as_str())).collect();
    let before = cpu();
    let update = state.update(&profile, &all, &Changes { changed: &names, ..Changes::default() });
    let cost = cpu() - before;
    println!(
        "{} added: {cost:.2} CPU s, {:.2} % of the full run; {} pairs compared, {:.3} %; {} records read",
        names.len(),
        100.0 * cost / full,
        update.compared,
        100.0 * update.compared as f64 / first.compared as f64,
        update.read
    );
    let again = resolve(&all, &profile, Given { model: Some(first.model), ..Given::default() }).unwrap();
    let expected = State::of(&all, &profile, &again, &[], &Decisions::default(), BUDGET).unwrap();
    println!("same result as the full run: {}", state.groups() == expected.groups());
}

/// Looks for every third record among the others, as agents do.
fn agents(records: usize) {
    let mut builder = Builder::default();
    generate::generate(records, SEED, &mut |record| {
        let id = builder.record(&record.source, &record.key);
        record.features.iter().for_each(|(feature, value)| builder.add(id, feature, value));
    });
    let table = builder.finish();
    let profile = profile(PROFILE);
    let resolution = measured(&table, &profile);
    let comparer = Comparer::new(&table, &profile, Some(&resolution.model));
    let blocker = Blocker::new(&comparer, BUDGET);
    let (arrived, merged): (Vec<Id>, Vec<Id>) = (0..table.len() as u32).partition(|id| id % 3 == 0);
    let mut dispatch = Dispatch::new(&comparer, &blocker, &resolution.model, &merged);
    let before = cpu();
    arrived.iter().for_each(|entry| {
        dispatch.look_for(*entry);
    });
    let report = dispatch.report();
    for (name, set) in &report.sets {
        println!("{name}: m = {}, shards {:?}, {} entries", set.agents, set.shards, set.entries);
    }
    println!(
        "{} of {} entries found; {} comparisons, {} without early stop: {:.1} % saved; {:.1} CPU s",
        report.found,
        report.entries,
        report.compared,
        report.without_stop,
        100.0 - 100.0 * report.compared as f64 / report.without_stop.max(1) as f64,
        cpu() - before
    );
}

/// The generated records, several values of a feature separated by ` | `.
fn table(records: usize) {
    const FEATURES: [&str; 17] = [
        "title",
        "part",
        "creator",
        "year",
        "publisher",
        "place",
        "extent",
        "edition",
        "language",
        "type",
        "isbn",
        "series",
        "url",
        "medium",
        "publisher-number",
        "coordinates",
        "contents",
    ];
    let mut out = csv::Writer::from_writer(std::io::stdout().lock());
    out.write_record(["id", "instance", "family"].iter().chain(&FEATURES)).unwrap();
    generate::generate(records, SEED, &mut |record| {
        let values = |feature: &str| {
            let own = record.features.iter().filter(|(name, _)| *name == feature);
            own.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" | ")
        };
        let head = [
            format!("{}/{}", record.source, record.key),
            record.instance.to_string(),
            record.family.to_string(),
        ];
        out.write_record(head.into_iter().chain(FEATURES.map(values))).unwrap();
    });
}

/// The generated records as a labelled set.
fn export(folder: &Path, records: usize) {
    let mut features = String::from("source\tid\tnode\tfeature\tvalue\n");
    let mut clusters = String::from("source\tid\tcluster\n");
    generate::generate(records, SEED + 1, &mut |record| {
        for (feature, value) in &record.features {
            features.push_str(&format!("{}\t{}\t\t{feature}\t{value}\n", record.source, record.key));
        }
        clusters.push_str(&format!("{}\t{}\t{}\n", record.source, record.key, record.instance));
    });
    std::fs::write(folder.join("generated.instance.tsv"), features).unwrap();
    std::fs::write(folder.join("generated.instance.clusters.tsv"), clusters).unwrap();
}

/// Processor time of this process in seconds.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
    ticks / 100.0
}

fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned()
}
