//! The one table of diagnostic codes. A code is a stable name: users filter by it and the
//! archive keeps it. Each has a folder under `tests/diagnostics/`.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// The record was taken, with a repair or a guess.
    Warning,
    /// Something was refused; the exit status tells.
    Error,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

macro_rules! codes {
    ($($variant:ident $slug:literal $severity:ident $meaning:literal;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Code { $(#[doc = $meaning] #[serde(rename = $slug)] $variant,)* }

        impl Code {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            pub fn slug(self) -> &'static str {
                match self { $(Self::$variant => $slug,)* }
            }

            pub fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }

            /// What the code means, for the reference.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }
        }
    };
}

codes! {
    EmptyInput "empty-input" Error "the input holds nothing";
    UnknownFormat "unknown-format" Error "the content shows no format we read";
    FormatMismatch "format-mismatch" Warning "the content looks like another format than the one that was named";
    BadCompression "bad-compression" Error "compressed data is truncated, damaged or a bomb";
    TrailingBytes "trailing-bytes" Warning "bytes after the end of the compressed data were left out";
    NotARecord "not-a-record" Error "bytes between records that are not a record";
    TruncatedRecord "truncated-record" Error "the input ends inside a record";
    OversizeRecord "oversize-record" Error "a record is larger than the limit";
    BadLeader "bad-leader" Warning "the leader does not say what a leader says";
    BadRecordLength "bad-record-length" Warning "the length in the leader is not the length of the record";
    BadDirectory "bad-directory" Warning "the directory does not fit the fields";
    BadField "bad-field" Warning "a field could not be read as its tag promises";
    CharsetMismatch "charset-mismatch" Warning "the record is not in the character set it names";
    UndecodableBytes "undecodable-bytes" Warning "bytes that no character stands for became U+FFFD";
    ForbiddenCharacter "forbidden-character" Warning "a control character that may not stand in text became U+FFFD";
    MissingIdentifier "missing-identifier" Warning "the record names itself by nothing that can be used, so a hash does";
    DuplicateIdentifier "duplicate-identifier" Warning "one import holds an identifier twice with different content";
    XmlSyntax "xml-syntax" Error "the XML is not well-formed";
    XmlDoctype "xml-doctype" Error "the XML has a DOCTYPE, which is refused before anything is expanded";
    XmlLimit "xml-limit" Error "the XML is nested deeper or has more attributes than the limit";
    JsonSyntax "json-syntax" Error "the JSON cannot be parsed";
    JsonLimit "json-limit" Error "the JSON is nested deeper or has longer keys than the limit";
    RowShape "row-shape" Warning "a row has more or fewer cells than the header";
    LineSyntax "line-syntax" Warning "a line is not in the form its format asks for";
    RdfSyntax "rdf-syntax" Error "the RDF cannot be parsed";
    RdfLimit "rdf-limit" Error "the RDF is nested deeper or is larger than the limit";
    RdfBySubject "rdf-by-subject" Note "an RDF document is too large for whole descriptions, so each named resource is a record";
    OaiProtocol "oai-protocol" Warning "an answer of an OAI-PMH repository is not as the protocol asks, and was read all the same";
    ListRestarted "list-restarted" Note "a list of an OAI-PMH repository broke off and was asked for again, from where it was or in parts";
    ListIncomplete "list-incomplete" Error "a list of an OAI-PMH repository could not be read to its end";
    UnfetchedRecord "unfetched-record" Error "a record that an OAI-PMH repository lists could not be fetched";
    SourceFailed "source-failed" Error "a source could not be harvested to its end";
    RuleSyntax "rule-syntax" Error "a rule file is not written as rule files are";
    RuleLimit "rule-limit" Error "a rule file, a fragment or what a rule makes is larger than the limit";
    UnknownKey "unknown-key" Error "a rule file or source description has a key that means nothing";
    BadSelector "bad-selector" Error "what `field` says selects nothing we know";
    ExpressionSyntax "expression-syntax" Error "an expression is not SPARQL, or not what rules may use of it";
    TemplateSyntax "template-syntax" Error "a template is not what a CONSTRUCT may hold";
    UnknownTerm "unknown-term" Error "a rule uses a term its vocabulary does not define";
    UnboundVariable "unbound-variable" Error "a rule uses a variable that nothing binds";
    UnknownFunction "unknown-function" Error "a rule calls a function that does not exist";
    UnknownList "unknown-list" Error "a rule asks a code list or column that does not exist";
    BadCodeList "bad-code-list" Error "a line of a code list cannot be used";
    BadExample "bad-example" Error "an example cannot be read, or its rule gives something else";
    DuplicateRule "duplicate-rule" Error "two rules have one name, or do the same";
    UnreachableRule "unreachable-rule" Warning "a rule can never fire";
    UnusedName "unused-name" Warning "a name is bound and not used";
    UnknownField "unknown-field" Warning "the standard has no such field";
    MissingExample "missing-example" Warning "a rule has no example";
    MisusedTerm "misused-term" Warning "a template uses a term or a value as what it is not";
    EmptyCodeList "empty-code-list" Warning "a code list has no codes";
    UnknownCode "unknown-code" Warning "a record has a code that its list does not know";
    BadIri "bad-iri" Warning "what should be an IRI in a record is none, and was kept as a text";
    TooManyStatements "too-many-statements" Warning "more is made of a record than a record may have";
    SourceSyntax "source-syntax" Error "a source description is not valid TOML, or cannot be read at all";
    BadSetting "bad-setting" Error "a field of a source description is missing, of the wrong kind or out of range";
    PlainSecret "plain-secret" Error "a source description holds a secret, not the name of an environment variable";
    DuplicateSource "duplicate-source" Error "two descriptions have the key of one source";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.slug())
    }
}
