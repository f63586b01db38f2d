//! The index as its users see it, compared with a naive one where counts matter.

use super::expansion::Label;
use super::searching::DEEPEST;
use super::*;
use crate::effort::{Effort, Spent};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn document(iri: &str, title: &str) -> Document {
    Document { iri: iri.to_owned(), label: title.to_owned(), kind: Kind::Instance, ..Document::default() }
}

fn strings(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

fn index_of(documents: &[Document]) -> Index {
    let index = Index::in_memory().unwrap();
    let mut writer = index.writer(BUDGET).unwrap();
    for document in documents {
        writer.put(document).unwrap();
    }
    writer.commit(1).unwrap();
    index.refresh().unwrap();
    index
}

fn library() -> Vec<Document> {
    let mut war = document("e:war", "War and peace");
    war.contributors = vec![Named { label: "Tolstoy, Leo".to_owned(), iri: Some("e:tolstoy".to_owned()) }];
    war.languages = strings(&["eng"]);
    war.content_types = strings(&["book"]);
    war.years = vec![1869, 1867];
    war.identifiers = strings(&["978-0-14-044793-4"]);
    war.first_seen = 10;
    let mut vojna = document("e:vojna", "Война и мир");
    vojna.contributors =
        vec![Named { label: "Толстой, Лев".to_owned(), iri: Some("e:tolstoy".to_owned()) }];
    vojna.languages = strings(&["rus"]);
    vojna.content_types = strings(&["book"]);
    vojna.years = vec![1978];
    vojna.first_seen = 30;
    let mut tokyo = document("e:tokyo", "東京物語");
    tokyo.languages = strings(&["jpn"]);
    tokyo.content_types = strings(&["film"]);
    tokyo.years = vec![1953];
    tokyo.first_seen = 20;
    let mut walden = document("e:walden", "Walden; or, Life in the woods");
    walden.notes = strings(&["Peace and quiet beside a pond, with a Wi-Fi aerial."]);
    walden.subjects = vec!["Solitude".into()];
    walden.languages = strings(&["eng"]);
    walden.content_types = strings(&["book"]);
    vec![war, vojna, tokyo, walden]
}

fn check(index: &Index, text: &str, expected: &[&str]) {
    let hits = index.search(&Request { text, limit: 50, ..Request::default() }).unwrap();
    let found: BTreeSet<&str> = hits.hits.iter().map(|hit| hit.entry.iri.as_str()).collect();
    assert_eq!(found, expected.iter().copied().collect(), "{text}");
    assert_eq!(hits.total, expected.len() as u64, "{text}");
}

#[test]
fn g_2_words_phrases_fields_and_beginnings_find_entries() {
    let index = index_of(&library());
    check(&index, "peace", &["e:war", "e:walden"]);
    check(&index, "title:peace", &["e:war"]);
    check(&index, "note:peace", &["e:walden"]);
    check(&index, "\"war and peace\"", &["e:war"]);
    check(&index, "\"peace and war\"", &[]);
    check(&index, "peace -war", &["e:walden"]);
    check(&index, "-peace", &["e:vojna", "e:tokyo"]);
    check(&index, "wald*", &["e:walden"]);
    check(&index, "peace tolst*", &["e:war"]);
    check(&index, "identifier:9780140447934", &["e:war"]);
    check(&index, "978-0-14-044793-4", &["e:war"]);
    check(&index, "WiFi", &["e:walden"]);
    check(&index, "wi-fi", &["e:walden"]);
    check(&index, "", &["e:war", "e:vojna", "e:tokyo", "e:walden"]);
    check(&index, "peace nowhere", &[]);
}

#[test]
fn d_2_scripts_and_romanizations_meet() {
    let index = index_of(&library());
    for name in ["Толстой", "tolstoj", "Tolstoi", "TOLSTOY", "creator:Tolstoĭ"] {
        check(&index, name, &["e:war", "e:vojna"]);
    }
    check(&index, "voina", &["e:vojna"]);
    check(&index, "\"vojna i mir\"", &["e:vojna"]);
    check(&index, "\"война и мир\"", &["e:vojna"]);
    check(&index, "вой*", &["e:vojna"]);
    check(&index, "東京", &["e:tokyo"]);
    check(&index, "京物語", &["e:tokyo"]);
    check(&index, "語", &["e:tokyo"]);
    check(&index, "京東", &[]);
    check(&index, "東京*", &["e:tokyo"]);
}

#[test]
fn titles_count_more_than_notes() {
    let index = index_of(&library());
    let hits = index.search(&Request { text: "peace", limit: 5, ..Request::default() }).unwrap().hits;
    assert_eq!(hits[0].entry.iri, "e:war");
    assert!(hits[0].score > hits[1].score);
}

#[test]
fn hits_are_sorted_filtered_and_paged() {
    let index = index_of(&library());
    let names = |request: &Request<'_>| -> Vec<String> {
        index.search(request).unwrap().hits.into_iter().map(|hit| hit.entry.iri).collect()
    };
    let all = |sort| Request { sort, limit: 9, ..Request::default() };
    assert_eq!(names(&all(Sort::Newest)), ["e:vojna", "e:tokyo", "e:war", "e:walden"]);
    assert_eq!(names(&all(Sort::Oldest)), ["e:war", "e:tokyo", "e:vojna", "e:walden"]);
    assert_eq!(names(&all(Sort::FirstSeen))[..3], ["e:vojna", "e:tokyo", "e:war"]);
    assert_eq!(names(&Request { offset: 1, limit: 2, ..all(Sort::Newest) }), ["e:tokyo", "e:war"]);
    assert_eq!(names(&Request { offset: DEEPEST, limit: 9, ..all(Sort::Newest) }), [""; 0]);
    let with = |filters: &[(Facet, &str)]| {
        let filters = filters.iter().map(|(facet, value)| (*facet, (*value).to_owned())).collect();
        names(&Request { filters, ..all(Sort::Newest) })
    };
    assert_eq!(with(&[(Facet::Language, "eng"), (Facet::Language, "rus")]), ["e:vojna", "e:war", "e:walden"]);
    assert_eq!(with(&[(Facet::Language, "eng"), (Facet::Creator, "Tolstoy, Leo")]), ["e:war"]);
    assert_eq!(with(&[(Facet::Decade, "1860")]), ["e:war"]);
    assert_eq!(with(&[(Facet::Year, "1953")]), ["e:tokyo"]);
    assert_eq!(with(&[(Facet::Year, "soon")]), [""; 0]);
    assert_eq!(names(&Request { years: Some(1868..=1953), ..all(Sort::Newest) }), ["e:tokyo", "e:war"]);
    assert_eq!(names(&Request { only: Some("e:war"), text: "peace", ..all(Sort::Score) }), ["e:war"]);
}

