//! The leader of a MARC record that was written as text.

use crate::diagnostic::{Code, Diagnostic};
use crate::record::RecordBuilder;

/// Positions of a leader.
const LENGTH: usize = 24;

/// Gives the record its leader, and reports one that is missing or not 24 characters long. In
/// text the lengths and addresses it holds mean nothing, so they are not looked at.
pub(super) fn set(builder: &mut RecordBuilder, leader: &str, diagnostics: &mut Vec<Diagnostic>) {
    let length = leader.chars().count();
    if length == 0 {
        diagnostics.push(Diagnostic::new(Code::BadLeader, "the record has no leader"));
    } else if length != LENGTH {
        diagnostics.push(Diagnostic::new(
            Code::BadLeader,
            format!("the leader has {length} characters, expected {LENGTH}"),
        ));
    }
    builder.leader(leader);
}
