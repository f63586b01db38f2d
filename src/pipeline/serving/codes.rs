//! What do the codes of others mean? `rel:aut` is "author".
//!
//! The catalogue names a role, a carrier or a country by its IRI in a foreign list and says no more
//! of it; the lists that mapping reads have a word for it. Only a list that has the IRI's very code
//! says what it means: others lead several codes to the nearest, and their words are of the codes.
//! So do those of UNIMARC, even where the codes are the same.

use crate::concordance::Concordances;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

static MEANINGS: LazyLock<FxHashMap<String, String>> = LazyLock::new(|| {
    let mut meanings: FxHashMap<String, String> = FxHashMap::default();
    for list in Concordances::shipped().lists.iter().filter(|list| !list.name.starts_with("unimarc-")) {
        let (Some(iri), Some(label)) = (list.column("iri"), list.column("label")) else { continue };
        for code in list.codes() {
            let (Some(iri), Some(label)) = (list.get(code, iri), list.get(code, label)) else { continue };
            if iri.rsplit(['/', '#']).next() == Some(code) {
                // Lists for a field of MARC come first, by its number; those of a vocabulary say it best.
                meanings.insert(iri.to_owned(), label.to_owned());
            }
        }
    }
    meanings
});

/// The word for a code, in English.
pub(super) fn meaning(iri: &str) -> Option<&'static str> {
    MEANINGS.get(iri).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ontology::Prefixes;

    #[test]
    fn codes_of_the_shipped_lists_have_a_meaning() {
        for (code, expected) in [
            ("rel:aut", Some("author")),
            ("lclang:aar", Some("Afar")),
            ("lccountry:aa", Some("Albania")),
            ("lccarrier:cr", Some("online resource")),
            ("lcmedia:n", Some("unmediated")),
            ("menclvl:3", Some("abbreviated level")),
            ("rel:nobody", None),
            // Codes lead to these, but they are not what the words of the codes say.
            ("lcissuance:mono", None),
            ("bf:carrier", None),
            ("bf:Person", None),
        ] {
            let iri = Prefixes::shipped().expand(code).unwrap();
            assert_eq!(meaning(iri.as_str()), expected, "{code}");
        }
    }
}
