//! Why entries of the master are others than after the last run.
//!
//! What decides about entries beside their records (queries, profiles with their weights, the levels of
//! statements, people's decisions) is noted in the cache as hashes. A run compares them with its own, so a
//! catalogue that is resolved by a newer program, or after somebody edited a text, says what made the
//! difference.

use super::PipelineError;
use super::cache::{Cache, Writing};
use super::decisions::Numbered;
use super::grouping::Groups;
use super::reading::Read;
use super::texts::Texts;
use super::writing::WAYS;
use crate::archive::PayloadHash;

/// What entries follow from, each under the name by which the cache remembers it.
pub(super) struct Causes {
    noted: Vec<(&'static str, u64, &'static str)>,
}

impl Causes {
    pub fn new(texts: &Texts, decided: &[Numbered]) -> Self {
        let short = |hash: &PayloadHash| {
            let mut first = [0; 8];
            first.copy_from_slice(&hash.0[..8]);
            u64::from_le_bytes(first).max(1)
        };
        let noted = vec![
            ("cause-reading", short(&texts.questionnaire.hash), "the queries that read records are others"),
            (
                "cause-placing",
                short(&texts.placing),
                "what belongs to a work or to its publication is another",
            ),
            (
                "cause-instance",
                short(&texts.instance.hash),
                "the profile `instance` or its weights are others",
            ),
            ("cause-work", short(&texts.work.hash), "the profile `work` or its weights are others"),
            ("cause-agent", short(&texts.agent.hash), "the profile `agent` or its weights are others"),
            ("cause-decisions", decided.len() as u64 + 1, "people decided something"),
        ];
        Self { noted }
    }

    /// What is different from the last run; nothing for the first one.
    pub fn differences(
        &self,
        cache: &Cache,
        read: &Read,
        groups: &Groups,
    ) -> Result<Vec<String>, PipelineError> {
        let mut found = Vec::new();
        let mut is_another = false;
        if cache.number(WAYS)? != 0 && cache.number("cause-reading")? == 0 {
            is_another = true;
            found.push("the last run was of an older program".to_owned());
        }
        for (name, now, what) in &self.noted {
            let then = cache.number(name)?;
            if then != 0 && then != *now {
                is_another |= *name != "cause-decisions";
                found.push((*what).to_owned());
            }
        }
        if !is_another && read.read > 0 {
            found.push("records are new or changed".to_owned());
        }
        if read.gone > 0 {
            found.push("records are gone".to_owned());
        }
        let levels = [&groups.instance, &groups.work, &groups.agent];
        if !is_another && levels.iter().any(|level| level.has_learned) {
            found.push("weights were learned again".to_owned());
        }
        Ok(found)
    }

    pub fn note(&self, tables: &mut Writing<'_>) -> Result<(), PipelineError> {
        self.noted.iter().try_for_each(|(name, now, _)| tables.set_number(name, *now))
    }
}
