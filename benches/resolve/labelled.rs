//! Labelled sets as feature tables, to learn weights from and to score with.
//!
//! A folder holds `NAME.PROFILE.tsv`, as `pinakes resolve features` prints it, and beside it what is known:
//! `NAME.PROFILE.pairs.tsv` (`left_source left_id right_source right_id same`) or `NAME.PROFILE.clusters.tsv`
//! (`source id cluster`), or both; `NAME.PROFILE.unique.tsv` (`source`) names sources without duplicates of their
//! own. `benches/resolve/command.py --features` writes such a folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use pinakes_resolve::block::{Blocker, pack, unpack};
use pinakes_resolve::compare::{Comparer, Vector};
use pinakes_resolve::evaluate::{self, Quality};
use pinakes_resolve::feature::{Builder, FeatureTable, Id};
use pinakes_resolve::profile::Profile;
use pinakes_resolve::score::fit::{LabelledSet, fit};
use pinakes_resolve::score::{Model, probability};
use pinakes_resolve::{BUDGET, Given, Resolution, resolve};
use rustc_hash::{FxHashMap, FxHashSet};

/// One labelled set.
pub struct Set {
    pub name: String,
    pub table: FeatureTable,
    /// Keys that queries gave.
    pub keys: Vec<(String, Id)>,
    /// Pairs that somebody looked at.
    pub pairs: Vec<(Id, Id, bool)>,
    /// The group of each record, where all groups are known.
    pub clusters: FxHashMap<Id, u32>,
    /// Sources that have no duplicates of their own.
    pub unique: Vec<String>,
}

/// The sets of a folder for one profile.
pub fn sets(folder: &Path, profile: &str) -> Vec<Set> {
    let ending = format!(".{profile}.tsv");
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| Some(entry.unwrap().file_name().to_str()?.strip_suffix(&ending)?.to_owned()))
        .collect();
    names.sort();
    names.iter().map(|name| Set::read(folder, name, profile)).collect()
}

impl Set {
    fn read(folder: &Path, name: &str, profile: &str) -> Self {
        let rows = |kind: &str| -> Vec<Vec<String>> {
            let path = folder.join(format!("{name}.{profile}{kind}.tsv"));
            let text = fs::read_to_string(path).unwrap_or_default();
            let cells = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
            text.lines().skip(1).map(cells).collect()
        };
        let mut builder = Builder::default();
        let mut keys = Vec::new();
        let is_agent = profile == "agent";
        let key_of = |row: &[String]| if is_agent { format!("{}{}", row[1], row[2]) } else { row[1].clone() };
        let features = rows("");
        for row in &features {
            let record = builder.record(&row[0], &key_of(row));
            match row[3].as_str() {
                "key" => keys.push((row[0].clone(), key_of(row), row[4].clone())),
                feature => builder.add(record, feature, &row[4]),
            }
        }
        let table = builder.finish();
        let keys =
            keys.into_iter().filter_map(|(source, id, key)| Some((key, table.find(&source, &id)?))).collect();
        let pairs = rows(".pairs")
            .iter()
            .filter_map(|row| {
                let pair = (table.find(&row[0], &row[1])?, table.find(&row[2], &row[3])?);
                Some((pair.0.min(pair.1), pair.0.max(pair.1), row[4] == "1"))
            })
            .filter(|(left, right, _)| left != right)
            .collect();
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        let mut clusters = FxHashMap::default();
        for row in rows(".clusters") {
            let next = numbers.len() as u32;
            let number = *numbers.entry(row[2].clone()).or_insert(next);
            if let Some(id) = table.find(&row[0], &row[1]) {
                clusters.insert(id, number);
            }
        }
        let unique = rows(".unique").into_iter().map(|row| row[0].clone()).collect();
        Self { name: name.to_owned(), table, keys, pairs, clusters, unique }
    }

