//! Repositories that ask who it is.

use crate::repository::ask::{get, post, send};
use crate::repository::{Door, Refused, Repository};

const IDENTIFY: &str = "?verb=Identify";

#[test]
fn basic_lets_in_whoever_knows_the_password() {
    let door = Door::Basic { user: "Aladdin".to_owned(), password: "open sesame".to_owned() };
    let repository = Repository::seeded(1).door(door).serve();
    let url = format!("{}{IDENTIFY}", repository.url());
    let refused = get(&url);
    assert_eq!(refused.status, 401);
    assert!(refused.header("www-authenticate").unwrap().starts_with("Basic "));
    // The example of RFC 7617.
    let admitted = send(&url, "GET", &[("Authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")], "");
    assert_eq!(admitted.status, 200);
    assert_eq!(send(&url, "GET", &[("Authorization", "Basic QWxhZGRpbjpvcGVu")], "").status, 401);
    let log = repository.log();
    assert_eq!(log.iter().map(|entry| entry.authorization).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(log.iter().map(|entry| entry.status).collect::<Vec<_>>(), [401, 200, 401]);
    assert!(!get(&repository.at("/log")).text().contains("QWxh"), "secrets are not logged");
}

#[test]
fn a_bearer_token_can_be_fixed_or_given_for_some_requests() {
    let repository = Repository::seeded(1).door(Door::Bearer { token: "t0k".to_owned() }).serve();
    let url = format!("{}{IDENTIFY}", repository.url());
    assert_eq!(get(&url).status, 401);
    assert_eq!(send(&url, "GET", &[("Authorization", "Bearer t0k")], "").status, 200);

    let door = Door::Token { id: "harvester".to_owned(), secret: "hush".to_owned(), lasts: 2 };
    let repository = Repository::seeded(1).door(door).serve();
    let url = format!("{}{IDENTIFY}", repository.url());
    let refused = post(&repository.at("/token"), &[("client_id", "harvester"), ("client_secret", "?")]);
    assert_eq!(refused.status, 401);
    let given = post(&repository.at("/token"), &[("client_id", "harvester"), ("client_secret", "hush")]);
    let given: serde_json::Value = serde_json::from_slice(&given.body).unwrap();
    let bearer = format!("Bearer {}", given["access_token"].as_str().unwrap());
    let statuses: Vec<u16> =
        (0..3).map(|_| send(&url, "GET", &[("Authorization", &bearer)], "").status).collect();
    assert_eq!(statuses, [200, 200, 401]);
    assert!(!get(&repository.at("/log")).text().contains("hush"), "secrets are not logged");
}

#[test]
fn a_form_opens_sessions_that_end() {
    for (refused, status) in
        [(Refused::Unauthorized, 401), (Refused::Redirected, 302), (Refused::ShownTheForm, 200)]
    {
        let door =
            Door::Form { user: "reader".to_owned(), password: "swordfish".to_owned(), lasts: 3, refused };
        let repository = Repository::seeded(1).door(door).serve();
        let url = format!("{}{IDENTIFY}", repository.url());
        let outside = get(&url);
        assert_eq!(outside.status, status);
        assert!(!outside.text().contains("<OAI-PMH"));
        assert!(get(&repository.at("/login")).text().contains("<form method=\"post\""));
        let wrong = [("username", "reader"), ("password", "guess")];
        assert_eq!(post(&repository.at("/login"), &wrong).status, 403);
        let right = [("username", "reader"), ("password", "swordfish")];
        let opened = post(&repository.at("/login"), &right);
        let cookie = opened.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        let identify = || send(&url, "GET", &[("Cookie", &cookie)], "");
        assert!((0..3).all(|_| identify().text().contains("<Identify>")));
        assert!(!identify().text().contains("<Identify>"), "the session has ended");
        assert_eq!(repository.sessions(), (1, 0));
        assert!(!get(&repository.at("/log")).text().contains("swordfish"), "secrets are not logged");
    }
}

#[test]
fn sessions_are_closed_by_logging_out_or_by_the_test() {
    let door = Door::Form {
        user: "reader".to_owned(),
        password: "swordfish".to_owned(),
        lasts: 100,
        refused: Refused::Unauthorized,
    };
    let repository = Repository::seeded(1).door(door).serve();
    let open = || {
        let right = [("username", "reader"), ("password", "swordfish")];
        let opened = post(&repository.at("/login"), &right);
        opened.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
    };
    let cookie = open();
    assert_eq!(repository.sessions(), (1, 1));
    assert_eq!(send(&repository.at("/logout"), "POST", &[("Cookie", &cookie)], "").status, 200);
    assert_eq!(repository.sessions(), (1, 0));
    open();
    repository.expire_sessions();
    assert_eq!(repository.sessions(), (2, 0));
    let paths: Vec<String> = repository.log().into_iter().map(|entry| entry.path).collect();
    assert_eq!(paths, ["/login", "/logout", "/login"]);
}
