//! Rules over a record: which fire, what they make, what was carried.
//!
//! Pure: the same record and rules give the same statements in the same order, fields in record
//! order, for each field the rules in the order of their files.

mod apply;
mod compare;
mod dispatch;
mod elsewhere;
mod emit;
mod eval;
mod frame;
mod list;
mod outcome;
mod paths;
mod slice;
mod truth;
mod value;
mod view;

pub use apply::apply_all;
pub use dispatch::Table;
pub use frame::Frame;
pub use outcome::{Fire, Notice, Notices, Outcome, Statement, Whose};
pub use paths::Paths;
pub use value::{Touch, Value, WHOLE};
pub use view::{FieldView, View};

use super::codes::CodeList;
use super::program::{Each, Ignored, Rule, Step};
use super::selector::Alternative;
use emit::{Emitter, Names};
use eval::{Evaluator, Slot, Things};
use frame::{empty_frame, field_frame};
use rustc_hash::FxHashMap;
use slice::slice;
use smallvec::SmallVec;
use std::cell::Cell;
use std::ops::Range;
use value::positions;
use view::{Embedded, Twin};

/// A record gives no more statements than this.
const MOST_STATEMENTS: usize = 50_000;
/// How often statements may be made, the same ones again included: the trace names each time.
const MOST_MADE: usize = 4 * MOST_STATEMENTS;
/// Subfields that the solutions of one field may look at, all together.
const MOST_READINGS: usize = 20_000_000;

/// What the names of a record's things are made from.
pub struct RecordNames<'a> {
    /// The record's IRI.
    pub record: &'a str,
    /// The IRI of another record of the same source.
    pub of_source: &'a (dyn Fn(&str) -> String + Sync),
    /// The agency whose numbers are the source's own, as 003 says it.
    pub agency: Option<&'a str>,
}

/// What a run needs besides the record.
pub struct Rules<'a> {
    pub rules: &'a [Rule],
    pub table: &'a Table,
    pub lists: &'a [CodeList],
    /// Where the tags of languages stand among the lists.
    pub languages: Option<usize>,
    /// The source whose rules apply besides those for all.
    pub source: &'a str,
}

/// Runs all rules over a record.
pub fn run<'a>(rules: &Rules<'a>, view: &'a View<'a>, names: &'a RecordNames<'a>) -> Outcome {
    run_parts(rules, view, names, true, true, true)
}

/// Runs the rules over some parts of a record: its leader, the record as a whole, its fields.
pub fn run_parts<'a>(
    rules: &Rules<'a>,
    view: &'a View<'a>,
    names: &'a RecordNames<'a>,
    leader: bool,
    record: bool,
    fields: bool,
) -> Outcome {
    let mut notices = Notices::default();
    let twins = view::twins(view);
    // A field's place among the twins, and the twins of a field.
    let mut as_twin: FxHashMap<usize, usize> = FxHashMap::default();
    let mut twins_of: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for (number, twin) in twins.iter().enumerate() {
        as_twin.insert(twin.field, number);
        if let Some(partner) = twin.partner {
            twins_of.entry(partner).or_default().push(number);
        }
    }
    let things = Things::of(names.record);
    let mut runner = Runner {
        rules,
        evaluator: Evaluator {
            view,
            names,
            things: &things,
            lists: rules.lists,
            touches: Vec::with_capacity(32),
            notices: &mut notices,
            member: None,
            silent: Vec::new(),
            // Most records are asked for about twenty values.
            memory: FxHashMap::with_capacity_and_hasher(28, Default::default()),
            occurrence: Cell::new(None),
            work_key: None,
        },
        emitter: Emitter::new(view.items),
        nodes: Vec::new(),
        reuse: Names::new(),
        slots: Vec::new(),
    };
    // `$6` ties a field to the same in another script, and the nodes they share say so.
    if view.model.is_marc() {
        for sub in view.subs.iter().filter(|sub| sub.code == "6") {
            runner.emitter.ignore(sub.item, WHOLE, None);
        }
    }
    if leader {
        runner.leader(view);
    }
    if record {
        runner.over_record();
    }
    for index in 0..if fields { view.fields.len() } else { 0 } {
        match as_twin.get(&index).and_then(|number| twins.get(*number)) {
            // With a partner it is run right after it.
            Some(Twin { partner: Some(_), .. }) => {}
            Some(twin) => runner.twin(view, twin, index, &[]),
            None => {
                let others = twins_of.get(&index);
                runner.nodes.clear();
                runner.field(view, index, others.is_some());
                let nodes = std::mem::take(&mut runner.nodes);
                for twin in others.into_iter().flatten().filter_map(|number| twins.get(*number)) {
                    runner.twin(view, twin, index, &nodes);
                }
            }
        }
    }
    let mut outcome = runner.emitter.finish();
    outcome.notices = notices.list;
    for notice in &mut outcome.notices {
        let rule = rules.rules.get(notice.rule);
        notice.rule_place =
            rule.map(|rule| format!("mappings/{}.toml:{} {}", rule.file, rule.line, rule.name));
    }
    outcome
}

