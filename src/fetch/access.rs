//! How one source is to be asked: politeness, limits, what may be reached, who we are.
//!
//! These are the settings as somebody wrote them; every value has a default, times are in
//! seconds. Secrets are never here: a setting names an environment variable, and opening a
//! session looks its value up.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// The rules for one source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Access {
    /// Private addresses that may be asked all the same: `127.0.0.1:8099`, `10.0.0.0/8`,
    /// `intranet.example:8080`.
    pub allow_private: Vec<String>,
    /// Whether an https address may redirect to an http one.
    pub allow_downgrade: bool,
    /// Off for interfaces that are made for programs, such as OAI-PMH.
    pub respect_robots: bool,
    /// Between two requests to one host, at least. The host's `Crawl-delay` counts if it is longer.
    #[serde(with = "seconds")]
    pub delay: Duration,
    /// Requests to one host at a time, at most.
    pub concurrency: usize,
    /// A mail address or a page that the source can turn to; it goes into the User-Agent.
    pub contact: Option<String>,
    /// The media types we can read, if the server has a choice.
    pub accept: Option<String>,
    pub timeouts: Timeouts,
    pub limits: Limits,
    pub retries: Retries,
    pub credentials: Option<Credentials>,
}

/// How long we wait for a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// For a connection, the look-up of the name included.
    #[serde(with = "seconds")]
    pub connect: Duration,
    /// For the next bytes.
    #[serde(with = "seconds")]
    pub idle: Duration,
    /// For one attempt with all its redirects; the waits for politeness do not count.
    #[serde(with = "seconds")]
    pub total: Duration,
}

/// How much we take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of a page, decompressed.
    pub body: usize,
    /// How many times its size a compressed page may grow. Counts from the first megabyte on.
    pub ratio: usize,
    /// Bytes of all headers of an answer.
    pub header: usize,
    /// Lines of headers.
    pub headers: usize,
    /// Redirects that are followed; 10 at most.
    pub redirects: usize,
}

/// How often we come back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retries {
    /// Attempts for one page, the first included.
    pub attempts: u32,
    /// The first wait; each further one is twice as long.
    #[serde(with = "seconds")]
    pub first_wait: Duration,
    /// The longest wait. A server that asks for a longer one is left for another run.
    #[serde(with = "seconds")]
    pub longest_wait: Duration,
    /// Attempts beyond the first that a session may have in stock. Each page that comes adds
    /// one, each retry takes one: a source that is down for good costs this much and no more.
    pub budget: u32,
    /// How long one page may take with all attempts and waits; see [`Access::patience`].
    #[serde(with = "seconds_if_given", skip_serializing_if = "Option::is_none")]
    pub patience: Option<Duration>,
}

/// How we say who we are. It is said to the source's own origin and to nobody else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Credentials {
    Basic {
        user_env: String,
        password_env: String,
    },
    Bearer {
        token_env: String,
    },
    Header {
        name: String,
        value_env: String,
    },
    /// A form that opens a session, which is then kept by cookies.
    Login(Login),
    /// A page that gives a token for a while.
    Token(TokenEndpoint),
}

/// A form and where it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Form {
    pub url: String,
    #[serde(default)]
    pub fields: BTreeMap<String, FieldValue>,
}

/// What goes into a field: a text, or `{ env = "NAME" }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FieldValue {
    Text(String),
    Env { env: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    #[serde(flatten)]
    pub form: Form,
    /// A text by which a page shows that the session has ended. Without it 401, 403 and a
    /// redirect to the form show it.
    #[serde(default)]
    pub expired: Option<String>,
    /// Where the session is closed.
    #[serde(default)]
    pub logout: Option<String>,
}

/// A token endpoint in the manner of OAuth 2: fields in, `access_token` and `expires_in` out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenEndpoint {
    #[serde(flatten)]
    pub form: Form,
}

impl Access {
    /// The least patience, whatever the time limit of an attempt: a server that is started again
    /// is back within a minute.
    const LEAST_PATIENCE: Duration = Duration::from_secs(60);

    /// How long one page may take with all attempts and waits. If it is not said, three times as
    /// long as one attempt, and a minute at least.
    pub fn patience(&self) -> Duration {
        let attempts = self.timeouts.total.saturating_mul(3).max(Self::LEAST_PATIENCE);
        self.retries.patience.unwrap_or(attempts)
    }
}

impl Default for Access {
    fn default() -> Self {
        Self {
            allow_private: Vec::new(),
            allow_downgrade: false,
            respect_robots: true,
            delay: Duration::ZERO,
            concurrency: 1,
            contact: None,
            accept: None,
            timeouts: Timeouts::default(),
            limits: Limits::default(),
            retries: Retries::default(),
            credentials: None,
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            // Repositories take their time before the first byte of a large list.
            idle: Duration::from_secs(60),
            total: Duration::from_secs(300),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { body: 64 << 20, ratio: 200, header: 64 << 10, headers: 200, redirects: 10 }
    }
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            attempts: 6,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(600),
            budget: 20,
            patience: None,
        }
    }
}

/// Durations as numbers of seconds.
mod seconds {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(time.as_secs_f64())
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Duration, D::Error> {
        let seconds = f64::deserialize(deserializer)?;
        Duration::try_from_secs_f64(seconds)
            .map_err(|_| D::Error::custom(format!("`{seconds}` is not a number of seconds from 0 on")))
    }
}

/// The same where there may be none.
mod seconds_if_given {
    use serde::{Deserializer, Serializer};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(
        time: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => super::seconds::serialize(time, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        super::seconds::deserialize(deserializer).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_read_as_people_write_them() {
        let access: Access = toml::from_str(
            r#"
            allow_private = ["127.0.0.1:8099"]
            delay = 0.5
            timeouts.total = 20
            retries.patience = 90
            [credentials.login]
            url = "https://repo.example/login"
            fields = { user = { env = "REPO_USER" }, kind = "local" }
            logout = "https://repo.example/logout"
            "#,
        )
        .unwrap();
        assert_eq!(access.delay, Duration::from_millis(500));
        assert_eq!(access.timeouts.total, Duration::from_secs(20));
        assert_eq!(access.timeouts.connect, Duration::from_secs(10));
        assert_eq!(access.retries.patience, Some(Duration::from_secs(90)));
        assert!(access.respect_robots);
        let Some(Credentials::Login(login)) = &access.credentials else { panic!("{access:?}") };
        assert_eq!(login.form.fields["user"], FieldValue::Env { env: "REPO_USER".to_owned() });
        assert_eq!(login.form.fields["kind"], FieldValue::Text("local".to_owned()));
        let again: Access = toml::from_str(&toml::to_string(&access).unwrap()).unwrap();
        assert_eq!(again, access);
    }

    #[test]
    fn what_cannot_be_meant_is_an_error() {
        for text in
            ["delay = -1", "delay = \"x\"", "respect_robot = false", "[credentials.basic]\nuser = \"me\""]
        {
            assert!(toml::from_str::<Access>(text).is_err(), "{text}");
        }
    }
}
