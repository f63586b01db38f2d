//! Who goes first: quick queries at once, heavy ones beside them, the rest in a queue.

use super::frame::{Failure, Terms};
use super::glance::Glance;
use super::process::{Handle, Outcome, Worker};
use super::{Limits, Question, Refusal, Reply, Settings, TooLarge};
use crate::catalogue::{guard, snapshot};
use std::io;
use std::pin::{Pin, pin};
use std::process::Child;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::runtime;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout_at};

/// For how many times half the quick time a query may be kept from running.
const PATIENCE: usize = 32;
/// How often the memory of a heavy query is looked at.
const WATCH: Duration = Duration::from_millis(50);
/// How often workers without work look for a new snapshot.
const FOLLOW: Duration = Duration::from_secs(1);
/// How long to wait before a worker is started again that could not be started.
const RESTART: Duration = Duration::from_millis(200);
/// How often a question is asked again for which a worker or a snapshot had just gone away.
const TRIES: usize = 4;

/// Answers queries in other processes.
pub struct Pool {
    inner: Arc<Inner>,
}

/// What is going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Workers without a question.
    pub idle: usize,
    /// Heavy queries that are being answered.
    pub heavy: usize,
    /// Queries that ask other endpoints and are being answered.
    pub federated: usize,
    /// Queries of both kinds that wait for a slot.
    pub queued: usize,
    /// Queries that wait for a worker.
    pub waiting: usize,
    /// Workers that were stopped, replaced or died, since the pool was made.
    pub ended: u64,
    /// Queries that were answered without a worker, since then.
    pub glances: u64,
}

impl Pool {
    /// Starts the workers. To be called inside a Tokio runtime, on which the pool lives.
    pub fn new(settings: Settings) -> io::Result<Self> {
        let (undertaker, dead) = mpsc::channel::<Child>();
        let ended = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&ended);
        std::thread::Builder::new().name("undertaker".to_owned()).spawn(move || {
            for mut child in dead {
                let _ = child.wait();
                counted.fetch_add(1, Relaxed);
            }
        })?;
        let runtime = runtime::Handle::current();
        let inner = Arc::new_cyclic(|me| Inner {
            ready: Semaphore::new(0),
            idle: Mutex::default(),
            waiting: AtomicUsize::new(0),
            heavy: Slots::new(settings.heavy),
            federated: Slots::new(settings.federated),
            spare: Mutex::default(),
            glance: Glance::new(settings.directory.clone(), settings.glance_time),
            settings,
            undertaker,
            ended,
            runtime,
            me: me.clone(),
        });
        for _ in 0..inner.settings.quick {
            inner.replace();
        }
        inner.runtime.spawn(follow(Arc::downgrade(&inner)));
        Ok(Self { inner })
    }

    /// Answers a question, whole or not at all. When the future is dropped, the query ends.
    pub async fn ask(&self, question: &Question) -> Result<Reply, Refusal> {
        let federates = self.inner.admit(&question.text)?;
        let limits = question.limits.unwrap_or(self.inner.settings.limits);
        if !federates && let Some(reply) = self.inner.glance.answer(question, &limits) {
            return Ok(reply);
        }
        // Waiting counts: who asks is answered in this time, one way or the other.
        let deadline = Instant::now() + limits.time;
        for attempt in 1..=TRIES {
            let (snapshot, outcome) = if federates {
                // It must not be stopped and begin anew: others would be asked twice.
                self.inner.queue(question, &limits, deadline, true).await?
            } else {
                self.inner.answer(question, &limits, deadline).await?
            };
            return Err(match outcome {
                Outcome::Answered { body, rows, union, media_type } => {
                    return Ok(Reply { media_type, body, rows, snapshot, union });
                }
                Outcome::Failed(Failure::Gone, _) => continue,
                // It may have been dying when it was asked; a query that kills does so again.
                Outcome::Died if attempt == 1 => continue,
                Outcome::Failed(Failure::Malformed, message) => Refusal::Malformed(message),
                Outcome::Failed(Failure::Forbidden, message) => Refusal::Forbidden(message),
                Outcome::Failed(Failure::Elsewhere, message) => Refusal::Elsewhere(message),
                Outcome::Failed(Failure::TooLarge, message) => Refusal::TooLarge(TooLarge::Query(message)),
                Outcome::Failed(Failure::TooManyRows, _) => Refusal::TooLarge(TooLarge::Rows(limits.rows)),
                Outcome::Failed(Failure::TooManyBytes, _) => Refusal::TooLarge(TooLarge::Bytes(limits.bytes)),
                Outcome::Failed(Failure::Other, message) => Refusal::Failed(message),
                Outcome::OutOfMemory => Refusal::OutOfMemory(limits.memory),
                Outcome::Died => Refusal::Died,
            });
        }
        Err(self.inner.heavy.busy())
    }

    pub fn counts(&self) -> Counts {
        let inner = &self.inner;
        Counts {
            idle: locked(&inner.idle).len(),
            heavy: inner.heavy.taken(),
            federated: inner.federated.taken(),
            queued: inner.queued(),
            waiting: inner.waiting.load(Relaxed),
            ended: inner.ended.load(Relaxed),
            glances: inner.glance.answered(),
        }
    }
}

