//! The functions of texts that rules may call, one word of the language to a file.
//!
//! Each is pure: a text in, a text out or nothing, where nothing leaves a rule's variable
//! unbound. They run for every value of every record, so they borrow what they can and never
//! report: what a rule made of a value is for the rule's own diagnostics. Functions that need
//! the record or a code list are not here.

mod calendar;
mod digit;
mod doi;
mod edtf;
mod edtf_coded;
mod iri;
mod isbd;
mod isbn;
mod isni;
mod issn;
mod key;
mod lccn;
mod letter;
mod mark;
mod name;
mod nonfiling;
mod nonsorting;
mod oclc;
mod orcid;
mod roman;
mod script;
mod sortkey;
mod transcribed;
mod year;

pub use doi::doi;
pub use edtf::edtf;
pub use edtf_coded::{edtf_coded, edtf_unimarc};
pub use iri::iri;
pub use isbd::isbd;
pub use isbn::isbn;
pub use isni::isni;
pub use issn::issn;
pub use key::{instance_key, with_publication, work_key};
pub use lccn::lccn;
pub use mark::{mark, stripmark};
pub use name::{direct, inverted};
pub use nonfiling::nonfiling;
pub use nonsorting::{nonsorting, sorting};
pub use oclc::oclc;
pub use orcid::orcid;
pub use script::script;
pub use sortkey::sortkey;
pub use year::year;
