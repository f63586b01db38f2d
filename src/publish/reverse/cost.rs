//! How far a variable is from the subfields it was made of, and which these are.

use super::Prepared;
use crate::concordance::program::{Expr, Function, List, Rule};
use crate::publish::pattern::{Offer, bind, values};

pub(super) fn cost_of(prepared: &Prepared<'_>, offer: &Offer) -> usize {
    offer.slots.iter().filter_map(|slot| prepared.costs.get(*slot)).min().copied().unwrap_or(9)
}

/// How far a variable is from a subfield: 0 for a value as it stands, 2 for texts joined from
/// several, 3 for what needs another value, 4 for what is only derived.
pub(super) fn cost(rule: &Rule, slot: usize) -> usize {
    let mut most = 0;
    if let Some(expr) = bind(rule, slot) {
        cost_of_expr(rule, expr, &mut most, 0);
    }
    if let Some(list) = values(rule, slot) {
        cost_of_list(rule, list, &mut most, 0);
    }
    most
}

pub(super) fn cost_of_expr(rule: &Rule, expr: &Expr, most: &mut usize, depth: usize) {
    if depth > 8 {
        return;
    }
    crate::concordance::visit(expr, &mut |part| {
        let own = match part {
            Expr::All(codes, _) => {
                if codes.codes.len() == 1 {
                    1
                } else {
                    2
                }
            }
            Expr::Call(Function::Join, _) => 2,
            Expr::Call(Function::Nonfiling | Function::Sorting | Function::Mark | Function::StrAfter, _) => 3,
            Expr::Call(
                Function::Isbn
                | Function::Issn
                | Function::Lccn
                | Function::Oclc
                | Function::Doi
                | Function::Year
                | Function::Language
                | Function::SortKey,
                _,
            )
            | Expr::RecordIri(_) => 4,
            Expr::Slot(slot) => {
                if let Some(expr) = bind(rule, *slot) {
                    cost_of_expr(rule, expr, most, depth + 1);
                }
                0
            }
            _ => 0,
        };
        *most = (*most).max(own);
    });
}

pub(super) fn cost_of_list(rule: &Rule, list: &List, most: &mut usize, depth: usize) {
    match list {
        List::Mapped { list, expr } => {
            cost_of_list(rule, list, most, depth + 1);
            cost_of_expr(rule, expr, most, depth + 1);
        }
        List::PerSubfield { expr, .. } | List::Single(expr, _) => cost_of_expr(rule, expr, most, depth + 1),
        List::Every(..) => *most = (*most).max(1),
        _ => {}
    }
}

/// The subfields a variable reads, directly or through others; `*` for any.
pub(super) fn codes_read(rule: &Rule, slot: usize, codes: &mut String, depth: usize) {
    if depth > 8 {
        return;
    }
    let mut look = |expr: &Expr| match expr {
        Expr::Subfield(code) => codes.push_str(code),
        Expr::All(all, _) | Expr::Pick(all, _) => {
            codes.push_str(if all.all { "*" } else { &all.codes });
        }
        Expr::Slot(slot) => codes_read(rule, *slot, codes, depth + 1),
        _ => {}
    };
    if let Some(expr) = bind(rule, slot) {
        crate::concordance::visit(expr, &mut look);
    }
    match values(rule, slot) {
        Some(List::Every(every, _)) => codes.push_str(if every.all { "*" } else { &every.codes }),
        Some(List::Chunks { code, .. } | List::Split { code, .. } | List::PerSubfield { code, .. }) => {
            codes.push_str(code);
        }
        Some(List::Mapped { list, .. }) => {
            if let List::Every(every, _) = list.as_ref() {
                codes.push_str(if every.all { "*" } else { &every.codes });
            }
        }
        _ => {}
    }
}
