//! RDF/XML that is well-formed whatever the statements hold.
//!
//! A property is an element, so the end of its IRI must be a name. Where it is not
//! (`http://example.org/1`), and for the few terms that RDF/XML keeps for itself, the statement cannot be
//! said and is left out. Characters that XML forbids are replaced ([`is_forbidden`]). Carriage returns are
//! written as references: a reader makes line feeds of all others.

use crate::markup::{REPLACEMENT, is_forbidden};
use crate::ontology::rdf;
use oxrdf::{NamedNodeRef, NamedOrBlankNode, NamedOrBlankNodeRef, TermRef, TripleRef};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What XML binds the prefix `xml` to.
const XML: &str = "http://www.w3.org/XML/1998/namespace";
/// What no element may be in.
const XMLNS: &str = "http://www.w3.org/2000/xmlns/";
/// Names in the namespace of RDF that are syntax (RDF 1.1 XML Syntax, 5.1), and `li`, of which readers
/// make other properties.
const SYNTAX: [&str; 12] = [
    "Description",
    "ID",
    "RDF",
    "about",
    "aboutEach",
    "aboutEachPrefix",
    "bagID",
    "datatype",
    "li",
    "nodeID",
    "parseType",
    "resource",
];

/// Writes a document. Statements with one subject that follow each other are one element.
pub(super) struct RdfXml<W: Write> {
    out: W,
    /// By namespace.
    prefixes: BTreeMap<String, String>,
    is_begun: bool,
    /// The subject whose element is open, and the name of the element.
    open: Option<(NamedOrBlankNode, String)>,
}

impl<W: Write> RdfXml<W> {
    pub fn new<'a>(out: W, prefixes: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let prefixes = prefixes.into_iter().map(|(name, namespace)| (namespace.to_owned(), name.to_owned()));
        let mut prefixes: BTreeMap<String, String> = prefixes.collect();
        prefixes.retain(|namespace, name| name != "rdf" && namespace != XML && namespace != XMLNS);
        prefixes.insert(syntax_namespace().to_owned(), "rdf".to_owned());
        Self { out, prefixes, is_begun: false, open: None }
    }

    /// Writes a statement; false if it cannot be said.
    pub fn write(&mut self, triple: TripleRef<'_>) -> io::Result<bool> {
        let Some(property) = self.element(triple.predicate) else { return Ok(false) };
        let mut text = String::new();
        self.begin(&mut text);
        let is_open = self.open.as_ref().is_some_and(|(subject, _)| subject.as_ref() == triple.subject);
        if !is_open {
            self.close(&mut text);
            // The first type of a thing can be the name of its element.
            let class = match triple.object {
                TermRef::NamedNode(class) if triple.predicate == rdf::TYPE => self.element(class),
                _ => None,
            };
            let is_said = class.is_some();
            let Element { name, declaration } = class.unwrap_or_else(|| Element {
                name: "rdf:Description".to_owned(),
                declaration: String::new(),
            });
            text.push_str("\t<");
            text.push_str(&name);
            text.push_str(&declaration);
            match triple.subject {
                NamedOrBlankNodeRef::NamedNode(node) => attribute(&mut text, "rdf:about", node.as_str()),
                NamedOrBlankNodeRef::BlankNode(node) => {
                    attribute(&mut text, "rdf:nodeID", &label(node.as_str()))
                }
            }
            text.push_str(">\n");
            self.open = Some((triple.subject.into_owned(), name));
            if is_said {
                self.out.write_all(text.as_bytes())?;
                return Ok(true);
            }
        }
        text.push_str("\t\t<");
        text.push_str(&property.name);
        text.push_str(&property.declaration);
        match triple.object {
            TermRef::NamedNode(node) => {
                attribute(&mut text, "rdf:resource", node.as_str());
                text.push_str("/>\n");
            }
            TermRef::BlankNode(node) => {
                attribute(&mut text, "rdf:nodeID", &label(node.as_str()));
                text.push_str("/>\n");
            }
            TermRef::Literal(literal) => {
                if let Some(language) = literal.language() {
                    attribute(&mut text, "xml:lang", language);
                } else if literal.datatype() != crate::ontology::xsd::STRING {
                    attribute(&mut text, "rdf:datatype", literal.datatype().as_str());
                }
                text.push('>');
                escape(&mut text, literal.value(), false);
                text.push_str("</");
                text.push_str(&property.name);
                text.push_str(">\n");
            }
            #[allow(unreachable_patterns, reason = "triple terms, where RDF 1.2 is compiled in")]
            _ => return Ok(false),
        }
        self.out.write_all(text.as_bytes())?;
        Ok(true)
    }

    pub fn finish(mut self) -> io::Result<W> {
        let mut text = String::new();
        self.begin(&mut text);
        self.close(&mut text);
        text.push_str("</rdf:RDF>\n");
        self.out.write_all(text.as_bytes())?;
        Ok(self.out)
    }

    fn begin(&mut self, text: &mut String) {
        if self.is_begun {
            return;
        }
        self.is_begun = true;
        text.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rdf:RDF");
        for (namespace, prefix) in &self.prefixes {
            attribute(text, &format!("xmlns:{prefix}"), namespace);
        }
        text.push_str(">\n");
    }

    fn close(&mut self, text: &mut String) {
        if let Some((_, name)) = self.open.take() {
            text.push_str("\t</");
            text.push_str(&name);
            text.push_str(">\n");
        }
    }

    /// The element that stands for an IRI; none if no element can.
    fn element(&self, iri: NamedNodeRef<'_>) -> Option<Element> {
        let (namespace, local) = split(iri.as_str())?;
        let plain = |name: String| Some(Element { name, declaration: String::new() });
        match namespace {
            XMLNS => None,
            XML => plain(format!("xml:{local}")),
            namespace if namespace == syntax_namespace() && SYNTAX.contains(&local) => None,
            namespace => match self.prefixes.get(namespace) {
                Some(prefix) => plain(format!("{prefix}:{local}")),
                None => {
                    let mut declaration = String::new();
                    attribute(&mut declaration, "xmlns", namespace);
                    Some(Element { name: local.to_owned(), declaration })
                }
            },
        }
    }
}

