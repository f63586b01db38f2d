//! The values of a place, given to the subfields of a field.

use super::cost::{codes_read, cost_of};
use super::{Prepared, Work};
use crate::concordance::program::{Each, Expr, Rule};
use crate::concordance::selector::{Alternative, Condition, Key};
use crate::publish::draft::Draft;
use crate::publish::evaluate::evaluate;
use crate::publish::invert::{Inverter, MOST_DRAFTS, bounded};
use crate::publish::pattern::{Offer, Spot, said_text};

impl<'a> Work<'a, '_> {
    /// Drafts of a field with this tag that say what the place says.
    pub(super) fn drafts(
        &self,
        prepared: &Prepared<'_>,
        way: &Alternative,
        tag: &str,
        spot: &Spot,
        added: &[(&Prepared<'a>, Spot)],
    ) -> Vec<Draft> {
        let rule = prepared.rule;
        let mut draft = Draft { tag: tag.to_owned(), ..Draft::default() };
        draft.range = way.positions.clone().unwrap_or_default();
        for condition in &way.conditions {
            require(condition, &mut draft);
        }
        if !self.hinted(rule, spot, &mut draft) {
            return Vec::new();
        }
        let mut drafts = vec![draft];
        // Each value with its rule, cheap ones first: what they settle helps with the others.
        // What other rules say of a part of the field helps with the whole.
        let mut tasks: Vec<(usize, &Prepared<'_>, &Offer)> = Vec::new();
        for (other, spot) in added {
            tasks.extend(spot.offers.iter().map(|offer| (cost_of(other, offer), *other, offer)));
        }
        tasks.extend(spot.offers.iter().map(|offer| (cost_of(prepared, offer), prepared, offer)));
        tasks.sort_by_key(|(cost, ..)| *cost);
        let mut conditions: Vec<(&Rule, &Expr)> = Vec::new();
        conditions.extend(rule.when.as_ref().map(|when| (rule, when)));
        for (_, prepared, offer) in tasks {
            let next = self.explain(prepared, offer, &drafts);
            if !next.is_empty() {
                drafts = next;
            } else if Spot::is_type(offer, self.graph) && !offer.shared {
                return Vec::new();
            }
        }
        for (rule, when) in conditions {
            let inverter = self.inverter(rule, tag, "");
            let next: Vec<Draft> = drafts
                .iter()
                .flat_map(|draft| inverter.assume(when, true, draft.clone()))
                .take(MOST_DRAFTS)
                .collect();
            if !next.is_empty() {
                drafts = next;
            }
        }
        if let Some(Each::Codes(codes)) = &rule.each {
            drafts = with_codes(codes, drafts);
        }
        for draft in &mut drafts {
            finish(rule, way, draft);
        }
        drafts
    }

    pub(super) fn inverter<'i>(&'i self, rule: &'i Rule, tag: &str, prefer: &'i str) -> Inverter<'i> {
        let field = self.reverse.fields.get(tag);
        Inverter {
            rule,
            lists: &self.reverse.concordances.lists,
            prefer,
            only: false,
            usual: field.map_or([' ', ' '], |field| field.indicators),
            order: field.map_or("", |field| field.order.as_str()),
            member: None,
            depth: 0,
        }
    }

    pub(super) fn explain(&self, prepared: &Prepared<'_>, offer: &Offer, drafts: &[Draft]) -> Vec<Draft> {
        let rule = prepared.rule;
        let Some(triple) = self.graph.triple(offer.statement) else { return Vec::new() };
        let wanted = said_text(self.graph, offer);
        let known = self.hints.codes(&rule.id, triple, self.graph.record());
        let Some(known) = known else {
            return bounded(
                drafts.iter().flat_map(|draft| self.any_slot(rule, offer, wanted, draft)).collect(),
            );
        };
        // Where a trace names the subfields, all variables made of them have this value.
        let tag = drafts.first().map_or("", |draft| draft.tag.as_str());
        let inverter = Inverter { only: true, ..self.inverter(rule, tag, known) };
        let reads = |slot: usize| {
            let mut codes = String::new();
            codes_read(rule, slot, &mut codes, 0);
            known.is_empty() || codes.contains('*') || known.chars().any(|code| codes.contains(code))
        };
        let mut found: Vec<Draft> = drafts.to_vec();
        let mut any = false;
        for slot in offer.slots.iter().filter(|slot| reads(**slot)) {
            let next: Vec<Draft> =
                found.iter().flat_map(|draft| inverter.slot(*slot, wanted, draft.clone())).collect();
            if !next.is_empty() {
                found = bounded(next);
                any = true;
            }
        }
        if any {
            // A draft that uses all of the subfields is nearer to what was there.
            let unused = |draft: &Draft| {
                known.chars().filter(|code| !draft.has(code.encode_utf8(&mut [0; 4]))).count()
            };
            found.sort_by_key(unused);
            return self.narrowed(rule, offer, found);
        }
        bounded(drafts.iter().flat_map(|draft| self.any_slot(rule, offer, wanted, draft)).collect())
    }

    /// A value that may be that of several variables: the first that takes it, and the second.
    pub(super) fn any_slot(&self, rule: &Rule, offer: &Offer, wanted: &str, draft: &Draft) -> Vec<Draft> {
        let inverter = self.inverter(rule, &draft.tag, "");
        let mut found = Vec::new();
        for (number, slot) in offer.slots.iter().enumerate() {
            let next = self.narrowed(rule, offer, inverter.slot(*slot, wanted, draft.clone()));
            let any = !next.is_empty();
            found.extend(next);
            if any && number > 0 {
                break;
            }
        }
        // Usual subfields are likelier than rare ones.
        if !inverter.order.is_empty() {
            let rare = |code: &str| !inverter.order.contains(code);
            found.sort_by_key(|draft| draft.subfields.iter().filter(|(code, _)| rare(code)).count());
        }
        found
    }

    /// The drafts in which the variable that gives the property gives this one, if there are any.
    pub(super) fn narrowed(&self, rule: &Rule, offer: &Offer, drafts: Vec<Draft>) -> Vec<Draft> {
        let (Some(slot), Some(triple)) = (offer.predicate_slot, self.graph.triple(offer.statement)) else {
            return drafts;
        };
        let inverter = self.inverter(rule, drafts.first().map_or("", |draft| draft.tag.as_str()), "");
        let narrowed: Vec<Draft> = drafts
            .iter()
            .flat_map(|draft| inverter.slot(slot, triple.predicate.as_str(), draft.clone()))
            .collect();
        if narrowed.is_empty() { drafts } else { bounded(narrowed) }
    }

    /// The subfields that a rule says how to give back; `false` where one cannot be given.
    pub(super) fn hinted(&self, rule: &Rule, spot: &Spot, draft: &mut Draft) -> bool {
        let value = |slot: usize| {
            let offer = spot.offers.iter().find(|offer| offer.slots.contains(&slot))?;
            Some(said_text(self.graph, offer).to_owned())
        };
        for (code, expr) in &rule.reverse {
            match evaluate(expr, &self.reverse.concordances.lists, &value) {
                Some(text) if text.is_empty() => {}
                Some(text) => draft.subfields.push((code.clone(), text)),
                None => return false,
            }
        }
        true
    }
}

