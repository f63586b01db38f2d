//! From a value back to the subfields it was made of.
//!
//! An expression is read backwards: `:isbd($a)` says that `$a` was the value, `:code(list, $x)`
//! that `$x` was one of the codes for it, `IF` that either branch may have been taken. What is
//! left open gives several drafts; which of them is right is found by running the rules over
//! them ([`tryout`](super::tryout)), so this module may guess.

use super::dates;
use super::draft::Draft;
use super::joined;
use super::pattern::{bind, values};
use crate::concordance::codes::{CodeList, OnMissing};
use crate::concordance::program::{Compare, Expr, Function, Given, List, Rule};

/// No more drafts than this are kept at any time.
pub const MOST_DRAFTS: usize = 12;
/// No more codes than this are tried for one value.
const MOST_CODES: usize = 6;

/// Reads the expressions of one rule backwards.
#[derive(Clone, Copy)]
pub struct Inverter<'a> {
    pub rule: &'a Rule,
    pub lists: &'a [CodeList],
    /// Subfields the value is known to come from,
    pub prefer: &'a str,
    /// and whether it can come from no others.
    pub only: bool,
    /// The usual indicators of the field, and the usual order of its subfields.
    pub usual: [char; 2],
    pub order: &'a str,
    /// The list whose member stands for `Member`.
    pub member: Option<&'a List>,
    pub depth: usize,
}

impl<'a> Inverter<'a> {
    /// The drafts in which a variable has this value.
    pub fn slot(self, slot: usize, wanted: &str, draft: Draft) -> Vec<Draft> {
        let inner = Self { depth: self.depth + 1, ..self };
        if self.depth > 24 {
            return Vec::new();
        }
        match (values(self.rule, slot), bind(self.rule, slot)) {
            (Some(list), _) => inner.list(list, wanted, draft),
            (None, Some(expr)) => inner.back(expr, wanted, draft, super::pattern::is_list(self.rule, slot)),
            (None, None) => Vec::new(),
        }
    }

    /// The drafts in which an expression gives this value.
    pub fn back(self, expr: &'a Expr, wanted: &str, draft: Draft, many: bool) -> Vec<Draft> {
        let deeper = Self { depth: self.depth + 1, ..self };
        if self.depth > 24 {
            return Vec::new();
        }
        let one = |draft: Option<Draft>| draft.into_iter().collect::<Vec<_>>();
        match expr {
            Expr::Text(text) | Expr::Iri(text) | Expr::Tagged(text, _) | Expr::Typed(text, _) => {
                one((text == wanted).then_some(draft))
            }
            Expr::Integer(number) => one((number.to_string() == wanted).then_some(draft)),
            Expr::Slot(slot) => deeper.slot(*slot, wanted, draft),
            Expr::Subfield(code) | Expr::Attribute(code) => one(self.subfield(code, wanted, draft, many)),
            Expr::Given(given) => {
                let mut draft = draft;
                if *given == Given::Value && draft.code.is_none() && self.only && self.prefer.len() == 1 {
                    draft.code = Some(self.prefer.to_owned());
                }
                one(given_is(*given, wanted, draft))
            }
            Expr::If(condition, yes, no) => {
                let mut found = Vec::new();
                for draft in deeper.assume(condition, true, draft.clone()) {
                    found.extend(deeper.back(yes, wanted, draft, many));
                }
                let mut other = Vec::new();
                for draft in deeper.assume(condition, false, draft) {
                    other.extend(deeper.back(no, wanted, draft, many));
                }
                // A code is what people write, though its IRI would do as well; and what goes with
                // unusual indicators is tried last.
                if has_code(no) && !has_code(yes) || self.is_unusual(condition) {
                    std::mem::swap(&mut found, &mut other);
                }
                found.extend(other);
                bounded(found)
            }
            Expr::Coalesce(list) => {
                let mut found: Vec<Draft> =
                    list.iter().flat_map(|expr| deeper.back(expr, wanted, draft.clone(), many)).collect();
                // An indicator says it before `$2` does.
                if !draft.has("2") {
                    found.sort_by_key(|draft| draft.has("2"));
                }
                bounded(found)
            }
            Expr::Replace(inner, pattern, by) => match joined::unreplaced(pattern.as_str(), by, wanted) {
                Some(text) => deeper.back(inner, &text, draft, many),
                None => deeper.back(inner, wanted, draft, many),
            },
            Expr::Regex(inner, _) => deeper.back(inner, wanted, draft, many),
            Expr::Call(function, arguments) => deeper.call(*function, arguments, wanted, draft, many),
            Expr::All(codes, separator) => joined::all(self, codes, separator, wanted, draft),
            Expr::Pick(codes, _) => one(self.subfield(&self.choose(&codes.codes), wanted, draft, many)),
            Expr::Value(path, None) => one(beside(path, wanted, draft)),
            Expr::At(range) => {
                let fits = wanted.chars().count() <= range.len();
                one(draft.with_positions(range.start, wanted).filter(|_| fits))
            }
            Expr::Code { list, column, code } => deeper.code(*list, *column, code, wanted, draft, many),
            Expr::Member => match self.member {
                Some(list) => Self { member: None, ..deeper }.list(list, wanted, draft),
                None => Vec::new(),
            },
            Expr::First(list) | Expr::Joined(list, _) => deeper.list(list, wanted, draft),
            Expr::Node { .. } => vec![draft],
            _ => Vec::new(),
        }
    }

