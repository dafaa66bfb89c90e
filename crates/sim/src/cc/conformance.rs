//! One suite that every controller passes: it runs over the list, so nobody can forget it.

use super::*;

fn fresh() -> Window {
    Window {
        cwnd: 10.0,
        ssthresh: f64::INFINITY,
    }
}

fn each(check: impl Fn(&str, Cc)) {
    for name in NAMES {
        check(name, Cc::by_name(name).expect("listed"));
    }
}

const GROWTHS: [Growth; 2] = [Growth::PerAck, Growth::PerWindow];

#[test]
fn slow_start_doubles_in_a_round() {
    each(|name, mut cc| {
        let mut window = fresh();
        for _ in 0..10 {
            cc.on_ack(
                &mut window,
                Acked {
                    segments: 1,
                    growth: Growth::PerWindow,
                },
            );
        }
        assert_eq!(window.cwnd, 20.0, "{name}");
    });
}

#[test]
fn windows_never_shrink_without_loss_and_grow_in_time() {
    each(|name, _| {
        for growth in GROWTHS {
            let mut cc = Cc::by_name(name).expect("listed");
            let mut window = Window {
                cwnd: 10.0,
                ssthresh: 10.0,
            };
            let mut before = window.cwnd;
            for _ in 0..10_000 {
                cc.on_ack(
                    &mut window,
                    Acked {
                        segments: 1,
                        growth,
                    },
                );
                assert!(window.cwnd >= before, "{name}");
                before = window.cwnd;
            }
            assert!(window.cwnd > 11.0, "{name}");
        }
    });
}

#[test]
fn a_loss_backs_off_and_never_below_two() {
    each(|name, mut cc| {
        for cwnd in [1.0, 2.0, 3.5, 10.0, 1e6] {
            let window = Window {
                cwnd,
                ssthresh: f64::INFINITY,
            };
            let ssthresh = cc.ssthresh(&window);
            assert!(ssthresh >= 2.0, "{name}");
            assert!(ssthresh < cwnd || cwnd < 3.0, "{name}");
        }
    });
}

#[test]
fn it_recovers_after_a_timeout() {
    each(|name, mut cc| {
        let mut window = fresh();
        window.ssthresh = cc.ssthresh(&window);
        window.cwnd = 1.0;
        cc.on_timeout();
        for _ in 0..1_000 {
            cc.on_ack(
                &mut window,
                Acked {
                    segments: 1,
                    growth: Growth::PerWindow,
                },
            );
        }
        assert!(window.cwnd > 5.0, "{name}");
    });
}
