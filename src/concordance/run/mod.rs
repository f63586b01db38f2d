//! Rules over a record: which fire, what they make, what was carried.
//!
//! Pure: the same record and rules give the same statements in the same order, fields in record
//! order, for each field the rules in the order of their files.

mod emit;
mod eval;
mod value;
mod view;

pub use eval::apply_all;
pub use value::{Touch, Value, WHOLE};
pub use view::{FieldView, View};

use super::codes::CodeList;
use super::program::{Each, Ignored, Rule, Step};
use super::selector::{Alternative, Tag};
use crate::diagnostic::Code;
use emit::Emitter;
use eval::{Evaluator, Slot};
use oxrdf::Triple;
use rustc_hash::FxHashMap;
use std::ops::Range;
use value::positions;
use view::{Embedded, Sub, Twin};

/// A record gives no more statements than this.
const MOST_STATEMENTS: usize = 50_000;
/// Subfields that the solutions of one field may look at, all together.
const MOST_READINGS: usize = 20_000_000;
/// Nor more notices.
const MOST_NOTICES: usize = 100;

/// What the names of a record's things are made from.
pub struct RecordNames<'a> {
    /// The record's IRI.
    pub record: &'a str,
    /// The IRI of another record of the same source.
    pub of_source: &'a (dyn Fn(&str) -> String + Sync),
    /// The agency whose numbers are the source's own, as 003 says it.
    pub agency: Option<&'a str>,
}

/// Something a rule could not do with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub code: Code,
    pub message: String,
    /// `650`
    pub tag: String,
    /// The index of the rule.
    pub rule: usize,
    /// Its file, line and name.
    pub rule_place: Option<String>,
}

#[derive(Debug, Default)]
pub struct Notices {
    pub list: Vec<Notice>,
    rule: usize,
}

impl Notices {
    fn add(&mut self, code: Code, message: String, frame: &Frame<'_>) {
        if self.list.len() >= MOST_NOTICES {
            return;
        }
        let notice = Notice { code, message, tag: frame.tag.to_owned(), rule: self.rule, rule_place: None };
        if !self.list.contains(&notice) {
            self.list.push(notice);
        }
    }
}

/// What rules made of a record.
#[derive(Debug, Default)]
pub struct Outcome {
    pub triples: Vec<Triple>,
    /// For each item of the [`View`], the positions that reached a statement.
    pub carried: Vec<u64>,
    /// For each item, the positions left out on purpose,
    pub ignored: Vec<u64>,
    /// and which `ignore` of which rule says why.
    pub ignored_by: Vec<(u32, (usize, usize))>,
    /// Which rule made which statements from which field.
    pub fires: Vec<Fire>,
    pub reads: Vec<Touch>,
    pub notices: Vec<Notice>,
    /// More statements were due than a record may have.
    pub cut: bool,
}

/// A rule that made something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fire {
    pub rule: usize,
    /// The field's index; `None` for rules over the record or its leader.
    pub field: Option<usize>,
    /// The statements, also those made before by another.
    pub made: Vec<Statement>,
}

/// A statement of a fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement {
    /// Its position in [`Outcome::triples`].
    pub triple: u32,
    /// What was read for it: a part of [`Outcome::reads`], empty for a constant.
    pub reads: (u32, u32),
}

/// The field, or the part of it, that an expression looks at.
#[derive(Debug, Clone)]
pub struct Frame<'a> {
    pub field: Option<usize>,
    pub tag: &'a str,
    pub ind1: char,
    pub ind2: char,
    /// The value of `$text`.
    pub text: Option<&'a str>,
    pub text_item: u32,
    pub text_positions: u64,
    /// The position `$text` begins at.
    pub text_start: usize,
    /// The whole text, for `:at`.
    pub full_text: &'a str,
    pub subs: Range<usize>,
    pub outer: Option<&'a str>,
    /// Names nodes of this occurrence; none in rules over the record.
    pub occurrence: Option<u64>,
    /// The subfield `each` or a list stands at.
    pub iterated: Option<Sub<'a>>,
    pub number: i64,
    /// Which member of a list is meant.
    pub element: usize,
    /// The language and script texts are tagged with.
    pub language: Option<&'a str>,
    pub twin: bool,
}

/// The rules for one model, found by tag.
#[derive(Debug, Default)]
pub struct Table {
    /// Rules and alternatives for the tags 000 to 999.
    numeric: Vec<Vec<(usize, usize)>>,
    /// For every other field: those with a path, to be tried.
    others: Vec<(usize, usize)>,
    record: Vec<usize>,
    leader: Vec<(usize, usize)>,
    embedded: Vec<(usize, usize)>,
}

