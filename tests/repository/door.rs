//! Who may harvest: everyone, or those who say who they are.

use super::description::Dice;
use super::request::{Arguments, argument};
use axum::http::{HeaderMap, header};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the repository asks for.
#[derive(Clone, Debug)]
pub enum Door {
    Open,
    /// HTTP Basic with this user and password.
    Basic {
        user: String,
        password: String,
    },
    /// This bearer token.
    Bearer {
        token: String,
    },
    /// A bearer token that `/token` gives for `client_id` and `client_secret`, good for so many
    /// requests.
    Token {
        id: String,
        secret: String,
        lasts: usize,
    },
    /// A cookie that the form at `/login` gives for `username` and `password`, good for so many
    /// requests.
    Form {
        user: String,
        password: String,
        lasts: usize,
        refused: Refused,
    },
}

/// How a form turns away those without a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// 401.
    Unauthorized,
    /// 302 to the form.
    Redirected,
    /// 200 with the form.
    ShownTheForm,
}

/// The name of the cookie.
pub const COOKIE: &str = "repository_session";

/// A door and the sessions that were opened.
#[derive(Debug)]
pub struct Guard {
    door: Door,
    seed: u64,
    opened: Mutex<Sessions>,
}

#[derive(Debug, Default)]
struct Sessions {
    opened: usize,
    /// How many more requests each is good for.
    left: HashMap<String, usize>,
}

impl Guard {
    pub fn new(door: Door, seed: u64) -> Self {
        Self { door, seed, opened: Mutex::default() }
    }

    pub fn door(&self) -> &Door {
        &self.door
    }

    /// Whether a request may pass. Passing uses up a session.
    pub fn admits(&self, headers: &HeaderMap) -> bool {
        let credentials = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        match &self.door {
            Door::Open => true,
            Door::Basic { user, password } => {
                let expected = format!("Basic {}", base64(format!("{user}:{password}").as_bytes()));
                credentials == Some(&expected)
            }
            Door::Bearer { token } => credentials == Some(&format!("Bearer {token}")),
            Door::Token { .. } => credentials
                .and_then(|text| text.strip_prefix("Bearer "))
                .is_some_and(|token| self.uses(token)),
            Door::Form { .. } => self.cookie(headers).is_some_and(|session| self.uses(&session)),
        }
    }

    /// Opens a session for whoever knows the words.
    pub fn opens(&self, form: &Arguments) -> Option<String> {
        let given = |name: &str, expected: &str| argument(form, name) == Some(expected);
        let (known, lasts) = match &self.door {
            Door::Form { user, password, lasts, .. } => {
                (given("username", user) && given("password", password), *lasts)
            }
            Door::Token { id, secret, lasts } => {
                (given("client_id", id) && given("client_secret", secret), *lasts)
            }
            _ => (false, 0),
        };
        if !known {
            return None;
        }
        let mut sessions = self.sessions();
        sessions.opened += 1;
        let session = format!("s{:016x}", Dice::new(self.seed, sessions.opened).next());
        sessions.left.insert(session.clone(), lasts);
        Some(session)
    }

    /// Closes the session of a request.
    pub fn closes(&self, headers: &HeaderMap) -> bool {
        self.cookie(headers).is_some_and(|session| self.sessions().left.remove(&session).is_some())
    }

    /// Closes all sessions.
    pub fn expire_all(&self) {
        self.sessions().left.clear();
    }

    /// Sessions that were opened, and those of them that are still good.
    pub fn count(&self) -> (usize, usize) {
        let sessions = self.sessions();
        (sessions.opened, sessions.left.values().filter(|left| **left > 0).count())
    }

    fn uses(&self, session: &str) -> bool {
        match self.sessions().left.get_mut(session) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }

    fn cookie(&self, headers: &HeaderMap) -> Option<String> {
        headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find(|(name, _)| *name == COOKIE)
            .map(|(_, value)| value.to_owned())
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// RFC 4648.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place)) as usize & 63];
            out.push(if place <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}