#[test]
fn facets_count_all_hits() {
    let index = index_of(&library());
    let facets = Facet::ALL.to_vec();
    let hits = index.search(&Request { text: "", facets, values: 2, ..Request::default() }).unwrap();
    let shown: Vec<String> = hits
        .facets
        .iter()
        .map(|one| format!("{} {:?}{}", one.facet.as_str(), one.values, if one.more { " …" } else { "" }))
        .collect();
    assert_eq!(
        shown,
        [
            r#"kind [("instance", 4)]"#,
            r#"type [("book", 3), ("film", 1)]"#,
            r#"language [("eng", 2), ("jpn", 1)] …"#,
            r#"source []"#,
            r#"subject [("Solitude", 1)]"#,
            r#"creator [("Tolstoy, Leo", 1), ("Толстой, Лев", 1)]"#,
            r#"year [("1978", 1), ("1953", 1)] …"#,
            r#"decade [("1970", 1), ("1950", 1)] …"#,
        ]
    );
    assert_eq!((hits.total, hits.hits.len()), (4, 0));
}

/// The engine takes it for a mistake when an excluded phrase is asked for documents before its first.
#[test]
fn a_phrase_can_be_excluded_wherever_it_first_occurs() {
    let titles = (0..400).map(|number| {
        let fish = if number % 7 == 3 { " red fish" } else { "" };
        document(&format!("e:{number}"), &format!("Common title number {number}{fish}"))
    });
    let index = index_of(&titles.collect::<Vec<_>>());
    for (text, expected) in [
        ("\"red fish\"", 57),
        ("common -\"red fish\"", 343),
        ("common -red-fish", 343),
        ("-red-fish", 343),
        ("-\"number 3\"", 399),
        ("-\"number 3\" -\"red fish\"", 343),
        ("-title:\"red fish\" number", 343),
        ("\"red fish\" -\"number 10\"", 56),
    ] {
        let found = index.search(&Request { text, limit: 5, ..Request::default() }).unwrap();
        assert_eq!(found.total, expected, "{text}");
    }
}