    /// The vectors of labelled pairs: those somebody looked at, and where all groups are known those that
    /// blocking proposes.
    pub fn vectors(&self, profile: &Profile) -> Vec<(Id, Id, Vector, bool)> {
        let comparer = Comparer::new(&self.table, profile, None);
        let mut labelled: BTreeMap<(Id, Id), bool> = BTreeMap::new();
        if !self.clusters.is_empty() {
            let blocker = Blocker::new(&comparer, BUDGET);
            let rows: Vec<_> = self.keys.iter().map(|(key, id)| (blocker.row_key(key), *id)).collect();
            let (pairs, _) = blocker.pairs(blocker.sorted_keys(&rows).unwrap()).unwrap();
            for pair in pairs.list().unwrap() {
                let (left, right) = unpack(pair);
                // Two agents of one record have its title in common, which says nothing of them.
                let record = |id: Id| self.table.key(id).split('#').next();
                if profile.name.as_ref() == "agent" && record(left) == record(right) {
                    continue;
                }
                if self.table.source(left) == self.table.source(right)
                    && self.unique.iter().any(|source| source == self.table.source_name(left))
                {
                    continue;
                }
                if let (Some(a), Some(b)) = (self.clusters.get(&left), self.clusters.get(&right)) {
                    labelled.insert((left, right), a == b);
                }
            }
        }
        labelled.extend(self.pairs.iter().map(|(left, right, same)| ((*left, *right), *same)));
        labelled
            .into_iter()
            .map(|((left, right), same)| (left, right, comparer.vector(left, right), same))
            .collect()
    }
}

/// Prints how often labelled pairs are on each level, and how often a veto forbids them.
pub fn levels(folder: &Path, profile: &Profile, shown: &[&str]) {
    for set in sets(folder, &profile.name) {
        let vectors = set.vectors(profile);
        let count = |same: bool| vectors.iter().filter(|one| one.3 == same).count();
        println!("{}: {} records, {} same, {} not", set.name, set.table.len(), count(true), count(false));
        for compare in &profile.compare {
            let mut counts: BTreeMap<u8, [usize; 2]> = BTreeMap::new();
            for (.., vector, same) in &vectors {
                counts.entry(compare.slot.level(*vector)).or_default()[usize::from(*same)] += 1;
            }
            if counts.len() < 2 && counts.contains_key(&0) {
                continue;
            }
            let cells: Vec<String> = counts
                .iter()
                .map(|(level, [no, yes])| format!("{} {yes}/{no}", compare.level_name(*level)))
                .collect();
            println!("  {:<12} {}", compare.name, cells.join(", "));
        }
        for (left, right, vector, same) in &vectors {
            for compare in &profile.compare {
                let level = compare.level_name(compare.slot.level(*vector));
                if *same && shown.contains(&&*format!("{}={level}", compare.name)) {
                    println!(
                        "    {} {}: {} {level}",
                        set.table.key(*left),
                        set.table.key(*right),
                        compare.name
                    );
                    for record in [left, right] {
                        println!("      {}", set.table.values(*record, &compare.feature).join(" | "));
                    }
                }
            }
        }
        let mut vetoes: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
        for (left, right, vector, same) in &vectors {
            if let Some(veto) = profile.veto(*vector) {
                vetoes.entry(&veto.name).or_default()[usize::from(*same)] += 1;
                if *same && shown.contains(&&*veto.name) {
                    println!("    {} {}: {}", set.table.key(*left), set.table.key(*right), veto.name);
                }
            }
        }
        for (veto, [no, yes]) in vetoes {
            println!("  forbidden    {yes}/{no} by {veto}");
        }
    }
}

/// What a set counts beside others. Labels of UW-UIUC are of works: a printed book and its electronic copy are
/// one there, so it says little of publications. Febrl is four of one kind.
fn weight_of(set: &str, profile: &str) -> f64 {
    match (set, profile) {
        ("uw", "instance") => 0.2,
        (set, "agent") if set.starts_with("febrl") => 0.25,
        _ => 1.0,
    }
}

/// Comparisons that sets cannot teach: in a register of persons names have other slips than in a catalogue, and
/// persons who are known by their headings are never called otherwise; works that are one are mostly one
/// publication in these sets, with all of its title.
const KEPT: &[(&str, &str)] =
    &[("agent", "name"), ("agent", "heading"), ("work", "title"), ("work", "creator")];

