//! The rules of each origin, remembered for a day.

use super::Rules;
use crate::fetch::fault::Fault;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// RFC 9309 asks to look again after a day.
const FOR_RULES: Duration = Duration::from_secs(24 * 3600);
/// A server that was down is soon asked again.
const FOR_NONE: Duration = Duration::from_secs(60);
/// When there are more origins than this, all are forgotten and asked again.
const MOST: usize = 10_000;

#[derive(Debug, Default)]
pub(in crate::fetch) struct Known {
    origins: Mutex<HashMap<String, Arc<Mutex<Option<Entry>>>>>,
}

#[derive(Debug)]
struct Entry {
    rules: Arc<Rules>,
    /// On the monotonic clock.
    until: Duration,
}

impl Known {
    /// The rules of `origin`; `ask` gets them if they are not known, and says whether they will
    /// hold for a day. Others who want the same rules wait until one has got them.
    pub(in crate::fetch) fn rules(
        &self,
        origin: &str,
        now: Duration,
        ask: impl FnOnce() -> Result<(Rules, bool), Fault>,
    ) -> Result<Arc<Rules>, Fault> {
        let slot = {
            let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
            if origins.len() >= MOST && !origins.contains_key(origin) {
                origins.clear();
            }
            Arc::clone(origins.entry(origin.to_owned()).or_default())
        };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = slot.as_ref().filter(|entry| now < entry.until) {
            return Ok(Arc::clone(&entry.rules));
        }
        let (rules, lasting) = ask()?;
        let rules = Arc::new(rules);
        let until = now + if lasting { FOR_RULES } else { FOR_NONE };
        *slot = Some(Entry { rules: Arc::clone(&rules), until });
        Ok(rules)
    }
}
