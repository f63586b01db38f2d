//! What did somebody mean by a name they typed?
//!
//! A record is `SOURCE/ID` or its IRI, a thing in it has its node at the end
//! (`SOURCE/ID#creator-3f0c…`; `SOURCE/ID#http://…` where others named it), an entry is its IRI or the end of it (`instance/3f0c…`). Who names an
//! entry where a record is meant has its member, or is told which members there are.

use super::cache::{Cache, EntryKey};
use super::decisions::Named;
use super::entity::{Kind, relative};
use super::{PipelineError, ResolveError};
use crate::catalogue::Selection;
use crate::ontology::pin;
use crate::pipeline::Session;
use crate::record::percent_decode;
use oxrdf::{GraphName, NamedNode, Term};
use std::collections::BTreeSet;

/// A catalogue whose merged entries can be asked about.
pub(super) struct Finder<'a> {
    pub session: &'a Session,
    pub cache: &'a Cache,
}

/// A thing in a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Thing {
    pub kind: Kind,
    pub named: Named,
    /// Its node within the record.
    pub node: Box<str>,
}

impl Thing {
    /// By source, id and node, as names are made of it.
    pub fn name(&self) -> Vec<u8> {
        let Named { source, id, .. } = &self.named;
        [source.as_bytes(), &[0], id.as_bytes(), &[0], self.node.as_bytes()].concat()
    }
}

/// How many members of an entry are named to somebody who has to choose.
const NAMED: usize = 5;

fn unknown(message: String) -> PipelineError {
    ResolveError::Unknown(message).into()
}

fn bare(text: &str) -> &str {
    text.trim_start_matches('<').trim_end_matches('>')
}

/// A record as it was named: source, id, and perhaps a node.
type Recorded = (String, String, Option<String>);

