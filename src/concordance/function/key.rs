//! `:workkey(title, name)` and `:instancekey(title, name, year, publisher)`: keys by which two
//! descriptions of one thing find each other.
//!
//! The same book is `Walden ;` with `Thoreau, Henry David,` in MARC, `Walden, or, Life in the
//! woods` with `Thoreau, Henry David, 1817-1862` in Dublin Core, and has `Henry David Thoreau`
//! on its title page: all are `walden/thoreau h`. So a key keeps of a title what stands before
//! other title information, without article, and of a name the last word of the surname and
//! the first letter of the forename. Keys err on the side of too many that are equal; whether
//! two descriptions are of one thing is for others to judge.

use super::isbd::isbd;
use super::name::{Parts, has_subordinate, inverted, is_firm};
use super::nonsorting::sorting;
use super::sortkey::{sortkey, sortkey_begin};
use super::year::year;

/// Articles as the sort key writes them. Some are also words, but a title of one word keeps it.
const ARTICLES: &[&str] = &[
    "a", "al", "an", "as", "das", "de", "den", "der", "die", "een", "ein", "eine", "el", "gli", "het", "i",
    "il", "l", "la", "las", "le", "les", "lo", "los", "o", "os", "the", "um", "uma", "un", "una", "une",
];
/// What introduces an alternative title, after a comma.
const OR: &[&str] = &["or", "ou", "oder", "ossia", "ovvero", "eller", "или"];
/// Beginnings of words that persons are not called by, and small words within no person's name.
const CORPORATE: &[&str] = &[
    "academ",
    "akadem",
    "archiv",
    "associa",
    "bibliot",
    "center",
    "centre",
    "comit",
    "commiss",
    "committ",
    "company",
    "confer",
    "congress",
    "corporat",
    "council",
    "departm",
    "ensemble",
    "foundat",
    "gesellsch",
    "institu",
    "library",
    "minist",
    "museum",
    "orchest",
    "quartet",
    "quintet",
    "societ",
    "universi",
    "verein",
    "verlag",
];
const LINKING: &[&str] = &["and", "at", "for", "fur", "of", "on", "the", "und"];
/// Words that many publishers' names have.
const COMMON: &[&str] = &[
    "and",
    "book",
    "books",
    "ed",
    "edition",
    "editions",
    "editora",
    "editore",
    "editorial",
    "et",
    "for",
    "fur",
    "imprimerie",
    "izd",
    "librairie",
    "libreria",
    "of",
    "press",
    "presses",
    "publisher",
    "publishers",
    "publishing",
    "und",
    "univ",
    "universitat",
    "universite",
    "university",
    "verlag",
    "vo",
    "во",
    "изд",
];
/// What is written where no publisher is known, as the sort key has it.
const NOT_KNOWN: &[&str] = &[
    "publisher not identified",
    "verlag nicht ermittelbar",
    "editeur non identifie",
    "editor no identificado",
];
/// How many characters of a title or a name make a difference.
const LONGEST: usize = 64;

/// `walden/thoreau h`. The name may be missing; without a title there is no key.
pub fn work_key(title: &str, name: &str) -> Option<String> {
    let mut key = title_key(title)?;
    key.push('/');
    key.push_str(&name_key(name));
    Some(key)
}

/// `walden/thoreau h/1854/ticknor`. All but the title may be missing.
pub fn instance_key(title: &str, name: &str, published: &str, publisher: &str) -> Option<String> {
    Some(with_publication(work_key(title, name)?, published, publisher))
}

/// The key of an instance of the work that has this key.
pub fn with_publication(mut key: String, published: &str, publisher: &str) -> String {
    key.push('/');
    key.push_str(year(published).as_deref().unwrap_or_default());
    key.push('/');
    key.push_str(publisher_key(&sortkey(publisher)));
    key
}

