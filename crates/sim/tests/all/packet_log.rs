//! What becomes of each packet at each link.

use crate::testbench::{dumbbell, flow, link, simulate, spread};
use forebay_sim::config::{Config, File, FlowSpec, LinkSpec, Route, Source};
use forebay_sim::packet_log::PacketEventKind::{Dequeue, Drop, Enqueue, Mark};
use forebay_sim::packet_log::{PacketEvent, PacketEventKind};
use forebay_sim::queue::registry::QueueSpec;
use forebay_sim::report::Report;
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, Picos, SECOND};

fn logged(config: Config) -> (Report, Vec<PacketEvent>) {
    let logged_links = config.links.len() as u32;
    let mut report = simulate(&Config { logged_links, ..config });
    let log = report.packet_log.take().expect("asked for");
    (report, log)
}

/// 1500 bytes at 10 Mbit/s take 1.2 ms.
#[test]
fn a_transfer_alone_is_logged_packet_by_packet() {
    let mut one = flow(100 * MILLISECOND, 6 * SECOND);
    (one.source, one.access_bps) = (Source::Segments(3), 1e15);
    let (_, log) = logged(dumbbell(link(1e7, 1), Profile::linux(), vec![one]));
    let rows: Vec<_> = log.iter().map(|row| (row.at - log[0].at, row.number, row.kind)).collect();
    let (first, tx) = (&rows[..6], 1_200_000_000);
    let at_once = |row: &(Picos, u64, PacketEventKind)| row.0 < tx;
    assert_eq!(first.iter().filter(|row| at_once(row)).count(), 3, "{first:?}");
    let kinds: Vec<_> = first.iter().map(|row| (row.1, row.2)).collect();
    assert_eq!(kinds[..4], [(0, Enqueue), (1, Enqueue), (2, Drop), (0, Dequeue)]);
    assert_eq!((rows[3].0, rows[4].0, kinds[4]), (tx, 2 * tx, (1, Dequeue)));
    assert_eq!((log[0].bytes, log[0].is_ack, log[0].connection), (1500, false, 0));
}

/// Queues of each kind: the counters that are not of the log say the same, and none of them changes.
#[test]
fn a_log_adds_up_to_the_readings_and_changes_none() {
    for name in ["pfifo", "red", "codel", "fq_codel"] {
        let queue = QueueSpec::by_name(name).expect("listed");
        let queue = if name == "pfifo" { link(1.0, 30).queue } else { queue };
        let narrow = LinkSpec { queue, ..link(2e7, 30) };
        let mut config = dumbbell(narrow, Profile { ecn: true, ..Profile::linux() }, spread(20));
        config.links.extend([link(1.5e7, 200), link(1e6, 50)]);
        config.routes = vec![Route { forward: vec![0, 1], backward: vec![2] }];
        let plain = simulate(&config);
        let (report, log) = logged(config);
        assert_eq!(report.classes, plain.classes, "{name}");
        assert_eq!(report.flow_packets, plain.flow_packets);
        assert!(plain.packet_log.is_none());
        for (number, (one, other)) in (0..).zip(report.links.iter().zip(&plain.links)) {
            assert_eq!(one.batches, other.batches, "{name}, link {number}");
            let of =
                |kind| log.iter().filter(|r| r.link == number && r.kind == kind).count() as u64;
            let classes = || one.batches.iter().map(|batch| &batch.classes[0]);
            assert_eq!(of(Drop), classes().map(|class| class.drops).sum::<u64>(), "{name}");
            assert_eq!(of(Mark), classes().map(|class| class.marks).sum::<u64>(), "{name}");
            let sent: u64 = classes().map(|class| class.sent).sum();
            assert!(of(Dequeue).abs_diff(sent) <= 1, "{name}: one may be on the wire");
            assert_eq!(log.iter().filter(|r| r.link == number).all(|r| r.is_ack), number == 2);
        }
        assert!(log.is_sorted_by_key(|row| row.at) && log.iter().any(|row| row.kind == Drop));
    }
}

#[test]
fn connections_of_a_user_are_counted_beyond_a_byte() {
    let mut user = flow(MILLISECOND, 0);
    (user.source, user.access_bps) = (Source::Files(0, 300), 1e9);
    let mut config = dumbbell(link(1e9, 100), Profile::linux(), vec![user as FlowSpec]);
    config.files = vec![File { segments: 2, think: 0 }; 300];
    (config.warmup, config.window) = (0, 10 * SECOND);
    let (_, log) = logged(config);
    let left = log.iter().filter(|row| row.kind == Dequeue);
    let seen: Vec<_> = left.map(|row| (u64::from(row.connection), row.number)).collect();
    let expected: Vec<_> = (0..600).map(|packet| (packet / 2, packet % 2)).collect();
    assert_eq!(seen, expected);
}
