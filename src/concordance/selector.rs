//! Which fields a rule fires for: `245`, `100|110`, `6XX`, `700[ind2=2]`, `008/35-37`,
//! `461>200`, `mods:name/mods:namePart`, `record`.
//!
//! ```text
//! selector    = alternative { "|" alternative }
//! alternative = "record" | tag [ ">" tag ] { condition } [ "$" code ] [ "/" from [ "-" to ] ]
//! tag         = name { "/" name }                 a path for elements and keys
//!             | three of: digit, "X", "[" digit "-" digit "]"
//! condition   = "[" [ "!" ] key "]" | "[" key ( "=" | "!=" ) value { "|" value } "]"
//! ```

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
}

impl Selector {
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let mut alternatives = Vec::new();
        let mut start = 0;
        let mut depth = 0_usize;
        for (at, c) in text.char_indices().chain([(text.len(), '|')]) {
            match c {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                '|' if depth == 0 || at == text.len() => {
                    let piece = text.get(start..at).unwrap_or_default();
                    let parsed = Alternative::parse(piece.trim());
                    alternatives.push(parsed.map_err(|message| SelectorError { message, at: start..at })?);
                    start = at + 1;
                }
                _ => {}
            }
        }
        Ok(Self { alternatives })
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
        // Conditions may hold any character, so they are taken out first; what is left is the
        // tag before them and the positions after them.
        let mut rest = String::new();
        let mut remaining = text;
        while let Some(open) = condition_start(remaining) {
            let (before, after) = remaining.split_at(open);
            rest.push_str(before);
            let Some(close) = after.find(']') else {
                return Err(format!("`{text}` has a `[` without its `]`"));
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
            "" => return Err(format!("`[{text}]` names nothing; write `[ind2=1]` or `[a]`")),
            "ind1" => Key::Ind1,
            "ind2" => Key::Ind2,
            code => Key::Subfield(code.trim_start_matches(['$', '@']).to_owned()),
        };
        let is_indicator = !matches!(key, Key::Subfield(_));
        let values: Vec<String> =
            values.map(|values| values.split('|').map(|v| v.trim().to_owned()).collect()).unwrap_or_default();
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
        match text {
            "" => Err("expected a tag, such as `245` or `6XX`".to_owned()),
            "LDR" => Ok(Self::Leader),
            _ => match pattern(text) {
                Some(pattern) => Ok(Self::Pattern(pattern)),
                None if text.contains(['[', ']', '=', '$', '>']) => Err(format!(
                    "`{text}` is no tag; write `245`, `6XX`, `8[0-3]0` or the path of an element"
                )),
                None => Ok(Self::Path(text.split('/').map(|name| name.trim().to_owned()).collect())),
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
            Self::Path(path) => path.join("/"),
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
    fn mistakes_say_what_was_expected() {
        let message = |text| Selector::parse(text).expect_err(text).message;
        assert_eq!(message("245["), "`245[` has a `[` without its `]`");
        assert_eq!(message("245[ind2=12]"), "an indicator is one character (`#` for blank), not `ind2=12`");
        assert_eq!(message("008/37-35"), "`37-35` are no positions; write `/35-37`");
        assert_eq!(message("245|"), "expected a tag, such as `245` or `6XX`");
    }
}
