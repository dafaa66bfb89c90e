use super::*;
use crate::packet::Payload;
use crate::queue::QueuedPacket;
use crate::queue::parameters::{Parameters, Wire};
use crate::queue::registry::QueueSpec;
use crate::queue::testbench::{self, Bench, Event, WIRE};
use crate::time::{MILLISECOND, SECOND};
use std::collections::BTreeMap;

const SEED: u64 = 5;

fn spec(change: impl FnOnce(&mut CakeParams)) -> QueueSpec {
    let mut params = CakeParams::default();
    change(&mut params);
    QueueSpec::Cake(params)
}

fn packet(flow: u32, number: u64) -> QueuedPacket {
    let train = testbench::train(flow, 1500, 0, 1, 1);
    QueuedPacket { payload: Payload::data(number, 0), ..train[0] }
}

fn bytes_of(events: &[Event], flow: u32) -> u64 {
    let own = events.iter().filter(|event| event.packet.flow == flow);
    own.map(|event| u64::from(event.packet.bytes)).sum()
}

#[test]
fn a_shaper_s_rate_sets_quantum_times_and_memory() {
    let built = |rate_bps, shaped| {
        CakeParams::default().build(&Wire { rate_bps, largest_packet: 1514, shaped, ..WIRE }, SEED)
    };
    // As `tc -s qdisc` shows of a kernel's: 1 Mbit/s is 125000/4096 = 30 B, 300 at least; 12.112 ms a packet.
    let slow = built(1e6, true);
    assert_eq!((slow.quantum, slow.memory_limit), (300, 4 << 20));
    assert_eq!(slow.setpoint.target, 18_168_000_000);
    let middle = built(20e6, true);
    assert_eq!((middle.quantum, middle.setpoint.target), (610, 5 * MILLISECOND));
    let fast = built(200e6, true);
    assert_eq!((fast.quantum, fast.memory_limit), (1514, 10_000_000));
    assert_eq!(built(10e9, true).memory_limit, 10_240 * 1514);
    let unlimited = built(1e6, false);
    assert_eq!((unlimited.quantum, unlimited.setpoint.mtu_time), (1514, 0));
    assert_eq!(unlimited.setpoint.target, 5 * MILLISECOND);
}

#[test]
fn backlogged_flows_get_the_same_bytes_whatever_the_packet_sizes() {
    let packets = testbench::merge(&[
        testbench::train(0, 1500, 0, 4 * SECOND, MILLISECOND / 2),
        testbench::train(1, 300, 0, 4 * SECOND, MILLISECOND / 10),
        testbench::train(2, 700, 0, 4 * SECOND, MILLISECOND / 4),
    ]);
    let log = testbench::run(&spec(|_| ()), &WIRE, SEED, &packets);
    let busy: Vec<Event> =
        log.sent.into_iter().filter(|event| (SECOND..4 * SECOND).contains(&event.at)).collect();
    let shares = [0, 1, 2].map(|flow| bytes_of(&busy, flow));
    let apart = shares.iter().max().expect("three") - shares.iter().min().expect("three");
    assert!(apart <= 2 * (1514 + 1500), "{shares:?}");
    assert!(shares.iter().sum::<u64>() >= 3 * 1_500_000 - 3_000, "{shares:?}");
}

#[test]
fn a_sparse_flow_comes_before_all_that_have_had_their_turn() {
    let mut queue = Bench::of(CakeParams::default().build(&WIRE, SEED));
    let mut lost = |_| panic!("nothing is lost");
    for number in 0..4 {
        queue.enqueue(0, packet(0, number), &mut lost);
        queue.enqueue(0, packet(1, 10 + number), &mut lost);
    }
    let mut take =
        |queue: &mut Bench<Cake>| queue.dequeue(0, &mut lost).map(|(sent, _)| sent.payload.seq());
    // 1514 allows one packet of 1500 and the next, as 14 bytes are left.
    assert_eq!([(); 4].map(|()| take(&mut queue)), [Some(0), Some(1), Some(10), Some(11)]);
    queue.enqueue(0, packet(2, 20), &mut |_| panic!("nothing is lost"));
    assert_eq!(take(&mut queue), Some(20));
    assert_eq!([(); 4].map(|()| take(&mut queue)), [Some(2), Some(12), Some(3), Some(13)]);
    assert_eq!(take(&mut queue), None);
}

#[test]
fn the_last_packet_of_a_queue_is_never_lost_to_the_law() {
    let spec = spec(|params| params.rtt = MILLISECOND / 10);
    // One flow that sends a packet just when the one before has left, beside a flood.
    let packets = testbench::merge(&[
        testbench::train(0, 1500, 0, 4 * SECOND, MILLISECOND / 3),
        testbench::train(1, 1500, 0, 4 * SECOND, 40 * MILLISECOND),
    ]);
    let log = testbench::run(&spec, &WIRE, SEED, &packets);
    assert!(log.dropped.len() > 1000);
    assert!(log.dropped.iter().all(|event| event.packet.flow == 0));
}

#[test]
fn an_overflow_takes_one_packet_from_the_head_of_the_fattest_queue() {
    let params = CakeParams { limit: 10, ..CakeParams::default() };
    let mut queue = Bench::of(params.build(&WIRE, SEED));
    let mut lost = Vec::new();
    (0..7).for_each(|number| {
        queue.enqueue(0, packet(0, number), &mut |p| lost.push(p.payload.seq()))
    });
    (0..5).for_each(|number| {
        queue.enqueue(0, packet(1, 100 + number), &mut |p| lost.push(p.payload.seq()))
    });
    assert_eq!(lost, [0, 1]);
    assert_eq!(queue.packets.len(), 10);
    let memory = CakeParams { memlimit: Some(10 * (1500 + 576)), ..CakeParams::default() };
    let mut queue = Bench::of(memory.build(&WIRE, SEED));
    let mut lost = 0;
    (0..12).for_each(|number| queue.enqueue(0, packet(0, number), &mut |_| lost += 1));
    assert_eq!(lost, 2);
}

/// More flows than queues: all have to share, some move on as others leave; none is reordered, none starves.
#[test]
fn flows_that_share_a_queue_stay_in_order() {
    let trains: Vec<_> = (0..3000)
        .map(|flow| testbench::train(flow, 100, u64::from(flow % 97), SECOND, 200 * MILLISECOND))
        .collect();
    let packets = testbench::merge(&trains);
    let log = testbench::run(&spec(|params| params.limit = 4000), &WIRE, SEED, &packets);
    let mut last: BTreeMap<u32, u64> = BTreeMap::new();
    for event in &log.sent {
        let before = last.insert(event.packet.flow, event.packet.payload.seq());
        assert!(before.is_none_or(|before| before < event.packet.payload.seq()), "{event:?}");
    }
    assert_eq!(last.len(), 3000);
    assert!(!log.dropped.is_empty());
}