fn title_key(title: &str) -> Option<String> {
    let title = sorting(title);
    // An article may go, and what is beyond the longest key does.
    let mut key = sortkey_begin(proper(&isbd(&title)), LONGEST + 8);
    if let Some((article, rest)) = key.split_once(' ')
        && ARTICLES.contains(&article)
    {
        key = rest.to_owned();
    }
    shorten(&mut key);
    (!key.is_empty()).then_some(key)
}

/// The title without other title information, parallel titles, responsibility, general
/// material designation and alternative title.
fn proper(title: &str) -> &str {
    let cuts = [": ", " :", " / ", " = ", ";", " ["];
    let end = cuts.iter().filter_map(|cut| title.find(cut)).filter(|at| *at > 0).min();
    let title = end.and_then(|end| title.get(..end)).unwrap_or(title);
    let is_alternative = |rest: &str| {
        let word = rest.split([' ', ',']).next().unwrap_or_default();
        word.len() < rest.len() && OR.contains(&word)
    };
    let mut commas = title.match_indices(", ");
    let end = commas.find(|(at, comma)| title.get(at + comma.len()..).is_some_and(is_alternative));
    end.and_then(|(end, _)| title.get(..end)).unwrap_or(title)
}

fn name_key(name: &str) -> String {
    let name = isbd(name);
    let (said, after) = name.split_once(',').unwrap_or((&name, ""));
    let is_corporate = if Parts::of(&name).is_some() {
        // A surname may be Church or Library, a forename not.
        is_corporate(after)
    } else {
        // Otherwise dates and titles stand after the comma, if not more of a firm's name.
        is_corporate(said) || is_firm(after) || has_subordinate(said) || is_long(said) || said.contains('(')
    };
    let mut key = if is_corporate { sortkey(&name) } else { person_key(&name, said) };
    shorten(&mut key);
    key
}

/// The key of a person's name, filed or as it is said.
fn person_key(name: &str, said: &str) -> String {
    let filed = inverted(said);
    let Some(Parts { surname, forename, .. }) = Parts::of(name).or_else(|| Parts::of(&filed)) else {
        return sortkey(said);
    };
    // Of `García Márquez` and `van Gogh` only the last word is sure to be taken for the surname
    // when the name was turned around.
    let surname = sortkey(surname);
    let mut key = surname.rsplit(' ').next().unwrap_or_default().to_owned();
    if let Some(initial) = sortkey(forename).chars().next() {
        key.push(' ');
        key.push(initial);
    }
    key
}

fn is_corporate(name: &str) -> bool {
    let key = sortkey(name);
    let mut words = key.split(' ');
    words.any(|word| LINKING.contains(&word) || CORPORATE.iter().any(|begin| word.starts_with(begin)))
}

/// Persons have three names at most, particles not counted.
fn is_long(name: &str) -> bool {
    name.split_whitespace().filter(|word| !word.starts_with(char::is_lowercase)).nth(3).is_some()
}

/// The first word that tells a publisher from others: no initial (`G. P. Putnam's sons`).
fn publisher_key(publisher: &str) -> &str {
    if NOT_KNOWN.iter().any(|words| publisher.starts_with(words)) {
        return "";
    }
    let mut words = publisher.split(' ').filter(|word| word.chars().nth(1).is_some());
    let tells = |word: &&str| !ARTICLES.contains(word) && !COMMON.contains(word);
    words.clone().find(tells).or_else(|| words.next()).unwrap_or_default()
}

