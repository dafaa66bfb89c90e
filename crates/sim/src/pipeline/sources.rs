//! Flows that do more than send their segments once: open-loop sources, and users who fetch file
//! after file, alone or with others.

use crate::events::event_key::{NEXT_FILE, encode};
use crate::fast::flow_kind::GeneralKind;
use crate::flow::Flow;
use crate::network::Network;
use crate::packet::{EcnCodepoint, Payload};
use crate::time::{NEVER, Picos};

impl Network<'_> {
    /// The timer of a flow that sends datagrams or file after file; true if it has no sender's timer.
    #[cold]
    pub(crate) fn on_app_timer(&mut self, now: Picos, flow: &mut Flow) -> bool {
        let Some(app) = &flow.app else { return false };
        if let Some(end) = app.datagrams_end() {
            self.on_datagram_due(now, flow, end);
            return true;
        }
        let restart_at = app.restart_at;
        if restart_at == NEVER {
            return false;
        }
        if now < restart_at {
            self.arm_timer(flow, restart_at); // until then the sender's own timer runs on
            return false;
        }
        self.restart(now, flow);
        false
    }

    /// The next file begins.
    fn restart(&mut self, now: Picos, flow: &mut Flow) {
        if let Some(recorder) = &mut self.flow_recorder {
            recorder.restarts(flow, self.traffic.config);
        }
        if let Some(log) = &mut self.packet_log {
            log.restarts(flow.index());
        }
        flow.restart(now, self.traffic.config);
    }

    /// A flow that waited for others begins its next file.
    #[cold]
    pub(crate) fn on_next_file(&mut self, now: Picos, flow: &mut Flow) {
        if let Some(app) = &mut flow.app {
            app.next += 1;
        }
        self.restart(now, flow);
        self.transmit::<GeneralKind>(now, flow);
    }

    /// The answer of a flow has arrived whole, or is known to arrive, at `arrives`. If it is the last one of its
    /// request, all flows that wait for each other begin the next one.
    #[cold]
    pub(crate) fn on_answer(&mut self, flow: &Flow, arrives: Picos) {
        let Some(request) = self.barriers.answered(flow.index(), arrives) else { return };
        let class = self.class(flow);
        self.requests[class].push((request.ended, request.ended - request.asked));
        let (Some(next), Some(app)) = (request.next, &flow.app) else { return };
        let (config, done) = (self.traffic.config, app.files_done());
        for index in request.flows {
            let spec = &config.flows[index as usize];
            let service = config.files[spec.source.first() + done].think;
            let at = next + config.request_delay(spec) + service;
            self.wheel.insert(at, encode(index, NEXT_FILE), Payload::NONE);
        }
    }

    /// A datagram of an open-loop source reaches the first queue; the next is scheduled.
    fn on_datagram_due(&mut self, now: Picos, flow: &mut Flow, end: usize) {
        let Some(app) = &mut flow.app else { return };
        let index = app.next;
        app.next += 1;
        app.earlier.sent += 1;
        if app.next < end {
            let at = flow.datagram_arrival(self.traffic.config.datagrams[index + 1]);
            self.arm_timer(flow, at);
        }
        self.enqueue_first_hop::<GeneralKind>(now, flow, flow.segment(index as u64));
    }

    /// A packet of an open-loop source has arrived: it is not acknowledged. False for any other packet.
    #[cold]
    pub(crate) fn receive_datagram(&mut self, flow: &mut Flow, seq: u64) -> bool {
        let bytes = flow.data_bytes(seq, self.traffic.config);
        let (config, ecn, index) = (self.traffic.config, flow.ecn, flow.index() as usize);
        // One that a queue has marked enters the L4S queue of a later DualPI2, and may overtake others.
        let keeps_order = || {
            let route = &config.routes[config.flows[index].route as usize];
            ecn == EcnCodepoint::NotEct && !config.reorders(route)
        };
        match &mut flow.app {
            Some(app) if app.datagrams_end().is_some() => {
                app.count_received(seq as usize, bytes, keeps_order);
                true
            }
            _ => false,
        }
    }

    /// A file has arrived whole; the user learns of it at `now` and thinks.
    #[cold]
    pub(crate) fn on_transfer_complete(&mut self, flow: &mut Flow, now: Picos) {
        let Some(app) = &mut flow.app else { return };
        if let Some((arrived, true)) = app.next_file() {
            let at = now + self.traffic.config.files[arrived].think;
            app.restart_at = at;
            self.arm_timer(flow, at);
        }
    }
}
