//! What the protocol's schema demands of an answer.

use super::tree::Node;
use regex::Regex;
use std::cell::RefCell;
use std::collections::HashMap;

const UTC: &str = r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?";
const WORD: &str = r"[A-Za-z0-9_.!~*'()-]+";
const SPEC: &str = r"[A-Za-z0-9_.!~*'()-]+(:[A-Za-z0-9_.!~*'()-]+)*";
const VERB: &str = "Identify|ListMetadataFormats|ListSets|GetRecord|ListIdentifiers|ListRecords";
const CODE: &str = "cannotDisseminateFormat|idDoesNotExist|badArgument|badVerb|noMetadataFormats|\
                    noRecordsMatch|badResumptionToken|noSetHierarchy";
const ANY: &str = "(?s).*";

/// Element, its children in order (each followed by a blank), and its text where it has no children.
const ELEMENTS: &[(&str, &str, &str)] = &[
    (
        "OAI-PMH",
        "responseDate request ((error )+|(Identify|ListMetadataFormats|ListSets|GetRecord|ListIdentifiers|ListRecords) )",
        "",
    ),
    ("responseDate", "", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"),
    ("request", "", r"\S+"),
    ("error", "", ANY),
    (
        "Identify",
        "repositoryName baseURL protocolVersion (adminEmail )+earliestDatestamp deletedRecord granularity \
         (compression )*(description )*",
        "",
    ),
    ("repositoryName", "", ANY),
    ("baseURL", "", r"\S+"),
    ("protocolVersion", "", r"2\.0"),
    ("adminEmail", "", r"\S+@(\S+\.)+\S+"),
    ("earliestDatestamp", "", UTC),
    ("deletedRecord", "", "no|persistent|transient"),
    ("granularity", "", "YYYY-MM-DD(Thh:mm:ssZ)?"),
    ("description", r"\S+ ", ""),
    ("ListMetadataFormats", "(metadataFormat )+", ""),
    ("metadataFormat", "metadataPrefix schema metadataNamespace ", ""),
    ("metadataPrefix", "", WORD),
    ("schema", "", r"\S+"),
    ("metadataNamespace", "", r"\S+"),
    ("ListSets", "(set )+(resumptionToken )?", ""),
    ("set", "setSpec setName (setDescription )*", ""),
    ("setSpec", "", SPEC),
    ("setName", "", ANY),
    ("setDescription", r"\S+ ", ""),
    ("GetRecord", "record ", ""),
    ("ListRecords", "(record )+(resumptionToken )?", ""),
    ("ListIdentifiers", "(header )+(resumptionToken )?", ""),
    ("record", "header (metadata )?(about )*", ""),
    ("header", "identifier datestamp (setSpec )*", ""),
    ("identifier", "", r"\S+"),
    ("datestamp", "", UTC),
    ("metadata", r"\S+ ", ""),
    ("resumptionToken", "", ANY),
];

/// Element, attribute, and its value.
const ATTRIBUTES: &[(&str, &str, &str)] = &[
    ("request", "verb", VERB),
    ("request", "identifier", r"\S+"),
    ("request", "metadataPrefix", WORD),
    ("request", "from", UTC),
    ("request", "until", UTC),
    ("request", "set", SPEC),
    ("request", "resumptionToken", ANY),
    ("error", "code", CODE),
    ("header", "status", "deleted"),
    ("resumptionToken", "completeListSize", "[1-9][0-9]*"),
    ("resumptionToken", "cursor", "[0-9]+"),
    ("OAI-PMH", "xmlns", r"\S+/OAI/2\.0/"),
    ("OAI-PMH", "xmlns:xsi", r"\S+/XMLSchema-instance"),
    ("OAI-PMH", "xsi:schemaLocation", r"\S+/OAI/2\.0/ \S+/OAI/2\.0/OAI-PMH\.xsd"),
];

/// Elements whose children are of other namespaces.
const FOREIGN: &[&str] = &["metadata", "description", "setDescription"];

fn fits(pattern: &'static str, text: &str) -> bool {
    thread_local! {
        static COMPILED: RefCell<HashMap<&'static str, Regex>> = RefCell::default();
    }
    let compile = || Regex::new(&format!("^(?:{pattern})$")).unwrap();
    COMPILED.with_borrow_mut(|known| known.entry(pattern).or_insert_with(compile).is_match(text))
}

/// Checks an answer and gives it back as a tree.
#[track_caller]
pub fn checked(xml: &str) -> Node {
    let root = Node::read(xml);
    assert_eq!(root.name, "OAI-PMH");
    check(&root);
    root
}

#[track_caller]
fn check(node: &Node) {
    let name = node.name.as_str();
    let found = ELEMENTS.iter().find(|(known, ..)| *known == name);
    let (_, children, text) = found.unwrap_or_else(|| panic!("the schema has no {name}"));
    let names: String = node.children.iter().map(|child| format!("{} ", child.name)).collect();
    assert!(fits(children, &names), "{name} holds {names}");
    if children.is_empty() {
        assert!(fits(text, &node.text), "{name} says {:?}", node.text);
    }
    for (key, value) in &node.attributes {
        let known = ATTRIBUTES.iter().find(|(of, attribute, _)| *of == name && attribute == key);
        let (_, _, pattern) = known.unwrap_or_else(|| panic!("{name} may have no {key}"));
        assert!(fits(pattern, value), "{name} has {key}={value:?}");
    }
    if !FOREIGN.contains(&name) {
        node.children.iter().for_each(check);
    }
}
