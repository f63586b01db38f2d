//! The catalogue behind the API: the index for finding, the newest snapshot for what is known.

use super::indexing::{Around, Near, document};
use super::searching::Reader;
use super::{Kind, PipelineError};
use crate::catalogue::{Backend, Bounded, CatalogueError, Selection};
use crate::concordance::Concordances;
use crate::effort::{Effort, Spent};
use crate::index::{self, Facet, Field, Hits, IndexError, Named, Request, Sort, Suggests, Thesaurus};
use crate::ontology::{bf, dcterms, pin};
use crate::publish::citation::{self, Citation};
use crate::publish::feed::{self, Feed};
use crate::publish::oai::Datestamp;
use crate::publish::ways::Ways;
use crate::serve::Refusal;
use crate::serve::api::{
    Asked, Because, CitationFormat, Count, Described, FacetCounts, Found, Hit, Library, Link, Order,
    RecordLink, Standing, Suggested, Work, Written,
};
use oxrdf::{GraphName, NamedNode, NamedNodeRef, NamedOrBlankNode, Term, Triple};
use std::sync::Arc;

/// Works and instances of one work or hub that are given.
const MOST_INSTANCES: usize = 500;
/// Upper bound on the statements that are read for one answer.
const MOST_READ: u64 = 1_000_000;

/// A catalogue that others may write meanwhile.
pub struct Shelves {
    reader: Arc<Reader>,
    ways: Ways,
}

impl Shelves {
    /// Opens nothing yet.
    pub fn new(reader: Arc<Reader>) -> Self {
        Self { reader, ways: Ways::read(&Concordances::shipped(), "index") }
    }

    fn find(&self, asked: &Asked, effort: &Effort) -> Result<Hits, Refusal> {
        let concepts =
            asked.expand.then(|| self.reader.concepts(effort)).transpose().map_err(PipelineError::from);
        let concepts = concepts.map_err(refusal)?;
        let mut request = Request {
            text: &asked.text,
            field: asked.field.as_deref().map(field).transpose()?,
            filters: filters(asked)?,
            years: asked.years.clone(),
            sort: match asked.order {
                Order::Relevance => Sort::Score,
                Order::Newest => Sort::Newest,
                Order::Oldest => Sort::Oldest,
                Order::Added => Sort::FirstSeen,
            },
            offset: asked.offset,
            limit: asked.limit,
            facets: asked.facets.iter().filter_map(|name| Facet::named(name)).collect(),
            values: asked.values,
            effort: effort.clone(),
            ..Request::default()
        };
        request.thesaurus = concepts.as_deref().map(|concepts| concepts as &dyn Thesaurus);
        let index = self.reader.index().map_err(|error| refusal(error.into()))?;
        index.search(&request).map_err(|error| refusal(error.into()))
    }