/// The names of the nodes one solution made, so that a twin can fill the same nodes.
struct Made {
    rule: usize,
    solution: usize,
    nodes: Names,
}

struct Runner<'a, 'n, 'r> {
    rules: &'r Rules<'a>,
    evaluator: Evaluator<'a, 'n>,
    emitter: Emitter,
    /// What the field at hand made, when it has a twin.
    nodes: Vec<Made>,
    /// Names of nodes for the solution at hand.
    reuse: Names,
    /// The slots of the solution before, whose room is used again.
    slots: Vec<Slot<'a>>,
}

impl<'a> Runner<'a, '_, '_> {
    fn leader(&mut self, view: &'a View<'a>) {
        let table = self.rules.table;
        if view.leader.is_empty() {
            return;
        }
        for (rule, alternative) in &table.leader {
            let Some((rule_of, alternative)) = self.alternative(*rule, *alternative) else { continue };
            let mut frame = empty_frame("LDR", view.leader_item);
            frame.full_text = view.leader;
            let range = alternative.positions.clone().unwrap_or(0..view.leader.chars().count());
            frame.text = slice(view.leader, &range);
            frame.text_positions = positions(&range);
            frame.text_start = range.start;
            self.ignore(*rule, rule_of, &frame);
            self.fire(*rule, rule_of, &frame, None);
        }
    }

    fn over_record(&mut self) {
        for rule in &self.rules.table.record {
            let Some(rule_of) = self.rules.rules.get(*rule).filter(|rule| self.applies(rule)) else {
                continue;
            };
            self.fire(*rule, rule_of, &empty_frame("record", 0), None);
        }
    }

    fn applies(&self, rule: &Rule) -> bool {
        rule.source.as_deref().is_none_or(|source| source == self.rules.source)
    }

    fn alternative(&self, rule: usize, alternative: usize) -> Option<(&'a Rule, &'a Alternative)> {
        let rule = self.rules.rules.get(rule).filter(|rule| self.applies(rule))?;
        Some((rule, rule.selector.alternatives.get(alternative)?))
    }

    fn field(&mut self, view: &'a View<'a>, index: usize, has_twin: bool) {
        let Some(field) = view.fields.get(index) else { return };
        let mut frame = None;
        let (rules, by_tag) = self.rules.table.for_tag(field.tag);
        let by_tag = by_tag && field.depth == 0;
        for (rule, alternative) in rules {
            let Some((rule_of, alternative)) = self.alternative(*rule, *alternative) else { continue };
            let is_meant = if by_tag {
                view.is_meant_by_tag(index, alternative)
            } else {
                view.is_meant(index, alternative)
            };
            if !is_meant {
                continue;
            }
            let frame = frame.get_or_insert_with(|| field_frame(view, index, field));
            self.one(*rule, rule_of, alternative, view, frame, field, has_twin);
        }
        self.embedded(view, index, field);
    }

