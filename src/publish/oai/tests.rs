//! The provider as a harvester sees it.

mod memory;
mod rules;
mod schema;
mod tree;

use super::*;
use memory::{Memory, moment};
use proptest::prelude::*;
pub(crate) use schema::checked;
pub(crate) use tree::Node;

const BASE: &str = "https://catalogue.example/oai?x=1&y=2";

fn now() -> Datestamp {
    moment(10_000_000)
}

/// The answer to a query, checked against the schema.
#[track_caller]
fn asked(memory: &Memory, query: &str) -> Node {
    let answer = answer(&Request::parse(BASE, query.as_bytes()), memory, now());
    assert_eq!(answer.status, Status::Ok);
    assert_eq!(answer.left_out, Vec::<String>::new());
    checked(&answer.body)
}

/// The token of a page, if the list goes on.
fn token(page: &Node) -> Option<String> {
    page.all("resumptionToken").next().map(|token| token.text.clone()).filter(|token| !token.is_empty())
}

/// All pages of a list; between two of them something may happen.
fn pages(memory: &mut Memory, query: &str, mut between: impl FnMut(&mut Memory, usize)) -> Vec<Node> {
    let verb = query.split(['=', '&']).nth(1).unwrap().to_owned();
    let mut pages = vec![asked(memory, query).one(&verb).clone()];
    while let Some(token) = token(pages.last().unwrap()) {
        assert!(pages.len() < 10_000, "the list does not end");
        between(memory, pages.len());
        pages.push(asked(memory, &format!("verb={verb}&resumptionToken={token}")).one(&verb).clone());
    }
    pages
}

/// Names, datestamps and states of all headers of a list.
fn headers(pages: &[Node]) -> Vec<(String, String, bool)> {
    let header = |node: &Node| {
        let node = if node.name == "record" { node.one("header").clone() } else { node.clone() };
        let deleted = node.attribute("status") == Some("deleted");
        (node.one("identifier").text.clone(), node.one("datestamp").text.clone(), deleted)
    };
    let is_item = |node: &&Node| node.name != "resumptionToken";
    pages.iter().flat_map(|page| page.children.iter().filter(is_item).map(header)).collect()
}

fn expected(memory: &Memory, prefix: &str) -> Vec<(String, String, bool)> {
    let name = |header: Header| {
        (identifier("catalogue.example", &header.id), header.datestamp.to_string(), header.deleted)
    };
    memory.holdings(prefix).into_iter().map(name).collect()
}

/// S0.2: what a harvester gets is what is held, whatever the size of a page.
#[test]
fn s0_2_a_harvest_is_the_holdings() {
    for size in [1, 7, 100, 1000] {
        for (verb, prefix) in
            [("ListIdentifiers", "oai_dc"), ("ListRecords", "marc21"), ("ListRecords", "bibframe")]
        {
            let mut memory = Memory::generated(300, size);
            let pages = pages(&mut memory, &format!("verb={verb}&metadataPrefix={prefix}"), |_, _| {});
            let expected = expected(&memory, prefix);
            assert_eq!(headers(&pages), expected, "{verb} {prefix} by {size}");
            assert_eq!(pages.len(), expected.len().div_ceil(size));
        }
    }
}

#[test]
fn cursor_and_size_count_what_was_given() {
    let mut memory = Memory::generated(20, 7);
    let pages = pages(&mut memory, "verb=ListRecords&metadataPrefix=oai_dc", |_, _| {});
    let tokens: Vec<(&str, &str, bool)> = pages
        .iter()
        .map(|page| page.one("resumptionToken"))
        .map(|token| {
            let attribute = |name| token.attribute(name).unwrap();
            (attribute("completeListSize"), attribute("cursor"), token.text.is_empty())
        })
        .collect();
    assert_eq!(tokens, [("20", "0", false), ("20", "7", false), ("20", "14", true)]);
    memory.knows_total = false;
    let first = asked(&memory, "verb=ListRecords&metadataPrefix=oai_dc");
    assert_eq!(first.one("ListRecords").one("resumptionToken").attribute("completeListSize"), None);
}

