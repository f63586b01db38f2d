//! Hostile files: alive, quick, bounded, neighbours kept, silent to the outside, repeatable.

use crate::process::{Run, pinakes};
use crate::repository::Canary;
use crate::{CANARY, Score};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What one file may take.
const LIMIT: Duration = Duration::from_secs(10);
const MEMORY: u64 = 256;

/// What must come of a file, where its README says so: records taken at least, refusals at
/// least, and a diagnostic that must be among those given.
const EXPECTED: &[(&str, u64, u64, &str)] = &[
    ("marc/syn_good_control.mrc", 3, 0, ""),
    ("marc/syn_truncated_mid_record.mrc", 2, 1, "truncated-record"),
    ("marc/syn_empty.mrc", 0, 1, "empty-input"),
    ("marc/syn_html_instead_of_marc.mrc", 0, 1, "unknown-format"),
    ("marc/syn_leading_garbage.mrc", 2, 1, "not-a-record"),
    ("marc/syn_no_terminator_then_good.mrc", 1, 0, ""),
    ("marc/syn_length_99999.mrc", 2, 0, "bad-record-length"),
    ("marc/syn_length_negative.mrc", 2, 0, "bad-record-length"),
    ("marc/syn_length_nonnumeric.mrc", 2, 0, "bad-record-length"),
    ("marc/syn_length_zero.mrc", 2, 0, "bad-record-length"),
    ("marc/syn_base_beyond_end.mrc", 1, 0, "bad-directory"),
    ("marc/syn_base_zero.mrc", 1, 0, "bad-directory"),
    ("marc/syn_dir_field_len_beyond.mrc", 1, 0, "bad-directory"),
    ("marc/syn_dir_offset_beyond.mrc", 1, 0, "bad-directory"),
    ("marc/syn_marc8_unterminated_escape.mrc", 1, 0, "undecodable-bytes"),
    ("marc/pymarc__bad_marc8_escape.dat", 1, 0, "undecodable-bytes"),
    ("marc/pymarc__utf8_without_leader_flag.dat", 1, 0, "charset-mismatch"),
    ("marc/marc4j__bad_too_long_plus_2.mrc", 3, 0, ""),
    ("marc/marc4j__bad_oversize_field_bad_directory.mrc", 5, 0, ""),
    ("marc/ruby-marc__three-records-second-bad.xml", 3, 0, ""),
    ("xml/billion_laughs_8.xml", 0, 1, "xml-doctype"),
    ("xml/billion_laughs.rdf", 0, 1, "xml-doctype"),
    ("xml/quadratic_blowup.xml", 0, 1, "xml-doctype"),
    ("xml/entity_self_recursion.xml", 0, 1, "xml-doctype"),
    ("xml/xxe_file.xml", 0, 1, "xml-doctype"),
    ("xml/xxe_http_loopback.xml", 0, 1, "xml-doctype"),
    ("xml/xxe_external_dtd.xml", 0, 1, "xml-doctype"),
    ("xml/xxe_parameter_entity.xml", 0, 1, "xml-doctype"),
    ("xml/deep_nesting.xml", 0, 1, "xml-limit"),
    ("xml/deep_nesting.rdf", 0, 1, "xml-limit"),
    ("xml/attr_flood.xml", 0, 1, "xml-limit"),
    ("xml/ns_flood.xml", 0, 1, "xml-limit"),
    ("xml/long_name.xml", 0, 1, "xml-limit"),
    ("xml/control_chars.xml", 1, 0, "forbidden-character"),
    ("xml/utf16_bom.xml", 1, 0, ""),
    ("xml/iso8859_1_declared.xml", 1, 0, ""),
    ("compress/bad_crc.xml.gz", 0, 1, "bad-compression"),
    ("compress/truncated.xml.gz", 0, 1, "bad-compression"),
    ("compress/bomb_200MB.gz", 0, 1, "bad-compression"),
    ("compress/bomb_double_1GB.gz.gz", 0, 1, ""),
    ("compress/bomb_bz2.bz2", 0, 1, "unknown-format"),
    ("compress/zip_slip.zip", 0, 1, "unknown-format"),
    ("compress/oai_title_60MB.xml.gz", 0, 1, ""),
];

