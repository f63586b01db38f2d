//! The state between runs as a file.
//!
//! ```text
//! file    = "PINRSLV" version(1 byte) frame* 0(4 bytes) checksum(8 bytes)
//! frame   = length(4 bytes) bytes; together they hold
//!           model sources names dead runs edges groups places said features joins nevers refused
//! number  = LEB128; of sorted lists the differences are written
//! text    = length, bytes; of names only what differs from the name before
//! ```
//!
//! It is written and read in one pass, and the checksum (XXH3) covers the bytes of all frames. A
//! file that is of another version, cut short or damaged is refused: a full run makes a new one.

use std::io::{self, ErrorKind, Read, Write};

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::Xxh3;

use super::{Handle, State, name_hash};
use crate::block::Keyed;
use crate::cluster::{Reason, Refusal};
use crate::compare::terms::Terms;
use crate::compare::vector::Slot;
use crate::compare::{Crowded, Vector, Weights};
use crate::score::{Factor, Model};
use crate::split::Places;

const MAGIC: &[u8; 7] = b"PINRSLV";
const VERSION: u8 = 4;

/// Why a state cannot be used. What helps is always a full run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    #[error("this is no state of `resolve`")]
    Foreign,
    #[error("the state is of version {found}, and this program reads version {VERSION}")]
    Version { found: u8 },
    #[error("the state is damaged: {0}")]
    Damaged(&'static str),
    #[error("the state cannot be read or written: {0}")]
    Disk(#[from] io::Error),
}

impl State {
    /// Writes everything that [`read`](Self::read) needs.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(MAGIC)?;
        out.write_all(&[VERSION])?;
        let mut out = Writer { out, sum: Xxh3::new(), frame: Vec::with_capacity(FRAME) };
        self.model.write(&mut out)?;
        out.number(self.sources.len() as u64)?;
        for source in &self.sources {
            out.text(source)?;
        }
        out.number(self.names.len() as u64)?;
        let mut before = "";
        for (source, key) in &self.names {
            out.number(u64::from(*source))?;
            let shared = before.bytes().zip(key.bytes()).take_while(|(a, b)| a == b).count();
            let shared = (0..=shared).rev().find(|at| key.is_char_boundary(*at)).unwrap_or(0);
            out.number(shared as u64)?;
            out.text(&key[shared..])?;
            before = key;
        }
        let dead: Vec<u32> =
            (0..self.names.len() as u32).filter(|handle| !self.alive[*handle as usize]).collect();
        out.number(dead.len() as u64)?;
        out.ascending(dead.iter().map(|handle| u64::from(*handle)))?;
        out.number(self.keys.len() as u64)?;
        for run in &self.keys {
            out.number(run.len() as u64)?;
            let mut before = 0;
            for (key, handle) in run {
                out.number(key.wrapping_sub(before))?;
                out.number(u64::from(*handle))?;
                before = *key;
            }
        }
        self.write_edges(&mut out)?;
        for (handle, group) in self.group.iter().enumerate() {
            out.number(u64::from(group ^ handle as u32))?;
        }
        for handle in 0..self.names.len() as u32 {
            let place = self.places.of(handle);
            out.number(place.len() as u64)?;
            place.iter().try_for_each(|number| out.bytes(&number.to_le_bytes()))?;
        }
        self.said.iter().try_for_each(|hash| out.bytes(&hash.to_le_bytes()))?;
        out.number(self.features.len() as u64)?;
        self.features.iter().try_for_each(|feature| out.text(feature))?;
        for pairs in [&self.joins, &self.nevers] {
            out.number(pairs.len() as u64)?;
            pairs.iter().try_for_each(|(left, right)| out.two(*left, *right))?;
        }
        out.number(self.refused.len() as u64)?;
        self.refused.iter().try_for_each(|refusal| refusal.write(&mut out))?;
        out.finish()
    }

    /// The hash of everything a model is.
    pub fn digest(model: &Model) -> u64 {
        let mut out = Writer { out: &mut io::sink(), sum: Xxh3::new(), frame: Vec::with_capacity(FRAME) };
        // A sink takes everything.
        let _ = model.write(&mut out).and_then(|()| out.flush());
        out.sum.digest()
    }

    /// Weights follow from vectors, and vectors are few: each is written once.
    fn write_edges(&self, out: &mut Writer<'_, impl Write>) -> io::Result<()> {
        let mut edges: Vec<(Handle, Handle, Vector)> = Vec::new();
        for (left, others) in &self.edges {
            let later = others.iter().filter(|(right, ..)| right > left);
            edges.extend(later.map(|(right, vector, _)| (*left, *right, *vector)));
        }
        edges.sort_unstable();
        let mut vectors: Vec<Vector> = edges.iter().map(|edge| edge.2).collect();
        vectors.sort_unstable();
        vectors.dedup();
        out.number(vectors.len() as u64)?;
        for vector in &vectors {
            out.number((vector >> 64) as u64)?;
            out.number(*vector as u64)?;
        }
        out.number(edges.len() as u64)?;
        let mut before = 0;
        for (left, right, vector) in edges {
            out.number(u64::from(left - before))?;
            out.number(u64::from(right - left))?;
            out.number(vectors.partition_point(|known| *known < vector) as u64)?;
            before = left;
        }
        Ok(())
    }

    /// Reads what [`write`](Self::write) wrote.
    pub fn read(from: &mut impl Read) -> Result<Self, StateError> {
        let mut head = [0; 8];
        from.read_exact(&mut head).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => StateError::Foreign,
            _ => StateError::Disk(error),
        })?;
        let [magic @ .., found] = head;
        if magic != *MAGIC {
            return Err(StateError::Foreign);
        }
        if found != VERSION {
            return Err(StateError::Version { found });
        }
        let mut from = Reader { from, sum: Xxh3::new(), frame: Vec::new(), at: 0 };
        let model = Model::read(&mut from)?;
        let sources: Vec<Box<str>> = from.list(|from| Ok(from.text()?.into()))?;
        let mut before = String::new();
        let mut names: Vec<(u32, Box<str>)> = Vec::new();
        for _ in 0..from.number()? {
            let source = from.small()?;
            let shared = from.number()? as usize;
            if !before.is_char_boundary(shared) || source as usize >= sources.len() {
                return Err(StateError::Damaged("a name has no beginning or no source"));
            }
            before.truncate(shared);
            before.push_str(&from.text()?);
            names.push((source, before.as_str().into()));
        }
        let mut alive = vec![true; names.len()];
        let count = from.number()?;
        for handle in from.ascending(count)? {
            *alive.get_mut(handle as usize).ok_or(UNKNOWN)? = false;
        }
        let mut by_name = FxHashMap::default();
        by_name.reserve(names.len());
        for (handle, (source, key)) in names.iter().enumerate() {
            by_name.insert(name_hash(&sources[*source as usize], key), handle as Handle);
        }
        let known = |handle: u32| if (handle as usize) < names.len() { Ok(handle) } else { Err(UNKNOWN) };
        let mut keys: Vec<Vec<Keyed>> = Vec::new();
        for _ in 0..from.number()? {
            let mut run = Vec::new();
            let mut key = 0_u64;
            for _ in 0..from.number()? {
                key = key.wrapping_add(from.number()?);
                run.push((key, known(from.small()?)?));
            }
            keys.push(run);
        }
        let mut vectors: Vec<Vector> = Vec::new();
        for _ in 0..from.number()? {
            let high = Vector::from(from.number()?) << 64;
            vectors.push(high | Vector::from(from.number()?));
        }
        let mut edges = Vec::new();
        let mut left = 0_u32;
        for _ in 0..from.number()? {
            left = left.checked_add(from.small()?).ok_or(UNKNOWN)?;
            let right = left.checked_add(from.small()?).ok_or(UNKNOWN)?;
            let vector = *vectors.get(from.number()? as usize).ok_or(UNKNOWN)?;
            edges.push((known(left)?, known(right)?, vector));
        }
        let group =
            (0..names.len() as u32).map(|handle| known(from.small()? ^ handle)).collect::<Result<_, _>>()?;
        let mut places = Places::default();
        let mut place = Vec::new();
        for _ in 0..names.len() {
            place.clear();
            for _ in 0..from.number()? {
                let mut bytes = [0; 4];
                from.exact(&mut bytes)?;
                place.push(u32::from_le_bytes(bytes));
            }
            places.push(&place);
        }
        let mut said = Vec::new();
        for _ in 0..names.len() {
            let mut bytes = [0; 8];
            from.exact(&mut bytes)?;
            said.push(u64::from_le_bytes(bytes));
        }
        let features = from.list(|from| Ok(from.text()?.into()))?.into_iter().collect();
        let two = |from: &mut Reader<'_, _>| Ok((known(from.small()?)?, known(from.small()?)?));
        let (joins, nevers) = (from.list(two)?, from.list(two)?);
        let refused = from.list(|from| Refusal::read(from, &known))?;
        from.finish()?;
        let weights: FxHashMap<Vector, f64> =
            vectors.iter().map(|vector| (*vector, model.weight(*vector))).collect();
        let mut state = Self {
            model,
            names,
            sources,
            alive,
            by_name,
            keys,
            edges: FxHashMap::default(),
            group,
            places,
            said,
            features,
            joins,
            nevers,
            refused,
        };
        state.edges.reserve(edges.len());
        for (left, right, vector) in edges {
            state.link(left, right, vector, weights.get(&vector).copied().unwrap_or(0.0));
        }
        Ok(state)
    }
}

