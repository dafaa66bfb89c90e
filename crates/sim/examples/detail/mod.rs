//! How the arrivals, windows and reductions of a dumbbell's flows vary. Each flow is a traffic class of
//! its own and each batch a millisecond, so that the link's counts are its flows' arrivals.

use forebay_sim::config::{Config, TraceSpec};
use forebay_sim::meters::trace::State;
use forebay_sim::report::Report;
use forebay_sim::time::{MILLISECOND, Picos};

const STEP: Picos = MILLISECOND;
/// A flow's packets whose gap is below two batches travel as one train.
const ROUNDS: usize = 12;

/// Prepares `config`, whose flows are all of class 0.
pub fn prepare(config: &mut Config) {
    config.profiles = vec![config.profiles[0].clone(); config.flows.len()];
    config.flows.iter_mut().zip(0..).for_each(|(flow, class)| flow.class = class);
    config.batches = (config.window / STEP) as u32;
    let flows = (0..config.flows.len() as u32).collect();
    config.trace = Some(TraceSpec {
        step: STEP,
        flows,
        window_sum: true,
        every_flow: false,
        link_details: false,
    });
}

/// `key=value` readings:
/// * `reductions`: times that a flow began to repair losses; `lost`: its packets lost for each;
///   `repair`: share of time that flows spend repairing;
/// * `idcN`: variance over mean of the arrivals in N ms; `idccut`: of the reductions in 100 ms;
/// * `wsum`, `wsd`: sum of the windows and its deviation; `sync`: its variance over the sum of the
///   flows' variances;
/// * `train`: packets of the train in which the average packet arrives;
/// * `longest`: the longest train of a flow in the first, second … round trip after a repair.
pub fn describe(config: &Config, report: &Report) -> String {
    let batches = &report.links[0].batches;
    let arrivals: Vec<f64> = batches
        .iter()
        .map(|batch| batch.classes.iter().map(|class| class.arrivals as f64).sum())
        .collect();
    let drops: u64 = batches.iter().flat_map(|batch| &batch.classes).map(|class| class.drops).sum();
    let trace = report.trace.as_ref().expect("asked for");
    let mut reductions = vec![0.0; trace.at.len()];
    let (mut repairing, mut spread) = (0, 0.0);
    for flow in &trace.flows {
        repairing += flow.state.iter().filter(|&&state| repairs(state)).count();
        for (i, pair) in flow.state.windows(2).enumerate() {
            reductions[i + 1] += f64::from(u8::from(!repairs(pair[0]) && repairs(pair[1])));
        }
        spread += moments(&flow.cwnd).1;
    }
    let total: f64 = reductions.iter().sum();
    let (sum, variance) = moments(&trace.window_sum);
    let trains: Vec<Vec<(usize, f64)>> =
        (0..config.flows.len()).map(|flow| trains(report, flow)).collect();
    let packets = |power: i32| -> f64 {
        trains.iter().flatten().map(|&(_, length)| length.powi(power)).sum()
    };
    let longest: Vec<String> =
        longest(config, report, &trains).iter().map(|value| format!("{value:.3}")).collect();
    format!(
        "reductions={total} lost={:.4} repair={:.4} idc1={:.3} idc10={:.3} idc100={:.3} idccut={:.3} \
         wsum={sum:.1} wsd={:.2} sync={:.3} train={:.3} longest={}",
        drops as f64 / total,
        repairing as f64 / (trace.flows.len() * trace.at.len()) as f64,
        dispersion(&arrivals, 1),
        dispersion(&arrivals, 10),
        dispersion(&arrivals, 100),
        dispersion(&reductions, 100),
        variance.sqrt(),
        variance / spread,
        packets(2) / packets(1),
        longest.join(","),
    )
}

fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n)
}

fn dispersion(counts: &[f64], group: usize) -> f64 {
    let sums: Vec<f64> = counts.chunks_exact(group).map(|chunk| chunk.iter().sum()).collect();
    let (mean, variance) = moments(&sums);
    variance / mean
}

/// The trains of a flow: the batch in which each begins, and its packets.
fn trains(report: &Report, flow: usize) -> Vec<(usize, f64)> {
    let mut found: Vec<(usize, f64)> = Vec::new();
    let mut last = None;
    for (i, batch) in report.links[0].batches.iter().enumerate() {
        let arrivals = batch.classes[flow].arrivals as f64;
        if arrivals == 0.0 {
            continue;
        }
        match found.last_mut() {
            Some(train) if last == i.checked_sub(1) => train.1 += arrivals,
            _ => found.push((i, arrivals)),
        }
        last = Some(i);
    }
    found
}

/// The mean, over all flows and repairs, of the longest train in each round trip after a repair.
fn longest(config: &Config, report: &Report, trains: &[Vec<(usize, f64)>]) -> Vec<f64> {
    let trace = report.trace.as_ref().expect("asked for");
    let (mut sums, mut counts) = ([0.0; ROUNDS], [0.0; ROUNDS]);
    for ((spec, trains), flow) in config.flows.iter().zip(trains).zip(&trace.flows) {
        let round = (spec.rtt / STEP) as usize + 2;
        let mut next = 0;
        let mut began = None; // the repair that was seen last ended in this sample
        for i in 1..flow.state.len() {
            let (before, now) = (flow.state[i - 1], flow.state[i]);
            if repairs(before) && !repairs(now) {
                began = Some(i);
            } else if repairs(now) {
                began = None;
            }
            let Some(start) = began else { continue };
            let elapsed = i - start;
            if elapsed == 0 || elapsed % round != 0 || elapsed / round > ROUNDS {
                continue;
            }
            while trains.get(next).is_some_and(|train| train.0 < i - round) {
                next += 1;
            }
            let seen = trains[next..].iter().take_while(|train| train.0 < i);
            sums[elapsed / round - 1] += seen.map(|train| train.1).fold(0.0, f64::max);
            counts[elapsed / round - 1] += 1.0;
        }
    }
    sums.iter().zip(&counts).map(|(sum, count): (&f64, &f64)| sum / count.max(1.0)).collect()
}

/// Whether the sender is repairing a loss.
fn repairs(state: State) -> bool {
    matches!(state, State::Recovery | State::Loss)
}