    /// Asks the newest snapshot.
    fn ask<T>(
        &self,
        effort: &Effort,
        ask: impl FnOnce(&Around<'_>) -> Result<T, CatalogueError>,
    ) -> Result<T, Refusal> {
        let (_, catalogue) = self.reader.catalogue().map_err(|error| refusal(error.into()))?;
        let bounded = Bounded::new(&catalogue, effort, MOST_READ);
        let around = Around { backend: &bounded, graphs: self.reader.graphs(), spool: None };
        ask(&around).map_err(|error| refusal(error.into()))
    }

    /// What is said of an entry or record.
    fn described(&self, around: &Around<'_>, iri: &NamedNode) -> Result<Option<Described>, CatalogueError> {
        let triples = around.read(iri, &Near::default())?;
        if triples.is_empty() {
            return Ok(None);
        }
        let (document, members) = document(iri, triples, around, &self.ways);
        let records = members.into_iter().map(|(source, id)| {
            let iri = around.graphs.record(&source, &id).into_string();
            RecordLink { source, id, iri }
        });
        Ok(Some(Described {
            iri: document.iri,
            kind: document.kind.as_str().to_owned(),
            label: document.label,
            titles: document.titles,
            contributors: document.contributors.into_iter().map(link).collect(),
            subjects: document.subjects.into_iter().map(link).collect(),
            identifiers: document.identifiers,
            notes: document.notes,
            types: document.content_types,
            languages: document.languages,
            years: document.years,
            records: records.collect(),
            entries: Vec::new(),
        }))
    }

    /// What citations are read from: a work is cited by one of its instances.
    fn around(&self, around: &Around<'_>, iri: &NamedNode) -> Result<Vec<Triple>, CatalogueError> {
        let near = Near::default();
        let mut triples = around.read(iri, &near)?;
        let is_work = around.kind(iri.as_str()) == Some(Kind::Work);
        if is_work && let Some(instance) = leading(around.backend, bf::INSTANCE_OF, iri)?.into_iter().next() {
            triples.extend(around.read(&instance, &near)?);
        }
        Ok(triples)
    }
}

/// Searches find what readers ask for most, editions or the records that stand for them, unless they
/// name another kind.
fn filters(asked: &Asked) -> Result<Vec<(Facet, String)>, Refusal> {
    let mut filters = Vec::new();
    for (name, value) in &asked.filters {
        let facet =
            Facet::named(name).ok_or_else(|| Refusal::Malformed(format!("there is no facet `{name}`")))?;
        filters.push((facet, value.clone()));
    }
    let kinds: Vec<&str> =
        filters.iter().filter(|(facet, _)| *facet == Facet::Kind).map(|(_, value)| value.as_str()).collect();
    if kinds.is_empty() {
        for kind in [index::Kind::Instance, index::Kind::Record] {
            filters.push((Facet::Kind, kind.as_str().to_owned()));
        }
    } else if kinds.contains(&"any") {
        filters.retain(|(facet, _)| *facet != Facet::Kind);
    }
    Ok(filters)
}

fn field(name: &str) -> Result<Field, Refusal> {
    Field::named(name).ok_or_else(|| {
        let known: Vec<&str> = Field::ALL.iter().map(|field| field.as_str()).collect();
        Refusal::Malformed(format!("`field` is one of {}", known.join(", ")))
    })
}

/// What cannot be had for now is told from what is broken.
fn refusal(error: PipelineError) -> Refusal {
    let absent = matches!(
        error,
        PipelineError::Index(IndexError::Missing(_) | IndexError::Outdated)
            | PipelineError::Catalogue(CatalogueError::NoSuchSnapshot(_))
    );
    if absent {
        let message = "the catalogue is not indexed yet: `pinakes resolve` does it".to_owned();
        return Refusal::Unavailable { message, retry_after: 60 };
    }
    match error {
        PipelineError::Index(IndexError::Stopped(spent))
        | PipelineError::Catalogue(CatalogueError::Stopped(spent)) => stopped(spent),
        PipelineError::Catalogue(error @ CatalogueError::TooMuch(_)) => Refusal::TooLarge(error.to_string()),
        error => Refusal::Io(error.to_string()),
    }
}

/// Who has hung up does not read why.
pub(super) fn stopped(spent: Spent) -> Refusal {
    match spent {
        Spent::TimedOut | Spent::GivenUp => Refusal::TimedOut,
    }
}

impl Library for Shelves {
    fn search(&self, asked: &Asked, effort: &Effort) -> Result<Found, Refusal> {
        let Hits { total, hits, facets } = self.find(asked, effort)?;
        let mut found = Found { total, offset: asked.offset, limit: asked.limit, ..Found::default() };
        found.hits = hits.into_iter().map(hit).collect();
        for counts in facets {
            let values = counts.values.into_iter().map(|(value, count)| Count { value, count }).collect();
            found.facets.insert(counts.facet.as_str().to_owned(), FacetCounts { values, more: counts.more });
        }
        Ok(found)
    }

    fn suggest(
        &self,
        text: &str,
        of: Option<&str>,
        limit: usize,
        effort: &Effort,
    ) -> Result<Vec<Suggested>, Refusal> {
        let of = of.map(|name| {
            let wrong = || Refusal::Malformed("`of` is one of title, name and subject".to_owned());
            Suggests::named(name).ok_or_else(wrong)
        });
        let of = of.transpose()?;
        let index = self.reader.index().map_err(|error| refusal(error.into()))?;
        let suggestions = index.suggest(text, of, limit, effort).map_err(|error| refusal(error.into()))?;
        let suggested = suggestions.into_iter().map(|one| Suggested {
            label: one.label,
            of: one.suggests.as_str(),
            iri: one.iri,
            count: one.count,
        });
        Ok(suggested.collect())
    }

