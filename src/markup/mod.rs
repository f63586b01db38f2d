//! XML from the outside: its characters, its tags, the namespaces around a place.
//!
//! Two stages cut records out of XML that others wrote: `decode` out of files of any size,
//! `harvest` out of the answers of a server. A record must come out byte for byte the same
//! either way, so what that depends on stands here once. Nothing in here knows what an element
//! means, and nothing is ever expanded, included or followed.
#![warn(clippy::indexing_slicing)]

mod character;
mod encoding;
pub mod limits;
mod reference;
mod repair;
mod scope;
pub mod tag;

pub use character::{REPLACEMENT, Replacing, is_forbidden, replaced};
pub use encoding::{Utf8Reader, in_utf8};
pub use reference::Reference;
pub use repair::repair;
pub use scope::Scope;

use crate::diagnostic::{Code, Diagnostic};

/// Why a record or a document is not taken. Boxed, because it is rare and large.
pub type Refusal = Box<Diagnostic>;

pub fn refuse<T>(code: Code, message: impl Into<String>) -> Result<T, Refusal> {
    Err(Box::new(Diagnostic::new(code, message)))
}

/// What is said of an element beyond [`limits::ATTRIBUTES`].
pub fn too_many_attributes() -> String {
    format!("an element has more than {} attributes", limits::ATTRIBUTES)
}
