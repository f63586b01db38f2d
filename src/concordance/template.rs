//! From the triples of a `CONSTRUCT` to a [`Template`].

use super::file::Text;
use super::lex::{self, Kind, Token};
use super::program::{Content, Given, Node, Place, Predicate, Template, TripleTemplate};
use crate::diagnostic::{Code, Problem};
use crate::ontology::{Kind as TermKind, Lookup, Ontology, rdf};
use oxrdf::Term;
use rustc_hash::FxHashMap;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

/// What a template may name.
pub struct Names<'a> {
    /// The slot of a variable; `None` for what nothing binds.
    pub slot: &'a mut dyn FnMut(&str) -> Option<usize>,
    /// Slots that name a node of their own, made by `:node(…)`.
    pub nodes: &'a [usize],
    pub text: &'a Text,
}

/// Builds the template; what cannot be one is a problem.
pub fn build(
    patterns: &[TriplePattern],
    names: &mut Names<'_>,
    problems: &mut Vec<Problem>,
) -> Option<Template> {
    let mut template = Template::default();
    let mut labels: FxHashMap<String, usize> = FxHashMap::default();
    let before = problems.len();
    for pattern in patterns {
        let subject = place(&pattern.subject, names, &mut template, &mut labels);
        let object = place(&pattern.object, names, &mut template, &mut labels);
        let predicate = match &pattern.predicate {
            NamedNodePattern::NamedNode(node) => Some(Predicate::Constant(node.clone())),
            NamedNodePattern::Variable(variable) => {
                if is_subfield(variable.as_str()) {
                    let message = format!("`${}` is a subfield; a predicate is an IRI", variable.as_str());
                    problems.push(problem(names.text, variable.as_str(), message));
                }
                (names.slot)(variable.as_str()).map(Predicate::Slot)
            }
        };
        if let TermPattern::Literal(literal) = &pattern.subject {
            let message = format!("`{literal}` is a literal; a subject is a thing");
            problems.push(Problem::new(Code::TemplateSyntax, names.text.at.clone(), message));
        }
        if let TermPattern::Variable(variable) = &pattern.subject
            && is_subfield(variable.as_str())
        {
            let message = format!("`${}` is a subfield; a subject is a thing", variable.as_str());
            problems.push(problem(names.text, variable.as_str(), message));
        }
        let (Some(subject), Some(predicate), Some(object)) = (subject, predicate, object) else { continue };
        if let Place::Given(given) = &subject
            && !given.is_thing()
        {
            let message = "the subject of a triple is a thing, not a text";
            problems.push(Problem::new(Code::TemplateSyntax, names.text.at.clone(), message));
        }
        let index = template.triples.len();
        if let Place::Node(node) = subject
            && let Some(node) = template.nodes.get_mut(node)
        {
            node.triples.push(index);
        }
        if let Place::Node(node) = object
            && let Some(node) = template.nodes.get_mut(node)
        {
            node.parents.push(index);
        }
        template.triples.push(TripleTemplate { subject, predicate, object });
    }
    if !order(&mut template) {
        let message = "nodes of a template link to each other in a circle";
        problems.push(Problem::new(Code::TemplateSyntax, names.text.at.clone(), message));
    }
    for index in 0..template.nodes.len() {
        let content = content(&template, index);
        if let Some(node) = template.nodes.get_mut(index) {
            node.content = content;
        }
    }
    for node in &template.nodes {
        if node.triples.is_empty() && node.slot.is_none() {
            let message = "`[ ]` says nothing; give it a property or leave it out";
            problems.push(Problem::new(Code::TemplateSyntax, names.text.at.clone(), message));
        }
    }
    (problems.len() == before).then_some(template)
}

fn is_subfield(name: &str) -> bool {
    name.chars().count() == 1
}

fn problem(text: &Text, variable: &str, message: String) -> Problem {
    let found = lex::tokens(&text.value).into_iter().find(|token| {
        token.kind == Kind::Variable
            && text.value.get(token.at.clone()).is_some_and(|word| word.get(1..) == Some(variable))
    });
    let at = found.map_or_else(|| text.at.clone(), |token| text.part(token.at));
    Problem::new(Code::TemplateSyntax, at, message)
}

fn place(
    term: &TermPattern,
    names: &mut Names<'_>,
    template: &mut Template,
    labels: &mut FxHashMap<String, usize>,
) -> Option<Place> {
    Some(match term {
        TermPattern::NamedNode(node) => Place::Constant(Term::NamedNode(node.clone())),
        TermPattern::Literal(literal) => Place::Constant(Term::Literal(literal.clone())),
        TermPattern::BlankNode(blank) => node(format!("_:{}", blank.as_str()), None, template, labels),
        TermPattern::Variable(variable) => {
            let name = variable.as_str();
            match Given::from_name(name) {
                Some(given) if given.is_thing() => Place::Given(given),
                _ => {
                    let slot = (names.slot)(name)?;
                    if names.nodes.contains(&slot) {
                        node(format!("${name}"), Some(slot), template, labels)
                    } else {
                        Place::Slot(slot)
                    }
                }
            }
        }
    })
}

