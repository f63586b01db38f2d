//! The texts under `queries/`, as they are in the binary.

use super::CatalogueError;

macro_rules! queries {
    ($($name:literal)*) => {
        /// Every query text by its path under `queries/` without the ending.
        pub const QUERIES: &[(&str, &str)] = &[$((
            $name,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/queries/", $name, ".rq")),
        ),)*];
    };
}

queries! {
    "report/content-types"
    "report/enriched-works"
    "report/merged-values"
    "report/origin"
    "report/records-by-content-type"
    "report/records-by-format"
    "report/records-by-source"
    "report/relationships"
    "report/sources"
    "report/titles"
    "report/unmapped-tags"
    "report/unmerged-records"
    "resolve/agent/features"
    "resolve/agent/keys/title"
    "resolve/expression/features"
    "resolve/instance/features"
    "resolve/instance/keys/identifiers"
    "resolve/subject/features"
    "resolve/work/features"
    "resolve/work/keys/work-key"
    "serve/graph"
}

/// One of the texts.
pub fn text(name: &str) -> Result<&'static str, CatalogueError> {
    QUERIES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
        .ok_or_else(|| CatalogueError::NoSuchQuery(name.to_owned()))
}
