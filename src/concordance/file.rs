//! The TOML around the rules: which keys there are, and where their values stand.
//!
//! Everything is read that can be read, and everything that is wrong is reported: a file with
//! three mistakes gives three problems. What the values mean is for [`compile`](super::compile).

use crate::diagnostic::{Code, Lines, Problem};
use crate::record::Model;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A file larger than this is not read.
pub const LARGEST: usize = 1024 * 1024;

/// A file of rules as written.
#[derive(Debug, Clone, Default)]
pub struct RuleFile {
    pub model: Option<Model>,
    pub about: String,
    pub see: Option<String>,
    /// The rules hold for this source alone.
    pub source: Option<String>,
    /// `[bind]` and `[values]` at the head of the file: for every rule that names them.
    pub binds: Vec<(Text, Text)>,
    pub values: Vec<(Text, Text)>,
    pub rules: Vec<RuleText>,
}

/// A rule as written.
#[derive(Debug, Clone, Default)]
pub struct RuleText {
    /// The line of its `[[rule]]`, from 1.
    pub line: usize,
    /// Where its `[[rule]]` stands.
    pub at: Range<usize>,
    pub name: Text,
    pub field: Text,
    pub when: Option<Text>,
    pub group: Option<Text>,
    pub each: Option<EachText>,
    pub values: Vec<(Text, Text)>,
    pub binds: Vec<(Text, Text)>,
    pub construct: Option<Text>,
    pub ignore: Vec<(Text, Text)>,
    pub reverse: Vec<(Text, Text)>,
    pub examples: Vec<ExampleText>,
}

#[derive(Debug, Clone)]
pub enum EachText {
    Codes(Text),
    List(Text, Text),
}

#[derive(Debug, Clone, Default)]
pub struct ExampleText {
    pub line: usize,
    pub given: Text,
    pub gives: Text,
    pub diagnostics: Vec<String>,
}

/// A string of the file: its value, and the way from there to the bytes of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    pub value: String,
    /// The whole literal, quotes included.
    pub at: Range<usize>,
    /// Bytes before the value: quotes, and the line break after `'''`.
    skip: usize,
    /// The literal as written, when it has escapes.
    escaped: Option<String>,
}

impl Text {
    /// A text that is its whole file.
    pub fn whole(file: &str) -> Self {
        Self { value: file.to_owned(), at: 0..file.len(), skip: 0, escaped: None }
    }

    fn new(value: &str, at: Range<usize>, file: &str) -> Self {
        let raw = file.get(at.clone()).unwrap_or_default();
        let quotes = ["'''", "\"\"\"", "'", "\""].iter().find(|quotes| raw.starts_with(**quotes));
        let mut skip = quotes.map_or(0, |quotes| quotes.len());
        if skip == 3 {
            let body = raw.get(3..).unwrap_or_default();
            skip += if body.starts_with("\r\n") { 2 } else { usize::from(body.starts_with('\n')) };
        }
        let escaped = (raw.starts_with('"') && raw.contains('\\')).then(|| raw.to_owned());
        Self { value: value.to_owned(), at, skip, escaped }
    }

    /// Where a part of the value stands in the file.
    pub fn part(&self, part: Range<usize>) -> Range<usize> {
        self.place(part.start)..self.place(part.end)
    }

    fn place(&self, offset: usize) -> usize {
        let Some(raw) = &self.escaped else { return self.at.start + self.skip + offset };
        // Each escape gives some bytes and takes some; walk both until the value's offset.
        let mut value = 0;
        let mut at = self.skip;
        while value < offset {
            let Some(c) = raw.get(at..).and_then(|rest| rest.chars().next()) else { break };
            if c != '\\' {
                at += c.len_utf8();
                value += c.len_utf8();
                continue;
            }
            let kind = raw.get(at + 1..).and_then(|rest| rest.chars().next()).unwrap_or('\\');
            let digits = match kind {
                'u' => 4,
                'U' => 8,
                'x' => 2,
                _ => 0,
            };
            if kind.is_whitespace() {
                // A backslash at the end of a line swallows the blanks after it.
                let rest = raw.get(at + 1..).unwrap_or_default();
                at += 1 + (rest.len() - rest.trim_start().len());
                continue;
            }
            let code = raw.get(at + 2..at + 2 + digits).and_then(|hex| u32::from_str_radix(hex, 16).ok());
            value += code.and_then(char::from_u32).map_or(1, char::len_utf8);
            at += 1 + kind.len_utf8() + digits;
        }
        self.at.start + at
    }
}

