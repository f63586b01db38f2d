//! From SPARQL's algebra to [`Expr`]: variables become slots and subfields, calls are checked.

use super::codes::CodeList;
use super::file::Text;
use super::fragment::FUNCTIONS;
use super::lex::{self, Kind};
use super::problem::Problem;
use super::program::{Arithmetic, Codes, Compare, ElementPath, Expr, FieldPath, Function, Given, List};
use super::quoted;
use super::selector::{Alternative, Key, Selector, Tag, parse_positions};
use crate::diagnostic::Code;
use crate::ontology::xsd;
use spargebra::algebra::{Expression, Function as Sparql};

/// Functions that look at the record and not only at values; their names, for hints.
pub const SPECIAL: [&str; 15] = [
    ":all",
    ":every",
    ":pick",
    ":value",
    ":has",
    ":at",
    ":chunks",
    ":split",
    ":code",
    ":node",
    ":record",
    ":path",
    ":material",
    ":language",
    ":if",
];

/// What an expression may name.
pub struct Scope<'a> {
    /// Names of slots; the position is the slot.
    pub names: &'a [String],
    /// Attributes may be variables of any name.
    pub attributes: bool,
    pub lists: &'a [CodeList],
    /// The `each` of the rule binds `$code`, `$value`, `$n`.
    pub each: bool,
}

/// Compiles the expressions of one rule.
pub struct Compiler<'a, 'p> {
    pub scope: Scope<'a>,
    pub text: &'a Text,
    pub problems: &'p mut Vec<Problem>,
    /// Code lists met.
    pub lists: Vec<usize>,
}

impl Compiler<'_, '_> {
    pub fn compile(&mut self, expression: &Expression) -> Option<Expr> {
        let boxed = |this: &mut Self, e: &Expression| this.compile(e).map(Box::new);
        Some(match expression {
            Expression::NamedNode(node) => Expr::Iri(node.as_str().to_owned()),
            Expression::Literal(literal) => literal_expr(literal),
            Expression::Variable(variable) => self.variable(variable.as_str())?,
            Expression::Or(a, b) => Expr::Or(boxed(self, a)?, boxed(self, b)?),
            Expression::And(a, b) => Expr::And(boxed(self, a)?, boxed(self, b)?),
            Expression::Not(a) => Expr::Not(boxed(self, a)?),
            Expression::Equal(a, b) | Expression::SameTerm(a, b) => self.compare(Compare::Equal, a, b)?,
            Expression::Less(a, b) => self.compare(Compare::Less, a, b)?,
            Expression::LessOrEqual(a, b) => self.compare(Compare::LessOrEqual, a, b)?,
            Expression::Greater(a, b) => self.compare(Compare::Greater, a, b)?,
            Expression::GreaterOrEqual(a, b) => self.compare(Compare::GreaterOrEqual, a, b)?,
            Expression::In(a, list) => {
                let a = boxed(self, a)?;
                Expr::In(a, self.all(list)?)
            }
            Expression::Add(a, b) => Expr::Arithmetic(Arithmetic::Add, boxed(self, a)?, boxed(self, b)?),
            Expression::Subtract(a, b) => {
                Expr::Arithmetic(Arithmetic::Subtract, boxed(self, a)?, boxed(self, b)?)
            }
            Expression::Multiply(a, b) => {
                Expr::Arithmetic(Arithmetic::Multiply, boxed(self, a)?, boxed(self, b)?)
            }
            Expression::Divide(a, b) => {
                Expr::Arithmetic(Arithmetic::Divide, boxed(self, a)?, boxed(self, b)?)
            }
            Expression::UnaryPlus(a) => self.compile(a)?,
            Expression::UnaryMinus(a) => Expr::Negate(boxed(self, a)?),
            Expression::Bound(variable) => Expr::Bound(Box::new(self.variable(variable.as_str())?)),
            Expression::If(a, b, c) => Expr::If(boxed(self, a)?, boxed(self, b)?, boxed(self, c)?),
            Expression::Coalesce(list) => Expr::Coalesce(self.all(list)?),
            Expression::Exists(_) => {
                self.refuse("EXISTS asks a graph, and a rule has none");
                return None;
            }
            Expression::FunctionCall(function, arguments) => self.call(function, arguments)?,
        })
    }

