//! Answering: from a request to a document, by the rules of the specification.

use super::clock::{self, Clock};
use super::document::{Content, Document, Entry, NAMESPACE, TokenElement};
use super::fault::Fault;
use super::formats::Format;
use super::holdings::{DeletedRecord, Granularity, Holdings, Item, Rendering, Selection};
use super::plan::Plan;
use super::request::{Arguments, Refusal, Verb, argument, check};
use super::settings::Repository;
use super::spoil;
use super::tokens::Tokens;
use super::words::SETS;
use super::xml::element;
use jiff::Timestamp;

/// All that changes while a repository is served.
#[derive(Debug)]
pub struct State {
    pub settings: Repository,
    pub base_url: String,
    pub clock: Clock,
    pub holdings: Holdings,
    pub tokens: Tokens,
    pub plan: Plan,
}

/// A document and what the log has to say about it.
#[derive(Clone, Debug)]
pub struct Answer {
    pub document: Document,
    /// Of lists: which one, and which page of it, from 1.
    pub listing: Option<usize>,
    pub page: Option<usize>,
    /// A record on it lets the server fail.
    pub fails: bool,
}

/// A page of a list.
struct Page {
    listing: usize,
    cursor: usize,
    content: Content,
}

impl State {
    pub fn new(settings: Repository, base_url: String) -> Self {
        Self {
            base_url,
            clock: settings.clock.clone(),
            holdings: Holdings::new(&settings),
            tokens: Tokens::new(settings.seed, settings.token_uses, settings.token_lifetime),
            plan: Plan::new(settings.faults.clone()),
            settings,
        }
    }

    /// Answers a request, right but for these faults.
    pub fn answer(&mut self, arguments: &Arguments, faults: &[Fault]) -> Answer {
        let mut answer = Answer {
            document: Document {
                doctype: false,
                namespace: Some(NAMESPACE),
                response_date: clock::seconds(self.clock.now()),
                base_url: self.base_url.clone(),
                arguments: arguments.clone(),
                errors: Vec::new(),
                content: None,
            },
            listing: None,
            page: None,
            fails: false,
        };
        match check(arguments).and_then(|verb| self.perform(verb, arguments, faults, &mut answer)) {
            Ok(content) => answer.document.content = Some(content),
            Err(refusal) => answer.document.errors.push(refusal),
        }
        spoil::document(&mut answer.document, faults);
        answer
    }

    fn perform(
        &mut self,
        verb: Verb,
        arguments: &Arguments,
        faults: &[Fault],
        answer: &mut Answer,
    ) -> Result<Content, Refusal> {
        let entries = match verb {
            Verb::Identify => vec![self.identify()],
            Verb::ListMetadataFormats => self.formats(argument(arguments, "identifier"))?,
            Verb::GetRecord => {
                let format = self.format(argument(arguments, "metadataPrefix"))?;
                let identifier = argument(arguments, "identifier").unwrap_or_default();
                let item = self
                    .holdings
                    .find(identifier)
                    .ok_or_else(|| Refusal::new("idDoesNotExist", format!("there is no `{identifier}`")))?;
                if !self.holdings.has(item, format) {
                    return Err(Refusal::new(
                        "cannotDisseminateFormat",
                        format!("`{identifier}` does not exist as `{}`", format.prefix),
                    ));
                }
                vec![self.record(item, format, &mut answer.fails)]
            }
            Verb::ListSets | Verb::ListIdentifiers | Verb::ListRecords => {
                let page = self.list(verb, arguments, faults, answer)?;
                let size = self.page_size(verb);
                answer.listing = Some(page.listing);
                answer.page = Some(page.cursor / size + 1);
                return Ok(page.content);
            }
        };
        Ok(Content { verb, entries, token: None })
    }

