//! From a rule as written to a rule that runs.

use super::codes::CodeList;
use super::expression::{Compiler, Scope, slots, visit_list};
use super::file::{EachText, RuleFile, RuleText, Text};
use super::fragment;
use super::lex::{self, Token};
use super::presence::{CodeSet, needed, needed_by_list};
use super::program::{Each, Expr, Given, Ignore, Ignored, List, Rule, Step, Template};
use super::selector::{Selector, parse_positions};
use super::sense;
use super::template::{self, Names};
use crate::diagnostic::{Code, Problem};
use crate::ontology::Ontology;
use crate::record::Model;
use std::borrow::Cow;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// Compiles the rules of a file; what is wrong is reported, and a rule with an error is left
/// out.
pub fn compile(
    name: &str,
    file: &RuleFile,
    lists: &[CodeList],
    ontology: &Ontology,
    problems: &mut Vec<Problem>,
) -> Vec<Rule> {
    let Some(model) = file.model else { return Vec::new() };
    let name: Arc<str> = name.into();
    file.rules
        .iter()
        .filter_map(|rule| {
            let before = problems.len();
            let rule = &*with_shared(rule, file);
            let compiled = RuleCompiler { name: &name, model, rule, lists, ontology, problems }.run();
            let failed = problems
                .get(before..)
                .unwrap_or_default()
                .iter()
                .any(|problem| problem.code.severity() == crate::diagnostic::Severity::Error);
            let mut compiled = compiled.filter(|_| !failed)?;
            compiled.source.clone_from(&file.source);
            Some(compiled)
        })
        .collect()
}

/// A rule with those of the file's own names that it uses, directly or through another.
fn with_shared<'a>(rule: &'a RuleText, file: &RuleFile) -> Cow<'a, RuleText> {
    if file.binds.is_empty() && file.values.is_empty() {
        return Cow::Borrowed(rule);
    }
    let mut rule = rule.clone();
    let mut texts: Vec<String> = Vec::new();
    let own = rule.binds.iter().chain(&rule.values).map(|(_, text)| text);
    let single = [&rule.when, &rule.construct].into_iter().flatten();
    texts.extend(own.chain(single).map(|text| text.value.clone()));
    if let Some(EachText::List(_, text)) = &rule.each {
        texts.push(text.value.clone());
    }
    while let Some(text) = texts.pop() {
        for token in lex::tokens(&text).into_iter().filter(|token| token.kind == lex::Kind::Variable) {
            let name = text.get(token.at.start + 1..token.at.end).unwrap_or_default();
            let known = rule.binds.iter().chain(&rule.values).any(|(known, _)| known.value == name)
                || matches!(&rule.each, Some(EachText::List(known, _)) if known.value == name);
            if known {
                continue;
            }
            for (shared, own) in [(&file.binds, &mut rule.binds), (&file.values, &mut rule.values)] {
                if let Some(found) = shared.iter().find(|(known, _)| known.value == name) {
                    own.push(found.clone());
                    texts.push(found.1.value.clone());
                }
            }
        }
    }
    Cow::Owned(rule)
}

struct RuleCompiler<'a, 'p> {
    name: &'a Arc<str>,
    model: Model,
    rule: &'a RuleText,
    lists: &'a [CodeList],
    ontology: &'a Ontology,
    problems: &'p mut Vec<Problem>,
}

/// A bind or a list before its turn is known.
enum Pending {
    Bind(usize, Expr),
    Values(usize, List),
}

