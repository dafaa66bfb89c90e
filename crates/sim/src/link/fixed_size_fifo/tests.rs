//! Against the queue that keeps its packets and lets them start one by one.

use super::*;
use crate::config::LinkSpec;
use crate::link::Link;
use crate::packet::{EcnCodepoint, Packet, Payload};
use crate::queue::fifo::PfifoParams;
use crate::queue::parameters::Wire;
use crate::queue::pie::PieParams;
use crate::queue::red::RedParams;
use crate::queue::registry::{Discipline, NAMES, QueueSpec};
use crate::time::{MILLISECOND, SECOND};
use proptest::prelude::*;
use std::mem::offset_of;

const BYTES: u32 = 1000;

/// What is done at an instant.
#[derive(Clone, Copy, Debug)]
enum Step {
    Offer(u16, bool),
    Refuse(u16),
    Look,
    Cut,
}

fn link(queue: &QueueSpec, tx_time: Picos, classes: u16, uniform: Option<u32>) -> Link {
    let rate_bps = f64::from(BYTES) * 8.0 * SECOND as f64 / tx_time as f64;
    let queue = queue.clone();
    let spec = LinkSpec::plain(rate_bps, queue);
    let wire =
        Wire { rate_bps, largest_packet: 1500, smallest_packet: 40, shaped: false, framing: None };
    Link::new(&spec, &wire, 7, classes.into(), uniform)
}

fn enqueue(link: &mut Link, now: Picos, class: u16, ect: bool) -> Verdict {
    let ecn = if ect { EcnCodepoint::Ect0 } else { EcnCodepoint::NotEct };
    let payload = Payload::data(0, 0).with_ecn(ecn, false);
    let packet = Packet { flow: 0, bytes: BYTES, class, payload };
    let fast = link.try_enqueue_fast(now, class);
    fast.unwrap_or_else(|| link.enqueue(now, &packet, &mut Vec::new()))
}

/// Transmission times of a few picoseconds, so that all instants meet, and of milliseconds.
fn works() -> impl Strategy<Value = Picos> {
    prop_oneof![2_u64..20, 1000_u64..100_000, Just(MILLISECOND), MILLISECOND..40 * MILLISECOND]
}

/// Queues so small that they drop, and one so large that several levels share a bin.
fn queues() -> impl Strategy<Value = QueueSpec> {
    let listed = (0..NAMES.len(), 1_u32..40)
        .prop_map(|(name, packets)| {
            QueueSpec::by_name(NAMES[name]).expect("listed").sized(packets, BYTES)
        })
        .prop_filter("decides on arrival", decides_on_arrival);
    let red = (0.01_f64..0.5, any::<bool>()).prop_map(|(weight, ecn)| {
        let (min, max, weight) = (Some(3000), Some(20_000), Some(weight));
        QueueSpec::Red(RedParams { limit: 30_000, min, max, weight, ecn, ..RedParams::default() })
    });
    let pie = any::<bool>()
        .prop_map(|ecn| QueueSpec::Pie(PieParams { limit: 60, ecn, ..PieParams::default() }));
    let small = (1_u32..40).prop_map(|limit| QueueSpec::Pfifo(PfifoParams { limit }));
    let large = QueueSpec::by_name("pfifo").expect("listed").sized(30_000, BYTES);
    prop_oneof![3 => small, 3 => listed, 1 => red, 1 => pie, 1 => Just(large)]
}

fn decides_on_arrival(queue: &QueueSpec) -> bool {
    let wire = Wire {
        rate_bps: 1e6,
        largest_packet: BYTES,
        smallest_packet: BYTES,
        shaped: false,
        framing: None,
    };
    matches!(queue.build(&wire, 0), Ok(Discipline::AtEnqueue(_)))
}

/// Steps with the time before each, in quarters of a transmission and picoseconds. Loads vary
/// from step to step; at times the wire is idle for long.
fn steps() -> impl Strategy<Value = Vec<((u64, u64), Step)>> {
    let gap = prop_oneof![6 => 0_u64..4, 3 => 4_u64..9, 1 => 9_u64..400];
    let slip = prop_oneof![2 => Just(0_u64), 1 => 0_u64..3];
    let class = prop_oneof![4 => Just(0_u16), 1 => 1_u16..3];
    let step = prop_oneof![
        20 => (class.clone(), any::<bool>()).prop_map(|(class, ecn)| Step::Offer(class, ecn)),
        1 => class.prop_map(Step::Refuse),
        1 => Just(Step::Look),
        1 => Just(Step::Cut),
    ];
    proptest::collection::vec(((gap, slip), step), 1..600)
}

