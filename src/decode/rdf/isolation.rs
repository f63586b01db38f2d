//! A thread of its own for each parser that others wrote.
//!
//! Its stack is large enough for the deepest document that the guards let pass, whatever thread
//! asks; and a parser that panics refuses its document and ends nothing else.

use std::io;

/// The parser of JSON-LD takes some kilobytes for each object within another, and one for each
/// term of a chain: 8 MiB for the worst that passes.
const STACK: usize = 64 * 1024 * 1024;

/// Why some work gave no result.
#[derive(Debug)]
pub(super) enum Lost {
    /// It panicked.
    Panicked,
    /// There is no thread to be had.
    World(io::Error),
}

/// Runs something on a thread of its own, and waits for it.
pub(super) fn run<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Lost> {
    std::thread::scope(|scope| {
        let parser = std::thread::Builder::new().name("rdf".to_owned()).stack_size(STACK);
        let running = parser.spawn_scoped(scope, work).map_err(Lost::World)?;
        running.join().map_err(|_| Lost::Panicked)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_result() {
        assert!(matches!(run(|| 1), Ok(1)));
        let lost = run(|| std::panic::resume_unwind(Box::new(())));
        assert!(matches!(lost, Err::<(), _>(Lost::Panicked)));
    }
}
