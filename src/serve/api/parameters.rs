//! Which parameters does each address take? Those that `openapi.json` names, and no others: a filter
//! that is misspelt must not look like one that filters nothing.

use super::OPEN_API;
use crate::serve::problem::Problem;
use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The names of the parameters of a query string, by route.
static KNOWN: LazyLock<BTreeMap<String, Vec<String>>> = LazyLock::new(|| {
    let description: Value = serde_json::from_str(OPEN_API).unwrap_or_default();
    let paths = description["paths"].as_object().into_iter().flatten();
    let names = |item: &Value| -> Vec<String> {
        let parameters = item["get"]["parameters"].as_array().into_iter().flatten();
        let parameters = parameters.filter_map(|parameter| match parameter["$ref"].as_str() {
            Some(place) => description.pointer(place.trim_start_matches('#')),
            None => Some(parameter),
        });
        let in_query = parameters.filter(|parameter| parameter["in"] == "query");
        in_query.filter_map(|parameter| parameter["name"].as_str().map(str::to_owned)).collect()
    };
    paths.map(|(path, item)| (path.clone(), names(item))).collect()
});

/// Refuses what no route knows; everything else passes.
pub async fn check(path: MatchedPath, request: Request, next: Next) -> Response {
    match unknown(path.as_str(), request.uri().query().unwrap_or_default()) {
        Some(problem) => problem.into_json(),
        None => next.run(request).await,
    }
}

fn unknown(path: &str, query: &str) -> Option<Problem> {
    let known = KNOWN.get(path)?;
    let (name, _) = form_urlencoded::parse(query.as_bytes())
        .find(|(name, _)| !name.is_empty() && !known.iter().any(|known| known == name))?;
    let offered = if known.is_empty() {
        "there are none here".to_owned()
    } else {
        format!("there are `{}`", known.join("`, `"))
    };
    Some(Problem::bad_request(format!("`{name}` is no parameter; {offered}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_description_does_not_name_is_refused() {
        let said = |path: &str, query: &str| unknown(path, query).map(|problem| problem.message);
        assert_eq!(said("/api/search", "q=a&language=fr&facets=type&values=3"), None);
        assert_eq!(said("/api/search", ""), None);
        assert_eq!(said("/feed", "q=a&decade=1920&offset=50"), None);
        let refused = said("/api/search", "q=a&lang=fr").expect("refused");
        assert!(refused.starts_with("`lang` is no parameter; there are `q`, `field`"), "{refused}");
        assert_eq!(said("/api/status", "x=1").as_deref(), Some("`x` is no parameter; there are none here"));
        for (path, query) in
            [("/api/suggest", "facets=type"), ("/feed", "sort=oldest"), ("/api/cite/{kind}/{id}", "q=a")]
        {
            assert!(said(path, query).is_some(), "{path}?{query}");
        }
    }
}
