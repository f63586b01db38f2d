//! Texts that were joined from several subfields, cut apart again.

use super::draft::Draft;
use super::invert::{Inverter, MOST_DRAFTS, bounded, constant};
use super::pattern::bind;
use crate::concordance::program::{Codes, Expr, Function, Given};

/// `CONCAT(a, "-", b)`: constants and parts of known length tell where to cut.
pub fn concat<'a>(
    inverter: Inverter<'a>,
    parts: &'a [Expr],
    wanted: &str,
    draft: Draft,
    many: bool,
) -> Vec<Draft> {
    let Some((part, rest)) = parts.split_first() else {
        return if wanted.is_empty() { vec![draft] } else { Vec::new() };
    };
    let mut found = Vec::new();
    let texts = constants(inverter, part, 0);
    if !texts.is_empty() {
        for text in texts {
            if let Some(after) = wanted.strip_prefix(text.as_str()) {
                found.extend(concat(inverter, rest, after, draft.clone(), many));
            }
        }
        return bounded(found);
    }
    let mut cuts: Vec<usize> = Vec::new();
    if let Some(length) = length(part) {
        cuts.extend(wanted.char_indices().map(|(at, _)| at).chain([wanted.len()]).nth(length));
    } else if let Some(next) = rest.first() {
        let delimiters = constants(inverter, next, 0);
        if delimiters.is_empty() {
            let after: usize = rest.iter().filter_map(length).sum();
            let count = wanted.chars().count();
            let cut = wanted.char_indices().map(|(at, _)| at).nth(count.saturating_sub(after));
            cuts.push(cut.unwrap_or(wanted.len()));
        }
        for delimiter in delimiters.iter().filter(|delimiter| !delimiter.is_empty()) {
            cuts.extend(wanted.match_indices(delimiter.as_str()).map(|(at, _)| at).take(4));
        }
    } else {
        cuts.push(wanted.len());
    }
    for cut in cuts {
        let (Some(head), Some(tail)) = (wanted.get(..cut), wanted.get(cut..)) else { continue };
        for draft in inverter.back(part, head, draft.clone(), many) {
            found.extend(concat(inverter, rest, tail, draft, many));
        }
    }
    bounded(found)
}

/// What an expression gives, when it is one of a few constants whatever the field.
fn constants(inverter: Inverter<'_>, expr: &Expr, depth: usize) -> Vec<String> {
    if depth > 4 {
        return Vec::new();
    }
    match expr {
        Expr::If(_, yes, no) => {
            let (yes, no) = (constants(inverter, yes, depth + 1), constants(inverter, no, depth + 1));
            if yes.is_empty() || no.is_empty() { Vec::new() } else { [yes, no].concat() }
        }
        Expr::Slot(slot) => {
            bind(inverter.rule, *slot).map_or_else(Vec::new, |expr| constants(inverter, expr, depth + 1))
        }
        other => constant(other).into_iter().collect(),
    }
}

/// How many characters an expression gives, where that is certain.
fn length(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::At(range) => Some(range.len()),
        Expr::Given(Given::Tag) => Some(3),
        Expr::Given(Given::Ind1 | Given::Ind2 | Given::Code) => Some(1),
        Expr::Call(Function::LCase | Function::UCase, arguments) => length(arguments.first()?),
        _ => None,
    }
}

