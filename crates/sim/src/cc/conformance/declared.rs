//! Whether a controller does what its record declares. Each check takes a subject: a record and a factory of
//! controllers; `mutants` shows that each fails for a controller that does otherwise.

use crate::cc::testing::RTT;
use crate::cc::*;
use crate::time::{Picos, SECOND};
use record::{Decrease, Marks, Record, Response};

/// A controller under test, and what is declared of it.
pub(in crate::cc) struct Subject {
    pub name: &'static str,
    pub record: Record,
    pub make: fn() -> Box<dyn Controller>,
}

/// Windows at which a property is measured.
const WINDOWS: [f64; 3] = [60.0, 300.0, 2000.0];
/// A share of the window may differ from the declared one by this.
const SHARE_TOLERANCE: f64 = 0.01;
/// Measured over declared mean window at a loss rate: a toy's losses come in rounds, its windows are whole.
const RESPONSE_BAND: (f64, f64) = (0.8, 1.25);
/// Exponents of the measured and the declared response may differ by this over the loss rates measured.
const SLOPE_TOLERANCE: f64 = 0.06;

/// A path of one round-trip time with a standing queue: nine tenths of the time are spent waiting.
struct Path {
    cc: Box<dyn Controller>,
    record: Record,
    window: Window,
    now: Picos,
    acked: u64,
    sent: f64,
    min_rtt: Picos,
    /// Segments that the path carries in a round trip: what a model of the path finds.
    capacity: f64,
}

impl Path {
    fn new(subject: &Subject, cwnd: f64) -> Self {
        let window = Window { cwnd, ssthresh: cwnd, pacing_rate: None };
        let cc = (subject.make)();
        // A bandwidth estimate counts from segment 0; its first round-trip time is that without a queue.
        let acked = if subject.record.decrease == Decrease::Bandwidth { 0 } else { 10_000 };
        let (now, sent) = (SECOND, 0.0);
        Self {
            cc,
            record: subject.record,
            window,
            now,
            acked,
            sent,
            min_rtt: RTT / 10,
            capacity: f64::INFINITY,
        }
    }

    /// One round trip: a window is delivered, every `marked_every`-th segment with a mark (0: none).
    /// The sender acts as `tcp::cc_feedback` does.
    fn round(&mut self, marked_every: u64) {
        let size = (self.window.cwnd.min(self.capacity) as u64).max(1);
        let end = self.acked + size;
        let mut yielded = false;
        for i in 0..size {
            self.now += RTT / size;
            self.acked += 1;
            let marked = marked_every > 0 && self.acked.is_multiple_of(marked_every);
            let plain = testing::ack(self.now, self.acked, size, IncreaseRule::PerWindow);
            let (snd_nxt, min_rtt) = (end + i, self.min_rtt);
            let rtt = Some(if self.acked == 1 { RTT / 2 } else { RTT });
            let ack = Ack { snd_nxt, min_rtt, rtt, marked: u64::from(marked), ..plain };
            let fast = !self.record.needs_every_ack
                && !marked
                && self.cc.cong_avoid_fast(&mut self.window, (&ack).into());
            if fast {
                continue;
            }
            self.cc.on_ack_received(&mut self.window, &ack);
            if marked && !yielded && !self.record.controls_cwnd() && !self.record.l4s() {
                self.reduce(CongestionEvent::Mark);
                yielded = true;
            }
            if !yielded {
                self.cc.cong_avoid(&mut self.window, &ack);
            }
        }
        self.sent += size as f64;
    }

    fn reduce(&mut self, event: CongestionEvent) {
        self.window.ssthresh = self.cc.ssthresh(&self.window, self.now, event);
        if !self.record.controls_cwnd() {
            self.window.cwnd = self.window.ssthresh;
        }
    }

    /// A loss and the recovery after it, a round trip long.
    fn lose(&mut self) {
        self.reduce(CongestionEvent::Loss);
        for phase in [Phase::Recovery, Phase::Recovery, Phase::Open] {
            self.now += RTT / 3;
            self.acked += 1;
            let size = (self.window.cwnd.min(self.capacity) as u64).max(1);
            let plain = testing::ack(self.now, self.acked, size, IncreaseRule::PerWindow);
            let newly_lost = u64::from(phase == Phase::Recovery && !self.record.controls_cwnd());
            let ack = Ack { phase, newly_lost, min_rtt: self.min_rtt, ..plain };
            if self.record.needs_every_ack {
                self.cc.on_ack_received(&mut self.window, &ack);
            }
        }
    }
}