struct Inner {
    settings: Settings,
    /// As many permits as there are workers in `idle`.
    ready: Semaphore,
    idle: Mutex<Vec<Worker>>,
    waiting: AtomicUsize,
    heavy: Slots,
    /// For those who ask other endpoints. Mostly they wait, and must not do so in the place of one
    /// that has work to do.
    federated: Slots,
    /// Workers of low priority, for those who queued.
    spare: Mutex<Vec<Worker>>,
    glance: Glance,
    undertaker: Sender<Child>,
    ended: Arc<AtomicU64>,
    runtime: runtime::Handle,
    me: Weak<Self>,
}

/// Where queries of one kind take long, and who waits for that.
struct Slots {
    free: Semaphore,
    all: usize,
    queued: AtomicUsize,
    /// How long they took lately, in milliseconds.
    mean: AtomicU64,
}

impl Slots {
    fn new(all: usize) -> Self {
        Self { free: Semaphore::new(all), all, queued: AtomicUsize::new(0), mean: AtomicU64::new(0) }
    }

    fn taken(&self) -> usize {
        self.all.saturating_sub(self.free.available_permits())
    }

    /// Waits until a query ends or is at a limit. Who drops its worker then kills it.
    async fn watch<F: Future>(
        &self,
        mut receiving: Pin<&mut F>,
        handle: Handle,
        limits: &Limits,
        deadline: Instant,
    ) -> Result<F::Output, Refusal> {
        let began = Instant::now();
        let ended = loop {
            let now = Instant::now();
            if now >= deadline {
                break Err(Refusal::TimedOut(limits.time));
            }
            if handle.memory() > limits.memory {
                break Err(Refusal::OutOfMemory(limits.memory));
            }
            if let Ok(ended) = timeout_at(deadline.min(now + WATCH), receiving.as_mut()).await {
                break Ok(ended);
            }
        };
        let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mean = self.mean.load(Relaxed);
        self.mean.store(mean - mean / 8 + took / 8, Relaxed);
        ended
    }

    fn busy(&self) -> Refusal {
        let ahead = self.queued.load(Relaxed) as u64 + 1;
        let each = self.mean.load(Relaxed) / self.all.max(1) as u64;
        let seconds = (ahead * each).div_ceil(1000).max(1);
        Refusal::Busy { retry_after: Duration::from_secs(seconds) }
    }
}

/// How far a query came in its quick time.
enum First {
    Ended(io::Result<Outcome>),
    /// It took longer, in a heavy slot.
    Heavy(Result<io::Result<Outcome>, Refusal>),
    /// It takes longer, and there is no heavy slot.
    Queue,
}

impl Inner {
    /// Lets a text pass; says whether it asks other endpoints.
    fn admit(&self, text: &str) -> Result<bool, Refusal> {
        if self.settings.federated > 0 {
            return Ok(guard::check_federated(text)?);
        }
        guard::check(text).map(|()| false).map_err(|refused| match refused {
            guard::Refusal::Forbidden(word) if word == guard::SERVICE => Refusal::Forbidden(format!(
                "{refused}; `endpoints` in `[federation]` of `pinakes.toml` says which servers may be asked"
            )),
            refused => refused.into(),
        })
    }