#[test]
fn a_search_that_nobody_waits_for_looks_at_nothing_and_is_not_kept() {
    use std::sync::atomic::Ordering::Relaxed;
    let index = index_of(&library());
    let effort = Effort::unbounded();
    drop(effort.waiter());
    for text in ["", "peace", "pea* -\"war and\""] {
        let facets = Facet::ALL.to_vec();
        let request = Request { text, facets, values: 9, effort: effort.clone(), ..Request::default() };
        let stopped = index.search(&request);
        assert!(matches!(stopped, Err(IndexError::Stopped(Spent::GivenUp))), "{text}");
    }
    assert!(matches!(index.suggest("wal", None, 10, &effort), Err(IndexError::Stopped(Spent::GivenUp))));
    assert_eq!(index.looked_at.load(Relaxed), 0);
    assert_eq!(index.search(&Request { limit: 9, ..Request::default() }).unwrap().total, 4);
}

/// Counted over the documents themselves, by an index that has kept nothing.
fn check_counts(index: &Index, documents: &[Document], request: &dyn Fn() -> Request<'static>) -> u64 {
    use std::sync::atomic::Ordering::Relaxed;
    let before = index.looked_at.load(Relaxed);
    let found = index.search(&request()).unwrap();
    assert_eq!(found, index_of(documents).search(&request()).unwrap());
    index.looked_at.load(Relaxed) - before
}

#[test]
fn what_is_asked_without_a_word_is_counted_once_for_each_commit() {
    let mut documents = library();
    let index = index_of(&documents);
    let everything = || Request { limit: 2, facets: Facet::ALL.to_vec(), values: 9, ..Request::default() };
    let english = || Request { filters: vec![(Facet::Language, "eng".to_owned())], ..everything() };
    let recent = || Request { years: Some(1900..=2000), sort: Sort::Newest, ..everything() };
    for request in [&everything as &dyn Fn() -> Request<'static>, &english, &recent] {
        assert!(check_counts(&index, &documents, request) > 0);
        assert_eq!(check_counts(&index, &documents, request), 0, "it was kept");
        // Another page of the same hits.
        assert_eq!(check_counts(&index, &documents, &|| Request { offset: 1, ..request() }), 0);
    }
    let mut writer = index.writer(BUDGET).unwrap();
    documents.remove(0);
    writer.remove("e:war");
    let mut erewhon = document("e:erewhon", "Erewhon");
    erewhon.languages = strings(&["eng", "lat"]);
    erewhon.years = vec![1901, 1908, 1910];
    writer.put(&erewhon).unwrap();
    documents.push(erewhon);
    writer.commit(2).unwrap();
    assert_eq!(index.search(&everything()).unwrap().total, 4, "as of the commit that is shown");
    index.refresh().unwrap();
    for request in [&everything as &dyn Fn() -> Request<'static>, &english, &recent] {
        assert!(check_counts(&index, &documents, request) > 0, "there is another commit");
        assert_eq!(check_counts(&index, &documents, request), 0);
    }
}