const UNKNOWN: StateError = StateError::Damaged("it names what it does not hold");

impl Refusal {
    fn write(&self, out: &mut Writer<'_, impl Write>) -> io::Result<()> {
        out.two(self.left, self.right)?;
        out.bytes(&self.weight.to_le_bytes())?;
        match &self.reason {
            Reason::Against => out.number(0),
            Reason::Veto(veto, left, right) => {
                out.number(1)?;
                out.two(*left, *right)?;
                out.text(veto)
            }
            Reason::Never(left, right) => {
                out.number(2)?;
                out.two(*left, *right)
            }
            Reason::Contradiction(left, right) => {
                out.number(3)?;
                out.two(*left, *right)
            }
        }
    }

    fn read(
        from: &mut Reader<'_, impl Read>,
        known: &impl Fn(u32) -> Result<Handle, StateError>,
    ) -> Result<Self, StateError> {
        let (left, right) = (known(from.small()?)?, known(from.small()?)?);
        let mut weight = [0; 8];
        from.exact(&mut weight)?;
        let reason = match from.number()? {
            0 => Reason::Against,
            kind => {
                let (left, right) = (known(from.small()?)?, known(from.small()?)?);
                match kind {
                    1 => Reason::Veto(from.text()?.into(), left, right),
                    2 => Reason::Never(left, right),
                    3 => Reason::Contradiction(left, right),
                    _ => return Err(StateError::Damaged("a reason is unknown")),
                }
            }
        };
        Ok(Self { left, right, weight: f64::from_le_bytes(weight), reason })
    }
}

