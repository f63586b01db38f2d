//! From a decoded record to statements.
//!
//! Pure: the same record under the same rules gives the same statements in the same order.
//! Concordances say what each field means; what no rule carries is kept by [`fallback`] as an
//! ordered node, so nothing a record says is lost. The result is the record's graph; it holds no
//! blank nodes.

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
use crate::concordance::run::{Outcome, RecordNames, View};
use crate::diagnostic::{Code, Diagnostic};
use crate::ontology::{pin, rdf as rdf_terms};
use crate::record::{Model, Record};
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
    triples.push(Triple::new(name.clone(), pin::FIELDS, Literal::new_simple_literal(fields(&view))));
    if !text.is_empty() {
        triples.push(Triple::new(name.clone(), pin::TRACE, Literal::new_simple_literal(text)));
    }
    fallback::keep(&view, &outcome, &name, &mut triples);
    Mapped { triples, diagnostics: diagnostics(&outcome) }
}

/// The tags a record has, each once, so that a changed rule finds the records it concerns. What
/// an 880 stands for counts, too.
fn fields(view: &View<'_>) -> String {
    let mut tags = view.tags();
    tags.sort_unstable();
    tags.dedup();
    tags.join("\n")
}

/// Runs the rules alone: for coverage, explanations and whoever wants to know more than the
/// statements.
pub fn run<'a>(record: &Record, view: &'a View<'a>, context: &Context<'a>, name: &NamedNode) -> Outcome {
    let of_source = |id: &str| context.graphs.record(context.source, id).into_string();
    let agency = record.field("003").map(|field| field.text().trim().to_owned());
    let names = RecordNames { record: name.as_str(), of_source: &of_source, agency: agency.as_deref() };
    context.concordances.run(view, &names, context.source)
}

/// What rules could not do, with the rule's file and line.
fn diagnostics(outcome: &Outcome) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for notice in &outcome.notices {
        let mut diagnostic =
            Diagnostic::new(notice.code, notice.message.clone()).in_field(notice.tag.clone());
        diagnostic.place.rule.clone_from(&notice.rule_place);
        found.push(diagnostic);
    }
    if outcome.cut {
        let message = "the rules make more statements than a record may have; the rest was left out";
        found.push(Diagnostic::new(Code::TooManyStatements, message));
    }
    found
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
