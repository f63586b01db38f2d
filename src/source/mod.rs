//! Sources: where records come from, and what is known of each place.
//!
//! A [`Source`] is what a person wrote about it: the seven columns of the table of sources,
//! subjects with relevance, and how it wants to be asked. The [`Registry`] reads all of them
//! from a catalogue's directory and says everything that is wrong, field by field; a [`Draft`]
//! writes them back. [`mirror`] says the same in RDF. [`PROFILES`] are descriptions to begin
//! with.
//!
//! The technique alone decides who harvests a source ([`Source::harvester`]); this module does
//! not harvest and opens no connection. It holds no secret either: credentials are names of
//! environment variables.

mod access;
mod columns;
mod complexity;
mod descriptor;
mod draft;
mod fault;
mod fields;
mod key;
pub mod mirror;
mod order;
mod profiles;
mod read;
mod registry;
mod secret;
mod section;
mod technique;

pub use access::{Access, Credentials, FieldValue, Form, Login, Retries};
pub use columns::{COLUMNS, Cell};
pub use complexity::Complexity;
pub use descriptor::{
    Amount, Duplicates, Files, Granularity, Oai, OaiVerb, Place, Schedule, Source, Subject,
};
pub use draft::{Draft, Refusal};
pub use fields::{FIELDS, Field};
pub use key::{check_key, check_registered_key};
pub use profiles::{PROFILES, profile};
pub use registry::{Registry, SourceError};
pub use technique::{Harvester, NoHarvester, Technique};

#[cfg(test)]
mod tests;