/// The readings of both links so far.
fn same_readings(one: &Link, two: &Link) -> Result<(), TestCaseError> {
    prop_assert_eq!(&one.meter.batches, &two.meter.batches);
    prop_assert_eq!(one.meter.delay.counts(), two.meter.delay.counts());
    let details = one.meter.detail.iter().zip(&two.meter.detail);
    for (one, two) in details {
        prop_assert_eq!(&one.queue_seen_by_arrivals, &two.queue_seen_by_arrivals);
        let pairs =
            [(&one.periods.busy, &two.periods.busy), (&one.periods.idle, &two.periods.idle)];
        for (one, two) in pairs {
            prop_assert_eq!(one.total, two.total);
            prop_assert_eq!(one.lengths.counts(), two.lengths.counts());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn it_reads_what_a_queue_reads_that_keeps_its_packets(
        queue in queues(), tx_time in works(), steps in steps(), classes in 1_u16..4,
        detailed in any::<bool>(),
    ) {
        let mut kept = link(&queue, tx_time, classes, None);
        let mut uniform = link(&queue, tx_time, classes, Some(BYTES));
        prop_assert!(matches!(uniform.queue, super::super::Queue::FixedSizeFifo(_)));
        prop_assert_eq!(uniform.info(), kept.info());
        let (mut now, mut cuts) = (0, 0);
        for ((quarters, slip), step) in steps {
            now += quarters * tx_time / 4 + slip;
            match step {
                Step::Offer(class, ecn) => prop_assert_eq!(
                    enqueue(&mut uniform, now, class % classes, ecn),
                    enqueue(&mut kept, now, class % classes, ecn)
                ),
                Step::Refuse(class) => {
                    for link in [&mut uniform, &mut kept] { link.refuse(now, class % classes); }
                }
                Step::Look => {}
                Step::Cut => {
                    for link in [&mut uniform, &mut kept] { link.end_batch(now); }
                    if cuts == 0 {
                        for link in [&mut uniform, &mut kept] { link.begin(detailed); }
                    }
                    cuts += 1;
                }
            }
            if !matches!(step, Step::Offer(..)) {
                prop_assert_eq!(uniform.waiting(now), kept.waiting(now));
                prop_assert_eq!(uniform.bytes_held(now), kept.bytes_held(now));
            }
        }
        for link in [&mut uniform, &mut kept] {
            link.end_batch(now + tx_time);
            link.end_batch(now + 2 * tx_time);
            link.meter.end();
        }
        same_readings(&uniform, &kept)?;
    }

    #[test]
    fn it_divides_as_the_machine_does(
        divisor in 2_u64..1 << 59, shift in 0_u32..58, dividend in 0_u64..1 << 60, near in 0_u64..3,
    ) {
        let divisor = (divisor >> shift).max(2);
        let division = Division::by(divisor);
        prop_assert_eq!(division.of(dividend), dividend / divisor);
        // Just below, at and above a multiple.
        let multiple = (dividend / divisor * divisor + near).saturating_sub(1).min((1 << 60) - 1);
        prop_assert_eq!(division.of(multiple), multiple / divisor);
    }
}

/// Two packets a millisecond each, the second half a millisecond after the first: it waits for as
/// long, and the wire is busy for two milliseconds.
#[test]
fn two_packets() {
    let mut link = link(&QueueSpec::by_name("pfifo").expect("listed"), MILLISECOND, 2, Some(BYTES));
    let half = MILLISECOND / 2;
    assert_eq!(enqueue(&mut link, 0, 0, false), Verdict::Departs(MILLISECOND));
    assert_eq!(enqueue(&mut link, half, 1, false), Verdict::Departs(2 * MILLISECOND));
    assert_eq!((link.waiting(half), link.bytes_held(half)), (1, 2 * u64::from(BYTES)));
    assert_eq!((link.waiting(2 * half), link.bytes_held(2 * half)), (0, u64::from(BYTES)));
    link.end_batch(3 * half / 2);
    link.end_batch(5 * half);
    let [first, second] = &link.meter.batches[..] else { panic!("two cuts") };
    assert_eq!((first.busy, second.busy), (3 * half / 2, 5 * half / 2));
    assert_eq!(
        (&first.queue_time[..2], &second.queue_time[..2]),
        (&[half, half / 2][..], &[3 * half, half / 2][..])
    );
    assert_eq!((first.delay_sum, second.delay_sum), (u128::from(half), 0));
    let sent = |class: usize| [first, second].map(|batch| batch.classes[class].sent_bytes);
    assert_eq!((sent(0), sent(1)), ([BYTES.into(), 0], [0, BYTES.into()]));
}

#[test]
fn what_would_not_be_exact_is_kept_packet_by_packet() {
    for (tx_time, capacity, fits) in [
        (0, 10, false),
        (1, 10, false),
        (2, 10, true),
        (1 << 57, 5, true),
        (1 << 57, 6, false),
        (2, usize::MAX, false),
    ] {
        assert_eq!(takes(tx_time, capacity), fits, "{tx_time} {capacity}");
    }
}

#[test]
fn what_most_packets_touch_of_a_link_lies_in_three_lines() {
    let end_of_queue =
        offset_of!(Link, queue) + size_of::<u64>() + offset_of!(FixedSizeFifo, accepted);
    assert!(end_of_queue <= 128, "{end_of_queue}");
    let end_of_meter = offset_of!(LinkMeter, longest) + size_of::<Picos>();
    assert!(end_of_meter <= 64, "{end_of_meter}");
    assert_eq!((align_of::<Link>(), offset_of!(Link, meter) % 64), (64, 0));
}
