//! An entity as a page: what it is called and is, what is said of it, which records say so, where
//! else it is known, and what leads to it. Complete without script, styled by `style.css`.

use super::html::Html;
use super::negotiate::VIEWS;
use super::service::Description;
use super::wording::{self, capitalized};
use crate::ontology::{bf, dcterms, owl, pin, rdf, rdfs, shorten, skos};
use axum::http::StatusCode;
use oxrdf::{Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Term, Triple};
use std::collections::{BTreeMap, BTreeSet};

const HOME: &str = include_str!("home.html");
const QUERY: &str = include_str!("query.html");

/// Of more values of one property these are shown.
const VALUES: usize = 200;
/// How deep nodes are shown inside each other.
const DEPTH: usize = 4;

/// What a thing is called by, the best first.
const NAMES: [NamedNodeRef<'static>; 4] = [skos::PREF_LABEL, rdfs::LABEL, dcterms::TITLE, bf::MAIN_TITLE];
/// What tells of it in sentences.
const SUMMARIES: [NamedNodeRef<'static>; 4] =
    [dcterms::ABSTRACT, dcterms::DESCRIPTION, rdfs::COMMENT, skos::NOTE];
/// What says that it is known elsewhere.
const ELSEWHERE: [NamedNodeRef<'static>; 3] = [owl::SAME_AS, skos::EXACT_MATCH, skos::CLOSE_MATCH];

/// How names of the catalogue become addresses of this server: their path alone, so that a
/// catalogue can be looked at wherever it is served.
pub struct Local<'a> {
    base: &'a str,
    path: &'a str,
}

impl<'a> Local<'a> {
    /// The base IRI and its path.
    pub fn new(base: &'a str, path: &'a str) -> Self {
        Self { base, path }
    }

    pub fn link(&self, iri: &str) -> String {
        self.within(iri).unwrap_or_else(|| iri.to_owned())
    }

    /// The address of a name of the catalogue; none for names of others, and for those that a
    /// browser would not look for here.
    pub fn within(&self, iri: &str) -> Option<String> {
        iri.strip_prefix(self.base).and_then(|rest| self.at(rest))
    }

    /// The address of what has this path behind the base. `//host/` would be another host's and
    /// `../` would lead out, so a path with an empty beginning or with dots for a step has none.
    pub fn at(&self, path: &str) -> Option<String> {
        let is_dots =
            |step: &str| matches!(step.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
        // What browsers read as a slash, or leave out.
        let is_odd = |c: char| c == '\\' || c.is_whitespace() || c.is_control();
        let leads_out = path.starts_with('/') || path.contains(is_odd) || {
            let path = path.split(['?', '#']).next().unwrap_or_default();
            path.split('/').any(is_dots)
        };
        (!leads_out).then(|| format!("{}{path}", self.path))
    }

    /// What a name of the catalogue has behind the base, if it is not the base.
    fn path_of<'b>(&self, iri: &'b str) -> Option<&'b str> {
        iri.strip_prefix(self.base).filter(|rest| !rest.is_empty())
    }
}

/// The page of an entity.
pub fn page(description: &Description, local: &Local<'_>) -> String {
    let page = Page::new(description, local);
    let mut html = Html::default();
    page.head(&mut html);
    page.title(&mut html);
    page.statements(&mut html);
    page.records(&mut html);
    page.elsewhere(&mut html);
    page.inbound(&mut html);
    page.foot(&mut html);
    html.finish()
}

/// The first page.
pub fn home(base_path: &str) -> String {
    HOME.replace("{base}", &escaped(base_path))
}

/// The endpoint for people.
pub fn query_form(base_path: &str) -> String {
    QUERY.replace("{base}", &escaped(base_path))
}

/// What went wrong, and a way back.
pub fn problem(status: StatusCode, message: &str, base_path: &str) -> String {
    let reason = status.canonical_reason().unwrap_or("Problem");
    let mut html = Html::default();
    begin(&mut html, reason, base_path, &[]);
    html.markup("<main><p class=\"kind\">").text(status.as_str()).markup("</p><h1>").text(reason);
    html.markup("</h1><p>").text(message).markup("</p><p><a href=\"").text(base_path);
    html.markup("\">To the first page</a></p></main></body></html>\n");
    html.finish()
}

fn escaped(text: &str) -> String {
    let mut html = Html::default();
    html.text(text);
    html.finish()
}

/// Everything up to the main part.
fn begin(html: &mut Html, title: &str, base_path: &str, alternates: &[(String, &'static str)]) {
    html.markup("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    html.markup("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>");
    html.text(title)
        .markup("</title><link rel=\"stylesheet\" href=\"")
        .text(base_path)
        .markup("style.css\">");
    for (place, media_type) in alternates {
        html.markup("<link rel=\"alternate\" type=\"").text(media_type).markup("\" href=\"").text(place);
        html.markup("\">");
    }
    html.markup("</head>\n<body><header><a href=\"")
        .text(base_path)
        .markup("\">Catalogue</a><nav><a href=\"");
    html.text(base_path).markup("sparql\">Query</a></nav></header>\n");
}

struct Page<'a> {
    description: &'a Description,
    local: &'a Local<'a>,
    /// What is said, by subject.
    said: BTreeMap<String, Vec<&'a Triple>>,
    me: String,
}

impl<'a> Page<'a> {
    fn new(description: &'a Description, local: &'a Local<'a>) -> Self {
        let mut said: BTreeMap<String, Vec<&Triple>> = BTreeMap::new();
        for triple in &description.triples {
            said.entry(triple.subject.to_string()).or_default().push(triple);
        }
        Self { description, local, said, me: NamedOrBlankNode::from(description.iri.clone()).to_string() }
    }

    fn own(&self) -> &[&'a Triple] {
        self.said.get(&self.me).map(Vec::as_slice).unwrap_or_default()
    }

    fn literals(&self, property: NamedNodeRef<'_>) -> impl Iterator<Item = &'a Literal> {
        self.own().iter().filter(move |triple| triple.predicate == property).filter_map(
            |triple| match &triple.object {
                Term::Literal(literal) => Some(literal),
                _ => None,
            },
        )
    }

    /// What the page is headed by: a name without a language or in English first.
    fn heading(&self) -> Option<&'a Literal> {
        NAMES.iter().find_map(|property| {
            self.literals(*property)
                .min_by_key(|name| (name.language().is_some_and(|tag| !tag.starts_with("en")), name.value()))
        })
    }

    fn heading_text(&self) -> String {
        self.heading().map_or_else(|| self.name(&self.description.iri), |name| name.value().to_owned())
    }

    fn place(&self) -> String {
        self.local.link(self.description.iri.as_str())
    }

    /// What a thing is called: as the catalogue says, else by its IRI, as short as it can be.
    fn name(&self, iri: &NamedNode) -> String {
        if let Some(label) = self.description.labels.get(iri.as_str()) {
            return label.clone();
        }
        let short = || shorten(iri.as_str()).unwrap_or_else(|| iri.as_str().to_owned());
        self.local.path_of(iri.as_str()).map_or_else(short, str::to_owned)
    }

    /// A property as people say it: `mainTitle` is "Main title".
    fn property(&self, iri: &NamedNode) -> String {
        match self.description.labels.get(iri.as_str()) {
            Some(label) => capitalized(label),
            None => wording::property(iri),
        }
    }

    fn head(&self, html: &mut Html) {
        let place = self.place();
        let alternates: Vec<(String, &'static str)> =
            VIEWS.iter().map(|view| (format!("{place}.{}", view.suffix()), view.media_type())).collect();
        begin(html, &self.heading_text(), self.local.path, &alternates);
    }

    fn title(&self, html: &mut Html) {
        html.markup("<main><article>");
        let kinds: BTreeSet<String> = self
            .own()
            .iter()
            .filter(|triple| triple.predicate == rdf::TYPE)
            .filter_map(|triple| match &triple.object {
                Term::NamedNode(kind) => Some(self.property(kind)),
                _ => None,
            })
            .collect();
        if !kinds.is_empty() {
            html.markup("<p class=\"kind\">").text(&kinds.into_iter().collect::<Vec<_>>().join(" · "));
            html.markup("</p>");
        }
        html.markup("<h1>");
        match self.heading() {
            Some(name) => html.isolated(name.value(), name.language()),
            None => html.isolated(&self.heading_text(), None),
        };
        html.markup("</h1><p class=\"iri\"><code>").text(self.description.iri.as_str()).markup("</code></p>");
        for summary in SUMMARIES.iter().flat_map(|property| self.literals(*property)).take(VALUES) {
            html.markup("<p class=\"summary\">").isolated(summary.value(), summary.language()).markup("</p>");
        }
    }

    fn statements(&self, html: &mut Html) {
        let heading = self.heading().cloned().map(Term::from);
        let is_of = |triple: &Triple, list: &[NamedNodeRef<'static>]| {
            list.iter().any(|property| triple.predicate == *property)
        };
        let is_elsewhere_on_the_page = |triple: &Triple| {
            triple.predicate == rdf::TYPE
                || triple.predicate == pin::MEMBER
                || is_of(triple, &SUMMARIES)
                || is_of(triple, &ELSEWHERE)
                || is_of(triple, &NAMES) && heading.as_ref() == Some(&triple.object)
        };
        let rest: Vec<&Triple> =
            self.own().iter().copied().filter(|triple| !is_elsewhere_on_the_page(triple)).collect();
        if !rest.is_empty() {
            html.markup("<section><h2>Description</h2>");
            self.list(html, &rest, "", &mut vec![self.me.clone()]);
            html.markup("</section>");
        }
        if self.description.more {
            html.markup("<p>There is more; a query finds it.</p>");
        }
    }

    /// Properties and their values, of a node that is the value of `property`; `path` are the nodes
    /// this stands in, so that none is shown inside itself.
    fn list(&self, html: &mut Html, triples: &[&Triple], property: &str, path: &mut Vec<String>) {
        let mut by_property: BTreeMap<String, Vec<&Term>> = BTreeMap::new();
        for triple in triples {
            match &triple.object {
                // What kind of node it is stands above the rest, as on the page itself, unless the
                // property has said it.
                Term::NamedNode(kind) if triple.predicate == rdf::TYPE => {
                    let kind = self.property(kind);
                    if kind != property {
                        html.markup("<p class=\"kind\">").text(&kind).markup("</p>");
                    }
                }
                object => by_property.entry(self.property(&triple.predicate)).or_default().push(object),
            }
        }
        html.markup("<dl>");
        for (property, mut values) in by_property {
            values.sort_by_cached_key(|value| value.to_string());
            values.dedup();
            html.markup("<div><dt>").text(&property).markup("</dt><dd><ul>");
            for value in values.iter().take(VALUES) {
                html.markup("<li>");
                self.value(html, value, &property, path);
                html.markup("</li>");
            }
            and_more(html, values.len().saturating_sub(VALUES));
            html.markup("</ul></dd></div>");
        }
        html.markup("</dl>");
    }

    fn value(&self, html: &mut Html, value: &Term, property: &str, path: &mut Vec<String>) {
        let node = match value {
            Term::Literal(literal) => return self.literal(html, literal),
            Term::NamedNode(node) => NamedOrBlankNode::from(node.clone()).to_string(),
            Term::BlankNode(node) => NamedOrBlankNode::from(node.clone()).to_string(),
            #[allow(unreachable_patterns, reason = "triple terms, where RDF 1.2 is compiled in")]
            other => {
                html.text(&other.to_string());
                return;
            }
        };
        if let Some(said) = self.said.get(&node)
            && !path.contains(&node)
            && path.len() < DEPTH
        {
            path.push(node);
            match only_text(said) {
                Some(text) => self.text_of(html, said, text, property),
                None => self.list(html, said, property, path),
            }
            path.pop();
        } else if let Term::NamedNode(node) = value {
            self.link(html, node);
        } else {
            html.markup("…");
        }
    }

    fn literal(&self, html: &mut Html, literal: &Literal) {
        html.isolated(literal.value(), literal.language());
        if let Some(language) = literal.language() {
            html.markup(" <small>").text(language).markup("</small>");
        }
    }

    /// A node that is no more than a text, and what kind of text.
    fn text_of(&self, html: &mut Html, said: &[&Triple], text: &Literal, property: &str) {
        self.literal(html, text);
        for triple in said {
            if let Term::NamedNode(kind) = &triple.object {
                let kind = self.property(kind);
                if kind != property {
                    html.markup(" <small>").text(&kind).markup("</small>");
                }
            }
        }
    }

    fn link(&self, html: &mut Html, node: &NamedNode) {
        match self.local.within(node.as_str()) {
            Some(place) => html.link(&place, &self.name(node)),
            None => html.link_out(node.as_str(), &self.name(node)),
        };
    }

    /// The records that describe it, each with its source and number there: they often have one name.
    fn records(&self, html: &mut Html) {
        let members: BTreeSet<&NamedNode> = self.values(&[pin::MEMBER]).collect();
        if members.is_empty() {
            return;
        }
        html.markup("<section><h2>Records <small>").text(&members.len().to_string());
        html.markup("</small></h2><ul>");
        let more = members.len().saturating_sub(VALUES);
        for member in members.into_iter().take(VALUES) {
            html.markup("<li>");
            self.link(html, member);
            let place = self.local.path_of(member.as_str()).and_then(|path| path.strip_prefix("record/"));
            if let Some(record) = place.and_then(|place| place.split('#').next()) {
                html.markup(" <small>").text(record).markup("</small>");
            }
            html.markup("</li>");
        }
        and_more(html, more);
        html.markup("</ul></section>");
    }

    /// The things that properties lead to.
    fn values<'b>(
        &'b self,
        properties: &'b [NamedNodeRef<'static>],
    ) -> impl Iterator<Item = &'a NamedNode> + 'b {
        let of = self.own().iter().filter(|triple| properties.iter().any(|one| triple.predicate == *one));
        of.filter_map(|triple| match &triple.object {
            Term::NamedNode(value) => Some(value),
            _ => None,
        })
    }

    fn elsewhere(&self, html: &mut Html) {
        let others: BTreeSet<&NamedNode> = self.values(&ELSEWHERE).collect();
        if others.is_empty() {
            return;
        }
        html.markup("<section><h2>Known elsewhere</h2><ul>");
        let more = others.len().saturating_sub(VALUES);
        for other in others.into_iter().take(VALUES) {
            html.markup("<li>");
            self.link(html, other);
            html.markup("</li>");
        }
        and_more(html, more);
        html.markup("</ul></section>");
    }

    fn inbound(&self, html: &mut Html) {
        let mut by_role: BTreeMap<String, BTreeMap<String, &NamedNode>> = BTreeMap::new();
        for inbound in &self.description.inbound {
            let named = (self.name(&inbound.subject), &inbound.subject);
            by_role.entry(self.property(&inbound.role)).or_default().insert(
                // Two works may have one name.
                format!("{}\n{}", named.0, named.1.as_str()),
                named.1,
            );
        }
        if by_role.is_empty() {
            return;
        }
        html.markup("<section><h2>What leads here</h2>");
        for (role, subjects) in by_role {
            html.markup("<h3>").text(&role).markup(" <small>").text(&subjects.len().to_string());
            html.markup("</small></h3><ul>");
            for subject in subjects.values().take(VALUES) {
                html.markup("<li>");
                self.link(html, subject);
                html.markup("</li>");
            }
            and_more(html, subjects.len().saturating_sub(VALUES));
            html.markup("</ul>");
        }
        if self.description.more_inbound {
            html.markup("<p>There is more; a query finds it.</p>");
        }
        html.markup("</section>");
    }

    fn foot(&self, html: &mut Html) {
        html.markup("</article></main>\n<footer><p>As data:</p><ul>");
        for view in VIEWS.iter().filter(|view| view.suffix() != "html") {
            let place = format!("{}.{}", self.place(), view.suffix());
            html.markup("<li>").link(&place, view.media_type()).markup("</li>");
        }
        html.markup("</ul></footer></body></html>\n");
    }
}

/// What a list leaves out.
fn and_more(html: &mut Html, count: usize) {
    if count > 0 {
        html.markup("<li>and ").text(&count.to_string()).markup(" more</li>");
    }
}

/// The text of a node that has nothing else but a kind.
fn only_text<'a>(said: &[&'a Triple]) -> Option<&'a Literal> {
    let mut rest = said.iter().filter(|triple| triple.predicate != rdf::TYPE);
    match (rest.next().map(|triple| &triple.object), rest.next()) {
        (Some(Term::Literal(text)), None) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_within_the_catalogue_stay_there() {
        for (base, path) in [("http://a.example/", "/"), ("https://a.example/b/", "/b/")] {
            let local = Local::new(base, path);
            for rest in ["", "work/1", "record/a/b%2Fc#instance", "graph/x?y=..", "a//b", "a..b", "...", "é"]
            {
                assert_eq!(local.link(&format!("{base}{rest}")), format!("{path}{rest}"));
            }
            for rest in [
                "/evil.example",
                "//evil.example/",
                "\\evil.example",
                "..//evil.example",
                "a/../b",
                "a/%2E./b",
                ".",
                "\t/evil.example",
            ] {
                let iri = format!("{base}{rest}");
                assert_eq!(local.within(&iri), None, "{rest}");
                assert_eq!(local.link(&iri), iri, "the whole name leads nowhere else");
            }
            assert_eq!(local.within("https://evil.example/"), None);
        }
    }
}
