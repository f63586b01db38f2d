//! What `&name;` stands for.

use super::character::is_forbidden;

/// A reference in text or in the value of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// A character, by its number or by one of the five names that XML defines.
    Character(char),
    /// A number that is no character of XML.
    Forbidden,
    /// An entity that somebody else may have defined.
    Unknown,
}

impl Reference {
    /// Resolves the name between `&` and `;`.
    pub fn named(name: &str) -> Self {
        Self::Character(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ => {
                return match name.strip_prefix('#').and_then(number) {
                    None => Self::Unknown,
                    Some(value) => match char::from_u32(value).filter(|c| !is_forbidden(*c)) {
                        Some(character) => Self::Character(character),
                        None => Self::Forbidden,
                    },
                };
            }
        })
    }
}

/// The number of a character reference; one too large to count is no character.
fn number(text: &str) -> Option<u32> {
    let (digits, radix) = match text.strip_prefix('x') {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    Some(u32::from_str_radix(digits, radix).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_named_or_numbered() {
        for (name, expected) in [
            ("amp", Reference::Character('&')),
            ("#65", Reference::Character('A')),
            ("#x1D11E", Reference::Character('𝄞')),
            ("#00000000000000000000065", Reference::Character('A')),
            ("#0", Reference::Forbidden),
            ("#xD800", Reference::Forbidden),
            ("#99999999999", Reference::Forbidden),
            ("#X41", Reference::Unknown),
            ("#", Reference::Unknown),
            ("nbsp", Reference::Unknown),
        ] {
            assert_eq!(Reference::named(name), expected, "{name}");
        }
    }
}
