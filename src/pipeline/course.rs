//! From the description of a source to a harvest of it.

use super::harvest::Course;
use crate::fetch;
use crate::harvest::oai::{Granularity, Plan, Stamp};
use crate::source::{self, OaiVerb, Source};
use std::time::Duration;

/// Why a description does not say enough to harvest by.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CourseError {
    #[error("`{0}` has the technique `oai-pmh` and no `[oai]` that says the address")]
    NoAddress(String),
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
            one_by_one: oai.verb == OaiVerb::ListIdentifiers,
            ..Plan::default()
        };
        let content_type = match source.content_type.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        };
        Ok(Self { source: source.key.clone(), plan, access: access(&source.access), content_type })
    }
}

/// What the fetcher must know, with its own defaults for what is not said.
pub(super) fn access(said: &source::Access) -> fetch::Access {
    let mut access = fetch::Access {
        allow_private: said.allow_private.clone(),
        // The protocol is made for programs; robots.txt speaks to those who follow links.
        respect_robots: false,
        contact: said.contact.clone(),
        accept: Some("text/xml, application/xml".to_owned()),
        ..fetch::Access::default()
    };
    let seconds = |time: f64| Duration::try_from_secs_f64(time).unwrap_or_default();
    if let Some(delay) = said.delay {
        access.delay = seconds(delay);
    }
    if let Some(concurrency) = said.concurrency {
        access.concurrency = concurrency as usize;
    }
    if let Some(limit) = said.max_body {
        access.limits.body = usize::try_from(limit).unwrap_or(usize::MAX);
    }
    let timeouts = &mut access.timeouts;
    for (to, from) in [
        (&mut timeouts.connect, said.timeouts.connect),
        (&mut timeouts.idle, said.timeouts.idle),
        (&mut timeouts.total, said.timeouts.total),
    ] {
        if let Some(time) = from {
            *to = seconds(time);
        }
    }
    access.credentials = said.credentials.as_ref().map(credentials);
    access
}

fn credentials(said: &source::Credentials) -> fetch::Credentials {
    match said.clone() {
        source::Credentials::Basic { user_env, password_env } => {
            fetch::Credentials::Basic { user_env, password_env }
        }
        source::Credentials::Bearer { token_env } => fetch::Credentials::Bearer { token_env },
        source::Credentials::Header { name, value_env } => fetch::Credentials::Header { name, value_env },
        source::Credentials::Login(login) => {
            let fields = login.fields.into_iter().map(|(name, value)| {
                let value = match value {
                    source::LoginValue::Text(text) => fetch::FieldValue::Text(text),
                    source::LoginValue::Env(env) => fetch::FieldValue::Env { env },
                };
                (name, value)
            });
            fetch::Credentials::Login(fetch::Login {
                form: fetch::Form { url: login.url, fields: fields.collect() },
                expired: login.expired,
                logout: login.logout,
            })
        }
    }
}
