//! What the contexts of a JSON-LD document would cost its parser.
//!
//! | what the parser does | what bounds it |
//! |---|---|
//! | calls itself for each term that a term is defined by | [`CHAIN_LIMIT`]: the longest chain in a context |
//! | links the contexts of one array, and drops them one in the other | [`LIST_LIMIT`] |
//! | calls itself for scoped contexts and objects within each other | the depth of the JSON |
//! | copies all terms in force for each context it meets, be it `null` or an empty list | [`Contexts::work`] |
//! | defines the terms of a scoped context anew for each value it applies to | the same |
//! | copies scoped contexts with their terms, and with whatever else they hold | the same |
//! | keeps what is in an object until the object ends, and again for the object around it | the same, and [`OBJECT_LIMIT`] |
//!
//! The counts are upper bounds: where the bytes do not tell what the parser will do, it is taken to
//! do all it could. Documents that people and programs write stay far below.

use super::guard::too_much;
use super::json::{Listener, NAME_LIMIT, Token};
use rustc_hash::FxHashMap;
use std::io;

/// Terms that may be defined one by the other.
const CHAIN_LIMIT: usize = 128;
/// Contexts in one array.
const LIST_LIMIT: usize = 128;
/// Bytes and tokens of one object that is in no other: the parser holds all of it, and some 400
/// bytes for each token.
const OBJECT_LIMIT: u64 = 64 * 1024 * 1024;
const TOKENS_LIMIT: u64 = 2_000_000;
/// Work that any document may cost, and more for each of its bytes. A step takes some 50 ns.
const WORK_FREE: u64 = 20_000_000;
const WORK_PER_BYTE: u64 = 16;
/// Defining a term takes so many times as long as copying one.
const DEFINING: u64 = 10;
/// A copied term costs one step, and one more for so many bytes of the longest name.
const NAME_STEP: u64 = 64;
/// How many objects deep the values of a term may lie, as in maps by index or language.
const REACH: u8 = 2;

/// The contexts of the document so far.
#[derive(Debug, Default)]
pub(super) struct Contexts {
    frames: Vec<Frame>,
    /// Where the outermost object began, and how many tokens it has.
    began: u64,
    tokens: u64,
    /// Objects that are open and no part of a context.
    objects: u64,
    /// Terms in force by the contexts of the objects that are open, and those of the scoped contexts
    /// in them, which may come into force anywhere inside.
    terms: u64,
    /// The terms that have scoped contexts, and the largest that each has anywhere.
    scoped: FxHashMap<String, Scope>,
    /// Bytes of the longest name in any context.
    longest: u64,
    /// What the parser will have to do.
    work: u64,
}

/// An object or an array that is open.
#[derive(Debug)]
struct Frame {
    object: bool,
    /// Whether a string would be a key.
    key_due: bool,
    kind: Kind,
    /// What the next value in it is.
    next: Role,
}

#[derive(Debug)]
enum Kind {
    Body(Body),
    Context(Context),
    ContextList {
        count: usize,
    },
    /// The definition of the last term of the context around it.
    Definition,
    /// Of no concern.
    Inert,
}

/// What an object or an array outside of contexts holds.
#[derive(Debug, Default)]
struct Body {
    /// Terms of its own contexts.
    terms: u64,
    /// Contexts, written and scoped, and values that were met in it: a context that comes after them
    /// is in force for them all the same.
    contexts: u64,
    values: u64,
    /// What each value in it is.
    value: Value,
}

/// What it takes to process what stands behind one `@context`, with all that is scoped in it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Scope {
    /// How often the terms in force are copied or walked over: for the context, whatever it is, and
    /// for each item of a list.
    contexts: u64,
    /// Terms that are defined, and in scoped contexts whatever else is copied with them.
    terms: u64,
}

impl Scope {
    const ONE: Self = Self { contexts: 1, terms: 0 };

    fn plus(self, other: Self) -> Self {
        Self {
            contexts: self.contexts.saturating_add(other.contexts),
            terms: self.terms.saturating_add(other.terms),
        }
    }

