//! Records as bytes: ISO 2709, MARCXML, Dublin Core in XML, RDF.
//!
//! A writer puts one record after another behind what opens a file, and closes it at the end;
//! nothing is kept in between.

mod element;
mod iso2709;
mod marcxml;
mod oai_dc;
pub(super) mod xml;

pub use element::element;
pub use iso2709::iso2709;

use super::Target;
use crate::diagnostic::Diagnostic;
use crate::ontology::prefixes;
use crate::record::Record;
use oxrdfio::{RdfFormat, RdfSerializer, WriterQuadSerializer};
use std::io::{self, Write};

/// Writes records of one target.
pub struct RecordWriter<W: Write> {
    out: Out<W>,
}

enum Out<W: Write> {
    Iso2709(W),
    Xml(W, Target),
    Rdf(Box<WriterQuadSerializer<W>>),
}

impl<W: Write> RecordWriter<W> {
    /// Opens a file; `format` is the syntax of BIBFRAME.
    pub fn new(target: Target, format: RdfFormat, mut out: W) -> io::Result<Self> {
        let out = match target {
            Target::Marc21 | Target::Unimarc => Out::Iso2709(out),
            Target::MarcXml => {
                out.write_all(marcxml::OPEN.as_bytes())?;
                Out::Xml(out, target)
            }
            Target::OaiDc => {
                out.write_all(oai_dc::OPEN.as_bytes())?;
                Out::Xml(out, target)
            }
            Target::Bibframe => {
                let mut serializer = RdfSerializer::from_format(format);
                for (prefix, namespace) in prefixes() {
                    serializer = serializer.with_prefix(prefix, namespace).map_err(io::Error::other)?;
                }
                Out::Rdf(Box::new(serializer.for_writer(out)))
            }
        };
        Ok(Self { out })
    }

    /// Writes a record; what did not fit is told.
    pub fn write(&mut self, record: &Record) -> io::Result<Option<Diagnostic>> {
        match &mut self.out {
            Out::Iso2709(out) => {
                let (bytes, problem) = iso2709(record);
                out.write_all(&bytes)?;
                return Ok(problem);
            }
            Out::Xml(out, Target::OaiDc) => out.write_all(oai_dc::record(record).as_bytes())?,
            Out::Xml(out, _) => out.write_all(marcxml::record(record).as_bytes())?,
            Out::Rdf(serializer) => {
                for triple in &record.triples {
                    serializer.serialize_triple(triple)?;
                }
            }
        }
        Ok(None)
    }

    /// Closes what was opened and gives the file back.
    pub fn finish(self) -> io::Result<W> {
        match self.out {
            Out::Iso2709(out) => Ok(out),
            Out::Xml(mut out, target) => {
                let close = if target == Target::OaiDc { oai_dc::CLOSE } else { marcxml::CLOSE };
                out.write_all(close.as_bytes())?;
                Ok(out)
            }
            Out::Rdf(serializer) => serializer.finish(),
        }
    }
}
