//! One record as an XML element that stands alone, as OAI-PMH carries it.

use super::{marcxml, oai_dc};
use crate::ontology::prefixes;
use crate::publish::Target;
use crate::record::Record;
use crate::statements::Writer;
use oxrdf::{Term, Triple};
use oxrdfio::RdfFormat;
use std::io;

/// The element of a record; `None` for a target that is not written in XML.
pub fn element(target: Target, record: &Record) -> io::Result<Option<String>> {
    match target {
        Target::OaiDc => Ok(Some(oai_dc::record(record))),
        Target::MarcXml => Ok(Some(marcxml::element(record))),
        Target::Bibframe => rdf_xml(&record.triples).map(Some),
        Target::Marc21 | Target::Unimarc => Ok(None),
    }
}

/// RDF/XML with the prefixes that these statements need: all of ours would be longer than a record.
fn rdf_xml(triples: &[Triple]) -> io::Result<String> {
    let is_used = |namespace: &str| {
        triples.iter().any(|triple| {
            let class = match &triple.object {
                Term::NamedNode(node) => node.as_str(),
                _ => "",
            };
            triple.predicate.as_str().starts_with(namespace) || class.starts_with(namespace)
        })
    };
    let used = prefixes().filter(|(_, namespace)| is_used(namespace));
    let mut writer = Writer::new(Vec::new(), RdfFormat::RdfXml, used)?;
    for triple in triples {
        writer.triple(triple)?;
    }
    String::from_utf8(writer.finish()?).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ontology::{bf, rdfs};
    use crate::record::{Model, RecordBuilder};
    use oxrdf::{Literal, NamedNode};
    use quick_xml::NsReader;
    use quick_xml::events::Event;
    use quick_xml::name::ResolveResult;

    /// Local names of the elements; each must have a namespace.
    fn names(xml: &str) -> Vec<String> {
        let mut reader = NsReader::from_str(xml);
        let mut names = Vec::new();
        loop {
            match reader.read_resolved_event().unwrap() {
                (space, Event::Start(tag) | Event::Empty(tag)) => {
                    assert!(matches!(space, ResolveResult::Bound(_)), "{xml}");
                    names.push(tag.local_name().as_ref().to_owned());
                }
                (_, Event::Eof) => return names,
                _ => {}
            }
        }
    }

    #[test]
    fn elements_declare_their_namespaces() {
        let mut builder = RecordBuilder::new(Model::Marc21);
        builder.field("245", ['1', '0'], "", 0);
        builder.subfield("a", "Walden & <more>");
        let marc = element(Target::MarcXml, &builder.finish()).unwrap().unwrap();
        assert_eq!(names(&marc), ["record", "leader", "datafield", "subfield"]);

        let mut builder = RecordBuilder::new(Model::DublinCore);
        builder.field("dc:title", [' ', ' '], "Walden", 0);
        let dublin = element(Target::OaiDc, &builder.finish()).unwrap().unwrap();
        assert_eq!(names(&dublin), ["dc", "title"]);

        let mut record = RecordBuilder::new(Model::Rdf).finish();
        let thing = NamedNode::new_unchecked("urn:thing");
        record.triples.push(Triple::new(thing.clone(), crate::ontology::rdf::TYPE, bf::WORK));
        record.triples.push(Triple::new(thing, rdfs::LABEL, Literal::from("Walden")));
        let rdf = element(Target::Bibframe, &record).unwrap().unwrap();
        assert_eq!(names(&rdf), ["RDF", "Work", "label"]);
        assert!(rdf.matches("xmlns:").count() < 6, "only what is needed: {rdf}");
        assert_eq!(element(Target::Marc21, &record).unwrap(), None);
    }
}
