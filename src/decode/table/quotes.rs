//! Telling a quotation from a stray quote.

use crate::decode::lines::first_line;
use memchr::{memchr, memchr_iter};

/// Follows the quotes of one row, line by line.
///
/// A quote opens a quotation only at the beginning of a cell, and what follows the closing
/// quote must be a delimiter or the end of the row. Text after it is common on one line
/// (`"Walden" and more`) and does no harm there; in a quotation begun on an earlier line it
/// shows that the quotation never was one.
pub(super) struct Quotes {
    delimiter: u8,
    inside: Inside,
    /// The quotation was opened on an earlier line.
    carried: bool,
    /// A closing quote was followed by text.
    stray: bool,
    /// A quotation over several lines was not closed as it should be.
    pub broken: bool,
    pub cells: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    CellStart,
    Plain,
    Quotation,
    /// After a quote within a quotation: its end, or the first half of a doubled quote.
    Closing,
}

impl Quotes {
    pub fn new(delimiter: u8) -> Self {
        Self { delimiter, inside: Inside::CellStart, carried: false, stray: false, broken: false, cells: 1 }
    }

    /// Whether a row's quotes can be read as quotes. In tab-separated text quotes are often
    /// plain characters, so there a stray one is taken for a sign of that.
    pub fn are_sound(row: &[u8], delimiter: u8) -> bool {
        let mut quotes = Self::new(delimiter);
        let mut rest = row;
        while !rest.is_empty() {
            let (line, next) = first_line(rest);
            if quotes.line(line) {
                break;
            }
            rest = rest.get(next..).unwrap_or_default();
        }
        quotes.inside != Inside::Quotation && !quotes.broken && !(quotes.stray && delimiter == b'\t')
    }

    /// Takes the next line without its ending; true if the row ends with it.
    pub fn line(&mut self, line: &[u8]) -> bool {
        if self.inside == Inside::CellStart && memchr(b'"', line).is_none() {
            self.cells = count_cells(line, self.delimiter);
            return true;
        }
        for &byte in line {
            self.inside = match (self.inside, byte) {
                (Inside::CellStart, b'"') => Inside::Quotation,
                (Inside::Quotation, b'"') => Inside::Closing,
                (Inside::Closing, b'"') | (Inside::Quotation, _) => Inside::Quotation,
                (_, byte) if byte == self.delimiter => {
                    self.cells += 1;
                    self.carried = false;
                    Inside::CellStart
                }
                (Inside::Closing, _) => {
                    self.stray = true;
                    self.broken |= self.carried;
                    Inside::Plain
                }
                (Inside::CellStart | Inside::Plain, _) => Inside::Plain,
            };
        }
        let goes_on = self.inside == Inside::Quotation && !self.broken;
        self.carried |= goes_on;
        !goes_on
    }
}

pub(super) fn count_cells(line: &[u8], delimiter: u8) -> usize {
    memchr_iter(delimiter, line).count() + 1
}