#[test]
fn where_most_are_hits_the_others_are_counted() {
    let mut documents = library();
    documents.extend((0..60).map(|n| {
        let mut one = document(&format!("e:{n}"), if n % 10 == 0 { "A rare bird" } else { "A bird" });
        one.languages = strings(&[["eng", "lat", "rus"][n % 3]]);
        one.years = vec![1900 + n as i32, 1905 + n as i32];
        one
    }));
    let index = index_of(&documents);
    let all_but =
        |text| move || Request { text, facets: Facet::ALL.to_vec(), values: 9, ..Request::default() };
    check_counts(&index, &documents, &all_but("-nowhere"));
    let facets = Facet::ALL.len() as u64;
    // The hits themselves, and for each facet the few that are told apart.
    for (text, hits, few) in [("-peace", 62, 2), ("-rare", 58, 6), ("rare", 6, 6)] {
        assert!(check_counts(&index, &documents, &all_but(text)) <= hits + few * facets, "{text}");
    }
    let decades = || Request { years: Some(1910..=1990), ..all_but("")() };
    check_counts(&index, &documents, &decades);
}

#[test]
fn d_5_expansion_finds_by_meaning_scores_lower_and_says_why() {
    let mut attack = document("e:attack", "After a heart attack");
    attack.notes = strings(&["A long note about many other things that makes the words rarer here."]);
    let infarction = document("e:infarction", "Myocardial infarction");
    let kings = document("e:other", "Heart of darkness");
    let index = index_of(&[attack, infarction, kings]);
    let mut concepts = Concepts::new();
    concepts.label("c:1", Label::Preferred, "Heart attack");
    concepts.label("c:1", Label::Alternative, "Myocardial infarction");
    for text in ["heart attack", "\"Heart attack\"", "title:heart title:attack"] {
        let plain = index.search(&Request { text, limit: 9, ..Request::default() }).unwrap();
        assert_eq!(plain.total, 1, "{text}");
        let request = Request { text, limit: 9, thesaurus: Some(&concepts), ..Request::default() };
        let found = index.search(&request).unwrap().hits;
        assert_eq!(found.len(), 2, "{text}");
        assert_eq!((found[0].entry.iri.as_str(), found[0].because.len()), ("e:attack", 0));
        assert_eq!(found[1].entry.iri, "e:infarction");
        assert!(found[0].score > 1.0 && found[1].score < 1.0 && found[1].score > 0.0);
        let because = &found[1].because[0];
        assert_eq!(because.asked.to_lowercase(), "heart attack");
        assert_eq!(
            (because.found.as_str(), because.relation),
            ("Myocardial infarction", Relation::Alternative)
        );
    }
}

#[test]
fn suggestions_begin_as_the_reader_does_and_the_most_used_come_first() {
    let mut documents = library();
    for n in 0..3 {
        let mut more = document(&format!("e:more{n}"), "Waldbaden");
        more.contributors =
            vec![Named { label: "Tolstoy, Leo".to_owned(), iri: Some("e:tolstoy".to_owned()) }];
        documents.push(more);
    }
    let mut tolstoy = document("e:tolstoy", "Tolstoy, Leo");
    tolstoy.kind = Kind::Agent;
    documents.push(tolstoy);
    let index = index_of(&documents);
    let show = |text: &str, suggests| -> Vec<String> {
        let found = index.suggest(text, suggests, 10, &Effort::unbounded()).unwrap();
        let show = |one: &Suggestion| {
            format!(
                "{} {} {} {}",
                one.label,
                one.suggests.as_str(),
                one.iri.as_deref().unwrap_or("-"),
                one.count
            )
        };
        found.iter().map(show).collect()
    };
    assert_eq!(show("WAL", None), ["Waldbaden title - 3", "Walden; or, Life in the woods title e:walden 1"]);
    assert_eq!(
        show("tolsto", Some(Suggests::Name)),
        ["Tolstoy, Leo name e:tolstoy 5", "Толстой, Лев name e:tolstoy 1"]
    );
    assert_eq!(show("толст", None).len(), 2);
    assert_eq!(show("東京", None), ["東京物語 title e:tokyo 1"]);
    assert_eq!(show("war ", None), ["War and peace title e:war 1"]);
    assert_eq!(show("sol", Some(Suggests::Subject)), ["Solitude subject - 1"]);
    assert_eq!(show("", None), [""; 0]);
    assert_eq!(show("?", None), [""; 0]);
    let mut writer = index.writer(BUDGET).unwrap();
    (0..3).for_each(|n| writer.remove(&format!("e:more{n}")));
    writer.commit(2).unwrap();
    index.refresh().unwrap();
    let found = index.suggest("wal", None, 10, &Effort::unbounded()).unwrap();
    assert_eq!(found.len(), 1);
}

