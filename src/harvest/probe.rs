//! What kind of source is behind a URL?
//!
//! A person decides how a source is harvested; this looks first and proposes. A few polite
//! requests, no record is taken.

use super::oai::{
    self, DeletedRecords, Granularity, HarvestError, Identify, Request, Response, Stamp, Unreadable, Verb,
    Window,
};
use crate::fetch::{FaultKind, Transport};
use crate::record::Model;

/// Where repositories usually are on their host, the most usual first.
const PATHS_TSV: &str = include_str!("paths.tsv");
/// More records than this take long, whatever the technique.
const MANY: u64 = 1_000_000;

/// What a source seems to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    pub technique: Technique,
    /// What to harvest: for OAI-PMH the base URL, which need not be the one that was given.
    pub url: String,
    /// What it calls itself.
    pub name: Option<String>,
    /// The metadata model of its best format.
    pub model: Option<Model>,
    pub amount: Amount,
    pub complexity: Complexity,
    /// For OAI-PMH.
    pub oai: Option<Repository>,
}

/// How records can be taken from a source. The names are those of source descriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Technique {
    OaiPmh,
    Feed,
    Sitemap,
    Web,
}

impl Technique {
    pub fn name(self) -> &'static str {
        match self {
            Self::OaiPmh => "oai-pmh",
            Self::Feed => "feed",
            Self::Sitemap => "sitemap",
            Self::Web => "web",
        }
    }
}

/// How many records there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    Unknown,
    /// By the source's word, or counted.
    Records(u64),
    /// As many were seen, and there are more.
    MoreThan(u64),
}

/// From 1, which is easy, to 5, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complexity {
    pub level: u8,
    pub reasons: Vec<String>,
}

impl Complexity {
    fn new(level: u8) -> Self {
        Self { level, reasons: Vec::new() }
    }

    fn harder(&mut self, reason: impl Into<String>) {
        self.level = (self.level + 1).min(5);
        self.reasons.push(reason.into());
    }
}

/// What is known of an OAI-PMH repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    pub identify: Identify,
    /// The metadata prefix that says most.
    pub prefix: Option<String>,
    pub formats: Vec<oai::MetadataFormat>,
    pub sets: Vec<oai::Set>,
    /// There are more sets than these.
    pub more_sets: bool,
    pub granularity: Option<Granularity>,
    pub deleted_records: DeletedRecords,
    pub earliest: Option<Stamp>,
}

/// Looks at a URL. An error means that nothing could be seen at all.
pub fn probe(transport: &dyn Transport, url: &str) -> Result<Proposal, HarvestError> {
    let base = base_url(url);
    let first = match identify(transport, &base) {
        Ok(response) => return Ok(repository(transport, base, &response)),
        Err(error) => error,
    };
    if !is_about_the_answer(&first) {
        return Err(first);
    }
    for path in host(&base).into_iter().flat_map(|_| PATHS_TSV.lines()).filter(|line| !line.starts_with('#'))
    {
        let usual = format!("{}/{path}", base.trim_end_matches('/'));
        match identify(transport, &usual) {
            Ok(response) => return Ok(repository(transport, usual, &response)),
            Err(error) if is_about_the_answer(&error) => {}
            Err(error) => return Err(error),
        }
    }
    other(transport, url, first)
}

/// A URL that is a host alone: only there other paths are worth trying.
fn host(base: &str) -> Option<&str> {
    let (_, rest) = base.split_once("://")?;
    let host = rest.strip_suffix('/').unwrap_or(rest);
    (!host.contains(['/', '?'])).then_some(host)
}

/// The base URL in a URL that may be a request already.
fn base_url(url: &str) -> String {
    let url = url.split_once('#').map_or(url, |(url, _)| url).trim();
    let Some((path, query)) = url.split_once('?') else { return url.to_owned() };
    let arguments = ["verb", "metadataPrefix", "identifier", "from", "until", "set", "resumptionToken"];
    let kept: Vec<&str> = query
        .split('&')
        .filter(|pair| !arguments.contains(&pair.split('=').next().unwrap_or_default()))
        .filter(|pair| !pair.is_empty())
        .collect();
    if kept.is_empty() { path.to_owned() } else { format!("{path}?{}", kept.join("&")) }
}

fn identify(transport: &dyn Transport, base: &str) -> Result<Response, HarvestError> {
    ask(transport, base, &Request::Identify)
}

fn ask(transport: &dyn Transport, base: &str, request: &Request<'_>) -> Result<Response, HarvestError> {
    let url = request.url(base);
    let answer = transport.get(&url)?;
    Response::read(answer.body).map_err(|reason| HarvestError::NotOai { url, reason })
}

/// Whether something answered, and only not as a repository.
fn is_about_the_answer(error: &HarvestError) -> bool {
    match error {
        HarvestError::NotOai { .. } => true,
        HarvestError::Fault(fault) => {
            matches!(fault.kind, FaultKind::Status(400 | 404 | 405 | 406 | 410 | 422 | 500..=599))
        }
        _ => false,
    }
}

