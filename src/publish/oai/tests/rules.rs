//! The rules of the protocol and of its validator, one a line.

use super::*;

/// What a rule expects: the verb's element, or all errors in their order.
enum Expected {
    Answer(&'static str),
    Errors(&'static [&'static str]),
}
use Expected::{Answer, Errors};

/// Rule, query, expectation. `ID` stands for the name of a record, `GONE` for that of a deleted
/// one, `BARE` for one without MARC.
const RULES: &[(&str, &str, Expected)] = &[
    // Verbs
    ("no argument at all", "", Errors(&["badVerb"])),
    ("validator: an argument that is no verb", "junk", Errors(&["badVerb"])),
    ("validator: a verb that is none", "verb=junk", Errors(&["badVerb"])),
    ("an empty verb", "verb=", Errors(&["badVerb"])),
    ("verbs are written as they are", "verb=identify", Errors(&["badVerb"])),
    ("a repeated verb", "verb=Identify&verb=Identify", Errors(&["badVerb"])),
    // Identify
    ("Identify", "verb=Identify", Answer("Identify")),
    ("Identify takes no argument", "verb=Identify&metadataPrefix=oai_dc", Errors(&["badArgument"])),
    ("unknown arguments are illegal", "verb=Identify&x=1", Errors(&["badArgument"])),
    // ListMetadataFormats
    ("all formats", "verb=ListMetadataFormats", Answer("ListMetadataFormats")),
    ("formats of a record", "verb=ListMetadataFormats&identifier=ID", Answer("ListMetadataFormats")),
    (
        "formats of a deleted record",
        "verb=ListMetadataFormats&identifier=GONE",
        Answer("ListMetadataFormats"),
    ),
    (
        "formats of no record",
        "verb=ListMetadataFormats&identifier=oai:x.example:1",
        Errors(&["idDoesNotExist"]),
    ),
    (
        "validator: an identifier that is no URI",
        "verb=ListMetadataFormats&identifier=invalid%22id",
        Errors(&["badArgument"]),
    ),
    (
        "formats of a record without one",
        "verb=ListMetadataFormats&identifier=NONE",
        Errors(&["noMetadataFormats"]),
    ),
    // ListSets
    ("sets", "verb=ListSets", Answer("ListSets")),
    (
        "validator: junk instead of a token for sets",
        "verb=ListSets&resumptionToken=junk",
        Errors(&["badResumptionToken"]),
    ),
    // GetRecord
    ("a record", "verb=GetRecord&identifier=ID&metadataPrefix=oai_dc", Answer("GetRecord")),
    ("a deleted record", "verb=GetRecord&identifier=GONE&metadataPrefix=oai_dc", Answer("GetRecord")),
    ("validator: no identifier", "verb=GetRecord&metadataPrefix=oai_dc", Errors(&["badArgument"])),
    ("validator: no prefix", "verb=GetRecord&identifier=ID", Errors(&["badArgument"])),
    ("both missing are both told", "verb=GetRecord", Errors(&["badArgument", "badArgument"])),
    (
        "validator: an identifier with a quotation mark",
        "verb=GetRecord&identifier=invalid\"id&metadataPrefix=oai_dc",
        Errors(&["badArgument"]),
    ),
    (
        "no such record",
        "verb=GetRecord&identifier=oai:catalogue.example:loc/x&metadataPrefix=oai_dc",
        Errors(&["idDoesNotExist"]),
    ),
    (
        "a name of another repository",
        "verb=GetRecord&identifier=loc/1&metadataPrefix=oai_dc",
        Errors(&["idDoesNotExist"]),
    ),
    (
        "no such format",
        "verb=GetRecord&identifier=ID&metadataPrefix=mods",
        Errors(&["cannotDisseminateFormat"]),
    ),
    (
        "a format this record lacks",
        "verb=GetRecord&identifier=BARE&metadataPrefix=marc21",
        Errors(&["cannotDisseminateFormat"]),
    ),
    (
        "neither record nor format",
        "verb=GetRecord&identifier=x&metadataPrefix=mods",
        Errors(&["idDoesNotExist", "cannotDisseminateFormat"]),
    ),
    (
        "a prefix of wrong letters",
        "verb=GetRecord&identifier=ID&metadataPrefix=oai%20dc",
        Errors(&["badArgument"]),
    ),
    ("an empty prefix", "verb=GetRecord&identifier=ID&metadataPrefix=", Errors(&["badArgument"])),
    (
        "a repeated argument",
        "verb=GetRecord&identifier=ID&identifier=ID&metadataPrefix=oai_dc",
        Errors(&["badArgument"]),
    ),
    (
        "from is no argument here",
        "verb=GetRecord&identifier=ID&metadataPrefix=oai_dc&from=2020-01-01",
        Errors(&["badArgument"]),
    ),
    // Lists
    ("identifiers", "verb=ListIdentifiers&metadataPrefix=oai_dc", Answer("ListIdentifiers")),
    ("records", "verb=ListRecords&metadataPrefix=oai_dc", Answer("ListRecords")),
    ("validator: records without prefix", "verb=ListRecords", Errors(&["badArgument"])),
    ("validator: until is junk", "verb=ListIdentifiers&until=junk", Errors(&["badArgument", "badArgument"])),
    ("validator: from is junk", "verb=ListIdentifiers&from=junk", Errors(&["badArgument", "badArgument"])),
    (
        "validator: records from junk",
        "verb=ListRecords&metadataPrefix=oai_dc&from=junk",
        Errors(&["badArgument"]),
    ),
    (
        "validator: records until junk",
        "verb=ListRecords&metadataPrefix=oai_dc&until=junk",
        Errors(&["badArgument"]),
    ),
    (
        "validator: a token stands alone",
        "verb=ListIdentifiers&resumptionToken=junk&until=2000-02-05",
        Errors(&["badArgument"]),
    ),
    (
        "validator: a token stands alone, twice",
        "verb=ListRecords&metadataPrefix=oai_dc&resumptionToken=junk&until=1990-01-10",
        Errors(&["badArgument", "badArgument"]),
    ),
    (
        "validator: junk instead of a token",
        "verb=ListRecords&resumptionToken=junk",
        Errors(&["badResumptionToken"]),
    ),
    ("an empty token", "verb=ListRecords&resumptionToken=", Errors(&["badResumptionToken"])),
    ("a repeated token", "verb=ListRecords&resumptionToken=a&resumptionToken=b", Errors(&["badArgument"])),
    (
        "validator: two granularities",
        "verb=ListRecords&metadataPrefix=oai_dc&from=2002-02-05&until=2002-02-06T05:35:00Z",
        Errors(&["badArgument"]),
    ),
    (
        "validator: a year before the earliest",
        "verb=ListRecords&metadataPrefix=oai_dc&until=2019-09-13T12:26:40Z",
        Errors(&["noRecordsMatch"]),
    ),
    (
        "the day before the earliest",
        "verb=ListRecords&metadataPrefix=oai_dc&until=2020-09-12",
        Errors(&["noRecordsMatch"]),
    ),
    (
        "validator: from and until are inclusive",
        "verb=ListRecords&metadataPrefix=oai_dc&from=2020-09-13T12:26:40Z&until=2020-09-13T12:26:40Z",
        Answer("ListRecords"),
    ),
    (
        "days stand for all their seconds",
        "verb=ListRecords&metadataPrefix=oai_dc&from=2020-09-13&until=2020-09-13",
        Answer("ListRecords"),
    ),
    (
        "from after until",
        "verb=ListRecords&metadataPrefix=oai_dc&from=2021-01-02&until=2021-01-01",
        Errors(&["badArgument"]),
    ),
    (
        "from before all records",
        "verb=ListRecords&metadataPrefix=oai_dc&from=1990-01-01",
        Answer("ListRecords"),
    ),
    (
        "from in the future",
        "verb=ListRecords&metadataPrefix=oai_dc&from=2999-01-01",
        Errors(&["noRecordsMatch"]),
    ),
    (
        "days that are none",
        "verb=ListRecords&metadataPrefix=oai_dc&from=2021-02-29",
        Errors(&["badArgument"]),
    ),
    (
        "only UTC",
        "verb=ListRecords&metadataPrefix=oai_dc&from=2021-02-01T00:00:00%2B01:00",
        Errors(&["badArgument"]),
    ),
    (
        "no fractions",
        "verb=ListRecords&metadataPrefix=oai_dc&from=2021-02-01T00:00:00.5Z",
        Errors(&["badArgument"]),
    ),
    ("an empty from", "verb=ListRecords&metadataPrefix=oai_dc&from=", Errors(&["badArgument"])),
    ("a set", "verb=ListRecords&metadataPrefix=oai_dc&set=type:book", Answer("ListRecords")),
    ("an unknown set", "verb=ListRecords&metadataPrefix=oai_dc&set=nothing", Errors(&["noRecordsMatch"])),
    ("a set of wrong letters", "verb=ListRecords&metadataPrefix=oai_dc&set=a%20b", Errors(&["badArgument"])),
    ("no such format", "verb=ListRecords&metadataPrefix=mods", Errors(&["cannotDisseminateFormat"])),
    (
        "identifiers in no such format",
        "verb=ListIdentifiers&metadataPrefix=mods",
        Errors(&["cannotDisseminateFormat"]),
    ),
    (
        "identifier is no argument here",
        "verb=ListRecords&metadataPrefix=oai_dc&identifier=ID",
        Errors(&["badArgument"]),
    ),
];

