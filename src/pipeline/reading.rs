//! Records of a file, read without a catalogue: for coverage and for trying rules.

use super::{PipelineError, Watch};
use crate::decode::{self, Input, InputError, Options, Piece};
use crate::diagnostic::Diagnostic;
use crate::record::{Format, Record};
use rayon::prelude::*;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Records decoded side by side.
const BATCH: usize = 2048;

/// Hands the records of a file over in batches, each with its number in the file, until the file
/// or the taker ends. What is wrong with the data is said to `watch`.
pub fn read_records(
    file: &Path,
    format: Option<Format>,
    watch: &mut dyn Watch,
    take: &mut dyn FnMut(Vec<(u64, Record)>) -> bool,
) -> Result<(), PipelineError> {
    let input = match Input::open(file, format) {
        Ok(input) => input,
        Err(InputError::Refused(diagnostic)) => {
            watch.diagnostic(&diagnostic);
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let stored = decode::stored_format(input.format);
    watch.begin(&format!("reading {}", input.name), input.size);
    let mut pieces = decode::split(input.reader, input.format, &input.name);
    let mut done = 0;
    loop {
        let mut batch = Vec::new();
        for piece in pieces.by_ref() {
            let unreadable = |source| InputError::Unreadable { name: input.name.clone(), source };
            match piece.map_err(unreadable)? {
                Piece::Record(payload, _) => batch.push(payload),
                Piece::Reject(payload, mut reason) => {
                    reason.place.number = Some(payload.number);
                    watch.diagnostic(&reason);
                }
            }
            if batch.len() >= BATCH {
                break;
            }
        }
        if batch.is_empty() {
            break;
        }
        let decoded: Vec<(u64, Option<Record>, Vec<Diagnostic>)> = batch
            .into_par_iter()
            .map(|payload| {
                let mut noticed = Vec::new();
                let record = decode::decode(&payload.bytes, stored, &Options::default(), &mut noticed);
                (payload.number, record, noticed)
            })
            .collect();
        let mut records = Vec::with_capacity(decoded.len());
        for (number, record, noticed) in decoded {
            for mut diagnostic in noticed {
                diagnostic.place.number = Some(number);
                watch.diagnostic(&diagnostic);
            }
            records.extend(record.map(|record| (number, record)));
        }
        done += records.len() as u64;
        watch.advance(input.position.load(Ordering::Relaxed), done);
        if !take(records) {
            break;
        }
    }
    watch.end();
    Ok(())
}
