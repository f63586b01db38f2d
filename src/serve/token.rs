//! Tokens: 256 random bits, shown once and kept as a hash.
//!
//! A token is written `pin_` and 43 characters of base64url, so that scanners for leaked secrets
//! can know it. What is random in full needs no slow hash: SHA-256 is enough. The file is
//! `<catalogue>/tokens.toml`, readable by its owner alone, replaced by renaming; a server reads it
//! again when it changed, so a revoked token ends with the next request.

use super::access::Role;
use crate::disk::{self, Readers};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use subtle::ConstantTimeEq;

/// What every token begins with.
pub const PREFIX: &str = "pin_";
/// The name of the file in a catalogue.
pub const FILE: &str = "tokens.toml";
const RANDOM_BYTES: usize = 32;
const ENCODED: usize = 43;

/// What is kept of a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// What it is called by: short, and no secret.
    pub id: String,
    pub role: Role,
    /// What it is for, in the words of whoever made it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// The one source whose graphs it may write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// When it was made, as written by whoever made it.
    pub created: String,
    /// SHA-256 of the token, in hexadecimal.
    pub hash: String,
}

/// What a new token is to be.
#[derive(Debug, Clone)]
pub struct New {
    pub role: Role,
    pub label: String,
    pub source: Option<String>,
    pub created: String,
}

/// A token itself. It has no `Debug` and is not kept: show it once.
pub struct Secret(String);

impl Secret {
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// Why tokens could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    #[error("cannot read or write `{}`", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{}` is not a list of tokens: {message}", path.display())]
    Malformed { path: PathBuf, message: String },
    #[error("the system gives no random numbers")]
    NoRandomness,
    #[error("no token is called `{0}`; `pinakes token list` shows what there is")]
    Unknown(String),
    #[error("only a writer can be bound to a source")]
    SourceWithoutWriter,
    #[error("anonymous is who has no token; choose reader, writer or admin")]
    NotARole,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    #[serde(default)]
    token: Vec<Known>,
}

