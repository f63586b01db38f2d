//! Files that are there whole or not at all, also after a power cut.
//!
//! A file that is written beside its place and renamed survives a kill. A power cut can still take
//! the new name back: names belong to the directory, so the directory is synced as well.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Who may read a file that is made anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Whoever the system's mask lets.
    Usual,
    /// Its owner alone.
    Owner,
}

/// Puts a new content in the place of a file, or makes the file. Whoever reads meanwhile finds the
/// old content or the new one; a link stays a link, and an old file's permissions stay.
pub fn replace(
    file: &Path,
    readers: Readers,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let file: PathBuf = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let part = part_of(&file);
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(true);
    if readers == Readers::Owner {
        options.mode(0o600);
    }
    let new = options.open(&part)?;
    if let Ok(old) = fs::metadata(&file) {
        new.set_permissions(old.permissions())?;
    }
    let mut out = BufWriter::new(new);
    write(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    rename(&part, &file)
}

/// Renames a file or directory for good.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_directory(parent(to))
}

/// Removes a file for good.
pub fn remove_file(file: &Path) -> io::Result<()> {
    fs::remove_file(file)?;
    sync_directory(parent(file))
}

/// Makes the names in a directory last.
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Makes a directory with those above it, and makes their names last.
pub fn create_directory(directory: &Path) -> io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    let above = parent(directory);
    create_directory(above)?;
    match fs::create_dir(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    sync_directory(above)
}

/// Removes a directory with all it holds; that it is not there is as good.
pub fn remove_directory(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// The name under which something is written until it is whole.
pub fn part_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

/// The directory that holds a name, `.` for a bare one.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_is_replaced_whole_and_keeps_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.toml");
        replace(&file, Readers::Owner, |out| out.write_all(b"one")).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        replace(&file, Readers::Usual, |out| out.write_all(b"two")).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read(&file).unwrap(), b"two");
        let failed = replace(&file, Readers::Usual, |out| {
            out.write_all(b"thr")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&file).unwrap(), b"two");
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&file, "one").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        replace(&link, Readers::Usual, |out| out.write_all(b"two")).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"two");
    }

    #[test]
    fn directories_are_made_with_those_above_them() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b/c");
        create_directory(&deep).unwrap();
        create_directory(&deep).unwrap();
        assert!(deep.is_dir());
        remove_directory(&deep).unwrap();
        remove_directory(&deep).unwrap();
    }
}