/// What stands at the head of learned weights.
pub fn about(folder: &Path, profile: &str) -> Vec<String> {
    let names: Vec<String> = sets(folder, profile).into_iter().map(|set| set.name).collect();
    vec![
        format!(
            "What agreement and disagreement are worth to the profile `{profile}` before a catalogue is counted."
        ),
        format!("Learned by `scripts/train-weights` from the labelled sets {}.", names.join(", ")),
        "The numbers of a level say how often two records are on it: records of one thing, then each of the"
            .into(),
        "rivals in the order of the profile.".into(),
    ]
}

/// Learns weights from the sets of a folder, but for one.
pub fn train(folder: &Path, mut profile: Profile, except: Option<&str>) -> Profile {
    let labelled: Vec<LabelledSet> = sets(folder, &profile.name)
        .iter()
        .filter(|set| Some(set.name.as_str()) != except)
        .map(|set| LabelledSet {
            pairs: set.vectors(&profile).into_iter().map(|(_, _, vector, same)| (vector, same)).collect(),
            weight: weight_of(&set.name, &profile.name),
        })
        .collect();
    let expected = profile.compare.clone();
    fit(&mut profile, &labelled);
    for (compare, expected) in profile.compare.iter_mut().zip(expected) {
        if KEPT.contains(&(&*profile.name, &*compare.name)) {
            *compare = expected;
        }
    }
    profile
}

/// Scores the sets of a folder with what `weights` gives for each.
pub fn score(folder: &Path, name: &str, weights: &dyn Fn(&str) -> Profile) {
    for set in sets(folder, name) {
        let mut profile = weights(&set.name);
        profile.unique_sources = set.unique.iter().map(|source| source.as_str().into()).collect();
        let keys: Vec<(&str, Id)> = set.keys.iter().map(|(key, id)| (key.as_str(), *id)).collect();
        let fixed = resolve(
            &set.table,
            &profile,
            Given { keys: &keys, model: Some(Model::expected(&profile)), ..Given::default() },
        )
        .unwrap();
        tell(&set, &profile, &fixed, "as shipped");
        let moved = resolve(&set.table, &profile, Given { keys: &keys, ..Given::default() }).unwrap();
        tell(&set, &profile, &moved, "adapted");
    }
}

