//! Finding the cases of a suite: folders with one `input.*` each.

use std::fs;
use std::path::{Path, PathBuf};

/// The files and folders of a folder, in the order of their names.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    found.sort();
    found
}

/// The one file of a case that is called `input`, whatever its ending.
pub fn input(case: &Path) -> PathBuf {
    let is_input = |path: &PathBuf| name(path).starts_with("input.");
    let mut inputs = entries(case).into_iter().filter(is_input);
    let input = inputs.next().unwrap_or_else(|| panic!("{} has no input", case.display()));
    assert!(inputs.next().is_none(), "{} has two inputs", case.display());
    input
}

/// The name of a file or folder without the way to it.
pub fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
