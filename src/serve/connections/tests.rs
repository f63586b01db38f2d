//! Who goes, and who stays.

use super::*;
use std::net::Ipv4Addr;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn there(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, last))
}

/// Whoever takes nothing may be asked to go at once.
fn connections(most: usize, most_each: usize) -> Arc<Connections> {
    Arc::new(Connections::new(&Limits {
        connections: most,
        connections_each: most_each,
        unsent: Unsent { memory: 800, disk: 8000 },
        grace: Duration::ZERO,
        ..Limits::default()
    }))
}

/// A connection with an answer of so many bytes in memory that nobody takes.
fn stalled(all: &Arc<Connections>, address: IpAddr, memory: u64) -> (Arc<Place>, Busy) {
    let place = Arc::new(all.enter(address).expect("room"));
    let busy = place.work();
    assert!(busy.send(Unsent { memory, disk: 0 }), "room for {memory} bytes");
    (place, busy)
}

/// Whether a connection was told to go.
async fn is_dismissed(place: &Place) -> bool {
    tokio::time::timeout(Duration::from_millis(20), place.connection.leave.notified()).await.is_ok()
}

#[tokio::test]
async fn who_waited_longest_makes_room_and_who_works_stays() {
    let all = connections(2, 2);
    let first = Arc::new(all.enter(HERE).expect("room"));
    let second = all.enter(HERE).expect("room");
    let working = first.work();
    let third = all.enter(HERE).expect("the second makes room");
    second.connection.leave.notified().await;
    drop(second);
    assert_eq!(all.count(), 2);
    let third = Arc::new(third);
    let also = third.work();
    assert!(all.enter(HERE).is_none(), "all are busy");
    drop((working, also));
    assert!(all.enter(HERE).is_some());
}

#[test]
fn one_address_cannot_take_all_places() {
    let all = connections(100, 3);
    let held: Vec<Place> = (0..3).map(|_| all.enter(there(1)).expect("room")).collect();
    let _other = all.enter(there(2)).expect("room for others");
    let _fourth = all.enter(there(1)).expect("its own oldest makes room");
    assert_eq!(all.count(), 4);
    drop(held);
    assert_eq!(all.count(), 2);
    let proxied: Vec<Place> = (0..10).map(|_| all.enter(HERE).expect("room")).collect();
    assert_eq!(proxied.len(), 10);
}

#[tokio::test]
async fn who_takes_nothing_makes_room_and_who_reads_stays() {
    let all = connections(2, 2);
    let (first, _sending) = stalled(&all, HERE, 100);
    let (second, _also) = stalled(&all, HERE, 100);
    tokio::time::sleep(Duration::from_millis(5)).await;
    first.take(1);
    let _third = all.enter(HERE).expect("the second makes room");
    assert!(is_dismissed(&second).await && !is_dismissed(&first).await);
    assert_eq!((all.count(), all.dismissed()), (2, 1));

    let patient = Arc::new(Connections::new(&Limits {
        connections: 1,
        grace: Duration::from_secs(3600),
        ..Limits::default()
    }));
    let (_place, _sending) = stalled(&patient, HERE, 100);
    assert!(patient.enter(HERE).is_none(), "whoever took something a moment ago reads");
}

#[tokio::test]
async fn what_is_not_taken_makes_room_for_other_answers() {
    let all = connections(100, 100);
    let (first, _one) = stalled(&all, HERE, 500);
    let (second, _two) = stalled(&all, HERE, 300);
    let place = Arc::new(all.enter(HERE).expect("room"));
    let busy = place.work();
    assert!(busy.send(Unsent { memory: 0, disk: 8000 }), "what lies on disk takes no memory");
    assert_eq!(all.unsent(), Unsent { memory: 800, disk: 8000 });
    let (_fourth, _four) = stalled(&all, HERE, 400);
    assert!(is_dismissed(&first).await && !is_dismissed(&second).await);
    assert_eq!(all.unsent(), Unsent { memory: 700, disk: 8000 });
    drop(busy);
    assert_eq!(all.unsent().disk, 0);
}

#[test]
fn an_answer_has_to_wait_for_those_who_read_and_one_alone_never() {
    let all = Arc::new(Connections::new(&Limits {
        unsent: Unsent { memory: 800, disk: 8000 },
        grace: Duration::from_secs(3600),
        ..Limits::default()
    }));
    let (_place, reading) = stalled(&all, HERE, 5000);
    let place = Arc::new(all.enter(HERE).expect("room"));
    let busy = place.work();
    assert!(!busy.send(Unsent { memory: 1, disk: 0 }), "the first is read");
    assert!(busy.send(Unsent::default()), "a short answer does not count");
    drop(reading);
    assert!(busy.send(Unsent { memory: 5000, disk: 0 }));
}

#[tokio::test]
async fn one_address_cannot_take_all_the_room() {
    let all = connections(8, 1);
    let all_each = Arc::new(Connections { most_each: 2, ..Arc::into_inner(all).expect("one") });
    let (mine, _one) = stalled(&all_each, there(1), 150);
    let (_other, _two) = stalled(&all_each, there(2), 150);
    let (_more, _three) = stalled(&all_each, there(1), 100);
    assert!(is_dismissed(&mine).await, "its own answer makes room: 200 of 800 bytes are its share");
    let (_first, _four) = stalled(&all_each, HERE, 200);
    let (_second, _five) = stalled(&all_each, HERE, 200);
    assert_eq!(all_each.unsent().memory, 650, "everybody may be behind a proxy");
}