fn repository(transport: &dyn Transport, base: String, response: &Response) -> Proposal {
    let mut complexity = Complexity::new(1);
    let identify = response.identify.clone().unwrap_or_default();
    if response.identify.is_none() || !response.notices.is_empty() {
        complexity.harder("it does not keep to the protocol");
    }
    match identify.deleted_records() {
        DeletedRecords::Persistent => {}
        DeletedRecords::Transient => {
            complexity
                .harder("it forgets its deletions after a while: harvest it often, or in full now and then");
        }
        DeletedRecords::No | DeletedRecords::Unknown => {
            complexity.harder("it does not announce deletions: only a full harvest shows what is gone");
        }
    }
    let formats =
        ask(transport, &base, &Request::ListMetadataFormats).map(|answer| answer.formats).unwrap_or_default();
    let choice = oai::choose(&formats);
    let model = choice.as_ref().and_then(|choice| choice.model);
    let prefix = choice.map(|choice| choice.prefix);
    if model.is_none() {
        complexity.harder("none of its metadata formats is known here");
    }
    let amount = match &prefix {
        Some(prefix) => amount(transport, &base, prefix),
        None => Amount::Unknown,
    };
    match amount {
        Amount::Unknown => complexity.harder("it does not list its records as it should"),
        Amount::Records(records) if records > MANY => {
            complexity.harder(format!("it has {records} records, which take their time"));
        }
        Amount::Records(_) | Amount::MoreThan(_) => {}
    }
    let sets = oai::list_sets(transport, &base, 1).unwrap_or_default();
    Proposal {
        technique: Technique::OaiPmh,
        url: base,
        name: identify.repository_name.clone(),
        model,
        amount,
        complexity,
        oai: Some(Repository {
            prefix,
            formats,
            sets: sets.sets,
            more_sets: sets.more,
            granularity: identify.granularity(),
            deleted_records: identify.deleted_records(),
            earliest: identify.earliest_datestamp.as_deref().and_then(Stamp::parse),
            identify,
        }),
    }
}

/// Asks for identifiers, and counts what it gets to see.
fn amount(transport: &dyn Transport, base: &str, prefix: &str) -> Amount {
    let request = Request::List {
        verb: Verb::ListIdentifiers,
        prefix,
        window: &Window::default(),
        granularity: Granularity::Day,
    };
    let Ok(answer) = ask(transport, base, &request) else { return Amount::Unknown };
    let seen = answer.headers.len() as u64;
    let none = answer.errors.iter().any(|error| error.code == "noRecordsMatch");
    match answer.token {
        Some(token) if !token.text.is_empty() => match token.complete_list_size {
            Some(size) if size > seen => Amount::Records(size),
            _ => Amount::MoreThan(seen),
        },
        _ if answer.verb == Some(Verb::ListIdentifiers) || none => Amount::Records(seen),
        _ => Amount::Unknown,
    }
}

