//! The server as its clients see it: a real process on a real socket.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../support/mod.rs"]
mod support;

mod browser;
mod crowd;
mod endpoint;
mod federation;
mod foreign;
mod operation;
mod reach;
mod writing;
