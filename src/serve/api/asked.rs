//! What a request to the API asks for, from its query string and within bounds.
//!
//! A value that is wrong is a problem that says what is expected. Names that no route knows never
//! come here ([`parameters`](super::parameters)); one that another route knows is left alone.

use crate::serve::problem::Problem;
use axum::http::Uri;
use form_urlencoded::Serializer;
use std::ops::RangeInclusive;

/// The parameters that filter, each by the values of a facet.
pub const FACETS: [&str; 8] = ["kind", "type", "language", "source", "subject", "creator", "year", "decade"];
/// The longest text that is searched for, in bytes.
const LONGEST: usize = 4096;
const MOST_FILTERS: usize = 64;
const MOST_VALUES: usize = 1000;
/// The last hit that can be paged to.
const DEEPEST: usize = 10_000;

/// How many are given of something: usually, and at most.
#[derive(Debug, Clone, Copy)]
pub struct Length {
    usual: usize,
    most: usize,
}

pub const PAGE: Length = Length { usual: 20, most: 100 };
pub const SUGGESTIONS: Length = Length { usual: 10, most: 50 };
pub const EXPORT: Length = Length { usual: 100, most: 1000 };

/// A search as it was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    pub text: String,
    /// Where words are searched that name no field.
    pub field: Option<String>,
    /// Facets and values.
    pub filters: Vec<(String, String)>,
    pub years: Option<RangeInclusive<i32>>,
    pub order: Order,
    pub offset: usize,
    pub limit: usize,
    /// What to count by, and how many values of each.
    pub facets: Vec<String>,
    pub values: usize,
    /// Whether other words of the same meaning count.
    pub expand: bool,
}

/// Which hits come first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    Relevance,
    Newest,
    Oldest,
    /// Those that came last into the catalogue.
    Added,
}

impl Order {
    const ALL: [(&str, Self); 4] = [
        ("relevance", Self::Relevance),
        ("newest", Self::Newest),
        ("oldest", Self::Oldest),
        ("added", Self::Added),
    ];
}

impl Asked {
    pub fn read(uri: &Uri, length: Length) -> Result<Self, Problem> {
        let mut asked = Self { limit: length.usual, values: 10, ..Self::default() };
        for (name, value) in parameters(uri) {
            let value = value.as_ref();
            match name.as_ref() {
                "q" if value.len() > LONGEST => {
                    return Err(Problem::bad_request(format!("`q` is longer than {LONGEST} bytes")));
                }
                "q" => value.clone_into(&mut asked.text),
                "field" if value.is_empty() => {}
                "field" => asked.field = Some(value.to_owned()),
                "sort" => asked.order = order(value)?,
                "offset" => asked.offset = number("offset", value, 0, DEEPEST)?,
                "limit" => asked.limit = number("limit", value, 1, length.most)?,
                "values" => asked.values = number("values", value, 1, MOST_VALUES)?,
                "expand" => asked.expand = truth(value)?,
                "facets" => asked.facets = facets(value)?,
                "year" if value.contains("..") => asked.years = Some(years(value)?),
                facet if FACETS.contains(&facet) && !value.is_empty() => {
                    if asked.filters.len() == MOST_FILTERS {
                        return Err(Problem::bad_request(format!(
                            "there are more than {MOST_FILTERS} filters"
                        )));
                    }
                    asked.filters.push((facet.to_owned(), value.to_owned()));
                }
                _ => {}
            }
        }
        if asked.offset + asked.limit > DEEPEST {
            let message = format!("only the first {DEEPEST} hits can be had; ask for less of them");
            return Err(Problem::bad_request(message));
        }
        Ok(asked)
    }

    /// The first value of another parameter.
    pub fn first(&self, uri: &Uri, name: &str) -> Option<String> {
        parameters(uri).find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    }

    /// What was searched for, as the query string of another page.
    pub fn query(&self, offset: usize) -> String {
        let mut out = Serializer::new(String::new());
        if !self.text.is_empty() {
            out.append_pair("q", &self.text);
        }
        if let Some(field) = &self.field {
            out.append_pair("field", field);
        }
        for (facet, value) in &self.filters {
            out.append_pair(facet, value);
        }
        if let Some(years) = &self.years {
            out.append_pair("year", &format!("{}..{}", years.start(), years.end()));
        }
        if self.expand {
            out.append_pair("expand", "true");
        }
        if offset > 0 {
            out.append_pair("offset", &offset.to_string());
        }
        out.finish()
    }
}

