//! CSL-JSON: what citation processors and Zotero read.

use super::{Citation, Name, clean, text};
use serde_json::{Map, Value, json};

/// An array of items.
pub fn csl_json(citations: &[Citation]) -> String {
    let items: Vec<Value> = citations.iter().map(item).collect();
    format!("{:#}\n", Value::Array(items))
}

fn item(citation: &Citation) -> Value {
    let mut item = Map::new();
    item.insert("id".to_owned(), citation.id.clone().into());
    item.insert("type".to_owned(), citation.kind.csl().into());
    let mut field = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            item.insert(name.to_owned(), value.into());
        }
    };
    field("title", Some(citation.whole_title()));
    field("container-title", text(citation.container_title.as_ref()));
    field("collection-title", text(citation.series.as_ref()));
    field("edition", text(citation.edition.as_ref()));
    field("volume", text(citation.volume.as_ref()));
    field("issue", text(citation.issue.as_ref()));
    field("page", text(citation.pages.as_ref()));
    field("publisher", text(citation.publisher.as_ref()));
    field("publisher-place", text(citation.place.as_ref()));
    field("ISBN", text(citation.isbn.as_ref()));
    field("ISSN", text(citation.issn.as_ref()));
    field("DOI", text(citation.doi.as_ref()));
    field("URL", text(citation.url.as_ref()));
    field("language", text(citation.language.as_ref()));
    field("abstract", text(citation.summary.as_ref()));
    let keywords: Vec<String> = citation.keywords.iter().map(|word| clean(word)).collect();
    field(
        "keyword",
        Some(keywords.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")),
    );
    for contributor in &citation.contributors {
        let (Some(variable), Some(name)) = (contributor.role.csl(), name(&contributor.name)) else {
            continue;
        };
        if let Value::Array(names) = item.entry(variable).or_insert_with(|| json!([])) {
            names.push(name);
        }
    }
    let parts = citation.date_parts();
    if !parts.is_empty() {
        item.insert("issued".to_owned(), json!({ "date-parts": [parts] }));
    } else if let Some(date) = text(citation.date.as_ref()) {
        item.insert("issued".to_owned(), json!({ "literal": date }));
    }
    Value::Object(item)
}

fn name(name: &Name) -> Option<Value> {
    let full = |text: &str| Some(clean(text)).filter(|text| !text.is_empty());
    match name {
        Name::Person { family, given } => match (full(family), full(given)) {
            (Some(family), Some(given)) => Some(json!({ "family": family, "given": given })),
            (Some(only), None) | (None, Some(only)) => Some(json!({ "literal": only })),
            (None, None) => None,
        },
        Name::Literal(name) => full(name).map(|name| json!({ "literal": name })),
    }
}