fn tell(set: &Set, profile: &Profile, found: &Resolution, how: &str) {
    let of = &found.clusters.of;
    let same = |left: Id, right: Id| of[left as usize] == of[right as usize];
    let merged = (0..of.len()).filter(|id| of[*id] != *id as u32).count();
    println!(
        "{} ({how}): {} records, {} pairs compared, {merged} merged into others, share {:.3}",
        set.name,
        set.table.len(),
        found.compared,
        found.model.shares[0]
    );
    let show = |what: &str, quality: Quality| {
        println!("  {what:<10} P {:.4} R {:.4} F1 {:.4}", quality.precision, quality.recall, quality.f1);
    };
    if !set.pairs.is_empty() {
        show("labelled", evaluate::labelled(&set.pairs, same));
    }
    if !set.clusters.is_empty() {
        let measured = evaluate::clusters(of, &set.clusters);
        show("pairs", measured.pairs);
        show("clusters", measured.clusters);
    }
    if let Some(column) = set.table.column("birth") {
        let mut born: BTreeMap<Id, BTreeMap<String, usize>> = BTreeMap::new();
        for (id, root) in of.iter().enumerate() {
            for text in column.texts(id as u32) {
                *born.entry(*root).or_default().entry(text.to_owned()).or_default() += 1;
            }
        }
        let twice: Vec<_> = born.values().filter(|years| years.len() > 1).collect();
        println!(
            "  {} groups with two years of birth {:?}",
            twice.len(),
            twice.iter().take(6).collect::<Vec<_>>()
        );
    }
    // What a pair is worth, and what it is; proposed or not.
    let is_one: FxHashMap<u64, bool> = match set.pairs.is_empty() {
        false => set.pairs.iter().map(|(left, right, same)| (pack(*left, *right), *same)).collect(),
        true => found
            .edges
            .iter()
            .filter_map(|edge| {
                let clusters = (set.clusters.get(&edge.left)?, set.clusters.get(&edge.right)?);
                Some((pack(edge.left, edge.right), clusters.0 == clusters.1))
            })
            .collect(),
    };
    let true_pairs = match set.pairs.is_empty() {
        false => set.pairs.iter().filter(|pair| pair.2).count(),
        true => {
            let mut sizes: FxHashMap<u32, usize> = FxHashMap::default();
            set.clusters.values().for_each(|cluster| *sizes.entry(*cluster).or_default() += 1);
            sizes.values().map(|size| size * (size - 1) / 2).sum()
        }
    };
    let mut scored: Vec<(f64, bool)> = found
        .edges
        .iter()
        .filter_map(|edge| Some((edge.weight, *is_one.get(&pack(edge.left, edge.right))?)))
        .collect();
    if std::env::var_os("ERRORS").is_some() {
        let mut wrong: Vec<_> = found
            .edges
            .iter()
            .filter(|edge| is_one.get(&pack(edge.left, edge.right)) == Some(&false))
            .take(40)
            .collect();
        wrong.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        for edge in wrong {
            println!(
                "    wrong {:.1} {} {}",
                edge.weight,
                set.table.key(edge.left),
                set.table.key(edge.right)
            );
            show_pair(set, profile, edge.left, edge.right, edge.vector);
        }
        let known: FxHashMap<u64, f64> =
            found.edges.iter().map(|edge| (pack(edge.left, edge.right), edge.weight)).collect();
        let comparer = Comparer::new(&set.table, profile, Some(&found.model));
        let missed: Vec<u64> = wanted(set)
            .iter()
            .filter(|(left, right)| of[*left as usize] != of[*right as usize])
            .map(|(left, right)| pack(*left, *right))
            .collect();
        let mut why: BTreeMap<String, usize> = BTreeMap::new();
        let refused: FxHashMap<u64, String> = found
            .clusters
            .refused
            .iter()
            .map(|refusal| {
                let reason = match &refusal.reason {
                    pinakes_resolve::cluster::Reason::Veto(name, ..) => {
                        format!("a veto in the group: {name}")
                    }
                    reason => format!("{reason:?}"),
                };
                (pack(refusal.left, refusal.right), reason)
            })
            .collect();
        for pair in &missed {
            let (left, right) = unpack(*pair);
            let vector = comparer.vector(left, right);
            let reason = match (profile.veto(vector), refused.get(pair)) {
                (Some(veto), _) => format!("veto {}", veto.name),
                (None, Some(reason)) => reason.clone(),
                (None, None) if known.contains_key(pair) => "weighs too little".to_owned(),
                (None, None) => "weighs far too little, or not proposed".to_owned(),
            };
            *why.entry(reason).or_default() += 1;
        }
        why.iter().for_each(|(reason, count)| println!("    missed {count} because: {reason}"));
        for pair in missed.iter().take(60) {
            let (left, right) = unpack(*pair);
            let vector = comparer.vector(left, right);
            let veto = profile.veto(vector).map_or("-", |veto| &veto.name);
            let weight = found.model.weight(vector);
            let is_edge = known.contains_key(pair);
            println!(
                "    missed {weight:.1} {} {} veto {veto} edge {is_edge}",
                set.table.key(left),
                set.table.key(right)
            );
            show_pair(set, profile, left, right, vector);
        }
    }
    let bins = [0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999, 1.1];
    let cells: Vec<String> = bins
        .windows(2)
        .map(|bin| {
            let inside: Vec<bool> = scored
                .iter()
                .filter(|(weight, _)| (bin[0]..bin[1]).contains(&probability(*weight)))
                .map(|(_, same)| *same)
                .collect();
            let yes = inside.iter().filter(|same| **same).count();
            format!("{}: {yes}/{}", bin[0], inside.len())
        })
        .collect();
    println!("  from      {}", cells.join("  "));
    let curve = evaluate::by_threshold(&mut scored, true_pairs);
    let at = |threshold: f64| {
        let point = curve.iter().rev().find(|(weight, _)| probability(*weight) >= threshold);
        point.map_or("-".to_owned(), |(_, q)| format!("{:.3}/{:.3}", q.precision, q.recall))
    };
    let thresholds = [0.1, 0.5, 0.9, 0.99, 0.999];
    let cells: Vec<String> = thresholds.iter().map(|one| format!("{one}: {}", at(*one))).collect();
    println!("  P/R from  {}", cells.join("  "));
    let sure = curve.iter().filter(|(_, quality)| quality.precision >= 0.997);
    println!("  recall at precision .997 {:.4}", sure.map(|(_, quality)| quality.recall).fold(0.0, f64::max));
    let comparer = Comparer::new(&set.table, profile, Some(&found.model));
    let blocker = Blocker::new(&comparer, BUDGET);
    let rows: Vec<_> = set.keys.iter().map(|(key, id)| (blocker.row_key(key), *id)).collect();
    let proposed: FxHashSet<u64> =
        blocker.pairs(blocker.sorted_keys(&rows).unwrap()).unwrap().0.list().unwrap().into_iter().collect();
    let wanted = wanted(set);
    println!("  recall of blocking {:.4}", evaluate::blocking_recall(&proposed, &wanted));
    if std::env::var_os("ERRORS").is_some() {
        for (left, right) in wanted.iter().filter(|pair| !proposed.contains(&pack(pair.0, pair.1))).take(60) {
            let rules = blocker.shared_rules(*left, *right);
            println!(
                "    not proposed: {} / {}  {rules:?}",
                set.table.values(*left, "title").join("+"),
                set.table.values(*right, "title").join("+")
            );
            println!(
                "        {} / {}",
                set.table.values(*left, "creator").join("+"),
                set.table.values(*right, "creator").join("+")
            );
        }
    }
}