/// The tokens of a file; none if there is no file.
pub fn list(file: &Path) -> Result<Vec<Known>, TokenError> {
    match std::fs::read_to_string(file) {
        Ok(text) => {
            let contents: Contents = toml::from_str(&text).map_err(|error| TokenError::Malformed {
                path: file.to_owned(),
                message: error.message().to_owned(),
            })?;
            Ok(contents.token)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(TokenError::File { path: file.to_owned(), source }),
    }
}

/// Makes a token and adds it to the file.
pub fn create(file: &Path, new: New) -> Result<(Secret, Known), TokenError> {
    if new.role == Role::Anonymous {
        return Err(TokenError::NotARole);
    }
    if new.source.is_some() && new.role != Role::Writer {
        return Err(TokenError::SourceWithoutWriter);
    }
    let mut random = [0; RANDOM_BYTES + 4];
    SystemRandom::new().fill(&mut random).map_err(|_| TokenError::NoRandomness)?;
    let (secret, id) = random.split_at(RANDOM_BYTES);
    let secret = Secret(format!("{PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(secret)));
    let known = Known {
        id: hex(id),
        role: new.role,
        label: new.label,
        source: new.source,
        created: new.created,
        hash: hex(&hash(&secret.0)),
    };
    let added = known.clone();
    change(file, |tokens| {
        tokens.push(added);
        Ok(())
    })?;
    Ok((secret, known))
}

/// Takes a token out of the file.
pub fn revoke(file: &Path, id: &str) -> Result<Known, TokenError> {
    let mut removed = None;
    change(file, |tokens| {
        let at = tokens.iter().position(|known| known.id == id);
        let at = at.ok_or_else(|| TokenError::Unknown(id.to_owned()))?;
        removed = Some(tokens.remove(at));
        Ok(())
    })?;
    removed.ok_or_else(|| TokenError::Unknown(id.to_owned()))
}

/// Whether a text is written as a token is.
pub fn looks_like_one(text: &str) -> bool {
    text.strip_prefix(PREFIX).is_some_and(|rest| {
        rest.len() == ENCODED && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
    })
}

fn change(
    file: &Path,
    edit: impl FnOnce(&mut Vec<Known>) -> Result<(), TokenError>,
) -> Result<(), TokenError> {
    let failed = |source| TokenError::File { path: file.to_owned(), source };
    // Two commands at once must not lose each other's token.
    let lock = private(&file.with_extension("lock")).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let mut contents = Contents { token: list(file)? };
    edit(&mut contents.token)?;
    let text = toml::to_string(&contents).map_err(|error| failed(io::Error::other(error)))?;
    disk::replace(file, Readers::Owner, |out| out.write_all(text.as_bytes())).map_err(failed)
}

/// Opens a file that its owner alone may read.
fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).write(true).truncate(false).mode(0o600).open(path)
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The tokens of a file, read again when it changes.
pub struct Tokens {
    file: PathBuf,
    read: Mutex<Option<Read>>,
}

#[derive(Clone)]
struct Read {
    seen: Seen,
    tokens: Arc<Vec<Known>>,
}

/// By what a changed file is known. A renamed file is another one.
type Seen = (u64, u64, i64, i64);

impl Tokens {
    pub fn new(file: PathBuf) -> Self {
        Self { file, read: Mutex::new(None) }
    }

    /// The token that this is, if it is one of ours.
    pub fn find(&self, token: &str) -> Option<Known> {
        if !looks_like_one(token) {
            return None;
        }
        let given = hex(&hash(token));
        let tokens = self.current();
        let mut found = None;
        // Every one is compared, all of it: the time tells nothing.
        for known in tokens.iter() {
            if bool::from(known.hash.as_bytes().ct_eq(given.as_bytes())) {
                found = Some(known);
            }
        }
        found.cloned()
    }

    fn current(&self) -> Arc<Vec<Known>> {
        let seen = std::fs::metadata(&self.file)
            .map(|data| (data.ino(), data.len(), data.mtime(), data.mtime_nsec()))
            .unwrap_or_default();
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        match &*read {
            Some(last) if last.seen == seen => Arc::clone(&last.tokens),
            _ => {
                // Nobody gets in by a file that cannot be read.
                let tokens = list(&self.file).unwrap_or_else(|error| {
                    tracing::error!(%error, "no token is accepted");
                    Vec::new()
                });
                let tokens = Arc::new(tokens);
                *read = Some(Read { seen, tokens: Arc::clone(&tokens) });
                tokens
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn new(role: Role) -> New {
        New { role, label: "a test".to_owned(), source: None, created: "2026-01-01T00:00:00Z".to_owned() }
    }

    #[test]
    fn a_token_is_found_until_it_is_revoked() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(FILE);
        let tokens = Tokens::new(file.clone());
        assert_eq!(tokens.find("pin_"), None);
        let (first, known) = create(&file, new(Role::Writer)).expect("a token");
        let (second, _) = create(&file, new(Role::Reader)).expect("a token");
        assert!(looks_like_one(first.reveal()));
        assert_ne!(first.reveal(), second.reveal());
        assert_eq!(tokens.find(first.reveal()).map(|known| known.role), Some(Role::Writer));
        assert_eq!(tokens.find(second.reveal()).map(|known| known.role), Some(Role::Reader));
        revoke(&file, &known.id).expect("revoked");
        assert_eq!(tokens.find(first.reveal()), None);
        assert_eq!(tokens.find(second.reveal()).map(|known| known.role), Some(Role::Reader));
        assert!(matches!(revoke(&file, &known.id), Err(TokenError::Unknown(_))));
    }

    #[test]
    fn the_file_holds_no_token_and_is_its_owners_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(FILE);
        let (secret, known) = create(&file, new(Role::Admin)).expect("a token");
        let text = std::fs::read_to_string(&file).expect("a file");
        assert!(!text.contains(secret.reveal()) && !text.contains(&secret.reveal()[PREFIX.len()..]));
        assert!(text.contains(&known.hash));
        assert_eq!(file.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
        assert_eq!(list(&file).expect("tokens"), [known]);
    }

    #[test]
    fn nobody_gets_in_by_a_broken_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(FILE);
        let (secret, _) = create(&file, new(Role::Admin)).expect("a token");
        let tokens = Tokens::new(file.clone());
        assert!(tokens.find(secret.reveal()).is_some());
        std::fs::write(&file, "[[token]]\nrole = \"admin\"\n").expect("written");
        assert!(tokens.find(secret.reveal()).is_none());
        assert!(create(&file, new(Role::Admin)).is_err(), "a broken file is not overwritten");
    }

    #[test]
    fn tokens_made_at_once_are_all_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(FILE);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| create(&file, new(Role::Reader)).expect("a token"));
            }
        });
        assert_eq!(list(&file).expect("tokens").len(), 8);
    }

    #[test]
    fn only_a_writer_has_a_source() {
        let file = Path::new("never-written.toml");
        let asked = New { source: Some("loc".to_owned()), ..new(Role::Reader) };
        assert!(matches!(create(file, asked), Err(TokenError::SourceWithoutWriter)));
        assert!(matches!(create(file, new(Role::Anonymous)), Err(TokenError::NotARole)));
    }
}
