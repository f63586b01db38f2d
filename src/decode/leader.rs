//! The leader of a MARC record that was written as text.

use crate::diagnostic::{Code, Diagnostic, RecordLog};
use crate::record::RecordBuilder;

/// Positions of a leader.
const LENGTH: usize = 24;

/// Gives the record its leader, and reports one that is missing or not 24 characters long. In
/// text the lengths and addresses it holds mean nothing, so they are not looked at.
pub(super) fn set(builder: &mut RecordBuilder, leader: &str, diagnostics: &mut RecordLog) {
    let length = leader.chars().count();
    if length == 0 {
        diagnostics.push(Diagnostic::new(Code::BadLeader, "the record has no leader"));
    } else if length != LENGTH {
        diagnostics.push(Diagnostic::new(
            Code::BadLeader,
            format!("the leader has {length} characters, expected {LENGTH}"),
        ));
    }
    match squeezed(leader) {
        Some(leader) => builder.leader(&leader),
        None => builder.leader(leader),
    }
}

/// Indenting an XML file squeezes the blanks of its leaders, ` cam0 22 450 `: status, type and
/// level are known all the same, being the first letters.
fn squeezed(leader: &str) -> Option<String> {
    let rest = leader.trim_start();
    let letters = rest.bytes().take(3).filter(u8::is_ascii_lowercase).count();
    let short = leader.starts_with(' ') && leader.chars().count() < LENGTH;
    (short && letters == 3).then(|| format!("{:<24}", format!("     {}", rest.trim_end())))
}
