//! Pinakes: a semantic catalogue engine.
//!
//! Nouns are what stages hand to each other, verbs are the stages; `ARCHITECTURE.md` tells one
//! record's journey through them.

pub mod archive;
pub mod catalogue;
pub mod concordance;
pub mod config;
pub mod decode;
pub mod diagnostic;
pub mod disk;
pub mod effort;
pub mod fetch;
pub mod harvest;
pub mod index;
pub mod map;
pub mod markup;
pub mod ontology;
pub mod pipeline;
pub mod publish;
pub mod record;
pub mod serve;
pub mod sort;
pub mod source;
pub mod statements;

pub use pinakes_resolve as resolve;
