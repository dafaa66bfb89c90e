//! What the profile `linux` does and `ns2` does not, each mechanism against itself switched off.

use crate::testbench::path::{Listener, Path, RTT, finished};
use crate::testbench::{dumbbell, flow, link, simulate, spread, traced};
use forebay_sim::cc::{Cc, Phase};
use forebay_sim::config::LinkSpec;
use forebay_sim::flow_kind::GeneralKind;
use forebay_sim::queue::registry::QueueSpec;
use forebay_sim::tcp::profile::Profile;
use forebay_sim::tcp::sender::Sender;
use forebay_sim::time::{MILLISECOND, Picos, SECOND};

#[test]
fn a_lost_retransmission_is_repaired_without_a_timeout() {
    let lost = [(20, 2)];
    let path = finished(400, Profile::linux(), &lost);
    assert_eq!(path.sender.timeouts, 0);
    let times = path.transmissions(20);
    assert_eq!(times.len(), 3);
    let wait = times[2] - times[1];
    assert!(wait < 2 * RTT, "noticed a round trip later, not {wait}");
    let without = Profile { rack: false, tail_loss_probe: false, ..Profile::linux() };
    assert!(finished(400, without, &lost).sender.timeouts > 0);
}

#[test]
fn a_probe_after_two_round_trips_repairs_a_lost_tail() {
    let lost = [(37, 1), (38, 1), (39, 1)];
    let path = finished(40, Profile::linux(), &lost);
    assert_eq!(path.sender.timeouts, 0);
    let (tail, head) = (path.transmissions(39), path.transmissions(37));
    assert_eq!((tail.len(), head.len()), (2, 2));
    // The last ACK before the silence came about a round trip after the tail was sent.
    let silence = tail[1] - tail[0] - RTT;
    assert!(silence > 2 * RTT && silence < 3 * RTT, "{silence}");
    assert!(head[1] - tail[1] < RTT + 10 * MILLISECOND, "its SACK shows the rest");
    let without = Profile { tail_loss_probe: false, ..Profile::linux() };
    let slow = finished(40, without, &lost);
    assert_eq!(slow.sender.timeouts, 1);
    assert!(slow.sender.window.cwnd < path.sender.window.cwnd);
}

/// RFC 8985, section 7.4.2: the probe hid a loss from everybody but the sender.
#[test]
fn a_probe_that_repaired_a_loss_cuts_the_window() {
    let mut path = Path::new(40, Profile::linux(), &[(39, 1)]);
    path.run(Picos::MAX);
    assert_eq!((path.sender.timeouts, path.sender.window.ssthresh), (0, f64::INFINITY));
    path.sender.app_limit = 41;
    path.run(Picos::MAX);
    assert!(path.sender.window.ssthresh.is_finite());
}

#[test]
fn segments_are_acknowledged_singly_at_first_and_in_pairs_later() {
    let count = |profile: &Profile| {
        let mut listener = Listener::new();
        let mut acked = vec![];
        for seq in 0..100 {
            listener.on_segment(seq, SECOND + seq * 5 * MILLISECOND, profile);
            acked.push(listener.acks.len());
        }
        (acked[15], acked[99] - acked[15])
    };
    assert_eq!(count(&Profile::linux()), (16, 42));
    assert_eq!(count(&Profile { quick_acks: 0, ..Profile::linux() }).0, 8);
    assert_eq!(count(&Profile::ns2()), (16, 84));
}

#[test]
fn after_a_long_gap_acks_are_quick_again() {
    let mut listener = Listener::new();
    let profile = Profile::linux();
    (0..50).for_each(|seq| listener.on_segment(seq, seq * 5 * MILLISECOND, &profile));
    let before = listener.acks.len();
    let later = 10 * SECOND;
    (50..60).for_each(|seq| listener.on_segment(seq, later + seq, &profile));
    assert_eq!(listener.acks.len() - before, 10);
}

/// Linux: ato = ato / 2 + gap while gaps are below ato, at most the round trip.
#[test]
fn the_delay_of_an_ack_follows_the_gaps() {
    let wait = |gap: Picos, profile: &Profile| {
        let mut listener = Listener::new();
        let profile = Profile { quick_acks: 0, ..profile.clone() };
        (0..41).for_each(|seq| listener.on_segment(seq, SECOND + seq * gap, &profile));
        listener.receiver.delack_deadline() - SECOND - 40 * gap
    };
    let linux = Profile::linux();
    assert!(wait(5 * MILLISECOND, &linux).abs_diff(40 * MILLISECOND) < MILLISECOND);
    assert!(wait(30 * MILLISECOND, &linux).abs_diff(60 * MILLISECOND) < MILLISECOND);
    let fixed = Profile { adaptive_ack_delay: false, ..linux };
    assert_eq!(wait(30 * MILLISECOND, &fixed), 40 * MILLISECOND);
}

