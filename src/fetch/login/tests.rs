//! Credentials: who gets them, who does not, and what is never seen of them.

use crate::fetch::stub::{Seen, Stub, TestClock, access, page, redirect, reply, session};
use crate::fetch::{
    Access, Credentials, Fault, FaultKind, FieldValue, Form, Login, Options, Session, TokenEndpoint,
    Transport,
};
use rcgen::generate_simple_self_signed;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const PASSWORD: &str = "pa55&word";

fn options() -> Options {
    let environment = |name: &str| match name {
        "REPO_USER" => Some("librarian".to_owned()),
        "REPO_PASSWORD" => Some(PASSWORD.to_owned()),
        "EMPTY" => Some(String::new()),
        "TWO_LINES" => Some("a\r\nX-Evil: b".to_owned()),
        _ => None,
    };
    Options {
        environment: Arc::new(environment),
        clock: Arc::new(TestClock::default()),
        ..Options::default()
    }
}

fn open(access: Access, credentials: Credentials, stub: &Stub) -> Session {
    session(options(), &Access { credentials: Some(credentials), ..access }, &stub.url("/oai"))
}

fn basic() -> Credentials {
    Credentials::Basic { user_env: "REPO_USER".to_owned(), password_env: "REPO_PASSWORD".to_owned() }
}

fn login(stub: &Stub) -> Login {
    let fields = [
        ("user", FieldValue::Env { env: "REPO_USER".to_owned() }),
        ("password", FieldValue::Env { env: "REPO_PASSWORD".to_owned() }),
        ("kind", FieldValue::Text("local".to_owned())),
    ];
    let fields = BTreeMap::from(fields.map(|(name, value)| (name.to_owned(), value)));
    Login { form: Form { url: stub.url("/login"), fields }, expired: None, logout: Some(stub.url("/logout")) }
}

/// No word of a fault, printed in any way, may hold a secret.
#[track_caller]
fn check_silent(fault: &Fault) {
    let told = format!("{fault} {fault:?}");
    for secret in [PASSWORD, "pa55%26word", "bGlicmFyaWFuOnBhNTUmd29yZA=="] {
        assert!(!told.contains(secret), "{told}");
    }
}

#[test]
fn s0_18_credentials_reach_the_source_in_each_form() {
    let stub = Stub::canary();
    let header = Credentials::Header { name: "X-Api-Key".to_owned(), value_env: "REPO_PASSWORD".to_owned() };
    let bearer = Credentials::Bearer { token_env: "REPO_PASSWORD".to_owned() };
    for credentials in [basic(), bearer, header] {
        open(stub.access(), credentials, &stub).get(&stub.url("/")).unwrap();
    }
    let seen = stub.seen();
    assert_eq!(seen[0].header("authorization"), "Basic bGlicmFyaWFuOnBhNTUmd29yZA==");
    assert_eq!(seen[1].header("authorization"), format!("Bearer {PASSWORD}"));
    assert_eq!(seen[2].header("x-api-key"), PASSWORD);
}

#[test]
fn credentials_do_not_cross_an_origin() {
    let other = Stub::canary();
    let target = other.url("/elsewhere");
    let stub = Stub::answer(move |_, seen: &Seen| match seen.path.as_str() {
        "/out" => reply(302, &[("Location", &target), ("Set-Cookie", "sid=s3cret; Path=/")], ""),
        path => page(path),
    });
    let session = open(access(&[&stub, &other]), basic(), &stub);
    session.get(&stub.url("/out")).unwrap();
    session.get(&other.url("/directly")).unwrap();
    session.get(&stub.url("/in")).unwrap();
    for seen in other.seen() {
        assert_eq!((seen.header("authorization"), seen.header("cookie")), ("", ""), "{seen:?}");
    }
    let back = &stub.seen()[1];
    assert_ne!(back.header("authorization"), "");
    assert_eq!(back.header("cookie"), "sid=s3cret");
    assert_eq!(other.requests(), 2);
}

#[test]
fn robots_txt_is_asked_for_without_credentials() {
    let stub = Stub::canary();
    open(Access { respect_robots: true, ..stub.access() }, basic(), &stub).get(&stub.url("/x")).unwrap();
    assert_eq!(stub.seen()[0].path, "/robots.txt");
    assert_eq!(stub.seen()[0].header("authorization"), "");
    assert_ne!(stub.seen()[1].header("authorization"), "");
}

#[test]
fn secrets_are_hidden_wherever_a_server_repeats_them() {
    let stub = Stub::answer(|_, seen: &Seen| match seen.path.as_str() {
        "/echo" => reply(400, &[], format!("you sent {} {PASSWORD}", seen.header("authorization"))),
        "/out" => redirect("/again?p=pa55%26word&q=librarian"),
        _ => reply(404, &[], ""),
    });
    let session = open(stub.access(), basic(), &stub);
    let fault = session.get(&stub.url("/echo")).unwrap_err();
    check_silent(&fault);
    assert!(fault.detail.starts_with("you sent Basic [hidden] [hidden]"), "{fault}");
    let fault = session.get(&stub.url("/out")).unwrap_err();
    check_silent(&fault);
    assert!(fault.url.ends_with("/again?p=[hidden]&q=[hidden]"), "{fault}");
    check_silent(&session.get(&format!("http://librarian:{PASSWORD}@{}/", stub.address)).unwrap_err());
    assert!(!format!("{session:?}").contains(PASSWORD));
}

