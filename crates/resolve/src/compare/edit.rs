//! How far two words are apart: Levenshtein, Damerau-Levenshtein, Smith-Waterman.
//!
//! All work on folded text, byte by byte, in fixed space: they are called millions of times.

/// Longest words looked at; what is beyond counts as different.
const LONGEST: usize = 64;

/// Insertions, deletions, replacements and exchanged neighbours between two words, if there are
/// at most `most`.
pub fn damerau(left: &[u8], right: &[u8], most: usize) -> Option<usize> {
    distance(left, right, most, true)
}

/// As [`damerau`], an exchange of neighbours counting as two.
pub fn levenshtein(left: &[u8], right: &[u8], most: usize) -> Option<usize> {
    distance(left, right, most, false)
}

fn distance(left: &[u8], right: &[u8], most: usize, exchanges: bool) -> Option<usize> {
    if left.len().abs_diff(right.len()) > most {
        return None;
    }
    // What both begin and end with costs nothing.
    let start = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let (left, right) = (&left[start..], &right[start..]);
    let end = left.iter().rev().zip(right.iter().rev()).take_while(|(a, b)| a == b).count();
    let (left, right) = (&left[..left.len() - end], &right[..right.len() - end]);
    if left.is_empty() || right.is_empty() {
        return Some(left.len().max(right.len()));
    }
    // One slip leaves one letter on each side, or two that are exchanged.
    if most == 0 || (most == 1 && left.len().max(right.len()) > 2) {
        return None;
    }
    if left.len().abs_diff(right.len()) > most || left.len().max(right.len()) > LONGEST {
        return None;
    }
    let mut rows = [[0_u8; LONGEST + 1]; 3];
    for (at, cell) in rows[0].iter_mut().enumerate().take(right.len() + 1) {
        *cell = at as u8;
    }
    for i in 1..=left.len() {
        let (now, last, before) = (i % 3, (i + 2) % 3, (i + 1) % 3);
        rows[now][0] = i as u8;
        let mut least = i as u8;
        for j in 1..=right.len() {
            let replaced = rows[last][j - 1] + u8::from(left[i - 1] != right[j - 1]);
            let mut cell = replaced.min(rows[last][j] + 1).min(rows[now][j - 1] + 1);
            if exchanges && i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                cell = cell.min(rows[before][j - 2] + 1);
            }
            rows[now][j] = cell;
            least = least.min(cell);
        }
        if usize::from(least) > most {
            return None;
        }
    }
    let distance = usize::from(rows[left.len() % 3][right.len()]);
    (distance <= most).then_some(distance)
}

/// The best local alignment (match 2, else −1) as a share of what the shorter one could reach.
pub fn smith_waterman(left: &[u8], right: &[u8]) -> f32 {
    let left = left.get(..LONGEST.min(left.len())).unwrap_or(left);
    let right = right.get(..LONGEST.min(right.len())).unwrap_or(right);
    let shorter = left.len().min(right.len());
    if shorter == 0 {
        return 0.0;
    }
    let mut row = [0_i16; LONGEST + 1];
    let mut best = 0;
    for a in left {
        let mut diagonal = 0;
        for (j, b) in right.iter().enumerate() {
            let matched = diagonal + if a == b { 2 } else { -1 };
            diagonal = row[j + 1];
            row[j + 1] = matched.max(row[j + 1] - 1).max(row[j] - 1).max(0);
            best = best.max(row[j + 1]);
        }
    }
    f32::from(best) / (2.0 * shorter as f32)
}

/// A bit for each pair of neighbouring letters, folded into 64: what shares none of them shares
/// no piece of a word.
pub fn neighbours(text: &str) -> u64 {
    let pairs = text.as_bytes().windows(2);
    pairs.fold(0, |bits, two| bits | 1 << ((usize::from(two[0]) * 31 + usize::from(two[1])) % 64))
}

/// A bit for each letter that occurs, folded into 16.
pub fn letters(word: &str) -> u16 {
    word.bytes().fold(0, |bits, byte| bits | 1 << (byte % 16))
}

/// How many slips words of this length may have and still be one.
fn slips(shorter: usize) -> usize {
    match shorter {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    }
}

/// Whether two words may be [`alike`], by their lengths and [`letters`] alone: a slip takes one
/// letter away and brings one.
pub fn may_be_alike(left: (usize, u16), right: (usize, u16)) -> bool {
    let most = slips(left.0.min(right.0));
    most > 0 && left.0.abs_diff(right.0) <= most && (left.1 ^ right.1).count_ones() as usize <= 2 * most
}

/// Whether two words may be one word with a slip in it. Short words must be equal: too many
/// of them are one letter apart.
pub fn alike(left: &str, right: &str) -> bool {
    let most = slips(left.len().min(right.len()));
    most > 0 && damerau(left.as_bytes(), right.as_bytes(), most).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_textbook() {
        assert_eq!(damerau(b"kitten", b"sitting", 5), Some(3));
        assert_eq!(damerau(b"walden", b"wladen", 5), Some(1));
        assert_eq!(levenshtein(b"walden", b"wladen", 5), Some(2));
        assert_eq!(damerau(b"walden", b"emma", 2), None);
        assert_eq!(damerau(b"", b"", 0), Some(0));
    }

    /// RA.18: an entity within a snippet is found by local alignment.
    #[test]
    fn ra_18_smith_waterman_finds_a_name_within_a_snippet() {
        assert!(smith_waterman(b"gloria perez", b"a talk given by gloria perez in quito") > 0.99);
        assert!(smith_waterman(b"gloria perez", b"gloria peres") > 0.85);
        assert!(smith_waterman(b"gloria perez", b"the origin of species") < 0.5);
    }
}
