//! What rules do not say about fields: `mappings/reverse/FORMAT.tsv`.
//!
//! Rules read; they need not know which indicators are usual, whether a field may be repeated,
//! which tags are obsolete, or what a fixed field is filled with. Writing does.

use crate::concordance::Concordances;
use rustc_hash::FxHashMap;

/// What the table says of a tag.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Field {
    /// The usual indicators.
    pub indicators: [char; 2],
    /// It stands in a record once.
    pub single: bool,
    /// It is written only for a record that had it.
    pub obsolete: bool,
    pub core: bool,
    /// Tags that it is not written beside.
    pub unless: String,
    /// What its positions are filled with.
    pub base: String,
    /// The order of its subfields, where it is not that of the alphabet.
    pub order: String,
}

/// The table of a format.
#[derive(Debug, Default)]
pub struct Fields {
    by_tag: FxHashMap<String, Field>,
    /// Tag, the subfield before, the subfield after, and the mark between them.
    marks: Vec<[String; 4]>,
}

impl Fields {
    /// Reads `reverse/NAME.tsv` and `reverse/NAME-punctuation.tsv`.
    pub fn read(concordances: &Concordances, name: &str) -> Self {
        let mut fields = Self::default();
        for cells in rows(&concordances.text_of(&format!("reverse/{name}.tsv"))) {
            let cell = |index: usize| cells.get(index).map_or("", String::as_str);
            let indicator = |index: usize| match cell(index).chars().next() {
                None | Some('#') => ' ',
                Some(c) => c,
            };
            let field = Field {
                indicators: [indicator(1), indicator(2)],
                single: cell(3).contains("single"),
                obsolete: cell(3).contains("obsolete"),
                core: cell(3).contains("core"),
                unless: cell(3).split_once("unless ").map_or("", |(_, tags)| tags).to_owned(),
                base: cell(4).replace('#', " "),
                order: cell(5).to_owned(),
            };
            fields.by_tag.insert(cell(0).to_owned(), field);
        }
        for cells in rows(&concordances.text_of(&format!("reverse/{name}-punctuation.tsv"))) {
            if let [tag, before, after, mark] = cells.as_slice() {
                let mark = mark.trim_matches('"').to_owned();
                fields.marks.push([tag.clone(), before.clone(), after.clone(), mark]);
            }
        }
        fields
    }

    pub fn get(&self, tag: &str) -> Option<&Field> {
        self.by_tag.get(tag)
    }

    pub fn is_single(&self, tag: &str) -> bool {
        self.get(tag).is_some_and(|field| field.single)
    }

    pub fn base(&self, tag: &str) -> &str {
        self.get(tag).map_or("", |field| field.base.as_str())
    }

    /// What a fixed field is filled with in a record with this leader: the table may tell kinds of
    /// records apart by LDR/06, or by LDR/06-07.
    pub fn base_of(&self, tag: &str, leader: &str) -> &str {
        let kind = leader.get(6..8).unwrap_or_default();
        let keys = [format!("{tag}/{kind}"), format!("{tag}/{}", kind.get(..1).unwrap_or_default())];
        match keys.iter().find_map(|key| self.get(key)) {
            Some(field) => &field.base,
            None => self.base(tag),
        }
    }

    pub fn is_core(&self, tag: &str) -> bool {
        self.get(tag).is_some_and(|field| field.core)
    }

    /// Puts subfields in their order: that of the table, else that of the alphabet; control
    /// subfields last.
    pub fn sort(&self, tag: &str, subfields: &mut [(String, String)]) {
        let order = self.get(tag).map_or("", |field| field.order.as_str());
        subfields.sort_by_key(|(code, _)| {
            let digit = code.starts_with(|c: char| c.is_ascii_digit());
            // `$3` names the part that is meant, and `$6` the field in another script: both lead.
            let leads = matches!(code.as_str(), "3" | "6");
            (!leads, digit, order.find(code.as_str()).unwrap_or(usize::MAX), code.clone())
        });
    }

    /// The mark between two subfields; `.` stands for any code, and nothing for the end.
    pub fn mark(&self, tag: &str, before: &str, after: &str) -> Option<&str> {
        let is = |pattern: &str, code: &str| pattern == code || pattern == "." && !code.is_empty();
        let found = self.marks.iter().find(|[of, first, second, _]| {
            of == tag && is(first, before) && (is(second, after) || second == "end" && after.is_empty())
        });
        found.map(|[.., mark]| mark.as_str())
    }
}

/// The rows of a table, without comments and without its header.
pub fn rows(text: &str) -> Vec<Vec<String>> {
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .skip(1)
        .map(|line| line.split('\t').map(|cell| cell.trim_matches(' ').to_owned()).collect())
        .collect()
}