/// The name of an element, and what declares its namespace.
struct Element {
    name: String,
    declaration: String,
}

/// The namespace of RDF.
fn syntax_namespace() -> &'static str {
    rdf::TYPE.as_str().trim_end_matches("type")
}

/// Cuts an IRI before the longest name at its end; none if there is no name.
fn split(iri: &str) -> Option<(&str, &str)> {
    let after = iri.char_indices().rev().find(|(_, c)| !is_name(*c)).map_or(0, |(at, c)| at + c.len_utf8());
    let start = after + iri.get(after..)?.find(is_beginning)?;
    iri.split_at_checked(start).filter(|(namespace, _)| !namespace.is_empty())
}

/// A label that is a name, as XML wants it: those of RDF may begin with a digit.
fn label(label: &str) -> String {
    format!("b{label}")
}

/// `NameStartChar` without the colon.
fn is_beginning(c: char) -> bool {
    matches!(c,
        'A'..='Z' | '_' | 'a'..='z'
        | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
        | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}'
        | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}'
        | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
}

/// `NameChar` without the colon.
fn is_name(c: char) -> bool {
    is_beginning(c)
        || matches!(c, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

fn attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    escape(out, value, true);
    out.push('"');
}

/// Appends a text. In an attribute a reader would make blanks of tabs and line feeds.
fn escape(out: &mut String, text: &str, in_attribute: bool) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#13;"),
            '"' if in_attribute => out.push_str("&quot;"),
            '\t' if in_attribute => out.push_str("&#9;"),
            '\n' if in_attribute => out.push_str("&#10;"),
            c if is_forbidden(c) => out.push(REPLACEMENT),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ontology::{bf, rdf, rdfs};
    use crate::statements::Writer;
    use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple};
    use oxrdfio::{RdfFormat, RdfParser};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn node(iri: &str) -> NamedNode {
        NamedNode::new(iri).unwrap()
    }

    fn written(triples: &[Triple]) -> (String, u64) {
        let prefixes = crate::ontology::prefixes();
        let mut writer = Writer::new(Vec::new(), RdfFormat::RdfXml, prefixes).unwrap();
        for triple in triples {
            writer.triple(triple).unwrap();
        }
        let left_out = writer.left_out();
        (String::from_utf8(writer.finish().unwrap()).unwrap(), left_out)
    }

    /// What another reader makes of it; the labels of blank nodes lose what the writer put before them.
    fn read(xml: &str) -> Result<BTreeSet<String>, String> {
        let parser = RdfParser::from_format(RdfFormat::RdfXml).for_slice(xml.as_bytes());
        let triple = |quad: Result<oxrdf::Quad, _>| {
            quad.map(|quad| Triple::from(quad).to_string().replace("_:b", "_:"))
        };
        parser.map(triple).collect::<Result<_, oxrdfio::RdfSyntaxError>>().map_err(|error| error.to_string())
    }

    #[test]
    fn what_xml_cannot_hold_is_replaced_or_left_out() {
        let (subject, literal) = (node("http://x.example/s"), |text: &str| Literal::from(text));
        let label = |text: &str| Triple::new(subject.clone(), rdfs::LABEL, literal(text));
        let (xml, left_out) = written(&[label("a\u{fffe}b\u{1}c\u{ffff}\u{0}d]]>&<\r\n\t")]);
        assert_eq!(left_out, 0);
        let replaced = "a\u{fffd}b\u{fffd}c\u{fffd}\u{fffd}d]]>&<\r\n\t";
        assert_eq!(read(&xml).unwrap(), BTreeSet::from([label(replaced).to_string()]));

        for property in [
            "http://x.example/1",
            "http://x.example/",
            "http://www.w3.org/1999/02/22-rdf-syntax-ns#li",
            "http://www.w3.org/1999/02/22-rdf-syntax-ns#about",
            "http://www.w3.org/2000/xmlns/a",
        ] {
            let said = label("said");
            let (xml, left_out) =
                written(&[Triple::new(subject.clone(), node(property), literal("x")), said.clone()]);
            assert_eq!((read(&xml), left_out), (Ok(BTreeSet::from([said.to_string()])), 1), "{property}");
        }
    }

    #[test]
    fn a_type_without_a_name_is_an_ordinary_statement() {
        for class in ["http://x.example/1", "http://www.w3.org/1999/02/22-rdf-syntax-ns#li"] {
            let typed = Triple::new(node("http://x.example/s"), rdf::TYPE, node(class));
            let (xml, left_out) = written(std::slice::from_ref(&typed));
            assert_eq!((read(&xml), left_out), (Ok(BTreeSet::from([typed.to_string()])), 0), "{xml}");
        }
        let (xml, _) = written(&[Triple::new(node("http://x.example/s"), rdf::TYPE, bf::WORK)]);
        assert!(xml.contains("<bf:Work rdf:about=\"http://x.example/s\">"), "{xml}");
    }

    #[test]
    fn nothing_is_a_document_too() {
        assert_eq!(read(&written(&[]).0), Ok(BTreeSet::new()));
    }

    fn triples() -> impl Strategy<Value = Vec<Triple>> {
        let iri = "http://x\\.example/[a-z0-9#/:.%&'é-]{0,6}"
            .prop_filter_map("an IRI", |iri| NamedNode::new(iri).ok());
        let blank = "[a-z0-9]{1,3}".prop_map(|label| BlankNode::new(label).unwrap());
        let literal = prop_oneof![
            any::<String>().prop_map(Literal::from),
            "[ -~\u{0}-\u{20}\u{fffc}-\u{ffff}]{0,6}".prop_map(Literal::from),
            any::<String>().prop_map(|text| Literal::new_language_tagged_literal(text, "en").unwrap()),
            any::<String>().prop_map(|text| Literal::new_typed_literal(text, node("http://x.example/t&t"))),
        ];
        let subject = prop_oneof![
            iri.clone().prop_map(NamedOrBlankNode::from),
            blank.clone().prop_map(NamedOrBlankNode::from),
        ];
        let property = prop_oneof![3 => iri.clone(), 1 => Just(rdf::TYPE.into_owned())];
        let object =
            prop_oneof![iri.prop_map(Term::from), blank.prop_map(Term::from), literal.prop_map(Term::from)];
        vec((subject, property, object).prop_map(|(s, p, o)| Triple::new(s, p, o)), 0..6)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever is written can be read, and says the same but for what was replaced or left out.
        #[test]
        fn every_document_is_read_by_others(triples in triples()) {
            let (xml, left_out) = written(&triples);
            let found = read(&xml).map_err(|error| TestCaseError::fail(format!("{error}: {xml}")))?;
            let is_plain = |triple: &&Triple| match &triple.object {
                Term::Literal(literal) => !literal.value().contains(crate::markup::is_forbidden),
                _ => true,
            };
            let expected: BTreeSet<String> = triples.iter().filter(is_plain).map(Triple::to_string).collect();
            let missing = expected.iter().filter(|one| !found.contains(*one)).count();
            prop_assert!(missing as u64 <= left_out, "{} is not {:?}", xml, expected);
        }
    }
}