/// A record that changes while it is listed moves to the end: it may come twice, and never not.
#[test]
fn records_that_change_between_two_pages_are_not_lost() {
    for size in [1, 7, 50] {
        let mut memory = Memory::generated(120, size);
        let ids: Vec<String> = memory.records.keys().cloned().collect();
        let change = |memory: &mut Memory, page: usize| {
            if page > 40 {
                return;
            }
            let id = &ids[page * 37 % ids.len()];
            let late = moment(5_000_000 + page as i64);
            if page.is_multiple_of(5) { memory.delete(id, late) } else { memory.change(id, late) }
        };
        let pages = pages(&mut memory, "verb=ListRecords&metadataPrefix=oai_dc", change);
        let got = headers(&pages);
        for header in expected(&memory, "oai_dc") {
            assert!(got.contains(&header), "{header:?} is lost with pages of {size}");
        }
    }
}

/// S0.3: only what was added, changed or deleted since moves.
#[test]
fn s0_3_only_changes_move() {
    let mut memory = Memory::generated(100, 10);
    let ids: Vec<String> =
        memory.holdings("oai_dc").iter().filter(|h| !h.deleted).map(|h| h.id.clone()).collect();
    for id in &ids[10..13] {
        memory.change(id, moment(6_000_000));
    }
    memory.delete(&ids[20], moment(6_000_001));
    let from = moment(6_000_000);
    let query = format!("verb=ListIdentifiers&metadataPrefix=oai_dc&from={from}");
    let got = headers(&pages(&mut memory, &query, |_, _| {}));
    assert_eq!(got.len(), 4);
    assert!(got[3].2);
    assert_eq!(got[3].0, identifier("catalogue.example", &ids[20]));
}

#[test]
fn sets_hold_the_sets_below_them() {
    let memory = Memory::generated(60, 100);
    let count = |set: &str| {
        let list = asked(&memory, &format!("verb=ListIdentifiers&metadataPrefix=oai_dc&set={set}"));
        list.one("ListIdentifiers").all("header").count()
    };
    assert_eq!(count("source"), 60);
    assert_eq!(count("source:loc"), 20);
    assert_eq!(count("type:book"), 30);
}

#[test]
fn tokens_survive_a_restart_and_stand_alone() {
    let memory = Memory::generated(30, 10);
    let query = "verb=ListRecords&metadataPrefix=oai_dc&set=source:loc&from=2000-01-01&until=2100-01-01";
    let first = asked(&memory, query);
    assert_eq!(token(first.one("ListRecords")), None, "ten records are one page");
    let smaller = Memory { page: 4, ..memory };
    let given = token(asked(&smaller, query).one("ListRecords")).unwrap();
    // Another process, with pages of another size.
    let again = Memory { page: 5, ..Memory::generated(30, 1) };
    let next = asked(&again, &format!("verb=ListRecords&resumptionToken={given}"));
    let next = next.one("ListRecords");
    assert_eq!(next.all("record").count(), 5);
    assert_eq!(next.one("resumptionToken").attribute("cursor"), Some("4"));
    for record in next.all("record") {
        assert!(record.one("header").all("setSpec").any(|set| set.text == "source:loc"));
    }
}

