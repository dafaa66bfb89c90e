//! Congestion marks: how receivers echo them, and how windows yield.

use crate::testbench::path::RTT;
use forebay_sim::cc::{Cc, Phase};
use forebay_sim::flow_kind::GeneralKind;
use forebay_sim::tcp::ack_packet::{AckPacket, EcnFlags};
use forebay_sim::tcp::profile::Profile;
use forebay_sim::tcp::receiver::Receiver;
use forebay_sim::tcp::sender::Sender;
use forebay_sim::time::{MILLISECOND, SECOND};

const MARKED: EcnFlags = EcnFlags { ce: true, cwr: false };
const CUT: EcnFlags = EcnFlags { ce: false, cwr: true };
const NOT_ECT: EcnFlags = EcnFlags { ce: false, cwr: false };

/// What a receiver that delays its ACKs sends at once for each of the segments, five milliseconds
/// apart, that follow its first quick ones: the segment expected next, and whether it echoes a mark.
fn answers(per_packet_echo: bool, signs: &[EcnFlags]) -> Vec<Option<(u32, bool)>> {
    let profile = Profile::linux();
    let mut receiver = Receiver::new(RTT, per_packet_echo);
    let mut seq = 0;
    let mut answer = |signs| {
        let at = SECOND + seq * 5 * MILLISECOND;
        let ack = receiver.on_segment::<GeneralKind>(seq, at, signs, &profile, |_, _| {});
        seq += 1;
        ack.map(|ack: AckPacket| (ack.next, ack.marked))
    };
    let quick = (0..40).filter(|_| answer(NOT_ECT).is_some()).count();
    assert!(quick < 40, "it delays them by then");
    signs.iter().map(|&signs| answer(signs)).collect()
}

/// RFC 3168, section 6.1.3; and Linux sends two ACKs at once after a mark, and one for a cut.
#[test]
fn a_mark_is_echoed_until_a_cut_is_told_of() {
    let told = answers(false, &[NOT_ECT, NOT_ECT, MARKED, NOT_ECT, NOT_ECT, NOT_ECT, CUT, NOT_ECT]);
    let echoes: Vec<bool> = told.iter().flatten().map(|&(_, marked)| marked).collect();
    let first = told.iter().position(|ack| ack.is_some_and(|ack| ack.1)).expect("an echo");
    assert_eq!(first, 2, "at once");
    assert!(told[3].is_some() && told[6] == Some((47, false)), "{told:?}");
    assert_eq!(echoes.iter().filter(|&&marked| marked).count(), 3, "{told:?}");
}

/// RFC 8257, section 3.2: where marks begin or end an ACK goes at once, and speaks of its own.
#[test]
fn each_mark_is_echoed_for_itself_where_that_is_asked_for() {
    let each = |ce| EcnFlags { ce, cwr: false };
    let told = answers(true, &[each(false), each(true), each(true), each(true), each(false)]);
    let echoes: Vec<bool> = told[1..].iter().flatten().map(|&(_, marked)| marked).collect();
    assert_eq!((told[1], told[4]), (Some((42, true)), Some((45, false))));
    assert!(echoes[..echoes.len() - 1].iter().all(|&marked| marked));
}

/// Linux, tcp_enter_cwr: half of what is acknowledged goes, from the first ACK on, until what is sent
/// after the mark has come; and a loss meanwhile cuts no further.
#[test]
fn a_window_yields_to_a_mark_as_to_a_loss() {
    let profile = Profile::linux();
    let sender = |marked: bool| {
        let mut tcp = Sender::new(Cc::by_name("reno").expect("listed"), u64::MAX, &profile);
        (tcp.window.cwnd, tcp.window.ssthresh, tcp.receive_window) = (20.0, 20.0, 1000);
        let mut sent = vec![];
        let mut let_go = |tcp: &mut Sender, now| {
            let before = tcp.snd_max;
            (0..tcp.sendable_segments::<GeneralKind>(&profile))
                .for_each(|_| _ = tcp.next_segment::<GeneralKind>(now));
            sent.push(tcp.snd_max - before);
        };
        let_go(&mut tcp, SECOND);
        for seq in 0..32_u32 {
            let now = SECOND + RTT + u64::from(seq) * MILLISECOND;
            let ack = AckPacket {
                next: seq + 1,
                sacked_last: seq,
                sacked_count: 1,
                marked,
                dsack: false,
                carried_lost_acks: 0,
            };
            let ack = AckPacket { marked: marked && seq == 0, ..ack };
            tcp.on_ack::<GeneralKind>(now, ack, &[], &profile);
            let_go(&mut tcp, now);
        }
        (tcp, sent)
    };
    let (tcp, sent) = sender(true);
    assert_eq!((tcp.phase, tcp.reductions, tcp.window.ssthresh), (Phase::Open, 1, 10.0));
    assert!(sent[1..21].iter().all(|&segments| segments <= 1), "{sent:?}");
    let first: u64 = sent[1..11].iter().sum();
    assert!((4..=6).contains(&first), "{first} of ten: {sent:?}");
    assert_eq!(sent[1..21].iter().sum::<u64>(), 10);
    assert!((10.0..12.0).contains(&tcp.window.cwnd), "{}", tcp.window.cwnd);
    let (free, all) = sender(false);
    assert!(free.window.cwnd > 20.0 && all[1..21].iter().sum::<u64>() >= 20);
}
