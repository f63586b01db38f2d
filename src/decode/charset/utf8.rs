//! Reads UTF-8 that may be broken in places.
//!
//! Valid input costs one check and one copy. Each maximal invalid sequence becomes one U+FFFD, the
//! practice that the Unicode Standard recommends (chapter 3, "U+FFFD substitution of maximal
//! subparts").

use super::{Fault, FaultKind, Faults};

pub(super) fn decode(bytes: &[u8], out: &mut String, faults: &mut Faults) {
    if let Ok(text) = str::from_utf8(bytes) {
        out.push_str(text);
        return;
    }
    out.reserve(bytes.len());
    let mut offset = 0;
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        offset += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            out.push(char::REPLACEMENT_CHARACTER);
            faults.push(Fault { offset, kind: FaultKind::InvalidSequence });
            offset += chunk.invalid().len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (String, Vec<usize>) {
        let (mut out, mut faults) = (String::new(), Faults::default());
        decode(bytes, &mut out, &mut faults);
        assert!(faults.iter().all(|fault| fault.kind == FaultKind::InvalidSequence));
        (out, faults.iter().map(|fault| fault.offset).collect())
    }

    #[test]
    fn valid_text_is_copied() {
        assert_eq!(read("Ελύτης, Οδυσσέας".as_bytes()), ("Ελύτης, Οδυσσέας".into(), vec![]));
    }

    #[test]
    fn each_invalid_sequence_is_one_replacement_and_one_fault() {
        assert_eq!(read(b"a\xff\xc3b\xe4\xb8"), ("a\u{fffd}\u{fffd}b\u{fffd}".into(), vec![1, 2, 4]));
    }

    #[test]
    fn text_around_a_broken_byte_survives() {
        assert_eq!(read(b"\xc3\xa9t\xe9 \xc3\xa0"), ("ét\u{fffd} à".into(), vec![3]));
    }
}
