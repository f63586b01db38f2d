//! The script a text is written in, as ISO 15924 names it.
//!
//! A text in two scripts is tagged with the one that is not Latin: a Russian title with a
//! Latin word in it is a Russian title. Scripts are told by the blocks of Unicode, which is
//! exact enough for letters; digits and punctuation belong to no script.

/// Blocks of letters: first, last, script. In the order of Unicode.
const BLOCKS: &[(char, char, &str)] = &[
    ('A', '\u{2AF}', LATIN),
    ('\u{370}', '\u{3E1}', "Grek"),
    ('\u{3E2}', '\u{3EF}', "Copt"),
    ('\u{3F0}', '\u{3FF}', "Grek"),
    ('\u{400}', '\u{52F}', "Cyrl"),
    ('\u{530}', '\u{58F}', "Armn"),
    ('\u{590}', '\u{5FF}', "Hebr"),
    ('\u{600}', '\u{6FF}', "Arab"),
    ('\u{700}', '\u{74F}', "Syrc"),
    ('\u{750}', '\u{77F}', "Arab"),
    ('\u{780}', '\u{7BF}', "Thaa"),
    ('\u{7C0}', '\u{7FF}', "Nkoo"),
    ('\u{800}', '\u{83F}', "Samr"),
    ('\u{860}', '\u{86F}', "Syrc"),
    ('\u{870}', '\u{8FF}', "Arab"),
    ('\u{900}', '\u{97F}', "Deva"),
    ('\u{980}', '\u{9FF}', "Beng"),
    ('\u{A00}', '\u{A7F}', "Guru"),
    ('\u{A80}', '\u{AFF}', "Gujr"),
    ('\u{B00}', '\u{B7F}', "Orya"),
    ('\u{B80}', '\u{BFF}', "Taml"),
    ('\u{C00}', '\u{C7F}', "Telu"),
    ('\u{C80}', '\u{CFF}', "Knda"),
    ('\u{D00}', '\u{D7F}', "Mlym"),
    ('\u{D80}', '\u{DFF}', "Sinh"),
    ('\u{E00}', '\u{E7F}', "Thai"),
    ('\u{E80}', '\u{EFF}', "Laoo"),
    ('\u{F00}', '\u{FFF}', "Tibt"),
    ('\u{1000}', '\u{109F}', "Mymr"),
    ('\u{10A0}', '\u{10FF}', "Geor"),
    ('\u{1100}', '\u{11FF}', "Hang"),
    ('\u{1200}', '\u{139F}', "Ethi"),
    ('\u{13A0}', '\u{13FF}', "Cher"),
    ('\u{1400}', '\u{167F}', "Cans"),
    ('\u{1680}', '\u{169F}', "Ogam"),
    ('\u{16A0}', '\u{16FF}', "Runr"),
    ('\u{1700}', '\u{171F}', "Tglg"),
    ('\u{1780}', '\u{17FF}', "Khmr"),
    ('\u{1800}', '\u{18AF}', "Mong"),
    ('\u{1B00}', '\u{1B7F}', "Bali"),
    ('\u{1C80}', '\u{1C8F}', "Cyrl"),
    ('\u{1C90}', '\u{1CBF}', "Geor"),
    ('\u{1D00}', '\u{1DBF}', LATIN),
    ('\u{1E00}', '\u{1EFF}', LATIN),
    ('\u{1F00}', '\u{1FFF}', "Grek"),
    ('\u{2C00}', '\u{2C5F}', "Glag"),
    ('\u{2C60}', '\u{2C7F}', LATIN),
    ('\u{2C80}', '\u{2CFF}', "Copt"),
    ('\u{2D00}', '\u{2D2F}', "Geor"),
    ('\u{2D30}', '\u{2D7F}', "Tfng"),
    ('\u{2D80}', '\u{2DDF}', "Ethi"),
    ('\u{2DE0}', '\u{2DFF}', "Cyrl"),
    ('\u{2E80}', '\u{2FDF}', "Hani"),
    ('\u{3005}', '\u{3007}', "Hani"),
    ('\u{3040}', '\u{309F}', "Hira"),
    ('\u{30A0}', '\u{30FF}', "Kana"),
    ('\u{3100}', '\u{312F}', "Bopo"),
    ('\u{3130}', '\u{318F}', "Hang"),
    ('\u{31A0}', '\u{31BF}', "Bopo"),
    ('\u{31F0}', '\u{31FF}', "Kana"),
    ('\u{3400}', '\u{4DBF}', "Hani"),
    ('\u{4E00}', '\u{9FFF}', "Hani"),
    ('\u{A000}', '\u{A4CF}', "Yiii"),
    ('\u{A640}', '\u{A69F}', "Cyrl"),
    ('\u{A720}', '\u{A7FF}', LATIN),
    ('\u{A8E0}', '\u{A8FF}', "Deva"),
    ('\u{A960}', '\u{A97F}', "Hang"),
    ('\u{A980}', '\u{A9DF}', "Java"),
    ('\u{A9E0}', '\u{A9FF}', "Mymr"),
    ('\u{AA60}', '\u{AA7F}', "Mymr"),
    ('\u{AB00}', '\u{AB2F}', "Ethi"),
    ('\u{AB30}', '\u{AB6F}', LATIN),
    ('\u{AB70}', '\u{ABBF}', "Cher"),
    ('\u{AC00}', '\u{D7FF}', "Hang"),
    ('\u{F900}', '\u{FAFF}', "Hani"),
    ('\u{FB00}', '\u{FB06}', LATIN),
    ('\u{FB13}', '\u{FB17}', "Armn"),
    ('\u{FB1D}', '\u{FB4F}', "Hebr"),
    ('\u{FB50}', '\u{FDFF}', "Arab"),
    ('\u{FE70}', '\u{FEFF}', "Arab"),
    ('\u{FF21}', '\u{FF5A}', LATIN),
    ('\u{FF65}', '\u{FF9F}', "Kana"),
    ('\u{FFA0}', '\u{FFDC}', "Hang"),
    ('\u{10330}', '\u{1034F}', "Goth"),
    ('\u{12000}', '\u{1254F}', "Xsux"),
    ('\u{13000}', '\u{1345F}', "Egyp"),
    ('\u{1B000}', '\u{1B0FF}', "Hira"),
    ('\u{20000}', '\u{3FFFF}', "Hani"),
];

