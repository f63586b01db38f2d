//! The descriptions that come with the program: `examples/sources/`.

macro_rules! profiles {
    ($($name:literal)*) => {
        /// Every shipped description by its name, as TOML.
        pub const PROFILES: &[(&str, &str)] = &[$((
            $name,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/sources/", $name, ".toml")),
        ),)*];
    };
}

profiles! {
    "allmusic"
    "banq"
    "bl"
    "bnf"
    "discogs"
    "europeana"
    "lac"
    "loc"
    "researchgate"
    "sciencedirect"
}

/// The text of a shipped description.
pub fn profile(name: &str) -> Option<&'static str> {
    PROFILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
