//! Which fields a rule fires for: `245`, `100|110`, `6XX`, `700[ind2=2]`, `008/35-37`,
//! `461>200`, `mods:name/mods:namePart`, `record`.
//!
//! ```text
//! selector    = alternative { "|" alternative }
//! alternative = "record" | tag [ ">" tag ] { condition } [ "$" code ] [ "/" from [ "-" to ] ]
//! tag         = name { "/" name }                 a path for elements and keys
//!             | three of: digit, "X", "[" digit "-" digit "]"
//! name        = characters without a meaning here | '"' any characters, `""` for a quote '"'
//! condition   = "[" [ "!" ] key "]" | "[" key ( "=" | "!=" ) value { "|" value } "]"
//! ```

use super::quoted;
use crate::record::Model;
use std::ops::Range;

/// What a rule fires for. Any alternative will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    pub alternatives: Vec<Alternative>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alternative {
    pub tag: Tag,
    /// The tag of the embedded field, where one is meant.
    pub embedded: Option<Tag>,
    pub conditions: Vec<Condition>,
    /// What is asked of the elements on the way, by their place in the path.
    pub on_the_way: Vec<(usize, Condition)>,
    /// The subfield whose positions are meant.
    pub subfield: Option<String>,
    /// Positions, the end excluded.
    pub positions: Option<Range<usize>>,
}

/// A tag or what stands for several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tag {
    Record,
    Leader,
    /// A tag, a column, or a path of elements or keys.
    Path(Vec<String>),
    /// Three characters, each of a set; a bit for each digit.
    Pattern([u16; 3]),
}

/// A tag of three digits as a number.
pub fn tag_number(tag: &str) -> Option<usize> {
    match tag.as_bytes() {
        [a @ b'0'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => {
            Some(usize::from(a - b'0') * 100 + usize::from(b - b'0') * 10 + usize::from(c - b'0'))
        }
        _ => None,
    }
}

/// What is asked of a field besides its tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    pub key: Key,
    pub negated: bool,
    /// Any of these; none asks only whether there is a value.
    pub values: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    Ind1,
    Ind2,
    Subfield(String),
}

/// What is wrong with a selector, and where in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectorError {
    pub message: String,
    pub at: Range<usize>,
    pub hint: Option<String>,
}

impl Selector {
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let alternatives = quoted::split(text, '|').into_iter().map(|at| {
            let piece = text.get(at.clone()).unwrap_or_default();
            Alternative::parse(piece.trim()).map_err(|message| SelectorError { message, at, hint: None })
        });
        Ok(Self { alternatives: alternatives.collect::<Result<_, _>>()? })
    }

    /// The selector of a rule for records of a model: what could never be met is an error.
    pub fn of_rule(text: &str, model: Model) -> Result<Self, SelectorError> {
        let selector = Self::parse(text)?;
        let places = quoted::split(text, '|');
        for (alternative, at) in selector.alternatives.iter().zip(places) {
            if let Err((message, hint)) = alternative.check(model) {
                return Err(SelectorError { message, at, hint });
            }
        }
        Ok(selector)
    }

    pub fn is_record(&self) -> bool {
        self.alternatives.iter().any(|alternative| alternative.tag == Tag::Record)
    }
}

impl Alternative {
    fn parse(text: &str) -> Result<Self, String> {
        let mut alternative = Self {
            tag: Tag::Record,
            embedded: None,
            conditions: Vec::new(),
            on_the_way: Vec::new(),
            subfield: None,
            positions: None,
        };
        if text == "record" {
            return Ok(alternative);
        }
        if text.matches('"').count() % 2 == 1 {
            return Err(format!("`{text}` has a quote without its partner"));
        }
        let (whole, text) = (text, &*quoted::protect(text));
        // Conditions may hold any character, so they are taken out first; what is left is the
        // tag before them and the positions after them.
        let mut rest = String::new();
        let mut remaining = text;
        while let Some(open) = condition_start(remaining) {
            let (before, after) = remaining.split_at(open);
            rest.push_str(before);
            let Some(close) = after.find(']') else {
                return Err(format!("`{whole}` has a `[` without its `]`"));
            };
            let condition = Condition::parse(after.get(1..close).unwrap_or_default())?;
            alternative.on_the_way.push((rest.matches('/').count(), condition));
            remaining = after.get(close + 1..).unwrap_or_default();
        }
        rest.push_str(remaining);
        let mut tag = rest.as_str();
        if let Some((before, positions)) = tag.rsplit_once('/')
            && positions.starts_with(|c: char| c.is_ascii_digit())
        {
            alternative.positions = Some(parse_positions(positions)?);
            tag = before;
        }
        if let Some((before, code)) = tag.split_once('$') {
            if code.is_empty() {
                return Err("expected a subfield code after `$`".to_owned());
            }
            alternative.subfield = Some(code.to_owned());
            tag = before;
        }
        if let Some((outer, inner)) = tag.split_once('>') {
            alternative.embedded = Some(Tag::parse(inner)?);
            tag = outer;
        }
        alternative.tag = Tag::parse(tag)?;
        let last = match &alternative.tag {
            Tag::Path(path) => path.len().saturating_sub(1),
            _ => 0,
        };
        let all = std::mem::take(&mut alternative.on_the_way);
        for (step, condition) in all {
            if step >= last {
                alternative.conditions.push(condition);
            } else {
                alternative.on_the_way.push((step, condition));
            }
        }
        Ok(alternative)
    }

