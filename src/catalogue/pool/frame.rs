//! What parent and worker say to each other.
//!
//! A message is its length in four bytes and then its fields: numbers of fixed size, texts and
//! lists with their length before them, all little-endian. Both ends are the same program, so there is
//! no version; a message that does not fit is an error all the same and not a panic.
//!
//! The parent asks and the worker answers: any number of [`Message::Part`], then one
//! [`Message::Answered`] with the rest of the body or one [`Message::Failed`].

use super::Question;
use crate::catalogue::results::RowFormat;
use oxrdfio::RdfFormat;
use std::io::{Error, ErrorKind, Result};
use std::time::Duration;

/// The longest message: a query of the largest size, and names of graphs.
const LONGEST: usize = 16 * 1024 * 1024;
const LENGTH: usize = 4;

/// What the parent says.
#[derive(Debug)]
pub(super) enum Order {
    /// Open this snapshot.
    Open(u64),
    Answer(Terms, Question),
}

/// On which terms a question is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Terms {
    pub snapshot: u64,
    /// At most so many.
    pub rows: u64,
    pub bytes: u64,
    /// In bytes.
    pub memory: u64,
    /// Other endpoints may be asked for it, which has so much time left.
    pub elsewhere: Option<Duration>,
}

/// What the worker says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Message<'a> {
    Part(&'a [u8]),
    Answered(Answered<'a>),
    Failed(Failure, &'a str),
}

/// The end of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answered<'a> {
    pub rows: u64,
    pub union: bool,
    pub media_type: &'a str,
    /// What comes after the parts.
    pub body: &'a [u8],
}

/// How a query failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    Malformed,
    Forbidden,
    TooLarge,
    TooManyRows,
    TooManyBytes,
    /// There is no such snapshot any more.
    Gone,
    /// Another endpoint did not answer.
    Elsewhere,
    /// The store failed or the evaluator did.
    Other,
}

impl Failure {
    const ALL: [Self; 8] = [
        Self::Malformed,
        Self::Forbidden,
        Self::TooLarge,
        Self::TooManyRows,
        Self::TooManyBytes,
        Self::Gone,
        Self::Elsewhere,
        Self::Other,
    ];
}

const OPEN: u8 = 0;
const ANSWER: u8 = 1;
const PART: u8 = 2;
const ANSWERED: u8 = 3;
const FAILED: u8 = 4;

/// Appends an order for a question.
pub(super) fn write_answer(out: &mut Vec<u8>, terms: &Terms, question: &Question) {
    write(out, ANSWER, |out| {
        number(out, terms.snapshot);
        number(out, terms.rows);
        number(out, terms.bytes);
        number(out, terms.memory);
        // No time and no leave come to the same.
        let time = terms.elsewhere.unwrap_or_default().as_millis();
        number(out, u64::try_from(time).unwrap_or(u64::MAX));
        out.push(match question.union {
            None => 0,
            Some(false) => 1,
            Some(true) => 2,
        });
        text(out, question.rows.media_type());
        text(out, question.graph.unwrap_or(RdfFormat::Turtle).media_type());
        for graphs in [&question.default_graphs, &question.named_graphs] {
            number(out, graphs.len() as u64);
            graphs.iter().for_each(|graph| text(out, graph));
        }
        text(out, &question.base);
        text(out, &question.text);
    });
}

pub(super) fn write_open(out: &mut Vec<u8>, snapshot: u64) {
    write(out, OPEN, |out| number(out, snapshot));
}

pub(super) fn write_part(out: &mut Vec<u8>, body: &[u8]) {
    write(out, PART, |out| out.extend_from_slice(body));
}

pub(super) fn write_answered(out: &mut Vec<u8>, end: Answered<'_>) {
    write(out, ANSWERED, |out| {
        number(out, end.rows);
        out.push(end.union.into());
        text(out, end.media_type);
        out.extend_from_slice(end.body);
    });
}

pub(super) fn write_failed(out: &mut Vec<u8>, failure: Failure, message: &str) {
    write(out, FAILED, |out| {
        out.push(failure as u8);
        out.extend_from_slice(message.as_bytes());
    });
}

/// The fields of the first message of some bytes, and how many bytes it takes up; `None` while
/// it is not all there.
pub(super) fn first(bytes: &[u8]) -> Result<Option<(&[u8], usize)>> {
    let Some(length) = bytes.first_chunk::<LENGTH>() else { return Ok(None) };
    let length = u32::from_le_bytes(*length) as usize;
    if length > LONGEST {
        return Err(unreadable());
    }
    Ok(bytes.get(LENGTH..LENGTH + length).map(|fields| (fields, LENGTH + length)))
}

impl Order {
    /// What a question may have of memory.
    pub(super) fn memory(&self) -> Option<u64> {
        match self {
            Self::Open(_) => None,
            Self::Answer(terms, _) => Some(terms.memory),
        }
    }

    pub(super) fn read(fields: &[u8]) -> Result<Self> {
        let mut fields = Fields(fields);
        match fields.byte()? {
            OPEN => Ok(Self::Open(fields.number()?)),
            ANSWER => Ok(Self::Answer(fields.terms()?, fields.question()?)),
            _ => Err(unreadable()),
        }
    }
}

