//! Which documents does a clause of a query match?
//!
//! A word is searched in each field and counts by the best of them. A word of several parts
//! (`10.1000/182`, `Wi-Fi`, 東京都) is a phrase; a joined word is also looked for in one piece. Where
//! a word has several spellings, each is looked for; a phrase is looked for as each system of
//! romanization spells it.
//!
//! With a thesaurus, words next to each other are first tried together, the longest run first:
//! `heart attack` is one term if the thesaurus knows it.

use super::analysis::{Forms, Sort, Token, analyse};
use super::document::Field;
use super::expansion::{Relation, Thesaurus};
use super::query::{Clause, Form};
use super::rescale::{Rescaled, Scale};
use super::schema::Schema;
use std::ops::Bound;
use tantivy::Term;
use tantivy::query::{
    BooleanQuery, BoostQuery, DisjunctionMaxQuery, InvertedIndexRangeQuery, Occur, PhraseQuery, Query,
    TermQuery,
};
use tantivy::schema::{Field as Column, IndexRecordOption};

/// Further tokens of one word or phrase are not looked for.
const MOST_TOKENS: usize = 32;
/// Longest run of words that a thesaurus is asked for.
const LONGEST_RUN: usize = 4;
/// Terms that a query is expanded by, all clauses together.
const MOST_EXPANSIONS: usize = 64;
/// What a word found in further fields adds, of its score there.
const FURTHER_FIELDS: f32 = 0.2;

/// A condition that a document meets in one of several ways.
pub(super) struct Condition {
    pub negated: bool,
    /// The words as they were asked for.
    pub asked: Box<dyn Query>,
    pub expanded: Vec<Expanded>,
}

/// Another way to meet a condition.
pub(super) struct Expanded {
    pub query: Box<dyn Query>,
    pub asked: String,
    pub found: String,
    pub relation: Relation,
    weight: f32,
}

impl Condition {
    pub fn query(&self) -> Box<dyn Query> {
        if self.expanded.is_empty() {
            return self.asked.box_clone();
        }
        let asked = Rescaled { query: self.asked.box_clone(), scale: Scale::Asked };
        let mut ways: Vec<Box<dyn Query>> = vec![Box::new(asked)];
        for one in &self.expanded {
            let scale = Scale::Expanded { weight: one.weight };
            ways.push(Box::new(Rescaled { query: one.query.box_clone(), scale }));
        }
        best_of(ways, 0.0)
    }
}

/// Turns clauses into conditions.
pub(super) fn conditions(
    schema: &Schema,
    clauses: &[Clause],
    field: Option<Field>,
    thesaurus: Option<&dyn Thesaurus>,
) -> Vec<Condition> {
    let mut matcher = Matcher { schema, field, thesaurus, left: MOST_EXPANSIONS };
    let mut conditions = Vec::new();
    let mut rest = clauses;
    while !rest.is_empty() {
        let (condition, taken) = matcher.longest_run(rest);
        conditions.extend(condition);
        rest = rest.get(taken..).unwrap_or_default();
    }
    conditions
}

struct Matcher<'a> {
    schema: &'a Schema,
    /// The field of clauses that name none.
    field: Option<Field>,
    thesaurus: Option<&'a dyn Thesaurus>,
    left: usize,
}

impl Matcher<'_> {
    /// The condition of the longest run of words that is one term, and how many clauses it took.
    fn longest_run(&mut self, clauses: &[Clause]) -> (Option<Condition>, usize) {
        let words = |clause: &&Clause| clause.form == Form::Word && !clause.negated;
        let run = clauses.iter().take_while(words).take_while(|clause| clause.field == clauses[0].field);
        let run = run.take(LONGEST_RUN).count();
        for length in (2..=run).rev() {
            let run = &clauses[..length];
            let term = run.iter().map(|clause| clause.text.as_str()).collect::<Vec<_>>().join(" ");
            let expanded = self.expand(&term, clauses[0].field);
            if !expanded.is_empty() {
                let asked: Vec<_> = run.iter().filter_map(|clause| self.clause(clause)).collect();
                return (Some(Condition { negated: false, asked: all_of(asked), expanded }), length);
            }
        }
        let clause = &clauses[0];
        let condition = self.clause(clause).map(|asked| {
            let expandable = !clause.negated && clause.form != Form::Prefix;
            let expanded = if expandable { self.expand(&clause.text, clause.field) } else { Vec::new() };
            Condition { negated: clause.negated, asked, expanded }
        });
        (condition, 1)
    }

    fn expand(&mut self, term: &str, field: Option<Field>) -> Vec<Expanded> {
        let Some(thesaurus) = self.thesaurus else { return Vec::new() };
        let mut expanded = Vec::new();
        for expansion in thesaurus.expand(term) {
            if self.left > 0
                && let Some(query) = self.text(&expansion.term, field)
            {
                self.left -= 1;
                let weight = expansion.weight.clamp(0.01, 0.99);
                let (asked, found) = (term.to_owned(), expansion.term);
                expanded.push(Expanded { query, asked, found, relation: expansion.relation, weight });
            }
        }
        expanded
    }

    /// The query of a clause, unless it has no word.
    fn clause(&self, clause: &Clause) -> Option<Box<dyn Query>> {
        match clause.form {
            Form::Word | Form::Phrase => self.text(&clause.text, clause.field),
            Form::Prefix => {
                let tokens = analyse(&clause.text, MOST_TOKENS);
                self.in_fields(clause.field, |column| beginning(column, &tokens))
            }
        }
    }

    fn text(&self, text: &str, field: Option<Field>) -> Option<Box<dyn Query>> {
        let tokens = analyse(text, MOST_TOKENS);
        self.in_fields(field, |column| sequence(column, &tokens))
    }

    fn in_fields(
        &self,
        field: Option<Field>,
        query: impl Fn(Column) -> Option<Box<dyn Query>>,
    ) -> Option<Box<dyn Query>> {
        let fields = self.schema.words(field.or(self.field));
        let boosted = |(field, column): (Field, _)| {
            Some(Box::new(BoostQuery::new(query(column)?, field.boost())) as Box<dyn Query>)
        };
        let queries: Vec<_> = fields.filter_map(boosted).collect();
        (!queries.is_empty()).then(|| best_of(queries, FURTHER_FIELDS))
    }
}