/// `:join(" : ", a, b)`: any of the parts may have been missing.
pub fn join<'a>(
    inverter: Inverter<'a>,
    separator: &str,
    parts: &'a [Expr],
    wanted: &str,
    draft: Draft,
    many: bool,
) -> Vec<Draft> {
    let Some((part, rest)) = parts.split_first() else { return Vec::new() };
    if rest.is_empty() {
        return inverter.back(part, wanted, draft, many);
    }
    let mut cuts: Vec<usize> = wanted.match_indices(separator).map(|(at, _)| at).collect();
    // Subdivisions begin at the first dashes; a volume or a subtitle at the last mark.
    if separator != "--" {
        cuts.reverse();
    }
    let mut found = Vec::new();
    for cut in cuts.into_iter().take(4) {
        let (head, tail) = (wanted.get(..cut).unwrap_or_default(), wanted.get(cut + separator.len()..));
        for draft in inverter.back(part, head, draft.clone(), many) {
            found.extend(join(inverter, separator, rest, tail.unwrap_or_default(), draft, many));
        }
    }
    let alone = inverter.back(part, wanted, draft.clone(), many);
    let others = join(inverter, separator, rest, wanted, draft.clone(), many);
    // `$3` says which part of the resource is meant; few fields have it.
    let is_portion = |drafts: &[Draft]| drafts.iter().all(|draft| draft.has("3"));
    if !draft.has("3") && !found.is_empty() && is_portion(&found) && !inverter.prefer.contains('3') {
        let portion = std::mem::take(&mut found);
        found.extend(others);
        found.extend(portion);
    } else if !draft.has("3") && !alone.is_empty() && is_portion(&alone) {
        found.extend(others);
        found.extend(alone);
    } else {
        found.extend(alone);
        found.extend(others);
    }
    found.truncate(MOST_DRAFTS);
    found
}

/// `:all("abc", " ")`: subfields that are known already are found in the text, which gives them
/// their order and their punctuation; a rest is a subfield of its own.
pub fn all(inverter: Inverter<'_>, codes: &Codes, separator: &str, wanted: &str, draft: Draft) -> Vec<Draft> {
    let (mut members, others): (Vec<_>, Vec<_>) =
        draft.subfields.iter().cloned().partition(|(code, _)| codes.contains(code));
    if members.is_empty()
        && let Some(pieces) = pieces(inverter, codes, separator, wanted)
    {
        let mut draft = draft;
        draft.subfields.splice(0..0, pieces);
        return vec![draft];
    }
    if inverter.only
        && codes.all
        && !inverter.prefer.chars().any(|code| codes.contains(code.encode_utf8(&mut [0; 4])))
    {
        return Vec::new();
    }
    // The longest first: a short value may occur in a longer one.
    members.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    let mut taken: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    let mut missing = Vec::new();
    for (code, value) in members {
        let free = wanted.match_indices(value.as_str()).map(|(at, _)| at..at + value.len()).find(|range| {
            taken.iter().all(|(other, _)| range.end <= other.start || range.start >= other.end)
                && at_word(wanted, range)
        });
        match free.filter(|range| !range.is_empty()) {
            Some(range) => taken.push((range, code)),
            None => missing.push((code, value)),
        }
    }
    taken.sort_by_key(|(range, _)| range.start);
    let mut subfields: Vec<(String, String)> = Vec::new();
    let mut at = 0;
    let mut unknown = Unknown { inverter, codes, used: taken.iter().map(|(_, code)| code.clone()).collect() };
    for (range, code) in &taken {
        let gap = wanted.get(at..range.start).unwrap_or_default();
        unknown.gap(gap, separator, &mut subfields);
        subfields.push((code.clone(), wanted.get(range.clone()).unwrap_or_default().to_owned()));
        at = range.end;
    }
    unknown.gap(wanted.get(at..).unwrap_or_default(), separator, &mut subfields);
    let mut draft = draft;
    draft.ordered |= subfields.len() > 1;
    draft.subfields = subfields;
    draft.subfields.extend(missing);
    draft.subfields.extend(others);
    vec![draft]
}

/// A text cut at its separators, where each piece is a subfield: the separator is more than a
/// blank, or there are as many pieces as subfields it is known to come from.
fn pieces(
    inverter: Inverter<'_>,
    codes: &Codes,
    separator: &str,
    wanted: &str,
) -> Option<Vec<(String, String)>> {
    if separator.is_empty() || codes.all {
        return None;
    }
    let known: Vec<char> = codes
        .codes
        .chars()
        .filter(|code| inverter.prefer.is_empty() || inverter.prefer.contains(*code))
        .collect();
    let pieces: Vec<&str> = wanted.split(separator).collect();
    let fits = !separator.trim().is_empty() || known.len() == pieces.len() && known.len() > 2;
    if pieces.len() < 2 || !fits {
        return None;
    }
    let last = known.last()?;
    let code = |index: usize| known.get(index).unwrap_or(last).to_string();
    Some(pieces.iter().enumerate().map(|(index, piece)| (code(index), (*piece).to_owned())).collect())
}

