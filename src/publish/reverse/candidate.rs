//! The best field that a rule gives for a place.

use super::{Candidate, Found, Prepared, Work};
use crate::concordance::program::Rule;
use crate::concordance::selector::{Alternative, Key, Tag};
use crate::publish::draft::Draft;
use crate::publish::graph;
use crate::publish::marc::Written;
use crate::publish::pattern::{Offer, Spot, said, said_text};

impl<'a> Work<'a, '_> {
    /// The best field a rule gives for a place.
    pub(super) fn candidate(&self, rule: usize, spot: &Spot, found: &Found) -> Option<Candidate> {
        let prepared = self.reverse.rules.get(rule)?;
        let node = spot.nodes.iter().flatten().find_map(|node| self.hints.of_node(node, self.graph.record()));
        let place = node.or_else(|| {
            let first = spot.offers.first()?;
            self.hints.of_value(&prepared.rule.id, said_text(self.graph, first))
        });
        let (spot, scripted) = self.own(spot, prepared.rule, place, found);
        if spot.offers.is_empty() {
            return None;
        }
        let mut ways: Vec<(&Alternative, String)> = Vec::new();
        for way in prepared.rule.selector.alternatives.iter().filter(|way| way.embedded.is_none()) {
            ways.extend(tags(&way.tag).into_iter().map(|tag| (way, tag)));
        }
        let known = |tag: &str| place.is_some_and(|(known, _)| known == tag);
        let fired = |tag: &str| self.hints.has_tag(&prepared.rule.id, tag);
        let obsolete = |tag: &str| self.reverse.fields.get(tag).is_some_and(|field| field.obsolete);
        if ways.iter().any(|(_, tag)| known(tag)) {
            ways.retain(|(_, tag)| known(tag));
        }
        // Obsolete and rare fields are for records that had them.
        let rare = self.reverse.fields.get(&prepared.rule.name).is_some_and(|rule| rule.obsolete);
        ways.retain(|(_, tag)| fired(tag) || !rare && !obsolete(tag));
        let stands = |tags: &str| found.fields.iter().any(|field| tags.contains(field.tag.as_str()));
        ways.retain(|(_, tag)| {
            fired(tag) || self.reverse.fields.get(tag).is_none_or(|field| !stands(&field.unless))
        });
        ways.sort_by_key(|(_, tag)| !fired(tag));
        let wanted: Vec<u32> =
            spot.offers.iter().filter(|offer| !offer.shared).map(|offer| offer.statement).collect();
        let mut best: Option<(Candidate, &Alternative)> = None;
        'ways: for (way, tag) in ways {
            let added = self.additions(prepared, &spot, &tag);
            for draft in self.drafts(prepared, way, &tag, &spot, &added) {
                let Some(mut field) = self.written(&draft, way) else { continue };
                let beside: Vec<Written> =
                    draft.beside.iter().map(|(tag, text)| Written::control(tag, text.clone())).collect();
                let verdict = self
                    .tryout(&self.leader)
                    .verdict(&std::iter::once(&field).chain(&beside).collect::<Vec<_>>());
                let whole =
                    verdict.missing == 0 && wanted.iter().all(|index| verdict.explained.contains(index));
                if best.as_ref().is_none_or(|(best, _)| verdict.score() > best.verdict.score()) {
                    let own = place.filter(|(known, _)| *known == tag);
                    field.occurrence = own.map_or(usize::MAX, |(_, number)| *number);
                    let mut written = vec![field];
                    written.extend(beside);
                    best = Some((Candidate { rule, written, verdict, known: own.is_some() }, way));
                }
                if whole {
                    break 'ways;
                }
            }
        }
        let (mut candidate, way) = best?;
        if let Some(main) = candidate.written.first()
            && let Some(twin) = self.twin(prepared, way, &main.tag.clone(), &spot, &scripted)
        {
            candidate.verdict.explained.extend(scripted.iter().map(|offer| offer.statement));
            candidate.written.insert(1, twin);
        }
        Some(candidate)
    }

    /// A draft as a field, its subfields in order and its indicators filled.
    pub(super) fn written(&self, draft: &Draft, way: &Alternative) -> Option<Written> {
        let base = self.reverse.fields.base_of(&draft.tag, &self.leader);
        let mut field = Written::of(draft, base, way.subfield.as_deref())?;
        if !draft.ordered {
            self.reverse.fields.sort(&field.tag, &mut field.subfields);
        }
        self.usual(draft, way, &mut field);
        Some(field)
    }

    /// The same field in another script: what is written alike in both is in both.
    pub(super) fn twin(
        &self,
        prepared: &Prepared<'_>,
        way: &Alternative,
        tag: &str,
        spot: &Spot,
        scripted: &[Offer],
    ) -> Option<Written> {
        let script = scripted.iter().find_map(|offer| graph::script(said(self.graph, offer)?))?;
        let texts: Vec<&str> = scripted.iter().map(|offer| said_text(self.graph, offer)).collect();
        let slots: Vec<usize> = scripted.iter().flat_map(|offer| offer.slots.clone()).collect();
        let alike = |offer: &&Offer| {
            let text = said_text(self.graph, offer);
            Spot::is_type(offer, self.graph)
                || !offer.slots.iter().any(|slot| slots.contains(slot))
                    && (texts.iter().any(|other| other.contains(text))
                        || !text.chars().any(char::is_alphabetic))
        };
        let mut offers: Vec<Offer> = scripted.to_vec();
        offers.extend(spot.offers.iter().filter(alike).cloned());
        let spot = Spot { offers, ..spot.clone() };
        let draft = self.drafts(prepared, way, tag, &spot, &[]).into_iter().next()?;
        let mut field = self.written(&draft, way)?;
        field.script = Some(script.to_owned());
        Some(field)
    }

    /// Indicators that neither rule nor condition gave are the usual ones.
    pub(super) fn usual(&self, draft: &Draft, way: &Alternative, field: &mut Written) {
        let Some(known) = self.reverse.fields.get(&field.tag) else { return };
        for (number, key) in [Key::Ind1, Key::Ind2].iter().enumerate() {
            let open = draft.indicators.get(number).is_some_and(Option::is_none);
            let (Some(slot), Some(usual)) = (field.indicators.get_mut(number), known.indicators.get(number))
            else {
                continue;
            };
            let allowed = way.conditions.iter().filter(|condition| condition.key == *key).all(|condition| {
                condition.values.iter().any(|value| value.starts_with(*usual)) != condition.negated
            });
            if open && allowed {
                *slot = *usual;
            }
        }
    }

    /// The offers that are this field's: what stands on a thing of the record belongs to others
    /// as well, and is left out where it is known to, or has been said.
    /// Values in another script beside those that lead come apart.
    pub(super) fn own(
        &self,
        spot: &Spot,
        rule: &Rule,
        place: Option<&(String, usize)>,
        found: &Found,
    ) -> (Spot, Vec<Offer>) {
        let mut own = spot.clone();
        let anchored = spot.nodes.iter().any(Option::is_some);
        own.offers.retain(|offer| {
            if !offer.shared || !anchored {
                return true;
            }
            let text = said_text(self.graph, offer);
            if !self.hints.is_known() && found.explained.contains(&offer.statement) {
                return false;
            }
            match (self.hints.is_known(), self.hints.of_value(&rule.id, text)) {
                (true, None) => false,
                (true, Some(known)) => place.is_none_or(|place| place == known || known.0 == "880"),
                (false, _) => true,
            }
        });
        let leads = |offer: &Offer| said(self.graph, offer).is_some_and(|term| graph::script(term).is_none());
        let some: Vec<usize> =
            own.offers.iter().filter(|offer| leads(offer)).flat_map(|offer| offer.slots.clone()).collect();
        let (leading, scripted) = own
            .offers
            .into_iter()
            .partition(|offer| leads(offer) || !offer.slots.iter().any(|slot| some.contains(slot)));
        own.offers = leading;
        (own, scripted)
    }

    /// What other rules of the same field add to a shared node.
    pub(super) fn additions(
        &self,
        prepared: &Prepared<'_>,
        spot: &Spot,
        tag: &str,
    ) -> Vec<(&Prepared<'a>, Spot)> {
        let mut found = Vec::new();
        for (index, name) in &prepared.shared {
            let Some(Some(node)) = spot.nodes.get(*index) else { continue };
            for other in &self.reverse.rules {
                let adds = other.pattern.extends.as_ref().is_some_and(|(_, shared)| shared == name)
                    && other.rule.selector.alternatives.iter().any(|way| way.tag.matches(tag))
                    && self.hints.fired(&other.rule.id);
                if adds && let Some(spot) = other.pattern.at_node(other.rule, self.graph, node) {
                    found.push((other, spot));
                }
            }
        }
        found
    }
}

/// The tags a pattern stands for, at most a hundred.
fn tags(tag: &Tag) -> Vec<String> {
    match tag {
        Tag::Pattern(_) => match tag.exact() {
            Some(tag) => vec![tag],
            None => (0..1000)
                .map(|number| format!("{number:03}"))
                .filter(|text| tag.matches(text))
                .take(100)
                .collect(),
        },
        _ => tag.exact().into_iter().collect(),
    }
}
