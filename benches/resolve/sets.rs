//! The public sets with a truth: DBLP-ACM, HathiTrust MARC, UW-UIUC books, Febrl.
//!
//! A set is a folder of CSV files; here only columns are given their features. The profiles are
//! the shipped ones, and no label is used but to score.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pinakes_resolve::block::{Blocker, pack};
use pinakes_resolve::compare::Comparer;
use pinakes_resolve::evaluate;
use pinakes_resolve::feature::{Builder, FeatureTable, Id};
use pinakes_resolve::profile::Profile;
use pinakes_resolve::{BUDGET, Given, Resolution, resolve};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cpu;

type Row = HashMap<String, String>;

/// Two records and whether they are one.
type Label = (Id, Id, bool);

pub fn all(folder: &Path, instance: &dyn Fn() -> Profile, agent: &dyn Fn() -> Profile) {
    let sets = Sets { folder: folder.to_owned() };
    sets.dblp_acm(instance());
    sets.hathi_marc(&instance());
    sets.uw_uiuc(&instance());
    for number in 1..=3 {
        sets.febrl(&[format!("febrl{number}")], agent());
    }
    sets.febrl(&["febrl4a".into(), "febrl4b".into()], agent());
}

struct Sets {
    folder: PathBuf,
}

impl Sets {
    fn rows(&self, file: &str) -> Vec<Row> {
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(self.folder.join(file)).unwrap();
        let headers: Vec<String> =
            reader.headers().unwrap().iter().map(|name| name.trim().to_owned()).collect();
        let row = |record: csv::StringRecord| {
            headers.iter().cloned().zip(record.iter().map(|value| value.trim().to_owned())).collect()
        };
        reader.records().map(|record| row(record.unwrap())).collect()
    }

    fn dblp_acm(&self, mut profile: Profile) {
        let mut builder = Builder::default();
        for source in ["dblp", "acm"] {
            for row in self.rows(&format!("dblp-acm/{source}.csv")) {
                let id = builder.record(source, &row["id"]);
                for feature in ["title", "venue", "year"] {
                    builder.add(id, feature, &row[feature]);
                }
                row["authors"].split(", ").for_each(|name| builder.add(id, "creator", name));
            }
        }
        let table = builder.finish();
        profile.unique_sources = ["dblp".into(), "acm".into()].into_iter().collect();
        let mut truth: FxHashMap<Id, u32> = (0..table.len() as u32).map(|id| (id, id)).collect();
        let mut labels = Vec::new();
        for row in self.rows("dblp-acm/matches.csv") {
            let (one, other) = (find(&table, "dblp", &row["id_dblp"]), find(&table, "acm", &row["id_acm"]));
            truth.insert(other, one);
            labels.push((one, other, true));
        }
        let resolution = run("DBLP-ACM", &table, &profile, &labels);
        tell("all pairs", &resolution, &truth);
    }

    fn hathi_marc(&self, profile: &Profile) {
        let mut builder = Builder::default();
        for row in self.rows("hathi-marc/records.csv") {
            let id = builder.record("hathi", &row["id"]);
            for feature in ["title", "edition", "place", "publisher", "extent"] {
                builder.add(id, feature, &row[feature]);
            }
            builder.add(id, "responsibility", &row["resp"]);
            for names in ["author", "added_authors"] {
                row[names].split(" | ").for_each(|name| builder.add(id, "creator", name));
            }
            let year = if row["date_260"].is_empty() { "year_008" } else { "date_260" };
            builder.add(id, "year", &row[year]);
            builder.add(id, "language", &row["lang_008"]);
            builder.add(id, "type", row["leader_type"].get(..1).unwrap_or(""));
            let level = match row["leader_type"].get(1..2) {
                Some("a" | "b") => "part",
                Some("c") => "collection",
                Some("d" | "m") => "monograph",
                Some("s") => "serial",
                _ => "",
            };
            builder.add(id, "level", level);
        }
        let table = builder.finish();
        let id = |key: &str| find(&table, "hathi", key);
        let labels: Vec<Label> = self
            .rows("hathi-marc/labels.csv")
            .iter()
            .map(|row| (id(&row["id1"]), id(&row["id2"]), row["label"] == "1"))
            .collect();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut truth = FxHashMap::default();
        for row in self.rows("hathi-marc/clusters.csv") {
            let next = numbers.len() as u32;
            truth.insert(id(&row["id"]), *numbers.entry(row["cluster"].clone()).or_insert(next));
        }
        let resolution = run("HathiTrust MARC", &table, profile, &labels);
        tell("all records", &resolution, &truth);
    }

