//! Every diagnostic as users see it: `tests/diagnostics/<code>/`.
//!
//! Each folder holds the smallest input that gives its code, and what the import of it (or the
//! harvest, of an `.oai` input) says in the three styles (`expected.txt`; `UPDATE_GOLDEN=1` writes it anew). A code without a
//! folder, a folder without a code and an input that does not give its code all fail.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cases;
mod scripted;
mod snapshot;

use pinakes::concordance::{Concordances, Origin, Source};
use pinakes::config::Home;
use pinakes::diagnostic::render::{Style, render};
use pinakes::diagnostic::{Code, Diagnostic};
use pinakes::pipeline::{self, Request, Session, Unwatched, Watch};
use pinakes::source::Registry;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Codes that are given for the description of a source.
const SOURCES: &[Code] = &[Code::SourceSyntax, Code::BadSetting, Code::PlainSecret, Code::DuplicateSource];

/// Inputs too large to be kept: their last line stands there this many times.
const LAST_LINE_REPEATED: &[(&str, usize)] = &[("oversize-record", 700_000)];

#[test]
fn every_code_has_its_folder_and_every_folder_its_code() {
    let codes: BTreeSet<String> = Code::ALL.iter().map(|code| code.slug().to_owned()).collect();
    let folders: BTreeSet<String> = cases::entries(&folder()).iter().map(|path| cases::name(path)).collect();
    assert_eq!(folders, codes);
}

#[test]
fn the_reference_lists_every_code_as_the_table_has_it() {
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/diagnostics.md");
    let reference = fs::read_to_string(reference).unwrap();
    let rows: Vec<&str> = reference.lines().filter(|line| line.starts_with("| [`")).collect();
    let expected: Vec<String> = Code::ALL
        .iter()
        .map(|code| format!("| [`{code}`](#{code}) | {} | {} |", code.severity().name(), code.meaning()))
        .collect();
    assert_eq!(rows, expected);
    for code in Code::ALL {
        assert!(reference.contains(&format!("\n### {code}\n")), "`{code}` is not explained");
    }
}

#[test]
fn every_code_is_given_as_expected() {
    let home = tempfile::tempdir().unwrap();
    let inputs = tempfile::tempdir().unwrap();
    let base = "https://catalogue.example/";
    let home = Home::create(&home.path().join("catalogue"), base).unwrap();
    let mut session = Session::write(home, &mut Unwatched).unwrap();
    let mut differences = Vec::new();
    for code in Code::ALL {
        let case = folder().join(code.slug());
        let input = grown(&case, code.slug(), inputs.path());
        if SOURCES.contains(code) {
            check_source(*code, &case, &input, &mut differences);
            continue;
        }
        if input.extension().is_some_and(|ending| ending == "toml")
            || cases::name(&input) == "input.tsv" && is_list(*code)
        {
            check_rule_file(*code, &case, &input, &mut differences);
            continue;
        }
        if input.extension().is_some_and(|ending| ending == "oai") {
            check_harvest(*code, &case, &input, &mut differences);
            continue;
        }
        check_diagnostic(&mut session, *code, &case, input, &mut differences);
    }
    snapshot::check_none(&differences);
}

fn check_diagnostic(
    session: &mut Session,
    code: Code,
    case: &Path,
    input: PathBuf,
    differences: &mut Vec<String>,
) {
    let folder = format!("{}/", input.parent().unwrap().display());
    // What somebody names against the content stands in a file beside the input.
    let format = fs::read_to_string(case.join("format")).ok().map(|name| name.trim().parse().unwrap());
    let request = Request {
        source: code.slug().to_owned(),
        files: vec![input],
        format,
        time: "2026-01-01T00:00:00Z".to_owned(),
        ..Request::default()
    };
    let mut heard = Heard::default();
    let summary = pipeline::import(session, &request, &mut heard).unwrap();
    let Heard(heard) = heard;

    assert!(heard.iter().any(|said| said.code == code), "the input of `{code}` gives {heard:?}");
    assert_eq!(summary.diagnostics.values().sum::<u64>(), heard.len() as u64, "`{code}` is counted");
    assert!(heard.len() < 10, "the input of `{code}` gives {} diagnostics", heard.len());
    for said in &heard {
        let back: Diagnostic = serde_json::from_str(&render(said, Style::Json, false)).unwrap();
        assert_eq!(back, *said, "JSON holds all there is");
    }
    differences.extend(snapshot::difference(
        &case.join("expected.txt"),
        &in_all_styles(&heard).replace(&folder, ""),
    ));
}

