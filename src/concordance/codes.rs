//! Code lists: `mappings/codes/*.tsv`, files that users can read and change.
//!
//! The first column is the code, the second what [`CodeList::get`] gives unless another column
//! is named. A column `iri` gives IRIs. What happens with a code that is not listed stands in
//! a comment of the file: `# on_missing = "keep"`.

use crate::diagnostic::{Code, Problem};
use crate::ontology::Prefixes;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;
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

/// One list. Its head is read at once, its lines when a code is first looked up: most commands
/// need few of the lists, and compiling a rule needs only the names of the columns.
#[derive(Debug, Clone, Default)]
pub struct CodeList {
    pub name: String,
    pub columns: Vec<String>,
    pub on_missing: OnMissing,
    text: Cow<'static, str>,
    rows: OnceLock<Rows>,
    hash: OnceLock<u128>,
}

/// The lines of a list.
#[derive(Debug, Clone, Default)]
struct Rows {
    cells: Vec<Vec<String>>,
    by_code: FxHashMap<String, u32>,
}

impl CodeList {
    /// A list by its text; [`problems`](Self::problems) tells what is wrong with it.
    pub fn new(name: &str, text: impl Into<Cow<'static, str>>) -> Self {
        let text = text.into();
        let mut list = Self { name: name.to_owned(), ..Self::default() };
        for line in text.lines() {
            match line.strip_prefix('#') {
                Some(comment) => {
                    if let Some(Ok(on_missing)) = directive(comment) {
                        list.on_missing = on_missing;
                    }
                }
                None if list.columns.is_empty() && !line.trim().is_empty() => {
                    list.columns = line.split('\t').map(|cell| cell.trim().to_owned()).collect();
                }
                None => {}
            }
        }
        list.text = text;
        list
    }

    /// Everything that is wrong with the list. A bad line is left out.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (comment, at) in self.lines().filter_map(|(line, at)| Some((line.strip_prefix('#')?, at))) {
            if let Some(Err(other)) = directive(comment) {
                let message = format!("`{other}` is not one of keep, drop, report");
                problems.push(Problem::new(Code::BadCodeList, at, message));
            }
        }
        if let Some((_, at)) = self.header().filter(|_| self.columns.len() < 2) {
            let message = "expected a header line with two columns or more, separated by tabs";
            problems.push(Problem::new(Code::BadCodeList, at, message));
        }
        let rows = self.read_rows(&mut problems);
        if rows.cells.is_empty() && problems.is_empty() {
            let problem = Problem::new(Code::EmptyCodeList, 0..1, "the list has no codes");
            problems.push(problem.hint("every code would be one that is not listed"));
        }
        problems
    }

    /// Changes whenever the list does: for the hash of the rules that use it.
    pub fn hash(&self) -> u128 {
        *self.hash.get_or_init(|| xxhash_rust::xxh3::xxh3_128(self.text.as_bytes()))
    }

    fn lines(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        let mut start = 0;
        self.text.split_inclusive('\n').map(move |line| {
            let at = start..start + line.trim_end().len();
            start += line.len();
            (line.trim_end_matches(['\n', '\r']), at)
        })
    }

    fn header(&self) -> Option<(&str, Range<usize>)> {
        self.lines().find(|(line, _)| !line.starts_with('#') && !line.trim().is_empty())
    }

    fn rows(&self) -> &Rows {
        self.rows.get_or_init(|| self.read_rows(&mut Vec::new()))
    }

    fn read_rows(&self, problems: &mut Vec<Problem>) -> Rows {
        let prefixes = Prefixes::shipped();
        let mut rows = Rows::default();
        let lines = self.lines().filter(|(line, _)| !line.starts_with('#') && !line.trim().is_empty());
        for (line, at) in lines.skip(1) {
            match self.row(line, prefixes) {
                Ok(cells) => rows.add(cells, at, problems),
                Err(message) => problems.push(Problem::new(Code::BadCodeList, at, message)),
            }
        }
        rows
    }

    fn row(&self, line: &str, prefixes: &Prefixes) -> Result<Vec<String>, String> {
        let mut cells: Vec<String> = line.split('\t').map(|cell| cell.trim().to_owned()).collect();
        if cells.len() > self.columns.len() {
            return Err(format!("expected {} cells, found {}", self.columns.len(), cells.len()));
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
                        return Err(format!("`{cell}` is neither an IRI nor a name with a known prefix"));
                    }
                }
            }
        }
        Ok(cells)
    }

    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    pub fn is_iri(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(|name| name == "iri")
    }

    /// What the list has for a code in a column.
    pub fn get(&self, code: &str, column: usize) -> Option<&str> {
        let rows = self.rows();
        let row = match rows.by_code.get(code) {
            Some(row) => row,
            None => rows.by_code.get(normal(code).as_ref())?,
        };
        let cell = rows.cells.get(*row as usize)?.get(column)?;
        (!cell.is_empty()).then_some(cell.as_str())
    }

    /// Whether a code has a line, be it an empty one: then it stands for nothing worth saying.
    pub fn has(&self, code: &str) -> bool {
        let rows = self.rows();
        rows.by_code.contains_key(code) || rows.by_code.contains_key(normal(code).as_ref())
    }

    /// The code that stands for a value, for the way back; the first line wins.
    pub fn code_of(&self, value: &str, column: usize) -> Option<&str> {
        let row = self.rows().cells.iter().find(|row| row.get(column).is_some_and(|cell| cell == value))?;
        row.first().map(String::as_str)
    }

    /// All codes that stand for a value, in the order of the list.
    pub fn codes_of<'a>(&'a self, value: &'a str, column: usize) -> impl Iterator<Item = &'a str> {
        let rows =
            self.rows().cells.iter().filter(move |row| row.get(column).is_some_and(|cell| cell == value));
        rows.filter_map(|row| row.first()).map(String::as_str)
    }

    pub fn codes(&self) -> impl Iterator<Item = &str> {
        self.rows().cells.iter().filter_map(|row| row.first()).map(String::as_str)
    }
}

impl Rows {
    fn add(&mut self, cells: Vec<String>, at: Range<usize>, problems: &mut Vec<Problem>) {
        let code = normal(cells.first().map_or("", String::as_str)).into_owned();
        let number = u32::try_from(self.cells.len()).unwrap_or(u32::MAX);
        if self.by_code.insert(code, number).is_some() {
            let message = format!("`{}` stands in the list twice", cells.first().map_or("", String::as_str));
            problems.push(Problem::new(Code::BadCodeList, at, message).hint("the later line counts"));
        }
        self.cells.push(cells);
    }
}

/// `on_missing = "keep"` in a comment; `Err` for another word.
fn directive(comment: &str) -> Option<Result<OnMissing, &str>> {
    let (key, value) = comment.split_once('=')?;
    (key.trim() == "on_missing").then(|| match value.trim().trim_matches('"') {
        "keep" => Ok(OnMissing::Keep),
        "drop" => Ok(OnMissing::Drop),
        "report" => Ok(OnMissing::Report),
        other => Err(other),
    })
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
        let list = CodeList::new("test", text.to_owned());
        let problems = list.problems();
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
