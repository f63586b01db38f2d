//! What goes back without rules: the control number, fixed fields put together, and fields that
//! no rule carried when the record came in.

use super::draft::Draft;
use super::graph::{RecordGraph, text};
use super::marc::Written;
use super::reverse::{Found, Reverse};
use crate::ontology::pin;
use crate::record::Model;

/// Fixed fields from their positions, and a control number where none was found.
pub fn control(graph: &RecordGraph, reverse: &Reverse<'_>, found: &mut Found) {
    for ((tag, subfield), positions) in std::mem::take(&mut found.fixed) {
        let draft = Draft { tag: tag.clone(), positions, ..Draft::default() };
        let leader = reverse.leader_text(found);
        let base = reverse.fields.base_of(&tag, &leader);
        found.fields.push(Written::fixed(&draft, base, subfield.as_deref()));
    }
    if !found.fields.iter().any(|field| field.tag == "001") {
        let id = graph.value(graph.record(), pin::IDENTIFIER).unwrap_or_default();
        found.fields.push(Written::control("001", id.to_owned()));
    }
}

/// Fields that were kept as they were, for a record that goes back into its own format.
pub fn unmapped(graph: &RecordGraph, model: Model, reverse: &Reverse<'_>, found: &mut Found) {
    if graph.value(graph.record(), pin::FORMAT) != Some(model.name()) {
        return;
    }
    let mut kept: Vec<(usize, Written)> = Vec::new();
    for (_, node) in graph.objects(graph.record(), pin::UNMAPPED) {
        let node = text(node);
        let (Some(tag), Some(value)) =
            (graph.value(node, pin::UNMAPPED_TAG), graph.value(node, pin::UNMAPPED_VALUE))
        else {
            continue;
        };
        let mut field = read(tag, value);
        // Links between scripts are made anew.
        field.subfields.retain(|(code, _)| code != "6");
        if tag == "LDR" || field.text.is_empty() && field.subfields.is_empty() {
            continue;
        }
        // A field that stood twice is one node with two places.
        for (_, order) in graph.objects(node, pin::UNMAPPED_ORDER) {
            kept.push((text(order).parse().unwrap_or(0), field.clone()));
        }
    }
    // A fixed field is kept whole when one of its positions says more than the rules carry.
    kept.sort_by_key(|(order, _)| *order);
    for (_, written) in kept {
        let mut alike = found.fields.iter_mut().filter(|field| field.tag == written.tag);
        let single = reverse.fields.is_single(&written.tag);
        match (alike.next(), alike.next()) {
            // What is left of a field whose other subfields were carried goes back to it.
            (Some(field), None) if single && !written.subfields.is_empty() => {
                let fixed = !reverse.fields.base(&field.tag).is_empty();
                for (code, value) in written.subfields {
                    match field.subfields.iter_mut().find(|(known, _)| fixed && *known == code) {
                        Some((_, known)) => *known = value,
                        None => field.subfields.push((code, value)),
                    }
                }
            }
            (Some(field), _) if written.subfields.is_empty() && field.subfields.is_empty() && single => {
                field.text = written.text;
            }
            _ => found.fields.push(written),
        }
    }
}

/// Reads `10 $a Walden : $b or, Life in the woods`, or the text of a control field.
fn read(tag: &str, value: &str) -> Written {
    let mut written = Written::control(tag, String::new());
    written.occurrence = usize::MAX;
    let mut chars = value.chars();
    let (first, second) = (chars.next(), chars.next());
    let rest = chars.as_str();
    let (Some(first), Some(second), true) = (first, second, rest.starts_with(" $")) else {
        written.text = value.to_owned();
        return written;
    };
    let blank = |c: char| if c == '#' { ' ' } else { c };
    written.indicators = [blank(first), blank(second)];
    for piece in pieces(rest) {
        let (code, value) = piece.split_once(' ').unwrap_or((piece, ""));
        written.subfields.push((code.to_owned(), value.to_owned()));
    }
    written
}

/// Cuts before each ` $x `, as the notation is written.
fn pieces(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let starts: Vec<usize> = text
        .match_indices(" $")
        .map(|(at, _)| at)
        .filter(|at| {
            bytes.get(at + 2).is_some_and(u8::is_ascii_alphanumeric) && bytes.get(at + 3) == Some(&b' ')
        })
        .collect();
    let mut found = Vec::new();
    for (index, start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(text.len());
        found.extend(text.get(start + 2..end));
    }
    found
}
