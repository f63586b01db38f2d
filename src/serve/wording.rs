//! What is a property or a kind called on a page? What it is called by in its vocabulary, as words.

use crate::ontology::{bf, skos};
use oxrdf::{NamedNode, NamedNodeRef};

/// Properties that readers call otherwise.
const CALLED: [(NamedNodeRef<'static>, &str); 2] =
    [(skos::ALT_LABEL, "Also known as"), (bf::IDENTIFIED_BY, "Identifiers")];
/// What is written in capitals.
const ABBREVIATIONS: [&str; 14] =
    ["ddc", "doi", "iri", "isbn", "ismn", "isni", "isrc", "issn", "lcc", "lccn", "nlm", "oclc", "udc", "url"];

/// `bf:mainTitle` is "Main title".
pub fn property(iri: &NamedNode) -> String {
    if let Some((_, called)) = CALLED.iter().find(|(property, _)| iri == property) {
        return (*called).to_owned();
    }
    let local = iri.as_str().rsplit(['#', '/']).next().filter(|name| !name.is_empty());
    spoken(local.unwrap_or(iri.as_str()))
}

/// A label where a heading begins with it.
pub fn capitalized(label: &str) -> String {
    let mut rest = label.chars();
    rest.next().into_iter().flat_map(char::to_uppercase).chain(rest).collect()
}

/// `mainTitle` and `main_title` as words.
fn spoken(name: &str) -> String {
    let mut words = String::new();
    let mut lower_before = false;
    for c in name.chars() {
        if matches!(c, '_' | '-') {
            words.push(' ');
        } else if c.is_uppercase() && lower_before {
            words.push(' ');
            words.extend(c.to_lowercase());
        } else {
            words.push(c);
        }
        lower_before = c.is_lowercase();
    }
    let written = |word: &str| {
        let is_known = ABBREVIATIONS.iter().any(|known| word.eq_ignore_ascii_case(known));
        if is_known { word.to_uppercase() } else { word.to_owned() }
    };
    capitalized(&words.split(' ').map(written).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_properties_are_spoken() {
        for (name, expected) in [
            ("mainTitle", "Main title"),
            ("first_seen", "First seen"),
            ("Isbn", "ISBN"),
            ("ClassificationDdc", "Classification DDC"),
            ("author", "Author"),
            ("", ""),
        ] {
            assert_eq!(spoken(name), expected);
        }
        assert_eq!(property(&skos::ALT_LABEL.into_owned()), "Also known as");
        assert_eq!(capitalized("écrivain de la Marne"), "Écrivain de la Marne");
    }
}
