use super::*;
use crate::cc::{Cc, NAMES};
use crate::fast::flow_kind::{GeneralKind, LinuxKind, PacedKind, SackKind};
use crate::time::{MICROSECOND, MILLISECOND};
use std::collections::{BTreeSet, VecDeque};

fn state(tcp: &Sender) -> String {
    let board = tcp.scoreboard.as_ref().expect("SACK");
    let rtt = &tcp.rtt;
    format!(
        "{:?} {:?} {} {:?} {} {} {} {} {:?} {:?}",
        (tcp.snd_una, tcp.snd_nxt, tcp.phase, tcp.receive_window, board.segments.len()),
        tcp.window,
        tcp.timer_at,
        tcp.timer,
        rtt.srtt,
        rtt.rttvar,
        rtt.min_rtt,
        rtt.rto(),
        board.rack,
        board.receive_window,
    )
}

/// Lets go what may go, and acknowledges it two segments at a time, every tenth alone, a round
/// trip later that varies.
fn play<K: FlowKind>(name: &str, calm: bool) -> Vec<String> {
    let profile = Profile::linux();
    let mut tcp = Sender::new(Cc::by_name(name).expect("listed"), u64::MAX, &profile);
    let (mut now, mut states) = (MILLISECOND, Vec::new());
    for i in 0..400_u64 {
        for _ in 0..tcp.sendable_segments::<K>(&profile) {
            tcp.next_segment::<K>(now);
            now += MICROSECOND;
        }
        now += MILLISECOND * (1 + i % 7);
        let next = tcp.snd_una + if i % 10 == 0 { 1 } else { 2 };
        let (next, reported) = (next.min(tcp.snd_nxt), (next.min(tcp.snd_nxt) - 1, 1, &[][..]));
        if calm {
            let board = tcp.scoreboard.as_ref().expect("SACK");
            assert!(board.in_order());
            on_ack::<K>(&mut tcp, now, next, reported, false, &profile);
        } else {
            let board = tcp.scoreboard.as_mut().expect("SACK");
            let flight = board.in_flight();
            board.cwnd_limited.update(tcp.window.cwnd, flight, tcp.snd_una, tcp.snd_max);
            slow_path_ack::<K>(&mut tcp, now, next, reported, false, &profile);
        }
        states.push(state(&tcp));
    }
    states
}

#[test]
fn the_usual_ack_does_what_any_other_way_would() {
    for name in NAMES {
        let usual = play::<GeneralKind>(name, true);
        assert_eq!(usual, play::<GeneralKind>(name, false), "{name}");
        let cc = Cc::by_name(name).expect("listed");
        if cc.paced() && !cc.controls_cwnd() {
            continue; // of no other kind
        }
        if cc.paced() {
            assert_eq!(usual, play::<PacedKind>(name, true), "{name}");
            assert_eq!(usual, play::<PacedKind>(name, false), "{name}");
            continue; // the kinds below do not pace
        }
        assert_eq!(usual, play::<SackKind>(name, true), "{name}");
        assert_eq!(usual, play::<LinuxKind>(name, true), "{name}");
        assert_eq!(usual, play::<LinuxKind>(name, false), "{name}");
    }
}

/// Loses every thirteenth segment that is sent, and acknowledges each other one a round trip later. Gives how often one more
/// segment was SACKed in recovery, and the states.
fn play_losses(name: &str, by_usual_path: bool) -> (u32, Vec<String>) {
    let profile = Profile::linux();
    let mut tcp = Sender::new(Cc::by_name(name).expect("listed"), u64::MAX, &profile);
    let (mut now, mut sent, mut usual, mut states) = (MILLISECOND, 0, 0, Vec::new());
    let (mut on_the_way, mut arrived, mut next) = (VecDeque::new(), BTreeSet::new(), 0);
    for i in 0..6000_u64 {
        for _ in 0..tcp.sendable_segments::<PacedKind>(&profile).min(3) {
            let seq = tcp.next_segment::<PacedKind>(now);
            sent += 1;
            if sent % 13 > 0 {
                on_the_way.push_back((now + 40 * MILLISECOND, seq));
            }
            now += MICROSECOND;
        }
        now += MILLISECOND / 4 * (1 + i % 5);
        if tcp.timer_at <= now {
            tcp.on_timer(now, &profile);
        }
        while let Some(&(at, seq)) = on_the_way.front()
            && at <= now
        {
            on_the_way.pop_front();
            arrived.insert(seq);
            while arrived.remove(&next) {
                next += 1;
            }
            let more = tcp.phase == Phase::Recovery && next == tcp.snd_una;
            usual += u32::from(more);
            let reported = (seq, 1, &[][..]);
            if by_usual_path {
                on_ack::<PacedKind>(&mut tcp, now, next, reported, false, &profile);
            } else {
                slow_path_ack::<PacedKind>(&mut tcp, now, next, reported, false, &profile);
            }
            let board = tcp.scoreboard.as_ref().expect("SACK");
            let counts = (board.sacked, board.lost, board.retrans_out, tcp.retransmissions);
            states.push(format!("{counts:?} {}", state(&tcp)));
        }
    }
    (usual, states)
}