    fn all(&mut self, list: &[Expression]) -> Option<Vec<Expr>> {
        list.iter().map(|expression| self.compile(expression)).collect()
    }

    fn compare(&mut self, how: Compare, a: &Expression, b: &Expression) -> Option<Expr> {
        let (left, right) = (self.compile(a)?, self.compile(b)?);
        let is_text =
            |e: &Expr| matches!(e, Expr::Subfield(_) | Expr::Given(Given::Ind1 | Given::Ind2 | Given::Tag));
        let is_number = |e: &Expr| matches!(e, Expr::Integer(_) | Expr::Number(_));
        if is_text(&left) && is_number(&right) || is_text(&right) && is_number(&left) {
            self.refuse("a subfield or indicator is a text; compared with a number it is never equal");
        }
        Some(Expr::Compare(how, Box::new(left), Box::new(right)))
    }

    fn variable(&mut self, name: &str) -> Option<Expr> {
        if let Some(slot) = self.scope.names.iter().position(|known| known == name) {
            return Some(Expr::Slot(slot));
        }
        match Given::from_name(name) {
            Some(Given::Code | Given::Value | Given::Number) if !self.scope.each => {}
            Some(given) => return Some(Expr::Given(given)),
            None => {}
        }
        let mut chars = name.chars();
        match (chars.next(), chars.next()) {
            (Some(_), None) => Some(Expr::Subfield(name.to_owned())),
            _ if self.scope.attributes => Some(Expr::Attribute(name.to_owned())),
            _ => {
                let known = self.scope.names.iter().map(String::as_str);
                let given = Given::ALL.iter().map(|(name, _)| *name);
                let near: Vec<String> =
                    super::near(name, known.chain(given)).iter().map(|name| format!("${name}")).collect();
                let message = format!("nothing binds `${name}`");
                let problem = Problem::new(Code::UnboundVariable, self.find(Kind::Variable, name), message);
                let problem = problem.label("neither a subfield, a bind, nor given");
                self.problems.push(match Given::from_name(name) {
                    Some(_) => problem.hint("only a rule with `each = \"…\"` binds it"),
                    None => problem.near(&near),
                });
                None
            }
        }
    }

    /// Where a variable or name of this text stands first.
    fn find(&self, kind: Kind, name: &str) -> std::ops::Range<usize> {
        let found = lex::tokens(&self.text.value).into_iter().find(|token| {
            let word = self.text.value.get(token.at.clone()).unwrap_or_default();
            token.kind == kind && word.trim_start_matches(['$', '?']) == name
        });
        found.map_or_else(|| self.text.at.clone(), |token| self.text.part(token.at))
    }

    fn refuse(&mut self, message: impl Into<String>) {
        self.problems.push(Problem::new(Code::ExpressionSyntax, self.text.at.clone(), message));
    }

    fn refuse_call(&mut self, name: &str, message: impl Into<String>) {
        let at = self.find(Kind::Name, name);
        self.problems.push(Problem::new(Code::ExpressionSyntax, at, message));
    }

    fn call(&mut self, function: &Sparql, arguments: &[Expression]) -> Option<Expr> {
        let name = match function {
            Sparql::Custom(iri) => match iri.as_str().strip_prefix(FUNCTIONS) {
                Some(name) => return self.ours(&format!(":{name}"), arguments),
                None if iri.as_ref() == xsd::INTEGER => "xsd:integer".to_owned(),
                None if iri.as_ref() == xsd::STRING => "xsd:string".to_owned(),
                None => {
                    self.refuse(format!("`{iri}` is no function of rules"));
                    return None;
                }
            },
            Sparql::Regex => return self.regex(arguments),
            Sparql::Replace => return self.replace(arguments),
            other => other.to_string(),
        };
        let known = Function::ALL.iter().find(|(known, ..)| known.eq_ignore_ascii_case(&name));
        let Some((_, function, ..)) = known else {
            self.refuse(format!("`{name}` is not among the functions of rules"));
            return None;
        };
        Some(Expr::Call(*function, self.all(arguments)?))
    }

