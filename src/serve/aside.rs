//! Work that waits for disks, on threads of its own: few at a time, none for longer than it may, and
//! none for a client that has hung up.

use super::service::Refusal;
use crate::effort::Effort;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// When to come back, in seconds, if there was no room.
const RETRY_AFTER: u32 = 1;

/// Room for some work at a time.
#[derive(Debug, Clone)]
pub struct Aside {
    slots: Arc<Semaphore>,
    time: Duration,
}

impl Aside {
    /// As much at once as the processors can do and the disks can be asked for; each for some time,
    /// waiting included.
    pub fn new(time: Duration) -> Self {
        let processors = std::thread::available_parallelism().map_or(2, usize::from);
        Self::with_slots(2 * processors + 2, time)
    }

    fn with_slots(slots: usize, time: Duration) -> Self {
        Self { slots: Arc::new(Semaphore::new(slots)), time }
    }

    /// Does some work, which asks its effort between its steps. When the future is dropped, the
    /// effort is over; the slot is free when the work has really ended.
    pub async fn run<T, E>(&self, work: impl FnOnce(&Effort) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Refusal> + Send + 'static,
    {
        let effort = Effort::within(self.time);
        let _waiter = effort.waiter();
        let busy = || E::from(Refusal::Busy { retry_after: RETRY_AFTER });
        // Who waits half of the time for room is not answered in the other half, either.
        let slot = timeout(self.time / 2, Arc::clone(&self.slots).acquire_owned()).await;
        let slot = slot.map_err(|_| busy())?.map_err(|_| busy())?;
        let done = spawn_blocking(move || {
            let _slot = slot;
            work(&effort)
        });
        done.await.unwrap_or_else(|error| Err(Refusal::Io(error.to_string()).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effort::Spent;
    use std::sync::mpsc;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn work_ends_when_nobody_waits_for_it() {
        let aside = Aside::with_slots(1, Duration::from_secs(3600));
        let (begun, is_begun) = oneshot::channel();
        let (end, ended) = mpsc::channel();
        let running = aside.run(move |effort| {
            let _ = begun.send(());
            let mut steps = 0_u64;
            while effort.check().is_ok() {
                steps += 1;
            }
            let _ = end.send((steps, effort.check()));
            Ok::<_, Refusal>(())
        });
        tokio::select! {
            _ = running => panic!("it goes on for as long as somebody waits"),
            begun = is_begun => begun.expect("it has begun"),
        }
        // The only slot is free again when the work has ended.
        assert_eq!(aside.run(|_| Ok::<_, Refusal>(7)).await, Ok(7));
        assert!(matches!(ended.try_recv(), Ok((_, Err(Spent::GivenUp)))));
    }

    #[tokio::test]
    async fn who_finds_no_room_is_told_to_come_back() {
        let aside = Aside::with_slots(1, Duration::from_millis(20));
        let (release, released) = mpsc::channel::<()>();
        let first = tokio::spawn({
            let aside = aside.clone();
            async move { aside.run(move |_| Ok::<_, Refusal>(released.recv().is_err())).await }
        });
        while aside.slots.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(aside.run(|_| Ok::<_, Refusal>(())).await, Err(Refusal::Busy { retry_after: 1 }));
        drop(release);
        assert_eq!(first.await.expect("a task"), Ok(true));
    }
}
