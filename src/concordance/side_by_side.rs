//! Work on several things at once, on threads of its own.
//!
//! Rules are compiled when the first record of their model is mapped, which happens inside a
//! task of `rayon`. A task that waits there may be given another that needs the same rules, and
//! would wait for itself; plain threads cannot be given other work.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What `work` makes of each item, in the order of the items.
pub(super) fn side_by_side<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    if threads < 2 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    let go_on = || {
        while let Some((index, item)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            items.get(index).map(|item| (index, item))
        } {
            let made = work(item);
            if let Ok(mut done) = done.lock() {
                done.push((index, made));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(go_on);
        }
        go_on();
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(side_by_side(&items, |item| item * 2), (0..200).step_by(2).collect::<Vec<_>>());
        assert_eq!(side_by_side(&[7], |item| item + 1), [8]);
    }
}