    fn ours(&mut self, name: &str, arguments: &[Expression]) -> Option<Expr> {
        let constant = |this: &mut Self, index: usize| -> Option<String> {
            match arguments.get(index) {
                Some(Expression::Literal(literal)) => Some(literal.value().to_owned()),
                _ => {
                    let nth = ["first", "second", "third"].get(index).unwrap_or(&"next");
                    this.refuse_call(name, format!("`{name}` takes a constant as {nth} argument"));
                    None
                }
            }
        };
        let count = |this: &mut Self, least: usize, most: usize| {
            let found = arguments.len();
            if (least..=most).contains(&found) {
                return Some(());
            }
            let expected = if least == most { least.to_string() } else { format!("{least} to {most}") };
            this.refuse_call(name, format!("`{name}` takes {expected} arguments, found {found}"));
            None
        };
        Some(match name {
            ":all" => {
                count(self, 1, 2)?;
                let codes = Codes::parse(&constant(self, 0)?);
                let separator = if arguments.len() > 1 { constant(self, 1)? } else { " ".to_owned() };
                Expr::All(codes, separator)
            }
            ":every" | ":chunks" | ":split" => Expr::First(Box::new(self.ours_list(name, arguments)?)),
            ":pick" => {
                count(self, 2, 2)?;
                let codes = Codes::parse(&constant(self, 0)?);
                let pattern = constant(self, 1)?;
                Expr::Pick(codes, self.pattern(&pattern, "")?)
            }
            ":value" => {
                count(self, 1, 2)?;
                let path = constant(self, 0)?;
                let path = self.field_path(name, &path)?;
                let separator = if arguments.len() > 1 { Some(constant(self, 1)?) } else { None };
                Expr::Value(path, separator)
            }
            ":has" => {
                count(self, 1, 1)?;
                let path = constant(self, 0)?;
                Expr::Has(self.field_path(name, &path)?)
            }
            ":at" => {
                count(self, 1, 2)?;
                let from = constant(self, 0)?;
                let to = if arguments.len() > 1 { constant(self, 1)? } else { from.clone() };
                match parse_positions(&format!("{from}-{to}")) {
                    Ok(range) => Expr::At(range),
                    Err(message) => {
                        self.refuse_call(name, message);
                        return None;
                    }
                }
            }
            ":code" => {
                count(self, 2, 3)?;
                let list = constant(self, 0)?;
                let column = if arguments.len() > 2 { Some(constant(self, 2)?) } else { None };
                let code = Box::new(self.compile(arguments.get(1)?)?);
                let (list, column) = self.list(&list, column.as_deref())?;
                Expr::Code { list, column, code }
            }
            ":language" => {
                count(self, 1, 1)?;
                let code = Box::new(self.compile(arguments.first()?)?);
                let (list, column) = self.list("languages", Some("tag"))?;
                Expr::Code { list, column, code }
            }
            ":tagged" => {
                count(self, 2, 2)?;
                let text = self.compile(arguments.first()?)?;
                let code = Box::new(self.compile(arguments.get(1)?)?);
                let (list, column) = self.list("languages", Some("tag"))?;
                Expr::Call(Function::Tagged, vec![text, Expr::Code { list, column, code }])
            }
            ":node" => {
                count(self, 1, 2)?;
                let node = constant(self, 0)?;
                let of_record = match arguments.len() {
                    1 => false,
                    _ => match constant(self, 1)?.as_str() {
                        "record" => true,
                        other => {
                            self.refuse_call(name, format!("`{other}` is not `record`"));
                            return None;
                        }
                    },
                };
                if node.is_empty() || !node.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
                    self.refuse_call(name, "the name of a node has letters, digits and `-`");
                    return None;
                }
                Expr::Node { name: node, of_record }
            }
            ":record" => {
                count(self, 1, 1)?;
                Expr::RecordIri(Box::new(self.compile(arguments.first()?)?))
            }
            ":path" if arguments.len() == 2 => {
                let separator = constant(self, 1)?;
                let list = self.ours_list(name, arguments.get(..1)?)?;
                Expr::Joined(Box::new(list), separator)
            }
            ":path" => Expr::First(Box::new(self.ours_list(name, arguments)?)),
            ":if" => {
                count(self, 2, 2)?;
                let condition = Box::new(self.compile(arguments.first()?)?);
                let value = Box::new(self.compile(arguments.get(1)?)?);
                Expr::If(condition, value, Box::new(Expr::Nothing))
            }
            ":material" => {
                count(self, 0, 0)?;
                Expr::Material
            }
            _ => {
                let Some((_, function, least, most)) =
                    Function::ALL.iter().find(|(known, ..)| *known == name)
                else {
                    let known =
                        Function::ALL.iter().map(|(known, ..)| *known).filter(|known| known.starts_with(':'));
                    let near = super::near(name, known.chain(SPECIAL));
                    let at = self.find(Kind::Name, name);
                    let problem =
                        Problem::new(Code::UnknownFunction, at, format!("there is no function `{name}`"));
                    self.problems.push(problem.near(&near));
                    return None;
                };
                count(self, *least, *most)?;
                Expr::Call(*function, self.all(arguments)?)
            }
        })
    }

    /// A list: what `each` and `values` take.
    pub fn compile_list(&mut self, expression: &Expression) -> Option<List> {
        if let Expression::FunctionCall(Sparql::Custom(iri), arguments) = expression
            && let Some(name) = iri.as_str().strip_prefix(FUNCTIONS)
            && matches!(name, "every" | "chunks" | "split" | "path")
        {
            return self.ours_list(&format!(":{name}"), arguments);
        }
        let mut expr = self.compile(expression)?;
        // One list inside an expression: the expression over each of its members.
        let mut lists = Vec::new();
        take_lists(&mut expr, &mut lists);
        if let Some(list) = lists.pop() {
            if !lists.is_empty() {
                self.refuse("an expression over two lists; which member goes with which?");
                return None;
            }
            return Some(List::Mapped { list: Box::new(list), expr });
        }
        let mut codes = Vec::new();
        subfields(&expr, &mut codes);
        codes.dedup();
        match codes.as_slice() {
            [] => {
                let made_from = slots(&expr);
                Some(List::Single(expr, made_from))
            }
            [code] => Some(List::PerSubfield { code: code.clone(), expr }),
            _ => {
                let named: Vec<String> = codes.iter().map(|code| format!("`${code}`")).collect();
                self.refuse(format!("a list names one subfield, this one {}", named.join(" and ")));
                None
            }
        }
    }

    fn ours_list(&mut self, name: &str, arguments: &[Expression]) -> Option<List> {
        let texts: Option<Vec<&str>> = arguments
            .iter()
            .map(|argument| match argument {
                Expression::Literal(literal) => Some(literal.value()),
                _ => None,
            })
            .collect();
        let list = match (name, texts.as_deref()) {
            (":every", Some([codes])) => Some(List::Every(Codes::parse(codes), None)),
            (":every", Some([codes, pattern])) => {
                Some(List::Every(Codes::parse(codes), Some(self.pattern(pattern, "")?)))
            }
            (":chunks", Some([code, size])) => size
                .parse()
                .ok()
                .filter(|size| *size > 0)
                .map(|size| List::Chunks { code: (*code).to_owned(), size }),
            (":split", Some([code, separator])) if !separator.is_empty() => {
                Some(List::Split { code: (*code).to_owned(), separator: (*separator).to_owned() })
            }
            (":path", Some([path])) => match element_paths(path) {
                Ok(paths) => Some(List::Path(paths)),
                Err(message) => {
                    self.refuse_call(name, message);
                    return None;
                }
            },
            _ => None,
        };
        if list.is_none() {
            let usage = match name {
                ":every" => ":every(\"abc\")",
                ":chunks" => ":chunks(\"a\", 3)",
                ":split" => ":split(\"a\", \" -- \")",
                _ => ":path(\"mods:namePart\")",
            };
            self.refuse_call(name, format!("`{name}` takes constants: `{usage}`"));
        }
        list
    }

    fn list(&mut self, name: &str, column: Option<&str>) -> Option<(usize, usize)> {
        let Some(index) = self.scope.lists.iter().position(|list| list.name == name) else {
            let near = super::near(name, self.scope.lists.iter().map(|list| list.name.as_str()));
            let at = self.find(Kind::Text, &format!("\"{name}\""));
            let problem = Problem::new(Code::UnknownList, at, format!("there is no code list `{name}`"));
            let problem = problem.label(format!("no file mappings/codes/{name}.tsv"));
            self.problems.push(problem.near(&near));
            return None;
        };
        self.lists.push(index);
        let list = self.scope.lists.get(index)?;
        let Some(column) = column else { return Some((index, 1)) };
        match list.column(column) {
            Some(column) => Some((index, column)),
            None => {
                let columns = list.columns.join(", ");
                let message = format!("the list `{name}` has no column `{column}`; it has {columns}");
                let at = self.find(Kind::Text, &format!("\"{column}\""));
                self.problems.push(Problem::new(Code::UnknownList, at, message));
                None
            }
        }
    }

    fn field_path(&mut self, name: &str, path: &str) -> Option<FieldPath> {
        match field_path(path) {
            Ok(path) => Some(path),
            Err(message) => {
                self.refuse_call(name, message);
                None
            }
        }
    }

    fn regex(&mut self, arguments: &[Expression]) -> Option<Expr> {
        let (text, pattern, flags) = match arguments {
            [text, Expression::Literal(pattern)] => (text, pattern.value(), ""),
            [text, Expression::Literal(pattern), Expression::Literal(flags)] => {
                (text, pattern.value(), flags.value())
            }
            _ => {
                self.refuse("the pattern of REGEX is a constant");
                return None;
            }
        };
        let text = self.compile(text)?;
        Some(Expr::Regex(Box::new(text), self.pattern(pattern, flags)?))
    }

    fn replace(&mut self, arguments: &[Expression]) -> Option<Expr> {
        let (text, pattern, by, flags) = match arguments {
            [text, Expression::Literal(pattern), Expression::Literal(by)] => (text, pattern, by, ""),
            [text, Expression::Literal(pattern), Expression::Literal(by), Expression::Literal(flags)] => {
                (text, pattern, by, flags.value())
            }
            _ => {
                self.refuse("pattern and replacement of REPLACE are constants");
                return None;
            }
        };
        let text = self.compile(text)?;
        let pattern = self.pattern(pattern.value(), flags)?;
        Some(Expr::Replace(Box::new(text), pattern, replacement(by.value())))
    }

    /// Patterns take time linear in the text, and their size is limited.
    fn pattern(&mut self, pattern: &str, flags: &str) -> Option<regex::Regex> {
        let flagged = if flags.is_empty() { pattern.to_owned() } else { format!("(?{flags}){pattern}") };
        match regex::RegexBuilder::new(&flagged).size_limit(1 << 20).build() {
            Ok(regex) => Some(regex),
            Err(error) => {
                let reason = error.to_string();
                let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
                let message = format!("`{pattern}` is no regular expression we run: {reason}");
                self.refuse(message);
                None
            }
        }
    }
}