fn repository() -> Memory {
    let mut memory = Memory::generated(40, 100);
    let all = ["oai_dc", "marc21", "bibframe"].map(str::to_owned).to_vec();
    memory.records.get_mut("bnf/1").unwrap().lacks = all;
    memory
}

#[test]
fn each_rule_holds() {
    let memory = repository();
    let named = [("ID", "ubl/5"), ("GONE", "bnf/10"), ("BARE", "loc/3"), ("NONE", "bnf/1")];
    // Every tenth record has another name.
    let gone = memory.records.values().find(|kept| kept.header.deleted).unwrap().header.id.clone();
    for (rule, query, expected) in RULES {
        let mut query = (*query).to_owned();
        for (word, id) in named {
            let id = if word == "GONE" { &gone } else { id };
            let name = identifier("catalogue.example", id).replace('%', "%25");
            query = query.replace(&format!("identifier={word}"), &format!("identifier={name}"));
        }
        let root = asked(&memory, &query);
        let found: Vec<&str> = root.all("error").map(|error| error.attribute("code").unwrap()).collect();
        match expected {
            Answer(element) => {
                assert_eq!(root.children.last().unwrap().name, *element, "{rule}: {query}: {found:?}");
            }
            Errors(codes) => assert_eq!(found, *codes, "{rule}: {query}"),
        }
        check_echo(rule, &query, &root, &found);
    }
}

