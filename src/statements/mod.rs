//! How are statements written, so that every reader can read them?
//!
//! In all syntaxes but one by the writers of `oxrdfio`. RDF/XML has its own, in [`rdf_xml`]: it cannot
//! hold every literal and every property that RDF has, and one that it cannot hold would make the whole
//! document unreadable.

mod rdf_xml;

use oxrdf::{GraphNameRef, QuadRef, TripleRef};
use oxrdfio::{RdfFormat, RdfSerializer, WriterQuadSerializer};
use rdf_xml::RdfXml;
use std::io::{self, Write};

/// Writes statements one after the other.
pub struct Writer<W: Write> {
    out: Out<W>,
    has_graphs: bool,
    left_out: u64,
}

enum Out<W: Write> {
    Xml(RdfXml<W>),
    Other(Box<WriterQuadSerializer<W>>),
}

impl<W: Write> Writer<W> {
    /// Nothing is written yet. The prefixes are pairs of a name and a namespace.
    pub fn new<'a>(
        out: W,
        format: RdfFormat,
        prefixes: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> io::Result<Self> {
        let writer = if format == RdfFormat::RdfXml {
            Out::Xml(RdfXml::new(out, prefixes))
        } else {
            let mut serializer = RdfSerializer::from_format(format);
            for (prefix, namespace) in prefixes {
                serializer = serializer.with_prefix(prefix, namespace).map_err(io::Error::other)?;
            }
            Out::Other(Box::new(serializer.for_writer(out)))
        };
        Ok(Self { out: writer, has_graphs: format.supports_datasets(), left_out: 0 })
    }

    /// Writes a statement; a syntax that knows no graphs gets it without its own.
    pub fn quad<'a>(&mut self, quad: impl Into<QuadRef<'a>>) -> io::Result<()> {
        let mut quad: QuadRef<'a> = quad.into();
        if !self.has_graphs {
            quad.graph_name = GraphNameRef::DefaultGraph;
        }
        match &mut self.out {
            Out::Xml(out) => self.left_out += u64::from(!out.write(quad.into())?),
            Out::Other(out) => out.serialize_quad(quad)?,
        }
        Ok(())
    }

    /// Writes a statement of the default graph.
    pub fn triple<'a>(&mut self, triple: impl Into<TripleRef<'a>>) -> io::Result<()> {
        self.quad(triple.into().in_graph(GraphNameRef::DefaultGraph))
    }

    /// How many statements were left out, because the syntax cannot say them.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Ends the document and gives back where it went.
    pub fn finish(self) -> io::Result<W> {
        match self.out {
            Out::Xml(out) => out.finish(),
            Out::Other(out) => out.finish(),
        }
    }
}

/// What is to be said of statements that were left out.
pub fn cannot_be_said(left_out: u64) -> String {
    let (statements, have) = if left_out == 1 { ("statement", "has") } else { ("statements", "have") };
    format!(
        "RDF/XML has no way to write {left_out} {statements}, which {have} a property without a name that XML allows; Turtle has"
    )
}