/// `$1` of SPARQL is `${1}` of the regex crate, where `$1a` would name a group `1a`.
fn replacement(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('$') => out.push_str("$$"),
                Some(other) => out.push(other),
                None => out.push('\\'),
            },
            '$' if chars.peek().is_some_and(char::is_ascii_digit) => {
                let digit = chars.next().unwrap_or('0');
                out.push_str("${");
                out.push(digit);
                out.push('}');
            }
            '$' => out.push_str("$$"),
            other => out.push(other),
        }
    }
    out
}

fn literal_expr(literal: &oxrdf::Literal) -> Expr {
    if let Some(language) = literal.language() {
        return Expr::Tagged(literal.value().to_owned(), language.to_owned());
    }
    let value = literal.value();
    let datatype = literal.datatype();
    if datatype == xsd::STRING {
        Expr::Text(value.to_owned())
    } else if datatype == xsd::BOOLEAN {
        Expr::Boolean(value == "true" || value == "1")
    } else if datatype == xsd::INTEGER
        && let Ok(number) = value.parse()
    {
        Expr::Integer(number)
    } else if (datatype == xsd::DECIMAL || datatype == xsd::DOUBLE)
        && let Ok(number) = value.parse()
    {
        Expr::Number(number)
    } else {
        Expr::Typed(value.to_owned(), datatype.as_str().to_owned())
    }
}

