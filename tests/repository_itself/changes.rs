//! A repository that changes while it is served.

use crate::repository::ask::{ask, get, send};
use crate::repository::{DeletedRecord, Granularity, Repository, Serving};
use crate::{identifiers, pages_of};
use std::time::Duration;

/// What a harvester would ask for that was last here at this time.
fn since(repository: &Serving, from: &str) -> Vec<String> {
    identifiers(&pages_of(
        repository,
        &[("verb", "ListRecords"), ("metadataPrefix", "oai_dc"), ("from", from)],
    ))
}

#[test]
fn what_changed_is_what_a_second_list_holds() {
    for granularity in [Granularity::Seconds, Granularity::Day] {
        let repository = Repository::seeded(1).granularity(granularity).serve();
        let first = ask(repository.url(), &[("verb", "Identify")]).elements("responseDate").remove(0);
        let from = if granularity == Granularity::Day { &first[..10] } else { &first[..] };
        repository.change(&[10, 20, 30]);
        assert_eq!(repository.add(1), [101]);
        repository.delete(&[40]);
        let expected: Vec<String> =
            [10, 20, 30, 101, 40].into_iter().map(|number| repository.identifier(number)).collect();
        assert_eq!(since(&repository, from), expected);
        assert_eq!(repository.moved(), 5);
        let logged = repository.log().pop().unwrap();
        assert_eq!((logged.records, logged.deleted), (5, 1));
        // Nothing is left for whoever comes a day later.
        repository.advance(Duration::from_secs(86_400));
        let now = ask(repository.url(), &[("verb", "Identify")]).elements("responseDate").remove(0);
        let from = if granularity == Granularity::Day { &now[..10] } else { &now[..] };
        assert!(since(&repository, from).is_empty());
    }
}

#[test]
fn a_change_shows_in_the_record_and_nowhere_else() {
    let repository = Repository::seeded(1).serve();
    let before: Vec<String> = (1..=100).map(|number| repository.expected_xml(number, "oai_dc")).collect();
    repository.change(&[7]);
    let changed: Vec<usize> =
        (1..=100).filter(|number| repository.expected_xml(*number, "oai_dc") != before[number - 1]).collect();
    assert_eq!(changed, [7]);
    assert!(repository.expected_xml(7, "oai_dc").contains(", revision 1</dc:title>"));
}

#[test]
fn deleted_records_are_told_of_as_the_policy_says() {
    for policy in [DeletedRecord::No, DeletedRecord::Transient, DeletedRecord::Persistent] {
        let repository = Repository::seeded(1).records(10).deleted(2).deleted_record(policy).serve();
        repository.delete(&[9]);
        let list = ask(repository.url(), &[("verb", "ListRecords"), ("metadataPrefix", "oai_dc")]);
        let identifier = repository.identifier(9);
        let alone = ask(
            repository.url(),
            &[("verb", "GetRecord"), ("identifier", &identifier), ("metadataPrefix", "oai_dc")],
        );
        if policy == DeletedRecord::No {
            assert_eq!(list.elements("identifier").len(), 7);
            assert_eq!(alone.error_code().as_deref(), Some("idDoesNotExist"));
        } else {
            assert_eq!(list.elements("identifier").len(), 10);
            assert_eq!(list.text().matches("<header status=\"deleted\">").count(), 3);
            assert_eq!(list.text().matches("<metadata>").count(), 7);
            assert!(alone.text().contains("<header status=\"deleted\">"));
        }
        assert_eq!(repository.numbers().len(), 7);
    }
}

#[test]
fn transient_deletions_are_forgotten_and_deleted_records_can_come_back() {
    let repository = Repository::seeded(1).records(10).deleted_record(DeletedRecord::Transient).serve();
    repository.delete(&[3, 10]);
    repository.restore(&[3]);
    assert_eq!(repository.deleted_numbers(), [10]);
    repository.forget();
    let list = ask(repository.url(), &[("verb", "ListRecords"), ("metadataPrefix", "oai_dc")]);
    assert_eq!(list.elements("identifier").len(), 9);
    assert_eq!(repository.add(1), [11], "numbers are not given twice");
}

/// For programs that are not ours: the same by HTTP, and not in the log.
#[test]
fn changes_can_be_ordered_over_http() {
    let repository = Repository::seeded(1).serve();
    let order = |path: &str| send(&repository.at(path), "POST", &[], "");
    assert_eq!(order("/control/change?ids=1,2").status, 200);
    assert_eq!(order("/control/delete?ids=3").status, 200);
    assert_eq!(order("/control/add?count=2").text(), "[101,102]");
    assert_eq!(order("/control/change?ids=1,999").status, 400);
    assert_eq!(order("/control/paint").status, 400);
    assert_eq!(get(&repository.at("/control/add?count=1")).status, 405);
    assert_eq!(repository.numbers().len(), 101);
    assert!(repository.expected_xml(2, "marc21").contains("revision 1"));
    assert!(repository.log().is_empty());
}
