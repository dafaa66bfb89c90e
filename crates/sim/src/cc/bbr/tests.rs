use super::probe_rtt::PROBE_RTT_TIME;
use super::*;
use crate::cc::{IncreaseRule, RateSample, testing};
use crate::time::{MICROSECOND, MILLISECOND};

/// A path of `rate` segments a second and 100 ms that holds `buffer` more than its own product.
struct Path {
    cc: Bbr,
    window: Window,
    rate: f64,
    buffer: f64,
    now: Picos,
    delivered: u64,
    lost: u64,
    /// Seconds that the last round took, in which pacing filled the next one.
    rtt: f64,
    gains: Vec<f64>,
}

impl Path {
    fn new(rate: f64) -> Self {
        let window = Window { cwnd: 10.0, ssthresh: f64::INFINITY, pacing_rate: None };
        let cc = Bbr::default();
        Self {
            cc,
            window,
            rate,
            buffer: 1e9,
            now: SECOND,
            delivered: 0,
            lost: 0,
            rtt: 0.1,
            gains: Vec::new(),
        }
    }

    /// A round trip: what pacing and window let go, delivered at the path's rate at most. The queue
    /// is what a round sends above the path's product, and lasts for it.
    fn round(&mut self) {
        let most = self.window.pacing_rate.map_or(f64::INFINITY, |rate| rate * self.rtt);
        let sent = self.window.cwnd.min(most).max(1.0);
        let product = self.rate * 0.1;
        let kept = sent.min(product + self.buffer);
        self.rtt = 0.1 * (kept / product).max(1.0);
        let (size, lost) = (kept.round() as u64, (sent - kept).round() as u64);
        let rtt = (self.rtt * SECOND as f64) as Picos;
        for i in 0..size {
            self.now += rtt / size;
            self.delivered += 1;
            let newly_lost = if i == 0 { lost } else { 0 };
            self.lost += newly_lost;
            let mut ack = testing::ack(self.now, self.delivered, size, IncreaseRule::PerWindow);
            ack.rtt = Some(rtt);
            ack.srtt = rtt;
            ack.newly_lost = newly_lost;
            ack.lost_total = self.lost;
            ack.rate = Some(RateSample {
                delivered: size,
                interval: rtt,
                prior_delivered: self.delivered.saturating_sub(size),
                tx_in_flight: size,
                prior_lost: 0,
                app_limited: false,
            });
            self.note(&ack);
        }
    }

    fn note(&mut self, ack: &Ack) {
        let phase = self.cc.cycle.phase;
        self.cc.on_ack_received(&mut self.window, ack);
        if self.cc.cycle.phase != phase {
            self.gains.push(self.cc.gains().0);
        }
    }

    fn until(&mut self, mode: Mode) {
        for _ in 0..300 {
            if self.cc.mode == mode {
                return;
            }
            self.round();
        }
        panic!("{mode:?} never came");
    }
}

/// Draft, section 4.3.2: the rate doubles a round until three rounds bring no quarter more.
#[test]
fn start_up_finds_the_rate_then_drains_then_cycles() {
    let mut path = Path::new(2000.0);
    path.until(Mode::Drain);
    assert!(path.cc.rounds <= 14, "{}", path.cc.rounds);
    assert!((path.cc.bw.get() / 2000.0 - 1.0).abs() < 0.02, "{}", path.cc.bw.get());
    path.until(Mode::ProbeBw);
    (0..30).for_each(|_| path.round());
    assert_eq!(path.cc.mode, Mode::ProbeBw);
    assert!((path.cc.bw.get() / 2000.0 - 1.0).abs() < 0.02);
    assert_eq!(path.cc.min_rtt, testing::RTT);
}

/// Draft, section 4.3.4: 5/4, 3/4 and six times 1, from any phase but 3/4; their mean is 1.
#[test]
fn gains_follow_the_cycle_of_eight() {
    let mut path = Path::new(2000.0);
    path.until(Mode::ProbeBw);
    assert_ne!(path.cc.cycle.phase, 1);
    path.gains.clear();
    (0..40).for_each(|_| path.round());
    let gains = &path.gains;
    let probe = gains.iter().position(|&gain| gain == 1.25).expect("it probes");
    let expected = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    assert_eq!(gains[probe..probe + 8], expected);
    assert_eq!(expected.iter().sum::<f64>(), 8.0);
}

/// Draft, section 4.2.3.2: cwnd is twice the product, and room for three bursts.
#[test]
fn window_is_twice_the_product_and_room() {
    let mut path = Path::new(2000.0);
    path.until(Mode::ProbeBw);
    (0..40).for_each(|_| path.round());
    let least = 2.0 * 200.0;
    assert!(path.window.cwnd >= least, "{}", path.window.cwnd);
    assert!(path.window.cwnd <= least + 3.0 * 2.0 + 4.0 + path.cc.extra_acked_allowance() + 8.0);
    let pacing = path.window.pacing_rate.expect("paced") / path.cc.gains().0;
    assert!((pacing / (0.99 * path.cc.bw.get()) - 1.0).abs() < 1e-9);
}

