//! Who we are to a source: opened with the first request, renewed when it has expired, closed.
//!
//! What identifies us is made once from the environment and never printed. A login sends a form
//! and is kept by cookies; a token endpoint is sent a form and gives a token for a while.

use super::access::{Access, Credentials, FieldValue, Form};
use super::fault::{Fault, FaultKind};
use super::fetcher::Environment;
use super::guard::{self, Refusal};
use super::secret::{Secret, Secrets};
use super::session::{Body, Purpose, Question, Session, lock};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use std::sync::Mutex;
use std::time::Duration;
use url::{Origin, Url};

/// What identifies us, and how far that has got.
pub(super) struct Identity {
    kind: Kind,
    state: Mutex<State>,
}

enum Kind {
    Nobody,
    /// Sent with every request.
    Header(HeaderName, HeaderValue),
    Login {
        form: Filled,
        expired: Option<String>,
        logout: Option<Url>,
    },
    Token(Filled),
}

/// A form with the values of its variables.
struct Filled {
    url: Url,
    fields: Vec<(String, Secret)>,
}

#[derive(Default)]
struct State {
    is_open: bool,
    /// How often it was opened. Who finds it expired says which one was.
    opened: u64,
    token: Option<HeaderValue>,
    /// When the token ends, on the monotonic clock.
    until: Option<Duration>,
}

/// What a token endpoint answers (RFC 6749, 5.1).
#[derive(Deserialize)]
struct TokenAnswer {
    access_token: String,
    #[serde(default)]
    expires_in: Option<f64>,
}

impl Identity {
    pub(super) fn new(
        access: &Access,
        home: &Url,
        environment: &Environment,
        secrets: &Secrets,
    ) -> Result<Self, Refusal> {
        let variable = |name: &str| {
            let value = environment(name).filter(|value| !value.is_empty());
            let value =
                value.ok_or_else(|| setting(format!("the environment variable `{name}` is not set")))?;
            secrets.add(&value);
            Ok::<_, Refusal>(value)
        };
        let fill = |form: &Form| -> Result<Filled, Refusal> {
            let url = guard::parse(&form.url)?;
            if home.scheme() == "https" && url.scheme() == "http" && !access.allow_downgrade {
                return Err((FaultKind::Downgrade, "the login would be sent without encryption".to_owned()));
            }
            let fields = form.fields.iter().map(|(name, value)| {
                let value = match value {
                    FieldValue::Text(text) => text.clone(),
                    FieldValue::Env { env } => variable(env)?,
                };
                Ok((name.clone(), Secret::new(value)))
            });
            Ok(Filled { url, fields: fields.collect::<Result<_, Refusal>>()? })
        };
        let kind = match &access.credentials {
            None => Kind::Nobody,
            Some(Credentials::Basic { user_env, password_env }) => {
                let pair = format!("{}:{}", variable(user_env)?, variable(password_env)?);
                secrets.add(&pair);
                Kind::Header(AUTHORIZATION, sensitive(&format!("Basic {}", STANDARD.encode(pair)))?)
            }
            Some(Credentials::Bearer { token_env }) => {
                Kind::Header(AUTHORIZATION, sensitive(&format!("Bearer {}", variable(token_env)?))?)
            }
            Some(Credentials::Header { name, value_env }) => {
                let wrong = |_| setting(format!("`{}` is no name of a header", name.escape_debug()));
                let header = HeaderName::try_from(name.as_str()).map_err(wrong)?;
                Kind::Header(header, sensitive(&variable(value_env)?)?)
            }
            Some(Credentials::Login(login)) => Kind::Login {
                form: fill(&login.form)?,
                expired: login.expired.clone().filter(|marker| !marker.is_empty()),
                logout: login.logout.as_deref().map(guard::parse).transpose()?,
            },
            Some(Credentials::Token(endpoint)) => Kind::Token(fill(&endpoint.form)?),
        };
        Ok(Self { kind, state: Mutex::default() })
    }

    /// Adds what goes with every request to the source.
    pub(super) fn sign(&self, headers: &mut HeaderMap) {
        match &self.kind {
            Kind::Header(name, value) => {
                headers.insert(name.clone(), value.clone());
            }
            Kind::Token(_) => {
                if let Some(token) = lock(&self.state).token.clone() {
                    headers.insert(AUTHORIZATION, token);
                }
            }
            Kind::Nobody | Kind::Login { .. } => {}
        }
    }

    /// Whether an address is the login form.
    pub(super) fn is_form(&self, url: &Url) -> bool {
        match &self.kind {
            Kind::Login { form, .. } => form.url.origin() == url.origin() && form.url.path() == url.path(),
            _ => false,
        }
    }

