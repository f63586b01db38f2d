//! SPARQL's comparisons and sums.

use super::value::Value;
use crate::concordance::program::{Arithmetic, Compare};

pub fn compare(how: Compare, a: &Value<'_>, b: &Value<'_>) -> Option<bool> {
    let ordering = if let (Some(a), Some(b)) = (a.number(), b.number()) {
        a.partial_cmp(&b)?
    } else {
        match (a, b) {
            (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::Iri(_), _) | (_, Value::Iri(_)) | (Value::Tagged(..), _) | (_, Value::Tagged(..)) => {
                return (how == Compare::Equal).then(|| a == b);
            }
            (Value::Typed(a, s), Value::Typed(b, t)) if s == t => a.cmp(b),
            // A number and a text are different, and have no order.
            _ => return if how == Compare::Equal { Some(false) } else { None },
        }
    };
    Some(match how {
        Compare::Equal => ordering.is_eq(),
        Compare::Less => ordering.is_lt(),
        Compare::LessOrEqual => ordering.is_le(),
        Compare::Greater => ordering.is_gt(),
        Compare::GreaterOrEqual => ordering.is_ge(),
    })
}

pub fn arithmetic<'a>(how: Arithmetic, a: &Value<'_>, b: &Value<'_>) -> Option<Value<'a>> {
    if let (Value::Integer(a), Value::Integer(b)) = (a, b) {
        return match how {
            Arithmetic::Add => a.checked_add(*b).map(Value::Integer),
            Arithmetic::Subtract => a.checked_sub(*b).map(Value::Integer),
            Arithmetic::Multiply => a.checked_mul(*b).map(Value::Integer),
            Arithmetic::Divide if *b == 0 => None,
            Arithmetic::Divide => Some(Value::Number(*a as f64 / *b as f64)),
        };
    }
    let (a, b) = (a.number()?, b.number()?);
    Some(Value::Number(match how {
        Arithmetic::Add => a + b,
        Arithmetic::Subtract => a - b,
        Arithmetic::Multiply => a * b,
        Arithmetic::Divide if b == 0.0 => return None,
        Arithmetic::Divide => a / b,
    }))
}