impl Table {
    pub fn new(rules: &[Rule]) -> Self {
        let mut table = Self { numeric: vec![Vec::new(); 1000], ..Self::default() };
        for (index, rule) in rules.iter().enumerate() {
            for (number, alternative) in rule.selector.alternatives.iter().enumerate() {
                let entry = (index, number);
                if alternative.embedded.is_some() {
                    table.embedded.push(entry);
                    continue;
                }
                match &alternative.tag {
                    Tag::Record => table.record.push(index),
                    Tag::Leader => table.leader.push(entry),
                    Tag::Path(_) => table.others.push(entry),
                    pattern => {
                        for (tag, rules) in table.numeric.iter_mut().enumerate() {
                            if pattern.matches(&format!("{tag:03}")) {
                                rules.push(entry);
                            }
                        }
                    }
                }
            }
        }
        table
    }

    fn for_tag(&self, tag: &str) -> &[(usize, usize)] {
        let number = if tag.len() == 3 { tag.parse::<usize>().ok() } else { None };
        match number.and_then(|number| self.numeric.get(number)) {
            Some(rules) => rules,
            None => &self.others,
        }
    }
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
    let mut runner = Runner {
        rules,
        evaluator: Evaluator {
            view,
            names,
            lists: rules.lists,
            touches: Vec::new(),
            notices: &mut notices,
            member: None,
            silent: Vec::new(),
            memory: FxHashMap::default(),
        },
        emitter: Emitter::new(view.items),
        nodes: Vec::new(),
        reuse: Vec::new(),
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
    nodes: Vec<Option<String>>,
}

struct Runner<'a, 'n, 'r> {
    rules: &'r Rules<'a>,
    evaluator: Evaluator<'a, 'n>,
    emitter: Emitter,
    /// What the field at hand made, when it has a twin.
    nodes: Vec<Made>,
    /// Names of nodes for the solution at hand.
    reuse: Vec<Option<String>>,
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
            frame.text = eval::slice(view.leader, &range);
            frame.text_positions = positions(&range);
            frame.text_start = range.start;
            frame.occurrence = None;
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
        for (rule, alternative) in self.rules.table.for_tag(field.tag) {
            let Some((rule_of, alternative)) = self.alternative(*rule, *alternative) else { continue };
            if !view.is_meant(index, alternative) {
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
                let text = eval::slice(field.text, range);
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
                    frame.text = eval::slice(sub.value, &range);
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
        let (Some(field), Some(named_after)) = (view.fields.get(twin.field), view.fields.get(named_after))
        else {
            return;
        };
        let language = self.language(view);
        for (rule, alternative) in self.rules.table.for_tag(twin.tag) {
            let Some((rule_of, alternative)) = self.alternative(*rule, *alternative) else { continue };
            let holds = |condition| view.holds(condition, field.ind1, field.ind2, view.subs(&field.subs));
            if alternative.tag.matches(twin.tag) && alternative.conditions.iter().all(holds) {
                let mut frame = field_frame(view, twin.field, field);
                frame.tag = twin.tag;
                frame.occurrence = Some(occurrence(view, named_after));
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
            _ => eval::slice(field("008")?.text, &(35..38))?,
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
        if rule_of.template.triples.is_empty() || self.emitter.len() >= MOST_STATEMENTS {
            self.emitter.cut |= self.emitter.len() >= MOST_STATEMENTS;
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
        let mut pieces: smallvec::SmallVec<[Range<usize>; 4]> = smallvec::SmallVec::new();
        match &rule_of.group {
            None => pieces.push(frame.subs.clone()),
            Some(code) => {
                // `a+`: a run of `$a` counts as one.
                let (code, runs) = code.strip_suffix('+').map_or((code.as_str(), false), |code| (code, true));
                let mut start = frame.subs.start;
                let (mut seen, mut before) = (false, false);
                for index in frame.subs.clone() {
                    let is_code = view.subs.get(index).is_some_and(|sub| code.contains(sub.code));
                    if is_code && seen && !(runs && before) {
                        pieces.push(start..index);
                        start = index;
                    }
                    seen |= is_code;
                    before = is_code;
                }
                pieces.push(start..frame.subs.end);
            }
        }
        for piece in pieces {
            if number >= most {
                self.emitter.cut = true;
                break;
            }
            let mut frame = frame.clone();
            frame.subs = piece;
            match &rule_of.each {
                None => {
                    self.solution(rule, rule_of, &frame, None, number, made, keep);
                    number += 1;
                }
                Some(Each::Codes(codes)) => {
                    let mut count = 0;
                    for index in frame.subs.clone() {
                        let Some(sub) = view.subs.get(index).copied() else { continue };
                        if sub.code.len() == 1 && codes.contains(sub.code) {
                            if number >= most {
                                self.emitter.cut = true;
                                break;
                            }
                            count += 1;
                            let frame = Frame { iterated: Some(sub), number: count, ..frame.clone() };
                            self.solution(rule, rule_of, &frame, None, number, made, keep);
                            number += 1;
                        }
                    }
                }
                Some(Each::List { slot, list }) => {
                    self.evaluator.touches.clear();
                    let members = self.evaluator.list(list, &frame, &[]);
                    let touches = std::mem::take(&mut self.evaluator.touches);
                    for member in members {
                        if number >= most {
                            self.emitter.cut = true;
                            break;
                        }
                        self.evaluator.touches.clear();
                        let (start, count) = member.touches;
                        let read = touches.get(start as usize..(start + count) as usize).unwrap_or_default();
                        self.evaluator.touches.extend_from_slice(read);
                        let bound = eval::Bound { value: member.value, touches: (0, count) };
                        self.solution(rule, rule_of, &frame, Some((*slot, bound)), number, made, keep);
                        number += 1;
                    }
                }
            }
        }
        self.emitter.end();
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
        if self.emitter.len() >= MOST_STATEMENTS {
            self.emitter.cut = true;
            return;
        }
        let mut slots = std::mem::take(&mut self.slots);
        slots.clear();
        slots.resize_with(rule_of.slots, Slot::new);
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
            let (slot, values): (usize, Slot<'a>) = match step {
                Step::Values { slot, list } => {
                    let members = self.evaluator.list(list, frame, &slots);
                    (*slot, members.into_iter().map(Some).collect())
                }
                Step::Bind { slot, expr, along: None } => {
                    (*slot, std::iter::once(self.evaluator.bound(expr, frame, &slots)).collect())
                }
                Step::Bind { slot, expr, along: Some(list) } => {
                    let members = slots.get(*list).map_or(0, |values| values.len());
                    let mut frame = frame.clone();
                    let mut values = Slot::new();
                    for element in 0..members {
                        frame.element = element;
                        values.push(self.evaluator.bound(expr, &frame, &slots));
                    }
                    (*slot, values)
                }
            };
            if let Some(slot) = slots.get_mut(slot) {
                *slot = values;
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

fn empty_frame<'a>(tag: &'a str, item: u32) -> Frame<'a> {
    Frame {
        field: None,
        tag,
        ind1: ' ',
        ind2: ' ',
        text: None,
        text_item: item,
        text_positions: WHOLE,
        text_start: 0,
        full_text: "",
        subs: 0..0,
        outer: None,
        occurrence: None,
        iterated: None,
        number: 0,
        element: 0,
        language: None,
        twin: false,
    }
}

fn field_frame<'a>(view: &View<'a>, index: usize, field: &'a FieldView<'a>) -> Frame<'a> {
    let mut frame = empty_frame(field.tag, field.item);
    frame.field = Some(index);
    frame.ind1 = field.ind1;
    frame.ind2 = field.ind2;
    frame.full_text = field.text;
    let text = if view.model.is_marc() { field.text } else { field.text.trim() };
    frame.text = (!text.trim().is_empty()).then_some(text);
    frame.subs = field.subs.clone();
    frame.occurrence = Some(occurrence(view, field));
    frame
}

/// A name for an occurrence of a field: its content, so that a field inserted before it changes
/// nothing.
fn occurrence(view: &View<'_>, field: &FieldView<'_>) -> u64 {
    let mut content = String::with_capacity(128);
    content.push_str(field.tag);
    content.push(field.ind1);
    content.push(field.ind2);
    content.push_str(field.text);
    for sub in view.subs(&field.subs) {
        content.push('\u{1f}');
        content.push_str(sub.code);
        content.push_str(sub.value);
    }
    xxhash_rust::xxh3::xxh3_64(content.as_bytes())
}

pub(super) fn push_hex(number: u64, out: &mut String) {
    for shift in (0..16).rev() {
        let digit = (number >> (shift * 4)) as u32 & 15;
        out.push(char::from_digit(digit, 16).unwrap_or('0'));
    }
}
