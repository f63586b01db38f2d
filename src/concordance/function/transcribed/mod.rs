//! Dates as title pages and cataloguers write them, for [`year`] and [`edtf`].
//!
//! [`tokens`] finds years, decades and the few words and signs that say something about them;
//! [`Dates::read`] makes of them the one date that is meant. Of several dates the first
//! counts, but one in brackets after it corrects it or gives it in our calendar:
//! `5748 [1988]`, `1999 [i.e. 1989]`. A copyright date in brackets does not.
//!
//! [`year`]: super::year()
//! [`edtf`]: super::edtf()

mod token;
mod word;

use token::{Token, tokens};

/// A year, perhaps with month and day, perhaps with digits that are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Date {
    /// The year, its unknown digits being zero.
    pub year: u32,
    /// How many of its last digits are unknown, at most two.
    pub unknown: u32,
    pub month: Option<u32>,
    pub day: Option<u32>,
    pub uncertain: bool,
    pub approximate: bool,
    copyright: bool,
}

impl Date {
    /// The last year it may mean.
    fn latest(self) -> u32 {
        self.year + 10_u32.pow(self.unknown) - 1
    }
}

/// One end of a span of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    Known(Date),
    /// It goes on.
    Open,
    Unknown,
}

/// What a transcribed date says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Dates {
    One(Date),
    Span(End, End),
}

impl Dates {
    /// The date that a text says, nothing if it has none.
    pub fn read(text: &str) -> Option<Self> {
        let tokens = tokens(text);
        let mut rest = &*tokens;
        let mut dates = None;
        while let Some((lead, date, after)) = next_date(rest) {
            if dates.is_some() && !corrects(date, lead) {
                break;
            }
            let (read, left) = Self::of(date, lead, after, dates.is_none());
            dates = Some(read);
            rest = left;
        }
        dates
    }

    /// A date with what is said before and after it, and what is left to read.
    fn of<'a>(date: Date, lead: &[Token], after: &'a [Token], first: bool) -> (Self, &'a [Token]) {
        let says =
            |said| lead.rsplit(|token| *token == Token::Comma).next().is_some_and(|t| t.contains(&said));
        let known = End::Known(date);
        if let Some((end, rest)) = span_end(date, after, says(Token::Between)) {
            return (if end == known { Self::One(date) } else { Self::Span(known, end) }, rest);
        }
        let dates = match unknown_start(lead) {
            Some(start) if first => Self::Span(start, known),
            _ if says(Token::Before) => Self::Span(End::Unknown, known),
            _ if says(Token::After) => Self::Span(known, End::Unknown),
            _ => Self::One(date),
        };
        (dates, after)
    }
}

/// The next date, with what stands before and after it.
fn next_date(tokens: &[Token]) -> Option<(&[Token], Date, &[Token])> {
    let at = tokens.iter().position(|token| matches!(token, Token::Date(_)))?;
    let (lead, found) = tokens.split_at_checked(at)?;
    let (Token::Date(date), after) = found.split_first()? else { return None };
    Some((lead, *date, after))
}

/// The start of a span that a text begins to write only at its dash: `-1999`, `../1999`.
fn unknown_start(lead: &[Token]) -> Option<End> {
    let (last, before) = lead.split_last()?;
    match (last, before) {
        (Token::Open, before) => unknown_start(before),
        (Token::Slash, [Token::Dots]) => Some(End::Open),
        (Token::Slash | Token::Dash, [] | [Token::Open]) => Some(End::Unknown),
        _ => None,
    }
}

/// Whether a date is the right one for the date before it, by what stands between them.
fn corrects(date: Date, lead: &[Token]) -> bool {
    let corrected = lead.contains(&Token::Correction);
    let fits = |token: &Token| match token {
        Token::Open | Token::Blank | Token::Correction | Token::Between => true,
        Token::Comma => corrected,
        _ => false,
    };
    !date.copyright && (corrected || lead.contains(&Token::Open)) && lead.iter().all(fits)
}

/// Where a span that begins with this date ends, and what is left to read; nothing if none does.
fn span_end(start: Date, after: &[Token], between: bool) -> Option<(End, &[Token])> {
    let (sign, rest) = after.split_first()?;
    let is_word = matches!(sign, Token::Or) || (between && matches!(sign, Token::And));
    if !is_word && !matches!(sign, Token::Dash | Token::Slash) {
        return None;
    }
    // A month may stand before the year: `between May 1990 and June 1995`.
    let skipped = |token: &&Token| matches!(token, Token::Open) || (is_word && matches!(token, Token::Other));
    let rest = rest.get(rest.iter().take_while(skipped).count()..)?;
    match (sign, rest.split_first()) {
        (_, Some((Token::Date(end), rest))) => {
            (end.latest() >= start.year).then_some((End::Known(*end), rest))
        }
        (Token::Slash, Some((Token::Dots, rest))) => Some((End::Open, rest)),
        (Token::Slash, None) => Some((End::Unknown, rest)),
        (Token::Dash, None | Some((Token::Comma | Token::Blank, _))) => Some((End::Open, rest)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn year(year: u32) -> End {
        End::Known(Date { year, ..Date::default() })
    }

    #[test]
    fn a_date_in_brackets_corrects_the_one_before() {
        for text in ["1999 [1989]", "1999 [i.e. 1989]", "1999, i.e. 1989", "5748 [1989]", "1410 H. [1989]"] {
            assert_eq!(
                Dates::read(text),
                Some(Dates::One(Date { year: 1989, ..Date::default() })),
                "of {text}"
            );
        }
        for text in ["1999 [c1989]", "1999, [1989]", "1999", "[1999], 1989", "1999 (1989 printing)"] {
            assert_eq!(
                Dates::read(text),
                Some(Dates::One(Date { year: 1999, ..Date::default() })),
                "of {text}"
            );
        }
    }

    #[test]
    fn spans_may_lack_an_end() {
        let cases = [
            ("1999-2003", year(1999), year(2003)),
            ("1999-", year(1999), End::Open),
            ("1999/..", year(1999), End::Open),
            ("1999/", year(1999), End::Unknown),
            ("-1999", End::Unknown, year(1999)),
            ("../1999", End::Open, year(1999)),
            ("not after 1999", End::Unknown, year(1999)),
            ("not before 1999", year(1999), End::Unknown),
        ];
        for (text, start, end) in cases {
            assert_eq!(Dates::read(text), Some(Dates::Span(start, end)), "of {text}");
        }
    }

    #[test]
    fn a_span_does_not_run_backwards() {
        assert_eq!(Dates::read("1999-1989"), Dates::read("1999"));
    }
}