#[test]
fn a_variable_that_is_not_set_is_named() {
    let stub = Stub::canary();
    let fetcher = crate::fetch::Fetcher::new(options()).unwrap();
    for (name, told) in [
        ("MISSING", "the environment variable `MISSING` is not set"),
        ("EMPTY", "the environment variable `EMPTY` is not set"),
        ("TWO_LINES", "a credential holds a character that no header can"),
    ] {
        let credentials = Some(Credentials::Bearer { token_env: name.to_owned() });
        let fault = fetcher
            .open(&Access { credentials, ..stub.access() }, &stub.url("/"), Arc::default())
            .unwrap_err();
        assert_eq!(fault.kind, FaultKind::Settings);
        assert!(fault.to_string().contains(told), "{fault}");
    }
    assert_eq!(stub.requests(), 0);
}

/// A source behind a login: each session is good for `pages` pages, then told by `expired`.
fn guarded(pages: usize, expired: fn() -> Vec<u8>) -> Stub {
    let (sessions, left) = (AtomicUsize::new(0), AtomicUsize::new(0));
    Stub::answer(move |_, seen: &Seen| match (seen.method.as_str(), seen.path.as_str()) {
        ("POST", "/login") if seen.body == "kind=local&password=pa55%26word&user=librarian" => {
            let number = sessions.fetch_add(1, Ordering::SeqCst) + 1;
            left.store(pages, Ordering::SeqCst);
            reply(
                303,
                &[("Location", "/welcome"), ("Set-Cookie", &format!("sid=session{number}; Path=/"))],
                "",
            )
        }
        ("POST", "/login") => reply(403, &[], "wrong password"),
        ("GET", "/welcome" | "/logout") => page("hello"),
        (_, path) => {
            let known = seen.header("cookie") == format!("sid=session{}", sessions.load(Ordering::SeqCst));
            let some =
                left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
            if known && some { page(path) } else { expired() }
        }
    })
}

#[track_caller]
fn check_renewal(expired: fn() -> Vec<u8>, marker: Option<&str>) {
    let stub = guarded(3, expired);
    let credentials = Login { expired: marker.map(str::to_owned), ..login(&stub) };
    let session = open(stub.access(), Credentials::Login(credentials), &stub);
    assert_eq!(stub.requests(), 0, "a session is opened when it is needed");
    for n in 0..10 {
        let path = format!("/page/{n}");
        assert_eq!(session.get(&stub.url(&path)).unwrap().body, path.as_bytes());
    }
    assert_eq!(session.counts().logins, 4);
    session.close().unwrap();
    let seen = stub.seen();
    let count = |path: &str| seen.iter().filter(|seen| seen.path == path).count();
    assert_eq!((count("/login"), count("/logout")), (4, 1));
    assert_eq!(seen.last().unwrap().header("cookie"), "sid=session4");
    assert_eq!(seen.iter().filter(|seen| seen.path.starts_with("/page/")).count(), 10 + 3);
}

#[test]
fn s0_18_a_login_is_renewed_when_it_has_expired() {
    check_renewal(|| reply(401, &[], ""), None);
    check_renewal(|| reply(403, &[], ""), None);
    check_renewal(|| redirect("/login?next=/page"), None);
    check_renewal(|| page("<p>Please log in</p>"), Some("Please log in"));
}

#[test]
fn a_dropped_session_is_closed_and_an_unused_one_was_never_open() {
    let stub = guarded(9, || reply(401, &[], ""));
    drop(open(stub.access(), Credentials::Login(login(&stub)), &stub));
    assert_eq!(stub.requests(), 0);
    let session = open(stub.access(), Credentials::Login(login(&stub)), &stub);
    session.get(&stub.url("/page")).unwrap();
    drop(session);
    assert_eq!(stub.seen().last().unwrap().path, "/logout");
}

#[test]
fn a_refused_login_is_told_without_the_password() {
    let stub = Stub::answer(|_, seen: &Seen| reply(403, &[], format!("no: {}", seen.body)));
    let session = open(stub.access(), Credentials::Login(login(&stub)), &stub);
    let fault = session.get(&stub.url("/page")).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Login);
    check_silent(&fault);
    assert_eq!(stub.requests(), 1, "a wrong password is not sent twice");
}

#[test]
fn a_page_that_stays_closed_after_the_login_is_not_asked_for_again_and_again() {
    let stub = guarded(0, || reply(403, &[], "not for you"));
    let session = open(stub.access(), Credentials::Login(login(&stub)), &stub);
    let fault = session.get(&stub.url("/page")).unwrap_err();
    assert_eq!((fault.kind, fault.attempts), (FaultKind::Status(403), 2));
    assert_eq!(session.counts().logins, 2);
    let stub = guarded(0, || redirect("/login"));
    let session = open(stub.access(), Credentials::Login(login(&stub)), &stub);
    assert_eq!(session.get(&stub.url("/page")).unwrap_err().kind, FaultKind::Login);
}

