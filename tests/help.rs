//! The examples of `--help` and of the README run as they are written.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod repository;
mod support;

use repository::Repository;
use support::{Desk, Ran, project};

/// A directory with every file that an example names, and nothing else.
fn desk() -> Desk {
    let desk = Desk::empty();
    desk.copy("examples/library.mrc", "records.mrc");
    let csv = project("examples/bookshop.csv");
    desk.run(&format!("gzip -c {} > books.csv.gz", csv.display())).ok();
    for folder in ["examples", "queries", "mappings", "ontologies"] {
        desk.run(&format!("cp -r {} .", project(folder).display())).ok();
    }
    // The first rule of docs/concordances.md is the one a reader writes.
    let guide = std::fs::read_to_string(project("docs/concordances.md")).unwrap();
    let (_, rest) = guide.split_once("```toml\n# my-rules.toml\n").unwrap();
    desk.write("my-rules.toml", rest.split_once("```").unwrap().0);
    desk.copy("mappings/codes/relators.tsv", "relators.tsv");
    // Two sources to harvest; they serve until the tests end.
    for (seed, key) in [(1, "arxiv"), (2, "gallica")] {
        let serving = Box::leak(Box::new(Repository::seeded(seed).records(20).serve()));
        let (url, authority) = (serving.url(), serving.authority());
        desk.write(
            &format!("catalogue/sources/{key}.toml"),
            format!(
                "name = \"{key}\"\nwebsite = \"{url}\"\ntechnique = \"oai-pmh\"\n[oai]\nurl = \"{url}\"\n\
                 [access]\nallow_private = [\"{authority}\"]\n"
            ),
        );
    }
    desk.write(
        "pairs.csv",
        "left_source,left_id,right_source,right_id,same\nloc,lib0011,spreadsheet,B-004,1\n",
    );
    desk.write(
        "clusters.csv",
        "source,id,edition,work\nloc,lib0011,1854,walden\nspreadsheet,B-004,1854,walden\n",
    );
    // The token that examples revoke.
    desk.write(
        "catalogue/tokens.toml",
        format!(
            "[[token]]\nid = \"1f2e3d4c\"\nrole = \"writer\"\ncreated = \"2026-01-01T00:00:00Z\"\nhash = \"{}\"\n",
            "0".repeat(64)
        ),
    );
    desk.write("my-codes.tsv", "code\tlabel\nx\tan example\n");
    desk.copy("mappings/bibframe/keys.rq", "keys.rq");
    desk
}

/// Runs the lines in this order; all must exit 0.
#[track_caller]
fn check_examples(desk: &Desk, lines: &[String]) {
    let failed: Vec<String> = lines
        .iter()
        .map(|line| desk.run(&once(line)))
        .filter(|ran| ran.code != Some(0))
        .map(|Ran { line, code, stderr, .. }| {
            format!("`{line}` exits {code:?}: {}", String::from_utf8_lossy(&stderr))
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// A server is asked to stop after a while, and must end well; it has its address for itself.
fn once(line: &str) -> String {
    let lock = std::env::temp_dir().join("pinakes-tests-serve.lock");
    match line.starts_with("pinakes serve") {
        true => format!("flock {} timeout --preserve-status -s TERM 5 {line}", lock.display()),
        false => line.to_owned(),
    }
}

/// The help of a command and of all below it. Hidden commands are not listed, so not found.
fn pages(desk: &Desk, command: &str) -> Vec<(String, String)> {
    let help = desk.run(&format!("pinakes {command} --help")).ok().text();
    let below: Vec<String> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(|name| format!("{command} {name}").trim().to_owned())
        .collect();
    let mut pages = vec![(command.to_owned(), help)];
    for command in below {
        pages.extend(self::pages(desk, &command));
    }
    pages
}

fn examples(help: &str) -> Vec<String> {
    help.lines()
        .skip_while(|line| *line != "Examples:")
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .map(|line| line.trim().to_owned())
        .collect()
}

/// What must be there before other examples can work comes first.
fn rank(line: &str) -> usize {
    // Harvests come before the examples that describe sources out there: no test asks those.
    let first = [
        "pinakes init",
        "pinakes import",
        "pinakes harvest",
        "pinakes run",
        "pinakes source add",
        "pinakes backup",
    ];
    let last = ["pinakes token revoke", "pinakes mapping unload", "pinakes source remove", "pinakes restore"];
    let found = |known: &[&str]| known.iter().position(|start| line.contains(start));
    found(&first).or(found(&last).map(|place| 100 + place)).unwrap_or(50)
}

#[test]
fn the_examples_of_every_command_run_as_written() {
    let desk = desk();
    let mut lines = Vec::new();
    let mut without = Vec::new();
    for (command, help) in pages(&desk, "") {
        let examples = examples(&help);
        // A command with commands below shows theirs.
        if examples.is_empty() && !help.contains("\nCommands:\n") {
            without.push(command);
        }
        lines.extend(examples);
    }
    assert!(without.is_empty(), "these commands have no examples: {}", without.join(", "));
    assert!(lines.len() > 20, "only {} examples were found", lines.len());
    lines.sort_by_key(|line| rank(line));
    check_examples(&desk, &lines);
}

/// Command lines of the README's fenced blocks; a backslash at the end joins lines.
fn readme_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut inside = false;
    let mut begun: Option<String> = None;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            inside = matches!(line.trim(), "```console" | "```sh");
            continue;
        }
        if !inside {
            continue;
        }
        let line = line.trim();
        let full = match begun.take() {
            Some(start) => format!("{start}{line}"),
            None => line.strip_prefix("$ ").unwrap_or(line).to_owned(),
        };
        if !full.starts_with("pinakes ") {
            continue;
        }
        match full.strip_suffix('\\') {
            Some(start) => begun = Some(start.to_owned()),
            None => lines.push(full),
        }
    }
    lines
}

#[test]
fn the_commands_of_the_readme_run_as_written() {
    // That there is a README is for `tests/architecture.rs` to say.
    let Ok(text) = std::fs::read_to_string(project("README.md")) else { return };
    let lines = readme_lines(&text);
    assert!(!lines.is_empty(), "README.md shows no command");
    check_examples(&desk(), &lines);
}

#[test]
fn the_commands_of_the_guide_to_resolving_run_as_written() {
    let desk = desk();
    desk.run("pinakes init catalogue --base https://catalogue.example/").ok();
    desk.run("pinakes import --quiet --source loc records.mrc").ok();
    desk.run("pinakes import --quiet --source spreadsheet books.csv.gz").ok();
    let lines = readme_lines(&std::fs::read_to_string(project("docs/resolving.md")).unwrap());
    assert!(lines.len() > 8, "{lines:?}");
    check_examples(&desk, &lines);
}

#[test]
fn lines_of_fenced_blocks_are_found() {
    let text = "pinakes outside\n```console\n$ pinakes status\n3 records\n$ make demo\n$ pinakes query \\\n    -e 'ASK {}'\n```\n```rust\npinakes no\n```\n```sh\npinakes verify\n```\n";
    assert_eq!(readme_lines(text), ["pinakes status", "pinakes query -e 'ASK {}'", "pinakes verify"]);
}