/// Reads a file of rules; problems are added, and what could be read is given.
pub fn read(file: &str, problems: &mut Vec<Problem>) -> RuleFile {
    let mut found = RuleFile::default();
    if file.len() > LARGEST {
        let message = format!("the file has {} bytes; a rule file may have {LARGEST}", file.len());
        problems.push(Problem::new(Code::RuleLimit, 0..1, message).hint("cut it in two by tag range"));
        return found;
    }
    let (table, errors) = DeTable::parse_recoverable(file);
    for error in errors {
        let at = error.span().unwrap_or(0..0);
        problems.push(Problem::new(Code::RuleSyntax, at, format!("not valid TOML: {}", error.message())));
    }
    let mut reader = Reader { file, lines: Lines::of(file), problems };
    let table = table.into_inner();
    let mut has_head = false;
    for (key, value) in &table {
        match key.get_ref().as_ref() {
            "concordance" => {
                has_head = true;
                reader.head(value, &mut found);
            }
            "rule" => reader.rules(value, &mut found.rules),
            "bind" => found.binds = reader.pairs(value),
            "values" => found.values = reader.pairs(value),
            _ => reader.unknown(key.span(), key.get_ref(), &["concordance", "bind", "values", "rule"]),
        }
    }
    if !has_head {
        let message = "the file has no `[concordance]`, which says the format of its records";
        reader.problems.push(
            Problem::new(Code::RuleSyntax, 0..1, message)
                .hint("begin with `[concordance]`, `format = \"marc21\"`, `about = \"…\"`"),
        );
    }
    found
}

struct Reader<'a> {
    file: &'a str,
    lines: Lines<'a>,
    problems: &'a mut Vec<Problem>,
}

type Value<'a> = Spanned<DeValue<'a>>;

