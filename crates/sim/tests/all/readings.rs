//! Readings against each other and against what is known of simple queues.

use crate::testbench::{dumbbell, flow, link, simulate, spread, traced};
use forebay_sim::config::{Config, Source};
use forebay_sim::meters::link::{LinkBatch, LinkDetail};
use forebay_sim::meters::trace::State;
use forebay_sim::queue::registry::QueueSpec;
use forebay_sim::report::Report;
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, Picos, SECOND};

/// Packets of a millisecond each, one a flow, at random instants: an M/D/1 queue of load `rho`.
fn poisson(rho: f64, seconds: u64) -> Config {
    let mut state = 1_u64;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / 2_f64.powi(31)
    };
    let n = (rho * 1000.0 * seconds as f64) as usize;
    let mut one = flow(MILLISECOND, 0);
    one.source = Source::Segments(1);
    one.access_bps = 1e12;
    let start = |share: f64| (share * (seconds * SECOND) as f64) as Picos;
    let flows = (0..n).map(|_| {
        one.start = start(random());
        one.clone()
    });
    let mut config = dumbbell(link(12e6, 1000), Profile::ns2(), flows.collect());
    (config.warmup, config.window) = (0, seconds * SECOND);
    config
}

fn detail(report: &Report) -> &LinkDetail {
    report.links[0].detail.as_deref().expect("asked for")
}

fn mean_of(weights: &[u64]) -> f64 {
    let total: u64 = weights.iter().sum();
    let sum: f64 =
        weights.iter().zip(0..).map(|(&weight, level)| weight as f64 * f64::from(level)).sum();
    sum / total as f64
}

fn queue_time(report: &Report) -> Vec<Picos> {
    let mut total = vec![0; report.links[0].batches[0].queue_time.len()];
    for batch in &report.links[0].batches {
        total.iter_mut().zip(&batch.queue_time).for_each(|(sum, &span)| *sum += span);
    }
    total
}

/// Poisson arrivals see time averages (Wolff 1982); the mean is Pollaczek and Khinchine's.
#[test]
fn poisson_arrivals_see_the_queue_that_time_sees() {
    let rho: f64 = 0.7;
    let report = simulate(&traced(poisson(rho, 300), 300 * SECOND));
    let (seen, time) =
        (mean_of(&detail(&report).queue_seen_by_arrivals), mean_of(&queue_time(&report)));
    let exact = rho * rho / (2.0 * (1.0 - rho));
    assert!((seen / time - 1.0).abs() < 0.02, "{seen} {time}");
    assert!((time / exact - 1.0).abs() < 0.05, "{time}, exact {exact}");
}

/// M/D/1: busy periods last D/(1-rho) in the mean, idle ones 1/lambda.
#[test]
fn busy_and_idle_periods_of_a_poisson_queue() {
    let (rho, seconds) = (0.7, 300);
    let report = simulate(&traced(poisson(rho, seconds), seconds * SECOND));
    let periods = &detail(&report).periods;
    let mean = |stretches: &forebay_sim::meters::periods::PeriodStats| {
        stretches.total as f64 / stretches.lengths.counts().iter().sum::<u64>() as f64
    };
    let millisecond = MILLISECOND as f64;
    let (busy, idle) = (mean(&periods.busy) / millisecond, mean(&periods.idle) / millisecond);
    assert!((busy * (1.0 - rho) - 1.0).abs() < 0.03, "busy {busy} ms");
    assert!((idle * rho - 1.0).abs() < 0.02, "idle {idle} ms");
    assert_eq!(periods.busy.total + periods.idle.total, seconds * SECOND);
}

/// TCP's packets come when the queue is long: a drop-tail queue drops what finds it full.
#[test]
fn every_drop_found_the_queue_full() {
    let config = traced(dumbbell(link(20e6, 20), Profile::ns2(), spread(30)), 10 * MILLISECOND);
    let report = simulate(&config);
    let drops: u64 = report.links[0].batches.iter().map(|batch| batch.classes[0].drops).sum();
    let seen = &detail(&report).queue_seen_by_arrivals;
    assert!(drops > 50, "{drops}");
    assert_eq!(seen[20], drops);
    assert!(mean_of(seen) > mean_of(&queue_time(&report)));
}

