//! What to do about an error that stopped a command, where more is known than its message says.

use super::{General, output};
use pinakes::config::LockError;
use pinakes::pipeline::PipelineError;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Files and folders of a catalogue that are looked at to find the one that may not be opened.
const LOOKED_AT: usize = 10_000;

/// One thing to do next, if there is one to be said.
pub(super) fn advice(error: &anyhow::Error, general: &General) -> Option<String> {
    if error.chain().any(is_busy) {
        return Some(format!(
            "this command waited {} for it; `--wait SECONDS` waits longer",
            output::count(general.wait, "second")
        ));
    }
    let said = format!("{error:#}");
    // A message that names a file says enough.
    if said.contains('`') || !said.contains("Permission denied") {
        return None;
    }
    let closed = closed(&general.catalogue)?;
    Some(format!(
        "this user may not open `{}`; give them the right to read and write what is in the catalogue",
        closed.display()
    ))
}

fn is_busy(cause: &(dyn std::error::Error + 'static)) -> bool {
    // A transparent error hides the one it carries from the chain of causes.
    let lock = match cause.downcast_ref::<PipelineError>() {
        Some(PipelineError::Lock(lock)) => Some(lock),
        _ => cause.downcast_ref::<LockError>(),
    };
    matches!(lock, Some(LockError::Writing(_) | LockError::Reading))
}

/// The first file or folder in a folder that may not be opened: to be read, else to be written.
fn closed(folder: &Path) -> Option<PathBuf> {
    let mut unwritable = None;
    let mut waiting = vec![folder.to_owned()];
    let mut looked_at = 0;
    while let Some(path) = waiting.pop() {
        looked_at += 1;
        if looked_at > LOOKED_AT {
            break;
        }
        let denied = |error: &std::io::Error| error.kind() == ErrorKind::PermissionDenied;
        if !path.is_dir() {
            if std::fs::File::open(&path).is_err_and(|error| denied(&error)) {
                return Some(path);
            }
            if std::fs::OpenOptions::new().append(true).open(&path).is_err_and(|error| denied(&error)) {
                unwritable.get_or_insert(path);
            }
            continue;
        }
        match std::fs::read_dir(&path) {
            Err(error) if denied(&error) => return Some(path),
            Err(_) => continue,
            Ok(entries) => {
                let mut inside: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
                // The last is looked at next, so that the order is that of the names.
                inside.sort_by(|left, right| right.cmp(left));
                waiting.extend(inside);
            }
        }
        if tempfile::tempfile_in(&path).is_err_and(|error| denied(&error)) {
            unwritable.get_or_insert(path);
        }
    }
    unwritable
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// Whoever may do everything is denied nothing, and there is nothing to find.
    #[test]
    fn the_file_that_may_not_be_opened_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let (shut, inner) = (folder.path().join("b/shut"), folder.path().join("a"));
        std::fs::create_dir_all(folder.path().join("b")).unwrap();
        std::fs::create_dir_all(&inner).unwrap();
        assert_eq!(closed(folder.path()), None);
        std::fs::write(&shut, "x").unwrap();
        std::fs::set_permissions(&shut, std::fs::Permissions::from_mode(0o000)).unwrap();
        let expected = std::fs::File::open(&shut).is_err().then(|| shut.clone());
        assert_eq!(closed(folder.path()), expected);
        std::fs::set_permissions(&shut, std::fs::Permissions::from_mode(0o400)).unwrap();
        let expected = std::fs::OpenOptions::new().append(true).open(&shut).is_err().then(|| shut.clone());
        assert_eq!(closed(folder.path()), expected);
    }
}