impl<'a> Message<'a> {
    pub(super) fn read(fields: &'a [u8]) -> Result<Self> {
        let mut fields = Fields(fields);
        match fields.byte()? {
            PART => Ok(Self::Part(fields.0)),
            ANSWERED => Ok(Self::Answered(Answered {
                rows: fields.number()?,
                union: fields.byte()? != 0,
                media_type: fields.text()?,
                body: fields.0,
            })),
            FAILED => {
                let failure = usize::from(fields.byte()?);
                let failure = Failure::ALL.get(failure).ok_or_else(unreadable)?;
                Ok(Self::Failed(*failure, std::str::from_utf8(fields.0).map_err(|_| unreadable())?))
            }
            _ => Err(unreadable()),
        }
    }
}

fn write(out: &mut Vec<u8>, kind: u8, fields: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; LENGTH]);
    out.push(kind);
    fields(out);
    let length = u32::try_from(out.len() - start - LENGTH).unwrap_or(u32::MAX);
    if let Some(place) = out.get_mut(start..start + LENGTH) {
        place.copy_from_slice(&length.to_le_bytes());
    }
}

fn number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn byte(&mut self) -> Result<u8> {
        let (byte, rest) = self.0.split_first().ok_or_else(unreadable)?;
        self.0 = rest;
        Ok(*byte)
    }

    fn number(&mut self) -> Result<u64> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or_else(unreadable)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*bytes))
    }

    fn text(&mut self) -> Result<&'a str> {
        let length = usize::try_from(self.number()?).map_err(|_| unreadable())?;
        let (text, rest) = self.0.split_at_checked(length).ok_or_else(unreadable)?;
        self.0 = rest;
        std::str::from_utf8(text).map_err(|_| unreadable())
    }

    fn texts(&mut self) -> Result<Vec<String>> {
        (0..self.number()?).map(|_| self.text().map(str::to_owned)).collect()
    }

    fn terms(&mut self) -> Result<Terms> {
        let (snapshot, rows) = (self.number()?, self.number()?);
        let (bytes, memory) = (self.number()?, self.number()?);
        let time = Duration::from_millis(self.number()?);
        Ok(Terms { snapshot, rows, bytes, memory, elsewhere: Some(time).filter(|time| !time.is_zero()) })
    }

    fn question(&mut self) -> Result<Question> {
        let union = match self.byte()? {
            0 => None,
            1 => Some(false),
            _ => Some(true),
        };
        let rows = self.text()?;
        let rows = RowFormat::ALL.into_iter().find(|format| format.media_type() == rows);
        let graph = self.text()?;
        Ok(Question {
            union,
            rows: rows.ok_or_else(unreadable)?,
            graph: Some(RdfFormat::from_media_type(graph).ok_or_else(unreadable)?),
            default_graphs: self.texts()?,
            named_graphs: self.texts()?,
            base: self.text()?.to_owned(),
            text: self.text()?.to_owned(),
            limits: None,
        })
    }
}

fn unreadable() -> Error {
    Error::new(ErrorKind::InvalidData, "a message between the processes is not readable")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_written() {
        let asked = Question {
            text: "ASK {}".to_owned(),
            base: "x:/".to_owned(),
            default_graphs: vec!["x:a".to_owned(), "x:b".to_owned()],
            union: Some(true),
            rows: RowFormat::Tsv,
            graph: Some(RdfFormat::TriG),
            ..Question::default()
        };
        for elsewhere in [None, Some(Duration::from_millis(1500))] {
            let given = Terms { snapshot: 7, rows: 8, bytes: 9, memory: 10, elsewhere };
            let mut bytes = Vec::new();
            write_answer(&mut bytes, &given, &asked);
            let (fields, length) = first(&bytes).unwrap().unwrap();
            assert_eq!(length, bytes.len());
            let Order::Answer(terms, question) = Order::read(fields).unwrap() else {
                panic!("another order");
            };
            assert_eq!(terms, given);
            assert_eq!(format!("{question:?}"), format!("{asked:?}"));
        }
    }

    #[test]
    fn every_failure_is_read_as_it_was_written() {
        for failure in Failure::ALL {
            let mut bytes = Vec::new();
            write_failed(&mut bytes, failure, "why");
            let (fields, _) = first(&bytes).unwrap().unwrap();
            assert_eq!(Message::read(fields).unwrap(), Message::Failed(failure, "why"));
        }
    }

    #[test]
    fn a_message_cut_short_is_waited_for_and_one_that_lies_is_an_error() {
        let mut bytes = Vec::new();
        write_answered(&mut bytes, Answered { rows: 3, union: false, media_type: "text/csv", body: b"a\n" });
        for end in 0..bytes.len() {
            assert_eq!(first(&bytes[..end]).unwrap(), None);
        }
        let (fields, _) = first(&bytes).unwrap().unwrap();
        assert!(Message::read(fields).is_ok());
        for end in 0..fields.len() - 2 {
            assert!(Message::read(&fields[..end]).is_err(), "{end}");
        }
        assert!(first(&[255; 9]).is_err());
    }
}
