use super::*;
use crate::cc::{Cc, NAMES};
use crate::time::{MICROSECOND, MILLISECOND};
use crate::way::{Any, Linux, Sack};

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
fn play<W: Way>(name: &str, calm: bool) -> Vec<String> {
    let profile = Profile::linux();
    let mut tcp = Sender::new(Cc::by_name(name).expect("listed"), u64::MAX, &profile);
    let (mut now, mut states) = (MILLISECOND, Vec::new());
    for i in 0..400_u64 {
        for _ in 0..tcp.allowance::<W>(&profile) {
            tcp.next_segment::<W>(now);
            now += MICROSECOND;
        }
        now += MILLISECOND * (1 + i % 7);
        let next = tcp.snd_una + if i % 10 == 0 { 1 } else { 2 };
        let (next, reported) = (next.min(tcp.snd_nxt), (next.min(tcp.snd_nxt) - 1, 1, &[][..]));
        if calm {
            let board = tcp.scoreboard.as_ref().expect("SACK");
            assert!(board.in_order());
            on_ack::<W>(&mut tcp, now, next, reported, false, &profile);
        } else {
            let board = tcp.scoreboard.as_mut().expect("SACK");
            let flight = board.in_flight();
            board.usage.note(tcp.window.cwnd, flight, tcp.snd_una, tcp.snd_max);
            on_eventful_ack::<W>(&mut tcp, now, next, reported, false, &profile);
        }
        states.push(state(&tcp));
    }
    states
}

#[test]
fn the_usual_ack_does_what_any_other_way_would() {
    for name in NAMES {
        let usual = play::<Any>(name, true);
        assert_eq!(usual, play::<Any>(name, false), "{name}");
        if name.starts_with("bbr") {
            continue; // it is no flow of a simple kind
        }
        assert_eq!(usual, play::<Sack>(name, true), "{name}");
        assert_eq!(usual, play::<Linux>(name, true), "{name}");
        assert_eq!(usual, play::<Linux>(name, false), "{name}");
    }
}

/// What a lost ACK reported counts once, whether the cumulative number covers it by now or not.
#[test]
fn what_a_lost_ack_reported_is_delivered_with_the_next() {
    let profile = Profile::linux();
    let delivered = |next, trigger, lost: &[SackRun]| {
        let mut tcp = Sender::new(Cc::by_name("reno").expect("listed"), u64::MAX, &profile);
        (0..10).for_each(|_| _ = tcp.next_segment::<Any>(MILLISECOND));
        let reported = (trigger, 1, lost);
        on_ack::<Any>(&mut tcp, 9 * MILLISECOND, next, reported, false, &profile);
        let board = tcp.scoreboard.as_ref().expect("SACK");
        (tcp.snd_una, board.sacked, tcp.window.cwnd)
    };
    assert_eq!(delivered(2, 1, &[SackRun { last: 0, count: 1 }]), (2, 0, 12.0), "in order");
    assert_eq!(delivered(1, 5, &[SackRun { last: 4, count: 1 }]), (1, 2, 13.0), "beyond a gap");
}