pub(crate) fn run(folder: &Path, score: &mut Score) {
    let canary = Canary::start(CANARY);
    println!(
        "{:<12} {:>6} {:>9} {:>9} {:>10} {:>9}",
        "set", "files", "refusals", "slowest", "most MB", "seconds"
    );
    for set in ["marc", "xml", "compress", "rdf"] {
        let files = files(&folder.join(set));
        let started = std::time::Instant::now();
        let (mut refusals, mut slowest, mut most) = (0, Duration::ZERO, 0);
        let directory = tempfile::tempdir().unwrap();
        // Two catalogues: the same bytes must give the same outcome in both.
        let homes = ["first", "second"].map(|name| directory.path().join(name));
        for home in &homes {
            pinakes(home, &["init", "--base", "https://catalogue.example/", "--quiet"], LIMIT);
        }
        for (index, file) in files.iter().enumerate() {
            let name = file.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            let source = format!("h{index}");
            let runs = homes.each_ref().map(|home| {
                let file = file.to_str().unwrap();
                pinakes(home, &["import", "--source", &source, "--json", "--messages", "json", file], LIMIT)
            });
            check(&name, &runs, score);
            refusals += number(&runs[0], "rejected");
            slowest = slowest.max(runs[0].elapsed);
            most = most.max(runs[0].peak);
        }
        for home in &homes {
            let alive = pinakes(home, &["query", "-e", "ASK {}", "--quiet"], LIMIT);
            score.check(alive.stdout.trim() == "yes", || {
                format!("{set}: no answer afterwards: {}", alive.stderr)
            });
        }
        let verify = pinakes(&homes[0], &["verify"], Duration::from_secs(60));
        score.check(verify.code == Some(0), || format!("{set}: verify: {}{}", verify.stdout, verify.stderr));
        let canonical = homes.each_ref().map(|home| pinakes(home, &["export", "--canonical"], LIMIT).stdout);
        score
            .check(canonical[0] == canonical[1], || format!("{set}: two runs ended in different catalogues"));
        score.check(!canonical[0].contains("root:x:0"), || format!("{set}: a file of the machine was read"));
        println!(
            "{set:<12} {:>6} {refusals:>9} {:>8.2}s {most:>10} {:>9.1}",
            files.len(),
            slowest.as_secs_f64(),
            started.elapsed().as_secs_f64()
        );
    }
    score.check(canary.connections() == 0, || format!("{} requests left the program", canary.connections()));
    println!("requests heard outside: {}", canary.connections());
}

fn check(name: &str, runs: &[Run; 2], score: &mut Score) {
    let run = &runs[0];
    score.check(matches!(run.code, Some(0 | 1)), || {
        format!("{name}: ended with {:?} after {:.1} s: {}", run.code, run.elapsed.as_secs_f64(), run.stderr)
    });
    score.check(run.elapsed < LIMIT, || format!("{name}: took {:.1} s", run.elapsed.as_secs_f64()));
    score.check(run.peak < MEMORY + 64, || format!("{name}: took {} MB", run.peak));
    score.check(run.code == runs[1].code && run.stdout == runs[1].stdout, || {
        format!("{name}: two outcomes: {} and {}", run.stdout, runs[1].stdout)
    });
    let rejected = number(run, "rejected");
    score.check((rejected > 0) == (run.code == Some(1)), || {
        format!("{name}: {rejected} refused, exit {:?}", run.code)
    });
    if name.contains("w3c_negative") {
        score.check(rejected > 0, || format!("{name}: a syntax error was not noticed"));
    }
    if let Some((_, records, refusals, code)) = EXPECTED.iter().find(|(file, ..)| *file == name) {
        let taken = number(run, "records");
        score.check(taken >= *records, || {
            format!("{name}: {taken} of {records} records taken: {}", run.stderr)
        });
        score.check(rejected >= *refusals, || format!("{name}: {rejected} of {refusals} refusals"));
        let summary: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
        let given = code.is_empty() || summary["diagnostics"].get(code).is_some();
        score.check(given, || format!("{name}: no {code} among {}", summary["diagnostics"]));
    }
}

fn number(run: &Run, key: &str) -> u64 {
    let summary: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    summary[key].as_u64().unwrap_or_default()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
