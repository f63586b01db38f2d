//! Lists the files under `mappings/`, so that the binary holds them all without naming each.

#![allow(clippy::expect_used, reason = "a build fails by panicking")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("mappings");
    let mut files = Vec::new();
    gather(&root, &mut files);
    files.sort();
    let mut text = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&root).expect("below the root").display().to_string().replace('\\', "/");
        writeln!(text, "    ({name:?}, include_str!({:?})),", file.display().to_string()).expect("a string");
    }
    text.push_str("]\n");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("mappings.rs");
    fs::write(out, text).expect("the build directory can be written");
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder).expect("mappings can be read") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            // What makes two records one is no concordance, and is read by whoever resolves.
            if !path.ends_with("resolve") {
                gather(&path, files);
            }
        } else if path.extension().is_some_and(|ending| ending == "toml" || ending == "tsv" || ending == "rq")
        {
            println!("cargo::rerun-if-changed={}", path.display());
            files.push(path);
        }
    }
}
