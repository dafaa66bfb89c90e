use super::super::offload::Offload;
use super::super::profile::LINUX;
use super::*;
use crate::cc::Cc;
use crate::fast::flow_kind::GeneralKind;
use crate::time::SECOND;

const SEGMENT: u32 = 1448;

fn on() -> Profile {
    Profile { offload: Offload::ON, ..LINUX.clone() }
}

/// A sender with a window of `cwnd` and a round trip of `srtt` that has sent `out` segments at `SECOND`.
fn sender(cwnd: f64, srtt: Picos, out: u64) -> Sender {
    let profile = on();
    let mut tcp = Sender::new(Cc::by_name("reno").expect("listed"), u64::MAX, &profile);
    (0..out).for_each(|_| _ = tcp.next_segment::<GeneralKind>(SECOND));
    tcp.window.cwnd = cwnd;
    tcp.window.ssthresh = cwnd;
    tcp.receive_window = u32::MAX;
    (tcp.rtt.srtt, tcp.rtt.min_rtt) = (srtt, srtt);
    tcp
}

#[test]
fn a_burst_is_a_millisecond_at_the_pacing_rate_and_at_least_two_segments() {
    let goal = |cwnd, srtt| sender(cwnd, srtt, 0).burst_goal(SEGMENT, &on());
    let ms = MILLISECOND;
    assert_eq!(goal(100.0, 100 * ms), 2, "1.2 segments a millisecond");
    assert_eq!(goal(1100.0, 100 * ms), 12, "1.2 x 11000 / 1024");
    assert_eq!(goal(10_240.0, 100 * ms), 45, "what 64 KiB hold");
    assert_eq!(goal(2.0, 512 * MICROSECOND), 27, "near: half of 64 KiB, and 6.6 kB at the rate");
    let jumbo = sender(10_240.0, 100 * ms, 0).burst_goal(8948, &on());
    assert_eq!(jumbo, 7);
    assert_eq!(sender(1e4, 100 * ms, 0).burst_goal(SEGMENT, &LINUX), 1);
}

#[test]
fn a_part_of_a_window_waits_only_for_an_ack_that_is_near() {
    let srtt = 100 * MILLISECOND;
    let burst = |now: Picos, sendable: u64, out: u64| {
        sender(1024.0, srtt, out).next_burst(now, sendable, 12, SEGMENT, &on())
    };
    // 90 segments fill two buffers of 45: the next has 45 left.
    let (due, early) = (SECOND + MILLISECOND / 2, SECOND + MILLISECOND / 4);
    assert_eq!(burst(early, 4, 90), 4, "the ACK is 99.75 ms away");
    let short = |sendable, now, out| {
        sender(1024.0, MILLISECOND, out).next_burst(now, sendable, 12, SEGMENT, &on())
    };
    assert_eq!(short(4, due, 90), 0, "it is half a millisecond away");
    assert_eq!(short(4, SECOND + MILLISECOND / 4, 90), 4, "more than half a round trip");
    assert_eq!(short(12, due, 90), 12, "a whole burst");
    assert_eq!(short(4, due, 86), 4, "all that is left in its buffer");
    assert_eq!(short(342, due, 90), 12, "a third of the window");
    assert_eq!(short(4, SECOND + 2 * MILLISECOND, 90), 4, "the last write is old");
    assert_eq!(short(4, due, 0), 4, "nothing is out");
    let mut repairs = sender(1024.0, MILLISECOND, 90);
    repairs.phase = Phase::Recovery;
    assert_eq!(repairs.next_burst(due, 4, 12, SEGMENT, &on()), 4);
    let alone = Offload { deferral: Deferral::Never, ..Offload::ON };
    let profile = Profile { offload: alone, ..on() };
    let mut never = sender(1024.0, MILLISECOND, 90);
    assert_eq!(never.next_burst(due, 4, 12, SEGMENT, &profile), 4);
}

#[test]
fn a_burst_is_at_most_half_a_window_and_before_linux_6_10_ends_with_its_buffer() {
    let older = Profile { offload: Offload { grows_buffers: false, ..Offload::ON }, ..on() };
    let burst = |cwnd, out, profile: &Profile| {
        sender(cwnd, 100 * MILLISECOND, out).next_burst(SECOND, 40, 30, SEGMENT, profile)
    };
    assert_eq!([burst(1000.0, 0, &on()), burst(20.0, 0, &on())], [30, 10]);
    assert_eq!([burst(1000.0, 40, &on()), burst(1000.0, 40, &older)], [30, 5]);
}

#[test]
fn the_pacer_waits_for_a_whole_burst() {
    let profile = on();
    let mut tcp = Sender::new(Cc::by_name("bbr").expect("listed"), u64::MAX, &profile);
    tcp.window.pacing_rate = Some(1000.0);
    (0..4).for_each(|_| _ = tcp.next_segment::<GeneralKind>(SECOND));
    tcp.pace_burst(SECOND, SECOND, 4);
    assert_eq!(tcp.paced_until, SECOND + 4 * MILLISECOND);
    let late = SECOND + 5 * MILLISECOND;
    let before = tcp.paced_until;
    (0..4).for_each(|_| _ = tcp.next_segment::<GeneralKind>(late));
    tcp.pace_burst(late, before, 4);
    assert_eq!(tcp.paced_until, late + 3 * MILLISECOND, "a millisecond late, and makes up for it");
}

#[test]
fn before_linux_6_18_a_part_waited_from_half_a_round_trip_on() {
    let srtt = 2 * MILLISECOND;
    let older = Offload { deferral: Deferral::HalfRoundTrip, ..Offload::ON };
    let burst = |since: Picos, offload| {
        let mut tcp = sender(1024.0, srtt, 90);
        tcp.paced_until = SECOND + since; // something was sent lately
        let profile = Profile { offload, ..on() };
        tcp.next_burst(SECOND + since, 4, 12, SEGMENT, &profile)
    };
    let ms = MILLISECOND;
    assert_eq!([burst(ms * 9 / 10, older), burst(ms, older)], [4, 0]);
    let long = |offload| {
        let mut tcp = sender(1024.0, 100 * ms, 90);
        tcp.paced_until = SECOND + 60 * ms;
        tcp.next_burst(SECOND + 60 * ms, 4, 12, SEGMENT, &Profile { offload, ..on() })
    };
    assert_eq!([long(older), long(Offload::ON)], [0, 4]);
}
