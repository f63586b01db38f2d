//! The answer as XML: what surrounds every answer, and each piece that the protocol names.
//!
//! The order of elements is that of the protocol's schema.

use super::datestamp::Datestamp;
use super::error::Error;
use super::identifier::{identifier, is_namespace};
use super::repository::{Format, Header, Set};
use super::request::Request;
use crate::publish::write::xml::{attribute, escape, text};

/// A whole answer around its content.
pub fn envelope(request: &Request, echo: bool, now: Datestamp, content: &str) -> String {
    let mut out = String::with_capacity(content.len() + 1024);
    out.push_str(BEGIN);
    text(&mut out, "responseDate", &now.to_string());
    out.push_str("<request");
    for (key, value) in request.arguments.iter().filter(|_| echo) {
        attribute(&mut out, key, value);
    }
    out.push('>');
    escape(&request.base_url, &mut out);
    out.push_str("</request>\n");
    out.push_str(content);
    out.push_str("</OAI-PMH>\n");
    out
}

const BEGIN: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
    <OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\" \
    xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
    xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/ http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd\">\n";

pub fn errors(errors: &[Error]) -> String {
    let mut out = String::new();
    for error in errors {
        out.push_str("<error");
        attribute(&mut out, "code", error.code.name());
        out.push('>');
        escape(&error.message, &mut out);
        out.push_str("</error>\n");
    }
    out
}

/// What `Identify` says.
pub struct Identity<'a> {
    pub name: &'a str,
    pub base_url: &'a str,
    pub admin_emails: &'a [String],
    pub earliest: Datestamp,
    pub namespace: &'a str,
    pub friends: &'a [String],
}

pub fn identify(identity: &Identity<'_>) -> String {
    let mut out = String::from("<Identify>\n");
    text(&mut out, "repositoryName", identity.name);
    text(&mut out, "baseURL", identity.base_url);
    text(&mut out, "protocolVersion", "2.0");
    for email in identity.admin_emails {
        text(&mut out, "adminEmail", email);
    }
    text(&mut out, "earliestDatestamp", &identity.earliest.to_string());
    text(&mut out, "deletedRecord", "persistent");
    text(&mut out, "granularity", "YYYY-MM-DDThh:mm:ssZ");
    // A namespace that is no name of a host, as on a machine without one, has no description.
    if is_namespace(identity.namespace) {
        out.push_str(IDENTIFIER_BEGIN);
        text(&mut out, "scheme", "oai");
        text(&mut out, "repositoryIdentifier", identity.namespace);
        text(&mut out, "delimiter", ":");
        text(&mut out, "sampleIdentifier", &identifier(identity.namespace, "loc/123"));
        out.push_str("</oai-identifier></description>\n");
    }
    if !identity.friends.is_empty() {
        out.push_str(FRIENDS_BEGIN);
        for friend in identity.friends {
            text(&mut out, "baseURL", friend);
        }
        out.push_str("</friends></description>\n");
    }
    out.push_str("</Identify>\n");
    out
}

const IDENTIFIER_BEGIN: &str = "<description><oai-identifier xmlns=\"http://www.openarchives.org/OAI/2.0/oai-identifier\" \
    xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/oai-identifier \
    http://www.openarchives.org/OAI/2.0/oai-identifier.xsd\">\n";

const FRIENDS_BEGIN: &str = "<description><friends xmlns=\"http://www.openarchives.org/OAI/2.0/friends/\" \
    xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/friends/ \
    http://www.openarchives.org/OAI/2.0/friends.xsd\">\n";

pub fn metadata_formats<'a>(formats: impl Iterator<Item = &'a Format>) -> String {
    let mut out = String::from("<ListMetadataFormats>\n");
    for format in formats {
        out.push_str("<metadataFormat>\n");
        text(&mut out, "metadataPrefix", &format.prefix);
        text(&mut out, "schema", &format.schema);
        text(&mut out, "metadataNamespace", &format.namespace);
        out.push_str("</metadataFormat>\n");
    }
    out.push_str("</ListMetadataFormats>\n");
    out
}

pub fn sets(sets: &[Set]) -> String {
    let mut out = String::from("<ListSets>\n");
    for set in sets {
        out.push_str("<set>\n");
        text(&mut out, "setSpec", &set.spec);
        text(&mut out, "setName", &set.name);
        if let Some(description) = &set.description {
            out.push_str(SET_DESCRIPTION_BEGIN);
            text(&mut out, "dc:description", description);
            out.push_str("</oai_dc:dc></setDescription>\n");
        }
        out.push_str("</set>\n");
    }
    out.push_str("</ListSets>\n");
    out
}

const SET_DESCRIPTION_BEGIN: &str = "<setDescription><oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
    xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
    xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/oai_dc/ \
    http://www.openarchives.org/OAI/2.0/oai_dc.xsd\">\n";

pub fn header(out: &mut String, namespace: &str, header: &Header) {
    out.push_str("<header");
    if header.deleted {
        attribute(out, "status", "deleted");
    }
    out.push_str(">\n");
    text(out, "identifier", &identifier(namespace, &header.id));
    text(out, "datestamp", &header.datestamp.to_string());
    for set in &header.sets {
        text(out, "setSpec", set);
    }
    out.push_str("</header>\n");
}

/// A record: a header, and metadata unless it is deleted.
pub fn record(out: &mut String, namespace: &str, of: &Header, metadata: Option<&str>) {
    out.push_str("<record>\n");
    header(out, namespace, of);
    if let Some(metadata) = metadata {
        out.push_str("<metadata>\n");
        out.push_str(metadata);
        out.push_str("\n</metadata>\n");
    }
    out.push_str("</record>\n");
}

/// Where a list goes on; without a token, that it ends here.
pub fn resumption_token(out: &mut String, total: Option<u64>, cursor: u64, token: Option<&str>) {
    out.push_str("<resumptionToken");
    if let Some(total) = total {
        attribute(out, "completeListSize", &total.to_string());
    }
    attribute(out, "cursor", &cursor.to_string());
    match token {
        Some(token) => {
            out.push('>');
            escape(token, out);
            out.push_str("</resumptionToken>\n");
        }
        None => out.push_str("/>\n"),
    }
}
