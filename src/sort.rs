//! Sorting more than memory holds.
//!
//! Lines are kept until they fill the budget, then sorted and written to a temporary file; at
//! the end the files are merged. The canonical export, the grouping of RDF statements and the
//! comparison of a full dump with what is there all need an order and must not grow with
//! their input.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

/// A sorted set of byte strings: equal ones come out once.
pub struct Sorter {
    budget: usize,
    held: usize,
    lines: Vec<Box<[u8]>>,
    runs: Vec<File>,
}

impl Sorter {
    /// A sorter that holds about `budget` bytes before it writes them out.
    pub fn new(budget: usize) -> Self {
        Self { budget, held: 0, lines: Vec::new(), runs: Vec::new() }
    }

    pub fn push(&mut self, line: &[u8]) -> io::Result<()> {
        // A boxed slice costs its bytes, its pointer and the allocator's own.
        self.held += line.len() + 32;
        self.lines.push(line.into());
        if self.held > self.budget { self.spill() } else { Ok(()) }
    }

    /// Everything pushed, in byte order.
    pub fn sorted(mut self) -> io::Result<Sorted> {
        self.lines.sort_unstable();
        self.lines.dedup();
        let mut sources = vec![Source::Memory(std::mem::take(&mut self.lines).into_iter())];
        for mut run in std::mem::take(&mut self.runs) {
            run.rewind()?;
            sources.push(Source::Run(BufReader::new(run)));
        }
        let mut heap = BinaryHeap::with_capacity(sources.len());
        for (index, source) in sources.iter_mut().enumerate() {
            if let Some(line) = source.next()? {
                heap.push(Reverse((line, index)));
            }
        }
        Ok(Sorted { sources, heap, last: None })
    }

    fn spill(&mut self) -> io::Result<()> {
        self.lines.sort_unstable();
        self.lines.dedup();
        let mut out = BufWriter::new(tempfile::tempfile()?);
        for line in self.lines.drain(..) {
            out.write_all(&(line.len() as u64).to_le_bytes())?;
            out.write_all(&line)?;
        }
        self.runs.push(out.into_inner().map_err(io::IntoInnerError::into_error)?);
        self.held = 0;
        Ok(())
    }
}

enum Source {
    Memory(std::vec::IntoIter<Box<[u8]>>),
    Run(BufReader<File>),
}

impl Source {
    fn next(&mut self) -> io::Result<Option<Box<[u8]>>> {
        match self {
            Self::Memory(lines) => Ok(lines.next()),
            Self::Run(reader) => {
                let mut length = [0; 8];
                match reader.read_exact(&mut length) {
                    Ok(()) => {}
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                    Err(error) => return Err(error),
                }
                let length = usize::try_from(u64::from_le_bytes(length)).map_err(io::Error::other)?;
                let mut line = vec![0; length];
                reader.read_exact(&mut line)?;
                Ok(Some(line.into_boxed_slice()))
            }
        }
    }
}

/// The merged runs.
pub struct Sorted {
    sources: Vec<Source>,
    heap: BinaryHeap<Reverse<(Box<[u8]>, usize)>>,
    last: Option<Box<[u8]>>,
}

impl Iterator for Sorted {
    type Item = io::Result<Box<[u8]>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Reverse((line, index)) = self.heap.pop()?;
            match self.sources.get_mut(index).map(Source::next) {
                Some(Ok(Some(next))) => self.heap.push(Reverse((next, index))),
                Some(Err(error)) => return Some(Err(error)),
                Some(Ok(None)) | None => {}
            }
            if self.last.as_ref() != Some(&line) {
                self.last = Some(line.clone());
                return Some(Ok(line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_out_sorted_and_once_whatever_the_budget() {
        for budget in [0, 100, 1_000_000] {
            let mut sorter = Sorter::new(budget);
            for number in (0..200_u32).rev().chain(0..50) {
                sorter.push(format!("{number:04}").as_bytes()).unwrap();
            }
            let lines: Vec<String> = sorter
                .sorted()
                .unwrap()
                .map(|line| String::from_utf8(line.unwrap().into_vec()).unwrap())
                .collect();
            let expected: Vec<String> = (0..200_u32).map(|number| format!("{number:04}")).collect();
            assert_eq!(lines, expected);
        }
    }
}
