//! From a piece of an input to an archive entry: decoding, identity, place.

use super::Request;
use crate::archive::{Entry, Kind, Origin};
use crate::decode::{self, Payload, Piece};
use crate::diagnostic::{Code, Diagnostic, beginning};
use crate::record::{Format, Model, Record};

/// What the pieces of one run have in common.
#[derive(Clone, Copy)]
pub(super) struct Taking<'a> {
    pub request: &'a Request,
    pub run: u64,
}

/// A payload after decoding.
pub(super) struct Decoded {
    pub entry: Entry,
    pub record: Option<Record>,
    pub diagnostics: Vec<Diagnostic>,
}

impl Taking<'_> {
    pub fn decode(self, piece: Piece, origin: &str, format: Format) -> Decoded {
        let (payload, mut diagnostics) = match piece {
            Piece::Reject(payload, diagnostic) => {
                return self.rejected(origin, Some(format), payload, diagnostic);
            }
            Piece::Record(payload, diagnostics) => (payload, diagnostics),
        };
        let stored = decode::stored_format(format);
        let record = decode::decode(&payload.bytes, stored, &self.request.options, &mut diagnostics);
        let Some(mut record) = record else {
            let reason = diagnostics
                .pop()
                .unwrap_or_else(|| Diagnostic::new(Code::NotARecord, "the record cannot be read"));
            return self.rejected(origin, Some(stored), payload, reason);
        };
        set_model(&mut record, self.request.model);
        let kind = if record.withdrawn { Kind::Withdrawal } else { Kind::Record };
        let mut entry = self.entry(kind, origin, Some(stored), payload);
        entry.id = match &record.id {
            Some(id) => id.clone(),
            None => {
                let (message, hint) = match &self.request.options.id_field {
                    Some(field) => {
                        (format!("the record has no `{field}`"), "check the name given with `--id`")
                    }
                    None => (
                        "the record has no identifier".to_owned(),
                        "`--id` names the column or key that identifies a row",
                    ),
                };
                let message = format!("{message}; it is known by the hash of its content");
                diagnostics.push(Diagnostic::new(Code::MissingIdentifier, message).hint(hint));
                format!("sha256-{}", entry.hash)
            }
        };
        let diagnostics =
            diagnostics.into_iter().map(|said| placed(said, self.request, origin, Some(&entry))).collect();
        Decoded { entry, record: Some(record), diagnostics }
    }

    pub fn rejected(
        self,
        origin: &str,
        format: Option<Format>,
        payload: Payload,
        reason: Diagnostic,
    ) -> Decoded {
        let mut entry = self.entry(Kind::Reject, origin, format, payload);
        let reason = placed(reason, self.request, origin, Some(&entry));
        entry.diagnostic = Some(reason.clone());
        Decoded { entry, record: None, diagnostics: vec![reason] }
    }

    fn entry(self, kind: Kind, origin: &str, format: Option<Format>, payload: Payload) -> Entry {
        let request = self.request;
        let mut entry =
            Entry::new(kind, &request.source, "", self.run, &request.time).with_payload(payload.bytes);
        entry.format = format;
        entry.charset = request.options.charset.map(|charset| charset.name().to_owned());
        entry.content_type.clone_from(&request.content_type);
        entry.model = request.model.map(|model| model.name().to_owned());
        entry.origin = Origin { name: origin.to_owned(), number: payload.number, offset: payload.offset };
        entry
    }
}

/// Rows and objects mean what the user says; every other record tells its model itself.
pub(super) fn set_model(record: &mut Record, said: Option<Model>) {
    if let Some(model) = said.filter(|_| matches!(record.model, Model::Row | Model::Json)) {
        record.model = model;
    }
}

/// Adds the place that only the import knows.
pub(super) fn placed(
    mut diagnostic: Diagnostic,
    request: &Request,
    origin: &str,
    entry: Option<&Entry>,
) -> Diagnostic {
    let place = &mut diagnostic.place;
    place.source = Some(request.source.clone());
    place.origin = Some(origin.to_owned());
    if let Some(entry) = entry {
        place.number = (entry.origin.number > 0).then_some(entry.origin.number);
        let within = place.offset.filter(|_| entry.kind != Kind::Reject).unwrap_or_default();
        place.offset = Some(entry.origin.offset + within);
        if !entry.id.is_empty() {
            place.record = Some(beginning(&entry.id).into_owned());
        }
    }
    diagnostic
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record may have a diagnostic of every kind, and each names the record.
    #[test]
    fn of_a_long_identifier_a_diagnostic_names_the_beginning() {
        let named = |id: &str| {
            let entry = Entry::new(Kind::Record, "source", id, 1, "2026-01-01T00:00:00Z");
            let said = Diagnostic::new(Code::BadField, "a fault");
            placed(said, &Request::default(), "file", Some(&entry)).place.record
        };
        assert_eq!(named("A-1").as_deref(), Some("A-1"));
        assert!(named(&"x".repeat(1 << 20)).is_some_and(|record| record.len() < 500));
    }
}
