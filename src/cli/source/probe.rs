//! `pinakes source probe`

use super::super::{Done, General, output};
use anyhow::Context;
use pinakes::fetch::{Access, Fetcher, Options};
use pinakes::harvest::{Amount, probe};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Look at an address and propose how to harvest it
///
/// A few polite requests tell what is there: technique, metadata model, amount, complexity
/// level and why. Nothing is taken and nothing is written; the last line is the command that
/// would describe the source. OAI-PMH repositories are recognised, at the address or at the
/// usual places of its host; feeds, sitemaps and sites come later.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes source probe https://repo.invalid/oai || true
  pinakes source probe 127.0.0.1:1/oai --allow-private 127.0.0.1:1 || true

Exit status: 0 something was found; 2 nothing was, or the address cannot be asked")]
pub(super) struct Probe {
    /// The address of a repository or of its host
    url: String,
    /// A private address that may be asked all the same
    #[arg(long, value_name = "HOST:PORT")]
    allow_private: Vec<String>,
    /// The key that the proposed command uses
    #[arg(long, default_value = "repo", value_name = "KEY")]
    key: String,
}

impl Probe {
    pub fn run(self, general: &General) -> anyhow::Result<Done> {
        let url = if self.url.contains("://") { self.url.clone() } else { format!("http://{}", self.url) };
        let fetcher = Fetcher::new(Options::default()).context("no connection can be made")?;
        let mut access = Access { allow_private: self.allow_private.clone(), ..Access::default() };
        access.retries.attempts = 2;
        access.respect_robots = false;
        let session = fetcher.open(&access, &url, Arc::new(AtomicBool::new(false)))?;
        session.begin_page();
        let found = probe(&session, &url)?;
        let amount = match found.amount {
            Amount::Unknown => "unknown".to_owned(),
            Amount::Records(count) => output::count(count, "record"),
            Amount::MoreThan(count) => format!("more than {}", output::count(count, "record")),
        };
        let name = found.name.clone().unwrap_or_else(|| self.key.clone());
        let model = found.model.map_or("unknown", |model| model.name());
        let prefix = found.oai.as_ref().and_then(|oai| oai.prefix.clone());
        let mut command = format!(
            "pinakes source add {} {} {} technique={} complexity={}",
            self.key,
            quoted(&format!("name={name}")),
            quoted(&format!("website={url}")),
            found.technique.name(),
            found.complexity.level,
        );
        if let Some(prefix) = &prefix {
            command += &format!(" {} oai.prefix={prefix}", quoted(&format!("oai.url={}", found.url)));
        }
        for private in &self.allow_private {
            command += &format!(" access.allow_private={private}");
        }
        if general.json {
            output::json(&json!({
                "technique": found.technique.name(), "url": found.url, "name": found.name, "model": model,
                "amount": amount, "complexity": found.complexity.level, "reasons": found.complexity.reasons,
                "prefix": prefix, "command": command,
            }))?;
            return Ok(Done::Well);
        }
        for (what, value) in [
            ("name", name.as_str()),
            ("technique", found.technique.name()),
            ("address", found.url.as_str()),
            ("model", model),
            ("amount", amount.as_str()),
        ] {
            output::line(&format!("{what:<11} {}", pinakes::diagnostic::render::printable(value)))?;
        }
        output::line(&format!("complexity  {}", found.complexity.level))?;
        for reason in &found.complexity.reasons {
            output::line(&format!("            {}", pinakes::diagnostic::render::printable(reason)))?;
        }
        output::line(&command)?;
        Ok(Done::Well)
    }
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "=:/.-_".contains(c);
    if word.chars().all(plain) {
        return word.to_owned();
    }
    let word: String = word.chars().filter(|c| !c.is_control()).collect();
    format!("'{}'", word.replace('\'', "'\\''"))
}