    /// The drafts in which a list has this member.
    pub fn list(self, list: &'a List, wanted: &str, draft: Draft) -> Vec<Draft> {
        let one = |draft: Option<Draft>| draft.into_iter().collect::<Vec<_>>();
        match list {
            List::Every(codes, _) => {
                let known: String = if codes.all { self.choose("a") } else { codes.codes.clone() };
                let mut first: Vec<char> = known.chars().collect();
                let rank = |code: char| self.order.find(code).unwrap_or(usize::MAX);
                first.sort_by_key(|code| (!self.prefer.contains(*code), rank(*code)));
                let found = first.into_iter().filter_map(|code| {
                    self.subfield(code.encode_utf8(&mut [0; 4]), wanted, draft.clone(), true)
                });
                found.take(MOST_CODES).collect()
            }
            List::Chunks { code, size } => {
                if wanted.chars().count() != *size {
                    return Vec::new();
                }
                if code != "text" {
                    return one(self.subfield(code, wanted, draft, true));
                }
                let pieces = draft.range.clone().step_by((*size).max(1));
                let piece = |at: usize| -> String {
                    (at..at + size).filter_map(|at| draft.positions.get(&at)).collect()
                };
                if pieces.clone().any(|at| piece(at) == wanted) {
                    return vec![draft];
                }
                // The next free piece of the positions the rule speaks of; codes stand in the order
                // of the alphabet.
                let mut known: Vec<String> =
                    pieces.clone().map(piece).filter(|piece| !piece.is_empty()).collect();
                known.push(wanted.to_owned());
                known.sort_unstable();
                if known.len() > pieces.clone().count() {
                    return Vec::new();
                }
                let range = draft.range.clone();
                let mut draft = draft;
                draft.positions.retain(|at, _| !range.contains(at));
                for (at, piece) in pieces.zip(known) {
                    draft = match draft.with_positions(at, &piece) {
                        Some(draft) => draft,
                        None => return Vec::new(),
                    };
                }
                vec![draft]
            }
            List::Split { code, separator } => {
                let mut draft = draft;
                match draft.subfields.iter_mut().find(|(known, _)| known == code) {
                    Some((_, value)) => {
                        if !value.split(separator.as_str()).any(|piece| piece == wanted) {
                            value.push_str(separator);
                            value.push_str(wanted);
                        }
                        vec![draft]
                    }
                    None => one(self.subfield(code, wanted, draft, true)),
                }
            }
            List::Path(_) => Vec::new(),
            List::Mapped { list, expr } => {
                Self { member: Some(list), ..self }.back(expr, wanted, draft, true)
            }
            List::PerSubfield { expr, .. } | List::Single(expr, _) => self.back(expr, wanted, draft, true),
        }
    }