const LATIN: &str = "Latn";

/// The script of the first letter that is not Latin, `Latn` if all are, nothing without letters.
pub fn script(text: &str) -> Option<&'static str> {
    if text.is_ascii() {
        return text.bytes().any(|byte| byte.is_ascii_alphabetic()).then_some(LATIN);
    }
    let mut latin = None;
    for letter in text.chars().filter(|c| c.is_alphabetic()) {
        match script_of(letter) {
            Some(LATIN) => latin = Some(LATIN),
            Some(other) => return Some(other),
            None => {}
        }
    }
    latin
}

fn script_of(letter: char) -> Option<&'static str> {
    if letter.is_ascii() {
        return Some(LATIN);
    }
    let before = BLOCKS.partition_point(|(first, ..)| *first <= letter);
    let (_, last, script) = BLOCKS.get(before.checked_sub(1)?)?;
    (letter <= *last).then_some(*script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_letter_of_another_script_decides() {
        let cases = [
            ("Walden", "Latn"),
            ("Łódź, Ærø, ạ", "Latn"),
            ("Уолден", "Cyrl"),
            ("IBM и Россия", "Cyrl"),
            ("Ὀδύσσεια", "Grek"),
            ("שלום", "Hebr"),
            ("القاهرة", "Arab"),
            ("پہلا", "Arab"),
            ("紅樓夢", "Hani"),
            ("のだめ", "Hira"),
            ("ガラス", "Kana"),
            ("한국어", "Hang"),
            ("काठमाडौं", "Deva"),
            ("กรุงเทพ", "Thai"),
            ("Երևան", "Armn"),
            ("თბილისი", "Geor"),
            ("বাংলা", "Beng"),
            ("தமிழ்", "Taml"),
            ("አማርኛ", "Ethi"),
            ("བོད", "Tibt"),
        ];
        for (text, code) in cases {
            assert_eq!(script(text), Some(code), "of {text}");
        }
    }

    #[test]
    fn without_letters_there_is_no_script() {
        assert_eq!(script(""), None);
        assert_eq!(script("1854 :"), None);
        assert_eq!(script("ʻ"), None);
    }

    #[test]
    fn blocks_are_in_order() {
        assert!(BLOCKS.is_sorted_by(|one, next| one.1 < next.0));
    }
}
