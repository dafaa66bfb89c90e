//! One suite that every discipline passes: it runs over the list, so nobody can forget it.

use super::classes::{ClassParams, ClassesParams};
use super::parameters::Wire;
use super::registry::{Discipline, NAMES, QueueSpec};
use super::testbench::{self, Log};
use super::{DequeueDiscipline, EnqueueDiscipline, Limit, QueuedPacket};
use crate::packet::{EcnCodepoint, Payload};
use crate::time::{MILLISECOND, Picos, SECOND};
use proptest::prelude::*;

/// Small limits and thresholds, so that all of a discipline happens in a short run.
fn tight(name: &str, packets: u32, ecn: bool) -> QueueSpec {
    match QueueSpec::by_name(name).expect("listed").sized(packets, 1500) {
        QueueSpec::Red(params) => QueueSpec::Red(super::red::RedParams {
            min: Some(3000),
            max: Some(20_000),
            weight: Some(0.1),
            probability: 0.3,
            ecn,
            ..params
        }),
        QueueSpec::Pie(params) => QueueSpec::Pie(super::pie::PieParams { ecn, ..params }),
        QueueSpec::Codel(params) => QueueSpec::Codel(super::codel::CodelParams {
            interval: 10 * MILLISECOND,
            ecn,
            ..params
        }),
        QueueSpec::FqCodel(params) => QueueSpec::FqCodel(super::fq_codel::FqCodelParams {
            interval: 10 * MILLISECOND,
            flows: 8,
            ecn,
            ..params
        }),
        // Six traffic classes in three queues: one before two that share.
        QueueSpec::Classes(params) => {
            let [first, mut second, mut third] =
                [0, 1, 1].map(|priority| ClassParams { priority, ..params.classes[0].clone() });
            second.weight = 2.5;
            third.queue = tight("red", packets, ecn).try_into().expect("plain");
            let classes = vec![first, second, third];
            QueueSpec::Classes(ClassesParams { classes, of_traffic: vec![1, 2, 0, 0, 1, 2] })
        }
        QueueSpec::DualPi2(params) => {
            QueueSpec::DualPi2(super::dualpi2::DualPi2Params { target: 2 * MILLISECOND, ..params })
        }
        QueueSpec::Cobalt(params) => QueueSpec::Cobalt(super::cobalt::CobaltParams {
            interval: 10 * MILLISECOND,
            ecn,
            ..params
        }),
        QueueSpec::Cake(params) => {
            QueueSpec::Cake(super::cake::CakeParams { rtt: 10 * MILLISECOND, ..params })
        }
        plain => plain,
    }
}

/// Arrivals of a few flows of mixed sizes, at times bursty and at times silent.
fn arrivals() -> impl Strategy<Value = Vec<QueuedPacket>> {
    let gap = prop_oneof![
        6 => Just(0), 6 => 0..2 * MILLISECOND, 1 => 0..SECOND
    ];
    let packet = (gap, 0_u32..6, 40_u32..=1500, any::<bool>());
    proptest::collection::vec(packet, 1..600).prop_map(|drawn| {
        let mut now: Picos = 0;
        let mut place = 0;
        let stamp = |(gap, flow, bytes, ecn_capable): (Picos, u32, u32, bool)| {
            now += gap;
            place += 1;
            let l4s = flow == 4; // all of a flow, or it waits in two queues
            let ecn = match (l4s, ecn_capable) {
                (true, _) => EcnCodepoint::Ect1,
                (_, true) => EcnCodepoint::Ect0,
                _ => EcnCodepoint::NotEct,
            };
            QueuedPacket {
                flow,
                class: flow as u16,
                bytes,
                arrived: now,
                payload: Payload::data(place - 1, 0).with_ecn(ecn, false),
            }
        };
        drawn.into_iter().map(stamp).collect()
    })
}

fn capacity(spec: &QueueSpec, wire: &Wire) -> usize {
    match spec.build(wire, 0).expect("valid") {
        Discipline::AtEnqueue(queue) => queue.capacity(),
        Discipline::AtDequeue(queue) => queue.capacity(),
    }
}

/// Every packet is sent or dropped, once, as it came.
fn conserved(packets: &[QueuedPacket], log: &Log) -> bool {
    let mut fates: Vec<QueuedPacket> =
        log.sent.iter().chain(&log.dropped).map(|event| event.packet).collect();
    fates.sort_by_key(|packet| packet.payload.seq());
    fates == packets
}

