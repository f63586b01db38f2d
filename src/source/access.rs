//! How a source wants to be asked: politeness, limits, who we are.
//!
//! Secrets are never here. A description names environment variables, and whoever opens a
//! connection looks their values up at that moment. What is not given is the fetcher's to
//! choose; serialized, an [`Access`] has the shape in which the fetcher takes its settings.

use serde::Serialize;
use std::collections::BTreeMap;

/// What the fetcher must know of a source.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Access {
    /// Private addresses that may be asked all the same: `127.0.0.1:8099`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_private: Vec<String>,
    /// Whether an https address may redirect to an http one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_downgrade: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub respect_robots: Option<bool>,
    /// Seconds between two requests to one host, at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<f64>,
    /// Requests to one host at a time, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// An address that the source can write to; it goes into the User-Agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
    /// Seconds: `connect`, `idle`, `total`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub timeouts: BTreeMap<&'static str, f64>,
    /// `body`, `ratio`, `header`, `headers`, `redirects`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<&'static str, u64>,
    #[serde(skip_serializing_if = "Retries::is_default")]
    pub retries: Retries,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<Credentials>,
}

/// How often we come back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Retries {
    /// Attempts for one page, the first included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_wait: Option<f64>,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_wait: Option<f64>,
    /// Attempts beyond the first that a session has in stock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<u32>,
    /// Seconds for one page with all attempts and waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<f64>,
}

/// How we say who we are. Every `…_env` is the name of an environment variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
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
    /// A form that opens a session.
    Login(Login),
    /// A page that gives a token for a while.
    Token(Form),
}

/// A form and where it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Form {
    pub url: String,
    pub fields: BTreeMap<String, FieldValue>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Login {
    #[serde(flatten)]
    pub form: Form,
    /// A text by which an answer shows that the session has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expired: Option<String>,
    /// Where the session is closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logout: Option<String>,
}

/// What goes into a field of a form: a text, or `{ env = "NAME" }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum FieldValue {
    Text(String),
    Env { env: String },
}

impl Access {
    /// The environment variables that must be set before the source can be asked.
    pub fn variables(&self) -> Vec<&str> {
        match &self.credentials {
            None => Vec::new(),
            Some(Credentials::Basic { user_env, password_env }) => vec![user_env, password_env],
            Some(Credentials::Bearer { token_env }) => vec![token_env],
            Some(Credentials::Header { value_env, .. }) => vec![value_env],
            Some(Credentials::Login(login)) => login.form.variables(),
            Some(Credentials::Token(form)) => form.variables(),
        }
    }
}

impl Form {
    fn variables(&self) -> Vec<&str> {
        self.fields
            .values()
            .filter_map(|value| match value {
                FieldValue::Env { env } => Some(env.as_str()),
                FieldValue::Text(_) => None,
            })
            .collect()
    }
}

impl Retries {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