    fn code(
        self,
        list: usize,
        column: usize,
        code: &'a Expr,
        wanted: &str,
        draft: Draft,
        many: bool,
    ) -> Vec<Draft> {
        let Some(list) = self.lists.get(list) else { return Vec::new() };
        let mut found = Vec::new();
        let mut tried = 0;
        // Where a text was cleaned before it was looked up, words were written: the label, if it
        // leads to the same.
        if is_worded(self.rule, code, 0)
            && let Some(first) = list.code_of(wanted, column)
            && let Some(label) = list.column("label").and_then(|label| list.get(first, label))
            && list.get(label, column) == Some(wanted)
        {
            found.extend(self.back(code, label, draft.clone(), many));
        }
        for known in list.codes_of(wanted, column) {
            let fits = self.back(code, known, draft.clone(), many);
            tried += usize::from(!fits.is_empty());
            found.extend(fits);
            if tried >= MOST_CODES {
                break;
            }
        }
        if found.is_empty() && list.on_missing == OnMissing::Keep {
            found = self.back(code, wanted, draft, many);
        }
        bounded(found)
    }

    fn call(
        self,
        function: Function,
        arguments: &'a [Expr],
        wanted: &str,
        draft: Draft,
        many: bool,
    ) -> Vec<Draft> {
        let Some(first) = arguments.first() else { return Vec::new() };
        match function {
            Function::Concat => joined::concat(self, arguments, wanted, draft, many),
            Function::Join => {
                let Expr::Text(separator) = first else { return Vec::new() };
                joined::join(self, separator, arguments.get(1..).unwrap_or_default(), wanted, draft, many)
            }
            Function::Edtf if arguments.len() == 3 => dates::coded(self, function, arguments, wanted, draft),
            Function::EdtfUnimarc => dates::coded(self, function, arguments, wanted, draft),
            Function::Nonfiling => {
                let Some(whole) = self.look(first, &draft) else { return Vec::new() };
                let Some(article) = whole.strip_suffix(wanted) else { return Vec::new() };
                match arguments.get(1) {
                    Some(count) => self.back(count, &article.chars().count().to_string(), draft, false),
                    None => Vec::new(),
                }
            }
            Function::StrAfter if constant_of(arguments.get(1)).is_some_and(|mark| mark == "(") => {
                self.in_brackets(first, wanted, draft, many)
            }
            Function::Sorting => self.with_article(first, wanted, draft),
            Function::Mark => self.before(first, &format!("({wanted})"), draft),
            Function::WorkKey
            | Function::InstanceKey
            | Function::SortKey
            | Function::Language
            | Function::SubStr
            | Function::Lang
            | Function::Datatype => Vec::new(),
            Function::EncodeForUri => self.back(first, &crate::record::percent_decode(wanted), draft, many),
            // Everything else changes the dress of a text and not what it says.
            _ => self.back(first, wanted, draft, many),
        }
    }

    /// Puts something before the value that an expression reads.
    fn before(self, expr: &Expr, mark: &str, mut draft: Draft) -> Vec<Draft> {
        match expr {
            Expr::Subfield(code) => {
                match draft.subfields.iter_mut().find(|(known, _)| known == code) {
                    Some((_, value)) if value.starts_with(mark) => {}
                    Some((_, value)) => value.insert_str(0, mark),
                    None => draft.marks.push((Some(code.clone()), mark.to_owned())),
                }
                vec![draft]
            }
            Expr::Given(Given::Value) => {
                match draft.value.as_mut() {
                    Some(value) if value.starts_with(mark) => {}
                    Some(value) => value.insert_str(0, mark),
                    None => draft.marks.push((None, mark.to_owned())),
                }
                vec![draft]
            }
            _ => vec![draft],
        }
    }