fn node(
    label: String,
    slot: Option<usize>,
    template: &mut Template,
    labels: &mut FxHashMap<String, usize>,
) -> Place {
    let next = template.nodes.len();
    let index = *labels.entry(label).or_insert(next);
    if index == next {
        template.nodes.push(Node { slot, ..Node::default() });
    }
    Place::Node(index)
}

/// Orders nodes so that what a node links to comes before it, and finds out which of them
/// depend on variables. `false` when they go round in a circle.
fn order(template: &mut Template) -> bool {
    let count = template.nodes.len();
    let mut done = vec![false; count];
    while template.inner_first.len() < count {
        let mut progressed = false;
        for index in 0..count {
            if done.get(index).copied().unwrap_or(true) {
                continue;
            }
            let Some(node) = template.nodes.get(index) else { continue };
            let mut ready = true;
            let mut varies = false;
            for triple in node.triples.iter().filter_map(|triple| template.triples.get(*triple)) {
                varies |= matches!(triple.predicate, Predicate::Slot(_));
                match &triple.object {
                    // A node may name itself without needing itself.
                    Place::Node(other) if *other == index => {}
                    Place::Node(other) => {
                        ready &= done.get(*other).copied().unwrap_or(false);
                        varies |= template.nodes.get(*other).is_some_and(|node| node.varies);
                    }
                    Place::Slot(_) => varies = true,
                    Place::Given(given) => varies |= !given.is_thing(),
                    Place::Constant(_) => {}
                }
            }
            if ready {
                if let Some(node) = template.nodes.get_mut(index) {
                    node.varies = varies;
                }
                if let Some(done) = done.get_mut(index) {
                    *done = true;
                }
                template.inner_first.push(index);
                progressed = true;
            }
        }
        if !progressed {
            return false;
        }
    }
    true
}

/// The triples of a node as its name is made from them. Marks that no text has keep the parts
/// apart, so that different contents are written differently.
fn content(template: &Template, index: usize) -> Vec<Content> {
    let mut content = Vec::new();
    let Some(node) = template.nodes.get(index) else { return content };
    for triple in node.triples.iter().filter_map(|triple| template.triples.get(*triple)) {
        match &triple.predicate {
            Predicate::Constant(predicate) => {
                push_constant(predicate.as_str(), &mut content);
                push_object(&triple.object, &mut content);
            }
            Predicate::Slot(predicate) => {
                let mut rest = Vec::new();
                push_object(&triple.object, &mut rest);
                content.push(Content::Varying { predicate: *predicate, rest });
            }
        }
    }
    content
}

fn push_object(object: &Place, content: &mut Vec<Content>) {
    push_constant("\u{2}", content);
    match object {
        Place::Constant(Term::NamedNode(constant)) => push_constant(constant.as_str(), content),
        Place::Constant(Term::Literal(constant)) => push_constant(constant.value(), content),
        Place::Constant(_) => {}
        Place::Given(given) => {
            let name = match given {
                Given::Item => "item",
                Given::Hub => "hub",
                Given::Work => "work",
                Given::Instance => "instance",
                _ => "record",
            };
            push_constant(name, content);
        }
        Place::Node(other) => content.push(Content::Node(*other)),
        Place::Slot(slot) => content.push(Content::Slot(*slot)),
    }
    push_constant("\u{4}", content);
}

/// Neighbouring constants are one.
fn push_constant(text: &str, content: &mut Vec<Content>) {
    match content.last_mut() {
        Some(Content::Constant(before)) => before.push_str(text),
        _ => content.push(Content::Constant(text.to_owned())),
    }
}

/// Reports terms that no vocabulary defines, and terms used as what they are not.
pub fn check_terms(text: &Text, tokens: &[Token], ontology: &Ontology, problems: &mut Vec<Problem>) {
    let mut previous_word = "";
    for token in tokens {
        let word = text.value.get(token.at.clone()).unwrap_or_default();
        let after_a = previous_word == "a";
        previous_word = word;
        let iri = match token.kind {
            Kind::Name if word.starts_with(':') || word.starts_with("_:") => continue,
            Kind::Name => match ontology.prefixes().expand(word) {
                Some(iri) => iri.into_string(),
                None => continue,
            },
            Kind::Iri => word.trim_matches(['<', '>']).to_owned(),
            _ => continue,
        };
        let at = text.part(token.at.clone());
        match ontology.lookup(&iri) {
            Lookup::Undefined => {
                let (what, code) =
                    if after_a { ("class", Code::UnknownTerm) } else { ("term", Code::UnknownTerm) };
                let prefix = word.split_once(':').map_or("", |(prefix, _)| prefix);
                let problem = Problem::new(code, at, format!("`{word}` is not defined"));
                let file = if prefix == "pin" {
                    "ontologies/pinakes.ttl".to_owned()
                } else {
                    format!("ontologies/terms/{prefix}.tsv")
                };
                problems.push(problem.label(format!("no such {what} in {file}")).near(&ontology.near(word)));
            }
            Lookup::Defined(term) if after_a && term.kind.is_property() => {
                let problem =
                    Problem::new(Code::UnknownTerm, at, format!("`{word}` is a property, not a class"));
                problems.push(problem.label("a class is expected after `a`"));
            }
            Lookup::Defined(term) if term.kind == TermKind::Class && iri == rdf::TYPE.as_str() => {}
            _ => {}
        }
    }
}
