//! Sorting numbers beyond memory.
//!
//! Numbers of fixed size are held until they fill the budget, then sorted and written to a
//! temporary file; at the end the files are merged. Equal ones come out once. (`crate::sort`
//! does the same for lines; numbers need neither boxes nor lengths.)

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

use rayon::slice::ParallelSliceMut;

/// A number, or several, of fixed size.
pub trait Fixed: Copy + Ord + Send {
    fn write(self, out: &mut impl Write) -> io::Result<()>;
    fn read(from: &mut impl Read) -> io::Result<Self>;
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
}

/// Takes numbers in any order.
pub struct Spill<T> {
    budget: usize,
    held: Vec<T>,
    runs: Vec<(File, u64)>,
}

impl<T: Fixed> Spill<T> {
    /// Holds at most `budget` numbers in memory.
    pub fn new(budget: usize) -> Self {
        Self { budget: budget.max(1024), held: Vec::new(), runs: Vec::new() }
    }

    pub fn extend(&mut self, numbers: &[T]) -> io::Result<()> {
        if self.held.len() + numbers.len() > self.budget && !self.held.is_empty() {
            // Most of what is held twice was held in the same run.
            self.settle();
            if self.held.len() + numbers.len() > self.budget / 4 * 3 {
                self.write()?;
            }
        }
        self.held.extend_from_slice(numbers);
        Ok(())
    }

    /// Everything taken, in order, equal ones once.
    pub fn sorted(mut self) -> io::Result<Sorted<T>> {
        if self.runs.is_empty() {
            self.settle();
            return Ok(Sorted::Memory(self.held.into_iter()));
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
        Ok(Sorted::Merged { runs, heap, last: None })
    }

    fn settle(&mut self) {
        self.held.par_sort_unstable();
        self.held.dedup();
    }

    fn write(&mut self) -> io::Result<()> {
        self.settle();
        let mut out = BufWriter::with_capacity(1 << 18, tempfile::tempfile()?);
        for number in &self.held {
            number.write(&mut out)?;
        }
        let count = self.held.len() as u64;
        self.held.clear();
        self.runs.push((out.into_inner().map_err(io::IntoInnerError::into_error)?, count));
        Ok(())
    }
}

/// Numbers in order.
pub enum Sorted<T> {
    Memory(std::vec::IntoIter<T>),
    Merged { runs: Vec<(BufReader<File>, u64)>, heap: BinaryHeap<Reverse<(T, usize)>>, last: Option<T> },
}

impl<T: Fixed> Iterator for Sorted<T> {
    type Item = io::Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Memory(numbers) => numbers.next().map(Ok),
            Self::Merged { runs, heap, last } => loop {
                let Reverse((number, index)) = heap.pop()?;
                if let Some((reader, count)) = runs.get_mut(index)
                    && *count > 0
                {
                    *count -= 1;
                    match T::read(reader) {
                        Ok(next) => heap.push(Reverse((next, index))),
                        Err(error) => return Some(Err(error)),
                    }
                }
                if *last != Some(number) {
                    *last = Some(number);
                    return Some(Ok(number));
                }
            },
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
                spill.extend(some).unwrap();
            }
            let out: Vec<u64> = spill.sorted().unwrap().map(Result::unwrap).collect();
            assert_eq!(out, (0..5000).collect::<Vec<u64>>());
        }
    }
}
