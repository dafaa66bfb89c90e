//! What a link may have besides a queue and a wire of one rate: a policer before the queue, a shaper behind it, loss at
//! either place, a rate that varies, and jitter behind the wire.

use super::jitter::LinkJitter;
use super::loss_channel::LossChannel;
use super::token_bucket::TokenBucket;
use crate::config::{FramingSpec, LinkSpec, LossPlace, RateTrace};
use crate::meters::link::LinkMeter;
use crate::time::{Picos, SECOND};
use std::sync::Arc;

/// A traffic conditioner (RFC 2475, section 2.3.3).
pub(super) struct Conditioner {
    policer: Option<TokenBucket>,
    shaper: Option<TokenBucket>,
    loss: Option<LossChannel>,
    rate_trace: Option<Arc<RateTrace>>,
    /// Bit/s to which readings refer, where the rate varies.
    rate_bps: f64,
    drops_while_down: bool,
    jitter: Option<LinkJitter>,
    framing: Option<FramingSpec>,
    /// When a wire of the shaper's rate would have sent all that has started. Readings are of such a
    /// wire: it is busy while the bucket fills. Of a wire of varying rate it is when it will have sent it.
    sent_at_rate: Picos,
    /// Of the packet on a wire of varying rate: its work that was not yet done when that was last asked.
    left: Picos,
}

impl Conditioner {
    /// What the specification asks for, if anything. `seed` is the link's.
    pub(super) fn of(spec: &LinkSpec, seed: u64) -> Option<Self> {
        let bucket = |spec: &Option<_>| spec.as_ref().map(TokenBucket::new);
        let (policer, shaper) = (bucket(&spec.policer), bucket(&spec.shaper));
        let loss = spec.loss.as_ref().map(|spec| LossChannel::new(spec, seed));
        let rate_trace = spec.rate_trace.clone();
        let jitter = spec.jitter.as_ref().map(|spec| LinkJitter::new(spec, seed));
        let is_plain = policer.is_none()
            && shaper.is_none()
            && loss.is_none()
            && rate_trace.is_none()
            && jitter.is_none();
        let (rate_bps, drops_while_down) = (spec.rate_bps, spec.drops_while_down);
        (!is_plain).then_some(Self {
            policer,
            shaper,
            loss,
            rate_trace,
            rate_bps,
            drops_while_down,
            jitter,
            framing: spec.framing,
            sent_at_rate: 0,
            left: 0,
        })
    }

    fn on_line(&self, bytes: u32) -> u32 {
        self.framing.map_or(bytes, |framing| framing.on_line(bytes))
    }

    /// Whether the link loses a packet that comes to this place.
    pub(super) fn loses(&mut self, place: LossPlace, bytes: u32) -> bool {
        self.loss.as_mut().is_some_and(|channel| channel.loses(place, bytes))
    }

    /// Packets that the link has lost since the last call.
    pub(super) fn take_lost(&mut self) -> u64 {
        self.loss.as_mut().map_or(0, LossChannel::take_lost)
    }

    /// Whether a packet that arrives may go on to the queue.
    pub(super) fn admits(&mut self, now: Picos, bytes: u32) -> bool {
        !self.is_down(now) && self.polices(now, bytes)
    }

    fn is_down(&self, now: Picos) -> bool {
        let is_down = |trace: &Arc<RateTrace>| trace.rate_at(now) == 0.0;
        self.drops_while_down && self.rate_trace.as_ref().is_some_and(is_down)
    }

    /// When a packet goes on to the next link, or the receiver, that leaves the wire at `departs`.
    pub(super) fn goes_on_at(&mut self, departs: Picos, is_ack: bool) -> Picos {
        self.jitter.as_mut().map_or(departs, |jitter| jitter.goes_on_at(departs, is_ack))
    }

    fn polices(&mut self, now: Picos, bytes: u32) -> bool {
        self.policer.as_mut().is_none_or(|bucket| bucket.try_take(now, bytes))
    }

    /// When a packet may start on a wire that is free from `now` on.
    pub(super) fn starts_at(&mut self, now: Picos, bytes: u32) -> Picos {
        let line = self.on_line(bytes);
        self.shaper.as_mut().map_or(now, |bucket| bucket.conforms_at(now, line))
    }

    /// No packet starts before this, whatever its size: where it is known, the queue chooses then.
    pub(super) fn ready_at(&self) -> Picos {
        self.shaper.as_ref().map_or(0, TokenBucket::ready_at)
    }

    /// A packet is to start then.
    pub(super) fn plan(&mut self, start: Picos, bytes: u32) {
        let line = self.on_line(bytes);
        if let Some(bucket) = &mut self.shaper {
            bucket.take(start, line);
        }
    }

    /// The time on the wire of a packet that starts then; `tx_time` is that at the wire's mean rate.
    pub(super) fn time_on_wire(&self, start: Picos, bytes: u32, tx_time: Picos) -> Picos {
        self.rate_trace
            .as_ref()
            .map_or(tx_time, |trace| trace.ends_at(start, self.on_line(bytes)) - start)
    }

    /// The time that a packet takes of the link by the readings: at the shaper's rate, or at the wire's mean rate, at
    /// which it takes `tx_time`.
    pub(super) fn work(&mut self, bytes: u32, tx_time: Picos) -> Picos {
        let line = self.on_line(bytes);
        self.shaper.as_mut().map_or(tx_time, |bucket| bucket.time_of(line))
    }

    /// A packet starts, which leaves the wire at `ends`.
    pub(super) fn begin(&mut self, start: Picos, ends: Picos, work: Picos, meter: &mut LinkMeter) {
        meter.wakes(start, self.sent_at_rate);
        let varies = self.rate_trace.is_some();
        self.sent_at_rate = if varies { ends } else { self.sent_at_rate.max(start) + work };
        self.left = work;
    }

    /// Work at `now` that has started and is not done.
    pub(super) fn rest(&mut self, now: Picos) -> Picos {
        match &self.rate_trace {
            Some(trace) => {
                self.left = self.left.min(self.work_between(trace, now, self.sent_at_rate));
                self.left
            }
            None => self.sent_at_rate.saturating_sub(now),
        }
    }

    /// When the wire was, or with so much work will be, free.
    pub(super) fn free_at(&self, now: Picos, backlog: Picos) -> Picos {
        if backlog > 0 { now + backlog } else { self.sent_at_rate.min(now) }
    }

    /// Work at `now` of a packet on the wire, of `work` in all, that leaves it at `ends` after `tx_time`.
    pub(super) fn rest_on_wire(
        &mut self,
        now: Picos,
        ends: Picos,
        (work, tx_time): (Picos, Picos),
    ) -> Picos {
        if self.rate_trace.is_some() {
            return self.rest(now);
        }
        let rest = ends.saturating_sub(now);
        (u128::from(rest) * u128::from(work) / u128::from(tx_time.max(1))) as Picos
    }

    /// What a wire of varying rate sends until `end`, as time at the rate to which readings refer.
    fn work_between(&self, trace: &RateTrace, now: Picos, end: Picos) -> Picos {
        let bits = if end > now { trace.bits_between(now, end) } else { 0.0 };
        (bits / self.rate_bps * SECOND as f64).round() as Picos
    }
}
