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
use crate::statements::Writer;
use oxrdfio::RdfFormat;
use std::io::{self, Write};

/// Writes records of one target.
pub struct RecordWriter<W: Write> {
    out: Out<W>,
}

enum Out<W: Write> {
    Iso2709(W),
    Xml(W, Target),
    Rdf(Box<Writer<W>>),
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
            Target::Bibframe => Out::Rdf(Box::new(Writer::new(out, format, prefixes())?)),
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
            Out::Rdf(writer) => {
                for triple in &record.triples {
                    writer.triple(triple)?;
                }
            }
        }
        Ok(None)
    }

    /// How many statements were left out, because the syntax cannot say them.
    pub fn left_out(&self) -> u64 {
        if let Out::Rdf(writer) = &self.out { writer.left_out() } else { 0 }
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
            Out::Rdf(writer) => writer.finish(),
        }
    }
}
