//! XML: MARCXML, marcxchange, UNIMARC slim, Dublin Core, MODS, and OAI-PMH or SRU around them.
//!
//! In two steps, as every format here. [`split`] cuts the elements that are records out of a
//! document of any size, in bounded memory; it looks at tags only, so that a record with broken
//! insides ends where it ends and costs no neighbour. [`decode`] parses one such element.
//!
//! | step | file | question |
//! |---|---|---|
//! | split | `markup::encoding` | in which character set is the document, really |
//! | split | `window` | which bytes are at hand |
//! | split | `markup::scope` | which elements are open around us, and what do their prefixes mean |
//! | split | `shape` | is this element a record |
//! | decode | `markup::repair` | which text do the bytes stand for |
//! | decode | `events` | what comes next, within the limits |
//! | decode | `marc`, `elements`, `oai` | which fields are that |
//!
//! **Invariant:** nothing is ever expanded, included or followed. A document type declaration
//! refuses the document, an entity other than XML's own five stays what it is: text.
//! **Invariant:** no loop here recurses, and no buffer grows beyond `markup::limits`.

mod check;
mod elements;
mod events;
mod marc;
mod namespaces;
mod oai;
mod shape;
mod split;
mod window;

pub use check::check;
pub use split::split;

use crate::diagnostic::{Code, RecordLog};
use crate::markup::{Refusal, refuse, repair};
use crate::record::{Model, Record, RecordBuilder};
use events::{Events, Node};
use quick_xml::events::BytesStart;
use shape::{Child, Root};

/// Turns one payload of [`split`] into a record. `None` means that it is refused; the reason
/// is the last diagnostic.
pub fn decode(bytes: &[u8], diagnostics: &mut RecordLog) -> Option<Record> {
    let text = repair(bytes, diagnostics);
    let mut events = Events::new(&text);
    match root(&mut events) {
        Ok(record) => {
            events.notes.drain_into(diagnostics);
            Some(record)
        }
        Err(refusal) => diagnostics.refuse(*refusal),
    }
}

fn root(events: &mut Events<'_>) -> Result<Record, Refusal> {
    let start = events.root()?;
    let local_name = start.local_name();
    let record = match Root::named(local_name.as_ref()) {
        Some(Root::Record) => record(events)?,
        Some(root) => metadata(events, &start, root)?,
        None => {
            return refuse(
                Code::UnknownFormat,
                format!("`{}` is not an element that holds a record", start.name().as_ref()),
            );
        }
    };
    events.finish()?;
    if record.fields().len() == 0 && !record.withdrawn {
        return refuse(Code::NotARecord, "the record holds no field");
    }
    Ok(record)
}

/// Reads a `record`: what it holds tells whether it is a MARC record or an OAI-PMH one.
fn record(events: &mut Events<'_>) -> Result<Record, Refusal> {
    loop {
        match events.next()? {
            Node::Start(child) => match Child::named(child.local_name().as_ref()) {
                Some(Child::Oai) => return oai::read(events, child),
                Some(Child::Marc) => return marc::read(events, Some(child)),
                None => {
                    events.notes.bad_field(child.name().as_ref(), "is not an element of a record");
                    events.skip()?;
                }
            },
            Node::Text(_) => {}
            Node::End => return refuse(Code::NotARecord, "the record holds no field"),
        }
    }
}

/// Reads the element that describes something, its start tag already read.
fn metadata(events: &mut Events<'_>, start: &BytesStart<'_>, root: Root) -> Result<Record, Refusal> {
    match root {
        Root::Record => marc::read(events, None),
        Root::DublinCore => {
            let mut builder = RecordBuilder::new(Model::DublinCore);
            elements::read_flat(events, &mut builder)?;
            Ok(builder.finish())
        }
        Root::Mods => {
            let mut builder = RecordBuilder::new(Model::Mods);
            elements::read_tree(events, &mut builder, Some("mods"))?;
            let mut record = builder.finish();
            record.id = elements::mods_identifier(&record, start);
            Ok(record)
        }
    }
}

#[cfg(test)]
mod tests;
