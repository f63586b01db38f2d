//! Which of a repository's metadata formats to ask for.

use super::response::MetadataFormat;
use crate::record::Model;

/// The formats we read, the best first.
const FORMATS_TSV: &str = include_str!("formats.tsv");
/// What every repository must offer.
const MANDATORY: &str = "oai_dc";

/// A format, and what its records mean where that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub prefix: String,
    pub model: Option<Model>,
}

/// Chooses the format that says most; of those that say as much, the one named first. `None`
/// when nothing is offered.
pub fn choose(offered: &[MetadataFormat]) -> Option<Choice> {
    let ranked = offered.iter().filter(|format| !format.prefix.is_empty()).map(|format| {
        let row = row(&format.prefix, &format.namespace);
        (row.as_ref().map_or(usize::MAX, |(rank, _)| *rank), format, row.map(|(_, model)| model))
    });
    let best = ranked.min_by_key(|(rank, format, _)| (*rank, format.prefix != MANDATORY))?;
    let (_, format, model) = best;
    Some(Choice { prefix: format.prefix.clone(), model })
}

/// What records of a prefix mean, as far as the prefix tells.
pub fn model(prefix: &str) -> Option<Model> {
    row(prefix, "").map(|(_, model)| model)
}

/// The line of the table that fits, and its model.
fn row(prefix: &str, namespace: &str) -> Option<(usize, Model)> {
    let prefix = prefix.to_ascii_lowercase();
    let rows =
        FORMATS_TSV.lines().filter(|line| !line.starts_with('#')).enumerate().filter_map(|(at, line)| {
            let mut cells = line.split('\t');
            Some((at, cells.next()?.parse().ok()?, cells.next()?, cells.next()?))
        });
    let mut by_namespace = None;
    for (at, model, known, space) in rows {
        let fits = match known.strip_suffix('*') {
            Some(start) => prefix.starts_with(start),
            None => prefix == known,
        };
        if fits {
            return Some((at, model));
        }
        if by_namespace.is_none() && !namespace.is_empty() && space == namespace {
            by_namespace = Some((at, model));
        }
    }
    by_namespace
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(prefix: &str, namespace: &str) -> MetadataFormat {
        MetadataFormat { prefix: prefix.to_owned(), schema: String::new(), namespace: namespace.to_owned() }
    }

    #[track_caller]
    fn check(offered: &[(&str, &str)], expected: Option<(&str, Option<Model>)>) {
        let offered: Vec<_> = offered.iter().map(|(prefix, space)| format(prefix, space)).collect();
        let choice = choose(&offered);
        let choice = choice.as_ref().map(|choice| (choice.prefix.as_str(), choice.model));
        assert_eq!(choice, expected);
    }

    #[test]
    fn every_line_of_the_table_is_read() {
        for line in FORMATS_TSV.lines().filter(|line| !line.starts_with('#')) {
            let [model, prefix, namespace] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
            assert!(model.parse::<Model>().is_ok(), "{line}");
            assert!(row(prefix.trim_end_matches('*'), namespace).is_some(), "{line}");
        }
    }

    #[test]
    fn marc_is_better_than_mods_and_that_than_dublin_core() {
        check(&[("oai_dc", ""), ("mods", ""), ("marcxml", "")], Some(("marcxml", Some(Model::Marc21))));
        check(&[("oai_dc", ""), ("mods", "")], Some(("mods", Some(Model::Mods))));
        check(&[("rdf", ""), ("oai_dc", ""), ("qdc", "")], Some(("qdc", Some(Model::DublinCore))));
        check(&[("rdf", ""), ("oai_dc", "")], Some(("oai_dc", Some(Model::DublinCore))));
        check(&[("MARC21", ""), ("unimarc", "")], Some(("MARC21", Some(Model::Marc21))));
    }

    #[test]
    fn a_format_of_unknown_name_is_known_by_its_namespace() {
        let slim = "http://www.loc.gov/MARC21/slim";
        check(&[("oai_dc", ""), ("bibliographic", slim)], Some(("bibliographic", Some(Model::Marc21))));
        check(&[("unimarc", slim)], Some(("unimarc", Some(Model::Unimarc))));
    }

    #[test]
    fn what_nobody_knows_comes_last() {
        check(&[("xoai", "urn:x"), ("oai_dc", "")], Some(("oai_dc", Some(Model::DublinCore))));
        check(&[("xoai", "urn:x"), ("epicur", "")], Some(("xoai", None)));
        check(&[("", "")], None);
        check(&[], None);
    }
}
