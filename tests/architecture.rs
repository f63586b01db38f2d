//! Who may use whom, where SPARQL and IRIs may stand, and what must be where.
//!
//! Cargo cannot forbid cycles between the modules of one crate, so this suite reads `src/` as
//! text: comments and strings are told apart by [`Source::read`], paths are found in what
//! remains. The rules are the tables at the top.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use pinakes::catalogue::QUERIES;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The verbs: they never use each other.
const STAGES: &[&str] = &["harvest", "decode", "map", "resolve", "enrich", "publish"];
/// What stages hand to each other.
const NOUNS: &[&str] = &[
    "ask",
    "archive",
    "catalogue",
    "concordance",
    "diagnostic",
    "disk",
    "effort",
    "fetch",
    "index",
    "markup",
    "ontology",
    "record",
    "sort",
    "source",
    "statements",
];
/// Arguments, settings, and running stages in order.
const SHELL: &[&str] = &["cli", "config", "pipeline", "serve"];

/// Which modules of the library each module may use. A new edge is a decision: add it here. What lies
/// under `crates/` uses what its own `Cargo.toml` names: the engine of resolving, nothing of ours.
const MAY_USE: &[(&str, &[&str])] = &[
    ("archive", &["diagnostic", "disk", "record"]),
    ("catalogue", &["diagnostic", "disk", "effort", "markup", "ontology", "record", "sort", "statements"]),
    ("cli", ALL),
    // The settings hold the base IRI, and `Graphs` is what a base IRI is checked by.
    ("concordance", &["diagnostic", "ontology", "record"]),
    ("config", &["catalogue", "diagnostic"]),
    ("decode", &["diagnostic", "markup", "ontology", "record", "sort"]),
    ("diagnostic", &[]),
    ("disk", &[]),
    ("effort", &[]),
    ("fetch", &[]),
    ("harvest", &["diagnostic", "fetch", "markup", "record"]),
    // Documents in, hits out; `pin:search` is a term of ours.
    ("index", &["effort", "ontology"]),
    // Of the catalogue, only `Graphs`: how a record's graph is named.
    ("map", &["catalogue", "concordance", "diagnostic", "ontology", "record"]),
    ("markup", &["diagnostic"]),
    ("ontology", &[]),
    ("pipeline", ALL),
    ("publish", &["concordance", "diagnostic", "markup", "ontology", "record", "statements"]),
    ("record", &[]),
    // It reads documents and writes statements; the catalogue is behind a trait.
    ("serve", &["decode", "disk", "effort", "ontology", "statements"]),
    ("sort", &[]),
    // Of the catalogue, only `Graphs`: how a source is named.
    ("source", &["catalogue", "diagnostic", "disk", "ontology", "record"]),
    ("statements", &["markup", "ontology"]),
];
const ALL: &[&str] = &["*"];

/// Files outside `ontology/` that may spell an IRI, each with its reason.
const IRIS_ALLOWED: &[(&str, &str)] = &[
    ("cli/import.rs", "the base of the catalogue that a dry run throws away"),
    ("cli/init.rs", "the base of a catalogue that was given none"),
    ("cli/source/probe.rs", "the scheme of an address that was typed without one"),
    ("cli/mapping/coverage.rs", "the base of names that nobody sees"),
    ("cli/mapping/schema.rs", "the standard a JSON Schema names itself after"),
    ("cli/mapping/trial.rs", "the base of names that are shown shortened"),
    ("concordance/function/iri.rs", "where DOIs and handles are resolved, and what is missing before www."),
    ("decode/xml/namespaces.rs", "namespaces of foreign XML, which is not our vocabulary"),
    ("decode/xml/shape.rs", "namespaces by which a record element is known"),
    ("statements/rdf_xml.rs", "the two namespaces that XML keeps for itself"),
    ("source/section.rs", "the schemes that an address may begin with"),
];

/// Names that say nothing about a purpose.
const VAGUE: &[&str] = &["util", "utils", "common", "helpers", "misc", "shared", "base", "types"];

#[test]
fn modules_use_only_what_the_table_allows() {
    let mut faults = Vec::new();
    for source in sources() {
        let user = source.module();
        for used in source.uses() {
            let allowed = MAY_USE.iter().find(|(module, _)| *module == user).map(|(_, may)| *may);
            match allowed {
                None => faults.push(format!("{}: `{user}` is not in the table", source.path)),
                Some(may) if may == ALL || may.contains(&used.as_str()) || used == user => {}
                Some(_) => faults.push(format!("{}: `{user}` uses `{used}`", source.path)),
            }
        }
    }
    check_none(faults);
}