    /// What stood in brackets behind a value that is known, or alone.
    fn in_brackets(self, expr: &'a Expr, wanted: &str, mut draft: Draft, many: bool) -> Vec<Draft> {
        if let Expr::Subfield(code) = expr
            && let Some((_, value)) = draft.subfields.iter_mut().find(|(known, _)| known == code)
        {
            // Old records have it so; where nothing is known of the record there are newer ways.
            if !self.only || !self.prefer.contains(code.as_str()) || value.contains('(') {
                return Vec::new();
            }
            value.push_str(&format!(" ({wanted})"));
            return vec![draft];
        }
        self.back(expr, wanted, draft, many)
    }

    /// Whether a condition asks for an indicator that the field does not usually have.
    fn is_unusual(self, condition: &Expr) -> bool {
        let Expr::Compare(Compare::Equal, left, right) = condition else { return false };
        let usual = match left.as_ref() {
            Expr::Given(Given::Ind1) => self.usual[0],
            Expr::Given(Given::Ind2) => self.usual[1],
            _ => return false,
        };
        constant(right).is_some_and(|value| !value.starts_with(usual))
    }

    /// A title with its article between the marks that keep it out of sorting.
    fn with_article(self, expr: &Expr, sorted: &str, mut draft: Draft) -> Vec<Draft> {
        let Expr::Subfield(code) = expr else { return Vec::new() };
        for (_, value) in draft.subfields.iter_mut().filter(|(known, _)| known == code) {
            if let Some(article) = value.strip_suffix(sorted).filter(|article| !article.is_empty()) {
                *value = format!("\u{98}{article}\u{9c}{sorted}");
            }
        }
        vec![draft]
    }

    /// What an expression reads from the draft, as far as that is plain.
    fn look(self, expr: &Expr, draft: &Draft) -> Option<String> {
        match expr {
            Expr::Subfield(code) => draft.get(code).map(str::to_owned),
            Expr::Given(Given::Value) => draft.value.clone(),
            Expr::Slot(slot) => self.look(bind(self.rule, *slot)?, draft),
            Expr::Coalesce(list) => list.iter().find_map(|expr| self.look(expr, draft)),
            Expr::Call(_, arguments) => self.look(arguments.first()?, draft),
            Expr::Replace(inner, ..) => self.look(inner, draft),
            _ => None,
        }
    }

    /// The drafts in which a condition holds, or does not; what cannot be told is left open.
    pub fn assume(self, condition: &'a Expr, holds: bool, draft: Draft) -> Vec<Draft> {
        match condition {
            Expr::Compare(Compare::Equal, left, right) => {
                let Some(value) = constant(right) else { return vec![draft] };
                if holds {
                    self.back(left, &value, draft, false)
                } else {
                    let other = |given: Option<String>| given.is_some_and(|known| known == value);
                    let known = match left.as_ref() {
                        Expr::Given(Given::Tag) => other(Some(draft.tag.clone())),
                        Expr::Given(Given::Ind1) => other(draft.indicators[0].map(String::from)),
                        Expr::Given(Given::Ind2) => other(draft.indicators[1].map(String::from)),
                        Expr::Given(Given::Code) => other(draft.code.clone()),
                        _ => false,
                    };
                    if known { Vec::new() } else { vec![draft] }
                }
            }
            Expr::In(left, list) if holds => {
                let tried = list.iter().filter_map(constant).take(MOST_CODES);
                bounded(tried.flat_map(|value| self.back(left, &value, draft.clone(), false)).collect())
            }
            Expr::In(left, list) => {
                let is_tag = matches!(left.as_ref(), Expr::Given(Given::Tag));
                if is_tag && list.iter().filter_map(constant).any(|tag| tag == draft.tag) {
                    return Vec::new();
                }
                vec![draft]
            }
            Expr::Not(inner) => self.assume(inner, !holds, draft),
            Expr::And(left, right) if holds => {
                let first = self.assume(left, true, draft);
                bounded(first.into_iter().flat_map(|draft| self.assume(right, true, draft)).collect())
            }
            Expr::Or(left, right) if holds => {
                let mut found = self.assume(left, true, draft.clone());
                found.extend(self.assume(right, true, draft));
                bounded(found)
            }
            Expr::Call(Function::StrStarts, arguments) if holds => {
                match (arguments.first(), arguments.get(1).and_then(constant)) {
                    (Some(text), Some(start)) => self.before(text, &start, draft),
                    _ => vec![draft],
                }
            }
            _ => vec![draft],
        }
    }

