//! Flows that do more than send their segments once: open-loop sources, and users who fetch file
//! after file.

use crate::config::Source;
use crate::flow::Flow;
use crate::network::Network;
use crate::time::{NEVER, Picos};

impl Network<'_> {
    /// The timer of a flow that sends packets of its own or file after file; true if it was for
    /// that alone.
    #[cold]
    pub(crate) fn plays(&mut self, now: Picos, flow: &mut Flow) -> bool {
        let Some(play) = &flow.play else { return false };
        if let Source::Packets(_, end) = play.source {
            self.on_packet_due(now, flow, end as usize);
            return true;
        }
        let restart_at = play.restart_at;
        if restart_at == NEVER {
            return false;
        }
        if now < restart_at {
            self.wake_at(flow, restart_at);
            return true; // every segment has arrived: nothing is left to be sent again
        }
        flow.restart(now, self.config);
        false
    }

    /// A packet of an open-loop source reaches the first queue; the next is put on its way.
    fn on_packet_due(&mut self, now: Picos, flow: &mut Flow, end: usize) {
        let Some(play) = &mut flow.play else { return };
        let index = play.next;
        play.next += 1;
        play.earlier.sent += 1;
        if play.next < end {
            let at = flow.through_own_access(self.config.packets[index + 1]);
            self.wake_at(flow, at);
        }
        self.enter_late(now, flow, index as u64);
    }

    /// A packet of an open-loop source has arrived: nobody answers. False for any other packet.
    #[cold]
    pub(crate) fn received_alone(&mut self, flow: &mut Flow, seq: u64) -> bool {
        let bytes = self.data_bytes(flow, seq);
        match &mut flow.play {
            Some(play) if matches!(play.source, Source::Packets(..)) => {
                play.earlier.received += 1;
                play.earlier.received_bytes += u64::from(bytes);
                true
            }
            _ => false,
        }
    }

    /// A file has arrived whole; the user learns of it at `now` and thinks.
    #[cold]
    pub(crate) fn file_ended(&mut self, flow: &mut Flow, now: Picos) {
        let Some(play) = &mut flow.play else { return };
        let Source::Files(_, end) = play.source else { return };
        let at = now + self.config.files[play.next].think;
        play.next += 1;
        if play.next < end as usize {
            play.restart_at = at;
            self.wake_at(flow, at);
        }
    }
}
