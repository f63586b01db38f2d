//! Ctrl-C: once to finish the page, twice to stop at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What shells expect of a process that was interrupted.
const INTERRUPTED: i32 = 130;

/// Sets the flag at the first interrupt, and ends the process at the second. What is archived
/// by then is kept either way.
pub fn on_interrupt(stop: &Arc<AtomicBool>) {
    let stop = Arc::clone(stop);
    let set = ctrlc::set_handler(move || {
        if stop.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
        super::output::notice("stopping after this page; once more stops at once");
    });
    if let Err(error) = set {
        tracing::warn!(%error, "Ctrl-C will stop at once");
    }
}