/// Prints what is merged in the sets of a folder when nothing in them is a duplicate: of each group that is known
/// only the first record stays.
pub fn unique(folder: &Path, profile: &Profile) {
    for set in sets(folder, &profile.name) {
        let mut kept: FxHashSet<Id> = FxHashSet::default();
        let mut first: FxHashMap<u32, Id> = FxHashMap::default();
        let mut root: Vec<Id> = (0..set.table.len() as Id).collect();
        let find = |root: &[Id], mut id: Id| {
            while root[id as usize] != id {
                id = root[id as usize];
            }
            id
        };
        for (left, right, _) in set.pairs.iter().filter(|pair| pair.2) {
            let (a, b) = (find(&root, *left), find(&root, *right));
            root[a.max(b) as usize] = a.min(b);
        }
        for id in 0..set.table.len() as Id {
            if let Some(cluster) = set.clusters.get(&id) {
                let other = *first.entry(*cluster).or_insert(id);
                let (a, b) = (find(&root, id), find(&root, other));
                root[a.max(b) as usize] = a.min(b);
            }
        }
        let mut builder = Builder::default();
        for id in (0..set.table.len() as Id).filter(|id| root[*id as usize] == *id) {
            kept.insert(id);
            let record = builder.record(set.table.source_name(id), set.table.key(id));
            for feature in set.table.features() {
                set.table.values(id, feature).iter().for_each(|value| builder.add(record, feature, value));
            }
        }
        let table = builder.finish();
        let keys: Vec<(&str, Id)> = set
            .keys
            .iter()
            .filter(|(_, id)| kept.contains(id))
            .filter_map(|(key, id)| {
                Some((key.as_str(), table.find(set.table.source_name(*id), set.table.key(*id))?))
            })
            .collect();
        let found = resolve(&table, profile, Given { keys: &keys, ..Given::default() }).unwrap();
        let of = &found.clusters.of;
        let merged: Vec<Id> = (0..table.len() as Id).filter(|id| of[*id as usize] != *id).collect();
        let share = 100.0 * merged.len() as f64 / table.len() as f64;
        println!(
            "{}: {} of {} records are merged into others, {share:.3} %",
            set.name,
            merged.len(),
            table.len()
        );
        let set = Set { table, keys: Vec::new(), pairs: Vec::new(), clusters: FxHashMap::default(), ..set };
        let comparer = Comparer::new(&set.table, profile, Some(&found.model));
        for id in merged.iter().take(40) {
            let other = of[*id as usize];
            let vector = comparer.vector(other, *id);
            println!("    {:.1} {} {}", found.model.weight(vector), set.table.key(other), set.table.key(*id));
            show_pair(&set, profile, other, *id, vector);
        }
    }
}

