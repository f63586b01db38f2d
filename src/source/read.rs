//! From TOML to a [`Source`]: every fault of a description at once.

use super::access::{Access, Credentials, Form, Login, Retries};
use super::complexity::Complexity;
use super::descriptor::{
    Amount, Duplicates, Files, Granularity, Oai, OaiVerb, Place, Schedule, Source, Subject,
};
use super::fault::{Fault, WHOLE_FILE};
use super::section::Section;
use super::technique::{Harvester, Technique};
use crate::diagnostic::Code;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use toml::de::DeTable;

/// A description larger than this is not read.
pub(super) const LARGEST: usize = 1024 * 1024;

/// An hour: longer pauses are schedules.
const LONGEST_DELAY: f64 = 3600.0;
/// A day: who waits longer comes back in another run.
const LONGEST_WAIT: f64 = 24.0 * 3600.0;

/// A file as a table, as far as it is one.
pub(super) fn parse<'t>(text: &'t str, faults: &mut Vec<Fault>) -> Option<DeTable<'t>> {
    if text.len() > LARGEST {
        let message = format!("the file has {} bytes; a description may have {LARGEST}", text.len());
        faults.push(Fault::new(Code::SourceSyntax, "", WHOLE_FILE, message));
        return None;
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Some(table.into_inner());
    }
    for error in errors {
        let at = error.span().unwrap_or(0..0);
        let message = format!("not valid TOML: {}", error.message());
        faults.push(Fault::new(Code::SourceSyntax, "", at, message));
    }
    // What a broken line hides would be reported as missing.
    None
}

/// Reads one description; `None` when something is wrong with it.
pub(super) fn read(
    key: &str,
    table: &DeTable<'_>,
    at: Range<usize>,
    place: Place,
    faults: &mut Vec<Fault>,
) -> Option<Source> {
    let before = faults.len();
    let mut top = Section::new(table, at, faults);
    let name = top.text("name");
    let website = top.url("website");
    let content_type = top.texts("content_type");
    let amount = match top.integer_or_text("amount") {
        None => Amount::Unknown,
        Some(Ok(records)) => Amount::Records(records),
        Some(Err(words)) => Amount::Told(words),
    };
    let techniques: Vec<(&str, Technique)> = Technique::ALL.iter().map(|t| (t.name(), *t)).collect();
    let technique = top.choice("technique", &techniques);
    let levels = u64::from(Complexity::LOWEST)..=u64::from(Complexity::HIGHEST);
    let complexity = top.integer("complexity", levels);
    let model = top.text("model").unwrap_or_default();
    let endpoint = top.url("endpoint");
    let subjects = top
        .numbers("subjects", 0.0..=1.0)
        .into_iter()
        .map(|(name, relevance)| Subject { name, relevance })
        .collect();
    let importance = top.number("importance", 0.0..=1.0).unwrap_or(0.5);
    let schedule = top.choice("schedule", &SCHEDULES).unwrap_or_default();
    let enabled = top.boolean("enabled").unwrap_or(true);
    let duplicates = top
        .choice("duplicates", &[("possible", Duplicates::Possible), ("none", Duplicates::None)])
        .unwrap_or_default();
    let note = top.text("note").unwrap_or_default();
    let access = top.section("access").map(access).unwrap_or_default();
    let oai = top.section("oai").map(oai);
    let file = top.section("file").map(files);
    for (key, hint) in [
        ("name", "write `name = \"…\"`: what people call the source"),
        ("website", "write `website = \"https://…\"`: its website or its page in a social network"),
        ("technique", "write `technique = \"oai-pmh\"`; `pinakes source add --help` lists what there is"),
    ] {
        if !top.has(key) {
            top.missing(key, hint);
        }
    }
    // The technique alone decides who harvests, so what that harvester needs must be there.
    match technique.and_then(Technique::harvester) {
        Some(Harvester::OaiPmh) if !top.has("oai") => {
            top.missing("oai.url", "the technique is `oai-pmh`: write `url = \"https://…\"` below `[oai]`");
        }
        Some(Harvester::File) if !top.has("file") => {
            top.missing("file.paths", "the technique is `file`: write `paths = [\"…\"]` below `[file]`");
        }
        _ => {}
    }
    top.close();
    if faults.len() > before {
        return None;
    }
    let technique = technique?;
    Some(Source {
        key: key.to_owned(),
        name: name?,
        website: website?,
        content_type,
        amount,
        technique,
        complexity: complexity
            .and_then(|level| u8::try_from(level).ok())
            .and_then(Complexity::new)
            .or_else(|| Complexity::new(technique.usual_level()))?,
        model,
        endpoint,
        subjects,
        importance,
        schedule,
        enabled,
        duplicates,
        note,
        access,
        oai: oai.flatten(),
        file: file.flatten(),
        place,
    })
}

