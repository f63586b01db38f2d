//! Years in Roman numerals, as title pages have them.

/// The value of a word, nothing if it is no numeral.
///
/// Printers wrote `MDCCCCLXXX` as well as `MCMLXXX`, so a numeral may repeat, but only the six
/// usual pairs subtract: `MILD` and `MIX` with a wrong letter are words.
pub(super) fn roman(word: &str) -> Option<u32> {
    let mut total = 0;
    let mut last = u32::MAX;
    let mut numerals = word.chars().map(value).peekable();
    while let Some(numeral) = numerals.next() {
        let mut numeral = numeral?;
        if let Some(Some(next)) = numerals.peek().copied()
            && next > numeral
        {
            if next != numeral * 5 && next != numeral * 10 || matches!(numeral, 5 | 50 | 500) {
                return None;
            }
            numerals.next();
            numeral = next - numeral;
        }
        if numeral > last {
            return None;
        }
        last = numeral;
        total += numeral;
    }
    (total > 0).then_some(total)
}

fn value(numeral: char) -> Option<u32> {
    Some(match numeral.to_ascii_uppercase() {
        'M' => 1000,
        'D' => 500,
        'C' => 100,
        'L' => 50,
        'X' => 10,
        'V' => 5,
        'I' => 1,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numerals_have_values() {
        let cases =
            [("MCMXCIX", 1999), ("mdccliv", 1754), ("MDCCCCX", 1910), ("MCCCCCX", 1510), ("MMXX", 2020)];
        for (word, year) in cases {
            assert_eq!(roman(word), Some(year), "of {word}");
        }
    }

    #[test]
    fn words_are_no_numerals() {
        for word in ["MILD", "CIVIL", "VIVID", "IM", "VX", "IXM", "1999", ""] {
            assert_eq!(roman(word), None, "of {word}");
        }
    }
}