    fn embedded(&mut self, view: &'a View<'a>, index: usize, field: &'a FieldView<'a>) {
        if self.rules.table.embedded.is_empty() {
            return;
        }
        let mut inner: Option<Vec<Embedded<'a>>> = None;
        for (rule, alternative) in &self.rules.table.embedded {
            let Some((rule_of, alternative)) = self.alternative(*rule, *alternative) else { continue };
            let Some(tag) = &alternative.embedded else { continue };
            if !view.is_meant(index, alternative) {
                continue;
            }
            let inner = inner.get_or_insert_with(|| view::embedded(view, field));
            for embedded in inner.iter().filter(|embedded| tag.matches(embedded.tag)) {
                let subs = view.subs(&embedded.subs);
                let holds = |condition| view.holds(condition, embedded.ind1, embedded.ind2, subs);
                if !alternative.conditions.iter().all(holds) {
                    continue;
                }
                let mut frame = field_frame(view, index, field);
                frame.outer = Some(field.tag);
                frame.tag = embedded.tag;
                frame.ind1 = embedded.ind1;
                frame.ind2 = embedded.ind2;
                frame.subs = embedded.subs.clone();
                frame.full_text = embedded.text;
                frame.text = (!embedded.text.trim().is_empty()).then_some(embedded.text);
                frame.text_item = embedded.text_item;
                frame.text_positions = WHOLE;
                // The `$1` that only says which field begins here has been read.
                self.emitter.carry_marker(embedded.text_item);
                self.ignore(*rule, rule_of, &frame);
                self.fire(*rule, rule_of, &frame, None);
            }
        }
    }

    /// One rule over one field.
    #[expect(clippy::too_many_arguments, reason = "all of it is known at the only two places that call")]
    fn one(
        &mut self,
        rule: usize,
        rule_of: &'a Rule,
        alternative: &'a Alternative,
        view: &'a View<'a>,
        frame: &Frame<'a>,
        field: &'a FieldView<'a>,
        has_twin: bool,
    ) {
        let keep = if has_twin { Some(()) } else { None };
        match (&alternative.subfield, &alternative.positions) {
            (None, None) => {
                self.ignore(rule, rule_of, frame);
                self.fire(rule, rule_of, frame, keep);
            }
            (None, Some(range)) => {
                // Blanks and fill characters say nothing.
                let text = slice(field.text, range);
                if text.is_none() && rule_of.ignore.is_empty() {
                    return;
                }
                let mut frame = frame.clone();
                frame.text = text;
                frame.text_positions = positions(range);
                frame.text_start = range.start;
                self.ignore(rule, rule_of, &frame);
                self.fire(rule, rule_of, &frame, keep);
            }
            (Some(code), range) => {
                for sub in view.subs(&frame.subs).iter().filter(|sub| sub.code == code) {
                    let mut frame = frame.clone();
                    frame.full_text = sub.value;
                    frame.text_item = sub.item;
                    let range = range.clone().unwrap_or(0..sub.value.chars().count());
                    frame.text = slice(sub.value, &range);
                    frame.text_positions = positions(&range);
                    frame.text_start = range.start;
                    self.ignore(rule, rule_of, &frame);
                    self.fire(rule, rule_of, &frame, keep);
                }
            }
        }
    }

    /// A field in another script, with the rules of its partner's tag.
    fn twin(&mut self, view: &'a View<'a>, twin: &Twin<'a>, named_after: usize, made: &[Made]) {
        let Some(field) = view.fields.get(twin.field) else { return };
        let language = self.language(view);
        for (rule, alternative) in self.rules.table.for_tag(twin.tag).0 {
            let Some((rule_of, alternative)) = self.alternative(*rule, *alternative) else { continue };
            let holds = |condition| view.holds(condition, field.ind1, field.ind2, view.subs(&field.subs));
            if alternative.tag.matches(twin.tag) && alternative.conditions.iter().all(holds) {
                let mut frame = field_frame(view, twin.field, field);
                frame.tag = twin.tag;
                frame.named_after = Some(named_after);
                frame.language = language;
                frame.twin = true;
                self.ignore(*rule, rule_of, &frame);
                self.solutions(*rule, rule_of, &frame, made, false);
            }
        }
    }