    /// Answers on the snapshot that is current when the query begins; says which.
    async fn answer(
        &self,
        question: &Question,
        limits: &Limits,
        deadline: Instant,
    ) -> Result<(u64, Outcome), Refusal> {
        // Who waits half of the time for somebody to ask is not answered in the other half, either.
        let (snapshot, mut engaged) = self.begin(question, limits, deadline - limits.time / 2).await?;
        let Some(worker) = &mut engaged.worker else { return Err(Refusal::Died) };
        let handle = worker.handle();
        let first = {
            let mut receiving = pin!(worker.receive(&self.settings.spool));
            match self.quickly(receiving.as_mut(), handle, deadline).await {
                Some(ended) => First::Ended(ended),
                None => match self.heavy.free.try_acquire() {
                    Ok(_slot) => {
                        engaged.is_quick = false;
                        self.replace();
                        handle.step_back();
                        First::Heavy(self.heavy.watch(receiving, handle, limits, deadline).await)
                    }
                    Err(_) => First::Queue,
                },
            }
        };
        match first {
            First::Ended(outcome) => {
                let outcome = outcome?;
                engaged.release(&outcome);
                Ok((snapshot, outcome))
            }
            First::Heavy(outcome) => {
                let outcome = alive(outcome??, limits)?;
                self.keep_spare(engaged.worker.take());
                Ok((snapshot, outcome))
            }
            First::Queue => {
                drop(engaged);
                self.queue(question, limits, deadline, false).await
            }
        }
    }

    /// Waits for the quick time; `None` when the query takes longer. Where the processors are busy
    /// with something else a quick query takes long, too, so it is left alone while it does not get
    /// to run.
    async fn quickly<F: Future>(
        &self,
        mut receiving: Pin<&mut F>,
        handle: Handle,
        deadline: Instant,
    ) -> Option<F::Output> {
        let slice = self.settings.quick_time / 2;
        let mut before = None;
        for _ in 0..PATIENCE {
            let end = deadline.min(Instant::now() + slice);
            if let Ok(ended) = timeout_at(end, receiving.as_mut()).await {
                return Some(ended);
            }
            let used = handle.processor_time();
            if used.saturating_sub(*before.get_or_insert(used)) >= slice / 2 || end == deadline {
                break;
            }
        }
        None
    }

    /// Hands the question to the next idle worker.
    async fn begin(
        &self,
        question: &Question,
        limits: &Limits,
        deadline: Instant,
    ) -> Result<(u64, Engaged<'_>), Refusal> {
        let mut fault = None;
        for _ in 0..TRIES {
            let mut engaged = self.engage(deadline).await?;
            let snapshot = self.current()?;
            let Some(worker) = &mut engaged.worker else { continue };
            let (rows, bytes, memory) = (limits.rows, limits.bytes, limits.memory);
            let terms = Terms { snapshot, rows, bytes, memory, elsewhere: None };
            match worker.send(question, &terms).await {
                Ok(()) => return Ok((snapshot, engaged)),
                // It died while it had nothing to do; another takes the question.
                Err(error) => fault = Some(error),
            }
        }
        Err(fault.map_or(Refusal::Died, Refusal::Io))
    }