impl Model {
    fn write(&self, out: &mut Writer<'_, impl Write>) -> io::Result<()> {
        let (weights, crowded) = (&self.weights, &self.crowded);
        for number in [self.vectors, self.rounds, self.factors.len()] {
            out.number(number as u64)?;
        }
        out.fractions(&self.shares)?;
        out.fractions(&[self.scale])?;
        for factor in &self.factors {
            for number in [factor.first, factor.second.map_or(0, |second| second + 1), factor.width] {
                out.number(number as u64)?;
            }
            let (one, other) = factor.slots;
            out.bytes(&[one.shift, one.mask, other.shift, other.mask])?;
            for lists in [&factor.chances, &factor.bits] {
                out.number(lists.len() as u64)?;
                lists.iter().try_for_each(|list| out.fractions(list))?;
            }
        }
        out.number(weights.len() as u64)?;
        for (feature, terms) in weights {
            out.text(feature)?;
            out.number(u64::from(terms.records()))?;
            let counts = terms.sorted();
            out.number(counts.len() as u64)?;
            out.ascending(counts.iter().map(|(word, _)| u64::from(*word)))?;
            for (_, count) in counts {
                out.number(u64::from(count))?;
            }
        }
        out.number(crowded.len() as u64)?;
        for (feature, values) in crowded {
            out.text(feature)?;
            out.number(values.len() as u64)?;
            for value in values {
                out.text(value)?;
            }
        }
        Ok(())
    }

