//! Descriptions that are right, wrong, changed and ranked.

use super::*;
use crate::catalogue::Graphs;
use crate::diagnostic::render::{Style, render};
use crate::diagnostic::{Code, Diagnostic};
use expect_test::{Expect, expect};
use std::path::Path;

/// Every field there is.
const EVERYTHING: &str = r#"
name         = "Example repository"
website      = "https://repo.example/"
content_type = ["book", "music"]
amount       = 12_000
technique    = "oai-pmh"
complexity   = 3
model        = "MARC 21"
endpoint     = "https://repo.example/api"
importance   = 0.7
schedule     = "weekly"
enabled      = true
duplicates   = "none"
note         = "Closed on Sundays."

[subjects]
music             = 0.9
"cultural heritage" = 1

[oai]
url         = "https://repo.example/oai"
prefix      = "marcxml"
sets        = ["books", "music"]
from        = 2020-01-01
until       = "2024-12-31"
window      = 30
overlap     = 3600
granularity = "day"
verb        = "ListIdentifiers"

[file]
paths        = ["deliveries", "more.mrc"]
format       = "iso2709"
charset      = "marc-8"
id           = "number"
content_type = "book"
model        = "corpus"
replace      = true

[access]
allow_private  = ["127.0.0.1:8099"]
delay          = 0.5
concurrency    = 2
respect_robots = false
allow_downgrade = true
contact        = "mailto:library@example.org"

[access.limits]
body      = 1_000_000
ratio     = 50
header    = 10_000
headers   = 100
redirects = 3

[access.retries]
attempts     = 3
first_wait   = 0.5
longest_wait = 60
budget       = 10
patience     = 120

[access.timeouts]
connect = 10
idle    = 30
total   = 600

[access.login]
url     = "https://repo.example/login"
expired = "please log in"
logout  = "https://repo.example/logout"
fields  = { user = { env = "REPO_USER" }, password = { env = "REPO_PASSWORD" }, go = "yes" }
"#;

fn read(text: &str) -> Result<Source, Vec<Diagnostic>> {
    Registry::check("repo", Path::new("sources/repo.toml"), text)
}

#[track_caller]
fn good(text: &str) -> Source {
    read(text).unwrap_or_else(|said| panic!("{}", short(&said)))
}

fn short(diagnostics: &[Diagnostic]) -> String {
    let lines = diagnostics.iter().map(|said| {
        let field = said.place.field.as_deref().unwrap_or("-");
        let hint = said.hint.as_deref().map(|hint| format!("\n  hint: {hint}")).unwrap_or_default();
        format!("{} ({field}){hint}\n", render(said, Style::Short, false))
    });
    lines.collect()
}

#[track_caller]
fn check_faults(text: &str, expected: Expect) {
    expected.assert_eq(&short(&read(text).expect_err("something is wrong")));
}

/// A description that is right, with some lines more.
fn with(lines: &str) -> String {
    format!("name = \"R\"\nwebsite = \"https://r.example\"\ntechnique = \"manual\"\n{lines}\n")
}

#[test]
fn every_field_is_read() {
    let source = good(EVERYTHING);
    assert_eq!(source.amount, Amount::Records(12_000));
    assert_eq!(source.subjects.len(), 2);
    assert_eq!(source.duplicates, Duplicates::None);
    let oai = source.oai.as_ref().unwrap();
    assert_eq!((oai.from.as_deref(), oai.until.as_deref()), (Some("2020-01-01"), Some("2024-12-31")));
    assert_eq!(oai.verb, OaiVerb::ListIdentifiers);
    assert_eq!(source.access.variables(), ["REPO_PASSWORD", "REPO_USER"]);
    assert_eq!(source.harvester(), Ok(Harvester::OaiPmh));
    let bare = good(&with(""));
    assert!(bare.enabled);
    assert_eq!(bare.access, Access::default());
    assert_eq!(bare.complexity.level(), Technique::Manual.usual_level());
}

