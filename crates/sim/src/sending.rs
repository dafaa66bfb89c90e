//! What a flow's window lets go, over its access link to the first queue.
//!
//! A packet needs an event to leave the access link only where anything else happens before: the
//! second of two that an ACK lets go mostly follows the first at once.

use crate::flow::Flow;
use crate::network::{ACCESS, Network, PACE};
use crate::parcel::Load;
use crate::tcp::profile::Profile;
use crate::time::Picos;
use crate::way::{Any, Way};

/// What becomes of an access link.
enum Access {
    /// What it did before.
    AsBefore,
    /// It was idle, and is no longer.
    Filled,
    /// The same, and something else happens before the first packet leaves it then.
    Waits(Picos),
}

impl Network<'_> {
    /// Sends what the flow's window lets go, where it was not an ACK that opened it.
    #[inline(never)]
    pub(crate) fn transmit<W: Way>(&mut self, now: Picos, flow: &mut Flow) {
        self.send::<W>(now, flow, self.profile::<W>(flow));
        if W::SACK {
            self.ask_without_ack(now, flow);
        }
    }

    /// Sends what the flow's window lets go.
    #[inline(always)]
    pub(crate) fn send<W: Way>(&mut self, now: Picos, flow: &mut Flow, profile: &Profile) {
        match self.let_go::<W>(now, flow, profile) {
            Access::AsBefore => {}
            Access::Filled => self.empty_access::<W>(flow, profile),
            Access::Waits(at) => self.schedule(flow, ACCESS, at, Load::NONE),
        }
    }

    /// The same, but for what goes to an access link that was idle.
    #[inline(always)]
    fn let_go<W: Way>(&mut self, now: Picos, flow: &mut Flow, profile: &Profile) -> Access {
        if !W::PLAIN && !flow.access_is_idle(now) {
            flow.held_back = false;
        }
        debug_assert!(!flow.held_back, "an idle access link holds nothing back");
        debug_assert!(flow.sender.is_sound());
        let allowance = flow.sender.allowance::<W>(profile);
        // Small queues look at what waits behind the packet on the access link: no more than two of
        // these do.
        let few = (allowance <= 2) | ((allowance == 3) & flow.access_is_idle(now));
        let free = W::PLAIN || !profile.small_queues || few;
        let mut access = Access::AsBefore;
        let mut left = allowance;
        while left > 0 && self.let_one_go::<W>(now, flow, free, profile, &mut access) {
            left -= 1;
        }
        let timer_at = flow.sender.timer_at;
        if !(W::SIMPLE && flow.hears_before(now, timer_at)) && timer_at < flow.wakes_at {
            self.wake_at(flow, timer_at);
        }
        access
    }

    /// One segment goes; false where small queues or the pacer hold it back. `free` says that the
    /// access link holds too few for small queues to look at.
    #[inline(always)]
    fn let_one_go<W: Way>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        free: bool,
        profile: &Profile,
        access: &mut Access,
    ) -> bool {
        if !W::PLAIN && profile.small_queues && flow.access_holds_enough(now) {
            flow.held_back = true;
            return false;
        }
        if let Some(at) = flow.sender.paced_beyond(now).filter(|_| !W::SIMPLE) {
            self.pace_at(flow, at);
            return false;
        }
        let seq = flow.sender.next_segment::<W>(now);
        let segment = if W::SIMPLE { Load::data(seq, false, 0) } else { flow.segment(seq) };
        let at = flow.through_access(now);
        if at == now || (free && self.leaves_first(at, flow)) {
            self.enter::<W>(at, flow, segment, profile);
        } else {
            if flow.in_access.is_empty() {
                *access = if free { Access::Waits(at) } else { Access::Filled };
            }
            flow.in_access.push_back((at, segment));
        }
        true
    }

    /// The pacer lets the next packet go. No flow that paces is of a simple kind.
    pub(crate) fn on_pace(&mut self, now: Picos, flow: &mut Flow) {
        if let Some(held) = flow.sender.scoreboard.as_mut().and_then(|board| board.paces_at())
            && *held == Some(now)
        {
            *held = None;
            self.transmit::<Any>(now, flow);
        }
    }

    /// Makes sure that the flow's pacer fires no later than `at`.
    fn pace_at(&mut self, flow: &mut Flow, at: Picos) {
        if let Some(held) = flow.sender.scoreboard.as_mut().and_then(|board| board.paces_at())
            && held.is_none_or(|before| at < before)
        {
            *held = Some(at);
            self.schedule(flow, PACE, at, Load::NONE);
        }
    }

    /// A packet leaves the flow's access link, and what follows at once.
    pub(crate) fn on_access<W: Way>(&mut self, now: Picos, flow: &mut Flow) {
        if flow.in_access.front().is_none_or(|&(at, _)| at != now) {
            return; // it was of an earlier connection
        }
        let profile = self.profile::<W>(flow);
        self.leave_access::<W>(now, flow, profile);
        self.empty_access::<W>(flow, profile);
        if W::SACK {
            self.ask_without_ack(now, flow);
        }
    }

    /// The first packet on the flow's access link reaches the queue, and may make room there.
    fn leave_access<W: Way>(&mut self, now: Picos, flow: &mut Flow, profile: &Profile) {
        let (_, segment) = flow.in_access.pop_front().expect("a packet on the access link");
        self.enter::<W>(now, flow, segment, profile);
        if flow.held_back {
            self.let_go::<W>(now, flow, profile);
        }
    }

    /// Nothing else happens before a packet leaves the access link at `at`.
    #[inline]
    fn leaves_first(&self, at: Picos, flow: &Flow) -> bool {
        flow.in_access.is_empty() && at < self.next_reading && self.wheel.is_quiet_until(at)
    }

    /// Packets need an event to leave the access link only where anything else happens before.
    #[inline(never)]
    fn empty_access<W: Way>(&mut self, flow: &mut Flow, profile: &Profile) {
        while let Some(&(at, _)) = flow.in_access.front() {
            if at >= self.next_reading || !self.wheel.is_quiet_until(at) {
                return self.schedule(flow, ACCESS, at, Load::NONE);
            }
            self.leave_access::<W>(at, flow, profile);
        }
    }
}
