//! The `pinakes` command.

mod cli;

use std::process::ExitCode;

/// Mapping makes many small strings, and this allocator hands them out twice as fast as the
/// system's (`benches/README.md`). RocksDB uses it as well, see `Cargo.toml`; elsewhere than on Linux
/// both use the system's.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
