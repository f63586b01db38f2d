//! Which days there are.

/// Whether a month has this day, by the Gregorian calendar; EDTF has no other.
pub(super) fn is_day(year: u32, month: u32, day: u32) -> bool {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_have_their_days() {
        for (year, month, day) in [(1999, 1, 31), (1999, 4, 30), (1996, 2, 29), (2000, 2, 29)] {
            assert!(is_day(year, month, day));
        }
        for (year, month, day) in [(1999, 1, 32), (1999, 4, 31), (1999, 2, 29), (1900, 2, 29), (1999, 13, 1)]
        {
            assert!(!is_day(year, month, day));
        }
    }
}