    fn identify(&self) -> Entry {
        let mut out = String::new();
        let mut add = |name: &str, text: &str| element(&mut out, 4, name, text);
        add("repositoryName", "A repository of examples & exceptions");
        add("baseURL", &self.base_url);
        add("protocolVersion", "2.0");
        add("adminEmail", "keeper@repository.example");
        add("earliestDatestamp", &self.holdings.datestamp(self.holdings.earliest()));
        add(
            "deletedRecord",
            match self.settings.deleted_record {
                DeletedRecord::No => "no",
                DeletedRecord::Transient => "transient",
                DeletedRecord::Persistent => "persistent",
            },
        );
        add(
            "granularity",
            match self.settings.granularity {
                Granularity::Day => "YYYY-MM-DD",
                Granularity::Seconds => "YYYY-MM-DDThh:mm:ssZ",
            },
        );
        if self.settings.gzip {
            add("compression", "gzip");
        }
        Entry::plain(out)
    }

    fn formats(&self, identifier: Option<&str>) -> Result<Vec<Entry>, Refusal> {
        let item = match identifier {
            None => None,
            Some(identifier) => Some(
                self.holdings
                    .find(identifier)
                    .ok_or_else(|| Refusal::new("idDoesNotExist", format!("there is no `{identifier}`")))?,
            ),
        };
        if item.is_some_and(|item| item.deleted) {
            return Err(Refusal::new("noMetadataFormats", "the record was deleted"));
        }
        let formats = self
            .settings
            .prefixes
            .iter()
            .map(|prefix| Format::named(prefix).unwrap_or_else(|| panic!("no format `{prefix}`")))
            .filter(|format| item.is_none_or(|item| self.holdings.has(item, *format)));
        Ok(formats
            .map(|format| {
                let mut out = "    <metadataFormat>\n".to_owned();
                element(&mut out, 6, "metadataPrefix", format.prefix);
                element(&mut out, 6, "schema", format.schema);
                element(&mut out, 6, "metadataNamespace", format.namespace);
                out.push_str("    </metadataFormat>\n");
                Entry::plain(out)
            })
            .collect())
    }

    /// A page of a list, begun or resumed.
    fn list(
        &mut self,
        verb: Verb,
        arguments: &Arguments,
        faults: &[Fault],
        answer: &mut Answer,
    ) -> Result<Page, Refusal> {
        if verb == Verb::ListSets && !self.settings.sets {
            return Err(Refusal::new("noSetHierarchy", "there are no sets"));
        }
        let now = self.clock.now();
        let (listing, cursor) = match argument(arguments, "resumptionToken") {
            Some(token) => {
                if faults.contains(&Fault::ExpiredToken) {
                    self.tokens.expire(token);
                }
                self.tokens.resume(token, verb, now).ok_or_else(|| {
                    Refusal::new("badResumptionToken", "the token is unknown or has expired")
                })?
            }
            None if verb == Verb::ListSets => {
                (self.tokens.begin(verb, "", (0..SETS.len()).collect(), now), 0)
            }
            None => {
                let format = self.format(argument(arguments, "metadataPrefix"))?;
                let found = self.holdings.select(format, &self.selection(arguments)?);
                if found.is_empty() {
                    return Err(Refusal::new("noRecordsMatch", "nothing was found"));
                }
                (self.tokens.begin(verb, format.prefix, found, now), 0)
            }
        };
        let size = self.page_size(verb);
        let list = self.tokens.listing(listing);
        let total = list.found.len();
        let shown = list.found[cursor..total.min(cursor.saturating_add(size))].to_vec();
        let format = Format::named(&list.prefix);
        let mut entries = Vec::new();
        for place in &shown {
            entries.push(match (verb, format) {
                (Verb::ListSets, _) => set(*place),
                (Verb::ListRecords, Some(format)) => {
                    self.record(self.holdings.item(*place), format, &mut answer.fails)
                }
                _ => self.header(self.holdings.item(*place)),
            });
        }
        let next = cursor + shown.len();
        // The last page of a list in parts ends with an empty token, a list in one part has none.
        let token = (next < total || cursor > 0).then(|| TokenElement {
            text: if next < total { self.tokens.issue(listing, next) } else { String::new() },
            complete_list_size: self.settings.totals.then(|| total.to_string()),
            cursor: self.settings.totals.then(|| cursor.to_string()),
            expiration_date: self.tokens.expiration(listing).filter(|_| next < total).map(clock::seconds),
        });
        let mut content = Content { verb, entries, token };
        spoil::page(self, &mut content, listing, cursor, faults);
        Ok(Page { listing, cursor, content })
    }