    /// Enough for either.
    fn or(self, other: Self) -> Self {
        Self { contexts: self.contexts.max(other.contexts), terms: self.terms.max(other.terms) }
    }
}

/// The scoped context that each value of a term has, and how many objects further in.
#[derive(Debug, Default, Clone, Copy)]
struct Value {
    scope: Scope,
    reach: u8,
}

/// A context that is an object.
#[derive(Debug, Default)]
struct Context {
    terms: Vec<Term>,
    /// Values in it that define nothing, and are copied with it all the same.
    inert: u64,
}

#[derive(Debug)]
struct Term {
    name: String,
    /// What it is defined by.
    references: Vec<String>,
    /// Its scoped context, if it has one.
    scoped: Option<Scope>,
}

/// What a value is, by where it stands.
#[derive(Debug, Clone, Copy)]
enum Role {
    Value(Value),
    Context,
    Definition,
    /// A name in a definition.
    Reference,
    Inert,
}

impl Listener for Contexts {
    fn token(&mut self, token: Token<'_>, read: u64) -> io::Result<()> {
        match token {
            Token::Comma => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.key_due = frame.object;
                }
            }
            Token::Colon => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.key_due = false;
                }
            }
            Token::Close => self.close()?,
            Token::Text(text) if self.frames.last().is_some_and(|frame| frame.key_due) => self.key(text)?,
            Token::Text(text) => self.text(text)?,
            Token::Word => {
                let role = self.role();
                self.value(role, None)?;
            }
            Token::Open { object } => self.open(object, read)?,
        }
        self.tokens += 1;
        if self.objects > 0 && (read - self.began > OBJECT_LIMIT || self.tokens > TOKENS_LIMIT) {
            return Err(too_much(format!(
                "an object is larger than {} MiB or {TOKENS_LIMIT} tokens, and an object of JSON-LD must be \
                 held whole; give an array of objects, or N-Quads",
                OBJECT_LIMIT >> 20
            )));
        }
        let most = WORK_FREE.saturating_add(WORK_PER_BYTE.saturating_mul(read));
        if self.work > most {
            return Err(too_much("its contexts are too large for as often as they are used".to_owned()));
        }
        Ok(())
    }
}

impl Contexts {
    fn role(&self) -> Role {
        self.frames.last().map_or(Role::Value(Value::default()), |frame| frame.next)
    }

    fn cost(&mut self, steps: u64) {
        self.work = self.work.saturating_add(steps);
    }

    /// Steps for copying or defining terms.
    fn weigh(&self, terms: u64) -> u64 {
        terms.saturating_mul(1 + self.longest / NAME_STEP)
    }

    /// Steps for processing contexts beside all terms in force.
    fn context_cost(&self, scope: Scope) -> u64 {
        let copied = self.terms.saturating_mul(scope.contexts);
        self.weigh(copied.saturating_add(scope.terms.saturating_mul(DEFINING)))
    }

    fn key(&mut self, key: Option<&str>) -> io::Result<()> {
        self.cost(self.objects);
        let Some(frame) = self.frames.last() else { return Ok(()) };
        let next = match &frame.kind {
            Kind::Body(_) | Kind::Definition if key == Some("@context") => {
                self.meet_context();
                Role::Context
            }
            Kind::Body(body) => Role::Value(match key.and_then(|key| self.scoped.get(key)) {
                Some(scope) => Value { scope: *scope, reach: REACH },
                None => body.value,
            }),
            Kind::Context(_) => match self.name(key)? {
                keyword if has_keyword_form(keyword) && keyword != "@type" => Role::Inert,
                term => {
                    let term = Term { name: term.to_owned(), references: Vec::new(), scoped: None };
                    if let Some(Frame { kind: Kind::Context(context), .. }) = self.frames.last_mut() {
                        context.terms.push(term);
                    }
                    Role::Definition
                }
            },
            Kind::Definition => match key {
                Some("@id" | "@type" | "@reverse" | "@index" | "@nest") => Role::Reference,
                _ => Role::Inert,
            },
            Kind::ContextList { .. } | Kind::Inert => Role::Inert,
        };
        if let Some(frame) = self.frames.last_mut() {
            frame.next = next;
        }
        Ok(())
    }

