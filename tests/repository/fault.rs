//! What can go wrong.

use super::plan::When;

/// Something a repository does wrong. The first 21 have the names of the table of HTTP faults
/// that harvesters are measured by; the numbers of the others are those of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// 503 with `Retry-After: 2`.
    RetryAfter,
    /// 503 with a date two seconds ahead in `Retry-After`.
    RetryAfterDate,
    /// 503 with three years in `Retry-After`.
    RetryAfterHuge,
    /// 429, always.
    TooManyRequests,
    /// 500 every third time.
    ServerError,
    /// Headers, and then nothing.
    TimeoutBody,
    /// Headers, and then a byte now and then.
    Trickle,
    /// gzip, cut in the middle.
    TruncatedGzip,
    /// Says gzip and sends plain XML.
    WrongGzip,
    /// `Content-Length` is less than the body.
    ContentLengthShort,
    /// `Content-Length` is more than the body; then the connection is closed.
    ContentLengthLong,
    /// 302 to a page that leads back.
    RedirectLoop,
    /// 302 to another port of this machine.
    RedirectToLoopback,
    /// 302 to a file.
    RedirectToFile,
    /// 302 from https to http; needs [`tls`](super::Repository::tls).
    RedirectSchemeDowngrade,
    /// The connection is reset in the middle of the body.
    ConnectionReset,
    /// 200 with an empty body.
    Empty200,
    /// Records without end.
    InfiniteBody,
    /// 10 MB of gzip that are 10 GB of XML.
    GzipBomb,
    /// 100,000 headers.
    HeaderFlood,
    /// Always the same records with another token.
    SlowTokenGrowth,

    /// The connection is closed before a byte is sent.
    HangUp,
    /// The request is read and never answered.
    Silence,
    /// 404 for a repository that was there a moment ago.
    NotFound,
    /// 200 with a page of HTML.
    HtmlPage,
    /// The page ends in the middle, and `Content-Length` agrees.
    TruncatedPage,
    /// `badResumptionToken`, and every further use of that list's tokens is one too.
    ExpiredToken,
    /// The token leads back to the page before.
    LoopingToken,
    /// The token is the one that was just used.
    SameToken,
    /// An empty token, which ends the list too early.
    EmptyToken,
    /// Layout around the token.
    WhitespaceToken,
    /// No token, which ends the list too early.
    MissingToken,
    /// A token of 300,000 characters.
    HugeToken,
    /// A token that is harmful where it is not encoded.
    TokenInjection,
    /// No records, but a token to go on with.
    EmptyPage,
    /// `completeListSize` and `cursor` are nonsense.
    CursorLies,
    /// The first record of the page comes twice, the second time as it was a day before.
    DuplicateIdentifiers,
    /// The namespace is that of version 1.1.
    WrongNamespace,
    /// There is no namespace.
    NoNamespace,
    /// A document type declaration.
    Doctype,
    /// An error and the records it denies.
    ErrorAndRecords,
    /// `responseDate` in the year 2999.
    FutureResponseDate,
    /// Datestamps that are no dates.
    BadDatestamps,

    /// An element in this record is not closed.
    BrokenXml(usize),
    /// Bytes in this record that are no UTF-8.
    BadUtf8(usize),
    /// `&` in this record.
    UnescapedAmpersand(usize),
    /// `&nbsp;` in this record.
    UndefinedEntity(usize),
    /// A control character in this record.
    ControlCharacter(usize),
    /// This record has no header.
    MissingHeader(usize),
    /// The header of this record has no identifier.
    MissingIdentifier(usize),
    /// 500 for every page with this record, and for the record itself.
    RecordFails(usize),
}

impl Fault {
    /// The table of HTTP faults, in its order.
    pub const HTTP: [Self; 21] = [
        Self::RetryAfter,
        Self::RetryAfterDate,
        Self::RetryAfterHuge,
        Self::TooManyRequests,
        Self::ServerError,
        Self::TimeoutBody,
        Self::Trickle,
        Self::TruncatedGzip,
        Self::WrongGzip,
        Self::ContentLengthShort,
        Self::ContentLengthLong,
        Self::RedirectLoop,
        Self::RedirectToLoopback,
        Self::RedirectToFile,
        Self::RedirectSchemeDowngrade,
        Self::ConnectionReset,
        Self::Empty200,
        Self::InfiniteBody,
        Self::GzipBomb,
        Self::HeaderFlood,
        Self::SlowTokenGrowth,
    ];

    /// Everything else that goes wrong with a page.
    pub const PAGE: [Self; 22] = [
        Self::HangUp,
        Self::Silence,
        Self::NotFound,
        Self::HtmlPage,
        Self::TruncatedPage,
        Self::ExpiredToken,
        Self::LoopingToken,
        Self::SameToken,
        Self::EmptyToken,
        Self::WhitespaceToken,
        Self::MissingToken,
        Self::HugeToken,
        Self::TokenInjection,
        Self::EmptyPage,
        Self::CursorLies,
        Self::DuplicateIdentifiers,
        Self::WrongNamespace,
        Self::NoNamespace,
        Self::Doctype,
        Self::ErrorAndRecords,
        Self::FutureResponseDate,
        Self::BadDatestamps,
    ];