impl RuleCompiler<'_, '_> {
    fn run(mut self) -> Option<Rule> {
        let rule = self.rule;
        self.check_name();
        let selector = match Selector::of_rule(&rule.field.value, self.model) {
            Ok(selector) => Some(selector),
            // That there is no `field` has been reported.
            Err(_) if rule.field.value.trim().is_empty() => None,
            Err(error) => {
                let at = rule.field.part(error.at);
                let mut problem = Problem::new(Code::BadSelector, at, error.message);
                problem.hint = error.hint;
                self.problems.push(problem);
                None
            }
        };
        if let Some(selector) = &selector {
            self.check_subfield(selector);
        }
        // Slots: first what `each`, `values` and `bind` name, then subfields of the template.
        let mut names: Vec<String> = Vec::new();
        let each_name = match &rule.each {
            Some(EachText::List(name, _)) => Some(name),
            _ => None,
        };
        let named = rule.values.iter().chain(&rule.binds).map(|(name, _)| name);
        for name in each_name.into_iter().chain(named) {
            self.check_variable(name, &names);
            names.push(name.value.clone());
        }
        let mut used_lists = Vec::new();
        let each = match &rule.each {
            None => None,
            Some(EachText::Codes(codes)) => Some(Each::Codes(codes.value.clone())),
            Some(EachText::List(_, text)) => {
                self.list(text, &names, &mut used_lists).map(|list| Each::List { slot: 0, list })
            }
        };
        let offset = usize::from(each_name.is_some());
        let mut pending = Vec::new();
        for (index, (_, text)) in rule.values.iter().enumerate() {
            if let Some(list) = self.list(text, &names, &mut used_lists) {
                pending.push(Pending::Values(offset + index, list));
            }
        }
        let offset = offset + rule.values.len();
        let mut nodes = Vec::new();
        for (index, (_, text)) in rule.binds.iter().enumerate() {
            if let Some(expr) = self.expression(text, &names, &mut used_lists) {
                if matches!(expr, Expr::Node { .. }) {
                    nodes.push(offset + index);
                }
                pending.push(Pending::Bind(offset + index, expr));
            }
        }
        let when = rule.when.as_ref().and_then(|text| self.expression(text, &names, &mut used_lists));
        let mut tokens = Vec::new();
        let template = match &rule.construct {
            Some(text) => {
                tokens = fragment::scan(text, self.problems)?;
                self.template(text, &tokens, &mut names, &nodes, &mut pending)?
            }
            None => Template::default(),
        };
        self.check_used(&names, &template, &pending, when.as_ref());
        let steps = self.order(pending, &names)?;
        let reverse = rule
            .reverse
            .iter()
            .filter_map(|(code, text)| {
                Some((code.value.clone(), self.expression(text, &names, &mut used_lists)?))
            })
            .collect();
        let ignore = self.ignore();
        let hash = self.hash(&used_lists);
        let compiled = Rule {
            name: rule.name.value.clone(),
            file: Arc::clone(self.name),
            line: rule.line,
            id: format!("{}#{}", self.name, rule.name.value),
            hash,
            source: None,
            selector: selector?,
            when_first: when.as_ref().is_some_and(|when| slots(when).is_empty()),
            when,
            group: rule.group.as_ref().map(|text| text.value.clone()),
            each,
            steps,
            slots: names.len(),
            template,
            ignore,
            names,
            reverse,
        };
        if let Some(text) = &rule.construct {
            sense::check(&compiled, text, &tokens, self.lists, self.ontology, self.problems);
        }
        Some(compiled)
    }

    fn check_name(&mut self) {
        let name = &self.rule.name;
        let well_formed = name.value.len() >= 2
            && name.value.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.value.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let reserved = ["hub", "work", "instance", "item", "unmapped"].contains(&name.value.as_str());
        if !name.value.is_empty() && (!well_formed || reserved) {
            let message = if reserved {
                format!("`{}` names something else in every record", name.value)
            } else if name.value.chars().count() < 2 {
                format!("`{}` is too short to name a rule; use two characters or more", name.value)
            } else if !name.value.starts_with(|c: char| c.is_ascii_alphabetic()) {
                format!("`{}` cannot name a rule; begin with a letter", name.value)
            } else {
                format!("`{}` cannot name a rule; use letters, digits and `-`", name.value)
            };
            self.problems.push(Problem::new(Code::RuleSyntax, name.at.clone(), message));
        }
    }

