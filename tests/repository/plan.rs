//! When things go wrong.

use super::fault::Fault;
use super::request::Verb;
use std::collections::HashMap;
use std::str::FromStr;

/// When a fault happens, counted over the requests for its verb from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Always,
    /// At this request and never again.
    Once(usize),
    /// From this request on.
    From(usize),
    /// At every n-th request.
    Every(usize),
}

impl When {
    fn applies(self, request: usize) -> bool {
        match self {
            Self::Always => true,
            Self::Once(at) => request == at,
            Self::From(first) => request >= first,
            Self::Every(nth) => request.is_multiple_of(nth),
        }
    }
}

/// A fault with its time and place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    pub fault: Fault,
    pub when: When,
    pub verb: Verb,
}

/// `NAME[:RECORD][@WHEN]` with WHEN one of `always`, `3`, `from3`, `every3`.
impl FromStr for Planned {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, when) = text.split_once('@').map_or((text, None), |(name, when)| (name, Some(when)));
        let fault = Fault::named(name).ok_or_else(|| format!("`{name}` is no fault"))?;
        let count = |text: &str| match text.parse() {
            Ok(count) if count > 0 => Ok(count),
            _ => Err(format!("`{text}` is no number of a request")),
        };
        let when = match when {
            None => fault.usually(),
            Some("always") => When::Always,
            Some(when) => match (when.strip_prefix("from"), when.strip_prefix("every")) {
                (Some(first), _) => When::From(count(first)?),
                (_, Some(nth)) => When::Every(count(nth)?),
                _ => When::Once(count(when)?),
            },
        };
        Ok(Self { fault, when, verb: Verb::ListRecords })
    }
}

/// All faults of a repository, and how often each verb was asked for.
#[derive(Debug, Default)]
pub struct Plan {
    planned: Vec<Planned>,
    requests: HashMap<Verb, usize>,
}

impl Plan {
    pub fn new(planned: Vec<Planned>) -> Self {
        Self { planned, requests: HashMap::new() }
    }

    pub fn add(&mut self, planned: Planned) {
        self.planned.push(planned);
    }

    pub fn clear(&mut self) {
        self.planned.clear();
    }

    /// Counts a request; says how many there were and what goes wrong with this one. Faults of
    /// records are not among it: they go wrong wherever the record is given.
    pub fn next(&mut self, verb: Verb) -> (usize, Vec<Fault>) {
        let requests = self.requests.entry(verb).or_default();
        *requests += 1;
        let applies = |planned: &&Planned| {
            planned.verb == verb && planned.fault.record().is_none() && planned.when.applies(*requests)
        };
        (*requests, self.planned.iter().filter(applies).map(|planned| planned.fault).collect())
    }

    /// What is wrong with a record.
    pub fn of_record(&self, number: usize) -> Option<Fault> {
        self.planned.iter().map(|planned| planned.fault).find(|fault| fault.record() == Some(number))
    }
}