    async fn engage(&self, deadline: Instant) -> Result<Engaged<'_>, Refusal> {
        let permit = match self.ready.try_acquire() {
            Ok(permit) => permit,
            Err(_) => {
                let busy = || self.heavy.busy();
                let _place = Place::take(&self.waiting, self.settings.waiting).ok_or_else(busy)?;
                turn(&self.ready, deadline).await.ok_or_else(busy)?
            }
        };
        permit.forget();
        Ok(Engaged { worker: locked(&self.idle).pop(), is_quick: true, pool: self })
    }

    /// Waits for a slot and answers there from the start.
    async fn queue(
        &self,
        question: &Question,
        limits: &Limits,
        deadline: Instant,
        federates: bool,
    ) -> Result<(u64, Outcome), Refusal> {
        let slots = if federates { &self.federated } else { &self.heavy };
        let busy = || slots.busy();
        let place = Place::take(&slots.queued, self.settings.queue).ok_or_else(busy)?;
        // Half the time to wait, so that who gets a slot has half of it to run.
        let _slot = turn(&slots.free, deadline - limits.time / 2).await.ok_or_else(busy)?;
        drop(place);
        let snapshot = self.current()?;
        let spare = locked(&self.spare).pop();
        let mut worker = match spare {
            Some(worker) => worker,
            None => timeout_at(deadline, self.start()).await.map_err(|_| busy())??,
        };
        let handle = worker.handle();
        handle.step_back();
        let elsewhere = federates.then(|| deadline.saturating_duration_since(Instant::now()));
        let (rows, bytes, memory) = (limits.rows, limits.bytes, limits.memory);
        let terms = Terms { snapshot, rows, bytes, memory, elsewhere };
        worker.send(question, &terms).await?;
        let outcome = {
            let receiving = pin!(worker.receive(&self.settings.spool));
            alive(slots.watch(receiving, handle, limits, deadline).await??, limits)?
        };
        self.keep_spare(Some(worker));
        Ok((snapshot, outcome))
    }

    /// A worker of low priority is of use to those who queue; it must not bring much along.
    fn keep_spare(&self, worker: Option<Worker>) {
        let small = self.settings.limits.memory / 4;
        if let Some(worker) = worker
            && self.queued() > 0
            && worker.handle().memory() < small
        {
            locked(&self.spare).push(worker);
        }
    }

    fn queued(&self) -> usize {
        self.heavy.queued.load(Relaxed) + self.federated.queued.load(Relaxed)
    }

    fn current(&self) -> Result<u64, Refusal> {
        snapshot::current(&self.settings.directory).ok_or(Refusal::Unpublished)
    }

    async fn start(&self) -> io::Result<Worker> {
        let current = snapshot::current(&self.settings.directory);
        Worker::start(&self.settings, current, self.undertaker.clone()).await
    }

    fn release(&self, worker: Worker) {
        locked(&self.idle).push(worker);
        self.ready.add_permits(1);
    }

    /// Starts a worker in the place of one that is lost.
    fn replace(&self) {
        let pool = self.me.clone();
        self.runtime.spawn(async move {
            while let Some(pool) = pool.upgrade() {
                match pool.start().await {
                    Ok(worker) => return pool.release(worker),
                    Err(error) => tracing::warn!("a query worker could not be started: {error}"),
                }
                drop(pool);
                sleep(RESTART).await;
            }
        });
    }

    /// Has the workers without work open the newest snapshot, so that older ones can go.
    async fn move_on(&self) {
        let Some(current) = snapshot::current(&self.settings.directory) else { return };
        locked(&self.spare).retain(|worker| worker.snapshot() == Some(current));
        while let Ok(permit) = self.ready.try_acquire() {
            let stale = {
                let mut idle = locked(&self.idle);
                let place = idle.iter().position(|worker| worker.snapshot() != Some(current));
                place.map(|place| idle.remove(place))
            };
            let Some(worker) = stale else { return };
            permit.forget();
            let mut engaged = Engaged { worker: Some(worker), is_quick: true, pool: self };
            let Some(worker) = &mut engaged.worker else { return };
            if worker.open(current, &self.settings.spool).await.is_err() {
                return;
            }
            engaged.put_back();
        }
    }
}

/// Waits for a permit, though not for ever.
async fn turn(semaphore: &Semaphore, deadline: Instant) -> Option<SemaphorePermit<'_>> {
    timeout_at(deadline, semaphore.acquire()).await.ok()?.ok()
}

/// A heavy query is not asked again if its worker died.
fn alive(outcome: Outcome, limits: &Limits) -> Result<Outcome, Refusal> {
    match outcome {
        Outcome::Died => Err(Refusal::Died),
        Outcome::OutOfMemory => Err(Refusal::OutOfMemory(limits.memory)),
        outcome => Ok(outcome),
    }
}

async fn follow(pool: Weak<Inner>) {
    loop {
        let Some(pool) = pool.upgrade() else { return };
        let glancing = Arc::clone(&pool);
        // Opening takes a moment; who glances meanwhile goes to a worker.
        let opened = spawn_blocking(move || glancing.glance.move_on()).await;
        if let Err(error) = opened {
            tracing::warn!("a snapshot could not be opened: {error}");
        }
        pool.move_on().await;
        drop(pool);
        sleep(FOLLOW).await;
    }
}

/// A worker with a question. Dropped without an answer, it is killed and another started.
struct Engaged<'a> {
    worker: Option<Worker>,
    /// Its place is still its own.
    is_quick: bool,
    pool: &'a Inner,
}

impl Engaged<'_> {
    fn release(mut self, outcome: &Outcome) {
        if !matches!(outcome, Outcome::Died | Outcome::OutOfMemory) {
            self.put_back();
        }
    }

    fn put_back(&mut self) {
        if let Some(worker) = self.worker.take() {
            self.is_quick = false;
            self.pool.release(worker);
        }
    }
}

impl Drop for Engaged<'_> {
    fn drop(&mut self) {
        if self.is_quick {
            self.pool.replace();
        }
    }
}

/// A place among few.
struct Place<'a>(&'a AtomicUsize);

impl<'a> Place<'a> {
    fn take(taken: &'a AtomicUsize, places: usize) -> Option<Self> {
        let next = |taken: usize| (taken < places).then_some(taken + 1);
        taken.fetch_update(Relaxed, Relaxed, next).ok().map(|_| Self(taken))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// A panic elsewhere leaves nothing half done in these lists.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
