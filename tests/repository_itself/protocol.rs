//! The six verbs and the eight errors.

use crate::repository::ask::{ask, get, post};
use crate::repository::{DeletedRecord, Granularity, Repository};
use crate::{all_pages, fault_of_xml, identifiers};

#[test]
fn identify_says_what_the_repository_is_like() {
    let repository = Repository::seeded(1)
        .granularity(Granularity::Day)
        .deleted_record(DeletedRecord::Transient)
        .gzip()
        .clock("2024-06-01T12:00:00Z")
        .spread(10)
        .serve();
    let reply = ask(repository.url(), &[("verb", "Identify")]);
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), Some("text/xml; charset=utf-8"));
    let said = |name: &str| reply.elements(name).join("|");
    assert_eq!(said("baseURL"), repository.url());
    assert_eq!(said("protocolVersion"), "2.0");
    assert_eq!(said("earliestDatestamp"), "2024-05-20");
    assert_eq!(said("deletedRecord"), "transient");
    assert_eq!(said("granularity"), "YYYY-MM-DD");
    assert_eq!(said("compression"), "gzip");
    assert_eq!(said("responseDate"), "2024-06-01T12:00:00Z");
    assert_eq!(fault_of_xml(&reply.body), None);
}

#[test]
fn formats_are_listed_in_the_order_given_and_by_record() {
    let repository =
        Repository::seeded(1).prefixes(&["mods", "marcxml", "oai_dc"]).dublin_core_only(&[3]).serve();
    let reply = ask(repository.url(), &[("verb", "ListMetadataFormats")]);
    assert_eq!(reply.elements("metadataPrefix"), ["mods", "marcxml", "oai_dc"]);
    assert_eq!(reply.elements("metadataNamespace")[1], "http://www.loc.gov/MARC21/slim");
    let of = |number: usize| {
        let identifier = repository.identifier(number);
        ask(repository.url(), &[("verb", "ListMetadataFormats"), ("identifier", &identifier)])
    };
    assert_eq!(of(2).elements("metadataPrefix"), ["mods", "marcxml", "oai_dc"]);
    assert_eq!(of(3).elements("metadataPrefix"), ["oai_dc"]);
    let identifier = repository.identifier(3);
    let reply = ask(
        repository.url(),
        &[("verb", "GetRecord"), ("identifier", &identifier), ("metadataPrefix", "mods")],
    );
    assert_eq!(reply.error_code().as_deref(), Some("cannotDisseminateFormat"));
}

#[test]
fn sets_are_listed_and_can_come_in_pages() {
    let whole = Repository::seeded(1).serve();
    let whole = ask(whole.url(), &[("verb", "ListSets")]);
    assert_eq!(whole.token(), None);
    let specs = whole.elements("setSpec");
    assert!(specs.contains(&"books:fiction:translated".to_owned()), "{specs:?}");
    assert_eq!(fault_of_xml(&whole.body), None);

    let paged = Repository::seeded(1).page_of_sets(3).serve();
    let pages = crate::pages_of(&paged, &[("verb", "ListSets")]);
    assert_eq!(pages.len(), 3);
    assert_eq!(pages.iter().flat_map(|page| page.elements("setSpec")).collect::<Vec<_>>(), specs);
}

#[test]
fn a_record_is_the_same_alone_and_in_a_list() {
    let repository = Repository::seeded(5).prefixes(&["oai_dc", "marc21", "mods"]).page(100).serve();
    for prefix in ["oai_dc", "marc21", "mods"] {
        let list = ask(repository.url(), &[("verb", "ListRecords"), ("metadataPrefix", prefix)]);
        assert_eq!(fault_of_xml(&list.body), None, "{prefix}");
        for number in [1, 50, 100] {
            let expected = repository.expected_xml(number, prefix);
            assert!(expected.contains("<metadata>"), "{expected}");
            assert!(list.text().contains(&expected), "{prefix} {number}");
            let identifier = repository.identifier(number);
            let alone = ask(
                repository.url(),
                &[("verb", "GetRecord"), ("identifier", &identifier), ("metadataPrefix", prefix)],
            );
            assert!(alone.text().contains(&expected), "{prefix} {number}");
            assert_eq!(fault_of_xml(&alone.body), None);
        }
    }
}

/// 40 characters of 008 and 24 of the leader, or MARC readers have something else to test.
#[test]
fn marc_records_have_fixed_fields_of_the_right_length() {
    let repository = Repository::seeded(5).records(20).page(20).serve();
    let list = ask(repository.url(), &[("verb", "ListRecords"), ("metadataPrefix", "marc21")]);
    assert!(list.elements("leader").iter().all(|leader| leader.len() == 24));
    let fields = list.elements("controlfield");
    assert_eq!(fields.len(), 60);
    assert!(fields.iter().skip(2).step_by(3).all(|field| field.len() == 40), "{:?}", &fields[..3]);
}

#[test]
fn equal_seeds_give_equal_records_and_others_do_not() {
    let texts = |seed: u64| {
        let repository = Repository::seeded(seed).records(30).serve();
        (1..=30).map(|number| repository.expected_xml(number, "oai_dc")).collect::<Vec<_>>()
    };
    assert_eq!(texts(7), texts(7));
    let (left, right) = (texts(7), texts(8));
    assert!(left.iter().zip(&right).all(|(left, right)| left != right));
}

#[test]
fn headers_alone_are_listed_too() {
    let repository = Repository::seeded(1).records(25).deleted(5).serve();
    let pages = crate::pages_of(&repository, &[("verb", "ListIdentifiers"), ("metadataPrefix", "oai_dc")]);
    assert_eq!(pages.len(), 3);
    assert_eq!(identifiers(&pages), identifiers(&all_pages(&repository)));
    assert!(pages.iter().all(|page| !page.text().contains("<metadata>")));
    let deleted: usize = pages.iter().map(|page| page.text().matches("status=\"deleted\"").count()).sum();
    assert_eq!(deleted, 5);
}