    /// `100$a` gives a coded subfield as `$text`, for its positions. Whoever writes `245$a` and
    /// wants neither means the field.
    fn check_subfield(&mut self, selector: &Selector) {
        let rule = self.rule;
        let bare = selector.alternatives.iter().find(|way| way.subfield.is_some() && way.positions.is_none());
        let Some((way, code)) = bare.and_then(|way| Some((way, way.subfield.as_ref()?))) else { return };
        let own = rule.binds.iter().chain(&rule.values).map(|(_, text)| text);
        let list = match &rule.each {
            Some(EachText::List(_, text)) => Some(text),
            _ => None,
        };
        let mut texts = own.chain([&rule.when, &rule.construct].into_iter().flatten()).chain(list);
        let is_coded = |text: &Text| ["$text", "?text", ":at("].iter().any(|word| text.value.contains(word));
        if rule.construct.is_none() || texts.any(is_coded) {
            return;
        }
        let tag = way.tag.notation();
        let message = format!("`{tag}${code}` gives the subfield as `$text`, which the rule does not use");
        let problem = Problem::new(Code::BadSelector, rule.field.at.clone(), message);
        self.problems.push(problem.hint(format!(
            "name the field, `{tag}`, and use `${code}` in the template; `{tag}[{code}]` asks that there is one"
        )));
    }

    fn check_variable(&mut self, name: &Text, names: &[String]) {
        let message = if name.value.chars().count() < 2 {
            format!("`{}` is the name of a subfield; call what you bind by two letters or more", name.value)
        } else if Given::from_name(&name.value).is_some() {
            format!("`{}` is given already; choose another name", name.value)
        } else if names.contains(&name.value) {
            format!("`{}` is bound twice", name.value)
        } else if !name.value.chars().all(|c| c.is_alphanumeric() || c == '_') {
            format!("`{}` is no name of a variable; use letters, digits and `_`", name.value)
        } else {
            return;
        };
        self.problems.push(Problem::new(Code::RuleSyntax, name.at.clone(), message));
    }