const SCHEDULES: [(&str, Schedule); 6] = [
    ("always", Schedule::Always),
    ("manual", Schedule::Manual),
    ("hourly", Schedule::Hourly),
    ("daily", Schedule::Daily),
    ("weekly", Schedule::Weekly),
    ("monthly", Schedule::Monthly),
];

fn access(mut section: Section<'_, '_, '_>) -> Access {
    let access = Access {
        allow_private: addresses(&mut section),
        allow_downgrade: section.boolean("allow_downgrade"),
        respect_robots: section.boolean("respect_robots"),
        delay: section.number("delay", 0.0..=LONGEST_DELAY),
        concurrency: small(section.integer("concurrency", 1..=64)),
        contact: section.text("contact"),
        timeouts: section.section("timeouts").map(timeouts).unwrap_or_default(),
        limits: section.section("limits").map(limits).unwrap_or_default(),
        retries: section.section("retries").map(retries).unwrap_or_default(),
        credentials: credentials(&mut section),
    };
    section.close();
    access
}

fn small(number: Option<u64>) -> Option<u32> {
    number.and_then(|number| u32::try_from(number).ok())
}

/// `127.0.0.1:8099`, `[::1]:8099`, `10.0.0.7`, `oai.intranet.example`: no schemes, no paths.
fn addresses(section: &mut Section<'_, '_, '_>) -> Vec<String> {
    let addresses = section.texts("allow_private");
    for address in &addresses {
        if address.contains("://") || address.contains(|c: char| c == '@' || c.is_whitespace()) {
            let at = section.place("allow_private");
            section.refuse(
                "allow_private",
                at,
                format!("has `{address}`; write host and port: `127.0.0.1:8099`"),
            );
        }
    }
    addresses
}

