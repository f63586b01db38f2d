//! The levels of a pair, packed into one number.
//!
//! A comparison takes as many bits as its levels need, so equal outcomes are equal numbers and are
//! counted rather than kept.

use serde::{Deserialize, Serialize};

/// Levels of all comparisons of a pair, each in its [`Slot`].
pub type Vector = u128;

/// Where vectors have the level of one comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    pub(crate) shift: u8,
    pub(crate) mask: u8,
}

impl Slot {
    /// A slot for so many levels and for "missing", behind those that take up `shift` bits; and the
    /// bits taken up then. `None`: a vector has no room for it.
    pub fn behind(shift: u32, levels: usize) -> Option<(Self, u32)> {
        let bits = usize::BITS - levels.leading_zeros();
        let after = shift + bits;
        let mask = u8::try_from((1_u32 << bits.min(16)) - 1).ok()?;
        (after <= Vector::BITS).then_some((Self { shift: shift as u8, mask }, after))
    }

    pub fn level(self, vector: Vector) -> u8 {
        (vector >> self.shift) as u8 & self.mask
    }

    /// A vector in which this comparison had no level yet, with its level.
    pub fn set(self, vector: Vector, level: u8) -> Vector {
        vector | Vector::from(level & self.mask) << self.shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_lie_side_by_side_until_the_vector_is_full() {
        let some = [9, 4, 4, 6, 5, 4, 4, 5, 4, 3, 2, 4, 2, 2, 2, 2, 2, 7, 7, 7, 7, 7, 7];
        let levels: Vec<usize> = some.into_iter().chain(some).collect();
        let (mut shift, mut vector, mut slots) = (0, 0, Vec::new());
        for levels in levels.iter().copied() {
            let (slot, after) = Slot::behind(shift, levels).unwrap();
            vector = slot.set(vector, levels as u8);
            slots.push(slot);
            shift = after;
        }
        assert!(slots.iter().zip(&levels).all(|(slot, levels)| usize::from(slot.level(vector)) == *levels));
        assert_eq!(shift, 126);
        assert!(Slot::behind(shift, 3).is_some());
        assert!(Slot::behind(shift, 4).is_none());
        assert!(Slot::behind(0, 256).is_none());
    }
}