#[test]
fn what_is_posted_is_answered_alike() {
    let repository = Repository::seeded(1).serve();
    let arguments = [("verb", "ListRecords"), ("metadataPrefix", "oai_dc"), ("set", "books:fiction")];
    let (asked, posted) = (ask(repository.url(), &arguments), post(repository.url(), &arguments));
    assert_eq!(identifiers(&[asked]), identifiers(&[posted]));
}

#[test]
fn the_request_is_repeated_unless_it_is_what_is_wrong() {
    let repository = Repository::seeded(1).serve();
    let reply =
        get(&format!("{}?verb=GetRecord&identifier=a%22%26b&metadataPrefix=oai_dc", repository.url()));
    let request = "<request verb=\"GetRecord\" identifier=\"a&quot;&amp;b\" metadataPrefix=\"oai_dc\">";
    assert!(reply.text().contains(request), "{}", reply.text());
    let reply = get(&format!("{}?verb=GetRecord&identifier=a", repository.url()));
    assert!(reply.text().contains("<request>"), "{}", reply.text());
    assert_eq!(fault_of_xml(&reply.body), None);
}

#[test]
fn every_error_has_its_code() {
    let with_sets = Repository::seeded(1).deleted(10).serve();
    let without = Repository::seeded(1).sets(false).serve();
    let days = Repository::seeded(1).granularity(Granularity::Day).serve();
    let known = with_sets.identifier(2);
    let deleted = with_sets.identifier(1);
    assert!(with_sets.deleted_numbers().contains(&1));
    let cases = [
        (&with_sets, "", "badVerb"),
        (&with_sets, "verb=", "badVerb"),
        (&with_sets, "verb=listrecords", "badVerb"),
        (&with_sets, "metadataPrefix=oai_dc", "badVerb"),
        (&with_sets, "verb=Identify&verb=Identify", "badVerb"),
        (&with_sets, "verb=Identify&metadataPrefix=oai_dc", "badArgument"),
        (&with_sets, "verb=Identify&x=%22%3C%00%26", "badArgument"),
        (&with_sets, "verb=ListRecords", "badArgument"),
        (&with_sets, "verb=ListIdentifiers&from=2024-01-01", "badArgument"),
        (&with_sets, "verb=GetRecord&metadataPrefix=oai_dc", "badArgument"),
        (&with_sets, &format!("verb=GetRecord&identifier={known}"), "badArgument"),
        (&with_sets, "verb=ListRecords&metadataPrefix=oai_dc&metadataPrefix=oai_dc", "badArgument"),
        (&with_sets, "verb=ListRecords&metadataPrefix=oai_dc&from=2024-1-1", "badArgument"),
        (&with_sets, "verb=ListRecords&metadataPrefix=oai_dc&from=2024-02-30", "badArgument"),
        (&with_sets, "verb=ListRecords&metadataPrefix=oai_dc&from=2024-01-01T00:00:00", "badArgument"),
        (
            &with_sets,
            "verb=ListRecords&metadataPrefix=oai_dc&from=2024-01-02&until=2024-01-01",
            "badArgument",
        ),
        (
            &with_sets,
            "verb=ListRecords&metadataPrefix=oai_dc&from=2024-01-01&until=2024-01-02T00:00:00Z",
            "badArgument",
        ),
        (&days, "verb=ListRecords&metadataPrefix=oai_dc&from=2024-01-01T00:00:00Z", "badArgument"),
        (&with_sets, "verb=ListRecords&metadataPrefix=oai_dc&set=a%20b", "badArgument"),
        (&with_sets, "verb=ListMetadataFormats&resumptionToken=x", "badArgument"),
        (&with_sets, "verb=ListRecords&metadataPrefix=oai_dc&resumptionToken=x", "badArgument"),
        (&with_sets, "verb=ListRecords&resumptionToken=x", "badResumptionToken"),
        (&with_sets, "verb=ListSets&resumptionToken=x", "badResumptionToken"),
        (&with_sets, "verb=ListRecords&metadataPrefix=mods", "cannotDisseminateFormat"),
        (
            &with_sets,
            &format!("verb=GetRecord&identifier={known}&metadataPrefix=x"),
            "cannotDisseminateFormat",
        ),
        (&with_sets, "verb=GetRecord&identifier=x&metadataPrefix=oai_dc", "idDoesNotExist"),
        (&with_sets, "verb=ListMetadataFormats&identifier=x", "idDoesNotExist"),
        (&with_sets, &format!("verb=ListMetadataFormats&identifier={deleted}"), "noMetadataFormats"),
        (&with_sets, "verb=ListRecords&metadataPrefix=oai_dc&until=1999-01-01", "noRecordsMatch"),
        (&with_sets, "verb=ListRecords&metadataPrefix=oai_dc&from=2999-01-01", "noRecordsMatch"),
        (&with_sets, "verb=ListRecords&metadataPrefix=oai_dc&set=fables", "noRecordsMatch"),
        (&without, "verb=ListRecords&metadataPrefix=oai_dc&set=books", "noSetHierarchy"),
        (&without, "verb=ListSets", "noSetHierarchy"),
    ];
    for (repository, query, code) in cases {
        let reply = get(&format!("{}?{query}", repository.url()));
        assert_eq!(reply.error_code().as_deref(), Some(code), "{query}: {}", reply.text());
        assert_eq!(reply.status, 200, "{query}");
        assert_eq!(fault_of_xml(&reply.body), None, "{query}");
        assert_eq!(repository.log().last().unwrap().error.as_deref(), Some(code), "{query}");
    }
}
