use super::*;
use crate::packet::Payload;
use crate::queue::QueuedPacket;
use crate::queue::parameters::Parameters;
use crate::queue::registry::QueueSpec;
use crate::queue::testbench::{self, Bench, Event, WIRE};
use crate::time::{MILLISECOND, SECOND};
use std::collections::BTreeSet;

const SEED: u64 = 11;

fn spec(change: impl FnOnce(&mut FqCodelParams)) -> QueueSpec {
    let mut params = FqCodelParams::default();
    change(&mut params);
    QueueSpec::FqCodel(params)
}

fn packet(flow: u32, number: u64) -> QueuedPacket {
    QueuedPacket { flow, class: 0, bytes: 1500, arrived: 0, payload: Payload::data(number, 0) }
}

fn bytes_of(events: &[Event], flow: u32) -> u64 {
    let own = events.iter().filter(|event| event.packet.flow == flow);
    own.map(|event| u64::from(event.packet.bytes)).sum()
}

#[test]
fn a_sparse_flow_never_waits_for_more_than_the_packet_on_the_wire() {
    // One packet every 20 ms beside a flow at twice the wire's rate (RFC 8290, section 1.3).
    let packets = testbench::merge(&[
        testbench::train(0, 1500, 0, 5 * SECOND, MILLISECOND / 2),
        testbench::train(1, 200, 10 * MILLISECOND, 5 * SECOND, 20 * MILLISECOND + 7),
    ]);
    let log = testbench::run(&spec(|_| ()), &WIRE, SEED, &packets);
    assert!(log.dropped.iter().all(|event| event.packet.flow == 0));
    for event in log.sent.iter().filter(|event| event.packet.flow == 1) {
        assert!(event.at - event.packet.arrived <= MILLISECOND, "{event:?}");
    }
}

#[test]
fn shares_are_equal_in_bytes_whatever_the_packet_sizes() {
    let packets = testbench::merge(&[
        testbench::train(0, 1500, 0, 4 * SECOND, MILLISECOND / 2),
        testbench::train(1, 300, 0, 4 * SECOND, MILLISECOND / 10),
        testbench::train(2, 700, 0, 4 * SECOND, MILLISECOND / 4),
    ]);
    let log = testbench::run(&spec(|_| ()), &WIRE, SEED, &packets);
    let busy: Vec<Event> =
        log.sent.into_iter().filter(|event| (SECOND..4 * SECOND).contains(&event.at)).collect();
    // Deficit round robin: never further apart than a quantum and a packet each.
    let shares = [0, 1, 2].map(|flow| bytes_of(&busy, flow));
    let apart = shares.iter().max().expect("three") - shares.iter().min().expect("three");
    assert!(apart <= 2 * (1514 + 1500), "{shares:?}");
    assert!(shares.iter().sum::<u64>() >= 3 * 1_500_000 - 3_000, "{shares:?}");
}

#[test]
fn turns_are_a_quantum_and_new_queues_come_before_old() {
    let mut queue = Bench::of(FqCodelParams::default().build(&WIRE, SEED));
    let mut lost = |_| panic!("nothing is lost");
    for number in 0..4 {
        queue.enqueue(0, packet(0, number), &mut lost);
        queue.enqueue(0, packet(1, 10 + number), &mut lost);
    }
    let mut take = |queue: &mut Bench<FqCodel>| {
        queue.dequeue(0, &mut lost).map(|(sent, _)| sent.payload.seq())
    };
    // 1514 allows one packet of 1500 and the next, as 14 bytes are left: two in the first turn.
    assert_eq!([(); 4].map(|()| take(&mut queue)), [Some(0), Some(1), Some(10), Some(11)]);
    queue.enqueue(0, packet(2, 20), &mut |_| panic!("nothing is lost"));
    assert_eq!(take(&mut queue), Some(20));
    // 1514 − 3000 + 1514 = 28: one packet a turn from here on.
    assert_eq!([(); 4].map(|()| take(&mut queue)), [Some(2), Some(12), Some(3), Some(13)]);
    assert_eq!(take(&mut queue), None);
}

