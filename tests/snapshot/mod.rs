//! Expected output in files: compared, or written anew when `UPDATE_GOLDEN` is set.
//!
//! The suites hand over what they found; a person reads the diff before it is committed.

use std::fs;
use std::path::Path;

/// What differs between a file and what it should hold, or nothing.
pub fn difference(file: &Path, found: &str) -> Option<String> {
    let expected = fs::read_to_string(file).unwrap_or_default();
    if expected == found {
        return None;
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(file, found).unwrap();
        return None;
    }
    let (mut expected, mut found) = (expected.lines(), found.lines());
    let mut number = 0;
    loop {
        number += 1;
        let (left, right) = (expected.next(), found.next());
        if left != right || left.is_none() {
            return Some(format!(
                "{}:{number}\n  expected {}\n  found    {}",
                file.display(),
                left.unwrap_or("the end"),
                right.unwrap_or("the end")
            ));
        }
    }
}

/// Fails with all differences at once.
#[track_caller]
pub fn check_none(differences: &[String]) {
    assert!(
        differences.is_empty(),
        "\n{}\n\nread them, then run again with UPDATE_GOLDEN=1 if they are right",
        differences.join("\n")
    );
}