#[test]
fn commits_last_with_their_position_and_nothing_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    assert!(matches!(Index::open(&path), Err(IndexError::Missing(_))));
    let index = Index::create(&path).unwrap();
    assert!(matches!(Index::open(folder.path()), Err(IndexError::Missing(_))));
    assert_eq!(index.position().unwrap(), None);
    let mut writer = index.writer(BUDGET).unwrap();
    assert!(matches!(index.writer(BUDGET), Err(IndexError::Busy)));
    writer.put(&document("e:1", "One")).unwrap();
    writer.commit(7).unwrap();
    writer.put(&document("e:2", "Two")).unwrap();
    drop(writer);
    let beside = Index::open(&path).unwrap();
    assert_eq!((beside.position().unwrap(), beside.len()), (Some(7), 1));
    let mut writer = index.writer(BUDGET).unwrap();
    writer.put(&document("e:1", "Another")).unwrap();
    writer.put(&document("e:3", "Three")).unwrap();
    writer.commit(9).unwrap();
    check(&beside, "one", &["e:1"]);
    beside.refresh().unwrap();
    check(&beside, "one", &[]);
    check(&beside, "another", &["e:1"]);
    writer.optimize().unwrap();
    writer.remove("e:3");
    writer.commit(12).unwrap();
    writer.finish().unwrap();
    beside.refresh().unwrap();
    check(&beside, "", &["e:1"]);
    assert_eq!(beside.position().unwrap(), Some(12));
}

#[test]
fn an_index_of_other_rules_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::create(folder.path()).unwrap();
    let mut writer: tantivy::IndexWriter = index.engine.writer(BUDGET).unwrap();
    let mut prepared = writer.prepare_commit().unwrap();
    prepared.set_payload("0123456789abcdef 5");
    prepared.commit().unwrap();
    assert!(matches!(Index::open(folder.path()), Err(IndexError::Outdated)));
}

#[test]
fn hostile_documents_are_taken_or_refused() {
    let index = Index::in_memory().unwrap();
    let mut writer = index.writer(BUDGET).unwrap();
    assert!(matches!(writer.put(&document(&"x".repeat(100_000), "")), Err(IndexError::LongIri(100_000))));
    let mut hostile = document("e:1", &"long".repeat(100_000));
    hostile.subjects = vec![Named::from("s".repeat(100_000).as_str()); 3];
    hostile.languages = vec!["é".repeat(40_000), "\u{0}".to_owned(), String::new()];
    hostile.notes = vec!["東".repeat(1_000_000)];
    hostile.years = vec![i32::MIN, i32::MAX, 0];
    hostile.first_seen = i64::MIN;
    for _ in 0..2 {
        writer.put(&hostile).unwrap();
        writer.commit(1).unwrap();
    }
    index.refresh().unwrap();
    let facets = Facet::ALL.to_vec();
    let hits = index.search(&Request { limit: 1, facets, values: 9, ..Request::default() }).unwrap();
    assert_eq!(hits.total, 1);
    let subject = hits.facets.iter().find(|one| one.facet == Facet::Subject).unwrap();
    let filters = vec![(Facet::Subject, "s".repeat(100_000))];
    assert_eq!(subject.values.len(), 1);
    assert_eq!(index.search(&Request { filters, ..Request::default() }).unwrap().total, 1);
}

