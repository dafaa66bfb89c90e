//! How parts wait for each other, and give each other events.

use crate::network::Network;
use crate::run::outbox::Outbox;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How often a part looks whether the others have come before it sleeps: some ten microseconds, as long as
/// it takes to wake.
const SPINS: usize = 500;

/// What the parts of a run share.
pub(super) struct Exchange {
    parts: usize,
    /// What each part had for each other at the end of the last two periods: of every other period the
    /// same. A part that goes on writes for the next one, while others still read those of the last.
    mail: [Vec<Mutex<Outbox>>; 2],
    /// Parts that have come to the end of this period.
    arrived: AtomicUsize,
    /// Periods that all have come to the end of.
    periods: AtomicUsize,
    stopped: AtomicBool,
    /// Held where one of the last two changes, and by a part that is about to sleep.
    sleep: Mutex<()>,
    wake: Condvar,
}

/// The run has been stopped, or a part has failed.
pub(super) struct Stopped;

impl Exchange {
    pub(super) fn between(parts: usize) -> Self {
        let mail = || (0..parts * parts).map(|_| Mutex::default()).collect();
        Self {
            parts,
            mail: [mail(), mail()],
            arrived: AtomicUsize::new(0),
            periods: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            sleep: Mutex::new(()),
            wake: Condvar::new(),
        }
    }

    /// A part has come to the end of a period: gives it what the others have for it, when they are there too.
    pub(super) fn exchange(&self, network: &mut Network) -> Result<(), Stopped> {
        let period = self.periods.load(Ordering::Acquire);
        let (mail, number) = (&self.mail[period % 2], network.part.number() as usize);
        for (to, outbox) in network.part.outboxes.iter_mut().enumerate() {
            std::mem::swap(outbox, &mut lock(&mail[number * self.parts + to]));
        }
        self.wait_for_all(period)?;
        for from in 0..self.parts {
            let mut outbox = lock(&mail[from * self.parts + number]);
            outbox.empty_into(&mut network.wheel, &mut network.lost_acks);
        }
        Ok(())
    }

    fn wait_for_all(&self, period: usize) -> Result<(), Stopped> {
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.parts {
            self.arrived.store(0, Ordering::Relaxed);
            self.wake_all(|| self.periods.store(period + 1, Ordering::Release));
        }
        let waits = || self.periods.load(Ordering::Acquire) == period && !self.is_stopped();
        let mut looks = 0;
        while waits() && looks < SPINS {
            std::hint::spin_loop();
            looks += 1;
        }
        if waits() {
            let asleep = self.wake.wait_while(lock(&self.sleep), |()| waits());
            drop(asleep.unwrap_or_else(PoisonError::into_inner));
        }
        if self.is_stopped() { Err(Stopped) } else { Ok(()) }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// No part is to wait for another one any more.
    pub(super) fn stop(&self) {
        self.wake_all(|| self.stopped.store(true, Ordering::Relaxed));
    }

    fn wake_all(&self, change: impl FnOnce()) {
        let held = lock(&self.sleep);
        change();
        drop(held);
        self.wake.notify_all();
    }
}

/// What a part that panicked has left is of no use, but nobody waits for it either.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