/// The table of fields, what is read, and the guide are one list.
#[test]
fn every_field_is_in_the_table_and_in_the_guide() {
    let guide =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/sources.md")).unwrap();
    let mut sample = EVERYTHING.to_owned();
    for (table, fields) in [
        ("basic", "user_env = \"U\"\npassword_env = \"P\""),
        ("bearer", "token_env = \"T\""),
        ("header", "name = \"X-Key\"\nvalue_env = \"K\""),
        ("token", "url = \"https://repo.example/token\"\nfields = { grant_type = \"client_credentials\" }"),
    ] {
        sample.push_str(&format!("\n[access.{table}]\n{fields}\n"));
    }
    let parsed: toml::Table = sample.parse().unwrap();
    for field in FIELDS {
        assert!(
            guide.contains(&format!("`{}`", field.name)),
            "docs/sources.md does not explain `{}`",
            field.name
        );
        let mut parts = field.name.split('.');
        let mut value = parsed.get(parts.next().unwrap());
        for part in parts {
            value = value.and_then(|value| value.get(part));
        }
        assert!(value.is_some(), "`{}` is in the table and nowhere else", field.name);
    }
    let leaves = leaves(&parsed, "");
    for leaf in leaves {
        assert!(
            FIELDS.iter().any(|field| field.name == leaf || leaf.starts_with(&format!("{}.", field.name))),
            "`{leaf}` is not in the table"
        );
    }
}

fn leaves(table: &toml::Table, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in table {
        let path = format!("{path}{key}");
        match value {
            toml::Value::Table(below) => found.extend(leaves(below, &format!("{path}."))),
            _ => found.push(path),
        }
    }
    found
}