/// The subfields an expression reads, each once, in the order met.
pub fn subfields(expr: &Expr, codes: &mut Vec<String>) {
    visit(expr, &mut |expr| {
        if let Expr::Subfield(code) = expr
            && !codes.contains(code)
        {
            codes.push(code.clone());
        }
    });
}

/// The slots an expression reads.
pub fn slots(expr: &Expr) -> Vec<usize> {
    let mut found = Vec::new();
    visit(expr, &mut |expr| {
        if let Expr::Slot(slot) = expr {
            found.push(*slot);
        }
    });
    found
}

/// Every part of an expression, the whole first.
pub fn visit<'e>(expr: &'e Expr, look: &mut impl FnMut(&'e Expr)) {
    look(expr);
    match expr {
        Expr::Or(a, b) | Expr::And(a, b) | Expr::Compare(_, a, b) | Expr::Arithmetic(_, a, b) => {
            visit(a, look);
            visit(b, look);
        }
        Expr::Not(a)
        | Expr::Negate(a)
        | Expr::Bound(a)
        | Expr::Regex(a, _)
        | Expr::Replace(a, ..)
        | Expr::RecordIri(a)
        | Expr::Code { code: a, .. } => visit(a, look),
        Expr::If(a, b, c) => {
            visit(a, look);
            visit(b, look);
            visit(c, look);
        }
        Expr::In(a, list) => {
            visit(a, look);
            list.iter().for_each(|e| visit(e, look));
        }
        Expr::Coalesce(list) | Expr::Call(_, list) => list.iter().for_each(|e| visit(e, look)),
        Expr::First(list) | Expr::Joined(list, _) => visit_list(list, look),
        _ => {}
    }
}