    fn read(from: &mut Reader<'_, impl Read>) -> Result<Self, StateError> {
        let (vectors, rounds, count) = (from.number()? as usize, from.number()? as usize, from.number()?);
        let shares = from.fractions()?;
        let scale = from.fractions()?.first().copied().unwrap_or(1.0);
        let mut factors = Vec::new();
        for _ in 0..count {
            let (first, second, width) = (from.place()?, from.place()?, from.place()?);
            let mut slot = || Ok::<_, StateError>(Slot { shift: from.byte()?, mask: from.byte()? });
            let slots = (slot()?, slot()?);
            let chances = from.list(Reader::fractions)?;
            let bits = from.list(Reader::fractions)?;
            let size = chances.first().map_or(0, Vec::len);
            let is_sound = [slots.0, slots.1].iter().all(|slot| u32::from(slot.shift) < Vector::BITS)
                && chances.len() == shares.len()
                && bits.len() + 1 == shares.len()
                && chances.iter().chain(&bits).all(|list| list.len() == size);
            if !is_sound {
                return Err(StateError::Damaged("its model does not add up"));
            }
            let second = second.checked_sub(1);
            factors.push(Factor { first, second, slots, width, chances, bits });
        }
        let mut model = Self {
            shares,
            scale,
            factors,
            weights: Weights::new(),
            crowded: Crowded::new(),
            vectors,
            rounds,
        };
        for _ in 0..from.number()? {
            let feature = from.text()?.into();
            let records = from.small()?;
            let count = from.number()?;
            let words = from.ascending(count)?;
            let mut counts = FxHashMap::default();
            for word in words {
                counts.insert(u32::try_from(word).map_err(|_| UNKNOWN)?, from.small()?);
            }
            model.weights.insert(feature, Terms::counted(records, counts));
        }
        for _ in 0..from.number()? {
            let feature = from.text()?.into();
            let values: Vec<Box<str>> = from.list(|from| Ok(from.text()?.into()))?;
            model.crowded.insert(feature, values.into_iter().collect());
        }
        Ok(model)
    }
}

fn cut_short(error: io::Error) -> StateError {
    match error.kind() {
        ErrorKind::UnexpectedEof => StateError::Damaged("it is cut short"),
        _ => StateError::Disk(error),
    }
}

/// The length of a frame, or a little more.
const FRAME: usize = 1 << 16;
/// No frame is longer than this.
const LONGEST: usize = 1 << 20;

struct Writer<'a, W> {
    out: &'a mut W,
    sum: Xxh3,
    frame: Vec<u8>,
}

impl<W: Write> Writer<'_, W> {
    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        for some in bytes.chunks(FRAME) {
            self.frame.extend_from_slice(some);
            if self.frame.len() >= FRAME {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&(self.frame.len() as u32).to_le_bytes())?;
        self.out.write_all(&self.frame)?;
        self.sum.update(&self.frame);
        self.frame.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        if !self.frame.is_empty() {
            self.flush()?;
        }
        self.out.write_all(&[0; 4])?;
        self.out.write_all(&self.sum.digest().to_le_bytes())
    }

    fn number(&mut self, mut number: u64) -> io::Result<()> {
        let mut bytes = [0; 10];
        let mut count = 0;
        loop {
            bytes[count] = (number & 0x7F) as u8 | if number > 0x7F { 0x80 } else { 0 };
            count += 1;
            number >>= 7;
            if number == 0 {
                return self.bytes(&bytes[..count]);
            }
        }
    }

    fn two(&mut self, left: Handle, right: Handle) -> io::Result<()> {
        self.number(u64::from(left))?;
        self.number(u64::from(right))
    }

    fn ascending(&mut self, numbers: impl Iterator<Item = u64>) -> io::Result<()> {
        let mut before = 0;
        for number in numbers {
            self.number(number.wrapping_sub(before))?;
            before = number;
        }
        Ok(())
    }

    /// Every bit of them, so that what is read weighs what was written.
    fn fractions(&mut self, list: &[f64]) -> io::Result<()> {
        self.number(list.len() as u64)?;
        list.iter().try_for_each(|fraction| self.bytes(&fraction.to_le_bytes()))
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.number(text.len() as u64)?;
        self.bytes(text.as_bytes())
    }
}

