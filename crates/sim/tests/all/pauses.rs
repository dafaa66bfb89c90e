//! What holds of every reading of a link that pauses, varies, loses, polices or delays by chance, on sparse traffic: most
//! packets meet an idle wire, many of them in a pause, and stay on it over several batches.

use crate::testbench::{dumbbell, flow, link, simulate, traced};
use forebay_sim::config::{
    BucketSpec, Config, Datagram, File, FlowSpec, JitterSpec, LinkSpec, LossSpec, RateTrace,
    Refill, Source,
};
use forebay_sim::meters::link::LinkBatch;
use forebay_sim::queue::registry::{NAMES, QueueSpec};
use forebay_sim::report::LinkReport;
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MICROSECOND, Picos, SECOND};
use proptest::prelude::*;
use std::sync::Arc;

const PACKETS: u32 = 60;
const FILES: u32 = 6;

/// Rates that are 0 for some of the time, over 1 ms to 100 s, and how long a step is in the mean.
fn traces() -> impl Strategy<Value = (RateTrace, Picos)> {
    let rate =
        prop_oneof![1 => Just(0.0), 1 => (3.0_f64..10.0).prop_map(|power| 10_f64.powf(power))];
    let steps = prop::collection::vec((rate, 1_u64..1000), 2..8);
    let span = (1_u32..6).prop_map(|power| MICROSECOND * 10_u64.pow(power));
    (steps, span, any::<bool>()).prop_filter_map("a trace", |(steps, unit, repeats)| {
        let mut at = 0;
        let mut made = Vec::new();
        for &(rate, length) in &steps {
            made.push((at, rate));
            at += length * unit + length % 7;
        }
        RateTrace::new(made, at, repeats).map(|trace| (trace, at / steps.len() as u64))
    })
}

fn buckets() -> impl Strategy<Value = BucketSpec> {
    let refills = [Refill::Continuous, Refill::Interval, Refill::Deficit];
    let given = (3.5_f64..9.0, 9_000_u64..90_000, 0_usize..3);
    given.prop_map(move |(power, burst_bytes, refill)| BucketSpec {
        rate_bps: 10_f64.powf(power),
        burst_bytes,
        excess_bytes: burst_bytes / 3,
        refill: refills[refill],
    })
}

/// A link whose wire varies, or that has a shaper; both with whatever else a link may have.
fn links() -> impl Strategy<Value = (LinkSpec, Picos)> {
    let extras = (
        prop::option::of(buckets()),
        prop::option::of((0_u64..2000, any::<bool>())),
        prop::option::of(0.0_f64..0.2),
        any::<[bool; 2]>(),
    );
    let given =
        (traces(), 0..NAMES.len(), 1_u32..100, extras, prop::option::weighted(0.2, buckets()));
    given.prop_map(|((trace, step), discipline, packets, extras, shaper)| {
        let (policer, jitter, loss, [drops_while_down, of_peak]) = extras;
        let peak = trace.peak_bps();
        let mut made = link(if of_peak { peak } else { trace.mean_bps() }, packets);
        made.queue = QueueSpec::by_name(NAMES[discipline]).expect("listed").sized(packets, 1500);
        made.drops_while_down = drops_while_down;
        made.policer = policer;
        made.jitter = jitter.map(|(most, reorders)| JitterSpec {
            most: most * MICROSECOND,
            share: 0.7,
            reorders,
        });
        made.loss = loss.map(LossSpec::bernoulli);
        if shaper.is_some() {
            (made.shaper, made.rate_bps) = (shaper, peak);
        } else {
            made.rate_trace = Some(Arc::new(trace));
        }
        (made, step)
    })
}

/// Datagrams, users and short transfers, with pauses some steps of the trace long.
fn flows() -> impl Strategy<Value = Vec<(FlowSpec, u64)>> {
    let sources = prop_oneof![
        (0..PACKETS).prop_map(|first| Source::Datagrams(first, PACKETS)),
        (0..FILES).prop_map(|first| Source::Files(first, FILES)),
        (1_u64..20).prop_map(Source::Segments),
    ];
    let one = (sources, 0_u64..5000, 64_u32..9000, 0_u16..2);
    let made = one.prop_map(|(source, start, packet_bytes, class)| {
        let spec = FlowSpec { source, packet_bytes, class, ..flow(20 * MICROSECOND, 0) };
        (spec, start)
    });
    prop::collection::vec(made, 1..4)
}

