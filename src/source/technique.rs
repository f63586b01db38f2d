//! How records are taken from a source. The technique alone decides which harvester does it.

use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// What takes the records of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Harvester {
    /// The OAI-PMH harvester, by the source's `[oai]`.
    OaiPmh,
    /// The reader of files, by the source's `[file]`.
    File,
}

macro_rules! techniques {
    ($($variant:ident $name:literal $harvester:expr, level $level:literal $about:literal;)*) => {
        /// A harvesting technique; the list is closed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Technique { $(#[doc = $about] $variant,)* }

        impl Technique {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// As it is written in a description.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it means.
            pub fn about(self) -> &'static str {
                match self { $(Self::$variant => $about,)* }
            }

            /// What does it in this release; `None` when nothing does.
            pub fn harvester(self) -> Option<Harvester> {
                match self { $(Self::$variant => $harvester,)* }
            }

            /// The complexity level of a source whose description gives none.
            pub fn usual_level(self) -> u8 {
                match self { $(Self::$variant => $level,)* }
            }
        }
    };
}

techniques! {
    OaiPmh "oai-pmh" Some(Harvester::OaiPmh), level 2 "records by the OAI protocol for metadata harvesting";
    File "file" Some(Harvester::File), level 1 "files that lie here: dumps, exports, deliveries";
    Sru "sru" None, level 3 "records by searches: SRU, or Z39.50 behind a gateway";
    Sparql "sparql" None, level 3 "statements by queries to a SPARQL endpoint";
    Api "api" None, level 3 "records by an interface of the source's own";
    Feed "feed" None, level 2 "what is new, by RSS or Atom";
    Sitemap "sitemap" None, level 4 "the pages that a sitemap lists, read by rules";
    Web "web" None, level 4 "the pages that links lead to, read by rules";
    Manual "manual" None, level 1 "nothing is fetched: somebody imports what comes";
}

/// Why a source cannot be harvested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.said())]
pub struct NoHarvester {
    /// The source's key.
    pub key: String,
    pub technique: Technique,
}

impl NoHarvester {
    fn said(&self) -> String {
        let Self { key, technique } = self;
        if *technique == Technique::Manual {
            return format!(
                "`{key}` is a source of technique `manual`, so nothing is harvested; take its files in with \
                 `pinakes import --source {key} FILE`"
            );
        }
        let able: Vec<&str> =
            Technique::ALL.iter().filter(|t| t.harvester().is_some()).map(|t| t.name()).collect();
        format!(
            "`{key}` is a source of technique `{technique}` ({}), which comes with a later release; this one \
             harvests {}; until then `pinakes import --source {key} FILE` takes its files in",
            technique.about(),
            able.join(" and "),
        )
    }
}

impl fmt::Display for Technique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Technique {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.iter().copied().find(|known| known.name().eq_ignore_ascii_case(name)).ok_or(())
    }
}

impl Serialize for Technique {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_technique_is_read_as_it_is_written() {
        for technique in Technique::ALL {
            assert_eq!(technique.name().parse(), Ok(*technique));
            assert!((1..=5).contains(&technique.usual_level()));
        }
    }

    #[test]
    fn what_cannot_be_harvested_says_what_can() {
        let said = NoHarvester { key: "discogs".to_owned(), technique: Technique::Api }.to_string();
        assert!(said.contains("later release") && said.contains("oai-pmh and file"), "{said}");
        let said = NoHarvester { key: "box".to_owned(), technique: Technique::Manual }.to_string();
        assert!(said.contains("pinakes import --source box"), "{said}");
    }
}