#[test]
fn a_token_is_refused_where_it_was_not_given() {
    let memory = Memory::generated(30, 10);
    let given = token(asked(&memory, "verb=ListRecords&metadataPrefix=oai_dc").one("ListRecords")).unwrap();
    let code = |memory: &Memory, query: String| {
        asked(memory, &query).one("error").attribute("code").unwrap().to_owned()
    };
    let foreign = Memory { namespace: "other.example".to_owned(), ..memory.clone() };
    assert_eq!(code(&foreign, format!("verb=ListRecords&resumptionToken={given}")), "badResumptionToken");
    for query in [
        format!("verb=ListIdentifiers&resumptionToken={given}"),
        format!("verb=ListSets&resumptionToken={given}"),
        format!("verb=ListRecords&resumptionToken={given}x"),
        format!("verb=ListRecords&resumptionToken={}", &given[1..]),
    ] {
        assert_eq!(code(&memory, query.clone()), "badResumptionToken", "{query}");
    }
}

/// A list whose rest has moved out of its window is at its end.
#[test]
fn a_rest_that_is_empty_is_no_match() {
    let mut memory = Memory::generated(6, 3);
    let query = format!("verb=ListRecords&metadataPrefix=oai_dc&until={}", moment(5000));
    let given = token(asked(&memory, &query).one("ListRecords")).unwrap();
    let ids: Vec<String> = memory.records.keys().cloned().collect();
    ids.iter().for_each(|id| memory.change(id, moment(9000)));
    let rest = asked(&memory, &format!("verb=ListRecords&resumptionToken={given}"));
    assert_eq!(rest.one("error").attribute("code"), Some("noRecordsMatch"));
}

#[test]
fn a_record_that_cannot_be_written_is_left_out_and_told() {
    struct Spoilt(Memory);
    impl Repository for Spoilt {
        fn name(&self) -> String {
            self.0.name()
        }
        fn admin_emails(&self) -> Vec<String> {
            self.0.admin_emails()
        }
        fn namespace(&self) -> String {
            self.0.namespace()
        }
        fn earliest(&self) -> Result<Datestamp, Busy> {
            self.0.earliest()
        }
        fn sets(&self) -> Result<Vec<Set>, Busy> {
            self.0.sets()
        }
        fn header(&self, id: &str) -> Result<Option<Header>, Busy> {
            self.0.header(id)
        }
        fn formats_of(&self, id: &str) -> Result<Vec<String>, Busy> {
            self.0.formats_of(id)
        }
        fn list(&self, selection: &Selection) -> Result<Page, Busy> {
            self.0.list(selection)
        }
        fn metadata(&self, id: &str, prefix: &str) -> Result<Option<String>, Busy> {
            let good = self.0.metadata(id, prefix)?;
            Ok(good.map(|xml| if id.starts_with("loc") { xml.replace("</", "<") } else { xml }))
        }
        fn page_size(&self) -> usize {
            1
        }
    }
    let repository = Spoilt(Memory::generated(6, 1));
    let mut query = "verb=ListRecords&metadataPrefix=oai_dc".to_owned();
    let (mut got, mut left_out) = (Vec::new(), Vec::new());
    loop {
        let answer = answer(&Request::parse(BASE, query.as_bytes()), &repository, now());
        let page = checked(&answer.body).one("ListRecords").clone();
        got.extend(headers(std::slice::from_ref(&page)));
        left_out.extend(answer.left_out);
        let Some(token) = token(&page) else { break };
        query = format!("verb=ListRecords&resumptionToken={token}");
    }
    assert_eq!(got.len(), 4);
    assert_eq!(left_out, ["loc/é &<0>", "loc/3"]);
    let name = identifier("catalogue.example", "loc/3");
    let answer = answer(
        &Request::new(
            BASE,
            vec![
                ("verb".to_owned(), "GetRecord".to_owned()),
                ("identifier".to_owned(), name),
                ("metadataPrefix".to_owned(), "oai_dc".to_owned()),
            ],
        ),
        &repository,
        now(),
    );
    assert_eq!(checked(&answer.body).one("error").attribute("code"), Some("cannotDisseminateFormat"));
}