/// The request is repeated, with its arguments unless verb or arguments are wrong.
fn check_echo(rule: &str, query: &str, root: &Node, codes: &[&str]) {
    let request = root.one("request");
    let refused = codes.iter().any(|code| ["badVerb", "badArgument"].contains(code));
    let expected = if refused { Vec::new() } else { Request::parse(BASE, query.as_bytes()).arguments };
    assert_eq!(request.attributes, expected, "{rule}");
    assert_eq!(request.text, BASE, "{rule}");
}

#[test]
fn without_sets_there_is_no_hierarchy() {
    let memory = Memory { has_sets: false, ..repository() };
    for query in ["verb=ListSets", "verb=ListRecords&metadataPrefix=oai_dc&set=source"] {
        assert_eq!(asked(&memory, query).one("error").attribute("code"), Some("noSetHierarchy"), "{query}");
    }
}

#[test]
fn too_many_or_too_long_arguments_are_bad_ones() {
    let memory = repository();
    let long = format!("verb=ListRecords&resumptionToken={}", "A".repeat(70_000));
    for query in [long, format!("verb=Identify{}", "&x=1".repeat(200))] {
        assert_eq!(asked(&memory, &query).one("error").attribute("code"), Some("badArgument"));
    }
}

#[test]
fn identify_says_what_the_validator_asks_for() {
    let identity = asked(&repository(), "verb=Identify").one("Identify").clone();
    let says = |name: &str| identity.one(name).text.clone();
    assert_eq!(says("baseURL"), BASE, "the base URL is the one that was asked");
    assert_eq!(says("protocolVersion"), "2.0");
    assert_eq!(says("granularity"), "YYYY-MM-DDThh:mm:ssZ");
    assert_eq!(says("earliestDatestamp"), "2020-09-13T12:26:40Z", "in the granularity of the repository");
    assert_eq!(says("deletedRecord"), "persistent");
    let descriptions: Vec<&Node> = identity.all("description").map(|it| &it.children[0]).collect();
    let [scheme, friends] = descriptions.as_slice() else { panic!("{descriptions:?}") };
    assert_eq!(scheme.one("repositoryIdentifier").text, "catalogue.example");
    assert_eq!(scheme.one("sampleIdentifier").text, "oai:catalogue.example:loc/123");
    assert_eq!(friends.one("baseURL").text, format!("{}://friend.example/oai?a=1&b=2", "https"));
    // A host without a name has no scheme that the guidelines allow.
    let bare = Memory { namespace: "127.0.0.1".to_owned(), ..repository() };
    let identity = asked(&bare, "verb=Identify").one("Identify").clone();
    assert_eq!(identity.all("description").count(), 1);
}

#[test]
fn formats_come_with_dublin_core_first() {
    let prefixes = |query: &str| -> Vec<String> {
        let list = asked(&repository(), query).one("ListMetadataFormats").clone();
        list.all("metadataFormat").map(|format| format.one("metadataPrefix").text.clone()).collect()
    };
    assert_eq!(prefixes("verb=ListMetadataFormats"), ["oai_dc", "marc21", "bibframe"]);
    let bare = "verb=ListMetadataFormats&identifier=oai:catalogue.example:loc/3";
    assert_eq!(prefixes(bare), ["oai_dc", "bibframe"]);
}

#[test]
fn deleted_records_have_a_header_alone() {
    let list = asked(&repository(), "verb=ListRecords&metadataPrefix=oai_dc").one("ListRecords").clone();
    let mut deleted = 0;
    for record in list.all("record") {
        let is_deleted = record.one("header").attribute("status") == Some("deleted");
        assert_eq!(record.all("metadata").count(), usize::from(!is_deleted));
        deleted += usize::from(is_deleted);
    }
    assert_eq!(deleted, 3);
}

#[test]
fn a_list_of_one_page_has_no_token() {
    let list = asked(&repository(), "verb=ListRecords&metadataPrefix=oai_dc").one("ListRecords").clone();
    assert_eq!(list.all("resumptionToken").count(), 0);
}