    /// A name in a context.
    fn name<'a>(&mut self, name: Option<&'a str>) -> io::Result<&'a str> {
        let name =
            name.ok_or_else(|| too_much(format!("a name in a context is longer than {NAME_LIMIT} bytes")))?;
        self.longest = self.longest.max(name.len() as u64);
        Ok(name)
    }

    fn text(&mut self, text: Option<&str>) -> io::Result<()> {
        let role = self.role();
        self.value(role, text)?;
        if matches!(self.frames.last().map(|frame| &frame.kind), None | Some(Kind::Body(_)))
            && !matches!(role, Role::Context)
        {
            return Ok(());
        }
        let name = self.name(text)?;
        if let Role::Definition | Role::Reference = role
            && let Some(term) = self.last_term()
        {
            term.references.push(name.to_owned());
        }
        Ok(())
    }

    /// The term that is being defined.
    fn last_term(&mut self) -> Option<&mut Term> {
        self.frames.iter_mut().rev().find_map(|frame| match &mut frame.kind {
            Kind::Context(context) => Some(context.terms.last_mut()),
            _ => None,
        })?
    }

    /// What the context at hand belongs to: the nearest object that is no context, or a term.
    fn owner(&mut self) -> Option<&mut Kind> {
        let mut kinds = self.frames.iter_mut().rev().map(|frame| &mut frame.kind);
        kinds.find(|kind| matches!(kind, Kind::Body(_) | Kind::Definition))
    }

    /// Counts a context before it is known what it is: the parser copies all terms in force for `null`,
    /// for a string and for an empty list as well.
    fn meet_context(&mut self) {
        self.cost(self.context_cost(Scope::ONE));
        match self.owner() {
            Some(Kind::Body(body)) => body.contexts += 1,
            Some(Kind::Definition) => {
                if let Some(term) = self.last_term() {
                    let scope = term.scoped.get_or_insert_default();
                    *scope = scope.plus(Scope { contexts: 1, terms: 1 });
                }
            }
            _ => {}
        }
    }

    /// Counts a value, be it part of a context or not.
    fn value(&mut self, role: Role, text: Option<&str>) -> io::Result<()> {
        let (Role::Value(value), None | Some(Frame { kind: Kind::Body(_), .. })) = (role, self.frames.last())
        else {
            return self.value_in_context(role);
        };
        // It is the value of a term, or the name of a class, which may have a context of its own, too.
        let of_class = text.and_then(|text| self.scoped.get(text)).copied().unwrap_or_default();
        let scope = value.scope.or(of_class);
        // What is in an object is kept until its end, and handed on to the object around it.
        self.cost(self.objects.saturating_add(self.context_cost(scope)));
        if let Some(Frame { kind: Kind::Body(body), .. }) = self.frames.last_mut() {
            body.values += 1;
            body.contexts = body.contexts.saturating_add(scope.contexts);
        }
        Ok(())
    }

    fn value_in_context(&mut self, role: Role) -> io::Result<()> {
        match self.frames.last_mut().map(|frame| &mut frame.kind) {
            Some(Kind::ContextList { count }) => {
                *count += 1;
                if *count > LIST_LIMIT {
                    return Err(too_much(format!("more than {LIST_LIMIT} contexts are in one array")));
                }
                self.meet_context();
            }
            _ if matches!(role, Role::Inert) => {
                let context = self.frames.iter_mut().rev().find_map(|frame| match &mut frame.kind {
                    Kind::Context(context) => Some(context),
                    _ => None,
                });
                if let Some(context) = context {
                    context.inert += 1;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, object: bool, read: u64) -> io::Result<()> {
        let role = self.role();
        self.value(role, None)?;
        let mut next = Role::Inert;
        let kind = match role {
            Role::Value(mut value) => {
                if object {
                    if self.objects == 0 {
                        (self.began, self.tokens) = (read, 0);
                    }
                    self.objects += 1;
                    value =
                        value.reach.checked_sub(1).map_or(Value::default(), |reach| Value { reach, ..value });
                }
                next = Role::Value(value);
                Kind::Body(Body { value, ..Body::default() })
            }
            Role::Context if object => Kind::Context(Context::default()),
            Role::Context => {
                next = Role::Context;
                Kind::ContextList { count: 0 }
            }
            Role::Definition if object => Kind::Definition,
            Role::Definition | Role::Reference | Role::Inert => Kind::Inert,
        };
        self.frames.push(Frame { object, key_due: object, kind, next });
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        let Some(Frame { object, kind, .. }) = self.frames.pop() else { return Ok(()) };
        match kind {
            Kind::Body(body) => {
                self.objects -= u64::from(object);
                self.terms -= body.terms;
                if let Some(Frame { kind: Kind::Body(around), .. }) = self.frames.last_mut() {
                    around.contexts = around.contexts.saturating_add(body.contexts);
                    around.values += body.values;
                }
                Ok(())
            }
            Kind::Context(context) => self.finish(&context),
            Kind::ContextList { .. } | Kind::Definition | Kind::Inert => Ok(()),
        }
    }

    /// Judges a context at its end, and puts it in force.
    fn finish(&mut self, context: &Context) -> io::Result<()> {
        if longest_chain(&context.terms) > CHAIN_LIMIT {
            return Err(too_much(format!(
                "its context has a chain of more than {CHAIN_LIMIT} terms, each defined by the next"
            )));
        }
        let own = context.terms.len() as u64;
        let scopes = || context.terms.iter().filter_map(|term| term.scoped);
        let within = scopes().fold(Scope::default(), Scope::plus);
        // The terms are defined in any order, so all others may be in force for the contexts among them.
        self.cost(
            self.weigh(own.saturating_mul(DEFINING).saturating_add(own.saturating_mul(within.contexts))),
        );
        for term in &context.terms {
            if let Some(scope) = term.scoped {
                let known = self.scoped.entry(term.name.clone()).or_default();
                *known = known.or(scope);
            }
        }
        let in_force = own.saturating_add(within.terms);
        match self.owner() {
            Some(Kind::Body(body)) => {
                body.terms = body.terms.saturating_add(in_force);
                let (contexts, values) = (body.contexts, body.values);
                // Each value before it may turn out to have one of its scoped contexts.
                let late = scopes().fold(Scope::default(), Scope::or);
                body.contexts = contexts.saturating_add(late.contexts.saturating_mul(values));
                self.terms = self.terms.saturating_add(in_force);
                self.cost(self.weigh(in_force).saturating_mul(contexts));
                self.cost(self.context_cost(late).saturating_mul(values));
            }
            Some(Kind::Definition) => {
                let kept = Scope { contexts: within.contexts, terms: in_force.saturating_add(context.inert) };
                if let Some(term) = self.last_term() {
                    let scope = term.scoped.get_or_insert_default();
                    *scope = scope.plus(kept);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Whether the parser takes a name for a keyword, known or not. Every other name is a term, whatever it
/// begins with.
fn has_keyword_form(name: &str) -> bool {
    let letters = name.strip_prefix('@').unwrap_or_default();
    !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// The longest way from a term to what it is defined by, over terms of the same context. Terms
/// that are defined by themselves, in the end, count with all that lead to them.
fn longest_chain(terms: &[Term]) -> usize {
    let numbers: FxHashMap<&str, usize> =
        terms.iter().enumerate().map(|(number, term)| (term.name.as_str(), number)).collect();
    // By term: how many it is defined by, and which are defined by it.
    let mut open = vec![0_usize; terms.len()];
    let mut used_by: Vec<Vec<usize>> = vec![Vec::new(); terms.len()];
    for (number, term) in terms.iter().enumerate() {
        // A name is a term, or begins with one as its prefix.
        let own = prefix(&term.name);
        let names = term.references.iter().flat_map(|name| [Some(name.as_str()), prefix(name)]).chain([own]);
        for other in names.flatten().filter_map(|name| numbers.get(name)) {
            if let (Some(open), Some(used_by)) = (open.get_mut(number), used_by.get_mut(*other)) {
                *open += 1;
                used_by.push(number);
            }
        }
    }
    let mut level: Vec<usize> =
        open.iter().enumerate().filter(|(_, open)| **open == 0).map(|(number, _)| number).collect();
    let mut settled = 0;
    let mut levels = 0;
    while !level.is_empty() {
        levels += 1;
        settled += level.len();
        let mut next = Vec::new();
        for user in level.iter().filter_map(|number| used_by.get(*number)).flatten() {
            if let Some(open) = open.get_mut(*user) {
                *open -= 1;
                if *open == 0 {
                    next.push(*user);
                }
            }
        }
        level = next;
    }
    levels + (terms.len() - settled)
}

fn prefix(name: &str) -> Option<&str> {
    name.trim_start_matches(':').split_once(':').map(|(prefix, _)| prefix)
}

#[cfg(test)]
mod tests {
    use super::super::json::Scanner;
    use super::*;

    fn check(json: &str) -> Result<Contexts, String> {
        let (mut scanner, mut contexts) = (Scanner::default(), Contexts::default());
        scanner.scan(json.as_bytes(), &mut contexts).map_err(|error| error.to_string())?;
        assert!(contexts.frames.is_empty() && contexts.objects == 0 && contexts.terms == 0);
        Ok(contexts)
    }

    #[track_caller]
    fn refused(json: &str, why: &str) {
        let reason = check(json).err().unwrap_or_default();
        assert!(reason.contains(why), "`{reason}` is not about `{why}`");
    }

    /// `n` definitions, each made of its number.
    fn terms(n: usize, definition: impl Fn(usize) -> String) -> String {
        (0..n).map(|number| format!("\"t{number}\":{}", definition(number))).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn contexts_as_people_write_them_pass() {
        let context = r#"{"@vocab":"http://v/","dc":"http://dc/","title":"dc:title","dc:date":{"@type":"xsd:date"},
            "xsd":"http://x/","by":{"@id":"dc:creator","@type":"@id","@container":["@set","@index"],
            "@context":[null,{"name":"http://n/"}]},"date":"dc:date"}"#;
        let node = r#"{"@id":"a","by":[{"name":"x"},{"name":"y"}],"date":"2026","@context":"http://c/"}"#;
        let nodes = vec![node; 5000].join(",");
        let found = check(&format!("{{\"@context\":[{context}],\"@graph\":[{nodes}]}}")).unwrap();
        assert!(found.work < WORK_FREE, "{}", found.work);
        assert!(found.scoped.contains_key("by"));
        // The same where each object brings its own, as documents do that were put one behind the other.
        let nodes = vec![
            format!(
                "{{\"@context\":{context},{}",
                node.replace(",\"@context\":\"http://c/\"", "").trim_start_matches('{')
            );
            5000
        ];
        let found = check(&format!("[{}]", nodes.join(","))).unwrap();
        assert!(found.work < WORK_FREE, "{}", found.work);
    }

    #[test]
    fn chains_of_terms_are_refused() {
        let chain = |n| terms(n, |t| format!("\"t{}\"", t + 1));
        let context = |terms: String| format!("{{\"@context\":{{{terms},\"z\":\"http://z/\"}}}}");
        assert!(check(&context(chain(CHAIN_LIMIT - 2))).is_ok());
        refused(&context(chain(5000)), "a chain of more");
        for link in ["{\"@id\":\"N:x\"}", "{\"@type\":\"N\",\"@id\":\"a:b\"}", "{\"@reverse\":\"N\"}"] {
            let chain = terms(200, |t| link.replace('N', &format!("t{}", t + 1)));
            refused(&context(chain), "a chain of more");
        }
        // A ring is as deep as it is long, and small rings are left to the parser.
        refused(&context(terms(200, |t| format!("\"t{}\"", (t + 1) % 200))), "a chain of more");
        assert!(check(&context(terms(9, |t| format!("\"t{}\"", (t + 1) % 9)))).is_ok());
        // Many terms by one are no chain.
        assert!(check(&context(terms(5000, |_| "\"z:x\"".to_owned()))).is_ok());
        // Only letters make a keyword.
        for (from, to) in [("\"t", "\"@t"), ("\"t", "\"@"), ("\"t", "\"@-"), ("\"t", "\"@é")] {
            refused(&context(chain(200)).replace(from, to), "a chain of more");
        }
        let letters =
            |n: usize| n.to_string().bytes().map(|digit| char::from(digit + 49)).collect::<String>();
        let keywords: Vec<String> =
            (0..200).map(|n| format!("\"@{}\":\"@{}\"", letters(n), letters(n + 1))).collect();
        assert!(check(&context(keywords.join(","))).is_ok());
        // Escapes hide nothing.
        refused(
            &context(chain(200)).replace("@context", "\\u0040context").replace("t1", "\\u00741"),
            "a chain of more",
        );
    }

    #[test]
    fn chains_in_scoped_contexts_count() {
        let chain = terms(200, |t| format!("\"t{}\"", t + 1));
        refused(&format!("[{{\"@context\":{{\"a\":{{\"@context\":[{{{chain}}}]}}}}}}]"), "a chain of more");
    }

    #[test]
    fn long_lists_of_contexts_are_refused() {
        let list = |n| format!("{{\"@context\":[{}]}}", vec!["null"; n].join(","));
        assert!(check(&list(LIST_LIMIT)).is_ok());
        refused(&list(LIST_LIMIT + 1), "in one array");
    }

    #[test]
    fn large_contexts_that_are_used_often_are_refused() {
        let many = terms(20_000, |t| format!("\"http://e/{t}\""));
        let body = |value: &str| vec![value; 20_000].join(",");
        let nodes = body("{\"@context\":{},\"t0\":1}");
        refused(&format!("{{\"@context\":{{{many}}},\"@graph\":[{nodes}]}}"), "too large");
        // The context is in force for what comes before it, too.
        refused(&format!("{{\"@graph\":[{nodes}],\"@context\":{{{many}}}}}"), "too large");
        let scoped = format!("{{\"x\":{{\"@id\":\"http://e/x\",\"@context\":{{{many}}}}}}}");
        for uses in [body("{\"x\":1}"), body("{\"@type\":\"x\"}"), format!("{{\"x\":[{}]}}", body("1"))] {
            refused(&format!("{{\"@context\":{scoped},\"@graph\":[{uses}]}}"), "too large");
            refused(&format!("{{\"@graph\":[{uses}],\"@context\":{scoped}}}"), "too large");
        }
        let each = terms(20_000, |t| format!("{{\"@id\":\"http://e/{t}\",\"@context\":{{}}}}"));
        refused(&format!("{{\"@context\":{{{each}}}}}"), "too large");
        // Terms are defined in any order, and scoped contexts within each other see all of them.
        let few = terms(2000, |t| format!("{{\"@id\":\"http://e/{t}\",\"@context\":null}}"));
        refused(&format!("{{\"@context\":{{{few},{}}}}}", many.replace("\"t", "\"u")), "too large");
        let inner = format!("\"x\":{{\"@id\":\"http://e/x\",\"@context\":{{{few}}}}}");
        refused(&format!("{{\"@context\":{{{inner},{}}}}}", many.replace("\"t", "\"u")), "too large");
        // Without any of this a large document costs little.
        let plain = body("{\"@id\":\"http://e/1\",\"t0\":[1,2,3],\"t1\":{\"@value\":\"x\"}}");
        let found = check(&format!("{{\"@context\":{{{many}}},\"@graph\":[{plain}]}}")).unwrap();
        assert!(found.work < 2_000_000, "{}", found.work);
    }

    /// The parser copies the terms in force before it looks what a context is.
    #[test]
    fn contexts_that_say_nothing_cost_as_much_as_others() {
        let many = terms(20_000, |t| format!("\"http://e/{t}\""));
        let body = |value: &str| vec![value; 20_000].join(",");
        for nothing in ["null", "[]", "\"http://c/\"", "{}", "[null]", "1"] {
            let nodes = body(&format!("{{\"@context\":{nothing}}}"));
            refused(&format!("{{\"@context\":{{{many}}},\"@graph\":[{nodes}]}}"), "too large");
            refused(&format!("{{\"@graph\":[{nodes}],\"@context\":{{{many}}}}}"), "too large");
            let scoped = format!("\"x\":{{\"@id\":\"http://e/x\",\"@context\":{nothing}}}");
            for uses in [body("{\"x\":1}"), body("{\"@type\":\"x\"}"), format!("{{\"x\":[{}]}}", body("1"))] {
                refused(&format!("{{\"@context\":{{{scoped},{many}}},\"@graph\":[{uses}]}}"), "too large");
                refused(&format!("{{\"@graph\":[{uses}],\"@context\":{{{scoped},{many}}}}}"), "too large");
                // Met while little is in force, and processed when much is.
                let late = format!("{{\"@graph\":[{uses}],\"@context\":{{{many}}}}}");
                refused(&format!("{{\"@context\":{{{scoped}}},\"@graph\":[{late}]}}"), "too large");
            }
        }
        // Each item of a list walks over the terms again.
        let terms = terms(200, |t| format!("\"http://e/{t}\""));
        let list = vec!["null"; LIST_LIMIT].join(",");
        let document = |nodes: &str| format!("{{\"@context\":{{{terms}}},\"@graph\":[{nodes}]}}");
        refused(&document(&vec![format!("{{\"@context\":[{list}]}}"); 5000].join(",")), "too large");
        assert!(check(&document(&vec!["{\"@context\":null}"; 5000].join(","))).is_ok());
        let scoped = format!("\"x\":{{\"@id\":\"http://e/x\",\"@context\":[{list}]}}");
        let uses = vec!["{\"@type\":\"x\"}"; 5000].join(",");
        refused(&format!("{{\"@context\":{{{scoped},{terms}}},\"@graph\":[{uses}]}}"), "too large");
    }

    /// A scoped context is kept as it was written, and copied with its term.
    #[test]
    fn what_defines_nothing_is_copied_all_the_same() {
        let ballast = vec!["0"; 20_000].join(",");
        let nodes = vec!["{\"@context\":{}}"; 20_000].join(",");
        for inner in [format!("{{\"@x\":[{ballast}]}}"), format!("{{\"y\":{{\"z\":[{ballast}]}}}}")] {
            let scoped = format!("\"x\":{{\"@id\":\"http://e/x\",\"@context\":{inner}}}");
            refused(&format!("{{\"@context\":{{{scoped}}},\"@graph\":[{nodes}]}}"), "too large");
        }
    }

    #[test]
    fn names_too_long_to_be_copied_are_refused_in_contexts_alone() {
        let long = "x".repeat(NAME_LIMIT + 1);
        refused(&format!("{{\"@context\":{{\"@vocab\":\"http://{long}\"}}}}"), "longer than");
        refused(&format!("{{\"@context\":{{\"{long}\":\"http://a\"}}}}"), "longer than");
        assert!(check(&format!("{{\"@context\":{{}},\"{long}\":\"{long}\"}}")).is_ok());
    }

    #[test]
    fn an_object_too_large_to_be_held_is_refused() {
        let value = format!("\"{}\",", "x".repeat(1 << 20));
        let array = format!("{{\"a\":[{}1]}}", value.repeat(65));
        refused(&array, "larger than 64 MiB");
        let objects = format!("[{}]", vec![format!("{{\"a\":{value}\"b\":1}}"); 65].join(","));
        assert!(check(&objects).is_ok());
        refused(&format!("{{\"a\":[{}1]}}", "1,".repeat(1_000_000)), "2000000 tokens");
        assert!(check(&format!("[{}1]", "{\"a\":1},".repeat(500_000))).is_ok());
    }
}
