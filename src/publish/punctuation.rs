//! ISBD punctuation between subfields, which rules take off and MARC 21 expects.

use super::marc::Written;
use super::table::Fields;

/// Adds the marks of the table where a subfield does not end in one already.
pub fn add(fields: &Fields, written: &mut [Written]) {
    for field in written {
        let codes: Vec<String> = field.subfields.iter().map(|(code, _)| code.clone()).collect();
        for (index, (code, value)) in field.subfields.iter_mut().enumerate() {
            // Control subfields stand behind the description.
            let after = codes.get(index + 1).filter(|next| !next.starts_with(|c: char| c.is_ascii_digit()));
            let Some(mark) = fields.mark(&field.tag, code, after.map_or("", String::as_str)) else {
                continue;
            };
            let ends =
                value.trim_end().ends_with([':', ';', '/', '=', '+', ',', '.', '?', '!', '-', ']', ')', '>']);
            let closes = mark == "." || mark == ",";
            if !(value.trim_end().ends_with(mark.trim()) || ends && closes) {
                value.push_str(mark);
            }
        }
    }
}
