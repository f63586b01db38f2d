//! What a server counts, in the text format of Prometheus.
//!
//! Labels are routes of our own table, statuses and nothing that a client can choose, so the
//! number of lines has a bound.

use super::service::Status;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The upper bounds of the histogram, in seconds.
const BUCKETS: [f64; 10] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 5.0, 30.0];

#[derive(Default)]
pub struct Metrics {
    routes: Mutex<BTreeMap<String, Route>>,
    tokens_refused: AtomicU64,
    turned_away: AtomicU64,
    panics: AtomicU64,
}

/// How the server's connections are right now.
#[derive(Debug, Clone, Copy, Default)]
pub struct Traffic {
    pub connections: usize,
    pub dismissed: u64,
    pub free_slots: usize,
    pub unsent: u64,
}

#[derive(Default)]
struct Route {
    by_status: BTreeMap<u16, u64>,
    /// One more than there are bounds: the last is for what is beyond them.
    buckets: [u64; BUCKETS.len() + 1],
    seconds: f64,
}

impl Metrics {
    pub fn count(&self, route: &str, status: u16, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = BUCKETS.partition_point(|bound| *bound < seconds);
        let mut routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        if !routes.contains_key(route) {
            routes.insert(route.to_owned(), Route::default());
        }
        let Some(counts) = routes.get_mut(route) else { return };
        *counts.by_status.entry(status).or_default() += 1;
        counts.buckets[bucket] += 1;
        counts.seconds += seconds;
    }

    pub fn token_refused(&self) {
        self.tokens_refused.fetch_add(1, Ordering::Relaxed);
    }

    pub fn turned_away(&self) {
        self.turned_away.fetch_add(1, Ordering::Relaxed);
    }

    pub fn panicked(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    /// All figures.
    pub fn text(&self, status: &Status, traffic: &Traffic) -> String {
        let mut out = String::new();
        self.requests(&mut out);
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let number = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        for (name, kind, help, value) in [
            ("tokens_refused_total", "counter", "Requests with a bad token.", read(&self.tokens_refused)),
            (
                "turned_away_total",
                "counter",
                "Requests that found no slot or no room.",
                read(&self.turned_away),
            ),
            ("panics_total", "counter", "Requests that failed inside the server.", read(&self.panics)),
            ("connections", "gauge", "Open connections.", number(traffic.connections)),
            ("connections_dismissed_total", "counter", "Closed for others.", traffic.dismissed),
            ("slots_free", "gauge", "Requests that could be taken on now.", number(traffic.free_slots)),
            ("unsent_bytes", "gauge", "Of answers that wait to be taken.", traffic.unsent),
            ("ready", "gauge", "Whether queries can be answered.", u64::from(status.ready)),
            ("snapshot", "gauge", "The snapshot that queries see.", status.snapshot),
            ("workers", "gauge", "Query workers.", status.workers),
            ("workers_busy", "gauge", "Query workers at work.", status.workers_busy),
            ("workers_lost_total", "counter", "Query workers killed or died.", status.workers_lost),
            ("glances_total", "counter", "Queries answered without a worker.", status.glances),
            ("queries_waiting", "gauge", "Queries that wait for a worker.", status.waiting),
        ] {
            header(&mut out, name, kind, help);
            line(&mut out, format_args!("pinakes_{name} {value}"));
        }
        out
    }

    fn requests(&self, out: &mut String) {
        let routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        header(out, "requests_total", "counter", "Requests by route and status.");
        for (route, counts) in routes.iter() {
            for (status, count) in &counts.by_status {
                let labels = format_args!("route=\"{route}\",status=\"{status}\"");
                line(out, format_args!("pinakes_requests_total{{{labels}}} {count}"));
            }
        }
        header(out, "request_seconds", "histogram", "Time to the last byte of the answer.");
        for (route, counts) in routes.iter() {
            let mut sum = 0;
            for (bound, count) in
                BUCKETS.iter().map(f64::to_string).chain(["+Inf".to_owned()]).zip(counts.buckets)
            {
                sum += count;
                let labels = format_args!("route=\"{route}\",le=\"{bound}\"");
                line(out, format_args!("pinakes_request_seconds_bucket{{{labels}}} {sum}"));
            }
            line(out, format_args!("pinakes_request_seconds_sum{{route=\"{route}\"}} {}", counts.seconds));
            line(out, format_args!("pinakes_request_seconds_count{{route=\"{route}\"}} {sum}"));
        }
    }
}

fn header(out: &mut String, name: &str, kind: &str, help: &str) {
    line(out, format_args!("# HELP pinakes_{name} {help}"));
    line(out, format_args!("# TYPE pinakes_{name} {kind}"));
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_add_up() {
        let metrics = Metrics::default();
        metrics.count("/sparql", 200, Duration::from_millis(1));
        metrics.count("/sparql", 200, Duration::from_secs(2));
        metrics.count("/sparql", 400, Duration::from_secs(100));
        metrics.token_refused();
        let text = metrics.text(
            &Status { ready: true, snapshot: 7, ..Status::default() },
            &Traffic { connections: 3, free_slots: 5, ..Traffic::default() },
        );
        for expected in [
            "pinakes_requests_total{route=\"/sparql\",status=\"200\"} 2",
            "pinakes_requests_total{route=\"/sparql\",status=\"400\"} 1",
            "pinakes_request_seconds_bucket{route=\"/sparql\",le=\"0.001\"} 1",
            "pinakes_request_seconds_bucket{route=\"/sparql\",le=\"5\"} 2",
            "pinakes_request_seconds_bucket{route=\"/sparql\",le=\"+Inf\"} 3",
            "pinakes_request_seconds_count{route=\"/sparql\"} 3",
            "pinakes_tokens_refused_total 1",
            "pinakes_snapshot 7",
            "pinakes_connections 3",
            "pinakes_slots_free 5",
        ] {
            assert!(text.lines().any(|line| line == expected), "{expected} is not in\n{text}");
        }
    }
}
