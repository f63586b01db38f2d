//! BibTeX, in UTF-8.
//!
//! Braces are counted by every reader, escaped or not, so those of a text become commands; values
//! are always balanced. Titles stand in two pairs: styles must not change the case of names.

use super::key::keys;
use super::kind::Kind;
use super::{Citation, Name, Role, clean, text};

/// Entries, one behind the other.
pub fn bibtex(citations: &[Citation]) -> String {
    let mut out = String::new();
    for (citation, key) in citations.iter().zip(keys(citations)) {
        entry(citation, &key, &mut out);
    }
    out
}

fn entry(citation: &Citation, key: &str, out: &mut String) {
    out.push_str(&format!("@{}{{{key},\n", citation.kind.bibtex()));
    let mut field = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            out.push_str(&format!("  {name} = {{{value}}},\n"));
        }
    };
    let escaped = |value: Option<&String>| text(value).map(|value| escape(&value));
    for name in ["author", "editor", "translator"] {
        field(name, Some(names(citation, name)));
    }
    let title = citation.whole_title();
    field("title", (!title.is_empty()).then(|| format!("{{{}}}", escape(&title))));
    let container = if citation.kind == Kind::Article { "journal" } else { "booktitle" };
    field(container, escaped(citation.container_title.as_ref()));
    field("series", escaped(citation.series.as_ref()));
    field("edition", escaped(citation.edition.as_ref()));
    field("volume", escaped(citation.volume.as_ref()));
    field("number", escaped(citation.issue.as_ref()));
    field("pages", text(citation.pages.as_ref()).map(|pages| escape(&pages.replace(['-', '–'], "--"))));
    let publisher = if citation.kind == Kind::Thesis { "school" } else { "publisher" };
    field(publisher, escaped(citation.publisher.as_ref()));
    field("address", escaped(citation.place.as_ref()));
    let parts = citation.date_parts();
    let year = parts.first().map(|year| format!("{year:04}"));
    field("year", year.or_else(|| escaped(citation.date.as_ref())));
    field("month", parts.get(1).map(u32::to_string));
    field("isbn", escaped(citation.isbn.as_ref()));
    field("issn", escaped(citation.issn.as_ref()));
    field("doi", text(citation.doi.as_ref()).map(|doi| verbatim(&doi)));
    field("url", text(citation.url.as_ref()).map(|url| verbatim(&url)));
    field("language", escaped(citation.language.as_ref()));
    field("abstract", escaped(citation.summary.as_ref()));
    let keywords: Vec<String> =
        citation.keywords.iter().map(|word| escape(&clean(word).replace(',', ";"))).collect();
    field(
        "keywords",
        Some(keywords.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")),
    );
    out.push_str("}\n\n");
}

/// The people whose role goes into a field.
fn names(citation: &Citation, field: &str) -> String {
    let belongs = |role: Role| role.bibtex() == Some(field);
    let people = citation.contributors.iter().filter(|person| belongs(person.role));
    people.filter_map(|person| name(&person.name)).collect::<Vec<_>>().join(" and ")
}

fn name(name: &Name) -> Option<String> {
    match name {
        Name::Person { family, given } => {
            let (family, given) = (clean(family), clean(given));
            match (family.is_empty(), given.is_empty()) {
                (true, true) => None,
                (false, true) => Some(whole(&family)),
                (true, false) => Some(whole(&given)),
                (false, false) => Some(format!("{}, {}", part(&family), part(&given))),
            }
        }
        Name::Literal(name) => Some(clean(name)).filter(|name| !name.is_empty()).map(|name| whole(&name)),
    }
}

/// A name that must not be taken apart.
fn whole(name: &str) -> String {
    format!("{{{}}}", escape(name))
}

/// A part of a name, protected where it holds what separates parts or names, or a command, which
/// readers lose at the beginning of a name.
fn part(text: &str) -> String {
    let has_and = text.split(' ').any(|word| word.eq_ignore_ascii_case("and"));
    let escaped = escape(text);
    if has_and || text.contains(',') || escaped != text { whole(text) } else { escaped }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '{' => out.push_str("{\\textbraceleft}"),
            '}' => out.push_str("{\\textbraceright}"),
            '\\' => out.push_str("{\\textbackslash}"),
            '~' => out.push_str("{\\textasciitilde}"),
            '^' => out.push_str("{\\textasciicircum}"),
            '$' | '&' | '#' | '%' | '_' => {
                out.push('\\');
                out.push(c);
            }
            other => out.push(other),
        }
    }
    out
}

/// An address, in which nothing is escaped: what could end the value is percent-encoded.
fn verbatim(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '{' => out.push_str("%7B"),
            '}' => out.push_str("%7D"),
            '\\' => out.push_str("%5C"),
            '"' => out.push_str("%22"),
            ' ' => out.push_str("%20"),
            other => out.push(other),
        }
    }
    out
}
