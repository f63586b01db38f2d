//! Goes through the places of a graph and decides which field each of them gives.

use super::{Candidate, Found, Work};
use crate::concordance::program::Rule;
use crate::concordance::selector::Tag;
use crate::ontology::rdf;
use crate::publish::draft::Draft;
use crate::publish::marc::Written;
use crate::publish::pattern::{Anchor, Spot};
use crate::publish::tryout::Verdict;
use oxrdf::Term;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

impl Work<'_, '_> {
    /// Finds all fields.
    pub(super) fn run(&self, found: &mut Found) {
        let mut places: Vec<(Anchor, usize, Spot)> = Vec::new();
        for (index, prepared) in self.reverse.rules.iter().enumerate() {
            let rule = prepared.rule;
            let is_leader = rule.selector.alternatives.first().is_some_and(|way| way.tag == Tag::Leader);
            if is_leader || !self.hints.fired(&rule.id) || prepared.pattern.extends.is_some() {
                continue;
            }
            for (anchor, spot) in prepared.pattern.places(rule, self.graph, self.together(rule)) {
                places.push((anchor, index, spot));
            }
        }
        // Fixed fields first, then what has a node of its own, each by the rules' own order, which
        // is that of tags.
        let order = |anchor: &Anchor| !matches!(anchor, Anchor::Node(_));
        places.sort_by_key(|(anchor, rule, _)| (!self.is_fixed(*rule), order(anchor), *rule));
        let mut done: FxHashSet<Anchor> = FxHashSet::default();
        for (anchor, rule, spot) in &places {
            if self.is_fixed(*rule) {
                self.fixed(*rule, spot, found);
                continue;
            }
            // A place of its own is decided once, among all rules that fit it.
            let exclusive = !matches!(anchor, Anchor::Whole(_));
            if exclusive && !done.insert(anchor.clone()) {
                continue;
            }
            let rivals = places.iter().filter(|(other, index, _)| {
                other == anchor && !self.is_fixed(*index) && (exclusive || index == rule)
            });
            let mut best: Option<Candidate> = None;
            for (_, rule, spot) in rivals {
                let Some(candidate) = self.candidate(*rule, spot, found) else { continue };
                let better = |best: &Candidate| self.rank(&candidate) > self.rank(best);
                if best.as_ref().is_none_or(better) {
                    best = Some(candidate);
                }
            }
            let Some(candidate) = best else { continue };
            let news = candidate.verdict.explained.iter().filter(|index| self.says(**index, found)).count();
            let fits = candidate.verdict.missing <= candidate.verdict.explained.len();
            if (news > 0 || self.is_due(&candidate, found)) && fits {
                self.take(candidate, found);
            }
        }
    }

    /// Whether the record had this field and it is not written yet, though it says nothing new.
    pub(super) fn is_due(&self, candidate: &Candidate, found: &Found) -> bool {
        let Some(field) = candidate.written.first().filter(|_| candidate.known) else { return false };
        let there = |other: &&Written| {
            other.tag == field.tag
                && (other.occurrence == field.occurrence || self.reverse.fields.is_single(&field.tag))
        };
        match found.fields.iter().find(there) {
            Some(other) => field.subfields.iter().any(|subfield| !other.subfields.contains(subfield)),
            None => true,
        }
    }

    pub(super) fn take(&self, candidate: Candidate, found: &mut Found) {
        found.explained.extend(candidate.verdict.explained);
        for written in candidate.written {
            let single = self.reverse.fields.is_single(&written.tag);
            // What several rules say of one field comes together again.
            let same = |field: &&mut Written| {
                let known = field.occurrence == written.occurrence && field.occurrence < usize::MAX;
                field.tag == written.tag && field.script == written.script && (single || known)
            };
            match found.fields.iter_mut().find(same) {
                Some(field) => {
                    for subfield in written.subfields {
                        if !field.subfields.contains(&subfield) {
                            field.subfields.push(subfield);
                        }
                    }
                    self.reverse.fields.sort(&field.tag, &mut field.subfields);
                }
                None => found.fields.push(written),
            }
        }
    }

    /// Whether a statement carries a value and no field has said it yet.
    pub(super) fn says(&self, index: u32, found: &Found) -> bool {
        if found.explained.contains(&index) {
            return false;
        }
        self.graph.triple(index).is_some_and(|triple| match &triple.object {
            Term::NamedNode(node) => !node.as_str().starts_with(self.graph.record()),
            _ => true,
        } && triple.predicate.as_ref() != rdf::TYPE)
    }

    pub(super) fn rank(&self, candidate: &Candidate) -> (bool, i64, bool, std::cmp::Reverse<usize>) {
        let tag = candidate.written.first().map_or("", |field| field.tag.as_str());
        let rule = self.reverse.rules.get(candidate.rule).map_or("", |prepared| prepared.rule.id.as_str());
        let obsolete = self.reverse.fields.get(tag).is_some_and(|field| field.obsolete);
        let known = self.hints.has_tag(rule, tag);
        (!obsolete || known, candidate.verdict.score(), known, std::cmp::Reverse(candidate.rule))
    }

    pub(super) fn is_fixed(&self, rule: usize) -> bool {
        let rule = self.reverse.rules.get(rule).map(|prepared| prepared.rule);
        rule.and_then(|rule| rule.selector.alternatives.first()).is_some_and(|way| way.positions.is_some())
    }

    /// Whether the values of a rule without nodes go into one field.
    pub(super) fn together(&self, rule: &Rule) -> bool {
        let tags = rule.selector.alternatives.iter().filter_map(|way| way.tag.exact());
        let single = tags.into_iter().all(|tag| self.reverse.fields.is_single(&tag));
        single || self.hints.fields_of(&rule.id) == 1
    }

    /// Positions of a fixed field.
    pub(super) fn fixed(&self, rule: usize, spot: &Spot, found: &mut Found) {
        let Some(prepared) = self.reverse.rules.get(rule) else { return };
        let Some(way) = prepared.rule.selector.alternatives.first() else { return };
        let Some(tag) = way.tag.exact() else { return };
        let rare = self.reverse.fields.get(&tag).is_some_and(|field| field.obsolete);
        if rare && !self.hints.has_tag(&prepared.rule.id, &tag) {
            return;
        }
        let key = (tag.clone(), way.subfield.clone());
        let known = found.fixed.get(&key).cloned().unwrap_or_default();
        let base = self.reverse.fields.base_of(&tag, &self.leader);
        let field = |positions: &BTreeMap<usize, char>| {
            let draft = Draft { tag: tag.clone(), positions: positions.clone(), ..Draft::default() };
            Written::fixed(&draft, base, way.subfield.as_deref())
        };
        let tryout = self.tryout(&self.leader);
        let before = tryout.verdict(&[&field(&known)]);
        let mut best: Option<(Verdict, BTreeMap<usize, char>)> = None;
        for draft in self.drafts(prepared, way, &tag, spot, &[]) {
            let mut positions = draft.positions.clone();
            positions.extend(known.iter().map(|(at, c)| (*at, *c)));
            let verdict = tryout.verdict(&[&field(&positions)]);
            if verdict.score() > best.as_ref().map_or(before.score(), |(verdict, _)| verdict.score()) {
                best = Some((verdict, positions));
            }
        }
        if let Some((verdict, positions)) = best {
            found.explained.extend(verdict.explained);
            found.fixed.insert(key, positions);
        }
    }
}