#[test]
fn threads_renew_an_expired_login_once() {
    let stub = guarded(20, || reply(401, &[], ""));
    let settings = Access { concurrency: 4, ..stub.access() };
    let session = open(settings, Credentials::Login(login(&stub)), &stub);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..9).for_each(|_| drop(session.get(&stub.url("/page")).unwrap())));
        }
    });
    assert_eq!(session.counts().logins, 2);
}

#[test]
fn a_login_form_is_not_sent_on_to_another_origin() {
    let other = Stub::canary();
    let target = other.url("/catch");
    let stub = Stub::answer(move |_, _| reply(307, &[("Location", &target)], ""));
    let session = open(access(&[&stub, &other]), Credentials::Login(login(&stub)), &stub);
    assert_eq!(session.get(&stub.url("/page")).unwrap_err().kind, FaultKind::Login);
    assert_eq!(other.requests(), 0);
}

#[test]
fn a_token_is_fetched_used_and_renewed() {
    let stub = Stub::answer(|n, seen: &Seen| match seen.path.as_str() {
        "/token" => {
            page(&format!("{{\"access_token\":\"token-{n}\",\"token_type\":\"Bearer\",\"expires_in\":100}}"))
        }
        _ if n == 3 => reply(401, &[], "expired"),
        _ => page(seen.header("authorization")),
    });
    let fields = BTreeMap::from([
        ("client_secret".to_owned(), FieldValue::Env { env: "REPO_PASSWORD".to_owned() }),
        ("grant_type".to_owned(), FieldValue::Text("client_credentials".to_owned())),
    ]);
    let endpoint = TokenEndpoint { form: Form { url: stub.url("/token"), fields } };
    let clock = Arc::new(TestClock::default());
    let options = Options { clock: Arc::clone(&clock) as _, ..options() };
    let settings = Access { credentials: Some(Credentials::Token(endpoint)), ..stub.access() };
    let session = session(options, &settings, &stub.url("/"));
    let used = || String::from_utf8(session.get(&stub.url("/x")).unwrap().body).unwrap();
    assert_eq!((used(), used()), ("Bearer token-0".to_owned(), "Bearer token-0".to_owned()));
    assert_eq!(used(), "Bearer token-4", "request 3 found the token expired");
    clock.advance(Duration::from_secs(95));
    assert_eq!(used(), "Bearer token-6", "its time was over");
    assert_eq!(stub.seen()[0].body, "client_secret=pa55%26word&grant_type=client_credentials");
}

/// A server with a certificate of its own for 127.0.0.1, and the options to trust it.
fn secure(answer: impl Fn(usize, &Seen) -> Vec<u8> + Send + Sync + 'static) -> (Stub, Options) {
    let made = generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let options = Options { roots: vec![certificate.to_vec()], ..options() };
    (Stub::secure(Arc::new(config), answer), options)
}

// redirect_scheme_downgrade
#[test]
fn encryption_is_not_left_unless_allowed() {
    let plain = Stub::canary();
    let target = plain.url("/");
    let (stub, options) = secure(move |_, seen: &Seen| match seen.path.as_str() {
        "/out" => redirect(&target),
        _ => page("secure"),
    });
    let settings = access(&[&stub, &plain]);
    let strict = session(options.clone(), &settings, &stub.url("/"));
    assert_eq!(strict.get(&stub.url("/in")).unwrap().body, b"secure");
    let fault = strict.get(&stub.url("/out")).unwrap_err();
    assert_eq!((fault.kind, fault.attempts), (FaultKind::Downgrade, 1), "{fault}");
    assert_eq!(plain.requests(), 0);
    let lax = session(options, &Access { allow_downgrade: true, ..settings }, &stub.url("/"));
    assert_eq!(lax.get(&stub.url("/out")).unwrap().body, b"canary");
}

#[test]
fn a_certificate_nobody_vouches_for_is_refused() {
    let (stub, _) = secure(|_, _| page("secure"));
    let fault = session(options(), &stub.access(), &stub.url("/")).get(&stub.url("/")).unwrap_err();
    assert_eq!((fault.kind, fault.attempts), (FaultKind::Tls, 1), "{fault}");
    assert_eq!(stub.requests(), 0);
}

#[test]
fn a_password_does_not_leave_in_the_clear_for_a_source_with_encryption() {
    let (stub, plain) = (Stub::canary(), Stub::canary());
    let settings = Access { credentials: Some(Credentials::Login(login(&plain))), ..stub.access() };
    let fetcher = crate::fetch::Fetcher::new(options()).unwrap();
    let fault = fetcher.open(&settings, "https://repo.example/", Arc::default()).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Downgrade);
    assert!(!format!("{settings:?}").contains(PASSWORD));
}
