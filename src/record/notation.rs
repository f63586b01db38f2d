//! The one-line notation of a field: `10 $a Walden : $b or, Life in the woods`.
//!
//! It is the notation of `given` in rule examples, of `record show --decoded` and of
//! `pin:unmappedValue`. A blank indicator is written `#`. A subfield code of several letters
//! (an XML attribute, say) is written the same way.

use super::Field;

/// Writes indicators and subfields, or the text of a field without subfields.
pub fn write_field(field: Field<'_>, out: &mut String) {
    if field.is_control() {
        out.push_str(field.text());
        return;
    }
    // Elements have attributes but no indicators.
    if field.text().is_empty() {
        out.push(indicator(field.ind1()));
        out.push(indicator(field.ind2()));
    } else {
        out.push_str(field.text());
    }
    for subfield in field.subfields() {
        out.push_str(" $");
        out.push_str(subfield.code);
        out.push(' ');
        out.push_str(subfield.value);
    }
}

fn indicator(indicator: char) -> char {
    if indicator == ' ' { '#' } else { indicator }
}
