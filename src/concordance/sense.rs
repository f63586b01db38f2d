//! What the vocabularies say of a template that parses: a class in the place of a property, a text
//! where the property leads to a thing, a text in the place of a subject. These are warnings:
//! the vocabulary may be stricter than the one who writes the rule.

use super::codes::CodeList;
use super::file::Text;
use super::lex::{Kind, Token};
use super::program::{Each, Expr, Function, List, Place, Predicate, Rule, Step};
use crate::diagnostic::{Code, Problem};
use crate::ontology::{Kind as TermKind, Lookup, Ontology, shorten};
use oxrdf::Term;
use std::ops::Range;

/// Looks at the template of a compiled rule.
pub(super) fn check(
    rule: &Rule,
    text: &Text,
    tokens: &[Token],
    lists: &[CodeList],
    ontology: &Ontology,
    problems: &mut Vec<Problem>,
) {
    let place = Places { text, tokens, ontology };
    let texts = texts(rule, lists);
    let is_text = |slot: usize| texts.get(slot).copied().unwrap_or(false);
    let mut told: Vec<String> = Vec::new();
    let mut tell = |at: Range<usize>, message: String, label: &str| {
        if !told.contains(&message) {
            problems.push(Problem::new(Code::MisusedTerm, at, message.clone()).label(label));
            told.push(message);
        }
    };
    for triple in &rule.template.triples {
        if let Place::Slot(slot) = triple.subject
            && is_text(slot)
        {
            let name = rule.names.get(slot).map_or("", String::as_str);
            tell(
                place.subject(name),
                format!("`${name}` is a text; a subject is a thing"),
                "makes no triple",
            );
        }
        let Predicate::Constant(predicate) = &triple.predicate else { continue };
        let Lookup::Defined(term) = ontology.lookup(predicate.as_str()) else { continue };
        let shown = shorten(predicate.as_str()).unwrap_or_else(|| predicate.to_string());
        if term.kind == TermKind::Class {
            let message = format!("`{shown}` is a class, not a property");
            tell(place.term(predicate.as_str()), message, "a property is expected here");
        }
        let said = match &triple.object {
            Place::Constant(Term::Literal(literal)) => literal.to_string(),
            Place::Slot(slot) if is_text(*slot) => {
                format!("${}", rule.names.get(*slot).map_or("", String::as_str))
            }
            Place::Given(given) if !given.is_thing() => "what is given".to_owned(),
            _ => continue,
        };
        if term.kind == TermKind::ObjectProperty {
            let message = format!("`{shown}` leads to a thing, and `{said}` is a text");
            let label = "make a node of it, `[ … ]`, or an IRI";
            tell(place.term(predicate.as_str()), message, label);
        }
    }
}

/// Finds words of a template.
struct Places<'a> {
    text: &'a Text,
    tokens: &'a [Token],
    ontology: &'a Ontology,
}

impl Places<'_> {
    fn find(&self, is_meant: impl Fn(&Token, &str) -> bool) -> Range<usize> {
        let found = self.tokens.iter().find(|token| {
            let word = self.text.value.get(token.at.clone()).unwrap_or_default();
            is_meant(token, word)
        });
        found.map_or_else(|| self.text.at.clone(), |token| self.text.part(token.at.clone()))
    }

    /// A variable where a triple begins.
    fn subject(&self, name: &str) -> Range<usize> {
        let word = |token: &Token| self.text.value.get(token.at.clone()).unwrap_or_default();
        let begins = |index: usize| match index.checked_sub(1).and_then(|before| self.tokens.get(before)) {
            Some(before) => word(before) == ".",
            None => true,
        };
        let found = self.tokens.iter().enumerate().find(|(index, token)| {
            token.kind == Kind::Variable && word(token).get(1..) == Some(name) && begins(*index)
        });
        found.map_or_else(|| self.text.at.clone(), |(_, token)| self.text.part(token.at.clone()))
    }

    fn term(&self, iri: &str) -> Range<usize> {
        self.find(|token, word| match token.kind {
            Kind::Name => self.ontology.prefixes().expand(word).is_some_and(|found| found.as_str() == iri),
            Kind::Iri => word.trim_matches(['<', '>']) == iri,
            _ => false,
        })
    }
}

/// For each slot, whether it holds a text whenever it holds anything.
fn texts(rule: &Rule, lists: &[CodeList]) -> Vec<bool> {
    let mut texts = vec![false; rule.slots];
    if let Some(Each::List { slot, list }) = &rule.each
        && let Some(text) = texts.get_mut(*slot)
    {
        *text = is_list_of_texts(list, &[], lists);
    }
    for step in &rule.steps {
        let (slot, is) = match step {
            Step::Bind { slot, expr, .. } => (*slot, is_text(expr, &texts, lists)),
            Step::Values { slot, list, .. } => (*slot, is_list_of_texts(list, &texts, lists)),
        };
        if let Some(text) = texts.get_mut(slot) {
            *text = is;
        }
    }
    texts
}

fn is_list_of_texts(list: &List, texts: &[bool], lists: &[CodeList]) -> bool {
    match list {
        List::Every(..) | List::Chunks { .. } | List::Split { .. } | List::Path(_) => true,
        List::Mapped { expr, .. } | List::PerSubfield { expr, .. } | List::Single(expr, _) => {
            is_text(expr, texts, lists)
        }
    }
}

fn is_text(expr: &Expr, texts: &[bool], lists: &[CodeList]) -> bool {
    let all = |exprs: &[Expr]| exprs.iter().all(|expr| is_text(expr, texts, lists));
    match expr {
        Expr::Text(_)
        | Expr::Tagged(..)
        | Expr::Typed(..)
        | Expr::Integer(_)
        | Expr::Number(_)
        | Expr::Boolean(_)
        | Expr::Subfield(_)
        | Expr::Attribute(_)
        | Expr::All(..)
        | Expr::Pick(..)
        | Expr::Value(..)
        | Expr::At(_)
        | Expr::Material
        | Expr::Member
        | Expr::Joined(..)
        | Expr::Replace(..) => true,
        Expr::Given(given) => !given.is_thing(),
        Expr::Slot(slot) => texts.get(*slot).copied().unwrap_or(false),
        Expr::If(_, yes, no) => {
            let nothing = |expr: &Expr| matches!(expr, Expr::Nothing);
            (nothing(yes) || is_text(yes, texts, lists)) && (nothing(no) || is_text(no, texts, lists))
        }
        Expr::Coalesce(list) => all(list),
        // A list that keeps what it does not know may give a text beside its IRIs.
        Expr::Code { list, column, .. } => lists.get(*list).is_some_and(|list| !list.is_iri(*column)),
        Expr::Call(function, _) => {
            !matches!(function, Function::Iri | Function::CheckedIri | Function::Datatype)
        }
        Expr::First(list) => is_list_of_texts(list, texts, lists),
        _ => false,
    }
}