#[test]
fn the_table_keeps_stages_apart_and_nouns_below_them() {
    let mut faults = Vec::new();
    for (user, may) in MAY_USE {
        for used in may.iter().filter(|used| **used != "*") {
            let fits = if STAGES.contains(user) || *user == "config" {
                NOUNS.contains(used)
            } else if *user == "serve" {
                NOUNS.contains(used) || STAGES.contains(used)
            } else {
                NOUNS.contains(user) && NOUNS.contains(used) && !reaches(used, user)
            };
            if !fits {
                faults.push(format!("`{user}` must not use `{used}`"));
            }
        }
    }
    check_none(faults);
}

/// Whether the table leads from one module to another.
fn reaches(from: &str, to: &str) -> bool {
    from == to
        || MAY_USE
            .iter()
            .filter(|(module, _)| *module == from)
            .any(|(_, may)| may.iter().any(|next| reaches(next, to)))
}

#[test]
fn every_module_is_a_noun_a_stage_or_the_shell() {
    let known = |module: &str| {
        matches!(module, "lib" | "main") || [STAGES, NOUNS, SHELL].iter().any(|names| names.contains(&module))
    };
    let modules: BTreeSet<String> = all_sources().iter().map(Source::module).collect();
    check_none(modules.into_iter().filter(|module| !known(module)).collect());
}

#[test]
fn only_the_catalogue_touches_the_store() {
    check_none(
        all_sources()
            .iter()
            .filter(|source| source.module() != "catalogue" && source.code.contains("oxigraph::"))
            .map(|source| source.path.clone())
            .collect(),
    );
}

#[test]
fn every_module_has_a_name_with_a_purpose() {
    let parts = |path: &str| path.trim_end_matches(".rs").split('/').map(str::to_owned).collect::<Vec<_>>();
    check_none(
        all_sources()
            .iter()
            .filter(|source| parts(&source.path).iter().any(|part| VAGUE.contains(&part.as_str())))
            .map(|source| source.path.clone())
            .collect(),
    );
}

#[test]
fn every_file_says_what_it_is_for() {
    let mut faults = Vec::new();
    for folder in ["src", "crates", "tests", "benches", "fuzz/fuzz_targets"] {
        for file in files(&root().join(folder), "rs") {
            if !fs::read_to_string(&file).unwrap().starts_with("//! ") {
                faults.push(file.display().to_string());
            }
        }
    }
    check_none(faults);
}

#[test]
fn sparql_stands_in_query_files_alone() {
    let begins = ["SELECT ", "CONSTRUCT ", "ASK ", "INSERT ", "DESCRIBE ", "DELETE "];
    // A fragment of a rule is parsed inside the smallest query there is.
    let frame = "concordance/fragment.rs";
    check_no_text("SPARQL", |source, text| {
        source.path != frame && begins.iter().any(|keyword| text.trim_start().starts_with(keyword))
    });
}

#[test]
fn iris_stand_in_the_ontology_alone() {
    check_no_text("an IRI", |source, text| {
        let iri = text.starts_with("http://") || text.starts_with("https://");
        let bare = iri && !text.contains(char::is_whitespace);
        let allowed = IRIS_ALLOWED.iter().any(|(path, _)| *path == source.path);
        // A crate that knows no vocabulary of ours may know the namespace of datatypes.
        bare && !allowed && !matches!(source.module().as_str(), "ontology" | "ask")
    });
}

#[test]
fn every_exception_for_iris_is_needed() {
    let sources = sources();
    let needed = |path: &str| {
        sources.iter().any(|source| {
            source.path == path && source.texts.iter().any(|(_, text)| text.starts_with("http"))
        })
    };
    check_none(
        IRIS_ALLOWED.iter().filter(|(path, _)| !needed(path)).map(|(path, _)| (*path).to_owned()).collect(),
    );
}

#[test]
fn every_query_parses_and_says_what_it_yields() {
    let mut faults = Vec::new();
    for (name, text) in query_files() {
        let comments: Vec<&str> = text.lines().take_while(|line| line.starts_with('#')).collect();
        if !comments.iter().any(|line| line.starts_with("# yields ")) {
            faults.push(format!("{name} does not begin with a comment that says what it yields"));
        }
        let mut parser = spargebra::SparqlParser::new();
        for (prefix, namespace) in pinakes::ontology::prefixes() {
            parser = parser.with_prefix(prefix, namespace).unwrap();
        }
        // Graphs of the catalogue are named relative to its base.
        parser = parser.with_base_iri("https://c.example/").unwrap();
        if let Err(error) = parser.parse_query(&text) {
            faults.push(format!("{name}: {error}"));
        }
    }
    check_none(faults);
}

