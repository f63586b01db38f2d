//! Fetching records from where others keep them.
//!
//! A harvester is a machine over a [`Transport`]: one step asks for something and gives back
//! what came, cut into records, together with the state to go on from. It decides nothing
//! about what a record means, and does not keep anything: `pipeline` archives each page with
//! its state before it asks for the next, so a kill costs one page.
//!
//! [`oai`] speaks OAI-PMH; web pages, feeds and sitemaps are to come beside it. [`probe()`]
//! looks at a URL and proposes which of them fits.
//!
//! **Invariant:** everything goes through the [`Transport`]; no address is followed that a
//! record or an answer names.
#![warn(clippy::indexing_slicing)]

pub mod oai;
mod probe;

pub use crate::fetch::{Answer, Fault, FaultKind, Transport};
pub use probe::{Amount, Complexity, Proposal, Repository, Technique, probe};