#[test]
fn acks_of_many_segments_out_of_order_wait_a_millisecond_for_each_other() {
    let acks = |profile: &Profile| {
        let mut listener = Listener::new();
        let burst = (1..20).filter(|&seq| seq != 2);
        burst.for_each(|seq| listener.on_segment(seq, SECOND + seq, profile));
        let mut gone = vec![];
        while listener.next_at() < Picos::MAX {
            gone.push((listener.next_at(), listener.next()));
        }
        gone
    };
    let plain = Profile { sack_compression: None, quick_acks: 0, ..Profile::linux() };
    assert_eq!(acks(&plain).len(), 18);
    let compressed = acks(&Profile { quick_acks: 0, ..Profile::linux() });
    assert_eq!(compressed.len(), 4, "three duplicates, then one for the rest");
    let (at, last) = compressed[3];
    assert_eq!((last.sacked_last, last.sacked_count), (19, 15));
    assert_eq!(at, SECOND + 5 + MILLISECOND);
}

/// RFC 6937: through a round trip of recovery a segment goes for every two delivered, so that the
/// window ends at ssthresh; without, the sender waits for half a window and then follows each ACK.
#[test]
fn prr_sends_a_segment_for_two_delivered() {
    let spacing = |prr: bool| {
        let profile =
            Profile { prr, delayed_ack: None, sack_compression: None, ..Profile::linux() };
        let mut path = Path::new(100_000, profile, &[(1500, 1)]);
        path.sender.window.ssthresh = 110.0; // the wire is always busy
        let enters = (0..100 * SECOND / MILLISECOND)
            .map(|step| SECOND + step * MILLISECOND)
            .find(|&at| {
                path.run(at);
                path.sender.phase == Phase::Recovery
            })
            .expect("a loss");
        let cwnd = path.sender.recover - path.sender.snd_una;
        path.run(enters + RTT - 2 * MILLISECOND);
        let after = |&&(at, seq): &&(Picos, u64)| at > enters && seq != 1500;
        let sent: Vec<Picos> = path.sent.iter().filter(after).map(|&(at, _)| at).collect();
        let widest = sent.windows(2).map(|pair| pair[1] - pair[0]).max().expect("several");
        (cwnd as f64, sent.len() as f64, sent[0] - enters, widest, path.sender.window.ssthresh)
    };
    let (flight, sent, first, widest, ssthresh) = spacing(true);
    assert!((sent / flight - 0.5).abs() < 0.15, "{sent} of {flight}");
    assert!(first < 6 * MILLISECOND && widest < 6 * MILLISECOND, "{first} {widest}");
    assert!((ssthresh / flight - 0.5).abs() < 0.1);
    let (flight, _, silence, ..) = spacing(false);
    assert!(silence > (flight as u64 / 3) * MILLISECOND, "{silence} of {flight}");
}

/// The sender's own link is the bottleneck: its queue stays with the sender, and the window stops.
#[test]
fn small_queues_keep_an_access_link_short() {
    let reading = |profile: Profile| {
        let mut one = flow(50 * MILLISECOND, 0);
        one.access_bps = 5e6;
        let mut config = traced(dumbbell(link(100e6, 1000), profile, vec![one]), SECOND);
        config.window = 60 * SECOND;
        let trace = simulate(&config).trace.expect("asked for");
        let last = |values: &[u64]| *values.last().expect("sampled");
        (*trace.flows[0].cwnd.last().expect("sampled"), last(&trace.flows[0].srtt))
    };
    // 5 Mbit/s over 50 ms: 21 segments, of 2.4 ms each.
    let (cwnd, srtt) = reading(Profile::linux());
    assert!(cwnd < 100.0, "{cwnd}");
    assert!(srtt < 65 * MILLISECOND, "{srtt}");
    let off = Profile { small_queues: false, validates_window: false, ..Profile::linux() };
    let (cwnd, srtt) = reading(off);
    assert!(cwnd > 100.0 && srtt > 200 * MILLISECOND, "{cwnd} {srtt}");
}

