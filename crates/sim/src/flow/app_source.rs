//! The application behind a sender that does more than send its segments once.

use crate::config::{FlowSpec, Source};
use crate::flow::counts::Counts;
use crate::time::{NEVER, Picos, serialization};

/// An open-loop source of datagrams, or a user who fetches file after file.
pub(crate) struct AppSource {
    source: Source,
    /// Index of the datagram or file that is next.
    pub(crate) next: usize,
    /// When the first packet of the present connection reaches the first queue.
    pub(crate) start: Picos,
    /// When the next file begins; `NEVER` while one is being sent.
    pub(crate) restart_at: Picos,
    /// No further file begins.
    stopped: bool,
    /// What earlier connections, or a source without any, have counted.
    pub(crate) earlier: Counts,
    access_bps: f64,
    /// One past the newest datagram that was received.
    newest: usize,
}

impl AppSource {
    /// That of a flow, if it needs one.
    pub(crate) fn of(spec: &FlowSpec) -> Option<Box<Self>> {
        let next = match spec.source {
            Source::Datagrams(..) | Source::Files(..) | Source::FilesUntil(..) => {
                spec.source.first()
            }
            Source::Segments(_) | Source::Until(_) => return None,
        };
        Some(Box::new(Self {
            source: spec.source,
            next,
            start: spec.start,
            restart_at: NEVER,
            stopped: false,
            earlier: Counts::default(),
            access_bps: spec.access_bps,
            newest: 0,
        }))
    }

    /// One past the last datagram, of an open-loop source.
    pub(crate) fn datagrams_end(&self) -> Option<usize> {
        match self.source {
            Source::Datagrams(_, end) => Some(end as usize),
            _ => None,
        }
    }

    /// One past the last file, of a user who fetches files.
    pub(crate) fn files_end(&self) -> Option<usize> {
        match self.source {
            Source::Files(_, end) | Source::FilesUntil(_, end, _) => Some(end as usize),
            _ => None,
        }
    }

    /// How many files came before the present one.
    pub(crate) fn files_done(&self) -> usize {
        self.next - self.source.first()
    }

    /// The user fetches no further file.
    pub(crate) fn stop(&mut self) {
        (self.stopped, self.restart_at) = (true, NEVER);
    }

    /// A file has arrived whole. Gives the number of the file before the pause, and whether another follows.
    pub(crate) fn next_file(&mut self) -> Option<(usize, bool)> {
        let end = self.files_end().filter(|_| !self.stopped)?;
        let arrived = self.next;
        self.next += 1;
        Some((arrived, self.next < end))
    }

    /// A datagram's time on the access link.
    pub(crate) fn access_time(&self, bytes: u32) -> Picos {
        serialization(bytes, self.access_bps)
    }

    /// Datagram number `seq`, of so many bytes, has arrived; whether its network keeps order is asked where it came late.
    pub(crate) fn count_received(
        &mut self,
        seq: usize,
        bytes: u32,
        keeps_order: impl Fn() -> bool,
    ) {
        debug_assert!(seq >= self.newest || !keeps_order(), "it was overtaken by another");
        self.newest = seq + 1;
        self.earlier.received += 1;
        self.earlier.received_bytes += u64::from(bytes);
    }

    /// The next file begins `now`; `counts` are those of all connections before it.
    pub(crate) fn restart(&mut self, now: Picos, counts: Counts) {
        self.earlier = counts;
        self.restart_at = NEVER;
        self.start = now;
    }
}