fn configs() -> impl Strategy<Value = Config> {
    (links(), flows(), 1_u64..300, 1_u32..40).prop_map(|((link, step), flows, gap, batches)| {
        let starts =
            |(flow, start): (FlowSpec, u64)| FlowSpec { start: start * step / 1000, ..flow };
        let flows = flows.into_iter().map(starts).collect();
        let mut made = dumbbell(link, Profile::linux(), flows);
        made.links.push(crate::testbench::link(1e12, 100_000));
        made.routes[0].forward = vec![0, 1];
        made.profiles.push(Profile::ns2());
        let at = |n: u32| u64::from(n) * gap * step / 100 + u64::from(n);
        made.datagrams =
            (0..PACKETS).map(|n| Datagram { at: at(n), bytes: 40 + n * 977 % 8960 }).collect();
        let file = |n: u32| File { segments: 1 + u64::from(n), think: at(n) / 4 };
        made.files = (0..FILES).map(file).collect();
        (made.warmup, made.window, made.batches) = (step / 3, 12 * step + 1, batches);
        let ends = made.window;
        traced(made, ends)
    })
}

/// The readings of each batch, with the times at which it begins and ends.
fn spans(config: &Config) -> impl Iterator<Item = (Picos, Picos)> {
    let (from, window, batches) = (config.warmup, config.window, u64::from(config.batches));
    let cut =
        move |n: u64| from + (u128::from(window) * u128::from(n) / u128::from(batches)) as u64;
    (0..batches).map(move |n| (cut(n), cut(n + 1)))
}

fn check(config: &Config, read: &LinkReport) -> Result<(), TestCaseError> {
    let spec = &config.links[0];
    let mut held = read.held_at_first;
    for (batch, (from, to)) in read.batches.iter().zip(spans(config)) {
        let sum = |of: fn(&LinkBatch) -> Vec<u64>| of(batch).iter().sum::<u64>();
        let of_classes = sum(|b| b.classes.iter().map(|class| class.busy).collect());
        let seen = sum(|b| b.queue_time.clone());
        prop_assert_eq!(seen, to - from, "times at all lengths");
        let (arrivals, drops) = batch
            .classes
            .iter()
            .fold((0, 0), |(all, lost), class| (all + class.arrivals, lost + class.drops));
        let sent = sum(|b| b.classes.iter().map(|class| class.sent).collect());
        prop_assert_eq!(held + arrivals, drops + sent + batch.held, "packets");
        held = batch.held;
        match &spec.rate_trace {
            Some(trace) => {
                prop_assert_eq!(of_classes, batch.busy, "time of the classes");
                let bits = trace.bits_between(from, to) / spec.rate_bps * SECOND as f64;
                // Each time is rounded to whole picoseconds, and so is what is left at a batch's ends.
                let most = bits * (1.0 + 1e-9) + 2.0 * (sent + 2) as f64;
                prop_assert!(batch.busy as f64 <= most, "{} of {most}", batch.busy);
            }
            None => prop_assert!(batch.busy <= to - from, "{} of {}", batch.busy, to - from),
        }
    }
    let periods = &read.detail.as_ref().expect("asked for").periods;
    prop_assert_eq!(periods.busy.total + periods.idle.total, config.window, "stretches");
    let waits: u64 = read.delay.counts().iter().sum();
    let accepted = read.batches.iter().flat_map(|batch| &batch.classes);
    prop_assert_eq!(waits, accepted.map(|class| class.accepted).sum::<u64>(), "waits");
    Ok(())
}

/// A packet of 1 ms on a wire that is then idle to the end, with nothing that conditions it, a loss that never is, or a pause
/// that comes later.
#[test]
fn a_wire_is_idle_to_the_end_of_the_window() {
    let paused =
        RateTrace::new(vec![(0, 12e6), (SECOND / 2, 0.0), (SECOND * 3 / 4, 12e6)], SECOND, false);
    let conditions =
        [(None, None), (Some(LossSpec::bernoulli(0.0)), None), (None, paused.map(Arc::new))];
    for name in ["pfifo", "codel"] {
        for (loss, rate_trace) in conditions.clone() {
            let queue = QueueSpec::by_name(name).expect("listed").sized(10, 1500);
            let spec = LinkSpec { loss, rate_trace, queue, ..link(12e6, 10) };
            let source = FlowSpec { source: Source::Datagrams(0, 1), ..flow(MICROSECOND, 0) };
            let mut made = dumbbell(spec, Profile::ns2(), vec![source]);
            made.datagrams = vec![Datagram { at: 0, bytes: 1500 }];
            (made.warmup, made.window, made.batches) = (0, SECOND, 4);
            let report = simulate(&traced(made, SECOND));
            let idle = report.links[0].detail.as_ref().expect("asked for").periods.idle.total;
            assert!(idle.abs_diff(SECOND * 999 / 1000) < 20 * MICROSECOND, "{name}: {idle}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn readings_of_a_link_that_pauses_add_up(config in configs()) {
        prop_assume!(config.check().is_ok());
        check(&config, &simulate(&config).links[0])?;
    }
}