    fn uw_uiuc(&self, profile: &Profile) {
        let mut builder = Builder::default();
        for source in ["uw", "uiuc"] {
            for row in self.rows(&format!("uw-uiuc-books/{source}.csv")) {
                let id = builder.record(source, &row["id"]);
                builder.add(id, "title", &row["title"]);
                builder.add(id, "isbn", &row["isbn"]);
                builder.add(id, "extent", &row["physical"]);
                if source == "uiuc" {
                    builder.add(id, "creator", &row["author"]);
                    builder.add(id, "place", &row["publication"]);
                    continue;
                }
                builder.add(id, "responsibility", &row["author"]);
                builder.add(id, "year", &row["publication"]);
                if let Some((place, rest)) = row["publication"].split_once(" : ") {
                    builder.add(id, "place", place);
                    builder.add(id, "publisher", rest.split(',').next().unwrap_or(""));
                }
            }
        }
        let table = builder.finish();
        let label = |row: &Row| {
            let pair = (find(&table, "uw", &row["id_uw"]), find(&table, "uiuc", &row["id_uiuc"]));
            (pair.0, pair.1, row["label"] == "1")
        };
        let labels: Vec<Label> = self.rows("uw-uiuc-books/labels.csv").iter().map(label).collect();
        run("UW-UIUC books", &table, profile, &labels);
    }

    fn febrl(&self, files: &[String], mut profile: Profile) {
        let mut builder = Builder::default();
        for file in files {
            for row in self.rows(&format!("febrl/{file}.csv")) {
                let id = builder.record(file, &row["rec_id"]);
                builder.add(id, "name", &format!("{}, {}", row["surname"], row["given_name"]));
                builder.add(id, "birth", &row["date_of_birth"]);
                builder.add(id, "identifier", &row["soc_sec_id"]);
                builder.add(id, "address", &format!("{} {}", row["street_number"], row["address_1"]));
                builder.add(id, "place", &row["suburb"]);
                builder.add(id, "postcode", &row["postcode"]);
            }
        }
        let table = builder.finish();
        if files.len() > 1 {
            profile.unique_sources = files.iter().map(|file| file.as_str().into()).collect();
        }
        let number = |id: Id| table.key(id).split('-').nth(1).and_then(|number| number.parse().ok()).unwrap();
        let truth: FxHashMap<Id, u32> = (0..table.len() as u32).map(|id| (id, number(id))).collect();
        let resolution = run(&files.join(" "), &table, &profile, &[]);
        tell("all pairs", &resolution, &truth);
    }
}

fn find(table: &FeatureTable, source: &str, key: &str) -> Id {
    table.find(source, key).unwrap()
}

/// Resolves a set, and scores labelled pairs where there are any.
fn run(name: &str, table: &FeatureTable, profile: &Profile, labels: &[Label]) -> Resolution {
    let before = cpu();
    let resolution = resolve(table, profile, Given::default()).unwrap();
    println!(
        "{name}: {} records, {} pairs compared, {:.2} CPU s",
        table.len(),
        resolution.compared,
        cpu() - before
    );
    if labels.is_empty() {
        return resolution;
    }
    let of = &resolution.clusters.of;
    if labels.iter().any(|label| !label.2) {
        let found = evaluate::labelled(labels, |left, right| of[left as usize] == of[right as usize]);
        println!("  labelled pairs {found:.4?}");
        let weights: FxHashMap<u64, f64> =
            resolution.edges.iter().map(|edge| (pack(edge.left, edge.right), edge.weight)).collect();
        let weight =
            |label: &Label| weights.get(&pack(label.0, label.1)).copied().unwrap_or(f64::NEG_INFINITY);
        let mut scored: Vec<(f64, bool)> = labels.iter().map(|label| (weight(label), label.2)).collect();
        let curve = evaluate::by_threshold(&mut scored, labels.iter().filter(|label| label.2).count());
        let sure = curve.iter().filter(|(_, quality)| quality.precision >= 0.997);
        let recall = sure.map(|(_, quality)| quality.recall).fold(0.0, f64::max);
        println!("  recall at precision .997 {recall:.4}");
    }
    let comparer = Comparer::new(table, profile, Some(&resolution.model));
    let blocker = Blocker::new(&comparer, BUDGET);
    let proposed: FxHashSet<u64> =
        blocker.pairs(blocker.sorted_keys(&[]).unwrap()).unwrap().0.list().unwrap().into_iter().collect();
    let true_pairs: Vec<(Id, Id)> =
        labels.iter().filter(|label| label.2).map(|label| (label.0, label.1)).collect();
    println!("  recall of blocking {:.4}", evaluate::blocking_recall(&proposed, &true_pairs));
    resolution
}

fn tell(what: &str, resolution: &Resolution, truth: &FxHashMap<Id, u32>) {
    let found = evaluate::clusters(&resolution.clusters.of, truth);
    println!("  {what}: pairs {:.4?}", found.pairs);
    println!("  {what}: clusters F1 {:.4}, B cubed F1 {:.4}", found.clusters.f1, found.b_cubed.f1);
}
