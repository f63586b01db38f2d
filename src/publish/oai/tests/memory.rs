//! A repository in memory, with records made for the occasion: several sources, hostile texts,
//! equal datestamps, deletions, and records that are not there in every format.

use crate::publish::oai::{
    Busy, Datestamp, Format, Header, Page, Position, Repository, Selection, Set, is_in_set, set_spec,
};
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub struct Memory {
    pub records: BTreeMap<String, Kept>,
    pub page: usize,
    pub namespace: String,
    pub has_sets: bool,
    pub knows_total: bool,
    /// Seconds for which the repository asks to be left alone.
    pub busy: Option<u32>,
}

#[derive(Debug, Clone)]
pub struct Kept {
    pub header: Header,
    pub title: String,
    /// The prefixes it is not there in.
    pub lacks: Vec<String>,
}

/// A moment some seconds after the first record.
pub fn moment(seconds: i64) -> Datestamp {
    Datestamp::from_unix(1_600_000_000 + seconds).unwrap()
}

impl Memory {
    pub fn generated(count: usize, page: usize) -> Self {
        let mut memory = Self {
            records: BTreeMap::new(),
            page,
            namespace: "catalogue.example".to_owned(),
            has_sets: true,
            knows_total: true,
            busy: None,
        };
        for number in 0..count {
            let source = ["loc", "bnf", "ubl"][number % 3];
            let kind = ["book", "film"][number % 2];
            // Some names need escaping in an address, some in XML.
            let id = if number.is_multiple_of(10) {
                format!("{source}/é &<{number}>")
            } else {
                format!("{source}/{number}")
            };
            let header = Header {
                id: id.clone(),
                // Three records share a second.
                datestamp: moment((number / 3 * 1000) as i64),
                sets: vec![set_spec(&["source", source]), set_spec(&["type", kind])],
                deleted: number % 11 == 10,
            };
            let title = format!("Title \"{number}\" <&> ]]> \u{1}\u{fffe} – 𝄞 Толстой");
            let lacks = if number % 7 == 3 { vec!["marc21".to_owned()] } else { Vec::new() };
            memory.records.insert(id, Kept { header, title, lacks });
        }
        memory
    }

    /// A record changes, and gets the time of the change.
    pub fn change(&mut self, id: &str, datestamp: Datestamp) {
        let kept = self.records.get_mut(id).unwrap();
        kept.header.datestamp = datestamp;
        kept.title.push_str(" (changed)");
    }

    pub fn delete(&mut self, id: &str, datestamp: Datestamp) {
        self.change(id, datestamp);
        self.records.get_mut(id).unwrap().header.deleted = true;
    }

    /// Everything a list without arguments should give, in its order.
    pub fn holdings(&self, prefix: &str) -> Vec<Header> {
        let has = |kept: &&Kept| !kept.lacks.iter().any(|lacked| lacked == prefix);
        let mut all: Vec<Header> =
            self.records.values().filter(has).map(|kept| kept.header.clone()).collect();
        all.sort_by_key(|header| (header.datestamp, header.id.clone()));
        all
    }

    fn ready(&self) -> Result<(), Busy> {
        self.busy.map_or(Ok(()), |retry_after| Err(Busy { retry_after }))
    }
}

impl Repository for Memory {
    fn name(&self) -> String {
        "Records <made> & kept".to_owned()
    }

    fn admin_emails(&self) -> Vec<String> {
        vec!["librarian@catalogue.example".to_owned()]
    }

    fn namespace(&self) -> String {
        self.namespace.clone()
    }

    fn earliest(&self) -> Result<Datestamp, Busy> {
        self.ready()?;
        Ok(moment(0))
    }

    fn sets(&self) -> Result<Vec<Set>, Busy> {
        self.ready()?;
        let set = |spec: &str, description: Option<&str>| Set {
            spec: spec.to_owned(),
            name: format!("<{spec}>"),
            description: description.map(str::to_owned),
        };
        let all = vec![
            set("source", Some("All sources & more")),
            set("source:bnf", None),
            set("source:loc", None),
            set("source:ubl", None),
            set("type", None),
            set("type:book", Some("Books")),
            set("type:film", None),
        ];
        Ok(if self.has_sets { all } else { Vec::new() })
    }

    fn header(&self, id: &str) -> Result<Option<Header>, Busy> {
        self.ready()?;
        Ok(self.records.get(id).map(|kept| kept.header.clone()))
    }

    fn formats_of(&self, id: &str) -> Result<Vec<String>, Busy> {
        self.ready()?;
        let lacks = self.records.get(id).map_or(&[][..], |kept| &kept.lacks);
        let prefixes = Format::shipped().iter().map(|format| format.prefix.clone());
        Ok(prefixes.filter(|prefix| !lacks.contains(prefix)).collect())
    }

    fn list(&self, selection: &Selection) -> Result<Page, Busy> {
        self.ready()?;
        let is_wanted = |header: &Header| {
            selection.from.is_none_or(|from| header.datestamp >= from)
                && selection.until.is_none_or(|until| header.datestamp <= until)
                && selection
                    .set
                    .as_ref()
                    .is_none_or(|set| header.sets.iter().any(|spec| is_in_set(spec, set)))
        };
        let whole: Vec<Header> = self.holdings(&selection.prefix).into_iter().filter(is_wanted).collect();
        let total = self.knows_total.then_some(whole.len() as u64);
        let is_behind = |header: &Header| {
            let position = Position { datestamp: header.datestamp, id: header.id.clone() };
            selection.after.as_ref().is_none_or(|after| position > *after)
        };
        let mut headers: Vec<Header> = whole.into_iter().filter(is_behind).collect();
        let more = headers.len() > selection.limit;
        headers.truncate(selection.limit);
        Ok(Page { headers, more, total })
    }

    fn metadata(&self, id: &str, prefix: &str) -> Result<Option<String>, Busy> {
        self.ready()?;
        let Some(kept) = self.records.get(id) else { return Ok(None) };
        if kept.header.deleted || kept.lacks.iter().any(|lacked| lacked == prefix) {
            return Ok(None);
        }
        let title = quick_xml::escape::escape(&kept.title).into_owned();
        Ok(Some(match prefix {
            "oai_dc" => format!(
                "<oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
                 xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:title>{title}</dc:title></oai_dc:dc>"
            ),
            "marc21" => format!(
                "<record xmlns=\"http://www.loc.gov/MARC21/slim\"><leader>00000nam a2200000 a 4500</leader>\
                 <datafield tag=\"245\" ind1=\" \" ind2=\" \"><subfield code=\"a\">{title}</subfield></datafield></record>"
            ),
            _ => format!(
                "<?xml version=\"1.0\"?>\n<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" \
                 xmlns:rdfs=\"http://www.w3.org/2000/01/rdf-schema#\"><rdf:Description>\
                 <rdfs:label>{title}</rdfs:label></rdf:Description></rdf:RDF>"
            ),
        }))
    }

    fn page_size(&self) -> usize {
        self.page
    }

    fn friends(&self) -> Vec<String> {
        vec![format!("{}://friend.example/oai?a=1&b=2", "https")]
    }
}
