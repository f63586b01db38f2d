//! RIS: a tag and a value a line.
//!
//! A value has no line breaks, so it cannot look like a tag, and a field without text has no line.

use super::key::keys;
use super::{Citation, Name, clean, text};

/// References, one behind the other. Lines end as the format says, with CR and LF.
pub fn ris(citations: &[Citation]) -> String {
    let mut out = String::new();
    for (citation, key) in citations.iter().zip(keys(citations)) {
        reference(citation, &key, &mut out);
    }
    out
}

fn reference(citation: &Citation, key: &str, out: &mut String) {
    let mut line = |tag: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            out.push_str(&format!("{tag}  - {value}\r\n"));
        }
    };
    line("TY", Some(citation.kind.ris().to_owned()));
    line("ID", Some(key.to_owned()));
    for contributor in &citation.contributors {
        if let Some(tag) = contributor.role.ris() {
            line(tag, Some(name(&contributor.name)));
        }
    }
    line("TI", Some(citation.whole_title()));
    line("T2", text(citation.container_title.as_ref()));
    line("T3", text(citation.series.as_ref()));
    line("ET", text(citation.edition.as_ref()));
    line("VL", text(citation.volume.as_ref()));
    line("IS", text(citation.issue.as_ref()));
    if let Some(pages) = text(citation.pages.as_ref()) {
        let (first, last) = pages.split_once(['-', '–']).unwrap_or((&pages, ""));
        line("SP", Some(first.trim().to_owned()));
        line("EP", Some(last.trim().to_owned()));
    }
    line("PB", text(citation.publisher.as_ref()));
    line("CY", text(citation.place.as_ref()));
    let parts = citation.date_parts();
    match parts.split_first() {
        Some((year, rest)) => {
            line("PY", Some(format!("{year:04}")));
            let rest: Vec<String> = rest.iter().map(|part| format!("{part:02}")).collect();
            line("DA", (!rest.is_empty()).then(|| format!("{year:04}/{}", rest.join("/"))));
        }
        None => line("DA", text(citation.date.as_ref())),
    }
    line("SN", text(citation.isbn.as_ref()).or_else(|| text(citation.issn.as_ref())));
    line("DO", text(citation.doi.as_ref()));
    // Readers take a semicolon for the end of an address.
    line("UR", text(citation.url.as_ref()).map(|url| url.replace(';', "%3B").replace(' ', "%20")));
    line("LA", text(citation.language.as_ref()));
    line("AB", text(citation.summary.as_ref()));
    for keyword in &citation.keywords {
        line("KW", Some(clean(keyword)));
    }
    out.push_str("ER  - \r\n\r\n");
}

fn name(name: &Name) -> String {
    match name {
        Name::Person { family, given } => {
            let parts = [clean(family), clean(given)];
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
        }
        Name::Literal(name) => clean(name),
    }
}