    fn compiler<'s>(&'s mut self, text: &'s Text, names: &'s [String]) -> Compiler<'s, 's> {
        let scope = Scope {
            names,
            attributes: !self.model.is_marc(),
            lists: self.lists,
            each: matches!(self.rule.each, Some(EachText::Codes(_))),
        };
        Compiler { scope, text, problems: self.problems, lists: Vec::new() }
    }

    fn expression(&mut self, text: &Text, names: &[String], lists: &mut Vec<usize>) -> Option<Expr> {
        let tokens = fragment::scan(text, self.problems)?;
        let parsed = fragment::expression(text, &tokens, self.problems)?;
        template::check_terms(text, &tokens, self.ontology, self.problems);
        let mut compiler = self.compiler(text, names);
        let expr = compiler.compile(&parsed);
        lists.append(&mut compiler.lists);
        expr
    }

    fn list(&mut self, text: &Text, names: &[String], lists: &mut Vec<usize>) -> Option<List> {
        let tokens = fragment::scan(text, self.problems)?;
        let parsed = fragment::expression(text, &tokens, self.problems)?;
        let mut compiler = self.compiler(text, names);
        let list = compiler.compile_list(&parsed);
        lists.append(&mut compiler.lists);
        list
    }

    /// The template; subfields it names get slots of their own.
    fn template(
        &mut self,
        text: &Text,
        tokens: &[Token],
        names: &mut Vec<String>,
        nodes: &[usize],
        pending: &mut Vec<Pending>,
    ) -> Option<Template> {
        let patterns = fragment::template(text, tokens, self.problems)?;
        template::check_terms(text, tokens, self.ontology, self.problems);
        let mut missing = Vec::new();
        for pattern in &patterns {
            use spargebra::term::{NamedNodePattern, TermPattern};
            let mut look = |name: &str| {
                let thing = Given::from_name(name).is_some_and(Given::is_thing);
                if !thing && !names.iter().any(|known| known == name) && !missing.iter().any(|m| m == name) {
                    missing.push(name.to_owned());
                }
            };
            for term in [&pattern.subject, &pattern.object] {
                if let TermPattern::Variable(variable) = term {
                    look(variable.as_str());
                }
            }
            if let NamedNodePattern::Variable(variable) = &pattern.predicate {
                look(variable.as_str());
            }
        }
        for name in missing {
            let variable =
                spargebra::algebra::Expression::Variable(oxrdf::Variable::new_unchecked(name.as_str()));
            let known = names.clone();
            let Some(expr) = self.compiler(text, &known).compile(&variable) else { continue };
            pending.push(Pending::Bind(names.len(), expr));
            names.push(name);
        }
        let known = names.clone();
        let mut slot = |name: &str| known.iter().position(|known| known == name);
        template::build(&patterns, &mut Names { slot: &mut slot, nodes, text }, self.problems)
    }

    /// Warns of a bind that nothing uses: most often a misspelt name.
    fn check_used(
        &mut self,
        names: &[String],
        template: &Template,
        pending: &[Pending],
        when: Option<&Expr>,
    ) {
        let mut used = vec![false; names.len()];
        let mut mark = |slot: usize| {
            if let Some(used) = used.get_mut(slot) {
                *used = true;
            }
        };
        for step in pending {
            match step {
                Pending::Bind(_, expr) => slots(expr).into_iter().for_each(&mut mark),
                Pending::Values(_, list) => visit_list(list, &mut |expr| {
                    if let Expr::Slot(slot) = expr {
                        mark(*slot);
                    }
                }),
            }
        }
        when.into_iter().flat_map(slots).for_each(&mut mark);
        for triple in &template.triples {
            for place in [&triple.subject, &triple.object] {
                if let super::program::Place::Slot(slot) = place {
                    mark(*slot);
                }
            }
            if let super::program::Predicate::Slot(slot) = &triple.predicate {
                mark(*slot);
            }
        }
        template.nodes.iter().filter_map(|node| node.slot).for_each(&mut mark);
        if self.rule.construct.is_none() {
            return;
        }
        let named = self.rule.values.iter().chain(&self.rule.binds);
        for (name, _) in named {
            let slot = names.iter().position(|known| *known == name.value);
            if slot.is_some_and(|slot| !used.get(slot).copied().unwrap_or(true)) {
                let message = format!("nothing uses `${}`", name.value);
                self.problems.push(Problem::new(Code::UnusedName, name.at.clone(), message));
            }
        }
    }

    /// Each step after what it needs; binds made from a list run along it.
    fn order(&mut self, mut pending: Vec<Pending>, names: &[String]) -> Option<Vec<Step>> {
        let mut steps: Vec<Step> = Vec::new();
        let mut along: Vec<Option<usize>> = vec![None; names.len()];
        let mut known = vec![false; names.len()];
        let mut presence = vec![CodeSet::ANY; names.len()];
        let set = |known: &mut Vec<bool>, slot: usize| {
            if let Some(known) = known.get_mut(slot) {
                *known = true;
            }
        };
        if let Some(EachText::List(..)) = self.rule.each {
            set(&mut known, 0);
        }
        while !pending.is_empty() {
            let before = pending.len();
            let mut rest = Vec::new();
            for step in pending {
                let mut needs = Vec::new();
                match &step {
                    Pending::Bind(_, expr) => needs = slots(expr),
                    Pending::Values(_, list) => visit_list(list, &mut |expr| {
                        if let Expr::Slot(slot) = expr {
                            needs.push(*slot);
                        }
                    }),
                }
                if !needs.iter().all(|slot| known.get(*slot).copied().unwrap_or(false)) {
                    rest.push(step);
                    continue;
                }
                match step {
                    Pending::Values(slot, list) => {
                        if let Some(along) = along.get_mut(slot) {
                            *along = Some(slot);
                        }
                        set(&mut known, slot);
                        let needs = needed_by_list(&list, &presence);
                        if let Some(presence) = presence.get_mut(slot) {
                            *presence = needs;
                        }
                        steps.push(Step::Values { slot, list, needs });
                    }
                    Pending::Bind(slot, expr) => {
                        let mut lists: Vec<usize> =
                            needs.iter().filter_map(|need| along.get(*need).copied().flatten()).collect();
                        lists.sort_unstable();
                        lists.dedup();
                        if lists.len() > 1 {
                            let message = "an expression made from two lists; which member goes with which?";
                            let at = self.rule.at.clone();
                            self.problems.push(Problem::new(Code::RuleSyntax, at, message));
                            return None;
                        }
                        let list = lists.first().copied();
                        if let Some(along) = along.get_mut(slot) {
                            *along = list;
                        }
                        set(&mut known, slot);
                        let needs = needed(&expr, &presence);
                        if let Some(presence) = presence.get_mut(slot) {
                            *presence = needs;
                        }
                        steps.push(Step::Bind { slot, expr, along: list, needs });
                    }
                }
            }
            if rest.len() == before {
                let circle: Vec<String> = rest
                    .iter()
                    .map(|step| match step {
                        Pending::Bind(slot, _) | Pending::Values(slot, _) => {
                            format!("`{}`", names.get(*slot).map_or("", String::as_str))
                        }
                    })
                    .collect();
                // A name that failed to compile leaves those that need it waiting; it has its
                // own problem.
                if self.problems.is_empty() {
                    let message = format!("{} need each other in a circle", circle.join(", "));
                    self.problems.push(Problem::new(Code::RuleSyntax, self.rule.at.clone(), message));
                }
                return None;
            }
            pending = rest;
        }
        Some(steps)
    }

    fn ignore(&mut self) -> Vec<Ignore> {
        let mut found = Vec::new();
        for (code, reason) in &self.rule.ignore {
            if reason.value.trim().is_empty() {
                let message = format!("`ignore.{}` needs a reason", code.value);
                self.problems.push(Problem::new(Code::RuleSyntax, reason.at.clone(), message));
            }
            let fixed = self.rule.field.value.contains('/')
                || code.value.len() > 1 && code.value.starts_with(|c: char| c.is_ascii_digit());
            let what = match code.value.as_str() {
                "*" => Ignored::Everything,
                code if fixed && parse_positions(code).is_ok() => {
                    Ignored::Positions(parse_positions(code).unwrap_or_default())
                }
                code => Ignored::Subfield(code.to_owned()),
            };
            found.push(Ignore { what, reason: reason.value.clone() });
        }
        found
    }

    /// Everything the rule's result depends on besides the record.
    fn hash(&self, lists: &[usize]) -> String {
        let rule = self.rule;
        let mut hasher = Xxh3::new();
        let mut add = |text: &str| {
            hasher.update(text.as_bytes());
            hasher.update(&[0]);
        };
        add(&rule.name.value);
        add(&rule.field.value);
        for text in [&rule.when, &rule.group, &rule.construct] {
            add(text.as_ref().map_or("", |text| text.value.as_str()));
        }
        match &rule.each {
            Some(EachText::Codes(codes)) => add(&codes.value),
            Some(EachText::List(name, list)) => {
                add(&name.value);
                add(&list.value);
            }
            None => {}
        }
        for (name, text) in rule.values.iter().chain(&rule.binds).chain(&rule.ignore) {
            add(&name.value);
            add(&text.value);
        }
        let mut lists: Vec<usize> = lists.to_vec();
        lists.sort_unstable();
        lists.dedup();
        for list in lists.into_iter().filter_map(|list| self.lists.get(list)) {
            hasher.update(&list.hash().to_le_bytes());
        }
        format!("{:016x}", hasher.digest())
    }
}
