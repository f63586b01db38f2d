//! How much XML is too much. Real catalogue data stays far below every one of these.

/// Elements inside each other.
pub const DEPTH: usize = 256;

/// Attributes of one element.
pub const ATTRIBUTES: usize = 256;

/// Namespace declarations of one element.
pub const DECLARATIONS: usize = 64;

/// Namespace declarations in force at one place.
pub const BINDINGS: usize = 256;

/// Bytes of all namespace declarations around a record. They are written into every record
/// that is cut out, so a large scope would make a small document into a very large archive.
pub const SCOPE: usize = 8 * 1024;

/// Bytes of one tag.
pub const TAG: usize = 1024 * 1024;

/// Bytes of an element's name.
pub const NAME: usize = 4 * 1024;
