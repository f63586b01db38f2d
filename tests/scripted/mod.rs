//! A repository that answers as a text says.
//!
//! A line `== VERB` begins an answer to that verb: the body of an `OAI-PMH` element, or the
//! whole answer if that begins with `<html`. Requests get the answers in turn, and the last
//! one for ever.

use pinakes::diagnostic::Diagnostic;
use pinakes::harvest::oai::{Harvest, Plan, State, Step};
use pinakes::harvest::{Answer, Fault, Transport};
use std::cell::RefCell;
use std::collections::BTreeMap;

struct Script {
    answers: RefCell<BTreeMap<String, Vec<String>>>,
}

impl Transport for Script {
    fn get(&self, url: &str) -> Result<Answer, Fault> {
        let verb = url.split("verb=").nth(1).unwrap().split('&').next().unwrap();
        let mut answers = self.answers.borrow_mut();
        let left = answers.get_mut(verb).unwrap_or_else(|| panic!("nothing is said to {url}"));
        let body = if left.len() > 1 { left.remove(0) } else { left[0].clone() };
        let body = if body.starts_with("<html") { body } else { format!("<OAI-PMH>{body}</OAI-PMH>") };
        Ok(Answer { status: 200, url: url.to_owned(), body: body.into_bytes(), ..Answer::default() })
    }
}

/// Harvests the repository to its end, and says what was said.
pub fn harvest(script: &str) -> Vec<Diagnostic> {
    let mut answers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for part in script.split("== ").skip(1) {
        let (verb, body) = part.split_once('\n').unwrap();
        answers.entry(verb.trim().to_owned()).or_default().push(body.trim().to_owned());
    }
    let script = Script { answers: RefCell::new(answers) };
    let plan = Plan {
        base_url: "http://repository.example/oai".to_owned(),
        prefix: Some("oai_dc".to_owned()),
        ..Plan::default()
    };
    let mut harvest = Harvest::new(plan, State::default(), "2026-01-01T00:00:00Z");
    let mut heard = Vec::new();
    loop {
        match harvest.next(&script) {
            Step::Page(page) => {
                heard.extend(page.notices);
                heard.extend(page.rejects.into_iter().map(|reject| reject.diagnostic));
            }
            Step::Done(done) => {
                heard.extend(done.notices);
                return heard;
            }
            Step::Failed(failure) => {
                heard.push(pinakes::pipeline::source_failed(&failure));
                return heard;
            }
        }
    }
}
