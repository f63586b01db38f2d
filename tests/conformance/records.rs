//! Real records: none is refused that another reader can read, and both read the same.

use crate::Score;
use crate::process::pinakes;
use pinakes::decode::{self, Input, Options, Piece};
use pinakes::record::Record;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use unicode_normalization::UnicodeNormalization;

pub(crate) fn run(folder: &Path, score: &mut Score) {
    let mut sets: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for file in files(folder) {
        let set = file.strip_prefix(folder).unwrap().components().next().unwrap();
        sets.entry(set.as_os_str().to_string_lossy().into_owned()).or_default().push(file);
    }
    let peers = Peers::ask(&sets);
    let mut agreement = Agreement::default();
    println!("{:<22} {:>6} {:>8} {:>8} {:>9}", "set", "files", "records", "refused", "seconds");
    for (set, files) in &sets {
        import(set, files, &peers, score);
        for file in files {
            agreement.compare(file, &peers);
        }
    }
    agreement.report(score);
}

/// All files that hold records.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap().flatten() {
            let path = entry.path();
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            if path.is_dir() {
                folders.push(path);
            } else if !matches!(ending, "md" | "csv") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Imports a set with one command and compares what was taken with what others can read.
fn import(set: &str, files: &[PathBuf], peers: &Peers, score: &mut Score) {
    let directory = tempfile::tempdir().unwrap();
    let catalogue = directory.path().join("catalogue");
    let limit = Duration::from_secs(300);
    pinakes(&catalogue, &["init", "--base", "https://catalogue.example/", "--quiet"], limit);
    let mut arguments = vec!["import", "--source", set, "--json", "--quiet", "--messages", "short"];
    arguments.extend(files.iter().map(|file| file.to_str().unwrap()));
    let run = pinakes(&catalogue, &arguments, limit);
    let summary: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    let rejects = pinakes(&catalogue, &["rejects", "--json", "--quiet"], limit);
    let refused = rejects.stdout.lines().count();
    println!(
        "{set:<22} {:>6} {:>8} {refused:>8} {:>9.1}",
        files.len(),
        summary["records"],
        run.elapsed.as_secs_f64()
    );
    score.check(matches!(run.code, Some(0 | 1)), || {
        format!("import of {set} ended with {:?}: {}", run.code, run.stderr)
    });
    if set != "malformed" {
        for line in rejects.stdout.lines() {
            let reject: Value = serde_json::from_str(line).unwrap_or_default();
            let origin = reject["origin"].as_str().unwrap_or_default();
            let file = files.iter().find(|file| file.as_os_str() == origin);
            let readable = file.and_then(|file| peers.records(file)).unwrap_or(0);
            let taken = file.map_or(0, |file| read(file).len());
            score.check(taken >= readable, || {
                format!("{set}/{origin}: others read {readable} records, we {taken}: {}", reject["message"])
            });
        }
    }
    let verify = pinakes(&catalogue, &["verify"], limit);
    score.check(verify.code == Some(0), || format!("verify after {set}: {}{}", verify.stdout, verify.stderr));
}

/// A file's records as the library reads them, with whether their character set was guessed.
fn read(file: &Path) -> Vec<(Record, bool)> {
    let Ok(input) = Input::open(file, None) else { return Vec::new() };
    let options = Options::default();
    let format = decode::stored_format(input.format);
    let mut records = Vec::new();
    for piece in decode::split(input.reader, input.format, &input.name) {
        if let Ok(Piece::Record(payload, _)) = piece {
            let mut said = Vec::new();
            if let Some(record) = decode::decode(&payload.bytes, format, &options, &mut said) {
                records.push((record, !said.is_empty()));
            }
        }
    }
    records
}

/// What `peers.py` says about the files.
struct Peers {
    rows: BTreeMap<String, Value>,
}