    pub fn page_size(&self, verb: Verb) -> usize {
        if verb == Verb::ListSets { self.settings.page_of_sets } else { self.settings.page }
    }

    fn header(&self, item: &Item) -> Entry {
        Entry {
            number: Some(item.number),
            deleted: item.deleted,
            xml: self.holdings.header(item, Rendering::default()).into_bytes(),
        }
    }

    fn record(&self, item: &Item, format: Format, fails: &mut bool) -> Entry {
        let fault = self.plan.of_record(item.number);
        *fails |= matches!(fault, Some(Fault::RecordFails(_)));
        let rendering = Rendering { marked: fault.is_some(), outdated: false };
        let xml = spoil::record(self.holdings.record(item, format, rendering), fault);
        Entry { number: Some(item.number), deleted: item.deleted, xml }
    }

    fn format(&self, prefix: Option<&str>) -> Result<Format, Refusal> {
        let prefix = prefix.unwrap_or_default();
        self.settings
            .prefixes
            .iter()
            .find(|known| *known == prefix)
            .and_then(|known| Format::named(known))
            .ok_or_else(|| Refusal::new("cannotDisseminateFormat", format!("there is no `{prefix}`")))
    }

    fn selection(&self, arguments: &Arguments) -> Result<Selection, Refusal> {
        let bound = |name: &str| argument(arguments, name).map(|text| self.bound(name, text)).transpose();
        let (from, until) = (bound("from")?, bound("until")?);
        if let (Some(from), Some(until)) = (from, until) {
            if from.granularity != until.granularity {
                return Err(Refusal::new("badArgument", "`from` and `until` differ in granularity"));
            }
            if from.first > until.last {
                return Err(Refusal::new("badArgument", "`from` is later than `until`"));
            }
        }
        let set = argument(arguments, "set").map(str::to_owned);
        if let Some(set) = &set {
            if !self.settings.sets {
                return Err(Refusal::new("noSetHierarchy", "there are no sets"));
            }
            let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.!~*'()".contains(c);
            if !set.split(':').all(|part| !part.is_empty() && part.chars().all(allowed)) {
                return Err(Refusal::new("badArgument", format!("`{set}` is no setSpec")));
            }
        }
        Ok(Selection { from: from.map(|bound| bound.first), until: until.map(|bound| bound.last), set })
    }

    fn bound(&self, name: &str, text: &str) -> Result<Bound, Refusal> {
        let bad = |why: &str| Refusal::new("badArgument", format!("`{name}={text}` {why}"));
        let bound = Bound::read(text).ok_or_else(|| bad("is no UTC date"))?;
        if bound.granularity == Granularity::Seconds && self.settings.granularity == Granularity::Day {
            return Err(bad("is finer than days"));
        }
        Ok(bound)
    }
}

/// A day or a second as a bound of datestamps.
#[derive(Clone, Copy, Debug)]
struct Bound {
    granularity: Granularity,
    first: Timestamp,
    last: Timestamp,
}

impl Bound {
    fn read(text: &str) -> Option<Self> {
        let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
        let (granularity, first, length) = match shape.as_str() {
            "9999-99-99" => (Granularity::Day, format!("{text}T00:00:00Z"), 86_400),
            "9999-99-99T99:99:99Z" => (Granularity::Seconds, text.to_owned(), 1),
            _ => return None,
        };
        let first: Timestamp = first.parse().ok()?;
        let last = Timestamp::from_second(first.as_second() + length - 1).ok()?;
        Some(Self { granularity, first, last })
    }
}

fn set(place: usize) -> Entry {
    let (spec, name) = SETS[place];
    let mut out = "    <set>\n".to_owned();
    element(&mut out, 6, "setSpec", spec);
    element(&mut out, 6, "setName", name);
    out.push_str("    </set>\n");
    Entry::plain(out)
}
