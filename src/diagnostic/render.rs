//! Human, short and JSON output of one [`Diagnostic`].

use super::{Diagnostic, Excerpt, Severity};
use std::fmt::Write;

/// How problems are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// Several lines, with place and hint.
    #[default]
    Human,
    /// One line, as compilers print: `origin:record:byte: severity[code]: message`.
    Short,
    /// One JSON object a line.
    Json,
}

/// Renders without a final line break. Colour only where the caller found a terminal.
pub fn render(diagnostic: &Diagnostic, style: Style, colour: bool) -> String {
    match style {
        Style::Human => human(diagnostic, colour),
        Style::Short => short(diagnostic),
        Style::Json => serde_json::to_string(diagnostic).unwrap_or_default(),
    }
}

fn human(diagnostic: &Diagnostic, colour: bool) -> String {
    let severity = diagnostic.severity();
    let (on, off) = match (colour, severity) {
        (false, _) => ("", ""),
        (true, Severity::Error) => ("\x1b[1;31m", "\x1b[0m"),
        (true, Severity::Warning) => ("\x1b[1;33m", "\x1b[0m"),
        (true, Severity::Note) => ("\x1b[1;36m", "\x1b[0m"),
    };
    let mut out =
        format!("{on}{}[{}]{off}: {}", severity.name(), diagnostic.code, printable(&diagnostic.message));
    let place = &diagnostic.place;
    if let Some(origin) = &place.origin {
        let _ = write!(out, "\n  --> {}", printable(origin));
        if let (Some(line), Some(column)) = (place.line, place.column) {
            let _ = write!(out, ":{line}:{column}");
        }
        if let Some(number) = place.number {
            let _ = write!(out, ", record {number}");
        }
        if let Some(offset) = place.offset {
            let _ = write!(out, ", byte {offset}");
        }
    }
    if let (Some(excerpt), Some(line), Some(column)) = (&diagnostic.excerpt, place.line, place.column) {
        underline(excerpt, line.get(), column.get(), &mut out);
    }
    for (label, value) in [
        ("source", &place.source),
        ("record", &place.record),
        ("field ", &place.field),
        ("rule  ", &place.rule),
    ] {
        if let Some(value) = value {
            let _ = write!(out, "\n  {label}  {}", printable(value));
        }
    }
    if let Some(hint) = &diagnostic.hint {
        let lines: Vec<String> = hint.lines().map(printable).collect();
        let _ = write!(out, "\nhint: {}", lines.join("\n      "));
    }
    out
}

/// The line with its number, and below it the marked part and what is said of it.
fn underline(excerpt: &Excerpt, line: u32, column: u32, out: &mut String) {
    let number = line.to_string();
    let gutter = " ".repeat(number.len());
    // Tabs are repeated, so that the marks stand where the text does.
    let text: String =
        excerpt.text.chars().map(|c| if c.is_control() && c != '\t' { '\u{FFFD}' } else { c }).collect();
    let column = usize::try_from(column.saturating_sub(1)).unwrap_or(0);
    let indent: String = text.chars().take(column).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let longest = text.chars().count().saturating_sub(column).max(1);
    let marks = "^".repeat(usize::try_from(excerpt.width).unwrap_or(1).clamp(1, longest));
    let label = printable(&excerpt.label);
    let space = if label.is_empty() { "" } else { " " };
    let _ =
        write!(out, "\n{gutter} |\n{number} | {text}\n{gutter} | {indent}{marks}{space}{label}\n{gutter} |");
}

fn short(diagnostic: &Diagnostic) -> String {
    let place = &diagnostic.place;
    let mut out = String::new();
    if let Some(origin) = &place.origin {
        let _ = write!(out, "{}:", printable(origin));
    }
    if let (Some(line), Some(column)) = (place.line, place.column) {
        let _ = write!(out, "{line}:{column}:");
    }
    if let Some(number) = place.number {
        let _ = write!(out, "{number}:");
    }
    if let Some(offset) = place.offset {
        let _ = write!(out, "{offset}:");
    }
    if !out.is_empty() {
        out.push(' ');
    }
    let _ = write!(
        out,
        "{}[{}]: {}",
        diagnostic.severity().name(),
        diagnostic.code,
        printable(&diagnostic.message)
    );
    out
}

/// Text of a record must not steer the terminal it is shown on.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect()
}