impl Finder<'_> {
    /// The thing a record or node name stands for. An entry stands for its member if there is one only.
    pub fn thing(&self, text: &str) -> Result<Thing, PipelineError> {
        match self.recorded(bare(text))? {
            Some(recorded) => self.described(recorded),
            None => self.sole_member(bare(text)),
        }
    }

    /// What a name says, when there is such a record.
    fn recorded(&self, text: &str) -> Result<Option<Recorded>, PipelineError> {
        let is_record = |source: &str, id: &str| -> Result<bool, PipelineError> {
            Ok(self.session.archive.record(source, id)?.is_some())
        };
        let records = self.session.home.graphs.records();
        let (source, id, node) = match text.strip_prefix(&records) {
            Some(rest) => {
                let (rest, node) = rest
                    .split_once('#')
                    .map_or((rest, None), |(rest, node)| (rest, Some(format!("#{node}"))));
                let Some((source, id)) = rest.split_once('/') else { return Ok(None) };
                (percent_decode(source), percent_decode(id), node)
            }
            None => {
                let Some((source, id)) = text.split_once('/') else { return Ok(None) };
                let mut found = (source.to_owned(), id.to_owned(), None);
                // Ids and names may have a # of their own; the longest id that there is counts.
                for (at, _) in id.rmatch_indices('#') {
                    if is_record(source, &found.1)? {
                        break;
                    }
                    let node = &id[at + 1..];
                    let node = if node.contains("://") { node.to_owned() } else { format!("#{node}") };
                    found = (source.to_owned(), id[..at].to_owned(), Some(node));
                }
                found
            }
        };
        Ok(is_record(&source, &id)?.then_some((source, id, node)))
    }

    /// The thing of a record that is meant.
    fn described(&self, (source, id, node): Recorded) -> Result<Thing, PipelineError> {
        let state = self.session.archive.record(&source, &id)?.unwrap_or_default();
        if state.current().is_none_or(|version| version.withdrawn) {
            return Err(unknown(format!(
                "`{source}/{id}` was withdrawn by its source; nothing can be decided about it"
            )));
        }
        let Some(reading) = self.cache.reading(&source, &id)? else {
            // Not read yet: then what most records describe is meant.
            let node: Box<str> = node.as_deref().unwrap_or("#instance").into();
            return Ok(Thing { kind: Kind::Instance, named: Named { source, id, node: None }, node });
        };
        let found = match &node {
            Some(node) => reading.found.iter().find(|found| *found.node == **node),
            None => {
                let instance = reading.found.iter().find(|found| found.kind == Kind::Instance);
                instance.or_else(|| reading.found.first())
            }
        };
        let Some(found) = found else {
            let node = node.unwrap_or_default();
            return Err(unknown(format!("`{source}/{id}` describes nothing called `{node}`")));
        };
        let node = (found.kind != Kind::Instance).then(|| found.node.to_string());
        Ok(Thing { kind: found.kind, named: Named { source, id, node }, node: found.node.clone() })
    }

    /// The member of an entry, where somebody named an entry and a record is meant.
    fn sole_member(&self, text: &str) -> Result<Thing, PipelineError> {
        let Some(name) = self.entry_name(text) else {
            let hint = "name a record as SOURCE/ID; `pinakes record list SOURCE` names them";
            return Err(unknown(format!("there is no record `{text}`; {hint}")));
        };
        let mut members = self.members(self.entry_named(name)?)?;
        if members.len() > 1 {
            let some: Vec<String> =
                members.iter().take(NAMED).map(|member| member.named.to_string()).collect();
            let more = if members.len() > NAMED { " …" } else { "" };
            let (count, some) = (members.len(), some.join(", "));
            return Err(unknown(format!(
                "`{text}` is an entry of {count} members, and one of them is meant; name it: {some}{more}"
            )));
        }
        members.pop().ok_or_else(|| unknown(format!("there is no entry `{text}`")))
    }

    /// The end of an entry's IRI, `hub/3f0c…`, for what may be one by its looks.
    fn entry_name<'t>(&self, text: &'t str) -> Option<&'t str> {
        let name = text.strip_prefix(self.session.home.graphs.base()).unwrap_or(text);
        name.split_once('/').and_then(|(kind, _)| Kind::from_name(kind)).map(|_| name)
    }

    /// The entry of a name such as `hub/3f0c…`. One that was given up leads on.
    fn entry_named(&self, name: &str) -> Result<EntryKey, PipelineError> {
        let hint = "`pinakes resolve show SOURCE/ID` shows the entry of a record";
        let missing = || unknown(format!("there is no entry `{name}`; {hint}"));
        let (kind, id) = name.split_once('/').ok_or_else(missing)?;
        let kind = Kind::from_name(kind).ok_or_else(missing)?;
        let Ok(id) = u64::from_str_radix(id, 16) else {
            let looks = format!("`{}/` and 16 hexadecimal digits", kind.name());
            return Err(unknown(format!("`{name}` is no name of an entry, which is {looks}; {hint}")));
        };
        let forwarded = self.cache.forwarded()?;
        let mut key = (kind, id);
        // Chains are short; a circle must not hold us up.
        for _ in 0..64 {
            if !self.members(key)?.is_empty() {
                return Ok(key);
            }
            match forwarded.get(&key) {
                Some(into) => key = (kind, *into),
                None => break,
            }
        }
        Err(missing())
    }

    /// The entry a name stands for: its own, or one of a member.
    pub fn entry(&self, text: &str) -> Result<EntryKey, PipelineError> {
        let text = bare(text);
        if let Some(name) = self.entry_name(text) {
            let found = self.entry_named(name);
            // A source may be called like a kind of entry.
            if found.is_ok() || self.recorded(text)?.is_none() {
                return found;
            }
        }
        self.entry_of(&self.thing(text)?)
    }

    /// The entry of the hub that a work belongs to.
    pub fn hub_of(&self, work: &Thing) -> Result<Option<EntryKey>, PipelineError> {
        let Named { source, id, .. } = &work.named;
        let Some(reading) = self.cache.reading(source, id)? else { return Ok(None) };
        let place = reading.found.iter().position(|found| found.node == work.node);
        let links = reading.links.iter().filter(|(from, _)| Some(*from) == place);
        let mut leads = links.filter_map(|(_, to)| reading.found.get(*to));
        let Some(hub) = leads.find(|found| found.kind == Kind::Hub) else { return Ok(None) };
        let named = Named { source: source.clone(), id: id.clone(), node: Some(hub.node.to_string()) };
        self.entry_of(&Thing { kind: hub.kind, named, node: hub.node.clone() }).map(Some)
    }

    /// The entry of a thing.
    pub fn entry_of(&self, thing: &Thing) -> Result<EntryKey, PipelineError> {
        let name = thing.name();
        let id = self.cache.name(thing.kind, &name)?.unwrap_or_else(|| super::naming::own_id(&name));
        Ok((thing.kind, id))
    }

    /// The members of an entry, as the master has them.
    pub fn members(&self, (kind, id): EntryKey) -> Result<Vec<Thing>, PipelineError> {
        let graphs = &self.session.home.graphs;
        let selection = Selection {
            subject: Some(graphs.entry(kind.name(), id).into()),
            predicate: Some(pin::MEMBER.into_owned()),
            graph: Some(GraphName::DefaultGraph),
            ..Selection::default()
        };
        let mut members = Vec::new();
        for quad in self.session.catalogue.backend().quads(&selection)? {
            if let Term::NamedNode(node) = quad?.object {
                members.extend(self.member(kind, &node)?);
            }
        }
        members.sort_by(|left, right| left.named.cmp(&right.named));
        Ok(members)
    }

    /// The things behind a node that an entry names as its member: one, or those of all records that
    /// use a name others gave.
    fn member(&self, kind: Kind, node: &NamedNode) -> Result<Vec<Thing>, PipelineError> {
        let records = self.session.home.graphs.records();
        let thing = |record: &str| -> Option<Thing> {
            let (source, id) = record.strip_prefix(&records)?.split_once('/')?;
            let (source, id) = (percent_decode(source), percent_decode(id));
            let name = self.session.home.graphs.record(&source, &id);
            let within: Box<str> = relative(name.as_str(), node.as_str()).into();
            let shown = (kind != Kind::Instance).then(|| within.to_string());
            Some(Thing { kind, named: Named { source, id, node: shown }, node: within })
        };
        if node.as_str().starts_with(&records) {
            let record = node.as_str().split('#').next().unwrap_or_default();
            return Ok(thing(record).into_iter().collect());
        }
        let mut users = BTreeSet::new();
        let selection = Selection { subject: Some(node.clone().into()), ..Selection::default() };
        for quad in self.session.catalogue.backend().quads(&selection)? {
            if let GraphName::NamedNode(graph) = quad?.graph_name {
                users.insert(graph);
            }
        }
        Ok(users.iter().filter_map(|record| thing(record.as_str())).collect())
    }
}
