//! What a worker may have of memory, as a limit that the system keeps.
//!
//! The parent looks at a worker's memory every now and then, and a query can take gigabytes in between.
//! So a worker has the system refuse it what is too much (`RLIMIT_DATA`: all writable memory that is
//! no file's). The allocator then ends the process, and its last words ([`has_run_out`]) say why.
//!
//! What counts is what is mapped, not what is used. The parent has the allocator of its workers map
//! memory when it is needed ([`ALLOCATOR`]); by default it maps a gigabyte ahead.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A setting for the environment of a worker: mimalloc makes memory of an arena writable when it is
/// first needed.
pub(super) const ALLOCATOR: (&str, &str) = ("MIMALLOC_ARENA_EAGER_COMMIT", "0");

/// What the store needs beside a query: blocks, indexes of files, the arenas of its threads.
const STORE: u64 = 128 << 20;

/// What Rust and C++ say when they are refused memory.
const LAST_WORDS: [&str; 2] = ["memory allocation of", "std::bad_alloc"];

/// The memory of this process.
pub(super) struct Allowance {
    /// What it needs whatever it is asked: its stack above all.
    needed: u64,
}

impl Allowance {
    /// To be made before the first query, on the thread that answers.
    pub fn new() -> Self {
        Self { needed: mapped() + STORE }
    }

    /// Lets a query have so much from now on.
    pub fn grant(&self, memory: u64) {
        let maximum = getrlimit(Resource::Data).maximum;
        let wanted = self.needed.saturating_add(memory);
        let current = Some(maximum.map_or(wanted, |maximum| maximum.min(wanted)));
        if let Err(error) = setrlimit(Resource::Data, Rlimit { current, maximum }) {
            tracing::warn!("the memory of this process cannot be limited: {error}");
        }
    }

    /// Whether so much is left from earlier queries that another one might miss it. The allocator keeps
    /// what it once mapped.
    pub fn is_used_up(&self, memory: u64) -> bool {
        mapped() > self.needed.saturating_add(memory / 2)
    }
}

/// Lets this process have so much memory beyond what it has, and no more, whatever it does.
pub fn limit_memory(memory: u64) {
    Allowance::new().grant(memory);
}

/// Lets this process have all the memory again that there is for it.
pub fn lift_memory_limit() {
    let maximum = getrlimit(Resource::Data).maximum;
    if let Err(error) = setrlimit(Resource::Data, Rlimit { current: maximum, maximum }) {
        tracing::warn!("the memory of this process cannot be set free: {error}");
    }
}

/// Whether a process ended because it was refused memory, by what it said at its end.
pub(super) fn has_run_out(said: &[u8]) -> bool {
    let said = String::from_utf8_lossy(said);
    LAST_WORDS.iter().any(|words| said.contains(words))
}

/// How much writable memory of its own this process has mapped, in bytes.
fn mapped() -> u64 {
    let statistics = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statistics.split_whitespace().nth(5).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * rustix::param::page_size() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mapped_counts() {
        let before = mapped();
        let held = vec![1_u8; 64 << 20];
        assert!(before > 0 && mapped() > 0, "{}", held.len());
        let allowance = Allowance { needed: 0 };
        assert!(allowance.is_used_up(1) && !allowance.is_used_up(u64::MAX));
    }

    #[test]
    fn last_words_tell_who_ran_out_of_memory() {
        assert!(has_run_out(b"memory allocation of 268435456 bytes failed\n"));
        assert!(has_run_out(b"terminate called after throwing an instance of 'std::bad_alloc'\n"));
        assert!(!has_run_out(b"fatal runtime error: stack overflow, aborting\n"));
    }
}