#[test]
fn hostile_queries_are_answered() {
    let index = index_of(&library());
    let many: String = (0..10_000).map(|n| format!("{}* ", char::from(b'a' + (n % 26) as u8))).collect();
    for text in [
        "\"".repeat(100_000),
        "東".repeat(100_000),
        "-".repeat(100_000),
        "a-".repeat(50_000),
        many,
        "\u{0}\u{1b}[31m".to_owned(),
    ] {
        let concepts = Concepts::new();
        let request = Request { text: &text, limit: 10, thesaurus: Some(&concepts), ..Request::default() };
        index.search(&request).unwrap();
        index.suggest(&text, None, 10, &Effort::unbounded()).unwrap();
    }
}

/// What a document of the property test is made of: words so few that they often meet.
fn any_document() -> impl Strategy<Value = Document> {
    let word = prop::sample::select(vec!["red", "green", "Blue", "grün", "мир", "wi-fi"]);
    let words = prop::collection::vec(word, 0..4);
    let value = || prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d", "e"]), 0..4);
    (0..8u8, words, value(), value(), prop::collection::vec(1985..2005i32, 0..3), 0..5i64).prop_map(
        |(name, words, languages, subjects, years, first_seen)| Document {
            subjects: subjects.into_iter().map(Named::from).collect(),
            languages: strings(&languages),
            years,
            first_seen,
            ..document(&format!("e:{name}"), &words.join(" "))
        },
    )
}

/// The words of a label, by the analysis that has its own tests.
fn has(document: &Document, word: &str) -> bool {
    let forms = |text: &str| -> Vec<String> {
        let tokens = analysis::analyse(text, 999);
        tokens
            .iter()
            .flat_map(|token| token.forms.distinct().map(str::to_owned).collect::<Vec<_>>())
            .collect()
    };
    let of_document = forms(&document.label);
    forms(word).iter().any(|form| of_document.contains(form))
}

