//! Coded dates back from EDTF: what the types of date make of the years is tried.

use super::draft::Draft;
use super::invert::Inverter;
use crate::concordance::program::{Expr, Function};
use crate::concordance::run::{Value, apply_all};

/// Types of date in MARC 21 (008/06) and UNIMARC (100 $a/8), the likeliest first.
const MARC21: &str = "smcqude";
const UNIMARC: &str = "dagbcfj";

/// Drafts with the type and the two dates that give this EDTF.
pub fn coded<'a>(
    inverter: Inverter<'a>,
    function: Function,
    arguments: &'a [Expr],
    wanted: &str,
    draft: Draft,
) -> Vec<Draft> {
    let [kind, first, second] = arguments else { return Vec::new() };
    let (types, unknown) = if function == Function::Edtf { (MARC21, 'u') } else { (UNIMARC, ' ') };
    let mut years: Vec<String> = Vec::new();
    let mut digits = String::new();
    for c in wanted.chars().chain([' ']) {
        match c {
            '0'..='9' => digits.push(c),
            'X' => digits.push(unknown),
            _ => {
                if digits.len() == 4 {
                    years.push(digits.clone());
                }
                digits.clear();
            }
        }
    }
    let year = years.first().cloned().unwrap_or_default();
    let monthly: String = wanted.chars().skip(5).filter(char::is_ascii_digit).collect();
    let mut ends: Vec<String> = years.get(1).cloned().into_iter().collect();
    ends.extend(["    ", "9999", "uuuu"].map(str::to_owned));
    ends.push(format!("{monthly:<4}"));
    for letter in types.chars() {
        for end in &ends {
            let texts = [letter.to_string(), year.clone(), end.clone()];
            let mut values = texts.iter().map(|text| Value::Text(text.as_str().into()));
            let made = apply_all(function, &mut values);
            if made.is_none_or(|made| made.text() != wanted) {
                continue;
            }
            let mut drafts = vec![draft.clone()];
            for (expr, text) in [kind, first, second].into_iter().zip(&texts) {
                drafts =
                    drafts.into_iter().flat_map(|draft| inverter.back(expr, text, draft, false)).collect();
            }
            if !drafts.is_empty() {
                return drafts;
            }
        }
    }
    Vec::new()
}
