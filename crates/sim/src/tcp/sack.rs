//! Recovery with SACK (RFC 6675), its sending governed by PRR (RFC 6937) where the profile says so.

use super::profile::Profile;
use super::sender::{Phase, Sender};
use crate::time::Picos;
use std::collections::VecDeque;

const DUP_THRESH: usize = 3;
const SACKED: u64 = 1;
const LOST: u64 = 2;
const RESENT: u64 = 4;
const FLAG_BITS: u32 = 3;

/// One outstanding segment: when it was last sent, and its flags in the low bits.
#[derive(Clone, Copy)]
struct Segment(u64);

impl Segment {
    fn sent_at(now: Picos) -> Self {
        Self(now << FLAG_BITS)
    }
    fn sent(self) -> Picos {
        self.0 >> FLAG_BITS
    }
    fn is(self, flag: u64) -> bool {
        self.0 & flag != 0
    }
}

/// What the sender knows of every outstanding segment.
#[derive(Default)]
pub struct Scoreboard {
    /// From snd_una to snd_max.
    segments: VecDeque<Segment>,
    sacked: u64,
    lost: u64,
    resent: u64,
    /// Highest SACKed segments plus one, highest first; 0 where there is none.
    highest: [u64; DUP_THRESH],
    /// Every segment below this has been judged lost or not.
    judged: u64,
    /// No segment below this is lost and waits to be sent again.
    resend_from: u64,
    /// PRR: segments delivered and sent since recovery began, and the flight when it began.
    prr_delivered: u64,
    prr_out: u64,
    recover_flight: u64,
}

impl Scoreboard {
    /// RFC 6675's pipe: segments thought to be in the network.
    pub fn in_flight(&self) -> u64 {
        self.segments.len() as u64 - self.sacked - self.lost + self.resent
    }

    fn forget(&mut self, segment: Segment) {
        self.sacked -= u64::from(segment.is(SACKED));
        self.lost -= u64::from(segment.is(LOST));
        self.resent -= u64::from(segment.is(RESENT));
    }

    /// Takes the segments below `next` off; gives how many of them were not SACKed before.
    fn acknowledge(&mut self, una: u64, next: u64) -> u64 {
        let mut fresh = 0;
        for _ in una..next {
            let segment = self
                .segments
                .pop_front()
                .expect("only sent segments are acknowledged");
            fresh += u64::from(!segment.is(SACKED));
            self.forget(segment);
        }
        fresh
    }

    /// Marks `seq` as SACKed; gives whether that was news.
    fn sack(&mut self, una: u64, seq: u64) -> bool {
        let Some(segment) = self.segments.get_mut((seq - una) as usize) else {
            return false;
        };
        if segment.is(SACKED) {
            return false;
        }
        let before = *segment;
        segment.0 = (segment.0 & !(LOST | RESENT)) | SACKED;
        self.forget(before);
        self.sacked += 1;
        let mut rising = seq + 1;
        for place in &mut self.highest {
            if rising > *place {
                std::mem::swap(place, &mut rising);
            }
        }
        true
    }

    /// RFC 6675's IsLost: three segments above have been SACKed. Gives how many are newly lost.
    fn judge(&mut self, una: u64) -> u64 {
        let below = self.highest[DUP_THRESH - 1].saturating_sub(1);
        let from = self.judged.max(una);
        let mut found = 0;
        for seq in from..below {
            let segment = &mut self.segments[(seq - una) as usize];
            if !segment.is(SACKED | LOST) {
                segment.0 |= LOST;
                found += 1;
            }
        }
        self.judged = from.max(below);
        self.lost += found;
        found
    }

    /// The first lost segment that has not been sent again.
    fn next_lost(&mut self, una: u64) -> Option<u64> {
        if self.lost == self.resent {
            return None;
        }
        let mut seq = self.resend_from.max(una);
        loop {
            let segment = self.segments[(seq - una) as usize];
            if segment.is(LOST) && !segment.is(RESENT) {
                self.resend_from = seq;
                return Some(seq);
            }
            seq += 1;
        }
    }

    fn resend(&mut self, una: u64, seq: u64, now: Picos) {
        self.segments[(seq - una) as usize].0 = Segment::sent_at(now).0 | LOST | RESENT;
        self.resent += 1;
        self.resend_from = seq + 1;
    }

    /// After a timeout all that was not SACKed counts as lost (RFC 6675, section 5.1).
    fn give_up(&mut self, una: u64) {
        for segment in &mut self.segments {
            segment.0 &= !RESENT;
            if !segment.is(SACKED) {
                segment.0 |= LOST;
            }
        }
        self.resent = 0;
        self.lost = self.segments.len() as u64 - self.sacked;
        self.resend_from = una;
        self.judged = una + self.segments.len() as u64;
    }
}