/// What a flow may cost besides what its window holds.
#[test]
fn a_flow_s_state_is_small() {
    let bytes = size_of::<forebay_sim::flow::Flow>()
        + size_of::<forebay_sim::tcp::scoreboard::Scoreboard>();
    println!("{bytes}");
    assert!(bytes <= 640, "{bytes}");
}

/// A sender that paces ten segments a second, at its first segments. Its controller is one that paces:
/// another's sender has no pacer.
fn paced() -> (Sender, Profile) {
    let profile = Profile::linux();
    let mut sender = Sender::new(Cc::by_name("prague").expect("listed"), 1000, &profile);
    sender.window.pacing_rate = Some(10.0);
    (sender, profile)
}

/// Linux, tcp_pacing_delay: what pacing holds back is no reason for a timeout.
#[test]
fn timers_wait_as_long_as_pacing_does() {
    let (mut sender, _) = paced();
    sender.paced_until = SECOND;
    sender.next_segment::<GeneralKind>(SECOND);
    assert_eq!(sender.earliest_departure_time(SECOND), Some(SECOND + RTT));
    assert_eq!(sender.timer_at, SECOND + SECOND + RTT);
}

/// Linux, tcp_update_skb_after_send: at most half of the next gap.
#[test]
fn a_late_segment_shortens_the_gap_after_it() {
    for (late, gap) in [(0, RTT), (RTT / 4, RTT - RTT / 4), (10 * RTT, RTT / 2)] {
        let (mut sender, _) = paced();
        sender.paced_until = SECOND;
        sender.next_segment::<GeneralKind>(SECOND + late);
        assert_eq!(sender.earliest_departure_time(SECOND + late), Some(SECOND + late + gap));
    }
}

/// Linux, tcp_retransmit_timer: what a timeout repeats is not paced.
#[test]
fn a_timeout_repeats_a_segment_whatever_the_pacing() {
    let (mut sender, profile) = paced();
    sender.next_segment::<GeneralKind>(SECOND);
    sender.paced_until = 100 * SECOND;
    sender.on_timer(sender.timer_at, &profile);
    assert_eq!(sender.timeouts, 1);
    let now = 3 * SECOND;
    assert_eq!(sender.earliest_departure_time(now), None);
    assert_eq!(sender.next_segment::<GeneralKind>(now), 0);
    assert!(sender.earliest_departure_time(now).is_some());
}

/// Before the first ACK a receiver offers 65535 bytes; one whose window is set, that window.
#[test]
fn a_receive_window_starts_small_where_it_is_tuned() {
    for (max_window, allowed) in [(u32::MAX, 45), (300, 300)] {
        let profile = Profile { max_window, initial_window: 1000, ..Profile::linux() };
        let sender = Sender::new(Cc::by_name("reno").expect("listed"), 1000, &profile);
        assert_eq!(sender.sendable_segments::<GeneralKind>(&profile), allowed);
    }
}

/// Code of their own makes such flows faster, and nothing else, also over a queue whose discipline
/// chooses what to send. ECN, which neither queue here makes use of, takes them off it; another size
/// of ACKs, which queue nowhere, off that of a shipped profile.
#[test]
fn flows_with_code_of_their_own_do_what_any_would() {
    for name in ["pfifo", "codel"] {
        let queue = QueueSpec::by_name(name).expect("listed").sized(30, 1500);
        let link = LinkSpec { queue, ..link(10e6, 30) };
        let mut flows = spread(40);
        // No two events of two flows at one instant, whose order were another.
        (1..).zip(&mut flows).for_each(|(i, flow)| flow.rtt += 1_234_567 * i * i);
        let run = |profile| simulate(&dumbbell(link.clone(), profile, flows.clone()));
        for shipped in [Profile::linux(), Profile::ns2()] {
            let any = run(Profile { ecn: true, ..shipped.clone() });
            let alike = Profile { ack_bytes: 60, ..shipped.clone() };
            assert!(!alike.equal_but_what_flows_keep(&shipped));
            for own in [run(shipped), run(alike)] {
                assert_eq!(
                    (own.classes, own.flow_bytes),
                    (any.classes.clone(), any.flow_bytes.clone())
                );
                assert!(25 * own.events < 24 * any.events, "they save events");
            }
        }
    }
}
