//! Printing: results, problems, errors, the log.

use super::General;
use anyhow::Context;
use pinakes::diagnostic::Diagnostic;
use pinakes::diagnostic::render::{Style, render};
use std::io::{IsTerminal, Write};

/// How problems with the data are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Messages {
    /// Several lines with place and hint
    Human,
    /// One line each
    Short,
    /// One JSON object a line
    Json,
}

impl Messages {
    fn style(self) -> Style {
        match self {
            Self::Human => Style::Human,
            Self::Short => Style::Short,
            Self::Json => Style::Json,
        }
    }
}

/// Whether standard error may be coloured: a terminal, and nobody asked for none.
pub(super) fn colour() -> bool {
    let asked_for_none = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    std::io::stderr().is_terminal() && !asked_for_none && !dumb
}

pub(super) fn start_log(general: &General) {
    let level = match (general.quiet, general.verbose) {
        (true, _) => "error",
        (false, 0) => "warn",
        (false, 1) => "info,pinakes=info",
        (false, _) => "debug",
    };
    let _ = tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(level))
        .with_writer(std::io::stderr)
        .with_ansi(colour())
        .without_time()
        .with_target(false)
        .try_init();
}

/// A line of talk on standard error, unless nobody wants to hear it.
pub(super) fn say(general: &General, text: &str) {
    if !general.quiet {
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}

/// A line of talk from outside a command's own course, where nothing is known of its settings.
pub(super) fn notice(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

pub(super) fn diagnostic(general: &General, diagnostic: &Diagnostic) {
    let text = render(diagnostic, general.messages.style(), colour());
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Says why a command could not do its work, and what to do about it.
pub(super) fn error(error: &anyhow::Error, advice: Option<&str>) {
    let (on, off) = if colour() { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // Many messages quote their cause already.
        if !text.ends_with(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    if let Some(advice) = advice {
        text.push_str(&format!("\nhint: {advice}"));
    }
    let _ = writeln!(std::io::stderr(), "{on}error{off}: {text}");
}

/// Writes a line of results; a closed pipe comes back as an error.
pub(super) fn line(text: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{text}").context("cannot write to standard output")
}

pub(super) fn json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    line(&serde_json::to_string_pretty(value)?)
}

/// `1234567` as `1,234,567`.
pub(super) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Bytes in the unit that fits.
pub(super) fn size(bytes: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let name = units.get(unit).copied().unwrap_or_default();
    if unit == 0 { format!("{bytes} B") } else { format!("{value:.1} {name}") }
}

/// `1 record`, `2 records`.
pub(super) fn count(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", number(count), if count == 1 { "" } else { "s" })
}