/// S1.5: all faults of a description at once, each with its place and field.
#[test]
fn s1_5_every_fault_is_said_with_line_column_and_field() {
    check_faults(
        r#"
name       = 1984
websit     = "https://r.example"
technique  = "oai"
complexity = 9
amount     = true
importance = 1.5
schedule   = "dayly"
enabled    = "yes"
content_type = ["book", 3]

[subjects]
music   = 2
science = "much"

[oai]
prefix = "marc xml"
from   = "yesterday"
window = 0

[access]
delay       = -1
concurrency = 1000
timeouts    = { conect = 3 }
"#,
        expect![[r#"
            sources/repo.toml:1:1: error[bad-setting]: `website` is missing (website)
              hint: write `website = "https://…"`: its website or its page in a social network
            sources/repo.toml:2:14: error[bad-setting]: `name` is a whole number, and a text in quotes is expected (name)
            sources/repo.toml:3:1: error[unknown-key]: there is no field `websit` (websit)
              hint: did you mean `website`?
            sources/repo.toml:4:14: error[bad-setting]: `technique` is `oai`, which is none of `oai-pmh`, `file`, `sru`, `sparql`, `api`, `feed`, `sitemap`, `web`, `manual` (technique)
            sources/repo.toml:5:14: error[bad-setting]: `complexity` is 9, and must be between 1 and 5 (complexity)
            sources/repo.toml:6:14: error[bad-setting]: `amount` is `true` or `false`, and a whole number or a text is expected (amount)
            sources/repo.toml:7:14: error[bad-setting]: `importance` is 1.5, and must be between 0 and 1 (importance)
            sources/repo.toml:8:14: error[bad-setting]: `schedule` is `dayly`, which is none of `always`, `manual`, `hourly`, `daily`, `weekly`, `monthly` (schedule)
              hint: did you mean `daily`?
            sources/repo.toml:9:14: error[bad-setting]: `enabled` is a text, and `true` or `false` is expected (enabled)
            sources/repo.toml:10:25: error[bad-setting]: `content_type` holds a whole number, and texts in quotes are expected (content_type)
            sources/repo.toml:13:11: error[bad-setting]: `subjects.music` is 2, and must be between 0 and 1 (subjects.music)
            sources/repo.toml:14:11: error[bad-setting]: `subjects.science` is a text, and a number is expected (subjects.science)
            sources/repo.toml:16:1: error[bad-setting]: `oai.url` is missing (oai.url)
              hint: write `url = "https://…"`: the base URL of the repository
            sources/repo.toml:17:10: error[bad-setting]: `oai.prefix` has a character that no metadataPrefix may have (oai.prefix)
            sources/repo.toml:18:10: error[bad-setting]: `oai.from` is `yesterday`, and a date is written `2024-01-31` or `2024-01-31T12:00:00Z` (oai.from)
            sources/repo.toml:19:10: error[bad-setting]: `oai.window` is 0, and must be between 1 and 36500 (oai.window)
            sources/repo.toml:22:15: error[bad-setting]: `access.delay` is -1, and must be between 0 and 3600 (access.delay)
            sources/repo.toml:23:15: error[bad-setting]: `access.concurrency` is 1000, and must be between 1 and 64 (access.concurrency)
            sources/repo.toml:24:17: error[unknown-key]: there is no field `access.timeouts.conect` (access.timeouts.conect)
              hint: did you mean `connect`?
        "#]],
    );
}

#[test]
fn addresses_and_dates_are_looked_at() {
    check_faults(
        &with("[oai]\nurl = \"ftp://r.example/oai\"\nfrom = \"2024-02-30\"\nuntil = 2020-01-01T00:00:00"),
        expect![[r#"
            sources/repo.toml:5:7: error[bad-setting]: `oai.url` is no address that begins with `http://` or `https://` (oai.url)
            sources/repo.toml:6:8: error[bad-setting]: `oai.from` is `2024-02-30`, and a date is written `2024-01-31` or `2024-01-31T12:00:00Z` (oai.from)
            sources/repo.toml:7:9: error[bad-setting]: `oai.until` is `2020-01-01T00:00:00`, and a date is written `2024-01-31` or `2024-01-31T12:00:00Z` (oai.until)
        "#]],
    );
    check_faults(
        &with("[oai]\nurl = \"https://\"\nfrom = \"2024-02-01\"\nuntil = \"2020-01-01\""),
        expect![[r#"
            sources/repo.toml:5:7: error[bad-setting]: `oai.url` names no host (oai.url)
            sources/repo.toml:7:9: error[bad-setting]: `oai.until` is before `oai.from` (oai.until)
        "#]],
    );
    check_faults(
        &with("endpoint = \"https://r.example/a b\"\n[access]\nallow_private = [\"http://127.0.0.1/\"]"),
        expect![[r#"
            sources/repo.toml:4:12: error[bad-setting]: `endpoint` is not an address: Invalid IRI code point ' ' (endpoint)
            sources/repo.toml:6:17: error[bad-setting]: `access.allow_private` has `http://127.0.0.1/`; write host and port: `127.0.0.1:8099` (access.allow_private)
        "#]],
    );
}

#[test]
fn what_a_harvester_needs_must_be_there() {
    let text = with("").replace("manual", "oai-pmh");
    check_faults(
        &text,
        expect![[r#"
        sources/repo.toml:1:1: error[bad-setting]: `oai.url` is missing (oai.url)
          hint: the technique is `oai-pmh`: write `url = "https://…"` below `[oai]`
    "#]],
    );
    check_faults(
        &text.replace("oai-pmh", "file"),
        expect![[r#"
        sources/repo.toml:1:1: error[bad-setting]: `file.paths` is missing (file.paths)
          hint: the technique is `file`: write `paths = ["…"]` below `[file]`
    "#]],
    );
    check_faults(
        "",
        expect![[r#"
        sources/repo.toml:1:1: error[bad-setting]: `name` is missing (name)
          hint: write `name = "…"`: what people call the source
        sources/repo.toml:1:1: error[bad-setting]: `website` is missing (website)
          hint: write `website = "https://…"`: its website or its page in a social network
        sources/repo.toml:1:1: error[bad-setting]: `technique` is missing (technique)
          hint: write `technique = "oai-pmh"`; `pinakes source add --help` lists what there is
    "#]],
    );
}

/// Secrets are refused wherever somebody may put one, and never repeated.
#[test]
fn secrets_are_refused_and_not_repeated() {
    for lines in [
        "[access.basic]\nuser_env = \"U\"\npassword = \"hunter2!\"",
        "[access.basic]\nuser_env = \"U\"\npassword_env = \"hunter2!\"",
        "[access.bearer]\ntoken = \"hunter2!\"",
        "[access.header]\nname = \"X-Key\"\nvalue = \"hunter2!\"",
        "[access.header]\nname = \"X-Key\"\nvalue_env = \"hunter2!\"",
        "[access]\napi_key = \"hunter2!\"",
        "password = \"hunter2!\"",
        "[access.login]\nurl = \"https://r.example\"\nfields = { password = \"hunter2!\" }",
        "[access.login]\nurl = \"https://r.example\"\nfields = { user = { env = \"hunter2!\" } }",
        "endpoint = \"https://me:hunter2!@r.example/\"",
        "[access]\ntoken = \"hunter2!\"",
        "[access]\napi_key = [\"hunter2!\"]",
    ] {
        let said = read(&with(lines)).expect_err("a secret");
        assert!(said.iter().any(|said| said.code == Code::PlainSecret), "{lines}: {}", short(&said));
        for style in [Style::Human, Style::Short, Style::Json] {
            for said in &said {
                assert!(!render(said, style, false).contains("hunter2"), "{lines} is repeated");
            }
        }
    }
}

/// A line with a secret in it may be wrong for another reason.
#[test]
fn lines_that_speak_of_secrets_are_not_repeated() {
    for lines in ["password = \"hunter2", "[access.login]\nfields = { password = [\"hunter2\"], url = 3 }"] {
        for said in read(&with(lines)).expect_err("a mistake") {
            assert!(!render(&said, Style::Human, false).contains("hunter2"), "{lines} is repeated");
        }
    }
}

/// The fetcher takes its settings in this shape.
#[test]
fn access_is_serialized_as_the_fetcher_reads_it() {
    let access = serde_json::to_string_pretty(&good(EVERYTHING).access).unwrap();
    expect![[r#"
        {
          "allow_private": [
            "127.0.0.1:8099"
          ],
          "allow_downgrade": true,
          "respect_robots": false,
          "delay": 0.5,
          "concurrency": 2,
          "contact": "mailto:library@example.org",
          "timeouts": {
            "connect": 10.0,
            "idle": 30.0,
            "total": 600.0
          },
          "limits": {
            "body": 1000000,
            "header": 10000,
            "headers": 100,
            "ratio": 50,
            "redirects": 3
          },
          "retries": {
            "attempts": 3,
            "first_wait": 0.5,
            "longest_wait": 60.0,
            "budget": 10,
            "patience": 120.0
          },
          "credentials": {
            "login": {
              "url": "https://repo.example/login",
              "fields": {
                "go": "yes",
                "password": {
                  "env": "REPO_PASSWORD"
                },
                "user": {
                  "env": "REPO_USER"
                }
              },
              "expired": "please log in",
              "logout": "https://repo.example/logout"
            }
          }
        }"#]]
    .assert_eq(&access);
    assert_eq!(serde_json::to_string(&good(&with("")).access).unwrap(), "{}");
}

#[test]
fn a_source_has_one_way_to_say_who_we_are() {
    check_faults(
        &with("[access.bearer]\ntoken_env = \"T\"\n[access.basic]\nuser_env = \"U\"\npassword_env = \"P\""),
        expect![[r#"
            sources/repo.toml:4:1: error[bad-setting]: `access.bearer` stands beside `access.basic`; a source has one of `basic`, `bearer`, `header`, `login`, `token` (access.bearer)
        "#]],
    );
}

#[test]
fn broken_toml_is_said_and_nothing_else() {
    check_faults(
        "name = \"R\nwebsite = = 3\n",
        expect![[r#"
        sources/repo.toml:1:10: error[source-syntax]: not valid TOML: invalid basic string, expected `"` (-)
        sources/repo.toml:2:11: error[source-syntax]: not valid TOML: extra `=`, expected nothing (-)
        sources/repo.toml:2:13: error[source-syntax]: not valid TOML: unexpected key or value, expected newline, `#` (-)
    "#]],
    );
}

/// All files of a catalogue, and both places of a source described twice.
#[test]
fn all_files_are_read_and_every_fault_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::create_dir(at("sources")).unwrap();
    std::fs::write(
        at("pinakes.toml"),
        format!(
            "version = 1\nbase = \"https://c.example/\"\n[source.one]\n{}[source.two]\nname = 2\n",
            with("")
        ),
    )
    .unwrap();
    std::fs::write(at("sources/one.toml"), with("")).unwrap();
    std::fs::write(at("sources/three.toml"), with("compexity = 2")).unwrap();
    std::fs::write(at("sources/four.toml"), with("")).unwrap();
    std::fs::write(at("sources/four.toml.part"), "half a fi").unwrap();
    std::fs::write(at("sources/my source.toml"), with("")).unwrap();
    let registry = Registry::read(directory.path()).unwrap();
    assert_eq!(registry.iter().map(|source| source.key.as_str()).collect::<Vec<_>>(), ["four"]);
    assert_eq!(registry.keys().collect::<Vec<_>>(), ["four", "my source", "one", "three", "two"]);
    let said = short(registry.diagnostics()).replace(&format!("{}/", directory.path().display()), "");
    expect![[r#"
        pinakes.toml:8:9: error[bad-setting]: `website` is missing (website)
          hint: write `website = "https://…"`: its website or its page in a social network
        pinakes.toml:8:9: error[bad-setting]: `technique` is missing (technique)
          hint: write `technique = "oai-pmh"`; `pinakes source add --help` lists what there is
        pinakes.toml:9:8: error[bad-setting]: `name` is a whole number, and a text in quotes is expected (name)
        sources/my source.toml:1:1: error[bad-setting]: `my source` cannot be the key of a source: a source is named by letters, digits, `-`, `_` and `.` (-)
        sources/one.toml:1:1: error[duplicate-source]: `one` is described twice: here and in pinakes.toml:3 (-)
          hint: take one of them away, or give it another key
        sources/three.toml:4:1: error[unknown-key]: there is no field `compexity` (compexity)
          hint: did you mean `complexity`?
    "#]].assert_eq(&said);
}

#[test]
fn a_catalogue_without_sources_has_none() {
    let directory = tempfile::tempdir().unwrap();
    let registry = Registry::read(directory.path()).unwrap();
    assert_eq!(registry.iter().count(), 0);
    assert!(registry.diagnostics().is_empty());
}

fn registry(texts: &[(&str, String)]) -> Registry {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("sources")).unwrap();
    for (key, text) in texts {
        std::fs::write(directory.path().join(format!("sources/{key}.toml")), text).unwrap();
    }
    let registry = Registry::read(directory.path()).unwrap();
    assert!(registry.diagnostics().is_empty(), "{}", short(registry.diagnostics()));
    registry
}

/// S1.2: the most relevant first; the shipped examples are ranked as the papers say.
#[test]
fn s1_2_sources_are_ranked_by_relevance_to_a_subject() {
    let shipped: Vec<(&str, String)> =
        PROFILES.iter().map(|(key, text)| (*key, (*text).to_owned())).collect();
    let registry = registry(&shipped);
    let keys = |subject: &str| -> Vec<String> {
        registry.ranked(subject).iter().map(|source| source.key.clone()).collect()
    };
    assert_eq!(keys("music")[..2], ["discogs", "allmusic"]);
    assert_eq!(keys("Science")[..2], ["sciencedirect", "researchgate"]);
    assert!(keys("alchemy").is_empty());
    for subject in registry.subjects() {
        let ranked = registry.ranked(subject);
        assert!(ranked.is_sorted_by(|left, right| left.relevance(subject) >= right.relevance(subject)));
    }
}

/// S1.4: the level decides how long a source may take, and with it the order of a run.
#[test]
fn s1_4_the_complexity_level_decides_estimate_and_order() {
    let text = |level: u8, more: &str| with(&format!("amount = 10_000\ncomplexity = {level}\n{more}"));
    let registry = registry(&[
        ("hard", text(5, "")),
        ("easy", text(1, "")),
        ("dear", text(4, "importance = 0.9")),
        ("off", text(1, "enabled = false")),
        ("unknown", with("complexity = 1")),
    ]);
    let order: Vec<&str> = registry.in_order().iter().map(|source| source.key.as_str()).collect();
    assert_eq!(order, ["dear", "easy", "hard", "unknown"]);
    let estimate = |key: &str| registry.get(key).unwrap().estimate();
    assert!(estimate("easy") < estimate("hard"));
    assert_eq!(estimate("unknown"), None);
}

/// S1.3: the same description with another word for the technique has another harvester.
#[test]
fn s1_3_the_technique_alone_decides_the_harvester() {
    for technique in Technique::ALL {
        let text = EVERYTHING.replace("\"oai-pmh\"", &format!("\"{technique}\""));
        assert_eq!(good(&text).harvester().ok(), technique.harvester(), "{technique}");
    }
    assert_eq!(Technique::ALL.iter().filter(|t| t.harvester().is_some()).count(), 2);
}

#[test]
fn every_shipped_description_is_in_the_table_and_in_order() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/sources");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    files.sort();
    assert_eq!(files, PROFILES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for (name, text) in PROFILES {
        let source = Registry::check(name, Path::new(name), text);
        let source = source.unwrap_or_else(|said| panic!("{name}: {}", short(&said)));
        for (column, cell) in COLUMNS.iter().zip(source.columns()) {
            assert!(!cell.plain().is_empty(), "{name} has no {column}");
        }
    }
}

#[test]
fn the_mirror_says_nothing_of_credentials() {
    let graphs = Graphs::new("https://c.example/").unwrap();
    let source = good(EVERYTHING);
    let said: String = mirror::statements(&source, &graphs).iter().map(|t| format!("{t}\n")).collect();
    for absent in ["REPO_", "login", "127.0.0.1"] {
        assert!(!said.contains(absent), "{absent}: {said}");
    }
    assert!(said.contains("<https://c.example/source/repo#subject-cultural%20heritage>"), "{said}");
    assert!(!said.contains("_:"), "a blank node: {said}");
}

/// An address may hold what only an IRI allows, and statements must stay parseable.
#[test]
fn the_mirror_can_be_parsed() {
    let graphs = Graphs::new("https://c.example/").unwrap();
    let text = with("model = 'a \"quoted\" \\\\ model'\nendpoint = \"https://bücher.example/ä?q=1\"");
    for triple in mirror::statements(&good(&text), &graphs) {
        let line = format!("{triple} .");
        let parsed: Vec<_> = oxrdfio::RdfParser::from_format(oxrdfio::RdfFormat::NTriples)
            .for_slice(line.as_bytes())
            .collect();
        assert!(parsed.iter().all(Result::is_ok), "{line}");
    }
}

fn draft(text: &str) -> (tempfile::TempDir, Draft) {
    let directory = tempfile::tempdir().unwrap();
    let draft = Draft::new(directory.path(), "repo", text).unwrap();
    (directory, draft)
}

#[track_caller]
fn check_edit(text: &str, edits: &[(&str, &str)], expected: Expect) {
    let (_directory, mut draft) = draft(text);
    for (field, value) in edits {
        draft.set(field, value).unwrap();
    }
    draft.check().unwrap_or_else(|said| panic!("{}", short(&said)));
    draft.save().unwrap();
    expected.assert_eq(&std::fs::read_to_string(draft.file()).unwrap());
}

#[test]
fn an_edit_keeps_comments_and_order() {
    check_edit(
        "# Ours.\nname = \"R\" # short\nwebsite = \"https://r.example\"\n\n# How\ntechnique = \"manual\" # for now\n\n[subjects] # of all kinds\nmusic = 0.5 # half\n",
        &[
            ("name", "1984"),
            ("technique", "oai-pmh"),
            ("complexity", "4"),
            ("subjects.music", "0.7"),
            ("subjects.rock'n'roll. live", "0.1"),
            ("oai.url", "https://r.example/oai"),
            ("oai.sets", "[\"a\", \"b\"]"),
            ("access.basic.user_env", "U"),
            ("access.basic.password_env", "P"),
            ("note", "say \"please\""),
        ],
        expect![[r##"
            # Ours.
            name = "1984" # short
            website = "https://r.example"

            # How
            technique = "oai-pmh" # for now
            complexity = 4
            note = 'say "please"'

            [subjects] # of all kinds
            music = 0.7 # half
            "rock'n'roll. live" = 0.1

            [oai]
            url = "https://r.example/oai"
            sets = ["a", "b"]

            [access.basic]
            user_env = "U"
            password_env = "P"
        "##]],
    );
}

#[test]
fn an_empty_value_takes_a_field_away() {
    check_edit(
        &with("note = \"x\"\n[subjects]\nmusic = 1"),
        &[("note", ""), ("subjects.music", "")],
        expect![[r#"
            name = "R"
            website = "https://r.example"
            technique = "manual"
            [subjects]
        "#]],
    );
}

#[test]
fn inline_tables_stay_inline() {
    check_edit(
        &with("access = { delay = 1 } # polite"),
        &[("access.delay", "2"), ("access.timeouts.connect", "3")],
        expect![[r#"
            name = "R"
            website = "https://r.example"
            technique = "manual"
            access = { delay = 2, timeouts = { connect = 3 } } # polite
        "#]],
    );
}

#[test]
fn what_cannot_be_set_is_refused() {
    let (_directory, mut draft) = draft(&with("[subjects]\nmusic = 1"));
    assert!(matches!(draft.set("name.first", "x"), Err(Refusal::NotATable(_))));
    assert!(matches!(draft.set("subjects", "x"), Err(Refusal::IsATable(_))));
    draft.set("compexity", "3").unwrap();
    let said = draft.check().expect_err("no such field");
    assert!(short(&said).contains("did you mean `complexity`?"), "{}", short(&said));
    assert!(!draft.file().exists(), "nothing is written before it is saved");
}

/// A source among the settings is changed and removed there.
#[test]
fn sources_among_the_settings_are_edited_in_place() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pinakes.toml");
    let settings = "version = 1 # layout\nbase = \"https://c.example/\"\n";
    std::fs::write(&file, format!("{settings}\n[source.repo]\n{}", with("# a word"))).unwrap();
    let registry = Registry::read(directory.path()).unwrap();
    let place = registry.place("repo").unwrap();
    assert_eq!((place.among_settings, place.line), (true, 4));
    let mut draft = Draft::open("repo", place).unwrap();
    draft.set("model", "MODS").unwrap();
    assert_eq!(draft.check().unwrap().model, "MODS");
    draft.save().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("version = 1 # layout") && text.contains("# a word"), "{text}");
    assert_eq!(Registry::read(directory.path()).unwrap().get("repo").unwrap().model, "MODS");
    Draft::open("repo", place).unwrap().remove().unwrap();
    assert!(std::fs::read_to_string(&file).unwrap().starts_with(settings));
    assert!(Registry::read(directory.path()).unwrap().place("repo").is_none());
}

#[test]
fn a_folder_stands_for_its_files_in_order() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("in")).unwrap();
    for name in ["in/b.mrc", "in/a.mrc", "in/.hidden", "c.mrc"] {
        std::fs::write(directory.path().join(name), "").unwrap();
    }
    let files = Files { paths: vec!["c.mrc".into(), "in".into()], ..Files::default() };
    let found = files.list(directory.path()).unwrap();
    let expected: Vec<_> =
        ["c.mrc", "in/a.mrc", "in/b.mrc"].iter().map(|name| directory.path().join(name)).collect();
    assert_eq!(found, expected);
}
