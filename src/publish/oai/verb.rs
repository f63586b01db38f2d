//! Which request it is: a verb with the arguments it takes, or what is wrong with them.
//!
//! Only what can be seen without asking the repository is judged here.

use super::datestamp::{Bound, Datestamp};
use super::error::{Code, Error};
use super::identifier::is_uri_like;
use super::request::Request;
use super::set_spec::{is_prefix, is_set_spec};

/// A request that makes sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    GetRecord {
        identifier: String,
        prefix: String,
    },
    Identify,
    ListMetadataFormats {
        identifier: Option<String>,
    },
    ListSets,
    List(ListVerb, Wanted),
    /// The next page of a list.
    Resume(ListVerb, String),
}

/// The two verbs that list records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListVerb {
    Identifiers,
    Records,
}

impl ListVerb {
    pub fn name(self) -> &'static str {
        match self {
            Self::Identifiers => "ListIdentifiers",
            Self::Records => "ListRecords",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Identifiers, Self::Records].into_iter().find(|verb| verb.name() == name)
    }
}

/// The arguments of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    pub prefix: String,
    pub from: Option<Datestamp>,
    pub until: Option<Datestamp>,
    pub set: Option<String>,
}

/// A verb and the arguments it takes: required, optional, and whether a token may stand instead.
struct Takes(&'static str, &'static [&'static str], &'static [&'static str], bool);

const VERBS: &[Takes] = &[
    Takes("GetRecord", &["identifier", "metadataPrefix"], &[], false),
    Takes("Identify", &[], &[], false),
    Takes("ListIdentifiers", &["metadataPrefix"], &["from", "until", "set"], true),
    Takes("ListMetadataFormats", &[], &["identifier"], false),
    Takes("ListRecords", &["metadataPrefix"], &["from", "until", "set"], true),
    Takes("ListSets", &[], &[], true),
];

const TOKEN: &str = "resumptionToken";

/// Makes sense of a request, or says everything that is wrong with its arguments.
pub fn understand(request: &Request) -> Result<Asked, Vec<Error>> {
    if let Some(excess) = request.excess {
        return Err(vec![Error::argument(excess)]);
    }
    let bad_verb = |message: &str| Err(vec![Error::new(Code::BadVerb, message)]);
    let mut verbs = request.values("verb");
    let Some(name) = verbs.next() else { return bad_verb("the argument `verb` is missing") };
    if verbs.next().is_some() {
        return bad_verb("the argument `verb` is repeated");
    }
    let Some(Takes(name, required, optional, resumable)) = VERBS.iter().find(|takes| takes.0 == name) else {
        return bad_verb("this is not a verb of OAI-PMH 2.0");
    };
    let mut errors = Vec::new();
    let has = |key: &str| request.values(key).next().is_some();
    let is_resumed = *resumable && has(TOKEN);
    let mut seen = Vec::new();
    for (key, _) in request.arguments.iter().filter(|(key, _)| key != "verb") {
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let is_among = |keys: &[&str]| keys.contains(&key.as_str());
        let is_taken = is_among(required) || is_among(optional) || *resumable && key == TOKEN;
        if !is_taken {
            errors.push(Error::argument(format!("`{}` is no argument of `{name}`", shown(key))));
        } else if is_resumed && key != TOKEN {
            errors.push(Error::argument(format!("`{key}` may not stand beside `{TOKEN}`")));
        }
        if request.values(key).count() > 1 {
            errors.push(Error::argument(format!("the argument `{}` is repeated", shown(key))));
        }
    }
    if !is_resumed {
        for key in required.iter().filter(|key| !has(key)) {
            errors.push(Error::argument(format!("the argument `{key}` is missing")));
        }
    }
    let value = |key: &str| request.values(key).next().map(str::to_owned);
    if let Some(token) = value(TOKEN).filter(|_| is_resumed && errors.is_empty()) {
        // The list of sets comes whole, so no token for it was ever given.
        let verb = ListVerb::from_name(name);
        let no_token =
            || vec![Error::new(Code::BadResumptionToken, "no such token was given for a list of sets")];
        return verb.map(|verb| Asked::Resume(verb, token)).ok_or_else(no_token);
    }
    check("identifier", value("identifier"), is_uri_like, &mut errors);
    check("metadataPrefix", value("metadataPrefix"), is_prefix, &mut errors);
    check("set", value("set"), is_set_spec, &mut errors);
    let (from, until) = range(value("from"), value("until"), &mut errors);
    if !errors.is_empty() {
        return Err(errors);
    }
    let prefix = value("metadataPrefix").unwrap_or_default();
    Ok(match (*name, ListVerb::from_name(name)) {
        (_, Some(verb)) => Asked::List(verb, Wanted { prefix, from, until, set: value("set") }),
        ("GetRecord", _) => Asked::GetRecord { identifier: value("identifier").unwrap_or_default(), prefix },
        ("ListMetadataFormats", _) => Asked::ListMetadataFormats { identifier: value("identifier") },
        ("ListSets", _) => Asked::ListSets,
        _ => Asked::Identify,
    })
}

fn check(key: &str, value: Option<String>, is_good: fn(&str) -> bool, errors: &mut Vec<Error>) {
    if value.is_some_and(|value| !is_good(&value)) {
        errors.push(Error::argument(format!("the value of `{key}` has an illegal syntax")));
    }
}

/// The first second and the last one that are asked for.
fn range(
    from: Option<String>,
    until: Option<String>,
    errors: &mut Vec<Error>,
) -> (Option<Datestamp>, Option<Datestamp>) {
    let mut bound = |key: &str, text: Option<String>| {
        let found = text.as_deref().map(Bound::parse)?;
        if found.is_none() {
            let expected = "is neither `YYYY-MM-DD` nor `YYYY-MM-DDThh:mm:ssZ`";
            errors.push(Error::argument(format!("the value of `{key}` {expected}")));
        }
        found
    };
    let (from, until) = (bound("from", from), bound("until", until));
    if let (Some(from), Some(until)) = (from, until) {
        if from.granularity != until.granularity {
            errors.push(Error::argument("`from` and `until` have different granularities"));
        } else if from.first > until.last {
            errors.push(Error::argument("`from` is later than `until`"));
        }
    }
    (from.map(|bound| bound.first), until.map(|bound| bound.last))
}

/// A key of a stranger, short enough to repeat.
fn shown(key: &str) -> String {
    key.chars().take(40).collect()
}
