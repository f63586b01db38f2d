//! In which form somebody wants an answer: `Accept` with its weights, `?format=`, or a suffix.

use axum::http::{HeaderMap, header};
use oxrdfio::{JsonLdProfileSet, RdfFormat};
use sparesults::QueryResultsFormat;

/// A form that an answer can have.
#[derive(Debug, Clone, Copy)]
pub struct Offer<T: 'static> {
    pub form: T,
    /// The first is what the answer is labelled with; the others are accepted for it.
    pub media_types: &'static [&'static str],
    /// What `?format=` may call it; the first is also the suffix.
    pub names: &'static [&'static str],
}

impl<T> Offer<T> {
    pub fn media_type(&self) -> &'static str {
        self.media_types.first().copied().unwrap_or_default()
    }

    pub fn suffix(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }
}

/// A page for people, or statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    Page,
    Statements(RdfFormat),
}

const JSON_LD: RdfFormat = RdfFormat::JsonLd { profile: JsonLdProfileSet::empty() };

/// Rows and truth values. The first of a list is for those who do not mind.
pub const RESULTS: &[Offer<QueryResultsFormat>] = &[
    Offer {
        form: QueryResultsFormat::Json,
        media_types: &["application/sparql-results+json", "application/json", "text/json"],
        names: &["json", "srj"],
    },
    Offer {
        form: QueryResultsFormat::Xml,
        media_types: &["application/sparql-results+xml", "application/xml", "text/xml"],
        names: &["xml", "srx"],
    },
    Offer { form: QueryResultsFormat::Csv, media_types: &["text/csv"], names: &["csv"] },
    Offer { form: QueryResultsFormat::Tsv, media_types: &["text/tab-separated-values"], names: &["tsv"] },
];

/// One graph.
pub const GRAPHS: &[Offer<RdfFormat>] = &[
    Offer {
        form: RdfFormat::Turtle,
        media_types: &["text/turtle", "application/turtle", "application/x-turtle"],
        names: &["ttl", "turtle"],
    },
    Offer {
        form: RdfFormat::NTriples,
        media_types: &["application/n-triples"],
        names: &["nt", "ntriples", "n-triples"],
    },
    Offer {
        form: RdfFormat::RdfXml,
        media_types: &["application/rdf+xml", "application/xml", "text/xml"],
        names: &["rdf", "rdfxml", "xml"],
    },
    Offer {
        form: JSON_LD,
        media_types: &["application/ld+json", "application/json"],
        names: &["jsonld", "json-ld", "json"],
    },
    Offer { form: RdfFormat::TriG, media_types: &["application/trig"], names: &["trig"] },
    Offer {
        form: RdfFormat::NQuads,
        media_types: &["application/n-quads"],
        names: &["nq", "nquads", "n-quads"],
    },
];

/// A description: statements for programs, a page for browsers, which name HTML in `Accept`.
pub const VIEWS: &[Offer<View>] = &[
    Offer {
        form: View::Statements(RdfFormat::Turtle),
        media_types: &["text/turtle", "application/turtle", "application/x-turtle"],
        names: &["ttl", "turtle"],
    },
    Offer {
        form: View::Page,
        media_types: &["text/html", "application/xhtml+xml"],
        names: &["html", "xhtml"],
    },
    Offer {
        form: View::Statements(JSON_LD),
        media_types: &["application/ld+json", "application/json"],
        names: &["jsonld", "json-ld", "json"],
    },
    Offer {
        form: View::Statements(RdfFormat::NTriples),
        media_types: &["application/n-triples"],
        names: &["nt", "ntriples", "n-triples"],
    },
    Offer {
        form: View::Statements(RdfFormat::RdfXml),
        media_types: &["application/rdf+xml", "application/xml", "text/xml"],
        names: &["rdf", "rdfxml", "xml"],
    },
];

/// What the client likes best of what there is: by `?format=` (a name or a media type) if it is
/// given, else by `Accept`. None if nothing there is will do.
pub fn choose<'a, T>(
    offers: &'a [Offer<T>],
    format: Option<&str>,
    headers: &HeaderMap,
) -> Option<&'a Offer<T>> {
    if let Some(wanted) = format {
        let wanted = wanted.trim();
        return offers.iter().find(|offer| {
            let is = |name: &&str| name.eq_ignore_ascii_case(wanted);
            offer.names.iter().any(&is) || offer.media_types.iter().any(is)
        });
    }
    let accept: Vec<&str> =
        headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let ranges: Vec<Range<'_>> = accept.iter().flat_map(|value| value.split(',')).filter_map(range).collect();
    if ranges.is_empty() {
        return offers.first();
    }
    let mut best: Option<(&Offer<T>, u16)> = None;
    for offer in offers {
        // Another name of a form counts only if it is named: `*/*` must not bring back what
        // `text/turtle;q=0` excludes.
        let exact = |name: &&str| ranges.iter().find(|range| range.is(name)).map(|range| range.weight);
        let others = offer.media_types.iter().skip(1).filter_map(exact).max().unwrap_or(0);
        let weight = weight(&ranges, offer.media_type()).max(others);
        // Of equals the first wins.
        if weight > best.map_or(0, |(_, weight)| weight) {
            best = Some((offer, weight));
        }
    }
    best.map(|(offer, _)| offer)
}

