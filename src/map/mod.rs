//! From a decoded record to statements.
//!
//! Pure: the same record under the same rules gives the same statements in the same order.
//! Concordances say what each field means; what no rule carries is kept by [`fallback`] as an
//! ordered node, so nothing a record says is lost. Of a record without end both make the beginning,
//! and say so. The result is the record's graph; it holds no blank nodes.

mod content_type;
mod coverage;
mod fallback;
mod rdf;
mod trace;

pub use content_type::{ContentType, ContentTypes};
pub use coverage::{Coverage, Loss, is_local};
pub use trace::place;

use crate::catalogue::Graphs;
use crate::concordance::Concordances;
use crate::concordance::run::{Outcome, Paths, RecordNames, View};
use crate::diagnostic::{Code, Diagnostic, RecordLog};
use crate::ontology::{pin, rdf as rdf_terms};
use crate::record::{Model, Record, known_by};
use fallback::Kept;
use oxrdf::{Literal, NamedNode, Triple};

/// What a record's statements depend on besides the record.
pub struct Context<'a> {
    pub graphs: &'a Graphs,
    pub concordances: &'a Concordances,
    pub content_types: &'a ContentTypes,
    pub source: &'a str,
    pub id: &'a str,
    /// What the user said all records of the source are, where a record does not tell.
    pub default_type: Option<&'a str>,
}

/// What came of a record.
#[derive(Debug, Default)]
pub struct Mapped {
    /// The statements of its graph.
    pub triples: Vec<Triple>,
    pub diagnostics: Vec<Diagnostic>,
}

/// The statements of one record's graph.
pub fn map(record: &Record, context: &Context<'_>) -> Mapped {
    let name = context.graphs.record(context.source, context.id);
    let mut triples = Vec::with_capacity(8 + record.triples.len());
    describe(record, context, &name, &mut triples);
    if record.model == Model::Rdf {
        let diagnostics = rdf::map(record, context.concordances, &name, &mut triples);
        return Mapped { triples, diagnostics };
    }
    let view = View::new(record);
    let mut outcome = run(record, &view, context, &name);
    let rules = context.concordances.rules_for(record.model, context.source);
    let text = trace::write(rules, &view, &outcome, name.as_str());
    // The rules made most of them, so the others go there.
    outcome.triples.splice(0..0, triples);
    let mut triples = std::mem::take(&mut outcome.triples);
    let paths = Paths::new(&view);
    // A changed rule finds the records it concerns by their tags. What an 880 stands for counts,
    // too. A record that lists none, because it has too many, is concerned by every change.
    if let Some(tags) = view.tags(&paths) {
        let tags = Literal::new_simple_literal(tags.join("\n"));
        triples.push(Triple::new(name.clone(), pin::FIELDS, tags));
    }
    if !text.is_empty() {
        triples.push(Triple::new(name.clone(), pin::TRACE, Literal::new_simple_literal(text)));
    }
    let kept = fallback::keep(&view, &paths, &outcome, &name, &mut triples);
    Mapped { triples, diagnostics: diagnostics(&outcome, kept) }
}

/// Runs the rules alone: for coverage, explanations and whoever wants to know more than the
/// statements.
pub fn run<'a>(record: &Record, view: &'a View<'a>, context: &Context<'a>, name: &NamedNode) -> Outcome {
    // Whatever names another record calls it as it is known.
    let of_source = |id: &str| context.graphs.record(context.source, &known_by(id)).into_string();
    let agency = record.field("003").map(|field| field.text().trim().to_owned());
    let names = RecordNames { record: name.as_str(), of_source: &of_source, agency: agency.as_deref() };
    context.concordances.run(view, &names, context.source)
}

/// What rules could not do, with the rule's file and line, and what was too much for the graph.
fn diagnostics(outcome: &Outcome, kept: Kept) -> Vec<Diagnostic> {
    let mut found = RecordLog::default();
    for notice in &outcome.notices {
        let mut diagnostic = Diagnostic::new(notice.code, notice.message.clone()).in_field(&notice.tag);
        diagnostic.place.rule.clone_from(&notice.rule_place);
        found.push(diagnostic);
    }
    if outcome.cut {
        let message = "the rules make more statements than a record may have; the rest was left out";
        found.push(Diagnostic::new(Code::TooManyStatements, message));
    }
    if kept == Kept::Beginning {
        let message = "more of the record reaches no rule than can be kept beside its statements; \
                       the rest is in the archive alone";
        found.push(Diagnostic::new(Code::TooManyStatements, message));
    }
    found.into_iter().collect()
}

/// What every record has, whatever its format.
fn describe(record: &Record, context: &Context<'_>, name: &NamedNode, triples: &mut Vec<Triple>) {
    triples.push(Triple::new(name.clone(), rdf_terms::TYPE, pin::RECORD));
    triples.push(Triple::new(name.clone(), pin::SOURCE, context.graphs.source(context.source)));
    triples.push(Triple::new(name.clone(), pin::IDENTIFIER, Literal::new_simple_literal(context.id)));
    triples.push(Triple::new(name.clone(), pin::FORMAT, Literal::new_simple_literal(record.model.name())));
    let code = context.content_types.of(record).or(context.default_type);
    if let Some(code) = code {
        triples.push(Triple::new(name.clone(), pin::CONTENT_TYPE, context.graphs.content_type(code)));
    }
}
