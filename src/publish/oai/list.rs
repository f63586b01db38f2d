//! `ListIdentifiers` and `ListRecords`, a page at a time.

use super::document;
use super::error::{Code, Error};
use super::repository::{Position, Selection};
use super::respond::{Refusal, Responder, no_sets};
use super::token::Token;
use super::verb::{ListVerb, Wanted};

impl Responder<'_> {
    /// What the repository must have for a list to make sense.
    pub fn check(&self, wanted: &Wanted) -> Result<(), Refusal> {
        let mut errors = Vec::new();
        if self.format(&wanted.prefix).is_none() {
            errors
                .push(Error::new(Code::CannotDisseminateFormat, "the repository does not have this format"));
        }
        if wanted.set.is_some() && self.repository.sets()?.is_empty() {
            errors.push(no_sets());
        }
        if !errors.is_empty() {
            return Err(Refusal::Errors(errors));
        }
        let earliest = self.repository.earliest()?;
        if wanted.until.is_some_and(|until| until < earliest) {
            return Err(no_records().into());
        }
        Ok(())
    }

    /// A page: the first, or the one behind a position, before which so many were given.
    pub fn list(
        &mut self,
        verb: ListVerb,
        wanted: &Wanted,
        start: Option<(Position, u64)>,
    ) -> Result<String, Refusal> {
        let is_first = start.is_none();
        let (mut after, cursor) = start.map_or((None, 0), |(position, given)| (Some(position), given));
        let mut given = cursor;
        let mut out = format!("<{}>\n", verb.name());
        let empty = out.len();
        // A page on which no record can be written would be no list: the next one is taken with it.
        let (total, more) = loop {
            let selection = Selection {
                from: wanted.from,
                until: wanted.until,
                set: wanted.set.clone(),
                prefix: wanted.prefix.clone(),
                after: after.clone(),
                limit: self.repository.page_size().max(1),
            };
            let page = self.repository.list(&selection)?;
            for header in &page.headers {
                if verb == ListVerb::Identifiers {
                    document::header(&mut out, &self.namespace, header);
                    continue;
                }
                let metadata = if header.deleted { None } else { self.metadata(&header.id, &wanted.prefix)? };
                if metadata.is_some() || header.deleted {
                    document::record(&mut out, &self.namespace, header, metadata.as_deref());
                } else {
                    self.left_out.push(header.id.clone());
                }
            }
            given += page.headers.len() as u64;
            let last = page.headers.into_iter().next_back();
            let more = page.more && last.is_some();
            if let Some(last) = last {
                after = Some(Position { datestamp: last.datestamp, id: last.id });
            }
            if out.len() > empty || !more {
                break (page.total, more);
            }
        };
        if out.len() == empty {
            return Err(no_records().into());
        }
        let token = after.filter(|_| more).map(|after| Token { verb, wanted: wanted.clone(), after, given });
        // An empty token ends a list of several pages; a list of one page has none at all.
        if token.is_some() || !is_first {
            // Between two pages records come and go; the size is never less than what was given.
            let total = total.map(|total| total.max(given));
            let token = token.map(|token| token.write(&self.namespace));
            document::resumption_token(&mut out, total, cursor, token.as_deref());
        }
        out.push_str(&format!("</{}>\n", verb.name()));
        Ok(out)
    }
}

fn no_records() -> Error {
    Error::new(Code::NoRecordsMatch, "no record matches these arguments")
}