/// A value that `each` stood at may have had any of its codes.
fn with_codes(codes: &str, drafts: Vec<Draft>) -> Vec<Draft> {
    let mut found = Vec::new();
    for draft in drafts {
        if draft.code.is_some() {
            found.push(draft);
            continue;
        }
        found.extend(codes.chars().map(|code| Draft { code: Some(code.to_string()), ..draft.clone() }));
    }
    found
}

/// Makes a condition of the selector hold.
fn require(condition: &Condition, draft: &mut Draft) {
    let Some(first) = condition.values.first() else { return };
    let number = match condition.key {
        Key::Ind1 => 0,
        Key::Ind2 => 1,
        Key::Subfield(_) => return,
    };
    let value = first.chars().next();
    if let Some(slot) = draft.indicators.get_mut(number)
        && !condition.negated
        && condition.values.len() == 1
    {
        *slot = value;
    }
}

/// What only shows when all values are in: the subfield of `each`, indicators and subfields that
/// the selector asks for.
fn finish(rule: &Rule, way: &Alternative, draft: &mut Draft) {
    draft.set_marks();
    if let (Some(Each::Codes(codes)), Some(value)) = (&rule.each, draft.value.take()) {
        let first = codes.chars().next().unwrap_or('a').to_string();
        let code = draft.code.take().unwrap_or(first);
        draft.subfields.insert(0, (code, value));
    }
    for condition in &way.conditions {
        let Some(first) = condition.values.first() else { continue };
        match &condition.key {
            Key::Subfield(code) if !condition.negated && !draft.has(code) => {
                draft.subfields.push((code.clone(), first.clone()));
            }
            Key::Ind1 | Key::Ind2 if !condition.negated => {
                let number = usize::from(condition.key == Key::Ind2);
                let open = draft.indicators.get_mut(number).filter(|indicator| indicator.is_none());
                if let Some(slot) = open {
                    *slot = first.chars().next();
                }
            }
            _ => {}
        }
    }
}