/// Prints how many true pairs blocking proposes, and of how many pairs in all.
pub fn blocking(folder: &Path, mut profile: Profile) {
    for set in sets(folder, &profile.name) {
        profile.unique_sources = set.unique.iter().map(|source| source.as_str().into()).collect();
        let comparer = Comparer::new(&set.table, &profile, None);
        let blocker = Blocker::new(&comparer, BUDGET);
        let rows: Vec<_> = set.keys.iter().map(|(key, id)| (blocker.row_key(key), *id)).collect();
        let (pairs, blocking) = blocker.pairs(blocker.sorted_keys(&rows).unwrap()).unwrap();
        let proposed: FxHashSet<u64> = pairs.list().unwrap().into_iter().collect();
        let found = evaluate::blocking_recall(&proposed, &wanted(&set));
        println!("{} {found:.4} of {} pairs, {} keys;", set.name, proposed.len(), blocking.keys);
    }
}

/// The true pairs of a set: those somebody looked at, or all.
fn wanted(set: &Set) -> Vec<(Id, Id)> {
    let mut wanted: Vec<(Id, Id)> =
        set.pairs.iter().filter(|pair| pair.2).map(|pair| (pair.0, pair.1)).collect();
    if wanted.is_empty() {
        let mut groups: BTreeMap<u32, Vec<Id>> = BTreeMap::new();
        set.clusters.iter().for_each(|(id, cluster)| groups.entry(*cluster).or_default().push(*id));
        for members in groups.values() {
            for (at, left) in members.iter().enumerate() {
                wanted.extend(members.iter().skip(at + 1).map(|right| (*left.min(right), *left.max(right))));
            }
        }
    }
    wanted
}

fn show_pair(set: &Set, profile: &Profile, left: Id, right: Id, vector: Vector) {
    let levels: Vec<String> = profile
        .compare
        .iter()
        .filter(|compare| compare.slot.level(vector) != 0)
        .map(|compare| format!("{} {}", compare.name, compare.level_name(compare.slot.level(vector))))
        .collect();
    println!("      {}", levels.join(", "));
    for record in [left, right] {
        let said: Vec<String> = [
            "title",
            "responsibility",
            "creator",
            "year",
            "edition",
            "extent",
            "publisher",
            "series",
            "venue",
            "isbn",
        ]
        .iter()
        .filter_map(|feature| {
            let values = set.table.values(record, feature);
            (!values.is_empty()).then(|| values.join(" + "))
        })
        .collect();
        println!("        {}", said.join(" | "));
    }
}

/// Prints the levels of all labelled pairs: set, both records, label, veto, and a column for each comparison.
pub fn dump(folder: &Path, profile: &Profile) {
    let names: Vec<&str> = profile.compare.iter().map(|compare| &*compare.name).collect();
    println!("set\tleft\tright\tsame\tveto\t{}", names.join("\t"));
    for set in sets(folder, &profile.name) {
        for (left, right, vector, same) in set.vectors(profile) {
            let veto = profile.veto(vector).map_or("-", |veto| &veto.name);
            let levels: Vec<&str> = profile
                .compare
                .iter()
                .map(|compare| compare.level_name(compare.slot.level(vector)))
                .collect();
            let (left, right) = (set.table.key(left), set.table.key(right));
            println!("{}\t{left}\t{right}\t{}\t{veto}\t{}", set.name, u8::from(same), levels.join("\t"));
        }
    }
}