impl Reader<'_> {
    fn head(&mut self, value: &Value<'_>, found: &mut RuleFile) {
        let Some(table) = self.table(value) else { return };
        let mut has_format = false;
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "format" => {
                    has_format = true;
                    if let Some(text) = self.text(value) {
                        match text.value.parse() {
                            Ok(model) => found.model = Some(model),
                            Err(reason) => self.problems.push(
                                Problem::new(Code::RuleSyntax, text.at.clone(), reason)
                                    .label("no such format"),
                            ),
                        }
                    }
                }
                "about" => found.about = self.text(value).map(|text| text.value).unwrap_or_default(),
                "see" => found.see = self.text(value).map(|text| text.value),
                "source" => found.source = self.text(value).map(|text| text.value),
                _ => self.unknown(key.span(), key.get_ref(), &["format", "about", "see", "source"]),
            }
        }
        if !has_format {
            let problem = Problem::new(Code::RuleSyntax, value.span(), "`[concordance]` has no `format`");
            self.problems.push(problem.hint("write `format = \"marc21\"`"));
        }
    }

    fn rules(&mut self, value: &Value<'_>, rules: &mut Vec<RuleText>) {
        let DeValue::Array(array) = value.get_ref() else {
            let message = "`rule` is a list of tables";
            self.problems
                .push(Problem::new(Code::RuleSyntax, value.span(), message).hint("write `[[rule]]`"));
            return;
        };
        for rule in array.iter() {
            rules.extend(self.rule(rule));
        }
    }

    fn rule(&mut self, value: &Value<'_>) -> Option<RuleText> {
        const KEYS: [&str; 11] = [
            "name",
            "field",
            "when",
            "group",
            "each",
            "values",
            "bind",
            "construct",
            "ignore",
            "reverse",
            "example",
        ];
        let table = self.table(value)?;
        let start = value.span().start;
        let at = start..(start + "[[rule]]".len()).min(self.file.len());
        let mut rule = RuleText { line: self.lines.line(start), at, ..RuleText::default() };
        let (mut has_name, mut has_field) = (false, false);
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "name" => (has_name, rule.name) = (true, self.text(value).unwrap_or_default()),
                "field" => (has_field, rule.field) = (true, self.text(value).unwrap_or_default()),
                "when" => rule.when = self.text(value),
                "group" => rule.group = self.text(value),
                "construct" => rule.construct = self.text(value),
                "each" => {
                    rule.each = match value.get_ref() {
                        DeValue::Table(_) => {
                            let mut pairs = self.pairs(value);
                            if pairs.len() > 1 {
                                let message = "`each` names one list; use `values` for the others";
                                self.problems.push(Problem::new(Code::RuleSyntax, value.span(), message));
                            }
                            pairs.pop().map(|(name, list)| EachText::List(name, list))
                        }
                        _ => self.text(value).map(EachText::Codes),
                    };
                }
                "values" => rule.values = self.pairs(value),
                "bind" => rule.binds = self.pairs(value),
                "ignore" => rule.ignore = self.pairs(value),
                "reverse" => rule.reverse = self.pairs(value),
                "example" => rule.examples = self.examples(value),
                _ => self.unknown(key.span(), key.get_ref(), &KEYS),
            }
        }
        for (key, is_there, text) in [("name", has_name, &rule.name), ("field", has_field, &rule.field)] {
            // What is there and no text has been reported as that.
            let empty = is_there && text.at != (0..0) && text.value.trim().is_empty();
            if !is_there || empty {
                let message = format!("the rule has no `{key}`");
                let at = if empty { text.at.clone() } else { rule.at.clone() };
                self.problems.push(Problem::new(Code::RuleSyntax, at, message));
            }
        }
        if rule.construct.is_none() && rule.ignore.is_empty() {
            let problem = Problem::new(Code::RuleSyntax, rule.at.clone(), "the rule makes nothing");
            self.problems.push(problem.hint("give it a `construct`, or an `ignore` with a reason"));
        }
        Some(rule)
    }

    fn examples(&mut self, value: &Value<'_>) -> Vec<ExampleText> {
        let DeValue::Array(array) = value.get_ref() else {
            let problem = Problem::new(Code::RuleSyntax, value.span(), "`example` is a list of tables");
            self.problems.push(problem.hint("write `[[rule.example]]`"));
            return Vec::new();
        };
        let mut examples = Vec::new();
        for value in array.iter() {
            let Some(table) = self.table(value) else { continue };
            let line = self.lines.line(value.span().start);
            let mut example = ExampleText { line, ..ExampleText::default() };
            let (mut given, mut gives) = (false, false);
            for (key, value) in table {
                match key.get_ref().as_ref() {
                    "given" => (given, example.given) = (true, self.text(value).unwrap_or_default()),
                    "gives" => (gives, example.gives) = (true, self.text(value).unwrap_or_default()),
                    "diagnostics" => {
                        let DeValue::Array(codes) = value.get_ref() else { continue };
                        let codes = codes.iter().filter_map(|code| self.text(code));
                        example.diagnostics = codes.map(|code| code.value).collect();
                    }
                    _ => self.unknown(key.span(), key.get_ref(), &["given", "gives", "diagnostics"]),
                }
            }
            if !given || !gives {
                let message = "an example has `given` and `gives`";
                self.problems.push(Problem::new(Code::RuleSyntax, value.span(), message));
            }
            examples.push(example);
        }
        examples
    }

    /// `bind.main = '…'`: names and their texts.
    fn pairs(&mut self, value: &Value<'_>) -> Vec<(Text, Text)> {
        let Some(table) = self.table(value) else { return Vec::new() };
        let mut pairs = Vec::new();
        for (key, value) in table {
            let name = Text::new(key.get_ref(), key.span(), self.file);
            if let Some(text) = self.text(value) {
                pairs.push((name, text));
            }
        }
        // As written, not by name: the order decides nothing but what is reported first.
        pairs.sort_by_key(|(name, _)| name.at.start);
        pairs
    }

    fn text(&mut self, value: &Value<'_>) -> Option<Text> {
        let DeValue::String(text) = value.get_ref() else {
            let written = self.file.get(value.span()).unwrap_or_default();
            let problem = Problem::new(Code::RuleSyntax, value.span(), "expected a text in quotes");
            let simple = matches!(
                value.get_ref(),
                DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_)
            );
            self.problems.push(if simple { problem.hint(format!("write `\"{written}\"`")) } else { problem });
            return None;
        };
        Some(Text::new(text, value.span(), self.file))
    }

    fn table<'v, 't>(&mut self, value: &'v Value<'t>) -> Option<&'v DeTable<'t>> {
        if let DeValue::Table(table) = value.get_ref() {
            return Some(table);
        }
        self.problems.push(Problem::new(Code::RuleSyntax, value.span(), "expected a table"));
        None
    }

    fn unknown(&mut self, at: Range<usize>, key: &str, known: &[&str]) {
        let near = crate::diagnostic::near(key, known.iter().copied());
        let listed = known.join(", ");
        let problem = Problem::new(Code::UnknownKey, at, format!("no key `{key}` here")).near(&near);
        let problem = if near.is_empty() { problem.hint(format!("there are: {listed}")) } else { problem };
        self.problems.push(problem);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_text_is_found_in_the_file_whatever_its_quotes() {
        for (file, part) in [
            (
                "[concordance]\nformat='csv'\n[[rule]]\nname='x1'\nfield='a'\nconstruct = '''\n  $a bf:tittle 1 '''",
                "bf:tittle",
            ),
            (
                "[concordance]\nformat='csv'\n[[rule]]\nname='x1'\nfield='a'\nconstruct = \"\\\"\\u00e9\\\" bf:tittle\"",
                "bf:tittle",
            ),
        ] {
            let mut problems = Vec::new();
            let rules = read(file, &mut problems);
            assert_eq!(problems, []);
            let construct = rules.rules[0].construct.clone().expect("a template");
            let start = construct.value.find(part).expect("there");
            assert_eq!(&file[construct.part(start..start + part.len())], part);
        }
    }

    #[test]
    fn all_problems_are_found_at_once() {
        let mut problems = Vec::new();
        read("[concordance]\nformat = 'marc22'\nabuot = ''\n[[rule]]\nfeild = '245'\n", &mut problems);
        let messages: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
        assert!(messages.iter().any(|m| m.starts_with("`marc22` is not one of")), "{messages:?}");
        assert!(messages.contains(&"no key `abuot` here"), "{messages:?}");
        assert!(messages.contains(&"no key `feild` here"), "{messages:?}");
        assert!(messages.contains(&"the rule has no `name`"), "{messages:?}");
    }
}
