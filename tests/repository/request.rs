//! Reading a request: which verb, which arguments, and whether they may stand together.

use std::fmt;

/// The six requests of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    GetRecord,
    Identify,
    ListIdentifiers,
    ListMetadataFormats,
    ListRecords,
    ListSets,
}

/// Arguments a verb must have and those it may have. A resumption token stands alone.
struct Signature {
    verb: Verb,
    name: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
    resumable: bool,
}

const SIGNATURES: [Signature; 6] = [
    Signature {
        verb: Verb::GetRecord,
        name: "GetRecord",
        required: &["identifier", "metadataPrefix"],
        optional: &[],
        resumable: false,
    },
    Signature { verb: Verb::Identify, name: "Identify", required: &[], optional: &[], resumable: false },
    Signature {
        verb: Verb::ListIdentifiers,
        name: "ListIdentifiers",
        required: &["metadataPrefix"],
        optional: &["from", "until", "set"],
        resumable: true,
    },
    Signature {
        verb: Verb::ListMetadataFormats,
        name: "ListMetadataFormats",
        required: &[],
        optional: &["identifier"],
        resumable: false,
    },
    Signature {
        verb: Verb::ListRecords,
        name: "ListRecords",
        required: &["metadataPrefix"],
        optional: &["from", "until", "set"],
        resumable: true,
    },
    Signature { verb: Verb::ListSets, name: "ListSets", required: &[], optional: &[], resumable: true },
];

/// An error of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub code: &'static str,
    pub message: String,
}

impl Refusal {
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// The `request` element then has no attributes, since they are what is wrong.
    pub fn hides_arguments(&self) -> bool {
        matches!(self.code, "badVerb" | "badArgument")
    }
}

/// Arguments in the order they came.
pub type Arguments = Vec<(String, String)>;

/// The first argument of a name.
pub fn argument<'a>(arguments: &'a Arguments, name: &str) -> Option<&'a str> {
    arguments.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

impl Verb {
    pub fn named(name: &str) -> Option<Self> {
        SIGNATURES.iter().find(|signature| signature.name == name).map(|signature| signature.verb)
    }

    pub fn name(self) -> &'static str {
        SIGNATURES.iter().find(|signature| signature.verb == self).map_or("", |signature| signature.name)
    }

    /// Whether it moves records or headers page by page.
    pub fn is_list(self) -> bool {
        matches!(self, Self::ListIdentifiers | Self::ListRecords)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The verb of a request whose arguments may stand together.
pub fn check(arguments: &Arguments) -> Result<Verb, Refusal> {
    let mut verbs = arguments.iter().filter(|(name, _)| name == "verb");
    let signature = match (verbs.next(), verbs.next()) {
        (None, _) => return Err(Refusal::new("badVerb", "the verb is missing")),
        (Some(_), Some(_)) => return Err(Refusal::new("badVerb", "there are two verbs")),
        (Some((_, name)), None) => SIGNATURES
            .iter()
            .find(|signature| signature.name == name)
            .ok_or_else(|| Refusal::new("badVerb", format!("`{name}` is no verb of OAI-PMH")))?,
    };
    let bad = |message: String| Err(Refusal::new("badArgument", message));
    let others: Vec<&str> =
        arguments.iter().map(|(name, _)| name.as_str()).filter(|name| *name != "verb").collect();
    for (at, name) in others.iter().enumerate() {
        let token = signature.resumable && *name == "resumptionToken";
        if !token && !signature.required.contains(name) && !signature.optional.contains(name) {
            return bad(format!("`{name}` is no argument of {}", signature.name));
        }
        if others[..at].contains(name) {
            return bad(format!("`{name}` is there twice"));
        }
    }
    if others.contains(&"resumptionToken") {
        return match others.len() {
            1 => Ok(signature.verb),
            _ => bad("a resumptionToken stands alone".to_owned()),
        };
    }
    match signature.required.iter().find(|name| !others.contains(name)) {
        Some(missing) => bad(format!("{} needs `{missing}`", signature.name)),
        None => Ok(signature.verb),
    }
}

/// Reads `application/x-www-form-urlencoded`.
pub fn decode(query: &str) -> Arguments {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode_part(name), decode_part(value))
        })
        .collect()
}

fn decode_part(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = (byte == b'%')
            .then(|| after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok()))
            .flatten()
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        rest = match escaped {
            Some(decoded) => {
                bytes.push(decoded);
                &after[2..]
            }
            None => {
                bytes.push(if byte == b'+' { b' ' } else { byte });
                after
            }
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