    /// The language of the record as a tag.
    fn language(&self, view: &'a View<'a>) -> Option<&'a str> {
        let list = self.rules.lists.get(self.rules.languages?)?;
        let field = |tag: &str| view.fields.iter().find(|field| field.tag == tag);
        let code = match view.model {
            crate::record::Model::Unimarc => {
                let field = field("101")?;
                view.subs(&field.subs).iter().find(|sub| sub.code == "a")?.value
            }
            _ => slice(field("008")?.text, &(35..38))?,
        };
        list.get(code, list.column("tag")?)
    }

    fn ignore(&mut self, rule: usize, rule_of: &'a Rule, frame: &Frame<'a>) {
        if rule_of.ignore.is_empty() {
            return;
        }
        let view = self.evaluator.view;
        for (number, ignore) in rule_of.ignore.iter().enumerate() {
            let by = Some((rule, number));
            match &ignore.what {
                Ignored::Everything => {
                    for sub in view.subs(&frame.subs) {
                        self.emitter.ignore(sub.item, WHOLE, by);
                    }
                    self.emitter.ignore(frame.text_item, WHOLE, by);
                }
                Ignored::Subfield(code) => {
                    for sub in view.subs(&frame.subs) {
                        if sub.code == code || !view.model.is_marc() && view::is_attribute(sub.code, code) {
                            self.emitter.ignore(sub.item, WHOLE, by);
                        }
                    }
                }
                Ignored::Positions(range) => self.emitter.ignore(frame.text_item, positions(range), by),
            }
        }
    }

    fn fire(&mut self, rule: usize, rule_of: &'a Rule, frame: &Frame<'a>, keep: Option<()>) {
        self.solutions(rule, rule_of, frame, &[], keep.is_some());
    }

    /// Cuts the field as `group` and `each` say; each piece is a solution.
    fn solutions(&mut self, rule: usize, rule_of: &'a Rule, frame: &Frame<'a>, made: &[Made], keep: bool) {
        if rule_of.template.triples.is_empty() || self.emitter.is_full() {
            self.emitter.cut |= self.emitter.is_full();
            return;
        }
        self.evaluator.notices.rule = rule;
        // Most rules over fixed fields hold for one kind of material: ask before doing anything.
        if rule_of.when_first
            && rule_of.each.is_none()
            && rule_of.group.is_none()
            && let Some(when) = &rule_of.when
        {
            let said = self.evaluator.notices.list.len();
            if self.evaluator.is_true(when, frame, &[]) != Some(true) {
                self.evaluator.notices.list.truncate(said);
                self.evaluator.silent.clear();
                return;
            }
        }
        self.emitter.begin(rule, frame.field);
        let mut number = 0;
        // Each solution may read all subfields again: a field with very many gets few of them,
        // so that no record takes longer than its size allows. The rest goes to the fallback.
        let most = (MOST_READINGS / frame.subs.len().max(1)).max(100);
        let view = self.evaluator.view;
        match &rule_of.group {
            None => self.piece(rule, rule_of, frame, made, keep, most, &mut number),
            Some(code) => {
                for piece in pieces(view, &frame.subs, code) {
                    if number >= most {
                        self.emitter.cut = true;
                        break;
                    }
                    let frame = Frame { subs: piece, ..frame.clone() };
                    self.piece(rule, rule_of, &frame, made, keep, most, &mut number);
                }
            }
        }
        self.emitter.end();
    }

    /// The solutions of a field, or of one piece of it.
    #[expect(clippy::too_many_arguments, reason = "all that solutions need")]
    fn piece(
        &mut self,
        rule: usize,
        rule_of: &'a Rule,
        frame: &Frame<'a>,
        made: &[Made],
        keep: bool,
        most: usize,
        number: &mut usize,
    ) {
        match &rule_of.each {
            None => {
                self.solution(rule, rule_of, frame, None, *number, made, keep);
                *number += 1;
            }
            Some(Each::Codes(codes)) => {
                let mut frame = frame.clone();
                frame.number = 0;
                for sub in self.evaluator.view.subs(&frame.subs) {
                    if sub.code.len() == 1 && codes.contains(sub.code) {
                        if *number >= most {
                            self.emitter.cut = true;
                            break;
                        }
                        frame.iterated = Some(*sub);
                        frame.number += 1;
                        self.solution(rule, rule_of, &frame, None, *number, made, keep);
                        *number += 1;
                    }
                }
            }
            Some(Each::List { slot, list }) => {
                self.evaluator.touches.clear();
                let mut members = Slot::new();
                self.evaluator.list(list, frame, &[], &mut members);
                let touches = std::mem::take(&mut self.evaluator.touches);
                for member in members.into_iter().flatten() {
                    if *number >= most {
                        self.emitter.cut = true;
                        break;
                    }
                    self.evaluator.touches.clear();
                    let (start, count) = member.touches;
                    let read = touches.get(start as usize..(start + count) as usize).unwrap_or_default();
                    self.evaluator.touches.extend_from_slice(read);
                    let bound = eval::Bound { value: member.value, touches: (0, count) };
                    self.solution(rule, rule_of, frame, Some((*slot, bound)), *number, made, keep);
                    *number += 1;
                }
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a solution is all of this")]
    fn solution(
        &mut self,
        rule: usize,
        rule_of: &'a Rule,
        frame: &Frame<'a>,
        member: Option<(usize, eval::Bound<'a>)>,
        number: usize,
        made: &[Made],
        keep: bool,
    ) {
        if self.emitter.is_full() {
            self.emitter.cut = true;
            return;
        }
        let mut slots = std::mem::take(&mut self.slots);
        // The rooms of the solution before are used again.
        slots.iter_mut().take(rule_of.slots).for_each(Slot::clear);
        if slots.len() < rule_of.slots {
            slots.resize_with(rule_of.slots, Slot::new);
        }
        match member {
            Some((slot, bound)) => {
                if let Some(slot) = slots.get_mut(slot) {
                    slot.push(Some(bound));
                }
            }
            None => self.evaluator.touches.clear(),
        }
        let said = self.evaluator.notices.list.len();
        for step in &rule_of.steps {
            match step {
                Step::Values { slot, list, needs } => {
                    if !needs.is_met_by(frame.codes) {
                        continue;
                    }
                    let mut values = slots.get_mut(*slot).map(std::mem::take).unwrap_or_default();
                    self.evaluator.list(list, frame, &slots, &mut values);
                    if let Some(slot) = slots.get_mut(*slot) {
                        *slot = values;
                    }
                }
                Step::Bind { slot, expr, along: None, needs } => {
                    let bound = if needs.is_met_by(frame.codes) {
                        self.evaluator.bound(expr, frame, &slots)
                    } else {
                        None
                    };
                    if let Some(slot) = slots.get_mut(*slot) {
                        slot.push(bound);
                    }
                }
                Step::Bind { slot, expr, along: Some(list), .. } => {
                    let members = slots.get(*list).map_or(0, |values| values.len());
                    if members == 0 {
                        continue;
                    }
                    let mut frame = frame.clone();
                    let mut values = slots.get_mut(*slot).map(std::mem::take).unwrap_or_default();
                    for element in 0..members {
                        frame.element = element;
                        values.push(self.evaluator.bound(expr, &frame, &slots));
                    }
                    if let Some(slot) = slots.get_mut(*slot) {
                        *slot = values;
                    }
                }
            }
        }
        if let Some(when) = &rule_of.when
            && self.evaluator.is_true(when, frame, &slots) != Some(true)
        {
            // What its names could not do does not matter.
            self.evaluator.notices.list.truncate(said);
            self.evaluator.silent.clear();
            self.slots = slots;
            return;
        }
        for touch in self.evaluator.silent.drain(..) {
            self.emitter.ignore(touch.item, touch.positions, None);
        }
        self.reuse.clear();
        if let Some(made) = made.iter().find(|made| made.rule == rule && made.solution == number) {
            self.reuse.extend(made.nodes.iter().cloned());
        }
        let nodes = self.emitter.emit(rule_of, frame, &slots, &self.evaluator, &self.reuse);
        self.slots = slots;
        if keep {
            self.nodes.push(Made { rule, solution: number, nodes });
        }
    }
}

/// The parts of a field, each of which begins with one of some codes; `a+` counts a run of
/// `$a` as one.
fn pieces(view: &View<'_>, subs: &Range<usize>, code: &str) -> SmallVec<[Range<usize>; 4]> {
    let (code, runs) = code.strip_suffix('+').map_or((code, false), |code| (code, true));
    let mut pieces = SmallVec::new();
    let mut start = subs.start;
    let (mut seen, mut before) = (false, false);
    for index in subs.clone() {
        let is_code = view.subs.get(index).is_some_and(|sub| code.contains(sub.code));
        if is_code && seen && !(runs && before) {
            pieces.push(start..index);
            start = index;
        }
        seen |= is_code;
        before = is_code;
    }
    pieces.push(start..subs.end);
    pieces
}

/// Sixteen digits.
pub(super) fn push_hex(number: u64, out: &mut String) {
    let digit = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' - 10 + nibble };
    let digits: [u8; 16] = std::array::from_fn(|at| digit((number >> (60 - at * 4)) as u8 & 15));
    out.push_str(std::str::from_utf8(&digits).unwrap_or_default());
}