    fn record(&self, source: &str, id: &str, effort: &Effort) -> Result<Option<Described>, Refusal> {
        self.ask(effort, |around| {
            let iri = around.graphs.record(source, id);
            let Some(mut record) = self.described(around, &iri)? else { return Ok(None) };
            for node in objects(around.backend, &iri, pin::DESCRIBES, &iri.clone().into())? {
                for entry in leading(around.backend, pin::MEMBER, &node)? {
                    record.entries.push(entry.into_string());
                }
            }
            Ok(Some(record))
        })
    }

    fn work(&self, id: &str, effort: &Effort) -> Result<Option<Work>, Refusal> {
        let Some(number) =
            Some(id).filter(|id| id.len() == 16).and_then(|id| u64::from_str_radix(id, 16).ok())
        else {
            return Ok(None);
        };
        self.ask(effort, |around| {
            for kind in [Kind::Work, Kind::Hub] {
                let iri = around.graphs.entry(kind.name(), number);
                let resolution = around.graphs.resolution().into();
                if let Some(work) = self.described(around, &iri)? {
                    return self.realized(around, kind, &iri, work).map(Some);
                }
                let moved = objects(around.backend, &iri, dcterms::IS_REPLACED_BY, &resolution)?;
                if let Some(place) = moved.into_iter().next() {
                    return Ok(Some(Work { moved_to: Some(place.into_string()), ..Work::default() }));
                }
            }
            Ok(None)
        })
    }

    fn export(&self, asked: &Asked, format: CitationFormat, effort: &Effort) -> Result<String, Refusal> {
        let hits = self.find(&Asked { facets: Vec::new(), ..asked.clone() }, effort)?.hits;
        self.ask(effort, |around| {
            let mut citations = Vec::with_capacity(hits.len());
            for hit in hits {
                let iri = NamedNode::new_unchecked(hit.entry.iri);
                let triples = self.around(around, &iri)?;
                // It may be gone since the index was read.
                if !triples.is_empty() {
                    citations.push(citation::citation(&iri, &triples));
                }
            }
            Ok(written(&citations, format))
        })
    }

    fn cite(
        &self,
        kind: &str,
        id: &str,
        format: CitationFormat,
        effort: &Effort,
    ) -> Result<Option<String>, Refusal> {
        self.ask(effort, |around| {
            let iri = NamedNode::new(format!("{}{kind}/{id}", around.graphs.base()));
            let entry = iri.ok().filter(|iri| {
                matches!(around.kind(iri.as_str()), Some(Kind::Hub | Kind::Work | Kind::Instance))
            });
            let Some(iri) = entry else { return Ok(None) };
            let triples = self.around(around, &iri)?;
            Ok((!triples.is_empty()).then(|| written(&[citation::citation(&iri, &triples)], format)))
        })
    }

    fn feed(&self, asked: &Asked, own: &str, next: &str, effort: &Effort) -> Result<Written, Refusal> {
        let found = self.find(asked, effort)?;
        let more = found.total > (asked.offset + asked.limit) as u64;
        let base = self.reader.graphs().base();
        let newest = found.hits.iter().map(|hit| hit.entry.first_seen).max().unwrap_or_default();
        let stamp = |seconds| Datestamp::from_unix(seconds).or_else(|| Datestamp::from_unix(0));
        let entries = found.hits.into_iter().filter_map(|hit| {
            let seen = stamp(hit.entry.first_seen)?;
            Some(feed::Entry {
                id: hit.entry.iri.clone(),
                title: hit.entry.label,
                link: hit.entry.iri,
                updated: seen,
                published: seen,
                authors: hit.entry.contributors.into_iter().map(|one| one.label).collect(),
                summary: None,
                categories: hit.entry.subjects.into_iter().map(category).collect(),
            })
        });
        let entries = entries.collect();
        let Some(updated) = stamp(newest) else {
            return Err(Refusal::Io("no time can be written".to_owned()));
        };
        let title = if asked.text.is_empty() { "New in the catalogue" } else { &asked.text };
        let feed = Feed {
            id: own.to_owned(),
            title: title.to_owned(),
            updated,
            author: base.to_owned(),
            own_link: own.to_owned(),
            alternate: None,
            next: more.then(|| next.to_owned()),
            entries,
        };
        Ok(Written { text: feed::atom(&feed), media_type: feed::CONTENT_TYPE })
    }

