//! The names of syntaxes and models.
//!
//! *Format* is how bytes are written, *model* is what the fields mean: ISO 2709 carries
//! MARC 21 or UNIMARC, XML carries MARC, Dublin Core or MODS.

use std::fmt;
use std::str::FromStr;

macro_rules! names {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type { $($(#[$variant_doc])* $variant,)* }

        impl $type {
            /// Every value, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name used on the command line, in the archive and in the catalogue.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }

        impl FromStr for $type {
            type Err = String;
            fn from_str(name: &str) -> Result<Self, String> {
                match name {
                    $($name => Ok(Self::$variant),)*
                    _ => Err(format!(
                        "`{name}` is not one of {}",
                        Self::ALL.iter().map(|known| known.name()).collect::<Vec<_>>().join(", ")
                    )),
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

names! {
    /// How a payload is written.
    Format {
        /// ISO 2709: MARC 21 or UNIMARC, decided by content.
        Iso2709 = "iso2709",
        /// MARCXML or marcxchange.
        MarcXml = "marcxml",
        /// MARC-in-JSON.
        MarcJson = "marc-json",
        /// MarcEdit mnemonic text.
        Mrk = "mrk",
        /// Aleph sequential.
        Aleph = "aleph",
        /// Dublin Core elements in XML.
        OaiDc = "oai_dc",
        /// MODS.
        Mods = "mods",
        Csv = "csv",
        Tsv = "tsv",
        /// One JSON object a line, or an array of them.
        Json = "json",
        Turtle = "turtle",
        NTriples = "ntriples",
        NQuads = "nquads",
        TriG = "trig",
        RdfXml = "rdfxml",
        JsonLd = "jsonld",
    }
}

names! {
    /// What the fields of a record mean; concordances are chosen by it.
    Model {
        Marc21 = "marc21",
        Marc21Authority = "marc21-authority",
        Unimarc = "unimarc",
        UnimarcAuthority = "unimarc-authority",
        DublinCore = "oai_dc",
        Mods = "mods",
        /// A spreadsheet row.
        Row = "csv",
        Json = "json",
        /// The `meta` elements of a web page.
        Html = "html",
        /// The description of a text in a corpus.
        Corpus = "corpus",
        Rdf = "rdf",
    }
}

impl Model {
    /// MARC in any dialect: leader, tags, indicators, subfields.
    pub fn is_marc(self) -> bool {
        matches!(self, Self::Marc21 | Self::Marc21Authority | Self::Unimarc | Self::UnimarcAuthority)
    }
}
