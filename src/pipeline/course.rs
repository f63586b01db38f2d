//! From the description of a source to a harvest of it.

use super::harvest::Course;
use crate::fetch;
use crate::harvest::oai::{Granularity, Plan, Stamp};
use crate::source::{self, OaiVerb, Source};

/// Why a description does not say enough to harvest by.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CourseError {
    #[error("`{0}` has the technique `oai-pmh` and no `[oai]` that says the address")]
    NoAddress(String),
    #[error("the `[access]` of `{0}` cannot be used: {1}")]
    BadAccess(String, String),
    #[error("`{0}` is no date such as 2024-05-31 or 2024-05-31T12:00:00Z")]
    BadDate(String),
}

impl Course {
    /// How a source of technique `oai-pmh` is harvested. `since` is for this once.
    pub fn of(source: &Source, full: bool, since: Option<&str>) -> Result<Self, CourseError> {
        let Some(oai) = &source.oai else { return Err(CourseError::NoAddress(source.key.clone())) };
        let stamp = |text: Option<&str>| {
            text.map(|text| Stamp::parse(text).ok_or_else(|| CourseError::BadDate(text.to_owned())))
                .transpose()
        };
        let plan = Plan {
            base_url: oai.url.clone(),
            prefix: oai.prefix.clone(),
            sets: oai.sets.clone(),
            from: stamp(oai.from.as_deref())?,
            until: stamp(oai.until.as_deref())?,
            since: stamp(since)?,
            full,
            granularity: oai.granularity.map(|granularity| match granularity {
                source::Granularity::Day => Granularity::Day,
                source::Granularity::Second => Granularity::Second,
            }),
            window_days: oai.window,
            overlap: oai.overlap.unwrap_or(0),
            one_by_one: oai.verb == OaiVerb::ListIdentifiers,
            ..Plan::default()
        };
        let content_type = match source.content_type.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        };
        Ok(Self {
            source: source.key.clone(),
            plan,
            access: access(&source.key, &source.access)?,
            content_type,
        })
    }
}

/// What the fetcher must know: the two have one shape, so what is not said is the fetcher's own.
pub(super) fn access(source: &str, said: &source::Access) -> Result<fetch::Access, CourseError> {
    let bad = |error: serde_json::Error| CourseError::BadAccess(source.to_owned(), error.to_string());
    let settings = serde_json::to_value(said).map_err(bad)?;
    let mut access: fetch::Access = serde_json::from_value(settings).map_err(bad)?;
    // The protocol is made for programs; robots.txt speaks to those who follow links.
    access.respect_robots = said.respect_robots.unwrap_or(false);
    access.accept = Some("text/xml, application/xml".to_owned());
    Ok(access)
}