/// Each failed check: the property, and what was seen.
pub(super) fn failures(subject: &Subject) -> Vec<String> {
    let checks = [loss, mark, timeout, growth, response];
    checks.iter().filter_map(|check| check(subject).err()).collect()
}

fn expect(holds: bool, property: &str, seen: f64) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{property}: {seen}")) }
}

/// A loss leaves the declared share; with a measured bandwidth no more than the path carries; a model of the
/// path neither sets ssthresh nor lets a single loss take a tenth of what it sends.
pub(super) fn loss(subject: &Subject) -> Result<(), String> {
    for cwnd in WINDOWS {
        let mut path = Path::new(subject, cwnd);
        match subject.record.decrease {
            Decrease::Share(kept) => {
                path.reduce(CongestionEvent::Loss);
                let share = path.window.cwnd / cwnd;
                expect((share - kept).abs() <= SHARE_TOLERANCE, "share kept after a loss", share)?;
            }
            Decrease::Bandwidth => {
                (0..20).for_each(|_| path.round(0));
                let before = path.window.cwnd;
                path.lose();
                let share = path.window.cwnd / before;
                expect(share <= 0.6, "share kept after a loss in a queue", share)?;
            }
            Decrease::Model => {
                (path.min_rtt, path.capacity) = (RTT, cwnd);
                (0..40).for_each(|_| path.round(0));
                let (before, ssthresh) = (path.window.cwnd, path.window.ssthresh);
                let rate = path.window.pacing_rate.unwrap_or(0.0);
                path.lose();
                expect(path.window.ssthresh == ssthresh, "ssthresh at a loss", ssthresh)?;
                (0..3).for_each(|_| path.round(0));
                let window = path.window.cwnd / before;
                expect(window >= 0.9, "window after a single loss", window)?;
                if subject.record.paced {
                    let pace = path.window.pacing_rate.unwrap_or(0.0) / rate;
                    expect(pace >= 0.55, "pacing rate after a single loss", pace)?;
                }
            }
        }
    }
    Ok(())
}

/// A mark does as declared: at its first, and once a tenth of the segments has been marked for long.
pub(super) fn mark(subject: &Subject) -> Result<(), String> {
    for cwnd in WINDOWS {
        let mut path = Path::new(subject, cwnd);
        match subject.record.marks {
            Marks::Loss => {
                let mut other = Path::new(subject, cwnd);
                (0..5).for_each(|_| path.round(0));
                (0..5).for_each(|_| other.round(0));
                let before = path.window.cwnd;
                path.reduce(CongestionEvent::Mark);
                other.lose();
                let share = path.window.cwnd / before;
                let same = (path.window.cwnd - other.window.cwnd).abs() / before;
                expect(share <= 0.9, "share kept after a mark", share)?;
                let constant = subject.record.kept_after_loss().is_some();
                expect(!constant || same <= SHARE_TOLERANCE, "a mark less a loss", same)?;
            }
            Marks::Fraction | Marks::L4s => proportional(&mut path)?,
            Marks::Ignored => {
                (path.min_rtt, path.capacity) = (RTT, cwnd);
                (0..40).for_each(|_| path.round(0));
                let before = path.window.cwnd;
                (0..3).for_each(|_| path.round(2));
                let share = path.window.cwnd / before;
                expect(share >= 0.9, "window under marks", share)?;
            }
        }
    }
    Ok(())
}

/// After 100 round trips with every tenth segment marked, a mark takes a twentieth of the window.
fn proportional(path: &mut Path) -> Result<(), String> {
    let start = path.window;
    for _ in 0..100 {
        path.window = start;
        path.round(10);
    }
    path.window = start;
    let kept = path.cc.ssthresh(&path.window, path.now, CongestionEvent::Mark) / start.cwnd;
    expect((kept - 0.95).abs() <= 0.015, "share kept where a tenth is marked", kept)?;
    path.window = start;
    path.round(0);
    path.round(0);
    let (before, next) = (path.window.cwnd, path.acked + 3);
    path.round(next);
    let share = path.window.cwnd / before;
    expect((0.9..=0.98).contains(&share), "share kept after the mark itself", share)
}

