//! A record of an OAI-PMH response: header, metadata, about.
//!
//! The header identifies and withdraws the record; the metadata is what it says. What `about`
//! says about the metadata is left out.

use super::events::{BLANKS, Events, Node};
use super::shape::Root;
use super::{Refusal, elements, metadata, refuse};
use crate::diagnostic::Code;
use crate::record::{Model, Record, RecordBuilder};
use quick_xml::events::BytesStart;

/// Reads the children of an OAI-PMH `record`, the first of which was read already.
pub(super) fn read<'a>(events: &mut Events<'a>, first: BytesStart<'a>) -> Result<Record, Refusal> {
    let mut header = Header::default();
    let mut content = None;
    let mut node = Node::Start(first);
    loop {
        match node {
            Node::Start(start) => match start.local_name().as_ref() {
                "header" => read_header(events, &start, &mut header)?,
                "metadata" => {
                    if let Some(record) = read_metadata(events)? {
                        content = Some(record);
                    }
                }
                _ => events.skip()?,
            },
            Node::Text(_) => {}
            Node::End => break,
        }
        node = events.next()?;
    }
    let Some(identifier) = header.identifier else {
        return refuse(Code::NotARecord, "the OAI-PMH record has no identifier in its header");
    };
    let mut record = match content {
        Some(record) => record,
        None if header.deleted => RecordBuilder::new(Model::DublinCore).finish(),
        None => {
            return refuse(
                Code::NotARecord,
                format!("the OAI-PMH record `{identifier}` is not deleted and has no metadata"),
            );
        }
    };
    record.id = Some(identifier);
    record.withdrawn |= header.deleted;
    Ok(record)
}

#[derive(Default)]
struct Header {
    identifier: Option<String>,
    deleted: bool,
}

fn read_header(events: &mut Events<'_>, start: &BytesStart<'_>, header: &mut Header) -> Result<(), Refusal> {
    header.deleted |= start
        .attributes()
        .with_checks(false)
        .flatten()
        .any(|attribute| attribute.key.as_ref() == "status" && attribute.value.trim() == "deleted");
    loop {
        match events.next()? {
            Node::Start(start) if start.local_name().as_ref() == "identifier" => {
                let mut identifier = String::new();
                events.text(&mut identifier)?;
                let identifier = identifier.trim_matches(BLANKS);
                if !identifier.is_empty() {
                    header.identifier = Some(identifier.to_owned());
                }
            }
            Node::Start(_) => events.skip()?,
            Node::Text(_) => {}
            Node::End => return Ok(()),
        }
    }
}

/// Reads the first description in `metadata`; a collection around it is passed through.
fn read_metadata(events: &mut Events<'_>) -> Result<Option<Record>, Refusal> {
    let mut content = None;
    let mut collections = 0;
    loop {
        match events.next()? {
            Node::Start(start) => {
                let name = start.local_name();
                let name: &str = name.as_ref();
                if content.is_some() {
                    events.notes.bad_field(name, "is a second description in one record and was left out");
                    events.skip()?;
                } else if matches!(name, "collection" | "modsCollection") {
                    collections += 1;
                } else {
                    content = Some(match Root::named(name) {
                        Some(root) => metadata(events, &start, root)?,
                        None => other(events)?,
                    });
                }
            }
            Node::Text(_) => {}
            Node::End if collections > 0 => collections -= 1,
            Node::End => return Ok(content),
        }
    }
}

/// Reads metadata of a format that no reader knows. Where Dublin Core elements stand at its top,
/// that is what it is; anything else is a tree of elements, as MODS is.
fn other(events: &mut Events<'_>) -> Result<Record, Refusal> {
    let mut builder = RecordBuilder::new(Model::Mods);
    elements::read_tree(events, &mut builder, None)?;
    let mut record = builder.finish();
    let is_dublin_core = record.fields().any(|field| {
        field.depth() == 0 && (field.tag().starts_with("dc:") || field.tag().starts_with("dcterms:"))
    });
    if is_dublin_core {
        record.model = Model::DublinCore;
    }
    Ok(record)
}
