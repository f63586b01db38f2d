//! A copy of the catalogue, made by a command like any other: it reads beside the server, and waits
//! for writers. A client that hangs up ends it.

use crate::config::Home;
use crate::serve::Refusal;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::spawn_blocking;

/// When to come back, in seconds, after a copy failed.
const RETRY_AFTER: u32 = 10;
/// Upper bound on what is read of the command's complaint.
const COMPLAINT: u64 = 64 * 1024;

/// Copies a catalogue into its own folder for copies, the one place that a server surely may write
/// to; says where. When the future is dropped, the command is killed
/// and what it has copied is removed.
pub(super) async fn back_up(program: &Path, directory: &Path) -> Result<String, Refusal> {
    let failed = |error: io::Error| Refusal::Io(error.to_string());
    let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S%.3fZ");
    let place = directory.join(Home::BACKUPS).join(time.to_string());
    let mut command = Command::new(program);
    command.arg("--catalogue").arg(directory).args(["backup", "--quiet"]).arg(&place);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let (running, complaint) = Running::start(command).map_err(failed)?;
    let child = Arc::clone(&running.child);
    let copied = spawn_blocking({
        let place = place.clone();
        move || end(&child, complaint, &place)
    });
    match copied.await.map_err(|error| Refusal::Io(error.to_string()))?.map_err(failed)? {
        None => Ok(place.display().to_string()),
        Some(message) => Err(Refusal::Unavailable { message, retry_after: RETRY_AFTER }),
    }
}

/// A command that is killed when nobody waits for it any more.
struct Running {
    child: Arc<Mutex<Child>>,
}

impl Running {
    fn start(mut command: Command) -> io::Result<(Self, Option<ChildStderr>)> {
        let mut child = command.spawn()?;
        let complaint = child.stderr.take();
        Ok((Self { child: Arc::new(Mutex::new(child)) }, complaint))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended is not there to be killed.
        let _ = self.child.lock().unwrap_or_else(PoisonError::into_inner).kill();
    }
}

/// Waits until the command ends; says what it complained about.
fn end(child: &Mutex<Child>, complaint: Option<ChildStderr>, place: &Path) -> io::Result<Option<String>> {
    let mut said = String::new();
    if let Some(complaint) = complaint {
        let mut complaint = complaint.take(COMPLAINT);
        let _ = complaint.read_to_string(&mut said);
        // Its end is that of the command, which must not wait for somebody to read.
        let _ = io::copy(&mut complaint.into_inner(), &mut io::sink());
    }
    let status = child.lock().unwrap_or_else(PoisonError::into_inner).wait()?;
    if status.success() {
        return Ok(None);
    }
    let mut part = place.as_os_str().to_owned();
    part.push(".part");
    let _ = std::fs::remove_dir_all(PathBuf::from(part));
    let said = said.trim();
    Ok(Some(if said.is_empty() { format!("the copying ended with {status}") } else { said.to_owned() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use tempfile::TempDir;

    /// A program that makes a part of a copy, says so, and does not end.
    const ENDLESS: &str = "#!/bin/sh\nmkdir \"$5.part\"\necho $$ > \"$2/pid\"\nexec sleep 100000\n";

    fn program(folder: &TempDir, text: &str) -> PathBuf {
        let path = folder.path().join("program");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[tokio::test]
    async fn a_copy_that_nobody_waits_for_ends_and_leaves_nothing() {
        let folder = TempDir::new().unwrap();
        let catalogue = folder.path().join("c");
        std::fs::create_dir(&catalogue).unwrap();
        let program = program(&folder, ENDLESS);
        let pid = catalogue.join("pid");
        let begun = async {
            loop {
                match std::fs::read_to_string(&pid).ok().and_then(|text| text.trim().parse::<u32>().ok()) {
                    Some(process) => return process,
                    None => tokio::task::yield_now().await,
                }
            }
        };
        let process = tokio::select! {
            _ = back_up(&program, &catalogue) => panic!("it does not end"),
            process = begun => process,
        };
        let rest = || std::fs::read_dir(folder.path()).unwrap().count();
        while Path::new(&format!("/proc/{process}")).exists() || rest() > 2 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn what_the_command_complains_about_is_passed_on() {
        let folder = TempDir::new().unwrap();
        let program = program(&folder, "#!/bin/sh\necho 'the disk is full' >&2\nexit 2\n");
        let refused = back_up(&program, &folder.path().join("c")).await;
        let message = "the disk is full".to_owned();
        assert_eq!(refused, Err(Refusal::Unavailable { message, retry_after: RETRY_AFTER }));
    }
}