#[test]
fn a_busy_repository_asks_for_patience() {
    let memory = Memory { busy: Some(17), ..Memory::generated(3, 10) };
    let name = identifier("catalogue.example", "bnf/1");
    for query in [
        "verb=Identify".to_owned(),
        "verb=ListSets".to_owned(),
        "verb=ListRecords&metadataPrefix=oai_dc".to_owned(),
        format!("verb=ListMetadataFormats&identifier={name}"),
        format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={name}"),
    ] {
        let answer = answer(&Request::parse(BASE, query.as_bytes()), &memory, now());
        assert_eq!(answer.status, Status::Unavailable { retry_after: 17 }, "{query}");
        assert_eq!(answer.status.code(), 503);
        assert!(answer.content_type().starts_with("text/plain"));
    }
    // What is wrong in itself is refused without asking.
    let answer = answer(&Request::parse(BASE, b"verb=Nothing"), &memory, now());
    assert_eq!(answer.status.code(), 200);
}

#[test]
fn hostile_texts_come_through_as_they_are() {
    let memory = Memory::generated(3, 10);
    let record = asked(
        &memory,
        "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:catalogue.example:loc/%25C3%25A9%2520%2526%253C0%253E",
    );
    let record = record.one("GetRecord").one("record");
    let dc = record.one("metadata").one("oai_dc:dc");
    assert_eq!(dc.one("dc:title").text, "Title \"0\" <&> ]]> \u{fffd}\u{fffd} – 𝄞 Толстой");
    assert!(dc.attribute("xsi:schemaLocation").is_some_and(|pair| pair.ends_with("oai_dc.xsd")));
    let identity = asked(&memory, "verb=Identify");
    assert_eq!(identity.one("Identify").one("repositoryName").text, "Records <made> & kept");
    assert_eq!(identity.one("request").text, BASE);
}

fn arguments() -> impl Strategy<Value = Vec<(String, String)>> {
    let key = prop_oneof![
        4 => prop::sample::select(vec![
            "verb", "identifier", "metadataPrefix", "from", "until", "set", "resumptionToken",
        ]).prop_map(str::to_owned),
        1 => ".{0,8}",
    ];
    let value = prop_oneof![
        6 => prop::sample::select(vec![
            "Identify", "ListSets", "ListRecords", "ListIdentifiers", "GetRecord", "ListMetadataFormats",
            "oai_dc", "marc21", "source", "source:loc", "2020-09-13", "2020-09-14T00:00:00Z", "2030-01-01",
            "oai:catalogue.example:bnf/1", "oai:catalogue.example:ubl/2", "",
        ]).prop_map(str::to_owned),
        1 => ".{0,12}",
        1 => "[\\PC\u{0}-\u{1f}\u{fffe}<>&\"']{0,12}",
    ];
    proptest::collection::vec((key, value), 0..5).prop_flat_map(|rest| {
        let verbs = vec![
            "Identify",
            "ListSets",
            "ListRecords",
            "ListIdentifiers",
            "GetRecord",
            "ListMetadataFormats",
            "",
        ];
        prop::sample::select(verbs).prop_map(move |verb| {
            let mut all = rest.clone();
            if !verb.is_empty() {
                all.insert(0, ("verb".to_owned(), verb.to_owned()));
            }
            all
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever is asked: well-formed, as the schema says, and either errors or one verb.
    #[test]
    fn every_request_has_a_valid_answer(arguments in arguments()) {
        let memory = Memory::generated(12, 5);
        let request = Request::new(BASE, arguments.clone());
        let answer = answer(&request, &memory, now());
        let root = checked(&answer.body);
        let bad = ["badVerb", "badArgument"];
        let is_bad = root.all("error").any(|error| bad.contains(&error.attribute("code").unwrap()));
        let expected = if is_bad { Vec::new() } else { arguments };
        // In an attribute, white space is a blank, and what XML cannot hold is gone.
        if root.all("error").next().is_none() {
            prop_assert_eq!(&root.one("request").attributes, &expected);
        } else {
            prop_assert_eq!(root.one("request").attributes.len(), expected.len());
        }
    }
}