    /// What goes wrong with a record.
    pub const fn of_record(number: usize) -> [Self; 8] {
        [
            Self::BrokenXml(number),
            Self::BadUtf8(number),
            Self::UnescapedAmpersand(number),
            Self::UndefinedEntity(number),
            Self::ControlCharacter(number),
            Self::MissingHeader(number),
            Self::MissingIdentifier(number),
            Self::RecordFails(number),
        ]
    }

    /// The fault of a name, and of a record where it needs one (`broken_xml:17`).
    pub fn named(text: &str) -> Option<Self> {
        let (name, number) = match text.split_once(':') {
            None => (text, None),
            Some((name, number)) => (name, Some(number.parse().ok()?)),
        };
        let faults = match number {
            None => [Self::HTTP.as_slice(), Self::PAGE.as_slice()].concat(),
            Some(number) => Self::of_record(number).to_vec(),
        };
        faults.into_iter().find(|fault| fault.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::RetryAfter => "503_retry_after",
            Self::RetryAfterDate => "503_retry_after_date",
            Self::RetryAfterHuge => "503_retry_after_huge",
            Self::TooManyRequests => "429_forever",
            Self::ServerError => "500_every_3rd",
            Self::TimeoutBody => "timeout_body",
            Self::Trickle => "trickle",
            Self::TruncatedGzip => "truncated_gzip",
            Self::WrongGzip => "wrong_gzip",
            Self::ContentLengthShort => "content_length_short",
            Self::ContentLengthLong => "content_length_long",
            Self::RedirectLoop => "redirect_loop",
            Self::RedirectToLoopback => "redirect_to_loopback",
            Self::RedirectToFile => "redirect_to_file",
            Self::RedirectSchemeDowngrade => "redirect_scheme_downgrade",
            Self::ConnectionReset => "connection_reset",
            Self::Empty200 => "empty_200",
            Self::InfiniteBody => "infinite_body",
            Self::GzipBomb => "gzip_bomb",
            Self::HeaderFlood => "header_flood",
            Self::SlowTokenGrowth => "slow_token_growth",
            Self::HangUp => "hang_up",
            Self::Silence => "silence",
            Self::NotFound => "404",
            Self::HtmlPage => "error_200_html",
            Self::TruncatedPage => "truncated_page",
            Self::ExpiredToken => "expired_token",
            Self::LoopingToken => "token_loop",
            Self::SameToken => "token_loop_same",
            Self::EmptyToken => "token_empty_with_records",
            Self::WhitespaceToken => "token_whitespace",
            Self::MissingToken => "missing_token",
            Self::HugeToken => "token_huge",
            Self::TokenInjection => "token_injection",
            Self::EmptyPage => "token_but_no_records",
            Self::CursorLies => "cursor_lies",
            Self::DuplicateIdentifiers => "duplicate_identifier",
            Self::WrongNamespace => "wrong_namespace",
            Self::NoNamespace => "no_namespace",
            Self::Doctype => "doctype",
            Self::ErrorAndRecords => "error_and_records",
            Self::FutureResponseDate => "future_response_date",
            Self::BadDatestamps => "bad_datestamps",
            Self::BrokenXml(_) => "broken_xml",
            Self::BadUtf8(_) => "bad_utf8",
            Self::UnescapedAmpersand(_) => "unescaped_amp",
            Self::UndefinedEntity(_) => "undefined_entity",
            Self::ControlCharacter(_) => "control_chars",
            Self::MissingHeader(_) => "missing_header",
            Self::MissingIdentifier(_) => "missing_identifier",
            Self::RecordFails(_) => "record_fails",
        }
    }

    /// How often it happens where nothing else is said: once, at the second page, if a second
    /// try is to succeed; always, if the harvester is to notice or to live with it.
    pub fn usually(self) -> When {
        match self {
            Self::ServerError => When::Every(3),
            Self::RetryAfter
            | Self::RetryAfterDate
            | Self::TimeoutBody
            | Self::Trickle
            | Self::TruncatedGzip
            | Self::WrongGzip
            | Self::ContentLengthShort
            | Self::ContentLengthLong
            | Self::ConnectionReset
            | Self::Empty200
            | Self::HangUp
            | Self::Silence
            | Self::HtmlPage
            | Self::TruncatedPage
            | Self::ExpiredToken
            | Self::EmptyToken
            | Self::MissingToken
            | Self::EmptyPage => When::Once(2),
            _ => When::Always,
        }
    }

    /// Whether it is done to the socket, since no HTTP library would do it.
    pub fn is_raw(self) -> bool {
        matches!(
            self,
            Self::TimeoutBody
                | Self::Trickle
                | Self::ContentLengthShort
                | Self::ContentLengthLong
                | Self::ConnectionReset
                | Self::InfiniteBody
                | Self::GzipBomb
                | Self::HeaderFlood
                | Self::HangUp
                | Self::Silence
        )
    }

    /// Whether the records of the page do not reach the client, or should not count if they do.
    pub fn loses_the_page(self) -> bool {
        self.is_raw()
            || matches!(self, Self::TruncatedGzip | Self::TruncatedPage | Self::Empty200 | Self::HtmlPage)
    }

    /// The record it is about, if it is about one.
    pub fn record(self) -> Option<usize> {
        match self {
            Self::BrokenXml(number)
            | Self::BadUtf8(number)
            | Self::UnescapedAmpersand(number)
            | Self::UndefinedEntity(number)
            | Self::ControlCharacter(number)
            | Self::MissingHeader(number)
            | Self::MissingIdentifier(number)
            | Self::RecordFails(number) => Some(number),
            _ => None,
        }
    }
}
