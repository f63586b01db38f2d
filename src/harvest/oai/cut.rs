//! Where a record ends, by its tags alone.
//!
//! The same judgement as that of the splitter for files, over bytes that are all at hand: a
//! record whose insides are not well-formed still ends at its end tag, and the start of the
//! next record ends one that was never closed. The record in its `metadata` may have the same
//! name, so those are counted; a record that begins with a `header` is no such record.

use crate::markup::tag::{self, Markup, TagEnd, is_name, name_length};
use memchr::{memchr, memmem};

/// How a record ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// After its end tag.
    Whole(usize),
    /// Never; the next record begins here.
    Unclosed(usize),
    /// Never; the document does.
    Truncated,
}

/// Looks for the end of a record of this name, from after its start tag on.
pub(super) fn record(bytes: &[u8], name: &[u8], from: usize) -> Cut {
    let mut position = from;
    let mut nested = 0_usize;
    // The start tag of an element of the same name, while its first child is not known.
    let mut pending = None;
    loop {
        let Some(found) = memchr(b'<', rest(bytes, position)) else { return Cut::Truncated };
        let at = position + found;
        let after = rest(bytes, at + 1);
        position = at + 1;
        let skipped = match Markup::of(after) {
            Markup::EndTag => {
                position = at + 2;
                pending = None;
                let closes = after.get(1) == name.first() && is_name(rest(bytes, at + 2), name);
                if !closes {
                    continue;
                }
                let Some(end) = memchr(b'>', rest(bytes, at + 2)) else { return Cut::Truncated };
                position = at + 2 + end + 1;
                if nested == 0 {
                    return Cut::Whole(position);
                }
                nested -= 1;
                continue;
            }
            Markup::StartTag => {
                if let Some(pending) = pending.take()
                    && super::walk::local(after.get(..name_length(after)).unwrap_or_default()) == "header"
                {
                    return Cut::Unclosed(pending);
                }
                // Most tags begin with another letter, and then nothing is compared.
                if after.first() == name.first() && is_name(after, name) {
                    match tag::end(after, &mut None) {
                        Some(TagEnd::After(end)) => {
                            position = at + 1 + end;
                            if bytes.get(position - 2) != Some(&b'/') {
                                nested += 1;
                                pending = Some(at);
                            }
                        }
                        Some(TagEnd::Broken(next)) => position = at + 1 + next,
                        None => return Cut::Truncated,
                    }
                }
                continue;
            }
            Markup::Comment => (b"-->".as_slice(), 4),
            Markup::CData => (b"]]>".as_slice(), 9),
            Markup::Instruction => (b"?>".as_slice(), 2),
            Markup::Declaration | Markup::Text => continue,
        };
        let (needle, skip) = skipped;
        let Some(found) = memmem::find(rest(bytes, at + skip), needle) else { return Cut::Truncated };
        position = at + skip + found + needle.len();
    }
}

#[inline]
fn rest(bytes: &[u8], position: usize) -> &[u8] {
    bytes.get(position..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Cut) {
        assert_eq!(record(text.as_bytes(), b"record", 8), expected, "{text}");
    }

    #[test]
    fn a_record_ends_at_its_end_tag_whatever_is_inside() {
        check("<record><a></b> & 1 < 2 </record >x", Cut::Whole(34));
        check("<record><records/></record>", Cut::Whole(27));
        check("<record><!-- </record> --><![CDATA[</record>]]><?a </record>?></record>", Cut::Whole(71));
    }

    #[test]
    fn the_record_in_the_metadata_is_counted() {
        check("<record><header/><metadata><record><leader/></record></metadata></record>", Cut::Whole(73));
        check("<record><about><record/></about></record>", Cut::Whole(41));
    }

    #[test]
    fn the_next_record_ends_an_unclosed_one() {
        check("<record><header/><metadata><record><o:header/></record>", Cut::Unclosed(27));
    }

    #[test]
    fn a_document_may_end_anywhere() {
        let whole = "<record><!--c--><record a='b'><x/></record><![CDATA[d]]></record>";
        for length in 8..whole.len() {
            check(whole.get(..length).unwrap(), Cut::Truncated);
        }
        check(whole, Cut::Whole(whole.len()));
    }
}