/// The tokens one after the other, or the joined word they make.
fn sequence(column: Column, tokens: &[Token]) -> Option<Box<dyn Query>> {
    let mut ways: Vec<Box<dyn Query>> = Vec::new();
    let parts: Vec<&Token> =
        tokens.iter().filter(|token| token.sort == Sort::Part).take(MOST_TOKENS).collect();
    let mut spellings: Vec<Vec<(usize, &str)>> = Vec::new();
    for system in 0..Forms::MOST {
        let spelled = parts.iter().map(|part| (part.position, part.forms.of(system)));
        let spelling: Vec<_> = spelled.filter(|(_, form)| !form.is_empty()).collect();
        if !spelling.is_empty() && !spellings.contains(&spelling) {
            spellings.push(spelling);
        }
    }
    for spelling in spellings {
        ways.push(match spelling.as_slice() {
            [(_, form)] => word(column, form),
            forms => {
                let term =
                    |(position, form): &(usize, &str)| (*position, Term::from_field_text(column, form));
                Box::new(PhraseQuery::new_with_offset(forms.iter().map(term).collect()))
            }
        });
    }
    let mut wholes = tokens.iter().filter(|token| token.sort == Sort::Whole);
    // Only if the tokens are of this one word: otherwise the others would not be asked for.
    if let (Some(whole), None) = (wholes.next(), wholes.next())
        && parts.iter().map(|part| part.forms.of(0)).collect::<String>() == whole.forms.of(0)
    {
        ways.extend(whole.forms.distinct().map(|form| word(column, form)));
    }
    (!ways.is_empty()).then(|| best_of(ways, 0.0))
}

/// Words of which the last is not typed to its end.
fn beginning(column: Column, tokens: &[Token]) -> Option<Box<dyn Query>> {
    let parts: Vec<&Token> = tokens.iter().filter(|token| token.sort == Sort::Part).collect();
    let (last, before) = parts.split_last()?;
    // In scripts without spaces any two characters are a word, so that there is nothing to add.
    let in_pairs = tokens.iter().any(|token| token.sort == Sort::Single);
    if in_pairs {
        return sequence(column, tokens);
    }
    let mut all: Vec<Box<dyn Query>> = before
        .iter()
        .map(|part| best_of(part.forms.distinct().map(|form| word(column, form)).collect(), 0.0))
        .collect();
    let begun = |form: &str| -> Box<dyn Query> {
        let from = Term::from_field_text(column, form);
        let to = Term::from_field_text(column, &format!("{form}{}", char::MAX));
        Box::new(InvertedIndexRangeQuery::new(Bound::Included(from), Bound::Excluded(to)))
    };
    all.push(best_of(last.forms.beginnings().map(begun).collect(), 0.0));
    let apart = all_of(all);
    match tokens.iter().find(|token| token.sort == Sort::Whole) {
        Some(whole) if !before.is_empty() => {
            let mut ways = vec![apart];
            ways.extend(whole.forms.beginnings().map(begun));
            Some(best_of(ways, 0.0))
        }
        _ => Some(apart),
    }
}

fn word(column: Column, form: &str) -> Box<dyn Query> {
    Box::new(TermQuery::new(Term::from_field_text(column, form), IndexRecordOption::WithFreqs))
}

fn best_of(mut queries: Vec<Box<dyn Query>>, further: f32) -> Box<dyn Query> {
    match (queries.len(), queries.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            queries.extend(last);
            Box::new(DisjunctionMaxQuery::with_tie_breaker(queries, further))
        }
    }
}

fn all_of(mut queries: Vec<Box<dyn Query>>) -> Box<dyn Query> {
    match (queries.len(), queries.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            queries.extend(last);
            Box::new(BooleanQuery::new(queries.into_iter().map(|query| (Occur::Must, query)).collect()))
        }
    }
}
