//! How long a source may take over one page, all attempts and waits included.
//!
//! Every attempt has its time limit and every wait its longest, and their number is limited, too;
//! the sum of them all would still be hours where a server trickles each of its answers. One clock
//! bounds the sum. What the source is not to blame for does not count: the distance that politeness
//! keeps, and the wait that a server asks for itself (`Retry-After`), the latter up to the longest
//! wait in all. Whoever asked may excuse an answer, too: one that is good and brings nothing is no page,
//! so the clock goes on behind it, and no failure, so it takes nothing from it.

use super::access::Access;
use super::session::lock;
use std::sync::Mutex;
use std::time::Duration;

/// The time that a source has for one page. Times are those of the fetcher's clock.
#[derive(Debug)]
pub(super) struct Patience {
    begun: Duration,
    most: Duration,
    longest_wait: Duration,
    account: Mutex<Account>,
}

#[derive(Debug, Default)]
struct Account {
    /// Time that does not count.
    excused: Duration,
    /// Of that, what the server asked for.
    asked: Duration,
    /// What the last attempt took, if it was answered.
    answer: Duration,
    last: Option<Failure>,
}

/// When an attempt began, and how much was excused by then.
#[derive(Debug)]
pub(super) struct Attempt {
    begun: Duration,
    excused: Duration,
}

/// What went wrong last.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) url: String,
    pub(super) words: String,
}

impl Patience {
    pub(super) fn new(access: &Access, now: Duration) -> Self {
        let most = access.patience();
        Self { begun: now, most, longest_wait: access.retries.longest_wait, account: Mutex::default() }
    }

    /// What is left of it.
    pub(super) fn left(&self, now: Duration) -> Duration {
        let end = self.begun.saturating_add(self.most).saturating_add(lock(&self.account).excused);
        end.saturating_sub(now)
    }

    /// How long it has lasted, by all clocks.
    pub(super) fn lasted(&self, now: Duration) -> Duration {
        now.saturating_sub(self.begun)
    }

    /// Lets time pass out of politeness.
    pub(super) fn excuse(&self, time: Duration) {
        lock(&self.account).excused += time;
    }

    /// Lets the time pass that a server asks for, as far as that goes.
    pub(super) fn excuse_asked(&self, time: Duration) {
        let mut account = lock(&self.account);
        let time = time.min(self.longest_wait.saturating_sub(account.asked));
        account.asked += time;
        account.excused += time;
    }

    /// An attempt begins. To be handed to [`answered`](Self::answered).
    pub(super) fn attempt(&self, now: Duration) -> Attempt {
        Attempt { begun: now, excused: lock(&self.account).excused }
    }

    /// An attempt was answered.
    pub(super) fn answered(&self, attempt: &Attempt, now: Duration) {
        let mut account = lock(&self.account);
        let excused = account.excused.saturating_sub(attempt.excused);
        account.answer = now.saturating_sub(attempt.begun).saturating_sub(excused);
    }

    /// Gives back what the last answer took.
    pub(super) fn excuse_answer(&self) {
        let mut account = lock(&self.account);
        let answer = std::mem::take(&mut account.answer);
        account.excused += answer;
    }

    pub(super) fn note(&self, failure: Failure) {
        let mut account = lock(&self.account);
        account.answer = Duration::ZERO;
        account.last = Some(failure);
    }

    pub(super) fn last(&self) -> Option<Failure> {
        lock(&self.account).last.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn what_a_source_is_not_to_blame_for_does_not_count() {
        let mut access = Access::default();
        access.retries.patience = Some(100 * SECOND);
        access.retries.longest_wait = 50 * SECOND;
        let patience = Patience::new(&access, 5 * SECOND);
        assert_eq!(patience.left(25 * SECOND), 80 * SECOND);
        patience.excuse(10 * SECOND);
        assert_eq!(patience.left(25 * SECOND), 90 * SECOND);
        patience.excuse_asked(40 * SECOND);
        patience.excuse_asked(40 * SECOND);
        assert_eq!(patience.left(25 * SECOND), 140 * SECOND, "the longest wait is all that can be asked for");
        assert_eq!(patience.left(1000 * SECOND), Duration::ZERO);
        assert_eq!(patience.lasted(25 * SECOND), 20 * SECOND);
    }

    #[test]
    fn an_answer_can_be_excused_once_and_a_failure_cannot() {
        let mut access = Access::default();
        access.retries.patience = Some(100 * SECOND);
        let patience = Patience::new(&access, Duration::ZERO);
        let attempt = patience.attempt(20 * SECOND);
        patience.excuse(5 * SECOND);
        patience.answered(&attempt, 50 * SECOND);
        patience.excuse_answer();
        patience.excuse_answer();
        assert_eq!(patience.left(50 * SECOND), 80 * SECOND);
        patience.answered(&patience.attempt(20 * SECOND), 50 * SECOND);
        patience.note(Failure { url: String::new(), words: String::new() });
        patience.excuse_answer();
        assert_eq!(patience.left(50 * SECOND), 80 * SECOND);
    }

    #[test]
    fn patience_follows_the_time_limit_of_an_attempt() {
        let mut access = Access::default();
        assert_eq!(access.patience(), 900 * SECOND);
        access.timeouts.total = 2 * SECOND;
        assert_eq!(access.patience(), 60 * SECOND);
        access.retries.patience = Some(SECOND);
        assert_eq!(access.patience(), SECOND);
    }
}
