//! How a source wants to be asked: politeness, limits, who we are.
//!
//! Secrets are never here. A description names environment variables, and whoever opens a
//! connection looks their values up at that moment.

use serde::Serialize;

/// What the fetcher must know of a source.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Access {
    /// Private addresses that may be asked all the same: `127.0.0.1:8099`.
    pub allow_private: Vec<String>,
    /// Seconds between two requests to one host, at least.
    pub delay: Option<f64>,
    /// Requests to one host at a time, at most.
    pub concurrency: Option<u32>,
    pub respect_robots: bool,
    /// An address that the source can write to; it goes into the User-Agent.
    pub contact: Option<String>,
    /// Bytes of an answer after decompression, at most.
    pub max_body: Option<u64>,
    pub timeouts: Timeouts,
    pub credentials: Option<Credentials>,
}

/// Seconds; what is not given is the fetcher's to choose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Timeouts {
    pub connect: Option<f64>,
    pub idle: Option<f64>,
    pub total: Option<f64>,
}

/// How we say who we are. Every `…_env` is the name of an environment variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Credentials {
    Basic { user_env: String, password_env: String },
    Bearer { token_env: String },
    Header { name: String, value_env: String },
    Login(Login),
}

/// A form that opens a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Login {
    /// Where the form is sent.
    pub url: String,
    pub fields: Vec<(String, LoginValue)>,
    /// A text by which an answer shows that the session has ended.
    pub expired: Option<String>,
    /// Where the session is closed.
    pub logout: Option<String>,
}

/// What goes into a field of a login form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LoginValue {
    Text(String),
    Env(String),
}

impl Default for Access {
    fn default() -> Self {
        Self {
            allow_private: Vec::new(),
            delay: None,
            concurrency: None,
            respect_robots: true,
            contact: None,
            max_body: None,
            timeouts: Timeouts::default(),
            credentials: None,
        }
    }
}

impl Access {
    /// The environment variables that must be set before the source can be asked.
    pub fn variables(&self) -> Vec<&str> {
        match &self.credentials {
            None => Vec::new(),
            Some(Credentials::Basic { user_env, password_env }) => vec![user_env, password_env],
            Some(Credentials::Bearer { token_env }) => vec![token_env],
            Some(Credentials::Header { value_env, .. }) => vec![value_env],
            Some(Credentials::Login(login)) => login
                .fields
                .iter()
                .filter_map(|(_, value)| match value {
                    LoginValue::Env(name) => Some(name.as_str()),
                    LoginValue::Text(_) => None,
                })
                .collect(),
        }
    }
}