/// Whether a code is about a code list.
fn is_list(code: Code) -> bool {
    matches!(code, Code::BadCodeList | Code::EmptyCodeList)
}

/// A rule file or code list, checked as it would stand among the shipped ones.
fn check_rule_file(code: Code, case: &Path, input: &Path, differences: &mut Vec<String>) {
    let mut sources = Concordances::shipped_sources();
    let path = match code {
        code if is_list(code) => "codes/input.tsv",
        _ => "marc21/input.toml",
    };
    sources.push(Source::new(path, fs::read_to_string(input).unwrap(), Origin::Loaded(1)));
    let set = Concordances::new(sources);
    let loaded = set.files().iter().find(|loaded| loaded.source.path == path).unwrap();
    let mut heard: Vec<Diagnostic> = loaded.diagnostics().collect();
    for said in &mut heard {
        said.place.origin = Some(cases::name(input));
    }
    assert!(heard.iter().any(|said| said.code == code), "the input of `{code}` gives {heard:?}");
    for said in &heard {
        let back: Diagnostic = serde_json::from_str(&render(said, Style::Json, false)).unwrap();
        assert_eq!(back, *said, "JSON holds all there is");
    }
    differences.extend(snapshot::difference(&case.join("expected.txt"), &in_all_styles(&heard)));
}

/// The description of a source, as the only one of a catalogue; or, for the code that needs two,
/// with the same below its settings.
fn check_source(code: Code, case: &Path, input: &Path, differences: &mut Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(input).unwrap();
    fs::create_dir(directory.path().join("sources")).unwrap();
    fs::write(directory.path().join("sources/repo.toml"), &text).unwrap();
    if code == Code::DuplicateSource {
        fs::write(directory.path().join("pinakes.toml"), format!("[source.repo]\n{text}")).unwrap();
    }
    let heard = Registry::read(directory.path()).unwrap().diagnostics().to_vec();
    assert!(heard.iter().any(|said| said.code == code), "the input of `{code}` gives {heard:?}");
    for said in &heard {
        let back: Diagnostic = serde_json::from_str(&render(said, Style::Json, false)).unwrap();
        assert_eq!(back, *said, "JSON holds all there is");
    }
    let said = in_all_styles(&heard).replace(&format!("{}/", directory.path().display()), "");
    differences.extend(snapshot::difference(&case.join("expected.txt"), &said));
}

/// What a harvest says of a repository that answers as the input does.
fn check_harvest(code: Code, case: &Path, input: &Path, differences: &mut Vec<String>) {
    let mut heard = scripted::harvest(&fs::read_to_string(input).unwrap());
    for said in &mut heard {
        said.place.source = Some(code.slug().to_owned());
    }
    assert!(heard.iter().any(|said| said.code == code), "the input of `{code}` gives {heard:?}");
    differences.extend(snapshot::difference(&case.join("expected.txt"), &in_all_styles(&heard)));
}

fn in_all_styles(heard: &[Diagnostic]) -> String {
    let mut out = String::new();
    for (title, style) in [("human", Style::Human), ("short", Style::Short), ("json", Style::Json)] {
        out.push_str(&format!("== {title}\n"));
        for said in heard {
            out.push_str(&render(said, style, false));
            out.push('\n');
        }
    }
    out
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics")
}

/// The input of a case, or a copy of it with its last line repeated.
fn grown(case: &Path, slug: &str, folder: &Path) -> PathBuf {
    let input = cases::input(case);
    if slug == "too-many-statements" {
        // More chapters than any book has, each with a title of its own.
        let chapters: Vec<String> = (0..30_000).map(|number| format!("Chapter {number}")).collect();
        let text = fs::read_to_string(&input).unwrap().replace("Economy", &chapters.join(" -- "));
        let copy = folder.join(cases::name(&input));
        fs::write(&copy, text).unwrap();
        return copy;
    }
    let Some((_, times)) = LAST_LINE_REPEATED.iter().find(|(known, _)| *known == slug) else { return input };
    let mut text = fs::read_to_string(&input).unwrap();
    let last = format!("{}\n", text.lines().next_back().unwrap());
    text.push_str(&last.repeat(*times));
    let copy = folder.join(cases::name(&input));
    fs::write(&copy, text).unwrap();
    copy
}

/// Keeps what an import says.
#[derive(Default)]
struct Heard(Vec<Diagnostic>);

impl Watch for Heard {
    fn begin(&mut self, _: &str, _: Option<u64>) {}
    fn advance(&mut self, _: u64, _: u64) {}
    fn end(&mut self) {}
    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.0.push(diagnostic.clone());
    }
}
