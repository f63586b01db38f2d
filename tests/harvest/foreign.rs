//! What another harvester gets from the same repository.

use super::desk_with;
use super::repository::{Fault, Repository};
use super::support::{project, venv};
use std::process::Command;

/// Sickle and we hold the same records, with the same words in them.
#[test]
fn we_hold_what_sickle_gets() {
    let serving = Repository::seeded(26).records(45).page(10).deleted(4).serve();
    let desk = desk_with(&serving);
    desk.run("pinakes harvest").ok();
    let list = desk.run("pinakes record list repo").ok().text();
    std::fs::create_dir(desk.path("held")).unwrap();
    for (number, id) in list.lines().filter(|line| !line.ends_with("(withdrawn)")).enumerate() {
        desk.run(&format!("pinakes record show --raw repo {id} > held/{number}.xml")).ok();
    }
    let compared = Command::new(venv("python"))
        .arg(project("tests/harvest/sickle.py"))
        .args([serving.url(), desk.path("held").to_str().unwrap()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&compared.stdout);
    assert!(compared.status.success(), "{said}{}", String::from_utf8_lossy(&compared.stderr));
    assert_eq!(said.trim(), "41 records equal, 4 deleted");
}

/// Where Sickle stops, we do not.
#[test]
fn what_stops_sickle_does_not_stop_us() {
    let serving = Repository::seeded(27).records(45).page(10).fault(Fault::BrokenXml(17)).serve();
    let desk = desk_with(&serving);
    let compared = Command::new(venv("python"))
        .arg(project("tests/harvest/sickle.py"))
        .args([serving.url(), desk.path("held").to_str().unwrap()])
        .output()
        .unwrap();
    assert!(!compared.status.success());
    desk.run("pinakes harvest");
    assert!(super::records(&desk) >= 44);
}