#[test]
fn one_more_segment_beyond_a_gap_does_what_any_other_way_would() {
    for name in ["bbr", "bbr3"] {
        let (usual, states) = play_losses(name, true);
        assert!(usual > 1000, "{usual} of {}", states.len());
        assert!((usual, states) == play_losses(name, false), "{name}");
    }
}

/// What a lost ACK reported counts once, whether the cumulative number covers it by now or not.
#[test]
fn what_a_lost_ack_reported_is_delivered_with_the_next() {
    let profile = Profile::linux();
    let delivered = |next, sacked_last, lost: &[SackRun]| {
        let mut tcp = Sender::new(Cc::by_name("reno").expect("listed"), u64::MAX, &profile);
        (0..10).for_each(|_| _ = tcp.next_segment::<GeneralKind>(MILLISECOND));
        let reported = (sacked_last, 1, lost);
        on_ack::<GeneralKind>(&mut tcp, 9 * MILLISECOND, next, reported, false, &profile);
        let board = tcp.scoreboard.as_ref().expect("SACK");
        (tcp.snd_una, board.sacked, tcp.window.cwnd)
    };
    assert_eq!(delivered(2, 1, &[SackRun { last: 0, count: 1 }]), (2, 0, 12.0), "in order");
    assert_eq!(delivered(1, 5, &[SackRun { last: 4, count: 1 }]), (1, 2, 13.0), "beyond a gap");
}

/// Sends a file of so many segments in one window and loses some, once; what is sent then, and in how many round trips
/// without a timeout. Without RACK nothing but numbers tells of a loss.
fn repaired(file: u64, lost: &[u64]) -> Option<Vec<u64>> {
    let profile = Profile { sack: true, initial_window: 1000, delayed_ack: None, ..Profile::ns2() };
    let mut tcp = Sender::new(Cc::by_name("reno").expect("listed"), file, &profile);
    let (mut now, mut again) = (MILLISECOND, Vec::new());
    let (mut arrived, mut next) = (BTreeSet::new(), 0);
    for _ in 0..20 {
        let mut sent = Vec::new();
        for _ in 0..tcp.sendable_segments::<GeneralKind>(&profile) {
            sent.push(tcp.next_segment::<GeneralKind>(now));
        }
        now += 10 * MILLISECOND;
        for seq in sent {
            let first = tcp.retransmissions == 0;
            if !first {
                again.push(seq);
            } else if lost.contains(&seq) {
                continue;
            }
            arrived.insert(seq);
            while arrived.remove(&next) {
                next += 1;
            }
            on_ack::<GeneralKind>(&mut tcp, now, next, (seq, 1, &[][..]), false, &profile);
        }
        if next == file {
            return Some(again);
        }
    }
    None
}

#[test]
fn of_the_last_segments_those_go_again_that_no_three_above_tell_of() {
    assert_eq!(repaired(20, &[5]), Some(vec![5]));
    assert_eq!(repaired(20, &[5, 18]), Some(vec![5, 18]), "rule 3: one is SACKed above");
    assert_eq!(repaired(20, &[5, 19]), Some(vec![5, 19]), "rule 4: none is");
    assert_eq!(repaired(20, &[5, 18, 19]), Some(vec![5, 19, 18]), "the rescue's SACK tells of 18");
    assert_eq!(repaired(20, &[5, 16, 18, 19]), Some(vec![5, 16, 19, 18]));
    assert_eq!(repaired(20, &[19]), None, "nothing tells of it");
}