pub(super) fn on_ack(
    tcp: &mut Sender,
    now: Picos,
    next: u64,
    trigger: u64,
    profile: &Profile,
) -> Option<Picos> {
    let mut board = tcp.scoreboard.take()?;
    let una = tcp.snd_una;
    let sample = sample(&board, una, trigger, now);
    if let Some(rtt) = sample {
        tcp.rtt.sample(rtt, profile);
    }
    let mut delivered = board.acknowledge(una, next.max(una));
    tcp.snd_una = next.max(una);
    tcp.snd_nxt = tcp.snd_nxt.max(tcp.snd_una);
    if trigger >= next && next >= una {
        delivered += u64::from(board.sack(tcp.snd_una, trigger));
    }
    let newly_lost = board.judge(tcp.snd_una);
    let advanced = tcp.snd_una > una;
    update_phase(tcp, &mut board, profile);
    match tcp.phase {
        Phase::Recovery if profile.prr => {
            reduce(tcp, &mut board, delivered, advanced && newly_lost == 0)
        }
        Phase::Recovery => {}
        _ if advanced => tcp.grow(delivered, profile),
        _ => {}
    }
    tcp.scoreboard = Some(board);
    if advanced {
        tcp.restart_timer(now);
    }
    sample
}

fn update_phase(tcp: &mut Sender, board: &mut Scoreboard, profile: &Profile) {
    if tcp.phase != Phase::Open && tcp.snd_una >= tcp.recover {
        if tcp.phase == Phase::Recovery {
            tcp.window.cwnd = tcp.window.ssthresh;
        }
        tcp.phase = Phase::Open;
    }
    if tcp.phase == Phase::Open && board.lost > 0 {
        enter_recovery(tcp, board, profile);
    }
}

/// RFC 6675, section 5, step 4.
fn enter_recovery(tcp: &mut Sender, board: &mut Scoreboard, profile: &Profile) {
    board.prr_delivered = 0;
    board.prr_out = 0;
    board.recover_flight = tcp.window.cwnd as u64;
    tcp.phase = Phase::Recovery;
    tcp.recover = tcp.snd_max;
    tcp.back_off_threshold(profile);
    if !profile.prr {
        tcp.window.cwnd = tcp.window.ssthresh;
    }
}

/// RFC 6937, section 3, with the safe-ACK choice between its two bounds that Linux makes.
fn reduce(tcp: &mut Sender, board: &mut Scoreboard, delivered: u64, safe: bool) {
    board.prr_delivered += delivered;
    let in_flight = board.in_flight();
    let ssthresh = tcp.window.ssthresh as u64;
    let allowed = if in_flight > ssthresh {
        let share = (board.prr_delivered * ssthresh).div_ceil(board.recover_flight.max(1));
        share.saturating_sub(board.prr_out)
    } else {
        let owed = board
            .prr_delivered
            .saturating_sub(board.prr_out)
            .max(delivered);
        (owed + u64::from(safe)).min(ssthresh - in_flight)
    };
    let first = u64::from(board.prr_out == 0);
    tcp.window.cwnd = (in_flight + allowed.max(first)) as f64;
}

pub(super) fn next_segment(tcp: &mut Sender, now: Picos, profile: &Profile) -> Option<u64> {
    let new_allowed = tcp.may_send_new(profile);
    let board = tcp.scoreboard.as_mut()?;
    if board.in_flight() >= tcp.window.cwnd as u64 {
        return None;
    }
    if let Some(seq) = board.next_lost(tcp.snd_una) {
        board.resend(tcp.snd_una, seq, now);
        board.prr_out += 1;
        tcp.retransmissions += 1;
        return Some(seq);
    }
    if !new_allowed {
        return None;
    }
    board.segments.push_back(Segment::sent_at(now));
    board.prr_out += 1;
    let seq = tcp.snd_nxt;
    tcp.snd_nxt += 1;
    tcp.snd_max = tcp.snd_nxt;
    Some(seq)
}

pub(super) fn on_timeout(tcp: &mut Sender) {
    if let Some(board) = tcp.scoreboard.as_mut() {
        board.give_up(tcp.snd_una);
    }
}

/// Karn: a segment that was sent twice gives no sample.
fn sample(board: &Scoreboard, una: u64, trigger: u64, now: Picos) -> Option<Picos> {
    let segment = board.segments.get(trigger.checked_sub(una)? as usize)?;
    (!segment.is(RESENT | LOST | SACKED)).then(|| now - segment.sent())
}
