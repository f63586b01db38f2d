//! Guesses which term was meant by one that does not exist.
//!
//! Names are compared by Damerau-Levenshtein distance, which counts a swap of neighbours as one
//! slip, first without regard to case: `bf:maintitle` is `bf:mainTitle` mistyped, whereas
//! `bf:Tittle` is nearer to the class `bf:Title` than to the property. Where the prefix
//! offers nothing, the same name under another prefix may have been meant: `bf:creator` is
//! `dcterms:creator`, and `bff:title` is `bf:title`.

use strsim::damerau_levenshtein;

use super::prefixes::cut;
use super::terms::{Ontology, Status};

/// More would be a list to read, not a hint.
const MOST: usize = 3;

pub(super) fn near(ontology: &Ontology, prefixed_or_iri: &str) -> Vec<String> {
    let (prefix, name) = parts(ontology, prefixed_or_iri);
    let known = ontology.knows_prefix(prefix);
    let folded = name.to_lowercase();
    let mut found = Vec::new();
    for row in ontology.prefixes().iter() {
        let same_prefix = row.name == prefix;
        for (candidate, term) in ontology.terms(&row.name) {
            if same_prefix && candidate == name {
                continue;
            }
            // The distance is never less than the difference in length, and dearer to compute.
            if candidate.len().abs_diff(name.len()) > allowed(name) {
                continue;
            }
            let distance = damerau_levenshtein(&candidate.to_lowercase(), &folded);
            if distance <= if same_prefix { allowed(name) } else { 0 } {
                let elsewhere = match (same_prefix, known) {
                    (true, _) => 0,
                    // The prefix was meant, so the others are equally far from it.
                    (false, true) => 1,
                    (false, false) => damerau_levenshtein(&row.name, prefix),
                };
                let deprecated = term.status == Status::Deprecated;
                let exact = damerau_levenshtein(candidate, name);
                found.push((elsewhere, deprecated, distance, exact, format!("{}:{candidate}", row.name)));
            }
        }
    }
    if found.iter().any(|(elsewhere, ..)| *elsewhere == 0) {
        found.retain(|(elsewhere, ..)| *elsewhere == 0);
    }
    // Equal ranks keep the order of the prefix table, in which the vocabularies we write in lead.
    found.sort_by_key(|(elsewhere, deprecated, distance, exact, _)| {
        (*elsewhere, *deprecated, *distance, *exact)
    });
    found.into_iter().map(|(.., name)| name).take(MOST).collect()
}

/// The prefix as written or as the namespace has it, empty if there is none, and the name.
fn parts<'a>(ontology: &'a Ontology, prefixed_or_iri: &'a str) -> (&'a str, &'a str) {
    if let Some((prefix, name)) = ontology.prefixes().split(prefixed_or_iri) {
        (&prefix.name, name)
    } else if prefixed_or_iri.contains("://") {
        ("", cut(prefixed_or_iri).map_or("", |(_, name)| name))
    } else {
        prefixed_or_iri.split_once(':').unwrap_or(("", prefixed_or_iri))
    }
}

/// How many slips a name of this length may have: in a short name, two already make another word.
fn allowed(name: &str) -> usize {
    match name.chars().count() {
        0..=4 => 1,
        5..=9 => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, meant: &[&str]) {
        assert_eq!(near(Ontology::shipped(), written), meant);
    }

    #[test]
    fn slips_of_the_pen_are_forgiven() {
        check("bf:tittle", &["bf:title", "bf:Title"]);
        check("bf:mianTitle", &["bf:mainTitle"]);
        check("skos:preflabel", &["skos:prefLabel"]);
        check("pin:unmapedTag", &["pin:unmappedTag"]);
    }

    #[test]
    fn case_decides_between_class_and_property() {
        check("bf:Tittle", &["bf:Title", "bf:title"]);
    }

    #[test]
    fn full_iris_are_understood() {
        check("http://id.loc.gov/ontologies/bibframe/mianTitle", &["bf:mainTitle"]);
    }

    #[test]
    fn the_same_name_under_another_prefix_may_be_meant() {
        check("bff:mainTitle", &["bf:mainTitle"]);
        check("bf:prefLabel", &["skos:prefLabel"]);
        check("bf:creator", &["dcterms:creator", "dc:creator", "frbr:creator"]);
        check("http://id.loc.gov/ontologies/bibframe-2/mainTitle", &["bf:mainTitle"]);
    }

    #[test]
    fn what_resembles_nothing_has_no_suggestions() {
        check("bf:zzyzxRoadhouse", &[]);
        check("", &[]);
    }
}
