//! The files that put Pinakes on a system are well-formed and stay hardened.
//!
//! `systemd-analyze` judges the unit where it is installed; what must not be lost is checked here
//! in any case.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn packaging() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging")
}

/// The settings of a unit, by `Section.Key`; several of one name are joined.
fn unit() -> BTreeMap<String, String> {
    let mut settings: BTreeMap<String, String> = BTreeMap::new();
    let mut section = String::new();
    for line in fs::read_to_string(packaging().join("pinakes.service")).unwrap().lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.to_owned();
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or_else(|| panic!("no setting: {line}"));
        let joined = settings.entry(format!("{section}.{key}")).or_default();
        joined.push_str(value);
        joined.push(' ');
    }
    settings
}

#[test]
fn the_unit_runs_the_server_and_little_else() {
    let unit = unit();
    let value =
        |key: &str| unit.get(key).map(|value| value.trim()).unwrap_or_else(|| panic!("{key} is missing"));
    assert!(value("Service.ExecStart").contains("pinakes serve --catalogue /var/lib/pinakes"));
    assert!(!value("Service.ExecStart").contains("--public"), "public is for the administrator to say");
    assert_ne!(value("Service.User"), "root");
    assert_eq!(value("Service.CapabilityBoundingSet"), "");
    assert_eq!(value("Service.ProtectSystem"), "strict");
    for key in [
        "NoNewPrivileges",
        "ProtectHome",
        "PrivateTmp",
        "PrivateDevices",
        "ProtectControlGroups",
        "ProtectKernelModules",
        "ProtectKernelTunables",
        "RestrictNamespaces",
        "RestrictSUIDSGID",
        "LockPersonality",
        "MemoryDenyWriteExecute",
    ] {
        assert_eq!(value(&format!("Service.{key}")), "yes", "{key}");
    }
    // A query worker that the kernel kills must not take the server with it.
    assert_eq!(value("Service.OOMPolicy"), "continue");
    // A writer that gets the signal, too, ends in the middle of a change.
    assert_eq!(value("Service.KillMode"), "mixed");
    // Longer than the server's own patience, or systemd would kill what it finishes.
    assert!(value("Service.TimeoutStopSec").parse::<u32>().unwrap() > 10);
}

/// Backups are written to `backups` in the catalogue, and everything else is closed to the server.
#[test]
fn the_server_may_write_all_of_its_catalogue() {
    let unit = unit();
    let value = |key: &str| unit.get(&format!("Service.{key}")).map(|value| value.trim()).unwrap_or_default();
    let command = value("ExecStart");
    let catalogue = command.split_whitespace().skip_while(|word| *word != "--catalogue").nth(1).unwrap();
    assert_eq!(catalogue, format!("/var/lib/{}", value("StateDirectory")), "systemd makes it, and opens it");
    for key in ["ReadOnlyPaths", "InaccessiblePaths", "TemporaryFileSystem", "NoExecPaths"] {
        assert!(!value(key).contains(catalogue), "{key}: {}", value(key));
    }
    let instructions = instructions();
    let all = |word: &str| -> Vec<&str> {
        instructions.iter().filter(|(name, _)| name == word).map(|(_, rest)| rest.as_str()).collect()
    };
    let volume = all("VOLUME")[0];
    assert!(all("ENV").iter().any(|line| line.contains(&format!("PINAKES_CATALOGUE={volume}"))));
    let owned = format!("install -d -o pinakes -g pinakes -m 0700 {volume}");
    assert!(all("RUN").iter().any(|line| line.contains(&owned)), "its user owns the volume");
}

#[test]
fn systemd_accepts_the_unit() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("pinakes.service");
    // The program and its user need not exist here; everything else is judged.
    let text = fs::read_to_string(packaging().join("pinakes.service")).unwrap();
    fs::write(&copy, text.replace("/usr/bin/pinakes", "/bin/true").replace("=pinakes\n", "=root\n")).unwrap();
    let Ok(output) = Command::new("systemd-analyze").arg("verify").arg(&copy).output() else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    let about_it: Vec<&str> = said.lines().filter(|line| line.contains("pinakes.service")).collect();
    assert!(about_it.is_empty(), "{said}");
}

/// The instructions of a container file, continued lines joined.
fn instructions() -> Vec<(String, String)> {
    let text = fs::read_to_string(packaging().join("Containerfile")).unwrap().replace("\\\n", " ");
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (word, rest) = line.split_once(' ').unwrap_or_else(|| panic!("no instruction: {line}"));
            (word.to_owned(), rest.trim().to_owned())
        })
        .collect()
}

#[test]
fn the_container_is_built_in_stages_and_run_by_nobody_special() {
    const KNOWN: &[&str] = &[
        "CMD",
        "COPY",
        "ENTRYPOINT",
        "ENV",
        "EXPOSE",
        "FROM",
        "HEALTHCHECK",
        "RUN",
        "STOPSIGNAL",
        "USER",
        "VOLUME",
        "WORKDIR",
    ];
    let instructions = instructions();
    for (word, _) in &instructions {
        assert!(KNOWN.contains(&word.as_str()), "`{word}` is no instruction");
    }
    let all = |word: &str| -> Vec<&str> {
        instructions.iter().filter(|(name, _)| name == word).map(|(_, rest)| rest.as_str()).collect()
    };
    let stages = all("FROM");
    assert_eq!(stages.len(), 2);
    assert!(stages.iter().all(|image| image.contains(':') && !image.contains(":latest")), "{stages:?}");
    let last = instructions.iter().rposition(|(word, _)| word == "FROM").unwrap();
    let copied: Vec<_> = instructions[last..].iter().filter(|(word, _)| word == "COPY").collect();
    assert!(
        copied.iter().all(|(_, what)| what.starts_with("--from=build ")),
        "sources stay in the first stage"
    );
    assert!(all("USER").first().is_some_and(|user| !user.starts_with('0') && !user.starts_with("root")));
    assert_eq!(all("VOLUME"), ["/catalogue"]);
    assert!(all("HEALTHCHECK").first().is_some_and(|check| check.contains("/health")));
    for (word, rest) in &instructions {
        if matches!(word.as_str(), "CMD" | "ENTRYPOINT") {
            let list: Vec<String> =
                serde_json::from_str(rest).expect("a list, so that signals reach the program");
            assert!(!list.is_empty());
        }
    }
}
