//! Code lists: `mappings/codes/*.tsv`, files that users can read and change.
//!
//! The first column is the code, the second what [`CodeList::get`] gives unless another column
//! is named. A column `iri` gives IRIs. What happens with a code that is not listed stands in
//! a comment of the file: `# on_missing = "keep"`.

use crate::diagnostic::{Code, Problem};
use crate::ontology::Prefixes;
use rustc_hash::FxHashMap;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// What `:code` does with a code that is not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnMissing {
    /// Gives the code itself, as a text.
    Keep,
    /// Gives nothing.
    Drop,
    /// Gives nothing, and says so.
    #[default]
    Report,
}

/// One list.
#[derive(Debug, Clone, Default)]
pub struct CodeList {
    pub name: String,
    pub columns: Vec<String>,
    pub on_missing: OnMissing,
    rows: Vec<Vec<String>>,
    by_code: FxHashMap<String, u32>,
    /// For the hash of the rules that use it.
    pub text: String,
}

impl CodeList {
    /// Reads a list; a bad line is a problem and is left out.
    pub fn read(name: &str, text: &str, prefixes: &Prefixes, problems: &mut Vec<Problem>) -> Self {
        let mut list = Self { name: name.to_owned(), text: text.to_owned(), ..Self::default() };
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let at = start..start + line.trim_end().len();
            start += line.len();
            let line = line.trim_end_matches(['\n', '\r']);
            if let Some(comment) = line.strip_prefix('#') {
                list.directive(comment, at, problems);
            } else if line.trim().is_empty() {
            } else if list.columns.is_empty() {
                list.columns = line.split('\t').map(|cell| cell.trim().to_owned()).collect();
                if list.columns.len() < 2 {
                    let message = "expected a header line with two columns or more, separated by tabs";
                    problems.push(Problem::new(Code::BadCodeList, at, message));
                }
            } else {
                list.row(line, at, prefixes, problems);
            }
        }
        list
    }

    fn directive(&mut self, comment: &str, at: std::ops::Range<usize>, problems: &mut Vec<Problem>) {
        let Some((key, value)) = comment.split_once('=') else { return };
        if key.trim() != "on_missing" {
            return;
        }
        self.on_missing = match value.trim().trim_matches('"') {
            "keep" => OnMissing::Keep,
            "drop" => OnMissing::Drop,
            "report" => OnMissing::Report,
            other => {
                let message = format!("`{other}` is not one of keep, drop, report");
                problems.push(Problem::new(Code::BadCodeList, at, message));
                return;
            }
        };
    }

    fn row(
        &mut self,
        line: &str,
        at: std::ops::Range<usize>,
        prefixes: &Prefixes,
        problems: &mut Vec<Problem>,
    ) {
        let mut cells: Vec<String> = line.split('\t').map(|cell| cell.trim().to_owned()).collect();
        if cells.len() > self.columns.len() {
            let message = format!("expected {} cells, found {}", self.columns.len(), cells.len());
            problems.push(Problem::new(Code::BadCodeList, at, message));
            return;
        }
        cells.resize(self.columns.len(), String::new());
        for (column, cell) in self.columns.iter().zip(&mut cells) {
            if column == "iri" && !cell.is_empty() {
                let iri = match cell.strip_prefix('<').and_then(|cell| cell.strip_suffix('>')) {
                    Some(iri) => oxrdf::NamedNode::new(iri).ok(),
                    None => prefixes.expand(cell).or_else(|| oxrdf::NamedNode::new(cell.as_str()).ok()),
                };
                let known =
                    iri.filter(|iri| iri.as_str().contains("://") || iri.as_str().starts_with("urn:"));
                match known {
                    Some(iri) => *cell = iri.into_string(),
                    None => {
                        let message = format!("`{cell}` is neither an IRI nor a name with a known prefix");
                        problems.push(Problem::new(Code::BadCodeList, at, message));
                        return;
                    }
                }
            }
        }
        let Some(code) = cells.first() else { return };
        let code = normal(code).into_owned();
        let number = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        if self.by_code.insert(code, number).is_some() {
            let message = format!("`{}` stands in the list twice", cells.first().map_or("", String::as_str));
            problems.push(Problem::new(Code::BadCodeList, at, message).hint("the later line counts"));
        }
        self.rows.push(cells);
    }

    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    pub fn is_iri(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(|name| name == "iri")
    }

    /// What the list has for a code in a column.
    pub fn get(&self, code: &str, column: usize) -> Option<&str> {
        let row = match self.by_code.get(code) {
            Some(row) => row,
            None => self.by_code.get(normal(code).as_ref())?,
        };
        let cell = self.rows.get(*row as usize)?.get(column)?;
        (!cell.is_empty()).then_some(cell.as_str())
    }

    /// Whether a code has a line, be it an empty one: then it stands for nothing worth saying.
    pub fn has(&self, code: &str) -> bool {
        self.by_code.contains_key(code) || self.by_code.contains_key(normal(code).as_ref())
    }

    /// The code that stands for a value, for the way back; the first line wins.
    pub fn code_of(&self, value: &str, column: usize) -> Option<&str> {
        let row = self.rows.iter().find(|row| row.get(column).is_some_and(|cell| cell == value))?;
        row.first().map(String::as_str)
    }

    /// All codes that stand for a value, in the order of the list.
    pub fn codes_of<'a>(&'a self, value: &'a str, column: usize) -> impl Iterator<Item = &'a str> {
        let rows = self.rows.iter().filter(move |row| row.get(column).is_some_and(|cell| cell == value));
        rows.filter_map(|row| row.first()).map(String::as_str)
    }

    pub fn codes(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().filter_map(|row| row.first()).map(String::as_str)
    }
}

