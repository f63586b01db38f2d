//! What `from`, `until` and `set` select, and in which order it comes.

use crate::repository::ask::ask;
use crate::repository::{Granularity, Order, Repository, Serving};
use crate::{identifiers, pages_of};

/// The numbers of the records that further arguments select.
fn selected(repository: &Serving, arguments: &[(&str, &str)]) -> Vec<usize> {
    let arguments = [&[("verb", "ListIdentifiers"), ("metadataPrefix", "oai_dc")], arguments].concat();
    let pages = pages_of(repository, &arguments);
    let number = |identifier: &String| identifier.rsplit(':').next().unwrap().parse().unwrap();
    identifiers(&pages).iter().map(number).collect()
}

/// Eleven records, a day between two of them, the youngest on 30 May at noon.
fn one_a_day(granularity: Granularity) -> Serving {
    let repository =
        Repository::seeded(1).records(11).spread(11).clock("2024-06-02T12:00:00Z").granularity(granularity);
    repository.serve()
}

#[test]
fn bounds_are_inclusive_to_the_second() {
    let repository = one_a_day(Granularity::Seconds);
    assert_eq!(repository.datestamp(1), "2024-05-20T12:00:00Z");
    assert_eq!(repository.datestamp(11), "2024-05-30T12:00:00Z");
    let from = |from: &str| selected(&repository, &[("from", from)]);
    let until = |until: &str| selected(&repository, &[("until", until)]);
    assert_eq!(from("2024-05-29T12:00:00Z"), [10, 11]);
    assert_eq!(from("2024-05-29T12:00:01Z"), [11]);
    assert_eq!(until("2024-05-21T12:00:00Z"), [1, 2]);
    assert_eq!(until("2024-05-21T11:59:59Z"), [1]);
    let one = selected(&repository, &[("from", "2024-05-25T12:00:00Z"), ("until", "2024-05-25T12:00:00Z")]);
    assert_eq!(one, [6]);
}

/// "All repositories must support YYYY-MM-DD": a day then means all its seconds.
#[test]
fn days_are_understood_in_both_granularities() {
    for granularity in [Granularity::Day, Granularity::Seconds] {
        let repository = one_a_day(granularity);
        let select = |from, until| selected(&repository, &[("from", from), ("until", until)]);
        assert_eq!(select("2024-05-29", "2024-05-30"), [10, 11]);
        assert_eq!(select("2024-05-25", "2024-05-25"), [6]);
        assert_eq!(select("2000-01-01", "2024-05-20"), [1]);
    }
}

#[test]
fn day_granularity_shows_days() {
    let repository = one_a_day(Granularity::Day);
    let reply = ask(repository.url(), &[("verb", "ListRecords"), ("metadataPrefix", "oai_dc")]);
    assert_eq!(reply.elements("datestamp")[0], "2024-05-20");
    // The response has its date to the second whatever the granularity.
    assert_eq!(reply.elements("responseDate"), ["2024-06-02T12:00:00Z"]);
}

#[test]
fn a_set_holds_what_the_sets_below_it_hold() {
    let repository = Repository::seeded(1).records(60).serve();
    let of = |set: &str| selected(&repository, &[("set", set)]);
    let theses = of("theses");
    let mut parts = [of("theses:doctoral"), of("theses:master")].concat();
    parts.sort_unstable();
    assert_eq!(theses, parts);
    assert_eq!(of("books"), of("books:fiction:translated"));
    let leaves = [of("theses"), of("books"), of("maps")].concat();
    assert_eq!(leaves.len(), 60, "every record is in one leaf");
    assert!(!of("open").is_empty() && of("open").len() < 60);
    // Beginning with the same letters is not being below.
    let reply =
        ask(repository.url(), &[("verb", "ListRecords"), ("metadataPrefix", "oai_dc"), ("set", "thes")]);
    assert_eq!(reply.error_code().as_deref(), Some("noRecordsMatch"));
}

#[test]
fn sets_and_dates_select_together() {
    let repository = Repository::seeded(1).records(60).spread(60).serve();
    let both = selected(&repository, &[("set", "theses"), ("from", "2024-05-01")]);
    let (set, from) =
        (selected(&repository, &[("set", "theses")]), selected(&repository, &[("from", "2024-05-01")]));
    assert_eq!(both, set.into_iter().filter(|number| from.contains(number)).collect::<Vec<_>>());
    assert!(!both.is_empty());
}

#[test]
fn the_order_of_lists_is_as_set() {
    let order = |order| {
        let repository = Repository::seeded(1).records(40).order(order).serve();
        repository.change(&[5]);
        selected(&repository, &[])
    };
    let mut by_number: Vec<usize> = (1..=40).collect();
    assert_eq!(order(Order::Identifier), by_number);
    let shuffled = order(Order::Shuffled);
    assert_eq!(shuffled, order(Order::Shuffled));
    assert_ne!(shuffled, by_number);
    by_number.retain(|number| *number != 5);
    by_number.push(5);
    assert_eq!(order(Order::Datestamp), by_number);
}

#[test]
fn all_records_can_be_in_one_second() {
    let repository = Repository::seeded(1).records(30).spread(0).serve();
    let second = repository.datestamp(1);
    assert_eq!(selected(&repository, &[("from", &second), ("until", &second)]).len(), 30);
}

#[test]
fn a_list_leaves_out_what_does_not_exist_in_its_format() {
    let repository = Repository::seeded(1).records(5).dublin_core_only(&[2, 4]).serve();
    let reply = ask(repository.url(), &[("verb", "ListRecords"), ("metadataPrefix", "marc21")]);
    assert_eq!(reply.elements("identifier").len(), 3);
    assert_eq!(selected(&repository, &[]).len(), 5);
}