fn parameters(uri: &Uri) -> form_urlencoded::Parse<'_> {
    form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
}

fn order(value: &str) -> Result<Order, Problem> {
    let found = Order::ALL.iter().find(|(known, _)| *known == value).map(|(_, order)| *order);
    found.ok_or_else(|| Problem::bad_request("`sort` is one of relevance, newest, oldest and added"))
}

fn number(name: &str, value: &str, least: usize, most: usize) -> Result<usize, Problem> {
    let found = value.parse().ok().filter(|number| (least..=most).contains(number));
    found.ok_or_else(|| Problem::bad_request(format!("`{name}` is a number from {least} to {most}")))
}

fn truth(value: &str) -> Result<bool, Problem> {
    match value {
        "true" | "1" => Ok(true),
        "false" | "0" | "" => Ok(false),
        _ => Err(Problem::bad_request("`expand` is true or false")),
    }
}

fn facets(value: &str) -> Result<Vec<String>, Problem> {
    let mut facets: Vec<String> = Vec::new();
    for name in value.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        if !FACETS.contains(&name) {
            return Err(Problem::bad_request(format!("`facets` is a list of {}", FACETS.join(", "))));
        }
        if !facets.iter().any(|known| known == name) {
            facets.push(name.to_owned());
        }
    }
    Ok(facets)
}

/// `1900..1950`; either end may be left out.
fn years(value: &str) -> Result<RangeInclusive<i32>, Problem> {
    let wrong = || Problem::bad_request("`year` is a year, or two with `..` between them: 1900..1950");
    let (first, last) = value.split_once("..").ok_or_else(wrong)?;
    let year =
        |text: &str, open: i32| if text.is_empty() { Ok(open) } else { text.parse().map_err(|_| wrong()) };
    Ok(year(first, i32::MIN)?..=year(last, i32::MAX)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Result<Asked, String> {
        let uri: Uri = format!("/api/search?{query}").parse().expect("an address");
        Asked::read(&uri, PAGE).map_err(|problem| problem.message)
    }

    #[test]
    fn a_search_is_read_from_the_query_string() {
        let asked = read("q=l%27%C3%A9t%C3%A9&language=fr&language=it&year=1900..1950&facets=type,%20source&expand=true&sort=newest&limit=5").expect("a search");
        assert_eq!(asked.text, "l'été");
        let filters = [("language", "fr"), ("language", "it")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(asked.filters, filters);
        assert_eq!((asked.years, asked.limit, asked.order), (Some(1900..=1950), 5, Order::Newest));
        assert_eq!(asked.facets, ["type", "source"]);
        assert!(asked.expand);
        assert_eq!(read("year=1999").expect("a search").filters, [("year".to_owned(), "1999".to_owned())]);
        assert_eq!(read("year=..1950").expect("a search").years, Some(i32::MIN..=1950));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (query, expected) in [
            ("limit=101", "`limit` is a number from 1 to 100"),
            ("limit=0", "`limit`"),
            ("offset=-1", "`offset`"),
            ("offset=9990&limit=20", "the first 10000"),
            ("sort=best", "`sort`"),
            ("facets=shelf", "`facets`"),
            ("year=a..b", "`year`"),
            ("expand=perhaps", "`expand`"),
            (&format!("q={}", "x".repeat(5000)), "`q` is longer"),
            (&"source=a&".repeat(65), "64 filters"),
        ] {
            let message = read(query).expect_err(query);
            assert!(message.contains(expected), "{query}: {message}");
        }
    }

    #[test]
    fn a_search_is_written_as_it_was_read() {
        let text = "q=l%27%C3%A9t%C3%A9&field=title&language=fr&year=1900..1950&expand=true";
        assert_eq!(read(text).expect("a search").query(0), text);
        assert_eq!(read("").expect("a search").query(50), "offset=50");
    }
}