/// Takes the lists out of an expression and leaves the member at hand in their places.
fn take_lists(expr: &mut Expr, found: &mut Vec<List>) {
    if let Expr::First(_) = expr {
        if let Expr::First(list) = std::mem::replace(expr, Expr::Member) {
            found.push(*list);
        }
        return;
    }
    match expr {
        Expr::Or(a, b) | Expr::And(a, b) | Expr::Compare(_, a, b) | Expr::Arithmetic(_, a, b) => {
            take_lists(a, found);
            take_lists(b, found);
        }
        Expr::Not(a)
        | Expr::Negate(a)
        | Expr::Bound(a)
        | Expr::Regex(a, _)
        | Expr::Replace(a, ..)
        | Expr::RecordIri(a)
        | Expr::Code { code: a, .. } => take_lists(a, found),
        Expr::If(a, b, c) => [a, b, c].into_iter().for_each(|e| take_lists(e, found)),
        Expr::In(a, list) => {
            take_lists(a, found);
            list.iter_mut().for_each(|e| take_lists(e, found));
        }
        Expr::Coalesce(list) | Expr::Call(_, list) => list.iter_mut().for_each(|e| take_lists(e, found)),
        _ => {}
    }
}

/// Every expression inside a list.
pub fn visit_list<'e>(list: &'e List, look: &mut impl FnMut(&'e Expr)) {
    match list {
        List::PerSubfield { expr, .. } | List::Single(expr, _) => visit(expr, look),
        List::Mapped { list, expr } => {
            visit_list(list, look);
            visit(expr, look);
        }
        _ => {}
    }
}

/// `240$a`, `100|110$a` (the code holds for all alternatives), `008/35-37`, `264[ind2=1]`.
pub fn field_path(text: &str) -> Result<FieldPath, String> {
    let mut selector = Selector::parse(text).map_err(|error| error.message)?;
    let last: Option<Alternative> = selector.alternatives.last().cloned();
    if let Some(last) = last {
        for alternative in &mut selector.alternatives {
            if alternative.subfield.is_none() && alternative.positions.is_none() {
                alternative.subfield.clone_from(&last.subfield);
            }
        }
    }
    Ok(FieldPath { selector })
}

/// Alternatives, each a path.
fn element_paths(text: &str) -> Result<Vec<ElementPath>, String> {
    let paths = quoted::split(text, '|').into_iter();
    paths.map(|at| element_path(text.get(at).unwrap_or_default().trim())).collect()
}

fn element_path(text: &str) -> Result<ElementPath, String> {
    let mut steps = Vec::new();
    let mut attribute = None;
    for at in quoted::split(text, '/') {
        let step = text.get(at).unwrap_or_default();
        if let Some(name) = step.strip_prefix('@') {
            attribute = Some(name.to_owned());
            continue;
        }
        let parsed = Selector::parse(step).map_err(|error| error.message)?;
        let Some(alternative) = parsed.alternatives.into_iter().next() else { continue };
        let name = match alternative.tag {
            Tag::Path(path) => path.join("/"),
            tag => tag.notation(),
        };
        for condition in &alternative.conditions {
            if !matches!(condition.key, Key::Subfield(_)) {
                return Err("an element has attributes, no indicators".to_owned());
            }
        }
        steps.push((name, alternative.conditions));
    }
    Ok(ElementPath { steps, attribute })
}