/// No repository: what the answer shows instead.
fn other(transport: &dyn Transport, url: &str, first: HarvestError) -> Result<Proposal, HarvestError> {
    // What was seen was asked for with a verb, which may have been the trouble.
    let reason = match Response::read(transport.get(url)?.body) {
        Err(reason) => reason,
        Ok(_) => return Err(first),
    };
    let (technique, level, why) = match reason {
        Unreadable::WebPage => (Technique::Web, 4, "pages must be read by rules"),
        Unreadable::OtherXml { root } => match root.as_str() {
            "rss" | "feed" | "RDF" | "channel" => (Technique::Feed, 2, "a feed holds only what is new"),
            "urlset" | "sitemapindex" => (Technique::Sitemap, 4, "the pages it lists must be read by rules"),
            _ => return Err(first),
        },
        _ => return Err(first),
    };
    let complexity = Complexity { level, reasons: vec![why.to_owned()] };
    let (name, model, oai) = (None, None, None);
    Ok(Proposal { technique, url: url.to_owned(), name, model, amount: Amount::Unknown, complexity, oai })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::{Answer, Fault};
    use std::cell::RefCell;

    /// A host with one answer for each beginning of a URL; anything else is not found.
    struct Host {
        answers: Vec<(&'static str, String)>,
        log: RefCell<Vec<String>>,
    }

    impl Transport for Host {
        fn get(&self, url: &str) -> Result<Answer, Fault> {
            self.log.borrow_mut().push(url.to_owned());
            match self.answers.iter().find(|(start, _)| url.starts_with(start)) {
                Some((_, body)) => {
                    Ok(Answer { status: 200, body: body.clone().into_bytes(), ..Answer::default() })
                }
                None => {
                    let kind = FaultKind::Status(404);
                    Err(Fault { kind, url: url.to_owned(), detail: String::new(), attempts: 1 })
                }
            }
        }
    }

    fn host_with(answers: Vec<(&'static str, String)>) -> Host {
        Host { answers, log: RefCell::default() }
    }

    fn oai(body: &str) -> String {
        format!("<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\">{body}</OAI-PMH>")
    }

    fn repository_with(deleted: &str, prefix: &str, identifiers: &str) -> Host {
        let identify = format!(
            "<Identify><repositoryName>A library</repositoryName><deletedRecord>{deleted}</deletedRecord>\
             <granularity>YYYY-MM-DD</granularity><earliestDatestamp>2001-01-01</earliestDatestamp></Identify>"
        );
        let format =
            |prefix| format!("<metadataFormat><metadataPrefix>{prefix}</metadataPrefix></metadataFormat>");
        let formats = format!("<ListMetadataFormats>{}</ListMetadataFormats>", format(prefix));
        host_with(vec![
            ("http://r.example/oai?verb=Identify", oai(&identify)),
            ("http://r.example/oai?verb=ListMetadataFormats", oai(&formats)),
            (
                "http://r.example/oai?verb=ListIdentifiers",
                oai(&format!("<ListIdentifiers>{identifiers}</ListIdentifiers>")),
            ),
            (
                "http://r.example/oai?verb=ListSets",
                oai("<ListSets><set><setSpec>a</setSpec></set></ListSets>"),
            ),
        ])
    }

    const HEADER: &str = "<header><identifier>1</identifier></header>";

    #[test]
    fn s1_6_a_repository_is_proposed_with_model_amount_and_level() {
        let token = "<resumptionToken completeListSize=\"1234\">t</resumptionToken>";
        let host = repository_with("persistent", "marc21", &format!("{HEADER}{token}"));
        let proposal = probe(&host, "http://r.example/oai?verb=ListRecords&metadataPrefix=oai_dc").unwrap();
        assert_eq!(proposal.technique, Technique::OaiPmh);
        assert_eq!(proposal.url, "http://r.example/oai");
        assert_eq!(proposal.name.as_deref(), Some("A library"));
        assert_eq!(proposal.model, Some(Model::Marc21));
        assert_eq!(proposal.amount, Amount::Records(1234));
        assert_eq!(proposal.complexity, Complexity::new(1));
        let repository = proposal.oai.unwrap();
        assert_eq!(repository.prefix.as_deref(), Some("marc21"));
        assert_eq!(repository.granularity, Some(Granularity::Day));
        assert_eq!(repository.earliest, Stamp::parse("2001-01-01"));
        assert_eq!((repository.sets.len(), repository.more_sets), (1, false));
        assert_eq!(host.log.borrow().len(), 4);
    }

    #[test]
    fn what_makes_a_repository_hard_is_said() {
        let host = repository_with("no", "unheard-of", "");
        let proposal = probe(&host, "http://r.example/oai").unwrap();
        assert_eq!((proposal.amount, proposal.model), (Amount::Records(0), None));
        assert_eq!((proposal.complexity.level, proposal.complexity.reasons.len()), (3, 2));
        let huge = "<resumptionToken completeListSize=\"30000000\">t</resumptionToken>";
        let proposal = probe(&repository_with("transient", "oai_dc", huge), "http://r.example/oai").unwrap();
        assert_eq!(proposal.complexity.level, 3);
        let endless = format!("{HEADER}<resumptionToken>t</resumptionToken>");
        let proposal =
            probe(&repository_with("persistent", "oai_dc", &endless), "http://r.example/oai").unwrap();
        assert_eq!(proposal.amount, Amount::MoreThan(1));
    }

    #[test]
    fn a_repository_is_looked_for_at_its_usual_places() {
        let host = repository_with("persistent", "oai_dc", HEADER);
        let proposal = probe(&host, "http://r.example/").unwrap();
        assert_eq!(proposal.url, "http://r.example/oai");
        assert!(probe(&host, "http://r.example/catalogue").is_err());
        assert_eq!(host.log.borrow().last().map(String::as_str), Some("http://r.example/catalogue"));
    }

    #[test]
    fn s1_6_what_is_no_repository_is_told_by_its_root() {
        for (body, technique) in [
            ("<!DOCTYPE html><html></html>", Technique::Web),
            ("<?xml version='1.0'?><rss version='2.0'/>", Technique::Feed),
            ("<feed xmlns='http://www.w3.org/2005/Atom'/>", Technique::Feed),
            ("<urlset/>", Technique::Sitemap),
        ] {
            let host = host_with(vec![("http://r.example/x", body.to_owned())]);
            let proposal = probe(&host, "http://r.example/x").unwrap();
            assert_eq!((proposal.technique, proposal.amount), (technique, Amount::Unknown));
            assert!((1..=5).contains(&proposal.complexity.level));
        }
        for body in ["", "text", "<unheard-of/>"] {
            let host = host_with(vec![("http://r.example/x", body.to_owned())]);
            assert!(matches!(probe(&host, "http://r.example/x"), Err(HarvestError::NotOai { .. })));
        }
    }

    #[test]
    fn a_request_is_taken_for_its_base_url() {
        for (url, base) in [
            ("http://r.example/oai?verb=Identify", "http://r.example/oai"),
            ("http://r.example/?page=oai&verb=Identify#x", "http://r.example/?page=oai"),
            (" http://r.example/oai? ", "http://r.example/oai"),
        ] {
            assert_eq!(base_url(url), base);
        }
    }
}
