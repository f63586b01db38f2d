//! Which elements are records.
//!
//! The local name says most of it. `record` is also what SRU, OAI-PMH and countless home-made
//! formats call something, so it counts only in a namespace of MARC or OAI-PMH, or when its
//! first child is one of theirs.

/// An element that holds one record, by its local name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    /// MARC or OAI-PMH.
    Record,
    DublinCore,
    Mods,
}

impl Root {
    pub fn named(local_name: &str) -> Option<Self> {
        match local_name {
            // `rec` is the record of UNIMARC slim.
            "record" | "rec" => Some(Self::Record),
            "dc" | "qualifieddc" => Some(Self::DublinCore),
            "mods" => Some(Self::Mods),
            _ => None,
        }
    }
}

/// A child that tells what kind of `record` it stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Child {
    Marc,
    Oai,
}

impl Child {
    pub fn named(local_name: &str) -> Option<Self> {
        match local_name {
            "leader" | "controlfield" | "datafield" | "lab" | "cf" | "df" => Some(Self::Marc),
            "header" | "metadata" | "about" => Some(Self::Oai),
            _ => None,
        }
    }
}

/// What a start tag means to the splitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A record that never holds an element of its own name.
    Plain,
    /// An OAI-PMH record: the record in its `metadata` may have the same name.
    Oai,
    /// A record or a wrapper; the first child will tell.
    Undecided,
    /// Something around records.
    Wrapper,
}

/// Judges a start tag by its local name and its namespace (empty: none).
pub(super) fn kind(local_name: &str, namespace: &str) -> Kind {
    let Some(root) = Root::named(local_name) else {
        return Kind::Wrapper;
    };
    let known = match root {
        Root::Record if is_oai(namespace) => return Kind::Oai,
        Root::Record if is_marc(namespace) => return Kind::Plain,
        Root::Record => return Kind::Undecided,
        Root::DublinCore => is_dublin_core(namespace) || is_oai(namespace),
        Root::Mods => namespace.starts_with("http://www.loc.gov/mods/"),
    };
    if known || namespace.is_empty() { Kind::Plain } else { Kind::Wrapper }
}

/// Roots that may hold no record without anything being wrong.
pub(super) fn may_be_empty(local_name: &str) -> bool {
    matches!(local_name, "OAI-PMH" | "collection" | "modsCollection" | "searchRetrieveResponse")
}

fn is_oai(namespace: &str) -> bool {
    namespace.starts_with("http://www.openarchives.org/OAI/")
        && !namespace.ends_with("/oai_dc/")
        && !namespace.ends_with("/oai_marc/")
}

fn is_marc(namespace: &str) -> bool {
    matches!(
        namespace,
        "http://www.loc.gov/MARC21/slim" | "info:lc/xmlns/marcxchange-v1" | "info:lc/xmlns/marcxchange-v2"
    )
}

fn is_dublin_core(namespace: &str) -> bool {
    namespace.starts_with("http://purl.org/dc/")
        || namespace.ends_with("/oai_dc/")
        || namespace.ends_with("/oai_dc")
        || namespace.starts_with("info:srw/schema/1/dc")
        || namespace == "http://epubs.cclrc.ac.uk/xmlns/qdc/"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_sru_is_not_decided_by_its_name() {
        assert_eq!(kind("record", "http://www.loc.gov/zing/srw/"), Kind::Undecided);
        assert_eq!(kind("record", "http://www.loc.gov/MARC21/slim"), Kind::Plain);
        assert_eq!(kind("record", "http://www.openarchives.org/OAI/2.0/"), Kind::Oai);
    }

    #[test]
    fn dublin_core_needs_its_namespace_or_none() {
        let oai_dc = "http://www.openarchives.org/OAI/2.0/oai_dc/";
        assert_eq!(kind("dc", oai_dc), Kind::Plain);
        assert_eq!(kind("dc", ""), Kind::Plain);
        assert_eq!(kind("dc", "urn:direct-current"), Kind::Wrapper);
    }
}
