//! COBALT's law as Linux has it (`sch_cake.c`): CoDel without its state of grace, and BLUE beside it.
//!
//! `drop_next` is the time of the next signal while the delay is above the target, of the next step
//! back while it is below, and how long a queue at rest counts as active.

use crate::queue::QueuedPacket;
use crate::rng::RandomStream;
use crate::time::Picos;

/// What BLUE's probability of a drop gains by an overflow, in units of 2^-32: 1/256.
const INCREMENT: u32 = 1 << 24;
/// What it loses when a queue runs empty: 1/4096.
const DECREMENT: u32 = 1 << 20;

/// What the law aims at.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue) struct Setpoint {
    pub target: Picos,
    pub interval: Picos,
    /// Time of the largest packet; 0 where the rate is not known.
    pub mtu_time: Picos,
    pub ecn: bool,
}

impl Setpoint {
    /// No shorter than a slow wire allows (`cake_set_rate`).
    pub fn scaled(target: Picos, interval: Picos, mtu_time: Picos, ecn: bool) -> Self {
        let least = target.max(mtu_time.saturating_mul(3) / 2);
        let interval = interval.saturating_add(least - target).max(least.saturating_mul(2));
        Self { target: least, interval, mtu_time, ecn }
    }
}

/// What is to be done with a packet that is about to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::queue) struct Signal {
    /// It is lost, unless none waits behind it.
    pub drops: bool,
    pub marks: bool,
}

/// The law's memory, under Linux's names.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::queue) struct ControlLaw {
    pub count: u32,
    pub drop_next: Picos,
    dropping: bool,
    /// BLUE's probability, in units of 2^-32, and when it changed last.
    p_drop: u32,
    blue_timer: Picos,
}

impl ControlLaw {
    /// `cobalt_should_drop`: whether a packet that is about to be sent is signalled.
    #[inline]
    pub fn judge(
        &mut self,
        now: Picos,
        setpoint: &Setpoint,
        packet: &QueuedPacket,
        random: &mut RandomStream,
    ) -> Signal {
        let waited = now - packet.arrived;
        let above = waited > setpoint.target && waited > 4 * setpoint.mtu_time;
        let due = self.is_due(now);
        let mut late = now > self.drop_next;
        self.note_delay(now, setpoint, above);
        let mut signal = Signal::default();
        if due && above {
            signal.marks = setpoint.ecn && packet.is_ecn_capable();
            signal.drops = !signal.marks;
            self.count = self.count.saturating_add(1);
            self.drop_next += self.gap(setpoint);
            late = now > self.drop_next;
        } else if due {
            while self.is_due(now) {
                self.step_back(setpoint);
            }
            late = now > self.drop_next;
        }
        // BLUE does not mark: it is for flows that heed no marks.
        signal.drops |= self.p_drop > 0 && random.uniform() < self.probability();
        if self.count == 0 {
            self.drop_next = now + setpoint.interval;
        } else if late && !signal.drops {
            self.drop_next = now;
        }
        signal
    }

    fn note_delay(&mut self, now: Picos, setpoint: &Setpoint, above: bool) {
        if above && !self.dropping {
            self.drop_next = now + self.gap(setpoint);
        }
        if above {
            self.count = self.count.max(1);
        }
        self.dropping = above;
    }

    /// `cobalt_queue_full`: a packet was lost because there was no room.
    pub fn overflowed(&mut self, now: Picos, setpoint: &Setpoint) {
        if now.saturating_sub(self.blue_timer) > setpoint.target {
            self.p_drop = self.p_drop.saturating_add(INCREMENT);
            self.blue_timer = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// `cobalt_queue_empty`: the queue's turn came, and nothing waited.
    pub fn ran_empty(&mut self, now: Picos, setpoint: &Setpoint) {
        if self.p_drop > 0 && now.saturating_sub(self.blue_timer) > setpoint.target {
            self.p_drop = self.p_drop.saturating_sub(DECREMENT);
            self.blue_timer = now;
        }
        self.dropping = false;
        if self.is_due(now) {
            self.step_back(setpoint);
        }
    }

    /// Whether nothing of it would be missed.
    pub fn is_at_rest(&self, now: Picos) -> bool {
        self.p_drop == 0 && self.count == 0 && now >= self.drop_next
    }

    /// BLUE's probability of a drop.
    pub fn probability(&self) -> f64 {
        f64::from(self.p_drop) / (1_u64 << 32) as f64
    }

    fn is_due(&self, now: Picos) -> bool {
        self.count > 0 && now >= self.drop_next
    }

    fn step_back(&mut self, setpoint: &Setpoint) {
        self.count -= 1;
        self.drop_next += self.gap(setpoint);
    }

    /// interval/√count. A square root is the same on every machine.
    fn gap(&self, setpoint: &Setpoint) -> Picos {
        (setpoint.interval as f64 / f64::from(self.count.max(1)).sqrt()) as Picos
    }
}
