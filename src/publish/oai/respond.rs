//! The content of the answer to each verb.

use super::document::{self, Identity};
use super::error::{Code, Error};
use super::fragment;
use super::identifier::id_of;
use super::repository::{Busy, Format, Header, Repository};
use super::token::Token;
use super::verb::Asked;

/// Why there is no content.
#[derive(Debug)]
pub enum Refusal {
    Errors(Vec<Error>),
    Busy(Busy),
}

impl From<Busy> for Refusal {
    fn from(busy: Busy) -> Self {
        Self::Busy(busy)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Errors(vec![error])
    }
}

/// Whoever asks the repository for one answer.
pub struct Responder<'a> {
    pub repository: &'a dyn Repository,
    pub namespace: String,
    pub formats: Vec<Format>,
    pub left_out: Vec<String>,
    base_url: &'a str,
}

impl<'a> Responder<'a> {
    pub fn new(repository: &'a dyn Repository, base_url: &'a str) -> Self {
        let (namespace, formats) = (repository.namespace(), repository.formats());
        Self { repository, namespace, formats, left_out: Vec::new(), base_url }
    }

    pub fn respond(&mut self, asked: Asked) -> Result<String, Refusal> {
        match asked {
            Asked::GetRecord { identifier, prefix } => self.get_record(&identifier, &prefix),
            Asked::Identify => self.identify(),
            Asked::ListMetadataFormats { identifier: None } => {
                Ok(document::metadata_formats(self.formats.iter()))
            }
            Asked::ListMetadataFormats { identifier: Some(name) } => self.formats_of(&name),
            Asked::ListSets => self.list_sets(),
            Asked::List(verb, wanted) => {
                self.check(&wanted)?;
                self.list(verb, &wanted, None)
            }
            Asked::Resume(verb, text) => {
                let token = Token::read(&self.namespace, &text)
                    .filter(|token| token.verb == verb && self.format(&token.wanted.prefix).is_some());
                let stale = || Error::new(Code::BadResumptionToken, "this token was not given for this list");
                let token = token.ok_or_else(stale)?;
                self.list(verb, &token.wanted, Some((token.after, token.given)))
            }
        }
    }

    pub fn format(&self, prefix: &str) -> Option<&Format> {
        self.formats.iter().find(|format| format.prefix == prefix)
    }

    /// A record's metadata, ready to be written.
    pub fn metadata(&self, id: &str, prefix: &str) -> Result<Option<String>, Busy> {
        let Some(format) = self.format(prefix) else { return Ok(None) };
        let xml = self.repository.metadata(id, prefix)?;
        Ok(xml.and_then(|xml| fragment::element(&xml, format)))
    }

    fn identify(&self) -> Result<String, Refusal> {
        let repository = self.repository;
        Ok(document::identify(&Identity {
            name: &repository.name(),
            base_url: self.base_url,
            admin_emails: &repository.admin_emails(),
            earliest: repository.earliest()?,
            namespace: &self.namespace,
            friends: &repository.friends(),
        }))
    }

    fn get_record(&self, name: &str, prefix: &str) -> Result<String, Refusal> {
        let header = self.header(name)?;
        let is_known = self.format(prefix).is_some();
        let Some(header) = header.clone().filter(|_| is_known) else {
            let mut errors = Vec::new();
            if header.is_none() {
                errors.push(no_such_record());
            }
            if !is_known {
                errors.push(Error::new(
                    Code::CannotDisseminateFormat,
                    "the repository does not have this format",
                ));
            }
            return Err(Refusal::Errors(errors));
        };
        let metadata = if header.deleted { None } else { self.metadata(&header.id, prefix)? };
        if metadata.is_none() && !header.deleted {
            let message = "the record cannot be given in this format";
            return Err(Error::new(Code::CannotDisseminateFormat, message).into());
        }
        let mut out = String::from("<GetRecord>\n");
        document::record(&mut out, &self.namespace, &header, metadata.as_deref());
        out.push_str("</GetRecord>\n");
        Ok(out)
    }

    fn formats_of(&self, name: &str) -> Result<String, Refusal> {
        let header = self.header(name)?.ok_or_else(no_such_record)?;
        let prefixes = self.repository.formats_of(&header.id)?;
        let mut formats = self.formats.iter().filter(|format| prefixes.contains(&format.prefix)).peekable();
        if formats.peek().is_none() {
            let message = "the record is there in no format";
            return Err(Error::new(Code::NoMetadataFormats, message).into());
        }
        Ok(document::metadata_formats(formats))
    }

    fn list_sets(&self) -> Result<String, Refusal> {
        let sets = self.repository.sets()?;
        if sets.is_empty() {
            return Err(no_sets().into());
        }
        Ok(document::sets(&sets))
    }

    fn header(&self, name: &str) -> Result<Option<Header>, Busy> {
        match id_of(&self.namespace, name) {
            Some(id) => self.repository.header(&id),
            None => Ok(None),
        }
    }
}

pub fn no_sets() -> Error {
    Error::new(Code::NoSetHierarchy, "the repository has no sets")
}

fn no_such_record() -> Error {
    Error::new(Code::IdDoesNotExist, "the repository has no record of this identifier")
}