/// No flow is reordered.
fn in_order(log: &Log) -> bool {
    (0..6).all(|flow| {
        let own = log.sent.iter().filter(|event| event.packet.flow == flow);
        own.map(|event| event.packet.payload.seq()).is_sorted()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn packets_are_conserved_ordered_limited_and_marked_only_if_they_can_be(
        packets in arrivals(), limit in 1_u32..200, ecn in any::<bool>(), seed in any::<u64>(),
    ) {
        for name in NAMES {
            let spec = tight(name, limit, ecn);
            let log = testbench::run(&spec, &testbench::WIRE, seed, &packets);
            prop_assert!(conserved(&packets, &log), "{name}");
            prop_assert!(in_order(&log), "{name}");
            let most = capacity(&spec, &testbench::WIRE);
            prop_assert!(log.waiting.iter().all(|&waiting| waiting <= most), "{name}");
            let marks = ecn || ["dualpi2", "cake"].contains(name); // which have no switch
            for event in log.sent.iter().filter(|event| event.marked) {
                prop_assert!(marks && event.packet.is_ecn_capable(), "{name}");
            }
        }
    }

    #[test]
    fn the_wire_never_idles_while_a_packet_waits(packets in arrivals(), seed in any::<u64>()) {
        for name in NAMES {
            let log = testbench::run(&tight(name, 50, false), &testbench::WIRE, seed, &packets);
            let mut free_at = 0;
            for event in &log.sent {
                prop_assert!(event.at >= free_at, "{name}");
                prop_assert!(event.at <= free_at.max(event.packet.arrived), "{name}");
                free_at = event.at
                    + crate::time::serialization(event.packet.bytes, testbench::WIRE.rate_bps);
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_fate(packets in arrivals(), seed in any::<u64>()) {
        for name in NAMES {
            let fates = || {
                let log = testbench::run(&tight(name, 40, true), &testbench::WIRE, seed, &packets);
                let sent = log.sent.into_iter().map(|event| (event.at, event.packet, event.marked));
                sent.collect::<Vec<_>>()
            };
            prop_assert_eq!(fates(), fates());
        }
    }
}

#[test]
fn no_flow_starves_when_all_send_alike() {
    let trains: Vec<_> =
        (0..5).map(|flow| testbench::train(flow, 1000, 0, 10 * SECOND, 2 * MILLISECOND)).collect();
    let packets = testbench::merge(&trains);
    for name in NAMES {
        let spec = QueueSpec::by_name(name).expect("listed").sized(97, 1000);
        let log = testbench::run(&spec, &testbench::WIRE, 1, &packets);
        for flow in 0..5 {
            let sent = log.sent.iter().filter(|event| event.packet.flow == flow).count();
            assert!(sent > 0, "{name}: flow {flow}");
        }
    }
}

#[test]
fn a_queue_below_capacity_loses_nothing() {
    let packets =
        testbench::merge(&[testbench::train(0, 1500, 0, 10 * SECOND, MILLISECOND * 21 / 20)]);
    for name in NAMES {
        let spec = QueueSpec::by_name(name).expect("listed");
        let log = testbench::run(&spec, &testbench::WIRE, 1, &packets);
        assert!(log.dropped.is_empty(), "{name}");
        assert!(log.sent.iter().all(|event| !event.marked), "{name}");
    }
}

#[test]
fn what_was_built_has_its_name_and_the_limit_that_was_asked() {
    for name in NAMES {
        let spec = QueueSpec::by_name(name).expect("listed").sized(37, 1500);
        let (built, limit) = match spec.build(&testbench::WIRE, 0).expect("valid") {
            Discipline::AtEnqueue(queue) => (queue.name(), queue.limit()),
            Discipline::AtDequeue(queue) => (queue.name(), queue.limit()),
        };
        let in_bytes = matches!(*name, "bfifo" | "red");
        let asked = if in_bytes { Limit::Bytes(37 * 1500) } else { Limit::Packets(37) };
        assert_eq!((built, limit), (*name, asked));
    }
}

#[test]
fn names_lead_to_specs_and_back() {
    for name in NAMES {
        let spec = QueueSpec::by_name(name).expect("listed");
        assert_eq!(spec.name(), *name);
        assert_eq!(spec.check(), Ok(()), "{name}");
        let no_room = spec.sized(0, 1500).check().expect_err("no room");
        assert_eq!(no_room.field, "limit", "{name}");
    }
    assert!(QueueSpec::by_name("sfq").is_none());
}

#[test]
fn the_reference_has_a_chapter_for_each() {
    let reference = include_str!("../../../../docs/reference/queues.md");
    for name in NAMES {
        assert!(reference.contains(&format!("\n## `{name}`")), "{name}");
    }
}
