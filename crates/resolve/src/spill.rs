//! Sorting numbers beyond memory.
//!
//! Numbers of fixed size are held until they fill the budget, then sorted and written to a
//! temporary file; at the end the files are merged. Equal ones come out once. (`crate::sort`
//! does the same for lines; numbers need neither boxes nor lengths.)
//!
//! In memory they are first dealt into *bins* by their upper bits: a bin fits the cache, and
//! sorting many small bins is cheaper than sorting one large list.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

use rayon::prelude::*;

/// A number, or several, of fixed size.
pub trait Fixed: Copy + Ord + Send + Sync {
    fn write(self, out: &mut impl Write) -> io::Result<()>;
    fn read(from: &mut impl Read) -> io::Result<Self>;
    /// What the order goes by first.
    fn rank(self) -> u64;
}

impl Fixed for u64 {
    fn write(self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.to_le_bytes())
    }

    fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut bytes = [0; 8];
        from.read_exact(&mut bytes)?;
        Ok(Self::from_le_bytes(bytes))
    }

    fn rank(self) -> u64 {
        self
    }
}

impl Fixed for (u64, u32) {
    fn write(self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.0.to_le_bytes())?;
        out.write_all(&self.1.to_le_bytes())
    }

    fn read(from: &mut impl Read) -> io::Result<Self> {
        let (mut key, mut record) = ([0; 8], [0; 4]);
        from.read_exact(&mut key)?;
        from.read_exact(&mut record)?;
        Ok((u64::from_le_bytes(key), u32::from_le_bytes(record)))
    }

    fn rank(self) -> u64 {
        self.0
    }
}

/// Takes numbers in any order.
pub struct Spill<T> {
    budget: usize,
    held: Vec<Vec<T>>,
    count: usize,
    runs: Vec<(File, u64)>,
}

impl<T: Fixed> Spill<T> {
    /// Holds at most `budget` numbers in memory.
    pub fn new(budget: usize) -> Self {
        Self { budget: budget.max(1024), held: Vec::new(), count: 0, runs: Vec::new() }
    }

    pub fn push(&mut self, numbers: Vec<T>) -> io::Result<()> {
        if self.count + numbers.len() > self.budget && self.count > 0 {
            // Most of what is held twice was held in the same run.
            self.settle();
            if self.count + numbers.len() > self.budget / 4 * 3 {
                self.write()?;
            }
        }
        self.count += numbers.len();
        if !numbers.is_empty() {
            self.held.push(numbers);
        }
        Ok(())
    }

    /// Everything taken, in order, equal ones once.
    pub fn sorted(mut self) -> io::Result<Sorted<T>> {
        self.settle();
        if self.runs.is_empty() {
            return Ok(Sorted::Memory(self.held));
        }
        self.write()?;
        let mut runs = Vec::new();
        let mut heap = BinaryHeap::new();
        for (mut file, count) in self.runs {
            file.rewind()?;
            runs.push((BufReader::with_capacity(1 << 18, file), count));
        }
        for (index, (reader, count)) in runs.iter_mut().enumerate() {
            if *count > 0 {
                *count -= 1;
                heap.push(Reverse((T::read(reader)?, index)));
            }
        }
        Ok(Sorted::Merged(Merged { runs, heap, last: None }))
    }

    /// Sorts what is held: afterwards it is one sorted list, in pieces.
    fn settle(&mut self) {
        let mut bins = deal(std::mem::take(&mut self.held), self.count);
        bins.par_iter_mut().for_each(|bin| {
            bin.sort_unstable();
            bin.dedup();
        });
        bins.retain(|bin| !bin.is_empty());
        self.count = bins.iter().map(Vec::len).sum();
        self.held = bins;
    }

    fn write(&mut self) -> io::Result<()> {
        self.settle();
        let mut out = BufWriter::with_capacity(1 << 18, tempfile::tempfile()?);
        for number in self.held.iter().flatten() {
            number.write(&mut out)?;
        }
        let count = self.count as u64;
        self.held.clear();
        self.count = 0;
        self.runs.push((out.into_inner().map_err(io::IntoInnerError::into_error)?, count));
        Ok(())
    }
}

/// A bin of about this many numbers fits the cache.
const BIN: usize = 1 << 13;
/// With more bins than this, dealing costs more than it saves.
const MOST_BINS: usize = 1 << 11;

