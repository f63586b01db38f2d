//! The short names of sources.

/// Words that commands give a meaning of their own where a key could stand.
const RESERVED: [&str; 1] = ["status"];

/// Whether a name can stand for a source: in IRIs, on the command line, as a file name.
pub fn check_key(name: &str) -> Result<(), &'static str> {
    let legal = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let dots = matches!(name, "." | "..");
    if name.is_empty() || dots || !name.chars().all(legal) {
        return Err("a source is named by letters, digits, `-`, `_` and `.`");
    }
    Ok(())
}

/// The same for a source that can be harvested by name.
pub fn check_registered_key(name: &str) -> Result<(), &'static str> {
    check_key(name)?;
    // `.hidden` would be a file that no listing shows, `-x` an option.
    if name.starts_with(['.', '-']) {
        return Err("the key of a source begins with a letter, a digit or `_`");
    }
    if RESERVED.contains(&name) {
        return Err("`status` is a word of `pinakes harvest`, so no source can be called so");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_safe_in_iris_and_file_names() {
        for good in ["loc", "bnf-2", "été", "a.b", "x_1"] {
            assert_eq!(check_registered_key(good), Ok(()), "{good}");
        }
        for bad in ["", ".", "..", "a/b", "my shop", "a\\b", "x\n", ".hidden", "-x", "status"] {
            assert!(check_registered_key(bad).is_err(), "{bad}");
        }
    }
}
