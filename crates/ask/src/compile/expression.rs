//! From the expressions of the algebra to those that are computed.

use super::{Compiler, Unsupported};
use crate::expression::{Comparison, Expr, Kind, Pattern, TextFunction};
use crate::regexes::Matcher;
use crate::value::argument;
use oxrdf::Literal;
use oxrdf::vocab::xsd;
use spargebra::algebra::{Expression, Function};
use spargebra::term::NamedNodePattern;
use sparopt::algebra::Expression as Computed;
use std::mem;

impl Compiler<'_> {
    pub(super) fn expression(
        &mut self,
        expression: &Expression,
        graph: Option<&NamedNodePattern>,
    ) -> Result<Expr, Unsupported> {
        let mut of = |expression: &Expression| self.expression(expression, graph);
        Ok(match expression {
            Expression::NamedNode(node) => Expr::Constant(self.constants.id(node.clone())),
            Expression::Literal(literal) => self.literal(literal),
            Expression::Variable(variable) => Expr::Slot(self.variable(variable)),
            Expression::Or(left, right) => Expr::Or(vec![of(left)?, of(right)?]),
            Expression::And(left, right) => Expr::And(vec![of(left)?, of(right)?]),
            Expression::Equal(left, right) => Expr::Equal(Box::new([of(left)?, of(right)?])),
            Expression::SameTerm(left, right) => Expr::SameTerm(Box::new([of(left)?, of(right)?])),
            Expression::Greater(left, right) => {
                Expr::Compare(Comparison::Greater, Box::new([of(left)?, of(right)?]))
            }
            Expression::GreaterOrEqual(left, right) => {
                Expr::Compare(Comparison::GreaterOrEqual, Box::new([of(left)?, of(right)?]))
            }
            Expression::Less(left, right) => {
                Expr::Compare(Comparison::Less, Box::new([of(left)?, of(right)?]))
            }
            Expression::LessOrEqual(left, right) => {
                Expr::Compare(Comparison::LessOrEqual, Box::new([of(left)?, of(right)?]))
            }
            Expression::In(wanted, list) => {
                Expr::In(Box::new(of(wanted)?), list.iter().map(of).collect::<Result<_, _>>()?)
            }
            Expression::Add(left, right) => {
                let [one, two] = operands();
                Expr::Other(Box::new(Computed::Add(one, two)), vec![of(left)?, of(right)?])
            }
            Expression::Subtract(left, right) => {
                let [one, two] = operands();
                Expr::Other(Box::new(Computed::Subtract(one, two)), vec![of(left)?, of(right)?])
            }
            Expression::Multiply(left, right) => {
                let [one, two] = operands();
                Expr::Other(Box::new(Computed::Multiply(one, two)), vec![of(left)?, of(right)?])
            }
            Expression::Divide(left, right) => {
                let [one, two] = operands();
                Expr::Other(Box::new(Computed::Divide(one, two)), vec![of(left)?, of(right)?])
            }
            Expression::UnaryPlus(inner) => {
                let [one, _] = operands();
                Expr::Other(Box::new(Computed::UnaryPlus(one)), vec![of(inner)?])
            }
            Expression::UnaryMinus(inner) => {
                let [one, _] = operands();
                Expr::Other(Box::new(Computed::UnaryMinus(one)), vec![of(inner)?])
            }
            Expression::Not(inner) => Expr::Not(Box::new(of(inner)?)),
            Expression::Bound(variable) => Expr::Bound(self.variable(variable)),
            Expression::If(condition, yes, no) => Expr::If(Box::new([of(condition)?, of(yes)?, of(no)?])),
            Expression::Coalesce(inner) => Expr::Coalesce(inner.iter().map(of).collect::<Result<_, _>>()?),
            Expression::Exists(pattern) => {
                // Blank nodes are those of the group alone, variables those of the row.
                let visible = self.scope.iter().filter(|(key, _)| key.starts_with('?'));
                let visible = visible.map(|(key, slot)| (key.clone(), *slot)).collect();
                let around = mem::replace(&mut self.scope, visible);
                let outermost = self.inside_exists.replace(self.slots);
                let group = self.pattern(pattern, graph);
                self.inside_exists = outermost;
                self.scope = around;
                self.exists.push(group?);
                Expr::Exists(self.exists.len() - 1)
            }
            Expression::FunctionCall(function, arguments) => self.call(function, arguments, graph)?,
        })
    }

    fn literal(&mut self, literal: &Literal) -> Expr {
        let id = self.constants.id(literal.clone());
        match literal.value().parse() {
            // Only a number as spareval would write it is the same term afterwards.
            Ok(number)
                if literal.datatype() == xsd::INTEGER && i64::to_string(&number) == literal.value() =>
            {
                Expr::Integer(number, id)
            }
            _ => Expr::Constant(id),
        }
    }

    fn call(
        &mut self,
        function: &Function,
        arguments: &[Expression],
        graph: Option<&NamedNodePattern>,
    ) -> Result<Expr, Unsupported> {
        let mut compiled = arguments
            .iter()
            .map(|argument| self.expression(argument, graph))
            .collect::<Result<Vec<_>, _>>()?;
        let text = |function| Ok(Expr::Text(function, Vec::new()));
        let made: Result<Expr, Unsupported> = match function {
            Function::Str => text(TextFunction::Str),
            Function::Lang => text(TextFunction::Lang),
            Function::LangMatches => text(TextFunction::LangMatches),
            Function::Datatype => text(TextFunction::Datatype),
            Function::Concat => text(TextFunction::Concat),
            Function::SubStr => text(TextFunction::SubStr),
            Function::StrLen => text(TextFunction::StrLen),
            Function::UCase => text(TextFunction::UCase),
            Function::LCase => text(TextFunction::LCase),
            Function::EncodeForUri => text(TextFunction::EncodeForUri),
            Function::Contains => text(TextFunction::Contains),
            Function::StrStarts => text(TextFunction::StrStarts),
            Function::StrEnds => text(TextFunction::StrEnds),
            Function::StrBefore => text(TextFunction::StrBefore),
            Function::StrAfter => text(TextFunction::StrAfter),
            Function::IsIri | Function::IsBlank | Function::IsLiteral if compiled.len() == 1 => {
                let kind = match function {
                    Function::IsIri => Kind::Iri,
                    Function::IsBlank => Kind::Blank,
                    _ => Kind::Literal,
                };
                return Ok(Expr::Kind(kind, Box::new(compiled.remove(0))));
            }
            Function::Regex if matches!(compiled.len(), 2 | 3) => {
                let pattern = self.regex(&mut compiled, arguments, 2)?;
                return Ok(Expr::Regex(Box::new(compiled.remove(0)), pattern));
            }
            Function::Replace if matches!(compiled.len(), 3 | 4) => {
                let pattern = self.regex(&mut compiled, arguments, 3)?;
                let replacement = Box::new(compiled.remove(1));
                return Ok(Expr::Replace(Box::new(compiled.remove(0)), pattern, replacement));
            }
            Function::Iri if self.has_base => Err("IRI with a base"),
            Function::BNode
            | Function::Rand
            | Function::Now
            | Function::Uuid
            | Function::StrUuid
            | Function::Custom(_) => {
                Err("a function that makes something new every time, or is not of SPARQL")
            }
            _ => Ok(Expr::Other(
                Box::new(Computed::FunctionCall(
                    function.clone(),
                    (0..compiled.len()).map(|number| argument(number).into()).collect(),
                )),
                Vec::new(),
            )),
        };
        Ok(match made? {
            Expr::Text(function, _) => Expr::Text(function, compiled),
            Expr::Other(function, _) => Expr::Other(function, compiled),
            other => other,
        })
    }

    /// Takes the pattern and the flags, which stand at the given place, out of the arguments.
    fn regex(
        &mut self,
        compiled: &mut Vec<Expr>,
        arguments: &[Expression],
        flags_at: usize,
    ) -> Result<Pattern, Unsupported> {
        let flags = (compiled.len() > flags_at).then(|| compiled.remove(flags_at));
        let pattern = compiled.remove(1);
        let plain = |at: usize| match arguments.get(at) {
            Some(Expression::Literal(literal)) if literal.datatype() == xsd::STRING => Some(literal.value()),
            _ => None,
        };
        let fixed_flags = match flags {
            Some(_) => plain(flags_at),
            None => Some(""),
        };
        if let (Some(pattern), Some(flags)) = (plain(1), fixed_flags) {
            return Ok(Pattern::Fixed(Matcher::new(pattern, flags).map(Box::new)));
        }
        let mut known = rustc_hash::FxHashMap::default();
        if let (Expr::Slot(slot), Some(flags)) = (&pattern, fixed_flags) {
            for id in self.columns.get(slot).into_iter().flatten() {
                let term = self.constants.term(*id);
                if let Some(oxrdf::TermRef::Literal(literal)) = term
                    && literal.datatype() == xsd::STRING
                {
                    known.insert(*id, Matcher::new(literal.value(), flags));
                }
            }
        }
        Ok(Pattern::Varying { pattern: Box::new(pattern), flags: flags.map(Box::new), known })
    }
}

/// The variables that stand for two operands.
fn operands() -> [Box<Computed>; 2] {
    [Box::new(argument(0).into()), Box::new(argument(1).into())]
}
