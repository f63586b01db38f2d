//! `pinakes.toml`, as `init` writes it and every command reads it.

use super::explain::explain;
use super::federation::Federation;
use serde::Deserialize;

/// What a catalogue is set to. Unknown keys are errors: a typing mistake must not pass for a
/// setting.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The layout of the directory; a newer one is refused.
    pub version: u32,
    /// The IRI all names in the catalogue begin with.
    pub base: String,
    #[serde(default)]
    pub limits: Limits,
    #[serde(default)]
    pub records: Records,
    #[serde(default)]
    pub oai: Oai,
    #[serde(default)]
    pub federation: Federation,
    /// `[source.KEY]`: read by [`Registry`](crate::source::Registry), which says all that is
    /// wrong with them, and where.
    #[serde(default, rename = "source")]
    _sources: serde::de::IgnoredAny,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// A query is ended after this many seconds.
    pub query_seconds: u64,
    /// A query may give this many rows.
    pub query_rows: u64,
}

/// How the graphs of records are had.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Records {
    /// The store holds them; else they are computed when they are asked for.
    pub stored: bool,
}

/// What harvesters are told of the catalogue; `None` is for the base IRI to say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Oai {
    pub name: Option<String>,
    /// Whom to write to.
    pub email: Option<String>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { query_seconds: 60, query_rows: 10_000_000 }
    }
}

impl Settings {
    const VERSION: u32 = 1;

    pub(super) fn read(text: &str) -> Result<Self, String> {
        let settings: Self = toml::from_str(text).map_err(|error| explain(text, &error))?;
        if settings.version > Self::VERSION {
            return Err(format!(
                "this catalogue has layout {}, and this program knows layouts up to {}; use a newer one",
                settings.version,
                Self::VERSION
            ));
        }
        if let Some(email) = settings.oai.email.as_deref().filter(|email| !is_email(email)) {
            return Err(format!(
                "`email` in `[oai]` is `{email}`, which is no address like `librarian@library.example`"
            ));
        }
        settings.federation.check()?;
        Ok(settings)
    }

    pub(super) fn template(base: &str) -> String {
        let limits = Limits::default();
        let base = toml::Value::String(base.to_owned());
        format!(
            "# Settings of a Pinakes catalogue.\n\
             \n\
             # The layout of this directory. Do not change it by hand.\n\
             version = {}\n\
             \n\
             # All names in the catalogue begin with this IRI. Change it only before the first\n\
             # import, or run `pinakes rebuild` afterwards.\n\
             base = {base}\n\
             \n\
             [limits]\n\
             # `pinakes query` ends a query after this many seconds,\n\
             query_seconds = {}\n\
             # or when it gives more rows than this.\n\
             query_rows = {}\n\
             \n\
             [records]\n\
             # What each record says is computed when it is asked for. `true` keeps it in the store as\n\
             # well: a hundred times the disk, for indexed queries across records. `pinakes rebuild` then.\n\
             stored = {}\n\
             \n\
             [oai]\n\
             # What the server tells harvesters; without these lines, what follows from `base`.\n\
             # name = \"Catalogue of the Library of Example\"\n\
             # email = \"librarian@library.example\"\n\
             \n\
             [federation]\n\
             # Which SPARQL endpoints a query at `/sparql` may ask by `SERVICE`, each by its exact\n\
             # IRI; without this line none. One at a private address needs `allow_private` beside it.\n\
             # endpoints = [{{ iri = \"https://sparql.example/query\" }}]\n\
             \n\
             # Sources are described in files under `sources/`, or here below `[source.KEY]`;\n\
             # `pinakes source add` writes them.\n",
            Self::VERSION,
            limits.query_seconds,
            limits.query_rows,
            Records::default().stored,
        )
    }
}

/// What the schema of OAI-PMH takes for an address.
fn is_email(text: &str) -> bool {
    let domain = text.split_once('@').filter(|(name, _)| !name.is_empty()).map(|(_, domain)| domain);
    let is_whole =
        |domain: &str| domain.split('.').count() > 1 && domain.split('.').all(|part| !part.is_empty());
    domain.is_some_and(is_whole) && !text.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_what_the_defaults_say() {
        let settings = Settings::read(&Settings::template("https://c.example/")).unwrap();
        assert_eq!(settings.base, "https://c.example/");
        assert_eq!(settings.limits, Limits::default());
        assert_eq!(settings.records, Records::default());
        assert_eq!(settings.oai, Oai::default());
        assert!(settings.federation.is_empty());
    }

    /// Whoever takes the marks of comments away gets settings.
    #[test]
    fn what_the_template_suggests_is_right() {
        let mut text = Settings::template("https://c.example/");
        for key in ["name", "email", "endpoints"] {
            text = text.replace(&format!("# {key} = "), &format!("{key} = "));
        }
        let Settings { oai, federation, .. } = Settings::read(&text).unwrap();
        assert_eq!(federation.endpoints.len(), 1);
        assert!(oai.name.is_some());
        assert_eq!(oai.email.as_deref(), Some("librarian@library.example"));
    }

    #[test]
    fn an_address_that_harvesters_would_refuse_is_an_error() {
        let read = |email: &str| {
            Settings::read(&format!("version = 1\nbase = \"http://x/\"\n[oai]\nemail = \"{email}\"\n"))
        };
        assert!(read("a@b.example").is_ok());
        for bad in ["", "a", "a@b", "@b.example", "a@b.", "a b@c.example"] {
            let message = read(bad).unwrap_err();
            assert!(message.contains("[oai]"), "{bad}: {message}");
        }
        assert!(Settings::read("version = 1\nbase = \"http://x/\"\n[oai]\nmail = \"\"\n").is_err());
    }

    #[test]
    fn an_endpoint_that_is_none_is_an_error() {
        let read = |endpoint: &str| {
            let text = format!("version = 1\nbase = \"http://x/\"\n[federation]\nendpoints = [{endpoint}]\n");
            Settings::read(&text).map(|settings| settings.federation)
        };
        let listed = read("{ iri = \"http://10.0.0.5/sparql\", allow_private = [\"10.0.0.5\"] }").unwrap();
        assert_eq!(listed.endpoints[0].allow_private, ["10.0.0.5"]);
        for bad in ["\"http://x/\"", "{}", "{ iri = \"x\" }", "{ iri = \"http://x/\", private = true }"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    /// What is wrong in a source is said with its place, and must not keep everything else from
    /// working.
    #[test]
    fn sources_are_not_looked_at() {
        let text = "version = 1\nbase = \"http://x/\"\n[source.loc]\nname = 3\n";
        assert_eq!(Settings::read(text).unwrap().limits, Limits::default());
    }

    #[test]
    fn a_misspelt_key_is_an_error() {
        assert!(Settings::read("version = 1\nbase = \"http://x/\"\nlimit = 3\n").is_err());
    }
}
