//! Decimal digits of all scripts that catalogues have dates in.

/// The zeros that nine further digits follow, in the order of Unicode.
const ZEROS: &[char] = &[
    '0', '٠', '۰', '߀', '०', '০', '੦', '૦', '୦', '௦', '౦', '೦', '൦', '෦', '๐', '໐', '༠', '၀', '០', '᠐', '０',
];

/// The digit as ASCII has it, other characters as they are.
pub(super) fn ascii_digit(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    let before = ZEROS.partition_point(|zero| *zero <= c);
    let zero = before.checked_sub(1).and_then(|at| ZEROS.get(at));
    let value = zero.map(|zero| u32::from(c) - u32::from(*zero));
    value.and_then(|value| char::from_digit(value, 10)).unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_other_scripts_have_the_same_values() {
        for digits in ["1999", "١٩٩٩", "۱۹۹۹", "१९९९", "๑๙๙๙", "１９９９"] {
            assert_eq!(digits.chars().map(ascii_digit).collect::<String>(), "1999");
        }
        assert_eq!("年é²".chars().map(ascii_digit).collect::<String>(), "年é²");
    }

    #[test]
    fn zeros_are_in_order() {
        assert!(ZEROS.is_sorted());
    }
}
