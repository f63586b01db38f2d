//! OAI-PMH 2.0: the protocol as a machine over a [`Transport`](super::Transport).
//!
//! | file | question |
//! |---|---|
//! | `plan` | what does somebody want of a repository |
//! | `state` | where is the harvest, in what must survive a kill |
//! | `harvest` | what is to be done next |
//! | `recover` | and when that fails |
//! | `ask` | what is wrong with an answer |
//! | `request` | how is something asked for |
//! | `response` | what does an answer hold (`walk`, `cut`, `header`: its parts) |
//! | `formats`, `sets` | which metadata format is the best, and what is there beside |
//! | `memory` | what need not survive a kill |
//! | `stamp` | which moment is that |
//!
//! A harvest follows the repository's own clock: the next run asks from the `responseDate` of
//! the first answer of the last complete run, that granule included. Records that became
//! visible in it after it was listed come then, and what did not change is known by its payload.
//!
//! **Invariant:** no archive, no store, no clock, no printing. A step is a function of the
//! plan, the state and the answers.
//! **Invariant:** linear in what comes in, and memory does not grow with the repository.
//! **Invariant:** half a record never comes out, and one that does not come out is reported.

mod ask;
mod cut;
mod error;
mod formats;
mod harvest;
mod header;
mod memory;
mod plan;
mod recover;
mod request;
mod response;
mod sets;
mod stamp;
mod state;
mod walk;

pub use error::HarvestError;
pub use formats::{Choice, choose, model};
pub use harvest::{Done, Failure, Harvest, Page, Progress, Step};
pub use header::Header;
pub use plan::{Limits, Plan};
pub use request::{Request, Verb, Window};
pub use response::{
    DeletedRecords, Identify, MetadataFormat, OaiError, PAGE_LIMIT, Record, Reject, Response,
    ResumptionToken, Set, TOKEN_LIMIT, Unreadable,
};
pub use sets::{Sets, list_sets};
pub use stamp::{Granularity, Stamp};
pub use state::{Asked, List, Order, Owed, Run, State, Tally, Task, Wanted};

use crate::record::Format;

/// The format of all payloads: whatever the metadata, the record is an OAI-PMH one, and its
/// decoder looks inside. A response that is imported from a file is kept under the same name.
pub const FORMAT: Format = Format::OaiDc;
