//! Changing a running repository, from the test's thread or over HTTP.

use super::request::{Arguments, argument};
use super::server::Shared;
use serde_json::{Value, json};
use std::time::Duration;

/// The clock moves on before and after every change, so that a change is younger than what was
/// harvested before it and older than what is harvested after it.
const BETWEEN: Duration = Duration::from_secs(3600);

impl Shared {
    pub fn change(&self, numbers: &[usize]) {
        let mut state = self.state();
        state.clock.advance(BETWEEN);
        let now = state.clock.now();
        state.holdings.change(numbers, now);
        state.clock.advance(BETWEEN);
    }

    pub fn add(&self, count: usize) -> Vec<usize> {
        let mut state = self.state();
        state.clock.advance(BETWEEN);
        let now = state.clock.now();
        let numbers = state.holdings.add(count, now);
        state.clock.advance(BETWEEN);
        numbers
    }

    pub fn set_deleted(&self, numbers: &[usize], deleted: bool) {
        let mut state = self.state();
        state.clock.advance(BETWEEN);
        let now = state.clock.now();
        state.holdings.set_deleted(numbers, deleted, now);
        state.clock.advance(BETWEEN);
    }
}

/// `POST /control/change?ids=1,2,3`, `delete?ids=`, `restore?ids=`, `add?count=`,
/// `advance?seconds=`, `delay?ms=`, `expire-tokens`, `expire-sessions`.
pub fn perform(shared: &Shared, what: &str, arguments: &Arguments) -> Result<Value, String> {
    let number = |name: &str| {
        let text = argument(arguments, name).ok_or_else(|| format!("{what} needs `{name}`"))?;
        text.parse::<u64>().map_err(|_| format!("`{text}` is no number"))
    };
    let ids = || {
        let text = argument(arguments, "ids").ok_or_else(|| format!("{what} needs `ids`"))?;
        let known: Vec<usize> = shared.state().holdings.numbers();
        text.split(',')
            .map(|id| match id.trim().parse() {
                Ok(id) if known.contains(&id) => Ok(id),
                _ => Err(format!("there is no record `{id}`")),
            })
            .collect::<Result<Vec<usize>, String>>()
    };
    match what {
        "change" => shared.change(&ids()?),
        "delete" => shared.set_deleted(&ids()?, true),
        "restore" => shared.set_deleted(&ids()?, false),
        "add" => return Ok(json!(shared.add(number("count")? as usize))),
        "advance" => shared.state().clock.advance(Duration::from_secs(number("seconds")?)),
        "delay" => shared.state().settings.delay = Duration::from_millis(number("ms")?),
        "expire-tokens" => shared.state().tokens.expire_all(),
        "expire-sessions" => shared.guard.expire_all(),
        _ => return Err(format!("`{what}` is nothing that can be done")),
    }
    Ok(json!("done"))
}