/// What there is, for a message.
pub fn listed<T>(offers: &[Offer<T>]) -> String {
    offers.iter().map(Offer::media_type).collect::<Vec<_>>().join(", ")
}

/// `type/subtype;q=0.5`, the weight in thousandths.
struct Range<'a> {
    kind: &'a str,
    subtype: &'a str,
    weight: u16,
}

impl Range<'_> {
    /// Whether it is this media type, named in full.
    fn is(&self, media_type: &str) -> bool {
        media_type.split_once('/').is_some_and(|(kind, subtype)| {
            self.kind.eq_ignore_ascii_case(kind) && self.subtype.eq_ignore_ascii_case(subtype)
        })
    }
}

fn range(text: &str) -> Option<Range<'_>> {
    let mut parts = text.split(';');
    // Some old clients write `*` for `*/*`.
    let name = match parts.next()?.trim() {
        "*" => "*/*",
        name => name,
    };
    let (kind, subtype) = name.split_once('/')?;
    let weight = parts
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("q"))
        .map_or(Some(1000), |(_, value)| thousandths(value.trim()))?;
    Some(Range { kind, subtype, weight })
}

fn thousandths(text: &str) -> Option<u16> {
    let value: f32 = text.parse().ok()?;
    // Compared first, so what is no number is no weight.
    (0.0..=1.0).contains(&value).then_some((value * 1000.0) as u16)
}

/// The weight of a media type: that of the range that names it most exactly.
fn weight(ranges: &[Range<'_>], media_type: &str) -> u16 {
    let kind = media_type.split('/').next().unwrap_or_default();
    let exactness = |range: &Range<'_>| match (range.kind, range.subtype) {
        ("*", "*") => Some(0),
        (given, "*") if given.eq_ignore_ascii_case(kind) => Some(1),
        _ => range.is(media_type).then_some(2),
    };
    let fitting = ranges.iter().filter_map(|range| Some((exactness(range)?, range.weight)));
    fitting.max_by_key(|(exactness, _)| *exactness).map_or(0, |(_, weight)| weight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn accepted(accept: &str) -> Option<&'static str> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_str(accept).expect("a header"));
        choose(VIEWS, None, &headers).map(Offer::media_type)
    }

    #[test]
    fn weights_decide_and_exactness_decides_weights() {
        for (accept, chosen) in [
            ("*/*", Some("text/turtle")),
            ("*", Some("text/turtle")),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Some("text/html")),
            ("application/rdf+xml;q=0.5, application/ld+json;q=0.9", Some("application/ld+json")),
            ("text/*;q=0.3, text/html;q=0.7, */*;q=0.5", Some("text/html")),
            ("*/*, text/turtle;q=0", Some("text/html")),
            ("text/turtle;q=0", None),
            ("image/png", None),
            ("TEXT/HTML", Some("text/html")),
            ("application/n-triples; charset=utf-8 ;Q=0.1", Some("application/n-triples")),
            ("text/turtle;q=nonsense, text/html;q=0.1", Some("text/html")),
            ("text/turtle;q=NaN, text/html;q=0.1", Some("text/html")),
            (",,;;,", Some("text/turtle")),
        ] {
            assert_eq!(accepted(accept), chosen, "{accept}");
        }
    }

    #[test]
    fn a_format_in_the_address_wins() {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static("text/html"));
        let asked = |format| choose(GRAPHS, Some(format), &headers).map(Offer::media_type);
        assert_eq!(asked("JSON"), Some("application/ld+json"));
        assert_eq!(asked("application/n-triples"), Some("application/n-triples"));
        assert_eq!(asked("nq"), Some("application/n-quads"));
        assert_eq!(asked("docx"), None);
    }

    #[test]
    fn no_accept_is_any() {
        assert_eq!(choose(RESULTS, None, &HeaderMap::new()).map(Offer::suffix), Some("json"));
    }
}