/// Cuts a key at a blank, or within a word if it has none as in Chinese.
fn shorten(key: &mut String) {
    let Some((end, _)) = key.char_indices().nth(LONGEST) else { return };
    let word = key.get(..end).filter(|_| !key.get(end..).is_some_and(|rest| rest.starts_with(' ')));
    key.truncate(word.and_then(|start| start.rfind(' ')).unwrap_or(end));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(title: &str, name: &str, key: &str) {
        assert_eq!(work_key(title, name).as_deref(), Some(key), "of {title:?} by {name:?}");
    }

    #[test]
    fn all_formats_give_one_key() {
        let key = "walden/thoreau h";
        check("Walden, or, Life in the Woods", "Thoreau, Henry David, 1817-1862", key);
        check("Walden ;", "Thoreau, Henry David,", key);
        check("Walden; or, Life in the woods", "Thoreau, H. D. (Henry David)", key);
        check("Walden : or, Life in the woods / Henry D. Thoreau.", "Henry D. Thoreau", key);
        check("Walden", "Thoreau, Henry David, 1817-1862.", key);
        check("Walden [electronic resource]", "Thoreau, Henry David, 1817-1862, author", key);
        check("WALDEN = Walden", "Henry David Thoreau, 1817-1862", key);
    }

    #[test]
    fn articles_do_not_count() {
        check("The Maine woods", "", "maine woods/");
        check("Der Zauberberg", "", "zauberberg/");
        check("\u{98}Der \u{9C}Zauberberg", "", "zauberberg/");
        check("L'été", "", "ete/");
        check("A", "", "a/");
        check("O", "", "o/");
    }

    #[test]
    fn persons_are_known_by_surname_and_initial() {
        for name in ["Gogh, Vincent van", "Van Gogh, Vincent", "Vincent van Gogh"] {
            check("Letters", name, "letters/gogh v");
        }
        for name in ["García Márquez, Gabriel", "Gabriel García Márquez"] {
            check("Letters", name, "letters/marquez g");
        }
        check("Faust", "Johann Wolfgang von Goethe", "faust/goethe j");
        check("Faust", "Goethe, Johann Wolfgang von, 1749-1832", "faust/goethe j");
        check("Letters", "Church, Frederic", "letters/church f");
        check("Republic", "Plato.", "republic/plato");
        check("Letters", "Louis XVI, King of France", "letters/louis xvi");
        check("Война и мир", "Толстой, Лев Николаевич", "воина и мир/толстои л");
    }

    #[test]
    fn corporate_names_are_kept_whole() {
        check("Report", "Urban Land Institute.", "report/urban land institute");
        check("Report", "United States. Congress.", "report/united states congress");
        check("Report", "Church of England", "report/church of england");
        check("Report", "Holt, Rinehart & Winston,", "report/holt rinehart winston");
        check("Report", "Medelhavsmuseet (Stockholm, Sweden)", "report/medelhavsmuseet stockholm sweden");
        check("Report", "J. Paul Getty Museum", "report/j paul getty museum");
        check("Report", "Psydata, Institut für Marktanalysen", "report/psydata institut fur marktanalysen");
    }

    #[test]
    fn long_titles_are_cut_at_a_word() {
        let title = "a ".repeat(15) + &"abcdefghi ".repeat(10);
        let key = work_key(&title, "").unwrap();
        assert!(key.len() <= LONGEST + 1 && key.ends_with("abcdefghi/"), "{key}");
        assert_eq!(work_key(&"夢".repeat(100), "").unwrap().chars().count(), LONGEST + 1);
    }

    #[test]
    fn without_a_title_there_is_no_key() {
        assert_eq!(work_key("", "Thoreau"), None);
        assert_eq!(work_key(" : ", "Thoreau"), None);
        assert_eq!(instance_key("...", "", "", ""), None);
    }

    #[test]
    fn instances_differ_by_year_and_publisher() {
        let check = |year, publisher, key: &str| {
            assert_eq!(instance_key("Walden", "Thoreau, H.", year, publisher).as_deref(), Some(key));
        };
        check("1854.", "Ticknor and Fields,", "walden/thoreau h/1854/ticknor");
        check("c1906", "The Macmillan company", "walden/thoreau h/1906/macmillan");
        check("", "G. P. Putnam's sons", "walden/thoreau h//putnam");
        check("1971", "University of California Press", "walden/thoreau h/1971/california");
        check("1999", "Verlag", "walden/thoreau h/1999/verlag");
        check("1999", "[s.n.]", "walden/thoreau h/1999/");
        check("1999", "[publisher not identified]", "walden/thoreau h/1999/");
        check("", "", "walden/thoreau h//");
    }
}