#[test]
fn sparse_flows_that_take_turns_do_not_starve_the_old_queues() {
    // Whenever one of two flows is served the other sends a packet: each would be new again, and
    // first, did an emptied queue not wait a round among the old (RFC 8290, section 4.2).
    let mut queue = Bench::of(FqCodelParams::default().build(&WIRE, SEED));
    (0..1000).for_each(|number| queue.enqueue(0, packet(0, number), &mut |_| ()));
    let old = [(); 3].map(|()| queue.dequeue(0, &mut |_| ()).expect("backlogged").0.flow);
    assert_eq!(old, [0; 3]);
    let mut sent = [0; 3];
    for turn in 0..900 {
        queue.enqueue(0, packet(1 + turn % 2, 0), &mut |_| ());
        let (packet, _) = queue.dequeue(0, &mut |_| ()).expect("backlogged");
        sent[packet.flow as usize] += 1;
    }
    assert!((295..=305).contains(&sent[0]), "{sent:?}");
}

#[test]
fn overflow_takes_half_of_the_fattest_queue_and_at_most_a_batch() {
    let overflow = |limit: u32, fat: u32| {
        let params = FqCodelParams { limit, ..FqCodelParams::default() };
        let mut queue = Bench::of(params.build(&WIRE, SEED));
        let mut lost = Vec::new();
        (0..fat.into())
            .for_each(|number| queue.enqueue(0, packet(0, number), &mut |p| lost.push(p)));
        for number in fat.into()..=limit.into() {
            queue.enqueue(0, packet(1, number), &mut |p| lost.push(p));
        }
        assert!(lost.iter().all(|packet| packet.flow == 0), "from the fattest only");
        assert!(
            lost.iter().map(|packet| packet.payload.seq()).eq(0..lost.len() as u64),
            "from the head"
        );
        assert_eq!(queue.queue.queues[queue.queue.queue_of(0)].law.count, lost.len() as u32);
        lost.len()
    };
    assert_eq!(overflow(100, 60), 30);
    assert_eq!(overflow(1000, 800), 64);
}

#[test]
fn the_memory_limit_counts_linux_s_book_keeping() {
    let params = FqCodelParams { memory_limit: 10 * (1500 + 576), ..FqCodelParams::default() };
    let mut queue = Bench::of(params.build(&WIRE, SEED));
    let mut lost = 0;
    (0..10).for_each(|number| queue.enqueue(0, packet(0, number), &mut |_| lost += 1));
    assert_eq!(lost, 0);
    queue.enqueue(0, packet(0, 10), &mut |_| lost += 1);
    assert_eq!(lost, 6); // 5.5 packets are half of 11.
}

#[test]
fn each_queue_is_under_codel_s_law_of_its_own() {
    // Two floods: each gets half the wire, so each falls behind and is signalled by itself.
    let packets = testbench::merge(&[
        testbench::train(0, 1500, 0, 2 * SECOND, MILLISECOND),
        testbench::train(1, 1500, 0, 2 * SECOND, MILLISECOND),
        testbench::train(2, 1500, 0, 2 * SECOND, 10 * MILLISECOND),
    ]);
    let log = testbench::run(&spec(|_| ()), &WIRE, SEED, &packets);
    let drops = [0, 1, 2].map(|flow| bytes_of(&log.dropped, flow) / 1500);
    assert!(drops[0] > 10 && drops[0].abs_diff(drops[1]) <= 2, "{drops:?}");
    assert_eq!(drops[2], 0);
}

#[test]
fn the_hash_spreads_and_a_perturbation_spreads_otherwise() {
    let places = |seed| {
        let queue = FqCodelParams::default().build(&WIRE, seed);
        (0..1024).map(|flow| queue.queue_of(flow)).collect::<Vec<_>>()
    };
    let used: BTreeSet<usize> = places(1).into_iter().collect();
    // 1024 balls in 1024 bins leave 1/e empty: 647 in use, standard deviation 10.
    assert!((607..=687).contains(&used.len()), "{}", used.len());
    assert_ne!(places(1), places(2));
    assert_eq!(places(1), places(1));
}
