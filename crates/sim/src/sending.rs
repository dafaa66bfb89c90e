//! What a flow's window lets go, over its access link to the first queue.
//!
//! A packet needs an event to leave the access link only where anything else happens before: the
//! second of two that an ACK lets go mostly follows the first at once.

use crate::flow::Flow;
use crate::network::{ACCESS, Network, PACE};
use crate::tcp::profile::Profile;
use crate::time::Picos;

impl Network<'_> {
    /// Sends what the flow's window lets go, where it was not an ACK that opened it.
    #[inline(never)]
    pub(crate) fn transmit(&mut self, now: Picos, flow: &mut Flow) {
        self.send::<false>(now, flow, self.profile(flow));
    }

    /// Sends what the flow's window lets go.
    #[inline(always)]
    pub(crate) fn send<const PLAIN: bool>(
        &mut self,
        now: Picos,
        flow: &mut Flow,
        profile: &Profile,
    ) {
        let idle = flow.in_access.is_empty();
        self.let_go::<PLAIN>(now, flow, profile);
        if idle && !flow.in_access.is_empty() {
            self.empty_access(flow, profile);
        }
    }

    #[inline(always)]
    fn let_go<const PLAIN: bool>(&mut self, now: Picos, flow: &mut Flow, profile: &Profile) {
        if !PLAIN {
            flow.held_back = false;
        }
        let allowance = flow.sender.allowance::<PLAIN>(profile);
        // So few never fill the access link as far as small queues look.
        let free = PLAIN || !profile.small_queues || allowance <= 3;
        let mut left = allowance;
        while left > 0 {
            left -= 1;
            if !PLAIN && profile.small_queues && flow.access_holds_enough() {
                flow.held_back = true;
                break;
            }
            if let Some(at) = flow.sender.paced_beyond(now).filter(|_| !PLAIN) {
                self.schedule(flow, PACE, at);
                break;
            }
            let seq = flow.sender.next_segment::<PLAIN>(now);
            let at = flow.through_access(now);
            if at == now || (free && self.leaves_first(at, flow)) {
                self.enter::<PLAIN>(at, flow, seq, profile);
            } else {
                flow.in_access.push_back((at, seq));
            }
        }
        if flow.sender.timer_at < flow.wakes_at {
            self.wake_at(flow, flow.sender.timer_at);
        }
    }

    /// A packet leaves the flow's access link.
    pub(crate) fn on_access(&mut self, now: Picos, flow: &mut Flow) {
        let profile = self.profile(flow);
        self.leave_access(now, flow, profile);
        self.empty_access(flow, profile);
    }

    /// The first packet on the flow's access link reaches the queue, and may make room there.
    fn leave_access(&mut self, now: Picos, flow: &mut Flow, profile: &Profile) {
        let (_, seq) = flow.in_access.pop_front().expect("a packet on the access link");
        self.enter::<false>(now, flow, seq, profile);
        if flow.held_back {
            self.let_go::<false>(now, flow, profile);
        }
    }

    /// Nothing else happens before a packet leaves the access link at `at`.
    #[inline]
    fn leaves_first(&self, at: Picos, flow: &Flow) -> bool {
        flow.in_access.is_empty() && at < self.next_reading && self.wheel.is_quiet_until(at)
    }

    /// Packets need an event to leave the access link only where anything else happens before.
    #[inline(never)]
    fn empty_access(&mut self, flow: &mut Flow, profile: &Profile) {
        while let Some(&(at, _)) = flow.in_access.front() {
            if at >= self.next_reading || !self.wheel.is_quiet_until(at) {
                return self.schedule(flow, ACCESS, at);
            }
            self.leave_access(at, flow, profile);
        }
    }
}