fn naive_counts(
    documents: &[&Document],
    values: impl Fn(&Document) -> BTreeSet<String>,
) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for value in documents.iter().flat_map(|document| values(document)) {
        *counts.entry(value).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever the order of putting, replacing, removing and committing, hits and counts are those
    /// of looking at each document in turn.
    #[test]
    fn the_index_counts_as_a_naive_one_does(
        steps in prop::collection::vec((any_document(), 0..10u8), 1..40),
        asked in prop::sample::select(vec!["", "red", "green", "blue", "grun", "mir", "wifi", "-red"]),
        language in prop::option::of(prop::sample::select(vec!["a", "b", "z"])),
    ) {
        let index = Index::in_memory().unwrap();
        let mut writer = index.writer(BUDGET).unwrap();
        let mut naive: BTreeMap<String, Document> = BTreeMap::new();
        for (document, act) in &steps {
            match act {
                0 => {
                    writer.remove(&document.iri);
                    naive.remove(&document.iri);
                }
                1 => {
                    writer.commit(1).unwrap();
                    // Whatever is kept of this commit says nothing of the next.
                    index.refresh().unwrap();
                    let facets = vec![Facet::Language, Facet::Subject, Facet::Year, Facet::Decade];
                    index.search(&Request { limit: 100, facets, values: 100, ..Request::default() }).unwrap();
                }
                _ => {
                    writer.put(document).unwrap();
                    naive.insert(document.iri.clone(), document.clone());
                }
            }
        }
        writer.commit(2).unwrap();
        index.refresh().unwrap();
        let expected: Vec<&Document> = naive
            .values()
            .filter(|document| match asked.strip_prefix('-') {
                Some(word) => !has(document, word),
                None => asked.is_empty() || has(document, asked),
            })
            .filter(|document| language.is_none_or(|value| document.languages.iter().any(|one| one == value)))
            .collect();
        let request = |sort| Request {
            text: asked,
            sort,
            filters: language.iter().map(|value| (Facet::Language, (*value).to_owned())).collect(),
            limit: 100,
            facets: vec![Facet::Language, Facet::Subject, Facet::Year, Facet::Decade],
            values: 100,
            ..Request::default()
        };
        let by_score = index.search(&request(Sort::Score)).unwrap();
        let found: BTreeSet<&str> = by_score.hits.iter().map(|hit| hit.entry.iri.as_str()).collect();
        prop_assert_eq!(by_score.total, expected.len() as u64);
        prop_assert_eq!(found, expected.iter().map(|document| document.iri.as_str()).collect());
        prop_assert!(by_score.hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
        let texts = |facet: Facet| by_score.facets.iter().find(|one| one.facet == facet).unwrap().values.clone();
        prop_assert_eq!(texts(Facet::Language), naive_counts(&expected, |one| one.languages.iter().cloned().collect()));
        prop_assert_eq!(texts(Facet::Subject), naive_counts(&expected, |one| one.subjects.iter().map(|s| s.label.clone()).collect()));
        let latest_first = |mut counts: Vec<(String, u64)>| { counts.sort_by(|left, right| right.0.cmp(&left.0)); counts };
        prop_assert_eq!(texts(Facet::Year), latest_first(naive_counts(&expected, |one| one.years.iter().map(|y| y.to_string()).collect())));
        prop_assert_eq!(texts(Facet::Decade), latest_first(naive_counts(&expected, |one| one.years.iter().map(|y| (y / 10 * 10).to_string()).collect())));
        let few = index.search(&Request { values: 2, ..request(Sort::Score) }).unwrap().facets;
        for (few, all) in few.iter().zip(&by_score.facets) {
            prop_assert_eq!(&few.values[..], &all.values[..all.values.len().min(2)]);
            prop_assert_eq!(few.more, all.values.len() > 2);
        }
        let newest = index.search(&request(Sort::Newest)).unwrap().hits;
        let year = |hit: &Hit| hit.entry.years.last().copied();
        prop_assert!(newest.windows(2).all(|pair| year(&pair[0]) >= year(&pair[1])));
        let seen = index.search(&request(Sort::FirstSeen)).unwrap().hits;
        prop_assert!(seen.windows(2).all(|pair| pair[0].entry.first_seen >= pair[1].entry.first_seen));
    }

    /// The order of documents decides nothing that is seen.
    #[test]
    fn the_order_of_putting_does_not_matter(documents in prop::collection::vec(any_document(), 1..12)) {
        let distinct: BTreeMap<&str, &Document> = documents.iter().map(|one| (one.iri.as_str(), one)).collect();
        let forward: Vec<Document> = distinct.values().map(|one| (*one).clone()).collect();
        let backward: Vec<Document> = forward.iter().rev().cloned().collect();
        let request = Request { text: "red", sort: Sort::Newest, limit: 50, facets: Facet::ALL.to_vec(), values: 9, ..Request::default() };
        prop_assert_eq!(index_of(&forward).search(&request).unwrap(), index_of(&backward).search(&request).unwrap());
    }

    #[test]
    fn any_text_is_a_query(text in "\\PC{0,80}|[\"*:\\-a-c \u{0}-\u{20}東й]{0,60}") {
        let index = index_of(&library());
        let request = Request { text: &text, limit: 10, facets: Facet::ALL.to_vec(), values: 3, ..Request::default() };
        prop_assert!(index.search(&request).is_ok());
        prop_assert!(index.suggest(&text, None, 10, &Effort::unbounded()).is_ok());
    }
}