/// Reports are there for people, who find them with `pinakes query --list`; keys for resolving are
/// found by their folder; any other query must be asked by name somewhere in `src`.
#[test]
fn every_query_is_in_the_binary_and_used() {
    let files: BTreeSet<String> = query_files().into_iter().map(|(name, _)| name).collect();
    let listed: BTreeSet<String> = QUERIES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(files, listed, "`queries/` and the table in src/catalogue/queries.rs differ");
    let sources = sources();
    let asked = |name: &String| {
        sources.iter().any(|source| {
            source.path != "catalogue/queries.rs" && source.texts.iter().any(|(_, text)| text == name)
        })
    };
    let is_found = |name: &String| name.starts_with("report/") || name.contains("/keys/");
    check_none(files.into_iter().filter(|name| !is_found(name) && !asked(name)).collect());
}

/// DC.8: "Top level: Cargo.toml, src, ontologies, mappings, queries, tests, README.md" —
/// "Present".
#[test]
fn dc_8_top_level_is_as_on_the_design_card() {
    let card = ["Cargo.toml", "src", "ontologies", "mappings", "queries", "tests", "README.md"];
    check_none(card.iter().filter(|name| !root().join(name).exists()).map(|n| (*n).to_owned()).collect());
}

#[track_caller]
fn check_none(faults: Vec<String>) {
    assert!(faults.is_empty(), "\n  {}", faults.join("\n  "));
}

/// No string of the program itself, its tests apart, may be what `is_fault` looks for.
#[track_caller]
fn check_no_text(what: &str, is_fault: impl Fn(&Source, &str) -> bool) {
    let mut faults = Vec::new();
    for source in all_sources() {
        for (line, text) in source.texts.iter().filter(|(_, text)| is_fault(&source, text)) {
            faults.push(format!("{}:{line}: {what} in a string: `{text}`", source.path));
        }
    }
    check_none(faults);
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|ending| ending == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn query_files() -> Vec<(String, String)> {
    let folder = root().join("queries");
    files(&folder, "rq")
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(&folder).unwrap().with_extension("");
            (name.display().to_string(), fs::read_to_string(&path).unwrap())
        })
        .collect()
}

fn sources() -> Vec<Source> {
    sources_in(&root().join("src"))
}

/// Those of the program and of its crates; a file of the crate `resolve` is `resolve/score.rs`.
fn all_sources() -> Vec<Source> {
    let mut all = sources();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().display().to_string();
        all.extend(
            sources_in(&folder.join("src"))
                .into_iter()
                .map(|source| Source { path: format!("{name}/{}", source.path), ..source }),
        );
    }
    all
}

fn sources_in(folder: &Path) -> Vec<Source> {
    files(folder, "rs")
        .into_iter()
        .filter(|path| path.file_name().is_none_or(|name| name != "tests.rs"))
        .map(|path| {
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            Source::read(name, &fs::read_to_string(&path).unwrap())
        })
        .collect()
}

/// A file of `src` without its unit tests.
struct Source {
    /// Its path under `src`.
    path: String,
    /// Its text without comments and strings.
    code: String,
    /// Its strings, each with its line.
    texts: Vec<(usize, String)>,
}

impl Source {
    fn read(path: String, text: &str) -> Self {
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let mut source = Self { path, code: String::new(), texts: Vec::new() };
        let mut rest = text;
        let mut line = 1;
        while let Some(c) = rest.chars().next() {
            let taken = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if let Some((length, literal)) = string(rest) {
                source.texts.push((line, literal));
                length
            } else if let Some(length) = character(rest) {
                length
            } else {
                source.code.push(c);
                c.len_utf8()
            };
            line += rest[..taken].matches('\n').count();
            rest = &rest[taken..];
        }
        source
    }

    /// The top-level module the file belongs to.
    fn module(&self) -> String {
        self.path.split(['/', '.']).next().unwrap_or_default().to_owned()
    }

