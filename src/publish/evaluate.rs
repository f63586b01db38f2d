//! `reverse.CODE = 'EXPRESSION'`: a subfield from the values of a template's variables.
//!
//! The way back needs few words: a constant, a variable, and texts put together, cut or looked
//! up. An expression that gives nothing keeps the rule from being used backwards; an empty text
//! leaves its subfield out.

use crate::concordance::codes::CodeList;
use crate::concordance::program::{Expr, Function};

/// The text an expression gives; `slot` knows the values of variables.
pub fn evaluate(expr: &Expr, lists: &[CodeList], slot: &dyn Fn(usize) -> Option<String>) -> Option<String> {
    let of = |expr: &Expr| evaluate(expr, lists, slot);
    match expr {
        Expr::Text(text) | Expr::Iri(text) => Some(text.clone()),
        Expr::Slot(number) => slot(*number),
        Expr::Coalesce(list) => list.iter().find_map(of),
        Expr::If(condition, yes, no) => {
            let holds = match condition.as_ref() {
                Expr::Regex(inner, pattern) => pattern.is_match(&of(inner)?),
                Expr::Bound(inner) => of(inner).is_some(),
                _ => return None,
            };
            of(if holds { yes } else { no })
        }
        Expr::Replace(inner, pattern, by) => Some(pattern.replace_all(&of(inner)?, by.as_str()).into_owned()),
        Expr::Code { list, column, code } => lists.get(*list)?.get(&of(code)?, *column).map(str::to_owned),
        Expr::Call(function, arguments) => {
            let texts: Option<Vec<String>> = arguments.iter().map(of).collect();
            let texts = texts?;
            let first = texts.first().cloned().unwrap_or_default();
            match function {
                Function::Concat => Some(texts.concat()),
                Function::Str | Function::XsdString => Some(first),
                Function::UCase => Some(first.to_uppercase()),
                Function::LCase => Some(first.to_lowercase()),
                Function::StrAfter => {
                    first.split_once(texts.get(1)?.as_str()).map(|(_, after)| after.to_owned())
                }
                Function::StrBefore => {
                    first.split_once(texts.get(1)?.as_str()).map(|(before, _)| before.to_owned())
                }
                _ => None,
            }
        }
        _ => None,
    }
}