    /// Sets a subfield, where the value can come from it.
    fn subfield(self, code: &str, wanted: &str, draft: Draft, many: bool) -> Option<Draft> {
        let allowed = !self.only || self.prefer.contains(code);
        if allowed { draft.with_subfield(code, wanted, many) } else { None }
    }

    /// One of several codes: a preferred one, `a`, a usual one, or the first.
    pub fn choose(self, codes: &str) -> String {
        let preferred = self.prefer.chars().find(|code| codes.contains(*code));
        let usual = codes.chars().find(|code| *code == 'a');
        let usual = usual.or_else(|| self.order.chars().find(|code| codes.contains(*code)));
        let usual = usual.or_else(|| codes.chars().next());
        preferred.or(usual).unwrap_or('a').to_string()
    }
}

/// Whether an expression takes punctuation off a text.
fn is_worded(rule: &Rule, expr: &Expr, depth: usize) -> bool {
    match expr {
        Expr::Call(Function::Isbd, _) => true,
        Expr::Slot(slot) if depth < 4 => {
            bind(rule, *slot).is_some_and(|expr| is_worded(rule, expr, depth + 1))
        }
        _ => false,
    }
}

fn has_code(expr: &Expr) -> bool {
    let mut found = false;
    crate::concordance::visit(expr, &mut |part| found |= matches!(part, Expr::Code { .. }));
    found
}

/// A control field that stands beside this one: 003 beside 001.
fn beside(path: &crate::concordance::program::FieldPath, wanted: &str, mut draft: Draft) -> Option<Draft> {
    let [way] = path.selector.alternatives.as_slice() else { return None };
    let tag = way.tag.exact().filter(|tag| tag.starts_with("00"))?;
    if way.positions.is_some() || wanted.is_empty() {
        return None;
    }
    draft.beside.push((tag, wanted.to_owned()));
    Some(draft)
}

/// The text of a constant.
pub fn constant(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Text(text) | Expr::Iri(text) => Some(text.clone()),
        Expr::Integer(number) => Some(number.to_string()),
        Expr::Call(Function::Str, arguments) => constant(arguments.first()?),
        _ => None,
    }
}

fn constant_of(expr: Option<&Expr>) -> Option<String> {
    expr.and_then(constant)
}

pub fn bounded(mut drafts: Vec<Draft>) -> Vec<Draft> {
    drafts.dedup();
    drafts.truncate(MOST_DRAFTS);
    drafts
}

fn given_is(given: Given, wanted: &str, mut draft: Draft) -> Option<Draft> {
    match given {
        Given::Tag => (draft.tag == wanted).then_some(draft),
        Given::Ind1 => draft.with_indicator(0, wanted),
        Given::Ind2 => draft.with_indicator(1, wanted),
        Given::Code => {
            let same = draft.code.as_deref().is_none_or(|code| code == wanted);
            draft.code = Some(wanted.to_owned());
            same.then_some(draft)
        }
        Given::Value => {
            let same = draft.value.as_deref().is_none_or(|value| value == wanted);
            draft.value = Some(wanted.to_owned());
            same.then_some(draft)
        }
        Given::Text if !draft.range.is_empty() => {
            let length = draft.range.len();
            let fits = wanted.chars().count() <= length;
            let start = draft.range.start;
            // A number fills its positions from the left.
            if wanted.bytes().all(|byte| byte.is_ascii_digit()) {
                return draft.with_positions(start, &format!("{wanted:0>length$}")).filter(|_| fits);
            }
            draft.with_positions(start, wanted).filter(|_| fits)
        }
        Given::Text => {
            let same = draft.text.as_deref().is_none_or(|text| text == wanted);
            draft.text = Some(wanted.to_owned());
            same.then_some(draft)
        }
        Given::Record | Given::Hub | Given::Work | Given::Instance | Given::Item => Some(draft),
        Given::Outer | Given::Number => None,
    }
}
