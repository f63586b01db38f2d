//! Fractions as text that is read as it was written.
//!
//! A reader of JSON may miss a number by its last bit; then a run with kept weights would differ
//! from the run that learned them.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A list of fractions, or a list of such lists.
pub trait Fractions: Sized {
    type Text: Serialize + for<'t> Deserialize<'t>;
    fn to_text(&self) -> Self::Text;
    fn from_text(text: &Self::Text) -> Option<Self>;
}

impl Fractions for f64 {
    type Text = String;

    fn to_text(&self) -> String {
        self.to_string()
    }

    fn from_text(text: &String) -> Option<Self> {
        text.parse().ok()
    }
}

impl<T: Fractions> Fractions for Vec<T> {
    type Text = Vec<T::Text>;

    fn to_text(&self) -> Self::Text {
        self.iter().map(T::to_text).collect()
    }

    fn from_text(text: &Self::Text) -> Option<Self> {
        text.iter().map(T::from_text).collect()
    }
}

pub fn serialize<T: Fractions, S: Serializer>(list: &T, serializer: S) -> Result<S::Ok, S::Error> {
    list.to_text().serialize(serializer)
}

pub fn deserialize<'d, T: Fractions, D: Deserializer<'d>>(deserializer: D) -> Result<T, D::Error> {
    let text = T::Text::deserialize(deserializer)?;
    T::from_text(&text).ok_or_else(|| D::Error::custom("a fraction is not a number"))
}

#[cfg(test)]
mod tests {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Kept(#[serde(with = "super")] Vec<Vec<f64>>);

    #[test]
    fn every_bit_comes_back() {
        let all = vec![vec![0.1 + 0.2, f64::MIN_POSITIVE, f64::NEG_INFINITY], vec![], vec![-1.0 / 3.0]];
        let json = serde_json::to_string(&Kept(all.clone())).unwrap();
        let Kept(read) = serde_json::from_str(&json).unwrap();
        assert_eq!(read, all);
    }
}