#[test]
fn moments_and_incidents_agree_with_the_samples() {
    let config = traced(dumbbell(link(20e6, 20), Profile::ns2(), spread(30)), 10 * MILLISECOND);
    let report = simulate(&config);
    let trace = report.trace.as_ref().expect("asked for");
    assert_eq!(trace.at.len(), 1000);
    assert_eq!((trace.at[0], trace.at[999]), (5 * SECOND, 15 * SECOND - 10 * MILLISECOND));
    let (cwnd, n) = (&trace.flows[0].cwnd, trace.at.len() as f64);
    let mean = cwnd.iter().sum::<f64>() / n;
    let variance = cwnd.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / n;
    assert!((trace.windows[0].0 - mean).abs() < 1e-9);
    assert!((trace.windows[0].1 / variance - 1.0).abs() < 1e-9);
    let means: f64 = trace.windows.iter().map(|(mean, _)| mean).sum();
    assert!((means - trace.window_sum.iter().sum::<f64>() / n).abs() < 1e-6);
    // Drops after the last sample are the only ones that no sample tells of.
    let told: u64 = trace.drops.iter().map(|drop| u64::from(drop.count)).sum();
    let all: u64 = report.classes.iter().map(|batch| batch[0].drops).sum();
    assert!(told <= all && all - told < 20, "{told} of {all}");
    // A window falls by half only where the sender is said to have backed off, or a partial ACK of a
    // recovery deflates a small one (RFC 6582, section 3.2, step 3).
    let recovers = |i: usize| trace.flows[0].state[i] == State::Recovery;
    let falls = |&i: &usize| cwnd[i] < 0.6 * cwnd[i - 1] && !(recovers(i) && recovers(i - 1));
    for i in (1..cwnd.len()).filter(falls) {
        assert!(trace.reductions.iter().any(|cut| cut.flow == 0 && cut.at == trace.at[i]));
    }
}

#[test]
fn a_flow_that_has_ended_counts_for_nothing() {
    let mut short = flow(20 * MILLISECOND, SECOND);
    short.source = Source::Segments(500);
    let mut config = dumbbell(link(10e6, 20), Profile::ns2(), vec![short]);
    config.warmup = 0;
    let report = simulate(&traced(config, 10 * MILLISECOND));
    let trace = report.trace.expect("asked for");
    let state = &trace.flows[0].state;
    assert_eq!((state[0], state[99]), (State::Idle, State::Idle));
    assert_eq!(state[101], State::SlowStart);
    assert!(state.contains(&State::Avoidance));
    assert_eq!(state.last(), Some(&State::Idle));
    assert_eq!(trace.window_sum.last(), Some(&0.0));
    assert_eq!(trace.in_avoidance.last(), Some(&0));
    assert_eq!(trace.flows[0].cwnd, trace.window_sum);
}

fn marking(name: &str) -> QueueSpec {
    let mut queue = QueueSpec::by_name(name).expect("listed").sized(200, 1500);
    match &mut queue {
        QueueSpec::Red(params) => params.ecn = true,
        QueueSpec::Codel(params) => params.ecn = true,
        QueueSpec::FqCodel(params) => params.ecn = true,
        QueueSpec::Pie(params) => params.ecn = true,
        _ => panic!("{name} marks nothing"),
    }
    queue
}

#[test]
fn marks_are_counted_where_they_are_made() {
    for name in ["red", "codel", "fq_codel", "pie"] {
        let mut config = dumbbell(link(20e6, 200), Profile::linux(), spread(30));
        config.links[0].queue = marking(name);
        let counts = |config: &Config| {
            let report = simulate(config);
            let class = |batch: &LinkBatch| (batch.classes[0].marks, batch.classes[0].drops);
            let sum = |one: (u64, u64), two: (u64, u64)| (one.0 + two.0, one.1 + two.1);
            report.links[0].batches.iter().map(class).fold((0, 0), sum)
        };
        let (marks, drops) = counts(&config);
        assert!(marks == 0 && drops > 20, "{name}: {marks} marks, {drops} drops");
        config.profiles[0].ecn = true;
        let (marks, drops) = counts(&config);
        assert!(marks > 20 && drops < marks, "{name}: {marks} marks, {drops} drops");
    }
}

#[test]
fn what_is_not_asked_for_is_not_read() {
    let mut config = dumbbell(link(20e6, 20), Profile::ns2(), spread(5));
    let report = simulate(&config);
    assert!(report.trace.is_none() && report.links[0].detail.is_none());
    config = traced(config, 10 * MILLISECOND);
    let asked = config.trace.as_mut().expect("just set");
    (asked.every_flow, asked.link_details, asked.window_sum) = (false, false, false);
    let report = simulate(&config);
    let trace = report.trace.expect("asked for");
    assert!(report.links[0].detail.is_none());
    assert!(trace.windows.is_empty() && trace.drops.is_empty() && trace.window_sum.is_empty());
    assert_eq!(trace.flows[0].cwnd.len(), trace.at.len());
}

/// They set no threshold by which a window could be told to be in slow start.
#[test]
fn bbr_leaves_its_start_once() {
    for name in ["bbr", "bbr3"] {
        let mut one = flow(40 * MILLISECOND, 0);
        one.congestion_control = name;
        let mut config = dumbbell(link(20e6, 100), Profile::linux(), vec![one]);
        (config.warmup, config.window) = (1, 20 * SECOND);
        let trace = simulate(&traced(config, 10 * MILLISECOND)).trace.expect("asked for");
        let state = &trace.flows[0].state;
        let starts = state.iter().take_while(|&&state| state != State::Avoidance).count();
        assert!(starts > 5 && starts < 100, "{name}: {starts}");
        assert!(!state[starts..].contains(&State::SlowStart), "{name}");
    }
}
