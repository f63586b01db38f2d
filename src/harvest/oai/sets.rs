//! The sets of a repository.

use super::ask::{Trouble, ask};
use super::error::HarvestError;
use super::request::{Request, Verb};
use super::response::{SETS_LIMIT, Set};
use crate::fetch::Transport;
use std::collections::BTreeSet;

/// Sets, as far as they were listed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sets {
    pub sets: Vec<Set>,
    /// There are more.
    pub more: bool,
}

/// Lists the sets, on this many pages at most. A repository without sets has none.
pub fn list_sets(transport: &dyn Transport, base_url: &str, pages: usize) -> Result<Sets, HarvestError> {
    let mut listed = Sets::default();
    let mut token: Option<String> = None;
    let mut tokens = BTreeSet::new();
    for _ in 0..pages.max(1) {
        let request = match &token {
            Some(token) => Request::Resume { verb: Verb::ListSets, token },
            None => Request::ListSets,
        };
        let url = request.url(base_url);
        let response = ask(transport, &url, Verb::ListSets, 1).map_err(|trouble| trouble.into_error(&url))?;
        if let Some(error) = response.errors.into_iter().next() {
            if matches!(error.code.as_str(), "noSetHierarchy" | "noRecordsMatch") {
                return Ok(listed);
            }
            return Err(Trouble::Refused(error).into_error(&url));
        }
        listed.sets.extend(response.sets.into_iter().filter(|set| !set.spec.is_empty()));
        let next = response.token.filter(|token| !token.text.is_empty());
        listed.more = next.is_some();
        match next {
            Some(next) if listed.sets.len() < SETS_LIMIT && tokens.insert(next.text.clone()) => {
                token = Some(next.text);
            }
            _ => break,
        }
    }
    if listed.sets.len() > SETS_LIMIT {
        listed.sets.truncate(SETS_LIMIT);
        listed.more = true;
    }
    Ok(listed)
}
