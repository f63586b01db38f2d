//! The prefixes that tags and attributes are known by, whatever prefix a document chose.

/// Namespace and prefix. Versions of one vocabulary share a prefix: MODS 3 is `mods`.
const PREFIXES: &[(&str, &str)] = &[
    ("http://purl.org/dc/elements/1.1/", "dc"),
    ("http://purl.org/dc/elements/1.0/", "dc"),
    ("http://purl.org/dc/terms/", "dcterms"),
    ("http://purl.org/dc/dcmitype/", "dcmitype"),
    ("http://www.openarchives.org/OAI/2.0/oai_dc/", "oai_dc"),
    ("http://www.openarchives.org/OAI/2.0/", "oai"),
    ("http://www.openarchives.org/OAI/1.1/", "oai"),
    ("http://www.loc.gov/mods/v3", "mods"),
    ("http://www.loc.gov/mods/", "mods"),
    ("http://www.loc.gov/MARC21/slim", "marc"),
    ("info:lc/xmlns/marcxchange-v1", "marc"),
    ("info:lc/xmlns/marcxchange-v2", "marc"),
    ("http://www.loc.gov/mads/v2", "mads"),
    ("http://www.loc.gov/METS/", "mets"),
    ("http://www.loc.gov/zing/srw/", "srw"),
    ("http://www.w3.org/XML/1998/namespace", "xml"),
    ("http://www.w3.org/2001/XMLSchema-instance", "xsi"),
    ("http://www.w3.org/1999/xlink", "xlink"),
    ("http://www.w3.org/1999/02/22-rdf-syntax-ns#", "rdf"),
    ("http://www.w3.org/2000/01/rdf-schema#", "rdfs"),
    ("http://www.w3.org/2004/02/skos/core#", "skos"),
    ("http://xmlns.com/foaf/0.1/", "foaf"),
    ("http://schema.org/", "schema"),
    ("http://id.loc.gov/ontologies/bibframe/", "bf"),
    ("http://www.europeana.eu/schemas/edm/", "edm"),
    ("http://www.ndltd.org/standards/metadata/etdms/1.0/", "etdms"),
    ("http://www.ndltd.org/standards/metadata/etdms/1.1/", "etdms"),
];

/// The prefix a namespace is known by here.
pub(super) fn prefix(namespace: &str) -> Option<&'static str> {
    PREFIXES.iter().find(|(known, _)| *known == namespace).map(|(_, prefix)| *prefix)
}
