//! The server as its clients see it: a real process on a real socket.

#[path = "../support/mod.rs"]
mod support;

mod endpoint;
mod foreign;
mod operation;
mod server;

pub use server::{Answer, Server};