    /// Whether the form lives at this origin.
    pub(super) fn is_at(&self, origin: &Origin) -> bool {
        matches!(&self.kind, Kind::Login { form, .. } if form.url.origin() == *origin)
    }

    /// Whether a status says that we are no longer known.
    pub(super) fn is_over(&self, status: u16) -> bool {
        match &self.kind {
            Kind::Login { .. } => matches!(status, 401 | 403),
            Kind::Token(_) => status == 401,
            Kind::Nobody | Kind::Header(..) => false,
        }
    }

    /// The text by which a page says so.
    pub(super) fn marker(&self) -> Option<&str> {
        match &self.kind {
            Kind::Login { expired, .. } => expired.as_deref(),
            _ => None,
        }
    }

    fn form(&self) -> Option<&Filled> {
        match &self.kind {
            Kind::Login { form, .. } | Kind::Token(form) => Some(form),
            Kind::Nobody | Kind::Header(..) => None,
        }
    }
}

impl Session {
    /// Sees to it that we are logged in, and says by which login.
    pub(super) fn open_login(&self) -> Result<u64, Fault> {
        let Some(form) = self.identity.form() else { return Ok(0) };
        // Who comes meanwhile waits here and finds it open.
        let mut state = lock(&self.identity.state);
        let now = self.shared.options.clock.elapsed();
        let current = state.is_open && state.until.is_none_or(|until| now < until);
        if !current {
            self.login(form, &mut state)?;
        }
        Ok(state.opened)
    }

    /// Logs in again, unless somebody has done so since login number `expired`.
    pub(super) fn renew_login(&self, expired: u64) -> Result<(), Fault> {
        let Some(form) = self.identity.form() else { return Ok(()) };
        let mut state = lock(&self.identity.state);
        if state.opened == expired {
            self.login(form, &mut state)?;
        }
        Ok(())
    }

    /// Closes the session at the source.
    pub(super) fn logout(&self) -> Result<(), Fault> {
        let Kind::Login { logout: Some(url), .. } = &self.identity.kind else { return Ok(()) };
        let was_open = std::mem::take(&mut lock(&self.identity.state).is_open);
        if !was_open || self.is_cancelled() {
            return Ok(());
        }
        let url = url.clone();
        // Whatever became of the last page, this is another matter.
        self.begin_page();
        let question = Question { url, purpose: Purpose::Login, attempts: 1, body: None, validators: None };
        self.ask(&question).map(|_| ())
    }

    fn login(&self, form: &Filled, state: &mut State) -> Result<(), Fault> {
        *state = State { opened: state.opened, ..State::default() };
        lock(&self.jar).clear();
        self.counters.login();
        let question = Question {
            url: form.url.clone(),
            purpose: Purpose::Login,
            attempts: self.access.retries.attempts,
            body: Some(Body::Form(&form.fields)),
            validators: None,
        };
        let refused = |detail: &str| self.refused(form.url.as_str(), (FaultKind::Login, detail.to_owned()));
        let (_, reply) = self.ask(&question).map_err(|fault| match fault.kind {
            FaultKind::Status(status @ 400..=499) => Fault {
                kind: FaultKind::Login,
                detail: format!("it answered {status}: {}", fault.detail),
                ..fault
            },
            _ => fault,
        })?;
        match &self.identity.kind {
            Kind::Token(_) => {
                let answer: TokenAnswer =
                    serde_json::from_slice(&reply.body).map_err(|_| refused("it gave no `access_token`"))?;
                self.secrets.add(&answer.access_token);
                let value = sensitive(&format!("Bearer {}", answer.access_token));
                state.token = Some(value.map_err(|refusal| self.refused(form.url.as_str(), refusal))?);
                let now = self.shared.options.clock.elapsed();
                // A little early is better than one refused request in each period.
                let time =
                    answer.expires_in.and_then(|seconds| Duration::try_from_secs_f64(seconds * 0.9).ok());
                state.until = time.map(|time| now.saturating_add(time));
            }
            _ => {
                let marked = |marker: &str| memmem::find(&reply.body, marker.as_bytes()).is_some();
                if self.identity.marker().is_some_and(marked) {
                    return Err(refused("the page after it still asks for a login"));
                }
            }
        }
        state.opened += 1;
        state.is_open = true;
        Ok(())
    }
}

/// A header that reqwest and hyper do not print.
fn sensitive(text: &str) -> Result<HeaderValue, Refusal> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| setting("a credential holds a character that no header can".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}

fn setting(detail: String) -> Refusal {
    (FaultKind::Settings, detail)
}

#[cfg(test)]
mod tests;