    /// The top-level modules its paths lead to.
    fn uses(&self) -> BTreeSet<String> {
        let mut used = BTreeSet::new();
        // `super` leaves the module only as often as the file lies deep.
        let depth = self.path.matches('/').count() + usize::from(!self.path.ends_with("/mod.rs"));
        let up = "super::".repeat(depth);
        for prefix in ["crate::", "pinakes::", up.as_str()] {
            if prefix.is_empty() {
                continue;
            }
            for (at, _) in self.code.match_indices(prefix) {
                let before = self.code[..at].chars().next_back();
                let is_path = before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | ':'));
                if is_path {
                    used.extend(first_names(&self.code[at + prefix.len()..]));
                }
            }
        }
        used.remove("super");
        used
    }
}

/// `a::b` begins with `a`; `{a::b, c}` with `a` and `c`.
fn first_names(path: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let Some(group) = path.strip_prefix('{') else { return vec![name(path)] };
    let mut names = vec![name(group)];
    let mut depth = 0;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(name(&group[at + 1..])),
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The string literal some code begins with: its length and its content.
fn string(code: &str) -> Option<(usize, String)> {
    let raw = code.strip_prefix("br").or_else(|| code.strip_prefix('r'));
    if let Some(rest) = raw {
        let hashes = rest.len() - rest.trim_start_matches('#').len();
        if let Some(content) = rest[hashes..].strip_prefix('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let end = content.find(&close)?;
            let length = code.len() - content.len() + end + close.len();
            return Some((length, content[..end].to_owned()));
        }
    }
    let content = code.strip_prefix("b\"").or_else(|| code.strip_prefix('"'))?;
    let mut escaped = false;
    let end = content.char_indices().find_map(|(at, c)| {
        let closes = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes.then_some(at)
    })?;
    Some((code.len() - content.len() + end + 1, content[..end].to_owned()))
}

/// The length of the character literal some code begins with; a lifetime is none.
fn character(code: &str) -> Option<usize> {
    let mut rest = code.strip_prefix('\'')?.char_indices();
    match rest.next()?.1 {
        '\\' => rest.skip(1).find(|(_, c)| *c == '\'').map(|(at, _)| at + 2),
        _ => rest.next().filter(|(_, c)| *c == '\'').map(|(at, _)| at + 2),
    }
}

/// Each row of `docs/reliability.md` with a promise names tests, and these are there. A test is a
/// function after an attribute that says so; `proptest!` has them, too.
#[test]
fn every_promise_is_held_by_tests_that_there_are() {
    let mut tests = BTreeSet::new();
    for file in ["src", "crates", "tests"].iter().flat_map(|folder| files(&root().join(folder), "rs")) {
        let text = fs::read_to_string(&file).unwrap();
        let mut is_test = false;
        for line in text.lines().map(str::trim_start) {
            let line = line.strip_prefix("async ").unwrap_or(line);
            match line.strip_prefix("fn ").and_then(|rest| rest.split('(').next()) {
                Some(name) if is_test => {
                    tests.insert(name.to_owned());
                    is_test = false;
                }
                None if line.starts_with("#[") => {
                    is_test |= matches!(line, "#[test]" | "#[tokio::test]");
                }
                _ => is_test = is_test && line.starts_with("//"),
            }
        }
    }
    let promises = fs::read_to_string(root().join("docs/reliability.md")).unwrap();
    let rows = promises.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
    let (mut faults, mut count) = (Vec::new(), 0);
    for (promise, held) in rows.filter(|(promise, _)| *promise != "promise") {
        count += 1;
        let named: Vec<&str> = held.split('`').skip(1).step_by(2).collect();
        if named.is_empty() {
            faults.push(format!("nothing holds: {promise}"));
        }
        let missing = named.iter().filter(|name| !tests.contains(**name));
        faults.extend(missing.map(|name| format!("there is no test `{name}`")));
    }
    check_none(faults);
    assert!(count > 20, "only {count} promises were found");
}

/// The scanner sees through comments, strings and groups, or the rules above guard nothing.
#[test]
fn the_scanner_finds_what_is_there() {
    let text = "//! crate::map\nuse crate::{decode::{a, b}, record};\nconst Q: &str = \"SELECT \\\" ?x\";\n\
                fn f<'a>(c: char) -> bool { c == '\"' || super::sort::g() } // super::archive\n\
                const R: &str = r#\"http://x \"crate::map\"\"#;\n";
    let source = Source::read("thing.rs".to_owned(), text);
    assert_eq!(source.uses().into_iter().collect::<Vec<_>>(), ["decode", "record", "sort"]);
    assert_eq!(source.texts, [(3, "SELECT \\\" ?x".to_owned()), (5, "http://x \"crate::map\"".to_owned())]);
}