fn timeouts(mut section: Section<'_, '_, '_>) -> BTreeMap<&'static str, f64> {
    let mut given = BTreeMap::new();
    for name in ["connect", "idle", "total"] {
        given.extend(section.number(name, 0.1..=LONGEST_WAIT).map(|seconds| (name, seconds)));
    }
    section.close();
    given
}

fn limits(mut section: Section<'_, '_, '_>) -> BTreeMap<&'static str, u64> {
    let mut given = BTreeMap::new();
    for (name, highest) in
        [("body", 1 << 40), ("ratio", 100_000), ("header", 1 << 24), ("headers", 10_000), ("redirects", 10)]
    {
        given.extend(section.integer(name, 0..=highest).map(|limit| (name, limit)));
    }
    section.close();
    given
}

fn retries(mut section: Section<'_, '_, '_>) -> Retries {
    let retries = Retries {
        attempts: small(section.integer("attempts", 1..=100)),
        first_wait: section.number("first_wait", 0.0..=LONGEST_DELAY),
        longest_wait: section.number("longest_wait", 0.0..=LONGEST_WAIT),
        budget: small(section.integer("budget", 0..=100_000)),
        patience: section.number("patience", 0.1..=LONGEST_WAIT),
    };
    section.close();
    retries
}

/// One way to say who we are, or none.
fn credentials(access: &mut Section<'_, '_, '_>) -> Option<Credentials> {
    const WAYS: [&str; 5] = ["basic", "bearer", "header", "login", "token"];
    let given: Vec<&str> = WAYS.into_iter().filter(|way| access.has(way)).collect();
    if let [first, second, ..] = given.as_slice() {
        let first = access.field(first);
        let at = access.place(second);
        access.refuse(
            second,
            at,
            format!("stands beside `{first}`; a source has one of `{}`", WAYS.join("`, `")),
        );
    }
    let basic = access.section("basic").and_then(|mut section| {
        let (user, password) = (section.variable("user_env"), section.variable("password_env"));
        needs_variable(&mut section, "user_env");
        needs_variable(&mut section, "password_env");
        section.close();
        Some(Credentials::Basic { user_env: user?, password_env: password? })
    });
    let bearer = access.section("bearer").and_then(|mut section| {
        let token = section.variable("token_env");
        needs_variable(&mut section, "token_env");
        section.close();
        Some(Credentials::Bearer { token_env: token? })
    });
    let header = access.section("header").and_then(|mut section| {
        let name = section.text_at("name").and_then(|(name, at)| {
            let legal = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
            if name.chars().all(legal) {
                return Some(name);
            }
            section.refuse("name", at, "is not the name of an HTTP header");
            None
        });
        let value = section.variable("value_env");
        if !section.has("name") {
            section.missing("name", "write `name = \"X-Api-Key\"`: the header that carries the key");
        }
        needs_variable(&mut section, "value_env");
        section.close();
        Some(Credentials::Header { name: name?, value_env: value? })
    });
    let login = access.section("login").and_then(|mut section| {
        let form = form(&mut section);
        let (expired, logout) = (section.text("expired"), section.url("logout"));
        section.close();
        Some(Credentials::Login(Login { form: form?, expired, logout }))
    });
    let token = access.section("token").and_then(|mut section| {
        let form = form(&mut section);
        section.close();
        form.map(Credentials::Token)
    });
    basic.or(bearer).or(header).or(login).or(token)
}

fn form(section: &mut Section<'_, '_, '_>) -> Option<Form> {
    let url = section.url("url");
    if !section.has("url") {
        section.missing("url", "write `url = \"https://…\"`: where the form is sent");
    }
    Some(Form { fields: section.form("fields"), url: url? })
}

/// A missing `password_env` is no news beside a `password`.
fn needs_variable(section: &mut Section<'_, '_, '_>, key: &'static str) {
    let bare = key.trim_end_matches("_env");
    if section.has(bare) {
        let at = section.place(bare);
        section.secret(bare, at);
        section.ask(bare);
    } else if !section.has(key) {
        let hint = format!("write `{key} = \"MY_VARIABLE\"`: the environment variable that holds it");
        section.missing(key, &hint);
    }
}

fn oai(mut section: Section<'_, '_, '_>) -> Option<Oai> {
    let url = section.url("url");
    let prefix = section.text_at("prefix").and_then(|(prefix, at)| {
        // What the protocol's schema allows in a metadataPrefix.
        let legal = |c: char| c.is_ascii_alphanumeric() || "-_.!~*'()".contains(c);
        if prefix.chars().all(legal) {
            return Some(prefix);
        }
        section.refuse("prefix", at, "has a character that no metadataPrefix may have");
        None
    });
    let sets = section.texts("sets");
    let (from, until) = (section.date("from"), section.date("until"));
    if let (Some(from), Some(until)) = (&from, &until) {
        let at = section.place("until");
        if from.len() != until.len() {
            section.refuse("until", at, "has not the granularity of `oai.from`");
        } else if until < from {
            section.refuse("until", at, "is before `oai.from`");
        }
    }
    let window = small(section.integer("window", 1..=36_500));
    let overlap = small(section.integer("overlap", 0..=30 * 24 * 3600));
    let granularity =
        section.choice("granularity", &[("day", Granularity::Day), ("second", Granularity::Second)]);
    let verb = section
        .choice(
            "verb",
            &[("ListRecords", OaiVerb::ListRecords), ("ListIdentifiers", OaiVerb::ListIdentifiers)],
        )
        .unwrap_or_default();
    if !section.has("url") {
        section.missing("url", "write `url = \"https://…\"`: the base URL of the repository");
    }
    section.close();
    Some(Oai { url: url?, prefix, sets, from, until, window, overlap, granularity, verb })
}

fn files(mut section: Section<'_, '_, '_>) -> Option<Files> {
    let paths: Vec<PathBuf> = section.texts("paths").into_iter().map(PathBuf::from).collect();
    let files = Files {
        format: section.text("format"),
        charset: section.text("charset"),
        id: section.text("id"),
        content_type: section.text("content_type"),
        model: section.text("model"),
        replace: section.boolean("replace").unwrap_or(false),
        paths,
    };
    if !section.has("paths") {
        section.missing("paths", "write `paths = [\"deliveries/records.mrc\"]`");
    }
    section.close();
    Some(files)
}
