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
    if let (Some(Excerpt { text, width, label }), Some(line), Some(column)) =
        (diagnostic.excerpt.as_deref(), place.line, place.column)
    {
        let number = |number: u64| usize::try_from(number).unwrap_or(1);
        let (line, column) = (number(line.get().into()), number(column.get().into()));
        out.push_str(&excerpt(text, line, column, number(*width), label));
        let _ = write!(out, "\n{} |", " ".repeat(line.to_string().len()));
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

/// Characters of a line that are shown before and after the place in question.
const AROUND: usize = 120;

/// A line with its number, and below it marks under `width` characters from a column on and what is
/// said of them. It begins with a line break and ends without one; of a very long line the part
/// around the place is shown.
pub fn excerpt(text: &str, line: usize, column: usize, width: usize, label: &str) -> String {
    let number = line.to_string();
    let gutter = " ".repeat(number.len());
    let column = column.saturating_sub(1);
    let skipped = column.saturating_sub(AROUND);
    let mut shown: String = if skipped > 0 { "…".to_owned() } else { String::new() };
    let mut rest = text.chars().skip(skipped);
    // Tabs are repeated, so that the marks stand where the text does.
    let visible = |c: char| if c.is_control() && c != '\t' { '\u{FFFD}' } else { c };
    shown.extend(rest.by_ref().take(column - skipped + AROUND).map(visible));
    if rest.next().is_some() {
        shown.push('…');
    }
    let column = column - skipped + usize::from(skipped > 0);
    let indent: String = shown.chars().take(column).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let longest = shown.chars().count().saturating_sub(column).max(1);
    let marks = "^".repeat(width.clamp(1, longest));
    let label = printable(label);
    let space = if label.is_empty() { "" } else { " " };
    format!("\n{gutter} |\n{number} | {shown}\n{gutter} | {indent}{marks}{space}{label}")
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