/// Deals numbers into bins, each of which is below the next.
fn deal<T: Fixed>(lists: Vec<Vec<T>>, count: usize) -> Vec<Vec<T>> {
    let bins = (count / BIN).next_power_of_two().clamp(2, MOST_BINS);
    let ranks = || lists.iter().flatten().map(|number| number.rank());
    let (Some(least), Some(most)) = (ranks().min(), ranks().max()) else { return Vec::new() };
    // How many lower bits leave no more than so many bins.
    let spread = u64::BITS - (most - least).leading_zeros();
    let shift = spread.saturating_sub(bins.ilog2());
    let bin = |number: &T| ((number.rank() - least) >> shift) as usize;
    let mut sizes = vec![0; ((most - least) >> shift) as usize + 1];
    lists.iter().flatten().for_each(|number| sizes[bin(number)] += 1);
    let mut bins: Vec<Vec<T>> = sizes.into_iter().map(Vec::with_capacity).collect();
    for list in lists {
        list.iter().for_each(|number| bins[bin(number)].push(*number));
    }
    bins
}

/// Numbers in order.
pub enum Sorted<T> {
    /// One sorted list in pieces.
    Memory(Vec<Vec<T>>),
    Merged(Merged<T>),
}

impl<T: Fixed + 'static> IntoIterator for Sorted<T> {
    type Item = io::Result<T>;
    type IntoIter = Box<dyn Iterator<Item = io::Result<T>> + Send>;

    fn into_iter(self) -> Self::IntoIter {
        match self {
            Self::Memory(pieces) => Box::new(pieces.into_iter().flatten().map(Ok)),
            Self::Merged(merged) => Box::new(merged),
        }
    }
}

impl<T: Fixed + 'static> Sorted<T> {
    /// Hands over all numbers, piece by piece. Numbers of equal [`rank`](Fixed::rank) are in one
    /// piece.
    pub fn pieces(self) -> Box<dyn Iterator<Item = io::Result<Vec<T>>> + Send> {
        match self {
            Self::Memory(pieces) => Box::new(pieces.into_iter().map(Ok)),
            Self::Merged(mut merged) => {
                let mut next: Option<T> = None;
                Box::new(std::iter::from_fn(move || merged.piece(&mut next).transpose()))
            }
        }
    }

    /// All numbers in one list.
    pub fn list(self) -> io::Result<Vec<T>> {
        self.into_iter().collect()
    }
}

/// Sorted files, read side by side.
pub struct Merged<T> {
    runs: Vec<(BufReader<File>, u64)>,
    heap: BinaryHeap<Reverse<(T, usize)>>,
    last: Option<T>,
}

impl<T: Fixed> Merged<T> {
    /// About as many numbers as a piece should have; `next` is what was read too far.
    fn piece(&mut self, next: &mut Option<T>) -> io::Result<Option<Vec<T>>> {
        let mut piece: Vec<T> = next.take().into_iter().collect();
        for number in self {
            let number = number?;
            if piece.len() >= BIN && piece.last().is_some_and(|last| last.rank() != number.rank()) {
                *next = Some(number);
                break;
            }
            piece.push(number);
        }
        Ok((!piece.is_empty()).then_some(piece))
    }
}

impl<T: Fixed> Iterator for Merged<T> {
    type Item = io::Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Reverse((number, index)) = self.heap.pop()?;
            if let Some((reader, count)) = self.runs.get_mut(index)
                && *count > 0
            {
                *count -= 1;
                match T::read(reader) {
                    Ok(next) => self.heap.push(Reverse((next, index))),
                    Err(error) => return Some(Err(error)),
                }
            }
            if self.last != Some(number) {
                self.last = Some(number);
                return Some(Ok(number));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_out_sorted_and_once_whether_or_not_they_fit() {
        let numbers: Vec<u64> = (0..20_000_u64).map(|number| number.wrapping_mul(7919) % 5000).collect();
        for budget in [1024, 3000, 1_000_000] {
            let mut spill = Spill::new(budget);
            for some in numbers.chunks(100) {
                spill.push(some.to_vec()).unwrap();
            }
            let out: Vec<u64> = spill.sorted().unwrap().list().unwrap();
            assert_eq!(out, (0..5000).collect::<Vec<u64>>());
        }
    }
}