struct Reader<'a, R> {
    from: &'a mut R,
    sum: Xxh3,
    frame: Vec<u8>,
    at: usize,
}

impl<R: Read> Reader<'_, R> {
    /// Reads the next frame.
    fn fill(&mut self) -> Result<(), StateError> {
        let length = u32::from_le_bytes(self.raw()?) as usize;
        if length == 0 || length > LONGEST {
            return Err(StateError::Damaged("a part of it has no length"));
        }
        self.frame.resize(length, 0);
        self.from.read_exact(&mut self.frame).map_err(cut_short)?;
        self.sum.update(&self.frame);
        self.at = 0;
        Ok(())
    }

    fn raw<const N: usize>(&mut self) -> Result<[u8; N], StateError> {
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes).map_err(cut_short)?;
        Ok(bytes)
    }

    /// Nothing is left but the checksum, and it is right.
    fn finish(&mut self) -> Result<(), StateError> {
        if self.at != self.frame.len() || self.raw()? != [0; 4] {
            return Err(StateError::Damaged("it goes on where it should end"));
        }
        if u64::from_le_bytes(self.raw()?) != self.sum.digest() {
            return Err(StateError::Damaged("its checksum is another"));
        }
        Ok(())
    }

    fn exact(&mut self, bytes: &mut [u8]) -> Result<(), StateError> {
        let mut bytes = bytes;
        while !bytes.is_empty() {
            if self.at == self.frame.len() {
                self.fill()?;
            }
            let count = bytes.len().min(self.frame.len() - self.at);
            let (now, later) = bytes.split_at_mut(count);
            now.copy_from_slice(&self.frame[self.at..self.at + count]);
            self.at += count;
            bytes = later;
        }
        Ok(())
    }

    fn byte(&mut self) -> Result<u8, StateError> {
        if self.at == self.frame.len() {
            self.fill()?;
        }
        self.at += 1;
        Ok(self.frame[self.at - 1])
    }

    fn number(&mut self) -> Result<u64, StateError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(StateError::Damaged("a number has no end"))
    }

    /// A place among comparisons or levels.
    fn place(&mut self) -> Result<usize, StateError> {
        self.number().map(|number| number.min(1 << 10) as usize)
    }

    fn fractions(&mut self) -> Result<Vec<f64>, StateError> {
        self.list(|from| {
            let mut bytes = [0; 8];
            from.exact(&mut bytes)?;
            Ok(f64::from_le_bytes(bytes))
        })
    }

    fn small(&mut self) -> Result<u32, StateError> {
        u32::try_from(self.number()?).map_err(|_| StateError::Damaged("a number is too large"))
    }

    fn ascending(&mut self, count: u64) -> Result<Vec<u64>, StateError> {
        let mut before = 0_u64;
        let mut numbers = Vec::new();
        for _ in 0..count {
            before = before.wrapping_add(self.number()?);
            numbers.push(before);
        }
        Ok(numbers)
    }

    fn text(&mut self) -> Result<String, StateError> {
        // A damaged length must not ask for memory that the file does not fill.
        let length = self.number()?;
        let mut bytes = Vec::new();
        let mut left = usize::try_from(length).unwrap_or(usize::MAX);
        while left > 0 {
            let step = left.min(1 << 16);
            let start = bytes.len();
            bytes.resize(start + step, 0);
            self.exact(&mut bytes[start..])?;
            left -= step;
        }
        String::from_utf8(bytes).map_err(|_| StateError::Damaged("a text is not UTF-8"))
    }

    fn list<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Result<T, StateError>,
    ) -> Result<Vec<T>, StateError> {
        let count = self.number()?;
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(one(self)?);
        }
        Ok(list)
    }
}
