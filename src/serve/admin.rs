//! What only whoever runs the server may ask. The gate lets nobody else come here.

use super::Site;
use super::access::{Holder, Role};
use super::answer::Answer;
use super::metrics::Traffic;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

pub async fn metrics(State(site): State<Arc<Site>>) -> Response {
    let text = site.metrics.text(&site.service.status(), &traffic(&site));
    // The version of the text format that Prometheus reads.
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

fn traffic(site: &Site) -> Traffic {
    let unsent = site.connections.unsent();
    Traffic {
        connections: site.connections.count(),
        dismissed: site.connections.dismissed(),
        free_slots: site.slots.available_permits(),
        unsent: unsent.memory + unsent.disk,
    }
}

/// Copies the catalogue while it is served.
pub async fn backup(State(site): State<Arc<Site>>, Extension(holder): Extension<Holder>) -> Answer {
    holder.at_least(Role::Admin)?;
    let place = site.service.backup().await?;
    Ok(format!("{place}\n").into_response())
}
