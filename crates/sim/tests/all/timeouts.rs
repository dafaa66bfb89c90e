//! When a retransmission timer expires: what is cut, and when that was too early.

use crate::testbench::path::{Path, RTT, finished};
use crate::testbench::{dumbbell, flow, link, simulate};
use forebay_sim::cc::Phase;
use forebay_sim::config::{File, Source};
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, SECOND};

/// Without what repairs a lost repair, or a lost tail, before the timer does.
fn only_timeouts() -> Profile {
    Profile { rack: false, tail_loss_probe: false, ..Profile::linux() }
}

/// Until the first timeout.
fn time_out(path: &mut Path) {
    while path.sender.timeouts == 0 {
        path.run(path.now + MILLISECOND);
        path.now += MILLISECOND;
    }
}

#[test]
fn a_spurious_timeout_is_undone() {
    let after = |f_rto: bool| {
        let mut path = Path::new(3000, Profile { f_rto, ..Profile::linux() }, &[]);
        path.sender.window.ssthresh = 20.0;
        path.pause = (3 * SECOND, 4 * SECOND);
        path.run(3 * SECOND);
        let cwnd = path.sender.window.cwnd;
        path.run(4 * SECOND + 3 * RTT);
        assert!(path.sender.timeouts > 0);
        path.sender.window.cwnd / cwnd
    };
    assert!(after(true) > 0.95, "{}", after(true));
    assert!(after(false) < 0.8, "{}", after(false));
}

/// A timeout during fast recovery is part of the same congestion event for Linux.
#[test]
fn a_timeout_in_recovery_cuts_once() {
    let threshold = |timeout_reduces_again: bool| {
        let profile = Profile { timeout_reduces_again, ..only_timeouts() };
        let mut path = Path::new(2000, profile, &[(400, 2)]);
        path.sender.window.ssthresh = 40.0;
        time_out(&mut path);
        path.sender.window.ssthresh
    };
    assert!(threshold(true) < 0.7 * threshold(false));
}

/// RFC 5682, section 3.1, step 1 (Linux, tcp_enter_loss): what recovery has sent but once arrives after
/// the timeout, and says nothing of the segment that was lost.
#[test]
fn a_timeout_in_recovery_is_not_doubted() {
    let mut path = Path::new(2000, only_timeouts(), &[(400, 2)]);
    path.sender.window.ssthresh = 40.0;
    time_out(&mut path);
    let recover = path.sender.recover;
    path.run(path.now + RTT - MILLISECOND);
    assert_eq!((path.sender.phase, path.sender.recover), (Phase::Loss, recover));
    assert!(path.sender.window.cwnd < 5.0, "{}", path.sender.window.cwnd);
}

/// RFC 5681, section 3.1 (Linux, tcp_enter_loss): the same segment again cuts nothing, the next does.
#[test]
fn a_timeout_reduces_again_once_something_has_arrived() {
    let of = |lost: &[(u64, usize)]| {
        let sender = finished(400, only_timeouts(), lost).sender;
        (sender.timeouts, sender.reductions)
    };
    assert_eq!(of(&[(399, 3)]), (3, 1));
    assert_eq!(of(&[(398, 2), (399, 3)]), (4, 2));
}

/// A user over a queue that loses many packets: in long recoveries the retransmission timer expires between the
/// departure of a file's last segment and its acknowledgement.
#[test]
fn a_sender_s_timer_runs_on_until_the_next_file() {
    let mut user = flow(40 * MILLISECOND, 0);
    user.source = Source::Files(0, 400);
    let mut config = dumbbell(link(0.5e6, 2), Profile::ns2(), vec![user]);
    let file = |i| File { segments: 1 + 37 * i % 90, think: i * MILLISECOND };
    config.files = (0..400).map(file).collect();
    (config.warmup, config.window) = (0, 2000 * SECOND);
    let report = simulate(&config);
    assert_eq!(report.completions[0].len(), 400);
}