impl Peers {
    fn ask(sets: &BTreeMap<String, Vec<PathBuf>>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (list, out) = (directory.path().join("list"), directory.path().join("out"));
        let marc =
            sets.iter().filter(|(set, _)| !matches!(set.as_str(), "bibframe" | "marc2bibframe2-output"));
        let names: Vec<String> =
            marc.flat_map(|(_, files)| files).map(|file| file.display().to_string()).collect();
        std::fs::write(&list, names.join("\n")).unwrap();
        let cache = std::env::var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache"));
        let python = cache.join("pinakes/venv/bin/python");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/peers.py");
        let status = Command::new(&python)
            .args(["-W", "ignore", script])
            .args([&list, &out])
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap_or_else(|error| panic!("{}: {error}; run scripts/setup test", python.display()));
        assert!(status.success(), "peers.py failed");
        let rows = std::fs::read_to_string(&out)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .map(|row| (row["file"].as_str().unwrap().to_owned(), row))
            .collect();
        Self { rows }
    }

    fn records(&self, file: &Path) -> Option<usize> {
        let row = self.rows.get(file.to_str()?)?;
        Some(row["records"].as_u64()? as usize)
    }

    /// What pymarc read, record by record.
    fn content(&self, file: &Path) -> Option<&Vec<Value>> {
        self.rows.get(file.to_str()?)?["content"].as_array()
    }
}

/// How often two readers say the same.
#[derive(Default)]
struct Agreement {
    records: usize,
    equal: usize,
    /// We reported a repair or a guess, so a difference is expected.
    reported: usize,
    differing: Vec<String>,
}

impl Agreement {
    fn compare(&mut self, file: &Path, peers: &Peers) {
        let Some(theirs) = peers.content(file) else { return };
        let ours = read(file);
        // Where the readers do not see the same number of records they cannot be paired.
        if ours.len() != theirs.len() {
            return;
        }
        for (number, ((record, said), theirs)) in ours.iter().zip(theirs).enumerate() {
            if theirs.is_null() {
                continue;
            }
            self.records += 1;
            let ours = shape(record);
            if &ours == theirs {
                self.equal += 1;
            } else if *said {
                self.reported += 1;
            } else {
                let name = file.file_name().unwrap().to_string_lossy();
                self.differing.push(format!(
                    "{name} record {}: {}",
                    number + 1,
                    first_difference(&ours, theirs)
                ));
            }
        }
    }

    fn report(&self, score: &mut Score) {
        println!(
            "\nfield by field with pymarc: {} records, {} equal, {} differ and we reported why, {} differ",
            self.records,
            self.equal,
            self.reported,
            self.differing.len()
        );
        for line in self.differing.iter().take(20) {
            println!("  {line}");
        }
        // pymarc itself misreads some MARC-8 (see ARCHITECTURE.md); more than that is ours.
        let allowed = self.records / 100;
        score.check(self.differing.len() <= allowed, || {
            format!("{} of {} records differ from pymarc without a word", self.differing.len(), self.records)
        });
    }
}

/// A record in the shape `peers.py` writes.
fn shape(record: &Record) -> Value {
    // Some records hold the halves themselves; `peers.py` writes those as one mark too.
    let nfc = |text: &str| {
        let whole = text.replace('\u{FE20}', "\u{361}").replace('\u{FE22}', "\u{360}");
        Value::String(whole.replace(['\u{FE21}', '\u{FE23}'], "").nfc().collect())
    };
    record
        .fields()
        .map(|field| {
            let subfields: Vec<Value> = if field.is_control() {
                vec![Value::Array(vec![nfc(""), nfc(field.text())])]
            } else {
                field
                    .subfields()
                    .map(|subfield| Value::Array(vec![nfc(subfield.code), nfc(subfield.value)]))
                    .collect()
            };
            let indicators = format!("{}{}", field.ind1(), field.ind2());
            Value::Array(vec![nfc(field.tag()), Value::String(indicators), Value::Array(subfields)])
        })
        .collect()
}

fn first_difference(ours: &Value, theirs: &Value) -> String {
    let (Some(ours), Some(theirs)) = (ours.as_array(), theirs.as_array()) else { return String::new() };
    if ours.len() != theirs.len() {
        return format!("{} fields, pymarc {}", ours.len(), theirs.len());
    }
    let differing = ours.iter().zip(theirs).find(|(left, right)| left != right);
    differing.map(|(left, right)| format!("{left} / {right}")).unwrap_or_default()
}
