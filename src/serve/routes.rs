//! The table of URLs.

use super::{Site, admin, description, gate, graph_store, health, linked, oai, sparql};
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post};
use std::sync::Arc;

pub const HOME: &str = "/";
pub const SPARQL: &str = "/sparql";
/// Many clients write it so.
pub const SPARQL_SLASH: &str = "/sparql/";
pub const GRAPH_STORE: &str = "/graph-store";
pub const GRAPH_STORE_DIRECT: &str = "/graph-store/{*path}";
pub const GRAPH_DIRECT: &str = "/graph/{*path}";
pub const OAI: &str = "/oai";
pub const VOID: &str = "/.well-known/void";
pub const STYLE: &str = "/style.css";
pub const HEALTH: &str = "/health";
pub const METRICS: &str = "/metrics";
pub const BACKUP: &str = "/admin/backup";
/// What is none of the above is an entity, or nothing. The label of metrics and logs.
pub const ENTITY: &str = "entity";

/// All routes, those of others (`more`) among them, behind the gate.
pub fn router(site: &Arc<Site>, more: Router) -> Router {
    Router::new()
        .route(HOME, get(linked::home))
        .route(SPARQL, any(sparql::endpoint))
        .route(SPARQL_SLASH, any(sparql::endpoint))
        .route(GRAPH_STORE, any(graph_store::named))
        .route(GRAPH_STORE_DIRECT, any(graph_store::direct))
        .route(GRAPH_DIRECT, any(graph_store::direct))
        .route(OAI, get(oai::get).post(oai::post))
        .route(VOID, get(description::void))
        .route(STYLE, get(linked::style))
        .route(HEALTH, get(health::health))
        .route(METRICS, get(admin::metrics))
        .route(BACKUP, post(admin::backup))
        .fallback(get(linked::entity))
        .with_state(Arc::clone(site))
        .merge(more)
        .layer(from_fn_with_state(Arc::clone(site), gate::pass))
}

/// The methods a page of another origin may use: those that read.
pub fn readable(route: &str) -> &'static str {
    match route {
        SPARQL | OAI => "GET, HEAD, OPTIONS, POST",
        METRICS | BACKUP => "",
        _ => "GET, HEAD, OPTIONS",
    }
}

/// The methods there are.
pub fn methods(route: &str) -> &'static str {
    match route {
        GRAPH_STORE | GRAPH_STORE_DIRECT | GRAPH_DIRECT => "GET, HEAD, OPTIONS, PUT, POST, DELETE",
        SPARQL | OAI => "GET, HEAD, OPTIONS, POST",
        BACKUP => "OPTIONS, POST",
        _ => "GET, HEAD, OPTIONS",
    }
}

/// Whether a whole graph is asked for or written there.
pub fn is_graph(route: &str) -> bool {
    matches!(route, GRAPH_STORE | GRAPH_STORE_DIRECT | GRAPH_DIRECT)
}

pub fn is_admin(route: &str) -> bool {
    matches!(route, METRICS | BACKUP)
}
