//! A publication as others cite it: BibTeX, RIS, CSL-JSON.
//!
//! A [`Citation`] is what the three formats have in common, as plain text. [`citation`] reads it out
//! of the statements about an entry; [`bibtex`], [`ris`] and [`csl_json`] write lists of them. Texts
//! may hold anything: what a format gives a meaning of its own is escaped, what it cannot hold is
//! left out, and a field without text is not written.

mod bibtex;
mod csl_json;
mod key;
mod kind;
mod part;
mod reading;
mod ris;
mod role;

pub use bibtex::bibtex;
pub use csl_json::csl_json;
pub use kind::Kind;
pub use reading::{Citations, citation};
pub use ris::ris;
pub use role::Role;

/// A publication.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Citation {
    /// A name that no other publication has; usually an IRI.
    pub id: String,
    pub kind: Kind,
    pub title: String,
    pub subtitle: Option<String>,
    pub contributors: Vec<Contributor>,
    /// The journal or book it stands in.
    pub container_title: Option<String>,
    pub series: Option<String>,
    pub edition: Option<String>,
    pub volume: Option<String>,
    pub issue: Option<String>,
    pub pages: Option<String>,
    /// Who published it; of a thesis, the institution.
    pub publisher: Option<String>,
    pub place: Option<String>,
    /// A year, a year and a month, or a day, as in ISO 8601; or any text.
    pub date: Option<String>,
    pub isbn: Option<String>,
    pub issn: Option<String>,
    /// Without the address of a resolver.
    pub doi: Option<String>,
    pub url: Option<String>,
    /// A tag of BCP 47.
    pub language: Option<String>,
    pub summary: Option<String>,
    pub keywords: Vec<String>,
}

/// Someone, and what they did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contributor {
    pub role: Role,
    pub name: Name,
}

/// A name in parts, or as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Name {
    Person { family: String, given: String },
    Literal(String),
}

impl Citation {
    /// Title and subtitle in one.
    fn whole_title(&self) -> String {
        let title = clean(&self.title);
        match self.subtitle.as_deref().map(clean).filter(|subtitle| !subtitle.is_empty()) {
            Some(subtitle) if !title.is_empty() => format!("{title}: {subtitle}"),
            Some(subtitle) => subtitle,
            None => title,
        }
    }

    /// Year, month and day, as far as the date has them.
    fn date_parts(&self) -> Vec<u32> {
        let text = self.date.as_deref().map(clean).unwrap_or_default();
        let digits = |from: usize, to: usize| {
            let piece = text.get(from..to)?;
            let is_separate = from == 0 || text.as_bytes().get(from - 1) == Some(&b'-');
            let ends = text.as_bytes().get(to).is_none_or(|next| !next.is_ascii_alphanumeric());
            let is_number = piece.bytes().all(|byte| byte.is_ascii_digit());
            (is_separate && ends && is_number).then(|| piece.parse::<u32>().ok()).flatten()
        };
        let mut parts: Vec<u32> = digits(0, 4).into_iter().collect();
        if parts.len() == 1 {
            parts.extend(digits(5, 7).filter(|month| (1..=12).contains(month)));
        }
        if parts.len() == 2 {
            parts.extend(digits(8, 10).filter(|day| (1..=31).contains(day)));
        }
        parts
    }
}

/// A text in one line: white space is a blank, and control characters and what no text may hold
/// are gone.
fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
        } else if !c.is_control()
            && !matches!(c, '\u{fffe}' | '\u{ffff}' | '\u{feff}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        {
            out.push(c);
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// A text worth writing.
fn text(value: Option<&String>) -> Option<String> {
    value.map(|value| clean(value)).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests;