/// Draft, section 4.3.5: ten seconds after the last least round-trip time, four segments for 200 ms.
#[test]
fn probes_the_round_trip_time_every_ten_seconds() {
    let mut path = Path::new(2000.0);
    path.until(Mode::ProbeBw);
    path.cc.min_rtt = testing::RTT - MICROSECOND; // never seen again
    let began = path.cc.min_rtt_at;
    path.until(Mode::ProbeRtt);
    assert!(path.now - began >= 10 * SECOND && path.now - began < 10 * SECOND + 3 * testing::RTT);
    assert_eq!(path.window.cwnd, 4.0);
    let (entered, bw) = (path.now, path.cc.bw.get());
    path.until(Mode::ProbeBw);
    assert!(path.now - entered >= PROBE_RTT_TIME && path.now - entered < 8 * testing::RTT);
    assert!(path.window.cwnd > 100.0, "{}", path.window.cwnd);
    assert_eq!(path.cc.bw.get(), bw);
}

/// Linux: two intervals that lose a fifth at one rate are a policer's; its rate is then paced.
#[test]
fn a_policer_is_found_and_its_rate_used() {
    let mut path = Path::new(2000.0);
    path.until(Mode::ProbeBw);
    for i in 0..40_u64 {
        let mut ack =
            testing::ack(path.now + i * testing::RTT, 200 * i, 200, IncreaseRule::PerWindow);
        ack.newly_lost = 60;
        ack.lost_total = 60 * i;
        path.cc.lt_bw.sample(&ack, false, true, true);
    }
    let rate = path.cc.lt_bw.rate_or(f64::NAN);
    assert!((rate - 2000.0).abs() < 1.0, "{rate}");
    assert_eq!(path.cc.gains(), (1.0, CWND_GAIN));
}

/// Draft, section 4.2.3.4: a recovery begins with what is in flight and ends with the old window.
#[test]
fn recovery_conserves_packets_and_gives_the_window_back() {
    let mut path = Path::new(2000.0);
    path.until(Mode::ProbeBw);
    (0..9).for_each(|_| path.round());
    let before = path.window.cwnd;
    path.cc.ssthresh(&path.window, path.now, CongestionEvent::Loss);
    let mut ack = testing::ack(path.now, path.delivered + 1, 150, IncreaseRule::PerWindow);
    (ack.phase, ack.newly_lost, ack.rate) = (Phase::Recovery, 10, None);
    path.cc.on_ack_received(&mut path.window, &ack);
    assert_eq!(path.window.cwnd, 151.0);
    (ack.phase, ack.newly_lost) = (Phase::Open, 0);
    path.cc.on_ack_received(&mut path.window, &ack);
    assert!(path.window.cwnd >= before - 2.0, "{} {before}", path.window.cwnd); // probing's two
}

/// Linux, bbr_set_state: where only timeouts tell of losses, they end the detector's rounds.
#[test]
fn timeouts_let_a_policer_be_found() {
    let mut path = Path::new(2000.0);
    path.until(Mode::ProbeBw);
    for i in 0..40_u64 {
        path.cc.delivered_at = path.now + i * testing::RTT;
        let mut ack = testing::ack(path.now, 200 * i, 200, IncreaseRule::PerWindow);
        ack.lost_total = 60 * i;
        path.cc.on_loss_state(&mut path.window, &ack);
    }
    let rate = path.cc.lt_bw.rate_or(f64::NAN);
    assert!((rate - 2000.0).abs() < 1.0, "{rate}");
}

/// Linux, bbr_update_min_rtt, in microseconds: what equals the least round trip does not put PROBE_RTT off (since 5.10).
#[test]
fn only_a_shorter_microsecond_renews_the_least_round_trip() {
    let mut path = Path::new(2000.0);
    path.until(Mode::ProbeBw);
    let (least, stamp) = (path.cc.min_rtt, path.cc.min_rtt_at);
    let later = path.now + SECOND;
    let mut ack = testing::ack(later, path.delivered, 200, IncreaseRule::PerWindow);
    for equal in [least, least + MICROSECOND - 1] {
        ack.rtt = Some(equal);
        path.cc.on_ack_received(&mut path.window, &ack);
        assert_eq!((path.cc.min_rtt, path.cc.min_rtt_at), (least, stamp));
    }
    ack.rtt = Some(least - 1);
    path.cc.on_ack_received(&mut path.window, &ack);
    assert_eq!((path.cc.min_rtt, path.cc.min_rtt_at), (least - MICROSECOND, later));
}

/// Linux, bbr_packets_in_net_at_edt: what arrives until the pacer lets the next burst go is no longer on the path.
#[test]
fn segments_arrive_until_the_next_burst_goes() {
    let mut ack = testing::ack(SECOND, 100, 100, IncreaseRule::PerWindow);
    for (wait_ms, delivered) in [(0, 0.0), (1, 2.0), (5, 10.0)] {
        ack.next_departure = SECOND + wait_ms * MILLISECOND;
        assert_eq!(ack.delivered_until_departure(2000.0), delivered);
    }
    ack.next_departure = 0;
    assert_eq!(ack.delivered_until_departure(2000.0), 0.0);
}