    fn standing(&self, effort: &Effort) -> Result<Standing, Refusal> {
        let mut standing = Standing {
            base: self.reader.graphs().base().to_owned(),
            version: env!("CARGO_PKG_VERSION"),
            snapshot: self.reader.catalogue().ok().map(|(number, _)| number),
            ..Standing::default()
        };
        let index = match self.reader.index() {
            Ok(index) => index,
            Err(IndexError::Missing(_) | IndexError::Outdated) => return Ok(standing),
            Err(error) => return Err(refusal(error.into())),
        };
        standing.documents = index.len();
        standing.position = index.position().map_err(|error| refusal(error.into()))?;
        let (facets, effort) = (vec![Facet::Kind], effort.clone());
        let all = Request { facets, values: 20, effort, ..Request::default() };
        let counts = index.search(&all).map_err(|error| refusal(error.into()))?.facets;
        let counts = counts.into_iter().flat_map(|counts| counts.values);
        standing.kinds = counts.map(|(value, count)| Count { value, count }).collect();
        Ok(standing)
    }
}

impl Shelves {
    /// A work or hub with its works and instances.
    fn realized(
        &self,
        around: &Around<'_>,
        kind: Kind,
        iri: &NamedNode,
        work: Described,
    ) -> Result<Work, CatalogueError> {
        let mut found = Work { work, ..Work::default() };
        let works = if kind == Kind::Hub {
            leading(around.backend, bf::EXPRESSION_OF, iri)?
        } else {
            vec![iri.clone()]
        };
        for work in works {
            if found.works.len() + found.instances.len() >= MOST_INSTANCES {
                found.more = true;
                break;
            }
            if kind == Kind::Hub {
                found.works.extend(self.described(around, &work)?);
            }
            for instance in leading(around.backend, bf::INSTANCE_OF, &work)? {
                if found.instances.len() >= MOST_INSTANCES {
                    found.more = true;
                    break;
                }
                found.instances.extend(self.described(around, &instance)?);
            }
        }
        found.instances.sort_by(|left, right| (&left.years, &left.iri).cmp(&(&right.years, &right.iri)));
        found.instances.dedup_by(|left, right| left.iri == right.iri);
        Ok(found)
    }
}

/// Who leads to something by a property, in the master.
fn leading(
    backend: &dyn Backend,
    predicate: NamedNodeRef<'_>,
    to: &NamedNode,
) -> Result<Vec<NamedNode>, CatalogueError> {
    let selection = Selection {
        predicate: Some(predicate.into_owned()),
        object: Some(to.clone().into()),
        graph: Some(GraphName::DefaultGraph),
        ..Selection::default()
    };
    let mut found = Vec::new();
    for quad in backend.quads(&selection)? {
        if let NamedOrBlankNode::NamedNode(subject) = quad?.subject {
            found.push(subject);
        }
    }
    found.sort_unstable();
    Ok(found)
}

fn objects(
    backend: &dyn Backend,
    subject: &NamedNode,
    predicate: NamedNodeRef<'_>,
    graph: &GraphName,
) -> Result<Vec<NamedNode>, CatalogueError> {
    let selection = Selection {
        subject: Some(subject.clone().into()),
        predicate: Some(predicate.into_owned()),
        graph: Some(graph.clone()),
        ..Selection::default()
    };
    let mut found = Vec::new();
    for quad in backend.quads(&selection)? {
        if let Term::NamedNode(object) = quad?.object {
            found.push(object);
        }
    }
    Ok(found)
}

fn hit(hit: index::Hit) -> Hit {
    let because = hit.because.into_iter().map(|one| Because {
        asked: one.asked,
        found: one.found,
        relation: one.relation.as_str(),
    });
    Hit {
        iri: hit.entry.iri,
        kind: hit.entry.kind.as_str().to_owned(),
        label: hit.entry.label,
        titles: hit.entry.titles,
        contributors: hit.entry.contributors.into_iter().map(link).collect(),
        subjects: hit.entry.subjects.into_iter().map(link).collect(),
        years: hit.entry.years,
        first_seen: Datestamp::from_unix(hit.entry.first_seen).map(|stamp| stamp.to_string()),
        score: hit.score,
        because: because.collect(),
    }
}

fn link(named: Named) -> Link {
    Link { label: named.label, iri: named.iri }
}

fn category(named: Named) -> feed::Category {
    feed::Category { term: named.iri.unwrap_or_else(|| named.label.clone()), label: Some(named.label) }
}

fn written(citations: &[Citation], format: CitationFormat) -> String {
    match format {
        CitationFormat::BibTex => citation::bibtex(citations),
        CitationFormat::Ris => citation::ris(citations),
        CitationFormat::CslJson => citation::csl_json(citations),
    }
}
