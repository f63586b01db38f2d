//! Which spellings meet, and which do not.

use super::spelling::rows;
use super::*;
use proptest::prelude::*;

fn check(text: &str, expected: &[&str]) {
    let tokens = analyse(text, usize::MAX);
    let found: Vec<String> = tokens
        .iter()
        .map(|token| {
            format!(
                "{}{}",
                token.position,
                token.forms.distinct().fold(String::new(), |all, f| all + " " + f)
            )
        })
        .collect();
    assert_eq!(found, expected, "{text}");
}

fn meet(left: &str, right: &str) -> bool {
    let (left, right) = (analyse(left, 99), analyse(right, 99));
    let forms: Vec<&str> = left.iter().flat_map(|token| token.forms.distinct()).collect();
    right.iter().all(|token| token.forms.distinct().any(|form| forms.contains(&form)))
}

#[test]
fn d_2_case_and_diacritics_are_folded() {
    check("ÉTUDE Łódź smørrebrød", &["0 etude", "1 lodz", "2 smorrebrod smoerrebroed"]);
    check("Müller Straße", &["0 muller mueller", "1 strasse"]);
    check("e\u{301}te\u{301}", &["0 ete"]);
    check("ﬁn ｗｉｄｅ Ⅳ", &["0 fin", "1 wide", "2 iv"]);
    check("Gogolʹ Qurʼān ʿAlī", &["0 gogol", "1 quran", "2 ali"]);
}

#[test]
fn d_2_romanizations_meet() {
    check("Толстой", &["0 tolstoj tolstoi"]);
    for [left, right] in [
        ["Толстой", "Tolstoj"],
        ["Толстой", "Tolstoi"],
        ["Толстой", "Tolstoĭ"],
        ["Tolstoy", "Толстой"],
        ["Tolstoj", "Tolstoy"],
        ["Достоевский", "Dostoevsky"],
        ["Достоевский", "Dostoevskiĭ"],
        ["Чехов", "Čechov"],
        ["Чехов", "Chekhov"],
        ["Пушкин", "Pushkin"],
        ["Маяковский", "Majakovskij"],
        ["Чайковский", "Čajkovskij"],
        ["Щедрин", "Shchedrin"],
        ["Гоголь", "Gogol'"],
        ["Ὅμηρος", "Omiros"],
        ["Σωκράτης", "Sokratis"],
        ["Σωκράτης", "Sōkratēs"],
        ["Müller", "Mueller"],
    ] {
        assert!(meet(left, right), "{left} and {right}");
    }
    assert!(!meet("Толстой", "Tolstaja"));
}

#[test]
fn scripts_without_spaces_are_cut_in_pairs_and_single_characters() {
    check("東京都", &["0 東", "0 東京", "1 京", "1 京都", "2 都"]);
    check("東 v", &["0 東", "1 v"]);
    check("한국어 ﾊﾞｽ", &["0 한", "0 한국", "1 국", "1 국어", "2 어", "3 バ", "3 バス", "4 ス"]);
    check("東京Tower", &["0 東", "0 東京", "1 京", "2 tower"]);
}

#[test]
fn hyphens_and_apostrophes_both_part_and_join() {
    check("Wi-Fi", &["0 wifi", "0 wi", "1 fi"]);
    check("L’été d'", &["0 lete", "0 l", "1 ete", "2 d"]);
    check("U.S.A. -- 1999", &["0 usa", "0 u", "1 s", "2 a", "3 1999"]);
    check("978-3-16", &["0 978316", "0 978", "1 3", "2 16"]);
    check("co\u{ad}operate", &["0 cooperate"]);
    check("10.1000/xyz", &["0 101000", "0 10", "1 1000", "2 xyz"]);
}

#[test]
fn vowels_of_indic_scripts_stay() {
    check("हिन्दी", &["0 हिन्दी"]);
    assert!(!meet("हिन्दी", "हन्द"));
    assert!(meet("שָׁלוֹם", "שלום"));
}

#[test]
fn labels_fold_to_words_with_one_space() {
    assert_eq!(fold("  Толстой,  Лев. "), "tolstoj lev");
    assert_eq!(fold("東京 物語"), "東京物語");
    assert_eq!(fold("東京 Story"), "東京 story");
    assert_eq!(fold("“?!”"), "");
    assert_eq!(folds("Müller, Ж."), ["muller z", "mueller z", "muller zh"]);
    assert_eq!(folds("Walden"), ["walden"]);
}

#[test]
fn every_row_of_the_tables_says_something() {
    for table in [FOLDING, TRANSLITERATION] {
        for row in rows(table) {
            assert_eq!(row[0].chars().count(), 1, "{row:?}");
            assert!(row.len() > 1 && row.len() <= 1 + SYSTEMS, "{row:?}");
        }
    }
    for row in rows(ENDINGS) {
        assert!(row.len() == 2 && row[0] != row[1] && (2..=5).contains(&row[0].len()), "{row:?}");
    }
}

proptest! {
    #[test]
    fn any_text_is_analysed(text in "\\PC{0,200}|[\u{0}-\u{ffff}]{0,60}") {
        let tokens = analyse(&text, usize::MAX);
        prop_assert!(tokens.windows(2).all(|pair| pair[0].position <= pair[1].position));
        for token in &tokens {
            for form in token.forms.distinct() {
                prop_assert!(!form.is_empty() && form.chars().count() <= 8 * LONGEST);
            }
        }
    }

    #[test]
    fn analysis_of_its_own_output_changes_nothing(text in "[a-zA-Zäöüßéø ]{0,40}") {
        let once = fold(&text);
        prop_assert_eq!(fold(&once), once);
    }
}
