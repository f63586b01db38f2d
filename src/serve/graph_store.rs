//! The SPARQL 1.1 Graph Store Protocol.
//!
//! A graph is named by `?graph=` or is the `?default` one, or the address is its name: whatever
//! lies below `/graph-store/` and `/graph/`. A POST to `/graph-store` itself makes a new graph.

#[cfg(test)]
mod tests;

use super::access::Holder;
use super::answer::{self, Answer};
use super::gate::{Whole, for_writers};
use super::multipart::{Part, parts};
use super::negotiate::{GRAPHS, choose, listed};
use super::parameters::{iri, media_type};
use super::problem::Problem;
use super::service::{Change, Document, GraphWrite, Written};
use super::{Site, routes};
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::IntoResponse;
use oxrdf::GraphName;
use oxrdfio::RdfFormat;
use ring::rand::{SecureRandom, SystemRandom};
use std::sync::Arc;

/// `/graph-store`, with the name of the graph in the query.
pub async fn named(
    State(site): State<Arc<Site>>,
    Extension(holder): Extension<Holder>,
    request: Request,
) -> Answer {
    let (head, _) = request.into_parts();
    let asked = Asked::read(head.uri.query().unwrap_or_default())?;
    let exchange = Exchange { site: &site, holder, head, format: asked.format };
    match asked.graph {
        Some(graph) => exchange.answer(graph).await,
        None if exchange.head.method == Method::POST => exchange.create().await,
        None => Err(Problem::bad_request("say which graph: `?default` or `?graph=` and its IRI")),
    }
}

/// A graph whose name is the address.
pub async fn direct(
    State(site): State<Arc<Site>>,
    Extension(holder): Extension<Holder>,
    request: Request,
) -> Answer {
    let (head, _) = request.into_parts();
    let asked = Asked::read(head.uri.query().unwrap_or_default())?;
    if asked.graph.is_some() {
        return Err(Problem::bad_request("the address names a graph and the query another one"));
    }
    let name = format!("{}{}", site.settings.base, head.uri.path().trim_start_matches('/'));
    let graph = iri("the address", &name)?;
    let exchange = Exchange { site: &site, holder, head, format: asked.format };
    exchange.answer(graph.into()).await
}

/// What the query string says.
#[derive(Default)]
struct Asked {
    graph: Option<GraphName>,
    format: Option<String>,
}

impl Asked {
    fn read(query: &str) -> Result<Self, Problem> {
        let mut asked = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let graph = match name.as_ref() {
                "default" => GraphName::DefaultGraph,
                "graph" => iri("graph", &value)?.into(),
                "format" => {
                    asked.format = Some(value.into_owned());
                    continue;
                }
                _ => continue,
            };
            if asked.graph.replace(graph).is_some() {
                return Err(Problem::bad_request("two graphs are named"));
            }
        }
        Ok(asked)
    }
}

struct Exchange<'a> {
    site: &'a Site,
    holder: Holder,
    head: Parts,
    format: Option<String>,
}

impl Exchange<'_> {
    async fn answer(self, graph: GraphName) -> Answer {
        match self.head.method {
            Method::GET | Method::HEAD => self.show(graph).await,
            Method::PUT => {
                self.check(&graph)?;
                let documents = self.documents(&graph)?;
                self.write(graph, Change::Replace(documents)).await
            }
            Method::POST => {
                self.check(&graph)?;
                let documents = self.documents(&graph)?;
                self.write(graph, Change::Add(documents)).await
            }
            Method::DELETE => {
                self.check(&graph)?;
                self.write(graph, Change::Remove).await
            }
            _ => Err(Problem::method(routes::methods(routes::GRAPH_STORE))),
        }
    }

    async fn show(self, graph: GraphName) -> Answer {
        let offer = choose(GRAPHS, self.format.as_deref(), &self.head.headers)
            .ok_or_else(|| Problem::not_acceptable(&listed(GRAPHS)))?;
        let limits = self.site.limits.query(self.holder.role);
        let shown = self.site.service.graph(graph, offer.form, limits).await?;
        let reply = shown.ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, "there is no such graph"))?;
        Ok(answer::reply(reply, &self.head.headers))
    }

    /// A new graph with a name of ours. The writer of a source gets one that it may write.
    async fn create(self) -> Answer {
        for_writers(self.site, &self.holder)?;
        let mut random = [0; 16];
        SystemRandom::new()
            .fill(&mut random)
            .map_err(|_| Problem::busy("the system gives no random numbers", 1))?;
        let source = self.holder.source.as_ref().map_or_else(String::new, |source| format!("{source}/"));
        let name =
            format!("{}graph-store/{source}{:032x}", self.site.settings.base, u128::from_be_bytes(random));
        let graph: GraphName = iri("the new graph", &name)?.into();
        self.check(&graph)?;
        let documents = self.documents(&graph)?;
        let mut response = self.write(graph, Change::Add(documents)).await?;
        if response.status() != StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::CREATED;
        }
        if let Ok(name) = HeaderValue::from_str(&name) {
            response.headers_mut().insert(header::LOCATION, name);
        }
        Ok(response)
    }

    fn check(&self, graph: &GraphName) -> Result<(), Problem> {
        for_writers(self.site, &self.holder)?;
        if self.holder.may_write(graph, &self.site.settings.base) {
            return Ok(());
        }
        Err(Problem::forbidden(format!("this token may not write {graph}")))
    }

    async fn write(self, graph: GraphName, change: Change) -> Answer {
        let written = self.site.service.write_graph(GraphWrite { graph, change }, self.holder).await?;
        Ok(match written {
            Written::Accepted => answer::accepted(),
            Written::Created => StatusCode::CREATED.into_response(),
            Written::Changed => StatusCode::NO_CONTENT.into_response(),
            Written::Absent => return Err(Problem::new(StatusCode::NOT_FOUND, "there is no such graph")),
        })
    }

    /// What the body holds: one document, or several in parts. Parsing them is for others, who can be
    /// ended if a parser does not.
    fn documents(&self, graph: &GraphName) -> Result<Vec<Document>, Problem> {
        let kind = media_type(&self.head.headers)?;
        let body = self.head.extensions.get::<Whole>().map(|Whole(body)| body.clone()).unwrap_or_default();
        let base = match graph {
            GraphName::NamedNode(name) => name.as_str().to_owned(),
            _ => format!("{}graph-store", self.site.settings.base),
        };
        if kind != "multipart/form-data" {
            return Ok(vec![Document { format: syntax(&kind)?, base, body }]);
        }
        let document = |part: Part<'_>| {
            let format = syntax(&media_type(&part.headers)?)?;
            Ok(Document { format, base: base.clone(), body: body.slice_ref(part.body) })
        };
        parts(&body, &self.head.headers)?.into_iter().map(document).collect()
    }
}

fn syntax(media_type: &str) -> Result<RdfFormat, Problem> {
    RdfFormat::from_media_type(media_type)
        .ok_or_else(|| Problem::unsupported(format!("`{media_type}` is not RDF; send {}", listed(GRAPHS))))
}