/// Whether a range neither begins nor ends inside a word.
fn at_word(text: &str, range: &std::ops::Range<usize>) -> bool {
    let before = text.get(..range.start).and_then(|text| text.chars().next_back());
    let after = text.get(range.end..).and_then(|text| text.chars().next());
    !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
}

/// Gives what stands between known subfields to a code.
struct Unknown<'a, 'c> {
    inverter: Inverter<'a>,
    codes: &'c Codes,
    used: Vec<String>,
}

impl Unknown<'_, '_> {
    fn gap(&mut self, gap: &str, separator: &str, subfields: &mut Vec<(String, String)>) {
        if gap.chars().any(char::is_alphanumeric) {
            let (mark, text) = match gap.find(char::is_alphanumeric) {
                // Brackets and quotes belong to what they open.
                Some(start) => {
                    let start = gap
                        .get(..start)
                        .unwrap_or_default()
                        .trim_end_matches(['(', '[', '"', '\'', '<'])
                        .len();
                    gap.split_at(start)
                }
                None => ("", gap),
            };
            append(mark, separator, subfields);
            let code = self.code();
            let text = text.strip_suffix(separator).unwrap_or(text).trim();
            subfields.push((code.clone(), text.to_owned()));
            self.used.push(code);
        } else {
            append(gap, separator, subfields);
        }
    }

    /// A code that no other variable speaks for: the first of them all where it is free.
    fn code(&self) -> String {
        let is_free = |code: &String| !self.used.contains(code);
        let hinted: String = self
            .inverter
            .prefer
            .chars()
            .filter(|code| self.codes.contains(code.encode_utf8(&mut [0; 4])))
            .collect();
        let usual = match (self.codes.all, hinted.is_empty()) {
            (_, false) => self.inverter.choose(&hinted),
            (true, true) => "a".to_owned(),
            (false, true) => self.inverter.choose(&self.codes.codes),
        };
        if is_free(&usual) {
            return usual;
        }
        let listed = if self.codes.all { self.inverter.prefer } else { self.codes.codes.as_str() };
        // What follows a name is most often a title.
        let title =
            if self.codes.contains("t") && (hinted.is_empty() || hinted.contains('t')) { "t" } else { "" };
        let order = title.chars().chain(hinted.chars()).chain(listed.chars().rev());
        order.map(String::from).find(is_free).unwrap_or(usual)
    }
}

/// Punctuation goes to the subfield before it.
fn append(mark: &str, separator: &str, subfields: &mut [(String, String)]) {
    let mark = if mark == separator { "" } else { mark.trim_end() };
    if let Some((_, value)) = subfields.last_mut() {
        value.push_str(mark);
    }
}

/// A text as it was before `REPLACE` with a pattern of nothing but groups:
/// `PT00H45M10S` was `004510` before `^(..)(..)(..)$` became `PT$1H$2M$3S`.
pub fn unreplaced(pattern: &str, by: &str, wanted: &str) -> Option<String> {
    let inner = pattern.strip_prefix('^')?;
    let inner = inner.strip_suffix('$').unwrap_or(inner);
    let only_groups = inner.starts_with('(') && inner.ends_with(')') && !inner.contains(")?");
    if !only_groups || !by.contains("${2}") {
        return None;
    }
    let mut expression = String::from("^");
    let mut rest = by;
    while let Some(at) = rest.find("${") {
        expression.push_str(&regex::escape(rest.get(..at)?));
        expression.push_str("(.+?)");
        rest = rest.get(at + 4..)?;
    }
    expression.push_str(&regex::escape(rest));
    expression.push('$');
    let found = regex::Regex::new(&expression).ok()?;
    let groups = found.captures(wanted)?;
    Some(groups.iter().skip(1).flatten().map(|group| group.as_str()).collect())
}
