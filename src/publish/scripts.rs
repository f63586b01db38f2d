//! Fields in another script, linked with the fields they go with.
//!
//! MARC 21 has 880 for them, and `$6` with tag, number and script on both sides. UNIMARC repeats
//! the tag, and tells the scripts apart by `$7`. `mappings/reverse/FORMAT-scripts.tsv` has the
//! codes.

use super::marc::Written;
use super::table::rows;
use crate::concordance::Concordances;
use crate::record::Model;

/// Links each field in another script with the one before it.
pub fn link(concordances: &Concordances, model: Model, fields: &mut [Written]) {
    let table = rows(&concordances.text_of(&format!("reverse/{}-scripts.tsv", model.name())));
    let code = |script: &str| {
        let row =
            table.iter().find(|row| row.first().is_some_and(|known| known.eq_ignore_ascii_case(script)));
        row.and_then(|row| row.get(1)).map_or("", String::as_str)
    };
    let mut number = 0;
    for index in 1..fields.len() {
        let (before, after) = fields.split_at_mut(index);
        let (Some(field), Some(partner)) = (after.first_mut(), before.last_mut()) else { continue };
        let Some(script) =
            field.script.clone().filter(|_| partner.tag == field.tag && partner.script.is_none())
        else {
            continue;
        };
        number += 1;
        let push = |field: &mut Written, code: &str, value: String| {
            field.subfields.insert(0, (code.to_owned(), value))
        };
        if model == Model::Unimarc {
            push(field, "7", code(&script).to_owned());
            push(partner, "7", code("Latn").to_owned());
            push(field, "6", format!("a{number:02}"));
            push(partner, "6", format!("a{number:02}"));
        } else {
            let mark = code(&script);
            let slash = if mark.is_empty() { "" } else { "/" };
            push(field, "6", format!("{}-{number:02}{slash}{mark}", field.tag));
            push(partner, "6", format!("880-{number:02}"));
            field.tag = "880".to_owned();
            field.occurrence = number;
        }
    }
}
