//! Which subfields an expression cannot do without.
//!
//! Most subfields that rules ask for are not in the field at hand. A step that needs one of some
//! codes is passed over when the field has none of them, which one look at a set of bits tells.
//! Only what fails before it could say anything about the record counts: an expression that
//! might report an unknown code is evaluated as ever.

use super::expression::visit;
use super::program::{Expr, Function, List};

/// Subfield codes, a bit for each that is one character of ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CodeSet(pub u128);

impl CodeSet {
    pub const NONE: Self = Self(0);
    /// As a need, none at all; as what a field has, whatever is needed.
    pub const ANY: Self = Self(u128::MAX);

    pub fn of(code: &str) -> Self {
        match code.as_bytes() {
            [byte @ 0..128] => Self(1 << byte),
            _ => Self::ANY,
        }
    }

    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a field with these codes has what is needed; a field may have none.
    pub fn is_met_by(self, codes: Self) -> bool {
        self == Self::ANY || self.0 & codes.0 != 0
    }
}

/// The codes of which a field must have one for the expression to be bound. `slots` has the
/// same for the slots filled before.
pub fn needed(expr: &Expr, slots: &[CodeSet]) -> CodeSet {
    match expr {
        Expr::Subfield(code) => CodeSet::of(code),
        Expr::All(codes, _) | Expr::Pick(codes, _) => codes.ascii(),
        Expr::Slot(slot) => slots.get(*slot).copied().unwrap_or(CodeSet::ANY),
        Expr::Code { code: inner, .. }
        | Expr::RecordIri(inner)
        | Expr::Negate(inner)
        | Expr::In(inner, _)
        | Expr::Arithmetic(_, inner, _)
        | Expr::Regex(inner, _)
        | Expr::Replace(inner, ..) => needed(inner, slots),
        Expr::Coalesce(list) => any_of(list, slots),
        Expr::If(condition, then, otherwise) if is_silent(condition) => {
            needed(then, slots).or(needed(otherwise, slots))
        }
        // Keys and dates may lack a part.
        Expr::Call(Function::WorkKey | Function::InstanceKey | Function::Edtf, _) => CodeSet::ANY,
        Expr::Call(Function::Join, arguments) => match arguments.as_slice() {
            [Expr::Text(_), rest @ ..] => any_of(rest, slots),
            _ => CodeSet::ANY,
        },
        // Arguments are evaluated in their order, and none may be missing.
        Expr::Call(_, arguments) => {
            let first = arguments.iter().find(|argument| !matches!(argument, Expr::Text(_) | Expr::Iri(_)));
            first.map_or(CodeSet::ANY, |first| needed(first, slots))
        }
        Expr::First(list) | Expr::Joined(list, _) => needed_by_list(list, slots),
        Expr::Nothing => CodeSet::NONE,
        _ => CodeSet::ANY,
    }
}

/// The codes of which a field must have one for the list to have members.
pub fn needed_by_list(list: &List, slots: &[CodeSet]) -> CodeSet {
    match list {
        List::Every(codes, _) => codes.ascii(),
        List::Chunks { code, .. } | List::Split { code, .. } | List::PerSubfield { code, .. } => {
            CodeSet::of(code)
        }
        List::Mapped { list, .. } => needed_by_list(list, slots),
        List::Single(expr, _) => needed(expr, slots),
        List::Path(_) => CodeSet::ANY,
    }
}

fn any_of(list: &[Expr], slots: &[CodeSet]) -> CodeSet {
    list.iter().fold(CodeSet::NONE, |codes, expr| codes.or(needed(expr, slots)))
}

/// Whether evaluating it leaves no trace but its value.
fn is_silent(expr: &Expr) -> bool {
    let mut silent = true;
    visit(expr, &mut |part| {
        silent &= !matches!(part, Expr::Code { .. } | Expr::Call(Function::CheckedIri, _));
    });
    silent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subfield(code: &str) -> Expr {
        Expr::Subfield(code.to_owned())
    }

    fn needs(expr: &Expr, codes: &str) {
        let wanted = codes.bytes().fold(0, |bits, byte| bits | 1 << byte);
        assert_eq!(needed(expr, &[CodeSet::of("z")]), CodeSet(wanted), "{expr:?}");
    }

    #[test]
    fn a_function_needs_its_first_argument_that_is_no_constant() {
        needs(&Expr::Call(Function::Isbd, vec![subfield("a")]), "a");
        needs(&Expr::Call(Function::Concat, vec![Expr::Text("(".into()), subfield("b"), subfield("c")]), "b");
        needs(&Expr::Call(Function::Isbd, vec![Expr::Slot(0)]), "z");
    }

    #[test]
    fn one_of_several_is_enough_where_others_may_be_missing() {
        needs(&Expr::Coalesce(vec![subfield("a"), subfield("b")]), "ab");
        let join = Expr::Call(Function::Join, vec![Expr::Text(" ".into()), subfield("a"), subfield("n")]);
        needs(&join, "an");
    }

    #[test]
    fn what_may_be_bound_without_a_subfield_needs_none() {
        let bound = Expr::Bound(Box::new(subfield("a")));
        assert_eq!(needed(&bound, &[]), CodeSet::ANY);
        let with_constant = Expr::Coalesce(vec![subfield("a"), Expr::Text("none".into())]);
        assert_eq!(needed(&with_constant, &[]), CodeSet::ANY);
        let key = Expr::Call(Function::WorkKey, vec![subfield("a")]);
        assert_eq!(needed(&key, &[]), CodeSet::ANY);
    }

    #[test]
    fn a_field_without_subfields_meets_no_need_but_none() {
        assert!(CodeSet::ANY.is_met_by(CodeSet::NONE));
        assert!(!CodeSet::of("a").is_met_by(CodeSet::NONE));
        assert!(CodeSet::of("a").is_met_by(CodeSet::ANY));
        assert!(CodeSet::of("a").or(CodeSet::of("b")).is_met_by(CodeSet::of("b")));
    }

    #[test]
    fn a_condition_that_may_report_a_code_is_evaluated() {
        let code = Expr::Code { list: 0, column: 1, code: Box::new(subfield("e")) };
        let choice =
            Expr::If(Box::new(Expr::Bound(Box::new(code))), Box::new(subfield("a")), Box::new(subfield("b")));
        assert_eq!(needed(&choice, &[]), CodeSet::ANY);
    }
}
