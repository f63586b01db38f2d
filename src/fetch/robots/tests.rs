//! Files as servers really send them.

use super::*;
use proptest::prelude::*;

#[track_caller]
fn check(file: &[u8], open: &[&str], closed: &[&str]) {
    let rules = Rules::parse(file);
    let allow = |path: &&str| rules.allow(&Url::parse(&format!("http://h.example{path}")).unwrap());
    for path in open {
        assert!(allow(path), "{path} should be open: {rules:?}");
    }
    for path in closed {
        assert!(!allow(path), "{path} should be closed: {rules:?}");
    }
}

#[test]
fn the_longest_match_decides_and_allow_wins_a_tie() {
    let file = b"User-agent: *\nAllow: /a/b\nDisallow: /a\nAllow: /a/b/c$\nDisallow: /t\nAllow: /t\n";
    check(file, &["/a/b", "/a/b/x", "/a/b/c", "/", "/t"], &["/a", "/a/x", "/ab"]);
    check(b"User-agent: *\nDisallow: /\nAllow: /oai\n", &["/oai?verb=Identify"], &["/", "/x"]);
    check(b"User-agent: *\nAllow: /page\nDisallow: /*.htm\n", &["/page"], &["/page.htm"]);
}

#[test]
fn query_strings_are_part_of_the_path() {
    check(b"User-agent: *\nDisallow: /*?sort=\n", &["/list"], &["/list?sort=a", "/x/list?sort=b"]);
}

#[test]
fn groups_that_name_us_count_together_and_alone() {
    let file = b"User-agent: *\nDisallow: /\n\nUser-agent: foo\nUser-agent: Pinakes\nDisallow: /one\n\n\
                 User-agent: bar\nDisallow: /bar\n\nUser-agent: PINAKES/2.0\nDisallow: /two\n";
    check(file, &["/", "/bar", "/three"], &["/one", "/two"]);
    check(b"User-agent: pinakesbot\nDisallow: /\n", &["/x"], &[]);
}

#[test]
fn a_group_for_us_without_rules_opens_everything() {
    check(b"User-agent: *\nDisallow: /\nUser-agent: pinakes\nDisallow:\n", &["/x"], &[]);
}

#[test]
fn keys_and_names_are_read_in_any_case() {
    check(b"uSeR-aGeNt: PINAKES\ndIsAlLoW: /Private\n", &["/private"], &["/Private"]);
}

#[test]
fn every_kind_of_line_end_and_a_byte_order_mark() {
    check(b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /p\r\n", &["/"], &["/p"]);
    check(b"User-agent: *\rDisallow: /p\r", &["/"], &["/p"]);
    check(b"  User-agent : *  \n\tDisallow :\t/p # not for robots", &["/"], &["/p"]);
}

#[test]
fn rules_before_any_group_are_nobodys() {
    check(b"Disallow: /\nUser-agent: *\nAllow: /\n", &["/", "/x"], &[]);
}

#[test]
fn other_lines_do_not_part_the_names_of_a_group() {
    let file = b"User-agent: pinakes\nSitemap: http://h.example/s.xml\nNonsense\nHost: x\nUser-agent: other\nDisallow: /p\n";
    check(file, &["/"], &["/p"]);
    assert_eq!(Rules::parse(file).sitemaps(), ["http://h.example/s.xml"]);
}

#[test]
fn what_is_no_robots_txt_has_no_rules() {
    check(b"<!DOCTYPE html><html>\nUser-agent: *\nDisallow: /\n</html>", &["/x"], &[]);
    check(b"", &["/"], &[]);
    check(b"\0\xff\xfe:::\n:\n#", &["/"], &[]);
}

#[test]
fn nul_bytes_and_utf_16_do_not_hide_a_rule() {
    check(b"User-agent: *\0\nDisallow: /\0\n", &[], &["/", "/x"]);
    let wide: Vec<u8> =
        "\u{feff}User-agent: *\nDisallow: /\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    check(&wide, &[], &["/x"]);
    let wide: Vec<u8> =
        "\u{feff}User-agent: *\nDisallow: /\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    check(&wide, &[], &["/x"]);
}

#[test]
fn a_delay_is_held_within_reason() {
    let delay =
        |value: &str| Rules::parse(format!("User-agent: *\nCrawl-delay: {value}\n").as_bytes()).delay();
    assert_eq!(delay("2.5"), Some(Duration::from_millis(2500)));
    assert_eq!(delay("0"), Some(Duration::ZERO));
    assert_eq!(delay("999999999"), Some(Duration::from_secs(60)));
    assert_eq!(delay("inf"), Some(Duration::from_secs(60)));
    for nonsense in ["-1", "NaN", "ten", "", "1e"] {
        assert_eq!(delay(nonsense), None, "{nonsense}");
    }
}

#[test]
fn only_the_first_500_kib_are_read() {
    let mut file = b"User-agent: *\nDisallow: /first\n".to_vec();
    file.resize(LONGEST, b'#');
    file.extend_from_slice(b"\nDisallow: /late\n");
    check(&file, &["/late"], &["/first"]);
}

#[test]
fn the_file_itself_is_always_open() {
    check(b"User-agent: *\nDisallow: /\n", &["/robots.txt"], &["/robots.txt.bak"]);
}

#[test]
fn a_server_without_rules_is_open_and_one_that_is_down_is_closed() {
    let url = Url::parse("http://h.example/x").unwrap();
    for status in [401, 403, 404, 410, 429] {
        assert!(Rules::unavailable(status).allow(&url), "{status}");
    }
    for status in [500, 503, 599] {
        assert!(!Rules::unavailable(status).allow(&url), "{status}");
    }
}

proptest! {
    /// Any bytes are some rules, and any address is allowed by them or not.
    #[test]
    fn no_file_is_too_strange(lines in proptest::collection::vec("(user-agent: [*p]|(dis)?allow: [*$%a/é]{0,9}|crawl-delay: [-0-9.e]{0,4}|\\PC{0,9})", 0..20),
                              end in "[\r\n]{1,2}", bytes in proptest::collection::vec(any::<u8>(), 0..99), path in "/[a%$*é]{0,9}") {
        let url = Url::parse(&format!("http://h.example{path}")).unwrap();
        Rules::parse(lines.join(&end).as_bytes()).allow(&url);
        Rules::parse(&bytes).allow(&url);
    }
}