/// A timeout lowers ssthresh to at most what a loss leaves, or leaves it.
pub(super) fn timeout(subject: &Subject) -> Result<(), String> {
    for cwnd in WINDOWS {
        let mut path = Path::new(subject, cwnd);
        path.capacity = cwnd;
        (0..5).for_each(|_| path.round(0));
        let before = path.window;
        let ssthresh = path.cc.ssthresh(&path.window, path.now, CongestionEvent::Timeout);
        let kept = subject.record.kept_after_loss().unwrap_or(0.9);
        if subject.record.timeout_reduces_ssthresh {
            let share = ssthresh / before.cwnd;
            expect(share <= kept + SHARE_TOLERANCE, "share of ssthresh after a timeout", share)?;
        } else {
            expect(ssthresh == before.ssthresh, "ssthresh after a timeout", ssthresh)?;
        }
    }
    Ok(())
}

/// Over 40 round trips after a loss the window grows within the declared bounds; a segment's difference
/// is that of counting whole ones.
pub(super) fn growth(subject: &Subject) -> Result<(), String> {
    let Some(declared) = subject.record.growth else { return Ok(()) };
    for cwnd in WINDOWS {
        for min_rtt in [RTT / 10, RTT] {
            let mut path = Path::new(subject, cwnd);
            path.min_rtt = min_rtt;
            path.lose();
            path.window.ssthresh = path.window.ssthresh.min(path.window.cwnd);
            let (start, mut least, mut most) = (path.window.cwnd, 0.0, 0.0);
            for _ in 0..40 {
                least += declared.least.at(path.window.cwnd);
                path.round(0);
                most += declared.most.at(path.window.cwnd);
            }
            let grown = path.window.cwnd - start;
            let within = grown >= 0.9 * least - 1.0 && grown <= 1.1 * most + 1.0;
            expect(within, &format!("growth from {start}, {least} to {most} declared"), grown)?;
        }
    }
    Ok(())
}

/// Periodic losses, one in 1/p segments, at loss rates over two decades: the mean window against the declared
/// response function, value by value and in its slope.
pub(super) fn response(subject: &Subject) -> Result<(), String> {
    let Some(form) = subject.record.response else { return Ok(()) };
    let kept = subject.record.kept_after_loss().ok_or("a response needs a share kept")?;
    let points = [3e-3, 3e-4, 3e-5].map(|p| (p, mean_window(subject, p), declared(form, kept, p)));
    for (p, measured, declared) in points {
        let ratio = measured / declared;
        let within = (RESPONSE_BAND.0..=RESPONSE_BAND.1).contains(&ratio);
        expect(within, &format!("window over declared at p = {p}"), ratio)?;
    }
    let ratio = |at: usize| (points[at].1 / points[at].2).ln();
    let slope = (ratio(2) - ratio(0)) / (points[0].0 / points[2].0).ln();
    expect(slope.abs() <= SLOPE_TOLERANCE, "slope less the declared one", slope)
}

/// Mean window over 40 losses, after 20 that are not counted.
fn mean_window(subject: &Subject, p: f64) -> f64 {
    let mut path = Path::new(subject, declared(Response::Reno, 0.5, p));
    let (mut rounds, mut before) = (0.0, 0.0);
    for count in 0..60 {
        if count == 20 {
            (rounds, before) = (0.0, path.sent);
        }
        let next = path.sent + 1.0 / p;
        while path.sent < next {
            path.round(0);
            rounds += 1.0;
        }
        path.lose();
    }
    (path.sent - before) / rounds
}

/// The mean window at a loss rate, as `Response` says, at the path's round-trip time.
fn declared(form: Response, kept: f64, p: f64) -> f64 {
    let linear = |kept: f64| ((1.0 + kept) / (2.0 * (1.0 - kept) * p)).sqrt();
    match form {
        Response::Reno => linear(kept),
        Response::Cubic => {
            let rtt = RTT as f64 / SECOND as f64;
            let own = (0.4 * (3.0 + kept) / (4.0 * (1.0 - kept))).powf(0.25) * (rtt / p).powf(0.75);
            own.max(linear(0.5)) // its Reno-friendly region has Reno's mean (RFC 9438, section 4.3)
        }
        Response::Scalable => (0.01 / (-kept.ln() * p)).max(linear(kept)),
    }
}

#[test]
fn every_controller_does_what_its_record_declares() {
    let seen: Vec<_> = list::subjects()
        .iter()
        .flat_map(|subject| {
            failures(subject).into_iter().map(|it| format!("{}: {it}", subject.name))
        })
        .collect();
    assert!(seen.is_empty(), "{seen:#?}");
}