/// Codes are compared without regard to case, to blanks around them and to a full stop at the
/// end.
fn normal(code: &str) -> std::borrow::Cow<'_, str> {
    // Positions of fixed fields may hold a blank that means something.
    let trimmed = code.trim_matches(' ');
    let trimmed = if trimmed.is_empty() { code } else { trimmed };
    let trimmed = match trimmed.strip_suffix('.') {
        Some(rest) if !rest.is_empty() => rest.trim_end(),
        _ => trimmed,
    };
    // `Übers.` may come with its dots apart.
    if trimmed.chars().any(char::is_uppercase) || !trimmed.is_ascii() && !is_nfc(trimmed) {
        trimmed.to_lowercase().nfc().collect::<String>().into()
    } else {
        trimmed.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> (CodeList, Vec<String>) {
        let mut problems = Vec::new();
        let list = CodeList::read("test", text, Prefixes::shipped(), &mut problems);
        (list, problems.into_iter().map(|problem| problem.message).collect())
    }

    #[test]
    fn codes_are_found_as_people_write_them() {
        let (list, problems) = list("# on_missing = \"keep\"\ncode\tiri\tlabel\naut\trel:aut\tauthor\n");
        assert_eq!(problems, [""; 0]);
        assert_eq!(list.on_missing, OnMissing::Keep);
        for code in ["aut", "AUT", " aut ", "aut."] {
            assert_eq!(list.get(code, 2), Some("author"), "{code}");
        }
        assert_eq!(list.get("aut", 1), Some("http://id.loc.gov/vocabulary/relators/aut"));
        assert_eq!(list.get("edt", 1), None);
        assert_eq!(list.code_of("author", 2), Some("aut"));
    }

    #[test]
    fn bad_lines_are_reported_and_left_out() {
        let (list, problems) = list("code\tiri\naut\tnope\nedt\trel:edt\tx\naut\trel:aut\naut\trel:aut\n");
        assert_eq!(
            problems,
            [
                "`nope` is neither an IRI nor a name with a known prefix",
                "expected 2 cells, found 3",
                "`aut` stands in the list twice",
            ]
        );
        assert_eq!(list.get("aut", 1), Some("http://id.loc.gov/vocabulary/relators/aut"));
    }
}
