//! A response of the protocol, before and after it becomes bytes.

use super::request::{Arguments, Refusal, Verb};
use super::xml::{element, escape};

/// The namespace of OAI-PMH 2.0.
pub const NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/";

/// A whole response. Faults change its parts before it is written.
#[derive(Clone, Debug)]
pub struct Document {
    pub doctype: bool,
    pub namespace: Option<&'static str>,
    pub response_date: String,
    pub base_url: String,
    pub arguments: Arguments,
    pub errors: Vec<Refusal>,
    pub content: Option<Content>,
}

/// The element named after the verb.
#[derive(Clone, Debug)]
pub struct Content {
    pub verb: Verb,
    pub entries: Vec<Entry>,
    pub token: Option<TokenElement>,
}

/// A child of that element: a record, a header, a set, or all that is in it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Of which record, if it is one or its header.
    pub number: Option<usize>,
    pub deleted: bool,
    /// Not text: faults may put in what is none.
    pub xml: Vec<u8>,
}

impl Entry {
    pub fn plain(xml: String) -> Self {
        Self { number: None, deleted: false, xml: xml.into_bytes() }
    }
}

#[derive(Clone, Debug, Default)]
pub struct TokenElement {
    pub text: String,
    pub complete_list_size: Option<String>,
    pub cursor: Option<String>,
    pub expiration_date: Option<String>,
}

impl Document {
    pub fn write(&self) -> Vec<u8> {
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        if self.doctype {
            out.push_str("<!DOCTYPE OAI-PMH [<!ENTITY publisher \"declared here\">]>\n");
        }
        let namespace = self.namespace.map(|name| format!(" xmlns=\"{name}\"")).unwrap_or_default();
        out.push_str(&format!(
            "<OAI-PMH{namespace} xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
             xsi:schemaLocation=\"{NAMESPACE} http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd\">\n"
        ));
        element(&mut out, 2, "responseDate", &self.response_date);
        let hidden = self.errors.iter().any(Refusal::hides_arguments);
        let shown = if hidden { &[] } else { self.arguments.as_slice() };
        let attributes: String =
            shown.iter().map(|(name, value)| format!(" {name}=\"{}\"", escape(value))).collect();
        element(&mut out, 2, &format!("request{attributes}"), &self.base_url);
        for error in &self.errors {
            element(&mut out, 2, &format!("error code=\"{}\"", error.code), &error.message);
        }
        let mut bytes = out.into_bytes();
        if let Some(content) = &self.content {
            content.write(&mut bytes);
        }
        bytes.extend_from_slice(b"</OAI-PMH>\n");
        bytes
    }
}

impl Content {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(format!("  <{}>\n", self.verb).as_bytes());
        for entry in &self.entries {
            bytes.extend_from_slice(&entry.xml);
        }
        if let Some(token) = &self.token {
            let attribute = |name: &str, value: &Option<String>| {
                value.as_ref().map(|value| format!(" {name}=\"{value}\"")).unwrap_or_default()
            };
            let attributes = [
                attribute("expirationDate", &token.expiration_date),
                attribute("completeListSize", &token.complete_list_size),
                attribute("cursor", &token.cursor),
            ]
            .concat();
            let text = escape(&token.text);
            bytes.extend_from_slice(
                format!("    <resumptionToken{attributes}>{text}</resumptionToken>\n").as_bytes(),
            );
        }
        bytes.extend_from_slice(format!("  </{}>\n", self.verb).as_bytes());
    }
}