    /// Whether records of a model can meet this at all; the reason and a hint where not.
    fn check(&self, model: Model) -> Result<(), (String, Option<String>)> {
        let conditions = self.conditions.iter().chain(self.on_the_way.iter().map(|(_, condition)| condition));
        if !model.is_marc() {
            let indicator = conditions.clone().find(|condition| !matches!(condition.key, Key::Subfield(_)));
            return match indicator {
                Some(_) => Err((format!("{model} has no indicators"), None)),
                None => Ok(()),
            };
        }
        for tag in std::iter::once(&self.tag).chain(&self.embedded) {
            if let Tag::Path(path) = tag {
                return Err(no_tag(&path.join("/")));
            }
        }
        for condition in conditions {
            match &condition.key {
                Key::Subfield(code) if code.chars().count() != 1 => {
                    let message =
                        format!("`{code}` is neither `ind1`, `ind2` nor the one character of a subfield");
                    let hint = code.starts_with("ind").then(|| "a field has two indicators".to_owned());
                    return Err((message, hint));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Says why a text is no tag of MARC.
fn no_tag(text: &str) -> (String, Option<String>) {
    let upper = text.to_ascii_uppercase();
    let meant = match upper.as_str() {
        "LEADER" | "LDR" => Some("LDR".to_owned()),
        "RECORD" => Some("record".to_owned()),
        _ if pattern(&upper).is_some() => Some(upper),
        _ => None,
    };
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let message = if digits == text.len() && digits != 3 {
        format!("`{text}` has {digits} digits; a tag has three")
    } else {
        format!("`{text}` is no tag; write `245`, `6XX`, `8[0-3]0`, `LDR` or `record`")
    };
    (message, meant.map(|meant| format!("did you mean `{meant}`?")))
}

/// The `[` of a condition: one of a range such as `8[0-3]0` is no condition.
fn condition_start(text: &str) -> Option<usize> {
    text.match_indices('[').map(|(at, _)| at).find(|at| {
        let inside = text.get(at + 1..).unwrap_or_default();
        let range = inside.as_bytes();
        !matches!(range, [a, b'-', b, b']', ..] if a.is_ascii_digit() && b.is_ascii_digit())
    })
}

pub(super) fn parse_positions(text: &str) -> Result<Range<usize>, String> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    match (from.parse::<usize>(), to.parse::<usize>()) {
        (Ok(from), Ok(to)) if from <= to => Ok(from..to + 1),
        _ => Err(format!("`{text}` are no positions; write `/35-37`")),
    }
}

impl Condition {
    fn parse(text: &str) -> Result<Self, String> {
        let (key, negated, values) = if let Some((key, values)) = text.split_once("!=") {
            (key, true, Some(values))
        } else if let Some((key, values)) = text.split_once('=') {
            (key, false, Some(values))
        } else if let Some(key) = text.strip_prefix('!') {
            (key, true, None)
        } else {
            (text, false, None)
        };
        let key = match key.trim() {
            "" => {
                let text = quoted::restore(text);
                return Err(format!("`[{text}]` names nothing; write `[ind2=1]` or `[a]`"));
            }
            "ind1" => Key::Ind1,
            "ind2" => Key::Ind2,
            code => Key::Subfield(quoted::restore(code.trim_start_matches(['$', '@']))),
        };
        let is_indicator = !matches!(key, Key::Subfield(_));
        let values: Vec<String> = values
            .map(|values| values.split('|').map(|v| quoted::restore(v.trim())).collect())
            .unwrap_or_default();
        if is_indicator && values.iter().any(|value| value.chars().count() != 1) {
            return Err(format!("an indicator is one character (`#` for blank), not `{text}`"));
        }
        let values = values
            .into_iter()
            .map(|value| if is_indicator && value == "#" { " ".to_owned() } else { value })
            .collect();
        Ok(Self { key, negated, values })
    }
}

impl Tag {
    fn parse(text: &str) -> Result<Self, String> {
        // A quoted name is a name, whatever it looks like.
        if text.contains(quoted::MARK) {
            let path: Vec<String> = text.split('/').map(|name| quoted::restore(name.trim())).collect();
            // Columns may be called by years, and those are found as tags are.
            let digits =
                path.first().filter(|name| path.len() == 1 && name.bytes().all(|b| b.is_ascii_digit()));
            return Ok(match digits.and_then(|name| pattern(name)) {
                Some(pattern) => Self::Pattern(pattern),
                None => Self::Path(path),
            });
        }
        match text {
            "" => Err("expected a tag, such as `245` or `6XX`".to_owned()),
            "LDR" => Ok(Self::Leader),
            _ => match pattern(text) {
                Some(pattern) => Ok(Self::Pattern(pattern)),
                None if text.contains(['[', ']', '=', '$', '>']) => Err(format!(
                    "`{}` is no tag; write `245`, `6XX`, `8[0-3]0` or the path of an element, and names with signs in double quotes",
                    quoted::restore(text)
                )),
                None => Ok(Self::Path(text.split('/').map(|name| quoted::restore(name.trim())).collect())),
            },
        }
    }

    /// Whether a tag at the top of a record is meant.
    pub fn matches(&self, tag: &str) -> bool {
        match self {
            Self::Record => false,
            Self::Leader => tag == "LDR",
            Self::Path(path) => path.len() == 1 && path.first().is_some_and(|name| name == tag),
            Self::Pattern(pattern) => {
                let mut digits = tag.bytes();
                tag.len() == 3
                    && pattern.iter().all(|set| {
                        digits.next().is_some_and(|b| b.is_ascii_digit() && set >> (b - b'0') & 1 == 1)
                    })
            }
        }
    }

    /// The one tag of three digits that it is, as a number.
    pub fn number(&self) -> Option<usize> {
        let Self::Pattern(pattern) = self else { return None };
        pattern.iter().try_fold(0, |number, set| {
            set.is_power_of_two().then(|| number * 10 + set.trailing_zeros() as usize)
        })
    }

    /// The tag where it is one and no more.
    pub fn exact(&self) -> Option<String> {
        match self {
            Self::Record => None,
            Self::Leader => Some("LDR".to_owned()),
            Self::Path(path) => Some(path.join("/")),
            Self::Pattern(pattern) => pattern
                .iter()
                .map(|set| (set.count_ones() == 1).then(|| char::from(b'0' + set.trailing_zeros() as u8)))
                .collect(),
        }
    }

    /// The tag as one writes it.
    pub fn notation(&self) -> String {
        match self {
            Self::Record => "record".to_owned(),
            Self::Leader => "LDR".to_owned(),
            Self::Path(path) => {
                let steps: Vec<_> = path.iter().map(|name| quoted::write(name)).collect();
                steps.join("/")
            }
            Self::Pattern(pattern) => pattern
                .iter()
                .map(|set| match set.count_ones() {
                    10 => "X".to_owned(),
                    1 => set.trailing_zeros().to_string(),
                    _ => format!("[{}-{}]", set.trailing_zeros(), 15 - set.leading_zeros()),
                })
                .collect(),
        }
    }
}

/// Digits, `X` and ranges for three characters; `None` for any other text.
fn pattern(text: &str) -> Option<[u16; 3]> {
    let mut sets = [0_u16; 3];
    let mut bytes = text.bytes();
    for set in &mut sets {
        *set = match bytes.next()? {
            b'X' => 0x3ff,
            digit @ b'0'..=b'9' => 1 << (digit - b'0'),
            b'[' => {
                let (from, dash, to, close) = (bytes.next()?, bytes.next()?, bytes.next()?, bytes.next()?);
                let ordered = from.is_ascii_digit() && to.is_ascii_digit() && from <= to;
                if dash != b'-' || close != b']' || !ordered {
                    return None;
                }
                (from..=to).fold(0, |set, digit| set | 1 << (digit - b'0'))
            }
            _ => return None,
        };
    }
    bytes.next().is_none().then_some(sets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(selector: &str, tag: &str) -> bool {
        Selector::parse(selector).expect(selector).alternatives.iter().any(|a| a.tag.matches(tag))
    }

    #[test]
    fn tags_are_matched_as_written() {
        assert!(matches("245", "245"));
        assert!(matches("100|110|111", "110"));
        assert!(matches("6XX", "650") && !matches("6XX", "700"));
        assert!(matches("8[0-3]0", "830") && !matches("8[0-3]0", "840"));
        assert!(matches("dc:title", "dc:title") && !matches("dc:title", "dc:type"));
    }

    #[test]
    fn conditions_and_positions_are_taken_apart() {
        let selector =
            Selector::parse("700[ind2=2][4=aut|edt][!t]|008/35-37|100$a/9-12|461>200").expect("valid");
        let [added, fixed, coded, embedded] = selector.alternatives.as_slice() else { panic!() };
        assert_eq!(added.conditions.len(), 3);
        assert_eq!(added.conditions[1].values, ["aut", "edt"]);
        assert!(added.conditions[2].negated && added.conditions[2].values.is_empty());
        assert_eq!(fixed.positions, Some(35..38));
        assert_eq!((coded.subfield.as_deref(), coded.positions.clone()), (Some("a"), Some(9..13)));
        assert_eq!(embedded.embedded.as_ref().map(Tag::notation).as_deref(), Some("200"));
    }

    #[test]
    fn a_path_of_elements_is_no_slice() {
        let selector = Selector::parse("mods:relatedItem/mods:titleInfo").expect("valid");
        assert_eq!(selector.alternatives[0].tag.notation(), "mods:relatedItem/mods:titleInfo");
        assert_eq!(selector.alternatives[0].positions, None);
    }

    #[test]
    fn names_with_signs_are_quoted() {
        let path = |text: &str| match &Selector::parse(text).expect(text).alternatives[0].tag {
            Tag::Path(path) => path.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(path(r#""Title / subtitle""#), ["Title / subtitle"]);
        assert_eq!(path(r#""Price [EUR]""#), ["Price [EUR]"]);
        assert_eq!(path(r#""a|b>c$d=""e""""#), ["a|b>c$d=\"e\""]);
        assert_eq!(path(r#"parts/"a/b"/title"#), ["parts", "a/b", "title"]);
        assert_eq!(path(r#""record""#), ["record"]);
        for text in [r#""Title / subtitle""#, r#"parts/"a/b"/title"#, r#""record""#, "award won"] {
            let selector = Selector::parse(text).expect(text);
            assert_eq!(selector.alternatives[0].tag.notation(), text);
        }
        let several = Selector::parse(r#""a|b"[x="y]z"]|c"#).expect("two");
        assert_eq!(several.alternatives.len(), 2);
        assert_eq!(several.alternatives[0].conditions[0].values, ["y]z"]);
        assert_eq!(
            Selector::parse("\"Title").expect_err("open").message,
            "`\"Title` has a quote without its partner"
        );
    }

    /// Selectors that no record of MARC can meet were taken without a word.
    #[test]
    fn selectors_that_nothing_can_meet_are_errors_with_hints() {
        let refused = |text: &str| {
            let error = Selector::of_rule(text, Model::Marc21).expect_err(text);
            (error.message, error.hint.unwrap_or_default())
        };
        assert_eq!(
            refused("949[ind3=1]"),
            (
                "`ind3` is neither `ind1`, `ind2` nor the one character of a subfield".to_owned(),
                "a field has two indicators".to_owned()
            )
        );
        assert!(refused("245[aa=x]").0.starts_with("`aa` is neither"));
        assert_eq!(refused("9499").0, "`9499` has 4 digits; a tag has three");
        assert_eq!(refused("9xx").1, "did you mean `9XX`?");
        assert_eq!(refused("leader/06").1, "did you mean `LDR`?");
        assert_eq!(refused("title").1, "");
        assert!(Selector::of_rule("100$a/9-12", Model::Unimarc).is_ok());
        assert!(Selector::of_rule("9499", Model::Row).is_ok());
        assert!(Selector::of_rule("title[ind1=1]", Model::Row).is_err());
    }

    #[test]
    fn mistakes_say_what_was_expected() {
        let message = |text| Selector::parse(text).expect_err(text).message;
        assert_eq!(message("245["), "`245[` has a `[` without its `]`");
        assert_eq!(message("245[ind2=12]"), "an indicator is one character (`#` for blank), not `ind2=12`");
        assert_eq!(message("008/37-35"), "`37-35` are no positions; write `/35-37`");
        assert_eq!(message("245|"), "expected a tag, such as `245` or `6XX`");
    }
}
