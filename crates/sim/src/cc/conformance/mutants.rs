//! Controllers that do not do what their record declares: the suite catches each.

use super::declared::{Subject, failures};
use crate::cc::list::subjects;
use crate::cc::*;

/// A controller of the list with one behaviour changed.
struct Mutant<const KIND: u8> {
    inner: Box<dyn Controller>,
    /// ACKs for which a mutant of a model still holds its window down, and to what.
    held: (u32, f64),
}

// Reno, nine times.
const CUT_OF_1_PERCENT: u8 = 0;
const ECN_IGNORED: u8 = 1;
const TIMEOUT_LEAVES_SSTHRESH: u8 = 2;
const TEN_SEGMENTS_A_ROUND: u8 = 3;
const TENTH_OF_A_SEGMENT_A_ROUND: u8 = 4;
const ROOT_OF_CWND_A_ROUND: u8 = 5;
const NO_CUT: u8 = 6;
const CUT_TO_A_TENTH: u8 = 7;
const NO_GROWTH: u8 = 8;
// Others.
const KEEPS_HALF: u8 = 9;
const ALPHA_NEVER_UPDATED: u8 = 10;
const HALVES_AT_LOSS: u8 = 11;
const GROWS_AS_RENO: u8 = 12;
const TIMEOUT_KEEPS_ALL: u8 = 13;
const HALVES_ON_MARKS: u8 = 14;

/// Segments a round trip of the mutants of growth.
fn segments_a_round(kind: u8, cwnd: f64) -> Option<f64> {
    match kind {
        TEN_SEGMENTS_A_ROUND => Some(10.0),
        TENTH_OF_A_SEGMENT_A_ROUND => Some(0.1),
        ROOT_OF_CWND_A_ROUND => Some(cwnd.sqrt()),
        NO_GROWTH => Some(0.0),
        GROWS_AS_RENO => Some(1.0),
        _ => None,
    }
}

impl<const KIND: u8> Controller for Mutant<KIND> {
    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack) {
        match segments_a_round(KIND, window.cwnd) {
            Some(segments) => window.cwnd += segments / window.cwnd,
            None => self.inner.cong_avoid(window, ack),
        }
    }

    fn on_ack_received(&mut self, window: &mut Window, ack: &Ack) {
        if KIND == ALPHA_NEVER_UPDATED {
            return;
        }
        let before = window.cwnd;
        self.inner.on_ack_received(window, ack);
        if KIND == HALVES_ON_MARKS && ack.marked > 0 {
            self.held = (2000, before / 2.0);
        }
        if self.held.0 > 0 {
            self.held.0 -= 1;
            window.cwnd = window.cwnd.min(self.held.1);
        }
    }

    fn ssthresh(&mut self, window: &Window, now: Picos, event: CongestionEvent) -> f64 {
        let right = self.inner.ssthresh(window, now, event);
        match (KIND, event) {
            (CUT_OF_1_PERCENT, _) => 0.99 * window.cwnd,
            (ECN_IGNORED, CongestionEvent::Mark) => window.cwnd,
            (TIMEOUT_LEAVES_SSTHRESH, CongestionEvent::Timeout) => window.ssthresh,
            (TIMEOUT_KEEPS_ALL, CongestionEvent::Timeout) => window.cwnd,
            (NO_CUT, _) => window.cwnd,
            (CUT_TO_A_TENTH, _) => window.cwnd / 10.0,
            (KEEPS_HALF, _) => window.cwnd / 2.0,
            (HALVES_AT_LOSS, CongestionEvent::Loss) => {
                self.held = (2000, window.cwnd / 2.0);
                right
            }
            _ => right,
        }
    }

    fn on_timeout(&mut self, window: &mut Window, now: Picos) {
        self.inner.on_timeout(window, now);
    }
}

fn mutant<const KIND: u8, const OF: usize>() -> Subject {
    let original = &subjects()[OF];
    let make = || -> Box<dyn Controller> {
        Box::new(Mutant::<KIND> { inner: (subjects()[OF].make)(), held: (0, 0.0) })
    };
    Subject { name: original.name, record: original.record, make }
}

const RENO: usize = 0;
const SCALABLE: usize = 1;
const BIC: usize = 2;
const CUBIC: usize = 3;
const DCTCP: usize = 7;
const BBR: usize = 8;
const BBR3: usize = 9;
const WESTWOOD: usize = 10;

#[test]
fn all_nine_mutants_of_reno_are_caught() {
    let mutants = [
        mutant::<CUT_OF_1_PERCENT, RENO>(),
        mutant::<ECN_IGNORED, RENO>(),
        mutant::<TIMEOUT_LEAVES_SSTHRESH, RENO>(),
        mutant::<TEN_SEGMENTS_A_ROUND, RENO>(),
        mutant::<TENTH_OF_A_SEGMENT_A_ROUND, RENO>(),
        mutant::<ROOT_OF_CWND_A_ROUND, RENO>(),
        mutant::<NO_CUT, RENO>(),
        mutant::<CUT_TO_A_TENTH, RENO>(),
        mutant::<NO_GROWTH, RENO>(),
    ];
    let missed: Vec<_> = (0..9).filter(|&at| failures(&mutants[at]).is_empty()).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn mutants_of_other_families_are_caught() {
    let mutants = [
        ("cubic that keeps half", mutant::<KEEPS_HALF, CUBIC>()),
        ("dctcp that never updates alpha", mutant::<ALPHA_NEVER_UPDATED, DCTCP>()),
        ("bbr that halves at a loss", mutant::<HALVES_AT_LOSS, BBR>()),
        ("bbr3 that halves on marks", mutant::<HALVES_ON_MARKS, BBR3>()),
        ("scalable with 1 / cwnd", mutant::<GROWS_AS_RENO, SCALABLE>()),
        ("bic that keeps all at a timeout", mutant::<TIMEOUT_KEEPS_ALL, BIC>()),
        ("westwood that grows by sqrt(cwnd)", mutant::<ROOT_OF_CWND_A_ROUND, WESTWOOD>()),
    ];
    let missed: Vec<_> =
        mutants.iter().filter(|(_, it)| failures(it).is_empty()).map(|(name, _)| name).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

/// What is caught is the mutation: the same wrapper around an unchanged controller passes.
#[test]
fn a_wrapper_that_changes_nothing_passes() {
    const NOTHING: u8 = u8::MAX;
    let plain = [mutant::<NOTHING, RENO>(), mutant::<NOTHING, DCTCP>(), mutant::<NOTHING, BBR>()];
    for subject in plain {
        assert_eq!(failures(&subject), [""; 0], "{}", subject.name);
    }
}
