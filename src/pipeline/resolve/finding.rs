//! What did somebody mean by a name they typed?
//!
//! A record is `SOURCE/ID` or its IRI, a thing in it has its node at the end
//! (`SOURCE/ID#creator-3f0c…`), an entry is its IRI or the end of it (`instance/3f0c…`).

use super::cache::{Cache, EntryKey};
use super::decisions::Named;
use super::entity::{Kind, relative};
use super::{PipelineError, ResolveError};
use crate::catalogue::Selection;
use crate::ontology::pin;
use crate::pipeline::Session;
use crate::record::percent_decode;
use oxrdf::{GraphName, NamedNode, Term};

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

impl Finder<'_> {
    /// The thing a record or node name stands for.
    pub fn thing(&self, text: &str) -> Result<Thing, PipelineError> {
        let text = text.trim_start_matches('<').trim_end_matches('>');
        let unknown = || {
            let hint = "name a record as SOURCE/ID; `pinakes record list SOURCE` names them";
            ResolveError::Unknown(format!("there is no record `{text}`; {hint}"))
        };
        let (source, id, node) = match text.strip_prefix(&self.session.home.graphs.records()) {
            Some(rest) => {
                let (rest, node) = rest
                    .split_once('#')
                    .map_or((rest, None), |(rest, node)| (rest, Some(format!("#{node}"))));
                let (source, id) = rest.split_once('/').ok_or_else(unknown)?;
                (percent_decode(source), percent_decode(id), node)
            }
            None => {
                let (source, id) = text.split_once('/').ok_or_else(unknown)?;
                let is_record = |id: &str| -> Result<bool, PipelineError> {
                    Ok(self.session.archive.record(source, id)?.is_some())
                };
                match id.rsplit_once('#') {
                    Some((before, node)) if !is_record(id)? => {
                        (source.to_owned(), before.to_owned(), Some(format!("#{node}")))
                    }
                    _ => (source.to_owned(), id.to_owned(), None),
                }
            }
        };
        let state = self.session.archive.record(&source, &id)?.ok_or_else(unknown)?;
        if state.current().is_none_or(|version| version.withdrawn) {
            let message =
                format!("`{source}/{id}` was withdrawn by its source; nothing can be decided about it");
            return Err(ResolveError::Unknown(message).into());
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
            let message = format!("`{source}/{id}` describes nothing called `{node}`");
            return Err(ResolveError::Unknown(message).into());
        };
        let node = (found.kind != Kind::Instance).then(|| found.node.to_string());
        Ok(Thing { kind: found.kind, named: Named { source, id, node }, node: found.node.clone() })
    }

    /// The entry a name stands for: its own, or one of a member. A name given up leads on.
    pub fn entry(&self, text: &str) -> Result<EntryKey, PipelineError> {
        let bare = text.trim_start_matches('<').trim_end_matches('>');
        let bare = bare.strip_prefix(self.session.home.graphs.base()).unwrap_or(bare);
        if let Some((kind, id)) = bare.split_once('/')
            && let (Some(kind), Ok(id)) = (Kind::from_name(kind), u64::from_str_radix(id, 16))
        {
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
            return Err(ResolveError::Unknown(format!("there is no entry `{bare}`")).into());
        }
        let thing = self.thing(text)?;
        self.entry_of(&thing)
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

    /// The thing behind a node that an entry names as its member.
    fn member(&self, kind: Kind, node: &NamedNode) -> Result<Option<Thing>, PipelineError> {
        let Some(rest) = node.as_str().strip_prefix(&self.session.home.graphs.records()) else {
            // A name that others gave: which records use it, only the cache knows.
            return Ok(None);
        };
        let record = rest.split('#').next().unwrap_or(rest);
        let Some((source, id)) = record.split_once('/') else { return Ok(None) };
        let (source, id) = (percent_decode(source), percent_decode(id));
        let name = self.session.home.graphs.record(&source, &id);
        let within: Box<str> = relative(name.as_str(), node.as_str()).into();
        let shown = (kind != Kind::Instance).then(|| within.to_string());
        Ok(Some(Thing { kind, named: Named { source, id, node: shown }, node: within }))
    }
}
