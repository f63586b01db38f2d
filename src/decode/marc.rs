//! What all MARC syntaxes share once the fields are read: dialect, identifier, withdrawal.

use crate::record::{Model, Record};

/// Fills in what a MARC record says about itself. Called by every MARC reader at its end.
pub(super) fn finish(record: &mut Record) {
    record.model = dialect(record);
    record.id =
        record.field("001").map(|field| field.text().trim()).filter(|id| !id.is_empty()).map(str::to_owned);
    record.withdrawn = record.leader_at(5) == Some('d');
}

fn is_unimarc_authority(record: &Record) -> bool {
    // 100 $a of an authority record: a date of eight digits, a status, a language. In a
    // description a year follows the letter.
    record.fields_with("100").filter_map(|field| field.subfield("a")).any(|data| {
        let data = data.as_bytes();
        data.len() >= 12
            && data.iter().take(8).all(u8::is_ascii_digit)
            && matches!(data.get(8), Some(b'a'..=b'c' | b'x'))
            && data.iter().skip(9).take(3).all(u8::is_ascii_lowercase)
    })
}

/// Neither the file name nor the leader names the dialect. UNIMARC puts the title in 200 and
/// general processing data in 100 $a, whose first eight characters are a date; MARC 21 puts
/// the title in 245 and a person in 100 $a.
fn dialect(record: &Record) -> Model {
    if record.field("245").is_some() {
        return Model::Marc21;
    }
    let processing_data = record
        .fields_with("100")
        .filter_map(|field| field.subfield("a"))
        // No person's name begins with eight digits; the rest may have lost its blanks.
        .any(|data| data.len() >= 9 && data.bytes().take(8).all(|byte| byte.is_ascii_digit()));
    let unimarc_title = record.field("200").is_some_and(|field| field.subfield("a").is_some());
    // Authority records of MARC 21 are of type z; UNIMARC's are x, y and z in the same place,
    // but carry 2XX headings and 100 processing data.
    if is_unimarc_authority(record) {
        Model::UnimarcAuthority
    } else if processing_data || unimarc_title {
        Model::Unimarc
    } else if record.leader_at(6) == Some('z') {
        Model::Marc21Authority
    } else {
        Model::Marc21
    }
}
