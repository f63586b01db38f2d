//! The guard in front of foreign parsers of RDF/XML.

use super::events::check_tag;
use crate::decode::RECORD_LIMIT;
use crate::diagnostic::{Code, Diagnostic};
use crate::markup::{Utf8Reader, limits};
use quick_xml::errors::Error;
use quick_xml::events::Event;
use quick_xml::reader::Reader;
use std::io::{self, BufRead, ErrorKind, Read};

/// Reads a whole document and refuses it if it has a document type declaration, is beyond the
/// limits, or is not well-formed.
///
/// The parser that comes after must see the same markup, so a document in UTF-16 or another
/// character set that is not a superset of ASCII is refused as well.
#[expect(clippy::result_large_err, reason = "called once a document, and its callers pass the diagnostic on")]
pub fn check(reader: impl BufRead) -> Result<(), Diagnostic> {
    let mut utf8 = Utf8Reader::new(reader);
    match utf8.unreadable_as_ascii() {
        Ok(None) => {}
        Ok(Some(encoding)) => {
            return Err(Diagnostic::new(
                Code::XmlSyntax,
                format!("the document is in `{encoding}`, which is not read here"),
            )
            .hint("convert the document to UTF-8"));
        }
        Err(error) => return Err(unreadable(&error)),
    }
    let mut reader = Reader::from_reader(Budget { inner: utf8, left: 0 });
    reader.config_mut().check_comments = false;
    let mut buffer = Vec::new();
    let mut depth = 0_usize;
    let mut roots = 0_usize;
    loop {
        buffer.clear();
        reader.get_mut().left = RECORD_LIMIT;
        let event = reader.read_event_into(&mut buffer);
        let refused = |code, message: String| Err(Diagnostic::new(code, message));
        match event {
            Ok(Event::Start(start)) => {
                check_tag(&start).map_err(|refusal| *refusal)?;
                roots += usize::from(depth == 0);
                depth += 1;
                if depth > limits::DEPTH {
                    let message = format!("more than {} elements inside each other", limits::DEPTH);
                    return refused(Code::XmlLimit, message);
                }
            }
            Ok(Event::Empty(start)) => {
                check_tag(&start).map_err(|refusal| *refusal)?;
                roots += usize::from(depth == 0);
            }
            Ok(Event::End(_)) => depth = depth.saturating_sub(1),
            Ok(Event::DocType(_)) => {
                return Err(Diagnostic::new(
                    Code::XmlDoctype,
                    "the document has a document type declaration and was refused",
                )
                .hint("remove the `<!DOCTYPE` declaration and write its entities out"));
            }
            Ok(Event::GeneralRef(reference)) => {
                let known = matches!(&*reference, "amp" | "lt" | "gt" | "quot" | "apos")
                    || matches!(reference.resolve_char_ref(), Ok(Some(_)));
                if !known {
                    let name: String = reference.chars().take(40).collect();
                    return refused(Code::XmlSyntax, format!("`&{name};` stands for nothing"));
                }
            }
            Ok(Event::Eof) if depth > 0 => {
                return refused(
                    Code::TruncatedRecord,
                    format!("the document ends with {depth} elements open"),
                );
            }
            Ok(Event::Eof) if roots == 0 => {
                return refused(Code::XmlSyntax, "the document holds no element".to_owned());
            }
            Ok(Event::Eof) => return Ok(()),
            Ok(_) => {}
            Err(Error::Io(error)) if error.kind() == ErrorKind::FileTooLarge => {
                return refused(
                    Code::XmlLimit,
                    format!("a text or a tag is longer than {RECORD_LIMIT} bytes"),
                );
            }
            Err(Error::Io(error)) => return Err(unreadable(&error)),
            Err(error) => {
                let at = usize::try_from(reader.error_position()).unwrap_or(usize::MAX);
                return Err(Diagnostic::new(Code::XmlSyntax, error.to_string()).at(at));
            }
        }
        if roots > 1 {
            return Err(Diagnostic::new(Code::XmlSyntax, "a second element follows the outermost one"));
        }
    }
}

fn unreadable(error: &io::Error) -> Diagnostic {
    Diagnostic::new(Code::XmlSyntax, format!("the document could not be read: {error}"))
}

/// A reader that fails where one token takes more than its share. `quick-xml` keeps a token in
/// memory, however long it is.
struct Budget<R> {
    inner: R,
    left: usize,
}

impl<R: BufRead> BufRead for Budget<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let left = self.left;
        let available = self.inner.fill_buf()?;
        if left == 0 && !available.is_empty() {
            return Err(ErrorKind::FileTooLarge.into());
        }
        Ok(available.get(..available.len().min(left)).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        self.left = self.left.saturating_sub(amount);
        self.inner.consume(amount);
    }
}

impl<R: BufRead> Read for Budget<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut available = self.fill_buf()?;
        let amount = available.read(out)?;
        self.consume(amount);
        Ok(amount)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(xml: &[u8]) -> Option<Code> {
        check(xml).err().map(|diagnostic| diagnostic.code)
    }

    #[test]
    fn sound_documents_pass() {
        let xml = "\u{FEFF}<?xml version='1.0'?><r:RDF xmlns:r='u'><a b='é'>&lt;&#65;</a><c/></r:RDF>\n";
        assert_eq!(refusal(xml.as_bytes()), None);
        let latin1 = b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xE9</a>";
        assert_eq!(refusal(latin1), None);
    }

    #[test]
    fn what_could_expand_is_refused() {
        let bomb = b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>";
        assert_eq!(refusal(bomb), Some(Code::XmlDoctype));
        assert_eq!(refusal(b"<!doctype a><a/>"), Some(Code::XmlDoctype));
        assert_eq!(refusal(b"<a>&b;</a>"), Some(Code::XmlSyntax));
    }

    #[test]
    fn a_declaration_cannot_hide_in_another_character_set() {
        let utf16: Vec<u8> = "\u{FEFF}<a/>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(refusal(&utf16), Some(Code::XmlSyntax));
        let japanese = b"<?xml version='1.0' encoding='ISO-2022-JP'?><a/>";
        assert_eq!(refusal(japanese), Some(Code::XmlSyntax));
    }

    #[test]
    fn ill_formed_documents_are_refused() {
        assert_eq!(refusal(b"<a><b></a>"), Some(Code::XmlSyntax));
        assert_eq!(refusal(b"<a/><b/>"), Some(Code::XmlSyntax));
        assert_eq!(refusal(b"<a>"), Some(Code::TruncatedRecord));
        assert_eq!(refusal(b" "), Some(Code::XmlSyntax));
        assert_eq!(refusal(b"<a>\xFF</a>"), Some(Code::XmlSyntax));
    }

    #[test]
    fn limits_hold() {
        assert_eq!(refusal("<a>".repeat(257).as_bytes()), Some(Code::XmlLimit));
        let long = format!("<a>{}</a>", "x".repeat(RECORD_LIMIT + 1));
        assert_eq!(refusal(long.as_bytes()), Some(Code::XmlLimit));
    }

    /// The two advisories against the XML reader under RDF/XML are about these.
    #[test]
    fn floods_of_attributes_and_namespaces_never_reach_the_foreign_parser() {
        let attributes: String = (0..300).map(|n| format!(" a{n}=\"\"")).collect();
        assert_eq!(refusal(format!("<a{attributes}/>").as_bytes()), Some(Code::XmlLimit));
        let namespaces: String = (0..100).map(|n| format!(" xmlns:n{n}=\"u:{n}\"")).collect();
        assert_eq!(refusal(format!("<a{namespaces}/>").as_bytes()), Some(Code::XmlLimit));
    }
}
